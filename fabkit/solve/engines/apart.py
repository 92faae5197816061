"""Libraries from outside work in a process of their own, which can be ended at any moment.

A library in the middle of its search heeds neither a budget nor Ctrl-C, and a crash of it would
take the command along. Nor can OR-Tools and HiGHS share a process: OR-Tools carries another
version of HiGHS inside. So the parent sends a task to a child, reads its answers as they come,
and kills it when the time is over.
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
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import IO, Any

from fabkit.core.errors import FabkitError, OutsideError, printable
from fabkit.core.files import outside_failures
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, Outcome, Solution
from fabkit.solve.problem import ExactCoverProblem, Option

#: What runs in the child: a function at the top of its module, given a task and where to put
#: its answers, all of which JSON can hold.
Work = Callable[[Any, Callable[[Any], None]], None]

#: So often at least the parent looks whether it should go on.
_POLL_S = 0.05

#: The child imports what its parent would. Isolated, Python looks at nothing else before that.
_START = """
import json, sys
job = json.loads(sys.stdin.buffer.readline())
sys.path[:] = job["path"]
from fabkit.solve.engines.apart import child
child(job)
"""


class OutsideEngine(Engine):
    """An engine whose search is a library's. It implements `seek`."""

    @staticmethod
    @abstractmethod
    def seek(
        problem: ExactCoverProblem, limit: int | None, found: Callable[[Solution], None]
    ) -> int:
        """The library's search, for the child to call.

        Args:
            problem: what to solve; its symmetries and neighbours are left behind.
            limit: find at most so many; None for all. Finding fewer means that these are all.
            found: called with each solution once, as soon as it is found.

        Returns:
            The library's measure of work.
        """

    def enumerate(
        self, problem: ExactCoverProblem, effort: Effort, limit: int | None = None
    ) -> Outcome:
        """See `Engine.enumerate`.

        Raises:
            OutsideError: when the library is missing or its process breaks down.
        """
        found: list[Solution] = []
        if limit == 0:
            return Outcome(0, False)
        nodes = 0
        job = {
            "module": type(self).__module__,
            "engine": type(self).__name__,
            "options": [(option.kind, option.cells, option.copies) for option in problem.options],
            "rest": (problem.cell_count, problem.copies, problem.leftover),
            "limit": limit,
        }
        try:
            with contextlib.closing(answers(_seek, job, effort)) as replies:
                for reply in replies:
                    if isinstance(reply, int):
                        nodes = reply
                    else:
                        found.append(tuple(reply))
        except BudgetSpentError:
            return Outcome(len(found), False, tuple(found))
        return Outcome(len(found), len(found) != limit, tuple(found), nodes)


def _seek(job: Any, answer: Callable[[Any], None]) -> None:
    """Does an engine's search in the child: the answers are solutions, the last the nodes."""
    options = tuple(Option(kind, tuple(cells), copies) for kind, cells, copies in job["options"])
    cell_count, copies, leftover = job["rest"]
    problem = ExactCoverProblem(cell_count, tuple(copies), options, leftover)
    engine: OutsideEngine = getattr(import_module(job["module"]), job["engine"])()
    answer(engine.seek(problem, job["limit"], answer))


@contextlib.contextmanager
def library(engine: str, name: str, requirement: str) -> Iterator[None]:
    """Says what to install when an import inside fails.

    Raises:
        OutsideError: when it does.

    Example:
        >>> with library("magic", "Spells", "spells"):
        ...     import spells_that_nobody_has
        Traceback (most recent call last):
        ...
        fabkit.core.errors.OutsideError: the engine magic needs Spells; install it with: pip \
install 'spells'
    """
    try:
        yield
    except ModuleNotFoundError:
        message = f"the engine {engine} needs {name}; install it with: pip install '{requirement}'"
        raise OutsideError(message) from None
    except ImportError as error:
        reason = printable(str(error))
        raise OutsideError(f"the engine {engine} cannot load {name}: {reason}") from None


