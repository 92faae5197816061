"""What a cut piece must measure, from the drawing in the set's file and the profile alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import shapely
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.drawing.laser import CutPiece, draft_cut_pieces
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import analytic

FLAT_SETS = ("fridgeiq", "iqblock", "cubimagici", "iqstars")
PRESETS = ("default", "compact", "petg", "flippable")
#: Nothing taken away and no clearance, as for foil; a laser; a coarse one.
MACHINES: tuple[tuple[str, ...], ...] = (
    (),
    ("laser.kerf=0.2 mm", "laser.inset=0.05 mm"),
    ("laser.kerf=1.5 mm", "laser.inset=0.3 mm", "recess.fit=none", "label.faces=none"),
)


@lru_cache
def cut_set(set_name: str, preset: str, machine: tuple[str, ...]) -> tuple[CutPiece, ...]:
    puzzle = load_set(set_name)
    return tuple(draft_cut_pieces(puzzle, puzzle.pieces, profile_of(preset, machine)))


def profile_of(preset: str, machine: Iterable[str]) -> Profile:
    return load_profile([preset], list(machine))


def canonical(drawing: analytic.Drawing, profile: Profile) -> Polygon:
    unit = profile.unit_mm
    return orient(affinity.scale(drawing.outline, unit, unit, origin=(0, 0)))


def finished(drawing: analytic.Drawing, profile: Profile) -> BaseGeometry:
    return analytic.inset_outline(canonical(drawing, profile), profile.laser_inset_mm)


def path(drawing: analytic.Drawing, profile: Profile) -> BaseGeometry:
    inside_mm = profile.laser_inset_mm - profile.kerf_mm / 2
    return analytic.inset_outline(canonical(drawing, profile), inside_mm)


def area_inside(outline: Polygon, distance_mm: float) -> float:
    """The area within edges that are all moved in by c: A - P c + c^2 times the sum of
    cot(angle / 2)."""
    cotangents = [1 / math.tan(angle / 2) for angle in angles(outline)]
    return outline.area - outline.length * distance_mm + sum(cotangents) * distance_mm**2


def angles(outline: Polygon) -> list[float]:
    """All angles on the material's side."""
    rings = shapely.get_rings(orient(outline))
    return [angle for ring in rings for *_, angle in analytic.corners(ring)]
