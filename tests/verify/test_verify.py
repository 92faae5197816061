"""The loop closed: meshes solve the catalog, and solutions are put together from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from shapely import Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Points
from fabkit.mesh.fitting.assembly import Assembly, Table
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.verify.answers import Answered
from fabkit.verify.catalog import VerifyReport, verify
from fabkit.verify.check import check
from fabkit.verify.recognise import recognise
from fabkit.verify.taking import take
from tests.support.ballmeshes import mirrored
from tests.support.faults.kits import PLAIN, TWO_FACED, kit
from tests.support.prints import Order
from tests.support.taken import bodies, taken

PRESETS = preset_names()
IMPOSSIBLE = {"rectangle_02_b", "rectangle_08_c"}


def order(preset: str) -> Order:
    return Order(() if preset == "default" else (preset,))


@lru_cache
def verified(set_name: str, how: Order) -> VerifyReport:
    return verify(taken(set_name, how), how.profile())


@pytest.mark.parametrize(
    "preset",
    [pytest.param(one, marks=[pytest.mark.long] if one != "default" else []) for one in PRESETS],
)
def test_fridgeiq_solves_its_catalog_and_goes_together(preset: str) -> None:
    report, profile = verified("fridgeiq", order(preset)), load_profile([preset])
    assert report.ok
    assert len(report.challenges) == 41
    statuses = {one.answered.challenge.id: one.answered.status for one in report.challenges}
    assert {name for name, status in statuses.items() if status == "impossible"} == IMPOSSIBLE
    assert report.least_gap_mm == pytest.approx(2 * profile.inset_mm, abs=5e-4)
    assert report.flips is not None
    assert report.flips.possible == (profile.faces == "both")
    assert_solutions_fill_their_regions(report)
    assemblies = [one.assembly for one in report.challenges if one.assembly]
    assert len(assemblies) == 39
    for one in assemblies:
        assert (one.ok, one.messages, one.overlap_mm3, one.outside_mm) == (True, (), 0, 0)
        for gap_mm in (one.min_gap_mm, one.max_gap_mm):
            assert gap_mm == pytest.approx(2 * profile.inset_mm, abs=2e-3)


def assert_solutions_fill_their_regions(report: VerifyReport) -> None:
    """The JSON's outlines, put together by shapely, against the outlines of the set's file."""
    document = report.document()
    areas = {
        p.id: area([[[x / 6, y / 6] for x, y in r] for r in p.forms[0].rings]).area
        for p in load_set("fridgeiq").pieces
    }
    for one, challenge in zip(document["challenges"], load_set("fridgeiq").challenges, strict=True):
        shapes = {piece: area(rings) for piece, rings in one["solution"].items()}
        if not shapes:
            assert one["challenge"] in IMPOSSIBLE
            continue
        assert set(shapes) == set(challenge.pieces)
        assert all(shape.area == pytest.approx(areas[piece]) for piece, shape in shapes.items())
        whole = union_all(list(shapes.values()))
        assert whole.area == pytest.approx(sum(shape.area for shape in shapes.values()))
        assert whole.area == pytest.approx(len(challenge.region) / 4)


def area(rings: Sequence[Sequence[Sequence[float]]]) -> BaseGeometry:
    shape: BaseGeometry = Polygon()
    for ring in rings:
        shape = shape.symmetric_difference(Polygon(ring))
    return shape


@pytest.mark.integration
@pytest.mark.parametrize("set_name", ["iqblock", "cubimagici", "iqstars"])
def test_the_other_flat_sets_pass_as_well(set_name: str) -> None:
    assert check(taken(set_name, PLAIN), load_profile()).ok
    report = verified(set_name, PLAIN)
    assert report.ok
    assert (report.flips is None) == load_set(set_name).flips


# --- a few pieces and one challenge -----------------------------------------------------------


def some(how: Order, challenge: str, mirror: str = "") -> VerifyReport:
    """What the pieces of one challenge say of it, one of them as in a mirror."""
    whole = load_set("fridgeiq")
    (wanted,) = [one for one in whole.challenges if one.id == challenge]
    prints = bodies("fridgeiq", how, "".join(wanted.pieces))
    shown = [mirrored(one) if one.name[0] == mirror else one for one in prints]
    pieces = tuple(whole.piece(one) for one in wanted.pieces)
    puzzle = replace(whole, pieces=pieces, challenges=(wanted,))
    return verify(take(shown, puzzle, 20.0), how.profile())


def test_turning_pieces_over_is_told_where_both_faces_are_alike() -> None:
    """With flips the impossible rectangle can be solved; the box says what it says."""
    found = some(TWO_FACED, "rectangle_02_b").flips
    assert found is not None
    assert (found.possible, found.tried, found.newly) == (True, 1, ("rectangle_02_b",))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("piece", "challenge", "solved"),
    [
        ("U", "triangle_04", False),
        pytest.param("N", "rectangle_07_a", True, marks=pytest.mark.integration),
    ],
)
def test_a_mirrored_piece_is_another_piece(piece: str, challenge: str, solved: bool) -> None:
    """Whether a challenge notices it or not, that the piece is not as drawn is told."""
    report = some(PLAIN, challenge, mirror=piece)
    (one,) = report.challenges
    assert (one.answered.status == "solved") == solved
    assert report.ok == one.ok == (solved != (challenge in IMPOSSIBLE))
    drawn = {key: one["as_drawn"] for key, one in report.document()["pieces"].items()}
    assert [key for key, as_drawn in drawn.items() if not as_drawn] == [piece]


@pytest.mark.every(4)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_profile_is_recognised_on_its_meshes(preset: str) -> None:
    made = kit(order(preset), "LM", solved=False)
    found = take([*made.bodies.values()], made.puzzle, made.profile.unit_mm)
    known = recognise(found, [load_profile([name]) for name in PRESETS])
    assert known is not None
    assert known.name == preset


def test_a_profile_that_does_not_fit_is_not_recognised() -> None:
    profiles = [load_profile([name]) for name in PRESETS]
    for setting in ("inset=0.2 mm", "thickness=7.2 mm", "recess.fit=glue"):
        made = kit(Order((), (setting,)), "M", solved=False)
        found = take([*made.bodies.values()], made.puzzle, 20.0)
        assert recognise(found, profiles) is None, setting


# --- put together: against shapely's distances, and with planted shifts ------------------------


#: The pieces of square_02, which the shifted ones belong to.
SQUARE = "BDJNQSY"


@lru_cache
def square() -> Answered:
    (one,) = some(PLAIN, "square_02").challenges
    return one.answered


def corners() -> Points:
    """Those of a piece of the square."""
    return taken("fridgeiq", PLAIN, SQUARE).pieces()["N"].vertices


def with_moved(*places: Points) -> list[Assembly]:
    """FridgeIQ's square with the corners of that piece elsewhere."""
    found, one = taken("fridgeiq", PLAIN, SQUARE), square()
    parts, assemblies = found.pieces(), []
    for there in places:
        moved = {**parts, "N": replace(parts["N"], vertices=there)}
        on = Table(moved, found.puzzle.lattice, PLAIN.profile())
        assemblies.append(on.assemble(one.challenge.id, one.challenge.region, one.layout))
    return assemblies


def with_shifted(*shifts: tuple[float, float]) -> list[Assembly]:
    """With that piece beside its place."""
    return with_moved(*(corners() + np.array([x, y, 0.0]) for x, y in shifts))


def test_a_shifted_part_overlaps_as_much_as_it_must() -> None:
    """A part 0.7 mm beside its place overlaps neighbours by 0.5 mm, and leaves gaps of 0.9."""
    for result in with_shifted((0.7, 0.0), (-0.7, 0.0), (0.0, 0.7), (0.0, -0.7)):
        assert not result.ok
        assert all("N" in message.split() for message in result.messages)
        complaints = " ".join(result.messages)
        assert "overlap by" in complaints or "out of the region" in complaints
        assert ("out of the region" in complaints) == (result.outside_mm > 0.1)
        if "overlap" in complaints:
            assert result.overlap_mm3 > 1
            assert result.min_gap_mm == 0


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
    middle_mm = corners().mean(axis=0)
    cos, sin = np.cos(np.radians(3)), np.sin(np.radians(3))
    turn = np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    (result,) = with_moved((corners() - middle_mm) @ turn + middle_mm)
    assert any("along an edge" in message for message in result.messages)
    assert result.overlap_mm3 > 1
