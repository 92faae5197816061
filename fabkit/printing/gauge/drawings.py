"""The drawings of the gauge's parts: sets of their own, one for each lattice."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fabkit.model.puzzle import PuzzleSet
from fabkit.model.setfile import read_set

_FOLDER = Path(__file__).resolve().parent


@cache
def drawings(name: str = "gauge") -> PuzzleSet:
    """What the gauge is made of, drawn as sets of their own.

    Args:
        name: ``gauge`` for flat parts, ``balls``, or ``stubs``.

    Example:
        >>> [piece.id for piece in drawings().pieces]
        ['plug', 'socket', 'recess', 'square']
        >>> [piece.id for name in ("balls", "stubs") for piece in drawings(name).pieces]
        ['bar', 'stub']
    """
    path = _FOLDER / f"{name}.toml"
    return read_set(path, path.name)
