"""Rules on a part's outline: its thickness, clearance, scale, tips and chamfers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.finding import Finding, at_least, at_most, between
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.section import DOWN, UP, parts
from fabkit.model.profile import Profile

#: A thickness, chamfer, depth or bore may be off by this much.
TOLERANCE_MM = 0.05
#: The grid unit may be off by this part: 0.1 mm on the longest piece of a set.
UNIT_TOLERANCE = 0.002
#: How much of its outline a part must rest on.
_RESTS = 0.5
#: How nearly a part must lie on its back in its file.
_TILT_DEGREES = 0.1
#: Sides shorter than this part of the longest one are roundings and flats of tips.
_SIDE = 0.2
#: Insets of one part that differ by more than this are far apart, in mm.
_INSETS_APART_MM = 0.1
#: How large a place is marked, in mm.
_MARK_MM = 1.0
#: How far behind its end a tip's width is measured.
_BEHIND_MM = 0.3


@dataclass(frozen=True)
class Common:
    """What the parts of a set have in common, measured on them.

    Attributes:
        unit_mm: the grid unit.
        inset_mm: the middle one of the parts' insets.
        thickness_mm: the middle one of their thicknesses.
    """

    unit_mm: float
    inset_mm: float
    thickness_mm: float


def outline_findings(part: Part, common: Common, profile: Profile) -> Iterator[Finding]:
    """All findings on a part's outline."""
    yield _flat_back(part)
    yield _tilt(part)
    size = (profile.thickness_mm - TOLERANCE_MM, profile.thickness_mm + TOLERANCE_MM)
    yield between("thickness", part.thickness_mm, size, "mm", "the thickness")
    yield from _chamfers(part, profile)
    if part.outline is not None:
        yield _unit(part, part.outline, common, profile)
        yield from _gaps(part, part.outline, common, profile)
        yield from _tips(part, part.outline, profile)


def _flat_back(part: Part) -> Finding:
    rest = part.sections.flat(0.0, DOWN)
    share = rest.area / part.shadow.area if part.shadow.area else 0.0
    what = "the part of the outline that rests on the bed"
    return at_least("flat-back", share, _RESTS, "", what, None if share >= _RESTS else part.shadow)


def _tilt(part: Part) -> Finding:
    tilt = part.tilt_degrees
    lies = "on its face" if part.turned_over else "tilted" if tilt < 80 else "on its side"
    ok = tilt <= _TILT_DEGREES
    message = "it lies on its back" if ok else f"it lies {lies} in its file; turn it in the slicer"
    return Finding("lies-on-back", ok, tilt, _TILT_DEGREES, "deg", message)


def _chamfers(part: Part, profile: Profile) -> Iterator[Finding]:
    """How wide the chamfers are beside the middle of each side, where they are farthest off.

    Each side is held against its own ring of the flat face: the outer one, or that of its hole.
    """
    ends = (
        (
            "top-chamfer",
            part.thickness_mm,
            UP,
            profile.top_chamfer_mm,
            "the chamfer around the face",
        ),
        ("foot-chamfer", 0.0, DOWN, profile.foot_chamfer_mm, "the chamfer around the back"),
    )
    outline = part.within_rings(part.shadow)
    for rule, height_mm, facing, asked_mm, what in ends:
        flat = part.within_rings(part.sections.flat(height_mm, facing))
        if outline[0].is_empty or flat[0].is_empty:
            yield Finding(rule, False, None, asked_mm, "mm", f"{what}: there is no flat face")
            continue
        rings = list(zip(outline, flat, strict=True))
        if any(ring.is_empty or rim.is_empty for ring, rim in rings):
            message = f"{what}: there is no flat face all around a hole"
            yield Finding(rule, False, None, asked_mm, "mm", message, part.shadow.boundary)
            continue
        widths = [
            (side.distance(rim.boundary), side)
            for ring, rim in rings
            for side in _middles_of_sides(ring)
        ]
        width_mm, side = max(widths, key=lambda one: abs(one[0] - asked_mm))
        limit = (max(0.0, asked_mm - TOLERANCE_MM), asked_mm + TOLERANCE_MM)
        yield between(rule, width_mm, limit, "mm", what, side.buffer(_MARK_MM))


