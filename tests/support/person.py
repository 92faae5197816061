"""A simulated person who solves a challenge, to measure the effort that it takes.

It shares nothing with the rating: it does not count options. It looks at the empty place that is
tightest to the eye, holds the free pieces there in random order and every way round, lays one that
fits, and sees at once only one fault: a hole that is smaller than every piece left.
"""

from __future__ import annotations

import math
import random
from statistics import fmean

from fabkit.solve.encoding import EncodedChallenge

#: After this many pieces laid, a person stops.
PATIENCE = 5_000
PEOPLE = 8


def effort(encoded: EncodedChallenge) -> float:
    """The mean number of ways to lay a piece that several people consider, as a logarithm."""
    return math.log2(fmean(_Person(encoded, seed).considered for seed in range(PEOPLE)))


class _Person:
    def __init__(self, encoded: EncodedChallenge, seed: int) -> None:
        problem, lattice = encoded.problem, encoded.puzzle.lattice
        self._dice = random.Random(seed)
        self._masks = [sum(1 << cell for cell in option.cells) for option in problem.options]
        self._kinds = [option.kind for option in problem.options]
        self._on_cell = problem.by_cell
        self._sizes = [
            min((len(problem.options[way].cells) for way in ways), default=0)
            for ways in problem.by_kind
        ]
        edges: dict[frozenset[object], list[int]] = {}
        for number, cell in enumerate(encoded.cells):
            for edge in lattice.cell_edges(cell):
                edges.setdefault(frozenset(edge), []).append(number)
        beside: list[int] = [0] * problem.cell_count
        for cells in edges.values():
            for cell in cells:
                beside[cell] |= sum(1 << other for other in cells if other != cell)
        self._beside = beside
        self._left = list(problem.copies)
        self._pieces = problem.pieces_used
        self.considered, self._laid = 1, 0
        self._solve((1 << problem.cell_count) - 1)

    def _solve(self, empty: int) -> bool:
        """Whether the person is done: all is covered, or patience has ended."""
        if not empty or self._laid >= PATIENCE:
            return True
        if self._has_small_hole(empty):
            return False
        ways = list(self._on_cell[self._tightest(empty)])
        self._dice.shuffle(ways)
        pieces = list({self._kinds[way] for way in ways if self._left[self._kinds[way]]})
        self._dice.shuffle(pieces)
        rank = {kind: place for place, kind in enumerate(pieces)}
        for way in sorted(
            (way for way in ways if self._kinds[way] in rank),
            key=lambda way: rank[self._kinds[way]],
        ):
            self.considered += 1
            if self._masks[way] & ~empty:
                continue
            self._laid += 1
            self._left[self._kinds[way]] -= 1
            done = self._solve(empty & ~self._masks[way])
            self._left[self._kinds[way]] += 1
            if done:
                return True
        return False

    def _tightest(self, empty: int) -> int:
        """An empty cell with the fewest empty cells beside it."""
        cells = [cell for cell in range(len(self._beside)) if empty >> cell & 1]
        free = {cell: (self._beside[cell] & empty).bit_count() for cell in cells}
        fewest = min(free.values())
        return self._dice.choice([cell for cell in cells if free[cell] == fewest])

    def _has_small_hole(self, empty: int) -> bool:
        sizes = zip(self._sizes, self._left, strict=True)
        smallest = min((size for size, left in sizes if left), default=math.inf)
        while empty:
            hole, edge = 0, empty & -empty
            while edge:
                hole |= edge
                near = 0
                while edge:
                    near |= self._beside[(edge & -edge).bit_length() - 1]
                    edge &= edge - 1
                edge = near & empty & ~hole
            if hole.bit_count() < smallest:
                return True
            empty &= ~hole
        return False
