"""Cells as an area in millimetres, and the moves that carry some cells onto others."""

from __future__ import annotations

import random

import pytest
from shapely import Point, Polygon, union_all

from fabkit.drawing.boards.frame import region_of
from fabkit.drawing.outline import region_mm
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.library import load_set
from fabkit.model.piece import moves_onto
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import Board, in_units

UNIT_MM = 7.0


def some_cells(lattice: Lattice, seed: int) -> frozenset[Cell]:
    """Cells in parts, with holes, islands in them, and parts that meet in points."""
    chance = random.Random(seed)
    places = [lattice.cells_at(row, column) for row in range(7) for column in range(7)]
    every = sorted(cell for cells in places for cell in cells)
    return frozenset(chance.sample(every, chance.randrange(1, len(every))))


def cell_area(lattice: Lattice, cell: Cell) -> Polygon:
    return Polygon([(x * UNIT_MM, y * UNIT_MM) for x, y in in_units(lattice, lattice.ring(cell))])


@pytest.mark.parametrize("name", LATTICES)
@pytest.mark.parametrize("seed", range(12))
def test_a_region_is_the_area_of_its_cells(name: str, seed: int) -> None:
    lattice = LATTICES[name]
    cells = some_cells(lattice, seed)
    found = region_mm(lattice, cells, UNIT_MM)
    wanted = union_all([cell_area(lattice, cell) for cell in sorted(cells)])
    assert found.is_valid
    assert found.symmetric_difference(wanted).area < 1e-6


def test_an_island_in_a_hole_belongs_to_a_board() -> None:
    block = load_set("iqblock")
    places = [(r, c) for r in range(5) for c in range(5) if {r, c} & {0, 4} or (r, c) == (2, 2)]
    cells = frozenset(cell for place in places for cell in block.lattice.cells_at(*place))
    area = region_of(block, Board("ring", cells), load_profile())
    assert area.area == pytest.approx(17 * 20.0**2)
    assert area.contains(Point(50, -50))
    assert not area.contains(Point(30, -30))


@pytest.mark.parametrize("name", LATTICES)
@pytest.mark.parametrize("seed", range(6))
def test_moves_carry_cells_exactly_onto_others(name: str, seed: int) -> None:
    lattice, chance = LATTICES[name], random.Random(seed)
    own = some_cells(lattice, seed)
    (ux, uy), (vx, vy) = lattice.basis
    across, up = chance.randrange(-5, 5), chance.randrange(-5, 5)
    move = chance.choice(lattice.symmetries)
    image = [move(cell) for cell in own]
    there = frozenset((x + across * ux + up * vx, y + across * uy + up * vy) for x, y in image)
    found = moves_onto(lattice, own, there)
    assert move in [one for one, _ in found]
    for one, (dx, dy) in found:
        assert {(x + dx, y + dy) for x, y in map(one, own)} == there
    flipped = [one.flipped for one, _ in found]
    assert flipped == sorted(flipped)
    assert moves_onto(lattice, own, there - {max(there)}) == []
