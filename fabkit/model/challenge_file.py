"""Read and write challenges: a file, a table of a set file, a list, or a catalog.

All of them hold the same document, with an optional result that is checked, not computed again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from fabkit.core.documents import (
    IDENTIFIER,
    Shape,
    Table,
    Text,
    choice,
    exactly_one,
    read_document,
    read_identifier,
)
from fabkit.core.errors import (
    ErrorList,
    InputError,
    did_you_mean,
    escape,
    join_names,
    join_or,
    no_such,
    pluralize,
    quote,
)
from fabkit.core.files import check_schema
from fabkit.core.lines import located
from fabkit.core.parsing import parse_json, parse_toml, read_text
from fabkit.model.accessory import blockers, place_unlike_blocker
from fabkit.model.clues import ClueFilter
from fabkit.model.entry import LEVELS, level_of, solution_error
from fabkit.model.lattice import Cell
from fabkit.model.piece import PLAIN, is_image
from fabkit.model.puzzle import (
    CLUE_KEYS,
    MOVES,
    Board,
    Challenge,
    Clue,
    Entry,
    Given,
    PuzzleSet,
    Result,
    default_board,
)
from fabkit.model.regions import LONGEST_SIDE, CellNumbering, RegionReader

ANSWERS = ("solved", "impossible")
STATUSES = (*ANSWERS, "unknown")
PARITIES = ("even", "odd", "mixed")
_REGION_KEYS = ("outline", "board", "cells", "rows", "frame")

Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
_Place = Annotated[list[int], Field(min_length=2, max_length=3)]
_Corner = Annotated[list[float], Field(min_length=2, max_length=2)]
_Id = Annotated[str, Field(min_length=1)]
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
        description="cells as [row, column] from the top left, or their number or label on the board"
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
_PieceIds = Shape("piece ids", _Id | Annotated[list[_Id], Field(min_length=1)])
_LONGEST_ID = 40
_MOST_CHALLENGES = 10_000
_MAX_SCORE = 10**6
_MAX_SOLUTIONS = 10**18


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
        description="by piece id, as `fabkit solve --json` prints them; frame cells if the region is one",
    )
    count: StrictInt | None = Field(
        None, ge=1, le=_MAX_SOLUTIONS, description="number of known solutions"
    )
    count_complete: StrictBool = Field(False, description="whether there are no more")
    count_up_to_symmetry: StrictInt | None = Field(
        None,
        ge=1,
        le=_MAX_SOLUTIONS,
        description="number of solutions that are not images of each other",
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
        description="the region in rows of text: a letter for each cell, a dot or a space elsewhere",
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
        "",
        max_length=100,
        description="id of the challenge that a starting position belongs to",
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


def unlike_blocker(place: object) -> str:
    """Return the error that a blocker has another shape than a place."""
    message = f"the cells at {quote(place)} have another shape than the first that are blocked"
    return f"{message}, and all blockers of a set are equal; name cells of one shape"


class ChallengeReader:
    """Reads and validates challenges of a set; errors are recorded with those of its regions.

    Args:
        puzzle: the set, as far as it has been read.
        regions: reads drawings.
        proved: whether given pieces and solutions were checked before, as those of a shipped catalog.
    """

    def __init__(
        self,
        puzzle: PuzzleSet,
        regions: RegionReader,
        proved: bool = False,
    ) -> None:
        self._puzzle = puzzle
        self._regions = regions
        self._proved = proved
        self._lattice = puzzle.lattice
        self._errors = regions.errors
        self._pieces = {piece.id: piece for piece in puzzle.pieces}
        self._boards = {board.id: board for board in puzzle.boards}

    def read(self, table: ChallengeFile, name: str = "") -> Entry:
        """Convert a challenge with its result; usable only if there are no errors.

        Args:
            table: its document.
            name: default id.
        """
        errors_before = self._errors.count
        whole, numbering = self._region(table)
        minus = self._minus(table, whole, numbering)
        region = whole - minus
        flips = self._puzzle.flips if table.flips is None else table.flips
        errors_before_pieces = self._errors.count
        pieces = self.named(table.pieces, table.key("pieces"))
        given = tuple[Given, ...]()
        count = None
        board = self._board_of(table)
        board_clues = board.clues if board else ()
        clues = tuple(
            replace(clue, cells=clue.cells & region)
            for clue in board_clues
            if not clue.cells.isdisjoint(region)
        )
        if self._errors.count == errors_before_pieces:
            clues += self.clues(table.clue, numbering, region, pieces)
            given = self._given(table, flips, region, numbering, pieces, clues)
            count = self._count(table, len(pieces), len(given))
        challenge = Challenge(
            table.id or name,
            region,
            pieces,
            given,
            flips,
            table.answer,
            table.title,
            count,
            clues,
            self._open_count(table, board.rest_open(minus) if board else 0, region, count),
            minus,
            table.blocked,
        )
        entry = self._with_result(table, challenge, numbering)
        is_sound = self._errors.count == errors_before and not self._proved
        if entry.solution and is_sound and (error := solution_error(entry, self._puzzle)):
            message = f"{error}; correct it, or leave it out"
            self._errors.add(f"{table.key('result')}.solution", message)
        return entry

    def _minus(
        self, table: ChallengeFile, whole: frozenset[Cell], numbering: CellNumbering
    ) -> frozenset[Cell]:
        """Return the cells that are taken out of the region; none after an error."""
        key = table.key("minus")
        if table.minus is None:
            if table.blocked:
                self._errors.add(table.key("blocked"), "needs the cells to block; add minus")
            return frozenset()
        if table.frame is not None:  # drawn without them
            minus = self._cells("frame", table.minus, key)
            if table.blocked and minus:
                self._refuse_unlike_places(key, minus, numbering)
            return minus
        minus = self._regions.read("cells", table.minus, key, numbering)
        if message := numbering.outside(minus, whole):
            self._errors.add(key, message)
        elif whole and minus == whole:
            self._errors.add(key, "names all cells of the board; leave some to cover")
        elif table.blocked and minus:
            self._refuse_unlike_places(key, minus, numbering)
        return minus

    def _refuse_unlike_places(
        self, key: str, minus: frozenset[Cell], numbering: CellNumbering
    ) -> None:
        """Record an error if the blockers of the set, which are all equal, do not cover some cells."""
        places = self._lattice.places(minus)
        of_set = [blocker.forms[0].cells for blocker in blockers(self._puzzle, "")]
        blocker = of_set[0] if of_set else places[0]
        unlike = place_unlike_blocker(self._lattice, blocker, places)
        if unlike is not None:
            message = unlike_blocker(list(numbering.place(unlike)))
            self._errors.add(key, message)

    def _open_count(
        self,
        table: ChallengeFile,
        default: int,
        region: frozenset[Cell],
        pieces_count: int | None,
    ) -> int:
        """Return the number of cells that stay open."""
        if table.open is None:
            return default
        key = table.key("open")
        if table.open < 0 or (region and table.open >= len(region)):
            limit = f" to {len(region) - 1}, as the region has {pluralize(len(region), 'cell')}"
            expected = f"expected 0{limit if region else ' or more'}"
            self._errors.add(key, f"is {quote(table.open)}; {expected}")
        elif table.open and pieces_count is not None:
            self._errors.add(key, "leaves cells open, but pieces_count fills the region; omit one")
        return table.open

    def clues(
        self,
        tables: Sequence[ClueTable],
        numbering: CellNumbering,
        region: frozenset[Cell],
        pieces: Sequence[str],
    ) -> tuple[Clue, ...]:
        """Return the sound clues of a challenge or board.

        Args:
            region: the cells to cover.
            pieces: ids of the pieces that are used.
        """
        errors = self._errors
        clues = []
        for table in tables:
            key = exactly_one(errors, table, ("cells", "frame"), required=True)
            cells = (
                self._cells(key, getattr(table, key), table.key(key), numbering) if key else None
            )
            stated = [name for name in CLUE_KEYS if getattr(table, name)]
            if key and not stated:
                errors.add(table.place, f"states nothing about its cells; add {join_or(CLUE_KEYS)}")
            if cells and (message := numbering.outside(cells, region)):
                errors.add(table.key(key), message)
            if table.piece and table.piece not in pieces:
                message = f"{quote(table.piece)} is not among the pieces to use; choose from "
                message += join_names(pieces) + did_you_mean(table.piece, pieces)
                errors.add(table.key("piece"), message)
            marks = [*self._puzzle.marks, PLAIN]
            if table.mark and len(marks) == 1:
                need = 'the set has no marks; add marks = {o = "hole"} to [set]'
                errors.add(table.key("mark"), f"is {quote(table.mark)}, but {need}")
            elif table.mark and table.mark not in marks:
                errors.add(table.key("mark"), no_such("mark", table.mark, marks))
            colour = self._colour(table, pieces) if table.colour else ""
            if cells:
                clues.append(Clue(cells, table.piece, table.mark, colour))
        return tuple(clues)

    def _colour(self, table: ClueTable, pieces: Sequence[str]) -> str:
        """Return the colour of a clue, which may be named by a piece."""
        colours = {piece: self._pieces[piece].colour for piece in pieces if piece in self._pieces}
        colour = colours.get(table.colour, table.colour.lower())
        if colour not in colours.values():
            by_colour = [f"{piece} ({colour})" for piece, colour in colours.items()]
            message = f"is {quote(table.colour)}, but no piece has that colour; choose from "
            message += join_names(by_colour) + did_you_mean(table.colour, list(colours))
            self._errors.add(table.key("colour"), message)
        return colour

    def _with_result(
        self, table: ChallengeFile, challenge: Challenge, numbering: CellNumbering
    ) -> Entry:
        """Return the entry of a challenge: its kind, its origin and its result."""
        stated = table.result or ResultTable.model_construct()
        if table.parity == "mixed" and self._puzzle.made_of_balls:
            message = 'is "mixed", of pieces half a unit apart, but balls lie on one lattice'
            self._errors.add(table.key("parity"), f'{message}; expected "even" or "odd"')
        solution = self._solution(table, stated.solution, numbering)
        if solution and stated.status not in ("", "solved"):
            message = f'is "{stated.status}", but there is a solution; expected "solved"'
            self._errors.add(f"{table.key('result')}.status", message)
        status = "solved" if solution else stated.status or "unknown"
        score = stated.difficulty.score if stated.difficulty else None
        return Entry(
            challenge,
            "snowflake" if table.parity else self._puzzle.kind_of(challenge),
            parity=table.parity,
            halves=2 if table.parity == "mixed" else 1,
            of=table.of,
            level=stated.level if score is None else level_of(challenge, score),
            score=score,
            result=Result(status, solution, stated.count, stated.count_complete),
        )

    def _solution(
        self, table: ChallengeFile, solution: Any, numbering: CellNumbering
    ) -> dict[str, frozenset[Cell]] | None:
        """Return the cells of each piece in a result; None without a solution or after an error."""
        key = f"{table.key('result')}.solution"
        if solution is None:
            return None
        if not isinstance(solution, dict):
            self._errors.add(key, f"expected the cells of each piece, found {quote(solution)}")
            return None
        unknown = [piece_id for piece_id in solution if piece_id not in self._pieces]
        if unknown:
            names = join_names(list(self._pieces))
            message = f"there is no piece {quote(unknown[0])}; the pieces are {names}"
            self._errors.add(key, message)
            return None
        drawn_as = "outline" if self._lattice.writes_outlines else "cells"
        drawn_as = "frame" if table.frame is not None else drawn_as
        return {
            piece_id: self._cells(drawn_as, cells, f"{key}.{piece_id}", numbering)
            for piece_id, cells in solution.items()
        }

    def _cells(
        self, key: str, drawing: Any, where: str, numbering: CellNumbering | None = None
    ) -> frozenset[Cell]:
        """Return the cells of a drawing; those of a shipped catalog are known to be on the lattice."""
        if key == "frame" and self._proved:
            cells: frozenset[Any] = frozenset(map(tuple, drawing))
            return cells
        return self._regions.read(key, drawing, where, numbering)

    def _region(self, table: ChallengeFile) -> tuple[frozenset[Cell], CellNumbering]:
        """Return the cells to cover and their numbering; none after an error.

        Rows and columns begin at the top left of the board or outline.
        """
        errors = self._errors
        errors_before = errors.count
        key = exactly_one(errors, table, _REGION_KEYS, required=False)
        if errors.count > errors_before:
            return frozenset(), CellNumbering(self._lattice)
        where = table.key(key)
        if key == "outline":
            region = self._regions.read(key, table.outline, where)
            lack = "the region is drawn by its outline"
            return region, CellNumbering(self._lattice, region, lack)
        if key == "rows":
            region = self._regions.read(key, table.rows, where, piece=True)
            return region, CellNumbering(self._lattice, region)
        if key == "frame":
            region = self._cells(key, table.frame, where)
            lack = "the region is drawn by cells of the frame"
            return region, CellNumbering(self._lattice, region, lack)
        numbering = self.board(table.board, where) if key == "board" else self._default()
        if key == "cells":
            return self._regions.read(key, table.cells, where, numbering), numbering
        if not key and numbering.lack:
            keys = (
                "board, outline, rows or cells" if self._puzzle.boards else "outline, rows or cells"
            )
            errors.add(table.place, f"has no region, and {numbering.lack}; add {keys}")
        return numbering.cells, numbering

    def _board_of(self, table: ChallengeFile) -> Board | None:
        """Return the board that a challenge fills; None when it draws its region."""
        if isinstance(table.board, str):
            return self._boards.get(table.board)
        is_drawn = any(key in table.model_fields_set for key in _REGION_KEYS)
        return None if is_drawn else default_board(self._puzzle.boards)

    def _default(self) -> CellNumbering:
        board = default_board(self._puzzle.boards)
        if board is None:
            lack = "no board is named" if self._puzzle.boards else "the set has no board"
            return CellNumbering(self._lattice, lack=lack)
        return self.numbering(board)

    def numbering(self, board: Board) -> CellNumbering:
        """Return the numbers and names of a board's cells."""
        return CellNumbering(self._lattice, board.cells, labels=board.labels)

    def board(self, wanted: Any, key: str) -> CellNumbering:
        """Return the numbers and names of the cells of a board by its id; empty after an error."""
        if isinstance(wanted, str) and wanted in self._boards:
            return self.numbering(self._boards[wanted])
        if not self._puzzle.boards:
            self._errors.add(key, f"{quote(wanted)} is not a board; the set has none")
        else:
            try:
                choice(*self._boards).read(wanted)
            except ValueError as error:
                self._errors.add(key, str(error))
        return CellNumbering(self._lattice)

    def named(self, wanted: Any, key: str) -> tuple[str, ...]:
        """Return the piece ids of a key: a list, or a string when every id is a single character."""
        known = self._pieces
        errors = self._errors
        if wanted is None:
            return tuple(known)
        if not isinstance(wanted, str | list):
            errors.add(key, f"expected a string or a list of piece ids, found {quote(wanted)}")
            return ()
        ids = [piece_id for piece_id in wanted if isinstance(piece_id, str)]
        if len(ids) < len(wanted) or not ids:
            errors.add(key, f"expected one or more piece ids, found {quote(wanted)}")
        elif isinstance(wanted, str) and wanted in known and len(wanted) > 1:
            letters = ", ".join(wanted)
            message = f'{quote(wanted)} is read as the pieces {letters}; write a list: ["{wanted}"]'
            errors.add(key, message)
        else:
            for piece_id, count in Counter(ids).items():
                if piece_id not in known:
                    names = join_names(list(known))
                    errors.add(key, f"there is no piece {quote(piece_id)}; the pieces are {names}")
                elif count > 1:
                    message = f"piece {quote(piece_id)} is listed {count} times; there is only one"
                    errors.add(key, message)
        return tuple(ids)

    def _count(self, table: ChallengeFile, named: int, given: int) -> int | None:
        """Return how many of the pieces fill the region; None when all do."""
        count = table.pieces_count
        key = table.key("pieces_count")
        if count is not None and not 1 <= count <= named:
            expected = f"expected 1 to {named}, as {pluralize(named, 'piece')} may be used"
            self._errors.add(key, f"is {quote(count)}; {expected}")
        elif count is not None and count < given:
            self._errors.add(key, f"is {count}, but {pluralize(given, 'piece')} are given")
        return None if count == named else count

    def _given(
        self,
        table: ChallengeFile,
        flips: bool,
        region: frozenset[Cell],
        numbering: CellNumbering,
        pieces: tuple[str, ...],
        clues: tuple[Clue, ...],
    ) -> tuple[Given, ...]:
        """Return the given pieces: allowed images inside the region that do not overlap."""
        errors = self._errors
        lattice = self._lattice
        if len(table.given) > len(self._pieces):
            limit = f"at most {len(self._pieces)} are allowed"
            errors.add(table.key("given"), f"has {len(table.given)} items; {limit}")
            return ()
        given: dict[str, Given] = {}
        covered: set[Cell] = set()
        for row in table.given:
            key = exactly_one(errors, row, ("cells", "outline", "frame"), required=True)
            where = row.key(key)
            drawing = getattr(row, key) if key else None
            cells = self._cells(key, drawing, where, numbering) if key else frozenset()
            if not cells:
                continue
            name = quote(row.piece)
            piece = self._pieces.get(row.piece)
            if row.piece not in pieces or piece is None:
                errors.add(row.key("piece"), f"{name} is not among the challenge's pieces")
            elif row.piece in given:
                errors.add(row.key("piece"), f"{name} is given twice")
            elif not self._proved and piece.forms and not is_image(lattice, piece, cells, flips):
                message = f"is not the shape of {name} under the allowed moves ({MOVES[flips]})"
                errors.add(where, message)
            elif message := numbering.outside(cells, region):
                errors.add(where, message)
            elif cells & covered:
                errors.add(where, "overlaps another given piece")
            elif clues and not ClueFilter(lattice, piece, clues, flips).allows(cells):
                errors.add(where, "contradicts a clue; move the piece, or change the clue")
            else:
                given[row.piece] = Given(row.piece, cells)
                covered |= cells
        return tuple(given.values())


