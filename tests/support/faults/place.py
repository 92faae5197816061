"""Faults of scale and place: of another size, tilted, or the mirror image."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tests.support.faults.planting import Case, Planted, Points


def scaled(case: Case, size: float, axes: Sequence[float]) -> Planted:
    return case.moved(lambda vertices: vertices * (1 + size * np.asarray(axes)))


def scaled_alike(case: Case, size: float) -> Planted:
    return scaled(case, size * 0.002 * case.sign(), (1, 1, 1))


def scaled_up(case: Case, size: float) -> Planted:
    return scaled(case, size * case.sign() * 0.05 / case.profile.thickness_mm, (0, 0, 1))


def turned_by(axis: int, degrees: float) -> Points:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = cos
    matrix[i, j], matrix[j, i] = -sin, sin
    return matrix


def turned(case: Case, *steps: tuple[int, float]) -> Planted:
    def turn(vertices: Points) -> Points:
        for axis, degrees in steps:
            vertices = vertices @ turned_by(axis, degrees).T
        return vertices

    return case.moved(turn)


def tilted(case: Case, size: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)), (0, 0.1 * size))


def on_its_face(case: Case, _: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)), (0, 180))


def mirrored_mesh(case: Case, _: float) -> Planted:
    vertices = case.body.vertices * [-1.0, 1.0, 1.0]
    return case.mesh(vertices, case.body.faces[:, ::-1])
