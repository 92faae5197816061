"""The data of the play page: pieces, challenges and solutions as exact integers.

The page uses the solver's cells to decide whether a challenge is solved. Everything known about
lattices and pieces is computed here, not in the browser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from fabkit.core.errors import escape
from fabkit.core.files import SCHEMA_VERSION, json_sha256
from fabkit.model.entry import LEVELS, subdivide
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import Form, Piece, normalize_cells, orientations, tones_at
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Entry, PuzzleSet, rings_to_units, to_units
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.labels import clearances, place_label, vertices_and_midpoints
from fabkit.output.numbering import NumberedChallenge, number_challenges
from fabkit.output.pieces import BALL_DIAMETER_IN_PITCHES
from fabkit.output.theme import CAPITAL, DARK, LIGHT, Theme, ink_on
from fabkit.solve.difficulty import solving_order

#: The maximum height of a label's capitals, in grid units.
_CAPITAL = 0.32
#: The opacity of a given piece on the board and of a socket, as in ``fabkit.css``.
_GIVEN = 0.55


def play_data(
    puzzle: PuzzleSet, entries: Sequence[Entry], unit_mm: float, language: str = ""
) -> dict[str, Any]:
    """Return the data of a set's page; see `fabkit.output.web.document.page_files`.

    Challenges have the order, titles and numbers of the booklet.

    Returns:
        A document for `data_script`. Points and cells are frame points of the lattice in flat
        lists: x, y, x, y. A placement is the piece's index in the set, the index of its
        orientation, and the frame vector that moves it. The ``order`` of an entry is that in which a
        person would find its pieces. Users' texts are escaped.

    Raises:
        InputError: when the language is not supported.
        ValueError: when given pieces or the solution of an entry are not placements of its pieces.

    Example:
        >>> from fabkit.model.library import load_set
        >>> data = play_data(load_set("fridgeiq"), [], 20.0)
        >>> {piece["id"]: len(piece["orientations"]) for piece in data["pieces"] if piece["id"] in "BDN"}
        {'D': 4, 'B': 2, 'N': 4}
    """
    flips = puzzle.flips or any(entry.challenge.flips for entry in entries)
    pieces = {piece.id: PieceOrientations(puzzle.lattice, piece, flips) for piece in puzzle.pieces}
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
        "lattice": _lattice(puzzle.lattice, {1, *(entry.halves for entry in entries)}),
        "levels": list(LEVELS),
        "pieces": [piece.document() for piece in pieces.values()],
        "entries": [_entry(puzzle, challenge, pieces) for challenge in numbered[LANGUAGES[0]]],
        "titles": titles,
        "translations": {language: load_messages("page", language) for language in LANGUAGES},
    }


def data_script(data: Mapping[str, Any]) -> str:
    r"""Return the data as a script that a page can load from disk: one line of ASCII, in which no text
    can end the script element.

    Example:
        >>> print(data_script({"title": "</script>"}), end="")
        window.FABKIT = {"title":"\u003c/script>"};
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return "window.FABKIT = " + text.replace("<", r"\u003c") + ";\n"


def _lattice(lattice: Lattice, halves: Iterable[int]) -> dict[str, Any]:
    """Return the frame, and for each kind of cell its corners, whether lines are drawn from one to the
    next, and the parts it splits into, relative to its centroid in steps of the finer frame."""

    def parts(x: int, y: int, factor: int) -> list[int]:
        parts_of_cell = sorted(_split(lattice, [(x, y)], factor))
        return _flat((px - factor * x, py - factor * y) for px, py in parts_of_cell)

    return {
        "name": lattice.name,
        "step": [round(step, 9) for step in to_units(lattice, [(1, 1)])[0]],
        "basis": [list(vector) for vector in lattice.basis],
        "turns": len(lattice.moves(False)),
        "kinds": [
            {
                "at": [x, y],
                "corners": _flat(corners),
                "lines": [
                    edge in lattice.visible_edges((x, y)) for edge in lattice.cell_edges((x, y))
                ],
                "parts": {str(factor): parts(x, y, factor) for factor in sorted(halves)},
            }
            for (x, y), corners in sorted(lattice.corners.items())
        ],
    }


