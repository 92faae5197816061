"""Lids: one that slides in on dovetail edges, and one that snaps on with hooks on its tongues.

Everything is drawn around the origin, its front towards negative y (see `Spot`). A sliding lid is
printed as it lies in the frame, a snapping one upside down: its plate on the bed, its tongues
upright.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import shapely
from shapely import Polygon, affinity

from fabkit.core.units import format_mm
from fabkit.drawing.boards.steps import Prism, Step
from fabkit.drawing.outline import BlueprintError, PointMm
from fabkit.model.layers import layer_top_mm
from fabkit.model.profile import Profile

#: How far the walls reach over the lid's edges, at the least: two lines of a 0.4 mm nozzle.
_LEAST_HOLD_MM = 0.8
#: Its faces lean this far from the vertical, so that nothing needs a support.
DOVETAIL_DEGREES = 45
#: The thumb's recess is so wide, so deep, and so far from the front.
_THUMB_MM = 16.0
_THUMB_DEPTH_MM = 0.6
_THUMB_PLACE_MM = 4.0
#: What a cutter reaches beyond what it cuts.
_BEYOND_MM = 1.0


@dataclass(frozen=True)
class Sliding:
    """The measures of a sliding lid and of its way.

    Seen from the front, each long edge and the back edge rises from the foot chamfer upright for
    one layer, then leans inwards by 45 degrees up to the top. The wall follows it at a clearance
    that is measured at right angles to the faces, and ends two layers above it. The lid lies on the
    frame.

    Attributes:
        across_mm: from the middle to the lid's long edges, where they are widest.
        along_mm: from the middle to its front and its back.
        foot_mm: chamfer around its bottom, against the elephant foot.
        land_mm: height of its upright edge, and of the upright face of the wall above it.
        clearance_mm: between lid and walls.
    """

    across_mm: float
    along_mm: float
    thick_mm: float
    foot_mm: float
    land_mm: float
    clearance_mm: float

    @property
    def _lean_mm(self) -> float:
        """How high above the lid's bottom its edges begin to lean."""
        return self.foot_mm + self.land_mm

    @property
    def top_across_mm(self) -> float:
        """From the middle to the lid's long edges at its top."""
        return self.across_mm - (self.thick_mm - self._lean_mm)

    @property
    def wall_mm(self) -> float:
        """How far the walls rise above the lid's bottom."""
        return self.thick_mm + 2 * self.land_mm

    def hold_mm(self) -> float:
        """How far the walls reach over the lid's edges."""
        return self.across_mm - self._wall_from(self.across_mm, 0)[2][0]

    def walls(self, low_mm: float, right_mm: float, back_mm: float) -> Step:
        """The two walls beside the lid and the one behind it.

        Args:
            low_mm: height of the lid's bottom.
            right_mm: from the middle to the outer face of the walls beside.
            back_mm: from the middle to that of the wall behind.
        """
        beside = self._wall(self.across_mm, right_mm, low_mm)
        behind = self._wall(self.along_mm, back_mm, low_mm)
        return Step(
            False,
            (
                Prism(beside, -self.along_mm, back_mm, "y"),
                Prism(_mirrored(beside), -self.along_mm, back_mm, "y"),
                Prism(behind, -right_mm, right_mm, "x"),
            ),
        )

    def _wall(self, edge_mm: float, outer_mm: float, low_mm: float) -> Polygon:
        high = round(low_mm + self.wall_mm, 6)
        inner = self._wall_from(edge_mm, low_mm)
        return Polygon([*inner, (outer_mm, high), (outer_mm, low_mm)])

    def _wall_from(self, edge_mm: float, low_mm: float) -> list[tuple[float, float]]:
        """The inner face of a wall, from its bottom to its top."""
        c, half_turn = self.clearance_mm, math.sqrt(2)
        start = low_mm + self._lean_mm + c * (half_turn - 1)
        lip = edge_mm - (self.thick_mm - self.land_mm - self._lean_mm) + c * half_turn
        return [
            (edge_mm + c, low_mm),
            (edge_mm + c, start),
            (lip, low_mm + self.thick_mm - self.land_mm),
            (lip, round(low_mm + self.wall_mm, 6)),
        ]

    def lid(self) -> tuple[Step, ...]:
        """The lid as it is printed, which is also the way it lies in the frame."""
        across, along, high = self.across_mm, self.along_mm, self.thick_mm
        plate = Prism(shapely.box(-across, -along, across, along), 0.0, high)
        beside, behind = self._off(across), self._off(along)
        ends = (-along - _BEYOND_MM, along + _BEYOND_MM)
        sides = (-across - _BEYOND_MM, across + _BEYOND_MM)
        cut = [Prism(one, *ends, "y") for edge in beside for one in (edge, _mirrored(edge))]
        cut += [Prism(edge, *sides, "x") for edge in behind]
        return Step(False, (plate,)), Step(True, tuple(cut)), Step(True, (self._thumb(),))

    def _off(self, edge_mm: float) -> list[Polygon]:
        """What is cut off an edge: above for the dovetail, below against the elephant foot."""
        lean, high, out = self._lean_mm, self.thick_mm, edge_mm + _BEYOND_MM
        rise = high - lean + _BEYOND_MM
        above = [(edge_mm, lean), (out, lean), (out, lean + rise), (edge_mm - rise, lean + rise)]
        found = [Polygon(above)]
        if self.foot_mm > 0:
            fall = self.foot_mm + _BEYOND_MM
            below = [(edge_mm, self.foot_mm), (edge_mm - fall, -_BEYOND_MM)]
            found.append(Polygon([*below, (out, -_BEYOND_MM), (out, self.foot_mm)]))
        return found

    def thumb_area(self) -> Polygon:
        """Where the thumb's recess is: half a disc, its flat side towards the front."""
        radius = min(_THUMB_MM / 2, self.top_across_mm / 2, self.along_mm / 3)
        front = -self.along_mm + min(_THUMB_PLACE_MM, self.along_mm / 3)
        disc = shapely.Point(0, front).buffer(radius, quad_segs=16)
        return disc & shapely.box(-radius, front, radius, front + radius)

    def _thumb(self) -> Prism:
        depth = min(_THUMB_DEPTH_MM, self.thick_mm / 3)
        return Prism(self.thumb_area(), self.thick_mm - depth, self.thick_mm + _BEYOND_MM)


