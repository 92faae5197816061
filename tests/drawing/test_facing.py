"""Pieces that are printed face down: recesses end on layers counted from the lettered face."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import trimesh
from hypothesis import given, settings

from fabkit.core.errors import InputError
from fabkit.drawing.draft import draft
from fabkit.mesh.rules.printing import printing_findings
from fabkit.model.layers import recess_span
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.solid.pieces import Workshop
from fabkit.verify.check import CheckReport, check
from fabkit.verify.taking import take
from tests.support import measure
from tests.support.checks import (
    check_letters,
    check_mouths,
    check_outline,
    check_recesses,
    check_shells,
    check_walls,
)
from tests.support.faults import outline
from tests.support.faults.kits import kit
from tests.support.faults.planting import Case
from tests.support.layered import Layered, layered
from tests.support.measure import DOWN, UP
from tests.support.prints import FITS, TINY_MM, Order, print_one, print_set
from tests.support.taken import taken

DOWNWARDS = "plate.face=down"
#: Three fifths of a layer are left over; with the default numbers none is.
UNEVEN = ("layers.height=0.25 mm", "thickness=7.1 mm")


def down(*settings: str) -> Order:
    return Order((), (DOWNWARDS, *settings))


# --- heights ------------------------------------------------------------------------------


def boundaries(first: int, layer: int, thickness: int) -> list[int]:
    """All that a printer can end a layer at, from the bed up."""
    return [0, *range(first, thickness + 1, layer)]


@settings(max_examples=400)
@given(layered(least_air=10))
def test_spans_of_pieces_printed_face_down(one: Layered) -> None:
    """By trying every layer, in hundredths of a millimetre, so that the expectation is exact."""
    profile = one.profile(load_profile((), [DOWNWARDS]))
    ends = boundaries(one.first, one.layer, one.thickness)
    top = one.thickness
    if one.fit == "embedded":
        top = max(end for end in ends if one.thickness - end >= one.floor)
    bottom = max((end for end in ends if top - end >= one.magnet + one.air), default=0)
    too_loose = top - bottom - one.magnet > 30
    too_thin = bottom - one.front < one.roof or (
        one.fit == "embedded" and one.thickness - top - one.back < one.roof
    )
    if too_loose or too_thin:
        with pytest.raises(ValueError, match=r"layers\.height" if too_loose else r"recess\.roof"):
            recess_span(profile)
        return
    span = recess_span(profile)
    assert (span.low_mm, span.high_mm) == (
        (one.thickness - top) / 100,
        (one.thickness - bottom) / 100,
    )


@pytest.mark.parametrize(
    ("settings", "pause_mm"),
    [
        (("recess.fit=embedded",), 3.8),
        (("recess.fit=embedded", DOWNWARDS), 6.4),
        (("recess.fit=embedded", *UNEVEN), 3.95),
        (("recess.fit=embedded", DOWNWARDS, *UNEVEN), 6.45),
        ((DOWNWARDS,), None),
    ],
)
def test_the_pause_is_as_printed(settings: tuple[str, ...], pause_mm: float | None) -> None:
    puzzle = load_set("fridgeiq")
    blueprint = draft(puzzle, puzzle.piece("D"), load_profile((), settings))
    assert blueprint.pause_height_mm == pause_mm
    assert blueprint.facing == ("down" if DOWNWARDS in settings else "up")


def test_a_letter_and_a_magnet_that_do_not_fit_are_refused_face_down() -> None:
    with pytest.raises(InputError, match=r"recess\.roof asks for 0\.6 mm"):
        load_profile((), [DOWNWARDS, "thickness=4.2 mm"])
    with pytest.raises(InputError, match=r"choose a smaller layers\.height"):
        load_profile((), [DOWNWARDS, "layers.height=0.58 mm"])


# --- on meshes ----------------------------------------------------------------------------


def turned_over(mesh: trimesh.Trimesh, profile: Profile) -> trimesh.Trimesh:
    """The mesh as it lies on the bed."""
    over = mesh.copy()
    over.vertices = over.vertices * [1, -1, -1] + [0, 0, profile.thickness_mm]
    return over


def ends_of_recesses(mesh: trimesh.Trimesh, profile: Profile) -> list[float]:
    """The heights above the bed of the level surfaces that are no letter's, nor a face's."""
    known = (0.0, profile.thickness_mm, profile.label_depth_mm)
    levels = sorted({z for z, _ in measure.flat_levels(turned_over(mesh, profile))})
    return [z for z in levels if all(abs(z - other) > TINY_MM for other in known)]


@pytest.mark.parametrize("more", [(), UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("fit", FITS)
def test_recesses_end_on_layers_as_printed(fit: str, more: tuple[str, ...], tmp_path: Path) -> None:
    """Measured on the mesh, turned over: ends, air, what is left of the floor and the roof."""
    profile = down(f"recess.fit={fit}", *more).profile()
    puzzle, workshop = load_set("fridgeiq"), Workshop()
    for piece in "DL":
        blueprint = draft(puzzle, puzzle.piece(piece), profile)
        mesh = print_one(workshop, blueprint, tmp_path / f"{piece}.stl")
        ends = ends_of_recesses(mesh, profile)
        assert len(ends) == (2 if fit == "embedded" else 1)
        for end in ends:
            layers = (end - profile.first_layer_mm) / profile.layer_mm
            assert layers == pytest.approx(round(layers), abs=0.002)
        top_mm = ends[1] if fit == "embedded" else profile.thickness_mm
        assert 0.1 - TINY_MM < top_mm - ends[0] - profile.magnet_height_mm < 0.3 + TINY_MM
        assert ends[0] - profile.label_depth_mm >= profile.roof_mm - TINY_MM
        if fit == "embedded":
            assert profile.thickness_mm - top_mm >= profile.floor_mm - TINY_MM
            assert blueprint.pause_height_mm == pytest.approx(top_mm, abs=TINY_MM)
        (letter,) = {z for z, facing in measure.flat_levels(mesh) if facing == UP} - {
            profile.thickness_mm,
            *(round(profile.thickness_mm - end, 4) for end in ends),
        }
        assert letter == pytest.approx(profile.thickness_mm - profile.label_depth_mm, abs=TINY_MM)


def test_a_recess_that_ends_inside_a_layer_is_told(tmp_path: Path) -> None:
    """The gauge above can tell: a piece made for the other face ends elsewhere."""
    profile = Order((), UNEVEN).profile()
    puzzle = load_set("fridgeiq")
    mesh = print_one(Workshop(), draft(puzzle, puzzle.piece("D"), profile), tmp_path / "D.stl")
    (end,) = ends_of_recesses(mesh, profile)
    layers = (end - profile.first_layer_mm) / profile.layer_mm
    assert abs(layers - round(layers)) > 0.1


def test_files_lie_on_their_back_whichever_face_is_printed_down(tmp_path: Path) -> None:
    for one in print_set("fridgeiq", down("recess.fit=ribs"), tmp_path)[:3]:
        for measured in (check_shells, check_outline, check_recesses, check_mouths, check_walls):
            assert list(measured(one)) == []
        assert list(check_letters(one)) == []
        assert one.mesh.bounds[0, 2] == 0
        assert (0.0, DOWN) in measure.flat_levels(one.mesh)


# --- what check says ----------------------------------------------------------------------


def failed(report: CheckReport) -> set[str]:
    return {finding.rule for part in report.parts for finding in part.failed}


def held_against(made_with: Order, held: Order, pieces: str = "LMY") -> set[str]:
    """The rules that three pieces made with one profile break when held against another."""
    made = kit(made_with, pieces)
    profile = held.profile()
    bodies = list(made.bodies.values())
    return failed(check(take(bodies, made.puzzle, profile.unit_mm), profile))


@pytest.mark.every(3)
@pytest.mark.parametrize("more", [(), UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("fit", FITS)
def test_pieces_made_face_down_pass(fit: str, more: tuple[str, ...]) -> None:
    order = down(f"recess.fit={fit}", *more)
    assert held_against(order, order) == set()


@pytest.mark.every(2)
@pytest.mark.long
@pytest.mark.parametrize("fit", FITS)
def test_a_set_made_face_down_passes(fit: str) -> None:
    order = down(f"recess.fit={fit}")
    assert check(taken("fridgeiq", order), order.profile()).ok


def test_a_pause_that_is_on_a_layer_one_way_is_off_it_the_other() -> None:
    embedded = ("recess.fit=embedded", *UNEVEN)
    up = Order((), embedded)
    assert held_against(up, up) == set()
    assert held_against(up, down(*embedded)) == {"pause-height"}
    assert "pause-height" in held_against(down(*embedded), up)


def test_where_the_layers_agree_either_face_may_be_printed_down() -> None:
    assert held_against(Order((), ("recess.fit=embedded",)), down("recess.fit=embedded")) == set()


def test_ceilings_are_those_of_the_face_that_is_down() -> None:
    """Face up it is a recess's end, 10.1 mm across; face down it is a letter's."""
    nine, one = "printer.max_bridge=9 mm", "printer.max_bridge=1 mm"
    made = Order()
    assert held_against(made, Order((), (nine,))) == {"bridge"}
    assert held_against(made, down(nine)) == set()
    assert held_against(made, down(one)) == {"bridge"}


def test_a_closed_cavity_is_bridged_either_way() -> None:
    for order in (Order((), ("recess.fit=embedded",)), down("recess.fit=embedded")):
        made = kit(order, "MLY")
        parts = take(list(made.bodies.values()), made.puzzle, made.profile.unit_mm).parts
        (part,) = (part for part in parts if part.name == "M.stl")
        (bridge,) = (one for one in printing_findings(part, made.profile) if one.rule == "bridge")
        assert bridge.value == pytest.approx(10.4, abs=0.02)


def test_the_chamfer_that_leans_out_is_that_above_the_bed() -> None:
    case = Case(kit(Order(), "MLY"), "M", Random(0))
    for plant, tells in ((outline.steep_top, "down"), (outline.steep_foot, "up")):
        planted = plant(case, 1.3)
        for facing in ("up", "down"):
            profile = replace(case.profile, facing=facing)
            report = replace(planted, profile=profile).report()
            assert failed(report) == ({"overhang"} if facing == tells else set())
