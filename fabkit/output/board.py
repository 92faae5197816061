"""Challenges and solutions on a page at any scale: the region to be covered, and its pieces."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import shapely
from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.outline import PointMm
from fabkit.model.entry import Entry, in_halves
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.lattice import Point as FramePoint
from fabkit.model.piece import Piece, tones_on
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.output.canvas import Canvas
from fabkit.output.labels import ends_and_middles, label_at, label_place, rooms
from fabkit.output.pieces import BALL_OF_PITCH, parts_of
from fabkit.output.theme import CAPITAL, LIGHT, Theme, ink_on

#: Line widths and the height of a capital, in grid units, with the widest a line may be in mm.
_GRID, _EDGE, _JOINT, _RIM, _LABEL = 0.016, 0.05, 0.014, 0.04, 0.36
_WIDEST_MM = 0.6
#: A scale of one to this is easy to reckon with.
_EASY = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200)
#: How much of its colour a piece keeps that lies there already, and one of balls below its balls.
_PALE, _BELOW_BALLS = 0.3, 0.4


class BoardDrawing:
    """Cells of a lattice at one place of a page.

    Args:
        canvas: where to draw.
        lattice: of the cells.
        unit_mm: length of the pieces' grid unit.
        origin_mm: where on the page the lattice's origin comes to lie.
        balls: whether pieces are made of balls, and cells are seats for them.
        theme: the colours of everything but the pieces.
        halves: cells of the lattice in one grid unit's length; see `fabkit.model.entry.Entry`.
        written: whether labels are text instead of areas: many small ones take less room.
    """

    def __init__(
        self,
        canvas: Canvas,
        lattice: Lattice,
        unit_mm: float,
        origin_mm: PointMm,
        balls: bool,
        theme: Theme = LIGHT,
        halves: int = 1,
        written: bool = False,
    ) -> None:
        self._canvas = canvas
        self._lattice = lattice
        self._unit_mm = unit_mm
        self._origin_mm = origin_mm
        self._balls = balls
        self._theme = theme
        self._halves = halves
        self._written = written
        self._outlines: dict[frozenset[Cell], list[list[PointMm]]] = {}
        self._ball_mm = BALL_OF_PITCH * unit_mm

    def region(self, cells: frozenset[Cell]) -> None:
        """What is to be covered: a light ground with faint cells, or seats for balls."""
        style = self._theme.filled("ground", "region")
        self._canvas.polygon(self._outline(cells), **style)
        if self._balls:
            seat = self._theme.filled("seat")
            for x, y in self._at(sorted(cells)):
                self._canvas.circle(x, y, self._ball_mm / 2, **seat)
            return
        # The cells of two lattices half a unit apart would be no help.
        edges = [self._at(edge) for edge in self._inner_edges(cells)] if self._halves == 1 else []
        if edges:
            self._canvas.polygon(edges, fill="none", **self._line("faint", _GRID))

    def silhouette(self, cells: frozenset[Cell]) -> None:
        """What is to be covered as one plain area, with its holes."""
        self._canvas.polygon(self._outline(cells), **self._theme.filled("silhouette", "region"))

    def rim(self, cells: frozenset[Cell]) -> None:
        """The line around a region, drawn last."""
        self._canvas.polygon(self._outline(cells), fill="none", **self._line("ink", _RIM))

    def pieces(self, lying: Sequence[tuple[Piece, frozenset[Cell]]], pale: bool = False) -> None:
        """Pieces in their colours, with thin joints between them and their labels.

        A joint is a light line in a dark one, since one of both stands out from any colour. Pale
        ones only show what lies there already.
        """
        for piece, cells in lying:
            self._area(piece, cells, _PALE if pale else 1.0)
        outlines = [ring for _, cells in lying for ring in self._outline(cells)]
        if outlines:
            self._canvas.polygon(outlines, fill="none", **self._line("edge", _EDGE))
            self._canvas.polygon(outlines, fill="none", **self._line("joint", _JOINT))
        for piece, cells in lying:
            self._label(piece, cells, pale)

    def _area(self, piece: Piece, cells: frozenset[Cell], strength: float) -> None:
        """What a piece fills, in one colour or two."""
        full = f"{strength:.2g}"
        below = f"{strength * _BELOW_BALLS:.2g}" if self._balls else full
        outline = self._outline(cells)
        if strength < 1 and not self._balls:  # else the grid below would seem to cut the piece
            self._canvas.polygon(outline, **self._theme.filled("ground", "below"))
        self._canvas.polygon(outline, fill=piece.colour, fill_opacity=below, class_="piece")
        toned = self._toned(piece, cells)
        if toned:
            style = {"fill": piece.tone, "fill_opacity": full, "class_": "tone"}
            self._canvas.polygon(self._outline(toned), **style)
        for x, y in self._at(sorted(cells)) if self._balls else ():
            self._canvas.circle(x, y, self._ball_mm / 2, fill=piece.colour, fill_opacity=full)

    def _toned(self, piece: Piece, cells: frozenset[Cell]) -> frozenset[Cell]:
        """Which cells have the piece's second colour."""
        if piece.tones and self._halves > 1:
            form = piece.forms[0]
            whole = replace(form, cells=in_halves(self._lattice, form.cells))
            tones = in_halves(self._lattice, piece.tones)
            piece = replace(piece, forms=(whole,), tones=tones)
        return tones_on(self._lattice, piece, cells)

    def _line(self, role: str, units: float) -> dict[str, str]:
        """The style of a line around pieces and regions."""
        width = f"{min(units * self._unit_mm, _WIDEST_MM):.2f}"
        return self._theme.lined(role) | {"stroke_width": width, "stroke_linejoin": "round"}

    def _label(self, piece: Piece, cells: frozenset[Cell], pale: bool) -> None:
        """The label, as near to the middle of the piece as it lies well inside."""

        def ink(colour: str, name: str) -> dict[str, str]:
            quiet = self._theme.filled("quiet", name)
            return quiet if pale else {"fill": ink_on(colour), "class_": name}

        toned = self._toned(piece, cells)
        place, height_mm = self._label_place(piece, cells, bool(toned))
        area = None if self._written else label_at(piece.label, place, height_mm)
        squares = shapely.union_all(
            [Polygon(self._at(self._lattice.ring(cell))) for cell in sorted(toned)]
        )
        if area is None:
            below = piece.tone if squares.contains(Point(place)) else piece.colour
            style = ink(below, "label title") | {"text_anchor": "middle"}
            base = place[1] - height_mm / 2
            self._canvas.text(place[0], base, piece.label, height_mm / CAPITAL, **style)
            return
        self._canvas.polygon(_rings(area), **ink(piece.colour, "label"))
        on_tones = area.intersection(squares)
        if not on_tones.is_empty:
            self._canvas.polygon(_rings(on_tones), **ink(piece.tone, "label-on-tone"))

    def _label_place(
        self, piece: Piece, cells: frozenset[Cell], chequered: bool
    ) -> tuple[PointMm, float]:
        """Where the label goes, and its height. On balls and squares of two colours it is in one."""
        places = self._at(sorted(cells))
        balance = math.fsum(x for x, _ in places), math.fsum(y for _, y in places)
        middle = balance[0] / len(places), balance[1] / len(places)
        if self._balls:
            free_mm = [self._ball_mm / 2] * len(places)
        else:
            if not chequered:
                edges = {edge for cell in cells for edge in self._lattice.cell_edges(cell)}
                places += ends_and_middles(self._at(edge) for edge in edges)
            places, free_mm = rooms(places, self._outline(cells))
        return label_place(piece.label, places, free_mm, middle, _LABEL * self._unit_mm)

    def _inner_edges(self, cells: frozenset[Cell]) -> Iterator[tuple[FramePoint, FramePoint]]:
        """The edges between cells, each once; not the diagonals that quarter a square."""
        inside = {edge for cell in cells for edge in self._lattice.cell_edges(cell)}
        quarters = self._lattice.cells_per_unit > 1
        for (ax, ay), (bx, by) in sorted(inside):
            diagonal = quarters and ax != bx and ay != by
            if (ax, ay) < (bx, by) and ((bx, by), (ax, ay)) in inside and not diagonal:
                yield (ax, ay), (bx, by)

    def _outline(self, cells: frozenset[Cell]) -> list[list[PointMm]]:
        if cells not in self._outlines:
            rings = rings_of_cells(self._lattice, cells)
            self._outlines[cells] = [self._at(ring) for ring in rings]
        return self._outlines[cells]

    def _at(self, points: Iterable[FramePoint]) -> list[PointMm]:
        """Frame points on the page."""
        left, bottom = self._origin_mm
        cell_mm = self._unit_mm / self._halves
        return [
            (left + x * cell_mm, bottom + y * cell_mm) for x, y in in_units(self._lattice, points)
        ]


def _rings(area: BaseGeometry) -> list[list[PointMm]]:
    """Every ring of an area, without its repeated last corner."""
    return [
        list(ring.coords)[:-1]
        for part in parts_of(area)
        for ring in (part.exterior, *part.interiors)
    ]


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
    """The lattice of a challenge, where its region's lower left corner is at a place.

    `unit_mm` is the length of a grid unit of the pieces on the page.
    """
    left, bottom, _, _ = extent(puzzle.lattice, entry.region)
    cell_mm = unit_mm / entry.halves
    origin = corner[0] - left * cell_mm, corner[1] - bottom * cell_mm
    balls = puzzle.made_of_balls
    return BoardDrawing(
        canvas, puzzle.lattice, unit_mm, origin, balls, theme, entry.halves, written
    )


def draw_challenge(
    board: BoardDrawing, puzzle: PuzzleSet, entry: Entry, grid: bool = False
) -> None:
    """What is to be covered, with the pieces that are given.

    A plain silhouette, unless there is more to see: a board of the set shows its cells or seats,
    and so does a region on which pieces lie already.

    With `grid`, cells are shown in any case.
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
