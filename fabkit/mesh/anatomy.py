"""A part's anatomy: which of its cavities are recesses, letters, marks of poles, holes, or faults."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.cavities import Cavity, Slice, cavities, circle_of, slices
from fabkit.mesh.part import Part
from fabkit.mesh.section import DOWN, UP, filled
from fabkit.model.layers import MARK_DIAMETER_MM

#: A hole that goes through is part of the outline when it opens this part of a square unit.
_HOLE_UNITS2 = 0.1
#: A recess is deeper than this part of the thickness, a letter less.
_RECESS_DEPTH = 0.25
#: … and fills this part of the circle around it, ribs taken off.
_ROUND = 0.6
#: A mark of a pole is round: it fills this part of the circle around it …
_MARK_ROUND = 0.85
#: … and small: at most so many times as wide as it should be, …
_MARK_WIDE = 3
#: … and in the end of a closed cavity less than this part of that end.
_MARK_SHARE = 0.25
#: Chamfers of both faces that differ by no more than this are alike, in mm.
_CHAMFERS_ALIKE_MM = 0.05


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What is open in a part.

    Attributes:
        cuts: its slices, from low to high.
        recesses: the cavities for magnets.
        labels: the cavities that are letters, or parts of them.
        through: holes from face to back that are no part of the outline.
        marks: the dimples that mark south poles, in the back or in the ends of closed recesses.
    """

    cuts: tuple[Slice, ...]
    recesses: tuple[Cavity, ...]
    labels: tuple[Cavity, ...]
    through: tuple[Cavity, ...]
    marks: tuple[Cavity, ...]


def anatomy(part: Part) -> Anatomy:
    """Tells a part's recesses, letters, marks and holes apart.

    Args:
        part: the part.

    Returns:
        Each of its cavities in its place, but for the holes of its outline.
    """
    cuts = slices(part)
    recesses, labels, through, marks = [], [], [], []
    for cavity in cavities(part, cuts):
        if cavity.below and cavity.above and not cavity.beside:
            if not _is_hole_of_outline(part, cavity):
                through.append(cavity)
        elif _is_recess(cavity, part.thickness_mm):
            recess, dimples = _without_marks(cavity)
            recesses.append(recess)
            marks += dimples
        else:
            labels.append(cavity)
    if any(recess.below for recess in recesses):
        # Only then is the back where magnets go in; else a round thing there may be a full stop.
        dimples = [one for one in labels if one.below and not one.above and _is_mark(one)]
        labels = [one for one in labels if one not in dimples]
        marks += dimples
    return Anatomy(tuple(cuts), tuple(recesses), tuple(labels), tuple(through), tuple(marks))


def _without_marks(recess: Cavity) -> tuple[Cavity, list[Cavity]]:
    """A closed cavity without the dimples in its ends, and these."""
    if recess.below or recess.above:
        return recess, []
    least_mm2 = _MARK_SHARE * recess.middle.area
    cuts, dimples = list(recess.cuts), []
    for way in (1, -1):
        inwards = cuts[::way]
        small = list(itertools.takewhile(lambda cut: cut[1].area < least_mm2, inwards))
        rest = inwards[len(small) :]
        # A dimple ends at a step; what widens between two levels is none.
        if small and rest and small[-1][0].low_mm != rest[0][0].low_mm:
            dimple = _of(recess, small[::way])
            if _is_mark(dimple):
                dimples.append(dimple)
                cuts = rest[::way]
    return _of(recess, cuts), dimples


def _of(cavity: Cavity, cuts: list[tuple[Slice, BaseGeometry]]) -> Cavity:
    """The part of a cavity that some of its cuts show."""
    return replace(cavity, low_mm=cuts[0][0].low_mm, high_mm=cuts[-1][0].high_mm, cuts=tuple(cuts))


def _is_mark(cavity: Cavity) -> bool:
    """Whether a cavity is round and small, and so marks a pole rather than being a letter."""
    area = cavity.middle
    if cavity.beside or not isinstance(area, Polygon) or area.interiors:
        return False
    outer_mm = circle_of(area).outer_mm
    around_mm2 = Point(0, 0).buffer(outer_mm / 2).area
    return outer_mm <= _MARK_WIDE * MARK_DIAMETER_MM and area.area > _MARK_ROUND * around_mm2


def _is_hole_of_outline(part: Part, cavity: Cavity) -> bool:
    if part.outline is None:
        return False
    open_mm2 = cavity.middle.difference(part.outline.canonical).area
    return bool(open_mm2 > _HOLE_UNITS2 * part.outline.unit_mm**2)


def _is_recess(cavity: Cavity, thickness_mm: float) -> bool:
    """Whether a cavity is for a magnet rather than a letter: closed in, or deep and round."""
    if not cavity.below and not cavity.above:
        return True
    if cavity.depth_mm < _RECESS_DEPTH * thickness_mm:
        return False
    lowest = cavity.cuts[len(cavity.cuts) // 4][1]
    around_mm2 = Point(0, 0).buffer(circle_of(lowest).outer_mm / 2).area
    return cavity.beside or (isinstance(lowest, Polygon) and lowest.area > _ROUND * around_mm2)


def can_be_turned_over(part: Part, found: Anatomy) -> bool:
    """Whether a part can be played on either face: no recess is open, and both faces are alike.

    Args:
        part: the part.
        found: its anatomy.
    """
    front = any(label.above for label in found.labels)
    back = any(label.below for label in found.labels)
    chamfers = [
        part.shadow.exterior.distance(filled(part.sections.flat(height, facing)).boundary)
        for height, facing in ((0.0, DOWN), (part.thickness_mm, UP))
    ]
    return (
        not any(recess.below or recess.above for recess in found.recesses)
        and front == back
        and abs(chamfers[0] - chamfers[1]) <= _CHAMFERS_ALIKE_MM
    )
