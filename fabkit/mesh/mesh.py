"""A mesh: the triangles of one part as read, and as trimesh and manifold3d take them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Points in space, one per row.
Points = NDArray[np.float64]
#: Triangles, one per row: indices of their vertices, counter-clockwise seen from outside.
Faces = NDArray[np.int64]


def area_vectors(vertices: Points, faces: Faces) -> Points:
    """The normal of each triangle, scaled to its area, shape (m, 3)."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    return np.asarray(np.cross(b - a, c - a) / 2)


def moved(vertices: Points, turn: complex, shift: complex = 0.0) -> Points:
    """Points in space or the plane, rotated about the z axis and then shifted.

    `turn` and `shift` are complex: x + iy is multiplied by the one and added to the other.
    """
    plane = (vertices[:, 0] + 1j * vertices[:, 1]) * turn + shift
    return np.column_stack([plane.real, plane.imag, vertices[:, 2:]])


@dataclass(frozen=True, eq=False)
class Mesh:
    """One part of a mesh file, with vertices at exactly the same place merged.

    Attributes:
        name: its name in messages, such as ``A.stl`` or ``plate.3mf: A``.
        vertices: shape (n, 3); in mm if the file states a unit of length, else in the unknown unit of the file.
        faces: shape (m, 3), indices into `vertices`.
    """

    name: str
    vertices: Points
    faces: Faces

    @cached_property
    def as_trimesh(self) -> Any:
        """The `trimesh.Trimesh`, cached and on the same arrays; copy it to change it."""
        from trimesh import Trimesh

        return Trimesh(self.vertices, self.faces, process=False, validate=False)

    @cached_property
    def manifold(self) -> Any:
        """The `manifold3d.Manifold`, cached.

        It is empty (``is_empty()``) if the mesh is not closed or an edge has more than two triangles.
        manifold3d can crash on edges that are not traversed equally often in both directions.
        """
        import manifold3d

        start, end = self.faces.ravel(), np.roll(self.faces, -1, axis=1).ravel()
        forward, back = start * len(self.vertices) + end, end * len(self.vertices) + start
        if not np.array_equal(np.sort(forward), np.sort(back)):
            return manifold3d.Manifold()
        vertices = np.ascontiguousarray(self.vertices)
        return manifold3d.Manifold(manifold3d.Mesh64(vertices, self.faces.astype(np.uint64)))

    @cached_property
    def is_solid(self) -> bool:
        """Whether it bounds a volume, so that overlaps can be measured."""
        return bool(self.manifold.volume() > 0)


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
    place = np.empty_like(order)
    place[order] = np.argsort(np.argsort(first))[np.cumsum(is_new) - 1]
    return Mesh(name, used[np.sort(first)], place.reshape(-1, 3))
