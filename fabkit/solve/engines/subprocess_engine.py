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
import pickle
import signal
import sys
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import IO, Any

from fabkit.core.errors import FabkitError, OutsideError, printable
from fabkit.core.process import Child, die_with
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, Outcome, Solution
from fabkit.solve.problem import ExactCoverProblem

#: What runs in the child: a function at the top of its module, given a task that can be pickled
#: and where to put its answers, which JSON can hold.
Work = Callable[[Any, Callable[[Any], None]], None]

#: The child imports what its parent would. Isolated, Python looks at nothing else before that.
_START = """
import json, sys
job = json.loads(sys.stdin.buffer.readline())
sys.path[:] = job["path"]
from fabkit.solve.engines.apart import child
child(job["parent"])
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
            problem: what to solve.
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
        job = type(self), replace(problem, symmetries=()), limit
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


def _seek(
    job: tuple[type[OutsideEngine], ExactCoverProblem, int | None], answer: Callable[[Any], None]
) -> None:
    """Does an engine's search in the child: the answers are solutions, the last the nodes."""
    engine, problem, limit = job
    answer(engine.seek(problem, limit, answer))


@contextlib.contextmanager
def library(engine: str, name: str, how: str) -> Iterator[None]:
    """Says what to install when an import inside fails.

    Raises:
        OutsideError: when it does.
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
    command = [sys.executable, "-I", "-c", _START]
    begin = json.dumps({"path": sys.path, "parent": os.getpid()}).encode()
    sent, doing = begin + b"\n" + pickle.dumps((work, task)), "cannot start the engine's process"
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
    effort.tell(1.0)


def _breakdown(code: int, complaints: IO[bytes]) -> str:
    """A sentence about a child that ended without having finished."""
    complaints.seek(0)
    last = complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
    if code == -signal.SIGKILL or "MemoryError" in last or "bad_alloc" in last:
        return "the engine's process was killed, most likely because memory ran out"
    return f"the engine's process broke down (exit code {code}): {printable(last[-200:])}"


def child(parent: int) -> None:
    """Does the job that standard input brings, once the search path is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
    answer_file = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print do not print into the answers
    sys.stdout = sys.stderr

    def say(**message: Any) -> None:
        answer_file.write(json.dumps(message).encode() + b"\n")
        answer_file.flush()

    try:
        work, task = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this
        work(task, lambda answer: say(answer=answer))
        say(finished=True)
    except FabkitError as error:
        say(failed=str(error))
    os._exit(0)  # nothing to tidy: libraries' threads and destructors are not waited for
