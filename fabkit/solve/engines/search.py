"""The engine `search`: compiled backtracking with one of two branching rules.

- `BitmaskSearch`: the lowest bare cell; all cells must fit into one machine word. Cells are ordered
  in lines along the short side, so the covered cells form one block with a ragged edge. For every
  cell and every pattern of the few cells after it, the options that fit are listed in advance. A
  node costs a fortieth of a microsecond.
- `MrvSearch`: the item with the fewest options (minimum remaining values); masks of any width. A
  node costs some twenty times as much, but there are fewer. The items branched on are the whole
  proof: replaying them in order visits the same tree.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fabkit.solve.engines.compiled import (
    ONE,
    ZERO,
    CopyCounter,
    Word,
    kernel,
    kernel_helper,
    list_index,
    option_lists,
    pieces_fit,
    popcount,
    trailing_zeros,
)
from fabkit.solve.engines.engine import Budget, BudgetSpentError, Engine, Outcome, Solution
from fabkit.solve.exact_cover import (
    WORD_BITS,
    ExactCoverProblem,
    IntArray,
    WordArray,
    bitmasks,
    to_csr,
)

#: About how long a search runs between two looks at the clock, in seconds.
_SLICE_S = 0.05
#: Nodes of the first slice, before the speed is known.
_FIRST_SLICE = 64
#: Maximum number of nodes in a slice.
_LONGEST_SLICE = 1 << 20
#: The limit of a search without limit.
_NO_LIMIT = np.iinfo(np.int64).max


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


def run_in_slices(
    search: TreeSearch, limit: int | None = None, max_nodes: int | None = None
) -> Iterator[bool]:
    """Run a search in slices of some hundredths of a second, as long as they are consumed.

    A node of a large problem may cost a thousand times as much as one of a small problem, so the
    number of nodes in a slice is adapted by the clock. Results do not depend on it.

    Yields:
        After each slice, whether the search is over.
    """
    size, over = _FIRST_SLICE, False
    while not over and (max_nodes is None or search.nodes < max_nodes):
        begin = time.monotonic()
        room = size if max_nodes is None else min(size, max_nodes - search.nodes)
        over = search.step(room, limit)
        took_s = time.monotonic() - begin
        if took_s < _SLICE_S / 2:
            size = min(2 * size, _LONGEST_SLICE)
        elif took_s > 2 * _SLICE_S:
            size = max(size // 4, 1)
        yield over


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
        return BitmaskSearch(
            problem, [(None, 1)] if kind is None else list(orbits.items()), keep_solutions
        )
    return MrvSearch(problem, kind, None if kind is None else orbits, keep_solutions)


class TreeSearch:
    """A search for all solutions of a problem that runs in slices.

    `nodes` is the number of placements tried so far, `count` that of solutions, including images;
    `solutions` are those found, if they are kept.
    """

    def __init__(self, problem: ExactCoverProblem) -> None:
        self.problem = problem
        self.nodes = self.count = self._depth = 0
        self.solutions: list[Solution] = []

    def step(self, nodes: int, limit: int | None) -> bool:
        """Continue for about this many nodes, or until `count` reaches the limit.

        Returns:
            Whether the search is over: nothing is left, or the limit is reached.
        """
        raise NotImplementedError

    def progress(self) -> float:
        """Return the share of the search that is done; subtrees of a node weigh equally."""
        share, weight = 0.0, 1.0
        for depth in range(self._depth + 1):
            children, behind = self._level(depth)
            total = int(children.sum())
            if total:
                share += weight * int(children[: behind - (depth < self._depth)].sum()) / total
                weight /= total
        return share

    def _level(self, depth: int) -> tuple[npt.NDArray[np.bool_], int]:
        """Return which rows of a depth's list are children, and how many rows are done or open."""
        raise NotImplementedError


# --- the lowest bare cell ---------------------------------------------------------------------------

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
            maximum = _BUFFERED if len(self._found) else _NO_LIMIT
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
        """Count the solutions with each set of cells, as bits, covered before; each up to a limit."""
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
            np.int64(0), np.int64(_NO_LIMIT), limit,
        )  # fmt: skip


# --- the item with fewest options -------------------------------------------------------------------

