"""Front matter: the cover and the guide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from reportlab.platypus import Flowable, KeepInFrame, NextPageTemplate, PageBreak, Spacer, Table

from fabkit.core.colours import rgb
from fabkit.core.units import format_mm
from fabkit.output.board import BoardPainter, extent
from fabkit.output.booklet.layout import (
    BAR_MM,
    BARE_TABLE,
    LEADING,
    MARGIN_MM,
    BookletSpec,
    Bookmark,
    DrawingFlowable,
    LinkedFlowable,
    draw_warning_sign,
    group_by_level,
    stacked_height_mm,
    star_row,
)
from fabkit.output.booklet.paper import FOOT_MM, HEAD_MM
from fabkit.output.canvas import star_row_width_mm
from fabkit.output.i18n import format_count, format_number
from fabkit.output.pdf import MM, PdfPage
from fabkit.output.typeset import text_width_mm

_TITLE_MM = 15.0  # the largest size of the title
_MIN_TITLE_MM = 5.0  # the smallest size of the title
_MAX_LINES = 3  # the maximum number of lines of the title
_FILLED = 0.8  # the fraction of its cell that a piece fills
_STAR_MM = 1.6  # the radius of a star
_SIGN_MM = 10.0  # the height of the warning sign
_FRAME = "#d09000"  # the colour of the warning's frame
_TINT = "#fff6d6"  # the ground of the warning


def cover_page(spec: BookletSpec, picture: bytes | None) -> list[Flowable]:
    """Return the cover: the set's title, its picture (PNG) or pieces, and the shapes' origin."""
    messages, puzzle, width = spec.messages, spec.puzzle, spec.width_mm
    size_mm = _TITLE_MM
    while size_mm > _MIN_TITLE_MM and not _fits(puzzle.title, size_mm, width):
        size_mm -= 1.0
    leading = size_mm * LEADING * 0.9 * MM
    line = messages["cover_full" if spec.full else "cover_play"]
    pieces = format_count(messages, "pieces", len(puzzle.pieces))
    summary = f"{pieces} · {format_count(messages, 'challenges', len(spec.challenges))}"
    above = [
        spec.text(puzzle.title, "heading", 80, size_mm=size_mm, leading=leading),
        spec.text(line, "title", fontName=spec.text("").style.fontName),
        spec.text(summary, "quiet", size_mm=3.4),
    ]
    below = [
        spec.text(messages[key].format(**{name: puzzle.attribution[name]}), "quiet", max_characters)
        for key, name, max_characters in (("shapes", "credit", 400), ("licence", "licence", 80))
        if name in puzzle.attribution
    ]
    used = stacked_height_mm(above, width) + stacked_height_mm(below, width)
    high = spec.size[1] - 2 * MARGIN_MM - used - 9

    def draw(page: PdfPage) -> None:
        if picture is None:
            _draw_pieces(spec, page, width, high)
        else:
            page.picture(picture, 0, 0, width, high)

    middle = DrawingFlowable((width, high), draw, spec.missing)
    mark = Bookmark("cover", [(0, puzzle.title)])
    flowables = [mark, *above, Spacer(0, 4 * MM), middle, Spacer(0, 4 * MM), *below]
    return [*flowables, NextPageTemplate("usual"), PageBreak()]


def _fits(title: str, size_mm: float, width_mm: float) -> bool:
    """Return whether a title fits in few lines and every word in one."""
    lines = text_width_mm(title, size_mm, bold=True) / width_mm
    words_mm = [text_width_mm(word, size_mm, bold=True) for word in title.split()]
    return lines < _MAX_LINES - 0.4 * (lines > 1) and max(words_mm, default=0.0) <= width_mm


def _draw_pieces(spec: BookletSpec, page: PdfPage, width: float, height: float) -> None:
    """Draw all pieces in rows at one scale, as large as the box allows."""
    puzzle = spec.puzzle
    shapes = [piece.forms[0].cells for piece in puzzle.pieces]
    extents = [extent(puzzle.lattice, cells) for cells in shapes]
    side = max(max(box[2:]) for box in extents)
    columns = best_column_count(len(shapes), width / height)
    wide, high = width / columns, height / math.ceil(len(shapes) / columns)
    unit_mm = _FILLED * min(wide, high) / side
    for index, (piece, cells, box) in enumerate(zip(puzzle.pieces, shapes, extents, strict=True)):
        row, column = divmod(index, columns)
        x = (column + 0.5) * wide - (box[0] + box[2] / 2) * unit_mm
        y = height - (row + 0.5) * high - (box[1] + box[3] / 2) * unit_mm
        BoardPainter(page, puzzle, unit_mm, (x, y)).pieces([(piece, cells)])


def best_column_count(count: int, ratio: float) -> int:
    """Return in how many columns equal cells fill a box best; `ratio` is its width to height.

    Example:
        >>> best_column_count(16, 1.0), best_column_count(10, 0.7), best_column_count(7, 2.0)
        (4, 3, 4)
    """

    def side(columns: int) -> float:
        return round(min(ratio / columns, 1 / math.ceil(count / columns)), 6)

    return max(range(1, count + 1), key=side)  # of equals the one with the fewest columns


def guide(spec: BookletSpec, folded: Sequence[str], scaled: bool) -> tuple[Flowable, float]:
    """Return the guide to the booklet, at most a page, and its height in mm. `folded` are the sizes
    of fold-out pages; `scaled` says whether any challenge is drawn smaller than the others."""
    messages = spec.messages
    parts: list[Flowable] = [
        Bookmark("guide", [(0, messages["how"])], messages["how"]),
        spec.text(messages["how"], "heading"),
    ]
    if any(draft.recesses for draft in spec.drafts):
        parts += [_warning(spec), Spacer(0, 3 * MM)]
    for key, texts in (
        ("how_aim", _aim(spec)),
        ("how_size", _sizes(spec, folded, scaled)),
        ("how_solutions", _solutions(spec)),
        ("how_stars", [messages["how_stars_text"]]),
    ):
        parts.append(spec.text(messages[key], "title", spaceBefore=1.5 * MM))
        parts.append(spec.text(" ".join(texts)))
    parts.append(_contents(spec))
    levels = {challenge.level for challenge in spec.challenges}
    if "" in levels and len(levels) > 1:
        parts.append(spec.text(messages["how_unrated"]))
    frame = spec.width_mm * MM, (spec.size[1] - HEAD_MM - FOOT_MM - 1) * MM
    return KeepInFrame(*frame, parts, mode="shrink"), stacked_height_mm(parts, spec.width_mm)


def _aim(spec: BookletSpec) -> Iterator[str]:
    """Yield the aim, how pieces may be moved, and where they go."""
    messages, balls = spec.messages, spec.puzzle.made_of_balls
    challenges = [numbered.entry.challenge for numbered in spec.challenges]
    flips = {challenge.flips for challenge in challenges}
    moves = "how_mixed" if len(flips) > 1 else "how_flipped" if True in flips else "how_turned"
    yield messages["how_aim_text"]
    yield messages["how_rolled" if balls else moves]
    for key, attribute in (("how_given", "given"), ("how_clues", "clues"), ("how_open", "minus")):
        if any(getattr(challenge, attribute) for challenge in challenges):
            yield messages[key]
    for family in spec.puzzle.families:
        title = family.title or family.id
        yield messages["how_family"].format(title=title, count=format_number(messages, len(family)))
    if spec.full and balls:
        yield messages["how_balls"]


def _sizes(spec: BookletSpec, folded: Sequence[str], scaled: bool) -> Iterator[str]:
    """Yield the scale of the challenges and other remarks on sizes."""
    messages, profile = spec.messages, spec.profile
    if spec.full:
        yield messages["how_size_full"].format(bar=format_number(messages, BAR_MM))
        if profile.inset_mm and not spec.puzzle.made_of_balls:
            inset = format_mm(profile.inset_mm).replace(".", messages["decimal"])
            yield messages["how_gap"].format(inset=inset)
        if folded:
            yield messages["how_folded"].format(sizes=", ".join(folded))
        if scaled:
            yield messages["how_scaled"]
        return
    unit = format_number(messages, round(profile.unit_mm, 2))
    yield messages["how_size_play"].format(unit=unit)
    if scaled:
        yield messages["how_smaller"]


def _solutions(spec: BookletSpec) -> Iterator[str]:
    """Yield where solutions are, and that there may be more than those shown."""
    yield spec.messages["how_solutions_text"]
    if any((challenge.entry.result.count or 0) > 1 for challenge in spec.challenges):
        yield spec.messages["how_solutions_more"]


def _contents(spec: BookletSpec) -> Table:
    """Return the contents: each level with stars, count and page; then the solutions."""
    messages = spec.messages
    wide_mm = star_row_width_mm(_STAR_MM)

    def row(stars: int, name: str, summary: str, key: str) -> list[Flowable]:
        where = messages["page"].format(page=spec.places.get(key, 0))
        page = spec.text(where, alignment=2, spaceAfter=0)
        return [
            star_row((wide_mm, 3.4), 0.0, 1.9, _STAR_MM, stars),
            spec.text(name, spaceAfter=0),
            spec.text(summary, alignment=2, spaceAfter=0),
            LinkedFlowable(page, key, f"{name}: {where}"),
        ]

    cells = list[list[Flowable]]()
    for level, name, challenges in group_by_level(spec):
        summary = format_count(messages, "challenges", len(challenges))
        cells.append(row(challenges[0].stars, name, summary, f"level-{level}"))
    cells.append(row(0, messages["solutions_heading"], "", "solutions"))
    columns = [(wide_mm + 4) * MM, "*", "32%", "28%"]
    style = [*BARE_TABLE, ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]
    return Table(cells, columns, hAlign="LEFT", spaceAfter=2 * MM, style=style)


def _warning(spec: BookletSpec) -> Table:
    messages = spec.messages
    draw = partial(draw_warning_sign, height_mm=_SIGN_MM)
    sign = DrawingFlowable((_SIGN_MM * 1.2, _SIGN_MM), draw, set())
    texts = [spec.text(messages["warning"], "title"), spec.text(messages["warning_text"], "small")]
    style = [
        *((*command[:3], 3 * MM) if "PADDING" in command[0] else command for command in BARE_TABLE),
        ("BOX", (0, 0), (-1, -1), 0.5 * MM, rgb(_FRAME)),
        ("BACKGROUND", (0, 0), (-1, -1), rgb(_TINT)),
    ]
    return Table([[sign, texts]], [(_SIGN_MM * 1.2 + 6) * MM, "*"], hAlign="LEFT", style=style)
