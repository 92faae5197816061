"""Rules on boards and lids: holes and channels or sockets, frame and floor; and whether a lid fits its
board, can be closed, stays closed, and withstands the bending.

A plain lid slides in, one with tongues is turned over and pressed down. Both are moved in steps of
half a millimetre, and at each step the volume of the overlap is measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.frame import levels
from fabkit.drawing.boards.lids import MAX_STRAIN
from fabkit.drawing.outline import corner_angles, mitre_offset, region_mm
from fabkit.mesh.board_fit import (
    ZRange,
    cell_centres_mm,
    centres_of,
    edge_samples,
    hole_at,
    post_heights_mm,
    raycast,
    round_holes,
    surface_heights,
    top_heights,
    wall_distances,
    z_ranges,
)
from fabkit.mesh.features import FittedCircle
from fabkit.mesh.finding import Finding, check_limits, count_finding
from fabkit.mesh.identity import ambiguity_finding
from fabkit.mesh.mesh import Points
from fabkit.mesh.part import Part
from fabkit.mesh.rules.board_text import text_findings
from fabkit.mesh.rules.joint import joint_findings
from fabkit.mesh.rules.outline import UNIT_TOLERANCE, near
from fabkit.mesh.rules.surface import mesh_findings, printing_findings
from fabkit.mesh.section import UP
from fabkit.model.lattice import Lattice
from fabkit.model.puzzle import Board, PuzzleSet
from fabkit.profiles.accessory import HOLES, LID, SOCKETS, TRAY, board_kind, has_texts
from fabkit.profiles.profile import Profile

#: Tolerance in mm of diameters, widths and depths.
TOLERANCE_MM = 0.02
#: Tolerance in mm of the places of holes.
PLACE_MM = 0.05
#: A hole drawn with straight edges, within the tolerances of exports, is this much narrower.
_CHORDS_MM = 0.02
#: Half the widest gap (mm) between two parts that is no fault of the board.
_HALF_GAP_MM = 0.55
#: The distance (mm) of sections from the ends of ranges of height.
_NEAR_END_MM = 0.03
#: The steps of a lid's path (mm).
_STEP_MM = 0.5
#: Tolerance (mm) of how far a lid catches.
_CATCH_MM = 0.03
#: A closed lid catches within this distance (mm) of its end.
_CATCH_WITHIN_MM = 25.0
#: A lid is placed this much (mm) above its support, since touching faces overlap in single precision.
_ABOVE_MM = 0.005
#: How far below the lid the board is considered, and the hooks' path.
_BELOW_MM = 1.0
#: Smaller overlaps (mm3) are due to single precision.
_TINY_MM3 = 0.01


def inspect_board(
    part: Part, others: Sequence[Part], puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """All findings on one board or lid, in the order of the rules.

    Findings on a board with its lid are with the lid. Its counterpart is searched in `others`, all
    boards and lids of the scan.
    """
    printed = part.parts or (part,)
    findings = [finding for piece in printed for finding in mesh_findings(piece)]
    findings.append(_board_finding(part, puzzle, profile))
    if part.parts:
        findings += joint_findings(part.parts, profile)
    if part.board is not None:
        is_lid, name = part.kind == LID, part.board.id
        of_board = [other for other in others if other.board == part.board]
        same = [other for other in of_board if (other.kind == LID) != is_lid]
        if is_lid:
            findings.append(count_finding("lid-board", len(same), 1, f"boards {name} for this lid"))
            for board in same[:1]:
                low_mm = levels(puzzle, profile).lid_low_mm or board.sections.high
                findings += _lid_findings(part, board, low_mm, profile)
        else:
            if profile.lid != "none":
                what = f"lids for the board {name}"
                findings.append(count_finding("board-lid", len(same), 1, what))
            findings += _board_findings(part, part.board, puzzle.lattice, profile)
    # A board has no closed cavities, and needs no letter.
    as_printed = replace(profile, facing="up", fit="none")
    return findings + [
        finding for piece in printed for finding in printing_findings(piece, as_printed)
    ]


def _board_finding(part: Part, puzzle: PuzzleSet, profile: Profile) -> Finding:
    """The finding on whether it is a board of the set, of the right kind, or its lid."""
    if part.board is None:
        message = f"it cannot be identified: {part.reason}"
        return Finding("board-read", False, None, None, "", message)
    kind, unit_mm = board_kind(puzzle, profile), profile.unit_mm
    what = f"{'the lid of ' if part.kind == LID else ''}the board {part.board.id}"
    # Boards of one shape explain a mesh equally well.
    if part.margin > 1e-6 and (ambiguity := ambiguity_finding("board-read", part, what)):
        return ambiguity
    if part.kind not in (kind, LID):
        message = f"it is of kind {part.kind}; expected kind {kind} for {puzzle.name}"
        return Finding("board-read", False, None, None, "", message)
    if part.kind != LID and abs(part.unit_mm - unit_mm) > UNIT_TOLERANCE * unit_mm:
        message = f"it is {what}, with a unit of {part.unit_mm:.3f} mm; expected {unit_mm:g} mm"
        return Finding("board-read", False, part.unit_mm, unit_mm, "mm", message)
    message = f"it is {what}, of kind {part.kind} (a match of {part.score:.0%}"
    message += (
        f"; {part.runner_up[0]} would be one of {part.runner_up[1]:.0%})" if part.runner_up else ")"
    )
    return Finding("board-read", True, None, None, "", message)


def clearances_mm(part: Part, lattice: Lattice) -> tuple[Points, Points]:
    """The clearances around a board's region just above where pieces rest, and their places."""
    assert part.board is not None
    points, outwards = edge_samples(region_mm(lattice, part.board.cells, part.unit_mm))
    cuts = [_without_joints(part, height) for height in _near_ends(_above(part)[:1])]
    away = np.ravel([wall_distances(cut, points, outwards) for cut in cuts])
    return away[np.isfinite(away)], np.tile(points, (len(cuts), 1))[np.isfinite(away)]


