"""The scene: meshes with their normals, the view, and the camera."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

#: Points or vectors, one per row; or the samples of an image.
Floats = NDArray[np.float64]
#: Triangles, one per row.
Faces = NDArray[np.int64]
Vector = tuple[float, float, float]

#: Decimals of directions, which are rounded because machines differ in the last digit of a sine.
_DIGITS = 9
_DIGITS_MM = 4  # decimals of corners and lengths in mm, because the CAD kernel uses sines, too
_FAR = 2.6  # distance of the viewer in diagonals of the bounding box: a mild perspective
MIN_PIXELS = 16  # the minimum side of an image, in pixels
MAX_PIXELS = 8192  # the maximum side of an image, in pixels
#: Faces that meet at less than this angle (given by its cosine: 29 degrees) are shaded smoothly.
_SMOOTH = 0.875
_CORNERS_AT_A_TIME = 1 << 21  # pairs of corners processed at a time


@dataclass(frozen=True, eq=False)
class ShadedMesh:
    """A mesh of one colour (``#rrggbb``): vertices in mm, shape (n, 3), z up, and triangles, shape
    (m, 3), counter-clockwise seen from outside."""

    vertices: Floats
    faces: Faces
    colour: str
    name: str

    def rounded(self) -> ShadedMesh:
        """Round the vertices, so that machines agree on them."""
        # Adding 0.0 turns -0.0 into 0.0.
        return replace(self, vertices=np.round(self.vertices, _DIGITS_MM) + 0.0)


@dataclass(frozen=True)
class View:
    """The viewpoint, and the size of the image in pixels. The azimuth of the viewer is 0 in the
    south, below the drawing, and 90 in the east; the elevation is above the horizon. The background
    is ``#rrggbb``, None for transparent. A `ground` receives shadows; `ink` is the darkness of
    outlines (0 to 1); `margin` is the least free fraction at each edge."""

    width: int = 1600
    height: int = 1000
    azimuth_degrees: float = -17.0
    elevation_degrees: float = 46.0
    orthographic: bool = False
    background: str | None = "#ffffff"
    ground: bool = True
    ink: float = 0.45
    margin: float = 0.06


@dataclass(frozen=True)
class Camera:
    """A projection. A point ``target + x right + y up + z near`` (unit vectors) has the *weight*
    ``1 - z / far_mm``, is projected to ``(x, -y) / weight * scale + shift``, in pixels, and is
    nearer the greater ``z / weight`` is: all are linear along straight lines of the image. `far_mm`
    is infinite for an orthographic projection."""

    right: Vector
    up: Vector
    near: Vector
    target: Vector
    far_mm: float
    scale: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)

    def project(self, points: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Project points (shape (n, 3), in mm). Returns x (to the right) and y (down) in pixels,
        nearness, and weights, each of shape (n,)."""
        moved = points - np.array(self.target)
        across, high, near = (dot(moved, axis) for axis in (self.right, self.up, self.near))
        weight = 1.0 - near / self.far_mm
        x, y = across / weight * self.scale, high / weight * self.scale
        return x + self.shift[0], self.shift[1] - y, near / weight, weight

    def intersect_ground(self, x: Floats, y: Floats, ground_mm: float) -> tuple[Floats, Floats]:
        """Intersect rays through image points, in pixels, with a level plane: x and y in mm, NaN
        where a ray points up."""
        across, high = (x - self.shift[0]) / self.scale, (self.shift[1] - y) / self.scale
        rise = across * self.right[2] + high * self.up[2]
        falls = self.near[2] - rise / self.far_mm
        near = (ground_mm - self.target[2] - rise) / np.where(falls > 0, falls, np.nan)
        weight = 1.0 - near / self.far_mm
        across, high = across * weight, high * weight
        on_x, on_y = (
            self.target[axis]
            + across * self.right[axis]
            + high * self.up[axis]
            + near * self.near[axis]
            for axis in (0, 1)
        )
        return on_x, on_y


def direction(azimuth_degrees: float, elevation_degrees: float) -> Vector:
    """Return the unit vector to a viewer; see `View`.

    Example:
        >>> direction(0, 0), direction(90, 0), direction(0, 90)
        ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    turn, height = math.radians(azimuth_degrees), math.radians(elevation_degrees)
    flat = math.cos(height)
    return _rounded(math.sin(turn) * flat, -math.cos(turn) * flat, math.sin(height))


def fit_camera(meshes: Sequence[ShadedMesh], view: View) -> Camera:
    """Return the camera that shows all meshes (one vertex at least) in the middle of the image."""
    corners = np.concatenate([mesh.vertices for mesh in meshes])
    low, high = corners.min(axis=0), corners.max(axis=0)
    target = tuple(((low + high) / 2).tolist())
    turn = math.radians(view.azimuth_degrees)
    near = a, b, c = direction(view.azimuth_degrees, view.elevation_degrees)
    right = x, y, _ = _rounded(math.cos(turn), math.sin(turn), 0.0)
    up = _rounded(-c * y, c * x, a * y - b * x)
    across_mm = round(math.dist(low, high), _DIGITS_MM)
    far_mm = math.inf if view.orthographic else max(_FAR * across_mm, 1e-6)
    unscaled = Camera(right, up, near, target, far_mm)
    projected = unscaled.project(corners)[:2]
    left, top = (float(axis.min()) for axis in projected)
    wide, tall = (max(float(np.ptp(axis)), 1e-6) for axis in projected)
    scale = (1 - 2 * view.margin) * min(view.width / wide, view.height / tall)
    x, y = view.width / 2 - (left + wide / 2) * scale, view.height / 2 - (top + tall / 2) * scale
    return replace(unscaled, scale=scale, shift=(x, y))


def _rounded(*axes: float) -> Vector:
    x, y, z = (round(coordinate, _DIGITS) + 0.0 for coordinate in axes)
    return x, y, z


def dot(vectors: Floats, other: Floats | Vector) -> Floats:
    """Return dot products of vectors, one per row, with as many others or one. Unlike ``numpy.dot``
    it is rounded alike on every machine."""
    x, y, z = np.asarray(other).T
    products: Floats = vectors[:, 0] * x + vectors[:, 1] * y + vectors[:, 2] * z
    return products


def normalize(vectors: Floats) -> Floats:
    """Normalise vectors, one per row; zero vectors stay."""
    length = np.sqrt(dot(vectors, vectors))
    return vectors / np.where(length > 0, length, 1.0)[:, None]


def chunks(counts: NDArray[np.int64], limit: int) -> Iterator[slice]:
    """Yield slices of counts that add up to at most `limit`, or are a single count."""
    begin = 0
    ends = np.cumsum(counts)
    while begin < len(counts):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + limit, side="right")))
        yield slice(begin, end)
        begin = end


def ranges(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate the ranges 0, 1, … of each count."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def face_normals(vertices: Floats, faces: Faces) -> tuple[Floats, Floats]:
    """Return unit normals of triangles, shape (m, 3), zero for degenerate ones, and areas."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    return normalize(normals), np.sqrt(dot(normals, normals)) / 2


def corner_normals(vertices: Floats, faces: Faces) -> Floats:
    """Return the normals at the corners of triangles, shape (m, 3, 3): the area-weighted mean of
    the adjacent triangles with nearly the same direction. Vertices must be merged."""
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
        other = by_vertex[np.repeat(starts[part], count) + ranges(count)] // 3
        alike = dot(flat[part][corner], normals[other]) >= _SMOOTH
        weight = np.where(alike, areas[other], 0.0)
        for axis in range(3):
            weighted = normals[other, axis] * weight
            total[part, axis] = np.bincount(corner, weights=weighted, minlength=len(count))
    whole = np.where(dot(total, total)[:, None] > 0, normalize(total), flat)
    return whole.reshape(-1, 3, 3)
