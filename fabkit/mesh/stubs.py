"""Pieces that stand on stubs: the plate and the stubs below it, told apart on the mesh."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from shapely import Point
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body
from fabkit.mesh.bystubs import read_by_stubs
from fabkit.mesh.features import Circle, circle_of
from fabkit.mesh.finding import Finding, at_most, between, counted
from fabkit.mesh.manifold import slab
from fabkit.mesh.part import Part
from fabkit.mesh.recognise import take_in
from fabkit.mesh.rules.outline import TOLERANCE_MM
from fabkit.mesh.section import DOWN, UP, filled, parts
from fabkit.model.lattice import Lattice
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, in_units

#: Stubs cover less than this part of what is above them (a round one in a hexagon 0.84), …
_COVERED = 0.9
#: … and are lower than this part of the whole height.
_LOW = 0.6
#: What leaves less of its cells open than this part fills them.
_FILLED = 0.05
#: A stub may be off its place by this much: half of what a seat leaves.
PLACE_MM = 0.1
#: Of its height; it has layers, too.
_HEIGHT_MM = 0.1


@dataclass(frozen=True, eq=False)
class OnStubs:
    """A part that stands on stubs.

    Attributes:
        whole: the part with its stubs, their ends at height 0.
        plate: the part without, its back at height 0.
        stubs: their circles at half height, in the part's frame, from left to right.
        height_mm: of the stubs.
    """

    whole: Part
    plate: Part
    stubs: tuple[Circle, ...]
    height_mm: float


def take_in_on_stubs(
    bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float
) -> tuple[list[Part], float, list[OnStubs | None]]:
    """Takes bodies in that may stand on stubs; see `fabkit.mesh.recognise.take_in`.

    Discs and stars are read by their stubs alone; what fills its hexagons, and what stands on no
    stubs, is read by its outline, which tells more.

    Args:
        bodies: the parts of a set, or some of them.
        puzzle: the set.
        units_mm: what its grid unit may be, at least one.

    Returns:
        A part for each body, those on stubs without these; the files' unit of length in mm; and
        what stands on stubs.
    """
    read, length_mm = take_in(bodies, puzzle, *units_mm)
    stubs = [on_stubs(part, puzzle.lattice, units_mm[0]) for part in read]
    plates = [one.plate if one else part for one, part in zip(stubs, read, strict=True)]
    return plates, length_mm, stubs


def _fills_cells(part: Part) -> bool:
    return part.outline is not None and part.outline.area_off > -_FILLED


def on_stubs(part: Part, lattice: Lattice, unit_mm: float) -> OnStubs | None:
    """Tells a part's stubs from its plate.

    Args:
        part: as `fabkit.mesh.recognise.take_in` lays it. If its outline does not tell how it lies on
            the lattice, its stubs do.
        lattice: the set's.
        unit_mm: the grid unit, for a part of one stub, which does not tell.

    Returns:
        None when it stands on no stubs, or its mesh bounds no volume.
    """
    height_mm = _back(part, DOWN)
    if height_mm is None:
        upside_down = _back(part, UP)
        if upside_down is None:
            return None
        part = _turned_over(part)
        height_mm = part.thickness_mm - upside_down
    if not _fills_cells(part):
        part = read_by_stubs(part, _circles(part, height_mm), lattice, unit_mm) or part
    try:
        plate = slab(part.straight, height_mm)
    except ValueError:  # an open mesh, which other rules tell
        return None
    lying = replace(part, body=plate, vertices=plate.vertices)
    return OnStubs(part, lying, tuple(_circles(part, height_mm)), height_mm)


def _circles(part: Part, height_mm: float) -> list[Circle]:
    """The stubs at half their height, from left to right."""
    feet = parts(part.sections.at(height_mm / 2))
    return sorted((circle_of(foot) for foot in feet), key=lambda one: (one.x_mm, one.y_mm))


def _back(part: Part, facing: int) -> float | None:
    """The height of the back, if less than that is below it (with `UP`: above)."""
    flats = part.sections.flats()
    inner = {
        height: area
        for (height, way), area in flats.items()
        if way == facing and 0 < height < part.thickness_mm
    }
    if not inner:
        return None
    back = max(inner, key=lambda height: inner[height])
    beyond, within = (back / 2, 1.5 * back) if facing == DOWN else (
        (back + part.thickness_mm) / 2, back - (part.thickness_mm - back) / 2
    )  # fmt: skip
    depth = back if facing == DOWN else part.thickness_mm - back
    feet, plate = filled(part.sections.at(beyond)), filled(part.sections.at(within))
    is_low = depth < _LOW * part.thickness_mm
    return back if is_low and 0 < feet.area < _COVERED * plate.area else None


def _turned_over(part: Part) -> Part:
    """A part turned by half a turn about the x axis."""
    corners = part.vertices * np.array([1.0, -1.0, -1.0])
    corners[:, 2] -= corners[:, 2].min()
    return replace(
        part,
        vertices=corners,
        tilt_degrees=180.0 - part.tilt_degrees,
        outline=None,
    )


def stub_findings(one: OnStubs | None, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """What the rules say of a part's stubs.

    Args:
        one: the part; None when there are no stubs.
        lattice: the set's.
        profile: which stubs it should have.
    """
    if one is None:
        message = "it stands on no stubs; without them it shifts on its board"
        yield Finding("stub-count", False, 0.0, None, "", message)
        return
    outline = one.plate.outline
    if outline is not None:
        places = in_units(lattice, sorted(outline.cells))
        centres = [(x * outline.unit_mm, y * outline.unit_mm) for x, y in places]
        yield counted(
            "stub-count",
            abs(len(one.stubs) - len(centres)),
            0,
            f"cells without a stub, or stubs without a cell, among {len(one.stubs)} stubs",
            _marks(one.stubs),
        )
        off_mm = max(min(math.dist(at, (s.x_mm, s.y_mm)) for s in one.stubs) for at in centres)
        yield at_most(
            "stub-place", off_mm, PLACE_MM, "mm", "how far a stub is off the middle of its cell"
        )
    worst = max(one.stubs, key=lambda stub: abs(stub.diameter_mm - profile.stub_mm))
    limit = profile.stub_mm - TOLERANCE_MM, profile.stub_mm + TOLERANCE_MM
    what = "the diameter of the stub that is farthest off"
    yield between("stub-diameter", worst.diameter_mm, limit, "mm", what, _marks([worst]))
    limit = profile.stub_height_mm - _HEIGHT_MM, profile.stub_height_mm + _HEIGHT_MM
    yield between("stub-height", one.height_mm, limit, "mm", "the height of the stubs")


def _marks(stubs: tuple[Circle, ...] | list[Circle]) -> BaseGeometry | None:
    """Where stubs are, for a drawing."""
    from shapely import union_all

    return union_all([Point(s.x_mm, s.y_mm).buffer(s.diameter_mm / 2) for s in stubs])
