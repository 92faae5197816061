"""The engine `search`: compiled backtracking, by one of two rules of what to branch on.

- `ScanWalk`: the lowest bare cell, where all cells fit into one machine word. Cells come in lines
  along the short side, so what is covered stays one block with a ragged edge; for every cell and
  every pattern of the few cells after it, the options that fit are listed in advance. A node
  costs a fortieth of a microsecond.
- `FewestWalk`: the item with fewest options, for masks of any width. A node costs some twenty
  times as much, and there are fewer. The items branched on are the whole proof: replaying them in
  order visits the same tree.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fabkit.solve.engines.compiled import (
    ONE,
    ZERO,
    CopyCounter,
    Word,
    kernel,
    list_of,
    option_lists,
    trailing_zeros,
)
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, Outcome, Solution
from fabkit.solve.problem import WORD_BITS, ExactCoverProblem, Numbers, in_a_row, masks

#: How long a walk goes on between two looks at the clock, about.
_SLICE_S = 0.05
_FIRST_SLICE, _LONGEST_SLICE = 64, 1 << 20
_NO_LIMIT = np.iinfo(np.int64).max


class Search(Engine):
    """Backtracking: cell by cell where all cells fit into a word, else by fewest options.

    Counting branches first on a piece of which only one placement of each orbit under the board's
    symmetries is tried; the others are its images. It gives up after about `most_nodes`.
    """

    name = "search"

    def __init__(self, most_nodes: int | None = None) -> None:
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
            effort.tell(1.0)
        complete = over and (limit is None or walk.count < limit)
        return Outcome(walk.count, complete, tuple(walk.solutions), walk.nodes)


def nodes_in(problem: ExactCoverProblem, seconds: float) -> int:
    """About how many nodes a search visits in so many seconds: an estimate, not a measurement.

    What it decides is the same on every machine and in every run.
    """
    if ScanWalk.fits(problem):
        return int(seconds * 25e6)
    return int(seconds * 1e9 / (500 + len(problem.options)))


def in_slices(
    walk: Walk, limit: int | None = None, most_nodes: int | None = None
) -> Iterator[bool]:
    """Goes through a walk in slices of some hundredths of a second, as long as they are taken.

    A node of a large problem may cost a thousand times as much as one of a small problem, so a
    slice's number of nodes follows the clock. What is found does not depend on it.

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

    It has a single copy and fewest orbits of options (of several it is the largest piece); the
    orbits come as from `ExactCoverProblem.orbits`. None and nothing when there is no symmetry to use.
    """
    if len(problem.symmetries) == 1 or sum(problem.copies) < 2 or problem.pieces_count is not None:
        return None, {}
    best: tuple[tuple[int, int, int], dict[int, int]] | None = None
    for kind in [kind for kind, copies in enumerate(problem.copies) if copies == 1]:
        orbits = problem.orbits(kind)
        size = max((len(problem.options[p].cells) for p in orbits), default=0)
        rank = (len(orbits), -size, kind)
        best = (rank, orbits) if best is None else min(best, (rank, orbits), key=lambda one: one[0])
    return (best[0][2], best[1]) if best else (None, {})


def start_walk(problem: ExactCoverProblem, reduced: bool, listing: bool) -> Walk:
    """A walk through all solutions of a problem, which has not begun.

    Solutions that are images of each other are found together when it is `reduced`; they are kept
    when it is `listing`.
    """
    kind, orbits = symmetric_start(problem) if reduced else (None, {})
    if ScanWalk.fits(problem):
        return ScanWalk(problem, [(None, 1)] if kind is None else list(orbits.items()), listing)
    return FewestWalk(problem, kind, None if kind is None else orbits, listing)


class Walk:
    """A walk through all solutions of a problem, in slices.

    `nodes` are the placements tried so far, `count` the solutions found, with those that are their
    images; `solutions` are those found, where they are kept.
    """

    def __init__(self, problem: ExactCoverProblem) -> None:
        self.problem = problem
        self.nodes = self.count = self._depth = 0
        self.solutions: list[Solution] = []

    def step(self, nodes: int, limit: int | None) -> bool:
        """Goes on for about so many nodes, or until `count` reaches the limit.

        Returns:
            Whether the walk is over: nothing is left, or the limit is reached.
        """
        raise NotImplementedError

    def share(self) -> float:
        """The share of the walk that is behind: each subtree weighs its part of the branching."""
        share, weight = 0.0, 1.0
        for depth in range(self._depth + 1):
            children, behind = self._level(depth)
            total = int(children.sum())
            if total:
                share += weight * int(children[: behind - (depth < self._depth)].sum()) / total
                weight /= total
        return share

    def _level(self, depth: int) -> tuple[npt.NDArray[np.bool_], int]:
        """Which rows of a depth's list are children, and how many rows are behind or open."""
        raise NotImplementedError


