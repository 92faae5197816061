"""`fabkit challenges`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabkit.cli import options
from fabkit.cli.context import FAILURE_EXIT, Context, with_options
from fabkit.cli.options import option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, pluralize, quote
from fabkit.model.entry import LEVELS
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.graded import CLUE_KINDS

if TYPE_CHECKING:
    from fabkit.puzzles.graded.generate import GeneratedChallenges

#: The largest number of challenges to ask for.
MAX_COUNT = 10_000
#: The largest random seed.
MAX_SEED = 2**32 - 1
#: The share of the time limit for finding challenges; the rest is for proving them.
_FINDING = 0.8
_MAX_DRAWN = 3
_MINIMAL = "minimal"


@with_options("set", "output")
def challenges(
    context: Context,
    count: int = option(
        "--count N", "Number of challenges (default: 20).", 20, read=options.whole(1, MAX_COUNT)
    ),
    given: str | None = option(
        "--given N|minimal",
        "Number of given pieces, or minimal for as few as possible (default: a mix); with --clues, of "
        "cells.",
    ),
    clues: str | None = option(
        "--clues cells|colours|marks",
        "Tell the piece, the colour or the mark of some cells in place of given pieces.",
        read=options.one_of(CLUE_KINDS),
    ),
    difficulty: str | None = option(
        "--difficulty LEVEL,...",
        "Only these levels: starter, junior, expert, master, wizard (default: all, evenly).",
        read=options.some_of(LEVELS, "level"),
        complete=lambda: LEVELS,
    ),
    seed: int = option(
        "--seed N",
        "Random seed; equal seeds give equal results (default: 1).",
        1,
        read=options.whole(0, MAX_SEED),
    ),
    board: str | None = option("--board ID", "The board to fill (default: the set's first board)."),
    of: str | None = option(
        "--of ID,...",
        "Starting positions of these challenges and snowflakes instead of a board, or `all`.",
    ),
    budget_s: float | None = option(
        "--budget SECONDS", "Time limit; keeps the challenges found so far (default: none)."
    ),
) -> int:
    """Generate graded challenges with exactly one solution.

    Exit code 1 if fewer than --count are found.
    """
    from fabkit.puzzles.graded import challenge_list, subsets
    from fabkit.puzzles.graded.generate import ALL, ChallengeQuery, find_board, generate
    from fabkit.solve.engines.engine import Budget

    report, puzzle, folder = context.report, context.puzzle, context.folder
    begin = context.begin
    place = find_board(puzzle, board)
    levels = tuple(difficulty or LEVELS)
    if of is not None and (board or clues):
        raise InputError.of("--of", f"excludes {'--board' if board else '--clues'}; choose one")
    if clues and place is None:
        raise InputError.of("--clues", f"requires a board, and {puzzle.name} has none; omit it")
    begun = tuple(filter(None, map(str.strip, (of or "").split(","))))
    if of is not None and (not begun or (ALL in begun and len(begun) > 1)):
        message = f"expected ids, or {ALL} on its own, found {quote(of)}"
        raise InputError.of("--of", message)
    max_given, limit = len(puzzle.pieces) - 1, pluralize(len(puzzle.pieces), "piece")
    if clues and place is not None:
        max_given = len(place.cells)
        limit = f"a board of {pluralize(max_given, 'cell')}"
    given_pieces = _given(puzzle, bool(place or begun), given, max_given, limit)
    query = ChallengeQuery(count, place, given_pieces, levels, seed, begun, clues or "")
    if place is None and not begun:
        subsets.refuse_unsuitable(puzzle)
    challenge_list.refuse_folder(folder, puzzle)
    finding_s = None if budget_s is None else _FINDING * budget_s
    with report.progress("of the work") as progress:
        finding = Budget(finding_s, lambda share, _: progress(_FINDING * share, ""), begin)
        proving = Budget(
            budget_s, lambda share, _: progress(_FINDING + (1 - _FINDING) * share, ""), begin
        )
        generated = generate(puzzle, query, finding, proving)
    if generated.graded:
        written = challenge_list.write_list(folder, generated)
        _print_results(generated, report)
        first, last = [
            folder / challenge_list.file_name(generated.graded[index]) for index in (0, -1)
        ]
        more = f" to {last.name}" if last != first else ""
        report.info(f"Wrote {written}, and {first}{more} for `fabkit solve --file`")
    report.document(challenge_list.document(generated))
    if len(generated.graded) < count:
        report.info(
            f"Found {len(generated.graded)} of {pluralize(count, 'challenge')}: {generated.reason}"
        )
        return FAILURE_EXIT
    few = [
        level for level, graded in generated.levels.items() if len(graded) < count // len(levels)
    ]
    if few:
        report.info(f"Found no more of {' and '.join(few)}; other levels fill the list")
    return 0


def _print_results(generated: GeneratedChallenges, report: Report) -> None:
    """Print the levels; with ``-v`` also every challenge, the first ones with pictures."""
    from fabkit.cli.answers import print_layout, print_rating
    from fabkit.puzzles.graded.challenge_list import level_table, title

    report.table(*level_table(generated))
    challenges, solutions = generated.distinct.values()
    report.info(
        f"If images of each other count once, these are {pluralize(challenges, 'challenge')} "
        f"with {pluralize(solutions, 'solution')}"
    )
    for graded in generated.graded[: _MAX_DRAWN if report.verbose else 0]:
        if not report.json:
            print_layout(graded.encoded, graded.candidate.solution, report)
        report.info(f"{graded.encoded.challenge.id}: {title(graded)}")
        print_rating(graded.encoded, graded.rating, graded.level, graded.candidate.solution, report)
    for graded in generated.graded[_MAX_DRAWN:]:
        report.detail(f"{graded.encoded.challenge.id}: {title(graded)}")


def _given(
    puzzle: PuzzleSet, is_start: bool, given: str | None, max_given: int, limit: str
) -> int | str | None:
    """Read ``--given``.

    Raises:
        InputError: when it leaves no piece to place.
    """
    if given is None:
        return None
    if not is_start:
        message = f"requires a board, and {puzzle.name} has none; omit it"
        raise InputError.of("--given", message)
    if given == _MINIMAL:
        return given
    try:
        count: int = options.whole(1, max_given)(given, "--given")
    except InputError:
        message = (
            f"expected minimal, or a whole number from 1 to {max_given}, since {puzzle.name} has "
            f"{limit}; found {quote(given)}"
        )
        raise InputError.of("--given", message) from None
    return count
