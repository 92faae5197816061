"""Reading boards back: which board of a set a mesh is, and of which kind, from its shape alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import shapely
from shapely import affinity

from fabkit.drawing.outline import region_mm
from fabkit.mesh.boards.circles import Slab, cells_of, match_circles, round_holes, slabs
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.probing import surfaces_at, tops_at
from fabkit.mesh.boards.region import Opening, gaps, match_opening, settled, stops
from fabkit.mesh.boards.sizes import like_a_region, spare_mm
from fabkit.mesh.boards.standing import turned, ways_up
from fabkit.mesh.body import Body, Points
from fabkit.mesh.section import DOWN, UP, Sections
from fabkit.model.accessory import HOLES, LID, SEATS, TRAY
from fabkit.model.lattice import Lattice
from fabkit.model.piece import at_anchor
from fabkit.model.puzzle import Board, PuzzleSet, in_units

#: Corners of cells are probed this far out from their middles: the board is at rest there, neither
#: in a hole nor in a channel.
_TO_CORNER = 0.9
#: A tray has walls along this part of its region's outline, or more.
_WALLED = 0.5
#: Just above a floor its walls are measured: this part of the way up to the next level.
_ABOVE_FLOOR = 0.3
#: A lid is a plate: below its middle its section covers this part of the hull around it.
_PLATE = 0.7
#: Of two ways to lie the one is chosen whose surface lies farther back, by more than this (mm).
_FARTHER_MM = 2e-4


def read_boards(
    bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float, length_mm: float = 1.0
) -> list[BoardPart]:
    """Finds out which board each body is, and how it lies.

    Args:
        bodies: boards and lids of the set, lying in any way.
        puzzle: the set.
        units_mm: what its grid unit may be, at least one, the likeliest first. Boards with round
            holes tell it by themselves.
        length_mm: the unit of length of the bodies' files.

    Returns:
        A part for each body, in their order. Where a board has symmetries, it lies so that more
        of it is at the back (y up), then to the right; so it lies alike, however its file has it.
        Boards of one shape cannot be told apart: of several bodies each is another one, as long as
        there are any.
    """
    found: list[BoardPart] = []
    for body in bodies:
        part = _read(body, puzzle, units_mm, length_mm)
        free = _others_alike(part, found, puzzle)
        if free:
            part = _read(body, replace(puzzle, boards=free), units_mm, length_mm)
        found.append(part)
    return found


def _others_alike(
    part: BoardPart, before: Sequence[BoardPart], puzzle: PuzzleSet
) -> tuple[Board, ...]:
    """The boards of a part's shape that no part before it is; none if its own is free."""
    if part.board is None:
        return ()
    taken = {
        one.board.id for one in before if one.board and (one.kind == LID) == (part.kind == LID)
    }
    if part.board.id not in taken:
        return ()
    lattice, cells = puzzle.lattice, part.board.cells
    shapes = {at_anchor(lattice, map(move, cells)) for move in lattice.moves(flips=False)}
    return tuple(
        board
        for board in puzzle.boards
        if board.id not in taken and at_anchor(lattice, board.cells) in shapes
    )


def _read(body: Body, puzzle: PuzzleSet, units_mm: Sequence[float], length_mm: float) -> BoardPart:
    in_mm = Body(body.name, body.vertices * length_mm, body.faces)
    ways = ways_up(in_mm) if len(body.faces) else []
    for vertices in ways:
        if not like_a_region(vertices, puzzle):
            continue
        standing = _Standing(body, vertices)
        found = _with_circles(standing, puzzle) or _tray(standing, puzzle, units_mm)
        if found is not None:
            return found
    found = _lid(body, ways[:2], puzzle, units_mm)
    if found is not None:
        return found
    names = ", ".join(board.id for board in puzzle.boards)
    why = (
        "it has no lattice of round holes, no floor within walls, and is no plate for a lid, that "
        f"would suit a board of {puzzle.name} ({names}) with a unit of "
        + " or ".join(f"{unit_mm:g} mm" for unit_mm in dict.fromkeys(units_mm))
    )
    return BoardPart(body, in_mm.vertices, "", None, 0.0, 0.0, why)


class _Standing:
    """A body that stands in one of its ways.

    Args:
        body: as the file has it.
        vertices: its corners as it stands, in mm.
    """

    def __init__(self, body: Body, vertices: Points) -> None:
        self.body = body
        self.vertices = vertices
        self.sections = Sections(vertices, body.faces)
        self.slabs = slabs(self.sections)


# --- boards with round holes --------------------------------------------------------------


def _with_circles(standing: _Standing, puzzle: PuzzleSet) -> BoardPart | None:
    """A board of holes or seats, if it stands the right way up."""
    body, vertices, sections = standing.body, standing.vertices, standing.sections
    here, lattice = standing.slabs, puzzle.lattice
    for slab in here:
        circles = round_holes(sections.at(slab.middle_mm))
        matches = match_circles(circles, lattice, puzzle.boards)
        if not matches:
            continue
        middles = np.array([(one.x_mm, one.y_mm) for one in circles])
        found = surfaces_at(Body(body.name, vertices, body.faces), middles)
        if np.median([len(heights) for heights in found]) == 0:
            kind = HOLES if slab is here[0] else ""
        else:  # blind, and open above
            open_above = np.median([heights[-1] if heights else 0.0 for heights in found])
            kind = SEATS if open_above < slab.middle_mm else ""
        if not kind:
            return None
        laid = [match.laid(vertices) for match in matches]
        best = _farthest_back(body, laid)
        board, unit_mm = matches[best].board, matches[best].unit_mm
        part = BoardPart(body, laid[best], kind, board, unit_mm, 0.0)
        return replace(part, rest_mm=float(np.median(posts_mm(part, lattice))))
    return None


