"""Challenge cards at 1:1: the board with the given pieces on it, and below it those still to place.

To print on paper and cut out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shapely import Polygon, box

from fabkit.core.errors import pluralize, truncate
from fabkit.core.units import format_mm
from fabkit.drawing.outline import region_mm
from fabkit.model.piece import Piece
from fabkit.model.puzzle import Board, Challenge, PuzzleSet
from fabkit.output.board import BoardPainter, extent
from fabkit.output.canvas import break_into_rows, draw_scale_bar, draw_stars, star_row_width_mm
from fabkit.output.numbering import STARS
from fabkit.output.svg import Drawing, number
from fabkit.output.typeset import text_width_mm
from fabkit.profiles.profile import Profile

SHEET_MM = (210.0, 297.0)  # width and height of a sheet, A4
BAR_MM = 50.0  # the length of the bar to check a print's scale by
_MARGIN_MM = 6.0  # the margin in a card
_GAP_MM = 4.0  # the gap between cards on a sheet
_SHEET_EDGE_MM = 5.0  # the edge that printers leave blank
_HEAD_MM = 15.0  # height above the board, for the title and the line below it
_FOOT_MM = 13.0  # height below the board, for the scale bar
_BESIDE_BAR_MM = 12.0  # room for the text beside the scale bar
_TITLE_MM = 5.0  # text heights of the title, of the line below it, and of the size of the card
_TEXT_MM = 3.4
_SMALL_MM = 2.6
_STAR_MM = 1.6  # the radius of a star
_UNIT_MM = 3.0  # the grid unit of the pieces to place
_PIECE_GAP_MM = 3.0  # the gap between these pieces, and between their rows
#: A piece with left, bottom, width and height of its first form, in grid units.
_SizedPiece = tuple[Piece, tuple[float, float, float, float]]


@dataclass(frozen=True)
class Card:
    """A starting position, whose id names the card's files, with its number among the cards, from 1,
    and its difficulty as a level (such as ``junior``) and a score, if known."""

    challenge: Challenge
    board: Board
    number: int
    level: str = ""
    score: float | None = None


def card_svg(puzzle: PuzzleSet, card: Card, profile: Profile) -> str:
    """Draw a card as an SVG document in mm, in the unit of the profile, so that printed pieces fit."""
    size_mm = _size_mm(puzzle, card, profile)
    drawing = Drawing(*size_mm, *_title_and_subtitle(puzzle, card), theme="light")
    _draw(drawing, box(0, 0, *size_mm), puzzle, card, profile)
    return drawing.source()


def card_sheets(puzzle: PuzzleSet, cards: Sequence[Card], profile: Profile) -> list[str]:
    """Draw cards on A4 sheets, portrait or landscape, whichever holds more, with cutting lines.
    Returns SVG documents in mm; none when a card is larger than the sheet."""
    sheets = []
    waiting = list(cards)
    while waiting:
        same = [card for card in waiting if card.board == waiting[0].board]
        size_mm = max(_size_mm(puzzle, card, profile) for card in same)
        portrait = _columns_and_rows(SHEET_MM, size_mm)
        landscape = _columns_and_rows(SHEET_MM[::-1], size_mm)
        is_landscape = math.prod(landscape) > math.prod(portrait)
        columns, rows = landscape if is_landscape else portrait
        width_mm, height_mm = SHEET_MM[::-1] if is_landscape else SHEET_MM
        if not columns * rows:
            return []
        on_sheet = same[: columns * rows]
        names = ", ".join(card.challenge.id for card in on_sheet)
        drawing = Drawing(width_mm, height_mm, truncate(f"{puzzle.title} · {names}"), theme="light")
        for place, card in enumerate(on_sheet):
            row, column = divmod(place, columns)
            x = _SHEET_EDGE_MM + column * (size_mm[0] + _GAP_MM)
            y = height_mm - _SHEET_EDGE_MM - size_mm[1] - row * (size_mm[1] + _GAP_MM)
            _draw(drawing, box(x, y, x + size_mm[0], y + size_mm[1]), puzzle, card, profile)
        sheets.append(drawing.source())
        waiting = [card for card in waiting if card not in on_sheet]
    return sheets


def _columns_and_rows(
    sheet_mm: tuple[float, float], size_mm: tuple[float, float]
) -> tuple[int, int]:
    """Return how many cards of a size fit on a sheet, across and down."""
    width_mm, height_mm = (side - 2 * _SHEET_EDGE_MM + _GAP_MM for side in sheet_mm)
    return int(width_mm // (size_mm[0] + _GAP_MM)), int(height_mm // (size_mm[1] + _GAP_MM))


def _size_mm(puzzle: PuzzleSet, card: Card, profile: Profile) -> tuple[float, float]:
    left, bottom, right, top = region_mm(puzzle.lattice, card.board.cells, profile.unit_mm).bounds
    title, subtitle = _title_and_subtitle(puzzle, card)
    title_mm = text_width_mm(title, _TITLE_MM, bold=True) + 4 + star_row_width_mm(_STAR_MM)
    subtitle_mm = text_width_mm(subtitle, _TEXT_MM)
    wide = max(right - left, title_mm, subtitle_mm, BAR_MM + _BESIDE_BAR_MM)
    rows_mm = sum(height_mm + _PIECE_GAP_MM for height_mm, _ in _piece_rows(puzzle, card, wide))
    return wide + 2 * _MARGIN_MM, _HEAD_MM + top - bottom + rows_mm + _FOOT_MM + 2 * _MARGIN_MM


def _piece_rows(
    puzzle: PuzzleSet, card: Card, wide_mm: float
) -> list[tuple[float, list[_SizedPiece]]]:
    """Return the rows of the pieces to place, each with its height, and the pieces with their extents."""
    given = {given.piece for given in card.challenge.given}
    pieces = [piece for piece in puzzle.select(card.challenge.pieces) if piece.id not in given]
    sized = [(piece, extent(puzzle.lattice, piece.forms[0].cells)) for piece in pieces]
    widths_mm = [box[2] * _UNIT_MM for _, box in sized]
    rows = break_into_rows(sized, widths_mm, wide_mm, _PIECE_GAP_MM)
    return [(max(box[3] for _, box in row) * _UNIT_MM, row) for row in rows]


def _draw(drawing: Drawing, area: Polygon, puzzle: PuzzleSet, card: Card, profile: Profile) -> None:
    x, y, right, top = area.bounds
    paper = drawing.theme.filled("paper", "card")
    frame = paper | {"stroke": drawing.theme.faint, "stroke_width": "0.1"}
    drawing.polygon([[(x, y), (right, y), (right, top), (x, top)]], **frame)
    title, subtitle = _title_and_subtitle(puzzle, card)
    left = x + _MARGIN_MM
    base = top - _MARGIN_MM - _TITLE_MM
    drawing.text(left, base, title, _TITLE_MM, class_="title")
    drawing.text(left, base - 5.0, subtitle, _TEXT_MM, class_="quiet")
    if card.level in STARS:
        stars_mm = right - _MARGIN_MM - star_row_width_mm(_STAR_MM), base + _STAR_MM
        draw_stars(drawing, stars_mm, _STAR_MM, STARS[card.level])
    west, south, east, north = region_mm(puzzle.lattice, card.board.cells, profile.unit_mm).bounds
    origin = x + (right - x - (east - west)) / 2 - west, top - _MARGIN_MM - _HEAD_MM - north
    board = BoardPainter(drawing, puzzle, profile.unit_mm, origin, challenge=card.challenge)
    board.ground(card.challenge)
    for given in card.challenge.given:
        board.pieces([(puzzle.piece(given.piece), given.cells)])
    board.rim(card.board.cells)
    row_mm = origin[1] + south - _PIECE_GAP_MM
    for height_mm, row in _piece_rows(puzzle, card, right - x - 2 * _MARGIN_MM):
        row_mm -= height_mm + _PIECE_GAP_MM
        piece_mm = left
        for piece, (piece_left, piece_bottom, wide, _) in row:
            corner = piece_mm - piece_left * _UNIT_MM, row_mm - piece_bottom * _UNIT_MM
            small = BoardPainter(drawing, puzzle, _UNIT_MM, corner)
            small.pieces([(piece, piece.forms[0].cells)])
            piece_mm += wide * _UNIT_MM + _PIECE_GAP_MM
    draw_scale_bar(drawing, (left, y + _MARGIN_MM + 4.5), BAR_MM, drawing.theme)
    size = f"card {number(round(right - x, 1))} x {format_mm(top - y, 1)}, print at 100%"
    drawing.text(left, y + _MARGIN_MM, size, _SMALL_MM, class_="quiet")


def _title_and_subtitle(puzzle: PuzzleSet, card: Card) -> tuple[str, str]:
    """Return the title of a card and the line below it."""
    challenge = card.challenge
    left = challenge.pieces_used - len(challenge.given)
    parts = [challenge.id, card.level, f"{pluralize(left, 'piece')} to place"]
    return truncate(f"{card.number} · {puzzle.title}"), " · ".join(part for part in parts if part)
