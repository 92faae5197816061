"""Rules on the letter: its depth, strokes, islands, size and orientation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from shapely import Polygon, maximum_inscribed_circle, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.draft import draft_flat_piece
from fabkit.drawing.glyphs import lettering, strokes_are_at_least
from fabkit.drawing.magnets import bisect_largest
from fabkit.drawing.outline import DrawingError
from fabkit.mesh.features import Cavity
from fabkit.mesh.finding import Finding, check_limits
from fabkit.mesh.part import inside_mm
from fabkit.mesh.rules.outline import TOLERANCE_MM, Subject, near
from fabkit.mesh.rules.recess import letter_turns, turns_of
from fabkit.mesh.section import DOWN, UP, polygons_by_size


def label_findings(subject: Subject) -> Iterator[Finding]:
    """Yield all findings on the engraving of a part."""
    part, profile = subject.part, subject.profile
    labels: list[Cavity] = []
    areas: list[BaseGeometry] = []
    for side, attribute, is_due in (
        ("face", "above", profile.faces != "none"),
        ("back", "below", profile.faces == "both"),
    ):
        side_labels = [label for label in subject.features.labels if getattr(label, attribute)]
        if side_labels or is_due:
            ok = bool(side_labels) == is_due
            message = f"there is {'a' if side_labels else 'no'} letter on the {side}"
            message += "" if ok else f"; the profile requires {'one' if is_due else 'none'}"
            yield Finding(f"label-{side}", ok, float(bool(side_labels)), float(is_due), "", message)
        if side_labels and is_due:
            labels += side_labels
            areas.append(union_all([label.middle for label in side_labels]))
    depths = [(label.depth_mm, label.middle) for label in labels]
    off_mm = TOLERANCE_MM + 2 * part.sections.noise_mm  # at both ends
    yield from check_limits("label-depth", depths, *near(profile.label_depth_mm, off_mm))
    # Strokes of a mesh are chords of curves: slightly narrower.
    least_mm = round(profile.stroke_mm * 0.98, 3)
    strokes = (partial(strokes_are_at_least, area) for area in areas)
    widths = [bisect_largest(stroke, 0.0, 2 * least_mm) for stroke in strokes]
    yield from check_limits("label-stroke", zip(widths, areas, strict=True), least_mm)
    islands = [
        (2 * maximum_inscribed_circle(Polygon(ring)).length, area)
        for area in areas
        for shape in polygons_by_size(area)
        for ring in shape.interiors
    ]
    yield from check_limits("label-island", islands, profile.nozzle_mm)
    # The distance of the letter from the edges of the flat face in which it is engraved.
    margins = []
    for label in labels:
        flat = part.sections.flat(*((part.thickness_mm, UP) if label.above else (0.0, DOWN)))
        margins.append((max(0.0, inside_mm(label.middle, part.filled(flat))), label.middle))
    yield from check_limits("label-margin", margins, near(profile.label_margin_mm)[0])
    if labels and labels[0].above and not subject.common.measured:
        yield from _as_drawn(subject, areas[0])


def _as_drawn(subject: Subject, area: BaseGeometry) -> Iterator[Finding]:
    """Yield findings on the letter's size and orientation, compared with its drawing."""
    letter, puzzle = subject.identity.letter, subject.puzzle
    if letter is None or subject.identity.piece is None:
        return
    piece = puzzle.piece(subject.identity.piece)
    try:
        # Magnets do not move letters, except for their push-out holes.
        fit = subject.profile.fit if subject.profile.release_mm else "none"
        label = draft_flat_piece(puzzle, piece, replace(subject.profile, fit=fit)).label
    except DrawingError:
        return
    if label is not None:
        drawn_mm2 = lettering(letter.text).polygon().area  # of capitals 1 mm high
        limit = [round(share * label.cap_height_mm, 2) for share in (0.75, 1.25)]
        yield from check_limits("label-size", [(math.sqrt(area.area / drawn_mm2), area)], *limit)
    if subject.identity.as_drawn and not letter.mirrored:
        moves = len(puzzle.lattice.moves(False))
        read, expected = letter_turns(letter, moves), turns_of(subject, piece)
        off = min(min((a - b) % moves, (b - a) % moves) for a in read for b in expected)
        yield from check_limits("label-turn", [(360 * off / moves, area)], maximum=0.0, unit="deg")
