"""`fabkit page`: a page to play on, with everything that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.cli import options
from fabkit.cli.booklet import Challenges, Language, Only, selected
from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.model.library import load_set

if TYPE_CHECKING:
    from fabkit.build.page import Page


def page(
    set: options.Set,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The page's folder.",
            show_default="output/SET/page",
        ),
    ] = None,
    challenges: Challenges = None,
    only: Only = None,
    language: Language = "en",
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    budget: options.Budget = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a web page to play on, with the pieces in 3D; it works from the disk. Open index.html."""
    from fabkit.build import page as making
    from fabkit.build.entries import BUDGET_S
    from fabkit.build.pagefolder import INDEX, PAGE

    report = Report(json, quiet, verbose)
    selection = selected(challenges, only)
    budget_s = options.seconds(budget, BUDGET_S)
    puzzle = load_set(set)
    effective = options.profile_for(puzzle, profile, settings)
    own = options.set_folder(None, puzzle)
    usual = options.folder_path(str(own / PAGE), "the output folder")
    folder = usual if output is None else options.folder_path(output, "-o")
    wish = making.Wish(selection, language, budget_s)
    with report.progress() as progress:
        made = making.make_page(puzzle, effective, folder, wish, own, force, progress)
    _tell(made, report)
    for note in made.notes:
        report.warn(note)
    report.document(
        {
            "set": puzzle.name,
            "output": str(folder),
            "page": str(folder / INDEX),
            "profile": effective.name,
            "language": language,
            "written": made.written,
            "files": made.all_files,
            "challenges": list(made.ids),
            "notes": list(made.notes),
        }
    )


def _tell(made: Page, report: Report) -> None:
    from fabkit.build.pagefolder import INDEX

    for name, file in made.all_files.items():
        report.detail(f"{'wrote' if file['written'] else 'kept '} {made.folder / name}")
    shows = many(len(made.ids), "challenge")
    if made.written:
        report.say(f"wrote {many(made.written, 'file')} to {made.folder}: {shows}")
    else:
        report.say(f"nothing to do: the page in {made.folder} is up to date, with {shows}")
    report.say(f"open {made.folder / INDEX}")
