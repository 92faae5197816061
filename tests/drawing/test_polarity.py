"""Poles: which magnets show their south pole, and the dimples that say so, measured on meshes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from numpy.typing import ArrayLike, NDArray
from shapely import Point, Polygon
from shapely.affinity import rotate

from fabkit.core.errors import InputError
from fabkit.drawing.draft import draft, draft_all
from fabkit.drawing.magnets import Recess, poles, with_poles
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.body import Body
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.recognise import recognise
from fabkit.verify.reports import FlatReport
from fabkit.verify.taking import take
from tests.support import analytic, measure
from tests.support.faults.kits import MARKED, MARKED_INSIDE, kit, printed
from tests.support.measure import DOWN, UP
from tests.support.prints import FITS, NO_STUBS, TINY_MM, Order, Print, print_set

ALTERNATING = "magnet.polarity=alternating"
FLAT_SETS = ("fridgeiq", "cubimagici", "iqblock", "iqstars")
ACROSS_MM = 1.6


def alternating(*settings: str) -> Order:
    """With a floor in which there is room for a mark, and recesses instead of stubs."""
    return Order((), (ALTERNATING, "recess.floor=1 mm", NO_STUBS, *settings))


def expected_marks(set_name: str) -> dict[str, list[bool]]:
    """Whether each magnet is marked, from left to right: every second one of all in a row."""
    found, number = {}, 0
    for drawing in analytic.drawings(set_name):
        found[drawing.id] = [bool((number + one) % 2) for one in range(drawing.magnets)]
        number += drawing.magnets
    return found


# --- which poles --------------------------------------------------------------------------


@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_poles_alternate_through_the_set(set_name: str) -> None:
    puzzle, profile = load_set(set_name), alternating().profile()
    in_all = [pole for piece in puzzle.pieces for pole in poles(puzzle, piece, profile)]
    assert "".join(in_all) == ("NS" * len(in_all))[: len(in_all)]
    counts = Counter(in_all)
    assert counts["N"] - counts["S"] in (0, 1)
    marks = expected_marks(set_name)
    assert [pole == "S" for pole in in_all] == [one for piece in marks.values() for one in piece]


def test_poles_do_not_depend_on_what_is_selected() -> None:
    puzzle, profile = load_set("fridgeiq"), alternating().profile()
    whole = {one.piece: one for one in draft_all(puzzle, puzzle.pieces, profile)}
    for piece in puzzle.pieces:
        assert draft_all(puzzle, [piece], profile) == [whole[piece.id]]


@pytest.mark.parametrize(("polarity", "pole"), [("same", "N"), ("free", "")])
def test_poles_that_do_not_alternate_have_no_marks(polarity: str, pole: str) -> None:
    puzzle, profile = load_set("fridgeiq"), load_profile((), [f"magnet.polarity={polarity}"])
    recesses = [one for b in draft_all(puzzle, puzzle.pieces, profile) for one in b.recesses]
    assert {(one.pole, one.mark) for one in recesses} == {(pole, None)}


def test_poles_go_from_left_to_right() -> None:
    puzzle, profile = load_set("fridgeiq"), alternating().profile()
    for piece in puzzle.pieces:
        recesses = draft(puzzle, piece, profile).recesses
        apart = abs(recesses[0].centre_mm[0] - recesses[-1].centre_mm[0]) > 1.0
        axis = 0 if apart else 1  # one above the other: from below
        in_order = sorted(recesses, key=lambda one: one.centre_mm[axis])
        assert tuple(one.pole for one in in_order) == poles(puzzle, piece, profile)


# --- on meshes ----------------------------------------------------------------------------


def dimples(one: Print) -> list[Polygon]:
    """The small holes in the back, from left to right, as they are cut a little above it."""
    holes = measure.holes(one.section(0.113))
    return [
        hole
        for hole in holes
        if hole.area < 0.5 * math.pi * (one.profile.magnet_diameter_mm / 2) ** 2
    ]


def wrong_marks(one: Print, expected: list[bool]) -> list[str]:
    """What is wrong with the dimples beside a piece's open recesses."""
    profile, found = one.profile, dimples(one)
    wrong = [] if len(found) == sum(expected) else [f"{len(found)} dimples, not {sum(expected)}"]
    recesses = sorted(one.blueprint.recesses, key=lambda r: r.centre_mm)
    centres = [recess.centre_mm for recess in recesses]
    marked = [False] * len(centres)
    back = measure.flat_part(one.mesh, 0.0, DOWN)
    for dimple in found:
        circle = measure.fit_circle(measure.corners(dimple.exterior))
        if abs(circle.diameter_mm - ACROSS_MM) > 0.01 or circle.off_mm > 0.005:
            wrong.append(f"a dimple is {circle}")
        distances = [math.dist((circle.x_mm, circle.y_mm), centre) for centre in centres]
        marked[distances.index(min(distances))] = True
        if len(distances) == 2 and abs(distances[0] - distances[1]) < 1:
            wrong.append("a dimple is as near to the one as to the other magnet")
        holes = [hole for hole in measure.holes(back) if not hole.intersects(dimple)]
        wall_mm = min(
            measure.filled(back).exterior.distance(dimple),
            *(hole.distance(dimple) for hole in holes),
        )
        if wall_mm < profile.bed_wall_mm - TINY_MM:
            wrong.append(f"a wall of {wall_mm:.4f} mm beside a dimple")
    if marked != expected:
        wrong.append(f"marked are {marked}, not {expected}")
    levels = {z for z, facing in measure.flat_levels(one.mesh) if facing == DOWN and 0 < z < 1}
    if levels != ({depth_of_marks_mm(profile)} if any(expected) else set()):
        wrong.append(f"dimples end at {sorted(levels)}")
    return wrong


