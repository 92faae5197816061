"""What the page is played with: pieces, challenges and solutions as exact integers.

The page decides by the same cells as the solver whether a challenge is solved. Nothing about a
lattice or a piece is worked out in the browser that is known here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from fabkit.core.errors import printable
from fabkit.core.files import SCHEMA, json_sha256
from fabkit.model.entry import Entry, in_halves
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import Form, Piece, at_anchor, orientations, tones_on
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units, rings_in_units
from fabkit.output.booklet.items import Item, items_of, stars_of
from fabkit.output.i18n import load_words
from fabkit.output.labels import ends_and_middles, label_place, rooms
from fabkit.output.pieces import BALL_OF_PITCH
from fabkit.output.theme import CAPITAL, ink_on

#: So many digits tell challenges of one name apart.
_MARK = 8
#: How high the capitals of a label may be, in grid units.
_CAPITAL = 0.32


def play_data(
    puzzle: PuzzleSet, entries: Sequence[Entry], unit_mm: float, language: str = "en"
) -> dict[str, Any]:
    """All that the page knows of a set.

    The challenges get the order, the titles and the numbers of the booklet; a grid unit is printed
    as long as `unit_mm`.

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
        "lattice": _lattice(puzzle.lattice, {1, *(entry.halves for entry in entries)}),
        "levels": list(stars_of()),
        "pieces": [one.document() for one in ways.values()],
        "entries": [_entry(puzzle.lattice, item, ways) for item in items],
        "words": load_words("page", language),
    }


def data_script(data: Mapping[str, Any]) -> str:
    r"""The data as a script, which a page can load from a disk: one line of ASCII, in which no text
    can end a script.

    Example:
        >>> print(data_script({"title": "</script>"}), end="")
        window.FABKIT = {"title":"\u003c/script>"};
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return "window.FABKIT = " + text.replace("<", r"\u003c") + ";\n"


def _lattice(lattice: Lattice, halves: Iterable[int]) -> dict[str, Any]:
    """The frame, and for each kind of cell its corners and the parts that it falls into, seen from
    its centroid in steps of the finer frame."""
    return {
        "name": lattice.name,
        "step": [round(step, 9) for step in in_units(lattice, [(1, 1)])[0]],
        "basis": [list(vector) for vector in lattice.basis],
        "turns": len(lattice.moves(False)),
        "kinds": [
            {
                "at": [x, y],
                "corners": _flat(corners),
                "parts": {
                    str(many): _flat(
                        (px - many * x, py - many * y)
                        for px, py in sorted(_split(lattice, [(x, y)], many))
                    )
                    for many in sorted(halves)
                },
            }
            for (x, y), corners in sorted(lattice.corners.items())
        ],
    }


def _entry(lattice: Lattice, item: Item, ways: Mapping[str, Ways]) -> dict[str, Any]:
    entry = item.entry

    def laid(layout: Mapping[str, frozenset[Cell]]) -> list[list[int]]:
        """Pieces where they lie, in the set's order."""
        found = []
        for place, (piece_id, way) in enumerate(ways.items()):
            if piece_id in layout:
                lies = way.place(layout[piece_id], entry.halves)
                if lies is None:
                    raise ValueError(f"{entry.id}: piece {piece_id} cannot lie where it is said to")
                found.append([place, *lies])
        return found

    shapes = {one: [sorted(form.cells) for form in ways[one].piece.forms] for one in entry.pieces}
    given = {one.piece: sorted(one.cells) for one in entry.given}
    asked = [lattice.name, shapes, sorted(entry.region), given, entry.flips, entry.halves]
    found: dict[str, Any] = {
        "id": entry.id,
        # What tells it from another one of its name: of a changed set, or of another.
        "mark": json_sha256(asked)[:_MARK],
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
        "given": laid({one.piece: one.cells for one in entry.given}),
    }
    if entry.solution is not None:
        found["solution"] = laid(entry.solution)
    return found


def _flat(points: Iterable[Point]) -> list[int]:
    return list(chain.from_iterable(points))


def _split(lattice: Lattice, cells: Iterable[Cell], halves: int) -> frozenset[Cell]:
    """The cells that some cells fall into on the lattice of an entry; see `Entry.halves`."""
    return frozenset(cells) if halves == 1 else in_halves(lattice, cells)


