"""The block of a board: a rectangle around a region, with its opening and the way of its lid; and
how high things are in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import shapely
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.core.units import format_mm
from fabkit.drawing.boards.lids import Sliding, Snapping, sliding_lid, snap_reach_mm, snapping_lid
from fabkit.drawing.boards.steps import Bore, Prism, Step
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.drawing.outline import (
    BlueprintError,
    PointMm,
    angle,
    mitred,
    polygons,
    region_mm,
    rings_mm,
    triples,
)
from fabkit.model.accessory import HOLES, SEATS, board_kind
from fabkit.model.layers import layer_top_mm
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Board, PuzzleSet


@dataclass(frozen=True)
class Spot:
    """The place of a frame and its lid.

    Both are drawn around the origin with their front towards negative y: *across* is x there and
    *along*, the way of the lid, is y. A board that is wider than deep has its front on its left.

    Attributes:
        middle_mm: the middle of the region's box.
        slides: the axis along which a lid slides out, towards its negative end.

    Example:
        >>> import shapely
        >>> Spot((10.0, 0.0), "x").area(shapely.box(-1, -5, 1, -3)).bounds
        (5.0, -1.0, 7.0, 1.0)
        >>> Spot((10.0, 0.0), "x").from_there(shapely.box(5, -1, 7, 1)).bounds
        (-1.0, -5.0, 1.0, -3.0)
    """

    middle_mm: PointMm
    slides: Literal["x", "y"]

    def area(self, drawn: BaseGeometry) -> BaseGeometry:
        """An area that was drawn at the origin, where it belongs."""
        turn = [0, 1, -1, 0] if self.slides == "x" else [1, 0, 0, 1]
        return affinity.affine_transform(drawn, [*turn, *self.middle_mm])

    def from_there(self, area: BaseGeometry) -> BaseGeometry:
        """An area of the board, as it is drawn at the origin: the way back."""
        x_mm, y_mm = self.middle_mm
        if self.slides == "x":
            return affinity.affine_transform(area, [0, -1, 1, 0, y_mm, -x_mm])
        return affinity.translate(area, -x_mm, -y_mm)

    def steps(self, drawn: Sequence[Step]) -> tuple[Step, ...]:
        """Steps that were drawn at the origin, of prisms alone, where they belong."""
        return tuple(
            Step(one.cuts, tuple(self._prism(s) for s in one.shapes if isinstance(s, Prism)))
            for one in drawn
        )

    def _prism(self, one: Prism) -> Prism:
        if one.axis == "z":
            return Prism(self.area(one.area), one.low_mm, one.high_mm)
        (x_mm, y_mm), low, high = self.middle_mm, one.low_mm, one.high_mm
        runs_along = one.axis == "y"
        if self.slides == "y":
            beside, onwards = (x_mm, y_mm) if runs_along else (y_mm, x_mm)
            area = affinity.translate(one.area, beside)
            return Prism(area, onwards + low, onwards + high, one.axis)
        if runs_along:
            mirrored = affinity.affine_transform(one.area, [-1, 0, 0, 1, y_mm, 0])
            return Prism(mirrored, x_mm + low, x_mm + high, "x")
        return Prism(affinity.translate(one.area, x_mm), y_mm - high, y_mm - low, "y")


#: Between a ball one pitch down and what the board stands on.
_BELOW_BALL_MM = 1.0
#: Between a stub and the bottom of its seat, before rounding up to whole layers.
_BELOW_STUB_MM = 0.2


@dataclass(frozen=True)
class Levels:
    """Heights above a board's bottom, all but the last on boundaries of printed layers.

    Attributes:
        floor_mm: the top of a tray's floor, or the bottom of the seats; 0 for holes, which are
            open below.
        rest_mm: on what pieces rest: the tray's floor, the plate around the seats, or the middles
            of seated balls.
        top_mm: up to where pieces reach.
        lid_low_mm: the underside of a lid; None without lids.
    """

    floor_mm: float
    rest_mm: float
    top_mm: float
    lid_low_mm: float | None


def levels(puzzle: PuzzleSet, profile: Profile, raised_mm: float = 0.0) -> Levels:
    """The heights of a set's boards.

    The hooks of a snapping lid must not reach the table: where a frame would be too low for them,
    floor and all stand higher, by `raised_mm`.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> levels(load_set("iqblock"), load_profile())
        Levels(floor_mm=2.0, rest_mm=2.0, top_mm=9.0, lid_low_mm=9.4)
        >>> levels(load_set("iqstars"), load_profile())
        Levels(floor_mm=2.0, rest_mm=4.2, top_mm=11.2, lid_low_mm=11.6)
        >>> iqfit = load_set("iqfit")
        >>> levels(iqfit, load_profile((), (), iqfit.unit_mm))
        Levels(floor_mm=0.0, rest_mm=22.0, top_mm=28.0, lid_low_mm=28.4)
    """
    kind = board_kind(puzzle, profile)
    if kind == HOLES:
        half_mm = profile.ball_mm / 2
        needed = profile.unit_mm + half_mm + _BELOW_BALL_MM + raised_mm
        rest = layer_top_mm(profile, needed)
        floor, top = 0.0, rest + half_mm
    else:
        floor = rest = layer_top_mm(profile, profile.board_floor_mm + raised_mm)
        if kind == SEATS:
            rest = layer_top_mm(profile, floor + profile.stub_height_mm + _BELOW_STUB_MM)
        top = rest + profile.thickness_mm
    if profile.lid == "none":
        return Levels(floor, rest, round(top, 6), None)
    low = layer_top_mm(profile, top + profile.lid_air_mm)
    lacking = snap_reach_mm(profile) - low if profile.lid == "snap" and not raised_mm else 0.0
    if lacking > 0:
        return levels(puzzle, profile, lacking)
    return Levels(floor, rest, round(top, 6), low)


def region_of(puzzle: PuzzleSet, board: Board, profile: Profile) -> BaseGeometry:
    """A board's region in mm, in the frame of the lattice."""
    return region_mm(puzzle.lattice, board.cells, profile.unit_mm)


