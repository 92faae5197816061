"""The cells of a lattice as polygons in the plane, in grid units, for the checker only.

A cell has an integer *key*. A translation of the lattice adds the same number to the key of every
cell, so sets of cells are moved and compared by adding numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray


class ProofError(Exception):
    """The file is well formed but does not hold; the message says where and why."""


Keys = NDArray[np.int64]
Points = NDArray[np.float64]
Corner = tuple[float, float]

#: Tolerance of computed points, in grid units.
TOLERANCE = 1e-6

#: Keys count cells across, up, and within the period; no region is this high.
_HEIGHT = 1 << 22


@dataclass(frozen=True)
class Tiling:
    """A lattice: the cells of one period, and the two translations `across` and `up`.

    Attributes:
        step: the length of a frame step along x and y.
        cells: the cells of one period, each by its corners.
        turn_degrees: the smallest rotation of the lattice about the origin.
    """

    step: Corner
    across: Corner
    up: Corner
    cells: tuple[tuple[Corner, ...], ...]
    turn_degrees: int

    @cached_property
    def _centroids(self) -> Points:
        return np.array([shapely.Polygon(cell).centroid.coords[0] for cell in self.cells])

    @cached_property
    def _translations(self) -> Points:
        return np.array([self.across, self.up])

    def _split(self, keys: Keys) -> tuple[Points, Keys]:
        """Return the translation of each cell, and which cell of the period it is."""
        periods, kind = np.divmod(keys, len(self.cells))
        across = (periods + _HEIGHT // 2) // _HEIGHT
        counts = np.column_stack([across, periods - across * _HEIGHT])
        return np.asarray(counts @ self._translations), kind

    def _keys(self, across: Keys, up: Keys, kind: int) -> Keys:
        return np.asarray((across * _HEIGHT + up) * len(self.cells) + kind)

    def to_origin(self, keys: Keys) -> Keys:
        """Return the cells, sorted and moved to the origin."""
        keys = np.sort(keys)
        return np.asarray(keys - keys[0] // len(self.cells) * len(self.cells))

    def centroids(self, keys: Keys) -> Points:
        """Return the centroid of each cell."""
        moves, kind = self._split(keys)
        return np.asarray(self._centroids[kind] + moves)

    def corners(self, keys: Keys, shrunk: float = 0.0) -> NDArray[Any]:
        """Return the corners of each cell, in rows, shrunk towards its centroid by a share."""
        moves, kind = self._split(keys)
        corners = np.array(self.cells) * (1 - shrunk) + self._centroids[:, None, :] * shrunk
        return np.asarray(corners[kind] + moves[:, None, :])

    def find_cells(self, centroids: Points) -> tuple[Keys, NDArray[np.bool_]]:
        """Return the cells with these centroids, and which of the points are not centroids."""
        cells = np.full(len(centroids), -1, dtype=np.int64)
        missing = np.ones(len(centroids), dtype=bool)
        to_periods = np.linalg.inv(self._translations)
        for kind, first in enumerate(self._centroids):
            periods = (centroids - first) @ to_periods
            whole = np.rint(periods)
            here = (np.abs(periods - whole) < TOLERANCE).all(axis=1)
            across, up = whole[here].astype(np.int64).T
            cells[here] = self._keys(across, up, kind)
            missing &= ~here
        return cells, missing

    def transform(
        self, keys: Keys, turn_degrees: int, flip: bool, centre: Corner = (0.0, 0.0)
    ) -> Keys:
        """Reflect (with `flip`), then rotate each cell about a point.

        Raises:
            ProofError: if the image of a cell is not a cell.
        """
        cos, sin = math.cos(math.radians(turn_degrees)), math.sin(math.radians(turn_degrees))
        points = (self.centroids(keys) - centre) * (-1 if flip else 1, 1)
        images, missing = self.find_cells(points @ np.array([(cos, sin), (-sin, cos)]) + centre)
        if missing.any():
            raise ProofError("a symmetry of the lattice does not map cells to cells")
        return images

    def to_frame(self, points: NDArray[Any]) -> NDArray[np.int64]:
        """Convert points of the plane to frame points.

        Raises:
            ProofError: if one is not a frame point.
        """
        steps = points / np.array(self.step)
        whole = np.rint(steps)
        if (np.abs(steps - whole) > TOLERANCE).any():
            raise ProofError("a centroid or a corner is not a frame point")
        return np.asarray(whole, dtype=np.int64)

    def cells_in_box(self, box: Points, maximum: int) -> Keys | None:
        """Return all cells that meet a box (four corners), and some around; None if too many."""
        counts = box @ np.linalg.inv(self._translations)
        lowest = np.floor(counts.min(axis=0)) - 1
        highest = np.ceil(counts.max(axis=0)) + 2
        if np.prod(highest - lowest) * len(self.cells) > maximum:
            return None
        (left, low), (right, high) = lowest.astype(int), highest.astype(int)
        across, up = map(np.ravel, np.mgrid[left:right, low:high].astype(np.int64))
        kinds = range(len(self.cells))
        return np.sort(np.concatenate([self._keys(across, up, kind) for kind in kinds]))

    def moves(self, flips: bool) -> list[tuple[int, bool]]:
        """Return the moves as rotation in degrees and whether to reflect first; identity first."""
        turns = range(0, 360, self.turn_degrees)
        return [(turn, flip) for flip in ([False, True] if flips else [False]) for turn in turns]


def _polar(radius: float, degrees: float) -> Corner:
    return radius * math.cos(math.radians(degrees)), radius * math.sin(math.radians(degrees))


_SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
#: The distance of a hexagon's corners from its centre; two vertical sides are one unit apart.
_RADIUS = 1 / math.sqrt(3)
_CENTRE = (0.0, 0.0)
_UP = (1 / 2, math.sqrt(3) / 2)


def _hexagons(cells: tuple[tuple[Corner, ...], ...], steps_per_unit: int = 24) -> Tiling:
    """Return a tiling with the translations of hexagons around the origin."""
    step = (1 / steps_per_unit, 1 / (steps_per_unit * math.sqrt(3)))
    return Tiling(step, across=(1.0, 0.0), up=_UP, cells=cells, turn_degrees=60)


_HEXAGON = tuple(_polar(_RADIUS, angle) for angle in range(30, 390, 60))

#: The lattices by their names in certificates.
TILINGS = {
    "square": Tiling((1 / 2, 1 / 2), (1.0, 0.0), (0.0, 1.0), (_SQUARE,), 90),
    "quarter-square": Tiling(  # the unit square, cut along its diagonals
        step=(1 / 6, 1 / 6),
        across=(1.0, 0.0),
        up=(0.0, 1.0),
        cells=tuple((_SQUARE[i - 1], _SQUARE[i], (0.5, 0.5)) for i in range(4)),
        turn_degrees=90,
    ),
    "hexagon": _hexagons((_HEXAGON,)),
    "triangle": _hexagons(
        ((_CENTRE, (1.0, 0.0), _UP), ((1.0, 0.0), (1.0 + _UP[0], _UP[1]), _UP)),
    ),
    "kite": _hexagons(  # from the centre to a corner and the middles of both sides that meet there
        tuple(
            (_CENTRE, _polar(1 / 2, angle - 30), _polar(_RADIUS, angle), _polar(1 / 2, angle + 30))
            for angle in range(30, 390, 60)
        )
    ),
    "drafter": _hexagons(  # a kite is two of them
        tuple(
            (_CENTRE, _polar(_RADIUS, angle), _polar(1 / 2, angle + side))
            for angle in range(30, 390, 60)
            for side in (-30, 30)
        )
    ),
    "triangular": _hexagons((_HEXAGON,), steps_per_unit=2),  # hexagons in files of earlier versions
}
