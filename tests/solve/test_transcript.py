"""The certificates that the solver writes: accepted, true, complete, and the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings

from fabkit.certify import Verdict, judge, parse
from fabkit.core.errors import InputError
from fabkit.model.challengeload import find_challenge
from fabkit.model.library import load_set
from fabkit.model.puzzle import Challenge
from fabkit.solve.answer import solve
from fabkit.solve.engines.engine import BudgetSpentError, Effort
from fabkit.solve.posing import PosedChallenge, pose
from fabkit.solve.transcript import MOST_COUNT_NODES, certificate
from tests.conftest import ROOT
from tests.solve.test_engines import challenges
from tests.support.oracle import Oracle
from tests.support.published import iqfit_samples, iqstars_samples, known_counts
from tests.support.rebuilt import Document, is_small, is_true, posed, truth, written
from tests.support.sketches import (
    HEXAGONS,
    SKETCHES,
    SQUARE,
    corner,
    domino,
    hexagons,
    judged,
    squares,
)
from tests.support.transcripts import Sketch, board, cells

PENTOMINOES = str(ROOT / "tests" / "sets" / "pentominoes.toml")


def shipped(name: str, challenge: str | None = None) -> PosedChallenge:
    puzzle = load_set(name)
    return pose(puzzle, find_challenge(puzzle, challenge))


def length(document: Document) -> int:
    """The number of items in all transcripts."""
    argument = document["argument"]
    return sum(map(len, [argument.get("items", []), *(argument.get("fixed") or [])]))


def counts(document: Document) -> tuple[int, int, int]:
    claim = document["claim"]
    assert claim["answer"] == "count"
    return claim["count"], claim["count_labelled"], claim["count_up_to_symmetry"]


def accepted(one: PosedChallenge, claim: str, set_name: str | None = None) -> Document:
    """The certificate of a shipped challenge, judged with what its labels name."""
    document = written(one, claim)
    assert document["claim"]["answer"] == claim
    verdict = judge(parse(document, "c.json"), set_name)
    assert verdict == Verdict(True, None, length(document), compared=True)
    return document


# --- shipped sets -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", known_counts("fridgeiq"))
def test_box_challenges(name: str) -> None:
    """Those of known counts, with identical pieces told apart; two are impossible."""
    known = known_counts("fridgeiq")[name]
    one = shipped("fridgeiq", name)
    document = accepted(one, "count")
    count, labelled, orbits = counts(document)
    answer = solve(one, "count", "count")
    assert labelled == known
    assert (count, orbits) == (answer.count, answer.count_up_to_symmetry)
    assert len(document["argument"]["fixed"]) == len(one.problem.symmetries) - 1
    if known == 0:
        accepted(one, "impossible")
    if known == 1:
        assert document["argument"]["items"] == accepted(one, "unique")["argument"]["items"]


def test_the_two_impossible_box_challenges() -> None:
    for name in ("rectangle_02_b", "rectangle_08_c"):
        document = accepted(shipped("fridgeiq", name), "impossible")
        assert document["claim"] == {"answer": "impossible"}
        assert document["argument"]["fixed"] is None
        assert length(document) > 1


@pytest.mark.parametrize("name", [f"triangle_0{number}" for number in (1, 2, 3, 4)])
def test_unique_box_challenges(name: str) -> None:
    document = accepted(shipped("fridgeiq", name), "unique")
    assert is_true(document)


BOARDS = [
    ("iqblock", "square", (48, 48, 6)),
    ("cubimagici", "tray", (816, 816, 102)),
    ("iqstars", "board", (381, 381, 381)),
    (PENTOMINOES, "8x8", (520, 520, 65)),
    ("fridgeiq", "square_08", (27_644, 55_288, 6_911)),
    ("fridgeiq", "triangle_10", (3_393, 13_572, 3_393)),
]


@pytest.mark.parametrize(
    ("name", "board", "expected"), BOARDS, ids=[f"{Path(one[0]).stem}-{one[1]}" for one in BOARDS]
)
def test_counts_of_boards(name: str, board: str, expected: tuple[int, int, int]) -> None:
    document = accepted(shipped(name, board), "count", name if name == PENTOMINOES else None)
    assert counts(document) == expected


SAMPLES = [*iqfit_samples(), *iqstars_samples()]


def test_published_challenges_are_unique() -> None:
    for sample in SAMPLES:
        if not sample.hints:
            document = written(pose(sample.puzzle, sample.challenge), "unique")
            assert judged(document) == Verdict(True, None, length(document))
            assert len(document["problem"]["given"]) == len(sample.challenge.given)
            assert is_true(document)


def test_cells_left_over() -> None:
    """Two pieces on a board: as many solutions as pairs of placements that are apart."""
    stars = load_set("iqstars")
    two = Challenge("board", stars.boards[0].cells, ("red", "pink"))
    one = pose(stars, two, leftover=True)
    document = written(one, "count")
    assert judged(document) == Verdict(True, None, length(document))
    pairs = [
        set(a.cells).isdisjoint(b.cells)
        for a, b in combinations(one.problem.options, 2)
        if a.kind != b.kind
    ]
    assert counts(document) == (sum(pairs), sum(pairs), sum(pairs))


@pytest.mark.parametrize(
    ("name", "claim", "by"),
    [
        ("rectangle_02_b", "impossible", "transcript"),
        ("triangle_02", "unique", "transcript"),
        ("square_02", "count", "transcript"),
    ],
)
def test_cells_could_be_left_over_but_none_are(name: str, claim: str, by: str) -> None:
    fridge = load_set("fridgeiq")
    one = pose(fridge, find_challenge(fridge, name), leftover=True)
    document = accepted(one, claim)
    assert document["problem"]["leftover"] is True
    assert document["argument"]["by"] == by
    if claim == "count":
        assert counts(document) == (84, 168, 21)


# --- random challenges ----------------------------------------------------------------------------


def state_the_truth(one: PosedChallenge) -> None:
    """Every claim that the oracle allows is certified, and no other."""
    if not is_small(one):
        return
    count = Oracle().count(one.problem, Effort()).count
    document = written(one, "count")
    assert judged(document) == Verdict(True, None, length(document))
    assert counts(document) == truth(document["problem"])
    assert counts(document)[0] == count
    for claim, right in (("impossible", 0), ("unique", 1)):
        if count == right:
            shorter = written(one, claim)
            assert shorter["claim"] == {"answer": claim}
            assert judged(shorter) == Verdict(True, None, length(shorter))
        else:
            with pytest.raises(InputError, match=f"so it is not {claim}"):
                certificate(one, claim)


@settings(max_examples=60)
@given(challenges())
def test_random_challenges_are_certified_as_they_are(one: PosedChallenge) -> None:
    state_the_truth(one)


@pytest.mark.long
@settings(max_examples=500)
@given(challenges())
def test_many_random_challenges_are_certified_as_they_are(one: PosedChallenge) -> None:
    state_the_truth(one)


@pytest.mark.parametrize("name", SKETCHES)
def test_sketches_are_certified_as_they_are(name: str) -> None:
    state_the_truth(posed(SKETCHES[name]))


# --- solutions that a symmetry carries to themselves ------------------------------------------------

RING = board("square", 3, 3)
FLOWER = cells("triangular", (0, 0), (0, 1), (1, -1), (1, 0), (1, 1), (2, 0), (2, 1))
PAIRS = tuple(hexagons(name, (0, 0), (0, 1)) for name in "abc")
FIXED = {
    # A pair of level dominoes and a pair of upright ones; a quarter turn makes one the other.
    "square of dominoes": (SQUARE, board("square", 2, 2), [*map(domino, "ab")], 2, 1, 1),
    # V uprights and H level pairs: VVVV VVH VHV HVV HH; half a turn swaps only VVH and HVV.
    "bar of dominoes": (SQUARE, board("square", 2, 4), [*map(domino, "abcd")], 5, 4, 4),
    # Two blocks of two corners, each in one of two ways that mirrors swap and half turns keep.
    "bar of corners": (SQUARE, board("square", 3, 4), [*map(corner, "abcd")], 4, 3, 2),
    # The bare cell is the middle (2 ways round it, kept by turns, swapped by mirrors) or one of
    # four corners (4 ways each, none kept).
    "square with a bare cell": (
        SQUARE,
        RING,
        [*map(domino, "abcd"), squares("x", (0, 0))],
        18,
        6,
        3,
    ),
    # Six around one: the single cell is the middle (2 ways round it, swapped by a sixth of a
    # turn) or on the rim (3 ways for each of six, none kept by a turn).
    "flower": (HEXAGONS, FLOWER, [*PAIRS, hexagons("x", (0, 0))], 20, 4, 3),
    # All eight cells around a hole: two ways round.
    "ring": (SQUARE, RING - cells("square", (1, 1)), [*map(domino, "abcd")], 2, 2, 1),
    # Words of two long and two short: of the six, LSSL and SLLS read the same backwards.
    "strip of two kinds": (
        SQUARE,
        board("square", 1, 6),
        [*map(domino, "ab"), squares("x", (0, 0)), squares("y", (0, 0))],
        6,
        4,
        4,
    ),
}


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("flips", [False, True])
def test_orbits_counted_by_hand(name: str, flips: bool) -> None:
    lattice, region, pieces, count, turned, flipped = FIXED[name]
    one = posed(Sketch(lattice, region, tuple(pieces), flips=flips))
    document = written(one, "count")
    orbits = flipped if flips else turned
    assert counts(document) == (count, count * one.problem.labellings, orbits)
    assert judged(document) == Verdict(True, None, length(document))
    assert truth(document["problem"]) == counts(document)
    group = len(one.problem.symmetries)
    assert len(document["argument"]["fixed"]) == group - 1
    assert orbits * group > count, "no solution is kept by any symmetry"
    for engine in ("search", "count"):
        assert solve(one, "count", engine).count_up_to_symmetry == orbits


# --- what cannot be certified -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "claim", "found"),
    [
        ("square_01", "unique", "has more than one solution, so it is not unique"),
        ("square_01", "impossible", "solution, so it is not impossible"),
        ("triangle_01", "impossible", "has a solution, so it is not impossible"),
        ("rectangle_02_b", "unique", "has no solution, so it is not unique"),
        ("square_10", "unique", "has more than one solution, so it is not unique"),
        ("rectangle_10_c", "impossible", "solution, so it is not impossible"),
    ],
)
def test_false_claims_are_refused(name: str, claim: str, found: str) -> None:
    """At the first solution too many: the last two have millions."""
    with pytest.raises(InputError, match=found) as refused:
        certificate(shipped("fridgeiq", name), claim, Effort(60))
    assert f"fridgeiq {name}" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "size"), [("square_09", "20,000,000"), ("rectangle_10_a", "4,000,000")]
)
def test_a_count_too_long_is_refused_with_its_size(name: str, size: str) -> None:
    told: list[float] = []
    with pytest.raises(InputError) as refused:
        certificate(shipped("fridgeiq", name), "count", Effort(told=told.append))
    assert f"would have about {size} nodes" in str(refused.value)
    assert f"takes {MOST_COUNT_NODES:,} at most" in str(refused.value)
    assert told[-1] < 1


@pytest.mark.parametrize("claim", ["count", "unique", "impossible"])
def test_a_spent_budget_certifies_nothing(claim: str) -> None:
    for name in ("triangle_02", "rectangle_08_c", "square_07"):
        with pytest.raises(BudgetSpentError):
            certificate(shipped("fridgeiq", name), claim, Effort(budget_s=0))


@pytest.mark.parametrize(
    ("name", "claim"),
    [("square_07", "count"), ("rectangle_08_c", "impossible"), ("triangle_01", "unique")],
)
def test_progress_never_decreases_and_ends_at_one(name: str, claim: str) -> None:
    told: list[float] = []
    certificate(shipped("fridgeiq", name), claim, Effort(told=told.append))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert told[0] >= 0
    if name == "square_07":
        assert len({share for share in told if share < 0.25}) >= 3, "it is told in between"


def test_progress_ends_at_one_without_a_search() -> None:
    told: list[float] = []
    lacking = Sketch(SQUARE, board("square", 3, 3), tuple(map(domino, "abc")))
    document = certificate(posed(lacking), "impossible", Effort(told=told.append))
    assert document["argument"] == {"by": "area"}
    assert told == [1.0]


SCRIPT = """
import hashlib
from fabkit.core.files import json_text
from tests.solve.test_solve_transcripts import certificate, shipped
text = "".join(json_text(certificate(shipped(*one), "count"), indent=None) for one in {jobs})
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_same_bytes_in_every_run() -> None:
    jobs = [("fridgeiq", "square_02"), ("iqstars", "board"), ("cubimagici", "tray")]
    runs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(jobs=jobs)],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
    one = shipped("fridgeiq", "square_02")
    again = [json.dumps(certificate(one, "count")) for _ in range(2)]
    assert again[0] == again[1]
