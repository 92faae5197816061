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
from fabkit.model.piece import is_image
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.board import (
    board_at,
    draw_challenge,
    draw_pieces,
    draw_solution,
    easy_scale,
    size_mm,
)
from fabkit.output.canvas import in_rows, unit_bar
from fabkit.output.svg import Drawing
from fabkit.output.typeset import (
    SHEET_TEXT_MM,
    SHEET_TITLE_MM,
    draw_heading,
    lines_of,
    text_width_mm,
)

#: Margins of a page, the room between those of the widest, and what is above and below panels.
_MARGIN_MM, _WIDEST_MM, _HEAD_MM, _FOOT_MM = 10.0, 280.0, 19.0, 9.0
_TEXT_MM, _SMALL_MM, _LINE_MM, _MOST_LINES = SHEET_TEXT_MM, 2.8, 4.0, 3
_GAP_MM, _PANEL_HEIGHT_MM = 16.0, 200.0
#: A region this many times as wide as high is drawn above its solution, not beside it.
_LONG = 3.0
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
    """Draws a challenge, and its solution beside it if it has one; below it if both are long.

    Args:
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
    heading = _heading(puzzle, entry, known)
    wide_mm, high_mm = size_mm(puzzle, entry, unit_mm)
    panels = 1 if entry.solution is None else 2
    rows = panels if wide_mm > _LONG * high_mm else 1
    columns = panels // rows
    gaps_mm = (columns - 1) * _GAP_MM
    widest_mm = (_WIDEST_MM - gaps_mm) / columns
    scale = easy_scale((wide_mm, high_mm), (widest_mm, _PANEL_HEIGHT_MM))
    wide_mm, high_mm = wide_mm / scale, high_mm / scale
    column_mm = min(max(wide_mm, (_heading_width_mm(*heading) - gaps_mm) / columns), widest_mm)
    names = lines_of(", ".join(entry.pieces), _SMALL_MM, column_mm)
    names = names if len(names) <= _MOST_LINES else []
    down_mm = high_mm + 1 + _LINE_MM * (1 + len(names))
    if rows > 1:
        across_mm, below_mm = 0.0, down_mm + _GAP_MM + high_mm + 1 + _LINE_MM
    else:
        # The solution stands beside the challenge and what is said below it.
        across_mm = max([wide_mm, *(text_width_mm(one, _SMALL_MM) for one in names)]) + _GAP_MM
        below_mm = down_mm
    height_mm = 2 * _MARGIN_MM + _HEAD_MM + below_mm + _FOOT_MM
    drawing = _begun(heading, 2 * _MARGIN_MM + columns * column_mm + gaps_mm, height_mm, theme)
    for place, caption in enumerate((["challenge", *names], ["one solution"])[:panels]):
        row_mm = down_mm + _GAP_MM if rows > 1 else 0.0
        x = _MARGIN_MM + place * across_mm
        y = height_mm - _MARGIN_MM - _HEAD_MM - place * row_mm - high_mm
        board = board_at(drawing, puzzle, entry, unit_mm / scale, (x, y), drawing.theme)
        if place:
            draw_solution(board, puzzle, entry)
        else:
            draw_challenge(board, puzzle, entry, grid)
        drawing.text(x, y - 5.5, caption[0], _TEXT_MM)
        for number, line in enumerate(caption[1:], start=1):
            drawing.text(x, y - 5.5 - number * _LINE_MM, line, _SMALL_MM, class_="quiet")
    unit_bar(drawing, (_MARGIN_MM, _MARGIN_MM), unit_mm / scale, scale, drawing.theme)
    return drawing.source()


def _heading(puzzle: PuzzleSet, entry: Entry, known: str | None = None) -> tuple[str, str]:
    """The two lines above the drawing of a challenge; `known` as for `challenge_sheet`.

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
    known = many(entry.count or 0, "solution")
    return known if entry.count_complete else f"{known} or more"


def _heading_width_mm(title: str, summary: str) -> float:
    """How much room a heading takes: no more than the widest page has."""
    title_mm = text_width_mm(title, SHEET_TITLE_MM, bold=True)
    return min(max(title_mm, text_width_mm(summary, SHEET_TEXT_MM)), _WIDEST_MM)


def _begun(heading: tuple[str, str], width_mm: float, height_mm: float, theme: str) -> Drawing:
    """A page with its heading."""
    drawing = Drawing(width_mm, height_mm, *heading, theme=theme)
    room_mm = max(_WIDEST_MM, width_mm - 2 * _MARGIN_MM)
    draw_heading(drawing, (_MARGIN_MM, height_mm - _MARGIN_MM), *heading, room_mm)
    return drawing


# --- steps --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """Ids of pieces that are laid, and of those that lie there before, the given ones included."""

    new: tuple[str, ...]
    before: tuple[str, ...]


