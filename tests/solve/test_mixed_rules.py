"""Random small problems with every rule of a challenge: engines and checker agree with brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from fabkit.core.errors import InputError
from fabkit.model.entry import entry_of, solution_error
from fabkit.sets.challenge_file import read_list
from fabkit.sets.challenge_writer import challenge_record
from fabkit.solve.answer import solve
from fabkit.solve.engines.engine import Solution
from fabkit.solve.engines.sat import Sat
from tests.support.mixtures import mixture
from tests.support.sketches import Sketch, certificate, disagreements, is_true, judged

COUNT = 2000
BATCH = 84
BATCHES = [range(start, min(start + BATCH, COUNT)) for start in range(0, COUNT, BATCH)]


def wrong_answers(sketch: Sketch) -> Iterator[str]:
    """What is not as brute force has it."""
    encoded = sketch.encoded
    truth = sketch.truth
    count = truth["count"]
    for engine in (None, "search", "count"):
        answer = solve(encoded, "count", engine)
        for key, value in truth.items():
            if getattr(answer, key) != value:
                yield f"{engine} has {key} {getattr(answer, key)}, not {value}"
    models: list[Solution] = []
    Sat.run_library(encoded.problem, 1, models.append)  # a process for each would take minutes
    if len(models) != min(count, 1) or not all(map(encoded.problem.is_solved_by, models)):
        yield f"sat has {models}"
    if solve(encoded, "unique").unique != (count == 1):
        yield "unique is wrong"
    claims = ["count", *{0: ["impossible"], 1: ["unique"]}.get(count, [])]
    for claim in claims:
        document = certificate(sketch, claim)
        if reason := judged(document).reason:
            yield f"the checker refuses: {reason}"
        if not is_true(document["claim"], sketch):
            yield f"the certificate claims {document['claim']}, not {truth}"
    yield from (f"the checker has other {part}" for part in disagreements(sketch))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(seeds, id=str(seeds[0]), marks=[pytest.mark.integration] if seeds[0] else [])
        for seeds in BATCHES
    ],
)
def test_random_problems_with_every_rule_are_solved_as_by_brute_force(seeds: range) -> None:
    assert {seed: wrong for seed in seeds if (wrong := list(wrong_answers(mixture(seed))))} == {}


def test_random_challenges_are_read_as_they_were_written() -> None:
    refused = read = told = 0
    for seed in range(3 * BATCH):
        sketch = mixture(seed)
        colours = {piece.colour for piece in sketch.pieces}
        if any(clue.colour and clue.colour not in colours for clue in sketch.clues):
            continue  # in a file a colour is that of a piece
        challenge = sketch.challenge
        document = {"schema": 1, "challenges": [challenge_record(sketch.puzzle, challenge)]}
        if sketch.contradicted:
            with pytest.raises(InputError, match="contradicts a clue"):
                read_list(document, sketch.puzzle, "c.json")
        else:
            told += 1
            try:
                (entry,) = read_list(document, sketch.puzzle, "c.json")
            except InputError as error:  # blockers of a set are equal
                refused += sketch.blocked and "another shape" in str(error)
            else:
                assert entry.challenge == challenge, seed
                read += 1
    assert (refused + read, refused < read / 4) == (told, True)


def test_stated_solutions_are_judged_as_by_brute_force() -> None:
    """Solutions without the clues: some agree with these, others do not."""
    judgements = Counter[bool]()
    for seed in range(BATCH):
        sketch = mixture(seed)
        kind_of = {piece.id: kind for kind, pieces in enumerate(sketch.kinds) for piece in pieces}
        encoded = replace(sketch, clues=()).encoded
        for solution in solve(encoded, "all", limit=30).solutions:
            layout = encoded.decode(solution)
            bare = sketch.region.difference(*layout.values())
            chosen = {(kind_of[name], layout[name]) for name in layout.keys() & kind_of.keys()}
            chosen |= {(len(sketch.kinds) - 1, frozenset({cell})) for cell in bare}
            entry = entry_of(sketch.challenge).with_result(solution=layout)
            is_right = chosen in sketch.solutions
            assert (solution_error(entry, sketch.puzzle) == "") == is_right, seed
            judgements[is_right] += 1
    assert min(judgements.values()) > BATCH


def rules(sketch: Sketch) -> dict[str, bool]:
    """The rules that a problem has."""
    clues = sketch.clues
    return {
        sketch.lattice.name: True,
        "a piece on cells": any(clue.piece for clue in clues),
        "a mark": any(clue.mark and not clue.piece for clue in clues),
        "a mark that may be on the back": sketch.flips
        and any(clue.mark for clue in clues)
        and any(piece.back for piece in sketch.pieces),
        "a colour": any(clue.colour and not clue.piece for clue in clues),
        "open cells": sketch.open_count > 0,
        "open cells and clues": sketch.open_count > 0 and bool(clues),
        "cells open by name": bool(sketch.minus) and not sketch.blocked,
        "blocked cells": sketch.blocked,
        "given pieces": bool(sketch.given),
        "given pieces and clues": bool(sketch.given) and bool(clues),
        "some of the pieces": sketch.pieces_count is not None,
        "some of the pieces and clues": sketch.pieces_count is not None and bool(clues),
        "flips": sketch.flips,
        "copies": any(len(kind) > 1 for kind in sketch.kinds),
        "several boxes": len(sketch.boxes) > 1,
        "boxes that change places": len(sketch.boxes) > 1 and len(sketch.group) > 1,
        "mirror images": list(sketch.twins) != [*range(len(sketch.kinds))],
        "several forms": any(len(piece.forms) > 1 for piece in sketch.pieces),
    }


def test_every_rule_is_in_problems_with_and_without_solutions() -> None:
    with_solutions = Counter[str]()
    without = Counter[str]()
    for seed in range(BATCH):
        sketch = mixture(seed)
        present = Counter(rule for rule, is_present in rules(sketch).items() if is_present)
        (with_solutions if sketch.solutions else without).update(present)
    assert min(with_solutions[rule] for rule in rules(sketch)) >= 1, with_solutions
    assert min(without[rule] for rule in rules(sketch)) >= 1, without
