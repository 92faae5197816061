"""Read a set file: TOML in, a `PuzzleSet` out, or all its errors at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from fabkit.core.documents import (
    COLOUR,
    IDENTIFIER,
    Shape,
    Table,
    Text,
    Validator,
    choice,
    exactly_one,
    length_mm,
    read_document,
    read_identifier,
)
from fabkit.core.errors import ErrorList, InputError, escape, pluralize, quote
from fabkit.core.files import digest, sha256
from fabkit.core.parsing import read_toml
from fabkit.model.accessory import LID_SUFFIX
from fabkit.model.challenge_file import (
    Cells,
    ChallengeReader,
    ChallengeTable,
    Outline,
    Pair,
)
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import PARITIES, Piece, chequered_cells, fits_in
from fabkit.model.profile_file import (
    BY_KEY,
    RENAMED,
    load_profile,
    profile_table,
    table_values,
)
from fabkit.model.puzzle import MOVES, Board, PuzzleSet, Result, area
from fabkit.model.regions import (
    LONGEST_SIDE,
    MAX_CELLS_OF_FILE,
    RegionReader,
    flat_form,
    read_balls,
)
from fabkit.model.svg import SvgFolder

if TYPE_CHECKING:
    ProfileTable = Table
else:
    ProfileTable = profile_table()

#: Limits for the length of a grid unit.
UNIT_RANGE_MM = (4.0, 200.0)
#: Sixteen default colours, pairwise distinguishable with any colour vision. The CIEDE2000 difference
#: of any two is at least 19 for normal and 12 for colour-blind vision (10 is about four times the
#: just noticeable one). Found by a search over colours whose channels are multiples of 17, maximizing
#: the least difference over all four kinds of vision; the first ones differ most.
#: `tests/output/test_theme.py` measures them.
PALETTE = (
    "#0077ee", "#bbaa00", "#990000", "#55eeff", "#770055", "#ff88bb", "#ffddcc", "#006644",
    "#778888", "#bbee77", "#886699", "#cc1155", "#2233aa", "#55bb88", "#aa7722", "#bb99ff",
)  # fmt: skip

_MOST_PIECES = 1000
_LONGEST_LABEL = 3
_LONGEST_DEFAULT_LABEL = 2
_PIECE_KEYS = ("outline", "cells", "rows", "svg", "balls")
#: The table of a set's own defaults of the profile.
_PROFILE = "profile"
_BOARD_KEYS = ("size", "rows", "cells", "outline", "svg")


def _read_label(value: object) -> str:
    fits = isinstance(value, str) and 0 < len(value) <= _LONGEST_LABEL and value.isprintable()
    if not isinstance(value, str) or not fits or value != value.strip():
        raise ValueError(f"expected 1 to {_LONGEST_LABEL} letters, found {quote(value)}")
    return value


_LABEL = Validator(
    _read_label,
    "a label",
    {"type": "string", "minLength": 1, "maxLength": _LONGEST_LABEL, "pattern": r"^\S(.*\S)?$"},
)
_Length = Annotated[int, Field(ge=1, le=LONGEST_SIDE)]
_Rectangle = Annotated[list[_Length], Field(min_length=2, max_length=2)]
_TextRows = Annotated[list[str], Field(min_length=1, max_length=LONGEST_SIDE)]
_NumberRows = Annotated[list[_Length], Field(min_length=1, max_length=LONGEST_SIDE)]
_Centre = Annotated[list[int], Field(min_length=3, max_length=3)]


def _exactly_one(keys: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema for a group of keys, exactly one of which is required."""
    return {"oneOf": [{"required": [key]} for key in keys]}


class HeadTable(Table):
    """Settings of the whole set."""

    name: Annotated[str, IDENTIFIER] = Field(description="short name; names the output folder")
    lattice: Annotated[str, choice(*LATTICES)] = Field(
        description="the grid: squares, squares with their diagonals, or hexagons"
    )
    moves: Annotated[str, choice(*MOVES)] = Field(description="whether pieces may be turned over")
    title: Text = Field("", max_length=200, description="display name")
    unit: Annotated[float | None, length_mm(*UNIT_RANGE_MM)] = Field(
        None,
        description='length of a grid unit, such as "25 mm"; a profile with `unit` takes precedence',
    )
    area: StrictFloat | None = Field(
        None,
        ge=0,
        le=MAX_CELLS_OF_FILE,
        description="area of all pieces in square units, to be compared with the drawings",
    )
    chequer: Annotated[str, COLOUR] = Field("", description="a second colour on every other square")
    source: Text = Field("none", max_length=2000, description="where the shapes come from")
    licence: Text = Field("not stated", max_length=200, description="terms of use")


