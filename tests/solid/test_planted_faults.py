"""The checks can fail: the gauges measure known shapes, and planted faults are reported."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import trimesh
from shapely import LineString, Point, Polygon, affinity, box

from fabkit.drawing.magnets import Bores
from fabkit.drawing.outline import chamfered
from fabkit.solid.pieces import Workshop
from tests.support import analytic, measure
from tests.support.checks import (
    Complaints,
    check_letters,
    check_levels,
    check_magnet,
    check_mouths,
    check_outline,
    check_recesses,
    check_shells,
    check_volume,
    check_walls,
)
from tests.support.prints import Order, Print, print_one, print_set


def wheel(root_mm: float, crest_mm: float, ribs: int, turn: float = 0.0) -> Polygon:
    """A bore with ribs, each taking a third of its share of the circle."""
    angles = np.linspace(0, 2 * math.pi, 90 * ribs, endpoint=False) + turn
    on_rib = (np.arange(90 * ribs) % 90) < 30
    radii = np.where(on_rib, crest_mm, root_mm) / 2
    return Polygon(np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]))


def test_ribs_are_counted_and_measured() -> None:
    for count in (7, 8, 9):
        ribs = measure.ribs_of(affinity.translate(wheel(10.5, 9.9, count, turn=0.3), 5, 7))
        assert ribs.count == count
        assert ribs.root.diameter_mm == pytest.approx(10.5)
        assert ribs.crest.diameter_mm == pytest.approx(9.9)
        assert (ribs.crest.x_mm, ribs.crest.y_mm) == pytest.approx((5, 7), abs=1e-3)
        width_mm = 10.5 * math.sin(math.pi * 31 / 90 / count)
        assert ribs.width_mm == pytest.approx(width_mm, abs=1e-6)


def test_a_circle_that_is_none_is_told() -> None:
    square = measure.fit_circle([(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)])
    assert square.off_mm > 0.1


@pytest.mark.parametrize("width_mm", [0.3, 0.7, 0.79, 0.81, 1.0])
def test_strokes_are_measured_whatever_their_shape(width_mm: float) -> None:
    bent = LineString([(0, 0), (0, 5), (4, 5), (2, 0)])
    ring = Point(0, 0).buffer(3, quad_segs=64)
    joined = box(-3, -3, 0, 3).union(box(3, -3, 6, 3)).union(box(0, 0, 3, width_mm))
    for shape in (
        box(0, 0, 5, width_mm),
        bent.buffer(width_mm / 2, cap_style="flat", join_style="mitre"),
        ring.difference(Point(0, 0).buffer(3 - width_mm, quad_segs=64)),
        joined,
    ):
        found_mm = measure.thinnest_stroke_mm(affinity.rotate(shape, 17), 0.8)
        assert found_mm == pytest.approx(width_mm, abs=0.01)


def test_mirror_images_are_told_apart() -> None:
    drawn = {one.id: one.outline for one in analytic.drawings("fridgeiq")}
    differences = {piece: measure.difference_from_mirror_mm2(drawn[piece]) for piece in "DBULN"}
    assert all(differences[piece] < 1e-9 for piece in "DB")
    assert all(differences[piece] > 0.1 * drawn[piece].area for piece in "LN")


def test_points_inside_outside_and_in_a_cavity_are_told_apart() -> None:
    cube, cavity = trimesh.creation.box((4, 4, 4)), trimesh.creation.box((2, 2, 2))
    cavity.invert()
    both = trimesh.util.concatenate([cube, cavity])
    points = np.array([[0.1, 0.2, 0.3], [1.5, 0.2, 0.3], [2.5, 0.2, 0.3]])
    assert measure.winding_numbers(cube, points) == pytest.approx([1, 1, 0])
    assert measure.winding_numbers(both, points) == pytest.approx([0, 1, 0])
    assert [round(shell.volume, 6) for shell in measure.shells(both)] == [64, -8]


def test_a_mesh_with_a_gap_has_no_section() -> None:
    cube = trimesh.creation.box((2, 2, 2))
    assert measure.section(cube, 0.1).area == pytest.approx(4)
    upright = np.flatnonzero(np.abs(cube.face_normals[:, 2]) < 0.5)
    cube.update_faces(np.arange(len(cube.faces)) != upright[0])
    assert not measure.is_closed(cube)
    with pytest.raises(measure.MeshError, match="does not close"):
        measure.section(cube, 0.1)


# --- on prints with planted faults ----------------------------------------------------------

PLAIN, RIBBED = Order(), Order((), ("recess.fit=ribs",))
CLOSED, TWO_FACED = Order((), ("recess.fit=embedded",)), Order(("flippable",))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Order], Print]:
    """Gives the print of one piece."""

    @lru_cache
    def prints(order: Order) -> dict[str, Print]:
        printed = print_set("fridgeiq", order, tmp_path_factory.mktemp("good"))
        return {one.drawing.id: one for one in printed}

    return lambda piece, order: prints(order)[piece]


def rebuilt(one: Print, path: Path, **changes: object) -> Print:
    """The print of a changed blueprint, still held against the right one."""
    mesh = print_one(Workshop(), replace(one.blueprint, **changes), path)
    return replace(one, mesh=mesh)


def with_recess(one: Print, path: Path, move_mm: float = 0.0, **changes: object) -> Print:
    first, *others = one.blueprint.recesses
    x, y = first.centre_mm
    changed = replace(first, centre_mm=(x, y - move_mm), **changes)
    return rebuilt(one, path, recesses=(changed, *others))


def with_bores(one: Print, path: Path, wider_mm: float = 0.0, higher_mm: float = 0.0) -> Print:
    bores = one.blueprint.recesses[0].bores
    crest = None if bores.crest_mm is None else bores.crest_mm + higher_mm
    return with_recess(one, path, bores=Bores(bores.widest_mm + wider_mm, crest))


def with_label(one: Print, path: Path, back: bool = False, **changes: object) -> Print:
    """``moved``, ``scale`` and ``mirrored`` change the letter; other changes go to the label."""
    label = one.blueprint.label
    assert label is not None
    x, y = label.centre_mm
    moved = changes.pop("moved", 0.0)
    how = {"scale": changes.pop("scale", 1.0), "mirrored": changes.pop("mirrored", False)}
    side = label.back if back else label.front
    letter = side.moved(-x, -y).moved(x + moved, y, **how)
    return rebuilt(
        one, path, label=replace(label, **{"back" if back else "front": letter}, **changes)
    )


def with_mesh(one: Print, change: Callable[[trimesh.Trimesh], object]) -> Print:
    mesh = one.mesh.copy()
    change(mesh)
    return replace(one, mesh=mesh)


def scaled(one: Print, _: Path, **factor: float) -> Print:
    axes = [factor.get(axis, 1.0) for axis in "xyz"]
    return with_mesh(one, lambda mesh: mesh.apply_scale(axes))


def mirrored(one: Print, _: Path) -> Print:
    middle = one.mesh.bounds.mean(axis=0)[0]

    def mirror(mesh: trimesh.Trimesh) -> None:
        mesh.vertices[:, 0] = 2 * middle - mesh.vertices[:, 0]
        mesh.invert()

    return with_mesh(one, mirror)


def without_a_triangle(one: Print, _: Path) -> Print:
    return with_mesh(one, lambda mesh: mesh.update_faces(np.arange(len(mesh.faces)) != 7))


def with_a_triangle_turned(one: Print, _: Path) -> Print:
    def turn(mesh: trimesh.Trimesh) -> None:
        mesh.faces[7] = mesh.faces[7][::-1]

    return with_mesh(one, turn)


def inside_out(one: Print, _: Path) -> Print:
    return with_mesh(one, lambda mesh: mesh.invert())


def with_cavity(one: Print, _: Path, at: Sequence[float], outward: bool = False) -> Print:
    """An additional shell, a small cube."""
    x, y = one.outline.representative_point().coords[0]
    cube = trimesh.creation.box((0.4, 0.4, 0.4))
    cube.apply_translation((x + at[0], y + at[1], at[2]))
    if not outward:
        cube.invert()
    return replace(one, mesh=trimesh.util.concatenate([one.mesh, cube]))


FAULTS: list[tuple[str, Order, Callable[..., Print], dict[str, object], Sequence[object]]] = [
    ("D", PLAIN, without_a_triangle, {}, [check_shells]),
    ("D", PLAIN, with_a_triangle_turned, {}, [check_shells]),
    ("D", PLAIN, inside_out, {}, [check_shells, check_volume]),
    ("D", PLAIN, with_cavity, {"at": (0, 0, 5)}, [check_shells]),
    ("D", PLAIN, with_cavity, {"at": (0, 50, 5), "outward": True}, [check_shells, check_outline]),
    ("D", CLOSED, with_cavity, {"at": (0, 0, 5)}, [check_shells, check_magnet]),
    ("D", PLAIN, scaled, {"x": 1.0005}, [check_volume, check_outline]),
    ("D", PLAIN, scaled, {"z": 1.0003}, [check_volume, check_levels]),
    ("L", PLAIN, mirrored, {}, [check_outline]),
    ("N", PLAIN, mirrored, {}, [check_outline]),
    ("D", PLAIN, with_recess, {"move_mm": 0.1}, [check_recesses, check_walls]),
    ("D", CLOSED, with_recess, {"move_mm": 0.1}, [check_recesses, check_walls]),
    ("D", CLOSED, with_recess, {"low_mm": 0.4}, [check_shells, check_levels, check_magnet]),
    ("D", PLAIN, with_recess, {"high_mm": 3.0}, [check_volume, check_levels, check_magnet]),
    ("D", PLAIN, with_recess, {"high_mm": 3.4}, [check_volume, check_levels, check_magnet]),
    ("D", PLAIN, with_recess, {"high_mm": 3.15}, [check_levels, check_magnet]),
    ("D", PLAIN, with_recess, {"mouth_mm": 0.45}, [check_mouths, check_levels]),
    ("D", PLAIN, with_recess, {"mouth_mm": 1.0}, [check_mouths, check_walls]),
    ("D", RIBBED, with_recess, {"rib_width_mm": 0.85}, [check_recesses]),
    ("D", PLAIN, with_bores, {"wider_mm": 0.03}, [check_recesses, check_mouths, check_volume]),
    ("D", RIBBED, with_bores, {"wider_mm": 0.03}, [check_recesses, check_mouths]),
    ("D", RIBBED, with_bores, {"higher_mm": -0.03}, [check_recesses]),
    ("L", PLAIN, rebuilt, {"recesses": ()}, [check_volume, check_recesses, check_magnet]),
    ("D", PLAIN, rebuilt, {"label": None}, [check_volume, check_levels]),
    ("D", PLAIN, with_label, {"depth_mm": 0.59}, [check_levels]),
    ("D", PLAIN, with_label, {"moved": 7.0}, [check_letters]),
    ("J", PLAIN, with_label, {"mirrored": True}, [check_letters]),
    ("J", PLAIN, with_label, {"scale": 1.01}, [check_letters]),
    ("J", TWO_FACED, with_label, {"back": True, "mirrored": True}, [check_letters]),
]


@pytest.mark.every(2)
@pytest.mark.parametrize(("piece", "order", "fault", "how", "checks"), FAULTS)
def test_planted_faults_are_reported(
    piece: str,
    order: Order,
    fault: Callable[..., Print],
    how: dict[str, object],
    checks: Sequence[Callable[[Print], Complaints]],
    good: Callable[[str, Order], Print],
    tmp_path: Path,
) -> None:
    one = good(piece, order)
    assert [wrong for check in checks for wrong in check(one)] == []
    faulty = fault(one, tmp_path / "faulty.stl", **how)
    for check in checks:
        assert list(check(faulty)), f"{check.__name__} saw nothing"


def test_a_chamfer_of_another_width_is_reported(
    good: Callable[[str, Order], Print], tmp_path: Path
) -> None:
    one = good("D", PLAIN)
    face = chamfered(one.blueprint.outline, 0.55)
    faulty = rebuilt(one, tmp_path / "faulty.stl", face=face)
    assert list(check_outline(faulty))
    assert list(check_levels(faulty))


def test_a_letter_with_thin_strokes_is_reported(
    good: Callable[[str, Order], Print], tmp_path: Path
) -> None:
    faulty = with_label(good("A", PLAIN), tmp_path / "faulty.stl", scale=0.65)
    assert any(complaint.startswith("a stroke of 0.7") for complaint in check_letters(faulty))
