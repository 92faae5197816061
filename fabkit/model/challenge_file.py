"""Read challenges: a table of a set file or of a list, or a separate file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from fabkit.core.documents import (
    BOOLEAN,
    IDENTIFIER,
    Table,
    Validator,
    any_value,
    choice,
    exactly_one,
    integer,
    text,
)
from fabkit.core.errors import join_names, pluralize, quote
from fabkit.model.lattice import Cell
from fabkit.model.piece import is_image
from fabkit.model.puzzle import MOVES, Challenge, Given, PuzzleSet, default_board
from fabkit.model.regions import CellNumbering, RegionReader

ANSWERS = ("solved", "impossible")
_REGION_KEYS = ("outline", "board", "cells")

_WHOLE_PAIR = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
_CORNER = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
_RING = {"type": "array", "items": _CORNER, "minItems": 3}
_RINGS = {"type": "array", "items": _RING, "minItems": 1}
OUTLINE = any_value(
    "corners",
    description="rings of corners [x, y] in grid units, y up; holes follow their outer ring",
    anyOf=[_RING, _RINGS, {"type": "array", "items": _RINGS, "minItems": 1}],
)
CELLS = any_value(
    "cells",
    description="cells as [row, column] from the top left, or as their number on the board",
    type="array",
    items={"anyOf": [_WHOLE_PAIR, {"type": "integer"}]},
    minItems=1,
)
_PIECES = any_value(
    "piece ids",
    description="ids of the pieces: a list, or a string when each id is one character",
    anyOf=[
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
    ],
)

_COUNT = Validator(
    integer(-(10**9), 10**9).read, "a whole number", {"type": "integer", "minimum": 1}
)


class GivenTable(Table):
    """A piece already placed."""

    piece: Annotated[str, text()] = Field(description="its id")
    cells: Annotated[Any, CELLS] = None
    outline: Annotated[Any, OUTLINE] = None


class ChallengeFile(Table):
    """A region to cover and the pieces to use."""

    id: Annotated[str, IDENTIFIER] = Field("", description="name for commands and files")
    title: Annotated[str, text(100)] = Field("", description="name for people")
    outline: Annotated[Any, OUTLINE] = None
    board: Annotated[Any, any_value("a board", type="string")] = Field(
        None, description="id of the board to fill; the set's first when no region is drawn"
    )
    cells: Annotated[Any, CELLS] = None
    flips: Annotated[bool | None, BOOLEAN] = Field(
        None, description="whether pieces may be flipped"
    )
    answer: Annotated[str, choice(*ANSWERS)] = Field("", description="known answer")
    pieces: Annotated[Any, _PIECES] = None
    pieces_count: Annotated[int | None, _COUNT] = Field(
        None, description="how many of the pieces fill the region; all of them by default"
    )
    given: list[GivenTable] = Field([], description="pieces that are placed already")


class ChallengeTable(ChallengeFile):
    """A challenge of a set or a list, where it needs an id."""

    id: Annotated[str, IDENTIFIER] = Field(description="name for commands and files")


class CatalogStart(Table, extra="ignore"):
    """What a catalog adds to the challenge of a starting position."""

    id: Annotated[str, IDENTIFIER]
    count: Annotated[int, integer(0, 10**18)]
    solution: Annotated[Any, any_value("an outline for each piece")]
    count_complete: Annotated[bool, BOOLEAN] = False
    of: Annotated[str, text(100)] = ""


class CatalogSnowflake(CatalogStart):
    """A snowflake in a catalog; see `fabkit.model.catalog`."""

    parity: Annotated[str, choice("even", "odd", "mixed")]
    outlines: Annotated[Any, any_value("a list of outlines")]
    flips: Annotated[bool | None, BOOLEAN] = None


#: Keys of a listed challenge that define it; the others are results.
CHALLENGE_KEYS = tuple(key for key in ChallengeFile.model_fields if key != "answer")


class ChallengeReader:
    """Reads and validates challenges of a set; errors are recorded with those of its regions.

    Args:
        puzzle: the set, as far as it has been read.
        regions: reads drawings.
        misnamed: invalid ids of pieces and boards: references to them are no further errors.
    """

    def __init__(
        self, puzzle: PuzzleSet, regions: RegionReader, misnamed: Sequence[object] = ()
    ) -> None:
        self._puzzle, self._regions, self._misnamed = puzzle, regions, misnamed
        self._lattice, self._errors = puzzle.lattice, regions.errors
        self._pieces = {piece.id: piece for piece in puzzle.pieces if piece.id}
        numbered = (
            (board.id, CellNumbering(puzzle.lattice, board.cells)) for board in puzzle.boards
        )
        self._boards = {board_id: numbering for board_id, numbering in numbered if board_id}

    def read(self, data: Any, place: str = "", name: str | None = None) -> Challenge:
        """Read one challenge; usable only if there are no errors.

        Args:
            data: the parsed table.
            place: its place in the file.
            name: default id; None when the table must have one.
        """
        model = ChallengeTable if name is None else ChallengeFile
        return self.challenge(model.read(data, self._errors, place), place, name or "")

    def challenge(self, table: ChallengeFile, place: str, name: str = "") -> Challenge:
        """Convert a table to a challenge; see `read`."""
        prefix = f"{place}." if place else ""
        region, numbering = self._region(table, place, prefix)
        flips = self._puzzle.flips if table.flips is None else table.flips
        before = self._errors.count
        pieces = self._named(table.pieces, f"{prefix}pieces")
        given, count = tuple[Given, ...](), None
        if self._errors.count == before and not table.has_error("pieces"):
            given = self._given(table, prefix, flips, region, numbering, pieces)
            count = self._count(table.pieces_count, prefix, len(pieces), len(given))
        title, answer = table.title or "", table.answer or ""
        return Challenge(table.id or name, region, pieces, given, flips, answer, title, count)

    def _region(
        self, table: ChallengeFile, place: str, prefix: str
    ) -> tuple[frozenset[Cell], CellNumbering]:
        """Return the cells to cover and their numbering; none after an error.

        Rows and columns begin at the top left of the board or outline.
        """
        errors, before = self._errors, self._errors.count
        key = exactly_one(errors, place, table, _REGION_KEYS, required=False)
        if errors.count > before or table.has_error(*_REGION_KEYS):
            return frozenset(), CellNumbering(self._lattice)
        if key == "outline":
            region = self._regions.read(key, table.outline, f"{prefix}{key}")
            return region, CellNumbering(
                self._lattice, region, "the region is drawn by its outline"
            )
        numbering = (
            self._board(table.board, f"{prefix}board") if key == "board" else self._default()
        )
        if key == "cells":
            return self._regions.read(key, table.cells, f"{prefix}{key}", numbering), numbering
        if not key and numbering.lack:
            keys = "board, outline or cells" if self._puzzle.boards else "outline or cells"
            errors.add(place, f"has no region, and {numbering.lack}; add {keys}")
        return numbering.cells, numbering

    def _default(self) -> CellNumbering:
        """Return the default board's numbering."""
        board = default_board(self._puzzle.boards)
        if board is None:
            lack = "no board is named" if self._puzzle.boards else "the set has no board"
            return CellNumbering(self._lattice, lack=lack)
        return self._boards.get(board.id, CellNumbering(self._lattice))

    def _board(self, wanted: Any, key: str) -> CellNumbering:
        if isinstance(wanted, str) and wanted in self._boards:
            return self._boards[wanted]
        if not self._puzzle.boards:
            self._errors.add(key, f"{quote(wanted)} is not a board; the set has none")
        elif wanted not in self._misnamed:
            try:
                choice(*self._boards).read(wanted)
            except ValueError as error:
                self._errors.add(key, str(error))
        return CellNumbering(self._lattice)

    def _named(self, wanted: Any, key: str) -> tuple[str, ...]:
        """Return the ids in ``pieces``: a list, or a string when every id is a single character."""
        known, errors = self._pieces, self._errors
        if wanted is None:
            return tuple(known)
        if not isinstance(wanted, str | list):
            errors.add(key, f"expected a string or a list of piece ids, found {quote(wanted)}")
            return ()
        ids = [one for one in wanted if isinstance(one, str)]
        if len(ids) < len(wanted) or not ids:
            errors.add(key, f"expected one or more piece ids, found {quote(wanted)}")
        elif isinstance(wanted, str) and wanted in known and len(wanted) > 1:
            letters = ", ".join(wanted)
            message = f'{quote(wanted)} is read as the pieces {letters}; write a list: ["{wanted}"]'
            errors.add(key, message)
        else:
            for one, count in Counter(ids).items():
                if one not in known and one not in self._misnamed:
                    names = join_names(list(known))
                    errors.add(key, f"there is no piece {quote(one)}; the pieces are {names}")
                elif count > 1:
                    errors.add(
                        key, f"piece {quote(one)} is listed {count} times; there is only one"
                    )
        return tuple(ids)

    def _count(self, count: int | None, prefix: str, named: int, given: int) -> int | None:
        """Return how many of the pieces fill the region; None when all do."""
        key = f"{prefix}pieces_count"
        if count is not None and not 1 <= count <= named:
            expected = f"expected 1 to {named}, as {pluralize(named, 'piece')} may be used"
            self._errors.add(key, f"is {count}; {expected}")
        elif count is not None and count < given:
            self._errors.add(key, f"is {count}, but {pluralize(given, 'piece')} are given")
        return None if count == named else count

    def _given(
        self,
        table: ChallengeFile,
        prefix: str,
        flips: bool,
        region: frozenset[Cell],
        numbering: CellNumbering,
        pieces: tuple[str, ...],
    ) -> tuple[Given, ...]:
        """Return the given pieces: allowed images inside the region that do not overlap."""
        errors = self._errors
        if len(table.given) > len(self._pieces):
            most = f"at most {len(self._pieces)} are allowed"
            errors.add(f"{prefix}given", f"has {len(table.given)} items; {most}")
            return ()
        found: dict[str, Given] = {}
        covered: set[Cell] = set()
        for index, item in enumerate(table.given):
            place = f"{prefix}given[{index}]"
            key = exactly_one(errors, place, item, ("cells", "outline"), required=True)
            where = f"{place}.{key}"
            value = getattr(item, key) if key else None
            cells = self._regions.read(key, value, where, numbering) if key else frozenset()
            if item.has_error("piece") or not cells:
                continue
            name, piece = quote(item.piece), self._pieces.get(item.piece)
            if item.piece not in pieces or piece is None:
                errors.add(f"{place}.piece", f"{name} is not among the challenge's pieces")
            elif item.piece in found:
                errors.add(f"{place}.piece", f"{name} is given twice")
            elif piece.forms and not is_image(self._lattice, piece, cells, flips):
                errors.add(
                    where, f"is not the shape of {name} under the allowed moves ({MOVES[flips]})"
                )
            elif region and not cells <= region:
                errors.add(where, "is partly outside the region")
            elif cells & covered:
                errors.add(where, "overlaps another given piece")
            else:
                found[item.piece] = Given(item.piece, cells)
                covered |= cells
        return tuple(found.values())
