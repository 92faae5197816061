"""The coupon: what is to be measured is there, can be reached and read, and prints in half an hour."""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from shapely import LineString, Point

from fabkit.cli import main
from fabkit.drawing.coupon import DEPTH_MM, RUNGS, coupon_parts, coupon_places, fit_test_pieces
from fabkit.drawing.draft import draft_flat_piece
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import measure
from tests.support.booklets import Read, longest_line_mm
from tests.support.built import built
from tests.support.platefiles import with_prusa

FRIDGEIQ = load_set("fridgeiq")
MAGNETS = ["3 mm", "6 mm", "10 mm", "20 mm", "50 mm"]


@pytest.mark.parametrize("magnet", MAGNETS)
def test_every_number_can_be_read(magnet: str) -> None:
    """On its part, apart from others and from edges, with strokes that a nozzle of 0.4 mm prints."""
    seen = set()
    for part in coupon_parts(load_profile((), [f"magnet.diameter={magnet}"])):
        names = [*(str(one.number) for one in part.places), *RUNGS[: len(part.recesses)]]
        areas = [letters.polygon() for letters in part.letterings]
        letters = dict(zip(names, areas, strict=True))
        for number, area in letters.items():
            assert strokes_are_at_least(area, 0.8)
            assert part.outline.buffer(-0.25).covers(area), number
            others = [one for other, one in letters.items() if other != number]
            assert all(area.distance(other) > 0.4 for other in others), number
            assert not set(number) & set("369")
        assert not seen & letters.keys()
        seen |= letters.keys()


@pytest.fixture
def coupon() -> Path:
    """The coupon for FridgeIQ, as the command writes it."""

    def make(folder: Path) -> None:
        assert main(["coupon", "-o", str(folder / "made"), "-q"]) == 0

    return built("coupon", make) / "made"


def test_places_measure_what_is_listed(coupon: Path) -> None:
    """On the meshes: jaws set along each line touch where it ends, in the direction of its kind."""
    import trimesh

    document = json.loads((coupon / "coupon.json").read_text())
    nominal = {one["number"]: one["nominal_mm"] for one in document["places"]}
    assert len(nominal) == 27
    for part in coupon_parts(load_profile()):
        mesh = trimesh.load_mesh(coupon / f"stl/{part.name}.stl")
        middle = measure.section(mesh, float(mesh.bounds[1, 2]) / 2 + 0.013)
        foot = measure.section(mesh, 0.01)
        for one in part.places:
            if one.kind == "magnet":
                continue
            if one.kind == "height":
                assert mesh.bounds[1, 2] == pytest.approx(nominal[one.number])
                continue
            (ax, ay), (bx, by) = one.line_mm
            assert abs(bx - ax) + abs(by - ay) == pytest.approx(nominal[one.number])
            assert (ay == by) is (one.axis == "x")
            along = np.array([bx - ax, by - ay]) / nominal[one.number]
            area = foot if one.kind == "foot" else middle
            for end, out in (((ax, ay), -1), ((bx, by), 1)):
                near, far = (Point(np.array(end) + step * out * along) for step in (-0.02, 0.02))
                is_solid = one.kind in ("step", "foot")
                assert area.covers(near) is is_solid, one.number
                assert area.covers(far) is not is_solid, one.number
            inside = LineString(one.line_mm).intersection(middle).length
            assert one.kind in ("step", "foot") or inside < 0.02, "jaws could not pass"
        # What is not measured at the bed keeps off it.
        spread = middle.bounds[0] - foot.bounds[0]
        assert spread == pytest.approx(0.0 if part.name == "bar" else -0.4, abs=0.02)
        assert part.name == "bar" or mesh.bounds[1, 2] / 2 > DEPTH_MM


def test_a_magnet_is_tried_in_recesses_as_in_a_piece(coupon: Path) -> None:
    """Five, in steps of 0.05 mm around the profile's press fit, open at the bed as a piece's are."""
    import trimesh

    profile = load_profile()
    [strip] = [part for part in coupon_parts(profile) if part.recesses]
    mesh = trimesh.load_mesh(coupon / "stl/magnets.stl")
    [own, *_] = draft_flat_piece(FRIDGEIQ, FRIDGEIQ.piece("D"), profile).recesses
    middle = measure.section(mesh, 1.0)
    rings = middle.interiors
    wide_mm = sorted((ring.bounds[0], ring.bounds[2] - ring.bounds[0]) for ring in rings)
    assert [wide for _, wide in wide_mm] == pytest.approx([10, 10.05, 10.1, 10.15, 10.2], abs=0.005)
    assert own.diameters.widest_mm == 10.1
    assert replace(strip.recesses[2].at_origin(), high_mm=own.high_mm) == own.at_origin()
    assert not measure.section(mesh, strip.recesses[0].high_mm + 0.1).interiors
    # Their walls are wide enough beside them, and at the bed.
    assert middle.buffer(-0.7).geom_type == "Polygon"
    assert measure.section(mesh, 0.01).buffer(-0.25).geom_type == "Polygon"
    for changes in (["recess.fit=glue"], ["magnet.diameter=25 mm"]):
        assert not any(part.recesses for part in coupon_parts(load_profile((), changes)))


