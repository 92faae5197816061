"""The plastic in a part: shapes that can be worked out by hand, and what the real slicer needs for
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabkit.mesh.mesh import Mesh
from fabkit.mesh.plastic import printed_mm3
from fabkit.printing.slicer.program import find_slicer
from fabkit.printing.slicer.settings import filling_for
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import ExpectedPrint
from fabkit.profiles.profile_file import load_profile
from tests.support.platefiles import Printable, box, hollow, with_prusa, write_plate

if TYPE_CHECKING:
    import trimesh

PROFILE = load_profile()
FILLING = filling_for(PROFILE)


def union(*solids: trimesh.Trimesh) -> trimesh.Trimesh:
    import trimesh

    return trimesh.boolean.union(solids)


@cache
def slab() -> trimesh.Trimesh:
    return box((0, 0, 0), (50, 50, 1.8))


@cache
def block() -> trimesh.Trimesh:
    return box((0, 0, 0), (50, 50, 20))


@cache
def table() -> trimesh.Trimesh:
    """A wide plate on a narrow foot."""
    return union(box((0, 0, 4), (40, 40, 9)), box((8, 8, 0), (32, 32, 5)))


def grooved() -> trimesh.Trimesh:
    grooves = (box((x, 5, 19.4), (x + 1, 45, 21)) for x in range(5, 45, 8))
    return block().difference(union(*grooves))


def ball() -> trimesh.Trimesh:
    """A ball that stands on a flat."""
    import trimesh

    sphere = trimesh.creation.icosphere(4, 9)
    cut = sphere.slice_plane((0, 0, -6), (0, 0, 1), cap=True)
    return cut.apply_translation((10, 10, 6))


def plastic_mm3(solid: trimesh.Trimesh, facing: str = "up") -> float:
    return printed_mm3(Mesh("", solid.vertices, solid.faces), FILLING, facing)


def test_four_layers_above_the_bed_and_five_below_the_top_are_solid() -> None:
    assert (FILLING.bottom, FILLING.top) == (4, 5)
    assert plastic_mm3(slab()) == pytest.approx(slab().volume, rel=0.01)


def test_a_block_has_walls_skins_and_a_fifth_of_its_inside() -> None:
    walls_mm2 = 50**2 - (50 - 2 * 3 * 0.41) ** 2
    inside_mm2 = 50**2 - walls_mm2
    expected_mm3 = slab().volume + (20 - 1.8) * (walls_mm2 + 0.2 * inside_mm2)
    assert plastic_mm3(block()) == pytest.approx(expected_mm3, rel=0.02)


def test_what_is_too_small_for_sparse_infill_is_solid() -> None:
    small, large = box((0, 0, 0), (10, 10, 20)), box((0, 0, 0), (12, 12, 20))
    assert plastic_mm3(small) == pytest.approx(small.volume, rel=0.03)
    assert plastic_mm3(large) < 0.75 * large.volume


def test_a_cavity_has_walls_and_skins() -> None:
    cavity = box((20, 20, 8), (30, 30, 12))
    saved_mm3 = plastic_mm3(block()) - plastic_mm3(block().difference(cavity))
    assert saved_mm3 < 0.2 * cavity.volume


def test_a_part_face_down_is_one_turned_over() -> None:
    import trimesh

    turned = table().copy()
    turned.apply_transform(trimesh.transformations.rotation_matrix(3.141592653589793, (1, 0, 0)))
    assert plastic_mm3(table(), "down") == pytest.approx(plastic_mm3(turned), rel=1e-6)
    assert abs(plastic_mm3(table()) - plastic_mm3(turned)) > 20


def test_an_open_mesh_counts_as_solid() -> None:
    mesh = Mesh("", slab().vertices, slab().faces[1:])
    assert 0 < printed_mm3(mesh, FILLING) < slab().volume


@with_prusa
@pytest.mark.parametrize(
    "solids",
    [[slab, block], [table], [grooved], [hollow], [ball]],
    ids=["blocks", "table", "grooves", "cavity", "ball"],
)
@pytest.mark.parametrize(("layer_mm", "nozzle_mm"), [(0.2, 0.4), (0.1, 0.4), (0.3, 0.6)])
def test_the_slicer_needs_as_much(
    solids: Sequence[Callable[[], trimesh.Trimesh]],
    layer_mm: float,
    nozzle_mm: float,
    tmp_path: Path,
) -> None:
    profile = replace(PROFILE, layer_mm=layer_mm, first_layer_mm=layer_mm, nozzle_mm=nozzle_mm)
    meshes = [solid() for solid in solids]
    parts = [
        Printable(f"P{index}", [(mesh, 1)], (20.0 + 60 * index, 20.0))
        for index, mesh in enumerate(meshes)
    ]
    plate = write_plate(tmp_path / "plate.3mf", parts)
    expected = ExpectedPrint(tuple(part.name for part in parts))
    verdict = slice_plate(find_slicer(), plate, tmp_path / "plate.gcode", profile, expected)
    bodies = [Mesh("", mesh.vertices, mesh.faces) for mesh in meshes]
    total_mm3 = sum(printed_mm3(body, filling_for(profile)) for body in bodies)
    assert total_mm3 / 1000 * profile.filament_density == pytest.approx(verdict["grams"], rel=0.05)
