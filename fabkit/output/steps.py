"""The steps of an assembly: piece after piece, each where it touches what lies already."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import Piece, is_image
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.board import board_at, draw_pieces, draw_solution, easy_scale, size_mm
from fabkit.output.booklet.typeset import lines_of
from fabkit.output.canvas import unit_bar
from fabkit.output.challenge import (
    FOOT_MM,
    HEAD_MM,
    MARGIN_MM,
    PAGE_WIDTH_MM,
    TEXT_MM,
    draw_heading,
    heading,
    heading_width_mm,
)
from fabkit.output.pdf import text_width_mm
from fabkit.output.svg import Drawing

#: Width and height of the room for one step, and of that for a region that is much wider than high.
_ROOM_MM, _WIDE_ROOM_MM = (61.0, 61.0), (85.0, 61.0)
_WIDE = 1.8
_GAP_MM = 12.0
#: Above each step its number, below it what is done.
_NUMBER_MM, _CAPTION_MM, _LINE_MM = 7.0, 6.0, 4.8
_NUMBER_SIZE_MM = 4.6
#: With more pieces than this, several are laid in one step.
_MOST_STEPS = 23
_DONE = "done"


@dataclass(frozen=True)
class Step:
    """Pieces that are laid, and those that lie there before.

    Attributes:
        new: ids of the pieces that are laid.
        before: ids of those that lie there, the given ones included.
    """

    new: tuple[str, ...]
    before: tuple[str, ...]


def steps_sheet(puzzle: PuzzleSet, entry: Entry, unit_mm: float, theme: str = "auto") -> str:
    """Draws how a challenge is put together.

    Args:
        puzzle: the set.
        entry: a challenge with its solution.
        unit_mm: length of a grid unit of the pieces. Steps are drawn to an easy scale, which the
            sheet names.
        theme: see `fabkit.output.svg.Drawing`.

    Returns:
        An SVG document in mm: a panel for each step with what is new in its colours, and one for
        the whole.

    Example:
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> q = fridgeiq.piece("Q").forms[0].cells
        >>> one = Entry("one", "One", "challenge", q, ("Q",), solution={"Q": q})
        >>> steps_sheet(fridgeiq, one, 20)[:4]
        '<svg'
    """
    steps = assembly_steps(puzzle.lattice, entry)
    lines = heading(puzzle, entry)
    said = [_said(puzzle, entry, step) for step in steps]
    page = _Page(size_mm(puzzle, entry, unit_mm), said, heading_width_mm(*lines))
    scaled_mm = unit_mm / page.scale
    drawing = Drawing(page.width_mm, page.height_mm, *lines, theme=theme)
    draw_heading(drawing, page.height_mm, *lines)
    for index, step in enumerate(steps):
        at_mm = page.panel(index)
        board = board_at(drawing, puzzle, entry, scaled_mm, at_mm, drawing.theme)
        board.region(entry.region)
        draw_pieces(board, puzzle, _some(entry, step.before), pale=True)
        draw_pieces(board, puzzle, _some(entry, step.new))
        board.rim(entry.region)
        page.words(drawing, index, str(index + 1))
    board = board_at(drawing, puzzle, entry, scaled_mm, page.panel(len(steps)), drawing.theme)
    draw_solution(board, puzzle, entry)
    page.words(drawing, len(steps), _DONE)
    unit_bar(drawing, (MARGIN_MM, MARGIN_MM), scaled_mm, page.scale, drawing.theme)
    return drawing.source()


def assembly_steps(lattice: Lattice, entry: Entry) -> tuple[Step, ...]:
    """In which order a solution is put together.

    It begins at the upper left. Each next piece touches one that lies there along an edge, if any
    does, else the border of the region; of those it is the one that touches most of both.

    Args:
        lattice: the set's.
        entry: with a solution.

    Returns:
        The steps, each with one piece; with a few where there are very many pieces.
    """
    solution = entry.solution or {}
    edges = {one: _edges(lattice, cells) for one, cells in solution.items()}
    border = _edges(lattice, entry.region)
    laid = [given.piece for given in entry.given if given.piece in solution]
    waiting = {one for one in solution if one not in laid}
    held = set[tuple[Point, Point]]().union(*(_turned(edges[one]) for one in laid))
    order = list[str]()

    def urgency(one: str) -> tuple[object, ...]:
        touched, at_border = len(edges[one] & held), len(edges[one] & border)
        most = (not touched, -touched - at_border) if held else (not at_border,)
        return *most, _reading(solution[one]), one

    while waiting:
        order.append(min(waiting, key=urgency))
        waiting.remove(order[-1])
        held |= _turned(edges[order[-1]])
    size = max(1, math.ceil(len(order) / _MOST_STEPS))
    return tuple(
        Step(tuple(order[start : start + size]), (*laid, *order[:start]))
        for start in range(0, len(order), size)
    )


def _edges(lattice: Lattice, cells: frozenset[Cell]) -> set[tuple[Point, Point]]:
    """The directed edges around some cells, which lie on their left."""
    inside = {edge for cell in cells for edge in lattice.cell_edges(cell)}
    return {(start, end) for start, end in inside if (end, start) not in inside}


def _turned(edges: set[tuple[Point, Point]]) -> set[tuple[Point, Point]]:
    """The same edges as a neighbour has them."""
    return {(end, start) for start, end in edges}


def _reading(cells: frozenset[Cell]) -> tuple[int, int]:
    """By which pieces are read from the top left: the uppermost cell, then the leftmost."""
    return min((-y, x) for x, y in cells)


def _some(entry: Entry, ids: Sequence[str]) -> Mapping[str, frozenset[Cell]]:
    return {one: cells for one, cells in (entry.solution or {}).items() if one in ids}


def _said(puzzle: PuzzleSet, entry: Entry, step: Step) -> str:
    """What is done in a step, in words."""
    cells = entry.solution or {}
    names = [
        one
        + (", turned over" if _is_turned_over(puzzle, entry, puzzle.piece(one), cells[one]) else "")
        for one in step.new
    ]
    return "; ".join(names)


def _is_turned_over(puzzle: PuzzleSet, entry: Entry, piece: Piece, cells: frozenset[Cell]) -> bool:
    """Whether a piece shows its back; not told of pieces that lie on two lattices."""
    flat = entry.flips and piece.body is None and entry.halves == 1
    return flat and not is_image(puzzle.lattice, piece, cells, flips=False)


class _Page:
    """Where everything goes: panels in rows, all as large; one for each caption and one more."""

    def __init__(self, size: tuple[float, float], said: Sequence[str], title_mm: float) -> None:
        room = _WIDE_ROOM_MM if size[0] > _WIDE * size[1] else _ROOM_MM
        self.scale = easy_scale(size, room)
        self._wide_mm, self._high_mm = (one / self.scale for one in size)
        # Names often differ at their ends only: a long one makes the column wider.
        words_mm = [text_width_mm(word, TEXT_MM) for one in said for word in one.split()]
        self._column_mm = max(self._wide_mm, _ROOM_MM[0] / 2, *words_mm)
        most = int((PAGE_WIDTH_MM - 2 * MARGIN_MM + _GAP_MM) // (self._column_mm + _GAP_MM))
        captions = [*said, ""]  # there is nothing to do for the last
        panels = len(captions)
        rows = math.ceil(panels / most)
        self._columns = math.ceil(panels / rows)
        self._captions = [lines_of(one, TEXT_MM, self._column_mm) or [""] for one in captions]
        more_mm = _LINE_MM * (max(map(len, self._captions)) - 1)
        self._row_mm = _NUMBER_MM + self._high_mm + _CAPTION_MM + more_mm + _GAP_MM / 2
        across_mm = self._columns * (self._column_mm + _GAP_MM) - _GAP_MM
        self.width_mm = 2 * MARGIN_MM + max(across_mm, title_mm)
        self.height_mm = 2 * MARGIN_MM + HEAD_MM + rows * self._row_mm + FOOT_MM - _GAP_MM / 2

    def panel(self, index: int) -> tuple[float, float]:
        """Where the lower left corner of a step's region is."""
        row, column = divmod(index, self._columns)
        top = self.height_mm - MARGIN_MM - HEAD_MM - row * self._row_mm
        x = MARGIN_MM + column * (self._column_mm + _GAP_MM)
        return x, top - _NUMBER_MM - self._high_mm

    def words(self, drawing: Drawing, index: int, number: str) -> None:
        """What stands above and below a step."""
        x, y = self.panel(index)
        drawing.text(x, y + self._high_mm + 2.2, number, _NUMBER_SIZE_MM, class_="title")
        for place, line in enumerate(self._captions[index]):
            y_mm = y - _CAPTION_MM + 1 - place * _LINE_MM
            drawing.text(x, y_mm, line, TEXT_MM, class_="quiet")
