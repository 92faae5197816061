"""Every piece, measured on the mesh that would be printed, in every profile."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from fabkit.core.errors import InputError
from fabkit.core.units import format_mm
from fabkit.drawing.draft import draft_all
from fabkit.drawing.outline import largest_chamfer_mm
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from tests.support import analytic, measure
from tests.support.checks import (
    CHECKS,
    Complaints,
    check_levels,
    check_outline,
    check_shells,
    check_volume,
    complaints,
    roofs,
)
from tests.support.prints import LONG_PIECES, NO_STUBS, ORDERS_TO_PRINT, Order, Print, print_set


@pytest.fixture(scope="session", params=ORDERS_TO_PRINT)
def fridgeiq(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[Print]:
    return print_set("fridgeiq", request.param, tmp_path_factory.mktemp("stl"))


@pytest.mark.every(8)
@pytest.mark.parametrize("check", CHECKS)
def test_fridgeiq_passes(check: Callable[[Print], Complaints], fridgeiq: list[Print]) -> None:
    assert complaints(fridgeiq, check) == []


@pytest.mark.every(3)
def test_long_pieces_hold_two_magnets(fridgeiq: list[Print]) -> None:
    if not fridgeiq[0].profile.has_recesses:
        pytest.skip("no magnets")
    counts = {one.drawing.id: len(roofs(one)) for one in fridgeiq}
    assert counts == {piece: 2 if piece in LONG_PIECES else 1 for piece in "ARELOMTSQDJBNYIU"}
    assert sum(counts.values()) == 21


@pytest.mark.every(3)
def test_handed_pieces_are_printed_as_drawn(fridgeiq: list[Print]) -> None:
    for one in fridgeiq:
        if one.drawing.id in "LN":
            z_mm = one.profile.thickness_mm - one.profile.top_chamfer_mm - 0.013
            drawn = measure.filled(one.section(z_mm))
            assert measure.difference_from_mirror_mm2(drawn) > 0.1 * drawn.area
            assert measure.difference_mm2(drawn, one.outline) < 0.005


@pytest.mark.every(3)
@pytest.mark.parametrize("preset", ["default", "compact"])
@pytest.mark.parametrize("set_name", ["cubimagici", "iqblock", "iqstars"])
def test_other_sets_pass(set_name: str, preset: str, tmp_path: Path) -> None:
    prints = print_set(set_name, Order((preset,), (NO_STUBS,)), tmp_path)
    assert len(prints) == len(load_set(set_name).pieces)
    assert [wrong for check in CHECKS for wrong in complaints(prints, check)] == []


# --- at the limit of the chamfers -----------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize("key", ["top_chamfer", "foot_chamfer"])
@pytest.mark.parametrize("flat_mm", [0.8, 1.2, 1.6])
def test_the_largest_chamfer_builds_and_a_larger_one_is_refused(
    key: str, flat_mm: float, tmp_path: Path
) -> None:
    flat = (f"tip_flat={flat_mm} mm", "top_chamfer=0.1 mm", "foot_chamfer=0.1 mm")
    # A flat across a 45-degree tip has two angles of 112.5 degrees; a chamfer of 1 takes
    # cot(56.25 degrees) off either end, and a hundredth of the flat has to stay.
    limit_mm = 0.99 * flat_mm / (2 / math.tan(math.radians(56.25)))
    small = load_profile((), flat)
    outlines = [analytic.printed(one.outline, small) for one in analytic.drawings("fridgeiq")]
    limits = [largest_chamfer_mm(outline) for outline in outlines]
    assert min(limits) == pytest.approx((limit_mm, flat_mm))
    below, above = (f"{key}={limit_mm + step_mm:.4f} mm" for step_mm in (-0.001, 0.001))
    prints = print_set("fridgeiq", Order((), (*flat, below)), tmp_path)
    checks = (check_shells, check_volume, check_outline, check_levels)
    assert [wrong for check in checks for wrong in complaints(prints, check)] == []
    puzzle, profile = load_set("fridgeiq"), load_profile((), [*flat, above])
    with pytest.raises(InputError) as refusal:
        draft_all(puzzle, puzzle.pieces, profile)
    assert f"{key} {format_mm(limit_mm + 0.001)} is too large" in str(refusal.value)
    assert f"at most {format_mm(math.floor(limit_mm * 1000) / 1000)}" in str(refusal.value)
