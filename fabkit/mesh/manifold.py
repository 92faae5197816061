"""Bodies for boolean operations: what several of them have in common, and what one leaves of another."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabkit.mesh.body import Body


def manifold_of(body: Body) -> Any:
    """A body as manifold3d has it, in single precision.

    Example:
        >>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        >>> round(manifold_of(Body("pyramid", corners, faces)).volume(), 3)
        10.667
    """
    import manifold3d

    vertices = np.ascontiguousarray(body.vertices, dtype=np.float32)
    faces = np.ascontiguousarray(body.faces, dtype=np.uint32)
    return manifold3d.Manifold(manifold3d.Mesh(vertices, faces))


def is_solid(manifold: Any) -> bool:
    """Whether a mesh bounds a volume, so that overlaps can be measured."""
    import manifold3d

    return bool(manifold.status() == manifold3d.Error.NoError and manifold.volume() > 0)
