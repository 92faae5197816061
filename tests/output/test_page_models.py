"""How pieces lie in the page's solutions, held against the cells that the solutions name."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
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
    return bench, entries, models_data(bench, entries, {})


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
    rest_mm = bench.blueprints[told["board"]].rest_mm if told["board"] else 0.0
    for piece_id, (numbers, _) in told["pieces"].items():
        matrix = matrix_of(numbers)
        assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1)  # no mirror image
        drawing = bench.blueprints[piece_id]
        flat = [*matrix[0, :2], *matrix[1, :2], *matrix[:2, 3]]
        lies = affinity.affine_transform(drawing.outline, flat)
        wanted = area_of(bench.puzzle.lattice, entry.solution[piece_id], unit_mm)
        outside = lies.difference(wanted.buffer(1e-3)).area
        free = wanted.difference(lies.buffer(CLEARANCE_MM, join_style="mitre")).area
        heights = [matrix[2, 2] * z + matrix[2, 3] for z in (0, drawing.thickness_mm)]
        back = min(heights) + getattr(drawing, "back_mm", 0)
        # Sharp tips are blunted, each by less than a square millimetre.
        if outside > 1e-6 or free > 2 or abs(back - rest_mm) > 1e-6:
            found.append(piece_id)
    return found


@pytest.mark.parametrize(
    ("name", "only", "ups"),
    [
        ("fridgeiq", FLAT, {1}),
        ("iqblock", ("square",), {-1, 1}),  # some are turned over
        ("iqstars", ("board",), {1}),
    ],
)
def test_pieces_lie_on_their_cells(name: str, only: tuple[str, ...], ups: set[int]) -> None:
    bench, entries, data = laid_out(name, *only)
    assert sorted(entry.id for entry in entries) == sorted(only)
    for entry in entries:
        told = data["solutions"][entry.id]
        pieces = told["pieces"]
        assert set(pieces) == set(entry.pieces)
        assert faults(bench, entry, told) == []
        assert {round(matrix_of(one)[2, 2]) for one, _ in pieces.values()} == ups
        # Shown apart, they rise, and none stays in its place.
        aways = np.array([away for _, away in pieces.values()])
        assert (aways[:, 2] > 0).all()
        assert np.hypot(*aways[:, :2].T).max() > 5
        piece_id, (numbers, away) = next(iter(pieces.items()))
        for place, shift in ((12, 1.0), (14, 0.5)):  # a piece that lies elsewhere is found
            spoilt = [n + shift * (i == place) for i, n in enumerate(numbers)]
            one = {**told, "pieces": {piece_id: [spoilt, away]}}
            assert faults(bench, entry, one) == [piece_id]


def test_balls_lie_in_the_holes_of_the_board() -> None:
    bench, (entry,), data = laid_out("iqfit", "board")
    told = data["solutions"]["board"]
    assert told["board"] == "board"
    for piece_id, (numbers, _) in told["pieces"].items():
        drawing, matrix = bench.blueprints[piece_id], matrix_of(numbers)
        assert isinstance(drawing, BallBlueprint)
        middles = np.array(drawing.balls_mm) @ matrix[:3, :3].T + matrix[:3, 3]
        level = middles[middles[:, 2] > middles[:, 2].max() - 0.1, :2]
        cells = np.array(sorted(entry.solution[piece_id])) * bench.profile.unit_mm / 2
        assert sorted(level.round(3).tolist()) == cells.tolist()


def test_the_script_is_ascii_that_packs_the_models() -> None:
    bench, _, _ = laid_out("fridgeiq", *FLAT)
    data = models_data(bench, [], {"A": b"glTF and more", "Q": b"glTF"})
    text = models_script(data)
    assert text.isascii()
    read = json.loads(text.removeprefix("window.FABKIT_MODELS = ").removesuffix(";\n"))
    assert zlib.decompress(base64.b64decode(read["pieces"]["A"])) == b"glTF and more"
    assert [*read["pieces"], *read["boards"], *read["lids"]] == ["A", "Q"]
