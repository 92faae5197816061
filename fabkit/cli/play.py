"""`fabkit booklet`, `page` and `cards`: challenges on paper and in a browser."""

from __future__ import annotations

from pathlib import Path

from fabkit.cli import options
from fabkit.cli.context import PRINTED, Context, takes
from fabkit.cli.options import argument, flag, option
from fabkit.core.errors import many
from fabkit.core.files import write_whole

CHALLENGES = option(
    "--challenges FILE",
    "Only what this challenge file, list or catalog holds; repeatable (default: the set's "
    "challenges, its catalog, and challenges.json in the output folder).",
    [],
)
ONLY = option("--only ID", "Only this challenge; repeatable.", [])
LANGUAGE = option("--language en|de|it|fr", "Language of the texts (default: en).", "en")


@takes("set", "profiles", "settings", "budget_s", "force")
def booklet(
    context: Context,
    path: Path | None = option(
        "-o --output FILE.pdf",
        "Write to this file (default: output/SET/booklet.pdf; booklet-ID.pdf with --only ID).",
    ),
    challenges: list[Path] = CHALLENGES,
    only: list[str] = ONLY,
    language: str = LANGUAGE,
    paper: str | None = option(
        "--paper a5|a4|letter",
        "Page size (default: the smallest that most challenges fit on).",
    ),
    no_picture: bool = flag("--no-picture", "Omit the picture on the cover; quicker."),
) -> None:
    """Write a booklet to print, as a PDF file.

    Shows the pieces and the challenges at 1:1, with solutions at the back.
    """
    from fabkit.build import booklet as making
    from fabkit.build.entries import Selection

    selection = Selection(tuple(challenges), tuple(only), context.budget_s)
    report, puzzle, effective = context.report, context.puzzle, context.profile
    folder = context.folder
    wanted = making.BookletOptions(selection, language, paper and paper.lower(), not no_picture)
    own = folder / wanted.file_name
    with report.progress() as progress:
        if path is None or path.resolve() == own.resolve():
            path, write = own, making.write_booklet
            made = write(puzzle, effective, folder, wanted, True, context.force, progress)
            assert made is not None
        else:
            made = making.make_booklet(puzzle, effective, folder, wanted, progress)
            write_whole(path, made.booklet.pdf)
    pages = f"{many(made.booklet.pages, 'page')} of {made.booklet.paper.capitalize()}"
    report.say(f"wrote {path}: {many(len(made.ids), 'challenge')} on {pages}; print at 100 %")
    report.warn(*made.notes)
    report.document(
        {
            "set": puzzle.name,
            "file": str(path),
            "profile": effective.name,
            "language": language,
            "paper": made.booklet.paper,
            "pages": made.booklet.pages,
            "challenges": list(made.ids),
            "notes": list(made.notes),
        }
    )


@takes("set", "profiles", "settings", "budget_s", "force")
def page(
    context: Context,
    output: Path | None = option(
        "-o --output DIR",
        "The page's folder (default: output/SET/page); DIR/page in a folder of other files.",
    ),
    challenges: list[Path] = CHALLENGES,
    only: list[str] = ONLY,
    language: str = LANGUAGE,
) -> None:
    """Write a web page to play on, with the pieces in 3D.

    It works from the disk: open index.html.
    """
    from fabkit.build import page as making
    from fabkit.build.entries import Selection

    selection = Selection(tuple(challenges), tuple(only), context.budget_s)
    report, puzzle, effective = context.report, context.puzzle, context.profile
    own = context.folder
    if output is None:
        folder = options.folder(str(own / making.PAGE), "the output folder")
    else:
        folder = making.page_folder(output)
    with report.progress() as progress:
        made = making.make_page(
            puzzle, effective, folder, selection, language, own, context.force, progress
        )
    for name, file in made.all_files.items():
        report.detail(f"{'wrote' if file['written'] else 'kept '} {folder / name}")
    shows = many(len(made.ids), "challenge")
    if made.written:
        report.say(f"wrote {many(made.written, 'file')} to {folder}: {shows}")
    else:
        report.say(f"already up to date: the page in {folder}, with {shows}")
    report.say(f"open {folder / making.INDEX}")
    report.warn(*made.notes)
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


@takes(*PRINTED, "force")
def cards(
    context: Context,
    challenge: list[str] | None = argument(
        "[CHALLENGE]...", "Starting positions by name (default: all)."
    ),
    file: Path | None = option(
        "--file FILE",
        "A challenge file, or a list that `fabkit challenges` wrote (default: the set's "
        "challenges, and challenges.json in the output folder).",
    ),
    most: int | None = option(
        "--count N", "Only the first N (default: all).", read=options.whole(1, 10_000)
    ),
    no_templates: bool = flag("--no-templates", "Omit the raised templates; paper only."),
) -> None:
    """Write challenge cards to print.

    Writes cards/ID.svg at 1:1, raised templates as cards/ID.stl, and sheets of A4.
    """
    from fabkit.build import cards as making

    report, puzzle, effective = context.report, context.puzzle, context.profile
    folder = context.folder
    starts = making.starts_of(puzzle, file, folder)
    made = making.cards_of(puzzle, starts, challenge or (), most)
    with report.progress() as progress:
        names, warnings = making.write_cards(
            folder, puzzle, made, effective, not no_templates, progress, context.force
        )
    rows: list[list[object]] = []
    document: list[dict[str, object]] = []
    for card in made:
        said = {"id": card.challenge.id, "number": card.number, "board": card.board.id}
        said |= {"level": card.level or None, "score": card.score}
        given = [one.piece for one in card.challenge.given]
        document.append({**said, "given": given})
        rows.append([said["id"], card.number, card.difficulty or "not known", " ".join(given)])
    report.table(["card", "number", "difficulty", "given"], rows)
    for name in names:
        report.detail(f"wrote {folder / name}")
    report.say(f"wrote {many(len(made), 'card')} to {folder / 'cards'}; print at 100 %")
    report.warn(*warnings)
    report.document(
        {
            "set": puzzle.name,
            "output": str(folder),
            "profile": effective.name,
            "cards": document,
            "files": names,
            "warnings": warnings,
        }
    )
