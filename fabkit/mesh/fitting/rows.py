"""Rows: what lies behind each other along a straight line through a solution.

A part is rigid, so a piece that a line meets twice is one thing. What lies between its arms is a
row of its own, from arm to arm; the row around it passes from its first side to its last. In
general a row is a chain of gaps that comes back to where it began (the region, or a piece) and
passes nothing twice: the loop of a tolerance analysis. The parts can lie there, as far as this
line knows, exactly if no row's gaps are negative in sum (they are then a system of differences
without a negative cycle).

Where a line goes is worked out from the cells, exactly (`fabkit.mesh.fitting.lines`); the lengths along
it are measured on the meshes, cut at mid-height. A region that lies in a tray ends at the tray's walls,
a clearance farther out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Points
from fabkit.mesh.fitting.laying import Laid
from fabkit.mesh.fitting.lines import Stretch, directions, stretches
from fabkit.model.lattice import Cell, Lattice

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
        region: the cells to cover.
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
        for stretch in stretches(lattice, region, owner, direction):
            if stretch.crossings:
                line = _Line(stretch, step_mm)
                measured = line.measure(sections, beyond_mm)
                found += [_row(line, measured, gaps, clearance_mm) for gaps in loops(line.names)]
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


#: What a line meets, in order, the region's ends included: from where to where, in mm.
_Ends = list[tuple[float, float]]


class _Line:
    """A stretch in mm.

    Args:
        stretch: as drawn.
        step_mm: the lengths of the frame's steps.
    """

    def __init__(self, stretch: Stretch, step_mm: Points) -> None:
        self._stretch = stretch
        vector = np.array(stretch.direction) * step_mm
        self._length_mm = float(np.linalg.norm(vector))
        self.along: Points = vector / self._length_mm
        self._origin_mm: Points = np.array([float(value) for value in stretch.origin]) * step_mm
        #: The ids of what the line meets, "" for the region at both ends.
        self.names = ["", *(one.piece for one in stretch.crossings), ""]
        #: The slants of their edges on the left and on the right.
        self.slants = [(0.0, 0.0), *(one.slants for one in stretch.crossings), (0.0, 0.0)]
        start_mm, end_mm = self._mm(stretch.ends)
        #: As drawn.
        self.drawn: _Ends = [
            (start_mm, start_mm),
            *(self._mm(one.ends) for one in stretch.crossings),
            (end_mm, end_mm),
        ]

    def _mm(self, ends: tuple[Fraction, Fraction]) -> tuple[float, float]:
        return float(ends[0]) * self._length_mm, float(ends[1]) * self._length_mm

    def point(self, place_mm: float) -> tuple[float, float]:
        """A place on the line in the lattice's frame."""
        x, y = (self._origin_mm + place_mm * self.along).tolist()
        return x, y

    def measure(self, sections: Mapping[str, BaseGeometry], beyond_mm: float) -> _Ends:
        """Where the parts begin and end, cut at mid-height.

        Args:
            sections: of the pieces, laid down.
            beyond_mm: how far beyond the stretch's ends the line is followed.
        """
        first, *inner, last = self.drawn
        ends = self.point(first[0] - beyond_mm), self.point(last[1] + beyond_mm)
        cut = shapely.intersection(
            shapely.linestrings([ends]), [sections[name] for name in self.names[1:-1]]
        )
        return [
            first,
            *(self._seen(one, *drawn) for one, drawn in zip(cut, inner, strict=True)),
            last,
        ]

    def _seen(self, cut: BaseGeometry, start_mm: float, end_mm: float) -> tuple[float, float]:
        """The part of a cut that lies where a piece was drawn."""
        spans = []
        for one in shapely.get_parts(cut):
            places = (shapely.get_coordinates(one) - self._origin_mm) @ self.along
            if places.size and places.max() > start_mm and places.min() < end_mm:
                spans.append((float(places.min()), float(places.max())))
        if not spans:  # nothing was printed there
            return (start_mm + end_mm) / 2, (start_mm + end_mm) / 2
        return min(spans)[0], max(end for _, end in spans)


def _row(
    line: _Line, measured: _Ends, gaps: Sequence[int], clearance_mm: float | None = None
) -> Row:
    """The row whose gaps these are."""
    # A rigid piece spans from where one gap ends to where the next one begins. The one around the
    # row spans backwards, from its right arm to its left one, as does the region.
    spans = list(zip((gap + 1 for gap in gaps), (*gaps[1:], gaps[0]), strict=True))
    around = [span for span in spans if line.drawn[span[0]][0] > line.drawn[span[1]][1]]
    inside = [span for span in spans if span not in around]

    def length_mm(ends: _Ends, some: Sequence[tuple[int, int]]) -> float:
        return sum(ends[last][1] - ends[first][0] for first, last in some)

    # A wall is as slanted as the side that lies along it.
    walls = [
        max(line.slants[gap][1], line.slants[gap + 1][0])
        for gap in gaps
        if clearance_mm is not None and not (line.names[gap] and line.names[gap + 1])
    ]
    slants = [(line.slants[gap][1], line.slants[gap + 1][0]) for gap in gaps]
    right, left = around[0]
    dx, dy = line.along.tolist()
    return Row(
        pieces=tuple(line.names[first] for first, _ in inside),
        within=line.names[left],
        degrees=math.degrees(math.atan2(dy, dx)),
        start_mm=line.point(line.drawn[left][1]),
        end_mm=line.point(line.drawn[right][0]),
        nominal_mm=-length_mm(line.drawn, around),
        room_mm=-length_mm(measured, around) + (clearance_mm or 0.0) * sum(walls),
        plastic_mm=length_mm(measured, inside),
        sides=tuple(slant for pair in slants for slant in pair if slant),
        walls=tuple(walls),
    )
