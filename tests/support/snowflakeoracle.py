"""Symmetric shapes by brute force, with nothing of fabkit: an oracle for small sets of pieces.

Cells are polygons with whole corners, measured from the centre of symmetry: a unit square is 12
steps wide, and half a unit and the middle of a quarter square are whole numbers, too. A board is
the list of its cells. Pieces are laid on it one after the other in every way, and what they cover
is asked whether each of the eight symmetries carries it to itself.

The one short cut: what the pieces cover is part of the shape, and so are its eight images, so
there must not be more of those than cells in all pieces. `find` can do without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import shapely

UNIT = 12

Corner = tuple[int, int]
#: The corners, sorted, and the lattice's number: 0 about a vertex of the grid, 1 about a cell.
Cell = tuple[int, tuple[Corner, ...]]
#: A piece's cell: the column, the row (upwards), and of a quarter its side, N E S or W; else "".
Drawn = tuple[int, int, str]

SYMMETRIES: tuple[Callable[[Corner], Corner], ...] = (
    lambda p: (p[0], p[1]),
    lambda p: (-p[1], p[0]),
    lambda p: (-p[0], -p[1]),
    lambda p: (p[1], -p[0]),
    lambda p: (-p[0], p[1]),
    lambda p: (p[0], -p[1]),
    lambda p: (p[1], p[0]),
    lambda p: (-p[1], -p[0]),
)
ROTATIONS = 4


def corners(drawn: Drawn) -> tuple[Corner, ...]:
    """The corners of a piece's cell in steps, its column and row counted from the origin."""
    column, row, side = drawn
    x, y, u, v = UNIT * column, UNIT * row, UNIT * (column + 1), UNIT * (row + 1)
    middle = ((x + u) // 2, (y + v) // 2)
    return {
        "": ((x, y), (u, y), (u, v), (x, v)),
        "S": ((x, y), (u, y), middle),
        "E": ((u, y), (u, v), middle),
        "N": ((u, v), (x, v), middle),
        "W": ((x, v), (x, y), middle),
    }[side]


@dataclass(frozen=True)
class Board:
    """The cells about a centre.

    Attributes:
        sides: ``("",)`` for squares, ``("N", "E", "S", "W")`` for quarters of squares.
        widths: in units, of the board about a vertex and of the one about a cell; 0 for none. The
            first is even and the second odd.
    """

    sides: tuple[str, ...]
    widths: tuple[int, int]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells."""
        return tuple(
            (
                lattice,
                tuple(sorted((x - UNIT * width // 2, y - UNIT * width // 2) for x, y in ring)),
            )
            for lattice, width in enumerate(self.widths)
            for column in range(width)
            for row in range(width)
            for ring in (corners((column, row, side)) for side in self.sides)
        )

    @cached_property
    def number(self) -> dict[Cell, int]:
        """The number of each cell: its bit in masks."""
        return {cell: index for index, cell in enumerate(self.cells)}

    @cached_property
    def images(self) -> tuple[int, ...]:
        """For each cell the mask of its eight images."""
        return tuple(
            self.mask((lattice, tuple(sorted(map(move, ring)))) for move in SYMMETRIES)
            for lattice, ring in self.cells
        )

    @cached_property
    def polygons(self) -> list[shapely.Geometry]:
        """The cells as polygons."""
        return [shapely.convex_hull(shapely.MultiPoint(ring)) for _, ring in self.cells]

    @cached_property
    def overlapped(self) -> tuple[int, ...]:
        """For each cell the mask of those that it cannot lie beside, itself among them."""
        tree = shapely.STRtree(self.polygons)
        return tuple(
            sum(
                1 << int(other)
                for other in tree.query(polygon)
                if polygon.intersection(self.polygons[other]).area > 0
            )
            for polygon in self.polygons
        )

    @cached_property
    def met(self) -> tuple[int, ...]:
        """For each cell the mask of those that share a point with it."""
        tree = shapely.STRtree(self.polygons)
        return tuple(
            sum(1 << int(other) for other in tree.query(polygon, predicate="intersects"))
            for polygon in self.polygons
        )

    def mask(self, cells: Iterable[Cell]) -> int:
        """Cells as the bits of a number."""
        found = 0
        for cell in cells:
            found |= 1 << self.number[cell]
        return found

    def shape(self, mask: int) -> frozenset[Cell]:
        """The cells of a mask."""
        return frozenset(self.cells[bit] for bit in bits(mask))

    def placements(self, piece: frozenset[Drawn], flips: bool) -> set[int]:
        """Every way to lay a piece on the board, as a mask."""
        rings = list(map(corners, piece))
        found = set()
        longest = max(max(point) for ring in rings for point in ring) // UNIT
        reach = range(
            -UNIT * (max(self.widths) + longest), UNIT * (max(self.widths) + longest + 1), UNIT
        )
        for move in SYMMETRIES if flips else SYMMETRIES[:ROTATIONS]:
            moved = [[move(point) for point in ring] for ring in rings]
            for lattice, width in enumerate(self.widths):
                if not width:
                    continue
                half = UNIT // 2 * lattice
                for dx in reach:
                    for dy in reach:
                        laid = [
                            (lattice, tuple(sorted((x + dx + half, y + dy + half) for x, y in r)))
                            for r in moved
                        ]
                        if all(cell in self.number for cell in laid):
                            found.add(self.mask(laid))
        return found

    def is_symmetric(self, mask: int) -> bool:
        """Whether every symmetry carries the cells to themselves."""
        return all(self.images[bit] & ~mask == 0 for bit in bits(mask))

    def components(self, mask: int) -> Iterator[int]:
        """The connected parts; touching in a point connects, also across the lattices."""
        while mask:
            part, grown = 0, mask & -mask
            while grown != part:
                part, around = grown, 0
                for bit in bits(part):
                    around |= self.met[bit]
                grown = part | around & mask
            yield part
            mask &= ~part

    def is_rigid(self, mask: int) -> bool:
        """Whether each connected part is symmetric itself."""
        return all(map(self.is_symmetric, self.components(mask)))

    def find(
        self, pieces: Iterable[frozenset[Drawn]], flips: bool, rigid: bool, short_cut: bool = True
    ) -> set[frozenset[Cell]]:
        """All symmetric shapes that the pieces make, each lattice of the board being used."""
        pieces = list(pieces)
        total = sum(map(len, pieces))
        covers: set[tuple[int, int]] = {(0, 0)}
        for piece in pieces:
            laid = []
            for placement in self.placements(piece, flips):
                barred, images = 0, 0
                for bit in bits(placement):
                    barred |= self.overlapped[bit]
                    images |= self.images[bit]
                laid.append((placement, barred, images))
            covers = {
                (cover | placement, hull | images)
                for cover, hull in covers
                for placement, barred, images in laid
                if not cover & barred and (not short_cut or (hull | images).bit_count() <= total)
            }
        lattices = [
            self.mask(cell for cell in self.cells if cell[0] == lattice)
            for lattice, width in enumerate(self.widths)
            if width
        ]
        return {
            self.shape(cover)
            for cover, _ in covers
            if self.is_symmetric(cover)
            and all(cover & lattice for lattice in lattices)
            and (not rigid or self.is_rigid(cover))
        }


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
