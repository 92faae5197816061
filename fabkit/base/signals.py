"""Ctrl-C and polite kills at moments at which they do no harm."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Ctrl-C, and a polite kill, which `fabkit.cli.main` treats alike.
_HELD = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """Holds Ctrl-C and polite kills back where exceptions get lost.

    Python would raise them anywhere: inside a compiler that crashes of it, or inside a
    ``__del__``, which ignores exceptions, so that the program would just go on.
    """

    def __init__(self) -> None:
        self._usual: dict[int, Any] = {}
        self._waiting: deque[tuple[int, Any]] = deque()

    @contextmanager
    def held(self, wake: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Signals that come inside are handled at the end, also at the end of an inner one.

        Args:
            wake: called as one comes, inside a signal handler: it may put something into a
                ``queue.SimpleQueue``, and little else.

        Example:
            >>> import os
            >>> signals = Signals()
            >>> try:
            ...     with signals.held():
            ...         os.kill(os.getpid(), signal.SIGINT)
            ...         print("still here")
            ... except KeyboardInterrupt:
            ...     print("stopped")
            still here
            stopped
        """
        if threading.current_thread() is not threading.main_thread():
            yield  # signals reach the main thread only
            return
        outermost = not self._usual
        if outermost:

            def hold(number: int, frame: Any) -> None:
                self._waiting.append((number, frame))
                wake()

            handlers = {one: signal.getsignal(one) for one in _HELD}
            self._usual = {one: usual for one, usual in handlers.items() if callable(usual)}
            for one in self._usual:
                signal.signal(one, hold)
        usual = self._usual
        try:
            yield
        finally:
            if outermost:
                for one, handler in usual.items():
                    signal.signal(one, handler)
                self._usual = {}
            self._handle(usual)

    def handle(self) -> None:
        """Handles now what came since, as it would have been without this.

        Raises:
            BaseException: what the usual handlers raise, such as KeyboardInterrupt.
        """
        self._handle(self._usual)

    def _handle(self, usual: dict[int, Any]) -> None:
        while self._waiting:
            number, frame = self._waiting.pop()
            usual[number](number, frame)
