"""Pieces on pegs: separating the plate from the pegs below it, and rules on the pegs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.features import FittedCircle, fit_circle
from fabkit.mesh.finding import Finding, check_limits, count_finding
from fabkit.mesh.identity import PeggedPart
from fabkit.mesh.manifold import trim_mesh
from fabkit.mesh.mesh import moved
from fabkit.mesh.part import Outline, Part, inside_mm
from fabkit.mesh.rules.outline import near
from fabkit.mesh.section import DOWN, filled, polygons_by_size
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import canonical_turn
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.puzzle import to_units
from fabkit.profiles.profile import Profile

#: A peg is on a lattice point if it is closer to it than this part of a grid unit.
_NEAR_UNITS = 0.1
#: Tolerance of a peg's place: half of the clearance of a socket.
PLACE_MM = 0.1


def on_pegs(part: Part, lattice: Lattice, unit_mm: float) -> PeggedPart | None:
    """Separate the pegs of a part from its plate; None if it has no pegs or bounds no volume.

    Discs and stars are fitted by their pegs alone. Pieces that fill their hexagons, and those without
    pegs, are fitted by their outline, which is more informative.

    Its position is that of `fabkit.mesh.lattice_fit.FlatFitter`; if its outline leaves it
    open, its pegs decide. A single peg does not determine the grid unit.
    """
    height_mm = _back_mm(part)
    if height_mm is None:
        part = part.turned_over()
        height_mm = _back_mm(part)
    if height_mm is None or not part.aligned.is_solid:  # an open mesh, which other rules report
        return None
    if part.outline is None or part.area_off <= -0.05:  # else it fills its cells
        part = _read_by_pegs(part, _circles(part, height_mm), lattice, unit_mm) or part
    plate = trim_mesh(part.aligned, height_mm)
    plate_part = replace(part, mesh=plate, vertices=plate.vertices)
    return PeggedPart(part, plate_part, tuple(_circles(part, height_mm)), height_mm)


def _back_mm(part: Part) -> float | None:
    """The height of the back, the largest flat that faces down, if pegs are below it.

    Pegs are lower than 0.6 of the whole, and cover less than 0.9 of it (round ones below hexagons
    0.84).
    """
    sections = part.sections
    flats = [
        (area, height)
        for (height, facing), area in sections.flats().items()
        if facing == DOWN and height > sections.scatter_mm
    ]
    area, height_mm = max(flats, default=(0, 0))
    if not 0 < height_mm < 0.6 * part.thickness_mm:
        return None
    feet, plate = (filled(sections.at(share * height_mm)) for share in (0.5, 1.5))
    # The end of a pocket in the back of a rounded piece is inside the area below it.
    beside = sections.flat(height_mm, DOWN).difference(feet).area > area / 2
    return height_mm if beside and 0 < feet.area < 0.9 * plate.area else None


def _circles(part: Part, height_mm: float) -> list[FittedCircle]:
    """The pegs at half their height, from left to right."""
    feet = polygons_by_size(part.sections.at(height_mm / 2))
    return sorted(map(fit_circle, feet), key=lambda circle: (circle.x_mm, circle.y_mm))


def _read_by_pegs(
    part: Part, pegs: Sequence[FittedCircle], lattice: Lattice, unit_mm: float
) -> Part | None:
    """Place a part on the lattice so that its pegs are below the middles of cells.

    None if the pegs are not on the lattice, or the part extends beyond the cells above them.
    """
    middles = np.array([complex(peg.x_mm, peg.y_mm) for peg in pegs])
    # Neighbours are a grid unit apart.
    away = middles[1:] - middles[0]
    scale = away[np.abs(away).argmin()] if len(away) else complex(unit_mm)
    shift = middles[0]
    cells: list[Cell] = []
    ((step_x, step_y),) = to_units(lattice, [(1, 1)])
    for _ in range(2):
        units = (middles - shift) / scale
        cells = [(round(step.real / step_x), round(step.imag / step_y)) for step in units.tolist()]
        if len(set(cells)) < len(cells) or not all(map(lattice.is_cell, cells)):
            return None
        places = np.array(to_units(lattice, cells)) @ [1, 1j]
        if np.abs(places - units).max() > _NEAR_UNITS:
            return None
        if len(cells) > 1:
            columns = np.column_stack([places, np.ones_like(places)])
            scale, shift = map(complex, np.linalg.lstsq(columns, middles, rcond=None)[0])
    if len(parts_of_cells(lattice, set(cells))) > 1:
        return None
    unit_mm = abs(scale)
    # The rotation of the lattice is free; choose it so that it does not depend on the file.
    move = canonical_turn(lattice, cells)
    turn = np.exp(2j * math.pi * move.turns / len(lattice.moves(False))) / (scale / unit_mm)
    vertices = moved(part.vertices, turn, -shift * turn)
    placed = replace(part, vertices=vertices, outline=None, score=1.0, runner_up=None)
    turned = frozenset(map(move, cells))
    canonical = region_mm(lattice, turned, unit_mm)
    assert isinstance(canonical, Polygon)  # its cells are connected
    inset_mm = inside_mm(placed.silhouette, canonical)
    if inset_mm < -_NEAR_UNITS * unit_mm:  # it does not rest on its cells
        return None
    own_mm = unit_mm if len(pegs) > 1 else None
    rings = rings_of_cells(lattice, turned)
    outline = Outline(turned, rings, unit_mm, own_mm, inset_mm, (inset_mm, inset_mm), canonical)
    return replace(placed, outline=outline)


def peg_findings(part: PeggedPart | None, lattice: Lattice, profile: Profile) -> Iterator[Finding]:
    """Findings on a part's pegs; for None, that there are none."""
    if part is None:
        message = "it has no pegs; without them it slips on its board"
        yield Finding("peg-count", False, 0.0, None, "", message)
        return
    outline, pegs = part.plate.outline, part.pegs
    if outline is not None:
        centres = outline.unit_mm * np.array(to_units(lattice, sorted(outline.cells)))
        off = abs(len(pegs) - len(centres))
        what = f"cells without a peg or pegs without a cell ({len(pegs)} pegs)"
        yield count_finding("peg-count", off, 0, what, _marks(pegs))
        peg_centres = shapely.MultiPoint([(peg.x_mm, peg.y_mm) for peg in pegs])
        off_mm = float(shapely.distance(shapely.points(centres), peg_centres).max())
        what = "the distance of the worst peg from the middle of its cell"
        yield from check_limits("peg-place", off_mm, maximum=PLACE_MM, what=what)
    widths = [(peg.diameter_mm, _marks([peg])) for peg in pegs]
    what = "the diameter of the worst peg"
    yield from check_limits("peg-diameter", widths, *near(profile.peg_mm), what=what)
    limit = near(profile.peg_height_mm, 0.1)  # it has layers, too
    yield from check_limits("peg-height", part.height_mm, *limit)


def _marks(pegs: Sequence[FittedCircle]) -> BaseGeometry:
    """The areas of pegs, for a drawing."""
    places = shapely.points([(peg.x_mm, peg.y_mm) for peg in pegs])
    return shapely.union_all(shapely.buffer(places, [peg.diameter_mm / 2 for peg in pegs]))
