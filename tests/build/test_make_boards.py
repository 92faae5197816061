"""Whole sets with their boards, as users make them: what is there, built again, and reported."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from fabkit.build.artifacts import Artifacts
from fabkit.build.export import targets_for
from fabkit.mesh.files.readers import read_meshes
from fabkit.profiles.accessory import printables
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set, shipped_names
from tests.support.docpages import example
from tests.support.pairset import model_of
from tests.support.platefiles import with_prusa
from tests.support.trioset import TRIO

RunJson = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder with the sets that are not shipped with fabkit."""
    toned = TRIO.replace(
        'moves = "rotations"', 'moves = "rotations and flips"\nchequer = "#5d3a1a"'
    )
    (tmp_path / "trio.toml").write_text(toned[: toned.index("[[challenge]]")])
    (tmp_path / "pentominoes.toml").write_text(example("pentominoes.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def slow(*values: object) -> Any:
    return pytest.param(*values, marks=pytest.mark.long)


def written(document: Any) -> set[str]:
    return {name for name, file in document["files"].items() if file["written"]}


# --- what is made, and what is made again ---------------------------------------------------------


def test_what_shapes_boards_alone_makes_no_piece_again() -> None:
    trio, made = load_set("trio.toml"), []
    for settings in ([], ["board.relief=0 mm"]):
        profile = load_profile([], settings)
        artifacts = Artifacts(trio, printables(trio, profile), profile)
        made.append({target.names[0]: target.recipe for target in targets_for(artifacts, ["stl"])})
    other = {name for name, recipe in made[0].items() if made[1][name] != recipe}
    assert other == {"stl/tray.stl", "stl/tray-lid.stl"}


@pytest.mark.integration
def test_a_board_is_made_as_the_profile_says(run_json: RunJson) -> None:
    assert run_json("make", "trio.toml", "-o", "out")["ok"]
    open_board = run_json("make", "trio.toml", "-o", "out", "-s", "lid.kind=none")
    assert open_board["ok"]
    # The board's frame has no grooves now. No piece is another, and no sheet to cut.
    assert {n for n in written(open_board) if not n.startswith("plates/")} == {
        "stl/tray.stl", "step/tray.step", "3mf/tray.3mf", "trio.step", "trio.3mf",
    }  # fmt: skip
    (warning,) = open_board["warnings"]
    gone = {"3mf/tray-lid.3mf", "step/tray-lid.step", "stl/tray-lid.stl"}
    assert set(warning.removeprefix("no longer part of the set: ").split(", ")) == gone
    without = run_json("make", "trio.toml", "-o", "out", "-s", "board.make=none")
    assert without["ok"]
    assert not any("tray" in Path(n).name for n in without["files"])
    (warning,) = without["warnings"]
    gone |= {"3mf/tray.3mf", "step/tray.step", "stl/tray.stl"}
    assert set(warning.removeprefix("no longer part of the set: ").split(", ")) == gone


# --- two colours ----------------------------------------------------------------------------------


def solids_of(path: Path) -> list[tuple[str, Any, Any]]:
    """The solids of a 3MF file's only object: name, corners, and triangles."""
    meshes = model_of(path).GetMeshObjects()
    assert meshes.MoveNext()
    mesh = meshes.GetCurrentMeshObject()
    assert mesh.IsManifoldAndOriented()
    corners = np.array([list(one.Coordinates) for one in mesh.GetVertices()], dtype=float)
    faces = np.array([list(one.Indices) for one in mesh.GetTriangleIndices()])
    with zipfile.ZipFile(path) as archive:
        config = ElementTree.fromstring(archive.read("Metadata/Slic3r_PE_model.config"))
    found = []
    for volume in config.iter("volume"):
        metadata = {one.get("key"): one.get("value") for one in volume.iter("metadata")}
        first, last = int(volume.get("firstid", "")), int(volume.get("lastid", ""))
        found.append((metadata["name"] or "", corners, faces[first : last + 1]))
    return found


def volume(corners: Any, faces: Any) -> float:
    a, b, c = (corners[faces[:, at]] for at in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def is_closed(faces: Any) -> bool:
    """Each edge is there once in either direction."""
    edges = [
        (a, b) for face in faces.tolist() for a, b in zip(face, [*face[1:], face[0]], strict=True)
    ]
    return len(set(edges)) == len(edges) and {(b, a) for a, b in edges} == set(edges)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("puzzle", "faces_with"),
    [("trio.toml", "front"), slow("trio.toml", "none"), slow("cubimagici", "front")],
)
def test_squares_of_a_second_colour_are_solids_that_touch_the_rest(
    puzzle: str, faces_with: str, run_json: RunJson
) -> None:
    lettered = ["-s", f"label.faces={faces_with}", "-s", "board.make=none"]
    run_json("export-stl", puzzle, "-o", "plain", *lettered)
    document = run_json("export-3mf", puzzle, "-o", "toned", "-s", "cell.tones=inlay", *lettered)
    unit_mm, depth_mm = 20.0, 0.6
    for piece in load_set(puzzle).pieces:
        assert f"3mf/{piece.id}.3mf" in document["files"]
        (rest, corners, faces), (name, _, tiles) = solids_of(Path(f"toned/3mf/{piece.id}.3mf"))
        assert (rest, name) == (piece.id, f"{piece.id} tones")
        assert is_closed(faces)
        assert is_closed(tiles)
        (whole,) = read_meshes(Path(f"plain/stl/{piece.id}.stl"))
        wanted = volume(whole.vertices, whole.faces)
        assert volume(corners, faces) + volume(corners, tiles) == pytest.approx(wanted, rel=1e-5)
        # The tiles are as deep as the letter; inset, chamfers and letter take some of them.
        full = len(piece.tones) * unit_mm**2 * depth_mm
        assert 0.5 * full < volume(corners, tiles) < full
        heights = corners[np.unique(tiles)][:, 2]
        assert heights.max() - heights.min() == pytest.approx(depth_mm, abs=1e-4)
        # They touch: the tiles' floor is a face of both. So is that of a letter, of the rest alone.
        under, above = (
            level(corners, one, heights.min(), sign) for one, sign in ((faces, 1), (tiles, -1))
        )
        assert under == pytest.approx(above, rel=1e-4) or (faces_with == "front" and under > above)


def level(corners: Any, faces: Any, height_mm: float, sign: int) -> float:
    """The area of what lies flat at a height and looks up (1) or down (-1)."""
    found = corners[faces[(abs(corners[faces][:, :, 2] - height_mm) < 1e-4).all(axis=1)]]
    across = np.cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0])[:, 2] / 2
    return float(abs(across[across * sign > 0].sum()))


