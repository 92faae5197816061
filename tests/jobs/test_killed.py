"""Long runs and kills: nothing that was put is lost or done again, and nobody is left behind."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest

from fabkit.core.errors import OutsideError
from fabkit.jobs.checkpoint import CHECKPOINT_NAME, Checkpoint
from fabkit.jobs.run import Task, local_pool, run_tasks
from tests.support.tasks import PROBLEM, child, hashed, hashing, said, wait_for, wrong

KILLS, FEW_KILLS = 20, 4
linux = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")


def finished(folder: Path) -> set[int]:
    """What the checkpoint holds after a kill."""
    with Checkpoint(folder, PROBLEM) as checkpoint:
        keys = checkpoint.keys()
    return {int(key.removeprefix("hash/")) for key in keys}


def unbroken(folder: Path, count: int) -> list[bytes]:
    tasks = hashing(folder / "unbroken.log", count, 0.0)
    with local_pool(1) as pool, Checkpoint(folder / "unbroken", PROBLEM) as checkpoint:
        return run_tasks(tasks, checkpoint, pool)


def kill_and_go_on(tmp_path: Path, workers: int, count: int, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    log, folder = tmp_path / "log", tmp_path / "run"
    seconds = 0.003 * workers
    call = f"run({str(folder)!r}, {str(log)!r}, {count}, {workers}, {seconds})"
    held: set[int] = set()
    times_when_held: dict[int, int] = {}
    before_the_end = 0
    for _ in range(kills):
        with child(call) as one:
            if chance.random() < 0.3:  # wherever it is, also while it starts
                time.sleep(chance.uniform(0.0, 0.6))
            else:  # at work
                wait_for(log, min(len(said(log)) + chance.randint(4, 12), count), one)
                time.sleep(chance.uniform(0.0, 0.01))
            one.process.kill()
            _, err = one.end()
            assert not err or "spawn_main" in err  # a worker that was about to start
            assert one.left() == []
        # The lock fell with the process, so that this enters at once.
        now = finished(folder)
        assert now >= held
        times = Counter(said(log))
        for number in now - held:
            times_when_held[number] = times[number]
        held = now
        before_the_end += len(held) < count
    tasks = hashing(log, count, 0.0)
    with local_pool(workers) as pool, Checkpoint(folder, PROBLEM) as checkpoint:
        results = run_tasks(tasks, checkpoint, pool)
        assert checkpoint.keys() == {task.key for task in tasks}
    assert results == unbroken(tmp_path, count)
    times = Counter(said(log))
    assert set(times) == set(range(count))
    for number, so_many in times_when_held.items():  # done no more, once it was put
        assert times[number] == so_many
    # Only what was in flight at a kill, or had not been put yet, was done again.
    assert sum(times.values()) - count <= kills * (workers + 4)
    assert before_the_end > kills // 2  # the kills were no formality
    assert held


@linux
@pytest.mark.parametrize(
    ("workers", "kills"),
    [
        (2, FEW_KILLS),
        *(pytest.param(workers, KILLS, marks=pytest.mark.integration) for workers in (1, 2, 4)),
    ],
)
def test_killed_at_random_moments(workers: int, kills: int, tmp_path: Path) -> None:
    kill_and_go_on(tmp_path, workers, 15 * kills, kills, seed=workers)


# --- workers ----------------------------------------------------------------------------------------


@linux
@pytest.mark.integration
def test_killed_workers_are_replaced(tmp_path: Path) -> None:
    """Now and then one is killed from outside; the run notices nothing but the time."""
    log, folder = tmp_path / "log", tmp_path / "run"
    with child(f"run({str(folder)!r}, {str(log)!r}, 200, 2, 0.02)") as one:
        for _ in range(5):
            wait_for(log, len(said(log)) + 6, one)
            os.kill(int(log.read_text().split()[-1]), signal.SIGKILL)
        assert one.end() == ("", "")
        assert one.process.returncode == 0
        assert one.left() == []
    tasks = hashing(log, 200, 0.0)
    with local_pool(1) as pool, Checkpoint(folder, PROBLEM) as checkpoint:
        assert run_tasks(tasks, checkpoint, pool) == unbroken(tmp_path, 200)
    times = Counter(said(log))
    assert set(times) == set(range(200))
    assert sum(times.values()) - 200 <= 5 * 2


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (
            "killed",
            "a worker process was killed, most likely because memory ran out (fewer workers "
            'need less), twice at the task "bad"',
        ),
        ("segfault", 'a worker process broke down (exit code 11), twice at the task "bad"'),
    ],
)
def test_a_task_that_kills_its_worker_is_tried_again(
    kind: str, reason: str, tmp_path: Path
) -> None:
    log, bad = tmp_path / "log", tmp_path / "bad"
    tasks = [*hashing(log, 3, 0.0), Task("bad", wrong, (kind, str(bad)))]
    with local_pool(2) as pool, Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
        with pytest.raises(OutsideError) as failure:
            run_tasks(tasks, checkpoint, pool)
        assert str(failure.value) == reason
        assert checkpoint.keys() == {"hash/0", "hash/1", "hash/2"}
        assert run_tasks(tasks[:3], checkpoint, pool) == unbroken(tmp_path, 3)
        more = [Task("again", hashed, (str(log), 7, 0.0))]
        assert run_tasks(more, checkpoint, pool)  # the pool goes on
    assert len(said(bad)) >= 2


def test_a_worker_that_dies_once_does_no_harm(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with local_pool(2) as pool, Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
        assert run_tasks([Task("bad", wrong, ("once", str(log)))], checkpoint, pool) == [b"at last"]
    assert len(said(log)) == 2


# --- Ctrl-C, and the parent's end -------------------------------------------------------------------


@linux
@pytest.mark.parametrize("to_all", [True, False], ids=["group", "parent"])
def test_ctrl_c_stops_at_once(to_all: bool, tmp_path: Path) -> None:
    workers = 2
    log, folder = tmp_path / "log", tmp_path / "run"
    with child(f"run({str(folder)!r}, {str(log)!r}, 400, {workers}, 0.05)") as one:
        wait_for(log, 8, one)
        start = time.monotonic()
        (os.killpg if to_all else os.kill)(one.process.pid, signal.SIGINT)
        _, err = one.end()
        assert time.monotonic() - start < 2.0
        assert err.count("Traceback") == 1  # the parent's own
        assert err.splitlines()[-1] == "KeyboardInterrupt"
        assert one.left(1.0) == []
    done = finished(folder)
    assert done
    assert len(said(log)) - len(done) <= workers + 2


@linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_in_kernels_end_with_the_parent(how: signal.Signals, tmp_path: Path) -> None:
    """Kernels hold Python's lock: no thread of the worker could notice anything."""
    log, folder = tmp_path / "log", tmp_path / "run"
    with child(f"spin({str(folder)!r}, {str(log)!r}, 2)") as one:
        wait_for(log, 2, one)
        assert len(one.workers()) >= 2
        os.kill(one.process.pid, how)
        one.end()
        assert one.left(1.0) == []


