"""The files of a set, and for each its recipe: a hash of everything that goes into it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fabkit.core.files import digest
from fabkit.model.accessory import Accessory, Thing, things
from fabkit.model.piece import Piece
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.puzzle import PuzzleSet

#: The effective profile, written beside the files.
PROFILE = "profile.toml"


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        each: the file of one piece, with its id for ``{}``; empty when there is none.
        whole: the file of the whole set, with its name for ``{}``; empty when there is none.
        group: the folder of files whose number shows when they are made; empty for none.
        flat: whether there is one only of flat pieces.
        tells: whether it tells names, colours and where the shapes come from.
        reads: beginnings of the profile's keys that count besides those that shape the pieces.
        rooms: what of fabkit's own code makes it.
        libraries: what else makes it.
    """

    each: str
    whole: str
    group: str
    flat: bool
    tells: bool
    reads: tuple[str, ...]
    rooms: tuple[str, ...]
    libraries: tuple[str, ...]


_SOLID = ("model", "drawing", "solid")
_CAD = ("cadquery", "cadquery-ocp", "shapely", "fonttools")
_PRESS = (*_SOLID, "mesh", "printing", "output")
_PRESSED = (*_CAD, "lib3mf", "pillow", "spyrrow", "rectpack")
_LAYOUT = ("label.", "plate.", "printer.", "cell.")
#: What shapes boards and lids besides.
_OF_BOARDS = ("board.", "lid.")
_FLAT = ("model", "drawing", "printing", "output")
_DRAWN = ("shapely", "fonttools", "ezdxf", "spyrrow", "rectpack")

#: All kinds by name, in the order in which they are made.
KINDS: dict[str, Kind] = {
    "stl": Kind("stl/{}.stl", "", "", False, False, (), _SOLID, _CAD),
    "step": Kind("step/{}.step", "{}.step", "", False, True, (), _SOLID, _CAD),
    "3mf": Kind("3mf/{}.3mf", "{}.3mf", "", False, True, _LAYOUT, _PRESS, _PRESSED),
    "plates": Kind("", "", "plates", False, True, _LAYOUT, _PRESS, _PRESSED),
    "dxf": Kind("dxf/{}.dxf", "", "dxf-sheets", True, False, ("laser.",), _FLAT, _DRAWN),
    "svg": Kind("svg/{}.svg", "", "svg-sheets", True, False, ("laser.",), _FLAT, _DRAWN),
}


@dataclass(frozen=True)
class Target:
    """A file to be made, or a group of files.

    Attributes:
        name: its path in the output folder, with slashes; of a group its folder.
        kind: one of `KINDS`.
        things: the pieces and accessories in it.
        recipe: the hash of everything that goes into it.
        is_whole: whether it is one file of the whole set.
        is_group: whether it is a group.
    """

    name: str
    kind: str
    things: tuple[Thing, ...]
    recipe: str
    is_whole: bool = False
    is_group: bool = False

    def owns(self, name: str) -> bool:
        """Whether a file of the output folder is this one, or one of this group's."""
        return name.startswith(f"{self.name}/") if self.is_group else name == self.name


def kinds_for(puzzle: PuzzleSet) -> list[str]:
    """All kinds of files that a set can have: pieces of balls are not cut from sheets.

    Example:
        >>> from fabkit.model.library import load_set
        >>> kinds_for(load_set("iqfit"))
        ['stl', 'step', '3mf', 'plates']
    """
    return [name for name, kind in KINDS.items() if not (kind.flat and puzzle.made_of_balls)]


def plan_targets(
    puzzle: PuzzleSet, wanted: Sequence[Thing], profile: Profile, kinds: Sequence[str]
) -> list[Target]:
    """The files of some kinds: one for each piece and accessory, and those of the whole set.

    Args:
        puzzle: the set.
        wanted: pieces and accessories; what the whole set shares comes only with all of them.
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
    every = things(puzzle, profile)
    targets = []
    for name in kinds:
        kind = KINDS[name]
        told = (puzzle.title, puzzle.credit, puzzle.licence, profile.name) if kind.tells else ()
        generator = generator_digest(kind.rooms, kind.libraries)

        def recipe(
            what: str,
            some: Sequence[Thing],
            name: str = name,
            kind: Kind = kind,
            told: Sequence[str] = told,
            generator: str = generator,
        ) -> str:
            boards = not all(isinstance(one, Piece) for one in some)
            reads = (*kind.reads, *_OF_BOARDS) if boards else kind.reads
            title = [puzzle.title] if boards else []  # which is engraved
            parts = [name, puzzle.name, puzzle.lattice.name, *told, profile_digest(profile, reads)]
            drawings = [_drawing(one, kind.tells) for one in some]
            return digest(*parts, generator, *title, what, json.dumps(drawings))

        some = [one for one in wanted if isinstance(one, Piece) or not kind.flat]
        for one in some if kind.each else ():
            path = kind.each.format(one.id)
            targets.append(Target(path, name, (one,), recipe("piece", [one])))
        if len(wanted) == len(every) and some:
            if kind.whole:
                path = kind.whole.format(puzzle.name)
                whole = Target(path, name, tuple(some), recipe("whole", some), is_whole=True)
                targets.append(whole)
            if kind.group:
                made = recipe("group", some)
                targets.append(Target(kind.group, name, tuple(some), made, is_group=True))
    return targets


def _drawing(one: Thing, tells: bool) -> list[object]:
    """What of a piece or accessory goes into its files, for a hash."""
    colour = [one.colour] if tells else []
    if isinstance(one, Accessory):
        return [one.id, one.kind, sorted(one.board.cells), colour]
    balls = [one.body.balls, one.body.bonds] if one.body else []
    tones = [one.tone, sorted(one.tones)] if tells and one.tones else []
    return [one.id, one.label, [form.rings for form in one.forms], balls, tones, colour]


def profile_digest(profile: Profile, reads: Sequence[str] = ()) -> str:
    """A hash of the numbers that shape the pieces; a profile's name and title do not count.

    Args:
        profile: the profile.
        reads: beginnings of more keys that count.
    """
    return digest(
        *(
            f"{s.key}={getattr(profile, s.attribute)}"
            for s in SETTINGS
            if s.shapes or s.key.startswith(tuple(reads))
        )
    )


@cache
def generator_digest(rooms: tuple[str, ...], libraries: tuple[str, ...]) -> str:
    """A hash of what makes files of what is drawn: fabkit's own code, the font, the libraries.

    Args:
        rooms: of fabkit.
        libraries: names of distributions.
    """
    package = Path(__file__).resolve().parent.parent
    parts: list[str | bytes] = [f"{name} {_version(name)}" for name in libraries]
    for room in rooms:
        for path in sorted((package / room).rglob("*")):
            if path.suffix in (".py", ".ttf", ".ini", ".html"):
                parts += [path.relative_to(package).as_posix(), path.read_bytes()]
    return digest(*parts)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # not installed, or from another distribution, such as conda's
        return "unknown"
