"""Sets that people draw: in rows, by cells, by outlines, in SVG files; in two tones; counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fabkit.build.artifacts import Artifacts
from fabkit.build.export import export
from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import looks_at, normalize_cells
from fabkit.model.polygon import OutlineError, cells_of_rings, rings_of_cells
from fabkit.model.puzzle import default_board, rings_to_units
from fabkit.output.pieces import piece_sheet
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.challenges import challenge_in_file, find_challenge
from fabkit.sets.library import load_set
from fabkit.sets.piece_reader import PALETTE
from fabkit.sets.set_file import read_set
from tests.support.docpages import example
from tests.support.drawnsets import QUARTER, SQUARE, drawing, read, svg_cells, written
from tests.support.sketches import board
from tests.support.strategies import cell_sets, piece_of

Shape = tuple[Lattice, frozenset[Cell]]

# --- the same shape, drawn in four ways -------------------------------------------------------


def as_rows(cells: frozenset[Cell]) -> list[str]:
    places = {SQUARE.row_col(cell) for cell in cells}
    (top, bottom), (left, right) = ((min(side), max(side)) for side in zip(*places, strict=True))
    columns = range(left, right + 1)
    return ["".join(".X"[(r, c) in places] for c in columns) for r in range(top, bottom + 1)]


def as_path(shape: Shape, unit: float, x: float, y: float) -> str:
    """The outline as an SVG path, y down; shapes that hang together by a point are passed over."""
    lattice, cells = shape
    try:
        cells_of_rings(lattice, rings_of_cells(lattice, cells))
    except OutlineError:
        assume(False)
    rings = rings_to_units(lattice, rings_of_cells(lattice, cells))
    parts = (
        " L ".join(f"{x + px * unit:.6g},{y - py * unit:.6g}" for px, py in ring) for ring in rings
    )
    return f'<path d="{"".join(f"M {part} Z " for part in parts)}"/>'


@given(
    cell_sets(SQUARE, most=14),
    st.floats(0, 150),
    st.floats(0, 150),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_rows_cells_outline_and_svg_are_one_shape(
    tmp_path_factory: pytest.TempPathFactory, shape: Shape, x: float, y: float, scale: float
) -> None:
    """A polyomino has the same form regardless of its place and scale on the page."""
    cells, folder = shape[1], tmp_path_factory.mktemp("four")
    size = f'width="{200 * scale:g}mm" height="{200 * scale:g}mm" viewBox="0 0 200 200"'
    drawing(folder, as_path(shape, 20 / scale, x, y), size)
    drawings = {
        "rows": as_rows(cells),
        "cells": [list(SQUARE.row_col(cell)) for cell in sorted(cells)],
        "outline": [[list(p) for p in ring] for ring in rings_to_units(SQUARE, rings_of_cells(*shape))],
        "svg": '"shapes.svg"',
    }  # fmt: skip
    body = "".join(f'[[piece]]\nid = "{k}"\n{k} = {v}\n' for k, v in drawings.items())
    puzzle = read_set(written(folder, body, extra='chequer = "#5d3a1a"\n'))
    assert [piece.id for piece in puzzle.pieces] == list(drawings)
    forms, tones = set(), set()
    for piece in puzzle.pieces:
        own = piece.forms[0].cells
        ax, ay = SQUARE.anchor(own)
        forms.add(normalize_cells(SQUARE, own))
        tones.add(frozenset((px - ax, py - ay) for px, py in piece.tones))
    assert forms == {normalize_cells(SQUARE, cells)}
    assert len(tones) == 1, "the tones depend on how a piece is drawn"


@given(cell_sets(QUARTER), st.integers(0, 8), st.integers(0, 8))
def test_diagonals_are_read_where_they_are_drawn(
    tmp_path_factory: pytest.TempPathFactory, shape: Shape, x: int, y: int
) -> None:
    path, folder = as_path(shape, 20, 20 * x, 20 * y), tmp_path_factory.mktemp("quarters")
    assert svg_cells(folder, path, lattice=QUARTER) == normalize_cells(QUARTER, shape[1])


def test_rows_lie_as_cells_do(tmp_path: Path) -> None:
    """Odd rows of hexagons are shifted; a letter is a whole square of quarters."""
    body = '[[piece]]\nid = "A"\nrows = [".aa", "aa ", "..a"]\n'
    body += '[[piece]]\nid = "B"\ncells = [[0, 1], [0, 2], [1, 0], [1, 1], [2, 2]]\n'
    one, other = read(tmp_path, body, "hexagon").pieces
    assert one.forms == other.forms
    puzzle = read(tmp_path, '[[piece]]\nid = "A"\nrows = ["XX"]\narea = 2\n', "quarter-square")
    assert len(puzzle.pieces[0].forms[0].cells) == 8


def test_a_board_is_drawn_as_a_piece_is(tmp_path: Path) -> None:
    drawing(tmp_path, '<rect id="tray" width="60" height="40"/>')
    body = '[[piece]]\nid = "A"\nrows = ["XX"]\n'
    drawings = {"size": "[2, 3]", "rows": "[3, 3]", "svg": '"shapes.svg"'}
    body += "".join(f'[[board]]\nid = "{k}"\n{k} = {v}\n' for k, v in drawings.items())
    body += '[[board]]\nid = "text"\nrows = ["XXX", "XXX"]\n'
    assert {one.cells for one in read(tmp_path, body).boards} == {board("square", 2, 3)}


def test_the_documented_pentominoes_are_the_twelve(tmp_path: Path) -> None:
    path = tmp_path / "pentominoes.toml"
    path.write_text(example("pentominoes.toml"))
    puzzle, known = load_set(str(path)), load_set("pentominoes")
    images = [
        {
            piece.id: {
                normalize_cells(SQUARE, map(s, piece.forms[0].cells)) for s in SQUARE.symmetries
            }
            for piece in one.pieces
        }
        for one in (puzzle, known)
    ]
    assert images[0] == images[1]
    assert find_challenge(puzzle, None).region == known.boards[0].cells


# --- two tones --------------------------------------------------------------------------------


def is_chequered(cells: frozenset[Cell], tones: frozenset[Cell]) -> bool:
    """Whether of any two neighbours one is toned."""
    return tones <= cells and all(
        ((x, y) in tones) != (other in tones)
        for x, y in cells
        for other in {(x + 2, y), (x, y + 2)} & cells  # cells are two steps apart
    )


def test_cubi_magici_alone_has_tones_as_many_as_its_picture() -> None:
    cubi = load_set("cubimagici")
    dark = sum(len(piece.tones) for piece in cubi.pieces)
    assert (dark, int(cubi.area) - dark) == (27, 22)
    assert all(is_chequered(piece.forms[0].cells, piece.tones) for piece in cubi.pieces)
    for name in ("fridgeiq", "iqfit", "iqstars", "iqblock"):
        assert not any(piece.tones or piece.tone for piece in load_set(name).pieces)


@given(cell_sets(SQUARE, most=8), st.sampled_from(SQUARE.symmetries))
def test_tones_lie_as_their_piece_does(shape: Shape, symmetry: Any) -> None:
    cells = shape[1]
    tones = frozenset(cell for cell in cells if sum(SQUARE.row_col(cell)) % 2)
    placed = frozenset((x + 6, y - 4) for x, y in map(symmetry, cells))
    piece = replace(piece_of(SQUARE, cells), tones=tones, tone="#123456")
    found = looks_at(SQUARE, piece, placed, {}).keys()
    assert is_chequered(placed, found)
    assert len(found) == len(tones)


# --- boards -----------------------------------------------------------------------------------


def test_an_optional_board_is_nobody_s_default(tmp_path: Path) -> None:
    fridgeiq = load_set("fridgeiq")
    tray, box = fridgeiq.boards
    assert (tray.id, tray.optional, len(tray.cells)) == ("tray", True, 36 * 4)
    assert (box.id, box.optional, len(box.cells)) == ("box", True, 40 * 4)
    rectangle = find_challenge(fridgeiq, "rectangle_10_b").region
    assert normalize_cells(QUARTER, rectangle) == normalize_cells(QUARTER, box.cells)
    assert default_board(fridgeiq.boards) is None
    square = find_challenge(fridgeiq, "square_09").region
    assert normalize_cells(QUARTER, square) == normalize_cells(QUARTER, tray.cells)
    path = tmp_path / "file.toml"
    path.write_text('pieces = "B"\n')
    with pytest.raises(InputError, match="no board is named"):
        challenge_in_file(path, fridgeiq)
    path.write_text('pieces = "B"\nboard = "tray"\n')
    assert challenge_in_file(path, fridgeiq).challenge.region == tray.cells
    body = """
