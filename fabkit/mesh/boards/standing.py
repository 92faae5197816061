"""Standing boards up: which of their flat faces may lie on the bed, whatever way a file has them."""

from __future__ import annotations

import math

import numpy as np
import shapely

from fabkit.mesh.body import Body, Points

#: Faces whose normals differ by less than this (radians) look in one direction.
_ONE_DIRECTION = 0.01
#: Heights of which each is this near (mm) to the next are one level.
_ONE_LEVEL_MM = 1e-4
#: So many directions are tried; a board is a plate, and its plate is the largest face by far.
_DIRECTIONS_TRIED = 3


def ways_up(body: Body) -> list[Points]:
    """The ways in which a board may have been meant to stand, the likeliest first.

    Args:
        body: of at least one triangle.

    Returns:
        Its corners for each way, shape (n, 3): lowest at height 0, the rectangle around what is
            seen from above straight along x and y, its middle at the origin. Each direction of
            large faces comes both ways up, that of the file first. The body is only turned and
            moved, never mirrored.

    Example:
        >>> corners = np.array([[x, y, z] for x in (0, 3) for y in (0, 1) for z in (0, 2)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> box = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
        >>> [np.ptp(way, axis=0).round(9).tolist() for way in ways_up(Body("box", corners, box))][::2]
        [[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [2.0, 1.0, 3.0]]
    """
    found = []
    for up in _directions(body):
        for way in (up, -up):
            found.append(straightened(body.vertices @ _turn(way).T))
    return found


def straightened(vertices: Points) -> Points:
    """Upright corners, turned about the vertical and moved as `ways_up` says.

    The longer side of the rectangle lies along x.
    """
    hull = shapely.multipoints(vertices[:, :2]).convex_hull
    ring = shapely.get_coordinates(shapely.minimum_rotated_rectangle(hull))
    if len(ring) < 4:
        return _on_the_bed(vertices)
    one, other = ring[1] - ring[0], ring[2] - ring[1]
    x, y = one if np.hypot(*one) >= np.hypot(*other) else other
    # Of two opposite ways the one that turns less, so that what lies straight stays as it is.
    x, y = (x, y) if (x, y) >= (0, 0) else (-x, -y)
    return _on_the_bed(turned(vertices, -math.atan2(y, x)))


def turned(vertices: Points, radians: float) -> Points:
    """Corners turned about the vertical through the origin, counter-clockwise."""
    cos, sin = math.cos(radians), math.sin(radians)
    matrix = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(vertices @ matrix.T)


def _on_the_bed(vertices: Points) -> Points:
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle = (low + high) / 2
    moved = vertices - np.array([middle[0], middle[1], low[2]])
    moved[:, 2] = _levelled(moved[:, 2])
    return np.asarray(moved)


def _levelled(heights: Points) -> Points:
    """Heights of which those that differ by rounding only are made the same.

    Files hold single precision. When a board lay askew in one, long thin triangles of its level
    faces lean once it is straight.
    """
    order = np.argsort(heights, kind="stable")
    ascending = heights[order]
    group = np.concatenate([[0], np.cumsum(np.diff(ascending) > _ONE_LEVEL_MM)])
    means = np.bincount(group, ascending) / np.bincount(group)
    found = np.empty_like(heights)
    found[order] = means[group]
    return np.asarray(found - means[0])


def _directions(body: Body) -> list[Points]:
    """The normals of the largest flat faces, opposite ones made one, the largest first.

    Each looks upwards in the file.
    """
    corners = body.vertices[body.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals, areas = normals[areas > 0], areas[areas > 0]
    normals = normals / areas[:, None]
    found: list[tuple[float, Points]] = []
    left = np.ones(len(areas), dtype=bool)
    # Round walls are many small faces: they end the search, so it is short.
    while left.any() and len(found) < _DIRECTIONS_TRIED:
        largest = normals[np.flatnonzero(left)[areas[left].argmax()]]
        along = normals @ largest
        near = left & (np.abs(along) > math.cos(_ONE_DIRECTION))
        mean = (normals[near] * (np.sign(along[near]) * areas[near])[:, None]).sum(axis=0)
        mean /= np.linalg.norm(mean)
        found.append((float(areas[near].sum()), mean if mean[2] >= -1e-9 else -mean))
        left &= ~near
    return [way for _, way in sorted(found, key=lambda one: -one[0])] or [np.array([0.0, 0, 1])]


def _turn(up: Points) -> Points:
    """A rotation that carries a direction to the vertical, shape (3, 3)."""
    other = np.eye(3)[np.abs(up).argmin()]
    x = np.cross(other, up)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(up, x), up])