class PieceTable(Table, json_schema_extra=_exactly_one(_PIECE_KEYS)):
    """A piece, drawn in one way, or several equal pieces."""

    id: Annotated[str, IDENTIFIER] = Field(description="names the files")
    count: StrictInt = Field(
        1,
        ge=1,
        le=_MOST_PIECES,
        description="number of equal pieces, whose ids end in 1, 2, 3, … (-1, -2, -3, … after a digit)",
    )
    label: Annotated[str, _LABEL] = Field(
        "", description="one to three characters to engrave; by default the id, or its first letter"
    )
    colour: Annotated[str, COLOUR] = Field("", description='such as "#56b4e9"; else of a palette')
    outline: Outline = None
    cells: Cells = None
    rows: Annotated[Any, Shape("rows", _TextRows)] = Field(
        None, description="rows of text: a letter is a cell, a dot or blank is none"
    )
    svg: Text = Field("", max_length=200, description="FILE.svg or FILE.svg#ID, drawn at 1:1")
    balls: Annotated[Any, Shape("a list", list[_Centre])] = Field(
        None, description="centres [x, y, z] of balls"
    )
    bonds: Annotated[Any, Shape("a list", list[Pair])] = Field(
        None, description="pairs of indices of joined balls; all neighbours by default"
    )
    chequer: Annotated[str, choice(*PARITIES)] = Field(
        "odd", description="squares of the second colour: row plus column"
    )
    area: StrictFloat | None = Field(
        None,
        ge=0,
        le=MAX_CELLS_OF_FILE,
        description="area in square units, to be compared with the drawing",
    )


class BoardTable(Table, json_schema_extra=_exactly_one(_BOARD_KEYS)):
    """A region that can be printed as an object."""

    id: Annotated[str, IDENTIFIER] = Field(description="names the files")
    size: Annotated[Any, Shape("[rows, columns]", _Rectangle)] = Field(
        None, description="a rectangle"
    )
    rows: Annotated[Any, Shape("rows", _TextRows | _NumberRows)] = Field(
        None, description="rows of text, or the lengths of the rows"
    )
    cells: Cells = None
    outline: Outline = None
    svg: Text = Field("", max_length=200, description="FILE.svg or FILE.svg#ID, drawn at 1:1")
    optional: StrictBool = Field(
        False, description="printed only on request; never the default for challenges"
    )


class SetFile(Table):
    """A puzzle set: pieces on a lattice, boards to fill, challenges to solve."""

    set: HeadTable = Field(description="a table [set] with name, lattice and moves")
    piece: list[PieceTable] = Field(
        description="one table [[piece]] or more", max_length=_MOST_PIECES
    )
    board: list[BoardTable] = Field([], max_length=1000)
    challenge: list[ChallengeTable] = Field([], max_length=10_000)
    profile: ProfileTable | None = Field(
        None,
        description="how the set is made by default: any keys of a profile file, which `-p` and `-s` override",
    )


def read_set(path: Path, source: str | None = None) -> PuzzleSet:
    """Read a set file; the SVG files it names are beside it.

    Args:
        source: the file's name in messages; the path itself when None.

    Raises:
        InputError: with every error in the file.
    """
    name = source or escape(str(path))
    errors = ErrorList(name)
    document = read_toml(path, name)
    keys = [f"{_PROFILE}.{key}" for key in BY_KEY]
    renamed = {f"{_PROFILE}.{old}": new for old, new in RENAMED.items()}
    file = read_document(SetFile, document, errors, keys, renamed)
    if file:
        puzzle = _SetReader(file, errors, path).read(document)
    errors.raise_if_any()
    return puzzle


