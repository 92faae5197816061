"""Projects for OrcaSlicer and Bambu Studio: a second reader gets the plates, parts, colours,
filaments and pauses that were meant, and sees it when one of them is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabkit.cli.main import main
from fabkit.core.colours import contrast_ratio
from tests.support.platefiles import with_prusa
from tests.support.projectreader import Project, changed, read_project

SET = Path(__file__).resolve().parents[1] / "sets" / "two.toml"
BED_MM = (180.0, 180.0)
PROGRAMS = ("orcaslicer", "bambustudio")
#: Three pieces as large as the bed, each with a magnet and an inlaid letter: one plate each.
LARGE = ["-s", "unit=55 mm", "-s", "board.make=none", "-s", "label.inlay=letter"]
#: Pieces with closed cavities on the bed of an A1 mini.
EMBEDDED = ["-p", "flippable", "-p", "a1mini"]


def export(folder: Path, puzzle: str, *options: str) -> Path:
    """The 3MF file of a whole set."""
    for command in ("export-3mf", "plate"):
        assert main([command, puzzle, "-o", str(folder), "-q", *options]) == 0
    return folder / f"{Path(puzzle).stem}.3mf"


def laid_out(folder: Path) -> list[dict[str, Any]]:
    plates = json.loads((folder / "plates" / "plates.json").read_text())["plates"]
    assert isinstance(plates, list)
    return plates


def problems(project: Project, plates: Sequence[dict[str, Any]], filaments: int) -> list[str]:
    """What differs between what a program shows and the plates as they were laid out."""
    faults = list(project.faults)
    if len(project.filaments) != filaments:
        faults.append(f"{len(project.filaments)} filaments")
    for plate in plates:
        number, wanted = plate["number"], sorted(piece["piece"] for piece in plate["pieces"])
        shown = project.plates.get(number, [])
        if sorted(name for name, _ in shown) != wanted:
            faults.append(f"plate {number} holds {[name for name, _ in shown]}")
        colours = {piece["piece"]: piece["colour"] for piece in plate["pieces"]}
        for name, parts in shown:
            if [part.name for part in parts] != [name, f"{name} letter"]:
                faults.append(f"{name} has the parts {[part.name for part in parts]}")
                continue
            body, letter = parts
            if body.colour != colours.get(name):
                faults.append(f"{name} is {body.colour}")
            if contrast_ratio(body.colour or "#000000", letter.colour or "#000000") < 3:
                faults.append(f"the letter of {name} cannot be read")
            faults += [
                f"{part.name} looks {part.plain_colour}"
                for part in parts
                if part.plain_colour != part.colour
            ]
        top_mm, pauses = plate["pause_height_mm"], project.pauses_mm.get(number, [])
        # Before the first layer whose top is not below that height, with layers of 0.2 mm.
        heights = [round(math.ceil(pause / 0.2 - 1e-6) * 0.2 - 0.2, 3) for pause in pauses]
        if heights != ([] if top_mm is None else [top_mm]):
            faults.append(f"plate {number} pauses at {heights}")
    extra = sorted(set(project.plates) - {plate["number"] for plate in plates})
    return faults + [f"there is a plate {number}" for number in extra]


@pytest.fixture(scope="module")
def project_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("large"), str(SET), *EMBEDDED, *LARGE)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_project_has_its_plates_parts_colours_and_pauses(
    project_file: Path, program: str
) -> None:
    plates = laid_out(project_file.parent)
    assert len(plates) == 3
    project = read_project(project_file, program, BED_MM)
    assert problems(project, plates, 4) == []
    # The corner of the tower is kept free on each plate; see `Bin.corner`.
    assert len(project.towers) == 3
    for number, shown in project.plates.items():
        row, column = divmod(number - 1, 2)
        tower = np.add(project.towers[number - 1], (column * 216, -row * 216))
        for _, (body, _) in shown:
            assert not (body.vertices[:, :2] > tower).all(axis=1).any(), (number, body)


@pytest.mark.integration
def test_check_reads_projects_back(project_file: Path) -> None:
    """Letters are parts of their own there, and fill the engravings that `check` looks for."""
    options = [*EMBEDDED, *LARGE, "-q"]
    assert main(["check", "--set", str(SET), str(project_file), *options]) == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_plate_and_piece_has_a_project_of_its_own(project_file: Path, program: str) -> None:
    for plate in laid_out(project_file.parent):
        single = [plate | {"number": 1}]
        files = [project_file.parent / plate["file"]]
        files += [
            project_file.parent / "3mf" / f"{piece['piece']}.3mf" for piece in plate["pieces"]
        ]
        for path in files:
            assert problems(read_project(path, program, BED_MM), single, 4) == [], path


@pytest.mark.integration
def test_the_pauses_of_plates_are_their_own(tmp_path: Path) -> None:
    project = export(
        tmp_path, str(SET), *EMBEDDED, *LARGE, "-s", "recess.fit=press", "-s", "label.faces=front"
    )
    assert read_project(project, "orcaslicer", BED_MM).pauses_mm == {}


MODEL = "3D/3dmodel.model"
PARTS = "Metadata/model_settings.config"
SETTINGS = "Metadata/project_settings.config"
PAUSES = "Metadata/custom_gcode_per_layer.xml"
#: What is wrong in a file, and how it is made so.
FAULTS = {
    "a part without its settings": (PARTS, 'part id="', 'part id="9'),
    "an object without its settings": (PARTS, 'object id="', 'object id="9'),
    "an instance of another object": (PARTS, '"object_id" value="', '"object_id" value="9'),
    "a filament that is not there": (PARTS, r'(part">\s+<[^>]+>\s+<metadata key="extruder" value=)"', r'\1"7'),
    "a letter of the body's filament": (PARTS, r'(L letter" />\s+<metadata key="extruder" value=)"\d', r'\1"1'),
    "a plate too many": (PARTS, '"plater_id" value="3"', '"plater_id" value="4"'),
    "another application": (MODEL, "BambuStudio-", "fabkit "),
    "an object off its plate": (MODEL, "<item ", '<item transform="1 0 0 0 1 0 0 0 1 500 0 0" '),
    "a group of two colours": (MODEL, "</m:colorgroup>", '<m:color color="#010203FF"/></m:colorgroup>'),
    "no settings": (SETTINGS, "", ""),
    "no colours of filaments": (SETTINGS, '"filament_colour"', '"filament_color"'),
    "no preset of the printer": (SETTINGS, '"printer_settings_id"', '"printer_id"'),
    "a pause on the wrong plate": (PAUSES, 'plate_info id="2"', 'plate_info id="4"'),
    "a pause a layer late": (PAUSES, r'top_z="4\.21"', 'top_z="4.41"'),
    "no pause": (PAUSES, "", ""),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_the_second_reader_sees_a_planted_fault(
    fault: str, project_file: Path, tmp_path: Path
) -> None:
    name, pattern, new = FAULTS[fault]
    wrong = changed(project_file, name, pattern, new, tmp_path / "wrong.3mf")
    plates = laid_out(project_file.parent)
    found = [problems(read_project(wrong, program, BED_MM), plates, 4) for program in PROGRAMS]
    assert any(found), fault


@pytest.mark.integration
def test_files_for_prusaslicer_are_no_projects(tmp_path: Path) -> None:
    path = export(tmp_path, str(SET), "-p", "flippable", "-p", "mini", "-s", "filaments=4", *LARGE)
    for program in PROGRAMS:
        faults = problems(read_project(path, program, BED_MM), laid_out(tmp_path), 4)
        assert "geometry only" in faults[0]
        assert any("on no plate" in fault for fault in faults)


@with_prusa
def test_both_kinds_of_files_say_the_same(tmp_path: Path) -> None:
    """FridgeIQ with inlaid letters and embedded magnets, sixteen colours on four filaments."""
    options = ["-p", "flippable", "-s", "filaments=4", "-s", "label.inlay=letter"]
    options += ["-s", "plate.tower=60 mm"]
    path = export(tmp_path / "project", "fridgeiq", "-p", "a1mini", *options)
    plates = laid_out(path.parent)
    for program in PROGRAMS:
        project = read_project(path, program, BED_MM)
        assert problems(project, plates, 4) == []
    bodies = {
        name: [part.extruder for part in parts]
        for shown in project.plates.values()
        for name, parts in shown
    }
    assert len(bodies) == 16
    # PrusaSlicer, itself, with the same filaments on a bed of the same size.
    assert (
        main(["slice", "fridgeiq", "-o", str(tmp_path / "prusa"), "-q", "-p", "mini", *options])
        == 0
    )
    sliced = json.loads((tmp_path / "prusa" / "slice.json").read_text())
    assert sliced["printable"]
    whole = tmp_path / "prusa" / "fridgeiq.3mf"
    assert (
        main(["export-3mf", "fridgeiq", "-o", str(whole.parent), "-q", "-p", "mini", *options]) == 0
    )
    assert main(["check", "--set", "fridgeiq", str(whole), "-q", "-p", "mini", *options]) == 0
    assert len(sliced["plates"]) == len(plates)
    for plate, laid in zip(sliced["plates"], plates, strict=True):
        pieces = sorted(piece["piece"] for piece in laid["pieces"])
        assert sorted(printed["name"] for printed in plate["objects"]) == pieces
        assert [pause["height_mm"] for pause in plate["pauses"]] == [laid["pause_height_mm"]]
        assert len(plate["extruders"]) == 4
        assert all(extruder["grams"] for extruder in plate["extruders"])


def test_the_file_of_a_piece_follows_the_filaments_of_the_set(tmp_path: Path) -> None:
    """A board's colour is a filament in the files of all pieces."""
    options = ["-p", "a1mini", "-s", "filaments=all", "--piece", "L", "-q"]
    command = ["export-3mf", str(SET), *options, "-o"]
    assert main([*command, str(tmp_path / "again")]) == 0
    before = (tmp_path / "again" / "3mf" / "L.3mf").read_bytes()
    for name in ("again", "fresh"):
        assert main([*command, str(tmp_path / name), "-s", "board.colour=#123456"]) == 0
    again, fresh = ((tmp_path / name / "3mf" / "L.3mf").read_bytes() for name in ("again", "fresh"))
    assert again == fresh != before
    assert (
        "#123456"
        in read_project(tmp_path / "again" / "3mf" / "L.3mf", "orcaslicer", BED_MM).filaments
    )


@with_prusa
def test_plates_of_a_project_are_sliced_as_they_will_be_printed(tmp_path: Path) -> None:
    """With the filaments of the project, which PrusaSlicer does not read in it."""
    options = [
        "-o",
        str(tmp_path),
        "-q",
        *EMBEDDED,
        "-s",
        "filaments=2",
        "-s",
        "label.inlay=letter",
    ]
    assert main(["slice", str(SET), "-s", "board.make=none", *options]) == 0
    sliced = json.loads((tmp_path / "slice.json").read_text())
    assert sliced["printable"]
    assert all(sliced["extruder_grams"])
    assert len(sliced["extruder_grams"]) == 2
    assert main(["bom", str(SET), "-s", "board.make=none", *options]) == 0
    bom = json.loads((tmp_path / "bom.json").read_text())
    grams = sum(line["grams"] for line in bom["filament"])
    assert grams == pytest.approx(sum(sliced["extruder_grams"]), abs=0.1)
