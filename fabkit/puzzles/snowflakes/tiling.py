"""Whether the pieces tile a candidate: a search of its own for each, tens of thousands of them.

The tree is that of `fabkit.solve.engines.search`, branching on the item with fewest options, and
its branchings are noted: replayed, they prove that a candidate is impossible. What takes the time
of a small problem is to set it up, so that is compiled here as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.field import Field
from fabkit.solve.engines.compiled import ONE, ZERO, Word, kernel, trailing_zeros
from fabkit.solve.engines.search import walk_from_root
from fabkit.solve.posing import alike
from fabkit.solve.problem import ExactCoverProblem, Numbers, Option, Words, in_a_row, masks

SOLVED, IMPOSSIBLE, OPEN = "solved", "impossible", "open"


@kernel
def _fitting(candidate, orbits_of, by_orbit, orbit_start, found):  # type: ignore[no-untyped-def]
    """Writes the placements whose orbits are all among the candidate's, ascending."""
    count = 0
    for at in range(candidate.shape[0]):
        word = candidate[at]
        while word != ZERO:
            orbit = at * 64 + np.int64(trailing_zeros(word))
            word &= word - ONE
            for place in range(orbit_start[orbit], orbit_start[orbit + 1]):
                placement, inside = by_orbit[place], True
                for to in range(candidate.shape[0]):
                    if orbits_of[placement, to] & ~candidate[to] != ZERO:
                        inside = False
                        break
                if inside:
                    found[count] = placement
                    count += 1
    found[:count] = np.sort(found[:count])
    return count


@kernel
def _numbered(candidate, orbit_cells, orbit_cell_start, number):  # type: ignore[no-untyped-def]
    """Writes the number of each of the candidate's cells, in the field's order; returns how many."""
    cells = np.empty(orbit_cells.shape[0], dtype=np.int64)
    count = 0
    for at in range(candidate.shape[0]):
        word = candidate[at]
        while word != ZERO:
            orbit = at * 64 + np.int64(trailing_zeros(word))
            word &= word - ONE
            for place in range(orbit_cell_start[orbit], orbit_cell_start[orbit + 1]):
                cells[count] = orbit_cells[place]
                count += 1
    cells = np.sort(cells[:count])
    for index in range(count):
        number[cells[index]] = index
    return count


@kernel
def _first_kind(fitting, count, kinds, least, copies):  # type: ignore[no-untyped-def]
    """The kind of one copy with fewest placements up to symmetry; -1 when each has copies."""
    ways = np.zeros(copies.shape[0], dtype=np.int64)
    for index in range(count):
        if least[fitting[index]] == fitting[index]:
            ways[kinds[fitting[index]]] += 1
    best = -1
    for kind in range(copies.shape[0]):
        if copies[kind] == 1 and (best < 0 or ways[kind] < ways[best]):
            best = kind
    return best


@kernel
def attempt(  # type: ignore[no-untyped-def]
    candidate, orbits_of, by_orbit, orbit_start, orbit_cells, orbit_cell_start,
    cells, cell_start, kinds, least, images, copies, most_nodes,
):  # fmt: skip
    """Looks for one tiling of a candidate.

    Args:
        candidate: its orbits, a row of words.
        orbits_of: for each placement the orbits that it touches.
        by_orbit: the placements, those together whose least orbit is the same.
        orbit_start: where each orbit's begin.
        orbit_cells: the cells of all orbits in a row.
        orbit_cell_start: where each orbit's begin.
        cells: those of all placements in a row.
        cell_start: where each placement's begin.
        kinds: of the placements.
        least: for each placement the least of its images.
        images: how many different images it has.
        copies: of each kind.
        most_nodes: after so many nodes it gives up.

    Returns:
        0 when there is none, 1 for a tiling, 2 when it gave up; the kind branched on first, nodes,
        the placements of the tiling, and the items branched on.
    """
    number = np.empty(orbit_cells.shape[0], dtype=np.int64)
    cell_count = _numbered(candidate, orbit_cells, orbit_cell_start, number)
    fitting = np.empty(kinds.shape[0], dtype=np.int64)
    count = _fitting(candidate, orbits_of, by_orbit, orbit_start, fitting)
    first = _first_kind(fitting, count, kinds, least, copies)
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
            weights[index] = images[placement] if least[placement] == placement else 0
        for at in range(own_start[index + 1] - own_start[index]):
            cell = number[cells[cell_start[placement] + at]]
            own_cells[own_start[index] + at] = cell
            own_masks[index, cell >> 6] |= ONE << Word(cell & 63)
    verdict, nodes, chosen, items = walk_from_root(
        own_masks, own_cells, own_start, own_kinds, weights, copies, cell_count,
        cell_count + first if first >= 0 else -1, most_nodes,
    )  # fmt: skip
    return verdict, first, nodes, fitting[chosen], items


