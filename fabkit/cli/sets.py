"""`fabkit sets` and `fabkit show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fabkit.base.errors import InputError, many
from fabkit.base.files import write_whole
from fabkit.base.units import format_mm
from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.model.catalog import catalog_entries
from fabkit.model.library import load_set, shipped_names
from fabkit.model.piece import Piece, orientations
from fabkit.model.puzzle import PuzzleSet, area


def sets(
    json: options.Json = False, quiet: options.Quiet = False, verbose: options.Verbose = False
) -> None:
    """List the shipped sets: pieces, boards, challenges, lattice."""
    report = Report(json, quiet, verbose)
    found = [load_set(name) for name in shipped_names()]
    if not json:
        report.table(
            ["set", "title", "pieces", "boards", "challenges", "snowflakes", "lattice", "moves"],
            [
                [
                    puzzle.name,
                    puzzle.title,
                    str(len(puzzle.pieces)),
                    str(len(puzzle.boards)),
                    str(len(puzzle.challenges)),
                    str(len(catalog_entries(puzzle))),
                    puzzle.lattice.name + (" (balls)" if puzzle.made_of_balls else ""),
                    "rotations and flips" if puzzle.flips else "rotations",
                ]
                for puzzle in found
            ],
        )
    report.document({"sets": [_summary(puzzle) for puzzle in found]})


def show(
    set: options.Set,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE.svg", help="Draw the pieces into this file."),
    ] = None,
    piece: options.PieceIds = None,
    catalog: Annotated[
        bool, typer.Option("--catalog", help="Show the set's snowflakes instead, if it has them.")
    ] = False,
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Show a set's pieces: a table here, and with -o a drawing at 1:1."""
    report = Report(json, quiet, verbose)
    drawing = options.file_path(output, "-o", ".svg")
    puzzle = load_set(set)
    if catalog:
        _show_catalog(puzzle, drawing, report)
        return
    pieces = puzzle.select(piece or ())
    effective = options.profile_for(puzzle, profile, settings)
    if drawing is not None:
        from fabkit.sheet.pieces import piece_sheet

        write_whole(drawing, piece_sheet(puzzle, pieces, effective))
    rows = [_row(puzzle, one) for one in pieces]
    if not json:
        report.table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])
    count, unit = many(len(pieces), "piece"), format_mm(effective.unit_mm)
    report.say(f"{puzzle.title}: {count}, area {puzzle.area_of(pieces):g}, unit {unit}")
    if drawing is not None:
        report.say(f"drawn in {drawing}")
    report.document({**_summary(puzzle), "pieces": rows})


def _show_catalog(puzzle: PuzzleSet, drawing: Path | None, report: Report) -> None:
    """The snowflakes that come with a set.

    Raises:
        InputError: when there are none.
    """
    entries = catalog_entries(puzzle)
    if not entries:
        message = f"comes without a catalog; `fabkit snowflakes {puzzle.name}` makes one"
        raise InputError.of(puzzle.name, message)
    if drawing is not None:
        from fabkit.sheet.snowflakes import snowflake_sheet

        write_whole(drawing, snowflake_sheet(puzzle, entries))
    if not report.json:
        head = ["snowflake", "parity", "moves", "solutions", "difficulty"]
        report.table(head, [_snowflake(entry) for entry in entries])
    report.say(f"{puzzle.title}: {many(len(entries), 'snowflake')}")
    if drawing is not None:
        report.say(f"drawn in {drawing}")
    report.document({"set": puzzle.name, "challenges": list(entries)})


def _snowflake(entry: dict[str, Any]) -> list[str]:
    moves = "rotations and flips" if entry["flips"] else "rotations"
    count = str(entry["count"]) if entry["count_complete"] else f"{entry['count']} or more"
    return [entry["id"], entry["parity"], moves, count, str(entry["difficulty"]["score"])]


def _summary(puzzle: PuzzleSet) -> dict[str, Any]:
    return {
        "set": puzzle.name,
        "title": puzzle.title,
        "lattice": puzzle.lattice.name,
        "flips": puzzle.flips,
        "area": puzzle.area,
        "pieces": [piece.id for piece in puzzle.pieces],
        "boards": [board.id for board in puzzle.boards],
        "challenges": [challenge.id for challenge in puzzle.challenges],
        "snowflakes": [entry["id"] for entry in catalog_entries(puzzle)],
    }


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
