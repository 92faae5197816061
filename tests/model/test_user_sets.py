"""Sets that people draw themselves: holes, hexagons, long labels, titles with markup."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import trimesh

from fabkit.build import export
from fabkit.cli import main
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.model.setfile import PALETTE
from fabkit.output.pieces import piece_sheet

RINGS = """
[set]
name = "rings"
title = "Rings & <b>bold</b> \\"ones\\""
lattice = "{lattice}"
moves = "rotations"

[[piece]]
id = "O"
label = "Ab1"
cells = {ring}

[[piece]]
id = "I"
label = "Θ"
cells = [[0, 0], [0, 1], [0, 2]]
"""
RING_OF = {
    "square": [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 2]],
    "quarter-square": [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 2]],
    "triangular": [[0, 0], [0, 1], [1, 1], [2, 1], [2, 0], [1, -1]],
}


@pytest.fixture(params=list(RING_OF))
def rings(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "rings.toml"
    path.write_text(
        RINGS.format(lattice=request.param, ring=RING_OF[request.param]), encoding="utf-8"
    )
    return path


@pytest.mark.every(4)
@pytest.mark.parametrize("fit", ["press", "embedded", "none"])
def test_a_piece_with_a_hole_is_printed_with_its_hole(
    rings: Path, fit: str, tmp_path: Path
) -> None:
    profile = load_profile((), [f"recess.fit={fit}"])
    done = export(load_set(str(rings)), profile, ["stl"], tmp_path / "out")
    mesh = trimesh.load(tmp_path / "out/stl/O.stl")
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    # Euler's number: 0 for a body with one hole through it, and 2 for each cavity.
    cavities = len(done.pieces["O"]["magnets_mm"]) if fit == "embedded" else 0
    assert mesh.euler_number == 2 * cavities


def test_a_title_with_markup_is_only_text(rings: Path) -> None:
    puzzle = load_set(str(rings))
    root = ElementTree.fromstring(piece_sheet(puzzle, puzzle.pieces, load_profile()))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == 'Rings & <b>bold</b> "ones"'
    assert not list(root.iter("{http://www.w3.org/2000/svg}b"))


def test_a_drawing_is_to_scale(rings: Path) -> None:
    """One unit of the SVG's own coordinates is a millimetre on paper."""
    puzzle = load_set(str(rings))
    root = ElementTree.fromstring(piece_sheet(puzzle, puzzle.pieces, load_profile()))
    width, height = root.attrib["viewBox"].split()[2:]
    assert root.attrib["width"] == f"{width}mm"
    assert root.attrib["height"] == f"{height}mm"


COUNTED = """
set = { name = "counted", lattice = "square", moves = "rotations", unit = "20 mm" }
board = [{ id = "tray", size = [4, 4] }]

[[piece]]
id = "D"
count = 8
rows = ["XX"]

[[piece]]
id = "red"
count = 2
label = "R"
colour = "#cc0000"
rows = ["XX", "X."]

[[challenge]]
id = "dominoes"
board = "tray"
pieces = ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8"]
"""


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "counted.toml"
    path.write_text(COUNTED, encoding="utf-8")
    return path


def test_a_count_makes_equal_pieces(counted: Path) -> None:
    puzzle = load_set(str(counted))
    assert [piece.id for piece in puzzle.pieces] == [f"D{i}" for i in range(1, 9)] + [
        "red1",
        "red2",
    ]
    assert len({replace(piece, id="") for piece in puzzle.pieces}) == 2
    one, *_, other = puzzle.pieces
    assert (one.label, one.colour) == ("D", PALETTE[0])
    assert (other.label, other.colour, puzzle.area) == ("R", "#cc0000", 22)


def test_counted_pieces_are_interchangeable(
    counted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There are 36 ways to cover a square of 4 x 4 with dominoes."""
    assert main(["solve", counted.name, "dominoes", "--count", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["count"], answer["count_labelled"]) == (36, 36 * math.factorial(8))


def test_counted_pieces_are_printed_each(counted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bom", counted.name, "--json", "-s", "board.make=none"]) == 0
    assert len(json.loads(capsys.readouterr().out)["pieces"]) == 10
    assert main(["show", counted.name]) == 0
    shown = capsys.readouterr()
    assert "red2" in shown.out
    assert "same label" not in shown.err
    chosen = ["--piece", "red1", "--piece", "red2", "-s", "recess.fit=none"]
    assert main(["export-stl", counted.name, *chosen]) == 0
    one, other = (counted.parent / f"output/counted/stl/red{i}.stl" for i in (1, 2))
    assert trimesh.load(one).volume == trimesh.load(other).volume
