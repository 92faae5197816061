"""What a printed piece must measure, computed from the drawing in the set's file and the
numbers of the profile alone: no CAD kernel, and none of fabkit's own geometry.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import shapely
from fontTools.pens.areaPen import AreaPen
from fontTools.pens.basePen import decomposeQuadraticSegment
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.profiles.profile import Profile
from tests.conftest import ROOT
from tests.support.pictures import unit

FONT = ROOT / "fabkit" / "drawing" / "fonts" / "OpenSans-ExtraBold.ttf"

RIBS = 8


@dataclass(frozen=True)
class Drawing:
    """One flat piece as its set's file draws it; ``outline`` is in grid units."""

    id: str
    label: str
    colour: str | None
    outline: Polygon

    @property
    def magnets(self) -> int:
        """How many it gets: two for a piece three units long or longer."""
        left, bottom, right, top = self.outline.bounds
        return 2 if max(right - left, top - bottom) > 3 - 1e-6 else 1


def drawings(set_name: str) -> list[Drawing]:
    """The pieces of a shipped set, in the file's order."""
    with (ROOT / "pieces" / f"{set_name}.toml").open("rb") as file:
        content = tomllib.load(file)
    lattice = content["set"]["lattice"]
    return [_drawing(piece, lattice) for piece in content["piece"]]


def _drawing(piece: dict[str, Any], lattice: str) -> Drawing:
    short = piece["id"] if len(piece["id"]) <= 2 else piece["id"][0].upper()
    if "outline" in piece:
        outline = Polygon(piece["outline"])
    else:
        cells = [unit(lattice, row, column) for row, column in piece["cells"]]
        outline = shapely.union_all(cells, grid_size=1e-9).simplify(1e-7)
    return Drawing(piece["id"], piece.get("label", short), piece.get("colour"), outline)


# --- outline ------------------------------------------------------------------------------


def printed_outline(outline: Polygon, profile: Profile) -> Polygon:
    """The outline at mid-height, in mm, counter-clockwise: inset, and acute tips cut to a flat."""
    canonical = affinity.scale(outline, profile.unit_mm, profile.unit_mm, origin=(0, 0))
    rings = shapely.get_rings(orient(inset_outline(canonical, profile.inset_mm)))
    outer, *inner = ([*_without_tips(ring, profile.tip_flat_mm)] for ring in rings)
    return orient(Polygon(outer, inner))


def inset_outline(area: BaseGeometry, distance_mm: float) -> BaseGeometry:
    """An area without a margin, its corners kept sharp."""
    return area.buffer(-distance_mm, join_style="mitre", mitre_limit=20)


def corners(
    ring: shapely.LinearRing,
) -> Iterator[tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...], float]]:
    """Each corner between the one before and the one after; the angle on the ring's left."""
    points = ring.coords[:-1]
    for i, here in enumerate(points):
        before, after = points[i - 1], points[(i + 1) % len(points)]
        back, on = (math.atan2(y - here[1], x - here[0]) for x, y in (before, after))
        yield before, here, after, (back - on) % (2 * math.pi)


def _without_tips(ring: shapely.LinearRing, flat_mm: float) -> Iterator[tuple[float, ...]]:
    """A ring's corners, with two in place of each acute one: a flat across equal legs."""
    for before, here, after, angle in corners(ring):
        if angle < math.pi / 2 - 1e-6:
            leg_mm = flat_mm / 2 / math.sin(angle / 2)
            yield from (_towards(here, before, leg_mm), _towards(here, after, leg_mm))
        else:
            yield here


def _towards(
    start: tuple[float, ...], end: tuple[float, ...], distance_mm: float
) -> tuple[float, float]:
    part = distance_mm / math.dist(start, end)
    return start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])


# --- heights ------------------------------------------------------------------------------


def layer_top_mm(profile: Profile, height_mm: float) -> float:
    """The lowest top of a printed layer at or above a height, in exact arithmetic."""
    top, layer, height = (
        Fraction(str(value)) for value in (profile.first_layer_mm, profile.layer_mm, height_mm)
    )
    while top < height:
        top += layer
    return float(top)


def recess_heights_mm(profile: Profile) -> tuple[float, float]:
    """Where a recess begins and ends."""
    low_mm = layer_top_mm(profile, profile.floor_mm) if profile.fit == "embedded" else 0.0
    needed_mm = round(low_mm + profile.magnet_height_mm + profile.air_mm, 9)
    return low_mm, layer_top_mm(profile, needed_mm)


# --- volume -------------------------------------------------------------------------------


def recess_mm(profile: Profile) -> float:
    """The diameter of the recess, between the ribs if it has ribs."""
    added = {
        "press": profile.press_mm,
        "glue": profile.glue_mm,
        "ribs": profile.rib_root_mm,
        "embedded": profile.embedded_mm,
    }
    return profile.magnet_diameter_mm + added[profile.fit]


