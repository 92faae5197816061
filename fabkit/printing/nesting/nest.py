"""Lays shapes into as few rooms as can be found, and checks the result before anyone sees it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from shapely import Polygon

from fabkit.core.errors import Fault, InputError, OutsideError, to_install
from fabkit.printing.nesting.bin import (
    Bin,
    Placement,
    Shape,
    Turned,
    fitting_turns,
    refuse_too_large,
    validate,
)
from fabkit.printing.nesting.bypolygon import is_available, nest_by_polygon

#: Called with the shapes that are laid, all of them, and what is being tried.
Progress = Callable[[int, int, str], None]

#: Who can nest: whichever is there, by polygons, by bounding boxes.
ENGINES = ("auto", "spyrrow", "rectpack")
#: Ways to deal the shapes out to a number of rooms that are tried, each with a seed of its own.
_TRIES = 3
#: How much of a room can be covered, half a gap around each shape counted in. spyrrow gave up at
#: 0.70 to 0.86 on the shipped sets; nothing is tried that would have to be denser than this.
_DENSEST = 0.86


def nest(
    shapes: Sequence[Shape],
    room: Bin,
    engine: str = "auto",
    progress: Progress = lambda done, total, name: None,
) -> list[list[Placement]]:
    """Lays shapes into rooms.

    Shapes are turned by multiples of 45 degrees, never mirrored. Only their outer boundaries
    matter: nothing lies in a hole. The same shapes in the same order give the same layout (see
    `fabkit.printing.nesting.bypolygon` for what that rests on).

    Args:
        shapes: with names that differ.
        room: what each room is like.
        engine: one of `ENGINES`. ``auto`` is spyrrow where it is installed, else rectpack. Where
            spyrrow finds no layout in as few rooms as rectpack, rectpack's is given.
        progress: told before each room that is tried.

    Returns:
        The spots in each room; no room without spots. No two shapes are nearer than the gap, none
        is nearer to the room's edge than its edge strip is wide, or nearer than the gap to its
        reserved corner.

    Raises:
        InputError: with every shape that fits no room; when two have the same name, or the engine
            is unknown.
        OutsideError: when spyrrow is asked for and not installed, or rectpack errs.

    Example:
        >>> from shapely import box
        >>> nest([Shape("A", box(0, 0, 40, 20))], Bin(60, 60, 2, 5), "rectpack")
        [[Placement(name='A', degrees=0.0, x_mm=5.0, y_mm=5.0)]]
    """
    engine = _chosen(engine)
    _refuse_bad(shapes)
    refuse_too_large(shapes, room)
    progress(0, len(shapes), "laying out")
    boxed = nest_by_rectangle(shapes, room)
    if engine == "spyrrow" and shapes:
        rooms = _by_polygon(shapes, room, boxed, progress)
        if rooms and not validate(shapes, room, rooms):
            return rooms
    faults = validate(shapes, room, boxed)
    if faults:
        raise OutsideError(f"rectpack laid the shapes out wrongly: {'; '.join(faults)}")
    return boxed


def least_rooms(shapes: Sequence[Shape], room: Bin, densest: float = 1.0) -> int:
    """How many rooms the shapes need at least, by their areas.

    Half a gap around each shape is no other's. All that lies in the usable part of the room, and
    half a gap around it.

    Example:
        >>> from shapely import box
        >>> least_rooms([Shape(name, box(0, 0, 50, 50)) for name in "ABCDE"], Bin(110, 110, 0, 5))
        2
    """
    width, depth = room.usable_mm
    free = (width + room.gap_mm) * (depth + room.gap_mm) - room.corner_mm**2
    return max(1, math.ceil(sum(_grown_areas(shapes, room)) / (densest * free) - 1e-9))


def _chosen(engine: str) -> str:
    if engine not in ENGINES:
        raise InputError.of(
            "", f'unknown nesting engine "{engine}"; known are {", ".join(ENGINES)}'
        )
    if engine == "rectpack" or is_available():
        return "spyrrow" if engine == "auto" else engine
    if engine == "auto":
        return "rectpack"
    raise OutsideError(
        "the nesting engine spyrrow is not installed, or older than 0.9; use the engine rectpack, "
        f"or install it {to_install('nest')}"
    )


def _refuse_bad(shapes: Sequence[Shape]) -> None:
    names = [shape.name for shape in shapes]
    faults = [
        Fault(name, "is the name of several shapes")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    for shape in shapes:
        if shape.outline.is_empty or not shape.outline.is_valid:
            faults.append(Fault(shape.name, "its outline is empty, or crosses or touches itself"))
    if faults:
        raise InputError("", faults)


def _by_polygon(
    shapes: Sequence[Shape], room: Bin, boxed: list[list[Placement]], progress: Progress
) -> list[list[Placement]] | None:
    """Fewer rooms than by boxes, or as many, if shapes can be laid so; else None."""
    room = _without_full_corner(room)
    for count in range(least_rooms(shapes, room, _DENSEST), len(boxed) + 1):
        for seed, parts in enumerate(_dealt(shapes, room, count, boxed)):
            rooms = _try(parts, room, seed, len(shapes), progress)
            if rooms:
                return rooms
    return None


def _try(
    parts: Sequence[Sequence[Shape]], room: Bin, seed: int, total: int, progress: Progress
) -> list[list[Placement]] | None:
    """A layout of each part in a room of its own; the fullest room is tried first."""
    if any(least_rooms(part, room, _DENSEST) > 1 for part in parts):
        return None
    laid: dict[int, list[Placement]] = {}
    areas = [round(sum(_grown_areas(part, room)), 6) for part in parts]
    for i in sorted(range(len(parts)), key=lambda i: -areas[i]):
        done = sum(len(spots) for spots in laid.values())
        progress(done, total, f"room {i + 1} of {len(parts)}")
        spots = nest_by_polygon(parts[i], room, seed)
        if spots is None or validate(parts[i], room, [spots]):
            return None
        laid[i] = spots
    return [laid[i] for i in range(len(parts))]


def _dealt(
    shapes: Sequence[Shape], room: Bin, count: int, boxed: Sequence[Sequence[Placement]]
) -> Iterator[list[list[Shape]]]:
    """Ways to deal shapes out to so many rooms.

    Each shape goes to the room that is least full so far: first the largest, then in shuffled
    orders. For as many rooms as boxes take there is nothing to gain, and only their own way is
    tried after that.
    """
    areas = dict(zip((shape.name for shape in shapes), _grown_areas(shapes, room), strict=True))
    waiting = sorted(shapes, key=lambda shape: -round(areas[shape.name], 6))
    for attempt in range(_TRIES):
        parts: list[list[Shape]] = [[] for _ in range(count)]
        full = [0.0] * count
        for shape in waiting:
            least = min(range(count), key=lambda i: round(full[i], 6))
            parts[least].append(shape)
            full[least] += areas[shape.name]
        yield [part for part in parts if part]
        if count == len(boxed):
            named = {shape.name: shape for shape in shapes}
            yield [[named[spot.name] for spot in spots] for spots in boxed]
            return
        random.Random(attempt).shuffle(waiting)  # noqa: S311 (no secret)


def _grown_areas(shapes: Sequence[Shape], room: Bin) -> list[float]:
    outers = (Polygon(shape.outline.exterior) for shape in shapes)
    return [outer.buffer(room.gap_mm / 2).area for outer in outers]


def _without_full_corner(room: Bin) -> Bin:
    """The same room as a plain rectangle, when its corner leaves no strip below it or beside it."""
    width, depth = room.usable_mm
    taken = room.corner_mm + room.gap_mm
    if room.corner_mm and taken >= depth:
        return replace(room, width_mm=room.width_mm - taken, corner_mm=0.0)
    if room.corner_mm and taken >= width:
        return replace(room, depth_mm=room.depth_mm - taken, corner_mm=0.0)
    return room


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


def nest_by_rectangle(shapes: Sequence[Shape], room: Bin) -> list[list[Placement]]:
    """Fills room after room with bounding boxes.

    Each shape is turned so that its box is small, each room filled in several ways, and the one
    kept that leaves least for the rooms after it.

    Example:
        >>> from shapely import box
        >>> squares = [Shape(name, box(0, 0, 40, 40)) for name in "ABC"]
        >>> rooms = nest_by_rectangle(squares, Bin(92, 50, 2, 5))
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


def _fill(ways: Sequence[Turned], room: Bin) -> list[Placement]:
    """One room with as large a part of the boxes as can be."""
    fillings = [_filled(ways, room, *how) for how in product(_CHOICES, _ORDERS)]
    areas = {way.name: round(way.outline.area, 6) for way in ways}
    best = max(fillings, key=lambda spots: sum(areas[spot.name] for spot in spots))
    # A shape may fit beside the reserved corner although its box does not.
    return best or [ways[0].alone(room)]


def _filled(ways: Sequence[Turned], room: Bin, choice: str, order: Any) -> list[Placement]:
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
        spots.append(Placement.at(way.name, way.degrees, way.outline, *at))
    return spots


def _quarter_turned(way: Turned) -> Turned:
    from shapely import affinity

    turned = affinity.rotate(way.outline, 90, origin=(0, 0))
    return Turned(way.name, (way.degrees + 90) % 360, turned)


def _steps(length_mm: float) -> int:
    return round(Fraction(length_mm) * _STEPS)
