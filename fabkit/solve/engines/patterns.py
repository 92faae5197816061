"""Options listed in advance by the cell they begin at and by what is covered of those after it."""

from __future__ import annotations

import numpy as np

from fabkit.solve.engines.compiled import ONE, ZERO, Word, kernel
from fabkit.solve.packing import Numbers, Words

#: So many cells after the lowest bare one choose the list of options.
PATTERN_BITS = 7


@kernel
def list_of(cell, window):  # type: ignore[no-untyped-def]
    """Which list belongs to a lowest bare cell and to what is covered from that cell on."""
    pattern = (window >> ONE) & ((ONE << Word(PATTERN_BITS)) - ONE)
    return (np.int64(cell) << PATTERN_BITS) + np.int64(pattern)


@kernel
def _fill(rows, ahead, first, start, table):  # type: ignore[no-untyped-def]
    """Writes where each list begins, and the lists themselves if there is a table for them.

    Arrays come from outside: making them in a kernel takes twice as long to compile.
    """
    total = 0
    for index in range(start.shape[0] - 1):
        cell, pattern = index >> PATTERN_BITS, Word(index) & ((ONE << Word(PATTERN_BITS)) - ONE)
        start[index] = total
        for row in range(first[cell], first[cell + 1]):
            if ahead[row] & pattern == ZERO:
                if table.shape[0] > 0:
                    table[total] = rows[row]
                total += 1
    start[start.shape[0] - 1] = total


def by_pattern(rows: Words, windows: Words, first: Numbers) -> tuple[Words, Numbers]:
    """All rows for all lists.

    Args:
        rows: one for each option, sorted by its lowest cell.
        windows: for each row the option's cells, as bits from its lowest cell on.
        first: for each cell the first row with this lowest cell, and the end.

    Returns:
        The rows, list after list, and where each list begins, and the last one ends.
    """
    ahead = windows >> np.uint64(1)
    start = np.zeros(((len(first) - 1) << PATTERN_BITS) + 1, dtype=np.int64)
    _fill(rows, ahead, first, start, rows[:0])
    table = np.empty((start[-1], rows.shape[1]), dtype=np.uint64)
    _fill(rows, ahead, first, start, table)
    return table, start
