"""Rules on any mesh: closed, oriented outwards, free of self-intersections, and printable. A part is
checked as it is printed: on its back, or turned over if the profile prints faces down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import shapely
from shapely import MultiPoint
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.finding import Finding, check_limits, count_finding
from fabkit.mesh.mesh import Faces, Points, area_vectors
from fabkit.mesh.part import Part
from fabkit.mesh.section import DOWN, UP, polygons_by_size
from fabkit.mesh.self_intersection import TOUCHING_MM, self_intersections
from fabkit.mesh.topology import (
    Shell,
    degenerate_faces,
    duplicate_faces,
    encloses,
    flipped_faces,
    open_edges,
)
from fabkit.profiles.layers import height_as_printed_mm
from fabkit.profiles.profile import Profile

#: Files rounded to three decimals or fewer are not checked more exactly.
_DECIMALS_MM = 1e-3
#: Anything this low is on the bed.
_ON_BED_MM = 0.02
#: Overhangs with a smaller total area (mm2) are specks.
_SPECK_MM2 = 0.01


def mesh_findings(part: Part, closed: int = 0) -> Iterator[Finding]:
    """All findings on the mesh of a part, which should have `closed` cavities."""
    mesh, faces = part.aligned, part.mesh.faces
    # Rounding to so few decimals moves corners onto a nearby line. Single precision may add a
    # fiftieth of a step.
    steps = part.mesh.vertices / _DECIMALS_MM
    is_rounded = bool((np.abs(steps - np.round(steps)) < 0.02).all())
    edges = open_edges(mesh)
    flipped = flipped_faces(mesh)
    useless = duplicate_faces(mesh)
    if not is_rounded:
        useless = np.union1d(degenerate_faces(mesh), useless).astype(np.int64)
    touching_mm = max(TOUCHING_MM, part.sections.noise_mm, 2 * _DECIMALS_MM * is_rounded)
    pairs = self_intersections(mesh, touching_mm)
    outward = [shell for shell in part.shells if shell.volume_mm3 > 0]
    inward = [shell for shell in part.shells if shell.volume_mm3 < 0]
    astray = [shell for shell in inward if not outward or not encloses(mesh, outward[0], shell)]
    cut = np.unique(pairs)
    for rule, faulty, marks, what in (
        ("watertight", edges, edges, "edges that are not shared by exactly two faces"),
        ("winding", flipped, faces[flipped], "flipped faces"),
        ("degenerate", useless, faces[useless], "degenerate or duplicate faces"),
        ("self-intersection", pairs, faces[cut], "pairs of faces that intersect"),
    ):
        yield count_finding(rule, len(faulty), 0, what, _marked(part.vertices, marks))

    def marked(faulty: Sequence[Shell]) -> BaseGeometry:
        marked_faces = np.concatenate([faces[:0], *(faces[shell.faces] for shell in faulty)])
        return _marked(part.vertices, marked_faces)

    what = "separate bodies in the mesh"
    yield count_finding("shells", len(outward), 1, what, marked(outward[1:]))
    what = "closed cavities"
    if astray:
        inward, closed = astray, 0
        what = "shells that face inwards but are not inside the body"
    yield count_finding("cavities", len(inward), closed, what, marked(inward))
    volume = part.volume_mm3
    message = f"the volume is {volume:.1f} mm3"
    if volume <= 0:
        message += "; the mesh is inside out; flip its faces"
    yield Finding("volume", volume > 0, volume, 0.0, "mm3", message)


def _marked(vertices: Points, faces: Faces) -> BaseGeometry:
    """Up to 500 edges or faces from above, with a margin."""
    # Each on its own: crossing lines, joined first, would be split at every crossing.
    hull = shapely.convex_hull(shapely.multipoints(vertices[faces[:500], :2]))
    return shapely.union_all(shapely.buffer(hull, 0.3))


def printing_findings(
    part: Part, profile: Profile, hollows_mm: Sequence[float] = ()
) -> Iterator[Finding]:
    """All findings on printing a part, with the profile's side on the bed.

    Ceilings at `hollows_mm` are ignored: other rules report hollows.
    """
    yield from _overhang(part, profile)
    # Ceilings are bridged where they are narrow: the width is that of the largest disc inside.
    # With the face down, these are the ends of a letter's strokes, and floors of closed cavities.
    to_bed = UP if profile.facing == "down" else DOWN
    on_bed_mm = _ON_BED_MM + 2 * part.sections.noise_mm
    ceilings = [
        ceiling
        for height_mm, facing in part.sections.flats()
        if facing == to_bed and height_mm not in hollows_mm
        if height_as_printed_mm(profile.facing, height_mm, part.thickness_mm) > on_bed_mm
        for ceiling in polygons_by_size(part.sections.flat(height_mm, to_bed))
        if ceiling.area > _SPECK_MM2
    ]
    spans = 2 * shapely.length(shapely.maximum_inscribed_circle(ceilings))
    bridges = zip(spans.tolist(), ceilings, strict=True)
    yield from check_limits("bridge", bridges, maximum=profile.max_bridge_mm)
    # In the best rotation.
    turns = np.radians(np.arange(0, 180, 5))
    along = part.vertices[:, :2] @ np.array([np.cos(turns), np.sin(turns)])
    wide, deep = np.ptp(along, axis=0), np.ptp(np.roll(along, 18, axis=1), axis=0)
    share = np.maximum(wide / profile.bed_width_mm, deep / profile.bed_depth_mm).min()
    share = max(float(share), part.thickness_mm / profile.bed_height_mm)
    yield from check_limits("build-volume", share, maximum=1.0, unit="")


def _overhang(part: Part, profile: Profile) -> Iterator[Finding]:
    """The finding on the steepest triangle that is not a ceiling, within the precision of the mesh."""
    corners = part.vertices[part.mesh.faces]
    normals = area_vectors(part.vertices, part.mesh.faces)
    areas = np.linalg.norm(normals, axis=1)
    downwards = -normals[:, 2] / np.maximum(areas, 1e-12)
    heights = corners[:, :, 2].max(axis=1)
    if profile.facing == "down":
        downwards = -downwards
        heights = part.thickness_mm - corners[:, :, 2].min(axis=1)
    leaning = np.degrees(np.arcsin(np.clip(downwards, -1, 1)))
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    unsure = np.degrees(part.sections.noise_mm * longest / np.maximum(areas, 1e-12))
    free = np.flatnonzero((leaning + unsure < 89.9) & (heights > _ON_BED_MM))
    steepest = free[np.argsort((unsure - leaning)[free])]
    specks = int((np.cumsum(areas[steepest]) <= _SPECK_MM2).sum())
    worst = 0.0
    where = None
    if specks < len(steepest):
        worst = max(0.0, float((leaning - unsure)[steepest[specks]]))
        steep = corners[steepest[: specks + 1]][:, :, :2]
        where = MultiPoint(steep.reshape(-1, 2)).convex_hull.buffer(0.2)
    # A chamfer of exactly the limit is not beyond it; facets of a cone lean 0.8 degrees more.
    limit = profile.overhang_degrees + 1
    yield from check_limits("overhang", [(worst, where)], maximum=limit, unit="deg")
