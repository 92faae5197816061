"""Trays and lids, measured on the meshes of their files."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from shapely import LineString, Point, Polygon

from fabkit.drawing.boards.frame import block
from fabkit.drawing.boards.steps import section_at
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.anatomy import Anatomy
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.mesh.section import DOWN, UP, filled
from fabkit.model.profilefile import load_profile
from tests.support.trayprints import (
    EXACT_MM,
    TOUCH_MM3,
    TRAYS,
    Case,
    above_floor,
    draft,
    gaps_mm,
    ledge,
    made,
    overlap,
    region,
    rings,
)


@pytest.mark.parametrize("case", TRAYS)
def test_the_opening_is_the_region_and_its_clearance(case: Case) -> None:
    found = gaps_mm(made(case), case)
    assert len(found) > 50
    clearance = case.profile.board_clearance_mm
    assert min(found) == pytest.approx(clearance, abs=EXACT_MM)
    assert max(found) == pytest.approx(clearance, abs=EXACT_MM)


@pytest.mark.parametrize("case", TRAYS)
def test_sharp_corners_go_in(case: Case) -> None:
    tray, area = made(case), region(case)
    walls, relief = tray.at(above_floor(tray)), case.profile.relief_mm
    sharp = 0
    for ring in rings(area):
        for before, here, after in zip(np.roll(ring[:-1], 1, 0), ring[:-1], ring[1:], strict=True):
            (ax, ay), (bx, by) = here - before, after - here
            if ax * by - ay * bx > 1e-6:  # a corner that pieces fill
                sharp += 1
                assert walls.distance(Point(here)) > min(relief, case.profile.board_clearance_mm)
                bisector = -(
                    np.array([bx, by]) / math.hypot(bx, by)
                    - np.array([ax, ay]) / math.hypot(ax, ay)
                )
                bisector /= np.linalg.norm(bisector)
                ray = LineString([here, here + 9 * bisector]).intersection(walls)
                assert Point(here).distance(ray) == pytest.approx(relief, abs=0.02)
    assert sharp >= 4


@pytest.mark.parametrize("case", TRAYS)
def test_the_floor_is_whole_and_as_thick_as_it_should_be(case: Case) -> None:
    tray = made(case)
    flats = tray.sections.flats()
    assert tray.body.vertices[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    (rest,) = [
        height
        for (height, facing), area in flats.items()
        if facing == UP and area > 0.9 * region(case).area and height > 0
    ][:1]
    assert rest == pytest.approx(tray.drawn.rest_mm, abs=1e-4)
    if "snap" not in str(case):
        assert rest == pytest.approx(case.profile.board_floor_mm, abs=1e-4)
    assert rest >= case.profile.board_floor_mm - 1e-4
    assert flats[0.0, DOWN] == pytest.approx(tray.drawn.outline.area, rel=1e-6)


@pytest.mark.parametrize("case", TRAYS)
def test_walls_and_pillars_are_thick_enough(case: Case) -> None:
    tray, profile = made(case), case.profile
    walls = tray.at(above_floor(tray))
    assert walls.geom_type in ("Polygon", "MultiPolygon")
    assert strokes_are_at_least(walls, 2 * profile.nozzle_mm)
    outside = filled(walls)
    assert outside.area == pytest.approx(outside.envelope.area, rel=1e-6)
    opening = shapely.union_all([Polygon(r) for p in shapely.get_parts(walls) for r in p.interiors])
    for ring in shapely.get_parts(outside.boundary):
        assert ring.distance(opening) >= profile.board_wall_mm - EXACT_MM
    top = tray.sections.high
    for height in np.arange(tray.drawn.rest_mm + 0.05, top, 0.4):
        assert strokes_are_at_least(tray.at(float(height)), 0.4), height


@pytest.mark.every(3)
@pytest.mark.parametrize("lid", [False, True])
@pytest.mark.parametrize("case", TRAYS)
def test_meshes_are_sound_and_can_be_printed(case: Case, lid: bool) -> None:
    if lid and "lid.kind=none" in case.settings:
        return
    one = made(case, lid)
    findings = list(sound_findings(one.part, Anatomy((), (), (), (), ()), case.profile))
    findings += printing_findings(one.part, replace(case.profile, facing="up"))
    assert [found.message for found in findings if not found.ok] == []
    title = one.drawn.label
    letters = title.front.polygon().area * title.depth_mm if title else 0.0
    assert one.part.volume_mm3 == pytest.approx(one.drawn.solid_mm3 - letters, rel=1e-3)
    assert one.part.size_mm[2] == pytest.approx(one.drawn.thickness_mm, abs=1e-4)


# --- what is refused, and what the tests above would notice ---------------------------------


CUBI = Case("cubimagici", (), ("lid.kind=sliding",))


def test_a_tighter_opening_would_be_noticed() -> None:
    tight = made(CUBI.with_("board.clearance=0.15 mm"))
    assert max(gaps_mm(tight, CUBI)) < CUBI.profile.board_clearance_mm - EXACT_MM


def test_a_wider_lid_would_be_noticed() -> None:
    wide = made(CUBI.with_("lid.clearance=0 mm"), lid=True), made(CUBI)
    low = ledge(wide[1])
    assert overlap(wide[0].manifold, wide[1].manifold, (0, 0, low)) <= TOUCH_MM3
    wide = made(CUBI.with_("board.relief=1.4 mm"), lid=True), made(CUBI)
    assert overlap(wide[0].manifold, wide[1].manifold, (0, 0, low)) > 1


def test_without_relief_a_corner_is_only_as_free_as_an_edge() -> None:
    sharp = made(CUBI.with_("board.relief=0 mm"))
    corner = Point(region(CUBI).bounds[:2])
    walls = sharp.at(above_floor(sharp))
    assert walls.distance(corner) == pytest.approx(CUBI.profile.board_clearance_mm, abs=EXACT_MM)


def test_the_frame_opens_to_the_front_only() -> None:
    tray = made(CUBI)
    walls = tray.at(tray.sections.high - 0.1)
    left, bottom, right, _ = walls.bounds
    assert walls.geom_type == "Polygon"
    assert not walls.interiors
    front = shapely.box(left + 10, bottom, right - 10, bottom + 30)
    assert (walls & front).area == 0
    # The notch for a finger is as wide as the profile says, and a sill remains below it.
    notched = tray.at(tray.drawn.rest_mm + 2)
    strip = LineString([(left, bottom + 1), (right, bottom + 1)]).difference(notched)
    assert strip.length == pytest.approx(CUBI.profile.notch_mm, abs=EXACT_MM)
    assert strip.centroid.x == pytest.approx(region(CUBI).centroid.x)
    assert tray.at(above_floor(tray)).intersection(strip).length == pytest.approx(strip.length)


def test_no_notch() -> None:
    tray = made(CUBI.with_("board.notch=0 mm"))
    assert len(tray.at(tray.drawn.rest_mm + 4).interiors) == 1


@pytest.mark.parametrize(
    ("settings", "lid", "words"),
    [
        (
            ["lid.kind=snap", "lid.tongue=6 mm"],
            False,
            "3.3% when .*, and 2% is the most; .* 7.8 mm",
        ),
        (["lid.kind=snap", "lid.snap=0.8 mm"], True, "choose a lid.tongue of 9.8 mm or more"),
        (["lid.thickness=1.2 mm"], False, "choose a lid.thickness of 2 mm or more"),
        (["lid.clearance=1 mm"], False, "or a smaller lid.clearance"),
        (["printer.overhang=40 deg"], False, "the grooves of a sliding lid overhang by 45 deg"),
        (["lid.kind=snap", "printer.overhang=40 deg"], True, "the hooks of a snapping lid"),
        (["board.relief=0.3 mm"], False, "does not reach the corners .* choose 0.4 mm or more"),
        (["board.title_depth=1.8 mm"], True, "choose a smaller board.title_depth"),
    ],
)
def test_bad_numbers_are_refused(settings: list[str], lid: bool, words: str) -> None:
    with pytest.raises(BlueprintError, match=words):
        draft(Case("cubimagici", (), tuple(settings)), lid)


def test_what_a_refusal_proposes_is_taken() -> None:
    draft(CUBI.with_("lid.thickness=2 mm"))
    draft(CUBI.with_("board.relief=0.4 mm"))
    draft(Case("cubimagici", (), ("lid.kind=snap", "lid.tongue=7.8 mm")))
    draft(Case("cubimagici", (), ("lid.kind=snap", "lid.snap=0.8 mm", "lid.tongue=9.8 mm")), True)


def test_pillars_that_are_too_thin_are_refused() -> None:
    ring = shapely.box(0, 0, 60, 60) - shapely.box(30, 30, 31.2, 50)
    with pytest.raises(BlueprintError, match=r"thinner than 0\.8 mm"):
        block(ring, 2.0, 9.0, load_profile(), relieved=True)
    thick = shapely.box(0, 0, 60, 60) - shapely.box(30, 30, 31.4, 50)
    made_of = block(thick, 2.0, 9.0, load_profile(), relieved=True)
    pillar = section_at(made_of.steps, 6.0) & shapely.box(20, 20, 40, 55)
    assert pillar.area == pytest.approx((1.4 - 0.5) * (20 - 0.5), rel=1e-6)


def test_a_region_in_parts_that_meet_in_a_point() -> None:
    two = shapely.union_all([shapely.box(0, 0, 20, 20), shapely.box(20, 20, 40, 40)])
    made_of = block(two, 2.0, 9.0, load_profile(), relieved=True)
    assert section_at(made_of.steps, 3.0).covers(Point(10, 30))
    assert not section_at(made_of.steps, 3.0).covers(Point(20, 20))


def test_titles_shrink_break_and_give_way() -> None:
    case = Case("cubimagici", (), ("lid.kind=sliding",))
    puzzle = case.puzzle
    from fabkit.drawing.label import place_title

    def texts(title: str, *room: float) -> tuple[str, float] | None:
        label = place_title(replace(puzzle, title=title), shapely.box(*room), case.profile)
        return label and (label.text, label.cap_height_mm)

    assert texts("Cubi magici", 0, 0, 100, 40) == ("Cubi magici", 6.9)
    narrow = texts("Cubi magici", 0, 0, 45, 40)
    assert narrow is not None
    assert narrow[0] == "Cubi magici"
    assert texts("\u7acb\u65b9", 0, 0, 100, 40) == ("cubimagici", 6.9)
    assert texts("A very long title indeed of a small set", 0, 0, 60, 14) == ("cubimagici", 6.9)
    assert texts("Cubi magici", 0, 0, 12, 12) is None
    assert draft(case.with_("board.title=0 mm"), lid=True).label is None
