"""The first page: the set's name and picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.output.board import BoardDrawing, extent
from fabkit.output.booklet.leaf import LEADING, SMALL_MM, TEXT_MM, Places, UsualLeaf
from fabkit.output.booklet.pdf import PdfPage
from fabkit.output.canvas import Canvas
from fabkit.output.i18n import counted
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import lines_of

_MARGIN_MM = 16.0
#: The largest and the smallest that the title is set in, and in how many lines at most.
_TITLE_MM, _LEAST_TITLE_MM, _MOST_LINES = 15.0, 6.0, 3
_SUBTITLE_MM = 4.6
#: How many lines are told of where the shapes come from.
_MOST_CREDIT = 4
#: Of its place a piece takes this much.
_FILLED = 0.8


@dataclass(frozen=True)
class CoverLeaf(UsualLeaf):
    """The cover.

    Attributes:
        picture: a PNG picture; None shows the pieces.
    """

    picture: bytes | None

    @property
    def marks(self) -> Sequence[tuple[int, str]]:
        """The outline begins with the set's name."""
        return ((0, self.edition.puzzle.title),)

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.output.booklet.leaf.Leaf`."""
        width, height = self.size
        room = width - 2 * _MARGIN_MM
        words, puzzle = self.edition.words, self.edition.puzzle
        y = height - _MARGIN_MM
        size, lines = _title(puzzle.title, room)
        for line in lines:
            y -= size
            page.text(_MARGIN_MM, y, line, size, class_="title")
            y -= size * (LEADING - 1)
        y -= _SUBTITLE_MM
        for line in lines_of(words["cover_line"], _SUBTITLE_MM, room):
            page.text(_MARGIN_MM, y, line, _SUBTITLE_MM)
            y -= LEADING * _SUBTITLE_MM
        parts = [("pieces", len(puzzle.pieces)), ("challenges", len(self.edition.items))]
        told = " · ".join(counted(words, key, count) for key, count in parts)
        page.text(_MARGIN_MM, y, told, TEXT_MM, class_="quiet")
        bottom = self._draw_credit(page, room)
        box = _MARGIN_MM, bottom + 6, room, y - bottom - 14
        if self.picture is None:
            self._draw_pieces(page, box)
        else:
            page.picture(self.picture, *box)

    def _draw_credit(self, page: Canvas, room: float) -> float:
        """Where the shapes come from, at the foot of the page; the upper edge of that."""
        words, origin = self.edition.words, self.edition.puzzle.origin
        lines = []
        if "credit" in origin:
            lines += lines_of(words["shapes"].format(credit=origin["credit"]), SMALL_MM, room)
        if len(lines) > _MOST_CREDIT:
            lines = [*lines[: _MOST_CREDIT - 1], lines[_MOST_CREDIT - 1] + " …"]
        if "licence" in origin:
            licence = words["licence"].format(licence=origin["licence"])
            lines += lines_of(licence, SMALL_MM, room)[:1]
        if not lines:
            return _MARGIN_MM
        y = _MARGIN_MM
        for line in reversed(lines):
            page.text(_MARGIN_MM, y, line, SMALL_MM, class_="quiet")
            y += LEADING * SMALL_MM
        ends = [(_MARGIN_MM, y), (_MARGIN_MM + room, y)]
        page.line(ends, stroke=LIGHT.faint, stroke_width="0.2")
        return y

    def _draw_pieces(self, page: Canvas, box: tuple[float, float, float, float]) -> None:
        """All pieces in rows, all at one scale, as large as the box allows."""
        puzzle = self.edition.puzzle
        left, bottom, width, height = box
        shapes = [piece.forms[0].cells for piece in puzzle.pieces]
        extents = [extent(puzzle.lattice, cells) for cells in shapes]
        side = max(max(one[2:]) for one in extents)
        columns = _columns(len(shapes), width / height)
        rows = math.ceil(len(shapes) / columns)
        wide, high = width / columns, height / rows
        unit_mm = _FILLED * min(wide, high) / side
        for place, (piece, cells, one) in enumerate(
            zip(puzzle.pieces, shapes, extents, strict=True)
        ):
            row, column = divmod(place, columns)
            middle = left + (column + 0.5) * wide, bottom + height - (row + 0.5) * high
            origin = (
                middle[0] - (one[0] + one[2] / 2) * unit_mm,
                middle[1] - (one[1] + one[3] / 2) * unit_mm,
            )
            board = BoardDrawing(page, puzzle.lattice, unit_mm, origin, puzzle.made_of_balls)
            board.pieces([(piece, cells)])


def _title(title: str, room: float) -> tuple[float, list[str]]:
    """The size of the title and its lines: as large as it fits into a few lines."""
    size = _TITLE_MM
    while size > _LEAST_TITLE_MM and (
        len(lines_of(title, size, room, True)) > _MOST_LINES
        or any(line.endswith("…") for line in lines_of(title, size, room, True))
    ):
        size -= 1.0
    lines = lines_of(title, size, room, True)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1] + " …"]
    return size, lines


def _columns(count: int, ratio: float) -> int:
    """In how many columns so many things fill a box best.

    Args:
        count: how many things.
        ratio: of the box's width to its height.

    Example:
        >>> _columns(16, 1.0), _columns(10, 0.7), _columns(7, 2.0)
        (4, 3, 4)
    """
    return max(
        range(1, count + 1),
        key=lambda columns: (
            round(min(ratio / columns, 1 / math.ceil(count / columns)), 6),
            -columns,
        ),
    )
