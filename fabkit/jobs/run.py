"""Run tasks, skipping those in the checkpoint and storing each result there."""

from __future__ import annotations

import contextlib
import math
import queue
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self

from fabkit.core.child import ENDED, RESULT, Child
from fabkit.core.errors import ExternalError, quote
from fabkit.core.progress import Progress, no_progress
from fabkit.jobs.checkpoint import Checkpoint

#: Waiting blocks signal handlers on Windows, so wait in steps of this length.
POLL_S = 0.2


@dataclass(frozen=True)
class Task:
    """A part of a long run: a call, whose result is bytes if it is kept.

    The call must be deterministic: after a kill it may be repeated.

    Attributes:
        key: unique within the run, such as ``"even/search"``.
        call: a module-level function that every worker can import.
        arguments: pickled on the way to a worker.
        weight: share of the progress, proportional to the expected work.
    """

    key: str
    call: Callable[..., Any]
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
    """  # noqa: E501
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


class Job(Future[Any]):
    """A task that somebody makes, and its outcome."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task = task

    def make(self) -> None:
        """Make it in this process."""
        try:
            result = self.task.call(*self.task.arguments)
        except Exception as error:  # raised where the result is asked for
            self.set_exception(error)
        else:
            self.set_result(result)


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
        job = Job(task)
        job.make()
        return job

    def result(self, future: Any, task: Task) -> bytes | BaseException:
        """Return the result of a finished future, or the exception that its task raised.

        Raises:
            WorkerLostError: when the result was lost and the task should be retried.
        """
        error: BaseException | None = future.exception()
        if isinstance(error, WorkerLostError):
            raise error
        outcome: bytes | BaseException = error or future.result()
        return outcome

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel work whose results are no longer needed."""

    def results(self, tasks: Sequence[Task]) -> Generator[tuple[Task, bytes], None, None]:
        """Yield tasks and their results in the order of completion; close it to stop.

        A task lost with a worker is repeated after the others. A failing task stops the run:
        results that are already finished are yielded first.

        Raises:
            ExternalError: when workers fail twice at a task without progress in between.
            BaseException: whatever a task raised.
        """
        waiting = deque(tasks)
        futures = dict[Any, Task]()
        lost = set[str]()
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        failure: BaseException | None = None
        try:
            while (waiting or futures) and (failure is None or not finished.empty()):
                while waiting and len(futures) < self.max_pending and not failure:
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
                    waiting.append(task)
                    if task.key in lost:
                        message = f"{error}, twice at the task {quote(task.key)}"
                        failure = failure or ExternalError(message)
                    lost.add(task.key)
                    continue
                if isinstance(result, BaseException):
                    failure = failure or result
                else:
                    lost.clear()
                    yield task, result
        finally:
            if futures:
                self.cancel(futures)
        if failure is not None:
            raise failure


def local_pool(workers: int) -> Pool:
    """Return a pool of ``workers`` local processes; with one worker, this process itself."""
    return Pool() if workers == 1 else Processes(workers)


class Processes(Pool):
    """Makes several tasks at a time, in processes that start on demand and stay.

    Attributes:
        lock: held to look at, and take from, what is `waiting`.
        waiting: the jobs that no process has begun.
    """

    def __init__(self, workers: int) -> None:
        super().__init__()
        self.max_pending, self._workers = 2 * workers + 1, workers
        self.lock = threading.RLock()
        self.waiting: deque[Job] = deque()
        self._busy: dict[Child, Job] = {}
        self._idle: list[Child] = []
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._collect, daemon=True).start()
        self._stack.callback(self._messages.put, None)

    def submit(self, task: Task) -> Job:
        """See `Pool.submit`."""
        job = Job(task)
        self.begin([job])
        return job

    def begin(self, jobs: Iterable[Job]) -> None:
        """Let processes make jobs, after those that were begun before.

        Raises:
            ExternalError: when no process can be started; the jobs are `waiting` then.
        """
        with self.lock:
            self.waiting.extend(jobs)
            self._hand_out()

    def cancel(self, futures: Iterable[Any]) -> None:
        """See `Pool.cancel`."""
        with self.lock:
            children = [*self._busy, *self._idle]
            lost = [*self._busy.values(), *self.waiting]
            for jobs in (self._busy, self._idle, self.waiting):
                jobs.clear()
        for child in children:
            child.close()
        for job in lost:
            job.set_exception(WorkerLostError("the work was stopped"))

    def _hand_out(self) -> None:
        """Hand waiting jobs to processes, as long as there are both."""
        while self.waiting and (self._idle or len(self._busy) < self._workers):
            if not self._idle:
                child = Child("cannot start a worker process", self._messages)
                try:
                    child.start()
                except ExternalError:
                    if self._busy:  # they go on
                        return
                    raise
                self._idle.append(child)
            job, child = self.waiting.popleft(), self._idle.pop()
            try:
                child.call(job.task.call, *job.task.arguments)
            except Exception as error:  # it cannot be pickled
                self._idle.append(child)
                job.set_exception(error)
            else:
                self._busy[child] = job

    def _collect(self) -> None:
        """Take the outcomes of jobs as they arrive, in a thread."""
        for child, kind, outcome in iter(self._messages.get, None):
            with self.lock:
                job = self._busy.pop(child, None)
                if job is None:  # it was cancelled, or had nothing to do
                    self._idle = [idle for idle in self._idle if idle is not child]
                    continue
                if kind == ENDED:
                    child.close()
                else:
                    self._idle.append(child)
                try:
                    self._hand_out()
                except ExternalError as error:
                    for lost in self.waiting:
                        lost.set_exception(WorkerLostError(str(error)))
                    self.waiting.clear()
            if kind == RESULT:
                job.set_result(outcome)
            else:
                job.set_exception(outcome or WorkerLostError(_reason(child.process.wait())))


def _reason(code: int) -> str:
    """Why a worker process has ended."""
    if code == -signal.SIGKILL:
        return "a worker process was killed, most likely because memory ran out (use fewer workers)"
    return f"a worker process broke down (exit code {code})"
