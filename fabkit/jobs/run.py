"""Run tasks, skipping those in the checkpoint and storing each result there."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Self

from fabkit.core.errors import ExternalError, FabkitError, pluralize, quote
from fabkit.core.process import exit_with_parent
from fabkit.core.progress import Progress, no_progress
from fabkit.core.signals import cleanup_on_signal, defer_signals
from fabkit.jobs.checkpoint import Checkpoint

#: Waiting blocks signal handlers on Windows, so wait in steps of this length.
POLL_S = 0.2
#: Silences Python's resource tracker, which warns when this process is killed.
_SILENT = "ignore:resource_tracker:UserWarning"


@dataclass(frozen=True)
class Task:
    """A part of a long run: a call whose result is bytes.

    The call must be deterministic: after a kill it may be repeated.

    Attributes:
        key: unique within the run, such as ``"even/search"``.
        call: a module-level function that every worker can import.
        arguments: pickled on the way to a worker.
        weight: share of the progress, proportional to the expected work.
    """

    key: str
    call: Callable[..., bytes]
    arguments: tuple[Any, ...]
    weight: float = 1.0


def run_tasks(
    tasks: Sequence[Task],
    checkpoint: Checkpoint | None,
    pool: Pool,
    progress: Progress = no_progress,
) -> list[bytes]:
    """Run the tasks missing from the checkpoint and store each result as it arrives.

    Args:
        tasks: started in this order; put the longest first to keep all workers busy to the end.
        checkpoint: entered already; None to keep nothing.
        progress: called with the share done, including earlier runs. An exception from it stops the
            run.

    Returns:
        The results in the order of `tasks`.

    Raises:
        ExternalError: when workers fail repeatedly, or the checkpoint cannot be written.
            Finished tasks remain in the checkpoint.
        InputError: when a result in the checkpoint is damaged.
        BaseException: whatever a task raises.

    Example:
        >>> import tempfile
        >>> from operator import concat
        >>> from pathlib import Path
        >>> tasks = [Task("a", concat, (b"a", b"b")), Task("b", concat, (b"c", b"d"), 3.0)]
        >>> with tempfile.TemporaryDirectory() as folder, local_pool(1) as pool:
        ...     with Checkpoint(Path(folder), {"letters": "abcd"}) as checkpoint:
        ...         print(run_tasks(tasks, checkpoint, pool, progress=lambda share, _: print(share)))
        0.0
        0.25
        1.0
        [b'ab', b'cd']
    """
    results = {task.key: checkpoint.get(task.key) if checkpoint else None for task in tasks}
    left = {task.key: task for task in tasks if results[task.key] is None}
    total = math.fsum(task.weight for task in tasks)
    done = total - math.fsum(task.weight for task in left.values())
    progress(done / total if left else 1.0, "")
    with contextlib.closing(pool.results(list(left.values()))) as finished:
        for task, result in finished:
            if checkpoint is not None:
                checkpoint.put(task.key, result)
            results[task.key] = result
            del left[task.key]
            done += task.weight  # rounding must not reach 1 early
            progress(min(done / total, 1.0) if left else 1.0, "")
    return [result for result in results.values() if result is not None]


class WorkerLostError(Exception):
    """A task was lost with its worker and must be repeated; the message explains why."""


class Pool:
    """Runs tasks in this process, one after another; subclasses use workers.

    Use it as a context manager: leaving it ends all work immediately.

    Attributes:
        max_pending: number of tasks submitted at a time.
    """

    max_pending = 1

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel(())
        self._stack.close()

    def submit(self, task: Task) -> Any:
        """Submit a task and return its future."""
        future: Future[bytes] = Future()
        future.set_result(task.call(*task.arguments))
        return future

    def result(self, future: Any, task: Task) -> bytes | BaseException:
        """Return the `call_outcome` of a finished future, or an `ExternalError` if retrying is useless.

        Raises:
            WorkerLostError: when the result was lost and the task should be retried.
        """
        outcome: bytes | BaseException = future.result()
        return outcome

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel work whose results are no longer needed."""

    def results(self, tasks: Sequence[Task]) -> Generator[tuple[Task, bytes], None, None]:
        """Yield tasks and their results in the order of completion; close it to stop.

        Tasks lost with a worker are resubmitted. A failing task stops the run: results that are
        already finished are yielded first.

        Raises:
            ExternalError: when workers fail twice without progress in between.
            BaseException: whatever a task raised.
        """
        waiting = deque(tasks)
        futures = dict[Any, Task]()
        lost = list[Task]()
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        failure: BaseException | None = None
        reason = ""
        idle = 0
        moved = False
        try:
            while (waiting or futures) and (failure is None or not finished.empty()):
                while waiting and len(futures) < self.max_pending and not (lost or failure):
                    future = self.submit(waiting[0])
                    futures[future] = waiting.popleft()
                    future.add_done_callback(finished.put)
                try:
                    future = finished.get(timeout=POLL_S)
                except queue.Empty:
                    continue
                task = futures.pop(future)
                try:
                    result = self.result(future, task)
                except WorkerLostError as error:
                    reason = str(error)
                    lost.append(task)
                else:
                    if isinstance(result, BaseException):
                        failure = failure or result
                    else:
                        moved = True
                        yield task, result
                if lost and not futures:  # all workers are idle: start over
                    idle = 0 if moved else idle + 1
                    moved = False
                    if idle == 2:
                        several = f"one of {pluralize(len(lost), 'task')}"
                        where = f"the task {quote(lost[0].key)}" if len(lost) == 1 else several
                        raise ExternalError(f"{reason}, twice at {where}")
                    waiting.extendleft(reversed(lost))
                    lost.clear()
        finally:
            if futures:
                self.cancel(futures)
        if failure is not None:
            raise failure


