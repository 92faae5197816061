"""A mesh: the triangles of one part, for trimesh and manifold3d, and which way it may be up."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

#: Points in space, one per row.
Points = NDArray[np.float64]
#: Triangles, one per row: indices of their vertices, counter-clockwise seen from outside.
Faces = NDArray[np.int64]
#: Faces with normals this close (radians) share a direction.
_ONE_DIRECTION = 0.03
#: The weight of the thinnest direction, and of those with level faces at many heights.
_NO_FACE = 0.95


def area_vectors(vertices: Points, faces: Faces) -> Points:
    """Return the normal of each triangle, scaled to its area, shape (m, 3)."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    return np.asarray(np.cross(b - a, c - a) / 2)


def moved(vertices: Points, turn: complex, shift: complex = 0.0) -> Points:
    """Return points in space or the plane, rotated about the z axis and then shifted: x + iy is
    multiplied by `turn`, and `shift` is added."""
    plane = (vertices[:, 0] + 1j * vertices[:, 1]) * turn + shift
    return np.column_stack([plane.real, plane.imag, vertices[:, 2:]])


@dataclass(frozen=True, eq=False)
class Mesh:
    """One part of a mesh file, with vertices at exactly the same place merged.

    Attributes:
        name: its name in messages, such as ``A.stl`` or ``plate.3mf: A``.
        vertices: shape (n, 3); in mm if the file states a unit of length, else in the unknown unit
            of the file.
        faces: shape (m, 3), indices into `vertices`.
    """

    name: str
    vertices: Points
    faces: Faces

    def __getstate__(self) -> dict[str, Any]:
        """Return its fields: other processes find for themselves what is cached."""
        return {field.name: self.__dict__[field.name] for field in fields(self)}

    @cached_property
    def as_trimesh(self) -> Any:
        """The `trimesh.Trimesh`, cached and on the same arrays; copy it to change it."""
        from trimesh import Trimesh

        return Trimesh(self.vertices, self.faces, process=False, validate=False)

    @cached_property
    def manifold(self) -> Any:
        """The `manifold3d.Manifold`, cached.

        It is empty (``is_empty()``) if the mesh is not closed or an edge has more than two
        triangles. manifold3d can crash on edges that are not traversed equally often in
        both directions.
        """
        import manifold3d

        start, end = self.faces.ravel(), np.roll(self.faces, -1, axis=1).ravel()
        forward, back = start * len(self.vertices) + end, end * len(self.vertices) + start
        # The sums tell most open meshes without sorting.
        is_open = (forward * forward).sum() != (back * back).sum()
        if is_open or not np.array_equal(np.sort(forward), np.sort(back)):
            return manifold3d.Manifold()
        vertices = np.ascontiguousarray(self.vertices)
        return manifold3d.Manifold(manifold3d.Mesh64(vertices, self.faces.astype(np.uint64)))

    @cached_property
    def is_solid(self) -> bool:
        """Whether it bounds a volume, so that overlaps can be measured."""
        return bool(self.manifold.volume() > 0)

    @cached_property
    def orientations(self) -> Orientations:
        """The ways it may be up, each found when first asked for."""
        return Orientations(self)


def welded(name: str, vertices: Points, faces: Faces) -> Mesh:
    """Merge vertices at exactly the same place.

    Triangles keep their order and winding, degenerate ones too. Unused vertices are dropped; the
    others (all finite) are sorted by their first use.

    Example:
        >>> corners = np.array([[0, 0, 0], [1, 0, 0], [-0.0, 0, 0], [0, 1, 0], [9, 9, 9]])
        >>> welded("a", corners, np.array([[0, 1, 3], [2, 3, 1]])).faces.tolist()
        [[0, 1, 2], [0, 2, 1]]
    """
    used = vertices[np.asarray(faces).ravel()] + 0.0  # which makes -0.0 the 0.0 that it equals
    order = np.lexsort(used.T)
    is_new = (np.diff(used[order], axis=0, prepend=np.nan) != 0).any(axis=1)
    first = order[is_new]  # uses of each place, since equal ones stay in their order
    number = np.empty_like(order)
    number[order] = np.argsort(np.argsort(first))[np.cumsum(is_new) - 1]
    return Mesh(name, used[np.sort(first)], number.reshape(-1, 3))


@dataclass(frozen=True, eq=False)
class Orientation:
    """A way that a mesh may be up.

    Attributes:
        up: the direction in the file, a unit vector.
        vertices: the mesh's, rotated the shortest way so that it points up, the lowest at height 0.
        weight: how likely it is, at most 1.
    """

    up: Points
    vertices: Points
    weight: float

    @property
    def tilt_degrees(self) -> float:
        """The angle between the file's vertical and the mesh's."""
        return math.degrees(math.acos(min(1.0, max(-1.0, float(self.up[2])))))


