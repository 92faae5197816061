"""The cells of a lattice as polygons in the plane, in grid units: drawn anew for the checker.

A cell has a *key*, one integer. Moving by a translation of the lattice adds the same number to
the key of every cell, so sets of cells move, and are compared, by adding numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import affinity


class RefusedError(Exception):
    """The file is well formed, but does not hold; the sentence says where and why."""


Keys = NDArray[np.int64]
Points = NDArray[np.float64]
Corner = tuple[float, float]

#: How far a computed point may lie from where it should be, in grid units.
TOLERANCE = 1e-6

#: Keys count cells across, up, and within the period; a lattice is never so high.
_HEIGHT = 1 << 22
#: So many are looked through without asking how many of them are needed.
_MANY_PERIODS = 50_000


@dataclass(frozen=True)
class Tiling:
    """A lattice: the cells of one period, and the two translations that repeat them.

    Attributes:
        step: the length of a frame step along x and y.
        across: the first translation.
        up: the second translation.
        cells: the cells of one period, each by its corners.
        directions: the frame vectors along which edges of cells run.
        turn_degrees: the lattice's least turn about the origin.
    """

    step: Corner
    across: Corner
    up: Corner
    cells: tuple[tuple[Corner, ...], ...]
    directions: frozenset[tuple[int, int]]
    turn_degrees: int

    @cached_property
    def cell_area(self) -> float:
        """The area of one cell.

        Example:
            >>> TILINGS["quarter-square"].cell_area
            0.25
        """
        return float(shapely.Polygon(self.cells[0]).area)

    @cached_property
    def _centroids(self) -> Points:
        return np.array([shapely.Polygon(cell).centroid.coords[0] for cell in self.cells])

    @cached_property
    def _to_periods(self) -> Points:
        """The matrix that counts translations: of a point's row vector, times across and up."""
        return np.asarray(np.linalg.inv(np.array([self.across, self.up])))

    def keys(self, across: Keys, up: Keys, kind: int) -> Keys:
        """The keys of one period's cell, moved so many times across and up."""
        keys: Keys = (across * _HEIGHT + up) * len(self.cells) + kind
        return keys

    def split(self, keys: Keys) -> tuple[Keys, Keys, Keys]:
        """Across, up and the cell within the period: the inverse of `keys`."""
        periods, kind = np.divmod(keys, len(self.cells))
        across = (periods + _HEIGHT // 2) // _HEIGHT
        return across, periods - across * _HEIGHT, kind

    def to_origin(self, keys: Keys) -> Keys:
        """The same sorted cells with the translation divided out."""
        at_origin: Keys = keys - keys[0] // len(self.cells) * len(self.cells)
        return at_origin

    def centroids(self, keys: Keys) -> Points:
        """The centroid of each cell."""
        across, up, kind = self.split(keys)
        periods = np.column_stack([across, up]) @ np.array([self.across, self.up])
        return np.asarray(self._centroids[kind] + periods)

    def polygons(self, keys: Keys, shrunk: float) -> NDArray[Any]:
        """Each cell as a polygon, shrunk towards its centroid by a small part of its size."""
        across, up, kind = self.split(keys)
        periods = np.column_stack([across, up]) @ np.array([self.across, self.up])
        centres = self._centroids[:, None, :]
        corners = np.array(self.cells) * (1 - shrunk) + centres * shrunk
        return np.asarray(shapely.polygons(corners[kind] + periods[:, None, :]))

    def keys_at(self, centroids: Points) -> Keys:
        """The cells that have these centroids.

        Raises:
            RefusedError: when one is not the centroid of a cell.
        """
        found, missing = self.looked_up(centroids)
        if missing.any():
            raise RefusedError("a symmetry of the lattice does not carry cells to cells")
        return found

    def looked_up(self, centroids: Points) -> tuple[Keys, NDArray[np.bool_]]:
        """The cells that have these centroids, and which of the points are no cell's centroid."""
        found = np.full(len(centroids), -1, dtype=np.int64)
        missing = np.ones(len(centroids), dtype=bool)
        for kind, first in enumerate(self._centroids):
            periods = (centroids - first) @ self._to_periods
            whole = np.rint(periods)
            here = (np.abs(periods - whole) < TOLERANCE).all(axis=1)
            across, up = whole[here].astype(np.int64).T
            found[here] = self.keys(across, up, kind)
            missing &= ~here
        return found, missing

    def frame(self, points: Points) -> list[tuple[int, int]]:
        """Points of the plane in frame points.

        Raises:
            RefusedError: when one is not a frame point.
        """
        steps = points / np.array(self.step)
        whole = np.rint(steps)
        if (np.abs(steps - whole) > TOLERANCE).any():
            raise RefusedError("a centroid is not a frame point")
        return [(int(x), int(y)) for x, y in whole]

    def around(self, shape: Any) -> int:
        """About how many cells lie in boxes around the shape; never too few."""
        total = 0
        for part in self._parts(shape):
            (left, right), (low, high) = self._periods_around(part)
            total += (right - left) * (high - low) * len(self.cells)
        return total

    def inside(self, shape: Any) -> Keys:
        """The cells whose centroids lie inside a shape, sorted by key."""
        found = [np.empty(0, dtype=np.int64)]
        for part in self._parts(shape):
            shapely.prepare(part)
            (left, right), (low, high) = self._periods_around(part)
            across, up = map(np.ravel, np.mgrid[left:right, low:high].astype(np.int64))
            for kind in range(len(self.cells)):
                keys = self.keys(across, up, kind)
                found.append(keys[shapely.contains_xy(part, self.centroids(keys))])
        return np.sort(np.concatenate(found))

    def _parts(self, shape: Any) -> list[Any]:
        """The shape; or its parts, where a box around them all would be mostly empty."""
        (left, right), (low, high) = self._periods_around(shape)
        sparse = (right - left) * (high - low) > _MANY_PERIODS
        return list(shapely.get_parts(shape)) if sparse else [shape]

    def _periods_around(self, part: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        """The periods that may meet a shape: a range across and a range up."""
        left, low, right, high = part.bounds
        box = np.array([(left, low), (right, low), (left, high), (right, high)])
        counts = box @ self._to_periods
        least, most = np.floor(counts.min(axis=0)) - 1, np.ceil(counts.max(axis=0)) + 1
        return (int(least[0]), int(most[0]) + 1), (int(least[1]), int(most[1]) + 1)

    def moves(self, flips: bool) -> list[tuple[int, bool]]:
        """The turns, in degrees, and whether the mirror comes first; the identity leads.

        Example:
            >>> TILINGS["square"].moves(False)
            [(0, False), (90, False), (180, False), (270, False)]
        """
        turns = range(0, 360, self.turn_degrees)
        return [(turn, flip) for flip in ([False, True] if flips else [False]) for turn in turns]


def moved(shape: Any, turn_degrees: int, flip: bool) -> Any:
    """A shape's image: mirrored on the y axis if wished, then turned about the origin."""
    if flip:
        shape = affinity.scale(shape, xfact=-1, yfact=1, origin=(0, 0))
    return affinity.rotate(shape, turn_degrees, origin=(0, 0))


def _quarters() -> Iterator[tuple[Corner, ...]]:
    """The unit square, cut from its middle to its corners."""
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
        yield start, end, (0.5, 0.5)


def _hexagon() -> tuple[Corner, ...]:
    """A hexagon around the origin with two upright sides, a unit apart."""
    angles = [math.radians(30 + 60 * i) for i in range(6)]
    return tuple((math.cos(a) / math.sqrt(3), math.sin(a) / math.sqrt(3)) for a in angles)


_STRAIGHT = frozenset({(1, 0), (0, 1)})
_SLANTING = frozenset({(1, 1), (1, -1)})

#: The lattices by the names that certificates use.
TILINGS = {
    "square": Tiling(
        step=(1 / 2, 1 / 2),
        across=(1.0, 0.0),
        up=(0.0, 1.0),
        cells=(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)),),
        directions=_STRAIGHT,
        turn_degrees=90,
    ),
    "quarter-square": Tiling(
        step=(1 / 6, 1 / 6),
        across=(1.0, 0.0),
        up=(0.0, 1.0),
        cells=tuple(_quarters()),
        directions=_STRAIGHT | _SLANTING,
        turn_degrees=90,
    ),
    "triangular": Tiling(
        step=(1 / 2, 1 / math.sqrt(12)),
        across=(1.0, 0.0),
        up=(1 / 2, math.sqrt(3) / 2),
        cells=(_hexagon(),),
        directions=_SLANTING | {(0, 1)},
        turn_degrees=60,
    ),
}
