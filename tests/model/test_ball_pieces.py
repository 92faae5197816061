"""Ball pieces: their drawings, solids and STL files, measured on what is in the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from fabkit.drawing.ball import draft_ball
from fabkit.drawing.boards.steps import BoardBlueprint, Prism, Step
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.body import Body
from fabkit.mesh.crossing import crossings
from fabkit.mesh.topology import (
    degenerate_faces,
    duplicate_faces,
    open_edges,
    shells,
    signed_volume,
    turned_faces,
)
from fabkit.model.balls import BallBody, flat_poses, turned
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import rings_in_units
from fabkit.printing.bom import letter_mm3, printed_mm3, solid_mm3
from fabkit.printing.slicer.finding import find_slicer
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import Expected
from fabkit.solid.balls import build_balls
from fabkit.solid.export import write_stl
from tests.support.ballsolids import (
    IQFIT,
    PRESETS,
    Print,
    as_manifold,
    distances,
    leaning_degrees,
    print_ball,
    printed,
    profile,
    random_piece,
    union,
)
from tests.support.platefiles import Thing, prusa_slicer, write_plate

PIECES = [piece.id for piece in IQFIT.pieces]
#: Rounding to single precision.
TINY_MM = 1e-4
#: How far facets may be from what is drawn.
FACET_MM = 0.02
SPINE = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0))
CROSS = (*SPINE, (2, 1, 0), (2, -1, 0))
CROSS_BONDS = ((0, 1), (1, 2), (2, 3), (2, 4), (2, 5))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("balls")


#: Pieces for the default run: both lengths of spine, neighbouring prongs that are apart.
QUICK = {("default", "blue"), ("compact", "pink")}


def _param(key: tuple[str, str], quick: Collection[tuple[str, str]] = QUICK) -> Any:
    return pytest.param(key, id="-".join(key), marks=[] if key in quick else [pytest.mark.long])


@pytest.fixture(params=[_param((preset, piece)) for preset in PRESETS for piece in PIECES])
def one(request: pytest.FixtureRequest, folder: Path) -> Print:
    return printed(*request.param, folder)


FEW = {("default", "blue"), ("compact", "green")}
few = pytest.mark.parametrize(
    "key", [_param((preset, piece), FEW) for preset in PRESETS for piece in PIECES]
)


def faults(mesh: Body) -> dict[str, int]:
    """What is wrong with a mesh as such; empty when nothing is."""
    counts = {
        "open": len(open_edges(mesh)),
        "turned": len(turned_faces(mesh)),
        "degenerate": len(degenerate_faces(mesh)),
        "twice": len(duplicate_faces(mesh)),
        "crossing": len(crossings(mesh)),
        "more bodies": len(shells(mesh)) - 1,
    }
    return {name: count for name, count in counts.items() if count}


def drawn(balls: tuple, bonds: tuple) -> Piece:
    return Piece("p", "p", "#808080", (), BallBody(balls, bonds))


# --- the file -----------------------------------------------------------------------------------


def test_the_file_is_sound(one: Print) -> None:
    assert faults(one.mesh) == {}
    assert len(one.mesh.faces) < 20_000
    assert abs(one.mesh.vertices[:, 2].min()) < TINY_MM
    assert one.mesh.vertices[:, 2].max() == pytest.approx(one.blueprint.thickness_mm, abs=FACET_MM)


@pytest.mark.integration
def test_the_same_bytes_again(folder: Path) -> None:
    for name in ("one.stl", "other.stl"):
        write_stl(build_balls(draft_ball(IQFIT, IQFIT.piece("sky"), profile())), folder / name)
    assert (folder / "one.stl").read_bytes() == (folder / "other.stl").read_bytes()


# --- the shape ----------------------------------------------------------------------------------


def test_corners_and_facets_lie_on_what_is_drawn(one: Print) -> None:
    assert np.abs(distances(one.blueprint, one.mesh.vertices)).max() < TINY_MM
    triangles = one.triangles
    inside = [
        triangles.mean(axis=1),
        *((triangles + np.roll(triangles, 1, axis=1)) / 2).swapaxes(0, 1),
    ]
    for points in inside:
        assert np.abs(distances(one.blueprint, points)).max() < FACET_MM


@pytest.mark.every(3)
@few
def test_the_volume_is_that_of_a_union_of_other_meshes(key: tuple[str, str], folder: Path) -> None:
    one = printed(*key, folder)
    oracle, mesh = union(one.blueprint), as_manifold(one.mesh)
    assert one.blueprint.solid_mm3 == pytest.approx(oracle.volume(), rel=2e-3)
    assert one.blueprint.surface_mm2 == pytest.approx(oracle.surface_area(), rel=2e-3)
    assert signed_volume(one.mesh) == pytest.approx(oracle.volume(), rel=3e-3)
    differing = (oracle - mesh).volume() + (mesh - oracle).volume()
    assert differing < FACET_MM * one.blueprint.surface_mm2


def test_the_foot_is_that_of_the_mesh(one: Print) -> None:
    triangles = one.triangles
    on_bed = triangles[triangles[:, :, 2].max(axis=1) < TINY_MM, :, :2]
    foot = shapely.union_all(shapely.polygons(on_bed))
    assert foot.symmetric_difference(one.blueprint.foot).area < 0.005 * foot.area
    # As much as that of a square of 16 mm sticks to the bed.
    assert foot.area > 256


@pytest.mark.every(3)
@few
def test_the_outline_is_that_of_the_mesh(key: tuple[str, str], folder: Path) -> None:
    one = printed(*key, folder)
    seen = shapely.polygons(one.triangles[:, :, :2])
    upward = shapely.is_ccw(shapely.get_exterior_ring(seen))
    above = shapely.union_all(seen[upward & (shapely.area(seen) > 1e-6)], grid_size=1e-6)
    assert above.difference(one.blueprint.outline).area < 0.001 * above.area
    assert one.blueprint.outline.difference(above).area < 0.005 * above.area


def test_balls_are_those_of_the_set(one: Print) -> None:
    blueprint = one.blueprint
    piece = IQFIT.piece(blueprint.piece)
    assert np.linalg.det(np.array(blueprint.pose)) == pytest.approx(1)
    turned_balls = np.array(piece.body.balls) @ np.array(blueprint.pose).T
    offsets = np.array(blueprint.balls_mm) - blueprint.pitch_mm * turned_balls
    assert np.ptp(offsets, axis=0) == pytest.approx(0, abs=1e-9)
    heights = Counter(round(z - blueprint.flat_mm, 6) for _, _, z in blueprint.balls_mm)
    assert heights == {0: len(piece.body.balls) - 1, blueprint.pitch_mm: 1}
    assert blueprint.bonds == piece.body.bonds
    left, front, right, back = blueprint.outline.bounds
    assert (
        left == pytest.approx(front) == pytest.approx((blueprint.pitch_mm - blueprint.ball_mm) / 2)
    )
    assert right - left > back - front


# --- printing -----------------------------------------------------------------------------------


def test_nothing_leans_too_far(one: Print) -> None:
    assert leaning_degrees(one.triangles).max() < profile().overhang_degrees + 1


@prusa_slicer
@pytest.mark.integration
@pytest.mark.parametrize(("preset", "name"), [("default", "blue"), ("compact", "green")])
def test_the_slicer_has_nothing_against_it(
    preset: str, name: str, folder: Path, tmp_path: Path
) -> None:
    found, chosen = printed(preset, name, folder), profile(preset)
    solid = (found.mesh.vertices.tolist(), found.mesh.faces.tolist())
    plate = write_plate(tmp_path / "plate.3mf", [Thing(name, [(solid, 1)])])
    verdict = slice_plate(find_slicer(), plate, tmp_path / "plate.gcode", chosen, Expected((name,)))
    assert verdict["reasons"] == []
    assert verdict["objects"][0]["manifold"]
    assert verdict["height_mm"] == pytest.approx(found.blueprint.thickness_mm, abs=0.2)
    grams = printed_mm3(found.blueprint, chosen) / 1000 * chosen.filament_density
    assert grams == pytest.approx(verdict["grams"], rel=0.08)
    assert grams > verdict["grams"]


def test_the_estimate(one: Print) -> None:
    chosen = profile()
    assert solid_mm3(one.blueprint) == one.blueprint.solid_mm3
    assert letter_mm3(one.blueprint) == 0
    assert (
        0.2 * one.blueprint.solid_mm3 < printed_mm3(one.blueprint, chosen) < one.blueprint.solid_mm3
    )
    thick = replace(chosen, nozzle_mm=2.0)
    assert printed_mm3(one.blueprint, thick) == one.blueprint.solid_mm3


@pytest.mark.parametrize("high_mm", [2.0, 20.0])
def test_the_estimate_of_a_board(high_mm: float) -> None:
    """A thin plate is all skin; in a thick block a fifth of what is inside is plastic."""
    area, chosen = shapely.box(0, 0, 50, 50), profile()
    steps = (Step(False, (Prism(area, 0.0, high_mm),)),)
    solid, surface = 2500 * high_mm, 5000 + 200 * high_mm
    board = BoardBlueprint(
        piece="b",
        kind="tray",
        colour="#808080",
        outline=area,
        foot=area,
        face=area,
        thickness_mm=high_mm,
        steps=steps,
        rest_mm=2.0,
        solid_mm3=solid,
        surface_mm2=surface,
    )
    assert solid_mm3(board) == solid
    shell = min(solid, 0.9 * surface)
    assert printed_mm3(board, chosen) == pytest.approx(shell + 0.2 * (solid - shell))


# --- on a board ---------------------------------------------------------------------------------


def room_in_cells(one: Print, piece: Piece) -> list[float]:
    """For each pose on a board, how far the mesh stays inside of the piece's own cells."""
    square, pitch = LATTICES["square"], one.blueprint.pitch_mm
    pose = np.array(one.blueprint.pose)
    # From the bed to where the balls were drawn.
    first = one.mesh.vertices - one.blueprint.balls_mm[0]
    as_drawn = first @ pose + pitch * np.array(piece.body.balls[0])
    rooms = []
    for flat in flat_poses(piece.body):
        balls = [turned(flat.rotation, ball) for ball in piece.body.balls]
        origin = np.array(balls[min(piece.body.spine())]) * pitch
        lying = as_drawn @ np.array(flat.rotation).T - origin
        own = region(square, flat.cells, pitch)
        middle = region(square, square.cells_at(0, 0), pitch).centroid
        points = shapely.points(lying[:, :2] + (middle.x, middle.y))
        shapely.prepare(own)
        assert own.contains(points).all()
        rooms.append(float(shapely.distance(points, own.boundary).min()))
    return rooms


