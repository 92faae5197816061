"""What can be drawn of a set file, also if it has errors: pieces, boards, the board that is cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

from fabkit.core.colours import ink_on
from fabkit.core.documents import COLOUR
from fabkit.core.errors import ErrorDetail, ErrorList
from fabkit.model.lattice import LATTICES, RENAMED_LATTICES, Cell, Lattice
from fabkit.model.puzzle import Label, PuzzleSet
from fabkit.output.web.playdata import flat_list
from fabkit.sets.piece_reader import PALETTE, PLAIN_LETTER, copy_ids
from fabkit.sets.regions import (
    LONGEST_SIDE,
    MAX_CELLS_OF_FILE,
    CellNumbering,
    RegionReader,
    cells_named,
)
from fabkit.sets.set_tables import MOST_PIECES

#: The keys by which a table can be drawn.
DRAWN_BY = ("outline", "cells", "rows", "svg", "balls", "size")
#: Ids and marks that are proposed.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

#: How many letters that a cut board does not use can be painted; the browser offers them one by
#: one.
_UNUSED = 4
_LISTS: tuple[Literal["piece"], Literal["board"]] = ("piece", "board")

Document = dict[str, Any]
#: The cells of each clue, and what must cover them.
Clues = list[tuple[set[Cell], Document]]


@dataclass(frozen=True)
class Thing:
    """A table that can be drawn, by its key and its index in the file."""

    kind: Literal["cut", "piece", "board"]
    index: int


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


def ids_of(table: Document) -> list[str]:
    """Return the ids of the pieces that a table makes, or of a board."""
    number = table.get("count")
    copies = min(number, MOST_PIECES) if type(number) is int else 1
    return copy_ids(str(table.get("id", "")), copies)


class Drawings:
    """What a document draws; without its set where that has errors."""

    def __init__(self, document: Document, puzzle: PuzzleSet | None) -> None:
        self.document = document
        self._head = as_table(document.get("set"))
        self._cells_left = MAX_CELLS_OF_FILE
        self.regions = RegionReader(self.lattice, ErrorList(""))
        self._shapes: dict[tuple[str, str], frozenset[Cell]] = {}
        if puzzle:
            forms = {("piece", piece.id): piece.forms[0].cells for piece in puzzle.pieces}
            self._shapes = forms | {("board", board.id): board.cells for board in puzzle.boards}

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice; squares while the file names none."""
        name = str(self._head.get("lattice"))
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
        marks = as_table(self._head.get("marks"))
        return {letter: look for letter, look in marks.items() if isinstance(look, str)}

    def drawn(self, thing: Thing) -> dict[Cell, str]:
        """Return the cells that a table draws, with the letters of pieces or marks."""
        drawn = dict(self._drawn(thing)) if self._cells_left > 0 else {}
        self._cells_left -= len(drawn)
        return drawn

    def _drawn(self, thing: Thing) -> Iterator[tuple[Cell, str]]:
        table = table_of(self.document, thing)
        rows, cells = table.get("rows", ()), table.get("cells")
        if isinstance(rows, list) and all(isinstance(row, str) for row in rows):
            lines = [row[:LONGEST_SIDE] for row in rows[:LONGEST_SIDE]]
            yield from self.regions.letters(lines).items()
        elif key := next(iter(table.keys() & {"rows", "size"}), ""):
            yield from ((cell, PLAIN_LETTER) for cell in self.regions.read(key, table[key], ""))
        elif "cells" in table:
            lists = as_table(cells) if thing.kind == "cut" else {PLAIN_LETTER: cells}
            named = [(letter, item) for letter in lists for item in as_list(lists[letter])]
            for letter, item in named:
                with suppress(ValueError):
                    yield from ((c, letter) for c in cells_named(item, self.lattice, None))
        else:
            yield from ((cell, PLAIN_LETTER) for cell in self._shape(thing))

    def _shape(self, thing: Thing) -> frozenset[Cell]:
        """Return the cells of a piece or board as they were read; none if they were not."""
        name = ids_of(table_of(self.document, thing))[0]
        return self._shapes.get((thing.kind, name), frozenset())

    def can_paint(self, thing: Thing) -> bool:
        """Return whether a table can be painted: it has no balls, and no outline unless read."""
        keys = table_of(self.document, thing).keys()
        return "balls" not in keys and bool(not keys & {"outline", "svg"} or self._shape(thing))

    def details(
        self, thing: Thing, cells: Mapping[Cell, str]
    ) -> tuple[dict[Cell, str] | None, Clues | None]:
        """Return the texts on a board's cells, and its clues; None for what has another form."""
        table, lattice = table_of(self.document, thing), self.lattice
        numbering = CellNumbering(lattice, frozenset(cells))
        lines = [str(line).split() for line in as_list(table.get("labels"))]
        lengths = Counter(row for row, _ in numbering.places).values()
        are_labels_read = "labels" not in table or [*map(len, lines)] == [*lengths]
        words = zip(numbering.places, chain.from_iterable(lines), strict=False)
        names = tuple(
            Label(word, numbering.cells.intersection(lattice.cells_at(*place)))
            for place, word in words
            if word != "." and are_labels_read
        )
        labels = {cell: label.text for label in names for cell in label.cells}
        numbering = replace(numbering, labels=names)
        clues: Clues | None = None
        with suppress(KeyError, TypeError, ValueError):
            read: Clues = []
            for clue in tables(table, "clue"):
                what = dict(clue)
                named = [cells_named(item, lattice, numbering) for item in what.pop("cells")]
                read.append((set[Cell]().union(*named), what))
            clues = read
        return labels if are_labels_read else None, clues

    def brushes(self, thing: Thing, cells: Mapping[Cell, str]) -> list[dict[str, str]]:
        """Return the letters that can be painted, and what they look like."""
        table = table_of(self.document, thing)
        if thing.kind == "cut":
            used = list(dict.fromkeys(cells.values()))
            unused = [letter for letter in LETTERS if letter not in used][:_UNUSED]
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
        key = "cut" if thing.kind == "cut" else f"{thing.kind}[{thing.index}]"
        labels, clues = self.details(thing, drawn) if thing.kind == "board" else ({}, [])
        covers = {cell: what for covered, what in clues or [] for cell in covered}
        return {
            "kind": thing.kind,
            "index": thing.index,
            "exists": bool(table),
            **{key: table.get(key) for key in ("id", "count", "open")},
            "isOfBalls": "balls" in table,
            "canPaint": self.can_paint(thing),
            "cells": flat_list(cells),
            "letters": [drawn[cell] for cell in cells],
            "labels": [(labels or {}).get(cell, "") for cell in cells],
            "clues": [covers.get(cell) for cell in cells],
            "brushes": self.brushes(thing, drawn),
            "faults": [fault.message for fault in faults if fault.key.startswith(key)],
        }


def _colour(colour: object, default: str) -> str:
    """Return a colour of a file, or else another."""
    try:
        return str(COLOUR.read(colour))
    except ValueError:
        return default
