"""Measuring a piece of balls whose pose is known: its balls, its lattice, its links, gaps and flat."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body, Points
from fabkit.mesh.part import Part
from fabkit.model.balls import BallBody

#: Corners lie on a ball when they are off by no more than this part of its radius, ever nearer.
_ON_BALL = (0.15, 0.08, 0.08)
#: That many corners tell a ball reliably.
_ENOUGH_CORNERS = 8
#: Corners that spread by more than this part of the radius are not all of them on the ball.
_SPREAD = 0.002
#: Links are cut at so many places, the middle one halfway, between those this part of the radius
#: away from both balls' middles. There a ball is still wider than a link.
_CUTS, _FROM_MIDDLE = 9, 0.5


class Pose(NamedTuple):
    """Balls at their places in a mesh: ball ``b`` is at ``origin + pitch * turn @ b``.

    Attributes:
        drawn: the balls, and their links.
        pitch: the distance of neighbours.
        turn: the rotation from the drawing's axes to the mesh's, shape (3, 3).
        origin: the mesh's point at the drawing's 0, 0, 0.
        diameters: of the balls.
        off: how far the worst ball's middle lies from its place.
    """

    drawn: BallBody
    pitch: float
    turn: Points
    origin: Points
    diameters: tuple[float, ...]
    off: float = 0.0


def place(body: Body, about: Pose) -> Pose | str:
    """Fits balls to the surface near them, and their lattice to these, however facets are turned.

    Returns:
        The balls as they are, or why they are not there.
    """
    wanted, radius = np.array(about.drawn.balls, float), about.diameters[0] / 2
    middles = about.origin + about.pitch * wanted @ about.turn.T
    away = [np.linalg.norm(body.vertices - middle, axis=1) for middle in middles]
    owners = np.argmin(away, axis=0)[body.faces]
    found = []
    for at, middle in enumerate(middles):
        ball = _ball(body, (owners == at).any(axis=1), middle, radius)
        if ball is None:
            return f"ball {at} is not at its place"
        found.append(ball)
    seen, radii = np.array([middle for middle, _ in found]), [size for _, size in found]
    # By least squares, after Umeyama, Least-squares estimation of transformation parameters (1991).
    shape, shown = wanted - wanted.mean(axis=0), seen - seen.mean(axis=0)
    left, _, right = np.linalg.svd(shown.T @ shape)
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    turn = left @ right
    pitch = float((shown * (shape @ turn.T)).sum() / (shape**2).sum())
    origin = seen.mean(axis=0) - pitch * turn @ wanted.mean(axis=0)
    off = np.linalg.norm(seen - origin - pitch * wanted @ turn.T, axis=1)
    if off.max() > 0.15 * pitch:
        return f"ball {off.argmax()} is not at its place"
    diameters = tuple(2 * radius for radius in radii)
    return Pose(about.drawn, pitch, turn, origin, diameters, float(off.max()))


def _ball(
    body: Body, near: NDArray[np.bool_], middle: Points, radius: float
) -> tuple[Points, float] | None:
    """The sphere on which facets near it lie; None when too little of it is there."""
    mesh, faces = body.as_trimesh, body.faces[near]
    corners, normals, areas = body.vertices[faces], mesh.face_normals[near], mesh.area_faces[near]
    for tolerance in _ON_BALL:
        off = np.linalg.norm(corners - middle, axis=2) - radius
        away = ((corners[:, 0] - middle) * normals).sum(axis=1)
        on_ball = (np.abs(off) < tolerance * radius).all(axis=1)
        on_ball &= np.abs(away) > 0.9 * radius  # the facet's plane touches it, nearly
        if areas[on_ball].sum() < 0.01 * 4 * math.pi * radius**2:
            return None
        # Where a link or the flat cuts a ball of chords, the new corners lie a little inside it.
        inner = np.setdiff1d(faces[on_ball], faces[~on_ball])
        inner = inner if len(inner) >= _ENOUGH_CORNERS else np.unique(faces[on_ball])
        fitted = _sphere((body.vertices[inner] - middle) / radius)
        if fitted is None:
            return None
        middle, radius = middle + radius * fitted[0], radius * fitted[1]
    return middle, radius


def _sphere(points: Points) -> tuple[Points, float] | None:
    """The sphere on which the outer ones of points lie: others are middles of chords.

    By least squares for |p|^2 = 2 c p + d, with c the middle.
    """
    while True:
        columns = np.column_stack([2 * points, np.ones(len(points))])
        squares = (points**2).sum(axis=1)
        (*middle, rest), _, rank, _ = np.linalg.lstsq(columns, squares, rcond=None)
        squared = rest + float(np.dot(middle, middle))
        if rank < 4 or squared <= 0:
            return None
        radius = math.sqrt(squared)
        off = np.linalg.norm(points - middle, axis=1) - radius
        usual = float(np.median(off))
        most = usual + 3 * float(np.median(np.abs(off - usual))) + _SPREAD * radius
        outer = (off >= usual) & (off <= most)
        if off.std() < _SPREAD * radius or outer.sum() < _ENOUGH_CORNERS:
            return np.array(middle), radius
        points = points[outer]


def from_middles(
    points: Points, places: Points, bonds: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """How far points (n, 3) are from the nearest ball's middle, or line between bonded ones."""
    found = np.full(len(points), math.inf)
    for one, other in [*((i, i) for i in range(len(places))), *bonds]:
        way = places[other] - places[one]
        along = np.clip((points - places[one]) @ way / (float(way @ way) or 1.0), 0.0, 1.0)
        away = points - places[one] - along[:, None] * way
        np.minimum(found, np.linalg.norm(away, axis=1), out=found)
    return found


