"""Pieces on stubs, read back from their meshes: the plate, the stubs, the cells above them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import manifold3d
import numpy as np
import pytest
import trimesh

from fabkit.mesh.body import Body
from fabkit.mesh.stubs import OnStubs, stub_findings, take_in_on_stubs
from fabkit.model.library import load_set
from fabkit.model.piece import is_image
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.verify.check import CheckReport, check
from fabkit.verify.taking import take
from tests.support.prints import Order
from tests.support.shapes import body_of, printed

STARS = load_set("iqstars")


@lru_cache
def bodies(shape: str, *presets: str) -> tuple[Body, ...]:
    """The meshes of all seven pieces."""
    order = Order(presets, (f"cell.shape={shape}",))
    return tuple(printed("iqstars", piece.id, order) for piece in STARS.pieces)


def two(shape: str) -> tuple[Body, ...]:
    """Those of two pieces, one of which is another in a mirror."""
    order = Order((), (f"cell.shape={shape}",))
    return tuple(printed("iqstars", piece, order) for piece in ("indigo", "green"))


def profile_of(shape: str, *presets: str) -> Profile:
    return load_profile(presets, [f"cell.shape={shape}"])


def checked(some: tuple[Body, ...], shape: str, *presets: str) -> CheckReport:
    profile = profile_of(shape, *presets)
    return check(take(some, STARS, profile.unit_mm), profile)


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("shape", ["hexagon", "disc", "star"])
def test_all_pieces_are_read_whatever_their_cells_look_like(shape: str) -> None:
    read, stubs = take_in_on_stubs(bodies(shape), STARS, 20.0)
    for part, one, piece in zip(read.parts, stubs, STARS.pieces, strict=True):
        assert one is not None
        assert part.outline is not None
        assert is_image(STARS.lattice, piece, part.outline.cells, flips=False)
        assert len(one.stubs) == len(part.outline.cells)
        assert one.height_mm == pytest.approx(2.0, abs=1e-4)
        assert part.thickness_mm == pytest.approx(7.0, abs=1e-4)
        assert part.outline.unit_mm == pytest.approx(20.0, abs=1e-3)
        for stub in one.stubs:
            assert stub.diameter_mm == pytest.approx(10.0, abs=0.02)


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("shape", ["hexagon", "disc", "star"])
def test_the_set_passes(shape: str) -> None:
    report = checked(bodies(shape), shape)
    failed = [f"{part.key}: {f.rule}: {f.message}" for part in report.parts for f in part.failed]
    assert not failed
    assert report.ok


def solid(body: Body) -> manifold3d.Manifold:
    mesh = manifold3d.Mesh(body.vertices.astype(np.float32), body.faces.astype(np.uint32))
    return manifold3d.Manifold(mesh)


def mesh_of(made: manifold3d.Manifold, name: str) -> Body:
    mesh = made.to_mesh()
    corners = np.asarray(mesh.vert_properties)[:, :3]
    return body_of(trimesh.Trimesh(corners, mesh.tri_verts, process=True), name)


def indigo() -> tuple[Body, OnStubs]:
    """Three cells in a row, straight on the lattice."""
    body, _ = two("hexagon")
    _, (one,) = take_in_on_stubs([body], STARS, 20.0)
    assert one is not None
    return one.whole.straight, one


def planted(fault: str) -> Body:
    straight, one = indigo()
    whole, first = solid(straight), one.stubs[0]
    at = (first.x_mm, first.y_mm, 0.0)
    around = manifold3d.Manifold.cylinder(2.0, 8.0, 8.0, 64).translate(at)
    if fault == "none":
        made = whole
    elif fault == "missing":
        made = whole - around
    elif fault == "thin":
        stub = manifold3d.Manifold.cylinder(2.1, 4.8, 4.8, 128).translate(at)
        made = (whole - around) + stub
    elif fault == "off":
        stub = manifold3d.Manifold.cylinder(2.1, 5.0, 5.0, 128)
        made = (whole - around) + stub.translate((at[0] + 0.3, at[1], 0.0))
    elif fault == "low":
        made = whole.trim_by_plane((0.0, 0.0, 1.0), 0.5)
    else:
        made = whole.trim_by_plane((0.0, 0.0, 1.0), 2.0)
    return mesh_of(made, fault)


@pytest.mark.parametrize(
    ("fault", "rules"),
    [
        pytest.param("none", set(), marks=pytest.mark.integration),
        ("missing", {"stub-count", "stub-place"}),
        ("thin", {"stub-diameter"}),
        ("off", {"stub-place"}),
        ("low", {"stub-height"}),
        pytest.param("no stubs", {"stub-count"}, marks=pytest.mark.integration),
    ],
)
def test_planted_faults_are_noticed(fault: str, rules: set[str]) -> None:
    _, (one,) = take_in_on_stubs([planted(fault)], STARS, 20.0)
    findings = list(stub_findings(one, STARS.lattice, profile_of("hexagon")))
    assert {finding.rule for finding in findings if not finding.ok} == rules


def test_a_piece_of_one_cell_has_no_direction() -> None:
    straight, one = indigo()
    at = one.stubs[0]
    box = manifold3d.Manifold.cylinder(20.0, 9.9, 9.9, 96).translate((at.x_mm, at.y_mm, -1.0))
    _, (alone,) = take_in_on_stubs([mesh_of(solid(straight) ^ box, "one")], STARS, 20.0)
    assert alone is not None
    assert alone.plate.outline is not None
    assert len(alone.plate.outline.cells) == 1


@pytest.mark.integration
def test_mirror_images_are_told() -> None:
    mirrored = tuple(
        replace(body, vertices=body.vertices * [-1.0, 1.0, 1.0], faces=body.faces[:, ::-1])
        for body in bodies("disc")
    )
    taken = take(mirrored, STARS, 20.0)
    wrong = {one.piece for one in taken.identities if not one.as_drawn and one.mirrored}
    # Blue and yellow are each other's mirror image; only the letter tells that they are.
    assert wrong == {"green"}
