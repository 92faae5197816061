"""Sheets of challenges: with a solution, in assembly steps, or all snowflakes of a catalog."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.core.errors import pluralize, truncate
from fabkit.model.lattice import Cell, Lattice, Point
from fabkit.model.piece import is_image
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.board import board_for, preferred_scale, size_mm
from fabkit.output.canvas import break_into_rows, draw_unit_bar
from fabkit.output.svg import Drawing
from fabkit.output.typeset import (
    SHEET_TEXT_MM,
    SHEET_TITLE_MM,
    draw_sheet_heading,
    text_width_mm,
    wrap_text,
)

_MARGIN_MM = 10.0  # the margin of a page
_MAX_WIDTH_MM = 280.0  # the maximum width of a page's content
_HEAD_MM = 19.0  # height above the panels, for the heading
_FOOT_MM = 9.0  # height below the panels, for the scale
_TEXT_MM = SHEET_TEXT_MM  # text height of a panel's caption
_SMALL_MM = 2.8  # text height of the names of pieces below it
_LINE_MM = 4.0  # line height of these names
_GAP_MM = 16.0  # the gap between challenge and solution
_PANEL_HEIGHT_MM = 200.0  # the maximum height of challenge or solution
_ROOM_MM = (61.0, 61.0)  # maximum width and height of a step
_WIDE_ROOM_MM = (85.0, 61.0)  # the same for regions much wider than high
_STEP_GAP_MM = 12.0  # the gap between steps
_NUMBER_MM = 7.0  # height above a step, for its number
_NUMBER_SIZE_MM = 4.6  # text height of the number
_CAPTION_MM = 6.0  # height below a step, for a caption of one line
_CAPTION_LINE_MM = 4.8  # line height of the caption
_MAX_STEPS = 23  # with more pieces than this, a step has several
_CATALOG_WIDTH_MM = 420.0  # width of the sheet of snowflakes
_CATALOG_UNIT_MM = 4.0  # grid unit of the snowflakes
_CATALOG_GAP_MM = 5.0  # the gap between snowflakes
_MIN_FLAKE_MM = 24.0  # minimum width for a snowflake: captions need it
_FLAKE_CAPTION_MM = 7.0  # height below a snowflake, for its captions
_FLAKE_TEXT_MM = 2.4  # text height of the captions


def challenge_sheet(
    puzzle: PuzzleSet,
    entry: Entry,
    unit_mm: float,
    known: str | None = None,
    theme: str = "auto",
    grid: bool = False,
) -> str:
    """Draw a challenge with its solution, if any, beside it, or below if both are wide. Too large
    ones are drawn to a preferred scale, which is stated. `known` replaces the entry's text on the
    number of solutions; `grid` shows the region's cells."""
    heading = _heading(puzzle, entry, known)
    wide_mm, high_mm = size_mm(puzzle, entry, unit_mm)
    panels = 2 if entry.solution else 1
    rows = panels if wide_mm > 3 * high_mm else 1
    columns = panels // rows
    gaps_mm = (columns - 1) * _GAP_MM
    max_column_mm = (_MAX_WIDTH_MM - gaps_mm) / columns
    scale = preferred_scale((wide_mm, high_mm), (max_column_mm, _PANEL_HEIGHT_MM))
    wide_mm, high_mm = wide_mm / scale, high_mm / scale
    heading_mm = _heading_width_mm(*heading)
    column_mm = min(max(wide_mm, (heading_mm - gaps_mm) / columns), max_column_mm)
    names = wrap_text(", ".join(entry.challenge.pieces), _SMALL_MM, column_mm)
    names = [] if len(names) > 3 else names
    down_mm = high_mm + 1 + _LINE_MM * (1 + len(names))
    # The solution goes beside the challenge and its texts, or below both.
    across_mm = max([wide_mm, *(text_width_mm(name, _SMALL_MM) for name in names)]) + _GAP_MM
    below_mm = 0.0
    if rows > 1:
        across_mm, below_mm, down_mm = 0.0, down_mm + _GAP_MM, high_mm + 1 + _LINE_MM
    height_mm = 2 * _MARGIN_MM + _HEAD_MM + below_mm + down_mm + _FOOT_MM
    drawing = _begin_page(heading, 2 * _MARGIN_MM + columns * column_mm + gaps_mm, height_mm, theme)
    for index, caption in enumerate((["challenge", *names], ["one solution"])[:panels]):
        x = _MARGIN_MM + index * across_mm
        y = height_mm - _MARGIN_MM - _HEAD_MM - index * below_mm - high_mm
        board = board_for(drawing, puzzle, entry, unit_mm / scale, (x, y), drawing.theme)
        if index:
            board.draw_solution(entry)
        else:
            board.draw_challenge(entry, grid)
        drawing.text(x, y - 5.5, caption[0], _TEXT_MM)
        for number, line in enumerate(caption[1:], start=1):
            drawing.text(x, y - 5.5 - number * _LINE_MM, line, _SMALL_MM, class_="quiet")
    draw_unit_bar(drawing, (_MARGIN_MM, _MARGIN_MM), unit_mm / scale, scale, drawing.theme)
    return drawing.source()


