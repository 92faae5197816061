"""Working through tasks: what the checkpoint holds is not done again, what is done is put there."""

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
from typing import Any, Self

from fabkit.core.errors import FabkitError, OutsideError, many, shown
from fabkit.core.process import die_with
from fabkit.core.signals import at_stop, held
from fabkit.jobs.checkpoint import Checkpoint

#: So often Python looks for signals where waiting hides them (on Windows).
_POLL_S = 0.2
#: For Python's process that tidies after workers: it complains when we are killed.
_SILENT = "ignore:resource_tracker:UserWarning"


@dataclass(frozen=True)
class Task:
    """A part of long work: a call whose result is bytes.

    The same call always has to return the same bytes: after a kill it may be made again.

    Attributes:
        key: its name, unique within the work, such as ``"even/search"``.
        call: a function at the top of a module that every worker can import.
        arguments: what to call it with; pickled on the way to a worker.
        weight: its part of the progress, in proportion to the work that is expected of it.
    """

    key: str
    call: Callable[..., bytes]
    arguments: tuple[Any, ...]
    weight: float = 1.0


def run_tasks(
    tasks: Sequence[Task],
    checkpoint: Checkpoint,
    pool: Pool,
    on_progress: Callable[[float], None] = lambda share: None,
) -> list[bytes]:
    """Does the tasks that the checkpoint does not hold yet, and puts each there as it ends.

    Args:
        tasks: begun in this order: with the longest first, all workers are busy to the end.
        checkpoint: open.
        pool: where to work.
        on_progress: called with the share that is done, from 0 to 1, with that of earlier runs.
            What it raises stops the work.

    Returns:
        Their results in the order of `tasks`, whatever order they ended in.

    Raises:
        OutsideError: when workers break down again and again, or the checkpoint cannot be
            written. What had ended before is in the checkpoint.
        InputError: when a result in the checkpoint is damaged.
        BaseException: what a task raises.

    Example:
        >>> import tempfile
        >>> from operator import concat
        >>> from pathlib import Path
        >>> tasks = [Task("a", concat, (b"a", b"b")), Task("b", concat, (b"c", b"d"), 3.0)]
        >>> with tempfile.TemporaryDirectory() as folder, local_pool(1) as pool:
        ...     with Checkpoint(Path(folder), {"letters": "abcd"}) as checkpoint:
        ...         print(run_tasks(tasks, checkpoint, pool, on_progress=print))
        0.0
        0.25
        1.0
        [b'ab', b'cd']
    """
    results = {task.key: checkpoint.get(task.key) for task in tasks}
    left = {task.key: task for task in tasks if results[task.key] is None}
    total = math.fsum(task.weight for task in tasks)
    done = total - math.fsum(task.weight for task in left.values())
    on_progress(done / total if left else 1.0)
    with contextlib.closing(pool.results(list(left.values()))) as finished:
        for task, result in finished:
            checkpoint.put(task.key, result)
            results[task.key] = result
            del left[task.key]
            done += task.weight  # the sum may be rounded to an end that it has not reached
            on_progress(min(done / total, 1.0) if left else 1.0)
    return [result for result in results.values() if result is not None]


class LostError(Exception):
    """A task was lost with its worker and has to be done once more; says why."""


