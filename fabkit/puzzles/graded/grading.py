"""Select challenges of every level: draw a pool, rate it, and choose evenly from its levels."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabkit.model.entry import LEVELS, level_of
from fabkit.model.lattice import Lattice
from fabkit.model.polygon import parts_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.solve.difficulty import Difficulty, difficulty
from fabkit.solve.encoding import EncodedChallenge, Layout, to_exact_cover
from fabkit.solve.engines.engine import Budget, BudgetSpentError

#: Number of candidates drawn for each requested challenge.
POOL_FACTOR = 3
#: So many times as many are drawn for a level that the pool lacks.
_MAX_POOL_FACTOR = 3 * POOL_FACTOR
#: Stop drawing after this many fruitless attempts in a row.
_MAX_IDLE = 1000


@dataclass(frozen=True)
class Candidate:
    """A challenge with one solution up to symmetry, before it is rated.

    Attributes:
        challenge: without an id.
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
    """A candidate with its exact cover problem and its rating."""

    candidate: Candidate
    encoded: EncodedChallenge
    rating: Difficulty

    @property
    def score(self) -> float:
        """The rounded score."""
        return round(self.rating.score, 3)

    @property
    def level(self) -> str:
        """The level of the score."""
        return level_of(self.candidate.challenge, self.score)


#: Yields candidates, or None for a fruitless attempt; ends if there are no others.
CandidateSource = Iterator[Candidate | None]


@dataclass(frozen=True)
class GradedSelection:
    """The selected challenges, from easy to hard; whether the sources are exhausted, so that there
    are no others; whether the time was spent first; and the number of candidates that were left out
    because every hole takes one piece."""

    graded: tuple[GradedChallenge, ...]
    exhausted: bool = False
    spent: bool = False
    left_out: int = 0


def grade_candidates(
    puzzle: PuzzleSet,
    sources: Iterable[CandidateSource],
    count: int,
    levels: Sequence[str],
    budget: Budget,
) -> GradedSelection:
    """Draw a pool of candidates, rate them, and choose at most `count` evenly from the levels.

    Sources, each of candidates with a common property such as the number of given pieces, take
    turns, so that the pool is spread over them. Candidates in which every hole takes one piece are
    left out: they are no puzzle.
    """
    share = -(-count // len(levels))
    lacking = Counter(dict.fromkeys(levels, share))
    waiting = deque(sources)
    pool = list[GradedChallenge]()
    idle = left_out = 0
    spent = False
    try:
        while waiting and idle < _MAX_IDLE:
            factor = _MAX_POOL_FACTOR if lacking.total() else POOL_FACTOR
            pool_size = factor * share * len(LEVELS)
            if len(pool) >= pool_size:
                break
            budget.report(len(pool) / pool_size)
            source = waiting.popleft()
            try:
                candidate = next(source)
            except StopIteration:
                continue
            waiting.append(source)
            idle += 1
            if candidate is not None:
                encoded = to_exact_cover(puzzle, candidate.challenge)
                holes = parts_of_cells(puzzle.lattice, {*encoded.cells})
                if 1 < len(holes) == encoded.problem.pieces_used:
                    left_out += 1
                    continue
                rating = difficulty(encoded.problem, candidate.count, Budget(budget.left_s))
                if rating is not None:  # else all probes give up
                    pool.append(graded := GradedChallenge(candidate, encoded, rating))
                    lacking -= Counter([graded.level])
                    idle = 0
    except BudgetSpentError:
        spent = True
    return GradedSelection(tuple(_select(pool, count, levels)), not waiting, spent, left_out)


def _select(
    pool: list[GradedChallenge], count: int, levels: Sequence[str]
) -> list[GradedChallenge]:
    """Choose evenly from some levels and from the scores of each, from easy to hard.

    Among challenges of similar difficulty, choose the one with least in common with earlier ones.
    """
    by_level: dict[str, list[GradedChallenge]] = {name: [] for name in LEVELS if name in levels}
    for graded in sorted(pool, key=lambda graded: graded.score):
        by_level.get(graded.level, []).append(graded)
    shares = even_shares(count, {name: len(challenges) for name, challenges in by_level.items()})
    chosen = list[GradedChallenge]()
    seen = Counter[Hashable]()

    def familiarity(graded: GradedChallenge) -> float:
        return sum(weight * seen[feature] for feature, weight in _features(graded).items())

    for name, share in shares.items():
        ranked = by_level[name]
        for i in range(share):
            similar = ranked[len(ranked) * i // share : len(ranked) * (i + 1) // share]
            chosen.append(min(similar, key=familiarity))
            seen.update(_features(chosen[-1]).keys())
    return chosen


def _features(graded: GradedChallenge) -> dict[Hashable, float]:
    """Return the features by which a player recognises a challenge, with weights.

    A hole that is turned or flipped is the same hole, and so are a solution and its images.
    """
    challenge = graded.candidate.challenge
    features: dict[Hashable, float] = {
        challenge.region: 1.0,
        player_view(graded.encoded): 3.0,
        up_to_symmetry(graded.encoded.puzzle.lattice, graded.candidate.solution): 1.5,
    }
    for placed in challenge.given:
        features[placed.piece] = 1 / len(challenge.given)
        features[placed] = 3 / len(challenge.given)
    return features


def player_view(encoded: EncodedChallenge) -> Hashable:
    """Return what makes a challenge differ from others to a player: the pieces to place, the hole,
    and the clues."""
    free_pieces = frozenset(kind for kind in encoded.kinds if kind)
    layout = {"": frozenset(encoded.cells)}
    for clue in encoded.challenge.clues:
        layout[f"{clue.piece} {clue.mark} {clue.colour}"] = clue.cells
    return free_pieces, up_to_symmetry(encoded.puzzle.lattice, layout)


def up_to_symmetry(lattice: Lattice, layout: Layout) -> Hashable:
    """Return the same for all images of a layout, wherever it lies."""
    whole = frozenset().union(*layout.values())
    images = []
    for move in lattice.symmetries:
        x, y = lattice.anchor(frozenset(map(move, whole)))
        image = [
            (piece, sorted((a - x, b - y) for a, b in map(move, cells)))
            for piece, cells in layout.items()
        ]
        images.append(sorted(image))
    return repr(min(images))


def even_shares(count: int, available: Mapping[str, int]) -> dict[str, int]:
    """Distribute a number evenly over levels, from easy to hard, up to what is available of each.

    Example:
        >>> even_shares(11, {"starter": 100, "junior": 2, "expert": 100})
        {'starter': 5, 'junior': 2, 'expert': 4}
    """
    levels = list(available)
    shares: dict[str, int] = {}
    for level in sorted(levels, key=lambda level: (available[level], -levels.index(level))):
        remaining = count - sum(shares.values())
        shares[level] = min(available[level], remaining // (len(levels) - len(shares)))
    return {level: shares[level] for level in levels}