class Ways:
    """The distinct ways in which a piece can lie, those without mirror images first.

    With `flips` mirror images are wanted, too.
    """

    def __init__(self, lattice: Lattice, piece: Piece, flips: bool) -> None:
        self.piece, self._lattice, self._flips = piece, lattice, flips
        plain = orientations(lattice, piece, flips=False)
        ways = {way.cells: way for way in plain}
        for way in orientations(lattice, piece, flips=True) if flips else ():
            ways.setdefault(way.cells, way)
        self._all, self._plain = tuple(ways.values()), len(plain)
        self._places = {cells: place for place, cells in enumerate(ways)}
        # For each form the ways that are its turns, then those of its mirror image if that is
        # another one; symmetric ones come again.
        self._sides = self._turns_of_forms(flipped=False)
        if flips:
            more = self._turns_of_forms(flipped=True)
            self._sides += [side for side in more if side[0] >= self._plain]

    def _turns_of_forms(self, flipped: bool) -> list[list[int]]:
        moves = [one for one in self._lattice.symmetries if one.flipped == flipped]
        return [
            [self._places[at_anchor(self._lattice, map(move, form.cells))] for move in moves]
            for form in self.piece.forms
        ]

    def place(self, cells: frozenset[Cell], halves: int) -> tuple[int, int, int] | None:
        """Which way it lies where it covers some cells, and by which frame vector it is moved.

        The cells are those of the lattice with `halves` in the length of each of its own; see
        `Entry.halves`. None when it covers them in no way.
        """
        wanted = at_anchor(self._lattice, cells)
        for number, way in enumerate(self._all):
            parts = _split(self._lattice, way.cells, halves)
            if at_anchor(self._lattice, parts) == wanted:
                (x0, y0), (x1, y1) = min(parts), min(cells)
                return number, x1 - x0, y1 - y0
        return None

    def document(self) -> dict[str, Any]:
        """The piece and its ways. Each has its cells and outline with the lattice's anchor at 0,
        and which way follows: ``left`` and ``right`` by one of the lattice's smallest turns,
        ``over`` when it is turned over without mirror images, ``flip`` with them."""
        piece, lattice = self.piece, self._lattice
        labels = [self._label(form) for form in piece.forms]
        (x, y), _ = labels[0]
        below = piece.tone if (round(x), round(y)) in piece.tones else piece.colour
        ways = []
        for number, way in enumerate(self._all):
            side = next(one for one in self._sides if number in one)
            turn = side.index(number)
            # The label turns with the piece.
            (x, y), height = labels[way.form]
            a, b, c, d = way.symmetry.doubled
            dx, dy = lattice.anchor(map(way.symmetry, piece.forms[way.form].cells))
            at = (a * x + b * y) / 2 - dx, (c * x + d * y) / 2 - dy
            found = {
                "cells": _flat(sorted(way.cells)),
                "rings": [_flat(ring) for ring in way.rings],
                "label": [*(round(one, 3) for one in at), round(height / CAPITAL, 3)],
                "left": side[(turn + 1) % len(side)],
                "right": side[turn - 1],
            }
            if toned := tones_on(lattice, piece, way.cells):
                found["tones"] = [_flat(ring) for ring in rings_of_cells(lattice, toned)]
            if number < self._plain:
                found["over"] = self._turned_over(number, flips=False)
            if self._flips:
                found["flip"] = self._turned_over(number, flips=True)
            ways.append(found)
        return {
            "id": piece.id,
            "label": printable(piece.label),
            "colour": piece.colour,
            "tone": piece.tone,
            "ink": ink_on(below),
            "plain": self._plain,
            "ways": ways,
        }

    def _turned_over(self, way: int, flips: bool) -> int:
        """Which way it lies after it was turned over; the same one when there is no other.

        A flat piece is mirrored from left to right, with `flips`. A piece of balls shows its
        next form. Turned over again and again, and turned in between, every piece comes to lie in
        every way allowed.
        """
        forms = len(self.piece.forms)
        if forms == 1:
            mirror = self._lattice.symmetries[len(self._lattice.moves(False))]
            image = at_anchor(self._lattice, map(mirror, self._all[way].cells))
            return self._places[image] if flips else way
        sides = self._sides if flips else self._sides[:forms]
        now = next(place for place, side in enumerate(sides) if way in side)
        return sides[(now + 1) % len(sides)][sides[now].index(way)]

    def _label(self, form: Form) -> tuple[tuple[float, float], float]:
        """The label of a form: its middle in frame steps, and how high its capitals are in grid
        units.

        On balls, and on squares of two colours, it stands in the middle of one; else it may stand
        on a corner, or between two cells.
        """
        lattice, piece, cells = self._lattice, self.piece, sorted(form.cells)
        places = centres = in_units(lattice, cells)
        if not (piece.body or piece.tones):
            edges = {edge for cell in cells for edge in lattice.cell_edges(cell)}
            places = places + ends_and_middles(in_units(lattice, edge) for edge in edges)
        if piece.body:
            free = [BALL_OF_PITCH / 2] * len(places)
        else:
            places, free = rooms(places, rings_in_units(lattice, form.rings))
        x, y = (math.fsum(values) / len(cells) for values in zip(*centres, strict=True))
        (left, up), height = label_place(piece.label, places, free, (x, y), _CAPITAL)
        ((step_x, step_y),) = in_units(lattice, [(1, 1)])
        return (left / step_x, up / step_y), height
