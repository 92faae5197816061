"""`fabkit page`: a page to play on, with everything that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fabkit.cli import options
from fabkit.cli.booklet import Challenges, Language, Only, selected
from fabkit.cli.context import Context, takes
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.core.errors import many

if TYPE_CHECKING:
    from fabkit.build.page import Page


@takes("set", "profiles", "settings", "budget_s", "force")
def page(
    context: Context,
    output: Annotated[
        Path | None,
        option(
            "-o --output DIR",
            "The page's folder (default: output/SET/page); DIR/page in a folder of other files.",
        ),
    ] = None,
    challenges: Challenges = None,
    only: Only = None,
    language: Language = "en",
) -> None:
    """Write a web page to play on, with the pieces in 3D.

    It works from the disk: open index.html.
    """
    from fabkit.build import page as making

    wanted = making.PageOptions(selected(challenges, only), language, context.budget_s)
    report, puzzle, effective, own = (
        context.report,
        context.puzzle,
        context.profile,
        context.folder,
    )
    if output is None:
        folder = options.folder(str(own / making.PAGE), "the output folder")
    else:
        folder = making.page_folder(output)
    with report.progress() as progress:
        made = making.make_page(puzzle, effective, folder, wanted, own, context.force, progress)
    _tell(made, report)
    for note in made.notes:
        report.warn(note)
    report.document(
        {
            "set": puzzle.name,
            "output": str(folder),
            "page": str(folder / making.INDEX),
            "profile": effective.name,
            "language": language,
            "written": made.written,
            "files": made.all_files,
            "challenges": list(made.ids),
            "notes": list(made.notes),
        }
    )


def _tell(made: Page, report: Report) -> None:
    from fabkit.build.page import INDEX

    for name, file in made.all_files.items():
        report.detail(f"{'wrote' if file['written'] else 'kept '} {made.folder / name}")
    shows = many(len(made.ids), "challenge")
    if made.written:
        report.say(f"wrote {many(made.written, 'file')} to {made.folder}: {shows}")
    else:
        report.say(f"already up to date: the page in {made.folder}, with {shows}")
    report.say(f"open {made.folder / INDEX}")