def steps_sheet(puzzle: PuzzleSet, entry: Entry, unit_mm: float, theme: str = "auto") -> str:
    """Draws how a challenge is put together.

    Args:
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
    heading, steps = _heading(puzzle, entry), assembly_steps(puzzle.lattice, entry)
    said = ["; ".join(_said(puzzle, entry, one) for one in step.new) for step in steps]
    size = size_mm(puzzle, entry, unit_mm)
    scale = easy_scale(size, _WIDE_ROOM_MM if size[0] > _WIDE * size[1] else _ROOM_MM)
    wide_mm, high_mm = size[0] / scale, size[1] / scale
    # Names often differ at their ends only: a long one makes the column wider.
    words_mm = [text_width_mm(word, _TEXT_MM) for one in said for word in one.split()]
    column_mm = max(wide_mm, _ROOM_MM[0] / 2, *words_mm)
    rows = math.ceil((len(steps) + 1) / ((_WIDEST_MM + _STEP_GAP_MM) // (column_mm + _STEP_GAP_MM)))
    columns = math.ceil((len(steps) + 1) / rows)
    captions = [lines_of(one, _TEXT_MM, column_mm) for one in said]
    captions_mm = _CAPTION_MM + _CAPTION_LINE_MM * (max(map(len, captions), default=1) - 1)
    row_mm = _NUMBER_MM + high_mm + captions_mm + _STEP_GAP_MM / 2
    across_mm = max(
        columns * (column_mm + _STEP_GAP_MM) - _STEP_GAP_MM, _heading_width_mm(*heading)
    )
    height_mm = 2 * _MARGIN_MM + _HEAD_MM + rows * row_mm + _FOOT_MM - _STEP_GAP_MM / 2
    drawing = _begun(heading, 2 * _MARGIN_MM + across_mm, height_mm, theme)
    for place, step in enumerate([*steps, None]):
        row, column = divmod(place, columns)
        x = _MARGIN_MM + column * (column_mm + _STEP_GAP_MM)
        y = height_mm - _MARGIN_MM - _HEAD_MM - row * row_mm - _NUMBER_MM - high_mm
        board = board_at(drawing, puzzle, entry, unit_mm / scale, (x, y), drawing.theme)
        if step is None:
            draw_solution(board, puzzle, entry)
        else:
            board.region(entry.region)
            draw_pieces(board, puzzle, _some(entry, step.before), pale=True)
            draw_pieces(board, puzzle, _some(entry, step.new))
            board.rim(entry.region)
        number = "done" if step is None else str(place + 1)
        drawing.text(x, y + high_mm + 2.2, number, _NUMBER_SIZE_MM, class_="title")
        for row, line in enumerate(captions[place] if step else [""]):
            base = y - _CAPTION_MM + 1 - row * _CAPTION_LINE_MM
            drawing.text(x, base, line, _TEXT_MM, class_="quiet")
    unit_bar(drawing, (_MARGIN_MM, _MARGIN_MM), unit_mm / scale, scale, drawing.theme)
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


def _said(puzzle: PuzzleSet, entry: Entry, one: str) -> str:
    """A piece that is laid, and whether it shows its back; not of those that lie on two lattices."""
    piece, cells = puzzle.piece(one), (entry.solution or {})[one]
    flat = entry.flips and piece.body is None and entry.halves == 1
    over = flat and not is_image(puzzle.lattice, piece, cells, flips=False)
    return f"{one}, turned over" if over else one


# --- a catalog ----------------------------------------------------------------------------------


def snowflake_sheet(
    puzzle: PuzzleSet, entries: Sequence[Mapping[str, Any]], theme: str = "auto"
) -> str:
    """Draws all snowflakes of a catalog, each with one of its solutions, in its order.

    Args:
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
    sizes = [size_mm(puzzle, entry, _CATALOG_UNIT_MM) for entry in read]
    sides = [max(*size, _LEAST_FLAKE_MM) for size in sizes]
    room_mm = _CATALOG_WIDTH_MM - 2 * _MARGIN_MM
    rows = in_rows(zip(read, sizes, sides, strict=True), sides, room_mm, _CATALOG_GAP_MM)
    heights = [max(side_mm for *_, side_mm in row) + _FLAKE_CAPTION_MM for row in rows]
    rows_mm = sum(height_mm + _CATALOG_GAP_MM for height_mm in heights)
    height_mm = _HEAD_MM + 2 * _MARGIN_MM + rows_mm
    heading = f"{puzzle.title} · {many(len(entries), 'snowflake')}", _parities(entries)
    drawing = _begun(heading, _CATALOG_WIDTH_MM, height_mm, theme)
    y = height_mm - _MARGIN_MM - _HEAD_MM
    for row, row_mm in zip(rows, heights, strict=True):
        x, base = _MARGIN_MM, y - row_mm + _FLAKE_CAPTION_MM
        for entry, (wide, high), side_mm in row:
            middle = x + side_mm / 2, base + side_mm / 2
            corner = middle[0] - wide / 2, middle[1] - high / 2
            board = board_at(
                drawing, puzzle, entry, _CATALOG_UNIT_MM, corner, drawing.theme, written=True
            )
            draw_pieces(board, puzzle, entry.solution or {})
            known = _known_solutions(entry) + (", flips" if entry.flips else "")
            style = {"text_anchor": "middle"}
            drawing.text(middle[0], base - 3, entry.title, _FLAKE_TEXT_MM, **style)
            drawing.text(middle[0], base - 6, known, _FLAKE_TEXT_MM, class_="quiet", **style)
            x += side_mm + _CATALOG_GAP_MM
        y -= row_mm + _CATALOG_GAP_MM
    return drawing.source()


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
