"""Which triangle is seen at each sample of a picture, and which light reaches it: depth buffers.

All triangles are worked on together: they are cut into rows of samples, the rows into samples,
and each sample keeps the nearest. Only sums, products and quotients of single numbers are used,
which every machine rounds alike.

The light is a broad lamp from the viewer's left, and a bright sky; all of it casts shadows. Each of
the samples that make up a pixel looks at a few directions of its own. Together they see the whole
sky, so that a pixel is smooth where no single sample could afford it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.output.render.scene import (
    Camera,
    Faces,
    Floats,
    ShadedMesh,
    Vector,
    View,
    camera,
    chunks,
    direction,
    within,
)

#: So many samples are worked on at a time.
_AT_A_TIME = 1 << 16
#: Steps of depth.
_DEPTHS = (1 << 31) - 1

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
class Buffer:
    """What is seen at the samples of a picture.

    Attributes:
        face: the number of the triangle that is seen, shape (height, width); -1 for none.
        depth: how near it is, shape (height, width), from 0 to 1; 0 for none.
    """

    face: NDArray[np.int64]
    depth: Floats


def rasterise(x: Floats, y: Floats, near: Floats, faces: Faces, width: int, height: int) -> Buffer:
    """Finds the nearest triangle at the middle of every sample.

    Args:
        x: of the corners, in samples to the right.
        y: of the corners, in samples downwards.
        near: how near they are; must be linear along straight lines.
        faces: triangles. Those that turn clockwise as seen (with y down: counter-clockwise in
            numbers) show their backs, and are left out.
        width: of the picture in samples, as its height.
        height: of the picture.

    Returns:
        The buffer. Of two triangles at the same depth the one with the lower number is seen; two
        that share an edge leave no sample between them out.
    """
    depth = depth_of(near, float(near.min()), float(near.max())) if len(near) else near
    best = np.zeros(width * height, dtype=np.uint64)
    for place, value, face in _samples(x, y, depth, faces, width, height):
        steps = (value * _DEPTHS).astype(np.uint64)
        key = (steps << np.uint64(32)) | (np.uint64(0xFFFFFFFF) - face.astype(np.uint64))
        np.maximum.at(best, place, key)
    steps = best >> np.uint64(32)
    face = np.int64(0xFFFFFFFF) - (best & np.uint64(0xFFFFFFFF)).astype(np.int64)
    found = np.where(steps > 0, face, -1).reshape(height, width)
    return Buffer(found, (steps.astype(np.float64) / _DEPTHS).reshape(height, width))


def depth_of(near: Floats, low: float, high: float) -> Floats:
    """How near something is in the depths of a buffer whose corners span from `low` to `high`."""
    return 0.25 + 0.5 * (near - low) / max(high - low, 1e-12)


def _samples(
    x: Floats, y: Floats, depth: Floats, faces: Faces, width: int, height: int
) -> Iterator[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]:
    """Chunks of samples that triangles cover: their places, depths and triangles."""
    (ax, bx, cx), (ay, by, cy) = (one[faces].T for one in (x, y))
    shown = np.flatnonzero((bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0)
    corners = faces[shown]
    order = np.argsort(y[corners], axis=1, kind="stable")
    top, middle, bottom = np.take_along_axis(corners, order, axis=1).T
    first, after = (
        np.clip(np.ceil(y[one] - 0.5), 0, height).astype(np.int64) for one in (top, bottom)
    )
    rows = np.maximum(after - first, 0)
    tall = np.flatnonzero(rows)  # the others pass between two rows of samples
    # Chunks of triangles bound the memory; a chunk's rows are then cut into chunks of samples.
    for part in chunks(rows[tall], _AT_A_TIME):
        some = tall[part]
        sides = top[some], middle[some], bottom[some]
        yield from _of_rows((x, y, depth), sides, first[some], rows[some], shown[some], width)


def _of_rows(
    points: tuple[Floats, Floats, Floats],
    corners: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    first: NDArray[np.int64],
    rows: NDArray[np.int64],
    face: NDArray[np.int64],
    width: int,
) -> Iterator[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]:
    """The samples of some triangles, whose corners are sorted from top to bottom."""
    x, y, depth = points
    one = np.repeat(np.arange(len(rows)), rows)
    row = first[one] + within(rows)
    at = row + 0.5
    top, middle, bottom = (corner[one] for corner in corners)
    upper = at < y[middle]
    start, stop = np.where(upper, top, middle), np.where(upper, middle, bottom)
    long_share = (at - y[top]) / (y[bottom] - y[top])
    fall = y[stop] - y[start]
    short_share = np.where(fall > 0, (at - y[start]) / np.where(fall > 0, fall, 1.0), 0.0)
    sides = (top, bottom, long_share), (start, stop, short_share)
    x1, x2 = (x[a] + (x[b] - x[a]) * s for a, b, s in sides)
    z1, z2 = (depth[a] + (depth[b] - depth[a]) * s for a, b, s in sides)
    swap = x2 < x1
    left, right = np.where(swap, x2, x1), np.where(swap, x1, x2)
    z_left, z_right = np.where(swap, z2, z1), np.where(swap, z1, z2)
    begin, end = (np.clip(np.ceil(side - 0.5), 0, width).astype(np.int64) for side in (left, right))
    count = np.maximum(end - begin, 0)
    slope = (z_right - z_left) / np.where(right > left, right - left, 1.0)
    z_begin = z_left + (begin + 0.5 - left) * slope
    place, owner = row * width + begin, face[one]
    for part in chunks(count, _AT_A_TIME):
        n = count[part]
        step = within(n)
        yield (
            np.repeat(place[part], n) + step,
            np.repeat(z_begin[part], n) + step * np.repeat(slope[part], n),
            np.repeat(owner[part], n),
        )


# --- light --------------------------------------------------------------------------------------


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
        """Whether the light reaches points in mm, given the surfaces' normals there."""
        lift = _LIFTED / self.view.scale
        x, y, near, _ = self.view.seen(points + normals * lift)
        size = len(self.depth)
        # Beyond the picture, and where there is no number, nothing stands in the way.
        inside = (x >= 0) & (x < size) & (y >= 0) & (y < size)
        column, row = (np.where(inside, one, 0).astype(np.int64) for one in (x, y))
        first = self.depth[row, column]  # 0 where the light meets nothing at all
        found: NDArray[np.bool_] = (first <= depth_of(near, *self.span)) | (first == 0) | ~inside
        return found


