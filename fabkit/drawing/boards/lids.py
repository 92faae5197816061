"""Lids: one that slides in on dovetail edges, and one that snaps on with hooks on its tongues.

Everything is drawn around the origin, its front towards negative y (see `FramePlacement`). A sliding lid is
printed as it lies in the frame, a snapping one upside down: its plate on the bed, its tongues
upright.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import shapely
from shapely import Polygon, affinity

from fabkit.core.units import format_mm
from fabkit.drawing.boards.csg import Prism, Step
from fabkit.drawing.outline import DrawingError, PointMm
from fabkit.profiles.layers import layer_top_mm
from fabkit.profiles.profile import Profile

#: Minimum overlap of the walls over the lid's edges: two lines of a 0.4 mm nozzle.
_MIN_HOLD_MM = 0.8
#: Overhang of the lids' faces, from the vertical, printable without support.
DOVETAIL_DEGREES = 45
#: Width of the thumb's recess.
_THUMB_MM = 16.0
#: Depth of the thumb's recess.
_THUMB_DEPTH_MM = 0.6
#: Distance of the thumb's recess from the front.
_THUMB_PLACE_MM = 4.0
#: Overlap of a cutter beyond the part that it cuts.
_BEYOND_MM = 1.0
#: Length of a bump at its full height.
_BUMP_MM = 4.0
#: Steps at both ends of a bump, which a nozzle smooths to ramps.
_RAMP_STEPS = 3
#: Length of such a step.
_RAMP_STEP_MM = 0.6
#: Distance of a bump from the front.
_BUMP_PLACE_MM = 6.0


@dataclass(frozen=True)
class SlidingLid:
    """The dimensions of a sliding lid and its slot.

    Seen from the front, each long edge and the back edge rises from the foot chamfer vertically for
    one layer, then slopes inwards by 45 degrees up to the top. The wall follows it at a clearance
    measured at right angles to the faces, and ends two layers above it. The lid rests on the frame.
    Near the front each long edge has a bump, which catches in a recess of the wall when the lid is
    closed: there edge and wall are farther out.

    Attributes:
        across_mm: from the middle to the lid's long edges, at their widest.
        along_mm: from the middle to its front and its back.
        foot_mm: chamfer around its bottom, against the elephant foot.
        land_mm: height of its upright edge, and of the upright face of the wall above it.
        clearance_mm: between lid and walls.
        bump_mm: height of the bumps, which is the clearance and what they catch; 0 for none.
    """

    across_mm: float
    along_mm: float
    thick_mm: float
    foot_mm: float
    land_mm: float
    clearance_mm: float
    bump_mm: float

    @property
    def outer_across_mm(self) -> float:
        """From the middle to the lid's sides, with their bumps."""
        return self.across_mm + self.bump_mm

    @property
    def top_across_mm(self) -> float:
        """From the middle to the lid's long edges at its top."""
        return self.across_mm - (self.thick_mm - (self.foot_mm + self.land_mm))

    @property
    def wall_mm(self) -> float:
        """Height of the walls above the lid's bottom."""
        return self.thick_mm + 2 * self.land_mm

    def outer_box(self, wall_mm: float) -> Polygon:
        """Return the rectangle around the frame, for a wall thickness beside the lid."""
        # The wall behind a recess has the full thickness.
        beside = self.outer_across_mm + self.clearance_mm + wall_mm
        behind = self.along_mm + self.clearance_mm + wall_mm
        return shapely.box(-beside, -self.along_mm, beside, behind)

    def frame_step(self, low_mm: float, outer: Polygon) -> Step:
        """Return the two walls beside the lid and the one behind it, for the height of its bottom."""
        _, _, right, back = outer.bounds
        behind = self._wall(self.along_mm, back, low_mm)
        walls = [Prism(behind, -right, right, "x")]
        begin, end = self._bump_ends(0)
        recess = begin - self.clearance_mm, end + self.clearance_mm
        bounds = (-self.along_mm, *(recess if self.bump_mm else ()), back)
        for number, (front, rear) in enumerate(itertools.pairwise(bounds)):
            edge_mm = self.outer_across_mm if number == 1 else self.across_mm
            beside = self._wall(edge_mm, right, low_mm)
            walls += [Prism(area, front, rear, "y") for area in (beside, _mirrored(beside))]
        return Step(False, tuple(walls))

    def _bump_ends(self, step: int) -> tuple[float, float]:
        """Return where a step of the bumps begins and ends; 0 is the lowest and longest."""
        front = -self.along_mm + min(_BUMP_PLACE_MM, self.along_mm / 3)
        ramp_mm = (_RAMP_STEPS - 1) * _RAMP_STEP_MM
        begin = front + step * _RAMP_STEP_MM
        return begin, begin + _BUMP_MM + 2 * (ramp_mm - step * _RAMP_STEP_MM)

    def _bumps(self) -> list[Prism]:
        """Return the bumps on both long edges: the edge, farther out step by step."""
        lean, high = self.foot_mm + self.land_mm, self.thick_mm
        inner = self.top_across_mm - _BEYOND_MM
        bumps = list[Prism]()
        for step in range(_RAMP_STEPS if self.bump_mm else 0):
            edge = self.across_mm + self.bump_mm * (step + 1) / _RAMP_STEPS
            foot = [(inner, 0.0), (edge - self.foot_mm, 0.0), (edge, self.foot_mm)]
            area = Polygon([*foot, (edge, lean), (edge - (high - lean), high), (inner, high)])
            bumps += [Prism(side, *self._bump_ends(step), "y") for side in (area, _mirrored(area))]
        return bumps

    def _wall(self, edge_mm: float, outer_mm: float, low_mm: float) -> Polygon:
        """Return the cross-section of a wall around an edge of the lid at a distance from the middle."""
        clearance = self.clearance_mm
        lean = self.foot_mm + self.land_mm
        high = round(low_mm + self.wall_mm, 6)
        lip = edge_mm - (self.thick_mm - self.land_mm - lean) + clearance * math.sqrt(2)
        inner = [
            (edge_mm + clearance, low_mm),
            (edge_mm + clearance, low_mm + lean + clearance * (math.sqrt(2) - 1)),
            (lip, low_mm + self.thick_mm - self.land_mm),
            (lip, high),
        ]
        return Polygon([*inner, (outer_mm, high), (outer_mm, low_mm)])

    def lid_steps(self) -> tuple[Step, ...]:
        """Return the lid in print orientation, which is also its orientation in the frame."""
        across, along, high = self.across_mm, self.along_mm, self.thick_mm
        plate = Prism(shapely.box(-across, -along, across, along), 0.0, high)
        ends = (-along - _BEYOND_MM, along + _BEYOND_MM)
        sides = (-across - _BEYOND_MM, across + _BEYOND_MM)
        cuts = list[Prism]()
        for edge in self._off(across):
            cuts += [Prism(edge, *ends, "y"), Prism(_mirrored(edge), *ends, "y")]
        cuts += [Prism(edge, *sides, "x") for edge in self._off(along)]
        depth = min(_THUMB_DEPTH_MM, high / 3)
        thumb = Prism(self.thumb_area(), high - depth, high + _BEYOND_MM)
        bumps = (Step(False, tuple(self._bumps())),) if self.bump_mm else ()
        return Step(False, (plate,)), Step(True, tuple(cuts)), Step(True, (thumb,)), *bumps

    def _off(self, edge_mm: float) -> list[Polygon]:
        """Return the cuts along an edge: above for the dovetail, below against the elephant foot."""
        foot, lean = self.foot_mm, self.foot_mm + self.land_mm
        out = edge_mm + _BEYOND_MM
        rise, fall = self.thick_mm - lean + _BEYOND_MM, foot + _BEYOND_MM
        above = [(edge_mm, lean), (out, lean), (out, lean + rise), (edge_mm - rise, lean + rise)]
        below = [(edge_mm, foot), (edge_mm - fall, -_BEYOND_MM), (out, -_BEYOND_MM), (out, foot)]
        return [Polygon(above), Polygon(below)] if foot > 0 else [Polygon(above)]

    def thumb_area(self) -> Polygon:
        """Return the thumb's recess: half a disc, its flat side towards the front."""
        radius = min(_THUMB_MM / 2, self.top_across_mm / 2, self.along_mm / 3)
        front = -self.along_mm + min(_THUMB_PLACE_MM, self.along_mm / 3)
        disc = shapely.Point(0, front).buffer(radius, quad_segs=16)
        return disc & shapely.box(-radius, front, radius, front + radius)


