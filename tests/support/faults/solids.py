"""Faults of form: what is put onto a finished piece, or taken off, as a slip in a modeller would."""

from __future__ import annotations

from collections.abc import Callable

import manifold3d
import numpy as np
from manifold3d import CrossSection, Manifold
from shapely import Point, Polygon, box
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.files.limits import sound_body
from tests.support.faults.planting import Case, Fault, Planted


def manifold(case: Case) -> Manifold:
    vertices, faces = case.body.vertices, case.body.faces
    return Manifold(manifold3d.Mesh64(vertices, faces.astype(np.uint64)))


def made(case: Case, solid: Manifold) -> Planted:
    mesh = solid.simplify(5e-4).to_mesh64()  # no slivers along the seams
    vertices = np.asarray(mesh.vert_properties)[:, :3].astype(np.float32).astype(float)
    faces = np.asarray(mesh.tri_verts).astype(np.int64)
    return case.planted(sound_body(case.name, vertices, faces, case.name))


def prism(area: BaseGeometry, low_mm: float, high_mm: float) -> Manifold:
    """An area without holes within holes, from one height to another."""
    rings = [
        np.asarray(ring.coords)[:-1, :2]
        for part in getattr(area, "geoms", [area])
        for ring in (part.exterior, *part.interiors)
    ]
    section = CrossSection(rings, manifold3d.FillRule.EvenOdd)
    return section.extrude(high_mm - low_mm).translate((0, 0, low_mm))


# --- bores ----------------------------------------------------------------------------------


def bored(shape: Callable[[Polygon], BaseGeometry]) -> Callable[[Case, float], Planted]:
    """One bore, above its mouth, with another form: what a shape leaves of a disc of its width."""

    def plant(case: Case, _: float) -> Planted:
        recess = case.random.choice(case.blueprint.recesses)
        radius = recess.bores.widest_mm / 2
        middle = Point(recess.centre_mm)
        around = middle.buffer(radius + 0.3, quad_segs=16)
        left = shape(middle.buffer(radius, quad_segs=64))
        return made(
            case, manifold(case) + prism(around - left, recess.mouth_mm + 0.1, recess.high_mm + 0.1)
        )

    return plant


def polygonal(bore: Polygon) -> Polygon:
    """16 sides, their corners on the circle: 9.91 mm go into a bore of 10.1."""
    return bore.centroid.buffer(np.sqrt(bore.area / np.pi), quad_segs=4)


def flattened(bore: Polygon) -> BaseGeometry:
    left, bottom, right, top = bore.bounds
    return bore & box(left + 0.15, bottom, right, top)


def bumpy(bore: Polygon) -> BaseGeometry:
    left, bottom, _, top = bore.bounds
    return bore - Point(left, (bottom + top) / 2).buffer(0.2)


FAULTS = [
    Fault("bore of 16 sides", "recess-diameter", bored(polygonal)),
    Fault("flattened bore", "recess-diameter", bored(flattened)),
    Fault("bump in a bore", "recess-diameter", bored(bumpy)),
]
