"""Boards with holes for balls and with seats for stubs, trays and lids, measured on their meshes."""

from __future__ import annotations

import itertools
import math
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import manifold3d
import numpy as np
import pytest
import shapely
import trimesh
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.draft import draft_board
from fabkit.drawing.boards.frame import block
from fabkit.drawing.boards.lids import snap_strain
from fabkit.drawing.boards.steps import BoardBlueprint, section_at
from fabkit.drawing.draft import draft as draft_flat
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.drawing.label import place_title
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.anatomy import Anatomy
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.mesh.section import DOWN, UP, Sections, filled
from fabkit.model.accessory import Accessory, accessories
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import Board
from fabkit.solid.boards import build_board
from fabkit.solid.export import write_stl
from fabkit.solid.pieces import Workshop
from tests.support import analytic, measure
from tests.support.trayprints import (
    EXACT_MM,
    LIDDED,
    SLIDING,
    SNAPPING,
    TOUCH_MM3,
    TRAYS,
    Case,
    above_floor,
    draft,
    gaps_mm,
    ledge,
    made,
    middle,
    overlap,
    region,
    rings,
    turned_over,
)

FIT, STARS = load_set("iqfit"), load_set("iqstars")
PRESETS = ("default", pytest.param("compact", marks=pytest.mark.long))
#: A board of whole squares with a hole, a notch, and an arm one cell wide.
ODD = ["#####", "#.###", "###..", "#####", "....#"]


def fit_profile(preset: str, *settings: str) -> Profile:
    return load_profile([] if preset == "default" else [preset], settings, FIT.unit_mm)


def stars_profile(preset: str, *settings: str) -> Profile:
    return load_profile([preset], settings)


def holes_board(profile: Profile, cells: frozenset[Cell] | None = None) -> BoardBlueprint:
    board = FIT.boards[0] if cells is None else Board("odd", cells)
    return draft_board(FIT, Accessory(board.id, "holes", board, "#ffffff"), profile)


def seats_board(profile: Profile) -> BoardBlueprint:
    return draft_board(STARS, accessories(STARS, profile)[0], profile)


def cells_of(picture: list[str]) -> frozenset[Cell]:
    square = LATTICES["square"]
    return frozenset(
        cell
        for row, line in enumerate(picture)
        for col, mark in enumerate(line)
        if mark == "#"
        for cell in square.cells_at(row, col)
    )


def mesh_of(blueprint: BoardBlueprint, folder: Path) -> trimesh.Trimesh:
    path = folder / f"{blueprint.piece}.stl"
    write_stl(build_board(blueprint), path)
    return measure.read_mesh(path)


@cache
def built(kind: str, preset: str) -> trimesh.Trimesh:
    blueprint = (
        holes_board(fit_profile(preset), cells_of(["####"] * 3))
        if kind == "holes"
        else seats_board(stars_profile(preset))
    )
    with tempfile.TemporaryDirectory() as folder:
        return mesh_of(blueprint, Path(folder))


@cache
def sections(mesh: trimesh.Trimesh) -> Sections:
    return Sections(np.asarray(mesh.vertices), np.asarray(mesh.faces))


def cut_at(mesh: trimesh.Trimesh, height_mm: float) -> BaseGeometry:
    return sections(mesh).at(height_mm)


def flat_at(mesh: trimesh.Trimesh, height_mm: float, facing: int) -> BaseGeometry:
    return sections(mesh).flat(height_mm, facing)


def check_whole(mesh: trimesh.Trimesh) -> None:
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.body_count == 1


def squares(rows: int, columns: int, unit_mm: float) -> list[tuple[float, float]]:
    """The middles of a rectangle's cells, rows downwards from the origin."""
    return [
        ((col + 0.5) * unit_mm, -(row + 0.5) * unit_mm)
        for row in range(rows)
        for col in range(columns)
    ]


