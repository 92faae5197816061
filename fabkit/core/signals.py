"""Ctrl-C and SIGTERM: a command can be interrupted at any moment without doing harm.

An exception raised by a signal handler may surface anywhere: during an import, which then reports a
broken library; inside a compiler, which crashes; inside ``__del__``, which ignores it. So the
handler raises none. It removes half-written files, prints one line and exits.
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
#: Ctrl-C, a plain kill, and a closed terminal.
_NUMBERS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_cleanups: list[Callable[[], str | None]] = []


def exit_on_signals() -> None:
    """Install handlers that exit: with code 130 for Ctrl-C, 143 and 129 for the others.

    Signals that are ignored, as under ``nohup``, stay ignored.
    """
    for number in _NUMBERS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _stop)


def ignore_signals() -> None:
    """Ignore signals from now on: the work is done."""
    for number in _NUMBERS:
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, _frame: Any) -> None:
    ignore_signals()  # a second Ctrl-C must not interrupt the cleanup
    message = STOPPED
    for cleanup in reversed(_cleanups):
        with suppress(Exception):
            message = cleanup() or message
    with suppress(Exception):  # stdout may be closed, or a print may be in progress
        sys.stdout.flush()
    with suppress(Exception):
        os.write(sys.stderr.fileno(), f"fabkit: {message}\n".encode())
    os._exit(128 + number)


@contextmanager
def cleanup_on_signal(cleanup: Callable[[], str | None]) -> Iterator[None]:
    """Run ``cleanup`` if a signal ends the process inside the block; the innermost runs first.

    On every other way out the caller cleans up. It may return a message that replaces the default.
    """
    _cleanups.append(cleanup)
    try:
        yield
    finally:
        _cleanups.remove(cleanup)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Defer signals until the end of the block.

    Without `exit_on_signals`, as in a notebook, the previously installed handler receives them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    waiting: list[int] = []
    with ExitStack() as stack:  # unwinds fully even if a signal interrupts a step
        stack.callback(lambda: signal.raise_signal(waiting[0]) if waiting else None)
        for number in _NUMBERS:
            previous = signal.getsignal(number)
            if previous not in (signal.SIG_IGN, None):  # None: a handler not set from Python
                stack.callback(signal.signal, number, previous)
                signal.signal(number, lambda number, _: waiting.append(number))
        yield
