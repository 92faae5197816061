"""Finding a slicer, and which one it is."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from fabkit.core.errors import InputError, OutsideError, printable, shown
from fabkit.core.files import outside_failures, temporary_folder
from fabkit.printing.slicer.running import run

#: Programs that are looked for on the PATH, in this order.
NAMES = (
    "prusa-slicer",
    "PrusaSlicer",
    "prusa-slicer-console",
    "orca-slicer",
    "OrcaSlicer",
    "bambu-studio",
)
#: The families: they differ in their command lines.
PRUSA, ORCA = "prusa", "orca"

#: How each of them introduces itself when asked for help.
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
        kind: `PRUSA` or `ORCA`.
        version: as it says, without a build of no name.
    """

    path: Path
    kind: str
    name: str
    version: str


def find_slicer(given: str | None = None) -> Slicer:
    """The slicer that the user names, or the first of `NAMES` on the PATH.

    Raises:
        InputError: when the given one does not exist, or is no slicer.
        OutsideError: when none is installed, or the one that is breaks down.
    """
    if given is not None:
        return _given(given)
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            slicer, ending = _introduced(Path(path).absolute())
            if slicer is None:
                raise OutsideError(
                    f"{name} does not say which slicer it is: it {ending}; install it again, or "
                    "name another slicer with --slicer"
                )
            return slicer
    raise OutsideError(
        f"no slicer is installed ({', '.join(NAMES)} were looked for); {_INSTALL}; or say where it "
        "is with --slicer; only `fabkit slice` needs it"
    )


def _given(given: str) -> Slicer:
    # A NUL ends the process's arguments, and is no part of any name.
    path = shutil.which(given) if given and "\0" not in given else None
    if path is None:
        raise InputError.of(
            "--slicer",
            f"there is no program {shown(given)} that could be run; expected PrusaSlicer's path or name; {_INSTALL}",
        )
    slicer, ending = _introduced(Path(path).absolute())
    if slicer is None:
        raise InputError.of(
            "--slicer",
            f"{shown(given)} is no slicer that fabkit knows: asked for its help, it {ending}; "
            "expected PrusaSlicer",
        )
    return slicer


def _introduced(path: Path) -> tuple[Slicer | None, str]:
    """Asks a program who it is; None when it does not say, and how it ended."""
    with (
        outside_failures("cannot make a temporary folder"),
        temporary_folder() as folder,
    ):
        try:
            answer = run([path, "--help"], folder, _HELP_LIMIT_S)
        except OutsideError as error:
            return None, f"could not be asked ({printable(str(error))})"
    found = _INTRODUCTION.search(answer.said)
    if found is None:
        return None, answer.how_it_ended()
    name, version = found.groups()
    version = version.removesuffix("+UNKNOWN")  # how a build that is nobody's release says so
    return Slicer(path, PRUSA if name == "PrusaSlicer" else ORCA, name, version), ""
