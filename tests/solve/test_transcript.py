"""The certificates that the solver writes: accepted, true, complete, and the same every time.

What is changed in them, or written by a solver with planted faults, is refused or still true.
"""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.certify import Verdict, judge, parse
from fabkit.core.errors import InputError
from fabkit.model.challengeload import find_challenge
from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set
from fabkit.model.polygon import OutlineError, cells_of_rings
from fabkit.model.puzzle import Challenge
from fabkit.solve.answer import solve
from fabkit.solve.engines.engine import BudgetSpentError, Effort, engine_named
from fabkit.solve.posing import PosedChallenge, pose
from fabkit.solve.transcript import MOST_COUNT_NODES, certificate
from tests.conftest import ROOT
from tests.solve.test_search import challenges
from tests.support.changes import CHANGES, drop_the_end
from tests.support.oracle import Oracle
from tests.support.published import iqfit_samples, iqstars_samples, known_counts
from tests.support.rebuilt import Document, drawn, is_small, is_true, posed, truth, written
from tests.support.sketches import (
    HEXAGONS,
    SKETCHES,
    SQUARE,
    corner,
    domino,
    ell,
    hexagons,
    judged,
    squares,
)
from tests.support.transcripts import Sketch, board, cells, checksum, solutions
from tests.support.transcripts import up_to_symmetry as orbits_of

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


@pytest.mark.every(4)
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


def test_unique_box_challenges() -> None:
    for number in (1, 2, 3, 4):
        assert is_true(accepted(shipped("fridgeiq", f"triangle_0{number}"), "unique"))


BOARDS = [
    ("iqblock", "square", (48, 48, 6)),
    ("cubimagici", "tray", (816, 816, 102)),
    ("iqstars", "board", (381, 381, 381)),
    (PENTOMINOES, "8x8", (520, 520, 65)),
    ("fridgeiq", "square_08", (27_644, 55_288, 6_911)),
    ("fridgeiq", "triangle_10", (3_393, 13_572, 3_393)),
    ("fridgeiq", "rectangle_01", (2, 2, 1)),  # of A and E, which are mirror images
]
QUICK = ("square", "board", "rectangle_01")


@pytest.mark.parametrize(
    ("name", "board", "expected"),
    [
        pytest.param(*one, id=one[1], marks=() if one[1] in QUICK else pytest.mark.integration)
        for one in BOARDS
    ],
)
def test_counts_of_boards(name: str, board: str, expected: tuple[int, int, int]) -> None:
    document = accepted(shipped(name, board), "count", name if name == PENTOMINOES else None)
    assert counts(document) == expected


SAMPLES = [*iqfit_samples(), *iqstars_samples()]


def test_published_challenges_are_unique() -> None:
    for sample in SAMPLES[::6]:
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


@given(challenges())
def test_random_challenges_are_certified_as_they_are(one: PosedChallenge) -> None:
    state_the_truth(one)


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


@pytest.mark.integration
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
    [("square_05", "count"), ("rectangle_08_c", "impossible"), ("triangle_01", "unique")],
)
def test_progress_never_decreases_and_ends_at_one(name: str, claim: str) -> None:
    told: list[float] = []
    certificate(shipped("fridgeiq", name), claim, Effort(told=told.append))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert told[0] >= 0


def test_progress_ends_at_one_without_a_search() -> None:
    told: list[float] = []
    lacking = Sketch(SQUARE, board("square", 3, 3), tuple(map(domino, "abc")))
    document = certificate(posed(lacking), "impossible", Effort(told=told.append))
    assert document["argument"] == {"by": "area"}
    assert told == [1.0]


SCRIPT = """
import hashlib
from fabkit.core.files import json_text
from tests.solve.test_transcript import certificate, shipped
text = "".join(json_text(certificate(shipped(*one), "count"), indent=None) for one in {jobs})
print(hashlib.checksum(text.encode()).hexdigest())
"""


@pytest.mark.integration
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


# --- challenges that use some of their pieces -------------------------------------------------------

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
        *(one for one in SKETCHES.values() if not one.leftover),
        Sketch(SQUARE, board("square", 2, 3), ANY),
        Sketch(SQUARE, board("square", 3, 3), (*ANY, squares("j", (0, 1), (1, 1), (2, 1), (2, 0)))),
    ]
    for count in range(len(sketch.given), min(4, len(sketch.pieces)) + 1)
]


