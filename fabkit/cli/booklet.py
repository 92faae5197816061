"""`fabkit booklet`: the challenges of a set to print, with their solutions at the back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fabkit.cli.context import Context, takes
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.core.files import write_whole

if TYPE_CHECKING:
    from fabkit.build.booklet import Made
    from fabkit.build.entries import Selection

Challenges = Annotated[
    list[str] | None,
    option(
        "--challenges FILE",
        "Only what this challenge file, list or catalog holds; repeatable (default: the set's "
        "challenges, its catalog, and challenges.json in the output folder).",
    ),
]
Only = Annotated[list[str] | None, option("--only ID", "Only this challenge; repeatable.")]
Language = Annotated[
    str,
    option(
        "--language en|de|it|fr",
        "Language of the texts (default: en).",
        complete=lambda: ("en", "de", "it", "fr"),
    ),
]


@takes("set", "profiles", "settings", "budget_s", "force")
def booklet(
    context: Context,
    path: Annotated[
        Path | None,
        option(
            "-o --output FILE.pdf",
            "Write to this file (default: output/SET/booklet.pdf; booklet-ID.pdf with --only ID).",
        ),
    ] = None,
    challenges: Challenges = None,
    only: Only = None,
    language: Language = "en",
    paper: Annotated[
        str | None,
        option(
            "--paper a5|a4|letter",
            "Page size (default: the smallest that most challenges fit on).",
            complete=lambda: ("a5", "a4", "letter"),
        ),
    ] = None,
    no_picture: Annotated[
        bool, option("--no-picture", "Omit the picture on the cover; quicker.")
    ] = False,
) -> None:
    """Write a booklet to print, as a PDF file.

    Shows the pieces and the challenges at 1:1, with solutions at the back.
    """
    from fabkit.build import booklet as making

    selection = selected(challenges, only)
    report, puzzle, effective = context.report, context.puzzle, context.profile
    folder, budget_s = context.folder, context.budget_s
    paper = paper and paper.lower()
    wanted = making.BookletOptions(selection, language, paper, not no_picture, budget_s)
    own = folder / wanted.file_name
    with report.progress() as progress:
        if path is None or path.resolve() == own.resolve():
            path, write = own, making.write_booklet
            made = write(puzzle, effective, folder, wanted, True, context.force, progress)
            assert made is not None
        else:
            made = making.make_booklet(puzzle, effective, folder, wanted, progress)
            write_whole(path, made.booklet.pdf)
    _tell(made, path, report)
    notes = list(made.notes)
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

    for name, values in (("--challenges", files), ("--only", ids)):
        if any(not value.strip() for value in values or ()):
            expected = "a file" if name == "--challenges" else "the id of a challenge"
            raise InputError.of(name, f"is empty; expected {expected}")
    return Selection(tuple(Path(file) for file in files or ()), tuple(ids or ()))


def _tell(made: Made, path: Path, report: Report) -> None:
    found = made.booklet
    pages = f"{many(found.pages, 'page')} of {found.paper.capitalize()}"
    report.say(f"wrote {path}: {many(len(made.ids), 'challenge')} on {pages}; print at 100 %")
