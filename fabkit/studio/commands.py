"""The commands that edit a set file, by name.

Each is a function whose annotations say what the browser may pass. It changes the document of an
`Edit`, with all that depends on the change; it may return what the browser needs to know besides,
such as a ``refusal``: the key of the message that says why the document stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain, count, groupby
from typing import Annotated, Any, Literal

from pydantic import Field

from fabkit.core.documents import choice
from fabkit.core.errors import InputError, no_such
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import LOOKS
from fabkit.model.puzzle import MOVES
from fabkit.sets.piece_reader import PLAIN_LETTER
from fabkit.sets.regions import LONGEST_SIDE, MAX_CELLS_OF_FILE, CellNumbering, RegionReader
from fabkit.sets.set_text import edit_text
from fabkit.studio.drawing import drawings_of, read_project
from fabkit.studio.project import Project, call_checked, parsed
from fabkit.studio.references import less, move_cells, movement, rename_board, rename_pieces
from fabkit.studio.things import (
    DRAWN_BY,
    LETTERS,
    Clues,
    Document,
    Drawings,
    Thing,
    as_list,
    as_table,
    ids_of,
    table_of,
)

_Coordinate = Annotated[int, Field(ge=-(10**6), le=10**6)]
_Point = tuple[_Coordinate, _Coordinate]
_Cells = Annotated[list[_Point], Field(max_length=MAX_CELLS_OF_FILE)]
_Letters = list[Annotated[str, Field(min_length=1, max_length=40)]]
_Word = Annotated[str, Field(pattern=r"^\S*$", max_length=20)]
_Outcome = dict[str, Any] | None


@dataclass(frozen=True)
class Edit:
    """A set file while a command changes it: its name, what it draws before, and its document."""

    name: str
    before: Drawings
    document: Document

    def table(self, key: str) -> Document:
        """Return a table, which may be new."""
        self.document[key] = as_table(self.document.get(key))
        return as_table(self.document[key])

    def table_of(self, thing: Thing) -> Document:
        """Return the table of a thing; that of a cut board may be new."""
        return self.table("cut") if thing.kind == "cut" else table_of(self.document, thing)


def edit(project: Project, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Edit a set file; return what `read_project` reads then, and the command's ``outcome``.

    Raises:
        InputError: when there is no such command with such arguments, or the file is not TOML.
    """
    if command not in COMMANDS:
        raise InputError.of("request", no_such("command", command, list(COMMANDS)))
    change = Edit(project.name, drawings_of(project), deepcopy(parsed(project.text)))
    outcome = call_checked(COMMANDS[command], arguments, edit=change) or {}
    if "refusal" in outcome:
        return {"outcome": outcome}
    text = edit_text(project.text, change.document, parsed)
    return read_project(replace(project, text=text)) | {"outcome": outcome}


# --- on the sheet ---------------------------------------------------------------------------------
# `step` is where the browser's sheet has the origin of the file.


def draw(
    thing: Thing,
    step: _Point,
    cells: _Cells,
    letters: _Letters,
    moves: list[tuple[_Point, _Point]],
    *,
    edit: Edit,
) -> _Outcome:
    """Draw a thing as it is on the sheet; return the ``step`` then.

    Args:
        moves: from where the cells of a board came that were moved as one shape, and to where.
    """
    lattice, old = edit.before.lattice, edit.before.drawn(thing)
    if len(cells) != len(letters) or not all(map(lattice.is_cell, cells)):
        raise InputError.of("request", "expected cells of the lattice, each with a letter")
    if not edit.before.can_paint(thing):
        return None
    start = _corner(lattice, cells) if cells else step
    drawn = {less(cell, start): letter for cell, letter in zip(cells, letters, strict=True)}
    notation = _notation(edit.before.regions, drawn)
    if "cells" in notation and thing.kind != "cut":
        if thing.kind == "piece" and {*letters} != {PLAIN_LETTER}:
            return {"refusal": "draw_marks_whole"}
        notation = {"cells": sorted(chain.from_iterable(notation["cells"].values()))}
    head = {"name": edit.name.removesuffix(".toml"), "lattice": lattice.name, "moves": MOVES[True]}
    edit.document.setdefault("set", head)
    table = edit.table_of(thing)
    if thing.kind != "piece":
        is_board = thing.kind == "board"
        moved = movement(lattice, dict(moves) if is_board else {})

        def image(point: Point) -> Point:
            return less(moved((point[0] + step[0], point[1] + step[1])), start)

        before, after = (CellNumbering(lattice, frozenset(part)) for part in (old, drawn))
        if old and drawn:
            name = table.get("id") if is_board else table.get("board", "board")
            move_cells(edit.document, str(name), before, after, image)
        if is_board:
            labels, clues = edit.before.details(thing, old)
            if labels is not None:
                labels = {image(cell): word for cell, word in labels.items()}
            clues = clues and [({*map(image, covered)}, what) for covered, what in clues]
            _write_details(lattice, table, drawn, labels, clues)
    for key in DRAWN_BY:
        table.pop(key, None)
    table |= notation
    if colours := as_table(table.get("colours")):
        table["colours"] = {name: colours[name] for name in colours if name in letters}
    return {"step": start}


