"""The kernel of the closure: all unions of the sets found so far with one more piece."""

from __future__ import annotations

import numpy as np

from fabkit.puzzles.snowflakes.joining import MOST_LAYERS, useful_cells, weigh
from fabkit.solve.engines.compiled import ZERO, Word, kernel

_HASH_START, _HASH_FACTOR, _HASH_SHIFT = (
    Word(14695981039346656037),
    Word(0x9E3779B97F4A7C15),
    Word(29),
)


@kernel
def _hash(mask):  # type: ignore[no-untyped-def]
    """A number that is likely to differ for different rows of words."""
    found = _HASH_START
    for word in mask:
        found = (found ^ word) * _HASH_FACTOR
        found ^= found >> _HASH_SHIFT
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
    sets,
    touched,
    barred,
    first_part,
    cells,
    rest,
    least,
    most,
    mixed,
    field,
    rows,
    kept,
    table,
    count,
):
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
        rows: the unions found before, for other sets.
        kept: which of them can become rigid.
        table: where they stand.
        count: how many there are.

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
