"""The engine `count`: dynamic programming along the frontier. It counts, and lists nothing."""

from __future__ import annotations

from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, EngineUnfitError, Outcome
from fabkit.solve.engines.frontier import CountOverflowError, Frontier
from fabkit.solve.problem import ExactCoverProblem


class Count(Engine):
    """Counts solutions by their frontiers; the effort grows with frontiers, not with solutions.

    Example:
        >>> from fabkit.solve.problem import Option
        >>> pair = ExactCoverProblem(2, (2,), (Option(0, (0,)), Option(0, (1,))))
        >>> Count().count(pair, Effort()).count
        1
    """

    name = "count"
    abilities = frozenset({"count", "unique", "prove"})

    def count(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.count`. Where a state has 2^64 ways to it, the outcome is not complete."""
        if not Frontier.fits(problem):
            raise EngineUnfitError(
                "the pieces reach over too many cells of this region for its frontier"
            )
        frontier = Frontier(problem)
        try:
            frontier.run(effort)
        except (BudgetSpentError, CountOverflowError):
            # Ways to an unfinished state, however many, need not lead to a solution.
            return Outcome(frontier.count, False, (), frontier.states)
        return Outcome(frontier.count, True, (), frontier.states)

    def unique(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.unique`; no solution is listed."""
        return self.count(problem, effort)

    def prove(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.prove`; no counterexample is listed."""
        return self.count(problem, effort)

    def enumerate(
        self, problem: ExactCoverProblem, effort: Effort, limit: int | None = None
    ) -> Outcome:
        """Not among its abilities.

        Raises:
            EngineUnfitError: always.
        """
        raise EngineUnfitError("it counts solutions and cannot list them")
