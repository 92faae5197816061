"""A lid that snaps on: its tongues with their hooks, and the pockets of the frame that catch them.

Everything is drawn around the origin, its front towards negative y (see `Spot`). The lid is
printed upside down: its plate on the bed, its tongues upright.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import shapely
from shapely import Polygon, affinity

from fabkit.core.units import format_mm
from fabkit.drawing.boards.drawing import Prism, Step
from fabkit.drawing.boards.sliding import refuse_overhang
from fabkit.drawing.printed import BlueprintError, PointMm
from fabkit.model.layers import layer_top_mm
from fabkit.model.profile import Profile

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
        tongue_thick_mm: of a tongue.
        places_mm: where along the sides the middles of the tongues are.
        tongue_wide_mm: width of a tongue.
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

    Args:
        profile: gives ``lid.tongue_thickness``, ``lid.snap`` and ``lid.tongue``.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> round(snap_strain(load_profile()), 4)
        0.0148
    """
    return 1.5 * profile.tongue_thickness_mm * profile.snap_mm / profile.tongue_mm**2


def refuse_strain(profile: Profile) -> None:
    """Refuses tongues that would be stretched by more than `MAX_STRAIN`.

    Args:
        profile: gives their measures.

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

    Args:
        profile: gives their measures.

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
