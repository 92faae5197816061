"""Pieces, measured on the meshes that would be printed; and planted faults, which are reported."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

from fabkit.core.errors import InputError
from fabkit.core.units import format_mm
from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.drawing.outline import chamfer_outline, largest_chamfer_mm
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import analytic, measure
from tests.support.checks import (
    CHECKS,
    Complaints,
    check_lead_ins,
    check_letters,
    check_levels,
    check_magnet,
    check_outline,
    check_recesses,
    check_shells,
    check_volume,
    check_walls,
    complaints,
    roofs,
)
from tests.support.faults import letters, mesh, place
from tests.support.faults.kits import CLOSED, PLAIN, RIBBED, TWO_FACED, kit
from tests.support.faults.planting import Case, Planted
from tests.support.prints import (
    LONG_PIECES,
    NO_PEGS,
    ORDERS_TO_PRINT,
    Order,
    Print,
    print_set,
)
from tests.support.shapes import mesh_of


@pytest.mark.in_turn
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
    prints = print_set(set_name, Order((preset,), (NO_PEGS,)), tmp_path)
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
    outlines = [
        analytic.printed_outline(one.outline, small) for one in analytic.drawings("fridgeiq")
    ]
    assert min(map(largest_chamfer_mm, outlines)) == pytest.approx((limit_mm, flat_mm))
    below, above = (f"{key}={limit_mm + step_mm:.4f} mm" for step_mm in (-0.001, 0.001))
    prints = print_set("fridgeiq", Order((), (*flat, below)), tmp_path, "DR")
    checks = (check_shells, check_volume, check_outline, check_levels)
    assert [wrong for check in checks for wrong in complaints(prints, check)] == []
    puzzle, profile = load_set("fridgeiq"), load_profile((), [*flat, above])
    with pytest.raises(InputError) as refusal:
        draft_all(puzzle, puzzle.pieces, profile, draft_flat_piece)
    assert f"{key} {format_mm(limit_mm + 0.001)} is too large" in str(refusal.value)
    assert f"at most {format_mm(math.floor(limit_mm * 1000) / 1000)}" in str(refusal.value)


@cache
def good(piece: str, order: Order) -> tuple[Case, Print]:
    case = Case(kit(order, piece, solved=False), piece, Random(0))
    (drawing,) = (one for one in analytic.drawings("fridgeiq") if one.id == piece)
    outline = analytic.printed_outline(drawing.outline, case.profile)
    return case, Print(drawing, case.profile, case.drawing, mesh_of(case.body), outline)


def off_centre(case: Case, _: float) -> Planted:
    x, y = case.recess.centre_mm
    return case.with_recess(centre_mm=(x, y - 0.1))


Plant = Callable[[Case, float], Planted]
FAULTS: list[tuple[str, Order, Plant, Sequence[Callable[[Print], Complaints]]]] = [
    ("D", PLAIN, mesh.missing_triangles, [check_shells]),
    ("D", CLOSED, mesh.hidden_cavity, [check_shells, check_magnet]),
    (
        "D",
        PLAIN,
        lambda case, _: place.scaled(case, 0.0003, (0, 0, 1)),
        [check_volume, check_levels],
    ),
    ("L", PLAIN, place.mirrored_mesh, [check_outline]),
    ("D", PLAIN, off_centre, [check_recesses, check_walls]),
    (
        "D",
        CLOSED,
        lambda case, _: case.with_recess(low_mm=0.4),
        [check_shells, check_levels, check_magnet],
    ),
    ("D", PLAIN, lambda case, _: case.with_recess(high_mm=3.15), [check_levels, check_magnet]),
    ("D", PLAIN, lambda case, _: case.with_recess(lead_in_mm=0.45), [check_lead_ins, check_levels]),
    ("D", RIBBED, lambda case, _: case.with_recess(rib_width_mm=0.85), [check_recesses]),
    (
        "D",
        PLAIN,
        lambda case, _: case.with_diameters(wider_mm=0.03),
        [check_recesses, check_lead_ins, check_volume],
    ),
    ("D", RIBBED, lambda case, _: case.with_diameters(higher_mm=-0.03), [check_recesses]),
    ("D", PLAIN, lambda case, _: letters.letter_depth_off(case, 0.2), [check_levels]),
    ("J", PLAIN, lambda case, _: case.with_letter(scale=1.01), [check_letters]),
    ("J", TWO_FACED, letters.mirrored_on_back, [check_letters]),
]


@pytest.mark.every(3)
@pytest.mark.parametrize(("piece", "order", "plant", "checks"), FAULTS)
def test_planted_faults_are_reported(
    piece: str, order: Order, plant: Plant, checks: Sequence[Callable[[Print], Complaints]]
) -> None:
    case, one = good(piece, order)
    assert [wrong for check in checks for wrong in check(one)] == []
    faulty = replace(one, mesh=mesh_of(plant(case, 1.0).bodies[-1]))
    for check in checks:
        assert list(check(faulty)), f"{check.__name__} saw nothing"


def test_thin_strokes_and_another_chamfer_are_reported() -> None:
    case, one = good("D", PLAIN)
    wider = case.rebuilt(face=chamfer_outline(case.drawing.outline, 0.55)).bodies[-1]
    for check in (check_outline, check_levels):
        assert list(check(replace(one, mesh=mesh_of(wider))))
    case, one = good("A", PLAIN)
    found = check_letters(replace(one, mesh=mesh_of(case.with_letter(scale=0.65).bodies[-1])))
    assert any(complaint.startswith("a stroke of 0.7") for complaint in found)
