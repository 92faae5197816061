"""The data of the play page: pieces, challenges and solutions as exact integers.

The page uses the solver's cells to decide whether a challenge is solved. Everything known about
lattices and pieces is computed here, not in the browser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, NotRequired, TypedDict

from fabkit.core.colours import basic_colour, ink_on
from fabkit.core.errors import escape
from fabkit.core.formats import SCHEMA_VERSION
from fabkit.core.hashes import json_sha256
from fabkit.drawing.marks import mark_places
from fabkit.model.blockers import blockers
from fabkit.model.clues import ClueFilter
from fabkit.model.entry import LEVELS, subdivide
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.orientations import PieceOrientations
from fabkit.model.piece import PLAIN, Form, Piece, looks_at
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import (
    JOIN,
    Board,
    Challenge,
    Clue,
    Entry,
    Family,
    PuzzleSet,
    rings_to_units,
    to_units,
)
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.labels import clearances, place_board_texts, place_label, vertices_and_midpoints
from fabkit.output.numbering import NumberedChallenge, number_challenges
from fabkit.output.pieces import BALL_DIAMETER_IN_PITCHES
from fabkit.output.theme import CAPITAL, DARK, LIGHT, Theme
from fabkit.sets.regions import CellNumbering
from fabkit.solve.difficulty import solving_order

#: The maximum height of a label's capitals, in grid units.
_CAPITAL = 0.32
#: The opacity of a given piece on the board and of a socket, as in ``fabkit.css``.
_GIVEN = 0.55
#: What entries leave out.
_USUAL = {"kind": "start", "status": "solved", "halves": 1}

# `scripts/data_types.py` writes these types for the page's scripts; a note states a list more
# exactly.
#: Points: x, y, x, y.
Flat = Annotated[list[int], "Flat"]
#: A placement: the piece's index in the set, that of its orientation, and the frame vector that
#: moves it.
_Lying = Annotated[list[int], "Lying"]
_SPOT = "x: number, y: number, reach: number"
_BoardText = Annotated[list[Any], "[text: string, x: number, y: number, size: number, cells: Flat]"]


# What an orientation shows: areas in the second colour, cells by mark, and what is drawn there.
# Which one follows ``over`` when it is turned over without mirror images, ``flip`` with them,
# ``left`` and ``right`` by the smallest rotation of the lattice.
class _LookData(TypedDict, total=False):
    tones: list[Flat]
    marks: dict[str, Flat]
    looks: Annotated[list[list[Any]], f"[look: string, {_SPOT}][]"]
    over: int
    flip: int


class _OrientationData(_LookData):
    cells: Flat
    rings: list[Flat]
    label: Annotated[list[float], "[x: number, y: number, size: number]"]
    left: int
    right: int


class _PieceData(TypedDict):
    id: str
    label: str
    colour: str
    hue: str
    tone: str
    ink: str
    markInk: str
    faint: str
    plain: int
    orientations: list[_OrientationData]


# What must cover some places. Each has its centre, the distance from there to its edge, its cells,
# and its row and column on the board, from 1.
class _ClueData(TypedDict):
    spots: Annotated[list[list[Any]], f"[{_SPOT}, cells: Flat, row: number, column: number][]"]
    piece: NotRequired[int]
    colour: NotRequired[str]
    mark: NotRequired[str]
    look: NotRequired[str]


# The ``board`` is that with texts; ``clueCount`` leaves out its clues.
class _RulesData(TypedDict):
    flips: bool
    pieces: list[int]
    cells: Flat
    rings: list[Flat]
    board: NotRequired[int]
    clues: NotRequired[list[_ClueData]]
    clueCount: NotRequired[int]


class _FamilyData(_RulesData):
    id: str
    mark: str
    title: str
    prefix: str
    join: str
    groups: Annotated[list[list[list[Any]]], "[text: string, cells: Flat, blocker?: number[]][][]"]
    without: list[list[str]]
    blocked: bool
    open: int


# How many cells stay open, and which others do; the cells of each blocker, and how it lies, empty
# for one that is not made.
class _OpenData(TypedDict, total=False):
    open: int
    minus: Flat
    blocked: bool
    blocks: list[Flat]
    blockers: list[list[int]]


class _SolvedData(TypedDict, total=False):
    solution: list[_Lying]
    order: list[int]


# Challenges that the page makes have no level, stars or status.
class _EntryDocument(_RulesData, _OpenData, _SolvedData):
    id: str
    mark: str
    kind: str
    status: NotRequired[str]
    level: NotRequired[str]
    stars: NotRequired[int]
    halves: int
    count: int
    given: list[_Lying]


# A kind of cell: lines may be drawn from one corner to the next; the parts are relative to its
# centroid in steps of the finer frame.
class _KindData(TypedDict):
    at: Annotated[list[int], "Point"]
    corners: Flat
    lines: list[bool]
    parts: dict[str, Flat]


class LatticeData(TypedDict):
    """The frame of a lattice, and its kinds of cells."""

    name: str
    step: Annotated[list[float], "Point"]
    basis: Annotated[list[list[int]], "[Point, Point]"]
    turns: int
    kinds: list[_KindData]


class PageDocument(TypedDict):
    """The data of a page, whose entries leave out what `_without_repetition` says; of each board
    its texts, with their centres, sizes and cells."""

    schema: int
    name: str
    title: str
    defaultLanguage: str
    unitMm: float
    ball: float
    lattice: LatticeData
    levels: list[str]
    pieces: list[_PieceData]
    boards: list[list[_BoardText]]
    entries: Annotated[list[dict[str, Any]], "Entry[]"]
    families: list[_FamilyData]
    titles: dict[str, list[str]]
    translations: dict[str, dict[str, str]]


def play_data(
    puzzle: PuzzleSet, entries: Sequence[Entry], unit_mm: float, language: str = ""
) -> PageDocument:
    """Return the data of a set's page, for `data_script`, in frame points of the lattice.

    Challenges have the order and titles of the booklet. The ``order`` of an entry is that in which
    a person would find its pieces. Users' texts are escaped.

    Raises:
        InputError: when the language is not supported.
        ValueError: when given pieces or the solution of an entry are not placements of its pieces.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> data = play_data(load_set("fridgeiq"), [], 20.0)
        >>> {piece["id"]: len(piece["orientations"]) for piece in data["pieces"] if piece["id"] in "BDN"}
        {'D': 4, 'B': 2, 'N': 4}
    """  # noqa: E501
    flips = puzzle.flips or any(entry.challenge.flips for entry in entries)
    pieces = {piece.id: PieceOrientations(puzzle.lattice, piece, flips) for piece in puzzle.pieces}
    blocker = next(
        (PieceOrientations(puzzle.lattice, piece, flips=True) for piece in blockers(puzzle, "")),
        None,
    )
    if language:
        load_messages("page", language)
    numbered = {
        language: number_challenges(puzzle, entries, load_messages("booklet", language))
        for language in LANGUAGES
    }
    titles = {
        language: [escape(challenge.title) for challenge in challenges]
        for language, challenges in numbered.items()
    }
    return {
        "schema": SCHEMA_VERSION,
        "name": puzzle.name,
        "title": escape(puzzle.title),
        "defaultLanguage": language,
        "unitMm": unit_mm,
        "ball": BALL_DIAMETER_IN_PITCHES if puzzle.made_of_balls else 0,
        "lattice": lattice_data(puzzle.lattice, {1, *(entry.halves for entry in entries)}),
        "levels": list(LEVELS),
        "pieces": [_piece_document(puzzle, piece) for piece in pieces.values()],
        "boards": [
            [
                [
                    escape(label.text),
                    *_spot(puzzle, place),
                    round(height / CAPITAL, 3),
                    flat_list(sorted(label.cells)),
                ]
                for label, place, height in place_board_texts(puzzle.lattice, board)
            ]
            for board in puzzle.boards
        ],
        "entries": _without_repetition(
            [_entry(puzzle, challenge, pieces, blocker) for challenge in numbered[LANGUAGES[0]]],
            len(pieces),
        ),
        "families": [_family(puzzle, family, pieces, blocker) for family in puzzle.families],
        "titles": titles,
        "translations": {language: load_messages("page", language) for language in LANGUAGES},
    }


def data_script(data: Mapping[str, Any], variable: str = "FABKIT") -> str:
    r"""Return the data as a script that a page can load from disk: one line of ASCII, in which no
    text can end the script element.

    Example:
        >>> print(data_script({"title": "</script>"}), end="")
        window.FABKIT = {"title":"\u003c/script>"};
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"window.{variable} = " + text.replace("<", r"\u003c") + ";\n"


