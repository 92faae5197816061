"""What every engine offers, what it returns, and how it is held to a budget."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

from fabkit.core.errors import InputError, did_you_mean, shown
from fabkit.solve.problem import ExactCoverProblem

#: The positions of a solution's options, ascending.
Solution = tuple[int, ...]


class BudgetSpentError(Exception):
    """Raised inside an engine when its time is over; engines turn it into an open outcome."""


@dataclass
class Effort:
    """How long an engine may work, and whom it tells how far it is.

    Attributes:
        budget_s: seconds from `started`; None for no end.
        told: called with the share of the work that is done, from 0 to 1; it never decreases.
        started: when the clock began, in `time.monotonic` seconds.
    """

    budget_s: float | None = None
    told: Callable[[float], None] | None = None
    started: float = field(default_factory=time.monotonic)
    _share: float = field(default=0.0, init=False)

    @property
    def left_s(self) -> float | None:
        """Seconds that are left, not below 0; None for no end."""
        if self.budget_s is None:
            return None
        return max(0.0, self.started + self.budget_s - time.monotonic())

    def tell(self, share: float) -> None:
        """Passes on how far the work is, and stops it when the time is over before it is done.

        Raises:
            BudgetSpentError: when it is.
        """
        self._share = max(self._share, min(share, 1.0))
        if self.told is not None:
            self.told(self._share)
        if share < 1 and self.left_s == 0:
            raise BudgetSpentError

    def part(self, start: float, end: float) -> Effort:
        """An effort whose whole work is one part of this one's."""
        inner = Effort(self.budget_s, None, self.started)
        inner.told = lambda share: self.tell(start + (end - start) * share)
        return inner


@dataclass(frozen=True)
class Outcome:
    """What an engine found.

    `complete` says whether these are all there are: no limit or budget ended it. `solutions` are
    those that were asked for, `nodes` the placements tried, or the nearest measure of work.
    """

    count: int
    complete: bool
    solutions: tuple[Solution, ...] = ()
    nodes: int = 0


class EngineUnfitError(Exception):
    """An engine cannot do what is asked of it; the sentence says why."""


class Engine(ABC):
    """An exact cover engine.

    It implements `enumerate`; one that counts without listing implements `count` as well. Budgets
    never raise: the outcome is then not complete.

    Its `name` is as `--engine` calls it. Whether it can list, or count, is said by
    `lists` and `counts`; whether its "no" needs no second opinion, by `trusted`.
    """

    name = ""
    lists = counts = trusted = True

    @abstractmethod
    def enumerate(
        self, problem: ExactCoverProblem, effort: Effort, limit: int | None = None
    ) -> Outcome:
        """Lists solutions, at most `limit` of them.

        Raises:
            EngineUnfitError: when it cannot take this problem.
        """

    def first(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """One solution, or a complete outcome without any."""
        return self.enumerate(problem, effort, limit=1)

    def unique(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """Up to two solutions: complete with one exactly if there is one."""
        return self.enumerate(problem, effort, limit=2)

    def count(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """The number of solutions."""
        found = self.enumerate(problem, effort)
        return Outcome(found.count, found.complete, (), found.nodes)


_PLACES = {
    "search": ("search", "Search"),
    "count": ("frontier", "Count"),
    "sat": ("sat", "Sat"),
    "cp-sat": ("cpsat", "CpSat"),
    "mip": ("mip", "Mip"),
}

#: The engines' names, the fastest for most things first.
ENGINES = tuple(_PLACES)


def engine_named(name: str) -> Engine:
    """The engine of that name, imported when it is wanted.

    Raises:
        InputError: when there is none.
    """
    if name not in _PLACES:
        hint = did_you_mean(name, ENGINES) or f"; known are {', '.join(ENGINES)}"
        raise InputError.of("--engine", f"there is no engine {shown(name)}{hint}")
    module, cls = _PLACES[name]
    made = getattr(import_module(f"fabkit.solve.engines.{module}"), cls)()
    assert isinstance(made, Engine)
    return made
