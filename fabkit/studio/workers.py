"""Warm processes that make one call at a time, and can be stopped at any moment.

Calls run outside the server, so that it answers whatever they do: compiled code that holds on to a
core, a CAD kernel that crashes, memory that only grows. A call is stopped politely first, at its
next report of progress; where none comes, its process is killed and a new one starts.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import anyio
from anyio import to_thread

from fabkit.core.child import ENDED, ERROR, EVENT, RESULT, Child, is_to_stop, report
from fabkit.core.errors import ExternalError, InputError
from fabkit.core.process import return_free_memory
from fabkit.solid.without_vtk import leave_out_vtk
from fabkit.studio.project import Event, call_checked

#: The usual time for a call to stop.
POLITE_S = 0.1
#: How often a waiting caller looks for messages.
_POLL_S = 0.005
#: The least time between two reports of progress.
_REPORT_S = 0.05
#: A process that uses more memory after a call is replaced.
_MAX_MEMORY_BYTES = 900 * 2**20
#: The message of an unexpected error.
FAILED = "fabkit failed; the terminal that runs the studio says how. Please report it"
#: The message when a process has ended.
_LOST = "the process that did this has ended, perhaps for lack of memory; try again"
#: By how much other processes come before these.
_NICE = 10
#: The keys of last events.
_LAST = ("result", "error", "stopped")

#: Passes an event on to the browser.
Send = Callable[[Event], Awaitable[None]]


class StoppedError(BaseException):
    """Raised inside a call that is to stop; no library catches it by mistake."""


class Worker:
    """A process that makes calls of functions ``module:name``, one at a time.

    It starts in the thread of the event loop: Linux ends a process with the thread that started it.

    Args:
        warm: modules to import before the first call.
        polite_s: how long a call that is to stop may go on before its process is killed.
    """

    def __init__(self, warm: Sequence[str] = (), polite_s: float = POLITE_S) -> None:
        self._warm, self._polite_s = tuple(warm), polite_s
        self._turn = anyio.Lock()
        self._running: anyio.CancelScope | None = None
        self._start()

    def _start(self) -> None:
        self._child = Child("cannot start a process of the studio")
        self._child.start()
        self._child.call(_warm_up, self._warm)
        self._is_warm = self._has_call = False

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._child.process.pid

    def close(self) -> None:
        """Kill its process."""
        self._child.close()

    def stop(self) -> None:
        """Stop the running call, if any; the next one need not wait for its process."""
        if self._running is not None:
            self._running.cancel()

    async def call(self, send: Send, function: str, arguments: Mapping[str, Any]) -> Event:
        """Make a call after those before it; send its events, and return the last one.

        These are ``{"progress": share, "text": text}``, and what the function emits; the last one
        is ``{"result": …}``, ``{"error": …}`` or ``{"stopped": True}``. The call is stopped when
        the caller is cancelled or `stop` is called.

        Args:
            function: its arguments ``emit`` and ``progress`` are functions for events.
        """
        async with self._turn:
            with anyio.CancelScope() as scope:
                self._running = scope
                self._has_call = is_over = False
                try:
                    async for event in self._events(function, arguments):
                        is_over = not event.keys().isdisjoint(_LAST)
                        if is_over:
                            if event.pop("worn", False):
                                self._replace()
                            return event
                        await send(event)
                finally:
                    self._running = None
                    if self._has_call and not is_over:
                        with anyio.CancelScope(shield=True):
                            if not await to_thread.run_sync(self._end_call):
                                self._replace()
            return {"stopped": True}

    async def _events(self, function: str, arguments: Mapping[str, Any]) -> AsyncIterator[Event]:
        while True:
            # Nothing is sent before it is warm: a call that is replaced meanwhile would end the
            # process, which would never become warm where changes follow each other.
            if self._is_warm and not self._has_call:
                self._has_call = True
                self._child.call(_make, function, arguments)
            kind, event = self._child.receive(0.0)
            if not kind:
                await anyio.sleep(_POLL_S)
            elif kind in (ERROR, ENDED):
                yield {"error": error_document(ExternalError(_LOST)), "worn": True}
            elif self._is_warm:
                yield event
            self._is_warm = self._is_warm or kind == RESULT

    def _end_call(self) -> bool:
        """Ask the process to stop its call; return whether it has."""
        self._child.stop()
        kind, limit_s = EVENT, time.monotonic() + self._polite_s
        while kind == EVENT:
            kind, _ = self._child.receive(max(0.0, limit_s - time.monotonic()))
        return kind == RESULT

    def _replace(self) -> None:
        self.close()
        self._start()


def _warm_up(modules: Sequence[str]) -> None:
    """Prepare the process for its calls."""
    if hasattr(os, "nice"):
        os.nice(_NICE)  # the browser comes first: the pointer must not lag
    leave_out_vtk()
    for module in modules:
        import_module(module)


def _make(function: str, arguments: Mapping[str, Any]) -> Event:
    """Make a call and return its last event; the process is worn if it takes too much memory."""
    last = _outcome(function, arguments)
    return_free_memory()
    memory_bytes, statistics = 0, Path("/proc/self/statm")
    if statistics.is_file():
        memory_bytes = int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return last | {"worn": memory_bytes > _MAX_MEMORY_BYTES}


def _outcome(function: str, arguments: Mapping[str, Any]) -> Event:
    """Return the last event of a call."""
    reported_s = 0.0

    def emit(event: Event) -> None:
        if is_to_stop():
            raise StoppedError
        report(event)

    def progress(share: float, text: str) -> None:
        nonlocal reported_s
        if time.monotonic() - reported_s >= _REPORT_S:
            reported_s = time.monotonic()
            emit({"progress": share, "text": text})
        elif is_to_stop():
            raise StoppedError

    try:
        called = resolve_name(function)
        return {"result": call_checked(called, arguments, emit=emit, progress=progress)}
    except StoppedError:
        return {"stopped": True}
    except (InputError, ExternalError) as error:
        return {"error": error_document(error)}
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return {"error": error_document(ExternalError(FAILED))}


def error_document(error: InputError | ExternalError) -> dict[str, Any]:
    """Return an error for the browser: its whole text, and each detail with its place."""
    details = error.errors if isinstance(error, InputError) else ()
    return {
        "text": str(error),
        "details": [{"key": detail.key, "message": detail.message} for detail in details],
    }