def _heading(puzzle: PuzzleSet, entry: Entry, known: str | None = None) -> tuple[str, str]:
    """Return the two lines of a sheet's heading; `known` as for `challenge_sheet`."""
    if known is None and entry.result.count:
        known = _known_solutions(entry)
    challenge = entry.challenge
    given = f"{len(challenge.given)} given" if challenge.given else ""
    clue_count = len(puzzle.clues_besides_board(challenge.clues))
    clues = pluralize(clue_count, "clue") if clue_count else ""
    open_count = challenge.open_count
    open_cells = f"{pluralize(open_count, 'cell')} left open" if open_count else ""
    flips = "flips allowed" if challenge.flips else ""
    pieces = pluralize(challenge.pieces_used, "piece")
    facts = pieces, given, clues, open_cells, flips, known, entry.level
    title = truncate(f"{truncate(puzzle.title, 30)} · {challenge.name}")
    return title, " · ".join(filter(None, facts))


def _known_solutions(entry: Entry) -> str:
    count = pluralize(entry.result.count or 0, "solution")
    return count if entry.result.count_complete else f"at least {count}"


def _heading_width_mm(title: str, summary: str) -> float:
    """Return the width of a heading, limited to that of the widest page."""
    title_mm = text_width_mm(title, SHEET_TITLE_MM, bold=True)
    return min(max(title_mm, text_width_mm(summary, SHEET_TEXT_MM)), _MAX_WIDTH_MM)


def _begin_page(heading: tuple[str, str], width_mm: float, height_mm: float, theme: str) -> Drawing:
    drawing = Drawing(width_mm, height_mm, *heading, theme=theme)
    corner_mm = (_MARGIN_MM, height_mm - _MARGIN_MM)
    draw_sheet_heading(drawing, corner_mm, *heading, max(_MAX_WIDTH_MM, width_mm - 2 * _MARGIN_MM))
    return drawing


@dataclass(frozen=True)
class Step:
    """Ids of the pieces placed in this step, and of those placed before, given ones included."""

    new: tuple[str, ...]
    before: tuple[str, ...]


