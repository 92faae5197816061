"""The reference engine: Knuth's Algorithm X as plainly as it can be written."""

from __future__ import annotations

from collections.abc import Iterator

from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, Outcome, Solution
from fabkit.solve.problem import ExactCoverProblem


class Oracle(Engine):
    """Slow, short and without any trick; the tests hold the other engines against it.

    Example:
        >>> from fabkit.solve.problem import Option
        >>> pair = ExactCoverProblem(2, (2,), (Option(0, (0,)), Option(0, (1,))))
        >>> Oracle().enumerate(pair, Effort()).solutions
        ((0, 1),)
    """

    name = "oracle"

    def enumerate(
        self, problem: ExactCoverProblem, effort: Effort, limit: int | None = None
    ) -> Outcome:
        """See `Engine.enumerate`."""
        run = _Run(problem, effort)
        found: list[Solution] = []
        try:
            if limit != 0:
                for solution in run.solutions((), frozenset(), problem.copies, 0.0, 1.0):
                    found.append(solution)
                    if len(found) == limit:
                        return Outcome(len(found), False, tuple(found), run.nodes)
                effort.tell(1.0)
        except BudgetSpentError:
            return Outcome(len(found), False, tuple(found), run.nodes)
        return Outcome(len(found), limit != 0, tuple(found), run.nodes)


class _Run:
    """One run: counts the nodes on its way."""

    def __init__(self, problem: ExactCoverProblem, effort: Effort) -> None:
        self.problem = problem
        self.effort = effort
        self.nodes = 0

    def solutions(
        self,
        chosen: Solution,
        covered: frozenset[int],
        left: tuple[int, ...],
        start: float,
        share: float,
    ) -> Iterator[Solution]:
        """Every way to complete a choice; ``start`` and ``share`` are its part of the progress."""
        self.nodes += 1
        self.effort.tell(start)
        problem = self.problem
        used = sum(problem.copies) - sum(left)
        if used == problem.pieces_used and (problem.leftover or len(covered) == problem.cell_count):
            yield tuple(sorted(chosen))
            return
        ways = self._fewest_ways(chosen, covered, left)
        for index, position in enumerate(ways):
            option = problem.options[position]
            fewer = tuple(n - option.copies * (k == option.kind) for k, n in enumerate(left))
            part = share / len(ways)
            yield from self.solutions(
                (*chosen, position), covered.union(option.cells), fewer, start + index * part, part
            )

    def _fewest_ways(
        self, chosen: Solution, covered: frozenset[int], left: tuple[int, ...]
    ) -> list[int]:
        """The options for the item that has fewest.

        Among cells and kinds only kinds may have several copies; those are chosen in ascending
        order, so that each set of placements is met once.
        """
        options = self.problem.options
        used = sum(self.problem.copies) - sum(left)
        fitting = [
            position
            for position, option in enumerate(options)
            if option.copies <= min(left[option.kind], self.problem.pieces_used - used)
            and covered.isdisjoint(option.cells)
        ]
        if not self.problem.leftover:
            bare = [cell for cell in range(self.problem.cell_count) if cell not in covered]
            if bare:
                return min(
                    ([p for p in fitting if cell in options[p].cells] for cell in bare), key=len
                )
        if self.problem.pieces_count is not None:
            return []
        last = max(chosen, default=-1)  # options are sorted by kind, so this works kind by kind
        kind = next(kind for kind, copies in enumerate(left) if copies)
        return [p for p in fitting if options[p].kind == kind and p > last]
