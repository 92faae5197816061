"""Sheets of challenges: one with its solution, the steps of its assembly, or a catalog's snowflakes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabkit.core.errors import cut, many
from fabkit.model.catalog import read_snowflakes
from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import Piece, is_image
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.board import (
    board_at,
    draw_challenge,
    draw_pieces,
    draw_solution,
    easy_scale,
    size_mm,
)
from fabkit.output.canvas import unit_bar
from fabkit.output.pdf import text_width_mm
from fabkit.output.svg import Drawing
from fabkit.output.typeset import lines_of, shortened

#: The widest page, margins around it, gaps between panels, and the room that titles take.
_PAGE_WIDTH_MM, _MARGIN_MM, _GAP_MM, _HEAD_MM, _FOOT_MM = 300.0, 10.0, 16.0, 19.0, 9.0
#: Sizes of text.
_TITLE_MM, _TEXT_MM, _SMALL_MM = 7.0, 3.6, 2.8
#: Between the margins of the widest page.
_WIDEST_MM = _PAGE_WIDTH_MM - 2 * _MARGIN_MM
_PANEL_HEIGHT_MM = 200.0
#: A region this many times as wide as high is drawn above its solution, not beside it.
_LONG = 3.0
_LINE_MM, _MOST_LINES = 4.0, 3
#: So much is said of a set's title before the challenge's.
_LONGEST_SET = 30

#: Width and height of the room for one step, and of that for a region that is much wider than high.
_ROOM_MM, _WIDE_ROOM_MM = (61.0, 61.0), (85.0, 61.0)
_WIDE = 1.8
_STEP_GAP_MM = 12.0
#: Above each step its number, below it what is done.
_NUMBER_MM, _CAPTION_MM, _CAPTION_LINE_MM = 7.0, 6.0, 4.8
_NUMBER_SIZE_MM = 4.6
#: With more pieces than this, several are laid in one step.
_MOST_STEPS = 23

#: Of the sheet of snowflakes: its width, a grid unit, gaps, captions and their letters.
_CATALOG_WIDTH_MM, _CATALOG_UNIT_MM, _CATALOG_GAP_MM = 420.0, 4.0, 5.0
_FLAKE_CAPTION_MM, _FLAKE_TEXT_MM = 7.0, 2.4
#: Captions need some room below small shapes.
_LEAST_FLAKE_MM = 24.0


def challenge_sheet(
    puzzle: PuzzleSet,
    entry: Entry,
    unit_mm: float,
    known: str | None = None,
    theme: str = "auto",
    grid: bool = False,
) -> str:
    """Draws a challenge, and its solution beside it if it has one.

    Args:
        puzzle: the set.
        entry: what is to be covered, with the pieces already placed.
        unit_mm: length of a grid unit of the pieces. The drawing is made to an easy scale where the
            page is too small for that, and says so.
        known: what is known of the number of solutions, in words; None for what the entry says.
        theme: see `fabkit.output.svg.Drawing`.
        grid: whether the cells of the region are shown, where it is not a board.

    Returns:
        An SVG document in mm.

    Example:
        >>> from fabkit.model.library import load_set
        >>> stars = load_set("iqstars")
        >>> ids = tuple(piece.id for piece in stars.pieces)
        >>> board = Entry("board", "Board", "board", stars.boards[0].cells, ids, count=381)
        >>> challenge_sheet(stars, board, 15)[:4]
        '<svg'
    """
    lines = _heading(puzzle, entry, known)
    page = _Page(puzzle, entry, unit_mm, lines)
    drawing = Drawing(page.width_mm, page.height_mm, *lines, theme=theme)
    _draw_heading(drawing, page.height_mm, *lines)
    at_mm, caption_mm = page.panel(0)
    board = board_at(drawing, puzzle, entry, page.unit_mm, at_mm, drawing.theme)
    draw_challenge(board, puzzle, entry, grid)
    _draw_caption(drawing, caption_mm, ["challenge", *page.names])
    if entry.solution is not None:
        at_mm, caption_mm = page.panel(1)
        board = board_at(drawing, puzzle, entry, page.unit_mm, at_mm, drawing.theme)
        draw_solution(board, puzzle, entry)
        _draw_caption(drawing, caption_mm, ["one solution"])
    unit_bar(drawing, (_MARGIN_MM, _MARGIN_MM), page.unit_mm, page.scale, drawing.theme)
    return drawing.source()


def _heading(puzzle: PuzzleSet, entry: Entry, known: str | None = None) -> tuple[str, str]:
    """The two lines above the drawing of a challenge.

    `known` is what is known of the number of solutions; None for what the entry says.

    Example:
        >>> from fabkit.model.library import load_set
        >>> entry = Entry("s1", "Cross", "challenge", frozenset(), ("A", "R"), flips=True, count=2)
        >>> _heading(load_set("fridgeiq"), entry)
        ('FridgeIQ · Cross', '2 pieces · flips allowed · 2 solutions or more')
    """
    if known is None and entry.count:
        known = _known_solutions(entry)
    parts = [
        many(len(entry.pieces), "piece"),
        f"{len(entry.given)} given" if entry.given else "",
        "flips allowed" if entry.flips else "",
        known,
        entry.level,
    ]
    of_set = puzzle.title
    if len(of_set) > _LONGEST_SET:
        of_set = of_set[: _LONGEST_SET - 1] + "…"
    return cut(f"{of_set} · {entry.title}"), " · ".join(part for part in parts if part)


def _known_solutions(entry: Entry) -> str:
    """How many solutions of a challenge are known.

    Example:
        >>> _known_solutions(Entry("s1", "Cross", "challenge", frozenset(), ("A",), count=1200))
        '1,200 solutions or more'
    """
    known = many(entry.count or 0, "solution")
    return known if entry.count_complete else f"{known} or more"


def _draw_heading(
    drawing: Drawing, height_mm: float, title: str, summary: str, room_mm: float = _WIDEST_MM
) -> None:
    """Title and summary at the top of a page; they take `_HEAD_MM`."""
    y = height_mm - _MARGIN_MM - 6
    fitting = shortened(title, _TITLE_MM, room_mm, bold=True)
    drawing.text(_MARGIN_MM, y, fitting, _TITLE_MM, class_="title")
    drawing.text(_MARGIN_MM, y - 6, summary, _TEXT_MM, class_="quiet")


def _heading_width_mm(title: str, summary: str) -> float:
    """How much room `_draw_heading` takes: no more than the widest page has.

    Example:
        >>> _heading_width_mm("Wall", "") < _heading_width_mm("WALL", "")
        True
    """
    wide_mm = max(text_width_mm(title, _TITLE_MM, bold=True), text_width_mm(summary, _TEXT_MM))
    return min(wide_mm, _WIDEST_MM)


class _Page:
    """Where everything goes: panels side by side, or one above the other for long regions."""

    def __init__(
        self, puzzle: PuzzleSet, entry: Entry, unit_mm: float, lines: tuple[str, str]
    ) -> None:
        wide_mm, high_mm = size_mm(puzzle, entry, unit_mm)
        panels = 1 if entry.solution is None else 2
        rows = panels if wide_mm > _LONG * high_mm else 1
        columns = panels // rows
        gaps_mm = (columns - 1) * _GAP_MM
        widest_mm = (_WIDEST_MM - gaps_mm) / columns
        self.scale = easy_scale((wide_mm, high_mm), (widest_mm, _PANEL_HEIGHT_MM))
        self.unit_mm = unit_mm / self.scale
        panel_mm = wide_mm / self.scale
        self._high_mm = high_mm / self.scale
        column_mm = min(max(panel_mm, (_heading_width_mm(*lines) - gaps_mm) / columns), widest_mm)
        self.names = _names(entry, column_mm)
        captions_mm = 1 + _LINE_MM * (1 + len(self.names))
        # The first panel begins where the title does; a second one stands beside it and what is
        # said below it, or below.
        said_mm = max((text_width_mm(name, _SMALL_MM) for name in self.names), default=0.0)
        beside_mm = max(panel_mm, said_mm) + _GAP_MM
        across_mm = columns * column_mm + gaps_mm
        down_mm = self._high_mm + captions_mm + _GAP_MM
        self._step_mm = (beside_mm, 0.0) if rows == 1 else (0.0, down_mm)
        below_mm = (
            down_mm + self._high_mm + 1 + _LINE_MM if rows > 1 else self._high_mm + captions_mm
        )
        self.width_mm = 2 * _MARGIN_MM + across_mm
        self.height_mm = 2 * _MARGIN_MM + _HEAD_MM + below_mm + _FOOT_MM

    def panel(self, index: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where the lower left corner of a panel is, and where its caption begins."""
        x = _MARGIN_MM + index * self._step_mm[0]
        top = self.height_mm - _MARGIN_MM - _HEAD_MM - index * self._step_mm[1]
        y = top - self._high_mm
        return (x, y), (x, y - 5.5)


