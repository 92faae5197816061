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
    """Holds Ctrl-C and polite kills back where they would do harm, or where they get lost.

    Python would raise them anywhere: inside a compiler that crashes of it, between the renaming
    of two files that belong together, or inside a ``__del__``, which ignores exceptions, so that
    the program would just go on.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._usual: dict[int, Any] = {}
        self._waiting: deque[tuple[int, Any]] = deque()
        self._wake: Callable[[], None] = _nothing

    @contextmanager
    def held(self, wake: Callable[[], None] | None = None) -> Iterator[None]:
        """Signals that come inside are handled at the end, also at the end of an inner one.

        Args:
            wake: called as one comes, inside a signal handler: it may put something into a
                ``queue.SimpleQueue``, and little else. Only that of the outermost is called.

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
        depth = self._depth
        try:
            # A signal may come between any two of these lines. `_hold` looks at the depth, so
            # that it does no harm where it was not put in, or not taken out, in time.
            self._depth = depth + 1
            if not depth:
                self._wake = wake or _nothing
                self._waiting.clear()
                self._put_in()
            yield
        finally:
            self._depth = depth
            if not depth:
                self._take_out()
            self.handle()

    def handle(self) -> None:
        """Handles now what came since, as it would have been without this.

        Of several signals it is the first that counts: nobody wants to stop twice.

        Raises:
            BaseException: what the usual handler raises, such as KeyboardInterrupt.
        """
        waiting, self._waiting = self._waiting, deque()
        if waiting:
            self._as_usual(*waiting[0])

    def _put_in(self) -> None:
        found = {number: signal.getsignal(number) for number in _HELD}
        for number, usual in found.items():
            # None is a handler of another language, which could not be put back.
            if usual not in (signal.SIG_IGN, None, self._hold):
                self._usual[number] = usual
                signal.signal(number, self._hold)

    def _take_out(self) -> None:
        for number, usual in self._usual.items():
            if signal.getsignal(number) == self._hold:
                signal.signal(number, usual)

    def _hold(self, number: int, frame: Any) -> None:
        if not self._depth:
            self._as_usual(number, frame)
            return
        self._waiting.append((number, frame))
        self._wake()

    def _as_usual(self, number: int, frame: Any) -> None:
        usual = self._usual[number]
        if usual is signal.SIG_DFL:
            signal.signal(number, usual)
            signal.raise_signal(number)
        else:
            usual(number, frame)


def _nothing() -> None:
    """Wakes nobody."""
