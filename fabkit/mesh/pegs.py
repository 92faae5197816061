"""Pieces that stand on stubs: the plate and the stubs below it, told apart on the mesh."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.body import Body, moved
from fabkit.mesh.features import Circle, circle_of
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.identity import OnStubs
from fabkit.mesh.manifold import slab
from fabkit.mesh.part import Outline, Part, inside_mm
from fabkit.mesh.recognise import take_in
from fabkit.mesh.rules.outline import near
from fabkit.mesh.rules.table import judged
from fabkit.mesh.section import DOWN, filled, parts
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import least_turn
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, in_units

#: A stub is on a lattice point when it is nearer to it than this part of a grid unit.
_NEAR_UNITS = 0.1
#: A stub may be off its place by this much: half of what a seat leaves.
PLACE_MM = 0.1


def take_in_on_stubs(
    bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float
) -> tuple[list[Part], float, list[OnStubs | None]]:
    """Takes bodies in that may stand on stubs; see `fabkit.mesh.recognise.take_in`.

    Discs and stars are read by their stubs alone; what fills its hexagons, and what stands on no
    stubs, is read by its outline, which tells more.

    Returns:
        A part for each body, those on stubs without these; the files' unit of length in mm; and
        what stands on stubs.
    """
    read, length_mm = take_in(bodies, puzzle, *units_mm)
    stubs = [on_stubs(part, puzzle.lattice, units_mm[0]) for part in read]
    plates = [one.plate if one else part for one, part in zip(stubs, read, strict=True)]
    return plates, length_mm, stubs


def on_stubs(part: Part, lattice: Lattice, unit_mm: float) -> OnStubs | None:
    """Tells the stubs of a part from its plate; None when it has none, or bounds no volume.

    It lies as `fabkit.mesh.recognise.take_in` has it; if its outline does not tell how, its stubs
    do, but for a single one, which does not tell the grid unit.
    """
    height_mm = _back_mm(part)
    if height_mm is None:
        part = part.turned_over()
        height_mm = _back_mm(part)
    if height_mm is None or not part.straight.is_solid:  # an open mesh, which other rules tell
        return None
    if part.outline is None or part.area_off <= -0.05:  # else it fills its cells
        part = _read_by_stubs(part, _circles(part, height_mm), lattice, unit_mm) or part
    plate = slab(part.straight, height_mm)
    lying = replace(part, body=plate, vertices=plate.vertices)
    return OnStubs(part, lying, tuple(_circles(part, height_mm)), height_mm)


def _back_mm(part: Part) -> float | None:
    """The height of the back, the largest flat that faces down, if stubs are below it.

    They are lower than 0.6 of the whole, and cover less than 0.9 of it (round ones of hexagons 0.84).
    """
    sections = part.sections
    flats = [(area, at) for (at, way), area in sections.flats().items() if way == DOWN]
    area, height_mm = max((one for one in flats if one[1] > sections.scatter_mm), default=(0, 0))
    if not 0 < height_mm < 0.6 * part.thickness_mm:
        return None
    feet, plate = (filled(sections.at(share * height_mm)) for share in (0.5, 1.5))
    # The end of a pocket in the back of a rounded piece lies within what is below it.
    beside = sections.flat(height_mm, DOWN).difference(feet).area > area / 2
    return height_mm if beside and 0 < feet.area < 0.9 * plate.area else None


def _circles(part: Part, height_mm: float) -> list[Circle]:
    """The stubs at half their height, from left to right."""
    feet = parts(part.sections.at(height_mm / 2))
    return sorted((circle_of(foot) for foot in feet), key=lambda one: (one.x_mm, one.y_mm))


def _read_by_stubs(
    part: Part, stubs: Sequence[Circle], lattice: Lattice, unit_mm: float
) -> Part | None:
    """Lays a part on the lattice so that its stubs are below the middles of cells.

    None when the stubs do not lie on the lattice, or the part reaches out of the cells above them.
    """
    middles = np.array([complex(stub.x_mm, stub.y_mm) for stub in stubs])
    # Neighbours are a grid unit apart.
    away = middles[1:] - middles[0]
    scale = away[np.abs(away).argmin()] if len(away) else complex(unit_mm)
    shift, cells = middles[0], list[Cell]()
    ((step_x, step_y),) = in_units(lattice, [(1, 1)])
    for _ in range(2):
        units = (middles - shift) / scale
        cells = [(round(one.real / step_x), round(one.imag / step_y)) for one in units.tolist()]
        if len(set(cells)) < len(cells) or not all(map(lattice.is_cell, cells)):
            return None
        places = np.array(in_units(lattice, cells)) @ [1, 1j]
        if np.abs(places - units).max() > _NEAR_UNITS:
            return None
        if len(cells) > 1:
            columns = np.column_stack([places, np.ones_like(places)])
            scale, shift = np.linalg.lstsq(columns, middles, rcond=None)[0]
    if len(parts_of_cells(lattice, set(cells))) > 1:
        return None
    unit_mm = abs(scale)
    # The lattice's turns are left to choose: a part lies alike however it lay in its file.
    move = least_turn(lattice, cells)
    turn = np.exp(2j * math.pi * move.turns / len(lattice.moves(False))) / (scale / unit_mm)
    vertices = moved(part.vertices, turn, -shift * turn)
    laid = replace(part, vertices=vertices, outline=None, score=1.0, second=None)
    turned = frozenset(map(move, cells))
    canonical = region_mm(lattice, turned, unit_mm)
    assert isinstance(canonical, Polygon)  # its cells hang together
    inset_mm = inside_mm(laid.shadow, canonical)
    if inset_mm < -_NEAR_UNITS * unit_mm:  # whatever this is, it does not stand on its cells
        return None
    own_mm, insets_mm = unit_mm if len(stubs) > 1 else None, (inset_mm, inset_mm)
    rings = rings_of_cells(lattice, turned)
    outline = Outline(turned, rings, unit_mm, own_mm, inset_mm, insets_mm, canonical)
    return replace(laid, outline=outline)


def stub_findings(one: OnStubs | None, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """What the rules say of a part's stubs; of None that there are none."""
    if one is None:
        message = "it stands on no stubs; without them it shifts on its board"
        yield Finding("stub-count", False, 0.0, None, "", message)
        return
    outline, stubs = one.plate.outline, one.stubs
    if outline is not None:
        centres = outline.unit_mm * np.array(in_units(lattice, sorted(outline.cells)))
        off = abs(len(stubs) - len(centres))
        what = f"cells without a stub, or stubs without a cell, among {len(stubs)} stubs"
        yield counted("stub-count", off, 0, what, _marks(stubs))
        there = shapely.MultiPoint([(stub.x_mm, stub.y_mm) for stub in stubs])
        off_mm = float(shapely.distance(shapely.points(centres), there).max())
        what = "how far a stub is off the middle of its cell"
        yield from judged("stub-place", off_mm, most=PLACE_MM, what=what)
    widths = [(stub.diameter_mm, _marks([stub])) for stub in stubs]
    what = "the diameter of the stub that is farthest off"
    yield from judged("stub-diameter", widths, *near(profile.stub_mm), what=what)
    limit = near(profile.stub_height_mm, 0.1)  # it has layers, too
    yield from judged("stub-height", one.height_mm, *limit)


def _marks(stubs: Sequence[Circle]) -> BaseGeometry:
    """Where stubs are, for a drawing."""
    places = shapely.points([(one.x_mm, one.y_mm) for one in stubs])
    return shapely.union_all(shapely.buffer(places, [one.diameter_mm / 2 for one in stubs]))
