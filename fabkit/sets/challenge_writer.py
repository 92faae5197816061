"""Write challenges and their solutions, as `fabkit.sets.challenge_file` reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fabkit.model.lattice import Cell
from fabkit.model.puzzle import CLUE_KEYS, Board, Challenge, PuzzleSet
from fabkit.sets.regions import CellNumbering

#: Writes cells: the key, such as ``outline``, and its value.
Describe = Callable[[frozenset[Cell]], tuple[str, Any]]


def frame_cells(cells: frozenset[Cell]) -> tuple[str, list[list[int]]]:
    """Describe cells as whole numbers of the lattice's frame, as in catalogs.

    Example:
        >>> frame_cells(frozenset({(3, 1), (1, 3)}))
        ('frame', [[1, 3], [3, 1]])
    """
    return "frame", sorted([x, y] for x, y in cells)


def challenge_record(
    puzzle: PuzzleSet, challenge: Challenge, describe: Describe = frame_cells
) -> dict[str, Any]:
    """Return the document of a challenge, for TOML or JSON; `read_challenges` reads it."""
    whole = challenge.board_cells
    board = next((board for board in puzzle.boards if board.cells == whole), None)
    on_board = board is not None and describe is not frame_cells
    region = ("board", board.id) if board and on_board else describe(challenge.region)
    record: dict[str, Any] = {"id": challenge.id}
    if challenge.title:
        record["title"] = challenge.title
    record |= dict([region])
    record["pieces"] = list(challenge.pieces)
    if challenge.pieces_count is not None:
        record["pieces_count"] = challenge.pieces_count
    if challenge.flips != puzzle.flips:
        record["flips"] = challenge.flips
    if challenge.minus and (on_board or describe is frame_cells):
        record["minus"] = _cell_references(puzzle, board, challenge.minus, describe)[1]
        record |= {"blocked": True} if challenge.blocked else {}
    if challenge.open_count != (board.rest_open(challenge.minus) if board and on_board else 0):
        record["open"] = challenge.open_count
    board_clues = board.clues if board and on_board else ()
    # A colour is named by its first piece.
    of_colour = {piece.colour: piece.id for piece in reversed(puzzle.pieces)}
    if clues := [clue for clue in challenge.clues if clue not in board_clues]:
        record["clue"] = [
            dict([_cell_references(puzzle, board if on_board else None, clue.cells, describe)])
            | {key: text for key in CLUE_KEYS if (text := getattr(clue, key))}
            | ({"colour": of_colour[clue.colour]} if clue.colour else {})
            for clue in clues
        ]
    if challenge.answer:
        record["answer"] = challenge.answer
    if given := challenge.given:
        record["given"] = [dict([("piece", row.piece), describe(row.cells)]) for row in given]
    return record


def _cell_references(
    puzzle: PuzzleSet, board: Board | None, cells: frozenset[Cell], describe: Describe
) -> tuple[str, Any]:
    """Return key and value of some cells on a board; rows, columns and indices in place of an
    outline, since clues and open cells are named one by one."""
    key, value = describe(cells)
    if key != "outline":
        return key, value
    board_cells = board.cells if board else frozenset()
    first_row, first_col = CellNumbering(puzzle.lattice, board_cells).origin
    addresses = sorted(map(puzzle.lattice.address, cells))
    return "cells", [[row - first_row, col - first_col, index] for row, col, index in addresses]


def solution_record(
    solution: Mapping[str, frozenset[Cell]], describe: Describe = frame_cells
) -> dict[str, Any]:
    """Return the cells of each piece, as in a challenge's result."""
    return {piece_id: describe(cells)[1] for piece_id, cells in solution.items()}
