"""The shipped sets, and how a SET argument becomes a `PuzzleSet`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, nearest, printable, shown
from fabkit.core.files import sha256
from fabkit.model.puzzle import PuzzleSet


def shipped_folder() -> Path:
    """The folder ``pieces``: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "pieces"
    return installed if installed.is_dir() else package.parent / "pieces"


def shipped_names() -> list[str]:
    """The names of the shipped sets, in alphabetical order."""
    return sorted(path.stem for path in shipped_folder().glob("*.toml"))


def is_shipped(puzzle: PuzzleSet) -> bool:
    """Whether a set is one of those that come with fabkit, and not a file that is called so."""
    path = shipped_folder() / f"{puzzle.name}.toml"
    return puzzle.name in shipped_names() and sha256(path) == puzzle.digest


def set_argument(puzzle: PuzzleSet) -> str:
    """What a set is called on a command line: its name, or its file's without the folder."""
    return puzzle.name if is_shipped(puzzle) else shlex.quote(Path(puzzle.source).name)


def load_set(name: str) -> PuzzleSet:
    """Loads a shipped set by name, or a set file by a path that ends in ``.toml`` or has a folder.

    Raises:
        InputError: when there is no such set, or its file has faults.

    Example:
        >>> fridgeiq = load_set("fridgeiq")
        >>> len(fridgeiq.pieces), fridgeiq.area
        (16, 40.0)
    """
    from fabkit.model.setfile import read_set

    if name in shipped_names():
        return read_set(shipped_folder() / f"{name}.toml", f"{name}.toml")
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return read_set(Path(name))
    known = ", ".join(shipped_names())
    near = [path for path in (f"./{name}", f"./{name}.toml") if Path(path).is_file()]
    near += [nearest(name.lower(), shipped_names())]
    if near[0]:
        raise InputError.of("", f"there is no set {shown(name)}; did you mean {shown(near[0])}?")
    raise InputError.of(
        "",
        f"there is no set {shown(name)}; shipped are {printable(known)}, or give a path to a .toml file",
    )


#: The kinds of files of one's own that have a JSON schema.
SCHEMAS = ("set", "profile", "challenge")


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON schema of a kind of file, by which editors complete and check it."""
    from fabkit.core.documents import Table, json_schema
    from fabkit.model.challengefile import ChallengeFile
    from fabkit.model.profilefile import profile_table
    from fabkit.model.setfile import SetFile

    models: dict[str, type[Table]]
    models = {"set": SetFile, "profile": profile_table(), "challenge": ChallengeFile}
    return json_schema(models[kind], f"A {kind} file of fabkit")
