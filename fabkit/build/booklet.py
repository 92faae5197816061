"""The booklet of a set: its challenges gathered, its picture drawn, its file written."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fabkit.build.cover_image import cover_picture
from fabkit.build.entries import Selection, gather, solved_ones
from fabkit.build.export import fresh_meshes
from fabkit.build.manifest import made_by
from fabkit.build.targets import Place, Progress, Target, build, silent
from fabkit.core.files import json_text
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.booklet.book import Booklet, booklet
from fabkit.output.booklet.paper import choose_paper
from fabkit.output.i18n import LANGUAGES, load_words

#: What it is called in an output folder.
BOOKLET = "booklet.pdf"
#: The keys of a profile that do not show in a booklet, or on a page.
NOT_SHOWN = ("price.", "laser.", "filament.", "plate.", "printer.")
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
    """

    selection: Selection = field(default_factory=Selection)
    language: str = LANGUAGES[0]
    paper: str | None = None
    picture: bool = True

    @property
    def file_name(self) -> str:
        """What it is called in an output folder: a booklet of some challenges is another one.

        Example:
            >>> BookletOptions(language="de").file_name
            'booklet.pdf'
            >>> BookletOptions(Selection(only=("square_01",))).file_name
            'booklet-square_01.pdf'
        """
        only, files = self.selection.only, self.selection.files
        if not (only or files):
            return BOOKLET
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
    found = gather(puzzle, options.selection, folder, progress)
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

    def write(place: Place) -> None:
        made.append(make_booklet(puzzle, profile, folder, options, progress))
        place(options.file_name).write_bytes(made[0].booklet.pdf)

    said = {
        "selection": options.selection.said(puzzle, folder),
        "words": load_words("booklet", options.language),
        "look": [options.paper, options.picture],
    }
    recipe = made_by(
        puzzle, profile, json_text(said), rooms=_ROOMS, libraries=_LIBRARIES, but=NOT_SHOWN
    )
    target = Target((options.file_name,), recipe, write, always=always)
    build(folder, puzzle, profile, [target], force)
    return made[0] if made else None
