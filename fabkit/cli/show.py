"""`fabkit show`: the pieces of a set, its snowflakes, or one of its challenges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fabkit.cli import drawings, options
from fabkit.cli.context import Context, takes
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.cli.sets import summary
from fabkit.core.errors import InputError, many, printable
from fabkit.core.units import format_mm
from fabkit.model.catalog import catalog_entries
from fabkit.model.library import set_argument
from fabkit.model.piece import Piece, orientations
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, area


@takes("set", "pieces", "profiles", "settings", "budget_s")
def show(
    context: Context,
    path: Annotated[
        Path | None,
        option(
            "-o",
            "--output",
            metavar="FILE.svg|.png",
            read=options.file(".svg", ".png"),
            help="Draw to this file.",
        ),
    ] = None,
    catalog: Annotated[
        bool, option("--catalog", help="Show the set's snowflakes instead, if it has any.")
    ] = False,
    challenge: Annotated[
        str | None,
        option(
            "--challenge", metavar="ID", help="Show this challenge, board or snowflake instead."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "--file",
            metavar="FILE",
            read=options.path("a file"),
            help="Show the challenge in this file, list or catalog.",
        ),
    ] = None,
    solution: Annotated[
        bool, option("--solution", help="With a challenge: draw a solution beside it.")
    ] = False,
    steps: Annotated[
        bool, option("--steps", help="With a challenge: draw the solution step by step.")
    ] = False,
    grid: Annotated[
        bool, option("--grid", help="With a challenge: draw the cells of its silhouette.")
    ] = False,
    theme: drawings.Theme = None,
    width_px: drawings.Width = None,
) -> int:
    """Show the pieces of a set, its snowflakes, or a challenge.

    Prints a table; with -o also draws to a file, pieces at 1:1. Exit code 1 if a solution is asked
    for and there is none.
    """
    report, pieces = context.report, context.pieces
    target = drawings.target(path, theme, width_px)
    asked = {"--challenge": challenge is not None, "--file": file is not None}
    one = next((option for option, given in asked.items() if given), None)
    _refuse_together(one, {"--piece": pieces, "--catalog": catalog})
    _refuse_together("--catalog" if catalog else None, {"--piece": pieces})
    if one is None:
        _refuse_without({"--solution": solution, "--steps": steps, "--grid": grid})
    puzzle, profile = context.puzzle, context.profile
    if one is not None:
        from fabkit.cli.challengeshown import Wish, show_challenge

        wish = Wish(challenge, file, solution, steps, grid)
        return show_challenge(context, wish, target)
    if catalog:
        _show_catalog(puzzle, target, report)
    else:
        _show_pieces(puzzle, puzzle.select(pieces), profile, target, report)
    return 0


def _refuse_together(option: str | None, others: dict[str, object]) -> None:
    """Refuses options that ask for something else than another one does."""
    for other, given in others.items():
        if option is not None and given:
            message = f"{other} and {option} ask for different drawings; leave one of them out"
            raise InputError.of("", message)


def _refuse_without(given: dict[str, bool]) -> None:
    """Refuses options that say how a challenge is drawn when there is none."""
    for name, wanted in given.items():
        if wanted:
            message = "is of a challenge's drawing; add --challenge ID or --file FILE"
            raise InputError.of(name, message)


def _show_pieces(
    puzzle: PuzzleSet,
    pieces: tuple[Piece, ...],
    profile: Profile,
    target: drawings.Target | None,
    report: Report,
) -> None:
    if target is not None:
        from fabkit.output.pieces import piece_sheet

        sheet = piece_sheet(puzzle, pieces, profile, target.theme, report.warn)
        target.write(sheet, report)
    rows = [_row(puzzle, one) for one in pieces]
    if not report.json:
        report.table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])
    count, unit = many(len(pieces), "piece"), format_mm(profile.unit_mm)
    report.say(f"{puzzle.title}: {count}, area {puzzle.area_of(pieces):g}, unit {unit}")
    if target is not None:
        report.say(f"drawn in {target.path}")
    alike = _alike(pieces)
    if alike:
        report.warn(f"pieces have the same label: {alike}; give them others in {puzzle.source}")
    report.document({**summary(puzzle), "pieces": rows})


def _alike(pieces: Sequence[Piece]) -> str:
    """Which pieces have a label in common: ``A (alpha, apple)``; empty when none have."""
    named: dict[str, list[str]] = {}
    for piece in pieces:
        named.setdefault(piece.label, []).append(piece.id)
    return ", ".join(
        f"{printable(label)} ({', '.join(ids)})" for label, ids in named.items() if len(ids) > 1
    )


def _show_catalog(puzzle: PuzzleSet, target: drawings.Target | None, report: Report) -> None:
    """The snowflakes that come with a set.

    Raises:
        InputError: when there are none.
    """
    entries = catalog_entries(puzzle)
    if not entries:
        raise InputError.of(puzzle.name, f"comes without a catalog{_how_to_make_one(puzzle)}")
    if target is not None:
        from fabkit.output.snowflakes import snowflake_sheet

        target.write(snowflake_sheet(puzzle, entries, target.theme), report)
    if not report.json:
        head = ["snowflake", "parity", "moves", "solutions", "difficulty"]
        report.table(head, [_snowflake(entry) for entry in entries])
    report.say(f"{puzzle.title}: {many(len(entries), 'snowflake')}")
    if target is not None:
        report.say(f"drawn in {target.path}")
    report.document({"set": puzzle.name, "challenges": list(entries)})


def _how_to_make_one(puzzle: PuzzleSet) -> str:
    """By which command a set gets a catalog, or why by none."""
    from fabkit.puzzles.snowflakes.wish import Wish

    command = f"`fabkit snowflakes {set_argument(puzzle)}`"
    try:
        Wish(puzzle, tuple(piece.id for piece in puzzle.pieces), flips=puzzle.flips)
    except InputError as error:
        return f", and {command} cannot make one: it {error.faults[0].message}"
    return f"; {command} makes one"


def _snowflake(entry: dict[str, Any]) -> list[str]:
    from fabkit.cli.challengeshown import known_count

    moves = "rotations and flips" if entry["flips"] else "rotations"
    count = known_count(entry["count"], entry["count_complete"])
    return [entry["id"], entry["parity"], moves, count, str(entry["difficulty"]["score"])]


def _row(puzzle: PuzzleSet, piece: Piece) -> dict[str, Any]:
    """What is said of a piece; ``area`` holds one number for each flat form."""
    return {
        "piece": piece.id,
        "label": piece.label,
        "colour": piece.colour,
        "area": [area(puzzle.lattice, form) for form in piece.forms],
        "corners": sum(len(ring) for ring in piece.forms[0].rings),
        "orientations": len(orientations(puzzle.lattice, piece, puzzle.flips)),
    }


def _cell(value: object) -> str:
    """A value in the terminal's table."""
    return " / ".join(f"{one:g}" for one in value) if isinstance(value, list) else str(value)
