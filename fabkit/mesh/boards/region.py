"""A board's region in millimetres: its edges, and how a tray's opening lies around it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import region_mm
from fabkit.mesh.boards.probing import material_along
from fabkit.mesh.body import Points
from fabkit.model.lattice import Lattice
from fabkit.model.puzzle import Board

#: Near a corner an edge is not measured: so many mm, or this part of a short edge.
_END_MM, _END_SHARE = 3.0, 0.3
#: Edges are measured this often, in mm.
_EVERY_MM = 1.0
#: A wall stands this near (mm) to the region; what is farther is a notch.
REACH_MM = 3.2
#: An opening is that of a region when they differ by less than this part of the region.
_ALIKE = 0.15
#: Gaps that are off by more than this (mm) from the others are not used to lay the region.
_OFF_MM = 0.15


@dataclass(frozen=True, eq=False)
class Stops:
    """Points along the edges of a region.

    Attributes:
        points: shape (n, 2).
        outwards: the unit vectors out of the region, shape (n, 2).
        edges: the number of the edge that each lies on, shape (n,).
    """

    points: Points
    outwards: Points
    edges: Points


def stops(region: BaseGeometry) -> Stops:
    """Points about every millimetre along the edges of a region, but for the ends of edges."""
    points, outwards, edges = [], [], []
    numbers = itertools.count()
    for part in shapely.get_parts(shapely.orient_polygons(region)):
        for ring in (part.exterior, *part.interiors):
            corners = shapely.get_coordinates(ring)
            for start, end in itertools.pairwise(corners):
                length = float(np.linalg.norm(end - start))
                zone = min(_END_MM, _END_SHARE * length)
                count = max(2, round((length - 2 * zone) / _EVERY_MM) + 1)
                along = (end - start) / length
                places = np.linspace(zone, length - zone, count)
                points.append(start + places[:, None] * along)
                # Material of the region lies to the left of its rings.
                outwards.append(np.tile([along[1], -along[0]], (count, 1)))
                edges.append(np.full(count, next(numbers)))
    return Stops(np.concatenate(points), np.concatenate(outwards), np.concatenate(edges))


def gaps(section: BaseGeometry, region: BaseGeometry, along: Stops) -> Points:
    """How far it is from each stop to a wall, straight out of the region.

    Args:
        section: of a board.
        region: its region.
        along: its stops.

    Returns:
        Shape (n,); negative where a wall stands inside the region, infinite where none is near.
    """
    spans = material_along(
        section, along.points - REACH_MM * along.outwards, along.outwards, 2 * REACH_MM
    )
    return np.array([some[0][0] - REACH_MM if some else np.inf for some in spans])


@dataclass(frozen=True, eq=False)
class Opening:
    """How a tray's floor lies around a region.

    Attributes:
        board: whose region it is.
        unit_mm: the grid unit with which it fits.
        quarter_turns: by which the tray is turned about the origin, counter-clockwise, …
        shift_mm: … and then moved, so that it lies where the lattice's frame has it.
        unlike: the part of the region in which floor and region differ.
    """

    board: Board
    unit_mm: float
    quarter_turns: int
    shift_mm: tuple[float, float]
    unlike: float


def match_opening(
    floor: BaseGeometry, lattice: Lattice, boards: Sequence[Board], units_mm: Sequence[float]
) -> list[Opening]:
    """The ways in which a floor is that of a board, all nearly as good as the best.

    Args:
        floor: of a tray that lies straight, turned by any number of quarter turns.
        lattice: the set's.
        boards: the set's.
        units_mm: what the grid unit may be.

    Returns:
        The ways of one board and unit; empty when there is none.
    """
    found = []
    for board, unit_mm in itertools.product(boards, dict.fromkeys(units_mm)):
        region = region_mm(lattice, board.cells, unit_mm)
        for quarter_turns in range(4):
            turned = affinity.rotate(floor, 90 * quarter_turns, origin=(0, 0))
            unlike, shift = _best_shift(turned, region)
            if unlike < _ALIKE:
                found.append(Opening(board, unit_mm, quarter_turns, shift, unlike))
    if not found:
        return []
    best = min(found, key=lambda one: one.unlike)
    return [
        one
        for one in found
        if (one.board, one.unit_mm) == (best.board, best.unit_mm)
        and one.unlike < best.unlike + _ALIKE / 5
    ]


def _best_shift(floor: BaseGeometry, region: Polygon) -> tuple[float, tuple[float, float]]:
    """The shift of a floor with which it is most alike to a region, and how unlike they are.

    A notch may reach to the floor on one side, so one of two opposite sides is laid on the
    region's, or the middle between them.
    """
    (x0, y0, x1, y1), (u0, v0, u1, v1) = region.bounds, floor.bounds
    best = np.inf, (0.0, 0.0)
    if max(abs((u1 - u0) - (x1 - x0)), abs((v1 - v0) - (y1 - y0))) > 0.5 * max(x1 - x0, y1 - y0):
        return best
    for dx in ((x0 + x1 - u0 - u1) / 2, x0 - u0, x1 - u1):
        for dy in ((y0 + y1 - v0 - v1) / 2, y0 - v0, y1 - v1):
            moved = affinity.translate(floor, dx, dy)
            unlike = moved.symmetric_difference(region).area / region.area
            if unlike < best[0] - 1e-9:
                best = unlike, (dx, dy)
    return best


def settled(section: BaseGeometry, region: Polygon) -> tuple[float, float]:
    """The shift of a section with which the walls around a region are evenly away from it.

    Args:
        section: of a board that lies within a few millimetres of where it should.
        region: its region.
    """
    along, total = stops(region), np.zeros(2)
    for _ in range(3):
        away = gaps(affinity.translate(section, *total), region, along)
        near = np.isfinite(away)
        if near.sum() < 3:
            break
        for _ in range(4):
            columns = np.column_stack([np.ones(near.sum()), along.outwards[near]])
            gap, *shift = np.linalg.lstsq(columns, away[near], rcond=None)[0]
            off = np.abs(away - gap - along.outwards @ np.array(shift))
            if (off[near] <= _OFF_MM).all() or (off <= _OFF_MM).sum() < len(off) / 4:
                break
            near = off <= _OFF_MM
        total -= np.array(shift)
        if np.abs(shift).max() < 1e-7:
            break
    return float(total[0]), float(total[1])
