"""Gathering challenges of every level: which are looked for next, and when a level is given up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.solve.difficulty import LEVELS, Difficulty, difficulty
from fabkit.solve.engines.engine import BudgetSpentError, Effort, Solution
from fabkit.solve.posing import Layout, PosedChallenge, pose
from fabkit.solve.problem import Option

LEVEL_NAMES = tuple(name for name, _ in LEVELS)

#: A level is given up after so many attempts in a row that brought nothing for it: an attempt
#: that brought a challenge of another level counts fully, one that brought none a tenth.
_PATIENCE = 300
_MISSES = 10


@dataclass(frozen=True)
class Candidate:
    """A challenge that has been found to have one solution up to symmetry, before it is rated.

    Attributes:
        challenge: without an id.
        solution: each piece with its cells.
        count: how many solutions it has as it lies.
        minimal: whether no given piece can be left out; None where none is given by nature.
        shape: what the region is called; empty for a board.
    """

    challenge: Challenge
    solution: Layout
    count: int = 1
    minimal: bool | None = None
    shape: str = ""


@dataclass(frozen=True)
class Graded:
    """A candidate, what is left to do of it, and how hard that is."""

    candidate: Candidate
    posed: PosedChallenge
    rating: Difficulty

    @property
    def solution(self) -> Solution:
        """The solution as positions of the options of what is left to do."""
        number = {cell: index for index, cell in enumerate(self.posed.cells)}
        kinds = {piece: kind for kind, ids in enumerate(self.posed.kinds) for piece in ids}
        lying = {
            Option(kinds[piece], tuple(sorted(number[cell] for cell in cells)))
            for piece, cells in self.candidate.solution.items()
            if piece in kinds
        }
        options = self.posed.problem.options
        return tuple(place for place, option in enumerate(options) if option in lying)


#: Where candidates come from: None is an attempt that brought nothing, the end means that there
#: are no others.
Source = Iterator[Candidate | None]


@dataclass(frozen=True)
class Gathered:
    """What was gathered.

    Attributes:
        graded: from easy to hard.
        exhausted: whether every source was followed to its end: there are no others.
        spent: whether the time was over first.
    """

    graded: tuple[Graded, ...]
    exhausted: bool = False
    spent: bool = False


def gather(
    puzzle: PuzzleSet,
    sources: Mapping[Hashable, Source],
    count: int,
    levels: Sequence[str],
    seed: int,
    effort: Effort,
) -> Gathered:
    """Takes candidates from sources until every level has its share.

    Which source is asked next is drawn by lot; those that brought the level wanted before are
    likelier. A level that brings nothing for long leaves its share to the others.

    Args:
        puzzle: the set.
        sources: their names say what they have in common, such as the number of pieces given.
        count: how many challenges are wanted.
        levels: of these levels, evenly.
        seed: the same seed gives the same challenges.
        effort: budget and progress.

    Returns:
        At most `count` challenges, fewer when no more were found.
    """
    rng, left = random.Random(f"gather {seed}"), dict(sources)  # noqa: S311
    found: dict[str, list[Graded]] = {name: [] for name in LEVEL_NAMES if name in levels}
    idle, tries = Counter[str](), Counter[Hashable]()
    hits = Counter[tuple[Hashable, str]]()

    def shares(there: bool = False) -> dict[str, int]:
        """How many of each level are wanted; of those that are there at the end."""
        closed = {one for one in found if there or idle[one] >= _PATIENCE * _MISSES}
        return even_shares(count, {n: len(found[n]) if n in closed else count for n in found})

    def ask(name: Hashable, level: str) -> None:
        """Asks a source for a challenge of this level, and keeps it of whatever level it is."""
        try:
            candidate = next(left[name])
        except StopIteration:
            del left[name]
            return
        tries[name] += 1
        reached = None
        if candidate is not None:
            posed = pose(puzzle, candidate.challenge)
            rating = difficulty(posed.problem, candidate.count, Effort(effort.left_s))
            if rating is not None:  # else no try of a person's kind comes to an end
                reached = rating.level
                found.get(reached, []).append(Graded(candidate, posed, rating))
                hits[name, reached] += 1
        idle[level] = 0 if reached == level else idle[level] + (_MISSES if reached else 1)

    spent = False
    try:
        while left and (lacking := {n: s - len(found[n]) for n, s in shares().items()}):
            level = max(lacking, key=lacking.__getitem__)
            if lacking[level] <= 0:
                break
            weights = [(1 + hits[name, level]) / (2 + tries[name]) for name in left]
            ask(rng.choices(list(left), weights)[0], level)
            there = sum(min(len(found[name]), share) for name, share in shares().items())
            effort.tell(there / count)
    except BudgetSpentError:
        spent = True
    chosen = [one for name, share in shares(there=True).items() for one in found[name][:share]]
    chosen.sort(key=lambda one: one.rating.score)
    return Gathered(tuple(chosen), not left, spent)


def even_shares(count: int, most: Mapping[str, int]) -> dict[str, int]:
    """How many of each level: evenly, as far as each can give; easier levels get what is over.

    Args:
        count: how many in all.
        most: how many each level can give, from easy to hard.

    Example:
        >>> even_shares(11, {"starter": 100, "junior": 2, "expert": 100})
        {'starter': 5, 'junior': 2, 'expert': 4}
    """
    levels = list(most)
    waiting = sorted(levels, key=lambda level: (most[level], -levels.index(level)))
    shares: dict[str, int] = {}
    for place, level in enumerate(waiting):
        left = count - sum(shares.values())
        shares[level] = min(most[level], left // (len(waiting) - place))
    return {level: shares[level] for level in levels}
