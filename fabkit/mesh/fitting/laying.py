"""Laying a part down: the motion that carries its mesh onto the cells that it covers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property

import numpy as np
import shapely
from shapely import Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.mesh.body import Points
from fabkit.mesh.finding import TINY_MM
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.section import filled
from fabkit.model.lattice import Cell, Lattice, Point, Symmetry
from fabkit.model.piece import moves_onto

#: Digits of a grid unit in mm.
_UNIT_DIGITS = 4

#: Where a part lies: the lattice's move, and the frame vector that follows it.
Pose = tuple[Symmetry, Point]


class Laid:
    """A part, ready to be laid down anywhere.

    Args:
        key: what messages call it.
        part: with its outline read.
        lattice: its set's.
    """

    def __init__(self, key: str, part: Part, lattice: Lattice) -> None:
        assert part.outline is not None
        self.key = key
        self.part = part
        self.outline: Outline = part.outline
        self._lattice = lattice
        self.step_mm = step_mm(lattice, self.outline.unit_mm)

    @cached_property
    def section(self) -> BaseGeometry:
        """The outline at mid-height; what is closed at another height is no hole of it."""
        whole = filled(self.part.sections.at(self.part.thickness_mm / 2))
        holes = [Polygon(ring) for ring in self.part.shadow.interiors]
        return whole.difference(union_all(holes)) if holes else whole

    @cached_property
    def is_below_shadow(self) -> bool:
        """Whether all of the mesh lies below its outline seen from above, the largest one."""
        x, y = self.part.vertices[:, :2].T
        return bool(shapely.contains_xy(self.part.shadow.buffer(TINY_MM), x, y).all())

    def poses(self, cells: Iterable[Cell]) -> list[Pose]:
        """The moves that carry the part's own cells onto others, at least one.

        A shape with symmetries can lie in several ways; it is turned over only if it must be.

        Raises:
            InputError: when the part does not have their shape.
        """
        found = moves_onto(self._lattice, self.outline.cells, frozenset(cells))
        if not found:
            raise InputError.of(self.key, "does not have the shape that the solution asks for")
        return [pose for pose in found if not pose[0].flipped] or found[:1]

    def pose(self, cells: Iterable[Cell]) -> Pose:
        """The first of the part's `poses`."""
        return self.poses(cells)[0]

    def matrix(self, pose: Pose) -> Points:
        """The rigid motion of a pose in mm, shape (3, 4); a flip turns the part over."""
        return pose_matrix(pose, self.step_mm, self.part.thickness_mm if pose[0].flipped else 0.0)

    def placed(self, area: BaseGeometry, pose: Pose) -> BaseGeometry:
        """A flat area, laid down."""
        return placed(area, self.matrix(pose))

    def section_at(self, pose: Pose) -> BaseGeometry:
        """The part at mid-height, laid down."""
        return self.placed(self.section, pose)

    def shadow_at(self, pose: Pose) -> Polygon:
        """The part seen from above, laid down."""
        return self.placed(self.part.shadow, pose)


def step_mm(lattice: Lattice, unit_mm: float) -> Points:
    """The lengths of the frame's steps along x and y, in mm.

    Args:
        lattice: whose frame it is.
        unit_mm: the grid unit, as read back. That is good to some 0.00002 mm; what is beyond
            must not show where many units lie in a row.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> step_mm(LATTICES["square"], 20.00001).tolist()
        [10.0, 10.0]
    """
    steps = [math.sqrt(squared) for squared in lattice.step_squared]
    return np.array(steps) * round(unit_mm, _UNIT_DIGITS)


def pose_matrix(pose: Pose, step_mm: Points, height_mm: float = 0.0) -> Points:
    """The rigid motion of a pose in mm, shape (3, 4), as manifold3d takes it.

    Args:
        pose: a flip turns what lies there over.
        step_mm: the lengths of the frame's steps; see `step_mm`.
        height_mm: where height 0 comes to.
    """
    move, (dx, dy) = pose
    a, b, c, d = (value / 2 for value in move.doubled)
    sx, sy = step_mm
    up = -1.0 if move.flipped else 1.0
    return np.array(
        [[a, b * sx / sy, 0, dx * sx], [c * sy / sx, d, 0, dy * sy], [0, 0, up, height_mm]]
    )


def placed(area: BaseGeometry, matrix: Points) -> BaseGeometry:
    """A flat area, moved by what `pose_matrix` gives."""
    (a, b, _, x), (c, d, _, y), _ = matrix.tolist()
    return affinity.affine_transform(area, [a, b, c, d, x, y])
