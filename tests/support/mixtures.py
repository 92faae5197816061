"""Random small problems in which every rule of a challenge is mixed.

Most are planted: a region is cut into parts, which become pieces, cells that stay open, or cells
that are no part of the region. Others are then given a wrong piece or a wrong clue.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fabkit.model.lattice import LATTICES, Cell, Lattice, Symmetry
from fabkit.model.piece import Piece
from fabkit.model.puzzle import Clue, Given
from tests.support.sketches import Cells, Sketch, flat
from tests.support.strategies import neighbours

COLOURS = ("#e69f00", "#0072b2")
MARKS = ("o", "x", "")
MAX_CELLS = 12


@dataclass(frozen=True)
class _Part:
    """Cells of the region as a piece covers them, with the marks that show and those below."""

    cells: Cells
    shown: dict[Cell, str]
    hidden: dict[Cell, str]
    colour: str

    def moved(self, move: Symmetry) -> _Part:
        shown = {move(cell): mark for cell, mark in self.shown.items()}
        hidden = {move(cell): mark for cell, mark in self.hidden.items()}
        return _Part(frozenset(map(move, self.cells)), shown, hidden, self.colour)

    def piece(self, lattice: Lattice, name: str, move: Symmetry) -> Piece:
        """The piece that this move turns the part into."""
        image = self.moved(move)
        front, back = (image.hidden, image.shown) if move.flipped else (image.shown, image.hidden)
        return replace(
            flat(lattice.name, name, image.cells),
            colour=self.colour,
            marks=tuple(sorted(front.items())),
            back=tuple(sorted(back.items())),
        )


def mixture(seed: int) -> Sketch:
    """The problem of a seed; six seeds in a row have six lattices."""
    rng = random.Random(seed)
    lattice = [*LATTICES.values()][seed % len(LATTICES)]
    while True:
        sketch = _Mixer(rng, lattice).sketch()
        # A box of many symmetries, three times, has too many to count up to.
        if len(sketch.boxes) < 4 and (len(sketch.boxes) < 3 or max(map(len, sketch.boxes)) < 3):
            return sketch


class _Mixer:
    """Draws the parts of one problem, in the order in which they depend on each other."""

    def __init__(self, rng: random.Random, lattice: Lattice) -> None:
        self._rng = rng
        self._lattice = lattice
        self._flips = rng.random() < 0.5
        #: Maps the region to itself, if there is room for the image of its cells.
        self._symmetry = rng.choice(lattice.symmetries[1:])
        self._is_symmetric = rng.random() < 0.6
        #: Whether pieces come with their mirror images, of which symmetries take account.
        self._are_twins = not self._flips and rng.random() < 0.4
        if self._are_twins:
            self._symmetry = rng.choice([move for move in lattice.symmetries if move.flipped])
            self._is_symmetric = True

    def sketch(self) -> Sketch:
        rng, lattice = self._rng, self._lattice
        board = self._board()
        parts = self._parts(board)
        mode = rng.choice(["all", "some open", "some pieces"][: 1 if self._are_twins else None])
        minus: Cells = frozenset()
        open_count = 0
        if len(parts) > 2 and rng.random() < 0.3 and not self._are_twins:
            minus = parts.pop(rng.randrange(len(parts))).cells
        if len(parts) > 1 and mode == "some open":
            open_count = len(parts.pop(rng.randrange(len(parts))).cells)
        moves = lattice.moves(self._flips)
        pieces = [
            part.piece(lattice, f"p{index}", rng.choice(moves)) for index, part in enumerate(parts)
        ]
        given = tuple(
            Given(piece.id, part.cells)
            for piece, part in zip(pieces, parts, strict=True)
            if rng.random() < (0.0 if self._are_twins else 0.15)
        )
        clues = self._clues(board - minus, parts, pieces)
        for index, piece in enumerate(pieces):
            if rng.random() < 0.1 and not self._are_twins:
                pieces[index] = self._with_second_form(piece)
        if rng.random() < 0.15 and not given:
            pieces[-1] = self._other(pieces[-1].id)
        count = None
        if mode == "some pieces":
            count = len(pieces)
            pieces += [self._other(f"q{index}") for index in range(rng.randint(1, 2))]
            rng.shuffle(pieces)
        blocked, region = bool(minus) and rng.random() < 0.5, board - minus
        options = self._flips, open_count, given, count, clues, minus, blocked
        return Sketch(lattice, region, tuple(pieces), *options)

    # --- cells ------------------------------------------------------------------------------------

    def _grown(self, size: int, start: Cell, within: Cells | None = None) -> Cells:
        """Cells that hang together, at most so many."""
        cells = {start}
        while len(cells) < size:
            rim = {other for cell in cells for other in neighbours(self._lattice, cell)} - cells
            rim = rim if within is None else rim & within
            if not rim:
                break
            cells.add(self._rng.choice(sorted(rim)))
        return frozenset(cells)

    def _board(self) -> Cells:
        """One box, or several that are equal, turned or different; often with a symmetry."""
        rng, lattice = self._rng, self._lattice
        start = rng.choice(lattice.first)
        box = self._grown(rng.randint(2, 8), start)
        if self._is_symmetric:
            box = self._grown(rng.randint(1, 5), start)
            orbit = box
            for _ in range(5):
                orbit |= frozenset(map(self._symmetry, orbit))
            self._is_symmetric = len(orbit) <= MAX_CELLS
            box = orbit if self._is_symmetric else box
        board = box
        while len(board) < 5 or (len(board) < 9 and rng.random() < 0.3):
            other = self._grown(rng.randint(1, 4), start)
            if rng.random() < 0.7:
                other = frozenset(map(rng.choice(lattice.symmetries), box))
            (across, _), (aside, up) = lattice.basis
            columns, rows = rng.choice([(4, 0), (-5, 0), (0, 4), (1, -5), (7, 1)])
            dx, dy = columns * across + rows * aside, rows * up
            more = frozenset((x + dx, y + dy) for x, y in other)
            if len(board | more) > MAX_CELLS:
                break
            board |= more
        return board

    def _parts(self, board: Cells) -> list[_Part]:
        """The board, cut at random; with a symmetry, often into parts and their images."""
        rng = self._rng
        are_marked = rng.random() < 0.6
        bare = set(board)
        parts: list[_Part] = []
        while bare:
            start = rng.choice(sorted(bare))
            size = rng.choice([3, 4] if self._are_twins else [1, 2, 2, 3, 3, 4])
            cells = self._grown(size, start, frozenset(bare))
            shown, hidden = self._marks(cells, are_marked), self._marks(cells, are_marked)
            part = _Part(cells, shown, hidden, rng.choice(COLOURS))
            image = part.moved(self._symmetry)
            parts.append(part)
            bare -= cells
            if image.cells <= bare and (self._are_twins or rng.random() < 0.7):
                parts.append(image)
                bare -= image.cells
        return parts

    def _marks(self, cells: Iterable[Cell], are_marked: bool) -> dict[Cell, str]:
        if not are_marked or self._rng.random() < 0.4:
            return {}
        marks = {cell: self._rng.choice(MARKS) for cell in sorted(cells)}
        return {cell: mark for cell, mark in marks.items() if mark}

    # --- pieces -----------------------------------------------------------------------------------

    def _other(self, name: str) -> Piece:
        """Any piece."""
        cells = self._grown(self._rng.randint(1, 4), self._lattice.first[0])
        part = _Part(cells, self._marks(cells, True), {}, self._rng.choice(COLOURS))
        return part.piece(self._lattice, name, self._lattice.symmetries[0])

    def _with_second_form(self, piece: Piece) -> Piece:
        return replace(piece, forms=(*piece.forms, *self._other("").forms))

    # --- clues ------------------------------------------------------------------------------------

    def _clues(
        self, region: Cells, parts: Sequence[_Part], pieces: Sequence[Piece]
    ) -> tuple[Clue, ...]:
        rng = self._rng
        clues = []
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            keys = rng.choice([*[["piece"], ["mark"], ["colour"]] * 3, ["piece", "mark", "colour"]])
            index = rng.randrange(len(parts))
            part = parts[index]
            cells = self._sample(part.cells)
            mark = part.shown.get(min(cells), "plain")
            fields = {"piece": pieces[index].id, "mark": mark, "colour": part.colour}
            if "mark" in keys:  # it is true of all cells
                cells = frozenset(cell for cell in cells if part.shown.get(cell, "plain") == mark)
            elif "piece" not in keys:  # several pieces may cover them
                alike = (other.cells for other in parts if other.colour == part.colour)
                cells = self._sample(frozenset().union(*alike))
            if rng.random() < 0.25:  # anything, and seldom true
                cells = self._sample(region)
                fields = {
                    "piece": rng.choice(pieces).id,
                    "mark": rng.choice(["o", "x", "plain"]),
                    "colour": rng.choice(COLOURS),
                }
            clues.append(Clue(cells, **{key: fields[key] for key in keys}))
        return tuple(clues)

    def _sample(self, cells: Cells) -> Cells:
        return frozenset(self._rng.sample(sorted(cells), self._rng.randint(1, min(3, len(cells)))))
