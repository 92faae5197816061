"""The rating of challenges: what raises it, what lowers it, and the levels on the boxes."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.cli import main
from fabkit.model.entry import LEVEL_SCORES, LEVELS, entry_of, level_of
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Entry, Given
from fabkit.puzzles.entries import gather
from fabkit.sets.catalog import shipped_entries
from fabkit.sets.library import load_set, shipped_names
from fabkit.solve.difficulty import Difficulty, difficulty, solving_order
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.exact_cover import ExactCoverProblem, Option
from tests.support.entries import altered
from tests.support.person import effort
from tests.support.problems import impossible_rectangle
from tests.support.published import Sample, iqfit_samples, iqstars_samples
from tests.support.sketches import SKETCHES, Cells, Sketch, domino, on

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


def test_levels_begin_where_they_say() -> None:
    """A challenge of more than four pieces is none for starters; scores have three digits."""
    fit = load_set("iqfit")
    whole = fit.whole_board(fit.boards[0])
    five, four = (
        replace(whole, given=tuple(Given(piece, frozenset()) for piece in whole.pieces[free:]))
        for free in (5, 4)
    )
    assert list(LEVELS) == ORDER
    for place, lowest in enumerate(LEVEL_SCORES):
        assert level_of(four, lowest - 0.001) == ORDER[place]
        assert level_of(five, lowest - 0.001) == ORDER[max(place, 1)]
        assert level_of(four, lowest) == level_of(five, lowest) == ORDER[place + 1]


def test_no_level_of_the_books_is_far_off() -> None:
    """Three of four challenges are at most on the next level; none is two off for starters."""
    apart = Counter[int]()
    for sample in (*iqfit_samples("iqfit-book"), *iqstars_samples("iqstars-book")):
        rating = difficulty(sample.problem, sample.solutions)
        assert rating
        printed = ORDER.index(sample.challenge.id.partition("-")[0])
        apart[abs(ORDER.index(level_of(sample.challenge, rating.score)) - printed)] += 1
    assert apart.total() == 80
    assert apart[0] >= 52, apart
    assert apart[0] + apart[1] >= 76, apart


#: Challenges drawn of each set and kind for simulated people.
PER_KIND = 6


@pytest.mark.integration
def test_one_scale_for_all_sets_and_kinds() -> None:
    """The score ranks challenges as the effort of simulated people does; ranks of each kind for
    itself, which levels once were, do not."""
    from scipy.stats import spearmanr

    dice = random.Random(1)
    scores, efforts, ranks = [], [], []
    for name in shipped_names():
        puzzle = load_set(name)
        kinds: dict[str, list[Entry]] = {}
        for entry in gather(puzzle):
            if entry.score is not None and entry.halves == 1:
                kinds.setdefault(entry.kind, []).append(entry)
        for entries in kinds.values():
            drawn = dice.sample(entries, min(len(entries), PER_KIND))
            ranked = sorted(entries, key=lambda entry: entry.score or 0.0)
            scores += [entry.score for entry in drawn]
            efforts += [effort(to_exact_cover(puzzle, entry.challenge)) for entry in drawn]
            ranks += [ranked.index(entry) / len(ranked) for entry in drawn]
    assert len(scores) > 80
    assert spearmanr(scores, efforts).statistic >= 0.9
    assert spearmanr(ranks, efforts).statistic < 0.8


def test_the_impossible_has_no_rating(capsys: Capture) -> None:
    assert difficulty(impossible_rectangle()) is None
    forced = ExactCoverProblem(2, (2,), (Option(0, (0,)), Option(0, (1,))))
    rating = difficulty(forced)
    assert rating is not None
    assert (rating.tries, rating.free_moves) == (2, 2)
    assert main(["solve", "fridgeiq", "rectangle_02_b", "--difficulty", "--json"]) == 1
    assert "difficulty" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "samples", [iqfit_samples("iqfit-book"), iqstars_samples("iqstars-book")], ids=["fit", "stars"]
)
def test_ratings_follow_the_books(samples: list[Sample]) -> None:
    """Forty challenges of each book come in its order, on both halves of them; and so do, more
    often than not, those with equally many given pieces."""
    from scipy.stats import spearmanr

    ratings = [difficulty(sample.problem, sample.solutions) for sample in samples]
    scores = [rating.score for rating in ratings if rating is not None]
    assert len(scores) == 40
    for part in (scores, scores[::2], scores[1::2]):
        assert spearmanr(range(len(part)), part).statistic >= 0.9
    groups: dict[int, list[float]] = {}
    for sample, score in zip(samples, scores, strict=True):
        groups.setdefault(len(sample.challenge.given), []).append(score)
    pairs = [pair for group in groups.values() for pair in combinations(group, 2)]
    rising = [1.0 if easier < harder else 0.5 * (easier == harder) for easier, harder in pairs]
    assert len(pairs) > 100
    assert fmean(rising) > 0.65
    larger = [group for group in groups.values() if len(group) > 2]
    within = [spearmanr(range(len(group)), group).statistic for group in larger]
    assert fmean(within, [len(group) for group in larger]) > 0.5
    levels: dict[str, list[float]] = {}
    for sample, score in zip(samples, scores, strict=True):
        levels.setdefault(sample.challenge.id.partition("-")[0], []).append(score)
    assert list(levels) == ORDER
    assert all(fmean(easier) < fmean(harder) for easier, harder in pairwise(levels.values()))


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
    rated = f"difficulty {rating['score']:.1f} ({rating['level']}): about "
    line, forced, first = capsys.readouterr().out.splitlines()[-3:]
    assert line.startswith(rated)
    assert line.endswith(" pieces tried before all 8 fit")
    assert re.fullmatch(r"in the best order, [0-8] of 8 pieces have only one place", forced)
    assert re.fullmatch(r"start with [0-7] at \[\d, \d\]: fewest options \(\d+\)", first)
    assert main(["solve", "iqblock", "--difficulty", "--budget", "0", "--engine", "sat"]) == 1
    assert capsys.readouterr().out.startswith("square: unknown: ")


#: A domino stays over, so that no piece is forced by having one place.
OVER = on(2, 3, *map(domino, "abcd"), pieces_count=3)


@pytest.mark.parametrize("sketch", [*SKETCHES.values(), OVER], ids=[*SKETCHES, "over"])
def test_a_person_finds_what_is_forced_first(sketch: Sketch) -> None:
    """What each step says is found again by listing what fits, and all solutions."""
    for solution in sketch.solutions:
        waiting = [[piece.id for piece in kind] for kind in sketch.kinds]
        layout = {
            waiting[kind].pop(0): cells
            for kind, cells in sorted(solution, key=str)
            if sketch.kinds[kind]
        }
        laid_before = {one.piece: one.cells for one in sketch.given}
        entry = altered(entry_of(sketch.challenge), solution=layout | laid_before)
        order = solving_order(sketch.puzzle, entry)
        assert sorted(step.piece for step in order) == sorted(layout)
        if sketch.open_count:  # steps in which a cell is left open are not listed
            continue
        left = [[piece.id for piece in kind] for kind in sketch.kinds]
        placed: set[tuple[int, Cells]] = set()
        for step in order:
            bare = set(sketch.remaining).difference(*(cells for _, cells in placed))
            own = next(kind for kind, pieces in enumerate(left) if step.piece in pieces)
            it = own, layout[step.piece]
            fits = {
                (kind, cells)
                for kind, pieces in enumerate(left)
                for cells in (sketch.placed(kind) if pieces else ())
                if cells <= bare
            }
            on_cell = {cell: {one for one in fits if cell in one[1]} for cell in bare}
            of_kind = {
                kind: len([one for one in fits if one[0] == kind]) + 1 - len(pieces)
                for kind, pieces in enumerate(left)
                if pieces and sketch.pieces_count is None
            }
            forced = 1 in map(len, on_cell.values())
            assert (step.why == "cell") == forced
            assert (step.why == "piece") == (not forced and 1 in of_kind.values())
            assert step.cell is None or step.cell in layout[step.piece]
            assert (step.options > 1) == (step.why == "fewest")
            options = of_kind.get(own, 0) if step.cell is None else len(on_cell[step.cell])
            if step.why == "hole":  # then all solutions from here on agree
                seen = {
                    one for one in fits if (step.cell in one[1] if step.cell else one[0] == own)
                }
                more = [one for one in sketch.solutions if placed <= one]
                assert all(seen & one == {it} for one in more)
            else:
                assert step.options <= options
                assert step.options == options or step.why == "fewest"
            placed.add(it)
            left[own].remove(step.piece)


def test_what_a_person_is_advised_to_begin_with(capsys: Capture) -> None:
    """In the smallest triangle of FridgeIQ one piece is given away, and begins; a count lists no
    solution, and still says it."""
    for question in ("--first", "--count"):
        assert main(["solve", "fridgeiq", "triangle_01", "--difficulty", question]) == 0
        *_, line, forced, first = capsys.readouterr().out.splitlines()
        assert line == "difficulty 4.5 (starter): about 4 pieces tried before all 3 fit"
        assert forced == "in the best order, 3 of 3 pieces have only one place"
        why = "anything else leaves a gap, or a piece that no longer fits"
        assert first == f"start with I at [2, 1]: {why}"


def test_the_order_on_two_lattices_half_a_unit_apart() -> None:
    """Every piece of a snowflake of mixed parity is found, the last by its only place."""
    fridgeiq = load_set("fridgeiq")
    mixed = [entry for entry in shipped_entries(fridgeiq, "snowflake") if entry.halves == 2]
    assert len(mixed) == 12
    for entry in mixed[:4]:
        assert entry.solution is not None
        order = solving_order(fridgeiq, entry)
        assert sorted(step.piece for step in order) == sorted(entry.challenge.pieces)
        assert order[-1].why == "cell"
        covered = set[Cell]()
        for step in order:
            assert step.cell is None or step.cell in entry.solution[step.piece] - covered
            covered |= entry.solution[step.piece]


def test_the_order_of_an_entry_without_a_solution() -> None:
    with pytest.raises(ValueError, match="one: no solution is known"):
        solving_order(OVER.puzzle, entry_of(OVER.challenge))