def lattice_data(lattice: Lattice, halves: Iterable[int]) -> LatticeData:
    """Return a lattice's frame and kinds of cells, divided for the ``halves`` of entries."""

    def parts(x: int, y: int, factor: int) -> list[int]:
        parts_of_cell = sorted(subdivide(lattice, [(x, y)], factor))
        return flat_list((px - factor * x, py - factor * y) for px, py in parts_of_cell)

    return {
        "name": lattice.name,
        "step": [round(step, 9) for step in to_units(lattice, [(1, 1)])[0]],
        "basis": [list(vector) for vector in lattice.basis],
        "turns": len(lattice.moves(False)),
        "kinds": [
            {
                "at": [x, y],
                "corners": flat_list(corners),
                "lines": [
                    edge in lattice.visible_edges((x, y)) for edge in lattice.cell_edges((x, y))
                ],
                "parts": {str(factor): parts(x, y, factor) for factor in sorted(halves)},
            }
            for (x, y), corners in sorted(lattice.corners.items())
        ],
    }


def _entry(
    puzzle: PuzzleSet,
    numbered: NumberedChallenge,
    pieces: Mapping[str, PieceOrientations],
    blocker: PieceOrientations | None,
) -> dict[str, Any]:
    entry = numbered.entry
    challenge = entry.challenge
    lattice = puzzle.lattice
    indices = {piece_id: index for index, piece_id in enumerate(pieces)}

    def placements(layout: Mapping[str, frozenset[Cell]]) -> list[list[int]]:
        """Return placements in the set's order."""
        placed_pieces = []
        for piece_id in filter(layout.__contains__, indices):
            piece = pieces[piece_id]
            clues = ClueFilter(lattice, piece.piece, challenge.clues, challenge.flips)
            placed = piece.place(layout[piece_id], entry.halves, clues.marks)
            if placed is None:
                raise ValueError(f"{challenge.id}: piece {piece_id} does not cover its cells")
            placed_pieces.append([indices[piece_id], *placed])
        return placed_pieces

    given = {placed.piece: placed.cells for placed in challenge.given}
    board = puzzle.board_with(challenge)
    rules, shapes = _rules(puzzle, pieces, challenge, challenge.clues, challenge.board_cells, board)
    cells = flat_list(sorted(challenge.region))
    opened: _OpenData = {}
    if challenge.open_count:
        opened["open"] = challenge.open_count
    if challenge.minus:
        opened["minus"] = flat_list(sorted(challenge.minus))
        opened["blocked"] = challenge.blocked
        if challenge.blocked:
            spots = mark_places(lattice, challenge.minus, 1.0)
            opened["blocks"] = [flat_list(sorted(spot)) for spot in spots.values()]
            opened["blockers"] = [_blocker_placement(blocker, spot) for spot in spots.values()]
    solved: _SolvedData = {}
    if entry.solution:
        solved["solution"] = placements(entry.solution)
        solved["order"] = [indices[step.piece] for step in solving_order(puzzle, entry)]
    given_cells = {piece_id: sorted(placed) for piece_id, placed in given.items()}
    identity = [shapes, cells, given_cells, challenge.flips, entry.halves, challenge.pieces_count]
    identity += [rules.get("clues"), opened.get("open"), opened.get("minus")]
    document: _EntryDocument = {
        "id": challenge.id,
        "kind": entry.kind,
        "status": entry.result.status,
        "level": numbered.level,
        "stars": numbered.stars,
        "halves": entry.halves,
        "count": challenge.pieces_used,
        "given": placements(given),
        **rules,
        "cells": cells,
        **opened,
        # Distinguishes it from challenges of the same name in another or a changed set.
        "mark": json_sha256(identity)[:8],
        **solved,
    }
    sent: dict[str, Any] = {**document}
    if challenge.region == {*chain.from_iterable(entry.solution.values())}:
        del sent["cells"]  # half of the data; the page takes them from the solution
    return sent


