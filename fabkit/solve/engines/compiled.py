"""Compiling kernels with numba, bit operations that Python lacks, and problems as words."""

# mypy: allow-untyped-calls

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from fabkit.core.signals import held
from fabkit.solve.problem import (
    WORD_BITS,
    ExactCoverProblem,
    Numbers,
    Option,
    Words,
    in_a_row,
    masks,
)

#: Masks are unsigned, so that shifting to the right brings in zeros.
Word = np.uint64
ONE = np.uint64(1)
ZERO = np.uint64(0)


@contextmanager
def _no_linear_algebra() -> Iterator[None]:
    """Lets numba start without SciPy's linear algebra, which it looks for on its first use.

    That takes a quarter of the time of a small challenge, and no kernel multiplies matrices.
    """
    name = "scipy.linalg"
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if hidden:
            del sys.modules[name]


with _no_linear_algebra():
    import numba.np.arraymath


class _Cache(FunctionCache):
    """Compiled code in files. A run does without what cannot be read or kept."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # cut short when the power failed, say: compiled and kept anew
            with suppress(Exception):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):  # the disk is full, say
            super().save_overload(sig, data)


class _Kernel(CPUDispatcher):
    """A function that numba compiles for each combination of types it is called with."""

    def enable_caching(self) -> None:
        with suppress(RuntimeError):  # numba's "no locator available": no place to keep it
            self._cache = _Cache(self.py_func)

    def compile(self, sig: Any) -> Any:
        # LLVM, torn out of its middle, crashes, or loses what was raised where it calls back.
        with held():
            return super().compile(sig)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles a function when it is first called, and keeps the result for later runs.

    The compiled code is kept beside the source, else in the user's cache folder. Where neither
    can be written, it is compiled anew in every run.
    """
    compiled = _Kernel(function, targetoptions={"nopython": True, "boundscheck": None})
    compiled.enable_caching()
    return compiled


def _bit_count(name: str, *last: ir.Constant) -> Callable[..., Any]:
    """A bit operation of LLVM's on a word, for kernels."""

    def typed(_context: Any, _word: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(arguments[0], *last)

        return numba.uint64(numba.uint64), generate

    made: Callable[..., Any] = intrinsic(typed)
    return made


#: Inside a kernel: the position of a word's lowest set bit; 64 for no bit.
trailing_zeros = _bit_count("cttz", ir.Constant(ir.IntType(1), 0))
#: Inside a kernel: the number of a word's set bits.
population = _bit_count("ctpop")


# --- problems as arrays of machine words -----------------------------------------------------------


@dataclass(frozen=True)
class CopyCounter:
    """The copies left of every kind, packed into bit fields of one word.

    Each field has a *guard*, its top bit, which is always set. Subtracting more copies than
    are left borrows from it, so one subtraction and one test decide whether a piece is free.
    Where only some pieces are used, one more field counts those that are still to come.

    `shifts` tell where each kind's field begins, `shared` is what every piece costs beside a copy of
    its kind; `guard` are all guards, `start` says that all copies are left; enough is used where the
    `done` bits are those of `guard`. So many `bits` are used.
    """

    shifts: tuple[int, ...]
    shared: int
    guard: int
    start: int
    done: int
    bits: int

    @classmethod
    def of(cls, problem: ExactCoverProblem) -> CopyCounter:
        """The counter for a problem."""
        some = problem.pieces_count
        shifts, guard, start, bits = [], 0, 0, 0
        for count in (*problem.copies, *(() if some is None else (some,))):
            width = count.bit_length()
            shifts.append(bits)
            start |= count << bits
            guard |= 1 << (bits + width)
            bits += width + 1
        last = 0 if some is None else shifts.pop()
        done = (1 << bits) - (1 << last)
        return cls(tuple(shifts), int(some is not None) << last, guard, start | guard, done, bits)

    def cost(self, option: Option) -> int:
        """What an option takes away from the word."""
        return option.copies * ((1 << self.shifts[option.kind]) + self.shared)


def option_lists(
    problem: ExactCoverProblem, counter: CopyCounter, in_place: bool
) -> tuple[Words, Numbers]:
    """The options that use no more copies than there are, listed by `list_of` for kernels.

    Rows hold the mask and cost, and the position, where masks are `in_place`, which takes cells
    that fit into a word; else the mask from the lowest cell on in two words, and the cost.

    Returns:
        The rows; and where each list begins, and the last one ends.
    """
    positions = problem.usable
    options = [problem.options[position] for position in positions]
    cells, starts = in_a_row([option.cells for option in options])
    lowest = cells[starts[:-1]]
    low, high = masks(cells - np.repeat(lowest, np.diff(starts)), starts, 2 * WORD_BITS).T
    cost = np.array([counter.cost(option) for option in options], dtype=np.uint64)
    columns = (low, high, cost)
    if in_place:
        columns = (low << lowest.astype(np.uint64), cost, np.array(positions, dtype=np.uint64))
    order = np.lexsort((low, high, lowest))
    first = np.searchsorted(lowest[order], range(problem.cell_count + 1)).astype(np.int64)
    rows, ahead = np.stack(columns, axis=1)[order], low[order] >> ONE
    start = np.zeros((problem.cell_count << PATTERN_BITS) + 1, dtype=np.int64)
    _fill(rows, ahead, first, start, rows[:0])
    table = np.empty((start[-1], rows.shape[1]), dtype=np.uint64)
    _fill(rows, ahead, first, start, table)
    return table, start


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
