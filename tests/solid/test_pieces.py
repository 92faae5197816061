"""Pieces, measured on the meshes that would be printed; and planted faults, which are reported."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import trimesh

from fabkit.core.errors import InputError
from fabkit.core.units import format_mm
from fabkit.drawing.draft import draft_all
from fabkit.drawing.magnets import Bores
from fabkit.drawing.outline import chamfered, largest_chamfer_mm
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.solid.pieces import Workshop
from tests.support import analytic, measure
from tests.support.checks import (
    CHECKS,
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
    complaints,
    roofs,
)
from tests.support.prints import (
    LONG_PIECES,
    NO_STUBS,
    ORDERS_TO_PRINT,
    Order,
    Print,
    print_one,
    print_set,
)


@pytest.mark.parametrize(("order", "pieces"), ORDERS_TO_PRINT)
def test_fridgeiq_passes(order: Order, pieces: str, tmp_path: Path) -> None:
    prints = print_set("fridgeiq", order, tmp_path, pieces)
    assert [wrong for check in CHECKS for wrong in complaints(prints, check)] == []
    for one in prints:
        if one.profile.has_recesses:
            assert len(roofs(one)) == (2 if one.drawing.id in LONG_PIECES else 1)
        if one.drawing.id in "LN":  # handed: printed as drawn
            z_mm = one.profile.thickness_mm - one.profile.top_chamfer_mm - 0.013
            drawn = measure.filled(one.section(z_mm))
            assert measure.difference_from_mirror_mm2(drawn) > 0.1 * drawn.area
            assert measure.difference_mm2(drawn, one.outline) < 0.005


@pytest.mark.integration
@pytest.mark.parametrize("set_name", ["cubimagici", "iqblock", "iqstars"])
def test_other_sets_pass(set_name: str, tmp_path: Path) -> None:
    preset = "compact" if set_name == "iqblock" else "default"
    prints = print_set(set_name, Order((preset,), (NO_STUBS,)), tmp_path)
    assert len(prints) == len(load_set(set_name).pieces)
    assert [wrong for check in CHECKS for wrong in complaints(prints, check)] == []


@pytest.mark.parametrize(
    ("key", "flat_mm"),
    [("top_chamfer", 1.2), pytest.param("foot_chamfer", 0.8, marks=pytest.mark.long)],
)
def test_the_largest_chamfer_builds_and_a_larger_one_is_refused(
    key: str, flat_mm: float, tmp_path: Path
) -> None:
    flat = (f"tip_flat={flat_mm} mm", "top_chamfer=0.1 mm", "foot_chamfer=0.1 mm")
    # A flat across a 45-degree tip has two angles of 112.5 degrees; a chamfer of 1 takes
    # cot(56.25 degrees) off either end, and a hundredth of the flat has to stay.
    limit_mm = 0.99 * flat_mm / (2 / math.tan(math.radians(56.25)))
    small = load_profile((), flat)
    outlines = [analytic.printed(one.outline, small) for one in analytic.drawings("fridgeiq")]
    assert min(map(largest_chamfer_mm, outlines)) == pytest.approx((limit_mm, flat_mm))
    below, above = (f"{key}={limit_mm + step_mm:.4f} mm" for step_mm in (-0.001, 0.001))
    prints = print_set("fridgeiq", Order((), (*flat, below)), tmp_path, "DR")
    checks = (check_shells, check_volume, check_outline, check_levels)
    assert [wrong for check in checks for wrong in complaints(prints, check)] == []
    puzzle, profile = load_set("fridgeiq"), load_profile((), [*flat, above])
    with pytest.raises(InputError) as refusal:
        draft_all(puzzle, puzzle.pieces, profile)
    assert f"{key} {format_mm(limit_mm + 0.001)} is too large" in str(refusal.value)
    assert f"at most {format_mm(math.floor(limit_mm * 1000) / 1000)}" in str(refusal.value)


PLAIN, RIBBED = Order(), Order((), ("recess.fit=ribs",))
CLOSED, TWO_FACED = Order((), ("recess.fit=embedded",)), Order(("flippable",))


@cache
def good(piece: str, order: Order) -> Print:
    with tempfile.TemporaryDirectory() as folder:
        [one] = print_set("fridgeiq", order, Path(folder), piece)
    return one


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
    changes["back" if back else "front"] = letter
    return rebuilt(one, path, label=replace(label, **changes))


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


def with_cavity(one: Print, _: Path, at: Sequence[float]) -> Print:
    """An additional shell, a small cube."""
    x, y = one.outline.representative_point().coords[0]
    cube = trimesh.creation.box((0.4, 0.4, 0.4))
    cube.apply_translation((x + at[0], y + at[1], at[2]))
    cube.invert()
    return replace(one, mesh=trimesh.util.concatenate([one.mesh, cube]))


Fault = tuple[str, Order, Callable[..., Print], dict[str, object], Sequence[object]]
FAULTS: list[Fault] = [
    ("D", PLAIN, without_a_triangle, {}, [check_shells]),
    ("D", CLOSED, with_cavity, {"at": (0, 0, 5)}, [check_shells, check_magnet]),
    ("D", PLAIN, scaled, {"z": 1.0003}, [check_volume, check_levels]),
    ("L", PLAIN, mirrored, {}, [check_outline]),
    ("D", PLAIN, with_recess, {"move_mm": 0.1}, [check_recesses, check_walls]),
    ("D", CLOSED, with_recess, {"low_mm": 0.4}, [check_shells, check_levels, check_magnet]),
    ("D", PLAIN, with_recess, {"high_mm": 3.15}, [check_levels, check_magnet]),
    ("D", PLAIN, with_recess, {"mouth_mm": 0.45}, [check_mouths, check_levels]),
    ("D", RIBBED, with_recess, {"rib_width_mm": 0.85}, [check_recesses]),
    ("D", PLAIN, with_bores, {"wider_mm": 0.03}, [check_recesses, check_mouths, check_volume]),
    ("D", RIBBED, with_bores, {"higher_mm": -0.03}, [check_recesses]),
    ("D", PLAIN, with_label, {"depth_mm": 0.59}, [check_levels]),
    ("J", PLAIN, with_label, {"scale": 1.01}, [check_letters]),
    ("J", TWO_FACED, with_label, {"back": True, "mirrored": True}, [check_letters]),
]


@pytest.mark.every(3)
@pytest.mark.parametrize(("piece", "order", "fault", "how", "checks"), FAULTS)
def test_planted_faults_are_reported(
    piece: str,
    order: Order,
    fault: Callable[..., Print],
    how: dict[str, object],
    checks: Sequence[Callable[[Print], Complaints]],
    tmp_path: Path,
) -> None:
    one = good(piece, order)
    assert [wrong for check in checks for wrong in check(one)] == []
    faulty = fault(one, tmp_path / "faulty.stl", **how)
    for check in checks:
        assert list(check(faulty)), f"{check.__name__} saw nothing"


def test_thin_strokes_and_another_chamfer_are_reported(tmp_path: Path) -> None:
    one = good("D", PLAIN)
    face = chamfered(one.blueprint.outline, 0.55)
    wider = rebuilt(one, tmp_path / "wider.stl", face=face)
    assert list(check_outline(wider))
    assert list(check_levels(wider))
    faulty = with_label(good("A", PLAIN), tmp_path / "faulty.stl", scale=0.65)
    assert any(complaint.startswith("a stroke of 0.7") for complaint in check_letters(faulty))