def _above(part: Part) -> list[ZRange]:
    """The ranges of height above what pieces rest on."""
    return [slab for slab in z_ranges(part.sections) if slab.low_mm > part.rest_mm - 1e-3]


def channel_widths_mm(part: Part, lattice: Lattice) -> list[float]:
    """The widths of channels about halfway between neighbouring cells; 0 where there is none."""
    starts, ends = _neighbours_mm(part, lattice)
    if not len(starts):
        return []
    middles, along = _halfway(starts, ends), ends - starts
    floor_mm = float(np.median(top_heights(part.aligned, middles)))
    cut, reach_mm = _without_joints(part, (part.rest_mm + floor_mm) / 2), part.unit_mm
    across = along[:, ::-1] * [-1, 1] / np.linalg.norm(along, axis=1)[:, None]
    sides = [raycast(cut, middles, direction, reach_mm)[0] for direction in (across, -across)]
    widths = np.minimum(sides, reach_mm).sum(axis=0)
    return [float(width) for width in np.where(shapely.contains_xy(cut, *middles.T), 0.0, widths)]


def _neighbours_mm(part: Part, lattice: Lattice) -> Points:
    """The middles of all pairs of neighbouring cells, shape (2, n, 2)."""
    assert part.board is not None
    middles = cell_centres_mm(lattice, part.board, part.unit_mm)
    away = np.linalg.norm(middles[:, None] - middles, axis=2)
    return middles[np.argwhere(np.triu(away < 1.1 * part.unit_mm, 1)).T]


def _halfway(starts: Points, ends: Points) -> Points:
    """Points about halfway between others: exactly there two parts of a board may join."""
    return starts + 0.55 * (ends - starts)


