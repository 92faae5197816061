"""A field of orbits against shapely."""

from __future__ import annotations

import math
import random

import pytest
import shapely
from shapely.affinity import affine_transform

from fabkit.model.lattice import LATTICES
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, Field
from tests.support import snowflakes

FIELDS = [
    Field.for_parity(LATTICES[lattice], parity, half_width)
    for lattice in ("square", "quarter-square")
    for parity, half_widths in {
        EVEN: (1, 3),
        ODD: (0, 1, 3),
        MIXED: ((1, 0), (1, 1), (3, 2), (2, 3)),
    }.items()
    for half_width in half_widths
]
SYMMETRIES = [(a, b, -b * m, a * m) for a, b in ((1, 0), (0, 1), (-1, 0), (0, -1)) for m in (1, -1)]


def cells_of(field: Field) -> list[shapely.Polygon]:
    """Each cell relative to the centre, in units."""
    unit = 2 * field.lattice.per_unit
    return [
        shapely.Polygon(
            (x / unit, y / unit)
            for x, y in map(field.boards[at].from_centre, field.lattice.ring(cell))
        )
        for at, cell in field.cells
    ]


def outlines(field: Field) -> list[shapely.Geometry]:
    """Each orbit's area."""
    cells = cells_of(field)
    return [shapely.union_all([cells[cell] for cell in orbit]) for orbit in field.orbits]


def named(shape: shapely.Geometry) -> tuple[int, int]:
    return round(12 * shape.centroid.x), round(12 * shape.centroid.y)


def test_orbits_are_all_cells_with_their_images() -> None:
    for field in FIELDS:
        assert sorted(cell for orbit in field.orbits for cell in orbit) == list(
            range(len(field.cells))
        )
        cells = cells_of(field)
        for index, orbit in enumerate(field.orbits):
            images = [affine_transform(cells[orbit[0]], (*turn, 0, 0)) for turn in SYMMETRIES]
            assert set(map(named, images)) == {named(cells[cell]) for cell in orbit}
            assert {field.orbit_of[cell] for cell in orbit} == {index}
            assert {field.cells[cell][0] for cell in orbit} == {field.board_of(index)}
            assert field.orbit_sizes[index] == len(orbit) == len(set(map(named, images)))
        for at, part in enumerate(field.boards):
            reach = part.half_width + (part.parity == ODD) / 2
            own = [cells[n] for n, (its, _) in enumerate(field.cells) if its == at]
            assert (
                shapely.union_all(own).equals(shapely.box(-reach, -reach, reach, reach)) or not own
            )
            assert sum(cell.area for cell in own) == pytest.approx(4 * reach * reach)


def test_what_meets_and_what_overlaps() -> None:
    for field in FIELDS:
        shapes = outlines(field)
        for one, shape in enumerate(shapes):
            meeting = {other for other, theirs in enumerate(shapes) if shape.intersects(theirs)}
            over = {o for o, theirs in enumerate(shapes) if shape.intersection(theirs).area > 1e-9}
            assert field.touching[one] == meeting
            assert field.conflicts[one] == over - {one}


def test_what_lies_on_a_mirror_and_how_far_it_reaches() -> None:
    for field in FIELDS:
        shapes = outlines(field)
        axes = shapely.MultiLineString([[(-99, 0), (99, 0)], [(0, -99), (0, 99)]])
        diagonals = shapely.MultiLineString([[(-99, -99), (99, 99)], [(-99, 99), (99, -99)]])
        for mirror, lines in zip(field.mirrors, (axes, diagonals), strict=True):
            assert mirror == {one for one, shape in enumerate(shapes) if shape.intersects(lines)}
        for one, shape in enumerate(shapes):
            part = field.board_of(one)
            expected = [-1] * len(field.boards)
            expected[part] = math.ceil(shape.bounds[2] - (field.boards[part].parity == ODD) / 2)
            assert field.half_widths([one]) == tuple(expected)
        everything = tuple(part.half_width for part in field.boards)
        assert field.half_widths(range(len(shapes))) == everything


def test_rigid_is_what_has_no_part_that_is_carried_elsewhere() -> None:
    rng, found = random.Random(1), []
    for field in FIELDS:
        shapes = outlines(field)
        for _ in range(12):
            orbits = rng.sample(range(len(shapes)), rng.randint(1, min(12, len(shapes))))
            found.append(field.is_rigid(orbits))
            assert found[-1] == snowflakes.is_rigid(snowflakes.together(shapes[o] for o in orbits))
    assert 20 < sum(found) < len(found) - 20