def crest_mm(profile: Profile) -> float:
    """The diameter of the circle inside the ribs."""
    return profile.magnet_diameter_mm + profile.rib_crest_mm


def lead_in_diameter_mm(profile: Profile) -> float:
    """The diameter of the recess at the back, with its lead-in."""
    return recess_mm(profile) + 2 * profile.lead_in_mm


def recess_area_mm2(profile: Profile, z_mm: float) -> float:
    """The area of a recess's section at a height where it has one."""
    cone = max(lead_in_diameter_mm(profile) / 2 - z_mm, 0.0)
    widest = recess_mm(profile) / 2
    if profile.fit == "embedded":
        return math.pi * widest**2
    if profile.fit != "ribs":
        return math.pi * max(widest, cone) ** 2
    share = RIBS * 2 * math.asin(profile.rib_width_mm / 2 / widest) / (2 * math.pi)
    under_ribs = max(crest_mm(profile) / 2, cone)
    if under_ribs > widest:
        return math.pi * cone**2
    return math.pi * ((1 - share) * widest**2 + share * under_ribs**2)


def recess_volume_mm3(profile: Profile) -> float:
    """One recess. Its area is a quadratic between the heights where its form changes."""
    low_mm, high_mm = recess_heights_mm(profile)
    lead_in_mm = profile.lead_in_mm
    end_of_cone = lead_in_mm + (recess_mm(profile) - crest_mm(profile)) / 2
    heights = sorted({low_mm, min(lead_in_mm, high_mm), min(end_of_cone, high_mm), high_mm})
    heights = [height for height in heights if height >= low_mm]
    return sum(
        _simpson(*(recess_area_mm2(profile, z) for z in (low, (low + high) / 2, high)), high - low)
        for low, high in itertools.pairwise(heights)
    )


def prism_volume_mm3(outline: Polygon, profile: Profile) -> float:
    """The piece without recesses and letter: a prism less what both chamfers take."""
    volume = outline.area * profile.thickness_mm
    for chamfer in (profile.top_chamfer_mm, profile.foot_chamfer_mm):
        areas = [inset_outline(outline, chamfer * part).area for part in (0, 0.5, 1)]
        volume -= outline.area * chamfer - _simpson(*areas, chamfer)
    return volume


def volume_mm3(drawing: Drawing, profile: Profile, label_mm2: float) -> float:
    """The whole piece, for the area of its letter on one face."""
    volume = prism_volume_mm3(printed_outline(drawing.outline, profile), profile)
    if profile.fit != "none":
        volume -= drawing.magnets * recess_volume_mm3(profile)
    faces = {"none": 0, "front": 1, "both": 2}[profile.faces]
    return volume - faces * label_mm2 * profile.label_depth_mm


def _simpson(low: float, middle: float, high: float, width: float) -> float:
    return width * (low + 4 * middle + high) / 6


# --- letters ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Glyph:
    """A letter for a cap height: exact area and width and height of its exact bounds, and a
    polygon with fine chords, the middle of its bounds at the origin."""

    area_mm2: float
    width_mm: float
    height_mm: float
    polygon: BaseGeometry


@lru_cache
def glyph(character: str, cap_height_mm: float) -> Glyph:
    """A single character of the shipped font, read from the font file."""
    with TTFont(FONT) as font:
        glyphs = font.getGlyphSet()
        shape = glyphs[font.getBestCmap()[ord(character)]]
        scale = cap_height_mm / font["glyf"]["H"].yMax
        area, bounds, pen = AreaPen(glyphs), BoundsPen(glyphs), DecomposingRecordingPen(glyphs)
        for one in (area, bounds, pen):
            shape.draw(one)
    left, bottom, right, top = bounds.bounds
    to_origin = affinity.translate(_even_odd(pen.value), -(left + right) / 2, -(bottom + top) / 2)
    return Glyph(
        abs(area.value) * scale**2,
        (right - left) * scale,
        (top - bottom) * scale,
        affinity.scale(to_origin, scale, scale, origin=(0, 0)),
    )


def _even_odd(drawn: list[tuple[str, Any]]) -> BaseGeometry:
    area: BaseGeometry = Polygon()
    points: list[tuple[float, float]] = []
    for operation, arguments in drawn:
        if operation == "closePath":
            area = area.symmetric_difference(Polygon(points))
        elif operation == "moveTo":
            points = [arguments[0]]
        elif operation == "lineTo":
            points.append(arguments[0])
        else:
            for control, end in decomposeQuadraticSegment(arguments):
                points += _quadratic(points[-1], control, end)
    return area


def _quadratic(
    start: tuple[float, float], control: tuple[float, float], end: tuple[float, float]
) -> list[tuple[float, float]]:
    (ax, ay), (bx, by), (cx, cy) = start, control, end
    points = []
    for step in range(1, 51):
        t = step / 50
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        points.append((a * ax + b * bx + c * cx, a * ay + b * by + c * cy))
    return points