def steps_sheet(puzzle: PuzzleSet, entry: Entry, unit_mm: float, theme: str = "auto") -> str:
    """Draw the assembly of a solution as an SVG document in mm: a panel for each step, with earlier
    pieces pale, and one for the result. See `challenge_sheet`."""
    heading = _heading(puzzle, entry)
    solution = entry.solution
    steps = assembly_steps(puzzle.lattice, entry)
    texts = [
        "; ".join(_step_caption(puzzle, entry, piece_id) for piece_id in step.new) for step in steps
    ]
    size = size_mm(puzzle, entry, unit_mm)
    scale = preferred_scale(size, _WIDE_ROOM_MM if size[0] > 1.8 * size[1] else _ROOM_MM)
    wide_mm, high_mm = size[0] / scale, size[1] / scale
    # Names often differ only at their ends: widen the column for a long one.
    words_mm = [text_width_mm(word, _TEXT_MM) for text in texts for word in text.split()]
    column_mm = max(wide_mm, _ROOM_MM[0] / 2, *words_mm)
    max_columns = (_MAX_WIDTH_MM + _STEP_GAP_MM) // (column_mm + _STEP_GAP_MM)
    rows = math.ceil((len(steps) + 1) / max_columns)
    columns = math.ceil((len(steps) + 1) / rows)
    captions = [wrap_text(text, _TEXT_MM, column_mm) for text in texts]
    captions_mm = _CAPTION_MM + _CAPTION_LINE_MM * (max(map(len, captions), default=1) - 1)
    row_mm = _NUMBER_MM + high_mm + captions_mm + _STEP_GAP_MM / 2
    across_mm = columns * (column_mm + _STEP_GAP_MM) - _STEP_GAP_MM
    across_mm = max(across_mm, _heading_width_mm(*heading))
    height_mm = 2 * _MARGIN_MM + _HEAD_MM + rows * row_mm + _FOOT_MM - _STEP_GAP_MM / 2
    drawing = _begin_page(heading, 2 * _MARGIN_MM + across_mm, height_mm, theme)
    for index, step in enumerate([*steps, None]):
        row, column = divmod(index, columns)
        x = _MARGIN_MM + column * (column_mm + _STEP_GAP_MM)
        y = height_mm - _MARGIN_MM - _HEAD_MM - row * row_mm - _NUMBER_MM - high_mm
        board = board_for(drawing, puzzle, entry, unit_mm / scale, (x, y), drawing.theme)
        if step is None:
            board.draw_solution(entry)
        else:
            board.ground(entry.challenge)
            board.layout({piece_id: solution[piece_id] for piece_id in step.before}, pale=True)
            board.layout({piece_id: solution[piece_id] for piece_id in step.new})
            board.rim(entry.challenge.board_cells)
        number = "done" if step is None else str(index + 1)
        drawing.text(x, y + high_mm + 2.2, number, _NUMBER_SIZE_MM, class_="title")
        for row, line in enumerate(captions[index] if step else [""]):
            base = y - _CAPTION_MM + 1 - row * _CAPTION_LINE_MM
            drawing.text(x, base, line, _TEXT_MM, class_="quiet")
    draw_unit_bar(drawing, (_MARGIN_MM, _MARGIN_MM), unit_mm / scale, scale, drawing.theme)
    return drawing.source()


def assembly_steps(lattice: Lattice, entry: Entry) -> tuple[Step, ...]:
    """Return the order of assembly, from the upper left. The next piece shares an edge with a
    placed one, if any does, else touches the border of the region; of those it is the one that
    touches most of both. With very many pieces a step has several."""
    solution = entry.solution
    edges = {piece_id: _edges(lattice, cells) for piece_id, cells in solution.items()}
    border = _edges(lattice, entry.challenge.region)
    given_ids = [given.piece for given in entry.challenge.given if given.piece in solution]
    order = list[str]()
    waiting = solution.keys() - given_ids
    # Edges of placed pieces, reversed, as neighbours have them.
    placed_edges = {edge[::-1] for piece_id in given_ids for edge in edges[piece_id]}

    def urgency(piece_id: str) -> tuple[object, ...]:
        touched = len(edges[piece_id] & placed_edges)
        at_border = len(edges[piece_id] & border)
        contact = (not touched, -touched - at_border) if placed_edges else (not at_border,)
        top_left = min((-y, x) for x, y in solution[piece_id])
        return (*contact, top_left, piece_id)

    while waiting:
        order.append(min(waiting, key=urgency))
        waiting.remove(order[-1])
        placed_edges |= {edge[::-1] for edge in edges[order[-1]]}
    size = max(1, math.ceil(len(order) / _MAX_STEPS))
    starts = range(0, len(order), size)
    return tuple(Step(tuple(order[i : i + size]), (*given_ids, *order[:i])) for i in starts)