def test_some_of_the_pieces() -> None:
    """Against trying every choice of pieces in every way: counted, certified, impossible, unique."""
    found = set()
    for sketch in SOME[::2]:
        one, count = posed(sketch), len(solutions(sketch))
        assert Oracle().count(one.problem, Effort()).count == count
        for engine in (None, "search", "count"):
            answer = solve(one, "count", engine)
            assert (answer.count, answer.count_up_to_symmetry) == (count, orbits_of(sketch))
        document = written(one, "count")
        assert judged(document).reason is None
        assert counts(document) == truth(document["problem"])
        if count < 2:
            assert judged(written(one, ("impossible", "unique")[count])).holds
        found.add(min(count, 2))
    assert found == {0, 1, 2}


@pytest.mark.parametrize(
    "engine",
    ["sat", *(pytest.param(one, marks=pytest.mark.integration) for one in ("cp-sat", "mip"))],
)
def test_some_of_the_pieces_by_libraries(engine: str) -> None:
    sketch = replace(SOME[-1], pieces_count=3)
    found = engine_named(engine).unique(posed(sketch).problem, Effort())
    assert found.count == min(2, len(solutions(sketch)))
    assert all(posed(sketch).problem.is_solved_by(one) for one in found.solutions)


def test_another_number_of_pieces_is_refused() -> None:
    sketch = replace(SOME[-1], pieces_count=3)
    document = written(posed(sketch), "count")
    document["problem"]["pieces_count"] = 4
    document["problem_sha256"] = checksum(document["problem"])
    assert not judged(document).holds
    with pytest.raises(InputError, match="so no cell may be left over"):
        pose(posed(sketch).puzzle, posed(sketch).challenge, leftover=True)


# --- changes ----------------------------------------------------------------------------------------

BOX = (
    "square_01",
    "rectangle_01",
    "rectangle_02_b",
    "rectangle_05_b",
    "triangle_02",
    "triangle_05",
)
COLOURED = Sketch(
    SQUARE,
    board("square", 4, 4) - cells("square", (0, 0), (3, 3)),
    tuple(map(domino, "abcdefg")),
)


def base_challenges() -> dict[str, Callable[[], PosedChallenge]]:
    lacking = replace(COLOURED, pieces=COLOURED.pieces[1:])
    found: dict[str, Callable[[], PosedChallenge]] = {
        "coloured": lambda: posed(COLOURED),
        "lacking": lambda: posed(lacking),
    }
    for name in BOX:
        found[name] = lambda name=name: pose(
            load_set("fridgeiq"), find_challenge(load_set("fridgeiq"), name)
        )
    for sample in (*iqfit_samples()[:1], *iqstars_samples()[:2]):
        name = f"{sample.puzzle.name}-{sample.challenge.id}"
        found[name] = lambda sample=sample: pose(sample.puzzle, sample.challenge)
    for name, sketch in SKETCHES.items():
        found[name] = lambda sketch=sketch: posed(sketch)
    return found


BASES = base_challenges()


@cache
def _base(name: str, claim: str) -> Document | None:
    try:
        return written(BASES[name](), claim)
    except InputError:  # it does not hold
        return None


def base(rng: random.Random) -> Document:
    """A certificate that holds; it may be changed."""
    while True:
        name = rng.choice(list(BASES))
        found = _base(name, rng.choice(["count", "unique", "impossible", "impossible"]))
        if found is not None:
            return copy.deepcopy(found)


def test_the_bases_are_of_every_sort_and_hold() -> None:
    found = [_base(name, claim) for name in BASES for claim in ("count", "unique", "impossible")]
    made = [document for document in found if document is not None]
    assert len(BASES) >= 15
    assert len({document["problem_sha256"] for document in made}) >= 15
    assert all(judged(document).holds and is_true(document) for document in made)
    ways = {(one["claim"]["answer"], one["argument"]["by"]) for one in made}
    assert len(ways) == 5, "impossible by three arguments, unique, and counted"
    assert sum(len(one["argument"].get("fixed") or []) > 1 for one in made) >= 5


def another_hash(document: Document, rng: random.Random) -> None:
    document["problem_sha256"] = base(rng)["problem_sha256"]


def another_argument(document: Document, rng: random.Random) -> None:
    document["argument"] = base(rng)["argument"]


def another_problem(document: Document, rng: random.Random) -> None:
    other = base(rng)
    document["problem"], document["problem_sha256"] = other["problem"], other["problem_sha256"]


