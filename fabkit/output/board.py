"""Drawings of challenges and solutions at any scale: the region to cover, and its pieces."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import shapely
from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import PointMm, RingMm, rings_mm
from fabkit.model.entry import subdivide
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.lattice import Point as FramePoint
from fabkit.model.piece import Piece, tones_at
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Entry, PuzzleSet, to_units
from fabkit.output.canvas import Canvas, Points
from fabkit.output.labels import (
    clearances,
    draw_label_text,
    label_area,
    place_label,
    vertices_and_midpoints,
)
from fabkit.output.pieces import BALL_DIAMETER_IN_PITCHES
from fabkit.output.theme import LIGHT, Theme, ink_on

#: The cells of each piece, by id.
Layout = Mapping[str, frozenset[Cell]]
_GRID = 0.016  # width of the lines between cells, in grid units
_EDGE = 0.05  # width of the dark line around pieces, in grid units
_JOINT = 0.014  # width of the light line inside it, in grid units
_RIM = 0.04  # width of the line around a region, in grid units
_MAX_LINE_MM = 0.6  # the maximum width of all of them
_LABEL = 0.36  # the maximum height of a label's capitals, in grid units
#: Preferred scales, 1 to these.
_PREFERRED_SCALES = (
    1,
    1.5,
    2,
    2.5,
    3,
    4,
    5,
    6,
    8,
    10,
    12,
    15,
    20,
    25,
    30,
    40,
    50,
    75,
    100,
    150,
    200,
)
#: The opacity of pieces placed before.
_PALE = 0.3
#: The opacity of the area below balls.
_BELOW_BALLS = 0.4


@dataclass
class BoardPainter:
    """Draws regions and pieces of a set on a page, with the lattice's origin at `origin_mm`. `halves` is
    as in `fabkit.model.puzzle.Entry`; with `written`, labels are text instead of areas, which takes
    fewer bytes."""

    canvas: Canvas
    puzzle: PuzzleSet
    unit_mm: float
    origin_mm: PointMm
    theme: Theme = LIGHT
    halves: int = 1
    written: bool = False
    _outlines: dict[frozenset[Cell], list[list[PointMm]]] = field(default_factory=dict)

    def challenge(self, entry: Entry, grid: bool = False) -> None:
        """Draw the region to cover with the given pieces. It is a plain silhouette; cells or sockets
        show on boards of the set, with given pieces, and with `grid`."""
        is_board = any(board.cells == entry.challenge.region for board in self.puzzle.boards)
        shows_cells = grid or is_board or entry.challenge.given
        self.region(entry.challenge.region, plain=not shows_cells)
        self.layout({given.piece: given.cells for given in entry.challenge.given})
        self.rim(entry.challenge.region)

    def solution(self, entry: Entry) -> None:
        """Draw the solution of a challenge."""
        self.region(entry.challenge.region)
        self.layout(entry.solution)
        self.rim(entry.challenge.region)

    def layout(self, layout: Layout, pale: bool = False) -> None:
        """Draw placed pieces in the set's order; see `pieces`."""
        self.pieces(
            [(piece, layout[piece.id]) for piece in self.puzzle.pieces if piece.id in layout], pale
        )

    def region(self, cells: frozenset[Cell], plain: bool = False) -> None:
        """Draw the region to cover: a light ground with cells or ball sockets, or a `plain` area."""
        ground = self.theme.filled("silhouette" if plain else "ground", "region")
        self.canvas.polygon(self._outline(cells), **ground)
        if self.puzzle.made_of_balls and not plain:
            self._balls(cells, **self.theme.filled("socket"))
        # Cells of two lattices half a unit apart would only confuse.
        elif not plain and self.halves == 1 and (edges := self._inner_edges(cells)):
            self._stroke(edges, "faint", _GRID)

    def rim(self, cells: frozenset[Cell]) -> None:
        """Draw the line around a region; comes last."""
        self._stroke(self._outline(cells), "ink", _RIM)

    def pieces(
        self, placements: Sequence[tuple[Piece, frozenset[Cell]]], pale: bool = False
    ) -> None:
        """Draw pieces with labels and outlines; pale if they were placed before."""
        for piece, cells in placements:
            self._area(piece, cells, pale)
        outlines = [ring for _, cells in placements for ring in self._outline(cells)]
        if outlines:
            self._stroke(outlines, "edge", _EDGE)
            self._stroke(outlines, "joint", _JOINT)
        for piece, cells in placements:
            self._label(piece, cells, pale)

    def _area(self, piece: Piece, cells: frozenset[Cell], pale: bool) -> None:
        outline = self._outline(cells)
        opacity = _PALE if pale else 1.0
        full = f"{opacity:.2g}"
        below = f"{opacity * _BELOW_BALLS:.2g}" if self.puzzle.made_of_balls else full
        if pale and not self.puzzle.made_of_balls:  # else the grid would show through the piece
            self.canvas.polygon(outline, **self.theme.filled("ground", "below"))
        self.canvas.polygon(outline, fill=piece.colour, fill_opacity=below, class_="piece")
        if toned := self._outline(self._toned(piece, cells)):
            self.canvas.polygon(toned, fill=piece.tone, fill_opacity=full, class_="tone")
        if self.puzzle.made_of_balls:
            self._balls(cells, fill=piece.colour, fill_opacity=full)

    def _balls(self, cells: frozenset[Cell], **style: str) -> None:
        for x, y in self._at(sorted(cells)):
            self.canvas.circle(x, y, BALL_DIAMETER_IN_PITCHES * self.unit_mm / 2, **style)

    def _toned(self, piece: Piece, cells: frozenset[Cell]) -> frozenset[Cell]:
        """Return the cells in the piece's second colour."""
        if piece.tones and self.halves > 1:
            form = piece.forms[0]
            form = replace(form, cells=subdivide(self.puzzle.lattice, form.cells))
            tones = subdivide(self.puzzle.lattice, piece.tones)
            piece = replace(piece, forms=(form,), tones=tones)
        return tones_at(self.puzzle.lattice, piece, cells)

    def _stroke(self, rings: Sequence[Points], role: str, units: float) -> None:
        """Draw lines around or between areas."""
        width = {"stroke_width": f"{min(units * self.unit_mm, _MAX_LINE_MM):.2f}"}
        round_line = {"fill": "none", **self.theme.lined(role), **width, "stroke_linejoin": "round"}
        self.canvas.polygon(rings, **round_line)

    def _label(self, piece: Piece, cells: frozenset[Cell], pale: bool) -> None:
        """Draw the label as near to the piece's centroid as it fits."""

        def ink(colour: str, name: str) -> dict[str, str]:
            quiet = self.theme.filled("quiet", name)
            return quiet if pale else {"fill": ink_on(colour), "class_": name}

        toned = sorted(self._toned(piece, cells))
        places = self._at(sorted(cells))
        x, y = (math.fsum(values) / len(places) for values in zip(*places, strict=True))
        free_mm = [BALL_DIAMETER_IN_PITCHES * self.unit_mm / 2] * len(places)
        if not self.puzzle.made_of_balls:
            if not toned:  # else it stays in one square
                places += vertices_and_midpoints(map(self._at, self._edges(cells)))
            places, free_mm = clearances(places, self._outline(cells))
        max_mm = _LABEL * self.unit_mm
        place, height_mm = place_label(piece.label, places, free_mm, (x, y), max_mm)
        area = None if self.written else label_area(piece.label, place, height_mm)
        squares = shapely.union_all(
            [Polygon(self._at(self.puzzle.lattice.ring(cell))) for cell in toned]
        )
        if area is None:
            below = piece.tone if squares.contains(Point(place)) else piece.colour
            draw_label_text(self.canvas, piece.label, place, height_mm, **ink(below, "label title"))
        else:  # all parts in one path
            self.canvas.polygon(polygon_rings(area), **ink(piece.colour, "label"))
            if on_tones := area.intersection(squares):
                self.canvas.polygon(polygon_rings(on_tones), **ink(piece.tone, "label-on-tone"))

    def _edges(self, cells: frozenset[Cell]) -> set[tuple[FramePoint, FramePoint]]:
        return {edge for cell in cells for edge in self.puzzle.lattice.cell_edges(cell)}

    def _inner_edges(self, cells: frozenset[Cell]) -> list[list[PointMm]]:
        """Return the edges between units of area, each once."""
        edges = {edge for cell in cells for edge in self.puzzle.lattice.visible_edges(cell)}
        return [
            self._at((start, end))
            for start, end in sorted(edges)
            if start < end and (end, start) in edges
        ]

    def _outline(self, cells: frozenset[Cell]) -> list[list[PointMm]]:
        if cells not in self._outlines:
            self._outlines[cells] = [
                self._at(ring) for ring in rings_of_cells(self.puzzle.lattice, cells)
            ]
        return self._outlines[cells]

    def _at(self, points: Iterable[FramePoint]) -> list[PointMm]:
        """Convert frame points to the page."""
        left, bottom = self.origin_mm
        cell_mm = self.unit_mm / self.halves
        in_units = to_units(self.puzzle.lattice, points)
        return [(left + x * cell_mm, bottom + y * cell_mm) for x, y in in_units]


