"""Gauging the gauge: what its parts measure, and what is engraved on them, from the meshes alone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import shapely
import trimesh
from shapely import LineString, Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.anatomy import Anatomy
from fabkit.mesh.body import Body
from fabkit.mesh.cavities import Cavity
from fabkit.mesh.files.reading import read_bodies
from fabkit.mesh.part import Part
from fabkit.mesh.rules.sound import sound_findings
from fabkit.model.profile import Profile
from fabkit.printing.fit_coupon.values import GaugePart
from fabkit.solid.export import write_stl
from fabkit.solid.making import Maker
from tests.support import analytic, measure

#: What a measure may be off.
CLOSE_MM = 0.01
#: Edges of plug and socket that face each other, seen from the plug: two shoulders, two sides of
#: the tab, two of its tip.
MATING_EDGES = 6
#: Halfway up, but for a little: the kernel also puts corners of the mesh exactly there.
ODD_HALF = 0.4937
_CHARACTERS = "0123456789.-"


@dataclass(frozen=True, eq=False)
class Printed:
    """A part as it is printed."""

    name: str
    mesh: trimesh.Trimesh
    body: Body

    @property
    def drawing(self) -> str:
        return self.name.partition("-")[0]

    @property
    def thickness_mm(self) -> float:
        return float(self.mesh.bounds[1, 2])


def print_parts(parts: list[GaugePart], folder: Path) -> list[Printed]:
    """Parts built, written and read back as production does."""
    maker = Maker()
    printed = []
    for part in parts:
        path = folder / f"{part.name}.stl"
        write_stl(maker.build(part.blueprint), path)
        [body] = read_bodies(path)
        printed.append(Printed(part.name, measure.read_mesh(path), body))
    return printed


# --- reading ------------------------------------------------------------------------------


@cache
def engraved(one: Printed, depth_mm: float) -> str:
    """What is engraved on the face, character by character."""
    return read(measure.hollow(measure.section(one.mesh, one.thickness_mm - ODD_HALF * depth_mm)))


def engraved_on_back(one: Printed, depth_mm: float) -> str:
    """What is engraved on the back, as it reads from there."""
    area = measure.hollow(measure.section(one.mesh, ODD_HALF * depth_mm))
    return read(affinity.scale(area, xfact=-1, origin=(0, 0)))


def read(area: BaseGeometry) -> str:
    """What characters cut out of a face say, from left to right."""
    return "".join(map(_character, measure.parts(area)))


def _character(seen: Polygon) -> str:
    alike = sorted(((_likeness(seen, one), one) for one in _CHARACTERS), reverse=True)
    (best, character), (second, _) = alike[:2]
    assert best > 0.97, f"no character of the font: {character} is alike to {best:.3f}"
    assert second < 0.9, "two characters are nearly alike"
    return character


def _likeness(seen: Polygon, character: str) -> float:
    """The common part of two shapes, made equally high and laid on each other."""
    glyph = _glyph(character)
    left, bottom, right, top = seen.bounds
    height = glyph.bounds[3] - glyph.bounds[1]
    scale = (top - bottom) / height
    laid = affinity.scale(glyph, scale, scale, origin=(0, 0))
    laid = affinity.translate(laid, (left + right) / 2, (bottom + top) / 2)
    return float(laid.intersection(seen).area / laid.union(seen).area)


@cache
def _glyph(character: str) -> BaseGeometry:
    return analytic.glyph(character, 1.0).polygon


# --- measuring ----------------------------------------------------------------------------


def faults_of_pair(plug: Printed, socket: Printed, depth_mm: float) -> list[str]:
    """Where plug and socket, put together, do not do as the numbers on them say."""
    texts = [engraved(one, depth_mm) for one in (plug, socket)]
    if texts[0] != texts[1]:
        return [f"{texts[0]} does not belong to {texts[1]}"]
    inset_mm = float(Decimal(texts[0]))
    male, female = (
        measure.section(one.mesh, one.thickness_mm * ODD_HALF) for one in (plug, socket)
    )
    gaps = mating_gaps_mm(male, female)
    if len(gaps) != MATING_EDGES:
        return [f"{len(gaps)} edges face each other"]
    found = [
        f"{texts[0]}: the gap is {least:.3f} to {most:.3f}"
        for least, most in gaps
        if max(abs(least - 2 * inset_mm), abs(most - 2 * inset_mm)) > CLOSE_MM
    ]
    if abs(male.distance(female) - 2 * inset_mm) > CLOSE_MM:
        found.append(f"{texts[0]}: they come as near as {male.distance(female):.3f}")
    if male.intersection(female).area > CLOSE_MM:
        found.append(f"{texts[0]}: they overlap by {male.intersection(female).area:.3f} mm2")
    return found


def mating_gaps_mm(male: BaseGeometry, female: BaseGeometry) -> list[tuple[float, float]]:
    """The least and the greatest gap along each edge of one section that faces the other.

    The outer quarters of an edge are left out: there its corners are nearer or farther.
    """
    ring = measure.filled(male).simplify(1e-4).exterior.coords
    gaps = []
    for start, end in itertools.pairwise(ring):
        edge = LineString([start, end])
        points = [edge.interpolate(part, normalized=True) for part in np.linspace(0.25, 0.75, 21)]
        distances = [point.distance(female) for point in points]
        if max(distances) < 1.0:
            gaps.append((min(distances), max(distances)))
    return gaps


def faults_of_chip(chip: Printed, profile: Profile) -> list[str]:
    """Where a chip's bore is not what the number on it and the profile say."""
    text = engraved(chip, profile.label_depth_mm)
    if profile.faces == "both" and engraved_on_back(chip, profile.label_depth_mm) != text:
        return [f"{text} is not what is engraved on the back"]
    low_mm, high_mm = analytic.recess_heights_mm(profile)
    section = measure.section(chip.mesh, high_mm - 0.15)
    [bore] = measure.holes(section)
    told_mm = profile.magnet_diameter_mm + float(Decimal(text))
    if profile.fit == "ribs":
        ribs = measure.ribs_of(bore)
        root_mm = profile.magnet_diameter_mm + profile.rib_root_mm
        pairs = [
            ("crests", ribs.crest.diameter_mm, told_mm),
            ("roots", ribs.root.diameter_mm, root_mm),
        ]
        pairs.append(("ribs", ribs.count, analytic.RIBS))
        widest_mm = ribs.root.diameter_mm
    else:
        circle = measure.fit_circle(measure.corners(bore.simplify(1e-4).exterior))
        widest_mm = circle.diameter_mm
        pairs = [("bore", widest_mm, told_mm), ("off a circle", circle.off_mm, 0.0)]
    pairs.append(("ceiling", _end_mm(chip, bore, measure.DOWN), high_mm))
    if profile.embedded:
        pairs.append(("floor", _end_mm(chip, bore, measure.UP), low_mm))
    else:
        [mouth] = measure.holes(measure.flat_part(chip.mesh, 0.0, measure.DOWN))
        across_mm = measure.fit_circle(measure.corners(mouth.exterior)).diameter_mm
        pairs.append(("mouth", across_mm, widest_mm + 2 * profile.mouth_mm))
    found = [
        f"{text}: {what} {seen:.3f} instead of {asked:.3f}"
        for what, seen, asked in pairs
        if abs(seen - asked) > CLOSE_MM
    ]
    if measure.wall_mm(section, bore) < profile.wall_mm - CLOSE_MM:
        found.append(f"{text}: a wall of {measure.wall_mm(section, bore):.3f}")
    return found