def region(lattice, cells, unit_mm: float) -> shapely.Polygon:
    rings = rings_in_units(lattice, rings_of_cells(lattice, frozenset(cells)))
    return shapely.Polygon(np.array(rings[0]) * unit_mm)


def test_a_piece_keeps_inside_its_own_cells(one: Print) -> None:
    rooms = room_in_cells(one, IQFIT.piece(one.blueprint.piece))
    assert len(rooms) == 8
    assert min(rooms) >= 1.0
    assert min(rooms) == pytest.approx(
        (one.blueprint.pitch_mm - one.blueprint.ball_mm) / 2, abs=0.01
    )


# --- anybody's pieces ---------------------------------------------------------------------------


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.integration) for seed in range(1, 4))]
SEEDS += [pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 60)]


@pytest.mark.parametrize("seed", SEEDS)
def test_any_piece_and_any_sizes(seed: int, tmp_path: Path) -> None:
    piece, sizes = random_piece(seed)
    found = print_ball(piece, sizes, tmp_path / "p.stl")
    assert faults(found.mesh) == {}
    assert np.abs(distances(found.blueprint, found.mesh.vertices)).max() < TINY_MM
    assert leaning_degrees(found.triangles).max() < sizes.overhang_degrees + 1
    assert found.blueprint.solid_mm3 == pytest.approx(union(found.blueprint).volume(), rel=2e-3)