def _entry(
    puzzle: PuzzleSet, numbered: NumberedChallenge, pieces: Mapping[str, PieceOrientations]
) -> dict[str, Any]:
    entry = numbered.entry
    challenge = entry.challenge
    lattice = puzzle.lattice
    indices = {piece_id: index for index, piece_id in enumerate(pieces)}

    def placements(layout: Mapping[str, frozenset[Cell]]) -> list[list[int]]:
        """Return placements in the set's order."""
        placed_pieces = []
        for piece_id, index in indices.items():
            if piece_id in layout:
                placed = pieces[piece_id].place(layout[piece_id], entry.halves)
                if placed is None:
                    raise ValueError(f"{challenge.id}: piece {piece_id} does not cover its cells")
                placed_pieces.append([index, *placed])
        return placed_pieces

    shapes = {
        piece_id: [sorted(form.cells) for form in pieces[piece_id].piece.forms]
        for piece_id in challenge.pieces
    }
    given = {placed.piece: sorted(placed.cells) for placed in challenge.given}
    region = sorted(challenge.region)
    identity = [lattice.name, shapes, region, given, challenge.flips, entry.halves]
    if challenge.pieces_count:  # else all pieces
        identity.append(challenge.pieces_count)
    document: dict[str, Any] = {
        "id": challenge.id,
        # Distinguishes it from challenges of the same name in another or a changed set.
        "mark": json_sha256(identity)[:8],
        "number": numbered.number,
        "kind": entry.kind,
        "status": entry.result.status,
        "level": numbered.level,
        "stars": numbered.stars,
        "flips": challenge.flips,
        "halves": entry.halves,
        "pieces": sorted(indices[piece_id] for piece_id in challenge.pieces),
        "count": challenge.pieces_used,
        "cells": _flat(region),
        "rings": [_flat(ring) for ring in rings_of_cells(lattice, challenge.region)],
        "given": placements({placed.piece: placed.cells for placed in challenge.given}),
    }
    if entry.solution:
        document["solution"] = placements(entry.solution)
        document["order"] = [indices[step.piece] for step in solving_order(puzzle, entry)]
    return document


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


def _flat(points: Iterable[Point]) -> list[int]:
    return list(chain.from_iterable(points))


def _split(lattice: Lattice, cells: Iterable[Cell], halves: int) -> frozenset[Cell]:
    """Split cells for the lattice of an entry; see `Entry.halves`."""
    return frozenset(cells) if halves == 1 else subdivide(lattice, cells)


