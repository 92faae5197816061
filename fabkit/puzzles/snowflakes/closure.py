"""The closure of orbit sets: every symmetric shape that placements of all pieces might add up to.

A snowflake is a set of whole orbits that the pieces tile. Each piece, wherever it lies, touches some
orbits; the snowflake is the union of what its pieces touch. So start from the empty set, go
through the pieces, and unite every set found so far with every set of orbits that a placement of
the next piece touches. At the end those sets are left whose area is that of the pieces: the
*candidates*. Whether the pieces really tile them is another question. Since different placements
unite to the same set, there are only some hundred thousand of them at any time, where placements
have more combinations than can be counted.

On the way everything is dropped that cannot become a snowflake:

- what is larger than all pieces together, or cannot grow to their area with the pieces to come;
- what is smaller than the pieces so far: they lie beside each other inside their union, so it has
  room for them. This keeps the sets few: without it there are ten times as many;
- what cannot become rigid any more: see `fabkit.puzzles.snowflakes.joining`.

Of mixed parity a set carries how many cells the pieces on the first lattice have, so that at the
end the pieces of each lattice have the area of its part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabkit.core.errors import InputError
from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.field import Field
from fabkit.puzzles.snowflakes.unions import unite
from fabkit.solve.problem import WORD_BITS, Words, in_a_row, masks

#: More than this would not fit into the memory of a usual machine, as it grows by doubling.
_MOST_BYTES = 2_000_000_000
#: So many pairs of a set and a placement are gone through at once, so that Ctrl-C is heard.
_PAIRS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Candidates:
    """The sets of orbits that a closure leaves.

    Attributes:
        rows: a row of words for each, the last of which is not part of the set; sorted.
        unions: how many sets there were on the way.
        of_full_area: how many of them have the area of all pieces.
    """

    rows: Words
    unions: int
    of_full_area: int


@dataclass(frozen=True)
class Closure:
    """The closure of a field's orbit sets under the placements of some pieces.

    Attributes:
        field: where the pieces lie.
        pieces: in the order in which they are gone through.
        flips: whether they may be turned over.
        rigid: whether what cannot become rigid is dropped.
    """

    field: Field
    pieces: tuple[Piece, ...]
    flips: bool = False
    rigid: bool = True

    @cached_property
    def total(self) -> int:
        """The cells of all pieces."""
        return sum(len(piece.forms[0].cells) for piece in self.pieces)

    @property
    def _width(self) -> int:
        return max(1, -(-len(self.field.orbits) // WORD_BITS))

    def _rows(self, groups: Sequence[Iterable[int]]) -> Words:
        numbers, starts = in_a_row([sorted(group) for group in groups])
        return masks(numbers, starts, len(self.field.orbits))

    @cached_property
    def _field(self) -> tuple[Any, ...]:
        """What the kernels are told of the field.

        The orbits of each weight, and those of them on the first lattice; the weights; what meets
        each orbit; the two mirrors; the orbits that cost 1, 2 … units to add; how many cells one
        unit is; by how many cells the costs may be too high together; whether to look at all.
        """
        weights = self.field.weights
        values = sorted(set(weights))
        planes = [[o for o, weight in enumerate(weights) if weight == value] for value in values]
        inner = [[o for o in plane if self.field.part_of(o) == 0] for plane in planes]
        # The odd orbit out is the centre of a square, one cell where others have four or more.
        unit = min((value for value in values if value > 1), default=1)
        slack = sum(unit - weight for weight in weights if weight < unit)
        prices = sorted({max(1, value // unit) for value in values})
        costs = [
            [o for o, weight in enumerate(weights) if max(1, weight // unit) == price]
            for price in range(1, prices[-1] + 1)
        ]
        return (
            self._rows(planes), self._rows(inner), np.array(values, dtype=np.int64),
            self._rows(self.field.near), self._rows(self.field.mirrors), self._rows(costs),
            unit, slack, self.rigid,
        )  # fmt: skip

    @cached_property
    def touched(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each piece the sets of orbits that its placements touch, each once."""
        return tuple(
            tuple(
                sorted(
                    {
                        tuple(sorted({self.field.orbit[cell] for cell in placement}))
                        for placement in self.field.placements(piece, self.flips)
                    }
                )
            )
            for piece in self.pieces
        )

    def candidates(self, first: slice = slice(None)) -> Candidates:
        """The sets of orbits that the pieces' placements unite to and that have their area.

        Args:
            first: which placements of the first piece are taken: a part of the work.

        Example:
            >>> from fabkit.model.library import load_set
            >>> fridgeiq = load_set("fridgeiq")
            >>> field = Field.of(fridgeiq.lattice, "odd", 1)
            >>> len(Closure(field, fridgeiq.select("IJMR")).candidates().rows)
            1
        """
        if not self.field.orbits:
            return Candidates(np.zeros((0, self._width + 1), dtype=np.uint64), 0, 0)
        gains = [
            max((sum(self.field.weights[o] for o in one) for one in touched), default=0)
            for touched in self.touched
        ]
        rest, gain, unions, count = self.total, sum(gains), 0, 0
        sets = np.zeros((1, self._width + 1), dtype=np.uint64)
        for at, (piece, touched) in enumerate(zip(self.pieces, self.touched, strict=True)):
            cells = len(piece.forms[0].cells)
            rest, gain = rest - cells, gain - gains[at]
            used = touched[first] if at == 0 else touched
            barred = [set().union(*(self.field.conflicts[o] for o in one)) for one in used]
            step = (
                self._rows(used), self._rows(barred),
                np.array([self.field.part_of(one[0]) == 0 for one in used], dtype=np.bool_),
                cells, rest, self.total - min(gain, rest), self.total,
                len(self.field.parts) > 1, self._field,
            )  # fmt: skip
            rows, kept = (
                np.zeros((1 << 10, self._width + 1), np.uint64),
                np.zeros(1 << 10, np.bool_),
            )
            table, count = np.full(1 << 12, -1, dtype=np.int32), 0
            block = max(1, _PAIRS_AT_ONCE // max(1, len(used)))
            for start in range(0, len(sets), block):
                part = sets[start : start + block]
                rows, kept, table, count = unite(part, *step, rows, kept, table, count)
                if rows.nbytes > _MOST_BYTES:
                    message = (
                        "has more symmetric unions of its pieces' placements than memory holds"
                    )
                    raise InputError.of(
                        "the search", f"{message}; choose fewer --pieces or a --max-half-width"
                    )
            sets = rows[:count][kept[:count]]
            unions += count
        return Candidates(sets[np.lexsort(sets.T[::-1])], unions, count)
