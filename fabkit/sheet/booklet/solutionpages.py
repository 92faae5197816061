"""The pages with solutions, at the back: many on a page, smaller than the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.sheet.booklet.items import Item
from fabkit.sheet.booklet.leaf import (
    MARGIN_MM,
    SMALL_MM,
    TEXT_MM,
    Edition,
    Places,
    UsualLeaf,
    draw_frame,
    draw_reference,
)
from fabkit.sheet.booklet.paper import FOOT_MM, HEAD_MM, Size
from fabkit.sheet.booklet.typeset import shortened
from fabkit.sheet.pdf import PdfPage, text_width_mm
from fabkit.sheet.shape import board_at, draw_solution, easy_scale, size_mm
from fabkit.sheet.words import figure

#: A solution takes about this much of a page, in mm, and less height when it is flat …
_ABOUT: Size = (58.0, 60.0)
#: … of which so much is for the title above and the scale below, and so much stays free.
_ABOVE_MM, _BELOW_MM, _GAP_MM = 6.0, 6.0, 6.0
_BESIDE_MM = _ABOVE_MM + _BELOW_MM + _GAP_MM
#: Below the head of a page is a line of text.
_LEAD_MM = 6.0


@dataclass(frozen=True)
class SolutionLeaf(UsualLeaf):
    """A page with solutions.

    Attributes:
        items: the challenges that are solved.
        grid: columns and rows that they are in.
        marks: see `fabkit.sheet.booklet.leaf.Leaf`.
    """

    items: tuple[Item, ...]
    grid: tuple[int, int]
    marks: tuple[tuple[int, str], ...] = ()

    @property
    def solutions(self) -> Sequence[int]:
        """Numbers of the challenges that are solved."""
        return [item.number for item in self.items]

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.sheet.booklet.leaf.Leaf`."""
        words = self.edition.words
        draw_frame(page, self.edition, self.size, number, words["solutions_heading"])
        top = self.size[1] - HEAD_MM
        lead = shortened(words["solutions_text"], SMALL_MM, self.size[0] - 2 * MARGIN_MM)
        page.text(MARGIN_MM, top - 2.5, lead, SMALL_MM, class_="quiet")
        columns, rows = self.grid
        cell = (
            (self.size[0] - 2 * MARGIN_MM) / columns,
            (top - _LEAD_MM - FOOT_MM) / rows,
        )
        for place, item in enumerate(self.items):
            row, column = divmod(place, columns)
            left = MARGIN_MM + column * cell[0]
            self._draw_item(
                page, item, (left, top - _LEAD_MM - row * cell[1]), cell,
                places.challenges[item.number],
            )  # fmt: skip

    def _draw_item(
        self, page: PdfPage, item: Item, corner: tuple[float, float], cell: Size, challenge: int
    ) -> None:
        """A solution in its part of the page, whose upper left corner is given."""
        words, puzzle = self.edition.words, self.edition.puzzle
        (left, top), width = corner, cell[0] - _GAP_MM
        number = f"{item.number}"
        page.text(left, top - 4.0, number, TEXT_MM, class_="title quiet")
        begin = text_width_mm(number, TEXT_MM, bold=True) + 1.6
        title = shortened(item.title, TEXT_MM, width - begin, True)
        page.text(left + begin, top - 4.0, title, TEXT_MM, class_="title")
        room = width, cell[1] - _BESIDE_MM
        unit_mm = self.edition.profile.unit_mm
        scale = easy_scale(size_mm(puzzle, item.entry, unit_mm), room)
        bottom = top - _ABOVE_MM - 0.5 - size_mm(puzzle, item.entry, unit_mm / scale)[1]
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
    room = size[0] - 2 * MARGIN_MM, size[1] - HEAD_MM - _LEAD_MM - FOOT_MM
    sizes = [size_mm(edition.puzzle, item.entry, edition.profile.unit_mm) for item in items]
    grid = _grid(room, len(items), (max(one[0] for one in sizes), max(one[1] for one in sizes)))
    there = grid[0] * grid[1]
    leaves = []
    for place in range(0, len(items), there):
        shown = items[place : place + there]
        first, last = shown[0].number, shown[-1].number
        mark = (1, f"{first}–{last}" if last > first else f"{first}")
        leaves.append(SolutionLeaf(edition, shown, grid, (mark,)))
    return leaves


def _grid(room: Size, count: int, shape: Size) -> tuple[int, int]:
    """How many columns and rows of solutions a page has: few large ones, or many of usual size.

    Args:
        room: width and height of what is free, in mm.
        count: how many solutions there are in all.
        shape: as wide as the widest, and as high as the highest.

    Example:
        >>> _grid((186, 265), 100, (9, 9)), _grid((186, 265), 2, (9, 9))
        ((3, 4), (1, 2))
        >>> _grid((186, 265), 100, (10, 5)), _grid((186, 265), 5, (10, 5))
        ((3, 6), (2, 3))
    """
    flat_mm = (_ABOUT[0] - _GAP_MM) * shape[1] / shape[0] + _BESIDE_MM
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
                    (room[1] / way[1] - _BESIDE_MM) / shape[1],
                ),
                6,
            ),
            -way[0] * way[1],
        ),
    )