def lights(
    meshes: Sequence[ShadedMesh], faces: Faces, view: View, groups: int
) -> list[list[Shadow]]:
    """The directions of light for each of so many samples of a pixel, the lamp's first.

    Returns:
        A list for each sample. On a level face that nothing shades their powers, times the cosine
        of the angle, come to 1 for the samples' mean.
    """
    lamp, sky = [], []
    for i in range(groups):  # spread over the lamp; azimuth and height, in degrees
        reach = _LAMP_DEGREES * math.sqrt((i + 0.5) / groups)
        angle = math.radians(_GOLDEN_DEGREES * i)
        across = reach * math.cos(angle) / math.cos(math.radians(_LAMP_HEIGHT_DEGREES))
        turn = view.azimuth_degrees + _LAMP_TURN_DEGREES + across
        lamp.append((turn, _LAMP_HEIGHT_DEGREES + reach * math.sin(angle)))
    count = groups * _SKY_EACH
    for i in range(count):  # spread evenly over the sky
        sine = _SKY_LEAST + (1 - _SKY_LEAST) * (i + 0.5) / count
        sky.append((_GOLDEN_DEGREES * i, math.degrees(math.asin(sine))))
    # Exact sums: Python's own `sum` of floats depends on its version.
    lamp_power = _LAMP_PART / (math.fsum(direction(*one)[2] for one in lamp) / groups)
    sky_power = (1 - _LAMP_PART) / (math.fsum(direction(*one)[2] for one in sky) / groups)
    shadows = [_shadow(meshes, faces, one, lamp_power) for one in lamp]
    high = [_shadow(meshes, faces, one, sky_power) for one in sky]
    return [[shadows[i], *high[i::groups]] for i in range(groups)]


def _shadow(
    meshes: Sequence[ShadedMesh], faces: Faces, towards: tuple[float, float], power: float
) -> Shadow:
    seen = camera(meshes, View(_SHADOW_SIZE, _SHADOW_SIZE, *towards, orthographic=True))
    x, y, near, _ = seen.seen(np.concatenate([lump.vertices for lump in meshes]))
    depth = rasterise(x, y, near, faces, _SHADOW_SIZE, _SHADOW_SIZE).depth
    return Shadow(direction(*towards), power, seen, depth, (float(near.min()), float(near.max())))
