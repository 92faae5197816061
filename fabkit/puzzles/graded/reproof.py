"""Uniqueness proved a second time, by CaDiCaL, which shares no search with the first engine.

Every challenge is posed anew, as if it were read from its file. Starting CaDiCaL's process takes
longer than most proofs, so one process proves them all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from fabkit.core.errors import OutsideError
from fabkit.puzzles.graded.grading import Graded
from fabkit.solve.engines.apart import answers
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Solution
from fabkit.solve.engines.sat import Sat
from fabkit.solve.problem import ExactCoverProblem, Option

ENGINE = Sat.name


def proved_again(graded: Sequence[Graded], effort: Effort) -> tuple[Graded, ...]:
    """Those challenges of which the second engine finds as many solutions as the first.

    Args:
        graded: challenges with the counts of the first engine.
        effort: budget and progress.

    Returns:
        All of them; only the first ones when the time was over.

    Raises:
        OutsideError: when the engines contradict each other, or the second breaks down.

    Example:
        >>> proved_again((), Effort())
        ()
    """
    if not graded:
        return ()
    counted = 0
    jobs = [_job(one.posed.problem, one.candidate.count) for one in graded]
    with (
        contextlib.suppress(BudgetSpentError),
        contextlib.closing(answers(_count_all, jobs, effort.part(0.0, 0.0))) as counts,
    ):
        for one, count in zip(graded, counts, strict=False):
            _compare(one, count)
            counted += 1
            effort.tell(counted / len(graded))
    return tuple(graded[:counted])


def _compare(one: Graded, count: int) -> None:
    expected = one.candidate.count
    if count != expected:
        letters = ", ".join(one.candidate.challenge.pieces)
        raise OutsideError(
            f"the engines contradict each other: one finds {expected}, {ENGINE} {count} solutions "
            f"of a challenge of the pieces {letters}; nothing was written, please report this"
        )


def _job(problem: ExactCoverProblem, count: int) -> dict[str, Any]:
    return {
        "options": [(option.kind, option.cells) for option in problem.options],
        "cells": problem.cell_count,
        "copies": problem.copies,
        "most": count + 1,
    }


def _count_all(jobs: Any, answer: Callable[[int], None]) -> None:
    """Counts the solutions of each problem, to one more than expected; in a process of its own."""
    for job in jobs:
        options = tuple(Option(kind, tuple(cells)) for kind, cells in job["options"])
        problem = ExactCoverProblem(job["cells"], tuple(job["copies"]), options)
        found: list[Solution] = []
        Sat.seek(problem, job["most"], found.append)
        answer(len(found))
