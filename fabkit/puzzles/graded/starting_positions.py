"""Starting positions: pieces given on a board so that exactly one solution is left.

A board's fillings are listed once, when they are not too many. Then a filling and some of its
pieces are a starting position with one solution exactly if no other filling holds these pieces,
and all positions of a filling are known at a glance. On other boards fillings are drawn by lot,
pieces are taken away one after the other, and the search looks whether the rest stays unique.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fabkit.model.puzzle import Challenge, Given
from fabkit.puzzles.graded.grading import Candidate, Source
from fabkit.solve.engines.engine import Effort, Solution
from fabkit.solve.engines.search import FewestWalk, Search, in_slices, nodes_in, start_walk
from fabkit.solve.posing import PosedChallenge
from fabkit.solve.problem import ExactCoverProblem, Option

#: The engine that finds positions, and with which their uniqueness is first known.
ENGINE = "search"
MINIMAL = "minimal"

#: Fillings are listed when the search lists them in about so many seconds, when there are at most
#: so many, and of at most so many pieces: each filling has two to the power of that positions.
_LISTING_S = 5.0
_MOST_LISTED = 500_000
_MOST_PIECES = 16
#: So much may drawing one filling by lot take, and finding out whether a position is unique.
_DRAWING_NODES = 50_000
_UNIQUE_S = 0.5

Masks = npt.NDArray[np.bool_]


class Positions:
    """The starting positions of one board. Those that the set comes with are not made again.

    Args:
        posed: all pieces on the board, none given.
        effort: budget and progress of listing the fillings; later, the budget of drawing them.

    Attributes:
        fillings: a row of option positions for each; None when they are too many to list.

    Raises:
        BudgetSpentError: when the time is over.
    """

    def __init__(self, posed: PosedChallenge, effort: Effort) -> None:
        self.posed = posed
        self._effort = effort
        self._problem = posed.problem
        self._pieces = sum(posed.problem.copies)
        self.fillings = _listed(posed.problem, effort)
        self._seen: set[Solution] = set()
        self._skip_shipped()

    def sources(self, given: int | str | None, seed: int) -> dict[Hashable, Source]:
        """Where candidates come from, by the number of pieces given.

        Args:
            given: so many pieces; or `MINIMAL`; None for minimal positions and others, of any
                number of pieces that leaves two to place.
            seed: the same seed gives the same candidates.
        """
        if isinstance(given, int):
            names = [(given, False)]
        elif given == MINIMAL:
            names = [(size, True) for size in range(self._pieces)]
        else:
            most = max(self._pieces - 2, 0)
            names = [(size, alone) for size in range(most + 1) for alone in (True, False)]
        follow = self._by_lot if self.fillings is None else self._from_list
        return {name: follow(*name, random.Random(f"{seed} {name}")) for name in names}  # noqa: S311

    def _skip_shipped(self) -> None:
        """Takes what the set's own challenges give on this board for found."""
        board, kinds = self.posed.challenge, self.posed.kinds
        for own in self.posed.puzzle.challenges:
            if own.region == board.region and set(own.pieces) == set(board.pieces):
                given = {
                    (kind, one.cells) for one in own.given for kind in kinds if one.piece in kind
                }
                self._is_new(
                    at
                    for at, option in enumerate(self._problem.options)
                    if (kinds[option.kind], self._covered(at)) in given
                )

    def _from_list(self, size: int, minimal: bool, rng: random.Random) -> Source:
        """Goes round the fillings and takes a new position of each, until none has any."""
        assert self.fillings is not None
        rows = np.arange(len(self.fillings))
        if size == 1:  # a filling without a placement of its own has no such position
            held = np.bincount(self.fillings.ravel(), minlength=len(self._problem.options))
            rows = rows[(held[self.fillings] == 1).any(axis=1)]
        order, fresh = rows.tolist(), True
        while fresh:
            fresh = False
            rng.shuffle(order)
            for row in order:
                filling = self.fillings[row].tolist()
                found = self._new_of(filling, size, minimal, self._ambiguous(filling), rng)
                fresh |= found is not None
                yield found

    def _new_of(
        self, filling: list[int], size: int, minimal: bool, ambiguous: Masks, rng: random.Random
    ) -> Candidate | None:
        """A position of a filling that is like none before, drawn by lot."""
        alone = _minimal(ambiguous)
        fitting = (alone if minimal else ~ambiguous) & (self._sizes == size)
        sets = np.flatnonzero(fitting).tolist()
        rng.shuffle(sets)
        for chosen in sets:
            held = [one for place, one in enumerate(filling) if chosen >> place & 1]
            if self._is_new(held):
                return self._candidate(filling, held, bool(alone[chosen]))
        return None

    def _ambiguous(self, filling: list[int]) -> Masks:
        """For each set of a filling's pieces, as bits, whether another filling holds them, too."""
        assert self.fillings is not None
        holders = [self._holders[one] for one in filling]
        shared = np.zeros(len(self.fillings), dtype=np.int32)
        for place, rows in enumerate(holders):
            shared[rows] |= 1 << place
        ambiguous = np.zeros(1 << len(filling), dtype=np.bool_)
        ambiguous[shared[np.concatenate(holders)]] = True
        ambiguous[-1] = False  # the filling itself: no other holds all of it
        for place in range(len(filling)):  # what holds a set holds its subsets
            without, holding = _halves(ambiguous, place)
            without |= holding
        ambiguous[0] = len(self.fillings) > 1
        return ambiguous

    @cached_property
    def _holders(self) -> list[npt.NDArray[np.int64]]:
        """For each option the rows of the fillings that hold it."""
        assert self.fillings is not None
        counts = np.bincount(self.fillings.ravel(), minlength=len(self._problem.options))
        rows = np.argsort(self.fillings, axis=None, kind="stable") // self._pieces
        return np.split(rows, np.cumsum(counts)[:-1])

    @cached_property
    def _sizes(self) -> npt.NDArray[np.int64]:
        """For each set of pieces, as bits, how many they are."""
        return np.array([sets.bit_count() for sets in range(1 << self._pieces)])

    def _by_lot(self, size: int, minimal: bool, rng: random.Random) -> Source:
        """Draws fillings and takes pieces away for ever: there is no telling when all are found."""
        while True:
            filling = _drawn(self._problem, rng, self._effort)
            yield None if filling is None else self._thinned(filling, size, minimal, rng)

    def _thinned(
        self, filling: Solution, size: int, minimal: bool, rng: random.Random
    ) -> Candidate | None:
        """Takes pieces away in any order while one solution is left, then puts some back."""
        held, free = set(filling), list[int]()
        for one in rng.sample(filling, len(filling)):
            self._effort.tell(0.0)
            verdict = _is_unique(self._problem, held - {one})
            if verdict is None:
                return None  # it would not be known whether the position is minimal
            if verdict:
                held.remove(one)
                free.append(one)
        lacking = size - len(held)
        if lacking < 0 or (lacking and minimal):
            return None
        held.update(rng.sample(free, lacking))
        return self._candidate(filling, sorted(held), not lacking) if self._is_new(held) else None

    def _is_new(self, held: Iterable[int]) -> bool:
        """Whether no position found before is this one, or its image under the board's symmetries.

        Identical pieces are options of one kind, so that their names make no difference.
        """
        chosen = list(held)
        key = min(tuple(sorted(image[one] for one in chosen)) for image in self._problem.images)
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _candidate(self, filling: Iterable[int], held: Iterable[int], minimal: bool) -> Candidate:
        solution = self.posed.layout(filling)
        wanted = set(map(self._covered, held))  # cells of a filling are covered once
        given = tuple(Given(one, cells) for one, cells in solution.items() if cells in wanted)
        board = self.posed.challenge
        challenge = Challenge("", board.region, board.pieces, given, board.flips)
        return Candidate(challenge, solution, minimal=minimal)

    def _covered(self, option: int) -> frozenset[tuple[int, int]]:
        return frozenset(self.posed.cells[cell] for cell in self._problem.options[option].cells)