def _without_repetition(entries: list[dict[str, Any]], pieces_count: int) -> list[dict[str, Any]]:
    """Return entries without what ``play-grid.js`` completes: ``rings`` are the number of the
    first entry with the same, ``pieces`` left out are all, ``minus`` are the ``blocks``, and others
    are `_USUAL`."""
    first: dict[str, int] = {}
    for number, document in enumerate(entries):
        same = first.setdefault(str(document["rings"]), number)
        if same < number:
            document["rings"] = same
        if document["pieces"] == list(range(pieces_count)):
            del document["pieces"]
        for key, usual in _USUAL.items():
            if document[key] == usual:
                del document[key]
        if "blocks" in document:
            del document["minus"]
    return entries


def _family(
    puzzle: PuzzleSet,
    family: Family,
    pieces: Mapping[str, PieceOrientations],
    blocker: PieceOrientations | None,
) -> _FamilyData:
    """Return a family, from which the page makes its members."""
    board = family.board
    rules, shapes = _rules(puzzle, pieces, family, board.clues, board.cells, board)
    groups = [
        [
            [
                escape(label.text),
                flat_list(sorted(label.cells)),
                *([_blocker_placement(blocker, label.cells)] if family.blocked else []),
            ]
            for label in dict.fromkeys(group)
        ]
        for group in family.groups
    ]
    document: _FamilyData = {
        **rules,
        "id": family.id,
        "title": escape(family.title or family.id),
        "prefix": family.prefix,
        "join": JOIN,
        "groups": groups,
        "without": [sorted(excluded) for excluded in family.without],
        "blocked": family.blocked,
        "open": board.open_count,
        "mark": "",
    }
    identity = {key: part for key, part in document.items() if key not in ("mark", "join")}
    document["mark"] = json_sha256(identity | {"shapes": shapes})[:8]
    return document


