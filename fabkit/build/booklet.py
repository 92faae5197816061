"""The booklet of a set: its challenges gathered, its picture drawn, its file written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fabkit.build.cover_image import cover_picture
from fabkit.build.entries import BUDGET_S, Selection, gather, solved_ones
from fabkit.build.export import fresh_meshes
from fabkit.build.manifest import made_by
from fabkit.build.targets import Place, Progress, Target, build, silent
from fabkit.core.files import sha256
from fabkit.model.catalog import catalog_path
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.booklet.book import Booklet, booklet
from fabkit.output.booklet.paper import choose_paper
from fabkit.output.i18n import LANGUAGES, load_words
from fabkit.puzzles.graded.challengelist import LIST

#: What it is called in an output folder.
BOOKLET = "booklet.pdf"
#: The keys of a profile that do not show in a booklet.
_NOT_SHOWN = ("price.", "laser.", "filament.", "plate.", "printer.")
#: What makes it besides the rooms and libraries that make any report.
_ROOMS, _LIBRARIES = ("build", "solid", "core"), ("reportlab", "cadquery", "cadquery-ocp", "pillow")


@dataclass(frozen=True)
class BookletOptions:
    """What a booklet shows.

    Attributes:
        selection: which challenges.
        language: one of `fabkit.output.i18n.LANGUAGES`.
        paper: one of `fabkit.output.booklet.paper.PAPERS`; None chooses.
        picture: whether the set is drawn on the cover as it comes from the printer; else its
            pieces are.
        budget_s: see `fabkit.build.entries.gather`.
    """

    selection: Selection = field(default_factory=Selection)
    language: str = LANGUAGES[0]
    paper: str | None = None
    picture: bool = True
    budget_s: float | None = BUDGET_S

    @property
    def file_name(self) -> str:
        """What it is called in an output folder: a booklet of some challenges is another one.

        Example:
            >>> BookletOptions(language="de").file_name
            'booklet.pdf'
            >>> BookletOptions(Selection(only=("square_01",))).file_name
            'booklet-square_01.pdf'
        """
        if self.selection == Selection():
            return BOOKLET
        only = self.selection.only
        return f"booklet-{only[0] if len(only) == 1 else 'selection'}.pdf"


@dataclass(frozen=True)
class Made:
    """A booklet with what is told of it.

    Attributes:
        booklet: the file, its paper and pages.
        ids: of the challenges in it, as they were gathered.
        notes: what deserves a look, in sentences.
    """

    booklet: Booklet
    ids: tuple[str, ...]
    notes: tuple[str, ...]


def make_booklet(
    puzzle: PuzzleSet,
    profile: Profile,
    folder: Path,
    options: BookletOptions | None = None,
    progress: Progress = silent,
) -> Made:
    """Makes the booklet of a set.

    Args:
        folder: the set's output folder. A list of challenges may lie there, and meshes that are up
            to date are not built again.

    Raises:
        InputError: when a challenge that was asked for cannot be shown, none can, or paper or
            language are unknown or do not suit them.
        OutsideError: when a library fails, or files that come with fabkit are missing.
    """
    options = options or BookletOptions()
    load_words("booklet", options.language)  # what is unknown is refused before the work
    choose_paper([], options.paper)
    found = gather(puzzle, options.selection, folder, progress, options.budget_s)
    entries, notes = solved_ones(puzzle, found, options.selection)
    cover = None
    if options.picture:
        progress(0, 0, "drawing the cover")
        find_stl = partial(fresh_meshes, folder, puzzle, profile)
        cover = cover_picture(puzzle, entries, profile, find_stl)
    progress(0, 0, "setting the pages")
    made = booklet(puzzle, entries, profile, options.language, options.paper, cover)
    return Made(made, tuple(entry.id for entry in entries), (*notes, *made.notes))


def write_booklet(
    puzzle: PuzzleSet,
    profile: Profile,
    folder: Path,
    options: BookletOptions | None = None,
    always: bool = True,
    force: bool = False,
    progress: Progress = silent,
) -> Made | None:
    """Brings a booklet in an output folder up to date; see `make_booklet`.

    Args:
        always: makes it again, whatever there is.

    Returns:
        The booklet; None when it would come out just so again.
    """
    options = options or BookletOptions()
    made: list[Made] = []

    def prepare() -> None:
        made.append(make_booklet(puzzle, profile, folder, options, progress))

    def write(place: Place) -> None:
        place(options.file_name).write_bytes(made[0].booklet.pdf)

    read = [path for path in (folder / LIST, catalog_path(puzzle)) if path.is_file()]
    asked = options.selection
    more = json.dumps(
        [
            [str(path) for path in asked.files],
            asked.only,
            load_words("booklet", options.language),
            options.paper,
            options.picture,
            options.budget_s,
            [sha256(path) for path in read],
        ]
    )
    recipe = made_by(
        puzzle, profile, "booklet", more, rooms=_ROOMS, libraries=_LIBRARIES, but=_NOT_SHOWN
    )
    target = Target((options.file_name,), recipe, write, prepare, always=always)
    build(folder, puzzle, profile, [target], force)
    return made[0] if made else None
