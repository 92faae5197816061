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
- what cannot become rigid any more: see *Joining* below.

Of mixed parity a set carries how many cells the pieces on the first lattice have, so that at the
end the pieces of each lattice have the area of its part.

*Joining.* In the end every connected part must meet an axis and a diagonal (`Field.mirrors`). As long as it
does not, it has to grow there, over orbits that are not in the set yet. The least number of new
cells that join a part to both mirrors is a shortest tree between three ends, found by passing
outwards from each of them in layers of equal cost. Sets of which a part needs more cells than the
area allows are dropped, and placements that reach an orbit no such tree can hold are not tried.
Other parts may serve as stepping stones, which cost nothing, so nothing is dropped that could be
completed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fabkit.core.errors import InputError
from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.field import Field
from fabkit.solve.engines.compiled import ONE, ZERO, Word, kernel, population, trailing_zeros
from fabkit.solve.problem import WORD_BITS, Words, in_a_row, masks

#: Trees are only looked for while the area left is small; before, there are few sets.
MOST_LAYERS = 24


@kernel
def weigh(mask, planes, values):  # type: ignore[no-untyped-def]
    """The number of cells of a set of orbits: bit counts, orbits of each weight apart."""
    found = np.int64(0)
    for plane in range(values.shape[0]):
        bits = np.int64(0)
        for at in range(planes.shape[1]):
            bits += np.int64(population(mask[at] & planes[plane, at]))
        found += bits * values[plane]
    return found


@kernel
def _spread(sources, near, found):  # type: ignore[no-untyped-def]
    """Adds to ``found`` what meets the sources."""
    for at in range(sources.shape[0]):
        word = sources[at]
        while word != ZERO:
            orbit = at * 64 + np.int64(trailing_zeros(word))
            word &= word - ONE
            for to in range(found.shape[0]):
                found[to] |= near[orbit, to]


@kernel
def _layers(starts, entry, orbits, near, costs, most, reached, around, fresh):  # type: ignore[no-untyped-def]
    """What can be reached at every cost: orbits of the set are free, new ones are not.

    Row c of ``starts`` is where one may start at cost c, after the last row nowhere anew;
    ``entry`` are orbits that can be reached from outside as if they met a start at cost 0.
    For each cost up to ``most`` a row of ``reached`` is written: all orbits reached at that cost
    or less. ``around``, as many rows, and ``fresh``, one more, are to work in.
    """
    width = orbits.shape[0]
    for cost in range(most + 1):
        for at in range(width):
            before = ZERO if cost == 0 else reached[cost - 1, at]
            around[cost, at] = entry[at] if cost == 0 else around[cost - 1, at]
            found = starts[cost, at] if cost < starts.shape[0] else ZERO
            for price in range(1, min(cost, costs.shape[0]) + 1):
                found |= around[cost - price, at] & costs[price - 1, at] & ~orbits[at]
            # What the set itself holds next to what was reached before is free.
            fresh[at] = (found | (around[cost, at] & orbits[at] if cost > 0 else ZERO)) & ~before
            reached[cost, at] = before | fresh[at]
        more = True
        while more:
            more = False
            _spread(fresh, near, around[cost])
            for at in range(width):
                fresh[at] = around[cost, at] & orbits[at] & ~reached[cost, at]
                more |= fresh[at] != ZERO
                reached[cost, at] |= fresh[at]


@kernel
def _useful(orbits, near, mirrors, costs, most, room):  # type: ignore[no-untyped-def]
    """Writes to ``room[2, most]`` the orbits that a tree joins to both mirrors at so much cost.

    The tree's fork lies on an orbit of the set, or on a new one, which both ways to the mirrors
    count. Only such orbits can be part of what the set becomes.
    """
    width = orbits.shape[0]
    fresh, none = room[4, 0], room[4, 1]
    for mirror in range(2):
        for at in range(width):
            room[5, 0, at] = orbits[at] & mirrors[mirror, at]
        _layers(
            room[5, :1], mirrors[mirror], orbits, near, costs, most, room[mirror], room[3], fresh
        )
        for at in range(width):
            if orbits[at] & ~room[mirror, most, at] != ZERO:
                room[2, most] = ZERO
                return
    for cost in range(most + 1):
        for at in range(width):
            forks = ZERO
            for price in range(costs.shape[0] + 1):
                where = orbits[at] if price == 0 else costs[price - 1, at] & ~orbits[at]
                for one in range(max(0, cost + price - most), min(most, cost + price) + 1):
                    forks |= where & room[0, one, at] & room[1, cost + price - one, at]
            room[5, cost, at] = forks
            none[at] = ZERO
    _layers(room[5, : most + 1], none, orbits, near, costs, most, room[2], room[3], fresh)


@kernel
def useful_cells(orbits, field, most, room, useful):  # type: ignore[no-untyped-def]
    """Writes the orbits that the set may still take up, its own among them if it can be joined."""
    planes, _, values, near, mirrors, costs, unit, slack, rigid = field
    layers = (most - weigh(orbits, planes, values) + slack) // unit
    if rigid and layers < room.shape[1]:
        _useful(orbits, near, mirrors, costs, layers, room)
        for at in range(useful.shape[0]):
            useful[at] = room[2, layers, at]
    else:
        useful[:] = ~ZERO


_HASH_START, _HASH_FACTOR = Word(14695981039346656037), Word(0x9E3779B97F4A7C15)


@kernel
def _hash(mask):  # type: ignore[no-untyped-def]
    """A number that is likely to differ for different rows of words."""
    found = _HASH_START
    for word in mask:
        found = (found ^ word) * _HASH_FACTOR
        found ^= found >> Word(29)
    return found ^ (found >> Word(32))


