"""A part: a mesh in mm, aligned with the lattice if it could be fitted, and the result of the fit: the
outline of a flat piece, the balls of a ball piece, or the board or lid."""

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

from fabkit.mesh.manifold import silhouette_of
from fabkit.mesh.mesh import Mesh, Points, area_vectors
from fabkit.mesh.section import Sections, filled, polygons_by_size, to_shapely
from fabkit.mesh.topology import Shell, shells, signed_volume
from fabkit.model.balls import BallBody
from fabkit.model.lattice import Cell, Ring
from fabkit.model.puzzle import Board

#: About so many faces are united at once for a silhouette.
_FACES_AT_ONCE = 300
#: The kind of a flat piece. Kinds of boards and lids are in `fabkit.profiles.accessory`.
FLAT = "flat"
#: The kind of a piece of balls.
BALLS = "balls"
#: Candidates for a file's unit of length, in mm, if the file does not state it; the first that fits.
LENGTH_UNITS_MM = {
    "mm": 1.0,
    "cm": 10.0,
    "inch": 25.4,
    "m": 1000.0,
    "mm that were taken for inches": 1 / 25.4,
}


@dataclass(frozen=True, eq=False)
class Outline:
    """The fitted outline of a flat piece, in mm in the lattice's frame.

    Attributes:
        rings: the outline of its cells, in frame points; `canonical` the same in mm.
        unit_mm: the set's grid unit; `own_unit_mm` the unit of this piece alone, if its shape
            determines one.
        inset_mm: the mean inset of its edges from the outline; `edge_insets_mm` the smallest and
            the largest of single edges.
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
    """The fitted balls of a ball piece.

    Attributes:
        shape: its balls, placed as in the set's file (or mirrored), and its links as bonds: those of
            the file in their order, then others.
        diameters_mm: of ``shape.balls``.
        links_mm: the smallest width of each of ``shape.bonds``; links on the bed are cut by the
            flat, and so are less high than wide.
        off_mm: the distance of the worst ball's middle from its place.
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
    """A mesh in the lattice's frame, or as in its file if it could not be fitted.

    Attributes:
        vertices: in mm, shape (n, 3). A flat piece is on its back, at height 0. Balls are at their
            lattice points times the pitch. The lowest point of a board is at height 0, its region
            where the set draws it. A lid is plate down, centred over the region.
        kind: `FLAT`, `BALLS`, ``tray``, ``holes``, ``sockets`` or ``lid``; empty for a part
            as large as a board that could not be fitted.
        tilt_degrees: between the file's vertical and a flat piece's.
        outline, balls, board: the fit of a flat or a ball piece; the board, also that of a lid. None
            if it could not be fitted.
        unit_mm: a board's grid unit as measured; the profile's for a tray or lid, which show none.
        rest_mm: the height at which pieces rest on a board: a tray's floor, the plate around
            sockets, or the middles of inserted balls (the top of the posts).
        reason: why it could not be fitted.
        score: the quality of the fit, at most 1; `runner_up` is the next best shape and its score.
        alike: the ids of the boards that explain a board or lid equally well.
        parts: those that a board or lid is assembled from, placed as drawn.
    """

    mesh: Mesh
    vertices: Points
    kind: str = FLAT
    tilt_degrees: float = 0.0
    outline: Outline | None = None
    balls: Balls | None = None
    board: Board | None = None
    unit_mm: float = 0.0
    rest_mm: float = 0.0
    reason: str = ""
    score: float = 0.0
    runner_up: tuple[str, float] | None = None
    alike: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()

    __getstate__ = Mesh.__getstate__

    @property
    def name(self) -> str:
        """The name of its mesh, for messages."""
        return self.mesh.name

    @property
    def margin(self) -> float:
        """The lead of its score over the next best shape."""
        return self.score - self.runner_up[1] if self.runner_up else math.inf

    @cached_property
    def aligned(self) -> Mesh:
        """The mesh with the vertices of this part."""
        return Mesh(self.name, self.vertices, self.mesh.faces)

    @cached_property
    def sections(self) -> Sections:
        """Its cross-sections."""
        return Sections(self.aligned)

    @property
    def thickness_mm(self) -> float:
        """The distance from back to face."""
        return self.sections.high

    @cached_property
    def shells(self) -> tuple[Shell, ...]:
        """The connected components of its surface, the largest first."""
        return shells(self.aligned)

    @cached_property
    def volume_mm3(self) -> float:
        """The volume inside; negative when the mesh is inside out."""
        return signed_volume(self.aligned)

    @cached_property
    def silhouette(self) -> Polygon:
        """Its silhouette from above, with the holes through it."""
        return silhouette(self.aligned)

    @cached_property
    def sides(self) -> Polygon:
        """The largest polygon of the union of its cross-sections, away from feet, chamfers and fillets."""
        cuts = self.thickness_mm * np.linspace(0.12, 0.88, 7)
        return largest_polygon(union_all([self.sections.at(cut) for cut in cuts.tolist()]))

    @cached_property
    def hausdorff_mm(self) -> float:
        """The Hausdorff distance of the silhouette from the fitted outline, ignoring openings inside."""
        assert self.outline is not None
        return float(self.filled(self.silhouette).hausdorff_distance(self.outline.canonical))

    @property
    def area_off(self) -> float:
        """The relative difference in area of the silhouette and the fitted outline."""
        assert self.outline is not None
        return float(self.filled(self.silhouette).area / self.outline.canonical.area) - 1

    def within_rings(self, area: BaseGeometry) -> list[BaseGeometry]:
        """The area within each ring of the outline, if an area of this part has that ring.

        The first is the area within the outer ring, filled: openings of recesses and letters are not
        rings of the outline. Then comes each hole of the fitted outline, in order; empty where the
        area does not surround it.
        """
        rings = [filled(area)]
        open_ = [Polygon(ring) for polygon in polygons_by_size(area) for ring in polygon.interiors]
        for ring in self.outline.canonical.interiors if self.outline else ():
            middle = Polygon(ring).representative_point()
            around = [opening for opening in open_ if opening.contains(middle)]
            rings.append(min(around, key=lambda opening: opening.area, default=Polygon()))
        return rings

    def filled(self, area: BaseGeometry) -> BaseGeometry:
        """Fill recesses and letters in an area of this part, but not the holes of its outline."""
        outer, *holes = self.within_rings(area)
        return outer.difference(union_all(holes)) if holes else outer

    def turned_over(self) -> Part:
        """This part with its face down, without a fit."""
        vertices = self.vertices * [1.0, -1.0, -1.0] + [0.0, 0.0, self.vertices[:, 2].max()]
        tilt = 180.0 - self.tilt_degrees
        return Part(self.mesh, vertices, tilt_degrees=tilt, score=self.score)