def _draw_caption(drawing: Drawing, at_mm: tuple[float, float], lines: Sequence[str]) -> None:
    x, y = at_mm
    drawing.text(x, y, lines[0], _TEXT_MM)
    for number, line in enumerate(lines[1:], start=1):
        drawing.text(x, y - number * _LINE_MM, line, _SMALL_MM, class_="quiet")


def _names(entry: Entry, width_mm: float) -> list[str]:
    """The pieces by name, in a few lines; none when they would take more."""
    lines = lines_of(", ".join(entry.pieces), _SMALL_MM, width_mm)
    return lines if len(lines) <= _MOST_LINES else []


# --- steps --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """Ids of pieces that are laid, and of those that lie there before, the given ones included."""

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
    lines = _heading(puzzle, entry)
    said = [_said(puzzle, entry, step) for step in steps]
    page = _StepPage(size_mm(puzzle, entry, unit_mm), said, _heading_width_mm(*lines))
    scaled_mm = unit_mm / page.scale
    drawing = Drawing(page.width_mm, page.height_mm, *lines, theme=theme)
    _draw_heading(drawing, page.height_mm, *lines)
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
    page.words(drawing, len(steps), "done")
    unit_bar(drawing, (_MARGIN_MM, _MARGIN_MM), scaled_mm, page.scale, drawing.theme)
    return drawing.source()


