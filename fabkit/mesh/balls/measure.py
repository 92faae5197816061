"""Measuring a piece of balls whose pose is known: its balls, its lattice, its links and gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body, Points
from fabkit.mesh.part import Part
from fabkit.model.balls import BallBody

#: The plane of a ball's facet is at least this part of the radius from its middle.
_TANGENT = 0.9
#: A ball shows at least this part of its surface.
_LEAST_SHOWN = 0.01
#: Corners lie on a ball when they are off by no more than this part of its radius, ever nearer.
_ON_BALL = (0.15, 0.08, 0.08)
#: That many corners tell a ball reliably.
_ENOUGH_CORNERS = 8
#: Corners that spread by more than this part of the radius are not all of them on the ball.
_SPREAD = 0.002
#: A ball farther off its place than this part of the pitch is not there.
_OFF_PITCH = 0.15
#: Links are cut at so many places, between those this part of the radius away from both balls'
#: middles. There a ball is still wider than a link.
_CUTS, _FROM_MIDDLE = 9, 0.5
#: The flat leans by less than this (radians) from an axis of the balls: one ball that lies off
#: its place turns these axes a little.
_LEANS = math.radians(3)
#: Its facets are those whose corners are at most this part of the pitch above the lowest point.
_AT_END = 0.002
#: The flat has at least this part of a square of one pitch; that under one ball has a quarter.
_LEAST_FLAT = 0.05


class Placed(NamedTuple):
    """Balls that were found at their places.

    Attributes:
        pitch: the distance of neighbours.
        turn: the rotation from the body's axes to the drawing's, shape (3, 3).
        origin: the body's point at the drawing's 0, 0, 0.
        diameters: of the balls.
        off: how far the worst ball's middle lies from its place.
    """

    pitch: float
    turn: Points
    origin: Points
    diameters: tuple[float, ...]
    off: float


def place(body: Body, drawn: BallBody, origin: Points, turn: Points, radius: float) -> Placed | str:
    """Fits the balls of a drawing to the surface near them, and the drawing's lattice to these.

    Args:
        body: in any state; how its facets are turned does not matter.
        drawn: what it should be.
        origin: about where the drawing's 0, 0, 0 is.
        turn: about what brings the drawing's steps to the body, the pitch in it.
        radius: of the balls, about.

    Returns:
        The balls, as they are, or why they are not there.
    """
    wanted = np.array(drawn.balls, float)
    middles = origin + wanted @ turn.T
    away = [np.linalg.norm(body.vertices - middle, axis=1) for middle in middles]
    owners = np.argmin(away, axis=0)[body.faces]
    found = []
    for at, middle in enumerate(middles):
        ball = _ball(body, body.faces[(owners == at).any(axis=1)], middle, radius)
        if ball is None:
            return f"ball {at} is not at its place"
        found.append(ball)
    seen, radii = np.array([middle for middle, _ in found]), [size for _, size in found]
    # By least squares, after Umeyama, Least-squares estimation of transformation parameters (1991).
    shape, shown = wanted - wanted.mean(axis=0), seen - seen.mean(axis=0)
    turned = nearest_rotation(shape.T @ shown)
    pitch = float((shown * (shape @ turned)).sum() / (shape**2).sum())
    origin = seen.mean(axis=0) - pitch * wanted.mean(axis=0) @ turned
    off = np.linalg.norm(seen - origin - pitch * wanted @ turned, axis=1)
    if off.max() > _OFF_PITCH * pitch:
        return f"ball {off.argmax()} is not at its place"
    diameters = tuple(2 * radius for radius in radii)
    return Placed(pitch, turned, origin, diameters, float(off.max()))


def _ball(
    body: Body, faces: NDArray[np.int64], middle: Points, radius: float
) -> tuple[Points, float] | None:
    """The sphere on which facets near it lie; None when too little of it is there."""
    corners = body.vertices[faces]
    normals, areas = normals_of(corners)
    for tolerance in _ON_BALL:
        off = np.linalg.norm(corners - middle, axis=2) - radius
        away = ((corners[:, 0] - middle) * normals).sum(axis=1)
        on_ball = (np.abs(off) < tolerance * radius).all(axis=1)
        on_ball &= np.abs(away) > _TANGENT * radius
        if areas[on_ball].sum() < _LEAST_SHOWN * 4 * math.pi * radius**2:
            return None
        # Where a link or the flat cuts a ball of chords, the new corners lie a little inside it.
        inner = np.setdiff1d(faces[on_ball], faces[~on_ball])
        inner = inner if len(inner) >= _ENOUGH_CORNERS else np.unique(faces[on_ball])
        fitted = _sphere(body.vertices[inner])
        if fitted is None:
            return None
        middle, radius = fitted
    return middle, radius


def _sphere(points: Points) -> tuple[Points, float] | None:
    """The sphere on which the outer ones of points lie: others are middles of chords.

    By least squares for |p|^2 = 2 c p + d, with c the middle.
    """
    while True:
        mean, size = points.mean(axis=0), float(np.ptp(points, axis=0).max())
        around = (points - mean) / size
        columns = np.column_stack([2 * around, np.ones(len(points))])
        squares = (around**2).sum(axis=1)
        (*middle, rest), _, rank, _ = np.linalg.lstsq(columns, squares, rcond=None)
        squared = rest + float(np.dot(middle, middle))
        if rank < 4 or squared <= 0:
            return None
        radius = math.sqrt(squared)
        off = np.linalg.norm(around - middle, axis=1) - radius
        usual = float(np.median(off))
        most = usual + 3 * float(np.median(np.abs(off - usual))) + _SPREAD * radius
        outer = (off >= usual) & (off <= most)
        if off.std() < _SPREAD * radius or outer.sum() < _ENOUGH_CORNERS:
            return mean + size * np.array(middle), size * radius
        points = points[outer]


def nearest_rotation(matrices: Points) -> Points:
    """The rotations most like matrices, shape (…, 3, 3): by singular values, none mirrored.

    Example:
        >>> nearest_rotation(np.diag([2.0, 1.0, -0.1])).round(6).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    left, _, right = np.linalg.svd(matrices)
    left[..., 2] *= np.sign(np.linalg.det(left @ right))[..., None]
    return np.asarray(left @ right)


