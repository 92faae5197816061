"""Reading a challenge: a table of a set file, or a file of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabkit.core.errors import many, name_some, shown
from fabkit.core.reading import Table
from fabkit.model.drawing import Regions
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.numbering import Numbering
from fabkit.model.piece import Piece, is_image
from fabkit.model.puzzle import Board, Challenge, Given, PuzzleSet

ANSWERS = ("solved", "impossible")
_LONGEST_TITLE = 100
_REGION_KEYS = ("outline", "board", "cells")


@dataclass(frozen=True)
class Surroundings:
    """What a challenge may speak of.

    Attributes:
        lattice: the set's.
        flips: whether the set's moves include flips.
        pieces: the set's pieces by id.
        misnamed: ids of pieces that are faults themselves, and are not offered to anyone.
        boards: the set's boards; see `usual_board` for the default region.
        regions: reads what is drawn.
    """

    lattice: Lattice
    flips: bool
    pieces: Mapping[str, Piece]
    misnamed: frozenset[str]
    boards: Sequence[Board]
    regions: Regions

    @classmethod
    def of(cls, puzzle: PuzzleSet) -> Surroundings:
        """What a challenge of a set that has been read may speak of."""
        pieces = {piece.id: piece for piece in puzzle.pieces}
        regions = Regions(puzzle.lattice)
        return cls(puzzle.lattice, puzzle.flips, pieces, frozenset(), puzzle.boards, regions)

    @cached_property
    def named_boards(self) -> Mapping[str, Numbering]:
        """The boards by id, each numbered once."""
        return {board.id: Numbering(self.lattice, board.cells) for board in self.boards}

    @property
    def usual_board(self) -> Numbering:
        """The board that is meant when none is named."""
        board = usual_board(self.boards)
        if board is None:
            lack = "no board is named" if self.boards else "the set has no board"
            return Numbering(self.lattice, lack=lack)
        return self.named_boards[board.id]


def usual_board(boards: Sequence[Board]) -> Board | None:
    """The board that is meant when none is named: the first that is not optional.

    Args:
        boards: a set's.

    Returns:
        None when there is none to be meant.

    Example:
        >>> from fabkit.model.library import load_set
        >>> usual_board(load_set("fridgeiq").boards) is None
        True
        >>> usual_board(load_set("iqfit").boards).id
        'board'
    """
    return next((board for board in boards if not board.optional), None)


def read_challenge(table: Table, around: Surroundings, name: str | None = None) -> Challenge:
    """Reads one challenge; faults go to the table's reader.

    Args:
        table: with ``id``, one of ``outline``, ``board`` and ``cells`` (none: `usual_board`),
            and optionally ``title``, ``pieces``, ``pieces_count``, ``given``, ``flips`` and
            ``answer``. Cells are ``[row, column]`` of the board from its top left, or their
            number on it, row by row.
        around: the set it belongs to.
        name: the challenge's id when the table has none of its own, as in a file.

    Returns:
        The challenge; usable only if the reader stays without faults.
    """
    challenge_id = table.identifier("id") if name is None or table.has("id") else name
    title = table.text("title", "", _LONGEST_TITLE)
    region, numbering = _region(table, around)
    flips = table.flag("flips", around.flips)
    answer = table.choice("answer", ANSWERS) if table.has("answer") else ""
    pieces = _pieces(table, around)
    given = _given(table, around, flips, region, numbering, pieces)
    pieces_count = _pieces_count(table, len(pieces), len(given))
    table.refuse_unknown()
    return Challenge(challenge_id, region, pieces, given, flips, answer, title, pieces_count)


def _region(table: Table, around: Surroundings) -> tuple[frozenset[Cell], Numbering]:
    """The cells to cover, and what cells are called there; none after a fault.

    Rows and columns begin at the top left of the board, or of the outline drawn instead.
    """
    key = table.one_of(_REGION_KEYS, required=False)
    if key == "outline":
        region = around.regions.read(table, key)
        return region, Numbering(around.lattice, region, "the region is drawn by its outline")
    numbering = _named_board(table, around) if key == "board" else around.usual_board
    if key == "cells":
        return around.regions.read(table, key, numbering), numbering
    if not key and numbering.lack:
        ways = "board, outline or cells" if around.boards else "outline or cells"
        table.lacks(_REGION_KEYS, f"has no region, and {numbering.lack}; add {ways}")
    return numbering.cells, numbering


def _named_board(table: Table, around: Surroundings) -> Numbering:
    wanted = table.raw("board")
    if not around.boards:
        table.fault("board", f"{shown(wanted)} is not known; the set has no board")
    elif wanted not in list(around.named_boards):
        table.choice("board", around.named_boards)
    else:
        return around.named_boards[wanted]
    return Numbering(around.lattice)


def _pieces(table: Table, around: Surroundings) -> tuple[str, ...]:
    """The ids at ``pieces``: a list, or a text when every id is a single character."""
    wanted = table.raw("pieces")
    if wanted is None:
        return tuple(around.pieces)
    if not isinstance(wanted, str | list):
        table.fault("pieces", f"expected a text or a list of piece ids, found {shown(wanted)}")
        return ()
    ids = [one for one in wanted if isinstance(one, str)]
    if len(ids) < len(wanted) or not ids:
        table.fault("pieces", f"expected one or more piece ids, found {shown(wanted)}")
    elif isinstance(wanted, str) and wanted in around.pieces and len(wanted) > 1:
        letters = ", ".join(wanted)
        message = f'{shown(wanted)} is read as the pieces {letters}; write a list: ["{wanted}"]'
        table.fault("pieces", message)
    else:
        _check_ids(table, around, ids)
    return tuple(ids)


def _check_ids(table: Table, around: Surroundings, ids: list[str]) -> None:
    counts = Counter(ids)
    known = name_some([one for one in around.pieces if one not in around.misnamed])
    for one, count in counts.items():
        if one not in around.pieces:
            table.fault("pieces", f"there is no piece {shown(one)}; the pieces are {known}")
        elif count > 1:
            table.fault("pieces", f"piece {shown(one)} is named {count} times; there is one")


def _pieces_count(table: Table, named: int, given: int) -> int | None:
    """How many of the pieces fill the region; None when all of them do."""
    count = table.raw("pieces_count")
    if count is None:
        return None
    if type(count) is not int:
        table.fault("pieces_count", f"expected a whole number, found {shown(count)}")
    elif table.failed("pieces"):
        return None
    elif not 1 <= count <= named:
        pieces = many(named, "piece")
        table.fault(
            "pieces_count", f"is {shown(count)}; expected 1 to {named}, as {pieces} may be used"
        )
    elif count < given:
        table.fault("pieces_count", f"is {count}, but {many(given, 'piece')} are given")
    return None if count == named else count


def _given(
    table: Table,
    around: Surroundings,
    flips: bool,
    region: frozenset[Cell],
    numbering: Numbering,
    pieces: tuple[str, ...],
) -> tuple[Given, ...]:
    """The pieces already placed: allowed images, inside the region, apart from each other."""
    found: list[Given] = []
    taken: set[Cell] = set()
    for item in table.tables("given", len(around.pieces)):
        piece_id = item.text("piece")
        key = item.one_of(("cells", "outline"))
        cells = around.regions.read(item, key, numbering) if key else frozenset()
        item.refuse_unknown()
        failed = any(map(item.failed, ("piece", "cells", "outline"))) or table.failed("pieces")
        if failed or not cells:
            continue
        piece = around.pieces.get(piece_id)
        if piece_id not in pieces or piece is None:
            item.fault("piece", f"{shown(piece_id)} is not among the challenge's pieces")
        elif piece_id in (given.piece for given in found):
            item.fault("piece", f"{shown(piece_id)} is given twice")
        elif piece.forms and not is_image(around.lattice, piece, cells, flips):
            moves = "turns and flips" if flips else "turns"
            item.fault(
                key, f"is not the shape of {shown(piece_id)} under the moves allowed ({moves})"
            )
        elif region and not cells <= region:
            item.fault(key, "lies partly outside the region")
        elif cells & taken:
            item.fault(key, "overlaps a piece given before")
        else:
            found.append(Given(piece_id, cells))
            taken |= cells
    return tuple(found)
