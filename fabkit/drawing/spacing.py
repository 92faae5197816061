"""Spacing: where in an outline something can be that keeps its distance, and how far apart two."""

from __future__ import annotations

import math
from collections.abc import Callable

from shapely import Point, Polygon, affinity, get_coordinates, union_all
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.drawing.printed import PointMm

#: Arcs are drawn with so many chords to a quarter circle.
ARC_SEGMENTS = 64
#: To this the largest value that holds is found, in mm.
STEP_MM = 0.002

_DIRECTIONS = 180
_SAFETY_MM = 0.0015  # positions are rounded to a micrometre and arcs are chords


def eroded(area: Polygon, distance_mm: float) -> BaseGeometry:
    """The points of an area that are at least so far from its boundary.

    Args:
        area: in mm.
        distance_mm: from its outer ring and from its holes.

    Example:
        >>> square = Polygon([(0, 0), (9, 0), (9, 9), (0, 9)])
        >>> [round(value, 1) for value in eroded(square, 3.0).bounds]
        [3.0, 3.0, 6.0, 6.0]
    """
    safe_mm = distance_mm * (1 + 1e-4) + _SAFETY_MM
    eroded = area.buffer(-safe_mm, quad_segs=ARC_SEGMENTS)
    # GEOS leaves a sliver where an area is only just too narrow; no point of it is far enough.
    parts = [
        part
        for part in getattr(eroded, "geoms", [eroded])
        if area.boundary.distance(part.representative_point()) >= distance_mm
    ]
    return union_all(parts)


def farthest_pair(
    allowed: BaseGeometry, balance: Point, farthest_mm: float
) -> list[PointMm] | None:
    """Two points of a region as far apart as possible, up to a limit; None if there are none.

    Args:
        allowed: where they may be, in mm.
        balance: about which they lie as evenly as possible.
        farthest_mm: the limit.

    Example:
        >>> bar = Polygon([(0, 0), (50, 0), (50, 2), (0, 2)])
        >>> farthest_pair(bar, Point(25, 1), 40.0)
        [(5.0, 1.0), (45.0, 1.0)]
    """
    apart_mm, pair = _most_apart(_corners_of(allowed.convex_hull), math.inf)
    if apart_mm <= farthest_mm:
        return pair
    # Exactly the limit apart: for each direction, the midpoints that keep both ends inside.
    best: tuple[float, list[PointMm]] | None = None
    for step in range(_DIRECTIONS):
        angle = math.pi * step / _DIRECTIONS
        dx, dy = farthest_mm / 2 * math.cos(angle), farthest_mm / 2 * math.sin(angle)
        midpoints = affinity.translate(allowed, dx, dy) & affinity.translate(allowed, -dx, -dy)
        if midpoints.is_empty:
            continue
        middle, _ = nearest_points(midpoints, balance)
        off_mm = round(middle.distance(balance), 3)
        if best is None or off_mm < best[0]:
            ends = [Point(middle.x - dx, middle.y - dy), Point(middle.x + dx, middle.y + dy)]
            best = off_mm, [rounded(end) for end in ends]
    if best:
        return best[1]
    # Small islands, none of them that far from another: then less than the limit apart.
    return _most_apart(_corners_of(allowed), farthest_mm)[1]


def _most_apart(points: list[PointMm], limit_mm: float) -> tuple[float, list[PointMm] | None]:
    """The two points that are farthest apart among those within a limit, and their distance."""
    corners = sorted({rounded(Point(point)) for point in points})
    pairs = [(a, b) for i, a in enumerate(corners) for b in corners[i:]]
    near = [(round(math.dist(a, b), 6), [a, b]) for a, b in pairs]
    return max((pair for pair in near if pair[0] <= limit_mm), default=(0.0, None))


def _corners_of(area: BaseGeometry) -> list[PointMm]:
    return [(x, y) for x, y in get_coordinates(area)]


def rounded(point: Point) -> PointMm:
    """A point to the micrometre.

    Example:
        >>> rounded(Point(1.23456, 2))
        (1.235, 2.0)
    """
    return round(point.x, 3), round(point.y, 3)


def largest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest value between two that still holds, to a micrometre or two.

    Example:
        >>> round(largest(lambda value: value < 3, 0.0, 10.0), 2)
        3.0
    """
    while high - low > STEP_MM:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
