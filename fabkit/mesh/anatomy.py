"""A part's anatomy: which of its cavities are recesses, letters, holes of the outline, or faults."""

from __future__ import annotations

from dataclasses import dataclass

from shapely import Point, Polygon

from fabkit.mesh.cavities import Cavity, Slice, cavities, circle_of, slices
from fabkit.mesh.part import Part
from fabkit.mesh.section import DOWN, UP, filled

#: A hole that goes through is part of the outline when it opens this part of a square unit.
_HOLE_UNITS2 = 0.1
#: A recess is deeper than this part of the thickness, a letter less.
_RECESS_DEPTH = 0.25
#: … and fills this part of the circle around it, ribs taken off.
_ROUND = 0.6
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
    """

    cuts: tuple[Slice, ...]
    recesses: tuple[Cavity, ...]
    labels: tuple[Cavity, ...]
    through: tuple[Cavity, ...]


def anatomy(part: Part) -> Anatomy:
    """Tells a part's recesses, letters and holes apart.

    Args:
        part: the part.

    Returns:
        Each of its cavities in its place, but for the holes of its outline.
    """
    cuts = slices(part)
    recesses, labels, through = [], [], []
    for cavity in cavities(part, cuts):
        if cavity.below and cavity.above and not cavity.beside:
            if not _is_hole_of_outline(part, cavity):
                through.append(cavity)
        elif _is_recess(cavity, part.thickness_mm):
            recesses.append(cavity)
        else:
            labels.append(cavity)
    return Anatomy(tuple(cuts), tuple(recesses), tuple(labels), tuple(through))


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
