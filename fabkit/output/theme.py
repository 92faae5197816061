"""The theme of all drawings: one palette, light and dark, and one font family.

Pieces keep the colours of their set, which are never the only cue: every piece has its letter, in
black or white, at a contrast of 4.5 : 1 or more (WCAG 2.2, 1.4.3; 3 : 1 in colour-blind vision).
Between pieces runs a light line inside a dark one, one of which stands out by 3 : 1 (1.4.11).
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

from fabkit.core.errors import join_names
from fabkit.core.parsing import shipped_file

#: The shipped font family.
FAMILY = "Open Sans"
#: The height of its capitals, in font sizes.
CAPITAL = 0.714
#: Replaces characters that the fonts lack.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Theme:
    """The colours of everything but the pieces: `ink` for text and lines, `quiet` for secondary ones,
    `ground` for a region to cover, `silhouette` for one without cells, `faint` for lines between
    cells, `socket` for where a ball or a peg goes, `edge` for the dark line around pieces, and `joint`
    for the light line inside it."""

    name: str
    paper: str
    ink: str
    quiet: str
    ground: str
    socket: str
    faint: str
    silhouette: str
    edge: str
    joint: str

    def filled(self, role: str, *names: str) -> dict[str, str]:
        """Return the style of an area in the colour of a role. Its class has the role's name, by which
        the theme ``auto`` changes the colour on a dark page."""
        return {"fill": getattr(self, role), "class_": " ".join((role, *names))}

    def lined(self, role: str, *names: str) -> dict[str, str]:
        """Return the style of a line in the colour of a role, with the class ``ROLE-line``."""
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
#: The names of their colours.
ROLES = tuple(field.name for field in fields(Theme))[1:]


def font_path(bold: bool = False) -> Path:
    """Return the path of the shipped font."""
    name = f"OpenSans-{'Bold' if bold else 'Regular'}.ttf"
    return shipped_file(Path(__file__).parent / "fonts" / name)


def font_faces(regular: str, bold: str) -> list[str]:
    """Return ``@font-face`` rules with the glyphs of a drawing; others fall back to the reader's fonts."""
    fonts = {400: subset_font(regular, bold=False), 700: subset_font(bold, bold=True)}
    return [
        f"@font-face {{ font-family: '{FAMILY}'; font-weight: {weight}; "
        f"src: url(data:font/ttf;base64,{base64.b64encode(font).decode()}) }}"
        for weight, font in fonts.items()
        if font
    ]


@lru_cache(maxsize=256)
def subset_font(characters: str | None, bold: bool, web: bool = False) -> bytes:
    """Return a TrueType font with some characters of a shipped one; empty if it has none of them. None
    keeps all; for the `web` it is compressed (WOFF)."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO(font_path(bold).read_bytes()), recalcTimestamp=False, lazy=True)
    wanted = set(font.getBestCmap())
    if characters is not None:
        wanted &= set(map(ord, characters))
    if not wanted:
        return b""
    options = Options(hinting=False, name_IDs=[])
    # Not needed for single lines.
    options.drop_tables += ("DSIG", "GDEF", "GPOS", "GSUB", "gasp", "kern")
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=wanted)
    subsetter.subset(font)
    font.flavor = "woff" if web else None
    file = io.BytesIO()
    font.save(file)
    return file.getvalue()


def missing_glyphs_note(characters: Iterable[str], instead: str = REPLACEMENT) -> str:
    """Return a note on characters that the fonts lack, and what replaces them."""
    named = [f"U+{ord(character):04X}" for character in sorted(characters)]
    return f"the font has no {join_names(named)}; {instead} is shown instead"