def depth_of_marks_mm(profile: Profile) -> float:
    """Two layers from the bed; from above, two and what is left over."""
    layer = round(100 * profile.layer_mm)
    if profile.facing == "up":
        return profile.first_layer_mm + profile.layer_mm
    first, top = round(100 * profile.first_layer_mm), round(100 * profile.thickness_mm)
    ends = range(first, top + 1, layer)
    return (top - max(end for end in ends if top - end >= 2 * layer)) / 100


@pytest.mark.parametrize(
    ("set_name", "order"),
    [
        ("fridgeiq", alternating()),
        ("fridgeiq", alternating("plate.face=down", "thickness=7.1 mm", "layers.height=0.25 mm")),
        pytest.param("fridgeiq", alternating("recess.fit=ribs"), marks=pytest.mark.long),
        pytest.param("fridgeiq", alternating("recess.fit=glue"), marks=pytest.mark.long),
        pytest.param("iqstars", alternating("layers.first=0.3 mm"), marks=pytest.mark.long),
        pytest.param("fridgeiq", Order(("compact",), (ALTERNATING,)), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_south_poles_are_marked_in_the_back(set_name: str, order: Order, tmp_path: Path) -> None:
    expected = expected_marks(set_name)
    wrong = {
        one.drawing.id: wrong_marks(one, expected[one.drawing.id])
        for one in print_set(set_name, order, tmp_path)
    }
    assert {piece: faults for piece, faults in wrong.items() if faults} == {}


def test_wrong_marks_are_told(tmp_path: Path) -> None:
    """The gauge above can tell."""
    (one,) = (one for one in print_set("fridgeiq", MARKED, tmp_path) if one.drawing.id == "L")
    assert wrong_marks(one, expected_marks("fridgeiq")["L"]) == []
    assert any("marked are" in wrong for wrong in wrong_marks(one, [False, True]))
    assert any("1 dimples, not 2" in wrong for wrong in wrong_marks(one, [True, True]))
    thicker = replace(one.profile, layer_mm=0.25)
    assert any(
        "end at" in wrong for wrong in wrong_marks(replace(one, profile=thicker), [True, False])
    )
    walled = replace(one.profile, bed_wall_mm=0.75)
    assert any(
        "a wall of" in wrong for wrong in wrong_marks(replace(one, profile=walled), [True, False])
    )


@pytest.mark.parametrize("facing", ["up", "down"])
def test_closed_cavities_are_marked_in_the_end_that_is_printed_first(
    facing: str, tmp_path: Path
) -> None:
    """At the pause one looks down into it: as printed, the dimple goes down from its floor."""
    order = alternating("recess.fit=embedded", f"plate.face={facing}")
    expected, profile = expected_marks("fridgeiq"), order.profile()
    for one in print_set("fridgeiq", order, tmp_path):
        sign = 1 if facing == "up" else -1
        floor_mm = 1.0 if facing == "up" else 7.0 - (6.0 - 3.2)
        depths = [z for z, _ in measure.flat_levels(one.mesh)]
        ends = [z for z in depths if abs(z - (floor_mm - sign * 0.4)) < TINY_MM]
        assert len(ends) == any(expected[one.drawing.id])
        holes = measure.holes(one.section(floor_mm - sign * 0.2)) if ends else []
        centres = sorted(recess.centre_mm for recess in one.blueprint.recesses)
        marked = [any(hole.contains(Point(centre)) for hole in holes) for centre in centres]
        assert marked == expected[one.drawing.id]
        for hole in holes:
            circle = measure.fit_circle(measure.corners(hole.exterior))
            assert circle.diameter_mm == pytest.approx(ACROSS_MM, abs=0.01)
            off_mm = min(math.dist((circle.x_mm, circle.y_mm), centre) for centre in centres)
            assert off_mm < 0.005
        assert measure.is_closed(one.mesh)
        assert len(measure.shells(one.mesh)) == 1 + one.magnets
        assert one.blueprint.pause_height_mm == (4.2 if facing == "up" else 6.0)
        assert profile.thickness_mm == 7.0


def test_marks_are_as_near_to_their_recess_as_can_be() -> None:
    """Against rings of points: no other place in the back with these walls is nearer."""
    puzzle, profile = load_set("fridgeiq"), alternating().profile()
    for piece, drawing in zip(puzzle.pieces, analytic.drawings("fridgeiq"), strict=True):
        blueprint = draft(puzzle, piece, profile)
        outline = analytic.printed(drawing.outline, profile)
        foot = analytic.moved_in(outline, profile.foot_chamfer_mm)
        in_turn = "S" * len(blueprint.recesses)
        recesses = with_poles(blueprint.recesses, in_turn, blueprint.foot, profile)
        for recess in recesses:
            assert recess.mark is not None
            reach_mm = math.dist(recess.mark.centre_mm, recess.centre_mm) - 0.02
            assert has_room([recess.mark.centre_mm], foot, recesses).all()
            angles = np.linspace(0, 2 * math.pi, 720)
            circle = np.column_stack([np.cos(angles), np.sin(angles)])
            for away_mm in np.arange(reach_mm, reach_mm - 1.5, -0.1):
                assert not has_room(recess.centre_mm + away_mm * circle, foot, recesses).any()


def has_room(places: ArrayLike, foot: Polygon, recesses: Sequence[Recess]) -> NDArray[np.bool_]:
    """Whether a dimple keeps its walls at each of some places."""
    profile, points = alternating().profile(), shapely.points(np.asarray(places))
    keep_mm = ACROSS_MM / 2 + profile.bed_wall_mm
    mouths = shapely.points([recess.centre_mm for recess in recesses])
    off_mm = shapely.distance(points[:, None], mouths) - analytic.mouth_of_recess_mm(profile) / 2
    at_side = shapely.contains(foot, points) & (shapely.distance(foot.boundary, points) >= keep_mm)
    return np.asarray(at_side & (off_mm >= keep_mm).all(axis=1))


@pytest.mark.parametrize("fit", FITS)
def test_poles_that_are_free_leave_the_mesh_as_it_is(fit: str, tmp_path: Path) -> None:
    puzzle, contents = load_set("fridgeiq"), []
    for polarity in ("same", "free", "alternating"):
        order = alternating(f"recess.fit={fit}", f"magnet.polarity={polarity}")
        blueprint = draft(puzzle, puzzle.piece("R"), order.profile())
        contents.append(printed(blueprint, "R.stl").vertices.tolist())
    assert contents[0] == contents[1] != contents[2]


# --- refusals -----------------------------------------------------------------------------


def test_no_room_in_the_back_is_said_with_numbers() -> None:
    """A triangle 8 mm high, of which the magnet leaves nothing but thin tips."""
    puzzle = load_set("fridgeiq")
    small = ["unit=8 mm", "magnet.diameter=3 mm", "recess.wall=0.6 mm", "tip_flat=1 mm"]
    profile = load_profile((), [ALTERNATING, "label.faces=none", *small])
    blueprint = draft(puzzle, puzzle.piece("D"), replace(profile, polarity="same"))
    with pytest.raises(BlueprintError, match=r"1\.6 mm across, .* mouth of 4\.1 mm: .* 0\.7 mm"):
        with_poles(blueprint.recesses, "S", blueprint.foot, profile)
    assert with_poles(blueprint.recesses, "N", blueprint.foot, profile)[0].mark is None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["recess.fit=embedded"], r"magnet\.polarity: .* 0\.2 mm of plastic, and 0\.4 mm"),
        (["recess.fit=embedded", "recess.floor=1 mm", "magnet.diameter=3 mm"], r"3\.2 mm at least"),
        (
            ["recess.fit=embedded", "plate.face=down", "thickness=5.4 mm", "label.depth=0.9 mm"],
            r"magnet\.polarity: .*choose a thicker piece",
        ),
    ],
)
def test_marks_for_which_there_is_no_room_are_refused(settings: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        load_profile((), [ALTERNATING, *settings])
    load_profile((), settings)


# --- what check says ----------------------------------------------------------------------


def inspected(bodies: list[Body], puzzle: PuzzleSet, profile: Profile) -> list[FlatReport]:
    """What the rules say of each part; that they go together is not asked."""
    found = take(bodies, puzzle, profile.unit_mm).inspect(profile, lambda done, total, name: None)
    return [one for one in found if isinstance(one, FlatReport)]


def failed(reports: list[FlatReport]) -> set[tuple[str | None, str]]:
    return {(one.identity.piece, finding.rule) for one in reports for finding in one.failed}


def turned(body: Body, quarters: int) -> Body:
    cos, sin = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]], dtype=float)
    return Body(body.name, body.vertices @ turn.T, body.faces)


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(MARKED, id="open"),
        pytest.param(MARKED_INSIDE, id="closed", marks=pytest.mark.long),
    ],
)
def test_good_marks_pass_however_the_piece_lies(order: Order) -> None:
    made = kit(order, "LNSTU")
    for quarters in range(4):
        bodies = [turned(body, quarters) for body in made.bodies.values()]
        assert failed(inspected(bodies, made.puzzle, made.profile)) == set()


