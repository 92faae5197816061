"""Certificates of the solver, changed: what is accepted is still true."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabkit.core.errors import InputError
from fabkit.model.challengeload import find_challenge
from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set
from fabkit.model.polygon import OutlineError, cells_of_rings
from fabkit.solve.posing import PosedChallenge, pose
from tests.solve.test_engines import challenges
from tests.support.published import iqfit_samples, iqstars_samples
from tests.support.rebuilt import Document, drawn, is_small, is_true, posed, sha256, truth, written
from tests.support.sketches import SKETCHES, SQUARE, domino, judged
from tests.support.transcripts import Sketch, board, cells

BOX = (
    "square_01", "square_02", "rectangle_01", "rectangle_02_a", "rectangle_02_b", "rectangle_03",
    "rectangle_04_a", "rectangle_04_b", "rectangle_05_b", "triangle_01", "triangle_02",
    "triangle_03", "triangle_04", "triangle_05",
)  # fmt: skip
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
    for sample in (*iqfit_samples()[:4], *iqstars_samples()[:6]):
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
    assert len(BASES) >= 20
    assert len({document["problem_sha256"] for document in made}) >= 20
    assert all(judged(document).holds and is_true(document) for document in made)
    ways = {(one["claim"]["answer"], one["argument"]["by"]) for one in made}
    assert len(ways) == 5, "impossible by three arguments, unique, and counted"
    assert sum(len(one["argument"].get("fixed") or []) > 1 for one in made) >= 5


# --- changes ----------------------------------------------------------------------------------------


def change_item(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    highest = max(items, default=0) + 2
    if items:
        items[rng.randrange(len(items))] = rng.randrange(highest)


def drop_item(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    if items:
        items.pop(rng.randrange(len(items)))


def add_item(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    items.insert(rng.randint(0, len(items)), rng.choice([*items, 0, 1]))


def drop_branch(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    start = rng.randrange(len(items) + 1)
    del items[start : start + rng.randint(1, 8)]


def add_branch(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    start = rng.randrange(len(items) + 1)
    items[start:start] = items[start : start + rng.randint(1, 8)]


def swap_items(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    if items:
        one, other = rng.randrange(len(items)), rng.randrange(len(items))
        items[one], items[other] = items[other], items[one]


def drop_the_end(document: Document, rng: random.Random) -> None:
    items = some_items(document, rng)
    if items:
        del items[-rng.randint(1, min(8, len(items))) :]


def some_items(document: Document, rng: random.Random) -> list[int]:
    argument = document["argument"]
    return rng.choice([argument.get("items", []), *(argument.get("fixed") or [])])


def another_hash(document: Document, rng: random.Random) -> None:
    document["problem_sha256"] = base(rng)["problem_sha256"]


def another_argument(document: Document, rng: random.Random) -> None:
    document["argument"] = base(rng)["argument"]


def another_problem(document: Document, rng: random.Random) -> None:
    other = base(rng)
    document["problem"], document["problem_sha256"] = other["problem"], other["problem_sha256"]


def another_claim(document: Document, rng: random.Random) -> None:
    claim = document["claim"]
    numbers = [key for key in claim if key != "answer"]
    if numbers:
        claim[rng.choice(numbers)] += rng.choice([-1, 1, 2, claim["count"]])
    else:
        claim["answer"] = "impossible" if claim["answer"] == "unique" else "unique"


def no_count(document: Document, rng: random.Random) -> None:
    """Another answer from the transcript of a count."""
    document["claim"] = {"answer": rng.choice(["unique", "impossible"])}
    if "fixed" in document["argument"]:
        document["argument"]["fixed"] = None


def swap_fixed(document: Document, rng: random.Random) -> None:
    fixed = document["argument"].get("fixed") or []
    if rng.random() < 0.3 and fixed:
        fixed.pop(rng.randrange(len(fixed)))
    elif fixed:
        one, other = rng.randrange(len(fixed)), rng.randrange(len(fixed))
        fixed[one], fixed[other] = fixed[other], fixed[one]


def another_start(document: Document, rng: random.Random) -> None:
    argument = document["argument"]
    if "items" in argument:
        near = [item + step for item in argument["items"][:1] for step in (-1, 0, 1)]
        argument["branch_first"] = rng.choice([None, *near, *argument["items"][:5]])


def other_weights(document: Document, rng: random.Random) -> None:
    weights = document["argument"].get("weights", [])
    for _ in range(rng.randint(1, 3) if weights else 0):
        weights[rng.randrange(len(weights))] += rng.choice([-1, 1])


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
    document["problem_sha256"] = sha256(problem)


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


ITEMS = (change_item, drop_item, add_item, drop_branch, add_branch, swap_items, drop_the_end)
CHANGES = (
    *ITEMS, another_hash, another_argument, another_problem, another_claim, no_count, swap_fixed,
    another_start, other_weights, change_problem, change_problem,
)  # fmt: skip
#: These leave a branch open, go on after the end, or are bound to something else.
ALWAYS_REFUSED = (drop_the_end, another_hash)


def refused(document: Document, rng: random.Random) -> bool:
    """Whether a change is refused; if it is not, what the certificate says must still be true."""
    before = copy.deepcopy(document)
    while document == before:
        change = rng.choice(CHANGES)
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
    try_changes(range(50))


@pytest.mark.long
@pytest.mark.parametrize("start", range(1000, 3000, 500))
def test_many_changed_certificates_are_refused_or_still_true(start: int) -> None:
    try_changes(range(start, start + 500))


@settings(max_examples=50)
@given(challenges(), st.integers(0, 10**6))
def test_changed_certificates_of_random_challenges(one: PosedChallenge, seed: int) -> None:
    if is_small(one):
        refused(written(one, "count"), random.Random(seed))


@pytest.mark.long
@settings(max_examples=500)
@given(challenges(), st.integers(0, 10**6))
def test_changed_certificates_of_many_random_challenges(one: PosedChallenge, seed: int) -> None:
    if is_small(one):
        refused(written(one, "count"), random.Random(seed))


@pytest.mark.parametrize("name", BASES)
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
