"""The checkpoint and the pools: results, progress, refusals that lose nothing, a full disk."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.errors import ExternalError, FabkitError, InputError, install_hint
from fabkit.core.staging import folder_lock
from fabkit.jobs.checkpoint import CHECKPOINT_NAME, Checkpoint
from fabkit.jobs.cluster import ClusterPool
from fabkit.jobs.run import Task, local_pool, run_tasks
from tests.support.tasks import PROBLEM, child, hashing, logged, wrong

ANOTHER = "choose another folder"
ANEW = f"restore it from a copy, or {ANOTHER} to start over"


def fill(folder: Path, count: int = 3) -> None:
    with Checkpoint(folder, PROBLEM) as checkpoint:
        for n in range(count):
            checkpoint.put(str(n), bytes(1000 + n))


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and p.suffix != ".lock"}


# --- working
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_and_progress_is_honest(workers: int, tmp_path: Path) -> None:
    tasks = hashing(tmp_path / "log", 12, 0.003)
    progress: list[float] = []
    with local_pool(workers) as pool, Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
        first = run_tasks(tasks[3:6], checkpoint, pool)
        results = run_tasks(tasks, checkpoint, pool, lambda share, _: progress.append(share))
        assert results[3:6] == first
        assert [checkpoint.get(task.key) for task in tasks] == results
        again: list[float] = []
        assert run_tasks(tasks, checkpoint, pool, lambda share, _: again.append(share)) == results
        assert again == [1.0]
        assert run_tasks([], checkpoint, pool, lambda share, _: again.append(share)) == []
    assert sorted(logged(tmp_path / "log")) == list(range(12))  # none twice
    assert progress[0] == 0.25  # what an earlier run did
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert len(progress) == 10
    assert len(set(results)) == 12


#: What tasks raise: kind, type, text.
RAISED: list[tuple[str, type[BaseException], str]] = [
    ("input", InputError, "mine.toml: 5 errors\n  set.id: is missing\n  is bad\n  … and 3 more"),
    ("outside", ExternalError, "no room"),
    ("value", ValueError, "broken"),
    ("os", FileNotFoundError, "[Errno 2] there is none: 'some.file'"),
    ("exit", SystemExit, "7"),
    ("odd", RuntimeError, "_OddError: 3, 4"),  # which pickle cannot carry
]


def test_an_exception_is_the_same_from_a_worker(tmp_path: Path) -> None:
    with local_pool(2) as pool, Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
        for kind, error, text in RAISED:
            tasks = [*hashing(tmp_path / kind, 2, 0.0), Task("bad", wrong, (kind,))]
            with pytest.raises(error) as failure:
                run_tasks(tasks, checkpoint, pool)
            assert (type(failure.value), str(failure.value)) == (error, text)
            if kind in ("value", "odd"):
                assert "in wrong" in failure.value.__notes__[0]  # where it happened
        assert checkpoint.keys() >= {"hash/0"}  # what others finished
        assert "bad" not in checkpoint.keys()  # noqa: SIM118
        with pytest.raises(InputError, match="5 errors"):
            run_tasks([Task("bad", wrong, ("input",))], checkpoint, local_pool(1))


def test_what_on_progress_raises_stops_the_work(tmp_path: Path) -> None:
    def enough(share: float, _: str) -> None:
        if share > 0.2:
            raise TimeoutError("enough")

    tasks = hashing(tmp_path / "log", 20, 0.01)
    with local_pool(2) as pool, Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
        with pytest.raises(TimeoutError, match="enough"):
            run_tasks(tasks, checkpoint, pool, enough)
        assert 3 <= len(checkpoint.keys()) < 10
        assert len(logged(tmp_path / "log")) <= 12  # a few per worker are begun at a time
        assert len(run_tasks(tasks, checkpoint, pool)) == 20


# --- refusals
# ---------------------------------------------------------------------------------------


def refused(folder: Path, error: type[FabkitError], message: str, **problem: Any) -> None:
    with pytest.raises(error) as failure, Checkpoint(folder, problem or PROBLEM):
        pass
    assert str(failure.value) == message.format(checkpoint=folder / CHECKPOINT_NAME)
    assert failure.value.exit_code == (2 if error is InputError else 3)


@pytest.mark.parametrize("killed", [False, True])
def test_another_problem(killed: bool, tmp_path: Path) -> None:
    if killed:  # everything is in the -wal file still
        call = f"l = Checkpoint(Path({str(tmp_path)!r}), PROBLEM).__enter__()"
        with child(f"{call}; l.put('0', b'x'); os.kill(os.getpid(), 9)") as one:
            one.end()
        assert len(files(tmp_path)) == 2
    else:
        fill(tmp_path)
    others: list[tuple[dict[str, Any], str, str, str]] = [
        ({"work": "cubes", "version": 1}, "work", '"squares"', '"cubes"'),
        ({"work": "squares", "version": True}, "version", "1", "true"),
        ({"work": "squares"}, "version", "1", "nothing"),
        ({**PROBLEM, "size": [6]}, "size", "nothing", "[6]"),
    ]
    for problem, key, found, expected in others:
        message = f"belongs to a different problem: found {found}, expected {expected}"
        refused(tmp_path, InputError, f"{{checkpoint}}: {key}: {message}; {ANOTHER}", **problem)
    with Checkpoint(tmp_path, PROBLEM) as checkpoint:
        assert "0" in checkpoint.keys()  # noqa: SIM118


def changed(*statements: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        with connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    return change


def overwritten(path: Path) -> None:
    with path.open("rb+") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


NOT_OURS = f"is not a fabkit checkpoint; {ANOTHER}"
DAMAGED = f"is damaged; {ANEW}"
FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "garbage": (lambda path: path.write_bytes(b"garbage" * 999), NOT_OURS),
    "another database": (changed("PRAGMA application_id = 7"), NOT_OURS),
    "no results": (changed("DROP TABLE problem"), NOT_OURS),
    "no problem": (changed("DELETE FROM problem"), DAMAGED),
    "no JSON": (changed("UPDATE problem SET text = '{'"), DAMAGED),
    "truncated": (lambda path: os.truncate(path, 8192), DAMAGED),
    "header only": (lambda path: os.truncate(path, 100), DAMAGED),
    "page overwritten": (overwritten, DAMAGED),
    "newer": (
        changed("PRAGMA user_version = 2"),
        "was written by a newer fabkit (schema 2, this version supports 1); update fabkit or " + ANOTHER,
    ),
}  # fmt: skip


def test_a_file_that_is_no_whole_checkpoint(tmp_path: Path) -> None:
    for fault, (change, message) in FAULTS.items():
        folder = tmp_path / fault
        fill(folder, 20)
        change(folder / CHECKPOINT_NAME)
        before = files(folder)
        refused(folder, InputError, f"{{checkpoint}}: {message}")
        assert files(folder) == before


def test_what_is_no_file_in_its_place(tmp_path: Path) -> None:
    for name, make, message in (
        ("folder", Path.mkdir, "is a folder; expected a checkpoint of fabkit's"),
        ("link", lambda path: path.symlink_to("nowhere"), "there is no such file"),
    ):
        (tmp_path / name).mkdir()
        make(tmp_path / name / CHECKPOINT_NAME)
        refused(tmp_path / name, InputError, f"{{checkpoint}}: {message}")


def test_what_holds_nothing_to_lose_is_begun_anew(tmp_path: Path) -> None:
    """An empty file, such as a full disk leaves; results whose file somebody took away."""
    (tmp_path / CHECKPOINT_NAME).touch()
    (tmp_path / f"{CHECKPOINT_NAME}-wal").write_bytes(b"of another")
    fill(tmp_path)
    with Checkpoint(tmp_path, PROBLEM) as checkpoint:
        assert checkpoint.keys() == {"0", "1", "2"}


@pytest.mark.parametrize(
    "statements",
    [
        ["UPDATE results SET result = zeroblob(1000) || x'01' WHERE key = '1'"],
        [
            "DELETE FROM results WHERE key = '0'",
            "UPDATE results SET key = CASE key WHEN '1' THEN '9' ELSE '1' END",
        ],
    ],
    ids=["changed", "exchanged"],
)
def test_a_damaged_result_is_noticed(statements: list[str], tmp_path: Path) -> None:
    fill(tmp_path)
    changed(*statements)(tmp_path / CHECKPOINT_NAME)
    with Checkpoint(tmp_path, PROBLEM) as checkpoint, pytest.raises(InputError) as failure:
        run_tasks([Task("1", wrong, ("value",))], checkpoint, local_pool(1))
    assert str(failure.value) == (
        f'{tmp_path / CHECKPOINT_NAME}: the result of the task "1" is damaged; '
        f"restore the file from a copy, or {ANOTHER} to start over"
    )


def test_others_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another fabkit in the folder, or another program that has the file open."""
    monkeypatch.setattr("fabkit.jobs.checkpoint._BUSY_S", 0.05)
    fill(tmp_path)
    with folder_lock(tmp_path):
        at_work = f"another fabkit process is using {tmp_path}; wait for it, or {ANOTHER}"
        refused(tmp_path, ExternalError, at_work)
    other = sqlite3.connect(tmp_path / CHECKPOINT_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    busy = f"cannot write {{checkpoint}}: another program has it open; {FULL}"
    refused(tmp_path, ExternalError, busy)
    other.close()


# --- disks
# ------------------------------------------------------------------------------------------

FULL = "completed work is saved; fix the problem and run the same command to continue"


@contextmanager
def plain_user() -> Iterator[Path]:
    """A folder of somebody whom permissions bind, as they do not bind root.

    Not a fixture: between these and a test, as root, it is noted which lines the test executes.
    """
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


@pytest.mark.parametrize("what", ["folder", "new folder", "checkpoint", "unreadable"])
def test_without_permission(what: str) -> None:
    with plain_user() as home:
        work_without_permission(what, home)


def work_without_permission(what: str, home: Path) -> None:
    folder = home / "run"
    path = folder / CHECKPOINT_NAME
    message = {
        "folder": f"cannot write {path}: ",
        "new folder": f"cannot use the folder {folder}: Permission denied",
        "checkpoint": f"cannot write {path}: Permission denied",
        "unreadable": f"{path}: cannot be read: Permission denied",
    }[what]
    if what == "new folder":
        home.chmod(0o555)
    else:
        fill(folder)
        if what == "folder":
            folder.chmod(0o555)
        else:
            path.chmod(0o444 if what == "checkpoint" else 0)
    error = InputError if what == "unreadable" else ExternalError
    with pytest.raises(error) as failure, Checkpoint(folder, PROBLEM):
        pass
    assert str(failure.value).startswith(message)
    if what != "new folder":
        folder.chmod(0o755)
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        with Checkpoint(folder, PROBLEM) as checkpoint:
            assert len(checkpoint.keys()) == 3


@pytest.mark.parametrize("room", [0, 5000, 20_000, 200_000])
def test_files_that_may_grow_no_further(room: int, tmp_path: Path) -> None:
    """A full disk, in the middle of a write, also of the first one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    done = 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(ExternalError) as failure, Checkpoint(tmp_path, PROBLEM) as checkpoint:  # noqa: PT012
            for n in range(1000):
                checkpoint.put(str(n), bytes(5000))
                done += 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(failure.value).startswith(f"cannot write {tmp_path / CHECKPOINT_NAME}: ")
    assert (done > 0) == (room == 200_000)
    with Checkpoint(tmp_path, PROBLEM) as checkpoint:
        assert checkpoint.keys() == {str(n) for n in range(done)}
        assert all(checkpoint.get(str(n)) == bytes(5000) for n in range(done))
        checkpoint.put("more", b"room")


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    needs = f"running on a cluster needs Dask; install it {install_hint('cluster')}"
    with pytest.raises(ExternalError) as failure:
        ClusterPool("tcp://127.0.0.1:1")
    assert str(failure.value) == needs