def sliding_lid(across_mm: float, along_mm: float, profile: Profile) -> Sliding:
    """The lid over an opening.

    Args:
        across_mm: from the middle to the sides of the opening, relief and all.
        along_mm: from the middle to its front and back.
        profile: gives the lid's thickness and clearance, and the walls.

    Raises:
        BlueprintError: when the printer cannot print the dovetail, or it would not hold.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> lid = sliding_lid(80.25, 80.25, load_profile())
        >>> round(lid.across_mm, 2), lid.along_mm, round(lid.hold_mm(), 2)
        (81.65, 84.25, 0.92)
    """
    refuse_overhang(profile, "the grooves of a sliding lid")
    thick = layer_top_mm(profile, profile.lid_thickness_mm)
    lid = _of_thickness(thick, across_mm, along_mm, profile)
    if lid.hold_mm() < _LEAST_HOLD_MM - 1e-9:
        enough = thick
        while _of_thickness(enough, across_mm, along_mm, profile).hold_mm() < _LEAST_HOLD_MM:
            enough = round(enough + profile.layer_mm, 6)
        raise BlueprintError(
            f"the frame would reach {format_mm(round(max(0, lid.hold_mm()), 3))} over a sliding lid "
            f"of {format_mm(thick)}, and {format_mm(_LEAST_HOLD_MM)} is the least that holds it; "
            f"choose a lid.thickness of {format_mm(enough)} or more, or a smaller lid.clearance"
        )
    return lid


