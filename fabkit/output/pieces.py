"""Pieces as they are printed, drawn at their size with their dimensions; and the sheet of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from shapely import MultiPoint, MultiPolygon, Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError, many
from fabkit.core.units import format_mm
from fabkit.drawing.draft import Blueprint, draft, draft_all, tones
from fabkit.drawing.outline import BlueprintError, PointMm, canonical_outline
from fabkit.drawing.part import draft_each
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.output.canvas import Canvas, draw_area, height_line, in_rows, scale_bar, width_line
from fabkit.output.labels import label_at, label_place, write_label
from fabkit.output.svg import Drawing
from fabkit.output.theme import LIGHT, Theme, ink_on
from fabkit.output.typeset import draw_heading

#: A ball's diameter: 12 mm on a pitch of 15 mm.
BALL_OF_PITCH = 0.8
#: The line around what lies below the face.
_DASHES = {"stroke_width": "0.3", "stroke_dasharray": "1.2 0.8"}
#: Room below a piece for its width and name, and to its right for its height.
_BELOW_MM, _BESIDE_MM = 12.0, 14.0
#: How far dimension lines are from what they measure.
_APART_MM = 3.0
_TEXT_MM, _SMALL_MM = 3.6, 2.6
#: About how wide a letter of a name is, in sizes of the text: most are narrower.
_LETTER = 0.62

_PAGE_WIDTH_MM, _MARGIN_MM, _GAP_MM, _HEAD_MM = 300.0, 10.0, 5.0, 18.0
#: Between the pieces and the foot of the sheet, and between what stands there.
_ABOVE_FOOT_MM, _LEGEND_GAP_MM = 8.0, 26.0
_BAR_MM = 50.0
#: In the legend: room below two balls for their pitch.
_BELOW_BALLS_MM = 8.0


@dataclass(frozen=True)
class PieceView:
    """A piece from its lettered face, or one flat form of a ball piece.

    Attributes:
        caption: its name.
        outline: as printed, in mm.
        blueprint: of a flat piece; None of balls.
        toned: the area in a second colour, `tone`.
        balls: their middles, in mm.
        ball_mm: their diameter.
        label: the letter on one of them.
    """

    caption: str
    colour: str
    outline: Polygon
    blueprint: Blueprint | None = None
    toned: BaseGeometry = field(default_factory=MultiPolygon)
    tone: str = ""
    balls: tuple[PointMm, ...] = ()
    ball_mm: float = 0.0
    label: str = ""

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height."""
        left, bottom, right, top = self.outline.bounds
        return right - left, top - bottom

    @property
    def room_mm(self) -> tuple[float, float]:
        """Width and height with the dimensions and the name."""
        name_mm = len(self.caption) * _LETTER * _TEXT_MM
        return max(self.size_mm[0] + _BESIDE_MM, name_mm), self.size_mm[1] + _BELOW_MM


def flat_view(puzzle: PuzzleSet, piece: Piece, blueprint: Blueprint, profile: Profile) -> PieceView:
    """The view of a flat piece."""
    outline = blueprint.outline
    toned = tones(puzzle.lattice, piece, blueprint, profile).area.intersection(outline)
    return PieceView(piece.id, piece.colour, outline, blueprint, toned, piece.tone)


