"""`fabkit snowflakes` killed again and again, and stopped: the catalog is the same in the end."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from fabkit.cli import main
from fabkit.jobs.checkpoint import CHECKPOINT_NAME, Checkpoint
from tests.support.tasks import ROOT, Child, child, logged, say, scheduler, wait_for, worker

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc"),
]

FILES = ["snowflakes.json", "snowflakes.svg"]
#: Five squares make many shapes that may fall apart.
DOTS = '[set]\nname = "dots"\nlattice = "square"\nmoves = "rotations"\n' + "".join(
    f'\n[[piece]]\nid = "{name}"\ncells = [[0, 0]]\n' for name in "ABCDE"
)
#: Ten tasks of the search, 23 of tries, and 35 that count solutions.
WISH = ["--wandering", "--max-half-width", "12"]
WAVES = {"search": 10, "try": 23, "count": 35}
TASKS = sum(WAVES.values())
#: So many results may be put between the moment of a kill and the kill.
AHEAD = 3


def command(log: str, moment: int, *arguments: str) -> None:
    """What a killed process does: the command, and a line in a log for every result that is put.

    A few results after the moment at which it is to be killed it waits, so that it never is
    quicker than the kill, however busy the machine.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    put = Checkpoint.put

    def telling(checkpoint: Checkpoint, key: str, result: bytes) -> None:
        if len(logged(Path(log))) >= moment + AHEAD:
            time.sleep(60.0)
        put(checkpoint, key, result)
        say(log, f"1 {key}")

    Checkpoint.put = telling  # type: ignore[method-assign]
    sys.argv[1:] = ["snowflakes", *arguments]
    raise SystemExit(main())


class Run:
    """A search in a folder, begun again and again."""

    def __init__(self, folder: Path, *where: str) -> None:
        self.log, self.out, self.kept = folder / "log", folder / "out", folder / "kept"
        (folder / "dots.toml").write_text(DOTS)
        places = ["-o", str(self.out), "--resume", str(self.kept)]
        self.arguments = [str(folder / "dots.toml"), *WISH, *where, *places]

    def call(self, moment: int = TASKS) -> str:
        """What a process does that is going to be killed when so many tasks are done."""
        arguments = [str(self.log), moment, *self.arguments]
        return f"from tests.puzzles.test_snowflakes_killed import command; command(*{arguments!r})"

    def done(self) -> set[str]:
        """What the checkpoint holds, read while nobody has it open."""
        path = self.kept / CHECKPOINT_NAME
        if not path.exists():
            return set()
        with sqlite3.connect(path) as connection:
            found = {key for (key,) in connection.execute("SELECT key FROM results")}
        connection.close()
        return found

    def logged_keys(self) -> list[str]:
        """The keys that were stored, as often as they were."""
        return self.log.read_text().split()[1::2] if self.log.exists() else []

    def files(self) -> list[bytes]:
        return [(self.out / name).read_bytes() for name in FILES]

    def wrote_nothing(self) -> bool:
        return not [path for path in self.out.rglob("*") if path.name != ".fabkit.lock"]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    run = Run(tmp_path_factory.mktemp("unbroken"), "--workers", "1")
    assert main(["snowflakes", *run.arguments, "-q"]) == 0
    waves = Counter(name for key in run.done() for name in key.split("/") if name in WAVES)
    assert waves == WAVES
    return run.files()


def kill_at(run: Run, moment: int, chance: random.Random, one: Child) -> None:
    """Kills it when so many tasks are done in all; or, when they are already, while it starts."""
    if len(logged(run.log)) < moment:
        wait_for(run.log, moment, one)
        time.sleep(chance.uniform(0.0, 0.03))
    else:
        time.sleep(chance.uniform(0.0, 1.5))
    one.process.kill()
    _, err = one.end()
    # A worker of which Python has just begun the start misses its parent, and says so by itself:
    # what must not be there is a line of the project's code.
    assert f'File "{ROOT / "fabkit"}' not in err
    assert one.left() == []


def kill_and_go_on(run: Run, kills: int, halfway: Callable[[], object] = lambda: None) -> None:
    """Kills a search again and again, and lets it end at last."""
    chance, held = random.Random(2), set[str]()
    for number, moment in enumerate(sorted(chance.sample(range(TASKS - AHEAD), kills))):
        with child(run.call(moment)) as one:
            if number == kills // 2:
                halfway()
            kill_at(run, moment, chance, one)
        now = run.done()
        assert held <= now
        assert len(now) < TASKS
        held = now
        # The kill may have come between a result and its line, and lines are what is waited for.
        for key in sorted(now - set(run.logged_keys())):
            say(str(run.log), f"1 {key}")
        assert run.wrote_nothing()
    with child(run.call()) as one:
        out, err = one.end()
        assert (one.process.returncode, "Traceback" in err) == (0, False)
        assert one.left() == []
    line = f"Resuming the run in {run.kept}: {len(held)} tasks done"
    assert out.splitlines()[0] == line
    # Nothing that was put was done again.
    assert set(Counter(run.logged_keys()).values()) == {1}
    assert len(run.done()) == TASKS


@pytest.mark.parametrize("kills", [7, pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_random_moments(kills: int, unbroken: list[bytes], tmp_path: Path) -> None:
    run = Run(tmp_path, "--workers", "2")
    kill_and_go_on(run, kills)
    assert run.files() == unbroken


@pytest.mark.long
def test_killed_on_a_cluster(unbroken: list[bytes], tmp_path: Path) -> None:
    """Two workers, one of which is killed halfway."""
    pytest.importorskip("distributed")
    with scheduler(tmp_path) as (address, _), worker(address) as one, worker(address):
        run = Run(tmp_path, "--cluster", address)
        kill_and_go_on(run, 20, one.kill)
        assert one.wait() == -signal.SIGKILL
    assert run.files() == unbroken


@pytest.mark.parametrize(
    ("moment", "workers", "how"),
    [(15, "2", signal.SIGINT), (1, "2", signal.SIGTERM), (40, "1", signal.SIGHUP)],
)
def test_signals_stop_it(
    moment: int, workers: str, how: signal.Signals, unbroken: list[bytes], tmp_path: Path
) -> None:
    """The same command then goes on, and what it writes is the same."""
    run = Run(tmp_path, "--workers", workers)
    with child(run.call(moment)) as one:
        wait_for(run.log, moment, one)
        os.kill(one.process.pid, how)
        out, err = one.end()
        assert one.process.returncode == 128 + how
        assert one.left() == []
    assert out == ""
    assert [line for line in err.splitlines() if "% of the " not in line] == [
        "fabkit: stopped; progress is saved; to continue, run the same command with --resume "
        f"{run.kept}"
    ]
    assert run.wrote_nothing()
    assert moment <= len(run.done()) < TASKS
    assert main(["snowflakes", *run.arguments, "-q"]) == 0
    assert run.files() == unbroken
