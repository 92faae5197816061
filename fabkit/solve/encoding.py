"""Encode a challenge as an exact cover problem, and decode its solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, product
from typing import Any

import numpy as np

from fabkit.core.errors import InputError
from fabkit.model.clues import ClueFilter, contradictory_given
from fabkit.model.lattice import Cell, Lattice, Point, Symmetry
from fabkit.model.piece import Marks, Piece, marked_images, normalize_cells, placements
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, Clue, PuzzleSet, rings_to_units
from fabkit.sets.regions import CellNumbering
from fabkit.solve.exact_cover import ExactCoverProblem, Option, Permutation

#: A solution: the cells of each piece.
Layout = dict[str, frozenset[Cell]]


@dataclass(frozen=True)
class EncodedChallenge:
    """A challenge as an exact cover problem, with the data to decode solutions.

    Given pieces and their cells are not part of the problem. `cells` are the free cells by their
    number in the problem, `kinds` the ids of the identical pieces of each kind; cells that stay open
    are covered by a last kind without pieces. `box_count` is the number of parts of the region that do
    not touch, which are moved one by one.
    """

    puzzle: PuzzleSet
    challenge: Challenge
    problem: ExactCoverProblem
    cells: tuple[Cell, ...]
    kinds: tuple[tuple[str, ...], ...]
    box_count: int = 1

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """The possible numbers of cells of each kind; 1 for cells that stay open."""
        pieces = [self.puzzle.piece(kind[0]).forms if kind else () for kind in self.kinds]
        return tuple(tuple(sorted({len(form.cells) for form in forms})) or (1,) for forms in pieces)

    @cached_property
    def _origin(self) -> tuple[int, int]:
        """The lattice row and column that challenge files call ``[0, 0]``."""
        boards = [board for board in self.puzzle.boards if not board.optional]
        whole = [board for board in boards if board.cells == self.challenge.board_cells] or boards
        cells = whole[0].cells if whole else self.challenge.board_cells
        return CellNumbering(self.puzzle.lattice, cells).origin

    def row_col(self, cell: Cell) -> tuple[int, int]:
        """Return a cell's row and column as in a challenge file."""
        row, col = self.puzzle.lattice.row_col(cell)
        return row - self._origin[0], col - self._origin[1]

    def _address(self, cell: Cell) -> list[int]:
        """Return what names a cell in a challenge file: row, column, and k on a divided lattice."""
        lattice = self.puzzle.lattice
        return [*self.row_col(cell), lattice.address(cell)[2]][: 2 + lattice.is_divided]

    def cells_or_outline(self, cells: frozenset[Cell]) -> tuple[str, list[Any]]:
        """Return cells as in a challenge file: the key, ``cells`` or ``outline``, and its value.

        Example:
            >>> from fabkit.sets.challenges import find_challenge
            >>> from fabkit.sets.library import load_set
            >>> fridgeiq = load_set("fridgeiq")
            >>> square = find_challenge(fridgeiq, "square_01")
            >>> to_exact_cover(fridgeiq, square).cells_or_outline(square.region)
            ('outline', [(0, 0), (3, 0), (3, 3), (0, 3)])
        """
        lattice = self.puzzle.lattice
        if not lattice.writes_outlines:
            return "cells", sorted(self._address(cell) for cell in cells)
        rings = [
            [tuple(int(x) if x == int(x) else x for x in corner) for corner in ring]
            for ring in rings_to_units(lattice, rings_of_cells(lattice, cells))
        ]
        return "outline", rings[0] if len(rings) == 1 else rings

    def decode(self, solution: Iterable[int]) -> Layout:
        """Return the layout of a solution (positions of options), including given pieces.

        Identical pieces are assigned in the set's order.
        """
        layout: Layout = {given.piece: given.cells for given in self.challenge.given}
        waiting = [iter(kind) for kind in self.kinds]
        for position in sorted(solution):
            option = self.problem.options[position]
            if not self.kinds[option.kind]:
                continue  # a cell that stays open
            piece = next(waiting[option.kind])
            layout[piece] = frozenset(self.cells[cell] for cell in option.cells)
        return {piece.id: layout[piece.id] for piece in self.puzzle.select(list(layout))}

    def encode(self, layout: Mapping[str, frozenset[Cell]]) -> dict[int, str]:
        """Return the positions of a layout's options with their pieces, without given ones.

        Cells that stay open have no piece: their options come with an empty name.
        """
        number = {cell: index for index, cell in enumerate(self.cells)}
        positions = {option: position for position, option in enumerate(self.problem.options)}
        covers = [
            (kind, piece, layout[piece])
            for kind, pieces in enumerate(self.kinds)
            for piece in pieces
            if piece in layout
        ]
        if self.problem.open_cells:
            bare = set(self.cells).difference(*layout.values())
            covers += [(len(self.kinds) - 1, "", frozenset({cell})) for cell in bare]
        return {
            positions[Option(kind, tuple(sorted(number[cell] for cell in cells)))]: piece
            for kind, piece, cells in covers
        }

    def by_coordinates(self) -> EncodedChallenge:
        """Renumber the problem as in a certificate: cells sorted by (x, y), and options by these."""
        old = self.problem
        order = sorted(range(old.cell_count), key=self.cells.__getitem__)
        number = {cell: new for new, cell in enumerate(order)}
        options = sorted(
            Option(option.kind, tuple(sorted(number[cell] for cell in option.cells)))
            for option in old.options
        )
        symmetries = sorted(
            (*(number[symmetry[cell]] for cell in order), *symmetry[old.cell_count :])
            for symmetry in old.symmetries
        )
        problem = replace(old, options=tuple(options), symmetries=tuple(symmetries))
        return replace(self, problem=problem, cells=tuple(sorted(self.cells)))


