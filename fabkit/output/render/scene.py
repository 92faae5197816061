"""What is shown and from where: meshes, which way their surfaces look, and the view of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
        moved = points - np.array(self.target)
        across, high, near = (dot(moved, axis) for axis in (self.right, self.up, self.near))
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
        axes = zip(self.target, self.right, self.up, self.near, strict=True)
        on_x, on_y, _ = (t + across * r + high * u + near * n for t, r, u, n in axes)
        return on_x, on_y


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
    near = a, b, c = direction(view.azimuth_degrees, view.elevation_degrees)
    right = x, y, _ = _rounded(math.cos(turn), math.sin(turn), 0.0)
    up = _rounded(-c * y, c * x, a * y - b * x)
    across_mm = round(math.dist(low, high), _DIGITS_MM)
    far_mm = math.inf if view.orthographic else max(_FAR * across_mm, 1e-6)
    loose = Camera(right, up, near, target, far_mm)
    (left, right_end), (top, bottom) = (
        (float(one.min()), float(one.max())) for one in loose.seen(corners)[:2]
    )
    wide, tall = max(right_end - left, 1e-6), max(bottom - top, 1e-6)
    scale = (1 - 2 * view.margin) * min(view.width / wide, view.height / tall)
    shift = (
        view.width / 2 - (left + wide / 2) * scale,
        view.height / 2 - (top + tall / 2) * scale,
    )
    return replace(loose, scale=scale, shift=shift)


def _rounded(x: float, y: float, z: float) -> Vector:
    return round(x, _DIGITS) + 0.0, round(y, _DIGITS) + 0.0, round(z, _DIGITS) + 0.0


# --- vectors and chunks -------------------------------------------------------------------------


def dot(vectors: Floats, other: Floats | Vector) -> Floats:
    """Products of vectors, one a row, with as many others or with one.

    They are summed one after the other, so that every machine rounds them alike.
    """
    x, y, z = np.asarray(other).T
    found: Floats = vectors[:, 0] * x + vectors[:, 1] * y + vectors[:, 2] * z
    return found


def unit(vectors: Floats) -> Floats:
    """Vectors, one a row, with length 1; those without length as they are."""
    length = np.sqrt(dot(vectors, vectors))
    return vectors / np.where(length > 0, length, 1.0)[:, None]


def chunks(counts: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Slices of a list of counts that add up to at most so many each, or are one count."""
    begin, ends = 0, np.cumsum(counts)
    while begin < len(counts):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield slice(begin, end)
        begin = end


def within(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … for each count, in a row.

    Example:
        >>> within(np.array([2, 0, 3])).tolist()
        [0, 1, 0, 1, 2]
    """
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


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
    normals = np.stack([uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], axis=1)
    return unit(normals), np.sqrt(dot(normals, normals)) / 2


def corner_normals(vertices: Floats, faces: Faces) -> Floats:
    """The normals at the corners of triangles, where vertices at the same place must be one.

    Returns:
        Shape (m, 3, 3): for each corner the mean, weighted with areas, of the normals of the
        triangles that meet there and look nearly the same way.
    """
    normals, areas = face_normals(vertices, faces)
    corner_of = faces.ravel()
    by_vertex = np.argsort(corner_of, kind="stable")
    counts = np.bincount(corner_of, minlength=len(vertices))
    starts = (np.cumsum(counts) - counts)[corner_of]
    neighbours = counts[corner_of]
    flat = np.repeat(normals, 3, axis=0)
    total = np.zeros_like(flat)
    for part in chunks(neighbours, _CORNERS_AT_A_TIME):
        count = neighbours[part]
        corner = np.repeat(np.arange(len(count)), count)
        other = by_vertex[np.repeat(starts[part], count) + within(count)] // 3
        alike = dot(flat[part][corner], normals[other]) >= _SMOOTH
        weight = np.where(alike, areas[other], 0.0)
        for axis in range(3):
            seen = normals[other, axis] * weight
            total[part, axis] = np.bincount(corner, weights=seen, minlength=len(count))
    whole = np.where(dot(total, total)[:, None] > 0, unit(total), flat)
    return whole.reshape(-1, 3, 3)
