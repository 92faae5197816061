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

from fabkit.core.errors import ExternalError
from fabkit.jobs.checkpoint import CHECKPOINT_NAME, Checkpoint
from fabkit.jobs.run import Task, local_pool, run_tasks
from tests.support.tasks import PROBLEM, child, hashed, hashing, logged, tagged, wait_for, wrong

linux = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")


def finished(folder: Path) -> set[int]:
    """What the checkpoint holds after a kill: the lock fell with the process."""
    with Checkpoint(folder, PROBLEM) as checkpoint:
        return {int(key.removeprefix("hash/")) for key in checkpoint.keys()}  # noqa: SIM118


def unbroken(folder: Path, count: int) -> list[bytes]:
    tasks = hashing(folder / "unbroken.log", count, 0.0)
    with local_pool(1) as pool, Checkpoint(folder / "unbroken", PROBLEM) as checkpoint:
        return run_tasks(tasks, checkpoint, pool)


@linux
@pytest.mark.parametrize(
    ("workers", "kills"),
    [(2, 3), *(pytest.param(n, 20, marks=pytest.mark.integration) for n in (1, 4))],
)
def test_killed_at_random_moments(workers: int, kills: int, tmp_path: Path) -> None:
    """Each run waits after a few results, and so ends by its kill, however quick it is."""
    chance, log, folder = random.Random(workers), tmp_path / "log", tmp_path / "run"
    ahead = 2 * workers + 1  # so many tasks are with the workers at a time
    count = kills * (4 + ahead)
    tasks = f"hashing(Path({str(log)!r}), {count}, 0.003)"
    held, times_when_held = set[int](), dict[int, int]()
    for _ in range(kills):
        most = len(logged(log)) + chance.randint(1, 4)
        with child(f"run({str(folder)!r}, {str(log)!r}, {tasks}, {workers}, {most})") as one:
            if chance.random() < 0.7:  # at work
                wait_for(log, most, one)
            time.sleep(chance.uniform(0.0, 0.01 if len(logged(log)) >= most else 0.6))
            one.process.kill()
            _, err = one.end()
            assert not err
            assert one.left() == []
        now, times = finished(folder), Counter(logged(log))
        assert held <= now
        times_when_held |= {number: times[number] for number in now - held}
        held = now
    assert 0 < len(held) < count
    left = hashing(log, count, 0.0)
    with local_pool(workers) as pool, Checkpoint(folder, PROBLEM) as checkpoint:
        assert run_tasks(left, checkpoint, pool) == unbroken(tmp_path, count)
    times = Counter(logged(log))
    assert set(times) == set(range(count))
    assert {number: times[number] for number in held} == times_when_held  # done no more
    # Only what was with the workers at a kill was done again.
    assert sum(times.values()) - count <= kills * ahead


# --- workers
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (
            "killed",
            "a worker process was killed, most likely because memory ran out "
            '(use fewer workers), twice at the task "bad"',
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
        with pytest.raises(ExternalError) as failure:
            run_tasks(tasks, checkpoint, pool)
        assert str(failure.value) == reason
        assert checkpoint.keys() == {"hash/0", "hash/1", "hash/2"}
        assert run_tasks(tasks[:3], checkpoint, pool) == unbroken(tmp_path, 3)
        more = [
            Task("again", hashed, (str(log), 7, 0.0)),
            Task("once", wrong, ("once", str(tmp_path / "once"))),
        ]
        assert run_tasks(more, checkpoint, pool)[1] == b"at last"  # the pool goes on
    assert len(logged(bad)) >= 2
    assert len(logged(tmp_path / "once")) == 2


# --- Ctrl-C, and the parent's end
# -------------------------------------------------------------------


@linux
@pytest.mark.parametrize("to_all", [True, False], ids=["group", "parent"])
def test_ctrl_c_stops_at_once(to_all: bool, tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / "run"
    tasks = f"hashing(Path({str(log)!r}), 4000, 0.05)"
    with child(f"run({str(folder)!r}, {str(log)!r}, {tasks}, 2)") as one:
        wait_for(log, 8, one)
        (os.killpg if to_all else os.kill)(one.process.pid, signal.SIGINT)
        _, err = one.end()
        assert err.count("Traceback") == 1  # the parent's own
        assert err.splitlines()[-1] == "KeyboardInterrupt"
        assert one.left() == []
    done = finished(folder)
    assert 0 < len(done) < 4000
    assert len(logged(log)) - len(done) <= 5


@linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_in_kernels_end_with_the_parent(how: signal.Signals, tmp_path: Path) -> None:
    """Kernels hold Python's lock: no thread of the worker could notice anything."""
    log, folder = tmp_path / "log", tmp_path / "run"
    tasks = f"[Task(str(n), spins, ({str(log)!r}, 60.0)) for n in range(2)]"
    with child(f"run({str(folder)!r}, {str(log)!r}, {tasks}, 2)") as one:
        wait_for(log, 2, one)
        assert len(tagged(one.tag)) >= 3
        os.kill(one.process.pid, how)
        one.end()
        assert one.left() == []


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
    assert finished(tmp_path) == set()
    assert not list(tmp_path.glob("*.part"))


def test_what_was_put_is_there_before_the_next_step(tmp_path: Path) -> None:
    """Read from outside, from the files alone, as after a power failure."""
    copy = tmp_path / "copy"
    copy.mkdir()
    with Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
        checkpoint.put("a", b"result")
        for path in (tmp_path / "run").glob("checkpoint*"):
            (copy / path.name).write_bytes(path.read_bytes())
    with sqlite3.connect(copy / CHECKPOINT_NAME) as connection:
        assert connection.execute("SELECT result FROM results").fetchall() == [(b"result",)]
    connection.close()
