"""A worker: a process that performs one call after the other, and ends with its parent."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from typing import IO

from fabkit.jobs.parcel import perform

_LENGTH_BYTES = 8


def send(pipe: IO[bytes], content: bytes) -> None:
    """Writes a message: its length, then itself.

    Raises:
        OSError: when nobody reads any more.
    """
    pipe.write(len(content).to_bytes(_LENGTH_BYTES, "big"))
    pipe.write(content)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """Reads a message; None when the other side has ended, also in the middle of one.

    Example:
        >>> import io
        >>> pipe = io.BytesIO()
        >>> send(pipe, b"good day")
        >>> receive(io.BytesIO(pipe.getvalue())), receive(io.BytesIO(pipe.getvalue()[:-1]))
        (b'good day', None)
    """
    head = pipe.read(_LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    content = pipe.read(length)
    return content if len(head) == _LENGTH_BYTES and len(content) == length else None


def serve(parent: int) -> None:
    """Performs the calls that come through standard input, until the parent ends or kills it.

    Args:
        parent: the parent's process number.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C ends
    _die_with(parent)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print do not print into the answers
    sys.stdout = sys.stderr
    calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(calls,), daemon=True).start()
    while True:
        send(answers, perform(calls.get()))


def _read(calls: queue.SimpleQueue[bytes]) -> None:
    """Reads all the time, also during a call, and so sees the parent's end."""
    while (call := receive(sys.stdin.buffer)) is not None:
        calls.put(call)
    os._exit(1)


def _die_with(parent: int) -> None:
    """Lets the system end this process with its parent.

    Compiled kernels hold Python's lock, and so the thread that reads would not wake up in time.
    Where the system cannot do it, a worker ends after the kernel.
    """
    if sys.platform == "linux":
        import ctypes

        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before that
            os._exit(1)
