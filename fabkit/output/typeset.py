"""Text widths in the shipped fonts, wrapping and truncation."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from fabkit.drawing.outline import PointMm
from fabkit.output.canvas import Canvas
from fabkit.output.theme import FAMILY, REPLACEMENT, font_path

#: The name of the regular font in ReportLab.
REGULAR = FAMILY.replace(" ", "")
#: The name of the bold font in ReportLab.
BOLD = f"{REGULAR}-Bold"
#: Text height of a sheet's title.
SHEET_TITLE_MM = 7.0
#: Text height of the line below it.
SHEET_TEXT_MM = 3.6
#: Spaces at which a line must not break: before French punctuation and dots between facts, inside
#: guillemets, and between a number and its unit.
_BOUND = re.compile(r" (?=[:;!?%»×·])|(?<=«) |(?<=\d) (?=mm\b)|(?<=[:×]) (?=\d)")
#: Where a word that is too long for a line may break.
_HYPHENS = re.compile(r"(?<=[-_/])")


def text_width_mm(text: str, size_mm: float, bold: bool = False) -> float:
    """Return the width of a line of text.

    Example:
        >>> text_width_mm("", 4), text_width_mm("mm", 4) == 2 * text_width_mm("m", 4)
        (0.0, True)
    """
    from reportlab.pdfbase.pdfmetrics import stringWidth

    register_fonts()
    glyphs = replace_missing_glyphs(single_line(text), bold)
    return float(stringWidth(glyphs, BOLD if bold else REGULAR, size_mm))


def single_line(text: str) -> str:
    r"""Return text as one line, without control characters.

    Example:
        >>> single_line("a\n b\u202ec\x00")
        'a bc'
    """
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    return "".join(char for char in composed if char.isprintable())


def with_no_break_spaces(text: str) -> str:
    """Replace spaces at which a line must not break by no-break spaces."""
    return _BOUND.sub("\N{NO-BREAK SPACE}", text)


def replace_missing_glyphs(text: str, bold: bool) -> str:
    """Replace every character that the font lacks."""
    characters = font_characters(bold)
    return "".join(char if char in characters else REPLACEMENT for char in text)


@lru_cache(maxsize=2)
def font_characters(bold: bool) -> frozenset[str]:
    """Return the characters of a font.

    Example:
        >>> "A" in font_characters(bold=True), "☃" in font_characters(bold=True)
        (True, False)
    """
    from reportlab.pdfbase import pdfmetrics

    register_fonts()
    return frozenset(map(chr, pdfmetrics.getFont(BOLD if bold else REGULAR).face.charToGlyph))


@lru_cache(maxsize=1)
def register_fonts() -> None:
    """Register the shipped fonts with ReportLab."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    for name, bold in ((REGULAR, False), (BOLD, True)):
        pdfmetrics.registerFont(TTFont(name, str(font_path(bold))))


def truncate_to_width(text: str, size_mm: float, width_mm: float, bold: bool = False) -> str:
    """Truncate text to a width, with an ellipsis.

    Example:
        >>> truncate_to_width("Square", 4, 30), truncate_to_width("Square " * 9, 4, 30)
        ('Square', 'Square Squar…')
    """

    def wide_mm(end: int) -> float:
        return text_width_mm(line[:end] + "…", size_mm, bold)

    line = single_line(text)
    if text_width_mm(line, size_mm, bold) <= width_mm:
        return line
    return line[: bisect_right(range(1, len(line)), width_mm, key=wide_mm)].rstrip() + "…"


def draw_sheet_heading(
    canvas: Canvas, at_mm: PointMm, title: str, summary: str, room_mm: float
) -> None:
    """Draw a sheet's title from its upper left corner, truncated to fit, and the line below."""
    x, y = at_mm[0], at_mm[1] - 6
    fitting = truncate_to_width(title, SHEET_TITLE_MM, room_mm, bold=True)
    canvas.text(x, y, fitting, SHEET_TITLE_MM, class_="title")
    canvas.text(x, y - 6, summary, SHEET_TEXT_MM, class_="quiet")


def wrap_text(text: str, size_mm: float, width_mm: float) -> list[str]:
    """Wrap text into lines that fit; a word too long for one is broken.

    A number and its unit stay on one line.

    Example:
        >>> wrap_text("one two three", 4, 18), wrap_text("at most 100 mm", 4, 23)
        (['one two', 'three'], ['at most', '100 mm'])
        >>> wrap_text("a well-known-name", 4, 23)
        ['a', 'well-known-', 'name']
    """

    def fits(line: str) -> bool:
        return text_width_mm(line, size_mm) <= width_mm

    lines: list[str] = []
    for joined in filter(None, with_no_break_spaces(single_line(text)).split(" ")):
        word = single_line(joined)
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and fits(longer):
            lines[-1] = longer
        else:
            lines += _parts_of(word, fits)
    return lines


def _parts_of(word: str, fits: Callable[[str], bool]) -> list[str]:
    """Break a word into parts that fit, at hyphens if possible."""
    parts = [""]
    for syllable in _HYPHENS.split(word):
        whole = fits(parts[-1] + syllable)
        parts += [""] if parts[-1] and not whole else []
        for bit in [syllable] if whole else syllable:
            parts += [""] if parts[-1] and not fits(parts[-1] + bit) else []
            parts[-1] += bit
    return parts
