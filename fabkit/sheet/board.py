"""A board on a drawing: the region to be covered, and pieces that lie on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import shapely
from shapely import MultiLineString, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.blueprint.glyphs import lettering
from fabkit.blueprint.printed import BlueprintError, PointMm
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import Piece, tones_on
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import in_units
from fabkit.sheet.pieces import BALL_OF_PITCH, parts_of
from fabkit.sheet.svg import Drawing, ink_on

_GROUND, _SEAT, _FAINT, _DARK = "#f3f1ec", "#e2dfd6", "#c6c1b3", "#222222"
#: Line widths and the height of a capital, in grid units, with the widest a line may be in mm.
_GRID, _EDGE, _RIM, _CAPITAL = 0.016, 0.025, 0.04, 0.36
_WIDEST_MM = 0.6
#: A letter takes this much more room than it fills, where there is a choice.
_ROOMY = 1.4
#: Of the room there is a letter fills at most this part.
_MOST_OF_ROOM = 0.8
_MOST_PLACES = 2000


class BoardDrawing:
    """Cells of a lattice at one place of a drawing.

    Args:
        drawing: where to draw.
        lattice: of the cells.
        unit_mm: length of a grid unit.
        origin_mm: where on the page the lattice's origin comes to lie.
        balls: whether pieces are made of balls, and cells are seats for them.
    """

    def __init__(
        self, drawing: Drawing, lattice: Lattice, unit_mm: float, origin_mm: PointMm, balls: bool
    ) -> None:
        self._drawing = drawing
        self._lattice = lattice
        self._unit_mm = unit_mm
        self._origin_mm = origin_mm
        self._balls = balls

    def region(self, cells: frozenset[Cell]) -> None:
        """What is to be covered: a light ground with faint cells."""
        self._drawing.polygon(self._outline(cells), fill=_GROUND, class_="region")
        if self._balls:
            for x, y in self._at(sorted(cells)):
                self._drawing.circle(x, y, BALL_OF_PITCH / 2 * self._unit_mm, fill=_SEAT)
            return
        edges = [self._at(edge) for edge in self._inner_edges(cells)]
        width = self._width(_GRID)
        self._drawing.polygon(edges, fill="none", stroke=_FAINT, stroke_width=width)

    def rim(self, cells: frozenset[Cell]) -> None:
        """The line around a region, drawn last."""
        self._drawing.polygon(
            self._outline(cells),
            fill="none",
            stroke=_DARK,
            stroke_width=self._width(_RIM),
            stroke_linejoin="round",
        )

    def piece(self, piece: Piece, cells: frozenset[Cell]) -> None:
        """A piece in its colour or two, with a thin dark edge and its label."""
        edge = {
            "stroke": _DARK,
            "stroke_width": self._width(_EDGE),
            "stroke_linejoin": "round",
        }
        opacity = "0.35" if self._balls else "1"
        outline = self._outline(cells)
        self._drawing.polygon(
            outline, fill=piece.colour, fill_opacity=opacity, class_="piece", **edge
        )
        toned = tones_on(self._lattice, piece, cells)
        if toned:
            self._drawing.polygon(self._outline(toned), fill=piece.tone, class_="tone")
            self._drawing.polygon(outline, fill="none", **edge)
        if self._balls:
            for x, y in self._at(sorted(cells)):
                self._drawing.circle(x, y, BALL_OF_PITCH / 2 * self._unit_mm, fill=piece.colour)
        self._label(piece, cells, toned)

    def _label(self, piece: Piece, cells: frozenset[Cell], toned: frozenset[Cell]) -> None:
        """The label, as near to the middle of the piece as it lies well inside."""
        ink = ink_on(piece.colour)
        try:
            shape = lettering(piece.label).polygon()
        except BlueprintError:  # a letter that cannot be engraved, but perhaps shown
            size_mm = _CAPITAL * self._unit_mm / 0.7
            (x, y), _ = self._place(cells, size_mm / 2)
            style = {"text_anchor": "middle", "style": f"fill: {ink}"}
            self._drawing.text(x, y - 0.35 * size_mm, piece.label, size_mm, class_="label", **style)
            return
        reach = math.hypot(*shape.bounds[2:])  # half of the diagonal, at a height of 1 mm
        wanted_mm = _CAPITAL * self._unit_mm
        (x, y), room_mm = self._place(cells, wanted_mm * reach * _ROOMY)
        height_mm = min(wanted_mm, _MOST_OF_ROOM * room_mm / reach)
        letters = lettering(piece.label).moved(x, y, height_mm).polygon()
        self._drawing.polygon(_rings(letters), fill=ink, class_="label")
        squares = [Polygon(self._at(self._lattice.ring(cell))) for cell in sorted(toned)]
        on_tones = letters.intersection(shapely.union_all(squares))
        if not on_tones.is_empty:
            self._drawing.polygon(_rings(on_tones), fill=ink_on(piece.tone), class_="label-on-tone")

    def _place(self, cells: frozenset[Cell], wanted_mm: float) -> tuple[PointMm, float]:
        """A place inside the cells, and its distance to their edge.

        Of all that are as far from the edge as wanted it is the one nearest to the balance,
        and the farthest from the edge if none is.
        """
        centres = self._at(sorted(cells))
        if self._balls:
            places, rooms = centres, [BALL_OF_PITCH / 2 * self._unit_mm] * len(centres)
        else:
            places = [*centres, *self._corners_and_midpoints(cells)]
            places = places[:: 1 + len(places) // _MOST_PLACES]
            rings = [[*ring, ring[0]] for ring in self._outline(cells)]
            edge = MultiLineString(rings)
            rooms = shapely.distance(shapely.points(places), edge).tolist()
        balance = [sum(values) / len(centres) for values in zip(*centres, strict=True)]
        return min(
            zip(places, rooms, strict=True),
            key=lambda one: (
                -round(min(one[1], wanted_mm), 6),
                round(math.dist(one[0], balance), 6),
                one,
            ),
        )

    def _corners_and_midpoints(self, cells: frozenset[Cell]) -> list[PointMm]:
        edges = sorted({edge for cell in cells for edge in self._lattice.cell_edges(cell)})
        lines = [self._at(edge) for edge in edges]
        middles = {((ax + bx) / 2, (ay + by) / 2) for (ax, ay), (bx, by) in lines}
        return sorted({line[0] for line in lines} | middles)

    def _inner_edges(self, cells: frozenset[Cell]) -> Iterator[tuple[Point, Point]]:
        """The edges between cells, each once; not the diagonals that quarter a square."""
        inside = {edge for cell in cells for edge in self._lattice.cell_edges(cell)}
        quarters = self._lattice.cells_per_unit > 1
        for (ax, ay), (bx, by) in sorted(inside):
            diagonal = quarters and ax != bx and ay != by
            if (ax, ay) < (bx, by) and ((bx, by), (ax, ay)) in inside and not diagonal:
                yield (ax, ay), (bx, by)

    def _outline(self, cells: frozenset[Cell]) -> list[list[PointMm]]:
        return [self._at(ring) for ring in rings_of_cells(self._lattice, cells)]

    def _at(self, points: Iterable[Point]) -> list[PointMm]:
        """Frame points on the page."""
        left, bottom = self._origin_mm
        return [
            (left + x * self._unit_mm, bottom + y * self._unit_mm)
            for x, y in in_units(self._lattice, points)
        ]

    def _width(self, units: float) -> str:
        return f"{min(units * self._unit_mm, _WIDEST_MM):.2f}"


def _rings(area: BaseGeometry) -> list[list[PointMm]]:
    """Every ring of an area, without its repeated last corner."""
    return [
        list(ring.coords)[:-1]
        for part in parts_of(area)
        for ring in (part.exterior, *part.interiors)
    ]
