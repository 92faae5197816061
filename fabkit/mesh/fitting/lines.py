"""Lines: where straight lines through a region run, and what they meet, in exact integers.

Lines run across the edges of the lattice's cells, in the middle between two lines of corners
(where those lie unevenly: in the widest strips), so that none passes a corner and the square and
the triangular lattice's run through the middles of their cells:

==================  =============================================================
lattice             lines
==================  =============================================================
``square``          through the middles of its rows and columns
``quarter-square``  across and up, a quarter of a unit from the grid's lines; and
                    both diagonals, half-way between those of the squares
``triangular``      through the middles of the hexagons, in three directions
==================  =============================================================
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from fabkit.model.lattice import Cell, Lattice, Point


def directions(lattice: Lattice) -> list[Point]:
    """The frame vectors straight across the edges of cells, by their angle from x.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> directions(LATTICES["triangular"])
        [(1, 0), (1, 3), (-1, 3)]
    """
    along_x, along_y = lattice.step_squared
    found = set()
    for kind in lattice.corners:
        for (x0, y0), (x1, y1) in lattice.cell_edges(kind):
            across_x, across_y = (y0 - y1) * along_y, (x1 - x0) * along_x
            whole = math.lcm(across_x.denominator, across_y.denominator)
            x, y = int(across_x * whole), int(across_y * whole)
            sign = 1 if (y, x) > (0, 0) else -1
            found.add((sign * x // math.gcd(x, y), sign * y // math.gcd(x, y)))
    return sorted(found, key=lambda vector: math.atan2(vector[1], vector[0]))


@dataclass(frozen=True)
class Crossing:
    """One piece on a line.

    Attributes:
        piece: its id.
        ends: where it begins and ends, in multiples of the line's direction.
        slants: of the edges there: one over the sine of the angle between edge and line.
    """

    piece: str
    ends: tuple[Fraction, Fraction]
    slants: tuple[float, float]


@dataclass(frozen=True)
class Stretch:
    """An unbroken part of a line inside a region.

    Attributes:
        direction: of the line, a frame vector.
        origin: where the line has multiple 0, in frame steps.
        ends: of the stretch, in multiples of the direction.
        crossings: the pieces along it.
    """

    direction: Point
    origin: tuple[Fraction, Fraction]
    ends: tuple[Fraction, Fraction]
    crossings: tuple[Crossing, ...]


def stretches(
    lattice: Lattice, region: frozenset[Cell], owner: Mapping[Cell, str], direction: Point
) -> Iterator[Stretch]:
    """All stretches in a direction, by the line's height and along it.

    Args:
        lattice: where the cells are.
        region: the cells in which lines are looked at.
        owner: the piece that covers each cell; cells that none covers are room.
        direction: one of `directions`.

    Example:
        Two squares beside each other, in one piece, and a third above the first one:

        >>> from fabkit.model.lattice import LATTICES
        >>> owner = {(1, 1): "A", (3, 1): "A", (1, 3): "B"}
        >>> for one in stretches(LATTICES["square"], frozenset(owner), owner, (1, 0)):
        ...     print([(met.piece, *map(int, met.ends)) for met in one.crossings])
        [('A', 0, 4)]
        [('B', 0, 2)]
    """
    cut: dict[Fraction, list[Crossing]] = defaultdict(list)
    period, middles = _middles(lattice, direction)
    for cell in region:
        heights = [_cross(direction, corner) for corner in lattice.ring(cell)]
        for middle in middles:
            height = middle + period * ((min(heights) - middle) // period + 1)
            while height < max(heights):
                cut[height].append(_across(lattice, cell, owner.get(cell, ""), direction, height))
                height += period
    dx, dy = direction
    for height in sorted(cut):
        # The line has multiple 0 on an axis.
        origin = (Fraction(0), height / dx) if dx else (-height / dy, Fraction(0))
        run: list[Crossing] = []
        for crossing in sorted(cut[height], key=lambda one: one.ends):
            if run and run[-1].ends[1] != crossing.ends[0]:
                yield _stretch(direction, origin, run)
                run = []
            if run and run[-1].piece == crossing.piece:
                run[-1] = _joined(run[-1], crossing)
            else:
                run.append(crossing)
        yield _stretch(direction, origin, run)


def _joined(one: Crossing, other: Crossing) -> Crossing:
    """A piece that reaches over two cells."""
    return Crossing(one.piece, (one.ends[0], other.ends[1]), (one.slants[0], other.slants[1]))


def _stretch(
    direction: Point, origin: tuple[Fraction, Fraction], run: Sequence[Crossing]
) -> Stretch:
    ends = run[0].ends[0], run[-1].ends[1]
    return Stretch(direction, origin, ends, tuple(one for one in run if one.piece))


def _middles(lattice: Lattice, direction: Point) -> tuple[int, list[Fraction]]:
    """The heights of lines over the direction: their period, and those within it."""
    u, v = lattice.basis
    period = math.gcd(_cross(direction, u), _cross(direction, v))
    corners = sorted(
        {
            _cross(direction, corner) % period
            for kind in lattice.corners
            for corner in lattice.ring(kind)
        }
    )
    strips = list(pairwise([*corners, corners[0] + period]))
    widest = max(high - low for low, high in strips)
    return period, [Fraction(low + high, 2) for low, high in strips if high - low == widest]


def _across(
    lattice: Lattice, cell: Cell, piece: str, direction: Point, height: Fraction
) -> Crossing:
    """Where a line enters and leaves a cell, and how its edges slant there."""
    dx, dy = direction
    met = []
    for (x0, y0), (x1, y1) in lattice.cell_edges(cell):
        below, above = _cross(direction, (x0, y0)) - height, _cross(direction, (x1, y1)) - height
        if (below < 0) != (above < 0):
            part = below / (below - above)
            place = (x0 + (x1 - x0) * part) / dx if dx else (y0 + (y1 - y0) * part) / dy
            met.append((place, _slant(lattice, (x1 - x0, y1 - y0), direction)))
    (start, first), (end, last) = sorted(met)
    return Crossing(piece, (start, end), (first, last))


def _slant(lattice: Lattice, edge: Point, direction: Point) -> float:
    """See `Crossing.slants`."""
    sx, sy = lattice.step_squared
    lengths = [sx * x * x + sy * y * y for x, y in (edge, direction)]
    return math.sqrt(lengths[0] * lengths[1] / (sx * sy * _cross(edge, direction) ** 2))


def _cross(a: Point, b: Point) -> int:
    return a[0] * b[1] - a[1] * b[0]
