"""Heights of recesses. Slicing quantises heights, so recesses end on layer boundaries.

Layers are counted from the bed: from the back of a piece, or from its lettered face if that is
printed face down. The thickness of a piece need not be a whole number of layers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fabkit.core.units import format_mm
from fabkit.profiles.profile import Profile

#: Limit for the air above a magnet, or the depth of its top below the back.
MAX_AIR_MM = 0.3
#: Depth of the mark of a south pole in layers: one may close during printing.
MARK_LAYERS = 2
#: Its diameter: four lines of a 0.4 mm nozzle.
MARK_DIAMETER_MM = 1.6
#: Minimum ratio between the diameters of an embedded magnet and the mark under it.
MARK_BORES = 2
#: Plastic beyond such a mark, unless the profile's least roof is less: two typical layers.
BEYOND_MARK_MM = 0.4
#: The narrowest hole that prints open and admits a pin.
LEAST_RELEASE_MM = 1.0
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Span:
    """Heights above the back in mm, on layer boundaries or on the back itself."""

    low_mm: float
    high_mm: float

    @property
    def depth_mm(self) -> float:
        """Height of the recess."""
        return round(self.high_mm - self.low_mm, 6)


def layer_top_mm(profile: Profile, height_mm: float) -> float:
    """Return the lowest layer boundary at or above a height."""
    above = (height_mm - profile.first_layer_mm) / profile.layer_mm
    count = max(0, math.ceil(above - _ROUNDING))
    return round(profile.first_layer_mm + count * profile.layer_mm, 6)


def layer_bottom_mm(profile: Profile, height_mm: float) -> float:
    """Return the highest layer boundary at or below a height; 0, the bed, below the first."""
    if height_mm < profile.first_layer_mm - _ROUNDING:
        return 0.0
    count = math.floor((height_mm - profile.first_layer_mm) / profile.layer_mm + _ROUNDING)
    return round(profile.first_layer_mm + count * profile.layer_mm, 6)


def height_as_printed_mm(facing: str, height_mm: float, thickness_mm: float) -> float:
    """Convert a height above the back to the height above the bed during printing."""
    return round(thickness_mm - height_mm, 6) if facing == "down" else height_mm


def recess_span(profile: Profile) -> Span:
    """Return the heights of a recess for the profile's magnet and fit.

    An open recess is at least as deep as the magnet and its air, so the magnet never protrudes; a
    closed cavity is at least as high, and as near to the back as the floor allows. Every horizontal
    end except the back is on a layer boundary as printed.

    Raises:
        ValueError: with the numbers, when the layers leave too much air or too little plastic.
    """
    thickness_mm = profile.thickness_mm
    magnet_mm = profile.magnet_height_mm
    needed_mm = magnet_mm + profile.air_mm
    if profile.facing == "down":  # layers are counted from the face; the recess is open above
        top_mm = thickness_mm
        if profile.embedded:
            top_mm = layer_bottom_mm(profile, thickness_mm - profile.floor_mm)
        bottom_mm = layer_bottom_mm(profile, top_mm - needed_mm)
        span = Span(round(thickness_mm - top_mm, 6), round(thickness_mm - bottom_mm, 6))
    else:
        floor_mm = layer_top_mm(profile, profile.floor_mm) if profile.embedded else 0.0
        span = Span(floor_mm, layer_top_mm(profile, floor_mm + needed_mm))
    low_mm, high_mm = span.low_mm, span.high_mm
    air_mm = high_mm - low_mm - magnet_mm
    if air_mm > MAX_AIR_MM + _ROUNDING:
        raise ValueError(
            f"whole layers make the recess {format_mm(high_mm - low_mm)} high for a magnet of "
            f"{format_mm(magnet_mm)}: {format_mm(air_mm)} of air; the maximum is "
            f"{format_mm(MAX_AIR_MM)}; choose a smaller layers.height"
        )
    front_mm = profile.label_depth_mm if profile.faces != "none" else 0.0
    slot_mm = release_step_mm(profile)
    roof_mm = thickness_mm - high_mm - slot_mm - front_mm
    if roof_mm < profile.roof_mm - _ROUNDING:
        raise ValueError(
            f"above a recess that ends at {format_mm(high_mm + slot_mm)} the thickness "
            f"{format_mm(thickness_mm)} leaves {_rest(roof_mm)} below the letter, and "
            f"recess.roof requires {format_mm(profile.roof_mm)}; choose a thinner magnet, a "
            "shallower letter or a thicker piece"
        )
    back_mm = profile.label_depth_mm if profile.faces == "both" else 0.0
    if profile.embedded and low_mm - back_mm < profile.roof_mm - _ROUNDING:
        raise ValueError(
            f"the floor of {format_mm(low_mm)} leaves {_rest(low_mm - back_mm)} above the letter "
            f"on the back, and recess.roof requires {format_mm(profile.roof_mm)}; choose a higher "
            "recess.floor or a shallower letter"
        )
    return span


def release_step_mm(profile: Profile) -> float:
    """Return the height of each of the two steps at the start of the hole for pushing a magnet out.

    A ceiling cannot be bridged around a round hole. So its first layer leaves a slot from side to
    side, with bridges from wall to wall beside it; the next layer, bridging across those, leaves a
    square. 0 where the end of the recess is printed first, and without a hole.
    """
    return profile.layer_mm if profile.release_mm and profile.facing == "up" else 0.0


def mark_span(profile: Profile) -> Span:
    """Return the heights of the mark of a south pole, for a profile with recesses.

    Beside an open recess it is in the back; for a closed cavity, in the end that is printed first,
    where it is visible while the print pauses. Its bottom is on a layer boundary.

    Raises:
        ValueError: with the numbers, when too little plastic remains beyond it.
    """
    deep_mm = MARK_LAYERS * profile.layer_mm
    thickness_mm = profile.thickness_mm
    front_mm = thickness_mm - (profile.label_depth_mm if profile.faces != "none" else 0.0)
    back_mm = profile.label_depth_mm if profile.faces == "both" else 0.0
    if not profile.embedded:
        last_mm = profile.first_layer_mm + (MARK_LAYERS - 1) * profile.layer_mm
        if profile.facing == "down":
            last_mm = thickness_mm - layer_bottom_mm(profile, thickness_mm - deep_mm)
        span = Span(0.0, round(last_mm, 6))
        beyond_mm = front_mm - last_mm
    elif profile.facing == "down":
        floor_mm = recess_span(profile).high_mm
        span = Span(floor_mm, round(floor_mm + deep_mm, 6))
        beyond_mm = front_mm - span.high_mm
    else:
        floor_mm = recess_span(profile).low_mm
        span = Span(round(floor_mm - deep_mm, 6), floor_mm)
        beyond_mm = span.low_mm - back_mm
    least_mm = beyond_mark_mm(profile)
    if beyond_mm < least_mm - _ROUNDING:
        in_floor = profile.embedded and profile.facing == "up"
        thicker = "a higher recess.floor" if in_floor else "a thicker piece"
        raise ValueError(
            f"beyond a mark {format_mm(span.depth_mm)} deep there would be {_rest(beyond_mm)} of "
            f"plastic; the minimum is {format_mm(least_mm)}; choose {thicker}, a smaller "
            "layers.height, or a magnet.polarity that needs no marks"
        )
    return span


def beyond_mark_mm(profile: Profile) -> float:
    """Return the least plastic beyond the mark of a pole."""
    return min(profile.roof_mm, BEYOND_MARK_MM)


def _rest(rest_mm: float) -> str:
    return format_mm(rest_mm) if rest_mm > 0 else "nothing"
