"""The five shipped sets are what is known of the puzzles."""

from __future__ import annotations

import pytest

from fabkit.model.balls import ROTATIONS, BallBody, BallError, flat_poses
from fabkit.model.lattice import LATTICES
from fabkit.model.library import load_set, shipped_names
from fabkit.model.piece import forms_of_balls, orientations
from fabkit.model.placement import placements

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


@pytest.mark.parametrize("name", list(KNOWN_PLACEMENTS))
def test_placement_counts_are_the_known_ones(name: str) -> None:
    puzzle = load_set(name)
    region = puzzle.boards[0].cells
    found = {
        piece.id: len(placements(puzzle.lattice, piece, region, puzzle.flips))
        for piece in puzzle.pieces
    }
    assert found == KNOWN_PLACEMENTS[name]


def test_iqfit_has_2048_placements() -> None:
    assert sum(KNOWN_PLACEMENTS["iqfit"].values()) == 2048


@pytest.mark.parametrize("piece_id", list(IQFIT_FORMS))
def test_flat_forms_are_computed_from_the_balls(piece_id: str) -> None:
    fit = load_set("iqfit")
    length, double, single = IQFIT_FORMS[piece_id]
    computed = {form.name: form for form in fit.piece(piece_id).forms}
    assert sorted(computed) == ["double", "single"]
    for prongs in (double, single):
        drawn = [(0, col) for col in range(length)] + [(1, col) for col in prongs]
        cells = frozenset(
            cell for row, col in drawn for cell in LATTICES["square"].cells_at(row, col)
        )
        turned = set()
        for turn in LATTICES["square"].moves(flips=False):
            image = frozenset(map(turn, cells))
            dx, dy = LATTICES["square"].anchor(image)
            turned.add(frozenset((x - dx, y - dy) for x, y in image))
        images = {o.cells for o in orientations(fit.lattice, fit.piece(piece_id), flips=False)}
        assert turned <= images
    assert len(flat_poses(fit.piece(piece_id).body)) == 8


def test_there_are_24_rotations_of_space() -> None:
    assert len(set(ROTATIONS)) == 24
    for x, y, z in ROTATIONS:
        cross = (
            x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0],
        )  # fmt: skip
        assert cross == z, "a mirror image, not a rotation"


def test_a_mirrored_ball_piece_has_other_forms() -> None:
    green = load_set("iqfit").piece("green")
    mirrored = BallBody(tuple((x, y, -z) for x, y, z in green.body.balls), green.body.bonds)
    forms = {form.cells for form in forms_of_balls(mirrored)}
    images = {o.cells for o in orientations(LATTICES["square"], green, flips=False)}
    anchors = {cells: LATTICES["square"].anchor(cells) for cells in forms}
    assert (
        not {frozenset((x - ax, y - ay) for x, y in cells) for cells, (ax, ay) in anchors.items()}
        <= images
    )


def test_balls_without_a_single_longest_row_are_refused() -> None:
    corner = BallBody(((0, 0, 0), (1, 0, 0), (0, 1, 0)), ((0, 1), (0, 2)))
    with pytest.raises(BallError, match="single longest"):
        flat_poses(corner)


def test_fridgeiq_is_complete() -> None:
    fridgeiq = load_set("fridgeiq")
    assert [piece.id for piece in fridgeiq.pieces] == list("ARELOMTSQDJBNYIU")
    assert fridgeiq.area == 40
    assert len(fridgeiq.challenges) == 41
    impossible = [c.id for c in fridgeiq.challenges if c.answer == "impossible"]
    assert impossible == ["rectangle_02_b", "rectangle_08_c"]


def test_every_box_challenge_has_as_much_area_as_its_pieces() -> None:
    fridgeiq = load_set("fridgeiq")
    for challenge in fridgeiq.challenges:
        pieces = sum(len(fridgeiq.piece(p).forms[0].cells) for p in challenge.pieces)
        assert pieces == len(challenge.region), challenge.id


def test_identical_and_chiral_pieces_of_fridgeiq() -> None:
    fridgeiq = load_set("fridgeiq")

    def images(piece_id: str, flips: bool) -> set[frozenset]:
        piece = fridgeiq.piece(piece_id)
        return {o.cells for o in orientations(fridgeiq.lattice, piece, flips)}

    assert images("E", False) == images("R", False)
    assert images("B", False) == images("Q", False)
    assert images("A", False) != images("R", False)
    assert images("A", True) == images("R", True)
    for chiral in "LN":
        assert len(images(chiral, True)) == 2 * len(images(chiral, False))


def test_yellow_and_blue_stars_are_mirror_images() -> None:
    stars = load_set("iqstars")

    def images(piece_id: str, flips: bool) -> set[frozenset]:
        return {o.cells for o in orientations(stars.lattice, stars.piece(piece_id), flips)}

    assert images("yellow", False).isdisjoint(images("blue", False))
    assert images("yellow", True) == images("blue", True)


@pytest.mark.parametrize("name", shipped_names())
def test_every_set_has_a_source_and_a_title(name: str) -> None:
    puzzle = load_set(name)
    assert puzzle.name == name
    assert puzzle.title
    assert all(len(piece.label) <= 2 for piece in puzzle.pieces)