def test_a_kill_in_the_middle_of_the_first_opening(tmp_path: Path) -> None:
    """The checkpoint appears whole or not at all; what is left of an attempt is swept away."""
    call = (
        "import fabkit.jobs.checkpoint as l\n"
        "def die(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "l.Staging.commit = die\n"
        f"with Checkpoint(Path({str(tmp_path)!r}), PROBLEM): pass"
    )
    with child(call) as one:
        one.end()
        assert one.process.returncode == -signal.SIGKILL
    assert not (tmp_path / CHECKPOINT_NAME).exists()
    assert list(tmp_path.glob("*.part"))
    with Checkpoint(tmp_path, PROBLEM) as checkpoint:
        assert checkpoint.keys() == set()
    assert not list(tmp_path.glob("*.part"))


def test_what_was_put_is_there_before_the_next_step(tmp_path: Path) -> None:
    """Read from outside, from the files alone, as after a power failure."""
    copy = tmp_path / "copy"
    copy.mkdir()
    with Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
        checkpoint.put("a", b"result")
        for path in (tmp_path / "run").glob("ledger*"):
            (copy / path.name).write_bytes(path.read_bytes())
    with sqlite3.connect(copy / CHECKPOINT_NAME) as connection:
        assert connection.execute("SELECT result FROM results").fetchall() == [(b"result",)]
    connection.close()
