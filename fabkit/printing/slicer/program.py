"""Find a slicer and run it: a program that may crash, hang, print endlessly or leave child
processes behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabkit.core.errors import ExternalError, InputError, escape, quote
from fabkit.core.process import ChildProcess
from fabkit.core.staging import external_errors, temporary_folder

#: Programs to look for on the PATH, in this order.
PROGRAM_NAMES = (
    "prusa-slicer",
    "PrusaSlicer",
    "prusa-slicer-console",
    "orca-slicer",
    "OrcaSlicer",
    "bambu-studio",
)
#: The name and version in the output of ``--help``.
_INTRODUCTION = re.compile(
    r"^(PrusaSlicer|OrcaSlicer|BambuStudio)-(\d[0-9A-Za-z.+_-]{0,60})", re.MULTILINE
)
_HELP_LIMIT_S = 60.0
_INSTALL = (
    "on Debian and Ubuntu: apt install prusa-slicer; elsewhere from "
    "https://www.prusa3d.com/prusaslicer"
)


@dataclass(frozen=True)
class Slicer:
    """A slicer that is installed.

    Attributes:
        version: as reported, without the suffix of an unnamed build.
    """

    path: Path
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def find_slicer(given: str | None = None) -> Slicer:
    """Find the slicer that the user names, or the first of `PROGRAM_NAMES` on the PATH.

    Raises:
        InputError: when the given one does not exist, or is not a slicer.
        ExternalError: when none is installed, or the one that is breaks down.
    """
    names = PROGRAM_NAMES if given is None else [given]
    name, path = next(((name, path) for name in names if (path := shutil.which(name))), ("", ""))
    if not path and given is None:
        raise ExternalError(
            f"no slicer found (looked for {', '.join(PROGRAM_NAMES)}); {_INSTALL}; or pass its path "
            "with --slicer; only `fabkit slice` needs one"
        )
    if not path:
        raise InputError.of(
            "--slicer",
            f"cannot find a program {quote(given)}; expected the path or name of PrusaSlicer; "
            f"{_INSTALL}",
        )
    slicer = _identify(Path(path).absolute())
    if isinstance(slicer, Slicer):
        return slicer
    if given is None:
        raise ExternalError(
            f"cannot identify {name}: asked for its help, it {slicer}; reinstall it, or pass another "
            "slicer with --slicer"
        )
    raise InputError.of(
        "--slicer",
        f"{quote(given)} is not a supported slicer: asked for its help, it {slicer}; expected "
        "PrusaSlicer",
    )


def _identify(path: Path) -> Slicer | str:
    """Identify a program by its help; return how it ended if that fails."""
    with external_errors("cannot make a temporary folder"), temporary_folder() as folder:
        try:
            answer = run_program([path, "--help"], folder, _HELP_LIMIT_S)
        except ExternalError as error:
            return f"failed to run ({escape(str(error))})"
    match = _INTRODUCTION.search(answer.output)
    if match is None:
        return answer.describe_exit()
    name, version = match.groups()
    # Unofficial builds say UNKNOWN.
    return Slicer(path, name, version.removesuffix("+UNKNOWN"))


#: A slicer prints a few lines; a program that prints more bytes than this is stopped.
MAX_OUTPUT_BYTES = 1_000_000
#: Maximum length of the last line in a message.
_LONGEST_LINE = 200
#: PrusaSlicer's log lines of no interest.
_CHAT = re.compile(r"\[[^\]]*\] \[[^\]]*\] \[(trace|debug)\]")
#: Removed from the environment so that no slicer opens a window.
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
#: Where programs look for the user's settings, or put their files.
_PLACES = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR", "TEMP", "TMP")


@dataclass(frozen=True)
class ProgramRun:
    """A program that has ended.

    Attributes:
        code: its exit code; negative for the signal that killed it.
        output: standard output and standard error.
    """

    code: int
    output: str

    def describe_exit(self) -> str:
        r"""Describe in a few words how the program ended.

        Example:
            >>> ProgramRun(-11, "").describe_exit(), ProgramRun(1, "oh\n").describe_exit()
            ('crashed (SIGSEGV) without output', 'ended with exit code 1; last output: oh')
        """
        ended = f"ended with exit code {self.code}"
        if self.code < 0:
            with contextlib.suppress(ValueError):
                ended = f"crashed ({signal.Signals(-self.code).name})"
        return ended + _last_line(self.output)


def run_program(
    command: Sequence[str | Path],
    folder: Path,
    limit_s: float,
    hear: Callable[[str], None] | None = None,
) -> ProgramRun:
    """Run a program in a folder, which also serves as the user's home.

    In every case, also on Ctrl-C, its whole process group is dead at the end.

    Args:
        hear: called with each line that it prints, at once where ``stdbuf`` is installed: C programs
            hold back what they print into a pipe.

    Raises:
        ExternalError: when it cannot be started, takes too long or prints too much.
    """
    name = escape(Path(command[0]).name)
    if hear is not None and (stdbuf := shutil.which("stdbuf")):
        command = [stdbuf, "-oL", *command]
    environment = {key: value for key, value in os.environ.items() if key not in _SCREENS}
    environment |= dict.fromkeys(_PLACES, str(folder))
    child = ChildProcess(
        [str(word) for word in command],
        f"cannot start {name}",
        longest_line=MAX_OUTPUT_BYTES,
        cwd=folder,
        env=environment,
        stderr=subprocess.STDOUT,
    )
    heard = bytearray()
    end_s = time.monotonic() + limit_s
    is_late = False
    with child:
        for line in child.lines():
            heard += line
            if hear is not None and line:
                hear(line.decode(errors="replace").rstrip())
            is_late = time.monotonic() > end_s
            if is_late or len(heard) > MAX_OUTPUT_BYTES:
                break
    output = heard.decode(errors="replace")
    if len(heard) > MAX_OUTPUT_BYTES:
        raise ExternalError(
            f"{name} printed more than {MAX_OUTPUT_BYTES} bytes; a slicer prints a few lines, so it may "
            f"not be one{_last_line(output)}"
        )
    if is_late:
        raise ExternalError(f"{name} was stopped after {limit_s:g} seconds{_last_line(output)}")
    return ProgramRun(child.process.returncode, output)


def _last_line(output: str) -> str:
    """Return the last line of interest, short enough for a message."""
    lines = (line.strip() for line in reversed(output.splitlines()) if not _CHAT.match(line))
    last = escape(next(filter(None, lines), ""))[:_LONGEST_LINE]
    return f"; last output: {last}" if last else " without output"