def assembly_steps(lattice: Lattice, entry: Entry) -> tuple[Step, ...]:
    """In which order a solution is put together.

    It begins at the upper left. Each next piece touches one that lies there along an edge, if any
    does, else the border of the region; of those it is the one that touches most of both.

    Each step has one piece; a few where there are very many pieces.
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
    over = {one: _is_turned_over(puzzle, entry, puzzle.piece(one)) for one in step.new}
    return "; ".join(one + (", turned over" if over[one] else "") for one in step.new)


def _is_turned_over(puzzle: PuzzleSet, entry: Entry, piece: Piece) -> bool:
    """Whether a piece shows its back; not told of pieces that lie on two lattices."""
    flat = entry.flips and piece.body is None and entry.halves == 1
    cells = (entry.solution or {})[piece.id]
    return flat and not is_image(puzzle.lattice, piece, cells, flips=False)


class _StepPage:
    """Where everything goes: panels in rows, all as large; one for each caption and one more."""

    def __init__(self, size: tuple[float, float], said: Sequence[str], title_mm: float) -> None:
        room = _WIDE_ROOM_MM if size[0] > _WIDE * size[1] else _ROOM_MM
        self.scale = easy_scale(size, room)
        self._wide_mm, self._high_mm = (one / self.scale for one in size)
        # Names often differ at their ends only: a long one makes the column wider.
        words_mm = [text_width_mm(word, _TEXT_MM) for one in said for word in one.split()]
        self._column_mm = max(self._wide_mm, _ROOM_MM[0] / 2, *words_mm)
        most = int(
            (_PAGE_WIDTH_MM - 2 * _MARGIN_MM + _STEP_GAP_MM) // (self._column_mm + _STEP_GAP_MM)
        )
        captions = [*said, ""]  # there is nothing to do for the last
        panels = len(captions)
        rows = math.ceil(panels / most)
        self._columns = math.ceil(panels / rows)
        self._captions = [lines_of(one, _TEXT_MM, self._column_mm) or [""] for one in captions]
        more_mm = _CAPTION_LINE_MM * (max(map(len, self._captions)) - 1)
        self._row_mm = _NUMBER_MM + self._high_mm + _CAPTION_MM + more_mm + _STEP_GAP_MM / 2
        across_mm = self._columns * (self._column_mm + _STEP_GAP_MM) - _STEP_GAP_MM
        self.width_mm = 2 * _MARGIN_MM + max(across_mm, title_mm)
        self.height_mm = (
            2 * _MARGIN_MM + _HEAD_MM + rows * self._row_mm + _FOOT_MM - _STEP_GAP_MM / 2
        )

    def panel(self, index: int) -> tuple[float, float]:
        """Where the lower left corner of a step's region is."""
        row, column = divmod(index, self._columns)
        top = self.height_mm - _MARGIN_MM - _HEAD_MM - row * self._row_mm
        x = _MARGIN_MM + column * (self._column_mm + _STEP_GAP_MM)
        return x, top - _NUMBER_MM - self._high_mm

    def words(self, drawing: Drawing, index: int, number: str) -> None:
        """What stands above and below a step."""
        x, y = self.panel(index)
        drawing.text(x, y + self._high_mm + 2.2, number, _NUMBER_SIZE_MM, class_="title")
        for place, line in enumerate(self._captions[index]):
            y_mm = y - _CAPTION_MM + 1 - place * _CAPTION_LINE_MM
            drawing.text(x, y_mm, line, _TEXT_MM, class_="quiet")


