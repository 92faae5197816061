"""`fabkit show --challenge`: one challenge of a set, its solution, or how it is put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fabkit.build.entries import Selection, gather
from fabkit.cli import drawings
from fabkit.cli.context import NO_EXIT, Context
from fabkit.core.errors import InputError, many, printable
from fabkit.model.entry import Entry
from fabkit.model.puzzle import PuzzleSet
from fabkit.solve.answer import IMPOSSIBLE

_MOST_NAMED = 8


@dataclass(frozen=True)
class Wish:
    """What is to be shown.

    Attributes:
        challenge: its id; None for the only one of the file.
        file: where it is; None for the set.
        solution: whether a solution is drawn beside it.
        steps: whether it is drawn how it is put together.
        grid: whether cells are drawn on its silhouette.
    """

    challenge: str | None
    file: Path | None
    solution: bool
    steps: bool
    grid: bool


def show_challenge(context: Context, wish: Wish, target: drawings.Target | None) -> int:
    """Shows a challenge: a table, and a drawing.

    Returns:
        The exit code: 1 when a solution was wanted and there is none.

    Raises:
        InputError: when there is no such challenge, or options contradict each other.
        OutsideError: when the file cannot be written.
    """
    if wish.solution and wish.steps:
        raise InputError.of("", "--solution and --steps exclude each other; choose one")
    puzzle, report, unit_mm = context.puzzle, context.report, context.profile.unit_mm
    entry = _entry(context, wish)
    lacking = (wish.solution or wish.steps) and entry.solution is None
    if target is not None and not lacking:
        target.write(_drawn(puzzle, entry, wish, unit_mm, target.theme), report)
    if not report.json:
        head = ["challenge", "kind", "pieces", "given", "moves", "solutions", "difficulty"]
        report.table(head, [_row(entry)])
    if lacking:
        impossible = entry.status == IMPOSSIBLE
        why = "has no solution" if impossible else "was not solved in time (--budget)"
        report.say(f"{entry.id} {why}; nothing was drawn")
    elif target is not None:
        report.say(f"drawn in {target.path}")
    report.document(_document(puzzle, entry, None if lacking else target))
    return NO_EXIT if lacking else 0


def _entry(context: Context, wish: Wish) -> Entry:
    """The challenge that is meant.

    Raises:
        InputError: when there is none, or several.
    """
    puzzle, folder, budget_s = context.puzzle, context.folder, context.budget_s
    files = () if wish.file is None else (wish.file,)
    only = () if wish.challenge is None else (wish.challenge,)
    if files and not only:
        # Which there are is known without solving any.
        _refuse_several(files[0], gather(puzzle, Selection(files), folder, budget_s=0.0))
    with context.report.progress() as told:
        (entry,) = gather(puzzle, Selection(files, only), folder, told, budget_s)
    return entry


def _refuse_several(file: Path, entries: list[Entry]) -> None:
    """Refuses a file with several challenges when none of them was named."""
    if len(entries) > 1:
        ids = [entry.id for entry in entries[:_MOST_NAMED]]
        more = f" and {len(entries) - len(ids)} more" if len(entries) > len(ids) else ""
        message = f"holds {len(entries)} challenges; choose one with --challenge: {', '.join(ids)}"
        raise InputError.of(printable(str(file)), message + more)


def _drawn(puzzle: PuzzleSet, entry: Entry, wish: Wish, unit_mm: float, theme: str) -> str:
    """The drawing that is wanted."""
    from fabkit.output.challenge import challenge_sheet
    from fabkit.output.steps import steps_sheet

    if wish.steps:
        return steps_sheet(puzzle, entry, unit_mm, theme)
    shown = entry if wish.solution else replace(entry, solution=None)
    return challenge_sheet(puzzle, shown, unit_mm, theme=theme, grid=wish.grid)


def _row(entry: Entry) -> list[str]:
    """What is said of a challenge in the terminal."""
    moves = "rotations and flips" if entry.flips else "rotations"
    difficulty = "" if entry.score is None else f"{entry.score:.1f}"
    named = " ".join(part for part in (entry.level, difficulty) if part)
    pieces = many(len(entry.pieces), "piece")
    known = {IMPOSSIBLE: "none"}.get(entry.status, _count(entry))
    given = " ".join(one.piece for one in entry.given)
    return [entry.id, entry.kind, pieces, given, moves, known, named or "not known"]


def _count(entry: Entry) -> str:
    """How many solutions are known."""
    return known_count(entry.count, entry.count_complete) if entry.count else "not known"


def known_count(count: int, complete: bool) -> str:
    """How many solutions there are, as a table says it.

    Example:
        >>> known_count(24, True), known_count(63404, False)
        ('24', '63,404 or more')
    """
    return f"{count:,}" if complete else f"{count:,} or more"


def _document(puzzle: PuzzleSet, entry: Entry, target: drawings.Target | None) -> dict[str, object]:
    return {
        "set": puzzle.name,
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
        "file": None if target is None else str(target.path),
    }
