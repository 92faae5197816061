"""What is nested, where, and what comes of it. All lengths are millimetres."""

from __future__ import annotations

from dataclasses import dataclass

from shapely import Polygon, affinity


@dataclass(frozen=True)
class Shape:
    """What is to be laid somewhere.

    Attributes:
        name: different for each shape.
        outline: as seen from above.
    """

    name: str
    outline: Polygon


@dataclass(frozen=True)
class Room:
    """A bed or a sheet: a rectangle with its lower left corner at the origin.

    Attributes:
        width_mm: along x.
        depth_mm: along y.
        gap_mm: the least distance between two shapes.
        edge_mm: the least distance of a shape from the room's edge.
        corner_mm: side of the square at the upper right, measured from the edge strip, that is
            kept free; 0 for none.
    """

    width_mm: float
    depth_mm: float
    gap_mm: float
    edge_mm: float
    corner_mm: float = 0.0


@dataclass(frozen=True)
class Spot:
    """Where a shape lies.

    Attributes:
        name: the shape's.
        degrees: how far it is turned counter-clockwise about the origin of its outline's frame …
        x_mm: … before it is moved to the right so far …
        y_mm: … and up so far.
    """

    name: str
    degrees: float
    x_mm: float
    y_mm: float

    def place(self, outline: Polygon) -> Polygon:
        """An outline where it lies.

        Example:
            >>> square = Polygon([(0, 0), (2, 0), (2, 1), (0, 1)])
            >>> Spot("A", 90.0, 5.0, 0.0).place(square).bounds
            (4.0, 0.0, 5.0, 2.0)
        """
        turned = affinity.rotate(outline, self.degrees, origin=(0, 0))
        return affinity.translate(turned, self.x_mm, self.y_mm)
