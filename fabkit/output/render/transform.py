"""Laying printed things down as a solution says: where each mesh goes that lies as it was drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabkit.model.balls import ROTATIONS, BallBody, flat_poses, turned
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import at_anchor, moves_onto
from fabkit.model.puzzle import in_units
from fabkit.output.render.scene import Floats, Vector, dot

_SQUARE = LATTICES["square"]


@dataclass(frozen=True, eq=False)
class Motion:
    """A rigid motion in mm: the rows of its matrix, and what is added afterwards."""

    rows: Floats = field(default_factory=lambda: np.eye(3))
    shift_mm: Floats = field(default_factory=lambda: np.zeros(3))

    def of(self, points: Floats) -> Floats:
        """Where points go, shape (n, 3)."""
        return np.stack([dot(points, row) for row in self.rows], axis=1) + self.shift_mm

    def then(self, x_mm: float, y_mm: float, z_mm: float) -> Motion:
        """The same, moved on."""
        return Motion(self.rows, np.add(self.shift_mm, (x_mm, y_mm, z_mm)))


def lay_flat(
    lattice: Lattice,
    own: Collection[Cell],
    cells: Collection[Cell],
    unit_mm: float,
    thickness_mm: float,
) -> Motion:
    """The motion of a flat piece, as it is drawn, onto cells; it is turned over only if it must be.

    The lowest point of the piece is at height 0, before and after.

    Raises:
        ValueError: when the piece does not have the cells' shape.
    """
    moves = moves_onto(lattice, own, cells)
    if not moves:
        raise ValueError("the piece does not have the shape of the cells")
    move, vector = moves[0]
    a, b, c, d = (value / 2 for value in move.doubled)
    step_x, step_y = (math.sqrt(squared) for squared in lattice.step_squared)
    ((x, y),) = in_units(lattice, [vector])
    up = -1.0 if move.flipped else 1.0
    rows = [[a, b * step_x / step_y, 0.0], [c * step_y / step_x, d, 0.0], [0.0, 0.0, up]]
    height_mm = thickness_mm if move.flipped else 0.0
    return Motion(np.array(rows), np.array([x * unit_mm, y * unit_mm, height_mm]))


def lay_balls(
    body: BallBody, printed_mm: Sequence[Vector], cells: Collection[Cell], pitch_mm: float
) -> Motion:
    """The motion of a ball piece onto cells of the square lattice.

    The middles of its balls are at `printed_mm` as it is printed. Afterwards those of the balls above
    the cells are at height 0, and those of prongs that hang down one pitch below.

    Raises:
        ValueError: when the piece cannot lie so.
    """
    anchored = at_anchor(_SQUARE, cells)
    poses = [pose for pose in flat_poses(body) if at_anchor(_SQUARE, pose.cells) == anchored]
    if not poses:
        raise ValueError("the piece cannot lie so that it covers the cells")
    # Where the balls are when it lies there: column, minus the row, and height.
    (to_x, to_y), (from_x, from_y) = _SQUARE.anchor(cells), _SQUARE.anchor(poses[0].cells)
    row, column = _SQUARE.row_col((to_x - from_x + 1, to_y - from_y - 1))
    wanted = np.array([turned(poses[0].rotation, ball) for ball in body.balls])
    wanted += (column, -row, 0) - wanted[min(body.spine())]
    printed = np.array(printed_mm, dtype=float)
    steps = np.rint((printed - printed[0]) / pitch_mm)
    for rotation in np.array(ROTATIONS, dtype=float):
        if (steps @ rotation.T == wanted - wanted[0]).all():
            target_mm = (wanted[0] + (0.5, -0.5, 0.0)) * pitch_mm
            return Motion(rotation, target_mm - rotation @ printed[0])
    raise ValueError("the printed balls are not the piece's")
