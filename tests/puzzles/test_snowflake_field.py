"""A field of orbits against shapely; what the closure drops against shapes grown at random."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set
from fabkit.puzzles.snowflakes.closure import MOST_LAYERS, Closure, useful_cells
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, PARITIES, Field
from tests.support.snowflakeoracle import UNIT, Board
from tests.support.snowflakesearches import candidates
from tests.support.snowflaketasks import TASKS, as_piece, board_of, oracle_cell, shape_cells

#: A field: its lattice's name, its parity, its half-width.
Told = tuple[str, str, int | tuple[int, int]]

SMALL: list[Told] = [
    (lattice, parity, half_width)
    for lattice in ("square", "quarter-square")
    for parity, half_widths in {
        EVEN: (1, 3),
        ODD: (0, 1, 3),
        MIXED: ((1, 0), (1, 1), (3, 2), (2, 3)),
    }.items()
    for half_width in half_widths
]
LARGE: list[Told] = [
    (lattice, parity, half_width)
    for lattice in ("square", "quarter-square")
    for parity, half_width in {EVEN: 6, ODD: 6, MIXED: (5, 4)}.items()
]


def named(told: Told) -> str:
    return "-".join(map(str, told)).replace(" ", "")


@cache
def field_and_board(told: Told) -> tuple[Field, Board]:
    lattice, parity, half_width = told
    field = Field.of(LATTICES[lattice], parity, half_width)
    return field, board_of(field)


@cache
def outlines(told: Told) -> list[shapely.Geometry]:
    """Each orbit's area."""
    field, board = field_and_board(told)
    return [
        shapely.union_all(
            [board.polygons[board.number[cell]] for cell in shape_cells(field, [orbit])]
        )
        for orbit in range(len(field.orbits))
    ]


every_small_field = pytest.mark.parametrize("told", SMALL, ids=named)


# The field


@every_small_field
def test_orbits_are_all_cells_with_their_images(told: Told) -> None:
    field, board = field_and_board(told)
    assert sorted(cell for orbit in field.orbits for cell in orbit) == list(range(len(field.cells)))
    cells = [oracle_cell(field.parts[at], cell) for at, cell in field.cells]
    assert sorted(cells) == sorted(board.cells)
    for index, orbit in enumerate(field.orbits):
        mask = board.mask(cells[cell] for cell in orbit)
        for cell in orbit:
            assert board.images[board.number[cells[cell]]] == mask
            assert field.orbit[cell] == index
        assert field.weights[index] == len(orbit)
        assert {field.parts[field.part_of(index)].parity == ODD} == {
            bool(cells[cell][0]) for cell in orbit
        }


@every_small_field
def test_what_meets_and_what_overlaps(told: Told) -> None:
    field, shapes = field_and_board(told)[0], outlines(told)
    for one, shape in enumerate(shapes):
        meeting = {other for other, theirs in enumerate(shapes) if shape.intersects(theirs)}
        over = {o for o, theirs in enumerate(shapes) if shape.intersection(theirs).area > 0}
        assert field.near[one] == meeting
        assert field.conflicts[one] == over - {one}


@every_small_field
def test_what_lies_on_a_mirror_and_how_far_it_reaches(told: Told) -> None:
    field, shapes, far = field_and_board(told)[0], outlines(told), 100 * UNIT
    axes = shapely.MultiLineString([[(-far, 0), (far, 0)], [(0, -far), (0, far)]])
    diagonals = shapely.MultiLineString([[(-far, -far), (far, far)], [(-far, far), (far, -far)]])
    for mirror, lines in zip(field.mirrors, (axes, diagonals), strict=True):
        assert mirror == {one for one, shape in enumerate(shapes) if shape.intersects(lines)}
    for one, shape in enumerate(shapes):
        part = field.part_of(one)
        beyond = shape.bounds[2] - UNIT / 2 * (field.parts[part].parity == ODD)
        expected = [-1] * len(field.parts)
        expected[part] = math.ceil(beyond / UNIT)
        assert field.half_widths([one]) == tuple(expected)
    everything = tuple(part.half_width for part in field.parts)
    assert field.half_widths(range(len(shapes))) == everything


@given(data=st.data(), told=st.sampled_from(SMALL))
def test_rigid_is_what_has_no_part_that_is_carried_elsewhere(
    data: st.DataObject, told: Told
) -> None:
    field, board = field_and_board(told)
    orbits = data.draw(st.sets(st.sampled_from(range(len(field.orbits)))))
    assert field.is_rigid(orbits) == board.is_rigid(board.mask(shape_cells(field, orbits)))


# What the closure drops


