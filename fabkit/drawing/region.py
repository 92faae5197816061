"""The area of some cells in millimetres, as the drawings, the meshes' rulers and the pages need it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from shapely import Polygon, make_valid, symmetric_difference
from shapely.geometry.base import BaseGeometry

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import rings_in_units


def region_mm(lattice: Lattice, cells: Iterable[Cell], unit_mm: float) -> BaseGeometry:
    """The area that cells cover, in mm, in the frame of the lattice.

    Args:
        lattice: of the cells.
        cells: at least one.
        unit_mm: length of a grid unit.

    Returns:
        A polygon with its holes; several if the region falls into parts that share no edge.

    Example:
        >>> from fabkit.model.library import load_set
        >>> block = load_set("iqblock")
        >>> region_mm(block.lattice, block.boards[0].cells, 20.0).bounds
        (0.0, -160.0, 160.0, 0.0)
    """
    rings = rings_in_units(lattice, rings_of_cells(lattice, cells))
    # A ring around cells that meet in a point touches itself there.
    areas = [make_valid(Polygon([(x * unit_mm, y * unit_mm) for x, y in ring])) for ring in rings]
    # What lies within an odd number of rings: a hole is no part of the region, an island in it is.
    return reduce(symmetric_difference, areas, Polygon())
