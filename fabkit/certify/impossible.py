"""From a file of impossible shapes to a verdict on all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fabkit.certify.board import Board
from fabkit.certify.labels import compare_pieces
from fabkit.certify.refusal import RefusedError
from fabkit.certify.replay import Replay, kind_at_root
from fabkit.certify.shapes import ImpossibleShapes, ShapeProof
from fabkit.certify.tiling import TILINGS
from fabkit.core.errors import InputError

#: Is called with the share of the work that is done, from 0 to 1.
Progress = Callable[[float], None]


@dataclass(frozen=True)
class ShapesVerdict:
    """What became of a file of impossible shapes.

    Attributes:
        holds: whether every shape is proved impossible.
        reason: the first shape that is not, and why; None when all are.
        shapes: how many are proved.
        nodes: how many branchings were followed.
        not_compared: why the pieces were not compared with those of the set that the label names;
            empty when they were, and are the same.
        compared: whether they were.
    """

    holds: bool
    reason: str | None = None
    shapes: int = 0
    nodes: int = 0
    compared: bool = False
    not_compared: str = ""


def judge_shapes(
    file: ImpossibleShapes, set_name: str | None = None, progress: Progress = lambda share: None
) -> ShapesVerdict:
    """Judges a file of impossible shapes, and whether its pieces are those of its set.

    Args:
        file: as it was read.
        set_name: the set to look in, shipped or a file; None: the one that the label names.
        progress: is told the share that is done, never less than before.

    Returns:
        The verdict; refused at once when the pieces are others.

    Raises:
        InputError: as `check_shapes` does, or when there is no such set.
    """
    try:
        not_compared = compare_pieces(file, set_name)
    except RefusedError as refusal:
        return ShapesVerdict(False, str(refusal), compared=True)
    verdict = check_shapes(file, progress)
    return replace(verdict, compared=not not_compared, not_compared=not_compared)


def check_shapes(file: ImpossibleShapes, progress: Progress = lambda share: None) -> ShapesVerdict:
    """Judges a file of impossible shapes, deriving everything anew.

    A mixed shape whose two parts overlap is refused: it is no shape, and nothing is said of it.

    Args:
        file: as it was read.
        progress: is told the share that is done, never less than before.

    Returns:
        The verdict.

    Raises:
        InputError: when an outline is not drawn along its lattice, what is said to be a cell is
            none, an orbit or a shape stands twice, or all is too large.
    """
    try:
        return _checked(file, progress)
    except InputError as error:  # the steps do not know the file's name
        raise InputError(file.source, error.faults) from None


def _checked(file: ImpossibleShapes, progress: Progress) -> ShapesVerdict:
    points = [
        {cell for shape in file.shapes for cell in shape.cells[at]}
        for at in range(len(file.centres))
    ]
    board = Board(TILINGS[file.lattice], file.centres, points, file.pieces, file.flips)
    all_orbits = _orbits(file, board)
    # A shape takes about as long to set up as some items take to be read.
    before, whole = 0, sum(len(shape.items) + 1 for shape in file.shapes) + 1
    for index, (shape, orbits) in enumerate(zip(file.shapes, all_orbits, strict=True)):

        def told(read: int, before: int = before + index) -> None:
            progress((before + read) / whole)

        try:
            _follow(shape, board, orbits, f"shapes[{index}]", told)
        except RefusedError as refusal:
            where = f"shapes[{index}] (with the cell {shape.a_cell})"
            return ShapesVerdict(False, f"{where}: {refusal}", index, before)
        before += len(shape.items)
    progress(1.0)
    return ShapesVerdict(True, None, len(file.shapes), before)


def _orbits(file: ImpossibleShapes, board: Board) -> list[frozenset[int]]:
    """The orbits of each shape; no orbit stands twice in one, and no shape twice in the file."""
    first: dict[frozenset[int], int] = {}
    for index, shape in enumerate(file.shapes):
        owner: dict[int, str] = {}
        for sheet, cells in enumerate(shape.cells):
            for at, cell in enumerate(cells):
                place = f"cells[{sheet}][{at}]"
                key = f"shapes[{index}].{place}"
                orbit = board.orbit_at(sheet, cell)
                if orbit is None:
                    message = f"{list(cell)} is not the centroid of a cell"
                    raise InputError.of("", message, key)
                if owner.setdefault(orbit, place) != place:
                    message = f"{list(cell)} is in the orbit of {owner[orbit]} already"
                    raise InputError.of("", message, key)
        orbits = frozenset(owner)
        if first.setdefault(orbits, index) != index:
            raise InputError.of("", f"is shapes[{first[orbits]}] again", f"shapes[{index}]")
    return list(first)


def _follow(
    shape: ShapeProof,
    board: Board,
    orbits: frozenset[int],
    key: str,
    told: Callable[[int], None],
) -> None:
    """Follows the proof of one shape.

    Raises:
        InputError: when the shape is too large.
        RefusedError: when it proves nothing.
    """
    if board.overlap(orbits):
        raise RefusedError("cells of the two lattices overlap")
    problem = board.problem(orbits, key)
    at_root = None
    if shape.branch_first is not None:
        kind = kind_at_root(shape.branch_first, shape.items, problem.cells, board.copies)
        at_root = problem.representatives(kind)
    replay = Replay(problem.cells, board.copies, False, problem.choices)
    if replay.count(shape.items, "items", told, at_root):
        raise RefusedError("its pieces can be laid so: the transcript leads to a solution")
