"""Generate challenges: found by one engine, graded, confirmed by another, and named."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabkit.core.errors import ExternalError, InputError, did_you_mean, pluralize, quote
from fabkit.core.progress import Progress
from fabkit.model.entry import LEVELS
from fabkit.model.polygon import parts_of_cells
from fabkit.model.puzzle import Board, Challenge, Family, PuzzleSet, default_board
from fabkit.puzzles.graded.clue_positions import CluePositions
from fabkit.puzzles.graded.grading import (
    POOL_FACTOR,
    Candidate,
    CandidateSource,
    GradedChallenge,
    GradedSelection,
    grade_candidates,
    player_view,
    up_to_symmetry,
)
from fabkit.puzzles.graded.starting_positions import MINIMAL, StartingPositions
from fabkit.puzzles.graded.subsets import SubsetChallenges, refuse_unsuitable
from fabkit.sets.catalog import shipped_entries
from fabkit.sets.challenges import find_challenge
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget, BudgetSpentError, Solution
from fabkit.solve.engines.sat import Sat
from fabkit.solve.engines.search import Search
from fabkit.solve.engines.subprocess_engine import run_in_subprocess
from fabkit.solve.infeasibility import find_infeasibility

#: Instead of ids: all challenges of a set and of its catalog without given pieces.
ALL = "all"
#: Numbers of pieces that the start of a challenge may leave to place.
_FREE = range(3, 11)
#: Attempts for each requested start of a challenge.
_TRIES = 12
#: The engine that finds solutions, and the one that confirms that there is only one.
UNIQUE_BY = (Search.name, Sat.name)
#: The share of the time limit for finding challenges; the rest is for proving them.
_FINDING = 0.8


@dataclass(frozen=True)
class ChallengeQuery:
    """The challenges to generate.

    Attributes:
        count: number of challenges.
        board: the board; None for shapes to make of some of the pieces.
        given: number of given pieces, or `starting_positions.MINIMAL`, or None for a mix.
        levels: the levels to choose from.
        seed: equal seeds give equal challenges.
        of: ids of the challenges to start, or `ALL`; empty for starting positions on a board.
        clues: one of `fabkit.puzzles.graded.CLUE_KINDS`, told of some cells in place of given
            pieces; empty for given pieces.
    """

    count: int
    board: Board | None = None
    given: int | str | None = None
    levels: tuple[str, ...] = LEVELS
    seed: int = 1
    of: tuple[str, ...] = ()
    clues: str = ""


def read_query(
    puzzle: PuzzleSet,
    count: int,
    given: str | None = None,
    clues: str | None = None,
    levels: Sequence[str] | None = None,
    seed: int = 1,
    board: str | None = None,
    of: str | None = None,
) -> ChallengeQuery:
    """Return the query of the options of `fabkit challenges`, which describe the arguments.

    Raises:
        InputError: naming the option whose value does not suit the set or the other options.
    """
    place = find_board(puzzle, board)
    if of is not None and (board or clues):
        raise InputError.of("--of", f"excludes {'--board' if board else '--clues'}; choose one")
    if clues and place is None:
        raise InputError.of("--clues", f"requires a board, and {puzzle.name} has none; omit it")
    begun = tuple(filter(None, map(str.strip, (of or "").split(","))))
    if of is not None and (not begun or (ALL in begun and len(begun) > 1)):
        message = f"expected ids, or {ALL} on its own, found {quote(of)}"
        raise InputError.of("--of", message)
    if given is not None and place is None and not begun:
        message = f"requires a board, and {puzzle.name} has none; omit it"
        raise InputError.of("--given", message)
    max_given, limit = len(puzzle.pieces) - 1, pluralize(len(puzzle.pieces), "piece")
    if clues and place is not None:
        max_given = len(place.cells)
        limit = f"a board of {pluralize(max_given, 'cell')}"
    given_count: int | str | None = given
    if given not in (None, MINIMAL):
        digits = given.lstrip("0")
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(max_given))
        if not (is_number and int(digits) <= max_given):
            message = (
                f"expected minimal, or a whole number from 1 to {max_given}, since {puzzle.name} "
                f"has {limit}; found {quote(given)}"
            )
            raise InputError.of("--given", message)
        given_count = int(digits)
    if place is None and not begun:
        refuse_unsuitable(puzzle)
    chosen = tuple(levels or LEVELS)
    return ChallengeQuery(count, place, given_count, chosen, seed, begun, clues or "")


def find_board(puzzle: PuzzleSet, name: str | None) -> Board | None:
    """Return the board of that id, else the default one; None if the set has none.

    Raises:
        InputError: if there is no board of that id.
    """
    if name is None:
        return default_board(puzzle.boards)
    for board in puzzle.boards:
        if board.id == name:
            return board
    known = [board.id for board in puzzle.boards]
    choices = f"its boards are {', '.join(known)}" if known else "it has none"
    message = f"{puzzle.name} has no board {quote(name)}; {choices}{did_you_mean(name, known)}"
    raise InputError.of("--board", message)


@dataclass(frozen=True)
class GeneratedChallenges:
    """The generated challenges.

    Attributes:
        puzzle: the set.
        query: the request.
        graded: the challenges with ids, from easy to hard.
        reason: why there are fewer than requested; empty if there are not.
    """

    puzzle: PuzzleSet
    query: ChallengeQuery
    graded: tuple[GradedChallenge, ...]
    reason: str = ""

    @property
    def levels(self) -> dict[str, list[GradedChallenge]]:
        """The challenges by level, for every requested level."""
        by_level: dict[str, list[GradedChallenge]] = {level: [] for level in self.query.levels}
        for graded in self.graded:
            by_level[graded.level].append(graded)
        return by_level

    @property
    def distinct(self) -> dict[str, int]:
        """How many challenges and solutions there are, if images of each other count once."""
        lattice = self.puzzle.lattice
        views = {player_view(graded.encoded) for graded in self.graded}
        solutions = {up_to_symmetry(lattice, graded.candidate.solution) for graded in self.graded}
        return {"challenges": len(views), "solutions": len(solutions)}


def generate(
    puzzle: PuzzleSet,
    query: ChallengeQuery,
    limit_s: float | None,
    progress: Progress,
    started: float,
) -> GeneratedChallenges:
    """Generate challenges.

    Args:
        puzzle: the set; without a board, one that `refuse_unsuitable` does not refuse.
        limit_s: time limit; keeps the challenges found so far.
        started: start of the clock, in `time.monotonic` seconds.

    Returns:
        As many as requested, or fewer with the reason.

    Raises:
        ExternalError: if the engines disagree, or the second fails.
    """
    reason = ""
    whole = Budget(limit_s, progress, started)
    proving = whole.subtask(_FINDING, 1.0)
    finding = replace(whole.subtask(0.0, _FINDING), limit_s=limit_s and _FINDING * limit_s)
    try:
        sources, reason = _sources(puzzle, query, finding)
        gathered = grade_candidates(puzzle, sources, query.count, query.levels, finding)
    except BudgetSpentError:
        gathered = GradedSelection((), spent=True)
    proved = confirm_by_sat(gathered.graded, proving)
    others = "no others" if proved else "none"
    if len(proved) == query.count:
        reason = ""
    elif gathered.spent or len(proved) < len(gathered.graded):
        reason = "time limit reached"
    elif gathered.exhausted and query.board is not None and not query.of:
        reason = reason or f"there are {others}"
        if gathered.left_out:
            reason += ", but for starts in which every hole takes one piece"
    else:
        reason = reason or f"{others} were found"
    digits = max(3, len(str(len(proved))))
    named = []
    for place, graded in enumerate(proved, 1):
        prefix = "clue" if query.clues else "start"
        prefix = "subset" if graded.candidate.shape else prefix
        challenge = replace(graded.encoded.challenge, id=f"{prefix}-{place:0{digits}}")
        named.append(replace(graded, encoded=replace(graded.encoded, challenge=challenge)))
    return GeneratedChallenges(puzzle, query, tuple(named), reason)


def _sources(
    puzzle: PuzzleSet, query: ChallengeQuery, budget: Budget
) -> tuple[Mapping[Hashable, CandidateSource], str]:
    """Return the sources of candidates; and if there are none, the reason."""
    board = query.board
    sources: dict[Hashable, CandidateSource]
    if query.of:
        bases = base_challenges(puzzle, query.of, query.count, query.seed)
        share = -(-POOL_FACTOR * query.count // len(bases))
        sources = {
            challenge.id: _starts_of(puzzle, challenge, share, query, budget) for challenge in bases
        }
        if isinstance(query.given, int):
            free_counts = {challenge.pieces_used - query.given for challenge in bases}
            if free_counts.isdisjoint(_FREE):
                return sources, f"a start leaves {_FREE[0]} to {_FREE[-1]} pieces to place"
        return sources, ""
    if board is None:
        return SubsetChallenges(puzzle).sources(query.seed), ""
    encoded = to_exact_cover(puzzle, puzzle.whole_board(board))
    infeasibility = find_infeasibility(encoded)
    if infeasibility is not None:
        return {}, f"{board.id} has no solution: {infeasibility.reason}"
    # Listing fillings reports no progress, since its share of the work is not known beforehand.
    own = Budget(budget.limit_s, started=budget.started)
    if query.clues:
        cluing = CluePositions(encoded, query.clues, own)
        sources = dict[Hashable, CandidateSource](cluing.sources(query.given, query.seed).items())
    else:
        positions = StartingPositions(encoded, own)
        if positions.fillings is not None and not len(positions.fillings):
            return {}, f"{board.id} has no solution: search exhausted"
        sources = dict[Hashable, CandidateSource](
            positions.sources(query.given, query.seed).items()
        )
    return sources, ""


def base_challenges(
    puzzle: PuzzleSet, ids: Sequence[str], count: int, seed: int
) -> list[Challenge]:
    """Return the challenges of these ids in a set, its families or its catalog.

    The id of a family stands for some of its members, drawn at random.

    Args:
        ids: for `ALL`, those without given pieces.
        count: number of members drawn of a family at most.

    Raises:
        InputError: if there is none of that id, or none at all, or if it has given pieces.
    """
    families = {family.id: family for family in puzzle.families}
    if tuple(ids) == (ALL,):
        own = [
            challenge
            for challenge in puzzle.challenges
            if not challenge.given and challenge.answer != "impossible"
        ]
        flakes = [entry for entry in shipped_entries(puzzle, "snowflake") if entry.halves == 1]
        challenges = [*own, *(replace(entry.challenge, title="") for entry in flakes)]
        for family in puzzle.families:
            challenges += _members(family, count, seed)
        if not challenges:
            raise InputError.of("--of", f"{puzzle.name} has no challenge")
        return challenges
    named = []
    for name in ids:
        known = _members(families[name], count, seed) if name in families else None
        named += known or [find_challenge(puzzle, name)]
    for challenge in named:
        if challenge.given:
            message = f"{challenge.id} has given pieces already; name challenges without"
            raise InputError.of("--of", message)
    return named


def _members(family: Family, count: int, seed: int) -> list[Challenge]:
    """Draw members of a family at random, in the family's order."""
    choices = list(family.choices())
    rng = random.Random(f"{seed} {family.id}")  # noqa: S311
    numbers = sorted(rng.sample(range(len(choices)), min(count, len(choices))))
    return [family.member(choices[number]) for number in numbers]


