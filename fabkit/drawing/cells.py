"""Pieces on stubs: what their cells look like from above, and the round feet below them.

Cells are hexagons, discs or stars. Discs and stars are joined by bars from cell to neighbouring
cell. All of them lie within the hexagons' printed outline, so that pieces keep the same clearance
whatever their cells look like.

Each cell's stub enters a seat of the board; upside down the piece stands on the board's plate
with nothing to hold it. Such a piece is printed lettered face down, with its stubs on top, and
holds no magnets: where those would be there are stubs.
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
    BlueprintError,
    PointMm,
    canonical_outline,
    cut_tips,
    printed_outline,
    rings_mm,
)
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Form
from fabkit.model.profile import Profile
from fabkit.model.puzzle import in_units

#: Chords lie at most this far inside the arc of a disc.
ARC_MM = 0.01
#: A bar, and any wall that is left between two bores: two lines of a 0.4 mm nozzle.
LEAST_WALL_MM = 0.8
#: Lengths that differ by less are one.
_SAME_MM = 1e-6
#: Corners of a union that stand off its edges by less are none.
_SMOOTH_MM = 1e-4


def cell_centres(lattice: Lattice, cells: Iterable[Cell], unit_mm: float) -> list[PointMm]:
    """Where the middles of cells lie, in the frame of a drawing.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> cell_centres(LATTICES["square"], [(3, -1), (1, -1)], 20)
        [(10.0, -10.0), (30.0, -10.0)]
    """
    by_row = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    return [(x * unit_mm, y * unit_mm) for x, y in in_units(lattice, by_row)]


def neighbours(centres: Iterable[PointMm], unit_mm: float) -> Iterator[tuple[PointMm, PointMm]]:
    """The pairs of cells that lie one grid unit apart.

    Example:
        >>> list(neighbours([(0.0, 0.0), (20.0, 0.0), (20.0, 20.0)], 20))
        [((0.0, 0.0), (20.0, 0.0)), ((20.0, 0.0), (20.0, 20.0))]
    """
    for one, other in itertools.combinations(centres, 2):
        if abs(math.dist(one, other) - unit_mm) < _SAME_MM * unit_mm:
            yield one, other


def celled_outline(lattice: Lattice, form: Form, profile: Profile) -> Polygon:
    """The printed outline of a piece with stubs at mid-height.

    A disc is a unit less twice the inset across. A star has six points towards the corners of the
    hexagon; it is two triangles across each other, its points cut to ``tip_flat``. What bars
    close in is filled, unless it is a hole of the piece.

    It is in mm, counter-clockwise; arcs are chords within `ARC_MM`.

    Raises:
        BlueprintError: when the inset swallows an edge, when bars are too wide or too narrow, or
            when a star is too small for its flats.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> stars, profile = load_set("iqstars"), load_profile((), ["cell.shape=disc"])
        >>> [round(x, 3) for x in celled_outline(stars.lattice, stars.piece("indigo").forms[0], profile).bounds]
        [-9.9, -9.9, 49.9, 9.9]
    """
    canonical = canonical_outline(lattice, form.rings, profile.unit_mm)
    hexagons = printed_outline(canonical, profile)
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
    drawn = union_all([Polygon(ring) for ring in canonical.interiors])
    holes = [ring for ring in joined.interiors if drawn.intersects(Polygon(ring))]
    return orient(Polygon(joined.exterior, holes).simplify(_SMOOTH_MM))


def _disc(profile: Profile) -> list[PointMm]:
    """A disc around the origin, with a corner wherever a neighbour's disc comes near."""
    radius_mm = profile.unit_mm / 2 - profile.inset_mm
    sixth = math.ceil(math.pi / math.acos(1 - ARC_MM / radius_mm) / 6)
    steps = range(6 * sixth)
    return [_polar(radius_mm, math.tau * step / len(steps)) for step in steps]