def _blocker_placement(blocker: PieceOrientations | None, cells: frozenset[Cell]) -> list[int]:
    """Return a blocker's orientation and frame vector on its cells; empty if none is made."""
    return [*((blocker and blocker.place(cells)) or ())]


def _rules(
    puzzle: PuzzleSet,
    pieces: Mapping[str, PieceOrientations],
    stated: Challenge | Family,
    clues: Sequence[Clue],
    cells: frozenset[Cell],
    board: Board | None,
) -> tuple[_RulesData, list[Any]]:
    """Return what challenges and families have in common, and the shapes that tell sets apart."""
    lattice = puzzle.lattice
    indices = {piece_id: index for index, piece_id in enumerate(pieces)}
    forms = {piece_id: pieces[piece_id].piece.forms for piece_id in stated.pieces}
    shapes = {piece_id: [sorted(form.cells) for form in forms[piece_id]] for piece_id in forms}
    document: _RulesData = {
        "flips": stated.flips,
        "pieces": sorted(indices[piece_id] for piece_id in forms),
        "cells": flat_list(sorted(cells)),
        "rings": [flat_list(ring) for ring in rings_of_cells(lattice, cells)],
    }
    if board and board.labels:
        document["board"] = puzzle.boards.index(board)
    if clues:
        numbering = CellNumbering(lattice, cells)
        document["clues"] = [_clue(puzzle, clue, indices, numbering) for clue in clues]
        document["clueCount"] = len(puzzle.clues_besides_board(clues))
    return document, [lattice.name, shapes]


def _clue(
    puzzle: PuzzleSet, clue: Clue, indices: Mapping[str, int], numbering: CellNumbering
) -> _ClueData:
    """Return what must cover some places, and the places."""
    spots = []
    for spot in _spots(puzzle, clue.cells):
        row, column = numbering.place(frozenset(zip(spot[3][::2], spot[3][1::2], strict=True)))
        spots.append([*spot, row + 1, column + 1])
    document: _ClueData = {"spots": spots}
    if clue.piece:
        document["piece"] = indices[clue.piece]
    if clue.colour:
        document["colour"] = clue.colour
    if clue.mark:
        document["mark"], document["look"] = clue.mark, puzzle.marks.get(clue.mark, clue.mark)
    return document


def _spots(puzzle: PuzzleSet, cells: Iterable[Cell]) -> list[list[Any]]:
    """Return the places that cells belong to; see `_clue`."""
    lattice = puzzle.lattice
    spots = []
    for centre, of_place in mark_places(lattice, cells, 1.0).items():
        rings = rings_to_units(lattice, rings_of_cells(lattice, of_place))
        _, (reach,) = clearances([centre], rings)
        spots.append([*_spot(puzzle, centre), round(reach, 3), flat_list(sorted(of_place))])
    return spots


def _spot(puzzle: PuzzleSet, place: tuple[float, float]) -> list[float]:
    """Convert a place from grid units to steps of the frame."""
    steps = to_units(puzzle.lattice, [(1, 1)])[0]
    return [round(coordinate / step, 3) for coordinate, step in zip(place, steps, strict=True)]


def _faint_ink(piece: Piece, below: str, theme: Theme) -> str:
    """Return the colour of the label of a given piece, through which the board shines."""
    layers = [(piece.colour, _GIVEN), *([(below, _GIVEN)] if below != piece.colour else [])]
    if piece.body:
        layers = [(theme.silhouette, _GIVEN), (piece.colour, 0.35 * _GIVEN), *layers]
    ground = _channels(theme.socket)
    for colour, opacity in layers:
        channels = zip(_channels(colour), ground, strict=True)
        ground = tuple(opacity * over + (1 - opacity) * under for over, under in channels)
    return ink_on("#" + "".join(f"{round(channel):02x}" for channel in ground))


