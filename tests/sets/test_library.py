"""The five shipped sets are what is known of the puzzles."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fabkit.model.balls import ROTATIONS, BallBody, BallError, Rotation, flat_poses, rotate_ball
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import forms_of_balls, is_image, normalize_cells, orientations, placements
from fabkit.model.puzzle import PuzzleSet
from fabkit.sets.library import load_set, shipped_names
from tests.support.strategies import cell_sets, piece_of

SQUARE = LATTICES["square"]
#: Placements on the set's board, from several independent solvers.
KNOWN_PLACEMENTS = {
    "iqstars": {
        "red": 41, "orange": 84, "yellow": 69, "green": 53, "blue": 69, "indigo": 40, "pink": 67,
    },
    "iqblock": {
        "0": 70, "1": 120, "2": 120, "3": 120, "4": 224, "5": 120, "6": 240, "7": 144,
    },
    "cubimagici": {
        "p0": 36, "p1": 192, "p2": 192, "p3": 200, "p4": 100,
        "p5": 25, "p6": 120, "p7": 240, "p8": 100, "p9": 42,
    },
    "iqfit": {
        "blue": 184, "green": 236, "indigo": 236, "lime": 236, "navy": 236,
        "orange": 184, "pink": 184, "red": 184, "sky": 184, "yellow": 184,
    },
}  # fmt: skip

#: The spine's length and the places of the prongs along it: seen from above with the spine in
#: row 0 and the prongs in row 1, in the double and in the single form.
IQFIT_FORMS = {
    "blue": (4, [1, 3], [0]), "green": (3, [0, 1], [1]), "indigo": (3, [1, 2], [2]),
    "lime": (3, [0, 2], [0]), "navy": (3, [0, 2], [1]), "orange": (4, [0, 2], [1]),
    "pink": (4, [0, 1], [2]), "red": (4, [0, 3], [0]), "sky": (4, [1, 2], [1]),
    "yellow": (4, [2, 3], [3]),
}  # fmt: skip


def images(puzzle: PuzzleSet, piece_id: str, flips: bool) -> set[frozenset[Cell]]:
    return {one.cells for one in orientations(puzzle.lattice, puzzle.piece(piece_id), flips)}


@pytest.mark.in_turn
@pytest.mark.parametrize("name", shipped_names())
def test_placement_counts_are_the_known_ones(name: str) -> None:
    puzzle = load_set(name)
    assert puzzle.name == name
    assert puzzle.title
    assert all(len(piece.label) <= 2 for piece in puzzle.pieces)
    if name in KNOWN_PLACEMENTS:
        region = puzzle.boards[0].cells
        found = {
            piece.id: len([*placements(puzzle.lattice, piece, region, puzzle.flips)])
            for piece in puzzle.pieces
        }
        assert found == KNOWN_PLACEMENTS[name]


def test_flat_forms_are_computed_from_the_balls() -> None:
    fit = load_set("iqfit")
    for piece_id, (length, *forms) in IQFIT_FORMS.items():
        piece = fit.piece(piece_id)
        assert sorted(form.name for form in piece.forms) == ["double", "single"]
        for prongs in forms:
            places = [(0, col) for col in range(length)] + [(1, col) for col in prongs]
            cells = frozenset(cell for place in places for cell in SQUARE.cells_at(*place))
            assert is_image(SQUARE, piece, cells, flips=False), (piece_id, prongs)
        assert len(flat_poses(piece.body)) == 8


def test_rotations_of_space_are_24_and_no_mirror_images() -> None:
    assert len(set(ROTATIONS)) == 24
    assert np.linalg.det(np.array(ROTATIONS)) == pytest.approx(1)
    assert (np.array(ROTATIONS) @ np.array(ROTATIONS).swapaxes(1, 2) == np.eye(3)).all()
    fit = load_set("iqfit")
    body = fit.piece("green").body
    mirrored = BallBody(tuple((x, y, -z) for x, y, z in body.balls), body.bonds)
    forms = {normalize_cells(SQUARE, form.cells) for form in forms_of_balls(mirrored)}
    assert not forms <= images(fit, "green", False)
    corner = BallBody(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 1), (0, 2), (0, 3)))
    with pytest.raises(BallError, match="single longest"):
        flat_poses(corner)


@given(cell_sets(SQUARE, most=6), st.sampled_from(ROTATIONS))
def test_balls_in_one_plane_cover_what_the_polyomino_covers_either_side_up(
    drawn: tuple[Lattice, frozenset[Cell]], turn: Rotation
) -> None:
    """However they are drawn in space, and though a set's moves are only rotations."""
    _, cells = drawn
    assume(len(cells) > 1)
    balls = tuple(rotate_ball(turn, (*SQUARE.row_col(cell), 0)) for cell in sorted(cells))
    pairs = combinations(range(len(balls)), 2)
    bonds = tuple((i, j) for i, j in pairs if math.dist(balls[i], balls[j]) == 1)
    forms = forms_of_balls(BallBody(balls, bonds))
    flat = piece_of(SQUARE, cells)
    covered = orientations(SQUARE, replace(flat, forms=forms), flips=False)
    expected = orientations(SQUARE, flat, flips=True)
    assert {one.cells for one in covered} == {one.cells for one in expected}
    assert [form.name for form in forms] == ["front", "back"][: len(forms)]


