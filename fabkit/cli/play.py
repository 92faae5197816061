"""`fabkit booklet`, `page` and `cards`: challenges on paper and in the browser."""

from __future__ import annotations

from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli.context import OfSet, Printing, WithBudget, WithForce, WithSettings, default_folder
from fabkit.cli.options import argument, exclusive, flag, option, refuse, whole
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, pluralize
from fabkit.core.staging import write_atomically
from fabkit.sets.library import shipped_names

if TYPE_CHECKING:
    from fabkit.build.targets import BuildResult

CHALLENGES = partial(
    option,
    "--challenges FILE",
    "Only the challenges in this challenge file, list or catalog (repeatable; default: those of "
    "the set, of its catalog, and of challenges.json in the output folder).",
    (),
)
ONLY = partial(option, "--only ID", "Only this challenge (repeatable).", ())


class Booklet(WithForce, WithBudget, WithSettings, OfSet):
    """Write a printable booklet, as a PDF file.

    Shows the pieces and the challenges by level, with solutions at the back.
    """

    path: Path | None = option(
        "-o --output FILE.pdf",
        "Output file (default: output/SET/booklet.pdf; booklet-ID.pdf with --only ID).",
    )
    edition: str = option(
        "--edition play|full-size",
        "Several challenges per page, or each at 1:1 to lay pieces on (default: play).",
        "play",
    )
    fold: bool = flag(
        "--fold",
        "Impose two pages on each side of a sheet, to print double-sided, fold and staple.",
    )
    challenges: list[Path] = CHALLENGES()
    only: list[str] = ONLY()
    language: str = option("--language en|de|it|fr", "Language (default: en).", "en")
    paper: str | None = option(
        "--paper a5|a4|letter",
        "Page size (default: a5, or the one that fits most challenges at 1:1); with --fold, sheet "
        "size, a4 or letter (default: a4).",
    )
    no_picture: bool = flag("--no-picture", "Omit the cover picture (faster).")

    def run(self) -> None:
        from fabkit.build import booklet as making
        from fabkit.jobs.parallel import all_cores
        from fabkit.puzzles.entries import Selection

        selection = Selection(tuple(self.challenges), tuple(self.only), self.budget_s)
        report, puzzle, effective, folder = self.report, self.puzzle, self.profile, self.folder
        paper = self.paper and self.paper.lower()
        options = making.BookletOptions(
            selection, self.language, paper, not self.no_picture, self.edition, self.fold
        )
        path = folder / options.file_name
        with all_cores(), report.progress() as progress:
            if self.path is None or self.path.resolve() == path.resolve():
                file = making.BookletFile(self.artifacts, folder, options, force=self.force)
                made = file.update(progress)
                assert made is not None
            else:
                path = self.path
                made = making.make_booklet(self.artifacts, folder, options, progress)
                write_atomically(path, made.pdf)
        pages = pluralize(made.pages, "page")
        name = made.paper.capitalize()
        if self.fold:
            pages += f", {pluralize(made.sheets, 'sheet')}"
        report.info(
            f"Wrote {path}: {pluralize(len(made.challenges), 'challenge')} on {pages} of {name}"
        )
        sides = ", double-sided, flipped on the short edge; fold, and staple the fold"
        report.info(f"Print at 100 %{sides if self.fold else ''}")
        report.warn(*made.notes)
        report.document(
            set=puzzle.name,
            file=str(path),
            profile=effective.name,
            language=self.language,
            edition=self.edition,
            paper=made.paper,
            pages=made.pages,
            sheets=made.sheets,
            challenges=list(made.challenges),
            notes=list(made.notes),
        )


