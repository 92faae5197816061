"""Faces that cut through each other: against exact arithmetic, on sound bodies, and planted."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from fabkit.mesh.body import Body
from fabkit.mesh.crossing import TOUCHING_MM, crossings
from tests.support.exact import exactly
from tests.support.shapes import (
    ball,
    body_of,
    box,
    grid_box,
    inside_out,
    merged,
    moved,
    together,
    tumbled,
    with_corners,
)

places = st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=4, max_size=8, unique=True)


@st.composite
def any_bodies(draw: st.DrawFn) -> Body:
    corners = draw(places)
    face = st.lists(st.integers(0, len(corners) - 1), min_size=3, max_size=3, unique=True)
    faces = draw(st.lists(face, min_size=2, max_size=5))
    return Body("any", np.array(corners, dtype=float), np.array(faces))


@given(any_bodies())
def test_small_bodies_cross_as_exact_arithmetic_tells(body: Body) -> None:
    """Corners are whole numbers up to 3, so that what crosses does so by 8e-4 and more."""
    expected = exactly(body)
    assert crossings(body).tolist() == expected
    assert crossings(inside_out(body)).tolist() == expected
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    assert crossings(with_corners(body, body.vertices @ turn.T + 50)).tolist() == expected


def on_edge() -> Body:
    """A cube that stands on one of its edges."""
    cube = box((0, -1, 0), (2, 1, 2))
    return with_corners(cube, cube.vertices @ np.array([[3, 0, 4], [0, 5, 0], [-4, 0, 3]]) / 5)


# --- sound bodies -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        ball(30, 4),
        body_of(trimesh.creation.torus(30, 5)),
        grid_box((9, 7, 5)),
        body_of(trimesh.creation.cylinder(20, 0.5, sections=300)),
        together(grid_box((9, 9, 9)), moved(inside_out(ball(3)), 4.5, 4.5, 4.5)),
        together(ball(5), moved(ball(5), 10.01, 0, 0)),
        together(box((0, 0, 0), (2, 2, 2)), box((2, 2, 0), (4, 4, 2))),
        together(box((0, 0, 0), (2, 2, 2)), box((2, 2, 2), (4, 4, 4))),
        together(box((0, 0, 0), (8, 8, 8)), moved(on_edge(), 4, 4, 8)),
    ],
    ids=["ball", "ring", "grid", "disc", "cavity", "apart", "by edges", "by corners", "on edge"],
)
def test_bodies_that_are_whole_or_only_touch_do_not_cross(body: Body) -> None:
    for one in (body, tumbled(body, 0), merged(tumbled(body, 0, 60))):
        assert crossings(one).tolist() == []


# --- planted ------------------------------------------------------------------------------


@pytest.mark.parametrize(("beyond", "crosses"), [(-9, False), (0.8, False), (1.2, True), (9, True)])
def test_a_corner_pushed_through_the_opposite_wall(beyond: float, crosses: bool) -> None:
    """Its faces cross the face that lies opposite, from just more than touching on."""
    body = grid_box((8, 7, 3))
    x, y = 6, 4
    (tip,) = np.flatnonzero((body.vertices == (x, y, 3)).all(axis=1))
    corners = body.vertices.copy()
    corners[tip] = (x + 0.3, y - 0.4, -beyond * TOUCHING_MM)
    at_tip = set(np.flatnonzero((body.faces == tip).any(axis=1)).tolist())
    triangles = body.vertices[body.faces]
    place = shapely.Point(x + 0.3, y - 0.4)
    low = np.flatnonzero((triangles[:, :, 2] == 0).all(axis=1)).tolist()
    below = {at for at in low if shapely.Polygon(triangles[at][:, :2]).contains(place)}
    assert len(below) == 1
    found = crossings(with_corners(body, corners)).tolist()
    if crosses:
        assert found
        assert all(set(pair) & below and set(pair) & at_tip for pair in found)
    else:
        assert found == []


def test_a_cavity_that_sticks_out() -> None:
    random = np.random.default_rng(0)
    body, cavity = grid_box((9, 9, 9)), inside_out(ball(2))
    place = random.uniform(3, 6, 3)
    assert len(crossings(together(body, moved(cavity, *place)))) == 0
    place[random.integers(3)] = random.choice([0.5, 8.5])
    found = crossings(together(body, moved(cavity, *place)))
    assert len(found)
    assert (found[:, 0] < len(body.faces)).all()
    assert (found[:, 1] >= len(body.faces)).all()


@pytest.mark.integration
@pytest.mark.parametrize("tumble", [False, True])
def test_a_cavity_that_leaves_a_body_exactly_at_its_own_edges(tumble: bool) -> None:
    """No face of it has inner points in common with the body's, which its edges lie in."""
    body, cavity = box((0, 0, 0), (9, 9, 9)), inside_out(grid_box((2, 2, 4)))
    both = together(body, moved(cavity, 3.3, 3.4, 7))
    on_top = (both.vertices[both.faces][:, :, 2] == 9).sum(axis=1) == 2
    rim = set(np.flatnonzero(on_top).tolist()) - set(range(len(body.faces)))
    assert len(rim) == 16
    found = crossings(tumbled(both, 3) if tumble else both).tolist()
    assert {j for _, j in found} == rim
    if not tumble:
        assert found == exactly(both)


def test_bodies_that_touch_in_a_face_lie_on_each_other() -> None:
    found = crossings(together(box((0, 0, 0), (2, 2, 2)), box((1, 1, 2), (3, 3, 4))))
    assert len(found)
    apart = together(box((0, 0, 0), (2, 2, 2)), box((1, 1, 2.001), (3, 3, 4)))
    assert len(crossings(apart)) == 0


# --- limits and chunks --------------------------------------------------------------------


def test_faces_of_no_extent_cross_nothing() -> None:
    corners = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [2, 2, -1], [2, 2, 1], [2, 2, 3.0]])
    needle = [[3, 4, 5], [3, 3, 5], [3, 5, 3]]
    assert len(crossings(Body("needles", corners, np.array([[0, 1, 2], *needle])))) == 0
    corners[4] = math.nan
    assert len(crossings(Body("no number", corners, np.array([[0, 1, 2], *needle])))) == 0