def test_fridgeiq_is_complete() -> None:
    fridgeiq = load_set("fridgeiq")
    assert [piece.id for piece in fridgeiq.pieces] == list("ARELOMTSQDJBNYIU")
    assert fridgeiq.area == 40
    assert len(fridgeiq.challenges) == 41
    impossible = [c.id for c in fridgeiq.challenges if c.answer == "impossible"]
    assert impossible == ["rectangle_02_b", "rectangle_08_c"]
    for challenge in fridgeiq.challenges:
        pieces = sum(len(fridgeiq.piece(p).forms[0].cells) for p in challenge.pieces)
        assert pieces == len(challenge.region), challenge.id


def test_identical_and_chiral_pieces() -> None:
    fridgeiq, stars = load_set("fridgeiq"), load_set("iqstars")
    assert images(fridgeiq, "E", False) == images(fridgeiq, "R", False)
    assert images(fridgeiq, "B", False) == images(fridgeiq, "Q", False)
    for puzzle, one, other in ((fridgeiq, "A", "R"), (stars, "yellow", "blue")):
        assert images(puzzle, one, False).isdisjoint(images(puzzle, other, False))
        assert images(puzzle, one, True) == images(puzzle, other, True)
    for chiral in "LN":
        assert len(images(fridgeiq, chiral, True)) == 2 * len(images(fridgeiq, chiral, False))


def test_the_tetrahexes_are_the_seven_there_are() -> None:
    """Grown cell by cell, and told apart by rotations and reflections: the literature counts 7."""
    puzzle = load_set("tetrahexes")
    ((x, y),), ((right, _),) = (puzzle.lattice.cells_at(0, column) for column in (0, 1))
    ((below_x, below_y),) = puzzle.lattice.cells_at(1, 0)
    around = [(right - x, 0), (x - right, 0)]
    around += [(dx, dy) for dx in (below_x - x, x - below_x) for dy in (below_y - y, y - below_y)]
    moves = puzzle.lattice.moves(True)

    def canonical(cells: frozenset[Cell]) -> tuple[Cell, ...]:
        images = []
        for move in moves:
            moved = [move((cx - x, cy - y)) for cx, cy in cells]
            left, bottom = min(moved, key=lambda cell: (cell[1], cell[0]))
            images.append(tuple(sorted((cx - left, cy - bottom) for cx, cy in moved)))
        return min(images)

    grown = {frozenset({(x, y)})}
    for _ in range(3):
        grown = {
            cells | {(cx + dx, cy + dy)}
            for cells in grown
            for cx, cy in cells
            for dx, dy in around
            if (cx + dx, cy + dy) not in cells
        }
    free = {canonical(cells) for cells in grown}
    assert len(free) == 7
    assert {canonical(piece.forms[0].cells) for piece in puzzle.pieces} == free
