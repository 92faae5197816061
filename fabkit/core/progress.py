"""How long work reports its progress."""

from collections.abc import Callable

#: Called with the number of things done, the total, and the next one.
Progress = Callable[[int, int, str], None]


def no_progress(done: int, total: int, name: str) -> None:
    """Ignore progress."""
