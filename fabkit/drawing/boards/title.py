"""The title of a set, engraved into a lid or a floor."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.slabs import polygons
from fabkit.drawing.glyphs import Lettering, lettering, strokes_are_at_least
from fabkit.drawing.label import Label
from fabkit.drawing.printed import BlueprintError, PointMm
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: Between two words, and from line to line, in heights of a capital.
_SPACE, _LINE = 0.45, 1.7
_SIZE_STEP_MM = 0.1
#: A title may be so much higher than wanted if its strokes are too thin otherwise.
_MOST_TIMES = 1.5
#: Between the title and the edge of its room, at the least.
_MARGIN_MM = 2.0
#: Part of the widest ceiling that a letter cut into the bottom may be high: some letters are
#: wider than they are high.
_BRIDGED = 0.6


def place_title(
    puzzle: PuzzleSet, room: BaseGeometry, profile: Profile, mirrored: bool = False
) -> Label | None:
    """The title, as large as ``board.title`` says or as the room allows, in its middle.

    It is broken into lines where that makes it larger. If the font lacks one of its letters, or if
    it would have to be so small that its strokes are thinner than ``label.stroke``, the set's short
    name takes its place. A room that is too small for that, too, remains without a title.

    Args:
        puzzle: gives title and name.
        room: the area it must lie in, in mm.
        profile: gives cap height, depth and the least stroke.
        mirrored: whether it is cut into the bottom, where it is read from below.

    Returns:
        The title as a label; None when the profile asks for none, or there is no room.
    """
    if profile.title_mm == 0:
        return None
    inner = room.buffer(-_MARGIN_MM)
    for text in dict.fromkeys((puzzle.title, puzzle.name)):
        for lines in _broken(text):
            label = _placed(lines, inner, profile, mirrored)
            if label is not None:
                return label
    return None


def _placed(
    lines: tuple[str, ...], room: BaseGeometry, profile: Profile, mirrored: bool
) -> Label | None:
    """Lines in the largest size that fits into the room, or None."""
    try:
        letters = _set(lines)
    except BlueprintError:
        return None
    if not letters.contours:
        return None
    shape = letters.polygon()
    least = _least_height_mm(lines, profile.stroke_mm)
    if math.isinf(least):
        return None
    most = max(profile.title_mm, min(least, profile.title_mm * _MOST_TIMES))
    if mirrored:
        most = min(most, profile.max_bridge_mm * _BRIDGED)
    first, last = math.ceil(least / _SIZE_STEP_MM - 1e-6), math.floor(most / _SIZE_STEP_MM + 1e-6)
    for step in range(last, first - 1, -1):
        height = round(step * _SIZE_STEP_MM, 6)
        box = affinity.scale(shape.envelope, height, height, origin=(0, 0))
        for x_mm, y_mm in _middles(room):
            if room.contains(affinity.translate(box, x_mm, y_mm)):
                front = letters.moved(x_mm, y_mm, height, mirrored)
                depth = profile.title_depth_mm
                return Label(" ".join(lines), height, depth, "front", (x_mm, y_mm), front, None)
    return None


def _middles(room: BaseGeometry) -> list[PointMm]:
    """Where a title may have its middle: that of the room's box, then those of its parts."""
    left, bottom, right, top = room.bounds if not room.is_empty else (0.0,) * 4
    found = [((left + right) / 2, (bottom + top) / 2)]
    found += [(one.centroid.x, one.centroid.y) for one in polygons(room)]
    found += [(p.x, p.y) for p in (one.representative_point() for one in polygons(room))]
    return [(round(x, 3), round(y, 3)) for x, y in found]


def _broken(text: str) -> list[tuple[str, ...]]:
    """A text on one line, on two, … each as even as can be."""
    words = text.split()
    found = []
    for count in range(1, len(words) + 1):
        lines: list[str] = []
        left = words
        for after in range(count - 1, -1, -1):
            share = sum(map(len, left)) / (after + 1)
            taken = 1
            while (
                taken < len(left) - after
                and sum(map(len, left[:taken])) + len(left[taken]) / 2 <= share
            ):
                taken += 1
            lines.append(" ".join(left[: taken if after else len(left)]))
            left = left[taken:]
        found.append(tuple(lines))
    return found


def _set(lines: tuple[str, ...]) -> Lettering:
    """Lines of words below each other, each in the middle, with capitals 1 mm high."""
    contours: list[Lettering] = []
    for number, line in enumerate(lines):
        words, pen = [], 0.0
        for word in line.split():
            standing, width = _standing(word)
            words.append(standing.moved(pen, -_LINE * number))
            pen += width + _SPACE
        contours += [one.moved(-(pen - _SPACE) / 2, 0.0) for one in words]
    whole = Lettering(tuple(c for one in contours for c in one.contours))
    if not whole.contours:
        return whole
    left, bottom, right, top = whole.polygon().bounds
    return whole.moved(-(left + right) / 2, -(bottom + top) / 2)


def _standing(word: str) -> tuple[Lettering, float]:
    """A word that begins at the origin and stands on the line, and its width.

    A word's contours lie around its middle, which says nothing of the line it stands on: an H
    is set before it, which does stand on it and is 1 mm high, and then taken away.
    """
    with_stem = lettering("H" + word)
    stem, letters = Lettering(with_stem.contours[:1]), Lettering(with_stem.contours[1:])
    left, _, right, _ = letters.polygon().bounds
    return letters.moved(-left, -stem.polygon().bounds[1]), right - left


@lru_cache(maxsize=64)
def _least_height_mm(lines: tuple[str, ...], stroke_mm: float) -> float:
    """The smallest cap height at which no stroke is thinner than a width; infinite above 60 mm."""
    shape = _set(lines).polygon()
    sizes = [round(step * _SIZE_STEP_MM, 6) for step in range(1, 601)]

    def wide_enough(height_mm: float) -> bool:
        scaled = affinity.scale(shape, height_mm, height_mm, origin=(0, 0))
        return strokes_are_at_least(scaled, stroke_mm)

    found = bisect_left(sizes, True, key=wide_enough)
    return sizes[found] if found < len(sizes) else math.inf
