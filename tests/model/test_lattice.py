"""Lattices, outlines and cells: exact, each the inverse of the other; shapely says the same."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Point, Polygon, union_all

from fabkit.drawing.outline import region_mm
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import moves_onto, normalize_cells
from fabkit.model.polygon import OutlineError, area2, cells_of_rings, parts_of_cells, rings_of_cells
from fabkit.model.puzzle import to_units
from tests.support.published import known_counts
from tests.support.strategies import cell_sets, lattices

QUARTER, SQUARE = LATTICES["quarter-square"], LATTICES["square"]
Shape = tuple[Lattice, frozenset[Cell]]


@given(cell_sets(), st.integers(0, 50), st.booleans())
def test_outline_and_cells_are_inverses(shape: Shape, turn: int, backwards: bool) -> None:
    """Rings may begin anywhere and run either way."""
    lattice, cells = shape
    rings = rings_of_cells(lattice, cells)
    assert sum(map(area2, rings)) == sum(area2(lattice.ring(cell)) for cell in cells)
    turned = [ring[turn % len(ring) :] + ring[: turn % len(ring)] for ring in rings]
    found = cells_of_rings(lattice, [ring[::-1] for ring in turned] if backwards else turned, True)
    assert found == cells
    assert rings_of_cells(lattice, found) == rings


@given(cell_sets())
def test_shapely_finds_the_same_cells(shape: Shape) -> None:
    lattice, cells = shape
    union = union_all([Polygon(lattice.ring(cell)) for cell in cells])
    outline = Polygon()
    for ring in rings_of_cells(lattice, cells):
        outline = outline.symmetric_difference(Polygon(ring))
    assert outline.symmetric_difference(union).area == pytest.approx(0, abs=1e-9)
    left, bottom, right, top = (int(v) for v in union.bounds)
    box = [(x, y) for x in range(left - 6, right + 7) for y in range(bottom - 6, top + 7)]
    assert {p for p in box if lattice.is_cell(p) and outline.contains(Point(p))} == cells


@given(cell_sets(), st.integers(0, 11), st.integers(-5, 5), st.integers(-5, 5))
def test_symmetries_and_translations_carry_cells_to_cells(
    shape: Shape, move: int, across: int, up: int
) -> None:
    lattice, cells = shape
    symmetry = lattice.symmetries[move % len(lattice.symmetries)]
    (ux, _), (vx, vy) = lattice.basis
    dx, dy = across * ux + up * vx, up * vy
    image = frozenset(map(symmetry, cells))
    moved = frozenset((x + dx, y + dy) for x, y in image)
    assert all(lattice.is_cell(cell) for cell in moved)
    (ax, ay), (bx, by) = lattice.anchor(moved), lattice.anchor(image)
    assert (ax - bx, ay - by) == (dx, dy)
    found = moves_onto(lattice, cells, moved)
    assert (symmetry, (dx, dy)) in found
    for one, (left, low) in found:
        assert {(x + left, y + low) for x, y in map(one, cells)} == moved
    assert [one.flipped for one, _ in found] == sorted(one.flipped for one, _ in found)
    if len(cells) > 1:
        assert moves_onto(lattice, cells, moved - {max(moved)}) == []


@given(lattices, st.integers(0, 40), st.integers(0, 40))
def test_symmetries_are_isometries_and_cells_have_rows(
    lattice: Lattice, row: int, col: int
) -> None:
    points = [(0, 0), *lattice.basis]
    for one in lattice.symmetries:
        for a in points:
            for b in points:
                length = math.dist(*to_units(lattice, [a, b]))
                assert math.dist(*to_units(lattice, [one(a), one(b)])) == pytest.approx(length)
    assert len({one.doubled for one in lattice.symmetries}) == len(lattice.symmetries)
    cells = lattice.cells_at(row, col)
    assert [lattice.address(cell) for cell in cells] == [(row, col, k) for k in range(len(cells))]
    # Of a place with several cells the first is at the top, and the others follow
    # counter-clockwise.
    places = to_units(lattice, cells)
    x, y = (sum(values) / len(cells) for values in zip(*places, strict=True))
    angles = [(math.atan2(x - left, up - y) + 1e-9) % math.tau for left, up in places]
    assert len(cells) == 1 or angles == sorted(angles)
    # A board that begins at the origin looks as one that begins at [0, 0].
    top, left = lattice.origin(row, col)
    for down, across in product(range(3), repeat=2):
        here, there = lattice.cells_at(top + down, left + across), lattice.cells_at(down, across)
        assert list(map(lattice.residue, here)) == list(map(lattice.residue, there))
    assert (top, left) == lattice.origin(top, left)


def test_triangles_point_up_where_row_plus_column_is_even() -> None:
    lattice = LATTICES["triangle"]
    for place in product(range(-3, 4), repeat=2):
        (cell,) = lattice.cells_at(*place)
        heights = sorted(y for _, y in lattice.ring(cell))
        assert (heights[0] == heights[1]) == (sum(place) % 2 == 0)


def free_forms(lattice: Lattice, parts: Sequence[frozenset[Cell]]) -> Iterator[int]:
    """How many shapes 1, 2, 3, … parts that share edges make, up to rotations and reflections.

    The parts of one period are moved by the lattice's translations.
    """
    (ux, _), (vx, vy) = lattice.basis
    near = product(range(-2, 3), repeat=2)
    moves = [(across * ux + up * vx, up * vy) for across, up in near]
    moved = [frozenset((x + dx, y + dy) for x, y in part) for part in parts for dx, dy in moves]
    touching: dict[tuple[Cell, Cell], list[frozenset[Cell]]] = {}
    for part in moved:
        for edge in (edge for cell in part for edge in lattice.cell_edges(cell)):
            touching.setdefault(edge, []).append(part)

    def canonical(cells: frozenset[Cell]) -> frozenset[Cell]:
        images = (normalize_cells(lattice, map(move, cells)) for move in lattice.symmetries)
        return min(images, key=sorted)

    def neighbours(cells: frozenset[Cell]) -> Iterator[frozenset[Cell]]:
        for cell in cells:
            kind = lattice.residue(cell)
            dx, dy = cell[0] - kind[0], cell[1] - kind[1]
            for start, end in lattice.cell_edges(kind):
                for part in touching.get((end, start), ()):
                    yield frozenset((x + dx, y + dy) for x, y in part)

    forms = {canonical(part) for part in parts}
    while True:
        yield len(forms)
        larger = (form | part for form in forms for part in neighbours(form) if not form & part)
        forms = set(map(canonical, larger))


@pytest.mark.parametrize("name", LATTICES)
def test_there_are_as_many_polyforms_as_published(name: str) -> None:
    known = known_counts("polyforms")
    if name == "drafter":  # halves of triangles are three drafters; of drafters none are published
        lattice = LATTICES[name]
        around = []
        for corner in ((0, 24), (12, 12)):
            cells = sorted(window(lattice), key=angle_about(corner))
            around.append([cell for cell in cells if corner in lattice.ring(cell)])
        parts = [frozenset((six * 2)[at : at + 3]) for six in around for at in range(6)]
        expected = known["halves of triangles"]
    else:
        parts = [frozenset({cell}) for cell in LATTICES[name].first]
        expected = known[name]
    found = list(islice(free_forms(LATTICES[name], parts), len(expected)))
    assert found == expected


def window(lattice: Lattice) -> list[Cell]:
    return [cell for place in product(range(-3, 4), repeat=2) for cell in lattice.cells_at(*place)]


def angle_about(corner: Cell) -> Callable[[Cell], float]:
    (step_x, step_y) = (math.sqrt(squared) for squared in LATTICES["drafter"].step_squared)
    return lambda cell: math.atan2((cell[1] - corner[1]) * step_y, (cell[0] - corner[0]) * step_x)


def test_broken_outlines_are_refused() -> None:
    for ring, message in (
        ([(0, 0), (12, 6), (0, 6)], "does not run along the quarter-square lattice"),
        ([(0, 0), (12, 12), (12, 0), (0, 12)], r"it touches itself at \(1, 1\)"),
        ([(0, 0), (12, 0), (6, 0), (6, 6)], "it runs twice along the edge"),
        ([(0, 0), (6, 0)], "has 2 corners"),
        ([(0, 0), (0, 0), (6, 0), (6, 6)], "is repeated"),
        ([(3, 3), (9, 3), (9, 9)], "does not run along"),
    ):
        with pytest.raises(OutlineError, match=message):
            cells_of_rings(QUARTER, [tuple(ring)])


def test_regions_may_touch_in_a_point_but_pieces_may_not() -> None:
    cells = frozenset({(1, 1), (3, 3)})
    rings = [((0, 0), (2, 0), (2, 2), (0, 2)), ((2, 2), (4, 2), (4, 4), (2, 4))]
    assert cells_of_rings(SQUARE, rings, may_touch=True) == cells
    with pytest.raises(OutlineError, match="touches itself at"):
        cells_of_rings(SQUARE, rings)
    assert parts_of_cells(SQUARE, cells | {(3, 1)}) == [cells | {(3, 1)}]
    assert parts_of_cells(SQUARE, cells) == [{(1, 1)}, {(3, 3)}]


def test_hole_is_left_out() -> None:
    cells = frozenset(c for row in range(3) for col in range(3) for c in SQUARE.cells_at(row, col))
    ring = cells - set(SQUARE.cells_at(1, 1))
    rings = rings_of_cells(SQUARE, ring)
    assert [len(r) for r in rings] == [4, 4]
    assert [area2(r) > 0 for r in rings] == [True, False]
    assert cells_of_rings(SQUARE, rings) == ring


@pytest.mark.parametrize("name", LATTICES)
def test_a_region_in_mm_is_the_area_of_its_cells(name: str) -> None:
    """Cells in parts, with holes, islands in them, and parts that meet in points."""
    lattice, chance = LATTICES[name], random.Random(name)
    all_cells = sorted(cell for r in range(7) for c in range(7) for cell in lattice.cells_at(r, c))
    for _ in range(6):
        cells = frozenset(chance.sample(all_cells, chance.randrange(1, len(all_cells))))
        found = region_mm(lattice, cells, 7.0)
        rings = ([(x * 7, y * 7) for x, y in to_units(lattice, lattice.ring(c))] for c in cells)
        assert found.is_valid
        expected = union_all([*map(Polygon, rings)])
        assert found.symmetric_difference(expected, grid_size=1e-9).area < 1e-6


def test_an_island_in_a_hole_belongs_to_a_board() -> None:
    places = [(r, c) for r in range(5) for c in range(5) if {r, c} & {0, 4} or (r, c) == (2, 2)]
    cells = frozenset(cell for place in places for cell in SQUARE.cells_at(*place))
    area = region_mm(SQUARE, cells, 20.0)
    assert area.area == pytest.approx(17 * 20.0**2)
    assert area.contains(Point(50, -50))
    assert not area.contains(Point(30, -30))
