"""A puzzle set: pieces on a lattice, boards to fill, challenges to solve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Protocol, TypeVar

from fabkit.core.errors import InputError, nearest, quote
from fabkit.core.hashes import json_sha256
from fabkit.model.lattice import Cell, Lattice, Point, Ring
from fabkit.model.piece import Form, Piece
from fabkit.model.polygon import rings_of_cells

#: What moves are called that do not, or do, turn pieces over.
MOVES = ("rotations", "rotations and flips")
#: Between the prefix and the choices in the name of a family's member.
JOIN = "-"
#: What may have to cover the cells of a clue.
CLUE_KEYS = ("piece", "mark", "colour")


@dataclass(frozen=True)
class Clue:
    """Some cells, and what must cover each of them; what is empty may be anything.

    Attributes:
        piece: id of the piece that covers all of them.
        mark: the mark that the covering piece has there, such as ``o``; `fabkit.model.piece.PLAIN`
            for none.
        colour: the colour of the covering piece, as ``#rrggbb``.
    """

    cells: frozenset[Cell]
    piece: str = ""
    mark: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Label:
    """A text on a board, and the cells of the place that it names: a square has four quarters."""

    text: str
    cells: frozenset[Cell]


#: Appended to a board's id to form its lid's.
LID_SUFFIX = "-lid"


@dataclass(frozen=True)
class Board:
    """A region that can be printed as an object; an optional one only on request.

    Attributes:
        labels: texts on its cells, in reading order.
        clues: what must cover some of its cells in every challenge.
        open_count: number of cells that stay open when all pieces are on it.
    """

    id: str
    cells: frozenset[Cell]
    optional: bool = False
    labels: tuple[Label, ...] = ()
    clues: tuple[Clue, ...] = ()
    open_count: int = 0

    def rest_open(self, minus: frozenset[Cell]) -> int:
        """Return how many cells stay open besides those that a challenge names."""
        return max(self.open_count - len(minus), 0)

    def clues_in(self, region: frozenset[Cell]) -> tuple[Clue, ...]:
        """Return its clues on the cells of a region."""
        clues = (replace(clue, cells=clue.cells & region) for clue in self.clues)
        return tuple(clue for clue in clues if clue.cells)

    def other_clues(self, clues: Iterable[Clue]) -> list[Clue]:
        """Return clues without the cells of which the board demands the same in every challenge."""
        others = []
        for clue in clues:
            demanded = (own.cells for own in self.clues if replace(own, cells=clue.cells) == clue)
            if cells := clue.cells.difference(*demanded):
                others.append(replace(clue, cells=cells))
        return others


@dataclass(frozen=True)
class Given:
    """A piece that a challenge has already placed, and its cells."""

    piece: str
    cells: frozenset[Cell]


@dataclass(frozen=True)
class Challenge:
    """A region to be covered by some of the pieces.

    Attributes:
        region: the cells to cover, and those of which `open_count` stay open.
        pieces: ids of the pieces to use, each at most once.
        flips: whether pieces may be turned over.
        answer: the known answer: ``solved``, ``impossible``, or empty when unknown.
        title: display name; empty when it has only its id.
        pieces_count: number of pieces that cover the region exactly, any of them, while the
            others stay in the box; None when all are used.
        clues: what must cover some of the cells.
        open_count: number of cells of the region that stay open.
        minus: cells of the board that are not in the region, since they stay open.
        blocked: whether blockers are on them.
    """

    id: str
    region: frozenset[Cell]
    pieces: tuple[str, ...]
    given: tuple[Given, ...] = ()
    flips: bool = False
    answer: str = ""
    title: str = ""
    pieces_count: int | None = None
    clues: tuple[Clue, ...] = ()
    open_count: int = 0
    minus: frozenset[Cell] = frozenset()
    blocked: bool = False

    @property
    def pieces_used(self) -> int:
        """The number of pieces that cover the region, given ones among them."""
        return self.pieces_count or len(self.pieces)

    @property
    def told_cells(self) -> frozenset[Cell]:
        """The cells of all clues."""
        return frozenset[Cell]().union(*(clue.cells for clue in self.clues))

    @property
    def board_cells(self) -> frozenset[Cell]:
        """The region with the cells that are open by name: all cells of the board it is on."""
        return self.region | self.minus

    @property
    def name(self) -> str:
        """The display name: the title, or else the id."""
        return self.title or self.id


@dataclass(frozen=True)
class Family:
    """Challenges on one board that differ in the cells that stay open: one of each group.

    Members are made when they are asked for.

    Attributes:
        groups: the choices of each group; a die may name a cell on several faces.
        pieces: ids of the pieces that each member uses.
        prefix: what the names of members begin with; may be empty.
        blocked: whether blockers are on the chosen cells.
        without: names of choices that do not go together, such as ``feb`` and ``30``.
    """

    id: str
    title: str
    board: Board
    groups: tuple[tuple[Label, ...], ...]
    pieces: tuple[str, ...]
    flips: bool
    prefix: str = ""
    blocked: bool = False
    without: tuple[frozenset[str], ...] = ()

    def __len__(self) -> int:
        return sum(1 for _ in self.choices())

    def choices(self) -> Iterator[tuple[Label, ...]]:
        """Yield the distinct choices of one label of each group, on different cells, in order."""
        for chosen in product(*map(dict.fromkeys, self.groups)):
            names = {label.text for label in chosen}
            cells = frozenset[Cell]().union(*(label.cells for label in chosen))
            is_free = len(cells) == sum(len(label.cells) for label in chosen)
            if is_free and not any(excluded <= names for excluded in self.without):
                yield chosen

    def name(self, chosen: Iterable[Label]) -> str:
        """Return the name of the member with these choices, such as ``jan-25``."""
        prefix = [self.prefix] if self.prefix else []
        return JOIN.join([*prefix, *(label.text for label in chosen)])

    def member(self, chosen: Sequence[Label]) -> Challenge:
        """Return the challenge with these choices."""
        minus = frozenset[Cell]().union(*(label.cells for label in chosen))
        region = self.board.cells - minus
        return Challenge(
            self.name(chosen),
            region,
            self.pieces,
            flips=self.flips,
            title=" ".join(label.text for label in chosen) if self.prefix == "" else "",
            clues=self.board.clues_in(region),
            open_count=self.board.rest_open(minus),
            minus=minus,
            blocked=self.blocked,
        )

    def find(self, name: str) -> Challenge | None:
        """Return the member of this name, ignoring case; None when there is none."""
        exact = [
            [label for label in group if label.text.lower() == text]
            for group, text in self._named(name)
        ]
        return self._first(exact)

    def shared_name(self, other: Family) -> str:
        """Return the name of a member of another family, too, ignoring case; empty without one.

        No member is made unless the families have choices of equal names in all places.
        """
        own_parts, other_parts = self._parts(), other._parts()
        shared = [own & theirs for own, theirs in zip(own_parts, other_parts, strict=False)]
        if len(own_parts) != len(other_parts) or not all(shared):
            return ""
        groups = [
            tuple(label for label in group if label.text.lower() in texts)
            for group, texts in zip(self.groups, shared[-len(self.groups) :], strict=True)
        ]
        names = map(self.name, replace(self, groups=tuple(groups)).choices())
        return next((name for name in names if other.find(name)), "")

    def _parts(self) -> list[set[str]]:
        """Return what each part of the names of members may be, in lower case."""
        parts = [{text} for text in self.prefix.lower().split(JOIN)] if self.prefix else []
        return parts + [{label.text.lower() for label in group} for group in self.groups]

    def nearest(self, name: str) -> str:
        """Return the name of the member that was probably meant; empty when none is similar."""
        likely = []
        for group, text in self._named(name):
            labels = [label for label in group if label.text.isdecimal()]
            if text.isdecimal():
                labels.sort(key=lambda label: abs(int(label.text) - int(text[:9])))
            else:
                near = nearest(text, [label.text.lower() for label in group])
                labels = [label for label in group if label.text.lower() == near]
            likely.append(labels)
        member = self._first(likely)
        return member.id if member else ""

    def _named(self, name: str) -> list[tuple[tuple[Label, ...], str]]:
        """Return each group with the text that a name has for it; none when it has other parts."""
        prefix = f"{self.prefix}{JOIN}".lower() if self.prefix else ""
        texts = name.lower().removeprefix(prefix).split(JOIN)
        fits = name.lower().startswith(prefix) and len(texts) == len(self.groups)
        return list(zip(self.groups, texts, strict=True)) if fits else []

    def _first(self, groups: Sequence[Sequence[Label]]) -> Challenge | None:
        """Return the first member with a choice of each group; None when there is none."""
        choices = replace(self, groups=tuple(map(tuple, groups))).choices()
        return next(map(self.member, choices), None) if groups else None


@dataclass(frozen=True)
class Result:
    """What solving a challenge has found.

    Attributes:
        status: ``solved``, ``impossible`` or ``unknown``.
        solution: cells of each piece, including given ones; None when none exists or is known.
        count: number of known solutions; None when not counted.
        count_complete: whether there are no more.
    """

    status: str = "unknown"
    solution: Mapping[str, frozenset[Cell]] | None = None
    count: int | None = None
    count_complete: bool = False


@dataclass(frozen=True)
class Entry:
    """A challenge and what is known about it.

    Attributes:
        kind: one of `fabkit.model.entry.KINDS`.
        parity: of a snowflake, where its centre is: ``even`` at a corner of the grid, ``odd`` in
            the middle of a square, ``mixed`` for pieces on two lattices; empty for anything else.
        halves: subdivision of the grid unit: 1; or 2 where pieces are on two lattices half a unit
            apart. Then the cells of challenge and solution are those of the same lattice with units
            half as long, four of them in each cell of a piece.
        of: the id of the challenge that a starting position belongs to; empty for one on a board.
        level: difficulty, such as ``junior``; empty when unknown.
        score: difficulty as a number; None when unknown.
    """

    challenge: Challenge
    kind: str
    parity: str = ""
    halves: int = 1
    of: str = ""
    level: str = ""
    score: float | None = None
    result: Result = Result()

    @property
    def solution(self) -> Mapping[str, frozenset[Cell]]:
        """The cells of each piece; empty when no solution is known."""
        return self.result.solution or {}

    def with_result(self, **changes: Any) -> Entry:
        """Return the entry with changed attributes of its `Result`."""
        return replace(self, result=replace(self.result, **changes))


@dataclass(frozen=True)
class PuzzleSet:
    """The contents of a set file; pieces, boards and challenges in its order.

    Attributes:
        name: short name, safe as a file name.
        title: display name.
        flips: whether pieces may be turned over.
        source: the file it was read from, for messages.
        digest: SHA-256 of that file.
        profile_values: the set's own defaults of the print profile, by attributes of `Profile`.
        marks: the looks of the marks of pieces, by letter: ``hole``, ``cross``, ``dot`` or a
            colour.
        families: challenges that are made when they are asked for.
        entries: those of the challenges whose results the set file states.
        group: heading in the list of shipped sets.
        credit: where the shapes come from.
        licence: terms of use.
        notes: warnings about the set file.
    """

    name: str
    title: str
    lattice: Lattice
    flips: bool
    pieces: tuple[Piece, ...] = ()
    boards: tuple[Board, ...] = ()
    challenges: tuple[Challenge, ...] = ()
    source: str = ""
    digest: str = ""
    profile_values: Mapping[str, Any] = field(default_factory=dict, compare=False)
    marks: Mapping[str, str] = field(default_factory=dict)
    families: tuple[Family, ...] = ()
    group: str = ""
    credit: str = "none"
    licence: str = "not stated"
    entries: tuple[Entry, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def piece(self, piece_id: str) -> Piece:
        """Return the piece with this id; raise InputError when there is none."""
        return self.select([piece_id])[0]

    def select(self, piece_ids: Sequence[str]) -> tuple[Piece, ...]:
        """Return the named pieces in the set's order; see `select_by_id`."""
        return select_by_id(self.pieces, piece_ids, self.name)

    def whole_board(self, board: Board) -> Challenge:
        """Return the challenge to fill a board with all pieces, named after it."""
        pieces = tuple(piece.id for piece in self.pieces)
        return Challenge(
            board.id,
            board.cells,
            pieces,
            flips=self.flips,
            clues=board.clues,
            open_count=board.open_count,
        )

    def cells_to_spare(self, challenge: Challenge) -> int | None:
        """Return how many cells a challenge's pieces leave open; None if how they lie decides."""
        forms = [piece.forms for piece in self.select(challenge.pieces)]
        sizes = [{len(form.cells) for form in piece_forms} for piece_forms in forms]
        if challenge.pieces_count is not None or any(len(kinds) > 1 for kinds in sizes):
            return None
        return max(len(challenge.region) - sum(map(min, sizes)), 0)

    def find_member(self, name: str) -> Challenge | None:
        """Return the member of a family with this name, ignoring case; None when there is none."""
        members = (family.find(name) for family in self.families)
        return next((member for member in members if member is not None), None)

    def clues_besides_board(self, clues: Iterable[Clue]) -> list[Clue]:
        """Return clues without those of the set's boards; see `Board.other_clues`."""
        remaining = list(clues)
        for board in self.boards:
            remaining = board.other_clues(remaining)
        return remaining

    def boards_to_make(self, which: str) -> list[Board]:
        """Return the boards to make: ``all``, ``none``, or ``set``: not optional ones."""
        if which == "none":
            return []
        return [board for board in self.boards if which == "all" or not board.optional]

    def board_with(self, challenge: Challenge) -> Board | None:
        """Return the board with a challenge's cells; of several, one with its clues, and texts."""
        boards = [board for board in self.boards if board.cells == challenge.board_cells]
        clues = set(challenge.clues)
        fitting = [board for board in boards if clues.issuperset(board.clues)]
        return max(fitting or boards, key=lambda board: bool(board.labels), default=None)

    def kind_of(self, challenge: Challenge) -> str:
        """Return ``start`` for given pieces, or clues besides those of the board; ``board`` for
        all pieces on one; else ``challenge``."""
        if challenge.given or self.clues_besides_board(challenge.clues):
            return "start"
        uses_all = len(challenge.pieces) == len(self.pieces)
        fills_board = any(board.cells == challenge.region for board in self.boards)
        return "board" if uses_all and fills_board else "challenge"

    @property
    def made_of_balls(self) -> bool:
        """Whether the pieces are balls in space rather than flat prisms."""
        return any(piece.body for piece in self.pieces)

    @property
    def attribution(self) -> dict[str, str]:
        """``credit`` and ``licence``, if the set file states them."""
        # Defaults are omitted: they would not be translated.
        stated = {"credit": self.credit, "licence": self.licence}
        return {key: text for key, text in stated.items() if text != getattr(PuzzleSet, key)}

    @property
    def pieces_sha256(self) -> str:
        """SHA-256 of what solvers depend on: lattice, ids and forms of the pieces, in order.

        Results are valid wherever this is equal, whatever colours, boards, titles and lengths the
        set file defines.
        """
        forms = [[piece.id, *(sorted(form.cells) for form in piece.forms)] for piece in self.pieces]
        marks = [
            [piece.id, piece.marks, piece.back]
            for piece in self.pieces
            if piece.marks or piece.back
        ]
        return json_sha256([self.lattice.name, *forms, *marks])

    @property
    def area(self) -> float:
        """The pieces' area in unit squares, or in cells where these are no squares."""
        return self.area_of(self.pieces)

    def area_of(self, pieces: Iterable[Piece]) -> float:
        """Return the area of some pieces; a ball piece counts with its first form."""
        return sum(area(self.lattice, piece.forms[0]) for piece in pieces)


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


