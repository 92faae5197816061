"""`fabkit sets`: the shipped sets."""

from __future__ import annotations

from typing import Any

from fabkit.cli.context import Context, takes
from fabkit.model.catalog import catalog_entries
from fabkit.model.library import load_set, shipped_names
from fabkit.model.puzzle import PuzzleSet


@takes()
def sets(context: Context) -> None:
    """List the shipped sets."""
    report = context.report
    found = [load_set(name) for name in shipped_names()]
    if not report.json:
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
    report.document({"sets": [summary(puzzle) for puzzle in found]})


def summary(puzzle: PuzzleSet) -> dict[str, Any]:
    """What is said of a set, for JSON."""
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