class Orientations:
    """The ways that a mesh may be up, each found when first asked for."""

    def __init__(self, mesh: Mesh) -> None:
        self._vertices = mesh.vertices
        corners, normals = mesh.vertices[mesh.faces], area_vectors(mesh.vertices, mesh.faces)
        areas = np.linalg.norm(normals, axis=1)
        solid = areas > 0
        self._areas, self._corners = areas[solid], corners[solid]
        normals = normals[solid] / self._areas[:, None]
        # A coarse grid of directions; opposite ones count as one.
        cells = np.rint(normals / _ONE_DIRECTION) @ [1, 100, 10_000]
        self._normals = normals * np.sign(cells)[:, None]
        self._cells = np.abs(cells).astype(np.int64)
        self._unassigned = np.ones(len(self._areas), dtype=bool)
        self._faced: list[Orientation] = []

    def likely(self, count: int = 3) -> list[Orientation]:
        """Return the likely orientations, upwards in the file, the best first: at most `count`
        directions that most of the surface faces, and that in which the mesh is thinnest."""
        if not len(self._areas):
            return [Orientation(np.array([0.0, 0.0, 1.0]), self._vertices, 1.0)]
        while self._unassigned.any() and len(self._faced) < count:
            self._faced.append(self._next_faced())
        likely, thin = self._faced[:count], self._thinnest
        is_new = all(abs(thin.up @ faced.up) < 1 - _ONE_DIRECTION**2 for faced in likely)
        return [*likely, *([thin] if is_new else [])]

    @cached_property
    def upright(self) -> list[tuple[Points, BaseGeometry]]:
        """The vertices with each large face up, aligned with the axes, and their convex hull seen
        from above: the likeliest first."""
        return [aligned_to_axes(way.vertices) for way in self.likely()]

    def _turned(self, up: Points, weight: float) -> Orientation:
        up = up if up[2] >= -1e-9 else -up
        vertical = np.array([0.0, 0.0, 1.0])
        middle = up + vertical
        turn = np.eye(3) + 2 * np.outer(vertical, up) - np.outer(middle, middle) / middle[2]
        vertices = self._vertices @ turn.T
        vertices[:, 2] -= vertices[:, 2].min()
        return Orientation(up, vertices, weight)

    def _next_faced(self) -> Orientation:
        """Return the direction that most of the unassigned surface faces."""
        normals, areas, corners = self._normals, self._areas, self._corners
        cells, unassigned = self._cells, self._unassigned
        fullest = unassigned & (cells == np.bincount(cells, areas * unassigned).argmax())
        first = areas[fullest] @ normals[fullest]
        reach = np.abs(normals @ first)
        alike = fullest | (unassigned & (reach > math.cos(_ONE_DIRECTION) * np.linalg.norm(first)))
        unassigned &= ~alike
        # Most of a flat face points exactly one way; the others belong to a fillet.
        along = normals @ normals[alike][areas[alike].argmax()]
        level = alike & (np.abs(along) > math.cos(_ONE_DIRECTION / 10))
        level = level if areas[level].sum() > areas[alike].sum() / 2 else alike
        outwards = normals[level] * np.sign(along[level])[:, None]
        up = _plane_normal(corners[level], outwards, areas[level])
        # A piece is level at its ends; on its side it is level at many heights. (Pockets are
        # small.)
        heights, all_heights = corners[alike] @ up, corners @ up
        low, high = float(all_heights.min()), float(all_heights.max())
        inner = np.minimum(heights - low, high - heights).min(axis=1) > 0.04 * (high - low)
        is_on_side = areas[alike][inner].sum() > 0.3 * areas[alike].sum()
        return self._turned(up, _NO_FACE if is_on_side else 1.0)

    @cached_property
    def _thinnest(self) -> Orientation:
        middles = self._corners.mean(axis=1)
        centre = np.average(middles, axis=0, weights=self._areas)
        spread = (middles - centre) * np.sqrt(self._areas)[:, None]
        return self._turned(np.linalg.eigh(spread.T @ spread)[1][:, 0], _NO_FACE)


def _plane_normal(corners: Points, normals: Points, areas: NDArray[np.float64]) -> Points:
    """Return the unit vector normal to level faces, such that each face has a single height.

    The mean of their normals is as good if corners are exact; but noise tilts small faces, whereas
    it changes heights only by its own amount.
    """
    same = normals @ normals[areas.argmax()] > 1 - 1e-9
    is_exact = areas[same].sum() > areas.sum() / 2
    mean = areas[same] @ normals[same] if is_exact else areas @ normals
    mean /= np.linalg.norm(mean)
    if is_exact:
        return np.asarray(mean)
    # Those at nearly the same height belong to one level.
    heights = (corners @ mean).mean(axis=1) / np.ptp(corners, axis=(0, 1)).max()
    _, floor = np.unique(np.rint(heights / 0.004), return_inverse=True)
    points, weights, floors = corners.reshape(-1, 3), np.repeat(areas, 3), np.repeat(floor, 3)
    sums = np.column_stack([np.bincount(floors, weights * axis) for axis in points.T])
    middles = sums / np.bincount(floors, weights)[:, None]
    off = (points - middles[floors]) * np.sqrt(weights)[:, None]
    _, sizes, axes = np.linalg.svd(off, full_matrices=False)
    up = axes[2] * np.sign(axes[2] @ mean)
    is_flat = sizes[2] < 0.01 * sizes[1] and up @ mean > math.cos(_ONE_DIRECTION)
    return np.asarray(up if is_flat else mean)


def aligned_to_axes(points: Points) -> tuple[Points, BaseGeometry]:
    """Align points with the axes: the longer side of their bounding rectangle along x, its centre
    at the origin, the lowest at height 0. Also return their convex hull seen from above."""
    hull = shapely.multipoints(points[:, :2]).convex_hull
    ring = shapely.get_coordinates(shapely.minimum_rotated_rectangle(hull)) @ [1, 1j]
    outline = shapely.get_coordinates(hull)
    if len(ring) > 3:
        along = max(np.diff(ring[:3]), key=abs)
        # Of two opposite rotations take the smaller, so that an aligned mesh stays unchanged.
        along = along if (along.real, along.imag) >= (0, 0) else -along
        points, outline = (moved(array, abs(along) / along) for array in (points, outline))
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high)[:2] / 2
    hull = shapely.set_coordinates(hull, outline - middle)
    return np.asarray(points - [*middle, *low[2:]]), hull