_Part = TypeVar("_Part", bound=_HasId)


def select_by_id(
    parts: Iterable[_Part], ids: Sequence[str], set_name: str, hint: str = ""
) -> tuple[_Part, ...]:
    """Return the parts of a set with the given ids, in the set's order; all when none is given.

    Raises:
        InputError: naming every unknown id; `hint` ends the message.
    """
    by_id = {part.id: part for part in parts}
    unknown = [quote(part_id) for part_id in dict.fromkeys(ids) if part_id not in by_id]
    if unknown:
        message = f"has no piece {' and no '.join(unknown)}; choose from {', '.join(by_id)}{hint}"
        raise InputError.of(set_name, message)
    return tuple(part for part in by_id.values() if part.id in ids or not ids)


def default_board(boards: Sequence[Board]) -> Board | None:
    """Return the first board that is not optional, if there is one."""
    return next((board for board in boards if not board.optional), None)


def area(lattice: Lattice, form: Form) -> float:
    """Return a form's area in unit squares, or in cells where these are no squares."""
    return len(form.cells) / lattice.cells_per_unit


def to_units(lattice: Lattice, points: Iterable[Point]) -> list[tuple[float, float]]:
    """Convert frame points, exact integers, to grid units.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> to_units(LATTICES["quarter-square"], [(6, 3)])
        [(1.0, 0.5)]
    """
    sx, sy = (math.sqrt(squared) for squared in lattice.step_squared)
    return [(x * sx, y * sy) for x, y in points]


