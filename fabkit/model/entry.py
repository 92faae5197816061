"""An entry: a challenge with everything known about it, for booklet, page and tables."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Form, Piece, is_image
from fabkit.model.polygon import cells_of_rings, rings_of_cells
from fabkit.model.puzzle import MOVES, Challenge, Given, PuzzleSet

#: Kinds of challenges in listing order: the set's boards, its own challenges, starting positions, and
#: shapes with the symmetry of a square.
KINDS = ("board", "challenge", "start", "snowflake")

#: Prefix for the id of a user's challenge whose name is taken.
OWN_PREFIX = "made-"

#: Levels as printed on the boxes, from easy to hard.
LEVELS = ("starter", "junior", "expert", "master", "wizard")
#: The default thresholds: lowest scores of the second level and those after it.
DEFAULT_THRESHOLDS = (5.0, 8.0, 11.0, 14.0)


@dataclass(frozen=True)
class Entry:
    """A challenge and what is known about it; see `fabkit.model.puzzle.Challenge`.

    Attributes:
        title: display name; the id by default.
        kind: one of `KINDS`.
        halves: subdivision of the grid unit: 1; or 2 where pieces are on two lattices half a unit
            apart. Then `region`, `given` and `solution` are cells of the same lattice with units half
            as long, four of them in each cell of a piece.
        parity: of a snowflake, where its centre is: ``even`` at a corner of the grid, ``odd`` in the
            middle of a square, ``mixed`` for pieces on two lattices; empty for anything else.
        status: ``solved``, ``impossible`` or ``unknown``.
        solution: cells of each piece, including given ones; None when none exists or is known.
        count: number of known solutions; None when not counted.
        count_complete: whether there are no more.
        level: difficulty, such as ``junior``; empty when unknown.
        score: difficulty as a number; None when unknown.
        of: the id of the challenge that a starting position belongs to; empty for one on a board.
    """

    id: str
    title: str
    kind: str
    region: frozenset[Cell]
    pieces: tuple[str, ...]
    given: tuple[Given, ...] = ()
    flips: bool = False
    halves: int = 1
    parity: str = ""
    status: str = "unknown"
    solution: Mapping[str, frozenset[Cell]] | None = None
    count: int | None = None
    count_complete: bool = False
    level: str = ""
    score: float | None = None
    pieces_count: int | None = None
    of: str = ""

    @property
    def pieces_used(self) -> int:
        """The number of pieces that cover the region, given ones among them."""
        return self.pieces_count or len(self.pieces)


def level_thresholds(scores: Iterable[float]) -> tuple[float, ...]:
    """Return the thresholds that put a fifth of the scores, one or more, into each level.

    Equal scores share a level, so levels may differ in size.

    Example:
        >>> level_thresholds([1, 2, 3, 4, 5, 6, 7, 8, 9, 9])
        (3, 5, 7, 9)
    """
    ranked = sorted(scores)
    found = []
    for at in (len(ranked) * place // len(LEVELS) for place in range(1, len(LEVELS))):
        low, high = bisect_left(ranked, ranked[at]), bisect_right(ranked, ranked[at])
        found.append(ranked[high if high - at < at - low and high < len(ranked) else low])
    return tuple(found)


def level_of(score: float, thresholds: Sequence[float] = DEFAULT_THRESHOLDS) -> str:
    """Return the level of a score.

    Example:
        >>> level_of(6.1), level_of(6.1, (1, 2, 3, 8))
        ('junior', 'master')
    """
    return LEVELS[bisect_right(thresholds, score)]


def entry_of(challenge: Challenge, kind: str = "") -> Entry:
    """Return an entry for a challenge; its kind defaults to ``start`` if it has given pieces."""
    known = {one.name: getattr(challenge, one.name) for one in fields(Challenge)}
    del known["answer"]
    title, default = challenge.title or challenge.id, "start" if challenge.given else "challenge"
    return Entry(**known | {"title": title, "kind": kind or default})


def challenge_of(entry: Entry) -> Challenge:
    """Return the challenge of an entry, in cells of its own units; see `Entry.halves`."""
    values: dict[str, Any] = {one.name: getattr(entry, one.name, "") for one in fields(Challenge)}
    return Challenge(**values)


def subdivide(lattice: Lattice, cells: Iterable[Cell]) -> frozenset[Cell]:
    """Split each cell into four cells of the same lattice with units half as long.

    Works for lattices of squares, whole or quartered: hexagons cannot be subdivided.
    """
    of_kind = {
        kind: cells_of_rings(lattice, [tuple((2 * x, 2 * y) for x, y in lattice.ring(kind))])
        for kind in lattice.corners
    }
    found = set[Cell]()
    for cell in cells:
        kind = lattice.residue(cell)
        dx, dy = 2 * (cell[0] - kind[0]), 2 * (cell[1] - kind[1])
        found.update((x + dx, y + dy) for x, y in of_kind[kind])
    return frozenset(found)


def halved(lattice: Lattice, piece: Piece) -> Piece:
    """Return a piece in units half as long: the cells of its forms are subdivided."""
    cells = (subdivide(lattice, form.cells) for form in piece.forms)
    forms = (Form("", some, rings_of_cells(lattice, some)) for some in cells)
    return replace(piece, forms=tuple(forms))


def solution_error(entry: Entry, puzzle: PuzzleSet) -> str:
    """Explain why an entry's solution, made of existing pieces, is invalid; empty if it is valid."""
    solution = entry.solution or {}
    used = [piece_id for piece_id in entry.pieces if piece_id in solution]
    if not len(used) == len(solution) == entry.pieces_used:
        return "it does not use the pieces of the challenge, each once"
    owners: dict[Cell, str] = {}
    for piece_id in used:
        cells, piece = solution[piece_id], puzzle.piece(piece_id)
        piece = piece if entry.halves == 1 else halved(puzzle.lattice, piece)
        if not is_image(puzzle.lattice, piece, cells, entry.flips):
            moves = MOVES[entry.flips]
            return f"piece {piece_id} has another shape under the allowed moves ({moves})"
        if overlapped := next((owners[cell] for cell in sorted(cells) if cell in owners), None):
            return f"pieces {overlapped} and {piece_id} overlap"
        owners |= dict.fromkeys(cells, piece_id)
    if owners.keys() != entry.region:
        return "it does not cover the region exactly"
    if moved := [one.piece for one in entry.given if solution.get(one.piece) != one.cells]:
        return f"piece {moved[0]} is not where it is given"
    return ""
