"""Pieces in their boards of holes or sockets, and pieces on pegs, measured on meshes: planted
faults.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from fabkit.core.errors import InputError
from fabkit.core.formats import json_text
from fabkit.mesh.finding import Finding
from fabkit.mesh.fitting.assembly import Assembly, assemble, ball_setup
from fabkit.mesh.identity import PeggedPart
from fabkit.mesh.lattice_fit import FlatFitter
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import BALLS, Balls, Part
from fabkit.mesh.pegs import on_pegs, peg_findings
from fabkit.mesh.rules.insertion import LIFT_MM, ball_orientations, insertion_findings
from fabkit.model.balls import BallBody, flat_poses, rotate_ball
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.piece import is_image, normalize_cells
from fabkit.model.puzzle import Board, to_units
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.verify.challenge_results import ChallengeResult, solve_catalog
from fabkit.verify.reports import check
from fabkit.verify.scan import Scanner
from tests.support import boardmeshes
from tests.support.ballmeshes import (
    BODIES,
    IDS,
    IQFIT,
    Sizes,
    block,
    body_of_solid,
    mirrored,
    solid,
)
from tests.support.boardmeshes import cylinder, hexagons
from tests.support.prints import Order
from tests.support.shapes import printed_mesh

PROFILE = load_profile()
RULES = ["free", "insert", "play", "loose", "turn", "rest", "neighbours"]
PITCH_MM, UNIT_MM = 15.0, 20.0
STARS = load_set("iqstars")
#: Balls and links as fine as prints have them: chords 0.02 mm inside.
FINE = Sizes(segments=48)


def ball_part(shape: BallBody, sizes: Sizes = FINE) -> Part:
    """A piece as the reader would lay it: in no way looked at."""
    body = body_of_solid(solid(shape, sizes))
    return Part(body, body.vertices, BALLS, balls=Balls(shape, PITCH_MM))


def holes_of(
    columns: int = 5,
    rows: int = 4,
    extra: Any = None,
    cells: Sequence[tuple[int, int]] = (),
    **numbers: Any,
) -> Part:
    """A board of holes; its posts are the height of inserted balls."""
    cells = cells or list(itertools.product(range(columns), range(-rows, 0)))
    board = Board("board", frozenset((2 * x + 1, 2 * y + 1) for x, y in cells))
    made, frame = boardmeshes.holes_board(cells, **numbers)
    return board_part(made + extra if extra else made, "holes", board, PITCH_MM, frame.rest_mm)


def board_part(made: Any, kind: str, board: Board, unit_mm: float, rest_mm: float) -> Part:
    body = body_of_solid(made, "board.stl")
    return Part(body, body.vertices, kind, board=board, unit_mm=unit_mm, rest_mm=rest_mm)


def middles(cells: Collection[Cell]) -> list[tuple[float, float]]:
    places = to_units(LATTICES["hexagon"], sorted(cells))
    return [(UNIT_MM * x, UNIT_MM * y) for x, y in places]


def sockets_of(**numbers: Any) -> Part:
    board = STARS.boards[0]
    places = middles(board.cells)
    made, frame = boardmeshes.sockets_board(places, hexagons(places), **numbers)
    return board_part(made, "sockets", board, UNIT_MM, frame.rest_mm)


def star(name: str, peg_mm: float = 10.0, height_mm: float = 2.0) -> PeggedPart:
    """A piece on pegs, read back."""
    places = middles(STARS.piece(name).forms[0].cells)
    area = hexagons(places).buffer(-0.1, join_style="mitre")
    made = boardmeshes.extruded(area, height_mm, height_mm + 7.0)
    for x, y in places:
        made += boardmeshes.cylinder(x, y, peg_mm, 0.0, height_mm + 1.0)
    (part,) = FlatFitter(STARS).fit([body_of_solid(made)], UNIT_MM)[0]
    found = on_pegs(part, STARS.lattice, UNIT_MM)
    assert found is not None
    return found


def failing(found: dict[str, Finding]) -> set[str]:
    return {rule for rule, finding in found.items() if not finding.ok}


@cache
def board() -> Part:
    return holes_of()


def inspected(part: Part, on: Part, **others: Part) -> dict[str, Finding]:
    pieces = {"piece": part, **others}
    found = insertion_findings(pieces, on, LATTICES["square"], PROFILE)["piece"]
    return {finding.rule.removeprefix("socket-"): finding for finding in found}


# --- how pieces lie -----------------------------------------------------------------------


@pytest.mark.every(10)
@pytest.mark.parametrize("name", IDS)
def test_each_ball_comes_over_its_cell(name: str) -> None:
    """The model's eight poses, and in each a mesh whose balls are where the model has them."""
    import manifold3d

    part = ball_part(BODIES[name], Sizes(segments=16))
    assert part.balls is not None
    lattice, probe = LATTICES["square"], manifold3d.Manifold.sphere(4.0, 12)
    found = set()
    for oriented in ball_orientations(name, part, PITCH_MM):
        for move in lattice.moves(flips=False):
            solid = oriented.solid.transform(oriented.matrix((move, (0, 0))))
            cells = frozenset(map(move, oriented.cells))
            at, under = (
                {
                    (x, y): (
                        probe.translate((x * PITCH_MM / 2, y * PITCH_MM / 2, z)) ^ solid
                    ).volume()
                    for x, y in cells
                }
                for z in (0, -PITCH_MM)
            )
            assert list(at.values()) == pytest.approx([probe.volume()] * len(cells), rel=1e-6)
            hanging = [place for place, volume in under.items() if volume > 1]
            dx, dy = lattice.anchor(cells)
            found.add(
                (normalize_cells(lattice, cells), frozenset((x - dx, y - dy) for x, y in hanging))
            )
    expected, body = set(), part.balls.shape
    for pose in flat_poses(body):
        places = [rotate_ball(pose.rotation, ball) for ball in body.balls]
        x0, y0, z0 = places[min(body.base())]  # at row 0, column 0
        below = [lattice.cells_at(y0 - y, x - x0)[0] for x, y, z in places if z == z0 - 1]
        dx, dy = lattice.anchor(pose.cells)
        hanging = frozenset((x - dx, y - dy) for x, y in below)
        expected.add((normalize_cells(lattice, pose.cells), hanging))
    assert found == expected


