"""Read a set file: TOML in, a `PuzzleSet` out, or all its errors at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
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
    read_word,
)
from fabkit.core.errors import (
    ErrorList,
    InputError,
    escape,
    join_names,
    no_such,
    pluralize,
    quote,
)
from fabkit.core.files import digest
from fabkit.core.parsing import parse_toml, read_text
from fabkit.model.accessory import BLOCKER, blockers, place_unlike_blocker
from fabkit.model.challenge_file import (
    Cells,
    ChallengeReader,
    ChallengeTable,
    ClueTable,
    Outline,
    Pair,
    TextRows,
    unlike_blocker,
)
from fabkit.model.lattice import LATTICES, RENAMED_LATTICES, Cell, Lattice
from fabkit.model.piece import (
    DARK,
    HOLE,
    LOOKS,
    PARITIES,
    PLAIN,
    Piece,
    chequered_cells,
    fits_in,
    moves_onto,
)
from fabkit.model.profile_file import (
    BY_KEY,
    RENAMED,
    load_profile,
    profile_table,
    table_values,
)
from fabkit.model.puzzle import (
    LID_SUFFIX,
    MOVES,
    Board,
    Clue,
    Family,
    Label,
    PuzzleSet,
    Result,
    area,
    default_board,
)
from fabkit.model.regions import (
    LONGEST_SIDE,
    MAX_CELLS_OF_FILE,
    CellNumbering,
    RegionReader,
    cells_named,
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

MOST_PIECES = 1000
_LONGEST_LABEL = 3
_LONGEST_DEFAULT_LABEL = 2
_PIECE_KEYS = ("outline", "cells", "rows", "svg", "balls")
#: The table of a set's own defaults of the profile.
_PROFILE = "profile"
_CUT_KEYS = ("rows", "cells")
_BOARD_KEYS = ("size", "rows", "cells", "outline", "svg")
#: What the second colour of a chequered set is for.
CHEQUER_ROLES = ("decoration", "rule")
#: The letter of a cell without a mark, where a set has marks.
PLAIN_LETTER = "X"
_LONGEST_TEXT = 5
#: Limit on the members of a family.
_MOST_MEMBERS = 1_000_000


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
_NumberRows = Annotated[list[_Length], Field(min_length=1, max_length=LONGEST_SIDE)]
_Places = Annotated[
    list[Annotated[list[int], Field(min_length=2, max_length=3)]], Field(min_length=1)
]
_Centre = Annotated[list[int], Field(min_length=3, max_length=3)]


def _exactly_one(keys: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema for a group of keys, exactly one of which is required."""
    return {"oneOf": [{"required": [key]} for key in keys]}


