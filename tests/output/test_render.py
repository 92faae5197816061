"""Pictures: what is drawn is what is there, in front of what it hides, and where it should lie."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from PIL import Image
from shapely import Polygon, affinity

from fabkit.cli import main
from fabkit.drawing.ball import draft_ball
from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set
from fabkit.model.placement import placements
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import rings_in_units
from fabkit.output.render import raster
from fabkit.output.render.laying import Motion, lay_balls, lay_flat
from fabkit.output.render.picture import render
from fabkit.output.render.scene import ShadedMesh, View, camera, corner_normals

#: Straight from above, each millimetre a square of pixels: what can be counted.
PLAN = View(100, 100, 0.0, 90.0, orthographic=True, ground=False, ink=0.0)
RED, GREEN = "#cc2222", "#22cc22"


def block(
    low: tuple[float, float, float], high: tuple[float, float, float], colour: str = RED
) -> ShadedMesh:
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [f for a, b, c, d in squares for f in ((a, b, c), (a, c, d))]
    return ShadedMesh(corners, np.array(faces), colour, "a block")


def ball(radius: float, steps: int = 24) -> ShadedMesh:
    rows = []
    for i in range(steps + 1):
        tilt = np.pi * i / steps
        for j in range(2 * steps):
            turn = np.pi * j / steps
            flat = np.sin(tilt) * radius
            rows.append((flat * np.cos(turn), flat * np.sin(turn), np.cos(tilt) * radius))
    points, where = np.unique(np.round(rows, 9), axis=0, return_inverse=True)
    where = where.reshape(steps + 1, 2 * steps)
    faces = []
    for i, j in itertools.product(range(steps), range(2 * steps)):
        k = (j + 1) % (2 * steps)
        a, b, c, d = where[i, j], where[i + 1, j], where[i + 1, k], where[i, k]
        faces += [f for f in ((a, b, c), (a, c, d)) if len(set(f)) == 3]
    return ShadedMesh(points, np.array(faces), GREEN, "a ball")


def pixels(lumps: list[ShadedMesh], view: View) -> Any:
    with Image.open(io.BytesIO(render(lumps, view))) as image:
        return np.asarray(image).astype(int)


def is_white(picture: Any) -> Any:
    return (picture[..., :3] == 255).all(axis=2)


def test_a_block_covers_its_area() -> None:
    lumps = [block((0, 0, 0), (10, 20, 5))]
    scale = camera(lumps, PLAN).scale
    covered = (~is_white(pixels(lumps, PLAN))).sum()
    assert covered == pytest.approx(10 * 20 * scale**2, rel=0.02)
    assert scale * 20 == pytest.approx(100 * 0.88)


@pytest.mark.parametrize("elevation", [15.0, 46.0, 89.0])
@pytest.mark.parametrize("orthographic", [True, False])
def test_all_of_it_is_in_the_picture(elevation: float, orthographic: bool) -> None:
    view = View(160, 90, 33.0, elevation, orthographic)
    lumps = [block((0, 0, 0), (50, 5, 9)), ball(7)]
    x, y, _, _ = camera(lumps, view).seen(np.concatenate([one.vertices for one in lumps]))
    assert 0 < x.min() < x.max() < 160
    assert 0 < y.min() < y.max() < 90
    assert abs(x.min() + x.max() - 160) < 1e-6


@pytest.mark.parametrize(
    ("view", "above"), [(PLAN, RED), (View(60, 60, 20, 60, ground=False, ink=0.0), GREEN)]
)
def test_what_is_nearer_hides_what_is_behind(view: View, above: str) -> None:
    heights = {above: 5.0, RED if above == GREEN else GREEN: 0.0}
    lumps = [block((0, 0, z), (10, 10, z + 1), colour) for colour, z in sorted(heights.items())]
    x, y, _, _ = camera(lumps, view).seen(np.array([[5.0, 5.0, 6.0]]))
    red, green, _ = pixels(lumps, view)[int(y[0]), int(x[0])]
    assert (red > green) == (above == RED)


def test_a_surface_has_its_lumps_colour_where_nothing_shades_it() -> None:
    found = pixels([block((0, 0, 0), (10, 10, 2))], PLAN)[50, 50]
    assert np.abs(found - (0xCC, 0x22, 0x22)).max() <= 24  # a little gloss


def fan(count: int) -> tuple[Any, Any]:
    """Triangles that fill a square, counter-clockwise seen with y up."""
    rng = np.random.default_rng(count)
    points = np.concatenate([[(3, 3), (3, 57), (57, 3), (57, 57)], rng.uniform(3, 57, (count, 2))])
    found = shapely.delaunay_triangles(shapely.MultiPoint(points)).geoms
    place = {tuple(point): i for i, point in enumerate(points)}
    rings = [list(shapely.geometry.polygon.orient(one).exterior.coords)[:3] for one in found]
    return points, np.array([[place[corner] for corner in ring] for ring in rings])


def test_samples_show_the_triangle_that_they_lie_in() -> None:
    points, faces = fan(60)
    x, y = points[:, 0], 60 - points[:, 1]
    near = 0.3 * points[:, 0] - 0.2 * points[:, 1]
    seen = raster.rasterise(x, y, near, faces, 60, 60)
    column, row = np.meshgrid(np.arange(60) + 0.5, np.arange(60) + 0.5)
    middles = shapely.points(column.ravel(), 60 - row.ravel())
    shapes = [Polygon(points[face]) for face in faces]
    for place, middle in enumerate(middles):
        face = seen.face.ravel()[place]
        inside = 3 < middle.x < 57 and 3 < middle.y < 57
        assert (face >= 0) == inside
        if inside:
            assert shapes[face].distance(middle) < 1e-9
    # Depth is that of the plane, as far as 31 bits tell.
    span = near.min(), near.max()
    wanted = raster.depth_of(0.3 * column - 0.2 * (60 - row), *span)
    assert np.abs(seen.depth - wanted)[seen.face >= 0].max() < 1e-8


def test_backs_of_triangles_are_not_seen() -> None:
    points, faces = fan(10)
    x, y, near = points[:, 0], 60 - points[:, 1], np.zeros(len(points))
    assert (raster.rasterise(x, y, near, faces[:, ::-1], 60, 60).face == -1).all()


def test_the_same_scene_gives_the_same_bytes() -> None:
    """Also with the noise of another kernel; but not when something moved."""
    lumps, view = [block((0, 0, 0), (30, 20, 4)), ball(6, 12)], View(48, 30)
    lumps[1] = replace(lumps[1], vertices=np.round(lumps[1].vertices, 4))
    first = render(lumps, view)
    noise = np.random.default_rng(1)
    noisy = [
        replace(one, vertices=one.vertices + noise.uniform(-2e-5, 2e-5, one.vertices.shape))
        for one in lumps
    ]
    assert render(noisy, view) == first
    assert render([block((0, 0, 0), (30, 20, 4.2)), lumps[1]], view) != first


def test_the_ground_takes_a_shadow() -> None:
    lumps = [block((0, 0, 0), (20, 20, 20))]
    view = View(60, 40, 0.0, 40.0)
    eye = camera(lumps, view)
    # The lamp stands behind on the left, so the shadow falls to the right and to the front.
    x, y, _, _ = eye.seen(np.array([[23.0, 8.0, 0.0], [-14.0, 8.0, 0.0]]))
    found = pixels(lumps, view)
    shaded, lit = (found[int(y[i]), int(x[i])].mean() for i in range(2))
    assert shaded < 215
    assert lit > 235
    bare = pixels(lumps, replace(view, ground=False))
    assert bare[int(y[0]), int(x[0])].tolist() == [255, 255, 255]


def test_ground_far_from_everything_is_not_shaded() -> None:
    view = View(75, 50, 0.0, 40.0)
    found = pixels([block((0, 0, 0), (4, 80, 3))], view)
    assert found[:, :15].min() >= 254
    assert found[:, -15:].min() >= 254


def test_edges_are_inked_and_flats_are_not() -> None:
    lumps = [block((0, 0, 0), (20, 20, 20))]
    views = [View(100, 80, 30.0, 40.0, ground=False, ink=ink) for ink in (0.0, 1.0)]
    plain, inked = (pixels(lumps, view).sum(axis=2) for view in views)
    x, y, _, _ = camera(lumps, views[0]).seen(np.array([[20.0, 10.0, 20.0], [10.0, 10.0, 20.0]]))
    edge, flat = ((int(y[i]), int(x[i])) for i in range(2))
    assert inked[flat] == plain[flat]
    around = np.s_[edge[0] - 1 : edge[0] + 2, edge[1] - 1 : edge[1] + 2]
    assert inked[around].min() < plain[around].min() - 30


def test_a_transparent_picture_has_no_background() -> None:
    found = pixels([block((0, 0, 0), (20, 20, 20))], View(60, 40, background=None))
    assert found.shape == (40, 60, 4)
    assert found[0, 0, 3] <= 12
    assert found[20, 30, 3] == 255


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="nothing"):
        render(
            [ShadedMesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), RED, "none")], View()
        )


def test_round_things_look_round_and_flat_things_flat() -> None:
    one = ball(5.0)
    normals = corner_normals(one.vertices, one.faces)
    outwards = one.vertices[one.faces] / 5.0
    assert (normals * outwards).sum(axis=2).min() > 0.995
    cube = block((0, 0, 0), (1, 1, 1))
    found = corner_normals(cube.vertices, cube.faces)
    assert np.abs(found).max(axis=2).min() == 1.0


# --- laying -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fridgeiq", "iqblock", "cubimagici", "iqstars"])
def test_flat_pieces_come_to_lie_on_their_cells(name: str) -> None:
    puzzle, unit = load_set(name), 17.0
    lattice = puzzle.lattice
    region = frozenset(
        cell for row in range(6) for column in range(6) for cell in lattice.cells_at(row, column)
    )
    for piece in puzzle.pieces:
        ring = rings_in_units(lattice, piece.forms[0].rings)[0]
        corners = np.array([(x * unit, y * unit, z) for x, y in ring for z in (0.0, 7.0)])
        found = placements(lattice, piece, region, flips=True)
        for one in found[:: max(1, len(found) // 10)]:
            motion = lay_flat(lattice, piece.forms[0].cells, one.cells, unit, 7.0)
            moved = motion.of(corners)
            below = Polygon(moved[::2, :2])
            wanted = affinity.scale(
                Polygon(rings_in_units(lattice, one.rings)[0]), unit, unit, origin=(0, 0)
            )
            assert below.symmetric_difference(wanted).area < 1e-6
            assert sorted({round(z, 9) for z in moved[:, 2]}) == [0.0, 7.0]
            assert np.linalg.det(np.array(motion.rows)) == pytest.approx(1.0)


def test_a_piece_is_turned_over_only_if_it_must_be() -> None:
    lattice = LATTICES["square"]
    bar, corner = [(1, 1), (3, 1)], [(1, 1), (3, 1), (5, 1), (5, 3)]
    assert lay_flat(lattice, bar, [(7, 7), (7, 9)], 20.0, 7.0).rows[2][2] == 1.0
    mirrored = [(-x, y) for x, y in corner]
    assert lay_flat(lattice, corner, mirrored, 20.0, 7.0).rows[2][2] == -1.0
    with pytest.raises(ValueError, match="shape"):
        lay_flat(lattice, bar, corner, 20.0, 7.0)


def test_ball_pieces_come_to_lie_on_their_cells() -> None:
    puzzle = load_set("iqfit")
    profile = load_profile((), (), puzzle.unit_mm)
    for piece in puzzle.pieces:
        printed, pitch = draft_ball(puzzle, piece, profile).balls_mm, profile.unit_mm
        assert piece.body is not None
        for one in placements(puzzle.lattice, piece, puzzle.boards[0].cells, flips=False)[::60]:
            motion = lay_balls(piece.body, printed, one.cells, pitch)
            moved = np.round(motion.of(np.array(printed)), 6)
            upper = {(x, y) for x, y, z in moved.tolist() if z == 0.0}
            assert upper == {(x * pitch / 2, y * pitch / 2) for x, y in one.cells}
            assert {z for _, _, z in moved.tolist()} <= {0.0, -pitch}
            assert np.linalg.det(np.array(motion.rows)) == pytest.approx(1.0)


def test_balls_do_not_lie_on_cells_of_another_shape() -> None:
    body = load_set("iqfit").piece("blue").body
    assert body is not None
    own = [(15.0 * x, 15.0 * y, 15.0 * z) for x, y, z in body.balls]
    with pytest.raises(ValueError, match="cannot lie so"):
        lay_balls(body, own, [(1, 1), (3, 1)], 15.0)
    mirrored = [(-x, y, z) for x, y, z in own]
    cells = load_set("iqfit").piece("blue").forms[0].cells
    with pytest.raises(ValueError, match="not the piece's"):
        lay_balls(body, mirrored, cells, 15.0)


def test_a_motion_moves_on() -> None:
    assert Motion().then(1, 2, 3).then(1, 1, 1).shift_mm == (2.0, 3.0, 4.0)


# --- the command --------------------------------------------------------------------------------


def test_a_set_is_drawn_from_its_meshes(
    pair: str, tmp_path: Path, said: Callable[..., Any]
) -> None:
    path = tmp_path / "picture.png"
    ask = ("picture", pair, "-o", str(path), "--size", "48x32")
    found = said(*ask)
    assert [name for name in found["shown"] if name in "PQ"] == ["P", "Q"]
    with Image.open(path) as image:
        assert image.size == (48, 32)
    before = path.read_bytes()
    said(*ask, "--apart")
    assert path.read_bytes() != before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["pair.toml", "picture.png"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "0x0"], "expected WIDTHxHEIGHT such as 1600x1000"),
        (["--size", "120×80"], "expected WIDTHxHEIGHT"),
        (["-o", "picture.jpg"], "does not end in .png"),
        (["--challenge", "nothing"], "has no challenge"),
        (["--budget", "soon"], "expected seconds"),
    ],
)
def test_bad_wishes_are_refused(
    pair: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["picture", pair, "-o", "picture.png", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert [one.name for one in Path().iterdir()] == ["pair.toml"]


def test_what_has_no_solution_is_not_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "picture.png"
    asked = ["picture", "fridgeiq", "--challenge", "rectangle_02_b", "-o", str(path)]
    assert main(asked) == 1
    assert "has no solution" in capsys.readouterr().out
    assert not path.exists()