def normals_of(corners: Points) -> tuple[Points, NDArray[np.float64]]:
    """Normals of length 1, or 0 for facets without extent, and areas."""
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    doubled = np.linalg.norm(crossed, axis=1)
    return crossed / np.where(doubled > 0, doubled, 1.0)[:, None], doubled / 2


def to_lines(points: Points, starts: Points, ends: Points) -> NDArray[np.float64]:
    """How far points (n, 3) are from the nearest of the lines between starts and ends (m, 3)."""
    found = np.full(len(points), math.inf)
    for start, way in zip(starts, ends - starts, strict=True):
        length = float(way @ way) or 1.0
        along = np.clip((points - start) @ way / length, 0.0, 1.0)
        away = points - start - along[:, None] * way
        np.minimum(found, np.sqrt((away**2).sum(axis=1)), out=found)
    return found


# --- between balls ------------------------------------------------------------------------


def neighbours(shape: BallBody) -> Iterator[tuple[int, int]]:
    """The pairs of balls that lie one pitch apart: the bonded ones as they stand, then others.

    Example:
        >>> list(neighbours(BallBody(((0, 0, 0), (1, 0, 0), (1, 1, 0)), ((2, 1),))))
        [(2, 1), (0, 1)]
    """
    yield from shape.bonds
    bonded = {frozenset(bond) for bond in shape.bonds}
    balls = np.array(shape.balls)
    for one in range(len(balls)):
        for other in range(one + 1, len(balls)):
            apart = np.abs(balls[one] - balls[other]).sum() == 1
            if apart and frozenset((one, other)) not in bonded:
                yield one, other


def link_widths(triangles: Points, drawn: BallBody, placed: Placed) -> dict[tuple[int, int], float]:
    """The links that are there, whichever are drawn, each with its least width.

    That is the smallest distance of two parallel lines that hold it, in any cut along it. A link
    that lies on the bed is cut by the flat there, and is less high than wide.

    Args:
        triangles: straight on the drawing's axes, shape (n, 3, 3).
        drawn: with all balls at their places.
        placed: their sizes.
    """
    found = {}
    for one, other in neighbours(drawn):
        ends = placed.pitch * np.array([drawn.balls[one], drawn.balls[other]], float)
        tube = Tube(triangles, *ends)
        if tube.is_filled():
            radius = (placed.diameters[one] + placed.diameters[other]) / 4
            found[one, other] = tube.least_width(_FROM_MIDDLE * radius)
    return found


class Tube:
    """All that is nearer to the line between two neighbouring balls than to other places.

    Args:
        triangles: straight on the lattice of the balls.
        one: a ball's middle.
        other: its neighbour's.
    """

    def __init__(self, triangles: Points, one: Points, other: Points) -> None:
        along = int(np.abs(other - one).argmax())
        axes = [i for i in range(3) if i != along] + [along]
        self._half = float(np.abs(other - one).max()) / 2
        near = triangles[:, :, axes] - ((one + other) / 2)[axes]
        low, high = near.min(axis=1), near.max(axis=1)
        self._near = near[((low < self._half) & (high > -self._half)).all(axis=1)]

    def _cut(self, height: float) -> Points:
        """The ends of the lines in which facets cross a plane across the line.

        Of those that come into the tube, this far from its middle.
        """
        above = self._near[:, :, 2] > height
        starts, ends = self._near, np.roll(self._near, -1, axis=1)
        crossing = above != np.roll(above, -1, axis=1)
        starts, ends = starts[crossing], ends[crossing]
        share = (height - starts[:, 2]) / (ends[:, 2] - starts[:, 2])
        lines = (starts + share[:, None] * (ends - starts))[:, :2].reshape(-1, 2, 2)
        low, high = lines.min(axis=1), lines.max(axis=1)
        near = ((low < self._half) & (high > -self._half)).all(axis=1)
        return np.asarray(lines[near].reshape(-1, 2))

    def is_filled(self) -> bool:
        """Whether there is something all around the middle."""
        x, y = self._cut(0.0).T
        turns = np.sort(np.arctan2(y, x))
        return len(turns) > 2 and bool(np.diff(turns, append=turns[0] + 2 * np.pi).max() < np.pi)

    def least_width(self, from_ends: float) -> float:
        """The least width of what is in it, in cuts between two places near its ends."""
        end = self._half - from_ends
        return min(_width(self._cut(float(height))) for height in np.linspace(-end, end, _CUTS))

    def gap(self) -> float:
        """How long the middle is empty; 0 when something is there."""
        if len(self._cut(0.0)):
            return 0.0
        inside = (np.abs(self._near[:, :, :2]) < self._half).all(axis=2)
        heights = self._near[:, :, 2][inside]
        high, low = heights[heights > 0], heights[heights <= 0]
        return float(high.min(initial=self._half) - low.max(initial=-self._half))


