"""A mesh: the triangles of one part as a file gave them, and as the libraries take them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Points of space, one a row.
Points = NDArray[np.float64]
#: Triangles, one a row: the positions of their corners, counter-clockwise seen from outside.
Faces = NDArray[np.int64]


def area_vectors(vertices: Points, faces: Faces) -> Points:
    """Each triangle's normal, as long as its area is large, shape (m, 3)."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    return np.asarray(np.cross(b - a, c - a) / 2)


def moved(vertices: Points, turn: complex, shift: complex = 0.0) -> Points:
    """Points of space or the plane turned about the vertical through the origin, then shifted:
    x + iy, times and plus."""
    plane = (vertices[:, 0] + 1j * vertices[:, 1]) * turn + shift
    return np.column_stack([plane.real, plane.imag, vertices[:, 2:]])


@dataclass(frozen=True, eq=False)
class Body:
    """One part of a mesh file. Corners at exactly the same place are one corner.

    Attributes:
        name: what messages call it, such as ``A.stl`` or ``plate.3mf: A``.
        vertices: shape (n, 3); in mm if the file states a unit of length, else in whatever it is in.
        faces: shape (m, 3), positions in `vertices`.
    """

    name: str
    vertices: Points
    faces: Faces

    @cached_property
    def as_trimesh(self) -> Any:
        """It as a `trimesh.Trimesh`, made once of the very arrays: copy it to change it."""
        from trimesh import Trimesh

        return Trimesh(self.vertices, self.faces, process=False, validate=False)

    @cached_property
    def manifold(self) -> Any:
        """It as a `manifold3d.Manifold`, made once.

        Nothing (``is_empty()``) where it is not closed, or edges have more than two triangles:
        where not each edge is passed as often one way as the other, manifold3d can end the process.
        """
        import manifold3d

        start, end = self.faces.ravel(), np.roll(self.faces, -1, axis=1).ravel()
        ways, back = start * len(self.vertices) + end, end * len(self.vertices) + start
        if not np.array_equal(np.sort(ways), np.sort(back)):
            return manifold3d.Manifold()
        vertices = np.ascontiguousarray(self.vertices)
        return manifold3d.Manifold(manifold3d.Mesh64(vertices, self.faces.astype(np.uint64)))

    @cached_property
    def is_solid(self) -> bool:
        """Whether it bounds a volume, so that overlaps can be measured."""
        return bool(self.manifold.volume() > 0)


def welded(name: str, vertices: Points, faces: Faces) -> Body:
    """A body whose corners at exactly the same place are one.

    Degenerate triangles stay, in their order and with their winding. Vertices (finite) that no
    triangle uses go; the others come in the order in which triangles first use them.

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
    return Body(name, used[np.sort(first)], place.reshape(-1, 3))
