"""A solver with planted faults: the checker refuses what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fabkit.model.challengeload import find_challenge
from fabkit.model.library import load_set
from fabkit.solve import transcript
from fabkit.solve.engines.search import FewestWalk, Search, symmetric_start
from fabkit.solve.obstacles import Obstacle
from fabkit.solve.posing import PosedChallenge, pose
from fabkit.solve.problem import ExactCoverProblem, fixed_problem, up_to_symmetry
from tests.support.rebuilt import is_true, posed, written
from tests.support.sketches import SKETCHES, SQUARE, TWO, corner, domino, judged, squares
from tests.support.transcripts import Sketch, board, cells

#: Each has symmetries, a piece of which there is one, and solutions that symmetries keep.
TURNED = posed(Sketch(SQUARE, board("square", 3, 3), (*map(domino, "abcd"), squares("x", (0, 0)))))
CORNERS = posed(
    Sketch(SQUARE, board("square", 3, 4), (*map(corner, "abc"), domino("d"), squares("x", (0, 0))))
)


def box(name: str) -> PosedChallenge:
    fridge = load_set("fridgeiq")
    return pose(fridge, find_challenge(fridge, name))


WHOLE = {
    "turned": TURNED,
    "corners": CORNERS,
    "hole": posed(SKETCHES["hole"]),
    "leftover": posed(SKETCHES["leftover"]),
    "hexagons": posed(SKETCHES["hexagons"]),
    "square_02": box("square_02"),
    "rectangle_01": box("rectangle_01"),
    "rectangle_03": box("rectangle_03"),
    "triangle_05": box("triangle_05"),
}
STARTED = [name for name, one in WHOLE.items() if symmetric_start(one.problem)[0] is not None]


@pytest.mark.parametrize("name", WHOLE)
def test_without_a_fault_all_is_accepted(name: str) -> None:
    document = written(WHOLE[name], "count")
    assert judged(document).holds
    assert is_true(document)


def keep_orbits(one: PosedChallenge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the right number of orbits claimed, so that it is not that which is refused."""
    right = written(one, "count")["claim"]["count_up_to_symmetry"]
    monkeypatch.setattr(transcript, "up_to_symmetry", lambda count, fixed: right)


class SkipsAChild(FewestWalk):
    """Passes over every node that would lay one placement, as if it did not exist."""

    skipped = 0

    def __init__(
        self,
        problem: ExactCoverProblem,
        first_kind: int | None = None,
        weights: Mapping[int, int] | None = None,
        **settings: Any,
    ) -> None:
        options = (*problem.options[: self.skipped], *problem.options[self.skipped + 1 :])
        kept = replace(problem, options=options)
        if weights is not None:
            weights = {
                position - (position > self.skipped): weight
                for position, weight in weights.items()
                if position != self.skipped
            }
        super().__init__(kept, first_kind, weights, **settings)


