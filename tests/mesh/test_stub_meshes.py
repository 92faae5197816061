"""Pieces on stubs, read back from their meshes: the plate, the stubs, the cells above them."""

from __future__ import annotations

import manifold3d
import numpy as np
import pytest

from fabkit.mesh.body import Body
from fabkit.mesh.stubs import OnStubs, stub_findings, take_in_on_stubs
from fabkit.model.library import load_set
from fabkit.model.piece import is_image
from fabkit.model.profilefile import load_profile
from fabkit.verify.check import check
from fabkit.verify.taking import take
from tests.support.ballmeshes import body_of_solid, mirrored
from tests.support.boardmeshes import bore
from tests.support.prints import Order
from tests.support.shapes import printed

STARS = load_set("iqstars")


def bodies(shape: str) -> list[Body]:
    """The meshes of all seven pieces."""
    order = Order((), (f"cell.shape={shape}",))
    return [printed("iqstars", piece.id, order) for piece in STARS.pieces]


@pytest.mark.integration
@pytest.mark.every(2)
@pytest.mark.parametrize("shape", ["hexagon", "disc", "star"])
def test_the_set_passes_whatever_its_cells_look_like(shape: str) -> None:
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
    report = check(take(bodies(shape), STARS, 20.0), load_profile((), [f"cell.shape={shape}"]))
    failed = [f"{part.key}: {f.rule}: {f.message}" for part in report.parts for f in part.failed]
    assert not failed
    assert report.ok


def solid(body: Body) -> manifold3d.Manifold:
    mesh = manifold3d.Mesh(body.vertices.astype(np.float32), body.faces.astype(np.uint32))
    return manifold3d.Manifold(mesh)


def indigo() -> tuple[Body, OnStubs]:
    """Three cells in a row, straight on the lattice."""
    body = printed("iqstars", "indigo", Order((), ("cell.shape=hexagon",)))
    _, (one,) = take_in_on_stubs([body], STARS, 20.0)
    assert one is not None
    return one.whole.straight, one


def test_planted_faults_are_noticed() -> None:
    straight, one = indigo()
    whole, first = solid(straight), one.stubs[0]
    at = (first.x_mm, first.y_mm, 0.0)
    without = whole - bore(*at[:2], 16.0, 0.0, 2.0)
    for made, rules in (
        (whole, set()),
        (without, {"stub-count", "stub-place"}),
        (without + bore(*at[:2], 9.6, 0.0, 2.1), {"stub-diameter"}),
        (without + bore(at[0] + 0.3, at[1], 10.0, 0.0, 2.1), {"stub-place"}),
        (whole.trim_by_plane((0.0, 0.0, 1.0), 0.5), {"stub-height"}),
        (whole.trim_by_plane((0.0, 0.0, 1.0), 2.0), {"stub-count"}),
    ):
        _, (read,) = take_in_on_stubs([body_of_solid(made)], STARS, 20.0)
        findings = list(stub_findings(read, STARS.lattice, load_profile()))
        assert {finding.rule for finding in findings if not finding.ok} == rules


def test_a_piece_of_one_cell_has_no_direction() -> None:
    straight, one = indigo()
    at = one.stubs[0]
    around = bore(at.x_mm, at.y_mm, 19.8, -1.0, 19.0)
    _, (alone,) = take_in_on_stubs([body_of_solid(solid(straight) ^ around)], STARS, 20.0)
    assert alone is not None
    assert alone.plate.outline is not None
    assert len(alone.plate.outline.cells) == 1


@pytest.mark.integration
def test_mirror_images_are_told() -> None:
    taken = take([mirrored(body) for body in bodies("disc")], STARS, 20.0)
    wrong = {one.piece for one in taken.identities if not one.as_drawn and one.mirrored}
    # Blue and yellow are each other's mirror image; only the letter tells that they are.
    assert wrong == {"green"}
