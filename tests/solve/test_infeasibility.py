"""Infeasibility checks: what they call impossible is, as the checker and the reference engine find
on their own.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from fabkit.certify.verdict import Verdict
from fabkit.model.puzzle import Clue, Given
from fabkit.solve.answer import IMPOSSIBLE, solve
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover
from fabkit.solve.engines.engine import Budget
from fabkit.solve.infeasibility import find_infeasibility
from tests.solve.test_search import challenges
from tests.support.algorithm_x import AlgorithmX
from tests.support.sketches import (
    HEXAGONS,
    QUARTER,
    SQUARE,
    Cells,
    Sketch,
    board,
    cells,
    corner,
    domino,
    ell,
    flat,
    hexagons,
    judged,
    quarters,
    row_of_quarters,
    squares,
    written,
)


def bars(count: int, length: int) -> tuple:
    return tuple(squares(f"p{i}", *((0, col) for col in range(length))) for i in range(count))


def square(rows: int, cols: int, *without: tuple[int, int]) -> Cells:
    return board("square", rows, cols) - cells("square", *without)


DOMINOES = tuple(map(domino, "abcdefg"))
HEXAGON_BARS = tuple(hexagons(name, (0, 0), (0, 1), (0, 2)) for name in "abcd")
OBSTACLES = {
    "too few cells": (
        Sketch(SQUARE, square(3, 3), DOMINOES[:4]),
        "area",
        "the region has 9 cells, but the pieces cover 8",
    ),
    "too many cells": (
        Sketch(SQUARE, square(2, 2), DOMINOES[:3], open_count=1),
        "area",
        "the region has 4 cells, of which 1 stays open, but the pieces cover 6",
    ),
    "given pieces do not count": (
        Sketch(
            SQUARE, square(2, 2), DOMINOES[:3], given=(Given("b", cells("square", (0, 0), (0, 1))),)
        ),
        "area",
        "the region has 2 free cells, but the pieces cover 4",
    ),
    "a given piece against a clue": (
        Sketch(
            SQUARE,
            square(2, 2),
            DOMINOES[:2],
            given=(Given("b", cells("square", (0, 0), (0, 1))),),
            clues=(Clue(cells("square", (0, 0)), piece="a"),),
        ),
        "given",
        "the given piece b contradicts a clue",
    ),
    "forms of two sizes": (
        Sketch(
            SQUARE,
            square(1, 5),
            tuple(flat("square", name, square(1, 2), square(1, 4)) for name in "ab"),
        ),
        "area",
        "the region has 5 cells, but the pieces cover 4, 6 or 8",
    ),
    "a piece too long": (
        Sketch(SQUARE, square(2, 3), (*bars(1, 4), domino("b"))),
        "piece",
        "piece p0 fits nowhere in the region",
    ),
    "a mirrored piece": (
        Sketch(
            SQUARE,
            cells("square", (0, 0), (1, 0), (2, 0), (2, 1)),
            (squares("m", (0, 1), (1, 1), (2, 1), (2, 0)),),
        ),
        "piece",
        "piece m fits nowhere in the region",
    ),
    "a lonely cell": (
        Sketch(SQUARE, cells("square", (0, 0), (0, 1), (0, 2), (1, 4)), DOMINOES[:2]),
        "cell",
        "no piece can cover the cell in row 1, column 4",
    ),
    "the cut chessboard": (
        Sketch(SQUARE, square(4, 4, (0, 0), (3, 3)), DOMINOES),
        "colouring",
        "colouring the cells like a chessboard: the region has 6 coloured cells, but the pieces "
        "can cover 7",
    ),
    "bars of three": (Sketch(SQUARE, square(4, 4, (0, 1)), bars(5, 3)), "colouring", None),
    "bars of four": (Sketch(SQUARE, square(6, 6), bars(9, 4)), "colouring", None),
    "quarters": (
        Sketch(
            QUARTER,
            row_of_quarters(0, 1, 2, 4, 6, 7),
            tuple(quarters(name, 0, 1) for name in "abc"),
        ),
        "colouring",
        None,
    ),
    "bars of hexagons": (
        Sketch(
            HEXAGONS,
            board("hexagon", 4, 4) - cells("hexagon", (0, 3), (1, 0), (3, 0), (3, 2)),
            HEXAGON_BARS,
        ),
        "colouring",
        "colouring every third falling diagonal: the region has 3 coloured cells, but the pieces "
        "can cover 4",
    ),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_infeasibility_is_found_certified_and_true(name: str) -> None:
    sketch, rule, reason = OBSTACLES[name]
    one = sketch.encoded
    found = find_infeasibility(one)
    assert found is not None
    assert found.rule == rule
    assert reason in (None, found.reason)
    document = written(one, "impossible")
    expected = rule if rule in ("area", "colouring") else "transcript"
    assert document["argument"]["by"] == expected
    if expected == "transcript":
        # The item that nothing covers is the whole proof, once cells have the checker's numbers.
        assert len(document["argument"]["items"]) == 1
    nodes = len(document["argument"].get("items", []))
    assert judged(document) == Verdict(True, None, nodes)
    answer = solve(one, "first")
    told = "; ".join(filter(None, (found.reason, found.advice)))
    assert (answer.status, answer.engine, answer.reason) == (IMPOSSIBLE, "presolve", told)
    assert AlgorithmX().count(one.problem, Budget()).count == 0
    assert solve(one, "count", "count").count == 0


POSSIBLE = {
    "the board cut on two colours": Sketch(SQUARE, square(4, 4, (0, 0), (3, 2)), DOMINOES),
    "ells": Sketch(SQUARE, square(4, 4), tuple(map(ell, "abcd"))),
    "quarters": Sketch(
        QUARTER, row_of_quarters(0, 1, 2, 3, 4, 5), tuple(quarters(name, 0, 1) for name in "abc")
    ),
    "cells to spare": Sketch(SQUARE, square(4, 4, (0, 0), (3, 3)), DOMINOES[:6], open_count=2),
    "corners": Sketch(SQUARE, square(4, 4, (3, 3)), tuple(map(corner, "abcde"))),
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_nothing_stands_in_the_way_of_what_is_possible(name: str) -> None:
    one = POSSIBLE[name].encoded
    assert AlgorithmX().first(one.problem, Budget()).count == 1
    assert find_infeasibility(one) is None


# --- random challenges ----------------------------------------------------------------------------


@st.composite
def spoilt(draw: st.DrawFn) -> EncodedChallenge:
    """A small challenge without some cells of its board or without some of its pieces."""
    one = draw(challenges())
    challenge = one.challenge
    region = sorted(challenge.region)
    gone = draw(st.sets(st.sampled_from(region), max_size=min(4, len(region) - 1)))
    pieces = list(challenge.pieces)
    while pieces[1:] and draw(st.integers(0, 3)) == 0:
        pieces.pop(draw(st.integers(0, len(pieces) - 1)))
    spoiled = replace(challenge, region=frozenset(region) - gone, pieces=tuple(pieces))
    return to_exact_cover(one.puzzle, spoiled)


def holds_true(one: EncodedChallenge) -> None:
    found = find_infeasibility(one)
    event(found.rule if found else "none")
    if found is None:
        return
    assert AlgorithmX().count(one.problem, Budget()).count == 0
    document = written(one, "impossible")
    assert judged(document).holds


@given(spoilt())
def test_infeasibility_is_never_wrong(one: EncodedChallenge) -> None:
    holds_true(one)


@st.composite
def alike(draw: st.DrawFn) -> EncodedChallenge:
    """Dominoes, bars, corners or quarters in a board with holes, the area right: colours decide."""
    rows, cols = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    make = draw(st.sampled_from([domino, corner, ell, lambda n: bars(1, 3)[0], None]))
    lattice = SQUARE if make else QUARTER
    region = sorted(board(lattice.name, rows if make else 1, cols if make else 3))
    size = 2 if make is None else len(make("a").forms[0].cells)
    gone = draw(st.sets(st.sampled_from(region), max_size=min(4, len(region) - size)))
    left = [cell for cell in region if cell not in gone]
    left = left[len(left) % size :]
    names = [f"p{i}" for i in range(len(left) // size)]
    pieces = [replace(make(name) if make else quarters(name, 0, 1), id=name) for name in names]
    return Sketch(lattice, frozenset(left), tuple(pieces), flips=draw(st.booleans())).encoded


@given(alike())
def test_colours_never_lie(one: EncodedChallenge) -> None:
    holds_true(one)
