"""The ways in which a piece can lie, and which follows which when it is turned or turned over."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

from fabkit.model.entry import in_halves
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, at_anchor, orientations
from fabkit.model.puzzle import in_units, rings_in_units
from fabkit.output.labels import ends_and_middles, label_place, rooms
from fabkit.output.pieceview import BALL_OF_PITCH

#: How high the capitals of a label may be, in grid units.
_CAPITAL = 0.32
#: The ways that are turns of each other, by the number of turns; symmetric ones come again.
_Side = tuple[int, ...]


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
            parts = parts_of(self._lattice, way.cells, halves)
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


def parts_of(lattice: Lattice, cells: Iterable[Cell], halves: int) -> frozenset[Cell]:
    """The cells that some cells fall into on the lattice of an entry; see `Entry.halves`."""
    return frozenset(cells) if halves == 1 else in_halves(lattice, cells)
