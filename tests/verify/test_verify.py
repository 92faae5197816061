"""The loop closed: meshes solve the catalog, and solutions are assembled from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from operator import xor
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from shapely import Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.cli import main
from fabkit.mesh.features import Features, find_features
from fabkit.mesh.fitting.assembly import Assembly, assemble
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import Part
from fabkit.mesh.placement import flat_piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile_file import load_profile, preset_names
from fabkit.sets.library import load_set
from fabkit.verify.reports import VerifyReport, check, verify
from fabkit.verify.scan import Scanner, match_profile
from tests.support import analytic, foreign
from tests.support.ballmeshes import mirrored
from tests.support.faults.kits import PLAIN, TWO_FACED, kit
from tests.support.prints import Order
from tests.support.scans import bodies, scanned

PRESETS = preset_names()
IMPOSSIBLE = {"rectangle_02_b", "rectangle_08_c"}


def order(preset: str) -> Order:
    return Order(() if preset == "default" else (preset,))


@lru_cache
def verified(set_name: str, how: Order) -> VerifyReport:
    return verify(scanned(set_name, how), how.profile())


@pytest.mark.integration
@pytest.mark.parametrize(
    "preset",
    [pytest.param(one, marks=[pytest.mark.long] if one != "default" else []) for one in PRESETS],
)
def test_fridgeiq_solves_its_catalog_and_goes_together(preset: str) -> None:
    report, profile = verified("fridgeiq", order(preset)), load_profile([preset])
    assert report.ok
    assert len(report.challenges) == 41
    assert {o.challenge.id for o in report.challenges if o.status == "impossible"} == IMPOSSIBLE
    assert report.minimum_gap_mm == pytest.approx(2 * profile.inset_mm, abs=5e-4)
    assert report.flips
    assert report.flips.possible == (profile.faces == "both")
    assert_solutions_fill_their_regions(report)
    assemblies = [one.assembly for one in report.challenges if one.assembly]
    assert len(assemblies) == 39
    for one in assemblies:
        assert (one.ok, one.messages, one.overlap_mm3, one.outside_mm) == (True, (), 0, 0)
        for gap_mm in (one.min_gap_mm, one.max_gap_mm):
            assert gap_mm == pytest.approx(2 * profile.inset_mm, abs=2e-3)


def assert_solutions_fill_their_regions(report: VerifyReport) -> None:
    """The JSON's outlines, united by shapely, against the outlines of the set's file."""
    document = report.document()
    areas = {one.id: one.outline.area for one in analytic.drawings("fridgeiq")}
    for one, challenge in zip(document["challenges"], load_set("fridgeiq").challenges, strict=True):
        shapes = {piece: area(rings) for piece, rings in one["solution"].items()}
        if not shapes:
            assert one["challenge"] in IMPOSSIBLE
            continue
        assert set(shapes) == set(challenge.pieces)
        assert all(shape.area == pytest.approx(areas[piece]) for piece, shape in shapes.items())
        filled = [union_all([*shapes.values()]).area, sum(one.area for one in shapes.values())]
        assert filled == pytest.approx([len(challenge.region) / 4] * 2)


def area(rings: Sequence[Sequence[Sequence[float]]]) -> BaseGeometry:
    return reduce(xor, map(Polygon, rings))


# --- a few pieces and one challenge -----------------------------------------------------------


def part_of_set(challenges: Sequence[str], pieces: str = "") -> PuzzleSet:
    """FridgeIQ with some challenges, and with some pieces or those of the first."""
    whole = load_set("fridgeiq")
    wanted = tuple(one for one in whole.challenges if one.id in challenges)
    kept = tuple(one for one in whole.pieces if one.id in (pieces or wanted[0].pieces))
    return replace(whole, pieces=kept, challenges=wanted)


@lru_cache
def some(how: Order, challenge: str, mirror: str = "") -> VerifyReport:
    """The report on the pieces of one challenge, one of them mirrored."""
    puzzle = part_of_set([challenge])
    prints = bodies("fridgeiq", how, "".join(one.id for one in puzzle.pieces))
    prints_shown = [mirrored(one) if one.name[0] == mirror else one for one in prints]
    return verify(Scanner(prints_shown, puzzle).scan(20.0), how.profile())


@pytest.mark.integration
def test_turning_pieces_over_is_reported_if_both_faces_are_alike() -> None:
    """With flips the impossible rectangle can be solved; the box says what it says."""
    found = some(TWO_FACED, "rectangle_02_b").flips
    assert found
    assert (found.possible, found.newly_solved) == (True, ["rectangle_02_b"])


@pytest.mark.integration
@pytest.mark.parametrize(
    ("piece", "challenge", "solved"),
    [("U", "triangle_04", False), ("N", "rectangle_07_a", True)],
)
def test_a_mirrored_piece_is_another_piece(piece: str, challenge: str, solved: bool) -> None:
    """Whether a challenge notices it or not, that the piece is not as drawn is reported."""
    report = some(PLAIN, challenge, mirror=piece)
    (one,) = report.challenges
    assert (one.status == "solved") == solved
    assert report.ok == one.ok == (solved != (challenge in IMPOSSIBLE))
    drawn = {key: one["as_drawn"] for key, one in report.document()["pieces"].items()}
    assert [key for key, as_drawn in drawn.items() if not as_drawn] == [piece]


def recognised(how: Order, pieces: str) -> str:
    made = kit(how, pieces, solved=False)
    found = Scanner([*made.bodies.values()], made.puzzle).scan(made.profile.unit_mm)
    return getattr(match_profile(found, [load_profile([name]) for name in PRESETS]), "name", "")


@pytest.mark.every(4)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_profile_is_recognised_on_its_meshes(preset: str) -> None:
    assert recognised(order(preset), "LM") == preset


def test_a_profile_that_does_not_fit_is_not_recognised() -> None:
    for setting in ("inset=0.2 mm", "thickness=7.2 mm", "recess.fit=glue"):
        assert recognised(Order((), (setting,)), "M") == "", setting


def test_a_mesh_is_measured_once_whatever_units_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def counted(part: Part) -> Features:
        measured.append(part.name)
        return find_features(part)

    monkeypatch.setattr("fabkit.verify.scan.find_features", counted)
    made = kit(order("default"), "LM", solved=False)
    scanner = Scanner([*made.bodies.values()], made.puzzle)
    scans = [scanner.scan(*units_mm) for units_mm in ((15.0,), (20.0, 15.0), (20.0,))]
    assert [scan.agrees_with(20.0) for scan in scans] == [True] * 3
    assert sorted(measured) == ["L.stl", "M.stl"]


# --- nothing counts but the meshes: not the order, names or places of files, nor the drawings ---


def results(prints: Sequence[Mesh], puzzle: PuzzleSet, how: Order) -> tuple[Any, Any]:
    """What `check` says, and the answers to the challenges."""
    report = check(Scanner(prints, puzzle).scan(20.0), how.profile(), 60.0)
    return report.document(), [(o.challenge.id, o.status, o.missing) for o in report.answers]


def apart(document: Any) -> tuple[Any, list[float]]:
    """A document without its numbers and what names files, and its numbers."""
    numbers: list[float] = []
    rest = json.loads(
        json.dumps(document),
        parse_float=lambda text: numbers.append(float(text)),
        object_hook=lambda one: {key: one[key] for key in one.keys() - {"file", "message"}},
    )
    return rest, numbers


@pytest.mark.integration
@pytest.mark.parametrize("preset", ["default", pytest.param("flippable", marks=pytest.mark.long)])
def test_only_the_meshes_count(preset: str) -> None:
    import trimesh

    how, pieces, chance = order(preset), "AIJMNQRSTDY", Random(7)
    puzzle = part_of_set(("square_01", "triangle_01", "rectangle_02_b"), pieces)
    good = bodies("fridgeiq", how, pieces)
    document, answers = results(good, puzzle, how)
    assert (document["ok"], len(answers)) == (True, 3)

    # Shuffled, renamed, turned about z, moved, and in single precision again.
    turned = [
        foreign.shell(
            trimesh.Trimesh(one.vertices, one.faces, process=False),
            foreign.Stand(turn=chance.uniform(0, 360), origin=(31.7, -12.4, 0.0)),
            f"{number}.stl",
        )
        for number, one in enumerate(chance.sample(good, len(good)))
    ]
    other, others = results(turned, puzzle, how)
    (rest, numbers), (same, near) = apart(document), apart(other)
    assert (same, others) == (rest, answers)
    assert near == pytest.approx(numbers, abs=0.002)

    # With other drawings: the letters say which piece is which, the meshes what it looks like.
    whole, other_forms = load_set("fridgeiq"), {"A": "N", "N": "A", "M": "U", "I": "L"}
    drawn = (
        replace(one, forms=whole.piece(other_forms.get(one.id, one.id)).forms)
        for one in puzzle.pieces
    )
    other, others = results(good, replace(puzzle, pieces=tuple(drawn)), how)
    assert others == answers
    unlike = {
        key
        for key, part in other["pieces"].items()
        if [one["rule"] for one in part["findings"] if not one["ok"]] == ["shape"]
    }
    assert unlike == {"A", "N", "M", "I"}
    # No measured value differs; how a letter must stand is given by a drawing that fits.
    assert other["assemblies"] == document["assemblies"]
    for key, part in document["pieces"].items():
        before, now = (
            {one["rule"]: one["value"] for one in found["findings"] if one["rule"] != "label-turn"}
            for found in (part, other["pieces"][key])
        )
        assert now == before, key


# --- assembled: against shapely's distances, and with planted shifts ------------------------


def with_shifted(*shifts: tuple[float, float], degrees: float = 0.0) -> list[Assembly]:
    """FridgeIQ's square with one piece beside its place, or turned about its middle."""
    import trimesh

    (one,) = some(PLAIN, "square_02").challenges
    found = scanned("fridgeiq", PLAIN, "".join(one.challenge.pieces))
    parts, assemblies = found.pieces(), []
    corners = parts["N"].vertices
    middle_mm, angle = corners.mean(axis=0), np.radians(degrees)
    turn = trimesh.transformations.rotation_matrix(angle, (0, 0, 1))[:3, :3]
    for shift in shifts:
        there = (corners - middle_mm) @ turn.T + middle_mm + (*shift, 0.0)
        moved = {**parts, "N": replace(parts["N"], vertices=there)}
        sides = {k: [flat_piece(k, part, found.puzzle.lattice)] for k, part in moved.items()}
        assemblies.append(assemble(one.challenge, one.layout, PLAIN.profile(), (sides, None)))
    return assemblies


