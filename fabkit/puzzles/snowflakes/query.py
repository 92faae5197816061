"""What is asked of the search for snowflakes, and what has no answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabkit.core.errors import InputError
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes import COUNT_S, DECIDE_S
from fabkit.puzzles.snowflakes.bound import Bound, bound, half_widths
from fabkit.puzzles.snowflakes.field import PARITIES, Field, HalfWidth
from fabkit.puzzles.snowflakes.tiling import Tiler

#: Goes up when the same question may be answered in another way: old checkpoints are refused then.
ALGORITHM = 1

_SYMMETRIES_OF_SQUARE = 8
_MOST_TILERS = 8
_tilers: dict[tuple[Any, ...], Tiler] = {}


@dataclass(frozen=True)
class SnowflakeQuery:
    """What is searched for.

    Attributes:
        pieces: their ids; each is used once.
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
        """Refuses with an `InputError` what has no answer."""
        lattice, name = self.puzzle.lattice, self.puzzle.name
        if len(lattice.symmetries) != _SYMMETRIES_OF_SQUARE:
            message = f"lies on the {lattice.name} lattice; snowflakes have the square's symmetry"
            raise InputError.of(name, f"{message}, so the lattice must be of squares")
        for piece in self.chosen:
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
        return sum(len(piece.forms[0].cells) for piece in self.chosen)

    @property
    def chosen(self) -> tuple[Piece, ...]:
        """The pieces, in the set's order."""
        return self.puzzle.select(self.pieces)

    def can_have_area(self, parity: str) -> bool:
        """Whether whole orbits can have the cells of all pieces."""
        weights = set(Field.of(self.puzzle.lattice, parity, 2).weights)
        # A single cell is its own orbit once, in the centre; all other weights come again.
        reached = {0, 1} if 1 in weights else {0}
        for total in range(self.cells + 1):
            if any(total - step in reached for step in weights - {1}):
                reached.add(total)
        return self.cells in reached

    @cached_property
    def bound(self) -> Bound | None:
        """How far rigid shapes can reach; None for those that need not be rigid."""
        return bound(self.puzzle.lattice, self.chosen) if self.rigid else None

    def field(self, parity: str, half_width: HalfWidth) -> Field:
        """The boards of a parity."""
        return Field.of(self.puzzle.lattice, parity, half_width)

    def tiler(self, parity: str, half_width: HalfWidth) -> Tiler:
        """What tries candidates there; it is kept for the next one."""
        key = (self.puzzle.digest, self.pieces, self.flips, parity, half_width)
        if key not in _tilers:
            if len(_tilers) == _MOST_TILERS:
                del _tilers[next(iter(_tilers))]
            _tilers[key] = Tiler(self.field(parity, half_width), self.chosen, self.flips)
        return _tilers[key]

    def half_width(self, parity: str) -> HalfWidth:
        """The boards on which a parity is searched for."""
        return half_widths(parity, self.bound, self.most)

    @property
    def identity(self) -> dict[str, Any]:
        """What the results depend on: a checkpoint of another identity is refused."""
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
