"""A solution in space: where each mesh of a set goes that lies as it was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.drawing.draft import Blueprint
from fabkit.drawing.outline import region_mm
from fabkit.drawing.part import Drawn
from fabkit.model.accessory import LID, Accessory, accessories
from fabkit.model.entry import in_halves
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.render.laying import Motion, lay_balls, lay_flat
from fabkit.output.render.scene import Vector

#: A solution: for each piece its cells.
Layout = Mapping[str, frozenset[Cell]]

#: Apart, pieces move away from the middle by this part of their distance from it …
_SPREAD = 0.30
#: … and hang this much of the region's size above their places.
_RAISED = 0.22


def lay(
    puzzle: PuzzleSet,
    piece: Piece,
    drawing: object,
    cells: frozenset[Cell],
    unit_mm: float,
    halves: int = 1,
) -> Motion:
    """The motion of a piece's mesh onto cells.

    Args:
        puzzle: gives the lattice.
        piece: the piece.
        drawing: in which its mesh lies: that of a flat piece, or of one made of balls.
        cells: where it shall lie.
        unit_mm: length of a grid unit.
        halves: so many cells lie in a unit's length of one of the lattice's; see
            `fabkit.model.entry.Entry`.

    Returns:
        The motion. What rests on the board, the back of a flat piece (or its face, if it is turned
        over) or the middles of balls, is then at height 0.

    Raises:
        ValueError: when the piece cannot lie so.
    """
    if isinstance(drawing, BallBlueprint):
        assert piece.body is not None
        return lay_balls(piece.body, drawing.balls_mm, cells, unit_mm)
    assert isinstance(drawing, Blueprint)
    own = piece.forms[0].cells
    own = own if halves == 1 else in_halves(puzzle.lattice, own)
    motion = lay_flat(puzzle.lattice, own, cells, unit_mm / halves, drawing.thickness_mm)
    return motion.then(0.0, 0.0, -drawing.back_mm)


def laid(
    puzzle: PuzzleSet,
    layout: Layout,
    boards: Sequence[Accessory],
    drawings: Mapping[str, Drawn],
    unit_mm: float,
    halves: int = 1,
) -> dict[str, Motion]:
    """The motions of all pieces of a solution.

    Args:
        puzzle: the set.
        layout: a solution.
        boards: the board that they lie in, if any; a lid does not matter.
        drawings: of pieces and boards, by id.
        unit_mm: length of a grid unit.
        halves: see `lay`.

    Returns:
        By piece, in the set's order. They rest in the board, or at height 0.
    """
    tops = [one for board in boards if isinstance(one := drawings[board.id], BoardBlueprint)]
    rest_mm = max((one.rest_mm for one in tops if one.kind != LID), default=0.0)
    return {
        piece.id: lay(puzzle, piece, drawings[piece.id], layout[piece.id], unit_mm, halves).then(
            0.0, 0.0, rest_mm
        )
        for piece in puzzle.select(list(layout))
    }


def boards_of(
    puzzle: PuzzleSet, region: frozenset[Cell], profile: Profile, halves: int = 1
) -> Sequence[Accessory]:
    """The board with just that region, and its lid; none if no such board is made.

    Args:
        puzzle: the set.
        region: cells to cover.
        profile: says which boards are made.
        halves: of the cells in a unit's length; boards have none of half a unit.
    """
    every = accessories(puzzle, profile) if halves == 1 else ()
    ids = [one.board.id for one in every if one.board.cells == region]
    return [one for one in every if ids and one.board.id == ids[0]]


class Away:
    """How far pieces are moved from their places when they are shown apart.

    Args:
        lattice: of the cells.
        region: what they cover together.
        cell_unit_mm: length of a unit of the cells.
    """

    def __init__(self, lattice: Lattice, region: frozenset[Cell], cell_unit_mm: float) -> None:
        self._lattice, self._unit_mm = lattice, cell_unit_mm
        area = region_mm(lattice, region, cell_unit_mm)
        self._middle = area.centroid
        left, front, right, back = area.bounds
        self._raised_mm = _RAISED * max(right - left, back - front)

    def of(self, cells: frozenset[Cell]) -> Vector:
        """The vector for a piece on these cells, in mm."""
        centre = region_mm(self._lattice, cells, self._unit_mm).centroid
        x_mm, y_mm = centre.x - self._middle.x, centre.y - self._middle.y
        return _SPREAD * x_mm, _SPREAD * y_mm, self._raised_mm
