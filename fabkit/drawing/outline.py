"""Outlines in mm: the canonical one, the offset one to print (inset, acute tips cut to a flat), chamfers
and regions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce

from shapely import Polygon, make_valid, symmetric_difference
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.core.units import format_mm
from fabkit.model.lattice import Cell, Lattice, Ring
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import rings_to_units
from fabkit.profiles.profile import Profile

PointMm = tuple[float, float]
RingMm = tuple[PointMm, ...]

#: The grid on which nearly equal areas are compared: of polygons whose corners differ by 1e-17, GEOS
#: 3.14 finds that they do not overlap at all.
SNAP_MM = 1e-6
#: Mitres at the sharpest notch of a lattice (45 degrees) reach 2.6 insets out.
_MITRE_LIMIT = 10
#: Share of an edge that a chamfer must leave. The kernel builds slivers; a printer does not.
_EDGE_LEFT = 0.01
#: Share of an edge that cutting one tip may take; there may be a tip at its other end.
_MAX_CUT = 1 / 2.2


class DrawingError(ValueError):
    """A drawing that is impossible with this profile; the message says why and what to do."""


def canonical_outline(lattice: Lattice, rings: Sequence[Ring], unit_mm: float) -> Polygon:
    """Return the outline as drawn, in mm, counter-clockwise; holes are its interiors.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> canonical_outline(LATTICES["square"], [((0, 0), (4, 0), (4, 2), (0, 2))], 20).bounds
        (0.0, 0.0, 40.0, 20.0)
    """
    unit_rings = rings_to_units(lattice, rings)
    scaled = [[(x * unit_mm, y * unit_mm) for x, y in ring] for ring in unit_rings]
    outer = max(scaled, key=lambda ring: Polygon(ring).area)
    return orient(Polygon(outer, [ring for ring in scaled if ring is not outer]))


def offset_outline(canonical: Polygon, profile: Profile) -> Polygon:
    """Return the outline to print, at mid-height: inset, with acute tips cut to a flat.

    Raises:
        DrawingError: when the inset removes an edge, or a tip is too short for its flat.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> square = Polygon([(0, 0), (20, 0), (20, 20), (0, 20)])
        >>> offset_outline(square, load_profile()).bounds
        (0.1, 0.1, 19.9, 19.9)
    """
    inset = mitre_offset(canonical, -profile.inset_mm)
    if inset.geom_type != "Polygon" or _corners(inset) != _corners(canonical):
        raise DrawingError(
            f"an inset of {format_mm(profile.inset_mm)} removes an edge; choose a smaller inset "
            "or a larger unit"
        )
    rings = [cut_tips(ring, profile.tip_flat_mm) for ring in rings_mm(orient(inset))]
    return Polygon(rings[0], rings[1:])


def mitre_offset(area: BaseGeometry, distance_mm: float) -> BaseGeometry:
    """Offset an area outwards (inwards if negative), keeping its corners sharp."""
    return area.buffer(distance_mm, join_style="mitre", mitre_limit=_MITRE_LIMIT)


def rings_mm(polygon: Polygon) -> list[RingMm]:
    """Return a polygon's rings without the repeated last corner, the outer one first."""
    rings = [polygon.exterior, *polygon.interiors]
    return [tuple((x, y) for x, y in ring.coords[:-1]) for ring in rings]


def inset_ring(ring: RingMm, distance_mm: float) -> RingMm:
    """Move a ring inwards with mitred corners, corner by corner.

    The material is on the left. Unlike shapely's buffer, this keeps the number and order of corners,
    which the sides of a chamfer need.

    Example:
        >>> inset_ring(((0, 0), (4, 0), (4, 4), (0, 4)), 1.0)
        ((1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 3.0))
    """
    moved = []
    for before, here, after in corner_triples(ring):
        (ax, ay), (bx, by) = _normal(before, here), _normal(here, after)
        # A corner moves along the sum of both normals to stay on both moved edges.
        reach = distance_mm / (1 + ax * bx + ay * by)
        moved.append((here[0] + reach * (ax + bx), here[1] + reach * (ay + by)))
    return tuple(moved)


def inset_outline(outline: Polygon, distance_mm: float) -> Polygon:
    """Move an outline inwards (outwards if negative), with sharp corners at any angle."""
    outer, *holes = (inset_ring(ring, distance_mm) for ring in rings_mm(outline))
    return Polygon(outer, holes)


def largest_chamfer_mm(outline: Polygon) -> tuple[float, float]:
    """Return the largest chamfer around an outline, and the length of the edge that limits it.

    A chamfer of width c shortens an edge by c * (cot(a/2) + cot(b/2)), for the angles a and b
    at its ends. For the flat of a 45-degree tip (two angles of 112.5 degrees) that is 1.336 c:
    the kernel's own chamfer fails beyond 0.748 of the flat, this one is refused from 0.741 on.

    Returns:
        Chamfer and edge, both in mm.

    Example:
        >>> square = Polygon([(0, 0), (20, 0), (20, 20), (0, 20)])
        >>> [round(value, 6) for value in largest_chamfer_mm(square)]
        [9.9, 20.0]
    """
    limits = []
    for ring in rings_mm(outline):
        shrink = [1 / math.tan(angle(*triple) / 2) for triple in corner_triples(ring)]
        for i, (start, end) in enumerate(zip(ring, (*ring[1:], ring[0]), strict=True)):
            rate = shrink[i] + shrink[(i + 1) % len(ring)]
            if rate > 0:
                length = math.dist(start, end)
                limits.append((length * (1 - _EDGE_LEFT) / rate, length))
    return min(limits)


