"""Sets drawn as rows of text and in two tones, and boards that nobody must make."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fabkit.core.errors import InputError
from fabkit.model.challengeload import find_challenge, load_challenge
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.library import load_set
from fabkit.model.piece import at_anchor, tones_on
from fabkit.model.placement import lies_on, placements
from fabkit.model.polygon import OutlineError, cells_of_rings, rings_of_cells
from fabkit.model.puzzle import rings_in_units, usual_board
from fabkit.model.setfile import read_set
from fabkit.output.challenge import challenge_sheet
from tests.conftest import ROOT
from tests.support.drawings import posed_entry
from tests.support.drawnsets import (
    QUARTER,
    SQUARE,
    drawing,
    read,
    svg_cells,
    written,
)
from tests.support.sketches import board
from tests.support.strategies import cell_sets, piece_of

# --- the same shape, drawn in four ways -------------------------------------------------------


def as_rows(cells: frozenset[Cell]) -> list[str]:
    places = {SQUARE.row_col(cell) for cell in cells}
    rows, cols = (sorted({place[i] for place in places}) for i in (0, 1))
    return [
        "".join("X" if (r, c) in places else "." for c in range(cols[0], cols[-1] + 1))
        for r in range(rows[0], rows[-1] + 1)
    ]


def as_path(lattice: Lattice, cells: frozenset[Cell], unit: float, x: float, y: float) -> str:
    """The outline as an SVG path, y down."""
    rings = rings_in_units(lattice, rings_of_cells(lattice, cells))
    parts = (
        " L ".join(f"{x + px * unit:.6g},{y - py * unit:.6g}" for px, py in ring) for ring in rings
    )
    return "".join(f"M {part} Z " for part in parts)


def is_a_piece(lattice: Lattice, cells: frozenset[Cell]) -> bool:
    try:
        cells_of_rings(lattice, rings_of_cells(lattice, cells))
    except OutlineError:
        return False
    return True


@given(
    cell_sets(SQUARE, most=14),
    st.floats(0, 150),
    st.floats(0, 150),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_rows_cells_outline_and_svg_are_one_shape(
    tmp_path_factory: pytest.TempPathFactory,
    shape: tuple[Lattice, frozenset[Cell]],
    x: float,
    y: float,
    scale: float,
) -> None:
    """However a polyomino is drawn, at whatever place and scale of a page, it is the same form."""
    cells = shape[1]
    assume(is_a_piece(SQUARE, cells))
    folder = tmp_path_factory.mktemp("four")
    outlines = [[list(p) for p in ring] for ring in rings_in_units(SQUARE, rings_of_cells(*shape))]
    path = as_path(SQUARE, cells, 20 / scale, x, y)
    size = f'width="{200 * scale:g}mm" height="{200 * scale:g}mm" viewBox="0 0 200 200"'
    drawing(folder, f'<path d="{path}"/>', size)
    ways = {
        "rows": as_rows(cells),
        "cells": [list(SQUARE.row_col(cell)) for cell in sorted(cells)],
        "outline": outlines,
        "svg": '"shapes.svg"',
    }
    body = "".join(f'[[piece]]\nid = "{k}"\n{k} = {v}\n' for k, v in ways.items())
    read = read_set(written(folder, body, extra='chequer = "#5d3a1a"\n'))
    assert [piece.id for piece in read.pieces] == list(ways)
    forms = {at_anchor(SQUARE, piece.forms[0].cells) for piece in read.pieces}
    assert forms == {at_anchor(SQUARE, cells)}
    dark = {
        frozenset((px - ax, py - ay) for px, py in piece.tones)
        for piece in read.pieces
        for ax, ay in [SQUARE.anchor(piece.forms[0].cells)]
    }
    assert len(dark) == 1, "the tones depend on how a piece is drawn"


@given(cell_sets(QUARTER), st.integers(0, 8), st.integers(0, 8))
def test_diagonals_are_read_where_they_are_drawn(
    tmp_path_factory: pytest.TempPathFactory,
    shape: tuple[Lattice, frozenset[Cell]],
    x: int,
    y: int,
) -> None:
    cells = shape[1]
    assume(is_a_piece(QUARTER, cells))
    path = f'<path d="{as_path(QUARTER, cells, 20, 20 * x, 20 * y)}"/>'
    folder = tmp_path_factory.mktemp("quarters")
    assert svg_cells(folder, path, lattice=QUARTER) == at_anchor(QUARTER, cells)


# --- rows -------------------------------------------------------------------------------------


def test_rows_of_hexagons_lie_as_cells_do(tmp_path: Path) -> None:
    body = """
