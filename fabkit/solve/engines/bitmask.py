"""Backtracking on the lowest bare cell; all cells must fit into one machine word.

Cells are ordered in lines along the short side, so the covered cells form one block with a ragged
edge. For every cell and every pattern of the few cells after it, the options that fit are listed in
advance. A node costs a fortieth of a microsecond.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fabkit.core.kernels import ZERO, Word, kernel, popcount, trailing_zeros
from fabkit.solve.engines.engine import Solution
from fabkit.solve.engines.option_lists import CopyCounter, list_index, option_lists, pieces_fit
from fabkit.solve.engines.tree_search import NO_LIMIT, TreeSearch
from fabkit.solve.exact_cover import WORD_BITS, ExactCoverProblem, IntArray, WordArray

_BUFFERED = 4096
#: States counted from between two chances to stop.
_STATES_IN_SLICE = 8


@kernel("u8,")
def _list_from(covered):  # type: ignore[no-untyped-def]
    """Return the index of the list of options for a set of covered cells."""
    cell = trailing_zeros(~covered)
    return list_index(np.int64(cell), covered >> cell)


@kernel(
    "u8[:, ::1], i8[::1], u8, UniTuple(u8, 3), b1[:, ::1], "
    "u8[::1], u8[::1], i8[::1], i8[:, ::1], i8, i8, i8"
)
def _bitmask_search(  # type: ignore[no-untyped-def]
    table, start, full, counter, areas,
    covered, left, cursor, listed, depth, node_limit, solution_limit,
):  # fmt: skip
    """Continue the search until it is over or a limit is reached.

    The state is ``covered``, ``left`` and ``cursor``, with one entry per depth. If ``listed`` has
    rows, each receives the positions of a solution's options.

    Returns:
        The current depth (-1 when over), nodes, solutions.
    """
    guard, done, _ = counter
    nodes = solutions = 0
    while depth >= 0:
        here, free = covered[depth], left[depth]
        row, end = cursor[depth], start[_list_from(here) + 1]
        descended = False
        while row < end:
            if table[row, 0] & here == ZERO:
                rest = free - table[row, 1]
                if rest & guard == guard:
                    nodes += 1
                    after = here | table[row, 0]
                    if after == full:
                        if rest & done == guard & done:
                            if listed.shape[0] > 0:
                                for level in range(depth):
                                    listed[solutions, level] = table[cursor[level] - 1, 2]
                                listed[solutions, depth] = table[row, 2]
                                listed[solutions, depth + 1] = -1
                            solutions += 1
                            if solutions == solution_limit:
                                cursor[depth] = row + 1
                                return depth, nodes, solutions
                    elif rest & done != guard & done and pieces_fit(
                        areas, rest, counter, np.int64(popcount(full & ~after))
                    ):
                        cursor[depth] = row + 1
                        depth += 1
                        covered[depth], left[depth] = after, rest
                        cursor[depth] = start[_list_from(after)]
                        descended = True
                        break
            row += 1
        if not descended:
            cursor[depth] = end
            depth -= 1
        if nodes >= node_limit:
            break
    return depth, nodes, solutions


class BitmaskSearch(TreeSearch):
    """A search that always covers the lowest bare cell next, for problems that fit (`fits`).

    `roots` are options to start from, one after the other, with the multiplicity of their subtree;
    ``[(None, 1)]`` for everything.
    """

    def __init__(
        self,
        problem: ExactCoverProblem,
        roots: Sequence[tuple[int | None, int]],
        keep_solutions: bool,
    ) -> None:
        super().__init__(problem)
        self._roots = roots
        self._root = self._depth = -1
        self._counter = CopyCounter.of(problem)
        self._table, self._start = option_lists(problem, self._counter, in_place=True)
        counter = self._counter
        self._counter_words = Word(counter.guard), Word(counter.done), Word(counter.pieces_shift)
        self._full = (1 << problem.cell_count) - 1
        depths = problem.pieces_used + 2
        self._covered = np.zeros(depths, dtype=np.uint64)
        self._left = np.zeros(depths, dtype=np.uint64)
        self._cursor = np.zeros(depths, dtype=np.int64)
        self._found = np.zeros((_BUFFERED if keep_solutions else 0, depths), dtype=np.int64)

    @staticmethod
    def fits(problem: ExactCoverProblem) -> bool:
        """Return whether the cells and the counts of copies fit into one word each."""
        bits = CopyCounter.of(problem).bits
        return 0 < problem.cell_count <= WORD_BITS and bits <= WORD_BITS

    def step(self, nodes: int, limit: int | None) -> bool:
        """See `TreeSearch.step`."""
        while nodes > 0:
            if self._depth < 0 and not self._next_root():
                return True
            maximum = _BUFFERED if len(self._found) else NO_LIMIT
            if limit is not None:
                maximum = min(maximum, -(-(limit - self.count) // self._roots[self._root][1]))
            self._depth, walked, solutions = _bitmask_search(
                self._table, self._start, Word(self._full), self._counter_words, self.problem.areas,
                self._covered, self._left, self._cursor, self._found, self._depth, nodes, maximum,
            )  # fmt: skip
            self.nodes += walked
            nodes -= walked
            self.count += solutions * self._roots[self._root][1]
            self._keep(solutions)
            if limit is not None and self.count >= limit:
                return True
        return False

    def count_from(self, masks: WordArray, limit: int) -> IntArray:
        """Count the solutions, up to a limit, with each set of cells, as bits, covered before."""
        counts = np.zeros(len(masks), dtype=np.int64)
        for part in range(0, len(masks), _STATES_IN_SLICE):
            rows = slice(part, part + _STATES_IN_SLICE)
            _count_from(
                self._table, self._start, Word(self._full), self._counter_words, self.problem.areas,
                self._covered, self._left, self._cursor, self._found, masks[rows],
                Word(self._counter.start), limit, counts[rows],
            )  # fmt: skip
        return counts

    def progress(self) -> float:
        """See `TreeSearch.progress`."""
        behind = 1.0 if self._depth < 0 else super().progress()
        return (self._root + behind) / len(self._roots) if self._roots else 1.0

    def _level(self, depth: int) -> tuple[npt.NDArray[np.bool_], int]:
        index = int(_list_from(self._covered[depth]))
        begin = int(self._start[index])
        guard = Word(self._counter.guard)
        rows = self._table[begin : self._start[index + 1]]
        free = (rows[:, 0] & self._covered[depth]) == ZERO
        there = (self._left[depth] - rows[:, 1]) & guard == guard
        return free & there, int(self._cursor[depth]) - begin

    def _next_root(self) -> bool:
        """Set the state to the next root; return False if there is none."""
        while self._root + 1 < len(self._roots):
            self._root += 1
            position = self._roots[self._root][0]
            covered, left = 0, self._counter.start
            if position is not None:
                option = self.problem.options[position]
                covered = sum(1 << cell for cell in option.cells)
                left -= self._counter.cost(option)
                if covered == self._full:
                    continue  # one of several pieces, so not a solution by itself
            self._depth = 0
            self._covered[0], self._left[0] = covered, left
            self._cursor[0] = self._start[_list_from(Word(covered))]
            return True
        return False

    def _keep(self, count: int) -> None:
        """Move the listed solutions from the buffer to `solutions`."""
        if not len(self._found):
            return
        root = self._roots[self._root][0]
        begin: Solution = () if root is None else (root,)
        for row in self._found[:count].tolist():
            self.solutions.append(tuple(sorted((*begin, *row[: row.index(-1)]))))


@kernel(
    "u8[:, ::1], i8[::1], u8, UniTuple(u8, 3), b1[:, ::1], u8[::1], u8[::1], i8[::1], i8[:, ::1], "
    "u8[::1], u8, i8, i8[::1]"
)
def _count_from(  # type: ignore[no-untyped-def]
    table, start, full, counter, areas, covered, left, cursor, listed, masks, free, limit, counts
):
    """Write how many solutions there are with each set of cells covered before, up to a limit."""
    for index in range(masks.shape[0]):
        covered[0], left[0] = masks[index], free
        cursor[0] = start[_list_from(masks[index])]
        _, _, counts[index] = _bitmask_search(
            table, start, full, counter, areas, covered, left, cursor, listed,
            np.int64(0), np.int64(NO_LIMIT), limit,
        )  # fmt: skip
