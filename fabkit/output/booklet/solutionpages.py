"""The pages with solutions, at the back: many on a page, smaller than the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.output.board import board_at, draw_solution, easy_scale, size_mm
from fabkit.output.booklet.items import Item
from fabkit.output.booklet.leaf import (
    HEADING_MM,
    MARGIN_MM,
    SMALL_MM,
    TEXT_MM,
    Edition,
    Places,
    UsualLeaf,
    draw_frame,
    draw_reference,
)
from fabkit.output.booklet.paper import FOOT_MM, HEAD_MM, Size
from fabkit.output.booklet.pdf import PdfPage
from fabkit.output.i18n import figure
from fabkit.output.typeset import few_lines, shortened, text_width_mm

#: A solution takes about this much of a page, in mm, and less height when it is flat …
_ABOUT: Size = (58.0, 60.0)
#: … of which so much is for the title above and the scale below, and so much stays free.
_ABOVE_MM, _BELOW_MM, _GAP_MM = 6.0, 6.0, 6.0
#: Every other line of a title takes so much more, and a title takes so many lines at most.
_LINE_MM, _MOST_LINES = 4.4, 2
#: The first page begins with a heading and a line of text.
_HEADING_MM, _LEAD_MM = 14.0, 11.8


@dataclass(frozen=True)
class SolutionLeaf(UsualLeaf):
    """A page with solutions.

    Attributes:
        items: the challenges that are solved.
        grid: columns and rows that they are in.
        marks: see `fabkit.output.booklet.leaf.Leaf`.
    """

    items: tuple[Item, ...]
    grid: tuple[int, int]
    marks: tuple[tuple[int, str], ...] = ()

    @property
    def solutions(self) -> Sequence[int]:
        """Numbers of the challenges that are solved."""
        return [item.number for item in self.items]

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.output.booklet.leaf.Leaf`."""
        heading = self.edition.words["solutions_heading"]
        draw_frame(page, self.edition, self.size, number, heading)
        top = self.size[1] - HEAD_MM
        if self._first:
            self._draw_introduction(page, top)
            top -= _HEADING_MM
        columns, rows = self.grid
        cell = (self.size[0] - 2 * MARGIN_MM) / columns, (top - FOOT_MM) / rows
        # Drawings beside each other begin at the same height, however long their titles are.
        above_mm = _above_mm(self.items, cell[0])
        for place, item in enumerate(self.items):
            row, column = divmod(place, columns)
            left, upper = MARGIN_MM + column * cell[0], top - row * cell[1]
            self._draw_title(page, item, (left, upper), cell[0])
            room = cell[0] - _GAP_MM, cell[1] - above_mm - _BELOW_MM - _GAP_MM
            challenge = places.challenges[item.number]
            self._draw_item(page, item, (left, upper - above_mm), room, challenge)

    @property
    def _first(self) -> bool:
        """Whether the solutions begin here."""
        return self.items[0].number == 1

    def _draw_introduction(self, page: PdfPage, top: float) -> None:
        """Heading and text."""
        words, room = self.edition.words, self.size[0] - 2 * MARGIN_MM
        heading = words["solutions_heading"]
        page.text(MARGIN_MM, top - 6.5, heading, HEADING_MM, class_="title")
        lead = shortened(words["solutions_text"], SMALL_MM, room)
        page.text(MARGIN_MM, top - _LEAD_MM, lead, SMALL_MM, class_="quiet")

    def _draw_title(
        self, page: PdfPage, item: Item, corner: tuple[float, float], cell_mm: float
    ) -> None:
        """Number and title from an upper left corner."""
        left, top = corner
        page.text(left, top - 4.0, str(item.number), TEXT_MM, class_="title quiet")
        for row, line in enumerate(_title(item, cell_mm)):
            base = top - 4.0 - row * _LINE_MM
            page.text(left + _beside_number(item), base, line, TEXT_MM, class_="title")

    def _draw_item(
        self, page: PdfPage, item: Item, corner: tuple[float, float], room: Size, challenge: int
    ) -> None:
        """A solution in its part of the page, whose upper left corner is given."""
        words, puzzle = self.edition.words, self.edition.puzzle
        left, top = corner
        unit_mm = self.edition.profile.unit_mm
        scale = easy_scale(size_mm(puzzle, item.entry, unit_mm), room)
        bottom = top - 0.5 - size_mm(puzzle, item.entry, unit_mm / scale)[1]
        board = board_at(page, puzzle, item.entry, unit_mm / scale, (left, bottom))
        draw_solution(board, puzzle, item.entry)
        says = f"1 : {figure(words, scale)}"
        page.text(left, bottom - 4.2, says, SMALL_MM, class_="quiet")
        back = words["see_challenge"].format(page=challenge)
        begin = left + text_width_mm(says, SMALL_MM) + 4.0
        draw_reference(page, begin, bottom - 4.2, back, challenge)


