"""Read the tables of challenges: the region, what stays open, pieces, clues and the result."""

from __future__ import annotations

from typing import Any

from fabkit.core.documents import exactly_one
from fabkit.core.errors import quote
from fabkit.model.clues import ClueFilter
from fabkit.model.entry import level_of, solution_error
from fabkit.model.lattice import Cell
from fabkit.model.piece import is_image
from fabkit.model.puzzle import (
    MOVES,
    Board,
    Challenge,
    Clue,
    Entry,
    Given,
    PuzzleSet,
    Result,
    default_board,
)
from fabkit.sets.challenge_checks import blocking_error, count_error, open_error
from fabkit.sets.challenge_tables import ChallengeFile, ResultTable
from fabkit.sets.parts_reader import PartsReader
from fabkit.sets.regions import CellNumbering, RegionReader

_REGION_KEYS = ("outline", "board", "cells", "rows", "frame")
#: Keys that draw a region, each with the reason if its cells have no numbers.
_DRAWINGS = {
    "outline": "the region is drawn by its outline",
    "rows": "",
    "frame": "the region is drawn by cells of the frame",
}


class ChallengeReader:
    """Reads and validates challenges of a set, as far as it has been read; errors are recorded
    with those of its regions."""

    def __init__(self, puzzle: PuzzleSet, regions: RegionReader) -> None:
        self.parts = PartsReader(puzzle, regions)
        self._puzzle = puzzle
        self._regions = regions
        self._lattice = puzzle.lattice
        self._errors = regions.errors

    def read(self, table: ChallengeFile, name: str = "") -> Entry:
        """Convert a challenge, by default called `name`, and its result; valid without errors."""
        errors_before = self._errors.count
        whole, numbering, board = self._region(table)
        minus = self._minus(table, whole, numbering)
        region = whole - minus
        flips = self._puzzle.flips if table.flips is None else table.flips
        errors_before_pieces = self._errors.count
        pieces = self.parts.piece_ids(table.pieces, table.key("pieces"))
        given = tuple[Given, ...]()
        count = None
        clues = board.clues_in(region) if board else ()
        if self._errors.count == errors_before_pieces:
            clues += self.parts.clues(table.clue, numbering, region, pieces)
            given = self._given(table, flips, region, numbering, pieces, clues)
            if table.pieces_count is not None:
                message = count_error(table.pieces_count, len(pieces), len(given))
                self._errors.add(table.key("pieces_count"), message)
                count = table.pieces_count if table.pieces_count != len(pieces) else None
        open_count = board.rest_open(minus) if board else 0
        if table.open is not None:
            open_count = table.open
            self._errors.add(table.key("open"), open_error(open_count, region, count))
        challenge = Challenge(
            table.id or name, region, pieces, given, flips, table.answer, table.title, count, clues,
            open_count, minus, table.blocked,
        )  # fmt: skip
        entry = self._with_result(table, challenge, numbering)
        is_sound = self._errors.count == errors_before and not self._regions.proved
        if entry.solution and is_sound and (error := solution_error(entry, self._puzzle)):
            key = f"{table.key('result')}.solution"
            self._errors.add(key, f"{error}; correct it, or leave it out")
        return entry

    def _minus(
        self, table: ChallengeFile, whole: frozenset[Cell], numbering: CellNumbering
    ) -> frozenset[Cell]:
        """Return the cells that are taken out of the region; none after an error."""
        key = table.key("minus")
        if table.minus is None:
            if table.blocked:
                self._errors.add(table.key("blocked"), "needs the cells to block; add minus")
            return frozenset()
        is_frame = table.frame is not None  # drawn without them
        minus = self._regions.read("frame" if is_frame else "cells", table.minus, key, numbering)
        message = "" if is_frame else numbering.outside(minus, whole)
        if not is_frame and not message and whole and minus == whole:
            message = "names all cells of the board; leave some to cover"
        if not message and table.blocked and minus:
            message = blocking_error(self._puzzle, minus, numbering)
        self._errors.add(key, message)
        return minus

    def _region(self, table: ChallengeFile) -> tuple[frozenset[Cell], CellNumbering, Board | None]:
        """Return the cells to cover, none after an error; their numbering, from the top left of the
        board or outline; and, unless they are drawn, their board."""
        errors, boards = self._errors, self._puzzle.boards
        errors_before = errors.count
        key = exactly_one(errors, table, _REGION_KEYS, required=False)
        where = table.key(key)
        if errors.count > errors_before:
            return frozenset(), CellNumbering(self._lattice), None
        if key in _DRAWINGS:
            region = self._regions.read(key, getattr(table, key), where, piece=key == "rows")
            return region, CellNumbering(self._lattice, region, _DRAWINGS[key]), None
        if key == "board":
            board, lack = self.parts.board(table.board, where), ""
        else:
            board = default_board(boards)
            lack = "no board is named" if boards else "the set has no board"
        numbering = (
            self.parts.numbering(board) if board else CellNumbering(self._lattice, lack=lack)
        )
        if key == "cells":
            return self._regions.read(key, table.cells, where, numbering), numbering, None
        if not key and board is None:
            keys = f"{'board, ' if boards else ''}outline, rows or cells"
            errors.add(table.place, f"has no region, and {lack}; add {keys}")
        return numbering.cells, numbering, board

    def _given(
        self,
        table: ChallengeFile,
        flips: bool,
        region: frozenset[Cell],
        numbering: CellNumbering,
        pieces: tuple[str, ...],
        clues: tuple[Clue, ...],
    ) -> tuple[Given, ...]:
        """Return the given pieces: allowed images inside the region that do not overlap."""
        errors, lattice = self._errors, self._lattice
        if len(table.given) > len(self.parts.pieces):
            limit = f"at most {len(self.parts.pieces)} are allowed"
            errors.add(table.key("given"), f"has {len(table.given)} items; {limit}")
            return ()
        given: dict[str, Given] = {}
        covered: set[Cell] = set()
        for row in table.given:
            key, cells = self._regions.drawn(row, ("cells", "outline", "frame"), numbering)
            if not cells:
                continue
            where = row.key(key)
            name = quote(row.piece)
            piece = self.parts.pieces.get(row.piece)
            if row.piece not in pieces or piece is None:
                errors.add(row.key("piece"), f"{name} is not among the challenge's pieces")
            elif row.piece in given:
                errors.add(row.key("piece"), f"{name} is given twice")
            elif piece.forms and not (
                self._regions.proved or is_image(lattice, piece, cells, flips)
            ):
                message = f"is not the shape of {name} under the allowed moves ({MOVES[flips]})"
                errors.add(where, message)
            elif message := numbering.outside(cells, region):
                errors.add(where, message)
            elif cells & covered:
                errors.add(where, "overlaps another given piece")
            elif clues and not ClueFilter(lattice, piece, clues, flips).allows(cells):
                errors.add(where, "contradicts a clue; move the piece, or change the clue")
            else:
                given[row.piece] = Given(row.piece, cells)
                covered |= cells
        return tuple(given.values())

    def _with_result(
        self, table: ChallengeFile, challenge: Challenge, numbering: CellNumbering
    ) -> Entry:
        """Return the entry of a challenge: its kind, its origin and its result."""
        stated = table.result or ResultTable.model_construct()
        if table.parity == "mixed" and self._puzzle.made_of_balls:
            message = 'is "mixed", of pieces half a unit apart, but balls lie on one lattice'
            self._errors.add(table.key("parity"), f'{message}; expected "even" or "odd"')
        solution = self._solution(table, stated.solution, numbering)
        if solution and stated.status not in ("", "solved"):
            message = f'is "{stated.status}", but there is a solution; expected "solved"'
            self._errors.add(f"{table.key('result')}.status", message)
        status = "solved" if solution else stated.status or "unknown"
        score = stated.difficulty.score if stated.difficulty else None
        return Entry(
            challenge,
            "snowflake" if table.parity else self._puzzle.kind_of(challenge),
            parity=table.parity,
            halves=2 if table.parity == "mixed" else 1,
            of=table.of,
            level=stated.level if score is None else level_of(challenge, score),
            score=score,
            result=Result(status, solution, stated.count, stated.count_complete),
        )

    def _solution(
        self, table: ChallengeFile, solution: Any, numbering: CellNumbering
    ) -> dict[str, frozenset[Cell]] | None:
        """Return the cells of each piece in a result; None without a solution or after an error."""
        key = f"{table.key('result')}.solution"
        if solution is None:
            return None
        if not isinstance(solution, dict):
            self._errors.add(key, f"expected the cells of each piece, found {quote(solution)}")
            return None
        unknown = [piece_id for piece_id in solution if piece_id not in self.parts.pieces]
        if unknown:
            self.parts.refuse_piece(unknown[0], key)
            return None
        drawn_as = "outline" if self._lattice.writes_outlines else "cells"
        drawn_as = "frame" if table.frame is not None else drawn_as
        return {
            piece_id: self._regions.read(drawn_as, cells, f"{key}.{piece_id}", numbering)
            for piece_id, cells in solution.items()
        }
