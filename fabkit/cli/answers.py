"""What `fabkit solve` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabkit.cli.report import Report
from fabkit.core.errors import many
from fabkit.solve.answer import IMPOSSIBLE, SOLVED, UNKNOWN, Answer, starts
from fabkit.solve.difficulty import Difficulty, difficulty
from fabkit.solve.engines.engine import Effort
from fabkit.solve.posing import PosedChallenge
from fabkit.solve.told import picture, verdict

#: How many solutions remain with a piece, by its kind, on some cells.
Counts = Mapping[tuple[int, tuple[int, ...]], int]
_MOST_SHOWN = 3
_MOST_LISTED = 10


def tell(
    posed: PosedChallenge, question: str, answer: Answer, rating: Difficulty | None, report: Report
) -> None:
    """Says what was found."""
    if not report.json:
        for solution in answer.solutions[:_MOST_SHOWN]:
            for line in picture(posed, posed.layout(solution)):
                report.say(line)
            report.say("")
        if len(answer.solutions) > _MOST_SHOWN:
            report.say(f"… and {len(answer.solutions) - _MOST_SHOWN} more, with --json")
    report.say(f"{posed.challenge.id}: {verdict(posed, question, answer)}")
    if rating is not None:
        report.say(
            f"difficulty {rating.score:.1f} ({rating.level}): {rating.tries:.0f} tries, "
            f"{rating.free_moves:.1f} free moves on the way"
        )
    unit = "state" if answer.engine == "count" else "node"
    report.detail(f"engine {answer.engine}, {many(answer.nodes, unit)}, {answer.seconds:.2f} s")


def rating(posed: PosedChallenge, answer: Answer, budget_s: float | None) -> Difficulty | None:
    """How hard the challenge is; None when it has no solution, or none is found in time."""
    if answer.status == IMPOSSIBLE:
        return None
    return difficulty(posed.problem, answer.count, Effort(budget_s))


def tell_starts(posed: PosedChallenge, effort: Effort, report: Report) -> int:
    """Says how many solutions every start leaves; returns the exit code."""
    found = starts(posed, effort)
    document: dict[str, Any] = {"set": posed.puzzle.name, "challenge": posed.challenge.id}
    if found is None:
        report.say(f"{posed.challenge.id}: unknown: the budget was spent before all was counted")
        report.document({**document, "status": UNKNOWN, "count": None})
        return 1
    options, solved = posed.problem.options, SOLVED if found.solutions else IMPOSSIBLE
    document |= {"status": solved, "count": found.solutions}
    report.say(f"{posed.challenge.id}: {many(found.solutions, 'solution')}")
    placed = {(options[at].kind, options[at].cells): n for at, n in found.placements.items()}
    clues: Counts = {(kind, (cell,)): n for (kind, cell), n in found.clues.items()}
    title = "clues of one cell and the piece that covers it"
    document["placements"] = _tell_counts("starts of one placed piece", placed, posed, report)
    document["clues"] = _tell_counts(title, clues, posed, report)
    report.document(document)
    return 0 if found.solutions else 1


def _tell_counts(
    title: str, counts: Counts, posed: PosedChallenge, report: Report
) -> dict[str, Any]:
    """Says how many solutions remain with a piece on some cells; returns what scripts are told."""
    possible = [count for count in counts.values() if count]
    report.say(f"{title}: {len(counts)}, of which {len(possible)} have a solution")
    least = min(possible, default=0)
    each: list[Any] = []
    best: list[str] = []
    never: list[str] = []
    for (kind, cells), count in counts.items():
        piece = posed.kinds[kind][0]
        drawn_as, drawn = posed.drawn(frozenset(posed.cells[one] for one in cells))
        each.append({"piece": piece, drawn_as: drawn, "count": count})
        if count in (0, least):
            (best if count else never).append(f"{piece} {_spelt(drawn)}")
    if best:
        what = "exactly one solution" if least == 1 else f"the fewest, {least} solutions"
        report.say(f"  with {what}: {len(best)}")
        for start in best[:_MOST_LISTED]:
            report.say(f"    {start}")
        if len(best) > _MOST_LISTED:
            report.say(f"    … and {len(best) - _MOST_LISTED} more, with --json")
        if 0 < len(never) <= _MOST_LISTED:
            report.say(f"  impossible: {', '.join(never)}")
    return {
        "total": len(each),
        "possible": len(possible),
        "unique": possible.count(1),
        "fewest": least,
        "each": each,
    }


def _spelt(drawn: list[Any]) -> str:
    """Cells or an outline's corners on one line; holes after a bar."""
    if isinstance(drawn[0][0], tuple):
        return " | ".join(map(_spelt, drawn))
    return " ".join(map(str, drawn))
