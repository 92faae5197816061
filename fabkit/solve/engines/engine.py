"""The interface of engines, their results, and their budgets."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib import import_module

from fabkit.core.errors import InputError, no_such
from fabkit.core.progress import Progress, no_progress
from fabkit.solve.engines import ENGINES
from fabkit.solve.exact_cover import ExactCoverProblem

#: The positions of the options in a solution, ascending.
Solution = tuple[int, ...]


class BudgetSpentError(Exception):
    """The end of an engine's time, raised inside it; engines return an incomplete outcome."""


@dataclass
class Budget:
    """A time limit, with a progress callback.

    Attributes:
        limit_s: seconds from `started`; None for no limit.
        progress: called with the share of the work done, which never decreases.
        started: start of the clock, in `time.monotonic` seconds.
        count: number of solutions found so far, as last reported.
    """

    limit_s: float | None = None
    progress: Progress = no_progress
    started: float = field(default_factory=time.monotonic)
    count: int = field(default=0, init=False)
    _share: float = field(default=0.0, init=False)

    @property
    def left_s(self) -> float | None:
        """The seconds left, not below 0; None for no limit."""
        if self.limit_s is None:
            return None
        return max(0.0, self.started + self.limit_s - time.monotonic())

    def report(self, share: float, count: int = 0) -> None:
        """Report progress, with the number of solutions if an engine knows it; raise
        BudgetSpentError once the time is up, to stop unfinished work."""
        self._share = max(self._share, min(share, 1.0))
        self.count = max(self.count, count)
        self.progress(self._share, "")
        if share < 1 and self.left_s == 0:
            raise BudgetSpentError

    def subtask(self, start: float, end: float) -> Budget:
        """Return a budget for a part of the work, with progress from `start` to `end` of this."""

        def report(share: float, _: str) -> None:
            self.report(start + (end - start) * share)

        return Budget(self.limit_s, report, self.started)


@dataclass(frozen=True)
class Outcome:
    """The result of an engine.

    `complete` is False if a limit or the budget ended the search. `solutions` are the requested
    ones, `nodes` the placements tried, or the nearest measure of work.
    """

    count: int
    complete: bool
    solutions: tuple[Solution, ...] = ()
    nodes: int = 0


class UnsupportedProblemError(Exception):
    """An engine does not support a problem; the message says why."""


class Engine(ABC):
    """An exact cover engine.

    Subclasses implement `enumerate`; those that count without listing also implement `count`. A
    spent budget does not raise, but leaves the outcome incomplete.

    `name` is the value of `--engine`. `lists` and `counts` say whether it can list and count
    solutions; `trusted`, whether its "no" needs no confirmation by another engine.
    """

    name = ""
    lists = counts = trusted = True

    @abstractmethod
    def enumerate(
        self, problem: ExactCoverProblem, budget: Budget, limit: int | None = None
    ) -> Outcome:
        """List solutions, at most `limit` of them.

        Raises:
            UnsupportedProblemError: if it does not support this problem.
        """

    def first(self, problem: ExactCoverProblem, budget: Budget) -> Outcome:
        """Find one solution, or return a complete outcome without any."""
        return self.enumerate(problem, budget, limit=1)

    def unique(self, problem: ExactCoverProblem, budget: Budget) -> Outcome:
        """Find up to two solutions; a complete outcome with one shows that it is unique."""
        return self.enumerate(problem, budget, limit=2)

    def count(self, problem: ExactCoverProblem, budget: Budget) -> Outcome:
        """Count the solutions."""
        outcome = self.enumerate(problem, budget)
        return Outcome(outcome.count, outcome.complete, (), outcome.nodes)


def get_engine(name: str) -> Engine:
    """Import and return the engine of that name.

    Raises:
        InputError: if there is none.
    """
    if name not in ENGINES:
        raise InputError.of("--engine", no_such("engine", name, list(ENGINES)))
    module, cls = ENGINES[name]
    engine = getattr(import_module(f"fabkit.solve.engines.{module}"), cls)()
    assert isinstance(engine, Engine)
    return engine