# --- a slicer -------------------------------------------------------------------------------------


@pytest.mark.every(3)
@with_prusa
@pytest.mark.long
@pytest.mark.parametrize("profile", ["default", "compact"])
@pytest.mark.parametrize("puzzle", [*shipped_names(), "pentominoes.toml"])
def test_every_set_is_printable_with_its_board(
    puzzle: str, profile: str, run_json: RunJson
) -> None:
    document = run_json("make", puzzle, "-p", profile, "-o", "out", "--slice")
    found = document["slice"]
    assert document["ok"]
    assert found["printable"]
    names = sorted(one["name"] for plate in found["plates"] for one in plate["objects"])
    drawn = load_set(puzzle)
    boards = [board.id for board in drawn.boards if not board.optional]
    lids = [f"{board}-lid" for board in boards]
    assert names == sorted([*(piece.id for piece in drawn.pieces), *boards, *lids])
    assert all(one["manifold"] for plate in found["plates"] for one in plate["objects"])


# --- boards larger than the bed -------------------------------------------------------------------


@pytest.mark.integration
def test_a_board_in_parts_is_made_checked_and_verified(run_json: RunJson) -> None:
    bed = ["-s", "printer.bed_width=80 mm", "-s", "printer.bed_depth=80 mm"]
    made = run_json("make", "trio.toml", "-o", "out", *bed)
    assert made["ok"]
    stl = sorted(name for name in made["files"] if name.startswith("stl/tray"))
    assert len([name for name in stl if "lid" not in name]) > 1
    plates = json.loads(Path("out/plates/plates.json").read_text())["plates"]
    pieces = {piece["piece"] for plate in plates for piece in plate["pieces"]}
    assert {Path(name).stem for name in stl} <= pieces
    # The profile beside the files has the bed, so that their parts are known.
    files = (f"out/{name}" for name in made["files"] if name.startswith("stl/"))
    checked = run_json("check", "--set", "trio.toml", *files)
    assert checked["ok"]
    assert {"tray", "tray-lid"} <= checked["boards"].keys()
    # With another bed, the parts that there were are reported.
    (warning,) = run_json("make", "trio.toml", "-o", "out")["warnings"]
    assert "no longer part of the set" in warning
    assert "stl/tray-a.stl" in warning