@dataclass(frozen=True)
class Attempt:
    """What became of one candidate.

    Attributes:
        verdict: `SOLVED`, `IMPOSSIBLE`, or `OPEN` when the search gave up.
        nodes: placements tried.
        tiling: of a solved one, for each placement its kind and the numbers of its cells.
        first: of an impossible one the kind branched on first, of which the search tried one
            placement of each orbit; None when each kind has copies.
        items: and what was branched on, in preorder: its cells, numbered as the field numbers
            them, then the kinds.
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
        field: where the candidates are.
        pieces: in the set's order.
        flips: whether they may be turned over.
    """

    field: Field
    pieces: tuple[Piece, ...]
    flips: bool = False

    @cached_property
    def kinds(self) -> tuple[tuple[Piece, ...], ...]:
        """The pieces, identical ones together."""
        return tuple(tuple(kind) for kind in alike(self.field.lattice, self.pieces, self.flips))

    @cached_property
    def placements(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Every placement on the field as its kind and its cells, sorted."""
        return tuple(
            sorted(
                (kind, cells)
                for kind, each in enumerate(self.kinds)
                for cells in self.field.placements(each[0], self.flips)
            )
        )

    @cached_property
    def _arguments(self) -> tuple[Any, ...]:
        """What `attempt` is told beside the candidate."""
        field, placements = self.field, self.placements
        touched = [sorted({field.orbit[cell] for cell in cells}) for _, cells in placements]
        by_orbit: list[list[int]] = [[] for _ in field.orbits]
        for index, orbits in enumerate(touched):
            by_orbit[orbits[0]].append(index)
        least, images = self._images()
        return (
            masks(*in_a_row(touched), len(field.orbits)),
            *in_a_row(by_orbit),
            *in_a_row(field.orbits),
            *in_a_row([cells for _, cells in placements]),
            np.array([kind for kind, _ in placements], dtype=np.int64),
            least,
            images,
            np.array([len(kind) for kind in self.kinds], dtype=np.int64),
        )

    def _images(self) -> tuple[Numbers, Numbers]:
        """For each placement the least of its images under the moves, and how many it has."""
        number = {placement: index for index, placement in enumerate(self.placements)}
        least, images = np.zeros((2, len(number)), dtype=np.int64)
        for (kind, cells), index in number.items():
            found = {
                number[kind, tuple(sorted(move[cell] for cell in cells))] for move in self._moves
            }
            least[index], images[index] = min(found), len(found)
        return least, images

    def problem(
        self, orbits: Sequence[int], swept: bool = False
    ) -> tuple[ExactCoverProblem, tuple[int, ...]]:
        """A candidate as an exact cover problem, for the engines.

        Args:
            orbits: the candidate's.
            swept: whether cells are numbered from left to right, those of both parts together, so
                that placements span few of them; else in the field's order, as in proofs.

        Returns:
            The problem; and for each of its cells the number in the field.
        """
        cells = sorted(
            (cell for orbit in orbits for cell in self.field.orbits[orbit]),
            key=self.field.place if swept else None,
        )
        number = {cell: index for index, cell in enumerate(cells)}
        inside = set(cells)
        options = sorted(
            Option(kind, tuple(sorted(number[cell] for cell in covered)))
            for kind, covered in self.placements
            if inside.issuperset(covered)
        )
        symmetries = dict.fromkeys(
            tuple(number[turned[cell]] for cell in cells) for turned in self._moves
        )
        copies = tuple(len(kind) for kind in self.kinds)
        problem = ExactCoverProblem(
            len(cells), copies, tuple(options), symmetries=tuple(symmetries)
        )
        return problem, tuple(cells)

    @property
    def _moves(self) -> tuple[tuple[int, ...], ...]:
        """The symmetries that may be applied to pieces, as permutations of the field's cells."""
        symmetries = self.field.lattice.symmetries
        return tuple(
            turned
            for turned, symmetry in zip(self.field.turned, symmetries, strict=True)
            if self.flips or not symmetry.flipped
        )

    def attempt(self, candidate: Words, most_nodes: int) -> Attempt:
        """Looks for one tiling of a candidate.

        Args:
            candidate: its orbits, as a row of words.
            most_nodes: after so many nodes the search gives up.
        """
        verdict, first, nodes, found, items = attempt(candidate, *self._arguments, most_nodes)
        if verdict == 1:
            return Attempt(SOLVED, nodes, tuple(self.placements[index] for index in found))
        if verdict == 2:
            return Attempt(OPEN, nodes)
        return Attempt(IMPOSSIBLE, nodes, (), None if first < 0 else first, tuple(items.tolist()))
