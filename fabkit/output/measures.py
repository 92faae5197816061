"""Measures on a page: the bar by which a print's scale is checked, and dimension lines."""

from __future__ import annotations

from fabkit.core.units import format_mm
from fabkit.drawing.outline import PointMm
from fabkit.output.canvas import Canvas
from fabkit.output.look import CAPITAL, Theme

_LINE_MM, _TICK_MM, _TEXT_MM = 0.25, 1.5, 2.6
#: A dimension line's ticks stand this far out on both sides, and its number this far from it.
_STROKE_MM, _APART_MM = 0.9, 0.9


def scale_bar(canvas: Canvas, at_mm: PointMm, length_mm: float, theme: Theme) -> None:
    """A line with a tick at each end, and its length beside it.

    Args:
        canvas: where to draw.
        at_mm: its left end.
        length_mm: how long it is on paper that was printed at its size.
        theme: the colours.
    """
    _bar(canvas, at_mm, length_mm, theme, "scale")
    canvas.text(at_mm[0] + length_mm + 2, at_mm[1], format_mm(length_mm), _TEXT_MM)


def unit_bar(canvas: Canvas, at_mm: PointMm, unit_mm: float, scale: float, theme: Theme) -> None:
    """A line as long as a grid unit is drawn, and beside it how long that is at which scale.

    Args:
        canvas: where to draw.
        at_mm: its left end.
        unit_mm: length of a grid unit on the page.
        scale: one to what the page is drawn.
        theme: the colours.
    """
    _bar(canvas, at_mm, unit_mm, theme, "unit")
    words = f"unit {format_mm(unit_mm * scale)}, drawn 1 : {scale:.3g}"
    canvas.text(at_mm[0] + unit_mm + 2, at_mm[1], words, _TEXT_MM, class_="quiet")


def width_line(
    canvas: Canvas, left_mm: PointMm, length_mm: float, words: str, theme: Theme
) -> None:
    """A level dimension line with strokes at its ends; its number stands below.

    Args:
        canvas: where to draw.
        left_mm: its left end.
        length_mm: how long it is.
        words: the number.
        theme: the colours.
    """
    x, y = left_mm
    _dimension(canvas, (x, y), (x + length_mm, y), (0.0, _STROKE_MM), theme)
    canvas.text(
        x + length_mm / 2,
        y - _APART_MM - CAPITAL * _TEXT_MM,
        words,
        _TEXT_MM,
        class_="quiet",
        text_anchor="middle",
    )


def height_line(
    canvas: Canvas, bottom_mm: PointMm, length_mm: float, words: str, theme: Theme
) -> None:
    """An upright dimension line with strokes at its ends; its number stands to the right.

    Args:
        canvas: where to draw.
        bottom_mm: its lower end.
        length_mm: how long it is.
        words: the number.
        theme: the colours.
    """
    x, y = bottom_mm
    _dimension(canvas, (x, y), (x, y + length_mm), (_STROKE_MM, 0.0), theme)
    middle = y + length_mm / 2 - CAPITAL / 2 * _TEXT_MM
    canvas.text(x + _APART_MM, middle, words, _TEXT_MM, class_="quiet")


def _bar(canvas: Canvas, at_mm: PointMm, length_mm: float, theme: Theme, name: str) -> None:
    """A line with a tick at each end."""
    x, y = at_mm
    right = x + length_mm
    line = [(x, y + _TICK_MM), (x, y), (right, y), (right, y + _TICK_MM)]
    canvas.line(line, stroke_width=f"{_LINE_MM:g}", **theme.lined("ink", name))


def _dimension(
    canvas: Canvas, start: PointMm, end: PointMm, stroke: tuple[float, float], theme: Theme
) -> None:
    """A line, and a stroke across each of its ends."""
    style = theme.lined("quiet", "measure") | {"stroke_width": f"{_LINE_MM * 0.6:g}"}
    canvas.line([start, end], **style)
    for x, y in (start, end):
        dx, dy = stroke
        canvas.line([(x - dx, y - dy), (x + dx, y + dy)], **style)
