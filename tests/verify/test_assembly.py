"""Solutions put together from meshes: against shapely's distances, and with planted shifts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from shapely import Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.fitting.assembly import Assembly, Table
from fabkit.mesh.part import Part
from fabkit.model.piece import Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import PuzzleSet, rings_in_units
from fabkit.verify.answers import Answered, answer_catalog, read_set
from tests.support import measure
from tests.support.prints import Order
from tests.support.taken import taken

PLAIN, TURNABLE = Order(), Order(("flippable",))


@lru_cache
def answers(set_name: str, order: Order) -> list[Answered]:
    found = taken(set_name, order)
    solved = answer_catalog(read_set(found.puzzle, found.read_pieces()), None)
    return [one for one in solved if one.layout]


def table(set_name: str, order: Order, **moved: Part) -> Table:
    found = taken(set_name, order)
    return Table(found.pieces() | moved, found.puzzle.lattice, order.profile())


def assemble(one: Answered, on: Table) -> Assembly:
    return on.assemble(one.challenge.id, one.challenge.region, one.layout)


def drawn(puzzle: PuzzleSet, cells: frozenset[tuple[int, int]], unit_mm: float) -> BaseGeometry:
    """Cells in mm, by way of shapely's rings."""
    rings = rings_in_units(puzzle.lattice, rings_of_cells(puzzle.lattice, cells))
    return affinity.scale(
        Polygon(max(rings, key=lambda r: Polygon(r).area)), unit_mm, unit_mm, origin=(0, 0)
    )


def laid(part: Part, target: BaseGeometry, turns: int) -> BaseGeometry:
    """A part's outline at mid-height, turned and moved until it covers a target: the overlap
    decides, so nothing of the lattice's moves is used."""
    mesh = measure.trimesh.Trimesh(part.vertices, part.body.faces, process=False)
    section = measure.filled(measure.section(mesh, part.thickness_mm / 2 + 0.0123))
    best = None
    for turn in range(turns):
        turned = affinity.rotate(section, 360 * turn / turns, origin=(0, 0))
        shift = [b - a for a, b in zip(middle(turned), middle(target), strict=True)]
        there = affinity.translate(turned, *shift)
        common = there.intersection(target).area
        if best is None or common > best[0] + 1e-6:
            best = common, there
    assert best is not None
    assert best[0] > 0.9 * target.area
    return best[1]


def middle(area: BaseGeometry) -> tuple[float, float]:
    left, bottom, right, top = area.bounds
    return (left + right) / 2, (bottom + top) / 2


@pytest.mark.parametrize("set_name", ["iqblock", "cubimagici"])
def test_gaps_agree_with_distances_of_sections(set_name: str) -> None:
    """Pieces of squares: tips are not cut, so bounding boxes lie right."""
    found = taken(set_name, PLAIN)
    for one in answers(set_name, PLAIN):
        if found.puzzle.flips and any(_is_flipped(found.puzzle, found.read_pieces(), one)):
            continue
        shapes = {
            piece: laid(found.pieces()[piece], drawn(found.puzzle, cells, 20.0), 4)
            for piece, cells in one.layout.items()
        }
        pairs = itertools.combinations(shapes.values(), 2)
        gaps = [a.distance(b) for a, b in pairs]
        result = assemble(one, table(set_name, PLAIN))
        assert result.ok
        assert result.overlap_mm3 == 0
        assert result.min_gap_mm == pytest.approx(min(gaps), abs=2e-3)
        assert union_all(list(shapes.values())).area < len(one.challenge.region) * 400


