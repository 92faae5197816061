"""How pieces lie in the page's solutions, held against the cells that the solutions name."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import pytest
import shapely
from shapely import Polygon, affinity

from fabkit.build.artifacts import Artifacts
from fabkit.drawing.ball import BallDrawing
from fabkit.mesh.mesh import Mesh
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.puzzle import Entry
from fabkit.output.render.assembly import boards_for_region, piece_placements
from fabkit.output.web.playdata import data_script, play_data
from fabkit.output.web.viewerdata import models_data, pack_mesh
from fabkit.profiles.accessory import printables
from fabkit.profiles.profile_file import load_profile
from fabkit.puzzles.entries import Selection, gather
from fabkit.sets.library import load_set

#: Between pieces, and more than the printed outline stays inside the drawn one.
CLEARANCE_MM = 0.3
#: Sharp tips, and pieces on two lattices.
FLAT = ("triangle_01", "mixed1-3-e119ee42dc")


@cache
def laid_out(name: str, *only: str) -> tuple[Artifacts, Sequence[Entry], dict[str, Any]]:
    """The set's meshes, some of its challenges, and by their ids how their pieces lie on the page:
    assembled from the page's two scripts, like the viewer."""
    puzzle = load_set(name)
    profile = load_profile((), (), puzzle.profile_values)
    artifacts = Artifacts(puzzle, (), profile).pictured(printables(puzzle, profile))
    entries = gather(puzzle, Selection(only=only))
    with pytest.MonkeyPatch.context() as patch:  # what they look like takes longest
        patch.setattr("fabkit.output.web.viewerdata.viewer_model", lambda *_: {})
        models = models_data(artifacts)
    play, found = play_data(puzzle, entries, profile.unit_mm), {}
    regions = {entry.challenge.id: [*chain(*sorted(entry.challenge.region))] for entry in entries}
    for entry in play["entries"]:
        boards = models["boards"].items() if entry.get("halves", 1) == 1 else ()
        fitting = (one for one in boards if one[1]["cells"] == regions[entry["id"]])
        board = next(fitting, ("", {"rest": 0}))
        step = [one * play["unitMm"] / entry.get("halves", 1) for one in play["lattice"]["step"]]
        pieces = {}
        for place, orientation, x, y in entry["solution"]:
            piece_id = play["pieces"][place]["id"]
            numbers = models["pieces"][piece_id]["orientations"][orientation]
            matrix = np.array(numbers, float).reshape(4, 4).T
            matrix[:3, 3] += (x * step[0], y * step[1], board[1]["rest"])
            pieces[piece_id] = matrix
        found[entry["id"]] = {"board": board[0], "pieces": pieces}
    return artifacts, entries, found


def area_of(lattice: Lattice, cells: frozenset[Cell], unit_mm: float) -> Polygon:
    """The cells as one area in mm: each on its own, from its corners."""
    step_x, step_y = (float(one) ** 0.5 * unit_mm for one in lattice.step_squared)
    squares = [[(x * step_x, y * step_y) for x, y in lattice.ring(cell)] for cell in cells]
    return shapely.union_all([Polygon(corners) for corners in squares], grid_size=1e-6)


def faults(artifacts: Artifacts, entry: Entry, placement: dict[str, Any]) -> list[str]:
    """The flat pieces that do not lie on the cells of their solution."""
    found = []
    unit_mm = artifacts.profile.unit_mm / entry.halves
    rest_mm = artifacts.drawings[placement["board"]].rest_mm if placement["board"] else 0.0
    for piece_id, matrix in placement["pieces"].items():
        assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1)  # no mirror image
        drawing = artifacts.drawings[piece_id]
        flat = [*matrix[0, :2], *matrix[1, :2], *matrix[:2, 3]]
        lies = affinity.affine_transform(drawing.outline, flat)
        wanted = area_of(artifacts.puzzle.lattice, entry.solution[piece_id], unit_mm)
        outside = lies.difference(wanted.buffer(1e-3)).area
        free = wanted.difference(lies.buffer(CLEARANCE_MM, join_style="mitre")).area
        heights = [matrix[2, 2] * z + matrix[2, 3] for z in (0, drawing.thickness_mm)]
        back = min(heights) + getattr(drawing, "back_mm", 0)
        # Sharp tips are blunted, each by less than a square millimetre.
        if outside > 1e-6 or free > 2 or abs(back - rest_mm) > 1e-6:
            found.append(piece_id)
    return found


@pytest.mark.parametrize(
    ("name", "only", "ups"),
    [
        ("fridgeiq", FLAT, {1}),
        ("iqblock", ("square",), {-1, 1}),  # some are turned over
        ("iqstars", ("board",), {1}),
    ],
)
def test_pieces_lie_on_their_cells(name: str, only: tuple[str, ...], ups: set[int]) -> None:
    artifacts, entries, data = laid_out(name, *only)
    assert sorted(entry.challenge.id for entry in entries) == sorted(only)
    for entry in entries:
        placement = data[entry.challenge.id]
        pieces = placement["pieces"]
        assert set(pieces) == set(entry.challenge.pieces)
        assert faults(artifacts, entry, placement) == []
        assert {round(one[2, 2]) for one in pieces.values()} == ups
        piece_id, matrix = next(iter(pieces.items()))
        for axis, shift in ((0, 1.0), (2, 0.5)):  # a piece that lies elsewhere is found
            spoilt = matrix.copy()
            spoilt[axis, 3] += shift
            spoilt_placement = {**placement, "pieces": {piece_id: spoilt}}
            assert faults(artifacts, entry, spoilt_placement) == [piece_id]