def posts_mm(part: BoardPart, lattice: Lattice) -> list[float]:
    """The heights of what stands between the holes of a board, at the corners of its cells."""
    assert part.board is not None
    points = [
        tuple(
            middle + _TO_CORNER * (corner - middle)
            for middle, corner in zip(in_units(lattice, [cell])[0], place, strict=True)
        )
        for cell in cells_of(part.board)
        for place in in_units(lattice, lattice.ring(cell))
    ]
    return tops_at(part.straight, np.array(points) * part.unit_mm)


def _farthest_back(body: Body, ways: Sequence[Points]) -> int:
    """Which of some ways to lie is chosen: that with its surface's middle farthest back."""
    middles = []
    for vertices in ways:
        corners = vertices[body.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas = np.linalg.norm(normals, axis=1)
        middles.append(((corners.mean(axis=1) * areas[:, None]).sum(axis=0) / areas.sum())[:2])
    far = max(y for _, y in middles) - _FARTHER_MM
    back = [number for number, (_, y) in enumerate(middles) if y > far]
    right = max(middles[number][0] for number in back) - _FARTHER_MM
    return next(number for number in back if middles[number][0] > right)


# --- trays --------------------------------------------------------------------------------


def _tray(standing: _Standing, puzzle: PuzzleSet, units_mm: Sequence[float]) -> BoardPart | None:
    """A tray, if it stands the right way up."""
    sections, levels = standing.sections, {slab.low_mm: slab for slab in standing.slabs[1:]}
    for (height, facing), _ in sorted(sections.flats().items(), key=lambda one: -one[1]):
        if facing != UP or height not in levels:
            continue
        floor = shapely.union_all(_parts(sections, height))
        matches = match_opening(floor, puzzle.lattice, puzzle.boards, units_mm)
        found = [_laid_tray(standing, puzzle.lattice, levels[height], one) for one in matches]
        walled = [one for one in found if one is not None]
        if walled:
            return walled[_farthest_back(standing.body, [one.vertices for one in walled])]
    return None


def _parts(sections: Sections, height: float) -> list[shapely.Polygon]:
    """The level face at a height, the larger of its parts; a title's letters are small ones."""
    parts = [one for one in shapely.get_parts(sections.flat(height, UP)) if one.area > 0]
    most = max((one.area for one in parts), default=0.0)
    return [one for one in parts if one.area > most / 10]


def _laid_tray(
    standing: _Standing, lattice: Lattice, above: Slab, match: Opening
) -> BoardPart | None:
    """A tray where its region is; None when there are no walls around it."""
    region = region_mm(lattice, match.board.cells, match.unit_mm)
    angle = match.quarter_turns * math.pi / 2
    cut_mm = above.low_mm + _ABOVE_FLOOR * (above.high_mm - above.low_mm)
    section = affinity.translate(
        affinity.rotate(standing.sections.at(cut_mm), angle, origin=(0, 0), use_radians=True),
        *match.shift_mm,
    )
    shift = settled(section, region)
    walls = np.isfinite(gaps(affinity.translate(section, *shift), region, stops(region)))
    if walls.mean() < _WALLED:
        return None
    x, y = np.add(match.shift_mm, shift).tolist()
    laid = turned(standing.vertices, angle) + np.array([x, y, 0.0])
    return BoardPart(standing.body, laid, TRAY, match.board, match.unit_mm, above.low_mm)


# --- lids ---------------------------------------------------------------------------------


def _lid(
    body: Body, ways: Sequence[Points], puzzle: PuzzleSet, units_mm: Sequence[float]
) -> BoardPart | None:
    """A plate that covers a region, its larger face down."""
    if not ways:
        return None
    down = [Sections(vertices, body.faces).flat(0.0, DOWN).area for vertices in ways]
    standing = _Standing(body, ways[int(np.argmax(down))])
    plate = standing.sections.at(standing.slabs[0].middle_mm)
    if plate.area < _PLATE * plate.convex_hull.area:
        return None
    found = [
        (spare, board, unit_mm)
        for unit_mm in dict.fromkeys(units_mm)
        for board in puzzle.boards
        if (spare := spare_mm(standing.vertices, puzzle, board, unit_mm)) is not None
    ]
    if not found:
        return None
    _, board, unit_mm = min(found, key=lambda one: one[0])
    x0, y0, x1, y1 = region_mm(puzzle.lattice, board.cells, unit_mm).bounds
    # A lid of a region that is wider than deep is wider than deep itself.
    wide = x1 - x0 > y1 - y0 + 1e-6
    deep = y1 - y0 > x1 - x0 + 1e-6
    turns = (0, 2) if wide else (1, 3) if deep else range(4)
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2, 0.0])
    laid = [turned(standing.vertices, turn * math.pi / 2) + middle for turn in turns]
    return BoardPart(body, laid[_farthest_back(body, laid)], LID, board, unit_mm, 0.0)
