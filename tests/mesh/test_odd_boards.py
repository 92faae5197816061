"""Boards and pieces of users' own sets that the shipped sets do not have, read back and judged."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import shapely
from manifold3d import Manifold

from fabkit.drawing.ball import draft_ball
from fabkit.drawing.draft import draft_thing
from fabkit.drawing.label import place_title
from fabkit.mesh.balls.reading import take_in_balls
from fabkit.mesh.boards.inspect import inspect_board
from fabkit.mesh.boards.lying import balls_lying
from fabkit.mesh.boards.reading import read_boards
from fabkit.mesh.boards.seating import Seating, seat_findings
from fabkit.mesh.boards.sizes import is_accessory
from fabkit.mesh.body import Body
from fabkit.mesh.files.reading import read_bodies
from fabkit.model.accessory import things
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.solid.balls import build_balls
from fabkit.solid.boards import build_board
from fabkit.solid.export import write_stl
from fabkit.verify.recognise import recognise
from fabkit.verify.taking import take
from tests.support.ballprints import exported
from tests.support.boardmeshes import CELLS, body_of, bore, extruded, holes_board, tray_board

HEAD = '[set]\nname = "odd"\ntitle = "Odd"\nlattice = "{}"\nmoves = "{}"\nunit = "{} mm"\n'
SMALL = (
    'piece = [{ id = "a", rows = ["X"] }, { id = "c", rows = ["XXX", "X.."] }]\n'
    'board = [{ id = "ring", rows = ["XXXX", "X..X", "XXXX"] }, { id = "far", size = [3, 3] }]\n'
) + HEAD.format("square", "rotations", 20)
TWINS = (
    'piece = [{ id = "a", rows = ["X"] }]\n'
    'board = [{ id = "one", size = [2, 3] }, { id = "two", size = [3, 2] }]\n'
) + HEAD.format("square", "rotations", 20)
HEXES = (
    'piece = [{ id = "a", cells = [[0, 0], [0, 1], [1, 1]] }]\n'
    'board = [{ id = "bd", rows = [4, 3] }]\n'
) + HEAD.format("triangular", "rotations and flips", 20)
#: All balls of this piece lie in one plane: its printing flat may be down on the board.
PLANAR = (
    'piece = [{ id = "a", balls = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0, 1]], '
    "bonds = [[0, 1], [1, 2], [2, 3]] }]\n"
    'board = [{ id = "bd", size = [2, 4] }]\n'
) + HEAD.format("square", "rotations", 15)


@cache
def odd(text: str) -> tuple[PuzzleSet, Profile]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "odd.toml"
        path.write_text(text)
        puzzle = load_set(str(path))
    return puzzle, load_profile((), (), puzzle.unit_mm)


def box(*size: float) -> Body:
    return body_of(Manifold.cube(size))


def built(solid: object) -> Body:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "it.stl"
        write_stl(solid, path)  # type: ignore[arg-type]
        return read_bodies(path)[0]


# --- what is a board, and what is a piece ---------------------------------------------------


@pytest.mark.parametrize("size", [(59.8, 39.8, 7.0), (19.8, 19.8, 7.0), (6.9, 39.8, 59.8)])
def test_a_piece_is_no_board_of_a_smaller_unit(size: tuple[float, float, float]) -> None:
    """The unit is not known: 59.8 x 39.8 mm is a piece, but also covers 3 x 3 cells of 12 mm."""
    puzzle, _ = odd(SMALL)
    assert not is_accessory(box(*size), puzzle, 20.0, 12.0)
    assert not is_accessory(box(*size), puzzle, 12.0, 20.0)


@pytest.mark.parametrize("unit_mm", [20.0, 12.0])
def test_boards_are_told_from_pieces_though_the_unit_is_not_known(unit_mm: float) -> None:
    puzzle, _ = odd(SMALL)
    for rows, columns, wall in ((3, 3, 13.2), (3, 3, 4.8), (3, 4, 13.2), (3, 4, 4.8)):
        body = box(columns * unit_mm + wall, rows * unit_mm + wall, 11.8)
        assert is_accessory(body, puzzle, 20.0, 12.0)


def test_a_hexagons_piece_is_no_board_of_a_smaller_unit() -> None:
    """Its box is least where it does not lie along the axes."""
    puzzle, _ = odd(HEXES)
    three = shapely.union_all([hexagon(*at) for at in ((0, 0), (20, 0), (10, -17.32))])
    piece = three.buffer(-0.1, join_style="mitre")
    assert not is_accessory(body_of(extruded(piece, 0, 7)), puzzle, 20.0, 12.0)


def hexagon(x_mm: float, y_mm: float) -> shapely.Polygon:
    """A cell of 20 mm, and a little more, so that neighbours are one."""
    wide, high = 10.001, 11.548
    corners = [(0, high), (wide, high / 2), (wide, -high / 2)]
    return shapely.Polygon(
        [(x_mm + way * x, y_mm + way * y) for way in (1, -1) for x, y in corners]
    )


def test_a_small_board_with_deep_holes_is_a_board() -> None:
    """Its sides are larger faces than its bottom is between the holes."""
    puzzle, _ = odd(PLANAR)
    board = Manifold.cube((68.5, 38.5, 25.0)).translate((-4.25, -34.25, 0))
    for column in range(4):
        for row in range(2):
            board -= bore(15 * column + 7.5, -15 * row - 7.5, 12.5, -1, 26)
    assert is_accessory(body_of(board), puzzle, 15.0)


# --- boards of one shape ----------------------------------------------------------------------


def test_boards_of_one_shape_become_one_each() -> None:
    puzzle, profile = odd(TWINS)
    bodies = []
    for width, depth in ((60, 40), (40, 60)):
        board, frame = tray_board(shapely.box(0, -depth, width, 0))
        bodies += [body_of(board, f"{width}.stl"), body_of(frame.lid(), f"{width}-lid.stl")]
    parts = read_boards(bodies, puzzle, 20.0)
    assert sorted((one.board.id, one.kind) for one in parts if one.board) == [
        ("one", "lid"),
        ("one", "tray"),
        ("two", "lid"),
        ("two", "tray"),
    ]
    for part in parts:
        assert part.board is not None
        found = inspect_board(part, parts, puzzle, profile)
        assert [one.message for one in found if not one.ok] == []


def test_one_board_too_many_is_noticed() -> None:
    puzzle, profile = odd(TWINS)
    board, frame = tray_board(shapely.box(0, -40, 60, 0))
    bodies = [body_of(board), body_of(board), body_of(board), body_of(frame.lid())]
    parts = read_boards(bodies, puzzle, 20.0)
    (lid,) = (one for one in parts if one.kind == "lid")
    wrong = {one.rule for one in inspect_board(lid, parts, puzzle, profile) if not one.ok}
    assert "lid-board" in wrong


def test_a_tray_of_another_unit_than_asked_for_is_noticed() -> None:
    """Its own region is all it is held against; pieces of 20 mm do not go in."""
    puzzle, profile = load_set("iqblock"), load_profile()
    board, frame = tray_board(shapely.box(0, -96, 96, 0))
    parts = read_boards([body_of(board), body_of(frame.lid())], puzzle, 20.0, 12.0)
    assert (parts[0].kind, parts[0].unit_mm) == ("tray", 12.0)
    wrong = {one.rule for one in inspect_board(parts[0], parts, puzzle, profile) if not one.ok}
    assert wrong == {"board-read"}


# --- trays for hexagons -----------------------------------------------------------------------


def test_what_is_seen_through_the_notch_is_no_wall_of_the_front() -> None:
    """The teeth between hexagons are pointed; lines through the notch meet their tips."""
    puzzle, profile = odd(HEXES)
    board, lid = (draft_thing(puzzle, one, profile) for one in things(puzzle, profile)[1:])
    bodies = [built(build_board(board)), built(build_board(lid))]  # type: ignore[arg-type]
    parts = read_boards(bodies, puzzle, 20.0)
    wrong = [
        one.message
        for part in parts
        for one in inspect_board(part, parts, puzzle, profile)
        if not one.ok
    ]
    assert wrong == []


# --- files in other units of length ---------------------------------------------------------------


@pytest.mark.parametrize("length_mm", [1.0, 10.0, pytest.param(25.4, marks=pytest.mark.long)])
def test_boards_in_files_of_another_unit_of_length(length_mm: float) -> None:
    """The pieces tell it; the board and lid are not taken for pieces meanwhile."""
    board, frame = holes_board(CELLS)
    named = {"board.stl": body_of(board), "lid.stl": body_of(frame.lid())}
    named |= {f"{name}.stl": exported(name) for name in ("blue", "green")}
    bodies = [Body(name, one.vertices / length_mm, one.faces) for name, one in named.items()]
    taken = take(bodies, load_set("iqfit"), 15.0)
    assert taken.length_mm == length_mm
    assert sorted(str(one.piece) for one in taken.identities) == ["blue", "green"]
    assert sorted(one.kind for one in taken.boards) == ["holes", "lid"]


# --- titles -----------------------------------------------------------------------------------


def test_a_title_whose_strokes_are_too_thin_in_every_size_gives_way() -> None:
    """The middle of this letter ends in points, however large it is."""
    puzzle, profile = odd(TWINS)
    room = shapely.box(0, 0, 150, 150)
    label = place_title(replace(puzzle, title="Жук"), room, profile)
    assert label is not None
    assert label.text == "odd"
    assert place_title(replace(puzzle, title="Жук", name="Ж"), room, profile) is None


# --- ball pieces ------------------------------------------------------------------------------


def test_a_ball_piece_may_rest_on_its_printing_flat() -> None:
    """Its links are 0.3 mm less deep there, and lie that much lower in their channels."""
    puzzle, profile = odd(PLANAR)
    (piece,) = puzzle.pieces
    (part,), _ = take_in_balls([built(build_balls(draft_ball(puzzle, piece, profile)))], 15.0)
    over, under = sorted(one.solid.bounding_box()[2] for one in balls_lying("a", part, 15.0))[-2:]
    assert (over, under) == pytest.approx((-6.0, -4.5), abs=0.02)
    board = draft_thing(puzzle, things(puzzle, profile)[1], profile)
    (read,) = read_boards([built(build_board(board))], puzzle, 15.0)  # type: ignore[arg-type]
    found = seat_findings(Seating(read, puzzle.lattice), balls_lying("a", part, 15.0))
    assert [one.message for one in found if not one.ok] == []


def test_the_profile_of_ball_pieces_is_recognised() -> None:
    """Most links lie on the bed, and the flat has cut them."""
    iqfit = load_set("iqfit")
    candidates = [load_profile(["petg"], ["ball.link=8 mm"], 15.0), load_profile((), (), 15.0)]
    taken = take([exported("blue"), exported("green")], iqfit, 15.0)
    assert recognise(taken, candidates) is candidates[1]
