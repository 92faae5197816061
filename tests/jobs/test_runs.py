"""The ledger and the pools: results, progress, refusals that change nothing, a full disk."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.errors import FabkitError, InputError, OutsideError
from fabkit.jobs.ledger import LEDGER_NAME, Ledger
from fabkit.jobs.pool import local_pool
from fabkit.jobs.work import Shard, run_shards
from tests.support.shards import PROBLEM, ROOT, _OddError, child, hashing, said, wrong

ANOTHER = "choose another folder"
ANEW = f"restore it from a copy, or {ANOTHER} to begin anew"


def fill(folder: Path, count: int = 3) -> None:
    with Ledger(folder, PROBLEM) as ledger:
        for n in range(count):
            ledger.put(str(n), bytes(1000 + n))


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and p.suffix != ".lock"}


# --- working ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_results_come_in_order_and_progress_is_honest(workers: int, tmp_path: Path) -> None:
    shards = hashing(tmp_path / "log", 12, 0.003)
    told: list[float] = []
    with local_pool(workers) as pool, Ledger(tmp_path / "run", PROBLEM) as ledger:
        first = run_shards(shards[3:6], ledger, pool)
        results = run_shards(shards, ledger, pool, told.append)
        assert results[3:6] == first
        assert [ledger.get(shard.key) for shard in shards] == results
        again: list[float] = []
        assert run_shards(shards, ledger, pool, again.append) == results
        assert again == [1.0]
        assert run_shards([], ledger, pool, again.append) == []
    assert sorted(said(tmp_path / "log")) == list(range(12))  # none twice
    assert told[0] == 0.25  # what an earlier run did
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) == 10
    assert len(set(results)) == 12


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("input", InputError, "mine.toml: 5 faults\n  set.id: is missing\n  is bad\n  … and 3 more"),
        ("outside", OutsideError, "no room"),
        ("fabkit", FabkitError, "odd"),
        ("value", ValueError, "broken"),
        ("os", FileNotFoundError, "[Errno 2] there is none: 'some.file'"),
        ("memory", MemoryError, ""),
        ("exit", SystemExit, "7"),
        ("odd", _OddError, "3, 4"),
        ("unicode", UnicodeDecodeError, "'utf-8' codec can't decode byte 0xff in position 0: "
         "invalid start byte"),
        ("text", TypeError, "a shard's result has to be bytes, not str"),
    ],
)  # fmt: skip
def test_an_exception_is_the_same(
    workers: int, kind: str, error: type[BaseException], text: str, tmp_path: Path
) -> None:
    shards = [*hashing(tmp_path / "log", 2, 0.0), Shard("bad", wrong, (kind,))]
    with local_pool(workers) as pool, Ledger(tmp_path / "run", PROBLEM) as ledger:
        with pytest.raises(error) as failure:
            run_shards(shards, ledger, pool)
        assert type(failure.value) is error
        assert str(failure.value) == text
        assert ledger.keys()  # what others finished
        assert "bad" not in ledger.keys()  # noqa: SIM118
    if kind == "input":
        assert isinstance(failure.value, InputError)
        assert failure.value.faults[0].key == "set.id"
    if kind == "odd":
        assert failure.value.two == 4  # type: ignore[attr-defined]
    if workers == 2 and kind == "value":
        assert "in wrong" in failure.value.__notes__[0]  # where it happened


def test_what_told_raises_stops_the_work(tmp_path: Path) -> None:
    def enough(share: float) -> None:
        if share > 0.2:
            raise TimeoutError("enough")

    shards = hashing(tmp_path / "log", 20, 0.01)
    with local_pool(2) as pool, Ledger(tmp_path / "run", PROBLEM) as ledger:
        with pytest.raises(TimeoutError, match="enough"):
            run_shards(shards, ledger, pool, enough)
        held = ledger.keys()
        assert 3 <= len(held) < 10
        assert len(run_shards(shards, ledger, pool)) == 20
    assert len(said(tmp_path / "log")) <= 22


def test_mistakes_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one worker, not 0"):
        local_pool(0)
    twins = [Shard("a", wrong, ()), Shard("a", wrong, ())]
    with local_pool(1) as pool, Ledger(tmp_path, PROBLEM) as ledger:
        with pytest.raises(ValueError, match='two shards have the key "a"'):
            run_shards(twins, ledger, pool)
        for weight in (0.0, -1.0, float("nan"), float("inf")):
            with pytest.raises(ValueError, match='the shard "a" has the weight'):
                run_shards([Shard("a", wrong, (), weight)], ledger, pool)
        ledger.put("a", b"one")
        ledger.put("a", b"one")
        with pytest.raises(ValueError, match='the shard "a" has two results'):
            ledger.put("a", b"other")
        assert ledger.get("a") == b"one"
    with pytest.raises(ValueError, match="not open"):
        ledger.get("a")


# --- refusals ---------------------------------------------------------------------------------------


def refused(folder: Path, error: type[FabkitError], message: str, **problem: Any) -> None:
    """The message is this one, and every byte is as it was."""
    before = files(folder)
    with pytest.raises(error) as failure, Ledger(folder, problem or PROBLEM):
        pass
    assert str(failure.value) == message.format(ledger=folder / LEDGER_NAME)
    assert failure.value.exit_code == (2 if error is InputError else 3)
    assert files(folder) == before


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize(
    ("change", "key", "found", "expected"),
    [
        ({"work": "cubes"}, "work", '"squares"', '"cubes"'),
        ({"versions": {"search": 1, "cover": 3}}, "versions.cover", "2", "3"),
        ({"versions": {"search": True, "cover": 2}}, "versions.search", "1", "true"),
        ({"versions": {"search": 1}}, "versions.cover", "2", "nothing"),
        ({"size": [6]}, "size", "nothing", "[6]"),
    ],
)
def test_another_problem(
    change: dict[str, Any], key: str, found: str, expected: str, killed: bool, tmp_path: Path
) -> None:
    if killed:  # everything is in the -wal file still
        call = f"l = Ledger(Path({str(tmp_path)!r}), PROBLEM).__enter__()"
        with child(f"{call}; l.put('0', b'x'); os.kill(os.getpid(), 9)") as one:
            one.end()
        assert len(files(tmp_path)) == 2
    else:
        fill(tmp_path)
    refused(
        tmp_path,
        InputError,
        f"{{ledger}}: {key}: is the ledger of another problem: found {found}, "
        f"expected {expected}; {ANOTHER}",
        **{**PROBLEM, **change},
    )
    with Ledger(tmp_path, PROBLEM) as ledger:
        assert "0" in ledger.keys()  # noqa: SIM118


def foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE results (key)")
    connection.close()


def changed(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(statement)
        connection.close()

    return change


def overwritten(start: int, content: bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        whole = path.read_bytes()
        path.write_bytes(whole[:start] + content + whole[start + len(content) :])

    return change


NOT_OURS = f"is not one of fabkit's ledgers; {ANOTHER}"
DAMAGED = f"is damaged; {ANEW}"
FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "garbage": (lambda path: path.write_bytes(b"garbage" * 999), NOT_OURS),
    "empty": (lambda path: path.write_bytes(b""), NOT_OURS),
    "another database": (foreign, NOT_OURS),
    "no results": (changed("DROP TABLE problem"), NOT_OURS),
    "no problem": (changed("DELETE FROM problem"), DAMAGED),
    "no JSON": (changed("UPDATE problem SET text = '{'"), DAMAGED),
    "truncated": (lambda path: os.truncate(path, 8192), DAMAGED),
    "header only": (lambda path: os.truncate(path, 100), DAMAGED),
    "page overwritten": (overwritten(4096, b"\xff" * 4096), DAMAGED),
    "newer": (
        changed("PRAGMA user_version = 2"),
        "was written by a newer fabkit (schema 2, this one knows 1); update fabkit or " + ANOTHER,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_is_no_whole_ledger(fault: str, tmp_path: Path) -> None:
    fill(tmp_path, 20)
    change, message = FAULTS[fault]
    change(tmp_path / LEDGER_NAME)
    refused(tmp_path, InputError, f"{{ledger}}: {message}")


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / LEDGER_NAME).mkdir()
    refused(tmp_path, InputError, "{ledger}: is a folder; expected a ledger of fabkit's")


def test_a_link_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / LEDGER_NAME).symlink_to(tmp_path / "nowhere")
    refused(tmp_path, InputError, "{ledger}: there is no such file")


def test_results_without_their_ledger(tmp_path: Path) -> None:
    (tmp_path / f"{LEDGER_NAME}-wal").write_bytes(b"results")
    refused(
        tmp_path,
        InputError,
        f"{{ledger}}: there is no such file, but {LEDGER_NAME}-wal beside it; "
        f"put it back to its place, or {ANOTHER}",
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE results SET result = zeroblob(1000) || x'01' WHERE key = '1'",
        "UPDATE results SET digest = (SELECT digest FROM results WHERE key = '2') WHERE key = '1'",
        "UPDATE results SET key = CASE key WHEN '1' THEN '9' ELSE '1' END WHERE key != '0'",
    ],
)
def test_a_damaged_result_is_noticed(statement: str, tmp_path: Path) -> None:
    fill(tmp_path)
    if "CASE" in statement:
        changed("DELETE FROM results WHERE key = '0'")(tmp_path / LEDGER_NAME)
    changed(statement)(tmp_path / LEDGER_NAME)
    with (
        local_pool(1) as pool,
        Ledger(tmp_path, PROBLEM) as ledger,
        pytest.raises(InputError) as failure,
    ):
        run_shards([Shard("1", wrong, ("value",))], ledger, pool)
    assert str(failure.value) == (
        f'{tmp_path / LEDGER_NAME}: the result of the shard "1" is damaged; '
        f"restore the file from a copy, or {ANOTHER} to begin anew"
    )


def test_a_folder_at_work(tmp_path: Path) -> None:
    with Ledger(tmp_path, PROBLEM):
        code = (
            "from tests.support.shards import *\n"
            f"try:\n with Ledger(Path({str(tmp_path)!r}), PROBLEM): pass\n"
            "except OutsideError as error: print(error)"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
        )
    assert result.stdout == (
        f"another fabkit is at work in {tmp_path}; wait for it, or {ANOTHER}\n"
    )


def test_a_program_that_has_the_ledger_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabkit.jobs.ledger._BUSY_S", 0.05)
    fill(tmp_path)
    other = sqlite3.connect(tmp_path / LEDGER_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with (
        pytest.raises(OutsideError, match="another program has it open"),
        Ledger(tmp_path, PROBLEM),
    ):
        pass
    other.close()


# --- disks ------------------------------------------------------------------------------------------


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """A folder of somebody whom permissions bind, as they do not bind root."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize("what", ["folder", "new folder", "ledger", "unreadable"])
def test_without_permission(what: str, plain_user: Path) -> None:
    folder = plain_user / "run"
    message = {
        "folder": f"cannot write {folder / LEDGER_NAME}: ",
        "new folder": f"cannot use the folder {folder}: Permission denied",
        "ledger": f"cannot write {folder / LEDGER_NAME}: Permission denied",
        "unreadable": f"{folder / LEDGER_NAME}: cannot be read: Permission denied",
    }[what]
    if what == "new folder":
        plain_user.chmod(0o555)
    else:
        fill(folder)
        before = files(folder)
        if what == "folder":
            folder.chmod(0o555)
        else:
            (folder / LEDGER_NAME).chmod(0o444 if what == "ledger" else 0)
    error = InputError if what == "unreadable" else OutsideError
    with pytest.raises(error) as failure, Ledger(folder, PROBLEM):
        pass
    assert str(failure.value).startswith(message)
    if what != "new folder":
        folder.chmod(0o755)
        (folder / LEDGER_NAME).chmod(stat.S_IRUSR | stat.S_IWUSR)
        assert files(folder) == before
        with Ledger(folder, PROBLEM) as ledger:
            assert len(ledger.keys()) == 3


