"""The frame of a board: a rectangular block around a region, with its opening and its lid's slots; and
the heights in it."""

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
from fabkit.drawing.boards.csg import Cylinder, Prism, Step
from fabkit.drawing.boards.lids import (
    SlidingLid,
    SnapLid,
    min_snap_height_mm,
    sliding_lid,
    snapping_lid,
)
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.drawing.outline import (
    DrawingError,
    PointMm,
    corner_angles,
    mitre_offset,
    polygons,
)
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import HOLES, SOCKETS, board_kind
from fabkit.profiles.layers import layer_top_mm
from fabkit.profiles.profile import Profile


@dataclass(frozen=True)
class FramePlacement:
    """The placement of a frame and its lid on the board.

    Both are drawn around the origin with their front towards negative y: x is *across* and y is
    *along*, the direction of the lid. A board that is wider than deep has its front on the left.

    Attributes:
        middle_mm: centre of the region's bounding box.
        slides: the axis along which a lid slides out, towards its negative end.

    Example:
        >>> import shapely
        >>> FramePlacement((10.0, 0.0), "x").to_board(shapely.box(-1, -5, 1, -3)).bounds
        (5.0, -1.0, 7.0, 1.0)
        >>> FramePlacement((10.0, 0.0), "x").to_frame(shapely.box(5, -1, 7, 1)).bounds
        (-1.0, -5.0, 1.0, -3.0)
    """

    middle_mm: PointMm
    slides: Literal["x", "y"]

    def to_board(self, area: BaseGeometry) -> BaseGeometry:
        """Move an area drawn at the origin to the board."""
        turn = [0, 1, -1, 0] if self.slides == "x" else [1, 0, 0, 1]
        return affinity.affine_transform(area, [*turn, *self.middle_mm])

    def to_frame(self, area: BaseGeometry) -> BaseGeometry:
        """Move an area of the board to the frame's own coordinates; the inverse of `to_board`."""
        x_mm, y_mm = self.middle_mm
        if self.slides == "x":
            return affinity.affine_transform(area, [0, -1, 1, 0, y_mm, -x_mm])
        return affinity.translate(area, -x_mm, -y_mm)

    def place_steps(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Move steps drawn at the origin, which contain only prisms, to the board."""
        return tuple(Step(step.cuts, tuple(map(self._placed_prism, step.shapes))) for step in steps)

    def _placed_prism(self, prism: Prism | Cylinder) -> Prism:
        assert isinstance(prism, Prism)
        if prism.axis == "z":
            return Prism(self.to_board(prism.area), prism.low_mm, prism.high_mm)
        x_mm, y_mm = self.middle_mm
        low, high = prism.low_mm, prism.high_mm
        runs_along = prism.axis == "y"
        if self.slides == "y":
            beside, onwards = (x_mm, y_mm) if runs_along else (y_mm, x_mm)
            area = affinity.translate(prism.area, beside)
            return Prism(area, onwards + low, onwards + high, prism.axis)
        if runs_along:
            mirrored = affinity.affine_transform(prism.area, [-1, 0, 0, 1, y_mm, 0])
            return Prism(mirrored, x_mm + low, x_mm + high, "x")
        return Prism(affinity.translate(prism.area, x_mm), y_mm - high, y_mm - low, "y")


#: Between a ball one pitch down and the table.
_BELOW_BALL_MM = 1.0
#: Between a peg and the bottom of its socket, before rounding up to whole layers.
_BELOW_PEG_MM = 0.2


@dataclass(frozen=True)
class Levels:
    """Heights above a board's bottom, all but the last on boundaries of printed layers.

    Attributes:
        floor_mm: the top of a tray's floor, or the bottom of the sockets; 0 for holes, which are
            open below.
        rest_mm: where pieces rest: the tray's floor, the plate around the sockets, or the centres
            of inserted balls.
        top_mm: the top of the pieces.
        lid_low_mm: the underside of a lid; None without lids.
    """

    floor_mm: float
    rest_mm: float
    top_mm: float
    lid_low_mm: float | None


def levels(puzzle: PuzzleSet, profile: Profile, raised_mm: float = 0.0) -> Levels:
    """Return the heights of a set's boards.

    The hooks of a snapping lid must not reach the table: if a frame would be too low for them, the
    floor and everything on it are raised by `raised_mm`.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> levels(load_set("iqblock"), load_profile())
        Levels(floor_mm=2.0, rest_mm=2.0, top_mm=9.0, lid_low_mm=9.4)
        >>> levels(load_set("iqstars"), load_profile())
        Levels(floor_mm=2.0, rest_mm=4.2, top_mm=11.2, lid_low_mm=11.6)
        >>> iqfit = load_set("iqfit")
        >>> levels(iqfit, load_profile((), (), iqfit.profile_values))
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
        if kind == SOCKETS:
            rest = layer_top_mm(profile, floor + profile.peg_height_mm + _BELOW_PEG_MM)
        top = rest + profile.thickness_mm
    if profile.lid == "none":
        return Levels(floor, rest, round(top, 6), None)
    low = layer_top_mm(profile, top + profile.lid_air_mm)
    lacking = min_snap_height_mm(profile) - low if profile.lid == "snap" and not raised_mm else 0.0
    if lacking > 0:
        return levels(puzzle, profile, lacking)
    return Levels(floor, rest, round(top, 6), low)


#: Minimum thickness of a wall or pillar, in lines of the nozzle.
_LINES = 2
#: Height of the sill below a notch, above the height where pieces rest: they cannot slide out.
_SILL_MM = 1.0
#: Height of a frame without a lid relative to its pieces, so that fingers reach them.
_OPEN_HEIGHT = 0.5
#: Overlap of a cutter beyond the part that it cuts.
_BEYOND_MM = 1.0
#: Chords in a quarter of a relief's circle.
_CHORDS = 32


@dataclass(frozen=True)
class Block:
    """A rectangular block around a region.

    A closed sliding lid is its drawing, lifted to its height in `Levels`. A closed snapping lid is
    its drawing turned over (about x or y through the middle of the region's box, which is the
    same), the inner face of its plate at that height.

    Attributes:
        placement: where the middle is, and the direction of the lid.
        lid: the dimensions of the lid; None without one.
        steps: the steps that build the block. Further cuts come after them.
    """

    placement: FramePlacement
    lid: SlidingLid | SnapLid | None
    steps: tuple[Step, ...]


def build_block(
    region: BaseGeometry, rest_mm: float, top_mm: float, profile: Profile, relieved: bool
) -> Block:
    """Build the block around a region, including everything that its lid needs.

    The opening is the region offset by the clearance. The front, with the notch for a finger, where a
    sliding lid goes in, is towards negative y, or towards negative x if the board is wider than deep.
    Holes of the region become pillars that end below the lid. If it is relieved, the opening's corners
    have room for the sharp corners of pieces.

    Raises:
        DrawingError: when a wall or pillar would be too thin, a relief does not reach its
            corner, or the lid cannot be made.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> tray = build_block(shapely.box(0, 0, 160, 160), 2.0, 9.0, load_profile(), relieved=False)
        >>> [(step.cuts, step.shapes[0].low_mm, step.shapes[0].high_mm) for step in tray.steps[:2]]
        [(False, 0.0, 9.4), (True, 2.0, 10.4)]
    """
    reliefs = _reliefs(region, profile) if relieved else []
    straight = mitre_offset(region, profile.board_clearance_mm)
    discs = [
        shapely.Point(relief).buffer(profile.relief_mm, quad_segs=_CHORDS) for relief in reliefs
    ]
    opening = shapely.union_all([straight, *discs])
    placement, across_mm, along_mm = _placement(region, opening)
    if profile.lid == "none":
        lid = None
        wall_mm = profile.board_wall_mm
        base_mm = layer_top_mm(profile, rest_mm + _OPEN_HEIGHT * (top_mm - rest_mm))
        beside, behind = across_mm + wall_mm, along_mm + wall_mm
        drawn_outer = shapely.box(-beside, -behind, beside, behind)
    else:
        make = sliding_lid if profile.lid == "sliding" else snapping_lid
        lid = make(across_mm, along_mm, profile)
        base_mm = layer_top_mm(profile, top_mm + profile.lid_air_mm)
        drawn_outer = lid.outer_box(profile.board_wall_mm)
    outer = orient(placement.to_board(drawn_outer))
    min_mm = _LINES * profile.nozzle_mm
    if not strokes_are_at_least(outer.difference(opening), min_mm):
        raise DrawingError(
            f"a wall or pillar inside the board would be thinner than {format_mm(min_mm)}; choose a "
            "smaller board.clearance, a smaller board.relief or a larger unit"
        )
    up_mm = base_mm + _BEYOND_MM
    cylinders = [Cylinder(relief, 2 * profile.relief_mm, rest_mm, up_mm) for relief in reliefs]
    opened = [Prism(area, rest_mm, up_mm) for area in polygons(straight)]
    local_steps = _notch(drawn_outer, placement.to_frame(opening), rest_mm, base_mm, profile)
    if lid is not None:
        local_steps.append(lid.frame_step(base_mm, drawn_outer))
    plain = Step(False, (Prism(outer, 0.0, base_mm),)), Step(True, (*opened, *cylinders))
    return Block(placement, lid, (*plain, *placement.place_steps(local_steps)))


def _placement(region: BaseGeometry, opening: BaseGeometry) -> tuple[FramePlacement, float, float]:
    """Return the frame's placement, and how far the opening extends from the middle, across and along.

    All four sides get the greatest extra width of any, so that the lid is centred on the region.
    """
    left, bottom, right, top = region.bounds
    grown = max(abs(a - b) for a, b in zip(region.bounds, opening.bounds, strict=True))
    half_x, half_y = (right - left) / 2 + grown, (top - bottom) / 2 + grown
    middle = ((left + right) / 2, (bottom + top) / 2)
    if half_x > half_y + 1e-6:
        return FramePlacement(middle, "x"), half_y, half_x
    return FramePlacement(middle, "y"), half_x, half_y


def _reliefs(region: BaseGeometry, profile: Profile) -> list[PointMm]:
    """Return the centres of the reliefs: the places of sharp corners of pieces.

    A disc around such a corner gives it a clearance of its radius.
    """
    if profile.relief_mm == 0:
        return []
    sharp = [(here, inside) for here, inside in corner_angles(region) if inside < math.pi - 1e-6]
    clearance = profile.board_clearance_mm
    reach = max((clearance / math.sin(inside / 2) for _, inside in sharp), default=0.0)
    if profile.relief_mm <= reach:
        minimum_mm = math.floor(reach * 10 + 1) / 10
        raise DrawingError(
            f"board.relief {format_mm(profile.relief_mm)} does not reach the corners of the "
            f"opening, up to {format_mm(round(reach, 2))} from those of the pieces; choose "
            f"{format_mm(minimum_mm)} or more, 0 mm for none, or a smaller board.clearance"
        )
    return [here for here, _ in sharp]


def _notch(
    outer: Polygon, opening: BaseGeometry, rest_mm: float, base_mm: float, profile: Profile
) -> list[Step]:
    """Cut the notch for a finger through the front wall, where the opening is nearest to it.

    Everything is drawn at the origin. It is no wider than the opening's box, and a sill remains.
    """
    sill = layer_top_mm(profile, rest_mm + _SILL_MM)
    if profile.notch_mm == 0 or sill >= base_mm:
        return []
    left, front, right, _ = opening.bounds
    wide = min(profile.notch_mm, right - left)
    nearest = opening & shapely.box(left, front, right, front + profile.relief_mm + _BEYOND_MM)
    middles = [(area.bounds[0] + area.bounds[2]) / 2 for area in polygons(nearest)]
    middle = min(middles, key=lambda x: (round(abs(x - (left + right) / 2), 6), x))
    middle = min(max(middle, left + wide / 2), right - wide / 2)
    outside = outer.bounds[1]
    passage = shapely.box(middle - wide / 2, outside - _BEYOND_MM, middle + wide / 2, front + wide)
    cut = [area for area in polygons(passage.difference(opening)) if area.bounds[1] < outside]
    # The notch extends into the opening, so that nothing thin is left between the two.
    overlap = shapely.union_all(cut).buffer(_BEYOND_MM / 2, join_style="mitre") & passage
    shapes = tuple(Prism(area, sill, base_mm + _BEYOND_MM) for area in polygons(overlap))
    return [Step(True, shapes)]
