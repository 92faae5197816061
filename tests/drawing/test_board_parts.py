"""Boards and lids larger than the bed: where they are cut, how the parts join, and what they are
called.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import shapely

from fabkit.core.errors import InputError
from fabkit.drawing.boards.csg import BoardDrawing, section_at
from fabkit.drawing.boards.parts import printed_parts
from fabkit.drawing.draft import draft_all, draft_printable
from fabkit.drawing.outline import DrawingError
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import Accessory, printables
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set, shipped_names

#: The bed of an A1 mini: 170 mm between its edges.
SMALL_BED = (
    "printer.bed_width=180 mm",
    "printer.bed_depth=180 mm",
    "printer.bed_height=180 mm",
    "board.make=all",
)
ROOM_MM = 170.0
#: What is larger than that, and into how many parts it is cut.
PARTS = {
    "balls12": {"board": 2, "board-lid": 2},
    "fridgeiq": {"box": 2},
    "hexiamonds": {
        name + end: 2
        for name in ("rhombus", "parallelogram", "trapezoid", "long-hexagon")
        for end in ("", "-lid")
    },
    "iqblock": {"square": 4},
    "pentominoes": {
        **{"6x10": 2, "5x12": 2, "5x12-lid": 2, "4x15": 2, "4x15-lid": 2},
        **{"3x20": 3, "3x20-lid": 2},
    },
    "tetrahexes": {
        name + end: 2 for name in ("parallelogram", "long-hexagon") for end in ("", "-lid")
    },
}
QUICK = ("fridgeiq", "iqblock")
SETS = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.integration)
    for name in shipped_names()
]


def loaded(name: str, *settings: str) -> tuple[PuzzleSet, Profile]:
    puzzle = load_set(name)
    return puzzle, load_profile((), settings, puzzle.profile_values)


@cache
def drawn(name: str, *settings: str) -> dict[str, tuple[BoardDrawing, list[BoardDrawing]]]:
    """The boards and lids of a set, each with its parts; only those that come in parts."""
    puzzle, profile = loaded(name, *SMALL_BED, *settings)
    parts: dict[str, list[Accessory]] = {}
    for part in printed_parts(puzzle, profile):
        if isinstance(part, Accessory) and part.part:
            parts.setdefault(part.id[:-2], []).append(part)
    wholes = [whole for whole in printables(puzzle, profile) if whole.id in parts]
    return {
        whole.id: (
            draft_printable(puzzle, whole, profile),
            draft_all(puzzle, parts[whole.id], profile, draft_printable),
        )
        for whole in wholes
    }  # type: ignore[return-value]


@pytest.mark.in_turn
@pytest.mark.parametrize("name", SETS)
def test_shipped_boards_fit_a_small_bed_whole_or_in_parts_that_join(name: str) -> None:
    puzzle, profile = loaded(name, *SMALL_BED)
    for printable in printed_parts(puzzle, profile):
        if isinstance(printable, Accessory):
            drawing = draft_printable(puzzle, printable, profile)
            left, front, right, back = drawing.outline.bounds
            assert max(right - left, back - front) <= ROOM_MM + 1e-6, printable.id
            assert drawing.thickness_mm <= 180
    boards = drawn(name)
    assert {whole: len(parts) for whole, (_, parts) in boards.items()} == PARTS.get(name, {})
    for whole, parts in boards.values():
        for share in (0.02, 0.3, 0.6, 0.97):
            height_mm = share * whole.thickness_mm
            sections = [section_at(part.steps, height_mm) for part in parts]
            area = section_at(whole.steps, height_mm)
            if share < 0.1:
                assert {section.geom_type for section in sections} == {"Polygon"}
            assert sum(section.area for section in sections) < area.area
            for section, other in itertools.combinations(sections, 2):
                gap_mm = section.distance(other)
                assert gap_mm >= 2 * profile.joint_mm - 1e-6, "they do not overlap"
                # Some meet at this height; none is farther than across a crossing.
                assert gap_mm > 5 or gap_mm <= 2 * math.sqrt(2) * profile.joint_mm + 1e-6
            # Together they are the whole, but for the gaps.
            grown = [
                section.buffer(profile.joint_mm, join_style="mitre", mitre_limit=20)
                for section in sections
            ]
            assert (area - shapely.union_all(grown)).area < 0.01


@pytest.mark.parametrize(
    "name", ["fridgeiq", pytest.param("balls12", marks=pytest.mark.integration)]
)
def test_parts_hold_each_other(name: str) -> None:
    """No part can be pulled away from those beside it, along the table."""
    for whole, parts in drawn(name).values():
        sections = [section_at(part.steps, 0.05 * whole.thickness_mm) for part in parts]
        for index, section in enumerate(sections):
            others = shapely.union_all(sections[:index] + sections[index + 1 :])
            for degrees in range(0, 360, 15):
                away = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
                moved = shapely.transform(section, lambda at, away=away: at + away)
                assert (moved & others).area > 0.1, (parts[index].piece, degrees)


@pytest.mark.integration
@pytest.mark.parametrize("name", ["hexiamonds", "balls12"])
def test_cuts_spare_letters_and_holes(name: str) -> None:
    for whole, parts in drawn(name).values():
        if whole.label:
            letters = whole.label.front.parts()
            assert sum(len(part.label.front.parts()) for part in parts if part.label) == len(
                letters
            )
        if whole.kind == "holes":
            holes = [len(section_at(drawing.steps, 3.0).interiors) for drawing in (whole, *parts)]
            assert holes[0] == sum(holes[1:]) == 55


def test_boards_that_fit_are_whole_and_parts_have_ids() -> None:
    for name in ("iqblock", "pentominoes"):
        puzzle, profile = loaded(name)
        assert printed_parts(puzzle, profile) == printables(puzzle, profile)
    puzzle, profile = loaded("iqblock", *SMALL_BED)
    ids = [part.id for part in printed_parts(puzzle, profile, ["square-b", "square-lid"])]
    assert ids == ["square-b", "square-lid"]
    with pytest.raises(InputError, match='has no piece "square-e"'):
        printed_parts(puzzle, profile, ["square-e"])
    same = replace(puzzle.pieces[0], id="square-a")
    with pytest.raises(InputError, match="square-a: has the id of a part of a board"):
        printed_parts(replace(puzzle, pieces=(same,)), profile)


def test_a_narrow_board_lies_across_the_bed() -> None:
    puzzle, profile = loaded("iqstars", "printer.bed_width=182 mm", "printer.bed_depth=182 mm")
    parts = printed_parts(puzzle, replace(profile, plate_edge_mm=6.0))
    assert [part.id for part in parts[-2:]] == ["board", "board-lid"]


def test_a_prime_tower_leaves_less_room(tmp_path: Path) -> None:
    bed = "printer.bed_width=190 mm", "printer.bed_depth=190 mm", "plate.tower=30 mm"
    puzzle, profile = loaded("cubimagici", *bed)
    assert len(printed_parts(puzzle, profile)) == len(puzzle.pieces) + 2
    coloured = replace(profile, inlay="letter")
    assert len(printed_parts(puzzle, coloured)) == len(puzzle.pieces) + 3


def test_a_letter_of_a_second_colour_is_not_cut() -> None:
    puzzle, profile = loaded("pentominoes", *SMALL_BED, "label.inlay=letter", "plate.tower=0 mm")
    (lid, *_) = printed_parts(puzzle, profile, ["3x20-lid"])
    with pytest.raises(DrawingError, match="crosses a letter"):
        draft_printable(puzzle, lid, profile)
