"""Backtracking cell by cell, for problems whose cells fit into one machine word.

The lowest bare cell is covered next. Cells come in lines along the short side, so what is
covered stays one block with a ragged edge, and a mask of 64 bits holds it. For every cell and
every pattern of the few cells after it, the options that fit are listed in advance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabkit.solve.engines.compiled import ONE, ZERO, Word, kernel, population, trailing_zeros
from fabkit.solve.engines.engine import Solution
from fabkit.solve.engines.patterns import by_pattern, list_of
from fabkit.solve.packing import (
    WORD_BITS,
    CopyCounter,
    Numbers,
    Words,
    in_a_row,
    mask,
    masks,
    words,
)
from fabkit.solve.problem import ExactCoverProblem

#: Islands are looked for near the root only: deeper the look costs more than it saves.
_ISLAND_DEPTH = 5
_BUFFERED = 4096


@kernel
def _split_off(  # type: ignore[no-untyped-def]
    bare, steps, step_masks, left, shift, field, sizes
):
    """Whether some island of bare cells cannot be filled by any choice of the pieces left."""
    rest, sums = bare, ZERO
    while rest != ZERO:
        island = rest & (~rest + ONE)
        before = ZERO
        while island != before:
            before = island
            for way in range(steps.shape[0]):
                island |= ((island & step_masks[way]) << steps[way]) & rest
                island |= ((island >> steps[way]) & step_masks[way]) & rest
        if island == bare:
            return False
        if sums == ZERO:  # bit s: some choice of the pieces left has s cells
            sums = ONE
            for kind in range(shift.shape[0]):
                copies = (left >> shift[kind]) & field[kind]
                while copies > ZERO:
                    larger, waiting = ZERO, sizes[kind]
                    while waiting != ZERO:
                        larger |= sums << trailing_zeros(waiting)
                        waiting &= waiting - ONE
                    sums |= larger
                    copies -= ONE
        # An island of all 64 cells is the whole board, which has been answered.
        if (sums >> population(island)) & ONE == ZERO:
            return True
        rest &= ~island
    return False


@kernel
def _list_from(covered):  # type: ignore[no-untyped-def]
    """Which list of options belongs to what is covered."""
    cell = trailing_zeros(~covered)
    return list_of(cell, covered >> cell)


@kernel
def _walk(  # type: ignore[no-untyped-def]
    table, start, full, guard, island_depth,
    steps, step_masks, shift, field, sizes,
    covered, left, cursor, found, depth, node_limit, solution_limit,
):  # fmt: skip
    """Goes on with the walk until it is over or a limit is reached.

    The state lies in ``covered``, ``left`` and ``cursor``, one entry per depth; ``found``
    takes the positions of a solution's options in each row, when it has rows.

    Returns:
        The depth it stands at (-1: it is over), nodes, solutions.
    """
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
                        if rest == guard:
                            if found.shape[0] > 0:
                                for level in range(depth):
                                    found[solutions, level] = table[cursor[level] - 1, 2]
                                found[solutions, depth] = table[row, 2]
                                found[solutions, depth + 1] = -1
                            solutions += 1
                            if solutions == solution_limit:
                                cursor[depth] = row + 1
                                return depth, nodes, solutions
                    elif rest != guard and not (
                        depth < island_depth
                        and _split_off(
                            full & ~after, steps, step_masks, rest, shift, field, sizes
                        )
                    ):  # fmt: skip
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


@kernel
def _share(  # type: ignore[no-untyped-def]
    table, start, guard, covered, left, cursor, depth
):
    """The share of the tree that is behind: each subtree weighs its part of the branching."""
    share, weight = 0.0, 1.0
    for level in range(depth + 1):
        index = _list_from(covered[level])
        done = total = 0
        behind = cursor[level] - (1 if level < depth else 0)
        for row in range(start[index], start[index + 1]):
            fits = table[row, 0] & covered[level] == ZERO
            if fits and (left[level] - table[row, 1]) & guard == guard:
                total += 1
                if row < behind:
                    done += 1
        if total > 0:
            share += weight * done / total
            weight /= total
    return share


class ScanWalk:
    """A walk through all solutions of a problem that `fits`, in slices.

    Args:
        problem: with at least one cell.
        roots: options to start from, one after the other, with the multiplicity of what lies
            below; ``[(None, 1)]`` for everything.
        listing: whether solutions are kept in `solutions`.
    """

    def __init__(
        self, problem: ExactCoverProblem, roots: Sequence[tuple[int | None, int]], listing: bool
    ) -> None:
        self.problem = problem
        self.nodes = 0
        self.count = 0
        self.solutions: list[Solution] = []
        self._roots = list(roots)
        self._root = -1
        self._depth = -1
        self._counter = CopyCounter.of(problem.copies)
        self._table, self._start = self._lists()
        self._full = (1 << problem.cell_count) - 1
        self._steps, self._step_masks = _steps(problem)
        self._sizes = words(map(mask, _sizes(problem)))
        depths = sum(problem.copies) + 2
        self._covered = np.zeros(depths, dtype=np.uint64)
        self._left = np.zeros(depths, dtype=np.uint64)
        self._cursor = np.zeros(depths, dtype=np.int64)
        self._found = np.zeros((_BUFFERED if listing else 0, depths), dtype=np.int64)

    @staticmethod
    def fits(problem: ExactCoverProblem) -> bool:
        """Whether the cells and the counts of copies fit into a word each."""
        bits = CopyCounter.of(problem.copies).bits
        return 0 < problem.cell_count <= WORD_BITS and bits <= WORD_BITS and not problem.leftover

    def step(self, nodes: int, limit: int | None) -> bool:
        """Goes on for about so many nodes, or until `count` reaches the limit.

        Returns:
            Whether the walk is over: nothing is left, or the limit is reached.
        """
        while nodes > 0:
            if self._depth < 0 and not self._next_root():
                return True
            most = _BUFFERED if len(self._found) else np.iinfo(np.int64).max
            if limit is not None:
                most = min(most, -(-(limit - self.count) // self._roots[self._root][1]))
            self._depth, walked, found = _walk(
                self._table, self._start, Word(self._full),
                Word(self._counter.guard), _ISLAND_DEPTH if len(self._steps) else 0,
                self._steps, self._step_masks, self._counter.shift, self._counter.field,
                self._sizes, self._covered, self._left, self._cursor, self._found,
                self._depth, nodes, most,
            )  # fmt: skip
            self.nodes += walked
            nodes -= walked
            self.count += found * self._roots[self._root][1]
            self._keep(found)
            if limit is not None and self.count >= limit:
                return True
        return False

    def share(self) -> float:
        """The share of the walk that is behind, from 0 to 1."""
        if self._depth < 0:
            return (self._root + 1) / len(self._roots) if self._roots else 1.0
        inside = _share(
            self._table, self._start, Word(self._counter.guard),
            self._covered, self._left, self._cursor, self._depth,
        )  # fmt: skip
        return (self._root + float(inside)) / len(self._roots)

    def _lists(self) -> tuple[Words, Numbers]:
        """The options as rows of mask, cost and position, and where each pattern's begin."""
        positions = self.problem.usable
        options = [self.problem.options[position] for position in positions]
        cells, starts = in_a_row([option.cells for option in options])
        lowest, covered = cells[starts[:-1]], masks(cells, starts, WORD_BITS)[:, 0]
        kinds = [option.kind for option in options]
        cost = words(option.copies for option in options) << self._counter.shift[kinds]
        order = np.lexsort((covered, lowest))
        rows = np.stack((covered, cost, words(positions)), axis=1)[order]
        first = np.searchsorted(lowest[order], range(self.problem.cell_count + 1))
        windows = covered[order] >> lowest[order].astype(np.uint64)
        return by_pattern(rows, windows, first.astype(np.int64))

    def _next_root(self) -> bool:
        """Sets the state to the next root; False when there is none."""
        while self._root + 1 < len(self._roots):
            self._root += 1
            position = self._roots[self._root][0]
            covered, left = 0, self._counter.start
            if position is not None:
                option = self.problem.options[position]
                covered = mask(option.cells)
                left -= option.copies << int(self._counter.shift[option.kind])
                if covered == self._full:
                    continue  # a root is one of several pieces; alone it is not a solution
            self._depth = 0
            self._covered[0], self._left[0] = covered, left
            self._cursor[0] = self._start[_list_from(Word(covered))]
            return True
        return False

    def _keep(self, found: int) -> None:
        """Takes the listed solutions out of the buffer."""
        if not len(self._found):
            return
        root = self._roots[self._root][0]
        begin: Solution = () if root is None else (root,)
        for row in self._found[:found].tolist():
            self.solutions.append(tuple(sorted((*begin, *row[: row.index(-1)]))))


def _sizes(problem: ExactCoverProblem) -> list[set[int]]:
    """For each kind the numbers of cells of its options, but for that of a whole board of 64."""
    found: list[set[int]] = [set() for _ in problem.copies]
    for option in problem.options:
        found[option.kind].add(len(option.cells))
    return [sizes - {WORD_BITS} for sizes in found]


def _steps(problem: ExactCoverProblem) -> tuple[Words, Words]:
    """The differences between numbers of neighbours, and from which cells each step leads."""
    sources: dict[int, list[int]] = {}
    for cell, near in enumerate(problem.neighbours):
        for other in near:
            if other > cell:
                sources.setdefault(other - cell, []).append(cell)
    steps = sorted(sources)
    return words(steps), words(mask(sources[step]) for step in steps)
