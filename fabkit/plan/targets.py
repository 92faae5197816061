"""The files of a set, and for each its recipe: a hash of everything that goes into it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fabkit.base.files import digest
from fabkit.model.piece import Piece
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.puzzle import PuzzleSet

#: The kinds of file; each has its own folder and suffix.
KINDS = ("stl", "step")
#: The effective profile, written beside the files.
PROFILE = "profile.toml"
_ROOMS = ("model", "blueprint", "solid")
_LIBRARIES = ("cadquery", "cadquery-ocp", "shapely", "fonttools")


@dataclass(frozen=True)
class Target:
    """A file to be made.

    Attributes:
        name: its path in the output folder, with slashes.
        kind: one of `KINDS`.
        pieces: what is in it.
        recipe: the hash of everything that goes into it.
    """

    name: str
    kind: str
    pieces: tuple[Piece, ...]
    recipe: str


def plan_targets(
    puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile, kinds: Sequence[str]
) -> list[Target]:
    """The files of some kinds: one for each piece, and a STEP file of the whole set.

    Args:
        puzzle: the set.
        pieces: those that are wanted; the file of the whole set comes only with all of them.
        profile: how they are printed.
        kinds: of `KINDS`.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> targets = plan_targets(fridgeiq, fridgeiq.pieces[:2], load_profile(), ["stl", "step"])
        >>> [target.name for target in targets]
        ['stl/A.stl', 'stl/R.stl', 'step/A.step', 'step/R.step']
    """
    common = digest(puzzle.name, puzzle.lattice.name, profile_digest(profile), generator_digest())

    def target(name: str, kind: str, parts: Sequence[Piece]) -> Target:
        drawings = [[p.id, p.label, [f.rings for f in p.forms]] for p in parts]
        colours = [p.colour for p in parts] if kind == "step" else []
        return Target(
            name, kind, tuple(parts), digest(kind, common, json.dumps([drawings, colours]))
        )

    targets = []
    for kind in kinds:
        targets += [target(f"{kind}/{piece.id}.{kind}", kind, [piece]) for piece in pieces]
        if kind == "step" and len(pieces) == len(puzzle.pieces):
            targets.append(target(f"{puzzle.name}.step", kind, pieces))
    return targets


def profile_digest(profile: Profile) -> str:
    """A hash of the numbers that shape the pieces; a profile's name and title do not count."""
    return digest(*(f"{s.key}={getattr(profile, s.attribute)}" for s in SETTINGS if s.shapes))


@cache
def generator_digest() -> str:
    """A hash of what turns drawings into files: fabkit's own code, the font, the libraries."""
    package = Path(__file__).resolve().parent.parent
    parts: list[str | bytes] = [f"{name} {_version(name)}" for name in _LIBRARIES]
    for room in _ROOMS:
        for path in sorted((package / room).rglob("*")):
            if path.suffix in (".py", ".ttf"):
                parts += [path.relative_to(package).as_posix(), path.read_bytes()]
    return digest(*parts)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # the kernel may come from another distribution, such as conda
        return "unknown"
