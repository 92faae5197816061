"""The round holes of a board, and the lattice on which they lie."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Points
from fabkit.mesh.cavities import Circle, circle_of
from fabkit.mesh.section import Sections, hollows
from fabkit.model.lattice import Lattice
from fabkit.model.puzzle import Board, in_units

#: Level faces count from this area (mm2): less is a bit of an engraving.
_LEAST_FLAT_MM2 = 2.0
#: Less height than this (mm) between two levels is not cut.
_LEAST_SLAB_MM = 0.15
#: A hole is round when it fills this part of the circle around it.
_ROUND = 0.93
#: A hole belongs to a cell when its middle is within this part of a grid unit.
_NEAR_UNITS = 0.25
#: What is off by more than this (mm), and by so many times as much as usual, does not count when
#: the lattice is laid through the others.
_OFF_MM, _UNUSUAL = 0.02, 4.0
#: A board is known by this part of its holes.
_KNOWN = 0.6


@dataclass(frozen=True)
class Slab:
    """A height between two neighbouring levels at which a board has level faces.

    Attributes:
        low_mm: the level below.
        high_mm: the level above.
    """

    low_mm: float
    high_mm: float

    @property
    def middle_mm(self) -> float:
        """Halfway up."""
        return (self.low_mm + self.high_mm) / 2


def slabs(sections: Sections) -> list[Slab]:
    """The slabs of a body, from low to high; its highest and lowest corners end them, too."""
    levels = {height for (height, _), area in sections.flats().items() if area > _LEAST_FLAT_MM2}
    levels |= {sections.low, sections.high}
    pairs = itertools.pairwise(sorted(levels))
    return [Slab(low, high) for low, high in pairs if high - low > _LEAST_SLAB_MM]


def round_holes(section: BaseGeometry) -> list[Circle]:
    """The circles through the holes of a section that are round.

    Example:
        >>> plate = shapely.box(0, 0, 40, 20) - shapely.Point(9, 9).buffer(5) - shapely.box(20, 5, 25, 9)
        >>> [(round(hole.x_mm, 6), round(hole.diameter_mm, 6)) for hole in round_holes(plate)]
        [(9.0, 10.0)]
    """
    holes = [one for one in hollows(section) if isinstance(one, Polygon) and not one.interiors]
    circles = [(circle_of(hole), hole.area) for hole in holes]
    return [one for one, area in circles if area > _ROUND * math.pi / 4 * one.outer_mm**2]


@dataclass(frozen=True, eq=False)
class Match:
    """How round holes lie on a board's lattice.

    Attributes:
        board: the board.
        quarter_turns: by which the holes are turned about the origin, counter-clockwise, …
        radians: … and then by this little more, …
        shift_mm: … and moved, so that they lie where the lattice's frame has them.
        unit_mm: the grid unit.
        missed: the number of cells without a hole, and of holes without a cell.
    """

    board: Board
    quarter_turns: int
    radians: float
    shift_mm: tuple[float, float]
    unit_mm: float
    missed: int

    def laid(self, vertices: Points) -> Points:
        """Corners as they lie on the lattice's frame."""
        angle = self.quarter_turns * math.pi / 2 + self.radians
        plane = _complex(vertices) * np.exp(1j * angle) + complex(*self.shift_mm)
        return np.column_stack([plane.real, plane.imag, vertices[:, 2]])


def middles_mm(lattice: Lattice, board: Board, unit_mm: float) -> Points:
    """The middles of a board's cells, shape (n, 2), in the order of `cells_of`."""
    return np.array(in_units(lattice, cells_of(board))) * unit_mm


def cells_of(board: Board) -> list[tuple[int, int]]:
    """A board's cells in a fixed order."""
    return sorted(board.cells)


def match_circles(
    circles: Sequence[Circle], lattice: Lattice, boards: Sequence[Board]
) -> list[Match]:
    """The ways in which round holes are those of a board, all as good as each other.

    Args:
        circles: of a board that lies straight, turned by any number of quarter turns.
        lattice: the set's.
        boards: the set's.

    Returns:
        The ways of the board that misses fewest; empty when there is none.
    """
    found = [
        match
        for board in boards
        for quarter_turns in range(4)
        for match in _match(circles, lattice, board, quarter_turns)
    ]
    least = min((match.missed for match in found), default=0)
    best = [match for match in found if match.missed == least]
    return [match for match in best if match.board is best[0].board]


def _match(
    circles: Sequence[Circle], lattice: Lattice, board: Board, quarter_turns: int
) -> Iterator[Match]:
    if len(circles) < 2 or not _KNOWN <= len(circles) / len(board.cells) <= 1 / _KNOWN:
        return
    holes = np.array([complex(one.x_mm, one.y_mm) for one in circles])
    turned = holes * 1j**quarter_turns
    unit = float(np.median(np.sort(np.abs(holes[:, None] - holes), axis=1)[:, 1]))
    cells = _complex(middles_mm(lattice, board, 1.0))
    scale, shift = complex(unit), _box_middle(turned) - unit * _box_middle(cells)
    for _ in range(3):
        away = np.abs(turned[:, None] - (scale * cells + shift))
        nearest = away.argmin(axis=1)
        off = away.min(axis=1)
        near = off < _NEAR_UNITS * unit
        if near.sum() < _KNOWN * len(cells) or np.ptp(np.abs(cells - cells[0])) == 0:
            return
        usual = near & (off <= max(_OFF_MM, _UNUSUAL * float(np.median(off[near]))))
        scale, shift = _similarity(cells[nearest[usual]], turned[usual])
    seen = len(set(nearest[near].tolist()))
    missed = len(cells) - seen + len(holes) - seen
    turn = -float(np.angle(scale))
    moved = -shift * np.exp(1j * turn)
    yield Match(
        board, quarter_turns, turn, (float(moved.real), float(moved.imag)), abs(scale), missed
    )


#: Points of the plane as complex numbers.
_Plane = NDArray[np.complex128]


def _similarity(start: _Plane, end: _Plane) -> tuple[complex, complex]:
    """The turn with a scale, and the shift after it, that carry points nearly to others."""
    columns = np.column_stack([start, np.ones_like(start)])
    scale, shift = np.linalg.lstsq(columns, end, rcond=None)[0]
    return complex(scale), complex(shift)


def _box_middle(points: _Plane) -> complex:
    real, imaginary = points.real, points.imag
    return complex(
        (real.min() + real.max()) / 2,
        (imaginary.min() + imaginary.max()) / 2,
    )


def _complex(points: Points) -> _Plane:
    return np.asarray(points[:, 0] + 1j * points[:, 1])


def hole_at(circles: Sequence[Circle], middle: Points, within_mm: float) -> Circle | None:
    """The round hole nearest to a place, if there is one near it.

    Args:
        circles: the holes.
        middle: the place, shape (2,).
        within_mm: how near it must be.
    """
    x, y = middle.tolist()
    nearest = min(circles, key=lambda one: math.hypot(one.x_mm - x, one.y_mm - y), default=None)
    if nearest is None or math.hypot(nearest.x_mm - x, nearest.y_mm - y) > within_mm:
        return None
    return nearest


def spot(middle: Points, radius_mm: float = 1.0) -> BaseGeometry:
    """A place for a drawing."""
    return shapely.Point(middle).buffer(radius_mm)