# --- a good set ---------------------------------------------------------------------------


@pytest.mark.integration
def test_a_good_piece_keeps_all_rules() -> None:
    found = inspected(ball_part(BODIES["indigo"]), board(), green=ball_part(BODIES["green"]))
    assert list(found) == RULES
    assert not failing(found), found
    assert found["neighbours"].value == pytest.approx(3.0, abs=0.01)
    # Both sides of a channel leave 0.2 mm.
    assert found["loose"].value == pytest.approx(0.4, abs=0.03)


@pytest.mark.integration
def test_play_is_that_of_the_meshes() -> None:
    """Bisected with volumes of whole meshes, along x and y.

    With one side up there is one place for the piece; with the other there is none.
    """
    on, part = holes_of(cells=[(0, -2), (1, -2), (2, -2), (1, -1)]), ball_part(BODIES["navy"])
    assert on.board is not None
    (solid,) = (
        oriented.at(pose, on.rest_mm + LIFT_MM)
        for oriented in ball_orientations("", part, PITCH_MM)
        for pose in oriented.poses(on.board.cells)
    )

    def reach_mm(x: float, y: float) -> float:
        free, barred = 0.0, 2.0
        while barred - free > 1e-3:
            middle = (free + barred) / 2
            meets = (
                solid.translate((middle * x, middle * y, 0)) ^ on.aligned.manifold
            ).volume() > 1e-3
            free, barred = (free, middle) if meets else (middle, barred)
        return free

    half = np.sqrt(0.5)
    shifts = [
        reach_mm(x, y) + reach_mm(-x, -y)
        for x, y in ((1.0, 0.0), (0.0, 1.0), (half, half), (half, -half))
    ]
    found = {rule: one.value or 0.0 for rule, one in inspected(part, on).items()}
    # A ball that touches a wall goes 0.01 mm into it before that is a volume to speak of.
    assert max(shifts) - 0.03 < found["play"] <= max(shifts)
    assert min(shifts) - 0.03 < found["loose"] <= min(shifts)
    assert found["rest"] < 0.02


# --- planted faults -----------------------------------------------------------------------

#: By default those of which each names another rule.
FAULTS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("all holes 0.3 mm too small", "loose", {}, {"hole_mm": 12.2}),
    ("floors too low", "rest", {}, {"floor_off_mm": -0.2}),
    ("channels too wide", "turn", {}, {"channel_mm": 1.8}),
    ("holes and channels too wide", "play", {}, {"channel_mm": 0.4, "hole_mm": 12.8}),
    ("a link too thick", "free", {"links": {0: 9.6}}, {}),
    ("a hole that no ball enters", "free", {}, {"moved": {7: (0.0, 0.0, -0.7)}}),
    ("a hole off its place", "free", {}, {"moved": {7: (0.4, 0.0, 0.0)}}),
    ("a channel too narrow", "free", {}, {"narrow": 8.8}),
    ("floors too high", "free", {}, {"floor_off_mm": 0.1}),
    ("links too thin", "rest", {"link": 8.0}, {}),
    ("a ball too big", "free", {"balls": {4: 12.7}}, {}),
    ("a ball off its place", "free", {"moved": {4: (0.0, 0.5, 0.0)}}, {}),
]


