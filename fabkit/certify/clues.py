"""What the clues of a certificate allow: which pieces are identical, and where each may be.

A clue names cells, and the piece, the mark or the colour that must cover each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabkit.certify.document import ClueStatement, PieceForms
from fabkit.certify.outline import cells_inside
from fabkit.certify.tiling import Keys, ProofError, Tiling

#: The mark of a cell that has none.
PLAIN = "plain"
#: An orientation of a piece, as the bytes of its keys at the origin, with its marks by key.
Look = tuple[bytes, tuple[tuple[int, str], ...]]
#: What tells kinds of pieces apart: looks, and the colour and the id that clues name.
Traits = tuple[frozenset[Look], str, str]
#: A clue with the keys of its cells.
PlacedClue = tuple[Keys, ClueStatement]


def place_clues(
    tiling: Tiling, clues: Sequence[ClueStatement], region: Keys
) -> tuple[PlacedClue, ...]:
    """Return the clues with their cells.

    Raises:
        InputError: if an outline is not on the lattice.
        ProofError: if a clue lies outside the region.
    """
    placed_clues = []
    for index, clue in enumerate(clues):
        keys = cells_inside(tiling, clue.outline, f"problem.clues[{index}].outline")
        if not np.isin(keys, region).all():
            raise ProofError(f"clues[{index}] lies partly outside the region")
        placed_clues.append((keys, clue))
    return tuple(placed_clues)


def looks_of(tiling: Tiling, piece: PieceForms, flips: bool, key: str) -> frozenset[Look]:
    """Return the orientations of a piece with the marks that each shows.

    Raises:
        InputError: if an outline is not on the lattice.
        ProofError: if a mark is outside the piece.
    """
    looks = set[Look]()
    for index, rings in enumerate(piece.forms):
        form = cells_inside(tiling, rings, f"{key}.forms[{index}]")
        sides = (piece.marks, piece.back) if index == 0 else ({}, {})
        marked = [
            {mark: cells_inside(tiling, outline, f"{key}.{name}") for mark, outline in side.items()}
            for name, side in zip(("marks", "back"), sides, strict=True)
        ]
        for cells in (*marked[0].values(), *marked[1].values()):
            if not np.isin(cells, form).all():
                raise ProofError(f"{key}: a mark is outside the piece")
        for turn, flip in tiling.moves(flips):
            image = np.sort(tiling.transform(form, turn, flip))
            base = image[0] // len(tiling.cells) * len(tiling.cells)
            shown = sorted(
                (int(cell - base), mark)
                for mark, cells in marked[flip].items()
                for cell in tiling.transform(cells, turn, flip)
            )
            looks.add(((image - base).tobytes(), tuple(shown)))
    return frozenset(looks)


def mirrored(tiling: Tiling, look: Look) -> Look:
    """Return the mirror image of an orientation with its marks, at the origin."""
    image = tiling.transform(np.frombuffer(look[0], dtype=np.int64), 0, True)
    base = image.min() // len(tiling.cells) * len(tiling.cells)
    marked = np.array([key for key, _ in look[1]], dtype=np.int64)
    keys = (tiling.transform(marked, 0, True) - base).tolist() if len(marked) else []
    marks = zip(keys, (mark for _, mark in look[1]), strict=True)
    return np.sort(image - base).tobytes(), tuple(sorted(marks))


class Permission:
    """Where the clues let a piece be; identical pieces share it."""

    def __init__(
        self, piece: PieceForms, looks: frozenset[Look], clues: Sequence[PlacedClue]
    ) -> None:
        colour = piece.colour if any(clue.colour for _, clue in clues) else ""
        name = piece.id if any(clue.piece == piece.id for _, clue in clues) else ""
        self.traits: Traits = (looks, colour, name)
        self._looks = looks
        self._needed: set[int] = set()
        self._closed: set[int] = set()
        self._marks: list[tuple[int, str]] = []
        for keys, clue in clues:
            if clue.piece == piece.id:
                self._needed.update(keys.tolist())
            if clue.piece not in ("", piece.id) or clue.colour not in ("", piece.colour):
                self._closed.update(keys.tolist())
            elif clue.mark:
                self._marks += [(key, clue.mark) for key in keys.tolist()]

    def allowed(self, image: Keys, shifts: Keys) -> Keys:
        """Return the translations of an orientation, as key offsets, that agree with all clues."""
        if not (self._needed or self._closed or self._marks):
            return shifts
        name = image.tobytes()
        shown = [dict(marks) for orientation, marks in self._looks if orientation == name]
        allowed = []
        for shift in shifts.tolist():
            covered = set((image + shift).tolist())
            asked = [(key - shift, mark) for key, mark in self._marks if key in covered]
            matches = (all(marks.get(key, PLAIN) == mark for key, mark in asked) for marks in shown)
            if self._needed <= covered and not self._closed & covered and any(matches):
                allowed.append(shift)
        return np.array(allowed, dtype=np.int64)
