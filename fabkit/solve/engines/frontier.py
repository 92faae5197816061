"""The engine `count`: counting without listing, by dynamic programming along the frontier.

Cells are covered in order. All ways that leave the same cells covered beyond the lowest bare
one, with the same pieces left, have the same completions; so only their number is kept. A
state is two words: the window of cells from its lowest bare cell on, and the copies left.
"""

from __future__ import annotations

import numpy as np

from fabkit.solve.engines.compiled import (
    ONE,
    ZERO,
    CopyCounter,
    Word,
    kernel,
    list_of,
    option_lists,
    trailing_zeros,
)
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Engine, EngineUnfitError, Outcome
from fabkit.solve.problem import WORD_BITS, ExactCoverProblem, Words

#: No count of a box challenge needs half of this; what needs more would fill the machine.
MOST_BYTES = 3 << 30

_BATCH = 8192
_FIRST_SLOTS = 1024
#: A table grows when it is fuller than this: probing is still short, and little lies idle.
_FULLEST = 0.8
_GROWTH = 1.5
_ALL_ONES = ~ZERO
_LOW, _HIGH, _COUNT = 0, 1, 2
_SLOT_BYTES = 3 * 8


class Count(Engine):
    """Counts solutions by their frontiers; the effort grows with these, not with solutions."""

    name = "count"
    lists = False

    def count(self, problem: ExactCoverProblem, effort: Effort) -> Outcome:
        """See `Engine.count`. Where a state has 2^64 ways to it, the outcome is not complete."""
        frontier = Frontier(problem)
        try:
            frontier.run(effort)
        except (BudgetSpentError, CountOverflowError):
            # Ways to an unfinished state, however many, need not lead to a solution.
            return Outcome(frontier.count, False, (), frontier.states)
        return Outcome(frontier.count, True, (), frontier.states)

    unique = count

    def enumerate(
        self, problem: ExactCoverProblem, effort: Effort, limit: int | None = None
    ) -> Outcome:
        """Raises `EngineUnfitError`: it never lists."""
        raise EngineUnfitError("it counts solutions and cannot list them")


class CountOverflowError(Exception):
    """A number of ways outgrew 64 bits."""


@kernel
def _slot(low, high, slots):  # type: ignore[no-untyped-def]
    """Where a state is first looked for."""
    value = low * Word(0x9E3779B97F4A7C15)
    value ^= value >> Word(32)
    value = (value + high) * Word(0xD6E8FEB86659FD93)
    value ^= value >> Word(29)
    return ((value >> Word(32)) * Word(slots)) >> Word(32)


@kernel
def _merge(table, batch, count):  # type: ignore[no-untyped-def]
    """Adds states to a table; returns how many were new, and whether a number overflowed."""
    slots, new, overflow = table.shape[0], 0, False
    for row in range(count):
        low, high, ways = batch[row, _LOW], batch[row, _HIGH], batch[row, _COUNT]
        if ways == ZERO:  # nothing: another table may be merged, too
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


@kernel
def _from_lowest_bare(low, high):  # type: ignore[no-untyped-def]
    """A window, moved so that it begins at its lowest bare cell; and by how many cells."""
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


@kernel
def _expand(  # type: ignore[no-untyped-def]
    table, slot, next_row, cell, options, counter, leftover, cells, batch, fill
):
    """Covers (or leaves bare) the lowest bare cell of every state, in every way.

    Args:
        table: the states whose lowest bare cell is ``cell``, of ``cells``.
        slot: where to go on in the table.
        next_row: where to go on among the options.
        options: as from `option_lists`.
        counter: the copies' guards, the bits that tell that enough is used, and where the copies
            begin in the high word.
        leftover: whether cells may stay bare.
        batch: ``batch[step]`` takes the states whose lowest bare cell is ``cell + step``.
        fill: how many states each holds.

    Returns:
        The slot, the row, the ways completed, whether that overflowed, and the step whose
        batch is full (-1: all is done).
    """
    rows, start = options
    guard, done_bits, copies_shift = counter
    done, overflow = ZERO, False
    window_mask = (ONE << copies_shift) - ONE
    while slot < table.shape[0]:
        ways = table[slot, _COUNT]
        if ways == ZERO:
            slot += 1
            continue
        low, high = table[slot, _LOW], table[slot, _HIGH] & window_mask
        copies = table[slot, _HIGH] >> copies_shift
        first = start[list_of(cell, low)]
        end = start[list_of(cell, low) + 1]
        for row in range(first + next_row, end + (1 if leftover else 0)):
            if row == end:  # not an option: the cell stays bare
                after_low, after_high, left = low | ONE, high, copies
            elif not _fits(rows[row], low, high, copies, guard):
                continue
            else:
                after_low, after_high = low | rows[row, 0], high | rows[row, 1]
                left = copies - rows[row, 2]
            over = left & done_bits == guard & done_bits
            if not (leftover and over):
                after_low, after_high, step = _from_lowest_bare(after_low, after_high)
                if cell + step < cells:
                    if fill[step] == batch.shape[1]:
                        return slot, row - first, done, overflow, step
                    if leftover or not _is_dead(
                        after_low, after_high, left, cell + step, options, counter, cells
                    ):
                        place = fill[step]
                        batch[step, place, _LOW] = after_low
                        batch[step, place, _HIGH] = after_high | (left << copies_shift)
                        batch[step, place, _COUNT] = ways
                        fill[step] = place + 1
                    continue
            if over:
                overflow = overflow or done + ways < ways
                done += ways
        next_row = 0
        slot += 1
    return slot, 0, done, overflow, -1


