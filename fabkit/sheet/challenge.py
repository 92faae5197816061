"""The challenge sheet: what is to be covered, and beside it one way to do so."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from fabkit.base.errors import cut, many
from fabkit.model.lattice import Cell
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Challenge, PuzzleSet, in_units
from fabkit.sheet.board import BoardDrawing
from fabkit.sheet.svg import Drawing

_PAGE_WIDTH_MM = 300.0
_PANEL_HEIGHT_MM = 200.0
_MARGIN_MM = 10.0
_GAP_MM = 16.0
_HEAD_MM = 19.0
#: A region this many times as wide as high is drawn above its solution, not beside it.
_LONG = 3.0
_TITLE_MM, _TEXT_MM, _SMALL_MM = 7.0, 3.6, 2.8
_LINE_MM = 4.0
#: The usual width of a character, in font sizes.
_CHARACTER = 0.58
_MOST_LINES = 3


def challenge_sheet(
    puzzle: PuzzleSet,
    challenge: Challenge,
    layout: Mapping[str, frozenset[Cell]] | None = None,
    count: str = "",
    unit_mm: float = 20.0,
) -> str:
    """Draws a challenge, and one of its solutions beside it.

    Args:
        puzzle: the set.
        challenge: what is to be covered, with the pieces already placed.
        layout: a solution, each piece with its cells; None draws the challenge alone.
        count: what is known of the number of solutions, in words.
        unit_mm: length of a grid unit; less where the page is too small for that.

    Returns:
        An SVG document in mm.

    Example:
        >>> from fabkit.model.challengeload import find_challenge
        >>> from fabkit.model.library import load_set
        >>> stars = load_set("iqstars")
        >>> challenge_sheet(stars, find_challenge(stars, "board"), count="381 solutions")[:4]
        '<svg'
    """
    title, summary = cut(f"{puzzle.title} · {challenge.id}"), _summary(challenge, count)
    widest_text_mm = _CHARACTER * max(_TITLE_MM * len(title), _TEXT_MM * len(summary))
    page = _Page(puzzle, challenge, 1 if layout is None else 2, unit_mm, widest_text_mm)
    drawing = Drawing(page.width_mm, page.height_mm, title)
    y = page.height_mm - _MARGIN_MM - 6
    drawing.text(_MARGIN_MM, y, title, _TITLE_MM, class_="title")
    drawing.text(_MARGIN_MM, y - 6, summary, _TEXT_MM, class_="quiet")
    given = {one.piece: one.cells for one in challenge.given}
    page.draw_panel(drawing, 0, given, ["challenge", *page.names])
    if layout is not None:
        page.draw_panel(drawing, 1, layout, ["one solution"])
    return drawing.source()


def _summary(challenge: Challenge, count: str) -> str:
    parts = [
        many(len(challenge.pieces), "piece"),
        f"{len(challenge.given)} given" if challenge.given else "",
        "flips allowed" if challenge.flips else "",
        count,
    ]
    return " · ".join(part for part in parts if part)


class _Page:
    """Where everything goes: panels side by side, or one above the other for long regions."""

    def __init__(
        self,
        puzzle: PuzzleSet,
        challenge: Challenge,
        panels: int,
        unit_mm: float,
        widest_text_mm: float,
    ) -> None:
        self._puzzle = puzzle
        self._region = challenge.region
        self._left, self._bottom, width, height = _extent(puzzle, challenge.region)
        rows = panels if width > _LONG * height else 1
        columns = panels // rows
        gaps_mm = (columns - 1) * _GAP_MM
        widest_mm = (_PAGE_WIDTH_MM - 2 * _MARGIN_MM - gaps_mm) / columns
        self._unit_mm = min(unit_mm, widest_mm / width, _PANEL_HEIGHT_MM / height)
        panel_mm = width * self._unit_mm
        column_mm = min(max(panel_mm, (widest_text_mm - gaps_mm) / columns), widest_mm)
        self._high_mm = height * self._unit_mm
        self.names = _names(challenge, column_mm)
        caption_mm = 1 + _LINE_MM * (1 + len(self.names))
        # The first panel begins where the title does; a second one ends at the other margin,
        # or stands below.
        across_mm = columns * column_mm + gaps_mm
        down_mm = self._high_mm + caption_mm + _GAP_MM
        self._step_mm = (across_mm - panel_mm, 0.0) if rows == 1 else (0.0, down_mm)
        below_mm = (
            down_mm + self._high_mm + 1 + _LINE_MM if rows > 1 else self._high_mm + caption_mm
        )
        self.width_mm = 2 * _MARGIN_MM + across_mm
        self.height_mm = 2 * _MARGIN_MM + _HEAD_MM + below_mm

    def draw_panel(
        self,
        drawing: Drawing,
        index: int,
        pieces: Mapping[str, frozenset[Cell]],
        caption: Sequence[str],
    ) -> None:
        """Draws the region with some pieces on it, and a caption of some lines below."""
        x = _MARGIN_MM + index * self._step_mm[0]
        top = self.height_mm - _MARGIN_MM - _HEAD_MM - index * self._step_mm[1]
        y = top - self._high_mm
        origin_mm = x - self._left * self._unit_mm, y - self._bottom * self._unit_mm
        lattice, balls = self._puzzle.lattice, self._puzzle.made_of_balls
        board = BoardDrawing(drawing, lattice, self._unit_mm, origin_mm, balls)
        board.region(self._region)
        for piece in self._puzzle.pieces:
            if piece.id in pieces:
                board.piece(piece, pieces[piece.id])
        board.rim(self._region)
        drawing.text(x, y - 5.5, caption[0], _TEXT_MM)
        for number, line in enumerate(caption[1:], start=1):
            drawing.text(x, y - 5.5 - number * _LINE_MM, line, _SMALL_MM, class_="quiet")


def _extent(puzzle: PuzzleSet, cells: frozenset[Cell]) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of some cells, in grid units."""
    corners = [point for ring in rings_of_cells(puzzle.lattice, cells) for point in ring]
    xs, ys = zip(*in_units(puzzle.lattice, corners), strict=True)
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def _names(challenge: Challenge, width_mm: float) -> list[str]:
    """The pieces by name, in a few lines; none when they would take more."""
    longest = int(width_mm / (_CHARACTER * _SMALL_MM))
    lines = textwrap.wrap(", ".join(challenge.pieces), max(longest, 1))
    return lines if len(lines) <= _MOST_LINES else []
