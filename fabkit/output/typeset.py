"""Lines of text that fit, and the small signs of the booklet: stars, a warning sign."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from fabkit.output.canvas import Canvas
from fabkit.output.pdf import printed, text_width_mm
from fabkit.output.theme import LIGHT

#: How many stars there are for the hardest challenges.
MOST_STARS = 5
#: From star to star, in radii of a star; and how deep the notches between its points are.
_STAR_STEP, _NOTCH = 2.3, 0.45
_STAR = "#b8860b"
_WARNING = "#f0c000"
#: Blanks at which a line must not end: before signs that French sets apart, inside of its
#: quotation marks, and between a number and what it counts.
_BOUND = re.compile(r" (?=[:;!?%»×])|(?<=«) |(?<=\d) (?=mm\b)|(?<=[:×]) (?=\d)")
_BLANK = "\N{NO-BREAK SPACE}"
#: Where a word may be broken that is too long for a line.
_HYPHENS = re.compile(r"(?<=[-_/])")


def shortened(text: str, size_mm: float, width_mm: float, bold: bool = False) -> str:
    """A text as far as it fits, with three dots where it was cut.

    Args:
        text: any text.
        size_mm: of the font.
        width_mm: the room there is.
        bold: in which font.

    Example:
        >>> shortened("Square", 4, 30), shortened("Square " * 9, 4, 30)
        ('Square', 'Square Squar…')
    """
    line = printed(text)
    if text_width_mm(line, size_mm, bold) <= width_mm:
        return line
    fits, cut = 0, len(line)
    while cut - fits > 1:
        middle = (fits + cut) // 2
        if text_width_mm(line[:middle] + "…", size_mm, bold) <= width_mm:
            fits = middle
        else:
            cut = middle
    return line[:fits].rstrip() + "…"


def lines_of(text: str, size_mm: float, width_mm: float, bold: bool = False) -> list[str]:
    """A text in lines that fit; a word that is too long for one goes on in the next.

    What belongs together, such as a number and its unit, stays in one line.

    Args:
        text: any text.
        size_mm: of the font.
        width_mm: the room there is.
        bold: in which font.

    Example:
        >>> lines_of("one two three", 4, 18), lines_of("at most 100 mm", 4, 23)
        (['one two', 'three'], ['at most', '100 mm'])
        >>> lines_of("a well-known-name", 4, 23)
        ['a', 'well-known-', 'name']
    """

    def fits(line: str) -> bool:
        return text_width_mm(line, size_mm, bold) <= width_mm

    lines: list[str] = []
    for bound in filter(None, _BOUND.sub(_BLANK, printed(text)).split(" ")):
        word = printed(bound)
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and fits(longer):
            lines[-1] = longer
        else:
            lines += _parts_of(word, fits)
    return lines


def _parts_of(word: str, fits: Callable[[str], bool]) -> list[str]:
    """A word in parts that fit: broken after its hyphens, and elsewhere only where these are too few."""
    parts = [""]
    for syllable in _HYPHENS.split(word):
        if fits(parts[-1] + syllable):
            parts[-1] += syllable
            continue
        parts += [""] if parts[-1] else []
        for letter in syllable:
            parts += [""] if parts[-1] and not fits(parts[-1] + letter) else []
            parts[-1] += letter
    return parts


def few_lines(
    text: str, size_mm: float, width_mm: float, most: int, bold: bool = False
) -> list[str]:
    """A title in few lines of about the same length, with three dots where it was cut.

    Args:
        text: any text.
        size_mm: of the font.
        width_mm: the room there is.
        most: how many lines it may take.
        bold: in which font.

    Example:
        >>> few_lines("Snowflake 82 (mixed, 8 × 8)", 4, 50, 2)
        ['Snowflake 82', '(mixed, 8 × 8)']
        >>> few_lines("Square " * 9, 4, 30, 2)
        ['Square Square', 'Square Squar…']
    """
    lines = lines_of(text, size_mm, width_mm, bold)
    if len(lines) > most:
        return [*lines[: most - 1], shortened(f"{lines[most - 1]}…", size_mm, width_mm, bold)]
    for tenths in range(9, 4, -1):
        narrower = lines_of(text, size_mm, width_mm * tenths / 10, bold)
        # Words that are broken in other places are not worth it.
        if len(narrower) > len(lines) or " ".join(narrower) != " ".join(lines):
            break
        lines = narrower
    return lines


def stars_width_mm(radius_mm: float) -> float:
    """How wide a row of stars is."""
    return _STAR_STEP * radius_mm * (MOST_STARS - 1) + 2 * radius_mm


def draw_stars(page: Canvas, x: float, y: float, radius_mm: float, count: int) -> None:
    """A row of stars, the first of them filled.

    Args:
        page: where to draw.
        x: left of the row.
        y: its middle.
        radius_mm: of a star.
        count: how many are filled; none draws nothing, for what is not rated.
    """
    for place in range(MOST_STARS if count else 0):
        middle = x + radius_mm * (1 + _STAR_STEP * place)
        fill = _STAR if place < count else "none"
        page.polygon(
            [_star(middle, y, radius_mm)],
            fill=fill,
            stroke=_STAR,
            stroke_width=f"{radius_mm / 10:.3f}",
            stroke_linejoin="round",
        )


def _star(x: float, y: float, radius_mm: float) -> list[tuple[float, float]]:
    """The corners of a star with five points, one of them up."""
    corners = []
    for corner in range(10):
        reach = radius_mm * (_NOTCH if corner % 2 else 1.0)
        angle = math.pi * (0.5 + corner / 5)
        corners.append((x + reach * math.cos(angle), y + reach * math.sin(angle)))
    return corners


def draw_warning(page: Canvas, x: float, y: float, height_mm: float) -> None:
    """The sign for danger: a triangle with an exclamation mark, from its lower left corner."""
    width = height_mm * 2 / math.sqrt(3)
    page.polygon(
        [[(x, y), (x + width, y), (x + width / 2, y + height_mm)]],
        fill=_WARNING,
        stroke=LIGHT.edge,
        stroke_width=f"{height_mm / 12:.3f}",
        stroke_linejoin="round",
    )
    middle, stem = x + width / 2, height_mm * 0.06
    page.polygon(
        [
            [
                (middle - stem, y + height_mm * 0.68),
                (middle - stem / 2, y + height_mm * 0.3),
                (middle + stem / 2, y + height_mm * 0.3),
                (middle + stem, y + height_mm * 0.68),
            ]
        ],
        fill=LIGHT.edge,
    )
    page.circle(middle, y + height_mm * 0.16, stem, fill=LIGHT.edge)
