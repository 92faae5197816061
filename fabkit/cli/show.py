"""`fabkit show`: the pieces of a set, its snowflakes, or one of its challenges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fabkit.cli import drawings, options
from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import option
from fabkit.cli.shipped import summary
from fabkit.core.errors import InputError, many, name_some, printable
from fabkit.core.units import format_mm
from fabkit.model.catalog import catalog_entries
from fabkit.model.entry import Entry
from fabkit.model.library import set_argument
from fabkit.model.piece import Piece, orientations
from fabkit.model.puzzle import PuzzleSet, area

_MOST_NAMED = 8


@takes("set", "pieces", "profiles", "settings", "budget_s")
def show(
    context: Context,
    path: Annotated[Path | None, option("-o --output FILE.svg|.png", "Draw to this file.")] = None,
    catalog: Annotated[
        bool, option("--catalog", "Show the set's snowflakes instead, if it has any.")
    ] = False,
    challenge: Annotated[
        str | None, option("--challenge ID", "Show this challenge, board or snowflake instead.")
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "--file FILE",
            "Show the challenge in this file, list or catalog.",
            read=options.path("a file"),
        ),
    ] = None,
    solution: Annotated[
        bool, option("--solution", "With a challenge: draw a solution beside it.")
    ] = False,
    steps: Annotated[
        bool, option("--steps", "With a challenge: draw the solution step by step.")
    ] = False,
    grid: Annotated[
        bool, option("--grid", "With a challenge: draw the cells of its silhouette.")
    ] = False,
    theme: drawings.Theme = None,
    width_px: drawings.Width = None,
) -> int:
    """Show the pieces of a set, its snowflakes, or a challenge.

    Prints a table; with -o also draws to a file, pieces at 1:1. Exit code 1 if a solution is asked
    for and there is none.
    """
    target = drawings.target(path, theme, width_px)
    asked = challenge is not None or file is not None
    first = "--file" if challenge is None else "--challenge"
    options.exclusive({first: asked, "--piece": context.pieces, "--catalog": catalog})
    options.exclusive({"--solution": solution, "--steps": steps})
    if not asked:
        drawn = {"--solution": solution, "--steps": steps, "--grid": grid}
        options.refuse(drawn, "is about a challenge; add --challenge ID or --file FILE")
        return (_show_catalog if catalog else _show_pieces)(context, target)
    entry = _entry(context, challenge, file)
    lacking = (solution or steps) and entry.solution is None
    if target is not None and not lacking:
        unit_mm = context.profile.unit_mm
        target.write(
            _drawn(context.puzzle, entry, unit_mm, target.theme, solution, steps, grid),
            context.report,
        )
    return _tell_challenge(context, entry, target, lacking)


def _show_pieces(context: Context, target: drawings.Target | None) -> int:
    report, puzzle, profile = context.report, context.puzzle, context.profile
    pieces = puzzle.select(context.pieces)
    if target is not None:
        from fabkit.output.pieces import piece_sheet

        sheet = piece_sheet(puzzle, pieces, profile, target.theme, report.warn)
        target.write(sheet, report)
    rows = [_row(puzzle, one) for one in pieces]
    report.table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])
    count, unit = many(len(pieces), "piece"), format_mm(profile.unit_mm)
    report.say(f"{puzzle.title}: {count}, area {puzzle.area_of(pieces):g}, unit {unit}")
    if target is not None:
        report.say(f"drawn in {target.path}")
    alike = _alike(pieces)
    if alike:
        report.warn(f"pieces have the same label: {alike}; give them others in {puzzle.source}")
    report.document({**summary(puzzle), "pieces": rows})
    return 0


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


def _alike(pieces: Sequence[Piece]) -> str:
    """Which unequal pieces have a label in common: ``A (alpha, apple)``; empty when none have."""
    named: dict[str, list[Piece]] = {}
    for piece in pieces:
        named.setdefault(piece.label, []).append(piece)
    return ", ".join(
        f"{printable(label)} ({', '.join(one.id for one in alike)})"
        for label, alike in named.items()
        if len({one.forms for one in alike}) > 1
    )


def _show_catalog(context: Context, target: drawings.Target | None) -> int:
    """The snowflakes that come with a set.

    Raises:
        InputError: when there are none.
    """
    report, puzzle = context.report, context.puzzle
    entries = catalog_entries(puzzle)
    if not entries:
        raise InputError.of(puzzle.name, f"comes without a catalog{_how_to_make_one(puzzle)}")
    if target is not None:
        from fabkit.output.challenge import snowflake_sheet

        target.write(snowflake_sheet(puzzle, entries, target.theme), report)
    head = ["snowflake", "parity", "moves", "solutions", "difficulty"]
    report.table(head, [_snowflake(entry) for entry in entries])
    report.say(f"{puzzle.title}: {many(len(entries), 'snowflake')}")
    if target is not None:
        report.say(f"drawn in {target.path}")
    report.document({"set": puzzle.name, "challenges": list(entries)})
    return 0


def _how_to_make_one(puzzle: PuzzleSet) -> str:
    """By which command a set gets a catalog, or why by none."""
    from fabkit.puzzles.snowflakes.query import SnowflakeQuery

    command = f"`fabkit snowflakes {set_argument(puzzle)}`"
    try:
        SnowflakeQuery(puzzle, tuple(piece.id for piece in puzzle.pieces), flips=puzzle.flips)
    except InputError as error:
        return f", and {command} cannot make one: it {error.faults[0].message}"
    return f"; {command} makes one"


def _snowflake(entry: dict[str, Any]) -> list[object]:
    count = known_count(entry["count"], entry["count_complete"])
    score = entry["difficulty"]["score"]
    return [entry["id"], entry["parity"], _moves(entry["flips"]), count, score]


def _moves(flips: bool) -> str:
    return "rotations and flips" if flips else "rotations"


def known_count(count: int, complete: bool) -> str:
    """How many solutions there are, as a table says it.

    Example:
        >>> known_count(24, True), known_count(63404, False)
        ('24', '63,404 or more')
    """
    return f"{count:,}" if complete else f"{count:,} or more"


def _entry(context: Context, challenge: str | None, file: Path | None) -> Entry:
    """The challenge that is meant: the one of an id, or the only one of a file.

    Raises:
        InputError: when there is none, or several.
    """
    from fabkit.build.entries import Selection, gather

    puzzle, folder = context.puzzle, context.folder
    files = () if file is None else (file,)
    only = () if challenge is None else (challenge,)
    if file is not None and not only:  # which there are is known without solving any
        entries = gather(puzzle, Selection(files), folder, budget_s=0.0)
        if len(entries) > 1:
            ids = name_some([entry.id for entry in entries], _MOST_NAMED)
            message = f"holds {len(entries)} challenges; choose one with --challenge: {ids}"
            raise InputError.of(printable(str(file)), message)
    with context.report.progress() as told:
        selection = Selection(files, only)
        (entry,) = gather(puzzle, selection, folder, told, context.budget_s)
    return entry


def _drawn(
    puzzle: PuzzleSet,
    entry: Entry,
    unit_mm: float,
    theme: str,
    solution: bool,
    steps: bool,
    grid: bool,
) -> str:
    """The drawing that is wanted."""
    from fabkit.output.challenge import challenge_sheet, steps_sheet

    if steps:
        return steps_sheet(puzzle, entry, unit_mm, theme)
    shown = entry if solution else replace(entry, solution=None)
    return challenge_sheet(puzzle, shown, unit_mm, theme=theme, grid=grid)


def _tell_challenge(
    context: Context, entry: Entry, target: drawings.Target | None, lacking: bool
) -> int:
    """Prints what is known of a challenge; returns the exit code."""
    report = context.report
    impossible = entry.status == "impossible"
    count = known_count(entry.count, entry.count_complete) if entry.count else "not known"
    score = "" if entry.score is None else f"{entry.score:.1f}"
    given = [one.piece for one in entry.given]
    row = {
        "challenge": entry.id,
        "kind": entry.kind,
        "pieces": many(len(entry.pieces), "piece"),
        "given": " ".join(given),
        "moves": _moves(entry.flips),
        "solutions": "none" if impossible else count,
        "difficulty": f"{entry.level} {score}".strip() or "not known",
    }
    report.table(list(row), [list(row.values())])
    if lacking:
        why = "has no solution" if impossible else "was not solved in time (--budget)"
        report.say(f"{entry.id} {why}; nothing was drawn")
    elif target is not None:
        report.say(f"drawn in {target.path}")
    report.document(
        {
            "set": context.puzzle.name,
            "challenge": entry.id,
            "title": entry.title,
            "kind": entry.kind,
            "pieces": list(entry.pieces),
            "given": given,
            "flips": entry.flips,
            "status": entry.status,
            "count": entry.count,
            "count_complete": entry.count_complete,
            "level": entry.level or None,
            "score": entry.score,
            "file": None if target is None or lacking else str(target.path),
        }
    )
    return NO_EXIT if lacking else 0
