"""What the commands on meshes share: which files, which set, which limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.build.export import PROFILE
from fabkit.cli import options
from fabkit.cli.context import Context
from fabkit.core.errors import InputError, printable, shown
from fabkit.core.files import outside_failures
from fabkit.model.library import shipped_names
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.profilefile import load_profile, preset_names

if TYPE_CHECKING:
    from fabkit.verify.taken import Taken

#: How names of mesh files end.
ENDINGS = (".stl", ".3mf", ".obj")
#: More files than this are a mistake.
_MOST_FILES = 1000


@dataclass(frozen=True)
class Source:
    """Where meshes come from.

    Attributes:
        files: the mesh files.
        folder: the output folder that they lie in; None for meshes from elsewhere.
        words: the place, for messages.
    """

    files: tuple[Path, ...]
    folder: Path | None
    words: str


def which(
    names: Sequence[str] | None, settings: Sequence[str] | None
) -> tuple[str, list[str], list[str]]:
    """Which set, which files and which settings a command line names.

    ``--set`` is the name of two options: what is ``KEY=VALUE`` is a setting, all else a set.

    Args:
        names: the arguments: the set (unless ``--set`` names it) and mesh files.
        settings: the values of ``-s`` and ``--set``.

    Returns:
        The set, the files, the settings.

    Raises:
        InputError: when no set is named, or two are.

    Example:
        >>> which(["fridgeiq"], ["unit=15 mm"])
        ('fridgeiq', [], ['unit=15 mm'])
        >>> which(["1.stl", "2.stl"], ["fridgeiq"])
        ('fridgeiq', ['1.stl', '2.stl'], [])
    """
    files, given = list(names or ()), list(settings or ())
    keys = {setting.key for setting in SETTINGS}
    sets = [one for one in given if one.partition("=")[0].strip() not in keys]
    sets = [one for one in sets if "=" not in one or one.endswith(".toml")]
    if len(sets) > 1:
        raise InputError.of("--set", f"names two sets, {shown(sets[0])} and {shown(sets[1])}")
    if not sets and not files:
        known = ", ".join(shipped_names())
        raise InputError.of("", f"name a set; shipped are {known}, or give a set's TOML file")
    set_name = sets[0] if sets else files.pop(0)
    return set_name, files, [one for one in given if one not in sets]


def _source(context: Context, names: Sequence[str], option: str) -> Source:
    """The mesh files and folders of mesh files that a command names, else the set's own STL files.

    Raises:
        InputError: when there are none, or a folder holds none.
    """
    if not names:
        stl = context.folder / "stl"
        if not (own := _meshes_in(stl)):
            make = f"`fabkit export-stl {printable(context.set)}`"
            message = f"there are no STL files; make them with {make}, or name mesh files"
            raise InputError.of(printable(str(stl)), message)
        return Source(own, context.folder, printable(str(stl)))
    files: list[Path] = []
    for name in names:
        path = options.path("a mesh file")(name, option)
        if not path.is_dir():
            files.append(path)
            continue
        inside = _meshes_in(path) or _meshes_in(path / "stl")
        if not inside:
            kinds = ", ".join(f"*{ending}" for ending in ENDINGS)
            raise InputError.of(printable(name), f"is a folder without mesh files ({kinds})")
        files += inside
    if len(files) > _MOST_FILES:
        raise InputError.of("", f"{len(files)} mesh files; at most {_MOST_FILES} are read at once")
    words = printable(names[0]) if len(names) == 1 else f"{len(files)} files"
    return Source(tuple(dict.fromkeys(files)), None, words)


def _meshes_in(folder: Path) -> tuple[Path, ...]:
    with outside_failures(f"cannot read {printable(str(folder))}"):
        inside = sorted(folder.iterdir()) if folder.is_dir() else []
    return tuple(
        path
        for path in inside
        if path.suffix.lower() in ENDINGS and not path.name.startswith(".") and path.is_file()
    )


def take_files(
    context: Context, names: Sequence[str], option: str
) -> tuple[Source, Taken, Profile]:
    """Reads meshes, and finds out what they are to be held against.

    That is the profile that the command names. Without one the meshes tell whether they were made
    with the profile beside them, or with which of the shipped ones.

    Args:
        context: of the command.
        names: files and folders; when there are none, the set's own STL files are read.
        option: what named them, for messages.

    Raises:
        InputError: when a file is no mesh, or there is none.
        OutsideError: when a file cannot be read.
    """
    from fabkit.verify.recognise import recognise

    profile, unit_mm = context.profile, context.puzzle.unit_mm
    source = _source(context, names, option)
    if context.profiles or context.settings:
        return source, take_with(source, context, [profile]), profile
    known = [profile, *(load_profile([name], (), unit_mm) for name in preset_names())]
    candidates = _profiles_beside(source, known)
    taken = take_with(source, context, candidates)
    found = recognise(taken, candidates)
    if found is None:
        context.report.warn(
            f"the meshes were made with none of the known profiles; they are held against "
            f"{profile.name}. Name the right one with -p"
        )
    return source, taken, found or profile


def take_with(source: Source, context: Context, profiles: Sequence[Profile]) -> Taken:
    """Reads meshes that may have been made with one of several profiles; see `take_files`."""
    from fabkit.mesh.files.reading import read_bodies
    from fabkit.verify.taking import take

    bodies = []
    with context.report.progress() as progress:
        for done, path in enumerate(source.files):
            progress(done, len(source.files), f"reading {printable(path.name)}")
            bodies += read_bodies(path)
    return take(bodies, context.puzzle, *(profile.unit_mm for profile in profiles))


def _profiles_beside(source: Source, known: list[Profile]) -> list[Profile]:
    """The known profiles, behind the one in the output folder, if that can be read.

    It has no name of its own: where it is a known one, that goes first.
    """
    if source.folder is None or not (source.folder / PROFILE).is_file():
        return known
    try:
        beside = load_profile([str(source.folder / PROFILE)])
    except InputError:
        return known
    same = [one for one in known if replace(one, name=beside.name, title=beside.title) == beside]
    return [*same, beside, *known]
