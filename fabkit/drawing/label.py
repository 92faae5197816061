"""Placing and sizing the letter of a piece, and the title of a set on a lid or floor."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely
from shapely import Point, Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.units import format_mm
from fabkit.drawing.glyphs import Contour, Lettering, lettering, strokes_are_at_least
from fabkit.drawing.outline import DrawingError, PointMm, polygons
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile

#: Step between the cap heights that are tried.
_SIZE_STEP_MM = 0.1
#: Multiples of the margin that a letter of full size gets if there is room.
_MARGIN_FACTORS = (4, 2)


@dataclass(frozen=True)
class Label:
    """The letter of one piece, placed.

    Attributes:
        cap_height_mm: height of its capitals.
        centre_mm: middle of the text's bounding box, in the frame of the outline.
        front: the contours as seen from the lettered face, in the frame of the outline.
        back: the same for the back (mirrored, so that it reads from there); None if it has no letter.
        inlaid: whether a part of a second colour fills it.
    """

    text: str
    cap_height_mm: float
    depth_mm: float
    centre_mm: PointMm
    front: Lettering
    back: Lettering | None = None
    inlaid: bool = False


def place_label(text: str, face: Polygon, centroid: Point, profile: Profile) -> Label | None:
    """Place a letter on a face, as near to the centroid as possible.

    It has the profile's cap height, or up to half as much more if its strokes are too thin otherwise,
    or the largest cap height that fits.

    The face is the flat part inside the chamfer, in mm.

    Raises:
        DrawingError: when only a letter with strokes thinner than the profile's would fit.
    """
    if profile.faces == "none":
        return None
    unscaled = lettering(text)
    both = profile.faces == "both"
    shape = letters = unscaled.polygon()
    if both:
        shape = shape.union(affinity.scale(shape, xfact=-1, origin=(0, 0)))
    wanted_mm = _wanted_height_mm(letters, profile)
    cap_height_mm, places = largest_place(shape, face, wanted_mm, profile.label_margin_mm)
    if cap_height_mm == 0:
        raise DrawingError(
            f"label.margin {format_mm(profile.label_margin_mm)} leaves no room for a letter; choose a "
            "smaller margin, a larger unit or label.faces none"
        )
    if not strokes_are_at_least(_scaled(letters, cap_height_mm), profile.stroke_mm):
        raise DrawingError(_too_thin(cap_height_mm, wanted_mm, profile))
    nearest, _ = nearest_points(places, centroid)
    x_mm, y_mm = round(nearest.x, 3), round(nearest.y, 3)
    return Label(
        text,
        cap_height_mm,
        profile.label_depth_mm,
        (x_mm, y_mm),
        unscaled.moved(x_mm, y_mm, cap_height_mm),
        unscaled.moved(x_mm, y_mm, cap_height_mm, mirrored=True) if both else None,
        profile.inlay != "none",
    )


def _too_thin(cap_height_mm: float, wanted_mm: float, profile: Profile) -> str:
    """Return why a letter of that height cannot be engraved; a larger one helps only if it fits."""
    stroke = f"thinner than label.stroke {format_mm(profile.stroke_mm)}"
    if cap_height_mm < wanted_mm:
        return (
            f"the largest letter that fits is {format_mm(cap_height_mm)} high, and its strokes are "
            f"{stroke}; choose a shorter label, a larger unit, a smaller label.stroke or "
            "label.faces none"
        )
    return (
        f"the strokes of a letter of label.cap_height {format_mm(wanted_mm)} are {stroke}, even at 1.5 "
        "times this height; choose a larger label.cap_height, a smaller label.stroke or label.faces none"
    )


def _wanted_height_mm(unscaled: BaseGeometry, profile: Profile) -> float:
    """Return the profile's cap height, or up to half as much more if its strokes are too thin."""

    def wide_enough(cap_height_mm: float) -> bool:
        return strokes_are_at_least(_scaled(unscaled, cap_height_mm), profile.stroke_mm)

    steps = math.ceil(profile.cap_height_mm / _SIZE_STEP_MM)
    larger = [round(step * _SIZE_STEP_MM, 6) for step in range(steps, steps * 3 // 2 + 1)]
    if wide_enough(profile.cap_height_mm) or not wide_enough(larger[-1]):
        return profile.cap_height_mm
    return larger[bisect_left(larger, True, key=wide_enough)]


def largest_place(
    shape: BaseGeometry, face: Polygon, wanted_mm: float, margin_mm: float
) -> tuple[float, BaseGeometry]:
    """Return the largest cap height that fits (0 if none), and the possible places of the letter.

    At full size a multiple of the margin is tried first; the margin itself is for tight pieces.
    """

    def places(cap_height_mm: float, margin_mm: float) -> BaseGeometry:
        return _places(_scaled(shape, cap_height_mm), face.buffer(-margin_mm))

    for times in (*_MARGIN_FACTORS, 1):
        area = places(wanted_mm, margin_mm * times)
        if not area.is_empty:
            return wanted_mm, area
    # A smaller letter lies inside a larger one, so the sizes that fit are all below one limit.
    bottom, top = face.bounds[1], face.bounds[3]
    steps = range(1, math.ceil(min(wanted_mm, top - bottom) / _SIZE_STEP_MM))
    fitting = bisect_left(steps, True, key=lambda x: places(x * _SIZE_STEP_MM, margin_mm).is_empty)
    cap_height_mm = round(fitting * _SIZE_STEP_MM, 6)
    return cap_height_mm, places(cap_height_mm, margin_mm) if fitting else Polygon()


def _scaled(shape: BaseGeometry, factor: float) -> BaseGeometry:
    return affinity.scale(shape, factor, factor, origin=(0, 0))


def _places(shape: BaseGeometry, room: BaseGeometry) -> BaseGeometry:
    """Return where the origin of a shape may be so that its convex hull stays inside the room.

    The hull meets an edge of the room exactly when the origin is in the sweep of the mirrored hull
    along that edge (a Minkowski sum), so all sweeps are subtracted.
    """
    mirrored = -shapely.get_coordinates(shape.convex_hull.exterior)
    sweeps: list[BaseGeometry] = []
    for ring in shapely.get_rings(shapely.get_parts(room)):
        corners = shapely.get_coordinates(ring)
        edges = np.stack([corners[:-1], corners[1:]], axis=1)
        ends = (edges[:, :, None] + mirrored).reshape(len(edges), -1, 2)
        sweeps += list(shapely.convex_hull(shapely.linestrings(ends)))
    return room.difference(union_all(sweeps)) if sweeps else room


#: Space between two words, in cap heights.
_SPACE = 0.45
#: Line height, in cap heights.
_LINE = 1.7
#: Maximum factor on the title's height if its strokes are too thin otherwise.
_MAX_TIMES = 1.5
#: Minimum margin between the title and the edge of its room.
_MARGIN_MM = 2.0
#: Maximum height of a letter in the bottom, relative to the widest bridge: some letters are wider
#: than high.
_BRIDGED = 0.6


def place_title(
    puzzle: PuzzleSet, room: BaseGeometry, profile: Profile, mirrored: bool = False
) -> Label | None:
    """Place the title in the middle of a room, with the height ``board.title`` or the largest that fits.

    It is broken into lines if that makes it larger. If the font lacks one of its letters, or its
    strokes would be thinner than ``label.stroke``, the set's short name is used instead. If that does
    not fit either, there is no title.

    A title cut into the bottom, where it is read from below, is mirrored.
    """
    if profile.title_mm == 0:
        return None
    inner = room.buffer(-_MARGIN_MM)
    texts = dict.fromkeys((puzzle.title, puzzle.name))
    for text in texts:
        for lines in _line_breaks(text):
            if label := _fit_title(lines, inner, profile, mirrored):
                return label
    return None


def _fit_title(
    lines: tuple[str, ...], room: BaseGeometry, profile: Profile, mirrored: bool
) -> Label | None:
    """Place lines in the largest size that fits the room; None if none fits."""
    try:
        letters = _typeset(lines)
    except DrawingError:
        return None
    if not letters.contours:
        return None
    box = letters.polygon().envelope
    smallest_mm = min_height_mm(lines, profile.stroke_mm)
    if math.isinf(smallest_mm):
        return None
    largest_mm = max(profile.title_mm, min(smallest_mm, profile.title_mm * _MAX_TIMES))
    if mirrored:
        largest_mm = min(largest_mm, profile.max_bridge_mm * _BRIDGED)
    first = math.ceil(smallest_mm / _SIZE_STEP_MM - 1e-6)
    last = math.floor(largest_mm / _SIZE_STEP_MM + 1e-6)
    for step in range(last, first - 1, -1):
        height = round(step * _SIZE_STEP_MM, 6)
        for x_mm, y_mm in _middles(room):
            if room.contains(affinity.translate(_scaled(box, height), x_mm, y_mm)):
                front = letters.moved(x_mm, y_mm, height, mirrored)
                inlaid = profile.inlay != "none"
                depth_mm = profile.title_depth_mm
                text = " ".join(lines)
                return Label(text, height, depth_mm, (x_mm, y_mm), front, inlaid=inlaid)
    return None


def _middles(room: BaseGeometry) -> list[PointMm]:
    """Return candidates for the middle of a title: of the room's box, then of its parts."""
    left, bottom, right, top = room.bounds if not room.is_empty else (0.0,) * 4
    middles = [Point((left + right) / 2, (bottom + top) / 2)]
    middles += [polygon.centroid for polygon in polygons(room)]
    middles += [polygon.representative_point() for polygon in polygons(room)]
    return [(round(middle.x, 3), round(middle.y, 3)) for middle in middles]


def _line_breaks(text: str) -> list[tuple[str, ...]]:
    """Break a text into one line, two lines and so on, each time as evenly as possible."""
    words = text.split()
    breaks = []
    for count in range(1, len(words) + 1):
        lines: list[str] = []
        waiting = words
        for lines_after in range(count - 1, 0, -1):
            share = sum(map(len, waiting)) / (lines_after + 1)
            size = 1
            while (
                size < len(waiting) - lines_after
                and sum(map(len, waiting[:size])) + len(waiting[size]) / 2 <= share
            ):
                size += 1
            lines.append(" ".join(waiting[:size]))
            waiting = waiting[size:]
        lines.append(" ".join(waiting))
        breaks.append(tuple(lines))
    return breaks


def _typeset(lines: tuple[str, ...]) -> Lettering:
    """Set centred lines of words below each other, with capitals 1 mm high."""
    contours: list[Contour] = []
    for number, line in enumerate(lines):
        words = []
        pen = 0.0
        for word in line.split():
            letters, width = on_baseline(word)
            words.append(letters.moved(pen, -_LINE * number))
            pen += width + _SPACE
        for letters in words:
            contours += letters.moved(-(pen - _SPACE) / 2, 0.0).contours
    whole = Lettering(tuple(contours))
    if not whole.contours:
        return whole
    left, bottom, right, top = whole.polygon().bounds
    return whole.moved(-(left + right) / 2, -(bottom + top) / 2)


def on_baseline(word: str) -> tuple[Lettering, float]:
    """Return a word that begins at the origin and is on the baseline, and its width.

    A word's contours are centred, so its baseline is not known: an H is put before it, which is on
    the baseline and 1 mm high, and then removed.
    """
    with_stem = lettering("H" + word)
    stem, letters = Lettering(with_stem.contours[:1]), Lettering(with_stem.contours[1:])
    left, _, right, _ = letters.polygon().bounds
    return letters.moved(-left, -stem.polygon().bounds[1]), right - left


@lru_cache(maxsize=64)
def min_height_mm(lines: tuple[str, ...], stroke_mm: float) -> float:
    """Return the least cap height at which no stroke is thinner than a width; infinite above 60 mm."""
    shape = _typeset(lines).polygon()
    sizes = [round(step * _SIZE_STEP_MM, 6) for step in range(1, 601)]

    def wide_enough(size: float) -> bool:
        return strokes_are_at_least(_scaled(shape, size), stroke_mm)

    index = bisect_left(sizes, True, key=wide_enough)
    return sizes[index] if index < len(sizes) else math.inf
