"""`fabkit snowflakes` killed again and again, and stopped: the catalog is the same in the end."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from fabkit.cli import main
from fabkit.jobs.checkpoint import CHECKPOINT_NAME, Checkpoint
from tests.support.tasks import Child, child, said, say, wait_for

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc"),
    # Dask's own: sockets and loops of a cluster that is being closed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning"),
]

KILLS = 20
FILES = ["snowflakes.json", "snowflakes.svg"]
#: Five squares make many shapes that may fall apart.
DOTS = '[set]\nname = "dots"\nlattice = "square"\nmoves = "rotations"\n' + "".join(
    f'\n[[piece]]\nid = "{name}"\ncells = [[0, 0]]\n' for name in "ABCDE"
)
#: Ten tasks of the search, 23 of tries, and 35 that count solutions.
WISH = ["--wandering", "--max-half-width", "12"]
WAVES = {"search": 10, "try": 23, "count": 35}
SHARDS = sum(WAVES.values())
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
        if len(said(Path(log))) >= moment + AHEAD:
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

    def call(self, moment: int = SHARDS) -> str:
        """What a process does that is going to be killed when so many tasks are done."""
        arguments = [str(self.log), moment, *self.arguments]
        return f"from tests.puzzles.test_snowflakes_killed import command; command(*{arguments!r})"

    def done(self) -> set[str]:
        """What the checkpoint holds, read while nobody has it open."""
        path = self.kept / CHECKPOINT_NAME
        if not path.exists():
            return set()
        connection = sqlite3.connect(path)
        try:
            return {key for (key,) in connection.execute("SELECT key FROM results")}
        finally:
            connection.close()

    def told(self) -> list[str]:
        """What the log says was put, as often as it was."""
        return self.log.read_text().split()[1::2] if self.log.exists() else []

    def files(self) -> list[bytes]:
        return [(self.out / name).read_bytes() for name in FILES]

    def wrote_nothing(self) -> bool:
        return not [path for path in self.out.rglob("*") if path.name != ".fabkit.lock"]


def wave(key: str) -> str:
    return next(name for name in key.split("/") if name in WAVES)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    run = Run(tmp_path_factory.mktemp("unbroken"), "--workers", "1")
    assert main(["snowflakes", *run.arguments, "-q"]) == 0
    assert Counter(map(wave, run.done())) == WAVES
    return run.files()


def kill_at(run: Run, moment: int, chance: random.Random, one: Child) -> None:
    """Kills it when so many tasks are done in all; or, when they are already, while it starts."""
    if len(said(run.log)) < moment:
        wait_for(run.log, moment, one)
        time.sleep(chance.uniform(0.0, 0.03))
    else:
        time.sleep(chance.uniform(0.0, 1.5))
    one.process.kill()
    _, err = one.end()
    assert "Traceback" not in err
    assert one.left() == []


def kill_and_go_on(run: Run, kills: int, seed: int) -> Counter[str]:
    """Kills a search so often, lets it end, and returns in which waves it was hit."""
    chance = random.Random(seed)
    held, hit = set[str](), Counter[str]()
    for moment in sorted(chance.sample(range(SHARDS - AHEAD), kills)):
        with child(run.call(moment)) as one:
            kill_at(run, moment, chance, one)
        now = run.done()
        assert now >= held
        held = now
        # The kill may have come between a result and its line, and lines are what is waited for.
        for key in sorted(now - set(run.told())):
            say(str(run.log), f"1 {key}")
        assert run.wrote_nothing()
        counts = Counter(map(wave, held))
        hit[next(name for name, count in WAVES.items() if counts[name] < count)] += 1
    with child(run.call()) as one:
        out, err = one.end()
        assert (one.process.returncode, "Traceback" in err) == (0, False)
        assert one.left() == []
    words = f"going on with the run in {run.kept}: {len(held)} tasks done already"
    assert out.splitlines()[0] == words
    # Nothing that was put was done again.
    assert set(Counter(run.told()).values()) == {1}
    assert len(run.done()) == SHARDS
    return hit


def test_killed_at_random_moments(unbroken: list[bytes], tmp_path: Path) -> None:
    run = Run(tmp_path, "--workers", "2")
    hit = kill_and_go_on(run, KILLS, seed=2)
    assert run.files() == unbroken
    assert set(hit) == set(WAVES)


@pytest.mark.parametrize(
    ("moment", "workers", "how"),
    [
        (15, "2", signal.SIGINT),
        pytest.param(1, "2", signal.SIGTERM),
        pytest.param(40, "1", signal.SIGHUP),
    ],
)
def test_signals_stop_it(
    moment: int, workers: str, how: signal.Signals, unbroken: list[bytes], tmp_path: Path
) -> None:
    """The same command then goes on, and what it writes is the same."""
    run = Run(tmp_path, "--workers", workers)
    with child(run.call(moment)) as one:
        wait_for(run.log, moment, one)
        start = time.monotonic()
        os.kill(one.process.pid, how)
        out, err = one.end()
        assert time.monotonic() - start < 5.0
        assert one.process.returncode == 128 + how
        assert one.left() == []
    assert out == ""
    assert [line for line in err.splitlines() if "% of the " not in line] == [
        f"fabkit: stopped; what is done is kept: the same command with --resume {run.kept} goes on"
    ]
    assert run.wrote_nothing()
    assert moment <= len(run.done()) < SHARDS
    assert main(["snowflakes", *run.arguments, "-q"]) == 0
    assert run.files() == unbroken
