"""Numba kernels, bit operations for them, and problems as arrays of machine words."""

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
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic

from fabkit.core.signals import defer_signals
from fabkit.solve.exact_cover import (
    WORD_BITS,
    ExactCoverProblem,
    IntArray,
    Option,
    WordArray,
    bitmasks,
    to_csr,
)

#: Masks are unsigned, so that right shifts fill with zeros.
Word = np.uint64
ONE = np.uint64(1)
ZERO = np.uint64(0)


@contextmanager
def _no_linear_algebra() -> Iterator[None]:
    """Hide SciPy's linear algebra from numba, which imports it on its first use.

    That import takes a quarter of the time of a small challenge, and no kernel needs it.
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
    """Compiled code in files; failures to read or write them are ignored."""

    is_kept = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            loaded = super().load_overload(sig, target_context)
        except Exception:  # for instance truncated by a power failure: compile and store it again
            with suppress(Exception):
                self.flush()
            return None
        self.is_kept = loaded is not None
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):  # for instance if the disk is full
            super().save_overload(sig, data)
            self.is_kept = True


class Kernel(CPUDispatcher):
    """A function that numba compiles for each combination of argument types.

    `types` are those of its callers.
    """

    types: tuple[Any, ...]

    def enable_caching(self) -> None:
        """Keep compiled code if there is a place for it."""
        with suppress(RuntimeError):  # numba's "no locator available": no writable place
            self._cache = _Cache(self.py_func)

    def compile(self, sig: Any) -> Any:
        """Compile for some types of arguments, or read what was kept."""
        # LLVM crashes if interrupted, or loses exceptions raised in its callbacks.
        with defer_signals():
            return super().compile(sig)

    @property
    def is_kept(self) -> bool:
        """Whether its compiled code was read from, or written to, its folder."""
        return isinstance(self._cache, _Cache) and self._cache.is_kept

    @property
    def folder(self) -> str:
        """The folder where its compiled code is kept."""
        return str(self._cache.cache_path)


#: How functions are compiled; none is called from C.
_FLAGS = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True}
#: All kernels of the modules imported so far.
KERNELS: list[Kernel] = []


def kernel(types: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compiles a function when it is first called, and keeps the result for later runs.

    The compiled code is kept beside the source, else in the user's cache folder. If neither is
    writable, it is compiled in every run.

    Args:
        types: those of its arguments, as numba abbreviates them (``u8`` is `numpy.uint64`), for
            `fabkit warm-up`. If called with others, it is compiled once more.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = Kernel(function, targetoptions=_FLAGS)
        compiled.types, _ = normalize_signature(types)
        compiled.enable_caching()
        KERNELS.append(compiled)
        return compiled

    return decorate


def kernel_helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles a function as a part of each kernel that calls it."""
    return Kernel(function, targetoptions={**_FLAGS, "no_cpython_wrapper": True})


def _bit_count(name: str, *last: ir.Constant) -> Callable[..., Any]:
    """Create an intrinsic for an LLVM bit operation on a word."""

    def typed(_context: Any, _word: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(arguments[0], *last)

        return numba.uint64(numba.uint64), generate

    made: Callable[..., Any] = intrinsic(typed)
    return made


#: In kernels: the position of the lowest set bit of a word; 64 if none is set.
trailing_zeros = _bit_count("cttz", ir.Constant(ir.IntType(1), 0))
#: In kernels: the number of set bits of a word.
popcount = _bit_count("ctpop")


@kernel_helper
def pieces_fit(areas, left, counter, bare):  # type: ignore[no-untyped-def]
    """Return whether the pieces still to be placed can cover so many bare cells.

    Args:
        areas: from `ExactCoverProblem.areas`; if empty, they always can.
        left: the copies left, as counted by `CopyCounter`.
        counter: its guard bits, the `done` bits and `pieces_shift`.
        bare: the number of bare cells.
    """
    guard, done, shift = counter
    return areas.shape[0] == 0 or areas[np.int64((left & done & ~guard) >> shift), bare]


# --- problems as arrays of machine words -----------------------------------------------------------


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

    The caller allocates the arrays, since allocation in a kernel doubles its compile time.
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