def stars(unit_mm: float) -> list[tuple[float, float]]:
    """The middles of the cells of rows of 7, 6, 7, 6."""
    return [
        ((col + (row % 2) / 2) * unit_mm, -row * math.sqrt(0.75) * unit_mm)
        for row, length in enumerate((7, 6, 7, 6))
        for col in range(length)
    ]


def circles_at(area: BaseGeometry) -> list[measure.Circle]:
    """The round holes of a section."""
    found = [measure.fit_circle(hole.exterior.coords) for hole in measure.holes(area)]
    return [one for one in found if one.off_mm < 0.01]


def check_circles(
    found: list[measure.Circle], middles: list[tuple[float, float]], diameter_mm: float
) -> None:
    """One circle of that size at every place, and no other."""
    assert len(found) == len(middles)
    for x, y in middles:
        (here,) = [one for one in found if math.dist((one.x_mm, one.y_mm), (x, y)) < 0.01]
        assert here.diameter_mm == pytest.approx(diameter_mm, abs=0.01)


# --- holes ----------------------------------------------------------------------------------


def equator_mm(profile: Profile) -> float:
    return analytic.layer_top_mm(profile, profile.unit_mm + profile.ball_mm / 2 + 1)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_bore_goes_through_at_every_cell(preset: str) -> None:
    profile, mesh = fit_profile(preset), built("holes", preset)
    middles = squares(3, 4, profile.unit_mm)
    floor_mm = equator_mm(profile) - profile.link_mm / 2
    check_whole(mesh)
    for height_mm in (0.013, floor_mm / 2, floor_mm - 0.013):
        check_circles(circles_at(cut_at(mesh, height_mm)), middles, profile.hole_mm)
    # A ball one pitch down stays above the table.
    assert equator_mm(profile) - profile.unit_mm - profile.ball_mm / 2 >= 1 - 1e-9
    # Another size or place would be noticed.
    found = circles_at(cut_at(mesh, 5.01))
    for places, hole_mm in (
        (middles, profile.hole_mm - 0.3),
        ([(middles[0][0] + 0.02, middles[0][1]), *middles[1:]], profile.hole_mm),
    ):
        with pytest.raises((AssertionError, ValueError)):
            check_circles(found, places, hole_mm)


@pytest.mark.parametrize("preset", PRESETS)
def test_channels_run_between_neighbouring_cells(preset: str) -> None:
    """Seen from above, what lies lower than the posts and is no bore are the channels' floors."""
    profile, mesh = fit_profile(preset), built("holes", preset)
    unit_mm, wide_mm = profile.unit_mm, profile.link_mm + 2 * profile.channel_mm
    high_mm = equator_mm(profile)
    floor_mm = high_mm - profile.link_mm / 2
    middles = squares(3, 4, unit_mm)
    floors = flat_at(mesh, floor_mm, UP)
    # Where floors meet at a post's corner they are joined by a neck.
    assert len(measure.parts(floors.buffer(-0.35))) == 3 * 3 + 2 * 4 == 17
    channels = shapely.union_all(
        [
            shapely.LineString(pair).buffer(wide_mm / 2, cap_style="flat")
            for pair in itertools.combinations(middles, 2)
            if math.dist(*pair) < 1.01 * unit_mm
        ]
    )
    bores = shapely.union_all([Point(one).buffer(profile.hole_mm / 2, 99) for one in middles])
    hollow = shapely.box(0, -3 * unit_mm, 4 * unit_mm, 0) - cut_at(mesh, floor_mm + 0.013)
    for found, expected in ((floors, channels - bores), (hollow, channels | bores)):
        # The mesh's bores are polygons.
        assert measure.difference_mm2(found, expected) < 2e-3 * expected.area
        assert found.hausdorff_distance(expected) < 0.01
    # Between four cells stands a post as high as the balls' middles, square and alone.
    posts = flat_at(mesh, high_mm, UP)
    alone = [one for one in measure.parts(posts) if one.area < wide_mm**2]
    assert len(alone) == 2 * 3
    for left, bottom, right, top in (one.bounds for one in alone):
        assert (right - left, top - bottom) == pytest.approx([unit_mm - wide_mm] * 2, abs=0.002)
    assert cut_at(mesh, high_mm + 0.013).disjoint(shapely.MultiPoint(middles))


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param((), marks=pytest.mark.integration),
        pytest.param(("lid.kind=none",), marks=pytest.mark.long),
        pytest.param(("lid.kind=snap", "board.notch=0 mm"), marks=pytest.mark.long),
    ],
)
def test_odd_boards_of_squares(settings: tuple[str, ...], tmp_path: Path) -> None:
    profile, cells = fit_profile("default", *settings), cells_of(ODD)
    blueprint = holes_board(profile, cells)
    assert len(cells) == 18
    places = [
        ((col + 0.5) * profile.unit_mm, -(row + 0.5) * profile.unit_mm)
        for row, line in enumerate(ODD)
        for col, mark in enumerate(line)
        if mark == "#"
    ]
    pairs = [one for one in itertools.combinations(places, 2) if math.dist(*one) < 15.1]
    assert len(blueprint.steps[-1].shapes) == len(places) + len(pairs)
    mesh = mesh_of(blueprint, tmp_path)
    check_whole(mesh)
    assert mesh.volume == pytest.approx(blueprint.solid_mm3, rel=1e-3)
    check_circles(circles_at(cut_at(mesh, 3.01)), places, profile.hole_mm)
    floor_mm = equator_mm(profile) - profile.link_mm / 2
    floors = flat_at(mesh, floor_mm, UP)
    assert len(measure.parts(floors.buffer(-0.35))) == len(pairs)


