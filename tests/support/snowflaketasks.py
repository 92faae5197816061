"""Small tasks for the searches for symmetric shapes: pieces cut from such shapes, and a field."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.piece import Form, Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, Field, Part
from tests.support import snowflakeoracle as plain
from tests.support.snowflakeoracle import UNIT, Board, Drawn

SIDES = {"square": ("",), "quarter-square": ("N", "E", "S", "W")}
#: Where a quarter's centroid is in its square, in frame steps.
CENTROIDS = {"": (1, 1), "S": (3, 1), "E": (5, 3), "N": (3, 5), "W": (1, 3)}

ShapeCells = frozenset[plain.Cell]


@dataclass(frozen=True)
class Task:
    """Pieces, and the field in which they are to make shapes."""

    lattice: str
    parity: str
    half_width: int | tuple[int, int]
    drawn: tuple[frozenset[Drawn], ...]
    flips: bool

    @property
    def field(self) -> Field:
        return Field.of(LATTICES[self.lattice], self.parity, self.half_width)

    @property
    def board(self) -> Board:
        return board_of(self.field)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(
            as_piece(self.lattice, drawn, f"P{number}") for number, drawn in enumerate(self.drawn)
        )


def as_piece(lattice: str, drawn: frozenset[Drawn], name: str) -> Piece:
    per_unit = LATTICES[lattice].per_unit
    cells = frozenset(
        (per_unit * column + CENTROIDS[side][0], per_unit * row + CENTROIDS[side][1])
        for column, row, side in drawn
    )
    form = Form("", cells, rings_of_cells(LATTICES[lattice], cells))
    return Piece(name, name, "#e69f00", (form,))


def board_of(field: Field) -> Board:
    widths = [0, 0]
    for part in field.parts:
        widths[part.parity == ODD] = 2 * part.half_width + (part.parity == ODD)
    return Board(SIDES[field.lattice.name], (widths[0], widths[1]))


def oracle_cell(part: Part, cell: Cell) -> plain.Cell:
    """A field's cell as the oracle calls it."""
    odd = part.parity == ODD
    scale, off = UNIT // part.lattice.per_unit, UNIT // 2 * odd
    ring = sorted((scale * x - off, scale * y - off) for x, y in part.lattice.ring(cell))
    return int(odd), tuple(ring)


def shape_cells(field: Field, orbits: Iterable[int]) -> ShapeCells:
    """A set of orbits as the oracle's cells."""
    return frozenset(
        oracle_cell(field.parts[at], cell)
        for orbit in orbits
        for at, cell in (field.cells[number] for number in field.orbits[orbit])
    )


#: For every lattice and parity, boards small enough for the oracle, and the most cells of a shape.
SMALL: dict[tuple[str, str], tuple[tuple[int | tuple[int, int], ...], int]] = {
    ("square", EVEN): ((2, 3, 4), 20),
    ("square", ODD): ((1, 2, 3), 21),
    ("square", MIXED): (((2, 1), (1, 2), (2, 2), (3, 2)), 21),
    ("quarter-square", EVEN): ((1, 2, 3), 32),
    ("quarter-square", ODD): ((1, 2), 32),
    ("quarter-square", MIXED): (((1, 0), (1, 1), (2, 1), (1, 2)), 32),
}


def random_task(seed: int) -> Task:
    """Small pieces, most of them cut from a symmetric shape."""
    rng = random.Random(seed)
    (lattice, parity), (half_widths, most) = list(SMALL.items())[seed % len(SMALL)]
    task = Task(lattice, parity, rng.choice(half_widths), (), rng.random() < 0.5)
    drawn = tuple(_cut(task.board, most, rng))
    if seed % 4 == 3:  # and another piece in place of one of the same size
        drawn = (_grown(SIDES[lattice], len(drawn[0]), rng), *drawn[1:])
    return replace(task, drawn=drawn)


def _cut(board: Board, most: int, rng: random.Random) -> Iterator[frozenset[Drawn]]:
    """The pieces that a random symmetric shape falls into: 2 to 5, or more if it needs them."""
    while True:
        shape = _symmetric(board, most, rng)
        pieces = _parted(board, shape, rng.randint(2, 5), rng)
        if len(pieces) <= 5:
            break
    for piece in pieces:
        yield _drawn(board, piece)


def _symmetric(board: Board, most: int, rng: random.Random) -> int:
    """Random cells with their images, some on each lattice, and none that overlap."""
    lattices = [lattice for lattice, width in enumerate(board.widths) if width]
    while True:
        shape = 0
        bits = list(range(len(board.cells)))
        rng.shuffle(bits)
        for bit in bits[: rng.randint(1, 8)]:
            more = shape | board.images[bit]
            around = 0
            for other in plain.bits(board.images[bit]):
                around |= board.overlapped[other] & ~(1 << other)
            if more.bit_count() <= most and not around & more:
                shape = more
        used = {board.cells[bit][0] for bit in plain.bits(shape)}
        if used == set(lattices) and shape.bit_count() > 1:
            return shape


def _beside(board: Board, one: int, other: int) -> bool:
    """Whether two cells share an edge."""
    (lattice, ring), (lattice2, ring2) = board.cells[one], board.cells[other]
    return lattice == lattice2 and len(set(ring) & set(ring2)) == 2


def _parted(board: Board, shape: int, count: int, rng: random.Random) -> list[list[int]]:
    """The cells of a shape dealt out over pieces that hang together by edges."""
    left = list(plain.bits(shape))
    rng.shuffle(left)
    pieces = [[left.pop()] for _ in range(min(count, len(left)))]
    while left:
        ways = [
            (piece, cell)
            for piece in pieces
            for cell in left
            if any(_beside(board, cell, own) for own in piece)
        ]
        if ways:
            piece, cell = rng.choice(ways)
            piece.append(cell)
            left.remove(cell)
        else:
            pieces.append([left.pop()])
    return pieces


def _drawn(board: Board, cells: Sequence[int]) -> frozenset[Drawn]:
    """Cells of a board as a piece is drawn, in the corner of the first quadrant."""
    found = set()
    for bit in cells:
        lattice, ring = board.cells[bit]
        width = board.widths[lattice]
        found.update(
            (column, row, side)
            for column in range(width)
            for row in range(width)
            for side in board.sides
            if ring
            == tuple(
                sorted(
                    (x - UNIT * width // 2, y - UNIT * width // 2)
                    for x, y in plain.corners((column, row, side))
                )
            )
        )
    left, low = min(column for column, _, _ in found), min(row for _, row, _ in found)
    return frozenset((column - left, row - low, side) for column, row, side in found)


def _grown(sides: tuple[str, ...], size: int, rng: random.Random) -> frozenset[Drawn]:
    """A random piece of that many cells."""
    board = Board(sides, (6, 0))
    piece = [rng.randrange(len(board.cells))]
    while len(piece) < size:
        around = [
            cell
            for cell in range(len(board.cells))
            if cell not in piece and any(_beside(board, cell, own) for own in piece)
        ]
        piece.append(rng.choice(around))
    return _drawn(board, piece)


TASKS = tuple(map(random_task, range(60)))
