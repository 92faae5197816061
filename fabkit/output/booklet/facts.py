"""What is said of a challenge above its shape: number, title, stars, pieces, solutions."""

from __future__ import annotations

from functools import cached_property

from fabkit.model.piece import Piece
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import rings_in_units
from fabkit.output.board import extent
from fabkit.output.booklet.items import Item
from fabkit.output.booklet.leaf import SMALL_MM, TEXT_MM, TITLE_MM, Edition, draw_reference
from fabkit.output.booklet.pdf import PdfPage
from fabkit.output.booklet.signs import draw_stars, stars_width_mm
from fabkit.output.canvas import Canvas
from fabkit.output.i18n import counted
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import few_lines, lines_of, shortened, text_width_mm

_NUMBER_MM, _STAR_MM = 6.5, 2.0
#: Heights of the first line of the title, of its others, and of one line of text.
_HEAD_MM, _TITLE_LINE_MM, _LINE_MM = 9.0, 5.8, 4.6
#: A title takes so many lines at most, and so much lies between what stands in its first.
_MOST_TITLE_LINES, _APART_MM = 5, 3.0
#: Pictures of pieces: the largest is so wide or high, and below each is its letter.
_PICTURE_MM, _LETTER_MM, _PICTURE_GAP_MM = 7.5, 2.6, 2.2
_STEP_MM = _PICTURE_MM + _PICTURE_GAP_MM
#: In more rows than these pieces are not shown but named, in so many lines at most.
_MOST_ROWS, _MOST_LINES = 4, 6
_ROW_MM = _PICTURE_MM + _LETTER_MM + 3.0


