"""The compiled engines against the reference engine: random problems, symmetries, budgets,
progress.
"""

from __future__ import annotations

from itertools import pairwise
from math import factorial, prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.puzzle import Challenge
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover
from fabkit.solve.engines.bitmask import BitmaskSearch
from fabkit.solve.engines.engine import Budget, Engine, Outcome, UnsupportedProblemError
from fabkit.solve.engines.frontier import Count, Frontier
from fabkit.solve.engines.mrv import MrvSearch
from fabkit.solve.engines.search import Search, symmetry_breaking_kind
from fabkit.solve.exact_cover import ExactCoverProblem, Option, burnside
from tests.conftest import ROOT
from tests.support.algorithm_x import AlgorithmX
from tests.support.problems import choices_of_pieces, dominoes, pigeons, problems
from tests.support.sketches import Sketch, board
from tests.support.strategies import cell_sets, piece_of


class Fewest(Engine):
    """The search as it goes where cells do not fit into a word, for problems where they do."""

    name = "fewest"

    def enumerate(
        self, problem: ExactCoverProblem, budget: Budget, limit: int | None = None
    ) -> Outcome:
        search = MrvSearch(problem, keep_solutions=True)
        while limit != 0 and not search.step(3, limit):
            budget.report(search.progress())
        complete = limit is None or search.count < limit
        return Outcome(search.count, complete, tuple(search.solutions), search.nodes)


#: Random challenges have fewer solutions than this.
MOST = 1000

LISTING: list[Engine] = [Search(), Fewest()]
COUNTING: list[Engine] = [Search(), Fewest(), Count()]


def agree(problem: ExactCoverProblem) -> None:
    """All engines agree with the reference engine on every question."""
    expected = AlgorithmX().enumerate(problem, Budget())
    solutions = set(expected.solutions)
    assert len(solutions) == expected.count
    assert all(problem.is_solved_by(solution) for solution in solutions)
    for engine in LISTING:
        found = engine.enumerate(problem, Budget())
        assert found.complete
        assert sorted(found.solutions) == sorted(solutions), engine.name
        first = engine.first(problem, Budget())
        assert set(first.solutions) <= solutions
        assert first.count == min(1, len(solutions))
        assert first.complete == (not solutions)
        some = engine.enumerate(problem, Budget(), limit=2)
        assert len(set(some.solutions)) == min(2, len(solutions))
        assert some.complete == (len(solutions) < 2)
    for engine in COUNTING:
        counted = engine.count(problem, Budget())
        assert (counted.count, counted.complete) == (len(solutions), True), engine.name
        unique = engine.unique(problem, Budget())
        assert (unique.complete and unique.count == 1) == (len(solutions) == 1)


@given(problems())
def test_engines_agree_on_random_problems(problem: ExactCoverProblem) -> None:
    agree(problem)


@given(choices_of_pieces())
def test_engines_agree_where_only_some_pieces_are_used(problem: ExactCoverProblem) -> None:
    """What areas exclude has no solution."""
    agree(problem)


def test_areas_exclude_most_choices_of_pieces() -> None:
    """Ten of the 21 polyominoes fill 7 x 7 only as nine of five squares and one of four."""
    puzzle = load_set(str(ROOT / "tests" / "sets" / "polyominoes.toml"))
    problem = to_exact_cover(puzzle, puzzle.challenges[0]).problem
    for search in (
        BitmaskSearch(problem, [(None, 1)], keep_solutions=True),
        MrvSearch(problem, keep_solutions=True),
    ):
        assert search.step(100_000, 1), "found among so few nodes"
        assert problem.is_solved_by(search.solutions[0])
        sizes = [len(problem.options[position].cells) for position in search.solutions[0]]
        assert sorted(sizes) == [4, *[5] * 9]


