"""Light: a broad lamp from the viewer's left, and a bright sky; all of it casts shadows.

Each of the samples that make up a pixel looks at a few directions of its own. Together they see
the whole sky, so that a pixel is smooth where no single sample could afford it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.output.render.raster import depth_of, rasterise
from fabkit.output.render.scene import (
    Camera,
    Faces,
    Floats,
    Lump,
    Vector,
    View,
    camera,
    direction,
)

#: The lamp stands here, seen from the viewer, and is this wide.
_LAMP_TURN_DEGREES, _LAMP_HEIGHT_DEGREES, _LAMP_DEGREES = -118.0, 47.0, 4.0
#: The lamp's part of the light on a level face that nothing shades; the sky gives the rest.
_LAMP_PART = 0.55
#: Directions of the sky for each sample of a pixel, and the lowest height (a sine) of one.
_SKY_EACH, _SKY_LEAST = 3, 0.22
#: Samples of a shadow along its longer side.
_SHADOW_SIZE = 900
#: So many of a shadow's samples a surface is lifted before it is looked up, or it would shade itself.
_LIFTED = 1.4
_GOLDEN_DEGREES = 137.50776405


@dataclass(frozen=True, eq=False)
class Shadow:
    """One direction of light, and what it reaches first.

    Attributes:
        towards: unit vector to the light.
        power: of the light on a face that looks straight at it.
        view: the scene as the light sees it.
        depth: how near what it sees is, shape (n, n).
        span: nearness of the farthest and the nearest corner.
    """

    towards: Vector
    power: float
    view: Camera
    depth: Floats
    span: tuple[float, float]

    def reaches(self, points: Floats, normals: Floats) -> NDArray[np.bool_]:
        """Whether the light reaches points.

        Args:
            points: shape (n, 3), in mm.
            normals: unit vectors of the surfaces there, shape (n, 3).
        """
        lift = _LIFTED / self.view.scale
        x, y, near, _ = self.view.seen(points + normals * lift)
        size = len(self.depth)
        # Beyond the picture, and where there is no number, nothing stands in the way.
        inside = (x >= 0) & (x < size) & (y >= 0) & (y < size)
        column, row = (np.where(inside, one, 0).astype(np.int64) for one in (x, y))
        first = self.depth[row, column]  # 0 where the light meets nothing at all
        found: NDArray[np.bool_] = (first <= depth_of(near, *self.span)) | (first == 0) | ~inside
        return found


def lights(lumps: Sequence[Lump], faces: Faces, view: View, groups: int) -> list[list[Shadow]]:
    """The directions of light for each sample of a pixel, the lamp's first.

    Args:
        lumps: the scene.
        faces: all triangles, in the lumps' corners one after the other.
        view: the viewer's.
        groups: samples in a pixel.

    Returns:
        A list for each sample. On a level face that nothing shades their powers, times the cosine
        of the angle, come to 1 for the samples' mean.
    """
    lamp = _around_lamp(view.azimuth_degrees, groups)
    sky = _sky(groups * _SKY_EACH)
    # Exact sums: Python's own `sum` of floats depends on its version.
    lamp_power = _LAMP_PART / (math.fsum(direction(*one)[2] for one in lamp) / groups)
    sky_power = (1 - _LAMP_PART) / (math.fsum(direction(*one)[2] for one in sky) / groups)
    shadows = [_shadow(lumps, faces, one, lamp_power) for one in lamp]
    high = [_shadow(lumps, faces, one, sky_power) for one in sky]
    return [[shadows[i], *high[i::groups]] for i in range(groups)]


def _around_lamp(azimuth_degrees: float, count: int) -> list[tuple[float, float]]:
    """Directions (azimuth and height, in degrees) spread over the lamp."""
    found = []
    for i in range(count):
        reach = _LAMP_DEGREES * math.sqrt((i + 0.5) / count)
        angle = math.radians(_GOLDEN_DEGREES * i)
        across = reach * math.cos(angle) / math.cos(math.radians(_LAMP_HEIGHT_DEGREES))
        turn = azimuth_degrees + _LAMP_TURN_DEGREES + across
        found.append((turn, _LAMP_HEIGHT_DEGREES + reach * math.sin(angle)))
    return found


def _sky(count: int) -> list[tuple[float, float]]:
    """Directions (azimuth and height, in degrees) spread evenly over the sky."""
    heights = [_SKY_LEAST + (1 - _SKY_LEAST) * (i + 0.5) / count for i in range(count)]
    return [(_GOLDEN_DEGREES * i, math.degrees(math.asin(h))) for i, h in enumerate(heights)]


def _shadow(
    lumps: Sequence[Lump], faces: Faces, towards: tuple[float, float], power: float
) -> Shadow:
    azimuth, elevation = towards
    seen = camera(lumps, View(_SHADOW_SIZE, _SHADOW_SIZE, azimuth, elevation, orthographic=True))
    x, y, near, _ = seen.seen(np.concatenate([lump.vertices for lump in lumps]))
    buffer = rasterise(x, y, near, faces, _SHADOW_SIZE, _SHADOW_SIZE)
    span = float(near.min()), float(near.max())
    return Shadow(direction(azimuth, elevation), power, seen, buffer.depth, span)
