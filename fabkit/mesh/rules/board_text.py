"""Rules on the texts in a tray's floor: which is on which cell, their strokes and their depth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.drawing.magnets import bisect_largest
from fabkit.drawing.outline import region_mm
from fabkit.mesh.board_fit import top_heights
from fabkit.mesh.features import without_inlays
from fabkit.mesh.finding import Finding, check_limits
from fabkit.mesh.identity import read_text
from fabkit.mesh.part import Part
from fabkit.mesh.rules.outline import near
from fabkit.mesh.section import polygons_by_size
from fabkit.model.lattice import Lattice
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Board, Label

#: Tolerance in mm of the depth.
_TOLERANCE_MM = 0.02
#: An engraving is at least this deep (mm).
_MIN_DEPTH_MM = 0.05
#: Smaller open areas (mm2) are no strokes.
_LEAST_MM2 = 0.1
#: Regions that differ by this share of their area are equal.
_SAME = 1e-6
#: The maximum number of wrong texts named in a sentence.
_NAMED = 5


def text_findings(
    part: Part, board: Board, lattice: Lattice, profile: Profile
) -> Iterator[Finding]:
    """All findings on the texts of a fitted tray, each of which the profile requires on its cells."""
    part = without_inlays(part)
    region = region_mm(lattice, board.cells, part.unit_mm)
    upper = region - part.sections.at(part.rest_mm - _MIN_DEPTH_MM)
    strokes = [area for area in polygons_by_size(upper) if area.area > _LEAST_MM2]
    places = np.array([area.representative_point().coords[0] for area in strokes]).reshape(-1, 2)
    depths = part.rest_mm - top_heights(part.aligned, places)
    if not strokes:
        number = len(board.labels)
        message = f"no text can be read in the floor; expected {number}, each on its cell"
        yield Finding("board-texts", False, 0.0, float(number), "", message)
        return
    turns = _symmetric_turns(region)
    readings = (_wrong_texts(_turned(upper, region, turn), part, board, lattice) for turn in turns)
    wrong = next(readings)
    for other in readings if wrong else ():
        wrong = min(wrong, other, key=len)
    right = len(board.labels) - len(wrong.keys() & {*board.labels})
    named = list(wrong.values())[:_NAMED]
    named += [f"and {len(wrong) - _NAMED} more"] if len(wrong) > _NAMED else []
    message = f"texts that are right and on their cells: {right}"
    message += f"; expected {len(board.labels)} ({', '.join(named)})" if wrong else ""
    bad_cells = frozenset[tuple[int, int]]().union(*(label.cells for label in wrong))
    where = region_mm(lattice, bad_cells, part.unit_mm) if bad_cells else None
    expected = float(len(board.labels))
    yield Finding("board-texts", not wrong, float(right), expected, "", message, where)
    off_mm = _TOLERANCE_MM + 2 * part.sections.noise_mm
    limits = near(profile.text_depth_mm, off_mm)
    yield from check_limits("board-text-depth", zip(depths.tolist(), strokes, strict=True), *limits)
    # Strokes of a mesh are chords of curves: slightly narrower. Walls may lean.
    least_mm = round(profile.stroke_mm * 0.98, 3)
    lower = region - part.sections.at(part.rest_mm - float(min(depths)) + _MIN_DEPTH_MM / 2)
    widths = []
    for area in (upper, lower):
        letters = shapely.union_all([x for x in polygons_by_size(area) if x.area > _LEAST_MM2])
        width_mm = bisect_largest(partial(strokes_are_at_least, letters), 0.0, 2 * least_mm)
        widths.append((width_mm, letters))
    yield from check_limits("board-text-stroke", widths, least_mm)


def _symmetric_turns(region: BaseGeometry) -> list[int]:
    """Return the quarter turns that leave a region as it is: its texts alone show how it is turned."""
    return [
        turn
        for turn in range(4)
        if _turned(region, region, turn).symmetric_difference(region).area < _SAME * region.area
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