def polygon_rings(area: BaseGeometry) -> list[RingMm]:
    """Return all rings of an area."""
    parts = [part for part in getattr(area, "geoms", [area]) if part.geom_type == "Polygon"]
    return [ring for part in parts for ring in rings_mm(part)]


def extent(lattice: Lattice, cells: Collection[Cell]) -> tuple[float, float, float, float]:
    """Return left, bottom, width and height of cells, in grid units."""
    corners = [point for ring in rings_of_cells(lattice, cells) for point in ring]
    xs, ys = zip(*to_units(lattice, corners), strict=True)
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def size_mm(puzzle: PuzzleSet, entry: Entry, unit_mm: float) -> tuple[float, float]:
    """Return width and height of a challenge's region."""
    _, _, wide, high = extent(puzzle.lattice, entry.challenge.region)
    return wide * unit_mm / entry.halves, high * unit_mm / entry.halves


def preferred_scale(size: tuple[float, float], room: tuple[float, float]) -> float:
    """Return the smallest preferred scale (1 to this) at which a size fits into a room.

    Example:
        >>> preferred_scale((160, 160), (60, 50))
        4
    """
    smallest = max(size[0] / room[0], size[1] / room[1])
    return next((scale for scale in _PREFERRED_SCALES if scale >= smallest - 1e-6), smallest)


def board_for(
    canvas: Canvas,
    puzzle: PuzzleSet,
    entry: Entry,
    unit_mm: float,
    corner: PointMm,
    theme: Theme = LIGHT,
    written: bool = False,
) -> BoardPainter:
    """Return the painter of a challenge, with the lower left corner of its region at a place."""
    left, bottom, _, _ = extent(puzzle.lattice, entry.challenge.region)
    cell_mm = unit_mm / entry.halves
    origin = corner[0] - left * cell_mm, corner[1] - bottom * cell_mm
    return BoardPainter(canvas, puzzle, unit_mm, origin, theme, entry.halves, written)
