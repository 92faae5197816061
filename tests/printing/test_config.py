"""A user's own print configuration: what is read of it, and what the real slicer makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.printing.slicer.config import read_config
from fabkit.printing.slicer.program import find_slicer, run_program
from fabkit.printing.slicer.settings import needed_settings, parse_settings
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import ExpectedPrint
from fabkit.profiles.profile_file import load_profile
from tests.printing.test_slice_command import slicer_of_pairs
from tests.support.fakeslicer import fake_slicer, gcode
from tests.support.platefiles import Printable, box, with_prusa, write_plate

PROFILE = load_profile()
MINE = """
layer_height = 0.2
first_layer_height = 0.2
nozzle_diameter = 0.4,0.4
bed_shape = 0x0,180x0,180x180,0x180
max_print_height = 180
filament_type = PETG;PLA
filament_density = 1.27,1.24
filament_diameter = 1.75,1.75
filament_cost = 30,20
skirts = 0
"""


def config_file(path: Path, *more: str, text: str = MINE) -> Path:
    values = parse_settings(text) | parse_settings("\n".join(more))
    path.write_text("".join(f"{key} = {value}\n" for key, value in values.items()))
    return path


def test_what_is_read(tmp_path: Path) -> None:
    mine = config_file(tmp_path / "mine.ini")
    mine.write_text(f"# exported\n\n{mine.read_text()}notes =\n")
    config = read_config(mine, PROFILE)
    assert (config.name, config.nozzles) == ("mine.ini", 2)
    assert config.bed.corners == ((0, 0), (180, 0), (180, 180), (0, 180))
    assert config.bed.height_mm == 180
    assert config.filament == {
        "filament_density": 1.27, "filament_diameter_mm": 1.75, "filament_price": 30.0, "filament": "PETG",
    }  # fmt: skip
    free = config_file(tmp_path / "free.ini", "filament_cost = 0")
    assert "filament_price" not in read_config(free, PROFILE).filament


def test_more_colours_than_the_printer_has(tmp_path: Path) -> None:
    text = MINE.replace("0.4,0.4", "0.4")
    config = read_config(config_file(tmp_path / "mine.ini", text=text), PROFILE)
    slicer = find_slicer(str(fake_slicer(tmp_path)))
    model, expected = tmp_path / "plate.3mf", ExpectedPrint(("A",), extruders=2)
    with pytest.raises(
        InputError, match=r"mine\.ini: nozzle_diameter: is for 1 extruder, and plate"
    ):
        slice_plate(slicer, model, tmp_path / "g", PROFILE, expected, config=config)


def test_a_tower_is_moved_but_not_switched() -> None:
    assert parse_settings(needed_settings(PROFILE, 3)).items() >= {
        ("wipe_tower_x", "207.5"), ("wipe_tower_y", "167.5"), ("wipe_tower_width", "35")
    }  # fmt: skip
    assert "wipe_tower" not in parse_settings(needed_settings(PROFILE, 3))
    assert not any("tower" in key for key in parse_settings(needed_settings(PROFILE, 1)))


@pytest.mark.integration
def test_plates_are_sliced_again_when_the_configuration_changes(
    pair: str, run_json: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slicer = ("--slicer", slicer_of_pairs(tmp_path / "slicer"))
    generic = run_json("slice", pair, *slicer)
    assert generic["config"] is None
    assert ["must not be printed" in note for note in generic["notes"]] == [True]
    assert main(["slice", pair, *slicer]) == 0
    assert "must not be printed" in capsys.readouterr().out
    assert run_json("bom", pair)["slicer"] == "PrusaSlicer 2.5.0 with generic settings"
    digests = []
    for cost in ("40", "50"):
        mine = config_file(tmp_path / "mine.ini", f"filament_cost = {cost}")
        document = run_json("slice", pair, *slicer, "--config", str(mine))
        digests.append(document["config"]["sha256"])
        assert (document["config"]["file"], document["notes"]) == ("mine.ini", [])
        bom = run_json("bom", pair)
        assert bom["slicer"] == "PrusaSlicer 2.5.0 with mine.ini"
        assert {line["material"] for line in bom["filament"]} == {"PETG"}
        assert bom["cost"]["filament"] == pytest.approx(1.49 * float(cost) / 1000, abs=0.01)
    assert digests[0] != digests[1]
    assert main(["slice", pair, *slicer, "--config", str(mine)]) == 0
    assert "Already up to date" in capsys.readouterr().out


def test_progress_is_the_slicers(tmp_path: Path) -> None:
    steps = "print('20 => Generating perimeters'); print('10 => Again'); print('90 => Exporting')"
    slicer = find_slicer(str(fake_slicer(tmp_path, f"write({gcode()!r}); {steps}")))
    model = tmp_path / "plate.3mf"
    model.write_bytes(b"a plate")
    heard: list[tuple[float, str]] = []
    slice_plate(
        slicer, model, tmp_path / "g", PROFILE, ExpectedPrint(("A",)),
        progress=lambda share, text: heard.append((share, text)),
    )  # fmt: skip
    assert heard == [(0.2, "Generating perimeters"), (0.2, "Again"), (0.9, "Exporting")]


def sliced(folder: Path, *more: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The verdict on a block, and the settings in its G-code."""
    config = read_config(config_file(folder / "mine.ini", *more), PROFILE)
    model = write_plate(
        folder / "plate.3mf", [Printable("A", [(box((0, 0, 0), (20, 20, 4.6)), 1)])]
    )
    gcode, expected = folder / "plate.gcode", ExpectedPrint(("A",))
    verdict = slice_plate(find_slicer(), model, gcode, PROFILE, expected, config=config)
    lines = gcode.read_text().splitlines()
    used = "\n".join(line[2:] for line in lines if re.match("; .* = ", line))
    return verdict, parse_settings(used)