@pytest.mark.parametrize("name", ["turned", "hole", "hexagons", "rectangle_01"])
def test_a_walk_that_skips_a_child(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = WHOLE[name]
    numbered, _ = transcript._numbered(one)
    used = {
        position
        for s in Search().enumerate(numbered, transcript.Effort()).solutions
        for position in s
    }
    keep_orbits(one, monkeypatch)
    monkeypatch.setattr(transcript, "FewestWalk", SkipsAChild)
    for skipped in range(len(numbered.options)):
        monkeypatch.setattr(SkipsAChild, "skipped", skipped)
        document = written(one, "count")
        verdict = judged(document)
        assert not verdict.holds or is_true(document), skipped
        if skipped in used and document["argument"]["branch_first"] is None:
            assert not verdict.holds, skipped


def test_a_walk_that_skips_solutions_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What has one solution becomes "impossible", and what has two becomes "unique"."""
    one = box("triangle_01")
    numbered, _ = transcript._numbered(one)
    monkeypatch.setattr(transcript, "FewestWalk", SkipsAChild)
    (solution,) = Search().enumerate(numbered, transcript.Effort()).solutions
    for skipped in solution:
        monkeypatch.setattr(SkipsAChild, "skipped", skipped)
        document = written(one, "impossible")
        assert document["claim"] == {"answer": "impossible"}
        assert not judged(document).holds
    two = posed(TWO)
    for skipped in range(len(two.problem.options)):
        monkeypatch.setattr(SkipsAChild, "skipped", skipped)
        document = written(two, "unique")
        assert document["claim"] == {"answer": "unique"}
        assert not judged(document).holds


@pytest.mark.parametrize("name", STARTED)
@pytest.mark.parametrize(
    "fault", ["one size", "all sizes", "a start is lost", "no representatives"]
)
def test_a_wrong_symmetric_start(name: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(problem: ExactCoverProblem) -> tuple[int | None, dict[int, int]]:
        kind, orbits = symmetric_start(problem)
        assert kind is not None
        holding = {p for s in Search().enumerate(problem, transcript.Effort()).solutions for p in s}
        start = next(position for position in orbits if position in holding)
        if fault == "one size":
            orbits[start] += 1
        elif fault == "all sizes":
            orbits = dict.fromkeys(orbits, 1)
        elif fault == "a start is lost":
            del orbits[start]
        else:
            orbits = dict.fromkeys(problem.by_kind[kind], 1)
        return kind, orbits

    keep_orbits(WHOLE[name], monkeypatch)
    monkeypatch.setattr(transcript, "symmetric_start", planted)
    assert not judged(written(WHOLE[name], "count")).holds


def test_a_start_on_a_kind_of_several_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a solution holds several placements of the kind, and orbits count it several times."""
    problem, _ = transcript._numbered(TURNED)
    (kind,) = (kind for kind, copies in enumerate(problem.copies) if copies > 1)
    orbits = dict(problem.orbits(kind))
    keep_orbits(TURNED, monkeypatch)
    monkeypatch.setattr(transcript, "symmetric_start", lambda problem: (kind, orbits))
    verdict = judged(written(TURNED, "count"))
    assert "has 4 copies; it must have one" in str(verdict.reason)


@pytest.mark.parametrize("name", ["turned", "hole"])
def test_solutions_that_symmetries_keep_are_lost(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An orbit of placements is passed over, for every symmetry."""
    one = WHOLE[name]
    assert any(
        Search().count(fixed_problem(one.problem, symmetry), transcript.Effort()).count
        for symmetry in range(1, len(one.problem.symmetries))
    )

    def planted(problem: ExactCoverProblem, symmetry: int) -> ExactCoverProblem:
        whole = fixed_problem(problem, symmetry)
        solutions = Search().enumerate(whole, transcript.Effort()).solutions
        gone = solutions[0][-1] if solutions else 0
        return replace(whole, options=(*whole.options[:gone], *whole.options[gone + 1 :]))

    keep_orbits(one, monkeypatch)
    monkeypatch.setattr(transcript, "fixed_problem", planted)
    assert not judged(written(one, "count")).holds


@pytest.mark.parametrize("name", WHOLE)
def test_wrong_numbers_of_orbits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        transcript, "up_to_symmetry", lambda count, fixed: up_to_symmetry(count, fixed) + 1
    )
    assert "count_up_to_symmetry" in str(judged(written(WHOLE[name], "count")).reason)


@pytest.mark.parametrize("name", ["square_02", "triangle_05"])
@pytest.mark.parametrize("reverse", [False, True])
def test_cells_in_another_order(name: str, reverse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the engines, or the certificate's own backwards."""
    numbered = transcript._numbered

    def planted(one: PosedChallenge) -> tuple[ExactCoverProblem, list[int]]:
        if reverse:
            mirrored = [(-x, -y) for x, y in one.cells]
            return numbered(replace(one, cells=tuple(mirrored)))
        return one.problem, list(range(one.problem.cell_count))

    monkeypatch.setattr(transcript, "_numbered", planted)
    document = written(WHOLE[name], "count")
    verdict = judged(document)
    assert not verdict.holds or is_true(document)  # a turned square is the same square
    if name == "triangle_05":
        assert not verdict.holds


@pytest.mark.parametrize("rule", ["area", "colouring"])
@pytest.mark.parametrize("name", ["square_02", "triangle_05", "rectangle_02_b"])
def test_an_obstacle_that_is_none(name: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even for what is impossible for another reason."""
    one = box(name)
    for weight in (0, 1, 3):
        weights = (weight,) * one.problem.cell_count
        found = Obstacle(rule, "because", weights=weights)
        monkeypatch.setattr(transcript, "obstacle", lambda posed, found=found: found)
        document = written(one, "impossible")
        assert document["argument"]["by"] == rule
        assert not judged(document).holds


def test_weights_on_other_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A colouring that holds shows nothing once its weights are shifted by one cell."""
    cut = board("square", 4, 5) - cells("square", (0, 0), (3, 3))
    one = posed(Sketch(SQUARE, cut, tuple(map(domino, "abcdefghi"))))
    document = written(one, "impossible")
    assert document["argument"]["by"] == "colouring"
    assert judged(document).holds
    numbered, number = transcript._numbered(one)
    shifted = [(new + 1) % len(number) for new in number]
    monkeypatch.setattr(transcript, "_numbered", lambda one: (numbered, shifted))
    assert not judged(written(one, "impossible")).holds


@pytest.mark.parametrize("name", WHOLE)
def test_wrong_names_of_identical_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExactCoverProblem, "labellings", 7)
    assert "count_labelled" in str(judged(written(WHOLE[name], "count")).reason)


@pytest.mark.parametrize("name", ["square_02", "rectangle_03", "turned"])
def test_the_statement_of_another_challenge(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = transcript.statement
    monkeypatch.setattr(
        transcript,
        "statement",
        lambda puzzle, challenge, leftover: said(
            puzzle, replace(challenge, pieces=challenge.pieces[:-1]), leftover
        ),
    )
    assert not judged(written(WHOLE[name], "count")).holds
