"""The engine `count`: counting without listing, by dynamic programming along the frontier.

Cells are covered in order. All partial solutions that leave the same cells covered beyond the
lowest bare one, and the same pieces, have the same completions, so only their number is kept. A
state is two words: the window of cells from its lowest bare cell on, and the copies left.

Where the board has symmetries, only the last option of each orbit of one kind is tried, and counts
as often as the orbit has options. That kind stays out of most states, of which a third or a quarter
remain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabkit.core.kernels import ONE, ZERO, Word, kernel, kernel_helper, popcount, trailing_zeros
from fabkit.solve.engines.engine import (
    Budget,
    BudgetSpentError,
    Engine,
    Outcome,
    UnsupportedProblemError,
)
from fabkit.solve.engines.option_lists import CopyCounter, list_index, option_lists, pieces_fit
from fabkit.solve.exact_cover import WORD_BITS, ExactCoverProblem, WordArray

#: Memory limit; no count of a printed challenge needs half of it.
MAX_BYTES = 3 << 30

_BATCH = 8192
_FIRST_SLOTS = 1024
#: Load factor above which a hash table grows.
_MAX_LOAD = 0.8
_GROWTH = 1.5
_ALL_ONES = ~ZERO
#: Column of the low word of a state.
_LOW = 0
#: Column of the high word of a state, with the copies left.
_HIGH = 1
#: Column of the number of ways to reach a state.
_COUNT = 2
_SLOT_BYTES = 3 * 8
#: Column of the weight of an option.
_WEIGHT = 3


class Count(Engine):
    """A counter of solutions by their frontiers; the work grows with these, not with solutions."""

    name = "count"
    lists = False

    def count(self, problem: ExactCoverProblem, budget: Budget) -> Outcome:
        """See `Engine.count`. The outcome is incomplete if a number exceeds 64 bits."""
        frontier = Frontier(problem)
        try:
            frontier.run(budget)
        except (BudgetSpentError, CountOverflowError):
            # The ways to unfinished states need not lead to solutions, so they do not count.
            return Outcome(frontier.count, False, (), frontier.states)
        return Outcome(frontier.count, True, (), frontier.states)

    unique = count

    def enumerate(
        self, problem: ExactCoverProblem, budget: Budget, limit: int | None = None
    ) -> Outcome:
        """Raise `UnsupportedProblemError`: this engine cannot list."""
        raise UnsupportedProblemError("it counts solutions and cannot list them")


class CountOverflowError(Exception):
    """A number of partial solutions exceeds 64 bits."""


@kernel_helper
def _slot(low, high, slots):  # type: ignore[no-untyped-def]
    """Return the home slot of a state in a hash table."""
    value = low * Word(0x9E3779B97F4A7C15)
    value ^= value >> Word(32)
    value = (value + high) * Word(0xD6E8FEB86659FD93)
    value ^= value >> Word(29)
    return ((value >> Word(32)) * Word(slots)) >> Word(32)


@kernel("u8[:, ::1], u8[:, ::1], i8")
def _merge(table, batch, count):  # type: ignore[no-untyped-def]
    """Add states to a table; return how many were new, and whether a number overflowed."""
    slots, new, overflow = table.shape[0], 0, False
    for row in range(count):
        low, high, ways = batch[row, _LOW], batch[row, _HIGH], batch[row, _COUNT]
        if ways == ZERO:  # an empty slot of a table that is merged
            continue
        slot = _slot(low, high, slots)
        while True:
            if table[slot, _COUNT] == ZERO:
                table[slot, _LOW], table[slot, _HIGH], table[slot, _COUNT] = low, high, ways
                new += 1
                break
            if table[slot, _LOW] == low and table[slot, _HIGH] == high:
                total = table[slot, _COUNT] + ways
                overflow = overflow or total < ways
                table[slot, _COUNT] = total
                break
            slot += ONE
            if slot == Word(slots):
                slot = ZERO
    return new, overflow


@kernel_helper
def _from_lowest_bare(low, high):  # type: ignore[no-untyped-def]
    """Shift a window to its lowest bare cell; return it and the number of cells."""
    step = np.int64(0)
    if low == _ALL_ONES:
        low, high, step = high, ZERO, np.int64(64)
    ones = trailing_zeros(~low)
    if ones == Word(64):
        return ZERO, ZERO, step + 64
    if ones > ZERO:
        low = (low >> ones) | (high << (Word(64) - ones))
        high >>= ones
    return low, high, step + np.int64(ones)


@kernel(
    "u8[:, ::1], i8, u8, i8, Tuple([u8[:, ::1], u8[::1]]), UniTuple(u8, 3), u8, b1[:, ::1], i8, "
    "u8[:, :, ::1], i8[::1]"
)
def _expand(  # type: ignore[no-untyped-def]
    table, slot, next_row, cell, options, counter, copies_shift, areas, cells, batch, fill
):
    """Cover the lowest bare cell of every state in every way.

    Args:
        table: the states whose lowest bare cell is ``cell``, of ``cells``.
        slot: the slot to resume at.
        next_row: the option to resume at.
        options: from `option_lists`, with weights in place of positions.
        counter: see `fabkit.solve.engines.option_lists.pieces_fit`.
        copies_shift: the shift of the copies in the high word.
        areas: from `ExactCoverProblem.areas`.
        batch: ``batch[step]`` receives the states whose lowest bare cell is ``cell + step``.
        fill: the number of states in each batch.

    Returns:
        The slot, the row, the solutions completed, whether their number overflowed, and the step
        whose batch is full (-1 when done).
    """
    rows, start = options
    guard, done_bits, _ = counter
    done, overflow = ZERO, False
    window_mask = (ONE << copies_shift) - ONE
    while slot < table.shape[0]:
        ways = table[slot, _COUNT]
        if ways == ZERO:
            slot += 1
            continue
        low, high = table[slot, _LOW], table[slot, _HIGH] & window_mask
        copies = table[slot, _HIGH] >> copies_shift
        first = start[list_index(cell, low)]
        end = start[list_index(cell, low) + 1]
        for row in range(first + next_row, end):
            if not _fits(rows[row], low, high, copies, guard):
                continue
            left = copies - rows[row, 2]
            weight = rows[row, _WEIGHT]
            after_ways = ways * weight
            overflow = overflow or (weight > ONE and after_ways // weight != ways)
            after_low, after_high, step = _from_lowest_bare(low | rows[row, 0], high | rows[row, 1])
            if cell + step < cells:
                if fill[step] == batch.shape[1]:
                    return slot, row - first, done, overflow, step
                covered = cell + step + np.int64(popcount(after_low) + popcount(after_high))
                if pieces_fit(areas, left, counter, cells - covered) and not _is_dead(
                    after_low, after_high, left, cell + step, options, counter, cells
                ):
                    place = fill[step]
                    batch[step, place, _LOW] = after_low
                    batch[step, place, _HIGH] = after_high | (left << copies_shift)
                    batch[step, place, _COUNT] = after_ways
                    fill[step] = place + 1
            elif left & done_bits == guard & done_bits:
                overflow = overflow or done + after_ways < after_ways
                done += after_ways
        next_row = ZERO
        slot += 1
    return slot, ZERO, done, overflow, -1


@kernel_helper
def _fits(row, low, high, left, guard):  # type: ignore[no-untyped-def]
    """Return whether the cells of an option are bare and copies of it are left."""
    return (row[0] & low) | (row[1] & high) | (~(left - row[2]) & guard) == ZERO


@kernel_helper
def _is_dead(low, high, left, cell, options, counter, cells):  # type: ignore[no-untyped-def]
    """Return whether a state is stuck, or is so after every option on its lowest bare cell.

    This removes two thirds of all states, which saves memory. Looking further ahead, or for islands
    that cannot be filled, costs more than it saves.
    """
    rows, start = options
    guard, done_bits, _ = counter
    index = list_index(cell, low)
    for row in range(start[index], start[index + 1]):
        if _fits(rows[row], low, high, left, guard):
            rest = left - rows[row, 2]
            after_low, after_high, step = _from_lowest_bare(low | rows[row, 0], high | rows[row, 1])
            if cell + step >= cells:
                if rest & done_bits == guard & done_bits:
                    return False
            elif not _is_stuck(after_low, after_high, rest, cell + step, options, guard):
                return False
    return True


@kernel_helper
def _is_stuck(low, high, left, cell, options, guard):  # type: ignore[no-untyped-def]
    """Return whether no option fits on the lowest bare cell of a state."""
    rows, start = options
    index = list_index(cell, low)
    for row in range(start[index], start[index + 1]):
        if _fits(rows[row], low, high, left, guard):
            return False
    return True


class Frontier:
    """One count, cell by cell, of a problem that `fits`.

    `count` is the number of solutions completed so far, `states` that of states expanded, and
    `peak_bytes` the peak size of the tables.

    Raises:
        UnsupportedProblemError: if it does not fit.
    """

    def __init__(self, problem: ExactCoverProblem) -> None:
        if not self.fits(problem):
            raise UnsupportedProblemError("its frontier spans too many cells of this region")
        weights = _weights(problem)
        options = tuple(problem.options[position] for position in weights)
        self.problem = replace(problem, options=options, symmetries=())
        self.count = self.states = self.peak_bytes = 0
        self._counter = CopyCounter.of(problem)
        self._copies_shift = WORD_BITS - self._counter.bits
        rows, start = option_lists(self.problem, self._counter, in_place=False)
        rows[:, _WEIGHT] = np.array(list(weights.values()), dtype=np.uint64)[rows[:, _WEIGHT]]
        # Unsigned indices are not checked for counting from the end, a tenth of the time.
        self._options = rows, start.astype(np.uint64)
        window = _window(problem)
        self._batch = np.zeros((window + 1, _BATCH, 3), dtype=np.uint64)
        self._fill = np.zeros(window + 1, dtype=np.int64)
        self._tables: dict[int, WordArray] = {}
        self._sizes: dict[int, int] = {}

    @staticmethod
    def fits(problem: ExactCoverProblem) -> bool:
        """Return whether a state fits into two words."""
        bits = CopyCounter.of(problem).bits
        return bits < WORD_BITS and _window(problem) + bits <= 2 * WORD_BITS

    def run(self, budget: Budget) -> int:
        """Count all solutions.

        Raises:
            BudgetSpentError: if the time is up; `count` is then a lower bound.
            CountOverflowError: if a state has 2^64 partial solutions or more.
            UnsupportedProblemError: if the tables outgrow `MAX_BYTES`.
        """
        if not self.problem.pieces_used:
            self.count = int(self.problem.cell_count == 0)
            return self.count
        first = [[0, self._counter.start << self._copies_shift, 1]]
        self._tables[0], self._sizes[0] = np.array(first, dtype=np.uint64), 1
        for cell in range(self.problem.cell_count):
            if cell in self._tables:
                self._cover(cell, budget)
        budget.report(1.0)
        return self.count

    def _cover(self, cell: int, budget: Budget) -> None:
        """Expand all states whose lowest bare cell is this one."""
        table = self._tables.pop(cell)
        self.states += self._sizes.pop(cell)
        words = self._counter.guard, self._counter.done, self._counter.pieces_shift
        counter = tuple(map(Word, words))
        copies_shift = Word(self._copies_shift)
        slot = step = 0
        row = ZERO
        while step >= 0:
            slot, row, done, overflow, step = _expand(
                table, slot, Word(row), cell, self._options, counter, copies_shift,
                self.problem.areas, self.problem.cell_count, self._batch, self._fill,
            )  # fmt: skip
            self.count += int(done)
            if overflow:
                raise CountOverflowError
            if step >= 0:
                self._flush(cell, step, len(table))
            budget.report((cell + slot / len(table)) / self.problem.cell_count)
        for filled_step in np.flatnonzero(self._fill).tolist():
            self._flush(cell, filled_step, len(table))

    def _flush(self, cell: int, step: int, expanding: int) -> None:
        """Move one batch into its table, which grows when full, to `MAX_BYTES` at most."""
        target = cell + step
        count = int(self._fill[step])
        table = self._tables.get(target)
        if table is None:
            table = np.zeros((_FIRST_SLOTS, 3), dtype=np.uint64)
            self._sizes[target] = 0
        if self._sizes[target] + count > _MAX_LOAD * len(table):
            slots = int(_GROWTH * len(table)) + 2 * count
            used_bytes = _SLOT_BYTES * (expanding + slots + sum(map(len, self._tables.values())))
            self.peak_bytes = max(self.peak_bytes, used_bytes)
            if used_bytes > MAX_BYTES:
                raise UnsupportedProblemError(f"it needs more than {MAX_BYTES >> 30} GiB of memory")
            larger = np.zeros((slots, 3), dtype=np.uint64)
            _merge(larger, table, len(table))
            table = larger
        self._tables[target] = table
        new, overflow = _merge(table, self._batch[step], count)
        if overflow:
            raise CountOverflowError
        self._sizes[target] += new
        self._fill[step] = 0


def _window(problem: ExactCoverProblem) -> int:
    """Return the largest span of an option, from its lowest to its highest cell."""
    return max((option.cells[-1] - option.cells[0] + 1 for option in problem.options), default=1)


def _weights(problem: ExactCoverProblem) -> dict[int, int]:
    """Return the positions of the options to try, each with the number of options it stands for.

    The kind that keeps only one option of each orbit has a single copy; it is the one
    that loses most options, and of several the largest piece. Where pieces may stay
    unused, all options are kept.
    """
    weights = dict.fromkeys(range(len(problem.options)), 1)
    singles = [kind for kind, copies in enumerate(problem.copies) if copies == 1]
    if len(problem.symmetries) == 1 or problem.pieces_count is not None or not singles:
        return weights
    orbits = {kind: problem.orbits(kind, max) for kind in singles}
    spared = {kind: len(problem.by_kind[kind]) - len(orbits[kind]) for kind in singles}
    reduced = max(singles, key=lambda kind: (spared[kind], problem.size(kind)))
    for position in problem.by_kind[reduced]:
        del weights[position]
    return dict(sorted((weights | orbits[reduced]).items()))
