"""Backtracking on the item with the fewest options (minimum remaining values); masks of any width.

A node costs some twenty times as much as one of `bitmask`, but there are fewer. The items branched
on are the whole proof: replaying them in order visits the same tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from fabkit.core.kernels import ONE, ZERO, Word, kernel, kernel_helper
from fabkit.solve.engines.tree_search import NO_LIMIT, TreeSearch
from fabkit.solve.exact_cover import ExactCoverProblem, IntArray, bitmasks, to_csr

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

    Where kinds are secondary, return `_DEAD` if all cells are covered but too few pieces are used,
    or if the pieces to be used cannot cover the bare cells, by ``areas``.

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
            options, state, optional_kinds, no_areas, first_item, items, noted, depth,
            max_nodes - nodes, solution_limit,
        )  # fmt: skip
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

    At the root it branches on `first_kind`, if given, and tries the options that have `weights`,
    the multiplicities of their subtrees. With `record_items`, the items branched on are kept in
    `items`, in preorder, numbered as in a certificate: cells first, then kinds.
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
                1 if self._keep_solutions else NO_LIMIT if limit is None else limit - self.count
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
