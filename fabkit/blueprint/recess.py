"""Magnet recesses: their bores for each fit, and where in a piece they go."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from shapely import Point, Polygon, affinity, maximum_inscribed_circle
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.base.units import format_mm
from fabkit.blueprint.printed import BlueprintError, PointMm
from fabkit.model.layers import recess_span
from fabkit.model.profile import Profile

#: A piece this many units long gets two magnets, else one.
TWO_MAGNETS_FROM_UNITS = 3
#: Two magnets are as far apart as the walls allow, up to this many units.
FARTHEST_UNITS = 2
#: Crush ribs in a bore: fewer are not round, many more do not print (gridfinity-rebuilt).
RIB_COUNT = 8

_DIRECTIONS = 180
_ARC_SEGMENTS = 64
_SAFETY_MM = 0.0015  # positions are rounded to a micrometre and arcs are chords
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
class Recess:
    """One pocket for one magnet.

    Attributes:
        centre_mm: seen from the lettered face, in the frame of the outline.
        low_mm: height of its lower end; 0 where it is open at the back.
        high_mm: height of its upper end; the pause height of a closed cavity.
        bores: its diameters.
        mouth_mm: 45-degree chamfer at the open end; 0 for a closed cavity.
        rib_width_mm: of each crush rib at its root.
    """

    centre_mm: PointMm
    low_mm: float
    high_mm: float
    bores: Bores
    mouth_mm: float
    rib_width_mm: float

    @property
    def is_open(self) -> bool:
        """Whether the magnet goes in from the back after printing."""
        return self.low_mm == 0

    def at_origin(self) -> Recess:
        """The same recess, centred on the origin."""
        return replace(self, centre_mm=(0.0, 0.0))


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


def place_recesses(outline: Polygon, length_units: float, profile: Profile) -> tuple[Recess, ...]:
    """Decides how many magnets a piece gets and where they go.

    One magnet lies as near to the piece's balance as the walls allow; two lie as far apart as
    the walls allow, up to `FARTHEST_UNITS`, and then as evenly about the balance as possible.

    Args:
        outline: the printed outline, in mm.
        length_units: the longer side of the canonical outline's bounding box, in grid units.
        profile: gives unit, magnet, fit and walls.

    Returns:
        One or two recesses, from left to right.

    Raises:
        BlueprintError: when the magnet does not fit: the wall there is, the wall asked for,
            and the largest magnet that would fit.
    """
    count = 2 if length_units > TWO_MAGNETS_FROM_UNITS - 1e-6 else 1
    farthest_mm = FARTHEST_UNITS * profile.unit_mm
    bore = bores(profile)
    centres = _centres(outline, _keep_off_mm(profile, bore), bore, profile, count, farthest_mm)
    if centres is None:
        raise BlueprintError(_no_room(outline, profile, count, farthest_mm))
    span = recess_span(profile)
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


def _keep_off_mm(profile: Profile, bore: Bores) -> float:
    """How far a recess's centre stays from the printed outline: the stricter of both walls."""
    radius_mm = bore.widest_mm / 2
    at_bed_mm = profile.mouth_mm + profile.foot_chamfer_mm + profile.bed_wall_mm
    return radius_mm + max(profile.wall_mm, 0.0 if profile.embedded else at_bed_mm)


def _centres(
    outline: Polygon,
    keep_off_mm: float,
    bore: Bores,
    profile: Profile,
    count: int,
    farthest_mm: float,
) -> list[PointMm] | None:
    """The centres, or None when the walls leave no room for that many."""
    erosion_mm = keep_off_mm + _SAFETY_MM + 1e-4 * keep_off_mm
    allowed = outline.buffer(-erosion_mm, quad_segs=_ARC_SEGMENTS)
    if allowed.is_empty:
        return None
    balance = outline.centroid
    if count == 1:
        nearest, _ = nearest_points(allowed, balance)
        return [_rounded(nearest)]
    pair = _farthest_pair(allowed, balance, farthest_mm)
    apart_mm = math.dist(*pair)
    return pair if apart_mm >= bore.widest_mm + profile.wall_mm else None


