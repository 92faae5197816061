"""Reading boards back: which board of a set a mesh is, and of which kind, from its shape alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import shapely
from shapely import affinity

from fabkit.mesh.boards.circles import Slab, cells_of, match_circles, round_holes, slabs
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.probing import surfaces_at, tops_at
from fabkit.mesh.boards.region import Opening, gaps, match_opening, region_mm, settled, stops
from fabkit.mesh.boards.standing import straightened, turned, ways_up
from fabkit.mesh.body import Body, Points
from fabkit.mesh.section import DOWN, UP, Sections
from fabkit.model.accessory import HOLES, LID, SEATS, TRAY
from fabkit.model.lattice import Lattice, Ring
from fabkit.model.piece import at_anchor
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Board, PuzzleSet, in_units, rings_in_units

#: A lid may be smaller than its region by this (mm), as one that is printed small is.
_SMALLER_MM = 2.0
#: A board is larger than its region by a wall on both sides, 1 mm each at the least.
_LARGER_MM = 2.0
#: A piece is no larger than its cells by this (mm), and no smaller by this part of a grid unit:
#: balls and discs do not fill theirs.
_OVERSIZE_MM, _UNDERSIZE = 0.5, 0.3
#: Corners of cells are probed this far out from their middles: the board is at rest there, neither
#: in a hole nor in a channel.
_TO_CORNER = 0.9
#: A tray has walls along this part of its region's outline, or more.
_WALLED = 0.5
#: Just above a floor its walls are measured: this part of the way up to the next level.
_ABOVE_FLOOR = 0.3
#: A body that stands on edge is narrower than a board by this, as parts of their lengths.
_NARROWER = 0.5
#: A lid is a plate: below its middle its section covers this part of the hull around it.
_PLATE = 0.7
#: Of two ways to lie the one is chosen whose surface lies farther back, by more than this (mm).
_FARTHER_MM = 2e-4


def is_accessory(body: Body, puzzle: PuzzleSet, *units_mm: float, length_mm: float = 1.0) -> bool:
    """Whether a body is so large that it can only be a board or lid.

    The rectangle around it, seen as a plate, covers that around a board's region, and that around
    every piece is smaller. A board that is no larger than a piece of its set (one for a single
    piece) cannot be told by its size; then whatever is larger than the region by a wall, 1 mm all
    around, is the board or its lid. Where the unit may be one of several, a piece can be as large as
    a board with a smaller unit: what has the box of a piece is no board.

    Args:
        body: of any name, lying in any way.
        puzzle: the set.
        units_mm: what the grid unit may be, at least one.
        length_mm: the unit of length of the body's file.

    Example:
        >>> from fabkit.model.library import load_set
        >>> corners = np.array([[x, y, z] for x in (0, 165) for y in (0, 3) for z in (0, 166)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> lid = Body("A.stl", corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))
        >>> is_accessory(lid, load_set("iqblock"), 20.0), is_accessory(lid, load_set("iqblock"), 25.0)
        (True, False)
    """
    forms = [form for piece in puzzle.pieces for form in piece.forms]
    pieces = [_sides(straightened(_points(puzzle, form.rings))) for form in forms]
    regions = [_region_sides(puzzle, board) for board in puzzle.boards]
    # A small board with deep holes has its largest face on a side.
    for way in ways_up(body)[::2]:
        size = _sides(way) * length_mm
        large = {unit_mm for unit_mm in units_mm if _is_large(size, regions, pieces, unit_mm)}
        if large and not any(
            _has_box(size, piece, unit_mm) for unit_mm in {*units_mm} - large for piece in pieces
        ):
            return True
    return False


def _is_large(
    size: Points, regions: Sequence[Points], pieces: Sequence[Points], unit_mm: float
) -> bool:
    """Whether something is as large as a board with this unit, and larger than every piece."""
    for region in regions:
        can_be_piece = any((piece >= region - 1e-9).all() for piece in pieces)
        more_mm = _LARGER_MM if can_be_piece else -_SMALLER_MM
        if (size >= region * unit_mm + more_mm).all():
            return True
    return False


def _has_box(size: Points, piece: Points, unit_mm: float) -> bool:
    """Whether something is as large as a piece with this unit, or a little smaller."""
    spare = piece * unit_mm - size
    return bool((spare > -_OVERSIZE_MM).all() and (spare < _UNDERSIZE * unit_mm).all())


def _sides(points: Points) -> Points:
    """The longer and the shorter side of the rectangle around points, seen from above."""
    return np.sort(np.ptp(points[:, :2], axis=0))[::-1]


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
        if not _like_a_region(vertices, puzzle):
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
    return BoardPart(body, "", None, in_mm.vertices, 0.0, 0.0, why)


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


def _like_a_region(vertices: Points, puzzle: PuzzleSet) -> bool:
    """Whether a standing body is not far narrower than the boards of the set, as one on edge is."""
    long, short = _sides(vertices)
    return any(
        short / long > _NARROWER * width / length
        for length, width in (_region_sides(puzzle, board) for board in puzzle.boards)
    )


def _region_sides(puzzle: PuzzleSet, board: Board) -> Points:
    """The longer and the shorter side of a board's region in grid units."""
    return _sides(_points(puzzle, rings_of_cells(puzzle.lattice, board.cells)))


def _points(puzzle: PuzzleSet, rings: Sequence[Ring]) -> Points:
    """The corners of rings in grid units, at height 0, shape (n, 3)."""
    return np.array([(*p, 0.0) for ring in rings_in_units(puzzle.lattice, rings) for p in ring])


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
        part = BoardPart(body, kind, board, laid[best], unit_mm, 0.0)
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
    region = region_mm(lattice, match.board, match.unit_mm)
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
    return BoardPart(standing.body, TRAY, match.board, laid, match.unit_mm, above.low_mm)


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
        if (spare := _spare_mm(standing.vertices, puzzle, board, unit_mm)) is not None
    ]
    if not found:
        return None
    _, board, unit_mm = min(found, key=lambda one: one[0])
    x0, y0, x1, y1 = region_mm(puzzle.lattice, board, unit_mm).bounds
    # A lid of a region that is wider than deep is wider than deep itself.
    wide = x1 - x0 > y1 - y0 + 1e-6
    deep = y1 - y0 > x1 - x0 + 1e-6
    turns = (0, 2) if wide else (1, 3) if deep else range(4)
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2, 0.0])
    laid = [turned(standing.vertices, turn * math.pi / 2) + middle for turn in turns]
    return BoardPart(body, LID, board, laid[_farthest_back(body, laid)], unit_mm, 0.0)


def _spare_mm(vertices: Points, puzzle: PuzzleSet, board: Board, unit_mm: float) -> float | None:
    """How much larger a lid is than a region, along and across; None when it does not cover it."""
    spare = _sides(vertices) - _region_sides(puzzle, board) * unit_mm
    return float(spare.sum()) if (spare > -_SMALLER_MM).all() else None
