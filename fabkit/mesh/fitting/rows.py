"""Rows: what lies behind each other along a straight line through a solution.

A part is rigid, so a piece that a line meets twice is one thing. What lies between its arms is a
row of its own, from arm to arm; the row around it passes from its first side to its last. In
general a row is a chain of gaps that comes back to where it began (the region, or a piece) and
passes nothing twice: the loop of a tolerance analysis. The parts can lie there, as far as this
line knows, exactly if no row's gaps are negative in sum (they are then a system of differences
without a negative cycle).

Where a line goes is worked out from the cells, in exact integers; the lengths along it are
measured on the meshes, cut at mid-height. A region that lies in a tray ends at the tray's walls, a
clearance farther out. Lines run across the edges of the lattice's cells, in the middle between two
lines of corners (where those lie unevenly: in the widest strips), so that none passes a corner:

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

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Points
from fabkit.mesh.fitting.laying import Laid
from fabkit.model.lattice import Cell, Lattice, Point

#: Beyond the region's ends parts are looked for up to this part of a grid unit.
_BEYOND_UNITS = 0.5


@dataclass(frozen=True)
class Row:
    """One row of a solution, as its meshes are.

    Attributes:
        pieces: the pieces that lie in it, in order.
        within: the piece between whose arms they lie; empty for the region.
        degrees: the line's direction, counter-clockwise from x.
        start_mm: where the row begins, in the lattice's frame.
        end_mm: where it ends.
        nominal_mm: its length as drawn.
        room_mm: the same as measured; for a row of the region as drawn, whose ends are exact, and
            with the clearance of its tray at both ends.
        plastic_mm: what the pieces take of it, measured at mid-height.
        sides: the sides in it; for each how far along the line it moves when it moves 1 mm
            outwards: 1, or more when the line meets it at a slant.
        walls: the same for the tray's walls at its ends; empty for a region without a tray.
    """

    pieces: tuple[str, ...]
    within: str
    degrees: float
    start_mm: tuple[float, float]
    end_mm: tuple[float, float]
    nominal_mm: float
    room_mm: float
    plastic_mm: float
    sides: tuple[float, ...]
    walls: tuple[float, ...] = ()

    @property
    def slack_mm(self) -> float:
        """What is left; negative when the row does not go in."""
        return self.room_mm - self.plastic_mm

    @property
    def give(self) -> float:
        """By how much the row shrinks when each of its sides moves in by 1."""
        return sum(self.sides)

    @property
    def spread(self) -> float:
        """The same with the tray's walls, which a printer gets wrong, too."""
        return sum((*self.sides, *self.walls))

    def name(self, challenge: str) -> str:
        """For people: ``square_01 R-J-M-I``."""
        within = f" in {self.within}" if self.within else ""
        return f"{challenge} {'-'.join(self.pieces)}{within}"


def rows(
    lattice: Lattice,
    region: frozenset[Cell],
    layout: Mapping[str, frozenset[Cell]],
    laid: Mapping[str, Laid],
    clearance_mm: float | None = None,
) -> list[Row]:
    """Every row of one solution.

    Args:
        lattice: the set's.
        region: the cells to cover; those that no piece covers are room.
        layout: for each piece the cells that it covers.
        laid: the pieces' parts.
        clearance_mm: how far the walls of its tray are from the region; None without a tray.

    Returns:
        The rows by direction, line and place: the same however the meshes lie in their files.

    Raises:
        InputError: when a part does not have the shape that the layout asks for.
    """
    owner = {cell: piece for piece, cells in layout.items() for cell in cells}
    sections = {
        piece: laid[piece].placed(laid[piece].section, laid[piece].pose(cells))
        for piece, cells in layout.items()
    }
    step_mm = next((laid[piece].step_mm for piece in layout), np.zeros(2))
    beyond_mm = _BEYOND_UNITS * lattice.per_unit * float(step_mm[0])
    found: list[Row] = []
    for direction in directions(lattice):
        for origin, met in lines(lattice, region, owner, direction):
            if len(met) > 2:
                line = _Line(direction, origin, met, step_mm)
                measured = line.measure(sections, beyond_mm)
                names = [one.piece for one in met]
                found += [line.row(measured, gaps, clearance_mm) for gaps in loops(names)]
    return found


