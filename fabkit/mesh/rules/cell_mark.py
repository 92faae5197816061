"""Rules on the marks of cells: that each is on its cell and side, with its look and size."""

from __future__ import annotations

from collections.abc import Iterator

from fabkit.core.errors import join_names
from fabkit.drawing.marks import cells_area
from fabkit.mesh.finding import Finding, check_limits, count_finding
from fabkit.mesh.rules.outline import TOLERANCE_MM, Subject, near
from fabkit.model.piece import CROSS, HOLE, LOOKS


def cell_mark_findings(subject: Subject) -> Iterator[Finding]:
    """Yield all findings on the marks of a part's cells, if its set has any that meshes show."""
    outline, puzzle, profile = subject.part.outline, subject.puzzle, subject.profile
    if outline is None or set(LOOKS).isdisjoint(puzzle.marks.values()):
        return
    wrong = subject.identity.piece_marks.wrong
    what = "cells with a wrong mark"
    if wrong:
        what += f" ({join_names(sorted(set(wrong.values())), 3)})"
    area = cells_area(puzzle.lattice, wrong, outline.unit_mm)
    yield count_finding("cell-mark", len(wrong), 0, what, area)
    marks = subject.identity.marks
    places = [(mark.off_mm, mark.cavity.middle) for mark in marks]
    yield from check_limits("cell-mark-place", places, maximum=TOLERANCE_MM)
    if subject.common.measured:  # its intended sizes are unknown
        return
    engraved = [mark for mark in marks if mark.look != HOLE]
    holes = [mark for mark in marks if mark.look == HOLE]
    for group, width_mm in ((holes, profile.mark_hole_mm), (engraved, profile.mark_width_mm)):
        widths = [(mark.width_mm, mark.cavity.middle) for mark in group]
        what = f"the width of a {group[0].look}" if group else ""
        yield from check_limits("cell-mark-width", widths, *near(width_mm), what=what)
    strokes = [(mark.stroke_mm, mark.cavity.middle) for mark in marks if mark.look == CROSS]
    yield from check_limits("cell-mark-stroke", strokes, *near(profile.mark_stroke_mm))
    depths = [(mark.cavity.depth_mm, mark.cavity.middle) for mark in engraved]
    off_mm = TOLERANCE_MM + 2 * subject.part.sections.noise_mm
    yield from check_limits("cell-mark-depth", depths, *near(profile.mark_depth_mm, off_mm))
