"""Running a program that may crash, hang, talk without end, or leave children behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabkit.core.errors import OutsideError, printable
from fabkit.core.files import outside_failures

#: A slicer says a few lines. What says more than this is not listened to any further.
MOST_SAID = 1_000_000
#: So much of the end is kept in any case, for messages.
_LAST_SAID = 4_000
#: So long the last line may be in a message.
_LONGEST_LINE = 200
#: What PrusaSlicer says before anything else, and tells nobody anything.
_CHAT = re.compile(r"\[[^\]]*\] \[[^\]]*\] \[(trace|debug)\]")
_CHUNK = 65_536
#: How long the end of what was said may take to arrive. A pipe that is open after that is held by
#: a process that has left the program's group.
_LAST_WORDS_S = 2.0
#: What is taken from the environment for a window, which no slicer is to open here.
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
#: Where programs look for the user's settings, or put their files.
_PLACES = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR", "TEMP", "TMP")


@dataclass(frozen=True)
class Run:
    """A program that has ended.

    Attributes:
        code: its exit code; negative for the signal that killed it.
        said: what it said on standard output and standard error.
        last: the last line of that, short enough for a message; may be empty.
    """

    code: int
    said: str
    last: str

    def how_it_ended(self) -> str:
        r"""A few words on its end.

        Example:
            >>> Run(-11, "", "").how_it_ended(), Run(1, "oh\n", "oh").how_it_ended()
            ('crashed (SIGSEGV) without a word', 'ended with exit code 1; its last words: oh')
        """
        ended = f"ended with exit code {self.code}"
        if self.code < 0:
            with contextlib.suppress(ValueError):
                ended = f"crashed ({signal.Signals(-self.code).name})"
        return ended + _last_words(self.last)


def run(command: Sequence[str | Path], folder: Path, limit_s: float) -> Run:
    """Runs a program in a folder, which also stands for the user's home.

    Whatever happens, also on Ctrl-C, it is dead at the end, and so is all of its process group.

    Args:
        command: the program's path and its arguments.
        folder: where it works.
        limit_s: how long it may take.

    Returns:
        How it ended and what it said.

    Raises:
        OutsideError: when it cannot be started, takes too long or says too much.
    """
    name = printable(Path(command[0]).name)
    environment = {key: value for key, value in os.environ.items() if key not in _SCREENS}
    environment |= dict.fromkeys(_PLACES, str(folder))
    with outside_failures(f"cannot start {name}"):
        process = subprocess.Popen(  # noqa: S603 - a slicer, which the user has chosen
            [str(word) for word in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that the terminal's Ctrl-C reaches fabkit alone
        )
    listener = _Listener(process)
    late = False
    try:
        listener.start()
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        _end(process)
        listener.join(_LAST_WORDS_S)
    last = listener.last_line()
    if late:
        raise OutsideError(
            f"{name} was stopped: it was not done within {limit_s:g} seconds{_last_words(last)}"
        )
    if listener.count > MOST_SAID:
        raise OutsideError(
            f"{name} said {listener.count} bytes, where a slicer says a few lines; it may be none"
            f"{_last_words(last)}"
        )
    return Run(process.returncode, listener.head.decode(errors="replace"), last)


def _last_words(last: str) -> str:
    return f"; its last words: {last}" if last else " without a word"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and those that it has started, as far as they are of its group."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


class _Listener(threading.Thread):
    """Takes down what a program says, in bounded room; a pipe that is full would stop it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        assert process.stdout is not None
        self._pipe = process.stdout
        self.head = bytearray()
        self._tail = b""
        self.count = 0

    def run(self) -> None:
        with self._pipe as pipe:
            while chunk := os.read(pipe.fileno(), _CHUNK):
                self.count += len(chunk)
                self.head += chunk[: max(0, MOST_SAID - len(self.head))]
                self._tail = (self._tail + chunk)[-_LAST_SAID:]

    def last_line(self) -> str:
        """The last line that says something."""
        for line in reversed(self._tail.decode(errors="replace").splitlines()):
            if line.strip() and not _CHAT.match(line):
                return printable(line.strip())[:_LONGEST_LINE]
        return ""
