"""The tables of challenge files, lists of challenges and catalogs.

All of them hold the same document, with an optional result that is checked, not computed again.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from fabkit.core.documents import IDENTIFIER, Shape, Table, Text, choice
from fabkit.model.entry import LEVELS
from fabkit.sets.regions import LONGEST_SIDE

ANSWERS = ("solved", "impossible")
STATUSES = (*ANSWERS, "unknown")
PARITIES = ("even", "odd", "mixed")

Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
_Place = Annotated[list[int], Field(min_length=2, max_length=3)]
_Corner = Annotated[list[float], Field(min_length=2, max_length=2)]
_Ring = Annotated[list[_Corner], Field(min_length=3)]
_Rings = Annotated[list[_Ring], Field(min_length=1)]
#: Outlines and cells, whose limits and lattice need more context.
Outline = Annotated[
    Any,
    Shape("corners", _Ring | _Rings | Annotated[list[_Rings], Field(min_length=1)]),
    Field(description="rings of corners [x, y] in grid units, y up; holes follow their outer ring"),
]
Cells = Annotated[
    Any,
    Shape("cells", Annotated[list[_Place | int | str], Field(min_length=1)]),
    Field(
        description="cells as [row, column] from the top left, or their number or label on the "
        "board"
    ),
]
_Frame = Annotated[
    Any,
    Shape("cells", Annotated[list[Pair], Field(min_length=1)]),
    Field(
        description="cells as whole numbers [x, y] of the lattice's frame, as fabkit writes them"
    ),
]
TextRows = Annotated[list[str], Field(min_length=1, max_length=LONGEST_SIDE)]
_Id = Annotated[str, Field(min_length=1)]
_PieceIds = Shape("piece ids", _Id | Annotated[list[_Id], Field(min_length=1)])
_MOST_CHALLENGES = 10_000
_MAX_SCORE = 10**6
_Count = Annotated[StrictInt | None, Field(ge=1, le=10**18)]


class ClueTable(Table):
    """Cells, and what must cover each of them: all that is stated."""

    cells: Cells = None
    piece: Text = Field("", max_length=200, description="id of the piece that covers all of them")
    mark: Text = Field(
        "", max_length=20, description="mark of the piece there: a letter, or plain for none"
    )
    colour: Text = Field(
        "", max_length=200, description="colour of the piece, or the id of a piece of that colour"
    )
    frame: _Frame = None


class GivenTable(Table):
    """A piece already placed."""

    piece: Text = Field(max_length=200, description="its id")
    cells: Cells = None
    outline: Outline = None
    frame: _Frame = None


class DifficultyTable(Table):
    """How hard a challenge is for a person."""

    score: StrictFloat = Field(
        ge=-_MAX_SCORE, le=_MAX_SCORE, description="as `fabkit solve --difficulty` prints it"
    )
    tries: StrictFloat = Field(0.0, ge=0, le=_MAX_SCORE, description="its first part")
    free_moves: StrictFloat = Field(0.0, ge=0, le=_MAX_SCORE, description="its second part")


class ResultTable(Table):
    """What is known about a challenge: a solution is checked, the rest is trusted."""

    status: Annotated[str, choice(*STATUSES)] = Field("", description="what solving it found")
    solution: Annotated[Any, Shape("the cells of each piece", dict[str, list[Any]])] = Field(
        None,
        description="by piece id, as `fabkit solve --json` prints them; frame cells if the region "
        "is one",
    )
    count: _Count = Field(None, description="number of known solutions")
    count_complete: StrictBool = Field(False, description="whether there are no more")
    count_up_to_symmetry: _Count = Field(
        None, description="number of solutions that are not images of each other"
    )
    unique_by: Annotated[Any, Shape("a list of engines")] = Field(
        None, description="engines that agree that there is one solution"
    )
    minimal: StrictBool | None = Field(None, description="whether every given piece is needed")
    rigid: StrictBool | None = Field(
        None, description="whether every part of a snowflake is symmetric itself"
    )
    shape: Text = Field("", max_length=100, description="name of the region's shape")
    level: Annotated[str, choice(*LEVELS)] = Field(
        "", description="level of difficulty; that of the score, once there is one"
    )
    difficulty: DifficultyTable = Field(None, description="rating")  # type: ignore[assignment]


class ChallengeFile(Table):
    """A region to cover and the pieces to use."""

    id: Annotated[str, IDENTIFIER] = Field("", description="name for commands and files")
    title: Text = Field("", max_length=100, description="name for people")
    outline: Outline = None
    board: Annotated[Any, Shape("a board", str)] = Field(
        None, description="id of the board to fill; the set's first when no region is drawn"
    )
    cells: Cells = None
    frame: _Frame = None
    flips: StrictBool | None = Field(None, description="whether pieces may be flipped")
    answer: Annotated[str, choice(*ANSWERS)] = Field("", description="known answer")
    pieces: Annotated[Any, _PieceIds] = Field(
        None, description="ids of the pieces: a list, or a string when each id is one character"
    )

    pieces_count: StrictInt | None = Field(
        None,
        description="how many of the pieces fill the region; all of them by default",
        json_schema_extra={"minimum": 1},
    )
    rows: Annotated[Any, Shape("rows", TextRows)] = Field(
        None,
        description="the region in rows of text: a letter for each cell, a dot or a space "
        "elsewhere",
    )
    minus: Cells = None
    blocked: StrictBool = Field(
        False, description="whether blockers are on the cells of minus, which stay open otherwise"
    )
    open: StrictInt | None = Field(
        None,
        description="number of cells that stay open; by default that of the board, or 0",
        json_schema_extra={"minimum": 0},
    )
    clue: list[ClueTable] = Field([], description="what must cover some cells")
    given: list[GivenTable] = Field([], description="pieces that are placed already")
    of: Text = Field(
        "", max_length=100, description="id of the challenge that a starting position belongs to"
    )
    parity: Annotated[str, choice(*PARITIES)] = Field(
        "", description="of a snowflake: where its centre is on the grid"
    )
    half_width: Annotated[Any, Shape("one or two whole numbers")] = Field(
        None, description="of a snowflake: how far it reaches from its centre"
    )
    centre: Annotated[str, choice("even", "odd")] = Field(
        "", description="of a mixed snowflake: the parity of its inner part"
    )
    file: Text = Field(
        "", max_length=200, description="the challenge file beside a list that states the same"
    )
    # A table that is left out is None, like any other key without a default.
    result: ResultTable = Field(None, description="what is known about it")  # type: ignore[assignment]


class ChallengeTable(ChallengeFile):
    """A challenge of a set or a list, where it needs an id."""

    id: Annotated[str, IDENTIFIER] = Field(description="name for commands and files")


class ListFile(Table):
    """Several challenges: a list of one's own, of `fabkit challenges`, or a catalog."""

    set: Text = Field("", max_length=200, description="name of the set that they belong to")
    challenge: list[ChallengeTable] = Field(
        [],
        description="the challenges; in JSON also called `challenges`",
        max_length=_MOST_CHALLENGES,
    )
    challenges: list[ChallengeTable] = Field([], max_length=_MOST_CHALLENGES)
    made: Annotated[Any, Shape("a table")] = Field(None, description="how fabkit made it")
    pieces: Annotated[Any, Shape("piece ids")] = None
    levels: Annotated[Any, Shape("a table")] = None
    counts: Annotated[Any, Shape("a table")] = None
    complete: Annotated[Any, Shape("tables")] = None
    unknown: Annotated[Any, Shape("tables")] = None
    distinct: Annotated[Any, Shape("a table")] = None
    missing: Annotated[Any, Shape("a string")] = None