@kernel
def _find(mask, table, rows):  # type: ignore[no-untyped-def]
    """Where a row stands in a hash table, or the free place where it belongs."""
    last = np.int64(table.shape[0] - 1)
    place = np.int64(_hash(mask) & Word(last))
    while table[place] >= 0:
        same, row = True, table[place]
        for at in range(mask.shape[0]):
            if rows[row, at] != mask[at]:
                same = False
                break
        if same:
            break
        place = (place + 1) & last
    return place


@kernel
def _rehashed(rows, count):  # type: ignore[no-untyped-def]
    """A table for the rows that leaves three quarters of its places free."""
    size = 1 << 10
    while size < 4 * count:
        size *= 2
    table = np.full(size, np.int32(-1), dtype=np.int32)
    for row in range(count):
        table[_find(rows[row], table, rows)] = row
    return table


@kernel
def _united(sets, index, touched, barred, placement, useful, union):  # type: ignore[no-untyped-def]
    """Writes the union, unless the placement overlaps the set or leaves what is useful."""
    for at in range(union.shape[0]):
        taken = sets[index, at] & barred[placement, at]
        if (taken | touched[placement, at] & ~useful[at]) != ZERO:
            return False
        union[at] = sets[index, at] | touched[placement, at]
    return True


@kernel
def _parts_fit(weight, inner, here, rest, most):  # type: ignore[no-untyped-def]
    """Whether both parts have room for their pieces, and in the end both have some.

    ``here`` is what the pieces on the first lattice have; those on the other have the others.
    """
    outer, there = weight - inner, most - rest - here
    return inner >= here and outer >= there and (rest > 0 or (inner > 0 and outer > 0))


@kernel
def unite(  # type: ignore[no-untyped-def]
    sets, touched, barred, first_part, cells, rest, least, most, mixed, field,
    rows, kept, table, count,
):  # fmt: skip
    """All unions of a set found so far and the orbits that a placement of the next piece touches.

    Args:
        sets: rows of words; the last word counts the cells of pieces on the first lattice.
        touched: the same of each placement, without that word.
        barred: for each placement the orbits that it overlaps.
        first_part: whether the placement is on the first lattice.
        cells: of the piece.
        rest: cells of all pieces that are still to come.
        least: a union of fewer cells cannot grow to all of them, or cannot hold the pieces so far.
        most: the cells of all pieces.
        mixed: whether both lattices are to be used.
        field: see `Closure`.
        rows: the unions found before, for other sets; ``kept``: which of them can become rigid;
            ``table``: where they stand; ``count``: how many there are.

    Returns:
        The last four, with the new ones.
    """
    width = touched.shape[1]
    row, useful = np.zeros(width + 1, dtype=np.uint64), np.zeros(width, dtype=np.uint64)
    union, grown = row[:width], np.zeros(width, dtype=np.uint64)
    room = np.zeros((6, MOST_LAYERS + 1, width), dtype=np.uint64)
    planes, inner_planes, values = field[0], field[1], field[2]
    for index in range(sets.shape[0]):
        useful_cells(sets[index, :width], field, most, room, useful)
        for placement in range(touched.shape[0]):
            if not _united(sets, index, touched, barred, placement, useful, union):
                continue
            weight = weigh(union, planes, values)
            if weight > most or weight < least:
                continue
            row[width] = sets[index, width] + Word(cells if first_part[placement] else 0)
            if mixed:
                inner = weigh(union, inner_planes, values)
                if not _parts_fit(weight, inner, np.int64(row[width]), rest, most):
                    continue
            place = _find(row, table, rows)
            if table[place] >= 0:
                continue
            if count == rows.shape[0]:
                rows = np.concatenate((rows, np.zeros_like(rows)))
                kept = np.concatenate((kept, np.zeros_like(kept)))
            rows[count] = row
            useful_cells(union, field, most, room, grown)
            kept[count] = True
            for at in range(width):
                kept[count] &= union[at] & ~grown[at] == ZERO
            table[place] = count
            count += 1
            if 2 * count > table.shape[0]:
                table = _rehashed(rows, count)
    return rows, kept, table, count


#: More than this would not fit into the memory of a usual machine, as it grows by doubling.
_MOST_BYTES = 2_000_000_000
#: So many pairs of a set and a placement are gone through at once, so that Ctrl-C is heard.
_PAIRS_AT_ONCE = 2_000_000


class Candidates(NamedTuple):
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
        orbit, found = self.field.orbit, []
        for piece in self.pieces:
            laid = self.field.placements(piece, self.flips)
            found.append(tuple(sorted({tuple(sorted({orbit[c] for c in one})) for one in laid})))
        return tuple(found)

    def candidates(self, first: slice = slice(None)) -> Candidates:
        """The sets of orbits that the pieces' placements unite to and that have their area.

        Args:
            first: which placements of the first piece are taken: a part of the work.
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
            rows = np.zeros((1 << 10, self._width + 1), dtype=np.uint64)
            kept = np.zeros(1 << 10, dtype=np.bool_)
            table, count = np.full(1 << 12, -1, dtype=np.int32), 0
            block = max(1, _PAIRS_AT_ONCE // max(1, len(used)))
            for start in range(0, len(sets), block):
                part = sets[start : start + block]
                rows, kept, table, count = unite(part, *step, rows, kept, table, count)
                if rows.nbytes > _MOST_BYTES:
                    raise InputError.of(
                        "the search",
                        "has more symmetric unions of its pieces' placements than memory holds; "
                        "choose fewer --pieces or a --max-half-width",
                    )
            sets = rows[:count][kept[:count]]
            unions += count
        return Candidates(sets[np.lexsort(sets.T[::-1])], unions, count)