def stamp(
    thing: Thing, step: _Point, cell: _Point, stamped: _Word | dict[str, str], *, edit: Edit
) -> None:
    """Write a text on the place of a cell of a board, or what must cover it, or remove that."""
    lattice, drawn, cell = edit.before.lattice, edit.before.drawn(thing), less(cell, step)
    labels, clues = edit.before.details(thing, drawn)
    if cell not in drawn:
        return
    if isinstance(stamped, str) and labels is not None:
        text = stamped if stamped not in (".", labels.get(cell)) else ""
        labels |= dict.fromkeys(lattice.cells_at(*lattice.row_col(cell)), text)
        _write_details(lattice, edit.table_of(thing), drawn, labels, None)
    elif isinstance(stamped, dict) and stamped and clues is not None:
        alike = next((cells for cells, what in clues if what == stamped), set[Cell]())
        is_new = cell not in alike
        for cells, _ in clues:
            cells.discard(cell)
        if is_new:
            clues += [] if alike else [(alike, stamped)]
            alike.add(cell)
        _write_details(lattice, edit.table_of(thing), drawn, None, clues)


def _write_details(
    lattice: Lattice,
    table: Document,
    cells: Collection[Cell],
    labels: Mapping[Cell, str] | None,
    clues: Clues | None,
) -> None:
    """Write the texts and clues on the cells of a board, as far as they are known."""
    numbering = CellNumbering(lattice, frozenset(cells))
    if labels is not None:
        words = {lattice.row_col(cell): labels[cell] for cell in cells if labels.get(cell)}
        rows = [[*row] for _, row in groupby(numbering.places, key=lambda place: place[0])]
        lines = [" ".join(words.get(place, ".") for place in row) for row in rows]
        _set(table, "labels", words and lines)
    if clues is not None:
        on_board = [(covered & numbering.cells, what) for covered, what in clues]
        named = [(_addresses(lattice, part, numbering.origin), what) for part, what in on_board]
        _set(table, "clue", [{"cells": names, **what} for names, what in named if names])


def _corner(lattice: Lattice, cells: Sequence[Cell]) -> Point:
    """Return the step of the lattice to where cells begin from row 0 and the first columns."""
    (ux, _), (vx, vy) = lattice.basis
    top = min(lattice.row_col(cell)[0] for cell in cells)
    columns = [lattice.row_col((x + top * vx, y + top * vy))[1] for x, y in cells]
    return min(columns) // len(lattice.columns) * ux - top * vx, -top * vy


def _notation(regions: RegionReader, drawn: Mapping[Cell, str]) -> dict[str, Any]:
    """Return ``rows`` of text if they can draw cells with letters, else ``cells`` by letter."""
    lattice = regions.lattice
    letters = {lattice.row_col(cell): letter for cell, letter in drawn.items()}
    height, width = (1 + max(side) for side in zip((0, 0), *letters, strict=True))
    if max(height, width) <= LONGEST_SIDE:
        lines = [[letters.get((row, i), ".") for i in range(width)] for row in range(height)]
        rows = ["".join(line) for line in lines]
        if regions.letters(rows) == drawn:
            return {"rows": rows}
    names = dict.fromkeys(drawn[cell] for cell in sorted(drawn, key=lattice.address))
    parts = {name: {cell for cell in drawn if drawn[cell] == name} for name in names}
    return {"cells": {name: _addresses(lattice, parts[name]) for name in parts}}


