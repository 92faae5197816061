"""Marks of cells on meshes: right ones keep every rule, wrong ones are named and change the
answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabkit.core.progress import no_progress
from fabkit.drawing.draft import FlatDrawing, draft_all, draft_flat_piece
from fabkit.drawing.marks import CellMark
from fabkit.mesh.mesh import Mesh, welded
from fabkit.model.piece import CROSS, DOT, HOLE
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.verify.reports import CheckReport, check
from fabkit.verify.scan import ScannedSet, Scanner
from tests.support.faults.kits import printed_mesh

PEGS = Path(__file__).parents[1] / "sets" / "pegs.toml"
PROFILE = load_profile((), ["recess.fit=none"])


@lru_cache
def pegs() -> PuzzleSet:
    return load_set(str(PEGS))


@lru_cache
def drawings() -> dict[str, FlatDrawing]:
    drafted = draft_all(pegs(), pegs().pieces, PROFILE, draft_flat_piece)
    return {drawing.piece: drawing for drawing in drafted}


@lru_cache
def good_meshes() -> dict[str, Mesh]:
    return {piece: printed_mesh(drawn, f"{piece}.stl") for piece, drawn in drawings().items()}


def with_marks(piece: str, marks: Sequence[CellMark]) -> Mesh:
    return printed_mesh(replace(drawings()[piece], marks=tuple(marks)), f"{piece}.stl")


def scanned(changed: Mapping[str, Mesh], beside: str = "P") -> ScannedSet:
    """Changed pieces, with good ones beside them."""
    meshes = {piece: good_meshes()[piece] for piece in beside} | changed
    return Scanner(list(meshes.values()), pegs()).scan(PROFILE.unit_mm)


def failures(report: CheckReport) -> dict[str, set[str]]:
    return {
        part.name: {finding.rule for finding in part.failed} for part in report.parts if part.failed
    }


def changed_mark(piece: str, which: str, **changes: Any) -> Mesh:
    """The piece with its first mark of a look changed."""
    marks = list(drawings()[piece].marks)
    index = next(index for index, mark in enumerate(marks) if mark.look == which)
    marks[index] = replace(marks[index], **changes)
    return with_marks(piece, marks)


def test_right_marks_are_read_and_nothing_is_wrong() -> None:
    scan = scanned({}, beside="LPVYI")
    counts = {"L": 2, "P": 1, "V": 2, "Y": 3, "I": 2}
    report = check(scan, PROFILE, answers=[])
    assert failures(report) == {}
    rules = {finding.rule for part in report.parts for finding in part.findings}
    names = {"", "-place", "-width", "-stroke", "-depth"}
    assert {f"cell-mark{name}" for name in names} <= rules
    assert {part.piece: len(part.marks) for part in scan.parts} == counts


def moved_hole() -> Mesh:
    return changed_mark("L", HOLE, centre_mm=(30.0, -10.0))


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("piece", "look", "changes", "message"),
    [
        (
            "L",
            HOLE,
            {"centre_mm": (30.0, -10.0)},
            "a hole instead of no mark, no mark instead of a hole",
        ),
        ("L", CROSS, {"low_mm": 0.0, "high_mm": 0.6}, "a cross instead of no mark on the back"),
        ("Y", HOLE, {"look": DOT, "low_mm": 6.4}, "a dot instead of a hole"),
        ("Y", CROSS, {"look": DOT}, "a dot instead of a cross"),
    ],
)
def test_marks_on_the_wrong_cell_or_side_or_with_another_look_are_named(
    piece: str, look: str, changes: dict[str, Any], message: str
) -> None:
    report = check(scanned({piece: changed_mark(piece, look, **changes)}), PROFILE, answers=[])
    assert failures(report) == {f"{piece}.stl": {"cell-mark"}}
    assert message in only_failure(report)


def only_failure(report: CheckReport) -> str:
    (finding,) = [finding for part in report.parts for finding in part.failed]
    return finding.message


def test_missing_marks_are_named() -> None:
    bare = with_marks("L", drawings()["L"].marks[1:])
    report = check(scanned({"L": bare}), PROFILE, answers=[])
    assert failures(report) == {"L.stl": {"cell-mark"}}
    assert "no mark instead of a " in only_failure(report)


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("rule", "look", "key"),
    [
        ("width", HOLE, "width_mm"),
        ("width", CROSS, "width_mm"),
        ("stroke", CROSS, "stroke_mm"),
        ("depth", CROSS, "low_mm"),
    ],
)
def test_sizes_are_held_to_their_tolerance(rule: str, look: str, key: str) -> None:
    drawn = next(mark for mark in drawings()["Y"].marks if mark.look == look)
    for off_mm, names in (
        (0.06, {f"cell-mark-{rule}"}),
        (-0.06, {f"cell-mark-{rule}"}),
        (0.04, None),
    ):
        mesh = changed_mark("Y", look, **{key: getattr(drawn, key) + off_mm})
        report = check(scanned({"Y": mesh}), PROFILE, answers=[])
        assert failures(report) == ({"Y.stl": names} if names else {})


@pytest.mark.integration
def test_a_hole_off_the_middle_of_its_cell_is_named() -> None:
    hole = next(mark for mark in drawings()["Y"].marks if mark.look == HOLE)
    x_mm, y_mm = hole.centre_mm
    for off_mm, names in (
        (0.06, {"cell-mark-place"}),
        (0.04, None),
        (4.0, {"cell-mark", "cut-through"}),
    ):
        mesh = changed_mark("Y", HOLE, centre_mm=(x_mm + off_mm, y_mm))
        report = check(scanned({"Y": mesh}), PROFILE, answers=[])
        assert failures(report) == ({"Y.stl": names} if names else {})


def test_the_catalog_is_solved_with_the_marks_as_scanned() -> None:
    """With a hole on another cell, pegs no longer fit; a turned mesh alone changes nothing."""
    turned = moved(good_meshes()["L"])
    results = scanned({"L": turned}, beside="PVYI").solve_and_assemble(PROFILE, None, no_progress)
    assert {result.message for result in results} == {"solved"}
    results = scanned({"L": moved_hole()}, beside="PVYI").solve_and_assemble(
        PROFILE, None, no_progress
    )
    messages = {result.challenge.id: result.message for result in results}
    assert messages["two-pegs-1"] == "impossible, but the catalog says solved"
    assert messages["three-pegs"] == "solved"


def moved(mesh: Mesh) -> Mesh:
    """A mesh turned by a third of a turn, elsewhere."""
    rotation = np.array([[-0.5, -math.sqrt(0.75), 0], [math.sqrt(0.75), -0.5, 0], [0, 0, 1.0]])
    return welded(mesh.name, mesh.vertices @ rotation.T + [70.0, 5.0, 0.0], mesh.faces)
