"""Reading a set file: TOML in, a `PuzzleSet` out, or all its faults at once."""

from __future__ import annotations

from pathlib import Path

from fabkit.base.errors import printable, shown
from fabkit.base.files import sha256
from fabkit.base.reading import Reader, Table
from fabkit.base.tomlfile import read_toml
from fabkit.model.challengefile import Surroundings, read_challenge
from fabkit.model.drawing import MAX_CELLS_OF_FILE, Regions, flat_form, read_balls
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.puzzle import Board, PuzzleSet, area

MOVES = ("rotations", "rotations and flips")
#: Colours for pieces that name none: eight that colour-blind eyes tell apart (Okabe and Ito).
DEFAULT_COLOURS = (
    "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#999999",
)  # fmt: skip
#: The smallest and the largest sane length of a grid unit.
UNIT_RANGE_MM = (4.0, 200.0)

_LONGEST_LABEL = 3
_LONGEST_DEFAULT_LABEL = 2


def read_set(path: Path, source: str | None = None) -> PuzzleSet:
    """Reads a set file.

    Args:
        path: the TOML file.
        source: the file's name in messages; the path itself when None.

    Returns:
        The set, checked.

    Raises:
        InputError: with every fault of the file.
    """
    name = source or printable(str(path))
    top = Table(Reader(name), read_toml(path, name))
    puzzle = _SetReading(top, sha256(path)).read()
    top.reader.finish()
    return puzzle


class _SetReading:
    """One pass over a set file."""

    def __init__(self, top: Table, digest: str) -> None:
        self.top = top
        self.digest = digest
        self.head = top.table("set")
        self.misnamed: set[str] = set()

    def read(self) -> PuzzleSet:
        """Everything in the file's order; faults go to the reader."""
        self._read_head()
        pieces = [self._piece(t, i) for i, t in enumerate(self.top.tables("piece", 1000))]
        if not pieces and not self.top.failed("piece"):
            self.top.lacks(["piece"], "there are no pieces; add one with [[piece]]")
        boards = [self._board(table) for table in self.top.tables("board", 1000)]
        around = Surroundings(
            self.lattice,
            self.flips,
            {piece.id: piece for piece in pieces},
            frozenset(self.misnamed),
            boards,
            self.regions,
        )
        challenges = [read_challenge(table, around) for table in self.top.tables("challenge")]
        self._refuse_same_ids("piece", [piece.id for piece in pieces])
        self._refuse_same_ids("board", [board.id for board in boards])
        self._refuse_same_ids("challenge", [challenge.id for challenge in challenges])
        self.top.refuse_unknown()
        puzzle = PuzzleSet(
            name=self.name,
            title=self.title,
            lattice=self.lattice,
            flips=self.flips,
            unit_mm=self.unit_mm,
            pieces=tuple(pieces),
            boards=tuple(boards),
            challenges=tuple(challenges),
            source=self.top.reader.source,
            digest=self.digest,
            credit=self.credit,
            licence=self.licence,
        )
        _compare_area(self.head, puzzle.area if self.top.reader.sound else None)
        self.head.refuse_unknown()
        return puzzle

    def _read_head(self) -> None:
        """The table [set]. Without a lattice nothing else can be judged, so faults end it here."""
        if not self.top.has("set"):
            message = "is missing; expected a table [set] with name, lattice and moves"
            self.top.lacks(["set"], message)
            self.top.has("piece"), self.top.has("board"), self.top.has("challenge")
            self.top.refuse_unknown()
        self.top.reader.finish()
        head = self.head
        self.lattice = LATTICES[head.choice("lattice", LATTICES)]
        self.regions = Regions(self.lattice)
        self.name = head.identifier("name")
        self.title = head.text("title", self.name)
        self.flips = head.choice("moves", MOVES) == MOVES[1]
        self.unit_mm = head.length_mm("unit", *UNIT_RANGE_MM)
        self.credit = head.text("source", "none", longest=2000)
        self.licence = head.text("licence", "not stated", longest=200)
        if head.failed("lattice"):
            head.has("area")
            head.refuse_unknown()
            self.top.reader.finish()

    def _piece(self, table: Table, index: int) -> Piece:
        """A piece; after a fault one without forms, so that challenges do not fault in its wake."""
        piece_id = table.identifier("id")
        if table.failed("id"):
            self.misnamed.add(piece_id)
        label = table.raw("label") if table.has("label") else _default_label(piece_id)
        if not _is_label(label) and (table.has("label") or not table.failed("id")):
            table.fault("label", f"expected 1 to {_LONGEST_LABEL} letters, found {shown(label)}")
        colour = table.colour("colour", DEFAULT_COLOURS[index % len(DEFAULT_COLOURS)])
        piece = Piece(piece_id, label, colour, ())
        key = table.one_of(("outline", "cells", "balls"))
        if key == "balls":
            piece = self._ball_piece(table, piece)
        elif key:
            form = flat_form(
                table, key, self.lattice, self.regions.read(table, key, may_touch=False)
            )
            piece = Piece(piece_id, label, colour, (form,) if form else ())
        _compare_area(table, area(self.lattice, piece.forms[0]) if piece.forms else None)
        if table.has("bonds") and key in ("outline", "cells"):
            table.fault("bonds", "belong to balls, and this piece has none")
        table.refuse_unknown()
        return piece

    def _ball_piece(self, table: Table, piece: Piece) -> Piece:
        if self.lattice is not LATTICES["square"]:
            table.fault("balls", 'lie on the square lattice; write lattice = "square" in [set]')
            return piece
        drawn = read_balls(table)
        return Piece(piece.id, piece.label, piece.colour, drawn[1], drawn[0]) if drawn else piece

    def _board(self, table: Table) -> Board:
        board_id = table.identifier("id")
        key = table.one_of(("size", "rows", "cells", "outline"))
        cells = self.regions.read(table, key) if key else frozenset()
        table.refuse_unknown()
        return Board(board_id, cells)

    def _refuse_same_ids(self, kind: str, ids: list[str]) -> None:
        first: dict[str, int] = {}
        for index, one in enumerate(ids):
            same = first.setdefault(one.lower(), index)
            if one and same != index:
                self.top.reader.fault(
                    f"{kind}[{index}].id",
                    f"{shown(one)} is also the id of {kind}[{same}]; upper and lower case count as "
                    "the same, since ids name files",
                )


def _default_label(piece_id: str) -> str:
    return piece_id if len(piece_id) <= _LONGEST_DEFAULT_LABEL else piece_id[0].upper()


def _is_label(label: object) -> bool:
    return (
        isinstance(label, str)
        and 0 < len(label) <= _LONGEST_LABEL
        and label.isprintable()
        and label == label.strip()
    )


def _compare_area(table: Table, found: float | None) -> None:
    """Holds the declared ``area`` against the drawn one."""
    if table.has("area"):
        declared = table.number("area", 0, MAX_CELLS_OF_FILE)
        if found is not None and declared != found and not table.failed("area"):
            table.fault("area", f"is {declared:g}, but the drawing's area is {found:g}")
