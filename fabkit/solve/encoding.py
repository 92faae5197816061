"""From a challenge to its exact cover problem, and from its solutions back to the board."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from fabkit.core.errors import InputError
from fabkit.model.drawing import Numbering
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, at_anchor, orientations
from fabkit.model.placement import placements
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet, rings_in_units
from fabkit.solve.problem import ExactCoverProblem, Option, Permutation

#: A solution on the board: for each piece its cells.
Layout = dict[str, frozenset[Cell]]


@dataclass(frozen=True)
class PosedChallenge:
    """A challenge as an exact cover problem, with what leads back.

    Given pieces are taken away, with their cells, before anything is solved. `cells` are the free
    ones by their number in the problem, `kinds` the ids of the identical pieces of each kind.
    """

    puzzle: PuzzleSet
    challenge: Challenge
    problem: ExactCoverProblem
    cells: tuple[Cell, ...]
    kinds: tuple[tuple[str, ...], ...]

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """For each kind the numbers of cells of its forms."""
        forms = [self.puzzle.piece(kind[0]).forms for kind in self.kinds]
        return tuple(tuple(sorted({len(form.cells) for form in each})) for each in forms)

    @cached_property
    def _origin(self) -> tuple[int, int]:
        """The lattice's row and column that files call ``[0, 0]``."""
        boards = [board for board in self.puzzle.boards if not board.optional]
        whole = [board for board in boards if board.cells == self.challenge.region] or boards
        cells = whole[0].cells if whole else self.challenge.region
        return Numbering(self.puzzle.lattice, cells).origin

    def row_col(self, cell: Cell) -> tuple[int, int]:
        """The row and column by which a challenge file names a cell."""
        row, col = self.puzzle.lattice.row_col(cell)
        return row - self._origin[0], col - self._origin[1]

    def drawn(self, cells: frozenset[Cell]) -> tuple[str, list[Any]]:
        """Cells as files draw them: ``cells``, or ``outline`` where they are no squares.

        Example:
            >>> from fabkit.model.challengeload import find_challenge
            >>> from fabkit.model.library import load_set
            >>> fridgeiq = load_set("fridgeiq")
            >>> square = find_challenge(fridgeiq, "square_01")
            >>> pose(fridgeiq, square).drawn(square.region)
            ('outline', [(0, 0), (3, 0), (3, 3), (0, 3)])
        """
        lattice = self.puzzle.lattice
        if lattice.cells_per_unit == 1:
            return "cells", sorted(list(self.row_col(cell)) for cell in cells)
        rings = [
            [tuple(int(x) if x == int(x) else x for x in corner) for corner in ring]
            for ring in rings_in_units(lattice, rings_of_cells(lattice, cells))
        ]
        return "outline", rings[0] if len(rings) == 1 else rings

    def layout(self, solution: Iterable[int]) -> Layout:
        """A solution, given as positions of options, on the board, given pieces included.

        Identical pieces are dealt out in the set's order.
        """
        found: Layout = {given.piece: given.cells for given in self.challenge.given}
        waiting = [iter(kind) for kind in self.kinds]
        for position in sorted(solution):
            option = self.problem.options[position]
            piece = next(waiting[option.kind])
            found[piece] = frozenset(self.cells[cell] for cell in option.cells)
        return {piece.id: found[piece.id] for piece in self.puzzle.select(list(found))}


def pose(puzzle: PuzzleSet, challenge: Challenge, leftover: bool = False) -> PosedChallenge:
    """The exact cover problem of a challenge.

    Its cells are ordered so that placements span few of them: lines along the region's short side.

    Raises:
        InputError: when the problem is larger than the engines take.
    """
    name = f"{puzzle.name} {challenge.id}"
    if challenge.pieces_count is not None and leftover:
        message = "uses some of its pieces to fill the region exactly, so no cell may be left over"
        raise InputError.of(name, message)
    given = {one.piece for one in challenge.given}
    region = challenge.region.difference(*(one.cells for one in challenge.given))
    ids = [piece for piece in challenge.pieces if piece not in given]
    classes = _alike(puzzle.lattice, puzzle.select(ids) if ids else (), challenge.flips)
    covers: list[list[frozenset[Cell]]] = []
    for kind in classes.values():
        found = placements(puzzle.lattice, kind[0], region, challenge.flips)
        covers.append([placement.cells for placement in found])
        if sum(map(len, covers)) > MAX_OPTIONS:
            message = f"has more than {MAX_OPTIONS:,} placements; choose a smaller region"
            raise InputError.of(name, message)
    cells = _order(puzzle.lattice, region, list(chain.from_iterable(covers)))
    number = {cell: index for index, cell in enumerate(cells)}
    options = [
        Option(kind, numbers)
        for kind, each in enumerate(covers)
        for numbers in sorted(tuple(sorted([number[cell] for cell in cover])) for cover in each)
    ]
    copies = tuple(map(len, classes.values()))
    count = challenge.pieces_count
    problem = ExactCoverProblem(
        len(cells),
        copies,
        tuple(options),
        leftover,
        tuple(_symmetries(puzzle.lattice, cells, challenge.flips, list(classes), copies)),
        None if count is None else count - len(given),
    )
    kinds = tuple(tuple(piece.id for piece in kind) for kind in classes.values())
    return PosedChallenge(puzzle, challenge, problem, cells, kinds)


