"""The shipped letters inside a drawing: only those that it uses."""

from __future__ import annotations

import base64
import io
from functools import lru_cache

from fabkit.core.errors import OutsideError, printable
from fabkit.output.look import FAMILY, font_file

#: What of a font is not needed to set letters on a line.
_UNUSED = ("DSIG", "GDEF", "GPOS", "GSUB", "gasp", "kern")


def font_faces(regular: str, bold: str) -> list[str]:
    """The style rules that bring the letters of a drawing along, as data.

    Args:
        regular: characters set in the regular font, in any order.
        bold: those set in the bold one.

    Returns:
        A rule for each font of which some letter is used. Letters that a font lacks are left to
        the reader's own fonts.

    Raises:
        OutsideError: when a font is missing or damaged.

    Example:
        >>> [rule[:61] for rule in font_faces("mm", "")]
        ["@font-face { font-family: 'Open Sans'; font-weight: 400; src:"]
    """
    found = []
    for weight, characters in ((400, regular), (700, bold)):
        data = subset("".join(sorted(set(characters))), weight == 700)
        if data:
            source = f"url(data:font/ttf;base64,{base64.b64encode(data).decode()})"
            found.append(
                f"@font-face {{ font-family: '{FAMILY}'; font-weight: {weight}; src: {source} }}"
            )
    return found


@lru_cache(maxsize=256)
def subset(characters: str, bold: bool) -> bytes:
    """A TrueType font with some of the letters of a shipped one; the same bytes every time.

    Args:
        characters: each once.
        bold: of which font.

    Returns:
        The font; nothing when it has none of them.

    Raises:
        OutsideError: when the font is missing or damaged.

    Example:
        >>> 1000 < len(subset("0123456789", bold=False)) < 4000
        True
        >>> subset("☃", bold=False)
        b''
    """
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont, TTLibError

    path = font_file(bold)
    try:
        font = TTFont(io.BytesIO(path.read_bytes()), recalcTimestamp=False, lazy=True)
        wanted = {ord(character) for character in characters} & font.getBestCmap().keys()
        if not wanted:
            return b""
        options = Options(hinting=False, name_IDs=[])
        options.drop_tables += _UNUSED
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=wanted)
        subsetter.subset(font)
        written = io.BytesIO()
        font.save(written)
    except (OSError, TTLibError) as error:
        reason = printable(str(error))
        message = f"cannot read {printable(str(path))}: {reason}; install fabkit again"
        raise OutsideError(message) from None
    return written.getvalue()