# --- the lowest bare cell ---------------------------------------------------------------------------

_BUFFERED = 4096


@kernel
def _list_from(covered):  # type: ignore[no-untyped-def]
    """Which list of options belongs to what is covered."""
    cell = trailing_zeros(~covered)
    return list_of(cell, covered >> cell)


@kernel
def _scan(  # type: ignore[no-untyped-def]
    table, start, full, guard, done,
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
                        if rest & done == guard & done:
                            if found.shape[0] > 0:
                                for level in range(depth):
                                    found[solutions, level] = table[cursor[level] - 1, 2]
                                found[solutions, depth] = table[row, 2]
                                found[solutions, depth + 1] = -1
                            solutions += 1
                            if solutions == solution_limit:
                                cursor[depth] = row + 1
                                return depth, nodes, solutions
                    elif rest & done != guard & done:
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


class ScanWalk(Walk):
    """A walk that covers the lowest bare cell next, of a problem that `fits`.

    `roots` are options to start from, one after the other, with the multiplicity of what lies
    below; ``[(None, 1)]`` for everything.
    """

    def __init__(
        self, problem: ExactCoverProblem, roots: Sequence[tuple[int | None, int]], listing: bool
    ) -> None:
        super().__init__(problem)
        self._roots = roots
        self._root = self._depth = -1
        self._counter = CopyCounter.of(problem)
        self._table, self._start = option_lists(problem, self._counter, in_place=True)
        self._full = (1 << problem.cell_count) - 1
        depths = problem.pieces_used + 2
        self._covered = np.zeros(depths, dtype=np.uint64)
        self._left = np.zeros(depths, dtype=np.uint64)
        self._cursor = np.zeros(depths, dtype=np.int64)
        self._found = np.zeros((_BUFFERED if listing else 0, depths), dtype=np.int64)

    @staticmethod
    def fits(problem: ExactCoverProblem) -> bool:
        """Whether the cells and the counts of copies fit into a word each."""
        bits = CopyCounter.of(problem).bits
        return 0 < problem.cell_count <= WORD_BITS and bits <= WORD_BITS and not problem.leftover

    def step(self, nodes: int, limit: int | None) -> bool:
        """See `Walk.step`."""
        while nodes > 0:
            if self._depth < 0 and not self._next_root():
                return True
            most = _BUFFERED if len(self._found) else _NO_LIMIT
            if limit is not None:
                most = min(most, -(-(limit - self.count) // self._roots[self._root][1]))
            self._depth, walked, found = _scan(
                self._table, self._start, Word(self._full),
                Word(self._counter.guard), Word(self._counter.done),
                self._covered, self._left, self._cursor, self._found, self._depth, nodes, most,
            )  # fmt: skip
            self.nodes += walked
            nodes -= walked
            self.count += found * self._roots[self._root][1]
            self._keep(found)
            if limit is not None and self.count >= limit:
                return True
        return False

    def share(self) -> float:
        """See `Walk.share`."""
        behind = 1.0 if self._depth < 0 else super().share()
        return (self._root + behind) / len(self._roots) if self._roots else 1.0

    def _level(self, depth: int) -> tuple[npt.NDArray[np.bool_], int]:
        index = int(_list_from(self._covered[depth]))
        begin, guard = int(self._start[index]), Word(self._counter.guard)
        rows = self._table[begin : self._start[index + 1]]
        free = (rows[:, 0] & self._covered[depth]) == ZERO
        there = (self._left[depth] - rows[:, 1]) & guard == guard
        return free & there, int(self._cursor[depth]) - begin

    def _next_root(self) -> bool:
        """Sets the state to the next root; False when there is none."""
        while self._root + 1 < len(self._roots):
            self._root += 1
            position = self._roots[self._root][0]
            covered, left = 0, self._counter.start
            if position is not None:
                option = self.problem.options[position]
                covered = sum(1 << cell for cell in option.cells)
                left -= self._counter.cost(option)
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


# --- the item with fewest options -------------------------------------------------------------------

_OVER, _GOING, _FULL_LIST, _FULL_ITEMS = 0, 1, 2, 3
_COMPLETE, _NOT_CHOSEN, _DEAD = -1, -2, -3
_BUFFERED_ITEMS = 1 << 16
#: What need not be covered: nothing, cells, or kinds.
_NOTHING, _CELLS, _KINDS = 0, 1, 2


@kernel
def _choose(options, live, begin, end, covered, left, counts, optional):  # type: ignore[no-untyped-def]
    """The item with fewest options, or `_COMPLETE` when the node is complete.

    `_DEAD` when all cells are covered, and of the pieces that need not be used too few are.

    Kinds with several copies left are taken only when they cannot be placed, or when cells
    need not be covered and nothing else is left to branch on.
    """
    _, cells, cell_start, kinds, _, _ = options
    cell_count, total = covered.shape[0], left.shape[0] - 1
    counts[:] = 0
    for place in range(begin, end):
        option = live[place]
        counts[cell_count + kinds[option]] += 1
        for at in range(cell_start[option], cell_start[option + 1]):
            counts[cells[at]] += 1
    best, fewest, complete = _DEAD, np.int64(1) << 62, left[total] == 0
    if optional != _CELLS:
        for cell in range(cell_count):
            if not covered[cell]:
                complete = False
                if counts[cell] < fewest:
                    best, fewest = cell, counts[cell]
    if optional != _KINDS:
        for kind in range(total):
            count = counts[cell_count + kind]
            if left[kind] > 0 and count < fewest and (
                left[kind] == 1 or optional == _CELLS or count == 0
            ):  # fmt: skip
                best, fewest = cell_count + kind, count
    return _COMPLETE if complete else best


@kernel
def _descend(options, live, begin, end, left, chosen, item_kind):  # type: ignore[no-untyped-def]
    """Writes those options behind ``end`` that fit beside the chosen one; returns their end.

    After a branch on a kind (``item_kind``, else -1) its later copies come later in the order.
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


@kernel
def _next_child(options, live, place, end, item, cell_count, at_root):  # type: ignore[no-untyped-def]
    """The next place in the list whose option covers the item; ``end`` when there is none."""
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


@kernel
def _use(options, option, sign, covered, left):  # type: ignore[no-untyped-def]
    """Puts an option down (a sign of -1) or takes it back (1)."""
    _, cells, cell_start, kinds, uses, _ = options
    left[kinds[option]] += sign * uses[option]
    left[-1] += sign * uses[option]
    for at in range(cell_start[option], cell_start[option + 1]):
        covered[cells[at]] = sign < 0


@kernel
def _start(kinds, uses, copies, pieces_used, cell_count):  # type: ignore[no-untyped-def]
    """The state of a walk at its beginning, as `_fewest` takes it."""
    depths = pieces_used + 2
    live, fitting = np.zeros(8 * kinds.shape[0] + 64, dtype=np.int32), 0
    for option in range(kinds.shape[0]):
        if uses[option] <= min(copies[kinds[option]], pieces_used):
            live[fitting] = option
            fitting += 1
    bounds, cursor = np.zeros(depths + 1, dtype=np.int64), np.zeros(depths, dtype=np.int64)
    bounds[1] = fitting
    item, chosen = np.full(depths, np.int64(_NOT_CHOSEN)), np.zeros(depths, dtype=np.int64)
    covered, left = np.zeros(cell_count, dtype=np.bool_), np.append(copies, pieces_used)
    counts = np.zeros(cell_count + copies.shape[0], dtype=np.int64)
    return live, bounds, cursor, item, chosen, covered, left, counts


@kernel
def _fewest(  # type: ignore[no-untyped-def]
    options, state, optional, first_item, items, item_count, depth, node_limit, solution_limit
):
    """Goes on with the walk until it is over, a limit is reached, or a buffer is full.

    Of each of the options there are the mask, the cells (in a row) and where they start, the kind,
    the copies used, and the multiplicity of what lies below it at the root.

    At depth d the options that fit are ``live[bounds[d]:bounds[d + 1]]``; ``item[d]`` is the
    item branched on (below 0: there is none) and ``cursor[d]`` the next
    place in the list. The last entry of ``left`` is how many pieces are still to be used.

    Returns:
        Why it stopped, the depth, nodes, the weight of the solutions found, items noted.
    """
    weights = options[5]
    live, bounds, cursor, item, chosen, covered, left, counts = state
    nodes = weight = 0
    cell_count, noting = covered.shape[0], items.shape[0] > 0
    while depth >= 0 and nodes < node_limit:
        begin, end = bounds[depth], bounds[depth + 1]
        if item[depth] == _NOT_CHOSEN:
            if noting and item_count == items.shape[0]:
                return _FULL_ITEMS, depth, nodes, weight, item_count
            best = _choose(options, live, begin, end, covered, left, counts, optional)
            if depth == 0 and first_item >= 0:
                best = first_item
            item[depth], cursor[depth] = best, begin if best >= 0 else end
            if best == _COMPLETE:
                weight += weights[chosen[0]] if depth > 0 else 1
                if weight >= solution_limit:
                    return _GOING, depth, nodes, weight, item_count
            elif noting and best >= 0:
                items[item_count] = best
                item_count += 1
        place = _next_child(options, live, cursor[depth], end, item[depth], cell_count, depth == 0)
        cursor[depth] = place
        if place == end:
            depth -= 1
            if depth >= 0:
                _use(options, chosen[depth], 1, covered, left)
            continue
        if end + end - begin > live.shape[0]:
            return _FULL_LIST, depth, nodes, weight, item_count
        option = live[place]
        cursor[depth], chosen[depth] = place + 1, option
        nodes += 1
        _use(options, option, -1, covered, left)
        item_kind = item[depth] - cell_count if item[depth] >= cell_count else -1
        depth += 1
        bounds[depth + 1] = _descend(options, live, begin, end, left, option, item_kind)
        item[depth] = _NOT_CHOSEN
    return _OVER if depth < 0 else _GOING, depth, nodes, weight, item_count


@kernel
def _grown(state):  # type: ignore[no-untyped-def]
    """The state with room for twice as many options that fit."""
    live, bounds, cursor, item, chosen, covered, left, counts = state
    live = np.concatenate((live, np.zeros_like(live)))
    return live, bounds, cursor, item, chosen, covered, left, counts


@kernel
def walk_from_root(  # type: ignore[no-untyped-def]
    masks, cells, cell_start, kinds, weights, copies, cell_count, first_item, most_nodes
):
    """A walk to the first solution, or to the end, in one go; for kernels that set up many.

    Options use one copy each, and everything is to be covered; see `_fewest` for the rest.

    Returns:
        0 when there is no solution, 1 when one was found, 2 when nodes ran out; nodes; the
        solution's options (none unless found); the items branched on, in preorder.
    """
    uses = np.ones(masks.shape[0], dtype=np.int64)
    options = (masks, cells, cell_start, kinds, uses, weights)
    state = _start(kinds, uses, copies, copies.sum(), cell_count)
    chosen = state[4]
    items, noted = np.zeros(256, dtype=np.int32), 0
    depth = nodes = 0
    while True:
        why, depth, walked, weight, noted = _fewest(
            options, state, _NOTHING, first_item, items, noted, depth, most_nodes - nodes, 1
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


class FewestWalk(Walk):
    """A walk that branches on the item with fewest options.

    At the root it branches on `first_kind`, if there is one, and tries the options that have
    `weights`, each the multiplicity of what lies below. When it is `noting`, the items branched on
    are kept in `items`, in preorder; cells first, then kinds, as in a certificate.
    """

    def __init__(
        self,
        problem: ExactCoverProblem,
        first_kind: int | None = None,
        weights: Mapping[int, int] | None = None,
        listing: bool = False,
        noting: bool = False,
    ) -> None:
        super().__init__(problem)
        self.items: list[int] = []
        self._listing, self._over = listing, False
        self._first = -1 if first_kind is None else problem.cell_count + first_kind
        cells, cell_start = in_a_row([option.cells for option in problem.options])
        self._masks = masks(cells, cell_start, problem.cell_count)
        self._kinds = _numbers(option.kind for option in problem.options)
        uses = _numbers(option.copies for option in problem.options)
        places = range(len(problem.options))
        self._weights = _numbers(1 if weights is None else weights.get(p, 0) for p in places)
        self._options = self._masks, cells, cell_start, self._kinds, uses, self._weights
        self._optional = _CELLS if problem.leftover else _NOTHING
        if problem.pieces_count is not None:
            self._optional = _KINDS
        copies = _numbers(problem.copies)
        self._state = _start(self._kinds, uses, copies, problem.pieces_used, problem.cell_count)
        _, self._bounds, self._cursor, self._item, self._chosen, *_ = self._state
        self._items = np.zeros(_BUFFERED_ITEMS if noting else 0, dtype=np.int32)
        self._noted = 0

    def step(self, nodes: int, limit: int | None) -> bool:
        """See `Walk.step`."""
        while nodes > 0 and not self._over:
            most = 1 if self._listing else _NO_LIMIT if limit is None else limit - self.count
            why, self._depth, walked, weight, self._noted = _fewest(
                self._options, self._state, self._optional, self._first,
                self._items, self._noted, self._depth, nodes, most,
            )  # fmt: skip
            self.nodes += walked
            nodes -= walked
            self.count += weight
            self._over = why == _OVER
            if weight and self._listing:
                self.solutions.append(tuple(sorted(self._chosen[: self._depth].tolist())))
            if why == _FULL_LIST:
                self._state = _grown(self._state)
            if why == _FULL_ITEMS or self._over:
                self.items.extend(self._items[: self._noted].tolist())
                self._noted = 0
            if limit is not None and self.count >= limit:
                return True
        return self._over

    def share(self) -> float:
        """See `Walk.share`."""
        return 1.0 if self._over else super().share()

    def choices(self) -> list[int]:
        """How many options there were for the item branched on, along the path to here."""
        return [int(self._level(depth)[0].sum()) for depth in range(self._depth)]

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


def _numbers(values: Iterable[int]) -> Numbers:
    return np.array(list(values), dtype=np.int64)
