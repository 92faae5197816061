"""`fabkit show`: the pieces of a set, its snowflakes, or one of its challenges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabkit.cli import drawings, options
from fabkit.cli.context import NO_EXIT, NOT_IN_TIME, Context, takes
from fabkit.cli.options import flag, option
from fabkit.cli.shipped import summary
from fabkit.core.errors import InputError, many, printable
from fabkit.core.units import format_mm
from fabkit.model.catalog import catalog_entries
from fabkit.model.entry import Entry
from fabkit.model.library import set_argument
from fabkit.model.piece import Piece, orientations
from fabkit.model.puzzle import PuzzleSet, area


@takes("set", "pieces", "profiles", "settings", "budget_s")
def show(
    context: Context,
    path: Path | None = option("-o --output FILE.svg|.png", "Draw to this file."),
    catalog: bool = flag("--catalog", "Show the set's snowflakes instead, if it has any."),
    challenge: str | None = option(
        "--challenge ID", "Show this challenge, board or snowflake instead."
    ),
    file: Path | None = option("--file FILE", "Show the challenge in this file, list or catalog."),
    solution: bool = flag("--solution", "With a challenge: draw a solution beside it."),
    steps: bool = flag("--steps", "With a challenge: draw the solution step by step."),
    grid: bool = flag("--grid", "With a challenge: draw the cells of its silhouette."),
    theme: str | None = drawings.THEME,
    width_px: int | None = drawings.WIDTH,
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
    from fabkit.build.entries import the_one

    puzzle = context.puzzle
    with context.report.progress() as told:
        entry = the_one(puzzle, challenge, file, context.budget_s, context.folder, told)
    lacking = (solution or steps) and entry.solution is None
    if target is not None and not lacking:
        from fabkit.output.challenge import challenge_sheet, steps_sheet

        unit_mm, look = context.profile.unit_mm, target.theme
        shown = entry if solution else replace(entry, solution=None)
        target.write(
            steps_sheet(puzzle, entry, unit_mm, look)
            if steps
            else challenge_sheet(puzzle, shown, unit_mm, theme=look, grid=grid),
            context.report,
        )
    _tell_challenge(context, entry)
    if lacking:
        why = "has no solution" if entry.status == "impossible" else NOT_IN_TIME
        context.report.say(f"{entry.id} {why}; nothing was drawn")
    elif target is not None:
        context.report.say(f"drawn in {target.path}")
    context.report.document(
        {
            "set": context.puzzle.name,
            "challenge": entry.id,
            "title": entry.title,
            "kind": entry.kind,
            "pieces": list(entry.pieces),
            "given": [one.piece for one in entry.given],
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


def _show_pieces(context: Context, target: drawings.Target | None) -> int:
    report, puzzle, profile = context.report, context.puzzle, context.profile
    pieces = puzzle.select(context.pieces)
    rows: list[dict[str, Any]] = [
        {
            "piece": piece.id,
            "label": piece.label,
            "colour": piece.colour,
            "area": [area(puzzle.lattice, form) for form in piece.forms],
            "corners": sum(len(ring) for ring in piece.forms[0].rings),
            "orientations": len(orientations(puzzle.lattice, piece, puzzle.flips)),
        }
        for piece in pieces
    ]
    if target is not None:
        from fabkit.output.pieces import piece_sheet

        target.write(piece_sheet(puzzle, pieces, profile, target.theme, report.warn), report)
    told = [row | {"area": " / ".join(f"{one:g}" for one in row["area"])} for row in rows]
    report.table(list(rows[0]), [list(row.values()) for row in told])
    count, unit = many(len(pieces), "piece"), format_mm(profile.unit_mm)
    report.say(f"{puzzle.title}: {count}, area {puzzle.area_of(pieces):g}, unit {unit}")
    if target is not None:
        report.say(f"drawn in {target.path}")
    alike = _alike(pieces)
    if alike:
        report.warn(f"pieces have the same label: {alike}; give them others in {puzzle.source}")
    report.document({**summary(puzzle), "pieces": rows})
    return 0


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
    rows = []
    for one in entries:
        count, score = known_count(one["count"], one["count_complete"]), one["difficulty"]["score"]
        rows.append([one["id"], one["parity"], _moves(one["flips"]), count, score])
    report.table(["snowflake", "parity", "moves", "solutions", "difficulty"], rows)
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


def _moves(flips: bool) -> str:
    return "rotations and flips" if flips else "rotations"


def known_count(count: int, complete: bool) -> str:
    """How many solutions there are, as a table says it.

    Example:
        >>> known_count(24, True), known_count(63404, False)
        ('24', '63,404 or more')
    """
    return f"{count:,}" if complete else f"{count:,} or more"


def _tell_challenge(context: Context, entry: Entry) -> None:
    """Prints a table of what is known of a challenge."""
    count = known_count(entry.count, entry.count_complete) if entry.count else "not known"
    score = "" if entry.score is None else f"{entry.score:.1f}"
    row = {
        "challenge": entry.id,
        "kind": entry.kind,
        "pieces": many(len(entry.pieces), "piece"),
        "given": " ".join(one.piece for one in entry.given),
        "moves": _moves(entry.flips),
        "solutions": "none" if entry.status == "impossible" else count,
        "difficulty": f"{entry.level} {score}".strip() or "not known",
    }
    context.report.table(list(row), [list(row.values())])
