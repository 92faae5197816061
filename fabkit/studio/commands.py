"""The commands that edit a set file: by name, with what else of the file depends on them.

Each is a function whose annotations say what the browser may pass. It changes the document of an `Edit`,
and may return what the browser needs to know besides the text, such as a ``refusal``: the key of the
message that says why the document stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Annotated, Any, Literal

from pydantic import Field

from fabkit.core.documents import choice
from fabkit.core.errors import InputError, no_such
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import LOOKS
from fabkit.model.puzzle import MOVES
from fabkit.model.regions import LONGEST_SIDE, MAX_CELLS_OF_FILE, CellNumbering, cells_named
from fabkit.model.set_file import PLAIN_LETTER, copy_ids
from fabkit.model.set_text import edit_text
from fabkit.studio.drawing import drawings_of, read_project
from fabkit.studio.project import Project, call_checked, parsed
from fabkit.studio.references import (
    is_address,
    move_cells,
    movement,
    rename_board,
    rename_pieces,
)
from fabkit.studio.things import (
    DRAWN_BY,
    LETTERS,
    Document,
    Drawings,
    Thing,
    as_list,
    as_table,
    table_of,
    tables,
)

Outcome = Mapping[str, Any] | None
_Coordinate = Annotated[int, Field(ge=-(10**6), le=10**6)]
_Point = tuple[_Coordinate, _Coordinate]
_Word = Annotated[str, Field(pattern=r"^\S*$", max_length=20)]


@dataclass(frozen=True)
class Edit:
    """A set file while a command changes it.

    Attributes:
        name: that of the file.
        before: what it draws.
        document: what it is to contain; the command changes this.
    """

    name: str
    before: Drawings
    document: Document

    def table(self, thing: Thing) -> Document:
        """Return the table of a thing; a new one for a cut board that is not there yet."""
        if thing.kind == "cut":
            self.document["cut"] = as_table(self.document.get("cut"))
        return table_of(self.document, thing)


def edit(project: Project, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Edit a set file by a command.

    Returns:
        The file as `read_project` reads it afterwards, and the ``outcome`` of the command.

    Raises:
        InputError: when there is no such command, the browser may not pass these arguments, or the file
            is not TOML.
    """
    if command not in COMMANDS:
        raise InputError.of("request", no_such("command", command, list(COMMANDS)))
    change = Edit(project.name, drawings_of(project), deepcopy(parsed(project.text)))
    outcome = call_checked(COMMANDS[command], arguments, edit=change) or {}
    if "refusal" in outcome:
        return {"outcome": outcome}
    text = edit_text(project.text, change.document, parsed)
    return read_project(replace(project, text=text)) | {"outcome": outcome}


def draw(
    thing: Thing,
    cells: Annotated[list[_Point], Field(max_length=MAX_CELLS_OF_FILE)],
    letters: list[Annotated[str, Field(min_length=1, max_length=40)]],
    step: _Point = (0, 0),
    moves: list[tuple[_Point, _Point]] = [],  # noqa: B006 - nothing changes it
    *,
    edit: Edit,
) -> Outcome:
    """Draw a thing as it is on the sheet of the browser.

    Args:
        cells, letters: on the sheet.
        step: where the sheet has the file's origin.
        moves: where the cells of a board came from that were moved as one shape, and where to.

    Returns:
        ``step``: where the sheet has the file's origin now.
    """
    lattice = edit.before.lattice
    if len(cells) != len(letters) or not all(map(lattice.is_cell, cells)):
        raise InputError.of("request", "expected cells of the lattice, each with a letter")
    if not edit.before.can_paint(thing):
        return None
    start = _corner(lattice, cells) if cells else step
    drawn = {_less(cell, start): letter for cell, letter in zip(cells, letters, strict=True)}
    by_key = _notation(lattice, drawn)
    has_marks = thing.kind == "piece" and {*letters} - {PLAIN_LETTER}
    if has_marks and "cells" in by_key:
        return {"refusal": "draw_marks_whole"}
    head = {"name": edit.name.removesuffix(".toml"), "lattice": lattice.name}
    edit.document.setdefault("set", head | {"moves": "rotations and flips"})
    table, old = edit.table(thing), edit.before.drawn(thing)
    if thing.kind != "piece":
        is_cut = thing.kind == "cut"
        moved = movement(lattice, {} if is_cut else dict(moves))

        def image(point: Point) -> Point:
            return _less(moved((point[0] + step[0], point[1] + step[1])), start)

        before = edit.before.numbering(thing, old)
        after = CellNumbering(lattice, frozenset(drawn))
        if old and drawn:
            name = table.get("board", "board") if is_cut else table.get("id")
            move_cells(edit.document, name, before, after, image)
        labels = edit.before.labels(thing, old)
        if labels is not None and not is_cut:
            firsts = {place: lattice.cells_at(*place)[0] for place in labels}
            images = {lattice.row_col(image(firsts[place])): labels[place] for place in labels}
            _set_labels(table, after, images)
        for clue in tables(table, "clue"):
            items = as_list(clue.get("cells"))
            if items and all(map(is_address, items)):
                clue["cells"] = [i for i in items if cells_named(i, lattice, after) & {*drawn}]
        _set(table, "clue", [row for row in as_list(table.get("clue")) if row.get("cells") != []])
    for key in DRAWN_BY:
        table.pop(key, None)
    if thing.kind != "cut" and "cells" in by_key:
        by_key = {"cells": sorted(address for part in by_key["cells"].values() for address in part)}
    table.update(by_key)
    if colours := as_table(table.get("colours")):
        table["colours"] = {name: colours[name] for name in colours if name in letters}
    return {"step": start}


