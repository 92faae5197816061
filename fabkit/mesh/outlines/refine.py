"""What was read back from a body, its lie and insets measured on its edges by least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from shapely import Polygon

from fabkit.mesh.body import Points
from fabkit.mesh.outlines.cornerfit import CORNER_NEAR, least_squares
from fabkit.mesh.outlines.edges import LongEdges, long_edges
from fabkit.mesh.upright import Upright
from fabkit.model.lattice import Cell, Lattice, Ring
from fabkit.model.puzzle import in_units

#: Bodies of different sizes tell a unit together: by how much their insets grow with it, in grid
#: units, differs by more than this.
_SIZES_DIFFER = 0.05


@dataclass(frozen=True, eq=False)
class Lie:
    """How a body lies on the lattice.

    Attributes:
        unit: the length of a grid unit, in the file's lengths.
        turn: radians, by which the lattice is turned.
        origin: where the lattice's origin is in the turned frame, in the file's lengths.
    """

    unit: float
    turn: float
    origin: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read back from one body. Lengths are those of the file.

    Attributes:
        upright: the body.
        lie: how it lies on the lattice.
        cells: the cells that it fills.
        rings: their outline, in frame points.
        own_unit: the grid unit that this body shows on its own; None where its shape does not
            tell (a square's width may come from the unit or from the clearance).
        inset: by how much its edges lie inside the outline, on average.
        edge_insets: the same for each edge, least and greatest.
        outline: what was seen, on the lattice's frame.
        canonical: the outline as read, at the same place.
    """

    upright: Upright
    lie: Lie
    cells: frozenset[Cell]
    rings: tuple[Ring, ...]
    own_unit: float | None
    inset: float
    edge_insets: tuple[float, float]
    outline: Polygon
    canonical: Polygon

    @property
    def hausdorff(self) -> float:
        """The greatest distance between the outline as seen and as read."""
        return float(self.outline.hausdorff_distance(self.canonical))

    @property
    def area_off(self) -> float:
        """By which part the area as seen differs from the area as read."""
        return float(self.outline.area / self.canonical.area - 1)


def refined(reading: Reading, lattice: Lattice, unit: float | None) -> Reading:
    """The reading with its lie and insets measured on its edges, by least squares.

    Each long edge lies its inset inside a line of the outline: n . (origin + unit * k) - inset,
    with the outward normal n and the line's exact place k in grid units.

    Args:
        reading: with the right cells.
        lattice: the lattice.
        unit: the set's grid unit; None leaves it to this body's edges.
    """
    edges = long_edges(reading.outline, lattice)
    match = _matched(edges, reading, lattice)
    normals, places, offsets = match.normals, match.places, match.offsets
    weights = np.sqrt(match.lengths)
    columns = [normals[:, 0], normals[:, 1], -np.ones(len(offsets))]
    own = least_squares([*columns, places], offsets, weights)
    scale = unit or (float(own[3]) if own is not None else reading.lie.unit)
    rest = least_squares(columns, offsets - scale * places, weights)
    if rest is None:  # the edges do not even tell where it lies
        return reading
    origin = float(rest[0]), float(rest[1])
    insets = normals @ rest[:2] + scale * places - offsets
    rings = [
        [(scale * x + origin[0], scale * y + origin[1]) for x, y in in_units(lattice, ring)]
        for ring in reading.rings
    ]
    outer = max(rings, key=lambda ring: Polygon(ring).area)
    return Reading(
        reading.upright,
        Lie(scale, reading.lie.turn, origin),
        reading.cells,
        reading.rings,
        float(own[3]) if own is not None else None,
        float(rest[2]),
        (float(insets.min()), float(insets.max())),
        reading.outline,
        Polygon(outer, [ring for ring in rings if ring is not outer]),
    )


@dataclass(frozen=True)
class _Matched:
    """Long edges, each with the line of the outline that it belongs to."""

    normals: Points
    places: NDArray[np.float64]
    offsets: NDArray[np.float64]
    lengths: NDArray[np.float64]


def _matched(edges: LongEdges, reading: Reading, lattice: Lattice) -> _Matched:
    lie = reading.lie
    lines = []
    for ring in reading.rings:
        points = np.array(in_units(lattice, ring))
        along = np.roll(points, -1, axis=0) - points
        normal = (
            np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
        )
        middle = (points + np.roll(points, -1, axis=0)) / 2
        half = np.linalg.norm(along, axis=1) / 2
        lines += list(zip(normal, (points * normal).sum(axis=1), middle, half, strict=True))
    normals, offsets, lengths = edges.normals, edges.offsets, edges.lengths
    middles = (edges.starts + edges.ends) / 2
    kept, places = [], []
    for i in range(len(offsets)):
        near = []
        for normal, place, middle, half in lines:
            if normal @ normals[i] < math.cos(math.radians(3)):
                continue
            away = middles[i] - (middle * lie.unit + np.array(lie.origin))
            if abs(away @ (-normal[1], normal[0])) < half * lie.unit:
                near.append((abs(away @ normal) / lie.unit, place))
        if near and min(near)[0] < CORNER_NEAR:
            kept.append(i)
            places.append(min(near)[1])
    return _Matched(normals[kept], np.array(places), offsets[kept], lengths[kept])


def unit_of_equal_insets(readings: Sequence[Reading], lattice: Lattice) -> float | None:
    """The unit with which bodies that do not tell it on their own have one inset.

    Returns:
        It; None when there is none, as for bodies of one size.
    """
    if not readings:
        return None
    unit = readings[0].lie.unit
    here, there = (
        np.array([refined(one, lattice, size).inset for one in readings])
        for size in (unit, 2 * unit)
    )
    slopes = (there - here) / unit
    spread = slopes - slopes.mean()
    if np.abs(spread).max() < _SIZES_DIFFER:
        return None
    return float(unit - (spread @ (here - here.mean())) / (spread @ spread))
