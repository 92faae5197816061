"""A solution in space: where each mesh of a set goes that lies as it was drawn, for pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from shapely import Polygon

from fabkit.build.artifacts import Artifacts, library_failures
from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.drawing.draft import Blueprint
from fabkit.drawing.outline import region_mm
from fabkit.drawing.part import PartDrawing
from fabkit.model.accessory import LID, Accessory, Thing, accessories
from fabkit.model.entry import in_halves
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.output.render.laying import Motion, lay_balls, lay_flat
from fabkit.output.render.scene import ShadedMesh, Vector

if TYPE_CHECKING:
    from fabkit.mesh.body import Body

#: A solution: for each piece its cells.
Layout = Mapping[str, frozenset[Cell]]

#: Apart, pieces move away from the middle by this part of their distance from it …
_SPREAD = 0.30
#: … and hang this much of the region's size above their places.
_RAISED = 0.22
#: Between a board and the lid that lies beside it, as a part of the board's width.
_BESIDE = 0.08
#: A board this many times as wide as deep has its lid behind it.
_WIDE = 1.25


def assembled(
    puzzle: PuzzleSet,
    challenge: Challenge,
    layout: Layout,
    profile: Profile,
    find_stl: Callable[[], Mapping[str, Path]] = dict,
    board: bool = True,
    apart: bool = False,
    halves: int = 1,
) -> list[ShadedMesh]:
    """The meshes of a set, laid together.

    Args:
        challenge: what the solution is of. Its board is shown if its region is one.
        layout: a solution, each piece with its cells.
        board: whether the board is shown, with its lid, if it is made as an object.
        apart: whether the pieces hang apart above it.
        halves: of the challenge's cells in a unit's length; see `fabkit.model.entry.Entry`.

    Returns:
        What there is to see, in mm: first the board, then its lid, then the pieces with what is
        inlaid in them.

    Raises:
        InputError: when the profile does not suit a piece or the board.
        OutsideError: when a library fails.
    """
    pieces = puzzle.select(list(layout))
    boards = boards_of(puzzle, challenge.region, profile, halves) if board else ()
    made_of = picture_artifacts(puzzle, (*pieces, *boards), profile, find_stl)
    drawings = made_of.blueprints
    found: list[ShadedMesh] = []
    for one in boards:
        motion = Motion()
        if one.kind == LID:
            motion = _beside(drawings[one.board.id].outline, drawings[one.id].outline)
        found += lumps(made_of, one, motion)
    away = Away(puzzle.lattice, challenge.region, profile.unit_mm / halves)
    motions = laid(puzzle, layout, boards, drawings, profile.unit_mm, halves)
    for piece in pieces:
        x_mm, y_mm, z_mm = away.of(layout[piece.id]) if apart else (0.0, 0.0, 0.0)
        found += lumps(made_of, piece, motions[piece.id].then(x_mm, y_mm, z_mm))
    return found


def picture_artifacts(
    puzzle: PuzzleSet,
    things: Sequence[Thing],
    profile: Profile,
    find_stl: Callable[[], Mapping[str, Path]] = dict,
) -> Artifacts:
    """Makes meshes to look at: chequered pieces show their second colour there, however they are
    printed."""
    return Artifacts(puzzle, things, replace(profile, tones="inlay"), find_stl)


def lumps(made_of: Artifacts, thing: Thing, motion: Motion) -> Iterator[ShadedMesh]:
    """A thing and what is inlaid in it, each in its colour, moved."""
    with library_failures(f"the mesh of {thing.id}"):
        parts = made_of.print_of(thing)
    for part in parts.solids:
        yield _lump(part.body, part.colour, part.name, motion)


def _lay(
    puzzle: PuzzleSet,
    piece: Piece,
    drawing: PartDrawing,
    cells: frozenset[Cell],
    unit_mm: float,
    halves: int = 1,
) -> Motion:
    """The motion of a piece's mesh, as its drawing has it, onto cells.

    What rests on the board, the back of a flat piece (or its face, if it is turned over) or the
    middles of balls, is then at height 0.

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
    drawings: Mapping[str, PartDrawing],
    unit_mm: float,
    halves: int = 1,
) -> dict[str, Motion]:
    """The motions of all pieces of a solution.

    Args:
        boards: the board that they lie in, if any; a lid does not matter.
        halves: so many cells lie in a unit's length of one of the lattice's.

    Returns:
        By piece, in the set's order. They rest in the board, or at height 0.
    """
    tops = [one for board in boards if isinstance(one := drawings[board.id], BoardBlueprint)]
    rest_mm = max((one.rest_mm for one in tops if one.kind != LID), default=0.0)
    return {
        piece.id: _lay(puzzle, piece, drawings[piece.id], layout[piece.id], unit_mm, halves).then(
            0.0, 0.0, rest_mm
        )
        for piece in puzzle.select(list(layout))
    }


def boards_of(
    puzzle: PuzzleSet, region: frozenset[Cell], profile: Profile, halves: int = 1
) -> Sequence[Accessory]:
    """The board with just that region, and its lid; none if no such board is made.

    Args:
        halves: of the cells in a unit's length; boards have none of half a unit.
    """
    every = accessories(puzzle, profile) if halves == 1 else ()
    ids = [one.board.id for one in every if one.board.cells == region]
    return [one for one in every if ids and one.board.id == ids[0]]


class Away:
    """How far pieces are moved from their places when they are shown apart.

    Args:
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


def _lump(body: Body, colour: str, name: str, motion: Motion) -> ShadedMesh:
    faces = np.asarray(body.faces, dtype=np.int64)
    return ShadedMesh(motion.of(np.asarray(body.vertices, dtype=np.float64)), faces, colour, name)


def _beside(board: Polygon, lid: Polygon) -> Motion:
    """Where a lid lies: to the right of its board, or behind one that is wide."""
    left, front, right, back = board.bounds
    lid_left, lid_front, lid_right, lid_back = lid.bounds
    wide, deep = right - left, back - front
    if wide > _WIDE * deep:
        across = (left + right - lid_left - lid_right) / 2
        return Motion().then(across, back + _BESIDE * wide - lid_front, 0.0)
    along = (front + back - lid_front - lid_back) / 2
    return Motion().then(right + _BESIDE * wide - lid_left, along, 0.0)
