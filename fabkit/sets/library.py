"""The shipped sets, and loading a `PuzzleSet` from a SET argument."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, escape, nearest, quote
from fabkit.core.hashes import sha256
from fabkit.model.puzzle import PuzzleSet


def shipped_folder() -> Path:
    """Return the folder ``pieces``: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "pieces"
    return installed if installed.is_dir() else package.parent / "pieces"


def shipped_names() -> list[str]:
    """Return the names of the shipped sets in alphabetical order."""
    return sorted(path.stem for path in shipped_folder().glob("*.toml"))


def set_argument(puzzle: PuzzleSet) -> str:
    """Return the SET argument for a set: a shipped one's name, or its file without the folder."""
    path = shipped_folder() / f"{puzzle.name}.toml"
    is_shipped = path.is_file() and sha256(path) == puzzle.digest
    return puzzle.name if is_shipped else shlex.quote(Path(puzzle.source).name)


def load_set(name: str) -> PuzzleSet:
    """Load a shipped set by name, or a set file by a path that ends in ``.toml`` or has a folder.

    Raises:
        InputError: when there is no such set, or its file has errors.

    Example:
        >>> fridgeiq = load_set("fridgeiq")
        >>> len(fridgeiq.pieces), fridgeiq.area
        (16, 40.0)
    """
    from fabkit.sets.set_file import read_set

    if name in shipped_names():
        return read_set(shipped_folder() / f"{name}.toml", f"{name}.toml")
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return read_set(Path(name))
    known = ", ".join(shipped_names())
    near = [path for path in (f"./{name}", f"./{name}.toml") if Path(path).is_file()]
    near += [nearest(name.lower(), shipped_names())]
    if near[0]:
        raise InputError.of("", f"there is no set {quote(name)}; did you mean {quote(near[0])}?")
    raise InputError.of(
        "",
        f"there is no set {quote(name)}; choose from {escape(known)}, or give a path to a .toml "
        "file",
    )


#: The kinds of user files that have a JSON schema.
SCHEMAS = ("set", "profile", "challenge")


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON schema of a kind of file, for completion and validation in editors."""
    from fabkit.core.documents import Table, json_schema
    from fabkit.profiles.profile_file import profile_table
    from fabkit.sets.challenge_tables import ChallengeFile
    from fabkit.sets.set_tables import SetFile

    models: dict[str, type[Table]]
    models = {"set": SetFile, "profile": profile_table(), "challenge": ChallengeFile}
    return json_schema(models[kind], f"A {kind} file of fabkit")
