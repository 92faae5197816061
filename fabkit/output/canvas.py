"""The canvas shared by SVG drawings and PDF pages, with scale bars and dimension lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.outline import PointMm, rings_mm
from fabkit.output.theme import CAPITAL, Theme

Points = Iterable[tuple[float, float]]
_Item = TypeVar("_Item")
_LINE_MM = 0.25  # width of a bar's line; dimension lines are thinner
_TICK_MM = 1.5  # length of the ticks at the ends of a bar
_TEXT_MM = 2.6  # height of texts
_STROKE_MM = 0.9  # half the length of the strokes at the ends of a dimension line
_APART_MM = 0.9  # between a dimension line and its text
MAX_STARS = 5  # stars of the hardest level
_STAR_STEP = 2.3  # the distance of stars in a row, in radii
_NOTCH = 0.45  # the inner radius of a star, in radii
_STAR = "#b8860b"  # the colour of stars


class Canvas(Protocol):
    """A page in mm, x to the right and y up from its lower left.

    Styles are named as in SVG, with ``_`` for ``-``: ``fill``, ``stroke``, both with ``_opacity``,
    ``stroke_width`` (mm), ``_linejoin``, ``_linecap`` and ``_dasharray``, ``text_anchor``,
    ``class_``. The classes ``title`` (bold) and ``quiet`` (grey) apply to text on every canvas;
    others may be ignored. Text without ``fill`` is dark, an area without it black.
    """

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """Draw a filled area with the even-odd rule: holes and further parts are rings, too."""

    def line(self, points: Points, **style: str) -> None:
        """Draw an open polyline."""

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """Draw a circle around a point."""

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """Draw a line of text that begins at a point on its baseline."""


def draw_area(canvas: Canvas, area: BaseGeometry, by_mm: PointMm, **style: str) -> None:
    """Draw every polygon of an area, moved by a vector."""
    for part in getattr(area, "geoms", [area]):
        if part.geom_type == "Polygon" and part.area:
            moved = [[(x + by_mm[0], y + by_mm[1]) for x, y in ring] for ring in rings_mm(part)]
            canvas.polygon(moved, **style)


def break_into_rows(
    items: Iterable[_Item], widths_mm: Iterable[float], room_mm: float, gap_mm: float
) -> list[list[_Item]]:
    """Break items into rows, in order, as many in each as fit; one at least.

    Example:
        >>> break_into_rows("abcd", [4, 3, 9, 1], room_mm=8, gap_mm=1)
        [['a', 'b'], ['c'], ['d']]
    """
    rows = list[list[_Item]]()
    used_mm = 0.0
    for item, width_mm in zip(items, widths_mm, strict=True):
        if not rows or used_mm + width_mm > room_mm:
            rows.append([])
            used_mm = 0.0
        rows[-1].append(item)
        used_mm += width_mm + gap_mm
    return rows


def star_row_width_mm(radius_mm: float) -> float:
    """Return the width of a row of stars."""
    return _STAR_STEP * radius_mm * (MAX_STARS - 1) + 2 * radius_mm


def draw_stars(canvas: Canvas, at_mm: PointMm, radius_mm: float, count: int) -> None:
    """Draw a row of stars from the left end of its middle line, the first `count` filled."""
    star = []
    for corner in range(10):
        angle = math.pi * (0.5 + corner / 5)
        reach_mm = radius_mm * _NOTCH if corner % 2 else radius_mm
        star.append((reach_mm * math.cos(angle), reach_mm * math.sin(angle)))
    line = {"stroke": _STAR, "stroke_width": f"{radius_mm / 10:.3f}", "stroke_linejoin": "round"}
    for index in range(MAX_STARS):
        middle = at_mm[0] + radius_mm * (1 + _STAR_STEP * index)
        fill = _STAR if index < count else "none"
        ring = [(middle + dx, at_mm[1] + dy) for dx, dy in star]
        canvas.polygon([ring], fill=fill, class_="star", **line)


def draw_scale_bar(canvas: Canvas, at_mm: PointMm, length_mm: float, theme: Theme) -> None:
    """Draw a line to the right with a tick at each end, and its length beside it."""
    _bar(canvas, at_mm, length_mm, theme, "scale")
    canvas.text(at_mm[0] + length_mm + 2, at_mm[1], format_mm(length_mm), _TEXT_MM)


def draw_unit_bar(
    canvas: Canvas, at_mm: PointMm, unit_mm: float, scale: float, theme: Theme
) -> None:
    """Draw a line as long as a grid unit on the page, labelled with the real unit and the scale."""
    _bar(canvas, at_mm, unit_mm, theme, "unit")
    label = f"unit {format_mm(unit_mm * scale)}, drawn 1 : {scale:.3g}"
    canvas.text(at_mm[0] + unit_mm + 2, at_mm[1], label, _TEXT_MM, class_="quiet")


def _bar(canvas: Canvas, at_mm: PointMm, length_mm: float, theme: Theme, name: str) -> None:
    x, y = at_mm
    right = x + length_mm
    line = [(x, y + _TICK_MM), (x, y), (right, y), (right, y + _TICK_MM)]
    canvas.line(line, stroke_width=f"{_LINE_MM:g}", **theme.lined("ink", name))


def draw_width_dimension(
    canvas: Canvas, at_mm: PointMm, length_mm: float, label: str, theme: Theme
) -> None:
    """Draw a horizontal dimension line from its left end, with the text below."""
    x, y = at_mm
    style = {"class_": "quiet", "text_anchor": "middle"}
    _dimension(canvas, at_mm, (x + length_mm, y), (0.0, _STROKE_MM), theme)
    canvas.text(x + length_mm / 2, y - _APART_MM - CAPITAL * _TEXT_MM, label, _TEXT_MM, **style)


def draw_height_dimension(
    canvas: Canvas, at_mm: PointMm, length_mm: float, label: str, theme: Theme
) -> None:
    """Draw a vertical dimension line from its lower end, with the text to the right."""
    x, y = at_mm
    _dimension(canvas, at_mm, (x, y + length_mm), (_STROKE_MM, 0.0), theme)
    middle = y + length_mm / 2 - CAPITAL / 2 * _TEXT_MM
    canvas.text(x + _APART_MM, middle, label, _TEXT_MM, class_="quiet")


def _dimension(canvas: Canvas, start: PointMm, end: PointMm, by: PointMm, theme: Theme) -> None:
    style = theme.lined("quiet", "measure") | {"stroke_width": f"{_LINE_MM * 0.6:g}"}
    canvas.line([start, end], **style)
    for x, y in (start, end):
        canvas.line([(x - by[0], y - by[1]), (x + by[0], y + by[1])], **style)
