"""Gauging the gauge: what its parts measure, and what is engraved on them, from the meshes alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import trimesh
from shapely import LineString, Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.model.profile import Profile
from fabkit.printing.fit_coupon.values import GaugePart
from fabkit.solid.making import Maker
from tests.support import analytic, measure
from tests.support.faults.kits import written
from tests.support.shapes import mesh_of

#: What a measure may be off.
CLOSE_MM = 0.01
#: Edges of plug and socket that face each other, seen from the plug: two shoulders, two sides of
#: the tab, two of its tip.
MATING_EDGES = 6
#: Halfway up, but for a little: the kernel also puts corners of the mesh exactly there.
ODD_HALF = 0.4937
#: This far above or below a level, for the same reason.
NEAR_MM = 0.0471
#: A level or a hole this large (mm2) is none of a character.
_FACE_MM2 = 60.0

#: What is measured, and what it should be.
Pairs = Iterator[tuple[str, float, float]]


@dataclass(frozen=True, eq=False)
class Printed:
    """A part as it is printed."""

    name: str
    mesh: trimesh.Trimesh

    @property
    def drawing(self) -> str:
        return self.name.partition("-")[0]

    @property
    def top_mm(self) -> float:
        return float(self.mesh.bounds[1, 2])

    @property
    def middle(self) -> Polygon:
        return measure.filled(measure.section(self.mesh, self.top_mm * ODD_HALF))

    def levels(self, facing: int) -> dict[float, float]:
        """The areas of its flat faces, by height."""
        found = measure.flat_levels(self.mesh)
        return {z: area for (z, way), area in found.items() if way == facing}


@cache
def printed(part: GaugePart) -> Printed:
    """A part built, written and read back."""
    return Printed(part.name, mesh_of(written(Maker().build(part.blueprint))))


# --- reading ------------------------------------------------------------------------------


@cache
def engraved(one: Printed, depth_mm: float) -> str:
    """What is engraved on the face of a part, or in the floor of a tray.

    Only characters end at the engraving's depth; holes and channels go on below.
    """
    large = [z for z, area in one.levels(measure.UP).items() if area > _FACE_MM2]
    top_mm = one.top_mm
    face_mm = max(z for z in large if z < top_mm - NEAR_MM) if one.drawing == "tray" else top_mm
    cut = measure.hollow(measure.section(one.mesh, face_mm - ODD_HALF * depth_mm))
    below = measure.hollow(measure.section(one.mesh, face_mm - depth_mm - NEAR_MM))
    return _read(cut.difference(below.buffer(NEAR_MM)))


def _read(area: BaseGeometry) -> str:
    text = ""
    for seen in measure.parts(area):
        likeness, character = max((_likeness(seen, one), one) for one in "0123456789.-")
        assert likeness > 0.97, f"no character of the font: {character} is alike to {likeness:.3f}"
        text += character
    return text


def _likeness(seen: Polygon, character: str) -> float:
    """The common part of two shapes, made equally high and laid on each other."""
    glyph = analytic.glyph(character, 1.0).polygon
    left, bottom, right, top = seen.bounds
    scale = (top - bottom) / (glyph.bounds[3] - glyph.bounds[1])
    laid = affinity.scale(glyph, scale, scale, origin=(0, 0))
    laid = affinity.translate(laid, (left + right) / 2, (bottom + top) / 2)
    return float(laid.intersection(seen).area / laid.union(seen).area)


# --- measuring ----------------------------------------------------------------------------


def faults(one: Printed, other: Printed, profile: Profile) -> list[str]:
    """Where a part is not what the number on it and the profile say, with what is laid into it."""
    told_mm = float(engraved(one, profile.label_depth_mm))
    return [
        f"{one.name}: {what} {seen:.3f} instead of {asked:.3f}"
        for what, seen, asked in _MEASURES[one.drawing](one, other, profile, told_mm)
        if not abs(seen - asked) <= CLOSE_MM
    ]


def _flat(one: Printed, _: Printed, profile: Profile, told_mm: float) -> Pairs:
    """Of a flat part: as thick as the profile's pieces, and chamfered like them."""
    yield "thickness", one.top_mm, profile.thickness_mm
    for height_mm, facing, chamfer_mm in (
        (0.0, measure.DOWN, profile.foot_chamfer_mm),
        (one.top_mm, measure.UP, profile.top_chamfer_mm),
    ):
        flat = measure.filled(measure.flat_part(one.mesh, height_mm, facing))
        yield "chamfer", flat.exterior.distance(one.middle.exterior), chamfer_mm