def _starts_of(
    puzzle: PuzzleSet, challenge: Challenge, share: int, query: ChallengeQuery, budget: Budget
) -> CandidateSource:
    """Yield a few starts of one challenge, of different sizes, with connected free cells.

    With `ALL`, no two starts of a challenge have the same size.
    """
    rng = random.Random(f"{query.seed} {challenge.id}")  # noqa: S311
    sources: Mapping[tuple[int, bool], CandidateSource] = {}
    encoded = to_exact_cover(puzzle, challenge)
    if find_infeasibility(encoded) is None:
        # There may be hundreds of thousands of fillings, so they are deleted as soon as possible.
        positions = StartingPositions(encoded, Budget(budget.limit_s, started=budget.started))
        sources = positions.sources(query.given, query.seed)
        del positions
    pieces_used = encoded.problem.pieces_used
    sizes = [(size, minimal) for size, minimal in sources if pieces_used - size in _FREE]
    candidates = list[Candidate]()
    tries = 0
    rng.shuffle(sizes)
    while sizes and len(candidates) < share and tries < _TRIES * share:
        tries += 1
        size = sizes[tries % len(sizes)]
        candidate = next(sources[size], None)
        given = candidate.challenge.given if candidate else ()
        free_cells = challenge.region.difference(*(placed.cells for placed in given))
        is_connected = len(parts_of_cells(puzzle.lattice, free_cells)) == 1
        suits = given and is_connected and pieces_used - len(given) in _FREE
        if candidate and suits:
            candidates.append(replace(candidate, of=challenge.id))
        is_spent = not candidate and not isinstance(query.given, int)
        if is_spent or (suits and query.of == (ALL,)):
            sizes.remove(size)
    del sources
    yield from candidates


