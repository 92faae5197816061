"""Boards in parts: recognised among meshes, assembled, and judged; faults planted one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from fabkit.core.progress import no_progress
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.boards.parts import printed_parts
from fabkit.drawing.draft import draft_printable
from fabkit.mesh.finding import Finding
from fabkit.mesh.mesh import Mesh
from fabkit.profiles.accessory import Accessory
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from fabkit.verify.scan import ScannedSet, Scanner
from tests.support.ballmeshes import body_of_solid, thrown
from tests.support.faults.kits import written

#: IQ Block with a smaller tray, called square all the same.
IQBLOCK = load_set("iqblock")
IQBLOCK = replace(
    IQBLOCK,
    boards=(replace(IQBLOCK.boards[0], cells=frozenset(product((1, 3, 5, 7), (-1, -3, -5)))),),
)
#: On this bed the tray comes in four parts, its lid in two.
SMALL_BED = "printer.bed_width=80 mm", "printer.bed_depth=80 mm", "board.title=0 mm"


@cache
def made(*settings: str) -> dict[str, Mesh]:
    """The tray and its lid in their parts."""
    from fabkit.solid.builder import build_solid

    profile = load_profile((), (*SMALL_BED, *settings), IQBLOCK.profile_values)
    parts = {}
    for part in printed_parts(IQBLOCK, profile):
        if isinstance(part, Accessory):
            drawing = draft_printable(IQBLOCK, part, profile)
            assert isinstance(drawing, BoardDrawing)
            parts[part.id] = replace(written(build_solid(drawing)), name=f"{part.id}.stl")
    return parts


def scanned(meshes: dict[str, Mesh]) -> tuple[ScannedSet, dict[str, Finding]]:
    """The scan of meshes, and what is wrong with them, by rule."""
    profile = load_profile((), SMALL_BED, IQBLOCK.profile_values)
    scan = Scanner(list(meshes.values()), IQBLOCK, profiles=[profile]).scan(20.0)
    parts = scan.inspect(profile, no_progress)
    wrong = [finding for part in parts for finding in part.findings if not finding.ok]
    return scan, {finding.rule: finding for finding in wrong}


def meshes(*settings: str) -> dict[str, Mesh]:
    """The meshes of all parts, each lying in its own way."""
    parts = made(*settings)
    return {name: thrown(parts[name], seed) for seed, name in enumerate(parts)}


@pytest.mark.integration
def test_parts_are_assembled_however_they_lie() -> None:
    scan, wrong = scanned(meshes())
    assert [(board.key, len(board.part.parts)) for board in scan.boards] == [
        ("square", 4),
        ("square-lid", 2),
    ]
    assert scan.parts == ()
    assert {rule: finding.message for rule, finding in wrong.items()} == {}


@pytest.mark.integration
@pytest.mark.parametrize(("joint", "gap_mm"), [("0.06 mm", 0.12), ("0.2 mm", 0.4)])
def test_a_joint_is_measured(joint: str, gap_mm: float) -> None:
    _, wrong = scanned(meshes(f"board.joint={joint}"))
    assert wrong["joint-gap"].value == pytest.approx(gap_mm, abs=0.01)


@pytest.mark.integration
def test_faults_of_joints_are_named() -> None:
    from manifold3d import Manifold

    part = made()["square-a"].manifold
    # At the end of the dovetail that protrudes most.
    x_mm, y_mm = max(point for ring in part.slice(1.0).to_polygons() for point in ring.tolist())
    rib = Manifold.cube((0.6, 2.0, 1.0)).translate((x_mm - 0.3, y_mm - 2.0, 0.5))
    _, wrong = scanned(meshes() | {"square-a": body_of_solid(part + rib, "square-a.stl")})
    assert {"joint-overlap", "joint-gap"} <= wrong.keys()


def test_a_missing_part_is_named() -> None:
    some = meshes()
    del some["square-c"]
    _, wrong = scanned(some)
    assert "its part square-c is missing" in wrong["board-read"].message
