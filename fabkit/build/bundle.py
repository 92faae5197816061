"""A set as one file to download: everything to print, its files in an archive, or its booklet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from fabkit.build.artifacts import Artifacts
from fabkit.build.booklet import BOOKLET, BookletFile
from fabkit.build.export import PROFILE, artifacts_in, export
from fabkit.build.page import make_page
from fabkit.core.errors import InputError, no_such
from fabkit.core.formats import zip_bytes
from fabkit.core.progress import Progress
from fabkit.core.staging import write_atomically
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import dump_profile
from fabkit.puzzles.entries import Selection

#: The folder of files that go into an archive.
_FILES = "files"

#: The name of a file in a folder, or the contents of an archive by name.
Contents = str | Mapping[str, bytes]


def make_bundle(
    puzzle: PuzzleSet,
    profile: Profile,
    kind: str,
    folder: Path,
    set_file: tuple[str, str],
    progress: Progress,
) -> Path:
    """Make a file to download.

    Args:
        kind: one of `BUNDLES`.
        folder: what is made in it and is up to date is not made again.
        set_file: name and text of the set's file.

    Returns:
        The path of the file, in the folder.

    Raises:
        InputError: when there is no such kind, or the profile does not suit the set.
        ExternalError: when a library fails, or the file cannot be written.
    """
    if kind == "toml":
        name, text = set_file
        contents: Contents = {name: text.encode(), PROFILE: dump_profile(profile).encode()}
    elif kind in _MAKERS:
        contents = _MAKERS[kind](artifacts_in(folder, puzzle, profile), folder, progress)
    else:
        raise InputError.of("kind", no_such("kind of files", kind, [*BUNDLES]))
    if isinstance(contents, str):
        return folder / contents
    path = folder / f"{puzzle.name}-{kind}.zip"
    write_atomically(path, zip_bytes(contents))
    return path


def _export(kind: str, artifacts: Artifacts, folder: Path, progress: Progress) -> Contents:
    done = export(artifacts, [kind], folder, progress=progress)
    if kind != "stl":
        return f"{artifacts.puzzle.name}.{kind}"
    return {Path(name).name: (folder / name).read_bytes() for name in [*done.files, PROFILE]}


def _booklet(artifacts: Artifacts, folder: Path, progress: Progress) -> Contents:
    BookletFile(artifacts, folder, always=False).update(progress)
    return BOOKLET


def _page(artifacts: Artifacts, folder: Path, progress: Progress) -> Contents:
    page = folder / _FILES
    done = make_page(artifacts, page, Selection(), progress=progress)
    return {name: (page / name).read_bytes() for name in done.files}


#: How each kind is made in a folder.
_MAKERS: dict[str, Callable[[Artifacts, Path, Progress], Contents]] = {
    "3mf": partial(_export, "3mf"),
    "stl": partial(_export, "stl"),
    "step": partial(_export, "step"),
    "booklet": _booklet,
    "page": _page,
}
#: The kinds: the project to print, archives of STL files, of the page and of the set file with its
#: profile, a STEP file, and the booklet.
BUNDLES = (*_MAKERS, "toml")
