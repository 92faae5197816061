"""A puzzle set: pieces on a lattice, boards to fill, challenges to solve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fabkit.core.errors import InputError, shown
from fabkit.core.files import json_sha256
from fabkit.model.lattice import Cell, Lattice, Point, Ring
from fabkit.model.piece import Form, Piece
from fabkit.model.polygon import rings_of_cells


@dataclass(frozen=True)
class Board:
    """A region that is also an object; one that is optional is made only when it is asked for."""

    id: str
    cells: frozenset[Cell]
    optional: bool = False


@dataclass(frozen=True)
class Given:
    """A piece that a challenge has already placed, and the cells where it lies."""

    piece: str
    cells: frozenset[Cell]


@dataclass(frozen=True)
class Challenge:
    """A region to be covered by some of the pieces.

    Attributes:
        id: its name in commands.
        region: the cells to cover.
        pieces: ids of the pieces to use, each at most once.
        given: pieces already placed.
        flips: whether pieces may be turned over.
        answer: what the challenge is known to be: ``solved``, ``impossible``, or empty when
            nothing is claimed.
        title: for people; empty when it has none but its id.
        pieces_count: that many of the pieces, whichever, cover the region exactly, and the others
            stay in the box; None when all are used.
    """

    id: str
    region: frozenset[Cell]
    pieces: tuple[str, ...]
    given: tuple[Given, ...] = ()
    flips: bool = False
    answer: str = ""
    title: str = ""
    pieces_count: int | None = None


@dataclass(frozen=True)
class PuzzleSet:
    """Everything that a set file says; pieces, boards and challenges in its order.

    Attributes:
        name: the short name, safe as a file name.
        title: for people.
        lattice: where the pieces' forms lie.
        flips: whether the rules allow to turn pieces over.
        source: the file it was read from, for messages.
        digest: SHA-256 of that file.
        unit_mm: the length of a grid unit that the set's author suggests, or None.
        credit: where the shapes come from.
        licence: on which terms they may be used.
    """

    name: str
    title: str
    lattice: Lattice
    flips: bool
    pieces: tuple[Piece, ...]
    boards: tuple[Board, ...]
    challenges: tuple[Challenge, ...]
    source: str
    digest: str
    unit_mm: float | None = None
    credit: str = "none"
    licence: str = "not stated"

    def piece(self, piece_id: str) -> Piece:
        """The piece of that name; InputError when there is none."""
        return self.select([piece_id])[0]

    def select(self, piece_ids: Sequence[str]) -> tuple[Piece, ...]:
        """The named pieces in the set's order, each once; all when none is named.

        Raises:
            InputError: naming every id that is unknown.
        """
        known = [piece.id for piece in self.pieces]
        unknown = [shown(one) for one in dict.fromkeys(piece_ids) if one not in known]
        if unknown:
            message = f"has no piece {' and no '.join(unknown)}; its pieces are {', '.join(known)}"
            raise InputError.of(self.name, message)
        return tuple(p for p in self.pieces if p.id in piece_ids or not piece_ids)

    @property
    def made_of_balls(self) -> bool:
        """Whether the pieces are balls in space rather than flat prisms."""
        return any(piece.body for piece in self.pieces)

    @property
    def origin(self) -> dict[str, str]:
        """``credit`` and ``licence``, as far as the set file tells them."""
        # Defaults are left out where texts are in other languages.
        told = {"credit": self.credit, "licence": self.licence}
        return {key: text for key, text in told.items() if text != getattr(PuzzleSet, key)}

    @property
    def pieces_sha256(self) -> str:
        """SHA-256 of what a solver needs of the pieces: lattice, ids and forms, in their order.

        What was found for them holds wherever this is the same, whatever colours, boards,
        titles and millimetres the set file says.
        """
        forms = [[piece.id, *(sorted(form.cells) for form in piece.forms)] for piece in self.pieces]
        return json_sha256([self.lattice.name, *forms])

    @property
    def area(self) -> float:
        """The pieces' area in square units (hexagons on the triangular lattice)."""
        return self.area_of(self.pieces)

    def area_of(self, pieces: Iterable[Piece]) -> float:
        """The area of some pieces; of a ball piece that of its first form."""
        return sum(area(self.lattice, piece.forms[0]) for piece in pieces)


def usual_board(boards: Sequence[Board]) -> Board | None:
    """The board that is meant when none is named: the first that is not optional, if there is one."""
    return next((board for board in boards if not board.optional), None)


def area(lattice: Lattice, form: Form) -> float:
    """A form's area in square units (hexagons on the triangular lattice)."""
    return len(form.cells) / lattice.cells_per_unit


def in_units(lattice: Lattice, points: Iterable[Point]) -> list[tuple[float, float]]:
    """Frame points in grid units: the border where exact integers become lengths.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> in_units(LATTICES["quarter-square"], [(6, 3)])
        [(1.0, 0.5)]
    """
    sx, sy = (math.sqrt(squared) for squared in lattice.step_squared)
    return [(x * sx, y * sy) for x, y in points]


def rings_in_units(lattice: Lattice, rings: Iterable[Ring]) -> list[list[tuple[float, float]]]:
    """An outline's rings in grid units."""
    return [in_units(lattice, ring) for ring in rings]


def statement(puzzle: PuzzleSet, challenge: Challenge, leftover: bool = False) -> dict[str, Any]:
    """A challenge with its pieces drawn out, ready for JSON.

    All corners are integer frame points of the lattice (see `fabkit.model.lattice`), outlines
    are lists of rings under the even-odd rule.

    Args:
        puzzle: the set.
        challenge: one of its challenges, or one read from a file.
        leftover: whether cells of the region may stay uncovered.
    """
    lattice = puzzle.lattice
    said: dict[str, Any] = {
        "lattice": lattice.name,
        "flips": challenge.flips,
        "leftover": leftover,
        "region": _plain(rings_of_cells(lattice, challenge.region)),
        "pieces": [drawn(piece) for piece in puzzle.select(challenge.pieces)],
        "given": [
            {"piece": given.piece, "outline": _plain(rings_of_cells(lattice, given.cells))}
            for given in challenge.given
        ],
    }
    if challenge.pieces_count is not None:
        said["pieces_count"] = challenge.pieces_count
    return said


def drawn(piece: Piece) -> dict[str, Any]:
    """A piece drawn out, ready for JSON: its ``id`` and its ``forms``, each a list of rings.

    Example:
        >>> from fabkit.model.library import load_set
        >>> drawn(load_set("fridgeiq").piece("D"))
        {'id': 'D', 'forms': [[[[0, 0], [12, 0], [6, 6]]]]}
    """
    return {"id": piece.id, "forms": [_plain(form.rings) for form in piece.forms]}


def _plain(rings: Iterable[Ring]) -> list[list[list[int]]]:
    return [[[x, y] for x, y in ring] for ring in rings]