def _of_thickness(thick_mm: float, across_mm: float, along_mm: float, profile: Profile) -> Sliding:
    foot, land = min(profile.foot_chamfer_mm, thick_mm / 4), profile.layer_mm
    ledge = thick_mm - foot - land
    # In front and behind there is as much, so that the closed lid's middle is the opening's.
    along = along_mm + max(profile.board_wall_mm, ledge)
    clearance = profile.lid_clearance_mm
    return Sliding(across_mm + ledge, along, thick_mm, foot, land, clearance)


def refuse_overhang(profile: Profile, what: str) -> None:
    """Refuses a printer that cannot print faces that lean by 45 degrees.

    Raises:
        BlueprintError: when it cannot.
    """
    if profile.overhang_degrees < DOVETAIL_DEGREES:
        raise BlueprintError(
            f"{what} overhang by {DOVETAIL_DEGREES} deg, and printer.overhang allows "
            f"{profile.overhang_degrees:g} deg; choose lid.kind none, or another printer"
        )


def _mirrored(area: Polygon) -> Polygon:
    return affinity.scale(area, xfact=-1, origin=(0, 0))


#: The most that the plastic is stretched when a hook passes: PLA and PETG bear about twice that
#: before they yield, and layers are weaker than a filament.
MAX_STRAIN = 0.02
#: A hook's end leans so far from the way on which it is pushed.
_LEAD_IN_DEGREES = 30
#: Height of a hook's tip.
_TIP_MM = 0.2
#: Between a hook's end and the bed on which the frame stands.
_OFF_BED_MM = 0.4
#: Width of a tongue, and the least room between two.
_TONGUE_WIDE_MM = 12.0
_BEYOND_MM = 1.0


@dataclass(frozen=True)
class Snapping:
    """The measures of a snapping lid and of the frame's pockets.

    Attributes:
        across_mm: from the middle to the frame's long outer faces.
        along_mm: from the middle to its front and its back.
        thick_mm: of the lid's plate.
        clearance_mm: between tongues and frame, and between hooks and pockets.
        catch_mm: how far a hook reaches into the frame: so far it bends when it passes.
        tongue_mm: from the plate to the hook's tip.
        places_mm: where along the sides the middles of the tongues are.
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

    @property
    def _hook(self) -> list[PointMm]:
        """A hook on the right: how far from the middle, and how far from the plate, from its
        catch, which leans by 45 degrees, to its end."""
        face, tip = self.across_mm + self.clearance_mm, self.across_mm - self.catch_mm
        high = self.tongue_mm + _TIP_MM
        end = self.tongue_mm + _end_mm(face - tip)
        return [
            (face, self.tongue_mm - (face - tip)),
            (tip, self.tongue_mm),
            (tip, high),
            (face, end),
        ]

    def pockets(self, lid_low_mm: float) -> Step:
        """What is cut out of the frame for the hooks: their shape with the clearance around it.

        Args:
            lid_low_mm: height of the plate's underside.
        """
        c, out = self.clearance_mm, self.across_mm + _BEYOND_MM
        (face, catch), (tip, _), (_, high), _ = self._hook
        inner = tip - c
        # The catch, moved by the clearance at right angles to it, meets both ends of the pocket.
        ceiling = catch - c * math.sqrt(2)
        floor = high + (self.catch_mm) / math.tan(math.radians(_LEAD_IN_DEGREES)) + c
        pocket = Polygon(
            (u, lid_low_mm - down)
            for u, down in (
                (inner, ceiling + (face - inner)),
                (out, ceiling + (face - out)),
                (out, floor),
                (inner, floor),
            )
        )
        half = self.tongue_wide_mm / 2 + c
        return Step(True, self._on_both_sides(pocket, half))

    def lid(self) -> tuple[Step, ...]:
        """The lid as it is printed: upside down."""
        face, outer = self.across_mm + self.clearance_mm, self.outer_across_mm
        plate = Prism(shapely.box(-outer, -self.along_mm, outer, self.along_mm), 0.0, self.thick_mm)
        hook = [(u, self.thick_mm + down) for u, down in self._hook]
        end = hook[-1][1]
        # It begins inside the plate, so that both are one.
        tongue = [(face, self.thick_mm / 2), *hook, (outer, end), (outer, self.thick_mm / 2)]
        tongues = self._on_both_sides(Polygon(tongue), self.tongue_wide_mm / 2)
        return Step(False, (plate,)), Step(False, tongues)

    @property
    def outer_across_mm(self) -> float:
        """From the middle to the lid's sides."""
        return self.across_mm + self.clearance_mm + self.tongue_thick_mm

    def _on_both_sides(self, area: Polygon, half_mm: float) -> tuple[Prism, ...]:
        both = (area, affinity.scale(area, xfact=-1, origin=(0, 0)))
        return tuple(
            Prism(one, place - half_mm, place + half_mm, "y")
            for place in self.places_mm
            for one in both
        )


