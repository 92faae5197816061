"""Parts as they lie: over which cells, and the motions that lay them down elsewhere."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.drawing.outline import region_mm
from fabkit.mesh.body import Points
from fabkit.mesh.manifold import between, shadow_of
from fabkit.mesh.part import Part, inside_mm
from fabkit.model.lattice import Cell, Lattice, Point, Symmetry
from fabkit.model.piece import moves_onto
from fabkit.model.puzzle import in_units

#: Where a part lies: the lattice's move, and the frame vector that follows it.
Pose = tuple[Symmetry, Point]


@dataclass(frozen=True, eq=False)
class Lying:
    """One of the ways in which a piece can lie; turns about the vertical are divided out.

    Attributes:
        solid: its mesh over these cells, a `manifold3d.Manifold`; on a board, at height 0 is what
            comes to lie at the board's ``rest_mm``.
        flat: the part, of a flat piece; it may be turned over, too.
    """

    key: str
    lattice: Lattice
    unit_mm: float
    cells: frozenset[Cell]
    solid: Any
    flat: Part | None = None
    _shadows: dict[tuple[float, float], BaseGeometry] = field(default_factory=dict, repr=False)

    def covered(self, pose: Pose) -> frozenset[Cell]:
        """The cells that it covers in a pose."""
        return frozenset(moved(self.cells, pose))

    def poses(self, region: Iterable[Cell]) -> Iterator[Pose]:
        """Every pose in which its cells lie inside a region, by turn and then by place."""
        cells = frozenset(region)
        for move in self.lattice.moves(flips=False):
            x, y = first = min(map(move, self.cells))
            for to_x, to_y in sorted(cells):
                pose = move, (to_x - x, to_y - y)
                is_alike = self.lattice.residue((to_x, to_y)) == self.lattice.residue(first)
                if is_alike and self.covered(pose) <= cells:
                    yield pose

    def matrix(self, pose: Pose, height_mm: float = 0.0) -> Points:
        """The rigid motion of a pose in mm, shape (3, 4); what rests comes to a height."""
        move, (dx, dy) = pose
        a, b, c, d = (value / 2 for value in move.doubled)
        sx, sy = step_mm(self.lattice, self.unit_mm)
        up = 1.0
        if move.flipped:
            up, height_mm = -1.0, height_mm + (self.flat.thickness_mm if self.flat else 0.0)
        return np.array(
            [[a, b * sx / sy, 0, dx * sx], [c * sy / sx, d, 0, dy * sy], [0, 0, up, height_mm]]
        )

    def at(self, pose: Pose, height_mm: float = 0.0) -> Any:
        """Its mesh in a pose; what rests is at this height."""
        return self.solid.transform(self.matrix(pose, height_mm))

    def placed(self, area: BaseGeometry, poses: Sequence[Pose]) -> NDArray[np.object_]:
        """A flat area of it, laid down in each of some poses."""
        motions = np.reshape([self.matrix(pose)[:2] for pose in poses], (-1, 2, 4))
        each = np.repeat(motions, shapely.get_num_coordinates(area), axis=0)
        return np.asarray(
            shapely.transform(
                np.full(len(poses), area),
                lambda some: np.einsum("nij,nj->ni", each[..., :2], some) + each[..., 3],
            )
        )

    @cached_property
    def is_solid(self) -> bool:
        """Whether the mesh bounds a volume, so that overlaps can be measured."""
        return bool(self.solid.volume() > 0)

    @cached_property
    def heights_mm(self) -> tuple[float, float]:
        """Where it begins and ends, in the frame of `solid`."""
        _, _, bottom_mm, _, _, top_mm = self.solid.bounding_box()
        return bottom_mm, top_mm

    def shadow(self, low_mm: float = -math.inf, high_mm: float = math.inf) -> BaseGeometry:
        """What is between two heights, seen from above, over `cells`; empty beyond the piece.

        Of a flat piece that is not closed it is all of its outline.
        """
        if self.flat and not self.is_solid:
            return self.flat.shadow
        bottom_mm, top_mm = self.heights_mm
        low_mm, high_mm = max(low_mm, bottom_mm), min(high_mm, top_mm)
        if low_mm >= high_mm:
            return Polygon()
        if (low_mm, high_mm) not in self._shadows:
            self._shadows[low_mm, high_mm] = shadow_of(between(self.solid, low_mm, high_mm))
        return self._shadows[low_mm, high_mm]

    @cached_property
    def section(self) -> BaseGeometry:
        """A flat piece cut at mid-height, its recesses filled."""
        flat = self.flat
        return flat.filled(flat.sections.at(flat.thickness_mm / 2)) if flat else Polygon()

    @cached_property
    def margin_mm(self) -> float:
        """How far it keeps inside its own cells, seen from above; below 0 when it does not."""
        return inside_mm(self.shadow(), region_mm(self.lattice, self.cells, self.unit_mm))


#: One side up, and where.
Way = tuple[Lying, Pose]


def flat_lying(key: str, part: Part, lattice: Lattice) -> Lying:
    """A flat piece on its back, where its outline was read."""
    assert part.outline is not None
    return Lying(
        key, lattice, part.outline.unit_mm, part.outline.cells, part.straight.manifold, part
    )


def ways_onto(sides: Sequence[Lying], cells: Collection[Cell]) -> list[Way]:
    """All the ways in which a piece, with some sides up, covers exactly these cells.

    It is turned over only if it must be, and only when it is flat.

    Raises:
        InputError: when there is none.
    """
    found = [
        (lying, pose) for lying in sides for pose in moves_onto(lying.lattice, lying.cells, cells)
    ]
    upright = [(lying, pose) for lying, pose in found if not pose[0].flipped]
    over = [(lying, pose) for lying, pose in found if lying.flat]
    if not upright and not over:
        raise InputError.of(sides[0].key, "does not have the shape that the solution asks for")
    return upright or over[:1]


def moved(points: Iterable[Point], pose: Pose) -> list[Point]:
    """Frame points in a pose."""
    move, (dx, dy) = pose
    return [(x + dx, y + dy) for x, y in map(move, points)]


def step_mm(lattice: Lattice, unit_mm: float) -> Points:
    """The lengths in mm of a lattice's frame's steps along x and y.

    Units are read back to some 0.00002 mm: what is beyond must not add up in rows.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> step_mm(LATTICES["square"], 20.00001).tolist()
        [10.0, 10.0]
    """
    return np.array(in_units(lattice, [(1, 1)])[0]) * round(unit_mm, 4)