def _edges(lattice: Lattice, cells: frozenset[Cell]) -> set[tuple[Point, Point]]:
    """Return the directed edges around cells, which are on their left."""
    inside = {edge for cell in cells for edge in lattice.cell_edges(cell)}
    return {edge for edge in inside if edge[::-1] not in inside}


def _step_caption(puzzle: PuzzleSet, entry: Entry, piece_id: str) -> str:
    """Return the caption of a placed piece: its id, and whether it is turned over (unknown on two
    lattices)."""
    piece, cells = puzzle.piece(piece_id), entry.solution[piece_id]
    may_flip = entry.challenge.flips and piece.body is None and entry.halves == 1
    is_flipped = may_flip and not is_image(puzzle.lattice, piece, cells, flips=False)
    return f"{piece_id}, turned over" if is_flipped else piece_id


def snowflake_sheet(puzzle: PuzzleSet, entries: Sequence[Entry], theme: str = "auto") -> str:
    """Draw snowflakes in order, each with one solution, at one scale, as an SVG document in mm."""
    sizes = [size_mm(puzzle, entry, _CATALOG_UNIT_MM) for entry in entries]
    sides = [max(*size, _MIN_FLAKE_MM) for size in sizes]
    room_mm = _CATALOG_WIDTH_MM - 2 * _MARGIN_MM
    boxes = zip(entries, sizes, sides, strict=True)
    rows = break_into_rows(boxes, sides, room_mm, _CATALOG_GAP_MM)
    heights = [max(side_mm for *_, side_mm in row) + _FLAKE_CAPTION_MM for row in rows]
    height_mm = _HEAD_MM + 2 * _MARGIN_MM + sum(height + _CATALOG_GAP_MM for height in heights)
    heading = f"{puzzle.title} · {pluralize(len(entries), 'snowflake')}", _parities(entries)
    drawing = _begin_page(heading, _CATALOG_WIDTH_MM, height_mm, theme)
    y = height_mm - _MARGIN_MM - _HEAD_MM
    for row, row_mm in zip(rows, heights, strict=True):
        x, base = _MARGIN_MM, y - row_mm + _FLAKE_CAPTION_MM
        for entry, (wide, high), side_mm in row:
            middle = x + side_mm / 2
            corner = middle - wide / 2, base + side_mm / 2 - high / 2
            scene = drawing, puzzle, entry, _CATALOG_UNIT_MM, corner, drawing.theme
            board_for(*scene, written=True).layout(entry.solution)
            count = _known_solutions(entry) + (", flips" if entry.challenge.flips else "")
            style = {"text_anchor": "middle"}
            drawing.text(middle, base - 3, entry.challenge.name, _FLAKE_TEXT_MM, **style)
            drawing.text(middle, base - 6, count, _FLAKE_TEXT_MM, class_="quiet", **style)
            x += side_mm + _CATALOG_GAP_MM
        y -= row_mm + _CATALOG_GAP_MM
    return drawing.source()


def _parities(entries: Sequence[Entry]) -> str:
    """Summarise how many have each parity, and how many need pieces to be turned over."""
    parities = Counter(entry.parity for entry in entries)
    flipped = sum(entry.challenge.flips for entry in entries)
    moves = "pieces may be turned over" if flipped else "pieces may only be rotated"
    if 0 < flipped < len(entries):
        moves = f"{len(entries) - flipped} with rotations only, {flipped} with pieces turned over"
    return " · ".join([*(f"{count} {parity}" for parity, count in parities.items()), moves])
