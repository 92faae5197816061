"""Problems as arrays of machine words, for kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabkit.core.kernels import ONE, ZERO, Word, kernel, kernel_helper
from fabkit.solve.exact_cover import (
    WORD_BITS,
    ExactCoverProblem,
    IntArray,
    Option,
    WordArray,
    bitmasks,
    to_csr,
)


@kernel_helper
def pieces_fit(areas, left, counter, bare):  # type: ignore[no-untyped-def]
    """Return whether the pieces still to be placed can cover so many bare cells.

    ``areas`` are from `ExactCoverProblem.areas`; if empty, they always can. ``counter`` has the
    guard bits, the `done` bits and `pieces_shift` of the `CopyCounter` that counts the copies
    ``left``.
    """
    guard, done, shift = counter
    return areas.shape[0] == 0 or areas[np.int64((left & done & ~guard) >> shift), bare]


@dataclass(frozen=True)
class CopyCounter:
    """The copies left of every kind, packed into bit fields of one word.

    The top bit of each field is its *guard*, which is always set. Subtracting more copies than are
    left borrows from it, so one subtraction and one test show whether a piece is available. If only
    some pieces are used, one more field counts those still to be placed.

    `shifts` are the positions of the fields, `shared` is what every piece costs besides a copy of
    its kind, `guard` holds all guard bits, and `start` is the word with all copies left. Enough
    pieces are used once the `done` bits equal those of `guard`. The word has `bits` bits.
    """

    shifts: tuple[int, ...]
    shared: int
    guard: int
    start: int
    done: int
    bits: int

    @classmethod
    def of(cls, problem: ExactCoverProblem) -> CopyCounter:
        """Create the counter of a problem."""
        pieces_count = problem.pieces_count
        shifts = []
        guard = start = bits = 0
        for count in (*problem.copies, *(() if pieces_count is None else (pieces_count,))):
            width = count.bit_length()
            shifts.append(bits)
            start |= count << bits
            guard |= 1 << (bits + width)
            bits += width + 1
        last = 0 if pieces_count is None else shifts.pop()
        done = (1 << bits) - (1 << last)
        return cls(
            tuple(shifts), int(pieces_count is not None) << last, guard, start | guard, done, bits
        )

    @property
    def pieces_shift(self) -> int:
        """The position of the lowest of the `done` bits.

        If only some pieces are used, that of the field with the pieces still to be placed.
        """
        return max((self.done & -self.done).bit_length() - 1, 0)

    def cost(self, option: Option) -> int:
        """Return what an option subtracts from the word."""
        return option.copies * ((1 << self.shifts[option.kind]) + self.shared)


def option_lists(
    problem: ExactCoverProblem, counter: CopyCounter, in_place: bool
) -> tuple[WordArray, IntArray]:
    """List the usable options for kernels, in the order of `list_index`.

    If masks are `in_place`, which requires cells to fit into one word, rows hold mask, cost and
    position; else the mask from the lowest cell on in two words, cost and position.

    Returns:
        The rows, and the start of each list (and the end of the last).
    """
    positions = problem.usable
    options = [problem.options[position] for position in positions]
    cells, starts = to_csr([option.cells for option in options])
    lowest = cells[starts[:-1]]
    low, high = bitmasks(cells - np.repeat(lowest, np.diff(starts)), starts, 2 * WORD_BITS).T
    cost = np.array([counter.cost(option) for option in options], dtype=np.uint64)
    masks = (low << lowest.astype(np.uint64),) if in_place else (low, high)
    columns = (*masks, cost, np.array(positions, dtype=np.uint64))
    order = np.lexsort((low, high, lowest))
    first = np.searchsorted(lowest[order], range(problem.cell_count + 1)).astype(np.int64)
    rows, ahead = np.stack(columns, axis=1)[order], low[order] >> ONE
    start = np.zeros((problem.cell_count << PATTERN_BITS) + 1, dtype=np.int64)
    _fill(rows, ahead, first, start, rows[:0])
    table = np.empty((start[-1], rows.shape[1]), dtype=np.uint64)
    _fill(rows, ahead, first, start, table)
    return table, start


#: Number of cells after the lowest bare one that select the list of options.
PATTERN_BITS = 7


@kernel_helper
def list_index(cell, window):  # type: ignore[no-untyped-def]
    """Return the index of the list for a lowest bare cell and the cells covered after it."""
    pattern = (window >> ONE) & ((ONE << Word(PATTERN_BITS)) - ONE)
    return (np.int64(cell) << PATTERN_BITS) + np.int64(pattern)


@kernel("u8[:, ::1], u8[::1], i8[::1], i8[::1], u8[:, ::1]")
def _fill(rows, ahead, first, start, table):  # type: ignore[no-untyped-def]
    """Write the start of each list, and the lists themselves if a table is given.

    The caller allocates the arrays, since allocation in a kernel doubles its compile time; and
    columns are copied one by one, since rows would take parts of numba that a compiled kernel need
    not load.
    """
    total = 0
    for index in range(start.shape[0] - 1):
        cell, pattern = index >> PATTERN_BITS, Word(index) & ((ONE << Word(PATTERN_BITS)) - ONE)
        start[index] = total
        for row in range(first[cell], first[cell + 1]):
            if ahead[row] & pattern == ZERO:
                if table.shape[0] > 0:
                    for column in range(rows.shape[1]):
                        table[total, column] = rows[row, column]
                total += 1
    start[start.shape[0] - 1] = total
