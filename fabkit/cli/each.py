"""`fabkit solve --each`: the answers to one question about many challenges."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from typing import Any

from fabkit.cli.context import FAILURE_EXIT, Command
from fabkit.cli.options import exclusive
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, join_names, no_such, pluralize
from fabkit.core.formats import csv_text
from fabkit.core.signals import cleanup_on_signal
from fabkit.model.puzzle import PuzzleSet

#: Longer tables are shown with ``-v`` only.
_LONGEST_TABLE = 400
#: At most this many challenges without a solution are named.
_MOST_NAMED = 20


def solve_each(
    command: Command,
    family: str | None,
    question: str,
    budget_s: float | None,
    resume: Path | None,
    as_csv: bool,
) -> int:
    """Solve all members of a family, or all challenges of the set, and print the answers.

    Exit code 1 if some have no solution, with ``unique`` if some have another number than one.
    """
    from fabkit.jobs.checkpoint import Checkpoint
    from fabkit.jobs.parallel import core_count
    from fabkit.jobs.run import local_pool
    from fabkit.solve.answer import UNKNOWN
    from fabkit.solve.each import QUESTIONS, EachQuery
    from fabkit.solve.each import solve_each as answers_to

    if question not in QUESTIONS:
        raise InputError.of("--each", f"excludes --{question}; ask --first, --count or --unique")
    exclusive(command.options("csv json"))
    puzzle = command.puzzle
    # The table goes to standard output, all else to standard error.
    report = (
        Report(True, command.report.quiet, command.report.verbose) if as_csv else command.report
    )
    query = EachQuery(puzzle, _family(puzzle, family), question, budget_s)
    if not query.names():
        raise InputError.of(puzzle.name, "has no challenge and no board to solve")
    message = "stopped"
    if resume is not None:
        again = shlex.join(["--resume", str(resume)])
        message += f"; progress is saved; to continue, run the same command with {again}"
    with ExitStack() as stack:
        stack.enter_context(cleanup_on_signal(lambda: message))
        pool = stack.enter_context(local_pool(core_count()))
        checkpoint = None
        if resume is not None:
            checkpoint = stack.enter_context(Checkpoint(resume, query.fingerprint))
        progress = stack.enter_context(report.progress("of the challenges"))
        answers = answers_to(query, pool, checkpoint, progress)
    rows = [[answer.challenge, answer.status, answer.count, answer.unique] for answer in answers]
    head = ["challenge", "status", "count", "unique"]
    columns = [0, 1] if question == "first" else [0, 1, head.index(question)]
    table = [["" if row[column] is None else row[column] for column in columns] for row in rows]
    summary = _summary(rows, question)
    if as_csv:
        print(csv_text([[head[column] for column in columns], *table]), end="")
    elif len(rows) <= _LONGEST_TABLE or report.verbose:
        report.table([head[column] for column in columns], table)
    report.info(_summary_text(query.family or puzzle.name, summary))
    command.report.document(
        set=puzzle.name,
        family=query.family or None,
        question=question,
        **summary,
        challenges=[{head[column]: row[column] for column in columns} for row in rows],
    )
    holds = [
        answer.unique if question == "unique" else answer.status != UNKNOWN for answer in answers
    ]
    return 0 if all(holds) and not summary["impossible"] else FAILURE_EXIT


def _family(puzzle: PuzzleSet, name: str | None) -> str:
    """Return the id of a family; empty for the challenges of the set."""
    ids = [family.id for family in puzzle.families]
    if name is None or name in ids:
        return name or ""
    message = "has no families; omit the name to solve its challenges"
    raise InputError.of(puzzle.name, no_such("family", name, ids) if ids else message)


def _summary(rows: Sequence[Sequence[Any]], question: str) -> dict[str, Any]:
    """Return the numbers of challenges by status, those without a solution, and the extremes."""
    summary: dict[str, Any] = {
        "solved": sum(status == "solved" for _, status, _, _ in rows),
        "impossible": [name for name, status, _, _ in rows if status == "impossible"],
        "unknown": [name for name, status, _, _ in rows if status == "unknown"],
    }
    counts = [[name, count] for name, _, count, _ in rows if count is not None]
    if question == "count" and counts:
        summary["fewest"] = min(counts, key=itemgetter(1))
        summary["most"] = max(counts, key=itemgetter(1))
        summary["total"] = sum(count for _, count in counts)
    if question == "unique":
        summary["unique"] = sum(unique is True for *_, unique in rows)
    return summary


def _summary_text(name: str, summary: dict[str, Any]) -> str:
    impossible, unknown = summary["impossible"], summary["unknown"]
    all_of_them = summary["solved"] + len(impossible) + len(unknown)
    text = f"{name}: {summary['solved']:,} of {pluralize(all_of_them, 'challenge')} solved"
    if "unique" in summary:
        text += f", {summary['unique']:,} with exactly one solution"
    if "total" in summary:
        (fewest, low), (highest, high) = summary["fewest"], summary["most"]
        text += (
            f", {summary['total']:,} solutions: fewest {fewest} {low:,}, most {highest} {high:,}"
        )
    if impossible:
        text += f"; without a solution: {join_names(impossible, _MOST_NAMED)}"
    if unknown:
        text += f"; not decided in time: {join_names(unknown, _MOST_NAMED)}"
    return text
