"""What is shown and from where: meshes, which way their surfaces look, and the view of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

#: Points or vectors, one a row; or the samples of a picture.
Floats = NDArray[np.float64]
#: Triangles, one a row.
Faces = NDArray[np.int64]
Vector = tuple[float, float, float]

#: Directions are rounded, since machines differ in the last digit of a sine.
_DIGITS = 9
#: So are corners, to 0.1 µm, since the kernel that built them takes sines, too; and lengths.
_DIGITS_MM = 4
#: From how far the scene is seen, in diagonals of its box: a mild perspective.
_FAR = 2.6
#: Part of the picture that is left free on each side, shadows aside.
_MARGIN = 0.06
#: The least corner that a picture needs, and the largest size in pixels.
LEAST_PIXELS, MOST_PIXELS = 16, 8192
#: Faces that meet at a smaller angle than this (its cosine: 29 degrees) belong to a curved surface.
_SMOOTH = 0.875
_CORNERS_AT_A_TIME = 1 << 21


@dataclass(frozen=True, eq=False)
class ShadedMesh:
    """One thing of one colour.

    Attributes:
        vertices: its corners in mm, shape (n, 3), z up.
        faces: its triangles, shape (m, 3), counter-clockwise seen from outside.
        colour: ``#rrggbb``.
        name: what it is.
    """

    vertices: Floats
    faces: Faces
    colour: str
    name: str

    def rounded(self) -> ShadedMesh:
        """The same with corners that every machine agrees on, as long as it reckons to 0.1 µm.

        Example:
            >>> triangle = np.array([[0.00001, 0, 0], [0.3 / 3, 0, 0], [0, 1, -0.00001]])
            >>> ShadedMesh(triangle, np.array([[0, 1, 2]]), "#cc3333", "one").rounded().vertices.tolist()
            [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 1.0, 0.0]]
        """
        # Zero is added because there are two zeros.
        return replace(self, vertices=np.round(self.vertices, _DIGITS_MM) + 0.0)


@dataclass(frozen=True)
class View:
    """From where a scene is looked at, and how large its picture is.

    Attributes:
        width: of the picture in pixels.
        height: of the picture in pixels.
        azimuth_degrees: where the viewer stands: 0 for the south (below the drawing), 90 for the
            east.
        elevation_degrees: how high above the horizon; 90 looks straight down.
        orthographic: whether parallels stay parallel.
        background: ``#rrggbb``, or None for a transparent one.
        ground: whether the scene stands on a ground that takes its shadow.
        ink: how dark the lines along edges are, from 0 (none) to 1.
        margin: the part of the picture that stays free at each of its edges, at least; shadows fall
            there.
    """

    width: int = 1600
    height: int = 1000
    azimuth_degrees: float = -17.0
    elevation_degrees: float = 46.0
    orthographic: bool = False
    background: str | None = "#ffffff"
    ground: bool = True
    ink: float = 0.45
    margin: float = _MARGIN


@dataclass(frozen=True)
class Camera:
    """Where points of space come to lie in a picture.

    A point at ``target + x right + y up + z near`` has the *weight* ``1 - z / far``; it lies at
    ``(x, -y) / weight * scale + shift`` and is the nearer the greater ``z / weight`` is. All three
    are linear along a straight line of the picture.

    Attributes:
        right: unit vector to the right of the picture.
        up: unit vector upwards.
        near: unit vector towards the viewer.
        target: the point in the middle.
        far_mm: the viewer's distance from it; infinite for parallel rays.
        scale: pixels in a millimetre at the target.
        shift: where the target lies, in pixels.
    """

    right: Vector
    up: Vector
    near: Vector
    target: Vector
    far_mm: float
    scale: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)

    def seen(self, points: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Where points (shape (n, 3), in mm) lie.

        Returns:
            Their x (to the right) and y (down) in pixels, how near they are, and their weights;
            each of shape (n,).
        """
        x, y, z = (points[:, axis] - self.target[axis] for axis in range(3))
        across, high, near = (
            x * axis[0] + y * axis[1] + z * axis[2] for axis in (self.right, self.up, self.near)
        )
        weight = 1.0 - near / self.far_mm
        return (
            across / weight * self.scale + self.shift[0],
            self.shift[1] - high / weight * self.scale,
            near / weight,
            weight,
        )

    def on_ground(self, x: Floats, y: Floats, ground_mm: float) -> tuple[Floats, Floats]:
        """Where the rays through points of the picture, in pixels, meet a level plane.

        Returns:
            x and y in mm, of the shape of the points; not a number where a ray goes up.
        """
        across, high = (x - self.shift[0]) / self.scale, (self.shift[1] - y) / self.scale
        rise = across * self.right[2] + high * self.up[2]
        falls = self.near[2] - rise / self.far_mm
        near = np.where(falls > 0, (ground_mm - self.target[2] - rise), np.nan)
        near = near / np.where(falls > 0, falls, 1.0)
        weight = 1.0 - near / self.far_mm
        across, high = across * weight, high * weight
        found = [
            self.target[axis]
            + across * self.right[axis]
            + high * self.up[axis]
            + near * self.near[axis]
            for axis in range(2)
        ]
        return found[0], found[1]


