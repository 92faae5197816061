"""Magnets: where they go, against a brute-force grid; on which layers their recesses end; their
poles.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from shapely import Polygon

from fabkit.core.errors import InputError
from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.drawing.magnets import assign_poles, poles
from fabkit.drawing.outline import DrawingError, offset_outline
from fabkit.mesh.mesh import Mesh
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.layers import recess_span
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile, preset_names
from fabkit.sets.library import load_set
from fabkit.verify.reports import CheckReport, check
from fabkit.verify.scan import Scanner, match_profile
from tests.support import analytic, measure
from tests.support.faults import outline as leaning
from tests.support.faults.kits import MARKED, MARKED_INSIDE, kit
from tests.support.faults.planting import Case
from tests.support.prints import NO_PEGS, Order, print_set
from tests.support.strategies import cell_sets, outline_of, piece_of

Points = NDArray[np.float64]
FRIDGEIQ = load_set("fridgeiq")
BISECT_STEP_MM = 0.25
#: Three fifths of a layer are left over; with the default numbers none is.
UNEVEN = ("layers.height=0.25 mm", "thickness=7.1 mm")
EMBEDDED, DOWN = "recess.fit=embedded", "plate.face=down"


# --- where they go --------------------------------------------------------------------------


def keeps_walls(points: ArrayLike, outline: Polygon, profile: Profile, off_mm: float = 0) -> Points:
    """Which places for the centre of a magnet keep the walls, and more, judged one by one."""
    radius_mm = analytic.recess_mm(profile) / 2
    low_mm, high_mm = analytic.recess_heights_mm(profile)
    top_mm = profile.thickness_mm - profile.top_chamfer_mm
    low_mm = low_mm if profile.embedded else profile.lead_in_mm
    narrowest_mm = max(0.0, profile.foot_chamfer_mm - low_mm, high_mm - top_mm)
    walls = [(analytic.inset_outline(outline, narrowest_mm), radius_mm + profile.wall_mm)]
    if not profile.embedded:
        foot = analytic.inset_outline(outline, profile.foot_chamfer_mm)
        walls.append((foot, radius_mm + profile.lead_in_mm + profile.bed_wall_mm))
    places = shapely.points(np.asarray(points))
    kept = [off(places, area) >= wall_mm + off_mm for area, wall_mm in walls]
    return np.logical_and.reduce(kept)


def off(places: Points, area: Polygon) -> Points:
    """How far inside an area places are; outside of it, less than nothing."""
    shapely.prepare(area)
    inside = shapely.contains(area, places)
    return np.where(inside, shapely.distance(area.boundary, places), -1)


def grid(outline: Polygon, profile: Profile) -> Points:
    """Places that keep a little more than the walls."""
    left, bottom, right, top = outline.bounds
    axes = np.meshgrid(
        np.arange(left, right, BISECT_STEP_MM), np.arange(bottom, top, BISECT_STEP_MM)
    )
    points = np.column_stack([axis.ravel() for axis in axes])
    return points[keeps_walls(points, outline, profile, 0.005)]


def widest_apart_mm(points: Points, at_most_mm: float) -> float:
    """The greatest distance between two of some points that is not more than a limit."""
    found_mm = 0.0
    for point in points:
        distances = np.hypot(*(points - point).T)
        found_mm = max(found_mm, float(distances[distances <= at_most_mm].max()))
        if found_mm > at_most_mm - 0.05:
            break
    return found_mm


def least_apart_mm(profile: Profile) -> float:
    """Between the centres of two recesses, for the walls beside the recesses and at the bed."""
    at_bed_mm = 0.0 if profile.embedded else 2 * profile.lead_in_mm + profile.bed_wall_mm
    return analytic.recess_mm(profile) + max(profile.wall_mm, at_bed_mm)


def misplaced(outline: Polygon, centres: ArrayLike, profile: Profile) -> list[str]:
    """What a brute-force search finds wrong with the places of magnets."""
    centres, middle = np.asarray(centres), np.asarray(outline.centroid.coords[0])
    farthest_mm, wrong = 2 * profile.unit_mm, []
    if not keeps_walls(centres, outline, profile).all():
        wrong.append("too near to the side")
    if len(centres) == 1:
        radii = np.arange(0, math.dist(centres[0], middle) - 0.05, 0.1)
        angles = np.linspace(0, 2 * math.pi, 361)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        nearer = (middle + radii[:, None, None] * circle).reshape(-1, 2)
        if keeps_walls(nearer, outline, profile, 0.005).any():
            wrong.append("another place is nearer to the centroid")
        return wrong
    apart_mm = math.dist(*centres)
    if apart_mm < farthest_mm - 0.1:
        possible_mm = widest_apart_mm(grid(outline, profile), farthest_mm)
        if apart_mm < possible_mm - 0.1:
            wrong.append(f"{possible_mm:.1f} mm apart is possible")
    if apart_mm > farthest_mm + 0.003:
        wrong.append(f"{apart_mm:.3f} mm apart is more than two units")
    if apart_mm < least_apart_mm(profile):
        wrong.append("too near to each other")
    return wrong


UNIT_15 = ("unit=15 mm", "magnet.diameter=8 mm", "recess.wall=1.5 mm")
ALL = "ABDEIJLMNOQRSTUY"


@pytest.mark.parametrize(
    ("pieces", "settings"),
    [
        ("DLQ", ()),
        ("NY", UNIT_15),
        ("SB", (EMBEDDED,)),
        pytest.param(ALL, UNIT_15, marks=pytest.mark.integration),
        pytest.param(ALL, (EMBEDDED,), marks=pytest.mark.long),
    ],
)
def test_magnets_of_fridgeiq_are_well_placed(pieces: str, settings: tuple[str, ...]) -> None:
    profile = load_profile((), settings)
    drawings = {one.id: one for one in analytic.drawings("fridgeiq")}
    for blueprint in draft_all(FRIDGEIQ, FRIDGEIQ.select(pieces), profile, draft_flat_piece):
        drawing = drawings[blueprint.piece]
        centres = [recess.centre_mm for recess in blueprint.recesses]
        assert len(centres) == drawing.magnets
        assert misplaced(analytic.printed_outline(drawing.outline, profile), centres, profile) == []


def test_misplaced_magnets_are_reported() -> None:
    block, bar = shapely.box(0, 0, 40, 20), shapely.box(0, 0, 20, 80)
    for outline, centres, fault in (
        (block, [[20.0, 10.1]], "another place is nearer to the centroid"),
        (block, [[6.9, 10.0]], "too near to the side"),
        (bar, [[10.0, 20.2], [10.0, 59.8]], "40.0 mm apart is possible"),
        (bar, [[10.0, 19.9], [10.0, 60.1]], "40.200 mm apart is more than two units"),
        (bar, [[10.0, 34.1], [10.0, 45.9]], "too near to each other"),
    ):
        assert fault in misplaced(outline, centres, load_profile())


def misplaced_on(shape: tuple[Lattice, frozenset[Cell]], magnet_mm: float, fit: str) -> list[str]:
    """What is wrong with the places of magnets, or with the refusal, for a piece of any shape."""
    canonical = outline_of(shape, unit_mm=12.0)
    settings = ["label.faces=none", NO_PEGS, f"recess.fit={fit}"]
    profile = replace(load_profile(["compact"], settings), magnet_diameter_mm=magnet_mm)
    left, bottom, right, top = canonical.bounds
    count = 2 if max(right - left, top - bottom) > 3 * 12 - 1e-6 else 1
    puzzle = PuzzleSet("random", "random", shape[0], False, (), (), (), "random.toml", "")
    try:
        blueprint = draft_flat_piece(puzzle, piece_of(*shape), profile)
    except DrawingError as refusal:
        places = grid(offset_outline(canonical, profile), profile)
        least_mm = least_apart_mm(profile) + 0.1 if count == 2 else 0.0
        fits = len(places) > 0 and widest_apart_mm(places, 2 * profile.unit_mm) >= least_mm
        return [f"there is room, but: {refusal}"] if fits else []
    centres = [recess.centre_mm for recess in blueprint.recesses]
    wrong = [] if len(centres) == count else [f"{len(centres)} magnets"]
    return wrong + misplaced(blueprint.outline, centres, profile)


@given(cell_sets(most=14), st.floats(4, 9), st.sampled_from(["press", "embedded"]))
def test_magnets_of_random_pieces_are_well_placed(
    shape: tuple[Lattice, frozenset[Cell]], magnet_mm: float, fit: str
) -> None:
    assert misplaced_on(shape, magnet_mm, fit) == []


def test_odd_pieces_on_which_magnets_have_been_misplaced() -> None:
    # Two bends, each with room for one magnet, are three units apart.
    bends = frozenset({(-5, -5), (-5, -3), (-3, -3), (-1, -3), (1, -3), (1, -1)})
    assert misplaced_on((LATTICES["square"], bends), 9.0, "press") == []
    # The foot of a square that stands on its corner is 7.485 mm wide; lead-in and walls need 7.5
    # mm.
    diamond = frozenset({(3, -7), (3, -5)})
    assert misplaced_on((LATTICES["quarter-square"], diamond), 5.0, "press") == []


# --- magnets that do not fit ----------------------------------------------------------------

NO_ROOM = re.compile(
    r"pieces? (?P<pieces>[A-Z, ]+): (a magnet|two magnets) of (?P<magnet>[\d.]+) x 3 mm "
    r"\(recess (?P<recess>[\d.]+) mm\) would (leave a wall of (?P<there>[\d.]+) mm|break through the "
    r"side by (?P<through>[\d.]+) mm), and recess\.(?P<key>wall|bed_wall) requires a wall of "
    r"(?P<asked>[\d.]+) mm; the largest that fits is (?P<largest>[\d.]+) mm across"
)


def refusal_of(changes: list[str], pieces: str) -> str:
    """What drafting some pieces of FridgeIQ is refused with; nothing if it is not."""
    try:
        draft_all(FRIDGEIQ, FRIDGEIQ.select(pieces), load_profile((), changes), draft_flat_piece)
    except InputError as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize(
    ("piece", "magnet_mm", "changes"),
    [
        ("D", 18, []),
        ("Y", 16, ["recess.fit=glue"]),
        ("L", 19, [EMBEDDED]),
        ("Q", 18, ["recess.wall=0.6 mm"]),
    ],
)
def test_a_magnet_that_does_not_fit_is_refused_with_numbers(
    piece: str, magnet_mm: float, changes: list[str]
) -> None:
    settings = [*changes, f"magnet.diameter={magnet_mm} mm"]
    found, profile = NO_ROOM.search(refusal_of(settings, piece)), load_profile((), settings)
    assert found
    assert (found["pieces"], found["magnet"]) == (piece, str(magnet_mm))
    assert float(found["recess"]) == pytest.approx(analytic.recess_mm(profile))
    asked_mm = profile.wall_mm if found["key"] == "wall" else profile.bed_wall_mm
    there_mm = float(found["there"]) if found["there"] else -float(found["through"])
    assert there_mm < asked_mm == float(found["asked"])
    (drawing,) = (one for one in analytic.drawings("fridgeiq") if one.id == piece)
    if drawing.magnets == 1:
        at_bed = found["key"] == "bed_wall"
        outline = analytic.printed_outline(drawing.outline, profile)
        area = analytic.inset_outline(outline, profile.foot_chamfer_mm * at_bed)
        widest_mm = shapely.maximum_inscribed_circle(area, tolerance=1e-3).length
        wall_mm = widest_mm - analytic.recess_mm(profile) / 2 - profile.lead_in_mm * at_bed
        # Walls are named to the hundredth, what is missing to a tenth, rounded up.
        assert there_mm == pytest.approx(wall_mm, abs=0.02 if there_mm > 0 else 0.11)
    for more, refused in ((0, False), (0.2, True)):
        size = f"magnet.diameter={float(found['largest']) + more:.3f} mm"
        assert bool(refusal_of([*changes, size], piece)) == refused


def test_faults_are_shared_and_no_magnet_at_all_is_reported() -> None:
    shared = refusal_of(["magnet.diameter=21 mm"], "ARE")
    assert "pieces A, R, E: a magnet of 21 x 3 mm" in shared
    assert "no magnet fits here, choose a larger unit" in refusal_of(["recess.wall=12 mm"], "D")


# --- heights ----------------------------------------------------------------------------------


@st.composite
def layered(draw: st.DrawFn) -> dict[str, int]:
    """Numbers that say where layers end and how deep recesses are, in hundredths of a millimetre."""
    bounds = {"first_layer": (5, 60), "layer": (5, 60), "magnet_height": (30, 800), "air": (10, 30)}
    bounds |= {"floor": (20, 300), "roof": (20, 200)}
    bounds |= {"label_depth": (10, 150), "thickness": (300, 1500)}
    return {key: draw(st.integers(*ends)) for key, ends in bounds.items()}


WAYS = ("press front", "embedded front", "embedded both", "glue none")


@given(layered(), st.sampled_from(WAYS), st.sampled_from(["up", "down"]))
def test_recesses_span_whole_layers(of: dict[str, int], style: str, facing: str) -> None:
    """By trying every layer from the bed up, in hundredths, so that the expectation is exact."""
    fit, faces = style.split()
    lengths = {f"{key}_mm": value / 100 for key, value in of.items()}
    profile = replace(load_profile(), fit=fit, faces=faces, facing=facing, **lengths)
    thick, needed = of["thickness"], of["magnet_height"] + of["air"]
    ends = [0, *range(of["first_layer"], 3000, of["layer"])]
    if facing == "up":
        low = min(end for end in ends if end >= of["floor"]) if fit == "embedded" else 0
        high = min(end for end in ends if end >= low + needed)
    else:
        ends = [thick - end for end in ends if end <= thick]
        low = min(end for end in ends if end >= of["floor"]) if fit == "embedded" else 0
        high = min((end for end in ends if end >= low + needed), default=thick)
    too_loose = high - low - of["magnet_height"] > 30
    front, back = (of["label_depth"] * (faces in asked) for asked in (("front", "both"), ("both",)))
    too_thin = thick - high - front < of["roof"]
    too_thin |= fit == "embedded" and low - back < of["roof"]
    if too_loose or too_thin:
        with pytest.raises(ValueError, match=r"layers\.height" if too_loose else r"recess\.roof"):
            recess_span(profile)
        return
    span = recess_span(profile)
    assert (span.low_mm, span.high_mm) == (low / 100, high / 100)


@pytest.mark.parametrize(
    ("settings", "pause_mm"),
    [
        ((EMBEDDED,), 3.8),
        ((EMBEDDED, DOWN), 6.4),
        ((EMBEDDED, *UNEVEN), 3.95),
        ((EMBEDDED, DOWN, *UNEVEN), 6.45),
        ((DOWN,), None),
    ],
)
def test_the_pause_is_as_printed(settings: tuple[str, ...], pause_mm: float | None) -> None:
    profile = load_profile((), settings)
    drawing, span = draft_flat_piece(FRIDGEIQ, FRIDGEIQ.piece("D"), profile), recess_span(profile)
    assert drawing.pause_height_mm == pause_mm
    assert drawing.facing == ("down" if DOWN in settings else "up")
    assert {(one.low_mm, one.high_mm) for one in drawing.recesses} == {(span.low_mm, span.high_mm)}


def failed(report: CheckReport) -> set[str]:
    return {finding.rule for part in report.parts for finding in part.failed}


@pytest.mark.integration
def test_check_knows_which_face_is_down() -> None:
    uneven, nine = (EMBEDDED, *UNEVEN), "printer.max_bridge=9 mm"
    for made_with, held, rules in (
        # A pause that is on a layer one way is off it the other.
        (uneven, (DOWN, *uneven), {"pause-height"}),
        # Face up the ceiling is a recess's end, 10.1 mm across; face down it is a letter's.
        ((), (nine,), {"bridge"}),
        ((), (DOWN, nine), set()),
    ):
        made, profile = kit(Order((), made_with), "LM"), load_profile((), held)
        scanned = Scanner(list(made.bodies.values()), made.puzzle).scan(profile.unit_mm)
        assert failed(check(scanned, profile)) == rules


@pytest.mark.integration
def test_the_chamfer_that_leans_out_is_that_above_the_bed() -> None:
    case = Case(kit(Order(), "MLY"), "M", Random(0))
    for plant, expected in ((leaning.steep_top, "down"), (leaning.steep_foot, "up")):
        planted = plant(case, 1.3)
        for facing in ("up", "down"):
            profile = replace(case.profile, facing=facing)
            report = replace(planted, profile=profile).report()
            assert failed(report) == ({"overhang"} if facing == expected else set())


# --- poles --------------------------------------------------------------------------------

ALTERNATING = "magnet.polarity=alternating"
#: With a floor in which there is room for a mark, and recesses instead of pegs.
WITH_MARKS = (ALTERNATING, "recess.floor=1 mm", NO_PEGS)
ACROSS_MM = 1.6


@pytest.mark.in_turn
@pytest.mark.parametrize("set_name", ["fridgeiq", "cubimagici", "iqblock", "iqstars"])
def test_poles_alternate_through_the_set_from_left_to_right(set_name: str) -> None:
    puzzle, profile = load_set(set_name), load_profile((), WITH_MARKS)
    in_turn, in_all = {one.id: poles(puzzle, one, profile) for one in puzzle.pieces}, []
    for drawing in analytic.drawings(set_name):
        assert len(in_turn[drawing.id]) == drawing.magnets
        in_all += in_turn[drawing.id]
    assert "".join(in_all) == ("NS" * len(in_all))[: len(in_all)]
    for blueprint in draft_all(puzzle, puzzle.pieces, profile, draft_flat_piece):
        recesses = blueprint.recesses
        apart = abs(recesses[0].centre_mm[0] - recesses[-1].centre_mm[0]) > 1.0
        axis = 0 if apart else 1  # one above the other: from below
        in_order = sorted(recesses, key=lambda one: one.centre_mm[axis])
        assert tuple(one.pole for one in in_order) == in_turn[blueprint.piece]
        assert all((one.mark is not None) == (one.pole == "S") for one in recesses)
        if blueprint.piece in "DLU":  # whatever else is selected
            assert draft_all(
                puzzle, [puzzle.piece(blueprint.piece)], profile, draft_flat_piece
            ) == [blueprint]


def test_poles_that_are_the_same_or_free_have_no_marks() -> None:
    for polarity, pole in (("same", "N"), ("free", "")):
        profile = load_profile((), [f"magnet.polarity={polarity}"])
        recesses = [
            one
            for b in draft_all(FRIDGEIQ, FRIDGEIQ.pieces, profile, draft_flat_piece)
            for one in b.recesses
        ]
        assert {(one.pole, one.mark) for one in recesses} == {(pole, None)}


@pytest.mark.parametrize(
    ("settings", "end_mm", "high_mm", "pause_mm"),
    [
        ((), 0.0, 0.4, None),
        # From above, two layers and what is left over.
        ((DOWN, *UNEVEN), 0.0, 0.65, None),
        # At the pause one looks down into a cavity: as printed, the dimple goes down from its
        # floor.
        ((EMBEDDED,), 0.6, 1.0, 4.2),
        pytest.param((EMBEDDED, DOWN), 4.2, 4.6, 6.0, marks=pytest.mark.integration),
    ],
)
def test_south_poles_are_marked_where_the_magnet_goes_in(
    settings: tuple[str, ...], end_mm: float, high_mm: float, pause_mm: float, tmp_path: Path
) -> None:
    """Measured on the meshes: round, as deep as it should be, and beside or below its magnet."""
    marked = 0
    for one in print_set("fridgeiq", Order((), (*WITH_MARKS, *settings)), tmp_path, "LR"):
        small = [h for h in measure.holes(one.section((end_mm + high_mm) / 2)) if h.area < 4]
        circles = [measure.fit_circle(measure.corners(hole.exterior)) for hole in small]
        marks = {one.mark: one for one in one.blueprint.recesses if one.mark}
        assert len(circles) == len(marks)
        marked += len(marks)
        levels = {z for z, _ in measure.flat_levels(one.mesh)}
        assert not marks or {end_mm, high_mm} <= levels
        for circle, (mark, recess) in zip(circles, marks.items(), strict=True):
            assert (mark.low_mm, mark.high_mm) == (end_mm, high_mm)
            assert circle.diameter_mm == pytest.approx(ACROSS_MM, abs=0.01)
            assert math.dist((circle.x_mm, circle.y_mm), mark.centre_mm) < 0.005
            off_mm = math.dist(mark.centre_mm, recess.centre_mm)
            assert off_mm == 0 if one.profile.embedded else off_mm > 5
        assert len(measure.shells(one.mesh)) == 1 + one.magnets * one.profile.embedded
        assert one.blueprint.pause_height_mm == pause_mm
    assert marked


def test_marks_are_as_near_to_their_recess_as_can_be() -> None:
    """Against rings of points: no other place in the back with these walls is nearer."""
    profile = load_profile((), WITH_MARKS)
    angles = np.linspace(0, 2 * math.pi, 240)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    keep_mm = ACROSS_MM / 2 + profile.bed_wall_mm
    for drawing in analytic.drawings("fridgeiq")[::4]:
        blueprint = draft_flat_piece(FRIDGEIQ, FRIDGEIQ.piece(drawing.id), profile)
        outline = analytic.printed_outline(drawing.outline, profile)
        foot = analytic.inset_outline(outline, profile.foot_chamfer_mm)
        in_turn = "S" * len(blueprint.recesses)
        recesses = assign_poles(blueprint.recesses, in_turn, blueprint.foot, profile)
        lead_ins = shapely.points([recess.centre_mm for recess in recesses])

        def has_room(
            places: ArrayLike, foot: Polygon = foot, lead_ins: Points = lead_ins
        ) -> Points:
            points, lead_in_mm = (
                shapely.points(np.asarray(places)),
                analytic.lead_in_diameter_mm(profile),
            )
            off_mm = shapely.distance(points[:, None], lead_ins).min(axis=1) - lead_in_mm / 2
            return (off(points, foot) >= keep_mm) & (off_mm >= keep_mm)

        for recess in recesses:
            assert recess.mark is not None
            reach_mm = math.dist(recess.mark.centre_mm, recess.centre_mm) - 0.02
            assert has_room([recess.mark.centre_mm]).all()
            for away_mm in np.arange(reach_mm, reach_mm - 1.5, -0.1):
                assert not has_room(recess.centre_mm + away_mm * circle).any()


def test_no_room_in_the_back_is_reported_with_numbers() -> None:
    """A triangle 8 mm high, of which the magnet leaves nothing but thin tips."""
    small = ["unit=8 mm", "magnet.diameter=3 mm", "recess.wall=0.6 mm", "tip_flat=1 mm"]
    profile = load_profile((), [ALTERNATING, "label.faces=none", *small])
    blueprint = draft_flat_piece(FRIDGEIQ, FRIDGEIQ.piece("D"), replace(profile, polarity="same"))
    with pytest.raises(DrawingError, match=r"1\.6 mm across, .* opens to 4\.1 mm: .* 0\.7 mm"):
        assign_poles(blueprint.recesses, "S", blueprint.foot, profile)
    assert assign_poles(blueprint.recesses, "N", blueprint.foot, profile)[0].mark is None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ([EMBEDDED], r"magnet\.polarity: .* 0\.2 mm of plastic; the minimum is 0\.4 mm"),
        ([EMBEDDED, "recess.floor=1 mm", "magnet.diameter=3 mm"], r"3\.2 mm at least"),
        (
            [EMBEDDED, DOWN, "thickness=5.4 mm", "label.depth=0.9 mm"],
            r"magnet\.polarity: .*choose a thicker piece",
        ),
    ],
)
def test_marks_for_which_there_is_no_room_are_refused(settings: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        load_profile((), [ALTERNATING, *settings])
    load_profile((), settings)


@pytest.mark.parametrize(
    "order", [MARKED, pytest.param(MARKED_INSIDE, marks=pytest.mark.integration)]
)
def test_marks_are_read_however_the_piece_lies(order: Order) -> None:
    made = kit(order, "LM")
    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    bodies = [Mesh(one.name, one.vertices @ quarter.T, one.faces) for one in made.bodies.values()]
    scanned = Scanner(bodies, made.puzzle).scan(made.profile.unit_mm)
    assert failed(check(scanned, made.profile)) == set()
    # They were not made with a profile whose poles are the same.
    shipped = [load_profile([name]) for name in preset_names()]
    assert match_profile(scanned, shipped) is None
    assert match_profile(scanned, [*shipped, made.profile]) == made.profile
