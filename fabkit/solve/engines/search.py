"""The engine `search`: compiled backtracking, with a budget."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, Outcome, Solution
from fabkit.solve.engines.fewest import FewestWalk
from fabkit.solve.engines.scan import ScanWalk
from fabkit.solve.problem import ExactCoverProblem

#: How long a walk goes on between two looks at the clock, about.
_SLICE_S = 0.05
_FIRST_SLICE, _LONGEST_SLICE = 64, 1 << 20

Walk = ScanWalk | FewestWalk


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

    def __init__(self, most_nodes: int | None = None) -> None:
        """A search that gives up after about so many nodes, or one that does not."""
        self._most_nodes = most_nodes

    def enumerate(
        self, problem: ExactCoverProblem, effort: Effort, limit: int | None = None
    ) -> Outcome:
        """See `Engine.enumerate`."""
        return self._run(start_walk(problem, reduced=False, listing=True), effort, limit)

    def first(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.first`."""
        found = self._run(start_walk(problem, reduced=True, listing=True), effort, 1)
        return Outcome(len(found.solutions[:1]), found.complete, found.solutions[:1], found.nodes)

    def count(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.count`."""
        return self._run(start_walk(problem, reduced=True, listing=False), effort, None)

    def _run(self, walk: Walk, effort: Effort, limit: int | None) -> Outcome:
        """Walks until it is over, the limit is reached, or nodes or time are spent."""
        over = False
        try:
            for ended in in_slices(walk, limit, self._most_nodes) if limit != 0 else ():
                over = ended
                effort.tell(walk.share())
        except BudgetSpentError:
            pass
        if over:
            effort.finish()
        complete = over and (limit is None or walk.count < limit)
        return Outcome(walk.count, complete, tuple(walk.solutions), walk.nodes)


def each_solution(problem: ExactCoverProblem, effort: Effort) -> Iterator[Solution]:
    """All solutions, one after the other, without keeping them.

    Raises:
        BudgetSpentError: when the time is over before the last.
    """
    walk = start_walk(problem, reduced=False, listing=True)
    for _ in in_slices(walk):
        yield from walk.solutions
        walk.solutions.clear()
        effort.tell(walk.share())
    effort.finish()


def nodes_in(problem: ExactCoverProblem, seconds: float) -> int:
    """About how many nodes a search visits in so many seconds: an estimate, not a measurement.

    What it decides is the same on every machine and in every run.
    """
    if ScanWalk.fits(problem):
        return int(seconds * 25e6)
    return int(seconds * 1e9 / (500 + len(problem.options)))


def count_within(problem: ExactCoverProblem, nodes: int, effort: Effort) -> tuple[int, bool]:
    """The solutions that a search of about so many nodes finds: the same in every run.

    Returns:
        How many, and whether these are all.

    Raises:
        BudgetSpentError: when the time is over before.
    """
    walk, over = start_walk(problem, reduced=True, listing=False), False
    for ended in in_slices(walk, most_nodes=nodes):
        over = ended
        effort.tell(0.0)
    return walk.count, over


def in_slices(
    walk: Walk, limit: int | None = None, most_nodes: int | None = None
) -> Iterator[bool]:
    """Goes through a walk in slices of some hundredths of a second, as long as they are taken.

    A node of a large problem may cost a thousand times as much as one of a small problem, so a
    slice's number of nodes follows the clock. What is found does not depend on it.

    Args:
        walk: a walk.
        limit: so many solutions end it.
        most_nodes: and so do so many nodes.

    Yields:
        After each slice, whether the walk is over.
    """
    size, over = _FIRST_SLICE, False
    while not over and (most_nodes is None or walk.nodes < most_nodes):
        begin = time.monotonic()
        room = size if most_nodes is None else min(size, most_nodes - walk.nodes)
        over = walk.step(room, limit)
        took_s = time.monotonic() - begin
        if took_s < _SLICE_S / 2:
            size = min(2 * size, _LONGEST_SLICE)
        elif took_s > 2 * _SLICE_S:
            size = max(size // 4, 1)
        yield over


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


def start_walk(problem: ExactCoverProblem, reduced: bool, listing: bool) -> Walk:
    """A walk through all solutions of a problem, which has not begun.

    Args:
        problem: any.
        reduced: whether solutions that are images of each other are found together.
        listing: whether solutions are kept.
    """
    kind, orbits = symmetric_start(problem) if reduced else (None, {})
    if ScanWalk.fits(problem):
        roots = [(None, 1)] if kind is None else list(orbits.items())
        return ScanWalk(problem, roots, listing)
    return FewestWalk(problem, kind, None if kind is None else orbits, listing)
