"""Boards and lids in parts that join: those that are larger than the printer's bed.

A board is cut along straight lines from side to side, with dovetails where its material is the same all
around. The cuts go straight through, so each part is printed like the whole board, and the parts are
pressed together from above.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.drawing.boards.csg import (
    BoardDrawing,
    Prism,
    Step,
    board_drawing,
    ranges_mm,
    section_at,
)
from fabkit.drawing.boards.draft import size_mm
from fabkit.drawing.cells import cell_centres
from fabkit.drawing.glyphs import Lettering, flatten_contour
from fabkit.drawing.label import Label
from fabkit.drawing.outline import DrawingError, mitre_offset, polygons
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import Accessory, Printable, bed_rooms_mm, printables
from fabkit.profiles.profile import Profile

#: Widths of dovetails at their ends; the narrowest fits a frame of 4 mm.
_TAIL_WIDTHS_MM = (12.0, 8.0, 5.0, 2.4)
#: Length of a dovetail relative to its width.
_TAIL_LENGTH = 0.5
#: Width of a dovetail at its root relative to that at its end.
_TAIL_ROOT = 2 / 3
#: Minimum distance between the middles of two dovetails, relative to the sum of their widths.
_TAIL_DISTANCE = 1.25
#: The same in mm.
_TAIL_DISTANCE_MM = 14.0
#: Minimum distance of a dovetail from any edge of the board.
_BESIDE_TAIL_MM = 0.6
#: Minimum distance of a dovetail from another cut, whose dovetails are as long as 6 mm.
_BESIDE_CROSSING_MM = 12.0
#: Material behind the root of a dovetail.
_BEHIND_TAIL_MM = 1.0
#: How far the longest dovetail protrudes from its part.
_LONGEST_TAIL_MM = _TAIL_LENGTH * _TAIL_WIDTHS_MM[0]
#: Minimum length and width of a part, without its dovetails.
_SMALLEST_PART_MM = 25.0
#: Minimum width and depth of a bed, without its edges, on which boards are printed in parts.
MIN_ROOM_MM = _SMALLEST_PART_MM + _LONGEST_TAIL_MM
#: Step between the places that are tried for cuts.
_CUT_STEP_MM = 0.5
#: Step between the places that are tried for dovetails.
_TAIL_STEP_MM = 0.25
#: Distance from a cut within which edges are avoided.
_BESIDE_CUT_MM = 1.5
#: Length of edges that a mm towards the middle of the nearest cell counts as.
_OFF_BORDER = 0.2
#: Radius around the middles of cells, where floors are measured, that dovetails avoid.
_MIDDLE_MM = 0.5
#: Length of edges that a mm between a cut and its place among evenly spaced ones counts as.
_UNEVEN = 0.1
#: Overlap of a part's area, and of the cutter around it, beyond the board.
_OUTSIDE_MM = 2.0


def printed_parts(
    puzzle: PuzzleSet, profile: Profile, ids: Sequence[str] = ()
) -> tuple[Printable, ...]:
    """Return what is printed of a set: its `printables`, but boards larger than the bed in parts.

    The parts of ``tray`` are called ``tray-a``, ``tray-b`` and so on; `ids` may name them, or the
    whole board.

    Raises:
        InputError: naming every unknown id, or the part that has the id of something else.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> small = ["printer.bed_width=180 mm", "printer.bed_depth=180 mm"]
        >>> iqblock = load_set("iqblock")
        >>> profile = load_profile((), small, iqblock.profile_values)
        >>> [part.id for part in printed_parts(iqblock, profile, ["square", "square-lid"])]
        ['square-a', 'square-b', 'square-c', 'square-d', 'square-lid']
    """
    pairs = [
        (whole.id, part)
        for whole in printables(puzzle, profile)
        for part in _parts_of(puzzle, whole, profile)
    ]
    wholes: dict[str, str] = {}
    for whole_id, part in pairs:
        if part.id in wholes:
            message = (
                "has the id of a part of a board that is larger than the bed; choose another id"
            )
            raise InputError.of(puzzle.name, message, part.id)
        wholes[part.id] = whole_id
    printables(puzzle, profile, [wholes.get(part_id, part_id) for part_id in ids])
    return tuple(part for whole_id, part in pairs if not ids or {whole_id, part.id} & {*ids})


@dataclass(frozen=True)
class _Grid:
    """The columns and rows of parts, and the largest width and depth of each."""

    columns: int
    rows: int
    room_mm: tuple[float, float]

    @property
    def count(self) -> int:
        return self.columns * self.rows


def _parts_of(puzzle: PuzzleSet, whole: Printable, profile: Profile) -> Sequence[Printable]:
    if not isinstance(whole, Accessory):
        return [whole]
    try:
        count = _grid(size_mm(puzzle, whole, profile), profile).count
    except DrawingError:  # raised again when it is drafted
        count = 1
    if not 1 < count <= len(string.ascii_lowercase):
        return [whole]
    return [
        replace(whole, id=f"{whole.id}-{letter}", part=number)
        for number, letter in enumerate(string.ascii_lowercase[:count], 1)
    ]


def _grid(size: tuple[float, float], profile: Profile) -> _Grid:
    """Return the grid with the fewest parts that fit the bed; a single part if no grid does."""
    grids = []
    for room in bed_rooms_mm(profile):
        if sum(size) <= math.sqrt(2) * min(room):  # at 45 degrees
            return _Grid(1, 1, size)
        if min(room) >= MIN_ROOM_MM:
            # All parts of a row have dovetails, except the last one.
            counts = [
                math.ceil(round((side - _LONGEST_TAIL_MM) / (free - _LONGEST_TAIL_MM), 6))
                for side, free in zip(size, room, strict=True)
            ]
            grids.append(_Grid(max(1, counts[0]), max(1, counts[1]), room))
    return min(grids, key=lambda grid: grid.count, default=_Grid(1, 1, size))


def draft_part(
    puzzle: PuzzleSet, whole: BoardDrawing, accessory: Accessory, profile: Profile
) -> BoardDrawing:
    """Draft one of the parts of a board or lid, in the frame of the whole one.

    Parts are numbered from left to right, then from front to back; dovetails point to the right and to
    the back. Cuts avoid edges, texts and the middles of cells as far as the bed leaves a choice.

    Raises:
        DrawingError: when a cut crosses a text of a second colour.
    """
    left, front, right, back = whole.outline.bounds
    grid = _grid((round(right - left, 6), round(back - front, 6)), profile)
    sections = [section_at(whole.steps, sum(ends) / 2) for ends in ranges_mm(whole.steps)]
    bottom = next(area for area in sections if area.area)
    texts = [whole.label.front.polygon()] if whole.label else []
    edges = shapely.union_all([area.boundary for area in (*sections, *texts)])
    centres = cell_centres(puzzle.lattice, accessory.board.cells, profile.unit_mm)
    xs, ys = np.transpose(centres)
    columns = _cuts(edges, bottom, xs, (left, right), grid.columns, grid.room_mm[0])
    turned = _transposed(edges), _transposed(bottom)
    rows = _cuts(*turned, ys, (front, back), grid.rows, grid.room_mm[1])
    row, column = divmod(accessory.part - 1, grid.columns)
    low_x, high_x = [left - _OUTSIDE_MM, *columns, right + _OUTSIDE_MM][column : column + 2]
    low_y, high_y = [front - _OUTSIDE_MM, *rows, back + _OUTSIDE_MM][row : row + 2]
    area = shapely.box(low_x, low_y, high_x, high_y)
    level = [shapely.LineString([(left, y), (right, y)]) for y in rows]
    upright = [shapely.LineString([(x, front), (x, back)]) for x in columns]
    edges = shapely.union_all([edges, *shapely.buffer(shapely.points(centres), _MIDDLE_MM)])
    beside = shapely.union_all([edges, *shapely.buffer(level, _BESIDE_CROSSING_MM)])
    area = _with_tails(area, columns, column, beside, bottom)
    beside = _transposed(shapely.union_all([edges, *shapely.buffer(upright, _BESIDE_CROSSING_MM)]))
    area = _with_tails(_transposed(area), rows, row, beside, _transposed(bottom))
    area = mitre_offset(_transposed(area), -profile.joint_mm)
    around = shapely.box(*whole.outline.bounds).buffer(2 * _OUTSIDE_MM, join_style="mitre")
    high_mm = whole.thickness_mm + _OUTSIDE_MM
    cutters = [Prism(rest, -_OUTSIDE_MM, high_mm) for rest in polygons(around.difference(area))]
    label = _label_on(whole.label, area)
    steps = (*whole.steps, Step(True, tuple(cutters)))
    low_mm = whole.label_low_mm if label else 0.0
    return board_drawing(accessory, steps, whole.rest_mm, label, low_mm)


def _transposed(area: BaseGeometry) -> BaseGeometry:
    """Exchange x and y."""
    return affinity.affine_transform(area, [0, 1, 1, 0, 0, 0])


def _cuts(
    edges: BaseGeometry,
    bottom: BaseGeometry,
    middles_mm: NDArray[np.float64],
    ends_mm: tuple[float, float],
    count: int,
    room_mm: float,
) -> list[float]:
    """Return the x of the cuts between parts: through material, beside few edges, between the cells with
    these middles, and about evenly spaced."""
    low, high = ends_mm
    middle = (middles_mm.min() + middles_mm.max()) / 2
    _, front, _, back = bottom.bounds
    cuts: list[float] = []
    for number in range(1, count):
        largest_mm = room_mm - _LONGEST_TAIL_MM
        before = cuts[-1] if cuts else low
        begin = max(
            before + _SMALLEST_PART_MM, high - (count - number) * largest_mm - _LONGEST_TAIL_MM
        )
        end = min(before + largest_mm, high - (count - number) * _SMALLEST_PART_MM)
        # Symmetric about the middle, as most boards are.
        steps = np.arange(
            math.ceil(round((begin - middle) / _CUT_STEP_MM, 6)),
            math.floor(round((end - middle) / _CUT_STEP_MM, 6)) + 1,
        )
        places = middle + steps * _CUT_STEP_MM
        strips = shapely.box(places - _BESIDE_CUT_MM, front, places + _BESIDE_CUT_MM, back)
        beside_mm = shapely.length(shapely.intersection(edges, strips))
        open_mm2 = shapely.area(strips) - shapely.area(shapely.intersection(bottom, strips))
        off_border_mm = -abs(places[:, None] - middles_mm).min(axis=1)
        uneven_mm = abs(places - low - (high - low) * number / count)
        costs = beside_mm + open_mm2 + _OFF_BORDER * off_border_mm + _UNEVEN * uneven_mm
        cuts.append(float(places[costs.round(3).argmin()]))
    return cuts


def _with_tails(
    area: BaseGeometry,
    cuts: Sequence[float],
    number: int,
    edges: BaseGeometry,
    bottom: BaseGeometry,
) -> BaseGeometry:
    """Add the dovetails at the right side of a part, and cut out those of the part on the left."""
    for cut in cuts[number : number + 1]:
        tails = [tail for tail in _tails(cut, edges, bottom) if tail.intersects(area)]
        area = shapely.union_all([area, *tails])
    for cut in cuts[max(0, number - 1) : number]:
        area = area.difference(shapely.union_all(_tails(cut, edges, bottom)))
    return area


def _tails(cut: float, edges: BaseGeometry, bottom: BaseGeometry) -> list[Polygon]:
    """Return the dovetails across a cut, the widest first: where no edge is near, at any height."""
    _, front, _, back = bottom.bounds
    middle = (front + back) / 2
    steps = np.arange(-math.floor((back - middle) / _TAIL_STEP_MM), (back - middle) / _TAIL_STEP_MM)
    places = middle + steps[np.argsort(abs(steps), kind="stable")] * _TAIL_STEP_MM
    tails: list[Polygon] = []
    middles: list[tuple[float, float]] = []
    for width in _TAIL_WIDTHS_MM:
        end, beside = cut + _TAIL_LENGTH * width, width / 2 + _BESIDE_TAIL_MM
        rooms = shapely.box(
            cut - _BEHIND_TAIL_MM, places - beside, end + _BESIDE_TAIL_MM, places + beside
        )
        free = shapely.contains(bottom, rooms) & ~shapely.intersects(edges, rooms)
        for place in places[free].tolist():
            if all(
                abs(place - other) >= max(_TAIL_DISTANCE * (width + other_width), _TAIL_DISTANCE_MM)
                for other, other_width in middles
            ):
                middles.append((place, width))
                root = _TAIL_ROOT * width / 2
                # It begins inside its part.
                corners = [(end, place - width / 2), (end, place + width / 2)]
                corners += [(cut, place + root), (cut - _BEHIND_TAIL_MM, place + root)]
                corners += [(cut - _BEHIND_TAIL_MM, place - root), (cut, place - root)]
                tails.append(Polygon(corners))
    return tails


def _label_on(label: Label | None, area: BaseGeometry) -> Label | None:
    """Return the letters of a title or of texts that are on the area of a part."""
    if label is None:
        return None
    contours = []
    for outer, counters in label.front.parts():
        letter = Polygon(flatten_contour(outer))
        if letter.intersects(area):
            contours += [outer, *counters]
            if label.inlaid and not area.contains(letter):
                raise DrawingError(
                    f"{label.text!r} is of a second colour, and the board is larger than the bed: the "
                    "cut between its parts crosses a letter; choose label.inlay none and board.text "
                    "engraved, or board.title 0 mm"
                )
    return replace(label, front=Lettering(tuple(contours))) if contours else None
