"""Rules on the texts in a tray's floor: which is on which cell, their strokes and their depth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import partial

import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.drawing.magnets import bisect_largest
from fabkit.drawing.outline import SNAP_MM, region_mm
from fabkit.mesh.board_fit import top_heights
from fabkit.mesh.features import without_inlays
from fabkit.mesh.finding import Finding, check_limits
from fabkit.mesh.identity import read_text
from fabkit.mesh.part import Part
from fabkit.mesh.rules.outline import near
from fabkit.mesh.section import polygons_by_size
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.puzzle import Board, Label
from fabkit.profiles.profile import Profile

#: Tolerance in mm of the depth.
_TOLERANCE_MM = 0.02
#: An engraving is at least this deep (mm).
_MIN_DEPTH_MM = 0.05
#: Smaller open areas (mm2) are no strokes.
_LEAST_MM2 = 0.1
#: Width of a strip beside a joint that is no stroke either (mm).
_BESIDE_JOINT_MM = 0.05
#: Regions that differ by this share of their area are equal.
_SAME = 1e-6
#: The maximum number of wrong texts named in a sentence.
_NAMED = 5


def text_findings(part: Part, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """All findings on the texts of a tray that must have some."""
    yield reading_finding(part, lattice)
    part = _open(part)
    upper = _engraved(part, lattice, part.rest_mm - _MIN_DEPTH_MM)
    strokes = polygons_by_size(upper)
    if not strokes:
        return
    places = shapely.get_coordinates(shapely.point_on_surface(strokes))
    depths = part.rest_mm - top_heights(part.aligned, places)
    limits = near(profile.text_depth_mm, _TOLERANCE_MM + 2 * part.sections.noise_mm)
    yield from check_limits("board-text-depth", zip(depths.tolist(), strokes, strict=True), *limits)
    # Strokes of a mesh are chords of curves: slightly narrower. Walls may lean.
    least_mm = round(profile.stroke_mm * 0.98, 3)
    lower = _engraved(part, lattice, part.rest_mm - float(min(depths)) + _MIN_DEPTH_MM / 2)
    widths = [
        (bisect_largest(partial(strokes_are_at_least, area), 0.0, 2 * least_mm), area)
        for area in (upper, lower)
    ]
    yield from check_limits("board-text-stroke", widths, least_mm)


def reading_finding(part: Part, lattice: Lattice) -> Finding:
    """The finding on which text is on which cell of a tray."""
    board = part.board
    assert board is not None
    part = _open(part)
    engraved = _engraved(part, lattice, part.rest_mm - _MIN_DEPTH_MM)
    number = len(board.labels)
    if engraved.is_empty:
        message = f"no text can be read in the floor; expected {number}, each on its cell"
        return Finding("board-texts", False, 0.0, float(number), "", message)
    region = region_mm(lattice, board.cells, part.unit_mm)
    readings = (
        _wrong_texts(_turned(engraved, region, turn), part, board, lattice)
        for turn in _symmetric_turns(region)
    )
    wrong = next(readings)
    for other in readings if wrong else ():
        wrong = min(wrong, other, key=len)
    right = number - len(wrong.keys() & {*board.labels})
    named = list(wrong.values())[:_NAMED]
    named += [f"and {len(wrong) - _NAMED} more"] if len(wrong) > _NAMED else []
    message = f"texts that are right and on their cells: {right}"
    message += f"; expected {number} ({', '.join(named)})" if wrong else ""
    bad_cells = frozenset[Cell]().union(*(label.cells for label in wrong))
    where = region_mm(lattice, bad_cells, part.unit_mm) if bad_cells else None
    return Finding("board-texts", not wrong, float(right), float(number), "", message, where)


def _open(part: Part) -> Part:
    """Return a tray without what fills its texts; parts that join are no smaller bodies in it."""
    return part if part.parts else without_inlays(part)


def _engraved(part: Part, lattice: Lattice, height_mm: float) -> BaseGeometry:
    """Return what is open inside a tray's region at a height below its floor, without slivers."""
    assert part.board is not None
    region = region_mm(lattice, part.board.cells, part.unit_mm)
    engraved = region - part.sections.at(height_mm)
    if part.parts:  # the joints between them go straight through
        engraved -= (region - part.sections.at(part.rest_mm / 4)).buffer(_BESIDE_JOINT_MM)
    areas = polygons_by_size(engraved)
    return shapely.union_all([area for area in areas if area.area > _LEAST_MM2])


def _symmetric_turns(region: BaseGeometry) -> list[int]:
    """Return the quarter turns that leave a region as it is: its texts alone show how it is turned."""
    return [
        turn
        for turn in range(4)
        if _turned(region, region, turn).symmetric_difference(region, grid_size=SNAP_MM).area
        < _SAME * region.area
    ]


def _turned(area: BaseGeometry, region: BaseGeometry, turn: int) -> BaseGeometry:
    """Rotate an area by quarter turns about the middle of a region's box."""
    return affinity.rotate(area, 90 * turn, origin=region.envelope.centroid) if turn else area


def _wrong_texts(
    engraved: BaseGeometry, part: Part, board: Board, lattice: Lattice
) -> Mapping[Label, str]:
    """Return the labels whose cells do not have their text, and what is there instead.

    What is engraved elsewhere is under a label without a text.
    """
    turns = len(lattice.moves(False))
    spellings = [
        list(dict.fromkeys(label.text for label in board.labels)),
        list(dict.fromkeys(label.text.upper() for label in board.labels)),
    ]
    wrong = dict[Label, str]()
    free = engraved
    for label in board.labels:
        cells = region_mm(lattice, label.cells, part.unit_mm)
        free -= cells
        parts = [area for area in polygons_by_size(engraved & cells) if area.area > _LEAST_MM2]
        text = shapely.union_all(parts)
        upright = [read_text(text, texts, 1, (False,)) for texts in spellings]
        if any(read and read.text.casefold() == label.text.casefold() for read in upright):
            continue
        others = (read_text(text, texts, turns) for texts in spellings)
        read = next(filter(None, itertools.chain(upright, others)), None)
        if text.is_empty:
            wrong[label] = f"{label.text} is missing"
        elif read is None:
            wrong[label] = f"what is on the cell of {label.text} cannot be read"
        elif read.mirrored:
            wrong[label] = f"{read.text} on the cell of {label.text} is a mirror image"
        elif read.turns:
            degrees = 360 * read.turns // turns
            wrong[label] = f"{read.text} on the cell of {label.text} is turned by {degrees} deg"
        else:
            wrong[label] = f"{read.text} is on the cell of {label.text}"
    beside = [area for area in polygons_by_size(free) if area.area > _LEAST_MM2]
    if beside:
        wrong[Label("", frozenset())] = "something is engraved on cells without a text"
    return wrong