@kernel
def _fits(row, low, high, left, guard):  # type: ignore[no-untyped-def]
    """Whether an option's cells are bare, and copies of it are left."""
    return row[0] & low == ZERO and row[1] & high == ZERO and (left - row[2]) & guard == guard


@kernel
def _is_dead(low, high, left, cell, options, counter, cells):  # type: ignore[no-untyped-def]
    """Whether a state is stuck, or is so after whatever covers its lowest bare cell.

    Two thirds of all states are like this, and what is not kept costs no memory. To look
    further ahead, or for islands that cannot be filled, costs more than it saves.
    """
    rows, start = options
    guard, done_bits, _ = counter
    index = list_of(cell, low)
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


@kernel
def _is_stuck(low, high, left, cell, options, guard):  # type: ignore[no-untyped-def]
    """Whether nothing fits on a state's lowest bare cell."""
    rows, start = options
    index = list_of(cell, low)
    for row in range(start[index], start[index + 1]):
        if _fits(rows[row], low, high, left, guard):
            return False
    return True


class Frontier:
    """One count, cell by cell, of a problem that `fits`.

    `count` are the solutions that are complete so far, `states` those expanded, `peak_bytes` the
    most that the tables held at once.

    Raises:
        EngineUnfitError: when it does not fit.
    """

    def __init__(self, problem: ExactCoverProblem) -> None:
        if not self.fits(problem):
            message = "the pieces reach over too many cells of this region for its frontier"
            raise EngineUnfitError(message)
        self.problem = problem
        self.count = self.states = self.peak_bytes = 0
        self._counter = CopyCounter.of(problem)
        self._copies_shift = WORD_BITS - self._counter.bits
        self._options = option_lists(problem, self._counter, in_place=False)
        window = _window(problem)
        self._batch = np.zeros((window + 1, _BATCH, 3), dtype=np.uint64)
        self._fill = np.zeros(window + 1, dtype=np.int64)
        self._tables: dict[int, Words] = {}
        self._sizes: dict[int, int] = {}

    @staticmethod
    def fits(problem: ExactCoverProblem) -> bool:
        """Whether a state fits into two words."""
        bits = CopyCounter.of(problem).bits
        return bits < WORD_BITS and _window(problem) + bits <= 2 * WORD_BITS

    def run(self, effort: Effort) -> int:
        """Counts all solutions.

        Raises:
            BudgetSpentError: when the time is over; `count` then holds those that are certain.
            CountOverflowError: when a state has 2^64 ways or more.
            EngineUnfitError: when the tables outgrow `MOST_BYTES`.
        """
        if not self.problem.pieces_used:
            self.count = int(self.problem.leftover or self.problem.cell_count == 0)
            return self.count
        first = [[0, self._counter.start << self._copies_shift, 1]]
        self._tables[0], self._sizes[0] = np.array(first, dtype=np.uint64), 1
        for cell in range(self.problem.cell_count):
            if cell in self._tables:
                self._cover(cell, effort)
        effort.tell(1.0)
        return self.count

    def _cover(self, cell: int, effort: Effort) -> None:
        """Expands all states whose lowest bare cell is this one."""
        table = self._tables.pop(cell)
        self.states += self._sizes.pop(cell)
        counter = Word(self._counter.guard), Word(self._counter.done), Word(self._copies_shift)
        slot = row = step = 0
        while step >= 0:
            slot, row, done, overflow, step = _expand(
                table, slot, row, cell, self._options, counter, self.problem.leftover,
                self.problem.cell_count, self._batch, self._fill,
            )  # fmt: skip
            self.count += int(done)
            if overflow:
                raise CountOverflowError
            if step >= 0:
                self._flush(cell, step, len(table))
            effort.tell((cell + slot / len(table)) / self.problem.cell_count)
        for one in np.flatnonzero(self._fill).tolist():
            self._flush(cell, one, len(table))

    def _flush(self, cell: int, step: int, expanding: int) -> None:
        """Moves one batch into its table, which grows when it is full.

        Raises:
            EngineUnfitError: when the memory does not allow it beside the tables that are there.
        """
        target, count = cell + step, int(self._fill[step])
        table = self._tables.get(target)
        if table is None:
            table = np.zeros((_FIRST_SLOTS, 3), dtype=np.uint64)
            self._sizes[target] = 0
        if self._sizes[target] + count > _FULLEST * len(table):
            slots = int(_GROWTH * len(table)) + 2 * count
            taken = _SLOT_BYTES * (expanding + slots + sum(map(len, self._tables.values())))
            self.peak_bytes = max(self.peak_bytes, taken)
            if taken > MOST_BYTES:
                raise EngineUnfitError(f"it needs more than {MOST_BYTES >> 30} GiB of memory")
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
    """The most cells from an option's lowest to its highest, both counted."""
    return max((option.cells[-1] - option.cells[0] + 1 for option in problem.options), default=1)
