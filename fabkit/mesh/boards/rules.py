"""What each rule finds on one board or lid: its holes and channels or seats, its frame and floor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.frame import levels
from fabkit.drawing.outline import angle, region_mm, rings_mm, triples
from fabkit.mesh.boards.lids import lid_findings, partner_findings, partners
from fabkit.mesh.boards.recognise import (
    REACH_MM,
    Slab,
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
from fabkit.mesh.rules.outline import UNIT_TOLERANCE
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.mesh.section import parts
from fabkit.model.accessory import HOLES, LID, SEATS, TRAY, board_kind
from fabkit.model.lattice import Lattice
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: Diameters, widths and depths are held to this, in mm, and places of holes to this.
TOLERANCE_MM, PLACE_MM = 0.02, 0.05
#: A hole drawn with straight edges, within the tolerances of exports, is this much narrower.
_CHORDS_MM = 0.02
#: Cuts lie this near (mm) to the ends of slabs.
_NEAR_END_MM = 0.03


def inspect_board(
    part: Part, parts: Sequence[Part], puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """What every rule says of one board or lid, in the order of the rules.

    What concerns a board and its lid together stands with the lid, which is found, as is the board
    of a lid, among all parts that were read with it.
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
    # Boards of one shape explain a mesh equally well.
    if part.margin > 1e-6 and (found := unsure("board-read", part, what)):
        return found
    if part.kind not in (asked, LID):
        message = f"it is of kind {part.kind}; a board of {puzzle.name} is of kind {asked}"
        return Finding("board-read", False, None, None, "", message)
    if part.kind != LID and abs(part.unit_mm - asked_mm) > UNIT_TOLERANCE * asked_mm:
        message = (
            f"it is {what}, with a unit of {part.unit_mm:.3f} mm; {asked_mm:g} mm is asked for"
        )
        return Finding("board-read", False, part.unit_mm, asked_mm, "mm", message)
    message = f"it is {what}, of kind {part.kind} (a match of {part.score:.0%}"
    message += f"; {part.second[0]} would be one of {part.second[1]:.0%})" if part.second else ")"
    return Finding("board-read", True, None, None, "", message)


def clearances_mm(part: Part, lattice: Lattice) -> tuple[float, float] | None:
    """The least and the greatest clearance between a board's region and its frame, if it has one."""
    above = _above(part)
    if part.board is None or not above:
        return None
    region = region_mm(lattice, part.board.cells, part.unit_mm)
    away = gaps(part.sections.at(above[0].middle_mm), *stops(region))
    near = away[np.isfinite(away)]
    return (float(near.min()), float(near.max())) if len(near) else None


def _above(part: Part) -> list[Slab]:
    """The slabs above what pieces rest on."""
    return [slab for slab in slabs(part.sections) if slab.low_mm > part.rest_mm - 1e-3]


def channel_widths_mm(part: Part, lattice: Lattice) -> list[float]:
    """How wide channels are halfway between each two neighbouring cells; 0 where there is none."""
    starts, ends = _neighbours_mm(part, lattice)
    if not len(starts):
        return []
    middles, along = (starts + ends) / 2, ends - starts
    floor_mm = float(np.median(tops_at(part.straight, middles)))
    cut, reach_mm = part.sections.at((part.rest_mm + floor_mm) / 2), part.unit_mm
    across = along[:, ::-1] * [-1, 1] / np.linalg.norm(along, axis=1)[:, None]
    sides = [material_along(cut, middles, way, reach_mm)[0] for way in (across, -across)]
    widths = np.minimum(sides, reach_mm).sum(axis=0)
    return [float(one) for one in np.where(shapely.contains_xy(cut, *middles.T), 0.0, widths)]


def _neighbours_mm(part: Part, lattice: Lattice) -> tuple[Points, Points]:
    """The middles of each two cells that share an edge, each pair once; both of shape (n, 2)."""
    assert part.board is not None
    cells, middles = cells_of(part.board), middles_mm(lattice, part.board, part.unit_mm)
    edges = {edge: number for number, cell in enumerate(cells) for edge in lattice.cell_edges(cell)}
    pairs = [(one, edges.get((end, start), -1)) for (start, end), one in edges.items()]
    found = np.array(sorted(pair for pair in pairs if pair[0] < pair[1]), int).reshape(-1, 2)
    return middles[found[:, 0]], middles[found[:, 1]]


