"""Sets that people draw themselves: holes, hexagons, long labels, titles with markup."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import trimesh

from fabkit.build import export
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
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
