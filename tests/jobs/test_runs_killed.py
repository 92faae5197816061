"""Long runs and kills: nothing that was put is lost or done again, and nobody is left behind."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest

from fabkit.core.errors import OutsideError
from fabkit.jobs.ledger import LEDGER_NAME, Ledger
from fabkit.jobs.pool import local_pool
from fabkit.jobs.work import Shard, run_shards
from tests.support.shards import PROBLEM, child, hashing, said, wait_for, wrong

KILLS = 20
linux = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")


def finished(folder: Path) -> set[int]:
    """What the ledger holds after a kill."""
    with Ledger(folder, PROBLEM) as ledger:
        keys = ledger.keys()
    return {int(key.removeprefix("hash/")) for key in keys}


def unbroken(folder: Path, count: int) -> list[bytes]:
    shards = hashing(folder / "unbroken.log", count, 0.0)
    with local_pool(1) as pool, Ledger(folder / "unbroken", PROBLEM) as ledger:
        return run_shards(shards, ledger, pool)


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
            if chance.random() < 0.5:  # wherever it is, also while it starts
                time.sleep(chance.uniform(0.0, 0.2))
            else:  # at work
                wait_for(log, min(len(said(log)) + chance.randint(1, 12), count), one)
                time.sleep(chance.uniform(0.0, 0.01))
            one.process.kill()
            _, err = one.end()
            assert err == ""
            assert one.left() == []
        # The lock fell with the process, so that this enters at once.
        now = finished(folder)
        assert now >= held
        times = Counter(said(log))
        for number in now - held:
            times_when_held[number] = times[number]
        held = now
        before_the_end += len(held) < count
    shards = hashing(log, count, 0.0)
    with local_pool(workers) as pool, Ledger(folder, PROBLEM) as ledger:
        results = run_shards(shards, ledger, pool)
        assert ledger.keys() == {shard.key for shard in shards}
    assert results == unbroken(tmp_path, count)
    times = Counter(said(log))
    assert set(times) == set(range(count))
    for number, so_many in times_when_held.items():  # done no more, once it was put
        assert times[number] == so_many
    # Only what was in flight at a kill was done again.
    assert sum(times.values()) - count <= kills * workers
    assert before_the_end > kills // 2  # the kills were no formality
    assert held


@linux
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_killed_at_random_moments(workers: int, tmp_path: Path) -> None:
    kill_and_go_on(tmp_path, workers, 300, KILLS, seed=workers)


@pytest.mark.every(5)
@linux
@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_killed_more_often(seed: int, tmp_path: Path) -> None:
    kill_and_go_on(tmp_path, 1 + seed % 4, 1000, 60, seed=100 + seed)


@linux
def test_a_ledger_that_forgets_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check above can fail: here, every opening loses a result."""
    usual = Ledger.__enter__

    def forgets(ledger: Ledger) -> Ledger:
        opened = usual(ledger)
        opened._connection.execute(
            "DELETE FROM results WHERE rowid = (SELECT min(rowid) FROM results)"
        )
        return opened

    monkeypatch.setattr(Ledger, "__enter__", forgets)
    with pytest.raises(AssertionError):
        kill_and_go_on(tmp_path, 1, 100, 8, seed=1)


# --- workers ----------------------------------------------------------------------------------------