# --- a catalog ----------------------------------------------------------------------------------


def snowflake_sheet(
    puzzle: PuzzleSet, entries: Sequence[Mapping[str, Any]], theme: str = "auto"
) -> str:
    """Draws all snowflakes of a catalog, each with one of its solutions, in its order.

    Args:
        puzzle: the set, for names and colours.
        entries: the challenges of a catalog file.
        theme: see `fabkit.output.svg.Drawing`.

    Returns:
        An SVG document in mm, the shapes at one scale.

    Raises:
        InputError: when they are no challenges of this set.

    Example:
        >>> from fabkit.model.catalog import catalog_entries
        >>> from fabkit.model.library import load_set
        >>> fridgeiq = load_set("fridgeiq")
        >>> snowflake_sheet(fridgeiq, catalog_entries(fridgeiq)[:2])[:4]
        '<svg'
    """
    read = read_snowflakes({"challenges": list(entries)}, puzzle, "the catalog")
    room_mm = _CATALOG_WIDTH_MM - 2 * _MARGIN_MM
    rows: list[list[tuple[Entry, float]]] = []
    used_mm = room_mm
    for entry in read:
        side_mm = max(*size_mm(puzzle, entry, _CATALOG_UNIT_MM), _LEAST_FLAKE_MM)
        if not rows or used_mm + side_mm > room_mm:
            rows.append([])
            used_mm = 0.0
        rows[-1].append((entry, side_mm))
        used_mm += side_mm + _CATALOG_GAP_MM
    heights = [max(side_mm for _, side_mm in row) + _FLAKE_CAPTION_MM for row in rows]
    rows_mm = sum(height_mm + _CATALOG_GAP_MM for height_mm in heights)
    height_mm = _HEAD_MM + 2 * _MARGIN_MM + rows_mm
    title, summary = f"{puzzle.title} · {many(len(entries), 'snowflake')}", _parities(entries)
    drawing = Drawing(_CATALOG_WIDTH_MM, height_mm, title, summary, theme)
    _draw_heading(drawing, height_mm, title, summary, room_mm)
    y = height_mm - _MARGIN_MM - _HEAD_MM
    for row, row_mm in zip(rows, heights, strict=True):
        x = _MARGIN_MM
        for entry, side_mm in row:
            _draw_flake(drawing, puzzle, entry, side_mm, (x, y - row_mm + _FLAKE_CAPTION_MM))
            x += side_mm + _CATALOG_GAP_MM
        y -= row_mm + _CATALOG_GAP_MM
    return drawing.source()


def _draw_flake(
    drawing: Drawing, puzzle: PuzzleSet, entry: Entry, side_mm: float, at_mm: tuple[float, float]
) -> None:
    """A shape in the middle of a square, whose lower left corner is at a point; its caption below."""
    (x, y), (wide, high) = at_mm, size_mm(puzzle, entry, _CATALOG_UNIT_MM)
    middle = x + side_mm / 2, y + side_mm / 2
    corner = middle[0] - wide / 2, middle[1] - high / 2
    board = board_at(drawing, puzzle, entry, _CATALOG_UNIT_MM, corner, drawing.theme, written=True)
    draw_pieces(board, puzzle, entry.solution or {})
    known = _known_solutions(entry) + (", flips" if entry.flips else "")
    style = {"text_anchor": "middle"}
    drawing.text(middle[0], y - 3, entry.title, _FLAKE_TEXT_MM, **style)
    drawing.text(middle[0], y - 6, known, _FLAKE_TEXT_MM, class_="quiet", **style)


def _parities(entries: Sequence[Mapping[str, Any]]) -> str:
    """How many there are of each parity, and for how many pieces are turned over."""
    parities = Counter(str(entry["parity"]) for entry in entries)
    flipped = sum(bool(entry["flips"]) for entry in entries)
    moves = "pieces are only turned"
    if flipped:
        moves = "pieces may be turned over"
        if flipped < len(entries):
            moves = f"{len(entries) - flipped} by turning pieces, {flipped} by turning them over"
    return " · ".join([*(f"{count} {parity}" for parity, count in parities.items()), moves])
