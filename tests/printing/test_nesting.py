"""Nesting: random sets judged from the outside, planted faults, the same layout on every run."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from functools import cache
from itertools import combinations

import pytest
from shapely import Polygon, box

from fabkit.core.errors import InputError, OutsideError
from fabkit.drawing.draft import draft_all
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.printing.nesting import bypolygon
from fabkit.printing.nesting import nest as nesting
from fabkit.printing.nesting.bin import Bin, Placement, Shape, validate
from fabkit.printing.nesting.nest import least_rooms, nest
from tests.conftest import ROOT

Points = list[tuple[float, float]]
TOLERANCE_MM = 1e-6


def moved(points: Points, spot: Placement) -> Points:
    """A rotation and a translation, and so never a mirror image; not by the code under test."""
    angle = math.radians(spot.degrees)
    cosine, sine = math.cos(angle), math.sin(angle)
    return [
        (x * cosine - y * sine + spot.x_mm, x * sine + y * cosine + spot.y_mm) for x, y in points
    ]


def judge(shapes: list[Shape], room: Bin, rooms: list[list[Placement]]) -> None:
    """All that nesting promises, by plain reckoning."""
    named = {shape.name: shape for shape in shapes}
    assert sorted(spot.name for spots in rooms for spot in spots) == sorted(named)
    assert all(rooms)
    for spots in rooms:
        laid = []
        for spot in spots:
            assert spot.degrees in (0, 45, 90, 135, 180, 225, 270, 315)
            points = moved(list(named[spot.name].outline.exterior.coords), spot)
            ours, laid_by_spot = Polygon(points), spot.place(named[spot.name].outline)
            assert ours.symmetric_difference(Polygon(laid_by_spot.exterior)).area < 1e-6
            laid.append(ours)
            for x, y in points:
                least = room.edge_mm - TOLERANCE_MM
                assert least <= x <= room.width_mm - least
                assert least <= y <= room.depth_mm - least
        if room.corner_mm:
            right, top = room.width_mm - room.edge_mm, room.depth_mm - room.edge_mm
            laid.append(box(right - room.corner_mm, top - room.corner_mm, right, top))
        for one, other in combinations(laid, 2):
            assert one.distance(other) >= room.gap_mm - TOLERANCE_MM
            assert one.intersection(other).area < 1e-4


def random_outline(dice: random.Random, size: float) -> Polygon:
    kind = dice.choice(["star", "star", "corner", "bar", "ring", "triangle", "comb"])
    wide, high = dice.uniform(0.3, 1) * size, dice.uniform(0.3, 1) * size
    x, y = dice.uniform(-50, 50), dice.uniform(-50, 50)
    if kind in ("star", "triangle"):
        count = 3 if kind == "triangle" else dice.randint(5, 12)
        angles = sorted(dice.uniform(0, 0.8) + i for i in range(count))
        points = []
        for angle in angles:
            radius = dice.uniform(0.2, 0.5) * size
            turn = 2 * math.pi * angle / count
            points.append((x + radius * math.cos(turn), y + radius * math.sin(turn)))
        return Polygon(points)
    if kind == "corner":
        a, b = wide * dice.uniform(0.2, 0.7), high * dice.uniform(0.2, 0.7)
        corners = [(0, 0), (wide, 0), (wide, b), (a, b), (a, high), (0, high)]
        return Polygon([(x + u, y + v) for u, v in corners])
    if kind == "bar":
        return box(x, y, x + size * 1.3, y + size * dice.uniform(0.02, 0.15))
    if kind == "comb":
        teeth = [(0, 0), (5, 0), (5, 3), (1, 3), (1, 2), (4, 2), (4, 1), (0, 1)]
        return Polygon([(x + u * wide / 5, y + v * high / 3) for u, v in teeth])
    outer, inner = box(x, y, x + wide, y + high), 0.2 * min(wide, high)
    hole = box(x + inner, y + inner, x + wide - inner, y + high - inner)
    return Polygon(outer.exterior, [hole.exterior])


def random_set(seed: int, most: int = 14) -> tuple[list[Shape], Bin]:
    dice = random.Random(seed)
    width, depth = dice.uniform(80, 300), dice.uniform(80, 300)
    room = Bin(
        width_mm=width,
        depth_mm=depth,
        gap_mm=dice.choice([0.0, 0.5, 2.0, 5.0]),
        edge_mm=dice.choice([0.0, 3.0, 8.0]),
        corner_mm=dice.choice([0.0, 0.0, 0.3]) * min(width, depth),
    )
    size = dice.uniform(0.2, 0.42) * (min(width, depth) - 2 * room.edge_mm)
    count = dice.randint(1, most)
    return [Shape(f"P{i}", random_outline(dice, size)) for i in range(count)], room


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(100))
def test_random_sets_by_rectangle(seed: int) -> None:
    shapes, room = random_set(seed)
    assert all(shape.outline.is_valid for shape in shapes)
    rooms = nest(shapes, room, "rectpack")
    judge(shapes, room, rooms)
    assert len(rooms) >= least_rooms(shapes, room)


SPYRROW_SEEDS = [
    pytest.param(seed, marks=[pytest.mark.long] if seed >= 3 else []) for seed in range(100)
]


@pytest.mark.parametrize("seed", SPYRROW_SEEDS)
def test_random_sets_by_polygon(seed: int) -> None:
    shapes, room = random_set(seed, most=9)
    rooms = nest(shapes, room, "spyrrow")
    judge(shapes, room, rooms)
    assert least_rooms(shapes, room) <= len(rooms) <= len(nest(shapes, room, "rectpack"))


@cache
def fridgeiq() -> list[Shape]:
    puzzle, limits = load_set("fridgeiq"), load_profile()
    return [Shape(one.piece, one.outline) for one in draft_all(puzzle, puzzle.pieces, limits)]


def test_notches_and_the_reserved_corner_are_used() -> None:
    """Where boxes need two rooms, polygons need one, with a corner kept free."""
    shapes, room = fridgeiq(), Bin(180, 180, 2, 5, 40)
    by_polygon, by_rectangle = nest(shapes, room, "spyrrow"), nest(shapes, room, "rectpack")
    judge(shapes, room, by_polygon)
    judge(shapes, room, by_rectangle)
    assert (len(by_polygon), len(by_rectangle)) == (1, 2)


def layouts(engine: str) -> str:
    sets = (fridgeiq(), Bin(180, 180, 2, 5, 40)), random_set(3, most=9)
    return str([nest(*one, engine) for one in sets])


@pytest.mark.parametrize(
    "engine", ["rectpack", pytest.param("spyrrow", marks=pytest.mark.integration)]
)
def test_two_processes_give_the_same_layouts(engine: str) -> None:
    code = f"from tests.printing.test_nesting import layouts; print(layouts({engine!r}), end='')"
    other = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        cwd=ROOT,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    ).stdout
    assert other == layouts(engine)
    assert other.count("Placement(") > 16


def test_too_large_shapes_are_refused_together_with_numbers() -> None:
    shapes = [
        Shape("long", box(0, 0, 400, 10)),
        Shape("fine", box(0, 0, 50, 50)),
        Shape("wide", box(0, 0, 171, 171)),
    ]
    with pytest.raises(InputError) as caught:
        nest(shapes, Bin(180, 180, 2, 5))
    message = str(caught.value)
    assert [fault.key for fault in caught.value.faults] == ["long", "wide"]
    assert "400 mm x 10 mm" in message
    assert "170 mm x 170 mm that can be used" in message


def test_the_corner_counts_when_a_shape_is_refused() -> None:
    shapes = [Shape("big", box(0, 0, 140, 140))]
    assert nest(shapes, Bin(180, 180, 2, 5), "rectpack")
    with pytest.raises(InputError, match="less a corner of 40 mm"):
        nest(shapes, Bin(180, 180, 2, 5, 40))


@pytest.mark.parametrize("corner", [100.0, 169.0, 300.0])
def test_a_corner_that_takes_most_of_the_room(corner: float) -> None:
    room = Bin(400, 180, 2, 5, corner)
    shapes = [Shape(name, box(0, 0, 40, 160)) for name in "ABC"]
    if corner > 260:
        room = Bin(500, 180, 2, 5, corner)
    for engine in ("spyrrow", "rectpack"):
        judge(shapes, room, nest(shapes, room, engine))


@pytest.mark.parametrize("engine", ["spyrrow", "rectpack"])
def test_shapes_that_just_fit(engine: str) -> None:
    whole = [Shape("A", box(3, 3, 173, 173)), Shape("B", box(0, 0, 170, 170))]
    assert len(nest(whole, Bin(180, 180, 2, 5), engine)) == 2
    halves = [Shape(name, box(0, 0, 84, 170)) for name in "ABCD"]
    for shapes in (whole, halves):
        rooms = nest(shapes, Bin(180, 180, 2, 5), engine)
        judge(shapes, Bin(180, 180, 2, 5), rooms)
        assert len(rooms) == 2
    # Without a gap or an edge strip nothing of the bed is lost.
    shapes, room = [Shape(f"S{i}", box(0, 0, 25, 25)) for i in range(16)], Bin(100, 100, 0, 0)
    rooms = nest(shapes, room, engine)
    judge(shapes, room, rooms)
    assert len(rooms) == 1


@pytest.mark.parametrize("engine", ["spyrrow", "rectpack"])
@pytest.mark.parametrize(("degrees", "size"), [(90, (100, 60)), (45, (110, 110))])
def test_a_shape_that_fits_only_turned(
    engine: str, degrees: int, size: tuple[float, float]
) -> None:
    length = 95 if degrees == 90 else 130
    bar, room = Shape("I", box(7, 8, 7 + 9, 8 + length)), Bin(*size, 2, 2)
    ((spot,),) = nest([bar], room, engine)
    judge([bar], room, [[spot]])
    assert spot.degrees % 90 == degrees % 90
    assert spot.degrees


def test_odd_shapes_do_not_break_spyrrow() -> None:
    circle = Polygon(
        [(20 * math.cos(i * math.pi / 180), 20 * math.sin(i * math.pi / 180)) for i in range(360)]
    )
    shapes = [
        Shape("speck", box(0, 0, 1e-3, 1e-3)),
        Shape("hair", box(0, 0, 80, 1e-3)),
        Shape("doubled", Polygon([(0, 0), (9, 0), (9, 1e-9), (9, 9), (4, 9), (4, 9 + 1e-9)])),
        Shape("round", circle),
        Shape("needle", Polygon([(0, 0), (90, 0.01), (0, 0.02)])),
    ]
    room = Bin(100, 100, 1, 2)
    for engine in ("spyrrow", "rectpack"):
        judge(shapes, room, nest(shapes, room, engine))


def test_nothing_and_bad_input() -> None:
    room = Bin(100, 100, 2, 5)
    assert nest([], room) == []
    square = Shape("A", box(0, 0, 9, 9))
    with pytest.raises(InputError, match="several shapes"):
        nest([square, square], room)
    with pytest.raises(InputError, match="crosses or touches itself"):
        nest([Shape("A", Polygon([(0, 0), (9, 9), (9, 0), (0, 9)]))], room)
    with pytest.raises(InputError, match="auto, spyrrow, rectpack"):
        nest([square], room, "best")
    with pytest.raises(InputError, match="100 mm x 100 mm less 60 mm on each side leaves no room"):
        nest([square], Bin(100, 100, 2, 60))


def test_without_spyrrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spyrrow", None)
    shapes, room = random_set(1)
    assert nest(shapes, room) == nest(shapes, room, "rectpack")
    with pytest.raises(OutsideError, match=r"pip install .*'\.\[nest\]'"):
        nest(shapes, room, "spyrrow")


def test_a_process_that_dies_or_hangs_is_no_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes, room = fridgeiq()[:4], Bin(180, 180, 2, 5)
    for body in ("import os; os.abort()", "import time; time.sleep(60)"):
        monkeypatch.setattr(bypolygon, "_COMMAND", body)
        monkeypatch.setattr(bypolygon, "_LONGEST_S", 0.5)
        assert nest(shapes, room, "spyrrow") == nest(shapes, room, "rectpack")
    monkeypatch.setattr(bypolygon, "_COMMAND", "import nothing_of_this_name")
    monkeypatch.setattr(bypolygon, "_LONGEST_S", 60)
    with pytest.raises(OutsideError, match="nothing_of_this_name"):
        nest(shapes, room, "spyrrow")


def test_a_search_that_cannot_succeed_ends() -> None:
    """Panics of spyrrow (an item higher than the strip) and its first failure are no layout."""
    assert bypolygon.nest_by_polygon([Shape("A", box(0, 0, 90, 90))], Bin(80, 80, 0, 0), 0) is None
    squares = [Shape(name, box(0, 0, 30, 30)) for name in "ABCDE"]
    assert bypolygon.nest_by_polygon(squares, Bin(70, 70, 1, 1), 0) is None


GOOD = [
    Placement("A", 0.0, 5.0, 5.0),
    Placement("B", 0.0, 27.0, 5.0),
    Placement("C", 90.0, 70.0, 5.0),
]
FAULTS = {
    "too near": ([GOOD[0], Placement("B", 0.0, 26.99, 5.0), GOOD[2]], "A and B are 1.99 mm apart"),
    "overlap": ([GOOD[0], Placement("B", 0.0, 20.0, 5.0), GOOD[2]], "A and B are 0 mm apart"),
    "edge": ([Placement("A", 0.0, 4.999, 5.0), *GOOD[1:]], "A lies over the edge strip"),
    "far edge": ([Placement("A", 0.0, 5.0, 75.001), *GOOD[1:]], "A lies over the edge strip"),
    "corner": ([*GOOD[:2], Placement("C", 90.0, 70.0, 54.0)], "C lies too near to the corner"),
    "missing": (GOOD[:2], "C is left out"),
    "twice": ([*GOOD, Placement("A", 0.0, 5.0, 60.0)], "A is laid 2 times"),
    "strange": ([*GOOD, Placement("Z", 0.0, 5.0, 60.0)], "Z is none of the shapes"),
}
FAULT_SHAPES = [Shape(name, box(0, 0, 20, 20)) for name in "ABC"]
FAULT_ROOM = Bin(100, 100, 2, 5, 30)


def test_a_good_layout_has_no_faults() -> None:
    assert validate(FAULT_SHAPES, FAULT_ROOM, [GOOD]) == []
    judge(FAULT_SHAPES, FAULT_ROOM, [GOOD])


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_noticed(fault: str) -> None:
    spots, words = FAULTS[fault]
    faults = validate(FAULT_SHAPES, FAULT_ROOM, [spots])
    assert len(faults) == 1
    assert words in faults[0]
    with pytest.raises(AssertionError):
        judge(FAULT_SHAPES, FAULT_ROOM, [spots])


def test_overlap_without_a_gap_is_noticed() -> None:
    room = Bin(100, 100, 0, 5)
    near = [GOOD[0], Placement("B", 0.0, 24.999, 5.0), GOOD[2]]
    assert validate(FAULT_SHAPES, room, [near]) == ["room 1: A and B overlap"]
    touching = [GOOD[0], Placement("B", 0.0, 25.0, 5.0), GOOD[2]]
    assert validate(FAULT_SHAPES, room, [touching]) == []


@pytest.mark.parametrize("fault", ["too near", "edge", "corner"])
def test_bad_layouts_are_never_given(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad one of spyrrow's gives way to rectpack's, a bad one of rectpack's is an error."""
    spots, words = FAULTS[fault]
    monkeypatch.setattr(nesting, "nest_by_polygon", lambda shapes, room, seed: spots)
    rooms = nest(FAULT_SHAPES, FAULT_ROOM, "spyrrow")
    judge(FAULT_SHAPES, FAULT_ROOM, rooms)
    monkeypatch.setattr(nesting, "nest_by_rectangle", lambda shapes, room: [spots])
    with pytest.raises(OutsideError, match=words):
        nest(FAULT_SHAPES, FAULT_ROOM, "spyrrow")


def test_progress_is_told() -> None:
    told: list[tuple[int, int, str]] = []
    shapes = [Shape(f"S{i}", box(0, 0, 60, 60)) for i in range(6)]
    rooms = nest(shapes, Bin(140, 140, 2, 2), "spyrrow", lambda *step: told.append(step))
    assert told[0] == (0, 6, "laying out")
    assert (0, 6, "room 1 of 2") in told or (0, 6, "room 2 of 2") in told
    assert len(rooms) == 2
