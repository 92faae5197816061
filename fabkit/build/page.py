"""The page of a set: its challenges to play, its pieces in space, its files to download."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from fabkit.build.artifacts import Artifacts
from fabkit.build.assembly_layout import picture_artifacts
from fabkit.build.booklet import NOT_SHOWN
from fabkit.build.cover_image import cover_picture
from fabkit.build.entries import Selection, gather, solved_ones
from fabkit.build.export import Export, export, fresh_meshes, shown_files
from fabkit.build.manifest import MANIFEST, made_by
from fabkit.build.page_assets import glb_models, models_data, models_script
from fabkit.build.reports import write_contents
from fabkit.build.targets import Place, Progress, Target, build, silent
from fabkit.core.errors import InputError, printable
from fabkit.core.files import digest, json_text, read_json
from fabkit.model.accessory import accessories, things
from fabkit.model.entry import Entry
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_words
from fabkit.output.theme import font_file
from fabkit.output.web import document
from fabkit.output.web.document import Download, page_files, static
from fabkit.printing.nesting.bin import fitting_turns
from fabkit.printing.plate import outline_from_above, room_of

#: What it is called in an output folder, and the file that a browser opens.
PAGE, INDEX = "page", "index.html"
#: Its folder of files to print, and that of the meshes in space; what is shown where a browser
#: cannot show these.
FILES, MODELS, STILL = "files", "models", "still.png"
#: What of the view in space is the same for every set.
_VIEWER = (
    "viewer.js",
    "viewer-rows.js",
    "viewer-stage.js",
    "viewer-thing.js",
    "vendor/three.js",
    "vendor/three-LICENSE.txt",
)
#: All that a page has in its folder, besides the meshes.
_OWN = (
    *(INDEX, "fabkit.css", "icon.svg", "data.js", "models.js", "play.js", "play-"),
    *("viewer.js", "viewer-", "vendor/", "fonts/"),
)
#: What makes it besides the rooms and libraries that make any report.
_ROOMS, _LIBRARIES = ("build", "solid", "core"), ("trimesh", "cadquery", "cadquery-ocp", "pillow")


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


def page_folder(folder: Path) -> Path:
    """Where a page goes that a user wants in a folder: into it if it is new, empty or a page's;
    else into a folder of its own there, not among what is there already."""
    try:
        is_page = INDEX in read_json(folder / MANIFEST).get("files", {})
    except (InputError, OSError):
        is_page = False
    others = folder.is_dir() and any(one.name[0] != "." for one in folder.iterdir())
    return folder / PAGE if others and not is_page else folder


class _PageMaker:
    """Makes what is on a page, each thing when it is first needed."""

    def __init__(
        self,
        puzzle: PuzzleSet,
        profile: Profile,
        folder: Path,
        selection: Selection,
        language: str,
        lists_in: Path | None,
        force: bool,
        progress: Progress,
    ) -> None:
        self.puzzle, self.profile, self.folder = puzzle, profile, folder
        self.selection, self.language, self.lists_in = selection, language, lists_in
        self.force, self.progress = force, progress
        self.made, self.large = _fitting(puzzle, profile)

    @cached_property
    def entries(self) -> tuple[list[Entry], list[str]]:
        """The challenges on it, and what is to be said of others and of boards."""
        found = gather(self.puzzle, self.selection, self.lists_in, self.progress)
        entries, notes = solved_ones(self.puzzle, found, self.selection)
        for one in self.large:
            board = f"{one} is larger than the printer's bed"
            notes.append(f"{board}: it is not among the files, and not in 3D")
        return entries, notes

    @cached_property
    def exported(self) -> Export:
        """The files to print."""
        kinds, folder = ["stl", "3mf"], self.folder / FILES
        return export(self.made, self.profile, kinds, folder, (), self.force, self.progress)

    @cached_property
    def shown(self) -> Artifacts:
        """What is shown in space: the meshes of the files to print."""
        folder, every = self.exported.folder, things(self.made, self.profile)
        find_stl = partial(fresh_meshes, folder, self.made, self.profile)
        return picture_artifacts(self.made, every, self.profile, find_stl)

    @cached_property
    def models(self) -> dict[str, bytes]:
        """The GLB files: those just made, or those that are there."""
        folder = self.folder / MODELS
        return {one.id: (folder / f"{one.id}.glb").read_bytes() for one in self.shown.things}

    def write_assets(self, place: Place) -> None:
        """What takes longest: meshes and picture. No text is in them."""
        entries, _ = self.entries  # which may be refused, before the first file
        self.models = glb_models(self.shown, self.progress)
        self.progress(0, 0, STILL)
        picture = cover_picture(self.made, entries, self.profile, lambda: self.shown.stl)
        contents = {f"{MODELS}/{one}.glb": model for one, model in self.models.items()}
        write_contents({**contents, STILL: picture}, place)

    def write_page(self, place: Place) -> None:
        """All the rest; the page comes last."""
        entries, notes = self.entries
        downloads, unit_mm = _downloads(self.exported), self.profile.unit_mm
        files = page_files(self.made, entries, unit_mm, self.language, downloads)
        index = files.pop(INDEX)
        files |= {name: static(name) for name in _VIEWER}
        files["fonts/OpenSans-LICENSE.txt"] = font_file().with_name("OpenSans.LICENSE").read_bytes()
        data = models_data(self.shown, entries, self.models)
        files["models.js"] = models_script(data).encode()
        write_contents(files, place)
        ids = [one.id for one in entries]
        place(INDEX, challenges=ids, notes=notes).write_bytes(index)

    def recipe(self, language: str) -> str:
        """By what a page is known to be up to date."""
        said = {
            "selection": self.selection.said(self.puzzle, self.lists_in),
            "words": [load_words(part, language) for part in ("page", "booklet")],
            "large": self.large,
            "static": _static_digest(),
        }
        more = json_text(said), language
        return made_by(
            self.puzzle, self.profile, *more, rooms=_ROOMS, libraries=_LIBRARIES, but=NOT_SHOWN
        )


def make_page(
    puzzle: PuzzleSet,
    profile: Profile,
    folder: Path,
    selection: Selection,
    language: str = LANGUAGES[0],
    lists_in: Path | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Page:
    """Makes the page of a set, or brings it up to date.

    Args:
        selection: which challenges it shows.
        lists_in: the set's output folder, where a list of challenges may lie.
        force: makes every file again, and writes over those that somebody has changed.

    Raises:
        InputError: before any file of the page is touched, when a challenge that was asked for
            cannot be shown or none can, there are no texts in the language, the profile does not
            suit the set, or the folder holds another set or files that are not fabkit's.
        OutsideError: when a folder is in use or cannot be written, or a library fails.
    """
    maker = _PageMaker(puzzle, profile, folder, selection, language, lists_in, force, progress)
    assets = Target((f"{MODELS}/", STILL), maker.recipe(LANGUAGES[0]), maker.write_assets)
    page = Target(_OWN, maker.recipe(language), maker.write_page)
    built = build(folder, puzzle, profile, [assets, page], force, progress, accounted=True)
    index, exported = built.files[INDEX], maker.exported
    notes = (*index.notes, *exported.warnings)
    return Page(folder, tuple(index.challenges), shown_files(built), exported, notes)


def _fitting(puzzle: PuzzleSet, profile: Profile) -> tuple[PuzzleSet, list[str]]:
    """The set whose things are shown and exported: without boards larger than the printer's bed.

    They can be played on all the same.

    Returns:
        The set with such boards only made when all are asked for, and the ids of those boards and
        their lids.
    """
    there = accessories(puzzle, profile)
    made_of, room = Artifacts(puzzle, there, profile), room_of(profile)
    large = [
        one
        for one in there
        if not fitting_turns(outline_from_above(made_of.blueprints[one.id]), room)
    ]
    without = {one.board.id for one in large}
    boards = tuple(
        replace(board, optional=board.optional or board.id in without) for board in puzzle.boards
    )
    return replace(puzzle, boards=boards), [printable(one.id) for one in large]


def _static_digest() -> str:
    """A hash of what is the same on every page."""
    folder = Path(document.__file__).parent / "static"
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest(*(part for path in paths for part in (path.name, path.read_bytes())))


def _downloads(exported: Export) -> list[Download]:
    """The files to print: all in one, then each."""
    names = [name for name in exported.files if "/" not in name]
    names += [name for name in exported.files if name.startswith("stl/")]
    sizes = [max(1, round((exported.folder / name).stat().st_size / 1000)) for name in names]
    return [
        Download(f"{FILES}/{name}", Path(name).name, f"{size} kB")
        for name, size in zip(names, sizes, strict=True)
    ]
