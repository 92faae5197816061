"""Gauging the gauge's parts for boards: what is engraved on them, and what they measure, from the
meshes alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import shapely
from shapely import LineString, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.model.profile import Profile
from tests.support import gauging, measure
from tests.support.gauging import CLOSE_MM, ODD_HALF, Printed

#: A level this large (mm2) is no bottom of a character.
_FACE_MM2 = 60.0
#: This far above or below a level: the kernel also puts corners of the mesh at rounder heights.
_NEAR_MM = 0.0471


# --- reading ------------------------------------------------------------------------------


@cache
def engraved(one: Printed, depth_mm: float) -> str:
    """What is engraved on the face of a part, or in the floor of a tray.

    Only characters end at the engraving's depth; holes and channels go on below.
    """
    face_mm = floor_mm(one) if one.drawing == "tray" else one.thickness_mm
    cut = measure.hollow(measure.section(one.mesh, face_mm - ODD_HALF * depth_mm))
    below = measure.hollow(measure.section(one.mesh, face_mm - depth_mm - _NEAR_MM))
    return gauging.read(cut.difference(below.buffer(_NEAR_MM)))


def floor_mm(one: Printed) -> float:
    """The highest large level below the top: a tray's floor."""
    levels = measure.flat_levels(one.mesh)
    large = [z for (z, way), area in levels.items() if way == measure.UP and area > _FACE_MM2]
    return max(height for height in large if height < one.thickness_mm - _NEAR_MM)


# --- what is laid into them ---------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """Two balls and their link."""

    ball_mm: float
    pitch_mm: float
    link_mm: float
    middle_mm: float


def bar_of(one: Printed) -> Bar:
    """A ball's diameter, the distance of both, the link's width, and the height of their middles."""
    long_mm, ball_mm, high_mm = one.mesh.bounds[1] - one.mesh.bounds[0]
    middle_mm = float(high_mm - ball_mm / 2)
    section = measure.section(one.mesh, middle_mm + 1e-3)
    link_mm = _across(section, *section.centroid.coords[0], along_x=False)
    return Bar(float(ball_mm), float(long_mm - ball_mm), link_mm, middle_mm)


@dataclass(frozen=True)
class Foot:
    """The stub of a piece."""

    diameter_mm: float
    height_mm: float


def foot_of(one: Printed) -> Foot:
    """A stub's diameter where it is widest, and how far the back is above its end."""
    levels = measure.flat_levels(one.mesh)
    height_mm = max(z for (z, way), _ in levels.items() if way == measure.DOWN)
    section = measure.section(one.mesh, height_mm - _NEAR_MM)
    circle = measure.fit_circle(measure.corners(measure.filled(section).exterior))
    return Foot(circle.diameter_mm, height_mm)


# --- what they measure --------------------------------------------------------------------


def faults_of_ring(ring: Printed, bar: Printed, profile: Profile) -> list[str]:
    """Where a ring is not as wide as it says, or does not go all the way through."""
    told_mm = float(Decimal(engraved(ring, profile.label_depth_mm)))
    pairs = []
    for height_mm in (_NEAR_MM, ring.thickness_mm - _NEAR_MM):
        [bore] = _bores(ring, height_mm)
        pairs += [("bore", bore.diameter_mm, told_mm), ("off a circle", bore.off_mm, 0.0)]
    return _off(ring, [*pairs, ("ball", bar_of(bar).ball_mm, profile.ball_mm)])