#: A wall or pillar has two lines of the nozzle at the least.
_LINES = 2
#: A notch ends so far above what pieces rest on: they cannot leave through it.
_SILL_MM = 1.0
#: Without a lid the frame is so high, as a part of what stands in it, that fingers get at that.
_OPEN_HEIGHT = 0.5
_BEYOND_MM = 1.0
_CHORDS = 32


@dataclass(frozen=True)
class Block:
    """A rectangular block around a region.

    A closed sliding lid is its drawing, lifted to its height in `Levels`. A closed snapping lid is
    its drawing turned over (about x or y through the middle of the region's box, which is the
    same), the inner face of its plate at that height.

    Attributes:
        spot: where the middle is, and the way of the lid.
        lid: the measures of the lid; None without one.
        steps: what the block is made of. Whatever else is cut comes after.
    """

    spot: Spot
    lid: Sliding | Snapping | None
    steps: tuple[Step, ...]


def block(
    region: BaseGeometry, rest_mm: float, top_mm: float, profile: Profile, relieved: bool
) -> Block:
    """A block for a region, with everything that its lid needs.

    Its opening is the region grown by the clearance. Its front, from which a sliding lid goes in
    and where the notch for a finger is, is towards negative y; of a board that is wider than deep,
    towards negative x. Holes of the region become pillars that end below the lid.

    Args:
        region: what pieces fill, in mm; with holes, or in parts, as it is.
        rest_mm: what pieces rest on; the opening is cut from here up.
        top_mm: up to where pieces reach.
        profile: gives clearance, walls, relief, notch and lid.
        relieved: whether the opening's corners are cut free for the sharp corners of pieces.

    Raises:
        BlueprintError: when a wall or pillar would be too thin, a relief does not reach its
            corner, or the lid cannot be made.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> tray = block(shapely.box(0, 0, 160, 160), 2.0, 9.0, load_profile(), relieved=False)
        >>> [(step.cuts, step.shapes[0].low_mm, step.shapes[0].high_mm) for step in tray.steps[:2]]
        [(False, 0.0, 9.4), (True, 2.0, 10.4)]
    """
    reliefs = _reliefs(region, profile) if relieved else []
    straight = mitred(region, profile.board_clearance_mm)
    discs = [shapely.Point(one).buffer(profile.relief_mm, quad_segs=_CHORDS) for one in reliefs]
    opening = shapely.union_all([straight, *discs])
    spot, across_mm, along_mm = _laid(region, opening)
    if profile.lid == "none":
        lid, wall_mm = None, profile.board_wall_mm
        base_mm = layer_top_mm(profile, rest_mm + _OPEN_HEIGHT * (top_mm - rest_mm))
        beside, behind = across_mm + wall_mm, along_mm + wall_mm
        drawn_outer = shapely.box(-beside, -behind, beside, behind)
    else:
        make = sliding_lid if profile.lid == "sliding" else snapping_lid
        lid = make(across_mm, along_mm, profile)
        base_mm = layer_top_mm(profile, top_mm + profile.lid_air_mm)
        drawn_outer = lid.outer(profile.board_wall_mm)
    outer = orient(spot.area(drawn_outer))
    least_mm = _LINES * profile.nozzle_mm
    if not strokes_are_at_least(outer.difference(opening), least_mm):
        raise BlueprintError(
            f"a wall or pillar inside the board would be thinner than {format_mm(least_mm)}; choose a "
            "smaller board.clearance, a smaller board.relief or a larger unit"
        )
    up_mm = base_mm + _BEYOND_MM
    bores = [Bore(one, 2 * profile.relief_mm, rest_mm, up_mm) for one in reliefs]
    opened = [Prism(one, rest_mm, up_mm) for one in polygons(straight)]
    drawn = _notch(drawn_outer, spot.from_there(opening), rest_mm, base_mm, profile)
    if lid is not None:
        drawn.append(lid.in_frame(base_mm, drawn_outer))
    plain = Step(False, (Prism(outer, 0.0, base_mm),)), Step(True, (*opened, *bores))
    return Block(spot, lid, (*plain, *spot.steps(drawn)))


