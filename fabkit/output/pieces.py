"""Drawings of pieces at 1:1 as printed, with dimensions; and the sheet of all pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from shapely import MultiPoint, MultiPolygon, Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.colours import ink_on
from fabkit.core.errors import pluralize
from fabkit.core.units import format_mm
from fabkit.drawing.draft import FlatDrawing, draft_for_pictures, tone_areas
from fabkit.drawing.outline import PointMm, canonical_outline
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet, to_units
from fabkit.output.canvas import (
    Canvas,
    break_into_rows,
    draw_area,
    draw_height_dimension,
    draw_scale_bar,
    draw_width_dimension,
)
from fabkit.output.labels import draw_label_text, label_area, place_label
from fabkit.output.svg import Drawing
from fabkit.output.theme import LIGHT, Theme
from fabkit.output.typeset import draw_sheet_heading
from fabkit.profiles.profile import Profile

#: The diameter of a ball in pitches: 12 mm at 15 mm.
BALL_DIAMETER_IN_PITCHES = 0.8
#: The style of hidden lines.
_DASHES = {"stroke_width": "0.3", "stroke_dasharray": "1.2 0.8"}
BELOW_MM = 12.0  # room below a piece for its width and name
BESIDE_MM = 14.0  # room to the right of a piece for its height
_APART_MM = 3.0  # between a piece and its dimension lines
_LETTER = 0.62  # the assumed width of a character in text sizes: most are narrower
_TEXT_MM = 3.6  # text height of a piece's name
_SMALL_MM = 2.6  # text height of the legend
_PAGE_WIDTH_MM = 300.0  # the minimum width of the sheet
_MARGIN_MM = 10.0  # the margin of the sheet
_GAP_MM = 5.0  # the gap between pieces
_HEAD_MM = 18.0  # the height of the sheet's heading
_ABOVE_FOOT_MM = 8.0  # room above the foot of the sheet
_BAR_MM = 50.0  # the length of the scale bar there
_LEGEND_GAP_MM = 26.0  # room beside the scale bar, for its text
_BELOW_BALLS_MM = 8.0  # room below the two balls of the legend, for the pitch


@dataclass(frozen=True)
class PieceView:
    """A piece seen from its lettered face, with its drawing and perhaps an area in a second colour,
    `tone`; or one flat form of a ball piece, with the letter on a ball. Lengths are in mm."""

    caption: str
    colour: str
    outline: Polygon
    drawing: FlatDrawing | None = None
    toned: BaseGeometry = field(default_factory=MultiPolygon)
    tone: str = ""
    balls: tuple[PointMm, ...] = ()
    ball_mm: float = 0.0
    label: str = ""

    @property
    def size_mm(self) -> tuple[float, float]:
        """Return width and height."""
        left, bottom, right, top = self.outline.bounds
        return right - left, top - bottom

    @property
    def room_mm(self) -> tuple[float, float]:
        """Return width and height with dimensions and name."""
        name_mm = len(self.caption) * _LETTER * _TEXT_MM
        return max(self.size_mm[0] + BESIDE_MM, name_mm), self.size_mm[1] + BELOW_MM


def flat_piece_view(
    puzzle: PuzzleSet, piece: Piece, drawing: FlatDrawing, profile: Profile
) -> PieceView:
    """Return the view of a flat piece."""
    outline = drawing.outline
    toned = tone_areas(puzzle, piece, profile.unit_mm)[0].intersection(outline)
    return PieceView(piece.id, piece.colour, outline, drawing, toned, piece.tone)


def ball_piece_views(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> list[PieceView]:
    """Return the views of a ball piece, one for each of its flat forms."""
    unit, ball_mm = profile.unit_mm, BALL_DIAMETER_IN_PITCHES * profile.unit_mm
    views = []
    for form in piece.forms:
        # The outline runs around the balls, not around their grid squares.
        squares = canonical_outline(puzzle.lattice, form.rings, unit)
        outline = squares.buffer((ball_mm - unit) / 2, join_style="mitre")
        balls = tuple((x * unit, y * unit) for x, y in to_units(puzzle.lattice, form.cells))
        name = f"{piece.id} {form.name}" if len(piece.forms) > 1 else piece.id
        view = PieceView(name, piece.colour, outline, label=piece.label)
        views.append(replace(view, balls=balls, ball_mm=ball_mm))
    return views


def draw_piece_view(
    canvas: Canvas, view: PieceView, at_mm: PointMm, theme: Theme = LIGHT, decimal: str = "."
) -> None:
    """Draw a piece at 1:1 with width and name below and height to the right. `at_mm` is the lower left
    of its room; `decimal` is the decimal separator."""
    x, y = at_mm[0], at_mm[1] + BELOW_MM
    left, bottom = view.outline.bounds[:2]
    draw = _draw_flat if view.drawing else _draw_balls
    draw(canvas, view, theme.lined("edge") | {"stroke_width": "0.2"}, (x - left, y - bottom))
    width, height = view.size_mm
    wide, high = (format_mm(side, 1).replace(".", decimal) for side in view.size_mm)
    draw_width_dimension(canvas, (x, y - _APART_MM), width, wide, theme)
    draw_height_dimension(canvas, (x + width + _APART_MM, y), height, high, theme)
    canvas.text(x, at_mm[1] + 0.8, view.caption, _TEXT_MM)


def _draw_balls(canvas: Canvas, view: PieceView, edge: dict[str, str], by_mm: PointMm) -> None:
    """Draw balls on their area, with the letter on the one nearest to the centroid."""
    draw_area(canvas, view.outline, by_mm, fill=view.colour, fill_opacity="0.35", **edge)
    dx, dy = by_mm
    radius_mm = view.ball_mm / 2
    for x, y in view.balls:
        canvas.circle(x + dx, y + dy, radius_mm, fill=view.colour)
    centroid = MultiPoint(view.balls).centroid.coords[0]
    free_mm = [radius_mm] * len(view.balls)
    (x, y), height_mm = place_label(view.label, view.balls, free_mm, centroid, radius_mm)
    area = label_area(view.label, (x, y), height_mm)
    ink = ink_on(view.colour)
    if area is None:
        corner = x + dx, y + dy
        draw_label_text(canvas, view.label, corner, height_mm, fill=ink, class_="label title")
    else:
        draw_area(canvas, area, by_mm, fill=ink, class_="label")


def _draw_flat(canvas: Canvas, view: PieceView, edge: dict[str, str], by_mm: PointMm) -> None:
    """Draw a flat piece with its tones, the edge of its face, its letter and recesses."""
    drawing = view.drawing
    assert drawing
    ink = ink_on(view.colour)
    draw_area(canvas, view.outline, by_mm, fill=view.colour, **edge)
    draw_area(canvas, view.toned, by_mm, fill=view.tone, class_="tone")
    face = {"stroke": ink, "stroke_opacity": "0.35", "stroke_width": "0.25"}
    draw_area(canvas, drawing.face, by_mm, fill="none", **face)
    if drawing.label:
        letter = drawing.label.front.polygon()
        on_tone = ink_on(view.tone or view.colour)
        draw_area(canvas, letter.difference(view.toned), by_mm, fill=ink)
        draw_area(canvas, letter.intersection(view.toned), by_mm, fill=on_tone)
    for (x, y), diameter_mm in (circle for recess in drawing.recesses for circle in recess.circles):
        below = view.tone if view.toned.contains(Point(x, y)) else view.colour
        line = {"stroke": ink_on(below), "stroke_opacity": "0.7", **_DASHES}
        canvas.circle(x + by_mm[0], y + by_mm[1], diameter_mm / 2, fill="none", **line)


def piece_sheet(
    puzzle: PuzzleSet,
    pieces: Sequence[Piece],
    profile: Profile,
    theme: str = "auto",
    warn: Callable[[str], None] = lambda note: None,
) -> str:
    """Draw pieces as printed, seen from the lettered face, with dimensions, as an SVG document in mm.
    `warn` receives a message on pieces that are drawn without their letter or magnets, which cannot be
    made.

    Raises:
        InputError: when the profile does not suit a piece even without them.
    """
    flat = [piece for piece in pieces if not piece.body]
    drafts = [
        drawing
        for drawing in draft_for_pictures(puzzle, flat, profile, warn)
        if isinstance(drawing, FlatDrawing)
    ]
    views = [flat_piece_view(puzzle, *pair, profile) for pair in zip(flat, drafts, strict=True)]
    for piece in (piece for piece in pieces if piece.body):
        views += ball_piece_views(puzzle, piece, profile)
    widths_mm = [view.room_mm[0] for view in views]
    room_mm = max(_PAGE_WIDTH_MM - 2 * _MARGIN_MM, *widths_mm)
    rows = break_into_rows(views, widths_mm, room_mm, _GAP_MM)
    heights = [max(view.room_mm[1] for view in row) for row in rows]
    # The legend at the foot: the circle of a recess, or two balls.
    recesses = [recess for drawing in drafts for recess in drawing.recesses]
    circles = recesses[0].circles if recesses else ()
    recess_mm = max((diameter_mm for _, diameter_mm in circles), default=0.0)
    ball_mm = max(view.ball_mm for view in views)
    foot_mm = _ABOVE_FOOT_MM + max(recess_mm, ball_mm + _BELOW_BALLS_MM, 3.0)
    rows_mm = sum(heights) + _GAP_MM * (len(rows) - 1)
    height_mm = 2 * _MARGIN_MM + _HEAD_MM + rows_mm + foot_mm
    top = height_mm - _MARGIN_MM
    title = f"Pieces of {puzzle.title}"
    drawing = Drawing(room_mm + 2 * _MARGIN_MM, height_mm, title, theme=theme)
    draw_sheet_heading(drawing, (_MARGIN_MM, top), puzzle.title, _summary(views, profile), room_mm)
    y = top - _HEAD_MM
    for row, row_height in zip(rows, heights, strict=True):
        x = _MARGIN_MM
        for view in row:
            draw_piece_view(drawing, view, (x, y - row_height), drawing.theme)
            x += view.room_mm[0] + _GAP_MM
        y -= row_height + _GAP_MM
    draw_scale_bar(drawing, (_MARGIN_MM, _MARGIN_MM), _BAR_MM, drawing.theme)
    x, y = _MARGIN_MM + _BAR_MM + _LEGEND_GAP_MM, _MARGIN_MM
    colours = drawing.theme
    line = {"fill": "none"}
    if recess_mm:
        radius = recess_mm / 2
        drawing.circle(x + radius, y + radius, radius, **line, **colours.lined("ink"), **_DASHES)
        magnet = f"{profile.magnet_diameter_mm:g} x {profile.magnet_height_mm:g} mm"
        hole_text = f"Ø {format_mm(recess_mm, 2)}, for a {magnet} magnet"
        drawing.text(x + recess_mm + 3, y + radius - 1, hole_text, _SMALL_MM, class_="quiet")
    if ball_mm:
        radius = ball_mm / 2
        pitch_mm = profile.unit_mm
        low = y + _BELOW_BALLS_MM
        line |= colours.lined("ink") | {"stroke_width": "0.3"}
        for place in (0.0, pitch_mm):
            drawing.circle(x + radius + place, low + radius, radius, **line)
        pitch = f"pitch {format_mm(pitch_mm)}"
        draw_width_dimension(drawing, (x + radius, low - _APART_MM), pitch_mm, pitch, colours)
        corner = x + ball_mm + pitch_mm + _APART_MM, low
        draw_height_dimension(drawing, corner, ball_mm, f"Ø {format_mm(ball_mm)}", colours)
    return drawing.source()


def _summary(views: Sequence[PieceView], profile: Profile) -> str:
    flat = [view.drawing for view in views if view.drawing]
    unit = format_mm(profile.unit_mm)
    if not flat:
        return f"{pluralize(len(views), 'flat form')}, pitch {unit}"
    thickness = format_mm(profile.thickness_mm)
    summary = f"{pluralize(len(flat), 'piece')} · unit {unit} · {thickness} thick"
    if magnets := sum(len(drawing.recesses) for drawing in flat):
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        summary += f" · {pluralize(magnets, 'magnet')} {size} ({profile.fit} fit, dashed)"
    return summary
