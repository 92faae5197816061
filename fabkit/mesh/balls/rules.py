"""Rules on a part that is made of balls: which piece it is, its sizes, its flat, its room."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.balls.measure import Lying, Tube, lay_down, neighbours, to_lines
from fabkit.mesh.features import Features
from fabkit.mesh.finding import Finding, at_least, at_most, between
from fabkit.mesh.identity import Identity, unsure
from fabkit.mesh.part import Balls, Part
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.model.balls import BallError, flat_poses
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: A link may be thinner by this much: the tolerance, and what the chords of 24 segments take off
#: a link of 9 mm, once more.
_LINK_TOLERANCE_MM = 2 * TOLERANCE_MM
#: The flat under a ball has at least this part of its radius as drawn: with usual sizes, a flat
#: that lies 0.3 mm too deep has less; the chords of 24 segments take off half of it.
_FLAT_SHARE = 0.9
#: How nearly a part must lie on its flat in its file, as a flat piece on its back.
_TILT_DEGREES = 0.1
#: How large a place is marked, in mm.
_MARK_MM = 1.0


def inspect_balls(
    part: Part, identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """What every rule says of one part that is made of balls, as it lies on its flat.

    Args:
        part: the part.
        identity: which piece it is.
        puzzle: the set.
        profile: what is asked for.

    Returns:
        Findings in the order of the rules, those that are kept among them. Their places are seen
        from above, as the part lies when it is printed. Of what is no piece only that is said, and
        what is wrong with the mesh as such.
    """
    # Balls have no recesses or letters, and are printed as they lie, whatever flat pieces do.
    plain, nothing = replace(profile, fit="none", facing="up"), Features((), (), (), (), ())
    if part.balls is None:
        return [
            *sound_findings(part, nothing, plain),
            Finding("ball-shape", False, None, None, "", part.why),
        ]
    lying = lay_down(part)
    as_printed = Part(part.body, lying.vertices)
    balls, what = part.balls, "how far a ball lies off its place"
    return [
        *sound_findings(as_printed, nothing, plain),
        at_most("ball-read", balls.off_mm, TOLERANCE_MM, "mm", what),
        _shape(part, lying, identity, puzzle),
        *_sizes(part, balls, lying, profile),
        *_flat(lying, profile),
        _room(part, balls, profile),
        *printing_findings(as_printed, plain),
    ]


def _shape(part: Part, lying: Lying, identity: Identity, puzzle: PuzzleSet) -> Finding:
    """Whether a part is the piece of the set; if only links are wrong, which ones."""
    assert part.balls is not None
    mirror = "the mirror image of " if identity.mirrored else ""
    if found := unsure("ball-shape", part, f"{mirror}{identity.piece}"):
        return found
    if identity.alike:
        what = "is" if mirror else "has the balls and the links of"
        message = f"it {what} {mirror}{' and '.join(identity.alike)}"
        return Finding("ball-shape", not mirror, None, None, "", message)
    drawn = puzzle.piece(identity.piece or "").body
    asked = {frozenset(bond) for bond in drawn.bonds} if drawn else set()
    wrong = sorted(map(sorted, asked ^ {frozenset(bond) for bond in part.balls.shape.bonds}))
    told = [
        f"the link {low}-{high} is {'missing' if frozenset((low, high)) in asked else 'too many'}"
        for low, high in wrong
    ]
    message = (
        f"it has the balls of {mirror}{identity.piece}, but {' and '.join(told)} "
        "(balls are counted from 0, as in the set's file)"
    )
    where = _mark(lying, *(ball for bond in wrong for ball in bond))
    return Finding("ball-shape", False, None, None, "", message, where)


def _sizes(part: Part, balls: Balls, lying: Lying, profile: Profile) -> Iterator[Finding]:
    """Findings on pitch, balls, links and gaps, and on what is neither ball nor link."""
    unit_mm, ball_mm, shape = profile.unit_mm, profile.ball_mm, balls.shape
    size = (unit_mm * (1 - UNIT_TOLERANCE), unit_mm * (1 + UNIT_TOLERANCE))
    what = "the distance of neighbouring balls"
    yield between("ball-pitch", balls.pitch_mm, size, "mm", what)
    worst = max(range(len(shape.balls)), key=lambda i: abs(balls.diameters_mm[i] - ball_mm))
    size, where = (ball_mm - TOLERANCE_MM, ball_mm + TOLERANCE_MM), _mark(lying, worst)
    what = "the diameter of a ball"
    yield between("ball-diameter", balls.diameters_mm[worst], size, "mm", what, where)
    if shape.bonds:
        yield _links(shape.bonds, balls.links_mm, lying, profile)
    places = np.array(shape.balls, float) * balls.pitch_mm
    triangles = part.vertices[part.body.faces]
    gaps = [
        (Tube(triangles, *places[list(pair)]).gap(), pair)
        for pair in neighbours(shape)
        if pair not in shape.bonds
    ]
    if gaps:
        gap_mm, pair = min(gaps)
        least_mm = max(0.0, round(unit_mm - ball_mm - TOLERANCE_MM, 6))
        what = "the gap between neighbouring balls without a link"
        yield at_least("ball-gap", gap_mm, least_mm, "mm", what, _mark(lying, *pair))
    ends = np.array([*shape.bonds, *((i, i) for i in range(len(places)))])
    nearest = to_lines(part.vertices, places[ends[:, 0]], places[ends[:, 1]])
    most_mm = round(ball_mm / 2 + 2 * TOLERANCE_MM, 6)
    what = "how far anything is from the middles of balls and links"
    yield at_most("ball-stray", float(nearest.max()), most_mm, "mm", what)


def _links(
    bonds: tuple[tuple[int, int], ...],
    links_mm: tuple[float, ...],
    lying: Lying,
    profile: Profile,
) -> Finding:
    """The link that is thinnest, compared with what it should be.

    The flat cuts those that lie on the bed.
    """
    on_bed_mm, lowest = height_on_bed_mm(profile), set(lying.lowest)
    asked = [on_bed_mm if lowest.issuperset(bond) else profile.link_mm for bond in bonds]
    worst = max(range(len(bonds)), key=lambda i: asked[i] - links_mm[i])
    least_mm, where = round(asked[worst] - _LINK_TOLERANCE_MM, 6), _mark(lying, *bonds[worst])
    return at_least("ball-link", links_mm[worst], least_mm, "mm", "the width of a link", where)


def height_on_bed_mm(profile: Profile) -> float:
    """How high a link is that lies on the bed, cut by the flat: the least of its widths.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> height_on_bed_mm(load_profile())
        8.7
    """
    return profile.link_mm / 2 + min(profile.link_mm / 2, profile.ball_flat_mm)


def _flat(lying: Lying, profile: Profile) -> Iterator[Finding]:
    """Findings on the flat on which a part is printed."""
    radius_mm = profile.ball_mm / 2
    drawn_mm = math.sqrt(max(0.0, radius_mm**2 - profile.ball_flat_mm**2))
    middles = {i: shapely.Point(lying.middles[i, :2]) for i in lying.lowest}
    least, worst = min(
        (float(lying.flat.boundary.distance(at)) if lying.flat.contains(at) else 0.0, i)
        for i, at in middles.items()
    )
    what, where = "the radius of the flat under a ball", _mark(lying, worst)
    yield at_least("ball-flat", least, round(_FLAT_SHARE * drawn_mm, 3), "mm", what, where)
    if not lying.flat.is_empty:
        tilt = lying.tilt_degrees
        ok, message = tilt <= _TILT_DEGREES, "it lies on its flat"
        if not ok:
            message = "it does not lie on its flat in its file; turn it in the slicer"
        yield Finding("ball-lies", ok, tilt, _TILT_DEGREES, "deg", message)


def _room(part: Part, balls: Balls, profile: Profile) -> Finding:
    """Whether a part keeps inside its own cells, however it lies on a board.

    Then two pieces on cells of their own never touch.
    """
    try:
        poses = flat_poses(balls.shape)
    except BallError as error:
        return Finding("ball-cells", False, None, profile.gap_min_mm / 2, "mm", f"it {error}")
    # What is seen from above is the same however it is then turned on the board, or seen from
    # below; but which balls lie in the board's plane may differ.
    places = np.array(balls.shape.balls, float)
    rooms = []
    for axis in sorted({[abs(x) for x in pose.rotation[2]].index(1) for pose in poses}):
        plane = places[places[:, axis] == places[balls.shape.spine()[0], axis]]
        seen = [i for i in range(3) if i != axis]
        low, high = (balls.pitch_mm * (plane[:, seen] + end) for end in (-0.5, 0.5))
        # Squares that touch are joined, whatever rounding says.
        cells = shapely.union_all(shapely.box(*low.T, *high.T), grid_size=1e-6)
        rooms.append(_inside_mm(part.vertices[:, seen], part.body.faces, cells))
    what = "the room between the piece and the edge of its own cells"
    return at_least("ball-cells", min(rooms), profile.gap_min_mm / 2, "mm", what)


def _inside_mm(corners: NDArray[np.float64], faces: NDArray[np.int64], area: BaseGeometry) -> float:
    """How far facets are from the edge of an area; negative by how far they reach out."""
    points, edge = shapely.points(corners[np.unique(faces)]), area.boundary
    shapely.prepare(area)
    outside = points[~shapely.covers(area, points)]
    if len(outside):
        return -float(shapely.distance(outside, area).max())
    shapely.prepare(edge)
    away = np.full(len(corners), math.inf)
    away[np.unique(faces)] = shapely.distance(points, edge)
    triangles = corners[faces]
    longest = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2).max(axis=1)
    # Only large facets come nearer to the edge than their corners do.
    near = shapely.linearrings(triangles[away[faces].min(axis=1) - longest < away.min()])
    return float(min(away.min(), shapely.distance(near, edge).min(initial=math.inf)))


def _mark(lying: Lying, *balls: int) -> BaseGeometry:
    """The place of some balls, seen from above."""
    return shapely.MultiPoint(lying.middles[list(balls)][:, :2]).convex_hull.buffer(_MARK_MM)