def _board_findings(
    part: Part, board: Board, lattice: Lattice, profile: Profile
) -> Iterator[Finding]:
    """Findings on a fitted board: first those of its kind, then those on frame and floor."""
    sections, above = part.sections, _above(part)
    region = region_mm(lattice, board.cells, part.unit_mm)
    middles = cell_centres_mm(lattice, board, part.unit_mm)
    surfaces = surface_heights(part.aligned, middles)
    depths = part.rest_mm - np.array([heights[-1] if heights else 0.0 for heights in surfaces])
    if part.kind == HOLES:
        floor_mm = part.rest_mm - profile.link_mm / 2  # of the channels for links
        ends = _near_ends(z_ranges(part.sections))
        heights = [height for height in ends if height < floor_mm - TOLERANCE_MM]
        heights.append(floor_mm - _NEAR_END_MM)
        yield from _circles(part, middles, heights, "hole", profile.hole_mm)
        off = float(np.abs(post_heights_mm(part, lattice) - part.rest_mm).max())
        yield from check_limits("board-posts", off, maximum=TOLERANCE_MM)
        yield from _channels(part, lattice, profile)
        # A ball one pitch below an inserted one hangs freely: above the table, and above any floor.
        yield from _worst("board-depth", depths, middles, part.unit_mm + profile.ball_mm / 2)
    if part.kind == SOCKETS:
        # A cell without a socket counts; the others determine the depth.
        depths[depths < TOLERANCE_MM] = math.inf
        sockets = depths[np.isfinite(depths)]
        depth_mm = float(np.median(sockets)) if len(sockets) else 0.0
        heights = [part.rest_mm - depth_mm + _NEAR_END_MM, part.rest_mm - _NEAR_END_MM]
        asked_mm = profile.peg_mm + 2 * profile.socket_mm
        yield from _circles(part, middles, heights, "socket", asked_mm)
        yield from _worst("board-socket-depth", depths, middles, profile.peg_height_mm + 0.1)
    if above:
        limits = near(profile.board_clearance_mm, TOLERANCE_MM)
        yield from _worst("board-opening", *clearances_mm(part, lattice), *limits)
        if profile.relief_mm and part.kind == TRAY:
            yield from _corners(region, sections.at(above[0].middle_mm), profile)
        yield from _walls(part, region, _near_ends(above), profile)
    if part.kind != HOLES:
        # The plastic below pieces, or below their sockets, at the middle of every cell.
        floor_mm = profile.board_floor_mm
        floors = np.array([z[1] - z[0] if len(z) > 1 else 0.0 for z in surfaces])
        has_text = has_texts(part.kind, board, profile)
        if part.kind == TRAY and (
            has_text or profile.lid == "none"
        ):  # a title may be engraved in it
            engraved_mm = profile.text_depth_mm if has_text else profile.title_depth_mm
            floors[floors < part.rest_mm - TOLERANCE_MM] += engraved_mm
        # Nothing goes through between the middles either, near the bed.
        open_ = region - _without_joints(part, min(floor_mm / 4, 0.3))
        if open_.area > TOLERANCE_MM:
            yield from check_limits("board-floor", [(0.0, open_)], floor_mm)
        else:
            yield from _worst("board-floor", floors, middles, floor_mm - 2 * sections.noise_mm)
        if has_text:
            yield from text_findings(part, lattice, profile)


def _circles(
    part: Part, middles: Points, heights: Sequence[float], name: str, asked_mm: float
) -> Iterator[Finding]:
    """Findings on the number, places and diameters of round holes, at all of the given heights."""
    cuts = [round_holes(part.sections.at(height)) for height in heights]
    cells = [(middle, [hole_at(cut, middle, part.unit_mm) for cut in cuts]) for middle in middles]
    missing = [middle for middle, holes in cells if None in holes]
    count = len(cells) - len(missing) + max(0, max(map(len, cuts)) - len(cells))
    what = f"round {name}s, one for each cell"
    where = shapely.MultiPoint(missing).buffer(1.0) if missing else None
    yield count_finding(f"board-{name}s", count, len(cells), what, where)
    found_holes = [hole for _, holes in cells for hole in holes if hole]
    wanted = [middle for middle, holes in cells for hole in holes if hole]
    widths = [_width_mm(hole, asked_mm) for hole in found_holes]
    places = centres_of(found_holes)
    yield from _worst(f"board-{name}-diameter", widths, places, *near(asked_mm, TOLERANCE_MM))
    off = np.linalg.norm(places - np.reshape(wanted, (-1, 2)), axis=1)
    yield from _worst(f"board-{name}-place", off, places, maximum=PLACE_MM)


