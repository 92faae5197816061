"""Rules on a part that is made of balls: its sizes, its flat, and the room that it keeps to."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Point
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.balls.links import Between
from fabkit.mesh.balls.lying import Lying
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.balls.shapes import neighbours
from fabkit.mesh.finding import Finding, at_least, at_most, between
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE
from fabkit.model.balls import BallBody, BallError, flat_poses
from fabkit.model.profile import Profile

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


def size_findings(part: BallPart, lying: Lying, profile: Profile) -> Iterator[Finding]:
    """Findings on pitch, balls, links and gaps; none when balls could not be read."""
    shape = part.shape
    if shape is None:
        return
    unit_mm = profile.unit_mm
    size = (unit_mm * (1 - UNIT_TOLERANCE), unit_mm * (1 + UNIT_TOLERANCE))
    what = "the distance of neighbouring balls"
    yield between("ball-pitch", part.pitch_mm, size, "mm", what)
    off = [abs(diameter - profile.ball_mm) for diameter in part.diameters_mm]
    worst = int(np.argmax(off))
    size = (profile.ball_mm - TOLERANCE_MM, profile.ball_mm + TOLERANCE_MM)
    what, where = "the diameter of a ball", _mark(lying, worst)
    yield between("ball-diameter", part.diameters_mm[worst], size, "mm", what, where)
    if shape.bonds:
        yield _links(shape.bonds, part.links_mm, lying, profile)
    yield from _gaps(part, shape, lying, profile)
    yield _stray(part, shape, profile)


def _links(
    bonds: tuple[tuple[int, int], ...],
    links_mm: tuple[float, ...],
    lying: Lying,
    profile: Profile,
) -> Finding:
    """The link that is thinnest, compared with what it should be.

    The flat cuts those that lie on the bed.
    """
    on_bed_mm = height_on_bed_mm(profile)
    lowest = set(lying.lowest)
    asked = [on_bed_mm if lowest.issuperset(bond) else profile.link_mm for bond in bonds]
    lacks = [right - link for link, right in zip(links_mm, asked, strict=True)]
    worst = max(range(len(bonds)), key=lambda i: (math.isnan(lacks[i]), lacks[i]))
    least_mm = round(asked[worst] - _LINK_TOLERANCE_MM, 6)
    where = _mark(lying, *bonds[worst])
    return at_least("ball-link", links_mm[worst], least_mm, "mm", "the width of a link", where)


def height_on_bed_mm(profile: Profile) -> float:
    """How high a link is that lies on the bed, cut by the flat: the least of its widths.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> height_on_bed_mm(load_profile())
        8.7
    """
    return profile.link_mm / 2 + min(profile.link_mm / 2, profile.ball_flat_mm)


def _gaps(part: BallPart, shape: BallBody, lying: Lying, profile: Profile) -> Iterator[Finding]:
    """How far neighbours are apart that no link joins; none when all are joined."""
    bonded = {frozenset(bond) for bond in shape.bonds}
    apart = [pair for pair in neighbours(shape.balls) if frozenset(pair) not in bonded]
    if not apart:
        return
    measure = Between(part.straight, part.pitch_mm)
    places = np.array(shape.balls, float) * part.pitch_mm
    gaps = [(measure.gap(*places[list(pair)]), pair) for pair in apart]
    gap_mm, pair = min(gaps)
    least_mm = max(0.0, round(profile.unit_mm - profile.ball_mm - TOLERANCE_MM, 6))
    what = "the gap between neighbouring balls without a link"
    yield at_least("ball-gap", gap_mm, least_mm, "mm", what, _mark(lying, *pair))


def _stray(part: BallPart, shape: BallBody, profile: Profile) -> Finding:
    """Whether anything is there that is neither ball nor link."""
    places = np.array(shape.balls, float) * part.pitch_mm
    nearest = np.full(len(part.vertices), math.inf)
    for one, other in [*shape.bonds, *((i, i) for i in range(len(places)))]:
        nearest = np.minimum(nearest, _distances(part.vertices, places[one], places[other]))
    most_mm = round(profile.ball_mm / 2 + 2 * TOLERANCE_MM, 6)
    what = "how far anything is from the middles of balls and links"
    return at_most("ball-stray", float(nearest.max()), most_mm, "mm", what)


def _distances(
    points: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """From points to the line between two points."""
    way = end - start
    length = float(way @ way)
    along = np.clip((points - start) @ way / length, 0.0, 1.0) if length else np.zeros(len(points))
    return np.asarray(np.linalg.norm(points - start - along[:, None] * way, axis=1))


def lying_findings(part: BallPart, lying: Lying, profile: Profile) -> Iterator[Finding]:
    """Findings on the flat on which a part is printed; none when balls could not be read."""
    if part.shape is None:
        return
    radius_mm = profile.ball_mm / 2
    drawn_mm = math.sqrt(max(0.0, radius_mm**2 - profile.ball_flat_mm**2))
    middles = {i: Point(lying.middles[i, :2]) for i in lying.lowest}
    radii = [(_radius(lying.flat, middle), i) for i, middle in middles.items()]
    least, worst = min(radii)
    what, where = "the radius of the flat under a ball", _mark(lying, worst)
    yield at_least("ball-flat", least, round(_FLAT_SHARE * drawn_mm, 3), "mm", what, where)
    if not lying.flat.is_empty:
        tilt = lying.tilt_degrees
        ok = tilt <= _TILT_DEGREES
        message = "it lies on its flat"
        message = (
            message if ok else "it does not lie on its flat in its file; turn it in the slicer"
        )
        yield Finding("ball-lies", ok, tilt, _TILT_DEGREES, "deg", message)


def _radius(flat: BaseGeometry, middle: Point) -> float:
    return float(flat.boundary.distance(middle)) if flat.contains(middle) else 0.0


def fitting_findings(part: BallPart, profile: Profile) -> Iterator[Finding]:
    """Whether a part keeps inside its own cells, however it lies on a board.

    Then two pieces on cells of their own never touch. Nothing is said when balls could not be
    read.
    """
    shape = part.shape
    if shape is None:
        return
    try:
        poses = flat_poses(shape)
    except BallError as error:
        yield Finding("ball-cells", False, None, profile.gap_min_mm / 2, "mm", f"it {error}")
        return
    # What is seen from above is the same however it is then turned on the board, or seen from
    # below; but which balls lie in the board's plane may differ.
    level = shape.balls[shape.spine()[0]]
    rooms = []
    for axis in sorted({[abs(x) for x in pose.rotation[2]].index(1) for pose in poses}):
        plane = [ball for ball in shape.balls if ball[axis] == level[axis]]
        seen = [i for i in range(3) if i != axis]
        cells = _cells(np.array(plane, float)[:, seen] * part.pitch_mm, part.pitch_mm)
        rooms.append(_room(part.vertices[part.body.faces][:, :, seen], cells))
    what = "the room between the piece and the edge of its own cells"
    yield at_least("ball-cells", min(rooms), profile.gap_min_mm / 2, "mm", what)


def _cells(middles: NDArray[np.float64], pitch_mm: float) -> BaseGeometry:
    """The squares around balls that lie in the board's plane."""
    low, high = middles - pitch_mm / 2, middles + pitch_mm / 2
    squares = [shapely.box(*corners) for corners in np.hstack([low, high]).tolist()]
    # Squares that touch are joined, whatever rounding says.
    return shapely.union_all(squares, grid_size=1e-6)


def _room(triangles: NDArray[np.float64], cells: BaseGeometry) -> float:
    """How far triangles are from the edge of an area; negative by how far they reach out."""
    (ux, uy), (vx, vy) = ((triangles[:, i] - triangles[:, 0]).T for i in (1, 2))
    shown = shapely.polygons(triangles[np.abs(ux * vy - uy * vx) > 0])
    shapely.prepare(cells)
    if not shapely.covers(cells, shown).all():
        corners = shapely.points(triangles.reshape(-1, 2))
        return -float(shapely.distance(corners, cells).max())
    return float(shapely.distance(shown, cells.boundary).min())


def _mark(lying: Lying, *balls: int) -> BaseGeometry:
    """The place of some balls, seen from above."""
    return shapely.MultiPoint(lying.middles[list(balls)][:, :2]).convex_hull.buffer(_MARK_MM)