def to_exact_cover(puzzle: PuzzleSet, challenge: Challenge) -> EncodedChallenge:
    """Encode a challenge as an exact cover problem.

    Its cells are ordered so that placements span few of them: lines along the region's short side.
    Clues leave out placements; the cells of given pieces that contradict one stay bare, with no option
    at all. Cells that stay open are covered by one more kind without pieces, with an option for each
    cell.

    Raises:
        InputError: if the problem has too many placements, or some of the pieces must leave cells open.
    """
    name = f"{puzzle.name} {challenge.id}"
    if challenge.pieces_count is not None and challenge.open_count:
        message = "uses some of its pieces to fill the region exactly, so no cell may stay open"
        raise InputError.of(name, message)
    given = {given_piece.piece for given_piece in challenge.given}
    region = challenge.region.difference(*(given_piece.cells for given_piece in challenge.given))
    ids = [piece for piece in challenge.pieces if piece not in given]
    pieces = puzzle.select(ids) if ids else ()
    classes = group_identical(puzzle.lattice, pieces, challenge.flips, challenge.clues)
    covers: list[list[frozenset[Cell]]] = []
    for kind in classes.values():
        kind_placements = placements(puzzle.lattice, kind[0], region, challenge.flips)
        clues = ClueFilter(puzzle.lattice, kind[0], challenge.clues, challenge.flips)
        covers.append(
            [cover for placement in kind_placements if clues.allows(cover := placement.cells)]
        )
        if sum(map(len, covers)) > MAX_OPTIONS:
            message = f"has more than {MAX_OPTIONS:,} placements; choose a smaller region"
            raise InputError.of(name, message)
    bare = (given_piece.cells for given_piece in contradictory_given(puzzle, challenge))
    cells = _order(puzzle.lattice, region.union(*bare), list(chain.from_iterable(covers)))
    number = {cell: index for index, cell in enumerate(cells)}
    copies = tuple(map(len, classes.values()))
    kinds = [tuple(piece.id for piece in kind) for kind in classes.values()]
    images = list(classes)
    if challenge.open_count:
        covers.append([frozenset({cell}) for cell in region - challenge.told_cells])
        copies = (*copies, challenge.open_count)
        kinds.append(())
        images.append(frozenset())
    options = [
        Option(kind, numbers)
        for kind, kind_covers in enumerate(covers)
        for numbers in sorted(
            tuple(sorted([number[cell] for cell in cover])) for cover in kind_covers
        )
    ]
    count = challenge.pieces_count
    problem = ExactCoverProblem(
        len(cells),
        copies,
        tuple(options),
        (),
        None if count is None else count - len(given),
        open_cells=bool(challenge.open_count),
    )
    boxes = _boxes(puzzle.lattice, challenge.region, cells)
    problem = _with_symmetries(problem, puzzle.lattice, boxes, cells, challenge.flips, images)
    if challenge.clues or len(boxes) > 1:
        problem = replace(problem, symmetries=problem.kept_symmetries())
    return EncodedChallenge(puzzle, challenge, problem, cells, tuple(kinds), len(boxes))


