"""Blockers: the parts of a set that keep cells of a board from being covered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Form, Piece, moves_onto
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import PuzzleSet

#: The id of the part that blocks a cell: in commands and file names.
BLOCKER = "blocker"
#: Engraved on it; no piece has this label.
_CROSS = "\N{MULTIPLICATION SIGN}"


def blockers(puzzle: PuzzleSet, colour: str) -> tuple[Piece, ...]:
    """Return the part that blocks a cell, as often as a challenge needs it; none if none does.

    It is made like a piece that covers one place: a cell, or the four quarters of a square. Balls
    have none.
    """
    families = [family for family in puzzle.families if family.blocked]
    blocked = [
        puzzle.lattice.places(challenge.minus)
        for challenge in puzzle.challenges
        if challenge.blocked
    ]
    if puzzle.made_of_balls or not (families or blocked):
        return ()
    first = families[0].groups[0][0].cells if families else blocked[0][0]
    counts = map(len, [*(family.groups for family in families), *blocked])
    form = Form("", first, rings_of_cells(puzzle.lattice, first))
    return (Piece(BLOCKER, _CROSS, colour, (form,), copies=max(counts)),)


def place_unlike_blocker(
    lattice: Lattice, blocker: frozenset[Cell], places: Iterable[frozenset[Cell]]
) -> frozenset[Cell] | None:
    """Return the first of some places that a blocker of these cells does not cover exactly, if any.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> quarters = LATTICES["quarter-square"]
        >>> square, other = (frozenset(quarters.cells_at(0, col)) for col in (0, 1))
        >>> place_unlike_blocker(quarters, square, [other])
        >>> place_unlike_blocker(quarters, square, [other, frozenset({(3, -1)})])
        frozenset({(3, -1)})
    """
    return next((cells for cells in places if not moves_onto(lattice, blocker, cells)), None)


def with_blockers(puzzle: PuzzleSet, colour: str = "") -> PuzzleSet:
    """Return the set with its blockers among the pieces, as they are printed and read back."""
    return replace(puzzle, pieces=(*puzzle.pieces, *blockers(puzzle, colour)))
