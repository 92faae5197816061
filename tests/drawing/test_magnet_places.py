"""Where magnets go, against a brute-force grid; and what is said when they do not fit."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shapely import Polygon

from fabkit.core.errors import InputError
from fabkit.drawing.draft import draft, draft_all
from fabkit.drawing.outline import (
    BlueprintError,
    printed_outline,
)
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet
from tests.support import analytic
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


ORDERS = [
    ([], []),
    ([], ["recess.fit=glue"]),
    ([], ["recess.fit=embedded"]),
    (["compact"], []),
    (["flippable"], []),
    ([], ["unit=15 mm", "magnet.diameter=8 mm", "recess.wall=1.5 mm"]),
    ([], ["magnet.diameter=5 mm"]),
    ([], ["unit=28 mm", "recess.wall=6 mm", "magnet.height=2 mm"]),
]


@pytest.mark.parametrize(("presets", "changes"), ORDERS)
def test_magnets_of_fridgeiq_are_well_placed(presets: list[str], changes: list[str]) -> None:
    puzzle, profile = load_set("fridgeiq"), load_profile(presets, changes)
    wrong = {}
    for drawing, blueprint in zip(
        analytic.drawings("fridgeiq"), draft_all(puzzle, puzzle.pieces, profile), strict=True
    ):
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


@settings(max_examples=100)
@given(cell_sets(most=14), st.floats(4, 9), st.sampled_from(["press", "embedded"]))
def test_magnets_of_random_pieces_are_well_placed(
    shape: tuple[Lattice, frozenset[Cell]], magnet_mm: float, fit: str
) -> None:
    assert misplaced_on(shape, magnet_mm, fit) == []


def test_two_magnets_are_never_more_than_two_units_apart() -> None:
    """Two bends, each with room for one magnet, are three units apart."""
    bends = frozenset({(-5, -5), (-5, -3), (-3, -3), (-1, -3), (1, -3), (1, -1)})
    assert misplaced_on((LATTICES["square"], bends), 9.0, "press") == []


def test_the_wall_at_the_bed_is_kept_on_a_square_that_stands_on_its_corner() -> None:
    """The foot is 7.485 mm wide; mouth and walls need 7.5 mm."""
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


def test_pieces_with_the_same_fault_share_a_line() -> None:
    message = refusal_of(["magnet.diameter=21 mm"], "ARE")
    assert message is not None
    assert "pieces A, R, E: a magnet of 21 x 3 mm" in message


def test_no_magnet_at_all_is_said() -> None:
    message = refusal_of(["recess.wall=12 mm"], "D")
    assert message is not None
    assert "no magnet fits here, choose a larger unit or recess.fit none" in message
