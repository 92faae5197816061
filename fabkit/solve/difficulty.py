"""The difficulty of a challenge for a person, and the order in which a person finds its pieces.

An experienced person looks at the most constrained place, tries what fits there in no particular
order, and takes back what fails. A probe imitates this: it branches on the item with the fewest
options, in shuffled order, until it finds a solution. The score has three parts:

- *tries*: the number of pieces placed, as the mean of several probes with fixed seeds;
- *free moves*: the number of pieces to find; one that a hole gives away counts half, since people
  see that anything else leaves a gap there (``hole`` in `solving_order`);
- *solutions*: their number, since more solutions make a lucky hit likelier.

The score is ``log2(tries) + free moves - log10(solutions) / 2``, not below 0. It never falls with
more tries or more free moves, and never rises with more solutions. For forty challenges of each
of the books of IQ Fit and IQ Stars, its rank correlation with the book's order is 0.95; of pairs
with equally many given pieces, two out of three are in the book's order.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from fabkit.model.entry import halved
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget, BudgetSpentError
from fabkit.solve.engines.search import Search, search_shuffled
from fabkit.solve.exact_cover import BoolArray, ExactCoverProblem, IntArray, bitmasks, to_csr

PROBES = 24
_MAX_TRIES = 50_000
_MAX_OPTION_TESTS = 1_000_000_000
_COUNTING_NODES = 1_000_000
#: Number of solutions in which the free moves are counted.
_SOLUTIONS_RATED = 4


@dataclass(frozen=True)
class Difficulty:
    """The rating of a challenge; see the module.

    `complete` is False if there may be more solutions than `solutions`. `solution` is one of them,
    as positions of options; None if no probe found one.
    """

    tries: float
    free_moves: float
    solutions: int
    complete: bool = False
    solution: tuple[int, ...] | None = None

    @property
    def score(self) -> float:
        """The score; see the module."""
        load = math.log2(max(self.tries, 1.0)) + self.free_moves
        return max(0.0, load - math.log10(max(self.solutions, 1)) / 2)


def difficulty(
    problem: ExactCoverProblem,
    solutions: int | None = None,
    budget: Budget | None = None,
    patient: bool = False,
) -> Difficulty | None:
    """Rate a problem.

    Args:
        problem: the problem without given pieces.
        solutions: number of solutions; None counts those found by a search of a million nodes.
        budget: time limit; progress is not reported.
        patient: go on if the first probes find no solution. A probe that gives up counts its tries
            so far, so the rating is then a lower bound.

    Returns:
        The rating; None if the first probes find no solution, or the time is up.
    """
    budget = budget or Budget()
    try:
        probes = [_probe(problem, seed, budget) for seed in (0, 1)]
        if not (patient or any(solution is not None for _, solution in probes)):
            return None  # the other probes would take a dozen times as long, probably in vain
        probes += [_probe(problem, seed, budget) for seed in range(2, PROBES)]
        complete = solutions is not None
        if solutions is None:
            nodes = _node_limit(problem, _COUNTING_NODES)
            counted = Search(nodes).count(problem, Budget(budget.left_s))
            solutions, complete = counted.count, counted.complete
        layouts = list(dict.fromkeys(solution for _, solution in probes if solution is not None))
        free_moves = []
        for layout in layouts[:_SOLUTIONS_RATED]:
            free_moves.append(0.0)
            for _, why, _, _ in _SolvingState(problem, layout).steps():
                budget.report(0.0)  # raises once the time is up
                free_moves[-1] += 0.5 if why == "hole" else 1.0
    except BudgetSpentError:
        return None
    tries = fmean(tries for tries, _ in probes)
    first = next(iter(layouts), None)
    moves = fmean(free_moves or [problem.pieces_used])
    return Difficulty(tries, moves, max(solutions, 1), complete, first)


def _node_limit(problem: ExactCoverProblem, nodes: int) -> int:
    """Reduce a node limit if there are so many options that each node takes long."""
    return min(nodes, 1 + _MAX_OPTION_TESTS // max(1, len(problem.options)))


def _probe(
    problem: ExactCoverProblem, seed: int, budget: Budget
) -> tuple[int, tuple[int, ...] | None]:
    """Return tries and solution of one search in shuffled order; None if it gives up.

    Raises:
        BudgetSpentError: if the time is up.
    """
    maximum = _node_limit(problem, _MAX_TRIES)
    nodes, solution = search_shuffled(problem, random.Random(seed), maximum, budget)  # noqa: S311
    return (maximum if solution is None else nodes), solution


@dataclass(frozen=True)
class SolvingStep:
    """The next piece that a person would find, and the reason.

    Attributes:
        piece: the id of the piece.
        why: ``cell``: nothing else covers the cell; ``piece``: the piece fits nowhere else;
            ``hole``: anything else leaves a hole, or a piece that fits nowhere; ``fewest``: nothing
            is forced, and this cell or piece has the fewest options.
        cell: the cell in question; None if it is the piece.
        options: number of options: 1 unless `why` is ``fewest``.
    """

    piece: str
    why: str
    cell: Cell | None = None
    options: int = 1

    def __str__(self) -> str:
        """Return the reason as text.

        Example:
            >>> print(SolvingStep("A", "fewest", options=3))
            fewest options (3)
        """
        reasons = {
            "cell": "nothing else fits there",
            "piece": "it fits nowhere else",
            "hole": "anything else leaves a gap, or a piece that no longer fits",
        }
        return reasons.get(self.why, f"fewest options ({self.options})")


def solving_order(puzzle: PuzzleSet, entry: Entry) -> tuple[SolvingStep, ...]:
    """Return the order in which a person would find the free pieces of a known solution, and why.

    Forced pieces come first: for a cell that only one placement covers, else a piece with only one
    placement; the largest first. If nothing is forced, the placements on cells and of pieces with
    few options are tried by looking ahead, and those dropped that leave a cell or a piece without
    an option. If that forces nothing either, the cell or piece with the fewest options is next. An
    entry takes some 20 ms.

    Args:
        entry: a board, start, challenge or snowflake with its solution; see `Entry.halves`.

    Returns:
        One step for each piece of the solution that is not given.

    Raises:
        ValueError: if the entry has no solution.

    Example:
        >>> from fabkit.sets.challenges import find_challenge
        >>> from fabkit.model.entry import entry_of
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.solve.answer import solve
        >>> fridgeiq = load_set("fridgeiq")
        >>> encoded = to_exact_cover(fridgeiq, find_challenge(fridgeiq, "square_01"))
        >>> solution = encoded.decode(solve(encoded, "first").solutions[0])
        >>> entry = entry_of(encoded.challenge).with_result(solution=solution)
        >>> [(step.piece, step.why) for step in solving_order(fridgeiq, entry)]
        [('J', 'fewest'), ('M', 'cell'), ('R', 'cell'), ('I', 'cell')]
    """
    if not entry.solution:
        raise ValueError(f"{entry.challenge.id}: no solution is known")
    # In the entry's order, which decides ties.
    pieces = [puzzle.piece(piece_id) for piece_id in entry.challenge.pieces]
    if entry.halves == 2:
        pieces = [halved(puzzle.lattice, piece) for piece in pieces]
    puzzle = replace(puzzle, pieces=tuple(pieces))
    encoded = to_exact_cover(puzzle, entry.challenge).by_coordinates()
    cells = encoded.cells
    placed = encoded.encode(entry.solution)
    return tuple(
        SolvingStep(placed[place], why, cells[item] if item < len(cells) else None, options)
        for place, why, item, options in _SolvingState(encoded.problem, placed).steps()
        if placed[place]
    )


#: Items with at most this many options are looked ahead.
_MAX_LOOKAHEAD_OPTIONS = 4
#: With more pieces than this there is no looking ahead: no person does, and it would take long.
_MAX_LOOKAHEAD_PIECES = 64
#: Option count of items that need not be covered, so that they are never the most constrained.
_UNCONSTRAINED = 1 << 40


class _SolvingState:
    """The rest of a problem while a solution is placed piece by piece.

    Items are the cells, then the kinds. The items of a placement are its cells and its kind. Only
    placements that still fit are kept.
    """

    def __init__(self, problem: ExactCoverProblem, solution: Iterable[int]) -> None:
        cells, kinds = problem.cell_count, problem.kind_count
        rows = [(*option.cells, cells + option.kind) for option in problem.options]
        self._lookahead_options = (
            _MAX_LOOKAHEAD_OPTIONS if problem.pieces_used <= _MAX_LOOKAHEAD_PIECES else 0
        )
        self._cell_count = cells
        self._left = {place: rows[place] for place in solution}
        # How often each item is still to be covered, and which items need not be.
        self._copies = np.array([1] * cells + list(problem.copies))
        self._done = np.repeat([False, problem.pieces_count is not None], [cells, kinds])
        self._rows = np.arange(len(rows))
        self._good = np.ones(len(rows), dtype=bool)
        self._items, starts = to_csr(rows)
        self._lengths = np.diff(starts)
        self._masks = bitmasks(self._items, starts, cells + kinds)
        self._update_masks()

    def steps(self) -> Iterator[tuple[int, str, int, int]]:
        """Yield placement, reason, item and number of options of each step; see `SolvingStep`.

        The last step places the last piece.
        """
        while self._left:
            options = self._options(np.ones_like(self._good))
            looks_ahead = options.min() > 1
            if looks_ahead:
                options = self._look_ahead()
            fewest = int(options.min())
            # Cells before pieces, large pieces before small ones.
            is_cell, _, earlier, item = max(
                (item < self._cell_count, len(items), -placement, item)
                for placement, items in self._left.items()
                for item in items
                if options[item] == fewest
            )
            placement = -earlier
            reason = "hole" if looks_ahead else "cell" if is_cell else "piece"
            yield placement, "fewest" if fewest > 1 else reason, item, fewest
            self._place(placement)

    def _options(self, wanted: BoolArray) -> IntArray:
        """Count the wanted placements that cover each item; `_UNCONSTRAINED` for secondary items.

        For a kind with several copies, all but one are subtracted.
        """
        items = self._items[np.repeat(wanted, self._lengths)]
        counts: IntArray = np.bincount(items, minlength=len(self._copies)) + 1 - self._copies
        counts[self._done] = _UNCONSTRAINED
        return counts

    def _look_ahead(self) -> IntArray:
        """Count the options without placements that lead to a dead end at once."""
        options = self._options(self._good)
        while options.min() > 1:
            placement_of_item = np.repeat(np.arange(len(self._good)), self._lengths)
            tried = np.unique(placement_of_item[options[self._items] <= self._lookahead_options])
            bad = [row for row in tried[self._good[tried]] if self._is_dead_end(row)]
            if not bad:
                break
            self._good[bad] = False
            options = self._options(self._good)
        return options

    def _is_dead_end(self, placement: int) -> bool:
        """Return whether a placement leaves a cell or a piece without an option."""
        beside = self._masks[self._good & ~self._meets(placement)]
        there = np.bitwise_or.reduce(beside, axis=0) | self._masks[placement]
        return bool((self._wanted & ~there).any())

    def _meets(self, placement: int) -> BoolArray:
        """Return which placements exclude one: those on its cells, and those of its kind if that
        has no other copy."""
        meets: BoolArray = np.any(self._masks & (self._masks[placement] & self._single), axis=1)
        return meets

    def _place(self, row: int) -> None:
        """Place a piece of the solution, and drop placements that no longer fit."""
        meets = self._meets(int(np.flatnonzero(self._rows == row)[0]))
        own = np.array(self._left.pop(row))
        self._done[own] |= self._copies[own] == 1
        self._copies[own] = np.maximum(self._copies[own] - 1, 1)
        self._update_masks()
        fits = ~meets & (self._rows != row)
        self._items = self._items[np.repeat(fits, self._lengths)]
        self._rows, self._good, self._masks, self._lengths = (
            table[fits] for table in (self._rows, self._good, self._masks, self._lengths)
        )

    def _update_masks(self) -> None:
        """Update the masks of the items that must be covered, and of those with one copy."""
        groups = [np.flatnonzero(items).tolist() for items in (~self._done, self._copies == 1)]
        self._wanted, self._single = bitmasks(*to_csr(groups), len(self._copies))
