"""The piece sheet: every piece of a set at 1:1, with its letter, magnets and size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fabkit.core.errors import InputError, many
from fabkit.core.units import format_mm
from fabkit.drawing.draft import Blueprint, draft, draft_all
from fabkit.drawing.outline import BlueprintError
from fabkit.drawing.part import every
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.booklet.typeset import shortened
from fabkit.output.canvas import height_line, scale_bar, width_line
from fabkit.output.pieceview import DASHES, PieceView, ball_views, draw_view, flat_view
from fabkit.output.svg import Drawing

_PAGE_WIDTH_MM = 300.0
_MARGIN_MM, _GAP_MM, _HEAD_MM = 10.0, 5.0, 18.0
#: Between the pieces and the foot of the sheet, and between what stands there.
_ABOVE_FOOT_MM, _LEGEND_GAP_MM = 8.0, 26.0
_BAR_MM = 50.0
_TITLE_MM, _TEXT_MM, _SMALL_MM = 7.0, 3.6, 2.6
#: In the legend: room below two balls for their pitch, and how far lines are from them.
_BELOW_MM, _APART_MM = 8.0, 3.0


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
        found = every(puzzle, pieces, profile, _draft_of_any_letter)
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
        self.height_mm = max(self._recess_mm, self._ball_mm + _BELOW_MM, 3.0)

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
            low = y + _BELOW_MM
            for place in (0.0, pitch_mm):
                style = theme.lined("ink") | {"stroke_width": "0.3"}
                drawing.circle(x + radius + place, low + radius, radius, fill="none", **style)
            pitch = f"pitch {format_mm(pitch_mm)}"
            width_line(drawing, (x + radius, low - _APART_MM), pitch_mm, pitch, theme)
            right = x + self._ball_mm + pitch_mm + _APART_MM
            ball = f"Ø {format_mm(self._ball_mm)}"
            height_line(drawing, (right, low), self._ball_mm, ball, theme)
