"""Two searches for snowflakes and an oracle find the same shapes; faults in either are noticed."""

from __future__ import annotations

import pytest

from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, PARITIES, Field
from tests.support.snowflakesbysat import BySat, shapes_by_sat
from tests.support.snowflakesearches import by_closure, tiles, wrong
from tests.support.snowflaketasks import TASKS, ShapeCells, shape_cells

FRIDGEIQ = load_set("fridgeiq")


# Against the oracle


@pytest.mark.parametrize(
    "step", [8, pytest.param(1, marks=pytest.mark.integration)], ids=["some", "all"]
)
@pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "wandering"])
def test_all_find_the_same(rigid: bool, step: int) -> None:
    for seed, task in enumerate(TASKS[::step]):
        assert wrong(task, rigid) == set(), seed * step


@pytest.mark.integration
def test_boards_of_growing_size_have_each_shape_once() -> None:
    for task in TASKS:
        if not isinstance(task.half_width, int):
            continue
        whole, apart = set[ShapeCells](), list[ShapeCells]()
        for half_width in range(task.half_width + 1):
            field = Field.of(LATTICES[task.lattice], task.parity, half_width)
            shapes = BySat(field, task.pieces, task.flips, outermost=True).search()
            apart += [shape_cells(field, shape.orbits) for shape in shapes]
        for shape in shapes_by_sat(task.field, task.pieces, task.flips):
            whole.add(shape_cells(task.field, shape.orbits))
        assert len(apart) == len(whole)
        assert set(apart) == whole


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
    """Where sets of orbits take several words; the oracle's boards are small."""
    field = Field.of(LATTICES[lattice], parity, half_width)
    assert len(field.orbits) > 64
    for task in [task for task in TASKS if (task.lattice, task.parity) == (lattice, parity)][:3]:
        found = by_closure(field, task.pieces, task.flips, True)
        orbits = [shape.orbits for shape in found]
        assert orbits == [s.orbits for s in shapes_by_sat(field, task.pieces, task.flips)]
        here = {shape_cells(field, shape) for shape in orbits}
        assert task.board.find(task.drawn, task.flips, rigid=True) <= here


def test_pieces_that_do_not_fit() -> None:
    for parity in PARITIES:
        field = Field.of(FRIDGEIQ.lattice, parity, 1)
        for pieces in (FRIDGEIQ.pieces, FRIDGEIQ.select("U"), FRIDGEIQ.select("LU")):
            assert by_closure(field, pieces, False, True) == []
            assert shapes_by_sat(field, pieces) == []


# All FridgeIQ pieces


def assert_both_find(parity: str, half_width: int | tuple[int, int], count: int) -> None:
    """By SAT board by board; the closure takes the largest at once."""
    field = Field.of(FRIDGEIQ.lattice, parity, half_width)
    expected = by_closure(field, FRIDGEIQ.pieces, False, True)
    found = list[ShapeCells]()
    sizes = range(half_width + 1) if isinstance(half_width, int) else [half_width]
    for size in sizes:
        board = Field.of(FRIDGEIQ.lattice, parity, size)
        each = BySat(board, FRIDGEIQ.pieces, outermost=isinstance(half_width, int)).search()
        for shape in each:
            assert tiles(board, FRIDGEIQ.pieces, False, shape)
            found.append(shape_cells(board, shape.orbits))
    assert len(found) == len(set(found)) == len(expected) == count
    assert set(found) == {shape_cells(field, shape.orbits) for shape in expected}


@pytest.mark.parametrize(
    ("parity", "half_width", "count"),
    [
        (EVEN, 3, 0),
        (ODD, 2, 0),
        (MIXED, (2, 2), 0),
        pytest.param(MIXED, (3, 3), 3, marks=pytest.mark.integration),
    ],
)
def test_shapes_of_all_fridgeiq_pieces_on_small_boards(
    parity: str, half_width: int | tuple[int, int], count: int
) -> None:
    assert_both_find(parity, half_width, count)


@pytest.mark.every(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("parity", "half_width", "count"), [(EVEN, 6, 48), (ODD, 5, 39), (MIXED, (4, 4), 8)]
)
def test_shapes_of_all_fridgeiq_pieces(
    parity: str, half_width: int | tuple[int, int], count: int
) -> None:
    assert_both_find(parity, half_width, count)
