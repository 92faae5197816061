"""Ctrl-C and polite kills: a command ends at any moment, and at no moment that does harm.

An exception that a signal raises may come up anywhere: inside a library that is being loaded,
which then says that it is broken; inside a compiler, which crashes; inside a ``__del__``, which
ignores it. So a command raises none. It removes what is half-written, says one line and ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

STOPPED = "stopped; no file is half-written"
#: Ctrl-C, a polite kill, and the end of the terminal.
_NUMBERS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_cleanups: list[Callable[[], str | None]] = []


def stop_quietly() -> None:
    """From now on signals end this process: exit code 130 for Ctrl-C, 143 and 129 for the others.

    Those that are switched off, as by ``nohup``, stay so.
    """
    for number in _NUMBERS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _stop)


def ignore_signals() -> None:
    """From now on signals come too late: all is done."""
    for number in _NUMBERS:
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, _frame: Any) -> None:
    ignore_signals()  # nobody wants to stop twice
    message = STOPPED
    for cleanup in reversed(_cleanups):
        with suppress(Exception):
            message = cleanup() or message
    with suppress(Exception):  # standard output may be closed, or this may be inside a print
        sys.stdout.flush()
    with suppress(Exception):
        os.write(sys.stderr.fileno(), f"fabkit: {message}\n".encode())
    os._exit(128 + number)


@contextmanager
def at_stop(cleanup: Callable[[], str | None]) -> Iterator[None]:
    """What a signal that comes inside does before it ends the process; the last is done first.

    On all other ways out, the caller does it. It may return what to say instead of the usual words.
    """
    _cleanups.append(cleanup)
    try:
        yield
    finally:
        _cleanups.remove(cleanup)


@contextmanager
def held() -> Iterator[None]:
    """Signals that come inside take effect at the end.

    Without `stop_quietly`, as in a notebook, that is as the handler of others has it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    waiting: list[int] = []
    with ExitStack() as stack:  # which goes on when a signal disturbs a step
        stack.callback(lambda: signal.raise_signal(waiting[0]) if waiting else None)
        for number in _NUMBERS:
            usual = signal.getsignal(number)
            if usual not in (signal.SIG_IGN, None):  # None is a handler of another language
                stack.callback(signal.signal, number, usual)
                signal.signal(number, lambda number, _: waiting.append(number))
        yield
