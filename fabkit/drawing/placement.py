"""Rigid placements in mm, as matrices of shape (3, 4): a rotation, then a translation."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.model.balls import ROTATIONS, BallBody, flat_poses, rotate_ball
from fabkit.model.lattice import LATTICES, Cell, Lattice, Point, Symmetry
from fabkit.model.piece import moves_onto, normalize_cells
from fabkit.model.puzzle import to_units

#: A symmetry of the lattice, and the translation in frame units that follows it.
Pose = tuple[Symmetry, Point]
#: A rotation and a translation, shape (3, 4).
Matrix = NDArray[np.float64]

_SQUARE = LATTICES["square"]


def pose_matrix(lattice: Lattice, pose: Pose, unit_mm: float, height_mm: float = 0.0) -> Matrix:
    """Return the matrix of a pose on the lattice; `height_mm` is the new height of 0."""
    move, vector = pose
    a, b, c, d = (coefficient / 2 for coefficient in move.doubled)
    step_x, step_y = (math.sqrt(squared) for squared in lattice.step_squared)
    ((x, y),) = to_units(lattice, [vector])
    up = -1.0 if move.flipped else 1.0
    return np.array(
        [
            [a, b * step_x / step_y, 0.0, x * unit_mm],
            [c * step_y / step_x, d, 0.0, y * unit_mm],
            [0.0, 0.0, up, height_mm],
        ]
    )


def translated(matrix: Matrix, *shift_mm: float) -> Matrix:
    """Return a placement followed by a translation along x, y and z."""
    return np.column_stack([matrix[:, :3], np.add(matrix[:, 3], shift_mm)])


def placed_from_above(shape: BaseGeometry, matrix: Matrix) -> BaseGeometry:
    """Return a shape seen from above, at its place."""
    return affinity.affine_transform(shape, [*matrix[:2, :2].flat, *matrix[:2, 3]])


def place_flat_piece(
    lattice: Lattice,
    form: Collection[Cell],
    cells: Collection[Cell],
    unit_mm: float,
    thickness_mm: float,
    pose: Pose | None = None,
) -> Matrix:
    """Return the matrix that places a flat piece, as drawn, on cells, with its foot at height 0.

    The pose shows the right marks, if the piece has any; else it is turned over only if necessary.

    Raises:
        ValueError: when the piece does not have the cells' shape.
    """
    poses = [pose] if pose else moves_onto(lattice, form, cells)
    if not poses:
        raise ValueError("the piece does not have the shape of the cells")
    move, _ = poses[0]
    height_mm = thickness_mm if move.flipped else 0.0
    return pose_matrix(lattice, poses[0], unit_mm, height_mm)


def place_ball_piece(
    body: BallBody,
    printed_mm: Sequence[tuple[float, float, float]],
    cells: Collection[Cell],
    pitch_mm: float,
) -> Matrix:
    """Return the matrix that places a ball piece, printed with these ball centres, on cells of the
    square lattice: balls above the cells are at height 0, prongs that hang down one pitch lower.
    The printed flat is below unless the cells require another side.

    Raises:
        ValueError: when the piece cannot cover the cells.
    """
    anchored = normalize_cells(_SQUARE, cells)
    poses = [pose for pose in flat_poses(body) if normalize_cells(_SQUARE, pose.cells) == anchored]
    if not poses:
        raise ValueError("the piece cannot lie so that it covers the cells")
    centres_mm = np.array(printed_mm, dtype=float)
    steps = np.rint((centres_mm - centres_mm[0]) / pitch_mm)
    rotations = sorted(np.array(ROTATIONS, dtype=float), key=lambda rotation: -rotation[2, 2])
    for rotation, pose in product(rotations, poses):
        # Coordinates of the placed balls: column, minus the row, and height.
        (to_x, to_y), (from_x, from_y) = _SQUARE.anchor(cells), _SQUARE.anchor(pose.cells)
        row, column = _SQUARE.row_col((to_x - from_x + 1, to_y - from_y - 1))
        balls = np.array([rotate_ball(pose.rotation, ball) for ball in body.balls])
        balls += (column, -row, 0) - balls[min(body.base())]
        if (steps @ rotation.T == balls - balls[0]).all():
            target_mm = (balls[0] + (0.5, -0.5, 0.0)) * pitch_mm
            return np.column_stack([rotation, target_mm - rotation @ centres_mm[0]])
    raise ValueError("the printed balls are not the piece's")
