"""Faults of form: what is put onto a finished piece, or taken off, as a slip in a modeller would."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import shapely
from shapely import LinearRing, LineString, Point, Polygon, box
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.mesh import welded
from tests.support import analytic
from tests.support.boardmeshes import extruded
from tests.support.faults import kits
from tests.support.faults.planting import Case, Fault, Planted, Points

if TYPE_CHECKING:
    from manifold3d import Manifold

#: Pieces with a corner that points inwards.
INWARDS = "ARELOTJNU"


def manifold(case: Case) -> Manifold:
    import manifold3d
    from manifold3d import Manifold

    vertices, faces = case.body.vertices, case.body.faces
    return Manifold(manifold3d.Mesh64(vertices, faces.astype(np.uint64)))


def made(case: Case, solid: Manifold) -> Planted:
    mesh = solid.simplify(2e-3).to_mesh64()  # no slivers along the seams
    vertices = np.asarray(mesh.vert_properties)[:, :3].astype(np.float32).astype(float)
    return case.planted(welded(case.name, vertices, np.asarray(mesh.tri_verts).astype(np.int64)))


# --- recesses ----------------------------------------------------------------------------------


def recessed(shape: Callable[[Polygon], BaseGeometry]) -> Callable[[Case, float], Planted]:
    """One recess, above its lead-in, with another form: what a shape leaves of a disc of its width."""

    def plant(case: Case, _: float) -> Planted:
        recess = case.random.choice(case.drawing.recesses)
        radius = recess.diameters.widest_mm / 2
        middle = Point(recess.centre_mm)
        around = middle.buffer(radius + 0.3, quad_segs=16)
        left = shape(middle.buffer(radius, quad_segs=64))
        return made(
            case,
            manifold(case) + extruded(around - left, recess.lead_in_mm + 0.1, recess.high_mm + 0.1),
        )

    return plant


def polygonal(recess: Polygon) -> Polygon:
    """16 sides, their corners on the circle: 9.91 mm go into a recess of 10.1."""
    return recess.centroid.buffer(np.sqrt(recess.area / np.pi), quad_segs=4)


def flattened(recess: Polygon) -> BaseGeometry:
    left, bottom, right, top = recess.bounds
    return recess & box(left + 0.15, bottom, right, top)


def bumpy(recess: Polygon) -> BaseGeometry:
    left, bottom, _, top = recess.bounds
    return recess - Point(left, (bottom + top) / 2).buffer(0.2)


# --- the outline ----------------------------------------------------------------------------


def corners(around: LinearRing) -> list[tuple[Points, Points, float]]:
    """The corners of a ring, material on its left: where, which way out, the angle in degrees."""
    found = []
    for before, here, after, angle in analytic.corners(around):
        back, on = (np.subtract(one, here) / math.dist(one, here) for one in (before, after))
        way = back + on if angle < math.pi else -(back + on)
        if np.linalg.norm(way) > 1e-6:
            found.append((np.array(here), -way / np.linalg.norm(way), math.degrees(angle)))
    return found


def corner_of(case: Case, least: float, most: float) -> tuple[Points, Points]:
    """A corner of the printed outline between two angles: where, and which way is out."""
    around = orient(case.drawing.outline).exterior
    place, way, _ = case.random.choice([one for one in corners(around) if least < one[2] < most])
    return place, way


def side_of(case: Case) -> tuple[Points, Points]:
    """The middle of a long side, and which way is out."""
    ring = np.asarray(orient(case.drawing.outline).exterior.coords)
    along = np.diff(ring, axis=0)
    lengths = np.linalg.norm(along, axis=1)
    which = case.random.choice(np.flatnonzero(lengths > 0.45 * lengths.max()).tolist())
    dx, dy = along[which] / lengths[which]
    return ring[which] + case.random.uniform(0.3, 0.7) * along[which], np.array([dy, -dx])


def bulge_at_corner(case: Case, _: float) -> Planted:
    """A cylinder in a corner that points outwards, which it leaves by 0.3 mm, its sides by more."""
    place, way = corner_of(case, 85, 140)
    return made(case, manifold(case) + extruded(Point(place - 0.7 * way).buffer(1.0), 1.0, 6.0))


def ridge_on_side(case: Case, _: float) -> Planted:
    """Nearly from back to face, 0.14 mm high, a millimetre wide."""
    place, way = side_of(case)
    along = np.array([-way[1], way[0]]) / 2
    corners = [
        place + along - way,
        place + along + 0.14 * way,
        place - along + 0.14 * way,
        place - along - way,
    ]
    return made(case, manifold(case) + extruded(Polygon(corners).convex_hull, 0.7, 6.0))


def spike_on_side(case: Case, _: float) -> Planted:
    """A cone of half a millimetre at some height."""
    from manifold3d import Manifold

    place, way = side_of(case)
    cone = Manifold.cylinder(1.0, 0.8, 0.0, 24).rotate((0, 90, 0)).translate((-0.5, 0, 0))
    turned = cone.rotate((0, 0, math.degrees(math.atan2(way[1], way[0]))))
    return made(case, manifold(case) + turned.translate((*place, case.random.uniform(2, 5))))


def filled_corner(case: Case, _: float) -> Planted:
    """A fillet with a radius of about 1 mm in a corner that points inwards."""
    place, way = corner_of(case, 200, 360)
    near = case.drawing.outline.intersection(Point(place).buffer(6.0))
    fillet = near.buffer(1.0, quad_segs=4).buffer(-1.0, quad_segs=4).intersection(
        Point(place + way).buffer(3.0)
    ) - near.buffer(-0.2)
    return made(case, manifold(case) + extruded(fillet, 0.7, 6.0))


def broken_tip(case: Case, _: float) -> Planted:
    """The last 3 mm of a tip, as a fall breaks them off."""
    tips = [one for one in corners(orient(case.drawing.canonical).exterior) if one[2] < 50]
    place, way, _angle = case.random.choice(tips)
    end = case.drawing.outline.distance(Point(place)) + 3.0
    along = np.array([-way[1], way[0]])
    ring = [place + a * along - b * way for a, b in ((-9, -9), (9, -9), (9, end), (-9, end))]
    return made(case, manifold(case) - extruded(Polygon(ring).convex_hull, -1.0, 99.0))


def slit(low_mm: float, high_mm: float, start_mm: float = -1.0) -> Callable[[Case, float], Planted]:
    """A slit of 0.1 mm from a side through nine tenths of the piece; or from so far inside one side
    to as far from the other."""

    def plant(case: Case, _: float) -> Planted:
        place, way = side_of(case)
        across = case.drawing.outline & LineString([place - 1e-6 * way, place - 99 * way])
        through = min(shapely.get_parts(across), key=Point(place).distance).length
        end = through - start_mm if start_mm > 0 else 0.9 * through
        line = LineString([place - start_mm * way, place - end * way])
        cut = extruded(line.buffer(0.05, cap_style="flat"), low_mm, high_mm)
        return made(case, manifold(case) - cut)

    return plant


def nub_under_back(case: Case, size: float) -> Planted:
    room = case.drawing.foot.buffer(-1.5)
    for recess in case.drawing.recesses:
        room -= Point(recess.centre_mm).buffer(recess.diameters.widest_mm / 2 + 1.5)
    x, y = room.representative_point().coords[0]
    return made(case, manifold(case) + extruded(Point(x, y).buffer(0.6), -size, 1.0))


def hollow_back(case: Case, _: float) -> Planted:
    """The whole back but for a rim, 0.3 mm deep, as a bed that is not level leaves it."""
    return made(case, manifold(case) - extruded(case.drawing.foot.buffer(-1.0), -1.0, 0.3))


FAULTS = [
    Fault("recess of 16 sides", "recess-diameter", recessed(polygonal)),
    Fault("flattened recess", "recess-diameter", recessed(flattened)),
    Fault("bump in a recess", "recess-diameter", recessed(bumpy)),
    Fault("bulge at a corner", "bump", bulge_at_corner),
    Fault("ridge on a side", "bump", ridge_on_side),
    Fault("spike on a side", "bump", spike_on_side),
    Fault("fillet in a corner", "bump", filled_corner, INWARDS),
    Fault("tip broken off", "dent", broken_tip, kits.TIPPED),
    Fault("slit", "dent", slit(-1.0, 99.0)),
    Fault("slit in the back", "dent", slit(-1.0, 3.5)),
    Fault("slit within a side", "dent", slit(4.0, 4.5)),
    Fault("slit that stops short of the sides", "dent", slit(4.0, 6.3, 0.3)),
    Fault("nub under the back", "even-back", nub_under_back, clear=(0.06, 0.3)),
    Fault("hollow back", "even-back", hollow_back),
]
