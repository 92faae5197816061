"""A body as it is seen from above, and how large it is."""

from __future__ import annotations

import numpy as np
from shapely import Polygon

from fabkit.mesh.body import Body
from fabkit.mesh.outlines.edges import largest, silhouette
from fabkit.mesh.upright import Upright


def shadow(body: Body) -> Polygon:
    """Its outline seen from above; holes that go through it are interiors.

    Args:
        body: in mm, as it is to be seen.

    Example:
        >>> corners = np.array([[x, y, z] for x in (0, 3) for y in (0, 1) for z in (0, 2)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> box = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
        >>> round(shadow(Body("box", corners, box)).area, 4)
        3.0
    """
    return largest(silhouette(Upright(body, body.vertices, 0.0, False), everywhere=True))


def size_mm(body: Body) -> tuple[float, float, float]:
    """Width, depth and height of the box around it."""
    width, depth, height = np.ptp(body.vertices, axis=0).tolist()
    return width, depth, height
