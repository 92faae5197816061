"""Faults of scale and place: of another size, tilted, or the mirror image."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tests.support.faults.planting import Case, Planted, Points
from tests.support.shapes import inside_out, with_corners


def scaled(case: Case, size: float, axes: Sequence[float]) -> Planted:
    return case.moved(lambda vertices: vertices * (1 + size * np.asarray(axes)))


def scaled_alike(case: Case, size: float) -> Planted:
    return scaled(case, size * 0.002 * case.sign(), (1, 1, 1))


def scaled_up(case: Case, size: float) -> Planted:
    return scaled(case, size * case.sign() * 0.05 / case.profile.thickness_mm, (0, 0, 1))


def turned(case: Case, *steps: tuple[int, float]) -> Planted:
    from trimesh.transformations import rotation_matrix

    def all_turned(vertices: Points) -> Points:
        for axis, degrees in steps:
            vertices = vertices @ rotation_matrix(math.radians(degrees), np.eye(3)[axis])[:3, :3].T
        return vertices

    return case.moved(all_turned)


def tilted(case: Case, size: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)), (0, 0.1 * size))


def on_its_face(case: Case, _: float) -> Planted:
    return turned(case, (2, case.random.uniform(0, 360)), (0, 180))


def mirrored_mesh(case: Case, _: float) -> Planted:
    """In its place."""
    turned, (left, right) = inside_out(case.body), np.percentile(case.body.vertices[:, 0], (0, 100))
    corners = turned.vertices * [-1.0, 1.0, 1.0] + [left + right, 0.0, 0.0]
    return case.meshed(with_corners(turned, corners))


def in_inches(case: Case, _: float) -> Planted:
    return case.moved(lambda vertices: vertices / 25.4)
