"""The exact cover problem: items to be covered exactly once, options that cover them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fabkit.solve.packing import in_a_row, masks

#: A symmetry of the problem: ``permutation[i]`` is the image of cell ``i``.
Permutation = tuple[int, ...]


@dataclass(frozen=True, order=True)
class Option:
    """One way to use a piece (or, in a problem of orbits, several copies of it at once).

    Attributes:
        kind: which kind of piece.
        cells: the numbers of the cells it covers, ascending.
        copies: how many copies of the kind it uses.
    """

    kind: int
    cells: tuple[int, ...]
    copies: int = 1


@dataclass(frozen=True)
class ExactCoverProblem:
    """Cells and kinds of pieces as items, placements as options.

    Every copy of every kind is used. Cells are primary items, each covered exactly once; or
    secondary, each covered at most once, when `leftover` allows cells to stay bare.

    Attributes:
        cell_count: cells are numbered from 0; engines that scan go in this order.
        copies: for each kind, how many identical pieces there are.
        options: sorted, each once.
        leftover: whether cells may stay uncovered.
        symmetries: permutations of the cells that carry options to options of the same kind;
            a group, the identity first.
        neighbours: for each cell those it shares an edge with, when every option hangs
            together by edges, which makes islands meaningful; empty otherwise.

    Example:
        >>> dominoes = ExactCoverProblem(2, (1,), (Option(0, (0, 1)),))
        >>> dominoes.labellings
        1
    """

    cell_count: int
    copies: tuple[int, ...]
    options: tuple[Option, ...]
    leftover: bool = False
    symmetries: tuple[Permutation, ...] = ()
    neighbours: tuple[tuple[int, ...], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not self.symmetries:
            object.__setattr__(self, "symmetries", (tuple(range(self.cell_count)),))

    @property
    def kind_count(self) -> int:
        """The number of kinds."""
        return len(self.copies)

    @cached_property
    def labellings(self) -> int:
        """In how many ways the names of identical pieces can be dealt out over one solution."""
        return math.prod(math.factorial(copies) for copies in self.copies)

    @cached_property
    def by_kind(self) -> tuple[tuple[int, ...], ...]:
        """For each kind the positions of its options."""
        found: list[list[int]] = [[] for _ in self.copies]
        for position, option in enumerate(self.options):
            found[option.kind].append(position)
        return tuple(map(tuple, found))

    @cached_property
    def by_cell(self) -> tuple[tuple[int, ...], ...]:
        """For each cell the positions of the options that cover it."""
        found: list[list[int]] = [[] for _ in range(self.cell_count)]
        for position, option in enumerate(self.options):
            for cell in option.cells:
                found[cell].append(position)
        return tuple(map(tuple, found))

    @cached_property
    def usable(self) -> tuple[int, ...]:
        """The positions of the options that do not use more copies than there are."""
        return tuple(
            position
            for position, option in enumerate(self.options)
            if option.copies <= self.copies[option.kind]
        )

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """For each symmetry, the position of every option's image."""
        kinds = [option.kind for option in self.options]
        cells, starts = in_a_row([option.cells for option in self.options])
        own = masks(cells, starts, self.cell_count)
        places = np.lexsort((*own.T, kinds))
        images = []
        for symmetry in np.array(self.symmetries, dtype=np.int64):
            moved = masks(symmetry[cells], starts, self.cell_count)
            order = np.lexsort((*moved.T, kinds))
            if not np.array_equal(moved[order], own[places]):
                raise ValueError("a symmetry does not carry the options to options")
            image = np.empty_like(places)
            image[order] = places
            images.append(tuple(image.tolist()))
        return tuple(images)

    @cached_property
    def _orbit_sizes(self) -> Counter[int]:
        """For the least option of every orbit under the symmetries, the orbit's size."""
        return Counter(map(min, zip(*self.images, strict=True)))

    def is_solved_by(self, solution: Iterable[int]) -> bool:
        """Whether the options cover everything that must be covered, and nothing twice.

        Args:
            solution: positions of options.
        """
        left, covered = list(self.copies), set[int]()
        for position in solution:
            option = self.options[position]
            left[option.kind] -= option.copies
            if not covered.isdisjoint(option.cells):
                return False
            covered.update(option.cells)
        return not any(left) and (self.leftover or len(covered) == self.cell_count)

    def are_images(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """Whether a symmetry carries one solution to another; both are positions of options."""
        return any(sorted(image[p] for p in one) == sorted(other) for image in self.images)

    def orbits(self, kind: int) -> Iterator[tuple[int, int]]:
        """One option for each orbit of a kind's options under the symmetries.

        Yields:
            The least option's position and the size of the orbit.
        """
        for position in self.by_kind[kind]:
            if position in self._orbit_sizes:
                yield position, self._orbit_sizes[position]