def test_walls_of_the_drawing_are_two_lines_wide() -> None:
    """Right up to the limits: no wall or post of a drawing vanishes when 0.39 mm is taken off."""
    for settings in (
        ("board.hole=14.2 mm",),
        ("ball.link=11 mm", "board.channel=0.4 mm", "board.hole=13 mm"),
        ("ball.diameter=14.1 mm", "ball.link=14 mm", "board.channel=0.04 mm", "board.hole=14.2 mm"),
    ):
        profile = fit_profile("default", *settings)
        blueprint = holes_board(profile)
        for height_mm in (1.0, blueprint.rest_mm - 0.01):
            area = section_at(blueprint.steps, height_mm)
            opened = area.buffer(-0.39).buffer(0.39 + 0.25)
            assert area.difference(opened).area < 1e-6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["board.hole=12 mm"],
            "board.hole is 12 mm; expected more than the ball's 12 mm, and 14.2 mm at the most, which "
            "leaves 0.8 mm between two holes; choose another board.hole, a smaller ball.diameter or a "
            "larger unit",
        ),
        (["board.hole=14.3 mm"], "board.hole is 14.3 mm; expected more than the ball's 12 mm"),
        (
            ["board.channel=1.5 mm"],
            "a channel for links of 9 mm with board.channel 1.5 mm on either side is 12 mm wide, which "
            "holds no ball back; choose a smaller board.channel or a ball.link below 9 mm",
        ),
        (
            ["ball.diameter=14.15 mm", "ball.link=14 mm", "unit=14.8 mm", "board.hole=14 mm"],
            "board.hole is 14 mm; expected more than the ball's 14.15 mm",
        ),
    ],
)
def test_holes_that_cannot_be(settings: list[str], message: str) -> None:
    with pytest.raises(BlueprintError) as refusal:
        holes_board(fit_profile("default", *settings))
    assert message in str(refusal.value)


# --- seats ----------------------------------------------------------------------------------


