"""The reference engine: Knuth's Algorithm X in its plainest form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from fabkit.solve.engines.engine import Budget, Engine, Outcome, Solution
from fabkit.solve.exact_cover import ExactCoverProblem


class AlgorithmX(Engine):
    """Slow, short and simple; the tests compare the other engines with it."""

    name = "algorithm-x"

    def enumerate(
        self, problem: ExactCoverProblem, budget: Budget, limit: int | None = None
    ) -> Outcome:
        found = tuple(islice(_solutions(problem, (), frozenset(), problem.copies), limit))
        return Outcome(len(found), len(found) != limit, found, 0)


def _solutions(
    problem: ExactCoverProblem, chosen: Solution, covered: frozenset[int], left: tuple[int, ...]
) -> Iterator[Solution]:
    """Every way to complete a choice, by covering the item that has fewest options.

    Every cell must be covered, so each set of placements is met once.
    """
    options = problem.options
    todo = problem.pieces_used - sum(problem.copies) + sum(left)
    bare = [cell for cell in range(problem.cell_count) if cell not in covered]
    if not bare:
        if not todo:
            yield tuple(sorted(chosen))
        return
    choices = [
        position
        for position, option in enumerate(options)
        if option.copies <= min(left[option.kind], todo) and covered.isdisjoint(option.cells)
    ]
    choices = min(([p for p in choices if cell in options[p].cells] for cell in bare), key=len)
    for position in choices:
        option = options[position]
        fewer = tuple(n - option.copies * (k == option.kind) for k, n in enumerate(left))
        yield from _solutions(problem, (*chosen, position), covered.union(option.cells), fewer)
