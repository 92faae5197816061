"""What `fabkit snowflakes` refuses, or cannot write: one line, and nothing that was there is lost.

Command lines that are wrong in themselves are in ``tests/bad/cli``.
"""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabkit.cli import main
from fabkit.core.files import folder_lock
from fabkit.jobs.checkpoint import CHECKPOINT_NAME
from tests.puzzles.test_snowflakes_command import PIECE, files, made, names, put_sets
from tests.test_bad import content_of

Capture = pytest.CaptureFixture[str]
HALF = '[set]\nname = "half"\nlattice = "quarter-square"\nmoves = "rotations"\n'
QUARTER = '\n[[piece]]\nid = "{}"\noutline = [[0, 0], [1, 0], [0.5, 0.5]]\n'
TWO = '[set]\nname = "two"\nlattice = "square"\nmoves = "rotations"\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put_sets(tmp_path)
    Path("half.toml").write_text(HALF + "".join(map(QUARTER.format, "ABCD")))
    Path("two.toml").write_text(TWO + PIECE.format("A", "[[0, 0], [0, 1]]"))
    Path("note.txt").write_text("mine\n")
    return tmp_path


def refused(code: int, capsys: Capture, *arguments: str) -> str:
    """What is said of a command that is refused; it changes nothing."""
    before = visible()
    capsys.readouterr()
    assert main(["snowflakes", *arguments, "--workers", "1"]) == code
    out, err = capsys.readouterr()
    assert out == "" or out.startswith("going on with the run in ")
    assert visible() == before
    return err


def visible() -> dict[str, bytes | None]:
    found = content_of(Path.cwd())
    return {name: content for name, content in found.items() if not name.endswith(".fabkit.lock")}


# --- sets and places -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["two.toml"],
            "two: has pieces of area 2 together, and no symmetric shape of even, odd or mixed parity "
            "has that; choose others with --pieces",
        ),
        (
            ["two.toml", "--parity", "odd"],
            "two: has pieces of area 2 together, and no symmetric shape of odd parity has that; "
            "choose others with --pieces",
        ),
        (
            ["half.toml"],
            "piece A: has a corner at (0.5, 0.5); snowflakes are searched for with pieces whose "
            "corners are whole numbers",
        ),
        (
            ["iqstars"],
            "iqstars: lies on the triangular lattice; snowflakes have the square's symmetry, so the "
            "lattice must be of squares",
        ),
        (
            ["dots.toml", "-o", "note.txt"],
            '-o: "note.txt" is a file; expected a folder',
        ),
        (
            ["dots.toml", "--resume", "note.txt"],
            '--resume: "note.txt" is a file; expected a folder',
        ),
        (
            ["dots.toml", "--proof", "note.txt"],
            '--proof: "note.txt" is a file; expected a folder',
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused(arguments: list[str], message: str, here: Path, capsys: Capture) -> None:
    assert refused(2, capsys, *arguments) == f"fabkit: {message}\n"


# --- checkpoints: more of them in tests/jobs -------------------------------------------------------


def change(path: Path) -> None:
    """Another byte in the middle of the last result."""
    content = bytearray(path.read_bytes())
    at = content.rindex(b"x\x9c") + 5
    content[at] ^= 1
    path.write_bytes(content)


def test_checkpoints_that_are_refused(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another set, of other pieces, of another algorithm; with a result that was changed."""
    made("dots.toml", "--resume", "kept")
    again = ["dots.toml", "--resume", "kept", "-o", "other"]
    assert refused(2, capsys, "ring.toml", *again[1:]) == (
        'fabkit: kept/ledger.sqlite: set: is the checkpoint of another problem: found "dots", '
        'expected "ring"; choose another folder\n'
    )
    dots = Path("dots.toml").read_text()
    Path("dots.toml").write_text(dots.replace('"square"', '"quarter-square"'))
    assert "pieces_sha256: is the checkpoint of another" in refused(2, capsys, *again)
    Path("dots.toml").write_text(dots)
    with monkeypatch.context() as patch:
        patch.setattr("fabkit.puzzles.snowflakes.query.ALGORITHM", 99)
        assert "algorithm: is the checkpoint of another" in refused(2, capsys, *again)
    change(Path("kept", CHECKPOINT_NAME))
    said = refused(2, capsys, *again)
    assert said.startswith('fabkit: kept/ledger.sqlite: the result of the task "')
    assert said.endswith(
        '" is damaged; restore the file from a copy, or choose another folder to begin anew\n'
    )


def test_an_empty_checkpoint_is_begun_anew(here: Path) -> None:
    catalog = made("dots.toml", "--resume", "kept")
    Path("kept", CHECKPOINT_NAME).write_bytes(b"")
    assert made("dots.toml", "--resume", "kept") == catalog


def test_folders_at_which_another_is_at_work(here: Path, capsys: Capture) -> None:
    made("dots.toml", "--resume", "kept")
    with folder_lock(Path("kept")):
        assert refused(3, capsys, "dots.toml", "--resume", "kept") == (
            "fabkit: another fabkit is at work in kept; wait for it, or choose another folder\n"
        )
    first = files()
    with folder_lock(Path("out")):
        assert main(["snowflakes", "dots.toml", "--resume", "kept", "-o", "out"]) == 3
        assert capsys.readouterr().err.endswith(
            "fabkit: another fabkit is at work in out; wait for it, or choose another folder with "
            "-o\n"
        )
    assert files() == first


# --- a full disk -----------------------------------------------------------------------------------


@contextlib.contextmanager
def room(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


FULL = "what was done before is kept; mend that, and run it again to go on"


@pytest.mark.integration
def test_a_full_disk_during_the_search(here: Path, capsys: Capture) -> None:
    wish = ["dots.toml", "--wandering", "--max-half-width", "6"]
    usual = made(*wish, "--resume", "usual", folder="usual-out")
    capsys.readouterr()
    arguments = ["snowflakes", *wish, "--resume", "kept", "-o", "out", "--workers", "1"]
    with room(100_000):
        assert main(arguments) == 3
    out, err = capsys.readouterr()
    (said,) = [line for line in err.splitlines() if "% of the " not in line]
    assert out == ""
    assert said.startswith(f"fabkit: cannot write {Path('kept', CHECKPOINT_NAME)}: ")
    assert said.endswith(f"; {FULL}")
    assert not Path("out").exists() or names("out") == []
    assert made(*wish, "--resume", "kept") == usual
    told = capsys.readouterr().out.splitlines()[0]
    assert told.startswith("going on with the run in kept: ")
    assert 0 < int(told.split()[7]) < 38


def test_a_full_disk_when_files_are_written(here: Path, capsys: Capture) -> None:
    """An older catalog stays, and the search need not be done again."""
    made("hooks.toml", "--resume", "kept", "--parity", "even")
    first = files()
    made("hooks.toml", "--resume", "hooks", folder="other")
    capsys.readouterr()
    with room(2000):
        code = main(["snowflakes", "hooks.toml", "--resume", "fresh", "-o", "out"])
    assert code == 3
    assert capsys.readouterr().err.startswith("fabkit: cannot write ")
    assert files() == first
    limit = len(Path("other/snowflakes.svg").read_bytes()) - 1
    checkpoint = len(Path("hooks", CHECKPOINT_NAME).read_bytes())
    with room(limit):
        code = main(["snowflakes", "hooks.toml", "--resume", "hooks", "-o", "out"])
    assert (code, checkpoint) == (3, checkpoint)
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("fabkit: cannot write ")
    assert files() == first
    assert not list(Path("out").glob("*.part"))
    made("hooks.toml", "--resume", "hooks")
    assert files() == files("other")