@pytest.mark.parametrize(
    "faults", [FAULTS[:4], pytest.param(FAULTS[4:], marks=pytest.mark.integration)]
)
def test_planted_faults_are_noticed(faults: list[tuple[str, str, Any, Any]]) -> None:
    for fault, rule, sizes, numbers in faults:
        part = ball_part(BODIES["indigo"], Sizes(segments=32, **sizes))
        assert rule in failing(inspected(part, holes_of(columns=4, **numbers))), fault


@pytest.mark.integration
def test_prongs_bonded_to_each_other_do_not_go_in() -> None:
    shape = replace(BODIES["indigo"], bonds=(*BODIES["indigo"].bonds, (3, 4)))
    found = inspected(ball_part(shape), board())
    assert {"free", "insert"} <= failing(found)
    assert "at [" in found["free"].message


@pytest.mark.integration
def test_a_bar_across_the_way_in_is_noticed_where_it_bars() -> None:
    """Free where it lies, but it cannot get there: only `socket-insert` can know."""
    rest = board().rest_mm
    bar = block((-1.0, -15.0, rest + 6.5), (76.0, -14.0, rest + 7.5))
    found = inspected(ball_part(BODIES["indigo"]), holes_of(extra=bar))
    assert failing(found) == {"insert"}
    assert found["insert"].value > 0  # type: ignore[operator]


def test_a_board_that_is_open_is_reported() -> None:
    body = board().mesh
    holed = replace(board(), mesh=Mesh(body.name, body.vertices, body.faces[1:]))
    found = inspected(ball_part(BODIES["indigo"]), holed)
    assert failing(found) == {"free"}
    assert "the board does not bound a volume" in found["free"].message


# --- a solved board -----------------------------------------------------------------------


@cache
def fit_parts() -> dict[str, Part]:
    return {name: ball_part(shape, Sizes(segments=32)) for name, shape in BODIES.items()}


@cache
def fit_board() -> Part:
    return holes_of(10, 5)


@cache
def solved() -> ChallengeResult:
    (one,) = solve_catalog(IQFIT, None)
    return one


def assembled(parts: dict[str, Part], on: Part | None) -> Assembly:
    return assemble(solved().challenge, solved().layout, PROFILE, ball_setup(parts, on))


def test_a_solved_board_is_assembled() -> None:
    found = assembled(fit_parts(), fit_board())
    assert found.ok, found.messages
    assert found.is_measured
    assert found.overlap_mm3 == 0
    assert found.outside_mm == 0
    assert found.min_gap_mm == pytest.approx(3.0, abs=0.05)


def test_a_faulty_board_or_piece_is_reported_in_the_assembly() -> None:
    tight = assembled(fit_parts(), holes_of(10, 5, hole_mm=11.5))
    assert not tight.ok
    assert all("and the board overlap" in message for message in tight.messages)
    wide, near, edge = (
        assembled(
            {**fit_parts(), "red": ball_part(BODIES["red"], Sizes(segments=n, ball=mm))}, None
        )
        for n, mm in ((32, 18.5), (64, 17.9), (32, 16.0))
    )
    assert any("red" in message and "overlap" in message for message in wide.messages)
    assert wide.overlap_mm3 > 0.1
    assert any("leave a gap of 0.0" in message for message in near.messages)
    assert edge.outside_mm == pytest.approx(0.5, abs=0.05)


def test_a_mirrored_piece_does_not_go_where_the_layout_says() -> None:
    part = fit_parts()["yellow"]
    assert part.balls is not None
    shape = part.balls.shape
    flipped = replace(shape, balls=tuple((-x, y, z) for x, y, z in shape.balls))
    turned = replace(part.balls, shape=flipped)
    body = mirrored(part.mesh)
    wrong = replace(part, mesh=body, vertices=body.vertices, balls=turned)
    refusal = "yellow: does not have the shape that the solution needs"
    with pytest.raises(InputError, match=refusal):
        assembled({**fit_parts(), "yellow": wrong}, fit_board())


# --- pieces on pegs -----------------------------------------------------------------------


@cache
def peg_board() -> Part:
    return sockets_of()


def judged_peg(name: str, on: Part, **numbers: float) -> dict[str, Finding]:
    found = insertion_findings({"piece": star(name, **numbers)}, on, STARS.lattice, PROFILE)
    return {finding.rule.removeprefix("socket-"): finding for finding in found["piece"]}


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["red", "pink"])
def test_a_good_piece_on_pegs_keeps_all_rules(name: str) -> None:
    found = judged_peg(name, peg_board())
    assert not failing(found), found
    assert list(found) == ["free", "insert", "play", "loose", "turn", "rest", "protrusion"]
    assert found["protrusion"].value == pytest.approx(2.0, abs=0.01)
    assert found["play"].value == pytest.approx(0.4, abs=0.02)


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("rule", "piece", "numbers"),
    [
        ("protrusion", {"height_mm": 1.4}, {}),
        ("free", {"peg_mm": 10.6}, {}),
        ("loose", {"peg_mm": 10.2}, {}),
        ("play", {"peg_mm": 9.6}, {}),
        ("free", {"height_mm": 2.5}, {}),
        ("free", {}, {"shallow": {3: 0.5}}),
        ("free", {}, {"missing": [5]}),
    ],
)
def test_planted_faults_of_pegs_are_noticed(
    rule: str, piece: dict[str, float], numbers: dict[str, object]
) -> None:
    on = sockets_of(**numbers) if numbers else peg_board()
    assert rule in failing(judged_peg("orange", on, **piece))


