"""Boolean operations: what bodies have in common, what one leaves of another, meshes cut in two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body
from fabkit.mesh.section import area_of, parts


def cropped(solid: Any, box: Sequence[float]) -> Any:
    """What of a solid lies over a box ``(left, low, right, high)``."""
    import manifold3d

    if solid.is_empty():
        return solid
    low, high = np.reshape(solid.bounding_box(), (2, 3))
    # Beyond the solid nothing is cut, so that no two faces lie in one plane there.
    start = np.maximum([*box[:2], -math.inf], np.minimum(low, [*box[2:], math.inf]) - 1.0)
    end = np.minimum([*box[2:], math.inf], np.maximum(high, start) + 1.0)
    return solid ^ manifold3d.Manifold.cube((end - start).tolist()).translate(start.tolist())


def between(solid: Any, low_mm: float, high_mm: float) -> Any:
    """What of a solid lies between two heights."""
    *_, bottom, _, _, top = solid.bounding_box()
    if low_mm > bottom:
        solid = solid.trim_by_plane((0.0, 0.0, 1.0), low_mm)
    return solid.trim_by_plane((0.0, 0.0, -1.0), -high_mm) if high_mm < top else solid


def shadow_of(solid: Any) -> BaseGeometry:
    """A solid seen from above; upright walls leave tiny holes (mm2), which are none."""
    return area_of(solid.project(), 1e-3)


def slab(body: Body, low_mm: float, high_mm: float = math.inf) -> Body:
    """What of a closed mesh lies between two heights, closed again; its back is at height 0.

    Example:
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> slab(Body("pyramid", corners, faces), 1.0).vertices.max(axis=0).tolist()
        [3.0, 3.0, 3.0]
    """
    cut = between(body.manifold, low_mm, high_mm)
    return _body(cut.translate((0.0, 0.0, -low_mm)), body.name)


def parted(body: Body, area: BaseGeometry, low_mm: float, high_mm: float) -> tuple[Body, Body]:
    """Parts a closed mesh in two that touch each other: the rest, and what lies in a prism.

    The prism is an area seen from above, in the mesh's own frame, between two heights.
    """
    import manifold3d

    rings = [ring for one in parts(area) for ring in (one.exterior, *one.interiors)]
    corners = [np.asarray(ring.coords)[:-1] for ring in rings]
    outline = manifold3d.CrossSection(corners, manifold3d.FillRule.EvenOdd)
    prism = outline.extrude(high_mm - low_mm).translate((0.0, 0.0, low_mm))
    inside, rest = body.manifold.split(prism)
    return _body(rest, body.name), _body(inside, body.name)


def _body(manifold: Any, name: str) -> Body:
    """The library's mesh, corner for corner.

    Where a part touches itself along an edge, as squares of a chessboard do, it has corners of the
    same place apart: they are not to be made one.
    """
    mesh = manifold.to_mesh()
    corners = np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3]
    return Body(name, corners, np.asarray(mesh.tri_verts, dtype=np.int64))
