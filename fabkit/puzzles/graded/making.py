"""Making challenges: found by one engine, graded, proved again by another, and named."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from fabkit.model.puzzle import Board, Challenge, PuzzleSet
from fabkit.puzzles.graded import reproof, starting
from fabkit.puzzles.graded.grading import LEVEL_NAMES, Gathered, Graded, Source, gather
from fabkit.puzzles.graded.starting import Positions
from fabkit.puzzles.graded.subsets import Subsets
from fabkit.solve.engines.engine import BudgetSpentError, Effort
from fabkit.solve.obstacles import obstacle
from fabkit.solve.posing import pose

#: What the search finds, and SAT proves again.
ENGINES = (starting.ENGINE, reproof.ENGINE)


@dataclass(frozen=True)
class Wish:
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


@dataclass(frozen=True)
class Made:
    """The challenges that were made.

    Attributes:
        puzzle: the set.
        wish: what was wanted.
        graded: the challenges with ids, from easy to hard.
        reason: why they are fewer than wanted; empty when they are not.
    """

    puzzle: PuzzleSet
    wish: Wish
    graded: tuple[Graded, ...]
    reason: str = ""

    @property
    def levels(self) -> dict[str, list[Graded]]:
        """The challenges by level, each level that was wanted."""
        found: dict[str, list[Graded]] = {level: [] for level in self.wish.levels}
        for one in self.graded:
            found[one.rating.level].append(one)
        return found


def make(puzzle: PuzzleSet, wish: Wish, finding: Effort, proving: Effort) -> Made:
    """Makes challenges.

    Args:
        puzzle: the set. Without a board it must be suited for subsets.
        wish: what is wanted.
        finding: budget and progress of finding them.
        proving: budget and progress of proving each again.

    Returns:
        As many as were wanted, or fewer with the reason.

    Raises:
        OutsideError: when the engines contradict each other, or the second breaks down.

    Example:
        >>> from fabkit.model.library import load_set
        >>> stars = load_set("iqstars")
        >>> made = make(stars, Wish(2, stars.boards[0], given=1), Effort(), Effort())
        >>> [one.posed.challenge.id for one in made.graded]
        ['start-001', 'start-002']
    """
    reason = ""
    try:
        sources, reason = _sources(puzzle, wish, finding)
    except BudgetSpentError:
        gathered = Gathered((), spent=True)
    else:
        gathered = gather(puzzle, sources, wish.count, wish.levels, wish.seed, finding)
    proved = reproof.proved_again(gathered.graded, proving)
    spent = gathered.spent or len(proved) < len(gathered.graded)
    others = "no others" if proved else "none"
    if len(proved) == wish.count:
        reason = ""
    elif spent:
        reason = "the budget was spent"
    elif gathered.exhausted and wish.board is not None:
        reason = reason or f"there are {others}"
    else:
        reason = f"{others} were found"
    return Made(puzzle, wish, _named(proved, "subset" if wish.board is None else "start"), reason)


def _sources(
    puzzle: PuzzleSet, wish: Wish, effort: Effort
) -> tuple[Mapping[Hashable, Source], str]:
    """Where candidates come from; and when there are none, why."""
    if wish.board is None:
        return Subsets(puzzle).sources(wish.seed), ""
    pieces = tuple(piece.id for piece in puzzle.pieces)
    board = wish.board
    posed = pose(puzzle, Challenge(board.id, board.cells, pieces, flips=puzzle.flips))
    found = obstacle(posed)
    if found is not None:
        return {}, f"no solution fills {board.id}: {found.reason}"
    # The fillings are listed without a word: their share of the work is not known beforehand.
    positions = Positions(posed, Effort(effort.budget_s, None, effort.started))
    if positions.fillings is not None and not len(positions.fillings):
        return {}, f"no solution fills {board.id}: the search tried everything"
    return positions.sources(wish.given, wish.seed), ""


def _named(graded: tuple[Graded, ...], prefix: str) -> tuple[Graded, ...]:
    """The challenges with ids: the prefix and their place in the order."""
    digits = max(3, len(str(len(graded))))
    return tuple(_called(one, f"{prefix}-{place:0{digits}}") for place, one in enumerate(graded, 1))


def _called(one: Graded, name: str) -> Graded:
    posed = replace(one.posed, challenge=replace(one.posed.challenge, id=name))
    return replace(one, posed=posed)
