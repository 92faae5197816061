"""Programs in processes of their own: they may crash, hang, talk without end or leave children."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from fabkit.core.files import outside_failures
from fabkit.core.signals import at_stop, held

#: So often at least one who waits for a child can look whether it should go on.
_POLL_S = 0.05
#: How long the end of what was said may take to arrive. A pipe that is open after that is held by
#: a process that has left the child's group.
LAST_WORDS_S = 2.0


class Child:
    """A program that runs inside the block. At its end it is dead, and so is its process group.

    Its session is its own, so that the terminal's Ctrl-C reaches fabkit alone.

    Args:
        command: the program and its arguments.
        doing: ``"cannot start the slicer"``, for the `OutsideError` that entering it may raise.
        task: what it reads from standard input, which then stays open; None for nothing.
        longest_line: longer lines are cut in pieces.
        options: of `subprocess.Popen`.
    """

    def __init__(
        self,
        command: Sequence[str],
        doing: str,
        task: bytes | None = None,
        longest_line: int = -1,
        **options: Any,
    ) -> None:
        self._command, self._doing, self._task = command, doing, task
        self._longest, self._options = longest_line, options
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._courier = threading.Thread(target=self._carry, daemon=True)
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Child:
        with held(), outside_failures(self._doing):
            self.process = subprocess.Popen(  # noqa: S603 - this Python, or a user's slicer
                self._command,
                stdin=subprocess.DEVNULL if self._task is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                **self._options,
            )
            self._held.enter_context(at_stop(self.end))
        self._courier.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._courier.join(LAST_WORDS_S)
        if not self._courier.is_alive():
            for pipe in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):  # a part of the task may still wait in it
                    if pipe is not None:
                        pipe.close()
        self._held.close()

    def end(self) -> None:
        """Kills it and those that it has started, as far as they are of its group."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def _carry(self) -> None:
        """Takes the task to the child and brings its lines; a pipe that is full would stop it."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):  # it is gone; its answers are missed elsewhere
                self.process.stdin.write(self._task or b"")
                self.process.stdin.flush()
        assert self.process.stdout is not None
        while line := self.process.stdout.readline(self._longest):
            self._lines.put(line)
        self._lines.put(None)

    def lines(self) -> Iterator[bytes]:
        """Its lines as they come, and empty ones many times a second while there are none."""
        ended_s = None
        while True:
            try:
                line = self._lines.get(timeout=_POLL_S)
            except queue.Empty:
                line = b""
                if self.process.poll() is not None:
                    self.end()  # a process of its group may hold the pipe
                    ended_s = ended_s or time.monotonic()
                    if time.monotonic() > ended_s + LAST_WORDS_S:
                        return
            if line is None:
                return
            yield line


def die_with(parent: int) -> None:
    """Lets this process end when the process of this number does, even by force."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_POLL_S)
        os._exit(1)

    if sys.platform == "linux":
        # Compiled code may hold Python's lock, and then no thread would wake up to watch.
        import ctypes

        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before that
            os._exit(1)
    else:
        threading.Thread(target=watch, daemon=True).start()
