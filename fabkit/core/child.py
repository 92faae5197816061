"""Python processes that make calls for this one: of engines' libraries, side by side, the studio's.

A child is sent calls through its standard input, and answers through its standard output; both
carry pickles. What libraries print goes to standard error.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from fabkit.core.errors import FabkitError
from fabkit.core.process import ChildProcess, exit_with_parent

#: The kinds of messages of a child.
EVENT, RESULT, ERROR, ENDED = "event", "result", "error", "ended"
#: Code of a child: isolated from its environment, it imports from its parent's path.
_START = """
import json, sys
job = json.loads(sys.argv[1])
sys.path[:] = job["path"]
from fabkit.core.child import child_main
child_main(job["parent"])
"""
#: Sent in place of a call to stop the one that is being made.
_STOP = b""


class Child(ChildProcess):
    """A Python process that makes calls, one at a time, and ends with this one at the latest.

    Linux also ends it with the thread that started it.

    Args:
        doing: as of `ChildProcess`.
        messages: receives the child, the kind and the value of each message: an `EVENT` that a call
            has reported, its `RESULT` or `ERROR`, and once the process has `ENDED`. Several
            children may share it.
        options: of `subprocess.Popen`.
    """

    def __init__(
        self, doing: str, messages: queue.SimpleQueue[Any] | None = None, **options: Any
    ) -> None:
        start = json.dumps({"path": sys.path, "parent": os.getpid()})
        command = [sys.executable, "-I", "-c", _START, start]
        super().__init__(command, doing, stdin=subprocess.PIPE, **options)
        self._messages = messages or queue.SimpleQueue()

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Send a call of a module-level function; an exception if it cannot be pickled."""
        self._send(pickle.dumps((function, arguments)))

    def stop(self) -> None:
        """Ask the child to stop its call; see `is_to_stop`."""
        self._send(_STOP)

    def receive(self, timeout_s: float) -> tuple[str, Any]:
        """Return kind and value of the next message; an empty kind if none arrives in time."""
        try:
            _, kind, value = self._messages.get(timeout=timeout_s)
        except queue.Empty:
            return "", None
        return kind, value

    def _send(self, packed: bytes) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # it has ended, which its messages say
            pickle.dump(packed, self.process.stdin)
            self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with suppress(Exception):  # the end, perhaps in the middle of a message
            while True:
                self._messages.put((self, *pickle.load(self.process.stdout)))  # noqa: S301
        self._messages.put((self, ENDED, None))


# --- in the child -----------------------------------------------------------------------------

_calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
_answers: BinaryIO


def child_main(parent: int) -> None:
    """Make the calls that arrive."""
    global _answers  # noqa: PLW0603
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_parent(parent)
    _answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that what libraries print is not taken for answers
    sys.stdout = sys.stderr
    threading.Thread(target=_listen, daemon=True).start()
    while True:
        packed = _calls.get()
        if packed != _STOP:  # else the call has just ended by itself
            outcome = call_outcome(_make, (packed,))
            failed = isinstance(outcome, BaseException)
            _write(pickle.dumps((ERROR, outcome)) if failed else outcome)


def _listen() -> None:
    with suppress(Exception):
        while True:
            _calls.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from the process that started this
    os._exit(0)  # no more calls; don't wait for libraries' threads and destructors


def _make(packed: bytes) -> bytes:
    function, arguments = pickle.loads(packed)  # noqa: S301
    return pickle.dumps((RESULT, function(*arguments)))


def report(value: object) -> None:
    """Send an `EVENT` from a call."""
    _write(pickle.dumps((EVENT, value)))


def _write(packed: bytes) -> None:
    try:
        _answers.write(packed)
        _answers.flush()
    except OSError:  # the parent has ended
        os._exit(1)


def is_to_stop() -> bool:
    """Whether the call that is being made should stop."""
    return not _calls.empty()


def call_outcome(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return the result of a call, or the exception it raised, in a picklable form.

    Unexpected exceptions carry the traceback from the worker as a note.
    """
    try:
        return call(*arguments)
    except FabkitError as error:
        return error
    except BaseException as error:
        error.add_note("In the worker:\n" + "".join(traceback.format_exception(error)).rstrip())
        try:
            copy: BaseException = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        except Exception:
            copy = RuntimeError(f"{type(error).__qualname__}: {error}")
            copy.__notes__ = error.__notes__
        return copy