def sliding_lid(across_mm: float, along_mm: float, profile: Profile) -> SlidingLid:
    """Design the sliding lid over an opening, which extends so far from its middle, relief and all.

    Raises:
        DrawingError: when the printer cannot print the dovetail, or it would not hold.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> lid = sliding_lid(80.25, 80.25, load_profile())
        >>> round(lid.across_mm, 2), lid.along_mm, lid.thick_mm
        (81.65, 84.25, 2.0)
    """
    _refuse_overhang(profile, "the grooves of a sliding lid")
    land, clearance = profile.layer_mm, profile.lid_clearance_mm

    def ledge(thick_mm: float) -> float:
        """Return how far the lid's edge slopes inwards."""
        return thick_mm - min(profile.foot_chamfer_mm, thick_mm / 4) - land

    def hold(thick_mm: float) -> float:
        """Return how far the walls reach over the lid's edges."""
        return ledge(thick_mm) - land - clearance * math.sqrt(2)

    thick = enough = layer_top_mm(profile, profile.lid_thickness_mm)
    while hold(enough) < _MIN_HOLD_MM - 1e-9:
        enough = round(enough + profile.layer_mm, 6)
    if enough > thick:
        raise DrawingError(
            f"the frame would reach {format_mm(round(max(0, hold(thick)), 3))} over a sliding lid "
            f"of {format_mm(thick)}, and {format_mm(_MIN_HOLD_MM)} is the minimum that holds it; "
            f"choose a lid.thickness of {format_mm(enough)} or more, or a smaller lid.clearance"
        )
    # Equal in front and behind, so that the closed lid is centred on the opening.
    along = along_mm + max(profile.board_wall_mm, ledge(thick))
    foot = min(profile.foot_chamfer_mm, thick / 4)
    bump = clearance + profile.detent_mm if profile.detent_mm else 0.0
    return SlidingLid(across_mm + ledge(thick), along, thick, foot, land, clearance, bump)