def _less(point: Point, other: Point) -> Point:
    return point[0] - other[0], point[1] - other[1]


def _corner(lattice: Lattice, cells: list[Cell]) -> Point:
    """Return the step of the lattice from where cells begin in row 0 and the first columns."""
    (ux, _), (vx, vy) = lattice.basis
    top = min(lattice.row_col(cell)[0] for cell in cells)
    raised = [(x + top * vx, y + top * vy) for x, y in cells]
    left = min(lattice.row_col(cell)[1] // len(lattice.columns) for cell in raised)
    return left * ux - top * vx, -top * vy


def _notation(lattice: Lattice, drawn: Mapping[Cell, str]) -> dict[str, Any]:
    """Return ``rows`` of text that draw cells with letters where they can, else ``cells`` by letter."""
    if not drawn:
        return {"rows": ["."]}
    places: dict[tuple[int, int], list[str]] = {}
    for cell, letter in drawn.items():
        places.setdefault(lattice.row_col(cell), []).append(letter)
    height, width = (1 + max(side) for side in zip(*places, strict=True))
    size = len(lattice.columns[0])
    if max(height, width) <= LONGEST_SIDE and all(
        letters == letters[:1] * size and len(letters[0]) == 1 for letters in places.values()
    ):
        letters = {place: letters[0] for place, letters in places.items()}
        rows = ["".join(letters.get((row, i), ".") for i in range(width)) for row in range(height)]
        return {"rows": rows}
    lists: dict[str, list[list[int]]] = {}
    for cell in sorted(drawn, key=lattice.address):
        lists.setdefault(drawn[cell], []).append(_address(lattice, cell))
    return {"cells": lists}


def _address(lattice: Lattice, cell: Cell, origin: Point = (0, 0)) -> list[int]:
    row, column, index = lattice.address(cell)
    return [row - origin[0], column - origin[1], index][: 2 + lattice.is_divided]


def _set_labels(
    table: Document, numbering: CellNumbering, words: Mapping[tuple[int, int], str]
) -> None:
    rows: dict[int, list[str]] = {}
    for place in numbering.places:
        rows.setdefault(place[0], []).append(words.get(place, "."))
    _set(
        table, "labels", [" ".join(row) for row in rows.values() if {*words} & {*numbering.places}]
    )


def _set(table: Document, key: str, value: Any) -> None:
    """Set a key of a table; remove it for a value that is empty."""
    if value:
        table[key] = value
    else:
        table.pop(key, None)


def stamp_label(thing: Thing, cell: _Point, step: _Point, word: _Word, *, edit: Edit) -> Outcome:
    """Put a text on the place of a cell of a board, or take it away if it stands there."""
    drawn, cell = edit.before.drawn(thing), _less(cell, step)
    words = edit.before.labels(thing, drawn)
    place = edit.before.lattice.row_col(cell) if cell in drawn else None
    if words is not None and place is not None:
        _set(words, place, word if words.get(place) != word and word != "." else "")
        _set_labels(edit.table(thing), edit.before.numbering(thing, drawn), words)
    return None


def stamp_clue(
    thing: Thing, cell: _Point, step: _Point, covers: dict[Literal["piece", "mark"], str], *, edit: Edit
) -> Outcome:
    """Say what must cover a cell of a board, or no longer do if it is said already."""
    drawn, table, cell = edit.before.drawn(thing), edit.table(thing), _less(cell, step)
    if cell not in drawn:
        return None
    lattice, origin = edit.before.lattice, edit.before.numbering(thing, drawn).origin
    clues = tables(table, "clue")
    is_new = True
    for clue, (cells, what) in zip(clues, edit.before.clues(thing, drawn), strict=True):
        if cell in cells:
            cells.remove(cell)
        elif what == covers:
            cells.add(cell)
        else:
            continue
        is_new &= what != covers
        clue["cells"] = [
            _address(lattice, part, origin) for part in sorted(cells, key=lattice.address)
        ]
    if is_new and covers:
        clues.append({"cells": [_address(lattice, cell, origin)], **covers})
    _set(table, "clue", [clue for clue in clues if clue.get("cells") != []])
    return None


def rename(thing: Thing, name: str, *, edit: Edit) -> Outcome:
    """Give a piece or board another name, also wherever the file names it."""
    others = [other for other in edit.before.things if other.kind == thing.kind and other != thing]
    taken = {str(table_of(edit.document, other).get("id")).lower() for other in others}
    if not name or name.lower() in taken or thing.kind == "cut":
        return {"refusal": "draw_name_taken"}
    table = edit.table(thing)
    if thing.kind == "piece":
        _change_piece(edit, table, "id", name)
    else:
        rename_board(edit.document, table.get("id"), name)
        table["id"] = name
    return None


def set_number(thing: Thing, key: Literal["count", "open"], value: int, *, edit: Edit) -> Outcome:
    """Set how many there are of a piece, or how many cells of a board stay open."""
    table = edit.table(thing)
    if key == "count":
        _change_piece(edit, table, key, value if value > 1 else None)
    else:
        _set(table, key, max(value, 0))
    return None


def _change_piece(edit: Edit, table: Document, key: str, value: Any) -> None:
    """Change the name of a piece or the number of its copies, also wherever the file names them."""
    before = _ids(table)
    _set(table, key, value)
    rename_pieces(edit.document, dict(zip(before, _ids(table), strict=False)))


def _ids(table: Document) -> list[str]:
    count = table.get("count", 1)
    return copy_ids(str(table.get("id", "")), count if type(count) is int else 1)


def set_colour(thing: Thing, letter: str, colour: str, *, edit: Edit) -> Outcome:
    """Set the colour of a piece."""
    table = edit.table(thing)
    if thing.kind == "cut":
        table["colours"] = as_table(table.get("colours")) | {letter: colour}
    else:
        table["colour"] = colour
    return None


def add(kind: Literal["piece", "board"], *, edit: Edit) -> Outcome:
    """Add a piece or board; return it as ``thing``."""
    rows = edit.document[kind] = as_list(edit.document.get(kind))
    cut = edit.before.drawn(Thing("cut", 0)).values()
    board = as_table(edit.document.get("cut")).get("board", "board")
    used = {as_table(row).get("id") for row in rows} | ({*cut} if kind == "piece" else {board})
    numbered = (f"{kind}-{number}" for number in count(2))
    names = chain(LETTERS if kind == "piece" else [kind], numbered)
    shape = {"rows": [PLAIN_LETTER]} if kind == "piece" else {"size": [4, 4]}
    rows.append({"id": next(name for name in names if name not in used)} | shape)
    return {"thing": {"kind": kind, "index": len(rows) - 1}}


def remove(thing: Thing, *, edit: Edit) -> Outcome:
    """Remove a piece, a board or the board that is cut."""
    rows = as_list(edit.document.get(thing.kind))
    if 0 <= thing.index < len(rows):
        del rows[thing.index]
    _set(edit.document, thing.kind, rows)
    return None


def set_flips(flips: bool, *, edit: Edit) -> Outcome:
    """Set whether pieces may be turned over."""
    moves = MOVES[flips]
    edit.document["set"] = as_table(edit.document.get("set")) | {"moves": moves}
    return None


def add_mark(look: Annotated[str, choice(*LOOKS)], *, edit: Edit) -> Outcome:
    """Let the set's pieces have marks of a look; return the ``letter`` to draw them with."""
    marks = edit.before.marks
    used = {*marks, PLAIN_LETTER}
    letter = next((letter for letter in look + LETTERS if letter not in used), "")
    if not letter:
        return None
    head = edit.document["set"] = as_table(edit.document.get("set"))
    head["marks"] = as_table(head.get("marks")) | {letter: look}
    return {"letter": letter}


def keep(challenge: dict[str, Any], *, edit: Edit) -> Outcome:
    """Put a challenge into the file, in place of one with its name."""
    drop(str(challenge.get("id")), edit=edit)
    edit.document["challenge"] = [*as_list(edit.document.get("challenge")), challenge]
    return None


def drop(name: str, *, edit: Edit) -> Outcome:
    """Take a challenge out of the file."""
    rows = as_list(edit.document.get("challenge"))
    _set(edit.document, "challenge", [row for row in rows if as_table(row).get("id") != name])
    return None


#: The commands by name.
COMMANDS: dict[str, Callable[..., Outcome]] = {
    "draw": draw,
    "label": stamp_label,
    "clue": stamp_clue,
    "rename": rename,
    "number": set_number,
    "colour": set_colour,
    "add": add,
    "remove": remove,
    "flips": set_flips,
    "mark": add_mark,
    "keep": keep,
    "drop": drop,
}
