"""The web page of a set: challenges, pieces in 3D and downloads."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from fabkit.build.artifacts import Artifacts
from fabkit.build.booklet import NOT_SHOWN
from fabkit.build.export import PROFILE, targets_for
from fabkit.build.manifest import MANIFEST, input_digests, report_recipe
from fabkit.build.reports import write_contents
from fabkit.build.targets import BuildResult, OutputPath, Target, build
from fabkit.core.errors import InputError
from fabkit.core.formats import json_text, read_json, zip_bytes
from fabkit.core.hashes import digest
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.core.staging import temporary_folder
from fabkit.model.puzzle import Entry, default_board
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.render.cover import cover_picture
from fabkit.output.web import document
from fabkit.output.web.document import Download, page_files
from fabkit.output.web.playdata import data_script
from fabkit.output.web.viewerdata import models_data
from fabkit.profiles.accessory import printables
from fabkit.profiles.filaments import in_own_colours
from fabkit.profiles.profile_file import dump_profile
from fabkit.puzzles.entries import Selection, gather, select_solved
from fabkit.sets.library import set_argument

#: Its name in an output folder.
PAGE = "page"
#: The file that a browser opens.
INDEX = "index.html"
#: The 3D meshes.
MODELS = "models.js"
#: The picture for browsers without 3D.
STILL = "still.webp"
#: The folder of files to print.
FILES = "files"
#: The quality of the still picture, out of 100.
_QUALITY = 88
#: Files that several pages can share; the last three are of former versions, and removed.
SHARED = ("fabkit.css", "icon.svg", "play.js", "vendor/", "fonts/", "play-", "viewer.js", "viewer-")


def page_folder(folder: Path, name: str = PAGE) -> Path:
    """The folder of a page: the given one if it is new, empty or holds a page, else a subfolder, so
    that the page does not mix with other files."""
    try:
        is_page = read_json(folder / MANIFEST).get("files", {}).keys() & {INDEX, SHARED[0]}
    except (InputError, OSError):
        is_page = False
    others = folder.is_dir() and any(path.name[0] != "." for path in folder.iterdir())
    return folder / name if others and not is_page else folder


@dataclass
class _PageBuilder:
    """Builds the contents of a page on demand."""

    prints: Artifacts
    folder: Path
    selection: Selection
    language: str
    lists_in: Path | None
    shared: str
    progress: Progress
    work_folder: Path

    def __post_init__(self) -> None:
        self.puzzle, self.profile = self.prints.puzzle, self.prints.profile
        #: The files to print, existing or made now.
        self.files = {name: self.folder / name for target in self._files() for name in target.names}

    @cached_property
    def entries(self) -> tuple[list[Entry], list[str]]:
        """The challenges on the page, and warnings on others."""
        all_entries = gather(self.puzzle, self.selection, self.lists_in, self.progress)
        return select_solved(self.puzzle, all_entries, self.selection)

    @cached_property
    def meshes(self) -> dict[str, Path]:
        """All STL files: the up-to-date ones of the output folder, and the others made now."""
        for done, printable in enumerate(self.prints.printables):
            if printable.id not in self.prints.stl:
                counted(self.progress, done, len(self.prints.printables), f"{printable.id}.stl")
                self.prints.write_stl(printable, self.work_folder / f"{printable.id}.stl")
        return self.prints.stl

    def targets(self) -> list[Target]:
        """The targets of the folder."""
        selected = self.selection.fingerprint(self.puzzle, self.lists_in)
        texts = [
            load_messages(part, language) for part in ("page", "booklet") for language in LANGUAGES
        ]
        page = [self.language, self.shared, texts, static_digest()]
        names = (INDEX, "data.js", *(() if self.shared else SHARED))
        return [
            *self._files(),
            Target((MODELS,), self._recipe(), self._write_models),
            Target((STILL,), self._recipe(selected), self._write_still),
            Target(names, self._recipe(selected, page), self._write_page, lambda: self.entries),
        ]

    def _recipe(self, *selected: object) -> str:
        """The recipe of files; see `fabkit.build.manifest.ManifestEntry`."""
        text = json_text({"said": selected})
        return report_recipe(self.puzzle, self.profile, text, exclude_keys=NOT_SHOWN)

    def _files(self) -> list[Target]:
        """The files to print: everything on its plates, and the STL files in one archive."""
        planned, write = targets_for(self.prints, ["stl", "3mf"]), self._write_plates
        targets = [
            replace(target, names=(f"{FILES}/{name}",), make=partial(write, target), kind="")
            for target in planned
            for name in target.names
            if "/" not in name
        ]
        name = f"{FILES}/{self.puzzle.name}-stl.zip"
        recipe = digest(*(target.recipe for target in planned), dump_profile(self.profile))
        return [*targets, Target((name,), recipe, partial(self._write_archive, name))]

    def _write_plates(self, target: Target, output_path: OutputPath) -> None:
        _ = self.meshes  # to share their triangles

        def keep(name: str, **more: Any) -> Path:
            path = self.files[f"{FILES}/{name}"] = output_path(f"{FILES}/{name}", **more)
            return path

        target.make(keep)

    def _write_archive(self, name: str, output_path: OutputPath) -> None:
        contents = {f"{part_id}.stl": path.read_bytes() for part_id, path in self.meshes.items()}
        contents[PROFILE] = dump_profile(self.profile).encode()
        self.files[name] = output_path(name)
        self.files[name].write_bytes(zip_bytes(contents))

    def _write_models(self, output_path: OutputPath) -> None:
        _ = self.meshes  # to show the same triangles
        whole = printables(self.puzzle, in_own_colours(self.profile))
        data = models_data(self.prints.pictured(whole), self.progress)
        output_path(MODELS).write_text(data_script(data, "FABKIT_MODELS"))

    def _write_still(self, output_path: OutputPath) -> None:
        from PIL import Image

        self.progress(0.0, STILL)
        _ = self.meshes
        picture = cover_picture(
            self.puzzle, self.entries[0], self.profile, self.prints.pictured, background=None
        )
        with Image.open(io.BytesIO(picture)) as image:
            image.save(output_path(STILL), "WEBP", quality=_QUALITY)

    def _write_page(self, output_path: OutputPath) -> None:
        entries, notes = self.entries
        chosen = self.selection.only or self.selection.files
        if len(entries) == 1 and not chosen and default_board(self.puzzle.boards):
            command = f"fabkit challenges {set_argument(self.puzzle)}"
            notes = [
                *notes,
                f"there is only one challenge; `{command}` makes more for the next page",
            ]
        unit_mm = self.profile.unit_mm
        sizes = {name: path.stat().st_size / 1e6 for name, path in self.files.items()}
        downloads = [
            Download(name, Path(name).name, f"{size:.1f} MB") for name, size in sizes.items()
        ]
        files = page_files(
            self.puzzle, entries, unit_mm, self.language, downloads, shared=self.shared
        )
        index = files.pop(INDEX)
        write_contents(files, output_path)
        output_path(
            INDEX, challenges=[entry.challenge.id for entry in entries], notes=notes
        ).write_bytes(index)


def make_page(
    artifacts: Artifacts,
    folder: Path,
    selection: Selection,
    language: str = "",
    lists_in: Path | None = None,
    force: bool = False,
    progress: Progress = no_progress,
    shared: str = "",
) -> BuildResult:
    """Bring the page of a set up to date; the notes on `INDEX` say which challenges are on it.

    Args:
        selection: the challenges it shows.
        language: the initial one; if empty, the reader's own if supported.
        lists_in: the set's output folder, which may contain a list of challenges.
        force: rebuild every file, and overwrite edited ones.
        shared: the folder of files shared by several pages, such as ``../``; empty for none.

    Raises:
        InputError: before any file of the page is touched, when a requested challenge cannot be
            shown or none can, the language is not supported, the profile does not suit the set, or
            the folder holds another set or foreign files.
        ExternalError: when a folder is in use or cannot be written, or a library fails.
    """
    load_messages("page", language or LANGUAGES[0])  # refuse unknown values before the work
    with temporary_folder() as work_folder:
        if force:
            artifacts.stl.clear()
        maker = _PageBuilder(
            artifacts, folder, selection, language, lists_in, shared, progress, work_folder
        )
        inputs = input_digests(artifacts.puzzle, artifacts.profile)
        return build(folder, artifacts.puzzle.name, maker.targets(), force, progress, inputs)


def static_digest() -> str:
    """A hash of the files that all pages share."""
    paths = sorted(path for path in document.STATIC.rglob("*") if path.is_file())
    return digest(*(part for path in paths for part in (path.name, path.read_bytes())))
