"""Small searches for symmetric shapes, and SAT as a second way to do them.

SAT shares the field with the product's search, the geometry of cells, and nothing of the search.
One variable stands for each orbit (the shape holds it), one for each placement of a piece. Each
shape found is ruled out by its orbits, so that it counts once however many tilings it has. That
every part must reach both mirrors takes too many clauses to state beforehand, so it is checked on
the models that break it, when they come.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import Form, Piece, is_image
from fabkit.model.polygon import rings_of_cells
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, Field, HalfWidth
from fabkit.puzzles.snowflakes.search import set_bits
from fabkit.puzzles.snowflakes.tiler import IMPOSSIBLE, SOLVED, Tiler
from fabkit.solve.engines.sat import CnfBuilder

Orbits = tuple[int, ...]
MOST_NODES = 20_000_000


# --- by closure, as the product does it
# --------------------------------------------------------------


def candidates(field: Field, pieces: Sequence[Piece], flips: bool, rigid: bool) -> set[Orbits]:
    """What the closure leaves."""
    largest_first = tuple(sorted(pieces, key=lambda piece: -len(piece.forms[0].cells)))
    rows = Closure(field, largest_first, flips, rigid).candidates().rows
    found = [tuple(set_bits(row[:-1])) for row in rows]
    assert len(set(found)) == len(found)
    return set(found)


def by_closure(field: Field, pieces: tuple[Piece, ...], flips: bool, rigid: bool) -> set[Orbits]:
    """The shapes; every tiling covers them once with every piece, as it may lie."""
    tiler, found = Tiler(field, pieces, flips), set()
    for orbits in candidates(field, pieces, flips, rigid):
        attempt = tiler.attempt(orbits, MOST_NODES)
        assert attempt.verdict in (SOLVED, IMPOSSIBLE)
        if attempt.verdict == IMPOSSIBLE:
            continue
        found.add(orbits)
        covered = sorted(cell for _, cells in attempt.tiling for cell in cells)
        assert covered == sorted(cell for orbit in orbits for cell in field.orbits[orbit])
        used = [tiler.kinds[kind] for kind, _ in attempt.tiling]
        assert sorted(map(id, used)) == sorted(id(kind) for kind in tiler.kinds for _ in kind)
        for (piece, *_), (_, numbers) in zip(used, attempt.tiling, strict=True):
            (part,) = {field.cells[number][0] for number in numbers}
            cells = frozenset(field.cells[number][1] for number in numbers)
            assert is_image(field.boards[part].lattice, piece, cells, flips)
    return found


# --- by SAT
# -----------------------------------------------------------------------------------------


def by_sat(field: Field, pieces: Sequence[Piece], flips: bool, rigid: bool = True) -> set[Orbits]:
    """All symmetric shapes of a field that use every piece once, by their orbits."""
    from pysat.solvers import Solver

    clauses, found = _clauses(field, pieces, flips), set[Orbits]()
    if () in clauses:  # which solvers take badly
        return found
    # Glucose is three times as quick here as CaDiCaL, with clauses added on and on.
    with Solver("glucose4", bootstrap_with=clauses) as solver:
        while solver.solve():
            model = solver.get_model()[: len(field.orbits)]
            inside = tuple(variable - 1 for variable in model if variable > 0)
            links = list(_missing_links(field, set(inside))) if rigid else []
            for clause in links or [[-orbit - 1 for orbit in inside]]:
                solver.add_clause(clause)
            if not links:
                found.add(inside)
    return found


def _clauses(field: Field, pieces: Sequence[Piece], flips: bool) -> list[tuple[int, ...]]:
    """What a shape is: orbits first, then placements, then helpers."""
    variable = len(field.orbits)
    placements_of = [list(field.placements(piece, flips)) for piece in pieces]
    writer = CnfBuilder(variable + sum(map(len, placements_of)))
    by_cell = defaultdict[int, list[int]](list)
    for placements in placements_of:
        writer.at_most(1, {variable + n: 1 for n in range(1, len(placements) + 1)}, exactly=True)
        for cells in placements:
            variable += 1
            for cell in cells:
                by_cell[cell].append(variable)
                writer.add((-variable, field.orbit_of[cell] + 1))
    for cell, orbit in enumerate(field.orbit_of):
        writer.add((-orbit - 1, *by_cell[cell]))
        writer.at_most_one(by_cell[cell])
    for orbit, others in enumerate(field.conflicts):
        for other in others:
            writer.add((-orbit - 1, -other - 1))
    for part in range(len(field.boards)):
        own = [orbit + 1 for orbit in range(len(field.orbits)) if field.board_of(orbit) == part]
        writer.add(tuple(own))
    # The orbits have as many cells as the pieces: implied, but it helps.
    area = sum(len(piece.forms[0].cells) for piece in pieces)
    unit = math.gcd(area, *field.orbit_sizes)
    writer.at_most(
        area // unit, {o: w // unit for o, w in enumerate(field.orbit_sizes, 1)}, exactly=True
    )
    return writer.clauses


def _missing_links(field: Field, waiting: set[int]) -> Iterator[list[int]]:
    """Clauses that a shape breaks since some part of it does not reach a mirror.

    For each orbit of such a part, that it is not in the shape or one of the orbits around the
    part is: no way leads from it to the mirror but through those.
    """
    while waiting:
        component, frontier = set[int](), {waiting.pop()}
        while frontier:
            component |= frontier
            frontier = {other for one in frontier for other in field.touching[one]} & waiting
            waiting -= frontier
        if not all(component & mirror for mirror in field.mirrors):
            around = {other + 1 for one in component for other in field.touching[one] - component}
            yield from ([-one - 1, *around] for one in component)


# --- tasks
# ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """Pieces, and the field in which they are to make shapes."""

    field: Field
    pieces: tuple[Piece, ...]
    flips: bool


#: For every lattice and parity, small boards, and the most cells of a shape.
SMALL: dict[tuple[str, str], tuple[tuple[HalfWidth, ...], int]] = {
    ("square", EVEN): ((2, 3, 4), 20),
    ("square", ODD): ((1, 2, 3), 21),
    ("square", MIXED): (((2, 1), (1, 2), (2, 2), (3, 2)), 21),
    ("quarter-square", EVEN): ((1, 2, 3), 32),
    ("quarter-square", ODD): ((1, 2), 32),
    ("quarter-square", MIXED): (((1, 0), (1, 1), (2, 1), (1, 2)), 32),
}


def random_task(seed: int) -> Task:
    """Small pieces, cut from a symmetric shape; of every fourth task one is another."""
    rng = random.Random(seed)
    (lattice, parity), (half_widths, most) = list(SMALL.items())[seed % len(SMALL)]
    field = Field.for_parity(LATTICES[lattice], parity, rng.choice(half_widths))
    while True:
        shape = _symmetric(field, most, rng)
        parts = _parted(field, [cell for orbit in shape for cell in field.orbits[orbit]], rng)
        if len(parts) <= 5:
            break
    if seed % 4 == 3:
        parts[0] = _grown(field, len(parts[0]), rng)
    pieces = tuple(as_piece(field.lattice, cells, f"P{at}") for at, cells in enumerate(parts))
    return Task(field, pieces, rng.random() < 0.5)


def as_piece(lattice: Lattice, cells: frozenset[Cell], name: str) -> Piece:
    return Piece(name, name, "#e69f00", (Form("", cells, rings_of_cells(lattice, cells)),))


def _symmetric(field: Field, most: int, rng: random.Random) -> set[int]:
    """Random orbits that do not overlap, of each part some, and of two cells at least."""
    while True:
        shape = set[int]()
        for orbit in rng.sample(range(len(field.orbits)), min(len(field.orbits), 8)):
            weight = sum(field.orbit_sizes[one] for one in (*shape, orbit))
            if weight <= most and not field.conflicts[orbit] & shape and rng.random() < 0.6:
                shape.add(orbit)
        parts = {field.board_of(one) for one in shape}
        if len(parts) == len(field.boards) and sum(field.orbit_sizes[one] for one in shape) > 1:
            return shape


def _beside(field: Field, cell: int, others: Sequence[int]) -> bool:
    """Whether a cell shares an edge with one of some others."""
    at, where = field.cells[cell]
    corners = set(field.lattice.ring(where))
    return any(
        at == part and len(corners.intersection(field.lattice.ring(other))) == 2
        for part, other in (field.cells[one] for one in others)
    )


def _parted(field: Field, left: list[int], rng: random.Random) -> list[frozenset[Cell]]:
    """The cells of a shape dealt out over pieces that hang together by edges: 2 to 5, or more."""
    rng.shuffle(left)
    pieces = [[left.pop()] for _ in range(min(rng.randint(2, 5), len(left)))]
    while left:
        ways = [(each, cell) for each in pieces for cell in left if _beside(field, cell, each)]
        each, cell = rng.choice(ways) if ways else ([], left[-1])
        each.append(cell)
        left.remove(cell)
        if not ways:
            pieces.append(each)
    return [frozenset(field.cells[cell][1] for cell in each) for each in pieces]


def _grown(field: Field, size: int, rng: random.Random) -> frozenset[Cell]:
    """A random piece of so many cells, or as many as there are."""
    board = Field.for_parity(field.lattice, EVEN, 3)
    piece = [rng.randrange(len(board.cells))]
    while len(piece) < size:
        rest = [c for c in range(len(board.cells)) if c not in piece and _beside(board, c, piece)]
        piece.append(rng.choice(rest))
    return frozenset(board.cells[cell][1] for cell in piece)


@cache
def tasks() -> tuple[Task, ...]:
    """Sixty of them."""
    return tuple(map(random_task, range(60)))
