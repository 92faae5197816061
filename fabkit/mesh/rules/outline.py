"""Rules on a part's outline: its thickness, clearance, scale, tips and chamfers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from shapely import LineString, Point, Polygon
from shapely.geometry.polygon import orient

from fabkit.mesh.finding import Finding, at_least, between
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.section import DOWN, UP, filled
from fabkit.model.profile import Profile

#: A thickness, chamfer, depth or bore may be off by this much.
TOLERANCE_MM = 0.05
#: The grid unit may be off by this part: 0.1 mm on the longest piece of a set.
UNIT_TOLERANCE = 0.002
#: How much of its outline a part must rest on.
_RESTS = 0.5
#: How nearly a part must lie on its back in its file.
_TILT_DEGREES = 0.1
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
    for rule, height_mm, facing, asked_mm, what in ends:
        flat = filled(part.sections.flat(height_mm, facing))
        if flat.is_empty:
            yield Finding(rule, False, None, asked_mm, "mm", f"{what}: there is no flat face")
            continue
        width_mm = part.shadow.exterior.distance(flat.boundary)
        limit = (max(0.0, asked_mm - TOLERANCE_MM), asked_mm + TOLERANCE_MM)
        yield between(rule, width_mm, limit, "mm", what, flat.boundary)


def _unit(part: Part, outline: Outline, common: Common, profile: Profile) -> Finding:
    """The grid unit, from the part's own edges where its shape tells.

    Where it does not, a part of another scale is told from one of another clearance by its
    thickness, which is then off by the same factor.
    """
    unit_mm = outline.own_unit_mm or _unit_by_thickness(part, outline, common)
    limit = profile.unit_mm * (1 - UNIT_TOLERANCE), profile.unit_mm * (1 + UNIT_TOLERANCE)
    return between("unit", unit_mm, limit, "mm", "the grid unit", outline.canonical.boundary)


def _unit_by_thickness(part: Part, outline: Outline, common: Common) -> float:
    room_mm = 2 * float(outline.canonical.area / outline.canonical.length)  # the radius, as it were
    factor = 1 + (common.inset_mm - outline.inset_mm) / room_mm
    if abs(factor - part.thickness_mm / common.thickness_mm) < 1.5 * UNIT_TOLERANCE:
        return common.unit_mm * factor
    return common.unit_mm


def _gaps(part: Part, outline: Outline, common: Common, profile: Profile) -> Iterator[Finding]:
    """The gaps that the part's edges leave to another one of the set's usual inset."""
    limit = (profile.gap_min_mm, profile.gap_max_mm)
    least_mm, greatest_mm = (inset + common.inset_mm for inset in outline.edge_insets_mm)
    where = part.shadow.boundary
    yield between("gap-least", least_mm, limit, "mm", "the least gap to a usual neighbour", where)
    yield between(
        "gap-most", greatest_mm, limit, "mm", "the greatest gap to a usual neighbour", where
    )


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
