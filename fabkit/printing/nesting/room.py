"""What is nested, where, and what comes of it. All lengths are millimetres."""

from __future__ import annotations

from dataclasses import dataclass

from shapely import Polygon, affinity, box

#: Spots are rounded to a tenth of a nanometre: far below what is measured, and the noise is gone.
_DIGITS = 7
#: What rounding may take of a distance.
SLACK_MM = 1e-6


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
        advice: what to do, for the message, when a shape does not fit.
    """

    width_mm: float
    depth_mm: float
    gap_mm: float
    edge_mm: float
    corner_mm: float = 0.0
    advice: str = "choose a larger room, a smaller edge or smaller shapes"

    @property
    def usable_mm(self) -> tuple[float, float]:
        """Width and depth inside the edge strip; negative when the strip is all there is."""
        return self.width_mm - 2 * self.edge_mm, self.depth_mm - 2 * self.edge_mm

    @property
    def usable(self) -> Polygon:
        """What is inside the edge strip, the reserved corner included.

        Example:
            >>> Room(180, 150, 2, 5).usable.bounds
            (5.0, 5.0, 175.0, 145.0)
        """
        return box(
            self.edge_mm, self.edge_mm, self.width_mm - self.edge_mm, self.depth_mm - self.edge_mm
        )

    @property
    def corner(self) -> Polygon | None:
        """The reserved square, which touches the edge strip above and to the right.

        Shapes keep ``gap_mm`` away from it, as from each other.

        Example:
            >>> Room(180, 150, 2, 5, 40).corner.bounds
            (135.0, 105.0, 175.0, 145.0)
        """
        if not self.corner_mm:
            return None
        right, top = self.width_mm - self.edge_mm, self.depth_mm - self.edge_mm
        return box(right - self.corner_mm, top - self.corner_mm, right, top)


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

    @classmethod
    def at(
        cls, name: str, degrees: float, outline: Polygon, left_mm: float, bottom_mm: float
    ) -> Spot:
        """The spot at which a turned outline has its lower left at a point of the room.

        Args:
            name: the shape's.
            degrees: how far it is turned.
            outline: turned already.
            left_mm: where the left edge of its bounding box comes to lie.
            bottom_mm: where the lower edge does.

        Example:
            >>> turned = affinity.rotate(Polygon([(0, 0), (2, 0), (2, 1), (0, 1)]), 90, (0, 0))
            >>> Spot.at("A", 90.0, turned, 4.0, 0.0)
            Spot(name='A', degrees=90.0, x_mm=5.0, y_mm=0.0)
        """
        left, bottom = outline.bounds[:2]
        return cls(
            name, degrees % 360, round(left_mm - left, _DIGITS), round(bottom_mm - bottom, _DIGITS)
        )

    def place(self, outline: Polygon) -> Polygon:
        """An outline where it lies.

        Example:
            >>> square = Polygon([(0, 0), (2, 0), (2, 1), (0, 1)])
            >>> Spot("A", 90.0, 5.0, 0.0).place(square).bounds
            (4.0, 0.0, 5.0, 2.0)
        """
        turned = affinity.rotate(outline, self.degrees, origin=(0, 0))
        return affinity.translate(turned, self.x_mm, self.y_mm)


def are_apart(one: Polygon, other: Polygon, gap_mm: float) -> bool:
    """Whether two areas keep a distance; with a distance of 0 they may touch, but not overlap.

    Example:
        >>> one, beside = box(0, 0, 1, 1), box(1, 0, 2, 1)
        >>> are_apart(one, beside, 0), are_apart(one, one, 0)
        (True, False)
    """
    if gap_mm > SLACK_MM:
        return bool(one.distance(other) >= gap_mm - SLACK_MM)
    return not one.buffer(-SLACK_MM / 2, join_style="mitre").intersects(other)
