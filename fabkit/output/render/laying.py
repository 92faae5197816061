"""Laying printed things down as a solution says: where each mesh goes that lies as it was drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from fabkit.model.balls import ROTATIONS, Ball, BallBody, flat_poses, turned
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import at_anchor, moves_onto
from fabkit.model.puzzle import in_units
from fabkit.output.render.scene import Floats, Vector

Row = tuple[float, float, float]
_SQUARE = LATTICES["square"]


@dataclass(frozen=True)
class Motion:
    """A rigid motion in mm.

    Attributes:
        rows: of its matrix.
        shift_mm: what is added afterwards.

    Example:
        >>> lifted = Motion(shift_mm=(0, 0, 2))
        >>> lifted.of(np.array([[1.0, 1.0, 1.0]])).tolist()
        [[1.0, 1.0, 3.0]]
    """

    rows: tuple[Row, Row, Row] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    shift_mm: Vector = (0.0, 0.0, 0.0)

    def of(self, points: Floats) -> Floats:
        """Where points go, shape (n, 3)."""
        x, y, z = points[:, 0], points[:, 1], points[:, 2]
        moved = [
            x * row[0] + y * row[1] + z * row[2] + shift
            for row, shift in zip(self.rows, self.shift_mm, strict=True)
        ]
        return np.stack(moved, axis=1)

    def then(self, x_mm: float, y_mm: float, z_mm: float) -> Motion:
        """The same, moved on."""
        x, y, z = self.shift_mm
        return Motion(self.rows, (x + x_mm, y + y_mm, z + z_mm))


def lay_flat(
    lattice: Lattice,
    own: Collection[Cell],
    cells: Collection[Cell],
    unit_mm: float,
    thickness_mm: float,
) -> Motion:
    """The motion of a flat piece onto cells; it is turned over only if it must be.

    Args:
        lattice: the set's.
        own: the cells of the piece as it is drawn.
        cells: where it shall lie.
        unit_mm: length of a grid unit.
        thickness_mm: of the piece, whose lowest point is at height 0, before and after.

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
    rows = ((a, b * step_x / step_y, 0.0), (c * step_y / step_x, d, 0.0), (0.0, 0.0, up))
    return Motion(rows, (x * unit_mm, y * unit_mm, thickness_mm if move.flipped else 0.0))


def lay_balls(
    body: BallBody, printed_mm: Sequence[Vector], cells: Collection[Cell], pitch_mm: float
) -> Motion:
    """The motion of a ball piece onto cells of the square lattice.

    Args:
        body: the piece's balls.
        printed_mm: where their middles are as it is printed, in the same order.
        cells: where it shall lie.
        pitch_mm: from ball to ball.

    Returns:
        The motion. Afterwards the middles of the balls above the cells are at height 0, and those
        of prongs that hang down one pitch below.

    Raises:
        ValueError: when the piece cannot lie so.
    """
    wanted = _balls_on(body, frozenset(cells))
    own = [_steps(place, printed_mm[0], pitch_mm) for place in printed_mm]
    first = wanted[0]
    steps = [(x - first[0], y - first[1], z - first[2]) for x, y, z in wanted]
    for rotation in ROTATIONS:
        if [turned(rotation, ball) for ball in own] == steps:
            x, y, z = printed_mm[0]
            rows = tuple((float(p), float(q), float(r)) for p, q, r in rotation)
            target = ((first[0] + 0.5) * pitch_mm, (first[1] - 0.5) * pitch_mm, first[2] * pitch_mm)
            shift = tuple(
                there - (row[0] * x + row[1] * y + row[2] * z)
                for there, row in zip(target, rows, strict=True)
            )
            return Motion((rows[0], rows[1], rows[2]), (shift[0], shift[1], shift[2]))
    raise ValueError("the printed balls are not the piece's")


def _balls_on(body: BallBody, cells: frozenset[Cell]) -> list[Ball]:
    """Where the balls are when the piece lies on cells: column, minus the row, and height."""
    row_col = _SQUARE.row_col
    for pose in flat_poses(body):
        if at_anchor(_SQUARE, pose.cells) != at_anchor(_SQUARE, cells):
            continue
        (to_x, to_y), (from_x, from_y) = _SQUARE.anchor(cells), _SQUARE.anchor(pose.cells)
        origin = turned(pose.rotation, body.balls[min(body.spine())])
        balls = [turned(pose.rotation, ball) for ball in body.balls]
        row, column = row_col((to_x - from_x + 1, to_y - from_y - 1))
        return [(x - origin[0] + column, y - origin[1] - row, z - origin[2]) for x, y, z in balls]
    raise ValueError("the piece cannot lie so that it covers the cells")


def _steps(place: Vector, origin: Vector, pitch_mm: float) -> Ball:
    x, y, z = (round((a - b) / pitch_mm) for a, b in zip(place, origin, strict=True))
    return x, y, z