def length_unit_mm(unit: float, units_mm: Sequence[float]) -> float:
    """The unit of length in which a measured grid unit is about the expected one; mm if there is none."""
    for length in LENGTH_UNITS_MM.values():
        if any(abs(unit * length - expected) < 0.08 * expected for expected in units_mm):
            return length
    return 1.0


# --- silhouettes --------------------------------------------------------------------------


def silhouette(mesh: Mesh) -> Polygon:
    """The silhouette of a mesh from above; holes through the mesh are interiors."""
    if mesh.is_solid:
        return largest_polygon(silhouette_of(mesh.manifold))
    import manifold3d

    # For an open mesh, the union of all faces, each oriented upwards. First those of each square of a
    # grid: the time grows faster than the number of faces.
    is_up = area_vectors(mesh.vertices, mesh.faces)[:, 2:] > 0
    triangles = mesh.vertices[np.where(is_up, mesh.faces, mesh.faces[:, ::-1]), :2]
    middles = triangles.mean(axis=1)
    side = max(1, round(math.sqrt(len(triangles) / _FACES_AT_ONCE)))
    shares = (middles - middles.min(axis=0)) / np.maximum(np.ptp(middles, axis=0), 1e-12)
    squares = np.minimum((shares * side).astype(np.int64), side - 1) @ [side, 1]
    order = np.argsort(squares, kind="stable")
    groups = np.split(order, np.searchsorted(squares[order], np.arange(1, side * side)))
    unions = [
        manifold3d.CrossSection(list(triangles[group]), manifold3d.FillRule.Positive)
        for group in groups
    ]
    union = manifold3d.CrossSection.batch_boolean(unions, manifold3d.OpType.Add)
    return largest_polygon(to_shapely(union if side > 1 else unions[0], 1e-3))


def largest_polygon(area: BaseGeometry) -> Polygon:
    """The largest polygon of an area; an empty one if there is none."""
    polygons = polygons_by_size(area)
    return orient(polygons[0]) if polygons else Polygon()


def inside_mm(silhouette: BaseGeometry, area: BaseGeometry) -> float:
    """The distance of a silhouette inside an area from its edge; negative if it protrudes.

    Example:
        >>> area = shapely.box(0, 0, 9, 9)
        >>> inside_mm(shapely.box(2, 3, 4, 5), area), inside_mm(shapely.box(2, 3, 4, 10), area)
        (2.0, -1.0)
    """
    out_mm = protrusion_mm(silhouette, area)
    return -out_mm if out_mm else float(silhouette.boundary.distance(area.boundary))


def protrusion_mm(silhouette: BaseGeometry, area: BaseGeometry) -> float:
    """The distance by which a silhouette protrudes from an area; 0 if it does not."""
    rest = shapely.points(shapely.get_coordinates(silhouette.difference(area)))
    return float(shapely.distance(rest, area).max(initial=0.0))
