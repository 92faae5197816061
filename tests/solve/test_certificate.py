"""The certificates that the solver writes: accepted, true, complete, and the same every time.

What is changed in them is refused or still true.
"""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations

import pytest
from hypothesis import given

from fabkit.certify import verify
from fabkit.certify.document import parse
from fabkit.certify.verdict import Verdict
from fabkit.core.errors import InputError
from fabkit.model.puzzle import Challenge
from fabkit.sets.challenges import find_challenge
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.certificate import make_certificate
from fabkit.solve.encoding import EncodedChallenge, to_exact_cover
from fabkit.solve.engines.engine import Budget, BudgetSpentError, get_engine
from tests.solve.test_search import challenges
from tests.support.algorithm_x import AlgorithmX
from tests.support.published import iqfit_samples, iqstars_samples, known_counts
from tests.support.sketches import (
    HEXAGONS,
    SKETCHES,
    SQUARE,
    Document,
    Sketch,
    board,
    cells,
    checksum,
    corner,
    domino,
    ell,
    hexagons,
    is_true,
    judged,
    length,
    squares,
    stated,
    written,
)


def shipped(name: str, challenge: str | None = None) -> EncodedChallenge:
    puzzle = load_set(name)
    return to_exact_cover(puzzle, find_challenge(puzzle, challenge))


def counts(document: Document) -> tuple[int, int, int]:
    claim = document["claim"]
    return claim["count"], claim["count_labelled"], claim["count_up_to_symmetry"]


def accepted(one: EncodedChallenge, claim: str, set_name: str | None = None) -> Document:
    """The certificate of a shipped challenge, judged with what its labels name."""
    document = written(one, claim)
    assert document["claim"]["answer"] == claim
    verdict = verify(parse(document, "c.json"), set_name)
    assert verdict == Verdict(True, None, length(document), compared=True)
    return document


# --- shipped sets -------------------------------------------------------------------------------


@pytest.mark.every(4)
@pytest.mark.parametrize("name", known_counts("fridgeiq"))
def test_box_challenges(name: str) -> None:
    """Those of known counts, with identical pieces distinguished; two are impossible."""
    known = known_counts("fridgeiq")[name]
    one = shipped("fridgeiq", name)
    document = accepted(one, "count")
    count, labelled, orbits = counts(document)
    answer = solve(one, "count", "count")
    assert labelled == known
    assert (count, orbits) == (answer.count, answer.count_up_to_symmetry)
    assert len(document["argument"]["fixed"]) == len(one.problem.symmetries) - 1
    if known == 1:
        assert document["argument"]["items"] == accepted(one, "unique")["argument"]["items"]


def test_the_impossible_and_the_unique() -> None:
    for name in ("rectangle_02_b", "rectangle_08_c"):
        document = accepted(shipped("fridgeiq", name), "impossible")
        assert document["claim"] == {"answer": "impossible"}
        assert document["argument"]["fixed"] is None
        assert length(document) > 1
    accepted(shipped("fridgeiq", "triangle_01"), "unique")
    for sample in (*iqfit_samples(), *iqstars_samples())[::6]:
        if not sample.hints:
            document = written(to_exact_cover(sample.puzzle, sample.challenge), "unique")
            assert judged(document).holds
            assert len(document["problem"]["given"]) == len(sample.challenge.given)


BOARDS = [
    ("iqblock", "square", (48, 48, 6)),
    ("iqstars", "board", (381, 381, 381)),
    ("fridgeiq", "rectangle_01", (2, 2, 1)),  # of A and E, which are mirror images
]
LARGER = [
    ("cubimagici", "tray", (816, 816, 102)),
    ("pentominoes", "8x8", (520, 520, 65)),
    ("fridgeiq", "triangle_10", (3_393, 13_572, 3_393)),
]


@pytest.mark.parametrize(
    "boards", [BOARDS, pytest.param(LARGER, marks=pytest.mark.integration)], ids=len
)
def test_counts_of_boards(boards: list[tuple[str, str, tuple[int, int, int]]]) -> None:
    for name, board_, expected in boards:
        assert counts(accepted(shipped(name, board_), "count")) == expected


def test_open_cells() -> None:
    """Two pieces on a board: as many solutions as pairs of placements that are apart."""
    stars = load_set("iqstars")
    board_ = stars.boards[0].cells
    spare = len(board_) - sum(len(stars.piece(name).forms[0].cells) for name in ("red", "pink"))
    one = to_exact_cover(stars, Challenge("board", board_, ("red", "pink"), open_count=spare))
    document = written(one, "count")
    assert judged(document) == Verdict(True, None, length(document))
    pairs = [
        set(a.cells).isdisjoint(b.cells)
        for a, b in combinations(one.problem.options, 2)
        if (a.kind, b.kind) == (0, 1)
    ]
    assert counts(document) == (sum(pairs), sum(pairs), sum(pairs))
    assert document["problem"]["open"] == spare


