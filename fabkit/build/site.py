"""A folder with the pages of several sets and a front page, for any static host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from fabkit.build.export import artifacts_in
from fabkit.build.manifest import generator_digest
from fabkit.build.page import INDEX, SHARED, STILL, make_page, static_digest
from fabkit.build.reports import write_contents
from fabkit.build.targets import BuildResult, Target, build
from fabkit.core.errors import InputError, quote
from fabkit.core.formats import json_text
from fabkit.core.hashes import digest
from fabkit.core.progress import Progress, no_progress
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.web.document import SetCard, shared_files, site_files
from fabkit.profiles.profile import Profile
from fabkit.puzzles.entries import Selection

#: Its name in the folder of outputs.
SITE = "site"
#: Its name in the manifest, where a set's folder has that of the set.
_OWNER = "all sets"


def make_site(
    puzzles: Sequence[tuple[PuzzleSet, Profile]],
    folder: Path,
    budget_s: float | None = None,
    language: str = "",
    force: bool = False,
    progress: Progress = no_progress,
) -> tuple[BuildResult, dict[str, BuildResult]]:
    """Bring the pages of several sets and a front page up to date; see `make_page`.

    Fonts, scripts and the 3D library are shared. The output folder of each set may contain a list
    of challenges, and up-to-date meshes.

    Returns:
        What is in the folder, and the results for the sets, by name, each in a folder of that name.

    Raises:
        InputError: as `make_page`; also when two sets have the same name.
        ExternalError: as `make_page`.
    """
    names = [puzzle.name for puzzle, _ in puzzles]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError.of(
            "", f"two sets are called {quote(repeated[0])}; expected different names"
        )
    messages = [load_messages("page", code) for code in (language or LANGUAGES[0], *LANGUAGES)]
    code_digests = static_digest(), generator_digest(("output",), ("fonttools", "jinja2"))
    # Refuse to overwrite foreign files before the work.
    write = partial(write_contents, shared_files())
    site = build(folder, _OWNER, [Target(SHARED, digest(*code_digests), write)], force)
    pages = {}
    for done, (puzzle, profile) in enumerate(puzzles):

        def on_progress(share: float, what: str, done: int = done, name: str = puzzle.name) -> None:
            progress((done + share) / len(puzzles), f"{name}: {what}" if what else name)

        set_folder, page = Path("output") / puzzle.name, folder / puzzle.name
        artifacts = artifacts_in(set_folder, puzzle, profile)
        selection = Selection(budget_s=budget_s)
        pages[puzzle.name] = make_page(
            artifacts, page, selection, language, set_folder, force, on_progress, "../"
        )
    cards = [
        SetCard(
            name, name, puzzle.title, len(pages[name].files[INDEX].challenges), len(puzzle.pieces)
        )
        for name, (puzzle, _) in zip(names, puzzles, strict=True)
    ]
    content = json_text({"cards": [asdict(card) for card in cards], "words": messages})
    contents = site_files(cards, STILL, language)
    write = partial(write_contents, contents)
    front = Target((INDEX, *sorted({*contents} - {INDEX})), digest(*code_digests, content), write)
    for name, made in [("", build(folder, _OWNER, [front], force)), *pages.items()]:
        prefix = f"{name}/" if name else ""
        site.files |= {f"{prefix}{file_name}": file for file_name, file in made.files.items()}
        site.written |= {f"{prefix}{file_name}" for file_name in made.written}
    return site, pages
