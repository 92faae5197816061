"""Boolean operations on solids: cropping, trimming, silhouettes, and splitting by prisms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.mesh import Mesh, Points
from fabkit.mesh.section import polygons_by_size, to_shapely


def crop(solid: Any, box: Sequence[float]) -> Any:
    """Crop a solid to a box in the plane, ``(left, low, right, high)``."""
    import manifold3d

    if solid.is_empty():
        return solid
    low, high = np.reshape(solid.bounding_box(), (2, 3))
    # Extend beyond the solid, so that no two faces are coplanar.
    start = np.maximum([*box[:2], -math.inf], np.minimum(low, [*box[2:], math.inf]) - 1.0)
    end = np.minimum([*box[2:], math.inf], np.maximum(high, start) + 1.0)
    return solid ^ manifold3d.Manifold.cube((end - start).tolist()).translate(start.tolist())


def capsules(places: Points, bonds: Sequence[tuple[int, int]], radius_mm: float) -> list[Any]:
    """Return the solids within a radius of the line between the two places of each bond."""
    import manifold3d

    sphere = manifold3d.Manifold.sphere(radius_mm, 16)
    balls = [sphere.translate(centre) for centre in places.tolist()]
    return [manifold3d.Manifold.batch_hull([balls[i] for i in bond]) for bond in bonds]


def trim_between(solid: Any, low_mm: float, high_mm: float) -> Any:
    """Trim a solid to the range between two heights."""
    *_, bottom, _, _, top = solid.bounding_box()
    if low_mm > bottom:
        solid = solid.trim_by_plane((0.0, 0.0, 1.0), low_mm)
    return solid.trim_by_plane((0.0, 0.0, -1.0), -high_mm) if high_mm < top else solid


def silhouette_of(solid: Any) -> BaseGeometry:
    """Return the silhouette of a solid, without the tiny holes (mm2) that vertical walls leave."""
    return to_shapely(solid.project(), 1e-3)


def trim_mesh(mesh: Mesh, low_mm: float, high_mm: float = math.inf) -> Mesh:
    """Trim a closed mesh to the range between two heights, and move it down to height 0.

    Example:
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> trim_mesh(Mesh("pyramid", corners, faces), 1.0).vertices.max(axis=0).tolist()
        [3.0, 3.0, 3.0]
    """
    cut = trim_between(mesh.manifold, low_mm, high_mm)
    return _mesh_of(cut.translate((0.0, 0.0, -low_mm)), mesh.name)


def split_by_prisms(
    mesh: Mesh, prisms: Iterable[tuple[BaseGeometry, tuple[float, float]]]
) -> tuple[Mesh, Mesh]:
    """Split a closed mesh by prisms: the rest, and the parts inside, which touch each other.

    Each prism is an area in the mesh's own frame, extruded between two heights.
    """
    import manifold3d

    cutter = manifold3d.Manifold()
    for area, (low_mm, high_mm) in prisms:
        if area.is_empty:
            continue
        rings = shapely.get_rings(polygons_by_size(area))
        corners = [np.asarray(ring.coords)[:-1] for ring in rings]
        outline = manifold3d.CrossSection(corners, manifold3d.FillRule.EvenOdd)
        cutter += outline.extrude(high_mm - low_mm).translate((0.0, 0.0, low_mm))
    inside, outside = mesh.manifold.split(cutter)
    return _mesh_of(outside, mesh.name), _mesh_of(inside, mesh.name)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return the union of closed meshes, named as the first; if one is open, the first alone."""
    first, *others = meshes
    if not all(mesh.is_solid for mesh in meshes):
        return first
    return _mesh_of(sum((mesh.manifold for mesh in others), first.manifold), first.name)


def _mesh_of(manifold: Any, name: str) -> Mesh:
    """Return the mesh of a manifold, vertex for vertex.

    Where a part touches itself along an edge, as squares of a chessboard do, it has separate
    vertices at the same place, which must not be merged.
    """
    mesh = manifold.to_mesh()
    corners = np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3]
    return Mesh(name, corners, np.asarray(mesh.tri_verts, dtype=np.int64))
