"""What the checker says of certificates that are well formed, but do not hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fabkit.certify import Verdict, certificate_of, check
from fabkit.model.puzzle import Given
from tests.support.sketches import SKETCHES, SQUARE, TWICE, TWO, by_items, domino, ell, judged
from tests.support.transcripts import Sketch, board, cells, certificate, checksum, stated

Document = dict[str, Any]


def reason(sketch: Sketch, argument: Document, claim: Document = TWICE) -> str | None:
    return check(certificate_of(stated(sketch, claim, argument), "c.json")).reason


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