def _is_flipped(puzzle: PuzzleSet, pieces: Mapping[str, Piece], one: Answered) -> list[bool]:
    from fabkit.model.piece import is_image

    physical = read_set(puzzle, pieces)
    return [
        not is_image(puzzle.lattice, physical.piece(piece), cells, flips=False)
        for piece, cells in one.layout.items()
    ]


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(PLAIN, id=str(PLAIN)),
        pytest.param(TURNABLE, id=str(TURNABLE), marks=pytest.mark.long),
    ],
)
def test_every_challenge_of_fridgeiq_goes_together(order: Order) -> None:
    on = table("fridgeiq", order)
    results = [assemble(one, on) for one in answers("fridgeiq", order)]
    assert len(results) == 39
    for result in results:
        assert result.messages == ()
        assert result.ok
        assert result.overlap_mm3 == 0
        assert result.outside_mm == 0
        for gap_mm in (result.min_gap_mm, result.max_gap_mm):
            assert gap_mm == pytest.approx(0.2, abs=2e-3)


def shifted(part: Part, x_mm: float, y_mm: float = 0.0) -> Part:
    return replace(part, vertices=part.vertices + np.array([x_mm, y_mm, 0.0]))


def square(set_name: str = "fridgeiq") -> Answered:
    return next(one for one in answers(set_name, PLAIN) if one.challenge.id == "square_10")


@pytest.mark.parametrize("seed", range(4))
def test_a_shifted_part_overlaps_as_much_as_it_must(seed: int) -> None:
    """A part 0.7 mm beside its place overlaps neighbours by 0.5 mm, and leaves gaps of 0.9."""
    random = np.random.default_rng(seed)
    one = square()
    piece = str(random.choice(sorted(one.layout)))
    part = taken("fridgeiq", PLAIN).pieces()[piece]
    x, y = [(0.7, 0.0), (-0.7, 0.0), (0.0, 0.7), (0.0, -0.7)][seed]
    result = assemble(one, table("fridgeiq", PLAIN, **{piece: shifted(part, x, y)}))
    assert not result.ok
    assert all(piece in message.split() for message in result.messages)
    complaints = " ".join(result.messages)
    assert "overlap by" in complaints or "out of the region" in complaints
    if "overlap" in complaints:
        assert result.overlap_mm3 > 1
        assert result.min_gap_mm == 0


@pytest.mark.parametrize(("shift_mm", "ok"), [(0.09, True), (0.11, False)])
def test_the_least_gap_is_kept_to_the_limit(shift_mm: float, ok: bool) -> None:
    """The least gap is 0.1 mm; neighbours lie 0.2 mm apart."""
    one = square()
    part = taken("fridgeiq", PLAIN).pieces()["N"]
    found = [
        assemble(one, table("fridgeiq", PLAIN, N=shifted(part, x, y)))
        for x, y in ((shift_mm, 0), (-shift_mm, 0), (0, shift_mm), (0, -shift_mm))
    ]
    assert all(result.ok for result in found) == ok
    if not ok:
        complaints = [message for result in found for message in result.messages]
        assert any("leave a gap of 0.090 mm" in message for message in complaints)
        assert not any("overlap" in message for message in complaints)


@pytest.mark.parametrize(("shift_mm", "ok"), [(0.29, True), (0.31, False)])
def test_the_greatest_gap_is_kept_to_the_limit(shift_mm: float, ok: bool) -> None:
    """The greatest gap along an edge is 0.5 mm; it opens on the side that is left behind."""
    one = square()
    part = taken("fridgeiq", PLAIN).pieces()["N"]
    complaints = [
        message
        for x, y in ((shift_mm, 0), (-shift_mm, 0), (0, shift_mm), (0, -shift_mm))
        for message in assemble(one, table("fridgeiq", PLAIN, N=shifted(part, x, y))).messages
    ]
    assert any("along an edge" in message for message in complaints) != ok


def test_a_pair_is_measured_once_in_each_pose() -> None:
    on = table("fridgeiq", PLAIN)
    one = square()
    first = assemble(one, on)
    measured = on.poses_measured
    assert 16 < measured < 120
    assert assemble(one, on) == first
    assert on.poses_measured == measured
    alone = {
        one.challenge.id: assemble(one, table("fridgeiq", PLAIN))
        for one in answers("fridgeiq", PLAIN)[:8]
    }
    shared = table("fridgeiq", PLAIN)
    for other in answers("fridgeiq", PLAIN)[:8]:
        assert assemble(other, shared) == alone[other.challenge.id]
