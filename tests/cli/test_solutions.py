"""Solutions of every engine, drawn with shapely and measured: see `tests.support.pictures`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from shapely import affinity

from fabkit.model.puzzle import Challenge
from fabkit.sets.challenges import find_challenge
from fabkit.sets.library import load_set
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover
from fabkit.solve.engines import ENGINES
from fabkit.solve.engines.engine import Budget, Solution, get_engine
from tests.solve.test_search import challenges
from tests.support.pictures import (
    NOTHING,
    Drawing,
    Shape,
    asked,
    congruent,
    drawn_from_cells,
    faults,
    placed_shapes,
    together,
    unit,
)
from tests.support.published import facts, iqfit_samples, iqstars_samples

LISTING = [name for name in ENGINES if name != "count"]


def assert_right(
    encoded: EncodedChallenge, drawing: Drawing, solutions: Iterable[Solution]
) -> None:
    for solution in solutions:
        assert faults(drawing, placed_shapes(encoded, solution)) == [], (
            encoded.challenge.id,
            solution,
        )


def found(encoded: EncodedChallenge, name: str, limit: int | None) -> tuple[Solution, ...]:
    outcome = get_engine(name).enumerate(encoded.problem, Budget(), limit)
    assert len(set(outcome.solutions)) == outcome.count
    return outcome.solutions


# --- shipped sets -------------------------------------------------------------------------------

WHOLE = [("fridgeiq", challenge.id) for challenge in load_set("fridgeiq").challenges][::6]
WHOLE += [("iqblock", "square"), ("cubimagici", "tray"), ("iqstars", "board"), ("iqfit", "board")]
WHOLE += [("pentominoes", "8x8")]


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "asked_for"), WHOLE, ids=[a + b for a, b in WHOLE])
def test_whole_regions(name: str, asked_for: str) -> None:
    puzzle = load_set(name)
    encoded = to_exact_cover(puzzle, find_challenge(puzzle, asked_for))
    solutions = found(encoded, "search", 2000)
    assert bool(solutions) == (encoded.challenge.answer != "impossible")
    first = get_engine("search").first(encoded.problem, Budget()).solutions
    assert_right(encoded, asked(name, asked_for), {*solutions[:: len(solutions) // 20 + 1], *first})


def given_drawn(name: str) -> dict[str, tuple[dict[str, Shape], dict[str, Shape]]]:
    """For each published challenge where pieces are given, and where all lie in the end."""
    sockets = [(row, col) for row, length in enumerate((7, 6, 7, 6)) for col in range(length)]

    def shape(places: list[Any]) -> Shape:
        if name == "iqstars":
            return together(unit("hexagon", *sockets[number]) for number in places)
        return together(unit("square", row, col) for row, col in places)

    return {
        f"{one['level']}-{one['number']}": (
            {piece[0]: shape(piece[-1]) for piece in one.get("given", one.get("placed"))},
            {
                piece: shape(places[1] if name == "iqfit" else places)
                for piece, places in one["solution"].items()
            },
        )
        for one in facts(f"{name}-challenges")["all"]
    }


@pytest.mark.every(2)
@pytest.mark.parametrize("by", ["search", "sat"])
@pytest.mark.parametrize("name", ["iqfit", "iqstars"])
def test_published_challenges_with_given_pieces(by: str, name: str) -> None:
    pictures = given_drawn(name)
    samples = [one for one in (*iqfit_samples(), *iqstars_samples()) if one.puzzle.name == name]
    for sample in samples[:: 2 if by == "search" else 4]:
        encoded = to_exact_cover(sample.puzzle, sample.challenge)
        solutions = found(encoded, by, None)
        given_pieces, solved = pictures[sample.challenge.id]
        drawing = asked(name, "board", given=given_pieces)
        assert_right(encoded, drawing, solutions)
        assert faults(drawing, solved) == []
        if not sample.hints:
            (only,) = solutions
            placed = placed_shapes(encoded, only)
            assert all(
                placed[one].symmetric_difference(solved[one]).area < NOTHING for one in solved
            )


OPEN = [("iqstars", "board", "red yellow pink"), ("fridgeiq", "square_02", "B D Q Y")]
OPEN += [("iqfit", "board", "blue pink sky"), ("cubimagici", "tray", "p1 p2 p3 p4 p5")]


@pytest.mark.every(3)
@pytest.mark.parametrize("by", LISTING)
@pytest.mark.parametrize(("name", "board", "pieces"), OPEN, ids=[one[0] for one in OPEN])
def test_a_part_of_the_region_may_stay_bare(by: str, name: str, board: str, pieces: str) -> None:
    puzzle = load_set(name)
    whole = find_challenge(puzzle, board)
    sizes = [len(piece.forms[-1].cells) for piece in puzzle.select(pieces.split())]
    spare = len(whole.region) - sum(sizes)
    some = Challenge(
        "some", whole.region, tuple(pieces.split()), flips=whole.flips, open_count=spare
    )
    encoded = to_exact_cover(puzzle, some)
    limit = 2000 if by == "search" else 3
    solutions = found(encoded, by, limit)
    assert len(solutions) == limit
    drawing = asked(name, board, pieces.split())
    drawing = replace(drawing, open_area=drawing.region.area * spare / len(whole.region))
    assert_right(encoded, drawing, solutions[:: limit // 40 + 1])


# --- random challenges ----------------------------------------------------------------------------


@given(challenges())
def test_random_challenges(encoded: EncodedChallenge) -> None:
    drawing = drawn_from_cells(encoded)
    solutions = found(encoded, "search", 5000)
    assert_right(encoded, drawing, solutions[:: len(solutions) // 20 + 1])
    congruent.cache_clear()


# --- the judge itself ---------------------------------------------------------------------------


def solved_square() -> tuple[Drawing, dict[str, Shape]]:
    puzzle = load_set("fridgeiq")
    encoded = to_exact_cover(puzzle, find_challenge(puzzle, "square_02"))
    return asked("fridgeiq", "square_02"), placed_shapes(encoded, found(encoded, "search", 1)[0])


def moved(shape: Shape, x: float) -> Shape:
    return affinity.translate(shape, x, 0)


def test_planted_faults_are_seen() -> None:
    drawing, placed = solved_square()
    assert faults(drawing, placed) == []
    mirrored = {piece: affinity.scale(shape, xfact=-1) for piece, shape in placed.items()}
    assert {"N is not as drawn", "S is not as drawn", "Y is not as drawn"} <= set(
        faults(drawing, mirrored)
    )
    assert not any("B is not" in fault for fault in faults(drawing, mirrored))
    assert not any("as drawn" in f for f in faults(replace(drawing, flips=True), mirrored))
    shifted = faults(drawing, placed | {"N": moved(placed["N"], 0.5)})
    assert "the region is not covered" in shifted
    assert any("overlaps" in fault or fault == "the region is left" for fault in shifted)
    swapped = placed | {"B": placed["S"], "S": placed["B"]}
    assert sorted(faults(drawing, swapped)) == ["B is not as drawn", "S is not as drawn"]
    away = {piece: moved(shape, 1) for piece, shape in placed.items()}
    assert faults(drawing, away) == ["the region is left", "the region is not covered"]
    assert faults(replace(drawing, open_area=1.0), away) == [
        "the region is left",
        "the region is not covered",
    ]