@pytest.mark.integration
def test_a_shifted_part_overlaps_as_much_as_it_must() -> None:
    """A part 0.7 mm beside its place overlaps neighbours by 0.5 mm, and leaves gaps of 0.9."""
    for result in with_shifted((0.7, 0.0), (-0.7, 0.0), (0.0, 0.7), (0.0, -0.7)):
        assert all("N" in message.split() for message in result.messages)
        complaints = " ".join(result.messages)
        out, over = (words in complaints for words in ("out of the region", "overlap by"))
        assert (result.ok, out or over, out) == (False, True, result.outside_mm > 0.1)
        assert not over or (result.overlap_mm3 > 1 and result.min_gap_mm == 0)


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("shift_mm", "near", "wide"),
    [(0.09, False, False), (0.11, True, False), (0.29, True, False), (0.31, True, True)],
)
def test_gaps_are_kept_to_their_limits(shift_mm: float, near: bool, wide: bool) -> None:
    """Neighbours lie 0.2 mm apart; the least gap is 0.1 mm, the greatest along an edge 0.5."""
    found = with_shifted((shift_mm, 0.0), (0.0, -shift_mm))
    complaints = [message for result in found for message in result.messages]
    assert all(result.ok for result in found) == (not near)
    assert any("along an edge" in message for message in complaints) == wide
    if shift_mm == 0.11:
        assert any("leave a gap of 0.090 mm" in message for message in complaints)
        assert not any("overlap" in message for message in complaints)


