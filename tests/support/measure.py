"""Measuring meshes as a gauge would: nothing here knows how a piece was made.

A mesh is what an STL file holds. Sections and flat parts come out as polygons with the
material inside, so that areas, walls and circles are measured on what will be printed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

if TYPE_CHECKING:
    import trimesh

Points = NDArray[np.float64]

UP, DOWN = 1, -1
#: Two heights this near are one: STL files hold single precision.
SAME_HEIGHT_MM = 1e-4
#: A chord of a curve turns by less than this, a corner by more (radians).
_SHARP = 0.4


def read_mesh(path: Path) -> trimesh.Trimesh:
    """The mesh of an STL file, with corners at the same place made one."""
    import trimesh

    mesh = trimesh.load(path, file_type="stl")
    assert isinstance(mesh, trimesh.Trimesh)
    return mesh


def is_closed(mesh: trimesh.Trimesh) -> bool:
    """Whether every edge joins exactly two triangles that agree on what is outside."""
    return bool(mesh.is_watertight and mesh.is_winding_consistent)


# --- shells -------------------------------------------------------------------------------


def shells(mesh: trimesh.Trimesh) -> list[trimesh.Trimesh]:
    """The parts that hang together by edges, the largest volume first (cavities are negative)."""
    return sorted(mesh.split(only_watertight=False, repair=False), key=lambda part: -part.volume)


def winding_numbers(mesh: trimesh.Trimesh, points: Points) -> Points:
    """How often a closed mesh winds around each point: 1 inside, 0 outside."""
    a, b, c = (mesh.triangles[None, :, corner] - points[:, None] for corner in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    volume = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    below = la * lb * lc
    for one, other, length in ((a, b, lc), (b, c, la), (c, a, lb)):
        below = below + np.einsum("ijk,ijk->ij", one, other) * length
    return np.asarray(2 * np.arctan2(volume, below).sum(axis=1) / (4 * math.pi))


# --- sections and flat parts --------------------------------------------------------------


def section(mesh: trimesh.Trimesh, z_mm: float) -> BaseGeometry:
    """The material at a height, where no corner of the mesh lies.

    Raises:
        ValueError: when the cut does not close.
    """
    heights = mesh.vertices[:, 2] - z_mm
    if np.abs(heights).min() < 1e-6:
        raise ValueError(f"a corner of the mesh lies at the height {z_mm}")
    (a, b), of_face = mesh.edges_unique.T, mesh.faces_unique_edges
    part = heights[a] / np.where(heights[a] == heights[b], 1, heights[a] - heights[b])
    places = mesh.vertices[a] + part[:, None] * (mesh.vertices[b] - mesh.vertices[a])
    # Each triangle that is cut is cut at two of its edges.
    cut = (heights[a] > 0) != (heights[b] > 0)
    return _bounded(places[of_face[cut[of_face]].reshape(-1, 2)])


def flat_part(mesh: trimesh.Trimesh, z_mm: float, facing: int) -> BaseGeometry:
    """The horizontal surface at a height that faces up or down, seen from above."""
    at_height = np.abs(mesh.triangles[:, :, 2] - z_mm).max(axis=1) < SAME_HEIGHT_MM
    flat = at_height & (mesh.face_normals[:, 2] * facing > 0)
    edges, times = np.unique(mesh.faces_unique_edges[flat], return_counts=True)
    return _bounded(mesh.vertices[mesh.edges_unique[edges[times == 1]]])


def _bounded(lines: Points) -> BaseGeometry:
    """The area within an odd number of the rings formed by lines in space, seen from above."""
    rings, *left = shapely.polygonize_full(list(shapely.linestrings(lines[:, :, :2])))
    if not all(one.is_empty for one in left):
        raise ValueError("the cut does not close")
    areas = [Polygon(ring.exterior) for ring in rings.geoms]
    return reduce(shapely.symmetric_difference, areas, Polygon())


def flat_levels(mesh: trimesh.Trimesh) -> dict[tuple[float, int], float]:
    """The area of every horizontal surface, by height (to 0.1 micrometre) and facing."""
    levels: dict[tuple[float, int], float] = defaultdict(float)
    heights = mesh.triangles[:, :, 2]
    flat = np.ptp(heights, axis=1) < SAME_HEIGHT_MM
    for z, normal, area in zip(
        heights[flat, 0], mesh.face_normals[flat, 2], mesh.area_faces[flat], strict=True
    ):
        levels[round(float(z), 4), UP if normal > 0 else DOWN] += float(area)
    return dict(levels)


# --- areas --------------------------------------------------------------------------------


def parts(area: BaseGeometry) -> list[Polygon]:
    """The separate parts of an area, from left to right."""
    found = [part for part in getattr(area, "geoms", [area]) if part.area > 1e-9]
    return sorted(found, key=lambda part: part.centroid.x)


def filled(area: BaseGeometry) -> Polygon:
    """The largest part of an area, its holes filled."""
    return Polygon(max(parts(area), key=lambda part: part.area).exterior)


def hollow(area: BaseGeometry) -> BaseGeometry:
    """What is cut out of an area; islands in it are no part of that."""
    return filled(area).difference(area)


def holes(area: BaseGeometry) -> list[Polygon]:
    """The inner rings of an area, filled, from left to right."""
    rings = [ring for part in parts(area) for ring in part.interiors]
    return sorted((Polygon(ring) for ring in rings), key=lambda hole: hole.centroid.x)


def corners(ring: shapely.LinearRing) -> Points:
    """The corners of a ring, each once."""
    return np.asarray(ring.coords)[:-1, :2]


# --- circles and walls --------------------------------------------------------------------


@dataclass(frozen=True)
class Circle:
    """A circle fitted to points; ``off_mm`` is the distance of the worst of them."""

    x_mm: float
    y_mm: float
    diameter_mm: float
    off_mm: float


def fit_circle(points: Iterable[Iterable[float]]) -> Circle:
    """The circle through points by least squares."""
    x, y = np.asarray([tuple(point)[:2] for point in points]).T
    middle = x.mean(), y.mean()
    u, v = x - middle[0], y - middle[1]
    columns = np.column_stack([2 * u, 2 * v, np.ones_like(u)])
    a, b, c = np.linalg.lstsq(columns, u * u + v * v, rcond=None)[0]
    radius = math.sqrt(c + a * a + b * b)
    off = np.abs(np.hypot(u - a, v - b) - radius).max()
    return Circle(float(middle[0] + a), float(middle[1] + b), 2 * radius, float(off))


def wall_mm(area: BaseGeometry, hole: Polygon) -> float:
    """The thinnest wall between a hole and the outside."""
    return float(hole.exterior.distance(filled(area).exterior))


@dataclass(frozen=True)
class Ribs:
    """Crush ribs in a recess: their number, the two circles, and their width at the root."""

    count: int
    root: Circle
    crest: Circle
    width_mm: float


def ribs_of(recess: Polygon) -> Ribs:
    """The ribs of a recess's section; points halfway between the circles lie on their flanks."""
    points = corners(recess.exterior)
    radii = np.hypot(*(points - np.asarray(recess.centroid.coords[0])).T)
    height = (radii - radii.min()) / np.ptp(radii)
    outside, inside = height > 0.75, height < 0.25
    begins = np.flatnonzero(outside & ~np.roll(outside, -1))
    ends = np.flatnonzero(outside & ~np.roll(outside, 1))
    widths = [
        math.dist(points[begin], points[min(ends, key=lambda end: (end - begin) % len(points))])
        for begin in begins
    ]
    return Ribs(
        len(begins),
        fit_circle(points[outside]),
        fit_circle(points[inside]),
        sum(widths) / len(widths) if widths else 0.0,
    )


