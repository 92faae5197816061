"""The planar lattices in exact integer coordinates.

Every lattice measures points in its own *frame*: an integer grid fine enough to hold the
corners of the cells as well as their centroids. A cell *is* its centroid, an outline is a
ring of corners, and one symmetry moves both. So orientations, placements and regions need
no case for each lattice.

==================  ===============================================  ====================
lattice             cells                                            frame step (units)
==================  ===============================================  ====================
``square``          unit squares                                     1/2
``quarter-square``  unit squares cut by both diagonals               1/6
``hexagon``         hexagons; a unit is the distance of neighbours   x 1/24, y 1/sqrt(1728)
``triangle``        triangles with sides of one unit                 the same
``kite``            hexagons cut from the centre to the middles of   the same
                    their sides: 6 kites each
``drafter``         hexagons cut from the centre to middles and      the same
                    corners: 12 triangles each, 30-60-90 degrees
==================  ===============================================  ====================

The last four are the same plane, divided more and more finely, in one frame with the same
translations and symmetries. Frame points on them have an even sum x + y, so that a sixth of a
turn maps them to whole numbers.

x grows to the right and y up. Rows of cells are counted downwards from the top left, as on
a board: cell ``[0, 0]`` of the square lattice spans x 0..1 and y -1..0. A row and a column name
a *place*. Where it holds several cells (the quarters of a square, the kites of a hexagon),
``[row, column, k]`` is one of them, with k counted counter-clockwise from the top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import gcd
from typing import Any

Point = tuple[int, int]
Cell = Point
Ring = tuple[Point, ...]


@dataclass(frozen=True)
class Symmetry:
    """A linear map of the frame that maps the lattice to itself exactly.

    Attributes:
        turns: counter-clockwise turns by the lattice's smallest angle, after the flip.
        flipped: whether it mirrors (x to -x, before turning).
        doubled: ``(a, b, c, d)`` for ``x' = (a x + b y) / 2`` and ``y' = (c x + d y) / 2``
            (doubled, since a sixth of a turn has halves; on lattice points they come out even).
    """

    turns: int
    flipped: bool
    doubled: tuple[int, int, int, int]

    def __call__(self, point: Point) -> Point:
        """Return the image of a frame point."""
        x, y = point
        a, b, c, d = self.doubled
        return (a * x + b * y) // 2, (c * x + d * y) // 2


@dataclass(frozen=True)
class Lattice:
    """A planar lattice of cells of equal area; `LATTICES` has them all.

    Attributes:
        name: as in a set file.
        noun: what its cells are called.
        per_unit: frame steps along x in one grid unit.
        step_squared: squares of the frame step's length in grid units, along x and y
            (squares, since the step along y may be irrational).
        basis: frame vectors ``(ux, 0)`` and ``(vx, vy)``; their integer combinations are the
            lattice's translations.
        columns: the corners of the cells of one period, counter-clockwise: for each of its columns,
            from row 0 and column 0 of a board, its cells, from the top counter-clockwise.
        symmetries: rotations first (the identity at index 0), then the flipped ones.
        pictures: lines of text that show a place, in which the hexadecimal digit k is the cell k;
            the first that fits the width of the terminal is used.
        edges: where edges of outlines run, for messages.
        cells_per_unit: cells that are counted as one unit of area; lines are drawn between units.
        unit_noun: what a unit of area is called.
        groups: kinds of cells to be coloured alike, by name: their indices in `first`.
    """

    name: str
    noun: str
    per_unit: int
    step_squared: tuple[Fraction, Fraction]
    basis: tuple[Point, Point]
    columns: tuple[tuple[Ring, ...], ...]
    symmetries: tuple[Symmetry, ...]
    pictures: tuple[tuple[str, ...], ...] = (("0 ",),)
    edges: str = ""
    cells_per_unit: int = 1
    unit_noun: str = "cell"
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def first(self) -> tuple[Cell, ...]:
        """The cells of one period: those of `columns`, in that order."""
        return tuple(_centroid(ring) for rings in self.columns for ring in rings)

    @cached_property
    def corners(self) -> Mapping[Point, Ring]:
        """The corners of each kind of cell, relative to its centroid within the period."""
        rings = [ring for rings in self.columns for ring in rings]
        return {
            self.residue((x, y)): tuple((cx - x, cy - y) for cx, cy in ring)
            for (x, y), ring in zip(self.first, rings, strict=True)
        }

    def moves(self, flips: bool) -> tuple[Symmetry, ...]:
        """Return the symmetries that may be applied to a piece."""
        return tuple(s for s in self.symmetries if flips or not s.flipped)

    def residue(self, point: Point) -> Point:
        """Return the point modulo the lattice's translations."""
        (ux, _), (vx, vy) = self.basis
        rows, y = divmod(point[1], vy)
        return (point[0] - rows * vx) % ux, y

    def is_cell(self, point: Point) -> bool:
        """Return whether the point is the centroid of a cell."""
        return self.residue(point) in self.corners

    def ring(self, cell: Cell) -> Ring:
        """Return the cell's corners, counter-clockwise."""
        x, y = cell
        return tuple((x + dx, y + dy) for dx, dy in self.corners[self.residue(cell)])

    def cell_edges(self, cell: Cell) -> Iterable[tuple[Point, Point]]:
        """Return the cell's directed edges, counter-clockwise."""
        ring = self.ring(cell)
        return zip(ring, (*ring[1:], ring[0]), strict=True)

    @cached_property
    def has_outlines(self) -> bool:
        """Whether files may draw outlines: only where corners have rational coordinates."""
        return self.step_squared[0] == self.step_squared[1]

    @cached_property
    def is_hexagonal(self) -> bool:
        """Whether the cells are hexagons, which may have pegs."""
        return len(self.corners[self.residue(self.first[0])]) == 6

    @cached_property
    def is_square(self) -> bool:
        """Whether the cells are whole squares, which may be chequered and hold balls."""
        return self.has_outlines and len(self.first) == 1

    @cached_property
    def is_staggered(self) -> bool:
        """Whether odd rows of places are shifted half a place to the right, as hexagons are."""
        return self.basis[1][0] * len(self.columns) % self.basis[0][0] != 0

    @cached_property
    def is_divided(self) -> bool:
        """Whether a place holds several cells."""
        return len(self.columns[0]) > 1

    @cached_property
    def writes_outlines(self) -> bool:
        """Whether files hold outlines rather than cells: where a unit of area has several cells."""
        return self.cells_per_unit > 1

    @cached_property
    def corners_per_unit(self) -> int:
        """Places along x in one grid unit where corners of cells can be."""
        return self.per_unit // gcd(*chain.from_iterable(chain(*self.columns[0])))

    def visible_edges(self, cell: Cell) -> list[tuple[Point, Point]]:
        """Return the cell's edges that are borders of a unit of area, for pictures."""
        edges = list(self.cell_edges(cell))
        if self.cells_per_unit == 1:
            return edges
        unit = self.cells_at(*self.row_col(cell))
        inner = {edge[::-1] for other in unit for edge in self.cell_edges(other)}
        return [edge for edge in edges if edge not in inner]

    @cached_property
    def _steps(self) -> Mapping[tuple[Point, Point], Point]:
        """The vector of each cell edge, both ways, by start, modulo translations, and direction."""
        edges = [edge for kind in self.corners for edge in self.cell_edges(kind)]
        edges += [(end, start) for start, end in edges]
        return {
            (self.residue(start), _direction(start, end)): (end[0] - start[0], end[1] - start[1])
            for start, end in edges
        }

    def walk(self, start: Point, end: Point) -> list[Point] | None:
        """Return the corners of cells along an outline's edge, without its end.

        None when the edge does not follow edges of cells.

        Example:
            >>> LATTICES["quarter-square"].walk((0, 0), (6, 6))
            [(0, 0), (3, 3)]
        """
        direction = _direction(start, end)
        path: list[Point] = []
        here = start
        while here != end:
            step = self._steps.get((self.residue(here), direction))
            if step is None or _direction(here, end) != direction:
                return None
            path.append(here)
            here = here[0] + step[0], here[1] + step[1]
        return path

    def anchor(self, cells: Iterable[Cell]) -> Point:
        """Return the translation to divide out of a set of cells.

        Two sets of cells differ by a translation of the lattice exactly if they are equal after
        subtracting each one's anchor: the period of its lowest row's leftmost cell.
        """
        (ux, _), (vx, vy) = self.basis
        rows = [(y // vy, x) for x, y in cells]
        low = min(row for row, _ in rows)
        left = min((x - vx * low) // ux for row, x in rows if row == low)
        return left * ux + low * vx, low * vy

    def cells_at(self, row: int, col: int) -> tuple[Cell, ...]:
        """Return the cells in a board's row and column, from the top counter-clockwise.

        Odd rows of a staggered lattice are shifted half a place to the right. A place of the
        triangle lattice is one triangle, which points up where row + column is even.
        """
        (ux, _), (vx, vy) = self.basis
        period, column = divmod(col - self._columns_shifted(row), len(self.columns))
        return tuple(
            (x + ux * period + vx * (row & 1), y - vy * row)
            for x, y in map(_centroid, self.columns[column])
        )

    def address(self, cell: Cell) -> tuple[int, int, int]:
        """Return a cell's row, its column and its index k there: the inverse of `cells_at`."""
        (ux, _), (vx, vy) = self.basis
        (x, y), column, index = self._places[self.residue(cell)]
        row = (y - cell[1]) // vy
        period = (cell[0] - x - vx * (row & 1)) // ux
        return row, period * len(self.columns) + column + self._columns_shifted(row), index

    def row_col(self, cell: Cell) -> tuple[int, int]:
        """Return the board's row and column of a cell."""
        return self.address(cell)[:2]

    def places(self, cells: Iterable[Cell]) -> list[frozenset[Cell]]:
        """Group cells by their places: a square has four quarters.

        Example:
            >>> quarters = LATTICES["quarter-square"]
            >>> cells = [*quarters.cells_at(0, 0), quarters.cells_at(0, 1)[0]]
            >>> [len(place) for place in quarters.places(cells)]
            [4, 1]
        """
        by_place: dict[tuple[int, int], list[Cell]] = {}
        for cell in sorted(cells):
            by_place.setdefault(self.row_col(cell), []).append(cell)
        return list(map(frozenset, by_place.values()))

    def origin(self, row: int, col: int) -> tuple[int, int]:
        """Return the place at or left of a place that can be called ``[0, 0]`` instead.

        The lattice then looks the same, so that a triangle points up where row + column is even.
        """
        return row, col - (col - self._columns_shifted(row)) % len(self.columns)

    def _columns_shifted(self, row: int) -> int:
        """Return by how many whole columns a period begins later than in row 0."""
        return (row & 1) * self.basis[1][0] * len(self.columns) // self.basis[0][0]

    @cached_property
    def _places(self) -> Mapping[Point, tuple[Cell, int, int]]:
        """For each kind of cell the one in `first`, with its column and its index there."""
        return {
            self.residue(cell): (cell, column, index)
            for column, rings in enumerate(self.columns)
            for index, cell in enumerate(map(_centroid, rings))
        }


def _centroid(ring: Ring) -> Point:
    """Return the centroid of a cell, which is a frame point."""
    x6 = y6 = area2 = 0
    for (x0, y0), (x1, y1) in zip(ring, (*ring[1:], ring[0]), strict=True):
        cross = x0 * y1 - x1 * y0
        area2 += cross
        x6 += (x0 + x1) * cross
        y6 += (y0 + y1) * cross
    assert x6 % (3 * area2) == 0
    assert y6 % (3 * area2) == 0
    return x6 // (3 * area2), y6 // (3 * area2)


def _direction(start: Point, end: Point) -> Point:
    """Return the shortest vector of frame points in the direction of an edge."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    steps = gcd(dx, dy) or 1
    return dx // steps, dy // steps


def _symmetries(turn: tuple[int, int, int, int], order: int) -> tuple[Symmetry, ...]:
    """Return all symmetries generated by one (doubled) turn and the flip x to -x."""
    once = Symmetry(1, False, turn)
    symmetries = []
    for flipped in (False, True):
        right, up = (-2 if flipped else 2, 0), (0, 2)  # the images of the doubled axes
        for turns in range(order):
            symmetries.append(Symmetry(turns, flipped, (right[0], up[0], right[1], up[1])))
            right, up = once(right), once(up)
    return tuple(symmetries)


_QUARTER_TURN = (0, -2, 2, 0)
_SIXTH_TURN = (1, -1, 3, 1)  # cos 60 = 1/2; the frame's y step is 1/sqrt(3) of its x step

_SQUARE = Lattice(
    name="square",
    noun="squares",
    per_unit=2,
    step_squared=(Fraction(1, 4), Fraction(1, 4)),
    basis=((2, 0), (0, 2)),
    columns=((((0, -2), (2, -2), (2, 0), (0, 0)),),),
    symmetries=_symmetries(_QUARTER_TURN, 4),
    edges="edges go straight across or up, between whole numbers",
)

_QUARTER_SQUARE = Lattice(
    name="quarter-square",
    noun="quarters of squares",
    per_unit=6,
    step_squared=(Fraction(1, 36), Fraction(1, 36)),
    basis=((6, 0), (0, 6)),
    columns=(
        (
            ((6, 0), (0, 0), (3, -3)),
            ((0, 0), (0, -6), (3, -3)),
            ((0, -6), (6, -6), (3, -3)),
            ((6, -6), (6, 0), (3, -3)),
        ),
    ),
    symmetries=_symmetries(_QUARTER_TURN, 4),
    pictures=(("100003", "111333", "122223"), ("1003", "1223"), ("03", "12")),
    edges="edges follow grid lines between whole numbers, or diagonals of squares",
    cells_per_unit=4,
    unit_noun="square",
    groups={
        "left quarters": (1,),
        "lower quarters": (2,),
        "upper quarters": (0,),
        "right quarters": (3,),
        "upper and lower quarters": (0, 2),
    },
)


def _turned(*rings: Ring) -> tuple[Ring, ...]:
    """Return cells around the origin and their images under all sixths of a turn."""
    turns = _symmetries(_SIXTH_TURN, 6)[:6]
    return tuple(tuple(map(turn, ring)) for turn in turns for ring in rings)


def _cut_hexagons(name: str, columns: tuple[tuple[Ring, ...], ...], **details: Any) -> Lattice:
    """Return a lattice on the plane of hexagons around the points of the basis."""
    noun = f"{name}s"
    count = sum(map(len, columns))
    groups = {f"{noun} with k = {k}": (k,) for k in range(count)} if count > 1 else {}
    return Lattice(
        name=name,
        noun=noun,
        per_unit=24,
        step_squared=(Fraction(1, 576), Fraction(1, 1728)),
        basis=((24, 0), (12, 36)),
        columns=columns,
        symmetries=_symmetries(_SIXTH_TURN, 6),
        **{"groups": groups, **details},
    )


_HEXAGON = _cut_hexagons(
    "hexagon", ((((0, -24), (12, -12), (12, 12), (0, 24), (-12, 12), (-12, -12)),),)
)
_TRIANGLE = _cut_hexagons(
    "triangle",
    ((((0, 0), (-12, -36), (12, -36)),), (((0, 0), (12, -36), (24, 0)),)),
    groups={"upward triangles": (0,), "downward triangles": (1,)},
)
_KITE = _cut_hexagons(
    "kite", (_turned(((0, 0), (6, 18), (0, 24), (-6, 18))),), pictures=(("105 ", "234 "),)
)
_DRAFTER = _cut_hexagons(
    "drafter",
    (_turned(((0, 0), (0, 24), (-6, 18)), ((0, 0), (-6, 18), (-12, 12))),),
    pictures=(("210ba9  ", "345678  "),),
)

#: The lattices by name.
LATTICES: dict[str, Lattice] = {
    lattice.name: lattice
    for lattice in (_SQUARE, _QUARTER_SQUARE, _HEXAGON, _TRIANGLE, _KITE, _DRAFTER)
}
#: Former names of lattices, which files may still use.
RENAMED_LATTICES = {"triangular": "hexagon"}