def check_seats(mesh: trimesh.Trimesh, profile: Profile) -> None:
    """Round and blind, of the depth asked for, one at every place of the board."""
    wide_mm = profile.stub_mm + 2 * profile.seat_mm
    floor_mm = analytic.layer_top_mm(profile, profile.board_floor_mm)
    rest_mm = analytic.layer_top_mm(profile, floor_mm + profile.stub_height_mm + 0.2)
    places = stars(profile.unit_mm)
    for height_mm in (floor_mm + 0.013, rest_mm - 0.013):
        check_circles(circles_at(cut_at(mesh, height_mm)), places, wide_mm)
    assert not measure.holes(cut_at(mesh, floor_mm - 0.013))
    bottoms = measure.parts(flat_at(mesh, floor_mm, UP))
    assert len(bottoms) == len(places)
    plate = flat_at(mesh, rest_mm, UP)
    hexagons = [
        Polygon(
            [
                (
                    x + math.sin(k * math.pi / 3) * profile.unit_mm / math.sqrt(3),
                    y + math.cos(k * math.pi / 3) * profile.unit_mm / math.sqrt(3),
                )
                for k in range(6)
            ]
        )
        for x, y in places
    ]
    region = shapely.union_all(hexagons)
    opening = region.buffer(profile.board_clearance_mm, join_style="mitre", mitre_limit=10)
    assert measure.filled(plate).hausdorff_distance(opening) < 0.01


@pytest.mark.parametrize("preset", PRESETS)
def test_a_seat_for_every_stub(preset: str) -> None:
    mesh = built("seats", preset)
    check_whole(mesh)
    check_seats(mesh, stars_profile(preset))
    # Another profile's seats would be noticed.
    for other in ("board.seat=0.22 mm", "stub.height=2.1 mm", "board.clearance=0.3 mm"):
        with pytest.raises((AssertionError, ValueError)):
            check_seats(mesh, stars_profile(preset, other))


@pytest.mark.integration
@pytest.mark.parametrize("shape", ["hexagon", "star"])
def test_stubs_enter_their_seats(shape: str, tmp_path: Path) -> None:
    """A piece where it was drawn lies over cells of the board: its stubs are in seats there, with
    the clearance asked for around and air below, and it rests on the plate."""
    profile = stars_profile("default", f"cell.shape={shape}")
    board, rest_mm = built("seats", "default"), seats_board(profile).rest_mm
    for piece in STARS.pieces[:: 1 if shape == "hexagon" else 3]:
        path = tmp_path / "one.stl"
        blueprint = draft_flat(STARS, piece, profile)
        write_stl(Workshop().build(blueprint), path)
        mesh = measure.read_mesh(path)
        lowered_mm = rest_mm - blueprint.back_mm
        for height_mm in (0.613, 1.511):
            stubs = cut_at(mesh, height_mm)
            seats = cut_at(board, lowered_mm + height_mm)
            assert stubs.distance(seats) == pytest.approx(profile.seat_mm, abs=0.01)
        # Ends of stubs hang over the seats' bottoms by what the layers leave, 0.2 mm or more.
        bottoms_mm = {z for z, facing in sections(board).flats() if facing == UP}
        assert min(lowered_mm - z for z in bottoms_mm if z < lowered_mm) >= 0.2 - 1e-4
        # What lies above the plate stays within the rim.
        rim = cut_at(board, rest_mm + 3.013)
        plate = cut_at(mesh, blueprint.back_mm + 3.013)
        asked_mm = profile.inset_mm + profile.board_clearance_mm
        assert plate.distance(rim) >= asked_mm - 0.001


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["stub.diameter=18.9 mm"],
            "a seat for stubs of 18.9 mm with board.seat 0.2 mm around is 19.3 mm wide, which leaves less "
            "than 0.8 mm between two seats; choose a smaller board.seat or a stub.diameter of 18.8 mm or "
            "less",
        ),
        (["board.seat=3 mm", "stub.diameter=13.3 mm"], "a stub.diameter of 13.2 mm or less"),
    ],
)
def test_seats_that_cannot_be(settings: list[str], message: str) -> None:
    with pytest.raises(BlueprintError) as refusal:
        seats_board(stars_profile("default", *settings))
    assert message in str(refusal.value)


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
                along, back = np.array([bx, by]), np.array([ax, ay])
                bisector = back / math.hypot(ax, ay) - along / math.hypot(bx, by)
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


