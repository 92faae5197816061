"""The closure of orbit sets: every symmetric shape that placements of all pieces may form.

A snowflake is a set of whole orbits that the pieces tile. Every placement touches some orbits, and
the snowflake is the union of the orbits that its pieces touch. So start from the empty set, and for
each piece in turn unite every set found so far with the orbits touched by each of its placements.
The sets with the area of all pieces are the *candidates*; whether the pieces tile them is checked
later. Since different placements give the same union, there are only some hundred thousand sets at
any time, although the combinations of placements are countless.

Sets that cannot become a snowflake are dropped:

- those larger than all pieces together, or too small to reach their area with the remaining pieces;
- those smaller than the pieces so far, which must fit side by side into the union. Without this
  rule there are ten times as many sets;
- those that cannot become rigid any more: see *Joining* below.

For mixed parity a set also records the number of cells of the pieces on the first lattice, so that
in the end the pieces of each lattice have the area of its part.

*Joining.* In the end every connected part must meet an axis and a diagonal (`Field.mirrors`). Until
it does, it must grow there over orbits not yet in the set. The least number of new cells that joins
a part to both mirrors is that of a shortest tree between three ends, found by expanding from each
of them in layers of equal cost. Sets with a part that needs more cells than the area allows are
dropped, and placements that reach an orbit outside all such trees are skipped. Other parts can be
crossed at no cost, so no completable set is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fabkit.core.errors import InputError
from fabkit.core.kernels import ONE, ZERO, Word, kernel, kernel_helper, popcount, trailing_zeros
from fabkit.model.piece import Piece
from fabkit.puzzles.snowflakes.field import Field
from fabkit.solve.exact_cover import WORD_BITS, WordArray, bitmasks, to_csr

#: Trees are only computed once the area left is this small; before, there are few sets.
MOST_LAYERS = 24


@kernel_helper
def count_cells(mask, planes, values):  # type: ignore[no-untyped-def]
    """Count the cells of a set of orbits, by bit counts for each orbit size."""
    count = np.int64(0)
    for plane in range(values.shape[0]):
        bits = np.int64(0)
        for word in range(planes.shape[1]):
            bits += np.int64(popcount(mask[word] & planes[plane, word]))
        count += bits * values[plane]
    return count


@kernel_helper
def _spread(sources, near, spread):  # type: ignore[no-untyped-def]
    """Add the orbits that touch the sources to ``spread``."""
    for word in range(sources.shape[0]):
        bits = sources[word]
        while bits != ZERO:
            orbit = word * 64 + np.int64(trailing_zeros(bits))
            bits &= bits - ONE
            for near_word in range(spread.shape[0]):
                spread[near_word] |= near[orbit, near_word]


@kernel_helper
def _layers(starts, entry, orbits, near, costs, max_cost, reached, around, fresh):  # type: ignore[no-untyped-def]
    """Compute the orbits reachable at every cost: orbits of the set are free, new ones are not.

    Row c of ``starts`` holds the orbits to start from at cost c; ``entry`` are orbits treated as if
    they touched a start at cost 0. Each row of ``reached``, up to ``max_cost``, receives all orbits
    reached at that cost or less. ``around`` (as many rows) and ``fresh`` (one row) are buffers.
    """
    width = orbits.shape[0]
    for cost in range(max_cost + 1):
        for word in range(width):
            before = ZERO if cost == 0 else reached[cost - 1, word]
            around[cost, word] = entry[word] if cost == 0 else around[cost - 1, word]
            reachable = starts[cost, word] if cost < starts.shape[0] else ZERO
            for price in range(1, min(cost, costs.shape[0]) + 1):
                reachable |= around[cost - price, word] & costs[price - 1, word] & ~orbits[word]
            # Orbits of the set next to those reached before are free.
            fresh[word] = (
                reachable | (around[cost, word] & orbits[word] if cost > 0 else ZERO)
            ) & ~before
            reached[cost, word] = before | fresh[word]
        more = True
        while more:
            more = False
            _spread(fresh, near, around[cost])
            for word in range(width):
                fresh[word] = around[cost, word] & orbits[word] & ~reached[cost, word]
                more |= fresh[word] != ZERO
                reached[cost, word] |= fresh[word]


@kernel_helper
def _useful(orbits, near, mirrors, costs, max_cost, room):  # type: ignore[no-untyped-def]
    """Write to ``room[2, max_cost]`` the orbits that a tree of that cost joins to both mirrors.

    The fork of the tree is an orbit of the set, or a new one, whose cost both branches include.
    Only such orbits can be added to the set.
    """
    width = orbits.shape[0]
    fresh = room[4, 0]
    none = room[4, 1]
    for mirror in range(2):
        for word in range(width):
            room[5, 0, word] = orbits[word] & mirrors[mirror, word]
        starts = room[5, :1]
        entry = mirrors[mirror]
        _layers(starts, entry, orbits, near, costs, max_cost, room[mirror], room[3], fresh)
        for word in range(width):
            if orbits[word] & ~room[mirror, max_cost, word] != ZERO:
                room[2, max_cost] = ZERO
                return
    for cost in range(max_cost + 1):
        for word in range(width):
            forks = ZERO
            for price in range(costs.shape[0] + 1):
                where = orbits[word] if price == 0 else costs[price - 1, word] & ~orbits[word]
                total = cost + price
                for first_cost in range(max(0, total - max_cost), min(max_cost, total) + 1):
                    second = room[1, total - first_cost, word]
                    forks |= where & room[0, first_cost, word] & second
            room[5, cost, word] = forks
            none[word] = ZERO
    _layers(room[5, : max_cost + 1], none, orbits, near, costs, max_cost, room[2], room[3], fresh)


@kernel_helper
def useful_orbits(orbits, field, max_weight, room, useful):  # type: ignore[no-untyped-def]
    """Write the orbits that may be added to the set, and its own if it can be joined."""
    planes, _, values, near, mirrors, costs, unit, slack, rigid = field
    layers = (max_weight - count_cells(orbits, planes, values) + slack) // unit
    if rigid and layers < room.shape[1]:
        _useful(orbits, near, mirrors, costs, layers, room)
        for word in range(useful.shape[0]):
            useful[word] = room[2, layers, word]
    else:
        useful[:] = ~ZERO


#: The offset basis of the FNV-1a hash of 64 bits.
_HASH_START = Word(14695981039346656037)
#: The odd number nearest to 2^64 divided by the golden ratio, which spreads close values.
_HASH_FACTOR = Word(0x9E3779B97F4A7C15)


@kernel_helper
def _hash(mask):  # type: ignore[no-untyped-def]
    digest = _HASH_START
    for word in mask:
        digest = (digest ^ word) * _HASH_FACTOR
        digest ^= digest >> Word(29)
    return digest ^ (digest >> Word(32))


@kernel_helper
def _find(mask, table, rows):  # type: ignore[no-untyped-def]
    """Return the place of a row in a hash table, or the free place where it belongs."""
    last = np.int64(table.shape[0] - 1)
    place = np.int64(_hash(mask) & Word(last))
    while table[place] >= 0:
        same = True
        row = table[place]
        for word in range(mask.shape[0]):
            if rows[row, word] != mask[word]:
                same = False
                break
        if same:
            break
        place = (place + 1) & last
    return place


@kernel_helper
def _rehash(rows, count):  # type: ignore[no-untyped-def]
    """Create a hash table for the rows with a load of at most a quarter."""
    size = 1 << 10
    while size < 4 * count:
        size *= 2
    table = np.full(size, np.int32(-1), dtype=np.int32)
    for row in range(count):
        table[_find(rows[row], table, rows)] = row
    return table


@kernel_helper
def _unite(sets, index, touched, barred, placement, useful, union):  # type: ignore[no-untyped-def]
    """Write the union, unless the placement overlaps the set or reaches useless orbits."""
    for word in range(union.shape[0]):
        overlap = sets[index, word] & barred[placement, word]
        if (overlap | touched[placement, word] & ~useful[word]) != ZERO:
            return False
        union[word] = sets[index, word] | touched[placement, word]
    return True


@kernel_helper
def _parts_fit(weight, inner, here, rest, max_weight):  # type: ignore[no-untyped-def]
    """Return whether both parts have room for their pieces, and finally both have some.

    ``here`` is what the pieces on the first lattice have; those on the other have the others.
    """
    outer, there = weight - inner, max_weight - rest - here
    return inner >= here and outer >= there and (rest > 0 or (inner > 0 and outer > 0))


@kernel(
    "u8[:, ::1], u8[:, ::1], u8[:, ::1], b1[::1], i8, i8, i8, i8, b1, "
    "Tuple([u8[:, ::1], u8[:, ::1], i8[::1], u8[:, ::1], u8[:, ::1], u8[:, ::1], i8, i8, b1]), "
    "u8[:, ::1], b1[::1], i4[::1], i8"
)
def extend_unions(  # type: ignore[no-untyped-def]
    sets, touched, barred, first_part, cells, rest, min_weight, max_weight, mixed, field,
    rows, kept, table, count,
):  # fmt: skip
    """Unite every set found so far with the orbits touched by each placement of the next piece.

    Args:
        sets: rows of words; the last word counts the cells of pieces on the first lattice.
        touched: the orbits touched by each placement, without that word.
        barred: the orbits that each placement overlaps.
        first_part: whether each placement is on the first lattice.
        cells: number of cells of the piece.
        rest: number of cells of all remaining pieces.
        min_weight: smaller unions cannot grow enough, or cannot hold the pieces so far.
        max_weight: number of cells of all pieces.
        mixed: whether both lattices must be used.
        field: see `Closure._field`.
        rows: the unions found before; ``kept``: which of them can become rigid; ``table``: their
            hash table; ``count``: their number.

    Returns:
        The last four, with the new unions.
    """
    width = touched.shape[1]
    row = np.zeros(width + 1, dtype=np.uint64)
    union = row[:width]
    useful = np.zeros(width, dtype=np.uint64)
    grown = np.zeros(width, dtype=np.uint64)
    room = np.zeros((6, MOST_LAYERS + 1, width), dtype=np.uint64)
    planes, inner_planes, values = field[0], field[1], field[2]
    for index in range(sets.shape[0]):
        useful_orbits(sets[index, :width], field, max_weight, room, useful)
        for placement in range(touched.shape[0]):
            if not _unite(sets, index, touched, barred, placement, useful, union):
                continue
            weight = count_cells(union, planes, values)
            if weight > max_weight or weight < min_weight:
                continue
            row[width] = sets[index, width] + Word(cells if first_part[placement] else 0)
            if mixed:
                inner = count_cells(union, inner_planes, values)
                if not _parts_fit(weight, inner, np.int64(row[width]), rest, max_weight):
                    continue
            place = _find(row, table, rows)
            if table[place] >= 0:
                continue
            if count == rows.shape[0]:
                rows = np.concatenate((rows, np.zeros_like(rows)))
                kept = np.concatenate((kept, np.zeros_like(kept)))
            rows[count] = row
            useful_orbits(union, field, max_weight, room, grown)
            kept[count] = True
            for word in range(width):
                kept[count] &= union[word] & ~grown[word] == ZERO
            table[place] = count
            count += 1
            if 2 * count > table.shape[0]:
                table = _rehash(rows, count)
    return rows, kept, table, count


#: Memory limit of the sets, which grow by doubling.
_MAX_BYTES = 2_000_000_000
#: Pairs of a set and a placement per kernel call, so that Ctrl-C is handled in between.
_PAIRS_AT_ONCE = 2_000_000


class Candidates(NamedTuple):
    """The candidates of a closure: a sorted row of words for each, whose last word is not part of
    the set; the number of sets in all steps, and of those with the area of all pieces."""

    rows: WordArray
    unions: int
    of_full_area: int


@dataclass(frozen=True)
class Closure:
    """The closure of a field's orbit sets under the placements of some pieces, in the order in
    which they are added. With `rigid`, sets that cannot become rigid are dropped."""

    field: Field
    pieces: tuple[Piece, ...]
    flips: bool = False
    rigid: bool = True

    @cached_property
    def total(self) -> int:
        """The number of cells of all pieces."""
        return sum(len(piece.forms[0].cells) for piece in self.pieces)

    @property
    def _width(self) -> int:
        return max(1, -(-len(self.field.orbits) // WORD_BITS))

    def _rows(self, groups: Sequence[Iterable[int]]) -> WordArray:
        numbers, starts = to_csr([sorted(group) for group in groups])
        return bitmasks(numbers, starts, len(self.field.orbits))

    @cached_property
    def _field(self) -> tuple[Any, ...]:
        """The field as arguments for the kernels.

        The orbits of each size, and those of them on the first lattice; the sizes; the orbits that
        touch each orbit; those on the two mirrors; those that cost 1, 2 … units; the number of
        cells of a unit; the cells by which costs may be too high in total; `rigid`.
        """
        weights = self.field.orbit_sizes
        values = sorted(set(weights))
        planes = [[o for o, weight in enumerate(weights) if weight == value] for value in values]
        inner = [[o for o in plane if self.field.board_of(o) == 0] for plane in planes]
        # The exception is the centre square, an orbit of one cell; others have four or more.
        unit = min((value for value in values if value > 1), default=1)
        slack = sum(unit - weight for weight in weights if weight < unit)
        prices = sorted({max(1, value // unit) for value in values})
        costs = [
            [o for o, weight in enumerate(weights) if max(1, weight // unit) == price]
            for price in range(1, prices[-1] + 1)
        ]
        return (
            self._rows(planes), self._rows(inner), np.array(values, dtype=np.int64),
            self._rows(self.field.touching), self._rows(self.field.mirrors), self._rows(costs),
            unit, slack, self.rigid,
        )  # fmt: skip

    @cached_property
    def touched(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The distinct sets of orbits that the placements of each piece touch."""
        orbit_of = self.field.orbit_of
        by_piece = []
        for piece in self.pieces:
            orbit_sets = set[tuple[int, ...]]()
            for cells in self.field.placements(piece, self.flips):
                orbit_sets.add(tuple(sorted({orbit_of[cell] for cell in cells})))
            by_piece.append(tuple(sorted(orbit_sets)))
        return tuple(by_piece)

    def candidates(self, first: slice = slice(None)) -> Candidates:
        """Return the unions of orbits touched by placements that have the area of the pieces; raise
        an InputError if they need too much memory. `first` selects placements of the first piece,
        to split the work."""
        if not self.field.orbits:
            return Candidates(np.zeros((0, self._width + 1), dtype=np.uint64), 0, 0)
        gains = [
            max((sum(self.field.orbit_sizes[o] for o in orbits) for orbits in touched), default=0)
            for touched in self.touched
        ]
        remaining = self.total
        gain = sum(gains)
        unions = 0
        count = 0
        sets = np.zeros((1, self._width + 1), dtype=np.uint64)
        for index, (piece, touched) in enumerate(zip(self.pieces, self.touched, strict=True)):
            cells = len(piece.forms[0].cells)
            remaining -= cells
            gain -= gains[index]
            used = touched[first] if index == 0 else touched
            barred = [set().union(*(self.field.conflicts[o] for o in orbits)) for orbits in used]
            step = (
                self._rows(used), self._rows(barred),
                np.array([self.field.board_of(orbits[0]) == 0 for orbits in used], dtype=np.bool_),
                cells, remaining, self.total - min(gain, remaining), self.total,
                len(self.field.boards) > 1, self._field,
            )  # fmt: skip
            rows = np.zeros((1 << 10, self._width + 1), dtype=np.uint64)
            kept = np.zeros(1 << 10, dtype=np.bool_)
            table = np.full(1 << 12, -1, dtype=np.int32)
            count = 0
            block = max(1, _PAIRS_AT_ONCE // max(1, len(used)))
            for start in range(0, len(sets), block):
                part = sets[start : start + block]
                rows, kept, table, count = extend_unions(part, *step, rows, kept, table, count)
                if rows.nbytes > _MAX_BYTES:
                    raise InputError.of(
                        "the search",
                        "needs too much memory for the symmetric unions of placements; choose "
                        "fewer --pieces or a smaller --max-half-width",
                    )
            sets = rows[:count][kept[:count]]
            unions += count
        return Candidates(sets[np.lexsort(sets.T[::-1])], unions, count)