[[piece]]
id = "A"
rows = ["XX"]
[[board]]
id = "large"
size = [9, 9]
optional = true
[[board]]
id = "small"
size = [1, 2]
[[challenge]]
id = "one"
"""
    puzzle = read(tmp_path, body)
    assert find_challenge(puzzle, None).id == "small"
    path.write_text("cells = [0, 1]\n")
    small = puzzle.boards[1].cells
    assert small == puzzle.challenges[0].region == challenge_in_file(path, puzzle).challenge.region


#: A board with texts that are no words, and room for two families.
LABELLED = """
[[piece]]
id = "A"
rows = ["XX"]
[[piece]]
id = "B"
rows = ["XX"]
[[board]]
id = "tray"
size = [2, 3]
labels = ["Mär ß a/b", "1 2 <i>"]
open = 2
[[family]]
id = "first"
groups = ["mär ß", "1 2"]
without = ["mär-1", "ß-2"]
[[family]]
id = "second"
groups = ["Mär ß", "1 2"]
without = ["Mär-2", "ß-1"]
[[challenge]]
id = "first-of-all"
board = "tray"
"""


def test_members_have_names_of_their_own(tmp_path: Path) -> None:
    """Choices may be words of any language; families may have the same ones in different pairs."""
    puzzle = read(tmp_path, LABELLED)
    members = [family.member(chosen) for family in puzzle.families for chosen in family.choices()]
    assert [member.id for member in members] == ["mär-2", "ß-1", "Mär-1", "ß-2"]
    assert [puzzle.find_member(member.id) for member in members] == members
    with_prefix = LABELLED.replace('without = ["Mär-2", "ß-1"]', 'prefix = "second"')
    assert [len(family) for family in read(tmp_path, with_prefix).families] == [2, 4]
    with pytest.raises(InputError, match=r'the member "ß-1" is also one of family\[0\]'):
        read(tmp_path, LABELLED.replace('"Mär-2", "ß-1"', '"Mär-2"'))


def test_parts_of_a_place_have_names_of_their_own(tmp_path: Path) -> None:
    body = """
