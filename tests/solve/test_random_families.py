"""Members of random families are counted together as brute force counts each of them."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from fabkit.model.puzzle import Board, Family, Label, PuzzleSet
from fabkit.solve.each import EachQuery, answer_part
from tests.support.mixtures import mixture
from tests.support.sketches import Sketch

COUNT = 600
BATCH = 40


def family_of(sketch: Sketch, rng: random.Random) -> Family:
    """A family on the board of a problem, with its pieces and clues; the pieces leave cells open."""
    cells = sorted(sketch.region | sketch.minus)
    area = sum(len(piece.forms[0].cells) for piece in sketch.pieces)
    groups = []
    for group in range(rng.randint(1, 2)):
        sizes = [rng.choice([1, 2])] * 3 if rng.random() < 0.7 else [1, 1, 2]
        choices = [frozenset(rng.sample(cells, size)) for size in sizes]
        if sketch.clues and rng.random() < 0.5:  # a member does without the clue
            choices[0] = rng.choice(sketch.clues).cells
        groups.append(tuple(Label(f"{group}{i}", choice) for i, choice in enumerate(choices)))
    board = Board(
        "tray", frozenset(cells), clues=sketch.clues, open_count=max(len(cells) - area, 0)
    )
    pieces = tuple(piece.id for piece in sketch.pieces)
    return Family("each", "", board, tuple(groups), pieces, sketch.flips)


def wrong_counts(seed: int) -> list[str]:
    """The members that are not counted as by brute force."""
    rng = random.Random(seed)
    sketch = mixture(seed)
    # A family uses all its pieces, and leaves cells open in place of some.
    pieces = [piece for piece in sketch.pieces if rng.random() < 0.8] or [*sketch.pieces]
    sketch = replace(sketch, pieces=tuple(pieces), given=(), pieces_count=None)
    family = family_of(sketch, rng)
    puzzle: PuzzleSet = replace(sketch.puzzle, families=(family,), digest=str(seed))
    members = [family.member(chosen) for chosen in family.choices()]
    counts = [
        len(
            replace(
                sketch,
                region=member.region,
                open_count=member.open_count,
                clues=member.clues,
                minus=member.minus,
            ).solutions
        )
        for member in members
    ]
    wrong = []
    for question, limit in (("count", None), ("unique", 2), ("first", 1)):
        query = EachQuery(puzzle, family.id, question)
        answers = json.loads(answer_part(query, 0, len(members)))
        expected = [count if limit is None else min(count, limit) for count in counts]
        wrong += [
            f"{member.id} {question}: {answer}, not {count}"
            for member, answer, count in zip(members, answers, expected, strict=True)
            if answer != count
        ]
    return wrong


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(start, start + BATCH), id=str(start), marks=marks)
        for start in range(0, COUNT, BATCH)
        for marks in ([pytest.mark.integration] if start else [],)
    ],
)
def test_random_families_are_counted_as_by_brute_force(seeds: range) -> None:
    assert {seed: wrong for seed in seeds if (wrong := wrong_counts(seed))} == {}