FULL = "what was done before is kept; mend that, and run it again to go on"


def test_a_full_disk(tmp_path: Path) -> None:
    with Ledger(tmp_path, PROBLEM) as ledger:
        ledger._connection.execute("PRAGMA max_page_count = 40")
        ledger.put("small", b"result")
        with pytest.raises(OutsideError) as failure:
            ledger.put("large", bytes(999_999))
        assert str(failure.value) == (
            f"cannot write {tmp_path / LEDGER_NAME}: the disk is full; {FULL}"
        )
        assert ledger.get("small") == b"result"
        assert ledger.keys() == {"small"}
        ledger.put("other", b"fits")
    with Ledger(tmp_path, PROBLEM) as ledger:
        assert ledger.keys() == {"small", "other"}
        ledger.put("large", bytes(999_999))


@pytest.mark.parametrize("room", [0, 3000, 5000, 20_000, 50_000, 200_000])
def test_files_that_may_grow_no_further(room: int, tmp_path: Path) -> None:
    """The system's own refusal in the middle of a write, also of the first one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    done = 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(OutsideError), Ledger(tmp_path, PROBLEM) as ledger:  # noqa: PT012
            for n in range(1000):
                ledger.put(str(n), bytes(5000))
                done += 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (done > 0) == (room >= 50_000)
    with Ledger(tmp_path, PROBLEM) as ledger:
        assert ledger.keys() == {str(n) for n in range(done)}
        assert all(ledger.get(str(n)) == bytes(5000) for n in range(done))
        ledger.put("more", b"room")
