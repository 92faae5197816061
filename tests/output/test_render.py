"""Pictures: what is drawn is what is there, in front of what it hides, and where it should lie."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from PIL import Image

from fabkit.build.artifacts import Artifacts
from fabkit.drawing.placement import place_ball_piece, place_flat_piece
from fabkit.model.blockers import blockers
from fabkit.model.lattice import LATTICES
from fabkit.model.puzzle import to_units
from fabkit.output.render import raster
from fabkit.output.render.assembly import assembled
from fabkit.output.render.picture import fit_view, render
from fabkit.output.render.scene import ShadedMesh, View, corner_normals, fit_camera
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set

if TYPE_CHECKING:
    import trimesh

#: Straight from above, each millimetre a square of pixels: what can be counted.
PLAN = View(100, 100, 0.0, 90.0, orthographic=True, ground=False, ink=0.0)
RED, GREEN = "#cc2222", "#22cc22"
Corner = tuple[float, float, float]


def shaded(mesh: trimesh.Trimesh, colour: str) -> ShadedMesh:
    return ShadedMesh(np.array(mesh.vertices), np.array(mesh.faces), colour, "a thing")


def block(low: Corner, high: Corner, colour: str = RED) -> ShadedMesh:
    import trimesh

    return shaded(trimesh.creation.box(bounds=(low, high)), colour)


def ball() -> ShadedMesh:
    import trimesh

    return shaded(trimesh.creation.icosphere(subdivisions=3, radius=6), GREEN)


def pixels(lumps: list[ShadedMesh], view: View) -> Any:
    with Image.open(io.BytesIO(render(lumps, view))) as image:
        return np.asarray(image).astype(int)


def pixels_at(lumps: list[ShadedMesh], view: View, *places: Corner) -> list[tuple[int, int]]:
    """The rows and columns of the pixels at which places are seen."""
    x, y, _, _ = fit_camera(lumps, view).project(np.array(places))
    return list(zip(y.astype(int), x.astype(int), strict=True))


def test_a_block_covers_its_area_in_its_colour() -> None:
    lumps = [block((0, 0, 0), (10, 20, 5))]
    scale, found = fit_camera(lumps, PLAN).scale, pixels(lumps, PLAN)
    assert scale * 20 == pytest.approx(100 * 0.88)
    assert (found < 255).any(axis=2).sum() == pytest.approx(10 * 20 * scale**2, rel=0.02)
    assert np.abs(found[50, 50] - (0xCC, 0x22, 0x22)).max() <= 24  # a little gloss


@pytest.mark.parametrize("elevation", [15.0, 46.0, 89.0])
@pytest.mark.parametrize("orthographic", [True, False])
def test_all_of_it_is_in_the_picture(elevation: float, orthographic: bool) -> None:
    view = View(160, 90, 33.0, elevation, orthographic)
    lumps = [block((0, 0, 0), (50, 5, 9)), ball()]
    x, y, _, _ = fit_camera(lumps, view).project(np.concatenate([one.vertices for one in lumps]))
    assert 0 < x.min() < x.max() < 160
    assert 0 < y.min() < y.max() < 90
    assert x.min() + x.max() == pytest.approx(160)


@pytest.mark.in_turn
@pytest.mark.parametrize("view", [PLAN, View(60, 60, 20, 60, ground=False, ink=0.0)])
@pytest.mark.parametrize("above", [RED, GREEN])
def test_what_is_nearer_hides_what_is_behind(view: View, above: str) -> None:
    lumps = [block((0, 0, z), (10, 10, z + 1), c) for c in (RED, GREEN) for z in [5 * (c == above)]]
    (pixel,) = pixels_at(lumps, view, (5.0, 5.0, 6.0))
    red, green, _ = pixels(lumps, view)[pixel]
    assert (red > green) == (above == RED)


def test_samples_show_the_triangle_that_they_lie_in() -> None:
    rng = np.random.default_rng(60)
    points = np.concatenate([[(3, 3), (3, 57), (57, 3), (57, 57)], rng.uniform(3, 57, (60, 2))])
    shapes = list(shapely.delaunay_triangles(shapely.MultiPoint(points)).geoms)
    place = {tuple(point): i for i, point in enumerate(points)}
    rings = [list(shapely.geometry.polygon.orient(one).exterior.coords)[:3] for one in shapes]
    faces = np.array([[place[corner] for corner in ring] for ring in rings])
    x, y = points[:, 0], 60 - points[:, 1]
    near = 0.3 * points[:, 0] - 0.2 * points[:, 1]
    seen = raster.rasterise(x, y, near, faces, 60, 60)
    column, row = np.meshgrid(np.arange(60) + 0.5, np.arange(60) + 0.5)
    inside = (np.abs(column - 30) < 27) & (np.abs(row - 30) < 27)
    assert ((seen.face >= 0) == inside).all()
    middles = shapely.points(column, 60 - row)[inside]
    assert shapely.distance(np.array(shapes)[seen.face[inside]], middles).max() < 1e-9
    # Depth is that of the plane, as far as 31 bits tell.
    wanted = raster.normalize_depth(0.3 * column - 0.2 * (60 - row), near.min(), near.max())
    assert np.abs(raster.to_depth(seen.steps) - wanted)[inside].max() < 1e-8
    # Backs of triangles are not seen.
    assert (raster.rasterise(x, y, near, faces[:, ::-1], 60, 60).face == -1).all()


@pytest.mark.integration
def test_the_same_scene_gives_the_same_bytes() -> None:
    """Also with the noise of another kernel; but not when something moved."""
    lumps, view = [block((0, 0, 0), (30, 20, 4)), ball()], View(48, 30)
    lumps[1] = replace(lumps[1], vertices=np.round(lumps[1].vertices, 4))
    first = render(lumps, view)
    noise = np.random.default_rng(1)
    noisy = [
        replace(one, vertices=one.vertices + noise.uniform(-2e-5, 2e-5, one.vertices.shape))
        for one in lumps
    ]
    assert render(noisy, view) == first
    assert render([block((0, 0, 0), (30, 20, 4.2)), lumps[1]], view) != first


@pytest.mark.integration
def test_the_ground_takes_a_shadow() -> None:
    lumps, view = [block((0, 0, 0), (20, 20, 20))], View(60, 40, 0.0, 40.0)
    # The lamp stands behind on the left, so the shadow falls to the right and to the front.
    shaded_at, lit_at = pixels_at(lumps, view, (23.0, 8.0, 0.0), (-14.0, 8.0, 0.0))
    found = pixels(lumps, view)
    assert found[shaded_at].mean() < 215
    assert found[lit_at].mean() > 235
    assert pixels(lumps, replace(view, ground=False))[shaded_at].tolist() == [255, 255, 255]
    far = pixels([block((0, 0, 0), (4, 80, 3))], View(75, 50, 0.0, 40.0))
    assert min(far[:, :15].min(), far[:, -15:].min()) >= 254
    clear = pixels(lumps, View(60, 40, background=None))
    assert clear.shape == (40, 60, 4)
    assert clear[0, 0, 3] <= 12
    assert clear[20, 30, 3] == 255


@pytest.mark.integration
@pytest.mark.parametrize("high", [2.0, 30.0, 60.0])
def test_a_fitted_view_holds_the_shadow(high: float) -> None:
    lumps = [block((0, 0, 0), (60, 30, high))]
    view = fit_view(lumps, 160)
    assert max(view.width, view.height) == 160
    assert (view.margin == 0.08) == (high == 2.0)
    found = pixels(lumps, view)
    edges = (found[0], found[-1], found[:, 0], found[:, -1])
    assert min(edge.min() for edge in edges) >= 245
    tight = pixels(lumps, replace(view, margin=0.08))
    assert high == 2.0 or min(tight[:, -1].min(), tight[-1].min()) < 245


def test_a_shadow_on_the_plain_ground_has_neither_steps_nor_blotches() -> None:
    """From the foot of a block to the light beyond its shadow tones rise, and nowhere at once."""
    lumps, view = [block((0, 0, 0), (40, 20, 20))], View(270, 180, 0, 90, True, ink=0, margin=0.25)
    (row, right), (low, column) = pixels_at(lumps, view, (40.0, 10.0, 0.0), (20.0, 0.0, 0.0))
    found = pixels(lumps, view)[:, :, 0]
    for line in (found[row, right + 3 :], found[low + 3 :, column]):
        assert line[0] < 180
        assert line[-1] > 245
        assert np.diff(line).min() >= 0
        assert np.abs(np.diff(line, 2)).max() <= 3


def test_edges_are_inked_and_flats_are_not() -> None:
    lumps = [block((0, 0, 0), (20, 20, 20))]
    views = [View(100, 80, 30.0, 40.0, ground=False, ink=ink) for ink in (0.0, 1.0)]
    plain, inked = (pixels(lumps, view).sum(axis=2) for view in views)
    (row, column), flat = pixels_at(lumps, views[0], (20.0, 10.0, 20.0), (10.0, 10.0, 20.0))
    assert inked[flat] == plain[flat]
    around = np.s_[row - 1 : row + 2, column - 1 : column + 2]
    assert inked[around].min() < plain[around].min() - 30


def test_round_things_look_round_and_flat_things_flat() -> None:
    sphere = ball()
    normals = corner_normals(sphere.vertices, sphere.faces)
    assert (normals * sphere.vertices[sphere.faces] / 6).sum(axis=2).min() > 0.995
    cube = block((0, 0, 0), (1, 1, 1))
    assert np.abs(corner_normals(cube.vertices, cube.faces)).max(axis=2).min() == 1.0


# --- laying -------------------------------------------------------------------------------------


def test_a_piece_is_turned_over_only_if_it_must_be() -> None:
    lattice = LATTICES["square"]
    bar, corner = [(1, 1), (3, 1)], [(1, 1), (3, 1), (5, 1), (5, 3)]
    assert place_flat_piece(lattice, bar, [(7, 7), (7, 9)], 20.0, 7.0)[2, 2] == 1.0
    mirrored = [(-x, y) for x, y in corner]
    assert place_flat_piece(lattice, corner, mirrored, 20.0, 7.0)[2, 2] == -1.0
    with pytest.raises(ValueError, match="shape"):
        place_flat_piece(lattice, bar, corner, 20.0, 7.0)


def test_ball_pieces_lie_only_on_cells_of_their_forms() -> None:
    piece = load_set("iqfit").piece("blue")
    assert piece.body is not None
    own = [(15.0 * x, 15.0 * y, 15.0 * z) for x, y, z in piece.body.balls]
    with pytest.raises(ValueError, match="cannot lie so"):
        place_ball_piece(piece.body, own, [(1, 1), (3, 1)], 15.0)
    with pytest.raises(ValueError, match="not the piece's"):
        place_ball_piece(piece.body, [(-x, y, z) for x, y, z in own], piece.forms[0].cells, 15.0)


# --- the command --------------------------------------------------------------------------------


@pytest.mark.integration
def test_a_set_is_drawn_from_its_meshes(pair: str, run_json: Callable[..., Any]) -> None:
    ask = ("picture", pair, "-o", "picture.png", "--size", "48x32")
    found = run_json(*ask)
    assert [name for name in found["shown"] if name in "PQ"] == ["P", "Q"]
    path = Path("picture.png")
    with Image.open(path) as image:
        assert image.size == (48, 32)
    before = path.read_bytes()
    run_json(*ask, "--apart")
    assert path.read_bytes() != before
    assert sorted(one.name for one in Path().iterdir()) == ["pair.toml", "picture.png"]


def test_without_a_solution_the_pieces_lie_in_front(
    pair: str, run_json: Callable[..., Any]
) -> None:
    """With exit code 1, also if their magnets do not fit; tests/bad has what commands refuse."""
    odd = '\n[[challenge]]\nid = "odd"\noutline = [[0, 0], [6, 0], [6, 1], [0, 1]]\n'
    Path(pair).write_text(Path(pair).read_text() + odd)
    ask = ("picture", pair, "-o", "picture.png", "--size", "48x32", "--challenge", "odd")
    document = run_json(*ask, "-s", "magnet.diameter=19mm", code=1)
    assert [name for name in document["shown"] if name in "PQ"] == ["P", "Q"]
    with Image.open("picture.png") as image:
        assert len(image.getcolors() or range(99)) > 9


#: A board of quarter squares, on two squares of which a challenge puts blockers.
QUARTERS = """
[set]
name = "quarters"
lattice = "quarter-square"
moves = "rotations and flips"
[[piece]]
id = "I"
rows = ["XXX"]
[[piece]]
id = "J"
rows = ["XXX"]
[[board]]
id = "tray"
size = [4, 2]
[[challenge]]
id = "two"
minus = [0, 7]
blocked = true
"""


def test_a_blocker_covers_all_quarters_of_a_square(tmp_path: Path) -> None:
    path = tmp_path / "quarters.toml"
    path.write_text(QUARTERS)
    puzzle = load_set(str(path))
    (blocker,) = blockers(puzzle, "#112233")
    assert (len(blocker.forms[0].cells), blocker.copies) == (4, 2)
    profile = load_profile((), ("unit=20mm", "recess.fit=none", "board.make=none"))
    (challenge,) = puzzle.challenges
    cells = [puzzle.lattice.cells_at(row, 0) for row in (1, 2, 3)]
    layout = {"I": frozenset(cell for square in cells for cell in square)}
    parts = assembled(puzzle, challenge, layout, profile, Artifacts(puzzle, (), profile).pictured)
    low_high = [
        (part.vertices.min(axis=0), part.vertices.max(axis=0))
        for part in parts
        if part.colour == profile.board_colour
    ]
    centres = sorted(tuple(np.round((low + high) / 2, 3)[:2]) for low, high in low_high)
    assert centres == [(10, -10), (30, -70)]
    assert all(19 < size < 20 for low, high in low_high for size in (high - low)[:2])


@pytest.mark.integration
def test_blockers_lie_on_the_cells_that_a_roll_names() -> None:
    puzzle = load_set("dicesquare")
    profile = load_profile(set_values=puzzle.profile_values)
    member = puzzle.find_member("roll-A1-A2-C3-E1-A4-E4-F1")
    assert member is not None
    one_piece = {"I1": frozenset({min(member.region)})}
    parts = assembled(puzzle, member, one_piece, profile, Artifacts(puzzle, (), profile).pictured)
    meshes = [part for part in parts if part.colour == profile.board_colour]
    boxes = [np.array([one.vertices.min(axis=0), one.vertices.max(axis=0)]) for one in meshes]
    small = [box for box in boxes if 15 < np.ptp(box[:, 0]) < 20]
    centres = sorted(tuple(np.round(box.mean(axis=0)[:2], 3)) for box in small)
    cells = to_units(puzzle.lattice, sorted(member.minus))
    assert centres == sorted((round(20 * x, 3), round(20 * y, 3)) for x, y in cells)