def _socket(socket: Printed, plug: Printed, profile: Profile, told_mm: float) -> Pairs:
    """Wider than the plug by two insets, everywhere."""
    yield from _flat(socket, plug, profile, told_mm)
    yield "number of the plug", float(engraved(plug, profile.label_depth_mm)), told_mm
    male, female = plug.middle, socket.middle
    yield "least gap", male.distance(female), 2 * told_mm
    yield "overlap", male.intersection(female).area, 0.0
    edges = 0
    for ends in itertools.pairwise(male.simplify(1e-4).exterior.coords):
        # The outer quarters of an edge are left out: there its corners are nearer or farther.
        parts = np.linspace(0.25, 0.75, 21)
        points = [LineString(ends).interpolate(part, normalized=True) for part in parts]
        distances = [point.distance(female) for point in points]
        if max(distances) < 1.0:
            edges += 1
            yield "gap", min(distances), 2 * told_mm
            yield "gap", max(distances), 2 * told_mm
    yield "edges that face each other", edges, MATING_EDGES


def _chip(chip: Printed, other: Printed, profile: Profile, told_mm: float) -> Pairs:
    yield from _flat(chip, other, profile, told_mm)
    low_mm, high_mm = analytic.recess_heights_mm(profile)
    section = measure.section(chip.mesh, high_mm - 0.15)
    [bore] = measure.holes(section)
    widest_mm = profile.magnet_diameter_mm + told_mm
    if profile.fit == "ribs":
        ribs = measure.ribs_of(bore)
        yield "crests", ribs.crest.diameter_mm, widest_mm
        widest_mm = profile.magnet_diameter_mm + profile.rib_root_mm
        yield "roots", ribs.root.diameter_mm, widest_mm
        yield "ribs", ribs.count, analytic.RIBS
    else:
        circle = measure.fit_circle(measure.corners(bore.simplify(1e-4).exterior))
        yield "bore", circle.diameter_mm, widest_mm
        yield "off a circle", circle.off_mm, 0.0
    # The flat ends of the bore, told from letters and faces by their areas.
    for what, facing, height_mm in (
        ("ceiling", measure.DOWN, high_mm),
        *([("floor", measure.UP, low_mm)] if profile.embedded else []),
    ):
        areas = chip.levels(facing)
        yield what, min(areas, key=lambda z: abs(areas[z] - bore.area)), height_mm
    if not profile.embedded:
        [mouth] = measure.holes(measure.flat_part(chip.mesh, 0.0, measure.DOWN))
        across_mm = measure.fit_circle(measure.corners(mouth.exterior)).diameter_mm
        yield "mouth", across_mm, widest_mm + 2 * profile.mouth_mm
    wall_mm = measure.wall_mm(section, bore)
    yield "wall", min(wall_mm, profile.wall_mm), profile.wall_mm


def _ring(ring: Printed, bar: Printed, profile: Profile, told_mm: float) -> Pairs:
    """As wide as it says, all the way through."""
    yield "ball", _ball_mm(bar), profile.ball_mm
    for height_mm in (NEAR_MM, ring.top_mm - NEAR_MM):
        [bore] = _bores(ring, height_mm)
        yield "bore", bore.diameter_mm, told_mm
        yield "off a circle", bore.off_mm, 0.0


