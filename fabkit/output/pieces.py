"""Pieces as they are printed, drawn at their size with their dimensions; and the sheet of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from shapely import MultiPoint, MultiPolygon, Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError, many
from fabkit.core.units import format_mm
from fabkit.drawing.draft import Blueprint, draft, draft_all, tones
from fabkit.drawing.outline import BlueprintError, PointMm, RingMm, canonical_outline, rings_mm
from fabkit.drawing.part import draft_each
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.output.canvas import Canvas, height_line, scale_bar, width_line
from fabkit.output.labels import label_at, label_place
from fabkit.output.svg import Drawing
from fabkit.output.theme import CAPITAL, LIGHT, Theme, ink_on
from fabkit.output.typeset import shortened

#: A ball's diameter: 12 mm on a pitch of 15 mm.
BALL_OF_PITCH = 0.8
#: The line around what lies below the face.
DASHES = {"stroke_width": "0.3", "stroke_dasharray": "1.2 0.8"}
#: Room below a piece for its width and name, and to its right for its height.
_BELOW_MM, _BESIDE_MM = 12.0, 14.0
#: How far dimension lines are from what they measure.
_APART_MM = 3.0
_TEXT_MM = 3.6
#: About how wide a letter of a name is, in sizes of the text: most are narrower.
_LETTER = 0.62


_PAGE_WIDTH_MM = 300.0
_MARGIN_MM, _GAP_MM, _HEAD_MM = 10.0, 5.0, 18.0
#: Between the pieces and the foot of the sheet, and between what stands there.
_ABOVE_FOOT_MM, _LEGEND_GAP_MM = 8.0, 26.0
_BAR_MM = 50.0
_TITLE_MM, _SMALL_MM = 7.0, 2.6
#: In the legend: room below two balls for their pitch.
_BELOW_BALLS_MM = 8.0


@dataclass(frozen=True)
class PieceView:
    """A piece from its lettered face, or one flat form of a ball piece.

    Attributes:
        caption: its name.
        colour: ``#rrggbb``.
        outline: as printed, in mm.
        blueprint: of a flat piece; None of balls.
        toned: the area in a second colour.
        tone: that colour.
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
    _Drawn(canvas, view, theme, (x - left, y - bottom)).draw()
    width, height = view.size_mm
    wide, high = (format_mm(side, 1).replace(".", decimal) for side in view.size_mm)
    width_line(canvas, (x, y - _APART_MM), width, wide, theme)
    height_line(canvas, (x + width + _APART_MM, y), height, high, theme)
    canvas.text(x, at_mm[1] + 0.8, view.caption, _TEXT_MM)


class _Drawn:
    """A piece without its dimensions, moved by a vector."""

    def __init__(self, canvas: Canvas, view: PieceView, theme: Theme, by_mm: PointMm) -> None:
        self._canvas, self._view, self._by_mm = canvas, view, by_mm
        self._edge = theme.lined("edge") | {"stroke_width": "0.2"}

    def draw(self) -> None:
        """Draws it."""
        if self._view.blueprint:
            self._flat(self._view, self._view.blueprint)
        else:
            self._balls(self._view)

    def _balls(self, view: PieceView) -> None:
        outline = self._moved(view.outline)
        self._canvas.polygon(outline, fill=view.colour, fill_opacity="0.35", **self._edge)
        for x, y in view.balls:
            self._circle((x, y), view.ball_mm, fill=view.colour)
        self._ball_label(view)

    def _ball_label(self, view: PieceView) -> None:
        """The letter, on the ball that is nearest to the middle."""
        middle, ink = MultiPoint(view.balls).centroid, ink_on(view.colour)
        rooms_mm = [view.ball_mm / 2] * len(view.balls)
        place, height_mm = label_place(
            view.label, view.balls, rooms_mm, (middle.x, middle.y), view.ball_mm / 2
        )
        area = label_at(view.label, place, height_mm)
        if area is not None:
            self._areas(area, fill=ink, class_="label")
            return
        (dx, dy), (x, y) = self._by_mm, place
        style = {"fill": ink, "class_": "label title", "text_anchor": "middle"}
        self._canvas.text(x + dx, y + dy - height_mm / 2, view.label, height_mm / CAPITAL, **style)

    def _flat(self, view: PieceView, blueprint: Blueprint) -> None:
        ink = ink_on(view.colour)
        self._canvas.polygon(self._moved(view.outline), fill=view.colour, **self._edge)
        self._areas(view.toned, fill=view.tone, class_="tone")
        face = {"stroke": ink, "stroke_opacity": "0.35", "stroke_width": "0.25"}
        self._canvas.polygon(self._moved(blueprint.face), fill="none", **face)
        if blueprint.label:
            letter = blueprint.label.front.polygon()
            self._areas(letter.difference(view.toned), fill=ink)
            self._areas(letter.intersection(view.toned), fill=ink_on(view.tone or view.colour))
        for recess in blueprint.recesses:
            for centre, diameter_mm in recess.circles:
                below = view.tone if view.toned.contains(Point(centre)) else view.colour
                line = {"stroke": ink_on(below), "stroke_opacity": "0.7", **DASHES}
                self._circle(centre, diameter_mm, fill="none", **line)

    def _areas(self, area: BaseGeometry, **style: str) -> None:
        for part in parts_of(area):
            self._canvas.polygon(self._moved(part), **style)

    def _circle(self, centre: PointMm, diameter_mm: float, **style: str) -> None:
        (dx, dy), (x, y) = self._by_mm, centre
        self._canvas.circle(x + dx, y + dy, diameter_mm / 2, **style)

    def _moved(self, polygon: Polygon) -> list[RingMm]:
        dx, dy = self._by_mm
        return [tuple((x + dx, y + dy) for x, y in ring) for ring in rings_mm(polygon)]


