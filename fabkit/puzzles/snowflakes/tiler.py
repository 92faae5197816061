"""Tile candidates with the pieces: a search for each of tens of thousands of candidates.

The search is `fabkit.solve.engines.mrv.mrv_search`. It records the items branched on, whose replay
proves that a candidate is impossible. For small problems most time goes into setting them up, so that
is compiled as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fabkit.core.kernels import ONE, ZERO, Word, kernel, kernel_helper
from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.field import Field
from fabkit.solve.encoding import group_identical
from fabkit.solve.engines.mrv import mrv_search
from fabkit.solve.exact_cover import ExactCoverProblem, IntArray, Option, bitmasks, to_csr

#: The verdict on a candidate with a tiling.
SOLVED = "solved"
#: The verdict on a candidate without one.
IMPOSSIBLE = "impossible"
#: The verdict on a candidate whose search gave up.
OPEN = "open"


@kernel_helper
def _fitting(orbits, candidate, orbits_of, by_orbit, orbit_start, fitting):  # type: ignore[no-untyped-def]
    """Write the placements whose orbits are all in the candidate, ascending; return their number."""
    count = 0
    for orbit in orbits:
        for place in range(orbit_start[orbit], orbit_start[orbit + 1]):
            placement = by_orbit[place]
            inside = True
            for word in range(candidate.shape[0]):
                if orbits_of[placement, word] & ~candidate[word] != ZERO:
                    inside = False
                    break
            if inside:
                fitting[count] = placement
                count += 1
    fitting[:count] = np.sort(fitting[:count])
    return count


@kernel_helper
def _numbered(orbits, orbit_cells, orbit_cell_start, number):  # type: ignore[no-untyped-def]
    """Number the cells of the candidate in the field's order; return how many there are."""
    number[:] = -1
    for orbit in orbits:
        for place in range(orbit_cell_start[orbit], orbit_cell_start[orbit + 1]):
            number[orbit_cells[place]] = 0
    count = 0
    for cell in range(number.shape[0]):
        if number[cell] == 0:
            number[cell] = count
            count += 1
    return count


@kernel_helper
def _first_kind(fitting, count, kinds, smallest, copies):  # type: ignore[no-untyped-def]
    """Return the single-copy kind with fewest placements up to symmetry; -1 if there is none."""
    counts = np.zeros(copies.shape[0], dtype=np.int64)
    for index in range(count):
        if smallest[fitting[index]] == fitting[index]:
            counts[kinds[fitting[index]]] += 1
    best = -1
    for kind in range(copies.shape[0]):
        if copies[kind] == 1 and (best < 0 or counts[kind] < counts[best]):
            best = kind
    return best


