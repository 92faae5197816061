"""`fabkit challenges`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabkit.cli import options
from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many, shown
from fabkit.model.puzzle import Board, PuzzleSet

if TYPE_CHECKING:
    from fabkit.puzzles.graded.making import Made

MOST_COUNT, MOST_SEED = 10_000, 2**32 - 1
#: So much of a budget, and of the work, is finding challenges; the rest is proving them again.
_FINDING = 0.8
_MOST_DRAWN = 3
_MINIMAL, LEVELS = "minimal", ("starter", "junior", "expert", "master", "wizard")


@takes("set", "output")
def challenges(
    context: Context,
    count: int = option(
        "--count N", "Number of challenges (default: 20).", 20, read=options.whole(1, MOST_COUNT)
    ),
    given: str | None = option(
        "--given N|minimal",
        "Number of given pieces, or minimal for none to spare (default: a mix).",
    ),
    difficulty: str | None = option(
        "--difficulty LEVEL,...",
        "Only these levels: starter, junior, expert, master, wizard (default: all, evenly).",
        read=options.some_of(LEVELS, "level", "the levels are"),
        complete=lambda: LEVELS,
    ),
    seed: int = option(
        "--seed N",
        "Random seed; equal seeds give equal results (default: 1).",
        1,
        read=options.whole(0, MOST_SEED),
    ),
    board: str | None = option("--board ID", "The board (default: the set's first board)."),
    budget_s: float | None = option(
        "--budget SECONDS", "Stop after this time with what was found (default: no limit)."
    ),
) -> int:
    """Make challenges with exactly one solution, graded.

    Exit code 1 if there are fewer than asked for.
    """
    from fabkit.puzzles.graded import challengelist, subsets
    from fabkit.puzzles.graded.making import StartsQuery, board_named, make
    from fabkit.solve.engines.engine import Effort

    report, puzzle, folder, begin = context.report, context.puzzle, context.folder, context.begin
    place = board_named(puzzle, board)
    levels = tuple(difficulty or LEVELS)
    query = StartsQuery(count, place, _given(puzzle, place, given), levels, seed)
    if place is None:
        subsets.refuse_unsuited(puzzle)
    challengelist.refuse_folder(folder, puzzle)
    finding_s = None if budget_s is None else _FINDING * budget_s
    with report.shares("of the work") as told:
        finding = Effort(finding_s, lambda share: told(_FINDING * share), begin)
        proving = Effort(budget_s, lambda share: told(_FINDING + (1 - _FINDING) * share), begin)
        made = make(puzzle, query, finding, proving)
    if made.graded:
        written = challengelist.write(folder, made)
        _tell(made, report)
        first, last = [folder / challengelist.file_name(made.graded[at]) for at in (0, -1)]
        more = f" to {last.name}" if last != first else ""
        report.say(f"wrote {written}, and for `fabkit solve --file` {first}{more}")
    report.document(challengelist.document(made))
    if len(made.graded) < count:
        report.say(f"{len(made.graded)} of {many(count, 'challenge')}: {made.reason}")
        return NO_EXIT
    few = [level for level, found in made.levels.items() if len(found) < count // len(levels)]
    if few:
        report.say(f"no more of {' and '.join(few)} were found; other levels make up for it")
    return 0


def _tell(made: Made, report: Report) -> None:
    """The levels and how many; with ``-v`` every challenge, and drawings of the first."""
    from fabkit.cli import answers
    from fabkit.puzzles.graded.challengelist import table, title
    from fabkit.solve.answer import SOLVED, Answer

    report.table(*table(made))
    plain = Report(report.json, report.quiet)  # no engine is asked here that could be told of
    for one in made.graded[: _MOST_DRAWN if report.verbose else 0]:
        solved = Answer(SOLVED, "search", solutions=(one.solution,))
        answers.tell(one.posed, "first", solved, one.rating, plain)
    for one in made.graded:
        report.detail(f"{one.posed.challenge.id}: {title(one)}")


def _given(puzzle: PuzzleSet, board: Board | None, given: str | None) -> int | str | None:
    """What ``--given`` asks for.

    Raises:
        InputError: when it is no number of pieces that leaves one to place.
    """
    if given is None:
        return None
    if board is None:
        message = f"goes with a board, and {puzzle.name} has none; leave it out"
        raise InputError.of("--given", message)
    if given == _MINIMAL:
        return given
    most = len(puzzle.pieces) - 1
    try:
        found: int = options.whole(1, most)(given, "--given")
    except InputError:
        message = (
            f"expected minimal, or a whole number from 1 to {most}, since {puzzle.name} has "
            f"{many(most + 1, 'piece')}; found {shown(given)}"
        )
        raise InputError.of("--given", message) from None
    return found