def test_a_turned_part_leaves_a_wedge() -> None:
    """Along each edge the gap is near at one end, and too wide at the other."""
    (result,) = with_shifted((0.0, 0.0), degrees=3)
    assert any("along an edge" in message for message in result.messages)
    assert result.overlap_mm3 > 1


UNFILLABLE = """
set = { name = "bars", lattice = "square", moves = "rotations", unit = "20 mm" }
piece = [{ id = "A", cells = [[0, 0], [0, 1]] }, { id = "B", cells = [[0, 0], [0, 1]] }]
board = [{ id = "tee", cells = [[0, 1], [1, 0], [1, 1], [1, 2]] }]
"""
STATED = '[[challenge]]\nid = "tee"\nboard = "tee"\nanswer = "impossible"\n'


@pytest.mark.in_turn
@pytest.mark.parametrize(("stated", "code"), [("", 1), (STATED, 0)])
def test_what_cannot_be_solved_fails_unless_the_set_says_so(
    stated: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bars.toml").write_text(UNFILLABLE + stated)
    made = ["bars.toml", "-o", "out"]
    assert main(["export-stl", *made, "-q"]) == 0
    capsys.readouterr()
    assert main(["verify", *made]) == code
    output = capsys.readouterr().out
    told = (
        "impossible, also with the pieces as drawn; if that is right, state a challenge with answer"
    )
    assert (told in output) == bool(code), output
    document = json.loads(Path("out/verify.json").read_text())
    assert document["ok"] == (not code)
    (challenge,) = document["challenges"]
    assert (challenge["status"], challenge["ok"]) == ("impossible", not code)
    assert challenge["expected"] == ("solved" if code else "impossible")