@pytest.mark.integration
@pytest.mark.parametrize("closed", [False, True])
def test_a_flat_piece_and_a_ring(closed: bool, tmp_path: Path) -> None:
    balls = (*SPINE, (0, 1, 0), (1, 1, 0))
    bonds = ((0, 1), (1, 2), (2, 3), (0, 4), (1, 5), *(((4, 5),) if closed else ()))
    found = print_ball(drawn(balls, bonds), profile(), tmp_path / "p.stl")
    assert faults(found.mesh) == {}
    assert found.blueprint.thickness_mm == pytest.approx(10.2)
    assert len(found.blueprint.outline.interiors) == closed
    assert found.blueprint.solid_mm3 == pytest.approx(union(found.blueprint).volume(), rel=2e-3)


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["ball.diameter=15 mm"], "balls of 15 mm do not fit beside each other, 15 mm apart; choose a smaller ball.diameter or a larger unit"),
        (["ball.link=11.9 mm"], "a link of 11.9 mm is too wide for balls of 12 mm: 11.88 mm is the most"),
        (["ball.flat=5.9 mm"], "5.9 mm above the bed would lean 79.5 deg from the vertical there, and printer.overhang is 45 deg; choose a ball.flat of 4.242 mm or less"),
        (["ball.flat=4.5 mm"], "would lean 48.6 deg from the vertical there, and printer.overhang is 45 deg; choose a ball.flat of 4.242 mm or less"),
        (["printer.overhang=40 deg"], "choose a ball.flat of 3.856 mm or less"),
        (["ball.link=6 mm"], "links of 6 mm with their middles 4.2 mm above the bed would lie on less than 0.8 mm of it; choose a ball.link of 6.452 mm or more"),
        (["ball.link=8 mm"], "a ball of 12 mm on an upright link of 8 mm would lean 48.2 deg from the vertical, and printer.overhang is 45 deg; choose a ball.link of 8.486 mm or more"),
        (["ball.link=10.205 mm"], "choose a ball.link or ball.flat that is 0.1 mm larger or smaller"),
    ],
)  # fmt: skip
def test_sizes_that_make_no_piece(settings: list[str], said: str) -> None:
    with pytest.raises(BlueprintError) as refusal:
        draft_ball(IQFIT, IQFIT.piece("green"), profile("default", *settings))
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    "settings",
    [
        ["ball.flat=4.242 mm", "ball.link=8.486 mm"],
        ["ball.flat=3.856 mm", "ball.link=9.193 mm", "printer.overhang=40 deg"],
        ["ball.link=11.88 mm"],
        ["ball.link=10.305 mm"],
    ],
)
@pytest.mark.integration
def test_what_a_refusal_says_will_do(settings: list[str], tmp_path: Path) -> None:
    chosen = profile("default", *settings)
    found = print_ball(IQFIT.piece("green"), chosen, tmp_path / "p.stl")
    assert faults(found.mesh) == {}
    assert leaning_degrees(found.triangles).max() < chosen.overhang_degrees + 1


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        # Prongs to both sides hold the piece in that plane; another goes up, and on from there.
        (
            drawn((*CROSS, (0, 0, 1), (0, 1, 1)), (*CROSS_BONDS, (0, 6), (6, 7))),
            "ball [0, 1, 1] would hang in the air when the longest row lies on the bed: no link",
        ),
        (
            drawn((*CROSS, (0, 0, 1), (1, 0, 1)), (*CROSS_BONDS, (0, 6), (1, 7), (6, 7))),
            "the link between balls [0, 0, 1] and [1, 0, 1] would hang in the air",
        ),
        (drawn(((0, 0, 0), (1, 0, 0), (1, 1, 0)), ((0, 1), (1, 2))), "it has no single longest"),
        (Piece("p", "p", "#808080", ()), "expected one that is made of balls"),
    ],
)
def test_pieces_that_hang_in_the_air(piece: Piece, said: str) -> None:
    with pytest.raises(BlueprintError) as refusal:
        draft_ball(IQFIT, piece, profile())
    assert said in str(refusal.value)
