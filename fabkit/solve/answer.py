"""Solve a challenge: cheap infeasibility checks first, then an engine, then the requested counts.

Also count the solutions that remain once one piece, or one cell of it, is known.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain, product

from fabkit.core.errors import InputError
from fabkit.solve.encoding import EncodedChallenge
from fabkit.solve.engines.engine import (
    Budget,
    BudgetSpentError,
    Engine,
    Outcome,
    Solution,
    UnsupportedProblemError,
    get_engine,
)
from fabkit.solve.engines.search import Search, count_if_short, estimate_nodes, start_search
from fabkit.solve.engines.tree_search import run_in_slices
from fabkit.solve.exact_cover import ExactCoverProblem, burnside, fixed_problem
from fabkit.solve.infeasibility import find_infeasibility

#: The challenge has a solution.
SOLVED = "solved"
#: The challenge has no solution.
IMPOSSIBLE = "impossible"
#: The time or the nodes ran out first.
UNKNOWN = "unknown"
#: About how long the search runs alone before another engine takes over, in seconds.
_SEARCH_FIRST_S = 10.0
#: The same before a count: what takes longer by search is counted faster along the frontier.
_SEARCH_BEFORE_COUNT_S = 0.02
#: The same where time is limited: the search has a lower bound if the frontier does not get to the end.
_SEARCH_BEFORE_LIMITED_COUNT_S = 0.3
#: Time limit for counting up to symmetry, which comes last and must not delay the other results.
_SYMMETRY_S = 60.0
#: At most this many of the listed solutions are checked again.
_MAX_CHECKED = 10_000


@dataclass(frozen=True)
class Answer:
    """The result of solving a challenge.

    Attributes:
        status: ``solved``, ``impossible``, or ``unknown`` if the budget was spent first.
        count: number of solutions, identical pieces interchangeable; None if not all were counted.
        count_labelled: the same with identical pieces distinguished; None if it does not follow.
        count_at_least: lower bound when `count` is None.
        count_up_to_symmetry: solutions that are not rotations (or, with flips, reflections) of each
            other counted once; the boxes of a region, parts that do not touch, are moved one by one,
            and equal ones change places. None if unknown.
        unique: whether there is exactly one solution, not up to symmetry; None if unknown.
        engine: the engine that decided; ``presolve`` if none was needed.
        nodes: the engine's measure of work.
        reason: why there is no solution, if a check before the search showed it; empty otherwise.
        solutions: the listed solutions, as positions of options.
    """

    status: str
    count: int | None = None
    count_labelled: int | None = None
    count_at_least: int | None = None
    count_up_to_symmetry: int | None = None
    unique: bool | None = None
    engine: str = "presolve"
    nodes: int = 0
    seconds: float = 0.0
    reason: str = ""
    solutions: tuple[Solution, ...] = ()


def solve(
    encoded: EncodedChallenge,
    question: str = "first",
    engine_name: str | None = None,
    budget: Budget | None = None,
    limit: int | None = None,
) -> Answer:
    """Solve a challenge.

    Args:
        question: ``first``, ``count``, ``all`` or ``unique`` (is there exactly one solution?).
        engine_name: the engine to use; None selects one.
        budget: time limit and progress; None for no limit.
        limit: maximum number of solutions listed by ``all``.

    Returns:
        The answer. Its solutions (at most the first ten thousand) have been checked again.

    Raises:
        InputError: if the engine does not support the question or the challenge.
        ExternalError: if the engine's library is missing or fails.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.solve.encoding import to_exact_cover
        >>> fridgeiq = load_set("fridgeiq")
        >>> square = next(c for c in fridgeiq.challenges if c.id == "square_01")
        >>> solve(to_exact_cover(fridgeiq, square), "count").count
        4
    """
    budget = budget or Budget()
    begin = time.monotonic()
    infeasibility = find_infeasibility(encoded) if engine_name is None else None
    if infeasibility is not None:
        reason = "; ".join(filter(None, (infeasibility.reason, infeasibility.advice)))
        answer = Answer(IMPOSSIBLE, 0, 0, None, 0, False, reason=reason)
        budget.report(1.0)
    else:
        answer = _answer_question(encoded.problem, question, engine_name, budget, limit)
    return replace(answer, seconds=time.monotonic() - begin)


def count_solutions(problem: ExactCoverProblem, budget: Budget) -> tuple[int, bool]:
    """Count solutions as `solve` does; also return whether the count is complete."""
    _, outcome = _run_best_engine(problem, "count", budget, None)
    return outcome.count, outcome.complete


def _answer_question(
    problem: ExactCoverProblem, question: str, name: str | None, budget: Budget, limit: int | None
) -> Answer:
    """Run an engine and complete the counts."""
    if name is None:
        used, outcome = _run_best_engine(problem, question, budget, limit)
    else:
        named = get_engine(name)
        used = name
        outcome = _run_engine(named, problem, question, budget, limit)
        if outcome.complete and not named.trusted:  # confirmed, or corrected
            second = _run_engine(get_engine("search"), problem, question, budget, limit)
            if not second.complete:
                outcome = replace(max(outcome, second, key=lambda o: o.count), complete=False)
            elif outcome.count == second.count:
                used = f"{name}, confirmed by search"
            else:
                used = "search"
                outcome = second
    if question == "unique" and outcome.count and not outcome.solutions:  # it cannot list
        _, listed = _run_best_engine(problem, "first", budget, None)
        outcome = replace(outcome, solutions=listed.solutions)
    for solution in outcome.solutions[:_MAX_CHECKED]:
        if not problem.is_solved_by(solution):
            raise AssertionError(f"the engine {used} gave a wrong solution: {solution}")
    count = outcome.count if outcome.complete else None
    nothing = IMPOSSIBLE if outcome.complete else UNKNOWN
    return Answer(
        SOLVED if outcome.count else nothing,
        engine=used,
        count=count,
        count_labelled=None if count is None else problem.labelled(count),
        count_at_least=outcome.count if count is None and outcome.count else None,
        count_up_to_symmetry=None
        if count is None
        else _count_up_to_symmetry(problem, count, budget),
        unique=outcome.count == 1 if outcome.complete else (False if outcome.count > 1 else None),
        solutions=outcome.solutions,
        nodes=outcome.nodes,
    )


def _run_best_engine(
    problem: ExactCoverProblem,
    question: str,
    budget: Budget,
    limit: int | None,
    wants_bound: bool = True,
) -> tuple[str, Outcome]:
    """Try the engines, the one likely to be fastest first.

    Args:
        wants_bound: whether a count that the budget ends is of use.
    """
    if question == "all":
        return "search", _run_engine(get_engine("search"), problem, question, budget, limit)
    counting = question == "count"
    if counting and (budget.limit_s is None or not wants_bound):
        outcome = count_if_short(problem, estimate_nodes(problem, _SEARCH_BEFORE_COUNT_S), budget)
    else:
        seconds = _SEARCH_BEFORE_LIMITED_COUNT_S if counting else _SEARCH_FIRST_S
        alone = Search(estimate_nodes(problem, seconds))
        outcome = _run_engine(alone, problem, question, budget, limit)
    enough = 2 if question == "unique" else 1
    if outcome.complete or (outcome.count >= enough and not counting) or budget.left_s == 0:
        return "search", outcome
    other = get_engine("count" if counting else "sat")
    try:
        second = _run_engine(other, problem, question, budget, limit)
    except InputError:  # the pieces reach too far for a frontier
        other = get_engine("search")
        second = _run_engine(other, problem, question, budget, limit)
    if not second.complete and outcome.count > second.count:
        return "search", outcome  # the first search found more
    return other.name, second


def _run_engine(
    engine: Engine, problem: ExactCoverProblem, question: str, budget: Budget, limit: int | None
) -> Outcome:
    """Run one engine.

    Raises:
        InputError: if it does not support the question or the problem.
    """
    if not (engine.lists if question in ("first", "all") else engine.counts or question != "count"):
        cannot, able = "cannot list solutions", "--count or --unique"
        if not engine.counts:
            cannot, able = "cannot count solutions", "--first, --all or --unique"
        raise InputError.of("--engine", f"{engine.name} {cannot}; use {able}")
    try:
        if question == "all":
            return engine.enumerate(problem, budget, limit)
        ask = {"first": engine.first, "unique": engine.unique, "count": engine.count}[question]
        return ask(problem, budget)
    except UnsupportedProblemError as error:
        raise InputError.of(
            "--engine", f"{engine.name} does not support this challenge: {error}"
        ) from None


def _count_up_to_symmetry(problem: ExactCoverProblem, count: int, budget: Budget) -> int | None:
    """Count by Burnside's lemma; None if it takes too long."""
    if not problem.all_symmetries:
        return None
    left_s = _SYMMETRY_S if budget.left_s is None else min(_SYMMETRY_S, budget.left_s)
    rest = Budget(left_s)
    fixed = []
    for symmetry in range(1, len(problem.symmetries)) if count else ():
        fixed_by = fixed_problem(problem, symmetry)
        _, outcome = _run_best_engine(fixed_by, "count", rest, None, wants_bound=False)
        if not outcome.complete:
            return None
        fixed.append(outcome.count)
    return burnside(count, fixed) if count else 0


@dataclass(frozen=True)
class StartCounts:
    """Numbers of solutions: in all, with each option, and with each kind covering each cell."""

    solutions: int
    placements: Mapping[int, int]
    clues: Mapping[tuple[int, int], int]


def count_starts(encoded: EncodedChallenge, budget: Budget | None = None) -> StartCounts | None:
    """Count the completions of every single placement and of every single-cell clue.

    Returns:
        The counts; None if the budget was spent first.
    """
    problem = encoded.problem
    placements = dict.fromkeys(range(len(problem.options)), 0)
    clues = dict.fromkeys(product(range(problem.kind_count), range(problem.cell_count)), 0)
    budget = budget or Budget()
    search = start_search(problem, break_symmetry=False, keep_solutions=True)
    try:
        for _ in run_in_slices(search):
            for position in chain.from_iterable(search.solutions):
                placements[position] += 1
            search.solutions.clear()
            budget.report(search.progress())
    except BudgetSpentError:
        return None
    for position, count in placements.items():
        option = problem.options[position]
        for cell in option.cells:
            clues[option.kind, cell] += count
    return StartCounts(search.count, placements, clues)
