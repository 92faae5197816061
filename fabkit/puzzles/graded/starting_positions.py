"""Starting positions: given pieces on a board that leave exactly one solution.

The fillings of a board (its solutions without given pieces) are listed once, unless there are too
many. Some pieces of a filling are then a starting position with one solution exactly if no other
filling contains them. On other boards fillings are drawn at random, pieces are removed one after the
other, and a search checks that the solution stays unique.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fabkit.model.puzzle import Given
from fabkit.puzzles.graded.grading import Candidate, CandidateSource
from fabkit.solve.encoding import EncodedChallenge
from fabkit.solve.engines.engine import Budget, Solution
from fabkit.solve.engines.search import Search, estimate_nodes, search_shuffled, start_search
from fabkit.solve.engines.tree_search import run_in_slices
from fabkit.solve.exact_cover import BoolArray, ExactCoverProblem, Option

MINIMAL = "minimal"

#: About how long listing the fillings may take.
_LISTING_S = 5.0
#: More fillings are not listed.
_MAX_LISTED = 500_000
#: Fillings of more pieces are not listed: n pieces have 2^n positions.
_MAX_PIECES = 16
#: Limit for drawing one random filling, in nodes of the search.
_DRAWING_NODES = 50_000
#: About how long checking uniqueness may take.
_UNIQUE_S = 0.5


class StartingPositions:
    """The starting positions of one board or challenge, except those of the set's own challenges.

    Args:
        encoded: the board or challenge, with no piece given.
        budget: time limit and progress of listing the fillings; later, time limit of drawing them.

    Attributes:
        fillings: a row of option positions for each; None if there are too many to list.

    Raises:
        BudgetSpentError: if the time is up.
    """

    def __init__(self, encoded: EncodedChallenge, budget: Budget) -> None:
        self.encoded = encoded
        self._budget = budget
        self._problem = encoded.problem
        self._pieces = encoded.problem.pieces_used
        self.fillings = _list_fillings(encoded.problem, budget)
        self._seen: set[Solution] = set()
        self._skip_shipped()

    def sources(
        self, given: int | str | None, seed: int
    ) -> dict[tuple[int, bool], CandidateSource]:
        """Return sources of candidates by the number of given pieces, and whether all are needed.

        Args:
            given: number of pieces; or `MINIMAL`; None for minimal positions and others, with any
                number of pieces that leaves two to place.
            seed: equal seeds give equal candidates.
        """
        if isinstance(given, int):
            names = [(given, False)]
        elif given == MINIMAL:
            names = [(size, True) for size in range(self.encoded.challenge.pieces_used)]
        else:
            max_size = max(self.encoded.challenge.pieces_used - 2, 0)
            names = [(size, alone) for size in range(max_size + 1) for alone in (True, False)]
        follow = self._at_random if self.fillings is None else self._from_list
        return {name: follow(*name, random.Random(f"{seed} {name}")) for name in names}  # noqa: S311

    def _skip_shipped(self) -> None:
        """Mark the positions of the set's own challenges on this board as found."""
        board = self.encoded.challenge
        for own in self.encoded.puzzle.challenges:
            is_on_board = (
                own.region == board.region
                and set(own.pieces) == set(board.pieces)
                and own.pieces_count == board.pieces_count
            )
            if not is_on_board:
                continue
            cells_of = {placed.piece: placed.cells for placed in own.given}
            held = list[int]()
            for position, option in enumerate(self._problem.options):
                given_cells = map(cells_of.get, self.encoded.kinds[option.kind])
                if self._covered(position) in given_cells:
                    held.append(position)
            self._is_new(held)

    def _from_list(self, size: int, minimal: bool, rng: random.Random) -> CandidateSource:
        """Cycle through the fillings and yield a new position of each, until none is left."""
        assert self.fillings is not None
        rows = np.arange(len(self.fillings))
        if size == 1:  # only a filling with a placement of its own has such a position
            held = np.bincount(self.fillings.ravel(), minlength=len(self._problem.options))
            rows = rows[(held[self.fillings] == 1).any(axis=1)]
        order = rows.tolist()
        fresh = True
        while fresh:
            fresh = False
            rng.shuffle(order)
            for row in order:
                candidate = self._new_position(self.fillings[row].tolist(), size, minimal, rng)
                fresh |= candidate is not None
                yield candidate

    def _new_position(
        self, filling: list[int], size: int, minimal: bool, rng: random.Random
    ) -> Candidate | None:
        """Return a random position of a filling that is not equivalent to an earlier one."""
        ambiguous = self._ambiguous(filling)
        alone = _minimal(ambiguous)
        fitting = (alone if minimal else ~ambiguous) & (self._sizes == size)
        for place, option in enumerate(filling):
            if not self._is_piece(option):
                _halves(fitting, place)[1][...] = False
        sets = np.flatnonzero(fitting).tolist()
        rng.shuffle(sets)
        for chosen in sets:
            held = [option for place, option in enumerate(filling) if chosen >> place & 1]
            if self._is_new(held):
                return self._candidate(filling, held, bool(alone[chosen]))
        return None

    def _ambiguous(self, filling: list[int]) -> BoolArray:
        """Return for each set of a filling's pieces, as bits, whether another filling contains it."""
        assert self.fillings is not None
        holders = [self._holders[option] for option in filling]
        shared = np.zeros(len(self.fillings), dtype=np.int32)
        for place, rows in enumerate(holders):
            shared[rows] |= 1 << place
        ambiguous = np.zeros(1 << len(filling), dtype=np.bool_)
        ambiguous[shared[np.concatenate(holders)]] = True
        ambiguous[-1] = False  # no other filling contains the whole filling
        for place in range(len(filling)):  # what contains a set contains its subsets
            without, holding = _halves(ambiguous, place)
            without |= holding
        ambiguous[0] = len(self.fillings) > 1
        return ambiguous

    @cached_property
    def _holders(self) -> list[npt.NDArray[np.int64]]:
        """The rows of the fillings that contain each option."""
        assert self.fillings is not None
        counts = np.bincount(self.fillings.ravel(), minlength=len(self._problem.options))
        rows = np.argsort(self.fillings, axis=None, kind="stable") // self._pieces
        return np.split(rows, np.cumsum(counts)[:-1])

    @cached_property
    def _sizes(self) -> npt.NDArray[np.int64]:
        """The size of each set of pieces, as bits."""
        return np.array([sets.bit_count() for sets in range(1 << self._pieces)])

    def _at_random(self, size: int, minimal: bool, rng: random.Random) -> CandidateSource:
        """Draw fillings and remove pieces, endlessly: it is not known when all are found."""
        while True:
            _, filling = search_shuffled(self._problem, rng, _DRAWING_NODES, self._budget)
            yield None if filling is None else self._remove_pieces(filling, size, minimal, rng)

    def _remove_pieces(
        self, filling: Solution, size: int, minimal: bool, rng: random.Random
    ) -> Candidate | None:
        """Remove pieces in random order while the solution stays unique, then put some back."""
        pieces = list(filter(self._is_piece, filling))
        held = set(pieces)
        free = list[int]()
        for option in rng.sample(pieces, len(pieces)):
            self._budget.report(0.0)
            verdict = _is_unique(self._problem, held - {option})
            if verdict is None:
                return None  # unknown, so the position may not be minimal
            if verdict:
                held.remove(option)
                free.append(option)
        lacking = size - len(held)
        if lacking < 0 or (lacking and minimal):
            return None
        held.update(rng.sample(free, lacking))
        return self._candidate(filling, sorted(held), not lacking) if self._is_new(held) else None

    def _is_piece(self, option: int) -> bool:
        """Return whether an option places a piece, which can be given; else a cell stays open."""
        return bool(self.encoded.kinds[self._problem.options[option].kind])

    def _is_new(self, held: Iterable[int]) -> bool:
        """Return whether a position is new up to the board's symmetries, and mark it as found.

        Identical pieces are options of one kind, so their ids make no difference.
        """
        chosen = list(held)
        key = min(
            tuple(sorted(image[option] for option in chosen)) for image in self._problem.images
        )
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _candidate(self, filling: Iterable[int], held: Iterable[int], minimal: bool) -> Candidate:
        solution = self.encoded.decode(filling)
        wanted = set(map(self._covered, held))  # cells of a filling are covered once
        given = tuple(
            Given(piece_id, cells) for piece_id, cells in solution.items() if cells in wanted
        )
        challenge = replace(self.encoded.challenge, id="", given=given, answer="", title="")
        return Candidate(challenge, solution, minimal=minimal)

    def _covered(self, option: int) -> frozenset[tuple[int, int]]:
        return frozenset(self.encoded.cells[cell] for cell in self._problem.options[option].cells)


