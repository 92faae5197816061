"""The files of the studio: opened from the working folder or the shipped sets, and saved there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, quote
from fabkit.core.files import digest, external_errors, write_atomically
from fabkit.core.parsing import read_text
from fabkit.model.library import shipped_folder, shipped_names

_ENDING = ".toml"
#: What separates folders, drives and streams, on any system.
_SEPARATORS = "/\\:"
_LONGEST_NAME = 120
#: The name of a new set file.
NEW_NAME = f"my-puzzle{_ENDING}"
_NEW_HEAD = """\
[set]
name = "my-puzzle"
title = "My puzzle"
lattice = "{lattice}"
moves = "rotations and flips"
unit = "20 mm"

# The pieces lie in a tray, so they need no magnets; with fit = "press" they have some.
[profile]
recess.fit = "none"
"""
_NEW_CUT = """
# Equal letters are a piece; all of them together are the board.
[cut]
rows = [
  "{rows}",
]
"""
#: The boards of examples: most lattices have cells whose edges meet as those of squares do.
_EXAMPLE = ("AABB", "ACCB", "DCCB", "DDDB")
_EXAMPLES = {"triangle": ("AABBBB", "CCBDDD")}


def new_file(lattice: str, example: bool) -> dict[str, Any]:
    """Return a set file without pieces on a lattice, or with an example of four."""
    text = _NEW_HEAD.format(lattice=lattice)
    if example:
        text += _NEW_CUT.format(rows='",\n  "'.join(_EXAMPLES.get(lattice, _EXAMPLE)))
    return {"name": NEW_NAME, "text": text, "digest": ""}


@dataclass(frozen=True)
class WorkingFolder:
    """The folder in which the studio was started: the only one that the browser can name files of.

    Names have no folder, and are no links to files elsewhere.
    """

    path: Path

    def names(self) -> list[str]:
        """Return the names of the set files in it."""
        files = (path for path in self.path.glob(f"*{_ENDING}") if self._is_plain(path))
        return sorted(path.name for path in files if _looks_like_a_set(path))

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

    def _is_plain(self, path: Path) -> bool:
        return not path.is_symlink() and (path.is_file() or not path.exists())


def _looks_like_a_set(path: Path) -> bool:
    with external_errors(f"cannot read {path.name}"), path.open("rb") as file:
        return b"[set]" in file.read(1 << 16)
