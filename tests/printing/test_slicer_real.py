"""The real PrusaSlicer's verdict on small plates."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from fabkit.core.errors import OutsideError
from fabkit.model.profilefile import load_profile
from fabkit.printing.package import pause_parts
from fabkit.printing.slicer.finding import find_slicer
from fabkit.printing.slicer.settings import print_settings
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import Expected, Feature, Verdict
from tests.support.platefiles import Thing, box, hollow, opened, prusa_slicer, write_plate

PROFILE = load_profile()
FLIPPABLE = load_profile(["flippable"])
BODY = hollow(box((0, 0, 0), (20, 20, 5.2)), box((5, 5, 1.0), (15, 15, 4.2)))
BLOCK = box((0, 0, 0), (20, 20, 4.6))
LETTER = box((5, 5, 4.6), (15, 15, 5.2))


def real(
    folder: Path,
    things: Sequence[Thing],
    expected: Expected,
    profile=PROFILE,
    parts=MappingProxyType({}),
) -> Verdict:
    model = write_plate(folder / "plate one.3mf", things, parts)
    return slice_plate(find_slicer(), model, folder / "out" / "plate.gcode", profile, expected)


@prusa_slicer
def test_a_hollow_box_with_a_pause(tmp_path: Path) -> None:
    features = (Feature("letter", 4.8, 5.2), Feature("recess", 1.0, 4.2))
    expected = Expected(("P",), 4.2, features=features)
    found = real(
        tmp_path, [Thing("P", [(BODY, 1)])], expected, FLIPPABLE, pause_parts(4.2, FLIPPABLE)
    )
    assert found.reasons == ()
    document = json.loads(json.dumps(found.document()))
    assert document["slicer"]["name"] == "PrusaSlicer"
    assert document["pauses"] == [{"after_layer": 21, "height_mm": 4.2}]
    assert (document["layers"], document["height_mm"]) == (26, 5.2)
    assert document["objects"] == [
        {
            "name": "P",
            "manifold": True,
            "low_mm": 0.0,
            "high_mm": 5.2,
            "first_layer": 1,
            "last_layer": 26,
            "layers": 26,
        }
    ]
    layers = {f["name"]: (f["first_layer"], f["last_layer"]) for f in document["features"]}
    assert layers == {"letter": (25, 26), "recess": (6, 21)}
    assert all(f["begins_on_layer"] and f["ends_on_layer"] for f in document["features"])
    # The box weighs between what its shell of three lines does and what it would if it were full.
    full_g = (20 * 20 * 5.2 - 10 * 10 * 3.2) / 1000 * PROFILE.filament_density
    assert 0.5 * full_g < document["grams"] < full_g
    length_m = document["grams"] / PROFILE.filament_density / (3.14159 * 0.0875**2) / 100
    assert document["metres"] == pytest.approx(length_m, rel=0.01)
    assert 120 < document["seconds"] < 3600
    assert document["extruders"][0]["grams"] == document["grams"]


@prusa_slicer
def test_a_missing_pause_is_noticed(tmp_path: Path) -> None:
    found = real(tmp_path, [Thing("P", [(BODY, 1)])], Expected(("P",), 4.2), FLIPPABLE)
    assert found.reasons == ("the pause at 4.2 mm is missing",)


@prusa_slicer
def test_two_objects_with_odd_names_at_their_places(tmp_path: Path) -> None:
    names = ("two words", 'B <&"é id:7 copy 3')
    things = [
        Thing(name, [(BLOCK, 1)], [(50.0 + 40 * index, 60.0)]) for index, name in enumerate(names)
    ]
    found = real(tmp_path, things, Expected(names))
    assert found.reasons == ()
    assert tuple(one.name for one in found.gcode.printed) == names
    first, second = (one.box for one in found.gcode.printed)
    assert first == pytest.approx((50.2, 60.2, 69.8, 79.8), abs=0.05)
    assert second == pytest.approx((90.2, 60.2, 109.8, 79.8), abs=0.05)


@prusa_slicer
def test_an_object_twice(tmp_path: Path) -> None:
    thing = Thing("A", [(BLOCK, 1)], [(50, 60), (90, 60)])
    assert real(tmp_path, [thing], Expected(("A", "A"))).reasons == ()
    assert real(tmp_path, [thing], Expected(("A",))).reasons == (
        'object "A" is printed, and nobody asked for it',
    )


@prusa_slicer
def test_an_open_mesh_is_sliced_and_yet_refused(tmp_path: Path) -> None:
    things = [Thing("A", [(opened(BLOCK), 1)]), Thing("B", [(BLOCK, 1)], [(90, 50)])]
    found = real(tmp_path, things, Expected(("A", "B")))
    assert 'the mesh of object "A" is not manifold: 3 open edges' in found.reasons
    assert {
        one.name: closed for one, closed in zip(found.gcode.printed, found.manifold, strict=True)
    } == {
        "A": False,
        "B": True,
    }


@prusa_slicer
def test_an_empty_layer_is_refused(tmp_path: Path) -> None:
    floating = Thing("A", [(box((0, 0, 0), (20, 20, 2)), 1), (box((0, 0, 3), (20, 20, 5)), 1)])
    found = real(tmp_path, [floating], Expected(("A",)))
    assert any("Empty layer between 2 and 3.2" in reason for reason in found.reasons)
    assert any("layer 11 reaches from 2 mm to 3.2 mm" in reason for reason in found.reasons)


@prusa_slicer
def test_beside_the_bed_is_refused_though_the_slicer_does_not_mind(tmp_path: Path) -> None:
    things = [Thing("A", [(BLOCK, 1)]), Thing("B", [(BLOCK, 1)], [(240, 50)])]
    (reason,) = real(tmp_path, things, Expected(("A", "B"))).reasons
    assert "which is not all on the bed" in reason


@prusa_slicer
@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04" + bytes(1000)])
def test_a_file_that_is_no_plate(content: bytes, tmp_path: Path) -> None:
    model = tmp_path / "mine.3mf"
    model.write_bytes(content)
    with pytest.raises(OutsideError, match=r"^mine\.3mf: PrusaSlicer .* ended with exit code 1"):
        slice_plate(find_slicer(), model, tmp_path / "out" / "g", PROFILE, Expected(()))
    assert list((tmp_path / "out").iterdir()) == []


@prusa_slicer
def test_an_object_that_is_too_thin_to_print(tmp_path: Path) -> None:
    thing = Thing("A", [(box((0, 0, 0), (0.05, 20, 5)), 1)])
    with pytest.raises(OutsideError, match=r"plate one\.3mf: .*its last words: The print is empty"):
        real(tmp_path, [thing], Expected(("A",)))


@prusa_slicer
@pytest.mark.parametrize("tower", [40.0, 0.0])
def test_a_letter_of_a_second_colour(tower: float, tmp_path: Path) -> None:
    profile = replace(FLIPPABLE, inlay="letter", tower_mm=tower)
    thing = Thing("A", [(BLOCK, 1), (LETTER, 2)])
    expected = Expected(("A",), 4.2, 2, (Feature("letter", 4.6, 5.2),))
    found = real(tmp_path, [thing], expected, profile, pause_parts(4.2, profile))
    assert found.reasons == ()
    first, second = found.document()["extruders"]
    assert first["grams"] > second["grams"] > 0
    text = (tmp_path / "out" / "plate.gcode").read_text()
    # The second filament is first taken for the letter's first layer.
    change = text.rindex("\nT1")
    assert f";Z:{4.8:g}\n" in text[:change]
    if tower:  # it stands in the corner that plates keep free
        left, _, right, back = found.gcode.box
        assert (right, back) < (profile.bed_width_mm - profile.plate_edge_mm,) * 2
        assert right > profile.bed_width_mm - profile.plate_edge_mm - tower
        assert left == pytest.approx(50.2, abs=0.05)


@prusa_slicer
def test_the_same_plate_gives_the_same_bytes(tmp_path: Path) -> None:
    texts = []
    for _ in range(2):
        assert real(tmp_path, [Thing("A", [(BODY, 1)])], Expected(("A",))).printable
        texts.append((tmp_path / "out" / "plate.gcode").read_bytes())
        time.sleep(1.1)
    assert texts[0] == texts[1]


@prusa_slicer
def test_the_settings_reach_the_slicer(tmp_path: Path) -> None:
    profile = replace(PROFILE, first_layer_mm=0.3, layer_mm=0.15, filament="PETG")
    assert real(
        tmp_path, [Thing("A", [(box((0, 0, 0), (20, 20, 4.5)), 1)])], Expected(("A",)), profile
    ).printable
    text = (tmp_path / "out" / "plate.gcode").read_text()
    taken = dict(
        line[2:].split(" = ", 1)
        for line in text.splitlines()
        if line.startswith("; ") and " = " in line
    )
    for line in print_settings(profile, 1).splitlines():
        if not line.startswith("#") and "=" in line:
            key, _, value = line.partition("=")
            assert taken[key.strip()] == value.strip(), key


def test_a_strange_material_stays_out_of_the_settings() -> None:
    text = print_settings(replace(PROFILE, filament="PLA\npost_process = rm"), 1)
    assert "rm" not in text.replace("perimeters", "").replace("perimeter", "").split()
    assert "filament_type" not in text
    assert "\ntemperature = 0\n" in text
