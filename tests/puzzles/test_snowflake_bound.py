"""The bound on rigid snowflakes: nothing lies beyond it, and it is no looser than it says."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from fabkit.core.errors import InputError
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.library import load_set
from fabkit.model.piece import Form, Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.puzzles.snowflakes.bound import Bound, bound, half_widths
from fabkit.puzzles.snowflakes.closure import Closure
from fabkit.puzzles.snowflakes.field import Field
from fabkit.puzzles.snowflakes.search import orbits_in, row_of
from fabkit.puzzles.snowflakes.tiling import SOLVED, Tiler

SQUARE = LATTICES["square"]


def piece(name: str, places: list[tuple[int, int]]) -> Piece:
    """A piece of unit squares, each named by its column and row."""
    cells: frozenset[Cell] = frozenset((2 * x + 1, 2 * y + 1) for x, y in places)
    return Piece(name, name, "#888888", (Form("", cells, rings_of_cells(SQUARE, cells)),))


def bar(name: str, length: int) -> Piece:
    return piece(name, [(x, 0) for x in range(length)])


def grown(name: str, size: int, chance: random.Random) -> Piece:
    """A random piece of so many squares."""
    places = [(0, 0)]
    while len(places) < size:
        x, y = chance.choice(places)
        dx, dy = chance.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        if (x + dx, y + dy) not in places:
            places.append((x + dx, y + dy))
    return piece(name, places)


def reaches(pieces: list[Piece], parity: str, half_width: int) -> list[Fraction]:
    """How far the rigid snowflakes reach that lie on a board, whatever the bound says."""
    field = Field.of(SQUARE, parity, half_width)
    rows = Closure(field, tuple(pieces), flips=True).candidates().rows
    tiler = Tiler(field, tuple(pieces), flips=True)
    found = []
    for row in rows:
        orbits = orbits_in(row[:-1])
        if tiler.attempt(row_of(field, orbits), 1_000_000).verdict == SOLVED:
            found.append(field.half_widths(orbits)[0] + Fraction(parity == "odd", 2))
    return found


def test_of_fridgeiq() -> None:
    fridgeiq = load_set("fridgeiq")
    known = bound(fridgeiq.lattice, fridgeiq.pieces)
    assert (known.widest, known.widths, known.reach) == (3, 37, Fraction(123, 8))
    assert half_widths("even", known, None) == 15
    assert half_widths("odd", known, None) == 14
    assert half_widths("mixed", known, None) == (15, 14)
    assert half_widths("mixed", known, 14) == (14, 14)


def test_width_is_the_longer_side_of_the_box() -> None:
    assert bound(SQUARE, [bar("a", 5), piece("b", [(0, 0), (0, 1), (1, 1)])]) == Bound(5, 7)


@pytest.mark.every(5)
@pytest.mark.parametrize("seed", range(25))
def test_no_rigid_shape_lies_beyond(seed: int) -> None:
    """On boards two cells larger than the bound, which is not asked there."""
    chance = random.Random(seed)
    count = chance.choice([2, 4, 4, 5])
    sizes = [chance.randint(1, 3) for _ in range(count)]
    pieces = [grown(chr(97 + at), size, chance) for at, size in enumerate(sizes)]
    known = bound(SQUARE, pieces)
    for parity in ("even", "odd"):
        found = reaches(pieces, parity, known.half_width(parity) + 2)
        assert all(reach <= known.reach for reach in found)


@pytest.mark.every(3)
@pytest.mark.parametrize("length", [2, 1, 3, 4])
def test_a_cross_comes_as_far_as_half_of_it(length: int) -> None:
    """So a bound with an eighth of the widths, or without the widest piece, would be wrong."""
    pieces = [piece("hub", [(0, 0)])] + [bar(f"arm{at}", length) for at in range(4)]
    known = bound(SQUARE, pieces)
    found = reaches(pieces, "odd", known.half_width("odd"))
    assert max(found) == length + Fraction(1, 2)
    assert known.reach / 3 < max(found) <= known.reach


def test_long_chains_come_near_the_bound_on_levels() -> None:
    """Four arms of many short pieces: the levels are met by four pieces each, and no more."""
    pieces = [piece(f"p{at}", [(0, 0)]) for at in range(13)]
    known = bound(SQUARE, pieces)
    assert known == Bound(1, 13)
    found = reaches(pieces, "odd", known.half_width("odd"))
    assert max(found) == Fraction(7, 2)
    assert Fraction(known.widths, 4) <= max(found) <= known.reach


def test_shapes_that_fall_apart_have_no_bound() -> None:
    assert half_widths("even", None, 7) == 7
    with pytest.raises(ValueError, match="no end"):
        half_widths("even", None, None)


def test_corners_off_the_grid_are_refused() -> None:
    quarters = LATTICES["quarter-square"]
    cells = frozenset({(3, 1)})
    wedge = Piece("W", "W", "#888888", (Form("", cells, rings_of_cells(quarters, cells)),))
    with pytest.raises(InputError, match=r"piece W: has a corner at \(0.5, 0.5\)"):
        bound(quarters, [wedge])


def test_rows_and_orbits_are_inverses() -> None:
    field = Field.of(SQUARE, "even", 12)
    chance = np.random.default_rng(1)
    for _ in range(20):
        orbits = sorted(chance.choice(len(field.orbits), 9, replace=False).tolist())
        assert orbits_in(row_of(field, orbits)) == orbits