def _refuse_overhang(profile: Profile, features: str) -> None:
    if profile.overhang_degrees < DOVETAIL_DEGREES:
        raise DrawingError(
            f"{features} overhang by {DOVETAIL_DEGREES} deg, and printer.overhang allows "
            f"{profile.overhang_degrees:g} deg; choose lid.kind none, or another printer"
        )


def _mirrored(area: Polygon) -> Polygon:
    return affinity.scale(area, xfact=-1, origin=(0, 0))


#: Maximum strain of the plastic when a hook passes: PLA and PETG yield at about twice this, and layers
#: are weaker than solid filament.
MAX_STRAIN = 0.02
#: Slope of a hook's lead-in: 30 degrees.
_LEAD_IN = math.tan(math.radians(30))
#: Height of a hook's tip.
_TIP_MM = 0.2
#: Between a hook's end and the table.
_OFF_BED_MM = 0.4
#: Width of a tongue, and the least distance between two.
_TONGUE_WIDE_MM = 12.0


@dataclass(frozen=True)
class SnapLid:
    """The dimensions of a snapping lid and of the frame's pockets.

    Attributes:
        across_mm: from the middle to the frame's long outer faces.
        along_mm: from the middle to its front and its back.
        thick_mm: of the lid's plate.
        clearance_mm: between tongues and frame, and between hooks and pockets.
        catch_mm: how far a hook reaches into the frame, and bends when it passes.
        tongue_mm: from the plate to the hook's tip.
        places_mm: centres of the tongues along the sides.
    """

    across_mm: float
    along_mm: float
    thick_mm: float
    clearance_mm: float
    catch_mm: float
    tongue_mm: float
    tongue_thick_mm: float
    places_mm: tuple[float, ...]
    tongue_wide_mm: float

    def outer_box(self, wall_mm: float) -> Polygon:
        """Return the rectangle around the frame, whose walls `across_mm` already includes."""
        return shapely.box(-self.across_mm, -self.along_mm, self.across_mm, self.along_mm)

    @property
    def _hook(self) -> list[PointMm]:
        """Corners of a hook on the right, as distances from the middle and from the plate: from its
        45-degree catch to its end."""
        face, tip = self.across_mm + self.clearance_mm, self.across_mm - self.catch_mm
        return [
            (face, self.tongue_mm - (face - tip)),
            (tip, self.tongue_mm),
            (tip, self.tongue_mm + _TIP_MM),
            (face, self.tongue_mm + (_TIP_MM + (face - tip) / _LEAD_IN)),
        ]

    def frame_step(self, low_mm: float, outer: Polygon) -> Step:
        """Return the pockets in the frame for the hooks, for the height of the plate's underside.

        They are the hooks' shape offset by the clearance.
        """
        clearance = self.clearance_mm
        out = self.across_mm + _BEYOND_MM
        (face, catch), (tip, _), (_, high), _ = self._hook
        inner = tip - clearance
        # The catch, moved by the clearance at right angles to it, meets both ends of the pocket.
        ceiling = catch - clearance * math.sqrt(2)
        floor = high + self.catch_mm / _LEAD_IN + clearance
        upper = [(inner, ceiling + (face - inner)), (out, ceiling + (face - out))]
        pocket = Polygon((u, low_mm - down) for u, down in (*upper, (out, floor), (inner, floor)))
        return Step(True, self._both_sides(pocket, self.tongue_wide_mm / 2 + clearance))

    def lid_steps(self) -> tuple[Step, ...]:
        """Return the lid in print orientation: upside down."""
        face, outer = self.across_mm + self.clearance_mm, self.outer_across_mm
        plate = Prism(shapely.box(-outer, -self.along_mm, outer, self.along_mm), 0.0, self.thick_mm)
        hook = [(u, self.thick_mm + down) for u, down in self._hook]
        # It begins inside the plate, so that both are one body.
        ends = [(outer, hook[-1][1]), (outer, self.thick_mm / 2)]
        tongue = Polygon([(face, self.thick_mm / 2), *hook, *ends])
        tongues = self._both_sides(tongue, self.tongue_wide_mm / 2)
        return Step(False, (plate,)), Step(False, tongues)

    @property
    def outer_across_mm(self) -> float:
        """From the middle to the lid's sides."""
        return self.across_mm + self.clearance_mm + self.tongue_thick_mm

    def _both_sides(self, area: Polygon, half_mm: float) -> tuple[Prism, ...]:
        return tuple(
            Prism(side, place - half_mm, place + half_mm, "y")
            for place in self.places_mm
            for side in (area, _mirrored(area))
        )