#: The search has ended.
_OVER = 0
#: The search can go on: its limit of nodes or solutions is reached.
_GOING = 1
#: The list of options is full, so that it must grow.
_FULL_LIST = 2
#: The buffer of items is full, so that it must be emptied.
_FULL_ITEMS = 3
#: In place of an item: the node is a solution.
_COMPLETE = -1
#: In place of an item: none has been chosen at this depth.
_NOT_CHOSEN = -2
#: In place of an item: the node leads to no solution.
_DEAD = -3
#: Size of the buffer of items.
_BUFFERED_ITEMS = 1 << 16


@kernel_helper
def _choose(  # type: ignore[no-untyped-def]
    options, live, begin, end, covered, left, counts, optional_kinds, areas
):
    """Return the item with the fewest options, or `_COMPLETE` if the node is complete.

    Where kinds are secondary, return `_DEAD` if all cells are covered but too few pieces are used, or
    if the pieces to be used cannot cover the bare cells, by ``areas``.

    Kinds with several copies left are chosen only if they cannot be placed.
    """
    _, cells, cell_start, kinds, _, _ = options
    cell_count, total = covered.shape[0], left.shape[0] - 1
    counts[:] = 0
    for place in range(begin, end):
        option = live[place]
        counts[cell_count + kinds[option]] += 1
        for position in range(cell_start[option], cell_start[option + 1]):
            counts[cells[position]] += 1
    best, fewest, complete = _DEAD, np.int64(1) << 62, left[total] == 0
    bare = 0
    for cell in range(cell_count):
        if not covered[cell]:
            complete = False
            bare += 1
            if counts[cell] < fewest:
                best, fewest = cell, counts[cell]
    if not optional_kinds:
        for kind in range(total):
            count = counts[cell_count + kind]
            if left[kind] > 0 and count < fewest and (left[kind] == 1 or count == 0):
                best, fewest = cell_count + kind, count
    if areas.shape[0] > 0 and not areas[left[total], bare]:
        return _DEAD
    return _COMPLETE if complete else best


@kernel_helper
def _descend(options, live, begin, end, left, chosen, item_kind):  # type: ignore[no-untyped-def]
    """Write the options that fit beside the chosen one after ``end``; return their end.

    After a branch on a kind (``item_kind``, else -1), its later copies come later in the order.
    """
    masks, _, _, kinds, uses, _ = options
    stop = end
    for place in range(begin, end):
        option = live[place]
        kind = kinds[option]
        if uses[option] > min(left[kind], left[-1]) or (kind == item_kind and option <= chosen):
            continue
        fits = True
        for word in range(masks.shape[1]):
            if masks[option, word] & masks[chosen, word] != ZERO:
                fits = False
                break
        if fits:
            live[stop] = option
            stop += 1
    return stop


@kernel_helper
def _next_child(options, live, place, end, item, cell_count, at_root):  # type: ignore[no-untyped-def]
    """Return the next place in the list whose option covers the item; ``end`` if there is none."""
    masks, _, _, kinds, _, weights = options
    while place < end:
        option = live[place]
        if item >= cell_count:
            wanted = kinds[option] == item - cell_count
        else:
            wanted = masks[option, item >> 6] >> Word(item & 63) & ONE != ZERO
        if wanted and not (at_root and weights[option] == 0):
            break
        place += 1
    return place


@kernel_helper
def _use(options, option, sign, covered, left):  # type: ignore[no-untyped-def]
    """Place an option (sign -1) or remove it (sign 1)."""
    _, cells, cell_start, kinds, uses, _ = options
    left[kinds[option]] += sign * uses[option]
    left[-1] += sign * uses[option]
    for position in range(cell_start[option], cell_start[option + 1]):
        covered[cells[position]] = sign < 0


@kernel("i8[::1], i8[::1], i8[::1], i8, i8")
def _start(kinds, uses, copies, pieces_used, cell_count):  # type: ignore[no-untyped-def]
    """Create the initial state for `_mrv_search`."""
    depths = pieces_used + 2
    live, fitting = np.zeros(8 * kinds.shape[0] + 64, dtype=np.int32), 0
    for option in range(kinds.shape[0]):
        if uses[option] <= min(copies[kinds[option]], pieces_used):
            live[fitting] = option
            fitting += 1
    bounds, cursor = np.zeros(depths + 1, dtype=np.int64), np.zeros(depths, dtype=np.int64)
    bounds[1] = fitting
    item, chosen = np.zeros(depths, dtype=np.int64), np.zeros(depths, dtype=np.int64)
    item[:] = _NOT_CHOSEN
    covered = np.zeros(cell_count, dtype=np.bool_)
    left = np.zeros(copies.shape[0] + 1, dtype=np.int64)
    left[:-1] = copies
    left[-1] = pieces_used
    counts = np.zeros(cell_count + copies.shape[0], dtype=np.int64)
    return live, bounds, cursor, item, chosen, covered, left, counts


