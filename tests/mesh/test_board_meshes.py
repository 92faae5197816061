"""Boards, trays and lids: read back and judged on their meshes, faults planted one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import shapely
from manifold3d import Manifold

from fabkit.mesh.boards.inspect import inspect_board
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.reading import read_boards
from fabkit.mesh.boards.sizes import is_accessory
from fabkit.mesh.body import Body
from fabkit.mesh.finding import Finding
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet
from tests.support.boardmeshes import (
    CELLS,
    SEATS,
    SQUARE,
    Frame,
    body_of,
    bore,
    extruded,
    hexagons,
    holes_board,
    seats_board,
    snapping_board,
    snapping_lid,
    thrown,
    tray_board,
)


@lru_cache
def named(name: str) -> tuple[PuzzleSet, Profile]:
    puzzle = load_set(name)
    return puzzle, load_profile((), (), puzzle.unit_mm)


def judged(
    name: str, *bodies: Body, profile: Profile | None = None
) -> tuple[list[BoardPart], dict[str, Finding]]:
    """The parts, and what is wrong with any of them, by rule."""
    puzzle, usual = named(name)
    profile = profile or usual
    parts = read_boards(bodies, puzzle, profile.unit_mm)
    found = [one for part in parts for one in inspect_board(part, parts, puzzle, profile)]
    return parts, {one.rule: one for one in found if not one.ok}


def both(board: Manifold, frame: Frame, **lid: Any) -> list[Body]:
    """A board and its lid, each lying in a way of its own."""
    return [thrown(body_of(board), 5), thrown(body_of(frame.lid(**lid), "Q.stl"), 6)]


# --- reading ------------------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("name", ["iqfit", "iqstars", "iqblock"])
def test_boards_are_read_however_they_lie(name: str, seed: int | None) -> None:
    if name == "iqfit":
        (manifold, frame), kind, rest = holes_board(CELLS), "holes", 22.0
    elif name == "iqstars":
        (manifold, frame), kind, rest = seats_board(SEATS, hexagons()), "seats", 4.2
    else:
        (manifold, frame), kind, rest = tray_board(SQUARE), "tray", 2.0
    puzzle, profile = named(name)
    bodies = [body_of(manifold), body_of(frame.lid())]
    if seed is not None:
        bodies = [thrown(body, seed) for body in bodies]
    board, lid = read_boards(bodies, puzzle, profile.unit_mm)
    assert (board.kind, lid.kind, board.why, lid.why) == (kind, "lid", "", "")
    assert board.board is lid.board is puzzle.boards[0]
    assert board.unit_mm == pytest.approx(profile.unit_mm, abs=1e-4)
    assert board.rest_mm == pytest.approx(rest, abs=1e-4)
    assert all(is_accessory(body, puzzle, profile.unit_mm) for body in bodies)
    straight = read_boards([body_of(manifold)], puzzle, profile.unit_mm)[0]
    assert np.abs(board.vertices - straight.vertices).max() < 1e-4
    # The wall behind the lid is at the back, or to the right where that is the same.
    assert board.volume_mm3 == pytest.approx(manifold.volume(), rel=1e-4)


def test_a_board_of_another_unit_tells_its_own() -> None:
    puzzle, _ = named("iqfit")
    manifold, _ = holes_board(CELLS, pitch_mm=16.5)
    (part,) = read_boards([thrown(body_of(manifold), 4)], puzzle, 15.0)
    assert part.unit_mm == pytest.approx(16.5, abs=1e-4)
    _, wrong = judged("iqfit", body_of(manifold))
    assert "board-read" in wrong


def test_files_in_inches() -> None:
    puzzle, _ = named("iqfit")
    body = body_of(holes_board(CELLS)[0])
    inches = Body(body.name, body.vertices / 25.4, body.faces)
    assert not is_accessory(inches, puzzle, 15.0)
    assert is_accessory(inches, puzzle, 15.0, length_mm=25.4)
    (part,) = read_boards([inches], puzzle, 15.0, length_mm=25.4)
    assert (part.kind, round(part.unit_mm, 3)) == ("holes", 15.0)


def test_a_mirrored_board_of_seats_is_the_same_board() -> None:
    """Rows of 7, 6, 7, 6 are their own mirror image, but not their own half turn."""
    puzzle, _ = named("iqstars")
    manifold, _ = seats_board(SEATS, hexagons())
    bodies = [
        body_of(manifold),
        body_of(manifold.rotate((0.0, 0.0, 180.0))),
        body_of(manifold.mirror((1.0, 0.0, 0.0))),
    ]
    low = [part.vertices.min(axis=0) for part in read_boards(bodies, puzzle, 20.0)]
    assert low[1] == pytest.approx(low[0], abs=1e-3)
    assert low[2] == pytest.approx(low[0], abs=1e-3)


def test_pieces_are_no_accessories() -> None:
    for name in ("iqfit", "iqstars", "iqblock", "cubimagici"):
        puzzle, profile = named(name)
        for piece in puzzle.pieces:
            for form in piece.forms:
                xs, ys = zip(*((x, y) for ring in form.rings for x, y in ring), strict=True)
                size = [(max(some) - min(some)) * profile.unit_mm / 2 for some in (xs, ys)]
                body = body_of(Manifold.cube((size[0], size[1], 7.0)))
                assert not is_accessory(body, puzzle, profile.unit_mm)


def test_what_is_no_board_says_why() -> None:
    parts, wrong = judged("iqfit", body_of(Manifold.cube((30, 30, 30))))
    assert parts[0].board is None
    assert "no lattice of round holes" in parts[0].why
    assert set(wrong) == {"board-read"}


# --- nothing is wrong ---------------------------------------------------------------------


def test_boards_after_the_text_have_no_faults() -> None:
    assert judged("iqfit", *both(*holes_board(CELLS)))[1] == {}
    assert judged("iqstars", *both(*seats_board(SEATS, hexagons())))[1] == {}
    assert judged("iqblock", *both(*tray_board(SQUARE)))[1] == {}


def test_a_snapping_lid_has_no_faults() -> None:
    assert judged("iqblock", *snapped())[1] == {}


def snapped(**lid: float) -> list[Body]:
    board, frame = snapping_board(SQUARE)
    lids = snapping_lid(frame, **lid)
    return [thrown(body_of(board), 7), thrown(body_of(lids, "lid.stl"), 8)]


# --- planted faults -----------------------------------------------------------------------

HOLES_FAULTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a hole 0.3 mm too small": ({"moved": {7: (0, 0, -0.3)}}, ["board-hole-diameter"]),
    "all holes 0.05 mm too large": ({"hole_mm": 12.55}, ["board-hole-diameter"]),
    "a missing hole": (
        {"missing": [20]},
        ["board-holes", "board-depth", "board-posts"],
    ),
    "a hole off its place": ({"moved": {31: (0.2, 0.0, 0.0)}}, ["board-hole-place"]),
    "channels too narrow": ({"channel_mm": 0.1}, ["board-channels", "board-channel-free"]),
    "one channel too narrow": ({"narrow": 9.2}, ["board-channels", "board-channel-free"]),
    "one channel too wide": ({"narrow": 9.5}, ["board-channels"]),
    "channels too shallow": (
        {"floor_off_mm": 0.1},
        ["board-channel-depth", "board-channel-free"],
    ),
    "channels too deep": (
        {"floor_off_mm": -0.2},
        ["board-channel-depth", "board-holes", "degenerate"],
    ),
    "a hole with a floor": ({"blind": [3]}, ["board-depth", "board-holes"]),
    "a loose frame": ({"clearance_mm": 0.3}, ["board-opening"]),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("fault", HOLES_FAULTS)
def test_faults_of_a_holes_board(fault: str) -> None:
    options, rules = HOLES_FAULTS[fault]
    _, wrong = judged("iqfit", *both(*holes_board(CELLS, **options)))
    assert rules[0] in wrong
    assert set(wrong) <= set(rules)


def test_the_finding_says_which_hole() -> None:
    _, wrong = judged("iqfit", *both(*holes_board(CELLS, moved={7: (0, 0, -0.3)})))
    finding = wrong["board-hole-diameter"]
    assert finding.value == pytest.approx(12.2, abs=0.01)
    assert finding.where is not None
    # The hole of column 1 and row 2 from below, where the set's file draws downwards.
    assert finding.where.contains(shapely.Point(22.5, -37.5))


SEATS_FAULTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a seat too shallow": ({"shallow": {4: 0.15}}, ["board-seat-depth", "board-seats"]),
    "a missing seat": ({"missing": [9]}, ["board-seats"]),
    "seats too narrow": ({"seat_mm": 10.3}, ["board-seat-diameter"]),
    "a floor too thin": ({"floor_mm": 1.6}, ["board-floor", "board-height"]),
}


@pytest.mark.parametrize("fault", SEATS_FAULTS)
def test_faults_of_a_seats_board(fault: str) -> None:
    options, rules = SEATS_FAULTS[fault]
    _, wrong = judged("iqstars", *both(*seats_board(SEATS, hexagons(), **options)))
    assert rules[0] in wrong
    assert set(wrong) <= set(rules)


TRAY_FAULTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no relief": ({"relief_mm": 0.0}, ["board-corners"]),
    "a floor too thin": ({"floor_mm": 1.8}, ["board-floor"]),
    "a wall too thin": ({"wall_mm": 3.0}, ["board-wall"]),
    "the opening too wide": ({"clearance_mm": 0.35}, ["board-opening"]),
    "no air below the lid": ({"air_mm": 0.0}, ["board-height"]),
}


@pytest.mark.parametrize("fault", TRAY_FAULTS)
def test_faults_of_a_tray(fault: str) -> None:
    options, rules = TRAY_FAULTS[fault]
    _, wrong = judged("iqblock", *both(*tray_board(SQUARE, **options)))
    assert set(wrong) == set(rules)


def test_an_opening_that_is_tight_on_one_side() -> None:
    rib = extruded(shapely.box(160.15, -161, 161, 1), 1.0, 9.0)
    _, wrong = judged("iqblock", *both(*tray_board(SQUARE, extra=[rib])))
    assert "board-opening" in wrong
    assert wrong["board-opening"].value == pytest.approx(0.2, abs=0.01)


def test_a_hole_in_the_floor() -> None:
    board, frame = tray_board(SQUARE)
    board -= bore(33, -47, 3.0, -1, 4)
    _, wrong = judged("iqblock", *both(board, frame))
    assert set(wrong) == {"board-floor"}


def test_a_mesh_that_is_open() -> None:
    board, lid = both(*tray_board(SQUARE))
    holed = Body(board.name, board.vertices, np.delete(board.faces, 40, axis=0))
    _, wrong = judged("iqblock", holed, lid)
    assert {"watertight", "lid-fits"} <= set(wrong)


# --- lids ---------------------------------------------------------------------------------


def test_a_lid_that_is_too_wide() -> None:
    board, frame = tray_board(SQUARE)
    assert judged("iqblock", *both(board, frame, wider_mm=0.3))[1] == {}  # the clearance bears it
    _, wrong = judged("iqblock", *both(board, frame, wider_mm=0.9))
    assert {"lid-fits", "lid-path"} <= set(wrong)


def test_a_lid_that_is_too_thick() -> None:
    board, frame = tray_board(SQUARE)
    board += extruded(frame.outer - frame.outer.buffer(-6), 11.3, 12.4)
    _, wrong = judged("iqblock", *both(board, frame, thickness_mm=3.0))
    assert "lid-fits" in wrong


def test_a_rib_in_the_groove() -> None:
    _, _, right, _ = SQUARE.buffer(0.25, join_style="mitre").bounds
    rib = Manifold.cube((1.5, 2.0, 1.0)).translate((165.25 - 1.2, -100.0, 9.3))
    _, wrong = judged("iqblock", *both(*tray_board(SQUARE, extra=[rib])))
    assert {"lid-fits", "lid-path"} & set(wrong)
    assert right == 160.25


def test_a_post_in_the_lids_way_only() -> None:
    """The lid closes, but cannot have come there."""
    board, frame = tray_board(SQUARE)
    front = frame.outer.bounds[1]
    post = Manifold.cube((3.0, 0.1, 1.5)).translate((20.0, front, 9.3))
    _, wrong = judged("iqblock", *both(board + post, frame))
    assert set(wrong) == {"lid-path", "board-wall"}


def test_a_lid_that_is_not_held() -> None:
    board, frame = tray_board(SQUARE)
    lid = Manifold.cube((165.0, 165.0, 1.0)).translate((-2.5, -162.5, 0.0))
    _, wrong = judged("iqblock", body_of(board), body_of(lid))
    assert "lid-held" in wrong
    assert frame.lid_low_mm == 9.4


def test_a_lid_without_its_board_and_the_other_way_round() -> None:
    board, lid = both(*tray_board(SQUARE))
    assert set(judged("iqblock", board)[1]) == {"board-lid"}
    assert set(judged("iqblock", lid)[1]) == {"lid-board"}
    puzzle, profile = named("iqblock")
    without = replace(profile, lid="none")
    (part,) = read_boards([board], puzzle, 20.0)
    assert all(one.ok for one in inspect_board(part, [part], puzzle, without))


@pytest.mark.parametrize(
    ("lid", "rules"),
    [
        ({"catch_mm": 0.9}, {"lid-strain", "lid-path"}),
        ({"tongue_thick_mm": 2.6}, {"lid-strain"}),
        ({"tongue_mm": 6.0}, {"lid-strain"}),
        ({"catch_mm": -0.2}, {"lid-held"}),
    ],
)
def test_faults_of_a_snapping_lid(lid: dict[str, float], rules: set[str]) -> None:
    _, wrong = judged("iqblock", *snapped(**lid))
    assert rules <= set(wrong)
