"""`fabkit booklet`: the challenges of a set to print, with their solutions at the back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.core.files import write_whole
from fabkit.model.library import load_set

if TYPE_CHECKING:
    from fabkit.build.booklet import Made
    from fabkit.build.entries import Selection

Challenges = Annotated[
    list[str] | None,
    typer.Option(
        "--challenges",
        metavar="FILE",
        help="Only what this challenge file, list or catalog holds; repeatable.",
        show_default="the set's own, its catalog, and the output folder's challenges.json",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="ID", help="Only this challenge; repeatable."),
]
Language = Annotated[
    str, typer.Option("--language", metavar="en|de|it|fr", help="The language of the texts.")
]


def booklet(
    set: options.Set,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.pdf",
            help="Write into this file.",
            show_default="output/SET/booklet.pdf",
        ),
    ] = None,
    challenges: Challenges = None,
    only: Only = None,
    language: Language = "en",
    paper: Annotated[
        str | None,
        typer.Option(
            "--paper",
            metavar="a5|a4|letter",
            help="The size of the pages.",
            show_default="the smallest that suits most challenges",
        ),
    ] = None,
    no_picture: Annotated[
        bool, typer.Option("--no-picture", help="Only pieces on the cover; quicker.")
    ] = False,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    budget: options.Budget = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a booklet to print: challenges at 1:1, pieces, solutions at the back. A PDF file."""
    from fabkit.build import booklet as making
    from fabkit.build.entries import BUDGET_S

    report = Report(json, quiet, verbose)
    path = options.file_path(output, "-o", ".pdf")
    selection = selected(challenges, only)
    budget_s = options.seconds(budget, BUDGET_S)
    puzzle = load_set(set)
    effective = options.profile_for(puzzle, profile, settings)
    folder = options.set_folder(None, puzzle)
    wish = making.Wish(selection, language, paper and paper.lower(), not no_picture, budget_s)
    key = making.booklet_key(puzzle, effective, folder, budget_s) if wish.is_usual else ""
    with report.progress() as progress:
        made = making.make_booklet(puzzle, effective, folder, wish, progress)
    notes = list(made.notes)
    if path is None or path.resolve() == (folder / making.BOOKLET).resolve():
        path = folder / making.BOOKLET
        notes += making.write_booklet(folder, puzzle, effective, made, key)
    else:
        write_whole(path, made.booklet.pdf)
    _tell(made, path, report)
    for note in notes:
        report.warn(note)
    report.document(
        {
            "set": puzzle.name,
            "file": str(path),
            "profile": effective.name,
            "language": language,
            "paper": made.booklet.paper,
            "pages": made.booklet.pages,
            "challenges": list(made.ids),
            "notes": notes,
        }
    )


def selected(files: list[str] | None, ids: list[str] | None) -> Selection:
    """The challenges that ``--challenges`` and ``--only`` name.

    Raises:
        InputError: when one of them is empty.
    """
    from fabkit.build.entries import Selection

    for option, values in (("--challenges", files), ("--only", ids)):
        if any(not value.strip() for value in values or ()):
            expected = "a file" if option == "--challenges" else "the id of a challenge"
            raise InputError.of(option, f"is empty; expected {expected}")
    return Selection(tuple(Path(file) for file in files or ()), tuple(ids or ()))


def _tell(made: Made, path: Path, report: Report) -> None:
    found = made.booklet
    pages = f"{many(found.pages, 'page')} of {found.paper.capitalize()}"
    report.say(f"wrote {path}: {many(len(made.ids), 'challenge')} on {pages}; print at 100 %")
