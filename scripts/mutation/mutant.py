"""A fault to plant: one place in a file, and what replaces it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """A fault. `old`, which begins in `line` (counted from 1) of `file`, becomes `new`."""

    file: str
    line: int
    old: str
    new: str
    what: str

    @property
    def package(self) -> str:
        """The package of fabkit in which it is."""
        return Path(self.file).parts[1]

    @property
    def lines(self) -> range:
        """The numbers of the lines that it changes."""
        return range(self.line, self.line + len(self.old.rstrip("\n").split("\n")))

    def apply(self, text: str) -> str:
        """Return the text of the file with the fault in it."""
        begin = sum(len(line) + 1 for line in text.split("\n")[: self.line - 1])
        at = text.index(self.old, begin)
        return text[:at] + self.new + text[at + len(self.old) :]


def read_listed(path: Path, root: Path) -> list[Mutant]:
    """Read the listed faults.

    Raises:
        SystemExit: if the text to replace is not found exactly once, because the code has changed.
    """
    mutants = []
    for listed in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
        text = (root / listed["file"]).read_text(encoding="utf-8")
        count = text.count(listed["old"])
        if count != 1:
            raise SystemExit(
                f"mutants: {listed['file']} holds {count} of {listed['old']!r}, not one"
            )
        line = text[: text.index(listed["old"])].count("\n") + 1
        mutants.append(Mutant(line=line, **listed))
    return mutants


def plant(copy: Path, mutant: Mutant) -> None:
    """Write the fault into a copy of the checkout, and remove what was compiled from the old text.

    Python and numba recognise a changed file by its time and size, which may stay the same. Kernels
    have helpers of other files compiled into them, and numba does not notice if those change.
    """
    path = copy / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(mutant.apply(text), encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()
    if re.search(r"^@kernel", text, re.MULTILINE):
        for compiled in (copy / "fabkit").rglob("*.nb[ci]"):
            compiled.unlink()