def read_challenges(path: Path, puzzle: PuzzleSet) -> list[Entry]:
    """Read a challenge file, a list of challenges, or a catalog; all are TOML or JSON.

    The suffix decides between TOML and JSON; with another suffix it is JSON if it begins with a brace.
    A challenge file without an ``id`` is named after the file.

    Raises:
        InputError: with every error in the file, or when it is that of another set.
    """
    name = escape(str(path))
    content = read_text(path, name, "a challenge file")
    if not content.strip():
        raise InputError.of(name, "is empty; expected a challenge, as TOML or JSON")
    suffix = path.suffix.lower()
    is_json = suffix == ".json" or (suffix != ".toml" and content.lstrip().startswith("{"))
    with located(content, name):
        document = parse_json(content, name) if is_json else parse_toml(content, name)
        if document.keys() & {"challenge", "challenges"}:
            return read_list(document, puzzle, name)
        errors = ErrorList(name)
        table = read_document(ChallengeFile, document, errors)
        entries = [_reader(puzzle, errors).read(table, _safe_id(path.stem))] if table else []
        errors.raise_if_any()
    return entries


def read_list(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> list[Entry]:
    """Read the challenges of a list or catalog.

    Args:
        source: the file's name, for messages.

    Raises:
        InputError: with all errors found, or when it is of another set or of an older form.
    """
    check_schema(document, source)
    if document.get("set", puzzle.name) != puzzle.name:
        message = f"contains challenges of {quote(document['set'])}, not of {quote(puzzle.name)}"
        raise InputError.of(source, message)
    _refuse_older_form(document, puzzle, source)
    return _read_entries(document, puzzle, source)


def read_shipped(records: Sequence[Any], puzzle: PuzzleSet, source: str) -> list[Entry]:
    """Read records of a shipped catalog, whose solutions tests have checked."""
    return _read_entries({"challenges": records}, puzzle, source, proved=True)


def _reader(puzzle: PuzzleSet, errors: ErrorList, proved: bool = False) -> ChallengeReader:
    return ChallengeReader(puzzle, RegionReader(puzzle.lattice, errors), proved)


def _read_entries(
    document: Mapping[str, Any], puzzle: PuzzleSet, source: str, proved: bool = False
) -> list[Entry]:
    errors = ErrorList(source)
    file = read_document(
        ListFile, {key: document[key] for key in document if key != "schema"}, errors
    )
    entries = list[Entry]()
    if file:
        exactly_one(errors, file, ("challenge", "challenges"), required=True)
        reader = _reader(puzzle, errors, proved)
        ids = set[str]()
        for table in file.challenge or file.challenges:
            entries.append(reader.read(table))
            if table.id in ids:
                errors.add(table.key("id"), f"{quote(table.id)} is listed twice")
            ids.add(table.id)
    errors.raise_if_any()
    return entries


def _refuse_older_form(document: Mapping[str, Any], puzzle: PuzzleSet, source: str) -> None:
    """Refuse a list or catalog whose results are not in a table of their own.

    Raises:
        InputError: with the command that makes it again.
    """
    older_keys = {"outlines", "solution"}
    records = document.get("challenges")
    records = records if isinstance(records, list) else []
    if any(isinstance(record, dict) and record.keys() & older_keys for record in records):
        made = document.get("made")
        command = made.get("command") if isinstance(made, dict) else None
        command = command or f"fabkit challenges {puzzle.name}"
        raise InputError.of(source, f"is of an older fabkit; make it again with `{command}`")


def _safe_id(stem: str) -> str:
    """Convert a file name to an id: unsafe characters become dashes."""
    safe = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-_")[:_LONGEST_ID] or "challenge"
    try:
        return read_identifier(safe)
    except ValueError:
        return f"challenge-{safe}"


#: Writes cells: the key, such as ``outline``, and its value.
Describe = Callable[[frozenset[Cell]], tuple[str, Any]]


def frame_cells(cells: frozenset[Cell]) -> tuple[str, list[list[int]]]:
    """Describe cells as whole numbers of the lattice's frame, as in catalogs.

    Example:
        >>> frame_cells(frozenset({(3, 1), (1, 3)}))
        ('frame', [[1, 3], [3, 1]])
    """
    return "frame", sorted([x, y] for x, y in cells)


def challenge_record(
    puzzle: PuzzleSet, challenge: Challenge, describe: Describe = frame_cells
) -> dict[str, Any]:
    """Return the document of a challenge, for TOML or JSON; `read_challenges` reads it.

    Args:
        describe: writes the cells of region and given pieces.
    """
    whole = challenge.board_cells
    board = next((board for board in puzzle.boards if board.cells == whole), None)
    on_board = board is not None and describe is not frame_cells
    region = ("board", board.id) if board and on_board else describe(challenge.region)
    record: dict[str, Any] = {"id": challenge.id}
    if challenge.title:
        record["title"] = challenge.title
    record |= dict([region])
    record["pieces"] = list(challenge.pieces)
    if challenge.pieces_count is not None:
        record["pieces_count"] = challenge.pieces_count
    if challenge.flips != puzzle.flips:
        record["flips"] = challenge.flips
    if challenge.minus and (on_board or describe is frame_cells):
        record["minus"] = _cell_references(puzzle, board, challenge.minus, describe)[1]
        record |= {"blocked": True} if challenge.blocked else {}
    if challenge.open_count != (board.rest_open(challenge.minus) if board and on_board else 0):
        record["open"] = challenge.open_count
    board_clues = board.clues if board and on_board else ()
    # A colour is named by its first piece.
    of_colour = {piece.colour: piece.id for piece in reversed(puzzle.pieces)}
    if clues := [clue for clue in challenge.clues if clue not in board_clues]:
        record["clue"] = [
            dict([_cell_references(puzzle, board if on_board else None, clue.cells, describe)])
            | {key: text for key in CLUE_KEYS if (text := getattr(clue, key))}
            | ({"colour": of_colour[clue.colour]} if clue.colour else {})
            for clue in clues
        ]
    if challenge.answer:
        record["answer"] = challenge.answer
    if challenge.given:
        record["given"] = [
            dict([("piece", given.piece), describe(given.cells)]) for given in challenge.given
        ]
    return record


def _cell_references(
    puzzle: PuzzleSet, board: Board | None, cells: frozenset[Cell], describe: Describe
) -> tuple[str, Any]:
    """Return key and value of some cells on a board; where they would be an outline, as rows, columns and
    indices, since clues and open cells are named one by one."""
    key, value = describe(cells)
    if key != "outline":
        return key, value
    first_row, first_col = CellNumbering(
        puzzle.lattice, board.cells if board else frozenset()
    ).origin
    addresses = sorted(map(puzzle.lattice.address, cells))
    return "cells", [[row - first_row, col - first_col, index] for row, col, index in addresses]


def solution_record(
    solution: Mapping[str, frozenset[Cell]], describe: Describe = frame_cells
) -> dict[str, Any]:
    """Return the cells of each piece, as in a challenge's result."""
    return {piece_id: describe(cells)[1] for piece_id, cells in solution.items()}
