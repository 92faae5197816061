"""Draw mutants by a seed, over all functions of some packages."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from mutation.mutant import Mutant
from mutation.operators import Edit, Source

#: The packages in which faults are drawn: those that compute, not those that write the results.
PACKAGES = (
    "model", "profiles", "sets", "solve", "certify", "drawing", "mesh", "verify", "printing",
    "studio",
)  # fmt: skip
#: Longer texts are cut in the description of a mutant.
_LONGEST = 40


def draw(
    root: Path, count: int, seed: int, packages: Iterable[str] = PACKAGES
) -> tuple[Mutant, ...]:
    """Draw mutants: a function, then one of its edits. Both are equally likely among their own.

    So a long file counts by its functions, and a long function as any other. The same seed draws
    the same mutants from the same code, and no edit twice; a larger count begins with those of a
    smaller one.
    """
    generator = random.Random(seed)
    sources = {
        path.relative_to(root).as_posix(): Source(path.read_text(encoding="utf-8"))
        for package in sorted(packages)
        for path in sorted((root / "fabkit" / package).rglob("*.py"))
    }
    functions = [(file, name) for file, source in sources.items() for name in source.functions]
    left: dict[tuple[str, str], list[Edit]] = {}
    mutants: list[Mutant] = []
    while functions and len(mutants) < count:
        file, name = function = generator.choice(functions)
        if function not in left:
            left[function] = sources[file].edits(name)
        edits = left[function]
        if edits:
            edit = edits.pop(generator.randrange(len(edits)))
            mutants.append(_mutant(file, name, sources[file], edit))
        else:
            functions.remove(function)
    return tuple(mutants)


def _mutant(file: str, name: str, source: Source, edit: Edit) -> Mutant:
    line = source.lines[edit.line - 1]
    package, function = Path(file).parts[1], name.partition(":")[0]
    old, new = _short(line[edit.begin : edit.end].strip()), _short(edit.new)
    what = f"{package}: {old} becomes {new}" if new else f"{package}: {old} is left out"
    return Mutant(file, edit.line, line, source.apply(edit), f"{what}, in {function}")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
