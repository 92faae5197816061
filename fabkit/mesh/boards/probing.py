"""Probing a mesh with lines: upright ones through points, and level ones across a section."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body, Points

#: Lines are moved by this (mm) along x and y, so that they seldom meet an edge of the mesh.
_ASIDE = np.array([1.7e-5, 0.9e-5])


def surfaces_at(body: Body, points: Points) -> list[list[float]]:
    """At what heights upright lines pass through the surface of a body.

    Args:
        body: whose heights are asked for.
        points: x and y of each line, shape (n, 2).

    Returns:
        For each line its heights from low to high; of a closed mesh an even number, where the
        line enters and leaves in turn.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]])
        >>> pyramid = Body("pyramid", corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
        >>> [[round(height, 3) for height in heights]
        ...  for heights in surfaces_at(pyramid, np.array([[1.0, 1.0], [3.0, 3.0]]))]
        [[0.0, 2.0], []]
    """
    corners = body.vertices[body.faces]
    low, high = corners[:, :, :2].min(axis=1), corners[:, :, :2].max(axis=1)
    found = []
    for point in np.asarray(points, dtype=float).reshape(-1, 2) + _ASIDE:
        near = ((low <= point) & (point <= high)).all(axis=1)
        found.append(_heights(corners[near], point))
    return found


def _heights(triangles: Points, point: Points) -> list[float]:
    a, b, c = (triangles[:, corner] for corner in range(3))
    (ux, uy), (vx, vy), (px, py) = ((b - a)[:, :2].T, (c - a)[:, :2].T, (point - a[:, :2]).T)
    area = ux * vy - uy * vx
    seen = area != 0
    area = np.where(seen, area, 1.0)
    s, t = (px * vy - py * vx) / area, (ux * py - uy * px) / area
    inside = seen & (s >= 0) & (t >= 0) & (s + t <= 1)
    heights = a[:, 2] + s * (b - a)[:, 2] + t * (c - a)[:, 2]
    return [float(height) for height in np.sort(heights[inside])]


def tops_at(body: Body, points: Points) -> list[float]:
    """The highest point of a body over each of some points; 0, the bed, where there is none.

    Args:
        body: lowest at height 0.
        points: shape (n, 2).
    """
    return [heights[-1] if heights else 0.0 for heights in surfaces_at(body, points)]


def material_along(
    section: BaseGeometry, starts: Points, ways: Points, reach_mm: float
) -> list[list[tuple[float, float]]]:
    """Where level lines run through material.

    Args:
        section: a cut.
        starts: of the lines, shape (n, 2).
        ways: unit vectors along them, shape (n, 2).
        reach_mm: their length.

    Returns:
        For each line from where to where it is in material, in mm from its start, in order.

    Example:
        >>> material_along(shapely.box(1, -1, 3, 1), np.array([[0.0, 0]]), np.array([[1.0, 0]]), 9.0)
        [[(1.0, 3.0)]]
    """
    lines = shapely.linestrings(np.stack([starts, starts + reach_mm * ways], axis=1))
    found = []
    for cut, start, way in zip(shapely.intersection(lines, section), starts, ways, strict=True):
        pieces = [one for one in shapely.get_parts(cut) if one.length > 0]
        places = [(shapely.get_coordinates(one) - start) @ way for one in pieces]
        found.append(sorted((float(some.min()), float(some.max())) for some in places))
    return found


def open_across(section: BaseGeometry, middle: Points, way: Points, reach_mm: float) -> float:
    """How wide it is open at a point, along a line through it; 0 when there is material.

    Args:
        section: a cut.
        middle: the point, shape (2,).
        way: a unit vector along the line, shape (2,).
        reach_mm: how far it is followed to each side.

    Example:
        >>> slot = shapely.box(0, 0, 9, 9) - shapely.box(3, -1, 5, 10)
        >>> open_across(slot, np.array([4.5, 5.0]), np.array([1.0, 0.0]), 9.0)
        2.0
    """
    if section.contains(shapely.Point(middle)):
        return 0.0
    both = material_along(section, np.array([middle, middle]), np.array([way, -way]), reach_mm)
    return sum(spans[0][0] if spans else reach_mm for spans in both)


def worst(values: Iterable[float], asked: float) -> float:
    """The value that is farthest from what is asked; infinite without any.

    Example:
        >>> worst([1.0, 1.3, 0.9], 1.0)
        1.3
    """
    return max(values, key=lambda value: abs(value - asked), default=float("inf"))
