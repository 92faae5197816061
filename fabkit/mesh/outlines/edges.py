"""The long edges of an outline: what is left of it when tips and roundings are looked past."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LinearRing, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.body import Points
from fabkit.mesh.section import parts
from fabkit.mesh.upright import Upright
from fabkit.model.lattice import Lattice

#: Where a body is cut to see its outline, as parts of its height.
_HEIGHTS = (0.12, 0.3, 0.42, 0.5, 0.62, 0.75, 0.88)
#: … and with everything that sticks out, this near to heights with corners, and so many of them.
_NEAR_LEVEL, _MOST_LEVELS = 0.0015, 30
#: Corners nearer than this part of the outline's extent are one.
_GRAIN = 2e-6
#: Two lines meet when the sine of the angle between them is at least this.
_MEET = 0.1
#: An edge may waver by this part of the outline's extent: the noise of other people's meshes.
_WAVER = 2e-4
#: An edge of the lattice's directions counts from this part of the longest one.
_LONG = 0.1
#: How far (radians) an edge may be from a direction of the lattice, in meshes from elsewhere.
_NEAR_DIRECTION = math.radians(1.5)


@dataclass(frozen=True)
class LongEdges:
    """The edges of an outline that run along directions of a lattice, in order, ring by ring.

    Attributes:
        starts: where they begin, shape (n, 2); the material is on their left.
        ends: where they end, shape (n, 2).
        rings: the number of the ring that each is part of, shape (n,).
    """

    starts: Points
    ends: Points
    rings: NDArray[np.int64]

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Their lengths."""
        return np.asarray(np.linalg.norm(self.ends - self.starts, axis=1))

    @cached_property
    def normals(self) -> Points:
        """The unit vectors out of the material."""
        along = (self.ends - self.starts) / self.lengths[:, None]
        return np.column_stack([along[:, 1], -along[:, 0]])

    @cached_property
    def offsets(self) -> NDArray[np.float64]:
        """How far out their lines lie, from the origin."""
        return np.asarray(((self.starts + self.ends) / 2 * self.normals).sum(axis=1))

    @cached_property
    def corners(self) -> Corners:
        """Where the line of each edge meets that of the next one.

        That is the corner itself, however it was cut back or rounded.
        """
        pairs = []
        for ring in np.unique(self.rings):
            here = np.flatnonzero(self.rings == ring)
            around = np.column_stack([here, np.roll(here, -1)])
            lines = self.normals[around]
            pairs.append(around[np.abs(np.linalg.det(lines)) > _MEET])
        both = np.concatenate([*pairs, np.empty((0, 2), dtype=np.int64)])
        normals, offsets = self.normals[both], self.offsets[both]
        points = np.linalg.solve(normals, offsets[:, :, None])[:, :, 0]
        outwards = np.linalg.solve(normals, np.ones((len(both), 2, 1)))[:, :, 0]
        return Corners(points, outwards, normals, offsets, tuple(map(len, pairs)))


@dataclass(frozen=True)
class Corners:
    """Corners between long edges, in order, ring by ring.

    Attributes:
        points: where they are, shape (n, 2).
        outwards: by which each moves when all edges move out by 1, shape (n, 2).
        normals: of the two edges at each, out of the material, shape (n, 2, 2).
        offsets: how far out these two lie, from the origin, shape (n, 2).
        counts: how many are on each ring.
    """

    points: Points
    outwards: Points
    normals: Points
    offsets: Points
    counts: tuple[int, ...]

    def by_ring(self, values: Points) -> list[Points]:
        """What belongs to the corners, apart for each ring."""
        return np.split(values, np.cumsum(self.counts)[:-1])


