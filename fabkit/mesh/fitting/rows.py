"""Rows: what lies behind each other along a straight line through a solution.

A part is rigid, so a piece that a line meets twice is one thing. What lies between its arms is a
row of its own, from arm to arm; the row around it passes from its first side to its last. In
general a row is a chain of gaps that comes back to where it began (the region, or a piece) and
passes nothing twice: the loop of a tolerance analysis. The parts can lie there, as far as this
line knows, exactly if no row's gaps are negative in sum (they are then a system of differences
without a negative cycle).

What a line meets is worked out from the cells' borders; the gaps along it are measured on the
meshes, cut at mid-height. A region that lies in a tray ends at the tray's walls, a clearance farther
out. Lines run across the edges of the lattice's cells, in the middle between two lines of corners
(where those lie unevenly: in the widest strips), so that none passes a corner:

``square``: through the middles of its rows and columns. ``quarter-square``: across and up, a quarter
of a unit from the grid's lines; and both diagonals, half-way between those of the squares.
``triangular``: through the middles of the hexagons, in three directions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import shapely

from fabkit.mesh.body import Points
from fabkit.mesh.laying import Lying, step_mm, ways_onto
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.polygon import rings_of_cells


@dataclass(frozen=True)
class Row:
    """One row of a solution, as its meshes are.

    Attributes:
        pieces: those that lie in it, in order.
        within: the piece between whose arms they lie; empty for the region.
        degrees: the line's direction, counter-clockwise from x.
        start_mm: where the row begins, in the lattice's frame; it ends at `end_mm`.
        nominal_mm: its length as drawn.
        plastic_mm: what the pieces take of it, measured at mid-height.
        slack_mm: what its gaps are in sum, with the clearance of a tray at both ends; negative
            when the row does not go in. A region without a tray ends exactly where it is drawn.
        sides: for each side in it how far along the line it moves when it moves 1 mm outwards: 1,
            or more when the line meets it at a slant.
        walls: the same for the tray's walls at its ends; empty for a region without a tray.
    """

    challenge: str
    pieces: tuple[str, ...]
    within: str
    degrees: float
    start_mm: tuple[float, float]
    end_mm: tuple[float, float]
    nominal_mm: float
    plastic_mm: float
    slack_mm: float
    sides: tuple[float, ...]
    walls: tuple[float, ...] = ()

    @property
    def give(self) -> float:
        """By how much the row shrinks when each of its sides moves in by 1."""
        return sum(self.sides)

    @property
    def spread(self) -> float:
        """The same with the tray's walls, which a printer gets wrong, too."""
        return sum((*self.sides, *self.walls))

    @property
    def name(self) -> str:
        """For people: ``square_01 R-J-M-I``."""
        within = f" in {self.within}" if self.within else ""
        return f"{self.challenge} {'-'.join(self.pieces)}{within}"


@dataclass(frozen=True)
class Solution:
    """One solution of a challenge, or of a board.

    Attributes:
        region: the cells to cover; those that no piece covers are room.
        layout: for each piece the cells that it covers.
        clearance_mm: from the region to the walls of its tray, as measured; None without one.
    """

    challenge: str
    region: frozenset[Cell]
    layout: Mapping[str, frozenset[Cell]]
    clearance_mm: float | None = None


