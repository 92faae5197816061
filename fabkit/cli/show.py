"""`fabkit show`: the pieces of a set, its snowflakes, or a challenge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabkit.cli import drawings
from fabkit.cli.context import (
    FAILURE_EXIT,
    OUT_OF_TIME,
    OfSet,
    WithBudget,
    WithPieces,
    WithSettings,
)
from fabkit.cli.options import exclusive, flag, option, refuse
from fabkit.cli.shipped import describe_set
from fabkit.core.errors import InputError, escape, pluralize
from fabkit.core.units import format_mm
from fabkit.model.piece import Piece, orientations
from fabkit.model.puzzle import MOVES, Entry, PuzzleSet, area
from fabkit.profiles.profile_file import set_note
from fabkit.sets.catalog import catalog_records, shipped_entries
from fabkit.sets.library import set_argument


class Show(WithBudget, WithSettings, WithPieces, OfSet):
    """Show the pieces of a set, its snowflakes, or a challenge.

    Prints a table; with -o, also draws to a file, pieces at 1:1.

    If --solution or --steps finds no solution, draws the challenge alone, with exit code 1.
    """

    path: Path | None = option("-o --output FILE.svg|.png", "Also draw to this file.")
    catalog: bool = flag("--catalog", "Show the set's catalog of snowflakes.")
    challenge: str | None = option("--challenge ID", "Show this challenge, board or snowflake.")
    file: Path | None = option("--file FILE", "Show the challenge in this file, list or catalog.")
    solution: bool = flag("--solution", "Draw a solution beside the challenge.")
    steps: bool = flag("--steps", "Draw the solution step by step.")
    grid: bool = flag("--grid", "Draw the cells of the challenge's silhouette.")
    theme: str | None = drawings.THEME()
    width_px: int | None = drawings.WIDTH()

    def run(self) -> int:
        target = drawings.drawing_file(self.path, self.theme, self.width_px)
        of_challenge = self.challenge is not None or self.file is not None
        first = "--file" if self.challenge is None else "--challenge"
        exclusive({first: of_challenge, "--piece": self.pieces, "--catalog": self.catalog})
        exclusive(self.options("solution steps"))
        if not of_challenge:
            message = "requires a challenge; add --challenge ID or --file FILE"
            refuse(self.options("solution steps grid"), message)
            return self._show_catalog(target) if self.catalog else self._show_pieces(target)
        from fabkit.output.numbering import title_of
        from fabkit.puzzles.entries import find_entry, stated_and_generated

        puzzle = self.puzzle
        with self.report.progress() as on_progress:
            entry = find_entry(
                puzzle, self.challenge, self.file, self.budget_s, self.folder, on_progress
            )
        lacking = (self.solution or self.steps) and not entry.solution
        if target is not None:
            from fabkit.output.challenge import challenge_sheet, steps_sheet

            unit_mm = self.profile.unit_mm
            shown = entry if self.solution else entry.with_result(solution=None)
            target.write(
                steps_sheet(puzzle, entry, unit_mm, target.theme)
                if self.steps and not lacking
                else challenge_sheet(puzzle, shown, unit_mm, theme=target.theme, grid=self.grid),
                self.report,
            )
        title = title_of(puzzle, entry, stated_and_generated(puzzle, self.folder))
        self._print_challenge(entry, title)
        if lacking:
            why = "has no solution" if entry.result.status == "impossible" else OUT_OF_TIME
            self.report.info(f"{entry.challenge.id} {why}")
        if target is not None:
            self.report.info(f"Wrote {target.path}")
        self.report.document(
            set=self.puzzle.name,
            challenge=entry.challenge.id,
            title=title,
            kind=entry.kind,
            pieces=list(entry.challenge.pieces),
            given=[placed.piece for placed in entry.challenge.given],
            flips=entry.challenge.flips,
            status=entry.result.status,
            count=entry.result.count,
            count_complete=entry.result.count_complete,
            level=entry.level or None,
            score=entry.score,
            file=None if target is None else str(target.path),
        )
        return FAILURE_EXIT if lacking else 0

    def _show_pieces(self, target: drawings.DrawingFile | None) -> int:
        report, puzzle, profile = self.report, self.puzzle, self.profile
        pieces = puzzle.select(self.pieces)
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
        cells = [row | {"area": " / ".join(f"{area:g}" for area in row["area"])} for row in rows]
        report.table(list(rows[0]), [list(row.values()) for row in cells])
        count, unit = pluralize(len(pieces), "piece"), format_mm(profile.unit_mm)
        report.info(f"{puzzle.title}: {count}, area {puzzle.area_of(pieces):g}, unit {unit}")
        if note := set_note(puzzle.profile_values, profile):
            report.info(note[0].upper() + note[1:])
        if target is not None:
            report.info(f"Wrote {target.path}")
        if alike := _shared_labels(pieces):
            report.warn(f"different pieces share a label: {alike}; change them in {puzzle.source}")
        if report.json:  # else the catalog need not be read
            report.document(**describe_set(puzzle) | {"pieces": rows})
        return 0

    def _show_catalog(self, target: drawings.DrawingFile | None) -> int:
        """Show the shipped snowflakes of a set."""
        report, puzzle = self.report, self.puzzle
        entries = shipped_entries(puzzle, "snowflake")
        if not entries:
            raise InputError.of(puzzle.name, f"has no catalog{_how_to_make_one(puzzle)}")
        if target is not None:
            from fabkit.output.challenge import snowflake_sheet

            target.write(snowflake_sheet(puzzle, entries, target.theme), report)
        from fabkit.output.i18n import load_messages
        from fabkit.output.numbering import titles_of

        titles = titles_of(puzzle, entries, load_messages("booklet", "en"))
        rows = []
        for entry, title in zip(entries, titles, strict=True):
            challenge = entry.challenge
            count = known_count(entry.result.count or 0, entry.result.count_complete)
            moves = MOVES[challenge.flips]
            rows.append([challenge.id, title, entry.parity, moves, count, entry.score])
        report.table(["snowflake", "title", "parity", "moves", "solutions", "difficulty"], rows)
        report.info(f"{puzzle.title}: {pluralize(len(entries), 'snowflake')}")
        if target is not None:
            report.info(f"Wrote {target.path}")
        report.document(set=puzzle.name, challenges=list(catalog_records(puzzle, "snowflake")))
        return 0

    def _print_challenge(self, entry: Entry, title: str) -> None:
        """Print a table of a challenge's properties."""
        count = "unknown"
        if entry.result.count:
            count = known_count(entry.result.count, entry.result.count_complete)
        score = "" if entry.score is None else f"{entry.score:.1f}"
        row = {
            "challenge": entry.challenge.id,
            "title": title,
            "kind": entry.kind,
            "pieces": pluralize(len(entry.challenge.pieces), "piece"),
            "given": " ".join(placed.piece for placed in entry.challenge.given),
            "moves": MOVES[entry.challenge.flips],
            "solutions": "none" if entry.result.status == "impossible" else count,
            "difficulty": f"{entry.level} {score}".strip() or "unknown",
        }
        self.report.table(list(row), [list(row.values())])


def _shared_labels(pieces: Sequence[Piece]) -> str:
    """Labels that different pieces share, as ``A (alpha, apple)``; empty if there are none."""
    named: dict[str, list[Piece]] = {}
    for piece in pieces:
        named.setdefault(piece.label, []).append(piece)
    return ", ".join(
        f"{escape(label)} ({', '.join(piece.id for piece in alike)})"
        for label, alike in named.items()
        if len({piece.forms for piece in alike}) > 1
    )


def _how_to_make_one(puzzle: PuzzleSet) -> str:
    """The command that makes a set's catalog, or why there is none."""
    from fabkit.puzzles.snowflakes.query import SnowflakeQuery

    command = f"`fabkit snowflakes {set_argument(puzzle)}`"
    try:
        SnowflakeQuery(puzzle, tuple(piece.id for piece in puzzle.pieces), flips=puzzle.flips)
    except InputError as error:
        return f", and {command} cannot make one: it {error.errors[0].message}"
    return f"; run {command} to make one"


def known_count(count: int, complete: bool) -> str:
    """A number of solutions, for tables.

    Example:
        >>> known_count(24, True), known_count(63404, False)
        ('24', '63,404 or more')
    """
    return f"{count:,}" if complete else f"{count:,} or more"
