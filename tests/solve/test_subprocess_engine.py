"""Libraries as engines: against the oracle, held to budgets, ended at once, missing, broken."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from fabkit.core.errors import OutsideError, to_install
from fabkit.solve.engines.apart import OutsideEngine, answers
from fabkit.solve.engines.cpsat import CpSat
from fabkit.solve.engines.engine import Effort, Outcome, Solution
from fabkit.solve.engines.mip import Mip
from fabkit.solve.engines.sat import Sat
from fabkit.solve.problem import ExactCoverProblem, Option
from tests.support.oracle import Oracle
from tests.support.problems import dominoes, impossible_rectangle, pigeons, problems

ENGINES: tuple[type[OutsideEngine], ...] = (Sat, CpSat, Mip)
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


#: More solutions than anything lists in a lifetime.
ENDLESS = dominoes(12)


def sought(
    engine: type[OutsideEngine], problem: ExactCoverProblem, limit: int | None
) -> list[Solution]:
    """What an engine's search finds; called in a process that loads only that library."""
    found: list[Solution] = []
    engine.seek(problem, limit, lambda solution: found.append(tuple(solution)))
    return found


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[[type[OutsideEngine]], Executor]]:
    """For each engine a process that stays, as starting one for every problem would take long."""
    with contextlib.ExitStack() as stack:

        @cache
        def pool(engine: type[OutsideEngine]) -> Executor:
            fresh = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            return stack.enter_context(fresh)

        yield pool


sat_by_default = pytest.mark.parametrize(
    "engine",
    [Sat, *(pytest.param(one, marks=pytest.mark.integration) for one in (CpSat, Mip))],
)


@sat_by_default
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(problem=problems())
def test_engines_find_what_the_oracle_finds(
    engine: type[OutsideEngine],
    problem: ExactCoverProblem,
    elsewhere: Callable[[type[OutsideEngine]], Executor],
) -> None:
    expected = Oracle().enumerate(problem, Effort(), limit=300)
    assume(expected.complete)
    pool = elsewhere(engine)
    assert sorted(pool.submit(sought, engine, problem, None).result()) == sorted(expected.solutions)
    for limit in (1, 2):
        some = pool.submit(sought, engine, problem, limit).result()
        assert len(set(some)) == min(limit, expected.count)
        assert set(some) <= set(expected.solutions)


@every_engine
def test_what_can_be_asked(engine: type[OutsideEngine]) -> None:
    board, told = dominoes(4), list[float]()
    expected = Oracle().enumerate(board, Effort())
    every = engine().enumerate(board, Effort(told=told.append))
    assert (every.count, every.complete) == (36, True)
    assert sorted(every.solutions) == sorted(expected.solutions)
    assert (told[0], told[-1]) == (0.0, 1.0)
    second = engine().unique(board, Effort())
    assert (second.count, second.complete) == (2, False)
    single = ExactCoverProblem(1, (1,), (Option(0, (0,)),))
    alone = engine().unique(single, Effort())
    assert (alone.solutions, alone.complete) == (((0,),), True)
    assert engine().enumerate(board, Effort(), limit=0) == Outcome(0, False)
    outcome = engine().first(impossible_rectangle(), Effort(60))
    assert (outcome.count, outcome.complete) == (0, True)
    spent = engine().enumerate(ENDLESS, Effort(0.05))
    assert not spent.complete
    assert spent.count == len(spent.solutions)


# Budgets


def test_a_search_in_the_middle_of_its_depths_is_ended() -> None:
    assert Sat().first(pigeons(14), Effort(0.4)) == Outcome(0, False)


# Ctrl-C, a killed parent, broken children


def be_killed(_task: Any, _answer: Callable[[Any], None]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def exhaust_memory(_task: Any, _answer: Callable[[Any], None]) -> None:
    raise MemoryError


def stumble(_task: Any, answer: Callable[[Any], None]) -> None:
    print("a library that prints")
    os.write(1, b"and one that writes")
    answer(1)
    raise ValueError("three\nlines\x1b[31m")


def test_a_broken_child_is_told_after_what_it_answered() -> None:
    killed = "killed, most likely because memory ran out"
    for work, message in (
        (be_killed, killed),
        (exhaust_memory, killed),
        (stumble, r"broke down \(exit code 1\): lines\\x1b\[31m$"),
    ):
        replies = answers(work, None, Effort())
        if work is stumble:
            assert next(replies) == 1
        with pytest.raises(OutsideError, match=message):
            list(replies)


def ignore_its_task(_task: Any, answer: Callable[[Any], None]) -> None:
    answer("done")


def test_large_tasks_arrive() -> None:
    task = ["x" * 1000] * 10_000
    assert list(answers(ignore_its_task, task, Effort())) == ["done"]


# Surroundings


def test_files_beside_the_user_are_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "random", "signal", "fabkit", "numpy", "pysat"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    assert Sat().count(dominoes(2), Effort()).count == 2


MISSING = [
    (Sat, "pysat", "sat needs PySAT; install it with: pip install python-sat"),
    (CpSat, "ortools", f"cp-sat needs OR-Tools; install it {to_install('engines')}"),
    (Mip, "highspy", f"mip needs HiGHS; install it {to_install('engines')}"),
]


def test_a_missing_or_broken_library_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for engine, module, message in MISSING:
        (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError({module!r})\n")
        with pytest.raises(OutsideError) as caught:
            engine().first(dominoes(2), Effort())
        assert str(caught.value) == f"the engine {message}"
    (tmp_path / "highspy.py").write_text("raise ImportError('undefined symbol')\n")
    with pytest.raises(OutsideError, match="mip cannot load HiGHS: undefined symbol"):
        Mip().first(dominoes(2), Effort())
