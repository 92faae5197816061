"""Lays shapes into as few rooms as can be found, and checks the result before anyone sees it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from shapely import Polygon, affinity

from fabkit.core.errors import Fault, InputError, OutsideError
from fabkit.core.units import format_mm
from fabkit.printing.nesting.bin import Bin, Placement, faults_of_layout, fitting_turns, size_mm
from fabkit.printing.nesting.bypolygon import is_available, nest_by_polygon

#: Ways to deal the shapes out to a number of rooms that are tried, each with a seed of its own.
_TRIES = 3
#: How much of a room can be covered, half a gap around each shape counted in. spyrrow gave up at
#: 0.70 to 0.86 on the shipped sets; nothing is tried that would have to be denser than this.
_DENSEST = 0.86


def nest(shapes: Mapping[str, Polygon], room: Bin, engine: str = "auto") -> list[list[Placement]]:
    """Lays shapes into rooms.

    Shapes are turned by multiples of 45 degrees, never mirrored. Only their outer boundaries
    matter: nothing lies in a hole. The same shapes in the same order give the same layout (see
    `fabkit.printing.nesting.bypolygon` for what that rests on).

    Args:
        shapes: their outlines as seen from above, by name.
        room: what each room is like.
        engine: ``auto`` is spyrrow where it is installed, and rectpack where it is not or finds
            no layout in as few rooms; ``rectpack`` is that alone.

    Returns:
        The spots in each room; no room without spots. No two shapes are nearer than the gap, none
        is nearer to the room's edge than its edge strip is wide, or nearer than the gap to its
        reserved corner.

    Raises:
        InputError: with every shape that fits no room.
        OutsideError: when an engine errs.

    Example:
        >>> from shapely import box
        >>> nest({"A": box(0, 0, 40, 20)}, Bin(60, 60, 2, 5), "rectpack")
        [[Placement(name='A', degrees=0.0, x_mm=5.0, y_mm=5.0)]]
    """
    shapes = {name: Polygon(outline.exterior) for name, outline in shapes.items()}
    _refuse_too_large(shapes, room)
    boxed = nest_by_rectangle(shapes, room)
    if engine == "auto" and shapes and is_available():
        rooms = _by_polygon(shapes, room, boxed)
        if rooms:
            return rooms
    faults = faults_of_layout(shapes, room, boxed)
    if faults:
        raise OutsideError(f"rectpack laid the shapes out wrongly: {'; '.join(faults)}")
    return boxed


def _refuse_too_large(shapes: Mapping[str, Polygon], room: Bin) -> None:
    usable = " x ".join(format_mm(side, 1) for side in room.usable_mm)
    if min(room.usable_mm) <= 0:
        size = f"{format_mm(room.width_mm, 1)} x {format_mm(room.depth_mm, 1)}"
        edge = format_mm(room.edge_mm, 1)
        raise InputError.of("", f"{size} less {edge} on each side leaves no room; {room.advice}")
    corner = f", less a corner of {format_mm(room.corner_mm, 1)}" if room.corner_mm else ""
    faults = [
        Fault(
            name,
            f"is {' x '.join(format_mm(side, 1) for side in size_mm(outline))}, and does not fit "
            f"into the {usable} that can be used{corner}, turned by any multiple of 45 degrees; "
            f"{room.advice}",
        )
        for name, outline in shapes.items()
        if not fitting_turns(outline, room)
    ]
    if faults:
        raise InputError("", faults)


def least_rooms(areas: Iterable[float], room: Bin, densest: float = 1.0) -> int:
    """How many rooms shapes need at least.

    Args:
        areas: of the shapes and half a gap around each, which is no other's.
        room: of which all can be covered that is usable, and half a gap around it.
        densest: how much of that can be covered.

    Example:
        >>> least_rooms([2500.0] * 5, Bin(110, 110, 0, 5))
        2
    """
    width, depth = room.usable_mm
    free = (width + room.gap_mm) * (depth + room.gap_mm) - room.corner_mm**2
    return max(1, math.ceil(sum(areas) / (densest * free) - 1e-9))


def _by_polygon(
    shapes: Mapping[str, Polygon], room: Bin, boxed: Sequence[Sequence[Placement]]
) -> list[list[Placement]] | None:
    """Fewer rooms than by boxes, or as many, if shapes can be laid so; else None."""
    width, depth = room.usable_mm
    taken = room.corner_mm + room.gap_mm
    # A corner that leaves no strip below it or beside it makes the room a smaller rectangle.
    if room.corner_mm and taken >= depth:
        room = replace(room, width_mm=room.width_mm - taken, corner_mm=0.0)
    elif room.corner_mm and taken >= width:
        room = replace(room, depth_mm=room.depth_mm - taken, corner_mm=0.0)
    areas = {name: outline.buffer(room.gap_mm / 2).area for name, outline in shapes.items()}
    for count in range(least_rooms(areas.values(), room, _DENSEST), len(boxed) + 1):
        for seed, parts in enumerate(_dealt(areas, count, boxed)):
            rooms = _try(parts, shapes, areas, room, seed)
            if rooms:
                return rooms
    return None


def _try(
    parts: Sequence[Sequence[str]],
    shapes: Mapping[str, Polygon],
    areas: Mapping[str, float],
    room: Bin,
    seed: int,
) -> list[list[Placement]] | None:
    """A layout of each part in a room of its own; the fullest room is tried first."""
    full = [[areas[name] for name in part] for part in parts]
    if any(least_rooms(one, room, _DENSEST) > 1 for one in full):
        return None
    laid: dict[int, list[Placement]] = {}
    for i in sorted(range(len(parts)), key=lambda i: -round(sum(full[i]), 6)):
        part = {name: shapes[name] for name in parts[i]}
        spots = nest_by_polygon(part, room, seed)
        if spots is None or faults_of_layout(part, room, [spots]):
            return None
        laid[i] = spots
    return [laid[i] for i in range(len(parts))]


def _dealt(
    areas: Mapping[str, float], count: int, boxed: Sequence[Sequence[Placement]]
) -> Iterator[list[list[str]]]:
    """Ways to deal shapes out to so many rooms.

    Each shape goes to the room that is least full so far: first the largest, then in shuffled
    orders. For as many rooms as boxes take there is nothing to gain, and only their own way is
    tried after that.
    """
    waiting = sorted(areas, key=lambda name: -round(areas[name], 6))
    for attempt in range(_TRIES):
        parts: list[list[str]] = [[] for _ in range(count)]
        full = [0.0] * count
        for name in waiting:
            least = min(range(count), key=lambda i: round(full[i], 6))
            parts[least].append(name)
            full[least] += areas[name]
        yield [part for part in parts if part]
        if count == len(boxed):
            yield [[spot.name for spot in spots] for spots in boxed]
            return
        random.Random(attempt).shuffle(waiting)  # noqa: S311 (no secret)


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


def nest_by_rectangle(shapes: Mapping[str, Polygon], room: Bin) -> list[list[Placement]]:
    """Fills room after room with bounding boxes.

    Each shape is turned so that its box is small, each room filled in several ways, and the one
    kept that leaves least for the rooms after it.
    """
    waiting = {
        name: min(
            fitting_turns(outline, room), key=lambda way: round(math.prod(size_mm(way[1])), 6)
        )
        for name, outline in shapes.items()
    }
    rooms = []
    while waiting:
        areas = {name: round(turned.area, 6) for name, (_, turned) in waiting.items()}
        fillings = [_filled(waiting, room, *how) for how in product(_CHOICES, _ORDERS)]
        spots = max(fillings, key=lambda spots: sum(areas[spot.name] for spot in spots))
        if not spots:  # a shape may fit beside the reserved corner although its box does not
            name, way = next(iter(waiting.items()))
            spots = [Placement.at(name, *way, room.edge_mm, room.edge_mm)]
        rooms.append(spots)
        for spot in spots:
            del waiting[spot.name]
    return rooms


def _filled(
    ways: Mapping[str, tuple[float, Polygon]], room: Bin, choice: str, order: Any
) -> list[Placement]:
    """One room, filled in one way; empty when the corner could not be kept free.

    Every box is wider and higher by the gap, and so is the room. The reserved corner is a box that
    is laid first, which rectpack does at the lower left; the whole is then turned by half.
    """
    import rectpack

    gap = _steps(room.gap_mm)
    width, height = (_steps(side) + gap for side in room.usable_mm)
    packer = rectpack.newPacker(
        mode=rectpack.PackingMode.Offline,
        bin_algo=rectpack.PackingBin.BFF,
        pack_algo=getattr(rectpack, choice),
        sort_algo=rectpack.SORT_NONE,
        rotation=True,
    )
    packer.add_bin(width, height)
    if room.corner_mm:
        packer.add_rect(*[_steps(room.corner_mm) + gap] * 2, rid="")
    sizes = {
        name: tuple(_steps(side) + gap for side in size_mm(turned))
        for name, (_, turned) in ways.items()
    }
    for name in sorted(sizes, key=lambda name: order(sizes[name]), reverse=True):
        packer.add_rect(*sizes[name], rid=name)
    packer.pack()
    boxes = {box[5]: box[1:5] for box in packer.rect_list()}
    if room.corner_mm and boxes.pop("", (1, 1))[:2] != (0, 0):
        return []
    spots = []
    for name, (degrees, turned) in ways.items():
        if name in boxes:
            left, bottom, wide, high = boxes[name]
            more = 0.0 if (wide, high) == sizes[name] else 90.0
            laid = affinity.rotate(turned, more, origin=(0, 0)) if more else turned
            if room.corner_mm:
                left, bottom = width - left - wide, height - bottom - high
            at = (room.edge_mm + left / _STEPS, room.edge_mm + bottom / _STEPS)
            spots.append(Placement.at(name, degrees + more, laid, *at))
    return spots


def _steps(length_mm: float) -> int:
    return round(length_mm * _STEPS)