@st.composite
def challenges(draw: st.DrawFn) -> EncodedChallenge:
    """A small board with random pieces, some of them twice, and all its symmetries."""
    lattice = draw(st.sampled_from(list(LATTICES.values())))
    rows, cols = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    cells_of_board = board(lattice.name, rows, cols)
    flips, are_some_open = draw(st.booleans()), draw(st.booleans())
    pieces: list[Piece] = []
    free = len(cells_of_board)
    while free > 0 and len(pieces) < 6:
        _, cells = draw(cell_sets(lattice, most=min(free, 4 * lattice.cells_per_unit)))
        for _ in range(draw(st.integers(1, 2))):
            if len(cells) <= free:
                form = piece_of(lattice, cells)
                pieces.append(Piece(f"P{len(pieces)}", "P", form.colour, form.forms))
                free -= len(cells)
    assume(are_some_open or free == 0)
    encoded = Sketch(lattice, cells_of_board, tuple(pieces), flips, free).encoded
    # With open cells there may be millions of solutions: more than the reference engine lists in
    # time.
    assume(Search().enumerate(encoded.problem, Budget(), limit=MOST).count < MOST)
    return encoded


@given(challenges())
def test_symmetries_change_no_count(encoded: EncodedChallenge) -> None:
    """Branching on representatives, islands and Burnside, against all solutions written out."""
    problem = encoded.problem
    agree(problem)
    group = set(problem.symmetries)
    assert len(group) == len(problem.symmetries)
    assert all(tuple(one[item] for item in other) in group for one in group for other in group)
    solutions = AlgorithmX().enumerate(problem, Budget()).solutions
    orbits = {
        frozenset(tuple(sorted(image[p] for p in solution)) for image in problem.images)
        for solution in solutions
    }
    assert all(orbit <= set(solutions) for orbit in orbits)
    answer = solve(encoded, "count", "search")
    assert answer.count_up_to_symmetry == len(orbits)
    assert answer.count == len(solutions)
    names = prod(factorial(len(kind)) for kind in encoded.kinds)
    assert answer.count_labelled == len(solutions) * names
    assert solve(encoded, "count").count == len(solutions)  # the checks are never wrong


@given(challenges(), st.integers(1, 7))
def test_progress_never_decreases_and_ends_at_one(encoded: EncodedChallenge, slice_: int) -> None:
    """Weighted by the branching, the leaves' shares add up to one."""
    kind, orbits = symmetry_breaking_kind(encoded.problem)
    searches: list[BitmaskSearch | MrvSearch] = [
        MrvSearch(encoded.problem, kind, orbits or None),
        MrvSearch(encoded.problem),
    ]
    if BitmaskSearch.fits(encoded.problem):
        searches.append(BitmaskSearch(encoded.problem, [(None, 1)], keep_solutions=False))
    for search in searches:
        shares = [search.progress()]
        while not search.step(slice_, None):
            shares.append(search.progress())
        assert search.progress() == 1.0
        assert all(b >= a - 1e-12 for a, b in pairwise(shares))
        assert 0 <= shares[0] <= shares[-1] <= 1.0 + 1e-12


@pytest.mark.integration
def test_wide_boards_are_searched_as_well() -> None:
    """A board of more than 64 cells, and one of more than 128, against the frontier."""
    stars = load_set("iqstars")
    for rows, cols in ((5, 14), (4, 35)):
        wide = board("hexagon", rows, cols)
        red, orange = (stars.piece(name).forms[0].cells for name in ("red", "orange"))
        spare = len(wide) - len(red) - len(orange)
        challenge = Challenge("wide", wide, ("red", "orange"), open_count=spare)
        encoded = to_exact_cover(stars, challenge)
        assert not BitmaskSearch.fits(encoded.problem)
        expected = sum(
            not set(a.cells) & set(b.cells)
            for a in (encoded.problem.options[p] for p in encoded.problem.by_kind[0])
            for b in (encoded.problem.options[p] for p in encoded.problem.by_kind[1])
        )
        assert Search().count(encoded.problem, Budget()).count == expected


