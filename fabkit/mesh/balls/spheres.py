"""Finding balls in a mesh: the spheres on which patches of its surface lie.

Nothing is known beforehand, neither sizes nor places. Around each facet a sphere is laid through
the corners of the facets near it, as far as the surface has no crease. Where such patches agree on
a middle, there is a ball; its middle and diameter are then fitted to the corners that lie on it.
A printed ball may be cut by a flat and grown into by links: a part of its surface is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Body, Points

#: Facets that meet at more than this angle (radians) have a crease between them. The facets of
#: a ball of 12 segments turn by 30 degrees; a link meets its ball at about 40.
_CREASE = math.radians(33)
#: A patch is a facet and the facets so many steps around it.
_STEPS = 3
#: A patch is a part of a sphere when its corners are off by less than this part of its bulge;
#: those of a cylinder are off by about 0.8 of it.
_OFF_BULGE = 0.3
#: The plane of a ball's facet is at least this part of the radius from its middle: that of a
#: sphere through both ends of a link is nearer, 0.8 for usual sizes.
_TANGENT = 0.9
#: Balls of one piece are alike: radii that differ by more than this part from most are no balls.
_ALIKE = 0.25
#: Patches whose middles lie within this part of the radius of each other are of one ball.
_TOGETHER = 0.3
#: Different balls have middles that are at least this part of the radius apart.
_APART = 1.0
#: A ball shows at least this part of its surface.
_LEAST_SHOWN = 0.01
#: A ball's facets look in all directions of space: out of any plane by this part of the whole, in
#: squares. Those of a low cylinder, whose ends lie on a sphere, do not.
_LEAST_ROUND = 1e-3
#: Corners lie on a ball when they are off by no more than this part of its radius, ever nearer.
_ON_BALL = (0.08, 0.05, 0.03, 0.02)
#: That many corners tell a ball reliably.
_ENOUGH_CORNERS = 8


@dataclass(frozen=True, eq=False)
class Ball:
    """A sphere on which a part of the surface lies.

    Attributes:
        middle: in the body's own lengths, shape (3,).
        diameter: the same.
    """

    middle: Points
    diameter: float


@dataclass(frozen=True, eq=False)
class _Facets:
    """A body's facets, those that have an area.

    Attributes:
        vertices: the body's corners, shape (n, 3).
        corners: shape (m, 3, 3).
        positions: of the corners, shape (m, 3).
        normals: of length 1, shape (m, 3).
        areas: shape (m,).
    """

    vertices: Points
    corners: Points
    positions: NDArray[np.int64]
    normals: Points
    areas: NDArray[np.float64]


def find_balls(body: Body) -> list[Ball]:
    """Finds the balls of a body, whatever way it lies and whatever its length is in.

    Args:
        body: in any state; how its facets are turned does not matter.

    Returns:
        The balls, from low to high along z, then y, then x. Balls whose diameters differ by more
        than a quarter from most are not among them.
    """
    scale = float(np.ptp(body.vertices, axis=0).max()) if len(body.vertices) else 0.0
    if scale <= 0 or not len(body.faces):
        return []
    origin = (body.vertices.min(axis=0) + body.vertices.max(axis=0)) / 2
    facets = _facets((body.vertices - origin) / scale, body.faces)
    middles, radii, weights = _patches(facets)
    found: list[tuple[Points, float]] = []
    if not len(radii):
        return []
    radius = _weighted_median(radii, weights)
    alike = np.abs(radii - radius) < _ALIKE * radius
    for middle in _agreed(middles[alike], weights[alike], radius):
        ball = _fitted(facets, middle, radius)
        if ball and all(np.linalg.norm(ball[0] - other) > _APART * radius for other, _ in found):
            found.append(ball)
    balls = [Ball(middle * scale + origin, 2 * size * scale) for middle, size in found]
    return sorted(balls, key=lambda ball: tuple(ball.middle[::-1].tolist()))


def _facets(vertices: Points, faces: NDArray[np.int64]) -> _Facets:
    corners = vertices[faces]
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    doubled = np.linalg.norm(crossed, axis=1)
    solid = doubled > 0
    normals = crossed[solid] / doubled[solid, None]
    return _Facets(vertices, corners[solid], faces[solid], normals, doubled[solid] / 2)


# --- patches ------------------------------------------------------------------------------


def _patches(facets: _Facets) -> tuple[Points, NDArray[np.float64], NDArray[np.float64]]:
    """The spheres laid through the patches that are parts of spheres.

    Returns:
        Their middles, their radii, and the areas of the facets in their middles.
    """
    moments = _moments(facets)
    one, other = _neighbours(facets)
    for _ in range(_STEPS):
        grown = moments.copy()
        np.add.at(grown, one, moments[other])
        np.add.at(grown, other, moments[one])
        moments = grown
    square, right, sum_of_squares = _normal_equations(moments)
    # A plane leaves the middle open; it is then put into the plane, and refused below.
    square += 1e-13 * np.eye(4) * moments[:, :1, None]
    solved = np.linalg.solve(square, right[:, :, None])[:, :, 0]
    count = moments[:, 0]
    middles = solved[:, :3] / 2
    squared = solved[:, 3] + (middles**2).sum(axis=1)
    radii = np.sqrt(np.maximum(squared, 1e-12))
    off = np.maximum(sum_of_squares - (solved * right).sum(axis=1), 0.0) / count
    mean = moments[:, 1:4] / count[:, None]
    spread = moments[:, [4, 7, 9]].sum(axis=1) / count - (mean**2).sum(axis=1)
    # Both are in squared lengths, twice the radius times a height over the patch.
    is_round = (squared > 0) & (np.sqrt(off) < _OFF_BULGE * spread)
    away = ((facets.corners[:, 0] - middles) * facets.normals).sum(axis=1)
    good = is_round & (np.abs(away) > _TANGENT * radii)
    return middles[good], radii[good], facets.areas[good]


def _moments(facets: _Facets) -> Points:
    """The sums over each facet's corners from which a sphere through them is computed.

    In the order 1, x, y, z, xx, xy, xz, yy, yz, zz, xs, ys, zs, s, ss with s = xx + yy + zz.
    """
    x, y, z = np.moveaxis(facets.corners, 2, 0)
    s = x * x + y * y + z * z
    each = [np.ones_like(x), x, y, z, x * x, x * y, x * z, y * y, y * z, z * z]
    each += [x * s, y * s, z * s, s, s * s]
    return np.stack([one.sum(axis=1) for one in each], axis=1)


def _normal_equations(moments: Points) -> tuple[Points, Points, NDArray[np.float64]]:
    """Least squares for |p|^2 = 2 c p + d, with c the middle: matrices, right sides, squares."""
    square = moments[:, [[4, 5, 6, 1], [5, 7, 8, 2], [6, 8, 9, 3], [1, 2, 3, 0]]]
    return square, moments[:, [10, 11, 12, 13]], moments[:, 14]


def _neighbours(facets: _Facets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of facets that share an edge which is no crease."""
    first = facets.positions.ravel()
    second = np.roll(facets.positions, -1, axis=1).ravel()
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((high, low))
    same = (np.diff(low[order]) == 0) & (np.diff(high[order]) == 0)
    at = np.flatnonzero(same)
    one, other = order[at] // 3, order[at + 1] // 3
    # Whichever way they are turned: a body with some facets turned over is still to be read.
    along = np.abs((facets.normals[one] * facets.normals[other]).sum(axis=1))
    smooth = along > math.cos(_CREASE)
    return one[smooth], other[smooth]


