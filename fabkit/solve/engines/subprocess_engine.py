"""Engines whose library runs in a subprocess, which can be killed at any moment.

A library ignores budgets and Ctrl-C during its search, and if it crashed it would end the command.
Nor can OR-Tools and HiGHS share a process, since OR-Tools bundles another version of HiGHS. So the
parent sends a task to a child, reads its answers as they come, and kills it when the time is up.
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
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import IO, Any

from fabkit.core.errors import ExternalError, FabkitError, escape
from fabkit.core.process import ChildProcess, exit_with_parent
from fabkit.solve.engines.engine import Budget, BudgetSpentError, Engine, Outcome, Solution
from fabkit.solve.exact_cover import ExactCoverProblem

#: Runs in the child: a module-level function of a picklable task and a callback for its answers,
#: which must be JSON values.
Work = Callable[[Any, Callable[[Any], None]], None]

#: Code of the child: isolated from its environment, it imports from its parent's path.
_START = """
import json, sys
job = json.loads(sys.stdin.buffer.readline())
sys.path[:] = job["path"]
from fabkit.solve.engines.subprocess_engine import child_main
child_main(job["parent"])
"""


class ProcessKilledError(ExternalError):
    """A child process was ended by a signal, as by a crash."""


class SubprocessEngine(Engine):
    """An engine that runs a library in a subprocess; subclasses implement `run_library`."""

    @staticmethod
    @abstractmethod
    def run_library(
        problem: ExactCoverProblem, limit: int | None, report: Callable[[Solution], None]
    ) -> int:
        """Run the library's search, in the child, and return its measure of work.

        Args:
            limit: maximum number of solutions; None for all. Fewer found means that these are all.
            report: called once with each solution, as soon as it is found.
        """

    def enumerate(
        self, problem: ExactCoverProblem, budget: Budget, limit: int | None = None
    ) -> Outcome:
        """See `Engine.enumerate`.

        Raises:
            ExternalError: if the library is missing or its process fails.
        """
        if limit == 0:
            return Outcome(0, False)
        solutions, nodes = list[Solution](), 0
        job = type(self), replace(problem, symmetries=()), limit
        try:
            with contextlib.closing(run_in_subprocess(_run_library, job, budget)) as replies:
                for reply in replies:
                    if isinstance(reply, int):
                        nodes = reply
                    else:
                        solutions.append(tuple(reply))
        except BudgetSpentError:
            return Outcome(len(solutions), False, tuple(solutions))
        return Outcome(len(solutions), len(solutions) != limit, tuple(solutions), nodes)


def _run_library(
    job: tuple[type[SubprocessEngine], ExactCoverProblem, int | None], answer: Callable[[Any], None]
) -> None:
    """Run an engine's library in the child: the answers are solutions, and finally the nodes."""
    engine, problem, limit = job
    answer(engine.run_library(problem, limit, answer))


def run_in_subprocess(work: Work, task: Any, budget: Budget) -> Generator[Any, None, None]:
    """Run a task in a child process and yield its answers, once the time is up those already sent;
    close the generator to end the child.

    Raises:
        BudgetSpentError: if the time is up.
        ExternalError: if the child reports a failure or crashes; `ProcessKilledError`
            if by a signal.
    """
    budget.report(0.0)
    command = [sys.executable, "-I", "-c", _START]
    begin = json.dumps({"path": sys.path, "parent": os.getpid()}).encode()
    sent = begin + b"\n" + pickle.dumps((work, task))
    doing = "cannot start the engine's process"
    finished, spent = False, None
    with (
        tempfile.TemporaryFile() as complaints,
        ChildProcess(command, doing, sent, stderr=complaints) as running,
    ):
        for line in running.lines():
            # Else there is no answer yet, or the child was killed while writing it.
            if line.endswith(b"\n"):
                message = json.loads(line)
                if "failed" in message:
                    raise ExternalError(message["failed"])
                finished = "finished" in message
                if not finished:
                    yield message["answer"]
            try:
                if spent is None:
                    budget.report(0.0)
            except BudgetSpentError as error:
                spent = error
                running.end()
        if not finished:
            code = running.process.wait()
            fault = ProcessKilledError if code < 0 else ExternalError
            raise spent or fault(_crash_message(code, complaints))
    budget.report(1.0)


def _crash_message(code: int, complaints: IO[bytes]) -> str:
    """Describe how a child ended that did not finish."""
    complaints.seek(0)
    last = complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
    if code == -signal.SIGKILL or "MemoryError" in last or "bad_alloc" in last:
        return "the engine's process was killed, probably because it ran out of memory"
    return f"the engine's process failed (exit code {code}): {escape(last[-200:])}"


def child_main(parent: int) -> None:
    """Run the task read from standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_parent(parent)
    answer_file = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that what libraries print is not taken for answers
    sys.stdout = sys.stderr

    def send(**message: Any) -> None:
        answer_file.write(json.dumps(message).encode() + b"\n")
        answer_file.flush()

    try:
        work, task = pickle.load(sys.stdin.buffer)  # noqa: S301 (from its parent)
        work(task, lambda answer: send(answer=answer))
        send(finished=True)
    except FabkitError as error:
        send(failed=str(error))
    os._exit(0)  # don't wait for libraries' threads and destructors
