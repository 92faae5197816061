"""Reading a set file: TOML in, a `PuzzleSet` out, or all its faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from fabkit.core.documents import (
    COLOUR,
    FLAG,
    IDENTIFIER,
    Check,
    Faults,
    Table,
    anything,
    choice,
    length_mm,
    number,
    one_of,
    read_identifier,
    text,
    whole,
)
from fabkit.core.errors import many, printable, shown
from fabkit.core.files import digest, sha256
from fabkit.core.parsing import read_toml
from fabkit.model.accessory import LID_ENDING
from fabkit.model.challengefile import (
    CELLS,
    OUTLINE,
    ChallengeReader,
    ChallengeTable,
)
from fabkit.model.drawing import LONGEST_SIDE, MAX_CELLS_OF_FILE, Regions, flat_form, read_balls
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import PARITIES, Piece, toned_cells
from fabkit.model.placement import lies_on
from fabkit.model.puzzle import Board, PuzzleSet, area
from fabkit.model.svg import SvgFolder

MOVES = ("rotations", "rotations and flips")
#: The smallest and the largest sane length of a grid unit.
UNIT_RANGE_MM = (4.0, 200.0)
#: Sixteen colours for pieces that name none: every eye tells them apart, also two of them alone. By
#: CIEDE2000 any two differ by 19 for usual eyes and by 12 for colour-blind ones (10 is about four
#: times what is just seen). Found by a search over colours whose channels are multiples of 17, for
#: the largest least difference in all four visions; the first ones differ most.
#: `tests/output/test_theme.py` measures them.
PALETTE = (
    "#0077ee", "#bbaa00", "#990000", "#55eeff", "#770055", "#ff88bb", "#ffddcc", "#006644",
    "#778888", "#bbee77", "#886699", "#cc1155", "#2233aa", "#55bb88", "#aa7722", "#bb99ff",
)  # fmt: skip

_MOST_PIECES = 1000
_LONGEST_LABEL = 3
_LONGEST_DEFAULT_LABEL = 2
_PIECE_KEYS = ("outline", "cells", "rows", "svg", "balls")
_BOARD_KEYS = ("size", "rows", "cells", "outline", "svg")


def _read_label(value: object) -> str:
    fits = isinstance(value, str) and 0 < len(value) <= _LONGEST_LABEL and value.isprintable()
    if not isinstance(value, str) or not fits or value != value.strip():
        raise ValueError(f"expected 1 to {_LONGEST_LABEL} letters, found {shown(value)}")
    return value


_LABEL = Check(
    _read_label,
    "a label",
    {"type": "string", "minLength": 1, "maxLength": _LONGEST_LABEL, "pattern": r"^\S(.*\S)?$"},
)
_AREA = number(0, MAX_CELLS_OF_FILE)
_TEXT_ROWS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": LONGEST_SIDE}
_LENGTH = {"type": "integer", "minimum": 1, "maximum": LONGEST_SIDE}
_NUMBER_ROWS = {"type": "array", "items": _LENGTH, "minItems": 1, "maxItems": LONGEST_SIDE}
_ROWS = anything("rows", **_TEXT_ROWS, description="rows of text; letters are cells")
_BOARD_ROWS = anything(
    "rows", anyOf=[_TEXT_ROWS, _NUMBER_ROWS], description="rows of text, or their lengths"
)
_SIZE = anything("[rows, columns]", type="array", items=_LENGTH, minItems=2, maxItems=2)
_SVG = Check(
    text().read,
    "an SVG file",
    {"type": "string", "description": "FILE.svg or FILE.svg#ID, drawn at 1:1"},
)


def _points(dimensions: int, description: str) -> Check:
    point: dict[str, Any] = {"type": "array", "items": {"type": "integer"}}
    point |= {"minItems": dimensions, "maxItems": dimensions}
    return anything("a list", type="array", items=point, description=description)


def _exactly_one(keys: Sequence[str]) -> dict[str, Any]:
    """What a JSON schema says of keys of which exactly one is there."""
    return {"oneOf": [{"required": [key]} for key in keys]}


class HeadTable(Table):
    """What holds for the whole set."""

    name: Annotated[str, IDENTIFIER] = Field(description="short name, safe as a file name")
    lattice: Annotated[str, choice(*LATTICES)] = Field(description="where the pieces lie")
    moves: Annotated[str, choice(*MOVES)] = Field(description="how pieces may be moved")
    title: Annotated[str, text()] = Field("", description="name for people")
    unit: Annotated[float | None, length_mm(*UNIT_RANGE_MM)] = Field(
        None, description="length of a grid unit"
    )
    area: Annotated[float | None, _AREA] = Field(
        None, description="area of all pieces in square units, to be compared with the drawings"
    )
    chequer: Annotated[str, COLOUR] = Field("", description="second colour of chequered pieces")
    source: Annotated[str, text(2000)] = Field("none", description="where the shapes come from")
    licence: Annotated[str, text()] = Field("not stated", description="terms of use")


class PieceTable(Table, json_schema_extra=_exactly_one(_PIECE_KEYS)):
    """A piece, drawn in one way, or several equal ones."""

    id: Annotated[str, IDENTIFIER]
    count: Annotated[int, whole(1, _MOST_PIECES)] = Field(
        1, description="so many equal pieces, whose ids end in 1, 2, 3, …"
    )
    label: Annotated[str, _LABEL] = Field("", description="what is engraved; the id if it is short")
    colour: Annotated[str, COLOUR] = ""
    outline: Annotated[Any, OUTLINE] = None
    cells: Annotated[Any, CELLS] = None
    rows: Annotated[Any, _ROWS] = None
    svg: Annotated[str, _SVG] = ""
    balls: Annotated[Any, _points(3, "places [x, y, z] of balls")] = None
    bonds: Annotated[Any, _points(2, "pairs of indices of joined balls")] = None
    chequer: Annotated[str, choice(*PARITIES)] = Field(
        "odd", description="cells of the second colour: row and column have such a sum"
    )
    area: Annotated[float | None, _AREA] = Field(None, description="see the set's area")


class BoardTable(Table, json_schema_extra=_exactly_one(_BOARD_KEYS)):
    """A region that is also an object."""

    id: Annotated[str, IDENTIFIER]
    size: Annotated[Any, _SIZE] = None
    rows: Annotated[Any, _BOARD_ROWS] = None
    cells: Annotated[Any, CELLS] = None
    outline: Annotated[Any, OUTLINE] = None
    svg: Annotated[str, _SVG] = ""
    optional: Annotated[bool, FLAG] = Field(False, description="made only when it is asked for")


class SetFile(Table):
    """A puzzle set: pieces on a lattice, boards to fill, challenges to solve."""

    set: HeadTable = Field(description="a table [set] with name, lattice and moves")
    piece: list[PieceTable] = Field(
        description="one table [[piece]] or more", max_length=_MOST_PIECES
    )
    board: list[BoardTable] = Field([], max_length=1000)
    challenge: list[ChallengeTable] = Field([], max_length=10_000)


def read_set(path: Path, source: str | None = None) -> PuzzleSet:
    """Reads a set file; SVG files that it names lie beside it.

    Args:
        path: the TOML file.
        source: the file's name in messages; the path itself when None.

    Raises:
        InputError: with every fault of the file.
    """
    name = source or printable(str(path))
    faults = Faults(name)
    document = read_toml(path, name)
    file = SetFile.read(document, faults)
    if not file.set or file.set.failed("lattice"):
        faults.finish()  # without a lattice nothing else can be judged
    misnamed = [
        data.get("id")
        for tables, kind in ((file.piece, "piece"), (file.board, "board"))
        if tables
        for table, data in zip(tables, document[kind], strict=True)
        if table.failed("id") and isinstance(data, dict)
    ]
    puzzle = _Reading(file, faults, path).read(misnamed)
    faults.finish()
    return puzzle


class _Reading:
    """A set file whose tables have been read, held against itself."""

    def __init__(self, file: SetFile, faults: Faults, path: Path) -> None:
        self.file, self.head, self.faults = file, file.set, faults
        self.path = path
        self.lattice = LATTICES[file.set.lattice]
        self.flips = file.set.moves == MOVES[1]
        self.drawings = SvgFolder(path.parent)
        drawings = None if file.set.failed("unit") else self.drawings  # one mistake, one fault
        self.regions = Regions(self.lattice, faults, drawings, file.set.unit)

    def read(self, misnamed: Sequence[object]) -> PuzzleSet:
        """The set; ``misnamed`` are ids of its pieces and boards that are noted as faults."""
        file, head = self.file, self.head
        if head.chequer and self.lattice is not LATTICES["square"]:
            lattice = f"the lattice is {self.lattice.name}"
            self.faults.add("set.chequer", f"squares are chequered, and {lattice}; leave it out")
        if not file.piece and not file.failed("piece"):
            self.faults.add("piece", "there are no pieces; add one with [[piece]]")
        rows = [self._pieces(table, i) for i, table in enumerate(file.piece or [])]
        pieces = [piece for row in rows for piece in row]
        if len(pieces) > _MOST_PIECES:
            most = f"at most {_MOST_PIECES} are allowed"
            self.faults.add("piece", f"makes {len(pieces)} pieces with their counts; {most}")
        boards = [self._board(t, f"board[{i}]", pieces) for i, t in enumerate(file.board)]
        of_file, of_drawings = sha256(self.path), self.drawings.digests
        puzzle = PuzzleSet(
            name=head.name or "",
            title=head.title or head.name or "",
            lattice=self.lattice,
            flips=self.flips,
            unit_mm=head.unit,
            pieces=tuple(pieces),
            boards=tuple(boards),
            challenges=(),
            source=self.faults.source,
            digest=digest(of_file, *of_drawings) if of_drawings else of_file,
            credit=head.source,
            licence=head.licence,
        )
        reader = ChallengeReader(puzzle, self.regions, misnamed)
        challenges = [
            reader.challenge(table, f"challenge[{i}]") for i, table in enumerate(file.challenge)
        ]
        named = [
            (piece.id, f"piece[{i}]", f", by its count = {len(row)}" if len(row) > 1 else "")
            for i, row in enumerate(rows)
            for piece in row
        ]
        named += [(board.id, f"board[{i}]", "") for i, board in enumerate(boards)]
        lids = {board.id + LID_ENDING: i for i, board in enumerate(boards) if board.id}
        named += [(lid, f"board[{i}]", ", as its lid is called") for lid, i in lids.items()]
        self._refuse_same_ids(named)
        self._refuse_same_ids([(one.id, f"challenge[{i}]", "") for i, one in enumerate(challenges)])
        if not self.faults.count:
            self._compare_area("set", head.area, puzzle.area)
        return replace(puzzle, challenges=tuple(challenges))

    def _pieces(self, table: PieceTable, index: int) -> list[Piece]:
        """The pieces of a table; without forms after a fault, so that challenges note no others."""
        faults, piece_id, place = self.faults, table.id or "", f"piece[{index}]"
        short = piece_id if len(piece_id) <= _LONGEST_DEFAULT_LABEL else piece_id[:1].upper()
        colour = table.colour or PALETTE[index % len(PALETTE)]
        piece = Piece(piece_id, table.label or short, colour, ())
        key = one_of(faults, place, table, _PIECE_KEYS, required=True)
        if key == "balls":
            piece = self._ball_piece(table, piece, place)
        elif key:
            where = f"{place}.{key}"
            cells = self.regions.read(key, getattr(table, key), where, piece=True)
            form = flat_form(self.lattice, cells, where, faults)
            piece = replace(piece, forms=(form,) if form else ())
        piece = self._chequered(table, piece, place)
        if piece.forms:
            self._compare_area(place, table.area, area(self.lattice, piece.forms[0]))
        if table.bonds is not None and key not in ("balls", ""):
            faults.add(f"{place}.bonds", "belong to balls, and this piece has none")
        if table.failed("id", "count") or table.count == 1:
            return [piece]
        ids = [f"{piece_id}{number + 1}" for number in range(table.count)]
        for one in ids:
            try:
                read_identifier(one)
            except ValueError as fault:
                faults.add(f"{place}.count", f"makes the id {shown(one)}: {fault}")
                break
        return [replace(piece, id=one) for one in ids]

    def _ball_piece(self, table: PieceTable, piece: Piece, place: str) -> Piece:
        key = f"{place}.balls"
        if self.lattice is not LATTICES["square"]:
            message = 'lie on the square lattice; write lattice = "square" in [set]'
            self.faults.add(key, message)
            return piece
        if self.head.chequer:
            message = "have one colour, and the set is chequered; leave out set.chequer"
            self.faults.add(key, message)
        drawn = read_balls(table.balls, table.bonds, place, self.faults)
        return replace(piece, forms=drawn[1], body=drawn[0]) if drawn else piece

    def _chequered(self, table: PieceTable, piece: Piece, place: str) -> Piece:
        """The piece with its cells of the second colour, if the set has one."""
        colour = self.head.chequer
        if "chequer" in table.model_fields_set and not colour and not self.head.failed("chequer"):
            message = 'has no second colour; write chequer = "#5d3a1a" in [set]'
            self.faults.add(f"{place}.chequer", message)
        if not colour or not piece.forms or piece.body or self.lattice is not LATTICES["square"]:
            return piece
        tones = toned_cells(self.lattice, piece.forms[0].cells, table.chequer)
        return replace(piece, tones=tones, tone=colour)

    def _board(self, table: BoardTable, place: str, pieces: Sequence[Piece]) -> Board:
        key = one_of(self.faults, place, table, _BOARD_KEYS, required=True)
        where = f"{place}.{key}"
        cells = self.regions.read(key, getattr(table, key), where) if key else frozenset()
        board = Board(table.id or "", cells, table.optional)
        if cells:
            self._refuse_small_board(where, board, [piece for piece in pieces if piece.forms])
        return board

    def _refuse_small_board(self, key: str, board: Board, pieces: Sequence[Piece]) -> None:
        """Notes a board on which some piece cannot lie."""
        lattice, flips = self.lattice, self.flips
        large = [piece for piece in pieces if not lies_on(lattice, piece, board.cells, flips)]
        if not large:
            return
        piece = max(large, key=lambda one: len(one.forms[0].cells))
        size = f"{_extent(lattice, piece.forms[0].cells)}, area {area(lattice, piece.forms[0]):g}"
        others = f", nor do {many(len(large) - 1, 'other')}" if len(large) > 1 else ""
        units = len(board.cells) / lattice.cells_per_unit
        whole = f"{_extent(lattice, board.cells)}, area {units:g}"
        advice = "draw the board larger"
        if not flips and lies_on(lattice, piece, board.cells, flips=True):
            advice = (
                f'turned over it would; {advice}, or write moves = "rotations and flips" in [set]'
            )
        message = f"piece {shown(piece.id)} ({size}) does not lie on this board ({whole})"
        self.faults.add(key, f"{message} in any position{others}; {advice}")

    def _compare_area(self, place: str, declared: float | None, found: float) -> None:
        """Holds the declared ``area`` against the drawn one."""
        if declared is not None and declared != found:
            message = f"is {declared:g}, but the drawing's area is {found:g}"
            self.faults.add(f"{place}.area", message)

    def _refuse_same_ids(self, named: Sequence[tuple[str, str, str]]) -> None:
        """Notes every id that stands twice, as do names of files: id, table, how it comes to it."""
        first: dict[str, tuple[str, str]] = {}
        for one, place, how in named:
            other, by = first.setdefault(one.lower(), (place, how))
            if one and other != place:
                made = f"{shown(one)}{how and how + ','} is also the id of {other}{by}"
                message = (
                    f"{made}; choose another, since ids name files, in upper and lower case alike"
                )
                self.faults.add(f"{place}.id", message)


def _extent(lattice: Lattice, cells: Iterable[Cell]) -> str:
    """Rows x columns that some cells take up."""
    sides = zip(*map(lattice.row_col, cells), strict=True)
    return " x ".join(str(max(side) - min(side) + 1) for side in sides)