def grown(field: Field, rng: random.Random, most: int) -> set[int]:
    """A random rigid set of orbits that do not overlap, of some cells at most."""
    while True:
        orbits = set[int]()
        while True:
            around = (
                set().union(*(field.near[one] for one in orbits))
                if orbits and rng.random() < 0.8
                else set(range(len(field.orbits)))
            )
            barred = set[int]().union(*(field.conflicts[one] for one in orbits))
            ways = sorted(
                one
                for one in around - orbits - barred
                if sum(field.weights[o] for o in orbits | {one}) <= most
            )
            if not ways or (orbits and rng.random() < 0.02):
                break
            orbits.add(rng.choice(ways))
            if field.is_rigid(orbits) and rng.random() < 0.1:
                return orbits
        if field.is_rigid(orbits):
            return orbits


def dropped(closure: Closure, shape: set[int], rng: random.Random) -> bool:
    """Whether the closure says of a part of a shape that it cannot become the shape."""
    whole = closure._rows([shape])[0]
    most = sum(closure.field.weights[one] for one in shape)
    for _ in range(10):
        some = rng.sample(sorted(shape), rng.randint(1, len(shape)))
        room = np.zeros((6, MOST_LAYERS + 1, len(whole)), dtype=np.uint64)
        useful = np.zeros(len(whole), dtype=np.uint64)
        useful_cells(closure._rows([some])[0], closure._field, most, room, useful)
        if (whole & ~useful).any():
            return True
    return False


@pytest.mark.parametrize("told", LARGE, ids=named)
def test_no_part_of_a_rigid_shape_makes_its_rest_useless(told: Told) -> None:
    """The bound by trees never drops what the pieces so far may still become."""
    field, _ = field_and_board(told)
    rng = random.Random(1)
    for _ in range(60):
        assert not dropped(Closure(field, ()), grown(field, rng, rng.randint(20, 160)), rng)


@cache
def small_subsets() -> list[str]:
    """Choices of FridgeIQ pieces whose area a board can have."""
    rng, pieces = random.Random(7), load_set("fridgeiq").pieces
    chosen = [rng.sample(pieces, rng.randint(3, 5)) for _ in range(400)]
    return [
        "".join(piece.id for piece in some)
        for some in chosen
        if sum(len(piece.forms[0].cells) for piece in some) % 8 == 0
    ]


@pytest.mark.integration
def test_rigid_candidates_are_the_rigid_ones_of_all_candidates() -> None:
    more = 0
    for task in TASKS:
        every = candidates(task.field, task.pieces, task.flips, rigid=False)
        rigid = candidates(task.field, task.pieces, task.flips, rigid=True)
        assert set(rigid) == {orbits for orbits in every if task.field.is_rigid(orbits)}
        more += len(every) > len(rigid)
    assert more >= 20, "nothing was dropped"


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
    field = Field.of(LATTICES[lattice], parity, half_width)
    orbits, rigid = range(len(field.orbits)), dict[int, set[tuple[int, ...]]]()
    for size in range(1, max(counts) // 4 + 2):
        for some in combinations(orbits, size):
            weight = sum(field.weights[one] for one in some)
            if (
                weight in counts
                and {field.part_of(one) for one in some} == set(range(len(field.parts)))
                and not any(field.conflicts[one].intersection(some) for one in some)
                and field.is_rigid(some)
            ):
                rigid.setdefault(weight, set()).add(some)
    cell = as_piece(lattice, frozenset({(0, 0, "" if lattice == "square" else "N")}), "P")
    for count in counts:
        assert set(candidates(field, (cell,) * count, False, rigid=True)) == rigid.get(count, set())


@pytest.mark.integration
@settings(max_examples=25)
@given(chosen=st.sampled_from(small_subsets()), parity=st.sampled_from(PARITIES))
def test_so_they_are_for_some_of_fridgeiq(chosen: str, parity: str) -> None:
    fridgeiq = load_set("fridgeiq")
    field = Field.of(fridgeiq.lattice, parity, {EVEN: 4, ODD: 3, MIXED: (3, 2)}[parity])
    every = candidates(field, fridgeiq.select(chosen), False, rigid=False)
    rigid = candidates(field, fridgeiq.select(chosen), False, rigid=True)
    assert set(rigid) == {orbits for orbits in every if field.is_rigid(orbits)}


@settings(max_examples=15)
@given(chosen=st.sampled_from(small_subsets()), parity=st.sampled_from(PARITIES))
def test_parts_of_the_closure_are_the_whole(chosen: str, parity: str) -> None:
    """Taken for some placements of the first piece, and for the others."""
    fridgeiq = load_set("fridgeiq")
    field = Field.of(fridgeiq.lattice, parity, {EVEN: 3, ODD: 2, MIXED: (3, 2)}[parity])
    closure = Closure(field, fridgeiq.select(chosen))
    whole = {row.tobytes() for row in closure.candidates().rows}
    parts = [closure.candidates(slice(start, None, 3)).rows for start in range(3)]
    assert {row.tobytes() for part in parts for row in part} == whole
