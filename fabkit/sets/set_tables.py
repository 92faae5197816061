"""The tables of set files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from fabkit.core.documents import (
    COLOUR,
    IDENTIFIER,
    Shape,
    Table,
    Text,
    Validator,
    choice,
    length_mm,
)
from fabkit.core.errors import quote
from fabkit.model.lattice import LATTICES, RENAMED_LATTICES
from fabkit.model.piece import PARITIES
from fabkit.model.puzzle import MOVES
from fabkit.profiles.profile_file import profile_table
from fabkit.sets.challenge_tables import Cells, ChallengeTable, ClueTable, Outline, Pair, TextRows
from fabkit.sets.regions import LONGEST_SIDE, MAX_CELLS_OF_FILE

#: Limits for the length of a grid unit.
UNIT_RANGE_MM = (4.0, 200.0)
#: Limit on the pieces of a set, counting copies.
MOST_PIECES = 1000
PIECE_KEYS = ("outline", "cells", "rows", "svg", "balls")
CUT_KEYS = ("rows", "cells")
BOARD_KEYS = ("size", "rows", "cells", "outline", "svg")
#: What the second colour of a chequered set is for.
CHEQUER_ROLES = ("decoration", "rule")
_LONGEST_LABEL = 3


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
_Area = Annotated[StrictFloat | None, Field(ge=0, le=MAX_CELLS_OF_FILE)]
_Centre = Annotated[list[int], Field(min_length=3, max_length=3)]


def _exactly_one(keys: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema for a group of keys, exactly one of which is required."""
    return {"oneOf": [{"required": [key]} for key in keys]}


class HeadTable(Table):
    """Settings of the whole set."""

    name: Annotated[str, IDENTIFIER] = Field(description="short name; names the output folder")
    lattice: Annotated[str, choice(*LATTICES, renamed=RENAMED_LATTICES)] = Field(
        description="the grid: squares, squares with their diagonals, hexagons, triangles, or "
        "hexagons cut into 6 kites or 12 drafters"
    )
    moves: Annotated[str, choice(*MOVES)] = Field(description="whether pieces may be turned over")
    title: Text = Field("", max_length=200, description="display name")
    unit: Annotated[float | None, length_mm(*UNIT_RANGE_MM)] = Field(
        None,
        description='length of a grid unit, such as "25 mm"; a profile with `unit` takes '
        "precedence",
    )
    area: _Area = Field(
        None, description="area of all pieces in square units, to be compared with the drawings"
    )
    chequer: Annotated[str, COLOUR] = Field("", description="a second colour on every other square")
    chequer_role: Annotated[str, choice(*CHEQUER_ROLES)] = Field(
        CHEQUER_ROLES[0],
        description="whether the colours must alternate over the whole region, too",
    )
    marks: Annotated[Any, Shape("a table", dict[str, str])] = Field(
        {},
        description="letters in rows of pieces that are marks, and their looks: hole, cross, dot "
        "or a colour; other cells are X",
    )
    group: Text = Field("", max_length=40, description="heading in the list of shipped sets")
    source: Text = Field("none", max_length=2000, description="where the shapes come from")
    licence: Text = Field("not stated", max_length=200, description="terms of use")

    @property
    def chequer_is_rule(self) -> bool:
        """Whether the second colour is a mark, which clues of boards demand."""
        return bool(self.chequer) and self.chequer_role == CHEQUER_ROLES[1]


class PieceTable(Table, json_schema_extra=_exactly_one(PIECE_KEYS)):
    """A piece, drawn in one way, or several equal pieces."""

    id: Annotated[str, IDENTIFIER] = Field(description="names the files")
    count: StrictInt = Field(
        1,
        ge=1,
        le=MOST_PIECES,
        description="number of equal pieces, whose ids end in 1, 2, 3, … (-1, -2, -3, … after a "
        "digit)",
    )
    label: Annotated[str, _LABEL] = Field(
        "", description="one to three characters to engrave; by default the id, or its first letter"
    )
    colour: Annotated[str, COLOUR] = Field("", description='such as "#56b4e9"; else of a palette')
    outline: Outline = None
    cells: Cells = None
    rows: Annotated[Any, Shape("rows", TextRows)] = Field(
        None, description="rows of text: a letter for each cell, a dot or a space elsewhere"
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
    area: _Area = Field(None, description="area in square units, to be compared with the drawing")


class BoardTable(Table, json_schema_extra=_exactly_one(BOARD_KEYS)):
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
        description="texts on the cells: a string for each row, with a word for each of its cells, "
        "a dot where there is no text",
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
    groups: Annotated[Any, Shape("a list of groups", list[str | list[Pair | int | str]])] = Field(
        description="groups of cells, one of which is chosen: labels in a string, or a list of "
        "cells; names of members consist of them, so they have letters, digits and _ only"
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


class CutTable(Table, json_schema_extra=_exactly_one(CUT_KEYS)):
    """A picture of a board that is cut into the pieces: the board and the pieces in one drawing."""

    rows: Annotated[Any, Shape("rows", TextRows)] = Field(
        None, description="rows of text: equal letters are a piece; a dot or a space is outside"
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

    def place_of(self, name: str) -> str:
        """Return the place of a piece."""
        is_letter = "rows" in self.model_fields_set
        return f"cut.rows: {quote(name)}" if is_letter else f"cut.cells.{name}"


class SetFile(Table):
    """A puzzle set: pieces on a lattice, boards to fill, challenges to solve."""

    set: HeadTable = Field(description="a table [set] with name, lattice and moves")
    cut: CutTable = Field(None, description="pieces and board in one drawing")  # type: ignore[assignment]
    piece: list[PieceTable] = Field(
        [], description="one table [[piece]] or more, unless [cut] has them", max_length=MOST_PIECES
    )
    board: list[BoardTable] = Field([], max_length=1000)
    family: list[FamilyTable] = Field([], max_length=100)
    challenge: list[ChallengeTable] = Field([], max_length=10_000)
    profile: profile_table() | None = Field(  # type: ignore[valid-type]
        None,
        description="how the set is made by default: any keys of a profile file, which `-p` and "
        "`-s` override",
    )
