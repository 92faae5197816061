"""Independent calls side by side: in worker processes and in this one, on all cores.

Workers are started by commands only, inside `all_cores`; otherwise all calls are made in this process.
A worker imports the main module again, and not every script and notebook is written for that.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar, cast

from fabkit.core.progress import Progress, counted, no_progress
from fabkit.jobs.run import Processes, Task, WorkerLostError

Result = TypeVar("Result")
#: The maximum number of processes, since each loads its libraries.
_MAX_PROCESSES = 8
#: Waiting blocks signal handlers on Windows, so wait in steps of this length.
_POLL_S = 0.1

_workers: Processes | None = None


def core_count() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def all_cores() -> Iterator[None]:
    """Let calls use all cores inside the block; workers start on demand, and end with it."""
    global _workers  # noqa: PLW0603
    workers = min(core_count(), _MAX_PROCESSES) - 1
    if not workers or _workers is not None:
        yield
        return
    with Processes(workers) as pool:
        _workers = pool
        try:
            yield
        finally:
            _workers = None


class Calls(Generic[Result]):
    """Calls of a function, which workers begin at once.

    Args:
        call: a module-level function; its arguments and results are pickled on the way.
        arguments: those of each call.
        names: what each call works on, for the progress.
    """

    def __init__(
        self,
        call: Callable[..., Result],
        arguments: Sequence[tuple[Any, ...]],
        names: Sequence[str],
    ) -> None:
        self._call: Callable[..., Any] = call
        self._arguments, self._names = arguments, names
        self._waiting = deque(range(len(arguments)))
        self._futures: dict[int, Future[Any]] = {}
        self._lock = threading.RLock()
        self._pool = _workers
        for _ in range(self._pool.workers if self._pool else 0):
            self._submit_next()

    def _submit_next(self, last: Future[Any] | None = None) -> None:
        """Hand the first waiting call to a worker; called again when that one is done."""
        if last is not None and (last.cancelled() or last.exception()):
            return  # the workers have ended, and are not started again from here
        with self._lock, suppress(IndexError):  # none is left
            if self._pool is not None and self._pool is _workers:
                index = self._waiting.popleft()
                self._futures[index] = self._pool.submit(self._task(index))
                self._futures[index].add_done_callback(self._submit_next)

    def _task(self, index: int) -> Task:
        return Task(self._names[index], self._call, self._arguments[index])

    def results(self, progress: Progress = no_progress) -> list[Result]:
        """Return all results; see `in_order`."""
        return list(self.in_order(progress))

    def in_order(
        self, progress: Progress = no_progress, ahead: int = sys.maxsize
    ) -> Iterator[Result]:
        """Yield the results in order, and help with the calls that no worker has begun.

        A call whose worker broke down is repeated here.

        Args:
            ahead: how many results may be held here before their turn; fewer for large ones.

        Raises:
            BaseException: whatever a call raises; the others are given up.
        """
        own: dict[int, Result] = {}
        total = len(self._arguments)
        try:
            for index in range(total):
                while index not in own:
                    with self._lock:
                        futures = dict(self._futures)
                        is_done = index in futures and futures[index].done()
                        helps = self._waiting and not is_done and len(own) < ahead
                        mine = self._waiting.popleft() if helps else None
                    if is_done:
                        own[index] = self._result(index, self._futures.pop(index))
                        break
                    done = index + len(own) + sum(future.done() for future in futures.values())
                    counted(progress, done, total, self._names[index if mine is None else mine])
                    if mine is None:
                        wait([futures[index]], _POLL_S)
                    else:
                        own[mine] = self._call(*self._arguments[mine])
                yield own.pop(index)
        finally:
            self._waiting.clear()
        progress(1.0, "")

    def _result(self, index: int, future: Future[Any]) -> Result:
        assert self._pool is not None
        try:
            result: Any = self._pool.result(future, self._task(index))
        except WorkerLostError:
            result = self._call(*self._arguments[index])
        if isinstance(result, BaseException):
            raise result
        return cast(Result, result)


def parallel_map(
    call: Callable[..., Result],
    arguments: Sequence[tuple[Any, ...]],
    names: Sequence[str],
    progress: Progress = no_progress,
) -> list[Result]:
    """Return the results of some `Calls` in order.

    Example:
        >>> parallel_map(divmod, [(7, 2), (9, 4)], ["7", "9"])
        [(3, 1), (2, 1)]
    """
    return Calls(call, arguments, names).results(progress)
