"""Lattices, outlines and cells: exact, each the inverse of the other; shapely says the same."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Point, Polygon, union_all

from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.polygon import (
    OutlineError,
    area2,
    canonical_ring,
    cells_of_rings,
    parts_of_cells,
    rings_of_cells,
)
from tests.support.strategies import cell_sets, lattices

QUARTER = LATTICES["quarter-square"]
SQUARE = LATTICES["square"]


def shapely_area(lattice: Lattice, rings: tuple) -> Polygon:
    """The even-odd area of rings, in frame steps."""
    area = Polygon()
    for ring in rings:
        area = area.symmetric_difference(Polygon(ring))
    return area


@given(cell_sets())
def test_outline_and_cells_are_inverses(shape: tuple[Lattice, frozenset[Cell]]) -> None:
    lattice, cells = shape
    rings = rings_of_cells(lattice, cells)
    assert cells_of_rings(lattice, rings, may_touch=True) == cells
    assert rings_of_cells(lattice, cells_of_rings(lattice, rings, may_touch=True)) == rings


@given(cell_sets())
def test_area_of_outline_is_that_of_its_cells(shape: tuple[Lattice, frozenset[Cell]]) -> None:
    lattice, cells = shape
    total = sum(area2(ring) for ring in rings_of_cells(lattice, cells))
    assert total == len(cells) * lattice.cell_area2


@given(cell_sets())
def test_shapely_finds_the_same_cells(shape: tuple[Lattice, frozenset[Cell]]) -> None:
    lattice, cells = shape
    union = union_all([Polygon(lattice.ring(cell)) for cell in cells])
    outline = shapely_area(lattice, rings_of_cells(lattice, cells))
    assert outline.symmetric_difference(union).area == pytest.approx(0, abs=1e-9)
    left, bottom, right, top = (int(v) for v in union.bounds)
    box = [(x, y) for x in range(left - 6, right + 7) for y in range(bottom - 6, top + 7)]
    inside = {p for p in box if lattice.is_cell(p) and outline.contains(Point(p))}
    assert inside == cells


@given(cell_sets(), st.integers(0, 50), st.booleans())
def test_rings_may_begin_anywhere_and_run_either_way(
    shape: tuple[Lattice, frozenset[Cell]], turn: int, backwards: bool
) -> None:
    lattice, cells = shape
    rings = []
    for ring in rings_of_cells(lattice, cells):
        k = turn % len(ring)
        turned = ring[k:] + ring[:k]
        rings.append(turned[::-1] if backwards else turned)
    assert cells_of_rings(lattice, rings, may_touch=True) == cells


@given(cell_sets(), st.integers(0, 11), st.integers(-5, 5), st.integers(-5, 5))
def test_symmetries_and_translations_carry_cells_to_cells(
    shape: tuple[Lattice, frozenset[Cell]], move: int, across: int, up: int
) -> None:
    lattice, cells = shape
    symmetry = lattice.symmetries[move % len(lattice.symmetries)]
    (ux, uy), (vx, vy) = lattice.basis
    dx, dy = across * ux + up * vx, across * uy + up * vy
    image = frozenset((x + dx, y + dy) for x, y in map(symmetry, cells))
    assert all(lattice.is_cell(cell) for cell in image)
    ax, ay = lattice.anchor(image)
    bx, by = lattice.anchor(frozenset(map(symmetry, cells)))
    assert (ax - bx, ay - by) == (dx, dy)


@given(lattices)
def test_symmetries_are_isometries_of_the_plane(lattice: Lattice) -> None:
    sx, sy = (math.sqrt(squared) for squared in lattice.step_squared)
    points = [(0, 0), lattice.basis[0], lattice.basis[1]]

    def length(a: tuple[int, int], b: tuple[int, int]) -> float:
        return math.hypot((a[0] - b[0]) * sx, (a[1] - b[1]) * sy)

    for symmetry in lattice.symmetries:
        for a in points:
            for b in points:
                assert length(symmetry(a), symmetry(b)) == pytest.approx(length(a, b))
    assert len({s.doubled for s in lattice.symmetries}) == len(lattice.symmetries)


@given(lattices, st.integers(0, 40), st.integers(0, 40))
def test_rows_and_columns_are_read_back(lattice: Lattice, row: int, col: int) -> None:
    assert {lattice.row_col(cell) for cell in lattice.cells_at(row, col)} == {(row, col)}


def test_neighbours_of_a_hexagon_are_one_unit_away() -> None:
    lattice = LATTICES["triangular"]
    sx, sy = (math.sqrt(squared) for squared in lattice.step_squared)
    ring = {lattice.cells_at(1, 0)[0], lattice.cells_at(0, 1)[0], lattice.cells_at(1, 1)[0]}
    for x, y in ring - {lattice.cells_at(1, 1)[0]}:
        assert math.hypot(x * sx, y * sy) == pytest.approx(1)


@pytest.mark.parametrize(
    ("ring", "message"),
    [
        ([(0, 0), (12, 6), (0, 6)], "does not run along the quarter-square lattice"),
        ([(0, 0), (12, 12), (12, 0), (0, 12)], "it meets itself at (1, 1)"),
        ([(0, 0), (12, 0), (6, 0), (6, 6)], "it runs twice along the edge"),
        ([(0, 0), (6, 0)], "has 2 corners"),
        ([(0, 0), (0, 0), (6, 0), (6, 6)], "stands twice in a row"),
        ([(3, 3), (9, 3), (9, 9)], "does not run along"),
    ],
)
def test_broken_outlines_are_refused(ring: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(OutlineError) as caught:
        cells_of_rings(QUARTER, [tuple(ring)])
    assert message in str(caught.value)


def test_regions_may_touch_in_a_point_but_pieces_may_not() -> None:
    rings = [((0, 0), (2, 0), (2, 2), (0, 2)), ((2, 2), (4, 2), (4, 4), (2, 4))]
    assert cells_of_rings(SQUARE, rings, may_touch=True) == {(1, 1), (3, 3)}
    with pytest.raises(OutlineError, match="meets itself at"):
        cells_of_rings(SQUARE, rings)


def test_hole_is_left_out() -> None:
    cells = frozenset(c for row in range(3) for col in range(3) for c in SQUARE.cells_at(row, col))
    ring = cells - set(SQUARE.cells_at(1, 1))
    rings = rings_of_cells(SQUARE, ring)
    assert [area2(r) > 0 for r in rings] == [True, False]
    assert cells_of_rings(SQUARE, rings) == ring


def test_cells_that_share_only_corners_fall_apart() -> None:
    assert len(parts_of_cells(SQUARE, frozenset({(1, 1), (3, 3)}))) == 2
    assert len(parts_of_cells(SQUARE, frozenset({(1, 1), (3, 1)}))) == 1


def test_canonical_ring_drops_straight_corners() -> None:
    assert canonical_ring([(4, 0), (4, 4), (0, 4), (0, 0), (2, 0)]) == (
        (0, 0),
        (4, 0),
        (4, 4),
        (0, 4),
    )
