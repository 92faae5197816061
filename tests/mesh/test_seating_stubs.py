"""Pieces on stubs in boards of seats, measured on meshes, and planted faults."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.proud import proud_mm
from fabkit.mesh.boards.reading import read_boards
from fabkit.mesh.boards.seated import stubs_in_board
from fabkit.mesh.finding import Finding
from fabkit.mesh.part import take_in
from fabkit.mesh.stubs import on_stubs
from fabkit.model.accessory import accessories
from fabkit.model.profilefile import load_profile
from tests.support import seats
from tests.support.seats import STARS, failing

PROFILE = load_profile()


@cache
def stub_board() -> BoardPart:
    return seats.seats()


def judged_stub(name: str, on: BoardPart, **numbers: float) -> dict[str, Finding]:
    found = stubs_in_board({"piece": seats.star(name, **numbers)}, on, STARS.lattice, PROFILE)
    return {finding.rule.removeprefix("seat-"): finding for finding in found["piece"]}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["red", "pink"])
def test_a_good_piece_on_stubs_keeps_all_rules(name: str) -> None:
    found = judged_stub(name, stub_board())
    assert not failing(found), found
    assert list(found) == ["free", "insert", "play", "loose", "turn", "rest", "proud"]
    assert found["proud"].value == pytest.approx(2.0, abs=0.01)
    assert found["play"].value == pytest.approx(0.4, abs=0.02)


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("rule", "piece", "numbers"),
    [
        ("proud", {"height_mm": 1.4}, {}),
        ("free", {"stub_mm": 10.6}, {}),
        ("loose", {"stub_mm": 10.2}, {}),
        ("play", {"stub_mm": 9.6}, {}),
        ("free", {"height_mm": 2.5}, {}),
        ("free", {}, {"shallow": {3: 0.5}}),
        ("free", {}, {"missing": [5]}),
    ],
)
def test_planted_faults_of_stubs_are_noticed(
    rule: str, piece: dict[str, float], numbers: dict[str, object]
) -> None:
    on = seats.seats(**numbers) if numbers else stub_board()
    assert rule in failing(judged_stub("orange", on, **piece))


def test_upside_down_it_falls_into_a_board_without_floor() -> None:
    """What holds a piece up that is turned over is the plate between the seats."""
    one = seats.star("orange")
    hollow = stub_board().manifold - seats.block((-9.5, -62.0, 2.0), (130.0, 10.0, 30.0))
    on = seats.board_part(hollow, "seats", STARS.boards[0], 20.0, stub_board().rest_mm)
    assert proud_mm(one, STARS.lattice, on) < 1.5


@pytest.mark.integration
def test_exports_of_iqstars_keep_all_rules(tmp_path: Path) -> None:
    profile = load_profile((), (), STARS.unit_mm)
    *bodies, hollow = seats.exported(
        [*STARS.pieces, accessories(STARS, profile)[0]], STARS, tmp_path
    )
    parts = take_in(bodies, STARS, profile.unit_mm).parts
    (on,) = read_boards([hollow], STARS, profile.unit_mm)
    stubs = {
        piece.id: one
        for piece, part in zip(STARS.pieces, parts, strict=True)
        if (one := on_stubs(part, STARS.lattice, profile.unit_mm))
    }
    assert len(stubs) == len(STARS.pieces)
    found = stubs_in_board(stubs, on, STARS.lattice, profile)
    assert [(f.rule, f.message) for some in found.values() for f in some if not f.ok] == []