class Page(WithForce, WithBudget, WithSettings):
    """Write a web page to play, with the pieces in 3D.

    Open index.html from the disk, or upload the folder to any static host.
    """

    sets: list[str] = argument(
        "[SET]...",
        "Shipped sets (see `fabkit sets`) or TOML files; several get one folder with a front page.",
        (),
        complete=shipped_names,
    )
    all_sets: bool = flag("--all", "Include all shipped sets, in one folder with a front page.")
    output: Path | None = option(
        "-o --output DIR",
        "Output folder (default: output/SET/page, or output/site for several sets); a subfolder "
        "if DIR holds other files.",
    )
    challenges: list[Path] = CHALLENGES()
    only: list[str] = ONLY()
    language: str | None = option(
        "--language en|de|it|fr", "Initial language (default: that of the browser, or English)."
    )

    def run(self) -> None:
        from fabkit.build import page as making
        from fabkit.jobs.parallel import all_cores
        from fabkit.puzzles.entries import Selection

        exclusive({"SET": self.sets, "--all": self.all_sets})
        names = list(shipped_names()) if self.all_sets else self.sets
        if not names:
            raise InputError.of("", "missing argument 'SET', or --all; see `fabkit page --help`")
        if self.all_sets or len(names) > 1:
            refuse(self.options("challenges only"), "requires a single set; several were given")
            self._site(names)
            return
        self.set = names[0]
        selection = Selection(tuple(self.challenges), tuple(self.only), self.budget_s)
        report, puzzle, effective = self.report, self.puzzle, self.profile
        set_folder = default_folder(puzzle.name)
        if self.output is None:
            folder = default_folder(f"{puzzle.name}/{making.PAGE}")
        else:
            folder = making.page_folder(self.output)
        with all_cores(), report.progress() as progress:
            options = selection, self.language or "", set_folder, self.force, progress
            made = making.make_page(self.artifacts, folder, *options)
        index = made.files[making.INDEX]
        _print_files(report, made, pluralize(len(index.challenges), "challenge"))
        report.warn(*index.notes)
        report.document(
            set=puzzle.name,
            output=str(folder),
            page=str(folder / making.INDEX),
            profile=effective.name,
            language=self.language,
            **made.document(),
            challenges=index.challenges,
            notes=index.notes,
        )

    def _site(self, names: list[str]) -> None:
        """Write the pages of several sets into one folder."""
        from fabkit.build import site as making
        from fabkit.build.page import INDEX, page_folder
        from fabkit.jobs.parallel import all_cores

        report = self.report
        commands = [copy(self) for _ in names]
        for command, name in zip(commands, names, strict=True):
            command.set = name
        folder = page_folder(self.output or default_folder(making.SITE), making.SITE)
        with all_cores(), report.progress() as progress:
            sets = [(command.puzzle, command.profile) for command in commands]
            language, force = self.language or "", self.force
            made, pages = making.make_site(sets, folder, self.budget_s, language, force, progress)
        indexes = {name: page.files[INDEX] for name, page in pages.items()}
        count = sum(len(index.challenges) for index in indexes.values())
        shows = f"{pluralize(len(pages), 'set')}, {pluralize(count, 'challenge')}"
        _print_files(report, made, shows)
        for name, index in indexes.items():
            report.warn(*(f"{name}: {note}" for note in index.notes))
        report.document(
            output=str(folder),
            page=str(folder / INDEX),
            language=self.language,
            **made.document(),
            sets={
                name: {
                    "page": str(pages[name].folder / INDEX),
                    "challenges": index.challenges,
                    "notes": index.notes,
                }
                for name, index in indexes.items()
            },
        )


def _print_files(report: Report, made: BuildResult, shows: str) -> None:
    """Print the written files, and the file to open."""
    folder = made.folder
    for name in made.files:
        report.detail(f"{'Wrote' if name in made.written else 'Kept '} {folder / name}")
    files = pluralize(len(made.written or made.files), "file")
    report.wrote(files, f"{folder}: {shows}", bool(made.written))
    report.info(f"Open {folder / 'index.html'}")


class Cards(WithForce, Printing):
    """Write printable challenge cards.

    Writes cards/ID.svg at 1:1, raised templates as cards/ID.stl, and A4 sheets.
    """

    challenge: list[str] = argument(
        "[CHALLENGE]...", "Challenges, boards or snowflakes (default: all starting positions).", ()
    )
    file: Path | None = option(
        "--file FILE",
        "A challenge file, list or catalog (default: the set's challenges, and "
        "challenges.json in the output folder).",
    )
    count: int | None = option(
        "--count N", "Maximum number of cards (default: all).", read=whole(1, 10_000)
    )
    no_templates: bool = flag("--no-templates", "Omit the raised templates.")

    def run(self) -> None:
        from fabkit.build import cards as making

        report, puzzle, effective, folder = self.report, self.puzzle, self.profile, self.folder
        made = making.cards_for(puzzle, self.challenge, self.file, folder, self.count)
        with report.progress() as progress:
            names, warnings = making.write_cards(
                folder, puzzle, made, effective, not self.no_templates, progress, self.force
            )
        rows: list[list[object]] = []
        document: list[dict[str, object]] = []
        for card in made:
            fields = {"id": card.challenge.id, "number": card.number, "board": card.board.id}
            fields |= {"level": card.level or None, "score": card.score}
            given = [given_piece.piece for given_piece in card.challenge.given]
            document.append({**fields, "given": given})
            rows.append([fields["id"], card.number, card.level or "unknown", " ".join(given)])
        report.table(["card", "number", "level", "given"], rows)
        report.detail(*(f"Wrote {folder / name}" for name in names))
        report.info(f"Wrote {pluralize(len(made), 'card')} to {folder / 'cards'}; print at 100 %")
        report.warn(*warnings)
        report.document(
            set=puzzle.name,
            output=str(folder),
            profile=effective.name,
            cards=document,
            files=names,
            warnings=warnings,
        )