def rows(lattice: Lattice, solution: Solution, laid: Mapping[str, Lying]) -> list[Row]:
    """Every row of one solution, with its pieces as they lie, by direction, line and place.

    Raises:
        InputError: when a part does not have the shape that the layout asks for.
    """
    region, layout = solution.region, solution.layout
    if not layout:
        return []
    step = step_mm(lattice, laid[next(iter(layout))].unit_mm)
    drawn = _Borders(
        (name, np.array(ring) * step)
        for name, cells in {"": region, **layout}.items()
        for ring in rings_of_cells(lattice, cells)
    )
    seen = _Borders(
        (piece, shapely.get_coordinates(ring))
        for piece, cells in layout.items()
        for lying, pose in ways_onto([laid[piece]], cells)[:1]
        for ring in shapely.get_rings(shapely.get_parts(lying.placed(lying.section, pose)))
    )
    corners = [corner for cell in region for corner in lattice.ring(cell)]
    found: list[Row] = []
    for direction in directions(lattice):
        length = float(np.linalg.norm(np.array(direction) * step))
        along = np.array(direction) * step / length
        across = np.array([-along[1], along[0]])
        heights = [_cross(direction, corner) for corner in corners]
        period, middles = _middles(lattice, direction)
        for base in range(min(heights) // period * period, max(heights), period):
            for middle in middles:
                line = _Line(along, across, (base + middle) * float(np.prod(step)) / length)
                found += _rows_on(line, drawn, seen, solution)
    return found


def loops(names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Chains of gaps between what a line meets that come back and pass nothing twice.

    The same name is the same rigid thing; gap ``i`` is that behind name ``i``.

    Example:
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
    ratio = lattice.step_squared[0] / lattice.step_squared[1]
    found = set()
    for kind in lattice.corners:
        for (x0, y0), (x1, y1) in lattice.cell_edges(kind):
            x, y = (y0 - y1) * ratio.denominator, (x1 - x0) * ratio.numerator
            whole = math.gcd(x, y) * (1 if (y, x) > (0, 0) else -1)
            found.add((x // whole, y // whole))
    return sorted(found, key=lambda vector: math.atan2(vector[1], vector[0]))


def _middles(lattice: Lattice, direction: Point) -> tuple[int, list[float]]:
    """The heights of lines over the direction: their period, and those within it."""
    period = math.gcd(*(_cross(direction, vector) for vector in lattice.basis))
    places = {
        _cross(direction, corner) % period
        for kind in lattice.corners
        for corner in lattice.ring(kind)
    }
    strips = list(pairwise([*sorted(places), min(places) + period]))
    widest = max(high - low for low, high in strips)
    return period, [(low + high) / 2 for low, high in strips if high - low == widest]


def _cross(a: Point, b: Point) -> int:
    return a[0] * b[1] - a[1] * b[0]


# --- lengths ------------------------------------------------------------------------------


class _Span(NamedTuple):
    """Where a line enters and leaves something, in mm along it, and how its sides slant there.

    A slant is one over the sine of the angle between side and line.
    """

    start: float
    end: float
    slants: tuple[float, float]
    name: str


class _Line(NamedTuple):
    """A line: its direction, of length 1, to the left of that, and how far there it runs."""

    along: Points
    across: Points
    height_mm: float

    def point(self, place_mm: float) -> tuple[float, float]:
        """A place on the line in the lattice's frame."""
        x, y = (place_mm * self.along + self.height_mm * self.across).tolist()
        return x, y


class _Borders:
    """The sides of areas, given by named rings of corners in mm, closed or not."""

    def __init__(self, rings: Iterable[tuple[str, Points]]) -> None:
        named = list(rings)
        self._start: Points = np.concatenate([ring for _, ring in named])
        self._end: Points = np.concatenate([np.roll(ring, -1, axis=0) for _, ring in named])
        self._names = np.repeat([name for name, _ in named], [len(ring) for _, ring in named])

    def met(self, line: _Line) -> list[_Span]:
        """What a line meets, in order."""
        start, end = (at @ line.across - line.height_mm for at in (self._start, self._end))
        hit = np.flatnonzero((start < 0) != (end < 0))
        start, end, side = start[hit], end[hit], self._end[hit] - self._start[hit]
        places = self._start[hit] @ line.along + start / (start - end) * (side @ line.along)
        slants = np.linalg.norm(side, axis=1) / np.abs(end - start)
        order = np.lexsort([places, self._names[hit]])
        ends = places[order].reshape(-1, 2).tolist()
        pairs = slants[order].reshape(-1, 2).tolist()
        names = self._names[hit][order[::2]].tolist()
        return sorted(
            _Span(start, end, (one, other), name)
            for (start, end), (one, other), name in zip(ends, pairs, names, strict=True)
        )


def _rows_on(line: _Line, drawn: _Borders, seen: _Borders, solution: Solution) -> Iterator[Row]:
    """The rows on one line, stretch by stretch of the region."""
    spans, measured = drawn.met(line), seen.met(line)
    for region in spans:
        inside = [
            one
            for one in spans
            if one.name and region.start < (one.start + one.end) / 2 < region.end
        ]
        if inside and not region.name:
            ends = [_Span(place, place, (0.0, 0.0), "") for place in region[:2]]
            there = [ends[0], *(_measured(one, measured) for one in inside), ends[1]]
            for gaps in loops([one.name for one in there]):
                yield _row(line, [ends[0], *inside, ends[1]], there, gaps, solution)


def _measured(drawn: _Span, measured: Sequence[_Span]) -> _Span:
    """What was measured of a piece where it was drawn; its middle when nothing was printed there."""
    found = [
        one
        for one in measured
        if one.name == drawn.name and one.start < drawn.end and one.end > drawn.start
    ]
    middle = (drawn.start + drawn.end) / 2
    start = min((one.start for one in found), default=middle)
    return drawn._replace(start=start, end=max((one.end for one in found), default=middle))


def _row(
    line: _Line,
    drawn: Sequence[_Span],
    measured: Sequence[_Span],
    gaps: Sequence[int],
    solution: Solution,
) -> Row:
    """The row whose gaps these are; gap ``i`` is behind span ``i``."""
    slants = [(drawn[gap].slants[1], drawn[gap + 1].slants[0]) for gap in gaps]
    # A wall is as slanted as the side that lies along it.
    walls = [
        max(pair)
        for gap, pair in zip(gaps, slants, strict=True)
        if solution.clearance_mm is not None and not (drawn[gap].name and drawn[gap + 1].name)
    ]
    # A rigid piece spans from where one gap ends to where the next one begins. The one around
    # the row, the last, spans backwards, from its right arm to its left one, as does the region.
    ends = list(zip((gap + 1 for gap in gaps), (*gaps[1:], gaps[0]), strict=True))
    inside = [(first, last) for first, last in ends if first <= last]
    around = [(left, right) for right, left in ends if left < right]
    left, right = around[-1]
    return Row(
        challenge=solution.challenge,
        pieces=tuple(drawn[first].name for first, _ in inside),
        within=drawn[left].name,
        degrees=math.degrees(math.atan2(line.along[1], line.along[0])),
        start_mm=line.point(drawn[left].end),
        end_mm=line.point(drawn[right].start),
        nominal_mm=sum(drawn[right].start - drawn[left].end for left, right in around),
        plastic_mm=sum(measured[last].end - measured[first].start for first, last in inside),
        slack_mm=sum(measured[gap + 1].start - measured[gap].end for gap in gaps)
        + (solution.clearance_mm or 0.0) * sum(walls),
        sides=tuple(slant for pair in slants for slant in pair if slant),
        walls=tuple(walls),
    )
