"""A part: a body in millimetres, on its back, straight on the lattice where it could be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from shapely import Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.section import filled, parts
from fabkit.mesh.seen import shadow, size_mm
from fabkit.mesh.straight import StraightBody
from fabkit.model.lattice import Cell, Ring

#: What a file's unit of length may be, in mm, when the file does not say; the first that fits.
LENGTHS_MM = {
    "mm": 1.0,
    "cm": 10.0,
    "inch": 25.4,
    "m": 1000.0,
    "mm that were taken for inches": 1 / 25.4,
}
#: Two lengths this near are meant to be one: grid units, thicknesses.
_NEAR = 0.08


@dataclass(frozen=True, eq=False)
class Outline:
    """What was read back from one part, in mm on the lattice's frame.

    Attributes:
        cells: the cells that it fills.
        rings: their outline, in frame points.
        unit_mm: the grid unit of the set that it was read with.
        own_unit_mm: the grid unit that this part shows on its own; None where its shape does
            not tell.
        inset_mm: by how much its edges lie inside the outline, on average.
        edge_insets_mm: the same for each edge, least and greatest.
        canonical: the outline as read.
        hausdorff_mm: the greatest distance between the outline as seen and as read.
        area_off: by which part the area as seen differs from the area as read.
        score: how much of the silhouette overlays that of the piece it is: 1 for all of it.
        margin: by how much that is better than the overlay of any other piece.
    """

    cells: frozenset[Cell]
    rings: tuple[Ring, ...]
    unit_mm: float
    own_unit_mm: float | None
    inset_mm: float
    edge_insets_mm: tuple[float, float]
    canonical: Polygon
    hausdorff_mm: float
    area_off: float
    score: float = 1.0
    margin: float = 1.0


@dataclass(frozen=True, eq=False)
class Part(StraightBody):
    """A body as a part to be inspected.

    Attributes:
        body: as the file has it.
        vertices: its corners in mm, shape (n, 3): the back at height 0, x and y on the
            lattice's frame (as in the file when its outline could not be read).
        tilt_degrees: between the file's vertical and the part's.
        turned_over: whether it lies on its face in the file.
        outline: what was read back; None when its outline does not lie on the lattice.
    """

    tilt_degrees: float
    turned_over: bool
    outline: Outline | None

    @property
    def thickness_mm(self) -> float:
        """From back to face."""
        return self.sections.high

    @cached_property
    def shadow(self) -> Polygon:
        """Its outline seen from above, whatever height sticks out; holes that go through are its
        interiors."""
        return shadow(self.straight)

    def within_rings(self, area: BaseGeometry) -> list[BaseGeometry]:
        """What lies within each ring of this part's outline, where an area of it shows that ring.

        Recesses and letters are no rings of the outline, also where they are cut through.

        Args:
            area: a section, a flat face or the shadow of this part.

        Returns:
            First what is within the outer ring, all filled. Then each hole of the outline as it
            was read, in its order; empty where the area does not go around it.
        """
        found = [filled(area)]
        open_ = [Polygon(ring) for one in parts(area) for ring in one.interiors]
        for ring in self.outline.canonical.interiors if self.outline else ():
            middle = Polygon(ring).representative_point()
            around = [one for one in open_ if one.contains(middle)]
            found.append(min(around, key=lambda one: one.area, default=Polygon()))
        return found

    def filled(self, area: BaseGeometry) -> BaseGeometry:
        """An area of this part with recesses and letters filled; holes of its outline stay."""
        outer, *holes = self.within_rings(area)
        return outer.difference(union_all(holes)) if holes else outer

    @property
    def size_mm(self) -> tuple[float, float, float]:
        """Width, depth and height of the box around it, straight on the lattice."""
        return size_mm(self.straight)


@dataclass(frozen=True)
class Parts:
    """The parts of some files.

    Attributes:
        parts: one for each body, in their order.
        length_mm: the unit of length of the files, in mm.
    """

    parts: tuple[Part, ...]
    length_mm: float

    @property
    def unit_mm(self) -> float | None:
        """The grid unit that all parts share; None when none could be read."""
        units = [part.outline.unit_mm for part in self.parts if part.outline]
        return units[0] if units else None


def length_mm_of(unit: float, units_mm: Sequence[float]) -> float:
    """The unit of length with which a grid unit is nearly what it should be; mm if none is."""
    for length in LENGTHS_MM.values():
        if any(_alike(unit * length, asked) for asked in units_mm):
            return length
    return 1.0


def _alike(one: float, other: float) -> bool:
    return abs(one - other) < _NEAR * other