def direction(azimuth_degrees: float, elevation_degrees: float) -> Vector:
    """The unit vector to somebody who stands there; see `View`.

    Example:
        >>> direction(0, 0), direction(90, 0), direction(0, 90)
        ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    turn, height = math.radians(azimuth_degrees), math.radians(elevation_degrees)
    flat = math.cos(height)
    return _rounded(math.sin(turn) * flat, -math.cos(turn) * flat, math.sin(height))


def camera(meshes: Sequence[ShadedMesh], view: View) -> Camera:
    """The camera that shows all meshes, of which one has a corner, in the middle of the picture."""
    corners = np.concatenate([mesh.vertices for mesh in meshes])
    low, high = corners.min(axis=0), corners.max(axis=0)
    target = tuple(((low + high) / 2).tolist())
    turn = math.radians(view.azimuth_degrees)
    near = direction(view.azimuth_degrees, view.elevation_degrees)
    right = _rounded(math.cos(turn), math.sin(turn), 0.0)
    up = _cross(near, right)
    across_mm = round(math.dist(low, high), _DIGITS_MM)
    far_mm = math.inf if view.orthographic else max(_FAR * across_mm, 1e-6)
    loose = Camera(right, up, near, (target[0], target[1], target[2]), far_mm)
    x, y, _, _ = loose.seen(corners)
    left, top = float(x.min()), float(y.min())
    wide, tall = max(float(x.max()) - left, 1e-6), max(float(y.max()) - top, 1e-6)
    free = 1 - 2 * view.margin
    scale = free * min(view.width / wide, view.height / tall)
    shift = (
        view.width / 2 - (left + wide / 2) * scale,
        view.height / 2 - (top + tall / 2) * scale,
    )
    return Camera(right, up, near, loose.target, far_mm, scale, shift)


def _rounded(x: float, y: float, z: float) -> Vector:
    return round(x, _DIGITS) + 0.0, round(y, _DIGITS) + 0.0, round(z, _DIGITS) + 0.0


def _cross(a: Vector, b: Vector) -> Vector:
    return _rounded(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


# --- surfaces -----------------------------------------------------------------------------------


def face_normals(vertices: Floats, faces: Faces) -> tuple[Floats, Floats]:
    """The unit normals of triangles, shape (m, 3), and their areas, shape (m,).

    A triangle without area looks nowhere: its normal is zero.

    Example:
        >>> corners = np.array([[0.0, 0, 0], [2, 0, 0], [0, 2, 0]])
        >>> normals, areas = face_normals(corners, np.array([[0, 1, 2]]))
        >>> normals.tolist(), areas.tolist()
        ([[0.0, 0.0, 1.0]], [2.0])
    """
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    (ux, uy, uz), (vx, vy, vz) = (b - a).T, (c - a).T
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = np.sqrt(x * x + y * y + z * z)
    divisor = np.where(length > 0, length, 1.0)
    return np.stack([x / divisor, y / divisor, z / divisor], axis=1), length / 2


def corner_normals(vertices: Floats, faces: Faces) -> Floats:
    """The normals at the corners of triangles, where vertices at the same place must be one.

    Returns:
        Shape (m, 3, 3): for each corner the mean, weighted with areas, of the normals of the
        triangles that meet there and look nearly the same way.
    """
    normals, areas = face_normals(vertices, faces)
    corner_of = faces.ravel()
    order = np.argsort(corner_of, kind="stable")
    counts = np.bincount(corner_of, minlength=len(vertices))
    starts = np.cumsum(counts) - counts
    neighbours = counts[corner_of]
    total = np.zeros((len(corner_of), 3))
    ends = np.cumsum(neighbours)
    begin = 0
    while begin < len(corner_of):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _CORNERS_AT_A_TIME, side="right")))
        _add_neighbours(
            total, slice(begin, end), (corner_of, neighbours, starts, order), normals, areas
        )
        begin = end
    length = np.sqrt(total[:, 0] ** 2 + total[:, 1] ** 2 + total[:, 2] ** 2)
    flat = np.repeat(normals, 3, axis=0)
    whole = np.where(length[:, None] > 0, total / np.where(length > 0, length, 1.0)[:, None], flat)
    return whole.reshape(-1, 3, 3)


def _add_neighbours(
    total: Floats,
    part: slice,
    around: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    normals: Floats,
    areas: Floats,
) -> None:
    """Adds up the normals around some corners."""
    corner_of, neighbours, starts, order = around
    count = neighbours[part]
    corner = np.repeat(np.arange(part.start, part.start + len(count)), count)
    step = np.arange(len(corner)) - np.repeat(np.cumsum(count) - count, count)
    other = order[starts[corner_of[corner]] + step] // 3
    own = corner // 3
    (x, y, z), (ox, oy, oz) = normals[own].T, normals[other].T
    weight = np.where(x * ox + y * oy + z * oz >= _SMOOTH, areas[other], 0.0)
    for axis, value in enumerate((ox, oy, oz)):
        total[part, axis] += np.bincount(
            corner - part.start, weights=value * weight, minlength=len(count)
        )
