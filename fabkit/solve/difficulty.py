"""How hard a challenge is for a person, as far as the search can tell.

A person who packs well looks at the hardest place, tries what fits there in no particular
order, and takes back what fails. So does a `probe`: the item with fewest options is filled
next, its options are tried in a shuffled order, until a solution is found. Three things are
measured over several probes with fixed seeds:

- *tries*: how many pieces were put down in all (the mean), the honest effort;
- *free moves*: how many pieces of the solution had more than one place to go when they were
  put down (the mean); the others were forced, which people see at a glance;
- *solutions*: how many there are, since each more makes a lucky hit likelier.

The score is ``log2(tries) + free moves / 2 - log10(solutions) / 2``, not below 0. It never falls
with more tries or more free moves, and never rises with more solutions. The weights were set
so that the published IQ Fit and IQ Stars challenges come out in the order of their levels.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from statistics import fmean

from fabkit.solve.engines.engine import BudgetSpentError, Effort
from fabkit.solve.engines.search import FewestWalk, Search, in_slices
from fabkit.solve.problem import ExactCoverProblem

PROBES = 24
_MOST_TRIES = 50_000
_MOST_LOOKS = 1_000_000_000
_COUNTING_NODES = 1_000_000
#: Levels as the boxes name them, each with the score it ends below.
LEVELS = (
    ("starter", 3.0),
    ("junior", 5.0),
    ("expert", 7.0),
    ("master", 9.0),
    ("wizard", math.inf),
)


@dataclass(frozen=True)
class Difficulty:
    """The rating of one challenge, from the means of all probes.

    `free_moves` counts the pieces of the solution that were not forced; `complete` says whether
    there are no more solutions than `solutions`.
    """

    tries: float
    free_moves: float
    solutions: int
    complete: bool = False

    @property
    def score(self) -> float:
        """The rating; see the module."""
        effort = math.log2(max(self.tries, 1.0)) + self.free_moves / 2
        return max(0.0, effort - math.log10(max(self.solutions, 1)) / 2)

    @property
    def level(self) -> str:
        """The level's name."""
        return next(name for name, end in LEVELS if self.score < end)


def difficulty(
    problem: ExactCoverProblem,
    solutions: int | None = None,
    effort: Effort | None = None,
    patient: bool = False,
) -> Difficulty | None:
    """Rates a problem.

    Args:
        problem: what is left to do for the person.
        solutions: how many there are; None: those that a search of a million nodes finds.
        effort: a budget; its progress is not told.
        patient: whether to go on when the first probes find no solution. One that gives up
            counts with what it tried, so the rating is then the least that it can be.

    Returns:
        The rating; None when the first probes find no solution, or the time is over.
    """
    effort = effort or Effort()
    try:
        if not (patient or any(_probe(problem, seed, effort) for seed in (0, 1))):
            return None  # or two dozen times as long would be spent on the same
        found = [_probe(problem, seed, effort) for seed in range(PROBES)]
        complete = solutions is not None
        if solutions is None:
            nodes = _most(problem, _COUNTING_NODES)
            counted = Search(nodes).count(problem, Effort(effort.left_s))
            effort.tell(0.0)  # which ends it when the time is over
            solutions, complete = counted.count, counted.complete
    except BudgetSpentError:
        return None
    # One that gave up counts with what it tried, and with no piece forced: that is the least.
    gave_up = _most(problem, _MOST_TRIES), problem.pieces_used
    probes = [probe or gave_up for probe in found]
    tries, free_moves = (fmean(values) for values in zip(*probes, strict=True))
    return Difficulty(tries, free_moves, max(solutions, 1), complete)


def _most(problem: ExactCoverProblem, nodes: int) -> int:
    """So many nodes, or fewer where the options are so many that each node takes long."""
    return min(nodes, 1 + _MOST_LOOKS // max(1, len(problem.options)))


def _probe(problem: ExactCoverProblem, seed: int, effort: Effort) -> tuple[int, int] | None:
    """Tries and free moves of one search in a shuffled order; None when it gives up.

    Raises:
        BudgetSpentError: when the time is over.
    """
    options = list(problem.options)
    random.Random(seed).shuffle(options)  # noqa: S311
    walk = FewestWalk(replace(problem, options=tuple(options), symmetries=()), listing=True)
    for _ in in_slices(walk, limit=1, most_nodes=_most(problem, _MOST_TRIES)):
        effort.tell(0.0)
    if not walk.count:
        return None
    return walk.nodes, sum(count > 1 for count in walk.choices())
