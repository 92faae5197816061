"""Which placements the clues of a challenge allow."""

from __future__ import annotations

from collections.abc import Iterable

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, marked_at
from fabkit.model.puzzle import Challenge, Clue, Given, PuzzleSet


class ClueFilter:
    """Where the clues of a challenge let a piece be.

    What a piece covers must be its own cells, of its colour, and with one of its moves show the
    marks of all clues there at once. `marks` are those that clues let this piece show, by cell.
    """

    def __init__(self, lattice: Lattice, piece: Piece, clues: Iterable[Clue], flips: bool) -> None:
        self._lattice = lattice
        self._piece = piece
        self._flips = flips
        self._required = frozenset[Cell]()
        self._forbidden = frozenset[Cell]()
        self.marks: dict[Cell, str] = {}
        for clue in clues:
            if clue.piece == piece.id:
                self._required |= clue.cells
            if clue.piece not in ("", piece.id) or clue.colour not in ("", piece.colour):
                self._forbidden |= clue.cells
            elif clue.mark:
                self._forbidden |= {
                    cell for cell in clue.cells if self.marks.get(cell, clue.mark) != clue.mark
                }
                self.marks |= dict.fromkeys(clue.cells, clue.mark)

    def allows(self, cells: frozenset[Cell]) -> bool:
        """Return whether the piece, in one of its images, may cover these cells."""
        if not self._required <= cells or not self._forbidden.isdisjoint(cells):
            return False
        return self.marks.keys().isdisjoint(cells) or any(
            True for _ in marked_at(self._lattice, self._piece, cells, self._flips, self.marks)
        )


def contradictory_given(puzzle: PuzzleSet, challenge: Challenge) -> list[Given]:
    """Return the given pieces that contradict a clue: with any, there is no solution."""
    return [
        given
        for given in challenge.given
        if not ClueFilter(
            puzzle.lattice, puzzle.piece(given.piece), challenge.clues, challenge.flips
        ).allows(given.cells)
    ]
