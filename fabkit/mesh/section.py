"""Horizontal cross-sections of a mesh, closed or open."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.mesh import Mesh, Points, area_vectors

#: The side of a level face with material below it, such as the top of a piece.
UP = 1
#: The side of a level face with material above it, such as the bottom of a piece.
DOWN = -1
#: Noise moves vertices by less than this; larger deviations are faults.
_MOST_NOISE_MM = 0.045
#: Smaller areas are rounding errors.
_NO_AREA_MM2 = 1e-9


class Sections:
    """Cross-sections of a mesh at any height; an open mesh shows only the lines that close.

    Example:
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> pyramid = Sections(Mesh("pyramid", corners, faces))
        >>> pyramid.at(2.0).area, pyramid.flats()
        (2.0, {(0.0, -1): 8.0})
    """

    def __init__(self, mesh: Mesh) -> None:
        self._mesh, self.vertices, self.faces = mesh, mesh.vertices, mesh.faces
        heights = self.vertices[:, 2]
        self.low, self.high = float(heights.min()), float(heights.max())
        self._cuts: dict[float, BaseGeometry] = {}

    def at(self, height: float) -> BaseGeometry:
        """Return the material at a height, or just above vertices there; empty beyond the mesh."""
        if height not in self._cuts:
            solid = self._mesh.manifold if self._mesh.is_solid else None
            self._cuts[height] = to_shapely(solid.slice(height)) if solid else self._open_at(height)
        return self._cuts[height]

    def _open_at(self, height: float) -> BaseGeometry:
        """Return the areas that closed lines bound in an open mesh; a cut face has two edges."""
        low, high = self._reach
        is_cut = (low <= height) & (high > height)
        # Each edge from its first corner in the list, so that neighbours meet in the same place.
        edges = np.sort(self.faces[is_cut][:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        edges = edges[np.diff(self.vertices[edges, 2] > height, axis=2)[..., 0]]
        start, end = self.vertices[edges[:, 0]], self.vertices[edges[:, 1]]
        along = (height - start[:, 2:]) / (end - start)[:, 2:]
        lines = (start + along * (end - start))[:, :2].reshape(-1, 2, 2)
        lines = lines[(lines[:, 0] != lines[:, 1]).any(axis=1)]
        # Lines may cross, where a mesh cuts into itself.
        return shapely.build_area(shapely.union_all(shapely.linestrings(lines)))

    def levels(self) -> list[float]:
        """Return the heights of vertices, ascending, with nearby ones merged."""
        flats, scatter_mm = np.array(self._flat_levels), self.scatter_mm
        heights = np.unique(self.vertices[:, 2])
        if len(flats):
            heights = heights[np.abs(heights[:, None] - flats).min(axis=1) > scatter_mm]
        # Vertices scatter around one height, but spread out along a curve.
        run = np.cumsum(np.diff(heights, prepend=-np.inf) > scatter_mm)
        starts = heights[np.searchsorted(run, run)]
        step = ((heights - starts) / (4 * scatter_mm)).astype(np.int64)
        first = np.unique(np.column_stack([run, step]), axis=0, return_index=True)[1]
        return sorted([*self._flat_levels, *heights[first].tolist()])

    def flats(self) -> dict[tuple[float, int], float]:
        """Return the area of the horizontal faces, by height and direction (`UP` or `DOWN`)."""
        areas: dict[tuple[float, int], float] = {}
        for level in self._flat_levels:
            projected = self._projected[self._at_level(level)]
            for facing in (UP, DOWN):
                if (area := float(np.maximum(facing * projected, 0).sum())) > 0:
                    areas[level, facing] = area
        return areas

    def flat(self, height: float, facing: int) -> BaseGeometry:
        """Return the horizontal faces at a height that face up or down."""
        import manifold3d

        near = min(self._flat_levels, key=lambda level: abs(level - height), default=height)
        faces = self._at_level(near if abs(near - height) < self.scatter_mm else height)
        # Where slivers of an uneven flat fold over, faces pointing the other way are subtracted, so
        # that each point counts once.
        triangles = self.vertices[self.faces[faces], :2][:, ::facing]
        return to_shapely(manifold3d.CrossSection(list(triangles), manifold3d.FillRule.Positive))

    @property
    def scatter_mm(self) -> float:
        """Vertices this close to a flat's height belong to it; STL files have single precision."""
        return max(2e-5 * (self.high - self.low), 1e-12, self.noise_mm)

    @cached_property
    def noise_mm(self) -> float:
        """The noise of vertices, estimated from the flats; about 0 for an exact mesh.

        It is 2.5 times the scatter of single faces in the large flats, those with a fiftieth of the
        level area (to 1 degree). A mesh without flats, or rougher than 0.045 mm, counts as exact.
        """
        areas = np.linalg.norm(area_vectors(self.vertices, self.faces), axis=1)
        reach = np.ptp(self._corners, axis=1)
        level = (np.abs(self._projected) > np.cos(np.radians(1)) * areas) & (reach < _MOST_NOISE_MM)
        areas, reach = areas[level], reach[level]
        noise_mm = 0.0
        # Within single faces: two flats may be closer to each other than the noise.
        for chosen, _ in _heaviest(self._corners[level], areas, _MOST_NOISE_MM):
            if areas[chosen].sum() < 0.02 * areas.sum():
                break
            noise_mm = max(noise_mm, 2.5 * float(reach[chosen].max()) / 2)
        return noise_mm if noise_mm < _MOST_NOISE_MM else 0.0

    @cached_property
    def _flat_levels(self) -> list[float]:
        """The heights of the flats, at most 300, those with the most area first."""
        flat = (np.ptp(self._corners, axis=1) < self.scatter_mm) & (self._projected != 0)
        levels = _heaviest(self._corners[flat], np.abs(self._projected[flat]), self.scatter_mm)
        return [height for _, height in itertools.islice(levels, 300)]

    def _at_level(self, height: float) -> NDArray[np.bool_]:
        """Return a mask of the faces at a height."""
        return np.asarray(np.abs(self._corners - height).max(axis=1) < self.scatter_mm)

    @cached_property
    def _corners(self) -> Points:
        """The heights of the vertices of each face, shape (m, 3)."""
        return np.asarray(self.vertices[self.faces, 2])

    @cached_property
    def _reach(self) -> Points:
        """The lowest and the highest vertex of each face, shape (2, m)."""
        return np.array([self._corners.min(axis=1), self._corners.max(axis=1)])

    @cached_property
    def _projected(self) -> NDArray[np.float64]:
        """The projected area of each triangle, negative if it faces down."""
        return area_vectors(self.vertices, self.faces)[:, 2]


