"""Orientations and placements, against an independent brute-force implementation."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import fits_in, is_image, normalize_cells, orientations, placements
from fabkit.model.polygon import cells_of_rings
from tests.support.sketches import board
from tests.support.strategies import cell_sets, piece_of

Shape = tuple[Lattice, frozenset[Cell]]


def images_by_brute_force(
    lattice: Lattice, cells: frozenset[Cell], region: frozenset[Cell], flips: bool
) -> set[frozenset[Cell]]:
    """Every image of the cells inside a region: all moves times all translations in reach."""
    found = set()
    (ux, uy), (vx, vy) = lattice.basis
    for symmetry in lattice.symmetries[: len(lattice.symmetries) // (1 if flips else 2)]:
        image = [symmetry(cell) for cell in cells]
        for across, up in product(range(-20, 21), repeat=2):
            dx, dy = across * ux + up * vx, across * uy + up * vy
            moved = frozenset((x + dx, y + dy) for x, y in image)
            if moved <= region:
                found.add(moved)
    return found


@given(cell_sets(most=5), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_placements_are_those_of_the_brute_force(
    shape: Shape, rows: int, cols: int, flips: bool
) -> None:
    lattice, cells = shape
    piece, region = piece_of(lattice, cells), board(lattice.name, rows, cols)
    found = list(placements(lattice, piece, region, flips))
    covered = [placement.cells for placement in found]
    assert len(set(covered)) == len(covered), "a placement is found twice"
    assert set(covered) == images_by_brute_force(lattice, cells, region, flips)
    assert fits_in(lattice, piece, region, flips) == bool(found)
    for placement in found:
        assert cells_of_rings(lattice, placement.rings, may_touch=True) == placement.cells


@given(cell_sets(), st.integers(0, 11), st.booleans())
def test_orientations_form_orbits(shape: Shape, move: int, flips: bool) -> None:
    """The number of images is that of the moves divided by those that fix the shape."""
    lattice, cells = shape
    piece, moves = piece_of(lattice, cells), lattice.moves(flips)
    found = orientations(lattice, piece, flips)
    fixing = sum(normalize_cells(lattice, map(one, cells)) == found[0].cells for one in moves)
    assert len(found) * fixing == len(moves)
    reachable = {orientation.cells for orientation in found}
    assert len(reachable) == len(found)
    for orientation in found:
        inside = cells_of_rings(lattice, orientation.rings, may_touch=True)
        assert inside == orientation.cells
    image = frozenset(map(lattice.symmetries[move % len(lattice.symmetries)], cells))
    assert is_image(lattice, piece, image, flips) == (normalize_cells(lattice, image) in reachable)
    assert is_image(lattice, piece, image, flips=True)
