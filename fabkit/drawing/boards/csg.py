"""The drawing of a board or lid as constructive solid geometry: prisms and cylinders, added and cut in
order; and its sections."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.label import Label
from fabkit.drawing.outline import PointMm, polygons
from fabkit.drawing.part import PartDrawing
from fabkit.profiles.accessory import Accessory

#: Chords in a quarter of a circle; its area is then right to 0.04 %.
_CHORDS = 32
#: Distance of a section from the ends of a slab, which belong to its neighbours as well.
_INSIDE_MM = 1e-6


@dataclass(frozen=True)
class Prism:
    """A straight prism.

    Attributes:
        area: the cross-section in mm, with holes: in x and y for axis ``z``; in x and z for axis
            ``y``; in y and z for axis ``x``.
        axis: the direction of extrusion.
    """

    area: Polygon
    low_mm: float
    high_mm: float
    axis: Literal["x", "y", "z"] = "z"

    def edge_heights_mm(self) -> set[float]:
        """Return the heights at which it begins, ends or has an edge."""
        if self.axis == "z":
            return {self.low_mm, self.high_mm}
        return {height for _, height in shapely.get_coordinates(self.area).tolist()}

    def section(self, height_mm: float) -> BaseGeometry:
        """Return its section at a height: the whole area, or a rectangle for each interval there."""
        if self.axis == "z":
            return self.area if self.low_mm < height_mm < self.high_mm else Polygon()
        left, _, right, _ = self.area.bounds
        line = shapely.LineString([(left - 1, height_mm), (right + 1, height_mm)])
        boxes = []
        for stretch in shapely.get_parts(line.intersection(self.area)):
            begin, _, end, _ = stretch.bounds
            across = (begin, self.low_mm, end, self.high_mm)
            along = (self.low_mm, begin, self.high_mm, end)
            boxes.append(shapely.box(*(across if self.axis == "y" else along)))
        return shapely.union_all(boxes)


@dataclass(frozen=True)
class Cylinder:
    """An upright circular cylinder."""

    centre_mm: PointMm
    diameter_mm: float
    low_mm: float
    high_mm: float

    def edge_heights_mm(self) -> set[float]:
        """Return the heights at which it begins and ends."""
        return {self.low_mm, self.high_mm}

    def section(self, height_mm: float) -> BaseGeometry:
        """Return its section at a height."""
        if not self.low_mm < height_mm < self.high_mm:
            return Polygon()
        return shapely.Point(self.centre_mm).buffer(self.diameter_mm / 2, quad_segs=_CHORDS)


@dataclass(frozen=True)
class Step:
    """Shapes that are added to the solid, or cut out of it.

    Attributes:
        cuts: whether they are cut out.
        shapes: their union counts; they may overlap.
    """

    cuts: bool
    shapes: tuple[Prism | Cylinder, ...]


@dataclass(frozen=True, kw_only=True)
class BoardDrawing(PartDrawing):
    """One board or lid in mm, as it is printed: its lowest point at height 0, its top up.

    A board has the x and y of the lattice's frame, where the set's file draws its region. A lid is
    centred over the middle of the region. A title is in the frame of the outline, as seen from above
    (so it is mirrored when it is cut into the bottom).

    Attributes:
        kind: ``tray``, ``holes``, ``sockets`` or ``lid``.
        rest_mm: height at which pieces rest: a tray's floor, the plate around sockets, or the
            centres of inserted balls; 0 for a lid.
        label_low_mm: height of the lower end of the title's engraving.
    """

    kind: str
    steps: tuple[Step, ...]
    rest_mm: float
    label_low_mm: float = 0.0


def section_at(steps: Sequence[Step], height_mm: float) -> BaseGeometry:
    """Return the section of a board at a height that is not that of a horizontal surface.

    Example:
        >>> block = Step(False, (Prism(shapely.box(0, 0, 10, 10), 0, 5),))
        >>> hole = Step(True, (Cylinder((5, 5), 4, 2, 6),))
        >>> [round(section_at([block, hole], height).area, 1) for height in (1, 3, 9)]
        [100.0, 87.4, 0.0]
    """
    area: BaseGeometry = Polygon()
    for step in steps:
        cut = shapely.union_all([shape.section(height_mm) for shape in step.shapes])
        area = area.difference(cut) if step.cuts else area.union(cut)
    return area


def ranges_mm(steps: Sequence[Step]) -> list[tuple[float, float]]:
    """Return the ranges of height, ascending, in which no surface of a board begins or ends."""
    edges = {edge for step in steps for shape in step.shapes for edge in shape.edge_heights_mm()}
    pairs = itertools.pairwise(sorted(edges))
    return [(low, high) for low, high in pairs if high - low > 4 * _INSIDE_MM]


@dataclass(frozen=True)
class _Slab:
    """A slab of material up to a height, with its sections at both ends and in the middle."""

    high_mm: float
    bottom: BaseGeometry
    middle: BaseGeometry
    top: BaseGeometry


def board_drawing(
    accessory: Accessory,
    steps: tuple[Step, ...],
    rest_mm: float,
    label: Label | None = None,
    label_low_mm: float = 0.0,
) -> BoardDrawing:
    """Make the drawing of a board or lid from its steps, its lowest point at height 0.

    Example:
        >>> from fabkit.model.puzzle import Board
        >>> accessory = Accessory("box-lid", "lid", Board("box", frozenset()), "#ffffff")
        >>> plate = Step(False, (Prism(shapely.box(0, 0, 30, 20), 0, 2),))
        >>> drawn = board_drawing(accessory, (plate,), 0.0)
        >>> drawn.thickness_mm, drawn.foot.area
        (2, 600.0)
    """
    slabs = []
    for low, high in ranges_mm(steps):
        slab = _Slab(
            high,
            bottom=section_at(steps, low + _INSIDE_MM),
            middle=section_at(steps, (low + high) / 2),
            top=section_at(steps, high - _INSIDE_MM),
        )
        if slab.middle.area > 0:
            slabs.append(slab)
    silhouette = shapely.union_all([slab.middle for slab in slabs])
    return BoardDrawing(
        piece=accessory.id,
        kind=accessory.kind,
        colour=accessory.colour,
        outline=Polygon(_largest(silhouette).exterior),
        face=_largest(slabs[-1].top),
        foot=_largest(slabs[0].bottom),
        thickness_mm=round(slabs[-1].high_mm, 6),
        steps=steps,
        label=label,
        rest_mm=rest_mm,
        label_low_mm=label_low_mm,
    )


def _largest(area: BaseGeometry) -> Polygon:
    return max(polygons(area), key=lambda polygon: polygon.area)
