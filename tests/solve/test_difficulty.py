"""The rating of challenges: what raises it, what lowers it, and the levels on the boxes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.cli import main
from fabkit.solve.difficulty import LEVELS, Difficulty, difficulty
from fabkit.solve.posing import pose
from fabkit.solve.problem import ExactCoverProblem, Option
from tests.support.problems import impossible_rectangle
from tests.support.published import Sample, iqfit_samples, iqstars_samples

Capture = pytest.CaptureFixture[str]

#: The levels of the booklets, from easy to hard.
ORDER = ["starter", "junior", "expert", "master", "wizard"]

tries = st.floats(0, 1e9)
free_moves = st.floats(0, 100)
solutions = st.integers(0, 10**12)
ratings = st.builds(Difficulty, tries, free_moves, solutions)


@given(rating=ratings, more_tries=tries, more_moves=free_moves, more_solutions=solutions)
def test_what_makes_it_harder_and_easier(
    rating: Difficulty, more_tries: float, more_moves: float, more_solutions: int
) -> None:
    """More tries and more free moves never make it easier; more solutions never harder."""
    assert replace(rating, tries=rating.tries + more_tries).score >= rating.score
    assert replace(rating, free_moves=rating.free_moves + more_moves).score >= rating.score
    assert replace(rating, solutions=rating.solutions + more_solutions).score <= rating.score


def test_levels_end_where_they_say() -> None:
    assert [name for name, _ in LEVELS] == ORDER
    for name, end in LEVELS[:-1]:
        under = math.nextafter(end, 0)
        assert Difficulty(1, 2 * under, 1).level == name
        assert Difficulty(1, 2 * end, 1).level == ORDER[ORDER.index(name) + 1]


def test_the_impossible_has_no_rating(capsys: Capture) -> None:
    assert difficulty(impossible_rectangle()) is None
    forced = ExactCoverProblem(2, (2,), (Option(0, (0,)), Option(0, (1,))))
    assert difficulty(forced).free_moves == 0.0
    assert main(["solve", "fridgeiq", "rectangle_02_b", "--difficulty", "--json"]) == 1
    assert "difficulty" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("samples", "rising"),
    [
        (iqfit_samples(), ["starter", "junior", "expert", "wizard"]),
        (iqstars_samples(), ["starter", "junior", "expert", "master"]),
    ],
    ids=["iqfit", "iqstars"],
)
def test_ratings_follow_the_levels_of_the_booklets(
    samples: list[Sample], rising: list[str]
) -> None:
    """Hints of single cells change a challenge without a piece placed, so they are left out.

    The masters of IQ Fit that are known rate somewhat below its experts, though far above its
    juniors; the other levels rise one by one.
    """
    scores: dict[str, list[float]] = {}
    for sample in samples:
        if not sample.hints:
            rating = difficulty(pose(sample.puzzle, sample.challenge).problem, sample.solutions)
            assert rating is not None
            scores.setdefault(sample.challenge.id.partition("-")[0], []).append(rating.score)
    mean = {level: fmean(found) for level, found in scores.items()}
    assert all(mean[easier] < mean[harder] for easier, harder in pairwise(rising))
    assert mean["master"] > mean["junior"] + 2


def test_the_rating_for_scripts_and_for_people(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same in every run, however many solutions were asked for."""
    monkeypatch.chdir(tmp_path)
    found = []
    for _ in range(2):
        assert main(["solve", "iqblock", "--difficulty", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document.pop("seconds") >= 0
        found.append(document)
    assert found[0] == found[1]
    rating = found[0]["difficulty"]
    assert list(rating) == ["score", "level", "tries", "free_moves", "solutions"]
    assert rating["solutions"] == 48
    assert rating["level"] in ORDER
    assert main(["solve", "iqblock", "--count", "--difficulty", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["difficulty"] == rating
    assert main(["solve", "iqblock", "--difficulty"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"difficulty {rating['score']:.1f} ({rating['level']}): ")
    assert main(["solve", "iqblock", "--difficulty", "--budget", "0", "--engine", "sat"]) == 1
    assert capsys.readouterr().out.startswith("square: unknown: ")
