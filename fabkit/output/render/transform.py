"""Transforms that move the meshes of pieces, as drawn, to their places in a solution."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabkit.model.balls import ROTATIONS, BallBody, flat_poses, rotate_ball
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import moves_onto, normalize_cells
from fabkit.model.puzzle import to_units
from fabkit.output.render.scene import Floats, Vector, dot

_SQUARE = LATTICES["square"]


@dataclass(frozen=True, eq=False)
class RigidTransform:
    """A rotation, given by the rows of its matrix, followed by a translation in mm."""

    rows: Floats = field(default_factory=lambda: np.eye(3))
    shift_mm: Floats = field(default_factory=lambda: np.zeros(3))

    def apply(self, points: Floats) -> Floats:
        """Transform points, shape (n, 3)."""
        return np.stack([dot(points, row) for row in self.rows], axis=1) + self.shift_mm

    def translated(self, x_mm: float, y_mm: float, z_mm: float) -> RigidTransform:
        """Return this transform followed by a translation."""
        return RigidTransform(self.rows, np.add(self.shift_mm, (x_mm, y_mm, z_mm)))


def place_flat_piece(
    lattice: Lattice,
    own: Collection[Cell],
    cells: Collection[Cell],
    unit_mm: float,
    thickness_mm: float,
) -> RigidTransform:
    """Return the transform of a flat piece, as drawn, onto cells, with its foot at 0; it is turned over
    only if necessary.

    Raises:
        ValueError: when the piece does not have the cells' shape.
    """
    if not (moves := moves_onto(lattice, own, cells)):
        raise ValueError("the piece does not have the shape of the cells")
    move, vector = moves[0]
    a, b, c, d = (coefficient / 2 for coefficient in move.doubled)
    step_x, step_y = (math.sqrt(squared) for squared in lattice.step_squared)
    ((x, y),) = to_units(lattice, [vector])
    up = -1.0 if move.flipped else 1.0
    rows = [[a, b * step_x / step_y, 0.0], [c * step_y / step_x, d, 0.0], [0.0, 0.0, up]]
    height_mm = thickness_mm if move.flipped else 0.0
    return RigidTransform(np.array(rows), np.array([x * unit_mm, y * unit_mm, height_mm]))


def place_ball_piece(
    body: BallBody, printed_mm: Sequence[Vector], cells: Collection[Cell], pitch_mm: float
) -> RigidTransform:
    """Return the transform of a ball piece, printed with these ball centres, onto cells of the square
    lattice: the balls above the cells are at height 0, prongs that hang down one pitch lower.

    Raises:
        ValueError: when the piece cannot cover the cells.
    """
    anchored = normalize_cells(_SQUARE, cells)
    poses = [pose for pose in flat_poses(body) if normalize_cells(_SQUARE, pose.cells) == anchored]
    if not poses:
        raise ValueError("the piece cannot lie so that it covers the cells")
    # Coordinates of the placed balls: column, minus the row, and height.
    (to_x, to_y), (from_x, from_y) = _SQUARE.anchor(cells), _SQUARE.anchor(poses[0].cells)
    row, column = _SQUARE.row_col((to_x - from_x + 1, to_y - from_y - 1))
    wanted = np.array([rotate_ball(poses[0].rotation, ball) for ball in body.balls])
    wanted += (column, -row, 0) - wanted[min(body.spine())]
    centres_mm = np.array(printed_mm, dtype=float)
    steps = np.rint((centres_mm - centres_mm[0]) / pitch_mm)
    for rotation in np.array(ROTATIONS, dtype=float):
        if (steps @ rotation.T == wanted - wanted[0]).all():
            target_mm = (wanted[0] + (0.5, -0.5, 0.0)) * pitch_mm
            return RigidTransform(rotation, target_mm - rotation @ centres_mm[0])
    raise ValueError("the printed balls are not the piece's")
