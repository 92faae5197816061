"""Child processes: they may crash, hang, produce endless output or leave children behind."""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Self

from fabkit.core.signals import cleanup_on_signal, defer_signals
from fabkit.core.staging import external_errors

#: How often a waiting caller gets control, at least.
_POLL_S = 0.05
#: How long to wait for remaining output. A pipe still open after that is held by a process outside
#: the child's group.
DRAIN_TIMEOUT_S = 2.0


class ChildProcess:
    """A program that runs inside the block; at its end the whole process group is killed.

    It gets its own session, so that the terminal's Ctrl-C reaches fabkit only.

    Args:
        command: the program and its arguments.
        doing: ``"cannot start the slicer"``, for the `ExternalError` raised when that fails.
        longest_line: longer lines are split.
        options: of `subprocess.Popen`.
    """

    def __init__(
        self, command: Sequence[str], doing: str, longest_line: int = -1, **options: Any
    ) -> None:
        self._command, self._doing, self._longest_line = command, doing, longest_line
        self._options = {"stdin": subprocess.DEVNULL, **options}
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start it.

        Raises:
            ExternalError: when that fails.
        """
        with defer_signals(), external_errors(self._doing):
            self.process = subprocess.Popen(  # noqa: S603 - this Python, or a user's slicer
                self._command, stdout=subprocess.PIPE, start_new_session=True, **self._options
            )
            self._stack.enter_context(cleanup_on_signal(self.end))
        self._reader.start()

    def close(self) -> None:
        """End it, and give back what it took."""
        self.end()
        self._reader.join(DRAIN_TIMEOUT_S)
        if not self._reader.is_alive():
            for pipe in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):  # part of the input may still be buffered
                    if pipe is not None:
                        pipe.close()
        self._stack.close()

    def end(self) -> None:
        """Kill it and all processes of its group."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # all have ended
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def _read(self) -> None:
        """Read lines, in a thread: a full pipe would block the child."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline(self._longest_line):
            self._lines.put(line)
        self._lines.put(None)

    def lines(self) -> Iterator[bytes]:
        """Yield lines as they arrive, and empty ones many times a second in between."""
        ended_s = None
        while True:
            try:
                line = self._lines.get(timeout=_POLL_S)
            except queue.Empty:
                line = b""
                if self.process.poll() is not None:
                    self.end()  # a process of its group may keep the pipe open
                    ended_s = ended_s or time.monotonic()
                    if time.monotonic() > ended_s + DRAIN_TIMEOUT_S:
                        return
            if line is None:
                return
            yield line


def exit_with_parent(parent: int) -> None:
    """End this process when the parent process ends, even if killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_POLL_S)
        os._exit(1)

    if sys.platform == "linux":
        # Compiled code may hold the GIL, and then no watching thread would run.
        import ctypes

        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the call
            os._exit(1)
    else:
        threading.Thread(target=watch, daemon=True).start()


def return_free_memory() -> None:
    """Give the system back what the C library keeps of freed memory: hundreds of megabytes of a CAD
    kernel's. Only glibc can."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
