"""The pages with the pieces at full size, and the bar by which a print is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabkit.drawing.draft import Blueprint
from fabkit.output.board import easy_scale
from fabkit.output.booklet.leaf import (
    HEADING_MM,
    MARGIN_MM,
    SMALL_MM,
    TEXT_MM,
    Edition,
    Places,
    PlainLeaf,
    draw_frame,
    draw_size,
)
from fabkit.output.booklet.namedpieces import NamedPiece, named_pieces
from fabkit.output.booklet.paper import EDGE_MM, HEAD_MM, Size, content_of, fold_out, holds
from fabkit.output.booklet.pdf import PdfPage
from fabkit.output.canvas import scale_bar
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import shortened

#: The bar by which a print's scale is checked.
BAR_MM = 100.0
_GAP_MM = 6.0
#: Heading, text and bar take so much of the first page.
_INTRODUCTION_MM = 33.0


@dataclass(frozen=True)
class PieceLeaf(PlainLeaf):
    """A page with pieces.

    Attributes:
        edition: the booklet.
        rows: the pieces, in rows.
        size: of the page.
        folded: the name of the size, when it is larger than the other pages.
        scale: one to what they are drawn: 1, unless even the largest page is too small.
        marks: see `fabkit.output.booklet.leaf.Leaf`; the first page has some.
    """

    edition: Edition
    rows: tuple[tuple[NamedPiece, ...], ...]
    size: Size
    folded: str = ""
    scale: float = 1.0
    marks: tuple[tuple[int, str], ...] = ()

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.output.booklet.leaf.Leaf`."""
        heading = self.edition.words["pieces_heading"]
        draw_frame(page, self.edition, self.size, number, heading)
        y = self.size[1] - HEAD_MM
        if self.marks:
            self._draw_introduction(page, y)
            y -= _INTRODUCTION_MM
        draw_size(page, self.edition, self.size, self.folded, self.scale, "scaled_piece")
        with page.shrunk((MARGIN_MM, y), self.scale):
            self._draw_rows(page)

    def _draw_rows(self, page: PdfPage) -> None:
        """The pieces, from an upper left corner at the origin."""
        y = 0.0
        for row in self.rows:
            y -= max(item.room_mm[1] for item in row)
            x = 0.0
            for item in row:
                item.draw(page, (x, y), self.edition.words["decimal"])
                x += item.room_mm[0] + _GAP_MM
            y -= _GAP_MM

    def _draw_introduction(self, page: PdfPage, top: float) -> None:
        """Heading, text, and the bar."""
        words, room = self.edition.words, self.size[0] - 2 * MARGIN_MM
        page.text(MARGIN_MM, top - HEADING_MM, words["pieces_heading"], HEADING_MM, class_="title")
        balls = self.edition.puzzle.made_of_balls
        says = words["pieces_balls_text" if balls else "pieces_text"]
        page.text(MARGIN_MM, top - 12.5, shortened(says, TEXT_MM, room), TEXT_MM)
        scale_bar(page, (MARGIN_MM, top - 20.0), BAR_MM, LIGHT)
        bar = shortened(words["bar"], SMALL_MM, room)
        page.text(MARGIN_MM, top - 24.5, bar, SMALL_MM, class_="quiet")


def piece_leaves(edition: Edition, drafts: Sequence[Blueprint]) -> list[PieceLeaf]:
    """The pages with the pieces of a booklet, in rows.

    A piece that is too large for such a page has one of its own.

    Args:
        edition: the booklet.
        drafts: its flat pieces, in order.
    """
    items = named_pieces(edition, drafts)
    width, height = edition.size[0] - 2 * MARGIN_MM, content_of(edition.size)[1]
    filling = _Filling(width, height, height - _INTRODUCTION_MM)
    large = [item for item in items if not holds((width, height), item.room_mm)]
    for item in items:
        if item not in large:
            filling.add(item)
    leaves = [PieceLeaf(edition, rows, edition.size) for rows in filling.pages]
    leaves += [_large_leaf(edition, item) for item in large]
    first = replace(leaves[0], marks=((0, edition.words["pieces_heading"]),))
    return [first, *leaves[1:]]


class _Filling:
    """Pages that are filled with rows of pieces.

    Args:
        width_mm: how long a row may be.
        height_mm: how much rows may take of a page.
        first_mm: how much of the first page.
    """

    def __init__(self, width_mm: float, height_mm: float, first_mm: float) -> None:
        self._width_mm, self._height_mm, self._free_mm = width_mm, height_mm, first_mm
        self._pages: list[list[list[NamedPiece]]] = [[]]
        self._right_mm = self._row_mm = 0.0

    @property
    def pages(self) -> list[tuple[tuple[NamedPiece, ...], ...]]:
        """For each page its rows."""
        return [tuple(tuple(row) for row in page) for page in self._pages]

    def add(self, item: NamedPiece) -> None:
        """Puts a piece into the row if it fits, else into a new one, else on a new page."""
        wide, high = item.room_mm
        higher = max(0.0, high - self._row_mm)
        page = self._pages[-1]
        fits = page and self._right_mm + wide <= self._width_mm and higher <= self._free_mm
        if not fits:
            self._free_mm -= _GAP_MM if page else 0.0
            higher, self._right_mm, self._row_mm = high, 0.0, 0.0
            if high > self._free_mm:
                self._pages.append([])
                self._free_mm = self._height_mm
            self._pages[-1].append([])
        self._pages[-1][-1].append(item)
        self._right_mm += wide + _GAP_MM
        self._row_mm += higher
        self._free_mm -= higher


def _large_leaf(edition: Edition, item: NamedPiece) -> PieceLeaf:
    """A page for a piece that is too large for the others: a larger one, or drawn smaller."""
    wide, high = item.room_mm
    found = fold_out((wide + 2 * (MARGIN_MM - EDGE_MM), high), edition.paper, edition.size)
    if found:
        return PieceLeaf(edition, ((item,),), *found)
    room = edition.size[0] - 2 * MARGIN_MM, content_of(edition.size)[1]
    return PieceLeaf(edition, ((item,),), edition.size, scale=easy_scale((wide, high), room))