def ball_views(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> list[PieceView]:
    """The views of a piece of balls, one for each of its flat forms, as large as its balls.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fit = load_set("iqfit")
        >>> [view.caption for view in ball_views(fit, fit.piece("red"), load_profile())]
        ['red single', 'red double']
    """
    unit, ball_mm = profile.unit_mm, BALL_OF_PITCH * profile.unit_mm
    return [
        PieceView(
            f"{piece.id} {form.name}",
            piece.colour,
            # Around the balls, and not around the squares of the grid in which they lie.
            canonical_outline(puzzle.lattice, form.rings, unit).buffer(
                (ball_mm - unit) / 2, join_style="mitre"
            ),
            balls=tuple((x * unit, y * unit) for x, y in in_units(puzzle.lattice, form.cells)),
            ball_mm=ball_mm,
            label=piece.label,
        )
        for form in piece.forms
    ]


def draw_view(
    canvas: Canvas, view: PieceView, at_mm: PointMm, theme: Theme = LIGHT, decimal: str = "."
) -> None:
    """Draws a piece at its size, its width and name below and its height to the right.

    The lower left corner of its room comes to lie at `at_mm`; `decimal` stands before the decimals
    of its sizes.
    """
    x, y = at_mm[0], at_mm[1] + _BELOW_MM
    left, bottom = view.outline.bounds[:2]
    draw = _draw_flat if view.blueprint else _draw_balls
    draw(canvas, view, theme.lined("edge") | {"stroke_width": "0.2"}, (x - left, y - bottom))
    width, height = view.size_mm
    wide, high = (format_mm(side, 1).replace(".", decimal) for side in view.size_mm)
    width_line(canvas, (x, y - _APART_MM), width, wide, theme)
    height_line(canvas, (x + width + _APART_MM, y), height, high, theme)
    canvas.text(x, at_mm[1] + 0.8, view.caption, _TEXT_MM)


def _draw_balls(canvas: Canvas, view: PieceView, edge: dict[str, str], by_mm: PointMm) -> None:
    """Balls on what they fill, with the letter on the one nearest to the middle."""
    draw_area(canvas, view.outline, by_mm, fill=view.colour, fill_opacity="0.35", **edge)
    dx, dy = by_mm
    for x, y in view.balls:
        canvas.circle(x + dx, y + dy, view.ball_mm / 2, fill=view.colour)
    middle, free_mm = MultiPoint(view.balls).centroid, [view.ball_mm / 2] * len(view.balls)
    (x, y), height_mm = label_place(
        view.label, view.balls, free_mm, (middle.x, middle.y), view.ball_mm / 2
    )
    area, ink = label_at(view.label, (x, y), height_mm), ink_on(view.colour)
    if area is None:
        write_label(canvas, view.label, (x + dx, y + dy), height_mm, fill=ink, class_="label title")
    else:
        draw_area(canvas, area, by_mm, fill=ink, class_="label")


def _draw_flat(canvas: Canvas, view: PieceView, edge: dict[str, str], by_mm: PointMm) -> None:
    """A flat piece with its tones, the edge of its face, its letter and its recesses."""
    blueprint, ink = view.blueprint, ink_on(view.colour)
    assert blueprint
    draw_area(canvas, view.outline, by_mm, fill=view.colour, **edge)
    draw_area(canvas, view.toned, by_mm, fill=view.tone, class_="tone")
    face = {"stroke": ink, "stroke_opacity": "0.35", "stroke_width": "0.25"}
    draw_area(canvas, blueprint.face, by_mm, fill="none", **face)
    if blueprint.label:
        letter, on_tone = blueprint.label.front.polygon(), ink_on(view.tone or view.colour)
        draw_area(canvas, letter.difference(view.toned), by_mm, fill=ink)
        draw_area(canvas, letter.intersection(view.toned), by_mm, fill=on_tone)
    for (x, y), diameter_mm in (circle for one in blueprint.recesses for circle in one.circles):
        below = view.tone if view.toned.contains(Point(x, y)) else view.colour
        line = {"stroke": ink_on(below), "stroke_opacity": "0.7", **_DASHES}
        canvas.circle(x + by_mm[0], y + by_mm[1], diameter_mm / 2, fill="none", **line)


def piece_sheet(
    puzzle: PuzzleSet,
    pieces: Sequence[Piece],
    profile: Profile,
    theme: str = "auto",
    told: Callable[[str], None] = lambda note: None,
) -> str:
    """Draws pieces as they will be printed, seen from the lettered face, with their sizes.

    Args:
        theme: see `fabkit.output.svg.Drawing`.
        told: is told of pieces whose letters cannot be printed: they are drawn without.

    Returns:
        An SVG document in mm, with a bar by which a print's scale is checked.

    Raises:
        InputError: when the profile does not suit a piece, whatever its letter.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> piece_sheet(fridgeiq, fridgeiq.pieces[:1], load_profile())[:4]
        '<svg'
    """
    flat = [piece for piece in pieces if not piece.body]
    drafts = _drafts(puzzle, flat, profile, told)
    views = [flat_view(puzzle, *pair, profile) for pair in zip(flat, drafts, strict=True)]
    for piece in (piece for piece in pieces if piece.body):
        views += ball_views(puzzle, piece, profile)
    widths_mm = [view.room_mm[0] for view in views]
    page_mm = max(_PAGE_WIDTH_MM, *(one + 2 * _MARGIN_MM for one in widths_mm))
    room_mm = page_mm - 2 * _MARGIN_MM
    rows = in_rows(views, widths_mm, room_mm, _GAP_MM)
    heights = [max(view.room_mm[1] for view in row) for row in rows]
    # At the foot, measured once: the circle of a recess, or two balls.
    recesses = [one for blueprint in drafts for one in blueprint.recesses]
    recess_mm = max((mm for one in recesses[:1] for _, mm in one.circles), default=0.0)
    ball_mm = max(view.ball_mm for view in views)
    foot_mm = _ABOVE_FOOT_MM + max(recess_mm, ball_mm + _BELOW_BALLS_MM, 3.0)
    rows_mm = sum(heights) + _GAP_MM * (len(rows) - 1)
    height_mm = 2 * _MARGIN_MM + _HEAD_MM + rows_mm + foot_mm
    drawing = Drawing(page_mm, height_mm, f"The pieces of {puzzle.title}", theme=theme)
    top = height_mm - _MARGIN_MM
    draw_heading(drawing, (_MARGIN_MM, top), puzzle.title, _summary(views, profile), room_mm)
    y = top - _HEAD_MM
    for row, row_height in zip(rows, heights, strict=True):
        x = _MARGIN_MM
        for view in row:
            draw_view(drawing, view, (x, y - row_height), drawing.theme)
            x += view.room_mm[0] + _GAP_MM
        y -= row_height + _GAP_MM
    scale_bar(drawing, (_MARGIN_MM, _MARGIN_MM), _BAR_MM, drawing.theme)
    foot = _MARGIN_MM + _BAR_MM + _LEGEND_GAP_MM, _MARGIN_MM
    if recess_mm:
        _draw_recess(drawing, foot, recess_mm, profile)
    if ball_mm:
        _draw_pitch(drawing, foot, ball_mm, profile.unit_mm)
    return drawing.source()


def _draw_recess(drawing: Drawing, at_mm: PointMm, recess_mm: float, profile: Profile) -> None:
    (x, y), radius = at_mm, recess_mm / 2
    line = drawing.theme.lined("ink") | _DASHES
    drawing.circle(x + radius, y + radius, radius, fill="none", **line)
    magnet = f"{profile.magnet_diameter_mm:g} x {profile.magnet_height_mm:g} mm"
    words = f"Ø {format_mm(recess_mm, 2)}, for a magnet of {magnet}"
    drawing.text(x + recess_mm + 3, y + radius - 1, words, _SMALL_MM, class_="quiet")


def _draw_pitch(drawing: Drawing, at_mm: PointMm, ball_mm: float, pitch_mm: float) -> None:
    (x, y), radius, theme = at_mm, ball_mm / 2, drawing.theme
    low = y + _BELOW_BALLS_MM
    for place in (0.0, pitch_mm):
        style = theme.lined("ink") | {"stroke_width": "0.3"}
        drawing.circle(x + radius + place, low + radius, radius, fill="none", **style)
    pitch = f"pitch {format_mm(pitch_mm)}"
    width_line(drawing, (x + radius, low - _APART_MM), pitch_mm, pitch, theme)
    right = x + ball_mm + pitch_mm + _APART_MM
    height_line(drawing, (right, low), ball_mm, f"Ø {format_mm(ball_mm)}", theme)


def _drafts(
    puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile, told: Callable[[str], None]
) -> list[Blueprint]:
    """How flat pieces are printed; those whose letters cannot be are told, and have none."""

    def of_any_letter(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> Blueprint:
        try:
            return draft(puzzle, piece, profile)
        except BlueprintError:
            return draft(puzzle, piece, replace(profile, faces="none"))

    try:
        return draft_all(puzzle, pieces, profile)
    except InputError as error:
        found = draft_each(puzzle, pieces, profile, of_any_letter)
        for fault in error.faults:
            told(f"{fault.key}: drawn without the letter, which cannot be printed: {fault.message}")
        return found


def _summary(views: Sequence[PieceView], profile: Profile) -> str:
    balls = sum(1 for view in views if view.balls)
    if balls == len(views):
        return f"{many(balls, 'flat form')}, pitch {format_mm(profile.unit_mm)}"
    parts = [
        many(len(views) - balls, "piece"),
        f"unit {format_mm(profile.unit_mm)}",
        f"{format_mm(profile.thickness_mm)} thick",
    ]
    magnets = sum(len(view.blueprint.recesses) for view in views if view.blueprint)
    if magnets:
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        parts.append(f"{many(magnets, 'magnet')} {size} ({profile.fit} fit, dashed)")
    return " · ".join(parts)
