"""The booklet of a set: its challenges gathered, its picture drawn, its file written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabkit.build.entries import BUDGET_S, Selection, gather, solved_ones
from fabkit.build.export import Progress, ready_meshes
from fabkit.build.manifest import read_manifest
from fabkit.build.reports import made_by, write_reports
from fabkit.build.showpiece import cover_picture
from fabkit.build.targets import generator_digest
from fabkit.core.files import digest, sha256
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
class Wish:
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
    def is_usual(self) -> bool:
        """Whether it asks for what `fabkit make` makes.

        Example:
            >>> Wish(budget_s=5.0).is_usual, Wish(language="de").is_usual
            (True, False)
        """
        return replace(self, budget_s=BUDGET_S) == Wish()


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
    wish: Wish | None = None,
    progress: Progress = lambda done, total, name: None,
) -> Made:
    """Makes the booklet of a set.

    Args:
        puzzle: the set.
        profile: gives the unit, and how pieces look on the cover.
        folder: the set's output folder. A list of challenges may lie there, and meshes that are up
            to date are not built again.
        wish: what it shows; the usual when None.
        progress: told before each challenge.

    Raises:
        InputError: when a challenge that was asked for cannot be shown, none can, or paper or
            language are unknown or do not suit them.
        OutsideError: when a library fails, or files that come with fabkit are missing.
    """
    wish = wish or Wish()
    load_words("booklet", wish.language)  # what is unknown is refused before the work
    choose_paper([], wish.paper)
    found = gather(puzzle, wish.selection, folder, progress, wish.budget_s)
    entries, notes = solved_ones(puzzle, found, wish.selection)
    cover = None
    if wish.picture:
        progress(0, 0, "drawing the cover")
        manifest = read_manifest(folder, puzzle, force=True)
        ready = ready_meshes(puzzle, profile, manifest, folder, force=False)
        cover = cover_picture(puzzle, entries, profile, ready)
    progress(0, 0, "setting the pages")
    made = booklet(puzzle, entries, profile, wish.language, wish.paper, cover)
    return Made(made, tuple(entry.id for entry in entries), (*notes, *made.notes))


def booklet_key(
    puzzle: PuzzleSet, profile: Profile, folder: Path, budget_s: float | None = BUDGET_S
) -> str:
    """By what the usual booklet in an output folder is known to be up to date.

    Args:
        puzzle: the set.
        profile: how it is printed.
        folder: the output folder, whose list of challenges counts.
        budget_s: see `fabkit.build.entries.gather`.
    """
    read = [path for path in (folder / LIST, catalog_path(puzzle)) if path.is_file()]
    words = json.dumps(load_words("booklet", LANGUAGES[0]))
    generator = generator_digest(_ROOMS, _LIBRARIES)
    files = digest(*(sha256(path) for path in read))
    more = "booklet", generator, words, files, f"{budget_s}"
    return made_by(puzzle, profile, *more, but=_NOT_SHOWN)


def write_booklet(
    folder: Path, puzzle: PuzzleSet, profile: Profile, made: Made, key: str = ""
) -> list[str]:
    """Writes ``booklet.pdf`` into an output folder, and enters it in the manifest.

    Args:
        folder: the output folder; made when needed.
        puzzle: the set.
        profile: how it is printed.
        made: the booklet.
        key: what `booklet_key` said before it was made; empty for one that is not the usual.

    Returns:
        What deserves a look, in sentences.

    Raises:
        OutsideError: when the folder is in use or cannot be written.
    """
    return write_reports(folder, puzzle, profile, {BOOKLET: made.booklet.pdf}, made_by=key)