def _listed(problem: ExactCoverProblem, effort: Effort) -> npt.NDArray[np.int32] | None:
    """All solutions, a row for each; None when they are too many."""
    pieces = sum(problem.copies)
    if pieces > _MOST_PIECES:
        return None
    walk = start_walk(problem, reduced=False, listing=True)
    blocks, over = [np.zeros((0, pieces), dtype=np.int32)], False
    for ended in in_slices(walk, _MOST_LISTED + 1, nodes_in(problem, _LISTING_S)):
        blocks.append(np.array(walk.solutions, dtype=np.int32).reshape(-1, pieces))
        walk.solutions.clear()
        effort.tell(walk.share())
        over = ended
    return np.concatenate(blocks) if over and walk.count <= _MOST_LISTED else None


def _minimal(ambiguous: Masks) -> Masks:
    """Which sets are unique, and no longer so when any piece is taken away."""
    minimal = ~ambiguous
    for place in range(len(ambiguous).bit_length() - 1):
        _, holding = _halves(minimal, place)
        holding &= _halves(ambiguous, place)[0]
    return minimal


def _halves(sets: Masks, place: int) -> tuple[Masks, Masks]:
    """Views of the sets without a piece, and of the same sets with it."""
    pairs = sets.reshape(-1, 2, 1 << place)
    return pairs[:, 0], pairs[:, 1]


def _drawn(problem: ExactCoverProblem, rng: random.Random, effort: Effort) -> Solution | None:
    """A solution found in an order drawn by lot; None when it takes too long."""
    order = list(range(len(problem.options)))
    rng.shuffle(order)
    shuffled = tuple(problem.options[one] for one in order)
    mixed = ExactCoverProblem(problem.cell_count, problem.copies, shuffled)
    walk = FewestWalk(mixed, listing=True)
    for _ in in_slices(walk, limit=1, most_nodes=_DRAWING_NODES):
        effort.tell(0.0)
    return tuple(sorted(order[one] for one in walk.solutions[0])) if walk.solutions else None


def _is_unique(problem: ExactCoverProblem, held: set[int]) -> bool | None:
    """Whether what is left beside some options has exactly one solution; None if not known."""
    rest = _rest(problem, held)
    found = Search(nodes_in(rest, _UNIQUE_S)).unique(rest, Effort())
    if found.count > 1:
        return False
    return True if found.complete and found.count == 1 else None


def _rest(problem: ExactCoverProblem, held: Iterable[int]) -> ExactCoverProblem:
    """What is left of a problem beside some options, its cells numbered anew."""
    copies, covered = list(problem.copies), set[int]()
    for one in held:
        copies[problem.options[one].kind] -= 1
        covered.update(problem.options[one].cells)
    free = [cell for cell in range(problem.cell_count) if cell not in covered]
    number = {cell: index for index, cell in enumerate(free)}
    options = (
        Option(option.kind, tuple(number[cell] for cell in option.cells))
        for option in problem.options
        if copies[option.kind] and covered.isdisjoint(option.cells)
    )
    return ExactCoverProblem(len(free), tuple(copies), tuple(options))
