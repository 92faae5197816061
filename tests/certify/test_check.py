"""The certificate checker: what holds is accepted, nothing that is not true is, and why."""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.certify import Verdict, check, parse
from fabkit.certify.tiling import TILINGS
from fabkit.model.library import load_set, shipped_names
from fabkit.model.puzzle import Challenge, Given, PuzzleSet
from tests.conftest import ROOT
from tests.support.rebuilt import is_true
from tests.support.sketches import (
    IMPOSSIBLE,
    SKETCHES,
    SQUARE,
    TWICE,
    TWO,
    by_items,
    disagreements,
    domino,
    ell,
    judged,
    squares,
)
from tests.support.strategies import cell_sets, lattices
from tests.support.transcripts import (
    Cells,
    Sketch,
    board,
    cells,
    certificate,
    checksum,
    flat,
    stated,
)

Document = dict[str, Any]


@pytest.mark.parametrize("name", SKETCHES)
def test_what_holds_is_accepted(name: str) -> None:
    """And what is derived for it is what the model derives."""
    for reduced, up_to in product([False, True], repeat=2):
        document = certificate(SKETCHES[name], reduced=reduced, up_to=up_to)
        argument = document["argument"]
        transcripts = [argument["items"], *(argument["fixed"] or [])]
        assert judged(document) == Verdict(True, None, sum(map(len, transcripts)))
        assert is_true(document)
    assert disagreements(SKETCHES[name]) == []


# --- sums -----------------------------------------------------------------------------------------

CHESSBOARD = board("square", 4, 4) - cells("square", (0, 0), (3, 3))
DOMINOES = tuple(map(domino, "abcdefg"))


def by_colouring(sketch: Sketch, weights: list[int]) -> Document:
    return stated(sketch, IMPOSSIBLE, {"by": "colouring", "weights": weights})


def black_and_white(sketch: Sketch) -> list[int]:
    return [1 if (x + y) % 4 else -1 for x, y in sketch.remaining]


def test_a_colouring_shows_that_dominoes_do_not_cover_the_cut_chessboard() -> None:
    sketch = Sketch(SQUARE, CHESSBOARD, DOMINOES)
    assert judged(by_colouring(sketch, black_and_white(sketch))).holds
    verdict = judged(by_colouring(sketch, [0] * 14))
    assert verdict.reason == "argument.weights: the pieces can cover the weight 0 of the region"


def test_a_colouring_shows_nothing_of_what_has_a_solution() -> None:
    sketch = Sketch(SQUARE, board("square", 2, 7), DOMINOES)
    assert not judged(by_colouring(sketch, black_and_white(sketch))).holds
    short = judged(by_colouring(sketch, [1]))
    assert short.reason is not None
    assert "has 1 weights; expected 14" in short.reason
    spare = replace(sketch, region=CHESSBOARD, leftover=True)
    assert "may stay uncovered" in str(judged(by_colouring(spare, black_and_white(spare))).reason)


def test_a_kind_that_fits_nowhere_is_shown_by_any_colouring() -> None:
    assert judged(by_colouring(SKETCHES["does not fit"], [0] * 6)).holds


@pytest.mark.parametrize(
    ("sketch", "reason"),
    [
        (Sketch(SQUARE, board("square", 3, 3), tuple(map(domino, "abcd"))), None),
        (Sketch(SQUARE, board("square", 3, 3), tuple(map(domino, "abcde")), leftover=True), None),
        (
            Sketch(SQUARE, CHESSBOARD, DOMINOES),
            "argument: the pieces can cover 14 cells, as many as remain",
        ),
        (
            Sketch(SQUARE, board("square", 3, 3), tuple(map(domino, "abcd")), leftover=True),
            "argument: the pieces need only 8 of 9 cells",
        ),
        (
            SKETCHES["forms"],
            "argument: the pieces can cover 6 cells, as many as remain",
        ),
        (
            replace(SKETCHES["forms"], region=board("square", 1, 5)),
            None,
        ),
    ],
)
def test_areas_are_added_up(sketch: Sketch, reason: str | None) -> None:
    document = stated(sketch, IMPOSSIBLE, {"by": "area"})
    assert judged(document) == Verdict(reason is None, reason)


# --- random problems -------------------------------------------------------------------------------


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """A small problem; most have solutions, since the region is cut into the pieces."""
    lattice, region = draw(cell_sets(draw(lattices), most=9))
    flips, leftover = draw(st.booleans()), draw(st.booleans())
    order = draw(st.permutations(sorted(region)))
    parts: list[Cells] = []
    while order:
        size = draw(st.integers(1, 3))
        parts.append(frozenset(order[:size]))
        order = order[size:]
    move = draw(st.sampled_from(lattice.moves(flips)))
    pieces = [
        flat(lattice.name, f"p{i}", frozenset(map(move, part))) for i, part in enumerate(parts)
    ]
    lies = draw(st.booleans()) and len(parts) > 1
    if draw(st.integers(0, 4)) == 0:
        _, other = draw(cell_sets(lattice, most=3))
        pieces[-1] = flat(lattice.name, "other", other)
    elif leftover and len(pieces) > 2:
        pieces.pop()
    laid = (Given("p0", parts[0]),) if lies else ()
    return Sketch(lattice, region, tuple(pieces), flips, leftover, laid)


