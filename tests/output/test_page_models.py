"""How pieces lie in the page's solutions, held against the cells that the solutions name."""

from __future__ import annotations

import base64
import itertools
import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import shapely
from shapely import Polygon, affinity

from fabkit.build.artifacts import Artifacts
from fabkit.build.assembly_layout import picture_artifacts
from fabkit.build.entries import Selection, gather
from fabkit.build.page_assets import models_data, models_script
from fabkit.drawing.ball import BallBlueprint
from fabkit.model.accessory import things
from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile

#: Between pieces, and more than the printed outline stays inside the drawn one.
CLEARANCE_MM = 0.3
#: Sharp tips, and pieces on two lattices.
FLAT = ("triangle_01", "mixed1-3-e119ee42dc")


@cache
def laid_out(name: str, *only: str) -> tuple[Artifacts, Sequence[Entry], dict[str, Any]]:
    puzzle = load_set(name)
    profile = load_profile((), (), puzzle.unit_mm)
    bench = picture_artifacts(puzzle, things(puzzle, profile), profile)
    entries = gather(puzzle, Selection(only=only))
    return bench, entries, models_data(bench, entries, {}, profile)


def area_of(lattice: Lattice, cells: frozenset[Cell], unit_mm: float) -> Polygon:
    """The cells as one area in mm: each on its own, from its corners."""
    step_x, step_y = (float(one) ** 0.5 * unit_mm for one in lattice.step_squared)
    squares = [[(x * step_x, y * step_y) for x, y in lattice.ring(cell)] for cell in cells]
    return shapely.union_all([Polygon(corners) for corners in squares], grid_size=1e-6)


def matrix_of(numbers: Sequence[float]) -> np.ndarray:
    return np.array(numbers).reshape(4, 4).T


def faults(bench: Artifacts, entry: Entry, told: dict[str, Any]) -> list[str]:
    """The flat pieces that do not lie on the cells of their solution."""
    found = []
    unit_mm = bench.profile.unit_mm / entry.halves
    for piece_id, (numbers, _) in told["pieces"].items():
        matrix = matrix_of(numbers)
        assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1)  # no mirror image
        (a, b), (d, e), (x, y) = matrix[0, :2], matrix[1, :2], matrix[:2, 3]
        drawing = bench.blueprints[piece_id]
        lies = affinity.affine_transform(drawing.outline, [a, b, d, e, x, y])
        wanted = area_of(bench.puzzle.lattice, entry.solution[piece_id], unit_mm)
        outside = lies.difference(wanted.buffer(1e-3)).area
        free = wanted.difference(lies.buffer(CLEARANCE_MM, join_style="mitre")).area
        heights = [matrix[2, 2] * z + matrix[2, 3] for z in (0, drawing.thickness_mm)]
        back = min(heights) + getattr(drawing, "back_mm", 0)
        # Sharp tips are blunted, each by less than a square millimetre.
        if outside > 1e-6 or free > 2 or (told["board"] is None and abs(back) > 1e-6):
            found.append(piece_id)
    return found


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("fridgeiq", FLAT),
        ("iqblock", ("square",)),
        pytest.param("iqstars", ("board",), marks=pytest.mark.integration),
    ],
)
def test_pieces_lie_on_their_cells(name: str, only: tuple[str, ...]) -> None:
    bench, entries, data = laid_out(name, *only)
    assert sorted(entry.id for entry in entries) == sorted(only)
    for entry in entries:
        told = data["solutions"][entry.id]
        assert set(told["pieces"]) == set(entry.pieces)
        assert faults(bench, entry, told) == []


def test_a_piece_that_lies_elsewhere_is_found() -> None:
    bench, entries, data = laid_out("fridgeiq", *FLAT)
    (entry,) = (one for one in entries if one.id == FLAT[0])
    told = data["solutions"][entry.id]
    piece_id, (numbers, away) = next(iter(told["pieces"].items()))
    for place, shift in ((12, 1.0), (14, 0.5)):
        spoilt = [n + shift * (i == place) for i, n in enumerate(numbers)]
        assert faults(bench, entry, {**told, "pieces": {piece_id: [spoilt, away]}}) == [piece_id]


def test_some_pieces_are_turned_over() -> None:
    _, _, data = laid_out("iqblock", "square")
    ups = [matrix_of(one[0])[2, 2] for one in data["solutions"]["square"]["pieces"].values()]
    assert {round(up) for up in ups} == {-1, 1}


def test_balls_lie_in_the_holes_of_the_board() -> None:
    bench, (entry,), data = laid_out("iqfit", "board")
    told = data["solutions"]["board"]
    assert told["board"] == "board"
    unit_mm = bench.profile.unit_mm
    for piece_id, (numbers, _) in told["pieces"].items():
        drawing = bench.blueprints[piece_id]
        assert isinstance(drawing, BallBlueprint)
        matrix = matrix_of(numbers)
        middles = np.array(drawing.balls_mm) @ matrix[:3, :3].T + matrix[:3, 3]
        high = middles[:, 2].max()
        level = {(round(x, 3), round(y, 3)) for x, y, z in middles if z > high - 0.1}
        cells = {(x * unit_mm / 2, y * unit_mm / 2) for x, y in entry.solution[piece_id]}
        assert level == cells


def test_apart_no_two_pieces_come_nearer_to_each_other() -> None:
    _, _, data = laid_out("fridgeiq", *FLAT)
    told = data["solutions"][FLAT[1]]
    places = [
        (matrix_of(numbers)[:2, 3], np.array(away)) for numbers, away in told["pieces"].values()
    ]
    assert all(away[2] > 0 for _, away in places)
    assert max(np.linalg.norm(away[:2]) for _, away in places) > 5


def test_the_script_is_ascii_that_packs_the_models() -> None:
    puzzle = load_set("fridgeiq")
    profile = load_profile((), (), puzzle.unit_mm)
    bench = picture_artifacts(puzzle, things(puzzle, profile), replace(profile))
    data = models_data(bench, [], {"A": b"glTF and more", "Q": b"glTF"}, profile)
    text = models_script(data)
    assert text.isascii()
    read = json.loads(text.removeprefix("window.FABKIT_MODELS = ").removesuffix(";\n"))
    assert zlib.decompress(base64.b64decode(read["pieces"]["A"])) == b"glTF and more"
    assert list(itertools.chain(read["pieces"], read["boards"], read["lids"])) == ["A", "Q"]