def _width(points: Points) -> float:
    """The smallest distance of two parallel lines that hold points of a plane.

    Example:
        >>> _width(np.array([[0.0, 0], [4, 0], [4, 3], [0, 3]]))
        3.0
    """
    ring = shapely.get_coordinates(shapely.MultiPoint(points).convex_hull)
    sides = np.diff(ring, axis=0)
    lengths = np.linalg.norm(sides, axis=1)
    if len(ring) < 4:
        return math.inf
    normals = np.column_stack([-sides[:, 1], sides[:, 0]]) / lengths[:, None]
    return float(np.ptp(ring @ normals.T, axis=0).min())


# --- on the bed ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Lying:
    """A part as it is printed: on the side on which most of its surface is level and lowest.

    Attributes:
        vertices: its corners in mm, shape (n, 3), lowest at height 0, the flat level.
        middles: the places of its balls there, shape (balls, 3).
        lowest: the balls of the lowest plane.
        flat: what lies on the bed, seen from above; empty when there is no flat. Then the part
            lies with as many balls lowest as it can.
        tilt_degrees: between the file's vertical and the upright of the part; 0 without a flat.
    """

    vertices: Points
    middles: Points
    lowest: tuple[int, ...]
    flat: BaseGeometry
    tilt_degrees: float


def lay_down(part: Part) -> Lying:
    """Lays a part on its flat.

    Args:
        part: a piece, in any state; how its facets are turned does not matter.
    """
    assert part.balls is not None
    pitch_mm = part.balls.pitch_mm
    middles = np.array(part.balls.shape.balls, float) * pitch_mm
    ways, tilt = np.vstack([np.eye(3), -np.eye(3)]), 0.0
    corners = part.vertices[part.body.faces]
    normals, areas = normals_of(corners)
    most, flat, up = _LEAST_FLAT * pitch_mm**2, np.zeros(len(areas), dtype=bool), None
    for way in ways:
        level = np.abs(normals @ way) > math.cos(_LEANS)
        if not level.any():
            continue
        largest = normals[np.argmax(areas * level)]
        heights = corners @ (largest * np.sign(largest @ way))
        lowest = (heights < heights.min() + _AT_END * pitch_mm).all(axis=1)
        if areas[lowest].sum() > most:
            most, flat, up = float(areas[lowest].sum()), lowest, way
    if up is not None:
        up, own = (
            _across(vertices[part.body.faces[flat]], vertices.mean(axis=0))
            for vertices in (part.vertices, part.body.vertices)
        )
        tilt = math.degrees(math.atan2(math.hypot(own[0], own[1]), own[2]))
    else:
        up = max(ways, key=lambda way: len(_lowest(middles @ way, pitch_mm)))
    along = np.eye(3)[int(np.abs(up).argmin())]
    x = along - up * (up @ along)
    x /= np.linalg.norm(x)
    turn = np.array([x, np.cross(up, x), up])
    vertices, middles = part.vertices @ turn.T, middles @ turn.T
    down = [0.0, 0.0, float(vertices[:, 2].min())]
    bed = shapely.polygons(vertices[part.body.faces[flat]][:, :, :2])
    seen = shapely.union_all(shapely.make_valid(bed))
    return Lying(vertices - down, middles - down, _lowest(middles[:, 2], pitch_mm), seen, tilt)


def _across(flat: Points, middle: Points) -> Points:
    """The unit vector across facets (n, 3, 3) that points to the side of the body's middle.

    The largest of them decide: single precision turns slivers by degrees.
    """
    normals, areas = normals_of(flat)
    alike = np.sign(normals @ normals[areas.argmax()])
    across = (normals * (alike * areas)[:, None]).sum(axis=0)
    across /= np.linalg.norm(across)
    return np.asarray(across if (middle - flat[0, 0]) @ across > 0 else -across)


def _lowest(heights: NDArray[np.float64], pitch_mm: float) -> tuple[int, ...]:
    return tuple(np.flatnonzero(heights < heights.min() + pitch_mm / 2).tolist())
