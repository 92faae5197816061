"""The pages of the pieces: an overview with their names, or all at full size."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from reportlab.platypus import Flowable, NextPageTemplate, PageBreak, Paragraph, Spacer, Table

from fabkit.model.piece import Piece
from fabkit.output.board import BoardPainter, extent, preferred_scale
from fabkit.output.booklet.frontmatter import best_column_count
from fabkit.output.booklet.layout import (
    BARE_TABLE,
    MARGIN_MM,
    MAX_BLANK,
    BookletDocument,
    BookletSpec,
    Bookmark,
    DrawingFlowable,
    stacked_height_mm,
)
from fabkit.output.booklet.paper import (
    EDGE_MM,
    FOOT_MM,
    HEAD_MM,
    Size,
    fold_out_page,
    has_room,
    printable_area,
)
from fabkit.output.canvas import break_into_rows
from fabkit.output.i18n import format_number
from fabkit.output.pdf import MM, PdfPage
from fabkit.output.pieces import (
    BELOW_MM,
    BESIDE_MM,
    PieceView,
    ball_piece_views,
    draw_piece_view,
    flat_piece_view,
)
from fabkit.output.typeset import text_width_mm

_GAP_MM = 6.0  # the gap between pieces
_MAX_NAME_MM = 34.0  # the maximum width that a piece gets for its name alone
_NAME_MM = 3.4  # the text size of a name, which is in the lowest part of the room below a piece
_MAX_SCALE = 0.5  # the largest scale of the overview
_FILLED = 0.86  # the fraction of a cell that a piece of the overview fills


def piece_overview(spec: BookletSpec, above_mm: float) -> list[Flowable]:
    """Return all pieces, their names and flat forms, at one scale.

    They come on a new page, unless more than a third of that before is blank below `above_mm`.
    """
    messages, puzzle = spec.messages, spec.puzzle
    head = [*_heading(spec), spec.text(messages["pieces_small_text"])]
    page_mm = spec.size[1] - HEAD_MM - FOOT_MM - 2
    high = page_mm - stacked_height_mm(head, spec.width_mm)
    begin: Flowable = PageBreak()
    if page_mm - above_mm > MAX_BLANK * page_mm:
        high -= above_mm + _GAP_MM
        begin = Spacer(0, _GAP_MM * MM)
    count = len(puzzle.pieces)
    lattice = puzzle.lattice
    boxes = [[extent(lattice, form.cells) for form in piece.forms] for piece in puzzle.pieces]
    wide = max(sum(box[2] + 0.5 for box in row) - 0.5 for row in boxes)
    tall = max(box[3] for row in boxes for box in row)
    columns = best_column_count(count, spec.width_mm / high * (tall + 2) / wide)
    rows = -(-count // columns)
    cell = spec.width_mm / columns, min(high / rows, 60.0)
    area = cell[0] - 4, cell[1] - 9
    max_mm = _MAX_SCALE * spec.profile.unit_mm
    unit_mm = min(_FILLED * area[0] / wide, (area[1] - 1.5) / tall, max_mm)

    def draw(piece: Piece, row: list[tuple[float, float, float, float]], page: PdfPage) -> None:
        across = 0.0
        for form, (left, bottom, form_wide, _) in zip(piece.forms, row, strict=True):
            origin = across - left * unit_mm, 1.5 - bottom * unit_mm
            board = BoardPainter(page, puzzle, unit_mm, origin)
            board.pieces([(replace(piece, forms=(form,)), form.cells)])
            across += (form_wide + 0.5) * unit_mm

    cells = list[list[Flowable]]()
    for piece, row in zip(puzzle.pieces, boxes, strict=True):
        name = piece.id if piece.label == piece.id else f"{piece.label} · {piece.id}"
        sketch = DrawingFlowable(area, partial(draw, piece, row), spec.missing)
        cells.append([sketch, spec.text(name, "small", 60)])
    cells += [[]] * (rows * columns - count)
    table_rows = [cells[start : start + columns] for start in range(0, rows * columns, columns)]
    table = Table(table_rows, [cell[0] * MM] * columns, [cell[1] * MM] * rows, style=BARE_TABLE)
    return [begin, *head, table]


def _heading(spec: BookletSpec) -> list[Flowable]:
    heading = spec.messages["pieces_heading"]
    return [Bookmark("pieces", [(0, heading)], heading), spec.text(heading, "heading")]


def full_size_pieces(
    spec: BookletSpec, book: BookletDocument
) -> tuple[list[Flowable], list[str], list[str]]:
    """Return the pages of all pieces at full size, in rows, large ones on their own pages; the
    sizes of fold-out pages; and the pieces that are drawn smaller."""
    messages, puzzle, profile = spec.messages, spec.puzzle, spec.profile
    text = messages["pieces_balls_text" if puzzle.made_of_balls else "pieces_text"]
    flat = [piece for piece in puzzle.pieces if not piece.body]
    pairs = zip(flat, spec.drafts, strict=True)
    views = [flat_piece_view(puzzle, *pair, profile) for pair in pairs]
    for piece in (piece for piece in puzzle.pieces if piece.body):
        for view, form in zip(ball_piece_views(puzzle, piece, profile), piece.forms, strict=True):
            caption = f"{piece.id} ({piece.label})"
            if len(piece.forms) > 1:
                caption += f" · {form_name(messages, form.name)}"
            views.append(replace(view, caption=caption))
    story = [*_heading(spec), spec.text(text, spaceAfter=5 * MM)]
    area = spec.width_mm, printable_area(spec.size)[1] - 1
    small = [view for view in views if has_room(area, _room(spec, view))]
    widths = [_room(spec, view)[0] for view in small]
    gap = _GAP_MM * MM
    for row in break_into_rows(small, widths, spec.width_mm, _GAP_MM):
        columns = [(_room(spec, view)[0] + _GAP_MM) * MM for view in row]
        columns[-1] -= gap
        cells = [_captioned_drawing(spec, view) for view in row]
        story.append(Table([cells], columns, hAlign="LEFT", spaceAfter=gap, style=BARE_TABLE))
    sizes, smaller = [], []
    for view in (view for view in views if view not in small):
        wide, high = _room(spec, view)
        needed = wide + 2 * (MARGIN_MM - EDGE_MM), high
        if folded_page := fold_out_page(needed, spec.paper, spec.size):
            size, folded = folded_page
            template = f"pieces {size[0]:g} x {size[1]:g}"
            book.add_page_size(template, size, folded, MARGIN_MM)
            story += [NextPageTemplate(template), PageBreak(), *_captioned_drawing(spec, view)]
            sizes += [folded] if folded else []
        else:
            scale = preferred_scale((wide, high), (area[0], area[1] - 12))
            line = messages["scaled_piece"].format(scale=format_number(messages, scale))
            flowables = [*_captioned_drawing(spec, view, scale), spec.text(line, "small")]
            story += [NextPageTemplate("pieces"), PageBreak(), *flowables]
            smaller.append(f"piece {view.caption}")
    return story, sizes, smaller


def _room(spec: BookletSpec, view: PieceView) -> Size:
    """Return the size of a piece with its dimensions and the name below."""
    wide, high = replace(view, caption="").room_mm
    wide = max(wide, min(text_width_mm(view.caption, _NAME_MM) + 1, _MAX_NAME_MM))
    return wide, high - _NAME_MM + stacked_height_mm([_name(spec, view)], wide)


def _name(spec: BookletSpec, view: PieceView) -> Paragraph:
    return spec.text(view.caption, "text", spaceAfter=0)


def _captioned_drawing(spec: BookletSpec, view: PieceView, scale: float = 1.0) -> list[Flowable]:
    size = view.size_mm[0] + BESIDE_MM, view.size_mm[1] + BELOW_MM
    unnamed = replace(view, caption="")
    decimal = spec.messages["decimal"]
    draw = partial(draw_piece_view, view=unnamed, at_mm=(0.0, -_NAME_MM), decimal=decimal)
    on_page = size[0] / scale, (size[1] - _NAME_MM) / scale
    return [DrawingFlowable(on_page, draw, spec.missing, scale), _name(spec, view)]


def form_name(messages: Mapping[str, str], name: str) -> str:
    """Translate the name of a `fabkit.model.piece.Form`; an unknown one is a `ValueError`.

    Example:
        >>> messages = {"form_double": "doppelt", "form_prong": "{count} Zacken"}
        >>> [form_name(messages, name) for name in ("double", "double-2", "4-prong", "4-prong-3")]
        ['doppelt', 'doppelt 2', '4 Zacken', '4 Zacken 3']
    """
    parts = re.fullmatch(r"(?:([0-9]+)-)?([a-z]+)(?:-([0-9]+))?", name)
    if not parts:
        raise ValueError(f"there is no form {name!r}")
    count, kind, number = parts.groups()
    text = messages[f"form_{kind}"].format(count=count)
    return f"{text} {number}" if number else text
