"""Boards, trays and lids: read back and judged on their meshes, faults planted one by one."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from shapely import affinity

from fabkit.core.progress import no_progress
from fabkit.drawing.ball import draft_ball_piece
from fabkit.drawing.draft import draft_printable
from fabkit.mesh.ball_fit import BallFitter
from fabkit.mesh.board_fit import BoardFitter
from fabkit.mesh.finding import Finding
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import Part
from fabkit.mesh.rules.board import inspect_board
from fabkit.mesh.rules.insertion import ball_orientations, insertion_findings
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.odds import PrinterError, simulate_tolerances, socket_odds, tray_clearance_mm
from fabkit.profiles.accessory import printables
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.verify.reports import causes, check
from fabkit.verify.scan import Scanner, match_profile
from tests.support.ballmeshes import BODIES, IQFIT, Sizes, made, thrown
from tests.support.ballmeshes import body_of_solid as body_of
from tests.support.boardmeshes import (
    SQUARE,
    Frame,
    cylinder,
    extruded,
    hexagons,
    holes_board,
    snapping_board,
    snapping_lid,
    socket_places,
    sockets_board,
    tray_board,
)
from tests.support.faults.kits import written

if TYPE_CHECKING:
    from manifold3d import Manifold

HEAD = '[set]\nname = "odd"\ntitle = "Odd"\nlattice = "{}"\nmoves = "{}"\nunit = "{} mm"\n'
SMALL = (
    'piece = [{ id = "a", rows = ["X"] }, { id = "c", rows = ["XXX", "X.."] }]\n'
    'board = [{ id = "ring", rows = ["XXXX", "X..X", "XXXX"] }, { id = "far", size = [3, 3] }]\n'
) + HEAD.format("square", "rotations", 20)
ONE = (
    'piece = [{ id = "a", rows = ["X"] }]\nboard = [{ id = "one", size = [2, 3] }]\n'
) + HEAD.format("square", "rotations", 20)
TWINS = ONE.replace("[2, 3] }", '[2, 3] }, { id = "two", size = [3, 2] }')
TANGRAM = (
    'piece = [{ id = "a", outline = [[0, 0], [4, 0], [2, 2]] }]\n'
    'board = [{ id = "square", size = [4, 4] }]\n'
) + HEAD.format("quarter-square", "rotations", 20)
HEXES = (
    'piece = [{ id = "a", cells = [[0, 0], [0, 1], [1, 1]] }]\n'
    'board = [{ id = "bd", rows = [4, 3] }]\n'
) + HEAD.format("hexagon", "rotations and flips", 20)
#: All balls of this piece lie in one plane: its printing flat may be down on the board.
PLANAR = (
    'piece = [{ id = "a", balls = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0, 1]], '
    "bonds = [[0, 1], [1, 2], [2, 3]] }]\n"
    'board = [{ id = "bd", size = [3, 4] }]\n'
) + HEAD.format("square", "rotations", 15)
ON_PEGS = HEXES.replace(" and flips", "")
#: Names of sets: what holds their pieces is small here.
SMALL_SETS = {"balls": PLANAR, "hexagons": ON_PEGS, "squares": ONE}


@cache
def odd(text: str) -> tuple[PuzzleSet, Profile]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "odd.toml"
        path.write_text(text)
        puzzle = load_set(str(path))
    return puzzle, load_profile((), (), puzzle.profile_values)


@cache
def named(name: str) -> tuple[PuzzleSet, Profile]:
    """A shipped set or a small one."""
    if name in SMALL_SETS:
        return odd(SMALL_SETS[name])
    puzzle = load_set(name)
    return puzzle, load_profile((), (), puzzle.profile_values)


#: The cells, sockets and regions of the small sets' boards.
FEW_CELLS = list(itertools.product(range(4), range(3)))
FEW_SOCKETS = socket_places(4, 3)
OBLONG = shapely.box(0, -40, 60, 0)


def judged(name: str, *bodies: Mesh) -> tuple[list[Part], dict[str, Finding]]:
    """The parts, and what is wrong with any of them, by rule."""
    puzzle, profile = named(name)
    parts = BoardFitter(puzzle).fit(bodies, profile.unit_mm)
    found = [one for part in parts for one in inspect_board(part, parts, puzzle, profile)]
    return parts, {one.rule: one for one in found if not one.ok}


def both(board: Manifold, frame: Frame, lid: Manifold | None = None, **change: Any) -> list[Mesh]:
    """A board and its lid, in different orientations."""
    lid = lid or frame.lid(**change)
    return [thrown(body_of(board), 5), thrown(body_of(lid, "Q.stl"), 6)]


def box(*size: float) -> Mesh:
    from manifold3d import Manifold

    return body_of(Manifold.cube(size))


# --- reading ------------------------------------------------------------------------------


BOARDS = {
    "balls": (lambda **more: holes_board(FEW_CELLS, **more), "holes", 22.0),
    "hexagons": (
        lambda **more: sockets_board(FEW_SOCKETS, hexagons(FEW_SOCKETS), **more),
        "sockets",
        4.2,
    ),
    "squares": (lambda **more: tray_board(OBLONG, **more), "tray", 2.0),
}


@pytest.mark.parametrize(("name", "seed"), [("balls", 1), ("hexagons", 2), ("squares", 3)])
def test_boards_are_read_however_they_lie_and_right_ones_have_no_faults(
    name: str, seed: int
) -> None:
    make, kind, rest = BOARDS[name]
    manifold, frame = make()
    puzzle, profile = named(name)
    bodies = [thrown(body_of(one), seed) for one in (manifold, frame.lid())]
    (board, lid), wrong = judged(name, *bodies)
    assert wrong == {}
    assert (board.kind, lid.kind, board.reason, lid.reason) == (kind, "lid", "", "")
    assert board.board is lid.board is puzzle.boards[0]
    assert board.unit_mm == pytest.approx(profile.unit_mm, abs=1e-4)
    assert board.rest_mm == pytest.approx(rest, abs=1e-4)
    assert all(BoardFitter(puzzle).is_board_sized(body, profile.unit_mm) for body in bodies)
    straight = BoardFitter(puzzle).fit([body_of(manifold)], profile.unit_mm)[0]
    assert np.abs(board.vertices - straight.vertices).max() < 1e-4
    # The wall behind the lid is at the back, or to the right where that is the same.
    assert board.volume_mm3 == pytest.approx(manifold.volume(), rel=1e-4)


@pytest.mark.parametrize(("name", "noise_mm", "digits"), [("squares", 5e-3, 9), ("hexagons", 0, 3)])
def test_uneven_boards_are_judged_to_the_accuracy_that_they_have(
    name: str, noise_mm: float, digits: int
) -> None:
    random = np.random.default_rng(3)
    bodies = [
        replace(one, vertices=(one.vertices + off).round(digits))
        for one in both(*BOARDS[name][0]())
        for off in [random.uniform(-noise_mm, noise_mm, one.vertices.shape)]
    ]
    assert judged(name, *bodies)[1] == {}


@pytest.mark.integration
def test_a_board_of_another_unit_reports_its_own() -> None:
    (part, _), wrong = judged("balls", *both(*holes_board(FEW_CELLS, pitch_mm=16.5)))
    assert part.unit_mm == pytest.approx(16.5, abs=1e-4)
    assert set(wrong) == {"board-read"}
    # A tray is held against its own region alone; pieces of 20 mm do not go in.
    puzzle, profile = load_set("iqblock"), load_profile()
    parts = BoardFitter(puzzle).fit(both(*tray_board(shapely.box(0, -96, 96, 0))), 20.0, 12.0)
    assert (parts[0].kind, parts[0].unit_mm) == ("tray", 12.0)
    doubted = replace(parts[0], runner_up=("X", parts[0].score - 0.001))
    for part, text in ((parts[0], "expected 20 mm"), (doubted, "and X (")):
        (found,) = (one for one in inspect_board(part, parts, puzzle, profile) if not one.ok)
        assert found.rule == "board-read"
        assert text in found.message


def test_pieces_are_no_accessories() -> None:
    for name in ("iqfit", "iqstars", "iqblock", "cubimagici"):
        puzzle, profile = named(name)
        for piece in puzzle.pieces:
            for form in piece.forms:
                xs, ys = zip(*((x, y) for ring in form.rings for x, y in ring), strict=True)
                size = [
                    (max(some) - min(some)) * profile.unit_mm / puzzle.lattice.per_unit
                    for some in (xs, ys)
                ]
                assert not BoardFitter(puzzle).is_board_sized(box(*size, 7.0), profile.unit_mm)


def test_what_is_no_board_says_why() -> None:
    parts, wrong = judged("balls", box(30, 30, 30))
    assert parts[0].board is None
    assert "neither its round holes" in parts[0].reason
    assert set(wrong) == {"board-read"}


# --- planted faults -----------------------------------------------------------------------


def test_the_finding_says_which_hole() -> None:
    # What goes in is the cylinder between its sides.
    for fault, passes_mm in (
        ({"moved": {4: (0, 0, -0.3)}}, 12.2),
        ({"polygonal": [4]}, 12.5 * math.cos(math.pi / 16)),
    ):
        _, wrong = judged("balls", *both(*holes_board(FEW_CELLS, **fault)))
        finding = wrong["board-hole-diameter"]
        assert finding.value == pytest.approx(passes_mm, abs=0.01)
        assert finding.where is not None
        # The hole of column 1 and row 1 from below, where the set's file draws downwards.
        assert finding.where.contains(shapely.Point(22.5, -22.5))


#: What is wrong with a board, several things on one board at first, and all rules that it breaks.
TOGETHER: list[tuple[str, dict[str, Any], str]] = [
    ("squares", {"relief_mm": 0.0}, "board-corners"),
    (
        "squares",
        {"floor_mm": 1.8, "wall_mm": 3.0, "clearance_mm": 0.35, "air_mm": 0.0},
        "board-floor board-wall board-opening board-height",
    ),
    # The shallow socket is as high above the thin floor as it should be above a right one.
    (
        "hexagons",
        {"shallow": {4: 0.15}, "missing": [2], "socket_mm": 10.3, "floor_mm": 1.6},
        "board-socket-depth board-sockets board-socket-diameter board-floor",
    ),
    (
        "balls",
        {
            "moved": {4: (0.0, 0.0, -0.3), 8: (0.2, 0.0, 0.0)},
            "narrow": 9.2,
            "clearance_mm": 0.3,
        },
        "board-hole-diameter board-hole-place board-channels board-channel-free board-opening",
    ),
    (
        "balls",
        {"blind": [3], "floor_off_mm": 0.1},
        "board-depth board-holes board-channel-depth board-channel-free",
    ),
    ("balls", {"missing": [4]}, "board-holes board-depth"),
]
#: The first of the rules must notice it, the others may.
ALONE: list[tuple[str, dict[str, Any], str]] = [
    ("balls", {"moved": {4: (0, 0, -0.3)}}, "board-hole-diameter"),
    ("balls", {"hole_mm": 12.55}, "board-hole-diameter"),
    ("balls", {"polygonal": [7]}, "board-hole-diameter"),
    ("balls", {"moved": {8: (0.2, 0.0, 0.0)}}, "board-hole-place"),
    ("balls", {"channel_mm": 0.1}, "board-channels board-channel-free"),
    ("balls", {"narrow": 9.2}, "board-channels board-channel-free"),
    ("balls", {"narrow": 9.5}, "board-channels"),
    ("balls", {"floor_off_mm": 0.1}, "board-channel-depth board-channel-free"),
    ("balls", {"floor_off_mm": -0.2}, "board-channel-depth board-holes degenerate"),
    ("balls", {"blind": [3]}, "board-depth board-holes"),
    ("balls", {"clearance_mm": 0.3}, "board-opening"),
    ("hexagons", {"shallow": {4: 0.15}}, "board-socket-depth board-sockets"),
    ("hexagons", {"missing": [2]}, "board-sockets"),
    ("hexagons", {"socket_mm": 10.3}, "board-socket-diameter"),
    ("hexagons", {"floor_mm": 1.6}, "board-floor board-height"),
    ("squares", {"floor_mm": 1.8}, "board-floor"),
    ("squares", {"wall_mm": 3.0}, "board-wall"),
    ("squares", {"clearance_mm": 0.35}, "board-opening"),
    ("squares", {"air_mm": 0.0}, "board-height"),
]


@pytest.mark.parametrize(
    "faults", [TOGETHER, pytest.param(ALONE, marks=pytest.mark.integration)], ids=len
)
def test_faults_of_boards_are_named(faults: list[tuple[str, dict[str, Any], str]]) -> None:
    for name, options, rules in faults:
        first, *others = rules.split()
        wrong = set(judged(name, *both(*BOARDS[name][0](**options)))[1])
        assert {first, *(others if faults is TOGETHER else ())} <= wrong, options
        assert wrong <= {first, *others}, options


def test_an_opening_that_is_tight_on_one_side() -> None:
    board, frame = tray_board(OBLONG)
    rib = extruded(shapely.box(60.15, -41, 61, 1), 1.0, 9.0)
    _, wrong = judged("squares", *both(board + rib, frame))
    assert wrong["board-opening"].value == pytest.approx(0.2, abs=0.01)


def test_a_mesh_that_is_open() -> None:
    board, lid = both(*tray_board(OBLONG))
    holed = Mesh(board.name, board.vertices, np.delete(board.faces, 40, axis=0))
    _, wrong = judged("squares", holed, lid)
    assert {"watertight", "lid-fits"} <= set(wrong)


# --- lids ---------------------------------------------------------------------------------


@pytest.mark.integration
def test_a_fault_of_a_sliding_lid_or_its_way_is_named() -> None:
    from manifold3d import Manifold

    board, frame = tray_board(OBLONG)
    front = frame.outer.bounds[1]
    rib = Manifold.cube((1.5, 2.0, 1.0)).translate((65.25 - 1.2, -20.0, 9.3))
    post = Manifold.cube((3.0, 0.1, 1.5)).translate((20.0, front, 9.3))
    top = extruded(frame.outer - frame.outer.buffer(-6), 11.3, 12.4)
    slab = Manifold.cube((65.0, 45.0, 1.0)).translate((-2.5, -42.5, 0.0))
    faults: dict[str, tuple[list[Mesh], set[str]]] = {
        "floor": (both(board - cylinder(33, -27, 3.0, -1, 4), frame), {"board-floor"}),
        "wide": (both(board, frame, wider_mm=0.9), {"lid-fits", "lid-path"}),
        "thick": (both(board + top, frame, thickness_mm=3.0), {"lid-fits"}),
        "rib": (both(board + rib, frame), {"lid-path"}),
        # The lid closes, but cannot have come there.
        "post": (both(board + post, frame), {"lid-path", "lid-detent", "board-wall"}),
        "loose": (both(board, frame, slab), {"lid-held"}),
    }
    for fault, catch_mm, recess_mm, rules in (
        ("no bumps", 0.0, 0.45, {"lid-detent"}),
        ("low bumps", 0.1, 0.45, {"lid-detent"}),
        ("high bumps", 0.25, 0.55, {"lid-detent", "lid-path"}),
        ("no recess", 0.15, 0.0, {"lid-fits"}),
    ):
        bumped = tray_board(OBLONG, catch_mm=catch_mm, recess_mm=recess_mm)
        faults[fault] = both(*bumped), rules
    for fault, (bodies, rules) in faults.items():
        wrong = set(judged("squares", *bodies)[1])
        assert wrong == rules if fault in ("floor", "post") else rules <= wrong, fault
    assert judged("squares", *both(board, frame, wider_mm=0.3))[1] == {}  # the clearance bears it


def test_a_lid_without_its_board_and_the_other_way_round() -> None:
    board, lid = both(*tray_board(OBLONG))
    assert set(judged("squares", board)[1]) == {"board-lid"}
    assert set(judged("squares", lid)[1]) == {"lid-board"}
    puzzle, profile = named("squares")
    without = replace(profile, lid="none")
    (part,) = BoardFitter(puzzle).fit([board], 20.0)
    assert all(one.ok for one in inspect_board(part, [part], puzzle, without))


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("lid", "rules"),
    [
        pytest.param({}, set(), marks=pytest.mark.integration),
        ({"catch_mm": 0.9}, {"lid-strain", "lid-path"}),
        pytest.param({"tongue_mm": 6.0}, {"lid-strain"}, marks=pytest.mark.integration),
        ({"catch_mm": 0.4}, {"lid-detent"}),
        ({"catch_mm": -0.2}, {"lid-held", "lid-detent"}),
    ],
)
def test_faults_of_a_snapping_lid(lid: dict[str, float], rules: set[str]) -> None:
    board, frame = snapping_board(SQUARE)
    wrong = set(judged("iqblock", *both(board, frame, snapping_lid(frame, **lid)))[1])
    assert rules <= wrong if rules else wrong == set()


# --- what is a board, and what is a piece ---------------------------------------------------


def test_pieces_are_distinguished_from_boards_of_unknown_unit() -> None:
    """59.8 x 39.8 mm is a piece, but also covers 3 x 3 cells of 12 mm."""
    puzzle, _ = odd(SMALL)
    for size in ((59.8, 39.8, 7.0), (19.8, 19.8, 7.0), (6.9, 39.8, 59.8)):
        assert not BoardFitter(puzzle).is_board_sized(box(*size), 20.0, 12.0)
        assert not BoardFitter(puzzle).is_board_sized(box(*size), 12.0, 20.0)
    for unit_mm, wide, wall in itertools.product((20.0, 12.0), (3, 4), (13.2, 4.8)):
        body = box(wide * unit_mm + wall, 3 * unit_mm + wall, 11.8)
        assert BoardFitter(puzzle).is_board_sized(body, 20.0, 12.0)
    # The box of a piece of hexagons is least where it does not lie along the axes.
    piece = hexagons([(0, 0), (20, 0), (10, -17.3205)]).buffer(-0.1, join_style="mitre")
    assert not BoardFitter(odd(HEXES)[0]).is_board_sized(body_of(extruded(piece, 0, 7)), 20.0, 12.0)


def test_a_triangle_is_no_lid_though_its_box_is_that_of_one() -> None:
    """Lying on a leg the large triangle of a tangram has a box of 56.6 mm, a board of 12 mm 48 mm."""
    puzzle, _ = odd(TANGRAM)
    for cut in (0.1, 0.5):
        triangle = shapely.Polygon([(0, 0), (80, 0), (40, 40)]).buffer(-cut, join_style="mitre")
        for degrees in range(0, 180, 15):
            there = affinity.rotate(triangle, degrees, origin=(0, 0))
            assert not BoardFitter(puzzle).is_board_sized(
                body_of(extruded(there, 0, 7)), 20.0, 12.0
            )
    for unit_mm in (20.0, 12.0):
        assert BoardFitter(puzzle).is_board_sized(
            box(4 * unit_mm + 8, 4 * unit_mm + 9, 2), 20.0, 12.0
        )


@st.composite
def any_mesh(draw: st.DrawFn) -> Mesh:
    """Triangles between a few corners: closed, open, flat, of no extent, tiny or large."""
    corners = draw(arrays(np.float64, (draw(st.integers(3, 12)), 3), elements=st.floats(-1, 1)))
    sizes = st.sampled_from([0.0, 1e-3, 1.0, 60.0, 200.0])
    vertices = corners * [draw(sizes) for _ in range(3)]
    faces = arrays(
        np.int64, (draw(st.integers(0, 20)), 3), elements=st.integers(0, len(corners) - 1)
    )
    return Mesh("any.obj", vertices, draw(faces))


#: Open in a way that ends the process in manifold3d 3.5.
OPEN = Mesh(
    "open.obj",
    np.array(
        [
            *((-0.1, -162, 0), (0.2, -191, 0), (-0.6, 78, 0), (0.4, 183, 0)),
            *((0.3, -134, 0), (-0.4, 182, 0), (0, 0, 0), (0.1, -37, 0)),
        ],
        float,
    ),
    np.array([[6, 7, 3], [7, 5, 4], [4, 5, 0], [1, 5, 4], [5, 3, 6]]),
)


@settings(max_examples=40, deadline=None)
@example(OPEN, "squares")
@given(any_mesh(), st.sampled_from(sorted(SMALL_SETS)))
def test_whatever_a_mesh_is_there_is_a_verdict(body: Mesh, name: str) -> None:
    puzzle, profile = named(name)
    BoardFitter(puzzle).is_board_sized(body, profile.unit_mm, 12.0)
    (part,) = BoardFitter(puzzle).fit([body], profile.unit_mm, 12.0)
    assert bool(part.reason) == (part.board is None)
    if len(body.faces):
        assert inspect_board(part, [part], puzzle, profile)


# --- boards of one shape ----------------------------------------------------------------------


def test_boards_of_one_shape_become_one_each() -> None:
    # Files come in the order of their names, boards in that of the set.
    puzzle, profile = odd(TWINS.replace("one", "zero"))
    bodies = []
    for width, depth in ((60, 40), (40, 60)):
        board, frame = tray_board(shapely.box(0, -depth, width, 0))
        name = {60: "zero", 40: "two"}[width]
        bodies += [body_of(board, f"{name}.stl"), body_of(frame.lid(), f"{name}-lid.stl")]
    parts = BoardFitter(puzzle).fit(bodies, 20.0)
    kinds = sorted((one.board.id, one.kind) for one in parts if one.board)
    assert kinds == list(itertools.product(("two", "zero"), ("lid", "tray")))
    for part in parts:
        found = inspect_board(part, parts, puzzle, profile)
        assert [one.message for one in found if not one.ok] == []
    inspected = Scanner(bodies, puzzle).scan(20.0).inspect(profile, no_progress)
    named = [find for one in inspected for find in one.findings if find.rule == "file-name"]
    assert [one.ok for one in named] == [True] * 4, "each file holds either board, or either lid"


def test_findings_on_insertion_name_the_board_of_several() -> None:
    puzzle, profile = odd(PLANAR.replace("board = [", 'board = [{ id = "other", size = [3, 3] }, '))
    shape = puzzle.pieces[0].body
    assert shape is not None
    bodies = [made(shape, Sizes(ball=11.0), "a.stl")]
    for name, columns in (("bd", 4), ("other", 3)):
        cells = [*itertools.product(range(columns), range(-3, 0))]
        bodies.append(body_of(holes_board(cells)[0], f"{name}.stl"))
    report = check(Scanner(bodies, puzzle).scan(15.0), profile, answers=[])
    play = [str(one) for one in causes(report) if one.rule == "socket-play"]
    starts = [f"a.stl: socket-play: in {name}, the largest play" for name in ("other", "bd")]
    assert [line[: len(start)] for line, start in zip(play, starts, strict=True)] == starts


# --- trays for hexagons -----------------------------------------------------------------------


@pytest.mark.integration
def test_what_is_seen_through_the_notch_is_no_wall_of_the_front() -> None:
    """The teeth between hexagons are pointed; lines through the notch meet their tips."""
    from fabkit.solid.builder import build_solid

    puzzle, profile = odd(HEXES)
    drafted = [draft_printable(puzzle, one, profile) for one in printables(puzzle, profile)[1:]]
    parts = BoardFitter(puzzle).fit([written(build_solid(one)) for one in drafted], 20.0)
    found = [one for part in parts for one in inspect_board(part, parts, puzzle, profile)]
    assert [one.message for one in found if not one.ok] == []


# --- files in other units of length ---------------------------------------------------------------


@pytest.mark.parametrize("length_mm", [10.0, pytest.param(25.4, marks=pytest.mark.integration)])
def test_boards_in_files_of_another_unit_of_length(length_mm: float) -> None:
    """The pieces determine it, and the board and lid are not mistaken for pieces."""
    puzzle, _ = odd(PLANAR)
    board, frame = holes_board(FEW_CELLS)
    shape = puzzle.pieces[0].body
    assert shape is not None
    named = {"board.stl": body_of(board), "lid.stl": body_of(frame.lid()), "a": made(shape)}
    bodies = [Mesh(name, one.vertices / length_mm, one.faces) for name, one in named.items()]
    scanned = Scanner(bodies, puzzle).scan(15.0)
    assert scanned.length_mm == length_mm
    assert [one.piece for one in scanned.parts] == ["a"]
    assert sorted(one.part.kind for one in scanned.boards) == ["holes", "lid"]


# --- ball pieces ------------------------------------------------------------------------------


@pytest.mark.integration
def test_a_ball_piece_may_rest_on_its_printing_flat() -> None:
    """Its links are 0.3 mm less deep there, and lie that much lower in their channels."""
    from fabkit.solid.builder import build_solid

    puzzle, profile = odd(PLANAR)
    (piece,) = puzzle.pieces
    body = written(build_solid(draft_ball_piece(puzzle, piece, profile)))
    (part,), _ = BallFitter(puzzle).fit([body], 15.0)
    over, under = sorted(one.solid.bounding_box()[2] for one in ball_orientations("a", part, 15.0))[
        -2:
    ]
    assert (over, under) == pytest.approx((-6.0, -4.5), abs=0.02)
    board = draft_printable(puzzle, printables(puzzle, profile)[1], profile)
    (read,) = BoardFitter(puzzle).fit([written(build_solid(board))], 15.0)
    found = insertion_findings({"a": part}, read, puzzle.lattice, profile)["a"]
    assert [one.message for one in found if not one.ok] == []


def test_the_profile_of_ball_pieces_is_recognised() -> None:
    """Most links lie on the bed, and the flat has cut them."""
    unit = {"unit_mm": 15.0}
    candidates = [load_profile(["petg"], ["ball.link=8 mm"], unit), load_profile((), (), unit)]
    scanned = Scanner([made(BODIES["blue"]), made(BODIES["lime"])], IQFIT).scan(15.0)
    assert match_profile(scanned, candidates) is candidates[1]


# --- what a printer's errors make of them ----------------------------------------------------


def test_the_clearance_of_a_tray_is_measured() -> None:
    puzzle, _ = named("squares")
    parts = BoardFitter(puzzle).fit(
        [thrown(body_of(tray_board(OBLONG, clearance_mm=0.31)[0]), 3)], 20
    )
    region = puzzle.boards[0].cells
    assert tray_clearance_mm(region, parts, puzzle.lattice) == pytest.approx(0.31, abs=1e-3)
    assert tray_clearance_mm(frozenset([(1, -1)]), parts, puzzle.lattice) is None


def test_room_in_holes_channels_and_sockets() -> None:
    puzzle, _ = named("balls")
    board, _ = holes_board(FEW_CELLS, moved={4: (0, 0, -0.1)})
    (part,) = BoardFitter(puzzle).fit([body_of(board)], 15.0)
    error = PrinterError(0.1, 0.05)
    hole, channel = socket_odds(part, puzzle.lattice, error, ball_mm=12.0, link_mm=9.0)
    assert hole.spare_mm == pytest.approx(12.4 - 0.05 - 12.0, abs=0.01)
    assert hole.worst_mm == pytest.approx(hole.spare_mm - 0.4)
    assert 0.99 < hole.odds < 1  # four uniform errors: 1 - (0.05 / 0.2)^4 / 24
    assert channel.spare_mm == pytest.approx(0.4, abs=0.001)
    assert not hole.closes_worst_case
    assert channel.closes_worst_case
    found = simulate_tolerances({}, puzzle.lattice, [], error, sockets=[hole, channel])
    assert (found.judged, found.ok, found.set_odds) == ((hole, channel), False, hole.odds)
    assert simulate_tolerances({}, puzzle.lattice, [], error, sockets=[channel]).ok
    stars, _ = named("hexagons")
    (sockets,) = BoardFitter(stars).fit(
        [body_of(sockets_board(FEW_SOCKETS, hexagons(FEW_SOCKETS))[0])], 20.0
    )
    (socket,) = socket_odds(sockets, stars.lattice, PrinterError(0.05), peg_mm=10.0)
    assert socket.worst_mm == pytest.approx(0.2, abs=0.01)
    # Calibrated, a hole is as narrow as holes are, and only the peg has sides.
    calibrated = PrinterError(0, 0.1, 0.04, 0.0, 0.01, 0.02)
    (socket,) = socket_odds(sockets, stars.lattice, calibrated, peg_mm=10.0)
    assert socket.rss_mm == pytest.approx((0.4 - 0.1 - 0.08, math.hypot(0.01414, 0.02)), abs=0.01)
