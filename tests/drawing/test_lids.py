"""Lids in their seats, on their ways in and out, and their titles, measured on meshes."""

from __future__ import annotations

import math
from typing import Any

import manifold3d
import numpy as np
import pytest
import shapely

from fabkit.drawing.boards.lids import snap_strain
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.mesh.section import UP
from tests.support.trayprints import (
    EXACT_MM,
    LIDDED,
    SLIDING,
    SNAPPING,
    TOUCH_MM3,
    Case,
    ledge,
    made,
    middle,
    overlap,
    region,
    rings,
    turned_over,
)


def closed(case: Case) -> Any:
    """The lid's mesh in its seat: only what a user does with it is done."""
    lid, tray = made(case, lid=True), made(case)
    if "lid.kind=sliding" in case.settings:
        low = ledge(tray)
        return lid.manifold.translate((0, 0, low))
    plate = max(
        height
        for (height, facing), area in lid.sections.flats().items()
        if facing == UP and area > lid.drawn.outline.area / 2
    )
    return turned_over(lid.manifold, middle(case)).translate((0, 0, tray.sections.high + plate))


def out(case: Case, by_mm: float) -> tuple[float, float, float]:
    """The lid's way out: to the front, which is on the left of a board that is wider than deep."""
    left, bottom, right, top = region(case).bounds
    return (-by_mm, 0, 0) if right - left > top - bottom + 1e-6 else (0, -by_mm, 0)


def steps_out(case: Case) -> np.ndarray[Any, Any]:
    left, bottom, right, top = region(case).bounds
    return np.arange(0.0, max(right - left, top - bottom) + 30, 0.5)


@pytest.mark.parametrize("case", LIDDED)
def test_a_closed_lid_leaves_pieces_their_air(case: Case) -> None:
    tray, lid = made(case), closed(case)
    pieces_top = tray.drawn.rest_mm + case.profile.thickness_mm
    inside = rings(region(case).buffer(-2))[0][:-1]
    pieces = manifold3d.CrossSection([inside]).extrude(50).translate((0, 0, pieces_top))
    above = (lid ^ pieces).bounding_box()[2] - pieces_top
    assert (
        case.profile.lid_air_mm - 1e-4
        <= above
        < case.profile.lid_air_mm + 2 * case.profile.layer_mm
    )
    assert overlap(lid, tray.manifold) <= TOUCH_MM3


@pytest.mark.every(2)
@pytest.mark.parametrize("case", SLIDING)
def test_a_sliding_lid_slides_and_holds(case: Case) -> None:
    # A title would not meet anything; without it the lid is a hundred times as quick.
    case = case.with_("board.title=0 mm")
    tray, lid = made(case).manifold, closed(case)
    for by in steps_out(case):
        assert overlap(lid, tray, out(case, float(by))) <= TOUCH_MM3, by
    clearance = case.profile.lid_clearance_mm
    x, y, _ = out(case, 1.0)
    sideways = (-y, x)
    for sign in (1, -1):
        aside = (sign * sideways[0], sign * sideways[1])
        assert (
            overlap(lid, tray, (0.95 * clearance * aside[0], 0.95 * clearance * aside[1], 0))
            <= TOUCH_MM3
        )
        assert (
            overlap(lid, tray, (1.2 * clearance * aside[0], 1.2 * clearance * aside[1], 0))
            > TOUCH_MM3
        )
    assert overlap(lid, tray, out(case, -1.2 * clearance)) > TOUCH_MM3
    # Lifted, its leaning edges meet those of the walls: root 2 times the clearance further up.
    assert overlap(lid, tray, (0, 0, 0.95 * clearance * math.sqrt(2))) <= TOUCH_MM3
    for lifted in (1.1 * clearance * math.sqrt(2), 1.0, 2.0):
        for by in (0.0, 5.0):
            x, y, _ = out(case, by)
            assert overlap(lid, tray, (x, y, lifted)) > TOUCH_MM3


@pytest.mark.parametrize("case", SLIDING)
def test_a_sliding_lid_has_its_clearance_at_right_angles(case: Case) -> None:
    lid, tray = made(case, lid=True), made(case)
    high = lid.sections.high
    for part in (0.5, 0.75):
        walls = tray.at(ledge(tray) + part * high)
        sideways = walls.distance(lid.at(part * high))
        assert sideways / math.sqrt(2) == pytest.approx(case.profile.lid_clearance_mm, abs=EXACT_MM)


@pytest.mark.parametrize("case", SNAPPING)
def test_a_snapping_lid_bends_no_further_than_it_should(case: Case) -> None:
    tray, lid, profile = made(case).manifold, closed(case), case.profile
    low = tray.bounding_box()[2]
    assert lid.bounding_box()[2] > low + 0.3, "it stands on the frame, not on its tongues"
    bites = []
    for up in np.arange(0.0, profile.tongue_mm + 3, 0.5):
        bite = lid.translate((0, 0, float(up))) ^ tray
        if bite.volume() <= TOUCH_MM3:
            bites.append(0.0)
            continue
        outer = tray.bounding_box()
        bites.append(max(_depth(part, outer) for part in bite.decompose()))
    assert bites[0] == bites[-1] == 0.0
    assert max(bites) == pytest.approx(profile.snap_mm, abs=EXACT_MM)
    up = (0.0, 0.0, 3 * profile.lid_clearance_mm)
    assert overlap(lid, tray, up) > TOUCH_MM3, "it catches"
    assert snap_strain(profile) <= 0.02


def _depth(part: Any, outer: Any) -> float:
    """How deep a bite of a hook goes into the frame's nearest outer face."""
    x0, y0, _, x1, y1, _ = part.bounding_box()
    left, front, _, right, back, _ = outer
    return min(x1 - left, right - x0, y1 - front, back - y0)


@pytest.mark.parametrize("case", LIDDED)
def test_titles_are_wide_enough_and_right_way_round(case: Case) -> None:
    lid = made(case, lid=True)
    label = lid.drawn.label
    assert label is not None
    height = lid.drawn.label_low_mm + label.depth_mm / 2
    letters = lid.drawn.outline.difference(lid.at(height)) & label.front.polygon().envelope
    assert letters.symmetric_difference(label.front.polygon()).area < 0.02 * letters.area
    assert strokes_are_at_least(letters, 0.95 * case.profile.stroke_mm)
    reads = letters
    if "snap" in str(case):  # it is read when the lid lies as it is used
        reads = shapely.affinity.scale(letters, xfact=-1)
    first = max(shapely.get_parts(reads), key=lambda one: -one.bounds[0])
    # All these titles begin with I, C or F: the first letter has more on its left.
    left, _, right, _ = first.bounds
    assert first.centroid.x <= (left + right) / 2 + 1e-3