class HeadTable(Table):
    """Settings of the whole set."""

    name: Annotated[str, IDENTIFIER] = Field(description="short name; names the output folder")
    lattice: Annotated[str, choice(*LATTICES, renamed=RENAMED_LATTICES)] = Field(
        description="the grid: squares, squares with their diagonals, hexagons, triangles, or hexagons \
cut into 6 kites or 12 drafters"
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
    chequer_role: Annotated[str, choice(*CHEQUER_ROLES)] = Field(
        CHEQUER_ROLES[0],
        description="whether the colours must alternate over the whole region, too",
    )
    marks: Annotated[Any, Shape("a table", dict[str, str])] = Field(
        {},
        description="letters in rows of pieces that are marks, and their looks: hole, cross, dot or "
        "a colour; other cells are X",
    )
    group: Text = Field("", max_length=40, description="heading in the list of shipped sets")
    source: Text = Field("none", max_length=2000, description="where the shapes come from")
    licence: Text = Field("not stated", max_length=200, description="terms of use")


class PieceTable(Table, json_schema_extra=_exactly_one(_PIECE_KEYS)):
    """A piece, drawn in one way, or several equal pieces."""

    id: Annotated[str, IDENTIFIER] = Field(description="names the files")
    count: StrictInt = Field(
        1,
        ge=1,
        le=MOST_PIECES,
        description="number of equal pieces, whose ids end in 1, 2, 3, … (-1, -2, -3, … after a digit)",
    )
    label: Annotated[str, _LABEL] = Field(
        "", description="one to three characters to engrave; by default the id, or its first letter"
    )
    colour: Annotated[str, COLOUR] = Field("", description='such as "#56b4e9"; else of a palette')
    outline: Outline = None
    cells: Cells = None
    rows: Annotated[Any, Shape("rows", TextRows)] = Field(
        None, description="rows of text: a letter is a cell, a dot or blank is none"
    )
    back: Annotated[Any, Shape("rows", TextRows)] = Field(
        None, description="rows with the marks as seen from behind; by default those of the front"
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
    rows: Annotated[Any, Shape("rows", TextRows | _NumberRows)] = Field(
        None, description="rows of text, or the lengths of the rows"
    )
    cells: Cells = None
    outline: Outline = None
    svg: Text = Field("", max_length=200, description="FILE.svg or FILE.svg#ID, drawn at 1:1")
    optional: StrictBool = Field(
        False, description="printed only on request; never the default for challenges"
    )
    labels: Annotated[Any, Shape("rows of words", TextRows)] = Field(
        None,
        description="texts on the cells: a string for each row, with a word for each of its cells; a "
        "dot is no text",
    )
    open: StrictInt = Field(
        0, ge=0, le=MAX_CELLS_OF_FILE, description="number of cells that all pieces leave open"
    )
    clue: list[ClueTable] = Field([], description="what must cover some cells in every challenge")
    chequer: Annotated[str, choice(*PARITIES)] = Field(
        "odd", description="where the second colour must be, if it is a rule: row plus column"
    )


class FamilyTable(Table):
    """Challenges on one board that differ in one cell of each group, such as dates."""

    id: Annotated[str, IDENTIFIER] = Field(description="name for commands")
    title: Text = Field("", max_length=100, description="name for people")
    board: Annotated[Any, Shape("a board", str)] = Field(
        None, description="id of the board; the set's first by default"
    )
    groups: Annotated[
        Any,
        Shape("a list of groups", list[str | list[Pair | int | str]]),
    ] = Field(
        description="groups of cells, one of which is chosen: labels in a string, or a list of cells; "
        "names of members consist of them, so they have letters, digits and _ only"
    )
    blocked: StrictBool = Field(
        False, description="whether blockers are put on the chosen cells, which stay open otherwise"
    )
    prefix: Annotated[str, IDENTIFIER] = Field(
        "", description="what the names of members begin with; by default nothing"
    )
    without: list[Text] = Field(
        [], description="choices that do not go together, joined by dashes, such as feb-30"
    )
    pieces: Annotated[Any, Shape("piece ids", str | list[str])] = Field(
        None, description="ids of the pieces to use; all by default"
    )


class CutTable(Table, json_schema_extra=_exactly_one(_CUT_KEYS)):
    """A picture of a board that is cut into the pieces: the board and the pieces in one drawing."""

    rows: Annotated[Any, Shape("rows", TextRows)] = Field(
        None, description="rows of text: equal letters are a piece, a dot or blank is no cell"
    )
    cells: Annotated[Any, Shape("a table", Annotated[dict[str, _Places], Field(min_length=1)])] = (
        Field(
            None,
            description="the cells of each piece, as [row, column] from the top left, such as \
{ A = [[0, 0], [0, 1]] }",
        )
    )
    colours: dict[str, Annotated[str, COLOUR]] = Field(
        {}, description='colours of pieces, such as { A = "#56b4e9" }; others are of a palette'
    )
    board: Annotated[str, IDENTIFIER] = Field("board", description="id of the board")


class SetFile(Table):
    """A puzzle set: pieces on a lattice, boards to fill, challenges to solve."""

    set: HeadTable = Field(description="a table [set] with name, lattice and moves")
    cut: CutTable = Field(None, description="pieces and board in one drawing")  # type: ignore[assignment]
    piece: list[PieceTable] = Field(
        [],
        description="one table [[piece]] or more, unless [cut] has them",
        max_length=MOST_PIECES,
    )
    board: list[BoardTable] = Field([], max_length=1000)
    family: list[FamilyTable] = Field([], max_length=100)
    challenge: list[ChallengeTable] = Field([], max_length=10_000)
    profile: ProfileTable | None = Field(
        None,
        description="how the set is made by default: any keys of a profile file, which `-p` and `-s` override",
    )


def read_set(
    path: Path,
    source: str | None = None,
    text: str | None = None,
    document: Mapping[str, Any] | None = None,
) -> PuzzleSet:
    """Read a set file; the SVG files it names are beside it.

    Args:
        source: the file's name in messages; the path itself when None.
        text: read in place of the file's content; the file need not exist then.
        document: what the text parses to, if it is parsed already.

    Raises:
        InputError: with every error in the file.
    """
    name = source or escape(str(path))
    errors = ErrorList(name)
    if text is None:
        text = read_text(path, name, "a TOML file")
    if document is None:
        document = parse_toml(text, name)
    keys = [f"{_PROFILE}.{key}" for key in BY_KEY]
    renamed = {f"{_PROFILE}.{old}": new for old, new in RENAMED.items()}
    file = read_document(SetFile, document, errors, keys, renamed)
    if file:
        puzzle = _SetReader(file, errors, path.parent).read(document, text)
    errors.raise_if_any()
    return puzzle


class _SetReader:
    """Checks and converts a set file's sound tables."""

    def __init__(self, file: SetFile, errors: ErrorList, folder: Path) -> None:
        self.file = file
        self.head = file.set
        self.errors = errors
        self.lattice = LATTICES[file.set.lattice]
        self.flips = file.set.moves == MOVES[1]
        self.values = self._profile_values()
        self.drawings = SvgFolder(folder)
        self.regions = RegionReader(self.lattice, errors, self.drawings, self.values.get("unit_mm"))

    def read(self, document: Mapping[str, Any], text: str) -> PuzzleSet:
        """Return the set; usable only if there are no errors.

        Args:
            document: the file with all its tables.
            text: its TOML.
        """
        file = self.file
        head = file.set
        self._check_head()
        if not document.get("piece") and "cut" not in document:
            message = "there are no pieces; add one with [[piece]], or draw all of them in [cut]"
            self.errors.add("piece", message)
        rows = [self._pieces(table, index) for index, table in enumerate(file.piece)]
        cut_pieces, cut_boards = self._cut(len(rows)) if file.cut is not None else ([], [])
        pieces = [piece for row in rows for piece in row] + cut_pieces
        if len(pieces) > MOST_PIECES:
            limit = f"at most {MOST_PIECES} are allowed"
            self.errors.add("piece", f"defines {len(pieces)} pieces, counting copies; {limit}")
        boards = cut_boards + [self._board(table) for table in file.board]
        digests = [hashlib.sha256(text.encode()).hexdigest(), *self.drawings.digests]
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
            marks=self.marks,
            group=head.group,
            credit=head.source,
            licence=head.licence,
            notes=self._notes(document["set"]["lattice"]),
        )
        # Clues, challenges and families name marks, pieces and boards.
        are_all_sound = isinstance(head.marks, dict) and bool(cut_boards) == (file.cut is not None)
        are_all_sound &= len(file.piece) == len(document.get("piece", ()))
        are_all_sound &= len(file.board) == len(document.get("board", ()))
        if are_all_sound:
            puzzle = self._with_board_clues(puzzle)
        tables = file.challenge if are_all_sound else []
        reader = ChallengeReader(puzzle, self.regions)
        entries = [reader.read(table) for table in tables]
        families = [self._family(table, reader, puzzle) for table in file.family if are_all_sound]
        puzzle = replace(
            puzzle,
            families=tuple(family for family in families if family is not None),
            challenges=tuple(entry.challenge for entry in entries),
            entries=tuple(entry for entry in entries if entry.result != Result()),
        )
        self._refuse_small_boards(puzzle)
        if not self.errors.count:
            self._refuse_unlike_blockers(puzzle)
        named = [
            (piece.id, table.place, f", from its count = {len(row)}" if len(row) > 1 else "")
            for table, row in zip(file.piece, rows, strict=True)
            for piece in row
        ]
        named += [(piece.id, self._cut_place(piece.id), "") for piece in cut_pieces]
        board_places = [(board.id, "cut.board") for board in cut_boards]
        board_places += [(table.id, table.place) for table in file.board]
        named += [(board_id, place, "") for board_id, place in board_places]
        # Boards of the same id are reported once, without their lids.
        lids = {name.lower(): (name, place) for name, place in reversed(board_places)}
        lid = ", the id of its lid"
        named += [(name + LID_SUFFIX, place, lid) for name, place in lids.values()]
        blocked = [table.place for table in file.family if table.blocked]
        blocked += [table.place for table in tables if table.blocked]
        named += [(BLOCKER, place, ", the id of its blockers") for place in blocked[:1]]
        self._refuse_duplicate_ids(named)
        challenge_ids = [(table.id, table.place, "") for table in tables]
        challenge_ids += [(table.id, table.place, "") for table in file.family]
        self._refuse_duplicate_ids(challenge_ids)
        if not self.errors.count:
            ids = [(name, place) for name, place, _ in challenge_ids]
            self._refuse_shared_names(puzzle.families, [*board_places, *ids])
        if not self.errors.count:
            self._compare_area("set", head.area, puzzle.area)
        return puzzle

    @cached_property
    def marks(self) -> dict[str, str]:
        """The looks of marks by letter, and that of dark squares if they are a rule."""
        head = self.head
        is_rule = head.chequer and head.chequer_role == "rule"
        return {**self.looks, **({DARK: head.chequer} if is_rule else {})}

    @cached_property
    def looks(self) -> dict[str, str]:
        """The looks of marks by letter; after an error the letter itself, which no other mark has."""
        looks: dict[str, str] = {}
        marks = self.head.marks
        if not isinstance(marks, dict):
            self.errors.add("set.marks", f"expected a table, found {quote(marks)}")
            return looks
        for letter, look in marks.items():
            if len(letter) != 1 or not letter.isalpha() or letter == PLAIN_LETTER:
                expected = f"expected a single letter other than {PLAIN_LETTER}, the plain cell"
                self.errors.add("set.marks", f"{expected}; found {quote(letter)}")
                continue
            try:
                looks[letter] = look if look in LOOKS else COLOUR.read(look)
            except ValueError:
                looks[letter] = letter
                expected = f'expected {", ".join(LOOKS)} or a colour such as "#5d3a1a"'
                self.errors.add(f"set.marks.{letter}", f"{expected}, found {quote(look)}")
            if list(looks.values()).count(looks[letter]) > 1:
                message = f"another mark is {quote(look)} as well; choose another look"
                self.errors.add(f"set.marks.{letter}", message)
        return looks

    def _check_head(self) -> None:
        """Record the errors of a second colour and of marks."""
        head = self.head
        if head.chequer and not self.lattice.is_square:
            lattice = f"the lattice is {self.lattice.name}"
            self.errors.add(
                "set.chequer", f"only squares can be chequered, and {lattice}; leave it out"
            )
        if "chequer_role" in head.model_fields_set and not head.chequer:
            message = 'needs a second colour; write chequer = "#5d3a1a"'
            self.errors.add("set.chequer_role", message)
        if self.looks and head.chequer:
            self.errors.add("set.marks", "exclude set.chequer; choose one")

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

    def _notes(self, lattice: str) -> tuple[str, ...]:
        """Return a note about a lattice's former name."""
        if lattice == self.lattice.name:
            return ()
        name = f"{quote(lattice)} is now called {quote(self.lattice.name)}"
        change = f"write lattice = {quote(self.lattice.name)}"
        return (f"{self.errors.source}: set.lattice: {name}; {change}",)

    def _pieces(self, table: PieceTable, index: int) -> list[Piece]:
        """Return the pieces of a table; without forms after an error, to avoid consequential errors."""
        errors = self.errors
        label = table.label or _default_label(table.id)
        piece = Piece(table.id, label, table.colour or PALETTE[index % len(PALETTE)], ())
        key = exactly_one(errors, table, _PIECE_KEYS, required=True)
        if key == "balls":
            piece = self._ball_piece(table, piece)
        elif key:
            where = table.key(key)
            cells = self.regions.read(key, getattr(table, key), where, piece=True)
            form = flat_form(self.lattice, cells, where, errors)
            piece = replace(piece, forms=(form,) if form else ())
        if piece.forms and self.looks:
            piece = self._marked(table, piece)
        elif table.back is not None and not self.head.marks:
            need = 'the set has no marks; add marks = {o = "hole"} to [set]'
            errors.add(table.key("back"), f"shows marks, but {need}")
        piece = self._chequered(table, piece)
        if piece.forms:
            self._compare_area(table.place, table.area, area(self.lattice, piece.forms[0]))
        if table.bonds is not None and key not in ("balls", ""):
            errors.add(table.key("bonds"), "join balls, and this piece has none")
        if table.count == 1:
            return [piece]
        ids = copy_ids(table.id, table.count)
        for copy_id in ids:
            try:
                read_identifier(copy_id)
            except ValueError as error:
                errors.add(table.key("count"), f"makes the id {quote(copy_id)}: {error}")
                break
        return [replace(piece, id=copy_id) for copy_id in ids]

    def _ball_piece(self, table: PieceTable, piece: Piece) -> Piece:
        key = table.key("balls")
        if not self.lattice.is_square:
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
        if not colour or not piece.forms or piece.body or not self.lattice.is_square:
            return piece
        tones = chequered_cells(self.lattice, piece.forms[0].cells, table.chequer)
        return self._painted(piece, tones)

    def _painted(self, piece: Piece, tones: frozenset[Cell]) -> Piece:
        """Give cells of a piece the second colour, which is a mark if it is a rule."""
        piece = replace(piece, tones=tones, tone=self.head.chequer)
        if DARK not in self.marks:
            return piece
        marks = tuple((cell, DARK) for cell in sorted(tones))
        return replace(piece, marks=marks, back=marks)

    def _marked(self, table: PieceTable, piece: Piece) -> Piece:
        """Add the marks that the letters of its rows are, in front and behind."""
        if table.rows is None:
            if table.back is not None:
                self.errors.add(table.key("back"), "needs rows, which show the front")
            return piece
        front = self._marks_in(table.rows, table.key("rows"))
        back = front
        if table.back is not None:
            key = table.key("back")
            flip = next(
                move for move in self.lattice.moves(True) if move.flipped and not move.turns
            )
            cells = self.regions.read("rows", table.back, key, piece=True)
            if not cells:
                return piece
            marks = self._marks_in(table.back, key)
            moves = dict(moves_onto(self.lattice, cells, piece.forms[0].cells))
            if flip not in moves:
                seen = "is not the piece as seen from behind, left and right exchanged"
                self.errors.add(key, f"{seen}; draw the same cells as rows, mirrored")
                return piece
            dx, dy = moves[flip]
            moved = {flip(cell): mark for cell, mark in marks.items()}
            back = {(x + dx, y + dy): mark for (x, y), mark in moved.items()}
        looks = self.looks
        holes, holes_behind = (
            {cell for cell, mark in marks.items() if looks[mark] == HOLE} for marks in (front, back)
        )
        if holes != holes_behind:
            message = (
                "has other holes than rows, but a hole goes through the piece; draw it in both"
            )
            self.errors.add(table.key("back"), message)
        colours = {looks[mark] for mark in (*front.values(), *back.values())}
        colours = {colour for colour in colours if colour.startswith("#")}
        if len(colours) > 1:
            shown = join_names(sorted(colours))
            message = f"shows marks in {shown}; a piece has at most one colour besides its own"
            self.errors.add(table.key("rows"), message)
        tones = frozenset(cell for cell, mark in front.items() if looks[mark] in colours)
        return replace(
            piece,
            tones=tones,
            tone=min(colours, default=""),
            marks=tuple(sorted(front.items())),
            back=tuple(sorted(back.items())),
        )

    def _marks_in(self, rows: Sequence[str], key: str) -> dict[Cell, str]:
        """Return the marks of cells in rows of text; record letters that mean nothing."""
        letters = self.regions.letters(rows)
        unknown = set(letters.values()) - {PLAIN_LETTER, *self.looks}
        if unknown:
            known = join_names(list(self.looks))
            message = f"is neither {PLAIN_LETTER}, a cell, nor a mark of the set ({known})"
            self.errors.add(key, f"{quote(min(unknown))} {message}")
        return {cell: letter for cell, letter in letters.items() if letter in self.looks}

    def _cut(self, before: int) -> tuple[list[Piece], list[Board]]:
        """Return the pieces and the board of ``[cut]``; none after an error.

        Args:
            before: number of the file's other tables of pieces, for colours.
        """
        table = self.file.cut
        key = exactly_one(self.errors, table, _CUT_KEYS, required=True)
        parts = {"rows": self._lettered_parts, "cells": self._listed_parts, "": dict}[key]()
        if not parts:
            return [], []
        cells = frozenset[Cell]().union(*parts.values())
        dark = frozenset[Cell]()
        if self.head.chequer and self.lattice.is_square:
            dark = chequered_cells(self.lattice, cells, PARITIES[1])
        pieces = []
        for index, (name, part) in enumerate(parts.items(), start=before):
            form = flat_form(self.lattice, part, self._cut_place(name), self.errors)
            colour = table.colours.get(name) or PALETTE[index % len(PALETTE)]
            piece = Piece(name, _default_label(name), colour, (form,) if form else ())
            pieces.append(self._painted(piece, dark & part) if dark and form else piece)
        for name in table.colours:
            if name not in parts:
                self.errors.add(table.key("colours"), no_such("piece", name, list(parts)))
        return pieces, [Board(table.board, cells)]

    def _cut_place(self, name: str) -> str:
        """Return the place of a piece of ``[cut]``."""
        is_letter = "rows" in self.file.cut.model_fields_set
        return f"cut.rows: {quote(name)}" if is_letter else f"cut.cells.{name}"

    def _check_cut_id(self, name: str, key: str) -> bool:
        """Return whether a piece of ``[cut]`` has a valid id; record an error if not."""
        try:
            read_identifier(name)
        except ValueError as error:
            self.errors.add(key, f"makes the id {quote(name)}: {error}")
            return False
        return True

    def _lettered_parts(self) -> dict[str, frozenset[Cell]]:
        """Return the cells of the pieces of ``cut.rows``, by their letters; none after an error."""
        table = self.file.cut
        if not self.regions.read("rows", table.rows, table.key("rows"), piece=True):
            return {}
        parts: dict[str, set[Cell]] = {}
        for cell, letter in self.regions.letters(table.rows).items():
            parts.setdefault(letter, set()).add(cell)
        for letter in parts:
            self._check_cut_id(letter, table.key("rows"))
        return {letter: frozenset(part) for letter, part in parts.items()}

    def _listed_parts(self) -> dict[str, frozenset[Cell]]:
        """Return the cells of the pieces of ``cut.cells``, by their ids; none after an error."""
        table = self.file.cut
        key = table.key("cells")
        if not isinstance(table.cells, dict) or not table.cells:
            expected = "expected a table such as { A = [[0, 0], [0, 1]], B = [[1, 0], [1, 1]] }"
            message = f"{expected}, found {quote(table.cells)}"
            self.errors.add(key, f"is empty; {expected}" if table.cells == {} else message)
            return {}
        errors_before = self.errors.count
        parts: dict[str, frozenset[Cell]] = {}
        owners: dict[Cell, str] = {}
        for name, items in table.cells.items():
            if not self._check_cut_id(name, key):
                continue
            place = self._cut_place(name)
            parts[name] = self.regions.read("cells", items, place, piece=True)
            for index, item in enumerate(items if parts[name] else ()):
                for cell in sorted(cells_named(item, self.lattice, None) & owners.keys())[:1]:
                    message = f"{quote(item)} belongs to {quote(owners[cell])}"
                    advice = "each cell is of one piece; list it once"
                    self.errors.add(f"{place}[{index}]", f"{message}, too; {advice}")
            owners.update((cell, name) for cell in parts[name])
        is_sound = self.errors.count == errors_before and all(parts.values())
        return parts if is_sound else {}

    def _board(self, table: BoardTable) -> Board:
        errors_before = self.errors.count
        key = exactly_one(self.errors, table, _BOARD_KEYS, required=True)
        where = table.key(key)
        cells = self.regions.read(key, getattr(table, key), where) if key else frozenset()
        if cells and table.open >= len(cells):
            expected = f"expected fewer than its {len(cells)} cells"
            self.errors.add(table.key("open"), f"is {table.open}; {expected}")
        labels = self._labels(table, cells) if table.labels is not None and cells else ()
        if self.errors.count > errors_before:  # the numbers or names of its cells are not known
            cells = frozenset()
        return Board(table.id, cells, table.optional, labels, open_count=table.open)

    def _labels(self, table: BoardTable, cells: frozenset[Cell]) -> tuple[Label, ...]:
        """Return the texts on a board's cells, row by row; none after an error."""
        key = table.key("labels")
        rows: dict[int, list[tuple[int, int]]] = {}
        for place in CellNumbering(self.lattice, cells).places:
            rows.setdefault(place[0], []).append(place)
        if not isinstance(table.labels, list) or len(table.labels) != len(rows):
            expected = f"expected a string for each of its {pluralize(len(rows), 'row')}"
            self.errors.add(key, f"{expected}, found {quote(table.labels)}")
            return ()
        labels = []
        for index, (text, places) in enumerate(zip(table.labels, rows.values(), strict=True)):
            words = text.split() if isinstance(text, str) else []
            if len(words) != len(places):
                expected = f"expected a string of {pluralize(len(places), 'word')}"
                advice = "one for each cell of the row, where a dot is no text"
                self.errors.add(f"{key}[{index}]", f"{expected}, {advice}; found {quote(text)}")
                continue
            for word, place in zip(words, places, strict=True):
                if len(word) > _LONGEST_TEXT:
                    limit = f"at most {_LONGEST_TEXT} characters fit on a cell"
                    self.errors.add(
                        f"{key}[{index}]", f"{quote(word)} is {len(word)} long; {limit}"
                    )
                elif word != ".":
                    here = cells.intersection(self.lattice.cells_at(*place))
                    labels.append(Label(word, frozenset(here)))
        return tuple(labels)

    def _with_board_clues(self, puzzle: PuzzleSet) -> PuzzleSet:
        """Return the set with the clues of its boards, which name pieces and marks."""
        reader = ChallengeReader(puzzle, self.regions)
        ids = [piece.id for piece in puzzle.pieces]
        tables = [None] * (len(puzzle.boards) - len(self.file.board)) + self.file.board
        boards = []
        for board, table in zip(puzzle.boards, tables, strict=True):
            clues: tuple[Clue, ...] = ()
            if table is not None and board.cells:
                clues = reader.clues(table.clue, reader.numbering(board), board.cells, ids)
            if table is not None and "chequer" in table.model_fields_set and DARK not in self.marks:
                message = 'needs chequer_role = "rule" in [set]'
                self.errors.add(table.key("chequer"), message)
            if board.cells and DARK in self.marks:
                parity = table.chequer if table is not None else PARITIES[1]
                dark = chequered_cells(self.lattice, board.cells, parity)
                clues += (Clue(dark, mark=DARK), Clue(board.cells - dark, mark=PLAIN))
            boards.append(replace(board, clues=clues))
        return replace(puzzle, boards=tuple(boards))

    def _family(
        self, table: FamilyTable, reader: ChallengeReader, puzzle: PuzzleSet
    ) -> Family | None:
        """Return a family of challenges; None after an error."""
        errors = self.errors
        errors_before = errors.count
        pieces = reader.named(table.pieces, table.key("pieces"))
        board = default_board(puzzle.boards)
        if table.board is not None:
            reader.board(table.board, table.key("board"))
            board = next((board for board in puzzle.boards if board.id == table.board), None)
        elif board is None:
            errors.add(table.place, "chooses cells of a board, and there is none; add a [[board]]")
        key = table.key("groups")
        if not isinstance(table.groups, list) or not table.groups:
            errors.add(key, f"expected a list of groups of cells, found {quote(table.groups)}")
        if board is None or errors.count > errors_before:
            return None
        numbering = reader.numbering(board)
        groups = [
            self._group(group, f"{key}[{index}]", numbering)
            for index, group in enumerate(table.groups)
        ]
        members = prod(len(set(labels)) for labels in groups)
        if members > _MOST_MEMBERS:
            limit = f"at most {_MOST_MEMBERS:,} are allowed; use smaller groups"
            errors.add(key, f"make {members:,} challenges; {limit}")
        texts = {label.text for labels in groups for label in labels}
        for index, name in enumerate(table.without if errors.count == errors_before else ()):
            if unknown := [text for text in name.split("-") if text not in texts]:
                message = f"{quote(unknown[0])} is not in a group; expected names joined by dashes"
                errors.add(f"{table.key('without')}[{index}]", message)
        if errors.count > errors_before:
            return None
        family = Family(
            table.id,
            table.title or table.id,
            board,
            tuple(groups),
            pieces,
            self.flips,
            table.prefix,
            table.blocked,
            tuple(frozenset(name.split("-")) for name in table.without),
        )
        if board.cells and next(family.choices(), None) is None:
            advice = "name more cells, or less in without"
            errors.add(key, f"leave no choice of a different cell of each group; {advice}")
        return family

    def _group(self, group: Any, key: str, numbering: CellNumbering) -> tuple[Label, ...]:
        """Return the choices of a group; see `choice_name`."""
        names = group.split() if isinstance(group, str) else group
        if not isinstance(names, list) or not names:
            expected = "expected labels in a string, or a list of cells"
            self.errors.add(key, f"{expected}, found {quote(group)}")
            return ()
        labels = []
        labels_by_text: dict[str, Label] = {}
        for name in names:
            try:
                cells = cells_named(name, self.lattice, numbering)
                if numbering.cells and not cells <= numbering.cells:
                    raise ValueError(f"{quote(name)} is not on the board")
                if isinstance(name, str) and "-" in name:
                    advice = "a dash joins the names of choices; write [row, column]"
                    raise ValueError(f"{quote(name)} cannot be in a name, where {advice}")
                if isinstance(name, str):  # other texts are only printed on the board
                    read_word(name)
                label = Label(choice_name(name, numbering, cells), cells)
                text = label.text.lower()
                if numbering.cells and labels_by_text.setdefault(text, label) != label:
                    advice = (
                        "write equal choices alike, and others by a cell's label or [row, column]"
                    )
                    message = (
                        f"{quote(label.text)} is also the name of another choice, ignoring case"
                    )
                    raise ValueError(f"{message}; {advice}")
                labels.append(label)
            except ValueError as error:
                self.errors.add(key, str(error))
                if isinstance(name, str) and not numbering.labels:  # as all others
                    break
        return tuple(labels)

    def _refuse_unlike_blockers(self, puzzle: PuzzleSet) -> None:
        """Record an error for each family or challenge whose cells the set's blockers do not cover."""
        for blocker in blockers(puzzle, ""):
            own = blocker.forms[0].cells
            for family_table, family in zip(self.file.family, puzzle.families, strict=True):
                choices = [label for group in family.groups for label in group if family.blocked]
                places = {label.cells: label.text for label in choices}
                unlike = place_unlike_blocker(self.lattice, own, places)
                if unlike is not None:
                    message = unlike_blocker(places[unlike])
                    self.errors.add(family_table.key("groups"), message)
            for table, challenge in zip(self.file.challenge, puzzle.challenges, strict=True):
                if not challenge.blocked:
                    continue
                # The reader of challenges has compared the places of each with its first.
                first = self.lattice.places(challenge.minus)[:1]
                unlike = place_unlike_blocker(self.lattice, own, first)
                if unlike is not None:
                    message = unlike_blocker(table.minus[0])
                    self.errors.add(table.key("minus"), message)

    def _refuse_small_boards(self, puzzle: PuzzleSet) -> None:
        """Record an error for each board on which a piece fits that no challenge leaves out."""
        on_boards: dict[frozenset[Cell], set[str]] = {}
        used = [(challenge.board_cells, challenge.pieces) for challenge in puzzle.challenges]
        used += [(family.board.cells, family.pieces) for family in puzzle.families]
        for cells, piece_ids in used:
            on_boards.setdefault(cells, set()).update(piece_ids)
        for table in self.file.board:
            board = next(board for board in puzzle.boards if board.id == table.id)
            pieces = [piece for piece in puzzle.pieces if piece.forms]
            if board.cells in on_boards:
                wanted = on_boards[board.cells]
                pieces = [piece for piece in pieces if piece.id in wanted]
            if board.cells:
                key = next(key for key in _BOARD_KEYS if key in table.model_fields_set)
                self._refuse_small_board(table.key(key), board, pieces)

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

    def _refuse_shared_names(
        self, families: Sequence[Family], named: Sequence[tuple[str, str]]
    ) -> None:
        """Record an error for each family with a member that has another's name; items are (id, table)."""
        by_length: dict[int, list[tuple[str, str]]] = {}
        for name, place in named:
            by_length.setdefault(name.count("-"), []).append((name, place))
        for index, (table, family) in enumerate(zip(self.file.family, families, strict=True)):
            prefix = "another prefix" if family.prefix else "a prefix"
            advice = f"give the family {prefix}"
            dashes = family.name(label for label, *_ in family.groups).count("-")
            for name, place in by_length.get(dashes, []):
                if family.find(name):
                    message = f"the member {quote(name)} has the name of {place}, ignoring case"
                    self.errors.add(table.key("groups"), f"{message}; {advice}, or rename {place}")
                    break
            for other_table, other in zip(self.file.family[:index], families, strict=False):
                if name := family.shared_name(other):
                    message = f"the member {quote(name)} is also one of {other_table.place}"
                    self.errors.add(table.key("groups"), f"{message}, ignoring case; {advice}")
                    break

    def _refuse_duplicate_ids(self, named: Sequence[tuple[str, str, str]]) -> None:
        """Record every duplicate id, ignoring case; items are (id, table, origin of the id)."""
        first: dict[str, tuple[str, str]] = {}
        for part_id, place, origin in named:
            first_place, first_origin = first.setdefault(part_id.lower(), (place, origin))
            if first_place != place:
                made = f"{quote(part_id)}{origin and origin + ','}"
                message = f"{made} is also the id of {first_place}{first_origin}"
                advice = "choose another: ids become file names, and case is ignored"
                key = place if place.startswith("cut") else f"{place}.id"
                self.errors.add(key, f"{message}; {advice}")


def copy_ids(name: str, count: int) -> list[str]:
    """Return the ids of the pieces of a table."""
    stem = f"{name}-" if name[-1:].isdigit() else name
    return [f"{stem}{number + 1}" for number in range(count)] if count > 1 else [name]


def _default_label(name: str) -> str:
    """Return a short id, or the first letter of a long one."""
    return name if len(name) <= _LONGEST_DEFAULT_LABEL else name[:1].upper()


def choice_name(name: Any, numbering: CellNumbering, cells: frozenset[Cell]) -> str:
    """Return a label, or ``r2c3`` for ``[2, 3]`` and ``r2c3k1`` for ``[2, 3, 1]``."""
    if isinstance(name, str):
        return name
    row, col = numbering.place(cells) if cells else (0, 0)
    part = f"k{name[2]}" if isinstance(name, list) and len(name) == 3 else ""
    return f"r{row}c{col}{part}"


def _extent(lattice: Lattice, cells: Iterable[Cell]) -> str:
    """Return rows x columns spanned by the cells."""
    sides = zip(*map(lattice.row_col, cells), strict=True)
    return " x ".join(str(max(side) - min(side) + 1) for side in sides)
