"""Challenges and solutions on a page at any scale: the region to be covered, and its pieces."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import shapely
from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import PointMm, RingMm, rings_mm
from fabkit.model.entry import Entry, in_halves
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.lattice import Point as FramePoint
from fabkit.model.piece import Piece, tones_on
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.output.canvas import Canvas
from fabkit.output.labels import ends_and_middles, label_at, label_place, rooms, write_label
from fabkit.output.pieces import BALL_OF_PITCH
from fabkit.output.theme import LIGHT, Theme, ink_on

#: Line widths and the height of a capital, in grid units, with the widest a line may be in mm.
_GRID, _EDGE, _JOINT, _RIM, _LABEL = 0.016, 0.05, 0.014, 0.04, 0.36
_WIDEST_MM = 0.6
#: A scale of one to this is easy to reckon with.
_EASY = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200)
#: How much of its colour a piece keeps that lies there already, and one of balls below its balls.
_PALE, _BELOW_BALLS = 0.3, 0.4


@dataclass
class BoardDrawing:
    """Cells of a lattice at one place of a page.

    Attributes:
        unit_mm: length of the pieces' grid unit.
        origin_mm: where on the page the lattice's origin comes to lie.
        balls: whether pieces are made of balls, and cells are seats for them.
        theme: the colours of everything but the pieces.
        halves: cells of the lattice in one grid unit's length; see `fabkit.model.entry.Entry`.
        written: whether labels are text instead of areas: many small ones take less room.
    """

    canvas: Canvas
    lattice: Lattice
    unit_mm: float
    origin_mm: PointMm
    balls: bool
    theme: Theme = LIGHT
    halves: int = 1
    written: bool = False
    _outlines: dict[frozenset[Cell], list[list[PointMm]]] = field(default_factory=dict)

    @property
    def _ball_mm(self) -> float:
        return BALL_OF_PITCH * self.unit_mm

    def region(self, cells: frozenset[Cell]) -> None:
        """What is to be covered: a light ground with faint cells, or seats for balls."""
        style = self.theme.filled("ground", "region")
        self.canvas.polygon(self._outline(cells), **style)
        if self.balls:
            seat = self.theme.filled("seat")
            for x, y in self._at(sorted(cells)):
                self.canvas.circle(x, y, self._ball_mm / 2, **seat)
            return
        # The cells of two lattices half a unit apart would be no help.
        edges = [self._at(edge) for edge in self._inner_edges(cells)] if self.halves == 1 else []
        if edges:
            self.canvas.polygon(edges, fill="none", **self._line("faint", _GRID))

    def silhouette(self, cells: frozenset[Cell]) -> None:
        """What is to be covered as one plain area, with its holes."""
        self.canvas.polygon(self._outline(cells), **self.theme.filled("silhouette", "region"))

    def rim(self, cells: frozenset[Cell]) -> None:
        """The line around a region, drawn last."""
        self.canvas.polygon(self._outline(cells), fill="none", **self._line("ink", _RIM))

    def pieces(self, lying: Sequence[tuple[Piece, frozenset[Cell]]], pale: bool = False) -> None:
        """Pieces in their colours, with thin joints between them and their labels.

        A joint is a light line in a dark one, since one of both stands out from any colour. Pale
        ones only show what lies there already.
        """
        for piece, cells in lying:
            self._area(piece, cells, _PALE if pale else 1.0)
        outlines = [ring for _, cells in lying for ring in self._outline(cells)]
        if outlines:
            self.canvas.polygon(outlines, fill="none", **self._line("edge", _EDGE))
            self.canvas.polygon(outlines, fill="none", **self._line("joint", _JOINT))
        for piece, cells in lying:
            self._label(piece, cells, pale)

    def _area(self, piece: Piece, cells: frozenset[Cell], strength: float) -> None:
        """What a piece fills, in one colour or two."""
        full = f"{strength:.2g}"
        below = f"{strength * _BELOW_BALLS:.2g}" if self.balls else full
        outline = self._outline(cells)
        if strength < 1 and not self.balls:  # else the grid below would seem to cut the piece
            self.canvas.polygon(outline, **self.theme.filled("ground", "below"))
        self.canvas.polygon(outline, fill=piece.colour, fill_opacity=below, class_="piece")
        toned = self._toned(piece, cells)
        if toned:
            style = {"fill": piece.tone, "fill_opacity": full, "class_": "tone"}
            self.canvas.polygon(self._outline(toned), **style)
        for x, y in self._at(sorted(cells)) if self.balls else ():
            self.canvas.circle(x, y, self._ball_mm / 2, fill=piece.colour, fill_opacity=full)

    def _toned(self, piece: Piece, cells: frozenset[Cell]) -> frozenset[Cell]:
        """Which cells have the piece's second colour."""
        if piece.tones and self.halves > 1:
            form = piece.forms[0]
            whole = replace(form, cells=in_halves(self.lattice, form.cells))
            tones = in_halves(self.lattice, piece.tones)
            piece = replace(piece, forms=(whole,), tones=tones)
        return tones_on(self.lattice, piece, cells)

    def _line(self, role: str, units: float) -> dict[str, str]:
        """The style of a line around pieces and regions."""
        width = f"{min(units * self.unit_mm, _WIDEST_MM):.2f}"
        return self.theme.lined(role) | {"stroke_width": width, "stroke_linejoin": "round"}

    def _label(self, piece: Piece, cells: frozenset[Cell], pale: bool) -> None:
        """The label, as near to the middle of the piece as it lies well inside."""

        def ink(colour: str, name: str) -> dict[str, str]:
            quiet = self.theme.filled("quiet", name)
            return quiet if pale else {"fill": ink_on(colour), "class_": name}

        toned = self._toned(piece, cells)
        place, height_mm = self._label_place(piece, cells, bool(toned))
        area = None if self.written else label_at(piece.label, place, height_mm)
        squares = shapely.union_all(
            [Polygon(self._at(self.lattice.ring(one))) for one in sorted(toned)]
        )
        if area is None:
            below = piece.tone if squares.contains(Point(place)) else piece.colour
            write_label(self.canvas, piece.label, place, height_mm, **ink(below, "label title"))
            return
        # All parts of it in one path.
        self.canvas.polygon(_rings(area), **ink(piece.colour, "label"))
        on_tones = area.intersection(squares)
        if not on_tones.is_empty:
            self.canvas.polygon(_rings(on_tones), **ink(piece.tone, "label-on-tone"))

    def _label_place(
        self, piece: Piece, cells: frozenset[Cell], chequered: bool
    ) -> tuple[PointMm, float]:
        """Where the label goes, and its height. On balls and squares of two colours it is in one."""
        places = self._at(sorted(cells))
        x, y = (math.fsum(values) / len(places) for values in zip(*places, strict=True))
        if self.balls:
            free_mm = [self._ball_mm / 2] * len(places)
        else:
            if not chequered:
                edges = {edge for cell in cells for edge in self.lattice.cell_edges(cell)}
                places += ends_and_middles(self._at(edge) for edge in edges)
            places, free_mm = rooms(places, self._outline(cells))
        return label_place(piece.label, places, free_mm, (x, y), _LABEL * self.unit_mm)

    def _inner_edges(self, cells: frozenset[Cell]) -> Iterator[tuple[FramePoint, FramePoint]]:
        """The edges between cells, each once; not the diagonals that quarter a square."""
        inside = {edge for cell in cells for edge in self.lattice.cell_edges(cell)}
        quarters = self.lattice.cells_per_unit > 1
        for (ax, ay), (bx, by) in sorted(inside):
            diagonal = quarters and ax != bx and ay != by
            if (ax, ay) < (bx, by) and ((bx, by), (ax, ay)) in inside and not diagonal:
                yield (ax, ay), (bx, by)

    def _outline(self, cells: frozenset[Cell]) -> list[list[PointMm]]:
        if cells not in self._outlines:
            rings = rings_of_cells(self.lattice, cells)
            self._outlines[cells] = [self._at(ring) for ring in rings]
        return self._outlines[cells]

    def _at(self, points: Iterable[FramePoint]) -> list[PointMm]:
        """Frame points on the page."""
        left, bottom = self.origin_mm
        cell_mm = self.unit_mm / self.halves
        return [
            (left + x * cell_mm, bottom + y * cell_mm) for x, y in in_units(self.lattice, points)
        ]


