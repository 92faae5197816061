"""Backtracking on the item with fewest options, for masks of any width.

Every node keeps the list of options that still fit, so a deep node costs little. The items
branched on are the whole proof: replaying them in order visits the same tree.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from fabkit.solve.engines.compiled import ONE, ZERO, Word, kernel
from fabkit.solve.engines.engine import Solution
from fabkit.solve.packing import Numbers, in_a_row, masks
from fabkit.solve.problem import ExactCoverProblem

_OVER, _GOING, _FULL_LIST, _FULL_ITEMS = 0, 1, 2, 3
_COMPLETE, _NOT_CHOSEN = -1, -2
_BUFFERED_ITEMS = 1 << 16


@kernel
def _choose(  # type: ignore[no-untyped-def]
    live, begin, end, cells, cell_start, kinds, covered, left, counts, leftover
):
    """The item with fewest options, or `_COMPLETE` when the node is complete.

    Kinds with several copies left are taken only when they cannot be placed, or when cells
    need not be covered and nothing else is left to branch on.
    """
    cell_count = counts.shape[0] - left.shape[0]
    counts[:] = 0
    for place in range(begin, end):
        option = live[place]
        counts[cell_count + kinds[option]] += 1
        for at in range(cell_start[option], cell_start[option + 1]):
            counts[cells[at]] += 1
    best, fewest, complete = -1, np.int64(1) << 62, True
    if not leftover:
        for cell in range(cell_count):
            if not covered[cell]:
                complete = False
                if counts[cell] < fewest:
                    best, fewest = cell, counts[cell]
    for kind in range(left.shape[0]):
        if left[kind] > 0:
            complete = False
            count = counts[cell_count + kind]
            if count < fewest and (left[kind] == 1 or leftover or count == 0):
                best, fewest = cell_count + kind, count
    return _COMPLETE if complete else best


@kernel
def _descend(  # type: ignore[no-untyped-def]
    live, begin, end, masks, kinds, uses, left, chosen, item_kind
):
    """Writes those options behind ``end`` that fit beside the chosen one; returns their end.

    After a branch on a kind (``item_kind``, else -1) its later copies come later in the order.
    """
    stop = end
    for place in range(begin, end):
        option = live[place]
        kind = kinds[option]
        if uses[option] > left[kind] or (kind == item_kind and option <= chosen):
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
def _next_child(  # type: ignore[no-untyped-def]
    live, place, end, masks, kinds, weights, item, cell_count, at_root
):
    """The next place in the list whose option covers the item; ``end`` when there is none."""
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
def _use(  # type: ignore[no-untyped-def]
    option, copies, covering, cells, cell_start, kinds, covered, left
):
    """Puts an option down (``copies`` negative) or takes it back."""
    left[kinds[option]] += copies
    for at in range(cell_start[option], cell_start[option + 1]):
        covered[cells[at]] = covering


@kernel
def _walk(  # type: ignore[no-untyped-def]
    masks, cells, cell_start, kinds, uses, weights, leftover, first_item,
    live, bounds, cursor, item, chosen, covered, left, counts, items, item_count,
    depth, node_limit, solution_limit,
):  # fmt: skip
    """Goes on with the walk until it is over, a limit is reached, or a buffer is full.

    At depth d the options that fit are ``live[bounds[d]:bounds[d + 1]]``; ``item[d]`` is the
    item branched on (-1: the node is complete, -2: not chosen yet) and ``cursor[d]`` the next
    place in the list.

    Returns:
        Why it stopped, the depth, nodes, the weight of the solutions found, items noted.
    """
    nodes = weight = 0
    cell_count, noting = covered.shape[0], items.shape[0] > 0
    while depth >= 0 and nodes < node_limit:
        begin, end = bounds[depth], bounds[depth + 1]
        if item[depth] == _NOT_CHOSEN:
            if noting and item_count == items.shape[0]:
                return _FULL_ITEMS, depth, nodes, weight, item_count
            best = _choose(
                live, begin, end, cells, cell_start, kinds, covered, left, counts, leftover
            )
            if depth == 0 and first_item >= 0:
                best = first_item
            item[depth], cursor[depth] = best, begin
            if best == _COMPLETE:
                cursor[depth] = end
                weight += weights[chosen[0]] if depth > 0 else 1
                if weight >= solution_limit:
                    return _GOING, depth, nodes, weight, item_count
            elif noting:
                items[item_count] = best
                item_count += 1
        place = _next_child(
            live, cursor[depth], end, masks, kinds, weights, item[depth], cell_count, depth == 0
        )
        cursor[depth] = place
        if place == end:
            depth -= 1
            if depth >= 0:
                option = chosen[depth]
                _use(option, uses[option], False, cells, cell_start, kinds, covered, left)
            continue
        if end + end - begin > live.shape[0]:
            return _FULL_LIST, depth, nodes, weight, item_count
        option = live[place]
        cursor[depth], chosen[depth] = place + 1, option
        nodes += 1
        _use(option, -uses[option], True, cells, cell_start, kinds, covered, left)
        item_kind = item[depth] - cell_count if item[depth] >= cell_count else -1
        depth += 1
        bounds[depth + 1] = _descend(live, begin, end, masks, kinds, uses, left, option, item_kind)
        item[depth] = _NOT_CHOSEN
    return _OVER if depth < 0 else _GOING, depth, nodes, weight, item_count


@kernel
def walk_from_root(  # type: ignore[no-untyped-def]
    masks, cells, cell_start, kinds, weights, copies, cell_count, first_item, most_nodes
):
    """A walk to the first solution, or to the end, in one go; for kernels that set up many.

    Options use one copy each, and every cell is to be covered; see `_walk` for the rest.

    Returns:
        0 when there is no solution, 1 when one was found, 2 when nodes ran out; nodes; the
        solution's options (none unless found); the items branched on, in preorder.
    """
    depths = copies.sum() + 2
    live = np.zeros(8 * masks.shape[0] + 64, dtype=np.int32)
    for option in range(masks.shape[0]):
        live[option] = option
    bounds = np.zeros(depths + 1, dtype=np.int64)
    bounds[1] = masks.shape[0]
    cursor, chosen = np.zeros(depths, dtype=np.int64), np.zeros(depths, dtype=np.int64)
    item = np.full(depths, np.int64(_NOT_CHOSEN), dtype=np.int64)
    covered, left = np.zeros(cell_count, dtype=np.bool_), copies.copy()
    counts = np.zeros(cell_count + copies.shape[0], dtype=np.int64)
    uses = np.ones(masks.shape[0], dtype=np.int64)
    items, noted = np.zeros(256, dtype=np.int32), 0
    depth = nodes = 0
    while True:
        why, depth, walked, weight, noted = _walk(
            masks, cells, cell_start, kinds, uses, weights, False, first_item,
            live, bounds, cursor, item, chosen, covered, left, counts, items, noted,
            depth, most_nodes - nodes, 1,
        )  # fmt: skip
        nodes += walked
        if weight > 0:
            return 1, nodes, chosen[:depth].copy(), items[:noted].copy()
        if why == _OVER:
            return 0, nodes, chosen[:0].copy(), items[:noted].copy()
        if why == _FULL_LIST:
            live = np.concatenate((live, np.zeros_like(live)))
        elif why == _FULL_ITEMS:
            items = np.concatenate((items, np.zeros_like(items)))
        else:
            return 2, nodes, chosen[:0].copy(), items[:0].copy()


class FewestWalk:
    """A walk through all solutions of a problem, in slices.

    Args:
        problem: any.
        first_kind: the kind to branch on first, or None.
        weights: then the options to try, and the multiplicity of what lies below each.
        listing: whether solutions are kept in `solutions`.
        noting: whether the items branched on are kept in `items`, in preorder; cells first,
            then kinds, as in a certificate.
    """

    def __init__(
        self,
        problem: ExactCoverProblem,
        first_kind: int | None = None,
        weights: Mapping[int, int] | None = None,
        listing: bool = False,
        noting: bool = False,
    ) -> None:
        self.problem = problem
        self.nodes = 0
        self.count = 0
        self.solutions: list[Solution] = []
        self.items: list[int] = []
        self._listing, self._over = listing, False
        self._first = -1 if first_kind is None else problem.cell_count + first_kind
        options = problem.options
        self._cells, self._cell_start = in_a_row([option.cells for option in options])
        self._masks = masks(self._cells, self._cell_start, problem.cell_count)
        self._kinds = _numbers(option.kind for option in options)
        self._uses = _numbers(option.copies for option in options)
        self._weights = _numbers(
            1 if weights is None else weights.get(position, 0) for position in range(len(options))
        )
        depths = sum(problem.copies) + 2
        fitting = list(problem.usable)
        self._live = np.zeros(max(64, 4 * len(options)), dtype=np.int32)
        self._live[: len(fitting)] = fitting
        self._bounds = np.zeros(depths + 1, dtype=np.int64)
        self._bounds[1] = len(fitting)
        self._cursor = np.zeros(depths, dtype=np.int64)
        self._item = np.full(depths, _NOT_CHOSEN, dtype=np.int64)
        self._chosen = np.zeros(depths, dtype=np.int64)
        self._covered = np.zeros(problem.cell_count, dtype=np.bool_)
        self._left = _numbers(problem.copies)
        self._counts = np.zeros(problem.cell_count + problem.kind_count, dtype=np.int64)
        self._items = np.zeros(_BUFFERED_ITEMS if noting else 0, dtype=np.int32)
        self._noted = 0
        self._depth = 0

    def step(self, nodes: int, limit: int | None) -> bool:
        """Goes on for about so many nodes, or until `count` reaches the limit.

        Returns:
            Whether the walk is over: nothing is left, or the limit is reached.
        """
        while nodes > 0 and not self._over:
            most = np.iinfo(np.int64).max if limit is None else limit - self.count
            why, self._depth, walked, weight, self._noted = _walk(
                self._masks, self._cells, self._cell_start, self._kinds, self._uses,
                self._weights, self.problem.leftover, self._first,
                self._live, self._bounds, self._cursor, self._item, self._chosen,
                self._covered, self._left, self._counts, self._items, self._noted,
                self._depth, nodes, 1 if self._listing else most,
            )  # fmt: skip
            self.nodes += walked
            nodes -= walked
            self.count += weight
            self._over = why == _OVER
            if weight and self._listing:
                self.solutions.append(tuple(sorted(self._chosen[: self._depth].tolist())))
            if why == _FULL_LIST:
                self._live = np.concatenate((self._live, np.zeros_like(self._live)))
            if why == _FULL_ITEMS or self._over:
                self.items.extend(self._items[: self._noted].tolist())
                self._noted = 0
            if limit is not None and self.count >= limit:
                return True
        return self._over

    def share(self) -> float:
        """The share of the walk that is behind: each subtree weighs its part of the branching."""
        if self._over:
            return 1.0
        share, weight = 0.0, 1.0
        for depth in range(self._depth + 1):
            wanted = self._wanted(depth)
            total = int(wanted.sum())
            behind = int(self._cursor[depth] - self._bounds[depth]) - (depth < self._depth)
            if total:
                share += weight * int(wanted[:behind].sum()) / total
                weight /= total
        return share

    def choices(self) -> list[int]:
        """How many options there were for the item branched on, along the path to here."""
        return [int(self._wanted(depth).sum()) for depth in range(self._depth)]

    def _wanted(self, depth: int) -> npt.NDArray[np.bool_]:
        """Which of the options that fit at a depth are children there."""
        item, cells = int(self._item[depth]), self.problem.cell_count
        live = self._live[self._bounds[depth] : self._bounds[depth + 1]]
        if item < 0:  # not chosen yet, or complete
            return np.zeros(len(live), dtype=np.bool_)
        if item >= cells:
            wanted = self._kinds[live] == item - cells
        else:
            wanted = self._masks[live, item >> 6] >> np.uint64(item & 63) & np.uint64(1) != 0
        if depth == 0:
            wanted = wanted & (self._weights[live] > 0)
        return np.asarray(wanted)


def _numbers(values: object) -> Numbers:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]
