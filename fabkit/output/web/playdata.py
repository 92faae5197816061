"""What the page is played with: pieces, challenges and solutions as exact integers.

The page decides by the same cells as the solver whether a challenge is solved. Nothing about a
lattice or a piece is worked out in the browser that is known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fabkit.core.errors import printable
from fabkit.core.files import SCHEMA, json_sha256
from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import Piece, tones_on
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.output.booklet.items import Item, items_of, stars_of
from fabkit.output.look import CAPITAL, ink_on
from fabkit.output.pieceview import BALL_OF_PITCH
from fabkit.output.web.ways import Ways, parts_of
from fabkit.output.words import load_words

#: So many digits tell challenges of one name apart.
_MARK = 8


def play_data(
    puzzle: PuzzleSet, entries: Sequence[Entry], unit_mm: float, language: str = "en"
) -> dict[str, Any]:
    """All that the page knows of a set.

    Args:
        puzzle: the set.
        entries: its challenges. They get the order, the titles and the numbers of the booklet.
        unit_mm: length of a grid unit, for printing at 1:1.
        language: of all texts.

    Returns:
        A document for `data_script`. Points and cells are frame points of the lattice in flat
        lists: x, y, x, y. A piece that lies somewhere is its place in the set's list, which of
        its ways, and the frame vector by which it is moved. Texts of users are made `printable`.

    Raises:
        InputError: when there are no texts in that language.
        ValueError: when an entry's given pieces or solution are no images of its pieces.

    Example:
        >>> from fabkit.model.library import load_set
        >>> data = play_data(load_set("fridgeiq"), [], 20.0)
        >>> {piece["id"]: len(piece["ways"]) for piece in data["pieces"] if piece["id"] in "BDN"}
        {'D': 4, 'B': 2, 'N': 4}
    """
    flips = puzzle.flips or any(entry.flips for entry in entries)
    ways = {piece.id: Ways(puzzle.lattice, piece, flips) for piece in puzzle.pieces}
    items = items_of(puzzle, entries, load_words("booklet", language))
    return {
        "schema": SCHEMA,
        "name": puzzle.name,
        "title": printable(puzzle.title),
        "language": language,
        "unitMm": unit_mm,
        "ball": BALL_OF_PITCH if puzzle.made_of_balls else 0,
        "lattice": _lattice(puzzle.lattice, {entry.halves for entry in entries}),
        "levels": list(stars_of()),
        "pieces": [_piece(puzzle.lattice, one, flips) for one in ways.values()],
        "entries": [_entry(puzzle.lattice, item, ways) for item in items],
        "words": load_words("page", language),
    }


def data_script(data: Mapping[str, Any]) -> str:
    r"""The data as a script, which a page can load from a disk.

    Args:
        data: a JSON document.

    Returns:
        One line of ASCII; no text in it can end a script.

    Example:
        >>> print(data_script({"title": "</script>"}), end="")
        window.FABKIT = {"title":"\u003c/script>"};
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return "window.FABKIT = " + text.replace("<", r"\u003c") + ";\n"


def _lattice(lattice: Lattice, halves: Iterable[int]) -> dict[str, Any]:
    """The frame, and for each kind of cell its corners and the parts that it falls into."""
    return {
        "name": lattice.name,
        "step": [round(step, 9) for step in in_units(lattice, [(1, 1)])[0]],
        "basis": [list(vector) for vector in lattice.basis],
        "turns": len(lattice.moves(False)),
        "kinds": [
            {
                "at": list(kind),
                "corners": _flat(corners),
                "parts": {
                    str(many): _flat(_parts(lattice, kind, many)) for many in sorted({1, *halves})
                },
            }
            for kind, corners in sorted(lattice.corners.items())
        ],
    }


def _parts(lattice: Lattice, kind: Point, halves: int) -> list[Point]:
    """Where the parts of a cell lie, seen from its centroid, in steps of the finer frame."""
    x, y = kind
    return [
        (px - halves * x, py - halves * y) for px, py in sorted(parts_of(lattice, [kind], halves))
    ]


def _piece(lattice: Lattice, ways: Ways, flips: bool) -> dict[str, Any]:
    piece = ways.piece
    return {
        "id": piece.id,
        "label": printable(piece.label),
        "colour": piece.colour,
        "tone": piece.tone,
        "ink": ink_on(ways.label_colour),
        "plain": ways.plain,
        "ways": [_way(lattice, ways, number, flips) for number in range(len(ways.all))],
    }


def _way(lattice: Lattice, ways: Ways, number: int, flips: bool) -> dict[str, Any]:
    """One way to lie: cells and outline with the lattice's anchor at 0, and what follows it.

    ``over`` is what follows when it is turned over without mirror images, ``flip`` with them.
    """
    way = ways.all[number]
    toned = tones_on(lattice, ways.piece, way.cells)
    x, y, height = ways.label_spot(number)
    found: dict[str, Any] = {
        "cells": _flat(sorted(way.cells)),
        "rings": [_flat(ring) for ring in way.rings],
        "label": [round(x, 3), round(y, 3), round(height / CAPITAL, 3)],
        "left": ways.turned(number, 1),
        "right": ways.turned(number, -1),
    }
    if toned:
        found["tones"] = [_flat(ring) for ring in rings_of_cells(lattice, toned)]
    if number < ways.plain:
        found["over"] = ways.turned_over(number, flips=False)
    if flips:
        found["flip"] = ways.turned_over(number, flips=True)
    return found


def _entry(lattice: Lattice, item: Item, ways: Mapping[str, Ways]) -> dict[str, Any]:
    entry = item.entry
    given = {one.piece: one.cells for one in entry.given}
    found: dict[str, Any] = {
        "id": entry.id,
        "mark": _mark(lattice, entry, [ways[one].piece for one in entry.pieces]),
        "number": item.number,
        "title": printable(item.title),
        "kind": entry.kind,
        "status": entry.status,
        "level": item.level,
        "stars": item.stars,
        "flips": entry.flips,
        "halves": entry.halves,
        "pieces": [place for place, piece_id in enumerate(ways) if piece_id in entry.pieces],
        "cells": _flat(sorted(entry.region)),
        "rings": [_flat(ring) for ring in rings_of_cells(lattice, entry.region)],
        "given": _laid(entry, ways, given),
    }
    if entry.solution is not None:
        found["solution"] = _laid(entry, ways, entry.solution)
    return found


def _mark(lattice: Lattice, entry: Entry, pieces: Iterable[Piece]) -> str:
    """What tells a challenge from another one of its name: of a changed set, or of another."""
    shapes = {one.id: [sorted(form.cells) for form in one.forms] for one in pieces}
    given = {one.piece: sorted(one.cells) for one in entry.given}
    asked = [lattice.name, shapes, sorted(entry.region), given, entry.flips, entry.halves]
    return json_sha256(asked)[:_MARK]


def _laid(
    entry: Entry, ways: Mapping[str, Ways], layout: Mapping[str, frozenset[Cell]]
) -> list[list[int]]:
    """Pieces where they lie, in the set's order."""
    found = []
    for place, (piece_id, way) in enumerate(ways.items()):
        if piece_id in layout:
            lies = way.place(layout[piece_id], entry.halves)
            if lies is None:
                raise ValueError(f"{entry.id}: piece {piece_id} cannot lie where it is said to")
            found.append([place, *lies])
    return found


def _flat(points: Iterable[Point]) -> list[int]:
    return [number for point in points for number in point]