def chamfer_outline(outline: Polygon, chamfer_mm: float) -> Polygon:
    """Return the outline at the end of a 45-degree chamfer.

    Raises:
        DrawingError: when the chamfer removes an edge or a neck of the piece.
    """
    if not chamfer_mm:
        return outline
    inner = inset_outline(outline, chamfer_mm)
    largest_mm, _ = largest_chamfer_mm(outline)
    if chamfer_mm > largest_mm or not inner.is_valid:
        raise DrawingError(f"a chamfer of {format_mm(chamfer_mm)} removes a neck of the piece")
    return inner


def cut_tips(ring: RingMm, flat_mm: float) -> RingMm:
    """Replace each acute corner of a ring, material on its left, by a flat across it.

    Raises:
        DrawingError: when a flat takes too much of an edge.

    Example:
        >>> tip = ((0, 0), (8, 0), (0, 8))
        >>> [(round(x, 3), round(y, 3)) for x, y in cut_tips(tip, 1.0)]
        [(0, 0), (6.693, 0.0), (7.076, 0.924), (0.924, 7.076), (0.0, 6.693)]
    """
    cut: list[PointMm] = []
    for before, here, after in corner_triples(ring):
        sharp = angle(before, here, after)
        if sharp > math.pi / 2 - 1e-6:
            cut.append(here)
            continue
        back_mm = flat_mm / 2 / math.sin(sharp / 2)
        edge_mm = min(math.dist(before, here), math.dist(here, after))
        if back_mm > _MAX_CUT * edge_mm:
            raise DrawingError(
                f"a tip flat of {format_mm(flat_mm)} cuts {format_mm(back_mm)} off an edge of "
                f"{format_mm(edge_mm)}, and the limit is {format_mm(_MAX_CUT * edge_mm)}; choose a "
                "smaller tip_flat or a larger unit"
            )
        for other in (before, after):
            share = back_mm / math.dist(here, other)
            x = here[0] + share * (other[0] - here[0])
            y = here[1] + share * (other[1] - here[1])
            cut.append((x, y))
    return tuple(cut)


def _corners(polygon: Polygon) -> list[int]:
    return sorted(len(ring) for ring in rings_mm(polygon))


def corner_triples(ring: RingMm) -> zip[tuple[PointMm, PointMm, PointMm]]:
    """Iterate over the corners, each between its neighbours."""
    return zip((ring[-1], *ring[:-1]), ring, (*ring[1:], ring[0]), strict=True)


def angle(before: PointMm, here: PointMm, after: PointMm) -> float:
    """Return the angle on the material's side (left), in 0..2 pi."""
    ax, ay = after[0] - here[0], after[1] - here[1]
    bx, by = before[0] - here[0], before[1] - here[1]
    return math.atan2(ax * by - ay * bx, ax * bx + ay * by) % (2 * math.pi)


def corner_angles(area: BaseGeometry) -> list[tuple[PointMm, float]]:
    """Return the corners of an area, each with its `angle`."""
    rings = [ring for polygon in polygons(area) for ring in rings_mm(orient(polygon))]
    triples = [triple for ring in rings for triple in corner_triples(ring)]
    return [(corner, angle(before, corner, after)) for before, corner, after in triples]


def _normal(start: PointMm, end: PointMm) -> PointMm:
    """Return the unit vector to the left of an edge."""
    length = math.dist(start, end)
    return (start[1] - end[1]) / length, (end[0] - start[0]) / length


def region_mm(lattice: Lattice, cells: Iterable[Cell], unit_mm: float) -> BaseGeometry:
    """Return the area that cells cover, in mm, in the frame of the lattice.

    Returns:
        A polygon with its holes; several if the region falls into parts that share no edge.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> block = load_set("iqblock")
        >>> region_mm(block.lattice, block.boards[0].cells, 20.0).bounds
        (0.0, -160.0, 160.0, 0.0)
    """
    rings = rings_to_units(lattice, rings_of_cells(lattice, cells))
    # A ring around cells that meet in a point touches itself there.
    areas = [make_valid(Polygon([(x * unit_mm, y * unit_mm) for x, y in ring])) for ring in rings]
    # Even-odd rule: a hole is not part of the region, an island in it is.
    return reduce(symmetric_difference, areas, Polygon())


def polygons(area: BaseGeometry) -> list[Polygon]:
    """Return the separate polygons of an area, from left to right.

    Example:
        >>> from shapely import box
        >>> [polygon.area for polygon in polygons(box(3, 0, 5, 1) | box(0, 0, 1, 1))]
        [1.0, 2.0]
    """
    parts = [part for part in getattr(area, "geoms", [area]) if part.area > 0]
    return sorted(parts, key=lambda part: part.bounds)