@pytest.mark.every(3)
@pytest.mark.parametrize("piece", ["L", "N", "T", "U"])
def test_marks_at_the_wrong_magnet_are_told_however_the_piece_lies(piece: str) -> None:
    made = kit(MARKED, piece + "MY")
    blueprint = made.blueprints[piece]
    recesses = with_poles(blueprint.recesses, "SN", blueprint.foot, made.profile)
    wrong = printed(replace(blueprint, recesses=recesses), f"{piece}.stl")
    for quarters in range(4):
        bodies = [turned(wrong, quarters), made.bodies["M"], made.bodies["Y"]]
        found = failed(inspected(bodies, made.puzzle, made.profile))
        assert found == {(piece, "pole-mark")}


def test_without_letters_the_outline_says_which_magnets_are_marked() -> None:
    order = Order((), (ALTERNATING, "label.faces=none"))
    made = kit(order, "LTM")
    assert failed(inspected(list(made.bodies.values()), made.puzzle, made.profile)) == set()
    blueprint = made.blueprints["L"]
    recesses = with_poles(blueprint.recesses, "SN", blueprint.foot, made.profile)
    wrong = printed(replace(blueprint, recesses=recesses), "L.stl")
    bodies = [wrong, made.bodies["T"], made.bodies["M"]]
    found = failed(inspected(bodies, made.puzzle, made.profile))
    assert found == {("L", "pole-mark")}


