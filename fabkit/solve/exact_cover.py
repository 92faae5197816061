"""The exact cover problem: items to cover exactly once, and options that cover them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

WordArray = npt.NDArray[np.uint64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

WORD_BITS = 64
#: A symmetry: ``permutation[i]`` is the image of item ``i``.
Permutation = tuple[int, ...]


@dataclass(frozen=True, order=True)
class Option:
    """A placement of a piece (or, in a problem of orbits, of several copies) on ascending cells."""

    kind: int
    cells: tuple[int, ...]
    copies: int = 1


@dataclass(frozen=True)
class ExactCoverProblem:
    """Cells and kinds of pieces as items, placements as options.

    Every cell is covered exactly once. All copies of all kinds are used, or
    `pieces_count` pieces in all.

    Attributes:
        cell_count: number of cells, numbered from 0 in the order in which engines scan them.
        copies: number of identical pieces of each kind.
        options: sorted and distinct.
        symmetries: permutations of the cells that map options to options of the same kind; or of
            the items, cells and then kinds, if a reflection maps one kind to another. A group,
            the identity first.
        pieces_count: number of pieces used; None for all.
        open_cells: whether the last kind stands for cells that stay open, each with an option.
        all_symmetries: whether `symmetries` are all; else only those of the whole region.
    """

    cell_count: int
    copies: tuple[int, ...]
    options: tuple[Option, ...]
    symmetries: tuple[Permutation, ...] = ()
    pieces_count: int | None = None
    open_cells: bool = False
    all_symmetries: bool = True

    def __post_init__(self) -> None:
        items = tuple(range(self.cell_count + self.kind_count))
        symmetries = self.symmetries or (items,)
        whole = tuple((*permutation, *items[len(permutation) :]) for permutation in symmetries)
        object.__setattr__(self, "symmetries", whole)

    @property
    def kind_count(self) -> int:
        """The number of kinds."""
        return len(self.copies)

    @property
    def pieces_used(self) -> int:
        """The number of pieces in a solution."""
        return sum(self.copies) if self.pieces_count is None else self.pieces_count

    def labelled(self, count: int) -> int | None:
        """Convert a count of solutions to one with identical pieces distinguished.

        None if the factor differs between solutions.
        """
        if count and self.pieces_count is not None and max(self.copies, default=0) > 1:
            return None
        pieces = self.copies[:-1] if self.open_cells else self.copies
        return count * math.prod(math.factorial(copies) for copies in pieces)

    @cached_property
    def by_kind(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the options of each kind."""
        positions: list[list[int]] = [[] for _ in self.copies]
        for position, option in enumerate(self.options):
            positions[option.kind].append(position)
        return tuple(map(tuple, positions))

    def size(self, kind: int) -> int:
        """Return the number of cells of a kind's largest option; 0 if it has none."""
        return max((len(self.options[option].cells) for option in self.by_kind[kind]), default=0)

    @cached_property
    def by_cell(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the options that cover each cell."""
        positions: list[list[int]] = [[] for _ in range(self.cell_count)]
        for position, option in enumerate(self.options):
            for cell in option.cells:
                positions[cell].append(position)
        return tuple(map(tuple, positions))

    def constraints(self) -> Iterator[tuple[int, int, dict[int, int]]]:
        """Yield linear constraints on solutions: minimum, maximum, weights by option position."""
        for options in self.by_cell:
            yield 1, 1, dict.fromkeys(options, 1)
        uses = {position: option.copies for position, option in enumerate(self.options)}
        for kind, copies in enumerate(self.copies):
            minimum = copies if self.pieces_count is None else 0
            yield minimum, copies, {position: uses[position] for position in self.by_kind[kind]}
        if self.pieces_count is not None:
            yield self.pieces_count, self.pieces_count, uses

    def sums(self, uses: Sequence[Iterable[tuple[int, int]]]) -> dict[int, int]:
        """Return which sums the pieces can reach, as bit sets, by the number of pieces used; all of
        them, unless `pieces_count` is set. `uses` has for each kind the pairs of copies used and
        amount added that an option may have."""
        sums = defaultdict(int, {0: 1})
        for kind, copies in enumerate(self.copies):
            by_copies = [sums, *(defaultdict[int, int](int) for _ in range(copies))]
            for used in range(copies):
                for more, amount in uses[kind]:
                    if used + more <= copies:
                        for pieces, amounts in by_copies[used].items():
                            by_copies[used + more][pieces + more] |= amounts << amount
            sums = defaultdict(int)
            for reached in by_copies if self.pieces_count is not None else by_copies[copies:]:
                for pieces, amounts in reached.items():
                    sums[pieces] |= amounts
        return sums

    @cached_property
    def areas(self) -> BoolArray:
        """Whether so many pieces (rows) can cover so many cells (columns) together.

        Empty if all pieces are used, since then their areas exclude nothing.
        """
        if self.pieces_count is None:
            return np.zeros((0, 0), dtype=np.bool_)
        options = [[self.options[position] for position in kind] for kind in self.by_kind]
        sums = self.sums([{(option.copies, len(option.cells)) for option in o} for o in options])
        areas = [
            [sums.get(used, 0) >> area & 1 for area in range(self.cell_count + 1)]
            for used in range(self.pieces_count + 1)
        ]
        return np.array(areas, dtype=np.bool_)

    @cached_property
    def usable(self) -> tuple[int, ...]:
        """The positions of the options that use no more copies than there are."""
        maximum = [min(copies, self.pieces_used) for copies in self.copies]
        return tuple(
            p for p, option in enumerate(self.options) if option.copies <= maximum[option.kind]
        )

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """The position of every option's image, for each symmetry.

        Raises:
            ValueError: if an image is not an option.
        """
        images = [self._images_under(symmetry) for symmetry in self.symmetries]
        if None in images:
            raise ValueError("a symmetry does not map options to options")
        return tuple(image for image in images if image is not None)

    def kept_symmetries(self) -> tuple[Permutation, ...]:
        """Return the symmetries that map options to options: with clues, not all do."""
        return tuple(s for s in self.symmetries if self._images_under(s) is not None)

    @cached_property
    def _rows(self) -> tuple[IntArray, IntArray, IntArray, WordArray, IntArray]:
        """The options' kinds, cells, starts and masks, and their order by kind and mask."""
        kinds = np.array([option.kind for option in self.options], dtype=np.int64)
        cells, starts = to_csr([option.cells for option in self.options])
        masks = bitmasks(cells, starts, self.cell_count)
        return kinds, cells, starts, masks, np.lexsort((*masks.T, kinds))

    def _images_under(self, symmetry: Permutation) -> tuple[int, ...] | None:
        """Return the position of every option's image; None if some image is not an option."""
        kinds, cells, starts, masks, places = self._rows
        permutation = np.array(symmetry, dtype=np.int64)
        moved = bitmasks(permutation[cells], starts, self.cell_count)
        moved_kinds = permutation[self.cell_count :][kinds] - self.cell_count
        order = np.lexsort((*moved.T, moved_kinds))
        same_kinds = np.array_equal(moved_kinds[order], kinds[places])
        if not same_kinds or not np.array_equal(moved[order], masks[places]):
            return None
        image = np.empty_like(places)
        image[order] = places
        return tuple(image.tolist())

    def is_solved_by(self, solution: Iterable[int]) -> bool:
        """Return whether the options cover all that must be covered, and nothing twice."""
        left = list(self.copies)
        covered = set[int]()
        for position in solution:
            option = self.options[position]
            left[option.kind] -= option.copies
            if not covered.isdisjoint(option.cells):
                return False
            covered.update(option.cells)
        used = sum(self.copies) - sum(left)
        all_covered = len(covered) == self.cell_count
        return min(left, default=0) >= 0 and used == self.pieces_used and all_covered

    def are_images(self, solution: Sequence[int], other: Sequence[int]) -> bool:
        """Return whether a symmetry maps one solution to another; both are positions of options."""
        return any(sorted(image[p] for p in solution) == sorted(other) for image in self.images)

    def orbits(
        self, kind: int, representative: Callable[[Iterable[int]], int] = min
    ) -> dict[int, int]:
        """Return one option of each orbit of a kind's options, with the orbit's size.

        Orbits are under the symmetries that fix the kind. The `representative` is their first
        option (`min`) or their last (`max`).
        """
        item = self.cell_count + kind
        pairs = zip(self.images, self.symmetries, strict=True)
        keeping = [image for image, symmetry in pairs if symmetry[item] == item]
        options = self.by_kind[kind]
        return dict(Counter(representative(image[o] for image in keeping) for o in options))


def fixed_problem(problem: ExactCoverProblem, symmetry: int) -> ExactCoverProblem:
    """Return the problem of those solutions that a symmetry maps to themselves.

    Such a solution is a union of orbits of options under the symmetry's powers. An orbit of
    disjoint options becomes one option that uses as many copies. If a reflection maps one kind to
    another, the first of the two gets the copies of both.
    """
    image = problem.images[symmetry]
    copies_of = [0] * problem.kind_count
    for kind, item in enumerate(problem.symmetries[symmetry][problem.cell_count :]):
        copies_of[min(kind, item - problem.cell_count)] += problem.copies[kind]
    options = []
    seen = set()
    for start in range(len(problem.options)):
        if start in seen:
            continue
        orbit = [start]
        while image[orbit[-1]] != start:
            orbit.append(image[orbit[-1]])
        seen.update(orbit)
        kind = problem.options[start].kind
        members = [problem.options[position] for position in orbit]
        copies = sum(option.copies for option in members)
        if copies > copies_of[kind]:
            continue
        cells = sorted(cell for option in members for cell in option.cells)
        if all(a != b for a, b in pairwise(cells)):
            options.append(Option(kind, tuple(cells), copies))
    options.sort()
    return replace(
        problem, copies=tuple(copies_of), options=tuple(options), symmetries=(), all_symmetries=True
    )


def burnside(count: int, fixed: list[int]) -> int:
    """Count orbits of solutions by Burnside's lemma: the mean number fixed by a symmetry.

    Raises:
        ValueError: if the mean is not a whole number.
    """
    orbits, remainder = divmod(count + sum(fixed), len(fixed) + 1)
    if remainder:
        raise ValueError(f"{count} solutions, {fixed} of them fixed: not whole orbits")
    return orbits


def to_csr(groups: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Concatenate groups of numbers as in a CSR matrix: indices and start offsets (and the end)."""
    starts = np.zeros(len(groups) + 1, dtype=np.int64)
    np.cumsum([len(group) for group in groups], out=starts[1:])
    return np.fromiter(chain.from_iterable(groups), np.int64, int(starts[-1])), starts


def bitmasks(numbers: IntArray, starts: IntArray, bits: int) -> WordArray:
    """Pack each group from `to_csr` into a row of 64-bit words, lowest bit first.

    Example:
        >>> bitmasks(*to_csr([(0, 2), (65,)]), bits=66).tolist()
        [[5, 0], [0, 2]]
    """
    width = max(1, -(-bits // WORD_BITS))
    masks = np.zeros((len(starts) - 1) * width, dtype=np.uint64)
    rows = np.repeat(np.arange(0, len(masks), width), np.diff(starts))
    bit = np.uint64(1) << (numbers % WORD_BITS).astype(np.uint64)
    np.bitwise_or.at(masks, rows + numbers // WORD_BITS, bit)
    return masks.reshape(-1, width)
