"""The planar lattices in exact integer coordinates.

Every lattice measures points in its own *frame*: an integer grid fine enough to hold the
corners of the cells as well as their centroids. A cell *is* its centroid, an outline is a
ring of corners, and one symmetry moves both. So orientations, placements and regions need
no case for each lattice.

==================  =============================================  =======================
lattice             cells                                          frame step (grid units)
==================  =============================================  =======================
``square``          unit squares                                   1/2
``quarter-square``  unit squares cut by both diagonals, N E S W    1/6
``triangular``      hexagons around the points of a triangular     x 1/2, y 1/sqrt(12)
                    lattice (unit: the distance of neighbours)
==================  =============================================  =======================

x grows to the right and y up. Rows of cells are counted downwards from the top left, as on
a board: cell ``[0, 0]`` of the square lattice spans x 0..1 and y -1..0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

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
    """A planar lattice of cells; `LATTICES` has them all.

    Attributes:
        name: as in a set file.
        per_unit: frame steps along x in one grid unit.
        step_squared: squares of the frame step's length in grid units, along x and y
            (squares, since the triangular lattice's y step is irrational).
        basis: frame vectors ``(ux, 0)`` and ``(vx, vy)``; their integer combinations are the
            lattice's translations.
        corners: for each kind of cell, named by its centroid within the period, its corners
            relative to the centroid, counter-clockwise.
        first: the cells in row 0, column 0 of a board; all cells have the same area.
        symmetries: rotations first (the identity at index 0), then the flipped ones.
        edges: where edges of outlines run, for messages.
        kinds: what the kinds of cells are called, for messages, if there are several.
    """

    name: str
    per_unit: int
    step_squared: tuple[Fraction, Fraction]
    basis: tuple[Point, Point]
    corners: Mapping[Point, Ring]
    first: tuple[Cell, ...]
    symmetries: tuple[Symmetry, ...]
    edges: str
    kinds: Mapping[Point, str] = field(default_factory=dict)

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
    def is_staggered(self) -> bool:
        """Whether odd rows of cells are shifted half a cell to the right, as hexagons are."""
        return self.basis[1][0] != 0

    @cached_property
    def cells_per_unit(self) -> int:
        """Cells in one unit of area: a unit square, or one hexagon."""
        return len(self.first)

    @cached_property
    def _steps(self) -> frozenset[tuple[Point, Point]]:
        """Every edge of a cell, both ways, as (start modulo translations, vector)."""
        edges = [edge for kind in self.corners for edge in self.cell_edges(kind)]
        edges += [(end, start) for start, end in edges]
        return frozenset(
            (self.residue(start), (end[0] - start[0], end[1] - start[1])) for start, end in edges
        )

    def walk(self, start: Point, end: Point) -> list[Point] | None:
        """Return the corners of cells along an outline's edge, without its end.

        None when the edge does not follow edges of cells.

        Example:
            >>> LATTICES["quarter-square"].walk((0, 0), (6, 6))
            [(0, 0), (3, 3)]
        """
        dx, dy = end[0] - start[0], end[1] - start[1]
        for origin, (ex, ey) in self._steps:
            count = dx // ex if ex else dy // ey
            if origin == self.residue(start) and count > 0 and (ex * count, ey * count) == (dx, dy):
                path = [(start[0] + ex * k, start[1] + ey * k) for k in range(count)]
                whole = all((self.residue(point), (ex, ey)) in self._steps for point in path)
                return path if whole else None
        return None

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
        """Return the cells in a board's row and column; a whole square is four quarters.

        Odd rows of a staggered lattice are shifted half a unit to the right.
        """
        (ux, _), (vx, vy) = self.basis
        return tuple((x + ux * col + vx * (row & 1), y - vy * row) for x, y in self.first)

    def row_col(self, cell: Cell) -> tuple[int, int]:
        """Return the board's row and column of a cell: the inverse of `cells_at`."""
        (ux, _), (vx, vy) = self.basis
        first_x, first_y = self.first[0]
        row = first_y // vy - cell[1] // vy
        return row, (cell[0] - vx * (row & 1)) // ux - first_x // ux


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
    per_unit=2,
    step_squared=(Fraction(1, 4), Fraction(1, 4)),
    basis=((2, 0), (0, 2)),
    corners={(1, 1): ((-1, -1), (1, -1), (1, 1), (-1, 1))},
    first=((1, -1),),
    symmetries=_symmetries(_QUARTER_TURN, 4),
    edges="edges go straight across or up, between whole numbers",
)

_QUARTER_SQUARE = Lattice(
    name="quarter-square",
    per_unit=6,
    step_squared=(Fraction(1, 36), Fraction(1, 36)),
    basis=((6, 0), (0, 6)),
    corners={
        (3, 1): ((-3, -1), (3, -1), (0, 2)),  # S
        (5, 3): ((1, -3), (1, 3), (-2, 0)),  # E
        (3, 5): ((3, 1), (-3, 1), (0, -2)),  # N
        (1, 3): ((-1, 3), (-1, -3), (2, 0)),  # W
    },
    first=((3, -5), (5, -3), (3, -1), (1, -3)),
    symmetries=_symmetries(_QUARTER_TURN, 4),
    edges="edges follow grid lines between whole numbers, or diagonals of squares",
    kinds={
        (3, 1): "lower quarters",
        (5, 3): "right quarters",
        (3, 5): "upper quarters",
        (1, 3): "left quarters",
    },
)

_TRIANGULAR = Lattice(
    name="triangular",
    per_unit=2,
    step_squared=(Fraction(1, 4), Fraction(1, 12)),
    basis=((2, 0), (1, 3)),
    corners={(0, 0): ((0, -2), (1, -1), (1, 1), (0, 2), (-1, 1), (-1, -1))},
    first=((0, 0),),
    symmetries=_symmetries(_SIXTH_TURN, 6),
    edges="edges are sides of hexagons",
)

#: The lattices by name.
LATTICES: dict[str, Lattice] = {
    lattice.name: lattice for lattice in (_SQUARE, _QUARTER_SQUARE, _TRIANGULAR)
}