def _laid(region: BaseGeometry, opening: BaseGeometry) -> tuple[Spot, float, float]:
    """The frame's place, and how far the opening reaches from the middle, across and along.

    All four sides get the room that the neediest has, so that the lid's middle is the region's.
    """
    left, bottom, right, top = region.bounds
    grown = max(abs(a - b) for a, b in zip(region.bounds, opening.bounds, strict=True))
    half_x, half_y = (right - left) / 2 + grown, (top - bottom) / 2 + grown
    middle = ((left + right) / 2, (bottom + top) / 2)
    if half_x > half_y + 1e-6:
        return Spot(middle, "x"), half_y, half_x
    return Spot(middle, "y"), half_x, half_y


def _reliefs(region: BaseGeometry, profile: Profile) -> list[PointMm]:
    """The middles of the reliefs: where the sharp corners of pieces come to lie.

    A disc around such a corner leaves it as much room all around as its radius.
    """
    if profile.relief_mm == 0:
        return []
    rings = [ring for part in polygons(region) for ring in rings_mm(orient(part))]
    corners = [(around[1], angle(*around)) for ring in rings for around in triples(ring)]
    sharp = [(here, inside) for here, inside in corners if inside < math.pi - 1e-6]
    clearance = profile.board_clearance_mm
    reach = max((clearance / math.sin(inside / 2) for _, inside in sharp), default=0.0)
    if profile.relief_mm <= reach:
        least = math.floor(reach * 10 + 1) / 10
        raise BlueprintError(
            f"board.relief {format_mm(profile.relief_mm)} does not reach the corners of the "
            f"opening, up to {format_mm(round(reach, 2))} from those of the pieces; choose "
            f"{format_mm(least)} or more, 0 mm for none, or a smaller board.clearance"
        )
    return [here for here, _ in sharp]


def _notch(
    outer: Polygon, opening: BaseGeometry, rest_mm: float, base_mm: float, profile: Profile
) -> list[Step]:
    """The notch for a finger through the front wall, where the opening comes nearest to it.

    Everything is drawn at the origin. It is no wider than the opening's box, and a sill remains.
    """
    sill = layer_top_mm(profile, rest_mm + _SILL_MM)
    if profile.notch_mm == 0 or sill >= base_mm:
        return []
    left, front, right, _ = opening.bounds
    wide = min(profile.notch_mm, right - left)
    nearest = opening & shapely.box(left, front, right, front + profile.relief_mm + _BEYOND_MM)
    middles = [(one.bounds[0] + one.bounds[2]) / 2 for one in polygons(nearest)]
    middle = min(middles, key=lambda one: (round(abs(one - (left + right) / 2), 6), one))
    middle = min(max(middle, left + wide / 2), right - wide / 2)
    outside = outer.bounds[1]
    way = shapely.box(middle - wide / 2, outside - _BEYOND_MM, middle + wide / 2, front + wide)
    cut = [one for one in polygons(way.difference(opening)) if one.bounds[1] < outside]
    # The way goes on into the opening, so that nothing thin is left between the two.
    overlap = shapely.union_all(cut).buffer(_BEYOND_MM / 2, join_style="mitre") & way
    shapes = tuple(Prism(one, sill, base_mm + _BEYOND_MM) for one in polygons(overlap))
    return [Step(True, shapes)]