#: More placements than this is a region that no engine would finish in a lifetime.
MAX_OPTIONS = 200_000
#: So many placements decide the order of the cells.
_SAMPLE = 400

#: What a piece covers near the origin, however it is moved.
Images = frozenset[frozenset[Cell]]


def alike(lattice: Lattice, pieces: Sequence[Piece], flips: bool) -> list[list[Piece]]:
    """The pieces, identical ones together: those with the same images."""
    return list(_alike(lattice, pieces, flips).values())


def _alike(lattice: Lattice, pieces: Sequence[Piece], flips: bool) -> dict[Images, list[Piece]]:
    found: dict[Images, list[Piece]] = {}
    for piece in pieces:
        images = frozenset(one.cells for one in orientations(lattice, piece, flips))
        found.setdefault(images, []).append(piece)
    return found


def _order(
    lattice: Lattice, region: frozenset[Cell], covers: Sequence[frozenset[Cell]]
) -> tuple[Cell, ...]:
    """The cells in lines, swept in the direction in which placements span fewest cells.

    The order decides the effort: along the wrong side it is some twenty times larger.
    """
    import numpy as np

    sample = covers[:: max(1, len(covers) // _SAMPLE)]
    cells = list(region)
    if not sample:
        across, along = next(_sweeps(lattice))
        return tuple(sorted(cells, key=lambda cell: (_dot(across, cell), _dot(along, cell))))
    places, at = np.array(cells), {cell: index for index, cell in enumerate(cells)}
    covered = np.array([at[cell] for cover in sample for cell in cover])
    starts = np.cumsum([0, *map(len, sample[:-1])])
    best: tuple[int, list[int]] | None = None
    for across, along in _sweeps(lattice):
        order = np.lexsort((places @ along, places @ across))
        numbers = np.argsort(order)[covered]
        ends = (one.reduceat(numbers, starts).sum() for one in (np.maximum, np.minimum))
        span = int(next(ends) - next(ends))
        if best is None or span < best[0]:
            best = span, order.tolist()
    assert best is not None
    return tuple(cells[index] for index in best[1])


def _sweeps(lattice: Lattice) -> Iterator[tuple[Cell, Cell]]:
    """Directions to sweep in: the images of x and y, and the diagonals, both ways.

    Each is twice as long as need be, so that a sixth of a turn, which halves, stays whole.
    """
    for symmetry in lattice.moves(False):
        for across, along in (((2, 0), (0, 2)), ((2, 2), (-2, 2))):
            yield symmetry(across), symmetry(along)


def _dot(direction: Cell, cell: Cell) -> int:
    return direction[0] * cell[0] + direction[1] * cell[1]


def _symmetries(
    lattice: Lattice,
    cells: Sequence[Cell],
    flips: bool,
    kinds: Sequence[Images],
    copies: Sequence[int],
) -> Iterator[Permutation]:
    """The moves that carry the cells onto themselves and kinds to kinds, the identity first.

    Each permutes the cells, then the kinds. Where pieces may not be turned over, mirrors count
    when the pieces hold each other's mirror images: those that are none of their own, all in
    pairs.
    """
    number = {cell: index for index, cell in enumerate(cells)}
    same = tuple(range(len(cells), len(cells) + len(kinds)))
    mirror = same
    if not flips:
        flip = lattice.moves(True)[-1]
        images = [frozenset(at_anchor(lattice, map(flip, one)) for one in kind) for kind in kinds]
        twins = [kinds.index(image) if image in kinds else -1 for image in images]
        paired = all(twin >= 0 and copies[twin] == copies[kind] for kind, twin in enumerate(twins))
        mirror = tuple(len(cells) + twin for twin in twins) if paired else same
    seen = set()
    for move in lattice.moves(flips or mirror != same) if cells else ():
        moved = [move(cell) for cell in cells]
        (to_x, to_y), (from_x, from_y) = lattice.anchor(cells), lattice.anchor(moved)
        found = [number.get((x + to_x - from_x, y + to_y - from_y), -1) for x, y in moved]
        permutation = (*found, *(mirror if move.flipped else same))
        if -1 not in found and permutation not in seen:
            seen.add(permutation)
            yield permutation
