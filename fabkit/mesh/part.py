"""A part: a body in mm, as it lies on the lattice where it could be read, and what was read of it:
the outline of a flat piece, the balls of a ball piece, or which board or lid it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from shapely import Polygon, union_all
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.body import Body, Points, area_vectors
from fabkit.mesh.manifold import shadow_of
from fabkit.mesh.section import Sections, area_of, filled, parts
from fabkit.mesh.topology import Shell, shells, signed_volume
from fabkit.model.balls import BallBody
from fabkit.model.lattice import Cell, Ring
from fabkit.model.puzzle import Board

#: Kinds of pieces; those of boards and lids are `fabkit.model.accessory`'s.
FLAT, BALLS = "flat", "balls"
#: What a file's unit of length may be, in mm, when the file does not say; the first that fits.
LENGTHS_MM = {
    "mm": 1.0,
    "cm": 10.0,
    "inch": 25.4,
    "m": 1000.0,
    "mm that were taken for inches": 1 / 25.4,
}


@dataclass(frozen=True, eq=False)
class Outline:
    """What was read of a flat piece, in mm on the lattice's frame.

    Attributes:
        rings: the outline of its cells, in frame points; `canonical` the same in mm.
        unit_mm: the set's grid unit; `own_unit_mm` that which it shows itself, if its shape tells.
        inset_mm: by how much its edges lie inside the outline, on average; `edge_insets_mm` the
            same of single edges, least and greatest.
    """

    cells: frozenset[Cell]
    rings: tuple[Ring, ...]
    unit_mm: float
    own_unit_mm: float | None
    inset_mm: float
    edge_insets_mm: tuple[float, float]
    canonical: Polygon


@dataclass(frozen=True, eq=False)
class Balls:
    """What was read of a piece that is made of balls.

    Attributes:
        shape: its balls, placed as the set's file (or the mirror) has them, and as bonds the links
            that are there: those of the file in its order, then others.
        diameters_mm: of ``shape.balls``.
        links_mm: the least width of each of ``shape.bonds``; those that lie on the bed are cut by
            the flat, and so less high than wide.
        off_mm: how far the worst ball's middle lies from its place.
        alike: the pieces of the set with its balls and, if `as_linked`, its links; `mirrored` if
            it is their mirror image that has them.
    """

    shape: BallBody
    pitch_mm: float
    diameters_mm: tuple[float, ...] = ()
    links_mm: tuple[float, ...] = ()
    off_mm: float = 0.0
    alike: tuple[str, ...] = ()
    mirrored: bool = False
    as_linked: bool = True


@dataclass(frozen=True, eq=False)
class Part:
    """A body as it lies on the lattice's frame, or as in its file when it could not be read.

    Attributes:
        vertices: its corners in mm, shape (n, 3). A flat piece lies on its back, at height 0. The
            balls of a piece are at their places times the pitch. A board is lowest at height 0, its
            region where the set draws it; so is a lid, plate down, the middle of its box over that
            of the region.
        kind: `FLAT`, `BALLS`, ``tray``, ``holes``, ``seats`` or ``lid``; empty for what can only
            be a board, and could not be read.
        tilt_degrees: between the file's vertical and a flat piece's.
        outline, balls, board: what was read of a flat or a ball piece; the board that it is, or
            that a lid belongs to. None when it could not be read.
        unit_mm: a board's grid unit as measured; the profile's for a tray or lid, which show none.
        rest_mm: on what height pieces rest on a board: a tray's floor, the plate around seats, or
            the middles of seated balls (the top of the posts).
        why: it could not be read.
        score: how well it is explained, at most 1; `second` is the next best explanation, another
            shape, and its score.
    """

    body: Body
    vertices: Points
    kind: str = FLAT
    tilt_degrees: float = 0.0
    outline: Outline | None = None
    balls: Balls | None = None
    board: Board | None = None
    unit_mm: float = 0.0
    rest_mm: float = 0.0
    why: str = ""
    score: float = 0.0
    second: tuple[str, float] | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.body.name

    @property
    def margin(self) -> float:
        """By how much it is better explained than by the next best explanation."""
        return self.score - self.second[1] if self.second else math.inf

    @cached_property
    def straight(self) -> Body:
        """The body as it lies here."""
        return Body(self.name, self.vertices, self.body.faces)

    @cached_property
    def sections(self) -> Sections:
        """To cut it."""
        return Sections(self.straight)

    @property
    def thickness_mm(self) -> float:
        """From back to face."""
        return self.sections.high

    @cached_property
    def shells(self) -> tuple[Shell, ...]:
        """Its surfaces that hang together, the largest first."""
        return shells(self.straight)

    @cached_property
    def volume_mm3(self) -> float:
        """The volume inside; negative when the mesh is inside out."""
        return signed_volume(self.straight)

    @cached_property
    def shadow(self) -> Polygon:
        """Its outline seen from above, whatever height sticks out, with the holes through it."""
        return shadow(self.straight)

    @cached_property
    def sides(self) -> Polygon:
        """Its largest part as cuts show it, away from feet, chamfers and roundings."""
        cuts = self.thickness_mm * np.linspace(0.12, 0.88, 7)
        return largest(union_all([self.sections.at(cut) for cut in cuts.tolist()]))

    @cached_property
    def hausdorff_mm(self) -> float:
        """The greatest distance between the outline as seen and as read; what is cut through the
        piece inside it is none."""
        assert self.outline is not None
        return float(self.filled(self.shadow).hausdorff_distance(self.outline.canonical))

    @property
    def area_off(self) -> float:
        """By which part the area of the outline as seen differs from that as read."""
        assert self.outline is not None
        return float(self.filled(self.shadow).area / self.outline.canonical.area) - 1

    def within_rings(self, area: BaseGeometry) -> list[BaseGeometry]:
        """What lies within each ring of this part's outline, where an area of it shows that ring.

        First what is within the outer ring, all filled: recesses and letters are no rings, also
        where they are cut through. Then each hole of the outline as read, in its order; empty where
        the area does not go around it.
        """
        found = [filled(area)]
        open_ = [Polygon(ring) for one in parts(area) for ring in one.interiors]
        for ring in self.outline.canonical.interiors if self.outline else ():
            middle = Polygon(ring).representative_point()
            around = [one for one in open_ if one.contains(middle)]
            found.append(min(around, key=lambda one: one.area, default=Polygon()))
        return found

    def filled(self, area: BaseGeometry) -> BaseGeometry:
        """An area of this part with recesses and letters filled; holes of its outline stay."""
        outer, *holes = self.within_rings(area)
        return outer.difference(union_all(holes)) if holes else outer

    def turned_over(self) -> Part:
        """It with its face down, as it could not be read."""
        vertices = self.vertices * [1.0, -1.0, -1.0] + [0.0, 0.0, self.vertices[:, 2].max()]
        tilt = 180.0 - self.tilt_degrees
        return Part(self.body, vertices, tilt_degrees=tilt, score=self.score)


def length_mm_of(unit: float, units_mm: Sequence[float]) -> float:
    """The unit of length with which a grid unit is nearly what it should be; mm if none is."""
    for length in LENGTHS_MM.values():
        if any(abs(unit * length - asked) < 0.08 * asked for asked in units_mm):
            return length
    return 1.0


# --- seen from above --------------------------------------------------------------------------


def shadow(body: Body) -> Polygon:
    """The outline of a body, seen from above; holes that go through it are interiors."""
    if body.is_solid:
        return largest(shadow_of(body.manifold))
    import manifold3d

    # Of an open body all faces, each turned up.
    is_up = area_vectors(body.vertices, body.faces)[:, 2:] > 0
    triangles = body.vertices[np.where(is_up, body.faces, body.faces[:, ::-1]), :2]
    seen = manifold3d.CrossSection(list(triangles), manifold3d.FillRule.Positive)
    return largest(area_of(seen, 1e-3))


def largest(area: BaseGeometry) -> Polygon:
    """The largest part of an area; an empty polygon of none."""
    found = parts(area)
    return orient(found[0]) if found else Polygon()


def inside_mm(shadow: BaseGeometry, area: BaseGeometry) -> float:
    """How far something, seen from above, keeps inside an area; negative when it reaches out of it.

    Example:
        >>> area = shapely.box(0, 0, 9, 9)
        >>> inside_mm(shapely.box(2, 3, 4, 5), area), inside_mm(shapely.box(2, 3, 4, 10), area)
        (2.0, -1.0)
    """
    out_mm = reach_out_mm(shadow, area)
    return -out_mm if out_mm else float(shadow.boundary.distance(area.boundary))


def reach_out_mm(shadow: BaseGeometry, area: BaseGeometry) -> float:
    """How far something, seen from above, reaches out of an area; 0 when it does not."""
    rest = shapely.points(shapely.get_coordinates(shadow.difference(area)))
    return float(shapely.distance(rest, area).max(initial=0.0))
