"""Magnet recesses: their bores for each fit, and where in a piece they go."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from shapely import Polygon, maximum_inscribed_circle
from shapely.ops import nearest_points

from fabkit.core.units import format_mm
from fabkit.drawing.printed import BlueprintError, PointMm, chamfered
from fabkit.drawing.spacing import STEP_MM, eroded, farthest_pair, largest, rounded
from fabkit.model.layers import recess_span
from fabkit.model.profile import Profile

#: A piece this many units long gets two magnets, else one.
TWO_MAGNETS_FROM_UNITS = 3
#: Two magnets are as far apart as the walls allow, up to this many units.
FARTHEST_UNITS = 2

_SMALLEST_MAGNET_MM = 1.0


@dataclass(frozen=True)
class Bores:
    """The diameters of a recess, in mm.

    Attributes:
        widest_mm: of the cylinder; between the ribs where there are ribs.
        crest_mm: of the circle that touches the crests of the ribs; None without ribs.
    """

    widest_mm: float
    crest_mm: float | None


@dataclass(frozen=True)
class Mark:
    """A round dimple that says: here a south pole shows outwards.

    Attributes:
        centre_mm: seen from the lettered face, in the frame of the outline.
        low_mm: height of its lower end above the back; 0 where it is open there.
        high_mm: height of its upper end above the back.
        diameter_mm: across.
    """

    centre_mm: PointMm
    low_mm: float
    high_mm: float
    diameter_mm: float


@dataclass(frozen=True)
class Recess:
    """One pocket for one magnet.

    Attributes:
        centre_mm: seen from the lettered face, in the frame of the outline.
        low_mm: height of its lower end above the back; 0 where it is open there.
        high_mm: height of its upper end above the back.
        bores: its diameters.
        mouth_mm: 45-degree chamfer at the open end; 0 for a closed cavity.
        rib_width_mm: of each crush rib at its root.
        pole: which one shows outwards, towards the back: ``N``, ``S``, or nothing where it may
            be either.
        mark: what says so where the magnet goes in; south poles have one when poles alternate.
    """

    centre_mm: PointMm
    low_mm: float
    high_mm: float
    bores: Bores
    mouth_mm: float
    rib_width_mm: float
    pole: str = ""
    mark: Mark | None = None

    @property
    def is_open(self) -> bool:
        """Whether the magnet goes in from the back after printing."""
        return self.low_mm == 0

    @property
    def circles(self) -> tuple[tuple[PointMm, float], ...]:
        """What a drawing shows of it, as centres and diameters in mm: the bore, and the mark."""
        marks = [(self.mark.centre_mm, self.mark.diameter_mm)] if self.mark else []
        return ((self.centre_mm, self.bores.widest_mm), *marks)

    def at_origin(self) -> Recess:
        """The same hollow, centred on the origin, whatever its pole and without its mark."""
        return replace(self, centre_mm=(0.0, 0.0), pole="", mark=None)


def bores(profile: Profile, magnet_mm: float | None = None) -> Bores:
    """The bore diameters for the profile's fit.

    Args:
        profile: gives the fit and its allowances.
        magnet_mm: another magnet's diameter than the profile's.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> bores(load_profile()), bores(load_profile((), ["recess.fit=ribs"]))
        (Bores(widest_mm=10.1, crest_mm=None), Bores(widest_mm=10.5, crest_mm=9.9))
    """
    magnet_mm = profile.magnet_diameter_mm if magnet_mm is None else magnet_mm
    added_mm = {
        "press": profile.press_mm,
        "glue": profile.glue_mm,
        "ribs": profile.rib_root_mm,
        "embedded": profile.embedded_mm,
    }[profile.fit]
    crest_mm = round(magnet_mm + profile.rib_crest_mm, 6) if profile.fit == "ribs" else None
    return Bores(round(magnet_mm + added_mm, 6), crest_mm)


def length_units(canonical: Polygon, unit_mm: float) -> float:
    """The longer side of the box around an outline as it is drawn, in grid units.

    Args:
        canonical: in mm.
        unit_mm: length of a grid unit.

    Example:
        >>> length_units(Polygon([(0, 0), (60, 0), (60, 20), (0, 20)]), 20.0)
        3.0
    """
    left, bottom, right, top = canonical.bounds
    return float(max(right - left, top - bottom) / unit_mm)


def magnet_count(length_units: float) -> int:
    """How many magnets a piece gets.

    Args:
        length_units: the longer side of the drawn outline's bounding box, in grid units.

    Example:
        >>> magnet_count(2.0), magnet_count(3.0)
        (1, 2)
    """
    return 2 if length_units > TWO_MAGNETS_FROM_UNITS - 1e-6 else 1


def place_recesses(
    outline: Polygon, foot: Polygon, length_units: float, profile: Profile
) -> tuple[Recess, ...]:
    """Decides how many magnets a piece gets and where they go.

    One magnet lies as near to the piece's balance as the walls allow; two lie as far apart as
    the walls allow, up to `FARTHEST_UNITS`, and then as evenly about the balance as possible.

    Args:
        outline: the printed outline, in mm.
        foot: the outline of the back, inside the foot chamfer, in mm.
        length_units: the longer side of the canonical outline's bounding box, in grid units.
        profile: gives unit, magnet, fit and walls.

    Returns:
        One or two recesses, from left to right.

    Raises:
        BlueprintError: when the magnet does not fit: the wall there is, the wall asked for,
            and the largest magnet that would fit.
    """
    count = magnet_count(length_units)
    span = recess_span(profile)
    room = _Room(
        outline=outline,
        beside_bore=_section(outline, profile, span.low_mm or profile.mouth_mm, span.high_mm),
        foot=foot,
        profile=profile,
        count=count,
    )
    bore = bores(profile)
    centres = room.centres(bore, profile.wall_mm, profile.bed_wall_mm)
    if centres is None:
        raise BlueprintError(room.why_not())
    return tuple(
        Recess(
            centre,
            span.low_mm,
            span.high_mm,
            bore,
            0.0 if profile.embedded else profile.mouth_mm,
            profile.rib_width_mm,
        )
        for centre in sorted(centres)
    )


@dataclass(frozen=True)
class _Room:
    """Where in a piece recesses can be.

    Attributes:
        outline: the printed outline, in mm.
        beside_bore: the narrowest section of the piece over the bore's height; the outline,
            unless a chamfer reaches that far.
        foot: the section at the bed. In a concave corner a chamfer cuts deeper than its width,
            so the wall at the bed is measured from here.
        profile: gives magnet and fit.
        count: how many recesses there must be.
    """

    outline: Polygon
    beside_bore: Polygon
    foot: Polygon
    profile: Profile
    count: int

    def centres(
        self, bore: Bores, wall_mm: float, bed_wall_mm: float | None
    ) -> list[PointMm] | None:
        """The best centres for a bore and walls, or None when there is no room.

        Without ``bed_wall_mm`` only the wall beside the bore counts.
        """
        radius_mm, between_mm = bore.widest_mm / 2, wall_mm
        allowed = eroded(self.beside_bore, radius_mm + wall_mm)
        if bed_wall_mm is not None and not self.profile.embedded:
            mouth_mm = self.profile.mouth_mm
            allowed = allowed.intersection(eroded(self.foot, radius_mm + mouth_mm + bed_wall_mm))
            between_mm = max(wall_mm, 2 * mouth_mm + bed_wall_mm)
        if allowed.is_empty:
            return None
        balance = self.outline.centroid
        if self.count == 1:
            nearest, _ = nearest_points(allowed, balance)
            return [rounded(nearest)]
        pair = farthest_pair(allowed, balance, FARTHEST_UNITS * self.profile.unit_mm)
        return pair if pair and math.dist(*pair) >= bore.widest_mm + between_mm else None

    def why_not(self) -> str:
        """Why the profile's magnet does not fit, in numbers."""
        profile = self.profile
        bore = bores(profile)
        reach_mm = (-bore.widest_mm / 2, maximum_inscribed_circle(self.outline).length)
        there_mm = largest(lambda wall: self.centres(bore, wall, None) is not None, *reach_mm)
        asked_mm, key = profile.wall_mm, "recess.wall"
        if there_mm >= asked_mm - STEP_MM:
            wall_mm, asked_mm, key = there_mm, profile.bed_wall_mm, "recess.bed_wall"
            wall_mm = min(wall_mm, profile.wall_mm)
            there_mm = largest(lambda w: self.centres(bore, wall_mm, w) is not None, *reach_mm)
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        magnets = "two magnets" if self.count == 2 else "a magnet"
        found = (
            f"leave a wall of {_below(there_mm, asked_mm)}"
            if there_mm > 0
            else f"break through the side by {format_mm(-there_mm, 1)}"
        )
        return (
            f"{magnets} of {size} (bore {format_mm(bore.widest_mm)}) would {found}, and {key} asks "
            f"for a wall of {format_mm(asked_mm)}; {self._largest_magnet()}"
        )

    def _largest_magnet(self) -> str:
        profile = self.profile

        def fits(diameter_mm: float) -> bool:
            bore = bores(profile, diameter_mm)
            return self.centres(bore, profile.wall_mm, profile.bed_wall_mm) is not None

        largest_mm = math.floor(largest(fits, 0.0, profile.magnet_diameter_mm) * 10 + 1e-6) / 10
        if largest_mm < _SMALLEST_MAGNET_MM:
            return "no magnet fits here, choose a larger unit or recess.fit none"
        return (
            f"the largest that fits is {format_mm(largest_mm)} across; choose that, a larger unit or "
            "recess.fit none"
        )


def _section(outline: Polygon, profile: Profile, low_mm: float, high_mm: float) -> Polygon:
    """The narrowest section of a piece between two heights."""
    top_mm = profile.thickness_mm - profile.top_chamfer_mm
    inset_mm = max(0.0, profile.foot_chamfer_mm - low_mm, high_mm - top_mm)
    return chamfered(outline, inset_mm) if inset_mm else outline


def _below(there_mm: float, asked_mm: float) -> str:
    """A length that is less than another, with as many digits as it takes to see that."""
    text = format_mm(there_mm, 2)
    return format_mm(math.floor(there_mm * 1000) / 1000) if text == format_mm(asked_mm) else text