def test_upside_down_it_falls_into_a_board_without_floor() -> None:
    """What holds a piece up that is turned over is the plate between the sockets."""
    hollow = peg_board().aligned.manifold - block((-9.5, -62.0, 2.0), (130.0, 10.0, 30.0))
    on = board_part(hollow, "sockets", STARS.boards[0], 20.0, peg_board().rest_mm)
    assert "protrusion" in failing(judged_peg("orange", on))


# --- pegs read back ----------------------------------------------------------------------


def pegged(body: Mesh) -> PeggedPart | None:
    """A mesh of the set, fitted, with its pegs separated."""
    (part,), _ = FlatFitter(STARS).fit([body], 20.0)
    return on_pegs(part, STARS.lattice, 20.0)


def bodies(shape: str) -> list[Mesh]:
    """The meshes of all seven pieces."""
    order = Order((), (f"cell.shape={shape}",))
    return [printed_mesh("iqstars", piece.id, order) for piece in STARS.pieces]


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("shape", ["hexagon", "disc", "star"])
def test_the_set_passes_whatever_its_cells_look_like(shape: str) -> None:
    for body, piece in zip(bodies(shape), STARS.pieces, strict=True):
        one = pegged(body)
        assert one is not None
        part = one.plate
        assert part.outline is not None
        assert is_image(STARS.lattice, piece, part.outline.cells, flips=False)
        assert len(one.pegs) == len(part.outline.cells)
        assert one.height_mm == pytest.approx(2.0, abs=1e-4)
        assert part.thickness_mm == pytest.approx(7.0, abs=1e-4)
        assert part.outline.unit_mm == pytest.approx(20.0, abs=1e-3)
        for peg in one.pegs:
            assert peg.diameter_mm == pytest.approx(10.0, abs=0.02)
    report = check(
        Scanner(bodies(shape), STARS).scan(20.0), load_profile((), [f"cell.shape={shape}"])
    )
    failed = [f"{part.key}: {f.rule}: {f.message}" for part in report.parts for f in part.failed]
    assert not failed
    assert report.ok
    json_text(report.document())


def indigo() -> tuple[Mesh, PeggedPart]:
    """Three cells in a row, straight on the lattice."""
    body = printed_mesh("iqstars", "indigo", Order((), ("cell.shape=hexagon",)))
    one = pegged(body)
    assert one is not None
    return one.whole.aligned, one


def test_faults_of_pegs_are_reported_by_their_rules() -> None:
    straight, one = indigo()
    whole, first = straight.manifold, one.pegs[0]
    at = (first.x_mm, first.y_mm, 0.0)
    without = whole - cylinder(*at[:2], 16.0, 0.0, 2.0)
    for made, rules in (
        (whole, set()),
        (without, {"peg-count", "peg-place"}),
        (without + cylinder(*at[:2], 9.6, 0.0, 2.1), {"peg-diameter"}),
        (without + cylinder(at[0] + 0.3, at[1], 10.0, 0.0, 2.1), {"peg-place"}),
        (whole.trim_by_plane((0.0, 0.0, 1.0), 0.5), {"peg-height"}),
        (whole.trim_by_plane((0.0, 0.0, 1.0), 2.0), {"peg-count"}),
    ):
        read = pegged(body_of_solid(made))
        findings = list(peg_findings(read, STARS.lattice, load_profile()))
        assert {finding.rule for finding in findings if not finding.ok} == rules


def test_a_piece_of_one_cell_has_no_direction() -> None:
    straight, one = indigo()
    at = one.pegs[0]
    around = cylinder(at.x_mm, at.y_mm, 19.8, -1.0, 19.0)
    alone = pegged(body_of_solid(straight.manifold ^ around))
    assert alone is not None
    assert alone.plate.outline is not None
    assert len(alone.plate.outline.cells) == 1


@pytest.mark.integration
def test_mirror_images_are_detected() -> None:
    scanned = Scanner([mirrored(body) for body in bodies("disc")], STARS).scan(20.0)
    wrong = {one.piece for one in scanned.parts if not one.as_drawn and one.mirrored}
    # Blue and yellow are each other's mirror image; only the letter shows that they are.
    assert wrong == {"green"}
