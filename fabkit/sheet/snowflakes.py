"""The sheet of snowflakes: every shape of a catalog with one of its solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabkit.base.errors import many
from fabkit.model.puzzle import PuzzleSet
from fabkit.sheet.svg import Drawing

_PAGE_WIDTH_MM = 420.0
_MARGIN_MM, _GAP_MM, _HEAD_MM = 10.0, 5.0, 19.0
_UNIT_MM = 4.0
_TITLE_MM, _TEXT_MM, _SMALL_MM = 7.0, 3.6, 2.4
_CAPTION_MM = 7.0
_JOINT_MM = 0.25


def snowflake_sheet(puzzle: PuzzleSet, entries: Sequence[Mapping[str, Any]]) -> str:
    """Draws all snowflakes of a catalog, in its order.

    Args:
        puzzle: the set, for names and colours.
        entries: the challenges of a catalog file.

    Returns:
        An SVG document in mm, the shapes at one scale.

    Example:
        >>> from fabkit.model.library import load_set
        >>> square = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]
        >>> entry = {"id": "odd0-1", "parity": "odd", "flips": False, "count": 1,
        ...          "count_complete": True, "solution": {"D": square}}
        >>> snowflake_sheet(load_set("fridgeiq"), [entry])[:4]
        '<svg'
    """
    rows = _rows([_Card(puzzle, entry) for entry in entries])
    height_mm = _HEAD_MM + 2 * _MARGIN_MM + sum(_height_mm(row) + _GAP_MM for row in rows)
    title = f"{puzzle.title} · {many(len(entries), 'snowflake')}"
    drawing = Drawing(_PAGE_WIDTH_MM, height_mm, title)
    top = height_mm - _MARGIN_MM - 6
    drawing.text(_MARGIN_MM, top, title, _TITLE_MM, class_="title")
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

    def __init__(self, puzzle: PuzzleSet, entry: Mapping[str, Any]) -> None:
        self._puzzle, self._entry = puzzle, entry
        rings = [ring for outline in entry["solution"].values() for ring in _rings(outline)]
        self._reach = max(abs(float(x)) for ring in rings for corner in ring for x in corner)
        # Captions need some room below small shapes.
        self.size_mm: float = max(2 * self._reach * _UNIT_MM, 24.0)

    def draw(self, drawing: Drawing, x: float, y: float) -> None:
        """Draws it with its lower left corner there; the caption goes below."""
        middle = x + self.size_mm / 2, y + self.size_mm / 2
        for piece in self._puzzle.pieces:
            if piece.id in self._entry["solution"]:
                drawing.polygon(
                    [
                        [(middle[0] + a * _UNIT_MM, middle[1] + b * _UNIT_MM) for a, b in ring]
                        for ring in _rings(self._entry["solution"][piece.id])
                    ],
                    fill=piece.colour,
                    stroke="#333",
                    stroke_width=str(_JOINT_MM),
                    stroke_linejoin="round",
                )
        count = self._entry["count"]
        known = many(count, "solution") if count < 10_000 else f"{count:,} solutions"
        if not self._entry["count_complete"]:
            known += " or more"
        if self._entry["flips"]:
            known += ", flips"
        drawing.text(middle[0], y - 3, self._entry["id"], _SMALL_MM, text_anchor="middle")
        drawing.text(
            middle[0],
            y - 6,
            known,
            _SMALL_MM,
            text_anchor="middle",
            class_="quiet",
        )


def _rings(outline: Sequence[Any]) -> Sequence[Any]:
    """A list of rings, also of an outline that is a single one."""
    return [outline] if outline and not isinstance(outline[0][0], list) else outline


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
