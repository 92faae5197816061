"""Reading a challenge: a table of a set file, of a list, or a file of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from fabkit.core.documents import (
    FLAG,
    IDENTIFIER,
    Check,
    Table,
    anything,
    choice,
    one_of,
    text,
    whole,
)
from fabkit.core.errors import many, name_some, shown
from fabkit.model.drawing import Numbering, Regions
from fabkit.model.lattice import Cell
from fabkit.model.piece import is_image
from fabkit.model.puzzle import Challenge, Given, PuzzleSet, usual_board

ANSWERS = ("solved", "impossible")
_REGION_KEYS = ("outline", "board", "cells")

_WHOLE_PAIR = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
_CORNER = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
_RING = {"type": "array", "items": _CORNER, "minItems": 3}
_RINGS = {"type": "array", "items": _RING, "minItems": 1}
OUTLINE = anything(
    "corners",
    description="rings of corners [x, y] in grid units, y up; holes follow their outer ring",
    anyOf=[_RING, _RINGS, {"type": "array", "items": _RINGS, "minItems": 1}],
)
CELLS = anything(
    "cells",
    description="cells as [row, column] from the top left, or as their number on the board",
    type="array",
    items={"anyOf": [_WHOLE_PAIR, {"type": "integer"}]},
    minItems=1,
)
_PIECES = anything(
    "piece ids",
    description="ids of the pieces: a list, or a text when each id is one character",
    anyOf=[
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
    ],
)

_COUNT = Check(whole(-(10**9), 10**9).read, "a whole number", {"type": "integer", "minimum": 1})


class GivenTable(Table):
    """A piece that is placed already."""

    piece: Annotated[str, text()]
    cells: Annotated[Any, CELLS] = None
    outline: Annotated[Any, OUTLINE] = None


class ChallengeFile(Table):
    """A region to cover, and the pieces to use."""

    id: Annotated[str, IDENTIFIER] = ""
    title: Annotated[str, text(100)] = ""
    outline: Annotated[Any, OUTLINE] = None
    board: Annotated[Any, anything("a board", type="string")] = Field(
        None, description="id of the board to fill; the set's first when no region is drawn"
    )
    cells: Annotated[Any, CELLS] = None
    flips: Annotated[bool | None, FLAG] = Field(None, description="whether pieces may be flipped")
    answer: Annotated[str, choice(*ANSWERS)] = Field("", description="what is known of it")
    pieces: Annotated[Any, _PIECES] = None
    pieces_count: Annotated[int | None, _COUNT] = Field(
        None, description="how many of the pieces fill the region; all of them by default"
    )
    given: list[GivenTable] = Field([], description="pieces that are placed already")


class ChallengeTable(ChallengeFile):
    """A challenge of a set or a list, where it needs a name."""

    id: Annotated[str, IDENTIFIER]


class CatalogEntry(Table, extra="ignore"):
    """What is read of a challenge in a catalog; the rest is for people. See `fabkit.model.catalog`."""

    id: Annotated[str, IDENTIFIER]
    parity: Annotated[str, choice("even", "odd", "mixed")]
    count: Annotated[int, whole(0, 10**18)]
    outlines: Annotated[Any, anything("a list of outlines")]
    solution: Annotated[Any, anything("an outline for each piece")]
    flips: Annotated[bool | None, FLAG] = None
    count_complete: Annotated[bool, FLAG] = False


class ChallengeReader:
    """Reads challenges of a set, held against it; faults go where those of its regions go.

    Args:
        puzzle: the set, as far as it has been read.
        regions: reads what is drawn.
        misnamed: ids of pieces and boards that are faults themselves, and are not offered.
    """

    def __init__(
        self, puzzle: PuzzleSet, regions: Regions, misnamed: Sequence[object] = ()
    ) -> None:
        self._puzzle, self._regions, self._misnamed = puzzle, regions, misnamed
        self._lattice, self._faults = puzzle.lattice, regions.faults
        self._pieces = {piece.id: piece for piece in puzzle.pieces if piece.id}
        numbered = ((board.id, Numbering(puzzle.lattice, board.cells)) for board in puzzle.boards)
        self._boards = {board_id: numbering for board_id, numbering in numbered if board_id}

    def read(self, data: Any, place: str = "", name: str | None = None) -> Challenge:
        """One challenge; usable only if there are no faults.

        Args:
            data: what the file says.
            place: the challenge's place in the file.
            name: the challenge's id when it needs none of its own, as in a file.
        """
        model = ChallengeTable if name is None else ChallengeFile
        return self.challenge(model.read(data, self._faults, place), place, name or "")

    def challenge(self, table: ChallengeFile, place: str, name: str = "") -> Challenge:
        """The challenge of a table that has been read; see `read`."""
        prefix = f"{place}." if place else ""
        region, numbering = self._region(table, place, prefix)
        flips = self._puzzle.flips if table.flips is None else table.flips
        before = self._faults.count
        pieces = self._named(table.pieces, f"{prefix}pieces")
        given, count = tuple[Given, ...](), None
        if self._faults.count == before and not table.failed("pieces"):
            given = self._given(table, prefix, flips, region, numbering, pieces)
            count = self._count(table.pieces_count, prefix, len(pieces), len(given))
        title, answer = table.title or "", table.answer or ""
        return Challenge(table.id or name, region, pieces, given, flips, answer, title, count)

    def _region(
        self, table: ChallengeFile, place: str, prefix: str
    ) -> tuple[frozenset[Cell], Numbering]:
        """The cells to cover, and what cells are called there; none after a fault.

        Rows and columns begin at the top left of the board, or of the outline drawn instead.
        """
        faults, before = self._faults, self._faults.count
        key = one_of(faults, place, table, _REGION_KEYS, required=False)
        if faults.count > before or table.failed(*_REGION_KEYS):
            return frozenset(), Numbering(self._lattice)
        if key == "outline":
            region = self._regions.read(key, table.outline, f"{prefix}{key}")
            return region, Numbering(self._lattice, region, "the region is drawn by its outline")
        numbering = self._board(table.board, f"{prefix}board") if key == "board" else self._usual()
        if key == "cells":
            return self._regions.read(key, table.cells, f"{prefix}{key}", numbering), numbering
        if not key and numbering.lack:
            ways = "board, outline or cells" if self._puzzle.boards else "outline or cells"
            faults.add(place, f"has no region, and {numbering.lack}; add {ways}")
        return numbering.cells, numbering

    def _usual(self) -> Numbering:
        """The board that is meant when none is named."""
        board = usual_board(self._puzzle.boards)
        if board is None:
            lack = "no board is named" if self._puzzle.boards else "the set has no board"
            return Numbering(self._lattice, lack=lack)
        return self._boards.get(board.id, Numbering(self._lattice))

    def _board(self, wanted: Any, key: str) -> Numbering:
        if isinstance(wanted, str) and wanted in self._boards:
            return self._boards[wanted]
        if not self._puzzle.boards:
            self._faults.add(key, f"{shown(wanted)} is not known; the set has no board")
        elif wanted not in self._misnamed:
            try:
                choice(*self._boards).read(wanted)
            except ValueError as fault:
                self._faults.add(key, str(fault))
        return Numbering(self._lattice)

    def _named(self, wanted: Any, key: str) -> tuple[str, ...]:
        """The ids at ``pieces``: a list, or a text when every id is a single character."""
        known, faults = self._pieces, self._faults
        if wanted is None:
            return tuple(known)
        if not isinstance(wanted, str | list):
            faults.add(key, f"expected a text or a list of piece ids, found {shown(wanted)}")
            return ()
        ids = [one for one in wanted if isinstance(one, str)]
        if len(ids) < len(wanted) or not ids:
            faults.add(key, f"expected one or more piece ids, found {shown(wanted)}")
        elif isinstance(wanted, str) and wanted in known and len(wanted) > 1:
            letters = ", ".join(wanted)
            message = f'{shown(wanted)} is read as the pieces {letters}; write a list: ["{wanted}"]'
            faults.add(key, message)
        else:
            for one, count in Counter(ids).items():
                if one not in known and one not in self._misnamed:
                    names = name_some(list(known))
                    faults.add(key, f"there is no piece {shown(one)}; the pieces are {names}")
                elif count > 1:
                    faults.add(key, f"piece {shown(one)} is named {count} times; there is one")
        return tuple(ids)

    def _count(self, count: int | None, prefix: str, named: int, given: int) -> int | None:
        """How many of the pieces fill the region; None when all of them do."""
        key = f"{prefix}pieces_count"
        if count is not None and not 1 <= count <= named:
            expected = f"expected 1 to {named}, as {many(named, 'piece')} may be used"
            self._faults.add(key, f"is {count}; {expected}")
        elif count is not None and count < given:
            self._faults.add(key, f"is {count}, but {many(given, 'piece')} are given")
        return None if count == named else count

    def _given(
        self,
        table: ChallengeFile,
        prefix: str,
        flips: bool,
        region: frozenset[Cell],
        numbering: Numbering,
        pieces: tuple[str, ...],
    ) -> tuple[Given, ...]:
        """The pieces already placed: allowed images, inside the region, apart from each other."""
        faults = self._faults
        if len(table.given) > len(self._pieces):
            most = f"at most {len(self._pieces)} are allowed"
            faults.add(f"{prefix}given", f"has {len(table.given)} items; {most}")
            return ()
        found: dict[str, Given] = {}
        taken: set[Cell] = set()
        for index, item in enumerate(table.given):
            place = f"{prefix}given[{index}]"
            key = one_of(faults, place, item, ("cells", "outline"), required=True)
            where = f"{place}.{key}"
            drawn = getattr(item, key) if key else None
            cells = self._regions.read(key, drawn, where, numbering) if key else frozenset()
            if item.failed("piece") or not cells:
                continue
            name, piece = shown(item.piece), self._pieces.get(item.piece)
            moves = "turns and flips" if flips else "turns"
            if item.piece not in pieces or piece is None:
                faults.add(f"{place}.piece", f"{name} is not among the challenge's pieces")
            elif item.piece in found:
                faults.add(f"{place}.piece", f"{name} is given twice")
            elif piece.forms and not is_image(self._lattice, piece, cells, flips):
                faults.add(where, f"is not the shape of {name} under the moves allowed ({moves})")
            elif region and not cells <= region:
                faults.add(where, "lies partly outside the region")
            elif cells & taken:
                faults.add(where, "overlaps a piece given before")
            else:
                found[item.piece] = Given(item.piece, cells)
                taken |= cells
        return tuple(found.values())
