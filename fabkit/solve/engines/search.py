"""The engine `search`: compiled backtracking by one of two rules, `bitmask` or `mrv`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from fabkit.solve.engines.bitmask import BitmaskSearch
from fabkit.solve.engines.engine import Budget, BudgetSpentError, Engine, Outcome, Solution
from fabkit.solve.engines.mrv import MrvSearch
from fabkit.solve.engines.tree_search import TreeSearch, run_in_slices
from fabkit.solve.exact_cover import ExactCoverProblem


class Search(Engine):
    """Backtracking: `BitmaskSearch` if all cells fit into a word, else `MrvSearch`.

    Counting first branches on a piece and tries only one placement of each of its orbits under the
    board's symmetries. The search gives up after about `max_nodes`.
    """

    name = "search"

    def __init__(self, max_nodes: int | None = None) -> None:
        self._max_nodes = max_nodes

    def enumerate(
        self, problem: ExactCoverProblem, budget: Budget, limit: int | None = None
    ) -> Outcome:
        """See `Engine.enumerate`."""
        search = start_search(problem, break_symmetry=False, keep_solutions=True)
        return self._run(search, budget, limit)

    def first(self, problem: ExactCoverProblem, budget: Budget) -> Outcome:
        """See `Engine.first`."""
        search = start_search(problem, break_symmetry=True, keep_solutions=True)
        outcome = self._run(search, budget, 1)
        solutions = outcome.solutions[:1]
        return Outcome(len(solutions), outcome.complete, solutions, outcome.nodes)

    def count(self, problem: ExactCoverProblem, budget: Budget) -> Outcome:
        """See `Engine.count`."""
        search = start_search(problem, break_symmetry=True, keep_solutions=False)
        return self._run(search, budget, None)

    def _run(self, search: TreeSearch, budget: Budget, limit: int | None) -> Outcome:
        """Run until the search is over, the limit is reached, or nodes or time are spent."""
        over = False
        try:
            for ended in run_in_slices(search, limit, self._max_nodes) if limit != 0 else ():
                over = ended
                budget.report(search.progress(), search.count)
        except BudgetSpentError:
            pass
        if over:
            budget.report(1.0)
        complete = over and (limit is None or search.count < limit)
        return Outcome(search.count, complete, tuple(search.solutions), search.nodes)


def estimate_nodes(problem: ExactCoverProblem, seconds: float) -> int:
    """Estimate how many nodes a search visits in some seconds, without measuring.

    What it decides is the same on every machine and in every run.
    """
    if BitmaskSearch.fits(problem):
        return int(seconds * 25e6)
    return int(seconds * 1e9 / (500 + len(problem.options)))


def count_if_short(problem: ExactCoverProblem, max_nodes: int, budget: Budget) -> Outcome:
    """Count the solutions, unless that is expected to take more than so many nodes.

    Expected are the nodes so far over the share of the search that is done: first after a sixteenth
    of the maximum, then whenever they have doubled. The outcome is incomplete if the count is not
    short or the budget is spent. How long a count is does not depend on the machine or its clock.
    """
    search = start_search(problem, break_symmetry=True, keep_solutions=False)
    over = False
    with suppress(BudgetSpentError):
        for part in (16, 8, 4, 2, 1):
            over = search.step(max_nodes // part - search.nodes, None)
            budget.report(float(over), search.count)
            if over or search.nodes > max_nodes * search.progress():
                break
    return Outcome(search.count, over, (), search.nodes)


def search_shuffled(
    problem: ExactCoverProblem, rng: random.Random, max_nodes: int, budget: Budget
) -> tuple[int, Solution | None]:
    """Find a solution with the options in random order.

    Returns:
        The number of nodes, and the solution; None if there is none within so many nodes.

    Raises:
        BudgetSpentError: if the time is up.
    """
    order = list(range(len(problem.options)))
    rng.shuffle(order)
    options = tuple(problem.options[place] for place in order)
    search = MrvSearch(replace(problem, options=options, symmetries=()), keep_solutions=True)
    for _ in run_in_slices(search, 1, max_nodes):
        budget.report(0.0)
    if not search.solutions:
        return search.nodes, None
    return search.nodes, tuple(sorted(order[place] for place in search.solutions[0]))


def symmetry_breaking_kind(problem: ExactCoverProblem) -> tuple[int | None, dict[int, int]]:
    """Choose the kind to branch on first to break the board's symmetries.

    It has a single copy and the fewest orbits of options; ties go to the largest piece. Also return
    its orbits, as from `ExactCoverProblem.orbits`. The result is (None, {}) without symmetries.
    """
    singles = [kind for kind, copies in enumerate(problem.copies) if copies == 1]
    has_symmetries = len(problem.symmetries) > 1 and problem.pieces_count is None
    if not has_symmetries or not singles or sum(problem.copies) < 2:
        return None, {}
    orbits = {kind: problem.orbits(kind) for kind in singles}
    kind = min(singles, key=lambda kind: (len(orbits[kind]), -problem.size(kind)))
    return kind, orbits[kind]


def start_search(
    problem: ExactCoverProblem, break_symmetry: bool, keep_solutions: bool
) -> TreeSearch:
    """Create a search for all solutions of a problem, without starting it.

    With `break_symmetry`, solutions that are images of each other are counted together; with
    `keep_solutions`, solutions are kept.
    """
    kind, orbits = symmetry_breaking_kind(problem) if break_symmetry else (None, {})
    if BitmaskSearch.fits(problem):
        roots: Sequence[tuple[int | None, int]]
        roots = [(None, 1)] if kind is None else list(orbits.items())
        return BitmaskSearch(problem, roots, keep_solutions)
    return MrvSearch(problem, kind, None if kind is None else orbits, keep_solutions)