def snapping_lid(across_mm: float, along_mm: float, profile: Profile) -> SnapLid:
    """Design the snapping lid of a frame, for an opening as in `sliding_lid`.

    Raises:
        DrawingError: when the printer cannot print the hooks, or the tongues would be stretched by
            more than `MAX_STRAIN`.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> lid = snapping_lid(80.25, 80.25, load_profile())
        >>> round(lid.across_mm, 2), round(lid.outer_across_mm, 2), lid.places_mm
        (84.95, 86.75, (-42.125, 42.125))
    """
    _refuse_overhang(profile, "the hooks of a snapping lid")
    strain = snap_strain(profile)
    if strain > MAX_STRAIN + 1e-9:
        longer_mm = profile.tongue_mm * math.sqrt(strain / MAX_STRAIN)
        raise DrawingError(
            f"the lid's tongues would be stretched by {strain:.1%} when they snap (1.5 x thickness "
            f"x catch / length squared), and the limit is {MAX_STRAIN:.0%}; choose a lid.tongue of "
            f"{format_mm(math.ceil(longer_mm * 10 - 1e-6) / 10)} or more, a thinner "
            "lid.tongue_thickness or a smaller lid.snap"
        )
    along = along_mm + profile.board_wall_mm
    wide = min(_TONGUE_WIDE_MM, along)
    return SnapLid(
        # The wall behind a pocket has the full thickness.
        across_mm=across_mm + profile.board_wall_mm + (profile.snap_mm + profile.lid_clearance_mm),
        along_mm=along,
        thick_mm=layer_top_mm(profile, profile.lid_thickness_mm),
        clearance_mm=profile.lid_clearance_mm,
        catch_mm=profile.snap_mm,
        tongue_mm=profile.tongue_mm,
        tongue_thick_mm=profile.tongue_thickness_mm,
        places_mm=(-along / 2, along / 2) if along >= 2 * wide else (0.0,),
        tongue_wide_mm=wide,
    )


def snap_strain(profile: Profile) -> float:
    """Return the greatest strain in a tongue when its hook passes.

    1.5 t y / l^2 for a tongue of thickness t and length l whose end deflects by y (Bayer, Snap-fit
    joints for plastics: a cantilever of constant thickness).

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> round(snap_strain(load_profile()), 4)
        0.0148
    """
    return 1.5 * profile.tongue_thickness_mm * profile.snap_mm / profile.tongue_mm**2


def min_snap_height_mm(profile: Profile) -> float:
    """Return the least height of a frame at which the tongues do not reach its bottom.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> round(min_snap_height_mm(load_profile()), 2)
        10.81
    """
    reach = _TIP_MM + (profile.snap_mm + profile.lid_clearance_mm) / _LEAD_IN
    return profile.tongue_mm + reach + _OFF_BED_MM
