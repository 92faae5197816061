"""Ball pieces, measured on their STL files against distances from spheres, links and the bed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from fabkit.drawing.ball import BallDrawing, draft_ball_piece
from fabkit.drawing.outline import DrawingError
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.plastic import printed_mm3
from fabkit.mesh.self_intersection import self_intersections
from fabkit.mesh.topology import (
    degenerate_faces,
    duplicate_faces,
    flipped_faces,
    open_edges,
    shells,
)
from fabkit.model.balls import BallBody, flat_poses, rotate_ball
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import rings_to_units
from fabkit.printing.bom import letter_mm3
from fabkit.printing.slicer.program import find_slicer
from fabkit.printing.slicer.settings import filling_for
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import ExpectedPrint
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support.platefiles import Printable, with_prusa, write_plate

Points = NDArray[np.float64]

IQFIT = load_set("iqfit")
SQUARE = LATTICES["square"]
#: Rounding to single precision.
TINY_MM = 1e-4
#: How far facets may be from what is drawn.
FACET_MM = 0.02
SPINE = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0))
CROSS = (*SPINE, (2, 1, 0), (2, -1, 0))
CROSS_BONDS = ((0, 1), (1, 2), (2, 3), (2, 4), (2, 5))


@dataclass(frozen=True, eq=False)
class Print:
    """A piece as drawn, and as in its STL file."""

    drawing: BallDrawing
    mesh: Mesh

    @property
    def triangles(self) -> Points:
        return self.mesh.vertices[self.mesh.faces]


def profile(preset: str = "default", *settings: str) -> Profile:
    return load_profile([] if preset == "default" else [preset], settings, IQFIT.profile_values)


def print_ball(piece: Piece, chosen: Profile, path: Path) -> Print:
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import write_stl

    drawing = draft_ball_piece(IQFIT, piece, chosen)
    write_stl(build_solid(drawing), path)
    (mesh,) = read_meshes(path)
    return Print(drawing, mesh)


#: Neighbouring prongs that are apart; the others are more of the same.
ALL = [
    pytest.param(
        (preset, piece.id), marks=[] if (preset, piece.id) == ("compact", "pink") else pytest.mark.long
    )
    for preset in ("default", "compact")
    for piece in IQFIT.pieces
]  # fmt: skip


@pytest.fixture(scope="module", params=ALL, ids="-".join)
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Print:
    preset, name = request.param
    folder = tmp_path_factory.mktemp("ball")
    return print_ball(IQFIT.piece(name), profile(preset), folder / "p.stl")


def drawn(balls: tuple, bonds: tuple) -> Piece:
    return Piece("p", "p", "#808080", (), BallBody(balls, bonds))


def distances(drawing: BallDrawing, points: Points) -> Points:
    """How far points lie outside of a piece (inside if less than 0), exactly so near its surface."""
    radius, link, flat = drawing.ball_mm / 2, drawing.link_mm / 2, drawing.flat_mm
    sine, cosine = flat / radius, np.sqrt(1 - (flat / radius) ** 2)
    balls = np.array(drawing.balls_mm)
    found = np.min([np.linalg.norm(points - ball, axis=1) - radius for ball in balls], axis=0)
    for i, j in drawing.bonds:
        length = np.linalg.norm(balls[j] - balls[i])
        direction = (balls[j] - balls[i]) / length
        away = points - balls[i]
        along = away @ direction
        off = np.linalg.norm(away - np.outer(along, direction), axis=1)
        outside = off - link
        if direction[2] == 0:
            across = np.sqrt(np.maximum(0, off**2 - away[:, 2] ** 2))
            below = away[:, 2] < -sine * off
            outside[below] = (across * cosine - away[:, 2] * sine - link)[below]
        beside = (along >= 0) & (along <= length)
        found = np.where(beside, np.minimum(found, outside), found)
    return np.maximum(found, -points[:, 2])


def check_solid(found: Print, chosen: Profile) -> None:
    """The mesh is sound, lies on what is drawn, and leans no farther than the printer prints."""
    mesh, triangles, drawing = found.mesh, found.triangles, found.drawing
    checks = (open_edges, flipped_faces, degenerate_faces, duplicate_faces, self_intersections)
    assert [check.__name__ for check in checks if len(check(mesh))] == []
    assert len(shells(mesh)) == 1
    assert np.abs(distances(drawing, mesh.vertices)).max() < TINY_MM
    edges = (triangles + np.roll(triangles, 1, axis=1)) / 2
    for points in (triangles.mean(axis=1), *edges.swapaxes(0, 1)):
        assert np.abs(distances(drawing, points)).max() < FACET_MM * drawing.ball_mm / 12
    assert abs(mesh.vertices[:, 2].min()) < TINY_MM
    assert mesh.vertices[:, 2].max() == pytest.approx(drawing.thickness_mm, abs=2 * FACET_MM)
    crosses = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(crosses, axis=1)
    above_bed = triangles[:, :, 2].max(axis=1) > 1e-3
    lean = np.degrees(np.arcsin(-crosses[above_bed, 2] / areas[above_bed]))
    assert lean.max() < chosen.overhang_degrees + 1


def test_the_file_is_what_is_drawn(one: Print) -> None:
    check_solid(one, profile())
    assert len(one.mesh.faces) < 20_000
    triangles, drawing = one.triangles, one.drawing
    foot = shapely.union_all(
        shapely.polygons(triangles[triangles[:, :, 2].max(axis=1) < TINY_MM, :, :2])
    )
    assert foot.symmetric_difference(drawing.foot).area < 0.005 * foot.area
    assert foot.area > 256 * (drawing.pitch_mm / 20) ** 2
    seen = shapely.polygons(triangles[:, :, :2])
    upward = shapely.is_ccw(shapely.get_exterior_ring(seen))
    above = shapely.union_all(seen[upward & (shapely.area(seen) > 1e-6)], grid_size=1e-6)
    assert above.difference(drawing.outline).area < 0.001 * above.area
    assert drawing.outline.difference(above).area < 0.005 * above.area


def test_balls_are_those_of_the_set_inside_their_own_cells(one: Print) -> None:
    """In each of its poses on a board."""
    drawing, pose = one.drawing, np.array(one.drawing.pose)
    body = IQFIT.piece(drawing.piece).body
    assert np.linalg.det(pose) == pytest.approx(1)
    offsets = np.array(drawing.balls_mm) - drawing.pitch_mm * np.array(body.balls) @ pose.T
    assert np.ptp(offsets, axis=0) == pytest.approx(0, abs=1e-9)
    heights = Counter(round(z - drawing.flat_mm, 6) for _, _, z in drawing.balls_mm)
    assert heights == {0: len(body.balls) - 1, drawing.pitch_mm: 1}
    assert drawing.bonds == body.bonds
    left, front, right, back = drawing.outline.bounds
    assert left == front == pytest.approx((drawing.pitch_mm - drawing.ball_mm) / 2)
    assert right - left > back - front
    pitch_mm = drawing.pitch_mm
    assert letter_mm3(drawing) == 0

    def region(cells: frozenset) -> shapely.Polygon:
        (ring,) = rings_to_units(SQUARE, rings_of_cells(SQUARE, cells))
        return shapely.Polygon(np.array(ring) * pitch_mm)

    # From the bed to where the balls were drawn.
    first = one.mesh.vertices - drawing.balls_mm[0]
    as_drawn = first @ np.array(drawing.pose) + pitch_mm * np.array(body.balls[0])
    middle = region(frozenset(SQUARE.cells_at(0, 0))).centroid
    poses = flat_poses(body)
    assert len(poses) == 8
    for flat in poses:
        origin = np.array(rotate_ball(flat.rotation, body.balls[min(body.base())])) * pitch_mm
        placed = as_drawn @ np.array(flat.rotation).T - origin
        points, own = shapely.points(placed[:, :2] + (middle.x, middle.y)), region(flat.cells)
        assert shapely.contains(own, points).all()
        room_mm = float(shapely.distance(points, own.boundary).min())
        assert room_mm == pytest.approx((pitch_mm - drawing.ball_mm) / 2, abs=0.01)


# --- printing -----------------------------------------------------------------------------------


@with_prusa
def test_the_slicer_has_nothing_against_it(tmp_path: Path) -> None:
    chosen = profile()
    found = print_ball(IQFIT.piece("blue"), chosen, tmp_path / "p.stl")
    plate = write_plate(tmp_path / "plate.3mf", [Printable("blue", [(found.mesh, 1)])])
    expected = ExpectedPrint(("blue",))
    verdict = slice_plate(find_slicer(), plate, tmp_path / "plate.gcode", chosen, expected)
    assert verdict["reasons"] == []
    assert verdict["objects"][0]["manifold"]
    assert verdict["height_mm"] == pytest.approx(found.drawing.thickness_mm, abs=0.2)
    plastic_mm3 = printed_mm3(found.mesh, filling_for(chosen))
    grams = plastic_mm3 / 1000 * chosen.filament_density
    assert grams == pytest.approx(verdict["grams"], rel=0.03)


# --- anybody's pieces ---------------------------------------------------------------------------


def random_piece(seed: int) -> tuple[Piece, Profile]:
    """A piece that somebody might draw, and sizes that somebody might choose."""
    rng = random.Random(seed)
    length = rng.randint(4, 6)
    balls = [(x, 0, 0) for x in range(length)]
    bonds = [(i, i + 1) for i in range(length - 1)]
    for _ in range(rng.randint(1, 5)):
        i = rng.randrange(len(balls))
        x, y, z = balls[i]
        dx, dy, dz = rng.choice([(0, 1, 0), (0, -1, 0), (0, 0, 1)])
        there = (x + dx, y + dy, z + dz)
        # Sideways at most one and up at most one, so that the first row stays the longest.
        if z == 0 and abs(there[1]) <= 1 and there not in balls:
            bonds.append((i, len(balls)))
            balls.append(there)
    unit_mm = rng.choice([8.0, 15.0, 20.0, 32.0])
    ball_mm = round(unit_mm * rng.uniform(0.6, 0.97), 2)
    link_mm, flat_mm = ball_mm * rng.uniform(0.72, 0.82), ball_mm / 2 * rng.uniform(0.3, 0.7)
    sizes = {"ball_mm": ball_mm, "link_mm": round(link_mm, 2), "ball_flat_mm": round(flat_mm, 2)}
    return drawn(tuple(balls), tuple(bonds)), replace(profile(), unit_mm=unit_mm, **sizes)


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 60))]


@pytest.mark.parametrize("seed", SEEDS)
def test_any_piece_and_any_sizes(seed: int, tmp_path: Path) -> None:
    piece, sizes = random_piece(seed)
    check_solid(print_ball(piece, sizes, tmp_path / "p.stl"), sizes)


@pytest.mark.integration
@pytest.mark.parametrize("closed", [False, True])
def test_a_flat_piece_and_a_ring(closed: bool, tmp_path: Path) -> None:
    bonds = ((0, 1), (1, 2), (2, 3), (0, 4), (1, 5), *(((4, 5),) if closed else ()))
    found = print_ball(drawn((*SPINE, (0, 1, 0), (1, 1, 0)), bonds), profile(), tmp_path / "p.stl")
    check_solid(found, profile())
    assert found.drawing.thickness_mm == pytest.approx(10.2)
    assert len(found.drawing.outline.interiors) == closed


# --- refusals -----------------------------------------------------------------------------------


SIZES = [
    ("ball.diameter=15 mm", "balls of 15 mm do not fit a pitch of 15 mm; choose a smaller ball.diameter or a larger unit"),
    ("ball.link=11.9 mm", "a link of 11.9 mm is too wide for balls of 12 mm: the limit is 11.88 mm"),
    ("ball.flat=4.5 mm", "would overhang by 48.6 deg there, and printer.overhang is 45 deg; choose a ball.flat of 4.242 mm or less"),
    ("printer.overhang=40 deg", "choose a ball.flat of 3.856 mm or less"),
    ("ball.link=6 mm", "links of 6 mm with their axes 4.2 mm above the bed would touch less than 0.8 mm of it; choose a ball.link of 6.452 mm or more"),
    ("ball.link=8 mm", "a ball of 12 mm on an upright link of 8 mm would overhang by 48.2 deg, and printer.overhang is 45 deg; choose a ball.link of 8.486 mm or more"),
    ("ball.link=10.205 mm", "choose a ball.link or ball.flat that is 0.1 mm larger or smaller"),
]  # fmt: skip


@pytest.mark.integration
@pytest.mark.parametrize(
    "settings",
    [
        ["ball.flat=4.242 mm", "ball.link=8.486 mm"],
        ["ball.flat=3.856 mm", "ball.link=9.193 mm", "printer.overhang=40 deg"],
        ["ball.link=11.88 mm"],
        ["ball.link=10.305 mm"],
    ],
)
def test_what_a_refusal_says_will_do(settings: list[str], tmp_path: Path) -> None:
    chosen = profile("default", *settings)
    check_solid(print_ball(IQFIT.piece("green"), chosen, tmp_path / "p.stl"), chosen)


IN_THE_AIR = [
    # Prongs to both sides hold the piece in that plane; another goes up, and on from there.
    (
        drawn((*CROSS, (0, 0, 1), (0, 1, 1)), (*CROSS_BONDS, (0, 6), (6, 7))),
        "ball [0, 1, 1] would hang in the air with the longest row on the bed: no link",
    ),
    (
        drawn((*CROSS, (0, 0, 1), (1, 0, 1)), (*CROSS_BONDS, (0, 6), (1, 7), (6, 7))),
        "the link between balls [0, 0, 1] and [1, 0, 1] would hang in the air",
    ),
    (
        drawn(((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)), ((0, 1), (1, 2), (2, 3))),
        "no single longest straight row",
    ),
]


def test_sizes_that_make_no_piece_and_pieces_that_hang_in_the_air() -> None:
    for piece, chosen, message in (
        *(
            (IQFIT.piece("green"), profile("default", setting), message)
            for setting, message in SIZES
        ),
        *((piece, profile(), message) for piece, message in IN_THE_AIR),
    ):
        with pytest.raises(DrawingError) as refusal:
            draft_ball_piece(IQFIT, piece, chosen)
        assert message in str(refusal.value)
