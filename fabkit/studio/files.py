"""The files of the studio: opened from the working folder or the shipped sets, and saved there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, join_or, quote
from fabkit.core.hashes import digest
from fabkit.core.parsing import parse_toml, read_text, shipped_file
from fabkit.core.staging import external_errors, write_atomically
from fabkit.sets.library import shipped_folder, shipped_names
from fabkit.sets.set_text import edit_text

_ENDING = ".toml"
#: What separates folders, drives and streams, on any system.
_SEPARATORS = "/\\:"
_LONGEST_NAME = 120
#: The pattern of profile files.
_PROFILES = f"*profile{_ENDING}"
#: The name of a new set file, and what is in it.
NEW_NAME = f"my-puzzle{_ENDING}"
_NEW = Path(__file__).parent / "new.toml"
#: The example of a cut board, on lattices whose cells do not meet as those of squares do.
_EXAMPLES = {"triangle": ["AABBBB", "CCBDDD"]}
#: In the room: the folder of meshes to check.
MESHES = "meshes"
#: The endings of meshes that can be checked.
_MESH_ENDINGS = ("stl", "3mf", "obj", "ply", "off", "glb")
#: Characters that names of meshes do not keep.
_UNSAFE = re.compile(r"[^\w .-]|^\W+")
#: How many characters they keep.
_LONGEST_MESH_NAME = 60


def new_file(lattice: str, example: bool) -> dict[str, Any]:
    """Return a set file without pieces on a lattice, or with an example of four."""
    text = shipped_file(_NEW).read_text(encoding="utf-8")
    document = parse_toml(text, NEW_NAME)
    document["set"]["lattice"] = lattice
    cut = document.pop("cut")
    if example:
        document["cut"] = cut | {"rows": _EXAMPLES.get(lattice, cut["rows"])}
    return {"name": NEW_NAME, "text": edit_text(text, document), "digest": ""}


def mesh_path(room: Path, name: str) -> Path:
    """Return where a mesh from the browser is kept, under a safe name like its own.

    Raises:
        InputError: when its name has no ending of meshes.

    Example:
        >>> mesh_path(Path("room"), "part of a?.stl").as_posix()
        'room/meshes/part of a_ cb5478.stl'
    """
    stem, dot, ending = name.rpartition(".")
    if ending.lower() not in _MESH_ENDINGS:
        raise InputError.of(quote(name), f"expected a mesh: {join_or(_MESH_ENDINGS)}")
    safe = _UNSAFE.sub("_", stem).lstrip("_")[-_LONGEST_MESH_NAME:]
    # Names that become alike stay different.
    mark = f" {digest(name)[:6]}" if safe != stem or not stem else ""
    return room / MESHES / f"{safe}{mark}{dot}{ending}"


@dataclass(frozen=True)
class WorkingFolder:
    """The folder in which the studio was started: the only one that the browser can name files of.

    Names have no folder, and are no links to files elsewhere.
    """

    path: Path

    def names(self) -> list[str]:
        """Return the names of the set files in it."""
        return [path.name for path in self._files(f"*{_ENDING}", are_sets=True)]

    def profiles(self) -> list[str]:
        """Return the paths of the profile files in it."""
        return [str(path) for path in self._files(_PROFILES, are_sets=False)]

    def read(self, name: str) -> dict[str, Any]:
        """Return ``name``, ``text`` and ``digest`` of a set file, here or of a shipped set.

        Raises:
            InputError: when there is no such file.
        """
        if not name:
            return new_file("square", example=True)
        if name in shipped_names():
            file = f"{name}{_ENDING}"
            text = read_text(shipped_folder() / file, file, "a set file")
            return {"name": file, "text": text, "digest": ""}
        path = self.path_of(name)
        text = read_text(path, name, "a set file")
        return {"name": name, "text": text, "digest": digest(text)}

    def save(self, name: str, text: str, known: str) -> dict[str, Any]:
        """Write a file, whole or not at all; return its ``name`` and ``digest``.

        Args:
            known: the digest of the content that is to be replaced, empty for a new file.

        Raises:
            InputError: when the file has another content, which would be lost.
            ExternalError: when it cannot be written.
        """
        path = self.path_of(name)
        if path.exists():
            content = digest(read_text(path, name, "a set file"))
            if content not in (known, digest(text)):
                reason = "has been changed by another program" if known else "exists already"
                raise InputError.of(name, f"{reason}; save under another name, or open it")
        write_atomically(path, text)
        return {"name": name, "digest": digest(text)}

    def path_of(self, name: str) -> Path:
        """Return the path of a set file in the folder.

        Raises:
            InputError: when the name is that of a file elsewhere, or not that of a set file.
        """
        is_name = name.isprintable() and name[:1] != "." and not set(name) & set(_SEPARATORS)
        if not is_name or len(name) > _LONGEST_NAME:
            raise InputError.of("name", f"{quote(name)} is not the name of a file in this folder")
        if not name.endswith(_ENDING):
            raise InputError.of("name", f"{quote(name)} does not end in {_ENDING}")
        path = self.path / name
        if not self._is_plain(path):
            raise InputError.of("name", f"{quote(name)} is a link or no file; choose another name")
        return path

    def _files(self, pattern: str, are_sets: bool) -> list[Path]:
        paths = sorted(filter(self._is_plain, self.path.glob(pattern)))
        return [path for path in paths if _looks_like_a_set(path) == are_sets]

    def _is_plain(self, path: Path) -> bool:
        return not path.is_symlink() and (path.is_file() or not path.exists())


def _looks_like_a_set(path: Path) -> bool:
    with external_errors(f"cannot read {path.name}"), path.open("rb") as file:
        return b"[set]" in file.read(1 << 16)
