"""Bins (beds and sheets) and placements of outlines in them. All lengths are millimetres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from shapely import Polygon, affinity, box

from fabkit.core.units import format_mm

#: Quarter turns, and between them the turns that bring diagonal edges onto the axes.
ROTATIONS_DEGREES = (0.0, 90.0, 180.0, 270.0, 45.0, 135.0, 225.0, 315.0)
#: Placements are rounded to a tenth of a nanometre to remove floating-point noise.
_DIGITS = 7
#: Tolerance of distances.
SLACK_MM = 1e-6


@dataclass(frozen=True)
class Bin:
    """A bed or a sheet: a rectangle with its lower left corner at the origin.

    Attributes:
        gap_mm: the least distance between two shapes.
        edge_mm: the least distance of a shape from the bin's edge.
        corner_mm: side of the reserved square at the upper right, inside the strip; 0 for none.
        advice: for the message when a shape does not fit.
    """

    width_mm: float
    depth_mm: float
    gap_mm: float
    edge_mm: float
    corner_mm: float = 0.0
    advice: str = "choose a larger bin, a smaller edge or smaller shapes"

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
    """The placement of a shape: a rotation, counter-clockwise about the origin of the outline's
    frame, then a translation."""

    name: str
    degrees: float
    x_mm: float
    y_mm: float

    @classmethod
    def at(
        cls, name: str, degrees: float, turned: Polygon, left_mm: float, bottom_mm: float
    ) -> Placement:
        """Return the placement of a rotated outline with its lower left at a point of the bin.

        Example:
            >>> Placement.at("A", 90.0, box(-1, 0, 0, 2), 4.0, 0.0)
            Placement(name='A', degrees=90.0, x_mm=5.0, y_mm=0.0)
        """
        left, bottom = turned.bounds[:2]
        x_mm, y_mm = round(left_mm - left, _DIGITS), round(bottom_mm - bottom, _DIGITS)
        return cls(name, degrees % 360, x_mm, y_mm)

    def place(self, outline: Polygon) -> Polygon:
        """Move an outline to its place.

        Example:
            >>> Placement("A", 90.0, 5.0, 0.0).place(box(0, 0, 2, 1)).bounds
            (4.0, 0.0, 5.0, 2.0)
        """
        turned = affinity.rotate(outline, self.degrees, origin=(0, 0))
        return affinity.translate(turned, self.x_mm, self.y_mm)


#: Between a shape's name and the number of its copy; no id has it.
_COPY = "#"


def with_copies(shapes: Mapping[str, Polygon], copies: Mapping[str, int]) -> dict[str, Polygon]:
    """Return shapes with their copies, each under a name of its own; see `without_copy_number`."""
    return {
        f"{name}{_COPY}{number}" if number > 1 else name: shape
        for name, shape in shapes.items()
        for number in range(1, copies[name] + 1)
    }


def without_copy_number(name: str) -> str:
    """Return the name of the shape that a copy is of.

    Example:
        >>> names = with_copies({"A": box(0, 0, 1, 1), "B": box(0, 0, 2, 1)}, {"A": 2, "B": 1})
        >>> [*names], [*map(without_copy_number, names)]
        (['A', 'A#2', 'B'], ['A', 'A', 'B'])
    """
    return name.partition(_COPY)[0]


def size_mm(outline: Polygon) -> tuple[float, float]:
    """Return width and height of the bounding box."""
    left, bottom, right, top = outline.bounds
    return right - left, top - bottom


def fitting_rotations(outline: Polygon, bin_: Bin) -> list[tuple[float, Polygon]]:
    """Return all rotations at which an outline fits an empty bin, in the order of
    `ROTATIONS_DEGREES`: degrees, and the rotated outline.

    The lower left is farthest from the reserved corner at the upper right, so an outline that does
    not fit there fits nowhere.

    Example:
        >>> [degrees for degrees, _ in fitting_rotations(box(0, 0, 130, 9), Bin(110, 110, 2, 5))]
        [45.0, 135.0, 225.0, 315.0]
    """
    width, depth = bin_.usable_mm
    rotations = []
    for degrees in ROTATIONS_DEGREES:
        turned = affinity.rotate(outline, degrees, origin=(0, 0))
        wide, high = size_mm(turned)
        placement = Placement.at("", degrees, turned, bin_.edge_mm, bin_.edge_mm)
        placed = affinity.translate(turned, placement.x_mm, placement.y_mm)
        clear = bin_.corner is None or are_apart(placed, bin_.corner, bin_.gap_mm)
        if clear and wide <= width + SLACK_MM and high <= depth + SLACK_MM:
            rotations.append((degrees, turned))
    return rotations


def are_apart(area: Polygon, other: Polygon, gap_mm: float) -> bool:
    """Return whether two areas keep a distance; with a distance of 0 they may touch, not overlap.

    Example:
        >>> left, right = box(0, 0, 1, 1), box(1, 0, 2, 1)
        >>> are_apart(left, right, 0), are_apart(left, left, 0)
        (True, False)
    """
    if gap_mm > SLACK_MM:
        return bool(area.distance(other) >= gap_mm - SLACK_MM)
    return not area.buffer(-SLACK_MM / 2, join_style="mitre").intersects(other)


def layout_faults(
    shapes: Mapping[str, Polygon], bin_: Bin, bins: Sequence[Sequence[Placement]]
) -> list[str]:
    """Return the faults of a layout in sentences: a shape that is missing or placed twice, two
    shapes nearer than the gap, one in the edge strip or too near to the reserved corner.

    Example:
        >>> shapes = {"A": box(0, 0, 9, 9), "B": box(0, 0, 9, 9)}
        >>> placements = [Placement("A", 0.0, 5.0, 5.0), Placement("B", 0.0, 15.0, 5.0)]
        >>> layout_faults(shapes, Bin(100, 50, 2, 5), [placements])
        ['A and B are 1 mm apart']
    """
    names = sorted(placement.name for placements in bins for placement in placements)
    if names != sorted(shapes):
        return [f"{' '.join(names)} are laid out, but {' '.join(sorted(shapes))} were given"]
    low_mm = bin_.edge_mm - SLACK_MM
    usable = box(low_mm, low_mm, bin_.width_mm - low_mm, bin_.depth_mm - low_mm)
    faults = []
    for placements in bins:
        areas = {each.name: each.place(shapes[each.name]) for each in placements}
        outside = [name for name, area in areas.items() if not usable.covers(area)]
        faults += [f"{name} overlaps the edge strip" for name in outside]
        if bin_.corner is not None:
            areas["the reserved corner"] = bin_.corner
        faults += [
            f"{name} and {other_name} are {format_mm(area.distance(other))} apart"
            for (name, area), (other_name, other) in combinations(areas.items(), 2)
            if not are_apart(area, other, bin_.gap_mm)
        ]
    return faults
