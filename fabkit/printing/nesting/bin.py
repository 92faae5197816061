"""Beds and sheets, and how outlines lie on them. All lengths are millimetres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from shapely import Polygon, affinity, box

from fabkit.core.units import format_mm

#: Quarter turns, and between them the turns that bring diagonal edges onto the axes.
TURNS = (0.0, 90.0, 180.0, 270.0, 45.0, 135.0, 225.0, 315.0)
#: Spots are rounded to a tenth of a nanometre: far below what is measured, and the noise is gone.
_DIGITS = 7
#: What rounding may take of a distance.
SLACK_MM = 1e-6


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
        cls, name: str, degrees: float, turned: Polygon, left_mm: float, bottom_mm: float
    ) -> Placement:
        """The spot at which a turned outline has its lower left at a point of the room.

        Example:
            >>> Placement.at("A", 90.0, box(-1, 0, 0, 2), 4.0, 0.0)
            Placement(name='A', degrees=90.0, x_mm=5.0, y_mm=0.0)
        """
        left, bottom = turned.bounds[:2]
        return cls(
            name, degrees % 360, round(left_mm - left, _DIGITS), round(bottom_mm - bottom, _DIGITS)
        )

    def place(self, outline: Polygon) -> Polygon:
        """An outline where it lies.

        Example:
            >>> Placement("A", 90.0, 5.0, 0.0).place(box(0, 0, 2, 1)).bounds
            (4.0, 0.0, 5.0, 2.0)
        """
        turned = affinity.rotate(outline, self.degrees, origin=(0, 0))
        return affinity.translate(turned, self.x_mm, self.y_mm)


def size_mm(outline: Polygon) -> tuple[float, float]:
    """Width and height of the bounding box."""
    left, bottom, right, top = outline.bounds
    return right - left, top - bottom


def fitting_turns(outline: Polygon, room: Bin) -> list[tuple[float, Polygon]]:
    """All ways in which an outline fits an empty room: degrees, and the outline turned by them.

    In an empty room nothing is farther from the reserved corner, which is at the upper right,
    than the lower left: what does not fit there fits nowhere.

    Returns:
        In the order of `TURNS`; none when the shape is too large.

    Example:
        >>> [degrees for degrees, _ in fitting_turns(box(0, 0, 130, 9), Bin(110, 110, 2, 5))]
        [45.0, 135.0, 225.0, 315.0]
    """
    width, depth = room.usable_mm
    ways = []
    for degrees in TURNS:
        turned = affinity.rotate(outline, degrees, origin=(0, 0))
        wide, high = size_mm(turned)
        spot = Placement.at("", degrees, turned, room.edge_mm, room.edge_mm)
        laid = affinity.translate(turned, spot.x_mm, spot.y_mm)
        clear = room.corner is None or are_apart(laid, room.corner, room.gap_mm)
        if clear and wide <= width + SLACK_MM and high <= depth + SLACK_MM:
            ways.append((degrees, turned))
    return ways


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


def faults_of_layout(
    shapes: Mapping[str, Polygon], room: Bin, rooms: Sequence[Sequence[Placement]]
) -> list[str]:
    """What is wrong with shapes laid into rooms, a sentence each: not every shape laid once, two
    shapes nearer than the gap, one over the edge strip or too near to the reserved corner.

    Example:
        >>> shapes = {"A": box(0, 0, 9, 9), "B": box(0, 0, 9, 9)}
        >>> spots = [Placement("A", 0.0, 5.0, 5.0), Placement("B", 0.0, 15.0, 5.0)]
        >>> faults_of_layout(shapes, Bin(100, 50, 2, 5), [spots])
        ['A and B are 1 mm apart']
    """
    names = sorted(spot.name for spots in rooms for spot in spots)
    if names != sorted(shapes):
        return [f"{' '.join(names)} are laid, where {' '.join(sorted(shapes))} were given"]
    low_mm = room.edge_mm - SLACK_MM
    usable = box(low_mm, low_mm, room.width_mm - low_mm, room.depth_mm - low_mm)
    faults = []
    for spots in rooms:
        laid = {spot.name: spot.place(shapes[spot.name]) for spot in spots}
        faults += [
            f"{n} lies over the edge strip" for n, one in laid.items() if not usable.covers(one)
        ]
        if room.corner is not None:
            laid["the reserved corner"] = room.corner
        faults += [
            f"{name} and {other_name} are {format_mm(one.distance(other))} apart"
            for (name, one), (other_name, other) in combinations(laid.items(), 2)
            if not are_apart(one, other, room.gap_mm)
        ]
    return faults
