"""Which way surfaces look: flat faces stay flat, and what is round in the drawing looks round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabkit.output.render.scene import Faces, Floats

#: Faces that meet at a smaller angle than this (its cosine: 29 degrees) belong to a curved surface.
_SMOOTH = 0.875
_AT_A_TIME = 1 << 21


def face_normals(vertices: Floats, faces: Faces) -> tuple[Floats, Floats]:
    """The unit normals of triangles, shape (m, 3), and their areas, shape (m,).

    A triangle without area looks nowhere: its normal is zero.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [2, 0, 0], [0, 2, 0]])
        >>> normals, areas = face_normals(corners, np.array([[0, 1, 2]]))
        >>> normals.tolist(), areas.tolist()
        ([[0.0, 0.0, 1.0]], [2.0])
    """
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    (ux, uy, uz), (vx, vy, vz) = (b - a).T, (c - a).T
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = np.sqrt(x * x + y * y + z * z)
    divisor = np.where(length > 0, length, 1.0)
    return np.stack([x / divisor, y / divisor, z / divisor], axis=1), length / 2


def corner_normals(vertices: Floats, faces: Faces) -> Floats:
    """The normals at the corners of triangles.

    Args:
        vertices: shape (n, 3); corners at the same place must be one.
        faces: shape (m, 3).

    Returns:
        Shape (m, 3, 3): for each corner the mean, weighted with areas, of the normals of the
        triangles that meet there and look nearly the same way.
    """
    normals, areas = face_normals(vertices, faces)
    corner_of = faces.ravel()
    order = np.argsort(corner_of, kind="stable")
    counts = np.bincount(corner_of, minlength=len(vertices))
    starts = np.cumsum(counts) - counts
    neighbours = counts[corner_of]
    total = np.zeros((len(corner_of), 3))
    ends = np.cumsum(neighbours)
    begin = 0
    while begin < len(corner_of):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _AT_A_TIME, side="right")))
        _add_neighbours(
            total, slice(begin, end), (corner_of, neighbours, starts, order), normals, areas
        )
        begin = end
    length = np.sqrt(total[:, 0] ** 2 + total[:, 1] ** 2 + total[:, 2] ** 2)
    flat = np.repeat(normals, 3, axis=0)
    whole = np.where(length[:, None] > 0, total / np.where(length > 0, length, 1.0)[:, None], flat)
    return whole.reshape(-1, 3, 3)


def _add_neighbours(
    total: Floats,
    part: slice,
    around: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    normals: Floats,
    areas: Floats,
) -> None:
    """Adds up the normals around some corners."""
    corner_of, neighbours, starts, order = around
    count = neighbours[part]
    corner = np.repeat(np.arange(part.start, part.start + len(count)), count)
    step = np.arange(len(corner)) - np.repeat(np.cumsum(count) - count, count)
    other = order[starts[corner_of[corner]] + step] // 3
    own = corner // 3
    (x, y, z), (ox, oy, oz) = normals[own].T, normals[other].T
    weight = np.where(x * ox + y * oy + z * oz >= _SMOOTH, areas[other], 0.0)
    for axis, value in enumerate((ox, oy, oz)):
        total[part, axis] += np.bincount(
            corner - part.start, weights=value * weight, minlength=len(count)
        )
