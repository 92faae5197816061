"""The pages with challenges: one or a few on a page, at full size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fabkit.output.board import board_at, draw_challenge, easy_scale, size_mm
from fabkit.output.booklet.facts import Facts
from fabkit.output.booklet.items import Item
from fabkit.output.booklet.leaf import MARGIN_MM, Edition, Places, PlainLeaf, draw_frame, draw_size
from fabkit.output.booklet.paper import (
    EDGE_MM,
    HEAD_MM,
    Size,
    content_of,
    fold_out,
    holds,
)
from fabkit.output.booklet.pdf import PdfPage

#: Columns and rows of challenges that may share a page, those with most challenges first.
_GRIDS = ((2, 2), (1, 2), (2, 1))
#: Challenges that share a page need so much for their texts, and so much between them.
_LEAST_TEXT_MM, _BETWEEN_MM = 80.0, 6.0
#: Between what is said of a challenge and its shape.
_APART_MM = 3.0
#: The narrowest text that a page has on which nothing else is: that of A5.
_NARROW_MM = 124.0


@dataclass(frozen=True)
class ChallengeLeaf(PlainLeaf):
    """A page with challenges.

    Attributes:
        edition: the booklet.
        items: the challenges.
        grid: columns and rows that they are in.
        size: of the page.
        folded: the name of the size, when it is larger than the other pages.
        scale: one to what they are drawn: 1, unless even the largest page is too small.
        marks: see `fabkit.output.booklet.leaf.Leaf`.
    """

    edition: Edition
    items: tuple[Item, ...]
    grid: tuple[int, int]
    size: Size
    folded: str = ""
    scale: float = 1.0
    marks: tuple[tuple[int, str], ...] = ()

    @property
    def challenges(self) -> Sequence[int]:
        """Numbers of the challenges that are shown."""
        return [item.number for item in self.items]

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.output.booklet.leaf.Leaf`."""
        words = self.edition.words
        level = words[f"level_{self.items[0].level or 'unknown'}"]
        running = f"{words['challenges_heading']} · {level}"
        draw_frame(page, self.edition, self.size, number, running)
        draw_size(page, self.edition, self.size, self.folded, self.scale)
        columns, rows = self.grid
        room = content_of(self.size)
        cell = room[0] / columns, room[1] / rows
        for place, item in enumerate(self.items):
            row, column = divmod(place, columns)
            left = EDGE_MM + column * cell[0]
            top = self.size[1] - HEAD_MM - row * cell[1]
            self._draw_item(page, item, (left, top), cell, places.solutions[item.number])

    def _draw_item(
        self, page: PdfPage, item: Item, corner: tuple[float, float], cell: Size, solution: int
    ) -> None:
        """A challenge in its part of the page, whose upper left corner is given."""
        left, top = corner
        facts = Facts(self.edition, item, _text_width(self.size, self.grid))
        facts.draw(page, left + MARGIN_MM - EDGE_MM, top, solution)
        unit_mm = self.edition.profile.unit_mm / self.scale
        wide, high = size_mm(self.edition.puzzle, item.entry, unit_mm)
        free = cell[1] - facts.height_mm - _APART_MM - (_BETWEEN_MM if self.grid[1] > 1 else 0)
        # A little above the middle looks like the middle.
        below = max(0.0, (free - high) * 0.55)
        bottom = top - facts.height_mm - _APART_MM - free + below
        at = left + (cell[0] - wide) / 2, bottom
        puzzle = self.edition.puzzle
        board = board_at(page, puzzle, item.entry, unit_mm, at)
        # Balls and hexagons need their seats to be laid; squares lie on a plain shape.
        seats = puzzle.made_of_balls or puzzle.lattice.name == "triangular"
        draw_challenge(board, puzzle, item.entry, grid=seats)


def room_needed(edition: Edition, item: Item, text_mm: float = _NARROW_MM) -> Size:
    """The room that a challenge takes at full size, with what is said of it.

    Args:
        edition: the booklet.
        item: the challenge.
        text_mm: how wide its texts may be.

    Returns:
        Width and height in mm.
    """
    wide, high = size_mm(edition.puzzle, item.entry, edition.profile.unit_mm)
    return wide, high + Facts(edition, item, text_mm).height_mm + _APART_MM


def challenge_leaves(edition: Edition) -> list[ChallengeLeaf]:
    """The pages with all challenges of a booklet, each level beginning on a new one."""
    return [
        leaf
        for level, items in groupby(edition.items, key=lambda item: item.level)
        for leaf in _leaves_of(edition, list(items), edition.words[f"level_{level or 'unknown'}"])
    ]


def _leaves_of(edition: Edition, items: Sequence[Item], level: str) -> Iterator[ChallengeLeaf]:
    """The pages of one level."""
    marks: tuple[tuple[int, str], ...] = ((1, level),)
    place = 0
    while place < len(items):
        grid = next((one for one in _GRIDS if _share(edition, items[place:], one)), (1, 1))
        shown = tuple(items[place : place + grid[0] * grid[1]])
        marks += tuple((2, f"{item.number} · {item.title}") for item in shown)
        yield _leaf(edition, shown, grid, marks)
        place += len(shown)
        marks = ()


def _share(edition: Edition, items: Sequence[Item], grid: tuple[int, int]) -> bool:
    """Whether as many of the next challenges as the grid has places go on one page."""
    columns, rows = grid
    width = _text_width(edition.size, grid)
    sharing = items[: columns * rows]
    if len(sharing) < columns * rows or (columns > 1 and width < _LEAST_TEXT_MM):
        return False
    room = content_of(edition.size)
    cell = (
        room[0] / columns - (_BETWEEN_MM if columns > 1 else 0),
        room[1] / rows - (_BETWEEN_MM if rows > 1 else 0),
    )
    return all(holds(cell, room_needed(edition, item, width)) for item in sharing)


def _leaf(
    edition: Edition,
    items: tuple[Item, ...],
    grid: tuple[int, int],
    marks: tuple[tuple[int, str], ...],
) -> ChallengeLeaf:
    """A page for some challenges; if one does not fit, a larger page, or a smaller drawing."""
    if len(items) > 1:
        return ChallengeLeaf(edition, items, grid, edition.size, marks=marks)
    needed = room_needed(edition, items[0])
    found = fold_out(needed, edition.paper, edition.size)
    if found:
        return ChallengeLeaf(edition, items, grid, found[0], found[1], marks=marks)
    room = content_of(edition.size)
    wide, high = size_mm(edition.puzzle, items[0].entry, edition.profile.unit_mm)
    scale = easy_scale((wide, high), (room[0], room[1] - (needed[1] - high)))
    return ChallengeLeaf(edition, items, grid, edition.size, scale=scale, marks=marks)


def _text_width(size: Size, grid: tuple[int, int]) -> float:
    """How wide the texts of a challenge may be."""
    return content_of(size)[0] / grid[0] - 2 * (MARGIN_MM - EDGE_MM)
