"""The engine `search`: compiled backtracking, with a budget."""

from __future__ import annotations

from fabkit.solve.engine import BudgetSpentError, Effort, Engine, Outcome
from fabkit.solve.fewest import FewestWalk
from fabkit.solve.problem import ExactCoverProblem
from fabkit.solve.scan import ScanWalk

#: Nodes between two looks at the clock: some tens of milliseconds.
_SLICE = 200_000
_FIRST_SLICE = 2_000


class Search(Engine):
    """Backtracking: cell by cell where all cells fit into a word, else by fewest options.

    Counting and proving branch first on a piece of which only one placement of each orbit
    under the board's symmetries is tried; the others are its images.

    Example:
        >>> from fabkit.solve.problem import Option
        >>> pair = ExactCoverProblem(2, (2,), (Option(0, (0,)), Option(0, (1,))))
        >>> Search().count(pair, Effort()).count
        1
    """

    name = "search"

    def enumerate(
        self, problem: ExactCoverProblem, effort: Effort, limit: int | None = None
    ) -> Outcome:
        """See `Engine.enumerate`."""
        return _run(_walk(problem, reduced=False, listing=True), effort, limit)

    def first(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.first`."""
        found = _run(_walk(problem, reduced=True, listing=True), effort, 1)
        return Outcome(len(found.solutions[:1]), found.complete, found.solutions[:1], found.nodes)

    def count(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.count`."""
        return _run(_walk(problem, reduced=True, listing=False), effort, None)


def count_within(problem: ExactCoverProblem, nodes: int) -> int:
    """The solutions that a search of about so many nodes finds: the same in every run."""
    walk = _walk(problem, reduced=True, listing=False)
    walk.step(nodes, None)
    return walk.count


def symmetric_start(problem: ExactCoverProblem) -> tuple[int | None, dict[int, int]]:
    """The kind to branch on first so that the board's symmetries are used only once.

    Returns:
        The kind, of a single copy and with fewest orbits of options (of several the largest
        piece); and for the least option of each orbit the orbit's size. None and nothing when
        there is no symmetry to use.
    """
    if len(problem.symmetries) == 1 or sum(problem.copies) < 2:
        return None, {}
    best: tuple[tuple[int, int, int], dict[int, int]] | None = None
    for kind, copies in enumerate(problem.copies):
        if copies != 1:
            continue
        orbits = dict(problem.orbits(kind))
        size = max((len(problem.options[p].cells) for p in orbits), default=0)
        rank = (len(orbits), -size, kind)
        if best is None or rank < best[0]:
            best = rank, orbits
    return (best[0][2], best[1]) if best else (None, {})


def _walk(problem: ExactCoverProblem, reduced: bool, listing: bool) -> ScanWalk | FewestWalk:
    kind, orbits = symmetric_start(problem) if reduced else (None, {})
    if ScanWalk.fits(problem):
        roots = [(None, 1)] if kind is None else list(orbits.items())
        return ScanWalk(problem, roots, listing)
    return FewestWalk(problem, kind, None if kind is None else orbits, listing)


def _run(walk: ScanWalk | FewestWalk, effort: Effort, limit: int | None) -> Outcome:
    """Walks slice by slice until it is over, the limit is reached, or the budget is spent."""
    over, cut = limit == 0, False
    size = _FIRST_SLICE
    try:
        while not over:
            over = walk.step(size, limit)
            size = _SLICE
            effort.tell(walk.share())
    except BudgetSpentError:
        cut = not over
    complete = over and not cut and (limit is None or walk.count < limit)
    if complete:
        effort.finish()
    return Outcome(walk.count, complete, tuple(walk.solutions), walk.nodes)