def answers(work: Work, task: Any, effort: Effort) -> Generator[Any, None, None]:
    """Lets a child work and passes on its answers; close it to end the child.

    Args:
        work: what to do.
        task: what to do it with.
        effort: asked many times a second whether the child may go on.

    Yields:
        The answers. After the time is over, those that were already under way.

    Raises:
        BudgetSpentError: when the time is over.
        OutsideError: when the child says so, or breaks down.
    """
    effort.tell(0.0)
    job = {"path": sys.path, "module": work.__module__, "work": work.__name__, "task": task}
    with tempfile.TemporaryFile() as complaints, _Child(json.dumps(job), complaints) as running:
        yield from running.lines(effort)
        if not running.finished:
            raise OutsideError(_breakdown(running.process.wait(), complaints))
    with contextlib.suppress(BudgetSpentError):  # an answer in full counts, however late
        effort.tell(1.0)


class _Child:
    """A running child; leaving it kills it."""

    def __init__(self, job: str, complaints: IO[bytes]) -> None:
        self.finished = False
        with outside_failures("cannot start the engine's process"):
            self.process = subprocess.Popen(  # noqa: S603 - this Python, and our own code
                [sys.executable, "-I", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,  # so that the terminal's Ctrl-C reaches the parent alone
            )
        self._job = job
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._courier = threading.Thread(target=self._carry, daemon=True)

    def __enter__(self) -> _Child:
        self._courier.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.process.stdout.close()  # type: ignore[union-attr]
        with contextlib.suppress(OSError):  # the job may still wait in the pipe
            self.process.stdin.close()  # type: ignore[union-attr]

    def end(self) -> None:
        """Kills the child, if it still runs, and waits for what it had written."""
        self.process.kill()
        self.process.wait()
        self._courier.join()

    def _carry(self) -> None:
        """Takes the job to the child, leaves the pipe open as its lifeline, brings answers."""
        out, back = self.process.stdin, self.process.stdout
        assert out is not None
        assert back is not None
        with contextlib.suppress(OSError):  # the child is gone; its answers are missed below
            out.write(self._job.encode() + b"\n")
            out.flush()
        for line in back:
            self._lines.put(line)
        self._lines.put(None)

    def lines(self, effort: Effort) -> Iterator[Any]:
        """The answers as they come."""
        try:
            while (line := self._next()) is not None:
                if line:
                    yield from self._opened(line)
                effort.tell(0.0)
        except BudgetSpentError:
            self.end()
            while line := self._next():
                yield from self._opened(line)
            if not self.finished:
                raise

    def _next(self) -> bytes | None:
        """The next line; empty when there is none yet, None after the last."""
        try:
            return self._lines.get(timeout=_POLL_S)
        except queue.Empty:
            return b""

    def _opened(self, line: bytes) -> Iterator[Any]:
        """What a line says; nothing when the child was killed in the middle of it."""
        if not line.endswith(b"\n"):
            return
        message = json.loads(line)
        if "failed" in message:
            raise OutsideError(message["failed"])
        self.finished = "finished" in message
        if not self.finished:
            yield message["answer"]


def _breakdown(code: int, complaints: IO[bytes]) -> str:
    """A sentence about a child that ended without having finished."""
    complaints.seek(0)
    last = complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
    if code == -signal.SIGKILL or "MemoryError" in last or "bad_alloc" in last:
        return "the engine's process was killed, most likely because memory ran out"
    return f"the engine's process broke down (exit code {code}): {printable(last[-200:])}"


def child(job: dict[str, Any]) -> None:
    """Does a job in the child, once its search path is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    answer_file = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print do not print into the answers
    sys.stdout = sys.stderr

    def say(**message: Any) -> None:
        answer_file.write(json.dumps(message).encode() + b"\n")
        answer_file.flush()

    try:
        work: Work = getattr(import_module(job["module"]), job["work"])
        work(job["task"], lambda answer: say(answer=answer))
        say(finished=True)
    except FabkitError as error:
        say(failed=str(error))
    os._exit(0)  # nothing to tidy: libraries' threads and destructors are not waited for


def _die_with_parent() -> None:
    """Ends this process when its parent ends, even by force."""

    def watch() -> None:
        os.read(0, 1)  # the lifeline: nothing more comes through it but its end
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    if sys.platform == "linux":
        # PySAT holds Python's lock while it solves, and so no thread would wake up to watch.
        import ctypes

        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
