"""The certificate checker: what holds is accepted, nothing that is not true is, and why."""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.certify.document import parse
from fabkit.certify.verdict import Verdict, verify_content
from fabkit.model.puzzle import Given
from fabkit.sets.library import load_set, shipped_names
from tests.conftest import ROOT
from tests.support.sketches import (
    IMPOSSIBLE,
    SKETCHES,
    SQUARE,
    TWICE,
    TWO,
    Cells,
    Document,
    Sketch,
    board,
    by_items,
    cells,
    certificate,
    checksum,
    disagreements,
    domino,
    flat,
    is_true,
    judged,
    length,
    squares,
    stated,
)
from tests.support.strategies import cell_sets, lattices


@pytest.mark.parametrize("name", SKETCHES)
def test_what_holds_is_accepted_and_derived_as_the_model_does(name: str) -> None:
    for claim in ("count", ""):
        document = certificate(SKETCHES[name], claim)
        assert judged(document) == Verdict(True, None, length(document))
        assert is_true(document["claim"], SKETCHES[name])
    assert disagreements(SKETCHES[name]) == []


@pytest.mark.in_turn
@pytest.mark.parametrize("name", shipped_names())
def test_the_checker_sees_every_shipped_challenge_as_the_model_does(name: str) -> None:
    puzzle = load_set(name)
    boards = map(puzzle.whole_board, puzzle.boards)
    for challenge in (*puzzle.challenges, *boards):
        sketch = Sketch(
            puzzle.lattice,
            challenge.region,
            puzzle.select(challenge.pieces),
            challenge.flips,
            challenge.open_count,
            challenge.given,
            challenge.pieces_count,
            challenge.clues,
        )
        assert disagreements(sketch) == [], challenge.id


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """A small problem; most have solutions, since the region is cut into the pieces."""
    lattice, region = draw(cell_sets(draw(lattices), most=9))
    flips, are_some_open = draw(st.booleans()), draw(st.booleans())
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
    open_count = 0
    is_given = draw(st.booleans()) and len(parts) > 1
    if draw(st.integers(0, 4)) == 0:
        _, other = draw(cell_sets(lattice, most=3))
        pieces[-1] = flat(lattice.name, "other", other)
    elif are_some_open and len(pieces) > 2:
        open_count = len(pieces.pop().forms[0].cells)
    given = (Given("p0", parts[0]),) if is_given else ()
    return Sketch(lattice, region, tuple(pieces), flips, open_count, given)


@given(sketches())
def test_random_problems_are_counted_as_by_trying_everything(sketch: Sketch) -> None:
    assert judged(certificate(sketch)).reason is None
    counted = certificate(sketch, "count")
    assert judged(counted).reason is None
    assert is_true(counted["claim"], sketch)
    counted["claim"]["count"] += 1
    assert not judged(counted).holds
    assert disagreements(sketch) == []


# --- sums -----------------------------------------------------------------------------------------

CHESSBOARD = Sketch(
    SQUARE, board("square", 4, 4) - cells("square", (0, 0), (3, 3)), tuple(map(domino, "abcdefg"))
)
NINE = Sketch(SQUARE, board("square", 3, 3), tuple(map(domino, "abcd")))


def test_colourings_are_added_up() -> None:
    signs = [1 if (x + y) % 4 else -1 for x, y in CHESSBOARD.remaining]
    solved = replace(CHESSBOARD, region=board("square", 2, 7))
    for sketch, weights, reason in (
        (CHESSBOARD, signs, None),
        (CHESSBOARD, [0] * 14, "argument.weights: the pieces can cover the weight 0 of the region"),
        (SKETCHES["does not fit"], [0] * 6, None),
        (solved, [1 if (x + y) % 4 else -1 for x, y in solved.remaining], "can cover the weight 0"),
        (solved, [1], "has 1 weights; expected 14, one for each cell"),
    ):
        verdict = judged(stated(sketch, IMPOSSIBLE, {"by": "colouring", "weights": weights}))
        assert verdict.holds == (reason is None)
        assert (reason or "") in (verdict.reason or "")


def test_areas_are_added_up() -> None:
    for sketch, reason in (
        (NINE, None),
        (replace(NINE, open_count=2), None),
        (CHESSBOARD, "argument: the pieces can cover 14 cells, as many as remain"),
        (
            replace(NINE, open_count=1),
            "argument: the pieces can cover 9 cells, as many as remain",
        ),
        (SKETCHES["forms"], "argument: the pieces can cover 6 cells, as many as remain"),
        (replace(SKETCHES["forms"], region=board("square", 1, 5)), None),
    ):
        document = stated(sketch, IMPOSSIBLE, {"by": "area"})
        assert judged(document) == Verdict(reason is None, reason)


# --- refusals
# -----------------------------------------------------------------------------------------


