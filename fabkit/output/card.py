"""Challenge cards at 1:1: the board with the given pieces on it, to print on paper and cut out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.core.errors import cut, many
from fabkit.core.units import format_mm
from fabkit.drawing.boards.frame import region_of
from fabkit.drawing.outline import PointMm
from fabkit.model.profile import Profile
from fabkit.model.puzzle import Board, Challenge, PuzzleSet
from fabkit.output.board import BoardDrawing
from fabkit.output.canvas import scale_bar
from fabkit.output.svg import Drawing, number
from fabkit.output.typeset import text_width_mm

#: A4, in mm.
SHEET_MM = (210.0, 297.0)
#: The length of the bar by which a print's scale is checked.
BAR_MM = 50.0
#: Cards are printed on white paper.
_THEME = "light"

#: Around a card's content, between cards on a sheet, and what printers leave free at its edge.
_MARGIN_MM, _GAP_MM, _SHEET_EDGE_MM = 6.0, 4.0, 5.0
#: Heights of what is above and below the board.
_HEAD_MM, _FOOT_MM = 15.0, 13.0
_TITLE_MM, _TEXT_MM, _SMALL_MM = 5.0, 3.4, 2.6
#: Room for what stands beside the scale bar.
_BESIDE_BAR_MM = 12.0


@dataclass(frozen=True)
class Card:
    """A starting position and what is said of it.

    Attributes:
        challenge: with its given pieces; its id names the card's files.
        number: its place among the cards, from 1.
        level: such as ``junior``; empty when how hard it is is not known.
        score: the same as a number.
    """

    challenge: Challenge
    board: Board
    number: int
    level: str = ""
    score: float | None = None

    @property
    def difficulty(self) -> str:
        """Level and score in words; empty when neither is known.

        Example:
            >>> board = Board("board", frozenset())
            >>> Card(Challenge("start-001", frozenset(), ()), board, 1, "junior", 4.21).difficulty
            'junior (4.2)'
        """
        if self.score is None:
            return self.level
        return f"{self.level} ({self.score:.1f})" if self.level else f"{self.score:.1f}"


@dataclass(frozen=True)
class _Format:
    """The size of a card, and where its board lies in the frame of the lattice."""

    left_mm: float
    bottom_mm: float
    board_mm: float
    width_mm: float
    height_mm: float


def card_svg(puzzle: PuzzleSet, card: Card, profile: Profile) -> str:
    """Draws a card with the unit of the profile, so that printed pieces fit the drawing.

    Returns:
        An SVG document in mm, as large as the card.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> stars = load_set("iqstars")
        >>> board = stars.boards[0]
        >>> start = Challenge("start", board.cells, tuple(piece.id for piece in stars.pieces))
        >>> card_svg(stars, Card(start, board, 1), load_profile())[:4]
        '<svg'
    """
    form = _format(puzzle, card, profile)
    drawing = Drawing(form.width_mm, form.height_mm, *_words(puzzle, card), theme=_THEME)
    _draw(drawing, (0.0, 0.0), form, puzzle, card, profile)
    return drawing.source()


def card_sheets(puzzle: PuzzleSet, cards: Sequence[Card], profile: Profile) -> list[str]:
    """Draws cards on sheets of A4, as many on each as there is room for, with lines to cut along.

    Returns:
        SVG documents in mm, upright A4 or lying, whichever holds more; none when a card is larger
        than the sheet.
    """
    found, waiting = [], list(cards)
    while waiting:
        same = [one for one in waiting if one.board == waiting[0].board]
        form = max((_format(puzzle, one, profile) for one in same), key=lambda one: one.width_mm)
        step_mm = form.width_mm + _GAP_MM, form.height_mm + _GAP_MM
        free_mm = 2 * _SHEET_EDGE_MM - _GAP_MM
        columns, rows, width_mm, height_mm = max(
            (
                (
                    int((wide - free_mm) // step_mm[0]),
                    int((high - free_mm) // step_mm[1]),
                    wide,
                    high,
                )
                for wide, high in (SHEET_MM, SHEET_MM[::-1])
            ),
            key=lambda one: one[0] * one[1],
        )
        if not columns * rows:
            return []
        some = same[: columns * rows]
        names = ", ".join(card.challenge.id for card in some)
        drawing = Drawing(width_mm, height_mm, cut(f"{puzzle.title} · {names}"), theme=_THEME)
        for place, card in enumerate(some):
            row, column = divmod(place, columns)
            x = _SHEET_EDGE_MM + column * step_mm[0]
            y = height_mm - _SHEET_EDGE_MM - form.height_mm - row * step_mm[1]
            _draw(drawing, (x, y), form, puzzle, card, profile)
        found.append(drawing.source())
        waiting = [one for one in waiting if one not in some]
    return found


def _format(puzzle: PuzzleSet, card: Card, profile: Profile) -> _Format:
    left, bottom, right, top = region_of(puzzle, card.board, profile).bounds
    title, words = _words(puzzle, card)
    title_mm, words_mm = text_width_mm(title, _TITLE_MM, bold=True), text_width_mm(words, _TEXT_MM)
    wide = max(right - left, title_mm, words_mm, BAR_MM + _BESIDE_BAR_MM) + 2 * _MARGIN_MM
    high = _HEAD_MM + top - bottom + _FOOT_MM + 2 * _MARGIN_MM
    return _Format(left, bottom, right - left, wide, high)


def _draw(
    drawing: Drawing,
    at_mm: PointMm,
    form: _Format,
    puzzle: PuzzleSet,
    card: Card,
    profile: Profile,
) -> None:
    """A card whose lower left corner is at a place."""
    x, y = at_mm
    right, top = x + form.width_mm, y + form.height_mm
    paper = drawing.theme.filled("paper", "card")
    frame = paper | {"stroke": drawing.theme.faint, "stroke_width": "0.1"}
    drawing.polygon([[(x, y), (right, y), (right, top), (x, top)]], **frame)
    title, words = _words(puzzle, card)
    left, base = x + _MARGIN_MM, top - _MARGIN_MM - _TITLE_MM
    drawing.text(left, base, title, _TITLE_MM, class_="title")
    drawing.text(left, base - 5.0, words, _TEXT_MM, class_="quiet")
    indent_mm = (form.width_mm - form.board_mm) / 2
    origin = x + indent_mm - form.left_mm, y + _MARGIN_MM + _FOOT_MM - form.bottom_mm
    board = BoardDrawing(drawing, puzzle.lattice, profile.unit_mm, origin, puzzle.made_of_balls)
    board.region(card.board.cells)
    for given in card.challenge.given:
        board.pieces([(puzzle.piece(given.piece), given.cells)])
    board.rim(card.board.cells)
    scale_bar(drawing, (left, y + _MARGIN_MM + 4.5), BAR_MM, drawing.theme)
    size = f"card {number(form.width_mm)} x {format_mm(form.height_mm)}, print at 100 %"
    drawing.text(left, y + _MARGIN_MM, size, _SMALL_MM, class_="quiet")


def _words(puzzle: PuzzleSet, card: Card) -> tuple[str, str]:
    """A card's title, and the line below it."""
    left = len(card.challenge.pieces) - len(card.challenge.given)
    parts = [card.challenge.id, card.difficulty, f"{many(left, 'piece')} to place"]
    return cut(f"{card.number} · {puzzle.title}"), " · ".join(part for part in parts if part)
