"""Which way round a shape can lie. Shapes are turned, never mirrored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shapely import Polygon, affinity

from fabkit.core.errors import Fault, InputError
from fabkit.core.units import format_mm
from fabkit.printing.nesting.room import SLACK_MM, Room, Shape, Spot, are_apart

#: Quarter turns, and between them the turns that bring diagonal edges onto the axes.
TURNS = (0.0, 90.0, 180.0, 270.0, 45.0, 135.0, 225.0, 315.0)


@dataclass(frozen=True)
class Turned:
    """A shape, turned.

    Attributes:
        name: the shape's.
        degrees: how far it is turned, one of `TURNS`.
        outline: its outer boundary, turned about the origin.
    """

    name: str
    degrees: float
    outline: Polygon

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height of its bounding box."""
        left, bottom, right, top = self.outline.bounds
        return right - left, top - bottom

    def alone(self, room: Room) -> Spot:
        """The spot at the lower left of an empty room."""
        return Spot.at(self.name, self.degrees, self.outline, room.edge_mm, room.edge_mm)


def fitting_turns(shape: Shape, room: Room) -> list[Turned]:
    """All ways in which a shape fits an empty room.

    In an empty room nothing is farther from the reserved corner, which is at the upper right,
    than the lower left: what does not fit there fits nowhere.

    Args:
        shape: holes do not matter.
        room: with its edge, gap and corner.

    Returns:
        In the order of `TURNS`; none when the shape is too large.

    Example:
        >>> bar = Shape("I", Polygon([(0, 0), (130, 0), (130, 9), (0, 9)]))
        >>> [way.degrees for way in fitting_turns(bar, Room(110, 110, 2, 5))]
        [45.0, 135.0, 225.0, 315.0]
    """
    outer = Polygon(shape.outline.exterior)
    ways = [
        Turned(shape.name, degrees, affinity.rotate(outer, degrees, origin=(0, 0)))
        for degrees in TURNS
    ]
    return [way for way in ways if _fits(way, room)]


def refuse_too_large(shapes: Sequence[Shape], room: Room) -> None:
    """Refuses shapes that do not fit an empty room in any of their turns.

    Raises:
        InputError: with every such shape, its size and the room's.
    """
    usable = " x ".join(format_mm(side, 1) for side in room.usable_mm)
    if min(room.usable_mm) <= 0:
        size = f"{format_mm(room.width_mm, 1)} x {format_mm(room.depth_mm, 1)}"
        edge = format_mm(room.edge_mm, 1)
        raise InputError.of("", f"{size} less {edge} on each side leaves no room; {room.advice}")
    corner = f", less a corner of {format_mm(room.corner_mm, 1)}" if room.corner_mm else ""
    faults = []
    for shape in shapes:
        if not fitting_turns(shape, room):
            left, bottom, right, top = shape.outline.bounds
            size = f"{format_mm(right - left, 1)} x {format_mm(top - bottom, 1)}"
            faults.append(
                Fault(
                    shape.name,
                    f"is {size}, and does not fit into the {usable} that can be used{corner}, turned "
                    f"by any multiple of 45 degrees; {room.advice}",
                )
            )
    if faults:
        raise InputError("", faults)


def _fits(way: Turned, room: Room) -> bool:
    width, height = room.usable_mm
    wide, high = way.size_mm
    if wide > width + SLACK_MM or high > height + SLACK_MM:
        return False
    corner = room.corner
    spot = way.alone(room)
    laid = affinity.translate(way.outline, spot.x_mm, spot.y_mm)
    return corner is None or are_apart(laid, corner, room.gap_mm)
