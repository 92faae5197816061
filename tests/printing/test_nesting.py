"""Nesting: random sets judged from the outside, planted faults, the same layout on every run."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from shapely import Polygon, affinity, box, get_parts

from fabkit.core.errors import ExternalError, InputError
from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.printing.nesting import nest as nesting
from fabkit.printing.nesting import polygon_nest
from fabkit.printing.nesting.bin import Bin, Placement, layout_faults
from fabkit.printing.nesting.nest import nest, nest_by_rectangle
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.conftest import ROOT

Shapes = dict[str, Polygon]
ENGINES = ("auto", "rectpack")


@contextmanager
def using(engine: str) -> Iterator[None]:
    """As if spyrrow were not installed, for ``rectpack``."""
    with pytest.MonkeyPatch.context() as patch:
        if engine == "rectpack":
            patch.setitem(sys.modules, "spyrrow", None)
        yield


def nest_by(engine: str, shapes: Shapes, room: Bin) -> list[list[Placement]]:
    with using(engine):
        return nest(shapes, room)


TOLERANCE_MM = 1e-6


def judge_layout(shapes: Shapes, room: Bin, rooms: list[list[Placement]]) -> None:
    """All guarantees of nesting, checked directly, with an independent transform."""
    assert sorted(placement.name for placements in rooms for placement in placements) == sorted(
        shapes
    )
    assert all(rooms)
    free = box(0, 0, room.width_mm, room.depth_mm).buffer(TOLERANCE_MM - room.edge_mm)
    for placements in rooms:
        placed = []
        for placement in placements:
            assert placement.degrees in (0, 45, 90, 135, 180, 225, 270, 315)
            angle = math.radians(placement.degrees)
            cosine, sine = math.cos(angle), math.sin(angle)
            matrix = [cosine, -sine, sine, cosine, placement.x_mm, placement.y_mm]
            ours = affinity.affine_transform(Polygon(shapes[placement.name].exterior), matrix)
            theirs = Polygon(placement.place(shapes[placement.name]).exterior)
            assert ours.symmetric_difference(theirs).area < 1e-6
            assert free.covers(ours)
            placed.append(ours)
        if room.corner_mm:
            right, top = room.width_mm - room.edge_mm, room.depth_mm - room.edge_mm
            placed.append(box(right - room.corner_mm, top - room.corner_mm, right, top))
        for one, other in combinations(placed, 2):
            assert one.distance(other) >= room.gap_mm - TOLERANCE_MM
            assert one.intersection(other).area < 1e-4


def random_outline(dice: random.Random, size: float) -> Polygon:
    """A cross or a corner of two bars, with a notch or a hole, turned anyhow."""
    wide, high = (dice.uniform(0.1, 0.8) * size for _ in "xy")
    one, other = box(0, 0, size, high), box(0, 0, wide, size)
    outline = one | affinity.translate(other, *(dice.choice([0, 0.3]) * size for _ in "xy"))
    bite = affinity.scale(one, *(dice.uniform(0.1, 0.6) for _ in "xy"))
    cut = affinity.rotate(outline - bite, dice.choice([0, 45, dice.uniform(0, 360)]))
    largest = max(get_parts(cut), key=lambda part: part.area)
    return affinity.translate(largest, dice.uniform(-50, 50), dice.uniform(-50, 50))


def random_set(seed: int, most: int = 14) -> tuple[Shapes, Bin]:
    dice = random.Random(seed)
    width, depth = dice.uniform(80, 300), dice.uniform(80, 300)
    gap, edge = dice.choice([0.0, 0.5, 2.0, 5.0]), dice.choice([0.0, 3.0, 8.0])
    room = Bin(width, depth, gap, edge, dice.choice([0.0, 0.3]) * min(width, depth))
    size = dice.uniform(0.2, 0.42) * (min(width, depth) - 2 * edge)
    return {f"P{i}": random_outline(dice, size) for i in range(dice.randint(1, most))}, room


def least(shapes: Shapes, room: Bin) -> int:
    outers = (Polygon(shape.exterior) for shape in shapes.values())
    area = sum(one.buffer(room.gap_mm / 2).area for one in outers)
    width, depth = (side + room.gap_mm for side in room.usable_mm)
    return max(1, math.ceil(area / (width * depth - room.corner_mm**2) - 1e-9))


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(100))
def test_random_sets_by_rectangle(seed: int) -> None:
    shapes, room = random_set(seed)
    rooms = nest_by("rectpack", shapes, room)
    judge_layout(shapes, room, rooms)
    assert len(rooms) >= least(shapes, room)


@pytest.mark.every(33)
@pytest.mark.parametrize("seed", range(100))
def test_random_sets_by_polygon(seed: int) -> None:
    shapes, room = random_set(seed, most=9)
    rooms = nest(shapes, room)
    judge_layout(shapes, room, rooms)
    assert least(shapes, room) <= len(rooms) <= len(nest_by("rectpack", shapes, room))


@cache
def fridgeiq() -> Shapes:
    puzzle, limits = load_set("fridgeiq"), load_profile()
    return {
        one.piece: one.outline for one in draft_all(puzzle, puzzle.pieces, limits, draft_flat_piece)
    }


def layouts(engine: str) -> list[list[list[Placement]]]:
    sets = (fridgeiq(), Bin(180, 180, 2, 5, 40)), random_set(3, most=9)
    return [nest_by(engine, *one) for one in sets]


@pytest.mark.integration
def test_two_processes_give_the_same_layouts_and_polygons_use_notches() -> None:
    """Where boxes need two rooms, polygons need one, with a corner kept free."""
    code = "from tests.printing.test_nesting import ENGINES, layouts; "
    code += "print([layouts(one) for one in ENGINES], end='')"
    other = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        cwd=ROOT,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    ).stdout
    here = [layouts(engine) for engine in ENGINES]
    assert other == str(here)
    for (rooms, _), count in zip(here, (1, 2), strict=True):
        judge_layout(fridgeiq(), Bin(180, 180, 2, 5, 40), rooms)
        assert len(rooms) == count


def test_too_large_shapes_are_refused_together_with_numbers() -> None:
    shapes = {"long": box(0, 0, 400, 10), "fine": box(0, 0, 50, 50), "wide": box(0, 0, 171, 171)}
    with pytest.raises(InputError) as caught:
        nest(shapes, Bin(180, 180, 2, 5))
    assert [fault.key for fault in caught.value.errors] == ["long", "wide"]
    assert "400 mm x 10 mm" in str(caught.value)
    assert "the usable 170 mm x 170 mm" in str(caught.value)
    big = {"big": box(0, 0, 129, 129)}  # touches the corner's gap
    assert nest_by("rectpack", big, Bin(180, 180, 2, 5))
    with pytest.raises(InputError, match="less a corner of 40 mm"):
        nest(big, Bin(180, 180, 2, 5, 40))
    with pytest.raises(InputError, match="100 mm x 100 mm less 60 mm on each side leaves no room"):
        nest(big, Bin(100, 100, 2, 60))


CIRCLE = [(20 * math.cos(math.radians(i)), 20 * math.sin(math.radians(i))) for i in range(360)]
HIGH = {name: box(0, 0, 40, 160) for name in "ABC"}
#: Shapes, the room, and in how many of them they lie.
TIGHT: dict[str, tuple[Shapes, Bin, int | None]] = {
    "nothing": ({}, Bin(100, 100, 2, 5), 0),
    "whole": ({"A": box(3, 3, 173, 173), "B": box(0, 0, 170, 170)}, Bin(180, 180, 2, 5), 2),
    "halves": ({name: box(0, 0, 84, 170) for name in "ABCD"}, Bin(180, 180, 2, 5), 2),
    # Without a gap or an edge strip nothing of the bed is lost.
    "full": ({f"S{i}": box(0, 0, 25, 25) for i in range(16)}, Bin(100, 100, 0, 0), 1),
    "turned": ({"I": box(7, 8, 16, 103)}, Bin(100, 60, 2, 2), 1),
    "diagonal": ({"I": box(7, 8, 16, 138)}, Bin(110, 110, 2, 2), 1),
    # A corner that takes most of the room.
    "strip": (HIGH, Bin(400, 180, 2, 5, 100), None),
    "less": (HIGH, Bin(400, 180, 2, 5, 169), None),
    "higher": (HIGH, Bin(500, 180, 2, 5, 300), None),
    "odd": (
        {
            "speck": box(0, 0, 1e-3, 1e-3),
            "hair": box(0, 0, 80, 1e-3),
            "doubled": Polygon([(0, 0), (9, 0), (9, 1e-9), (9, 9), (4, 9), (4, 9 + 1e-9)]),
            "round": Polygon(CIRCLE),
            "needle": Polygon([(0, 0), (90, 0.01), (0, 0.02)]),
        },
        Bin(100, 100, 1, 2),
        None,
    ),
}


@pytest.mark.parametrize("name", TIGHT)
def test_shapes_that_just_fit_and_odd_ones(name: str) -> None:
    shapes, room, count = TIGHT[name]
    for engine in ENGINES:
        rooms = nest_by(engine, shapes, room)
        judge_layout(shapes, room, rooms)
        assert count is None or len(rooms) == count


def test_without_spyrrow_shapes_are_placed_by_rectangle() -> None:
    shapes, room = random_set(1)
    outers = {name: Polygon(shape.exterior) for name, shape in shapes.items()}
    assert nest_by("rectpack", shapes, room) == nest_by_rectangle(outers, room)


def die(_task: Any, _answer: Callable[[Any], None]) -> None:
    os.abort()


def hang(_task: Any, _answer: Callable[[Any], None]) -> None:
    time.sleep(60)


def break_down(_task: Any, _answer: Callable[[Any], None]) -> None:
    raise ImportError("nothing_of_this_name")


@pytest.mark.integration
def test_a_process_that_dies_or_hangs_is_no_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes, room = {name: fridgeiq()[name] for name in "ABDE"}, Bin(180, 180, 2, 5)
    # A panic of spyrrow (an item higher than the strip), and its first failure.
    assert polygon_nest.nest_by_polygon({"A": box(0, 0, 90, 90)}, Bin(80, 80, 0, 0), 0) is None
    squares = {name: box(0, 0, 30, 30) for name in "ABCDE"}
    assert polygon_nest.nest_by_polygon(squares, Bin(70, 70, 1, 1), 0) is None
    monkeypatch.setattr(polygon_nest, "_search_task", die)
    assert nest(shapes, room) == nest_by("rectpack", shapes, room)
    monkeypatch.setattr(polygon_nest, "_search_task", hang)
    monkeypatch.setattr(polygon_nest, "_LONGEST_S", 0.5)
    assert nest(shapes, room) == nest_by("rectpack", shapes, room)
    monkeypatch.setattr(polygon_nest, "_search_task", break_down)
    monkeypatch.setattr(polygon_nest, "_LONGEST_S", 60)
    with pytest.raises(ExternalError, match="nothing_of_this_name"):
        nest(shapes, room)


A, B, C = (Placement(*one) for one in (("A", 0.0, 5, 5), ("B", 0.0, 27, 5), ("C", 90.0, 70, 5)))
FAULTS = {
    "too near": ([A, Placement("B", 0.0, 26.99, 5.0), C], "A and B are 1.99 mm apart"),
    "overlap": ([A, Placement("B", 0.0, 20.0, 5.0), C], "A and B are 0 mm apart"),
    "edge": ([Placement("A", 0.0, 4.999, 5.0), B, C], "A overlaps the edge strip"),
    "far edge": ([Placement("A", 0.0, 5.0, 75.001), B, C], "A overlaps the edge strip"),
    "corner": (
        [A, B, Placement("C", 90.0, 70.0, 44.0)],
        "C and the reserved corner are 1 mm apart",
    ),
    "missing": ([A, B], "A B are laid out, but A B C were given"),
    "duplicate": ([A, B, C, Placement("A", 0.0, 5.0, 60.0)], "A A B C are laid out"),
    "unknown": ([A, B, C, Placement("Z", 0.0, 5.0, 60.0)], "A B C Z are laid out"),
}
SQUARES = {name: box(0, 0, 20, 20) for name in "ABC"}
ROOM = Bin(100, 100, 2, 5, 30)


@pytest.mark.parametrize("place", [polygon_nest.nest_by_polygon, nesting.nest_by_rectangle])
def test_a_search_ends_with_what_its_progress_raises(place: Any) -> None:
    class StoppedError(BaseException):
        pass

    def stop(share: float, text: str) -> None:
        raise StoppedError

    seed = (0,) if place is polygon_nest.nest_by_polygon else ()
    with pytest.raises(StoppedError):
        place(SQUARES, ROOM, *seed, stop)


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_layouts_are_noticed_and_never_given(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bad one of spyrrow's gives way to rectpack's, a bad one of rectpack's is an error."""
    assert layout_faults(SQUARES, ROOM, [[A, B, C]]) == []
    judge_layout(SQUARES, ROOM, [[A, B, C]])
    placements, message = FAULTS[fault]
    [found] = layout_faults(SQUARES, ROOM, [placements])
    assert message in found
    with pytest.raises(AssertionError):
        judge_layout(SQUARES, ROOM, [placements])
    monkeypatch.setattr(nesting, "nest_by_polygon", lambda *_: placements)
    judge_layout(SQUARES, ROOM, nest(SQUARES, ROOM))
    monkeypatch.setattr(nesting, "nest_by_rectangle", lambda *_: [placements])
    with pytest.raises(ExternalError, match=message):
        nest_by("rectpack", SQUARES, ROOM)


def test_overlap_without_a_gap_is_noticed() -> None:
    room = Bin(100, 100, 0, 5)
    near, touching = ([A, Placement("B", 0.0, x, 5.0), C] for x in (24.999, 25.0))
    assert layout_faults(SQUARES, room, [near]) == ["A and B are 0 mm apart"]
    assert layout_faults(SQUARES, room, [touching]) == []
