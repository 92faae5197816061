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
from fabkit.core.process import Child

#: A slicer says a few lines. What says more bytes than this is stopped.
MOST_SAID = 1_000_000
#: So long the last line may be in a message.
_LONGEST_LINE = 200
#: What PrusaSlicer says before anything else, and tells nobody anything.
_CHAT = re.compile(r"\[[^\]]*\] \[[^\]]*\] \[(trace|debug)\]")
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
    """

    code: int
    said: str

    def how_it_ended(self) -> str:
        r"""A few words on its end.

        Example:
            >>> Run(-11, "").how_it_ended(), Run(1, "oh\n").how_it_ended()
            ('crashed (SIGSEGV) without a word', 'ended with exit code 1; its last words: oh')
        """
        ended = f"ended with exit code {self.code}"
        if self.code < 0:
            with contextlib.suppress(ValueError):
                ended = f"crashed ({signal.Signals(-self.code).name})"
        return ended + _last_words(self.said)


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
        longest_line=MOST_SAID,
        cwd=folder,
        env=environment,
        stderr=subprocess.STDOUT,
    )
    heard, end_s, is_late = bytearray(), time.monotonic() + limit_s, False
    with child:
        for line in child.lines():
            heard += line
            is_late = time.monotonic() > end_s
            if is_late or len(heard) > MOST_SAID:
                break
    said = heard.decode(errors="replace")
    if len(heard) > MOST_SAID:
        raise OutsideError(
            f"{name} said more than {MOST_SAID} bytes, where a slicer says a few lines; it may be "
            f"none{_last_words(said)}"
        )
    if is_late:
        raise OutsideError(
            f"{name} was stopped: it was not done within {limit_s:g} seconds{_last_words(said)}"
        )
    return Run(child.process.returncode, said)


def _last_words(said: str) -> str:
    """The last line that says something, short enough for a message."""
    lines = (line.strip() for line in reversed(said.splitlines()) if not _CHAT.match(line))
    last = printable(next(filter(None, lines), ""))[:_LONGEST_LINE]
    return f"; its last words: {last}" if last else " without a word"