def _middles_of_sides(within: BaseGeometry) -> list[Point]:
    """The middles of the long sides of a ring; roundings and flats of tips are no sides."""
    rings = [np.asarray(part.exterior.coords)[:, :2] for part in parts(within)]
    sides = [pair for ring in rings for pair in itertools.pairwise(ring)]
    longest = max(float(np.linalg.norm(b - a)) for a, b in sides)
    return [Point((a + b) / 2) for a, b in sides if np.linalg.norm(b - a) > _SIDE * longest]


def _unit(part: Part, outline: Outline, common: Common, profile: Profile) -> Finding:
    """The grid unit, by what the part shows on its own if it is a part of another scale.

    A side that is moved looks like another scale as well, where a shape has few sides. A part of
    another scale is told from that by its thickness, off by the same factor, or by insets that
    are far apart; where the shape does not tell its unit at all, by its thickness alone.
    """
    room_mm = 2 * float(outline.canonical.area / outline.canonical.length)  # the radius, so to say
    own_mm = outline.own_unit_mm or common.unit_mm * (
        1 + (common.inset_mm - outline.inset_mm) / room_mm
    )
    thicker = part.thickness_mm / common.thickness_mm
    as_thick = abs(own_mm / common.unit_mm - thicker) < 1.5 * UNIT_TOLERANCE
    least_mm, most_mm = outline.edge_insets_mm
    apart = outline.own_unit_mm is not None and most_mm - least_mm > _INSETS_APART_MM
    unit_mm = own_mm if as_thick or apart else common.unit_mm
    limit = profile.unit_mm * (1 - UNIT_TOLERANCE), profile.unit_mm * (1 + UNIT_TOLERANCE)
    return between("unit", unit_mm, limit, "mm", "the grid unit", outline.canonical.boundary)


def _gaps(part: Part, outline: Outline, common: Common, profile: Profile) -> Iterator[Finding]:
    """The gaps that the part's edges leave to another one of the set's usual inset."""
    least_mm, most_mm = (inset + common.inset_mm for inset in outline.edge_insets_mm)
    where, neighbour = part.shadow.boundary, "gap to a usual neighbour"
    yield at_least("gap-least", least_mm, profile.gap_min_mm, "mm", f"the least {neighbour}", where)
    yield at_most("gap-most", most_mm, profile.gap_max_mm, "mm", f"the greatest {neighbour}", where)


def _tips(part: Part, outline: Outline, profile: Profile) -> Iterator[Finding]:
    """The flats to which acute tips are cut.

    Their width is measured a little behind their end, less what the sides open up until there:
    so a rounded tip has a width, too.
    """
    widths = []
    for tip, angle, inwards in _acute_corners(outline.canonical):
        width_mm = _width_at_tip(part.shadow, tip, angle, inwards)
        widths.append((width_mm, tip))
    if widths:
        width_mm, tip = min(widths, key=lambda one: one[0])
        asked_mm = profile.tip_flat_mm - TOLERANCE_MM
        place = Point(tip).buffer(profile.unit_mm / 8)
        yield at_least("tip", width_mm, asked_mm, "mm", "the flat of the sharpest tip", place)


def _acute_corners(outline: Polygon) -> Iterator[tuple[np.ndarray, float, np.ndarray]]:
    """The corners of less than a right angle: where, the angle, and the direction inwards."""
    for ring in (orient(outline).exterior, *orient(outline).interiors):
        points = np.asarray(ring.coords)[:-1, :2]
        for before, here, after in zip(
            np.roll(points, 1, axis=0), points, np.roll(points, -1, axis=0), strict=True
        ):
            back = (before - here) / np.linalg.norm(before - here)
            on = (after - here) / np.linalg.norm(after - here)
            if on[0] * back[1] > on[1] * back[0] and on @ back > 1e-6:
                yield here, math.acos(float(on @ back)), (on + back) / np.linalg.norm(on + back)


def _width_at_tip(seen: Polygon, tip: np.ndarray, angle: float, inwards: np.ndarray) -> float:
    across = np.array([-inwards[1], inwards[0]])
    far = 10.0 * _BEHIND_MM + 5.0
    middle = LineString([tip, tip + far * inwards]).intersection(seen)
    if middle.is_empty:
        return 0.0
    end_mm = Point(tip).distance(middle) + _BEHIND_MM
    at = tip + end_mm * inwards
    cut = LineString([at - far * across, at + far * across]).intersection(seen)
    pieces = [one for one in getattr(cut, "geoms", [cut]) if one.distance(Point(at)) < 1e-6]
    return float(sum(one.length for one in pieces)) - 2 * _BEHIND_MM * math.tan(angle / 2)
