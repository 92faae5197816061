"""The query of a search for snowflakes, and the checks that refuse one without an answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from fabkit.core.errors import InputError, join_or
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes import COUNT_S, DECIDE_S
from fabkit.puzzles.snowflakes.bound import Bound, bound, half_widths
from fabkit.puzzles.snowflakes.field import PARITIES, Field, HalfWidth
from fabkit.puzzles.snowflakes.tiler import Tiler

#: Version of the search; increased when results may change, so that old checkpoints are refused.
ALGORITHM = 1

#: The rotations and reflections of the square.
_SYMMETRIES_OF_SQUARE = 8


@dataclass(frozen=True)
class SnowflakeQuery:
    """The parameters of a search.

    Attributes:
        pieces: ids; each piece is used once.
        parities: some of `PARITIES`, in that order.
        flips: whether pieces may be turned over.
        rigid: only find shapes that do not fall apart.
        max_half_width: in cells, for every parity; None for no limit but the bound.
        count_s: time limit for counting the solutions of a shape, in seconds.
        decide_s: time limit for a hard candidate, in seconds.
    """

    puzzle: PuzzleSet
    pieces: tuple[str, ...]
    parities: tuple[str, ...] = PARITIES
    flips: bool = False
    rigid: bool = True
    max_half_width: int | None = None
    count_s: float = COUNT_S
    decide_s: float = DECIDE_S

    def __post_init__(self) -> None:
        """Raise `InputError` for a query that has no answer."""
        lattice, name = self.puzzle.lattice, self.puzzle.name
        if len(lattice.symmetries) != _SYMMETRIES_OF_SQUARE:
            message = f"uses the {lattice.name} lattice; snowflakes need a lattice of squares"
            raise InputError.of(name, message)
        for piece in self.selected_pieces:
            if len({len(form.cells) for form in piece.forms}) > 1:
                message = f"has pieces whose area depends on how they lie ({piece.id} does)"
                raise InputError.of(name, f"{message}; snowflakes need one fixed area")
        if not self.rigid and self.max_half_width is None:
            message = "there are infinitely many shapes that fall apart"
            raise InputError.of("--wandering", f"{message}; limit them with --max-half-width")
        if not any(self.can_have_area(parity) for parity in self.parities):
            raise InputError.of(
                name,
                f"has pieces with a total area of {self.cells / lattice.cells_per_unit:g}, which "
                f"no symmetric shape of {join_or(self.parities)} parity has; choose others with "
                "--pieces",
            )
        _ = self.bound  # computing it refuses corners off the grid

    @property
    def cells(self) -> int:
        """The number of cells of all pieces."""
        return sum(len(piece.forms[0].cells) for piece in self.selected_pieces)

    @property
    def selected_pieces(self) -> tuple[Piece, ...]:
        """The pieces, in the set's order."""
        return self.puzzle.select(self.pieces)

    def can_have_area(self, parity: str) -> bool:
        """Return whether a union of whole orbits can have as many cells as the pieces."""
        weights = set(Field.for_parity(self.puzzle.lattice, parity, 2).orbit_sizes)
        # Only the centre cell is an orbit of one, so 1 is used at most once; other sizes recur.
        reached = {0, 1} if 1 in weights else {0}
        for total in range(self.cells + 1):
            if any(total - step in reached for step in weights - {1}):
                reached.add(total)
        return self.cells in reached

    @cached_property
    def bound(self) -> Bound | None:
        """The bound on the reach of rigid shapes; None if shapes need not be rigid."""
        return bound(self.puzzle.lattice, self.selected_pieces) if self.rigid else None

    def field(self, parity: str, half_width: HalfWidth) -> Field:
        """Return the field of a parity."""
        return Field.for_parity(self.puzzle.lattice, parity, half_width)

    def tiler(self, parity: str, half_width: HalfWidth) -> Tiler:
        """Return the tiler of a field, cached."""
        name = self.puzzle.lattice.name
        return _tiler(name, parity, half_width, self.selected_pieces, self.flips)

    def half_width(self, parity: str) -> HalfWidth:
        """Return the half-width of the boards searched for a parity."""
        return half_widths(parity, self.bound, self.max_half_width)

    @property
    def fingerprint(self) -> dict[str, Any]:
        """All inputs that the results depend on; a checkpoint with another one is refused."""
        return {
            "work": "snowflakes",
            "algorithm": ALGORITHM,
            "set": self.puzzle.name,
            "pieces_sha256": self.puzzle.pieces_sha256,
            "pieces": list(self.pieces),
            "parities": list(self.parities),
            "flips": self.flips,
            "rigid": self.rigid,
            "max_half_width": self.max_half_width,
            "count_budget_s": self.count_s,
            "budget_s": self.decide_s,
        }


@lru_cache(maxsize=8)
def _tiler(
    lattice: str, parity: str, half_width: HalfWidth, pieces: tuple[Piece, ...], flips: bool
) -> Tiler:
    return Tiler(Field.for_parity(LATTICES[lattice], parity, half_width), pieces, flips)