@kernel(
    "Tuple([u8[:, ::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1]]), "
    "Tuple([i4[::1], i8[::1], i8[::1], i8[::1], i8[::1], b1[::1], i8[::1], i8[::1]]), "
    "b1, b1[:, ::1], i8, i4[::1], i8, i8, i8, i8"
)
def _mrv_search(  # type: ignore[no-untyped-def]
    options, state, optional_kinds, areas, first_item, items, item_count, depth, node_limit,
    solution_limit,
):  # fmt: skip
    """Continue the search until it is over, a limit is reached, or a buffer is full.

    ``options`` holds for each option its mask, its cells (CSR indices and offsets), kind, copies
    used, and the multiplicity of its subtree at the root.

    At depth d the options that fit are ``live[bounds[d]:bounds[d + 1]]``; ``item[d]`` is the item
    branched on (negative if none) and ``cursor[d]`` the next place in the list. The last entry of
    ``left`` is the number of pieces still to be used.

    Returns:
        Why it stopped, the depth, nodes, the weight of the solutions found, items recorded.
    """
    weights = options[5]
    live, bounds, cursor, item, chosen, covered, left, counts = state
    nodes = weight = 0
    cell_count, record_items = covered.shape[0], items.shape[0] > 0
    while depth >= 0 and nodes < node_limit:
        begin, end = bounds[depth], bounds[depth + 1]
        if item[depth] == _NOT_CHOSEN:
            if record_items and item_count == items.shape[0]:
                return _FULL_ITEMS, depth, nodes, weight, item_count
            best = _choose(options, live, begin, end, covered, left, counts, optional_kinds, areas)
            if depth == 0 and first_item >= 0:
                best = first_item
            item[depth], cursor[depth] = best, begin if best >= 0 else end
            if best == _COMPLETE:
                weight += weights[chosen[0]] if depth > 0 else 1
                if weight >= solution_limit:
                    return _GOING, depth, nodes, weight, item_count
            elif record_items and best >= 0:
                items[item_count] = best
                item_count += 1
        place = _next_child(options, live, cursor[depth], end, item[depth], cell_count, depth == 0)
        cursor[depth] = place
        if place == end:
            depth -= 1
            if depth >= 0:
                _use(options, chosen[depth], np.int64(1), covered, left)
            continue
        if end + end - begin > live.shape[0]:
            return _FULL_LIST, depth, nodes, weight, item_count
        option = live[place]
        cursor[depth], chosen[depth] = place + 1, option
        nodes += 1
        _use(options, np.int64(option), np.int64(-1), covered, left)
        item_kind = item[depth] - cell_count if item[depth] >= cell_count else -1
        depth += 1
        bounds[depth + 1] = _descend(options, live, begin, end, left, option, item_kind)
        item[depth] = _NOT_CHOSEN
    return _OVER if depth < 0 else _GOING, depth, nodes, weight, item_count


@kernel_helper
def _grown(state):  # type: ignore[no-untyped-def]
    """Double the room for options that fit."""
    live, bounds, cursor, item, chosen, covered, left, counts = state
    live = np.concatenate((live, np.zeros_like(live)))
    return live, bounds, cursor, item, chosen, covered, left, counts


@kernel_helper
def mrv_search(  # type: ignore[no-untyped-def]
    masks, cells, cell_start, kinds, weights, copies, cell_count, first_item, max_nodes
):
    """Search for the first solution in one go; for kernels that run many searches.

    Options use one copy each, and all items are primary; see `_mrv_search` for the rest.

    Returns:
        0 if there is no solution, 1 if one was found, 2 if nodes ran out; nodes; the options of the
        solution (none unless found); the items branched on, in preorder.
    """
    uses = np.ones(masks.shape[0], dtype=np.int64)
    options = (masks, cells, cell_start, kinds, uses, weights)
    state = _start(kinds, uses, copies, copies.sum(), cell_count)
    chosen = state[4]
    items = np.zeros(256, dtype=np.int32)
    no_areas = np.zeros((0, 0), dtype=np.bool_)
    # Literal numbers would be types of their own, for which the search is compiled again.
    optional_kinds = np.bool_(False)
    solution_limit = np.int64(1)
    noted = depth = nodes = np.int64(0)
    while True:
        why, depth, walked, weight, noted = _mrv_search(
            options,
            state,
            optional_kinds,
            no_areas,
            first_item,
            items,
            noted,
            depth,
            max_nodes - nodes,
            solution_limit,
        )
        nodes += walked
        if weight > 0:
            return 1, nodes, chosen[:depth].copy(), items[:noted].copy()
        if why == _OVER:
            return 0, nodes, chosen[:0].copy(), items[:noted].copy()
        if why == _FULL_LIST:
            state = _grown(state)
        elif why == _FULL_ITEMS:
            items = np.concatenate((items, np.zeros_like(items)))
        else:
            return 2, nodes, chosen[:0].copy(), items[:0].copy()