def _addresses(lattice: Lattice, cells: set[Cell], origin: Point = (0, 0)) -> list[list[int]]:
    addresses = sorted(map(lattice.address, cells))
    length = 2 + lattice.is_divided
    return [[*less((row, column), origin), index][:length] for row, column, index in addresses]


# --- of tables ------------------------------------------------------------------------------------


def _set(table: Document, key: str, value: Any) -> None:
    """Set a key of a table; remove it for a value that is empty."""
    if value:
        table[key] = value
    else:
        table.pop(key, None)


def rename(thing: Thing, name: str, *, edit: Edit) -> _Outcome:
    """Give a piece or board another name, also wherever the file names it."""
    others = [other for other in edit.before.things if other.kind == thing.kind and other != thing]
    names = {str(table_of(edit.document, other).get("id")).lower() for other in others}
    table = edit.table_of(thing)
    if not name or name.lower() in names:
        return {"refusal": "draw_name_taken"}
    if thing.kind == "piece":
        _change_piece(edit, table, "id", name)
    else:
        rename_board(edit.document, str(table.get("id")), name)
        table["id"] = name
    return None


def set_field(
    thing: Thing,
    key: Literal["count", "open", "colour"],
    value: int | str,
    letter: str = "",
    *,
    edit: Edit,
) -> None:
    """Set how many there are of a piece, how many cells of a board stay open, or a colour."""
    table = edit.table_of(thing)
    if thing.kind == "cut":
        table["colours"] = as_table(table.get("colours")) | {letter: value}
    elif key == "count":
        _change_piece(edit, table, key, None if value == 1 else value)
    else:
        _set(table, key, value)


def _change_piece(edit: Edit, table: Document, key: str, value: object) -> None:
    """Change the name of a piece or the number of its copies, wherever the file names them."""
    before = ids_of(table)
    _set(table, key, value)
    rename_pieces(edit.document, dict(zip(before, ids_of(table), strict=False)))


def add(kind: Literal["piece", "board"], *, edit: Edit) -> _Outcome:
    """Add a piece or board; return it as ``thing``."""
    rows = edit.document[kind] = as_list(edit.document.get(kind))
    used = {as_table(row).get("id") for row in rows}
    if kind == "piece":
        used |= {*edit.before.drawn(Thing("cut", 0)).values()}
    else:
        used.add(as_table(edit.document.get("cut")).get("board", "board"))
    names = chain(LETTERS if kind == "piece" else [kind], (f"{kind}-{i}" for i in count(2)))
    shape = {"rows": [PLAIN_LETTER]} if kind == "piece" else {"size": [4, 4]}
    rows.append({"id": next(name for name in names if name not in used)} | shape)
    return {"thing": {"kind": kind, "index": len(rows) - 1}}


def remove(thing: Thing, *, edit: Edit) -> None:
    """Remove a piece, a board or the board that is cut."""
    rows = as_list(edit.document.get(thing.kind))
    _set(edit.document, thing.kind, rows[: thing.index] + rows[thing.index + 1 :])


def set_flips(flips: bool, *, edit: Edit) -> None:
    """Set whether pieces may be turned over."""
    edit.table("set")["moves"] = MOVES[flips]


def add_mark(look: Annotated[str, choice(*LOOKS)], *, edit: Edit) -> _Outcome:
    """Let the set's pieces have marks of a look; return the ``letter`` to draw them with."""
    head = edit.table("set")
    marks = as_table(head.get("marks"))
    letter = next(name for name in look + LETTERS if name not in {*marks, PLAIN_LETTER})
    head["marks"] = marks | {letter: look}
    return {"letter": letter}


def keep_challenge(name: str, table: Document | None = None, *, edit: Edit) -> None:
    """Put a challenge into the file, in place of one of its name; without a table, take it out."""
    rows = as_list(edit.document.get("challenge"))
    others = [row for row in rows if as_table(row).get("id") != name]
    _set(edit.document, "challenge", others + [table] * bool(table))


#: The commands by name.
COMMANDS: dict[str, Callable[..., _Outcome]] = {
    "draw": draw,
    "stamp": stamp,
    "rename": rename,
    "set": set_field,
    "add": add,
    "remove": remove,
    "flips": set_flips,
    "mark": add_mark,
    "challenge": keep_challenge,
}