[[piece]]
id = "A"
rows = [".aa", "aa ", "..a"]
[[piece]]
id = "B"
cells = [[0, 1], [0, 2], [1, 0], [1, 1], [2, 2]]
"""
    one, other = read(tmp_path, body, "triangular").pieces
    assert one.forms == other.forms


def test_a_letter_is_a_whole_square_of_quarters(tmp_path: Path) -> None:
    puzzle = read(tmp_path, '[[piece]]\nid = "A"\nrows = ["XX"]\narea = 2\n', "quarter-square")
    assert len(puzzle.pieces[0].forms[0].cells) == 8


def test_a_board_is_drawn_as_a_piece_is(tmp_path: Path) -> None:
    drawing(tmp_path, '<rect id="tray" width="60" height="40"/>')
    body = '[[piece]]\nid = "A"\nrows = ["XX"]\n'
    ways = {"size": "[2, 3]", "rows": "[3, 3]", "svg": '"shapes.svg"'}
    body += "".join(f'[[board]]\nid = "{k}"\n{k} = {v}\n' for k, v in ways.items())
    body += '[[board]]\nid = "text"\nrows = ["XXX", "XXX"]\n'
    assert {one.cells for one in read(tmp_path, body).boards} == {board("square", 2, 3)}


def test_the_readme_s_pentominoes_have_2339_solutions(tmp_path: Path) -> None:
    (text,) = re.findall(
        r"```toml\n(# pentominoes.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert len(text.splitlines()) == 11
    path = tmp_path / "pentominoes.toml"
    path.write_text(text)
    puzzle = load_set(str(path))
    known = load_set(str(ROOT / "tests/sets/pentominoes.toml"))
    for piece in puzzle.pieces:
        cells = known.piece(piece.id).forms[0].cells
        images = [
            {at_anchor(SQUARE, map(s, f)) for s in SQUARE.symmetries}
            for f in (cells, piece.forms[0].cells)
        ]
        assert images[0] == images[1], piece.id
    assert find_challenge(puzzle, None).region == known.boards[0].cells


# --- two tones --------------------------------------------------------------------------------


def test_cubi_magici_has_as_many_dark_cells_as_its_picture() -> None:
    cubi = load_set("cubimagici")
    dark = sum(len(piece.tones) for piece in cubi.pieces)
    assert (dark, int(cubi.area) - dark) == (27, 22)
    for piece in cubi.pieces:
        cells = piece.forms[0].cells
        assert piece.tones < cells
        for (ax, ay), (bx, by) in ((a, b) for a in cells for b in cells):
            if abs(ax - bx) + abs(ay - by) == 2:  # cells are two steps apart
                assert ((ax, ay) in piece.tones) != ((bx, by) in piece.tones)


def test_a_piece_of_most_sets_has_no_tones() -> None:
    for name in ("fridgeiq", "iqfit", "iqstars", "iqblock"):
        assert not any(piece.tones or piece.tone for piece in load_set(name).pieces)


@given(cell_sets(SQUARE, most=8), st.sampled_from(SQUARE.symmetries))
def test_tones_lie_as_their_piece_does(
    shape: tuple[Lattice, frozenset[Cell]], symmetry: object
) -> None:
    cells = shape[1]
    tones = frozenset(cell for cell in cells if sum(SQUARE.row_col(cell)) % 2)
    piece = replace(piece_of(SQUARE, cells), tones=tones)
    lying = frozenset((x + 6, y - 4) for x, y in map(symmetry, cells))
    found = tones_on(SQUARE, piece, lying)
    assert found <= lying
    assert len(found) == len(tones)
    for (ax, ay), (bx, by) in ((a, b) for a in lying for b in lying):
        if abs(ax - bx) + abs(ay - by) == 2:
            assert ((ax, ay) in found) != ((bx, by) in found)


def test_a_drawn_solution_shows_both_tones() -> None:
    cubi = load_set("cubimagici")
    text = challenge_sheet(cubi, posed_entry(cubi, "tray"), 20.0)
    assert len(re.findall(r'<path [^>]*fill="#5d3a1a"[^>]*class="tone"', text)) == 10


# --- boards -----------------------------------------------------------------------------------


def test_an_optional_board_is_nobody_s_default(tmp_path: Path) -> None:
    fridgeiq = load_set("fridgeiq")
    (tray,) = fridgeiq.boards
    assert (tray.id, tray.optional, len(tray.cells)) == ("tray", True, 36 * 4)
    assert usual_board(fridgeiq.boards) is None
    for name in ("square_09", "square_10"):
        corner = {
            at_anchor(QUARTER, region)
            for region in (find_challenge(fridgeiq, name).region, tray.cells)
        }
        assert len(corner) == 1
    path = tmp_path / "mine.toml"
    path.write_text('pieces = "B"\n')
    with pytest.raises(InputError, match="no board is named"):
        load_challenge(path, fridgeiq)
    path.write_text('pieces = "B"\nboard = "tray"\n')
    assert load_challenge(path, fridgeiq).region == tray.cells


def test_the_first_board_that_is_not_optional_is_the_default(tmp_path: Path) -> None:
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
    assert puzzle.challenges[0].region == puzzle.boards[1].cells
    path = tmp_path / "file.toml"
    path.write_text("cells = [0, 1]\n")
    assert load_challenge(path, puzzle).region == puzzle.boards[1].cells


@given(cell_sets(most=6), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_a_piece_lies_on_a_board_if_there_is_a_placement(
    shape: tuple[Lattice, frozenset[Cell]], rows: int, cols: int, flips: bool
) -> None:
    lattice, cells = shape
    region = board(lattice.name, rows, cols)
    piece = piece_of(lattice, cells)
    expected = bool(placements(lattice, piece, region, flips))
    assert lies_on(lattice, piece, region, flips) == expected


def test_large_boards_of_large_pieces_are_judged(tmp_path: Path) -> None:
    side = 50
    row = f'"{"X" * side}"'
    body = f'[[piece]]\nid = "A"\nrows = [{", ".join([row] * side)}]\n'
    body += "".join(f'[[board]]\nid = "b{i}"\nsize = [100, 100]\n' for i in range(3))
    assert math.isclose(read(tmp_path, body).area, side**2)