def test_the_pair_shares_a_side(coupon: Path) -> None:
    import trimesh

    document = json.loads((coupon / "coupon.json").read_text())
    assert document["pieces"] == ["M", "D"]
    one, other = fit_test_pieces(load_set("fridgeiq"), load_profile())
    assert min(abs(a - b) for a in lengths(one.outline) for b in lengths(other.outline)) < 1.0
    for drawn in (one, other):  # the real pieces' outlines, but for their insides
        whole = trimesh.load_mesh(coupon / f"stl/{drawn.piece}.stl")
        assert measure.section(whole, 0.81).convex_hull.area == pytest.approx(
            drawn.canonical.buffer(-0.1, join_style="mitre").area, rel=0.01
        )
    assert fit_test_pieces(load_set("iqfit"), load_profile()) == []


def lengths(outline: Any) -> list[float]:
    corners = np.asarray(outline.exterior.coords)
    return [float(one) for one in np.linalg.norm(np.diff(corners, axis=0), axis=1) if one > 5]


def test_it_lies_close_together_in_the_middle_of_the_bed(coupon: Path) -> None:
    with zipfile.ZipFile(coupon / "coupon.3mf") as package:
        model = ElementTree.fromstring(package.read("3D/3dmodel.model"))
    assert len(items := model.findall(".//{*}item")) == 6
    assert not any(item.get("transform") for item in items)
    found = model.findall(".//{*}vertex")
    ends = np.array([[float(one.get(axis, "nan")) for axis in "xy"] for one in found])
    low, high = ends.min(axis=0), ends.max(axis=0)
    assert ((low + high) / 2).tolist() == pytest.approx([125, 105], abs=1)
    assert (high - low).max() < 105


def test_the_drawing_and_the_list(coupon: Path) -> None:
    from pypdf import PdfReader

    [page, _] = PdfReader(coupon / "coupon.pdf").pages
    text = page.extract_text()
    rows = (coupon / "measured.csv").read_text().splitlines()
    assert rows[0] == "number,what,nominal mm,measured"
    for one, row in zip(coupon_places(load_profile()).values(), rows[1:], strict=True):
        assert row == f"{one.number},{one.what},{one.nominal_mm:.2f},"
        assert f"{one.number}" in text
        assert one.what in text


@pytest.mark.integration
def test_the_drawing_is_at_full_size(coupon: Path, tmp_path: Path) -> None:
    drawn = Read.of((coupon / "coupon.pdf").read_bytes(), tmp_path)
    assert drawn.size_mm(1) == pytest.approx((210, 297), abs=0.01)
    pixels = drawn.pixels(1, 300)
    assert longest_line_mm(pixels, 300) - 0.25 == pytest.approx(100, abs=0.1)
    # The places' lines are orange; the longest is that of number 10.
    orange = (np.abs(pixels - (0xD5, 0x5E, 0)).sum(axis=2) < 60).sum(axis=1).max()
    assert orange * 25.4 / 300 == pytest.approx(45, abs=1)


