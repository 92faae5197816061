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
import signal
import sys
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import IO, Any

from fabkit.core.errors import FabkitError, OutsideError, printable
from fabkit.core.process import Child, die_with
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, Outcome, Solution
from fabkit.solve.problem import ExactCoverProblem, Option

#: What runs in the child: a function at the top of its module, given a task and where to put
#: its answers, all of which JSON can hold.
Work = Callable[[Any, Callable[[Any], None]], None]

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
            "rest": (problem.cell_count, problem.copies, problem.leftover, problem.pieces_count),
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
    cell_count, copies, leftover, pieces_count = job["rest"]
    problem = ExactCoverProblem(cell_count, tuple(copies), options, leftover, (), pieces_count)
    engine: OutsideEngine = getattr(import_module(job["module"]), job["engine"])()
    answer(engine.seek(problem, job["limit"], answer))


@contextlib.contextmanager
def library(engine: str, name: str, how: str) -> Iterator[None]:
    """Says what to install when an import inside fails.

    Raises:
        OutsideError: when it does.

    Example:
        >>> with library("magic", "Spells", "with: pip install spells"):
        ...     import spells_that_nobody_has
        Traceback (most recent call last):
        ...
        fabkit.core.errors.OutsideError: the engine magic needs Spells; install it with: pip \
install spells
    """
    try:
        yield
    except ModuleNotFoundError:
        message = f"the engine {engine} needs {name}; install it {how}"
        raise OutsideError(message) from None
    except ImportError as error:
        reason = printable(str(error))
        raise OutsideError(f"the engine {engine} cannot load {name}: {reason}") from None


def answers(work: Work, task: Any, effort: Effort) -> Generator[Any, None, None]:
    """Lets a child work and passes on its answers; close it to end the child.

    Yields:
        The answers. After the time is over, those that were already under way.

    Raises:
        BudgetSpentError: when the time is over.
        OutsideError: when the child says so, or breaks down.
    """
    effort.tell(0.0)
    job = {"path": sys.path, "parent": os.getpid()}
    job |= {"module": work.__module__, "work": work.__name__, "task": task}
    command = [sys.executable, "-I", "-c", _START]
    sent, doing = json.dumps(job).encode() + b"\n", "cannot start the engine's process"
    finished, spent = False, None
    with (
        tempfile.TemporaryFile() as complaints,
        Child(command, doing, sent, stderr=complaints) as running,
    ):
        for line in running.lines():
            if line.endswith(b"\n"):  # else there is none yet, or it was killed in the middle of it
                message = json.loads(line)
                if "failed" in message:
                    raise OutsideError(message["failed"])
                finished = "finished" in message
                if not finished:
                    yield message["answer"]
            try:
                if spent is None:
                    effort.tell(0.0)
            except BudgetSpentError as error:
                spent = error
                running.end()
        if not finished:
            raise spent or OutsideError(_breakdown(running.process.wait(), complaints))
    with contextlib.suppress(BudgetSpentError):  # an answer in full counts, however late
        effort.tell(1.0)


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
    die_with(job["parent"])
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
