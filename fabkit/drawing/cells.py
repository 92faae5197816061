"""Pieces on pegs: the shape of their cells, and the pegs below them.

Cells are hexagons, discs or stars. Discs and stars are joined by bars between neighbouring cells.
All of them stay within the hexagons' offset outline, so that the clearance between pieces does not
depend on the shape of the cells.

Each cell's peg enters a socket of the board; upside down, nothing holds the piece on the board. The
piece is printed lettered face down, with its pegs on top, and has no magnets: the pegs take their
place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shapely import LineString, Point, Polygon, union_all
from shapely.geometry.polygon import orient

from fabkit.core.units import format_mm
from fabkit.drawing.outline import (
    DrawingError,
    PointMm,
    canonical_outline,
    cut_tips,
    offset_outline,
    rings_mm,
)
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Form
from fabkit.model.puzzle import to_units
from fabkit.profiles.profile import Profile

#: Maximum distance of chords from the arc of a disc.
ARC_MM = 0.01
#: Minimum width of a bar and of a wall between two holes: two lines of a 0.4 mm nozzle.
MIN_WALL_MM = 0.8
#: Lengths that differ by less are equal.
_SAME_MM = 1e-6
#: Corners of a union that deviate less from its edges are removed.
_SMOOTH_MM = 1e-4


def cell_centres(lattice: Lattice, cells: Iterable[Cell], unit_mm: float) -> list[PointMm]:
    """Return the centres of cells, in the frame of a drawing.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> cell_centres(LATTICES["square"], [(3, -1), (1, -1)], 20)
        [(10.0, -10.0), (30.0, -10.0)]
    """
    by_row = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    return [(x * unit_mm, y * unit_mm) for x, y in to_units(lattice, by_row)]


def neighbours(centres: Iterable[PointMm], unit_mm: float) -> Iterator[tuple[PointMm, PointMm]]:
    """Yield the pairs of cells that are one grid unit apart.

    Example:
        >>> list(neighbours([(0.0, 0.0), (20.0, 0.0), (20.0, 20.0)], 20))
        [((0.0, 0.0), (20.0, 0.0)), ((20.0, 0.0), (20.0, 20.0))]
    """
    for first, second in itertools.combinations(centres, 2):
        if abs(math.dist(first, second) - unit_mm) < _SAME_MM * unit_mm:
            yield first, second


def cell_shape_outline(lattice: Lattice, form: Form, profile: Profile) -> Polygon:
    """Return the outline of a piece with pegs at mid-height, in mm, counter-clockwise.

    The diameter of a disc is a unit less twice the inset. A star is two overlapping triangles with
    six points towards the corners of the hexagon, cut to ``tip_flat``. Areas enclosed by bars are
    filled, unless they are holes of the piece. Arcs are chords within `ARC_MM`.

    Raises:
        DrawingError: when the inset removes an edge, when bars are too wide or too narrow, or when
            a star is too small for its flats.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> stars, profile = load_set("iqstars"), load_profile((), ["cell.shape=disc"])
        >>> [round(x, 3) for x in cell_shape_outline(stars.lattice, stars.piece("indigo").forms[0], profile).bounds]
        [-9.9, -9.9, 49.9, 9.9]
    """
    canonical = canonical_outline(lattice, form.rings, profile.unit_mm)
    hexagons = offset_outline(canonical, profile)
    if profile.cell_shape == "hexagon":
        return hexagons
    link_mm = _link_mm(profile)
    centres = cell_centres(lattice, form.cells, profile.unit_mm)
    corners = _disc(profile) if profile.cell_shape == "disc" else _star(lattice, profile)
    cells = [Polygon([(x + dx, y + dy) for dx, dy in corners]) for x, y in centres]
    bars = [
        LineString(pair).buffer(link_mm / 2, cap_style="flat")
        for pair in neighbours(centres, profile.unit_mm)
    ]
    joined = union_all([*cells, *bars])
    interiors = union_all([Polygon(ring) for ring in canonical.interiors])
    holes = [ring for ring in joined.interiors if interiors.intersects(Polygon(ring))]
    return orient(Polygon(joined.exterior, holes).simplify(_SMOOTH_MM))


def _disc(profile: Profile) -> list[PointMm]:
    """Return a disc around the origin, with a corner towards each neighbour."""
    radius_mm = profile.unit_mm / 2 - profile.inset_mm
    sixth = math.ceil(math.pi / math.acos(1 - ARC_MM / radius_mm) / 6)
    steps = range(6 * sixth)
    return [_polar(radius_mm, math.tau * step / len(steps)) for step in steps]


def _star(lattice: Lattice, profile: Profile) -> list[PointMm]:
    """Return a six-pointed star around the origin, its points in the corners of the inset hexagon."""
    ring = lattice.ring(lattice.first[0])
    hexagon = offset_outline(canonical_outline(lattice, [ring], profile.unit_mm), profile)
    star = []
    for x, y in rings_mm(hexagon)[0]:
        # Lines across, from each corner to the next but one, meet at 1/sqrt(3) of its radius.
        notch_mm = math.hypot(x, y) / math.sqrt(3)
        star += [(x, y), _polar(notch_mm, math.atan2(y, x) + math.pi / 6)]
    return list(cut_tips(tuple(star), profile.tip_flat_mm))


def _link_mm(profile: Profile) -> float:
    """Return the width of the bars, which must pass between the cells on either side."""
    link_mm = profile.cell_link_mm
    # The insets of the adjacent sides shorten the edge between two hexagons at both ends.
    edge_mm = (profile.unit_mm - 4 * profile.inset_mm) / math.sqrt(3)
    if not MIN_WALL_MM <= link_mm <= edge_mm:
        raise DrawingError(
            f"cell.link is {format_mm(link_mm)}; expected {format_mm(MIN_WALL_MM)} to "
            f"{format_mm(math.floor(edge_mm * 1000) / 1000)}, the edge of a hexagon; choose another "
            "cell.link or a larger unit"
        )
    return link_mm


def _polar(radius_mm: float, angle: float) -> PointMm:
    return radius_mm * math.cos(angle), radius_mm * math.sin(angle)


#: Minimum height of a peg in layers, so that one can see which way up a piece is.
MIN_PEG_LAYERS = 2


@dataclass(frozen=True)
class Peg:
    """One peg, from the bottom of a drawing at height 0 up to the back of the piece.

    Attributes:
        centre_mm: of its circle, in the frame of the outline.
        height_mm: from its end to the back.
        lead_in_mm: width of the 45-degree chamfer around its end.
    """

    centre_mm: PointMm
    diameter_mm: float
    height_mm: float
    lead_in_mm: float


def place_pegs(lattice: Lattice, form: Form, foot: Polygon, profile: Profile) -> tuple[Peg, ...]:
    """Place a peg below the centre of each cell, by row from below and then from the left.

    Their ends have the foot chamfer, at most a quarter of the peg's height or width.

    Raises:
        DrawingError: when a peg is wider than the back of its cell, too low to be seen, or higher
            than wide.
    """
    diameter_mm, height_mm = profile.peg_mm, profile.peg_height_mm
    min_mm = MIN_PEG_LAYERS * profile.layer_mm
    if not min_mm <= height_mm <= diameter_mm:
        raise DrawingError(
            f"peg.height is {format_mm(height_mm)}; expected {format_mm(min_mm)} ({MIN_PEG_LAYERS} "
            f"layers) to {format_mm(diameter_mm)} (the peg's diameter), or 0 mm for pieces without pegs"
        )
    centres = cell_centres(lattice, form.cells, profile.unit_mm)
    bears_mm = 2 * min(foot.boundary.distance(Point(centre)) for centre in centres)
    max_mm = math.floor(bears_mm * 1000 + 1e-6) / 1000
    if diameter_mm > max_mm:
        raise DrawingError(
            f"peg.diameter {format_mm(diameter_mm)} is too large: the back of a cell has room for "
            f"{format_mm(max_mm)}; choose a smaller peg.diameter, a larger unit or another cell.shape"
        )
    lead_in_mm = min(profile.foot_chamfer_mm, diameter_mm / 4, height_mm / 4)
    return tuple(Peg(centre, diameter_mm, height_mm, lead_in_mm) for centre in centres)