def _end_mm(chip: Printed, bore: Polygon, facing: int) -> float:
    """The height of the flat end of a bore, told from letters and faces by its area."""
    levels = measure.flat_levels(chip.mesh)
    areas = {height: area for (height, way), area in levels.items() if way == facing}
    return min(areas, key=lambda height: abs(areas[height] - bore.area))


def faults_of_form(one: Printed, profile: Profile) -> list[str]:
    """Where a part is not as thick as the profile's pieces, or chamfered otherwise."""
    middle = measure.filled(measure.section(one.mesh, one.thickness_mm * ODD_HALF))
    pairs = [("thickness", one.thickness_mm, profile.thickness_mm)]
    for height_mm, facing, chamfer_mm in (
        (0.0, measure.DOWN, profile.foot_chamfer_mm),
        (one.thickness_mm, measure.UP, profile.top_chamfer_mm),
    ):
        flat = measure.filled(measure.flat_part(one.mesh, height_mm, facing))
        pairs.append(("chamfer", flat.exterior.distance(middle.exterior), chamfer_mm))
    return [
        f"{one.name}: {what} {seen:.3f} instead of {asked:.3f}"
        for what, seen, asked in pairs
        if abs(seen - asked) > CLOSE_MM
    ]


def unsound(one: Printed, profile: Profile) -> list[str]:
    """What the rules for meshes say against a part."""
    part = Part(one.body, one.body.vertices, 0.0, False, None)
    # Only a chip of an embedded fit is hollow, by its one closed recess.
    closed = one.drawing == "recess" and profile.embedded
    recesses = (Cavity(0.0, 0.0, False, False, (), False),) if closed else ()
    found = Anatomy(cuts=(), recesses=recesses, labels=(), through=(), marks=())
    findings = sound_findings(part, found, profile)
    return [f"{one.name}: {finding.message}" for finding in findings if not finding.ok]


def overlap_mm2(parts: list[GaugePart]) -> float:
    """By how much the canonical outlines of parts overlap."""
    areas = [part.blueprint.canonical for part in parts]
    return float(sum(area.area for area in areas) - shapely.union_all(areas).area)