#: Limit on placements; no engine would finish a larger problem in a lifetime.
MAX_OPTIONS = 200_000
#: Limit on symmetries: with more, solutions are not counted up to symmetry.
MAX_SYMMETRIES = 1000
#: Limit on the images of all options under all symmetries, for the same reason.
MAX_IMAGES = 5_000_000
#: The symmetries of a single box are never too many.
_FEW_SYMMETRIES = 12
#: About this many placements decide the order of the cells.
_SAMPLE = 400

#: What tells pieces apart: the images of a piece under its allowed moves, and its own conditions.
Images = frozenset[Any]


def group_identical(
    lattice: Lattice, pieces: Iterable[Piece], flips: bool, clues: Sequence[Clue] = ()
) -> dict[Images, list[Piece]]:
    """Group identical pieces: those with equal images, marks included.

    If clues state colours, pieces of other colours differ; a piece named by a clue is identical to no
    other.
    """
    with_colours = any(clue.colour for clue in clues)
    named = {clue.piece for clue in clues}
    groups: dict[Images, list[Piece]] = {}
    for piece in pieces:
        images: Images = marked_images(lattice, piece, flips)
        if with_colours:
            images |= {piece.colour}
        if piece.id in named:
            images |= {piece.id}
        groups.setdefault(images, []).append(piece)
    return groups


