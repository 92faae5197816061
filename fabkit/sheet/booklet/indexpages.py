"""The index: every challenge by its title, with the pages of challenge and solution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.sheet.booklet.items import Item, in_order
from fabkit.sheet.booklet.leaf import (
    HEADING_MM,
    LINK,
    MARGIN_MM,
    SMALL_MM,
    Edition,
    Places,
    UsualLeaf,
    draw_frame,
    key_of,
)
from fabkit.sheet.booklet.paper import FOOT_MM, HEAD_MM, Size
from fabkit.sheet.booklet.typeset import shortened
from fabkit.sheet.look import LIGHT
from fabkit.sheet.pdf import PdfPage

_ROW_MM = 4.7
#: So many rows are not divided among columns.
_LEAST_ROWS = 20
#: Above the rows: the heading of the first page, and the names of columns.
_HEADING_MM, _NAMES_MM = 12.0, 5.5
#: A column is at least so wide, so much lies between two, and so wide are its numbers.
_LEAST_MM, _BETWEEN_MM, _FIGURE_MM = 84.0, 8.0, 14.0


@dataclass(frozen=True)
class IndexLeaf(UsualLeaf):
    """A page of the index.

    Attributes:
        items: the challenges that are listed, in order.
        marks: see `fabkit.sheet.booklet.leaf.Leaf`; the first page has some.
    """

    items: tuple[Item, ...]
    marks: tuple[tuple[int, str], ...] = ()

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.sheet.booklet.leaf.Leaf`."""
        words = self.edition.words
        draw_frame(page, self.edition, self.size, number, words["index"])
        top = self.size[1] - HEAD_MM
        if self.marks:
            page.text(MARGIN_MM, top - 6.5, words["index"], HEADING_MM, class_="title")
        columns, _ = _grid(self.size)
        rows = max(math.ceil(len(self.items) / columns), _LEAST_ROWS)
        width = (self.size[0] - 2 * MARGIN_MM - (columns - 1) * _BETWEEN_MM) / columns
        top -= _HEADING_MM
        for column in range(columns):
            listed = self.items[column * rows : (column + 1) * rows]
            left = MARGIN_MM + column * (width + _BETWEEN_MM)
            if listed:
                self._draw_column(page, listed, (left, top), width, places)

    def _draw_column(
        self,
        page: PdfPage,
        items: Sequence[Item],
        corner: tuple[float, float],
        width: float,
        places: Places,
    ) -> None:
        """Rows below each other, from an upper left corner."""
        left, y = corner[0], corner[1] - 3.0
        words = self.edition.words
        ends = [left + width - step * _FIGURE_MM for step in (2, 1, 0)]
        names = [words["index_number"], words["index_page"], words["index_solution"]]
        for end, name in zip(ends, names, strict=True):
            fitting = shortened(name, SMALL_MM, _FIGURE_MM)
            page.text(end, y, fitting, SMALL_MM, class_="quiet", text_anchor="end")
        line = [(left, y - 1.4), (left + width, y - 1.4)]
        page.line(line, stroke=LIGHT.faint, stroke_width="0.2")
        for row, item in enumerate(items, start=1):
            base = y - 0.8 - row * _ROW_MM
            title = shortened(item.title, SMALL_MM, width - 2 * _FIGURE_MM - 8)
            page.text(left, base, title, SMALL_MM)
            to = places.challenges[item.number], places.solutions[item.number]
            page.text(ends[0], base, str(item.number), SMALL_MM, text_anchor="end")
            for end, target in zip(ends[1:], to, strict=True):
                page.text(end, base, str(target), SMALL_MM, fill=LINK, text_anchor="end")
            for begin, reach, target in zip(
                (left, ends[1]), (width - _FIGURE_MM, _FIGURE_MM), to, strict=True
            ):
                page.link(begin, base - 1, reach, _ROW_MM - 0.4, key_of(target), item.title)


def index_leaves(edition: Edition) -> list[IndexLeaf]:
    """The pages of the index, sorted by title."""
    columns, rows = _grid(edition.size)
    items = tuple(sorted(edition.items, key=lambda item: (in_order(item.title), item.number)))
    there = columns * rows
    return [
        IndexLeaf(
            edition, items[place : place + there], () if place else ((0, edition.words["index"]),)
        )
        for place in range(0, len(items), there)
    ]


def _grid(size: Size) -> tuple[int, int]:
    """How many columns the index has on a page, and how many rows each.

    Example:
        >>> _grid((148.0, 210.0)), _grid((210.0, 297.0))
        ((1, 35), (2, 53))
    """
    wide, high = size[0] - 2 * MARGIN_MM, size[1] - HEAD_MM - _HEADING_MM - _NAMES_MM - FOOT_MM
    columns = max(1, int((wide + _BETWEEN_MM) / (_LEAST_MM + _BETWEEN_MM)))
    return columns, int(high / _ROW_MM)
