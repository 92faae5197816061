"""The tolerance stack-up of real exports, against its closed form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from shapely import LineString, Polygon

from fabkit.mesh.fitting.tolerance import PrinterError, Solution, tolerance
from fabkit.model.library import load_set
from fabkit.model.puzzle import in_units
from fabkit.verify.answers import answer_catalog, read_set
from fabkit.verify.taking import read_piece, take
from tests.support.prints import Order, print_set
from tests.support.shapes import body_of

pytestmark = pytest.mark.integration

INSET_MM = 0.12
UNIT_MM = 20.0


@pytest.mark.parametrize("set_name", ["fridgeiq", "iqstars", "iqblock"])
def test_rows_of_real_exports(set_name: str, tmp_path: Path) -> None:
    prints = print_set(set_name, Order((), (f"inset={INSET_MM} mm",)), tmp_path)
    puzzle = load_set(set_name)
    puzzle = replace(puzzle, challenges=puzzle.challenges[::4])
    parts = take([body_of(one.mesh, one.drawing.id) for one in prints], puzzle, UNIT_MM).pieces()
    read = {name: read_piece(puzzle, name, part) for name, part in parts.items()}
    answers = answer_catalog(read_set(puzzle, read), None)
    solutions = [
        Solution(one.challenge.id, one.challenge.region, one.layout)
        for one in answers
        if one.layout
    ]
    error = PrinterError(0.15)
    found = tolerance(parts, puzzle.lattice, solutions, error)
    assert [one.challenge for one in found.stacks] == [s.challenge for s in solutions]
    assert found.inset_mm == pytest.approx(INSET_MM, abs=2e-4)
    for one, solution in zip(found.stacks, solutions, strict=True):
        row = one.row
        line = LineString([row.start_mm, row.end_mm])
        assert row.plastic_mm == pytest.approx(row.nominal_mm - row.slack_mm, abs=1e-9)
        assert row.nominal_mm == pytest.approx(line.length, abs=1e-6)
        # Both ends lie on the region's border, and nothing is open between them.
        rings = [in_units(puzzle.lattice, puzzle.lattice.ring(c)) for c in solution.region]
        cells = [Polygon(np.array(ring) * UNIT_MM) for ring in rings]
        region = shapely.union_all(cells, grid_size=1e-6)
        assert region.buffer(0.01).contains(line)
        assert all(
            region.exterior.distance(shapely.Point(end)) < 0.01
            for end in (row.start_mm, row.end_mm)
        )
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
