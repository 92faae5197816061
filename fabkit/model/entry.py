"""An entry: a challenge with all that a reader or a player is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import at_anchor, orientations
from fabkit.model.polygon import cells_of_rings
from fabkit.model.puzzle import Challenge, Given, PuzzleSet

#: What kinds of challenges there are, in the order in which they are listed: the set's boards, its
#: own challenges, starting positions, and shapes with the symmetry of a square.
KINDS = ("board", "challenge", "start", "snowflake")


@dataclass(frozen=True)
class Entry:
    """A challenge, and what is known of it; see `fabkit.model.puzzle.Challenge`.

    Attributes:
        title: its name for people, any text; the id when it has no other.
        kind: one of `KINDS`.
        halves: cells of the lattice in one of its units' length: 1; or 2 where pieces lie on two
            lattices half a unit apart. Then `region`, `given` and `solution` are cells of the same
            kind of lattice with units half as long, four of them in each cell of a piece.
        parity: of a snowflake, where its centre is: ``even`` at a corner of the grid, ``odd`` in the
            middle of a square, ``mixed`` for pieces on two lattices; empty for anything else.
        status: ``solved``, ``impossible`` or ``unknown``.
        solution: for each piece its cells, given ones included; None when there is none, or none is
            known.
        count: how many solutions are known; None when they were not counted.
        count_complete: whether there are no more.
        level: how hard it is, such as ``junior``; empty when that is not known.
        score: the same as a number; None when it is not known.
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


def entry_of(challenge: Challenge, kind: str = "") -> Entry:
    """A challenge of which nothing more is known; without a kind, a starting position if pieces lie."""
    known = {one.name: getattr(challenge, one.name) for one in fields(Challenge)}
    del known["answer"]
    title, usual = challenge.title or challenge.id, "start" if challenge.given else "challenge"
    return Entry(**known | {"title": title, "kind": kind or usual})


def challenge_of(entry: Entry) -> Challenge:
    """What an entry asks, in cells of its own units; see `Entry.halves`."""
    asked: dict[str, Any] = {one.name: getattr(entry, one.name, "") for one in fields(Challenge)}
    return Challenge(**asked)


def in_halves(lattice: Lattice, cells: Iterable[Cell]) -> frozenset[Cell]:
    """Cells as cells of the same lattice with units half as long, four for each.

    It is one of squares, whole or cut: hexagons are not made of smaller ones.
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


class Images:
    """The images of a set's pieces under its moves, each worked out once."""

    def __init__(self, puzzle: PuzzleSet) -> None:
        self._puzzle = puzzle
        self._of = cache(self._images)

    def has(
        self, piece_id: str, cells: frozenset[Cell], flips: bool = False, halves: int = 1
    ) -> bool:
        """Whether cells are a piece, turned (or turned over) and moved; see `Entry.halves`."""
        anchored = at_anchor(self._puzzle.lattice, cells) if cells else None
        return anchored in self._of(piece_id, flips, halves)

    def _images(self, piece_id: str, flips: bool, halves: int) -> frozenset[frozenset[Cell]]:
        lattice = self._puzzle.lattice
        found = [one.cells for one in orientations(lattice, self._puzzle.piece(piece_id), flips)]
        if halves == 2:
            found = [in_halves(lattice, cells) for cells in found]
        return frozenset(at_anchor(lattice, cells) for cells in found)


def wrong_with(entry: Entry, images: Images) -> str:
    """Why an entry's solution, of pieces that there are, is none, in a sentence; empty if it is
    one."""
    solution = entry.solution or {}
    used = [piece_id for piece_id in entry.pieces if piece_id in solution]
    if not len(used) == len(solution) == (entry.pieces_count or len(entry.pieces)):
        return "it does not use the pieces of the challenge, each once"
    owners: dict[Cell, str] = {}
    for piece_id in used:
        cells = solution[piece_id]
        if not images.has(piece_id, cells, entry.flips, entry.halves):
            moves = "turns and flips" if entry.flips else "turns"
            return f"piece {piece_id} has another shape under the moves allowed ({moves})"
        if overlapped := next((owners[cell] for cell in sorted(cells) if cell in owners), None):
            return f"pieces {overlapped} and {piece_id} overlap"
        owners |= dict.fromkeys(cells, piece_id)
    if owners.keys() != entry.region:
        return "it does not cover the region exactly"
    if moved := [one.piece for one in entry.given if solution.get(one.piece) != one.cells]:
        return f"piece {moved[0]} lies elsewhere than it is given"
    return ""