def _heaviest(
    corners: Points, areas: NDArray[np.float64], reach: float
) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Cluster faces by height: the indices and mean height of the heaviest cluster, then the next.

    A cluster holds the most area within `near` of its height.
    """
    middles = corners.mean(axis=1)
    order = np.argsort(middles, kind="stable")
    while len(order):
        ends = np.searchsorted(middles[order], middles[order] + 2 * reach, side="right")
        sums = np.concatenate([[0.0], np.cumsum(areas[order])])
        start = int(np.argmax(sums[ends] - sums[:-1]))
        chosen = order[start : ends[start]]
        height = float(corners[chosen].min() + corners[chosen].max()) / 2
        yield chosen, height
        is_left = np.abs(middles[order] - height) > reach
        is_left[start : ends[start]] = False
        order = order[is_left]


def to_shapely(cut: Any, least_hole_mm2: float = _NO_AREA_MM2) -> BaseGeometry:
    """Convert a `manifold3d.CrossSection`, without points and slivers."""
    polygons = []
    for contour in cut.decompose() if cut.num_contour() > 1 else [cut]:
        # The largest ring is the outer one.
        rings = sorted(map(Polygon, contour.to_polygons()), key=lambda ring: -ring.area)
        if rings and rings[0].area > _NO_AREA_MM2:
            holes = [hole.exterior for hole in rings[1:] if hole.area > least_hole_mm2]
            polygons.append(Polygon(rings[0].exterior, holes))
    area = MultiPolygon(polygons) if len(polygons) > 1 else polygons[0] if polygons else Polygon()
    if not area.is_valid:  # rings may touch themselves where two corners are one
        area = shapely.make_valid(area, method="structure", keep_collapsed=False)
    return area


def polygons_by_size(area: BaseGeometry) -> list[Polygon]:
    """Return the polygons of an area, the largest first."""
    parts = [part for part in shapely.get_parts(area) if part.area > 0]
    return sorted(parts, key=lambda part: (-part.area, part.bounds))


def filled(area: BaseGeometry) -> BaseGeometry:
    """Return an area with all holes filled."""
    outlines = [Polygon(part.exterior) for part in polygons_by_size(area)]
    return outlines[0] if len(outlines) == 1 else shapely.union_all(outlines)


def holes_in(area: BaseGeometry) -> list[Polygon]:
    """Return the holes of an area, each without the islands in it.

    Example:
        >>> ring = shapely.box(0, 0, 9, 9) - shapely.box(1, 1, 8, 8)
        >>> [hole.area for hole in holes_in(ring | shapely.box(3, 3, 4, 4))]
        [48.0]
    """
    return polygons_by_size(filled(area).difference(area))