# --- balls --------------------------------------------------------------------------------


def _weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    order = np.argsort(values, kind="stable")
    heaped = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(heaped, heaped[-1] / 2)])


def _agreed(middles: Points, weights: NDArray[np.float64], radius: float) -> list[Points]:
    """The places on which patches agree as the middle of a ball, the surest first."""
    together, found = _TOGETHER * radius, []
    least = _LEAST_SHOWN * 4 * math.pi * radius**2
    while len(middles):
        boxes = np.floor(middles / together).astype(np.int64)
        kinds, which = np.unique(boxes, axis=0, return_inverse=True)
        heaps = np.bincount(which.ravel(), weights=weights, minlength=len(kinds))
        middle = middles[which.ravel() == heaps.argmax()].mean(axis=0)
        for _ in range(4):
            near = np.linalg.norm(middles - middle, axis=1) < together
            if not near.any():
                break
            middle = np.average(middles[near], axis=0, weights=weights[near])
        near = np.linalg.norm(middles - middle, axis=1) < together
        if weights[near].sum() >= least:
            found.append(middle)
        rest = ~near & (which.ravel() != heaps.argmax())
        middles, weights = middles[rest], weights[rest]
        if weights.sum() < least:
            break
    return found


def _fitted(facets: _Facets, middle: Points, radius: float) -> tuple[Points, float] | None:
    """A ball fitted to the corners that lie on it; None when too little of it is there."""
    for tolerance in _ON_BALL:
        off = np.linalg.norm(facets.corners - middle, axis=2) - radius
        away = ((facets.corners[:, 0] - middle) * facets.normals).sum(axis=1)
        on_ball = (np.abs(off) < tolerance * radius).all(axis=1)
        on_ball &= np.abs(away) > _TANGENT * radius
        shown = float(facets.areas[on_ball].sum())
        if shown < _LEAST_SHOWN * 4 * math.pi * radius**2 or not _is_round(facets, on_ball):
            return None
        points = _inner_corners(facets, on_ball)
        columns = np.column_stack([2 * (points - middle), np.ones(len(points))])
        squares = ((points - middle) ** 2).sum(axis=1)
        (*moved, rest), _, rank, _ = np.linalg.lstsq(columns, squares, rcond=None)
        squared = rest + float(np.dot(moved, moved))
        if rank < 4 or squared <= 0:
            return None
        middle, radius = middle + np.array(moved), math.sqrt(squared)
    return middle, radius


def _is_round(facets: _Facets, on_ball: NDArray[np.bool_]) -> bool:
    normals, areas = facets.normals[on_ball], facets.areas[on_ball]
    spread = np.linalg.eigvalsh((normals * areas[:, None]).T @ normals / areas.sum())
    return bool(spread[0] > _LEAST_ROUND)


def _inner_corners(facets: _Facets, on_ball: NDArray[np.bool_]) -> Points:
    """The corners all of whose facets lie on a ball, if they are enough; else of any of them.

    Where a link or the flat cuts a ball of chords, the new corners lie a little inside it.
    """
    on_any = np.zeros(len(facets.vertices), dtype=bool)
    on_any[facets.positions[on_ball]] = True
    inner = on_any.copy()
    inner[facets.positions[~on_ball]] = False
    return np.asarray(facets.vertices[inner if inner.sum() >= _ENOUGH_CORNERS else on_any])