def _block(block: Printed, bar: Printed, profile: Profile, told_mm: float) -> Pairs:
    """Its channel is wider than the bar's link by what it says, and half as deep as that is wide;
    its holes are those of the profile's board."""
    ball_mm = _ball_mm(bar)
    section = measure.section(bar.mesh, bar.top_mm - ball_mm / 2 + 1e-3)
    link_mm = _across(section, *section.centroid.coords[0], along_x=False)
    pitch_mm = float(bar.mesh.extents[0]) - ball_mm
    yield "ball", ball_mm, profile.ball_mm
    yield "pitch of the bar", pitch_mm, profile.unit_mm
    yield "link", link_mm, profile.link_mm
    left, right = _bores(block, NEAR_MM)
    yield "hole", left.diameter_mm, profile.hole_mm
    yield "hole", right.diameter_mm, profile.hole_mm
    yield "pitch", abs(right.x_mm - left.x_mm), pitch_mm
    middle = ((left.x_mm + right.x_mm) / 2, left.y_mm)
    wide_mm = _across(_open_above(block), *middle, along_x=False)
    yield "room beside the link", (wide_mm - link_mm) / 2, told_mm
    yield "depth of the channel", _depth_mm(block), link_mm / 2
    # A seated ball has its middle as high as the block, and stands clear of the table.
    yield "room below a ball", min(block.top_mm - ball_mm / 2, 0.5), 0.5


def _plate(plate: Printed, stub: Printed, profile: Profile, told_mm: float) -> Pairs:
    """Its seat is wider than the stub by what it says, and deeper than that is high."""
    height_mm = max(stub.levels(measure.DOWN))
    foot = measure.filled(measure.section(stub.mesh, height_mm - NEAR_MM))
    foot_mm = measure.fit_circle(measure.corners(foot.exterior)).diameter_mm
    seat = measure.fit_circle(measure.corners(_open_above(plate).exterior))
    yield "stub", foot_mm, profile.stub_mm
    yield "stub's height", height_mm, profile.stub_height_mm
    yield "room around the stub", (seat.diameter_mm - foot_mm) / 2, told_mm
    yield "off a circle", seat.off_mm, 0.0
    yield "room below the stub", min(_depth_mm(plate) - height_mm, 0.1), 0.1


def _tray(tray: Printed, square: Printed, profile: Profile, told_mm: float) -> Pairs:
    """Wider than the square by what it says and the profile's inset."""
    opening, piece = _open_above(tray), square.middle
    x_mm, y_mm = opening.centroid.coords[0]
    left, bottom, right, top = piece.bounds
    for along_x, piece_mm in ((True, right - left), (False, top - bottom)):
        room_mm = (_across(opening, x_mm, y_mm, along_x) - piece_mm) / 2 - profile.inset_mm
        yield f"room along {'x' if along_x else 'y'}", room_mm, told_mm
    laid = affinity.translate(piece, x_mm - piece.centroid.x, y_mm - piece.centroid.y)
    yield "what of the square does not go in", laid.difference(opening).area, 0.0


_MEASURES: dict[str, Callable[[Printed, Printed, Profile, float], Pairs]] = {
    "plug": _flat,
    "socket": _socket,
    "recess": _chip,
    "ring": _ring,
    "block": _block,
    "plate": _plate,
    "tray": _tray,
}


def _ball_mm(bar: Printed) -> float:
    return float(bar.mesh.extents[1])


def _bores(one: Printed, height_mm: float) -> list[measure.Circle]:
    """The round holes at a height, from left to right; characters are smaller."""
    holes = measure.holes(measure.section(one.mesh, height_mm))
    large = (hole for hole in holes if hole.area > _FACE_MM2)
    return [measure.fit_circle(measure.corners(hole.exterior)) for hole in large]


def _open_above(one: Printed) -> Polygon:
    """What is open just below the top; characters are smaller."""
    holes = measure.holes(measure.section(one.mesh, one.top_mm - NEAR_MM))
    return max(holes, key=lambda hole: hole.area)


def _depth_mm(one: Printed) -> float:
    """From the top down to the lowest level that faces up."""
    return one.top_mm - min(one.levels(measure.UP))


def _across(area: BaseGeometry, x_mm: float, y_mm: float, along_x: bool) -> float:
    """How long a line through a point is within an area."""
    dx, dy = (1000.0, 0.0) if along_x else (0.0, 1000.0)
    line = LineString([(x_mm - dx, y_mm - dy), (x_mm + dx, y_mm + dy)])
    return float(line.intersection(area).length)
