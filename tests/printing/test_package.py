"""The printer pauses when a cavity is at its full depth and before it is closed: not a layer off."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from shapely import LineString, Point

from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.printing.package3mf import ORCA_PART, PRUSA_PART, pause_parts
from fabkit.printing.plate import layer_before_pause
from fabkit.printing.slicer.settings import print_settings
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support.platefiles import Printable, hollow, with_prusa, write_plate

FLIPPABLE = load_profile(["flippable"])
MIDDLE = Point(60, 60)


def layers_around_pauses(gcode: str) -> list[tuple[float, float]]:
    """For each pause the tops of the layers printed before and after it; another way of reading."""
    top, printed_top, stops = 0.0, 0.0, []
    for line in gcode.splitlines():
        if line.startswith(";Z:"):
            top = float(line[3:])
        elif line == "M601":
            stops.append((printed_top, 0.0))
        elif re.match(r"G1 .*[XY].* E\.?\d", line):
            printed_top = top
            stops = [(before, after or printed_top) for before, after in stops]
    return stops


def layers_over_the_cavity(gcode: str) -> tuple[list[float], list[float]]:
    """Tops of the layers with a line over the middle of the box, before the pause and after it."""
    found: tuple[list[float], list[float]] = ([], [])
    top, x, y, paused = 0.0, 0.0, 0.0, False
    for line in gcode.splitlines():
        paused |= line == "M601"
        if line.startswith(";Z:"):
            top = float(line[3:])
        words = {word[0]: word[1:] for word in line.split(";")[0].split()[1:]}
        if line.startswith("G1 ") and {"X", "Y"} & set(words):
            there = float(words.get("X", x)), float(words.get("Y", y))
            is_over = LineString([(x, y), there]).distance(MIDDLE) < 3
            if float(words.get("E", 0)) > 0 and is_over and top not in found[paused]:
                found[paused].append(top)
            x, y = there
    return found


def sliced(profile: Profile, parts: dict[str, bytes], folder: Path) -> str:
    """Slices a hollow box by hand."""
    plate = write_plate(folder / "plate.3mf", [Printable("P", [(hollow(), 1)])], parts)
    (folder / "own.ini").write_text(print_settings(profile, 1))
    options = ["--datadir", "data", "--load", "own.ini", "--dont-arrange", "--export-gcode"]
    subprocess.run(
        ["prusa-slicer", *options, "-o", "plate.gcode", plate.name],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return (folder / "plate.gcode").read_text()


@with_prusa
def test_prusaslicer_pauses_between_the_open_and_the_closing_layer(tmp_path: Path) -> None:
    parts = pause_parts([4.2], FLIPPABLE)
    gcode = sliced(FLIPPABLE, parts, tmp_path)
    assert layers_around_pauses(gcode) == [(4.2, 4.4)]
    # The pause height itself would be a layer too early.
    early = {name: content.replace(b'"4.21"', b'"4.2"') for name, content in parts.items()}
    assert layers_around_pauses(sliced(FLIPPABLE, early, tmp_path)) == [(4.0, 4.2)]


@with_prusa
@pytest.mark.parametrize("layers", [(0.2, 0.1), (0.25, 0.15), (0.2, 0.28)])
def test_prusaslicer_pauses_there_with_other_layers(
    layers: tuple[float, float], tmp_path: Path
) -> None:
    profile = replace(FLIPPABLE, first_layer_mm=layers[0], layer_mm=layers[1])
    for count in (1, 11):
        height_mm = round(layers[0] + count * layers[1], 6)
        [found] = layers_around_pauses(sliced(profile, pause_parts([height_mm], profile), tmp_path))
        assert found == pytest.approx((height_mm, height_mm + layers[1]), abs=1e-6)


@with_prusa
@pytest.mark.parametrize("layer_mm", [0.1, 0.15, 0.2, 0.3])
def test_nothing_lies_over_the_cavity_before_the_pause_whatever_the_layers(
    layer_mm: float, tmp_path: Path
) -> None:
    """The file is made for layers of 0.2 mm; who slices it chooses others."""
    other = replace(FLIPPABLE, layer_mm=layer_mm)
    gcode = sliced(other, pause_parts([4.2], FLIPPABLE), tmp_path)
    [(last_mm, _)] = layers_around_pauses(gcode)
    assert last_mm >= 4.0 + 1e-6  # the magnet of 3 mm on the floor of 1 mm does not stand out
    before, after = layers_over_the_cavity(gcode)
    assert before
    assert max(before) == pytest.approx(1.0, abs=0.6 * layer_mm)  # the floor alone
    assert min(after) == pytest.approx(4.2, abs=1.6 * layer_mm)


def test_the_parts_say_the_same_thing_twice() -> None:
    two = replace(FLIPPABLE, inlay="letter")
    for profile, mode in ((FLIPPABLE, "SingleExtruder"), (two, "MultiExtruder")):
        parts = pause_parts([4.2], profile)
        assert set(parts) == {PRUSA_PART, ORCA_PART}
        prusa, orca = ET.fromstring(parts[PRUSA_PART]), ET.fromstring(parts[ORCA_PART])
        assert (prusa.tag, orca.tag) == ("custom_gcodes_per_print_z", "custom_gcodes_per_layer")
        (code,), (layer,) = prusa.findall("code"), orca.findall("plate/layer")
        assert (code.attrib.pop("print_z"), layer.attrib.pop("top_z")) == ("4.21", "4.21")
        assert code.attrib == layer.attrib
        assert code.get("type") == "1"
        assert orca.find("plate/plate_info").attrib == {"id": "1"}  # type: ignore[union-attr]
        for found in (prusa.find("mode"), orca.find("plate/mode")):
            assert found.attrib == {"value": mode}  # type: ignore[union-attr]


def test_a_pause_comes_between_layers_only() -> None:
    with pytest.raises(ValueError, match=r"no layer ends at 4\.3 mm; the next one .* at 4\.4 mm"):
        pause_parts([4.3], FLIPPABLE)
    with pytest.raises(ValueError, match="no layer ends at 0 mm"):
        layer_before_pause(0, FLIPPABLE)
    puzzle = load_set("fridgeiq")
    for drawing in draft_all(puzzle, puzzle.pieces, FLIPPABLE, draft_flat_piece):
        assert drawing.pause_height_mm is not None
        assert layer_before_pause(drawing.pause_height_mm, FLIPPABLE) == 21
