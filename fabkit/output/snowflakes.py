"""The sheet of snowflakes: every shape of a catalog with one of its solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabkit.core.errors import many
from fabkit.model.catalogfile import read_snowflakes
from fabkit.model.entry import Entry
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.board import board_at, draw_pieces, size_mm
from fabkit.output.booklet.typeset import shortened
from fabkit.output.challenge import known_solutions
from fabkit.output.svg import Drawing

_PAGE_WIDTH_MM = 420.0
_MARGIN_MM, _GAP_MM, _HEAD_MM = 10.0, 5.0, 19.0
_UNIT_MM = 4.0
_TITLE_MM, _TEXT_MM, _SMALL_MM = 7.0, 3.6, 2.4
_CAPTION_MM = 7.0


def snowflake_sheet(
    puzzle: PuzzleSet, entries: Sequence[Mapping[str, Any]], theme: str = "auto"
) -> str:
    """Draws all snowflakes of a catalog, in its order.

    Args:
        puzzle: the set, for names and colours.
        entries: the challenges of a catalog file.
        theme: see `fabkit.output.svg.Drawing`.

    Returns:
        An SVG document in mm, the shapes at one scale.

    Raises:
        InputError: when they are no challenges of this set.

    Example:
        >>> from fabkit.model.catalog import catalog_entries
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> snowflake_sheet(fridgeiq, catalog_entries(fridgeiq)[:2])[:4]
        '<svg'
    """
    read = read_snowflakes({"challenges": list(entries)}, puzzle, "the catalog")
    rows = _rows([_Card(puzzle, entry) for entry in read])
    height_mm = _HEAD_MM + 2 * _MARGIN_MM + sum(_height_mm(row) + _GAP_MM for row in rows)
    title = f"{puzzle.title} · {many(len(entries), 'snowflake')}"
    drawing = Drawing(_PAGE_WIDTH_MM, height_mm, title, _summary(entries), theme)
    top = height_mm - _MARGIN_MM - 6
    heading = shortened(title, _TITLE_MM, _PAGE_WIDTH_MM - 2 * _MARGIN_MM, bold=True)
    drawing.text(_MARGIN_MM, top, heading, _TITLE_MM, class_="title")
    drawing.text(_MARGIN_MM, top - 6, _summary(entries), _TEXT_MM, class_="quiet")
    y = height_mm - _MARGIN_MM - _HEAD_MM
    for row in rows:
        x = _MARGIN_MM
        for card in row:
            card.draw(drawing, x, y - _height_mm(row) + _CAPTION_MM)
            x += card.size_mm + _GAP_MM
        y -= _height_mm(row) + _GAP_MM
    return drawing.source()


def _summary(entries: Sequence[Mapping[str, Any]]) -> str:
    """How many there are of each parity, and for how many pieces are turned over."""
    parities = Counter(str(entry["parity"]) for entry in entries)
    flipped = sum(bool(entry["flips"]) for entry in entries)
    moves = "pieces are only turned"
    if flipped:
        moves = "pieces may be turned over"
        if flipped < len(entries):
            moves = f"{len(entries) - flipped} by turning pieces, {flipped} by turning them over"
    return " · ".join([*(f"{count} {parity}" for parity, count in parities.items()), moves])


class _Card:
    """One shape and its caption."""

    def __init__(self, puzzle: PuzzleSet, entry: Entry) -> None:
        self._puzzle, self._entry = puzzle, entry
        self._shape_mm = size_mm(puzzle, entry, _UNIT_MM)
        # Captions need some room below small shapes.
        self.size_mm: float = max(*self._shape_mm, 24.0)

    def draw(self, drawing: Drawing, x: float, y: float) -> None:
        """Draws it with its lower left corner there; the caption goes below."""
        middle = x + self.size_mm / 2, y + self.size_mm / 2
        corner = middle[0] - self._shape_mm[0] / 2, middle[1] - self._shape_mm[1] / 2
        board = board_at(
            drawing, self._puzzle, self._entry, _UNIT_MM, corner, drawing.theme, written=True
        )
        draw_pieces(board, self._puzzle, self._entry.solution or {})
        style = {"text_anchor": "middle"}
        drawing.text(middle[0], y - 3, self._entry.title, _SMALL_MM, **style)
        drawing.text(middle[0], y - 6, self._known(), _SMALL_MM, class_="quiet", **style)

    def _known(self) -> str:
        """How many solutions there are, and whether pieces may be turned over."""
        return known_solutions(self._entry) + (", flips" if self._entry.flips else "")


def _rows(cards: Sequence[_Card]) -> list[list[_Card]]:
    rows: list[list[_Card]] = [[]]
    used_mm = 0.0
    for card in cards:
        if rows[-1] and used_mm + card.size_mm > _PAGE_WIDTH_MM - 2 * _MARGIN_MM:
            rows.append([])
            used_mm = 0.0
        rows[-1].append(card)
        used_mm += card.size_mm + _GAP_MM
    return [row for row in rows if row]


def _height_mm(row: Sequence[_Card]) -> float:
    return max(card.size_mm for card in row) + _CAPTION_MM