@given(challenges())
def test_random_challenges_are_certified_as_they_are(one: EncodedChallenge) -> None:
    """Every claim that the reference engine allows is certified, and no other."""
    count = AlgorithmX().count(one.problem, Budget()).count
    document = written(one, "count")
    assert judged(document) == Verdict(True, None, length(document))
    assert counts(document)[0] == count
    for claim, right in (("impossible", 0), ("unique", 1)):
        if count == right:
            shorter = written(one, claim)
            assert shorter["claim"] == {"answer": claim}
            assert judged(shorter) == Verdict(True, None, length(shorter))
        else:
            with pytest.raises(InputError, match=f"so it is not {claim}"):
                make_certificate(one, claim)


# --- solutions that a symmetry carries to themselves
# ------------------------------------------------

RING = board("square", 3, 3)
FLOWER = cells("hexagon", (0, 0), (0, 1), (1, -1), (1, 0), (1, 1), (2, 0), (2, 1))
PAIRS = tuple(hexagons(name, (0, 0), (0, 1)) for name in "abc")
FIXED = {
    # A pair of level dominoes and a pair of upright ones; a quarter turn makes one the other.
    "square of dominoes": (SQUARE, board("square", 2, 2), [*map(domino, "ab")], 2, 1, 1),
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
    # WordArray of two long and two short: of the six, LSSL and SLLS read the same backwards.
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
    one = Sketch(lattice, region, tuple(pieces), flips=flips).encoded
    document = written(one, "count")
    orbits = flipped if flips else turned
    assert counts(document) == (count, one.problem.labelled(count), orbits)
    assert judged(document) == Verdict(True, None, length(document))
    group = len(one.problem.symmetries)
    assert len(document["argument"]["fixed"]) == group - 1
    assert orbits * group > count, "no solution is kept by any symmetry"
    for engine in ("search", "count"):
        assert solve(one, "count", engine).count_up_to_symmetry == orbits


def test_transcripts_of_other_symmetries_are_refused() -> None:
    """Round a hole, a quarter turn lays four dominoes at once and half a turn two."""
    document = written(SKETCHES["hole"].encoded, "count")
    fixed = document["argument"]["fixed"]
    assert sorted(map(len, fixed)) == [1, 1, 3]
    for order in permutations(fixed):
        document["argument"]["fixed"] = list(order)
        assert judged(document).holds == (list(order) == fixed)


# --- what cannot be certified
# -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "claim", "found"),
    [
        ("square_01", "unique", "has more than one solution, so it is not unique"),
        ("triangle_01", "impossible", "has a solution, so it is not impossible"),
        ("rectangle_02_b", "unique", "has no solution, so it is not unique"),
        ("rectangle_10_c", "impossible", "solution, so it is not impossible"),  # it has millions
    ],
)
def test_false_claims_are_refused(name: str, claim: str, found: str) -> None:
    with pytest.raises(InputError, match=found) as refused:
        make_certificate(shipped("fridgeiq", name), claim, Budget(60))
    assert f"fridgeiq {name}" in str(refused.value)


def test_budgets_and_progress() -> None:
    """A spent budget certifies nothing; progress never decreases and ends at one."""
    lacking = Sketch(SQUARE, board("square", 3, 3), tuple(map(domino, "abc"))).encoded
    for one, claim in (
        (shipped("fridgeiq", "square_05"), "count"),
        (shipped("fridgeiq", "rectangle_08_c"), "impossible"),
        (shipped("fridgeiq", "triangle_01"), "unique"),
        (lacking, "impossible"),
    ):
        progress: list[float] = []
        document = make_certificate(
            one, claim, Budget(progress=lambda share, _, shares=progress: shares.append(share))
        )
        assert progress == sorted(progress)
        assert progress[0] >= 0
        assert progress[-1] == 1.0
        if length(document) > 100:
            with pytest.raises(BudgetSpentError):
                make_certificate(one, claim, Budget(limit_s=0))


# --- challenges that use some of their pieces
# -------------------------------------------------------

ANY = (
    domino("a"),
    domino("b"),
    corner("c"),
    ell("d"),
    squares("e", (0, 0)),
    squares("f", (0, 0), (0, 1), (0, 2)),
)
SOME = [
    replace(sketch, pieces_count=count)
    for sketch in [
        *(one for one in SKETCHES.values() if not one.open_count),
        Sketch(SQUARE, board("square", 2, 3), ANY),
        Sketch(SQUARE, board("square", 3, 3), (*ANY, squares("j", (0, 1), (1, 1), (2, 1), (2, 0)))),
    ]
    for count in range(len(sketch.given), min(4, len(sketch.pieces)) + 1)
]


@pytest.mark.integration
def test_some_of_the_pieces() -> None:
    """Against trying every choice of pieces in every way: counted, certified, impossible, unique."""
    found = set()
    for sketch in SOME[::2]:
        one, count = sketch.encoded, len(sketch.solutions)
        assert AlgorithmX().count(one.problem, Budget()).count == count
        for engine in (None, "search", "count"):
            answer = solve(one, "count", engine)
            orbits = sketch.truth["count_up_to_symmetry"]
            assert (answer.count, answer.count_up_to_symmetry) == (count, orbits)
        document = written(one, "count")
        assert judged(document).reason is None
        assert is_true(document["claim"], sketch)
        if count < 2:
            assert judged(written(one, ("impossible", "unique")[count])).holds
        found.add(min(count, 2))
    assert found == {0, 1, 2}
    by_sat = get_engine("sat").unique(one.problem, Budget())
    assert by_sat.count == min(2, count)
    document["problem"]["pieces_count"] -= 1
    document["problem_sha256"] = checksum(document["problem"])
    assert not judged(document).holds
    with pytest.raises(InputError, match="so no cell may stay open"):
        to_exact_cover(sketch.puzzle, replace(sketch.challenge, open_count=1))


