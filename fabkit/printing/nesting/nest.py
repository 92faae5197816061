"""Nesting: place shapes in as few bins as possible, and validate the layout."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from typing import Any

from shapely import Polygon, affinity, total_bounds

from fabkit.core.errors import ErrorDetail, ExternalError, InputError
from fabkit.core.progress import Progress, no_progress
from fabkit.core.units import format_mm
from fabkit.printing.nesting.bin import Bin, Placement, fitting_rotations, layout_faults, size_mm
from fabkit.printing.nesting.polygon_nest import is_available, nest_by_polygon

#: Number of distributions of shapes over bins to try, each with its own seed.
_TRIES = 3
#: Maximum density of a bin, including half a gap around each shape. spyrrow gave up at 0.70 to 0.86
#: on the shipped sets; denser distributions are not tried.
_DENSEST = 0.86
#: How often to try to place the shapes of two bins in one.
_MERGES = 12
#: Densities to try when shapes are placed close together, the greatest first.
_DENSITIES = (0.75, 0.62)
#: The number of vertices above which only the last density is tried.
_MAX_VERTICES = 400
#: By how much outlines are simplified before their vertices are counted.
_COARSE_MM = 0.15
#: A box is tried if its diagonal is shorter than now by at least this factor.
_WORTH_IT = 0.95


def nest(
    shapes: Mapping[str, Polygon], bin_: Bin, progress: Progress = no_progress
) -> list[list[Placement]]:
    """Return the placements of shapes in bins, none of them empty.

    Shapes are rotated by multiples of 45 degrees, never mirrored. Only their outer boundaries
    count: no shape is placed in a hole. rectpack places the shapes where spyrrow is not installed
    or finds no layout in as few bins. Equal shapes in the same order give the same layout (see
    `fabkit.printing.nesting.polygon_nest` for what that rests on). How long it takes is not known,
    so `progress` is always called with the share 0. No two shapes are nearer than the gap, and none
    is in the edge strip or nearer than the gap to the reserved corner.

    Raises:
        InputError: for all shapes that are too large for a bin.
        ExternalError: when an engine returns an invalid layout.

    Example:
        >>> from shapely import box
        >>> shapes = {"A": box(0, 0, 40, 20), "B": box(0, 0, 9, 9)}
        >>> list(map(len, nest(shapes, Bin(60, 60, 2, 5))))
        [2]
    """
    shapes = {name: Polygon(outline.exterior) for name, outline in shapes.items()}
    _refuse_too_large(shapes, bin_)
    boxed = nest_by_rectangle(shapes, bin_, progress)
    if shapes and is_available():
        strip = _without_corner(bin_)
        areas = {name: shape.buffer(bin_.gap_mm / 2).area for name, shape in shapes.items()}
        layouts = (
            _nest_parts(parts, shapes, areas, strip, seed, progress)
            for count in range(_min_bins(areas.values(), strip), len(boxed) + 1)
            for seed, parts in enumerate(_distribute(areas, count, boxed))
        )
        bins = _merged(next(filter(None, layouts), boxed), shapes, areas, strip, progress)
        if bins != boxed:
            return bins
    faults = layout_faults(shapes, bin_, boxed)
    if faults:
        raise ExternalError(f"rectpack laid the shapes out wrongly: {'; '.join(faults)}")
    return boxed


def nest_compactly(
    shapes: Mapping[str, Polygon],
    bin_: Bin,
    placements: Sequence[Placement],
    progress: Progress = no_progress,
) -> list[Placement]:
    """Place the shapes of one bin close together, about as wide as deep.

    The bin's reserved corner is left to the caller. Returns `placements`, the present ones, when
    nothing was found whose box has a shorter diagonal.
    """
    shapes = {placement.name: Polygon(shapes[placement.name].exterior) for placement in placements}
    gap_mm = bin_.gap_mm
    area_mm2 = sum(outline.buffer(gap_mm / 2).area for outline in shapes.values())
    max_width_mm, max_depth_mm = (side_mm + gap_mm for side_mm in bin_.usable_mm)
    max_diagonal_mm = _WORTH_IT * _diagonal_mm(shapes, placements)
    # Outlines a little too large, but with fewer vertices: balls have very many.
    coarse = {
        name: outline.buffer(_COARSE_MM, join_style="mitre").simplify(_COARSE_MM)
        for name, outline in shapes.items()
    }
    is_complex = sum(len(outline.exterior.coords) for outline in coarse.values()) > _MAX_VERTICES
    for density in _DENSITIES[is_complex:] if len(placements) > 1 else ():
        wide_mm = min(math.sqrt(area_mm2 / density), max_width_mm)
        deep_mm = min(area_mm2 / density / wide_mm, max_depth_mm)
        wide_mm = min(area_mm2 / density / deep_mm, max_width_mm)
        more_mm = 2 * bin_.edge_mm - gap_mm
        small = replace(bin_, width_mm=wide_mm + more_mm, depth_mm=deep_mm + more_mm, corner_mm=0.0)
        fits = all(fitting_rotations(outline, small) for outline in shapes.values())
        if not fits or math.hypot(*small.usable_mm) > max_diagonal_mm:
            continue
        layouts = nest_by_rectangle(shapes, small, progress)
        if is_available():
            layouts.insert(0, nest_by_polygon(coarse, small, 0, progress) or [])
        if sound := [row for row in layouts if row and not layout_faults(shapes, small, [row])]:
            return min(sound, key=lambda layout: round(_diagonal_mm(shapes, layout), 3))
    return list(placements)


def _diagonal_mm(shapes: Mapping[str, Polygon], placements: Sequence[Placement]) -> float:
    """Return the diagonal of the bounding box of placed shapes."""
    left, bottom, right, top = total_bounds(
        [placement.place(shapes[placement.name]) for placement in placements]
    )
    return math.hypot(right - left, top - bottom)


def _refuse_too_large(shapes: Mapping[str, Polygon], bin_: Bin) -> None:
    usable = " x ".join(format_mm(side, 1) for side in bin_.usable_mm)
    if min(bin_.usable_mm) <= 0:
        size = f"{format_mm(bin_.width_mm, 1)} x {format_mm(bin_.depth_mm, 1)}"
        edge = format_mm(bin_.edge_mm, 1)
        raise InputError.of("", f"{size} less {edge} on each side leaves no room; {bin_.advice}")
    corner = f", less a corner of {format_mm(bin_.corner_mm, 1)}" if bin_.corner_mm else ""
    faults = [
        ErrorDetail(
            name,
            f"is {' x '.join(format_mm(side, 1) for side in size_mm(outline))}, and does not fit "
            f"the usable {usable}{corner} at any multiple of 45 degrees; {bin_.advice}",
        )
        for name, outline in shapes.items()
        if not fitting_rotations(outline, bin_)
    ]
    if faults:
        raise InputError("", faults)


def _min_bins(areas: Iterable[float], bin_: Bin) -> int:
    """Return the least number of bins to try for shapes. Here and below, `areas` have half a gap
    around each shape."""
    width, depth = bin_.usable_mm
    free = (width + bin_.gap_mm) * (depth + bin_.gap_mm) - bin_.corner_mm**2
    return max(1, math.ceil(sum(areas) / (_DENSEST * free) - 1e-9))


def _without_corner(bin_: Bin) -> Bin:
    """Return the bin, as a smaller rectangle if its corner leaves no strip below or beside it."""
    width, depth = bin_.usable_mm
    reserved = bin_.corner_mm + bin_.gap_mm
    if bin_.corner_mm and reserved >= depth:
        return replace(bin_, width_mm=bin_.width_mm - reserved, corner_mm=0.0)
    if bin_.corner_mm and reserved >= width:
        return replace(bin_, depth_mm=bin_.depth_mm - reserved, corner_mm=0.0)
    return bin_


def _merged(
    bins: Sequence[Sequence[Placement]],
    shapes: Mapping[str, Polygon],
    areas: Mapping[str, float],
    bin_: Bin,
    progress: Progress,
) -> list[list[Placement]]:
    """Place the shapes of two bins in one as often as that succeeds, the emptiest bins first."""
    merged = [list(placements) for placements in bins]
    tries = _MERGES if len(bins) > _min_bins(areas.values(), bin_) else 0
    while tries:
        pairs = [[placement.name for placement in chain(*pair)] for pair in combinations(merged, 2)]
        pairs.sort(key=lambda names: round(sum(areas[name] for name in names), 6))
        for names in pairs[:tries]:
            tries -= 1
            both = {name: shapes[name] for name in names}
            fits = _min_bins([areas[name] for name in names], bin_) == 1
            placements = nest_by_polygon(both, bin_, 0, progress) if fits else None
            if placements and not layout_faults(both, bin_, [placements]):
                merged = [*(each for each in merged if each[0].name not in both), placements]
                break
        else:
            break
    return merged


def _nest_parts(
    parts: Sequence[Sequence[str]],
    shapes: Mapping[str, Polygon],
    areas: Mapping[str, float],
    bin_: Bin,
    seed: int,
    progress: Progress,
) -> list[list[Placement]] | None:
    """Place each part in its own bin, the fullest bin first."""
    part_areas = [[areas[name] for name in part] for part in parts]
    if any(_min_bins(each, bin_) > 1 for each in part_areas):
        return None
    bins: list[list[Placement]] = [[] for _ in parts]
    for i in sorted(range(len(parts)), key=lambda i: -round(sum(part_areas[i]), 6)):
        part = {name: shapes[name] for name in parts[i]}
        bins[i] = nest_by_polygon(part, bin_, seed, progress) or []
        if layout_faults(part, bin_, [bins[i]]):
            return None
    return bins


def _distribute(
    areas: Mapping[str, float], count: int, boxed: Sequence[Sequence[Placement]]
) -> Iterator[list[list[str]]]:
    """Yield distributions of shapes over a number of bins.

    Each shape goes to the least full bin: first by decreasing size, then in shuffled orders. With
    as many bins as boxes need there is nothing to gain, so only the boxes' distribution follows.
    """
    names = sorted(areas, key=lambda name: -round(areas[name], 6))
    for attempt in range(_TRIES):
        parts: list[list[str]] = [[] for _ in range(count)]
        part_areas = [0.0] * count
        for name in names:
            emptiest = min(range(count), key=lambda i: round(part_areas[i], 6))
            parts[emptiest].append(name)
            part_areas[emptiest] += areas[name]
        yield [part for part in parts if part]
        if count == len(boxed):
            yield [[placement.name for placement in placements] for placements in boxed]
            return
        random.Random(attempt).shuffle(names)  # noqa: S311 (no secret)


#: rectpack computes with integers: this many per millimetre.
_STEPS = 10**7
#: Rules for choosing a free rectangle, by rectpack's names.
_CHOICES = ("MaxRectsBssf", "MaxRectsBaf", "MaxRectsBlsf", "MaxRectsBl")
#: Orders of boxes: by area, by the long side, by the short side, or by both together.
_ORDERS = (
    lambda size: (size[0] * size[1], max(size)),
    lambda size: (max(size), min(size)),
    lambda size: (min(size), max(size)),
    lambda size: (size[0] + size[1], max(size)),
)


def nest_by_rectangle(
    shapes: Mapping[str, Polygon], bin_: Bin, progress: Progress = no_progress
) -> list[list[Placement]]:
    """Fill bin after bin with bounding boxes: each shape is rotated to the smallest box; each bin
    is filled in several ways, and the fullest is kept."""

    def box_area(rotation: tuple[float, Polygon]) -> float:
        return round(math.prod(size_mm(rotation[1])), 6)

    waiting = {
        name: min(fitting_rotations(outline, bin_), key=box_area)
        for name, outline in shapes.items()
    }
    bins = []
    while waiting:
        fillings = []
        for choice, order in product(_CHOICES, _ORDERS):
            progress(0.0, "")
            fillings.append(_fill_bin(waiting, bin_, choice, order))
        areas = {name: round(turned.area, 6) for name, (_, turned) in waiting.items()}
        placements = max(fillings, key=lambda filling: sum(areas[each.name] for each in filling))
        if not placements:  # a shape may fit beside the reserved corner although its box does not
            name, rotation = next(iter(waiting.items()))
            placements = [Placement.at(name, *rotation, bin_.edge_mm, bin_.edge_mm)]
        bins.append(placements)
        for placement in placements:
            del waiting[placement.name]
    return bins


def _fill_bin(
    waiting: Mapping[str, tuple[float, Polygon]], bin_: Bin, choice: str, order: Any
) -> list[Placement]:
    """Fill one bin in one way; return nothing if the corner could not be kept free.

    Every box is wider and higher by the gap, and so is the bin. The reserved corner is the first
    box, which rectpack places at the lower left; the whole is then rotated by half a turn.
    """
    import rectpack

    gap = _steps(bin_.gap_mm)
    width, height = (_steps(side) + gap for side in bin_.usable_mm)
    packer = rectpack.newPacker(
        mode=rectpack.PackingMode.Offline,
        bin_algo=rectpack.PackingBin.BFF,
        pack_algo=getattr(rectpack, choice),
        sort_algo=rectpack.SORT_NONE,
        rotation=True,
    )
    packer.add_bin(width, height)
    if bin_.corner_mm:
        packer.add_rect(*[_steps(bin_.corner_mm) + gap] * 2, rid="")
    sizes = {
        name: tuple(_steps(side) + gap for side in size_mm(turned))
        for name, (_, turned) in waiting.items()
    }
    for name in sorted(sizes, key=lambda name: order(sizes[name]), reverse=True):
        packer.add_rect(*sizes[name], rid=name)
    packer.pack()
    boxes = {box[5]: box[1:5] for box in packer.rect_list()}
    if bin_.corner_mm and boxes.pop("", (1, 1))[:2] != (0, 0):
        return []
    placements = []
    for name, (degrees, turned) in waiting.items():
        if name in boxes:
            left, bottom, wide, high = boxes[name]
            more = 0.0 if (wide, high) == sizes[name] else 90.0
            rotated = affinity.rotate(turned, more, origin=(0, 0)) if more else turned
            if bin_.corner_mm:
                left, bottom = width - left - wide, height - bottom - high
            left_mm, bottom_mm = bin_.edge_mm + left / _STEPS, bin_.edge_mm + bottom / _STEPS
            placements.append(Placement.at(name, degrees + more, rotated, left_mm, bottom_mm))
    return placements


def _steps(length_mm: float) -> int:
    return round(length_mm * _STEPS)
