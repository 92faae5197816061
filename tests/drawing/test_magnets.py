"""Magnets: where they go, against a brute-force grid; on which layers their recesses end; their poles."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from shapely import Point, Polygon

from fabkit.core.errors import InputError
from fabkit.drawing.draft import draft, draft_all
from fabkit.drawing.magnets import Recess, poles, with_poles
from fabkit.drawing.outline import BlueprintError, printed_outline
from fabkit.mesh.body import Body
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.layers import recess_span
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.check import CheckReport, check
from fabkit.verify.recognise import recognise
from fabkit.verify.reports import FlatReport
from fabkit.verify.taking import take
from tests.support import analytic, measure
from tests.support.checks import check_mouths, check_outline, check_recesses, check_shells
from tests.support.faults import outline as leaning
from tests.support.faults.kits import MARKED, MARKED_INSIDE, kit, printed
from tests.support.faults.planting import Case
from tests.support.layered import Layered, layered
from tests.support.measure import DOWN
from tests.support.prints import NO_STUBS, TINY_MM, Order, Print, print_set
from tests.support.strategies import cell_sets, outline_of, piece_of

Points = NDArray[np.float64]


class Room:
    """Where the centre of a magnet may be, judged point by point from the walls alone."""

    def __init__(self, outline: Polygon, profile: Profile, slack_mm: float = 0.0) -> None:
        radius_mm = analytic.bore_mm(profile) / 2
        low_mm, high_mm = analytic.recess_heights_mm(profile)
        if profile.fit != "embedded":
            low_mm = profile.mouth_mm
        top_mm = profile.thickness_mm - profile.top_chamfer_mm
        narrowest_mm = max(0.0, profile.foot_chamfer_mm - low_mm, high_mm - top_mm)
        beside_bore = analytic.moved_in(outline, narrowest_mm) if narrowest_mm else outline
        self.outline = outline
        self.limits = [(beside_bore, radius_mm + profile.wall_mm - slack_mm)]
        if profile.fit != "embedded":
            foot = analytic.moved_in(outline, profile.foot_chamfer_mm)
            at_bed_mm = radius_mm + profile.mouth_mm + profile.bed_wall_mm
            self.limits.append((foot, at_bed_mm - slack_mm))

    def allows(self, points: Points) -> NDArray[np.bool_]:
        places = shapely.points(points)
        allowed = np.ones(len(points), dtype=bool)
        for area, keep_off_mm in self.limits:
            shapely.prepare(area)
            allowed[allowed] &= shapely.contains(area, places[allowed])
            allowed[allowed] &= ~shapely.dwithin(area.boundary, places[allowed], keep_off_mm)
        return allowed

    def grid(self, step_mm: float) -> Points:
        """The allowed points of a grid."""
        left, bottom, right, top = self.outline.bounds
        xs, ys = np.arange(left, right, step_mm), np.arange(bottom, top, step_mm)
        points = np.column_stack([axis.ravel() for axis in np.meshgrid(xs, ys)])
        return points[self.allows(points)]


def least_apart_mm(profile: Profile) -> float:
    """Between the centres of two recesses, for the walls beside the bores and at the bed."""
    at_bed_mm = 2 * profile.mouth_mm + profile.bed_wall_mm if profile.fit != "embedded" else 0.0
    return analytic.bore_mm(profile) + max(profile.wall_mm, at_bed_mm)


def nearer_than(room: Room, distance_mm: float) -> Points:
    """Allowed points nearer to the centroid, on circles around it."""
    middle = np.asarray(room.outline.centroid.coords[0])
    radii = np.linspace(0, max(distance_mm, 0.0), 60)
    turns = np.linspace(0, 2 * math.pi, 361)
    circle = np.column_stack([np.cos(turns), np.sin(turns)])
    points = (middle + radii[:, None, None] * circle).reshape(-1, 2)
    return points[room.allows(points)] if distance_mm > 0 else points[:0]


def widest_apart_mm(points: Points, at_most_mm: float = math.inf) -> float:
    """The greatest distance between two of some points that is not more than a limit."""
    if len(points) == 0:
        return 0.0
    hull = shapely.get_coordinates(shapely.convex_hull(shapely.multipoints(points)))
    widest_mm = float(np.hypot(*(hull[:, None] - hull).T).max())
    if widest_mm <= at_most_mm:
        return widest_mm
    found_mm = 0.0
    for point in points:
        distances = np.hypot(*(points - point).T)
        found_mm = max(found_mm, float(distances[distances <= at_most_mm].max()))
        if found_mm > at_most_mm - 0.05:
            break
    return found_mm


def misplaced(outline: Polygon, centres: Points, profile: Profile, step_mm: float) -> list[str]:
    """What a brute-force search finds wrong with the places of magnets."""
    middle = np.asarray(outline.centroid.coords[0])
    farthest_mm = 2 * profile.unit_mm
    wrong = []
    if not Room(outline, profile).allows(centres).all():
        wrong.append("too near to the side")
    room = Room(outline, profile, slack_mm=-0.005)
    if len(centres) == 1:
        off_mm = math.dist(centres[0], middle)
        if len(nearer_than(room, off_mm - 0.05)):
            wrong.append("another place is nearer to the centroid")
        return wrong
    apart_mm = math.dist(*centres)
    if apart_mm < farthest_mm - 0.1:
        possible_mm = widest_apart_mm(room.grid(step_mm), farthest_mm)
        if apart_mm < possible_mm - 0.1:
            wrong.append(f"{possible_mm:.1f} mm apart is possible")
    if apart_mm > farthest_mm + 0.003:
        wrong.append(f"{apart_mm:.3f} mm apart is more than two units")
    if apart_mm < least_apart_mm(profile):
        wrong.append("too near to each other")
    return wrong


UNIT_15 = ("unit=15 mm", "magnet.diameter=8 mm", "recess.wall=1.5 mm")
ALL = "ABDEIJLMNOQRSTUY"
ORDERS = [(Order(), "DLQ"), (Order((), UNIT_15), "NY"), (Order((), ("recess.fit=embedded",)), "SB")]
ORDERS += [
    pytest.param(one, ALL, marks=pytest.mark.long if i else pytest.mark.integration)
    for i, one in enumerate(
        [
            Order((), UNIT_15),
            Order(),
            Order((), ("recess.fit=glue",)),
            Order((), ("recess.fit=embedded",)),
            Order(("compact",)),
            Order(("flippable",)),
            Order((), ("magnet.diameter=5 mm",)),
            Order((), ("unit=28 mm", "recess.wall=6 mm", "magnet.height=2 mm")),
        ]
    )
]


@pytest.mark.parametrize(("order", "pieces"), ORDERS, ids=str)
def test_magnets_of_fridgeiq_are_well_placed(order: Order, pieces: str) -> None:
    puzzle, profile, wrong = load_set("fridgeiq"), order.profile(), {}
    drawings = [one for one in analytic.drawings("fridgeiq") if one.id in pieces]
    chosen = [one for one in puzzle.pieces if one.id in pieces]
    for drawing, blueprint in zip(drawings, draft_all(puzzle, chosen, profile), strict=True):
        centres = np.asarray([recess.centre_mm for recess in blueprint.recesses])
        assert len(centres) == drawing.magnets
        outline = analytic.printed(drawing.outline, profile)
        wrong[drawing.id] = misplaced(outline, centres, profile, step_mm=0.1)
    assert {piece: faults for piece, faults in wrong.items() if faults} == {}


def test_misplaced_magnets_are_told() -> None:
    profile = load_profile()
    block, bar = shapely.box(0, 0, 40, 20), shapely.box(0, 0, 20, 80)
    for outline, centres, fault in (
        (block, [[20.0, 10.1]], "another place is nearer to the centroid"),
        (block, [[6.9, 10.0]], "too near to the side"),
        (bar, [[10.0, 20.2], [10.0, 59.8]], "40.0 mm apart is possible"),
        (bar, [[10.0, 19.9], [10.0, 60.1]], "40.200 mm apart is more than two units"),
        (bar, [[10.0, 34.1], [10.0, 45.9]], "too near to each other"),
    ):
        assert fault in misplaced(outline, np.asarray(centres), profile, step_mm=0.25)


def puzzle_on(lattice: Lattice) -> PuzzleSet:
    return PuzzleSet("random", "random", lattice, False, (), (), (), "random.toml", "")


def misplaced_on(shape: tuple[Lattice, frozenset[Cell]], magnet_mm: float, fit: str) -> list[str]:
    """What is wrong with the places of magnets, or with the refusal, for a piece of any shape."""
    canonical = outline_of(shape, unit_mm=12.0)
    profile = load_profile(
        ["compact"], ["label.faces=none", "stub.height=0 mm", f"recess.fit={fit}"]
    )
    profile = replace(profile, magnet_diameter_mm=magnet_mm)
    left, bottom, right, top = canonical.bounds
    count = 2 if max(right - left, top - bottom) > 3 * 12 - 1e-6 else 1
    try:
        blueprint = draft(puzzle_on(shape[0]), piece_of(*shape), profile)
    except BlueprintError as refusal:
        outline = printed_outline(canonical, profile)
        places = Room(outline, profile, slack_mm=-0.005).grid(0.25)
        least_mm = least_apart_mm(profile) + 0.1 if count == 2 else 0.0
        farthest_mm = 2 * profile.unit_mm
        fits = len(places) > 0 and widest_apart_mm(places, farthest_mm) >= least_mm
        return [f"there is room, but: {refusal}"] if fits else []
    centres = np.asarray([recess.centre_mm for recess in blueprint.recesses])
    wrong = [] if len(centres) == count else [f"{len(centres)} magnets"]
    return wrong + misplaced(blueprint.outline, centres, profile, step_mm=0.25)


@given(cell_sets(most=14), st.floats(4, 9), st.sampled_from(["press", "embedded"]))
def test_magnets_of_random_pieces_are_well_placed(
    shape: tuple[Lattice, frozenset[Cell]], magnet_mm: float, fit: str
) -> None:
    assert misplaced_on(shape, magnet_mm, fit) == []


def test_odd_pieces_on_which_magnets_have_been_misplaced() -> None:
    # Two bends, each with room for one magnet, are three units apart.
    bends = frozenset({(-5, -5), (-5, -3), (-3, -3), (-1, -3), (1, -3), (1, -1)})
    assert misplaced_on((LATTICES["square"], bends), 9.0, "press") == []
    # The foot of a square that stands on its corner is 7.485 mm wide; mouth and walls need 7.5 mm.
    diamond = frozenset({(3, -7), (3, -5)})
    assert misplaced_on((LATTICES["quarter-square"], diamond), 5.0, "press") == []


# --- magnets that do not fit ----------------------------------------------------------------

NO_ROOM = re.compile(
    r"pieces? (?P<pieces>[A-Z, ]+): (a magnet|two magnets) of (?P<magnet>[\d.]+) x 3 mm "
    r"\(bore (?P<bore>[\d.]+) mm\) would (leave a wall of (?P<there>[\d.]+) mm|break through the "
    r"side by (?P<through>[\d.]+) mm), and recess\.(?P<key>wall|bed_wall) asks for a wall of "
    r"(?P<asked>[\d.]+) mm; the largest that fits is (?P<largest>[\d.]+) mm across"
)


def refusal_of(changes: list[str], pieces: str) -> str | None:
    """What drafting some pieces of FridgeIQ is refused with."""
    puzzle = load_set("fridgeiq")
    try:
        draft_all(puzzle, puzzle.select(pieces), load_profile((), changes))
    except InputError as refusal:
        return str(refusal)
    return None


@pytest.mark.parametrize(
    ("piece", "magnet_mm", "changes"),
    [
        ("D", 13, []),
        ("D", 18, []),
        ("B", 30, []),
        ("Y", 16, ["recess.fit=glue"]),
        ("S", 17, ["recess.fit=ribs"]),
        ("L", 19, ["recess.fit=embedded"]),
        ("Q", 18, ["recess.wall=0.6 mm"]),
        ("A", 20, ["recess.wall=1 mm", "recess.bed_wall=3 mm"]),
    ],
)
def test_a_magnet_that_does_not_fit_is_refused_with_numbers(
    piece: str, magnet_mm: float, changes: list[str]
) -> None:
    message = refusal_of([*changes, f"magnet.diameter={magnet_mm} mm"], piece)
    assert message is not None
    found = NO_ROOM.search(message)
    assert found, message
    profile = load_profile((), [*changes, f"magnet.diameter={magnet_mm} mm"])
    assert found["pieces"] == piece
    assert found["magnet"] == str(magnet_mm)
    assert float(found["bore"]) == pytest.approx(analytic.bore_mm(profile))
    asked_mm = profile.wall_mm if found["key"] == "wall" else profile.bed_wall_mm
    assert float(found["asked"]) == asked_mm
    there_mm = float(found["there"]) if found["there"] else -float(found["through"])
    assert there_mm < asked_mm
    (drawing,) = (one for one in analytic.drawings("fridgeiq") if one.id == piece)
    if drawing.magnets == 1:
        at_bed = found["key"] == "bed_wall"
        outline = analytic.printed(drawing.outline, profile)
        area = analytic.moved_in(outline, profile.foot_chamfer_mm * at_bed)
        widest_mm = shapely.maximum_inscribed_circle(area, tolerance=1e-3).length
        wall_mm = widest_mm - analytic.bore_mm(profile) / 2 - profile.mouth_mm * at_bed
        # Walls are named to the hundredth, what is missing to a tenth, rounded up.
        assert there_mm == pytest.approx(wall_mm, abs=0.02 if there_mm > 0 else 0.11)
    largest_mm = float(found["largest"])
    fits, too_large = (f"magnet.diameter={largest_mm + more:.3f} mm" for more in (0, 0.2))
    assert refusal_of([*changes, fits], piece) is None
    assert refusal_of([*changes, too_large], piece) is not None


def test_faults_are_shared_and_no_magnet_at_all_is_said() -> None:
    assert "pieces A, R, E: a magnet of 21 x 3 mm" in str(
        refusal_of(["magnet.diameter=21 mm"], "ARE")
    )
    assert "no magnet fits here, choose a larger unit or recess.fit none" in str(
        refusal_of(["recess.wall=12 mm"], "D")
    )


# --- heights, printed face down: recesses end on layers counted from the lettered face ----


DOWNWARDS = "plate.face=down"
#: Three fifths of a layer are left over; with the default numbers none is.
UNEVEN = ("layers.height=0.25 mm", "thickness=7.1 mm")


def down(*settings: str) -> Order:
    return Order((), (DOWNWARDS, *settings))


def boundaries(first: int, layer: int, thickness: int) -> list[int]:
    """All that a printer can end a layer at, from the bed up."""
    return [0, *range(first, thickness + 1, layer)]


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
    drawing = draft(puzzle, puzzle.piece("D"), load_profile((), settings))
    assert drawing.pause_height_mm == pause_mm
    assert drawing.facing == ("down" if DOWNWARDS in settings else "up")


def test_a_letter_and_a_magnet_that_do_not_fit_are_refused_face_down() -> None:
    for setting, says in (
        ("thickness=4.2 mm", r"recess\.roof asks for 0\.6 mm"),
        ("layers.height=0.58 mm", r"choose a smaller layers\.height"),
    ):
        with pytest.raises(InputError, match=says):
            load_profile((), [DOWNWARDS, setting])


def ends_of_recesses(one: Print) -> list[float]:
    """The heights above the bed of the level surfaces that are no letter's, nor a face's."""
    over, profile = one.mesh.copy(), one.profile
    over.vertices = over.vertices * [1, -1, -1] + [0, 0, profile.thickness_mm]
    known = (0.0, profile.thickness_mm, profile.label_depth_mm)
    levels = sorted({z for z, _ in measure.flat_levels(over)})
    return [z for z in levels if all(abs(z - other) > TINY_MM for other in known)]


@pytest.mark.parametrize(
    ("fit", "more"),
    [
        ("embedded", UNEVEN),
        pytest.param("press", UNEVEN, marks=pytest.mark.integration),
        pytest.param("ribs", (), marks=pytest.mark.integration),
        pytest.param("embedded", (), marks=pytest.mark.long),
    ],
)
def test_recesses_end_on_layers_as_printed(fit: str, more: tuple[str, ...], tmp_path: Path) -> None:
    """Measured on the mesh, turned over: ends, air, what is left of the floor and the roof."""
    for one in print_set("fridgeiq", down(f"recess.fit={fit}", *more), tmp_path, "DL"):
        profile, ends = one.profile, ends_of_recesses(one)
        assert len(ends) == (2 if fit == "embedded" else 1)
        for end in ends:
            layers = (end - profile.first_layer_mm) / profile.layer_mm
            assert layers == pytest.approx(round(layers), abs=0.002)
        top_mm = ends[1] if fit == "embedded" else profile.thickness_mm
        assert 0.1 - TINY_MM < top_mm - ends[0] - profile.magnet_height_mm < 0.3 + TINY_MM
        assert ends[0] - profile.label_depth_mm >= profile.roof_mm - TINY_MM
        if fit == "embedded":
            assert profile.thickness_mm - top_mm >= profile.floor_mm - TINY_MM
            assert one.blueprint.pause_height_mm == pytest.approx(top_mm, abs=TINY_MM)
        # Files lie on their back all the same.
        assert one.mesh.bounds[0, 2] == 0
        if fit == "ribs":
            for check_ in (check_shells, check_outline, check_recesses, check_mouths):
                assert list(check_(one)) == []


# --- what check says ----------------------------------------------------------------------


def failed(report: CheckReport) -> set[str]:
    return {finding.rule for part in report.parts for finding in part.failed}


def held_against(made_with: Order, held: Order, pieces: str = "LM") -> set[str]:
    """The rules that three pieces made with one profile break when held against another."""
    made = kit(made_with, pieces)
    profile = held.profile()
    bodies = list(made.bodies.values())
    return failed(check(take(bodies, made.puzzle, profile.unit_mm), profile))


EMBEDDED, EMBEDDED_DOWN = (
    Order((), ("recess.fit=embedded", *UNEVEN)),
    down("recess.fit=embedded", *UNEVEN),
)
NINE = "printer.max_bridge=9 mm"


@pytest.mark.parametrize(
    ("made_with", "held", "rules"),
    [
        pytest.param(EMBEDDED, EMBEDDED, set(), marks=pytest.mark.integration),
        # A pause that is on a layer one way is off it the other.
        (EMBEDDED, EMBEDDED_DOWN, {"pause-height"}),
        pytest.param(EMBEDDED_DOWN, EMBEDDED_DOWN, set(), marks=pytest.mark.integration),
        pytest.param(EMBEDDED_DOWN, EMBEDDED, {"pause-height"}, marks=pytest.mark.long),
        # Face up the ceiling is a recess's end, 10.1 mm across; face down it is a letter's.
        (Order(), Order((), (NINE,)), {"bridge"}),
        (Order(), down(NINE), set()),
        pytest.param(
            Order(), down("printer.max_bridge=1 mm"), {"bridge"}, marks=pytest.mark.integration
        ),
    ],
    ids=str,
)
def test_check_knows_which_face_is_down(made_with: Order, held: Order, rules: set[str]) -> None:
    assert held_against(made_with, held) == rules


@pytest.mark.integration
def test_the_chamfer_that_leans_out_is_that_above_the_bed() -> None:
    case = Case(kit(Order(), "MLY"), "M", Random(0))
    for plant, tells in ((leaning.steep_top, "down"), (leaning.steep_foot, "up")):
        planted = plant(case, 1.3)
        for facing in ("up", "down"):
            profile = replace(case.profile, facing=facing)
            report = replace(planted, profile=profile).report()
            assert failed(report) == ({"overhang"} if facing == tells else set())


# --- poles --------------------------------------------------------------------------------


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


@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_poles_alternate_through_the_set(set_name: str) -> None:
    puzzle, profile = load_set(set_name), alternating().profile()
    in_all = [pole for piece in puzzle.pieces for pole in poles(puzzle, piece, profile)]
    assert "".join(in_all) == ("NS" * len(in_all))[: len(in_all)]
    counts = Counter(in_all)
    assert counts["N"] - counts["S"] in (0, 1)
    marks = expected_marks(set_name)
    assert [pole == "S" for pole in in_all] == [one for piece in marks.values() for one in piece]


def test_poles_go_from_left_to_right_whatever_is_selected() -> None:
    puzzle, profile = load_set("fridgeiq"), alternating().profile()
    whole = {one.piece: one for one in draft_all(puzzle, puzzle.pieces, profile)}
    for piece in puzzle.pieces:
        if piece.id in "DLU":
            assert draft_all(puzzle, [piece], profile) == [whole[piece.id]]
        recesses = whole[piece.id].recesses
        apart = abs(recesses[0].centre_mm[0] - recesses[-1].centre_mm[0]) > 1.0
        axis = 0 if apart else 1  # one above the other: from below
        in_order = sorted(recesses, key=lambda one: one.centre_mm[axis])
        assert tuple(one.pole for one in in_order) == poles(puzzle, piece, profile)
    for polarity, pole in (("same", "N"), ("free", "")):
        other = load_profile((), [f"magnet.polarity={polarity}"])
        recesses = [one for b in draft_all(puzzle, puzzle.pieces, other) for one in b.recesses]
        assert {(one.pole, one.mark) for one in recesses} == {(pole, None)}


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
    ("set_name", "order", "pieces"),
    [
        ("fridgeiq", alternating(), "LRT"),
        ("fridgeiq", alternating("plate.face=down", *UNEVEN), "LR"),
        pytest.param(
            "iqstars", alternating("layers.first=0.3 mm"), "", marks=pytest.mark.integration
        ),
        pytest.param("fridgeiq", alternating("recess.fit=ribs"), "", marks=pytest.mark.integration),
        pytest.param("fridgeiq", alternating("recess.fit=glue"), "", marks=pytest.mark.long),
        pytest.param("fridgeiq", Order(("compact",), (ALTERNATING,)), "", marks=pytest.mark.long),
    ],
    ids=str,
)
def test_south_poles_are_marked_in_the_back(
    set_name: str, order: Order, pieces: str, tmp_path: Path
) -> None:
    expected = expected_marks(set_name)
    for one in print_set(set_name, order, tmp_path, pieces):
        assert wrong_marks(one, expected[one.drawing.id]) == [], one.drawing.id
        if one.drawing.id != "L":
            continue
        # The gauge can tell.
        assert any("marked are" in wrong for wrong in wrong_marks(one, [False, True]))
        assert any("1 dimples, not 2" in wrong for wrong in wrong_marks(one, [True, True]))
        for change, says in (({"layer_mm": 0.3}, "end at"), ({"bed_wall_mm": 2.5}, "a wall of")):
            other = replace(one, profile=replace(one.profile, **change))
            assert any(says in wrong for wrong in wrong_marks(other, expected["L"]))


@pytest.mark.parametrize("facing", ["up", pytest.param("down", marks=pytest.mark.integration)])
def test_closed_cavities_are_marked_in_the_end_that_is_printed_first(
    facing: str, tmp_path: Path
) -> None:
    """At the pause one looks down into it: as printed, the dimple goes down from its floor."""
    order = alternating("recess.fit=embedded", f"plate.face={facing}")
    expected = expected_marks("fridgeiq")
    for one in print_set("fridgeiq", order, tmp_path, "LR"):
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


def test_marks_are_as_near_to_their_recess_as_can_be() -> None:
    """Against rings of points: no other place in the back with these walls is nearer."""
    puzzle, profile = load_set("fridgeiq"), alternating().profile()
    drawings = analytic.drawings("fridgeiq")
    for piece, drawing in list(zip(puzzle.pieces, drawings, strict=True))[::4]:
        blueprint = draft(puzzle, piece, profile)
        outline = analytic.printed(drawing.outline, profile)
        foot = analytic.moved_in(outline, profile.foot_chamfer_mm)
        in_turn = "S" * len(blueprint.recesses)
        recesses = with_poles(blueprint.recesses, in_turn, blueprint.foot, profile)
        for recess in recesses:
            assert recess.mark is not None
            reach_mm = math.dist(recess.mark.centre_mm, recess.centre_mm) - 0.02
            assert has_room([recess.mark.centre_mm], foot, recesses).all()
            angles = np.linspace(0, 2 * math.pi, 240)
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


def wrong_rules(order: Order, quarters: int, swapped: str = "") -> set[tuple[str | None, str]]:
    """Which rules some pieces, turned, break when the marks of one are at the wrong magnets."""
    made = kit(order, "LM")
    bodies = dict(made.bodies)
    if swapped:
        blueprint = made.blueprints[swapped]
        recesses = with_poles(blueprint.recesses, "SN", blueprint.foot, made.profile)
        bodies[swapped] = printed(replace(blueprint, recesses=recesses), f"{swapped}.stl")
    cos, sin = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]], dtype=float)
    turned = [Body(one.name, one.vertices @ turn.T, one.faces) for one in bodies.values()]
    found = take(turned, made.puzzle, made.profile.unit_mm)
    reports = found.inspect(made.profile, lambda done, total, name: None)
    return {
        (one.identity.piece, finding.rule)
        for one in reports
        if isinstance(one, FlatReport)
        for finding in one.failed
    }


UNLETTERED = Order((), (ALTERNATING, "label.faces=none"))


@pytest.mark.parametrize(
    ("order", "quarters"),
    [
        (MARKED, 1),
        pytest.param(MARKED, 2, marks=pytest.mark.long),
        pytest.param(MARKED, 3, marks=pytest.mark.integration),
        pytest.param(MARKED_INSIDE, 1, marks=pytest.mark.integration),
        # Without letters the outline says which magnets are marked.
        pytest.param(UNLETTERED, 0, marks=pytest.mark.integration),
    ],
)
def test_marks_at_the_wrong_magnet_are_told_however_the_piece_lies(
    order: Order, quarters: int
) -> None:
    assert wrong_rules(order, quarters) == set()
    if order != MARKED_INSIDE:
        assert wrong_rules(order, quarters, "L") == {("L", "pole-mark")}


@pytest.mark.integration
def test_marked_meshes_were_not_made_with_a_profile_whose_poles_are_the_same() -> None:
    made = kit(MARKED, "LNSTU")
    taken = take(list(made.bodies.values()), made.puzzle, 20.0)
    shipped = [load_profile([name]) for name in preset_names()]
    assert recognise(taken, shipped) is None
    assert recognise(taken, [*shipped, made.profile]) == made.profile