class _SetReader:
    """Checks and converts a set file's sound tables."""

    def __init__(self, file: SetFile, errors: ErrorList, path: Path) -> None:
        self.file = file
        self.head = file.set
        self.errors = errors
        self.path = path
        self.lattice = LATTICES[file.set.lattice]
        self.flips = file.set.moves == MOVES[1]
        self.values = self._profile_values()
        self.drawings = SvgFolder(path.parent)
        self.regions = RegionReader(self.lattice, errors, self.drawings, self.values.get("unit_mm"))

    def read(self, document: Mapping[str, Any]) -> PuzzleSet:
        """Return the set; usable only if there are no errors.

        Args:
            document: the file with all its tables.
        """
        file = self.file
        head = file.set
        if head.chequer and self.lattice is not LATTICES["square"]:
            lattice = f"the lattice is {self.lattice.name}"
            self.errors.add(
                "set.chequer", f"only squares can be chequered, and {lattice}; leave it out"
            )
        if not document["piece"]:
            self.errors.add("piece", "there are no pieces; add one with [[piece]]")
        rows = [self._pieces(table, index) for index, table in enumerate(file.piece)]
        pieces = [piece for row in rows for piece in row]
        if len(pieces) > _MOST_PIECES:
            limit = f"at most {_MOST_PIECES} are allowed"
            self.errors.add("piece", f"defines {len(pieces)} pieces, counting copies; {limit}")
        boards = [self._board(table, pieces) for table in file.board]
        digests = [sha256(self.path), *self.drawings.digests]
        puzzle = PuzzleSet(
            name=head.name,
            title=head.title or head.name,
            lattice=self.lattice,
            flips=self.flips,
            profile_values=self.values,
            pieces=tuple(pieces),
            boards=tuple(boards),
            challenges=(),
            source=self.errors.source,
            digest=digest(*digests) if len(digests) > 1 else digests[0],
            credit=head.source,
            licence=head.licence,
        )
        are_all_sound = all(
            len(sound) == len(document.get(key, ()))
            for key, sound in (("piece", file.piece), ("board", file.board))
        )
        tables = file.challenge if are_all_sound else []  # challenges name pieces and boards
        reader = ChallengeReader(puzzle, self.regions)
        entries = [reader.read(table) for table in tables]
        named = [
            (piece.id, table.place, f", from its count = {len(row)}" if len(row) > 1 else "")
            for table, row in zip(file.piece, rows, strict=True)
            for piece in row
        ]
        named += [(table.id, table.place, "") for table in file.board]
        lids = {table.id + LID_SUFFIX: table.place for table in file.board}
        named += [(lid, place, ", the id of its lid") for lid, place in lids.items()]
        self._refuse_duplicate_ids(named)
        self._refuse_duplicate_ids([(table.id, table.place, "") for table in tables])
        if not self.errors.count:
            self._compare_area("set", head.area, puzzle.area)
        return replace(
            puzzle,
            challenges=tuple(entry.challenge for entry in entries),
            entries=tuple(entry for entry in entries if entry.result != Result()),
        )

    def _profile_values(self) -> dict[str, Any]:
        """Return the set's own defaults of the profile: its unit, and its table."""
        unit = {} if self.head.unit is None else {"unit_mm": self.head.unit}
        if self.file.profile is None:
            return unit
        values: dict[str, Any] = {"title": f"as {self.head.name} is made by default"}
        values |= unit | table_values(self.file.profile)
        if unit and values["unit_mm"] != self.head.unit:
            message = "differs from set.unit; write only one of them"
            self.errors.add(f"{_PROFILE}.unit", message)
        try:
            load_profile(set_values=values)
        except InputError as error:
            for detail in error.errors:
                self.errors.add(f"{_PROFILE}.{detail.key}", detail.message)
        return values

    def _pieces(self, table: PieceTable, index: int) -> list[Piece]:
        """Return the pieces of a table; without forms after an error, to avoid consequential errors."""
        errors = self.errors
        is_short = len(table.id) <= _LONGEST_DEFAULT_LABEL
        label = table.label or (table.id if is_short else table.id[:1].upper())
        piece = Piece(table.id, label, table.colour or PALETTE[index % len(PALETTE)], ())
        key = exactly_one(errors, table, _PIECE_KEYS, required=True)
        if key == "balls":
            piece = self._ball_piece(table, piece)
        elif key:
            where = table.key(key)
            cells = self.regions.read(key, getattr(table, key), where, piece=True)
            form = flat_form(self.lattice, cells, where, errors)
            piece = replace(piece, forms=(form,) if form else ())
        piece = self._chequered(table, piece)
        if piece.forms:
            self._compare_area(table.place, table.area, area(self.lattice, piece.forms[0]))
        if table.bonds is not None and key not in ("balls", ""):
            errors.add(table.key("bonds"), "join balls, and this piece has none")
        if table.count == 1:
            return [piece]
        stem = f"{table.id}-" if table.id[-1].isdigit() else table.id
        ids = [f"{stem}{number + 1}" for number in range(table.count)]
        for copy_id in ids:
            try:
                read_identifier(copy_id)
            except ValueError as error:
                errors.add(table.key("count"), f"makes the id {quote(copy_id)}: {error}")
                break
        return [replace(piece, id=copy_id) for copy_id in ids]

    def _ball_piece(self, table: PieceTable, piece: Piece) -> Piece:
        key = table.key("balls")
        if self.lattice is not LATTICES["square"]:
            message = 'lie on the square lattice; write lattice = "square" in [set]'
            self.errors.add(key, message)
            return piece
        if self.head.chequer:
            message = "have one colour, but the set is chequered; omit set.chequer"
            self.errors.add(key, message)
        name = f"piece {quote(table.id)}"
        read = read_balls(table.balls, table.bonds, table.place, self.errors, name)
        return replace(piece, forms=read[1], body=read[0]) if read else piece

    def _chequered(self, table: PieceTable, piece: Piece) -> Piece:
        """Add the cells of the second colour, if the set has one."""
        colour = self.head.chequer
        if "chequer" in table.model_fields_set and not colour:
            message = 'needs a second colour; write chequer = "#5d3a1a" in [set]'
            self.errors.add(table.key("chequer"), message)
        if not colour or not piece.forms or piece.body or self.lattice is not LATTICES["square"]:
            return piece
        tones = chequered_cells(self.lattice, piece.forms[0].cells, table.chequer)
        return replace(piece, tones=tones, tone=colour)

    def _board(self, table: BoardTable, pieces: Sequence[Piece]) -> Board:
        key = exactly_one(self.errors, table, _BOARD_KEYS, required=True)
        where = table.key(key)
        cells = self.regions.read(key, getattr(table, key), where) if key else frozenset()
        board = Board(table.id, cells, table.optional)
        if cells:
            self._refuse_small_board(where, board, [piece for piece in pieces if piece.forms])
        return board

    def _refuse_small_board(self, key: str, board: Board, pieces: Sequence[Piece]) -> None:
        """Record an error for a board on which some piece does not fit."""
        lattice = self.lattice
        large = [piece for piece in pieces if not fits_in(lattice, piece, board.cells, self.flips)]
        if not large:
            return
        piece = max(large, key=lambda piece: len(piece.forms[0].cells))
        size = f"{_extent(lattice, piece.forms[0].cells)}, area {area(lattice, piece.forms[0]):g}"
        others = f" (nor do {pluralize(len(large) - 1, 'other')})" if len(large) > 1 else ""
        units = len(board.cells) / lattice.cells_per_unit
        extent = f"{_extent(lattice, board.cells)}, area {units:g}"
        advice = "enlarge the board"
        if not self.flips and fits_in(lattice, piece, board.cells, flips=True):
            advice = f'it would fit turned over; {advice}, or write moves = "rotations and flips" in [set]'
        message = f"piece {quote(piece.id)} ({size}) does not fit on this board ({extent})"
        self.errors.add(key, f"{message} in any position{others}; {advice}")

    def _compare_area(self, place: str, declared: float | None, drawn: float) -> None:
        if declared is not None and declared != drawn:
            message = f"is {declared:g}, but the drawing's area is {drawn:g}"
            self.errors.add(f"{place}.area", message)

    def _refuse_duplicate_ids(self, named: Sequence[tuple[str, str, str]]) -> None:
        """Record every duplicate id, ignoring case; items are (id, table, origin of the id)."""
        first: dict[str, tuple[str, str]] = {}
        for part_id, place, origin in named:
            first_place, first_origin = first.setdefault(part_id.lower(), (place, origin))
            if first_place != place:
                made = f"{quote(part_id)}{origin and origin + ','}"
                message = f"{made} is also the id of {first_place}{first_origin}"
                advice = "choose another: ids become file names, and case is ignored"
                self.errors.add(f"{place}.id", f"{message}; {advice}")


def _extent(lattice: Lattice, cells: Iterable[Cell]) -> str:
    """Return rows x columns spanned by the cells."""
    sides = zip(*map(lattice.row_col, cells), strict=True)
    return " x ".join(str(max(side) - min(side) + 1) for side in sides)
