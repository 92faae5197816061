"""What each rule finds on one board or lid: its holes and channels or seats, its frame and floor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.frame import levels
from fabkit.drawing.outline import region_mm
from fabkit.mesh.boards.lids import lid_findings, partner_findings, partners
from fabkit.mesh.boards.recognise import (
    REACH_MM,
    cells_of,
    gaps,
    hole_at,
    material_along,
    middles_mm,
    posts_mm,
    round_holes,
    slabs,
    stops,
    surfaces_at,
    tops_at,
)
from fabkit.mesh.body import Points
from fabkit.mesh.features import Circle
from fabkit.mesh.finding import Finding, at_least, at_most, between, counted
from fabkit.mesh.identity import unsure
from fabkit.mesh.part import Part
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.model.accessory import HOLES, LID, SEATS, TRAY, board_kind
from fabkit.model.lattice import Lattice
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: Diameters, widths and depths are held to this, in mm, and places of holes to this.
TOLERANCE_MM, PLACE_MM = 0.02, 0.05
#: A hole drawn with straight edges, within the tolerances of exports, is this much narrower.
_CHORDS_MM = 0.02
#: Cuts lie this near (mm) to the ends of slabs, since walls may lean between two levels.
_NEAR_END_MM = 0.03
#: A seat must be deeper than its stub by this, in mm.
_BELOW_STUB_MM = 0.1
#: Boards explain a mesh equally well that are of one shape.
_ONE_SHAPE = 1e-6
#: A grid unit is right to this part, as that of pieces.
_UNIT = 0.002
#: Lines through walls lie this much (mm) off whole millimetres.
_ASIDE_MM = 0.0137
#: So high above the bed (mm) a floor has no holes.
_NEAR_BED_MM = 0.3
#: A corner is square, or sharper, up to this angle. A nozzle leaves it rounded; this part of its
#: width must be free beyond the clearance.
_SQUARE_DEGREES, _ROUNDED = 100.0, 0.25


def inspect_board(
    part: Part, parts: Sequence[Part], puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """What every rule says of one board or lid.

    Args:
        part: the board or lid.
        parts: all that were read with it, itself among them: its lid, or its board.
        puzzle: the set.
        profile: what is asked for.

    Returns:
        Findings in the order of the rules, those that are kept among them. What concerns a board
        and its lid together stands with the lid.
    """
    as_printed = replace(profile, facing="up", fit="none")
    # Nothing is closed in in a board, and it carries no letter that is asked for.
    findings = list(sound_findings(part))
    findings.append(_read(part, puzzle, profile))
    if part.board is not None:
        findings += partner_findings(part, parts, profile)
        if part.kind == LID:
            low_mm = levels(puzzle, profile).lid_low_mm
            for board in partners(part, parts)[:1]:
                findings += lid_findings(part, board, low_mm or board.sections.high, profile)
        else:
            findings += _Measured(part, puzzle.lattice, profile).findings()
    return findings + list(printing_findings(part, as_printed))


def _read(part: Part, puzzle: PuzzleSet, profile: Profile) -> Finding:
    """Whether it is a board of the set, of the right kind, or its lid."""
    if part.board is None:
        return Finding("board-read", False, None, None, "", f"cannot be read: {part.why}")
    asked, asked_mm = board_kind(puzzle, profile), profile.unit_mm
    what = f"{'the lid of ' if part.kind == LID else ''}the board {part.board.id}"
    if part.margin > _ONE_SHAPE and (found := unsure("board-read", part, what)):
        return found
    if part.kind not in (asked, LID):
        message = f"it is of kind {part.kind}; a board of {puzzle.name} is of kind {asked}"
        return Finding("board-read", False, None, None, "", message)
    if part.kind != LID and abs(part.unit_mm - asked_mm) > _UNIT * asked_mm:
        message = (
            f"it is {what}, with a unit of {part.unit_mm:.3f} mm; {asked_mm:g} mm is asked for"
        )
        return Finding("board-read", False, part.unit_mm, asked_mm, "mm", message)
    message = f"it is {what}, of kind {part.kind} (a match of {part.score:.0%}"
    message += f"; {part.second[0]} would be one of {part.second[1]:.0%})" if part.second else ")"
    return Finding("board-read", True, None, None, "", message)


def clearances_mm(part: Part, lattice: Lattice) -> tuple[float, float] | None:
    """The least and the greatest clearance between a board's region and its frame, as measured.

    Args:
        part: a board that could be read.
        lattice: the set's.

    Returns:
        None when there is no frame around it.
    """
    above = [slab for slab in slabs(part.sections) if slab.low_mm > part.rest_mm - 1e-3]
    if part.board is None or not above:
        return None
    region = region_mm(lattice, part.board.cells, part.unit_mm)
    away = gaps(part.sections.at(above[0].middle_mm), stops(region))
    near = away[np.isfinite(away)]
    return (float(near.min()), float(near.max())) if len(near) else None


def channel_widths_mm(part: Part, lattice: Lattice) -> list[float]:
    """How wide channels are halfway between each two neighbouring cells; 0 where there is none."""
    pairs = neighbours_mm(part, lattice)
    middles = np.array([(start + end) / 2 for start, end in pairs]).reshape(-1, 2)
    floor_mm = float(np.median(tops_at(part.straight, middles))) if pairs else 0.0
    cut, widths = part.sections.at((part.rest_mm + floor_mm) / 2), []
    for (start, end), middle in zip(pairs, middles, strict=True):
        along = (end - start) / np.linalg.norm(end - start)
        across = np.array([-along[1], along[0]])
        widths.append(_open_across(cut, middle, across, part.unit_mm))
    return widths


def _open_across(section: BaseGeometry, middle: Points, way: Points, reach_mm: float) -> float:
    """How wide it is open at a point, along a line both ways; 0 when there is material."""
    if section.contains(shapely.Point(middle)):
        return 0.0
    starts, ways = np.array([middle, middle]), np.array([way, -way])
    return float(np.minimum(material_along(section, starts, ways, reach_mm)[0], reach_mm).sum())


def neighbours_mm(part: Part, lattice: Lattice) -> list[tuple[Points, Points]]:
    """The middles of each two cells that share an edge, each pair once."""
    assert part.board is not None
    cells, middles = cells_of(part.board), middles_mm(lattice, part.board, part.unit_mm)
    edges = {edge: number for number, cell in enumerate(cells) for edge in lattice.cell_edges(cell)}
    pairs = [
        (number, edges[end, start])
        for (start, end), number in edges.items()
        if number < edges.get((end, start), -1)
    ]
    return [(middles[one], middles[other]) for one, other in sorted(pairs)]


def spot(middle: Points) -> BaseGeometry:
    """A place for a drawing."""
    return shapely.Point(middle).buffer(1.0)


def _worst(values: Iterable[float], asked: float) -> float:
    """The value that is farthest from what is asked; infinite without any."""
    return max(values, key=lambda value: abs(value - asked), default=math.inf)


@dataclass(frozen=True, eq=False)
class _Measured:
    """A board that could be read, no lid, held against a profile."""

    part: Part
    lattice: Lattice
    profile: Profile

    @cached_property
    def region(self) -> BaseGeometry:
        assert self.part.board is not None
        return region_mm(self.lattice, self.part.board.cells, self.part.unit_mm)

    @cached_property
    def middles(self) -> Points:
        assert self.part.board is not None
        return middles_mm(self.lattice, self.part.board, self.part.unit_mm)

    @cached_property
    def surfaces(self) -> list[list[float]]:
        """The heights of the surface over the middle of each cell."""
        return surfaces_at(self.part.straight, self.middles)

    def findings(self) -> Iterator[Finding]:
        """What the rules of its kind say, then those of frame and floor."""
        part, profile = self.part, self.profile
        if part.kind == HOLES:
            yield from self._holes()
        if part.kind == SEATS:
            yield from self._seats()
        above = [slab for slab in slabs(part.sections) if slab.low_mm > part.rest_mm - 1e-3]
        if above:
            low, high = above[0]
            yield self._opening((low + _NEAR_END_MM, high - _NEAR_END_MM))
            if profile.relief_mm and part.kind == TRAY:
                yield from self._corners((low + high) / 2)
            ends = [(one.low_mm + _NEAR_END_MM, one.high_mm - _NEAR_END_MM) for one in above]
            yield self._walls(list(itertools.chain(*ends)))
        if part.kind != HOLES:
            yield self._floor()

    def _off(
        self, rule: str, values: Sequence[float], asked_mm: float, what: str, places: Points
    ) -> Finding:
        """On the value that is farthest from what is asked, and where it is."""
        worst = _worst(values, asked_mm)
        at = list(values).index(worst) if len(values) else 0
        limit = (asked_mm - TOLERANCE_MM, asked_mm + TOLERANCE_MM)
        return between(rule, worst, limit, "mm", what, spot(places[at]) if len(places) else None)

    # --- round holes ----------------------------------------------------------------------

    def _holes(self) -> Iterator[Finding]:
        """On bores for balls, and channels for links."""
        part, profile = self.part, self.profile
        floor_mm = part.rest_mm - profile.link_mm / 2
        ends = itertools.chain(
            *(
                (one.low_mm + _NEAR_END_MM, one.high_mm - _NEAR_END_MM)
                for one in slabs(part.sections)
            )
        )
        heights = [height for height in ends if height < floor_mm - TOLERANCE_MM]
        yield from self._circles([*heights, floor_mm - _NEAR_END_MM], "hole", profile.hole_mm)
        off = np.abs(posts_mm(part, self.lattice) - part.rest_mm).max()
        what = "how far the highest or lowest post is from the others"
        yield at_most("board-posts", float(off), TOLERANCE_MM, "mm", what)
        yield from self._channels()
        # A ball one pitch below a seated one hangs free: above the table, and above any floor.
        floors = np.array([heights[-1] if heights else 0.0 for heights in self.surfaces])
        least = part.unit_mm + profile.ball_mm / 2
        what = "from the middle of a seated ball down to what is below it"
        room, where = part.rest_mm - float(floors.max()), spot(self.middles[floors.argmax()])
        yield at_least("board-depth", room, least, "mm", what, where)

    def _seats(self) -> Iterator[Finding]:
        """On seats for stubs. A cell without one is counted; the others tell the depth."""
        part, profile = self.part, self.profile
        tops = np.array([heights[-1] if heights else 0.0 for heights in self.surfaces])
        depths = part.rest_mm - tops
        depths[depths < TOLERANCE_MM] = math.inf
        there = depths[np.isfinite(depths)]
        low_mm = float(np.median(there)) if len(there) else 0.0
        heights = [part.rest_mm - low_mm + _NEAR_END_MM, part.rest_mm - _NEAR_END_MM]
        yield from self._circles(heights, "seat", profile.stub_mm + 2 * profile.seat_mm)
        least, where = profile.stub_height_mm + _BELOW_STUB_MM, spot(self.middles[depths.argmin()])
        depth = float(depths.min())
        yield at_least("board-seat-depth", depth, least, "mm", "the shallowest seat", where)

    def _circles(self, heights: Sequence[float], name: str, asked_mm: float) -> Iterator[Finding]:
        """Number, places and diameters of round holes, at every height at which they are cut.

        A hole is as wide as the largest cylinder that goes in, and as its widest diameter.
        """
        cuts = [round_holes(self.part.sections.at(height)) for height in heights]
        unit_mm, middles = self.part.unit_mm, self.middles
        found = [[hole_at(cut, middle, unit_mm) for middle in middles] for cut in cuts]
        missing = [
            spot(middle) for middle, *some in zip(middles, *found, strict=True) if None in some
        ]
        count = len(middles) - len(missing)
        count += max(0, max(map(len, cuts), default=0) - len(middles))
        what = f"{name}s that are round all the way, one for each cell"
        where = shapely.union_all(missing) if missing else None
        yield counted(f"board-{name}s", count, len(middles), what, where)
        holes = [
            (one, middle)
            for cut in found
            for one, middle in zip(cut, middles, strict=True)
            if one is not None
        ]
        widths = [_width_mm(one, asked_mm) for one, _ in holes]
        places = np.array([(one.x_mm, one.y_mm) for one, _ in holes])
        what = f"the diameter of the {name} that is farthest off"
        yield self._off(f"board-{name}-diameter", widths, asked_mm, what, places)
        off = np.hypot(*(places - [middle for _, middle in holes]).T) if holes else np.array([])
        what = f"how far the worst {name} is from the middle of its cell"
        worst, where = (off.max(), spot(places[off.argmax()])) if holes else (math.inf, None)
        yield at_most(f"board-{name}-place", float(worst), PLACE_MM, "mm", what, where)

    def _channels(self) -> Iterator[Finding]:
        """Channels are as wide and as deep as links need, from hole to hole."""
        part, profile = self.part, self.profile
        asked_mm, deep_mm = profile.link_mm + 2 * profile.channel_mm, profile.link_mm / 2
        pairs = neighbours_mm(part, self.lattice)
        if not pairs:
            return
        places = np.array([(start + end) / 2 for start, end in pairs])
        widths = channel_widths_mm(part, self.lattice)
        what = "the width of the channel that is farthest off"
        yield self._off("board-channels", widths, asked_mm, what, places)
        depths = (part.rest_mm - tops_at(part.straight, places)).tolist()
        what = "the depth below the posts of the channel that is farthest off"
        yield self._off("board-channel-depth", depths, deep_mm, what, places)
        lines, free_mm = shapely.linestrings(np.array(pairs)), asked_mm / 2 - TOLERANCE_MM
        lanes = shapely.union_all(shapely.buffer(lines, free_mm, cap_style="flat"))
        cuts = (part.rest_mm - deep_mm + TOLERANCE_MM, part.rest_mm - deep_mm / 2)
        inside = [part.sections.at(height) & lanes for height in cuts]
        inside = [one for one in inside if one.area > TOLERANCE_MM**2]
        what = "heights at which something stands in a channel"
        yield counted("board-channel-free", len(inside), 0, what, inside[0] if inside else None)

    # --- frame and floor ------------------------------------------------------------------

    def _opening(self, heights: Sequence[float]) -> Finding:
        """The clearance around the region, just above what pieces rest on, below the next level."""
        along = stops(self.region)
        found = [gaps(self.part.sections.at(height), along) for height in heights]
        away, places = np.concatenate(found), np.tile(along.points, (len(heights), 1))
        near = away < REACH_MM - 1e-6
        what = "the clearance between region and frame, where it is farthest off,"
        asked_mm = self.profile.board_clearance_mm
        return self._off("board-opening", away[near].tolist(), asked_mm, what, places[near])

    def _corners(self, height: float) -> Iterator[Finding]:
        """A piece's square corner goes into the region's, though a printer rounds the frame's."""
        corners = _square_corners(self.region)
        if len(corners):
            rooms = shapely.distance(shapely.points(corners), self.part.sections.at(height))
            least = self.profile.board_clearance_mm + _ROUNDED * self.profile.nozzle_mm
            what = "the room around the tightest corner of a piece"
            where = spot(corners[rooms.argmin()])
            yield at_least("board-corners", float(rooms.min()), least, "mm", what, where)

    def _walls(self, heights: Sequence[float]) -> Finding:
        """The thinnest wall of the frame, straight in from its four sides, at every level.

        A line that gets to the region before it meets a wall has come in through the notch, or
        over the front: what it meets beyond is another side's wall.
        """
        flat = self.part.vertices[:, :2]
        sides = stops(shapely.box(*flat.min(axis=0), *flat.max(axis=0)))
        inwards, reach = -sides.outwards, float(np.linalg.norm(np.ptp(flat, axis=0)))
        # A little aside, so that no line runs along the side of a notch.
        starts = sides.points + _ASIDE_MM * inwards[:, ::-1] * [1, -1]
        inside = np.minimum(material_along(self.region, starts, inwards, reach)[0], reach)
        thin, where = math.inf, sides.points[0]
        for height in heights:
            begin, end = material_along(self.part.sections.at(height), starts, inwards, reach)
            thick = np.where(begin < inside, end - begin, np.inf)
            if thick.min() < thin:
                thin, where = float(thick.min()), sides.points[thick.argmin()]
        what = "the thinnest wall of the frame"
        least = self.profile.board_wall_mm - 2 * self.part.sections.noise_mm
        return at_least("board-wall", thin, least, "mm", what, spot(where))

    def _floor(self) -> Finding:
        """The plastic below pieces, or below their seats, at the middle of every cell.

        A title may be engraved in the floor of a tray without a lid.
        """
        part, least = self.part, self.profile.board_floor_mm
        some = [heights[1] - heights[0] if len(heights) > 1 else 0.0 for heights in self.surfaces]
        floors, what = np.array(some), "the floor where it is thinnest"
        if part.kind == TRAY and self.profile.lid == "none":
            floors[floors < part.rest_mm - TOLERANCE_MM] += self.profile.title_depth_mm
        # Between the middles, too, nothing goes through.
        open_ = self.region - part.sections.at(min(least / 4, _NEAR_BED_MM))
        if open_.area > TOLERANCE_MM:
            return at_least("board-floor", 0.0, least, "mm", what, open_)
        where, least = spot(self.middles[floors.argmin()]), least - 2 * part.sections.noise_mm
        return at_least("board-floor", float(floors.min()), least, "mm", what, where)


def _width_mm(hole: Circle, asked_mm: float) -> float:
    """How wide a hole is where it is farthest off: the cylinder that goes in, or its widest."""
    widths = (hole.inner_mm, hole.diameter_mm, hole.outer_mm)
    return _worst(
        [one for one in widths if abs(one - hole.diameter_mm) > _CHORDS_MM] or [hole.diameter_mm],
        asked_mm,
    )


def _square_corners(region: Polygon) -> Points:
    """The corners of a region into which pieces' corners go that are square or sharper."""
    found = []
    for part in shapely.get_parts(shapely.orient_polygons(region)):
        for ring in (part.exterior, *part.interiors):
            here = shapely.get_coordinates(ring)[:-1]
            back, on = np.roll(here, 1, axis=0) - here, np.roll(here, -1, axis=0) - here
            angles = np.arctan2(back[:, 1], back[:, 0]) - np.arctan2(on[:, 1], on[:, 0])
            found.append(here[np.degrees(np.mod(angles, 2 * math.pi)) < _SQUARE_DEGREES])
    return np.concatenate(found)