@with_prusa
def test_the_users_settings_count_but_for_what_fabkit_needs(tmp_path: Path) -> None:
    foreign = (
        "complete_objects = 1",
        "gcode_label_objects = 0",
        f"post_process = /bin/touch {tmp_path}/no",
    )
    verdict, used = sliced(tmp_path, "perimeters = 2", "fill_density = 15%", *foreign)
    assert verdict["reasons"] == []
    expected = {"perimeters": "2", "fill_density": "15%", "filament_density": "1.27,1.24"}
    expected |= {"complete_objects": "0", "gcode_label_objects": "1", "post_process": ""}
    assert expected.items() <= used.items()
    assert not (tmp_path / "no").exists()
    lighter, _ = sliced(tmp_path, "perimeters = 1", "fill_density = 5%")
    assert lighter["grams"] < verdict["grams"]


@with_prusa
def test_a_bed_that_is_too_small_or_round(tmp_path: Path) -> None:
    [reason] = sliced(tmp_path, "bed_shape = 0x0,60x0,60x60,0x60")[0]["reasons"]
    assert reason.startswith("it prints from (50.2, 50.2) to (69.8, 69.8) mm, which is not all on")
    assert reason.endswith(
        "of mine.ini, (0, 0) to (60, 60) mm; choose printer.bed_width and printer.bed_depth for it"
    )
    # The block is inside the square around it, and its corner is not on it.
    assert sliced(tmp_path, "bed_shape = 0x36,36x0,72x36,36x72")[0]["reasons"]
    assert sliced(tmp_path, "bed_shape = 0x60,60x0,120x60,60x120")[0]["reasons"] == []


@with_prusa
def test_a_value_that_the_slicer_refuses(tmp_path: Path) -> None:
    message = "mine.ini: PrusaSlicer refuses it: Invalid value provided for parameter perimeters: x"
    with pytest.raises(InputError, match=message):
        sliced(tmp_path, "perimeters = x")


@with_prusa
def test_the_slicers_steps_are_heard_at_once(tmp_path: Path) -> None:
    model = write_plate(
        tmp_path / "plate.3mf", [Printable("A", [(box((0, 0, 0), (20, 20, 4.6)), 1)])]
    )
    written = []
    gcode = tmp_path / "plate.gcode"
    command = [find_slicer().path, "--datadir", "d", "--export-gcode", "-o", gcode, model]
    run_program(command, tmp_path, 60, lambda line: written.append(gcode.exists()))
    assert (written[0], written[-1]) == (False, True)
