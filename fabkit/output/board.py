"""Drawings of challenges and solutions at any scale: the region to cover, and its pieces."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import shapely
from shapely import Point, Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.core.colours import ink_on
from fabkit.drawing.marks import cross_area, mark_places
from fabkit.drawing.outline import PointMm, RingMm, rings_mm
from fabkit.model.clues import ClueFilter
from fabkit.model.entry import subdivide
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.lattice import Point as FramePoint
from fabkit.model.piece import CROSS, DOT, HOLE, LOOKS, PLAIN, Piece, looks_at
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, Clue, Entry, PuzzleSet, to_units
from fabkit.output.canvas import Canvas, Points
from fabkit.output.labels import (
    clearances,
    draw_label_text,
    label_area,
    place_board_texts,
    place_label,
    text_area,
    vertices_and_midpoints,
)
from fabkit.output.pieces import BALL_DIAMETER_IN_PITCHES
from fabkit.output.theme import LIGHT, Theme

#: The cells of each piece, by id.
Layout = Mapping[str, frozenset[Cell]]
_GRID = 0.016  # width of the lines between cells, in grid units
_EDGE = 0.05  # width of the dark line around pieces, in grid units
_JOINT = 0.014  # width of the light line inside it, in grid units
_RIM = 0.04  # width of the line around a region, in grid units
_MAX_LINE_MM = 0.6  # the maximum width of all of them
_LABEL = 0.36  # the maximum height of a label's capitals, in grid units
#: Preferred scales, 1 to these.
_SCALES = (1, 1.5, 2, 2.5, *range(3, 7), 8, 10, 12, *range(15, 31, 5), 40, 50, 75, 100, 150, 200)
#: The opacity of pieces placed before.
_PALE = 0.3
#: The opacity of the area below balls.
_BELOW_BALLS = 0.4
#: The opacity of cells that a certain piece or colour must cover.
_CLUE_OPACITY = 0.45
#: Sizes of marks, as fractions of the distance from a cell's centre to its edge.
_HOLE_RADIUS = 0.34
_DOT_RADIUS = 0.24
_CLUE_RADIUS = 0.56  # of the dot in the colour that must cover a cell
_CROSS_WIDTH = 0.9
_CROSS_STROKE = 0.22
_MARK_LINE = 0.1  # width of the lines of a ring
_BLOCKER_SIZE = 0.84  # of its place, in each direction


@dataclass
class BoardPainter:
    """A painter of regions and pieces of a set on a page.

    Attributes:
        origin_mm: place of the lattice's origin.
        halves: as in `fabkit.model.puzzle.Entry`.
        written: whether labels are text instead of areas, which takes fewer bytes.
        challenge: the challenge whose board is drawn; pieces show the marks that its clues demand.
    """

    canvas: Canvas
    puzzle: PuzzleSet
    unit_mm: float
    origin_mm: PointMm
    theme: Theme = LIGHT
    halves: int = 1
    written: bool = False
    challenge: Challenge | None = None
    _outlines: dict[frozenset[Cell], list[list[PointMm]]] = field(default_factory=dict)

    def draw_challenge(self, entry: Entry, grid: bool = False) -> None:
        """Draw the board of a challenge with the given pieces. A region alone is a plain
        silhouette; cells or sockets show on boards of the set, with given pieces, with
        clues, and with `grid`."""
        challenge = entry.challenge
        is_board = any(board.cells == challenge.board_cells for board in self.puzzle.boards)
        shows_cells = grid or is_board or challenge.given or challenge.clues or challenge.minus
        self.ground(challenge, plain=not shows_cells)
        self.layout({given.piece: given.cells for given in challenge.given})
        self.rim(challenge.board_cells)

    def draw_solution(self, entry: Entry) -> None:
        """Draw the solution of a challenge."""
        self.ground(entry.challenge, hints=False)
        self.layout(entry.solution)
        self.rim(entry.challenge.board_cells)

    def ground(self, challenge: Challenge, plain: bool = False, hints: bool = True) -> None:
        """Draw the board of a challenge without pieces: cells, texts, open cells, blockers, and
        with `hints` what must cover its cells."""
        self.region(challenge.board_cells, plain, self._painted(challenge.clues))
        if challenge.minus:
            paper = self.theme.filled("paper", "open")
            self.canvas.polygon(self._outline(challenge.minus), **paper)
        if challenge.blocked:
            for centre, cells in self._squares(challenge.minus):
                outline = Polygon(self._outline(cells)[0])
                block = affinity.scale(outline, _BLOCKER_SIZE, _BLOCKER_SIZE, origin=centre)
                self.canvas.polygon(polygon_rings(block), **self.theme.filled("quiet", "blocker"))
        left, bottom = self.origin_mm
        board = self.puzzle.board_with(challenge)
        for label, (x, y), height in place_board_texts(self.puzzle.lattice, board):
            middle = left + x * self.unit_mm, bottom + y * self.unit_mm
            open_role = "paper" if challenge.blocked else "ink"
            role = open_role if label.cells <= challenge.minus else "quiet"
            height_mm = height * self.unit_mm
            style = self.theme.filled(role, "board-text")
            area = None if self.written else text_area(label.text, middle, height_mm)
            if area is None:
                draw_label_text(self.canvas, label.text, middle, height_mm, **style)
            else:
                self.canvas.polygon(polygon_rings(area), **style)
        if challenge.minus and not challenge.blocked:
            self._stroke(self._outline(challenge.minus), "ink", _RIM)
        is_painted = bool(self._painted(challenge.clues))
        for clue in challenge.clues if hints else ():
            self._clue(clue, is_painted)

    def _painted(self, clues: Iterable[Clue]) -> dict[str, frozenset[Cell]]:
        """Return the cells whose clue is a painted square of a piece, by their colour."""
        painted = dict[str, frozenset[Cell]]()
        for clue in clues:
            look = self.puzzle.marks.get(clue.mark, "")
            if look.startswith("#"):
                painted[look] = painted.get(look, frozenset()) | clue.cells
        return painted

    def _clue(self, clue: Clue, is_painted: bool) -> None:
        """Draw what must cover some cells: dots in the colour of a piece, its label, or a mark.

        On a board with painted cells the others are plain.
        """
        piece = self.puzzle.piece(clue.piece) if clue.piece else None
        colour = piece.colour if piece else clue.colour
        look = self.puzzle.marks.get(clue.mark, clue.mark)
        shows_mark = look in LOOKS or (look == PLAIN and not is_painted)
        if colour and not look:
            style = {"fill": colour, "fill_opacity": f"{_CLUE_OPACITY:g}", "class_": "clue"}
            self.canvas.polygon(self._outline(clue.cells), **style)
        for (x, y), cells in self._squares(clue.cells):
            reach_mm = self._reach((x, y), cells)
            label_mm = _CLUE_RADIUS * reach_mm
            aside_mm = 0.0
            if shows_mark:
                self._mark(look, (x, y), reach_mm, colour or self.theme.ink)
                aside_mm = label_mm
                label_mm /= 2
            elif colour:
                self.canvas.circle(x, y, _CLUE_RADIUS * reach_mm, fill=colour, class_="clue")
            if piece:
                middle = x + aside_mm, y - aside_mm
                _, height_mm = place_label(piece.label, [middle], [label_mm], middle, label_mm)
                ink = colour if shows_mark else ink_on(colour)
                style = {"fill": ink, "class_": "clue label title"}
                draw_label_text(self.canvas, piece.label, middle, height_mm, **style)

    def _mark(self, look: str, centre: PointMm, reach_mm: float, colour: str) -> None:
        """Draw a mark of a piece, or that of a clue; second colours are areas, not marks."""
        x, y = centre
        width = f"{_MARK_LINE * reach_mm:.2f}"
        ring = {"stroke": colour, "stroke_width": width, "class_": "mark"}
        if look == HOLE:
            below = self.theme.filled("ground", "mark")["fill"]
            self.canvas.circle(x, y, _HOLE_RADIUS * reach_mm, **ring | {"fill": below})
        elif look == DOT:
            self.canvas.circle(x, y, _DOT_RADIUS * reach_mm, fill=colour, class_="mark")
        elif look == CROSS:
            cross = cross_area(centre, _CROSS_WIDTH * reach_mm, _CROSS_STROKE * reach_mm)
            self.canvas.polygon(polygon_rings(cross), fill=colour, class_="mark")
        elif look == PLAIN:
            half = _DOT_RADIUS * reach_mm
            self.canvas.polygon([[(x - half, y), (x + half, y)]], fill="none", **ring)

    def _squares(self, cells: Iterable[Cell]) -> list[tuple[PointMm, frozenset[Cell]]]:
        """Return units of area with their centres on the page: a square has four quarters."""
        left, bottom = self.origin_mm
        squares = mark_places(self.puzzle.lattice, cells, self.unit_mm / self.halves)
        return [((left + x, bottom + y), square) for (x, y), square in squares.items()]

    def _reach(self, centre: PointMm, cells: frozenset[Cell]) -> float:
        """Return the distance from the centre of a unit of area to its edge, in mm."""
        return clearances([centre], self._outline(cells))[1][0]

    def layout(self, layout: Layout, pale: bool = False) -> None:
        """Draw placed pieces in the set's order; see `pieces`."""
        pieces = [piece for piece in self.puzzle.pieces if piece.id in layout]
        self.pieces([(piece, layout[piece.id]) for piece in pieces], pale)

    def region(
        self,
        cells: frozenset[Cell],
        plain: bool = False,
        painted: Mapping[str, frozenset[Cell]] = MappingProxyType({}),
    ) -> None:
        """Draw the region to cover: a light ground with cells or ball sockets, or a `plain` area;
        some cells are `painted`, by colour."""
        ground = self.theme.filled("silhouette" if plain else "ground", "region")
        self.canvas.polygon(self._outline(cells), **ground)
        for colour, painted_cells in painted.items():
            self.canvas.polygon(self._outline(painted_cells), fill=colour, class_="painted")
        if self.puzzle.made_of_balls and not plain:
            self._balls(cells, **self.theme.filled("socket"))
        elif not plain and self.halves == 1:  # cells of two lattices would only confuse
            edges = {edge for cell in cells for edge in self.puzzle.lattice.visible_edges(cell)}
            inner = sorted(edge for edge in edges if edge < edge[::-1] and edge[::-1] in edges)
            if inner:  # each once
                self._stroke(list(map(self._at, inner)), "faint", _GRID)

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
        looks = self._looks(piece, cells)
        if toned := self._outline(_toned(looks)):
            self.canvas.polygon(toned, fill=piece.tone, fill_opacity=full, class_="tone")
        ink = self.theme.quiet if pale else ink_on(piece.colour)
        for centre, square in self._squares(looks):
            self._mark(looks[min(square)], centre, self._reach(centre, square), ink)
        if self.puzzle.made_of_balls:
            self._balls(cells, fill=piece.colour, fill_opacity=full)

    def _balls(self, cells: frozenset[Cell], **style: str) -> None:
        for x, y in self._at(sorted(cells)):
            self.canvas.circle(x, y, BALL_DIAMETER_IN_PITCHES * self.unit_mm / 2, **style)

    def _looks(self, piece: Piece, cells: frozenset[Cell]) -> dict[Cell, str]:
        """Return the looks of the piece's marked cells, as the challenge's clues demand them."""
        lattice = self.puzzle.lattice
        if piece.tones and self.halves > 1:
            form = piece.forms[0]
            form = replace(form, cells=subdivide(lattice, form.cells))
            tones = subdivide(lattice, piece.tones)
            piece = replace(piece, forms=(form,), tones=tones, marks=(), back=())
        flips = self.challenge.flips if self.challenge else True
        clues = self.challenge.clues if self.challenge else ()
        demands = ClueFilter(lattice, piece, clues, flips).marks
        return looks_at(lattice, piece, cells, self.puzzle.marks, demands, flips)

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

        lattice, looks = self.puzzle.lattice, self._looks(piece, cells)
        toned = sorted(_toned(looks))
        # The label covers no mark, if there is a cell without.
        marked = looks.keys() - toned
        points = self._at(sorted(cells - marked or cells))
        x, y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
        free_mm = [BALL_DIAMETER_IN_PITCHES * self.unit_mm / 2] * len(points)
        if not self.puzzle.made_of_balls:
            if not looks:  # else it stays in one cell
                edges = {edge for cell in cells for edge in lattice.cell_edges(cell)}
                points += vertices_and_midpoints(map(self._at, edges))
            points, free_mm = clearances(points, self._outline(cells))
        max_mm = _LABEL * self.unit_mm
        point, height_mm = place_label(piece.label, points, free_mm, (x, y), max_mm)
        area = None if self.written else label_area(piece.label, point, height_mm)
        squares = shapely.union_all([Polygon(self._at(lattice.ring(cell))) for cell in toned])
        if area is None:
            below = piece.tone if squares.contains(Point(point)) else piece.colour
            draw_label_text(self.canvas, piece.label, point, height_mm, **ink(below, "label title"))
        else:  # all parts in one path
            self.canvas.polygon(polygon_rings(area), **ink(piece.colour, "label"))
            if on_tones := area.intersection(squares):
                self.canvas.polygon(polygon_rings(on_tones), **ink(piece.tone, "label-on-tone"))

    def _outline(self, cells: frozenset[Cell]) -> list[list[PointMm]]:
        if cells not in self._outlines:
            rings = rings_of_cells(self.puzzle.lattice, cells)
            self._outlines[cells] = list(map(self._at, rings))
        return self._outlines[cells]

    def _at(self, points: Iterable[FramePoint]) -> list[PointMm]:
        """Convert frame points to the page."""
        left, bottom = self.origin_mm
        cell_mm = self.unit_mm / self.halves
        in_units = to_units(self.puzzle.lattice, points)
        return [(left + x * cell_mm, bottom + y * cell_mm) for x, y in in_units]


