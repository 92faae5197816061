"""What of a set file can be drawn: its pieces, its boards, or the board that is cut into the pieces; also
in a file that has errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

from fabkit.core.colours import ink_on
from fabkit.core.documents import COLOUR
from fabkit.core.errors import ErrorDetail, ErrorList
from fabkit.model.lattice import LATTICES, RENAMED_LATTICES, Cell, Lattice
from fabkit.model.puzzle import Label, PuzzleSet
from fabkit.model.regions import (
    LONGEST_SIDE,
    MAX_CELLS_OF_FILE,
    CellNumbering,
    RegionReader,
    cells_named,
)
from fabkit.model.set_file import PALETTE, PLAIN_LETTER, copy_ids
from fabkit.output.web.playdata import flat_list

#: The keys by which a table can be drawn.
DRAWN_BY = ("outline", "cells", "rows", "svg", "balls", "size")
#: Ids and marks that are proposed.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_LISTS: tuple[Literal["piece"], Literal["board"]] = ("piece", "board")

Document = dict[str, Any]


@dataclass(frozen=True)
class Thing:
    """A table that can be drawn, by its key and its index in the file."""

    kind: Literal["cut", "piece", "board"]
    index: int

    @property
    def key(self) -> str:
        """The path of its table in messages."""
        return self.kind if self.kind == "cut" else f"{self.kind}[{self.index}]"


def as_table(value: object) -> Document:
    """Return a table of a document; an empty one if it is something else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a list of a document; an empty one if it is something else."""
    return value if isinstance(value, list) else []


def tables(document: Document, *keys: str) -> list[Document]:
    """Return the tables in some lists of a document."""
    rows = [row for key in keys for row in as_list(document.get(key))]
    return [row for row in rows if isinstance(row, dict)]


def table_of(document: Document, thing: Thing) -> Document:
    """Return the table of a thing; an empty one if there is none."""
    if thing.kind == "cut":
        return as_table(document.get("cut"))
    return as_table(dict(enumerate(as_list(document.get(thing.kind)))).get(thing.index))


class Drawings:
    """The drawings of a document.

    Args:
        puzzle: the set that was read from it; None if it has errors.
    """

    def __init__(self, document: Document, puzzle: PuzzleSet | None) -> None:
        self.document, self._puzzle = document, puzzle
        self._cells_left = MAX_CELLS_OF_FILE
        self._regions = RegionReader(self.lattice, ErrorList(""))

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice; squares while the file names none."""
        name = str(as_table(self.document.get("set")).get("lattice"))
        return LATTICES.get(RENAMED_LATTICES.get(name, name), LATTICES["square"])

    @property
    def things(self) -> list[Thing]:
        """All that can be drawn."""
        things = [
            Thing(kind, index)
            for kind in _LISTS
            for index in range(len(as_list(self.document.get(kind))))
        ]
        return [Thing("cut", 0), *things] if "cut" in self.document or not things else things

    @property
    def marks(self) -> dict[str, str]:
        """The looks of the set's marks by letter."""
        marks = as_table(as_table(self.document.get("set")).get("marks"))
        return {letter: look for letter, look in marks.items() if isinstance(look, str)}

    def drawn(self, thing: Thing) -> dict[Cell, str]:
        """Return the cells that a table draws, with the letters of pieces or marks."""
        drawn = self._drawn(thing) if self._cells_left > 0 else {}
        self._cells_left -= len(drawn)
        return drawn

    def _drawn(self, thing: Thing) -> dict[Cell, str]:
        table = table_of(self.document, thing)
        rows, cells = table.get("rows"), table.get("cells")
        if isinstance(rows, list) and all(isinstance(row, str) for row in rows):
            return self._regions.letters([row[:LONGEST_SIDE] for row in rows[:LONGEST_SIDE]])
        for key in ("rows", "size"):
            if key in table:
                read = self._regions.read(key, table[key], thing.key)
                return dict.fromkeys(sorted(read), PLAIN_LETTER)
        if "cells" in table:
            lists = as_table(cells) if thing.kind == "cut" else {PLAIN_LETTER: cells}
            return {cell: letter for letter in lists for cell in self._named(lists[letter])}
        return dict.fromkeys(sorted(self._shape(thing)), PLAIN_LETTER)

    def _named(self, items: object) -> Iterator[Cell]:
        for item in as_list(items):
            with suppress(ValueError):
                yield from sorted(cells_named(item, self.lattice, None))

    def _shape(self, thing: Thing) -> frozenset[Cell]:
        """Return the cells of a piece or board as they were read; none if they were not."""
        if self._puzzle is None or thing.kind == "cut":
            return frozenset()
        table = table_of(self.document, thing)
        if thing.kind == "board":
            boards = {board.id: board.cells for board in self._puzzle.boards}
            return boards.get(table["id"], frozenset())
        return self._puzzle.piece(copy_ids(table["id"], table.get("count", 1))[0]).forms[0].cells

    def can_paint(self, thing: Thing) -> bool:
        """Return whether a table can be painted: balls do not lie on a plane, and an outline must have
        been read."""
        table = table_of(self.document, thing)
        is_read = not table.keys() & {"outline", "svg"} or bool(self._shape(thing))
        return "balls" not in table and is_read

    def numbering(self, thing: Thing, cells: Mapping[Cell, str]) -> CellNumbering:
        """Return the numbers and names of the cells of a board."""
        names = self.labels(thing, cells) or {}
        at = {place: frozenset(self.lattice.cells_at(*place)) & cells.keys() for place in names}
        labels = tuple(Label(name, at[place]) for place, name in names.items())
        return CellNumbering(self.lattice, frozenset(cells), labels=labels)

    def labels(self, thing: Thing, cells: Mapping[Cell, str]) -> dict[tuple[int, int], str] | None:
        """Return the texts on the places of a board; None if the file has them in another form."""
        lines = table_of(self.document, thing).get("labels", [])
        words = [str(line).split() for line in as_list(lines)]
        places = CellNumbering(self.lattice, frozenset(cells)).places
        rows = [list(row) for _, row in groupby(places, key=lambda place: place[0])]
        if lines != [] and [*map(len, words)] != [*map(len, rows)]:
            return None
        named = zip(rows, words, strict=False)
        pairs = [pair for row, line in named for pair in zip(row, line, strict=True)]
        return {place: word for place, word in pairs if word != "."}

    def clues(self, thing: Thing, cells: Mapping[Cell, str]) -> list[tuple[set[Cell], Document]]:
        """Return the cells of each clue of a board, and what must cover them."""
        numbering = self.numbering(thing, cells)
        clues = []
        for table in tables(table_of(self.document, thing), "clue"):
            clue_cells = set[Cell]()
            for item in as_list(table.get("cells")):
                with suppress(ValueError):
                    clue_cells |= cells_named(item, self.lattice, numbering)
            clues.append((clue_cells, {key: table[key] for key in table if key != "cells"}))
        return clues

    def brushes(self, thing: Thing, cells: Mapping[Cell, str]) -> list[dict[str, str]]:
        """Return the letters that can be painted, and what they look like."""
        table = table_of(self.document, thing)
        if thing.kind == "cut":
            used = list(dict.fromkeys(cells.values()))
            unused = [letter for letter in LETTERS if letter not in used][:1]
            signs = {letter: letter for letter in [*sorted(used), *unused]}
            colours = as_table(table.get("colours"))
            start = len(as_list(self.document.get("piece")))
            fills = {
                letter: _colour(colours.get(letter), PALETTE[index % len(PALETTE)])
                for index, letter in enumerate([*used, *unused], start)
            }
        else:
            signs = {PLAIN_LETTER: ""} | (self.marks if thing.kind == "piece" else {})
            own = _colour(table.get("colour"), PALETTE[thing.index % len(PALETTE)])
            fills = {letter: _colour(look, own) for letter, look in signs.items()}
        return [
            {"letter": letter, "fill": fills[letter], "ink": ink_on(fills[letter]), "sign": sign}
            for letter, sign in signs.items()
        ]

    def document_of(self, thing: Thing, faults: list[ErrorDetail]) -> dict[str, Any]:
        """Return a thing for the browser: its fields, its drawing, its errors.

        ``letters``, ``labels`` and ``clues`` have an item for each of ``cells``.
        """
        table = table_of(self.document, thing)
        drawn = self.drawn(thing)
        cells = sorted(drawn)
        is_board = thing.kind == "board"
        labels = self.labels(thing, drawn) or {} if is_board else {}
        clues = self.clues(thing, drawn) if is_board else []
        covers = {cell: what for clue_cells, what in clues for cell in clue_cells}
        return {
            "kind": thing.kind,
            "index": thing.index,
            "exists": bool(table),
            **{key: table.get(key) for key in ("id", "count", "open")},
            "isOfBalls": "balls" in table,
            "canPaint": self.can_paint(thing),
            "cells": flat_list(cells),
            "letters": [drawn[cell] for cell in cells],
            "labels": [labels.get(self.lattice.row_col(cell), "") for cell in cells],
            "clues": [covers.get(cell) for cell in cells],
            "brushes": self.brushes(thing, drawn),
            "faults": [
                fault.message
                for fault in faults
                if fault.key == thing.key
                or fault.key.startswith((f"{thing.key}.", f"{thing.key}["))
            ],
        }


def _colour(colour: object, default: str) -> str:
    """Return a colour of a file, or else another."""
    try:
        return str(COLOUR.read(colour))
    except ValueError:
        return default
