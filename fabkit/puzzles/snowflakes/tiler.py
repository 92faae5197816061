"""Whether the pieces tile a candidate: a search of its own for each, tens of thousands of them.

The tree is that of `fabkit.solve.engines.search`, branching on the item with fewest options, and
its branchings are noted: replayed, they prove that a candidate is impossible. What takes the time
of a small problem is to set it up, so that is compiled here as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.field import Field
from fabkit.solve.engines.compiled import ONE, ZERO, Word, kernel
from fabkit.solve.engines.search import walk_from_root
from fabkit.solve.posing import alike
from fabkit.solve.problem import ExactCoverProblem, Numbers, Option, in_a_row, masks

SOLVED, IMPOSSIBLE, OPEN = "solved", "impossible", "open"


@kernel
def _fitting(orbits, candidate, orbits_of, by_orbit, orbit_start, found):  # type: ignore[no-untyped-def]
    """Writes the placements whose orbits are all among the candidate's, ascending."""
    count = 0
    for orbit in orbits:
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
def _numbered(orbits, orbit_cells, orbit_cell_start, number):  # type: ignore[no-untyped-def]
    """Writes the number of each of the candidate's cells, in the field's order; returns how many."""
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
    orbits, candidate, orbits_of, by_orbit, orbit_start, orbit_cells, orbit_cell_start,
    cells, cell_start, kinds, least, images, copies, most_nodes,
):  # fmt: skip
    """Looks for one tiling of a candidate.

    Args:
        orbits: the candidate's, ascending; and as a row of words.
        orbits_of: for each placement the orbits that it touches.
        by_orbit: the placements, those together whose least orbit is the same; where each begins.
        orbit_cells: the cells of all orbits in a row; where each orbit's begin.
        cells: those of all placements in a row; where each placement's begin.
        kinds: of the placements.
        least: for each placement the least of its images; how many different ones there are.
        copies: of each kind.
        most_nodes: after so many nodes it gives up.

    Returns:
        0 when there is none, 1 for a tiling, 2 when it gave up; the kind branched on first, nodes,
        the placements of the tiling, and the items branched on.
    """
    number = np.empty(orbit_cells.shape[0], dtype=np.int64)
    cell_count = _numbered(orbits, orbit_cells, orbit_cell_start, number)
    fitting = np.empty(kinds.shape[0], dtype=np.int64)
    count = _fitting(orbits, candidate, orbits_of, by_orbit, orbit_start, fitting)
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


class Attempt(NamedTuple):
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
        found = [
            {number[kind, tuple(sorted(move[cell] for cell in cells))] for move in self._moves}
            for kind, cells in self.placements
        ]
        return np.array(list(map(min, found)), np.int64), np.array(list(map(len, found)), np.int64)

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
        moves = dict.fromkeys(tuple(number[turned[c]] for c in cells) for turned in self._moves)
        copies = tuple(map(len, self.kinds))
        problem = ExactCoverProblem(len(cells), copies, tuple(options), symmetries=tuple(moves))
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

    def attempt(self, orbits: Sequence[int], most_nodes: int) -> Attempt:
        """Looks for one tiling of a candidate, and gives up after so many nodes."""
        chosen = np.array(orbits, dtype=np.int64)
        row = masks(chosen, np.array([0, len(chosen)]), len(self.field.orbits))[0]
        verdict, first, nodes, found, items = attempt(chosen, row, *self._arguments, most_nodes)
        if verdict == 1:
            return Attempt(SOLVED, nodes, tuple(self.placements[index] for index in found))
        if verdict == 2:
            return Attempt(OPEN, nodes)
        return Attempt(IMPOSSIBLE, nodes, (), None if first < 0 else first, tuple(items.tolist()))
