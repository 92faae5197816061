"""The sheet of one print plate: the bed and its pieces from above."""

from __future__ import annotations

from collections.abc import Sequence

from shapely import LineString, Point, Polygon, box
from shapely.geometry.base import BaseGeometry

from fabkit.core.colours import ink_on
from fabkit.core.errors import pluralize
from fabkit.core.units import format_mm
from fabkit.drawing.glyphs import lettering
from fabkit.drawing.outline import DrawingError, PointMm
from fabkit.drawing.part import PartDrawing
from fabkit.drawing.placement import Matrix, placed_from_above
from fabkit.output.canvas import draw_area
from fabkit.output.svg import Drawing

_MARGIN_MM = 10.0  # the margin of the sheet
_HEAD_MM = 18.0  # height above the bed, for title and summary
_FOOT_MM = 7.0  # height below the bed, for its size
_GRID_MM = 10.0  # distance of the bed's grid lines
_HATCH_MM = 4.0  # distance of hatching lines
_WORDS_MM = 3.2  # the height of texts, and of ids in place of letters
_BY_MM = _MARGIN_MM, _MARGIN_MM + _FOOT_MM  # the bed's origin on the sheet
_Line = tuple[PointMm, PointMm]


def plate_sheet(
    title: str,
    pieces: Sequence[tuple[PartDrawing, Matrix]],
    bed_mm: tuple[float, float],
    edge_mm: float,
    corner_mm: float,
    used: float,
    pause_height_mm: float | None,
) -> str:
    """Draw a plate from above at 1:1, as an SVG document in mm. Areas to keep free are darker or
    hatched: a strip `edge_mm` wide, and inside it at the upper right a square `corner_mm` wide (0
    for none); `used` is the covered fraction of the rest, from 0 to 1. A dashed circle is a hidden
    recess or magnet cavity, a solid one opens upwards. Letters on the face-down side show through
    the back."""
    width, depth = bed_mm
    height_mm = depth + 2 * _MARGIN_MM + _HEAD_MM + _FOOT_MM
    names = ", ".join(part.piece for part, _ in pieces)
    drawing = Drawing(width + 2 * _MARGIN_MM, height_mm, title, f"Pieces {names}.")
    theme = drawing.theme
    top = height_mm - _MARGIN_MM - 5
    is_down = any(part.facing == "down" for part, _ in pieces)
    pause_mm = pause_height_mm
    pause = "no pause" if pause_mm is None else f"pause for the magnets at {format_mm(pause_mm)}"
    summary = (
        f"{pluralize(len(pieces), 'piece')} · bed {width:g} x {format_mm(depth)} · "
        f"{used:.0%} of the free area used · {'face down · ' if is_down else ''}{pause}"
    )
    drawing.text(_MARGIN_MM, top, title, 7, class_="title")
    drawing.text(_MARGIN_MM, top - 6.5, summary, 3.6, class_="quiet")
    bed = box(0, 0, width, depth)
    inner = box(edge_mm, edge_mm, width - edge_mm, depth - edge_mm)
    draw_area(drawing, bed, _BY_MM, **theme.filled("socket"))
    draw_area(drawing, bed, _BY_MM, fill="none", stroke_width="0.5", **theme.lined("quiet"))
    draw_area(drawing, inner, _BY_MM, **theme.filled("ground"))
    xs = [i * _GRID_MM for i in range(1, int(width // _GRID_MM) + 1)]
    ys = [i * _GRID_MM for i in range(1, int(depth // _GRID_MM) + 1)]
    lines = [((x, 0.0), (x, depth)) for x in xs] + [((0.0, y), (width, y)) for y in ys]
    _draw_lines(drawing, lines, inner, stroke_width="0.2", **theme.lined("socket"))
    if edge_mm:
        _draw_border(drawing, inner)
    if corner_mm:
        _draw_corner(drawing, inner, corner_mm)
    for part, matrix in pieces:
        _draw_piece(drawing, part, matrix)
    front = f"front of the bed, {format_mm(width)} wide and {format_mm(depth)} deep"
    corner = width / 2 + _BY_MM[0], 1 - _FOOT_MM + _BY_MM[1]
    drawing.text(*corner, front, _WORDS_MM, class_="quiet", text_anchor="middle")
    return drawing.source()


def _draw_corner(drawing: Drawing, inner: Polygon, side_mm: float) -> None:
    _, _, right, top = inner.bounds
    corner = box(right - side_mm, top - side_mm, right, top)
    draw_area(drawing, corner, _BY_MM, **drawing.theme.filled("ground"))
    count = int(2 * side_mm / _HATCH_MM)
    starts = [(right - side_mm, top - side_mm + i * _HATCH_MM) for i in range(1, count + 1)]
    hatch = [((x, y), (x + 2 * side_mm, y - 2 * side_mm)) for x, y in starts]
    _draw_lines(drawing, hatch, corner, stroke_width="0.35", **drawing.theme.lined("faint"))
    _draw_border(drawing, corner)
    size = min(_WORDS_MM, side_mm / 9)
    x, y = corner.centroid.coords[0]
    behind = box(x - 4.2 * size, y - 1.6 * size, x + 4.2 * size, y + 1.6 * size)
    draw_area(drawing, behind, _BY_MM, **drawing.theme.filled("ground"))
    for height, text in ((0.25, "reserved for"), (-0.95, "the prime tower")):
        corner = x + _BY_MM[0], y + height * size + _BY_MM[1]
        drawing.text(*corner, text, size, text_anchor="middle", class_="quiet")


def _draw_piece(drawing: Drawing, part: PartDrawing, matrix: Matrix) -> None:
    def draw(shape: BaseGeometry, **style: str) -> None:
        draw_area(drawing, placed_from_above(shape, matrix), _BY_MM, **style)

    ink = ink_on(part.colour)
    down = part.facing == "down"
    edge = {"stroke_width": "0.25", "stroke_linejoin": "round", **drawing.theme.lined("edge")}
    draw(part.outline, fill=part.colour, **edge)
    face = {"stroke": ink, "stroke_opacity": "0.3", "stroke_width": "0.2"}
    draw(part.foot if down else part.face, fill="none", **face)
    for recess in part.recesses:
        line = {"stroke": ink, "stroke_opacity": "0.7", "stroke_width": "0.3"}
        line |= {} if down and recess.is_open else {"stroke_dasharray": "1.2 0.8"}
        for centre_mm, diameter_mm in recess.circles:
            ((x, y),) = placed_from_above(Point(centre_mm), matrix).coords
            x, y = x + _BY_MM[0], y + _BY_MM[1]
            drawing.circle(x, y, diameter_mm / 2, fill="none", **line)
    draw(_letter(part), fill=part.letter_colour or ink, fill_opacity="0.35" if down else "1")


def _letter(part: PartDrawing) -> BaseGeometry:
    """Return the engraving; without one, the piece's id, to identify it."""
    if part.label is not None:
        return part.label.front.polygon()
    try:
        shape = lettering(part.piece)
    except DrawingError:  # not among the letters that can be engraved
        return Polygon()
    point = part.outline.representative_point()
    return shape.moved(point.x, point.y, _WORDS_MM).polygon()


def _draw_lines(drawing: Drawing, lines: list[_Line], inside: Polygon, **style: str) -> None:
    for line in lines:
        cut = LineString(line).intersection(inside)
        if cut.geom_type == "LineString" and not cut.is_empty:
            drawing.line([(x + _BY_MM[0], y + _BY_MM[1]) for x, y in cut.coords], **style)


def _draw_border(drawing: Drawing, area: Polygon) -> None:
    """Draw the border of an area to keep free."""
    dashes = {"stroke_width": "0.3", "stroke_dasharray": "2 1.4"}
    draw_area(drawing, area, _BY_MM, fill="none", **drawing.theme.lined("quiet"), **dashes)