def _toned(looks: Mapping[Cell, str]) -> frozenset[Cell]:
    """Return the cells in the second colour."""
    return frozenset(cell for cell, look in looks.items() if look.startswith("#"))


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
    """Return width and height of a challenge's board."""
    _, _, wide, high = extent(puzzle.lattice, entry.challenge.board_cells)
    return wide * unit_mm / entry.halves, high * unit_mm / entry.halves


def preferred_scale(size: tuple[float, float], box: tuple[float, float]) -> float:
    """Return the smallest preferred scale (1 to this) at which a size fits into a room.

    Example:
        >>> preferred_scale((160, 160), (60, 50))
        4
    """
    smallest = max(size[0] / box[0], size[1] / box[1])
    return next((scale for scale in _SCALES if scale >= smallest - 1e-6), smallest)


def board_for(
    canvas: Canvas,
    puzzle: PuzzleSet,
    entry: Entry,
    unit_mm: float,
    corner: PointMm,
    theme: Theme = LIGHT,
    written: bool = False,
) -> BoardPainter:
    """Return the painter of a challenge, with the lower left corner of its board at `corner`."""
    left, bottom, _, _ = extent(puzzle.lattice, entry.challenge.board_cells)
    cell_mm = unit_mm / entry.halves
    origin = corner[0] - left * cell_mm, corner[1] - bottom * cell_mm
    return BoardPainter(
        canvas, puzzle, unit_mm, origin, theme, entry.halves, written, entry.challenge
    )