def call_outcome(call: Callable[..., bytes], arguments: tuple[Any, ...]) -> bytes | BaseException:
    """Return the result of a task's call, or the exception it raised, in a picklable form.

    Unexpected exceptions carry the traceback from the worker as a note.
    """
    try:
        return call(*arguments)
    except FabkitError as error:
        return error
    except BaseException as error:
        error.add_note("In the worker:\n" + "".join(traceback.format_exception(error)).rstrip())
        try:
            copy: BaseException = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        except Exception:
            copy = RuntimeError(f"{type(error).__qualname__}: {error}")
            copy.__notes__ = error.__notes__
        return copy


def local_pool(workers: int) -> Pool:
    """Return a pool of ``workers`` local processes; with one worker, this process itself."""
    return Pool() if workers == 1 else Processes(workers)


class Processes(Pool):
    """Runs several tasks at a time, in processes that start on demand and stay.

    They are spawned, not forked: forks would inherit the lock of the checkpoint's folder, and locks
    held by other threads at that moment.
    """

    def __init__(self, workers: int) -> None:
        super().__init__()
        self.max_pending, self._workers = 2 * workers + 1, workers
        self._executor: ProcessPoolExecutor | None = None
        self._processes: set[Any] = set()
        self._stack.enter_context(cleanup_on_signal(self._kill))

    def submit(self, task: Task) -> Future[Any]:
        """See `Pool.submit`."""
        if self._executor is None:
            self._processes.clear()
            if _SILENT not in sys.warnoptions:
                sys.warnoptions.append(_SILENT)
            self._executor = ProcessPoolExecutor(
                self._workers, multiprocessing.get_context("spawn"), _begin, (os.getpid(),)
            )
        with defer_signals(), starting_workers():
            try:
                future = self._executor.submit(call_outcome, task.call, task.arguments)
            except BrokenProcessPool as error:
                future = Future()
                future.set_exception(error)
            self._processes.update(self._executor._processes.values())
        return future

    def result(self, future: Any, task: Task) -> bytes | BaseException:
        """See `Pool.result`; when one worker dies, all others are terminated."""
        try:
            return super().result(future, task)
        except BrokenProcessPool:
            if self._executor is not None:
                self._executor.shutdown()
                self._executor = None
        codes = {process.exitcode for process in self._processes}
        own = codes - {None, 0, -signal.SIGTERM} or codes  # the others were terminated this way
        if -signal.SIGKILL in own:
            raise WorkerLostError(
                "a worker process was killed, most likely because memory ran out "
                "(use fewer workers)"
            )
        raise WorkerLostError(f"a worker process broke down (exit code {', '.join(map(str, own))})")

    def cancel(self, futures: Iterable[Any]) -> None:
        """See `Pool.cancel`."""
        self._kill()
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None

    def _kill(self) -> None:
        for process in self._processes:
            process.kill()


def _begin(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    exit_with_parent(parent)
    os.dup2(2, 1)  # output of libraries must not mix with the command's


@contextlib.contextmanager
def starting_workers() -> Iterator[None]:
    """Block SIGINT in processes started inside, from their first moment on, and keep them from importing
    the main module again: few scripts are written for that."""
    main = sys.modules["__main__"]
    has_mask = hasattr(signal, "pthread_sigmask")
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if has_mask else ()
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if has_mask:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
