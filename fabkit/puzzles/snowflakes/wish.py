"""What is asked of the search for snowflakes, and what has no answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabkit.core.errors import InputError
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes import COUNT_S, DECIDE_S
from fabkit.puzzles.snowflakes.bound import Bound, bound, half_widths
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, PARITIES, Field, HalfWidth
from fabkit.puzzles.snowflakes.shards import Kind

#: Goes up when the same question may be answered in another way: old ledgers are refused then.
ALGORITHM = 1

_SYMMETRIES_OF_SQUARE = 8


@dataclass(frozen=True)
class Wish:
    """What is searched for.

    Attributes:
        puzzle: the set.
        pieces: the ids of the pieces, each of which is used once.
        parities: some of `PARITIES`, in that order.
        flips: whether pieces may be turned over.
        rigid: whether only shapes are wanted that do not fall apart.
        most: the greatest half-width, in every parity; None for no limit but the bound.
        count_s: so long the solutions of each shape are counted.
        decide_s: so long each hard candidate is tried.
    """

    puzzle: PuzzleSet
    pieces: tuple[str, ...]
    parities: tuple[str, ...] = PARITIES
    flips: bool = False
    rigid: bool = True
    most: int | None = None
    count_s: float = COUNT_S
    decide_s: float = DECIDE_S

    def __post_init__(self) -> None:
        """Refuses what has no answer.

        Raises:
            InputError: then.
        """
        lattice, name = self.puzzle.lattice, self.puzzle.name
        if len(lattice.symmetries) != _SYMMETRIES_OF_SQUARE:
            message = f"lies on the {lattice.name} lattice; snowflakes have the square's symmetry"
            raise InputError.of(name, f"{message}, so the lattice must be of squares")
        for piece in self.puzzle.select(self.pieces):
            if len({len(form.cells) for form in piece.forms}) > 1:
                message = f"can lie flat in ways of different area ({piece.id} can)"
                raise InputError.of(name, f"has pieces that {message}; snowflakes have one area")
        if not self.rigid and self.most is None:
            message = "shapes that fall apart have no end; give --max-half-width as well"
            raise InputError.of("--wandering", message)
        if not any(self.can_have_area(parity) for parity in self.parities):
            area = f"{self.cells / lattice.cells_per_unit:g}"
            parities = " or ".join(filter(None, (", ".join(self.parities[:-1]), self.parities[-1])))
            message = f"has pieces of area {area} together, and no symmetric shape of {parities}"
            raise InputError.of(name, f"{message} parity has that; choose others with --pieces")
        assert self.bound is None or self.bound.reach >= 0  # which refuses corners off the grid

    @property
    def cells(self) -> int:
        """The cells of all pieces."""
        return sum(len(piece.forms[0].cells) for piece in self.puzzle.select(self.pieces))

    def can_have_area(self, parity: str) -> bool:
        """Whether whole orbits can have the cells of all pieces."""
        weights = {
            weight
            for one in ((EVEN, ODD) if parity == MIXED else (parity,))
            for weight in Field.of(self.puzzle.lattice, one, 2).weights
        }
        # A single cell is its own orbit once, in the centre; all other weights come again.
        reached = {0, 1} if 1 in weights else {0}
        steps = sorted(weights - {1})
        for total in range(self.cells + 1):
            if any(total - step in reached for step in steps):
                reached.add(total)
        return self.cells in reached

    @property
    def bound(self) -> Bound | None:
        """How far rigid shapes can reach; None for those that need not be rigid."""
        pieces = self.puzzle.select(self.pieces)
        return bound(self.puzzle.lattice, pieces) if self.rigid else None

    def kind(self, parity: str) -> Kind:
        """The wish for one parity, as the shards know it."""
        return Kind(self.puzzle, self.pieces, parity, self.flips, self.rigid)

    def half_width(self, parity: str) -> HalfWidth:
        """The boards on which a parity is searched for."""
        return half_widths(parity, self.bound, self.most)

    @property
    def identity(self) -> dict[str, Any]:
        """What the results depend on: a ledger of another identity is refused."""
        return {
            "work": "snowflakes",
            "algorithm": ALGORITHM,
            "set": self.puzzle.name,
            "pieces_sha256": self.puzzle.pieces_sha256,
            "pieces": list(self.pieces),
            "parities": list(self.parities),
            "flips": self.flips,
            "rigid": self.rigid,
            "max_half_width": self.most,
            "count_budget_s": self.count_s,
            "budget_s": self.decide_s,
        }