[set]
name = "mine"
lattice = "quarter-square"
moves = "rotations"
[[piece]]
id = "A"
rows = ["X"]
[[board]]
id = "tray"
size = [1, 2]
open = 4
[[family]]
id = "part"
groups = [[[0, 1], [0, 1, 0], [0, 1, 3]]]
"""
    path = tmp_path / "mine.toml"
    path.write_text(body)
    (family,) = read_set(path).families
    members = [family.member(chosen) for chosen in family.choices()]
    open_counts = [f"{member.id} {len(member.minus)}" for member in members]
    assert open_counts == ["r0c1 4", "r0c1k0 1", "r0c1k3 1"]


def test_large_boards_of_large_pieces_are_judged(tmp_path: Path) -> None:
    row = f'"{"X" * 50}"'
    body = f'[[piece]]\nid = "A"\nrows = [{", ".join([row] * 50)}]\n'
    body += "".join(f'[[board]]\nid = "b{i}"\nsize = [100, 100]\n' for i in range(3))
    assert read(tmp_path, body).area == 2500


# --- holes, hostile titles, counts --------------------------------------------------------------

RINGS = """
piece = [
  {{ id = "O", label = "Ab1", cells = {ring} }},
  {{ id = "I", label = "Θ", cells = [[0, 0], [0, 1], [0, 2]] }},
]
[set]
name = "rings"
title = "Rings & <b>bold</b> \\"ones\\""
lattice = "{lattice}"
moves = "rotations"
"""
RING = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 2]]
HEXAGONS = [[0, 0], [0, 1], [1, 1], [2, 1], [2, 0], [1, -1]]


@pytest.mark.every(5)
@pytest.mark.parametrize("fit", ["press", "embedded", "none"])
@pytest.mark.parametrize(
    ("lattice", "ring"), [("square", RING), ("quarter-square", RING), ("hexagon", HEXAGONS)]
)
def test_a_piece_with_a_hole_is_printed_with_its_hole(
    lattice: str, ring: list, fit: str, tmp_path: Path
) -> None:
    import trimesh

    path = tmp_path / "rings.toml"
    path.write_text(RINGS.format(lattice=lattice, ring=ring), encoding="utf-8")
    puzzle, profile = load_set(str(path)), load_profile((), [f"recess.fit={fit}"])
    done = export(Artifacts(puzzle, puzzle.pieces, profile), ["stl"], tmp_path / "out")
    mesh = trimesh.load(tmp_path / "out/stl/O.stl")
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    # Euler's number: 0 for a body with one hole through it, and 2 for each cavity.
    cavities = len(done.pieces["O"]["magnets_mm"]) if fit == "embedded" else 0
    assert mesh.euler_number == 2 * cavities
    # The title is only text, and a unit of the drawing's own coordinates a millimetre on paper.
    root = ElementTree.fromstring(piece_sheet(puzzle, puzzle.pieces, profile))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == 'Rings & <b>bold</b> "ones"'
    width, height = root.attrib["viewBox"].split()[2:]
    assert (root.attrib["width"], root.attrib["height"]) == (f"{width}mm", f"{height}mm")


COUNTED = """
set = { name = "counted", lattice = "square", moves = "rotations", unit = "20 mm" }
board = [{ id = "tray", size = [4, 4] }]
piece = [
  { id = "D", count = 8, rows = ["XX"] },
  { id = "red", count = 2, label = "R", colour = "#cc0000", rows = ["XX", "X."] },
]
challenge = [
  { id = "dominoes", board = "tray", pieces = ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8"] },
]
"""


@pytest.mark.integration
def test_a_count_makes_equal_pieces(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_json: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They are interchangeable, and printed each; dominoes cover a square of 4 x 4 in 36 ways."""
    import trimesh

    monkeypatch.chdir(tmp_path)
    Path("counted.toml").write_text(
        COUNTED.split("challenge", maxsplit=1)[0].replace('"D"', '"L3"'), encoding="utf-8"
    )
    assert [piece.id for piece in load_set("counted.toml").pieces[:2]] == ["L3-1", "L3-2"]
    Path("counted.toml").write_text(COUNTED, encoding="utf-8")
    puzzle = load_set("counted.toml")
    ids = [f"D{i}" for i in range(1, 9)]
    assert [piece.id for piece in puzzle.pieces] == [*ids, "red1", "red2"]
    assert len({replace(piece, id="") for piece in puzzle.pieces}) == 2
    one, *_, other = puzzle.pieces
    assert (one.label, one.colour) == ("D", PALETTE[0])
    assert (other.label, other.colour, puzzle.area) == ("R", "#cc0000", 22)
    answer = run_json("solve", "counted.toml", "dominoes", "--count")
    assert (answer["count"], answer["count_labelled"]) == (36, 36 * math.factorial(8))
    assert len(run_json("bom", "counted.toml", "-s", "board.make=none")["pieces"]) == 10
    assert main(["show", "counted.toml"]) == 0
    output = capsys.readouterr()
    assert "red2" in output.out
    assert "share a label" not in output.err
    chosen = ["--piece", "red1", "--piece", "red2", "-s", "recess.fit=none"]
    assert main(["export-stl", "counted.toml", *chosen]) == 0
    meshes = [trimesh.load(f"output/counted/stl/red{i}.stl") for i in (1, 2)]
    assert meshes[0].volume == meshes[1].volume
