"""`fabkit cards`: starting positions to print, on paper and as raised templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fabkit.cli import options
from fabkit.cli.context import PRINTED, Context, takes
from fabkit.cli.options import argument, option
from fabkit.core.errors import many

if TYPE_CHECKING:
    from fabkit.output.card import Card

_MOST_COUNT = 10_000


@takes(*PRINTED, "force")
def cards(
    context: Context,
    challenge: Annotated[
        list[str] | None, argument("[CHALLENGE]...", "Starting positions by name (default: all).")
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "--file FILE",
            "A challenge file, or a list that `fabkit challenges` wrote (default: the set's "
            "challenges, and challenges.json in the output folder).",
            read=options.path("a challenge file"),
        ),
    ] = None,
    most: Annotated[
        int | None,
        option("--count N", "Only the first N (default: all).", read=options.whole(1, _MOST_COUNT)),
    ] = None,
    no_templates: Annotated[
        bool, option("--no-templates", "Omit the raised templates; paper only.")
    ] = False,
) -> None:
    """Write challenge cards to print.

    Writes cards/ID.svg at 1:1, raised templates as cards/ID.stl, and sheets of A4.
    """
    from fabkit.build import cards as making

    report, puzzle, effective = context.report, context.puzzle, context.profile
    folder = context.folder
    starts = making.starts_of(puzzle, file, folder)
    made = making.cards_of(puzzle, making.chosen(starts, challenge or (), most))
    with report.progress() as progress:
        names, warnings = making.write_cards(
            folder, puzzle, made, effective, not no_templates, progress, context.force
        )
    report.table(["card", "number", "difficulty", "given"], [_row(card) for card in made])
    for name in names:
        report.detail(f"wrote {folder / name}")
    report.say(f"wrote {many(len(made), 'card')} to {folder / 'cards'}; print at 100 %")
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
