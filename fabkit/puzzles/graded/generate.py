"""Making challenges: found by one engine, graded, proved again by another, and named."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabkit.core.errors import InputError, OutsideError, did_you_mean, shown
from fabkit.model.puzzle import Board, Challenge, PuzzleSet, usual_board
from fabkit.puzzles.graded.grading import LEVEL_NAMES, Gathered, Graded, Source, gather
from fabkit.puzzles.graded.starting import ENGINE, Positions
from fabkit.puzzles.graded.subsets import Subsets
from fabkit.solve.engines.apart import answers
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Solution
from fabkit.solve.engines.sat import Sat
from fabkit.solve.obstacles import obstacle
from fabkit.solve.posing import pose
from fabkit.solve.problem import ExactCoverProblem, Option

#: What the search finds, and SAT proves again.
ENGINES = (ENGINE, Sat.name)


@dataclass(frozen=True)
class StartsQuery:
    """What kind of challenges are wanted.

    Attributes:
        count: how many.
        board: where; None for shapes to make of some of the pieces.
        given: so many pieces are given, or `starting.MINIMAL`, or None for a mix.
        levels: of these levels.
        seed: the same seed gives the same challenges.
    """

    count: int
    board: Board | None = None
    given: int | str | None = None
    levels: tuple[str, ...] = LEVEL_NAMES
    seed: int = 1


def board_named(puzzle: PuzzleSet, name: str | None) -> Board | None:
    """The board to make challenges on; None when the set has none.

    Raises:
        InputError: when there is none of that id.
    """
    if name is None:
        return usual_board(puzzle.boards)
    for board in puzzle.boards:
        if board.id == name:
            return board
    known = [board.id for board in puzzle.boards]
    are = f"its boards are {', '.join(known)}" if known else "it has no board at all"
    message = f"{puzzle.name} has no board {shown(name)}; {are}{did_you_mean(name, known)}"
    raise InputError.of("--board", message)


@dataclass(frozen=True)
class Made:
    """The challenges that were made.

    Attributes:
        puzzle: the set.
        query: what was wanted.
        graded: the challenges with ids, from easy to hard.
        reason: why they are fewer than wanted; empty when they are not.
    """

    puzzle: PuzzleSet
    query: StartsQuery
    graded: tuple[Graded, ...]
    reason: str = ""

    @property
    def levels(self) -> dict[str, list[Graded]]:
        """The challenges by level, each level that was wanted."""
        found: dict[str, list[Graded]] = {level: [] for level in self.query.levels}
        for one in self.graded:
            found[one.rating.level].append(one)
        return found


def make(puzzle: PuzzleSet, query: StartsQuery, finding: Effort, proving: Effort) -> Made:
    """Makes challenges.

    Args:
        puzzle: the set. Without a board it must be suited for subsets.
        query: what is wanted.
        finding: budget and progress of finding them.
        proving: budget and progress of proving each again.

    Returns:
        As many as were wanted, or fewer with the reason.

    Raises:
        OutsideError: when the engines contradict each other, or the second breaks down.
    """
    reason = ""
    try:
        sources, reason = _sources(puzzle, query, finding)
        gathered = gather(puzzle, sources, query.count, query.levels, query.seed, finding)
    except BudgetSpentError:
        gathered = Gathered((), spent=True)
    proved = proved_again(gathered.graded, proving)
    others = "no others" if proved else "none"
    if len(proved) == query.count:
        reason = ""
    elif gathered.spent or len(proved) < len(gathered.graded):
        reason = "the budget was spent"
    elif gathered.exhausted and query.board is not None:
        reason = reason or f"there are {others}"
    else:
        reason = f"{others} were found"
    prefix, digits = "subset" if query.board is None else "start", max(3, len(str(len(proved))))
    named = []
    for place, one in enumerate(proved, 1):
        challenge = replace(one.posed.challenge, id=f"{prefix}-{place:0{digits}}")
        named.append(replace(one, posed=replace(one.posed, challenge=challenge)))
    return Made(puzzle, query, tuple(named), reason)


def _sources(
    puzzle: PuzzleSet, query: StartsQuery, effort: Effort
) -> tuple[Mapping[Hashable, Source], str]:
    """Where candidates come from; and when there are none, why."""
    board = query.board
    if board is None:
        return Subsets(puzzle).sources(query.seed), ""
    pieces = tuple(piece.id for piece in puzzle.pieces)
    posed = pose(puzzle, Challenge(board.id, board.cells, pieces, flips=puzzle.flips))
    found = obstacle(posed)
    if found is not None:
        return {}, f"no solution fills {board.id}: {found.reason}"
    # The fillings are listed without a word: their share of the work is not known beforehand.
    positions = Positions(posed, Effort(effort.budget_s, None, effort.started))
    if positions.fillings is not None and not len(positions.fillings):
        return {}, f"no solution fills {board.id}: the search tried everything"
    return positions.sources(query.given, query.seed), ""


def proved_again(graded: Sequence[Graded], effort: Effort) -> tuple[Graded, ...]:
    """Those challenges of which CaDiCaL finds as many solutions as the first engine.

    It shares no search with that. Every challenge is posed anew, as if it were read from its file.
    Starting CaDiCaL's process takes longer than most proofs, so one process proves them all.

    Args:
        graded: challenges with the counts of the first engine.
        effort: budget and progress.

    Returns:
        All of them; only the first ones when the time was over.

    Raises:
        OutsideError: when the engines contradict each other, or the second breaks down.
    """
    if not graded:
        return ()
    proved, jobs = 0, []
    for one in graded:
        problem = one.posed.problem
        options = [(option.kind, option.cells) for option in problem.options]
        jobs.append((problem.cell_count, problem.copies, options, one.candidate.count + 1))
    with (
        contextlib.suppress(BudgetSpentError),
        contextlib.closing(answers(_count_all, jobs, effort.part(0.0, 0.0))) as counts,
    ):
        for one, count in zip(graded, counts, strict=False):
            if count != one.candidate.count:
                letters = ", ".join(one.candidate.challenge.pieces)
                raise OutsideError(
                    f"the engines contradict each other: one finds {one.candidate.count}, "
                    f"{Sat.name} {count} solutions of a challenge of the pieces {letters}; "
                    "nothing was written, please report this"
                )
            proved += 1
            effort.tell(proved / len(graded))
    return tuple(graded[:proved])


def _count_all(jobs: Any, answer: Callable[[int], None]) -> None:
    """Counts the solutions of each problem, to one more than expected; in a process of its own."""
    for cell_count, copies, said, most in jobs:
        options = tuple(Option(kind, tuple(cells)) for kind, cells in said)
        found: list[Solution] = []
        Sat.seek(ExactCoverProblem(cell_count, tuple(copies), options), most, found.append)
        answer(len(found))