def test_balls_lie_in_the_holes_of_the_board() -> None:
    artifacts, (entry,), data = laid_out("iqfit", "board")
    placement = data["board"]
    assert placement["board"] == "board"
    for piece_id, matrix in placement["pieces"].items():
        drawing = artifacts.drawings[piece_id]
        assert isinstance(drawing, BallDrawing)
        middles = np.array(drawing.balls_mm) @ matrix[:3, :3].T + matrix[:3, 3]
        level = middles[middles[:, 2] > middles[:, 2].max() - 0.1, :2]
        cells = np.array(sorted(entry.solution[piece_id])) * artifacts.profile.unit_mm / 2
        assert sorted(level.round(3).tolist()) == cells.tolist()


@pytest.mark.parametrize("name", ["cubimagici", pytest.param("iqstars", marks=pytest.mark.long)])
def test_every_piece_lies_as_in_pictures(name: str) -> None:
    artifacts, entries, data = laid_out(name)
    for entry in entries:
        region, halves = entry.challenge.region, entry.halves
        boards = boards_for_region(artifacts.puzzle, region, artifacts.profile, halves)
        transforms = piece_placements(artifacts, region, entry.solution, boards, halves)
        for piece_id, (transform, _) in transforms.items():
            corners = np.array([[0, 0, 0], [7, 0, 0], [0, 9, 0], [0, 0, 4.0]])
            matrix = data[entry.challenge.id]["pieces"][piece_id]
            found = corners @ matrix[:3, :3].T + matrix[:3, 3]
            assert found == pytest.approx(corners @ transform[:, :3].T + transform[:, 3], abs=1e-3)


def unpacked(content: bytes, corners: int, triangles: int) -> tuple[np.ndarray, ...]:
    """Places in mm, normals and triangles of a packed mesh, as `packed` says."""
    stream = iter(np.frombuffer(content, np.uint8).reshape(-1))

    def take(count: int) -> np.ndarray:
        return np.fromiter(stream, np.uint8, count)

    def whole(count: int) -> np.ndarray:
        folded = sum(take(count).astype(np.int64) << 8 * place for place in range(3))
        return folded >> 1 ^ -(folded & 1)

    places = np.cumsum([whole(corners) for _ in range(3)], axis=1).T / 64
    normals = np.array([take(corners).astype(np.int8) for _ in range(3)]).T / 127
    faces, new = [], 0
    for below in whole(3 * triangles).tolist():
        faces.append(new - below)
        new = max(new, new - below + 1)
    assert list(stream) == []
    return places, normals, np.array(faces).reshape(-1, 3)


def test_a_packed_mesh_is_the_body_but_coarser() -> None:
    import trimesh

    ball = trimesh.creation.icosphere(5, radius=6)
    body = Mesh("", np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64))
    content, corners, triangles = pack_mesh(body)
    places, normals, faces = unpacked(content, corners, triangles)
    assert triangles < len(body.faces) / 10
    assert len(zlib.compress(content, 9)) < 16 * corners
    assert np.linalg.norm(places, axis=1) == pytest.approx(6, abs=0.02)
    # Round as ever: normals are those of the ball, not of the few triangles.
    assert normals == pytest.approx(places / 6, abs=0.02)
    a, b, c = (places[faces[:, i]] for i in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 6**3, rel=0.03)
    box = trimesh.creation.box((10, 20, 30))
    box = Mesh("", np.asarray(box.vertices, float), np.asarray(box.faces, np.int64))
    places, normals, faces = unpacked(*pack_mesh(box))
    assert len(places) == 24  # each of the corners three times: flat faces are flat
    assert np.abs(normals).max(axis=1).tolist() == [1] * 24
    assert sorted(set(np.abs(places[:, 2]))) == [15]


def test_the_script_is_ascii() -> None:
    cubi = load_set("cubimagici")
    profile = load_profile((), (), cubi.profile_values)
    piece = cubi.piece("p3")  # of two colours
    artifacts = Artifacts(cubi, (), profile).pictured([piece])
    text = data_script(models_data(artifacts), "FABKIT_MODELS")
    assert text.isascii()
    read = json.loads(text.removeprefix("window.FABKIT_MODELS = ").removesuffix(";\n"))
    model = read["pieces"]["p3"]
    assert model["colours"] == [piece.colour, piece.tone]
    content = zlib.decompress(base64.b64decode(model["mesh"]))
    sizes = [12 * n + 9 * m for n, m in zip(model["corners"], model["triangles"], strict=True)]
    assert sum(sizes) == len(content)
    places, _, _ = unpacked(content[: sizes[0]], model["corners"][0], model["triangles"][0])
    stl = artifacts.mesh(piece).vertices
    for bound in (np.min, np.max):
        assert bound(places, axis=0) == pytest.approx(bound(stl, axis=0), abs=0.05)
