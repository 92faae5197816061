"""Cutting flat polygons with many corners into triangles, also those that are not convex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.body import Faces, Points

#: Polygons with more corners are not tried as a fan from each of their corners.
_FANNED = 8


def triangulated(polygons: Faces, vertices: Points) -> NDArray[np.int64]:
    """Cuts polygons with equally many corners into triangles with the same winding.

    A fan from one corner is taken where all its triangles face the polygon's way: none is
    folded back, as in a polygon that is not convex, and none is a mere line, as with three
    corners in a row. Other polygons are cut one by one.

    Args:
        polygons: shape (k, n), positions in `vertices`; n of at least 3.
        vertices: shape (m, 3), finite.

    Returns:
        Shape (k, n - 2, 3): each polygon's triangles.

    Example:
        >>> arrow = np.array([[0.0, 0, 0], [2, 1, 0], [0, 2, 0], [1, 1, 0]])
        >>> triangulated(np.array([[0, 1, 2, 3]]), arrow).tolist()
        [[[1, 2, 3], [1, 3, 0]]]
    """
    count, size = polygons.shape
    result = np.empty((count, size - 2, 3), dtype=np.int64)
    todo = np.arange(count)
    for start in range(size if size <= _FANNED else 1):
        turned = np.roll(polygons[todo], -start, axis=1)
        fans = _fans(turned)
        good = _faces_one_way(turned, fans, vertices)
        result[todo[good]] = fans[good]
        todo = todo[~good]
    for index in todo:
        result[index] = _cut(polygons[index], vertices)
    return result


def _fans(polygons: Faces) -> NDArray[np.int64]:
    """The triangles between each polygon's first corner and its edges."""
    first = np.broadcast_to(polygons[:, :1], polygons[:, 2:].shape)
    return np.stack([first, polygons[:, 1:-1], polygons[:, 2:]], axis=2)


def _faces_one_way(polygons: Faces, fans: NDArray[np.int64], vertices: Points) -> Any:
    """Which polygons' fans have triangles with an area, all on the polygon's side."""
    corners = vertices[fans]
    normals = np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])
    return (np.einsum("ijk,ik->ij", normals, normals.sum(axis=1)) > 0).all(axis=1)


def _cut(polygon: Faces, vertices: Points) -> NDArray[np.int64]:
    """The triangles of one polygon, seen along the axis on which it is largest."""
    import manifold3d

    fan = _fans(polygon[None])[0]
    corners = vertices[fan]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    axis = int(np.argmax(np.abs(normal)))
    seen = [(1, 2), (2, 0), (0, 1)][axis]
    flat = vertices[polygon][:, seen if normal[axis] > 0 else seen[::-1]]
    found = np.asarray(manifold3d.triangulate([flat]), dtype=np.int64)
    # It promises as much; a polygon without an area may be the exception.
    complete = found.shape == fan.shape and 0 <= found.min() <= found.max() < len(polygon)
    return polygon[found] if complete else fan