def snapping_lid(across_mm: float, along_mm: float, profile: Profile) -> Snapping:
    """The lid of a frame.

    Args:
        across_mm: from the middle to the sides of the opening, relief and all.
        along_mm: from the middle to its front and back.
        profile: gives the tongues' measures, and the walls.

    Raises:
        BlueprintError: when the printer cannot print the hooks, the tongues would bend too far, or
            there is no room for them.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> lid = snapping_lid(80.25, 80.25, load_profile())
        >>> round(lid.across_mm, 2), round(lid.outer_across_mm, 2), lid.places_mm
        (84.95, 86.75, (-42.125, 42.125))
    """
    refuse_overhang(profile, "the hooks of a snapping lid")
    refuse_strain(profile)
    # Behind a pocket the wall is as thick as anywhere.
    pocket = profile.snap_mm + profile.lid_clearance_mm
    along = along_mm + profile.board_wall_mm
    wide = min(_TONGUE_WIDE_MM, along)
    places = (-along / 2, along / 2) if along >= 2 * wide else (0.0,)
    return Snapping(
        across_mm + profile.board_wall_mm + pocket,
        along,
        layer_top_mm(profile, profile.lid_thickness_mm),
        profile.lid_clearance_mm,
        profile.snap_mm,
        profile.tongue_mm,
        profile.tongue_thickness_mm,
        places,
        wide,
    )


def snap_strain(profile: Profile) -> float:
    """How far the outermost plastic of a tongue is stretched when its hook passes.

    1.5 t y / l^2 for a tongue of thickness t and length l whose end gives way by y (Bayer,
    Snap-fit joints for plastics: a cantilever of even thickness).

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> round(snap_strain(load_profile()), 4)
        0.0148
    """
    return 1.5 * profile.tongue_thickness_mm * profile.snap_mm / profile.tongue_mm**2


def refuse_strain(profile: Profile) -> None:
    """Refuses tongues that would be stretched by more than `MAX_STRAIN`.

    Raises:
        BlueprintError: saying which numbers would do.
    """
    strain = snap_strain(profile)
    if strain > MAX_STRAIN + 1e-9:
        bent = 1.5 * profile.tongue_thickness_mm * profile.snap_mm
        longer = math.ceil(math.sqrt(bent / MAX_STRAIN) * 10 - 1e-6) / 10
        raise BlueprintError(
            f"the lid's tongues would be stretched by {strain:.1%} when they snap (1.5 x thickness "
            f"x catch / length squared), and {MAX_STRAIN:.0%} is the most; choose a lid.tongue of "
            f"{format_mm(longer)} or more, a thinner lid.tongue_thickness or a smaller lid.snap"
        )


def snap_reach_mm(profile: Profile) -> float:
    """How high a frame must be at the least, so that the tongues do not reach its bottom.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> round(snap_reach_mm(load_profile()), 2)
        10.81
    """
    reach = _end_mm(profile.snap_mm + profile.lid_clearance_mm)
    return profile.tongue_mm + reach + _OFF_BED_MM


def _end_mm(hook_mm: float) -> float:
    """From a hook's tip to its end, for a hook that stands so far off its tongue."""
    return _TIP_MM + hook_mm / math.tan(math.radians(_LEAD_IN_DEGREES))
