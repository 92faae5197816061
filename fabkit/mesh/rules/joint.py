"""Rules on the joints of boards and lids in parts, which are the same at all heights."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.board_fit import edge_samples, raycast, z_ranges
from fabkit.mesh.finding import Finding, check_limits
from fabkit.mesh.part import Part
from fabkit.mesh.rules.outline import near
from fabkit.profiles.profile import Profile

#: The tolerance of the gap between two parts (mm).
_GAP_TOLERANCE_MM = 0.03
#: Edges of two parts this close (mm) face each other in their joint.
_FACING_MM = 1.5
#: In corners parts are farther apart, so shorter edges (mm) are not measured.
_SHORTEST_MM = 2.0
#: Smaller overlaps (mm3) are due to single precision.
_TINY_MM3 = 0.01


def joint_findings(parts: Sequence[Part], profile: Profile) -> Iterator[Finding]:
    """The findings on the joints of a board in parts: no overlap, and the profile's gap all along them."""
    overlaps_mm3, gaps = [], []
    asked_mm = 2 * profile.joint_mm
    for part, other in itertools.combinations(parts, 2):
        solids = part.aligned.manifold, other.aligned.manifold
        # In a crossing of two joints, parts that are not neighbours are farther apart.
        facing = [
            distance
            for z_range in z_ranges(part.sections)
            for distance in _facing_mm(part, other, z_range.middle_mm)
        ]
        if facing:
            overlaps_mm3.append(max(0.0, float((solids[0] ^ solids[1]).volume())))
            gaps += [*facing, (float(solids[0].min_gap(solids[1], _FACING_MM)), None)]
    names = " and ".join(part.name for part in parts)
    if not all(part.aligned.is_solid for part in parts) or not gaps:
        message = f"{names} cannot be assembled: a mesh is not closed, or they do not meet"
        yield Finding("joint-overlap", False, None, _TINY_MM3, "mm3", message)
        return
    yield from check_limits("joint-overlap", max(overlaps_mm3), maximum=_TINY_MM3, unit="mm3")
    yield from check_limits("joint-gap", gaps, *near(asked_mm, _GAP_TOLERANCE_MM))


def _facing_mm(
    part: Part, other: Part, height_mm: float
) -> list[tuple[float, BaseGeometry | None]]:
    """The distances from points on the edges of a part straight out to another part, at a height."""
    section, beside = part.sections.at(height_mm), other.sections.at(height_mm)
    points, outwards = edge_samples(section, _SHORTEST_MM)
    distances = raycast(beside, points, outwards, _FACING_MM)[0]
    is_facing = np.isfinite(distances)
    places = shapely.buffer(shapely.points(points[is_facing]), 1.0)
    return list(zip(distances[is_facing].tolist(), places.tolist(), strict=True))
