"""The sheet of one print plate: the bed from above, with everything that lies on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shapely import LineString, Point, Polygon, affinity, box
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.drawing.glyphs import lettering
from fabkit.drawing.outline import BlueprintError, PointMm, rings_mm
from fabkit.drawing.part import PartDrawing
from fabkit.output.svg import Drawing
from fabkit.output.theme import ink_on

_MARGIN_MM, _HEAD_MM, _FOOT_MM = 10.0, 18.0, 7.0
#: The bed's grid, for the eye; the distance of hatching lines; and the height of words.
_GRID_MM, _HATCH_MM, _WORDS_MM = 10.0, 4.0, 3.2


@dataclass(frozen=True)
class LyingPiece:
    """A piece on the bed.

    Attributes:
        blueprint: says which way it faces, too.
        matrix: from its frame to the bed's: x' = m[0] x + m[1] y + m[4], y' = m[2] x + m[3] y +
            m[5].
    """

    blueprint: PartDrawing
    matrix: tuple[float, float, float, float, float, float]

    def on_bed(self, shape: BaseGeometry) -> BaseGeometry:
        """Something of the piece, where it lies."""
        return affinity.affine_transform(shape, self.matrix)

    def letter(self) -> BaseGeometry | None:
        """The engraving; without one the piece's id, so that it can be told."""
        blueprint = self.blueprint
        if blueprint.label is not None:
            return self.on_bed(blueprint.label.front.polygon())
        try:
            shape = lettering(blueprint.piece)
        except BlueprintError:  # not among the letters that can be engraved
            return None
        at = blueprint.outline.representative_point()
        return self.on_bed(shape.moved(at.x, at.y, _WORDS_MM).polygon())


@dataclass(frozen=True)
class PlateView:
    """All that is drawn of a plate.

    Attributes:
        title: of the set.
        number: of the plate, from 1.
        count: of plates.
        bed_mm: width and depth of the bed; its lower left is the origin.
        edge_mm: width of the strip at its edge that is kept free.
        corner_mm: side of the square inside that strip, at the upper right, that is kept free; 0
            for none.
        pieces: what lies there.
        used: the part of the free area that pieces cover, from 0 to 1.
        pause_height_mm: where the print pauses for the magnets; None for no pause.
    """

    title: str
    number: int
    count: int
    bed_mm: tuple[float, float]
    edge_mm: float
    corner_mm: float
    pieces: tuple[LyingPiece, ...]
    used: float
    pause_height_mm: float | None


def plate_sheet(view: PlateView) -> str:
    """Draws a plate from above at 1:1, as an SVG document in mm.

    The strip at the bed's edge is darker, a corner that is kept free hatched. A dashed circle is a
    recess, or a magnet's cavity, under what is seen; a full one is open upwards. Of pieces that
    lie face down the letter is seen through the back.

    Example:
        >>> plate_sheet(PlateView("Mine", 1, 1, (180, 180), 5, 40, (), 0.0, None))[:4]
        '<svg'
    """
    width, depth = view.bed_mm
    title = f"{view.title}, plate {view.number} of {view.count}"
    height_mm = depth + 2 * _MARGIN_MM + _HEAD_MM + _FOOT_MM
    names = ", ".join(piece.blueprint.piece for piece in view.pieces)
    drawing = Drawing(width + 2 * _MARGIN_MM, height_mm, title, f"Pieces {names}.")
    top = height_mm - _MARGIN_MM - 5
    drawing.text(_MARGIN_MM, top, title, 7, class_="title")
    drawing.text(_MARGIN_MM, top - 6.5, _summary(view), 3.6, class_="quiet")
    bed = _Bed(drawing)
    bed.ground(view)
    for piece in view.pieces:
        bed.piece(piece)
    front = f"front of the bed, {format_mm(width)} wide and {format_mm(depth)} deep"
    bed.words(width / 2, 1 - _FOOT_MM, front, _WORDS_MM, class_="quiet", text_anchor="middle")
    return drawing.source()


def _summary(view: PlateView) -> str:
    pause = view.pause_height_mm
    return " · ".join(
        [
            many(len(view.pieces), "piece"),
            f"bed {view.bed_mm[0]:g} x {format_mm(view.bed_mm[1])}",
            f"{view.used:.0%} of the free area used",
            *(["face down"] if any(p.blueprint.facing == "down" for p in view.pieces) else []),
            "no pause" if pause is None else f"pause for the magnets at {format_mm(pause)}",
        ]
    )


