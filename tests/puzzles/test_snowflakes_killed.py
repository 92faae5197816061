"""`fabkit snowflakes` killed and stopped: the same command goes on, and its catalog is the same."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from fabkit.cli import main
from fabkit.jobs.checkpoint import Checkpoint
from tests.support.tasks import child, said, say, wait_for

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc"),
]

#: Five squares make many shapes that may fall apart.
DOTS = '[set]\nname = "dots"\nlattice = "square"\nmoves = "rotations"\n' + "".join(
    f'\n[[piece]]\nid = "{name}"\ncells = [[0, 0]]\n' for name in "ABCDE"
)
WISH = ["--wandering", "--max-half-width", "12"]
#: Ten tasks of the search, 23 of tries, and 35 that count solutions.
TASKS = 10 + 23 + 35
#: After how many tasks it is ended, with how many workers, and how.
ENDS = [
    (1, "2", signal.SIGTERM),
    (8, "2", signal.SIGKILL),
    (15, "2", signal.SIGINT),
    (30, "2", signal.SIGKILL),
    (40, "1", signal.SIGHUP),
    (60, "1", signal.SIGKILL),
]


def command(log: str, moment: int, *arguments: str) -> None:
    """The command, and a line in a log for every result; after so many it waits for its end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    put = Checkpoint.put

    def telling(checkpoint: Checkpoint, key: str, result: bytes) -> None:
        put(checkpoint, key, result)
        say(log, f"1 {key}")
        if len(said(Path(log))) >= moment:
            time.sleep(60.0)

    Checkpoint.put = telling  # type: ignore[method-assign]
    sys.argv[1:] = ["snowflakes", *arguments]
    raise SystemExit(main())


def test_ended_again_and_again_it_writes_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out, kept = (tmp_path / name for name in ("log", "out", "kept"))
    (tmp_path / "dots.toml").write_text(DOTS)
    wish = [str(tmp_path / "dots.toml"), *WISH, "-o"]
    assert main(["snowflakes", *wish, str(tmp_path / "one"), "--workers", "1", "-q"]) == 0
    arguments = [*wish, str(out), "--resume", str(kept)]
    for moment, workers, how in ENDS:
        told = [str(log), moment, *arguments, "--workers", workers]
        module = "from tests.puzzles.test_snowflakes_killed import command"
        with child(f"{module}; command(*{told!r})") as one:
            wait_for(log, moment, one)
            os.kill(one.process.pid, how)
            _, err = one.end()
            assert one.left() == []
        lines = [line for line in err.splitlines() if "% of the " not in line]
        if how == signal.SIGKILL:
            assert (one.process.returncode, lines) == (-how, [])
        else:
            assert one.process.returncode == 128 + how
            assert lines == [
                "fabkit: stopped; what is done is kept: the same command with "
                f"--resume {kept} goes on"
            ]
        assert not [path for path in out.rglob("*") if path.name != ".fabkit.lock"]
    keys = log.read_text().split()[1::2]
    assert set(Counter(keys).values()) == {1}  # nothing that was put was done again
    assert len(keys) < TASKS
    assert main(["snowflakes", *arguments]) == 0
    words = f"going on with the run in {kept}: {len(keys)} tasks done already"
    assert capsys.readouterr().out.splitlines()[0] == words
    for name in ("snowflakes.json", "snowflakes.svg"):
        assert (out / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