@kernel(
    "i8[::1], u8[::1], u8[:, ::1], i8[::1], i8[::1], i8[::1], i8[::1], "
    "i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8"
)
def attempt(  # type: ignore[no-untyped-def]
    orbits, candidate, orbits_of, by_orbit, orbit_start, orbit_cells, orbit_cell_start,
    cells, cell_start, kinds, smallest, images, copies, most_nodes,
):  # fmt: skip
    """Search for one tiling of a candidate.

    Args:
        orbits: the orbits of the candidate, ascending.
        candidate: the same as a row of words.
        orbits_of: the orbits that each placement touches, as rows of words.
        by_orbit: the placements by their least orbit, with offsets (CSR).
        orbit_cells: the cells of the orbits, with offsets (CSR).
        cells: the cells of the placements, with offsets (CSR).
        kinds: the kinds of the placements.
        smallest: the first image of each placement.
        images: the number of distinct images of each placement.
        copies: the copies of each kind.
        most_nodes: give up after this many nodes.

    Returns:
        0 if there is no tiling, 1 if there is one, 2 if the search gave up; the kind branched on
        first, nodes, the placements of the tiling, and the items branched on.
    """
    number = np.empty(orbit_cells.shape[0], dtype=np.int64)
    cell_count = _numbered(orbits, orbit_cells, orbit_cell_start, number)
    fitting = np.empty(kinds.shape[0], dtype=np.int64)
    count = _fitting(orbits, candidate, orbits_of, by_orbit, orbit_start, fitting)
    first = _first_kind(fitting, count, kinds, smallest, copies)
    own_start = np.zeros(count + 1, dtype=np.int64)
    for index in range(count):
        size = cell_start[fitting[index] + 1] - cell_start[fitting[index]]
        own_start[index + 1] = own_start[index] + size
    own_cells = np.empty(own_start[count], dtype=np.int64)
    own_masks = np.zeros((count, (cell_count + 63) // 64), dtype=np.uint64)
    own_kinds = np.empty(count, dtype=np.int64)
    weights = np.ones(count, dtype=np.int64)
    for index in range(count):
        placement = fitting[index]
        own_kinds[index] = kinds[placement]
        if kinds[placement] == first:
            weights[index] = images[placement] if smallest[placement] == placement else 0
        for offset in range(own_start[index + 1] - own_start[index]):
            cell = number[cells[cell_start[placement] + offset]]
            own_cells[own_start[index] + offset] = cell
            own_masks[index, cell >> 6] |= ONE << Word(cell & 63)
    verdict, nodes, chosen, items = mrv_search(
        own_masks, own_cells, own_start, own_kinds, weights, copies, cell_count,
        cell_count + first if first >= 0 else -1, most_nodes,
    )  # fmt: skip
    return verdict, first, nodes, fitting[chosen], items


class Attempt(NamedTuple):
    """The result for one candidate.

    Attributes:
        verdict: `SOLVED`, `IMPOSSIBLE`, or `OPEN` if the search gave up.
        nodes: number of placements tried.
        tiling: if solved, kind and cell numbers of each placement.
        first: if impossible, the kind branched on first, of which one placement of each orbit was
            tried; None if no kind has a single copy.
        items: if impossible, the items branched on, in preorder: the cells in the field's order,
            then the kinds.
    """

    verdict: str
    nodes: int
    tiling: tuple[tuple[int, tuple[int, ...]], ...] = ()
    first: int | None = None
    items: tuple[int, ...] = ()


@dataclass(frozen=True)
class Tiler:
    """Tries to tile candidates of a field with some pieces.

    Attributes:
        field: the orbits.
        pieces: in the set's order.
        flips: whether pieces may be turned over.
    """

    field: Field
    pieces: tuple[Piece, ...]
    flips: bool = False

    @cached_property
    def kinds(self) -> tuple[tuple[Piece, ...], ...]:
        """The pieces, identical ones together."""
        kinds = group_identical(self.field.lattice, self.pieces, self.flips)
        return tuple(map(tuple, kinds.values()))

    @cached_property
    def placements(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Every placement on the field as kind and cells, sorted."""
        return tuple(
            sorted(
                (kind, cells)
                for kind, pieces in enumerate(self.kinds)
                for cells in self.field.placements(pieces[0], self.flips)
            )
        )

    @cached_property
    def _arguments(self) -> tuple[Any, ...]:
        """The arguments of `attempt` that are the same for all candidates."""
        field, placements = self.field, self.placements
        touched = [sorted({field.orbit_of[cell] for cell in cells}) for _, cells in placements]
        by_orbit: list[list[int]] = [[] for _ in field.orbits]
        for index, orbits in enumerate(touched):
            by_orbit[orbits[0]].append(index)
        smallest, images = self._images()
        return (
            bitmasks(*to_csr(touched), len(field.orbits)),
            *to_csr(by_orbit),
            *to_csr(field.orbits),
            *to_csr([cells for _, cells in placements]),
            np.array([kind for kind, _ in placements], dtype=np.int64),
            smallest,
            images,
            np.array([len(kind) for kind in self.kinds], dtype=np.int64),
        )

    def _images(self) -> tuple[IntArray, IntArray]:
        """Return the first image of each placement under the moves, and its number of images."""
        number = {placement: index for index, placement in enumerate(self.placements)}
        smallest = list[int]()
        counts = list[int]()
        for kind, cells in self.placements:
            moved = [tuple(sorted(move[cell] for cell in cells)) for move in self._moves]
            images = {number[kind, image] for image in moved}
            smallest.append(min(images))
            counts.append(len(images))
        return np.array(smallest, np.int64), np.array(counts, np.int64)

    def problem(
        self, orbits: Sequence[int], swept: bool = False
    ) -> tuple[ExactCoverProblem, tuple[int, ...]]:
        """Return a candidate as an exact cover problem for the engines.

        Args:
            swept: number cells from left to right over both boards, so that placements span few of
                them; else in the field's order, as in proofs.

        Returns:
            The problem, and the field's number of each of its cells.
        """
        cells = sorted(
            (cell for orbit in orbits for cell in self.field.orbits[orbit]),
            key=self.field.centroid if swept else None,
        )
        number = {cell: index for index, cell in enumerate(cells)}
        inside = set(cells)
        options = sorted(
            Option(kind, tuple(sorted(number[cell] for cell in covered)))
            for kind, covered in self.placements
            if inside.issuperset(covered)
        )
        moves = dict.fromkeys(tuple(number[turned[c]] for c in cells) for turned in self._moves)
        copies = tuple(map(len, self.kinds))
        problem = ExactCoverProblem(len(cells), copies, tuple(options), symmetries=tuple(moves))
        return problem, tuple(cells)

    @property
    def _moves(self) -> tuple[tuple[int, ...], ...]:
        """The allowed moves of pieces, as permutations of the field's cells."""
        symmetries = self.field.lattice.symmetries
        return tuple(
            turned
            for turned, symmetry in zip(self.field.images, symmetries, strict=True)
            if self.flips or not symmetry.flipped
        )

    def attempt(self, orbits: Sequence[int], most_nodes: int) -> Attempt:
        """Search for one tiling of a candidate; give up after `most_nodes`."""
        chosen = np.array(orbits, dtype=np.int64)
        row = bitmasks(chosen, np.array([0, len(chosen)]), len(self.field.orbits))[0]
        verdict, first, nodes, chosen_placements, items = attempt(
            chosen, row, *self._arguments, most_nodes
        )
        if verdict == 1:
            tiling = tuple(self.placements[index] for index in chosen_placements)
            return Attempt(SOLVED, nodes, tiling)
        if verdict == 2:
            return Attempt(OPEN, nodes)
        return Attempt(IMPOSSIBLE, nodes, (), None if first < 0 else first, tuple(items.tolist()))