def parts_of(area: BaseGeometry) -> list[Polygon]:
    """The polygons of an area; none when it is empty.

    Example:
        >>> [part.area for part in parts_of(MultiPolygon())]
        []
    """
    return [
        part for part in getattr(area, "geoms", [area]) if part.geom_type == "Polygon" and part.area
    ]


# --- the sheet ----------------------------------------------------------------------------------


def piece_sheet(
    puzzle: PuzzleSet,
    pieces: Sequence[Piece],
    profile: Profile,
    theme: str = "auto",
    told: Callable[[str], None] = lambda note: None,
) -> str:
    """Draws the pieces as they will be printed, seen from the lettered face, with their sizes.

    Args:
        puzzle: the set.
        pieces: which of its pieces.
        profile: gives all sizes.
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
    page_mm = max(_PAGE_WIDTH_MM, *(view.room_mm[0] + 2 * _MARGIN_MM for view in views))
    rows = _rows(views, page_mm)
    heights = [max(view.room_mm[1] for view in row) for row in rows]
    legend = _Legend(views, profile)
    foot_mm = _ABOVE_FOOT_MM + legend.height_mm
    rows_mm = sum(heights) + _GAP_MM * (len(rows) - 1)
    height_mm = 2 * _MARGIN_MM + _HEAD_MM + rows_mm + foot_mm
    drawing = Drawing(page_mm, height_mm, f"The pieces of {puzzle.title}", theme=theme)
    y = height_mm - _MARGIN_MM - 6
    title = shortened(puzzle.title, _TITLE_MM, page_mm - 2 * _MARGIN_MM, bold=True)
    drawing.text(_MARGIN_MM, y, title, _TITLE_MM, class_="title")
    drawing.text(_MARGIN_MM, y - 6, _summary(views, profile), _TEXT_MM, class_="quiet")
    y = height_mm - _MARGIN_MM - _HEAD_MM
    for row, row_height in zip(rows, heights, strict=True):
        x = _MARGIN_MM
        for view in row:
            draw_view(drawing, view, (x, y - row_height), drawing.theme)
            x += view.room_mm[0] + _GAP_MM
        y -= row_height + _GAP_MM
    scale_bar(drawing, (_MARGIN_MM, _MARGIN_MM), _BAR_MM, drawing.theme)
    legend.draw(drawing, _MARGIN_MM + _BAR_MM + _LEGEND_GAP_MM, _MARGIN_MM)
    return drawing.source()


def _drafts(
    puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile, told: Callable[[str], None]
) -> list[Blueprint]:
    """How flat pieces are printed; those whose letters cannot be are told, and have none."""
    try:
        return draft_all(puzzle, pieces, profile)
    except InputError as error:
        found = draft_each(puzzle, pieces, profile, _draft_of_any_letter)
        for fault in error.faults:
            told(f"{fault.key}: drawn without the letter, which cannot be printed: {fault.message}")
        return found


def _draft_of_any_letter(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> Blueprint:
    """How a piece is printed, without its letter if that is what is wrong."""
    try:
        return draft(puzzle, piece, profile)
    except BlueprintError:
        return draft(puzzle, piece, replace(profile, faces="none"))


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


def _rows(views: Sequence[PieceView], page_mm: float) -> list[list[PieceView]]:
    """The pieces in their order, as many in a row as the page holds."""
    rows: list[list[PieceView]] = []
    right = page_mm
    for view in views:
        width = view.room_mm[0]
        if not rows or right + _GAP_MM + width > page_mm - _MARGIN_MM:
            rows.append([])
            right = _MARGIN_MM - _GAP_MM
        rows[-1].append(view)
        right += _GAP_MM + width
    return rows


class _Legend:
    """At the foot of the sheet, measured once: the circle of a recess, or two balls."""

    def __init__(self, views: Sequence[PieceView], profile: Profile) -> None:
        recesses = [one for view in views if view.blueprint for one in view.blueprint.recesses]
        circles = [circle for one in recesses[:1] for circle in one.circles]
        self._recess_mm = max((diameter for _, diameter in circles), default=0.0)
        self._ball_mm = max(view.ball_mm for view in views)
        self._profile = profile
        #: How high it is, in mm.
        self.height_mm = max(self._recess_mm, self._ball_mm + _BELOW_BALLS_MM, 3.0)

    def draw(self, drawing: Drawing, x: float, y: float) -> None:
        """Draws it with its lower left corner at a place, where there is something to say."""
        theme = drawing.theme
        if self._recess_mm:
            line, radius = theme.lined("ink") | DASHES, self._recess_mm / 2
            drawing.circle(x + radius, y + radius, radius, fill="none", **line)
            magnet = f"{self._profile.magnet_diameter_mm:g} x {self._profile.magnet_height_mm:g} mm"
            words = f"Ø {format_mm(self._recess_mm, 2)}, for a magnet of {magnet}"
            drawing.text(x + self._recess_mm + 3, y + radius - 1, words, _SMALL_MM, class_="quiet")
        if self._ball_mm:
            radius, pitch_mm = self._ball_mm / 2, self._profile.unit_mm
            low = y + _BELOW_BALLS_MM
            for place in (0.0, pitch_mm):
                style = theme.lined("ink") | {"stroke_width": "0.3"}
                drawing.circle(x + radius + place, low + radius, radius, fill="none", **style)
            pitch = f"pitch {format_mm(pitch_mm)}"
            width_line(drawing, (x + radius, low - _APART_MM), pitch_mm, pitch, theme)
            right = x + self._ball_mm + pitch_mm + _APART_MM
            ball = f"Ø {format_mm(self._ball_mm)}"
            height_line(drawing, (right, low), self._ball_mm, ball, theme)
