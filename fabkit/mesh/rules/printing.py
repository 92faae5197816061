"""Rules on what a printer can do with a part: overhangs, bridges, the size of its bed.

A part is judged as it is printed: on its back, or turned over if the profile prints faces down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import shapely
from shapely import MultiPoint

from fabkit.mesh.body import area_vectors
from fabkit.mesh.finding import Finding
from fabkit.mesh.part import Part
from fabkit.mesh.rules.table import judged
from fabkit.mesh.section import DOWN, UP, parts
from fabkit.model.layers import height_as_printed_mm
from fabkit.model.profile import Profile

#: What is this low lies on the bed.
_ON_BED_MM = 0.02
#: Overhangs of less area in all (mm2) are specks.
_SPECK_MM2 = 0.01


def printing_findings(
    part: Part, profile: Profile, hollows_mm: Sequence[float] = ()
) -> Iterator[Finding]:
    """All findings on printing a part, with the face on the bed that the profile says.

    Hollows, which end at some heights, are faults of their own.
    """
    yield from _overhang(part, profile)
    # Ceilings are bridged where they are narrow: as wide as the largest disc that is below them.
    # With the face down those are the ends of a letter's strokes, and floors of closed cavities.
    to_bed = UP if profile.facing == "down" else DOWN
    on_bed_mm = _ON_BED_MM + 2 * part.sections.noise_mm
    ceilings = [
        ceiling
        for height_mm, facing in part.sections.flats()
        if facing == to_bed and height_mm not in hollows_mm
        if height_as_printed_mm(profile.facing, height_mm, part.thickness_mm) > on_bed_mm
        for ceiling in parts(part.sections.flat(height_mm, to_bed))
        if ceiling.area > _SPECK_MM2
    ]
    spans = 2 * shapely.length(shapely.maximum_inscribed_circle(ceilings))
    yield from judged(
        "bridge", zip(spans.tolist(), ceilings, strict=True), most=profile.max_bridge_mm
    )
    # Turned as suits it best.
    turns = np.radians(np.arange(0, 180, 5))
    along = part.vertices[:, :2] @ np.array([np.cos(turns), np.sin(turns)])
    wide, deep = np.ptp(along, axis=0), np.ptp(np.roll(along, 18, axis=1), axis=0)
    share = np.maximum(wide / profile.bed_width_mm, deep / profile.bed_depth_mm).min()
    share = max(float(share), part.thickness_mm / profile.bed_height_mm)
    yield from judged("bed", [(share, None)], most=1.0, unit="")


def _overhang(part: Part, profile: Profile) -> Iterator[Finding]:
    """The steepest triangle that is no ceiling, as far as its narrowness and the mesh's noise tell."""
    corners = part.vertices[part.body.faces]
    vectors = area_vectors(part.vertices, part.body.faces)
    areas = np.linalg.norm(vectors, axis=1)
    downwards, heights = -vectors[:, 2], corners[:, :, 2].max(axis=1)
    if profile.facing == "down":
        downwards, heights = -downwards, part.thickness_mm - corners[:, :, 2].min(axis=1)
    some = areas > 0
    corners, areas, downwards, heights = (one[some] for one in (corners, areas, downwards, heights))
    leaning = np.degrees(np.arcsin(np.clip(downwards / areas, -1, 1)))
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    unsure = np.degrees(part.sections.noise_mm * longest / areas)
    free = np.flatnonzero((leaning + unsure < 89.9) & (heights > _ON_BED_MM))
    sure = (leaning - unsure)[free]
    order = np.argsort(-sure)
    worst, where = 0.0, None
    seen = np.flatnonzero(np.cumsum(areas[free][order]) > _SPECK_MM2)
    if len(seen):
        worst = max(0.0, float(sure[order[seen[0]]]))
        steep = free[order[: seen[0] + 1]]
        where = MultiPoint(corners[steep][:, :, :2].reshape(-1, 2)).convex_hull.buffer(0.2)
    # A chamfer of exactly the limit is not beyond it; facets of a cone lean 0.8 degrees more.
    limit = profile.overhang_degrees + 1
    yield from judged("overhang", [(worst, where)], most=limit, unit="deg")
