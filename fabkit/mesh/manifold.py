"""Bodies for boolean operations: what several of them have in common, and what one leaves of another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.section import area_of

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
