"""The booklet of a set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from fabkit.build.artifacts import Artifacts
from fabkit.build.manifest import read_manifest, report_recipe
from fabkit.build.targets import OutputPath, Target, build
from fabkit.core.formats import json_text
from fabkit.core.progress import Progress, no_progress
from fabkit.drawing.draft import FlatDrawing
from fabkit.model.puzzle import Entry
from fabkit.output.booklet.book import EDITIONS, Booklet, check_edition, render_booklet
from fabkit.output.booklet.paper import choose_paper
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.render.cover import cover_picture
from fabkit.puzzles.entries import Selection, begin_gathering, select_solved

#: The file in an output folder.
BOOKLET = "booklet.pdf"
#: Profile keys that affect neither booklets nor pages.
NOT_SHOWN = ("price.", "laser.", "filament.", "plate.", "printer.")


@dataclass(frozen=True)
class BookletOptions:
    """Options of a booklet.

    Attributes:
        selection: the challenges in it.
        language: one of `fabkit.output.i18n.LANGUAGES`.
        paper: one of `fabkit.output.booklet.paper.PAPERS`; None chooses.
        picture: whether the cover shows the printed set; otherwise it shows the pieces as drawn.
        edition: one of `fabkit.output.booklet.book.EDITIONS`.
        fold: whether it comes on sheets to fold.
    """

    selection: Selection = field(default_factory=Selection)
    language: str = LANGUAGES[0]
    paper: str | None = None
    picture: bool = True
    edition: str = EDITIONS[0]
    fold: bool = False

    @property
    def file_name(self) -> str:
        """The file name in an output folder; it differs for selected challenges and editions.

        Example:
            >>> BookletOptions(language="de").file_name
            'booklet.pdf'
            >>> BookletOptions(Selection(only=("square_01",))).file_name
            'booklet-square_01.pdf'
            >>> BookletOptions(edition="full-size").file_name, BookletOptions(fold=True).file_name
            ('booklet-full-size.pdf', 'booklet-fold.pdf')
        """
        only, files = self.selection.only, self.selection.files
        parts = [Path(BOOKLET).stem]
        if only or files:
            parts.append(only[0] if len(only) == 1 else "selection")
        parts += [self.edition] * (self.edition != EDITIONS[0]) + ["fold"] * self.fold
        return f"{'-'.join(parts)}.pdf"


def make_booklet(
    artifacts: Artifacts,
    folder: Path,
    options: BookletOptions | None = None,
    progress: Progress = no_progress,
    gather_entries: Callable[[Progress], list[Entry]] | None = None,
) -> Booklet:
    """Make the booklet of a set.

    Args:
        folder: the set's output folder. It may contain a list of challenges.
        gather_entries: returns the challenges, if that has begun already.

    Raises:
        InputError: when a requested challenge cannot be shown, or none can, or paper or language
            are unknown or unsuitable.
        ExternalError: when a library fails, or files of fabkit are missing.
    """
    puzzle, profile = artifacts.puzzle, artifacts.profile
    options = options or BookletOptions()
    load_messages("booklet", options.language)  # refuse unknown values before the work
    check_edition(options.edition, options.fold)
    choose_paper([], options.paper, options.fold)
    gather_entries = gather_entries or begin_gathering(puzzle, options.selection, folder)
    entries, notes = select_solved(puzzle, gather_entries(progress), options.selection)
    cover = None
    if options.picture:
        progress(0.0, "drawing the cover")
        cover = cover_picture(puzzle, entries, profile, artifacts.pictured)
    progress(0.0, "laying out the pages")
    flat = [piece for piece in puzzle.pieces if not piece.body]
    drawings = artifacts.pictured(flat).drawings.values()
    made = render_booklet(
        puzzle, entries, profile, options.language, options.paper, cover, options.edition,
        options.fold, [drawing for drawing in drawings if isinstance(drawing, FlatDrawing)],
    )  # fmt: skip
    return replace(made, notes=(*notes, *made.notes))


@dataclass
class BookletFile:
    """The booklet in an output folder; see `make_booklet`.

    Attributes:
        always: rebuild it even if it is up to date.
        force: also overwrite a foreign file.
    """

    artifacts: Artifacts
    folder: Path
    options: BookletOptions = field(default_factory=BookletOptions)
    always: bool = True
    force: bool = False
    _gather_entries: Callable[[Progress], list[Entry]] | None = None

    def begin(self) -> None:
        """Begin to solve and rate its challenges on other cores, unless it is up to date.

        Raises:
            InputError: as `fabkit.puzzles.entries.gather`.
        """
        puzzle = self.artifacts.puzzle
        manifest = read_manifest(self.folder, puzzle.name, self.force)
        if not self._target(lambda _: None).is_current(manifest, self.folder):
            self._gather_entries = begin_gathering(puzzle, self.options.selection, self.folder)

    def update(self, progress: Progress = no_progress) -> Booklet | None:
        """Bring it up to date.

        Returns:
            The booklet; None if it was up to date.
        """
        made: list[Booklet] = []

        def write(output_path: OutputPath) -> None:
            made.append(
                make_booklet(
                    self.artifacts, self.folder, self.options, progress, self._gather_entries
                )
            )
            output_path(self.options.file_name).write_bytes(made[0].pdf)

        build(self.folder, self.artifacts.puzzle.name, [self._target(write)], self.force)
        return made[0] if made else None

    def _target(self, make: Callable[[OutputPath], object]) -> Target:
        return Target((self.options.file_name,), self._recipe, make, always=self.always)

    @cached_property
    def _recipe(self) -> str:
        """The hash of its inputs, taken before they are read: a later change makes it stale."""
        options, puzzle = self.options, self.artifacts.puzzle
        inputs = {
            "selection": options.selection.fingerprint(puzzle, self.folder),
            "words": load_messages("booklet", options.language),
            "look": [options.paper, options.picture, options.edition, options.fold],
        }
        text = json_text(inputs)
        return report_recipe(puzzle, self.artifacts.profile, text, exclude_keys=NOT_SHOWN)
