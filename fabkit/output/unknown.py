"""Characters that the shipped fonts lack: which of a drawing they are, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from fabkit.core.errors import name_some
from fabkit.output.pdf import REPLACEMENT, characters_of


def unknown_characters(svg: str) -> set[str]:
    """The characters of a drawing's texts that are not in their font.

    Args:
        svg: an SVG document that fabkit drew.

    Raises:
        OutsideError: when the fonts are missing.

    Example:
        >>> from fabkit.output.svg import Drawing
        >>> drawing = Drawing(100, 20, "letters")
        >>> drawing.text(5, 5, "A☃", 5)
        >>> unknown_characters(drawing.source())
        {'☃'}
    """
    found: set[str] = set()
    root = ElementTree.fromstring(svg)  # noqa: S314 (fabkit drew it)
    for one in root.iter("{http://www.w3.org/2000/svg}text"):
        bold = one.get("font-weight") is not None
        found |= set(one.text or "") - characters_of(bold)
    return found


def unknown_note(characters: Iterable[str], instead: str = REPLACEMENT) -> str:
    """What is said of characters that the fonts lack.

    Args:
        characters: at least one.
        instead: what is shown in their place.

    Example:
        >>> unknown_note("☃")
        'the font has no U+2603; � is shown instead'
    """
    named = [f"U+{ord(character):04X}" for character in sorted(characters)]
    return f"the font has no {name_some(named)}; {instead} is shown instead"
