"""Independent calls side by side: in worker processes and in this one, on all cores.

Workers are started by commands only, inside `all_cores`; otherwise all calls are made in this process.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, Generic, TypeVar

from fabkit.core.progress import Progress, counted, no_progress
from fabkit.jobs.run import POLL_S, Processes, Task

Result = TypeVar("Result")
#: The maximum number of processes, since each loads its libraries.
_MAX_PROCESSES = 8


class _Crew(Processes):
    """The workers, and the calls that nobody has begun."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.lock = threading.RLock()
        self._idle = workers
        self._begun: deque[Calls[Any]] = deque()

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self._begun.clear()
        super().__exit__(*error)

    def begin(self, calls: Calls[Any]) -> None:
        """Hand calls to the workers, after those that were begun before."""
        with self.lock:
            self._begun.append(calls)
            while self._idle and self._hand_out():
                self._idle -= 1

    def take(self) -> tuple[Calls[Any], int] | None:
        """Take the first call that nobody has begun."""
        while self._begun:
            with suppress(IndexError):
                return self._begun[0], self._begun[0].waiting.popleft()
            self._begun.popleft()
        return None

    def _hand_out(self) -> bool:
        """Hand the next call to a worker, if there are both."""
        taken = self.take()
        if taken is None:
            return False
        calls, index = taken
        try:
            future = self.submit(Task(calls.names[index], calls.call, calls.arguments[index]))
        except OSError:  # the system starts no more processes
            calls.waiting.appendleft(index)
            return False
        calls.futures[index] = future
        future.add_done_callback(self._go_on)
        return True

    def _go_on(self, last: Future[Any]) -> None:
        """Give the worker that has finished a call another one; none once a worker broke down."""
        if not last.cancelled() and last.exception() is None:
            with self.lock:
                self._idle += not self._hand_out()


_crew: _Crew | None = None


def core_count() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def all_cores() -> Iterator[None]:
    """Let calls use all cores inside the block; workers start on demand, and end with it."""
    global _crew  # noqa: PLW0603
    workers = min(core_count(), _MAX_PROCESSES) - 1
    if not workers or _crew is not None:
        yield
        return
    with _Crew(workers) as _crew:
        try:
            yield
        finally:
            _crew = None


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
        self.call: Callable[..., Any] = call
        self.arguments, self.names = [*arguments], names
        self.waiting = deque(range(len(arguments)))
        self.futures: dict[int, Future[Any]] = {}
        self.outcomes: dict[int, Any] = {}
        self._crew = _crew if len(arguments) >= minimum else None
        if self._crew is not None:
            self._crew.begin(self)

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
            for index in range(len(self.arguments)):
                while index not in self.outcomes:
                    self._advance(index, progress, ahead)
                outcome = self.outcomes[index]
                if isinstance(outcome, BaseException):
                    raise outcome
                if ahead is not None:
                    del self.outcomes[index]
                yield outcome
        finally:
            self.waiting.clear()
        progress(1.0, "")

    def _advance(self, index: int, progress: Progress, ahead: int | None) -> None:
        """Take the outcome of a call that a worker has made; else make a call, or wait."""
        calls: Calls[Any] | None = self
        with self._crew.lock if self._crew else nullcontext():
            number = index
            future = self.futures.get(index)
            if future is None:
                self.waiting.remove(index)
            elif (
                future.done() or self._crew is None or len(self.outcomes) >= (ahead or sys.maxsize)
            ):
                calls = None
            else:
                calls, number = self._crew.take() or (None, index)
            done = len(self.outcomes) + (0 if ahead is None else index)
            done += sum(other.done() for other in self.futures.values())
        counted(progress, done, len(self.arguments), (calls or self).names[number])
        if calls is not None:
            try:
                calls.outcomes[number] = calls.call(*calls.arguments[number])
            except Exception as error:  # raised when it is its turn
                calls.outcomes[number] = error
            calls.arguments[number] = ()  # they may be large
        elif future is not None and future.done():
            self.outcomes[index] = self._outcome(index)
            self.arguments[index] = ()
        elif future is not None:
            wait([future], POLL_S)

    def _outcome(self, index: int) -> Any:
        """Return what a worker did; a call that broke it down, or waited for it, is made here."""
        try:
            return self.futures.pop(index).result()
        except BrokenProcessPool:
            return self.call(*self.arguments[index])
