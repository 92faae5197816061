"""Libraries as engines: compared with the reference engine, limited by budgets, stopped, missing,
broken."""

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

from fabkit.core.errors import ExternalError, install_hint
from fabkit.solve.engines.cpsat import CpSat
from fabkit.solve.engines.engine import Budget, Outcome, Solution
from fabkit.solve.engines.mip import Mip
from fabkit.solve.engines.sat import Sat
from fabkit.solve.engines.subprocess_engine import SubprocessEngine, run_in_subprocess
from fabkit.solve.exact_cover import ExactCoverProblem, Option
from tests.support.algorithm_x import AlgorithmX
from tests.support.problems import dominoes, impossible_rectangle, pigeons, problems

ENGINES: tuple[type[SubprocessEngine], ...] = (Sat, CpSat, Mip)
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


#: More solutions than anything lists in a lifetime.
ENDLESS = dominoes(12)


def sought(
    engine: type[SubprocessEngine], problem: ExactCoverProblem, limit: int | None
) -> list[Solution]:
    """What an engine's search finds; called in a process that loads only that library."""
    found: list[Solution] = []
    engine.run_library(problem, limit, lambda solution: found.append(tuple(solution)))
    return found


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[[type[SubprocessEngine]], Executor]]:
    """For each engine a process that stays, as starting one for every problem would take long."""
    with contextlib.ExitStack() as stack:

        @cache
        def pool(engine: type[SubprocessEngine]) -> Executor:
            fresh = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            return stack.enter_context(fresh)

        yield pool


sat_by_default = pytest.mark.parametrize(
    "engine", [Sat, *(pytest.param(one, marks=pytest.mark.integration) for one in (CpSat, Mip))]
)


@sat_by_default
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(problem=problems())
def test_engines_find_what_algorithm_x_finds(
    engine: type[SubprocessEngine],
    problem: ExactCoverProblem,
    elsewhere: Callable[[type[SubprocessEngine]], Executor],
) -> None:
    expected = AlgorithmX().enumerate(problem, Budget(), limit=300)
    assume(expected.complete)
    pool = elsewhere(engine)
    assert sorted(pool.submit(sought, engine, problem, None).result()) == sorted(expected.solutions)
    for limit in (1, 2):
        some = pool.submit(sought, engine, problem, limit).result()
        assert len(set(some)) == min(limit, expected.count)
        assert set(some) <= set(expected.solutions)


@every_engine
def test_what_can_be_asked(engine: type[SubprocessEngine]) -> None:
    board, progress = dominoes(4), list[float]()
    expected = AlgorithmX().enumerate(board, Budget())
    answer = engine().enumerate(board, Budget(progress=lambda share, _: progress.append(share)))
    assert (answer.count, answer.complete) == (36, True)
    assert sorted(answer.solutions) == sorted(expected.solutions)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    second = engine().unique(board, Budget())
    assert (second.count, second.complete) == (2, False)
    single = ExactCoverProblem(1, (1,), (Option(0, (0,)),))
    alone = engine().unique(single, Budget())
    assert (alone.solutions, alone.complete) == (((0,),), True)
    assert engine().enumerate(board, Budget(), limit=0) == Outcome(0, False)
    outcome = engine().first(impossible_rectangle(), Budget(60))
    assert (outcome.count, outcome.complete) == (0, True)
    spent = engine().enumerate(ENDLESS, Budget(0.05))
    assert not spent.complete
    assert spent.count == len(spent.solutions)


# Budgets


def test_a_search_in_the_middle_of_its_depths_is_ended() -> None:
    assert Sat().first(pigeons(14), Budget(0.4)) == Outcome(0, False)


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


@pytest.mark.integration
def test_a_broken_child_is_reported_after_what_it_answered() -> None:
    killed = "killed, probably because it ran out of memory"
    for work, message in (
        (be_killed, killed),
        (exhaust_memory, killed),
        (stumble, r"failed \(exit code 1\): lines\\x1b\[31m$"),
    ):
        replies = run_in_subprocess(work, None, Budget())
        if work is stumble:
            assert next(replies) == 1
        with pytest.raises(ExternalError, match=message):
            list(replies)


def ignore_its_task(_task: Any, answer: Callable[[Any], None]) -> None:
    answer("done")


@pytest.mark.integration
def test_large_tasks_arrive() -> None:
    task = ["x" * 1000] * 10_000
    assert list(run_in_subprocess(ignore_its_task, task, Budget())) == ["done"]


# Surroundings


def test_files_beside_the_user_are_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "random", "signal", "fabkit", "numpy", "pysat"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    assert Sat().count(dominoes(2), Budget()).count == 2


MISSING = [
    (Sat, "pysat", "sat needs PySAT; install it with: pip install python-sat"),
    (CpSat, "ortools", f"cp-sat needs OR-Tools; install it {install_hint('engines')}"),
    (Mip, "highspy", f"mip needs HiGHS; install it {install_hint('engines')}"),
]


def test_a_missing_or_broken_library_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for engine, module, message in MISSING:
        (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError({module!r})\n")
        with pytest.raises(ExternalError) as caught:
            engine().first(dominoes(2), Budget())
        assert str(caught.value) == f"the engine {message}"
    (tmp_path / "highspy.py").write_text("raise ImportError('undefined symbol')\n")
    with pytest.raises(
        ExternalError, match="mip needs HiGHS, which cannot be loaded: undefined symbol"
    ):
        Mip().first(dominoes(2), Budget())