def loops(names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Chains of gaps that come back to where they began and pass nothing twice.

    Args:
        names: what a line meets, in order; the same name is the same rigid thing.

    Yields:
        For each chain its gaps, the first one first; gap ``i`` is that behind name ``i``.

    Example:
        In a region ``""`` the arms of A lie around B:

        >>> list(loops(["", "A", "B", "A", ""]))
        [(0, 3), (1, 2)]
    """
    behind: dict[str, list[int]] = defaultdict(list)
    for gap, name in enumerate(names[:-1]):
        behind[name].append(gap)
    waiting: list[tuple[int, ...]] = [(gap,) for gap in reversed(range(len(names) - 1))]
    while waiting:
        chain = waiting.pop()
        here = names[chain[-1] + 1]
        passed = [names[gap] for gap in chain]
        if here == passed[0]:
            yield chain
        elif here not in passed:
            waiting += [(*chain, gap) for gap in reversed(behind[here]) if gap > chain[0]]


# --- lines through the cells --------------------------------------------------------------


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
    """One thing on a line.

    Attributes:
        piece: its id; empty for the region around, and for room.
        ends: where it begins and ends, in multiples of the line's direction.
        slants: of the edges there: one over the sine of the angle between edge and line.
    """

    piece: str
    ends: tuple[Fraction, Fraction]
    slants: tuple[float, float] = (0.0, 0.0)


#: Where a line has multiple 0 of its direction, in frame steps.
Origin = tuple[Fraction, Fraction]


def lines(
    lattice: Lattice, region: frozenset[Cell], owner: Mapping[Cell, str], direction: Point
) -> Iterator[tuple[Origin, list[Crossing]]]:
    """The unbroken stretches of all lines in a direction, by the line's height and along it.

    Args:
        lattice: where the cells are.
        region: the cells in which lines are looked at.
        owner: the piece that covers each cell; cells that none covers are room.
        direction: one of `directions`.

    Yields:
        The line's origin, and what lies on the stretch; the region is first and last.

    Example:
        Two squares beside each other, in one piece, and a third above the first one:

        >>> from fabkit.model.lattice import LATTICES
        >>> owner = {(1, 1): "A", (3, 1): "A", (1, 3): "B"}
        >>> for _, met in lines(LATTICES["square"], frozenset(owner), owner, (1, 0)):
        ...     print([(one.piece, *map(int, one.ends)) for one in met])
        [('', 0, 0), ('A', 0, 4), ('', 4, 4)]
        [('', 0, 0), ('B', 0, 2), ('', 2, 2)]
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
        for one in sorted(cut[height], key=lambda one: one.ends):
            if run and run[-1].ends[1] != one.ends[0]:
                yield origin, _in_region(run)
                run = []
            # It may reach over two cells.
            first = run.pop() if run and run[-1].piece == one.piece else one
            ends, slants = (first.ends[0], one.ends[1]), (first.slants[0], one.slants[1])
            run.append(Crossing(one.piece, ends, slants))
        yield origin, _in_region(run)


def _in_region(run: Sequence[Crossing]) -> list[Crossing]:
    """What lies on a stretch, between the region's ends; room is not there."""
    start, end = run[0].ends[0], run[-1].ends[1]
    pieces = [one for one in run if one.piece]
    return [Crossing("", (start, start)), *pieces, Crossing("", (end, end))]


def _middles(lattice: Lattice, direction: Point) -> tuple[int, list[Fraction]]:
    """The heights of lines over the direction: their period, and those within it."""
    period = math.gcd(*(_cross(direction, vector) for vector in lattice.basis))
    places = {
        _cross(direction, corner) % period
        for kind in lattice.corners
        for corner in lattice.ring(kind)
    }
    strips = list(pairwise([*sorted(places), min(places) + period]))
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


# --- lengths ------------------------------------------------------------------------------

#: What a line meets, in order, the region's ends included: from where to where, in mm.
_Ends = list[tuple[float, float]]


class _Line:
    """A stretch in mm: what `lines` yields, and the lengths of the frame's steps."""

    def __init__(
        self, direction: Point, origin: Origin, met: Sequence[Crossing], step_mm: Points
    ) -> None:
        vector = np.array(direction) * step_mm
        length_mm = float(np.linalg.norm(vector))
        self._along: Points = vector / length_mm
        self._origin_mm: Points = np.array([float(value) for value in origin]) * step_mm
        self._met = met
        self._drawn: _Ends = [
            (float(one.ends[0]) * length_mm, float(one.ends[1]) * length_mm) for one in met
        ]

    def _point(self, place_mm: float) -> tuple[float, float]:
        """A place on the line in the lattice's frame."""
        x, y = (self._origin_mm + place_mm * self._along).tolist()
        return x, y

    def measure(self, sections: Mapping[str, BaseGeometry], beyond_mm: float) -> _Ends:
        """Where the parts begin and end, cut at mid-height.

        Args:
            sections: of the pieces, laid down.
            beyond_mm: how far beyond the stretch's ends the line is followed.
        """
        first, *inner, last = self._drawn
        ends = self._point(first[0] - beyond_mm), self._point(last[1] + beyond_mm)
        cut = shapely.intersection(
            shapely.linestrings([ends]), [sections[one.piece] for one in self._met[1:-1]]
        )
        return [first, *map(self._seen, cut, inner), last]

    def _seen(self, cut: BaseGeometry, drawn: tuple[float, float]) -> tuple[float, float]:
        """The part of a cut that lies where a piece was drawn."""
        spans = []
        for one in shapely.get_parts(cut):
            places = (shapely.get_coordinates(one) - self._origin_mm) @ self._along
            if places.size and places.max() > drawn[0] and places.min() < drawn[1]:
                spans.append((float(places.min()), float(places.max())))
        if not spans:  # nothing was printed there
            return sum(drawn) / 2, sum(drawn) / 2
        return min(spans)[0], max(end for _, end in spans)

    def row(self, measured: _Ends, gaps: Sequence[int], clearance_mm: float | None) -> Row:
        """The row whose gaps these are."""
        # A rigid piece spans from where one gap ends to where the next one begins. The one around
        # the row spans backwards, from its right arm to its left one, as does the region.
        spans = list(zip((gap + 1 for gap in gaps), (*gaps[1:], gaps[0]), strict=True))
        around = [span for span in spans if self._drawn[span[0]][0] > self._drawn[span[1]][1]]
        inside = [span for span in spans if span not in around]

        def length_mm(ends: _Ends, some: Sequence[tuple[int, int]]) -> float:
            return sum(ends[last][1] - ends[first][0] for first, last in some)

        slants = [(self._met[gap].slants[1], self._met[gap + 1].slants[0]) for gap in gaps]
        # A wall is as slanted as the side that lies along it.
        walls = [
            max(pair)
            for gap, pair in zip(gaps, slants, strict=True)
            if clearance_mm is not None and not (self._met[gap].piece and self._met[gap + 1].piece)
        ]
        right, left = around[0]
        dx, dy = self._along.tolist()
        return Row(
            pieces=tuple(self._met[first].piece for first, _ in inside),
            within=self._met[left].piece,
            degrees=math.degrees(math.atan2(dy, dx)),
            start_mm=self._point(self._drawn[left][1]),
            end_mm=self._point(self._drawn[right][0]),
            nominal_mm=-length_mm(self._drawn, around),
            room_mm=-length_mm(measured, around) + (clearance_mm or 0.0) * sum(walls),
            plastic_mm=length_mm(measured, inside),
            sides=tuple(slant for pair in slants for slant in pair if slant),
            walls=tuple(walls),
        )