@given(sketches(), st.booleans(), st.booleans(), st.integers(0, 99))
def test_random_problems_are_counted_as_by_trying_everything(
    sketch: Sketch, reduced: bool, up_to: bool, seed: int
) -> None:
    document = certificate(sketch, reduced=reduced, up_to=up_to, seed=seed)
    assert judged(document).reason is None
    counted = certificate(sketch, "count", reduced, up_to, seed)
    assert judged(counted).reason is None
    counted["claim"]["count"] += 1
    assert not judged(counted).holds
    assert disagreements(sketch) == []


# --- refusals -----------------------------------------------------------------------------------------


def reason(sketch: Sketch, argument: Document, claim: Document = TWICE) -> str | None:
    return check(parse(stated(sketch, claim, argument), "c.json")).reason


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (by_items(0, 2, 1), None),
        (by_items(4, 4, 4, 4, 4), None),
        (by_items(), "items: the transcript ends while a branch is open"),
        (by_items(0, 2), "items: the transcript ends while a branch is open"),
        (by_items(0, 2, 1, 1), "items[3]: items go on after the tree is complete"),
        (by_items(0, 0, 1), "items[1]: cell 0 is already covered"),
        (by_items(0, 5, 1), "items[1]: there is no item 5; cells are 0 to 3, kinds 4 to 4"),
        (
            by_items(0, 10**40, 1),
            f"items[1]: there is no item 1{'0' * 40}; cells are 0 to 3, kinds 4 to 4",
        ),
        (by_items(4, 0, branch_first=4), "branch_first: kind 4 has 2 copies; it must have one"),
        (by_items(4, 0, branch_first=0), "branch_first: 0 is not the number of a kind"),
        (by_items(4, 0, branch_first=99), "branch_first: 99 is not the number of a kind"),
    ],
)
def test_a_transcript_is_refused_at_its_place(argument: Document, expected: str | None) -> None:
    assert reason(TWO, argument) == expected


def test_copies_are_chosen_in_order_or_each_pair_would_be_found_twice() -> None:
    wrong = TWICE | {"count": 4, "count_labelled": 8}
    assert reason(TWO, by_items(4, 4, 4, 4, 4), wrong) == "claim.count: counts 2, claims 4"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ({"answer": "impossible"}, "claim.count: counts 2, claims 0"),
        ({"answer": "unique"}, "claim.count: counts 2, claims 1"),
        (TWICE | {"count": 48}, "claim.count: counts 2, claims 48"),
        (TWICE | {"count_labelled": 2}, "claim.count_labelled: counts 4, claims 2"),
    ],
)
def test_a_wrong_claim_is_refused_with_what_was_counted(claim: Document, expected: str) -> None:
    assert reason(TWO, by_items(0, 2, 1), claim) == expected


def test_solutions_up_to_symmetry_are_counted_by_what_symmetries_fix() -> None:
    document = certificate(TWO, up_to=True)
    assert judged(document).holds
    assert [len(items) for items in document["argument"]["fixed"]] == [1, 1, 1]
    document["claim"]["count_up_to_symmetry"] = 2
    assert judged(document).reason == "claim.count_up_to_symmetry: counts 1, claims 2"
    document["argument"]["fixed"][1].append(0)
    assert judged(document).reason == "fixed[1][1]: items go on after the tree is complete"
    document["argument"]["fixed"].pop()
    assert judged(document).reason == (
        "c.json: argument.fixed: has 2 transcripts; expected 3, one for each symmetry but the "
        "identity"
    )


def test_the_root_branches_on_branch_first() -> None:
    document = certificate(SKETCHES["copies and one"], reduced=True)
    first = document["argument"]["branch_first"]
    document["argument"]["items"][0] = 3
    expected = f"items[0]: branches on 3, not on branch_first {first}"
    assert judged(document).reason == expected


def test_cells_are_not_branched_on_where_they_may_stay_uncovered() -> None:
    sketch = Sketch(SQUARE, board("square", 1, 3), (domino("a"),), leftover=True)
    assert reason(sketch, by_items(3), TWICE | {"count_labelled": 2}) is None
    expected = "items[0]: branches on cell 1, which may stay uncovered"
    assert reason(sketch, by_items(1)) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([("a", [(0, 0), (1, 0)])], None),
        ([("a", [(0, 0), (0, 1)]), ("b", [(0, 1), (1, 1)])], "given[0] overlaps given[1]"),
        ([("a", [(0, 0), (1, 1)])], 'given[0] is not piece "a" as it may be moved'),
        ([("a", [(0, 1), (0, 2)])], "given[0] lies partly outside the region"),
        (
            [("a", [(0, 0), (0, 1)]), ("a", [(1, 0), (1, 1)])],
            'given[1] is piece "a" again, as given[0] is',
        ),
    ],
)
def test_given_pieces_lie_as_they_must(given: Any, expected: str | None) -> None:
    lying = tuple(Given(piece, cells("square", *places)) for piece, places in given)
    sketch = replace(TWO, given=lying)
    assert reason(sketch, by_items(0), {"answer": "unique"}) == expected


