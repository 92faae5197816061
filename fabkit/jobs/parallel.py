"""Independent calls side by side: in worker processes and in this one, on all cores.

Workers are started by commands only, inside `all_cores`; otherwise all calls are made in this
process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from fabkit.core.errors import ExternalError
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.jobs.run import POLL_S, Job, Processes, Task, WorkerLostError

Result = TypeVar("Result")
#: The maximum number of processes, since each loads its libraries.
_MAX_PROCESSES = 8


_pool: Processes | None = None


def core_count() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def all_cores() -> Iterator[None]:
    """Let calls use all cores inside the block; workers start on demand, and end with it."""
    global _pool  # noqa: PLW0603
    workers = min(core_count(), _MAX_PROCESSES) - 1
    if not workers or _pool is not None:
        yield
        return
    with Processes(workers) as _pool:
        try:
            yield
        finally:
            _pool = None


class Calls(Generic[Result]):
    """Calls of a function, which workers begin at once.

    Args:
        call: a module-level function; its arguments and results are pickled on the way.
        arguments: those of each call.
        names: what each call works on, for the progress.
        minimum: fewer calls are all made in this process.

    Example:
        >>> Calls(divmod, [(7, 2), (9, 4)], ["7", "9"]).results()
        [(3, 1), (2, 1)]
    """

    def __init__(
        self,
        call: Callable[..., Result],
        arguments: Sequence[tuple[Any, ...]],
        names: Sequence[str],
        minimum: int = 0,
    ) -> None:
        tasks = map(Task, names, [call] * len(arguments), arguments)
        self._jobs: list[Job | None] = [*map(Job, tasks)]
        self._pool = _pool if len(arguments) >= minimum else None
        if self._pool is not None:
            with suppress(ExternalError):  # the system starts no more processes
                self._pool.begin(filter(None, self._jobs))

    def results(self, progress: Progress = no_progress) -> list[Result]:
        """Return all results; see `in_order`."""
        return list(self.in_order(progress))

    def in_order(
        self, progress: Progress = no_progress, ahead: int | None = None
    ) -> Iterator[Result]:
        """Yield the results in order, and help with the calls that no worker has begun.

        Such a call may ask for the same results. A call whose worker broke down is repeated here.

        Args:
            ahead: how many results may be held here before their turn, if they are too large to be
                kept; they can be taken only once.

        Raises:
            BaseException: whatever a call raises; the others are given up.
        """
        try:
            for index, job in enumerate(self._jobs):
                assert job is not None
                while not job.done():
                    self._advance(job, progress, ahead)
                if ahead is not None:
                    self._jobs[index] = None
                yield self._result(job)
        finally:
            if self._pool is not None:
                with self._pool.lock:
                    left = [job for job in self._pool.waiting if job not in self._jobs]
                    self._pool.waiting.clear()
                    self._pool.waiting.extend(left)
        progress(1.0, "")

    def _advance(self, job: Job, progress: Progress, ahead: int | None) -> None:
        """Make a call that no worker has begun, this one if possible; else wait for it."""
        done = sum(other is None or other.done() for other in self._jobs)
        held = sum(other is not None and other.done() for other in self._jobs)
        taken: Job | None = job
        if self._pool is not None:
            with self._pool.lock:
                waiting = self._pool.waiting
                if job in waiting:
                    waiting.remove(job)
                else:
                    may_help = waiting and (ahead is None or held < ahead)
                    taken = waiting.popleft() if may_help else None
        counted(progress, done, len(self._jobs), (taken or job).task.key)
        if taken is not None:
            taken.make()
        else:
            wait([job], POLL_S)

    def _result(self, job: Job) -> Result:
        """Return the result of a call; one that was lost with its worker is made here."""
        try:
            result: Result = job.result()
        except WorkerLostError:
            result = job.task.call(*job.task.arguments)
        return result