class Facts:
    """What is said of a challenge.

    Attributes:
        height_mm: how high it is.

    Args:
        edition: the booklet.
        item: the challenge.
        width_mm: how wide it may be.
    """

    def __init__(self, edition: Edition, item: Item, width_mm: float) -> None:
        self._edition, self._item, self._width_mm = edition, item, width_mm

    @property
    def height_mm(self) -> float:
        """How high all of it is."""
        return self._head_mm + _LINE_MM * len(self._lines) + _ROW_MM * len(self._rows)

    def draw(self, page: PdfPage, left: float, top: float, solution: int) -> None:
        """Draws it.

        Args:
            page: where to draw.
            left: where it begins.
            top: its upper edge.
            solution: the page of the solution.
        """
        self._draw_head(page, left, top - _HEAD_MM + 3.0)
        y = top - self._head_mm - _LINE_MM + 1.5
        says = self._edition.words["see_solution"].format(page=solution)
        draw_reference(page, left + self._width_mm, y, says, solution, end=True)
        for line in self._lines:
            page.text(left, y, line, TEXT_MM)
            y -= _LINE_MM
        y += _LINE_MM - 1.5 - _ROW_MM
        for row in self._rows:
            for place, piece in enumerate(row):
                self._draw_picture(page, piece, left + place * _STEP_MM, y)
            y -= _ROW_MM

    def _draw_head(self, page: Canvas, left: float, y: float) -> None:
        """Number, title and stars from a base line; and the id, by which commands know it."""
        item = self._item
        page.text(left, y, str(item.number), _NUMBER_MM, class_="title quiet")
        stars = left + self._width_mm - stars_width_mm(_STAR_MM)
        draw_stars(page, stars, y + _STAR_MM * 0.8, _STAR_MM, item.stars)
        begin, room = left + self._number_mm, self._title_room_mm
        for row, line in enumerate(self._title):
            page.text(begin, y - row * _TITLE_LINE_MM, line, TITLE_MM, class_="title")
        beside = text_width_mm(self._title[-1], TITLE_MM, bold=True) + _APART_MM
        if beside + text_width_mm(item.entry.id, SMALL_MM) <= room:
            last = y - (len(self._title) - 1) * _TITLE_LINE_MM
            page.text(begin + beside, last, item.entry.id, SMALL_MM, class_="quiet")

    def _draw_picture(self, page: Canvas, piece: Piece, left: float, y: float) -> None:
        """A small picture of a piece, and its label below."""
        lattice = self._edition.puzzle.lattice
        cells = piece.forms[0].cells
        x0, y0, wide, high = extent(lattice, cells)
        scale = self._picture_unit_mm
        dx = left + (_PICTURE_MM - wide * scale) / 2 - x0 * scale
        dy = y + _LETTER_MM + 1.3 + (_PICTURE_MM - high * scale) / 2 - y0 * scale
        rings = rings_in_units(lattice, rings_of_cells(lattice, cells))
        page.polygon(
            [[(x * scale + dx, y * scale + dy) for x, y in ring] for ring in rings],
            fill=piece.colour,
            stroke=LIGHT.edge,
            stroke_width="0.12",
            stroke_linejoin="round",
        )
        label = shortened(piece.label, _LETTER_MM, _PICTURE_MM + _PICTURE_GAP_MM, True)
        middle = left + _PICTURE_MM / 2
        page.text(middle, y + 0.3, label, _LETTER_MM, class_="title", text_anchor="middle")

    @property
    def _head_mm(self) -> float:
        """How high number, title and stars are."""
        return _HEAD_MM + _TITLE_LINE_MM * (len(self._title) - 1)

    @cached_property
    def _number_mm(self) -> float:
        """Where the title begins, beside the number."""
        return text_width_mm(str(self._item.number), _NUMBER_MM, bold=True) + _APART_MM

    @property
    def _title_room_mm(self) -> float:
        """How wide the title may be, between number and stars."""
        stars_mm = stars_width_mm(_STAR_MM) if self._item.stars else 0.0
        return self._width_mm - self._number_mm - stars_mm - _APART_MM

    @cached_property
    def _title(self) -> list[str]:
        """The title in lines; one at least."""
        room = self._title_room_mm
        return few_lines(self._item.title, TITLE_MM, room, _MOST_TITLE_LINES, True) or [""]

    @cached_property
    def _lines(self) -> list[str]:
        """What is said of pieces and solutions, in lines that fit."""
        words, entry = self._edition.words, self._item.entry
        uses_all = len(entry.pieces) == len(self._edition.puzzle.pieces)
        parts = [counted(words, "all_pieces" if uses_all else "pieces", len(entry.pieces))]
        if entry.given:
            parts.append(counted(words, "given", len(entry.given)))
        if entry.flips and not all(item.entry.flips for item in self._edition.items):
            parts.append(words["flips"])
        if entry.count is not None:
            parts.append(self._solutions(entry.count, entry.count_complete))
        beside = text_width_mm(words["see_solution"].format(page=999), SMALL_MM) + 4
        lines = lines_of(" · ".join(parts), TEXT_MM, self._width_mm - beside)
        if self._pieces and not self._rows:
            names = ", ".join(piece.id for piece in self._pieces)
            lines += few_lines(names, TEXT_MM, self._width_mm, _MOST_LINES)
        return lines

    def _solutions(self, count: int, complete: bool) -> str:
        """How many solutions there are."""
        words = self._edition.words
        if complete:
            return counted(words, "solutions", count)
        return counted(words, "solutions_at_least", count)

    @cached_property
    def _pieces(self) -> list[Piece]:
        """The pieces to lay; none are named when all of the set are."""
        puzzle, entry = self._edition.puzzle, self._item.entry
        if len(entry.pieces) == len(puzzle.pieces):
            return []
        given = {one.piece for one in entry.given}
        return [one for one in puzzle.pieces if one.id in entry.pieces and one.id not in given]

    @cached_property
    def _rows(self) -> list[list[Piece]]:
        """The pieces that are shown, in rows; none when they are too many."""
        pieces = self._pieces
        in_row = max(1, int((self._width_mm + _PICTURE_GAP_MM) / _STEP_MM))
        rows = [pieces[place : place + in_row] for place in range(0, len(pieces), in_row)]
        return rows if len(rows) <= _MOST_ROWS else []

    @cached_property
    def _picture_unit_mm(self) -> float:
        """A grid unit in the pictures of pieces, the same in all of them."""
        puzzle = self._edition.puzzle
        sides = [
            side
            for piece in puzzle.pieces
            for side in extent(puzzle.lattice, piece.forms[0].cells)[2:]
        ]
        return _PICTURE_MM / max(sides)