def _list_fillings(problem: ExactCoverProblem, budget: Budget) -> npt.NDArray[np.int32] | None:
    """List all solutions, a row for each; None if there are too many."""
    pieces = problem.pieces_used
    if pieces > _MAX_PIECES:
        return None
    search = start_search(problem, break_symmetry=False, keep_solutions=True)
    blocks = [np.zeros((0, pieces), dtype=np.int32)]
    is_complete = False
    for over in run_in_slices(search, _MAX_LISTED + 1, estimate_nodes(problem, _LISTING_S)):
        blocks.append(np.array(search.solutions, dtype=np.int32).reshape(-1, pieces))
        search.solutions.clear()
        budget.report(search.progress())
        is_complete = over
    return np.concatenate(blocks) if is_complete and search.count <= _MAX_LISTED else None


def _minimal(ambiguous: BoolArray) -> BoolArray:
    """Return which sets are unique but no longer so once any piece is removed."""
    minimal = ~ambiguous
    for place in range(len(ambiguous).bit_length() - 1):
        _, holding = _halves(minimal, place)
        holding &= _halves(ambiguous, place)[0]
    return minimal


def _halves(sets: BoolArray, place: int) -> tuple[BoolArray, BoolArray]:
    """Return views of the sets without a piece, and of the same sets with it."""
    pairs = sets.reshape(-1, 2, 1 << place)
    return pairs[:, 0], pairs[:, 1]


def _is_unique(problem: ExactCoverProblem, held: set[int]) -> bool | None:
    """Return whether some options leave exactly one solution; None if unknown."""
    rest = _residual_problem(problem, held)
    answer = Search(estimate_nodes(rest, _UNIQUE_S)).unique(rest, Budget())
    if answer.count > 1:
        return False
    return True if answer.complete and answer.count == 1 else None


def _residual_problem(problem: ExactCoverProblem, held: Iterable[int]) -> ExactCoverProblem:
    """Return the rest of a problem once some options are chosen, with cells renumbered."""
    copies = list(problem.copies)
    covered = set[int]()
    for option in held:
        copies[problem.options[option].kind] -= 1
        covered.update(problem.options[option].cells)
    free = [cell for cell in range(problem.cell_count) if cell not in covered]
    number = {cell: index for index, cell in enumerate(free)}
    options = (
        Option(option.kind, tuple(number[cell] for cell in option.cells))
        for option in problem.options
        if copies[option.kind] and covered.isdisjoint(option.cells)
    )
    pieces_count = problem.pieces_count
    if pieces_count is not None:
        pieces_count -= sum(problem.copies) - sum(copies)
    return ExactCoverProblem(len(free), tuple(copies), tuple(options), pieces_count=pieces_count)