class _Measured:
    """A board that could be read, no lid, held against a profile."""

    def __init__(self, part: Part, lattice: Lattice, profile: Profile) -> None:
        assert part.board is not None
        self.part, self.lattice, self.profile = part, lattice, profile
        self.region = region_mm(lattice, part.board.cells, part.unit_mm)
        self.middles = middles_mm(lattice, part.board, part.unit_mm)
        surfaces = surfaces_at(part.straight, self.middles)
        self.tops = np.array([heights[-1] if heights else 0.0 for heights in surfaces])
        self.floors = np.array([one[1] - one[0] if len(one) > 1 else 0.0 for one in surfaces])

    def findings(self) -> Iterator[Finding]:
        """What the rules of its kind say, then those of frame and floor."""
        part, above = self.part, _above(self.part)
        if part.kind == HOLES:
            yield from self._holes()
        if part.kind == SEATS:
            yield from self._seats()
        if above:
            yield self._opening(_near_ends(above[:1]))
            if self.profile.relief_mm and part.kind == TRAY:
                yield from self._corners(above[0].middle_mm)
            yield self._walls(_near_ends(above))
        if part.kind != HOLES:
            yield self._floor()

    def _holes(self) -> Iterator[Finding]:
        """On bores for balls, and channels for links."""
        part, profile = self.part, self.profile
        floor_mm = part.rest_mm - profile.link_mm / 2
        ends = _near_ends(slabs(part.sections))
        heights = [height for height in ends if height < floor_mm - TOLERANCE_MM]
        yield from self._circles([*heights, floor_mm - _NEAR_END_MM], "hole", profile.hole_mm)
        off = np.abs(posts_mm(part, self.lattice) - part.rest_mm).max()
        what = "how far the highest or lowest post is from the others"
        yield at_most("board-posts", float(off), TOLERANCE_MM, "mm", what)
        yield from self._channels()
        # A ball one pitch below a seated one hangs free: above the table, and above any floor.
        least = part.unit_mm + profile.ball_mm / 2
        what = "from the middle of a seated ball down to what is below it"
        yield _least("board-depth", part.rest_mm - self.tops, least, what, self.middles)

    def _seats(self) -> Iterator[Finding]:
        """On seats for stubs. A cell without one is counted; the others tell the depth."""
        part, profile = self.part, self.profile
        depths = part.rest_mm - self.tops
        depths[depths < TOLERANCE_MM] = math.inf
        there = depths[np.isfinite(depths)]
        low_mm = float(np.median(there)) if len(there) else 0.0
        heights = [part.rest_mm - low_mm + _NEAR_END_MM, part.rest_mm - _NEAR_END_MM]
        yield from self._circles(heights, "seat", profile.stub_mm + 2 * profile.seat_mm)
        least = profile.stub_height_mm + 0.1
        yield _least("board-seat-depth", depths, least, "the shallowest seat", self.middles)

    def _circles(self, heights: Sequence[float], name: str, asked_mm: float) -> Iterator[Finding]:
        """Number, places and diameters of round holes, at every height at which they are cut.

        A hole is as wide as the largest cylinder that goes in, and as its widest diameter.
        """
        cuts = [round_holes(self.part.sections.at(height)) for height in heights]
        cells = [
            (middle, [hole_at(cut, middle, self.part.unit_mm) for cut in cuts])
            for middle in self.middles
        ]
        missing = [_spot(middle) for middle, holes in cells if None in holes]
        count = len(cells) - len(missing) + max(0, max(map(len, cuts)) - len(cells))
        what = f"{name}s that are round all the way, one for each cell"
        where = shapely.union_all(missing) if missing else None
        yield counted(f"board-{name}s", count, len(cells), what, where)
        found = [(hole, middle) for middle, holes in cells for hole in holes if hole]
        widths = [_width_mm(hole, asked_mm) for hole, _ in found]
        places = np.array([(hole.x_mm, hole.y_mm) for hole, _ in found]).reshape(-1, 2)
        what = f"the diameter of the {name} that is farthest off"
        yield _off(f"board-{name}-diameter", widths, asked_mm, what, places)
        off = np.hypot(*(places - np.reshape([middle for _, middle in found], (-1, 2))).T)
        what = f"how far the worst {name} is from the middle of its cell"
        worst, where = _worst(off, off, places)
        yield at_most(f"board-{name}-place", worst, PLACE_MM, "mm", what, where)

    def _channels(self) -> Iterator[Finding]:
        """Channels are as wide and as deep as links need, from hole to hole."""
        part, profile = self.part, self.profile
        asked_mm, deep_mm = profile.link_mm + 2 * profile.channel_mm, profile.link_mm / 2
        starts, ends = _neighbours_mm(part, self.lattice)
        if not len(starts):
            return
        places = (starts + ends) / 2
        widths = channel_widths_mm(part, self.lattice)
        what = "the width of the channel that is farthest off"
        yield _off("board-channels", widths, asked_mm, what, places)
        depths = part.rest_mm - tops_at(part.straight, places)
        what = "the depth below the posts of the channel that is farthest off"
        yield _off("board-channel-depth", depths, deep_mm, what, places)
        lines = shapely.linestrings(np.stack([starts, ends], axis=1))
        lanes = shapely.buffer(lines, asked_mm / 2 - TOLERANCE_MM, cap_style="flat")
        cuts = (part.rest_mm - deep_mm + TOLERANCE_MM, part.rest_mm - deep_mm / 2)
        inside = [part.sections.at(height) & shapely.union_all(lanes) for height in cuts]
        inside = [one for one in inside if one.area > TOLERANCE_MM**2]
        what = "heights at which something stands in a channel"
        yield counted("board-channel-free", len(inside), 0, what, inside[0] if inside else None)

    def _opening(self, heights: Sequence[float]) -> Finding:
        """The clearance around the region, just above what pieces rest on, below the next level."""
        points, outwards = stops(self.region)
        cuts = [self.part.sections.at(height) for height in heights]
        away = np.concatenate([gaps(cut, points, outwards) for cut in cuts])
        near, places = away < REACH_MM - 1e-6, np.tile(points, (len(heights), 1))
        what = "the clearance between region and frame, where it is farthest off,"
        asked_mm = self.profile.board_clearance_mm
        return _off("board-opening", away[near], asked_mm, what, places[near])

    def _corners(self, height: float) -> Iterator[Finding]:
        """A piece's square corner goes into the region's, though a printer rounds the frame's."""
        areas = parts(shapely.orient_polygons(self.region))
        corners = [
            here
            for ring in itertools.chain.from_iterable(map(rings_mm, areas))
            for before, here, after in triples(ring)
            if angle(before, here, after) < math.radians(100)
        ]
        if corners:
            rooms = shapely.distance(shapely.points(corners), self.part.sections.at(height))
            # A quarter of what the nozzle leaves rounded must be free beyond the clearance.
            least = self.profile.board_clearance_mm + self.profile.nozzle_mm / 4
            what = "the room around the tightest corner of a piece"
            yield _least("board-corners", rooms, least, what, np.array(corners))

    def _walls(self, heights: Sequence[float]) -> Finding:
        """The thinnest wall of the frame, straight in from its four sides, at every level.

        A line that gets to the region before it meets a wall has come in through the notch, or
        over the front: what it meets beyond is another side's wall.
        """
        flat = self.part.vertices[:, :2]
        points, outwards = stops(shapely.box(*flat.min(axis=0), *flat.max(axis=0)))
        inwards, reach = -outwards, float(np.linalg.norm(np.ptp(flat, axis=0)))
        # A little aside, so that no line runs along the side of a notch.
        starts = points + 0.0137 * inwards[:, ::-1] * [1, -1]
        inside = material_along(self.region, starts, inwards, reach)[0]
        cuts = [self.part.sections.at(height) for height in heights]
        walls = [material_along(cut, starts, inwards, reach) for cut in cuts]
        thick = [np.where(begin < inside, wide, np.inf) for begin, wide in walls]
        least = self.profile.board_wall_mm - 2 * self.part.sections.noise_mm
        places = np.tile(points, (len(heights), 1))
        what = "the thinnest wall of the frame"
        return _least("board-wall", np.concatenate(thick), least, what, places)

    def _floor(self) -> Finding:
        """The plastic below pieces, or below their seats, at the middle of every cell.

        A title may be engraved in the floor of a tray without a lid.
        """
        part, least = self.part, self.profile.board_floor_mm
        floors, what = self.floors, "the floor where it is thinnest"
        if part.kind == TRAY and self.profile.lid == "none":
            floors[floors < part.rest_mm - TOLERANCE_MM] += self.profile.title_depth_mm
        # Between the middles, too, nothing goes through, near the bed.
        open_ = self.region - part.sections.at(min(least / 4, 0.3))
        if open_.area > TOLERANCE_MM:
            return at_least("board-floor", 0.0, least, "mm", what, open_)
        least -= 2 * part.sections.noise_mm
        return _least("board-floor", floors, least, what, self.middles)


