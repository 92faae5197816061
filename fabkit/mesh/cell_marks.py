"""Marks of cells on a scanned part: found among its features, compared with its piece's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import shapely
from shapely import Point, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.marks import cross_area, mark_places
from fabkit.drawing.outline import PointMm
from fabkit.mesh.features import Cavity, Features, fit_circle
from fabkit.mesh.part import Outline, Part
from fabkit.model.lattice import Cell
from fabkit.model.piece import CROSS, DOT, HOLE, LOOKS, Marks, Piece, moves_onto
from fabkit.model.puzzle import PuzzleSet

#: Narrower cavities (mm) are marks of poles, or dots of letters.
_LEAST_MM = 1.8
#: A cavity is a mark if its middle is this near to that of a cell, in grid units.
_NEAR = 0.15
#: A round cavity fills this share of its bounding circle.
_ROUND = 0.9
#: A cross overlaps the exact one of its size by this share of both.
_ALIKE = 0.85


@dataclass(frozen=True, eq=False)
class ScannedMark:
    """A mark on a cell of a part.

    Attributes:
        look: ``hole``, ``cross`` or ``dot``.
        cells: the cell; several where a square has several cells.
        off_mm: its distance from the middle of the cell.
        width_mm: its diameter, or the length of the bars of a cross.
        stroke_mm: the width of these bars.
    """

    look: str
    cells: frozenset[Cell]
    cavity: Cavity
    off_mm: float
    width_mm: float
    stroke_mm: float


@dataclass(frozen=True)
class PieceMarks:
    """The marks of a part as those of a piece: letters of the set by cell.

    Attributes:
        front: as read, and colours, which a mesh does not show, as drawn.
        back: the same for the back.
        wrong: cells where they are not as drawn, and how.
    """

    front: Marks = ()
    back: Marks = ()
    wrong: Mapping[Cell, str] = field(default_factory=dict)


def separate_marks(
    part: Part, features: Features, puzzle: PuzzleSet
) -> tuple[Features, tuple[ScannedMark, ...]]:
    """Return a part's features without the marks of cells, and these; none if its set has none."""
    if part.outline is None or set(LOOKS).isdisjoint(puzzle.marks.values()):
        return features, ()
    centres = mark_places(puzzle.lattice, part.outline.cells, part.outline.unit_mm)
    marks = list[ScannedMark]()
    cavities: dict[str, Any] = {}
    for kind in ("through", "labels", "hollows", "marks"):
        read = [
            (cavity, _read(cavity, centres, part.outline)) for cavity in getattr(features, kind)
        ]
        marks += [mark for _, mark in read if mark]
        cavities[kind] = [cavity for cavity, mark in read if not mark]
    return replace(features, **cavities), tuple(marks)


def _read(
    cavity: Cavity, places: Mapping[PointMm, frozenset[Cell]], outline: Outline
) -> ScannedMark | None:
    """Return a cavity as the mark of the cell it is on, if it is one."""
    area = cavity.middle
    radius_mm = float(shapely.minimum_bounding_radius(area))
    if area.geom_type != "Polygon" or 2 * radius_mm < _LEAST_MM:
        return None
    look = HOLE if cavity.below and cavity.above else DOT
    circle = fit_circle(area)
    middle = Point(circle.x_mm, circle.y_mm)
    width_mm, stroke_mm = circle.diameter_mm, 0.0
    if area.area < _ROUND * math.pi * radius_mm**2:
        # The largest disc in a cross touches the corners between its bars, its circle their ends.
        stroke_mm = math.sqrt(2) * float(shapely.maximum_inscribed_circle(area, 1e-3).length)
        width_mm = math.sqrt(max(0.0, 4 * radius_mm**2 - stroke_mm**2))
        look, middle = CROSS, area.centroid
        if (cavity.below and cavity.above) or not _is_cross(area, width_mm, stroke_mm):
            return None
    off_mm, centre = min((middle.distance(Point(centre)), centre) for centre in places)
    if off_mm > _NEAR * outline.unit_mm:
        return None
    return ScannedMark(look, places[centre], cavity, off_mm, width_mm, stroke_mm)


def _is_cross(area: BaseGeometry, width_mm: float, stroke_mm: float) -> bool:
    """Return whether an area is a cross, turned as it may be on a turned piece."""
    cross = cross_area((area.centroid.x, area.centroid.y), width_mm, stroke_mm)
    return width_mm > 2 * stroke_mm and any(
        area.intersection(turned).area > _ALIKE * area.union(turned).area
        for turned in (cross, affinity.rotate(cross, 30))
    )


def compare_marks(
    marks: Iterable[ScannedMark], outline: Outline, piece: Piece, puzzle: PuzzleSet
) -> PieceMarks:
    """Compare the marks of a part with those of its piece, turned so that the fewest differ."""
    letters = {look: letter for letter, look in puzzle.marks.items()}
    front, back = dict[Cell, str](), dict[Cell, str]()
    for mark in marks:
        of_mark = dict.fromkeys(mark.cells, letters.get(mark.look, mark.look))
        front |= of_mark if mark.cavity.above else {}
        back |= of_mark if mark.cavity.below else {}
    candidates = []
    for move, (dx, dy) in moves_onto(puzzle.lattice, piece.forms[0].cells, outline.cells):
        if move.flipped:
            continue
        drawn = [
            {(x + dx, y + dy): mark for (x, y), mark in ((move(c), mark) for c, mark in side)}
            for side in (piece.marks, piece.back)
        ]
        wrong = _differences(puzzle, front, drawn[0])
        for cell, text in _differences(puzzle, back, drawn[1]).items():
            if wrong.get(cell) != text:  # a hole is on both sides
                before = f"{wrong[cell]}, " if cell in wrong else ""
                wrong[cell] = f"{before}{text} on the back"
        sides = [
            {cell: mark for cell, mark in side.items() if puzzle.marks[mark] not in LOOKS} | read
            for side, read in zip(drawn, (front, back), strict=True)
        ]
        candidates.append(PieceMarks(_sorted(sides[0]), _sorted(sides[1]), wrong))
    as_read = PieceMarks(_sorted(front), _sorted(back))
    return min(candidates, key=lambda compared: len(compared.wrong), default=as_read)


def _sorted(marks: Mapping[Cell, str]) -> Marks:
    return tuple(sorted(marks.items()))


def _differences(
    puzzle: PuzzleSet, read: Mapping[Cell, str], marks_drawn: Mapping[Cell, str]
) -> dict[Cell, str]:
    """Return how marks differ from those drawn on one side, by cell; colours do not show."""

    def look(marks: Mapping[Cell, str], cell: Cell) -> str:
        shown = puzzle.marks.get(marks.get(cell, ""), marks.get(cell, ""))
        return f"a {shown}" if shown in LOOKS else "no mark"

    return {
        cell: f"{look(read, cell)} instead of {look(marks_drawn, cell)}"
        for cell in sorted({*read, *marks_drawn})
        if look(read, cell) != look(marks_drawn, cell)
    }
