"""Orientations and placements, against a brute-force oracle that shares nothing with them."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import is_image, orientations
from fabkit.model.placement import placements
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
def test_placements_are_those_of_the_oracle(
    shape: Shape, rows: int, cols: int, flips: bool
) -> None:
    lattice, cells = shape
    region = board(lattice.name, rows, cols)
    found = placements(lattice, piece_of(lattice, cells), region, flips)
    covered = [placement.cells for placement in found]
    assert len(set(covered)) == len(covered), "a placement is found twice"
    assert set(covered) == images_by_brute_force(lattice, cells, region, flips)


@given(cell_sets(), st.booleans())
def test_orientations_form_orbits(shape: Shape, flips: bool) -> None:
    """The number of images is that of the moves divided by those that fix the shape."""
    lattice, cells = shape
    moves = lattice.moves(flips)
    found = orientations(lattice, piece_of(lattice, cells), flips)
    identity = found[0].cells
    fixing = 0
    for symmetry in moves:
        image = frozenset(map(symmetry, cells))
        dx, dy = lattice.anchor(image)
        fixing += frozenset((x - dx, y - dy) for x, y in image) == identity
    assert len(found) * fixing == len(moves)
    assert len({orientation.cells for orientation in found}) == len(found)


@given(cell_sets(most=6), st.booleans())
def test_an_orientation_carries_its_own_outline(shape: Shape, flips: bool) -> None:
    lattice, cells = shape
    for orientation in orientations(lattice, piece_of(lattice, cells), flips):
        inside = cells_of_rings(lattice, orientation.rings, may_touch=True)
        assert inside == orientation.cells


@given(cell_sets(most=4))
def test_a_placement_moves_cells_and_outline_together(shape: Shape) -> None:
    lattice, cells = shape
    for placement in placements(
        lattice, piece_of(lattice, cells), board(lattice.name, 3, 3), False
    ):
        assert cells_of_rings(lattice, placement.rings, may_touch=True) == placement.cells


@given(cell_sets(most=6), st.integers(0, 11), st.booleans())
def test_images_are_recognised(shape: Shape, move: int, flips: bool) -> None:
    lattice, cells = shape
    piece = piece_of(lattice, cells)
    symmetry = lattice.symmetries[move % len(lattice.symmetries)]
    image = frozenset(map(symmetry, cells))
    reachable = {o.cells for o in orientations(lattice, piece, flips)}
    dx, dy = lattice.anchor(image)
    expected = frozenset((x - dx, y - dy) for x, y in image) in reachable
    assert is_image(lattice, piece, image, flips) == expected
    assert is_image(lattice, piece, image, flips=True)
