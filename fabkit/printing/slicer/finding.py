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

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def find_slicer(given: str | None = None) -> Slicer:
    """The slicer that the user names, or the first of `NAMES` on the PATH.

    Raises:
        InputError: when the given one does not exist, or is no slicer.
        OutsideError: when none is installed, or the one that is breaks down.
    """
    # A NUL ends the process's arguments, and is no part of any name.
    names = NAMES if given is None else [given] * ("\0" not in given)
    name, path = next(((name, path) for name in names if (path := shutil.which(name))), ("", ""))
    if not path and given is None:
        raise OutsideError(
            f"no slicer is installed ({', '.join(NAMES)} were looked for); {_INSTALL}; or say where "
            "it is with --slicer; only `fabkit slice` needs it"
        )
    if not path:
        raise InputError.of(
            "--slicer",
            f"there is no program {shown(given)} that could be run; expected PrusaSlicer's path or "
            f"name; {_INSTALL}",
        )
    found = _introduced(Path(path).absolute())
    if isinstance(found, Slicer):
        return found
    if given is None:
        raise OutsideError(
            f"{name} does not say which slicer it is: it {found}; install it again, or name another "
            "slicer with --slicer"
        )
    raise InputError.of(
        "--slicer",
        f"{shown(given)} is no slicer that fabkit knows: asked for its help, it {found}; expected "
        "PrusaSlicer",
    )


def _introduced(path: Path) -> Slicer | str:
    """Asks a program who it is; how it ended when it does not say."""
    with outside_failures("cannot make a temporary folder"), temporary_folder() as folder:
        try:
            answer = run([path, "--help"], folder, _HELP_LIMIT_S)
        except OutsideError as error:
            return f"could not be asked ({printable(str(error))})"
    found = _INTRODUCTION.search(answer.said)
    if found is None:
        return answer.how_it_ended()
    name, version = found.groups()
    version = version.removesuffix("+UNKNOWN")  # how a build that is nobody's release says so
    return Slicer(path, PRUSA if name == "PrusaSlicer" else ORCA, name, version)