# --- shapes -------------------------------------------------------------------------------


def difference_mm2(one: BaseGeometry, other: BaseGeometry) -> float:
    """How much area lies in one of two shapes only."""
    return float(one.symmetric_difference(other).area)


def difference_from_mirror_mm2(area: BaseGeometry) -> float:
    """The least difference between a shape and its mirror image, turned by any whole degree.

    Two congruent shapes have their centroids in the same place, so no shift is tried.
    """
    x, y = area.centroid.coords[0]
    centred = affinity.translate(area, -x, -y)
    mirrored = affinity.scale(centred, xfact=-1, origin=(0, 0))
    return min(
        difference_mm2(centred, affinity.rotate(mirrored, degrees, origin=(0, 0)))
        for degrees in range(360)
    )


def thinnest_stroke_mm(area: BaseGeometry, least_mm: float = 0.8, step_mm: float = 0.04) -> float:
    """The thinnest stroke of a letter: the smallest disc between opposite edges.

    For points all along the edge, the disc is sought that touches the edge there from inside
    and has no room to grow. Where it is stopped by an edge less than a right angle away, that
    is a bend and no stroke. No disc reaches into a corner, so edges count only from where a
    disc of ``least_mm``, and a little more, would touch both sides of the corner.
    """
    points, normals, steps = [], [], []
    for ring in _rings_of(area):
        edges = np.roll(ring, -1, axis=0) - ring
        lengths = np.hypot(*edges.T)
        counts = np.maximum(2, np.ceil(lengths / step_mm)).astype(int)
        edge = np.repeat(np.arange(len(ring)), counts)
        part = (np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[edge]
        points.append(ring[edge] + part[:, None] * edges[edge])
        normals.append((np.column_stack([-edges[:, 1], edges[:, 0]]) / lengths[:, None])[edge])
        steps.append(part > 0)
    around = np.concatenate(points)
    counting = np.concatenate(steps)
    for corner, reach_mm in _sharp_corners(area, least_mm):
        counting &= np.hypot(*(around - corner).T) > reach_mm
    towards = around[None] - around[counting][:, None]
    depth = np.einsum("ijk,ik->ij", towards, np.concatenate(normals)[counting])
    squares = (towards**2).sum(axis=2)
    diameters = np.full(depth.shape, np.inf)
    np.divide(squares, depth, out=diameters, where=depth > 1e-7)
    stop = diameters.argmin(axis=1)[:, None]
    smallest, chords = (
        np.take_along_axis(values, stop, axis=1) for values in (diameters, np.sqrt(squares))
    )
    return float(smallest[chords > 0.7 * smallest].min(initial=math.inf))


def _sharp_corners(area: BaseGeometry, width_mm: float) -> Iterable[tuple[Points, float]]:
    """The corners that jut out, and how far from each a disc of some width may touch first:
    a third farther than between straight sides, since the sides may be curved."""
    for ring in _rings_of(area):
        edges = np.roll(ring, -1, axis=0) - ring
        before = np.roll(edges, 1, axis=0)
        cross = before[:, 0] * edges[:, 1] - before[:, 1] * edges[:, 0]
        turns = np.arctan2(cross, (before * edges).sum(axis=1))
        for corner, turn in zip(ring, turns.tolist(), strict=True):
            if turn > _SHARP:
                yield corner, 4 / 3 * width_mm / 2 * math.tan(turn / 2)


def _rings_of(area: BaseGeometry) -> list[Points]:
    """All rings with the material on their left."""
    return [
        corners(ring)
        for part in map(shapely.geometry.polygon.orient, parts(area))
        for ring in (part.exterior, *part.interiors)
    ]
