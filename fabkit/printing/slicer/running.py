"""Running a program that may crash, hang, talk without end, or leave children behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabkit.core.errors import OutsideError, printable
from fabkit.core.process import LAST_WORDS_S, Child

#: A slicer says a few lines. What says more than this is not listened to any further.
MOST_SAID = 1_000_000
#: So much of the end is kept in any case, for messages.
_LAST_SAID = 4_000
#: So long the last line may be in a message.
_LONGEST_LINE = 200
#: What PrusaSlicer says before anything else, and tells nobody anything.
_CHAT = re.compile(r"\[[^\]]*\] \[[^\]]*\] \[(trace|debug)\]")
_CHUNK = 65_536
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

    Raises:
        OutsideError: when it cannot be started, takes too long or says too much.
    """
    name = printable(Path(command[0]).name)
    environment = {key: value for key, value in os.environ.items() if key not in _SCREENS}
    environment |= dict.fromkeys(_PLACES, str(folder))
    child = Child(
        [str(word) for word in command],
        f"cannot start {name}",
        longest_line=_CHUNK,
        cwd=folder,
        env=environment,
        stderr=subprocess.STDOUT,
    )
    head, tail, count, late = bytearray(), b"", 0, False
    end_s = time.monotonic() + limit_s
    with child:
        for line in child.lines():
            count += len(line)
            head += line[: max(0, MOST_SAID - len(head))]
            tail = (tail + line)[-_LAST_SAID:]
            if time.monotonic() > end_s:
                if late and time.monotonic() > end_s + LAST_WORDS_S:
                    break
                late = True
                child.end()
    last = _last_line(tail)
    if late:
        raise OutsideError(
            f"{name} was stopped: it was not done within {limit_s:g} seconds{_last_words(last)}"
        )
    if count > MOST_SAID:
        raise OutsideError(
            f"{name} said {count} bytes, where a slicer says a few lines; it may be none"
            f"{_last_words(last)}"
        )
    return Run(child.process.returncode, head.decode(errors="replace"), last)


def _last_words(last: str) -> str:
    return f"; its last words: {last}" if last else " without a word"


def _last_line(tail: bytes) -> str:
    """The last line that says something."""
    for line in reversed(tail.decode(errors="replace").splitlines()):
        if line.strip() and not _CHAT.match(line):
            return printable(line.strip())[:_LONGEST_LINE]
    return ""
