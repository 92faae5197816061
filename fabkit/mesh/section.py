"""Sections: what a horizontal cut through a mesh shows.

A mesh may be open or folded; what a cut shows is then the area inside the lines that do close.
"""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Faces, Points

UP, DOWN = 1, -1
#: Heights this near are one, as a part of the body's height (STL files hold single precision).
_SAME_HEIGHT = 2e-5


class Sections:
    """Cuts one body at any number of heights.

    Args:
        vertices: corners, shape (n, 3), the height last.
        faces: triangles, shape (m, 3).

    Example:
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> pyramid = Sections(corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
        >>> pyramid.at(2.0).area, pyramid.flats()
        (2.0, {(0.0, -1): 8.0})
    """

    def __init__(self, vertices: Points, faces: Faces) -> None:
        self.vertices = vertices
        self.faces = faces
        edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        self._edges, which = np.unique(edges, axis=0, return_inverse=True)
        self._edges_of_face = which.reshape(-1, 3)
        self.low, self.high = float(vertices[:, 2].min()), float(vertices[:, 2].max())

    @property
    def _same(self) -> float:
        return _SAME_HEIGHT * max(self.high - self.low, 1e-9)

    def at(self, height: float) -> BaseGeometry:
        """The material at a height, seen from above; empty beyond the body.

        Where corners lie at the height, the cut is that just above it.
        """
        above = self.vertices[:, 2] > height
        is_cut = above[self._edges[:, 0]] != above[self._edges[:, 1]]
        cut = is_cut[self._edges_of_face]
        crossed = self._edges_of_face[cut.any(axis=1)]
        if not len(crossed):
            return Polygon()
        pairs = crossed[cut[cut.any(axis=1)]].reshape(-1, 2)
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        used, pairs = np.unique(pairs, return_inverse=True)
        points = self._on_edges(used, height)
        pairs = pairs.reshape(-1, 2)
        pairs = pairs[(points[pairs[:, 0]] != points[pairs[:, 1]]).any(axis=1)]
        return _area_within(shapely.linestrings(points[pairs]))

    def _on_edges(self, edges: NDArray[np.int64], height: float) -> Points:
        """Where edges pass a height, shape (len(edges), 2)."""
        start, end = (self.vertices[self._edges[edges, side]] for side in (0, 1))
        part = (height - start[:, 2]) / (end[:, 2] - start[:, 2])
        return np.asarray(start[:, :2] + part[:, None] * (end - start)[:, :2])

    def levels(self) -> list[float]:
        """The heights at which corners lie, from low to high, near ones made one."""
        heights = np.unique(self.vertices[:, 2])
        first = np.concatenate([[True], np.diff(heights) > self._same])
        return [float(height) for height in heights[first]]

    def flats(self) -> dict[tuple[float, int], float]:
        """The area of the horizontal surfaces, by height and facing (`UP` or `DOWN`)."""
        found: dict[tuple[float, int], float] = {}
        for level, facing in self._flat_levels():
            area = self._projected(self._flat_faces(level, facing))
            if area > 0:
                found[level, facing] = area
        return found

    def flat(self, height: float, facing: int) -> BaseGeometry:
        """The horizontal surface at a height that faces up or down, seen from above."""
        triangles = self.faces[self._flat_faces(height, facing)]
        if not len(triangles):
            return Polygon()
        edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        single, count = np.unique(edges, axis=0, return_counts=True)
        rim = self.vertices[single[count % 2 == 1]][:, :, :2]
        return _area_within(shapely.linestrings(rim))

    def _flat_levels(self) -> list[tuple[float, int]]:
        heights = self.vertices[self.faces][:, :, 2]
        flat = np.ptp(heights, axis=1) < self._same
        return [
            (level, facing)
            for level in self.levels()
            if (np.abs(heights[flat, 0] - level) < self._same).any()
            for facing in (UP, DOWN)
        ]

    def _flat_faces(self, height: float, facing: int) -> NDArray[np.bool_]:
        heights = self.vertices[self.faces][:, :, 2]
        there = np.abs(heights - height).max(axis=1) < self._same
        return np.asarray(there & (self._doubled_projections() * facing > 0))

    def _projected(self, chosen: NDArray[np.bool_]) -> float:
        return float(np.abs(self._doubled_projections()[chosen]).sum() / 2)

    def _doubled_projections(self) -> NDArray[np.float64]:
        """Twice each triangle's area as seen from above, negative where it faces down."""
        a, b, c = (self.vertices[self.faces[:, corner], :2] for corner in range(3))
        (ux, uy), (vx, vy) = (b - a).T, (c - a).T
        return np.asarray(ux * vy - uy * vx)


def _area_within(lines: NDArray[np.object_]) -> BaseGeometry:
    """The area that lines bound, holes left out."""
    try:
        area = shapely.build_area(shapely.geometrycollections(lines))
        if area.is_valid:
            return area
    except shapely.errors.GEOSException:
        pass
    # Lines that cross, of a body that cuts into itself, are first cut where they do.
    return shapely.build_area(shapely.union_all(lines))


def parts(area: BaseGeometry) -> list[Polygon]:
    """The separate parts of an area, the largest first.

    Example:
        >>> [part.area for part in parts(shapely.box(0, 0, 1, 1) | shapely.box(3, 0, 5, 1))]
        [2.0, 1.0]
    """
    found = [one for one in getattr(area, "geoms", [area]) if one.area > 0]
    return sorted(found, key=lambda one: (-one.area, one.bounds))


def filled(area: BaseGeometry) -> BaseGeometry:
    """An area with all its holes filled.

    Example:
        >>> ring = shapely.box(0, 0, 3, 3) - shapely.box(1, 1, 2, 2)
        >>> ring.area, filled(ring).area
        (8.0, 9.0)
    """
    return shapely.union_all([Polygon(part.exterior) for part in parts(area)])


def hollows(area: BaseGeometry) -> list[BaseGeometry]:
    """What is cut out of an area, each hole less the islands in it.

    Example:
        >>> ring = shapely.box(0, 0, 9, 9) - shapely.box(1, 1, 8, 8)
        >>> [hole.area for hole in hollows(ring | shapely.box(3, 3, 4, 4))]
        [48.0]
    """
    holes = [Polygon(ring) for part in parts(area) for ring in part.interiors]
    islands = [one for one in parts(area) if any(hole.contains(one) for hole in holes)]
    # A hole in an island lies in the hole around it: it is of its own.
    return [hole.difference(shapely.union_all(islands)) for hole in holes] if islands else holes
