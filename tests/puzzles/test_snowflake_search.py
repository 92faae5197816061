"""The search for snowflakes finds what SAT finds, an independent way; and its bound holds."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest

from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.bound import Bound, bound, half_widths
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, PARITIES, Field
from fabkit.sets.library import load_set
from tests.support.snowflakesearches import as_piece, by_closure, by_sat, candidates, tasks

SQUARE = LATTICES["square"]
FRIDGEIQ = load_set("fridgeiq")


# --- what is found
# -----------------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize("step", [4, 1], ids=["some", "all"])
@pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "wandering"])
def test_both_find_the_same(rigid: bool, step: int) -> None:
    found = 0
    for seed, task in enumerate(tasks()[::step]):
        shapes = by_closure(task.field, task.pieces, task.flips, rigid)
        assert shapes == by_sat(task.field, task.pieces, task.flips, rigid), seed * step
        found += len(shapes)
    assert found > 4


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("lattice", "parity", "half_width"),
    [
        ("square", EVEN, 11),
        ("square", ODD, 11),
        ("square", MIXED, (8, 8)),
        ("quarter-square", EVEN, 6),
        ("quarter-square", ODD, 5),
        ("quarter-square", MIXED, (4, 5)),
    ],
)
def test_boards_of_many_orbits(
    lattice: str, parity: str, half_width: int | tuple[int, int]
) -> None:
    """Where sets of orbits take several words."""
    field = Field.for_parity(LATTICES[lattice], parity, half_width)
    assert len(field.orbits) > 64
    alike = [t for t in tasks() if (t.field.lattice.name, t.field.parity) == (lattice, parity)]
    for task in alike[:3]:
        found = by_closure(field, task.pieces, task.flips, True)
        assert found == by_sat(field, task.pieces, task.flips)


@pytest.mark.parametrize(
    ("parity", "half_width", "count"),
    [
        (EVEN, 3, 0),
        (ODD, 2, 0),
        (MIXED, (2, 2), 0),
        pytest.param(MIXED, (3, 3), 3, marks=pytest.mark.integration),
    ],
)
def test_shapes_of_all_fridgeiq_pieces(
    parity: str, half_width: int | tuple[int, int], count: int
) -> None:
    field = Field.for_parity(FRIDGEIQ.lattice, parity, half_width)
    found = by_closure(field, FRIDGEIQ.pieces, False, True)
    assert found == by_sat(field, FRIDGEIQ.pieces, False)
    assert len(found) == count


# --- what the closure drops
# -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lattice", "parity", "half_width", "counts"),
    [
        ("square", EVEN, 5, (8, 16, 24, 28)),
        ("square", ODD, 4, (5, 8, 13, 21, 24)),
        ("square", MIXED, (3, 2), (5, 12, 16, 17)),
        ("quarter-square", EVEN, 2, (16, 24, 40)),
        ("quarter-square", ODD, 2, (8, 20, 24, 32)),
        ("quarter-square", MIXED, (1, 2), (12, 20, 24)),
    ],
)
def test_of_single_cells_every_rigid_shape_is_a_candidate(
    lattice: str, parity: str, half_width: int | tuple[int, int], counts: tuple[int, ...]
) -> None:
    """All there are, gone through by their orbits."""
    field = Field.for_parity(LATTICES[lattice], parity, half_width)
    orbits, rigid = range(len(field.orbits)), dict[int, set[tuple[int, ...]]]()
    for size in range(1, max(counts) // 4 + 2):
        for some in combinations(orbits, size):
            weight = sum(field.orbit_sizes[one] for one in some)
            if (
                weight in counts
                and {field.board_of(one) for one in some} == set(range(len(field.boards)))
                and not any(field.conflicts[one].intersection(some) for one in some)
                and field.is_rigid(some)
            ):
                rigid.setdefault(weight, set()).add(some)
    cell = as_piece(field.lattice, frozenset({field.lattice.cells_at(0, 0)[0]}), "P")
    for count in counts:
        assert candidates(field, (cell,) * count, False, rigid=True) == rigid.get(count, set())


def test_parts_of_the_closure_are_the_whole() -> None:
    """Taken for some placements of the first piece, and for the others."""
    for task in tasks()[::5]:
        closure = Closure(task.field, task.pieces, task.flips)
        parts = [closure.candidates(slice(start, None, 3)).rows for start in range(3)]
        whole = {row.tobytes() for row in closure.candidates().rows}
        assert {row.tobytes() for part in parts for row in part} == whole


# --- the bound
# --------------------------------------------------------------------------------------


def piece(name: str, places: list[tuple[int, int]]) -> Piece:
    """A piece of unit squares, each named by its column and row."""
    return as_piece(SQUARE, frozenset((2 * x + 1, 2 * y + 1) for x, y in places), name)


def grown(name: str, size: int, chance: random.Random) -> Piece:
    """A random piece of so many squares."""
    places = [(0, 0)]
    while len(places) < size:
        x, y = chance.choice(places)
        dx, dy = chance.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        if (x + dx, y + dy) not in places:
            places.append((x + dx, y + dy))
    return piece(name, places)


def reaches(pieces: list[Piece], parity: str, half_width: int) -> list[Fraction]:
    """How far the rigid snowflakes reach that lie on a board, whatever the bound says."""
    field = Field.for_parity(SQUARE, parity, half_width)
    found = by_closure(field, tuple(pieces), True, True)
    return [field.half_widths(orbits)[0] + Fraction(parity == "odd", 2) for orbits in found]


def test_bounds_of_known_sets() -> None:
    known = bound(FRIDGEIQ.lattice, FRIDGEIQ.pieces)
    assert (known.widest, known.widths, known.reach) == (3, 37, Fraction(123, 8))
    widths = [half_widths(parity, known, None) for parity in PARITIES]
    assert widths == [15, 14, (15, 14)]
    assert half_widths("mixed", known, 14) == (14, 14)
    bar = piece("a", [(x, 0) for x in range(5)])
    assert bound(SQUARE, [bar, piece("b", [(0, 0), (0, 1), (1, 1)])]) == Bound(5, 7)


@pytest.mark.every(5)
@pytest.mark.parametrize("seed", range(25))
def test_no_rigid_shape_lies_beyond(seed: int) -> None:
    """On boards two cells larger than the bound, which is not asked there."""
    chance = random.Random(seed)
    sizes = [chance.randint(1, 3) for _ in range(chance.choice([2, 4, 4, 5]))]
    pieces = [grown(chr(97 + at), size, chance) for at, size in enumerate(sizes)]
    known = bound(SQUARE, pieces)
    for parity in ("even", "odd"):
        found = reaches(pieces, parity, known.half_width(parity) + 2)
        assert all(reach <= known.reach for reach in found)


@pytest.mark.parametrize(
    ("arms", "reach"), [((2,) * 4, Fraction(5, 2)), ((1,) * 12, Fraction(7, 2))]
)
def test_crosses_come_as_near_as_they_can(arms: tuple[int, ...], reach: Fraction) -> None:
    """So a bound with an eighth of the widths, or without the widest piece, would be wrong."""
    pieces = [piece("hub", [(0, 0)])]
    pieces += [piece(f"a{at}", [(x, 0) for x in range(n)]) for at, n in enumerate(arms)]
    known = bound(SQUARE, pieces)
    assert max(reaches(pieces, "odd", known.half_width("odd"))) == reach <= known.reach
    assert known.reach / 3 < reach
