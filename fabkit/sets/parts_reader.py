"""Read how challenges, families and boards name parts of a set: pieces, boards, cells, clues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fabkit.core.documents import choice
from fabkit.core.errors import did_you_mean, join_names, join_or, no_such, quote
from fabkit.model.lattice import Cell
from fabkit.model.piece import PLAIN
from fabkit.model.puzzle import CLUE_KEYS, Board, Clue, PuzzleSet
from fabkit.sets.challenge_tables import ClueTable
from fabkit.sets.regions import CellNumbering, RegionReader


class PartsReader:
    """Finds what keys name in a set, as far as it has been read; errors are recorded with those of
    its regions."""

    def __init__(self, puzzle: PuzzleSet, regions: RegionReader) -> None:
        self.puzzle = puzzle
        self.regions = regions
        self.errors = regions.errors
        self.pieces = {piece.id: piece for piece in puzzle.pieces}
        self.boards = {board.id: board for board in puzzle.boards}

    def numbering(self, board: Board) -> CellNumbering:
        """Return the numbers and names of a board's cells."""
        return CellNumbering(self.puzzle.lattice, board.cells, labels=board.labels)

    def board(self, name: Any, key: str) -> Board | None:
        """Return a board by its id; None after an error."""
        if isinstance(name, str) and name in self.boards:
            return self.boards[name]
        if not self.boards:
            self.errors.add(key, f"{quote(name)} is not a board; the set has none")
        else:
            try:
                choice(*self.boards).read(name)
            except ValueError as error:
                self.errors.add(key, str(error))
        return None

    def piece_ids(self, value: Any, key: str) -> tuple[str, ...]:
        """Return the piece ids of a key: a list, or a string if every id is a single character."""
        pieces, errors = self.pieces, self.errors
        if value is None:
            return tuple(pieces)
        if not isinstance(value, str | list):
            errors.add(key, f"expected a string or a list of piece ids, found {quote(value)}")
            return ()
        ids = [piece_id for piece_id in value if isinstance(piece_id, str)]
        if len(ids) < len(value) or not ids:
            errors.add(key, f"expected one or more piece ids, found {quote(value)}")
        elif isinstance(value, str) and value in pieces and len(value) > 1:
            letters = ", ".join(value)
            message = f'{quote(value)} is read as the pieces {letters}; write a list: ["{value}"]'
            errors.add(key, message)
        else:
            for piece_id, count in Counter(ids).items():
                if piece_id not in pieces:
                    self.refuse_piece(piece_id, key)
                elif count > 1:
                    message = f"piece {quote(piece_id)} is listed {count} times; there is only one"
                    errors.add(key, message)
        return tuple(ids)

    def refuse_piece(self, piece_id: str, key: str) -> None:
        """Record that there is no such piece."""
        names = join_names(list(self.pieces))
        self.errors.add(key, f"there is no piece {quote(piece_id)}; the pieces are {names}")

    def clues(
        self,
        tables: Sequence[ClueTable],
        numbering: CellNumbering,
        region: frozenset[Cell],
        pieces: Sequence[str],
    ) -> tuple[Clue, ...]:
        """Return the sound clues of a challenge or board with this region and these pieces."""
        errors = self.errors
        clues = []
        for table in tables:
            key, cells = self.regions.drawn(table, ("cells", "frame"), numbering)
            stated = [name for name in CLUE_KEYS if getattr(table, name)]
            if key and not stated:
                errors.add(table.place, f"states nothing about its cells; add {join_or(CLUE_KEYS)}")
            errors.add(table.key(key), numbering.outside(cells, region))
            if table.piece and table.piece not in pieces:
                message = f"{quote(table.piece)} is not among the pieces to use; choose from "
                message += join_names(pieces) + did_you_mean(table.piece, pieces)
                errors.add(table.key("piece"), message)
            marks = [*self.puzzle.marks, PLAIN]
            if table.mark and len(marks) == 1:
                need = 'the set has no marks; add marks = {o = "hole"} to [set]'
                errors.add(table.key("mark"), f"is {quote(table.mark)}, but {need}")
            elif table.mark and table.mark not in marks:
                errors.add(table.key("mark"), no_such("mark", table.mark, marks))
            colour = self._colour(table, pieces) if table.colour else ""
            if cells:
                clues.append(Clue(cells, table.piece, table.mark, colour))
        return tuple(clues)

    def _colour(self, table: ClueTable, pieces: Sequence[str]) -> str:
        """Return the colour of a clue, which may be named by a piece."""
        colours = {piece: self.pieces[piece].colour for piece in pieces if piece in self.pieces}
        colour = colours.get(table.colour, table.colour.lower())
        if colour not in colours.values():
            by_colour = [f"{piece} ({colour})" for piece, colour in colours.items()]
            message = f"is {quote(table.colour)}, but no piece has that colour; choose from "
            message += join_names(by_colour) + did_you_mean(table.colour, list(colours))
            self.errors.add(table.key("colour"), message)
        return colour