# --- between balls ------------------------------------------------------------------------


def neighbours(shape: BallBody) -> Iterator[tuple[int, int]]:
    """The pairs of balls that lie one pitch apart: the bonded ones as they stand, then others.

    Example:
        >>> list(neighbours(BallBody(((0, 0, 0), (1, 0, 0), (1, 1, 0)), ((2, 1),))))
        [(2, 1), (0, 1)]
    """
    yield from shape.bonds
    bonded = {frozenset(bond) for bond in shape.bonds}
    for pair in combinations(range(len(shape.balls)), 2):
        if math.dist(*(shape.balls[i] for i in pair)) == 1 and frozenset(pair) not in bonded:
            yield pair


def link_widths(
    mesh: Any, drawn: BallBody, pitch_mm: float, diameters_mm: Sequence[float]
) -> dict[tuple[int, int], float]:
    """The links that are there, whichever are drawn, each with its least width.

    That is the smallest distance of two parallel lines that hold it, in any cut along it. A link
    that lies on the bed is cut by the flat there, and is less high than wide.

    Args:
        mesh: a `trimesh.Trimesh`, its balls at the drawing's places times the pitch.
        drawn: with all balls at their places.
        pitch_mm: the distance of neighbours.
        diameters_mm: of the balls.
    """
    found = {}
    for pair in neighbours(drawn):
        one, other = pitch_mm * np.array([drawn.balls[i] for i in pair], float)
        end = pitch_mm / 2 - _FROM_MIDDLE * sum(diameters_mm[i] for i in pair) / 4
        hulls = _cuts(mesh, one, other, np.linspace(-end, end, _CUTS).tolist())
        if hulls[_CUTS // 2].contains(shapely.Point(0, 0)):
            found[pair] = min(map(_width, hulls))
    return found


def gap(mesh: Any, one: Points, other: Points) -> float:
    """How long the middle between two neighbouring balls' middles is empty; 0 when it is not."""
    way = other - one
    half = float(np.linalg.norm(way)) / 2
    if not _cuts(mesh, one, other, [0.0])[0].is_empty:
        return 0.0
    around = mesh.vertices - (one + other) / 2
    heights = around @ way / (2 * half)
    across = np.linalg.norm(around - heights[:, None] * way / (2 * half), axis=1)
    heights = heights[across < half]
    high, low = heights[heights > 0], heights[heights <= 0]
    return float(high.min(initial=half) - low.max(initial=-half))


def _cuts(mesh: Any, one: Points, other: Points, heights: Sequence[float]) -> list[BaseGeometry]:
    """Sections across the line between two balls' middles, at heights from halfway.

    Of each the convex hull of what is nearer to that line than to other places, the line at 0, 0.
    """
    from trimesh.intersections import mesh_multiplane

    sections, _, _ = mesh_multiplane(mesh, (one + other) / 2, other - one, heights)
    found = []
    for section in sections:
        lines = shapely.linestrings(section)
        near = shapely.distance(lines, shapely.Point(0, 0)) < np.linalg.norm(other - one) / 2
        found.append(shapely.multilinestrings(lines[near]).convex_hull)
    return found


def _width(hull: BaseGeometry) -> float:
    """The smallest distance of two parallel lines that hold a convex polygon.

    Example:
        >>> _width(shapely.box(0, 0, 4, 3))
        3.0
    """
    ring = shapely.get_coordinates(hull)
    if len(ring) < 4:
        return math.inf
    sides = np.diff(ring, axis=0)
    normals = np.column_stack([-sides[:, 1], sides[:, 0]])
    return float((np.ptp(ring @ normals.T, axis=0) / np.linalg.norm(normals, axis=1)).min())


# --- on the bed ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Lying:
    """A part as it is printed: on the side on which most of its surface is level and lowest.

    Attributes:
        vertices: its corners in mm, shape (n, 3), lowest at height 0, the flat level.
        middles: the places of its balls there, shape (balls, 3).
        lowest: the balls of the lowest plane.
        flat: what lies on the bed, seen from above; empty when there is no flat. Then the part
            lies with as many balls lowest as it can.
        tilt_degrees: between the file's vertical and the upright of the part; 0 without a flat.
    """

    vertices: Points
    middles: Points
    lowest: tuple[int, ...]
    flat: BaseGeometry
    tilt_degrees: float


def lay_down(part: Part) -> Lying:
    """Lays a piece on its flat, however its facets are turned."""
    assert part.balls is not None
    mesh, pitch_mm = part.straight.as_trimesh, part.balls.pitch_mm
    middles = np.array(part.balls.shape.balls, float) * pitch_mm
    ways, tilt = np.vstack([np.eye(3), -np.eye(3)]), 0.0
    # The flat has at least a twentieth of a cell; that under one ball has a quarter.
    most, flat, up = 0.05 * pitch_mm**2, np.zeros(len(mesh.faces), dtype=bool), None
    for way in ways:
        # One ball that lies off its place turns the axes of all a little.
        turned = mesh.face_normals @ way
        level = np.abs(turned) > math.cos(math.radians(3))
        if not level.any():
            continue
        normals = mesh.area_faces[:, None] * mesh.face_normals * np.sign(turned)[:, None]
        across = normals[np.argmax(mesh.area_faces * level)]
        # Noise turns single faces; all that lie as low together are as level as can be.
        across = normals[level & _within(mesh, across, 0.02 * pitch_mm)].sum(axis=0)
        lowest = _within(mesh, across, 0.002 * pitch_mm)
        if mesh.area_faces[lowest].sum() > most:
            most, flat, up = float(mesh.area_faces[lowest].sum()), lowest, way
    if up is not None:
        on_bed = np.unique(part.body.faces[flat])
        up, own = _across(part.vertices, on_bed), _across(part.body.vertices, on_bed)
        tilt = math.degrees(math.atan2(math.hypot(own[0], own[1]), own[2]))
    else:
        up = max(ways, key=lambda way: len(_lowest(middles @ way, pitch_mm)))
    x = np.cross(np.eye(3)[int(np.abs(up).argmin())], up)
    x /= np.linalg.norm(x)
    turn = np.array([x, np.cross(up, x), up])
    vertices, middles = part.vertices @ turn.T, middles @ turn.T
    down = [0.0, 0.0, float(vertices[:, 2].min())]
    bed = shapely.polygons(vertices[part.body.faces[flat]][:, :, :2])
    seen = shapely.union_all(shapely.make_valid(bed))
    return Lying(vertices - down, middles - down, _lowest(middles[:, 2], pitch_mm), seen, tilt)


def _within(mesh: Any, across: Points, near_mm: float) -> NDArray[np.bool_]:
    """The faces that lie so near to the lowest corner, across a plane; none if it is none."""
    length = float(np.linalg.norm(across))
    heights = mesh.triangles @ across
    return np.asarray((heights < heights.min() + near_mm * length).all(axis=1))


def _across(vertices: Points, flat: NDArray[np.int64]) -> Points:
    """The unit vector across corners of a plane that points to the side of the body's middle."""
    from trimesh.points import plane_fit

    middle, across = plane_fit(vertices[flat])
    return np.asarray(across if (vertices.mean(axis=0) - middle) @ across > 0 else -across)


def _lowest(heights: NDArray[np.float64], pitch_mm: float) -> tuple[int, ...]:
    return tuple(np.flatnonzero(heights < heights.min() + pitch_mm / 2).tolist())
