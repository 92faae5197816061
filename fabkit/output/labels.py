"""Labels of pieces: their outlines, and where they fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import shapely
from shapely import MultiLineString, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import lettering
from fabkit.drawing.label import on_baseline
from fabkit.drawing.marks import cells_area
from fabkit.drawing.outline import DrawingError, PointMm
from fabkit.model.lattice import Lattice
from fabkit.model.puzzle import Board, Label
from fabkit.output.canvas import Canvas
from fabkit.output.theme import CAPITAL

_ROOMY = 1.4  # the clearance that a label prefers, in its half diagonals
_MAX_FILLED = 0.8  # the maximum fraction of its clearance that a label fills
_BOARD_TEXT = 0.32  # the maximum height of capitals on a board, in grid units
_MAX_POINTS = 2000  # the maximum number of points that are tried
#: The approximate width of a character without an outline, for capitals 1 mm high.
_CHARACTER_MM = 0.9


@lru_cache(maxsize=512)
def label_outline(label: str) -> BaseGeometry | None:
    """Return a label with capitals 1 mm high, centred at the origin; None if it cannot be engraved.

    Example:
        >>> round(label_outline("H").bounds[3], 6), label_outline("☃")
        (0.5, None)
    """
    try:
        return lettering(label).polygon()
    except DrawingError:
        return None


def place_label(
    label: str,
    points: Sequence[PointMm],
    clearances_mm: Sequence[float],
    centroid: PointMm,
    max_mm: float,
) -> tuple[PointMm, float]:
    """Choose the centre of a label in its piece, and the height of its capitals, `max_mm` at most.

    Of the `points`, which are `clearances_mm` from the edge, it is the one nearest to the
    `centroid` with the preferred clearance; else the one with the greatest."""
    shape = label_outline(label)
    right, top = shape.bounds[2:] if shape is not None else (_CHARACTER_MM / 2 * len(label), 0.5)
    reach = math.hypot(right, top)  # half of the diagonal, at a height of 1 mm
    preferred_mm = max_mm * reach * _ROOMY

    def rank(place: tuple[PointMm, float]) -> tuple[object, ...]:
        point, clearance_mm = place
        return (
            -round(min(clearance_mm, preferred_mm), 6),
            round(math.dist(point, centroid), 6),
            place,
        )

    point, clearance_mm = min(zip(points, clearances_mm, strict=True), key=rank)
    return point, min(max_mm, _MAX_FILLED * clearance_mm / reach)


def place_board_texts(lattice: Lattice, board: Board | None) -> list[tuple[Label, PointMm, float]]:
    """Return the texts of a board, each with its centre and the height of its capitals in grid
    units. All have the height of the one with the least room."""
    centres = list[tuple[Label, PointMm]]()
    heights = list[float]()
    for label in board.labels if board else ():
        area = cells_area(lattice, label.cells, 1.0)
        centre = area.centroid.x, area.centroid.y
        free = shapely.distance(area.centroid, area.boundary)
        heights.append(place_label(label.text, [centre], [free], centre, _BOARD_TEXT)[1])
        centres.append((label, centre))
    return [(label, centre, min(heights)) for label, centre in centres]


def vertices_and_midpoints(edges: Iterable[Sequence[PointMm]]) -> list[PointMm]:
    """Return the vertices of closed rings and the midpoints of their edges."""
    points = set[PointMm]()
    for start, end in edges:
        points.add(start)
        points.add(((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    return sorted(points)


def clearances(
    points: Sequence[PointMm], rings: Sequence[Sequence[PointMm]]
) -> tuple[list[PointMm], list[float]]:
    """Return points in an outline with their distances from it; of very many, a sample."""
    sample = list(points[:: 1 + len(points) // _MAX_POINTS])
    edge = MultiLineString([[*ring, ring[0]] for ring in rings])
    return sample, shapely.distance(shapely.points(sample), edge).tolist()


def label_area(label: str, point: PointMm, height_mm: float) -> BaseGeometry | None:
    """Return the area of a placed label; None when it has no outline."""
    shape = label_outline(label)
    return shape and affinity.affine_transform(shape, [height_mm, 0, 0, height_mm, *point])


def text_area(text: str, point: PointMm, height_mm: float) -> BaseGeometry | None:
    """Return the area of a text of a board, None as in `label_area`; a row stands on one line."""
    try:
        letters, width = on_baseline(text)
    except DrawingError:
        return None
    x, y = point
    return letters.moved(x - width * height_mm / 2, y - height_mm / 2, height_mm).polygon()


def draw_label_text(
    canvas: Canvas, label: str, point: PointMm, height_mm: float, **style: str
) -> None:
    """Draw a label as text, centred at a place."""
    x, y = point
    size_mm = height_mm / CAPITAL
    canvas.text(x, y - height_mm / 2, label, size_mm, **style, text_anchor="middle")
