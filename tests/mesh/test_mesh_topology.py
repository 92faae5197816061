"""Gaps, turned faces, faces of no extent, shells and faces that cut through each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from fabkit.mesh import self_intersection
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.self_intersection import MAX_INTERSECTIONS, TOUCHING_MM, self_intersections
from fabkit.mesh.topology import (
    Shell,
    degenerate_faces,
    duplicate_faces,
    encloses,
    flipped_faces,
    open_edges,
    shells,
    signed_volume,
    triangle_heights,
)
from tests.support.exact import exactly
from tests.support.prints import Order
from tests.support.shapes import (
    PRINTED,
    ball,
    box,
    cylinder,
    grid_box,
    inside_out,
    merged,
    moved,
    printed_mesh,
    together,
    torus,
    tumbled,
    with_corners,
    with_faces,
)


def faults(body: Mesh) -> dict[str, list[object]]:
    checks = (open_edges, flipped_faces, degenerate_faces, duplicate_faces)
    found = {check.__name__: check(body).tolist() for check in checks}
    return {name: where for name, where in found.items() if where}


@pytest.fixture(params=["ball", "ring", "grid", "printed"])
def sound(request: pytest.FixtureRequest) -> Mesh:
    return {
        "ball": ball,
        "ring": lambda: torus(8, 3),
        "grid": lambda: grid_box((4, 3, 2)),
        "printed": lambda: printed_mesh(*PRINTED[0]),
    }[request.param]()


# --- sound bodies -------------------------------------------------------------------------


def test_sound_bodies_have_no_faults(sound: Mesh) -> None:
    assert faults(sound) == {}
    assert faults(inside_out(sound)) == {}
    assert signed_volume(sound) > 0
    assert signed_volume(inside_out(sound)) == pytest.approx(-signed_volume(sound))
    assert shells(inside_out(sound))[0].volume_mm3 < 0


@pytest.mark.integration
@pytest.mark.parametrize("which", PRINTED, ids=str)
def test_prints_have_no_faults_wherever_they_lie(which: tuple[str, str, Order]) -> None:
    body = printed_mesh(*which)
    for one in (body, tumbled(body, 0), tumbled(body, 1)):
        assert faults(one) == {}


def test_volumes_of_known_shapes() -> None:
    assert signed_volume(box((1, 2, 3), (2, 4, 6))) == pytest.approx(6)
    ring = torus(8, 3, 200, 200)
    assert signed_volume(ring) == pytest.approx(2 * math.pi**2 * 8 * 9, rel=1e-3)


# --- planted faults -----------------------------------------------------------------------


def test_a_missing_face_leaves_its_edges_open(sound: Mesh) -> None:
    gone = int(np.random.default_rng(0).integers(len(sound.faces)))
    torn = with_faces(sound, np.delete(sound.faces, gone, axis=0))
    around = [sorted(pair) for pair in combinations(sound.faces[gone].tolist(), 2)]
    assert faults(torn) == {"open_edges": sorted(around)}


def test_turned_faces_are_named_alone(sound: Mesh) -> None:
    for count in (1, 2, 7):
        some = np.sort(np.random.default_rng(0).choice(len(sound.faces), count, replace=False))
        faces = sound.faces.copy()
        faces[some] = faces[some, ::-1]
        assert faults(with_faces(sound, faces)) == {"flipped_faces": some.tolist()}
        assert faults(with_faces(sound, faces[:, ::-1])) == {"flipped_faces": some.tolist()}


def test_every_shell_has_its_own_winding() -> None:
    """A cavity is wound the other way round, and no winding is wrong across shells."""
    pair = together(ball(5), inside_out(ball(3)))
    faces = pair.faces.copy()
    faces[[4, -4]] = faces[[4, -4], ::-1]
    assert flipped_faces(with_faces(pair, faces)).tolist() == [4, len(faces) - 4]


@pytest.mark.parametrize(("height_mm", "is_one"), [(0, True), (0.9e-6, True), (1.1e-6, False)])
def test_a_face_is_degenerate_if_its_corners_lie_on_a_line(height_mm: float, is_one: bool) -> None:
    import trimesh

    corners = np.array([[0, 0, 0], [40, 0, 0], [20, height_mm, 0]])
    turn = trimesh.transformations.random_rotation_matrix(np.array([0.3, 0.5, 0.8]))[:3, :3]
    face = Mesh("a sliver", corners @ turn.T, np.array([[0, 1, 2]]))
    assert triangle_heights(face.vertices[face.faces]) == pytest.approx([height_mm], abs=1e-8)
    assert (len(degenerate_faces(face)) == 1) is is_one


def test_corners_that_are_no_number_make_degenerate_faces() -> None:
    cube = grid_box((1, 1, 1))
    corners = cube.vertices.copy()
    corners[0] = math.nan
    at_it = np.flatnonzero((cube.faces == 0).any(axis=1))
    assert faults(with_corners(cube, corners)) == {"degenerate_faces": at_it.tolist()}


# --- shells -------------------------------------------------------------------------------


def test_a_cavity_is_enclosed_and_a_second_body_is_not(sound: Mesh) -> None:
    inner = inside_out(ball(0.1))
    middle = sound.vertices[sound.faces[7]].mean(axis=0)
    a, b, c = sound.vertices[sound.faces[7]]
    outward = np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a))
    parts = shells(sound)
    for depth_mm, inside in ((0.2, True), (-0.2, False), (0.0, False)):
        body = together(sound, moved(inner, *(middle - depth_mm * outward)))
        outer, *others = shells(body)
        (small,) = [shell for shell in others if abs(shell.volume_mm3) < 1]
        assert len(others) == len(parts)
        assert encloses(body, outer, small) is inside
        assert not encloses(body, small, outer)
        assert not encloses(body, outer, outer)


boxes = st.tuples(*[st.tuples(st.integers(0, 6), st.integers(1, 5))] * 3)


@given(boxes, boxes)
def test_boxes_enclose_boxes_as_their_bounds_tell(one: tuple, other: tuple) -> None:
    # Halves against wholes, so that nothing touches.
    a = box(tuple(low for low, _ in one), tuple(low + size for low, size in one))
    b = box(tuple(low + 0.25 for low, _ in other), tuple(low + size - 0.25 for low, size in other))
    body = together(a, b)
    halves = np.split(np.arange(len(body.faces)), [len(a.faces)])
    first, second = (Shell(some, signed_volume(body, some)) for some in halves)
    axes = list(zip(one, other, strict=True))
    inside = all(lo < l2 + 0.25 and l2 + s2 - 0.25 < lo + s for (lo, s), (l2, s2) in axes)
    around = all(l2 + 0.25 < lo and lo + s < l2 + s2 - 0.25 for (lo, s), (l2, s2) in axes)
    assert encloses(body, first, second) is inside
    assert encloses(body, second, first) is around


places = st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=4, max_size=8, unique=True)


@st.composite
def any_bodies(draw: st.DrawFn) -> Mesh:
    corners = draw(places)
    face = st.lists(st.integers(0, len(corners) - 1), min_size=3, max_size=3, unique=True)
    faces = draw(st.lists(face, min_size=2, max_size=5))
    return Mesh("any", np.array(corners, dtype=float), np.array(faces))


@given(any_bodies())
def test_small_bodies_intersect_as_in_exact_arithmetic(body: Mesh) -> None:
    """Corners are whole numbers up to 3, so that what crosses does so by 8e-4 and more."""
    expected = exactly(body)
    assert self_intersections(body).tolist() == expected
    assert self_intersections(inside_out(body)).tolist() == expected
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    assert self_intersections(with_corners(body, body.vertices @ turn.T + 50)).tolist() == expected


def on_edge() -> Mesh:
    """A cube that stands on one of its edges."""
    cube = box((0, -1, 0), (2, 1, 2))
    return with_corners(cube, cube.vertices @ np.array([[3, 0, 4], [0, 5, 0], [-4, 0, 3]]) / 5)


@pytest.mark.parametrize(
    "build",
    [
        lambda: ball(30, 4),
        lambda: torus(30, 5),
        lambda: grid_box((9, 7, 5)),
        lambda: cylinder(20, 0.5, 300),
        lambda: together(grid_box((9, 9, 9)), moved(inside_out(ball(3)), 4.5, 4.5, 4.5)),
        lambda: together(ball(5), moved(ball(5), 10.01, 0, 0)),
        lambda: together(box((0, 0, 0), (2, 2, 2)), box((2, 2, 0), (4, 4, 2))),
        lambda: together(box((0, 0, 0), (2, 2, 2)), box((2, 2, 2), (4, 4, 4))),
        lambda: together(box((0, 0, 0), (8, 8, 8)), moved(on_edge(), 4, 4, 8)),
    ],
    ids=["ball", "ring", "grid", "disc", "cavity", "apart", "by edges", "by corners", "on edge"],
)
def test_bodies_that_are_whole_or_only_touch_do_not_cross(build: Callable[[], Mesh]) -> None:
    body = build()
    for one in (body, tumbled(body, 0), merged(tumbled(body, 0, 60))):
        assert self_intersections(one).tolist() == []


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
    found = self_intersections(with_corners(body, corners)).tolist()
    if crosses:
        assert found
        assert all(set(pair) & below and set(pair) & at_tip for pair in found)
    else:
        assert found == []


def test_a_cavity_that_sticks_out() -> None:
    random = np.random.default_rng(0)
    body, cavity = grid_box((9, 9, 9)), inside_out(ball(2))
    place = random.uniform(3, 6, 3)
    assert len(self_intersections(together(body, moved(cavity, *place)))) == 0
    place[random.integers(3)] = random.choice([0.5, 8.5])
    found = self_intersections(together(body, moved(cavity, *place)))
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
    found = self_intersections(tumbled(both, 3) if tumble else both).tolist()
    assert {j for _, j in found} == rim
    if not tumble:
        assert found == exactly(both)


def test_bodies_that_touch_in_a_face_lie_on_each_other() -> None:
    found = self_intersections(together(box((0, 0, 0), (2, 2, 2)), box((1, 1, 2), (3, 3, 4))))
    assert len(found)
    apart = together(box((0, 0, 0), (2, 2, 2)), box((1, 1, 2.001), (3, 3, 4)))
    assert len(self_intersections(apart)) == 0


def test_faces_of_no_extent_cross_nothing() -> None:
    corners = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [2, 2, -1], [2, 2, 1], [2, 2, 3.0]])
    needle = [[3, 4, 5], [3, 3, 5], [3, 5, 3]]
    assert len(self_intersections(Mesh("needles", corners, np.array([[0, 1, 2], *needle])))) == 0
    corners[4] = math.nan
    assert len(self_intersections(Mesh("no number", corners, np.array([[0, 1, 2], *needle])))) == 0


def test_the_pairs_reported_do_not_depend_on_how_many_are_tested_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Faces of two boxes cross, or overlap in one plane, more often than is reported."""
    both = together(grid_box((24, 24, 9)), moved(grid_box((24, 24, 9)), 0.3, 0, 0.2))
    pairs = self_intersections(both)
    assert len(pairs) == MAX_INTERSECTIONS
    for batch_size in (1, 10_000):
        monkeypatch.setattr(self_intersection, "_PAIRS_AT_ONCE", batch_size)
        assert np.array_equal(self_intersections(both), pairs)