class PieceOrientations:
    """The distinct orientations of a piece, ``all``; with `flips`, mirror images come last."""

    def __init__(self, lattice: Lattice, piece: Piece, flips: bool) -> None:
        self.piece = piece
        self._lattice = lattice
        self._flips = flips
        plain = orientations(lattice, piece, flips=False)
        by_cells = {orientation.cells: orientation for orientation in plain}
        for orientation in orientations(lattice, piece, flips=True) if flips else ():
            by_cells.setdefault(orientation.cells, orientation)
        self.all = tuple(by_cells.values())
        self._plain = len(plain)
        self._places = {cells: place for place, cells in enumerate(by_cells)}
        # The rotations of each form, then those of its mirror image if it differs; for symmetric
        # pieces they repeat.
        self._sides = self._turns_of_forms(flipped=False)
        if flips:
            mirrored = self._turns_of_forms(flipped=True)
            self._sides += [side for side in mirrored if side[0] >= self._plain]

    def _turns_of_forms(self, flipped: bool) -> list[list[int]]:
        moves = [symmetry for symmetry in self._lattice.symmetries if symmetry.flipped == flipped]
        return [
            [self._places[normalize_cells(self._lattice, map(move, form.cells))] for move in moves]
            for form in self.piece.forms
        ]

    def place(self, cells: frozenset[Cell], halves: int) -> tuple[int, int, int] | None:
        """Return the orientation, and the frame vector that moves it onto cells of the lattice with
        `halves`; None when it does not fit them. See `Entry.halves`."""
        wanted = normalize_cells(self._lattice, cells)
        for number, orientation in enumerate(self.all):
            parts = _split(self._lattice, orientation.cells, halves)
            if normalize_cells(self._lattice, parts) == wanted:
                (x0, y0), (x1, y1) = min(parts), min(cells)
                return number, x1 - x0, y1 - y0
        return None

    def document(self) -> dict[str, Any]:
        """Return the piece and its orientations. Each has its cells and outline with the lattice's
        anchor at 0, and the orientations that follow: ``left`` and ``right`` by the lattice's smallest
        rotation, ``over`` when turned over without mirror images, ``flip`` with them."""
        piece, lattice = self.piece, self._lattice
        labels = [self._label(form) for form in piece.forms]
        (x, y), _ = labels[0]
        below = piece.tone if (round(x), round(y)) in piece.tones else piece.colour
        documents = []
        for number, orientation in enumerate(self.all):
            side = next(side for side in self._sides if number in side)
            turn = side.index(number)
            # The label rotates with the piece.
            (x, y), height = labels[orientation.form]
            a, b, c, d = orientation.symmetry.doubled
            dx, dy = lattice.anchor(map(orientation.symmetry, piece.forms[orientation.form].cells))
            corner = (a * x + b * y) / 2 - dx, (c * x + d * y) / 2 - dy
            document = {
                "cells": _flat(sorted(orientation.cells)),
                "rings": [_flat(ring) for ring in orientation.rings],
                "label": [*(round(length, 3) for length in corner), round(height / CAPITAL, 3)],
                "left": side[(turn + 1) % len(side)],
                "right": side[turn - 1],
            }
            if toned := tones_at(lattice, piece, orientation.cells):
                document["tones"] = [_flat(ring) for ring in rings_of_cells(lattice, toned)]
            if number < self._plain:
                document["over"] = self._turned_over(number, flips=False)
            if self._flips:
                document["flip"] = self._turned_over(number, flips=True)
            documents.append(document)
        return {
            "id": piece.id,
            "label": escape(piece.label),
            "colour": piece.colour,
            "tone": piece.tone,
            "ink": ink_on(below),
            "faint": f"light-dark({', '.join(_faint_ink(piece, below, theme) for theme in (LIGHT, DARK))})",
            "plain": self._plain,
            "orientations": documents,
        }

    def _turned_over(self, orientation: int, flips: bool) -> int:
        """Return the orientation after turning over; the same when there is no other.

        With `flips` a flat piece is mirrored from left to right; a ball piece shows its next form.
        So, with rotations in between, every orientation can be reached.
        """
        forms = len(self.piece.forms)
        if forms == 1:
            mirror = self._lattice.symmetries[len(self._lattice.moves(False))]
            image = normalize_cells(self._lattice, map(mirror, self.all[orientation].cells))
            return self._places[image] if flips else orientation
        sides = self._sides if flips else self._sides[:forms]
        current = next(place for place, side in enumerate(sides) if orientation in side)
        return sides[(current + 1) % len(sides)][sides[current].index(orientation)]

    def _label(self, form: Form) -> tuple[tuple[float, float], float]:
        """Return the centre of a form's label in frame steps, and the height of its capitals in grid
        units.

        On balls, and on squares of two colours, it is centred on one; else it may be centred on a
        vertex or an edge.
        """
        lattice, piece, cells = self._lattice, self.piece, sorted(form.cells)
        places = centres = to_units(lattice, cells)
        if piece.body:
            free = [BALL_DIAMETER_IN_PITCHES / 2] * len(places)
        else:
            if not piece.tones:
                edges = {edge for cell in cells for edge in lattice.cell_edges(cell)}
                places = places + vertices_and_midpoints(to_units(lattice, edge) for edge in edges)
            places, free = clearances(places, rings_to_units(lattice, form.rings))
        x, y = (math.fsum(values) / len(cells) for values in zip(*centres, strict=True))
        (left, up), height = place_label(piece.label, places, free, (x, y), _CAPITAL)
        ((step_x, step_y),) = to_units(lattice, [(1, 1)])
        return (left / step_x, up / step_y), height
