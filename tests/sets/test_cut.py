"""A board that is cut into its pieces, drawn in rows or by cells; and sets read from a text."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.core.errors import InputError
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.puzzle import PuzzleSet
from fabkit.sets.piece_reader import PALETTE
from fabkit.sets.set_file import read_set
from tests.support.drawnsets import DOMINO, HEAD, drawing, written
from tests.support.strategies import cell_sets, neighbours

ROWS = ["AAB", "ABB", ".CC"]


def read_text(body: str, lattice: str = "square", extra: str = "") -> PuzzleSet:
    """A set that is in no file."""
    text = f"{HEAD.format(lattice=lattice)}{extra}\n{body}"
    return read_set(Path("mine.toml"), text=text)


def cut_by_cells(parts: dict[str, list[list[int]]]) -> str:
    return "[cut.cells]\n" + "".join(f"{name} = {cells}\n" for name, cells in parts.items())


# --- rows and cells ---------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", LATTICES)
def test_a_cut_by_rows_equals_the_same_cut_by_cells(lattice: str) -> None:
    parts: dict[str, list[list[int]]] = {}
    for row, text in enumerate(ROWS):
        for col, letter in enumerate(text):
            if letter != ".":
                parts.setdefault(letter, []).append([row, col])
    of_rows = read_text(f"[cut]\nrows = {ROWS}\n", lattice)
    of_cells = read_text(cut_by_cells(parts), lattice)
    assert [piece.id for piece in of_rows.pieces] == ["A", "B", "C"]
    assert all(piece.forms for piece in of_rows.pieces)
    assert (of_rows.pieces, of_rows.boards) == (of_cells.pieces, of_cells.boards)
    if LATTICES[lattice].is_divided:
        count = len(LATTICES[lattice].cells_at(0, 0))
        all_parts = {
            name: [[*place, k] for place in places for k in range(count)]
            for name, places in parts.items()
        }
        of_parts = read_text(cut_by_cells(all_parts), lattice)
        assert (of_rows.pieces, of_rows.boards) == (of_parts.pieces, of_parts.boards)


@given(cell_sets(most=16), st.integers(1, 15))
def test_a_cut_may_pass_through_squares_and_hexagons(
    shape: tuple[Lattice, frozenset[Cell]], size: int
) -> None:
    """A polyform's first cells, in an order in which they hang together, are one piece of it."""
    lattice, cells = shape
    order = [min(cells)]
    while len(order) < len(cells):
        rim = {near for cell in order for near in neighbours(lattice, cell)} & cells
        order.append(min(rim - {*order}))
    parts = {"first": order[:size]}
    for cell in order[size:]:  # single cells, which always hang together
        parts[f"c{len(parts)}"] = [cell]
    addresses = {
        name: [[*lattice.address(cell)[: 2 + lattice.is_divided]] for cell in part]
        for name, part in parts.items()
    }
    try:
        puzzle = read_text(cut_by_cells(addresses), lattice.name)
    except InputError as error:
        if "touch at a corner only" not in str(error):
            raise
        return  # a piece surrounds a point
    assert {piece.id: piece.forms[0].cells for piece in puzzle.pieces} == {
        name: frozenset(part) for name, part in parts.items()
    }
    assert puzzle.boards[0].cells == cells


def test_cells_and_rows_have_ids_labels_colours_and_a_board() -> None:
    body = "[cut]\nboard = 'tile'\ncolours = { long-one = '#012345' }\n"
    body += "cells = { long-one = [[0, 0], [0, 1]], B2 = [[1, 0], [1, 1]] }\n"
    puzzle = read_text(f"{body}[[piece]]\nid = 'P'\ncells = [[0, 0]]\n")
    assert [(piece.id, piece.label, piece.colour) for piece in puzzle.pieces] == [
        ("P", "P", PALETTE[0]),
        ("long-one", "L", "#012345"),
        ("B2", "B2", PALETTE[2]),
    ]
    assert [board.id for board in puzzle.boards] == ["tile"]
    puzzle = read_text('[cut]\nrows = ["AB"]\ncolours = { B = "#012345" }\n')
    assert [piece.colour for piece in puzzle.pieces] == [PALETTE[0], "#012345"]


def test_a_chequered_cut_has_the_same_squares_in_both_forms() -> None:
    extra = 'chequer = "#5d3a1a"\n'
    of_rows = read_text('[cut]\nrows = ["AAB", "ABB"]\n', extra=extra)
    parts = {"A": [[0, 0], [0, 1], [1, 0]], "B": [[0, 2], [1, 1], [1, 2]]}
    of_cells = read_text(cut_by_cells(parts), extra=extra)
    assert of_rows.pieces == of_cells.pieces
    assert [len(piece.tones) for piece in of_rows.pieces] == [2, 1]


# --- a text in place of the file ----------------------------------------------------------------


def test_a_text_is_read_as_its_file_is(tmp_path: Path) -> None:
    path = written(tmp_path, '[cut]\nrows = ["AAB", "ABB"]\n', extra='source = "Ä, once"\n')
    content = path.read_bytes()
    puzzle = read_set(path)
    assert puzzle.digest == hashlib.sha256(content).hexdigest()
    path.unlink()
    assert read_set(path, text=content.decode()) == puzzle
    with pytest.raises(InputError, match="there is no such file"):
        read_set(path)


def test_a_text_names_drawings_beside_its_path(tmp_path: Path) -> None:
    drawing(tmp_path, DOMINO)
    path = written(tmp_path, '[[piece]]\nid = "A"\nsvg = "shapes.svg#A"\n')
    puzzle, text = read_set(path), path.read_text()
    path.unlink()
    assert read_set(path, text=text) == puzzle
    with pytest.raises(InputError, match=r"shapes\.svg"):
        read_set(tmp_path / "elsewhere" / "mine.toml", text=text)


def test_a_text_with_half_a_character_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_text('[cut]\nrows = ["AB"]\n', extra='source = "\ud83d"\n')
    assert "mine.toml: is not Unicode text (character " in str(caught.value)
