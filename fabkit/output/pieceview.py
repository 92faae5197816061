"""A piece as it will be printed, drawn at its size with its dimensions, on any page."""

from __future__ import annotations

from dataclasses import dataclass, field

from shapely import MultiPoint, MultiPolygon, Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.draft import Blueprint, tones
from fabkit.drawing.outline import PointMm, RingMm, canonical_outline, rings_mm
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.output.canvas import Canvas, height_line, width_line
from fabkit.output.labels import label_at, label_place
from fabkit.output.theme import CAPITAL, LIGHT, Theme, ink_on

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
    """The view of a flat piece.

    Args:
        puzzle: its set.
        piece: the piece.
        blueprint: how it is printed.
        profile: gives all sizes.
    """
    outline = blueprint.outline
    toned = tones(puzzle.lattice, piece, blueprint, profile).area.intersection(outline)
    return PieceView(piece.id, piece.colour, outline, blueprint, toned, piece.tone)


def ball_views(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> list[PieceView]:
    """The views of a piece of balls, one for each of its flat forms, as large as its balls.

    Args:
        puzzle: its set.
        piece: the piece.
        profile: gives the unit.

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

    Args:
        canvas: where to draw.
        view: the piece.
        at_mm: where the lower left corner of its room comes to lie.
        theme: the colours of everything but the piece.
        decimal: what stands before the decimals of its sizes.
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
