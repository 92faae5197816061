"""Pieces in an orientation, and their placements: the cells they cover and the rigid transforms."""

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
from fabkit.drawing.placement import Matrix, Pose, pose_matrix
from fabkit.mesh.manifold import silhouette_of, trim_between
from fabkit.mesh.mesh import Points
from fabkit.mesh.part import Part, inside_mm
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import moves_onto
from fabkit.model.puzzle import to_units

#: Units are read back to about 0.00002 mm; smaller errors are rounded off so that they do not add
#: up along a row.
_UNIT_DIGITS = 4


@dataclass(frozen=True, eq=False)
class OrientedPiece:
    """A piece with one side up, up to rotation about the vertical.

    Attributes:
        solid: its mesh over these cells, a `manifold3d.Manifold`. On a board, height 0 of it is at
            the board's ``rest_mm``.
        flat: the part of a flat piece, which may also be turned over.
    """

    key: str
    lattice: Lattice
    unit_mm: float
    cells: frozenset[Cell]
    solid: Any
    flat: Part | None = None
    _silhouettes: dict[tuple[float, float], BaseGeometry] = field(default_factory=dict, repr=False)

    def covered(self, pose: Pose) -> frozenset[Cell]:
        """Return the cells covered in a pose."""
        return frozenset(posed(self.cells, pose))

    def poses(self, region: Iterable[Cell]) -> Iterator[Pose]:
        """Yield all poses inside a region, by rotation and then by translation."""
        cells = frozenset(region)
        for move in self.lattice.moves(flips=False):
            x, y = first = min(map(move, self.cells))
            for to_x, to_y in sorted(cells):
                pose = move, (to_x - x, to_y - y)
                is_alike = self.lattice.residue((to_x, to_y)) == self.lattice.residue(first)
                if is_alike and self.covered(pose) <= cells:
                    yield pose

    def matrix(self, pose: Pose, height_mm: float = 0.0) -> Matrix:
        """Return the placement of a pose in mm; `height_mm` is the new height of 0."""
        if pose[0].flipped and self.flat:
            height_mm += self.flat.thickness_mm
        return pose_matrix(self.lattice, pose, round(self.unit_mm, _UNIT_DIGITS), height_mm)

    def at(self, pose: Pose, height_mm: float = 0.0) -> Any:
        """Return the solid in a pose, its height 0 at `height_mm`."""
        return self.solid.transform(self.matrix(pose, height_mm))

    def place(self, area: BaseGeometry, poses: Sequence[Pose]) -> NDArray[np.object_]:
        """Move an area in its frame to each of several poses."""
        matrices = np.reshape([self.matrix(pose)[:2] for pose in poses], (-1, 2, 4))
        repeated = np.repeat(matrices, shapely.get_num_coordinates(area), axis=0)
        turns, shifts = repeated[..., :2], repeated[..., 3]

        def move(points: Points) -> Points:
            return np.asarray(np.einsum("nij,nj->ni", turns, points) + shifts)

        return np.asarray(shapely.transform(np.full(len(poses), area), move))

    @cached_property
    def is_solid(self) -> bool:
        """Whether the mesh bounds a volume, so that overlaps can be measured."""
        return bool(self.solid.volume() > 0)

    @cached_property
    def heights_mm(self) -> tuple[float, float]:
        """The lowest and the highest point of `solid`."""
        _, _, bottom_mm, _, _, top_mm = self.solid.bounding_box()
        return bottom_mm, top_mm

    def silhouette(self, low_mm: float = -math.inf, high_mm: float = math.inf) -> BaseGeometry:
        """Return the silhouette of a range of height, over `cells`; empty beyond the piece.

        A flat piece that is not closed has the same silhouette at all heights.
        """
        if self.flat and not self.is_solid:
            return self.flat.silhouette
        bottom_mm, top_mm = self.heights_mm
        low_mm, high_mm = max(low_mm, bottom_mm), min(high_mm, top_mm)
        if low_mm >= high_mm:
            return Polygon()
        if (low_mm, high_mm) not in self._silhouettes:
            solid = trim_between(self.solid, low_mm, high_mm)
            self._silhouettes[low_mm, high_mm] = silhouette_of(solid)
        return self._silhouettes[low_mm, high_mm]

    @cached_property
    def section(self) -> BaseGeometry:
        """The cross-section of a flat piece at mid-height, its recesses filled."""
        flat = self.flat
        return flat.filled(flat.sections.at(flat.thickness_mm / 2)) if flat else Polygon()

    @cached_property
    def margin_mm(self) -> float:
        """The distance from its silhouette to the edge of its cells; negative if it protrudes."""
        return inside_mm(self.silhouette(), region_mm(self.lattice, self.cells, self.unit_mm))


#: An oriented piece and its pose.
PosedPiece = tuple[OrientedPiece, Pose]


def flat_piece(key: str, part: Part, lattice: Lattice) -> OrientedPiece:
    """Return a flat piece on its back, over the cells of its outline."""
    outline = part.outline
    assert outline is not None
    solid = part.aligned.manifold
    return OrientedPiece(key, lattice, outline.unit_mm, outline.cells, solid, part)


def placements_on(sides: Sequence[OrientedPiece], cells: Collection[Cell]) -> list[PosedPiece]:
    """Return all placements of a piece, in several orientations, that cover exactly these cells.

    Only flat pieces are turned over, and only if there is no other way.

    Raises:
        InputError: when there is none.
    """
    placements = [
        (piece, pose) for piece in sides for pose in moves_onto(piece.lattice, piece.cells, cells)
    ]
    upright = [(piece, pose) for piece, pose in placements if not pose[0].flipped]
    flat = [(piece, pose) for piece, pose in placements if piece.flat]
    if not upright and not flat:
        raise InputError.of(sides[0].key, "does not have the shape that the solution needs")
    return upright or flat[:1]


def posed(points: Iterable[Point], pose: Pose) -> list[Point]:
    """Return frame points in a pose."""
    move, (dx, dy) = pose
    return [(x + dx, y + dy) for x, y in map(move, points)]


def step_mm(lattice: Lattice, unit_mm: float) -> Points:
    """Return the lengths in mm of one step of the lattice's frame along x and y.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> step_mm(LATTICES["square"], 20.00001).tolist()
        [10.0, 10.0]
    """
    return np.array(to_units(lattice, [(1, 1)])[0]) * round(unit_mm, _UNIT_DIGITS)