def _star(lattice: Lattice, profile: Profile) -> list[PointMm]:
    """A six-pointed star around the origin, its points in the corners of the inset hexagon."""
    ring = lattice.ring(lattice.first[0])
    hexagon = printed_outline(canonical_outline(lattice, [ring], profile.unit_mm), profile)
    star = []
    for x, y in rings_mm(hexagon)[0]:
        # Lines across, from each corner to the next but one, meet at 1/sqrt(3) of its radius.
        turn, radius_mm = math.atan2(y, x), math.hypot(x, y)
        star += [(x, y), _polar(radius_mm / math.sqrt(3), turn + math.pi / 6)]
    return list(cut_tips(tuple(star), profile.tip_flat_mm))


def _link_mm(profile: Profile) -> float:
    """The width of the bars, which must pass between the cells on either side of them."""
    link_mm = profile.cell_link_mm
    # Of the edge between two hexagons, the inset of the sides around takes some at either end.
    edge_mm = (profile.unit_mm - 4 * profile.inset_mm) / math.sqrt(3)
    if not LEAST_WALL_MM <= link_mm <= edge_mm:
        raise BlueprintError(
            f"cell.link is {format_mm(link_mm)}, and the bar between two cells can be "
            f"{format_mm(LEAST_WALL_MM)} to {format_mm(math.floor(edge_mm * 1000) / 1000)} wide, the "
            "edge of a hexagon; choose another cell.link or a larger unit"
        )
    return link_mm


def _polar(radius_mm: float, angle: float) -> PointMm:
    return radius_mm * math.cos(angle), radius_mm * math.sin(angle)


#: A stub is so many layers high at least, or nobody sees which way up a piece lies.
LEAST_LAYERS = 2


@dataclass(frozen=True)
class Stub:
    """One stub, from the bottom of a drawing at height 0 up to the back of the piece.

    Attributes:
        centre_mm: of its circle, in the frame of the outline.
        height_mm: from its end to the back.
        lead_in_mm: 45-degree chamfer around its end.
    """

    centre_mm: PointMm
    diameter_mm: float
    height_mm: float
    lead_in_mm: float

    @property
    def volume_mm3(self) -> float:
        """Its volume: a cylinder, and the end of a cone."""
        radius_mm, lead_in_mm = self.diameter_mm / 2, self.lead_in_mm
        end_mm = radius_mm - lead_in_mm
        cone = lead_in_mm * (radius_mm**2 + radius_mm * end_mm + end_mm**2) / 3
        return math.pi * (radius_mm**2 * (self.height_mm - lead_in_mm) + cone)


def place_stubs(lattice: Lattice, form: Form, foot: Polygon, profile: Profile) -> tuple[Stub, ...]:
    """A stub below the middle of each cell, by row from below and then from the left.

    Around their ends is the foot chamfer, at most a quarter of the stub's height or width.

    Raises:
        BlueprintError: when a stub does not stand on the back of its cell, or is too low to
            tell up from down, or higher than it is wide.
    """
    diameter_mm, height_mm = profile.stub_mm, profile.stub_height_mm
    least_mm = LEAST_LAYERS * profile.layer_mm
    if not least_mm <= height_mm <= diameter_mm:
        raise BlueprintError(
            f"stub.height is {format_mm(height_mm)}; expected {format_mm(least_mm)}, which are "
            f"{LEAST_LAYERS} layers, to {format_mm(diameter_mm)}, the stub's diameter, or 0 mm for "
            "pieces without stubs"
        )
    centres = cell_centres(lattice, form.cells, profile.unit_mm)
    bears_mm = 2 * min(foot.boundary.distance(Point(centre)) for centre in centres)
    most_mm = math.floor(bears_mm * 1000 + 1e-6) / 1000
    if diameter_mm > most_mm:
        raise BlueprintError(
            f"stub.diameter {format_mm(diameter_mm)} is too large: the back of a cell bears "
            f"{format_mm(most_mm)}; choose a smaller stub.diameter, a larger unit or another cell.shape"
        )
    lead_in_mm = min(profile.foot_chamfer_mm, diameter_mm / 4, height_mm / 4)
    return tuple(Stub(centre, diameter_mm, height_mm, lead_in_mm) for centre in centres)
