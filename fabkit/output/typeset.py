"""How wide texts are in the shipped fonts, and lines of text that fit."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from fabkit.core.errors import OutsideError
from fabkit.drawing.outline import PointMm
from fabkit.output.canvas import Canvas
from fabkit.output.theme import FAMILY, REPLACEMENT, font_file

#: By what the library knows the fonts.
REGULAR, BOLD = FAMILY.replace(" ", ""), f"{FAMILY.replace(' ', '')}-Bold"
#: The title of a sheet, and the line below it.
SHEET_TITLE_MM, SHEET_TEXT_MM = 7.0, 3.6
#: Blanks at which a line must not end: before signs that French sets apart, inside of its
#: quotation marks, and between a number and what it counts.
_BOUND = re.compile(r" (?=[:;!?%»×])|(?<=«) |(?<=\d) (?=mm\b)|(?<=[:×]) (?=\d)")
_BLANK = "\N{NO-BREAK SPACE}"
#: Where a word may be broken that is too long for a line.
_HYPHENS = re.compile(r"(?<=[-_/])")


def text_width_mm(text: str, size_mm: float, bold: bool = False) -> float:
    """How wide a line of text is.

    Raises:
        OutsideError: when the fonts are missing.

    Example:
        >>> text_width_mm("", 4), text_width_mm("mm", 4) == 2 * text_width_mm("m", 4)
        (0.0, True)
    """
    from reportlab.pdfbase.pdfmetrics import stringWidth

    load_fonts()
    name = BOLD if bold else REGULAR
    return float(stringWidth(drawable(printed(text), bold), name, size_mm))


def printed(text: str) -> str:
    r"""A text in one line, without characters that steer rather than show.

    Example:
        >>> printed("a\n b\u202ec\x00")
        'a bc'
    """
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    return "".join(char for char in composed if char.isprintable())


def drawable(text: str, bold: bool) -> str:
    """The text with a replacement for every character that the font lacks."""
    known = characters_of(bold)
    return "".join(char if char in known else REPLACEMENT for char in text)


@lru_cache(maxsize=2)
def characters_of(bold: bool) -> frozenset[str]:
    """The characters that a font has.

    Raises:
        OutsideError: when the fonts are missing.

    Example:
        >>> "A" in characters_of(bold=True), "☃" in characters_of(bold=True)
        (True, False)
    """
    from reportlab.pdfbase import pdfmetrics

    load_fonts()
    face = pdfmetrics.getFont(BOLD if bold else REGULAR).face
    return frozenset(map(chr, face.charToGlyph))


@lru_cache(maxsize=1)
def load_fonts() -> None:
    """Makes the shipped fonts known to the library."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    for name, bold in ((REGULAR, False), (BOLD, True)):
        path = font_file(bold)
        try:
            pdfmetrics.registerFont(TTFont(name, str(path)))
        except Exception:  # in a damaged file the library may stumble over anything
            message = f"{path.name}, which comes with fabkit, is damaged; install fabkit again"
            raise OutsideError(message) from None


def shortened(text: str, size_mm: float, width_mm: float, bold: bool = False) -> str:
    """A text as far as it fits, with three dots where it was cut.

    Example:
        >>> shortened("Square", 4, 30), shortened("Square " * 9, 4, 30)
        ('Square', 'Square Squar…')
    """
    line = printed(text)
    if text_width_mm(line, size_mm, bold) <= width_mm:
        return line
    cut = bisect_right(
        range(1, len(line)),
        width_mm,
        key=lambda end: text_width_mm(line[:end] + "…", size_mm, bold),
    )
    return line[:cut].rstrip() + "…"


def draw_heading(canvas: Canvas, at_mm: PointMm, title: str, summary: str, room_mm: float) -> None:
    """A sheet's title from an upper left corner, as far as it fits, and the line below it."""
    x, y = at_mm[0], at_mm[1] - 6
    fitting = shortened(title, SHEET_TITLE_MM, room_mm, bold=True)
    canvas.text(x, y, fitting, SHEET_TITLE_MM, class_="title")
    canvas.text(x, y - 6, summary, SHEET_TEXT_MM, class_="quiet")


def lines_of(text: str, size_mm: float, width_mm: float, bold: bool = False) -> list[str]:
    """A text in lines that fit; a word that is too long for one goes on in the next.

    What belongs together, such as a number and its unit, stays in one line.

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