def confirm_by_sat(
    graded: Sequence[GradedChallenge], budget: Budget
) -> tuple[GradedChallenge, ...]:
    """Confirm with CaDiCaL, an independent engine, the number of solutions of each challenge.

    Starting CaDiCaL's process takes longer than most proofs, so one process proves them all.

    Args:
        graded: challenges with the counts of the first engine.

    Returns:
        The confirmed challenges: all, or the first ones if the time is up.

    Raises:
        ExternalError: if the engines disagree, or the second fails.
    """
    if not graded:
        return ()
    proved = 0
    jobs = [
        (replace(challenge.encoded.problem, symmetries=()), challenge.candidate.count + 1)
        for challenge in graded
    ]
    with (
        contextlib.suppress(BudgetSpentError),
        contextlib.closing(run_in_subprocess(_count_all, jobs, budget.subtask(0.0, 0.0))) as counts,
    ):
        for challenge, count in zip(graded, counts, strict=False):
            if count != challenge.candidate.count:
                letters = ", ".join(challenge.candidate.challenge.pieces)
                raise ExternalError(
                    f"the engines disagree: one finds {challenge.candidate.count}, "
                    f"{Sat.name} {count} solutions of a challenge of the pieces {letters}; "
                    "nothing was written, please report this"
                )
            proved += 1
            budget.report(proved / len(graded))
    return tuple(graded[:proved])


def _count_all(jobs: Any, answer: Callable[[int], None]) -> None:
    """Count the solutions of each problem, up to one more than expected; runs in a subprocess."""
    for problem, limit in jobs:
        solutions: list[Solution] = []
        Sat.run_library(problem, limit, solutions.append)
        answer(len(solutions))