def change_problem(document: Document, rng: random.Random) -> None:
    """The region, a piece or a rule; the hash is put right again."""
    problem = document["problem"]
    lattice = problem["lattice"]
    way = rng.choice(["region", "piece", "flips", "leftover", "given", "swap", "forms"])
    piece = rng.choice(problem["pieces"])
    if way == "region":
        problem["region"] = without_a_cell(lattice, problem["region"], rng)
    elif way == "piece":
        piece["forms"][0] = without_a_cell(lattice, piece["forms"][0], rng)
    elif way == "flips":
        problem["flips"] = not problem["flips"]
    elif way == "leftover":
        problem["leftover"] = not problem["leftover"]
    elif way == "given" and problem["given"]:
        problem["given"].pop(rng.randrange(len(problem["given"])))
    elif way == "swap":
        piece["forms"] = rng.choice(problem["pieces"])["forms"]
    elif way == "forms":
        rng.shuffle(piece["forms"])
        piece["forms"] = piece["forms"][:1]
    document["problem_sha256"] = checksum(problem)


def without_a_cell(lattice: str, rings: Any, rng: random.Random) -> Any:
    """The outline without one cell (or with it, where the shape would break in parts)."""
    points = [tuple(map(tuple, ring)) for ring in rings]
    shape = sorted(cells_of_rings(LATTICES[lattice], points, may_touch=True))
    for cell in rng.sample(shape, len(shape)):
        left = drawn(lattice, frozenset(shape) - {cell})
        try:
            cells_of_rings(LATTICES[lattice], [tuple(map(tuple, ring)) for ring in left])
        except OutlineError:
            continue
        return left
    return rings


ALL_CHANGES = (
    *CHANGES, another_hash, another_argument, another_problem, change_problem, change_problem,
)  # fmt: skip
#: These leave a branch open, go on after the end, or are bound to something else.
ALWAYS_REFUSED = (drop_the_end, another_hash)


def refused(document: Document, rng: random.Random) -> bool:
    """Whether a change is refused; if it is not, what the certificate says must still be true."""
    before = copy.deepcopy(document)
    while document == before:
        change = rng.choice(ALL_CHANGES)
        change(document, rng)
    verdict = judged(document)
    if not verdict.holds:
        assert verdict.reason
        return True
    assert change not in ALWAYS_REFUSED
    assert is_true(document), (change.__name__, document["claim"], truth(document["problem"]))
    return False


def try_changes(seeds: range) -> None:
    found = [refused(base(rng), rng) for rng in map(random.Random, seeds)]
    assert sum(found) > 0.6 * len(found)


def test_changed_certificates_are_refused_or_still_true() -> None:
    try_changes(range(40))


@pytest.mark.long
def test_many_changed_certificates_are_refused_or_still_true() -> None:
    try_changes(range(1000, 3000))


@given(challenges(), st.integers(0, 10**6))
def test_changed_certificates_of_random_challenges(one: PosedChallenge, seed: int) -> None:
    if is_small(one):
        refused(written(one, "count"), random.Random(seed))


@pytest.mark.parametrize("name", ["rectangle_01", "triangle_05", *list(SKETCHES)[::3]])
def test_what_ends_early_goes_on_or_counts_wrong_is_refused(name: str) -> None:
    document = _base(name, "count")
    assert document is not None
    for index in range(-1, len(document["argument"]["fixed"])):
        for longer in (False, True):
            changed = copy.deepcopy(document)
            argument = changed["argument"]
            items = argument["items"] if index < 0 else argument["fixed"][index]
            if longer:
                items.append(0)
            else:
                del items[-1:]
            assert changed == document or not judged(changed).holds
    for key in ("count", "count_labelled", "count_up_to_symmetry"):
        for by in (-1, 1):
            changed = copy.deepcopy(document)
            changed["claim"][key] += by
            assert not judged(changed).holds


def test_transcripts_of_other_symmetries_are_refused() -> None:
    """Round a hole, a quarter turn lays four dominoes at once and half a turn two."""
    document = _base("hole", "count")
    assert document is not None
    fixed = document["argument"]["fixed"]
    assert sorted(map(len, fixed)) == [1, 1, 3]
    for order in permutations(fixed):
        if list(order) != fixed:
            changed = copy.deepcopy(document)
            changed["argument"]["fixed"] = list(order)
            assert not judged(changed).holds
