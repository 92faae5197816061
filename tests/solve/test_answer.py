"""Counts that have been published or settled before, by engines that share no kernel."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fabkit.model.puzzle import Challenge
from fabkit.sets.challenges import find_challenge
from fabkit.sets.library import load_set
from fabkit.solve.answer import count_starts, solve
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover
from fabkit.solve.engines.engine import Budget
from fabkit.solve.engines.frontier import Count, Frontier
from fabkit.solve.engines.search import Search, count_if_short, estimate_nodes
from fabkit.solve.exact_cover import ExactCoverProblem
from tests.support.published import iqfit_samples, iqstars_samples, known_counts

SETS = Path(__file__).resolve().parents[1] / "sets"
ONESIDED = str(SETS / "onesided.toml")
#: Counts that take the frontier seconds or tens of seconds; the search would take hours.
LARGE = {
    "square_09": 776_788,
    "square_10": 5_351_152,
    "rectangle_10_a": 151_584,
    "rectangle_10_b": 12_646_448,
    "rectangle_10_c": 6_691_974,
}


@cache
def encoded(name: str, challenge: str | None = None, flips: bool | None = None) -> EncodedChallenge:
    puzzle = load_set(name)
    found = find_challenge(puzzle, challenge)
    if flips is not None:
        found = Challenge(found.id, found.region, found.pieces, found.given, flips)
    return to_exact_cover(puzzle, found)


def third_engine(problem: ExactCoverProblem) -> int:
    """The count by the package exact-cover, which shares nothing with this project."""
    exact_cover = importlib.import_module("exact_cover")
    rows = np.zeros((len(problem.options), problem.cell_count + problem.kind_count), dtype=np.int32)
    for row, option in enumerate(problem.options):
        rows[row, [*option.cells, problem.cell_count + option.kind]] = 1
    return int(exact_cover.get_solution_count(rows))


BOARDS = [
    # set, challenge, flips, count, up to symmetry
    ("pentominoes", "6x10", None, 9356, 2339),
    ("pentominoes", "8x8", None, 520, 65),
    ("iqblock", None, None, 48, 6),
    ("iqblock", None, False, 8, None),
    ("cubimagici", None, None, 816, 102),
    ("cubimagici", None, False, 44, None),
    ("iqstars", None, None, 381, 381),
    ("iqfit", None, None, 301_350, 150_675),
    (ONESIDED, None, None, 184, 46),
    # Flat pieces of balls may be turned over whatever the moves.
    ("balls12", None, None, 371_020, 92_755),
    ("balls12", None, False, 371_020, None),
]
#: The search takes minutes for one, the frontier seconds for others.
BY_SEARCH = {("pentominoes", "6x10"), ("pentominoes", "8x8"), ("iqfit", None)}
BY_COUNT = {(ONESIDED, None), ("iqfit", None), ("balls12", None)}


@pytest.mark.parametrize(
    ("name", "challenge", "flips", "count", "orbits"),
    BOARDS,
    ids=[f"{Path(b[0]).stem}-{b[1] or 'board'}{'-turned' * (b[2] is False)}" for b in BOARDS],
)
def test_boards(
    name: str, challenge: str | None, flips: bool | None, count: int, orbits: int | None
) -> None:
    one, case = encoded(name, challenge, flips), (name, challenge)
    found = [solve(one, "count", "search")] if case not in BY_COUNT else []
    found += [solve(one, "count", "count")] if case not in BY_SEARCH - BY_COUNT else []
    for answer in found:
        assert answer.count == count
        assert orbits in (None, answer.count_up_to_symmetry)


@pytest.mark.parametrize(
    ("name", "challenge", "engine"),
    [
        ("cubimagici", None, "search"),
        ("iqblock", None, "search"),
        ("pentominoes", "8x8", "search"),
        ("fridgeiq", "triangle_08", "search"),
        ("fridgeiq", "square_05", "count"),
        ("fridgeiq", "rectangle_10_a", "count"),
        ("iqfit", None, "count"),
        ("balls12", None, "count"),
    ],
)
def test_the_faster_engine_counts(name: str, challenge: str | None, engine: str) -> None:
    """The search keeps what is short; of anything else it sees but a fraction."""
    problem = encoded(name, challenge).problem
    assert solve(encoded(name, challenge), "count").engine == engine
    maximum = estimate_nodes(problem, 0.02)
    outcome = count_if_short(problem, maximum, Budget())
    assert outcome.complete == (engine == "search")
    assert outcome.complete or outcome.nodes <= maximum / 4


def test_a_time_limit_leaves_a_lower_bound() -> None:
    """The frontier of `square_10` takes seconds, and counts nothing before its end."""
    answer = solve(encoded("fridgeiq", "square_10"), "count", budget=Budget(limit_s=1.0))
    assert (answer.status, answer.count) == ("solved", None)
    assert answer.count_at_least


def test_mirrors_count_only_where_pieces_hold_each_other_s_images() -> None:
    """Of the one-sided pentominoes in 3 x 30 the mirrors make half as many; not without one."""
    one = encoded(ONESIDED)
    assert len(one.problem.symmetries) == 4
    fewer = tuple(piece for piece in one.challenge.pieces if piece != "F2")
    less = to_exact_cover(one.puzzle, replace(one.challenge, pieces=fewer))
    assert len(less.problem.symmetries) == 2


def test_small_boards_by_a_third_engine() -> None:
    expected = {one[0]: one[3] for one in BOARDS if one[2] is None}
    for name in ("iqblock", "iqstars"):
        assert third_engine(encoded(name).problem) == expected[name]


@pytest.mark.integration
def test_iqfit_with_flips_by_mistake() -> None:
    """The classic mistake: mirrored pieces, whose prongs would stick up."""
    assert Count().count(encoded("iqfit", None, True).problem, Budget()).count == 67_868_848


def test_iqstars_with_flips_by_mistake() -> None:
    """Yellow and blue are mirror images, so with flips they are two copies of one piece."""
    answer = solve(encoded("iqstars", None, True), "count", "count")
    assert answer.count_labelled == known_counts("iqstars")["if_flips_were_wrongly_allowed"]


BOX = [challenge.id for challenge in load_set("fridgeiq").challenges]


@pytest.mark.every(3)
@pytest.mark.parametrize("name", [one for one in BOX if one not in (*LARGE, "square_07")])
def test_box_challenges(name: str) -> None:
    """Counted by two engines, small ones by a third, and held against what is known."""
    one = encoded("fridgeiq", name)
    by_search = solve(one, "count", "search")
    by_frontier = solve(one, "count", "count")
    assert by_search.count == by_frontier.count
    assert by_search.count_up_to_symmetry == by_frontier.count_up_to_symmetry
    assert by_search.status == one.challenge.answer
    known = known_counts("fridgeiq")
    if name in known:
        assert by_search.count_labelled == known[name]
    if max(one.problem.copies) == 1 and by_search.nodes < 20_000:
        assert third_engine(one.problem) == by_search.count  # it knows no identical pieces


def test_first_solutions_of_the_large_box_challenges() -> None:
    for name in LARGE:
        found = solve(encoded("fridgeiq", name), "first")
        assert (found.status, found.engine) == ("solved", "search")


@pytest.mark.every(3)
@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_large_box_challenges(name: str) -> None:
    one = encoded("fridgeiq", name)
    frontier = Frontier(one.problem)
    assert frontier.run(Budget()) == LARGE[name]
    assert frontier.peak_bytes < 3e8


SAMPLES = [*iqfit_samples(), *iqstars_samples()]


def test_published_challenges_have_the_published_solution() -> None:
    for sample in SAMPLES:
        one = to_exact_cover(sample.puzzle, sample.challenge)
        answer = solve(one, "all")
        layouts = [one.decode(solution) for solution in answer.solutions]
        fitting = [layout for layout in layouts if sample.follows_hints(layout)]
        assert fitting == [sample.expected], sample.challenge.id
        if not sample.hints:
            assert solve(one, "unique").unique


def test_starts_are_counted_as_in_the_list_of_solutions() -> None:
    one = encoded("iqstars")
    found, solutions = count_starts(one), Search().enumerate(one.problem, Budget()).solutions
    assert found is not None
    assert found.solutions == len(solutions) == known_counts("iqstars")["complete_fillings"]
    for option, count in found.placements.items():
        assert sum(option in solution for solution in solutions) == count


@pytest.mark.long
def test_starts_of_iqfit() -> None:
    found = count_starts(encoded("iqfit"))
    assert found is not None
    facts = known_counts("iqfit")
    possible = [count for count in found.placements.values() if count]
    assert len(found.placements) == facts["single_placements_total"]
    assert len(possible) == facts["single_placements_occurring"]
    assert min(possible) == facts["min_fillings_for_an_occurring_single_placement"]
    assert possible.count(1) == facts["single_placement_unique"]
    assert min(found.clues.values()) == facts["min_fillings_for_cell_plus_colour"]
