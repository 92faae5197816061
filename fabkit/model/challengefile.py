"""Reading a challenge: a table of a set file, of a list, or a file of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from fabkit.core.documents import (
    FLAG,
    IDENTIFIER,
    Check,
    Faults,
    Table,
    anything,
    choice,
    one_of,
    text,
    whole,
)
from fabkit.core.errors import many, name_some, shown
from fabkit.model.drawing import Numbering, Regions
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, is_image
from fabkit.model.puzzle import Board, Challenge, Given, PuzzleSet, usual_board

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


@dataclass(frozen=True)
class Surroundings:
    """What a challenge may speak of.

    Attributes:
        lattice: the set's.
        flips: whether the set's moves include flips.
        pieces: the set's pieces by id.
        boards: the set's boards.
        regions: reads what is drawn.
        misnamed: ids of pieces and boards that are faults themselves, and are not offered.
    """

    lattice: Lattice
    flips: bool
    pieces: Mapping[str, Piece]
    boards: Sequence[Board]
    regions: Regions
    misnamed: Sequence[object] = ()

    @classmethod
    def of(cls, puzzle: PuzzleSet, faults: Faults) -> Surroundings:
        """What a challenge of a set that has been read may speak of."""
        pieces = {piece.id: piece for piece in puzzle.pieces}
        regions = Regions(puzzle.lattice, faults)
        return cls(puzzle.lattice, puzzle.flips, pieces, puzzle.boards, regions)

    @cached_property
    def named_boards(self) -> Mapping[str, Numbering]:
        """The boards by id, each numbered once."""
        numbered = ((board.id, Numbering(self.lattice, board.cells)) for board in self.boards)
        return {name: numbering for name, numbering in numbered if name}

    @property
    def usual_board(self) -> Numbering:
        """The board that is meant when none is named."""
        board = usual_board(self.boards)
        if board is None:
            lack = "no board is named" if self.boards else "the set has no board"
            return Numbering(self.lattice, lack=lack)
        return self.named_boards[board.id]


def read_challenge(
    data: Mapping[str, Any], around: Surroundings, place: str = "", name: str | None = None
) -> Challenge:
    """Reads one challenge; faults go where those of its regions go.

    Args:
        data: what the file says.
        around: the set it belongs to.
        place: the challenge's place in the file.
        name: the challenge's id when it needs none of its own, as in a file.

    Returns:
        The challenge; usable only if there are no faults.
    """
    model = ChallengeTable if name is None else ChallengeFile
    table = model.read(data, around.regions.faults, place)
    return challenge_of_table(table, around, place, name or "")


def challenge_of_table(
    table: ChallengeFile, around: Surroundings, place: str, name: str = ""
) -> Challenge:
    """The challenge of a table that has been read; see `read_challenge`."""
    return _Reading(table, around, f"{place}." if place else "").read(name)


class _Reading:
    """One challenge, held against its set."""

    def __init__(self, table: ChallengeFile, around: Surroundings, prefix: str) -> None:
        self.table = table
        self.around = around
        self.prefix = prefix
        self.faults = around.regions.faults

    def read(self, name: str) -> Challenge:
        table, around = self.table, self.around
        region, numbering = self._region()
        flips = around.flips if table.flips is None else table.flips
        before = self.faults.count
        pieces = self._pieces()
        known = self.faults.count == before and not table.failed("pieces")
        given = self._given(flips, region, numbering, pieces) if known else ()
        count = self._pieces_count(len(pieces), len(given)) if known else None
        title, answer = table.title or "", table.answer or ""
        return Challenge(table.id or name, region, pieces, given, flips, answer, title, count)

    def fault(self, key: str, message: str) -> None:
        self.faults.add(f"{self.prefix}{key}", message)

    def _region(self) -> tuple[frozenset[Cell], Numbering]:
        """The cells to cover, and what cells are called there; none after a fault.

        Rows and columns begin at the top left of the board, or of the outline drawn instead.
        """
        table, around = self.table, self.around
        before, place = self.faults.count, self.prefix.removesuffix(".")
        key = one_of(self.faults, place, table, _REGION_KEYS, required=False)
        if self.faults.count > before or table.failed(*_REGION_KEYS):
            return frozenset(), Numbering(around.lattice)
        if key == "outline":
            region = around.regions.read(key, table.outline, f"{self.prefix}{key}")
            return region, Numbering(around.lattice, region, "the region is drawn by its outline")
        numbering = self._named_board() if key == "board" else around.usual_board
        if key == "cells":
            cells = around.regions.read(key, table.cells, f"{self.prefix}{key}", numbering)
            return cells, numbering
        if not key and numbering.lack:
            ways = "board, outline or cells" if around.boards else "outline or cells"
            self.faults.add(place, f"has no region, and {numbering.lack}; add {ways}")
        return numbering.cells, numbering

    def _named_board(self) -> Numbering:
        around, wanted = self.around, self.table.board
        if isinstance(wanted, str) and wanted in around.named_boards:
            return around.named_boards[wanted]
        if not around.boards:
            self.fault("board", f"{shown(wanted)} is not known; the set has no board")
        elif wanted not in around.misnamed:
            try:
                choice(*around.named_boards).read(wanted)
            except ValueError as fault:
                self.fault("board", str(fault))
        return Numbering(around.lattice)

    def _pieces(self) -> tuple[str, ...]:
        """The ids at ``pieces``: a list, or a text when every id is a single character."""
        wanted, known = self.table.pieces, self.around.pieces
        if wanted is None:
            return tuple(known)
        if not isinstance(wanted, str | list):
            self.fault("pieces", f"expected a text or a list of piece ids, found {shown(wanted)}")
            return ()
        ids = [one for one in wanted if isinstance(one, str)]
        if len(ids) < len(wanted) or not ids:
            self.fault("pieces", f"expected one or more piece ids, found {shown(wanted)}")
        elif isinstance(wanted, str) and wanted in known and len(wanted) > 1:
            letters = ", ".join(wanted)
            message = f'{shown(wanted)} is read as the pieces {letters}; write a list: ["{wanted}"]'
            self.fault("pieces", message)
        else:
            self._check_ids(ids)
        return tuple(ids)

    def _check_ids(self, ids: Sequence[str]) -> None:
        known = self.around.pieces
        for one, count in Counter(ids).items():
            if one not in known and one not in self.around.misnamed:
                names = name_some(list(known))
                self.fault("pieces", f"there is no piece {shown(one)}; the pieces are {names}")
            elif count > 1:
                self.fault("pieces", f"piece {shown(one)} is named {count} times; there is one")

    def _pieces_count(self, named: int, given: int) -> int | None:
        """How many of the pieces fill the region; None when all of them do."""
        count = self.table.pieces_count
        if count is None:
            return None
        if not 1 <= count <= named:
            pieces = many(named, "piece")
            self.fault(
                "pieces_count", f"is {count}; expected 1 to {named}, as {pieces} may be used"
            )
        elif count < given:
            self.fault("pieces_count", f"is {count}, but {many(given, 'piece')} are given")
        return None if count == named else count

    def _given(
        self,
        flips: bool,
        region: frozenset[Cell],
        numbering: Numbering,
        pieces: tuple[str, ...],
    ) -> tuple[Given, ...]:
        """The pieces already placed: allowed images, inside the region, apart from each other."""
        around, stated = self.around, self.table.given
        if len(stated) > len(around.pieces):
            most = f"at most {len(around.pieces)} are allowed"
            self.fault("given", f"has {len(stated)} items; {most}")
            return ()
        found: list[Given] = []
        taken: set[Cell] = set()
        for index, item in enumerate(stated):
            place = f"{self.prefix}given[{index}]"
            key = one_of(self.faults, place, item, ("cells", "outline"), required=True)
            where = f"{place}.{key}"
            drawn = getattr(item, key) if key else None
            cells = around.regions.read(key, drawn, where, numbering) if key else frozenset()
            if item.failed("piece") or not cells:
                continue
            piece = around.pieces.get(item.piece)
            moves = "turns and flips" if flips else "turns"
            if item.piece not in pieces or piece is None:
                message = f"{shown(item.piece)} is not among the challenge's pieces"
                self.faults.add(f"{place}.piece", message)
            elif item.piece in (given.piece for given in found):
                self.faults.add(f"{place}.piece", f"{shown(item.piece)} is given twice")
            elif piece.forms and not is_image(around.lattice, piece, cells, flips):
                name = shown(item.piece)
                message = f"is not the shape of {name} under the moves allowed ({moves})"
                self.faults.add(where, message)
            elif region and not cells <= region:
                self.faults.add(where, "lies partly outside the region")
            elif cells & taken:
                self.faults.add(where, "overlaps a piece given before")
            else:
                found.append(Given(item.piece, cells))
                taken |= cells
        return tuple(found)
