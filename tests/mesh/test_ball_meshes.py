"""Pieces of balls are read back from meshes alone: from our own and from foreign ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabkit.mesh.balls.identify import identify_balls
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.balls.reading import take_in_balls
from fabkit.mesh.body import Body
from fabkit.model.balls import ROTATIONS, BallBody, flat_poses, turned
from fabkit.model.lattice import LATTICES, Cell
from fabkit.model.piece import forms_of_balls
from fabkit.solve.answer import solve
from fabkit.solve.posing import pose
from tests.support import shapes
from tests.support.ballmeshes import COMPACT, Sizes, made, mirrored, thrown
from tests.support.ballprints import BODIES, IDS, IQFIT, exported

#: Navy is its own mirror image; all others are not.
CHIRAL = [name for name in IDS if name != "navy"]
COARSE = Sizes(segments=24)
FOREIGN = [
    pytest.param(COARSE, id="24 meridians"),
    pytest.param(Sizes(segments=24, kind="octahedral"), id="24 octahedral"),
    pytest.param(Sizes(kind="icosphere"), id="icosphere"),
    pytest.param(Sizes(segments=100, kind="octahedral"), id="100 octahedral"),
    pytest.param(COMPACT, id="compact"),
    pytest.param(Sizes(flat=None), id="no flat"),
    pytest.param(Sizes(pitch=20.0, ball=19.0, link=8.0, flat=8.0), id="balls nearly touch"),
    pytest.param(Sizes(pitch=20.0, ball=10.0, link=4.0, flat=3.5), id="thin links"),
]


def read(body: Body, pitch_mm: float = 15.0) -> BallPart:
    (part,), _ = take_in_balls([body], pitch_mm)
    return part


def bonded_pairs(shape: BallBody) -> frozenset[frozenset[tuple[int, ...]]]:
    return frozenset(frozenset(shape.balls[i] for i in bond) for bond in shape.bonds)


def is_turned(shape: BallBody, other: BallBody) -> bool:
    """Whether one shape is the other one turned: by trying, without any order or image."""

    def there(places: np.ndarray, of: BallBody) -> tuple[set[tuple[int, ...]], object]:
        moved = replace(of, balls=tuple(map(tuple, (places - places.min(axis=0)).tolist())))
        return set(moved.balls), bonded_pairs(moved)

    own = there(np.array(shape.balls), shape)
    images = (np.array([turned(way, ball) for ball in other.balls]) for way in ROTATIONS)
    return any(there(image, other) == own for image in images)


def poses_of(shape: BallBody) -> set[tuple[frozenset[Cell], ...]]:
    """How a shape lies flat: cells, and which of them a ball hangs below; moves divided out."""
    found = set()
    for one in flat_poses(shape):
        dx, dy = LATTICES["square"].anchor(one.cells)
        both = (one.cells, one.hanging)
        found.add(tuple(frozenset((x - dx, y - dy) for x, y in some) for some in both))
    return found


def assert_read(part: BallPart, shape: BallBody, sizes: Sizes) -> None:
    assert part.shape is not None, part.why
    assert is_turned(part.shape, shape)
    assert part.pitch_mm == pytest.approx(sizes.pitch, abs=2e-3)
    assert part.off_mm < 2e-3
    assert part.diameters_mm == pytest.approx([sizes.ball] * len(shape.balls), abs=5e-3)
    on_bed = sizes.link / 2 + min(sizes.link / 2, sizes.flat or sizes.link)
    for link in part.links_mm:
        chord = sizes.link * (1 - np.cos(np.pi / sizes.segments))
        near = min(abs(link - right) for right in (sizes.link, on_bed))
        assert near <= chord + 1e-3


# --- shapes -------------------------------------------------------------------------------


@pytest.mark.every(5)
@pytest.mark.parametrize("name", IDS)
def test_every_piece_is_read_back(name: str) -> None:
    assert_read(read(thrown(made(BODIES[name]), seed=len(name))), BODIES[name], Sizes())


@pytest.mark.every(5)
@pytest.mark.parametrize("sizes", FOREIGN)
@pytest.mark.parametrize("name", ["pink", "yellow"])
def test_foreign_meshes_are_read_back(name: str, sizes: Sizes) -> None:
    part = read(thrown(made(BODIES[name], sizes), seed=3), sizes.pitch)
    assert_read(part, BODIES[name], sizes)


def test_nothing_depends_on_how_the_mesh_lies() -> None:
    body = made(BODIES["orange"], COARSE)
    still, moved = read(body), read(thrown(body, 0))
    assert moved.shape == still.shape
    assert moved.diameters_mm == pytest.approx(still.diameters_mm, abs=1e-3)
    assert moved.links_mm == pytest.approx(still.links_mm, abs=1e-3)
    assert moved.volume_mm3 == pytest.approx(still.volume_mm3, rel=1e-5)
    # Orange has no symmetry, so that its vertices are at the same places, too.
    assert np.abs(moved.vertices - still.vertices).max() < 1e-3


@pytest.mark.every(2)
@pytest.mark.parametrize(("scale", "length_mm"), [(0.1, 10), (1, 1), (1 / 25.4, 25.4), (1e-3, 1e3)])
def test_the_unit_of_length_is_found(scale: float, length_mm: float) -> None:
    bodies = [thrown(made(BODIES[name], COARSE), 1, scale) for name in ("lime", "red")]
    parts, found = take_in_balls(bodies, 12.0, 15.0)
    assert found == length_mm
    for part, name in zip(parts, ("lime", "red"), strict=True):
        assert_read(part, BODIES[name], COARSE)


def test_a_ball_that_six_links_leave() -> None:
    middle = BallBody(
        ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)),
        tuple((0, i) for i in range(1, 7)),
    )
    sizes = Sizes(flat=None)
    assert_read(read(thrown(made(middle, sizes), 2)), middle, sizes)


def test_corners_that_are_a_hundredth_off_do_no_harm() -> None:
    body = made(BODIES["blue"])
    shaken = np.random.default_rng(0).uniform(-0.01, 0.01, body.vertices.shape)
    part = read(replace(body, vertices=body.vertices + shaken))
    assert part.shape is not None
    assert is_turned(part.shape, BODIES["blue"])
    assert part.off_mm < 5e-3
    assert part.diameters_mm == pytest.approx([12.0] * 7, abs=0.01)


def test_what_is_no_piece_of_balls_says_why() -> None:
    crooked = BallBody(((0, 0, 0), (1, 0, 0), (2, 0, 0)), ((0, 1), (1, 2)))
    told = {
        "there is no ball in it": [
            shapes.box((0, 0, 0), (20, 30, 7)),
            shapes.printed("fridgeiq", "B", shapes.Order((), ("recess.fit=embedded",))),
            replace(made(crooked), faces=np.empty((0, 3), dtype=np.int64)),
        ],
        "there are not two balls in it": [shapes.ball(6.0, 3)],
        "its balls do not lie on a cubic lattice": [
            made(crooked, replace(COARSE, moved={2: (0.0, 7.0, 0.0)}))
        ],
    }
    for why, bodies in told.items():
        for body in bodies:
            part = read(body)
            assert (part.shape, part.why) == (None, why)
            assert np.array_equal(part.vertices, body.vertices)
            assert (part.pitch_mm, part.diameters_mm, part.links_mm) == (0.0, (), ())


# --- which piece it is --------------------------------------------------------------------


def test_every_piece_is_known_by_its_balls() -> None:
    bodies = [thrown(made(shape, COARSE), seed) for seed, shape in enumerate(BODIES.values())]
    identities = identify_balls(take_in_balls(bodies, 15.0)[0], IQFIT)
    assert [one.key for one in identities] == IDS
    assert [one.alike for one in identities] == [(name,) for name in IDS]
    assert all(one.as_drawn for one in identities)


@pytest.mark.every(5)
@pytest.mark.parametrize("name", IDS)
def test_the_flat_poses_are_those_that_are_drawn(name: str) -> None:
    part = read(thrown(made(BODIES[name], COARSE), seed=len(name)))
    assert part.shape is not None
    assert poses_of(part.shape) == poses_of(BODIES[name])
    assert len(flat_poses(part.shape)) == 8
    mirror = read(thrown(mirrored(made(BODIES[name], COARSE)), seed=1))
    assert mirror.shape is not None
    assert (poses_of(mirror.shape) != poses_of(BODIES[name])) == (name in CHIRAL)


@pytest.mark.integration
def test_what_was_read_fills_the_board_as_often_as_the_rules_say() -> None:
    pieces = []
    for seed, piece in enumerate(IQFIT.pieces):
        part = read(thrown(exported(piece.id), seed))
        assert part.shape is not None
        pieces.append(replace(piece, body=part.shape, forms=forms_of_balls(part.shape)))
    puzzle = replace(IQFIT, pieces=tuple(pieces))
    assert solve(pose(puzzle, puzzle.challenges[0]), "count").count == 301_350