def test_a_tighter_opening_and_a_wider_lid_would_be_noticed() -> None:
    tight = made(CUBI.with_("board.clearance=0.15 mm"))
    assert max(gaps_mm(tight, CUBI)) < CUBI.profile.board_clearance_mm - EXACT_MM
    lid = made(CUBI.with_("board.relief=1.4 mm", "board.title=0 mm"), lid=True)
    tray = made(CUBI)
    assert overlap(lid.manifold, tray.manifold, (0, 0, ledge(tray))) > 1
    # Without relief a corner is only as free as an edge.
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


@pytest.mark.parametrize(
    ("settings", "lid", "words"),
    [
        (["lid.kind=snap", "lid.tongue=6 mm"], False, "3.3% when .*, and 2% is the most; .* 7.8"),
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

    def texts(title: str, *room: float) -> tuple[str, float] | None:
        label = place_title(replace(puzzle, title=title), shapely.box(*room), case.profile)
        return label and (label.text, label.cap_height_mm)

    assert texts("\u7acb\u65b9", 0, 0, 100, 40) == ("cubimagici", 6.9)
    assert texts("A very long title indeed of a small set", 0, 0, 60, 14) == ("cubimagici", 6.9)
    assert texts("Cubi magici", 0, 0, 12, 12) is None
    assert draft(case.with_("board.title=0 mm"), lid=True).label is None


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
    return np.arange(0.0, max(right - left, top - bottom) + 30, 3.0)


@pytest.mark.parametrize("case", LIDDED)
def test_a_closed_lid_leaves_pieces_their_air(case: Case) -> None:
    case = case.with_("board.title=0 mm")
    tray, lid = made(case), closed(case)
    pieces_top = tray.drawn.rest_mm + case.profile.thickness_mm
    inside = rings(region(case).buffer(-2))[0][:-1]
    pieces = manifold3d.CrossSection([inside]).extrude(50).translate((0, 0, pieces_top))
    above = (lid ^ pieces).bounding_box()[2] - pieces_top
    air_mm = case.profile.lid_air_mm
    assert air_mm - 1e-4 <= above < air_mm + 2 * case.profile.layer_mm
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
    x, y, _ = out(case, clearance)
    for sign in (1, -1):
        assert overlap(lid, tray, (-0.95 * sign * y, 0.95 * sign * x, 0)) <= TOUCH_MM3
        assert overlap(lid, tray, (-1.2 * sign * y, 1.2 * sign * x, 0)) > TOUCH_MM3
    assert overlap(lid, tray, out(case, -1.2 * clearance)) > TOUCH_MM3
    # Lifted, its leaning edges meet those of the walls: root 2 times the clearance further up.
    assert overlap(lid, tray, (0, 0, 0.95 * clearance * math.sqrt(2))) <= TOUCH_MM3
    for lifted in (1.1 * clearance * math.sqrt(2), 1.0, 2.0):
        for by in (0.0, 5.0):
            x, y, _ = out(case, by)
            assert overlap(lid, tray, (x, y, lifted)) > TOUCH_MM3


@pytest.mark.parametrize("case", SLIDING)
def test_a_sliding_lid_has_its_clearance_at_right_angles(case: Case) -> None:
    case = case.with_("board.title=0 mm")
    lid, tray = made(case, lid=True), made(case)
    high = lid.sections.high
    for part in (0.5, 0.75):
        walls = tray.at(ledge(tray) + part * high)
        sideways = walls.distance(lid.at(part * high))
        assert sideways / math.sqrt(2) == pytest.approx(case.profile.lid_clearance_mm, abs=EXACT_MM)


@pytest.mark.parametrize("case", SNAPPING)
def test_a_snapping_lid_bends_no_further_than_it_should(case: Case) -> None:
    case = case.with_("board.title=0 mm")
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


@pytest.mark.every(2)
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