def _farthest_pair(allowed: BaseGeometry, balance: Point, farthest_mm: float) -> list[PointMm]:
    """Two points of a region as far apart as possible, up to a limit."""
    corners = sorted({_rounded(Point(p)) for p in _corners_of(allowed.convex_hull)})
    pairs = [(a, b) for i, a in enumerate(corners) for b in corners[i:]]
    apart_mm, pair = max((round(math.dist(a, b), 6), [a, b]) for a, b in pairs)
    if apart_mm <= farthest_mm:
        return pair
    # Exactly the limit apart: for each direction, the midpoints that keep both ends inside.
    best: tuple[float, list[PointMm]] | None = None
    for step in range(_DIRECTIONS):
        angle = math.pi * step / _DIRECTIONS
        dx, dy = farthest_mm / 2 * math.cos(angle), farthest_mm / 2 * math.sin(angle)
        midpoints = affinity.translate(allowed, dx, dy) & affinity.translate(allowed, -dx, -dy)
        if midpoints.is_empty:
            continue
        middle, _ = nearest_points(midpoints, balance)
        off_mm = round(middle.distance(balance), 3)
        if best is None or off_mm < best[0]:
            ends = [Point(middle.x - dx, middle.y - dy), Point(middle.x + dx, middle.y + dy)]
            best = off_mm, [_rounded(end) for end in ends]
    return best[1] if best else pair


def _corners_of(hull: BaseGeometry) -> list[PointMm]:
    ring = hull.exterior if hull.geom_type == "Polygon" else hull
    return [(x, y) for x, y in ring.coords]


def _rounded(point: Point) -> PointMm:
    return round(point.x, 3), round(point.y, 3)


def _no_room(outline: Polygon, profile: Profile, count: int, farthest_mm: float) -> str:
    """Why a magnet does not fit, in numbers."""
    bore = bores(profile)

    def fits(keep_off_mm: float) -> bool:
        found = _centres(outline, keep_off_mm, bore, profile, count, farthest_mm)
        return found is not None

    def magnet_fits(diameter_mm: float) -> bool:
        other = bores(profile, diameter_mm)
        keep_off_mm = _keep_off_mm(profile, other)
        return _centres(outline, keep_off_mm, other, profile, count, farthest_mm) is not None

    widest_mm = maximum_inscribed_circle(outline).length
    wall_mm = _largest(fits, widest_mm) - bore.widest_mm / 2
    magnets = "two magnets" if count == 2 else "a magnet"
    size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
    sentence = f"{magnets} of {size} (bore {format_mm(bore.widest_mm)}) "
    if wall_mm < profile.wall_mm:
        there, asked, key = wall_mm, profile.wall_mm, "recess.wall"
    else:
        there = wall_mm - profile.mouth_mm - profile.foot_chamfer_mm
        asked, key = profile.bed_wall_mm, "recess.bed_wall"
    sentence += (
        f"would leave a wall of {format_mm(max(there, 0.0), 2)}, and {key} asks for {format_mm(asked)}"
        if there > 0
        else f"would break through the side; {key} asks for a wall of {format_mm(asked)}"
    )
    largest_mm = math.floor(_largest(magnet_fits, profile.magnet_diameter_mm) * 10 + 1e-6) / 10
    if largest_mm < _SMALLEST_MAGNET_MM:
        return f"{sentence}; no magnet fits here, choose a larger unit or recess.fit none"
    return f"{sentence}; the largest that fits is {format_mm(largest_mm)} across"


def _largest(holds: Callable[[float], bool], high: float) -> float:
    """The largest value up to ``high`` that still holds, to a few micrometres."""
    low = 0.0
    while high - low > 0.002:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
