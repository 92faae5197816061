"""A shard: one part of a long run, done by itself, in any order, in any process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shard:
    """A part of a run: a call whose result is bytes.

    The same call always has to return the same bytes: after a kill it may be made again.

    Attributes:
        key: its name, unique within the run, such as ``"even/search"``.
        call: a function at the top of a module that every worker can import.
        arguments: what to call it with; pickled on the way to a worker.
        weight: its part of the progress, in proportion to the work that is expected of it.

    Example:
        >>> from operator import concat
        >>> shard = Shard("greeting", concat, (b"good ", b"day"))
        >>> shard.call(*shard.arguments)
        b'good day'
    """

    key: str
    call: Callable[..., bytes]
    arguments: tuple[Any, ...]
    weight: float = 1.0
