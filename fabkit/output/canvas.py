"""What SVG drawings and PDF pages share: the strokes, and measures made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.outline import PointMm, rings_mm
from fabkit.output.theme import CAPITAL, Theme

Points = Iterable[tuple[float, float]]
_T = TypeVar("_T")
#: Of measures: widths of lines and ticks, and the height of their numbers.
_LINE_MM, _TICK_MM, _TEXT_MM = 0.25, 1.5, 2.6
#: A dimension line's ticks stand this far out on both sides, and its number this far from it.
_STROKE_MM, _APART_MM = 0.9, 0.9


class Canvas(Protocol):
    """A page in mm, x to the right and y up from its lower left.

    Styles are named as in SVG, with ``_`` for ``-``: ``fill``, ``fill_opacity``, ``stroke``,
    ``stroke_opacity``, ``stroke_width`` (mm), ``stroke_linejoin``, ``stroke_linecap``,
    ``stroke_dasharray``, ``text_anchor``, ``class_``. Of the classes, several of which are divided by
    spaces, ``title`` (bold) and ``quiet`` (grey) have a meaning for texts everywhere; others may be
    ignored. A text without ``fill`` is dark, an area without it is black, and there is no line
    without ``stroke``. All colours are those of a `fabkit.output.theme.Theme`, or of pieces.
    """

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """A filled area; every ring after the first is a hole or a part of its own."""

    def line(self, points: Points, **style: str) -> None:
        """A line from point to point, which is not closed."""

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """A circle around a point."""

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """A line of text, beginning at a point on its base line."""


def draw_area(
    canvas: Canvas, area: BaseGeometry, by_mm: PointMm = (0.0, 0.0), **style: str
) -> None:
    """Every polygon of an area, moved by a vector."""
    for part in getattr(area, "geoms", [area]):
        if part.geom_type == "Polygon" and part.area:
            moved = [[(x + by_mm[0], y + by_mm[1]) for x, y in ring] for ring in rings_mm(part)]
            canvas.polygon(moved, **style)


def in_rows(
    things: Iterable[_T], widths_mm: Iterable[float], room_mm: float, gap_mm: float
) -> list[list[_T]]:
    """Things in their order, as many in a row as there is room for; one at least.

    Example:
        >>> in_rows("abcd", [4, 3, 9, 1], room_mm=8, gap_mm=1)
        [['a', 'b'], ['c'], ['d']]
    """
    rows: list[list[_T]] = []
    used_mm = 0.0
    for thing, width_mm in zip(things, widths_mm, strict=True):
        if not rows or used_mm + width_mm > room_mm:
            rows.append([])
            used_mm = 0.0
        rows[-1].append(thing)
        used_mm += width_mm + gap_mm
    return rows


def scale_bar(canvas: Canvas, at_mm: PointMm, length_mm: float, theme: Theme) -> None:
    """A line with a tick at each end from a point to the right, and its length beside it."""
    _bar(canvas, at_mm, length_mm, theme, "scale")
    canvas.text(at_mm[0] + length_mm + 2, at_mm[1], format_mm(length_mm), _TEXT_MM)


def unit_bar(canvas: Canvas, at_mm: PointMm, unit_mm: float, scale: float, theme: Theme) -> None:
    """A line as long as a grid unit is drawn, and beside it how long that is at one to `scale`."""
    _bar(canvas, at_mm, unit_mm, theme, "unit")
    words = f"unit {format_mm(unit_mm * scale)}, drawn 1 : {scale:.3g}"
    canvas.text(at_mm[0] + unit_mm + 2, at_mm[1], words, _TEXT_MM, class_="quiet")


def _bar(canvas: Canvas, at_mm: PointMm, length_mm: float, theme: Theme, name: str) -> None:
    (x, y), right = at_mm, at_mm[0] + length_mm
    line = [(x, y + _TICK_MM), (x, y), (right, y), (right, y + _TICK_MM)]
    canvas.line(line, stroke_width=f"{_LINE_MM:g}", **theme.lined("ink", name))


def width_line(
    canvas: Canvas, left_mm: PointMm, length_mm: float, words: str, theme: Theme
) -> None:
    """A level dimension line from its left end, with strokes at its ends and words below."""
    x, y = left_mm
    _dimension(canvas, (x, y), (x + length_mm, y), (0.0, _STROKE_MM), theme)
    base = y - _APART_MM - CAPITAL * _TEXT_MM
    style = {"class_": "quiet", "text_anchor": "middle"}
    canvas.text(x + length_mm / 2, base, words, _TEXT_MM, **style)


def height_line(
    canvas: Canvas, bottom_mm: PointMm, length_mm: float, words: str, theme: Theme
) -> None:
    """An upright dimension line from its lower end, with words to the right."""
    x, y = bottom_mm
    _dimension(canvas, (x, y), (x, y + length_mm), (_STROKE_MM, 0.0), theme)
    middle = y + length_mm / 2 - CAPITAL / 2 * _TEXT_MM
    canvas.text(x + _APART_MM, middle, words, _TEXT_MM, class_="quiet")


def _dimension(
    canvas: Canvas, start: PointMm, end: PointMm, stroke: tuple[float, float], theme: Theme
) -> None:
    style = theme.lined("quiet", "measure") | {"stroke_width": f"{_LINE_MM * 0.6:g}"}
    canvas.line([start, end], **style)
    dx, dy = stroke
    for x, y in (start, end):
        canvas.line([(x - dx, y - dy), (x + dx, y + dy)], **style)
