"""Solutions in 3D: the placement of each mesh, for pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
from shapely import Polygon

from fabkit.core.errors import library_failures
from fabkit.drawing.ball import BallDrawing
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.draft import FlatDrawing
from fabkit.drawing.marks import mark_places
from fabkit.drawing.outline import region_mm
from fabkit.drawing.part import PartDrawing
from fabkit.drawing.placement import Matrix, place_ball_piece, place_flat_piece, translated
from fabkit.mesh.files.writing3mf import Object3mf
from fabkit.model.blockers import blockers
from fabkit.model.clues import ClueFilter
from fabkit.model.entry import subdivide
from fabkit.model.lattice import Cell
from fabkit.model.piece import Piece, marked_at
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.output.render.scene import ShadedMesh, Vector, dot
from fabkit.profiles.accessory import LID, Accessory, Printable, accessories
from fabkit.profiles.profile import Profile
from fabkit.solve.encoding import Layout

#: In an exploded view, pieces move outwards by this fraction of their distance from the centre.
_SPREAD = 0.30
#: In an exploded view, pieces move up by this fraction of the region's size.
_RAISED = 0.22
#: The gap between a board and its lid, as a fraction of the board's width.
_BESIDE = 0.08
#: A board with at least this ratio of width to depth has its lid behind it.
_WIDE = 1.25


class Parts(Protocol):
    """What pictures show of a set: see `fabkit.build.artifacts.Artifacts`."""

    puzzle: PuzzleSet
    printables: tuple[Printable, ...]
    profile: Profile

    @property
    def drawings(self) -> Mapping[str, PartDrawing]:
        """The drawings, by id."""

    def print_of(self, printable: Printable) -> Object3mf:
        """Return the meshes of a printable in their colours."""


def assembled(
    puzzle: PuzzleSet,
    challenge: Challenge,
    layout: Layout,
    profile: Profile,
    pictured: Callable[[Sequence[Printable]], Parts],
    board: bool = True,
    exploded: bool = False,
    halves: int = 1,
) -> list[ShadedMesh]:
    """The meshes of an assembled set.

    Args:
        challenge: the challenge. Its board is shown if its region is that of a board.
        layout: a solution, or the pieces in front of the board.
        pictured: returns what is shown of some printables; see `Artifacts.pictured`.
        board: whether the board is shown, with its lid, if it is made as an object.
        exploded: whether the pieces are apart above it.
        halves: of the challenge's cells in a unit's length; see `fabkit.model.puzzle.Entry`.

    Returns:
        The visible meshes, in mm: the board, then its lid, then the pieces with their inlays.

    Raises:
        InputError: when the profile does not suit a piece or the board.
        ExternalError: when a library fails.
    """
    pieces = puzzle.select(list(layout))
    boards = boards_for_region(puzzle, challenge.board_cells, profile, halves) if board else ()
    is_blocked = board and challenge.blocked
    on_cells = blockers(puzzle, profile.board_colour) if is_blocked else ()
    parts: tuple[Printable, ...] = (*pieces, *on_cells, *boards)
    artifacts = pictured(parts)
    drawings = artifacts.drawings
    meshes: list[ShadedMesh] = []
    for accessory in boards:
        shift_mm = (0.0, 0.0)
        if accessory.kind == LID:
            board_outline = drawings[accessory.board.id].outline
            shift_mm = _lid_shift_mm(board_outline, drawings[accessory.id].outline)
        meshes += shaded_meshes(artifacts, accessory, translated(np.eye(3, 4), *shift_mm, 0.0))
    in_board = all(cells <= challenge.region for cells in layout.values())
    holders = boards if in_board else ()
    wanted = {
        piece.id: ClueFilter(puzzle.lattice, piece, challenge.clues, challenge.flips).marks
        for piece in pieces
    }
    placements = piece_placements(artifacts, challenge.board_cells, layout, holders, halves, wanted)
    for piece in pieces:
        placement, away_mm = placements[piece.id]
        placement = translated(placement, *away_mm) if exploded else placement
        meshes += shaded_meshes(artifacts, piece, placement)
    for blocker in on_cells:
        for cells in mark_places(puzzle.lattice, challenge.minus, profile.unit_mm).values():
            placement = placement_on(artifacts, blocker, cells)
            on_floor = translated(placement, 0.0, 0.0, _rest_mm(artifacts, boards))
            meshes += shaded_meshes(artifacts, blocker, on_floor)
    return meshes


def lay_out_in_front(puzzle: PuzzleSet, challenge: Challenge) -> Layout:
    """Lay the pieces of a challenge out in rows in front of its region, a cell apart.

    Example:
        >>> from fabkit.sets.challenges import find_challenge
        >>> from fabkit.sets.library import load_set
        >>> block = load_set("iqblock")
        >>> square = find_challenge(block, "square")
        >>> all(square.region.isdisjoint(cells) for cells in lay_out_in_front(block, square).values())
        True
    """  # noqa: E501
    (ux, _), (vx, vy) = puzzle.lattice.basis
    columns = [x for x, _ in challenge.board_cells]
    left, right = min(columns), max(columns)
    x = left
    low = min(y for _, y in challenge.board_cells)
    top = low - 2 * vy
    layout: Layout = {}
    for piece in puzzle.select(list(challenge.pieces)):
        xs, ys = zip(*piece.forms[0].cells, strict=True)
        if x > left and x + max(xs) - min(xs) > right:
            x, top = left, low - 2 * vy
        rows = (top - max(ys)) // vy
        shift = rows * vx - (min(xs) + rows * vx - x) // ux * ux
        cells = frozenset((cx + shift, cy + rows * vy) for cx, cy in piece.forms[0].cells)
        layout[piece.id] = cells
        low = min(low, *(cy for _, cy in cells))
        x = max(cx for cx, _ in cells) + 2 * ux
    return layout


def shaded_meshes(
    artifacts: Parts, printable: Printable, placement: Matrix
) -> Iterator[ShadedMesh]:
    """The placed meshes of a printable and its inlays, each in its colour."""
    with library_failures(lambda: f"the mesh of {printable.id}"):
        parts = artifacts.print_of(printable)
    for part in parts.solids:
        vertices = np.asarray(part.mesh.vertices, dtype=np.float64)
        corners = np.stack([dot(vertices, row) for row in placement[:, :3]], axis=1)
        faces = np.asarray(part.mesh.faces, dtype=np.int64)
        yield ShadedMesh(corners + placement[:, 3], faces, part.colour, part.name)


def piece_placements(
    artifacts: Parts,
    region: frozenset[Cell],
    layout: Layout,
    boards: Sequence[Accessory],
    halves: int = 1,
    wanted: Mapping[str, Mapping[Cell, str]] = MappingProxyType({}),
) -> dict[str, tuple[Matrix, Vector]]:
    """The placements of the meshes of all pieces, as drawn, on their cells.

    Args:
        region: the cells they cover together.
        boards: the board that holds them, if any; a lid does not matter.
        halves: cells per unit of length; see `fabkit.model.puzzle.Entry`.
        wanted: for each piece, marks that it shows; see `fabkit.model.piece.marked_at`.

    Returns:
        By piece, in the set's order; each also with the vector to its place in an exploded view, in
        mm. The surface at rest, the back of a flat piece (or its face, if it is turned over) or the
        centres of balls, is in the board, or at height 0.

    Raises:
        ValueError: when a piece cannot be placed there.
    """
    lattice = artifacts.puzzle.lattice
    unit_mm = artifacts.profile.unit_mm / halves
    rest_mm = _rest_mm(artifacts, boards)
    area = region_mm(lattice, region, unit_mm)
    left, front, right, back = area.bounds
    placements: dict[str, tuple[Matrix, Vector]] = {}
    for piece in artifacts.puzzle.select(list(layout)):
        cells = layout[piece.id]
        placement = placement_on(artifacts, piece, cells, halves, wanted.get(piece.id, {}))
        centre = region_mm(lattice, cells, unit_mm).centroid
        x_mm, y_mm = centre.x - area.centroid.x, centre.y - area.centroid.y
        away_mm = _SPREAD * x_mm, _SPREAD * y_mm, _RAISED * max(right - left, back - front)
        placements[piece.id] = translated(placement, 0.0, 0.0, rest_mm), away_mm
    return placements


def _rest_mm(artifacts: Parts, boards: Sequence[Accessory]) -> float:
    """The height at which pieces are in boards; 0 without any."""
    drawings = [artifacts.drawings[board.id] for board in boards if board.kind != LID]
    heights = [drawing.rest_mm for drawing in drawings if isinstance(drawing, BoardDrawing)]
    return max(heights, default=0.0)


def placement_on(
    artifacts: Parts,
    piece: Piece,
    cells: frozenset[Cell],
    halves: int = 1,
    wanted: Mapping[Cell, str] = MappingProxyType({}),
) -> Matrix:
    """The placement of a piece's mesh, as drawn, on cells; see `piece_placements`.

    Raises:
        ValueError: when it cannot be placed there.
    """
    drawing, lattice = artifacts.drawings[piece.id], artifacts.puzzle.lattice
    unit_mm = artifacts.profile.unit_mm / halves
    if isinstance(drawing, BallDrawing):
        assert piece.body is not None
        return place_ball_piece(piece.body, drawing.balls_mm, cells, unit_mm)
    assert isinstance(drawing, FlatDrawing)
    own = piece.forms[0].cells
    own = own if halves == 1 else subdivide(lattice, own)
    shown = marked_at(lattice, piece, cells, flips=True, wanted=wanted) if wanted else ()
    pose = next(((move, vector) for move, vector, _ in shown), None)
    placement = place_flat_piece(lattice, own, cells, unit_mm, drawing.thickness_mm, pose)
    return translated(placement, 0.0, 0.0, -drawing.back_mm)


def boards_for_region(
    puzzle: PuzzleSet, region: frozenset[Cell], profile: Profile, halves: int = 1
) -> Sequence[Accessory]:
    """The board with exactly this region, and its lid; none if no such board is made.

    Args:
        halves: cells per unit of length; boards have whole units only.
    """
    all_accessories = accessories(puzzle, profile) if halves == 1 else ()
    ids = [accessory.board.id for accessory in all_accessories if accessory.board.cells == region]
    return [accessory for accessory in all_accessories if ids and accessory.board.id == ids[0]]


def _lid_shift_mm(board: Polygon, lid: Polygon) -> tuple[float, float]:
    """The shift, in x and y, that puts a lid to the right of its board, or behind a wide one."""
    left, front, right, back = board.bounds
    lid_left, lid_front, lid_right, lid_back = lid.bounds
    wide, deep = right - left, back - front
    if wide > _WIDE * deep:
        across = (left + right - lid_left - lid_right) / 2
        return across, back + _BESIDE * wide - lid_front
    along = (front + back - lid_front - lid_back) / 2
    return right + _BESIDE * wide - lid_left, along
