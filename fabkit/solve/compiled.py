"""Compiling kernels with numba, and the two bit operations that Python lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Masks are unsigned, so that shifting to the right brings in zeros.
Word = np.uint64
ONE = np.uint64(1)
ZERO = np.uint64(0)


def kernel(function: _Function) -> _Function:
    """Compiles a function when it is first called, and keeps the result for later runs.

    The compiled code is kept beside the source, else in the user's cache folder. Where neither
    can be written, it is compiled anew in every run.
    """
    try:
        return numba.njit(cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba's "no locator available": there is no place to keep it
        return numba.njit()(function)  # type: ignore[no-any-return]


@intrinsic
def trailing_zeros(_context: Any, _word: Any) -> Any:
    """The position of a word's lowest set bit; 64 for no bit."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return numba.uint64(numba.uint64), generate


@intrinsic
def population(_context: Any, _word: Any) -> Any:
    """The number of a word's set bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.uint64(numba.uint64), generate
