"""What the page is played with: pieces, challenges and solutions as exact integers.

The page decides by the same cells as the solver whether a challenge is solved. Nothing about a
lattice or a piece is worked out in the browser that is known here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from fabkit.core.errors import printable
from fabkit.core.files import SCHEMA, json_sha256
from fabkit.model.entry import Entry, in_halves
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import Piece, at_anchor, orientations, tones_on
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
#: The ways that are turns of each other, by the number of turns; symmetric ones come again.
_Side = tuple[int, ...]


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
        (px - halves * x, py - halves * y) for px, py in sorted(_split(lattice, [kind], halves))
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


def _split(lattice: Lattice, cells: Iterable[Cell], halves: int) -> frozenset[Cell]:
    """The cells that some cells fall into on the lattice of an entry; see `Entry.halves`."""
    return frozenset(cells) if halves == 1 else in_halves(lattice, cells)


# --- ways to lie --------------------------------------------------------------------------------


class Ways:
    """The distinct ways in which a piece can lie, those without mirror images first.

    Attributes:
        piece: the piece.
        all: the ways.
        plain: how many of them, from the first, need no mirror image.

    Args:
        lattice: the set's.
        piece: with at least one form.
        flips: whether mirror images are wanted, too.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> ways = Ways(fridgeiq.lattice, fridgeiq.piece("N"), flips=True)
        >>> len(ways.all), ways.plain
        (8, 4)
        >>> [ways.turned(way, 1) for way in range(4)]
        [1, 2, 3, 0]
    """

    def __init__(self, lattice: Lattice, piece: Piece, flips: bool) -> None:
        self.piece = piece
        self._lattice = lattice
        plain = orientations(lattice, piece, flips=False)
        self.plain = len(plain)
        known = {way.cells for way in plain}
        mirrored = orientations(lattice, piece, flips=True) if flips else ()
        self.all = (*plain, *(way for way in mirrored if way.cells not in known))
        self._places = {way.cells: place for place, way in enumerate(self.all)}
        self._order = len(lattice.moves(False))
        self._plain_sides = self._sides(flipped=False)
        more = self._sides(flipped=True) if flips else []
        self._more_sides = [side for side in more if side[0] >= self.plain]
        self._labels = [self._label_place(form) for form in range(len(piece.forms))]

    def turned(self, way: int, turns: int) -> int:
        """Which way it lies after some of the lattice's smallest turns, counter-clockwise."""
        side = next(one for one in self._plain_sides + self._more_sides if way in one)
        return side[(side.index(way) + turns) % self._order]

    def turned_over(self, way: int, flips: bool) -> int:
        """Which way it lies after it was turned over; the same one when there is no other.

        A flat piece is mirrored from left to right, if that is allowed. A piece of balls shows its
        next form. Turned over again and again, and turned in between, every piece comes to lie in
        every way allowed.

        Args:
            way: which way it lies; one without a mirror image, unless these are allowed.
            flips: whether mirror images are allowed.
        """
        if len(self.piece.forms) == 1:
            mirror = self._lattice.symmetries[self._order]
            image = at_anchor(self._lattice, map(mirror, self.all[way].cells))
            return self._places[image] if flips else way
        sides = self._plain_sides + (self._more_sides if flips else [])
        now = next(place for place, side in enumerate(sides) if way in side)
        return sides[(now + 1) % len(sides)][sides[now].index(way)]

    def place(self, cells: frozenset[Cell], halves: int) -> tuple[int, int, int] | None:
        """Which way it lies where it covers some cells, and by which frame vector it is moved.

        Args:
            cells: of the lattice with `halves` cells in the length of each of its own.
            halves: 1 or 2; see `Entry.halves`.

        Returns:
            None when it covers these cells in no way.
        """
        wanted = at_anchor(self._lattice, cells)
        for number, way in enumerate(self.all):
            parts = _split(self._lattice, way.cells, halves)
            if at_anchor(self._lattice, parts) == wanted:
                (x0, y0), (x1, y1) = min(parts), min(cells)
                return number, x1 - x0, y1 - y0
        return None

    def label_spot(self, way: int) -> tuple[float, float, float]:
        """Where the label stands, which turns with the piece, and how high its capitals are.

        Returns:
            x and y of its middle in frame steps, and the height in grid units.
        """
        lies = self.all[way]
        (x, y), height = self._labels[lies.form]
        a, b, c, d = lies.symmetry.doubled
        dx, dy = self._lattice.anchor(map(lies.symmetry, self.piece.forms[lies.form].cells))
        return (a * x + b * y) / 2 - dx, (c * x + d * y) / 2 - dy, height

    @property
    def label_colour(self) -> str:
        """The colour below the label: one of the piece's one or two."""
        (x, y), _ = self._labels[0]
        return self.piece.tone if (round(x), round(y)) in self.piece.tones else self.piece.colour

    def _sides(self, flipped: bool) -> list[_Side]:
        """For each form the ways that are its turns, or those of its mirror image."""
        moves = [one for one in self._lattice.symmetries if one.flipped == flipped]
        return [
            tuple(self._places[at_anchor(self._lattice, map(move, form.cells))] for move in moves)
            for form in self.piece.forms
        ]

    @cache  # noqa: B019 (it lives as long as the page is written)
    def _label_place(self, form: int) -> tuple[tuple[float, float], float]:
        """The label of a form: its middle in frame steps, and its height in grid units.

        On balls, and on squares of two colours, it stands in the middle of one; else it may stand
        on a corner, or between two cells.
        """
        shape = self.piece.forms[form]
        cells = sorted(shape.cells)
        places = in_units(self._lattice, cells)
        if not (self.piece.body or self.piece.tones):
            edges = {edge for cell in cells for edge in self._lattice.cell_edges(cell)}
            places += ends_and_middles(in_units(self._lattice, edge) for edge in edges)
        if self.piece.body:
            free = [BALL_OF_PITCH / 2] * len(places)
        else:
            places, free = rooms(places, rings_in_units(self._lattice, shape.rings))
        centres = in_units(self._lattice, cells)
        balance = [math.fsum(values) / len(cells) for values in zip(*centres, strict=True)]
        x, y = balance
        (left, up), height = label_place(self.piece.label, places, free, (x, y), _CAPITAL)
        (step_x, step_y) = in_units(self._lattice, [(1, 1)])[0]
        return (left / step_x, up / step_y), height