def _order(
    lattice: Lattice, region: frozenset[Cell], covers: Sequence[frozenset[Cell]]
) -> tuple[Cell, ...]:
    """Order the cells in lines, along the direction in which placements span the fewest cells.

    The order matters: along the wrong side a search takes some twenty times as long.
    """
    sample = covers[:: max(1, len(covers) // _SAMPLE)]
    if not sample:
        return tuple(sorted(region))
    cells = list(region)
    places = np.array(cells)
    index_of = {cell: index for index, cell in enumerate(cells)}
    covered = np.array([index_of[cell] for cover in sample for cell in cover])
    starts = np.cumsum([0, *map(len, sample[:-1])])
    best: tuple[int, list[int]] | None = None
    # Along x, y and the diagonals, both ways. Vectors are doubled, so that they stay whole under a sixth
    # of a turn, which halves them.
    sweeps = (((2, 0), (0, 2)), ((2, 2), (-2, 2)))
    for symmetry, (across, along) in product(lattice.moves(False), sweeps):
        order = np.lexsort((places @ symmetry(along), places @ symmetry(across)))
        numbers = np.argsort(order)[covered]
        last = np.maximum.reduceat(numbers, starts)
        span = int((last - np.minimum.reduceat(numbers, starts)).sum())
        if best is None or span < best[0]:
            best = span, order.tolist()
    assert best is not None
    return tuple(cells[index] for index in best[1])


def _with_symmetries(
    problem: ExactCoverProblem,
    lattice: Lattice,
    boxes: Sequence[Sequence[Cell]],
    cells: Sequence[Cell],
    flips: bool,
    kinds: Sequence[Images],
) -> ExactCoverProblem:
    """Return the problem with its symmetries: all, or if they are too many, those of the whole region."""
    limit = max(_FEW_SYMMETRIES, min(MAX_SYMMETRIES, MAX_IMAGES // max(1, len(problem.options))))
    for parts in (boxes, [cells] if cells else []):
        permutations = _symmetries(lattice, parts, cells, flips, kinds, problem.copies)
        symmetries = tuple(islice(permutations, limit + 1))
        if len(symmetries) <= limit:
            break
    return replace(problem, symmetries=symmetries, all_symmetries=parts is boxes)


def _symmetries(
    lattice: Lattice,
    boxes: Sequence[Sequence[Cell]],
    cells: Sequence[Cell],
    flips: bool,
    kinds: Sequence[Images],
    copies: Sequence[int],
) -> Iterator[Permutation]:
    """Yield the symmetries of the problem as permutations of cells and kinds, the identity first.

    Boxes are moved one by one, and equal ones change places. If pieces may not be turned over,
    reflections count only if some kinds are each other's mirror images, with as many copies, and all
    others their own; then all boxes are reflected at once.
    """
    number = {cell: index for index, cell in enumerate(cells)}
    same = tuple(range(len(cells), len(cells) + len(kinds)))
    mirror = same
    if not flips:
        flip = lattice.moves(True)[-1]
        images = [frozenset(_mirrored(lattice, flip, image) for image in kind) for kind in kinds]
        twins = [kinds.index(image) if image in kinds else -1 for image in images]
        paired = all(twin >= 0 and copies[twin] == copies[kind] for kind, twin in enumerate(twins))
        mirror = tuple(len(cells) + twin for twin in twins) if paired else same
    reflections = [move for move in lattice.moves(True) if move.flipped]
    order = [number[cell] for cell in chain.from_iterable(boxes)]
    for moves, moved_kinds in (
        (lattice.moves(flips), same),
        (reflections if mirror != same and boxes else (), mirror),
    ):
        if not moves:
            continue
        maps = [[_box_maps(lattice, moves, box, target) for target in boxes] for box in boxes]
        for moved in _arrangements(maps):
            image = dict(zip(order, (number[cell] for cell in moved), strict=True))
            yield (*(image[index] for index in range(len(cells))), *moved_kinds)


def _box_maps(
    lattice: Lattice, moves: Iterable[Symmetry], box: Sequence[Cell], target: Sequence[Cell]
) -> list[tuple[Cell, ...]]:
    """Return the distinct ways to move a box onto another, as the images of its cells in order."""
    there = set(target)
    to_x, to_y = lattice.anchor(target)
    maps = dict[tuple[Cell, ...], None]()
    for move in moves:
        moved = [move(cell) for cell in box]
        from_x, from_y = lattice.anchor(moved)
        image = tuple((x + to_x - from_x, y + to_y - from_y) for x, y in moved)
        if there.issuperset(image) and len(image) == len(there):
            maps[image] = None
    return list(maps)


def _arrangements(
    maps: Sequence[Sequence[Sequence[tuple[Cell, ...]]]],
    taken: frozenset[int] = frozenset(),
    images: tuple[Cell, ...] = (),
) -> Iterator[tuple[Cell, ...]]:
    """Yield the ways to move each box onto a box of its own, as the images of all cells in order.

    There may be millions, so none is made before it is asked for. `taken` are the boxes that the first
    ones are moved onto, `images` the images of their cells.
    """
    if len(taken) == len(maps):
        yield images
        return
    for target, ways in enumerate(maps[len(taken)]):
        for way in ways if target not in taken else ():
            yield from _arrangements(maps, taken | {target}, images + way)


def _boxes(lattice: Lattice, region: frozenset[Cell], cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells to cover of each box: a part of the region that touches no other, even at a corner."""
    cells_at: dict[Point, list[Cell]] = {}
    for cell in sorted(region):
        for corner in lattice.ring(cell):
            cells_at.setdefault(corner, []).append(cell)
    to_cover = set(cells)
    waiting = set(region)
    boxes = []
    for cell in sorted(region):
        if cell not in waiting:
            continue
        waiting.remove(cell)
        box = [cell]
        for member in box:  # grows while it is read
            beside = {other for corner in lattice.ring(member) for other in cells_at[corner]}
            box += sorted(beside & waiting)
            waiting -= beside
        boxes.append([member for member in sorted(box) if member in to_cover])
    return list(filter(None, boxes))


def _mirrored(lattice: Lattice, flip: Symmetry, image: Any) -> Any:
    """Return the mirror image of a marked image of a piece; other conditions are unchanged."""
    if isinstance(image, str):
        return image
    cells, marks = image
    dx, dy = lattice.anchor(list(map(flip, cells)))
    moved = {flip(cell): mark for cell, mark in marks}
    shown: Marks = tuple(sorted(((x - dx, y - dy), mark) for (x, y), mark in moved.items()))
    return normalize_cells(lattice, map(flip, cells)), shown
