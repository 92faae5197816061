"""Select challenges of every level: draw a pool, rate it, split it into fifths, and choose."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabkit.model.entry import LEVELS, level_of, level_thresholds
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.solve.difficulty import Difficulty, difficulty
from fabkit.solve.encoding import EncodedChallenge, Layout, to_exact_cover
from fabkit.solve.engines.engine import Budget, BudgetSpentError

#: Number of candidates drawn for each requested challenge.
POOL_FACTOR = 3
#: Stop drawing after this many fruitless attempts in a row.
_MAX_IDLE = 1000


@dataclass(frozen=True)
class Candidate:
    """A challenge with one solution up to symmetry, before it is rated.

    Attributes:
        challenge: without an id.
        solution: each piece with its cells.
        count: number of solutions, not up to symmetry.
        minimal: whether every given piece is needed; None for shapes, which have none.
        shape: name of the region; empty for a starting position.
        of: id of the challenge that it starts; empty on a board.
    """

    challenge: Challenge
    solution: Layout
    count: int = 1
    minimal: bool | None = None
    shape: str = ""
    of: str = ""


@dataclass(frozen=True)
class GradedChallenge:
    """A candidate with its exact cover problem, its rating, and its level in the pool."""

    candidate: Candidate
    encoded: EncodedChallenge
    rating: Difficulty
    level: str = ""

    @property
    def score(self) -> float:
        """The rounded score."""
        return round(self.rating.score, 3)


#: Yields candidates, or None for a fruitless attempt; ends if there are no others.
CandidateSource = Iterator[Candidate | None]


@dataclass(frozen=True)
class GradedSelection:
    """The selected challenges.

    Attributes:
        graded: from easy to hard.
        exhausted: whether every source ended, so that there are no others.
        spent: whether the time was up first.
    """

    graded: tuple[GradedChallenge, ...]
    exhausted: bool = False
    spent: bool = False


def grade_candidates(
    puzzle: PuzzleSet,
    sources: Mapping[Hashable, CandidateSource],
    count: int,
    levels: Sequence[str],
    budget: Budget,
) -> GradedSelection:
    """Draw a pool of candidates, split it into levels of a fifth each, and choose evenly.

    Sources take turns, so that the pool is spread over them.

    Args:
        sources: by a common property of their candidates, such as the number of given pieces.
        levels: the levels to choose from, evenly.

    Returns:
        At most `count` challenges.
    """
    wanted = POOL_FACTOR * -(-count * len(LEVELS) // len(levels))
    waiting = deque(sources.values())
    pool = list[GradedChallenge]()
    idle = 0
    spent = False
    try:
        while waiting and len(pool) < wanted and idle < _MAX_IDLE:
            budget.report(len(pool) / wanted)
            source = waiting.popleft()
            try:
                candidate = next(source)
            except StopIteration:
                continue
            waiting.append(source)
            idle += 1
            if candidate is not None:
                encoded = to_exact_cover(puzzle, candidate.challenge)
                rating = difficulty(encoded.problem, candidate.count, Budget(budget.left_s))
                if rating is not None:  # else all probes give up
                    pool.append(GradedChallenge(candidate, encoded, rating))
                    idle = 0
    except BudgetSpentError:
        spent = True
    return GradedSelection(tuple(_select(pool, count, levels)), not waiting, spent)


def _select(
    pool: list[GradedChallenge], count: int, levels: Sequence[str]
) -> list[GradedChallenge]:
    """Choose evenly from some levels and from the scores of each, from easy to hard.

    Among challenges of similar difficulty, choose the one with least in common with earlier ones.
    """
    cuts = level_thresholds(graded.score for graded in pool) if pool else ()
    by_level: dict[str, list[GradedChallenge]] = {name: [] for name in LEVELS if name in levels}
    for graded in sorted(pool, key=lambda graded: graded.score):
        level = level_of(graded.score, cuts)
        by_level.get(level, []).append(replace(graded, level=level))
    shares = even_shares(count, {name: len(challenges) for name, challenges in by_level.items()})
    chosen = list[GradedChallenge]()
    seen = Counter[Hashable]()

    def familiarity(graded: GradedChallenge) -> float:
        return sum(weight * seen[feature] for feature, weight in _features(graded).items())

    for name, share in shares.items():
        ranked = by_level[name]
        for place in range(share):
            near = ranked[len(ranked) * place // share : len(ranked) * (place + 1) // share]
            best = min(near, key=familiarity)
            seen.update(_features(best).keys())
            chosen.append(best)
    return chosen


def _features(graded: GradedChallenge) -> dict[Hashable, float]:
    """Return the features by which a player recognises a challenge, with weights."""
    challenge = graded.candidate.challenge
    solution = frozenset(graded.candidate.solution.items())
    features: dict[Hashable, float] = {solution: 3.0, challenge.region: 1.0}
    for placed in challenge.given:
        features[placed.piece] = 1 / len(challenge.given)
        features[placed] = 3 / len(challenge.given)
    return features


def even_shares(count: int, available: Mapping[str, int]) -> dict[str, int]:
    """Distribute a number evenly over levels, up to the maximum of each; easier levels come first.

    Args:
        available: the maximum of each level, from easy to hard.

    Example:
        >>> even_shares(11, {"starter": 100, "junior": 2, "expert": 100})
        {'starter': 5, 'junior': 2, 'expert': 4}
    """
    levels = list(available)
    waiting = sorted(levels, key=lambda level: (available[level], -levels.index(level)))
    shares: dict[str, int] = {}
    for place, level in enumerate(waiting):
        remaining = count - sum(shares.values())
        shares[level] = min(available[level], remaining // (len(waiting) - place))
    return {level: shares[level] for level in levels}
