"""Marks on the cells of a flat piece: holes for pegs, and crosses and dots in its face and back.

Marks with a colour are second colours of cells, see `fabkit.drawing.draft.tone_areas`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from shapely import MultiPoint, Point, Polygon, box, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.cells import MIN_WALL_MM
from fabkit.drawing.outline import DrawingError, PointMm
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import CROSS, HOLE, Piece
from fabkit.model.puzzle import PuzzleSet, rings_to_units, to_units
from fabkit.profiles.profile import Profile

#: Chords per quarter circle of a round mark.
_ARC_SEGMENTS = 32


@dataclass(frozen=True)
class CellMark:
    """One mark of a piece, cut out of it.

    Attributes:
        look: ``hole``, ``cross`` or ``dot``.
        centre_mm: seen from the lettered face, in the frame of the outline.
        width_mm: the diameter, or the length of the two bars of a cross.
        stroke_mm: the width of these bars.
        low_mm: height of its lower end above the back.
        high_mm: height of its upper end above the back.
    """

    look: str
    centre_mm: PointMm
    width_mm: float
    stroke_mm: float
    low_mm: float
    high_mm: float

    @property
    def area(self) -> Polygon:
        """Its area, seen from the lettered face."""
        if self.look != CROSS:
            return Point(self.centre_mm).buffer(self.width_mm / 2, _ARC_SEGMENTS)
        return cross_area(self.centre_mm, self.width_mm, self.stroke_mm)


def cross_area(centre_mm: PointMm, width_mm: float, stroke_mm: float) -> Polygon:
    """Return the area of a cross with a horizontal and a vertical bar.

    Example:
        >>> cross_area((0.0, 0.0), 6.0, 1.0).area
        11.0
    """
    x, y = centre_mm
    sizes = (width_mm / 2, stroke_mm / 2), (stroke_mm / 2, width_mm / 2)
    return union_all([box(x - wide, y - deep, x + wide, y + deep) for wide, deep in sizes])


def cells_area(lattice: Lattice, cells: Iterable[Cell], unit_mm: float) -> BaseGeometry:
    """Return the area of cells, in mm."""
    cell_rings = rings_to_units(lattice, map(lattice.ring, sorted(cells)))
    scaled = [[(x * unit_mm, y * unit_mm) for x, y in ring] for ring in cell_rings]
    return union_all([Polygon(ring) for ring in scaled])


def mark_places(
    lattice: Lattice, cells: Iterable[Cell], unit_mm: float
) -> dict[PointMm, frozenset[Cell]]:
    """Return the places for marks on cells, by their centres: a square has four quarters.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> lattice = LATTICES["quarter-square"]
        >>> {xy: len(cells) for xy, cells in mark_places(lattice, lattice.cells_at(0, 1), 20).items()}
        {(30.0, -10.0): 4}
    """  # noqa: E501
    places = {}
    for at_place in lattice.places(cells):
        centre = MultiPoint(to_units(lattice, sorted(at_place))).centroid
        places[round(centre.x * unit_mm, 6), round(centre.y * unit_mm, 6)] = at_place
    return places


def place_marks(
    puzzle: PuzzleSet, piece: Piece, faces: Iterable[Polygon], profile: Profile
) -> tuple[CellMark, ...]:
    """Place the marks of a piece that are cut out of it, each in the middle of its cell.

    Args:
        faces: face and back, within which all marks keep a wall.

    Raises:
        DrawingError: when a mark is wider than its cell, or too deep.
    """
    thickness_mm, depth_mm = profile.thickness_mm, profile.mark_depth_mm
    marks = []
    for cell_marks, is_back in ((dict(piece.marks), False), (dict(piece.back), True)):
        for centre, cells in mark_places(puzzle.lattice, cell_marks, profile.unit_mm).items():
            look = puzzle.marks[cell_marks[min(cells)]]
            if look.startswith("#") or (look == HOLE and is_back):
                continue
            key = "mark.hole" if look == HOLE else "mark.width"
            width_mm = profile.mark_hole_mm if look == HOLE else profile.mark_width_mm
            cell = cells_area(puzzle.lattice, cells, profile.unit_mm)
            _refuse_large(key, width_mm, centre, [cell, *faces])
            low_mm = 0.0 if is_back or look == HOLE else thickness_mm - depth_mm
            high_mm = depth_mm if is_back else thickness_mm
            if look != HOLE and depth_mm >= thickness_mm / 4:
                raise DrawingError(
                    f"mark.depth {format_mm(depth_mm)} is a quarter or more of the thickness "
                    f"{format_mm(thickness_mm)}; choose a smaller mark.depth"
                )
            marks.append(CellMark(look, centre, width_mm, profile.mark_stroke_mm, low_mm, high_mm))
    return tuple(marks)


def _refuse_large(
    key: str, width_mm: float, centre: PointMm, areas: Iterable[BaseGeometry]
) -> None:
    """Raise a DrawingError if a mark comes too near to the edge of its cell or of a face."""
    edge_mm = min(float(area.boundary.distance(Point(centre))) for area in areas)
    room_mm = max(0.0, math.floor((edge_mm - MIN_WALL_MM) * 2000 + 1e-6) / 1000)
    if width_mm > room_mm:
        raise DrawingError(
            f"{key} {format_mm(width_mm)} is too large: with a wall of {format_mm(MIN_WALL_MM)} a "
            f"cell has room for {format_mm(room_mm)}; choose a smaller {key} or a larger unit"
        )


def marked_area(marks: Iterable[CellMark]) -> BaseGeometry:
    """Return the area of all marks, which letters and magnets avoid."""
    return union_all([mark.area for mark in marks])
