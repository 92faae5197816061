"""Cuts and flats: closed and open meshes alike, and flats that are not quite even."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabkit.mesh.mesh import Mesh, Points
from fabkit.mesh.section import DOWN, UP, Sections
from fabkit.sets.library import load_set
from fabkit.verify.scan import Scanner
from tests.support.prints import Order
from tests.support.scans import bodies
from tests.support.shapes import ball, inside_out, with_corners, with_faces

PIECES = "ALS"


def turned(corners: Points, seed: int) -> Points:
    import trimesh

    turn = trimesh.transformations.random_rotation_matrix(np.random.default_rng(seed).random(3))
    return corners @ turn[:3, :3].T


def noisy(corners: Points, size_mm: float) -> Points:
    return corners + np.random.default_rng(7).uniform(-size_mm, size_mm, corners.shape)


#: What a file may have gone through, and how far its corners are off then.
UNEVEN = {
    "0.1 um": (lambda corners: noisy(corners, 1e-4), 1e-4),
    "5 um": (lambda corners: noisy(corners, 5e-3), 5e-3),
    "3 decimals": (lambda corners: np.round(corners, 3), 5e-4),
    "3 decimals, turned": (lambda corners: np.round(turned(corners, 3), 3), 5e-4 * math.sqrt(3)),
}


# --- cuts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", PIECES)
def test_a_mesh_is_cut_alike_whether_it_is_closed_or_not(piece: str) -> None:
    """Without a face of the back, or inside out, lines are joined by shapely instead."""
    import trimesh

    (body,) = bodies("fridgeiq", Order(), piece)
    lowest = int(body.vertices[body.faces, 2].max(axis=1).argmin())
    torn = with_faces(body, np.delete(body.faces, lowest, axis=0))
    closed, *others = map(Sections, (body, torn, inside_out(body)))
    heights = [*np.random.default_rng(1).uniform(0, 7, 5), closed.levels()[-2], 7.5]
    for height in heights:
        for other in others:
            apart = closed.at(height).symmetric_difference(other.at(height)).area
            assert apart < 1e-3, height
    # All cuts together are the body.
    step = 7 / 140
    volume = sum(closed.at((i + 0.5) * step).area for i in range(140)) * step
    assert volume == pytest.approx(trimesh.Trimesh(body.vertices, body.faces).volume, rel=1e-3)


def test_a_cut_at_corners_is_the_one_just_above() -> None:
    one = ball(5, 3)
    cuts = Sections(one)
    assert cuts.at(cuts.high).is_empty
    assert cuts.at(cuts.low - 1).is_empty
    assert cuts.at(0.0).area == pytest.approx(math.pi * 25, rel=0.02)


# --- flats --------------------------------------------------------------------------------


def flats_of(sections: Sections) -> dict[tuple[float, int], float]:
    return {flat: area for flat, area in sections.flats().items() if area > 0.01}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("size_mm", [0, 1e-6, 1e-4, 5e-3])
def test_a_flat_is_one_however_its_corners_scatter(piece: str, size_mm: float) -> None:
    (body,) = bodies("fridgeiq", Order(), piece)
    a, b, c = np.moveaxis(body.vertices[body.faces], 1, 0)
    normals = np.cross(b - a, c - a)
    level = np.abs(normals[:, 2]) > 0.999 * np.linalg.norm(normals, axis=1)
    found = Sections(with_corners(body, noisy(body.vertices, size_mm)))
    drawn = {(0.0, DOWN), (3.2, DOWN), (6.4, UP), (7.0, UP)}
    assert {(round(height, 1), facing) for height, facing in flats_of(found)} == drawn
    for (height, facing), area in flats_of(found).items():
        there = level & (np.abs(a[:, 2] - height) < 0.1)
        exact = np.abs(normals[there, 2]).sum() / 2
        assert height == pytest.approx(round(height, 1), abs=1e-6 + size_mm)
        assert area == pytest.approx(exact, rel=1e-3)
        assert found.flat(round(height, 1), facing).area == pytest.approx(exact, rel=5e-3)
    # A few more heights have corners: those of the chamfers, of the lead-in, and of the letter.
    exact_levels = Sections(body).levels()
    assert (
        np.abs(np.subtract.outer(found.levels(), exact_levels)).min(axis=1).max()
        < 3 * size_mm + 1e-6
    )
    assert abs(len(exact_levels) - len(found.levels())) < 4
    assert size_mm <= found.scatter_mm < 5 * size_mm + 2e-4


def test_what_is_rough_is_not_taken_for_flat() -> None:
    (body,) = bodies("fridgeiq", Order(), "A")
    found = Sections(with_corners(body, noisy(body.vertices, 0.05)))
    assert found.noise_mm == 0
    assert sum(flats_of(found).values()) < 100


@pytest.mark.in_turn
@pytest.mark.parametrize("how", UNEVEN)
def test_uneven_meshes_are_judged_as_exactly_as_they_are(how: str) -> None:
    change, off_mm = UNEVEN[how]
    uneven = [
        with_corners(body, change(body.vertices)) for body in bodies("fridgeiq", Order(), PIECES)
    ]
    scanned = Scanner(uneven, load_set("fridgeiq")).scan(Order().profile().unit_mm)
    assert [one.piece for one in scanned.parts] == list(PIECES)
    for part in scanned.inspect(Order().profile(), lambda *_: None):
        failed = {one.rule for one in part.findings if not one.ok}
        # How steep a face is is not asked for here.
        assert failed <= {"overhang", "orientation"}, failed
        assert part.part.thickness_mm == pytest.approx(7, abs=3 * off_mm)


def test_a_needle_counts_unless_rounding_made_it() -> None:
    """In a file with 3 decimals, corners beside a line come to lie on it."""
    (body,) = bodies("fridgeiq", Order(), "A")
    a, b, c = body.faces[0]
    faces = np.vstack([body.faces[1:], [[a, len(body.vertices), c], [len(body.vertices), b, c]]])
    faces = np.vstack([faces, [[a, b, len(body.vertices)]]])
    corners = np.vstack([body.vertices, body.vertices[[a, b]].mean(axis=0)])
    for decimals, ok in ((9, False), (3, True)):
        needle = Mesh("A.stl", np.round(corners, decimals), faces)
        profile = Order().profile()
        scanned = Scanner([needle], load_set("fridgeiq")).scan(profile.unit_mm)
        (part,) = scanned.inspect(profile, lambda *_: None)
        assert next(one.ok for one in part.findings if one.rule == "degenerate") is ok
