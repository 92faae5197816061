"""How long work reports its progress."""

from collections.abc import Callable

#: Called with the share of the work that is done, from 0 to 1, and a text for people such as the
#: next thing to be done; empty where the share says it all.
Progress = Callable[[float, str], None]


def no_progress(share: float, what: str) -> None:
    """Ignore progress."""


def counted(progress: Progress, done: int, total: int, name: str) -> None:
    """Report how many of some things are done, and the name of the next.

    Example:
        >>> counted(print, 3, 16, "A.stl")
        0.1875 3/16 A.stl
    """
    progress(done / max(total, 1), f"{done}/{total} {name}")