# --- changes
# ----------------------------------------------------------------------------------------

COLOURED = Sketch(
    SQUARE,
    board("square", 4, 4) - cells("square", (0, 0), (3, 3)),
    tuple(map(domino, "abcdefg")),
)
BASES = [*SKETCHES.values(), COLOURED, replace(COLOURED, pieces=COLOURED.pieces[1:])]


@cache
def bases() -> list[tuple[Sketch, Document]]:
    """Certificates of every sort that hold, with their problems."""
    found = []
    for sketch in BASES:
        names = {0: ["impossible"], 1: ["unique"]}
        for claim in ["count", *names.get(len(sketch.solutions), [])]:
            found.append((sketch, written(sketch.encoded, claim)))
    return found


def test_the_bases_are_of_every_sort_and_hold() -> None:
    assert all(judged(one).holds and is_true(one["claim"], sketch) for sketch, one in bases())
    kinds = {(one["claim"]["answer"], one["argument"]["by"]) for _, one in bases()}
    assert len(kinds) == 5, "impossible by three arguments, unique, and counted"
    assert sum(len(one["argument"].get("fixed") or []) > 1 for _, one in bases()) >= 5


def change_items(items: list[int], rng: random.Random) -> None:
    at, end = rng.randrange(len(items) + 1), rng.randrange(len(items) + 1)
    new = rng.choice([*items, 0, 1, max(items, default=0) + 1])
    other = rng.choice(
        [
            [*items[:at], *items[at + 1 :]],
            [*items[:at], new, *items[at:]],
            [*items[:at], new, *items[at + 1 :]],
            [*items[:at], *items[max(at, end) :]],
            [*items[:at], *items[min(at, end) :]],
        ]
    )
    items[:] = other


def change_argument(argument: Document, rng: random.Random) -> None:
    fixed = argument.get("fixed") or []
    if "weights" in argument:
        argument["weights"][rng.randrange(len(argument["weights"]))] += rng.choice([-1, 1])
    elif fixed and rng.random() < 0.2:
        rng.shuffle(fixed)
    elif "items" in argument and rng.random() < 0.2:
        near = [item + step for item in argument["items"][:3] for step in (-1, 0, 1)]
        argument["branch_first"] = rng.choice([None, *near])
    elif "items" in argument:
        change_items(rng.choice([argument["items"], *fixed]), rng)


def change_claim(document: Document, rng: random.Random) -> None:
    claim = document["claim"]
    if claim["answer"] == "count" and rng.random() < 0.5:
        number = rng.choice([key for key in claim if key != "answer"])
        claim[number] = (claim[number] or 0) + rng.choice([-1, 1, 2, 10**30])
    else:
        document["claim"] = {"answer": rng.choice(["unique", "impossible"])}
        if "fixed" in document["argument"]:
            document["argument"]["fixed"] = None


def change_problem(sketch: Sketch, rng: random.Random) -> Sketch:
    change = rng.choice(["flips", "open", "region", "pieces", "given", "another"])
    if change == "flips":
        return replace(sketch, flips=not sketch.flips)
    if change == "open":
        return replace(sketch, open_count=sketch.open_count + 1)
    if change == "region" and len(sketch.remaining) > 1:
        return replace(sketch, region=sketch.region - {rng.choice(sketch.remaining)})
    if change == "pieces" and not sketch.given and len(sketch.pieces) > 1:
        gone = rng.choice(sketch.pieces)
        return replace(sketch, pieces=tuple(one for one in sketch.pieces if one != gone))
    return replace(sketch, given=()) if change == "given" else rng.choice(BASES)


@pytest.mark.parametrize(
    "seeds", [range(100), pytest.param(range(1000, 5000), marks=pytest.mark.long)], ids=len
)
def test_changed_certificates_are_refused_or_still_true(seeds: range) -> None:
    refused = 0
    for seed in seeds:
        rng = random.Random(seed)
        sketch, before = rng.choice(bases())
        document = copy.deepcopy(before)
        while document == before:
            change = rng.randrange(6)
            if change < 3:
                change_argument(document["argument"], rng)
            elif change == 3:
                change_claim(document, rng)
            elif change == 4:
                document["argument"] = copy.deepcopy(rng.choice(bases())[1]["argument"])
            else:
                sketch = change_problem(sketch, rng)
                document = stated(sketch, document["claim"], document["argument"])
        verdict = judged(document)
        refused += not verdict.holds
        assert verdict.reason if not verdict.holds else is_true(document["claim"], sketch), seed
    assert refused > 0.6 * len(seeds)
