"""The checker derives what the model does, on its own; and the tests would notice if not."""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fabkit.certify import Verdict, certificate_of, check
from fabkit.certify import cover as covers
from fabkit.certify.replay import Replay
from fabkit.certify.tiling import TILINGS, Tiling
from fabkit.model.library import load_set, shipped_names
from fabkit.model.puzzle import Challenge, PuzzleSet
from tests.conftest import ROOT
from tests.support.sketches import SKETCHES, SQUARE, disagreements, judged, squares
from tests.support.transcripts import Sketch, board, certificate, checksum


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


@pytest.mark.parametrize("name", SKETCHES)
def test_the_checker_sees_every_sketch_as_the_model_does(name: str) -> None:
    assert disagreements(SKETCHES[name]) == []


# --- planted faults ------------------------------------------------------------------------------------


def without_a_symmetry(*arguments: Any) -> Any:
    return REAL_GROUP(*arguments)[:-1]


def without_a_shift(*arguments: Any) -> Any:
    return REAL_SHIFTS(*arguments)[:-1]


def half_turns_only(tiling: Tiling, flips: bool) -> list[tuple[int, bool]]:
    return [(turn, flip) for turn, flip in REAL_MOVES(tiling, flips) if turn % 180 == 0]


def cells_numbered_otherwise(tiling: Tiling, points: Any) -> Any:
    return REAL_FRAME(tiling, np.roll(points, 1, axis=0))


REAL_GROUP, REAL_SHIFTS = covers._group, covers._shifts
REAL_MOVES, REAL_FRAME = Tiling.moves, Tiling.frame


@pytest.mark.parametrize(
    ("owner", "name", "fault", "differs"),
    [
        (covers, "_group", without_a_symmetry, "group"),
        (covers, "_shifts", without_a_shift, "options"),
        (Tiling, "moves", half_turns_only, "options"),
        (Tiling, "frame", cells_numbered_otherwise, "options"),
    ],
)
def test_a_planted_fault_is_found(
    owner: Any, name: str, fault: Any, differs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sketch = SKETCHES["copies and one"]
    document = certificate(sketch, up_to=True)
    assert judged(document).holds
    monkeypatch.setattr(owner, name, fault)
    assert differs in disagreements(sketch)
    assert not judged(document).holds


@pytest.mark.parametrize("lattice", TILINGS)
@pytest.mark.parametrize("change", ["step", "up", "cells", "turn_degrees"])
def test_a_wrong_constant_of_a_lattice_is_noticed(
    lattice: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = TILINGS[lattice]
    wrong: dict[str, Any] = {
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
            others -= {"fabkit.model.library", "fabkit.model.puzzle", "fabkit.model.statement"}
        assert not others, path.name


def test_progress_never_goes_back() -> None:
    row, monomino = board("square", 1, 60), [squares(f"m{i}", (0, 0)) for i in range(2)]
    sketch = Sketch(SQUARE, row, tuple(monomino), leftover=True)
    document = certificate(sketch, up_to=True)
    shares: list[float] = []
    assert check(certificate_of(document, "c.json"), shares.append).holds
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all(0 <= share <= 1 for share in shares)


def test_ctrl_c_gets_through() -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(certificate_of(certificate(SKETCHES["copies"]), "c.json"), stop)


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


def test_a_wide_tree_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each branch makes its states when they are looked at: else few items fill the memory."""
    made = 0
    below = Replay._below

    def counted(self: Replay, *arguments: Any) -> Any:
        nonlocal made
        made += 1
        return below(self, *arguments)

    monkeypatch.setattr(Replay, "_below", counted)
    count = 100
    sketch = Sketch(SQUARE, board("square", 1, 2 * count), (), leftover=True)
    document = deepcopy(certificate(SKETCHES["copies"]))
    document["problem"] = sketch.problem
    monomino = [[0, 0], [2, 0], [2, 2], [0, 2]]
    document["problem"]["pieces"] = [{"id": f"m{i}", "forms": [[monomino]]} for i in range(count)]
    document["problem_sha256"] = checksum(document["problem"])
    document["claim"] = {"answer": "impossible"}
    document["argument"]["items"] = [2 * count] * count
    assert not judged(document).holds
    assert made <= 2 * count + 2  # not the 5000 of all branches
