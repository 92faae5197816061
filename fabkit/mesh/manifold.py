"""Boolean operations: what bodies have in common, what one leaves of another, meshes cut in two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.body import Body
from fabkit.mesh.section import area_of, parts

#: Holes this small are left where walls that are upright are seen from above.
_NO_HOLE_MM2 = 1e-3


def is_solid(manifold: Any) -> bool:
    """Whether a mesh bounds a volume, so that overlaps can be measured."""
    import manifold3d

    return bool(manifold.status() == manifold3d.Error.NoError and manifold.volume() > 0)


def cropped(
    solid: Any, box: Sequence[float], low_mm: float = -math.inf, high_mm: float = math.inf
) -> Any:
    """What of a solid lies over a box ``(left, low, right, high)``, between two heights.

    Example:
        >>> import manifold3d
        >>> cube = manifold3d.Manifold.cube([4, 4, 4])
        >>> cropped(cube, (1, 1, 9, 2)).bounding_box(), cropped(cube, (1, 1, 9, 2), 3.0).volume()
        ((1.0, 1.0, 0.0, 4.0, 2.0, 4.0), 3.0)
    """
    import manifold3d

    if solid.is_empty():
        return solid
    asked = np.array([[*box[:2], low_mm], [*box[2:], high_mm]])
    whole = np.reshape(solid.bounding_box(), (2, 3))
    # Beyond the solid nothing is cut, so that no two faces lie in one plane there.
    start = np.maximum(asked[0], np.minimum(whole[0], asked[1]) - 1.0)
    end = np.minimum(asked[1], np.maximum(whole[1], asked[0]) + 1.0)
    return solid ^ manifold3d.Manifold.cube((end - start).tolist()).translate(start.tolist())


def between(solid: Any, low_mm: float, high_mm: float) -> Any:
    """What of a solid lies between two heights."""
    *_, bottom, _, _, top = solid.bounding_box()
    if low_mm <= bottom and top <= high_mm:
        return solid
    return cropped(solid, (-math.inf, -math.inf, math.inf, math.inf), low_mm, high_mm)


def shadow_of(solid: Any) -> BaseGeometry:
    """A solid seen from above."""
    return area_of(solid.project(), _NO_HOLE_MM2)


# --- meshes parted in two -----------------------------------------------------------------


def above(body: Body, height_mm: float) -> Body:
    """What of a closed mesh is above a height, closed again.

    Raises:
        ValueError: when the mesh bounds no volume.

    Example:
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> above(Body("pyramid", corners, faces), 2.0).vertices.min(axis=0).tolist()
        [0.0, 0.0, 2.0]
    """
    return _body(_solid(body).trim_by_plane((0.0, 0.0, 1.0), height_mm), body.name)


def parted(body: Body, area: BaseGeometry, low_mm: float, high_mm: float) -> tuple[Body, Body]:
    """Parts a closed mesh in two that touch each other.

    Args:
        body: the mesh.
        area: the prism seen from above, in the mesh's own frame.
        low_mm: where the prism begins.
        high_mm: where it ends.

    Returns:
        The rest, and what lies in the prism.

    Raises:
        ValueError: when the mesh bounds no volume.

    Example:
        >>> import shapely
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> rest, inside = parted(Body("pyramid", corners, faces), shapely.box(0, 0, 9, 9), 2, 4)
        >>> rest.vertices[:, 2].max().item(), inside.vertices[:, 2].min().item()
        (2.0, 2.0)
    """
    import manifold3d

    whole = _solid(body)
    prisms = [_prism(one, low_mm, high_mm) for one in parts(area)]
    prism = manifold3d.Manifold.batch_boolean(prisms, manifold3d.OpType.Add)
    return _body(whole - prism, body.name), _body(whole ^ prism, body.name)


def _solid(body: Body) -> Any:
    solid = body.manifold
    if not is_solid(solid):
        raise ValueError(f"{body.name} bounds no volume")
    return solid


def _prism(area: BaseGeometry, low_mm: float, high_mm: float) -> Any:
    import manifold3d

    polygon = orient(area)
    rings = [polygon.exterior, *polygon.interiors]
    outline = manifold3d.CrossSection([np.asarray(ring.coords)[:-1] for ring in rings])
    return outline.extrude(high_mm - low_mm).translate((0.0, 0.0, low_mm))


def _body(manifold: Any, name: str) -> Body:
    """The library's mesh, corner for corner.

    Where a part touches itself along an edge, as squares of a chessboard do, it has corners of the
    same place apart: they are not to be made one.
    """
    mesh = manifold.to_mesh()
    corners = np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3]
    return Body(name, corners, np.asarray(mesh.tri_verts, dtype=np.int64))