def _rings(area: BaseGeometry) -> list[RingMm]:
    """Every ring of an area."""
    parts = [part for part in getattr(area, "geoms", [area]) if part.geom_type == "Polygon"]
    return [ring for part in parts for ring in rings_mm(part)]


def extent(lattice: Lattice, cells: Collection[Cell]) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of some cells, in grid units.

    Example:
        >>> from fabkit.model.library import load_set
        >>> block = load_set("iqblock")
        >>> extent(block.lattice, block.boards[0].cells)
        (0.0, -8.0, 8.0, 8.0)
    """
    corners = [point for ring in rings_of_cells(lattice, cells) for point in ring]
    xs, ys = zip(*in_units(lattice, corners), strict=True)
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def size_mm(puzzle: PuzzleSet, entry: Entry, unit_mm: float) -> tuple[float, float]:
    """Width and height of a challenge's region."""
    _, _, wide, high = extent(puzzle.lattice, entry.region)
    return wide * unit_mm / entry.halves, high * unit_mm / entry.halves


def easy_scale(size: tuple[float, float], room: tuple[float, float]) -> float:
    """One to what something is drawn so that its width and height fit into a room.

    The least easy number; a less easy one when even 1 : 200 is too large.

    Example:
        >>> easy_scale((160, 160), (60, 50))
        4
    """
    least = max(want / there for want, there in zip(size, room, strict=True))
    return next((scale for scale in _EASY if scale >= least - 1e-6), least)


