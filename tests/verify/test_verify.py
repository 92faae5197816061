"""The loop closed: meshes of every shipped profile pass their check and solve the catalog."""

from __future__ import annotations

from dataclasses import replace

import pytest
from shapely import Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.verify.catalog import VerifyReport, verify
from fabkit.verify.check import check
from fabkit.verify.recognise import recognise
from fabkit.verify.taking import take
from tests.support.prints import Order
from tests.support.taken import bodies, taken

PRESETS = preset_names()
IMPOSSIBLE = {"rectangle_02_b", "rectangle_08_c"}


def order(preset: str) -> Order:
    return Order(() if preset == "default" else (preset,))


@pytest.mark.parametrize(
    "preset",
    [pytest.param(one, marks=[pytest.mark.long] if one != "default" else []) for one in PRESETS],
)
def test_fridgeiq_passes_and_solves_its_catalog(preset: str) -> None:
    found, profile = taken("fridgeiq", order(preset)), load_profile([preset])
    checked = check(found, profile)
    assert [(p.identity.key, f.rule, f.message) for p in checked.parts for f in p.failed] == []
    assert checked.ok
    assert len(checked.assemblies) == 39
    verified = verify(found, profile)
    assert verified.ok
    assert len(verified.challenges) == 41
    statuses = {one.answered.challenge.id: one.answered.status for one in verified.challenges}
    assert {name for name, status in statuses.items() if status == "impossible"} == IMPOSSIBLE
    assert verified.least_gap_mm == pytest.approx(2 * profile.inset_mm, abs=5e-4)
    assert_solutions_fill_their_regions(verified)


def assert_solutions_fill_their_regions(verified: VerifyReport) -> None:
    """The JSON's outlines, put together by shapely, against the outlines of the set's file."""
    document = verified.document()
    areas = {
        p.id: area([ring_in_units(r) for r in p.forms[0].rings]).area
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


def ring_in_units(ring: tuple[tuple[int, int], ...]) -> list[list[float]]:
    return [[x / 6, y / 6] for x, y in ring]


def area(rings: list[list[list[float]]]) -> BaseGeometry:
    shape: BaseGeometry = Polygon()
    for ring in rings:
        shape = shape.symmetric_difference(Polygon(ring))
    return shape


@pytest.mark.every(3)
@pytest.mark.parametrize("set_name", ["iqblock", "cubimagici", "iqstars"])
def test_the_other_flat_sets_pass_as_well(set_name: str) -> None:
    found, profile = taken(set_name, Order()), load_profile()
    assert check(found, profile).ok
    verified = verify(found, profile)
    assert verified.ok
    assert (verified.flips is None) == load_set(set_name).flips


@pytest.mark.long
def test_turning_pieces_over_is_told_where_both_faces_are_alike() -> None:
    """With flips the two impossible rectangles can be solved; the box says what it says."""
    found = verify(taken("fridgeiq", order("flippable")), load_profile(["flippable"])).flips
    assert found is not None
    assert (found.possible, found.tried, set(found.newly)) == (True, 2, IMPOSSIBLE)
    plain = verify(taken("fridgeiq", order("default")), load_profile()).flips
    assert plain is not None
    assert not plain.possible


@pytest.mark.every(4)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_profile_is_recognised_on_its_meshes(preset: str) -> None:
    profiles = [load_profile([name]) for name in PRESETS]
    found = recognise(taken("fridgeiq", order(preset)), profiles)
    assert found is not None
    assert found.name == preset


def test_a_profile_that_does_not_fit_is_not_recognised() -> None:
    profiles = [load_profile([name]) for name in PRESETS]
    for setting in ("inset=0.2 mm", "thickness=7.2 mm", "unit=19.8 mm", "recess.fit=glue"):
        (piece, *_) = bodies("fridgeiq", Order((), (setting,)))
        found = take([piece], load_set("fridgeiq"), 20.0)
        assert recognise(found, profiles) is None, setting


def mirrored(body: Body) -> Body:
    """As in a mirror, its faces turned so that outside stays outside."""
    return replace(body, vertices=body.vertices * [-1, 1, 1], faces=body.faces[:, ::-1])


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("piece", "wrong"),
    [("L", {"rectangle_05_b", "rectangle_08_c"}), ("U", {"triangle_04"}), ("N", set())],
)
def test_a_mirrored_piece_is_another_piece(piece: str, wrong: set[str]) -> None:
    """Worked out on the drawings for all eleven pieces that are not their own mirror image: only
    N can be mirrored without a challenge noticing. That it is not as drawn is told all the same."""
    found = list(bodies("fridgeiq", Order()))
    position = [body.name for body in found].index(f"{piece}.stl")
    found[position] = mirrored(found[position])
    report = verify(take(found, load_set("fridgeiq"), 20.0), load_profile())
    assert {one.answered.challenge.id for one in report.challenges if not one.ok} == wrong
    assert report.ok == (not wrong)
    drawn = {key: one["as_drawn"] for key, one in report.document()["pieces"].items()}
    assert [key for key, as_drawn in drawn.items() if not as_drawn] == [piece]


def test_catalog_answers_are_those_of_the_drawings() -> None:
    """Which challenges have a solution does not depend on how the pieces came to be known."""
    from fabkit.solve.answer import solve
    from fabkit.solve.posing import pose

    puzzle = load_set("fridgeiq")
    report = verify(taken("fridgeiq", Order()), load_profile())
    for one in report.challenges:
        drawn = solve(pose(puzzle, one.answered.challenge), "first")
        assert one.answered.status == drawn.status
