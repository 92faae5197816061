"""Two searches for snowflakes and an oracle find the same shapes; faults in either are noticed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pysat.solvers
import pytest

from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set
from fabkit.puzzles.snowflakes import bysat
from fabkit.puzzles.snowflakes.bysat import BySat, shapes_by_sat
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, PARITIES, Field
from fabkit.solve.engines import sat as models
from fabkit.solve.engines.engine import BudgetSpentError, Effort
from fabkit.solve.engines.sat import Writer
from tests.support.snowflakesearches import by_closure, in_this_process, tiles, wrong
from tests.support.snowflaketasks import TASKS, ShapeCells, shape_cells

FRIDGEIQ = load_set("fridgeiq")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "answers", in_this_process)


# Against the oracle


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "wandering"])
@pytest.mark.parametrize("seed", range(len(TASKS)))
def test_all_find_the_same(seed: int, rigid: bool) -> None:
    assert wrong(TASKS[seed], rigid) == set()


def test_most_tasks_have_shapes() -> None:
    """Otherwise agreement would say little."""
    every = [task.board.find(task.drawn, task.flips, rigid=False) for task in TASKS]
    rigid = [
        {shape for shape in found if task.board.is_rigid(task.board.mask(shape))}
        for task, found in zip(TASKS, every, strict=True)
    ]
    assert sum(map(bool, every)) >= 0.7 * len(TASKS)
    assert sum(map(bool, rigid)) >= 0.5 * len(TASKS)
    assert sum(one != other for one, other in zip(rigid, every, strict=True)) >= 0.1 * len(TASKS)
    for parity in PARITIES:
        assert any(found for found, task in zip(rigid, TASKS, strict=True) if task.parity == parity)
    assert {task.flips for task in TASKS} == {True, False}


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("helper", ["_say_area", "_say_one_representative"])
def test_what_only_helps_the_solver_changes_nothing(
    helper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [shapes_by_sat(task.field, task.pieces, task.flips) for task in TASKS[:30]]
    monkeypatch.setattr(BySat, helper, lambda *_: None)
    found = [shapes_by_sat(task.field, task.pieces, task.flips) for task in TASKS[:30]]
    for one, other in zip(expected, found, strict=True):
        assert [shape.orbits for shape in one] == [shape.orbits for shape in other]


@pytest.mark.usefixtures("at_once")
def test_boards_of_growing_size_have_each_shape_once() -> None:
    for task in TASKS:
        if not isinstance(task.half_width, int):
            continue
        whole, apart = set[ShapeCells](), list[ShapeCells]()
        for half_width in range(task.half_width + 1):
            field = Field.of(LATTICES[task.lattice], task.parity, half_width)
            shapes = BySat(field, task.pieces, task.flips, outermost=True).search().shapes
            apart += [shape_cells(field, shape.orbits) for shape in shapes]
        for shape in shapes_by_sat(task.field, task.pieces, task.flips):
            whole.add(shape_cells(task.field, shape.orbits))
        assert len(apart) == len(whole)
        assert set(apart) == whole


@pytest.mark.every(3)
@pytest.mark.usefixtures("at_once")
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


@pytest.mark.usefixtures("at_once")
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
        for shape in each.shapes:
            assert tiles(board, FRIDGEIQ.pieces, False, shape)
            found.append(shape_cells(board, shape.orbits))
    assert len(found) == len(set(found)) == len(expected) == count
    assert set(found) == {shape_cells(field, shape.orbits) for shape in expected}


@pytest.mark.parametrize(
    ("parity", "half_width", "count"),
    [(EVEN, 3, 0), (ODD, 2, 0), (MIXED, (2, 2), 0), (MIXED, (3, 3), 3)],
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


# In a process of its own


def test_it_works_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    task = TASKS[13]
    apart = BySat(task.field, task.pieces, task.flips).search()
    monkeypatch.setattr(models, "answers", in_this_process)
    here = BySat(task.field, task.pieces, task.flips).search()
    assert apart.shapes
    assert (apart.shapes, apart.clauses, apart.refused) == (
        here.shapes,
        here.clauses,
        here.refused,
    )


@pytest.mark.parametrize("budget_s", [0, 1])
def test_a_spent_budget_is_told(budget_s: float) -> None:
    field, started = Field.of(FRIDGEIQ.lattice, EVEN, 4), time.monotonic()
    with pytest.raises(BudgetSpentError):
        shapes_by_sat(field, FRIDGEIQ.pieces, effort=Effort(budget_s))
    assert time.monotonic() - started < budget_s + 5


# Planted faults


def changed(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, change: Callable[[Any], Any]
) -> None:
    """Changes what a cached property says."""
    original = owner.__dict__[name].func
    monkeypatch.setattr(owner, name, property(lambda self: change(original(self))))


def too_short_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The closure takes an orbit to cost twice as much."""
    changed(monkeypatch, Closure, "_field", lambda told: (*told[:6], 2 * told[6], *told[7:]))


def too_small_area(monkeypatch: pytest.MonkeyPatch) -> None:
    """The closure wants a few cells less."""
    changed(monkeypatch, Closure, "total", lambda total: total - 4)


def contact_in_points_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both searches are told that only orbits which share two corners meet."""
    split = Field._split.func

    def near(field: Field) -> tuple[frozenset[int], ...]:
        corners = [corners for corners, _ in split(field)]
        return tuple(
            frozenset(
                other
                for other, theirs in enumerate(corners)
                if index == other or field.conflicts[index] & {other} or len(own & theirs) > 8
            )
            for index, own in enumerate(corners)
        )

    monkeypatch.setattr(Field, "near", property(near))


def one_neighbour_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two orbits at the centre of an odd board are not told to meet."""
    changed(
        monkeypatch,
        Field,
        "near",
        lambda near: tuple(met - {0, 1} | {at} for at, met in enumerate(near)),
    )


def one_mirror_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    changed(monkeypatch, Field, "mirrors", lambda mirrors: (mirrors[0], mirrors[0]))


def overlaps_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    changed(monkeypatch, Field, "conflicts", lambda found: tuple(frozenset() for _ in found))


def missing_links_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bysat, "missing_links", lambda *_: [])
    bysat.missing_links.__module__, bysat.missing_links.__name__ = bysat.__name__, "missing_links"


def overlapping_placements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Writer, "at_most_one", lambda *_: None)


def too_short_blocking_clauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each clause that rules out a shape lacks an orbit."""

    class Hasty(pysat.solvers.Solver):  # type: ignore[misc]
        def add_clause(self, clause: list[int], no_return: bool = True) -> Any:
            return super().add_clause(clause[:-1] if max(clause) < 0 else clause, no_return)

    monkeypatch.setattr(pysat.solvers, "Solver", Hasty)


CLOSURE, SAT = "by_closure", "shapes_by_sat"
FAULTS = {
    too_short_trees: {CLOSURE},
    too_small_area: {CLOSURE},
    contact_in_points_forgotten: {CLOSURE, SAT},
    one_neighbour_forgotten: {CLOSURE, SAT},
    one_mirror_forgotten: {CLOSURE, SAT},
    overlaps_forgotten: {CLOSURE, SAT},
    missing_links_forgotten: {SAT},
    overlapping_placements: {SAT},
    too_short_blocking_clauses: {SAT},
}


@pytest.mark.every(2)
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_noticed(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    noticed = set[str]()
    for task in TASKS:
        noticed |= wrong(task, rigid=True) | wrong(task, rigid=False)
        assert noticed <= FAULTS[plant]
        if noticed == FAULTS[plant]:
            return
    pytest.fail(f"only noticed: {noticed}")
