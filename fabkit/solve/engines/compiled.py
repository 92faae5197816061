"""Compiling kernels with numba, and the two bit operations that Python lacks."""

# mypy: allow-untyped-calls

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from fabkit.core.signals import held

#: Masks are unsigned, so that shifting to the right brings in zeros.
Word = np.uint64
ONE = np.uint64(1)
ZERO = np.uint64(0)


@contextmanager
def _no_linear_algebra() -> Iterator[None]:
    """Lets numba start without SciPy's linear algebra.

    It looks for that on its first use, which takes a quarter of the time in which a small
    challenge is solved, and no kernel here multiplies matrices.
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


def _trailing_zeros(_context: Any, _word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return numba.uint64(numba.uint64), generate


def _population(_context: Any, _word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.uint64(numba.uint64), generate


#: Inside a kernel: the position of a word's lowest set bit; 64 for no bit.
trailing_zeros: Callable[..., Any] = intrinsic(_trailing_zeros)
#: Inside a kernel: the number of a word's set bits.
population: Callable[..., Any] = intrinsic(_population)
