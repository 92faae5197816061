"""The index: every challenge by its title, with the pages of challenge and solution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from fabkit.output.booklet.items import Item, in_order
from fabkit.output.booklet.leaf import (
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
from fabkit.output.booklet.paper import FOOT_MM, HEAD_MM, Size
from fabkit.output.booklet.pdf import PdfPage
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import few_lines, shortened

#: A title takes so many lines at most, all but the first of which begin further right.
_LINE_MM, _MOST_LINES, _INDENT_MM = 4.7, 3, 2.5
#: So many lines are not divided among columns.
_LEAST_LINES = 20
#: Above the titles: the heading of the first page, and the names of columns.
_HEADING_MM, _NAMES_MM = 12.0, 5.5
#: A column is at least so wide, so much lies between two, and so wide are its numbers.
_LEAST_MM, _BETWEEN_MM, _FIGURE_MM = 84.0, 8.0, 14.0


@dataclass(frozen=True)
class _Listed:
    """A challenge in the index, with the lines of its title."""

    item: Item
    lines: tuple[str, ...]


@dataclass(frozen=True)
class IndexLeaf(UsualLeaf):
    """A page of the index.

    Attributes:
        columns: the challenges that are listed, in order.
        marks: see `fabkit.output.booklet.leaf.Leaf`; the first page has some.
    """

    columns: tuple[tuple[_Listed, ...], ...]
    marks: tuple[tuple[int, str], ...] = ()

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.output.booklet.leaf.Leaf`."""
        words = self.edition.words
        draw_frame(page, self.edition, self.size, number, words["index"])
        top = self.size[1] - HEAD_MM
        if self.marks:
            page.text(MARGIN_MM, top - 6.5, words["index"], HEADING_MM, class_="title")
        top -= _HEADING_MM
        width = _column_mm(self.size)
        for column, listed in enumerate(self.columns):
            left = MARGIN_MM + column * (width + _BETWEEN_MM)
            self._draw_column(page, listed, (left, top), width, places)

    def _draw_column(
        self,
        page: PdfPage,
        column: Sequence[_Listed],
        corner: tuple[float, float],
        width: float,
        places: Places,
    ) -> None:
        """Titles below each other, from an upper left corner."""
        left, y = corner[0], corner[1] - 3.0
        self._draw_names(page, left, y, width)
        y -= 0.8
        for listed in column:
            self._draw_listed(page, listed, (left, y), width, places)
            y -= _LINE_MM * len(listed.lines)

    def _draw_names(self, page: PdfPage, left: float, y: float, width: float) -> None:
        """What the numbers in a column are, and a line below."""
        words = self.edition.words
        names = [words["index_number"], words["index_page"], words["index_solution"]]
        for end, name in zip(_ends(left, width), names, strict=True):
            fitting = shortened(name, SMALL_MM, _FIGURE_MM)
            page.text(end, y, fitting, SMALL_MM, class_="quiet", text_anchor="end")
        line = [(left, y - 1.4), (left + width, y - 1.4)]
        page.line(line, stroke=LIGHT.faint, stroke_width="0.2")

    def _draw_listed(
        self,
        page: PdfPage,
        listed: _Listed,
        corner: tuple[float, float],
        width: float,
        places: Places,
    ) -> None:
        """A title from an upper left corner, and beside its last line the numbers."""
        item, (left, top) = listed.item, corner
        for row, line in enumerate(listed.lines, start=1):
            indent = _INDENT_MM if row > 1 else 0.0
            page.text(left + indent, top - row * _LINE_MM, line, SMALL_MM)
        high = _LINE_MM * len(listed.lines)
        base, ends = top - high, _ends(left, width)
        page.text(ends[0], base, str(item.number), SMALL_MM, text_anchor="end")
        to = places.challenges[item.number], places.solutions[item.number]
        for end, target in zip(ends[1:], to, strict=True):
            page.text(end, base, str(target), SMALL_MM, fill=LINK, text_anchor="end")
        for begin, reach, target in zip(
            (left, ends[1]), (width - _FIGURE_MM, _FIGURE_MM), to, strict=True
        ):
            page.link(begin, base - 1, reach, high - 0.4, key_of(target), item.title)


def index_leaves(edition: Edition) -> list[IndexLeaf]:
    """The pages of the index, sorted by title."""
    columns, lines = _grid(edition.size)
    room = _column_mm(edition.size) - 2 * _FIGURE_MM - 8 - _INDENT_MM
    items = sorted(edition.items, key=lambda item: (in_order(item.title), item.number))
    listed = [
        _Listed(item, tuple(few_lines(item.title, SMALL_MM, room, _MOST_LINES) or [""]))
        for item in items
    ]
    full = _filled(listed, lines)
    pages = [full[place : place + columns] for place in range(0, len(full), columns)]
    return [
        IndexLeaf(
            edition,
            tuple(map(tuple, _levelled(page, columns, lines))),
            () if place else ((0, edition.words["index"]),),
        )
        for place, page in enumerate(pages)
    ]


def _filled(listed: Iterable[_Listed], lines: int) -> list[list[_Listed]]:
    """Columns with so many lines at most."""
    columns: list[list[_Listed]] = []
    free = 0
    for one in listed:
        if not columns or len(one.lines) > free:
            columns.append([])
            free = lines
        columns[-1].append(one)
        free -= len(one.lines)
    return columns


def _levelled(page: Sequence[Sequence[_Listed]], columns: int, most: int) -> list[list[_Listed]]:
    """The columns of a page, none of them with more lines than it needs.

    Args:
        page: columns that were filled one after the other.
        columns: how many there may be.
        most: how many lines they may have.
    """
    listed = list(chain.from_iterable(page))
    ways = (_filled(listed, lines) for lines in range(min(_LEAST_LINES, most), most + 1))
    return next(way for way in ways if len(way) <= columns)


def _ends(left: float, width: float) -> list[float]:
    """Where the numbers in a column end: of the challenge, its page, and that of its solution."""
    return [left + width - step * _FIGURE_MM for step in (2, 1, 0)]


def _column_mm(size: Size) -> float:
    """How wide a column of the index is."""
    columns, _ = _grid(size)
    return (size[0] - 2 * MARGIN_MM - (columns - 1) * _BETWEEN_MM) / columns


def _grid(size: Size) -> tuple[int, int]:
    """How many columns the index has on a page, and how many lines each.

    Example:
        >>> _grid((148.0, 210.0)), _grid((210.0, 297.0))
        ((1, 35), (2, 53))
    """
    wide, high = size[0] - 2 * MARGIN_MM, size[1] - HEAD_MM - _HEADING_MM - _NAMES_MM - FOOT_MM
    columns = max(1, int((wide + _BETWEEN_MM) / (_LEAST_MM + _BETWEEN_MM)))
    return columns, int(high / _LINE_MM)
