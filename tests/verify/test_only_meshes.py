"""Nothing counts but the meshes: not the order, names or places of files, nor the library's drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trimesh

from fabkit.mesh.body import Body
from fabkit.model.library import load_set
from fabkit.model.piece import Form, Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import answer_catalog, read_set
from fabkit.verify.check import check
from fabkit.verify.taking import take
from tests.support import foreign
from tests.support.foreign import Stand, user_set
from tests.support.prints import Order, print_set

CHALLENGES = ("square_01", "triangle_01", "rectangle_02_b")
#: Those of the challenges, and two to exchange.
PIECES = "AIJMNQRSTDY"


def some_of(puzzle: PuzzleSet) -> PuzzleSet:
    return replace(
        puzzle,
        pieces=tuple(piece for piece in puzzle.pieces if piece.id in PIECES),
        challenges=tuple(one for one in puzzle.challenges if one.id in CHALLENGES),
    )


def results(bodies: Sequence[Body], puzzle: PuzzleSet, order: Order) -> tuple[Any, Any]:
    """What `check` says, and the answers to the challenges."""
    taken = take(bodies, puzzle, 20.0)
    answers = answer_catalog(read_set(puzzle, taken.read_pieces()), 60.0)
    return check(taken, order.profile(), answers=answers).document(), [
        (one.challenge.id, one.status, one.missing) for one in answers
    ]


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two documents differ by more than 0.002 in a number, or in anything else."""
    if isinstance(one, list) and isinstance(other, list):
        one, other = dict(enumerate(one)), dict(enumerate(other))
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [d for key in one for d in differences(one[key], other[key], f"{place}/{key}")]
    if isinstance(one, float) and isinstance(other, float) and abs(one - other) <= 0.002 + 1e-9:
        return []
    if place.endswith("/message"):
        return []  # says the numbers again
    return [] if one == other else [f"{place}: {one} and {other}"]


def turned(body: Body, degrees: float) -> Body:
    """Turned about z, moved, and written and read again in single precision."""
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    return foreign.shell(mesh, Stand(turn=degrees, origin=(31.7, -12.4, 0.0)))


@pytest.mark.integration
@pytest.mark.parametrize("preset", ["default", pytest.param("flippable", marks=pytest.mark.long)])
def test_only_the_meshes_count(preset: str, tmp_path: Path) -> None:
    order = Order((preset,))
    print_set("fridgeiq", order, tmp_path)
    paths = sorted(tmp_path.glob(f"[{PIECES}].stl"))
    puzzle = some_of(load_set("fridgeiq"))
    bodies = foreign.read_files(*paths)
    document, answers = results(bodies, puzzle, order)
    assert document["ok"]
    assert len(answers) == len(CHALLENGES)

    # Shuffled, renamed, turned about z and written again in single precision.
    chance = Random(7)
    shuffled = chance.sample(bodies, len(bodies))
    files = [
        foreign.write_stl(tmp_path / f"{n}.stl", turned(body, chance.uniform(0, 360)))
        for n, body in enumerate(shuffled, start=1)
    ]
    other, others = results(foreign.read_files(*files), puzzle, order)
    assert differences(document, other) == []
    assert answers == others

    # With other drawings in the library: the letters say which piece is which, the meshes what
    # they look like.
    other, others = results(bodies, altered(puzzle), order)
    assert answers == others
    assert not other["ok"]
    unlike = {
        key
        for key, part in other["pieces"].items()
        for finding in part["findings"]
        if finding["rule"] == "shape" and not finding["ok"]
    }
    assert unlike == {"A", "N", "M", "I"}
    # No value that was measured differs; who has which outline does.
    wrong = [one.partition(":")[0] for one in differences(document, other)]
    assert {one.rpartition("/")[2] for one in wrong} <= {"ok", "is"}


def altered(puzzle: PuzzleSet) -> PuzzleSet:
    """A and N exchanged; M and I with outlines of no piece."""
    forms: dict[str, tuple[Form, ...]] = {
        "A": puzzle.piece("N").forms,
        "N": puzzle.piece("A").forms,
    }
    strange = user_set(
        {"M": [[(0, 0), (3, 0), (3, 3), (0, 3)]], "I": [[(0, 0), (5, 0), (5, 1), (0, 1)]]}
    )
    forms |= {piece.id: piece.forms for piece in strange.pieces}

    def change(piece: Piece) -> Piece:
        return replace(piece, forms=forms.get(piece.id, piece.forms))

    return replace(puzzle, pieces=tuple(map(change, puzzle.pieces)))
