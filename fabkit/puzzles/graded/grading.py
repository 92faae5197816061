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
    """A challenge that has been found to be uniquely solvable, before it is rated.

    Attributes:
        challenge: without an id.
        solution: each piece with its cells.
        count: how many solutions it has as it lies.
        count_up_to_symmetry: how many are no turns of each other; 1.
        minimal: whether no given piece can be left out; None where none is given by nature.
        shape: what the region is called; empty for a board.
    """

    challenge: Challenge
    solution: Layout
    count: int = 1
    count_up_to_symmetry: int = 1
    minimal: bool | None = None
    shape: str = ""


@dataclass(frozen=True)
class Graded:
    """A candidate with its rating.

    Attributes:
        candidate: the challenge.
        posed: what is left to do of it.
        rating: how hard that is.
    """

    candidate: Candidate
    posed: PosedChallenge
    rating: Difficulty

    @property
    def solution(self) -> Solution:
        """The solution as positions of the options of what is left to do."""
        number = {cell: index for index, cell in enumerate(self.posed.cells)}
        kinds = {piece: kind for kind, ids in enumerate(self.posed.kinds) for piece in ids}
        given = {one.piece for one in self.candidate.challenge.given}
        lying = {
            Option(kinds[piece], tuple(sorted(number[cell] for cell in cells)))
            for piece, cells in self.candidate.solution.items()
            if piece not in given
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

    Example:
        >>> from fabkit.model.library import load_set
        >>> gather(load_set("iqstars"), {}, 5, LEVEL_NAMES, 1, Effort()).exhausted
        True
    """
    gathering = _Gathering(puzzle, dict(sources), count, levels, random.Random(f"gather {seed}"))  # noqa: S311
    spent = False
    try:
        while (level := gathering.wanted()) is not None and gathering.sources:
            gathering.attempt(level, effort)
            effort.tell(gathering.share())
    except BudgetSpentError:
        spent = True
    return Gathered(gathering.chosen(), not gathering.sources, spent)


class _Gathering:
    """What has been gathered so far."""

    def __init__(
        self,
        puzzle: PuzzleSet,
        sources: dict[Hashable, Source],
        count: int,
        levels: Sequence[str],
        rng: random.Random,
    ) -> None:
        self._puzzle, self.sources, self._count, self._rng = puzzle, sources, count, rng
        self._found: dict[str, list[Graded]] = {name: [] for name in LEVEL_NAMES if name in levels}
        self._idle: Counter[str] = Counter()
        self._tries: Counter[Hashable] = Counter()
        self._hits: Counter[tuple[Hashable, str]] = Counter()

    def wanted(self) -> str | None:
        """The level that lacks most and has not been given up; None when nothing is wanted."""
        shares = self._shares()
        lacking = {
            level: shares[level] - len(found)
            for level, found in self._found.items()
            if not self._given_up(level) and shares[level] > len(found)
        }
        return max(lacking, key=lambda level: lacking[level]) if lacking else None

    def share(self) -> float:
        """The share of the challenges wanted that is there."""
        shares = self._shares()
        there = sum(min(len(found), shares[level]) for level, found in self._found.items())
        return there / self._count

    def chosen(self) -> tuple[Graded, ...]:
        """Those that are wanted, from easy to hard."""
        shares = even_shares(self._count, {name: len(found) for name, found in self._found.items()})
        chosen = [one for level, found in self._found.items() for one in found[: shares[level]]]
        return tuple(sorted(chosen, key=lambda one: one.rating.score))

    def attempt(self, level: str, effort: Effort) -> None:
        """Asks one source for a challenge of this level, and keeps it of whatever level it is."""
        names = list(self.sources)
        weights = [(1 + self._hits[name, level]) / (2 + self._tries[name]) for name in names]
        (name,) = self._rng.choices(names, weights)
        try:
            candidate = next(self.sources[name])
        except StopIteration:
            del self.sources[name]
            return
        self._tries[name] += 1
        graded = None if candidate is None else self._graded(candidate, effort)
        reached = graded.rating.level if graded else ""
        self._hits[name, reached] += 1
        if graded is not None and reached in self._found:
            self._found[reached].append(graded)
        if reached == level:
            self._idle[level] = 0
        else:
            self._idle[level] += 1 if graded is None else _MISSES

    def _graded(self, candidate: Candidate, effort: Effort) -> Graded | None:
        """The candidate with its rating; None when no try of a person's kind comes to an end."""
        posed = pose(self._puzzle, candidate.challenge)
        rating = difficulty(posed.problem, candidate.count, Effort(effort.left_s))
        return None if rating is None else Graded(candidate, posed, rating)

    def _given_up(self, level: str) -> bool:
        return self._idle[level] >= _PATIENCE * _MISSES

    def _shares(self) -> dict[str, int]:
        most = {
            level: len(found) if self._given_up(level) else self._count
            for level, found in self._found.items()
        }
        return even_shares(self._count, most)


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
