"""`fabkit cards`: starting positions to print, on paper and as raised templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many
from fabkit.model.library import load_set

if TYPE_CHECKING:
    from fabkit.output.card import Card

_MOST_COUNT = 10_000


def cards(
    set: options.Set,
    challenge: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CHALLENGE]…",
            help="Starting positions by name.",
            show_default="all there are",
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="A challenge file, or a list that `fabkit challenges` wrote.",
            show_default="the set's own, and the output folder's challenges.json",
        ),
    ] = None,
    count: Annotated[
        str | None,
        typer.Option("--count", metavar="N", help="Only the first N.", show_default="all"),
    ] = None,
    no_templates: Annotated[
        bool, typer.Option("--no-templates", help="Paper only, no raised templates.")
    ] = False,
    output: options.Folder = None,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write challenge cards: cards/ID.svg at 1:1, cards/ID.stl to print, and sheets of A4."""
    from fabkit.build import cards as making

    report = Report(json, quiet, verbose)
    most = options.whole_number(count, "--count", None, 1, _MOST_COUNT)
    if file is not None and not file.strip():
        raise InputError.of("--file", "is empty; expected a challenge file")
    puzzle = load_set(set)
    effective = options.profile_for(puzzle, profile, settings)
    folder = options.set_folder(output, puzzle)
    starts = making.starts_of(puzzle, Path(file) if file else None, folder)
    made = making.cards_of(puzzle, making.chosen(starts, challenge or (), most))
    with report.shares("of the cards") as told:
        names, warnings = making.write_cards(
            folder, puzzle, made, effective, not no_templates, told
        )
    report.table(["card", "number", "difficulty", "given"], [_row(card) for card in made])
    for name in names:
        report.detail(f"wrote {folder / name}")
    report.say(f"wrote {many(len(made), 'card')} to {folder / making.FOLDER}; print at 100 %")
    for warning in warnings:
        report.warn(warning)
    report.document(
        {
            "set": puzzle.name,
            "output": str(folder),
            "profile": effective.name,
            "cards": [_document(card) for card in made],
            "files": names,
            "warnings": warnings,
        }
    )


def _row(card: Card) -> list[str]:
    given = [one.piece for one in card.challenge.given]
    return [card.challenge.id, str(card.number), card.difficulty or "not known", " ".join(given)]


def _document(card: Card) -> dict[str, object]:
    return {
        "id": card.challenge.id,
        "number": card.number,
        "board": card.board.id,
        "level": card.level or None,
        "score": card.score,
        "given": [one.piece for one in card.challenge.given],
    }