def _channels(colour: str) -> tuple[float, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def flat_list(points: Iterable[Point]) -> Flat:
    """Return points as one list of coordinates."""
    return list(chain.from_iterable(points))


def _piece_document(puzzle: PuzzleSet, oriented: PieceOrientations) -> _PieceData:
    """Return a piece and its orientations."""
    piece, lattice = oriented.piece, puzzle.lattice
    labels = [_label(puzzle, piece, form) for form in piece.forms]
    (x, y), _ = labels[0]
    below = piece.tone if (round(x), round(y)) in piece.tones else piece.colour
    documents = []
    for number, orientation in enumerate(oriented.all):
        neighbours = oriented.neighbours(number)
        # The label rotates with the piece.
        (x, y), height = labels[orientation.form]
        a, b, c, d = orientation.symmetry.doubled
        dx, dy = lattice.anchor(map(orientation.symmetry, piece.forms[orientation.form].cells))
        corner = (a * x + b * y) / 2 - dx, (c * x + d * y) / 2 - dy
        looks = _looks(puzzle, oriented, number)
        if "over" in neighbours:
            looks["over"] = neighbours["over"]
        if "flip" in neighbours:
            looks["flip"] = neighbours["flip"]
        document: _OrientationData = {
            "cells": flat_list(sorted(orientation.cells)),
            "rings": [flat_list(ring) for ring in orientation.rings],
            "label": [*(round(length, 3) for length in corner), round(height / CAPITAL, 3)],
            "left": neighbours["left"],
            "right": neighbours["right"],
            **looks,
        }
        documents.append(document)
    faint = [_faint_ink(piece, below, theme) for theme in (LIGHT, DARK)]
    return {
        "id": piece.id,
        "label": escape(piece.label),
        "colour": piece.colour,
        "hue": basic_colour(piece.colour),
        "tone": piece.tone,
        "ink": ink_on(below),
        "markInk": ink_on(piece.colour),
        "faint": f"light-dark({', '.join(faint)})",
        "plain": oriented.plain_count,
        "orientations": documents,
    }


def _looks(puzzle: PuzzleSet, oriented: PieceOrientations, number: int) -> _LookData:
    """Return what an orientation shows."""
    piece, lattice = oriented.piece, puzzle.lattice
    orientation, marks = oriented.all[number], dict(oriented.marks[number])
    has_marks = piece.marks or piece.back
    shown = {cell: marks.get(cell, PLAIN) for cell in orientation.cells} if has_marks else {}
    looks = looks_at(lattice, piece, orientation.cells, puzzle.marks, shown)
    if not looks:
        return {}
    document: _LookData = {}
    toned = {cell for cell, look in looks.items() if look.startswith("#")}
    if toned:
        document["tones"] = [flat_list(ring) for ring in rings_of_cells(lattice, toned)]
    by_mark = dict[str, list[Cell]]()
    for cell, mark in marks.items():
        by_mark.setdefault(mark, []).append(cell)
    if by_mark:
        document["marks"] = {mark: flat_list(cells) for mark, cells in by_mark.items()}
    spots = [
        [looks[spot[3][0], spot[3][1]], *spot[:3]] for spot in _spots(puzzle, looks.keys() - toned)
    ]
    if spots:
        document["looks"] = spots
    return document


def _label(puzzle: PuzzleSet, piece: Piece, form: Form) -> tuple[tuple[float, float], float]:
    """Return the centre of a form's label in frame steps, and its capitals' height in grid units.

    On balls, and on pieces with marks or squares of two colours, it is centred on a cell, if
    possible without a mark; else it may be centred on a vertex or an edge.
    """
    lattice, cells = puzzle.lattice, sorted(form.cells)
    centres = to_units(lattice, cells)
    marked = {
        cell for cell, mark in (*piece.marks, *piece.back) if not puzzle.marks[mark].startswith("#")
    }
    places = to_units(lattice, [cell for cell in cells if cell not in marked] or cells)
    if piece.body:
        free = [BALL_DIAMETER_IN_PITCHES / 2] * len(places)
    else:
        if not piece.tones and not marked:
            edges = {edge for cell in cells for edge in lattice.cell_edges(cell)}
            places = places + vertices_and_midpoints(to_units(lattice, edge) for edge in edges)
        places, free = clearances(places, rings_to_units(lattice, form.rings))
    x, y = (math.fsum(values) / len(cells) for values in zip(*centres, strict=True))
    (left, up), height = place_label(piece.label, places, free, (x, y), _CAPITAL)
    ((step_x, step_y),) = to_units(lattice, [(1, 1)])
    return (left / step_x, up / step_y), height
