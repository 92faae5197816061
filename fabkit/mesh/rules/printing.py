"""Rules on what a printer can do with a part: overhangs, bridges, the size of its bed.

A part is judged as it is printed: on its back, or turned over if the profile prints faces down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from shapely import MultiPoint, Polygon

from fabkit.mesh.finding import Finding, at_most
from fabkit.mesh.part import Part
from fabkit.mesh.section import DOWN, UP, parts
from fabkit.model.layers import height_as_printed_mm
from fabkit.model.profile import Profile

#: A chamfer of exactly the limit is not beyond it; the facets of a cone lean 0.8 degrees more.
_ANGLE_TINY = 1.0
#: A face this nearly level is a ceiling, which is bridged.
_LEVEL_DEGREES = 89.9
#: What is this low lies on the bed.
_ON_BED_MM = 0.02
#: Overhangs of less area in all (mm2) are specks.
_SPECK_MM2 = 0.01


def printing_findings(
    part: Part, profile: Profile, hollows_mm: Sequence[float] = ()
) -> Iterator[Finding]:
    """All findings on printing a part, with the face on the bed that the profile says.

    Args:
        part: the part.
        profile: what is asked for.
        hollows_mm: the heights at which hollows end, which are faults of their own.
    """
    yield _overhang(part, profile)
    yield from _bridges(part, profile, hollows_mm)
    yield _bed(part, profile)


def _overhang(part: Part, profile: Profile) -> Finding:
    """The steepest triangle that is no ceiling, as far as its narrowness and the mesh's noise tell."""
    corners = part.vertices[part.body.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    doubled = np.linalg.norm(normals, axis=1)
    solid = doubled > 0
    leaning = np.zeros(len(normals))
    downwards, heights = -normals[:, 2], corners[:, :, 2]
    if profile.facing == "down":
        downwards, heights = -downwards, part.thickness_mm - heights
    leaning[solid] = np.degrees(np.arcsin(np.clip(downwards[solid] / doubled[solid], -1, 1)))
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    unsure = np.full(len(normals), 90.0)
    unsure[solid] = np.degrees(2 * part.sections.noise_mm * longest[solid] / doubled[solid])
    free = solid & (leaning + unsure < _LEVEL_DEGREES) & (heights.max(axis=1) > _ON_BED_MM)
    leaning -= unsure
    order = np.argsort(-leaning[free])
    worst, where = 0.0, None
    areas = np.cumsum(doubled[free][order] / 2)
    seen = np.flatnonzero(areas > _SPECK_MM2)
    if len(seen):
        worst = max(0.0, float(leaning[free][order][seen[0]]))
        steep = np.flatnonzero(free)[order][: seen[0] + 1]
        where = MultiPoint(corners[steep][:, :, :2].reshape(-1, 2)).convex_hull.buffer(0.2)
    limit = profile.overhang_degrees + _ANGLE_TINY
    return at_most(
        "overhang", worst, limit, "deg", "the steepest overhang, from the vertical", where
    )


def _bridges(part: Part, profile: Profile, hollows_mm: Sequence[float]) -> Iterator[Finding]:
    """Ceilings are bridged along their shorter side.

    With the face down those are the ends of a letter's strokes, and the floors of closed cavities.
    """
    spans = []
    to_bed = UP if profile.facing == "down" else DOWN
    for height_mm, facing in part.sections.flats():
        printed_mm = height_as_printed_mm(profile.facing, height_mm, part.thickness_mm)
        if facing == to_bed and printed_mm > _ON_BED_MM and height_mm not in hollows_mm:
            ceilings = parts(part.sections.flat(height_mm, to_bed))
            spans += [(_span_mm(ceiling), ceiling) for ceiling in ceilings]
    if spans:
        span_mm, where = max(spans, key=lambda one: one[0])
        what = "the widest ceiling, which is bridged,"
        yield at_most("bridge", span_mm, profile.max_bridge_mm, "mm", what, where)


def _span_mm(ceiling: Polygon) -> float:
    """The shorter side of the narrowest rectangle around a ceiling."""
    ring = np.asarray(ceiling.minimum_rotated_rectangle.exterior.coords)
    return float(min(np.linalg.norm(ring[1] - ring[0]), np.linalg.norm(ring[2] - ring[1])))


def _bed(part: Part, profile: Profile) -> Finding:
    """Whether the part fits the bed, turned as suits it best."""
    beds = (profile.bed_width_mm, profile.bed_depth_mm)
    least = math.inf
    for degrees in range(0, 180, 5):
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        points = part.vertices[:, :2] @ np.array([[cos, -sin], [sin, cos]])
        sides = np.ptp(points, axis=0)
        least = min(least, max(float(side / bed) for side, bed in zip(sides, beds, strict=True)))
    share = max(least, part.thickness_mm / profile.bed_height_mm)
    return at_most("bed", share, 1.0, "", "the part of the printer's room that it takes", None)