class _Bed:
    """Draws in the bed's frame."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing, self._theme = drawing, drawing.theme

    def ground(self, view: PlateView) -> None:
        """The bed, its grid, and what is kept free."""
        (width, depth), edge = view.bed_mm, view.edge_mm
        bed, inner = box(0, 0, width, depth), box(edge, edge, width - edge, depth - edge)
        self._area(bed, **self._theme.filled("seat"))
        self._area(bed, fill="none", stroke_width="0.5", **self._theme.lined("quiet"))
        self._area(inner, **self._theme.filled("ground"))
        across = [i * _GRID_MM for i in range(1, int(width // _GRID_MM) + 1)]
        up = [i * _GRID_MM for i in range(1, int(depth // _GRID_MM) + 1)]
        lines = [((x, 0.0), (x, depth)) for x in across] + [((0.0, y), (width, y)) for y in up]
        self._lines(lines, inner, stroke_width="0.2", **self._theme.lined("seat"))
        if edge:
            self._dashed(inner)
        if view.corner_mm:
            self._corner(inner, view.corner_mm)

    def _corner(self, inner: Polygon, side_mm: float) -> None:
        _, _, right, top = inner.bounds
        corner = box(right - side_mm, top - side_mm, right, top)
        self._area(corner, **self._theme.filled("ground"))
        count = int(2 * side_mm / _HATCH_MM)
        starts = [(right - side_mm, top - side_mm + i * _HATCH_MM) for i in range(1, count + 1)]
        hatch = [((x, y), (x + 2 * side_mm, y - 2 * side_mm)) for x, y in starts]
        self._lines(hatch, corner, stroke_width="0.35", **self._theme.lined("faint"))
        self._dashed(corner)
        size = min(_WORDS_MM, side_mm / 9)
        x, y = corner.centroid.coords[0]
        behind = box(x - 4.2 * size, y - 1.6 * size, x + 4.2 * size, y + 1.6 * size)
        self._area(behind, **self._theme.filled("ground"))
        for i, line in enumerate(("kept free for", "the prime tower")):
            base = y + (0.25 - 1.2 * i) * size
            self.words(x, base, line, size, text_anchor="middle", class_="quiet")

    def piece(self, piece: LyingPiece) -> None:
        """A piece with its recesses and its letter."""
        blueprint = piece.blueprint
        ink, down = ink_on(blueprint.colour), blueprint.facing == "down"
        edge = {"stroke_width": "0.25", "stroke_linejoin": "round", **self._theme.lined("edge")}
        self._area(piece.on_bed(blueprint.outline), fill=blueprint.colour, **edge)
        face = {"stroke": ink, "stroke_opacity": "0.3", "stroke_width": "0.2"}
        self._area(piece.on_bed(blueprint.foot if down else blueprint.face), fill="none", **face)
        for recess in blueprint.recesses:
            line = {"stroke": ink, "stroke_opacity": "0.7", "stroke_width": "0.3"}
            line |= {} if down and recess.is_open else {"stroke_dasharray": "1.2 0.8"}
            for centre_mm, diameter_mm in recess.circles:
                at = piece.on_bed(Point(centre_mm))
                ((x, y),) = _on_page([(at.x, at.y)])
                self._drawing.circle(x, y, diameter_mm / 2, fill="none", **line)
        letter = piece.letter()
        if letter is not None:
            self._area(letter, fill=ink, fill_opacity="0.35" if down else "1")

    def words(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """A line of text at a point of the bed."""
        ((left, base),) = _on_page([(x, y)])
        self._drawing.text(left, base, text, size_mm, **style)

    def _area(self, area: BaseGeometry, **style: str) -> None:
        for part in getattr(area, "geoms", [area]):
            self._drawing.polygon([_on_page(ring) for ring in rings_mm(part)], **style)

    def _lines(
        self, lines: Sequence[tuple[PointMm, PointMm]], inside: Polygon, **style: str
    ) -> None:
        for line in lines:
            cut = LineString(line).intersection(inside)
            if cut.geom_type == "LineString" and not cut.is_empty:
                self._drawing.line(_on_page(cut.coords), **style)

    def _dashed(self, area: Polygon) -> None:
        """The border of something that is kept free."""
        dashes = {"stroke_width": "0.3", "stroke_dasharray": "2 1.4"}
        self._area(area, fill="none", **self._theme.lined("quiet"), **dashes)


def _on_page(points: Iterable[PointMm]) -> list[PointMm]:
    """Points of the bed's frame on the page."""
    return [(x + _MARGIN_MM, y + _MARGIN_MM + _FOOT_MM) for x, y in points]