def rings_to_units(lattice: Lattice, rings: Iterable[Ring]) -> list[list[tuple[float, float]]]:
    """Convert an outline's rings to grid units."""
    return [to_units(lattice, ring) for ring in rings]


def problem_document(puzzle: PuzzleSet, challenge: Challenge) -> dict[str, Any]:
    """Return a challenge with the outlines of its pieces, ready for JSON.

    All corners are integer frame points of the lattice (see `fabkit.model.lattice`), outlines
    are lists of rings under the even-odd rule.
    """
    lattice = puzzle.lattice
    colours = any(clue.colour for clue in challenge.clues)
    document: dict[str, Any] = {
        "lattice": lattice.name,
        "flips": challenge.flips,
        "region": _plain(rings_of_cells(lattice, challenge.region)),
        "pieces": [
            piece_document(lattice, piece) | ({"colour": piece.colour} if colours else {})
            for piece in puzzle.select(challenge.pieces)
        ],
        "given": [
            {"piece": given.piece, "outline": _plain(rings_of_cells(lattice, given.cells))}
            for given in challenge.given
        ],
    }
    if challenge.pieces_count is not None:
        document["pieces_count"] = challenge.pieces_count
    if challenge.open_count:
        document["open"] = challenge.open_count
    if challenge.clues:
        document["clues"] = [
            {"outline": _plain(rings_of_cells(lattice, clue.cells))}
            | {key: text for key in CLUE_KEYS if (text := getattr(clue, key))}
            for clue in challenge.clues
        ]
    return document