def test_a_piece_that_looks_the_same_turned_may_be_marked_at_either_end() -> None:
    """S, its outline and its letter, is the same after half a turn but for where the letter is."""
    order = Order((), (ALTERNATING, "label.faces=none"))
    made = kit(order, "SMY")
    outline = made.blueprints["S"].canonical
    half = rotate(outline, 180, origin=outline.envelope.centroid)
    is_same = half.symmetric_difference(outline).area < 1e-6
    blueprint = made.blueprints["S"]
    recesses = with_poles(blueprint.recesses, "SN", blueprint.foot, made.profile)
    other = printed(replace(blueprint, recesses=recesses), "S.stl")
    bodies = [other, made.bodies["M"], made.bodies["Y"]]
    found = failed(inspected(bodies, made.puzzle, made.profile))
    assert found == (set() if is_same else {("S", "pole-mark")})


def test_marks_are_no_recesses_and_no_letters() -> None:
    made = kit(MARKED, "LMY")
    reports = inspected(list(made.bodies.values()), made.puzzle, made.profile)
    (part,) = (one for one in reports if one.identity.piece == "L")
    assert (len(part.anatomy.recesses), len(part.anatomy.marks)) == (2, 1)
    assert all(label.above for label in part.anatomy.labels)
    rules = {finding.rule for finding in part.findings}
    assert rules >= {"pole-mark", "mark-depth", "mark-diameter", "mark-wall", "mark-floor"}


def test_marked_meshes_were_not_made_with_a_profile_whose_poles_are_the_same() -> None:
    made = kit(MARKED, "LNSTU")
    taken = take(list(made.bodies.values()), made.puzzle, 20.0)
    shipped = [load_profile([name]) for name in preset_names()]
    assert recognise(taken, shipped) is None
    assert recognise(taken, [*shipped, made.profile]) == made.profile


def test_the_bottom_of_a_mark_is_level(tmp_path: Path) -> None:
    (one,) = (one for one in print_set("fridgeiq", MARKED, tmp_path) if one.drawing.id == "R")
    disc = measure.flat_part(one.mesh, 0.4, DOWN)
    assert disc.area == pytest.approx(math.pi * (ACROSS_MM / 2) ** 2, rel=0.005)
    assert measure.flat_part(one.mesh, 0.4, UP).is_empty
