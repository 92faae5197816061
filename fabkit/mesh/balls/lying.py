"""How a part of balls lies on the printer's bed: on its flat."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.body import Faces, Points

#: The flat leans by less than this (radians) from an axis of the balls: one ball that lies off
#: its place turns these axes a little.
_LEANS = math.radians(3)
#: Its facets are those whose corners are at most this part of the pitch above the lowest point.
#: Their directions say nothing: single precision turns slivers by degrees.
_AT_END = 0.002
#: The flat has at least this part of a square of one pitch; that under one ball has a quarter.
_LEAST_FLAT = 0.05
#: The six ways in which the axes of the balls point.
_WAYS = np.vstack([np.eye(3), -np.eye(3)])


@dataclass(frozen=True, eq=False)
class Lying:
    """A part as it is printed.

    Attributes:
        vertices: its corners in mm, shape (n, 3), lowest at height 0, the flat level.
        middles: the places of its balls there, shape (balls, 3); none when they were not read.
        lowest: the balls of the lowest plane.
        flat: what lies on the bed, seen from above; empty when there is no flat. Then the part lies
            with as many balls lowest as it can, or as in its file when its balls were not read.
        tilt_degrees: between the file's vertical and the upright of the part; 0 without a flat.
    """

    vertices: Points
    middles: Points
    lowest: tuple[int, ...]
    flat: BaseGeometry
    tilt_degrees: float


def lay_down(part: BallPart) -> Lying:
    """Lays a part on its flat: the side on which most of its surface is level and lowest.

    Args:
        part: in any state; how its facets are turned does not matter.
    """
    if part.shape is None:
        vertices = part.vertices - [0.0, 0.0, float(part.vertices[:, 2].min())]
        return Lying(vertices, np.empty((0, 3)), (), Polygon(), 0.0)
    middles = np.array(part.shape.balls, float) * part.pitch_mm
    faces = _flat_facets(part)
    if len(faces):
        up, tilt = _upright(part.vertices, faces), _tilt_degrees(part, faces)
    else:
        most = [len(_lowest(middles @ way, part.pitch_mm)) for way in _WAYS]
        up, tilt = _WAYS[int(np.argmax(most))], 0.0
    turn = _turn_to(up)
    vertices, middles = part.vertices @ turn.T, middles @ turn.T
    down = [0.0, 0.0, float(vertices[:, 2].min())]
    flat = shapely.union_all(shapely.make_valid(shapely.polygons(vertices[faces][:, :, :2])))
    lowest = _lowest(middles[:, 2], part.pitch_mm)
    return Lying(vertices - down, middles - down, lowest, flat, tilt)


def _flat_facets(part: BallPart) -> Faces:
    """The facets on which a part can lie, those of the side where they are largest; or none."""
    normals, areas = _normals(part.vertices[part.body.faces])
    most, found = _LEAST_FLAT * part.pitch_mm**2, np.empty(0, dtype=np.int64)
    for way in _WAYS:
        level = np.flatnonzero(np.abs(normals @ way) > math.cos(_LEANS))
        if not len(level):
            continue
        largest = normals[level[areas[level].argmax()]]
        heights = part.vertices @ (largest * np.sign(largest @ way))
        corners = heights[part.body.faces].max(axis=1)
        flat = np.flatnonzero(corners < heights.min() + _AT_END * part.pitch_mm)
        if areas[flat].sum() > most:
            most, found = float(areas[flat].sum()), flat
    return part.body.faces[found]


def _upright(vertices: Points, flat: Faces) -> Points:
    """The unit vector across a flat on whose side the body lies."""
    normals, areas = _normals(vertices[flat])
    alike = np.sign(normals @ normals[areas.argmax()])
    across = (normals * (alike * areas)[:, None]).sum(axis=0)
    across /= np.linalg.norm(across)
    above = (vertices.mean(axis=0) - vertices[flat[0, 0]]) @ across
    return np.asarray(across if above > 0 else -across)


def _tilt_degrees(part: BallPart, flat: Faces) -> float:
    """The angle between the file's vertical and the upright of the part."""
    x, y, z = _upright(part.body.vertices, flat).tolist()
    return math.degrees(math.atan2(math.hypot(x, y), z))


def _normals(corners: Points) -> tuple[Points, NDArray[np.float64]]:
    """Normals of length 1, or 0 for facets without extent, and areas."""
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    doubled = np.linalg.norm(crossed, axis=1)
    return crossed / np.where(doubled > 0, doubled, 1.0)[:, None], doubled / 2


def _lowest(heights: NDArray[np.float64], pitch_mm: float) -> tuple[int, ...]:
    return tuple(np.flatnonzero(heights < heights.min() + pitch_mm / 2).tolist())


def _turn_to(up: Points) -> Points:
    """A rotation that brings a direction to the vertical, and an axis of the balls near to x."""
    along = np.eye(3)[int(np.abs(up).argmin())]
    x = along - up * (up @ along)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(up, x), up])