def board_at(
    canvas: Canvas,
    puzzle: PuzzleSet,
    entry: Entry,
    unit_mm: float,
    corner: PointMm,
    theme: Theme = LIGHT,
    written: bool = False,
) -> BoardDrawing:
    """The lattice of a challenge, where its region's lower left corner is at a place."""
    left, bottom, _, _ = extent(puzzle.lattice, entry.region)
    cell_mm = unit_mm / entry.halves
    origin = corner[0] - left * cell_mm, corner[1] - bottom * cell_mm
    lattice, balls = puzzle.lattice, puzzle.made_of_balls
    return BoardDrawing(canvas, lattice, unit_mm, origin, balls, theme, entry.halves, written)


def draw_challenge(
    board: BoardDrawing, puzzle: PuzzleSet, entry: Entry, grid: bool = False
) -> None:
    """What is to be covered, with the pieces that are given.

    A plain silhouette, unless there is more to see: a board of the set shows its cells or seats,
    and so does a region on which pieces lie already, or any with `grid`.
    """
    if grid or entry.given or any(one.cells == entry.region for one in puzzle.boards):
        board.region(entry.region)
    else:
        board.silhouette(entry.region)
    draw_pieces(board, puzzle, {given.piece: given.cells for given in entry.given})
    board.rim(entry.region)


def draw_solution(board: BoardDrawing, puzzle: PuzzleSet, entry: Entry) -> None:
    """A challenge's solution, with all of its pieces; see `draw_challenge`."""
    board.region(entry.region)
    draw_pieces(board, puzzle, entry.solution or {})
    board.rim(entry.region)


def draw_pieces(
    board: BoardDrawing,
    puzzle: PuzzleSet,
    layout: Mapping[str, frozenset[Cell]],
    pale: bool = False,
) -> None:
    """Pieces where they lie, in the set's order; see `BoardDrawing.pieces`."""
    lying = [(piece, layout[piece.id]) for piece in puzzle.pieces if piece.id in layout]
    board.pieces(lying, pale)