def reason(sketch: Sketch, argument: Document, claim: Document = TWICE) -> str | None:
    return verify_content(parse(stated(sketch, claim, argument), "c.json")).reason


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (by_items(0, 2, 1), None),
        (by_items(4, 4, 4, 4, 4), None),  # copies in order, or each pair would be found twice
        (by_items(), "items: the transcript ends while a branch is open"),
        (by_items(0, 2), "items: the transcript ends while a branch is open"),
        (by_items(0, 2, 1, 1), "items[3]: extra items after the complete tree"),
        (by_items(0, 0, 1), "items[1]: cell 0 is already covered"),
        (by_items(0, 5, 1), "items[1]: there is no item 5; cells are 0 to 3, kinds 4 to 4"),
        (by_items(4, 0, branch_first=4), "branch_first: kind 4 has 2 copies; it must have one"),
        (by_items(4, 0, branch_first=0), "branch_first: 0 is not the number of a kind"),
        (by_items(4, 0, branch_first=99), "branch_first: 99 is not the number of a kind"),
    ],
)
def test_a_transcript_is_refused_at_its_place(argument: Document, expected: str | None) -> None:
    assert reason(TWO, argument) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ({"answer": "impossible"}, "claim.count: claims 0, but the proof gives 2"),
        ({"answer": "unique"}, "claim.count: claims 1, but the proof gives 2"),
        (TWICE | {"count": 48}, "claim.count: claims 48, but the proof gives 2"),
        (TWICE | {"count_labelled": 2}, "claim.count_labelled: claims 2, but the proof gives 4"),
    ],
)
def test_a_wrong_claim_is_refused_with_what_was_counted(claim: Document, expected: str) -> None:
    assert reason(TWO, by_items(0, 2, 1), claim) == expected


def test_solutions_up_to_symmetry_are_counted_by_what_symmetries_fix() -> None:
    document = certificate(TWO)
    assert [len(items) for items in document["argument"]["fixed"]] == [1, 1, 1]
    document["claim"]["count_up_to_symmetry"] = 2
    assert judged(document).reason == "claim.count_up_to_symmetry: claims 2, but the proof gives 1"
    document["argument"]["fixed"][1].append(0)
    assert judged(document).reason == "fixed[1][1]: extra items after the complete tree"
    document["argument"]["fixed"].pop()
    assert judged(document).reason == (
        "c.json: argument.fixed: has 2 transcripts; expected 3, one for each symmetry but the "
        "identity"
    )


def test_the_root_branches_on_branch_first() -> None:
    document = certificate(SKETCHES["copies and one"])
    first = document["argument"]["branch_first"]
    document["argument"]["items"][0] = 3
    expected = f"items[0]: branches on 3, not on branch_first {first}"
    assert judged(document).reason == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([("a", [(0, 0), (1, 0)])], None),
        ([("a", [(0, 0), (0, 1)]), ("b", [(0, 1), (1, 1)])], "given[0] overlaps given[1]"),
        ([("a", [(0, 0), (1, 1)])], 'given[0] is not an allowed orientation of piece "a"'),
        ([("a", [(0, 1), (0, 2)])], "given[0] lies partly outside the region"),
        (
            [("a", [(0, 0), (0, 1)]), ("a", [(1, 0), (1, 1)])],
            'given[1] repeats piece "a" of given[0]',
        ),
    ],
)
def test_given_pieces_lie_as_they_must(given: Any, expected: str | None) -> None:
    placed = tuple(Given(piece, cells("square", *places)) for piece, places in given)
    sketch = replace(TWO, given=placed)
    assert reason(sketch, by_items(0), {"answer": "unique"}) == expected


def test_another_problem_s_checksum_is_refused() -> None:
    document = certificate(TWO)
    right, wrong = document["problem_sha256"], checksum(SKETCHES["flips"].problem)
    document["problem_sha256"] = wrong
    assert (
        judged(document).reason == f"problem_sha256 is {wrong}, but the problem's hash is {right}"
    )


# --- the house
# -------------------------------------------------------------------------------------------


def test_the_checker_shares_no_code_with_the_search_or_the_model() -> None:
    for path in (ROOT / "fabkit" / "certify").glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        imports = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        others = {name for name in imports if str(name).startswith(("fabkit.", "numba"))}
        others = {name for name in others if not name.startswith(("fabkit.core", "fabkit.certify"))}
        if path.name == "labels.py":  # which compares with what is shipped, and derives nothing
            others -= {"fabkit.sets.catalog", "fabkit.sets.library", "fabkit.model.puzzle"}
        assert not others, path.name


def test_progress_never_goes_back_and_ctrl_c_gets_through() -> None:
    row, monomino = board("square", 1, 60), [squares(f"m{i}", (0, 0)) for i in range(2)]
    file = parse(certificate(Sketch(SQUARE, row, tuple(monomino), open_count=58)), "c.json")
    shares: list[float] = []
    assert verify_content(file, lambda share, _: shares.append(share)).holds
    assert shares == sorted(shares)
    assert (shares[0] >= 0, shares[-1]) == (True, 1.0)

    def stop(share: float, _: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify_content(file, stop)


def test_a_deep_tree_is_followed() -> None:
    depth = 900
    sketch = Sketch(SQUARE, board("square", 1, depth), (squares("m", (0, 0)),))
    document = deepcopy(stated(sketch, {"answer": "unique"}, by_items(*range(depth))))
    (piece,) = document["problem"]["pieces"]
    document["problem"]["pieces"] = [piece | {"id": f"m{i}"} for i in range(depth)]
    document["problem_sha256"] = checksum(document["problem"])
    assert judged(document) == Verdict(True, None, depth)