def _channels(part: Part, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """Findings on channels: as wide and deep as links need, from hole to hole."""
    asked_mm, deep_mm = profile.link_mm + 2 * profile.channel_mm, profile.link_mm / 2
    starts, ends = _neighbours_mm(part, lattice)
    if not len(starts):
        return
    places, widths = _halfway(starts, ends), channel_widths_mm(part, lattice)
    yield from _worst("board-channels", widths, places, *near(asked_mm, TOLERANCE_MM))
    depths = part.rest_mm - top_heights(part.aligned, places)
    yield from _worst("board-channel-depth", depths, places, *near(deep_mm, TOLERANCE_MM))
    lines = shapely.linestrings(np.stack([starts, ends], axis=1))
    lanes = shapely.buffer(lines, asked_mm / 2 - TOLERANCE_MM, cap_style="flat")
    cuts = (part.rest_mm - deep_mm + TOLERANCE_MM, part.rest_mm - deep_mm / 2)
    inside = [part.sections.at(height) & shapely.union_all(lanes) for height in cuts]
    inside = [cut for cut in inside if cut.area > TOLERANCE_MM**2]
    what = "cross-sections of channels with something inside"
    yield count_finding("board-channel-free", len(inside), 0, what, inside[0] if inside else None)


def _corners(region: BaseGeometry, cut: BaseGeometry, profile: Profile) -> Iterator[Finding]:
    """The finding on whether square corners of pieces fit, although a printer rounds the frame's."""
    corners = [here for here, inside in corner_angles(region) if inside < math.radians(100)]
    if corners:
        # A quarter of the radius that the nozzle leaves must be free beyond the clearance.
        minimum_mm = profile.board_clearance_mm + profile.nozzle_mm / 4
        rooms = shapely.distance(shapely.points(corners), cut)
        yield from _worst("board-corners", rooms, corners, minimum_mm)


def _walls(
    part: Part, region: BaseGeometry, heights: Sequence[float], profile: Profile
) -> Iterator[Finding]:
    """The finding on the thinnest wall of the frame, straight in from its four sides at all heights."""
    flat = part.vertices[:, :2]
    points, outwards = edge_samples(shapely.box(*flat.min(axis=0), *flat.max(axis=0)))
    inwards, reach = -outwards, float(np.linalg.norm(np.ptp(flat, axis=0)))
    # Slightly offset, so that no line runs along the side of a notch.
    starts = points + 0.0137 * inwards[:, ::-1] * [1, -1]
    inside = raycast(region, starts, inwards, reach)[0]
    cuts = [_without_joints(part, height) for height in heights]
    walls = [raycast(cut, starts, inwards, reach) for cut in cuts]
    # A ray that reaches the region first came through the notch: beyond is another wall.
    thick = [np.where(begin < inside, wide, np.inf) for begin, wide in walls]
    minimum_mm = profile.board_wall_mm - 2 * part.sections.noise_mm
    yield from _worst("board-wall", np.ravel(thick), np.tile(points, (len(cuts), 1)), minimum_mm)


def _without_joints(part: Part, height_mm: float) -> BaseGeometry:
    """The section of a board at a height, the gaps between parts that join closed."""
    section = part.sections.at(height_mm)
    if not part.parts:
        return section
    return mitre_offset(mitre_offset(section, _HALF_GAP_MM), -_HALF_GAP_MM)


def _worst(
    rule: str, values: Any, places: Any, minimum: float = -math.inf, maximum: float = math.inf
) -> Iterator[Finding]:
    """The finding on the worst of several lengths, each with its place; it fails if there are
    none."""
    measured = list(zip(np.asarray(values).tolist(), shapely.points(places), strict=True))
    for finding in check_limits(rule, measured or [(math.inf, None)], minimum, maximum):
        yield replace(finding, where=finding.where.buffer(1.0) if finding.where else None)


def _near_ends(ranges: Iterable[ZRange]) -> list[float]:
    """The heights near both ends of ranges, since walls may lean between two levels."""
    ends = ((z_range.low_mm, z_range.high_mm) for z_range in ranges)
    return [mm for low, high in ends for mm in (low + _NEAR_END_MM, high - _NEAR_END_MM)]


def _width_mm(hole: FittedCircle, asked_mm: float) -> float:
    """The width of a hole that deviates most: the cylinder that fits in, or its largest width."""
    widths = [hole.inner_mm, hole.outer_mm]
    far = [width for width in widths if abs(width - hole.diameter_mm) > _CHORDS_MM]
    return max(far or [hole.diameter_mm], key=lambda width: abs(width - asked_mm))


# --- lids ---------------------------------------------------------------------------------


def _lid_findings(lid: Part, board: Part, lid_low_mm: float, profile: Profile) -> Iterator[Finding]:
    """All findings on a lid with its board; its underside should be at `lid_low_mm`."""
    sockets = [
        height
        for (height, facing), area in board.sections.flats().items()
        if facing == UP and area > 10 and height > board.rest_mm + _BELOW_MM
    ]
    is_solid = lid.aligned.is_solid and board.aligned.is_solid
    if not sockets or not is_solid:
        why = "the board has no level face above its pieces for a lid to rest on"
        why = why if is_solid else "board and lid cannot be assembled: one of them is not closed"
        yield Finding("lid-fits", False, None, _TINY_MM3, "mm3", why)
        return
    socket_mm = min(sockets, key=lambda height: abs(height - lid_low_mm))
    motion = _LidMotion(board, lid, socket_mm)
    # There is room for the pieces, and some air, below the lid.
    pieces = profile.ball_mm / 2 if board.kind == HOLES else profile.thickness_mm
    air_mm = socket_mm - board.rest_mm - pieces
    yield from check_limits("board-height", air_mm, profile.lid_air_mm - motion.noise_mm)
    yield from check_limits("lid-fits", motion.overlap_mm3(), maximum=_TINY_MM3, unit="mm3")
    yield from motion.snap_findings(profile) if motion.snaps else motion.slide_findings(profile)
    yield from check_limits("lid-held", motion.lifted_mm3(motion.inserted), 1.0, unit="mm3")


class _LidMotion:
    """A lid placed on its board at a height, in the rotation that fits best, and its motions."""

    def __init__(self, board: Part, lid: Part, socket_mm: float) -> None:
        import manifold3d

        self.board, self.lid = board, lid
        sections = lid.sections
        self.noise_mm = 2 * (board.sections.noise_mm + sections.noise_mm)
        # The plate extends up to the largest level face that faces up.
        flats = sections.flats().items()
        tops = [(area, height) for (height, facing), area in flats if facing == UP]
        self.plate_mm = max(tops, default=(0.0, sections.high))[1]
        # A lid with tongues is pressed on; most of it is missing halfway up.
        plain = sections.at(z_ranges(sections)[0].middle_mm)
        self.snaps = bool(sections.at(sections.high / 2).area < plain.area / 2)
        below_mm = _BELOW_MM + (sections.high - self.plate_mm if self.snaps else 0.0)
        self._near = board.aligned.manifold.trim_by_plane((0, 0, 1), socket_mm - below_mm)
        self._low_mm = socket_mm + _ABOVE_MM + self.noise_mm
        middle = np.append((lid.vertices.min(axis=0) + lid.vertices.max(axis=0))[:2] / 2, 0.0)
        # A title, which is filled, touches nothing. The rim is wider than the plate: edges may be
        # inclined.
        size = np.ptp(lid.vertices, axis=0) - 2 * (self.plate_mm + 2)
        size[2] = self.plate_mm
        filling = manifold3d.Manifold.cube(np.maximum(size, 0).tolist(), center=True)
        solid = lid.aligned.manifold.translate((-middle).tolist())
        solid += filling.translate((0.0, 0.0, self.plate_mm / 2))
        if self.snaps:
            solid = solid.rotate((180.0, 0.0, 0.0)).translate((0.0, 0.0, self.plate_mm))
        # Its centre is that of the region, scaled by the lid's unit.
        place = [*(board.unit_mm / lid.unit_mm * middle[:2]).tolist(), self._low_mm]
        turned = [solid.rotate((0, 0, 90 * turns)).translate(place) for turns in range(4)]
        overlaps = [self.overlap_mm3(lid=solid) for solid in turned]
        # Some lids fit their board in several orientations; they are held in one of them.
        free = [turned[i] for i, overlap_mm3 in enumerate(overlaps) if overlap_mm3 <= _TINY_MM3]
        self.inserted = max(free or [turned[int(np.argmin(overlaps))]], key=self.lifted_mm3)

    def overlap_mm3(self, x: float = 0, y: float = 0, up: float = 0, lid: Any = None) -> float:
        """The overlap of the board with the lid, or another solid, after a translation."""
        moved = (lid or self.inserted).translate((x, y, up))
        return max(0.0, float((self._near ^ moved).volume()))

    def lifted_mm3(self, lid: Any) -> float:
        """The largest overlap of a lid lifted straight up by up to 2 mm."""
        return max(self.overlap_mm3(up=up, lid=lid) for up in (0.5, 1.0, 1.5, 2.0))

    def slide_findings(self, profile: Profile) -> Iterator[Finding]:
        """Findings on a sliding lid on its path to the side with the least overlap.

        Its bumps catch in the frame: both halves give way by that much, and nothing else overlaps.
        """
        sides = ((0, -1), (0, 1), (-1, 0), (1, 0))
        x, y = min(sides, key=lambda side: self.overlap_mm3(5 * side[0], 5 * side[1]))
        far = float(np.ptp(self.board.vertices[:, 0 if x else 1]))
        steps = np.arange(_STEP_MM, far + _STEP_MM, _STEP_MM).tolist()
        tolerance_mm = TOLERANCE_MM + self.noise_mm
        free = self._narrowed(x, profile.detent_mm + tolerance_mm) if profile.detent_mm else None
        overlaps_mm3 = {
            out_mm: self.overlap_mm3(x * out_mm, y * out_mm, lid=free) for out_mm in steps
        }
        worst_mm = max(overlaps_mm3, key=overlaps_mm3.__getitem__)
        worst_mm3 = overlaps_mm3[worst_mm]
        what = f"the overlap of lid and board along its path, {worst_mm:g} mm before its end,"
        yield from check_limits("lid-path", worst_mm3, maximum=_TINY_MM3, unit="mm3", what=what)
        if profile.detent_mm:
            caught_mm = self._caught_mm(x, y, steps)
            limits = near(profile.detent_mm, _CATCH_MM + self.noise_mm)
            yield from check_limits("lid-detent", caught_mm, *limits)

    def _narrowed(self, x: int, by_mm: float) -> Any:
        """A sliding lid with both halves closer to its middle; it slides along x unless that is 0."""
        across = (0.0, 1.0, 0.0) if x else (1.0, 0.0, 0.0)
        low, high = np.reshape(self.inserted.bounding_box(), (2, 3))
        shift = np.multiply(across, by_mm)
        halves = self.inserted.split_by_plane(across, float((low + high) @ across) / 2)
        # The first half is on the side that the plane's normal points to.
        return halves[0].translate((-shift).tolist()) + halves[1].translate(shift.tolist())

    def _caught_mm(self, x: int, y: int, steps: Sequence[float]) -> float:
        """How far both halves of a sliding lid have to give way where it overlaps the frame most."""
        near_end = [mm for mm in steps if mm <= _CATCH_WITHIN_MM]
        out_mm = max(near_end, key=lambda mm: self.overlap_mm3(x * mm, y * mm))
        low_mm, high_mm = 0.0, 1.5
        if self.overlap_mm3(x * out_mm, y * out_mm) <= _TINY_MM3:
            return low_mm
        while high_mm - low_mm > TOLERANCE_MM / 10:
            middle_mm = (low_mm + high_mm) / 2
            narrowed = self._narrowed(x, middle_mm)
            is_free = self.overlap_mm3(x * out_mm, y * out_mm, lid=narrowed) <= _TINY_MM3
            low_mm, high_mm = (low_mm, middle_mm) if is_free else (middle_mm, high_mm)
        return high_mm

    def snap_findings(self, profile: Profile) -> Iterator[Finding]:
        """Findings on a snap lid: only hooks touch the board, and they bend within their limit.

        They bend by as much as they overlap the frame. Their strain is 1.5 t y / l^2 of each
        tongue (Bayer, Snap-fit joints for plastics), as measured.
        """
        plate, tongues = self.inserted.split_by_plane((0.0, 0.0, 1.0), self._low_mm)
        bent_mm, most_mm3 = 0.0, 0.0
        far = self.lid.sections.high - self.plate_mm + _STEP_MM
        for up in np.arange(far, 0.0, -_STEP_MM).tolist():
            most_mm3 = max(most_mm3, self.overlap_mm3(up=up, lid=plate))
            for hook in (self._near ^ tongues.translate((0.0, 0.0, up))).decompose():
                if hook.volume() >= _TINY_MM3:
                    low, high = np.reshape(hook.bounding_box(), (2, 3))
                    bent_mm = max(bent_mm, float((high - low)[:2].min()))
        if most_mm3 > _TINY_MM3:
            message = f"the plate of the lid overlaps the board by {most_mm3:.3f} mm3 on its way"
            message += " down"
            yield Finding("lid-path", False, most_mm3, _TINY_MM3, "mm3", message)
        else:
            what = "the bending of a hook on the lid's way down"
            limit_mm = profile.snap_mm + 0.02
            yield from check_limits("lid-path", bent_mm, maximum=limit_mm, what=what)
        yield from check_limits("lid-detent", bent_mm, *near(profile.snap_mm, _CATCH_MM))
        strains = [(1.5 * thick * bent_mm / long**2, None) for thick, long in self._tongues()]
        yield from check_limits("lid-strain", strains or 0.0, maximum=MAX_STRAIN, unit="")

    def _tongues(self) -> Iterator[tuple[float, float]]:
        """The thickness of each tongue, and its length from the plate to the tip of its hook."""
        plate_mm, high_mm = self.plate_mm, self.lid.sections.high
        above = self.lid.aligned.manifold.trim_by_plane((0.0, 0.0, 1.0), plate_mm + _ABOVE_MM)
        for tongue in above.decompose():
            # A third of the way up the tongue is plain; its hook, at its end, has the tip.
            plain = tongue.slice(plate_mm + (high_mm - plate_mm) / 3)
            if not plain.is_empty():
                low, high = np.reshape(plain.bounds(), (2, 2))
                across = int(np.argmin(high - low))
                corners = np.asarray(tongue.to_mesh().vert_properties, float)
                out = np.abs(corners[:, across] - (low + high)[across] / 2)
                tip_mm = corners[out > out.max() - 0.01, 2].min()
                yield float((high - low)[across]), float(tip_mm) - plate_mm
