"""Nesting by bounding boxes (rectpack): wastes the notches, but is quick and always there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from fabkit.printing.nesting.room import Room, Shape, Spot
from fabkit.printing.nesting.turned import Turned, fitting_turns

#: rectpack reckons with whole numbers: so many to a millimetre.
_STEPS = 10**7
#: Which of the free places is taken, by rectpack's names.
_CHOICES = ("MaxRectsBssf", "MaxRectsBaf", "MaxRectsBlsf", "MaxRectsBl")
#: Which box comes first: by area, by the long side, by the short side, or by both together.
_ORDERS = (
    lambda size: (size[0] * size[1], max(size)),
    lambda size: (max(size), min(size)),
    lambda size: (min(size), max(size)),
    lambda size: (size[0] + size[1], max(size)),
)


def nest_by_rectangle(shapes: Sequence[Shape], room: Room) -> list[list[Spot]]:
    """Fills room after room with bounding boxes.

    Each shape is turned so that its box is small, each room filled in several ways, and the one
    kept that leaves least for the rooms after it.

    Args:
        shapes: each of which fits an empty room.
        room: what each room is like.

    Returns:
        The spots in each room.

    Example:
        >>> from shapely import box
        >>> squares = [Shape(name, box(0, 0, 40, 40)) for name in "ABC"]
        >>> rooms = nest_by_rectangle(squares, Room(92, 50, 2, 5))
        >>> [[spot.name for spot in spots] for spots in rooms]
        [['A', 'B'], ['C']]
    """
    waiting = {shape.name: _smallest_box(fitting_turns(shape, room)) for shape in shapes}
    rooms = []
    while waiting:
        spots = _fill(list(waiting.values()), room)
        rooms.append(spots)
        for spot in spots:
            del waiting[spot.name]
    return rooms


def _smallest_box(ways: Sequence[Turned]) -> Turned:
    return min(ways, key=lambda way: round(way.size_mm[0] * way.size_mm[1], 6))


def _fill(ways: Sequence[Turned], room: Room) -> list[Spot]:
    """One room with as large a part of the boxes as can be."""
    fillings = [_filled(ways, room, *how) for how in product(_CHOICES, _ORDERS)]
    areas = {way.name: round(way.outline.area, 6) for way in ways}
    best = max(fillings, key=lambda spots: sum(areas[spot.name] for spot in spots))
    # A shape may fit beside the reserved corner although its box does not.
    return best or [ways[0].alone(room)]


def _filled(ways: Sequence[Turned], room: Room, choice: str, order: Any) -> list[Spot]:
    """One room, filled in one way; empty when the corner could not be kept free.

    Every box is wider and higher by the gap, and so is the room. The reserved corner is a box that
    is laid first, which rectpack does at the lower left; the whole is then turned by half.
    """
    import rectpack

    gap = _steps(room.gap_mm)
    width, height = (_steps(side) for side in room.usable_mm)
    packer = rectpack.newPacker(
        mode=rectpack.PackingMode.Offline,
        bin_algo=rectpack.PackingBin.BFF,
        pack_algo=getattr(rectpack, choice),
        sort_algo=rectpack.SORT_NONE,
        rotation=True,
    )
    packer.add_bin(width + gap, height + gap)
    if room.corner_mm:
        packer.add_rect(*[_steps(room.corner_mm) + gap] * 2, rid=-1)
    sizes = [[_steps(side) + gap for side in way.size_mm] for way in ways]
    for i in sorted(range(len(ways)), key=lambda i: order(sizes[i]), reverse=True):
        packer.add_rect(*sizes[i], rid=i)
    packer.pack()
    boxes = {box[5]: box[1:5] for box in packer.rect_list()}
    if room.corner_mm and boxes.pop(-1, (1, 1))[:2] != (0, 0):
        return []
    spots = []
    for i, (x, y, wide, high) in sorted(boxes.items()):
        way = ways[i] if [wide, high] == sizes[i] else _quarter_turned(ways[i])
        left, bottom = width + gap - x - wide, height + gap - y - high
        if not room.corner_mm:
            left, bottom = x, y
        at = (room.edge_mm + left / _STEPS, room.edge_mm + bottom / _STEPS)
        spots.append(Spot.at(way.name, way.degrees, way.outline, *at))
    return spots


def _quarter_turned(way: Turned) -> Turned:
    from shapely import affinity

    turned = affinity.rotate(way.outline, 90, origin=(0, 0))
    return Turned(way.name, (way.degrees + 90) % 360, turned)


def _steps(length_mm: float) -> int:
    return round(Fraction(length_mm) * _STEPS)
