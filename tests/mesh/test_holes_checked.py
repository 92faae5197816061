"""Pieces with a hole: right ones keep every rule, and faults at the hole are named by theirs."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from shapely import Polygon

from fabkit.cli import main
from fabkit.drawing.draft import draft_flat_piece
from fabkit.drawing.outline import inset_ring, rings_mm
from fabkit.mesh.finding import Finding
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge
from fabkit.sets.library import load_set
from fabkit.verify.reports import check, verify
from fabkit.verify.scan import Scanner
from tests.support.faults.kits import CLOSED, PLAIN, TWO_FACED, Kit, printed_mesh, side_by_side
from tests.support.faults.planting import Case, Planted, as_it_is
from tests.support.prints import Order
from tests.support.shapes import body_of

#: A piece with a hole, and one that fills the hole, with as little text as a user may write.
SET = (
    'piece = [{{ id = "R", {1} }}, {{ id = "P", {2} }}]\n'
    '[set]\nname = "ring"\ntitle = "A ring and its plug"\nlattice = "{0}"\nmoves = "rotations"\n'
)
PIECES = {
    "square": (
        "outline = [[[0,0],[3,0],[3,3],[0,3]], [[1,1],[2,1],[2,2],[1,2]]]",
        "outline = [[0,0],[1,0],[1,1],[0,1]]",
    ),
    # Acute tips around, and the hole's corners point the other way.
    "quarter-square": (
        "outline = [[[0,0],[6,0],[6,6]], [[3,1],[5,1],[5,3]]]",
        "outline = [[0,0],[2,0],[2,2]]",
    ),
    "hexagon": ("cells = [[0,0],[0,1],[1,1],[2,1],[2,0],[1,-1]]", "cells = [[0,0]]"),
}
#: With little wall asked for beside the recess, so that only the one at the bed is too thin.
LOW_WALL = Order((), ("recess.wall=1.2 mm",))


def written_set(lattice: str, folder: Path) -> Path:
    path = folder / "ring.toml"
    path.write_text(SET.format(lattice, *PIECES[lattice]), encoding="utf-8")
    return path


@lru_cache
def ring_and_plug(lattice: str, order: Order) -> Kit:
    """The two pieces, drawn and printed, with one challenge: the plug in its hole."""
    with TemporaryDirectory() as folder:
        puzzle = load_set(str(written_set(lattice, Path(folder))))
    region = side_by_side(puzzle.lattice, puzzle.pieces)
    assert len(rings_of_cells(puzzle.lattice, region)) == 1
    challenge = Challenge("plugged", region, ("R", "P"), answer="solved")
    puzzle = replace(puzzle, challenges=(challenge,))
    profile = replace(order.profile(), peg_height_mm=0.0)
    drawings = {piece.id: draft_flat_piece(puzzle, piece, profile) for piece in puzzle.pieces}
    bodies = {piece: printed_mesh(one, f"{piece}.stl") for piece, one in drawings.items()}
    return Kit(order, puzzle, profile, drawings, bodies)


def ring(lattice: str = "square", order: Order = PLAIN) -> Case:
    return Case(ring_and_plug(lattice, order), "R", Random(0))


def failed(planted: Planted) -> dict[str, Finding]:
    """The rules that are broken, on all parts and the set; nothing is assembled."""
    report = planted.report(answers=[])
    of_parts = [finding for part in report.parts for finding in part.failed]
    return {one.rule: one for one in (*of_parts, *report.findings) if not one.ok}


def hole_wider(area: Polygon, by_mm: float) -> Polygon:
    """An area with all sides of its one hole moved into the material."""
    outer, hole = rings_mm(area)
    return Polygon(outer, [inset_ring(hole, by_mm)])


# --- right ones -----------------------------------------------------------------------------


@pytest.mark.every(9)
@pytest.mark.parametrize("order", [PLAIN, CLOSED, TWO_FACED], ids=str)
@pytest.mark.parametrize("lattice", [*reversed(PIECES)])
def test_a_right_piece_with_a_hole_keeps_every_rule(lattice: str, order: Order) -> None:
    planted = as_it_is(ring(lattice, order), 0)
    scanned = Scanner(planted.bodies, planted.puzzle).scan(planted.profile.unit_mm)
    assert failed(planted) == {}
    report = check(scanned, planted.profile)
    assert report.ok
    (assembly,) = report.assemblies
    assert (assembly.ok, assembly.overlap_mm3) == (True, 0)
    assert (assembly.min_gap_mm, assembly.max_gap_mm) == pytest.approx((0.2, 0.2), abs=1e-3)
    verified = verify(scanned, planted.profile)
    assert verified.ok
    assert verified.minimum_gap_mm == pytest.approx(0.2, abs=1e-3)


@pytest.mark.integration
def test_a_users_set_with_a_hole_passes_the_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = str(written_set("square", tmp_path)), str(tmp_path / "output")
    for command in ("export-stl", "check", "verify"):
        assert main([command, path, "-q", "-o", output]) == 0, capsys.readouterr()


# --- chamfers -------------------------------------------------------------------------------


@pytest.mark.integration
def test_a_holes_chamfer_is_judged_at_its_limit() -> None:
    case = ring()
    face, foot = case.drawing.face, case.drawing.foot
    for off_mm, wrong in ((-0.055, True), (-0.045, False), (0.045, False), (0.055, True)):
        found = failed(case.rebuilt(face=hole_wider(face, off_mm)))
        assert list(found) == ["top-chamfer"] * wrong
        found = failed(case.rebuilt(foot=hole_wider(foot, off_mm)))
        assert ("foot-chamfer" in found) == wrong


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("low_mm", [0.0, 6.7])
def test_a_skin_over_a_hole_is_found(low_mm: float) -> None:
    """As a brim that was not cut off, or a first layer that was printed without the hole."""
    import trimesh

    case = ring()
    skin = trimesh.creation.box(bounds=((19, 19, low_mm), (41, 41, low_mm + 0.3)))
    mesh = trimesh.Trimesh(case.body.vertices, case.body.faces)
    covered = body_of(trimesh.boolean.union([mesh, skin], engine="manifold"), case.name)
    found = failed(case.planted(covered))
    for rule in ("top-chamfer", "foot-chamfer"):
        assert found[rule].value is None
        assert found[rule].message.endswith("no flat face all around a hole")


# --- the hole itself, and what lies beside it -----------------------------------------------


@pytest.mark.every(2)
@pytest.mark.parametrize(("wider_mm", "rule"), [(0.4, "gap-max"), (-0.15, "gap-min")])
def test_a_hole_of_another_width_is_found(wider_mm: float, rule: str) -> None:
    case = ring()
    assert rule in failed(case.outlined(hole_wider(case.drawing.outline, wider_mm)))


@pytest.mark.integration
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("order", "wall_mm", "wrong"),
    [(PLAIN, 1.9, ["wall"]), (PLAIN, 2.1, []), (LOW_WALL, 1.5, ["bed-wall"])],
    ids=str,
)
def test_the_wall_between_a_recess_and_a_hole_is_measured(
    order: Order, wall_mm: float, wrong: list[str]
) -> None:
    case = ring(order=order)
    (side_mm, _), *_ = rings_mm(case.drawing.outline)[1]
    x_mm = side_mm - case.recess.diameters.widest_mm / 2 - wall_mm
    found = failed(case.with_recess(0, centre_mm=(x_mm, 30.0)))
    assert list(found) == wrong
    beside_mm = {"wall": wall_mm, "bed-wall": wall_mm - 0.5 - 0.4}  # less lead-in and foot chamfer
    for rule in wrong:
        assert found[rule].value == pytest.approx(beside_mm[rule], abs=0.01)


@pytest.mark.integration
@pytest.mark.parametrize(("margin_mm", "wrong"), [(0.6, []), (0.4, ["label-margin"])])
def test_the_room_between_a_letter_and_a_hole_is_measured(
    margin_mm: float, wrong: list[str]
) -> None:
    case = ring()
    hole, letter = Polygon(rings_mm(case.drawing.face)[1]), case.label.front
    away_mm = letter.polygon().bounds[0] - hole.bounds[2]
    assert away_mm > margin_mm  # it lies to the right of the hole
    nearer = letter.moved(margin_mm - away_mm, 0)
    found = failed(case.rebuilt(label=replace(case.label, front=nearer)))
    assert list(found) == wrong
    for rule in wrong:
        assert found[rule].value == pytest.approx(margin_mm, abs=0.02)
