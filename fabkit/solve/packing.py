"""Problems as arrays of machine words, for the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from fabkit.solve.problem import ExactCoverProblem

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

WORD_BITS = 64
WORD_MASK = (1 << WORD_BITS) - 1


@dataclass(frozen=True)
class CopyCounter:
    """The copies left of every kind, packed into bit fields of one word.

    Each field has a *guard*, its top bit, which is always set. Subtracting more copies than
    are left borrows from it, so one subtraction and one test decide whether a piece is free.

    Attributes:
        shift: where each kind's field begins.
        field: each kind's bits without the guard, shifted down.
        guard: all guards.
        start: the word that says that all copies are left, guards included.
        bits: how many bits are used.
    """

    shift: Words
    field: Words
    guard: int
    start: int
    bits: int

    @classmethod
    def of(cls, copies: Sequence[int]) -> CopyCounter:
        """The counter for so many copies of each kind.

        Example:
            >>> counter = CopyCounter.of([1, 3])
            >>> bin(counter.start), bin(counter.guard), counter.bits
            ('0b11111', '0b10010', 5)
        """
        shifts, guard, start, bits = [], 0, 0, 0
        for count in copies:
            width = count.bit_length()
            shifts.append(bits)
            start |= count << bits
            guard |= 1 << (bits + width)
            bits += width + 1
        return cls(
            shift=np.array([shift % WORD_BITS for shift in shifts], dtype=np.uint64),
            field=words((1 << count.bit_length()) - 1 for count in copies),
            guard=guard,
            start=start | guard,
            bits=bits,
        )


def words(values: Any) -> Words:
    """An array of words from non-negative integers."""
    return np.array(list(values), dtype=np.uint64)


def mask(bits: Sequence[int]) -> int:
    """The integer with these bits set."""
    return reduce(lambda found, bit: found | 1 << bit, bits, 0)


def masks_of_options(problem: ExactCoverProblem) -> Words:
    """For each option its cells, lowest cell first, as a row of words."""
    count = max(1, -(-problem.cell_count // WORD_BITS))
    found = np.zeros((len(problem.options), count), dtype=np.uint64)
    for row, option in enumerate(problem.options):
        whole = mask(option.cells)
        for word in range(count):
            found[row, word] = whole >> (WORD_BITS * word) & WORD_MASK
    return found
