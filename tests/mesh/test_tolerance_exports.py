"""The tolerance stack-up of real exports: measured again, turned, and with a planted fault."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
import shapely
from shapely import LineString, Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.fitting.rows import Row
from fabkit.mesh.fitting.tolerance import PrinterError, Solution, tolerance
from fabkit.mesh.part import Part
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.library import load_set
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.verify.answers import answer_catalog, read_set
from fabkit.verify.flat import read_piece
from fabkit.verify.taking import take
from tests.support import measure
from tests.support.prints import Order, Print, print_set
from tests.support.shapes import body_of

pytestmark = pytest.mark.integration

INSET_MM = 0.12
UNIT_MM = 20.0


@dataclass(frozen=True)
class Exported:
    """A set as it would be printed, read back and solved."""

    puzzle: PuzzleSet
    prints: dict[str, Print]
    sections: dict[str, Polygon]
    parts: dict[str, Part]
    solutions: list[Solution]


@pytest.fixture(
    scope="module",
    params=["fridgeiq", "iqstars", "iqblock"],
)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    order = Order((), (f"inset={INSET_MM} mm",))
    prints = print_set(request.param, order, tmp_path_factory.mktemp("stl"))
    puzzle = load_set(request.param)
    puzzle = replace(puzzle, challenges=puzzle.challenges[::4])
    parts = take([body_of(one.mesh, one.drawing.id) for one in prints], puzzle, UNIT_MM).pieces()
    read = {name: read_piece(puzzle, name, part) for name, part in parts.items()}
    return Exported(
        puzzle,
        {one.drawing.id: one for one in prints},
        # Not quite in the middle, where corners of the mesh may lie.
        {
            one.drawing.id: measure.filled(one.section(one.profile.thickness_mm / 2 + 0.0137))
            for one in prints
        },
        parts,
        [
            Solution(one.challenge.id, one.challenge.region, one.layout)
            for one in answer_catalog(read_set(puzzle, read), None)
            if one.layout
        ],
    )


def drawn(lattice: Lattice, cells: frozenset[Cell]) -> Polygon:
    """Cells in mm, from their corners."""
    corners = [np.array(in_units(lattice, lattice.ring(cell))) * UNIT_MM for cell in cells]
    return shapely.union_all([Polygon(ring) for ring in corners], grid_size=1e-6)


def sections_of(exported: Exported, solution: Solution) -> dict[str, BaseGeometry]:
    """Mid-height sections, laid where they belong by trying all turns of the drawing."""
    lattice = exported.puzzle.lattice
    found = {}
    for piece, cells in solution.layout.items():
        one, target = exported.prints[piece], drawn(lattice, cells)
        own = affinity.scale(one.drawing.outline, UNIT_MM, UNIT_MM, origin=(0, 0))
        section = exported.sections[piece]
        middle, (to_x, to_y) = own.centroid, target.centroid.coords[0]
        for degrees, sign in itertools.product(range(0, 360, 30), (1, -1)):
            turned = [
                affinity.scale(affinity.rotate(area, degrees, origin=middle), sign, origin=middle)
                for area in (own, section)
            ]
            own_there, found[piece] = (
                affinity.translate(area, to_x - middle.x, to_y - middle.y) for area in turned
            )
            if measure.difference_mm2(own_there, target) < 0.01:
                break
        else:
            pytest.fail(f"{piece} does not lie in {solution.challenge}")
    return found


def along(row: Row) -> Iterator[tuple[float, float]]:
    yield row.start_mm
    yield row.end_mm


def slacks_mm(
    line: LineString, sections: dict[str, BaseGeometry], pieces: Sequence[str]
) -> list[float]:
    """What is open between these pieces, from end to end; rigid ones may be passed over."""
    spans = [(0.0, 0.0, ""), (line.length, line.length, "")]
    for piece, area in sections.items():
        for one in shapely.get_parts(line.intersection(area)):
            ends = [line.project(shapely.Point(end)) for end in one.coords]
            spans += [(min(ends), max(ends), piece)] if ends else []
    gaps: dict[tuple[str, str], list[float]] = {}
    for (_, end, left), (start, _, right) in itertools.pairwise(sorted(spans)):
        gaps.setdefault((left, right), []).append(start - end)
    ways = itertools.product(*(gaps[pair] for pair in itertools.pairwise(["", *pieces, ""])))
    return [sum(way) for way in ways]


def test_real_rows_measured_again(exported: Exported) -> None:
    error = PrinterError(0.15)
    found = tolerance(exported.parts, exported.puzzle.lattice, exported.solutions, error)
    assert [one.challenge for one in found.stacks] == [s.challenge for s in exported.solutions]
    assert found.inset_mm == pytest.approx(INSET_MM, abs=2e-4)
    for one, solution in zip(found.stacks, exported.solutions, strict=True):
        row = one.row
        line, sections = LineString(along(row)), sections_of(exported, solution)
        assert any(
            slack_mm == pytest.approx(row.slack_mm, abs=0.003)
            for slack_mm in slacks_mm(line, sections, row.pieces)
        )
        assert row.plastic_mm == pytest.approx(row.nominal_mm - row.slack_mm, abs=1e-9)
        assert row.nominal_mm == pytest.approx(line.length, abs=1e-6)
        # Both ends lie on the region's border, and nothing is open between them.
        region = drawn(exported.puzzle.lattice, solution.region)
        assert region.buffer(0.01).contains(line)
        assert all(region.exterior.distance(shapely.Point(end)) < 0.01 for end in along(row))
        # Whatever was drawn is inset by the same on each side, also where sides slant.
        assert row.slack_mm == pytest.approx(INSET_MM * row.give, abs=0.002)
        assert one.worst_slack_mm == pytest.approx((INSET_MM - 0.15) * row.give, abs=0.002)
        assert len(row.sides) == 2 * len(row.pieces)
    assert found.worst is not None
    assert found.likely_longest is not None
    assert found.likely is not None
    assert found.worst.inset_mm == pytest.approx(0.15)
    assert found.likely_longest.inset_mm <= found.likely.inset_mm <= found.worst.inset_mm
    assert not found.closes
