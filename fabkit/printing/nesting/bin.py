"""What is nested, where, and what comes of it. All lengths are millimetres."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from shapely import Polygon, STRtree, affinity, box

from fabkit.core.errors import Fault, InputError
from fabkit.core.units import format_mm

#: Spots are rounded to a tenth of a nanometre: far below what is measured, and the noise is gone.
_DIGITS = 7
#: What rounding may take of a distance.
SLACK_MM = 1e-6


@dataclass(frozen=True)
class Shape:
    """What is to be laid somewhere.

    Attributes:
        outline: as seen from above.
    """

    name: str
    outline: Polygon


@dataclass(frozen=True)
class Bin:
    """A bed or a sheet: a rectangle with its lower left corner at the origin.

    Attributes:
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
            >>> Bin(180, 150, 2, 5).usable.bounds
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
            >>> Bin(180, 150, 2, 5, 40).corner.bounds
            (135.0, 105.0, 175.0, 145.0)
        """
        if not self.corner_mm:
            return None
        right, top = self.width_mm - self.edge_mm, self.depth_mm - self.edge_mm
        return box(right - self.corner_mm, top - self.corner_mm, right, top)


@dataclass(frozen=True)
class Placement:
    """Where a shape lies.

    Attributes:
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
    ) -> Placement:
        """The spot at which a turned outline has its lower left at a point of the room.

        Example:
            >>> turned = affinity.rotate(Polygon([(0, 0), (2, 0), (2, 1), (0, 1)]), 90, (0, 0))
            >>> Placement.at("A", 90.0, turned, 4.0, 0.0)
            Placement(name='A', degrees=90.0, x_mm=5.0, y_mm=0.0)
        """
        left, bottom = outline.bounds[:2]
        return cls(
            name, degrees % 360, round(left_mm - left, _DIGITS), round(bottom_mm - bottom, _DIGITS)
        )

    def place(self, outline: Polygon) -> Polygon:
        """An outline where it lies.

        Example:
            >>> square = Polygon([(0, 0), (2, 0), (2, 1), (0, 1)])
            >>> Placement("A", 90.0, 5.0, 0.0).place(square).bounds
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


def validate(shapes: Sequence[Shape], room: Bin, rooms: Sequence[Sequence[Placement]]) -> list[str]:
    """What is wrong with shapes laid into rooms.

    Args:
        shapes: all of them.
        room: what each of the rooms is like.
        rooms: the spots in each.

    Returns:
        A sentence for each fault: a shape left out, laid twice or strange; two shapes nearer than
        the gap; one over the edge strip or too near to the reserved corner. None when all is well.

    Example:
        >>> shapes = [Shape("A", box(0, 0, 9, 9)), Shape("B", box(0, 0, 9, 9))]
        >>> spots = [Placement("A", 0.0, 5.0, 5.0), Placement("B", 0.0, 15.0, 5.0)]
        >>> validate(shapes, Bin(100, 50, 2, 5), [spots])
        ['room 1: A and B are 1 mm apart, less than 2 mm']
    """
    outlines = {shape.name: Polygon(shape.outline.exterior) for shape in shapes}
    laid = Counter(spot.name for spots in rooms for spot in spots)
    faults = [f"{name} is left out" for name in outlines if name not in laid]
    faults += [f"{name} is laid {count} times" for name, count in laid.items() if count > 1]
    faults += [f"{name} is none of the shapes" for name in laid if name not in outlines]
    for number, spots in enumerate(rooms, 1):
        here = [
            (spot.name, spot.place(outlines[spot.name])) for spot in spots if spot.name in outlines
        ]
        faults += [f"room {number}: {fault}" for fault in _faults_of_room(here, room)]
    return faults


def _faults_of_room(here: Sequence[tuple[str, Polygon]], room: Bin) -> list[str]:
    faults = []
    left, bottom = room.edge_mm - SLACK_MM, room.edge_mm - SLACK_MM
    usable = box(left, bottom, room.width_mm - left, room.depth_mm - bottom)
    for name, outline in here:
        if not usable.covers(outline):
            faults.append(f"{name} lies over the edge strip of {format_mm(room.edge_mm)}")
        if room.corner is not None and not are_apart(outline, room.corner, room.gap_mm):
            faults.append(f"{name} lies too near to the corner that is kept free")
    tree = STRtree([outline for _, outline in here])
    for i, (name, outline) in enumerate(here):
        for j in sorted(tree.query(outline.buffer(room.gap_mm + SLACK_MM), predicate="intersects")):
            other_name, other = here[j]
            if i < j and not are_apart(outline, other, room.gap_mm):
                apart = format_mm(outline.distance(other))
                faults.append(
                    f"{name} and {other_name} are {apart} apart, less than {format_mm(room.gap_mm)}"
                    if room.gap_mm
                    else f"{name} and {other_name} overlap"
                )
    return faults


#: Quarter turns, and between them the turns that bring diagonal edges onto the axes.
TURNS = (0.0, 90.0, 180.0, 270.0, 45.0, 135.0, 225.0, 315.0)


@dataclass(frozen=True)
class Turned:
    """A shape, turned.

    Attributes:
        degrees: how far it is turned, one of `TURNS`.
    """

    name: str
    degrees: float
    outline: Polygon

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height of its bounding box."""
        left, bottom, right, top = self.outline.bounds
        return right - left, top - bottom

    def alone(self, room: Bin) -> Placement:
        """The spot at the lower left of an empty room."""
        return Placement.at(self.name, self.degrees, self.outline, room.edge_mm, room.edge_mm)


def fitting_turns(shape: Shape, room: Bin) -> list[Turned]:
    """All ways in which a shape fits an empty room.

    In an empty room nothing is farther from the reserved corner, which is at the upper right,
    than the lower left: what does not fit there fits nowhere.

    Returns:
        In the order of `TURNS`; none when the shape is too large.

    Example:
        >>> bar = Shape("I", Polygon([(0, 0), (130, 0), (130, 9), (0, 9)]))
        >>> [way.degrees for way in fitting_turns(bar, Bin(110, 110, 2, 5))]
        [45.0, 135.0, 225.0, 315.0]
    """
    outer = Polygon(shape.outline.exterior)
    ways = [
        Turned(shape.name, degrees, affinity.rotate(outer, degrees, origin=(0, 0)))
        for degrees in TURNS
    ]
    return [way for way in ways if _fits(way, room)]


def refuse_too_large(shapes: Sequence[Shape], room: Bin) -> None:
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


def _fits(way: Turned, room: Bin) -> bool:
    width, height = room.usable_mm
    wide, high = way.size_mm
    if wide > width + SLACK_MM or high > height + SLACK_MM:
        return False
    corner = room.corner
    spot = way.alone(room)
    laid = affinity.translate(way.outline, spot.x_mm, spot.y_mm)
    return corner is None or are_apart(laid, corner, room.gap_mm)
