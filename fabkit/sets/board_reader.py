"""Read the tables of boards: their cells, labels and clues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabkit.core.errors import pluralize, quote
from fabkit.model.lattice import Cell
from fabkit.model.piece import DARK, PARITIES, PLAIN, chequered_cells
from fabkit.model.puzzle import Board, Clue, Label, PuzzleSet
from fabkit.sets.parts_reader import PartsReader
from fabkit.sets.regions import CellNumbering, RegionReader
from fabkit.sets.set_tables import BOARD_KEYS, BoardTable

_LONGEST_TEXT = 5


def read_board(table: BoardTable, regions: RegionReader) -> Board:
    """Return a board without its clues; without cells after an error."""
    errors = regions.errors
    errors_before = errors.count
    _, cells = regions.drawn(table, BOARD_KEYS)
    if cells and table.open >= len(cells):
        message = f"is {table.open}; expected fewer than its {len(cells)} cells"
        errors.add(table.key("open"), message)
    labels = _labels(table, cells, regions) if table.labels is not None and cells else ()
    if errors.count > errors_before:  # the numbers or names of its cells are not known
        cells = frozenset()
    return Board(table.id, cells, table.optional, labels, open_count=table.open)


def _labels(table: BoardTable, cells: frozenset[Cell], regions: RegionReader) -> tuple[Label, ...]:
    """Return the texts on a board's cells, row by row; none after an error."""
    key, lattice, errors = table.key("labels"), regions.lattice, regions.errors
    rows: dict[int, list[tuple[int, int]]] = {}
    for place in CellNumbering(lattice, cells).places:
        rows.setdefault(place[0], []).append(place)
    if not isinstance(table.labels, list) or len(table.labels) != len(rows):
        expected = f"expected a string for each of its {pluralize(len(rows), 'row')}"
        errors.add(key, f"{expected}, found {quote(table.labels)}")
        return ()
    labels = []
    for index, (text, places) in enumerate(zip(table.labels, rows.values(), strict=True)):
        words = text.split() if isinstance(text, str) else []
        if len(words) != len(places):
            expected = f"expected a string of {pluralize(len(places), 'word')}"
            advice = "one for each cell of the row (a dot where there is no text)"
            errors.add(f"{key}[{index}]", f"{expected}, {advice}; found {quote(text)}")
            continue
        for word, place in zip(words, places, strict=True):
            if len(word) > _LONGEST_TEXT:
                limit = f"at most {_LONGEST_TEXT} characters fit on a cell"
                errors.add(f"{key}[{index}]", f"{quote(word)} is {len(word)} long; {limit}")
            elif word != ".":
                labels.append(Label(word, cells.intersection(lattice.cells_at(*place))))
    return tuple(labels)


def with_board_clues(
    puzzle: PuzzleSet, tables: Sequence[BoardTable | None], regions: RegionReader
) -> PuzzleSet:
    """Return the set with the clues of its boards, which name pieces and marks; a board that is
    cut into the pieces has no table."""
    parts = PartsReader(puzzle, regions)
    boards = []
    for board, table in zip(puzzle.boards, tables, strict=True):
        clues: tuple[Clue, ...] = ()
        if table and board.cells:
            clues = parts.clues(table.clue, parts.numbering(board), board.cells, [*parts.pieces])
        if table and "chequer" in table.model_fields_set and DARK not in puzzle.marks:
            regions.errors.add(table.key("chequer"), 'needs chequer_role = "rule" in [set]')
        if board.cells and DARK in puzzle.marks:
            parity = table.chequer if table else PARITIES[1]
            dark = chequered_cells(puzzle.lattice, board.cells, parity)
            clues += (Clue(dark, mark=DARK), Clue(board.cells - dark, mark=PLAIN))
        boards.append(replace(board, clues=clues))
    return replace(puzzle, boards=tuple(boards))
