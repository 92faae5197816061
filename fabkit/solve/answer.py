"""Solving a challenge: obstacles first, then an engine, then the counts that were asked for.

And its starting positions: what is left to do once one piece, or one cell of it, is known.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain, product

from fabkit.core.errors import InputError
from fabkit.solve.engines.engine import (
    BudgetSpentError,
    Effort,
    Engine,
    EngineUnfitError,
    Outcome,
    Solution,
    engine_named,
)
from fabkit.solve.engines.search import Search, in_slices, nodes_in, start_walk
from fabkit.solve.obstacles import obstacle
from fabkit.solve.posing import PosedChallenge
from fabkit.solve.problem import ExactCoverProblem, fixed_problem, up_to_symmetry

SOLVED, IMPOSSIBLE, UNKNOWN = "solved", "impossible", "unknown"
#: How long the search tries alone, about, before a challenge is taken for a hard one.
_SEARCH_FIRST_S = 10.0
_SEARCH_BEFORE_COUNT_S = 0.3
#: Counting up to symmetry comes last, and must not cost what is known already.
_SYMMETRY_S = 60.0
#: So many of the solutions listed are checked again; all of them, unless there are very many.
_MOST_CHECKED = 10_000


@dataclass(frozen=True)
class Answer:
    """What is known of a challenge.

    Attributes:
        status: ``solved``, ``impossible``, or ``unknown`` when the budget was spent first.
        engine: which engine decided; ``obstacle`` when none had to.
        count: all solutions, identical pieces interchangeable; None when not all were counted.
        count_labelled: with identical pieces told apart; None where that does not follow.
        count_at_least: what is certain when `count` is not known.
        count_up_to_symmetry: those that are no turns (or, where allowed, mirror images) of each
            other; None when not known.
        unique: whether there is exactly one solution as it lies; None when not known.
        solutions: those listed, as positions of options.
        nodes: the engine's measure of its work.
        reason: the witness of an obstacle, as a sentence; empty otherwise.
    """

    status: str
    engine: str
    count: int | None = None
    count_labelled: int | None = None
    count_at_least: int | None = None
    count_up_to_symmetry: int | None = None
    unique: bool | None = None
    solutions: tuple[Solution, ...] = ()
    nodes: int = 0
    seconds: float = 0.0
    reason: str = ""


def solve(
    posed: PosedChallenge,
    question: str = "first",
    engine_name: str | None = None,
    effort: Effort | None = None,
    limit: int | None = None,
) -> Answer:
    """Answers a question about a challenge.

    Args:
        posed: the challenge.
        question: ``first``, ``count``, ``all``, or ``unique``: is there exactly one solution?
        engine_name: the engine to use; None chooses.
        effort: budget and progress; without end when None.
        limit: of ``all``: how many solutions to list at most.

    Returns:
        The answer. Its solutions (of very many, the first) have been checked again.

    Raises:
        InputError: when the engine cannot do this.
        OutsideError: when the engine's library is missing or fails.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.solve.posing import pose
        >>> fridgeiq = load_set("fridgeiq")
        >>> square = next(c for c in fridgeiq.challenges if c.id == "square_01")
        >>> solve(pose(fridgeiq, square), "count").count
        4
    """
    effort = effort or Effort()
    begin = time.monotonic()
    found = obstacle(posed) if engine_name is None else None
    if found is not None:
        answer = Answer(IMPOSSIBLE, "obstacle", 0, 0, None, 0, False, reason=found.reason)
        effort.tell(1.0)
    else:
        answer = _ask(posed.problem, question, engine_name, effort, limit)
    return replace(answer, seconds=time.monotonic() - begin)


def count_of(problem: ExactCoverProblem, effort: Effort) -> tuple[int, bool]:
    """The solutions found by the engines that `solve` would choose; and whether these are all."""
    _, outcome = _choose_and_put(problem, "count", effort, None)
    return outcome.count, outcome.complete


def _ask(
    problem: ExactCoverProblem, question: str, name: str | None, effort: Effort, limit: int | None
) -> Answer:
    """Has an engine answer, and completes the counts."""
    if name is None:
        used, outcome = _choose_and_put(problem, question, effort, limit)
    else:
        named = engine_named(name)
        used, outcome = name, _put(named, problem, question, effort, limit)
        if outcome.complete and not named.trusted:  # confirmed, or corrected
            second = _put(engine_named("search"), problem, question, effort, limit)
            if not second.complete:
                outcome = replace(max(outcome, second, key=lambda o: o.count), complete=False)
            elif outcome.count == second.count:
                used = f"{name}, confirmed by search"
            else:
                used, outcome = "search", second
    if question == "unique" and outcome.count and not outcome.solutions:  # it cannot list
        _, found = _choose_and_put(problem, "first", effort, None)
        outcome = replace(outcome, solutions=found.solutions)
    for solution in outcome.solutions[:_MOST_CHECKED]:
        if not problem.is_solved_by(solution):
            raise AssertionError(f"the engine {used} gave a wrong solution: {solution}")
    count = outcome.count if outcome.complete else None
    nothing = IMPOSSIBLE if outcome.complete else UNKNOWN
    return Answer(
        SOLVED if outcome.count else nothing,
        used,
        count=count,
        count_labelled=None if count is None else problem.labelled(count),
        count_at_least=outcome.count if count is None and outcome.count else None,
        count_up_to_symmetry=None if count is None else _up_to_symmetry(problem, count, effort),
        unique=outcome.count == 1 if outcome.complete else (False if outcome.count > 1 else None),
        solutions=outcome.solutions,
        nodes=outcome.nodes,
    )


def _choose_and_put(
    problem: ExactCoverProblem, question: str, effort: Effort, limit: int | None
) -> tuple[str, Outcome]:
    """Asks the engines in the order in which they are likely to be quick."""
    if question == "all":
        return "search", _put(engine_named("search"), problem, question, effort, limit)
    counting = question == "count"
    alone = Search(nodes_in(problem, _SEARCH_BEFORE_COUNT_S if counting else _SEARCH_FIRST_S))
    outcome = _put(alone, problem, question, effort, limit)
    enough = 2 if question == "unique" else 1
    if outcome.complete or (outcome.count >= enough and not counting) or effort.left_s == 0:
        return "search", outcome
    other = engine_named("count" if counting else "sat")
    try:
        found = _put(other, problem, question, effort, limit)
    except InputError:  # the pieces reach too far for a frontier
        other = engine_named("search")
        found = _put(other, problem, question, effort, limit)
    if not found.complete and outcome.count > found.count:
        return "search", outcome  # what the trial found is certain, too
    return other.name, found


def _put(
    one: Engine, problem: ExactCoverProblem, question: str, effort: Effort, limit: int | None
) -> Outcome:
    """Puts a question to an engine.

    Raises:
        InputError: when it is not among the engine's abilities, or the problem is not for it.
    """
    if not (one.lists if question in ("first", "all") else one.counts or question != "count"):
        cannot, able = "lists no solutions", "--count and --unique"
        if not one.counts:
            cannot, able = "cannot count", "--first, --all and --unique"
        raise InputError.of("--engine", f"{one.name} {cannot}; ask it for {able}")
    try:
        if question == "all":
            return one.enumerate(problem, effort, limit)
        ask = {"first": one.first, "unique": one.unique, "count": one.count}[question]
        return ask(problem, effort)
    except EngineUnfitError as error:
        raise InputError.of("--engine", f"{one.name} cannot solve this: {error}") from None


def _up_to_symmetry(problem: ExactCoverProblem, count: int, effort: Effort) -> int | None:
    """By Burnside's lemma; None when it would take too long."""
    left_s = _SYMMETRY_S if effort.left_s is None else min(_SYMMETRY_S, effort.left_s)
    rest = Effort(left_s)
    fixed = []
    for symmetry in range(1, len(problem.symmetries)) if count else ():
        _, outcome = _choose_and_put(fixed_problem(problem, symmetry), "count", rest, None)
        if not outcome.complete:
            return None
        fixed.append(outcome.count)
    return up_to_symmetry(count, fixed) if count else 0


@dataclass(frozen=True)
class Starts:
    """How many solutions there are: all, those that hold each option, and of each kind and cell
    number those in which that kind covers the cell."""

    solutions: int
    placements: Mapping[int, int]
    clues: Mapping[tuple[int, int], int]


def starts(posed: PosedChallenge, effort: Effort | None = None) -> Starts | None:
    """Counts the completions of every single placement and of every single-cell clue.

    Returns:
        The counts; None when the budget was spent first.
    """
    problem = posed.problem
    placements = dict.fromkeys(range(len(problem.options)), 0)
    clues = dict.fromkeys(product(range(problem.kind_count), range(problem.cell_count)), 0)
    walk, effort = start_walk(problem, reduced=False, listing=True), effort or Effort()
    try:
        for _ in in_slices(walk):
            for position in chain.from_iterable(walk.solutions):
                placements[position] += 1
            walk.solutions.clear()
            effort.tell(walk.share())
    except BudgetSpentError:
        return None
    for position, count in placements.items():
        option = problem.options[position]
        for cell in option.cells:
            clues[option.kind, cell] += count
    return Starts(walk.count, placements, clues)
