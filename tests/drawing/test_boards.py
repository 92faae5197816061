"""Boards with holes for balls and with seats for stubs, measured on their meshes."""

from __future__ import annotations

import itertools
import math
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import shapely
import trimesh
from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.draft import draft_holes_board, draft_seats_board
from fabkit.drawing.boards.steps import BoardBlueprint, section_at
from fabkit.drawing.draft import draft
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.section import UP, Sections
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

#: The default run has boards and stubs in tests of commands and of whole sets.
pytestmark = pytest.mark.long

FIT, STARS = load_set("iqfit"), load_set("iqstars")
PRESETS = ("default", "compact")
#: A board of whole squares with a hole, a notch, and an arm one cell wide.
ODD = ["#####", "#.###", "###..", "#####", "....#"]


def fit_profile(preset: str, *settings: str) -> Profile:
    return load_profile([] if preset == "default" else [preset], settings, FIT.unit_mm)


def stars_profile(preset: str, *settings: str) -> Profile:
    return load_profile([preset], settings)


def holes_board(profile: Profile, cells: frozenset[Cell] | None = None) -> BoardBlueprint:
    board = FIT.boards[0] if cells is None else Board("odd", cells)
    return draft_holes_board(FIT, Accessory(board.id, "holes", board, "#ffffff"), profile)


def seats_board(profile: Profile) -> BoardBlueprint:
    return draft_seats_board(STARS, accessories(STARS, profile)[0], profile)


def odd_cells() -> frozenset[Cell]:
    square = LATTICES["square"]
    return frozenset(
        cell
        for row, line in enumerate(ODD)
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
        holes_board(fit_profile(preset)) if kind == "holes" else seats_board(stars_profile(preset))
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
    middles = squares(5, 10, profile.unit_mm)
    floor_mm = equator_mm(profile) - profile.link_mm / 2
    check_whole(mesh)
    for height_mm in (0.013, floor_mm / 2, floor_mm - 0.013):
        check_circles(circles_at(cut_at(mesh, height_mm)), middles, profile.hole_mm)
    # A ball one pitch down stays above the table.
    assert equator_mm(profile) - profile.unit_mm - profile.ball_mm / 2 >= 1 - 1e-9


def test_faults_in_bores_are_noticed() -> None:
    profile = fit_profile("default")
    found = circles_at(cut_at(built("holes", "default"), 5.01))
    middles = squares(5, 10, profile.unit_mm)
    for circles, places, hole_mm in (
        (found, middles, profile.hole_mm - 0.3),
        (found[1:], middles, profile.hole_mm),
        (found, [(middles[0][0] + 0.02, middles[0][1]), *middles[1:]], profile.hole_mm),
    ):
        with pytest.raises((AssertionError, ValueError)):
            check_circles(circles, places, hole_mm)


@pytest.mark.parametrize("preset", PRESETS)
def test_channels_run_between_neighbouring_cells(preset: str) -> None:
    """Seen from above, what lies lower than the posts and is no bore are the channels' floors."""
    profile, mesh = fit_profile(preset), built("holes", preset)
    unit_mm, wide_mm = profile.unit_mm, profile.link_mm + 2 * profile.channel_mm
    high_mm = equator_mm(profile)
    floor_mm = high_mm - profile.link_mm / 2
    middles = squares(5, 10, unit_mm)
    floors = flat_at(mesh, floor_mm, UP)
    # Where floors meet at a post's corner they are joined by a neck.
    assert len(measure.parts(floors.buffer(-0.35))) == 5 * 9 + 4 * 10 == 85
    channels = shapely.union_all(
        [
            shapely.LineString(pair).buffer(wide_mm / 2, cap_style="flat")
            for pair in itertools.combinations(middles, 2)
            if math.dist(*pair) < 1.01 * unit_mm
        ]
    )
    bores = shapely.union_all([Point(one).buffer(profile.hole_mm / 2, 99) for one in middles])
    hollow = shapely.box(0, -5 * unit_mm, 10 * unit_mm, 0) - cut_at(mesh, floor_mm + 0.013)
    for found, expected in ((floors, channels - bores), (hollow, channels | bores)):
        # The mesh's bores are polygons.
        assert measure.difference_mm2(found, expected) < 2e-3 * expected.area
        assert found.hausdorff_distance(expected) < 0.01
    # Between four cells stands a post as high as the balls' middles, square and alone.
    posts = flat_at(mesh, high_mm, UP)
    alone = [one for one in measure.parts(posts) if one.area < wide_mm**2]
    sides = [
        high - low
        for one in alone
        for low, high in zip(one.bounds[:2], one.bounds[2:], strict=True)
    ]
    assert len(alone) == 4 * 9
    assert sides == pytest.approx([unit_mm - wide_mm] * 72, abs=0.002)
    assert cut_at(mesh, high_mm + 0.013).disjoint(shapely.MultiPoint(middles))


@pytest.mark.parametrize("preset", PRESETS)
def test_the_rim_keeps_its_distance(preset: str) -> None:
    profile, mesh = fit_profile(preset), built("holes", preset)
    above = cut_at(mesh, equator_mm(profile) + 0.513)
    region = shapely.box(0, -5 * profile.unit_mm, 10 * profile.unit_mm, 0)
    assert region.distance(above) == pytest.approx(profile.board_clearance_mm, abs=0.01)
    assert mesh.bounds[1][2] > equator_mm(profile) + profile.ball_mm / 2


@pytest.mark.parametrize(
    "settings", [(), ("lid.kind=none",), ("lid.kind=snap",), ("board.notch=0 mm",)]
)
def test_odd_boards_of_squares(settings: tuple[str, ...], tmp_path: Path) -> None:
    profile, cells = fit_profile("default", *settings), odd_cells()
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


@pytest.mark.parametrize(
    "settings",
    ["board.seat=0.22 mm", "stub.height=2.1 mm", "board.floor=2.1 mm", "board.clearance=0.3 mm"],
)
def test_faults_in_seats_are_noticed(settings: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        check_seats(built("seats", "default"), stars_profile("default", settings))


@pytest.mark.parametrize("settings", [("lid.kind=none",), ("lid.kind=snap", "stub.height=1 mm")])
def test_seats_with_other_lids(settings: tuple[str, ...], tmp_path: Path) -> None:
    profile = stars_profile("default", *settings)
    mesh = mesh_of(seats_board(profile), tmp_path)
    check_whole(mesh)
    if settings == ("lid.kind=none",):
        check_seats(mesh, profile)


@pytest.mark.parametrize("shape", ["hexagon", "disc", "star"])
def test_stubs_enter_their_seats(shape: str, tmp_path: Path) -> None:
    """A piece where it was drawn lies over cells of the board: its stubs are in seats there, with
    the clearance asked for around and air below, and it rests on the plate."""
    profile = stars_profile("default", f"cell.shape={shape}")
    board, rest_mm = built("seats", "default"), seats_board(profile).rest_mm
    for piece in STARS.pieces[:: 1 if shape == "hexagon" else 3]:
        path = tmp_path / "one.stl"
        blueprint = draft(STARS, piece, profile)
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


def test_the_widest_seats_build(tmp_path: Path) -> None:
    profile = stars_profile("default", "stub.diameter=18.8 mm")
    check_whole(mesh_of(seats_board(profile), tmp_path))
