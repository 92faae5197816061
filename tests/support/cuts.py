"""What a cut piece must measure, from the drawing in the set's file and the profile alone; and
cut pieces as a machine would leave them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import shapely
import trimesh
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.drawing.cut import CutPiece, cut_all
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.verify.taking import take
from tests.support import analytic
from tests.support.shapes import body_of

FLAT_SETS = ("fridgeiq", "iqblock", "cubimagici", "iqstars")
PRESETS = ("default", "compact", "petg", "flippable")
#: Nothing taken away and no clearance, as for foil; a laser; a coarse one.
MACHINES: tuple[tuple[str, ...], ...] = (
    (),
    ("laser.kerf=0.2 mm", "laser.inset=0.05 mm"),
    ("laser.kerf=1.5 mm", "laser.inset=0.3 mm", "recess.fit=none", "label.faces=none"),
)
Points = Sequence[tuple[float, float]]


@lru_cache
def cut_set(set_name: str, preset: str, machine: tuple[str, ...]) -> tuple[CutPiece, ...]:
    puzzle = load_set(set_name)
    return tuple(cut_all(puzzle, puzzle.pieces, profile_of(preset, machine)))


def profile_of(preset: str, machine: Iterable[str]) -> Profile:
    return load_profile([preset], list(machine))


def canonical(drawing: analytic.Drawing, profile: Profile) -> Polygon:
    unit = profile.unit_mm
    return orient(affinity.scale(drawing.outline, unit, unit, origin=(0, 0)))


def finished(drawing: analytic.Drawing, profile: Profile) -> BaseGeometry:
    return analytic.moved_in(canonical(drawing, profile), profile.laser_inset_mm)


def path(drawing: analytic.Drawing, profile: Profile) -> BaseGeometry:
    inside_mm = profile.laser_inset_mm - profile.kerf_mm / 2
    return analytic.moved_in(canonical(drawing, profile), inside_mm)


def area_inside(outline: Polygon, distance_mm: float) -> float:
    """The area within edges that are all moved in by c: A - P c + c^2 times the sum of
    cot(angle / 2)."""
    cotangents = 0.0
    for ring in (outline.exterior, *outline.interiors):
        points = ring.coords[:-1]
        for i, (x, y) in enumerate(points):
            (ax, ay), (bx, by) = points[i - 1], points[(i + 1) % len(points)]
            back, on = math.atan2(ay - y, ax - x), math.atan2(by - y, bx - x)
            cotangents += 1 / math.tan((back - on) % (2 * math.pi) / 2)
    return outline.area - outline.length * distance_mm + cotangents * distance_mm**2


def polygon_of(rings: Iterable[Points]) -> Polygon:
    """The area of one piece: the largest ring less all others."""
    outer, *holes = sorted(rings, key=lambda ring: -Polygon(ring).area)
    return Polygon(outer, holes)


def polygons_of(rings: Sequence[Points]) -> list[Polygon]:
    """The areas of the pieces on a sheet: each ring that lies in no other, less those in it."""
    shapes = [Polygon(ring) for ring in rings]
    outer = [
        one
        for one in shapes
        if not any(other.contains(one) for other in shapes if other is not one)
    ]
    return [
        shapely.difference(one, shapely.union_all([s for s in shapes if one.contains_properly(s)]))
        for one in outer
    ]


def left_after_cutting(cut: BaseGeometry, kerf_mm: float) -> BaseGeometry:
    """What a round beam leaves of the area within its path."""
    burnt = cut.boundary.buffer(kerf_mm / 2, quad_segs=64)
    return cut.difference(burnt) if kerf_mm else cut


def recognised(set_name: str, polygons: Iterable[Polygon], unit_mm: float) -> list[str]:
    """Which piece fabkit's reader of meshes takes each polygon for, when it is a body."""
    bodies = [
        body_of(trimesh.creation.extrude_polygon(polygon, 5.0), f"body {number}")
        for number, polygon in enumerate(polygons)
    ]
    taken = take(bodies, load_set(set_name), unit_mm)
    assert all(part.outline is not None for part in taken.parts)
    assert not any(identity.mirrored for identity in taken.identities)
    return sorted(identity.key for identity in taken.identities)
