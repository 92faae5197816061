"""What the engines of backtracking share: they run in slices, and know how far they are."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fabkit.solve.engines.engine import Solution
from fabkit.solve.exact_cover import ExactCoverProblem

#: About how long a search runs between two looks at the clock, in seconds.
_SLICE_S = 0.05
#: Nodes of the first slice, before the speed is known.
_FIRST_SLICE = 64
#: Maximum number of nodes in a slice.
_LONGEST_SLICE = 1 << 20
#: The limit of a search without limit.
NO_LIMIT = np.iinfo(np.int64).max


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
