"""A solution in space: where each mesh of a set goes that lies as it was drawn, for pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from shapely import Polygon

from fabkit.build.artifacts import Artifacts, library_failures
from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.drawing.draft import Blueprint
from fabkit.drawing.outline import region_mm
from fabkit.model.accessory import LID, Accessory, Thing, accessories
from fabkit.model.entry import in_halves
from fabkit.model.lattice import Cell
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.output.render.laying import Motion, lay_balls, lay_flat
from fabkit.output.render.scene import ShadedMesh, Vector

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
    motions = laid(made_of, challenge.region, layout, boards, halves)
    for piece in pieces:
        motion, away_mm = motions[piece.id]
        found += lumps(made_of, piece, motion.then(*away_mm) if apart else motion)
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
        corners = motion.of(np.asarray(part.body.vertices, dtype=np.float64))
        faces = np.asarray(part.body.faces, dtype=np.int64)
        yield ShadedMesh(corners, faces, part.colour, part.name)


def laid(
    made_of: Artifacts,
    region: frozenset[Cell],
    layout: Layout,
    boards: Sequence[Accessory],
    halves: int = 1,
) -> dict[str, tuple[Motion, Vector]]:
    """The motions onto their cells of all pieces' meshes, as their drawings have them.

    Args:
        region: what they cover together.
        boards: the board that they lie in, if any; a lid does not matter.
        halves: so many cells lie in a unit's length of one of the lattice's.

    Returns:
        By piece, in the set's order; each also with the vector to where it is shown apart, in mm.
        What rests on the board, the back of a flat piece (or its face, if it is turned over) or
        the middles of balls, is in the board, or at height 0.

    Raises:
        ValueError: when a piece cannot lie so.
    """
    drawings, lattice = made_of.blueprints, made_of.puzzle.lattice
    unit_mm = made_of.profile.unit_mm / halves
    tops = [one for board in boards if isinstance(one := drawings[board.id], BoardBlueprint)]
    rest_mm = max((one.rest_mm for one in tops if one.kind != LID), default=0.0)
    area = region_mm(lattice, region, unit_mm)
    left, front, right, back = area.bounds
    found: dict[str, tuple[Motion, Vector]] = {}
    for piece in made_of.puzzle.select(list(layout)):
        drawing, cells = drawings[piece.id], layout[piece.id]
        if isinstance(drawing, BallBlueprint):
            assert piece.body is not None
            motion = lay_balls(piece.body, drawing.balls_mm, cells, unit_mm)
        else:
            assert isinstance(drawing, Blueprint)
            own = piece.forms[0].cells
            own = own if halves == 1 else in_halves(lattice, own)
            motion = lay_flat(lattice, own, cells, unit_mm, drawing.thickness_mm)
            motion = motion.then(0.0, 0.0, -drawing.back_mm)
        centre = region_mm(lattice, cells, unit_mm).centroid
        x_mm, y_mm = centre.x - area.centroid.x, centre.y - area.centroid.y
        away_mm = _SPREAD * x_mm, _SPREAD * y_mm, _RAISED * max(right - left, back - front)
        found[piece.id] = motion.then(0.0, 0.0, rest_mm), away_mm
    return found


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
