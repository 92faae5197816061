"""The page of a set: its challenges to play, its pieces in space, its files to download."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabkit.build.entries import BUDGET_S, Selection, gather, solved_ones
from fabkit.build.export import Export, Progress, export, ready_meshes
from fabkit.build.manifest import is_as_written, read_manifest
from fabkit.build.pagefolder import INDEX, PAGE, ours, refuse_changed, write_page
from fabkit.build.pagemodels import models_data, models_script
from fabkit.build.pageshown import MODELS, SHOWN, kept_shown, make_shown
from fabkit.build.picture import picture_bench
from fabkit.build.reports import made_by
from fabkit.build.targets import generator_digest
from fabkit.build.workbench import Workbench
from fabkit.core.errors import printable
from fabkit.core.files import digest, sha256
from fabkit.model.accessory import accessories, things
from fabkit.model.catalog import catalog_path
from fabkit.model.entry import Entry
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_words
from fabkit.output.theme import font_file
from fabkit.output.web import document
from fabkit.output.web.document import Download, page_files, static
from fabkit.printing.nesting.bin import Shape, fitting_turns
from fabkit.printing.plate import outline_from_above, room_of
from fabkit.puzzles.graded.challengelist import LIST

#: The folder of a page that is an output folder of files to print.
FILES = "files"
#: What of the view in space is the same for every set.
_VIEWER = (
    "viewer.js",
    "viewer-rows.js",
    "viewer-stage.js",
    "viewer-thing.js",
    "vendor/three.js",
    "vendor/three-LICENSE.txt",
)
#: The keys of a profile that do not show on a page, besides in the files to print.
_NOT_SHOWN = ("price.", "laser.", "filament.", "plate.", "printer.")
#: What is said of a board that is left out of what can be printed.
_TOO_LARGE = "{} is larger than the printer's bed: it is not among the files, and not in 3D"
#: What makes it besides the rooms and libraries that make any report.
_ROOMS, _LIBRARIES = ("build", "solid", "core"), ("trimesh", "cadquery", "cadquery-ocp", "pillow")


@dataclass(frozen=True)
class Wish:
    """What a page shows.

    Attributes:
        selection: which challenges.
        language: one of `fabkit.output.i18n.LANGUAGES`.
        budget_s: see `fabkit.build.entries.gather`.
    """

    selection: Selection = field(default_factory=Selection)
    language: str = LANGUAGES[0]
    budget_s: float | None = BUDGET_S


@dataclass(frozen=True)
class Page:
    """A page, and what was done for it.

    Attributes:
        folder: where it is.
        ids: of the challenges on it.
        files: every file of it, those to print aside, with its ``sha256`` and whether it was
            ``written`` now.
        exported: the files to print.
        notes: what deserves a look, in sentences.
    """

    folder: Path
    ids: tuple[str, ...]
    files: dict[str, dict[str, Any]]
    exported: Export
    notes: tuple[str, ...]

    @property
    def all_files(self) -> dict[str, dict[str, Any]]:
        """Those to print, too."""
        return self.files | {f"{FILES}/{name}": one for name, one in self.exported.files.items()}

    @property
    def written(self) -> int:
        """How many files were written now; the others were up to date."""
        return sum(file["written"] for file in self.all_files.values())


def make_page(
    puzzle: PuzzleSet,
    profile: Profile,
    folder: Path,
    wish: Wish | None = None,
    lists_in: Path | None = None,
    force: bool = False,
    progress: Progress = lambda done, total, name: None,
) -> Page:
    """Makes the page of a set, or brings it up to date.

    Args:
        puzzle: the set.
        profile: how everything is printed.
        folder: of the page; made when needed.
        wish: what it shows; the usual when None.
        lists_in: the set's output folder, where a list of challenges may lie.
        force: makes every file again, and writes over those that somebody has changed.
        progress: told before each step.

    Raises:
        InputError: before any file of the page is touched, when a challenge that was asked for
            cannot be shown or none can, there are no texts in the language, the profile does not
            suit the set, or the folder holds another set or files that are not fabkit's.
        OutsideError: when a folder is in use or cannot be written, or a library fails.
    """
    wish = wish or Wish()
    made, large = _made(puzzle, profile)
    load_words("page", wish.language)  # what is unknown is refused before the work
    manifest = read_manifest(folder, puzzle, force)
    refuse_changed(folder, manifest, {}, force)  # as far as it is known before the work
    key = _key(puzzle, profile, wish, lists_in, large)
    known = None if force else _known(folder, manifest, key)
    if known is None:
        found = gather(puzzle, wish.selection, lists_in, progress, wish.budget_s)
        entries, notes = solved_ones(puzzle, found, wish.selection)
        recipe = _key(puzzle, profile, replace(wish, language=LANGUAGES[0]), lists_in, large)
        shown = {} if force else kept_shown(folder, manifest, recipe)
        notes = [*notes, *map(_TOO_LARGE.format, large)]
        known = {"challenges": [one.id for one in entries], "notes": notes, SHOWN: recipe}
        exported = export(made, profile, ["stl", "3mf"], folder / FILES, (), force, progress)
        contents = _contents(made, profile, entries, wish.language, exported, shown, progress)
        written = write_page(folder, puzzle, profile, contents, key, known, force)
    else:
        exported = export(made, profile, ["stl", "3mf"], folder / FILES, (), force, progress)
        written = set()
    files = ours(read_manifest(folder, puzzle, force)["files"])
    return Page(
        folder=folder,
        ids=tuple(known["challenges"]),
        files={
            name: {"sha256": entry["sha256"], "written": name in written}
            for name, entry in files.items()
        },
        exported=exported,
        notes=(*known["notes"], *exported.warnings),
    )


def _made(puzzle: PuzzleSet, profile: Profile) -> tuple[PuzzleSet, list[str]]:
    """The set whose things are shown and exported: without boards larger than the printer's bed.

    They can be played on all the same.

    Returns:
        The set with such boards only made when all are asked for, and the ids of those boards and
        their lids.
    """
    there = accessories(puzzle, profile)
    bench, room = Workbench(puzzle, there, profile), room_of(profile)
    large = [
        one
        for one in there
        if not fitting_turns(Shape(one.id, outline_from_above(bench.blueprints[one.id])), room)
    ]
    without = {one.board.id for one in large}
    boards = tuple(
        replace(board, optional=board.optional or board.id in without) for board in puzzle.boards
    )
    return replace(puzzle, boards=boards), [printable(one.id) for one in large]


def _key(
    puzzle: PuzzleSet, profile: Profile, wish: Wish, lists_in: Path | None, large: Sequence[str]
) -> str:
    """By what a page is known to be up to date."""
    lists = [lists_in / LIST] if lists_in else []
    read = wish.selection.files or (*lists, catalog_path(puzzle))
    asked = [[str(path) for path in wish.selection.files], wish.selection.only, wish.language]
    words = [load_words(part, wish.language) for part in ("page", "booklet")]
    files = [sha256(path) if path.is_file() else "" for path in read]
    generator = generator_digest(_ROOMS, _LIBRARIES)
    more = json.dumps([asked, words, files, wish.budget_s, large])
    return made_by(puzzle, profile, PAGE, generator, _static_digest(), more, but=_NOT_SHOWN)


def _static_digest() -> str:
    """A hash of what is the same on every page."""
    folder = Path(document.__file__).parent / "static"
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest(*(part for path in paths for part in (path.name, path.read_bytes())))


def _known(folder: Path, manifest: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """What the manifest tells of a page that would come out just so again; None without one."""
    files, told = ours(manifest["files"]), manifest.get(PAGE)
    if not files or not isinstance(told, dict):
        return None
    texts = [told.get("challenges"), told.get("notes")]
    if not all(isinstance(some, list) and all(isinstance(t, str) for t in some) for some in texts):
        return None
    fresh = all(
        entry["recipe"] == key
        and entry.get("files") == len(files)
        and is_as_written(folder / name, entry)
        for name, entry in files.items()
    )
    return dict(told) if fresh else None


def _contents(
    puzzle: PuzzleSet,
    profile: Profile,
    entries: Sequence[Entry],
    language: str,
    exported: Export,
    shown: Mapping[str, bytes],
    progress: Progress,
) -> dict[str, bytes]:
    """The page's files by name, from what is shown on it if that is there; the page comes last."""
    manifest = read_manifest(exported.folder, puzzle, force=True)
    ready = ready_meshes(puzzle, profile, manifest, exported.folder, force=False)
    bench = picture_bench(puzzle, things(puzzle, profile), profile, ready)
    shown = shown or make_shown(puzzle, entries, profile, bench, ready, progress)
    named = ((Path(name), content) for name, content in shown.items())
    models = {path.stem: content for path, content in named if path.parent == Path(MODELS)}
    files = page_files(puzzle, entries, profile.unit_mm, language, _downloads(exported))
    index = files.pop(INDEX)
    found = {**files, **{name: static(name) for name in _VIEWER}, **shown}
    licence = font_file().with_name("OpenSans.LICENSE")
    found["fonts/OpenSans-LICENSE.txt"] = licence.read_bytes()
    found["models.js"] = models_script(models_data(bench, entries, models, profile)).encode()
    return {**found, INDEX: index}


def _downloads(exported: Export) -> list[Download]:
    """The files to print: all in one, then each."""
    names = [name for name in exported.files if "/" not in name]
    names += [name for name in exported.files if name.startswith("stl/")]
    return [
        Download(f"{FILES}/{name}", Path(name).name, _size(exported.folder / name))
        for name in names
    ]


def _size(path: Path) -> str:
    """How large a file is.

    Example:
        >>> _size(Path(__file__)).endswith(" kB")
        True
    """
    return f"{max(1, round(path.stat().st_size / 1000))} kB"
