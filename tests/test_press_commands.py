"""`export-3mf`, `plate`, `slice`, `bom`, `coupon` and `make` as users call them, on small sets."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lib3mf
import pytest
import shapely

from fabkit.cli import main
from fabkit.mesh.files.reading import read_bodies
from tests import fakeslicer
from tests.conftest import ROOT
from tests.platefiles import prusa_slicer

PAIR = """
[set]
name = "pair"
title = "Two & <more>"
licence = "CC BY 4.0"
source = "drawn by hand"
lattice = "quarter-square"
moves = "rotations"

[[piece]]
id = "P"
colour = "#e69f00"
outline = [[0, 0], [2, 0], [2, 1], [0, 1]]

[[piece]]
id = "Q"
colour = "#0072b2"
outline = [[0, 0], [2, 0], [2, 2], [0, 2]]

[[challenge]]
id = "bar"
outline = [[0, 0], [3, 0], [3, 2], [0, 2]]
"""
PAUSE = "Metadata/Prusa_Slicer_custom_gcode_per_print_z.xml"


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "pair.toml").write_text(PAIR)
    monkeypatch.chdir(tmp_path)
    return "pair.toml"


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command with --json and returns its document."""

    def run(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([*arguments, "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


def model_of(path: Path) -> Any:
    model = lib3mf.get_wrapper().CreateModel()
    reader = model.QueryReader("3mf")
    reader.SetStrictModeActive(True)
    reader.ReadFromFile(str(path))
    assert reader.GetWarningCount() == 0
    return model


def objects_of(path: Path) -> dict[str, str]:
    """The names and colours of a file's objects."""
    model, found = model_of(path), {}
    meshes = model.GetMeshObjects()
    while meshes.MoveNext():
        mesh = meshes.GetCurrentMeshObject()
        assert mesh.IsManifoldAndOriented()
        resource, property_id, has_one = mesh.GetObjectLevelProperty()
        assert has_one
        colour = model.GetBaseMaterialGroupByID(resource).GetDisplayColor(property_id)
        found[mesh.GetName()] = f"#{colour.Red:02x}{colour.Green:02x}{colour.Blue:02x}"
    return found


def test_3mf(pair: str, said: Callable[..., Any]) -> None:
    document = said("export-3mf", pair)
    assert sorted(document["files"]) == ["3mf/P.3mf", "3mf/Q.3mf", "pair.3mf"]
    out = Path("output/pair")
    assert objects_of(out / "pair.3mf") == {"P": "#e69f00", "Q": "#0072b2"}
    assert objects_of(out / "3mf/P.3mf") == {"P": "#e69f00"}
    model = model_of(out / "pair.3mf")
    group = model.GetMetaDataGroup()
    data = [group.GetMetaData(at) for at in range(group.GetMetaDataCount())]
    told = {one.GetName(): one.GetValue() for one in data}
    assert told["Title"] == "Two & <more>"
    assert told["LicenseTerms"] == "CC BY 4.0"
    assert told["Description"] == "Two & <more>: 2 pieces. Shapes: drawn by hand"
    assert (told["Set"], told["Unit"]) == ("pair", "20 mm")
    assert told["Profile"] == "default"


def test_the_triangles_are_those_of_the_stl_files(pair: str, said: Callable[..., Any]) -> None:
    said("export-stl", pair)
    said("export-3mf", pair)
    for name in "PQ":
        (stl,) = read_bodies(Path(f"output/pair/stl/{name}.stl"))
        (one,) = read_bodies(Path(f"output/pair/3mf/{name}.3mf"))
        shift = one.vertices[0] - stl.vertices[0]
        assert one.vertices - shift == pytest.approx(stl.vertices, abs=2e-5)
        assert (one.faces == stl.faces).all()
        assert len(one.vertices) == len({tuple(row) for row in one.vertices.tolist()})


def test_a_piece_alone_lies_in_the_middle_of_the_bed(pair: str, said: Callable[..., Any]) -> None:
    said("export-3mf", pair, "--piece", "Q", "-s", "plate.face=down")
    (one,) = read_bodies(Path("output/pair/3mf/Q.3mf"))
    middle = (one.vertices.min(axis=0) + one.vertices.max(axis=0)) / 2
    assert middle.tolist() == pytest.approx([125, 105, 3.5], abs=1e-4)
    assert not Path("output/pair/pair.3mf").exists()


def test_verify_reads_the_plate_back(pair: str, said: Callable[..., Any]) -> None:
    for face in ("up", "down"):
        said("export-3mf", pair, "-s", f"plate.face={face}")
        assert said("verify", pair, "--from", "output/pair/pair.3mf")["ok"]


@pytest.mark.slow
def test_verify_reads_fridgeiqs_plate_back(tmp_path: Path, said: Callable[..., Any]) -> None:
    out = tmp_path / "fridgeiq"
    said("export-3mf", "fridgeiq", "-o", str(out))
    assert len(objects_of(out / "fridgeiq.3mf")) == 16
    assert said("verify", "fridgeiq", "--from", str(out / "fridgeiq.3mf"))["ok"]


def test_plates(pair: str, said: Callable[..., Any]) -> None:
    document = said("plate", pair, "-p", "flippable")
    out = Path("output/pair")
    assert [one["file"] for one in document["plates"]] == ["plates/plate-1.3mf"]
    assert document["plates"][0]["pause_height_mm"] == 4.2
    archive = zipfile.ZipFile(out / "plates/plate-1.3mf")
    assert b'print_z="4.4" type="1"' in archive.read(PAUSE)
    assert (out / "plates/plate-1.svg").read_text().startswith("<svg")
    bodies = read_bodies(out / "plates/plate-1.3mf")
    areas = [shapely.MultiPoint(body.vertices[:, :2]).convex_hull for body in bodies]
    assert areas[0].distance(areas[1]) >= 2 - 1e-3
    inside = shapely.box(5, 5, 245, 205).buffer(1e-3)
    assert all(inside.covers(area) for area in areas)
    assert said("plate", pair, "-p", "flippable")["written"] == 0


def test_a_plate_that_is_no_longer_needed_goes(pair: str, said: Callable[..., Any]) -> None:
    small = ["-s", "printer.bed_width=70 mm", "-s", "printer.bed_depth=52 mm"]
    assert len(said("plate", pair, *small)["plates"]) == 2
    assert Path("output/pair/plates/plate-2.3mf").exists()
    assert len(said("plate", pair)["plates"]) == 1
    assert sorted(path.name for path in Path("output/pair/plates").iterdir()) == [
        "plate-1.3mf", "plate-1.svg", "plates.json",
    ]  # fmt: skip


def test_a_plate_that_somebody_changed_stays(pair: str, said: Callable[..., Any]) -> None:
    small = ["-s", "printer.bed_width=70 mm", "-s", "printer.bed_depth=52 mm"]
    said("plate", pair, *small)
    mine = Path("output/pair/plates/plate-2.svg")
    mine.write_text("my own")
    said("plate", pair)
    assert mine.read_text() == "my own"


def test_letters_in_a_second_colour(pair: str, said: Callable[..., Any]) -> None:
    said("export-3mf", pair)
    (plain,) = read_bodies(Path("output/pair/3mf/P.3mf"))
    said("export-3mf", pair, "-s", "label.inlay=letter", "-s", "label.colour=#123456")
    (filled,) = read_bodies(Path("output/pair/3mf/P.3mf"))
    assert len(filled.faces) > len(plain.faces)
    assert _volume(filled) == pytest.approx(_outline_volume(), rel=1e-3)
    model = model_of(Path("output/pair/3mf/P.3mf"))
    group = model.GetBaseMaterialGroups()
    group.MoveNext()
    assert group.GetCurrentBaseMaterialGroup().GetCount() == 2


def _volume(body: Any) -> float:
    corners = body.vertices[body.faces]
    return float(abs((corners[:, 0] * _cross(corners)).sum() / 6))


def _cross(corners: Any) -> Any:
    import numpy as np

    return np.cross(corners[:, 1], corners[:, 2])


def _outline_volume() -> float:
    """P without a letter: a box of 39.8 x 19.8 x 7 mm less its chamfers and its recess."""
    import math

    def frustum(width: float, depth: float, chamfer: float) -> float:
        def area(inset: float) -> float:
            return (width - 2 * inset) * (depth - 2 * inset)

        return chamfer * (area(0) + 4 * area(chamfer / 2) + area(chamfer)) / 6

    straight = 39.8 * 19.8 * (7 - 0.6 - 0.4)
    whole = straight + frustum(39.8, 19.8, 0.6) + frustum(39.8, 19.8, 0.4)
    cone = math.pi * 0.5 * (5.05**2 + 5.05 * 5.55 + 5.55**2) / 3
    return whole - cone - math.pi * 5.05**2 * (3.2 - 0.5)


def test_two_processes_write_the_same_bytes(pair: str) -> None:
    hashes = []
    for out in ("one", "two"):
        for command in ("plate", "export-3mf", "export-dxf", "export-svg"):
            subprocess.run(
                [sys.executable, "-m", "fabkit", command, pair, "-o", out, "-q"],
                check=True,
                env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": "/nowhere"},
            )
        files = sorted(path for path in Path(out).rglob("*") if path.suffix in _MADE)
        hashes.append(
            {p.relative_to(out): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
        )
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) == 3 + 3 + 3 + 3 + len(["manifest.json"])


_MADE = (".3mf", ".svg", ".dxf", ".json")


# --- slice -----------------------------------------------------------------------------------------


@prusa_slicer
def test_slice(pair: str, said: Callable[..., Any]) -> None:
    document = said("slice", pair, "-p", "flippable")
    (plate,) = document["plates"]
    assert document["printable"]
    assert sorted(one["name"] for one in plate["objects"]) == ["P", "Q"]
    assert all(one["manifold"] for one in plate["objects"])
    assert plate["pauses"] == [{"after_layer": 21, "height_mm": 4.2}]
    assert Path("output/pair/gcode/plate-1.gcode").stat().st_size > 10_000
    bill = said("bom", pair, "-p", "flippable")
    assert bill["print_seconds"] == document["seconds"]
    assert sum(one["grams"] for one in bill["filament"]) == pytest.approx(
        document["grams"], abs=0.05
    )
    again = said("slice", pair, "-p", "flippable")
    assert again == document


@prusa_slicer
@pytest.mark.slow
@pytest.mark.parametrize("profile", ["default", "flippable", "compact"])
@pytest.mark.parametrize("more", ["plate.face=up", "plate.face=down", "label.inlay=letter"])
def test_fridgeiq_is_printable(
    profile: str, more: str, tmp_path: Path, said: Callable[..., Any]
) -> None:
    document = said("slice", "fridgeiq", "-p", profile, "-s", more, "-o", str(tmp_path))
    names = [one["name"] for plate in document["plates"] for one in plate["objects"]]
    assert sorted(names) == sorted("ABDEIJLMNOQRSTUY")
    pauses = [plate["pauses"] for plate in document["plates"]]
    assert all(bool(one) == (profile == "flippable") for one in pauses)


@prusa_slicer
@pytest.mark.parametrize("profile", ["default", "flippable"])
def test_the_estimate_is_right_to_a_tenth(
    profile: str, pair: str, said: Callable[..., Any]
) -> None:
    estimated = sum(one["grams"] for one in said("bom", pair, "-p", profile)["filament"])
    assert said("slice", pair, "-p", profile)["grams"] == pytest.approx(estimated, rel=0.1)


def test_slice_without_a_slicer(
    pair: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["slice", pair]) == 3
    err = capsys.readouterr().err
    assert "apt install prusa-slicer" in err
    assert not Path("output").exists()


@pytest.mark.parametrize("how", ["crashes", "hangs", "rubbish", "silent"])
def test_a_bad_slicer_changes_nothing(
    how: str, pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plate", pair, "-q"]) == 0
    before = sorted(Path("output").rglob("*"))
    bodies = {
        "crashes": "os.kill(os.getpid(), signal.SIGSEGV)",
        "hangs": "time.sleep(600)",
        "rubbish": "write(os.urandom(5000))",
        "silent": "pass",
    }
    program = fakeslicer.fake_slicer(tmp_path / "slicer", slice=bodies[how])
    assert main(["slice", pair, "--slicer", str(program), "--time-limit", "2"]) == 3
    err = capsys.readouterr().err
    assert err.count("fabkit: ") == 1
    assert "Traceback" not in err
    assert sorted(Path("output").rglob("*")) == before


def slicer_of_pairs(folder: Path, thickness_mm: float = 7.0, but: str = "") -> str:
    """A fake slicer that slices the two pieces, and leaves out lines that hold a text."""
    gcode = fakeslicer.gcode(("P", "Q"), layers=round(thickness_mm / 0.2))
    lines = [line for line in gcode.splitlines() if not but or but not in line]
    text = "\n".join(lines) + "\n"
    info = f"print({fakeslicer.ONE_OBJECT * 2!r})"
    program = fakeslicer.fake_slicer(
        folder, slice=f"write({text!r}); print({fakeslicer.SAID!r})", info=info
    )
    return str(program)


def test_gcode_of_plates_that_are_gone_goes(
    pair: str, said: Callable[..., Any], tmp_path: Path
) -> None:
    slicer = slicer_of_pairs(tmp_path / "slicer")
    document = said("slice", pair, "--slicer", slicer)
    assert document["printable"], document["plates"][0]["reasons"]
    gcodes = Path("output/pair/gcode")
    stray, mine = gcodes / "plate-2.gcode", gcodes / "plate-3.gcode"
    manifest = json.loads(Path("output/pair/manifest.json").read_text())
    for path in (stray, mine):
        path.write_bytes((gcodes / "plate-1.gcode").read_bytes())
        manifest["files"][f"gcode/{path.name}"] = manifest["files"]["gcode/plate-1.gcode"]
    mine.write_text("changed by hand")
    Path("output/pair/manifest.json").write_text(json.dumps(manifest))
    said("slice", pair, "--slicer", slicer, "--force")
    assert sorted(path.name for path in gcodes.iterdir()) == ["plate-1.gcode", "plate-3.gcode"]


def test_gcode_that_was_cut_short_is_made_again(
    pair: str, said: Callable[..., Any], tmp_path: Path
) -> None:
    slicer = slicer_of_pairs(tmp_path / "slicer")
    said("slice", pair, "--slicer", slicer)
    gcode = Path("output/pair/gcode/plate-1.gcode")
    whole = gcode.read_bytes()
    gcode.write_bytes(whole[:100])
    said("slice", pair, "--slicer", slicer)
    assert gcode.read_bytes() == whole


def test_other_prices_slice_nothing_again(
    pair: str, said: Callable[..., Any], tmp_path: Path
) -> None:
    said("slice", pair, "--slicer", slicer_of_pairs(tmp_path / "slicer"))
    dear = said("bom", pair, "-s", "price.filament=100")
    assert (dear["print_seconds"], dear["estimated"]) == (3723, False)
    (plate,) = Path("output/pair/plates").glob("*.3mf")
    stamp = plate.stat().st_mtime_ns
    assert said("plate", pair, "-s", "price.filament=100")["written"] == 0
    assert plate.stat().st_mtime_ns == stamp
    thick = said("bom", pair, "-s", "thickness=8 mm")
    assert (thick["print_seconds"], thick["estimated"]) == (None, True)


def test_a_slicer_that_tells_no_grams(pair: str, said: Callable[..., Any], tmp_path: Path) -> None:
    slicer = slicer_of_pairs(tmp_path / "slicer", but="filament used")
    assert said("slice", pair, "--slicer", slicer)["grams"] is None
    bill = said("bom", pair)
    assert (bill["print_seconds"], bill["estimated"]) == (3723, True)


def test_plates_that_change_meanwhile_are_not_what_was_sliced(
    pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabkit.plan import slicing

    slice_plate = slicing.slice_plate

    def while_another_lays_out(*arguments: Any) -> Any:
        assert main(["plate", pair, "-s", "plate.gap=9 mm", "-q"]) == 0
        return slice_plate(*arguments)

    monkeypatch.setattr(slicing, "slice_plate", while_another_lays_out)
    slicer = slicer_of_pairs(tmp_path / "slicer")
    assert main(["slice", pair, "--slicer", slicer]) == 3
    assert "changed meanwhile; nothing was written" in capsys.readouterr().err
    assert not Path("output/pair/slice.json").exists()
    assert not Path("output/pair/gcode").exists()


def test_a_plate_that_cannot_be_printed_is_a_no(
    pair: str, said: Callable[..., Any], tmp_path: Path
) -> None:
    slicer = slicer_of_pairs(tmp_path / "slicer", thickness_mm=6.0)
    document = said("slice", pair, "--slicer", slicer, code=1)
    assert not document["printable"]
    assert document["plates"][0]["reasons"]
    assert said("bom", pair)["print_seconds"] is None


# --- coupon ----------------------------------------------------------------------------------------


def test_coupon(pair: str, said: Callable[..., Any]) -> None:
    document = said("coupon", "-o", "gauge")
    assert [one["key"] for one in document["settings"]] == ["inset", "recess.press"]
    names = [part["name"] for one in document["settings"] for part in one["parts"]]
    assert sorted(objects_of(Path("gauge/coupon.3mf"))) == sorted(names)
    assert sorted(path.stem for path in Path("gauge/stl").iterdir()) == sorted(names)
    assert Path("gauge/coupon.svg").read_text().startswith("<svg")
    told = json.loads(Path("gauge/coupon.json").read_text())
    assert told["settings"] == document["settings"]


def test_another_gauge_takes_the_place_of_the_first(pair: str, said: Callable[..., Any]) -> None:
    said("coupon", "-o", "gauge")
    mine = Path("gauge/stl/plug-0.05.stl")
    mine.write_bytes(b"changed by hand")
    document = said("coupon", "-o", "gauge", "-s", "inset=0.4 mm", "-s", "recess.fit=none")
    names = {part["name"] for one in document["settings"] for part in one["parts"]}
    assert "plug-0.05" not in names
    assert {path.stem for path in Path("gauge/stl").iterdir()} == {*names, mine.stem}


def test_a_gauge_stays_out_of_a_sets_folder(
    pair: str, said: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    said("export-stl", pair)
    before = sorted(Path("output").rglob("*"))
    assert main(["coupon", "-o", "output/pair"]) == 2
    assert "choose another folder with -o" in capsys.readouterr().err
    assert sorted(Path("output").rglob("*")) == before


@prusa_slicer
@pytest.mark.slow
def test_the_gauge_can_be_sliced(pair: str, said: Callable[..., Any], tmp_path: Path) -> None:
    said("coupon", "-o", "gauge", "-p", "flippable")
    ran = subprocess.run(
        ["prusa-slicer", "--info", "gauge/coupon.3mf"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.count("manifold = yes") == len(list(Path("gauge/stl").iterdir()))
    assert "manifold = no" not in ran.stdout


# --- make ------------------------------------------------------------------------------------------


def test_make_makes_everything_once(pair: str, said: Callable[..., Any]) -> None:
    document = said("make", pair)
    assert document["ok"]
    out = Path("output/pair")
    for name in (
        "stl/P.stl", "step/P.step", "pair.step", "pair.3mf", "3mf/Q.3mf", "dxf/P.dxf", "svg/P.svg",
        "dxf-sheets/sheet-1.dxf", "svg-sheets/sheet-1.svg", "plates/plate-1.3mf", "check.json",
        "check.html", "verify.json", "bom.csv", "bom.json", "profile.toml", "manifest.json",
    ):  # fmt: skip
        assert (out / name).is_file(), name
    manifest = json.loads((out / "manifest.json").read_text())
    there = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert there - {".fabkit.lock", "manifest.json"} == set(manifest["files"])
    for name, entry in manifest["files"].items():
        assert entry["sha256"] == hashlib.sha256((out / name).read_bytes()).hexdigest()
    names = [*manifest["files"], "manifest.json"]
    stamps = {name: (out / name).stat().st_mtime_ns for name in names}
    again = said("make", pair)
    assert again["written"] == 0
    assert {key: again[key] for key in ("ok", "check", "verify", "bom", "files")} == {
        **{key: document[key] for key in ("ok", "check", "verify", "bom")},
        "files": {n: f | {"written": False} for n, f in document["files"].items()},
    }
    assert stamps == {name: (out / name).stat().st_mtime_ns for name in names}


def test_make_after_a_change_leaves_nothing_to_be_done(pair: str, said: Callable[..., Any]) -> None:
    alone = PAIR[: PAIR.index("[[challenge]]")]
    Path(pair).write_text(alone)
    said("make", pair)
    Path(pair).write_text(alone.replace("[2, 2], [0, 2]", "[2, 2], [1, 1]"))
    document = said("make", pair)
    assert (document["ok"], document["warnings"]) == (True, [])


def test_a_piece_that_is_gone_is_told_and_does_no_harm(pair: str, said: Callable[..., Any]) -> None:
    said("make", pair)
    Path(pair).write_text(PAIR[: PAIR.index('[[piece]]\nid = "Q"')])
    document = said("make", pair)
    assert document["ok"]
    (warning,) = document["warnings"]
    assert warning.startswith("no longer part of the set: ")
    assert "stl/Q.stl" in warning


def test_make_checks_again_what_changed(pair: str, said: Callable[..., Any]) -> None:
    """A mesh that somebody changed is built again; reports of other meshes are not taken for new."""
    said("make", pair)
    report = Path("output/pair/check.json")
    stamp = report.stat().st_mtime_ns
    report.write_text(report.read_text().replace('"ok": true', '"ok": false', 1))
    assert said("make", pair)["ok"]
    assert report.stat().st_mtime_ns != stamp
    assert said("make", pair, "-s", "gap.max=0.15 mm", code=1)["ok"] is False
    assert said("make", pair, "-s", "gap.max=0.15 mm", code=1)["ok"] is False


@prusa_slicer
def test_make_slices_when_asked(pair: str, said: Callable[..., Any]) -> None:
    document = said("make", pair, "--slice")
    assert document["slice"]["printable"]
    assert document["bom"]["print_seconds"] == document["slice"]["seconds"]
