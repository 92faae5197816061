"""Reading a set file: TOML in, a `PuzzleSet` out, or all its faults at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabkit.core.errors import printable, shown
from fabkit.core.files import digest, sha256
from fabkit.core.parsing import read_toml
from fabkit.core.reading import Reader, Table
from fabkit.model.challengefile import Surroundings, read_challenge
from fabkit.model.chequer import PARITIES, read_chequer, toned_cells
from fabkit.model.drawing import MAX_CELLS_OF_FILE, Regions, flat_form, read_balls
from fabkit.model.lattice import LATTICES
from fabkit.model.palette import colour_of
from fabkit.model.piece import Piece
from fabkit.model.puzzle import Board, PuzzleSet, area
from fabkit.model.setchecks import refuse_same_files, refuse_same_ids, refuse_small_board
from fabkit.model.svg import SvgFolder

MOVES = ("rotations", "rotations and flips")
#: The smallest and the largest sane length of a grid unit.
UNIT_RANGE_MM = (4.0, 200.0)

_LONGEST_LABEL = 3
_LONGEST_DEFAULT_LABEL = 2


def read_set(path: Path, source: str | None = None) -> PuzzleSet:
    """Reads a set file.

    Args:
        path: the TOML file. SVG files that it names lie beside it.
        source: the file's name in messages; the path itself when None.

    Returns:
        The set, checked.

    Raises:
        InputError: with every fault of the file.
    """
    name = source or printable(str(path))
    top = Table(Reader(name), read_toml(path, name))
    puzzle = _SetReading(top, path).read()
    top.reader.finish()
    return puzzle


class _SetReading:
    """One pass over a set file."""

    def __init__(self, top: Table, path: Path) -> None:
        self.top = top
        self.path = path
        self.drawings = SvgFolder(path.parent)
        self.head = top.table("set")
        self.misnamed: set[str] = set()

    def read(self) -> PuzzleSet:
        """Everything in the file's order; faults go to the reader."""
        self._read_head()
        pieces = [self._piece(t, i) for i, t in enumerate(self.top.tables("piece", 1000))]
        if not pieces and not self.top.failed("piece"):
            self.top.lacks(["piece"], "there are no pieces; add one with [[piece]]")
        boards = [self._board(table, pieces) for table in self.top.tables("board", 1000)]
        around = Surroundings(
            self.lattice,
            self.flips,
            {piece.id: piece for piece in pieces},
            frozenset(self.misnamed),
            boards,
            self.regions,
        )
        challenges = [read_challenge(table, around) for table in self.top.tables("challenge")]
        for kind, those in (("piece", pieces), ("board", boards), ("challenge", challenges)):
            refuse_same_ids(self.top.reader, kind, [one.id for one in those])
        refuse_same_files(self.top.reader, pieces, boards)
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
            digest=self._digest(),
            credit=self.credit,
            licence=self.licence,
        )
        _compare_area(self.head, puzzle.area if self.top.reader.sound else None)
        self.head.refuse_unknown()
        return puzzle

    def _digest(self) -> str:
        """That of the set file; with those of the SVG files that it names, if it names some."""
        of_file, of_drawings = sha256(self.path), self.drawings.digests
        return digest(of_file, *of_drawings) if of_drawings else of_file

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
        self.name = head.identifier("name")
        self.title = head.text("title", self.name)
        self.flips = head.choice("moves", MOVES) == MOVES[1]
        self.unit_mm = head.length_mm("unit", *UNIT_RANGE_MM)
        drawings = None if head.failed("unit") else self.drawings  # one mistake, one fault
        self.regions = Regions(self.lattice, drawings, self.unit_mm)
        self.chequer = read_chequer(head, self.lattice)
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
        colour = table.colour("colour", colour_of(index))
        piece = Piece(piece_id, label, colour, ())
        key = table.one_of(("outline", "cells", "rows", "svg", "balls"))
        if key == "balls":
            piece = self._ball_piece(table, piece)
        elif key:
            cells = self.regions.read(table, key, may_touch=False, lengths=False)
            form = flat_form(table, key, self.lattice, cells)
            piece = replace(piece, forms=(form,) if form else ())
        piece = self._chequered(table, piece)
        _compare_area(table, area(self.lattice, piece.forms[0]) if piece.forms else None)
        if table.has("bonds") and key not in ("balls", ""):
            table.fault("bonds", "belong to balls, and this piece has none")
        table.refuse_unknown()
        return piece

    def _ball_piece(self, table: Table, piece: Piece) -> Piece:
        if self.lattice is not LATTICES["square"]:
            table.fault("balls", 'lie on the square lattice; write lattice = "square" in [set]')
            return piece
        if self.chequer:
            table.fault("balls", "have one colour, and the set is chequered; leave out set.chequer")
        drawn = read_balls(table)
        return replace(piece, forms=drawn[1], body=drawn[0]) if drawn else piece

    def _chequered(self, table: Table, piece: Piece) -> Piece:
        """The piece with its cells of the second colour, if the set has one."""
        parity = table.choice("chequer", PARITIES, "odd")
        if table.has("chequer") and not self.chequer and not self.head.has("chequer"):
            table.fault("chequer", 'has no second colour; write chequer = "#5d3a1a" in [set]')
        if not self.chequer or not piece.forms or piece.body:
            return piece
        cells = toned_cells(self.lattice, piece.forms[0].cells, parity)
        return replace(piece, tones=cells, tone=self.chequer)

    def _board(self, table: Table, pieces: Sequence[Piece]) -> Board:
        board_id = table.identifier("id")
        key = table.one_of(("size", "rows", "cells", "outline", "svg"))
        board = Board(
            board_id,
            self.regions.read(table, key) if key else frozenset(),
            table.flag("optional", False),
        )
        table.refuse_unknown()
        if board.cells and not table.failed(key):
            drawn = [piece for piece in pieces if piece.forms]
            refuse_small_board(table, key, board, self.lattice, drawn, self.flips)
        return board


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
