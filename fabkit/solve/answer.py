"""Solving a challenge: obstacles first, then an engine, then the counts that were asked for.

And its starting positions: what is left to do once one piece, or one cell of it, is known.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

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
from fabkit.solve.engines.search import Search, each_solution, nodes_in
from fabkit.solve.obstacles import obstacle
from fabkit.solve.posing import PosedChallenge
from fabkit.solve.problem import ExactCoverProblem, fixed_problem, labelled, up_to_symmetry

SOLVED, IMPOSSIBLE, UNKNOWN = "solved", "impossible", "unknown"
#: What can be asked: one solution, how many, all of them, or whether there is exactly one.
QUESTIONS = ("first", "count", "all", "unique")

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
        count_labelled: with identical pieces told apart; None when it does not follow, as where
            only some of the pieces are used and identical ones are among them.
        count_at_least: what is certain when `count` is not known.
        count_up_to_symmetry: solutions that are no turns (or mirror images, where the moves
            allow it) of each other; None when not known.
        unique: whether there is exactly one solution as it lies; None when not known.
        solutions: those listed, as positions of options.
        nodes: the engine's measure of its work.
        seconds: how long it took.
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
        question: one of `QUESTIONS`.
        engine_name: the engine to use; None chooses.
        effort: budget and progress; without end when None.
        limit: of ``all``: how many solutions to list at most.

    Returns:
        The answer. Its solutions (of very many, the first) have been checked again, whatever
        engine found them.

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
        effort.finish()
    else:
        answer = _ask(posed.problem, question, engine_name, effort, limit)
    return replace(answer, seconds=time.monotonic() - begin)


def count_of(problem: ExactCoverProblem, effort: Effort) -> tuple[int, bool]:
    """How many solutions a problem has, by the engines that `solve` would choose.

    Returns:
        The solutions found, identical pieces interchangeable; and whether these are all.

    Example:
        >>> from fabkit.solve.problem import Option
        >>> count_of(ExactCoverProblem(2, (2,), (Option(0, (0,)), Option(0, (1,)))), Effort())
        (1, True)
    """
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
        if outcome.complete and not named.trusted:
            used, outcome = _second_opinion(name, outcome, problem, question, effort, limit)
    if question == "unique" and outcome.count and not outcome.solutions:  # it cannot list
        _, found = _choose_and_put(problem, "first", effort, None)
        outcome = replace(outcome, solutions=found.solutions)
    for solution in outcome.solutions[:_MOST_CHECKED]:
        if not problem.is_solved_by(solution):
            raise AssertionError(f"the engine {used} gave a wrong solution: {solution}")
    return _complete(problem, used, outcome, effort)


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
    name, ability = one.name, _ability(question)
    if ability not in one.abilities:
        asked = "lists no solutions" if ability in ("first", "enumerate") else "cannot count"
        able = [f"--{q}" for q in QUESTIONS if _ability(q) in one.abilities]
        named = f"{', '.join(able[:-1])} and {able[-1]}"
        raise InputError.of("--engine", f"{name} {asked}; ask it for {named}")
    try:
        if ability == "enumerate":
            return one.enumerate(problem, effort, limit)
        outcome = getattr(one, ability)(problem, effort)
    except EngineUnfitError as error:
        raise InputError.of("--engine", f"{name} cannot solve this: {error}") from None
    assert isinstance(outcome, Outcome)
    return outcome


def _ability(question: str) -> str:
    """What an engine must be able to do, to be asked this."""
    return "enumerate" if question == "all" else question


def _second_opinion(
    name: str,
    first: Outcome,
    problem: ExactCoverProblem,
    question: str,
    effort: Effort,
    limit: int | None,
) -> tuple[str, Outcome]:
    """Confirms that an engine which is not trusted found all there is, or corrects it."""
    second = _put(engine_named("search"), problem, question, effort, limit)
    if not second.complete:
        best = max(first, second, key=lambda outcome: outcome.count)
        return name, replace(best, complete=False)
    agree = first.count == second.count
    return (f"{name}, confirmed by search", first) if agree else ("search", second)


def _complete(problem: ExactCoverProblem, used: str, outcome: Outcome, effort: Effort) -> Answer:
    """What follows from an outcome."""
    count = outcome.count if outcome.complete else None
    nothing = IMPOSSIBLE if outcome.complete else UNKNOWN
    return Answer(
        SOLVED if outcome.count else nothing,
        used,
        count=count,
        count_labelled=None if count is None else labelled(problem, count),
        count_at_least=outcome.count if count is None and outcome.count else None,
        count_up_to_symmetry=None if count is None else _up_to_symmetry(problem, count, effort),
        unique=outcome.count == 1 if outcome.complete else (False if outcome.count > 1 else None),
        solutions=outcome.solutions,
        nodes=outcome.nodes,
    )


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
    """Solutions by what is known of them.

    Attributes:
        solutions: all of them.
        placements: for each option's position the solutions that hold it, 0 included.
        clues: for each kind and cell number the solutions in which that kind covers the cell.
    """

    solutions: int
    placements: Mapping[int, int]
    clues: Mapping[tuple[int, int], int]


def starts(posed: PosedChallenge, effort: Effort | None = None) -> Starts | None:
    """Counts the completions of every single placement and of every single-cell clue.

    Returns:
        The counts; None when the budget was spent first.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.solve.posing import pose
        >>> fridgeiq = load_set("fridgeiq")
        >>> triangle = next(c for c in fridgeiq.challenges if c.id == "triangle_01")
        >>> starts(pose(fridgeiq, triangle)).solutions
        1
    """
    problem = posed.problem
    placements: Counter[int] = Counter(dict.fromkeys(range(len(problem.options)), 0))
    total = 0
    try:
        for solution in each_solution(problem, effort or Effort()):
            placements.update(solution)
            total += 1
    except BudgetSpentError:
        return None
    clues = Counter(
        {
            (kind, cell): 0
            for kind in range(problem.kind_count)
            for cell in range(problem.cell_count)
        }
    )
    for position, count in placements.items():
        option = problem.options[position]
        for cell in option.cells:
            clues[option.kind, cell] += count
    return Starts(total, placements, clues)