class MrvSearch(TreeSearch):
    """A search that branches on the item with the fewest options (minimum remaining values).

    At the root it branches on `first_kind`, if given, and tries the options that have `weights`, the
    multiplicities of their subtrees. With `record_items`, the items branched on are kept in `items`,
    in preorder, numbered as in a certificate: cells first, then kinds.
    """

    def __init__(
        self,
        problem: ExactCoverProblem,
        first_kind: int | None = None,
        weights: Mapping[int, int] | None = None,
        keep_solutions: bool = False,
        record_items: bool = False,
    ) -> None:
        super().__init__(problem)
        self.items: list[int] = []
        self._keep_solutions = keep_solutions
        self._over = False
        self._first = -1 if first_kind is None else problem.cell_count + first_kind
        cells, cell_start = to_csr([option.cells for option in problem.options])
        self._masks = bitmasks(cells, cell_start, problem.cell_count)
        self._kinds = _numbers(option.kind for option in problem.options)
        uses = _numbers(option.copies for option in problem.options)
        places = range(len(problem.options))
        self._weights = _numbers(1 if weights is None else weights.get(p, 0) for p in places)
        self._options = self._masks, cells, cell_start, self._kinds, uses, self._weights
        self._optional_kinds = problem.pieces_count is not None
        # A certificate's checker must branch on an item of every node that is not a leaf.
        self._areas = problem.areas[:0] if record_items else problem.areas
        copies = _numbers(problem.copies)
        self._state = _start(self._kinds, uses, copies, problem.pieces_used, problem.cell_count)
        _, self._bounds, self._cursor, self._item, self._chosen, *_ = self._state
        self._items = np.zeros(_BUFFERED_ITEMS if record_items else 0, dtype=np.int32)
        self._noted = 0

    def step(self, nodes: int, limit: int | None) -> bool:
        """See `TreeSearch.step`."""
        while nodes > 0 and not self._over:
            maximum = (
                1 if self._keep_solutions else _NO_LIMIT if limit is None else limit - self.count
            )
            why, self._depth, walked, weight, self._noted = _mrv_search(
                self._options, self._state, self._optional_kinds, self._areas, self._first,
                self._items, self._noted, self._depth, nodes, maximum,
            )  # fmt: skip
            self.nodes += walked
            nodes -= walked
            self.count += weight
            self._over = why == _OVER
            if weight and self._keep_solutions:
                self.solutions.append(tuple(sorted(self._chosen[: self._depth].tolist())))
            if why == _FULL_LIST:
                self._state = _grown.py_func(self._state)
            if why == _FULL_ITEMS or self._over:
                self.items.extend(self._items[: self._noted].tolist())
                self._noted = 0
            if limit is not None and self.count >= limit:
                return True
        return self._over

    def progress(self) -> float:
        """See `TreeSearch.progress`."""
        return 1.0 if self._over else super().progress()

    def _level(self, depth: int) -> tuple[npt.NDArray[np.bool_], int]:
        item, kind = int(self._item[depth]), int(self._item[depth]) - self.problem.cell_count
        begin, end = self._bounds[depth : depth + 2]
        live = self._state[0][begin:end]
        if kind >= 0:
            wanted = self._kinds[live] == kind
        else:
            wanted = self._masks[live, item >> 6] >> np.uint64(item & 63) & ONE != 0
        if depth == 0:
            wanted = wanted & (self._weights[live] > 0)
        return wanted & (item >= 0), int(self._cursor[depth] - begin)


def _numbers(values: Iterable[int]) -> IntArray:
    return np.array(list(values), dtype=np.int64)