def silhouette(upright: Upright, everywhere: bool = False) -> BaseGeometry:
    """The outline of a body, seen from above: what any of several sections shows.

    Recesses and letters, which are closed at some height, are no part of it; holes that go
    through are.

    Args:
        upright: the body.
        everywhere: cuts also just above and below every height at which corners lie, so that
            nothing that sticks out is missed. Else roundings of bed and face are looked past.
    """
    thickness = upright.thickness
    heights = [share * thickness for share in _HEIGHTS]
    if everywhere:
        levels = upright.sections.levels()
        levels = levels[:: 1 + len(levels) // _MOST_LEVELS]
        for low, high in itertools.pairwise([*levels, thickness]):
            near = min(_NEAR_LEVEL * thickness, (high - low) / 4)
            heights += [low + near, high - near]
    cuts = [upright.sections.at(height) for height in heights]
    extent = float(np.ptp(upright.vertices[:, :2], axis=0).max())
    grain = max(extent * _GRAIN, 1e-12)
    return shapely.union_all(cuts, grid_size=grain).simplify(2 * grain)


def largest(area: BaseGeometry) -> Polygon:
    """The largest part of an area; an empty polygon of none."""
    found = parts(area)
    return orient(found[0]) if found else Polygon()


def direction_step(lattice: Lattice) -> float:
    """The angle (radians) between neighbouring directions of a lattice's edges.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> [round(math.degrees(direction_step(one))) for one in LATTICES.values()]
        [90, 45, 60]
    """
    return math.pi / len({_angle(lattice, *edge) for edge in _edges(lattice)})


def first_direction(lattice: Lattice) -> float:
    """The least angle (radians) of a lattice's edges, from the x axis."""
    step = direction_step(lattice)
    return min(_angle(lattice, *edge) % step for edge in _edges(lattice))


def turn_of(outline: Polygon, lattice: Lattice) -> float:
    """How far (radians) an outline is turned against a lattice, up to the step of its directions.

    Args:
        outline: its long edges run along directions of the lattice.
        lattice: the lattice.

    Returns:
        An angle between 0 and the step.

    Example:
        >>> from shapely import affinity, box
        >>> from fabkit.model.lattice import LATTICES
        >>> turned = affinity.rotate(box(0, 0, 3, 2), 10)
        >>> round(math.degrees(turn_of(turned, LATTICES["quarter-square"])), 6)
        10.0
    """
    step = direction_step(lattice)
    total = 0j
    for ring in _rings(_smooth(outline)):
        along = np.diff(np.asarray(ring.coords)[:, :2], axis=0)
        angles = np.arctan2(along[:, 1], along[:, 0])
        # Squares of lengths: many short edges of a rounding weigh nothing.
        total += ((along**2).sum(axis=1) * np.exp(2j * math.pi / step * angles)).sum()
    angle = float(np.angle(total)) / (2 * math.pi) * step
    return (angle - first_direction(lattice)) % step


def long_edges(outline: Polygon, lattice: Lattice) -> LongEdges:
    """The long edges of an outline that lies straight on a lattice.

    Args:
        outline: in any unit, material inside, turned so that its edges have the lattice's
            directions.
        lattice: the lattice.

    Returns:
        Its edges of at least a tenth of the longest; pieces of one line are one edge.
    """
    step, first = direction_step(lattice), first_direction(lattice)
    starts, ends, rings = [], [], []
    outline = orient(outline)
    for number, ring in enumerate(_rings(orient(_smooth(outline)))):
        points = np.asarray(ring.coords)[:, :2]
        along = np.diff(points, axis=0)
        angles = np.arctan2(along[:, 1], along[:, 0]) - first
        off = np.abs((angles + step / 2) % step - step / 2)
        for i in np.flatnonzero((off < _NEAR_DIRECTION) & (np.hypot(*along.T) > 0)):
            starts.append(points[i])
            ends.append(points[i + 1])
            rings.append(number)
    if not starts:
        return LongEdges(np.empty((0, 2)), np.empty((0, 2)), np.empty(0, dtype=np.int64))
    joined = _joined(LongEdges(np.array(starts), np.array(ends), np.array(rings)))
    long = joined.lengths >= _LONG * joined.lengths.max()
    return _as_seen(LongEdges(joined.starts[long], joined.ends[long], joined.rings[long]), outline)


def _as_seen(edges: LongEdges, outline: Polygon) -> LongEdges:
    """The edges where the outline itself has them, if it has most of an edge in one piece.

    An edge that was smoothed may take in the beginning of a rounding, and be off by as much.
    """
    rings = [np.asarray(ring.coords)[:, :2] for ring in _rings(outline)]
    starts, ends = (
        np.concatenate(some)
        for some in zip(*((ring[:-1], ring[1:]) for ring in rings), strict=True)
    )
    lengths = np.linalg.norm(ends - starts, axis=1)
    near = _waver(outline)
    from_, to = edges.starts.copy(), edges.ends.copy()
    for i, (normal, offset, length) in enumerate(
        zip(edges.normals, edges.offsets, edges.lengths, strict=True)
    ):
        middle, along = (edges.starts[i] + edges.ends[i]) / 2, edges.ends[i] - edges.starts[i]
        good = (
            (lengths > length / 2)
            & (np.abs(starts @ normal - offset) < near)
            & (np.abs(ends @ normal - offset) < near)
            & (np.abs(((starts + ends) / 2 - middle) @ along) < length**2 / 4)
            & ((ends - starts) @ along > 0)
        )
        if good.any():
            best = int(np.argmax(np.where(good, lengths, 0.0)))
            from_[i], to[i] = starts[best], ends[best]
    return LongEdges(from_, to, edges.rings)


def _joined(edges: LongEdges) -> LongEdges:
    """Neighbours on one line made one edge, as when a side was cut into pieces."""
    merged: list[list[int]] = []
    normals, offsets, rings = edges.normals, edges.offsets, edges.rings
    tiny = 1e-3 * edges.lengths.max()

    def same_line(one: int, other: int) -> bool:
        return bool(
            rings[one] == rings[other]
            and normals[one] @ normals[other] > math.cos(_NEAR_DIRECTION)
            and abs(offsets[one] - offsets[other]) < tiny
            and np.linalg.norm(edges.ends[one] - edges.starts[other]) < tiny
        )

    for i in range(len(rings)):
        if merged and same_line(merged[-1][-1], i):
            merged[-1].append(i)
        else:
            merged.append([i])
    for ring in np.unique(rings):
        of_ring = [group for group in merged if rings[group[0]] == ring]
        if len(of_ring) > 1 and same_line(of_ring[-1][-1], of_ring[0][0]):
            of_ring[0][:0] = of_ring[-1]
            merged.remove(of_ring[-1])
    return LongEdges(
        np.array([edges.starts[group[0]] for group in merged]),
        np.array([edges.ends[group[-1]] for group in merged]),
        np.array([rings[group[0]] for group in merged]),
    )


def _smooth(outline: Polygon) -> Polygon:
    return outline.simplify(_waver(outline))


def _waver(outline: Polygon) -> float:
    left, bottom, right, top = outline.bounds
    return float(_WAVER * max(right - left, top - bottom))


def _rings(outline: Polygon) -> list[LinearRing]:
    return [outline.exterior, *outline.interiors]


def _edges(lattice: Lattice) -> list[tuple[Points, Points]]:
    return [
        (np.array(start, float), np.array(end, float))
        for cell in lattice.first
        for start, end in lattice.cell_edges(cell)
    ]


def _angle(lattice: Lattice, start: Points, end: Points) -> float:
    """The direction of an edge of a cell, in 0 to pi, the same number for the same direction."""
    steps = [math.sqrt(squared) for squared in lattice.step_squared]
    dx, dy = (end - start) * steps
    return round(math.atan2(dy, dx) % math.pi, 9) % round(math.pi, 9)
