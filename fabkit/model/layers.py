"""What a recess spans in height. Slicing quantises heights, so recesses end on printed layers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fabkit.base.units import format_mm
from fabkit.model.profile import Profile

#: A magnet may lie this deep below the back, or have this much air above it, and no more.
MAX_AIR_MM = 0.3
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Span:
    """Heights above the bed, in mm, on boundaries of printed layers.

    Attributes:
        low_mm: where the recess begins; 0 for one that is open at the back.
        high_mm: where it ends. For a closed cavity this is the pause height: all layers below
            are printed, the magnet goes in, and the next layer closes it.
    """

    low_mm: float
    high_mm: float

    @property
    def depth_mm(self) -> float:
        """Height of the recess."""
        return round(self.high_mm - self.low_mm, 6)


def layer_top_mm(profile: Profile, height_mm: float) -> float:
    """The lowest boundary of a printed layer at or above a height.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> layer_top_mm(load_profile(), 3.1)
        3.2
    """
    above = (height_mm - profile.first_layer_mm) / profile.layer_mm
    count = max(0, math.ceil(above - _ROUNDING))
    return round(profile.first_layer_mm + count * profile.layer_mm, 6)


def recess_span(profile: Profile) -> Span:
    """From where to where a recess goes, for the profile's magnet and fit.

    An open recess is at least as deep as the magnet and its air, so the magnet is never proud;
    a closed cavity stands on the floor. Both end on a layer boundary.

    Raises:
        ValueError: when the layers leave too much air, or too little plastic remains. The
            sentence names the numbers.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> recess_span(load_profile()), recess_span(load_profile(["flippable"]))
        (Span(low_mm=0.0, high_mm=3.2), Span(low_mm=1.0, high_mm=4.2))
    """
    low_mm = layer_top_mm(profile, profile.floor_mm) if profile.embedded else 0.0
    magnet_mm = profile.magnet_height_mm
    high_mm = layer_top_mm(profile, low_mm + magnet_mm + profile.air_mm)
    air_mm = high_mm - low_mm - magnet_mm
    if air_mm > MAX_AIR_MM + _ROUNDING:
        raise ValueError(
            f"whole layers make the recess {format_mm(high_mm - low_mm)} high for a magnet of "
            f"{format_mm(magnet_mm)}: {format_mm(air_mm)} of air, and {format_mm(MAX_AIR_MM)} is the "
            "most; choose a smaller layers.height"
        )
    front_mm = profile.label_depth_mm if profile.faces != "none" else 0.0
    roof_mm = profile.thickness_mm - high_mm - front_mm
    if roof_mm < profile.roof_mm - _ROUNDING:
        raise ValueError(
            f"above a recess that ends at {format_mm(high_mm)} the thickness "
            f"{format_mm(profile.thickness_mm)} leaves {_rest(roof_mm)} below the letter, and "
            f"recess.roof asks for {format_mm(profile.roof_mm)}; choose a thinner magnet, a "
            "shallower letter or a thicker piece"
        )
    back_mm = profile.label_depth_mm if profile.faces == "both" else 0.0
    if profile.embedded and low_mm - back_mm < profile.roof_mm - _ROUNDING:
        raise ValueError(
            f"the floor of {format_mm(low_mm)} leaves {_rest(low_mm - back_mm)} above the letter "
            f"on the back, and recess.roof asks for {format_mm(profile.roof_mm)}; choose a higher "
            "recess.floor or a shallower letter"
        )
    return Span(low_mm, high_mm)


def _rest(rest_mm: float) -> str:
    return format_mm(rest_mm) if rest_mm > 0 else "nothing"
