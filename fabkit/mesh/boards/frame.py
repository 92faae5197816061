"""Rules on what is around and below the region of a board: opening, corners, floor and walls."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.boards.circles import Slab, middles_mm, slabs, spot
from fabkit.mesh.boards.holes import TOLERANCE_MM
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.probing import material_along, surfaces_at, worst
from fabkit.mesh.boards.region import REACH_MM, Stops, gaps, stops
from fabkit.mesh.body import Points
from fabkit.mesh.finding import Finding, at_least, between
from fabkit.model.accessory import HOLES, TRAY
from fabkit.model.lattice import Lattice
from fabkit.model.profile import Profile

#: Walls are cut this near (mm) to the ends of slabs; they may lean between two levels.
_NEAR_END_MM = 0.03
#: Lines through walls lie this much (mm) off whole millimetres.
_ASIDE_MM = 0.0137
#: So high above the bed (mm) a floor has no holes.
_NEAR_BED_MM = 0.3
#: A corner is square, or sharper, up to this angle.
_SQUARE_DEGREES = 100.0
#: A nozzle leaves a corner rounded; this part of its width must be free beyond the clearance.
_ROUNDED = 0.25


def frame_findings(part: BoardPart, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """All findings on a board's frame and floor.

    Args:
        part: a board that could be read, no lid.
        lattice: the set's.
        profile: what is asked for.
    """
    assert part.board is not None
    region = region_mm(lattice, part.board.cells, part.unit_mm)
    above = [slab for slab in slabs(part.sections) if slab.low_mm > part.rest_mm - 1e-3]
    along = stops(region)
    if above:
        yield _opening(part, above[0], region, along, profile)
        if profile.relief_mm and part.kind == TRAY:
            yield from _corners(part, above[0], region, profile)
        yield _walls(part, above, region, profile)
    if part.kind != HOLES:
        yield _floor(part, lattice, region, profile)


def _opening(
    part: BoardPart, lowest: Slab, region: Polygon, along: Stops, profile: Profile
) -> Finding:
    """The clearance around the region, just above what pieces rest on and below the next level."""
    asked_mm, found = profile.board_clearance_mm, []
    for height in (lowest.low_mm + _NEAR_END_MM, lowest.high_mm - _NEAR_END_MM):
        away = gaps(part.sections.at(height), region, along)
        found += [(float(gap), n) for n, gap in enumerate(away) if gap < REACH_MM - 1e-6]
    gap = worst((gap for gap, _ in found), asked_mm)
    where = next((number for one, number in found if one == gap), 0)
    limit = (asked_mm - TOLERANCE_MM, asked_mm + TOLERANCE_MM)
    what = "the clearance between region and frame, where it is farthest off,"
    return between("board-opening", gap, limit, "mm", what, spot(along.points[where]))


def clearances_mm(part: BoardPart, lattice: Lattice) -> tuple[float, float] | None:
    """The least and the greatest clearance between a board's region and its frame, as measured.

    Args:
        part: a board that could be read.
        lattice: the set's.

    Returns:
        None when there is no frame around it.
    """
    if part.board is None:
        return None
    above = [slab for slab in slabs(part.sections) if slab.low_mm > part.rest_mm - 1e-3]
    if not above:
        return None
    region = region_mm(lattice, part.board.cells, part.unit_mm)
    away = gaps(part.sections.at(above[0].middle_mm), region, stops(region))
    near = away[np.isfinite(away)]
    return (float(near.min()), float(near.max())) if len(near) else None


def _corners(part: BoardPart, lowest: Slab, region: Polygon, profile: Profile) -> Iterator[Finding]:
    """A piece's square corner goes into the region's, though a printer rounds the frame's."""
    corners = _square_corners(region)
    if not len(corners):
        return
    section = part.sections.at(lowest.middle_mm)
    rooms = shapely.distance(shapely.points(corners), section)
    least = profile.board_clearance_mm + _ROUNDED * profile.nozzle_mm
    what = "the room around the tightest corner of a piece"
    where = spot(corners[int(rooms.argmin())])
    yield at_least("board-corners", float(rooms.min()), least, "mm", what, where)


def _square_corners(region: Polygon) -> Points:
    """The corners of a region into which pieces' corners go that are square or sharper."""
    found = []
    for part in shapely.get_parts(shapely.orient_polygons(region)):
        for ring in (part.exterior, *part.interiors):
            here = shapely.get_coordinates(ring)[:-1]
            back, on = np.roll(here, 1, axis=0) - here, np.roll(here, -1, axis=0) - here
            angles = np.arctan2(back[:, 1], back[:, 0]) - np.arctan2(on[:, 1], on[:, 0])
            inner = np.degrees(np.mod(angles, 2 * math.pi))
            found.append(here[inner < _SQUARE_DEGREES])
    return np.concatenate(found)


def _walls(part: BoardPart, above: list[Slab], region: BaseGeometry, profile: Profile) -> Finding:
    """The thinnest wall of the frame, straight in from its four sides, at every level.

    A line that gets to the region before it meets a wall has come in through the notch, or over
    the front: what it meets beyond is another side's wall.
    """
    box = shapely.box(*part.vertices[:, :2].min(axis=0), *part.vertices[:, :2].max(axis=0))
    sides = stops(box)
    # A little aside, so that no line runs along the side of a notch.
    starts = sides.points + _ASIDE_MM * np.column_stack(
        [-sides.outwards[:, 1], sides.outwards[:, 0]]
    )
    reach = float(np.linalg.norm(np.ptp(part.vertices[:, :2], axis=0)))
    inside = material_along(region, starts, -sides.outwards, reach)
    ends = [spans[0][0] if spans else reach for spans in inside]
    thin, where = math.inf, sides.points[0]
    for slab in above:
        for height in (slab.low_mm + _NEAR_END_MM, slab.high_mm - _NEAR_END_MM):
            section = part.sections.at(height)
            spans = material_along(section, starts, -sides.outwards, reach)
            for some, end, point in zip(spans, ends, sides.points, strict=True):
                if some and some[0][0] < end and some[0][1] - some[0][0] < thin:
                    thin, where = some[0][1] - some[0][0], point
    what = "the thinnest wall of the frame"
    return at_least("board-wall", thin, profile.board_wall_mm, "mm", what, spot(where))


def _floor(part: BoardPart, lattice: Lattice, region: BaseGeometry, profile: Profile) -> Finding:
    """The plastic below pieces, or below their seats, at the middle of every cell.

    A title may be engraved in the floor of a tray without a lid.
    """
    assert part.board is not None
    middles = middles_mm(lattice, part.board, part.unit_mm)
    floors = np.array(
        [
            heights[1] - heights[0] if len(heights) > 1 else 0.0
            for heights in surfaces_at(part.straight, middles)
        ]
    )
    least = profile.board_floor_mm
    if part.kind == TRAY and profile.lid == "none":
        engraved = floors < part.rest_mm - TOLERANCE_MM
        floors[engraved] += profile.title_depth_mm
    thin = int(np.argmin(floors))
    what = "the floor where it is thinnest"
    # Between the middles, too, nothing goes through.
    open_ = region - part.sections.at(min(least / 4, _NEAR_BED_MM))
    if open_.area > TOLERANCE_MM:
        return at_least("board-floor", 0.0, least, "mm", what, open_)
    return at_least("board-floor", float(floors[thin]), least, "mm", what, spot(middles[thin]))
