"""Measures of upright sections, on meshes whose sizes are known by construction."""

from __future__ import annotations

import numpy as np
import pytest

from fabkit.mesh.mesh import Mesh
from fabkit.mesh.upright import measure_section, upright_section

#: A plate of 30 x 20 x 7 mm, with a pocket of 10 mm in the middle, 3 mm high.
SIZE_MM, POCKET_MM, DEPTH_MM = (30.0, 20.0, 7.0), 10.0, 3.0


def plate(pocket_low_mm: float, chamfer_mm: float = 0.0) -> Mesh:
    """A plate with a pocket, which begins at some height; with a chamfer all around its top."""
    import trimesh

    width, depth, height = SIZE_MM
    inner = trimesh.creation.box((width - 2 * chamfer_mm, depth - 2 * chamfer_mm, height))
    outer = trimesh.creation.box((width, depth, height - chamfer_mm))
    outer.apply_translation((0, 0, -chamfer_mm / 2))
    block = trimesh.convex.convex_hull(np.vstack([inner.vertices, outer.vertices]))
    block.apply_translation((0, 0, height / 2))
    pocket = trimesh.creation.cylinder(POCKET_MM / 2, DEPTH_MM + 1, sections=64)
    low = pocket_low_mm - (1 if pocket_low_mm == 0 else 0)
    high = pocket_low_mm + DEPTH_MM
    pocket.apply_scale((1, 1, (high - low) / (DEPTH_MM + 1)))
    pocket.apply_translation((0, 0, (low + high) / 2))
    made = trimesh.boolean.difference([block, pocket], engine="manifold")
    return Mesh("plate", made.vertices, made.faces)


def measured(mesh: Mesh) -> dict[str, float]:
    section = upright_section(mesh, 0.0)
    return {
        measure.name: measure.length_mm for measure in measure_section(section, (0.0, POCKET_MM))
    }


def test_an_open_pocket_is_measured() -> None:
    assert measured(plate(0.0)) == pytest.approx(
        {"thickness": 7, "recess-depth": 3, "recess-diameter": 10, "roof": 4}, abs=1e-3
    )


def test_a_closed_pocket_has_a_floor() -> None:
    assert measured(plate(1.5)) == pytest.approx(
        {"thickness": 7, "recess-depth": 3, "recess-diameter": 10, "floor": 1.5, "roof": 2.5},
        abs=1e-3,
    )


def test_the_roof_is_measured_where_it_is_thinnest() -> None:
    """Under a groove like the stroke of a letter."""
    import trimesh

    mesh = plate(0.0)
    groove = trimesh.creation.box((1.0, 30.0, 1.2))
    groove.apply_translation((2.5, 0, 7))
    body = trimesh.Trimesh(mesh.vertices, mesh.faces)
    made = trimesh.boolean.difference([body, groove], engine="manifold")
    assert measured(Mesh("engraved", made.vertices, made.faces))["roof"] == pytest.approx(3.4)


def test_chamfers_are_measured_where_they_are() -> None:
    with_chamfer = measured(plate(0.0, 0.8))
    assert with_chamfer["top-chamfer"] == pytest.approx(0.8, abs=1e-3)
    assert "foot-chamfer" not in with_chamfer


def test_a_section_has_the_area_of_the_cut() -> None:
    """Beside the pocket it is a rectangle; through it, one less the pocket."""
    mesh = plate(0.0)
    assert upright_section(mesh, 8.0).area == pytest.approx(30 * 7)
    assert upright_section(mesh, 0.0).area == pytest.approx(30 * 7 - 10 * 3, rel=1e-3)
    assert upright_section(mesh, 11.0).is_empty


def test_nothing_is_measured_on_nothing() -> None:
    assert measure_section(upright_section(plate(0.0), 11.0), (0.0, POCKET_MM)) == []