def test_a_given_piece_may_be_turned_over_only_with_flips() -> None:
    mirrored = cells("square", (0, 1), (1, 1), (2, 1), (2, 0))
    given = (Given("a", mirrored),)
    for flips in (False, True):
        sketch = Sketch(SQUARE, mirrored, (ell("a"),), flips, given=given)
        assert (reason(sketch, by_items(), {"answer": "unique"}) is None) == flips


def test_another_problem_s_checksum_is_refused() -> None:
    document = certificate(TWO)
    right, wrong = document["problem_sha256"], checksum(SKETCHES["flips"].problem)
    document["problem_sha256"] = wrong
    assert judged(document) == Verdict(
        False, f"problem_sha256 is {wrong}, the problem's is {right}"
    )


# --- what is derived ------------------------------------------------------------------------------------


def sketch_of(puzzle: PuzzleSet, challenge: Challenge) -> Sketch:
    pieces = puzzle.select(challenge.pieces)
    given = challenge.given
    return Sketch(puzzle.lattice, challenge.region, pieces, challenge.flips, False, given)


def everything_in(puzzle: PuzzleSet) -> list[Sketch]:
    ids = tuple(piece.id for piece in puzzle.pieces)
    boards = [Challenge(one.id, one.cells, ids, flips=puzzle.flips) for one in puzzle.boards]
    return [sketch_of(puzzle, one) for one in (*puzzle.challenges, *boards)]


@pytest.mark.parametrize("name", shipped_names())
def test_the_checker_sees_every_shipped_challenge_as_the_model_does(name: str) -> None:
    found = [disagreements(sketch) for sketch in everything_in(load_set(name))]
    assert found
    assert not any(found), found


# --- planted faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", TILINGS)
@pytest.mark.parametrize("change", ["step", "up", "cells", "turn_degrees"])
def test_a_wrong_constant_of_a_lattice_is_noticed(
    lattice: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = TILINGS[lattice]
    wrong: Document = {
        "step": (true.step[0], true.step[1] * 1.01),
        "up": (true.up[0], true.up[1] * 1.01),
        "cells": tuple(tuple((x * 0.9, y) for x, y in cell) for cell in true.cells),
        "turn_degrees": 120 if true.turn_degrees == 60 else 180,
    }
    monkeypatch.setitem(TILINGS, lattice, replace(true, **{change: wrong[change]}))
    sketch = next(one for one in SKETCHES.values() if one.lattice.name == lattice)
    assert not judged(certificate(sketch, up_to=True)).holds


# --- the house -------------------------------------------------------------------------------------------


def test_the_checker_shares_no_code_with_the_search_or_the_model() -> None:
    for path in (ROOT / "fabkit" / "certify").glob("*.py"):
        imports = [
            name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in [getattr(node, "module", None) or node.names[0].name]
        ]
        own = {name for name in imports if name.startswith("fabkit.")}
        allowed = ("fabkit.core", "fabkit.certify")
        others = {name for name in own if not name.startswith(allowed)}
        assert not {name for name in imports if name.startswith("numba")}
        if path.name == "labels.py":  # which compares with what is shipped, and derives nothing
            others -= {"fabkit.model.library", "fabkit.model.puzzle"}
        assert not others, path.name


def test_progress_never_goes_back() -> None:
    row, monomino = board("square", 1, 60), [squares(f"m{i}", (0, 0)) for i in range(2)]
    sketch = Sketch(SQUARE, row, tuple(monomino), leftover=True)
    document = certificate(sketch, up_to=True)
    shares: list[float] = []
    assert check(parse(document, "c.json"), shares.append).holds
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all(0 <= share <= 1 for share in shares)


def test_ctrl_c_gets_through() -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(parse(certificate(SKETCHES["copies"]), "c.json"), stop)


def test_a_deep_tree_is_followed() -> None:
    depth = 900
    sketch = Sketch(SQUARE, board("square", 1, depth), ())
    document = deepcopy(certificate(SKETCHES["copies"]))
    document["problem"] = sketch.problem
    monomino = [[0, 0], [2, 0], [2, 2], [0, 2]]
    document["problem"]["pieces"] = [{"id": f"m{i}", "forms": [[monomino]]} for i in range(depth)]
    document["problem_sha256"] = checksum(document["problem"])
    document["claim"] = {"answer": "unique"}
    document["argument"]["items"] = list(range(depth))
    assert judged(document) == Verdict(True, None, depth)