class Pool:
    """Where tasks are done: here, one after the other, or by the workers of a subclass.

    Use it as a context manager: leaving it ends all work at once.

    Attributes:
        window: so many tasks are with the workers at a time.
    """

    window = 1

    def __init__(self) -> None:
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel(())
        self._held.close()

    def submit(self, task: Task) -> Any:
        """Sends a task to the workers: its future."""
        future: Future[bytes] = Future()
        future.set_result(task.call(*task.arguments))
        return future

    def result(self, future: Any, task: Task) -> bytes | BaseException:
        """The `outcome` of a future that is done; or an `OutsideError`, when no try is worth it.

        Raises:
            LostError: when there is none, and the task is worth another try.
        """
        found: bytes | BaseException = future.result()
        return found

    def cancel(self, futures: Iterable[Any]) -> None:
        """Ends work that nobody waits for any more."""

    def results(self, tasks: Sequence[Task]) -> Generator[tuple[Task, bytes], None, None]:
        """Yields tasks and their results, in the order in which they end; close it to stop.

        What is lost with a worker is sent again. One that fails stops all: what others had
        finished by then is yielded first.

        Raises:
            OutsideError: when workers break down twice, and nothing is done in between.
            BaseException: what a task raised.
        """
        waiting, futures, lost = deque(tasks), dict[Any, Task](), list[Task]()
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        failure: BaseException | None = None
        reason, idle, moved = "", 0, False
        try:
            while (waiting or futures) and (failure is None or not finished.empty()):
                while waiting and len(futures) < self.window and not (lost or failure):
                    future = self.submit(waiting[0])
                    futures[future] = waiting.popleft()
                    future.add_done_callback(finished.put)
                try:
                    future = finished.get(timeout=_POLL_S)
                except queue.Empty:
                    continue
                task = futures.pop(future)
                try:
                    result = self.result(future, task)
                except LostError as error:
                    reason = str(error)
                    lost.append(task)
                else:
                    if isinstance(result, BaseException):
                        failure = failure or result
                    else:
                        moved = True
                        yield task, result
                if lost and not futures:  # nobody is at work: begin anew
                    idle, moved = 0 if moved else idle + 1, False
                    if idle == 2:
                        where = f"the task {shown(lost[0].key)}"
                        where = where if len(lost) == 1 else f"one of {many(len(lost), 'task')}"
                        raise OutsideError(f"{reason}, twice at {where}")
                    waiting.extendleft(reversed(lost))
                    lost.clear()
        finally:
            if futures:
                self.cancel(futures)
        if failure is not None:
            raise failure


def outcome(call: Callable[..., bytes], arguments: tuple[Any, ...]) -> bytes | BaseException:
    """The result of a task's call, or what it raised, in a form that pickle carries as it is.

    What is a bug says where in the worker it happened.
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
    """A pool on this machine, of so many processes; a single one is this process itself."""
    return Pool() if workers == 1 else _Processes(workers)


class _Processes(Pool):
    """Several tasks at a time, in processes that start when they are needed, and stay.

    They are new Python processes, not forks: these would inherit the lock of the checkpoint's
    folder, and locks that other threads held at that moment.
    """

    def __init__(self, workers: int) -> None:
        super().__init__()
        self.window, self._workers = 2 * workers + 1, workers
        self._executor: ProcessPoolExecutor | None = None
        self._processes: set[Any] = set()
        self._held.enter_context(at_stop(self._kill))

    def submit(self, task: Task) -> Future[Any]:
        """See `Pool.submit`."""
        if self._executor is None:
            self._processes.clear()
            if _SILENT not in sys.warnoptions:
                sys.warnoptions.append(_SILENT)
            self._executor = ProcessPoolExecutor(
                self._workers, multiprocessing.get_context("spawn"), _begin, (os.getpid(),)
            )
        with held(), _children_without_ctrl_c():
            try:
                future = self._executor.submit(outcome, task.call, task.arguments)
            except BrokenProcessPool as error:
                future = Future()
                future.set_exception(error)
            self._processes.update(self._executor._processes.values())
        return future

    def result(self, future: Any, task: Task) -> bytes | BaseException:
        """See `Pool.result`; when one worker ends by itself, all others are ended."""
        try:
            return super().result(future, task)
        except BrokenProcessPool:
            if self._executor is not None:
                self._executor.shutdown()
                self._executor = None
        codes = {process.exitcode for process in self._processes}
        own = codes - {None, 0, -signal.SIGTERM} or codes  # the others were ended so
        if -signal.SIGKILL in own:
            raise LostError(
                "a worker process was killed, most likely because memory ran out "
                "(fewer workers need less)"
            )
        raise LostError(f"a worker process broke down (exit code {', '.join(map(str, own))})")

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
    """What a worker process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C ends
    die_with(parent)
    os.dup2(2, 1)  # what libraries print is no result of the command


@contextlib.contextmanager
def _children_without_ctrl_c() -> Iterator[None]:
    """Processes that start inside are deaf to the terminal's Ctrl-C, also before they begin."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)