def pieces_of_one_cell(*copies: int) -> ExactCoverProblem:
    """Each kind fits on as many cells as it has copies."""
    kinds = [kind for kind, count in enumerate(copies) for _ in range(count)]
    options = tuple(Option(kind, (cell,)) for cell, kind in enumerate(kinds))
    return ExactCoverProblem(len(kinds), copies, options)


def test_the_limits_of_a_word() -> None:
    assert Search().first(dominoes(8), Budget()).count == 1
    window = (Option(0, (0, 100)), *(Option(1, (cell,)) for cell in range(1, 100)))
    for problem in (
        ExactCoverProblem(64, (1,), (Option(0, tuple(range(64))),)),
        pieces_of_one_cell(64),
        pieces_of_one_cell(*(1 for _ in range(33))),
        ExactCoverProblem(101, (1, 99), window),
    ):
        if Frontier.fits(problem):
            assert Count().count(problem, Budget()).count == 1
        assert Search().count(problem, Budget()).count == 1
    wide = (Option(0, (0, 150)), *(Option(1, (cell,)) for cell in range(1, 150)))
    with pytest.raises(UnsupportedProblemError):
        Count().count(ExactCoverProblem(151, (1, 149), wide), Budget())


def test_many_ways_to_a_dead_end_are_no_solutions() -> None:
    """More than 2^64 ways to fill a square, beside two parts that no domino fills."""
    square = dominoes(16)
    parts = [(256, 257), (257, 258), (259, 260), (260, 261)]
    options = (*square.options, *(Option(0, part) for part in parts))
    odd = ExactCoverProblem(262, (131,), tuple(sorted(options)))
    outcome = Count().count(odd, Budget())
    assert (outcome.count, outcome.complete) == (0, False)


@pytest.mark.parametrize(("squares", "expected"), [(61, (2**63, True)), (62, (0, False))])
def test_a_count_of_two_to_the_64_is_not_complete(squares: int, expected: tuple[int, bool]) -> None:
    """Each square of four cells holds two dominoes in two ways; beside them, one cell of four is
    left.

    That cell is a piece, and so are the three others; the four are turned into each other.
    """
    options = []
    for corner in range(0, 4 * squares, 4):
        for first, second in ((0, 1), (0, 2), (1, 3), (2, 3)):
            options.append(Option(0, (corner + first, corner + second)))
    last = range(4 * squares, 4 * squares + 4)
    for cell in last:
        options.append(Option(1, (cell,)))
        options.append(Option(2, tuple(other for other in last if other != cell)))
    turns = [(*range(4 * squares), *last[turn:], *last[:turn]) for turn in range(4)]
    copies = (2 * squares, 1, 1)
    problem = ExactCoverProblem(
        4 * squares + 4, copies, tuple(sorted(options)), symmetries=tuple(turns)
    )
    outcome = Count().count(problem, Budget())
    assert (outcome.count, outcome.complete) == expected


@pytest.mark.parametrize("engine", [Search(), Count()], ids=lambda one: one.name)
def test_a_spent_budget_is_never_a_no(engine: Engine) -> None:
    """Neither for a hard problem without a solution, nor for one with many."""
    for problem in (dominoes(8), pigeons(9)):
        outcome = engine.count(problem, Budget(limit_s=0))
        assert not outcome.complete
        assert outcome.count <= 12_988_816


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that loses solutions, and one that invents them, do not pass for right."""
    stars = load_set("iqstars")
    whole = Challenge("b", stars.boards[0].cells, tuple(piece.id for piece in stars.pieces))
    wrong = Outcome(1, False, ((0, 1, 2),), 1)
    monkeypatch.setattr(Search, "first", lambda self, problem, budget: wrong)
    with pytest.raises(AssertionError, match="wrong solution"):
        solve(to_exact_cover(stars, whole), "first", "search")


def test_counts_that_contradict_each_other_are_found() -> None:
    with pytest.raises(ValueError, match="not whole orbits"):
        burnside(47, [0] * 7)
