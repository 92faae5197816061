"""Rules on ball pieces: identity, sizes, the flat on the bed, and the cells they stay inside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.ball_fit import adjacent_pairs, cross_sections, distance_to_skeleton
from fabkit.mesh.finding import TINY_MM3, Finding, check_limits
from fabkit.mesh.identity import ScannedPart, ambiguity_finding
from fabkit.mesh.manifold import capsules
from fabkit.mesh.mesh import Faces, Mesh, Points
from fabkit.mesh.part import Balls, Part, inside_mm, silhouette
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE, near
from fabkit.mesh.rules.surface import mesh_findings, printing_findings
from fabkit.model.balls import BallError, flat_poses
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile


def inspect_balls(
    part: Part, identity: ScannedPart, puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """All findings on one ball piece, in the order of the rules.

    Places are seen from above, as printed. An unknown part has only that finding and those on its
    mesh.
    """
    if part.balls is None:
        unknown = Finding("ball-shape", False, None, None, "", part.reason)
        return [*mesh_findings(part), unknown]
    on_bed = _place_on_bed(part, part.balls)
    as_printed = Part(part.mesh, on_bed.vertices)
    return [
        *mesh_findings(as_printed),
        *check_limits("ball-read", part.balls.off_mm, maximum=TOLERANCE_MM),
        _shape(part, part.balls, on_bed, identity, puzzle),
        *_sizes(part, part.balls, on_bed, profile),
        *_room(part, part.balls, profile),
        # Balls have no recesses or letters, and are printed in their orientation, unlike flat
        # pieces.
        *printing_findings(as_printed, replace(profile, fit="none", facing="up")),
    ]


def _shape(
    part: Part, balls: Balls, on_bed: _OnBed, identity: ScannedPart, puzzle: PuzzleSet
) -> Finding:
    """The finding on whether a part is its piece, with the links that are wrong."""
    mirror = "the mirror image of " if identity.mirrored else ""
    if ambiguity := ambiguity_finding("ball-shape", part, f"{mirror}{identity.piece}"):
        return ambiguity
    if identity.alike:
        what = "is" if mirror else "has the balls and the links of"
        message = f"it {what} {mirror}{' and '.join(identity.alike)}"
        return Finding("ball-shape", not mirror, None, None, "", message)
    body = puzzle.piece(identity.piece or "").body
    wanted = {frozenset(bond) for bond in body.bonds} if body else set()
    wrong = sorted(map(sorted, wanted ^ {frozenset(bond) for bond in balls.shape.bonds}))
    changes = [
        f"the link {low}-{high} is {'missing' if frozenset((low, high)) in wanted else 'extra'}"
        for low, high in wrong
    ]
    message = (
        f"it has the balls of {mirror}{identity.piece}, but {' and '.join(changes)} "
        "(balls are counted from 0, as in the set's file)"
    )
    where = on_bed.mark([ball for bond in wrong for ball in bond])
    return Finding("ball-shape", False, None, None, "", message, where)


def _sizes(part: Part, balls: Balls, on_bed: _OnBed, profile: Profile) -> Iterator[Finding]:
    """Findings on pitch, balls, links, gaps, what is neither ball nor link, slits, and the flat."""
    ball_mm, unit_mm = profile.ball_mm, profile.unit_mm
    shape = balls.shape
    places = np.array(shape.balls, float) * balls.pitch_mm
    yield from check_limits("ball-pitch", balls.pitch_mm, *near(unit_mm, unit_mm * UNIT_TOLERANCE))
    widths = [(width, on_bed.mark([i])) for i, width in enumerate(balls.diameters_mm)]
    yield from check_limits("ball-diameter", widths, *near(ball_mm))
    # The link with the largest deficit; the flat cuts those on the bed.
    links = []
    for width, bond in zip(balls.links_mm, shape.bonds, strict=True):
        is_on_bed = set(on_bed.lowest).issuperset(bond)
        wanted = height_on_bed_mm(profile) if is_on_bed else profile.link_mm
        links.append((width - wanted, wanted, bond))
    for off, wanted, bond in sorted(links)[:1]:
        # Chords of 24 segments take as much as the tolerance off a link of 9 mm.
        link = [(off + wanted, on_bed.mark(bond))]
        yield from check_limits("ball-link", link, wanted - 2 * TOLERANCE_MM)
    gaps = []
    for pair in adjacent_pairs(shape):
        if pair not in shape.bonds:
            cut = cross_sections(part.aligned.as_trimesh, places[[*pair]], [0.0])[0]
            apart_mm = balls.pitch_mm - sum(balls.diameters_mm[i] for i in pair) / 2
            gaps.append((apart_mm if cut.is_empty else 0.0, on_bed.mark(pair)))
    yield from check_limits("ball-gap", gaps, max(0.0, unit_mm - ball_mm - TOLERANCE_MM))
    stray_mm = float(distance_to_skeleton(part.vertices, places, shape.bonds).max())
    what = "the largest distance of the surface from the middles of balls and links"
    most_mm = ball_mm / 2 + 2 * TOLERANCE_MM
    yield from check_limits("ball-stray", stray_mm, maximum=most_mm, what=what)
    if part.aligned.is_solid:
        # Half as thick as links, or as what the flat leaves of those on the bed.
        core_mm = min(profile.link_mm, 2 * profile.ball_flat_mm) / 4 * balls.pitch_mm / unit_mm
        cores = capsules(places, shape.bonds, core_mm)
        missing_mm3 = [(core - part.aligned.manifold).volume() for core in cores]
        marks = map(on_bed.mark, shape.bonds)
        missing = zip(missing_mm3, marks, strict=True)
        yield from check_limits("ball-slit", missing, maximum=TINY_MM3, unit="mm3")
    flats = []
    for i in on_bed.lowest:
        middle = shapely.Point(on_bed.middles[i, :2])
        reach_mm = on_bed.flat.boundary.distance(middle) if on_bed.flat.contains(middle) else 0.0
        flats.append((reach_mm, on_bed.mark([i])))
    flat_mm = math.sqrt(max(0.0, ball_mm**2 / 4 - profile.ball_flat_mm**2))
    # Of usual sizes, a flat that lies 0.3 mm too deep has less; chords of 24 segments take 0.05.
    yield from check_limits("ball-flat", flats, round(0.9 * flat_mm, 3))
    if not on_bed.flat.is_empty:
        tilt = on_bed.tilt_degrees
        message = "it does not lie on its flat in its file; rotate it in the slicer"
        message = message if tilt > 0.1 else "it lies on its flat"
        yield Finding("ball-orientation", tilt <= 0.1, tilt, 0.1, "deg", message)


def height_on_bed_mm(profile: Profile) -> float:
    """The height of a link on the bed, cut by the flat: its smallest width."""
    return profile.link_mm / 2 + min(profile.link_mm / 2, profile.ball_flat_mm)


def _room(part: Part, balls: Balls, profile: Profile) -> Iterator[Finding]:
    """The finding on whether a part stays inside its own cells in every orientation on a board.

    If so, two pieces on their own cells never touch.
    """
    least_mm = profile.gap_min_mm / 2
    try:
        poses = flat_poses(balls.shape)
    except BallError as error:
        yield Finding("ball-cells", False, None, least_mm, "mm", f"it {error}")
        return
    # The silhouette does not depend on the rotation on the board, or on the side seen; but the
    # balls in the board's plane may differ.
    places = np.array(balls.shape.balls, float)
    rooms = []
    for axis in sorted({[abs(x) for x in pose.rotation[2]].index(1) for pose in poses}):
        in_plane = places[:, axis] == places[balls.shape.base()[0], axis]
        plane = np.roll(places[in_plane], 2 - axis, 1)
        low, high = (balls.pitch_mm * (plane + end) for end in (-0.5, 0.5))
        # Touching squares are joined despite rounding errors.
        cells = shapely.union_all(shapely.box(*low.T[:2], *high.T[:2]), grid_size=1e-6)
        from_above = silhouette(Mesh("", np.roll(part.vertices, 2 - axis, 1), part.mesh.faces))
        rooms.append((inside_mm(from_above, cells), None))
    yield from check_limits("ball-cells", rooms, least_mm)


# --- on the bed ---------------------------------------------------------------------------


class _OnBed(NamedTuple):
    """A part as printed: on the side with the largest level and lowest surface.

    Attributes:
        vertices: its corners in mm, lowest at height 0; `middles`: those of its balls.
        lowest: the balls of the lowest plane; without a flat, as many as possible.
        flat: the area on the bed, seen from above.
        tilt_degrees: between the file's vertical and the upright of the part; 0 without a flat.
    """

    vertices: Points
    middles: Points
    lowest: tuple[int, ...]
    flat: BaseGeometry
    tilt_degrees: float

    def mark(self, balls: Sequence[int]) -> BaseGeometry:
        """The area of some balls from above, for a drawing."""
        return shapely.multipoints(self.middles[[*balls], :2]).convex_hull.buffer(1.0)


def _place_on_bed(part: Part, balls: Balls) -> _OnBed:
    """Lay a piece on its flat, however its facets are rotated."""
    mesh, faces = part.aligned.as_trimesh, part.mesh.faces
    pitch_mm = balls.pitch_mm
    middles = np.array(balls.shape.balls, float) * pitch_mm
    axes = np.vstack([np.eye(3), -np.eye(3)])
    tilt = 0.0

    def lowest_faces(up: Points, near_mm: float) -> NDArray[np.bool_]:
        heights = mesh.triangles @ up
        return np.asarray((heights < heights.min() + near_mm).all(axis=1))

    def lowest_balls(up: Points) -> tuple[int, ...]:
        heights = middles @ up
        return tuple(np.flatnonzero(heights < heights.min() + pitch_mm / 2).tolist())

    flat = np.zeros(len(faces), dtype=bool)
    for axis in axes:
        # One misplaced ball rotates the axes of all slightly.
        low = (np.abs(mesh.face_normals @ axis) > 0.998) & lowest_faces(axis, 0.05 * pitch_mm)
        if low.any():
            # Noise tilts single faces; together, all faces of this height are level.
            low = lowest_faces(_across(part.vertices, faces[low]), 0.002 * pitch_mm)
            flat = max(flat, low, key=lambda faces_on_bed: mesh.area_faces[faces_on_bed].sum())
    # It has at least a twentieth of a cell; that under one ball has a quarter.
    if mesh.area_faces[flat].sum() > 0.05 * pitch_mm**2:
        up = _across(part.vertices, faces[flat])
        own = _across(part.mesh.vertices, faces[flat])
        tilt = math.degrees(math.atan2(math.hypot(own[0], own[1]), own[2]))
    else:
        flat[:] = False
        up = max(axes, key=lambda axis: len(lowest_balls(axis)))
    x = np.cross(np.eye(3)[int(np.abs(up).argmin())], up)
    x /= np.linalg.norm(x)
    turn = np.array([x, np.cross(up, x), up])
    vertices = part.vertices @ turn.T
    down = [0.0, 0.0, float(vertices[:, 2].min())]
    bed = shapely.union_all(shapely.make_valid(shapely.polygons(vertices[faces[flat]][:, :, :2])))
    return _OnBed(vertices - down, middles @ turn.T - down, lowest_balls(up), bed, tilt)


def _across(vertices: Points, faces: Faces) -> Points:
    """The unit vector across faces of one plane that points to the side of the body's middle."""
    from trimesh.points import plane_fit

    middle, across = plane_fit(vertices[np.unique(faces)])
    return np.asarray(across if (vertices.mean(axis=0) - middle) @ across > 0 else -across)
