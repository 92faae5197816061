"""`fabkit challenges`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabkit.cli.context import FAILURE_EXIT, OfSet, WithOutput
from fabkit.cli.options import one_of, option, some_of, whole
from fabkit.cli.report import Report
from fabkit.core.errors import pluralize
from fabkit.model.entry import LEVELS
from fabkit.puzzles.graded import CLUE_KINDS

if TYPE_CHECKING:
    from fabkit.puzzles.graded.generate import GeneratedChallenges

#: The largest number of challenges to ask for.
MAX_COUNT = 10_000
#: The largest random seed.
MAX_SEED = 2**32 - 1
_MAX_DRAWN = 3


class Challenges(WithOutput, OfSet):
    """Generate graded challenges with exactly one solution.

    Exit code 1 if fewer than --count are found.
    """

    count: int = option(
        "--count N", "Number of challenges (default: 20).", 20, read=whole(1, MAX_COUNT)
    )
    given: str | None = option(
        "--given N|minimal",
        "Number of given pieces, or minimal for as few as possible (default: a mix); with --clues, "
        "of cells.",
    )
    clues: str | None = option(
        "--clues cells|colours|marks",
        "Tell the piece, the colour or the mark of some cells in place of given pieces.",
        read=one_of(CLUE_KINDS),
    )
    difficulty: str | None = option(
        "--difficulty LEVEL,...",
        "Only these levels: starter, junior, expert, master, wizard (default: all, evenly).",
        read=some_of(LEVELS, "level"),
        complete=lambda: LEVELS,
    )
    seed: int = option(
        "--seed N",
        "Random seed; equal seeds give equal results (default: 1).",
        1,
        read=whole(0, MAX_SEED),
    )
    board: str | None = option("--board ID", "The board to fill (default: the set's first board).")
    of: str | None = option(
        "--of ID,...",
        "Starting positions of these challenges and snowflakes instead of a board, or `all`.",
    )
    budget_s: float | None = option(
        "--budget SECONDS", "Time limit; keeps the challenges found so far (default: none)."
    )

    def run(self) -> int:
        from fabkit.puzzles.graded import challenge_list
        from fabkit.puzzles.graded.generate import generate, read_query

        report, puzzle, folder = self.report, self.puzzle, self.folder
        kind = self.count, self.given, self.clues, self.difficulty
        query = read_query(puzzle, *kind, self.seed, self.board, self.of)
        challenge_list.refuse_folder(folder, puzzle)
        with report.progress("of the work") as progress:
            generated = generate(puzzle, query, self.budget_s, progress, self.begin)
        if generated.graded:
            written = challenge_list.write_list(folder, generated)
            _print_results(generated, report)
            ends = generated.graded[0], generated.graded[-1]
            first, last = (folder / challenge_list.file_name(graded) for graded in ends)
            more = f" to {last.name}" if last != first else ""
            report.info(f"Wrote {written}, and {first}{more} for `fabkit solve --file`")
        report.document(**challenge_list.document(generated))
        if len(generated.graded) < self.count:
            of_count = f"{len(generated.graded)} of {pluralize(self.count, 'challenge')}"
            report.info(f"Found {of_count}: {generated.reason}")
            return FAILURE_EXIT
        few = [
            level
            for level, graded in generated.levels.items()
            if len(graded) < self.count // len(query.levels)
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
