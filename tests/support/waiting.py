"""How tests wait for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable

#: What has not happened by then never will; no test measures how long anything takes.
_LIMIT_S = 120.0
#: How often a waiting test looks.
_POLL_S = 0.005


def wait_until(happened: Callable[[], bool]) -> None:
    """Return as soon as it has happened."""
    deadline = time.monotonic() + _LIMIT_S
    while not happened():
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(_POLL_S)
