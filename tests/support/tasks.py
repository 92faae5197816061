"""Tasks for tests of fabkit.jobs, and runs of them in processes that can be killed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabkit.core.errors import ErrorDetail, ExternalError, InputError
from fabkit.jobs.checkpoint import Checkpoint
from fabkit.jobs.run import Task, local_pool, run_tasks
from tests.support.waiting import wait_until

#: The checkout. (tests.conftest would load pytest in every worker.)
ROOT = Path(__file__).resolve().parents[2]
PROBLEM = {"work": "squares", "version": 1}


def hashed(log: str, number: int, seconds: float) -> bytes:
    """Takes its time, says that it was done, and returns a few thousand bytes."""
    time.sleep(seconds)
    say(log, f"{number} {os.getpid()}")
    return hashlib.sha256(str(number).encode()).digest() * (number % 7 * 20 + 1)


def say(log: str, line: str) -> None:
    """Appends a line at once, whoever else does so."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def logged(log: Path) -> list[int]:
    """The tasks that were done, as often as they were."""
    return [int(line.split()[0]) for line in log.read_text().splitlines()] if log.exists() else []


def hashing(log: Path, count: int, seconds: float) -> list[Task]:
    return [
        Task(f"hash/{n}", hashed, (str(log), n, seconds * (n % 3)), 1.0 + n % 3)
        for n in range(count)
    ]


def wrong(kind: str, log: str = "") -> bytes:
    errors: dict[str, Any] = {
        "input": InputError(
            "mine.toml", [ErrorDetail("set.id", "is missing"), ErrorDetail("", "is bad")], 3
        ),
        "outside": ExternalError("no room"),
        "value": ValueError("broken"),
        "os": FileNotFoundError(2, "there is none", "some.file"),
        "exit": SystemExit(7),
        "odd": _OddError(3, 4),
    }
    if kind in errors:
        raise errors[kind]
    say(log, "0")
    if kind == "segfault":
        os._exit(11)
    if kind == "once" and len(logged(Path(log))) > 1:
        return b"at last"
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


class _OddError(Exception):
    """Cannot be unpickled: it takes two arguments, and passes one to its base."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one}, {two}")


def spins(log: str, seconds: float) -> bytes:
    """Holds Python's lock all the time, as a compiled kernel does."""
    import ctypes

    say(log, "0")
    ctypes.PyDLL(None).usleep(int(seconds * 1e6))
    return b"done"


def run(folder: str, log: str, tasks: list[Task], workers: int, most: float = 1e9) -> None:
    """What a killed process does; once the log has so many lines, it puts no further result."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def wait(_: float, __: str) -> None:
        if len(logged(Path(log))) >= most:
            time.sleep(60.0)

    with local_pool(workers) as pool, Checkpoint(Path(folder), PROBLEM) as checkpoint:
        run_tasks(tasks, checkpoint, pool, wait)


def tagged(tag: str) -> list[str]:
    """The processes that carry a tag, wherever they went; nothing where there is no /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if tag.encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


class Child:
    """A Python process of its own group, whose descendants are known by a tag."""

    def __init__(self, call: str) -> None:
        self.tag = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"from tests.support.tasks import *; {call}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "FABKIT_TEST_TAG": self.tag},
            start_new_session=True,
        )

    def end(self) -> tuple[str, str]:
        """What it printed, once it has ended."""
        return self.process.communicate(timeout=60)

    def left(self) -> list[str]:
        """The processes of it that are there after two seconds."""
        deadline = time.monotonic() + 2.0
        while (found := tagged(self.tag)) and time.monotonic() < deadline:
            time.sleep(0.01)
        return found


@contextlib.contextmanager
def child(call: str) -> Iterator[Child]:
    one = Child(call)
    try:
        yield one
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.process.pid, signal.SIGKILL)
        with contextlib.suppress(ValueError):
            one.end()


def wait_for(log: Path, count: int, one: Child) -> None:
    """Until so many lines stand in the log, or the process has ended."""
    wait_until(lambda: len(logged(log)) >= count or one.process.poll() is not None)


# --- a Dask cluster of processes, as they are started by hand
# ----------------------------------------


@contextlib.contextmanager
def dask(what: str, *arguments: str, before: str = "pass") -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker, which runs some code first."""
    code = f"import sys; {before}; from distributed.cli.dask_{what} import main; main()"
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-c", code, *arguments, "--no-dashboard"]
    with subprocess.Popen(command, cwd=ROOT, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def scheduler(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """One and its address."""
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
    with dask("scheduler", *options) as process:
        wait_until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        yield json.loads(file.read_text())["address"], process


def worker(address: str, before: str = "pass") -> Any:
    """One of a single thread that nobody replaces."""
    return dask("worker", address, "--no-nanny", "--nthreads", "1", before=before)
