"""How everything looks that fabkit draws: one palette, one family of letters, light and dark.

Pieces keep the colours of their set. Sixteen colours cannot all be told apart by every eye, so
colour never stands alone. What is promised instead, for any colours and for protanopia,
deuteranopia and tritanopia:

* Every piece has its letter, in black or white, at a contrast of 4.5 : 1 or more (WCAG 2.2, 1.4.3;
  3 : 1 or more as colour-blind eyes see it).
* Between pieces there is a joint of a light line in a dark one, of which one has a contrast of 3 : 1
  or more to each piece (WCAG 2.2, 1.4.11).
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fabkit.core.errors import OutsideError, name_some, printable

#: The family of all text, which comes with fabkit.
FAMILY = "Open Sans"
#: The height of its capitals in font sizes: 1462 of 2048 units.
CAPITAL = 0.714
#: Shown for characters that the fonts lack.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
#: What of a font is not needed to set letters on a line.
_UNUSED = ("DSIG", "GDEF", "GPOS", "GSUB", "gasp", "kern")


@dataclass(frozen=True)
class Theme:
    """The colours of everything but the pieces, which keep their own.

    Attributes:
        name: ``light`` or ``dark``.
        paper: behind everything.
        ink: text and lines.
        quiet: text that matters less.
        ground: of a region that is to be covered.
        seat: where a ball or a stub goes.
        faint: lines between cells.
        silhouette: a region shown without cells.
        edge: the dark line around pieces.
        joint: the light line in the middle of it.
    """

    name: str
    paper: str
    ink: str
    quiet: str
    ground: str
    seat: str
    faint: str
    silhouette: str
    edge: str
    joint: str

    def filled(self, role: str, *names: str) -> dict[str, str]:
        """The style of an area in one of these colours.

        It has the class of that name, by which a drawing that follows its reader's light or dark
        page finds what it has to change.

        Example:
            >>> LIGHT.filled("ground", "region")
            {'fill': '#f3f1ec', 'class_': 'ground region'}
        """
        return {"fill": getattr(self, role), "class_": " ".join((role, *names))}

    def lined(self, role: str, *names: str) -> dict[str, str]:
        """The style of a line in one of these colours, whose class is called ``ROLE-line``.

        Example:
            >>> DARK.lined("faint")
            {'stroke': '#4a4e59', 'class_': 'faint-line'}
        """
        return {"stroke": getattr(self, role), "class_": " ".join((f"{role}-line", *names))}


# fmt: off
LIGHT = Theme(
    "light", "#ffffff", "#333333", "#666666",
    "#f3f1ec", "#e2dfd6", "#c6c1b3", "#b5b0a4", "#222222", "#ffffff",
)
DARK = Theme(
    "dark", "#16181d", "#e4e2dc", "#a09c92",
    "#2b2e36", "#3a3e48", "#4a4e59", "#6b6f7a", "#0b0c0f", "#e4e2dc",
)
# fmt: on
#: The themes by name.
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}
#: The colours of a theme by name.
ROLES = ("paper", "ink", "quiet", "ground", "seat", "faint", "silhouette", "edge", "joint")


def font_file(bold: bool = False) -> Path:
    """The font that all text is set in.

    Raises:
        OutsideError: when the file is not there.
    """
    path = Path(__file__).parent / "fonts" / f"OpenSans-{'Bold' if bold else 'Regular'}.ttf"
    if not path.is_file():
        message = f"there is no {printable(str(path))}, which comes with fabkit; install it again"
        raise OutsideError(message)
    return path


def font_faces(regular: str, bold: str) -> list[str]:
    """The style rules that bring the letters of a drawing along, as data.

    Of each font that has some of the characters there is a rule; letters that it lacks are left to
    the reader's own fonts.

    Raises:
        OutsideError: when a font is missing or damaged.

    Example:
        >>> [rule[:61] for rule in font_faces("mm", "")]
        ["@font-face { font-family: 'Open Sans'; font-weight: 400; src:"]
    """
    used = ((400, subset(regular, bold=False)), (700, subset(bold, bold=True)))
    return [
        f"@font-face {{ font-family: '{FAMILY}'; font-weight: {weight}; "
        f"src: url(data:font/ttf;base64,{base64.b64encode(data).decode()}) }}"
        for weight, data in used
        if data
    ]


@lru_cache(maxsize=256)
def subset(characters: str, bold: bool) -> bytes:
    """A TrueType font with some letters of a shipped one, each named once; empty if it has none."""
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


def missing_note(characters: Iterable[str], instead: str = REPLACEMENT) -> str:
    """What is said of characters that the fonts lack, and of what is shown in their place.

    Example:
        >>> missing_note("☃")
        'the font has no U+2603; � is shown instead'
    """
    named = [f"U+{ord(character):04X}" for character in sorted(characters)]
    return f"the font has no {name_some(named)}; {instead} is shown instead"


def ink_on(colour: str) -> str:
    """Black or white, whichever stands out more from a colour (``#rrggbb``).

    Example:
        >>> ink_on("#f0e442"), ink_on("#0072b2")
        ('#000000', '#ffffff')
    """
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (``#rrggbb``), from 1 to 21 (WCAG 2.2).

    Example:
        >>> contrast("#ffffff", "#000000")
        21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """The relative luminance of an sRGB colour, from 0 to 1 (WCAG 2.2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