def problem_sha256(puzzle: PuzzleSet, challenge: Challenge) -> str:
    """Return the SHA-256 of a challenge as `problem_document` states it, without its name."""
    return json_sha256(problem_document(puzzle, challenge))


def piece_document(lattice: Lattice, piece: Piece) -> dict[str, Any]:
    """Return a piece ready for JSON: its ``id`` and its ``forms``, each a list of rings.

    Of a piece with marks also ``marks`` and ``back``: the outline of the cells with each mark, in
    front and where it is turned over.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> piece_document(fridgeiq.lattice, fridgeiq.piece("D"))
        {'id': 'D', 'forms': [[[[0, 0], [12, 0], [6, 6]]]]}
    """
    document: dict[str, Any] = {
        "id": piece.id,
        "forms": [_plain(form.rings) for form in piece.forms],
    }
    for key, marks in (("marks", piece.marks), ("back", piece.back)):
        by_mark: dict[str, set[Cell]] = {}
        for cell, mark in marks:
            by_mark.setdefault(mark, set()).add(cell)
        if by_mark:
            document[key] = {
                mark: _plain(rings_of_cells(lattice, cells)) for mark, cells in by_mark.items()
            }
    return document


def _plain(rings: Iterable[Ring]) -> list[list[list[int]]]:
    return [[[x, y] for x, y in ring] for ring in rings]
