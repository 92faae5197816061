"""`fabkit sets` and `fabkit show`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fabkit.base.files import write_whole
from fabkit.base.units import format_mm
from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.model.library import load_set, shipped_names
from fabkit.model.piece import Piece, orientations
from fabkit.model.puzzle import PuzzleSet, area


def sets(json: options.Json = False) -> None:
    """List the shipped sets: pieces, boards, challenges, lattice."""
    report = Report(json)
    found = [load_set(name) for name in shipped_names()]
    if not json:
        report.table(
            ["set", "title", "pieces", "boards", "challenges", "lattice", "moves"],
            [
                [
                    puzzle.name,
                    puzzle.title,
                    str(len(puzzle.pieces)),
                    str(len(puzzle.boards)),
                    str(len(puzzle.challenges)),
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
    profile: options.ProfileNames = None,
    settings: options.Settings = None,
    json: options.Json = False,
) -> None:
    """Show a set's pieces: a table here, and with -o a drawing at 1:1."""
    report = Report(json)
    puzzle = load_set(set)
    pieces = puzzle.select(piece or ())
    effective = options.profile_for(puzzle, profile, settings)
    if output is not None:
        from fabkit.sheet.pieces import piece_sheet

        drawing = options.output_path(output, "a file")
        write_whole(drawing, piece_sheet(puzzle, pieces, effective))
    rows = [_row(puzzle, one) for one in pieces]
    if not json:
        report.table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
        unit = format_mm(effective.unit_mm)
        report.say(f"{puzzle.title}: {len(pieces)} pieces, area {puzzle.area:g}, unit {unit}")
    if output is not None:
        report.say(f"drawn in {output}")
    report.document({**_summary(puzzle), "piece": rows})


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
    }


def _row(puzzle: PuzzleSet, piece: Piece) -> dict[str, Any]:
    """What the table says of a piece."""
    return {
        "piece": piece.id,
        "label": piece.label,
        "colour": piece.colour,
        "area": " / ".join(f"{area(puzzle.lattice, form):g}" for form in piece.forms),
        "corners": sum(len(ring) for ring in piece.forms[0].rings),
        "orientations": len(orientations(puzzle.lattice, piece, puzzle.flips)),
    }
