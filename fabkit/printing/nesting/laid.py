"""Whether shapes lie as they must: what a nesting library says is never taken on trust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shapely import Polygon, STRtree, box

from fabkit.core.units import format_mm
from fabkit.printing.nesting.room import SLACK_MM, Room, Shape, Spot, are_apart


def faults_of_layout(
    shapes: Sequence[Shape], room: Room, rooms: Sequence[Sequence[Spot]]
) -> list[str]:
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
        >>> spots = [Spot("A", 0.0, 5.0, 5.0), Spot("B", 0.0, 15.0, 5.0)]
        >>> faults_of_layout(shapes, Room(100, 50, 2, 5), [spots])
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


def _faults_of_room(here: Sequence[tuple[str, Polygon]], room: Room) -> list[str]:
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
