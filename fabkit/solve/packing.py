"""Problems as arrays of machine words, for the compiled kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

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


def mask(bits: Iterable[int]) -> int:
    """The integer with these bits set."""
    return reduce(lambda found, bit: found | 1 << bit, bits, 0)


def in_a_row(groups: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers]:
    """The numbers of all groups in a row; and where each group begins, and the last one ends.

    Example:
        >>> numbers, starts = in_a_row([(4, 5), (), (6,)])
        >>> numbers.tolist(), starts.tolist()
        ([4, 5, 6], [0, 2, 2, 3])
    """
    starts = np.zeros(len(groups) + 1, dtype=np.int64)
    np.cumsum([len(group) for group in groups], out=starts[1:])
    return np.fromiter(chain.from_iterable(groups), np.int64, int(starts[-1])), starts


def masks(numbers: Numbers, starts: Numbers, bits: int) -> Words:
    """For each group, as from `in_a_row`, a row of words with its bits set, lowest bits first.

    Args:
        numbers: those of all groups, below `bits`.
        starts: where each group begins, and the last one ends.
        bits: how many the words of a row must hold.

    Example:
        >>> masks(*in_a_row([(0, 2), (65,)]), bits=66).tolist()
        [[5, 0], [0, 2]]
    """
    width = max(1, -(-bits // WORD_BITS))
    found = np.zeros((len(starts) - 1) * width, dtype=np.uint64)
    rows = np.repeat(np.arange(0, len(found), width), np.diff(starts))
    bit = np.uint64(1) << (numbers % WORD_BITS).astype(np.uint64)
    np.bitwise_or.at(found, rows + numbers // WORD_BITS, bit)
    return found.reshape(-1, width)
