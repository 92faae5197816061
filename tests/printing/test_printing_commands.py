"""`export-3mf`, `plate` and `coupon` as users call them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shapely

from fabkit.cli import main
from fabkit.drawing.draft import draft_flat_piece
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.topology import signed_volume
from fabkit.printing.bom import letter_mm3
from fabkit.printing.nesting.polygon_nest import is_available
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support.pairset import model_of, objects_of

PAUSE = "Metadata/Prusa_Slicer_custom_gcode_per_print_z.xml"


def test_3mf(pair: str, run_json: Callable[..., Any]) -> None:
    document = run_json("export-3mf", pair)
    assert sorted(document["files"]) == ["3mf/P.3mf", "3mf/Q.3mf", "pair.3mf"]
    out = Path("output/pair")
    assert objects_of(out / "pair.3mf") == {"P": "#e69f00", "Q": "#0072b2"}
    assert objects_of(out / "3mf/P.3mf") == {"P": "#e69f00"}
    model = model_of(out / "pair.3mf")
    group = model.GetMetaDataGroup()
    data = [group.GetMetaData(at) for at in range(group.GetMetaDataCount())]
    metadata = {one.GetName(): one.GetValue() for one in data}
    assert metadata["Title"] == "Two & <more>"
    assert metadata["LicenseTerms"] == "CC BY 4.0"
    assert metadata["Description"] == "Two & <more>: 2 pieces. Shapes: drawn by hand"
    assert (metadata["Set"], metadata["Unit"]) == ("pair", "20 mm")
    assert metadata["Profile"] == "default"
    # The triangles are those of the STL files, in the middle of the bed when alone.
    run_json("export-stl", pair)
    for name in "PQ":
        (stl,) = read_meshes(out / f"stl/{name}.stl")
        (one,) = read_meshes(out / f"3mf/{name}.3mf")
        shift = one.vertices[0] - stl.vertices[0]
        assert one.vertices - shift == pytest.approx(stl.vertices, abs=2e-5)
        assert (one.faces == stl.faces).all()
        assert len(one.vertices) == len({tuple(row) for row in one.vertices.tolist()})
        middle = (one.vertices.min(axis=0) + one.vertices.max(axis=0)) / 2
        assert middle.tolist() == pytest.approx([125, 105, 3.5], abs=1e-4)


@pytest.mark.integration
def test_verify_reads_the_plate_back(pair: str, run_json: Callable[..., Any]) -> None:
    run_json("export-3mf", pair, "-s", "plate.face=down")
    (alone,) = read_meshes(Path("output/pair/3mf/Q.3mf"))  # in the middle of the bed
    assert alone.vertices.min(axis=0) + alone.vertices.max(axis=0) == pytest.approx([250, 210, 7])
    assert run_json("verify", pair, "--from", "output/pair/pair.3mf")["ok"]


def test_plates(pair: str, run_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nested by polygons, as users have it."""
    monkeypatch.setattr("fabkit.printing.nesting.nest.is_available", is_available)
    document = run_json("plate", pair, "-p", "flippable")
    out = Path("output/pair")
    assert [one["file"] for one in document["plates"]] == ["plates/plate-1.3mf"]
    assert document["plates"][0]["pause_height_mm"] == 4.2
    archive = zipfile.ZipFile(out / "plates/plate-1.3mf")
    assert b'print_z="4.21" type="1"' in archive.read(PAUSE)
    assert (out / "plates/plate-1.svg").read_text().startswith("<svg")
    bodies = read_meshes(out / "plates/plate-1.3mf")
    areas = [shapely.MultiPoint(body.vertices[:, :2]).convex_hull for body in bodies]
    assert areas[0].distance(areas[1]) >= 2 - 1e-3
    inside = shapely.box(5, 5, 245, 205).buffer(1e-3)
    assert all(inside.covers(area) for area in areas)
    assert run_json("plate", pair, "-p", "flippable")["written"] == 0


def test_a_plate_that_is_no_longer_needed_goes_unless_somebody_changed_it(
    pair: str, run_json: Callable[..., Any]
) -> None:
    small = ["-s", "printer.bed_width=70 mm", "-s", "printer.bed_depth=52 mm"]
    assert len(run_json("plate", pair, *small)["plates"]) == 2
    mine = Path("output/pair/plates/plate-2.svg")
    assert mine.with_suffix(".3mf").exists()
    mine.write_text("my own")
    assert len(run_json("plate", pair)["plates"]) == 1
    assert sorted(path.name for path in mine.parent.iterdir()) == [
        "plate-1.3mf", "plate-1.svg", "plate-2.svg", "plates.json",
    ]  # fmt: skip
    assert mine.read_text() == "my own"


def test_letters_in_a_second_colour(pair: str, run_json: Callable[..., Any]) -> None:
    import trimesh

    inlay = ("-s", "label.inlay=letter", "-s", "label.colour=#123456")
    for command in ("export-stl", "export-3mf"):
        run_json(command, pair, "--piece", "P", *inlay)
    meshes = model_of(Path("output/pair/3mf/P.3mf")).GetMeshObjects()
    assert meshes.MoveNext()
    filled = meshes.GetCurrentMeshObject()
    vertices = [tuple(vertex.Coordinates) for vertex in filled.GetVertices()]
    faces = [tuple(face.Indices) for face in filled.GetTriangleIndices()]
    volume_mm3 = trimesh.Trimesh(vertices, faces, process=False).volume
    (engraved,) = read_meshes(Path("output/pair/stl/P.stl"))
    # What `check` reads is open where the letter is.
    (read,) = read_meshes(Path("output/pair/3mf/P.3mf"))
    assert signed_volume(read) == pytest.approx(signed_volume(engraved), 1e-5)
    puzzle, profile = load_set(pair), load_profile()
    whole = draft_flat_piece(puzzle, puzzle.piece("P"), profile)
    letter = volume_mm3 - signed_volume(engraved)
    assert letter == pytest.approx(letter_mm3(whole), 1e-3)
    group = model_of(Path("output/pair/3mf/P.3mf")).GetBaseMaterialGroups()
    group.MoveNext()
    assert group.GetCurrentBaseMaterialGroup().GetCount() == 2


def test_a_coupon_stays_out_of_a_sets_folder(
    pair: str, run_json: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run_json("export-svg", pair)
    before = sorted(Path("output").rglob("*"))
    assert main(["coupon", "-o", "output/pair"]) == 2
    assert "choose another folder with -o" in capsys.readouterr().err
    assert sorted(Path("output").rglob("*")) == before
