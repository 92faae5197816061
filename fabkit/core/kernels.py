"""Numba kernels, and bit operations for them."""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic

from fabkit.core.signals import defer_signals

#: Masks are unsigned, so that right shifts fill with zeros.
Word = np.uint64
ONE = np.uint64(1)
ZERO = np.uint64(0)


class _Cache(FunctionCache):
    """Compiled code in files; failures to read or write them are ignored."""

    is_kept = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            # Numba's own method first imports what it knows of Python and NumPy, which takes as
            # long as a small challenge. Only compiling needs that, and imports it.
            rtsys.initialize(target_context)
            loaded = self._load_overload(sig, target_context)
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


def kernel_helper(function: Callable[..., Any]) -> Any:
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
