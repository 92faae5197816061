"""Engines whose library runs in a subprocess, which can be killed at any moment.

A library ignores budgets and Ctrl-C during its search, and if it crashed it would end the command.
Nor can OR-Tools and HiGHS share a process, since OR-Tools bundles another version of HiGHS. So the
parent sends a task to a child, reads its answers as they come, and kills it when the time is up.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from fabkit.core.child import EVENT, RESULT, Child, report
from fabkit.core.errors import ExternalError, FabkitError, escape
from fabkit.solve.engines.engine import Budget, BudgetSpentError, Engine, Outcome, Solution
from fabkit.solve.exact_cover import ExactCoverProblem

#: Runs in the child: a module-level function of a picklable task and a callback for its answers.
Work = Callable[[Any, Callable[[Any], None]], None]

#: How often the budget is checked.
_POLL_S = 0.05


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
    spent = None
    with (
        tempfile.TemporaryFile() as complaints,
        Child("cannot start the engine's process", stderr=complaints) as running,
    ):
        running.call(_answer, work, task)
        while True:
            kind, value = running.receive(_POLL_S)
            if kind == RESULT:
                break
            if kind == EVENT:
                yield value
            elif isinstance(value, FabkitError):
                raise ExternalError(str(value))
            elif kind:
                code = 1 if value else running.process.wait()
                complaints.seek(0)
                text = complaints.read().decode(errors="replace")
                text += f"{type(value).__name__}: {value}" if value else ""
                fault = ProcessKilledError if code < 0 else ExternalError
                raise spent or fault(_crash_message(code, text))
            try:
                if spent is None:
                    budget.report(0.0)
            except BudgetSpentError as error:
                spent = error
                running.end()
    budget.report(1.0)


def _answer(work: Work, task: Any) -> None:
    """Run a task in the child."""
    work(task, report)


def _crash_message(code: int, complaints: str) -> str:
    """Describe how a child ended that did not finish."""
    last = complaints.strip().rpartition("\n")[2]
    if code == -signal.SIGKILL or "MemoryError" in last or "bad_alloc" in last:
        return "the engine's process was killed, probably because it ran out of memory"
    return f"the engine's process failed (exit code {code}): {escape(last[-200:])}"
