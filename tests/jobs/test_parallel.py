"""Calls side by side: the same results in the same order, whatever workers there are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabkit.core.errors import InputError
from fabkit.jobs.parallel import Calls, all_cores

#: A script without a check of ``__name__``.
SCRIPT = """
from fabkit.jobs import parallel
parallel.core_count = lambda: 2
print("begin")
with parallel.all_cores():
    print(parallel.Calls(divmod, [(7, 2), (9, 4)], ["7", "9"]).results())
"""
NAMES = [str(number) for number in range(12)]


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabkit.jobs.parallel.core_count", lambda: 2)


def square(number: int) -> tuple[int, int]:
    time.sleep(0.02)
    return number * number, os.getpid()


def fail_at(number: int, wrong: int) -> int:
    if number == wrong:
        raise InputError.of(str(number), "is wrong")
    return number


def die_in_worker(number: int, parent: int) -> int:
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_results_come_in_order_from_both_processes(two_cores: None) -> None:
    shares = []
    with all_cores():
        Calls(square, [(0,)], ["start"]).results()  # the worker has started
        calls = [(number,) for number in range(12)]
        results = Calls(square, calls, NAMES).results(lambda share, _: shares.append(share))
    assert [number for number, _ in results] == [number * number for number in range(12)]
    assert len({process for _, process in results}) == 2
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_without_workers_all_calls_are_made_here_in_order() -> None:
    texts: list[str] = []
    results = Calls(square, [(1,), (2,)], NAMES).results(lambda _, text: texts.append(text))
    assert results == [(1, os.getpid()), (4, os.getpid())]
    assert texts == ["0/2 0", "1/2 1", ""]


@pytest.mark.parametrize("wrong", [0, 11])
def test_an_error_is_raised_once_and_the_workers_go_on(two_cores: None, wrong: int) -> None:
    with all_cores():
        with pytest.raises(InputError, match=f"{wrong}: is wrong"):
            Calls(fail_at, [(number, wrong) for number in range(12)], NAMES).results()
        assert Calls(fail_at, [(number, 12) for number in range(12)], NAMES).results()[11] == 11


def test_a_call_that_helps_may_ask_for_the_same_results(two_cores: None) -> None:
    with all_cores():
        slow = Calls(square, [(3,)], ["slow"])  # the only worker is busy with it
        asking = Calls(slow.results, [()], ["asking"])
        assert slow.results()[0][0] == 9
        assert asking.results() == [slow.results()]


def test_what_a_lost_worker_had_begun_is_repeated_here(two_cores: None) -> None:
    with all_cores():
        calls = Calls(die_in_worker, [(number, os.getpid()) for number in range(3)], NAMES)
        time.sleep(0.5)
        assert calls.results() == [0, 1, 2]


@pytest.mark.integration
def test_the_calls_after_those_of_a_lost_worker_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabkit.jobs.parallel.core_count", lambda: 4)
    with all_cores():
        lost = Calls(
            die_in_worker, [(number, os.getpid()) for number in range(2)], NAMES
        ).in_order()
        time.sleep(1)
        assert next(lost) == 0
        others = Calls(square, [(number,) for number in range(12)], NAMES)
        assert next(lost) == 1
        assert [number for number, _ in others.results()] == [number**2 for number in range(12)]


def test_a_script_is_not_run_again_by_its_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("begin\n[(3, 1), (2, 1)]\n", "")


def test_without_room_for_workers_all_calls_are_made_here(
    two_cores: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr("subprocess.Popen", refuse)
    with all_cores():
        results = Calls(square, [(1,), (2,)], NAMES).results()
    assert results == [(1, os.getpid()), (4, os.getpid())]