@pytest.mark.every(2)
@with_prusa
@pytest.mark.parametrize("set_name", ["fridgeiq", "iqblock", "cubimagici", "iqstars"])
def test_it_prints_in_half_an_hour(set_name: str, tmp_path: Path) -> None:
    """With PrusaSlicer's defaults, without a warning, in its given orientation."""
    assert main(["coupon", "--for", set_name, "-o", str(tmp_path / "made"), "-q"]) == 0
    gcode, plate = tmp_path / "coupon.gcode", tmp_path / "made/coupon.3mf"
    command = ["prusa-slicer", "--export-gcode", "-o", str(gcode), str(plate)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "warning" not in (ran.stdout + ran.stderr).lower()
    [minutes] = re.findall(r"estimated printing time \(normal mode\) = (\d+)m", gcode.read_text())
    assert int(minutes) < 30
    command = ["prusa-slicer", "--info", str(plate)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.count("manifold = yes") == 5 + (set_name in ("fridgeiq", "iqstars"))
    sizes = {round(float(x), 1) for x in re.findall(r"size_x = ([0-9.]+)", output)}
    assert {45.0, 29.0} <= sizes, "X must remain X on the bed"


def test_of_a_laser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_json: Callable[..., Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    document = run_json("coupon", "--laser", "-o", "cut", "-s", "laser.kerf=0.2 mm")
    assert document["kind"] == "laser"
    assert {one["what"] for one in document["places"]} == {"tab X", "tab Y", "slot X", "slot Y"}
    for name in ("coupon.svg", "coupon.dxf", "coupon.pdf", "measured.csv"):
        assert (tmp_path / "cut" / name).stat().st_size
    import ezdxf

    space = ezdxf.readfile("cut/coupon.dxf").modelspace()
    [cut] = space.query('LWPOLYLINE[layer=="CUT"]')
    corners = np.array([point[:2] for point in cut.get_points()])
    # Along its nominal outline: nothing makes up for the kerf that is to be found.
    assert np.ptp(corners, axis=0) == pytest.approx([45, 45])


# --- calibrate as users call it -------------------------------------------------------------


def test_values_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the drawing's numbers; Enter skips, a word is asked for again, Ctrl-D ends."""
    monkeypatch.chdir(tmp_path)
    places = coupon_places(load_profile())
    typed = {
        one.number: f"{one.nominal_mm + 0.1:.2f}" for one in places.values() if one.axis != "z"
    }
    typed[5] = f"nine\n{places[5].nominal_mm:.2f} {places[5].nominal_mm + 0.2:.2f}"
    lines = [typed[number] for number in places if number in typed and number < 50]
    lines.insert(list(places).index(28), "")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    assert main(["calibrate", "-o", "found.toml", "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [one["name"].split()[0] for one in document["residuals"]] == [
        str(number) for number in places if number != 28 and number < 50
    ]
    assert '  5  hole Y, 10.00 mm: expected a length in mm such as 20.05, found "nine"' in err
    assert "foot" not in document["values"]
    assert load_profile(["found.toml"]).side_sd_mm > 0
    assert Path("found.svg").read_text().startswith("<svg")
    capsys.readouterr()
    assert main(["calibrate", "-o", "again.toml", "--from", "found.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"] == document["values"]
    assert main(["calibrate", "-o", "found.toml"]) == 2
    assert "exist already; overwrite with --force" in capsys.readouterr().err


def test_the_recess_that_held_a_magnet_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its letter; it decides the press fit, and nothing else, and is kept with the other values."""
    monkeypatch.chdir(tmp_path)
    places = coupon_places(load_profile())
    measured = [f"{one.nominal_mm:.2f}" for one in places.values() if one.kind != "magnet"]
    for name, letter in (("narrow", "K\nb"), ("wide", "D"), ("untried", "")):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*measured, letter]) + "\n"))
        assert main(["calibrate", "-o", f"{name}.toml", "--json", "--force"]) == 0
    err = capsys.readouterr().err
    assert " 80  magnet held (A to E): expected the letter of a recess, A, B, C, D or E" in err
    narrow, wide, untried = (load_profile([f"{one}.toml"]) for one in ("narrow", "wide", "untried"))
    # A perfect printer. B is 10.05 mm, so that one magnet is about 10.075 mm wide; D is 10.15 mm.
    assert 0 < untried.press_mm + 0.03 < narrow.press_mm + 0.03 < wide.press_mm + 0.03
    assert narrow.press_mm == pytest.approx(0.075 - 0.029, abs=0.03)
    assert wide.press_mm == pytest.approx(0.175 - 0.029, abs=0.04)
    assert narrow.glue_mm == wide.glue_mm == untried.glue_mm == pytest.approx(0.5, abs=0.01)
    assert (Path("wide.csv").read_text().splitlines()[-1]) == "80,magnet held (A to E),10.10,D"
    assert main(["calibrate", "-o", "again.toml", "--force", "--from", "wide.csv"]) == 0
    assert load_profile(["again.toml"]).press_mm == wide.press_mm
    assert "a magnet was held by a recess drawn 10.15 mm wide" in capsys.readouterr().out


@pytest.mark.integration
def test_a_coupon_and_a_jig_are_made_again_only_when_something_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = {
        "coupon --laser -o cut": "cut/coupon.dxf",
        "coupon --laser -o cut -s laser.kerf=0.3mm": "cut/coupon.dxf",
        "jig -o tool": "tool/jig/jig-N.stl",
        "jig -o tool -s magnet.diameter=8mm": "tool/jig/jig-N.stl",
    }
    for command, file in commands.items():
        outputs, times = [], []
        for _ in range(2):
            assert main(command.split()) == 0
            outputs.append(capsys.readouterr().out)
            times.append(Path(file).stat().st_mtime_ns)
        assert "Wrote" in outputs[0], command
        assert "Already up to date: " in outputs[1], command
        assert times[0] == times[1]
