"""What `fabkit snowflakes` refuses, or cannot write: one line, and nothing that was there is lost.

Command lines that are wrong in themselves are in ``tests/bad/cli``.
"""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable, Iterator
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


# --- ledgers ---------------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:9000])


def blot(path: Path) -> None:
    """Overwrites the results, but not what the file says of itself."""
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(b ^ 0x55 for b in content[4096:]))


def change(path: Path) -> None:
    """Another byte in the middle of the last result."""
    content = bytearray(path.read_bytes())
    at = content.rindex(b"x\x9c") + 5
    content[at] ^= 1
    path.write_bytes(content)


DAMAGED = (
    "kept/ledger.sqlite: is damaged; restore it from a copy, or choose another folder to begin"
)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (cut, f"{DAMAGED} anew"),
        (blot, f"{DAMAGED} anew"),
        (
            lambda path: path.write_text("mine\n"),
            "kept/ledger.sqlite: is not one of fabkit's checkpoints; choose another folder",
        ),
    ],
    ids=["cut", "blot", "text"],
)
def test_a_corrupt_ledger(
    spoil: Callable[[Path], object], message: str, here: Path, capsys: Capture
) -> None:
    made("dots.toml", "--resume", "kept")
    spoil(Path("kept", CHECKPOINT_NAME))
    assert refused(2, capsys, "dots.toml", "--resume", "kept") == f"fabkit: {message}\n"


def test_an_empty_checkpoint_is_begun_anew(here: Path) -> None:
    catalog = made("dots.toml", "--resume", "kept")
    Path("kept", CHECKPOINT_NAME).write_bytes(b"")
    assert made("dots.toml", "--resume", "kept") == catalog


def test_a_result_that_was_changed(here: Path, capsys: Capture) -> None:
    made("dots.toml", "--resume", "kept")
    change(Path("kept", CHECKPOINT_NAME))
    said = refused(2, capsys, "dots.toml", "--resume", "kept")
    assert said.startswith('fabkit: kept/ledger.sqlite: the result of the task "')
    assert said.endswith(
        '" is damaged; restore the file from a copy, or choose another folder to begin anew\n'
    )


def test_a_ledger_of_another_set(here: Path, capsys: Capture) -> None:
    made("dots.toml", "--resume", "kept")
    assert refused(2, capsys, "ring.toml", "--resume", "kept", "-o", "other") == (
        'fabkit: kept/ledger.sqlite: set: is the checkpoint of another problem: found "dots", '
        'expected "ring"; choose another folder\n'
    )
    Path("dots.toml").write_text(
        Path("dots.toml").read_text().replace('lattice = "square"', 'lattice = "quarter-square"')
    )
    said = refused(2, capsys, "dots.toml", "--resume", "kept", "-o", "other")
    assert said.startswith(
        "fabkit: kept/ledger.sqlite: pieces_sha256: is the checkpoint of another"
    )


def test_a_ledger_of_another_algorithm(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    made("dots.toml", "--resume", "kept")
    monkeypatch.setattr("fabkit.puzzles.snowflakes.query.ALGORITHM", 99)
    said = refused(2, capsys, "dots.toml", "--resume", "kept")
    assert said.startswith(
        "fabkit: kept/ledger.sqlite: algorithm: is the checkpoint of another problem"
    )


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