def solution_leaves(edition: Edition) -> list[SolutionLeaf]:
    """The pages with all solutions of a booklet, in the order of the challenges."""
    items, size = edition.items, edition.size
    room = size[0] - 2 * MARGIN_MM, size[1] - HEAD_MM - _HEADING_MM - FOOT_MM
    sizes = [size_mm(edition.puzzle, item.entry, edition.profile.unit_mm) for item in items]
    shape = max(one[0] for one in sizes), max(one[1] for one in sizes)
    # As high as titles are in the narrowest columns that there may be.
    grid = _grid(room, len(items), shape, _above_mm(items, _ABOUT[0]) + _BELOW_MM + _GAP_MM)
    there = grid[0] * grid[1]
    leaves = []
    for place in range(0, len(items), there):
        shown = items[place : place + there]
        first, last = shown[0].number, shown[-1].number
        mark = (1, f"{first}–{last}" if last > first else f"{first}")
        leaves.append(SolutionLeaf(edition, shown, grid, (mark,)))
    return leaves


def _above_mm(items: Sequence[Item], cell_mm: float) -> float:
    """How high the titles of some solutions are, in parts of the page of some width."""
    return _ABOVE_MM + _LINE_MM * (max(len(_title(item, cell_mm)) for item in items) - 1)


def _title(item: Item, cell_mm: float) -> list[str]:
    """A title in lines; one at least."""
    room = cell_mm - _GAP_MM - _beside_number(item)
    return few_lines(item.title, TEXT_MM, room, _MOST_LINES, True) or [""]


def _beside_number(item: Item) -> float:
    """Where the title begins, from the left of the number."""
    return text_width_mm(str(item.number), TEXT_MM, bold=True) + 1.6


def _grid(room: Size, count: int, shape: Size, beside_mm: float) -> tuple[int, int]:
    """How many columns and rows of solutions a page has: few large ones, or many of usual size.

    Args:
        room: width and height of what is free, in mm.
        count: how many solutions there are in all.
        shape: as wide as the widest, and as high as the highest.
        beside_mm: how much of a part's height is not for the drawing.

    Example:
        >>> _grid((186, 265), 100, (9, 9), 18), _grid((186, 265), 2, (9, 9), 18)
        ((3, 4), (1, 2))
        >>> _grid((186, 265), 100, (10, 5), 18), _grid((186, 265), 5, (10, 5), 18)
        ((3, 6), (2, 3))
    """
    flat_mm = (_ABOUT[0] - _GAP_MM) * shape[1] / shape[0] + beside_mm
    about = _ABOUT[0], min(_ABOUT[1], flat_mm)
    most = max(1, int(room[0] / about[0])), max(1, int(room[1] / about[1]))
    ways = [(columns, rows) for columns in range(1, most[0] + 1) for rows in range(1, most[1] + 1)]
    enough = [way for way in ways if way[0] * way[1] >= count]
    return max(
        enough or [most],
        key=lambda way: (
            round(
                min(
                    (room[0] / way[0] - _GAP_MM) / shape[0],
                    (room[1] / way[1] - beside_mm) / shape[1],
                ),
                6,
            ),
            -way[0] * way[1],
        ),
    )