def faults_of_block(block: Printed, bar: Printed, profile: Profile) -> list[str]:
    """Where a block's channel is not wider than the bar's link by what it says, or not as deep as
    in a board, or its holes are not those of the profile's board."""
    told_mm = float(Decimal(engraved(block, profile.label_depth_mm)))
    measured = bar_of(bar)
    pairs = [
        ("ball", measured.ball_mm, profile.ball_mm),
        ("pitch of the bar", measured.pitch_mm, profile.unit_mm),
        ("link", measured.link_mm, profile.link_mm),
    ]
    bores = _bores(block, _NEAR_MM)
    if len(bores) != 2:
        return [f"{block.name}: {len(bores)} holes"]
    pairs += [("hole", bore.diameter_mm, profile.hole_mm) for bore in bores]
    pairs.append(("pitch", abs(bores[1].x_mm - bores[0].x_mm), measured.pitch_mm))
    opening = _open_above(block)
    middle = ((bores[0].x_mm + bores[1].x_mm) / 2, bores[0].y_mm)
    wide_mm = _across(opening, *middle, along_x=False)
    pairs.append(("room beside the link", (wide_mm - measured.link_mm) / 2, told_mm))
    pairs.append(("depth of the channel", _depth_mm(block), measured.link_mm / 2))
    found = _off(block, pairs)
    # A seated ball has its middle as high as the block.
    if block.thickness_mm < measured.ball_mm / 2 + 0.5:
        found.append(f"{block.name}: its balls stand on the table")
    return found


def faults_of_plate(plate: Printed, stub: Printed, profile: Profile) -> list[str]:
    """Where a seat is not wider than the stub by what it says, or too shallow for it."""
    told_mm = float(Decimal(engraved(plate, profile.label_depth_mm)))
    foot = foot_of(stub)
    seat = measure.fit_circle(measure.corners(_open_above(plate).exterior))
    pairs = [
        ("stub", foot.diameter_mm, profile.stub_mm),
        ("stub's height", foot.height_mm, profile.stub_height_mm),
        ("room around the stub", (seat.diameter_mm - foot.diameter_mm) / 2, told_mm),
        ("off a circle", seat.off_mm, 0.0),
    ]
    found = _off(plate, pairs)
    if _depth_mm(plate) < foot.height_mm + 0.1:
        found.append(f"{plate.name}: the seat is {_depth_mm(plate):.3f} deep")
    return found


def faults_of_tray(tray: Printed, square: Printed, profile: Profile) -> list[str]:
    """Where a tray is not wider than the square by what it says and the profile's inset."""
    told_mm = float(Decimal(engraved(tray, profile.label_depth_mm)))
    opening = _open_above(tray)
    piece = measure.filled(measure.section(square.mesh, square.thickness_mm * ODD_HALF))
    left, bottom, right, top = piece.bounds
    middle = opening.centroid.coords[0]
    pairs = [
        (
            f"room along {'x' if along_x else 'y'}",
            (_across(opening, *middle, along_x) - piece_mm) / 2 - profile.inset_mm,
            told_mm,
        )
        for along_x, piece_mm in ((True, right - left), (False, top - bottom))
    ]
    found = _off(tray, pairs)
    laid = shapely.affinity.translate(
        piece, middle[0] - piece.centroid.x, middle[1] - piece.centroid.y
    )
    if not opening.contains(laid):
        found.append(f"{tray.name}: the square does not go in")
    return found


def _bores(one: Printed, height_mm: float) -> list[measure.Circle]:
    """The round holes at a height, from left to right; characters are smaller."""
    holes = measure.holes(measure.section(one.mesh, height_mm))
    return [
        measure.fit_circle(measure.corners(hole.exterior))
        for hole in holes
        if hole.area > _FACE_MM2
    ]


def _open_above(one: Printed) -> Polygon:
    """What is open just below the top; characters are smaller."""
    holes = measure.holes(measure.section(one.mesh, one.thickness_mm - _NEAR_MM))
    return max(holes, key=lambda hole: hole.area)


def _depth_mm(one: Printed) -> float:
    """From the top down to the lowest level that faces up."""
    levels = measure.flat_levels(one.mesh)
    return one.thickness_mm - min(z for (z, way) in levels if way == measure.UP)


def _across(area: BaseGeometry, x_mm: float, y_mm: float, along_x: bool) -> float:
    """How long a line through a point is within an area."""
    far = (1000.0, 0.0) if along_x else (0.0, 1000.0)
    line = LineString([(x_mm - far[0], y_mm - far[1]), (x_mm + far[0], y_mm + far[1])])
    return float(line.intersection(area).length)


def _off(one: Printed, pairs: list[tuple[str, float, float]]) -> list[str]:
    return [
        f"{one.name}: {what} {seen:.3f} instead of {asked:.3f}"
        for what, seen, asked in pairs
        if not math.isclose(seen, asked, abs_tol=CLOSE_MM)
    ]
