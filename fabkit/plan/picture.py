"""The picture of a set: its printed meshes, laid together as a solution says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from shapely import Polygon, union_all

from fabkit.blueprint.ball import BallBlueprint
from fabkit.blueprint.boards.drawing import BoardBlueprint
from fabkit.blueprint.draft import Blueprint
from fabkit.model.accessory import LID, Accessory, accessories
from fabkit.model.lattice import Cell
from fabkit.model.piece import Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Challenge, PuzzleSet, rings_in_units
from fabkit.plan.builders import library_failures
from fabkit.plan.workbench import Workbench
from fabkit.sheet.render.laying import Motion, lay_balls, lay_flat
from fabkit.sheet.render.scene import Lump

if TYPE_CHECKING:
    from fabkit.mesh.body import Body

#: A solution on the board: for each piece its cells.
Layout = Mapping[str, frozenset[Cell]]

#: Between a board and the lid that lies beside it, as a part of the board's width.
_BESIDE = 0.08
#: A board this many times as wide as deep has its lid behind it.
_WIDE = 1.25
#: Apart, pieces move away from the middle by this part of their distance from it …
_SPREAD = 0.30
#: … and hang this much of the region's size above their places.
_RAISED = 0.22


@dataclass(frozen=True)
class Wish:
    """What a picture shows.

    Attributes:
        board: whether the board is shown, with its lid, if it is made as an object.
        apart: whether the pieces hang apart above it.
    """

    board: bool = True
    apart: bool = False


def assembled(
    puzzle: PuzzleSet,
    challenge: Challenge,
    layout: Layout,
    profile: Profile,
    wish: Wish | None = None,
) -> list[Lump]:
    """The meshes of a set, laid together.

    Args:
        puzzle: the set.
        challenge: what the solution is of. Its board is shown if its region is one.
        layout: a solution, each piece with its cells.
        profile: how everything is printed.
        wish: what to show; pieces in their board when None.

    Returns:
        What there is to see, in mm: first the board, then its lid, then the pieces with what is
        inlaid in them.

    Raises:
        InputError: when the profile does not suit a piece or the board.
        OutsideError: when a library fails.
    """
    wish = wish or Wish()
    pieces = puzzle.select(list(layout))
    boards = _boards(puzzle, challenge, profile) if wish.board else ()
    # Chequered pieces show their second colour, however they are printed.
    bench = Workbench(puzzle, (*pieces, *boards), replace(profile, tones="inlay"))
    drawings = bench.blueprints
    found: list[Lump] = []
    rest_mm = 0.0
    for one in boards:
        drawing = drawings[one.id]
        assert isinstance(drawing, BoardBlueprint)
        if one.kind == LID:
            motion = _beside(drawings[one.board.id].outline, drawing.outline)
        else:
            motion, rest_mm = Motion(), drawing.rest_mm
        found += _lumps(bench, one, motion)
    away = _Away(puzzle, challenge, profile.unit_mm)
    for piece in pieces:
        motion = lay(puzzle, piece, drawings[piece.id], layout[piece.id], profile.unit_mm)
        x_mm, y_mm, z_mm = away.of(layout[piece.id]) if wish.apart else (0.0, 0.0, 0.0)
        found += _lumps(bench, piece, motion.then(x_mm, y_mm, z_mm + rest_mm))
    return found


def lay(
    puzzle: PuzzleSet, piece: Piece, drawing: object, cells: frozenset[Cell], unit_mm: float
) -> Motion:
    """The motion of a piece's mesh onto cells.

    Args:
        puzzle: gives the lattice.
        piece: the piece.
        drawing: in which its mesh lies: that of a flat piece, or of one made of balls.
        cells: where it shall lie.
        unit_mm: length of a grid unit.

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
    motion = lay_flat(puzzle.lattice, own, cells, unit_mm, drawing.thickness_mm)
    return motion.then(0.0, 0.0, -drawing.back_mm)


def _boards(puzzle: PuzzleSet, challenge: Challenge, profile: Profile) -> Sequence[Accessory]:
    """The board whose region the challenge covers, and its lid; none if there is no such board."""
    every = accessories(puzzle, profile)
    ids = [one.board.id for one in every if one.board.cells == challenge.region]
    return [one for one in every if ids and one.board.id == ids[0]]


def _lumps(bench: Workbench, thing: Piece | Accessory, motion: Motion) -> Iterator[Lump]:
    """A thing and what is inlaid in it, in their colours."""
    with library_failures(f"the mesh of {thing.id}"):
        parts = bench.print_of(thing)
    yield _lump(parts.body, parts.colour, thing.id, motion)
    for inlay in parts.inlays:
        yield _lump(inlay.body, inlay.colour, f"{thing.id} {inlay.name}", motion)


def _lump(body: Body, colour: str, name: str, motion: Motion) -> Lump:
    faces = np.asarray(body.faces, dtype=np.int64)
    return Lump(motion.of(np.asarray(body.vertices, dtype=np.float64)), faces, colour, name)


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


class _Away:
    """How far pieces are moved from their places when they are shown apart."""

    def __init__(self, puzzle: PuzzleSet, challenge: Challenge, unit_mm: float) -> None:
        self._puzzle, self._unit_mm = puzzle, unit_mm
        region = self._area(challenge.region)
        self._middle = region.centroid
        left, front, right, back = region.bounds
        self._raised_mm = _RAISED * max(right - left, back - front)

    def of(self, cells: frozenset[Cell]) -> tuple[float, float, float]:
        """The vector for a piece on these cells, in mm."""
        centre = self._area(cells).centroid
        x_mm, y_mm = centre.x - self._middle.x, centre.y - self._middle.y
        return _SPREAD * x_mm, _SPREAD * y_mm, self._raised_mm

    def _area(self, cells: frozenset[Cell]) -> Polygon:
        rings = rings_in_units(self._puzzle.lattice, rings_of_cells(self._puzzle.lattice, cells))
        scaled = [Polygon([(x * self._unit_mm, y * self._unit_mm) for x, y in r]) for r in rings]
        return union_all(scaled)
