"""Rasterisation into depth buffers, and shadow maps.

All triangles are processed together, with sums, products and quotients only, which every machine
rounds alike. A broad lamp from the viewer's left and a bright sky cast shadows. On the meshes, each
sample of a pixel tests a few directions. On the plain ground so few would be visible, and hundreds
are added up: there the meshes are sliced into layers, and a layer's shadow is the shifted layer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.jobs.parallel import Calls
from fabkit.output.render.scene import (
    Camera,
    Faces,
    Floats,
    ShadedMesh,
    Vector,
    View,
    chunks,
    direction,
    fit_camera,
    ranges,
)

_Mask = NDArray[np.bool_]
_AT_A_TIME = 1 << 16  # samples processed at a time
_DEPTHS = (1 << 31) - 1  # steps of depth
_LAMP_TURN_DEGREES = -118.0  # azimuth of the lamp relative to the viewer
_LAMP_HEIGHT_DEGREES = 47.0  # elevation of the lamp
_LAMP_DEGREES = 4.0  # angular radius of the lamp
#: The lamp's fraction of the light on an unshaded level face; the sky gives the rest.
_LAMP_PART = 0.55
_SKY_EACH = 3  # the sky's directions for each sample of a pixel
_MIN_SKY_SINE = 0.22  # the sine of the lowest elevation of these directions
_SHADOW_SIZE = 900  # size of a shadow map in samples
_LIFTED = 1.8  # offset of a surface against self-shadowing, in samples of the shadow map
#: For the lamp's shadow on the ground: directions, cell size in pixels, and the maximum number of
#: cells along the longer side of the meshes.
_GROUND_LAMP = (64, 1.0, 1000)
_GROUND_SKY = (400, 2.5, 400)  # the same for the sky's shadow
_LAYERS = 32  # the number of layers into which meshes are sliced for these shadows
_MAX_SHIFT = 1.5  # the maximum shift of a layer at once, in cells
_GOLDEN_DEGREES = 137.50776405  # the golden angle, which spreads directions evenly


@dataclass(frozen=True, eq=False)
class DepthBuffer:
    """The visible triangle at each sample, -1 for none, and its nearness in steps, 0 for none.
    Both have the shape (height, width)."""

    face: NDArray[np.int32]
    steps: NDArray[np.uint32]


def rasterise(
    x: Floats, y: Floats, near: Floats, faces: Faces, width: int, height: int
) -> DepthBuffer:
    """Find the nearest front-facing triangle at the centre of every sample.

    Corners are in samples, y downwards; nearness must be linear along straight lines. At
    equal depths the triangle with the lower index is visible; two that share an edge
    leave no sample out."""
    depth = normalize_depth(near, float(near.min()), float(near.max())) if len(near) else near
    best = np.zeros(width * height, dtype=np.uint64)
    for index, nearness, face in _samples(x, y, depth, faces, width, height):
        steps = (nearness * _DEPTHS).astype(np.uint64)
        key = (steps << np.uint64(32)) | (np.uint64(0xFFFFFFFF) - face.astype(np.uint64))
        np.maximum.at(best, index, key)
    # The lower half: without a triangle it is 0, and -1 after this. In place, since both are large.
    seen = (np.uint32(0xFFFFFFFF) - best.astype(np.uint32)).view(np.int32)
    best >>= np.uint64(32)
    nearest = best.astype(np.uint32)
    return DepthBuffer(seen.reshape(height, width), nearest.reshape(height, width))


def to_depth(steps: NDArray[np.uint32]) -> Floats:
    """Convert the steps of a depth buffer to nearness, from 0 to 1."""
    return np.asarray(steps / _DEPTHS)


def normalize_depth(near: Floats, low: float, high: float) -> Floats:
    """Scale nearness to the range of a depth buffer whose corners span from `low` to `high`."""
    return 0.25 + 0.5 * (near - low) / max(high - low, 1e-12)


def _samples(
    x: Floats, y: Floats, depth: Floats, faces: Faces, width: int, height: int
) -> Iterator[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]:
    """Yield chunks of covered samples: their places, depths and triangles."""
    (ax, bx, cx), (ay, by, cy) = (axis[faces].T for axis in (x, y))
    facing = np.flatnonzero((bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0)
    order = np.argsort(y[faces[facing]], axis=1, kind="stable")
    corners = np.take_along_axis(faces[facing], order, axis=1).T  # from top to bottom
    first, after = (_first(y[corner], height) for corner in (corners[0], corners[2]))
    rows = np.maximum(after - first, 0)
    # Chunks of triangles bound the memory; their rows are split into chunks of samples.
    for part in chunks(rows, _AT_A_TIME):
        owner_row = np.repeat(np.arange(len(rows))[part], rows[part])
        row = first[owner_row] + ranges(rows[part])
        top, middle, bottom = corners[:, owner_row]
        upper = row + 0.5 < y[middle]
        start, stop = np.where(upper, top, middle), np.where(upper, middle, bottom)
        ends = []  # where a row meets the long side and a short one
        for a, b in ((top, bottom), (start, stop)):
            fall = y[b] - y[a]
            share = np.where(fall > 0, (row + 0.5 - y[a]) / np.where(fall > 0, fall, 1.0), 0.0)
            ends.append((x[a] + (x[b] - x[a]) * share, depth[a] + (depth[b] - depth[a]) * share))
        (x1, z1), (x2, z2) = ends
        left, right = np.minimum(x1, x2), np.maximum(x1, x2)
        z_left = np.where(x2 < x1, z2, z1)
        begin, count = _first(left, width), _first(right, width)
        count = np.maximum(count - begin, 0)
        slope = np.where(x2 < x1, z1 - z2, z2 - z1) / np.where(right > left, right - left, 1.0)
        z_begin = z_left + (begin + 0.5 - left) * slope
        for bit in chunks(count, _AT_A_TIME):
            samples = count[bit]
            offset = ranges(samples)
            index = np.repeat((row * width + begin)[bit], samples) + offset
            z = np.repeat(z_begin[bit], samples) + offset * np.repeat(slope[bit], samples)
            yield index, z, np.repeat(facing[owner_row][bit], samples)


def _first(values: Floats, maximum: int) -> NDArray[np.int64]:
    """Return the first of `maximum` samples whose centre is not before a value."""
    return np.clip(np.ceil(values - 0.5), 0, maximum).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ShadowMap:
    """A shadow map: the direction of light (a unit vector towards it), its power on a face that
    points at it, the camera in that direction, the depths it sees (shape (n, n)), and the nearness
    of the farthest and the nearest corner."""

    towards: Vector
    power: float
    view: Camera
    depth: Floats
    span: tuple[float, float]

    def visibility(self, points: Floats, normals: Floats) -> Floats:
        """Return the fraction of light that reaches points in mm with these surface normals."""
        x, y, near, _ = self.view.project(points + normals * (_LIFTED / self.view.scale))
        depth, visible = normalize_depth(near, *self.span), np.zeros(len(points))
        # Outside the map, and at NaN, nothing is in the way.
        for first, inside, share in _around(self.depth, x, y):
            # A depth of 0: nothing is there.
            visible += np.where((first <= depth) | (first == 0) | ~inside, share, 0.0)
        return visible


def _around(table: Floats, x: Floats, y: Floats) -> Iterator[tuple[Floats, _Mask, Floats]]:
    """Yield the four cells of a table around places, for bilinear interpolation: values, whether
    they are inside the table, and weights."""
    rows, columns = table.shape
    values = table.ravel()
    left, top = np.floor(x - 0.5), np.floor(y - 0.5)
    across, down = np.nan_to_num(x - 0.5 - left), np.nan_to_num(y - 0.5 - top)
    for column, wide in ((left, 1.0 - across), (left + 1.0, across)):
        for row, high in ((top, 1.0 - down), (top + 1.0, down)):
            inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
            index = np.where(inside, row * columns + column, 0).astype(np.int64)
            yield values[index], inside, wide * high


def shadow_maps(mesh: ShadedMesh, view: View, group: int, groups: int) -> list[ShadowMap]:
    """Return the shadow maps for one of the samples of a pixel, the lamp's first. On an unshaded
    level face the mean of all samples is 1."""
    lamp, sky = _lamp(view, groups), _sky(groups * _SKY_EACH)
    # Exact sums: the result of `sum` depends on Python's version.
    lamp_power = _LAMP_PART / (math.fsum(direction(*angles)[2] for angles in lamp) / groups)
    sky_power = (1 - _LAMP_PART) / (math.fsum(direction(*angles)[2] for angles in sky) / groups)
    high = [_shadow_map(mesh, angles, sky_power) for angles in sky[group::groups]]
    return [_shadow_map(mesh, lamp[group], lamp_power), *high]


def lamp_direction(view: View) -> Vector:
    """Return the unit vector towards the middle of the lamp."""
    return direction(view.azimuth_degrees + _LAMP_TURN_DEGREES, _LAMP_HEIGHT_DEGREES)


def _lamp(view: View, count: int) -> list[tuple[float, float]]:
    """Return directions spread evenly over the lamp: azimuth and elevation, in degrees."""
    directions = []
    for i in range(count):
        reach = _LAMP_DEGREES * math.sqrt((i + 0.5) / count)
        angle = math.radians(_GOLDEN_DEGREES * i)
        across = reach * math.cos(angle) / math.cos(math.radians(_LAMP_HEIGHT_DEGREES))
        turn = view.azimuth_degrees + _LAMP_TURN_DEGREES + across
        directions.append((turn, _LAMP_HEIGHT_DEGREES + reach * math.sin(angle)))
    return directions


def _sky(count: int) -> list[tuple[float, float]]:
    """Return directions spread evenly over the sky."""
    sines = [_MIN_SKY_SINE + (1 - _MIN_SKY_SINE) * (i + 0.5) / count for i in range(count)]
    return [(_GOLDEN_DEGREES * i, math.degrees(math.asin(sine))) for i, sine in enumerate(sines)]


def _shadow_map(mesh: ShadedMesh, towards: tuple[float, float], power: float) -> ShadowMap:
    camera = fit_camera([mesh], View(_SHADOW_SIZE, _SHADOW_SIZE, *towards, orthographic=True))
    x, y, near, _ = camera.project(mesh.vertices)
    depth = to_depth(rasterise(x, y, near, mesh.faces, _SHADOW_SIZE, _SHADOW_SIZE).steps)
    return ShadowMap(
        direction(*towards), power, camera, depth, (float(near.min()), float(near.max()))
    )


@dataclass(frozen=True, eq=False)
class GroundLight:
    """The fraction of light that reaches the ground below closed meshes, from some directions: in
    each cell, of size `cell_mm` from the lower left corner; 1 outside."""

    shares: Floats
    cell_mm: float
    corner_mm: tuple[float, float]

    def at(self, x_mm: Floats, y_mm: Floats) -> Floats:
        """Return the fraction at points."""
        light = np.zeros(x_mm.shape)
        left, bottom = self.corner_mm
        x, y = (x_mm - left) / self.cell_mm, (y_mm - bottom) / self.cell_mm
        for cell_light, inside, weight in _around(self.shares, x, y):
            light += np.where(inside, cell_light, 1.0) * weight
        return light


def ground_lighting(
    vertices: Floats, faces: Faces, view: View, pixel_mm: float
) -> Calls[GroundLight]:
    """Begin to compute the lamp's and the sky's light on the ground; see `light_on_ground`."""
    wide_mm = float(np.ptp(vertices[:, :2], axis=0).max())

    def of_lamp(
        angles: list[tuple[float, float]], pixels: float, max_cells: int
    ) -> tuple[Floats, Faces, float, list[Vector]]:
        cell_mm = max(pixels * pixel_mm, wide_mm / max_cells, 1e-6)
        return vertices, faces, cell_mm, [direction(*angle) for angle in angles]

    lamp = of_lamp(_lamp(view, _GROUND_LAMP[0]), *_GROUND_LAMP[1:])
    sky = of_lamp(_sky(_GROUND_SKY[0]), *_GROUND_SKY[1:])
    return Calls(_lit, [lamp, sky], ["the lamp's shadow", "the sky's shadow"])


def light_on_ground(lights: Sequence[GroundLight], x_mm: Floats, y_mm: Floats) -> Floats:
    """Return the fraction of the light of lamp and sky that reaches points of the ground."""
    lamp, sky = lights
    return _LAMP_PART * lamp.at(x_mm, y_mm) + (1 - _LAMP_PART) * sky.at(x_mm, y_mm)


def _lit(vertices: Floats, faces: Faces, cell_mm: float, towards: Sequence[Vector]) -> GroundLight:
    """Sum up the shadows from some directions, slightly blurred."""
    layers, layer_mm = _layers(vertices, faces, cell_mm)
    rows, columns = layers.shape[1:]
    slants = [(x / z / cell_mm, y / z / cell_mm) for x, y, z in towards]
    reaches = [max(abs(slant[axis]) for slant in slants) for axis in (0, 1)]
    right, up = (math.ceil(reach * _LAYERS * layer_mm) + 2 for reach in reaches)
    dark = np.zeros((rows + 2 * up, columns + 2 * right))
    full = math.fsum(z for *_, z in towards)
    for (across, deep), (*_, power) in zip(slants, towards, strict=True):
        moves = math.ceil(max(abs(across), abs(deep)) * layer_mm / _MAX_SHIFT) or 1
        shadow = np.zeros(dark.shape, dtype=bool)
        for i in range(_LAYERS * moves):
            height_mm = (i + 0.5) / moves * layer_mm
            row, column = up - round(height_mm * deep), right - round(height_mm * across)
            shadow[row : row + rows, column : column + columns] |= layers[i // moves]
        dark += shadow * (power / full)
    for rows in (dark, dark.T):  # once down, once across
        rows[1:-1] = rows[:-2] / 4 + rows[1:-1] / 2 + rows[2:] / 4
    left, bottom = (vertices[:, :2].min(axis=0) - np.array([right, up]) * cell_mm).tolist()
    return GroundLight(1.0 - dark, cell_mm, (left, bottom))


def _layers(vertices: Floats, faces: Faces, cell_mm: float) -> tuple[_Mask, float]:
    """Return the cells that meshes fill halfway up each layer, and the height of a layer."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    columns, rows, _ = (np.ceil((high - low) / cell_mm).astype(int) + 1).tolist()
    layer_mm = max(float(high[2] - low[2]) / _LAYERS, 1e-9)
    x, y = ((vertices[:, :2] - low[:2]) / cell_mm).T
    height = (vertices[:, 2] - low[2]) / layer_mm
    # Inside: more tops than bottoms above. y points up here, so tops are back faces.
    above = np.zeros((_LAYERS + 1) * rows * columns, dtype=np.int8)
    for sides, step in ((faces[:, ::-1], 1), (faces, -1)):
        for index, depth, _ in _samples(x, y, height, sides, columns, rows):
            below = np.clip(np.ceil(depth - 0.5), 0, _LAYERS).astype(np.int64)
            np.add.at(above, below * (rows * columns) + index, np.int8(step))
    above = above.reshape(_LAYERS + 1, rows, columns)
    return np.cumsum(above[:0:-1], axis=0, dtype=np.int8)[::-1] > 0, layer_mm
