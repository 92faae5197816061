"""Compiling kernels with numba, and the two bit operations that Python lacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

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


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles a function when it is first called, and keeps the result for later runs.

    The compiled code is kept beside the source, else in the user's cache folder. Where neither
    can be written, it is compiled anew in every run.
    """
    try:
        compiled: Any = numba.njit(cache=True)(function)
    except RuntimeError:  # numba's "no locator available": there is no place to keep it
        compiled = numba.njit()(function)
    return compiled  # type: ignore[no-any-return]


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