def _worst(
    values: Sequence[float] | Points, badness: Sequence[float] | Points, places: Points
) -> tuple[float, BaseGeometry | None]:
    """The value that is worst, and where it is; infinite without any."""
    if not len(values):
        return math.inf, None
    at = int(np.argmax(badness))
    return float(values[at]), _spot(places[at])


def _least(rule: str, values: Points, least_mm: float, what: str, places: Points) -> Finding:
    """On the least of some lengths."""
    worst, where = _worst(values, -values, places)
    return at_least(rule, worst, least_mm, "mm", what, where)


def _off(
    rule: str, values: Sequence[float] | Points, asked_mm: float, what: str, places: Points
) -> Finding:
    """On the length that is farthest from what is asked."""
    worst, where = _worst(values, np.abs(np.asarray(values) - asked_mm), places)
    limit = (asked_mm - TOLERANCE_MM, asked_mm + TOLERANCE_MM)
    return between(rule, worst, limit, "mm", what, where)


def _spot(middle: Points) -> BaseGeometry:
    """A place for a drawing."""
    return shapely.Point(middle).buffer(1.0)


def _near_ends(some: Iterable[Slab]) -> list[float]:
    """Where slabs are cut: near both ends, since walls may lean between two levels."""
    ends = ((one.low_mm + _NEAR_END_MM, one.high_mm - _NEAR_END_MM) for one in some)
    return list(itertools.chain(*ends))


def _width_mm(hole: Circle, asked_mm: float) -> float:
    """How wide a hole is where it is farthest off: the cylinder that goes in, or its widest."""
    widths = [hole.inner_mm, hole.outer_mm]
    far = [one for one in widths if abs(one - hole.diameter_mm) > _CHORDS_MM]
    return max(far or [hole.diameter_mm], key=lambda width: abs(width - asked_mm))
