"""Pools: where shards are worked on. Here: in this process, or in processes on this machine.

Workers are new Python processes, not forks. A fork would be ready 20 ms earlier, but it would
inherit the lock of the ledger's folder, which then outlived a kill of the parent, and
locks that other threads of the parent held at that moment.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Sequence
from typing import Self, TypeVar

from fabkit.core.errors import OutsideError, printable, shown
from fabkit.core.files import outside_failures
from fabkit.jobs.parcel import called, opened, packed
from fabkit.jobs.shard import Shard
from fabkit.jobs.worker import receive, send

Item = TypeVar("Item")

#: So often at least Python looks for signals, where waiting hides them (on Windows).
_POLL_S = 0.2

#: A worker imports what its parent would. Isolated, Python looks at nothing else before that.
_START = """
import json, sys
job = json.loads(sys.stdin.buffer.readline())
sys.path[:] = job["path"]
from fabkit.jobs.worker import serve
serve(job["parent"])
"""


class Pool(ABC):
    """Somewhere to work on shards. Use it as a context manager: leaving it ends all work."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def results(self, shards: Sequence[Shard]) -> Generator[tuple[int, bytes], None, None]:
        """Works on shards; close the generator to stop.

        One that fails stops all: what others had finished by then is yielded first.

        Args:
            shards: they are begun in this order.

        Yields:
            The place of a shard among them, and its result, in the order in which they end.

        Raises:
            OutsideError: when a worker breaks down.
            BaseException: what a shard raised.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends all work at once."""


def local_pool(workers: int) -> Pool:
    """A pool on this machine.

    Args:
        workers: so many shards are worked on at the same time. One is worked on in this process.

    Returns:
        It; its processes start when they are needed, and stay for the next shards.

    Raises:
        ValueError: for less than one worker.

    Example:
        >>> from operator import concat
        >>> shards = [Shard("a", concat, (b"a", b"b")), Shard("b", concat, (b"c", b"d"))]
        >>> with local_pool(2) as pool:
        ...     print(sorted(pool.results(shards)))
        [(0, b'ab'), (1, b'cd')]
    """
    if workers < 1:
        raise ValueError(f"a pool needs at least one worker, not {workers}")
    return _Here() if workers == 1 else _Processes(workers)


class _Here(Pool):
    """One shard after the other, in this process."""

    def results(self, shards: Sequence[Shard]) -> Generator[tuple[int, bytes], None, None]:
        for index, shard in enumerate(shards):
            yield index, called(shard.call, shard.arguments)

    def close(self) -> None:
        pass


class _Processes(Pool):
    """Several at a time, each in a process that can be killed at any moment."""

    def __init__(self, workers: int) -> None:
        self._most = workers
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, int] = {}

    def results(self, shards: Sequence[Shard]) -> Generator[tuple[int, bytes], None, None]:
        run = _Run(shards)
        try:
            self._hand_out(run)
            while self._busy:
                self._take(run)
                if run.failure is None:  # before the results are put away: that takes a while
                    self._hand_out(run)
                while run.finished:
                    index, outcome = run.finished.popleft()
                    try:
                        result = opened(outcome)
                    except BaseException as error:
                        run.failure = run.failure or error
                    else:
                        yield index, result
                if run.failure is not None and run.replies.empty():
                    raise run.failure
        finally:
            while self._busy:
                self._busy.popitem()[0].end()

    def _hand_out(self, run: _Run) -> None:
        """Gives every worker something to do, as long as there is something."""
        while run.waiting and len(self._busy) < self._most:
            index = run.waiting[0]
            call = packed(run.shards[index])
            worker = self._idle.pop() if self._idle else _Worker()
            self._busy[worker] = index
            run.waiting.popleft()
            worker.give(call, run.replies)

    def _take(self, run: _Run) -> None:
        """Waits for a reply, and takes all that are there. A shard is tried twice at most."""
        replies = [taken(run.replies)]
        while not run.replies.empty():
            replies.append(run.replies.get())
        for worker, outcome in replies:
            index = self._busy.pop(worker)
            if outcome is not None:
                self._idle.append(worker)
                run.finished.append((index, outcome))
                continue
            reason = worker.breakdown()
            if index in run.broken:
                message = f"{reason}, twice at the shard {shown(run.shards[index].key)}"
                run.failure = run.failure or OutsideError(message)
            run.broken.add(index)
            run.waiting.appendleft(index)

    def close(self) -> None:
        for worker in (*self._busy, *self._idle):
            worker.end()
        self._busy.clear()
        self._idle.clear()


def taken(one: queue.SimpleQueue[Item]) -> Item:
    """The next item of a queue; while it waits, signals are handled, on Windows, too."""
    while True:
        with contextlib.suppress(queue.Empty):
            return one.get(timeout=_POLL_S)


class _Run:
    """What `_Processes.results` knows about its shards."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = shards
        self.waiting = deque(range(len(shards)))
        self.broken: set[int] = set()
        self.finished: deque[tuple[int, bytes]] = deque()
        self.failure: BaseException | None = None
        self.replies: queue.SimpleQueue[tuple[_Worker, bytes | None]] = queue.SimpleQueue()


#: What a courier carries: a call, and where to put the reply.
_Errand = tuple[bytes, queue.SimpleQueue[tuple["_Worker", bytes | None]]]


class _Worker:
    """A worker's process, and a thread that carries calls to it and replies back.

    The process is started by the thread that waits for it, not by the courier: Linux ends it
    with the thread that started it.
    """

    def __init__(self) -> None:
        with outside_failures("cannot start a worker process"):
            self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed in end
            self._process = subprocess.Popen(  # noqa: S603 - this Python, and our own code
                [sys.executable, "-I", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                start_new_session=True,  # so that the terminal's Ctrl-C reaches the parent alone
            )
        self._errands: queue.SimpleQueue[_Errand | None] = queue.SimpleQueue()
        self._courier = threading.Thread(target=self._carry, daemon=True)
        self._courier.start()

    def give(self, call: bytes, replies: queue.SimpleQueue[tuple[_Worker, bytes | None]]) -> None:
        """Lets it perform a call. The reply is None when it breaks down."""
        self._errands.put((call, replies))

    def _carry(self) -> None:
        out, back = self._process.stdin, self._process.stdout
        assert out is not None
        assert back is not None
        job = {"path": sys.path, "parent": os.getpid()}
        with contextlib.suppress(OSError):
            out.write(json.dumps(job).encode() + b"\n")
        while (errand := self._errands.get()) is not None:
            call, replies = errand
            outcome = None
            with contextlib.suppress(OSError):
                send(out, call)
                outcome = receive(back)
            replies.put((self, outcome))

    def breakdown(self) -> str:
        """Half a sentence about why it ended by itself."""
        self.end(keep=True)
        self._complaints.seek(0)
        last = self._complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
        self._complaints.close()
        code = self._process.returncode
        if code == -signal.SIGKILL or "MemoryError" in last or "bad_alloc" in last:
            return (
                "a worker process was killed, most likely because memory ran out "
                "(fewer workers need less)"
            )
        end = f": {printable(last[-200:])}" if last else ""
        return f"a worker process broke down (exit code {code}{end})"

    def end(self, keep: bool = False) -> None:
        """Kills it, if it still runs.

        Args:
            keep: what it wrote to standard error.
        """
        self._process.kill()
        self._process.wait()
        self._errands.put(None)
        self._courier.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # a call may still wait in the pipe
                pipe.close()  # type: ignore[union-attr]
        if not keep:
            self._complaints.close()
