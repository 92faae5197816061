"""How everything looks that fabkit draws: one palette, one family of letters, light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: The family of all text, which comes with fabkit.
FAMILY = "Open Sans"


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
        edge: around pieces and regions.
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


LIGHT = Theme(
    "light", "#ffffff", "#333333", "#666666", "#f3f1ec", "#e2dfd6", "#c6c1b3", "#b5b0a4", "#222222"
)
DARK = Theme(
    "dark", "#16181d", "#e4e2dc", "#a09c92", "#2b2e36", "#3a3e48", "#4a4e59", "#6b6f7a", "#0b0c0f"
)
#: The themes by name.
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def font_file(bold: bool = False) -> Path:
    """The font that all text is set in.

    Example:
        >>> font_file().name, font_file(bold=True).name
        ('OpenSans-Regular.ttf', 'OpenSans-Bold.ttf')
    """
    return Path(__file__).parent / "fonts" / f"OpenSans-{'Bold' if bold else 'Regular'}.ttf"
