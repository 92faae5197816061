"""Read a board that is cut into pieces: both in one drawing."""

from __future__ import annotations

from fabkit.core.documents import exactly_one
from fabkit.core.errors import no_such, quote
from fabkit.model.lattice import Cell
from fabkit.model.piece import PARITIES, Piece, chequered_cells
from fabkit.model.puzzle import Board
from fabkit.sets.piece_reader import PALETTE, PieceReader, default_label, made_id_error
from fabkit.sets.regions import cells_named, flat_form
from fabkit.sets.set_tables import CUT_KEYS, CutTable


def read_cut(
    table: CutTable, reader: PieceReader, piece_tables: int
) -> tuple[list[Piece], list[Board]]:
    """Return the pieces and the board of ``[cut]``, whose colours follow those of a number of other
    tables; none after an error."""
    lattice, errors = reader.lattice, reader.errors
    key = exactly_one(errors, table, CUT_KEYS, required=True)
    parts = {"rows": _lettered_parts, "cells": _listed_parts}[key](table, reader) if key else {}
    if not parts:
        return [], []
    cells = frozenset[Cell]().union(*parts.values())
    dark = frozenset[Cell]()
    if reader.head.chequer and lattice.is_square:
        dark = chequered_cells(lattice, cells, PARITIES[1])
    pieces = []
    for index, (name, part) in enumerate(parts.items(), start=piece_tables):
        form = flat_form(lattice, part, table.place_of(name), errors)
        colour = table.colours.get(name) or PALETTE[index % len(PALETTE)]
        piece = Piece(name, default_label(name), colour, (form,) if form else ())
        pieces.append(reader.painted(piece, dark & part) if dark and form else piece)
    for name in table.colours:
        if name not in parts:
            errors.add(table.key("colours"), no_such("piece", name, list(parts)))
    return pieces, [Board(table.board, cells)]


def _lettered_parts(table: CutTable, reader: PieceReader) -> dict[str, frozenset[Cell]]:
    """Return the cells of the pieces of ``cut.rows``, by their letters; none after an error."""
    key = table.key("rows")
    if not reader.regions.read("rows", table.rows, key, piece=True):
        return {}
    parts: dict[str, set[Cell]] = {}
    for cell, letter in reader.regions.letters(table.rows).items():
        parts.setdefault(letter, set()).add(cell)
    for letter in parts:
        reader.errors.add(key, made_id_error(letter))
    return {letter: frozenset(part) for letter, part in parts.items()}


def _listed_parts(table: CutTable, reader: PieceReader) -> dict[str, frozenset[Cell]]:
    """Return the cells of the pieces of ``cut.cells``, by their ids; none after an error."""
    key, errors = table.key("cells"), reader.errors
    if not isinstance(table.cells, dict) or not table.cells:
        expected = "expected a table such as { A = [[0, 0], [0, 1]], B = [[1, 0], [1, 1]] }"
        message = f"{expected}, found {quote(table.cells)}"
        errors.add(key, f"is empty; {expected}" if table.cells == {} else message)
        return {}
    errors_before = errors.count
    parts: dict[str, frozenset[Cell]] = {}
    owners: dict[Cell, str] = {}
    for name, items in table.cells.items():
        if fault := made_id_error(name):
            errors.add(key, fault)
            continue
        item_key = table.place_of(name)
        parts[name] = reader.regions.read("cells", items, item_key, piece=True)
        for index, item in enumerate(items if parts[name] else ()):
            for cell in sorted(cells_named(item, reader.lattice, None) & owners.keys())[:1]:
                message = f"{quote(item)} belongs to {quote(owners[cell])}"
                advice = "each cell is of one piece; list it once"
                errors.add(f"{item_key}[{index}]", f"{message}, too; {advice}")
        owners.update((cell, name) for cell in parts[name])
    return parts if errors.count == errors_before and all(parts.values()) else {}