@linux
@pytest.mark.parametrize("workers", [2, 4])
def test_killed_workers_are_replaced(workers: int, tmp_path: Path) -> None:
    """Now and then one is killed from outside; the run notices nothing but the time."""
    log, folder = tmp_path / "log", tmp_path / "run"
    with child(f"run({str(folder)!r}, {str(log)!r}, 200, {workers}, 0.02)") as one:
        killed = 0
        wait_for(log, 2, one)
        while killed < 5 and one.process.poll() is None:
            # The one that ended a shard last: it is at a new one, so that none is hit twice.
            os.kill(int(log.read_text().split()[-1]), signal.SIGKILL)
            killed += 1
            wait_for(log, len(said(log)) + 3 * workers, one)
        assert one.end() == ("", "")
        assert one.process.returncode == 0
        assert one.left() == []
    assert killed == 5
    times = Counter(said(log))
    assert set(times) == set(range(200))
    assert sum(times.values()) - 200 <= killed
    shards = hashing(log, 200, 0.0)
    with local_pool(1) as pool, Ledger(folder, PROBLEM) as ledger:
        assert run_shards(shards, ledger, pool) == unbroken(tmp_path, 200)
    assert Counter(said(log)) == times


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (
            "killed",
            "a worker process was killed, most likely because memory ran out (fewer workers "
            'need less), twice at the shard "bad"',
        ),
        (
            "segfault",
            'a worker process broke down (exit code 11: a last word), twice at the shard "bad"',
        ),
    ],
)
def test_a_shard_that_kills_its_worker_is_tried_twice(
    kind: str, reason: str, tmp_path: Path
) -> None:
    log, bad = tmp_path / "log", tmp_path / "bad"
    shards = [*hashing(log, 3, 0.0), Shard("bad", wrong, (kind, str(bad)))]
    with local_pool(2) as pool, Ledger(tmp_path / "run", PROBLEM) as ledger:
        with pytest.raises(OutsideError) as failure:
            run_shards(shards, ledger, pool)
        assert str(failure.value) == reason
        held = ledger.keys()
        assert "hash/0" in held  # what others finished
        assert len(held) >= len(said(log)) - 1
        assert run_shards(shards[:3], ledger, pool) == unbroken(tmp_path, 3)  # the pool goes on
    assert len(said(bad)) == 2
    assert len(said(log)) <= 4


def test_a_worker_that_dies_once_does_no_harm(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with local_pool(2) as pool, Ledger(tmp_path / "run", PROBLEM) as ledger:
        assert run_shards([Shard("bad", wrong, ("once", str(log)))], ledger, pool) == [b"at last"]
    assert len(said(log)) == 2


# --- Ctrl-C, and the parent's end -------------------------------------------------------------------


@linux
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("to_all", [True, False], ids=["group", "parent"])
def test_ctrl_c_stops_at_once(to_all: bool, workers: int, tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / "run"
    with child(f"run({str(folder)!r}, {str(log)!r}, 9999, {workers}, 0.05)") as one:
        wait_for(log, 4, one)
        start = time.monotonic()
        for process in [one.process.pid, *(one.workers() if to_all else [])]:
            with contextlib.suppress(ProcessLookupError):  # the parent may have ended it already
                os.kill(process, signal.SIGINT)
        _, err = one.end()
        assert time.monotonic() - start < 2.0
        assert err.count("Traceback") == 1  # the parent's own
        assert err.splitlines()[-1] == "KeyboardInterrupt"
        assert one.left(1.0) == []
    done = finished(folder)
    assert done
    assert len(said(log)) - len(done) <= workers


@linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_in_kernels_end_with_the_parent(how: signal.Signals, tmp_path: Path) -> None:
    """Kernels hold Python's lock: no thread of the worker could notice anything."""
    log, folder = tmp_path / "log", tmp_path / "run"
    with child(f"spin({str(folder)!r}, {str(log)!r}, 2)") as one:
        wait_for(log, 2, one)
        assert len(one.workers()) == 2
        os.kill(one.process.pid, how)
        one.end()
        assert one.left(1.0) == []


def test_a_kill_in_the_middle_of_the_first_opening(tmp_path: Path) -> None:
    """The ledger appears whole or not at all; what is left of an attempt is swept away."""
    call = (
        "import fabkit.jobs.ledger as l; l._flush_names = None\n"
        "def die(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "l.Staging.commit = die\n"
        f"with Ledger(Path({str(tmp_path)!r}), PROBLEM): pass"
    )
    with child(call) as one:
        one.end()
        assert one.process.returncode == -signal.SIGKILL
    assert not (tmp_path / LEDGER_NAME).exists()
    assert list(tmp_path.glob("*.part"))
    with Ledger(tmp_path, PROBLEM) as ledger:
        assert ledger.keys() == set()
    assert not list(tmp_path.glob("*.part"))


def test_what_was_put_is_there_before_the_next_step(tmp_path: Path) -> None:
    """Read from outside, from the files alone, as after a power failure."""
    copy = tmp_path / "copy"
    copy.mkdir()
    with Ledger(tmp_path / "run", PROBLEM) as ledger:
        ledger.put("a", b"result")
        for path in (tmp_path / "run").glob("ledger*"):
            (copy / path.name).write_bytes(path.read_bytes())
    with sqlite3.connect(copy / LEDGER_NAME) as connection:
        assert connection.execute("SELECT result FROM results").fetchall() == [(b"result",)]
    connection.close()
