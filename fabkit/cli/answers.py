"""The output of `fabkit solve`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from fabkit.cli.report import Report
from fabkit.core.errors import pluralize
from fabkit.model.entry import entry_of, level_of
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, Answer, count_starts
from fabkit.solve.difficulty import Difficulty, difficulty, solving_order
from fabkit.solve.encoding import EncodedChallenge, Layout
from fabkit.solve.engines.engine import Budget
from fabkit.solve.rendering import TERMINAL_COLUMNS, text_picture, verdict

#: The number of solutions with a piece, by its kind, on some cells.
Counts = Mapping[tuple[int, tuple[int, ...]], int]
_MAX_SHOWN = 3


def print_answer(
    encoded: EncodedChallenge,
    question: str,
    answer: Answer,
    rating: Difficulty | None,
    report: Report,
) -> None:
    """Print solutions, the verdict and the rating."""
    if not report.json:
        for solution in answer.solutions[:_MAX_SHOWN]:
            print_layout(encoded, encoded.decode(solution), report)
        if len(answer.solutions) > _MAX_SHOWN:
            report.info(f"… and {len(answer.solutions) - _MAX_SHOWN} more, with --json")
    report.info(f"{encoded.challenge.id}: {verdict(encoded, question, answer)}")
    if rating is not None:
        options_used = next(iter(answer.solutions), rating.solution)
        layout = None if options_used is None else encoded.decode(options_used)
        print_rating(encoded, rating, level_of(encoded.challenge, rating.score), layout, report)
    unit = "state" if answer.engine == "count" else "node"
    report.detail(
        f"engine {answer.engine}, {pluralize(answer.nodes, unit)}, {answer.seconds:.2f} s"
    )


def print_layout(encoded: EncodedChallenge, layout: Layout, report: Report) -> None:
    """Print a picture of a layout, and an empty line."""
    report.info(*text_picture(encoded, layout), "")


def print_rating(
    encoded: EncodedChallenge,
    rating: Difficulty,
    level: str,
    solution: Layout | None,
    report: Report,
) -> None:
    """Print the score and, if a solution is known, the first step of a person."""
    pieces = encoded.problem.pieces_used
    tried = pluralize(round(rating.tries), "piece")
    goal = "it fits" if pieces == 1 else f"all {pieces} fit"
    report.info(f"difficulty {rating.score:.1f} ({level}): about {tried} tried before {goal}")
    if solution is None or not pieces:
        return
    steps = solving_order(
        encoded.puzzle, entry_of(encoded.challenge).with_result(solution=solution)
    )
    forced = sum(step.options == 1 for step in steps)
    first = steps[0]
    report.info(f"in the best order, {forced} of {pluralize(pieces, 'piece')} have only one place")
    on = "" if first.cell is None else f" at {list(encoded.row_col(first.cell))}"
    report.info(f"start with {first.piece}{on}: {first}")


def rating(encoded: EncodedChallenge, answer: Answer, budget_s: float | None) -> Difficulty | None:
    """The difficulty of a challenge; None without a solution, or if the time limit is reached."""
    if answer.status == IMPOSSIBLE:
        return None
    return difficulty(encoded.problem, answer.count, Budget(budget_s))


def print_starts(encoded: EncodedChallenge, budget: Budget, report: Report) -> int:
    """Print how many solutions each starting position has; return the exit code."""
    counts = count_starts(encoded, budget)
    document: dict[str, Any] = {"set": encoded.puzzle.name, "challenge": encoded.challenge.id}
    if counts is None:
        report.info(f"{encoded.challenge.id}: unknown: time limit reached before counting finished")
        report.document(**document, status=UNKNOWN, count=None)
        return 1
    options = encoded.problem.options
    document |= {"status": SOLVED if counts.solutions else IMPOSSIBLE, "count": counts.solutions}
    report.info(f"{encoded.challenge.id}: {pluralize(counts.solutions, 'solution')}")
    placed = {
        (options[position].kind, options[position].cells): n
        for position, n in counts.placements.items()
    }
    clues: Counts = {(kind, (cell,)): n for (kind, cell), n in counts.clues.items()}
    title = "starts with one cell of a piece"
    document["placements"] = _print_counts("starts with one placed piece", placed, encoded, report)
    document["clues"] = _print_counts(title, clues, encoded, report)
    report.document(**document)
    return 0 if counts.solutions else 1


def _print_counts(
    title: str, counts: Counts, encoded: EncodedChallenge, report: Report
) -> dict[str, Any]:
    """Print how many solutions remain with a piece on some cells; return the JSON document."""
    counts = {place: count for place, count in counts.items() if encoded.kinds[place[0]]}
    possible = [count for count in counts.values() if count]
    report.info(f"{title}: {len(counts)}, of which {len(possible)} have a solution")
    fewest = min(possible, default=0)
    rows: list[Any] = []
    best: list[Layout] = []
    never: list[Layout] = []
    for (kind, positions), count in counts.items():
        piece = encoded.kinds[kind][0]
        cells = frozenset(encoded.cells[position] for position in positions)
        drawn_as, region = encoded.cells_or_outline(cells)
        rows.append({"piece": piece, drawn_as: region, "count": count})
        if count in (0, fewest):
            (best if count else never).append({piece: cells})
    if best:
        what = "exactly one solution" if fewest == 1 else f"the fewest, {fewest} solutions"
        _print_pictures(f"with {what}", best, encoded, report)
        if never:
            _print_pictures("without a solution", never, encoded, report)
    return {
        "total": len(rows),
        "possible": len(possible),
        "unique": possible.count(1),
        "fewest": fewest,
        "each": rows,
    }


def _print_pictures(
    title: str, layouts: Sequence[Layout], encoded: EncodedChallenge, report: Report
) -> None:
    """Print the number of layouts, and pictures of the first ones, side by side."""
    report.info(f"  {title}: {len(layouts)}")
    pictures = [text_picture(encoded, layout) for layout in layouts[:_MAX_SHOWN]]
    widths = [max(map(len, lines)) + 2 for lines in pictures]
    across = 1 if 2 + sum(widths) > TERMINAL_COLUMNS else len(pictures)
    for first in range(0, len(pictures), across):
        for row in zip_longest(*pictures[first : first + across], fillvalue=""):
            cells = (line.ljust(width) for line, width in zip(row, widths[first:], strict=False))
            report.info(f"    {''.join(cells)}".rstrip())
        report.info("")
    if len(layouts) > len(pictures):
        report.info(f"  … and {len(layouts) - len(pictures)} more, with --json")
