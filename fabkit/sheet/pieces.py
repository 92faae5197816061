"""The piece sheet: every piece of a set at 1:1, with its letter, magnets and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.base.units import format_mm
from fabkit.blueprint.draft import Blueprint, draft_all
from fabkit.blueprint.printed import canonical_outline, rings_mm
from fabkit.blueprint.tones import tones
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, in_units
from fabkit.sheet.svg import Drawing, ink_on

_PAGE_WIDTH_MM = 300.0
_MARGIN_MM = 10.0
_GAP_MM = 12.0
_CAPTION_MM = 10.0
_HEAD_MM = 18.0
#: A ball's diameter: 12 mm on a pitch of 15 mm.
BALL_OF_PITCH = 0.8


@dataclass(frozen=True)
class _Item:
    """One drawing on the sheet: a piece, or one flat form of a ball piece."""

    caption: str
    colour: str
    outline: Polygon
    blueprint: Blueprint | None = None
    toned: BaseGeometry = field(default_factory=MultiPolygon)
    tone: str = ""
    balls: tuple[tuple[float, float], ...] = ()
    ball_mm: float = 0.0

    @property
    def size_mm(self) -> tuple[float, float]:
        left, bottom, right, top = self.outline.bounds
        return right - left, top - bottom


def piece_sheet(puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile) -> str:
    """Draws the pieces as they will be printed, seen from the lettered face.

    Args:
        puzzle: the set.
        pieces: which of its pieces.
        profile: gives all sizes.

    Returns:
        An SVG document in mm.

    Raises:
        InputError: when the profile does not suit a piece.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> piece_sheet(fridgeiq, fridgeiq.pieces[:1], load_profile())[:4]
        '<svg'
    """
    flat = [piece for piece in pieces if not piece.body]
    drafts = draft_all(puzzle, flat, profile)
    items = [_flat_item(puzzle, *pair, profile) for pair in zip(flat, drafts, strict=True)]
    items += _ball_forms(puzzle, [piece for piece in pieces if piece.body], profile)
    page_mm = max(_PAGE_WIDTH_MM, *(item.size_mm[0] + 2 * _MARGIN_MM for item in items))
    rows = _rows(items, page_mm)
    heights = [max(item.size_mm[1] for item in row) + _CAPTION_MM for row in rows]
    height_mm = _MARGIN_MM + _HEAD_MM + sum(heights) + _GAP_MM * (len(rows) - 1) + _MARGIN_MM
    drawing = Drawing(page_mm, height_mm, f"The pieces of {puzzle.title}")
    y = height_mm - _MARGIN_MM - 6
    drawing.text(_MARGIN_MM, y, puzzle.title, 7, class_="title")
    drawing.text(_MARGIN_MM, y - 6, _summary(puzzle, items, profile), 3.6, class_="quiet")
    y = height_mm - _MARGIN_MM - _HEAD_MM
    for row, row_height in zip(rows, heights, strict=True):
        x = _MARGIN_MM
        for item in row:
            _draw(drawing, item, x, y - row_height + _CAPTION_MM)
            x += item.size_mm[0] + _GAP_MM
        y -= row_height + _GAP_MM
    return drawing.source()


def _flat_item(puzzle: PuzzleSet, piece: Piece, blueprint: Blueprint, profile: Profile) -> _Item:
    outline = blueprint.outline
    toned = tones(puzzle.lattice, piece, blueprint, profile).area.intersection(outline)
    return _Item(piece.id, piece.colour, outline, blueprint, toned, piece.tone)


def _ball_forms(puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile) -> list[_Item]:
    unit = profile.unit_mm
    return [
        _Item(
            f"{piece.id} {form.name}",
            piece.colour,
            canonical_outline(puzzle.lattice, form.rings, unit),
            balls=tuple((x * unit, y * unit) for x, y in in_units(puzzle.lattice, form.cells)),
            ball_mm=BALL_OF_PITCH * unit,
        )
        for piece in pieces
        for form in piece.forms
    ]


def _summary(puzzle: PuzzleSet, items: Sequence[_Item], profile: Profile) -> str:
    balls = sum(1 for item in items if item.balls)
    if balls == len(items):
        return f"{balls} flat forms, pitch {format_mm(profile.unit_mm)}"
    parts = [
        f"{len(items) - balls} pieces",
        f"unit {format_mm(profile.unit_mm)}",
        f"{format_mm(profile.thickness_mm)} thick",
    ]
    magnets = sum(len(item.blueprint.recesses) for item in items if item.blueprint)
    if magnets:
        size = f"{profile.magnet_diameter_mm:g} x {format_mm(profile.magnet_height_mm)}"
        parts.append(f"{magnets} magnets {size} ({profile.fit} fit, dashed)")
    return " · ".join(parts)


def _rows(items: Sequence[_Item], page_mm: float) -> list[list[_Item]]:
    """The items in their order, as many in a row as the page holds."""
    rows: list[list[_Item]] = []
    right = page_mm
    for item in items:
        width = item.size_mm[0]
        if not rows or right + _GAP_MM + width > page_mm - _MARGIN_MM:
            rows.append([])
            right = _MARGIN_MM - _GAP_MM
        rows[-1].append(item)
        right += _GAP_MM + width
    return rows


def _draw(drawing: Drawing, item: _Item, x: float, y: float) -> None:
    """Draws an item with the lower left of its bounding box at a point, its caption below."""
    left, bottom = item.outline.bounds[:2]
    dx, dy = x - left, y - bottom

    def moved(polygon: Polygon) -> list[list[tuple[float, float]]]:
        return [[(px + dx, py + dy) for px, py in ring] for ring in rings_mm(polygon)]

    if item.balls:
        drawing.polygon(moved(item.outline), fill=item.colour, fill_opacity="0.35")
        for bx, by in item.balls:
            drawing.circle(bx + dx, by + dy, item.ball_mm / 2, fill=item.colour)
    if item.blueprint:
        ink = ink_on(item.colour)
        drawing.polygon(moved(item.outline), fill=item.colour)
        for part in parts_of(item.toned):
            drawing.polygon(moved(part), fill=item.tone, class_="tone")
        drawing.polygon(
            moved(item.blueprint.face),
            fill="none",
            stroke=ink,
            stroke_opacity="0.35",
            stroke_width="0.25",
        )
        if item.blueprint.label:
            letter = item.blueprint.label.front.polygon()
            for part in parts_of(letter.difference(item.toned)):
                drawing.polygon(moved(part), fill=ink)
            for part in parts_of(letter.intersection(item.toned)):
                drawing.polygon(moved(part), fill=ink_on(item.tone))
        for recess in item.blueprint.recesses:
            for (cx, cy), diameter_mm in recess.circles:
                drawing.circle(
                    cx + dx, cy + dy, diameter_mm / 2,
                    fill="none", stroke=ink, stroke_opacity="0.7", stroke_width="0.3", stroke_dasharray="1.2 0.8",
                )  # fmt: skip
    width, height = item.size_mm
    drawing.text(x, y - 4.5, item.caption, 3.6)
    drawing.text(x, y - 8.5, f"{width:.1f} x {height:.1f} mm", 2.8, class_="quiet")


def parts_of(area: BaseGeometry) -> list[Polygon]:
    """The polygons of an area; none when it is empty.

    Example:
        >>> [part.area for part in parts_of(MultiPolygon())]
        []
    """
    return [
        part for part in getattr(area, "geoms", [area]) if part.geom_type == "Polygon" and part.area
    ]
