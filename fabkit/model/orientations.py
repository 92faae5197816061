"""The orientations of a piece, and how turns lead from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fabkit.model.entry import subdivide
from fabkit.model.lattice import Cell, Lattice, Symmetry
from fabkit.model.piece import PLAIN, Marks, Orientation, Piece, normalize_cells


class PieceOrientations:
    """The distinct orientations of a piece, ``all``, and the `marks` that each shows; with `flips`,
    mirror images come last, after `plain_count` others."""

    def __init__(self, lattice: Lattice, piece: Piece, flips: bool) -> None:
        self.piece = piece
        self._lattice = lattice
        self._flips = flips
        images = dict[tuple[frozenset[Cell], Marks], Orientation]()
        for flipped in (False, True) if flips else (False,):
            for index in range(len(piece.forms)):
                for move in self._moves(flipped):
                    cells, marks = self._image(index, move)
                    orientation = Orientation(lattice.name, index, move, cells)
                    images.setdefault((cells, marks), orientation)
            if not flipped:
                self.plain_count = len(images)
        self.all = tuple(images.values())
        self.marks = tuple(marks for _, marks in images)
        self._places = {image: place for place, image in enumerate(images)}
        # The rotations of each form, then those of its mirror image if it differs; for symmetric
        # pieces they repeat.
        self._sides = self._turns_of_forms(flipped=False)
        if flips:
            mirrored = self._turns_of_forms(flipped=True)
            self._sides += [side for side in mirrored if side[0] >= self.plain_count]

    def _moves(self, flipped: bool) -> list[Symmetry]:
        return [move for move in self._lattice.symmetries if move.flipped == flipped]

    def _image(self, form: int, move: Symmetry) -> tuple[frozenset[Cell], Marks]:
        """Return the cells and marks of a form after a move, with the lattice's anchor at 0."""
        cells = self.piece.forms[form].cells
        shown = (self.piece.back if move.flipped else self.piece.marks) if form == 0 else ()
        dx, dy = self._lattice.anchor(map(move, cells))
        marks = []
        for cell, mark in shown:
            x, y = move(cell)
            marks.append(((x - dx, y - dy), mark))
        return normalize_cells(self._lattice, map(move, cells)), tuple(sorted(marks))

    def _turns_of_forms(self, flipped: bool) -> list[list[int]]:
        return [
            [self._places[self._image(index, move)] for move in self._moves(flipped)]
            for index in range(len(self.piece.forms))
        ]

    def place(
        self,
        cells: frozenset[Cell],
        halves: int = 1,
        wanted: Mapping[Cell, str] = MappingProxyType({}),
    ) -> tuple[int, int, int] | None:
        """Return the orientation, and the frame vector that moves it onto cells of the lattice with
        `halves`; None when it does not fit them. See `Entry.halves`.

        Args:
            wanted: marks that it must show there; see `fabkit.model.piece.marked_at`.
        """
        shape = normalize_cells(self._lattice, cells)
        for number, orientation in enumerate(self.all):
            parts = subdivide(self._lattice, orientation.cells, halves)
            if normalize_cells(self._lattice, parts) != shape:
                continue
            (x0, y0), (x1, y1) = min(parts), min(cells)
            dx, dy = x1 - x0, y1 - y0
            marks = {(x + dx, y + dy): mark for (x, y), mark in self.marks[number]}
            if all(
                marks.get(cell, PLAIN) == mark for cell, mark in wanted.items() if cell in cells
            ):
                return number, dx, dy
        return None

    def neighbours(self, number: int) -> dict[str, int]:
        """Return the orientations that follow: ``left`` and ``right`` by the lattice's smallest
        rotation, ``over`` when turned over without mirror images, ``flip`` with them."""
        side = next(side for side in self._sides if number in side)
        turn = side.index(number)
        following = {"left": side[(turn + 1) % len(side)], "right": side[turn - 1]}
        if number < self.plain_count:
            following["over"] = self._turned_over(number, flips=False)
        return following | ({"flip": self._turned_over(number, flips=True)} if self._flips else {})

    def _turned_over(self, orientation: int, flips: bool) -> int:
        """Return the orientation after turning over; the same when there is no other.

        With `flips` a flat piece is mirrored from left to right; a ball piece shows its next form.
        So, with rotations in between, every orientation can be reached.
        """
        forms = len(self.piece.forms)
        if forms == 1 and flips:
            return self._places[self._image(0, self._mirrored(orientation))]
        sides = self._sides if flips else self._sides[:forms]
        current = next(place for place, side in enumerate(sides) if orientation in side)
        return sides[(current + 1) % len(sides)][sides[current].index(orientation)]

    def _mirrored(self, orientation: int) -> Symmetry:
        """Return the move to an orientation, followed by the mirror from left to right."""
        mirror = self._lattice.symmetries[len(self._lattice.moves(False))]
        move = self.all[orientation].symmetry
        points = [*self._lattice.basis, *self.piece.forms[0].cells]
        images = [mirror(move(point)) for point in points]
        return next(
            other
            for other in self._lattice.symmetries
            if other.flipped != move.flipped and [*map(other, points)] == images
        )
