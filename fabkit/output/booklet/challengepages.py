"""The pages of challenges, several to a page or at full size, and of solutions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from reportlab.platypus import (
    Flowable,
    KeepTogether,
    NextPageTemplate,
    PageBreak,
    Paragraph,
    Spacer,
    Table,
)

from fabkit.output.board import board_for, preferred_scale
from fabkit.output.booklet.layout import (
    BARE_TABLE,
    MARGIN_MM,
    MAX_BLANK,
    PAPER_THEME,
    BookletDocument,
    BookletSpec,
    Bookmark,
    DrawingFlowable,
    LinkedFlowable,
    group_by_level,
    stacked_height_mm,
    star_row,
)
from fabkit.output.booklet.paper import (
    EDGE_MM,
    FOOT_MM,
    Size,
    fold_out_page,
    has_room,
    printable_area,
)
from fabkit.output.canvas import star_row_width_mm
from fabkit.output.i18n import format_count, format_number
from fabkit.output.numbering import NumberedChallenge
from fabkit.output.pdf import MM, PdfPage
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import REGULAR, text_width_mm

_GRIDS = ((2, 3), (2, 4), (3, 3), (2, 5), (3, 4))  # columns and rows of challenges on a page
_MAX_PAGES = 36  # about the maximum number of such pages
_SOLUTIONS = ((2, 3), (3, 4), (3, 5))  # columns and rows of solutions on a page
_MAX_LARGE_PAGES = 8  # the maximum number of pages with large solutions
#: The scales, 1 to these.
_SCALES: tuple[float, ...] = (
    *(half / 2 for half in range(2, 17)),
    *range(9, 21),
    *range(25, 201, 5),
)
_SHARING = 0.85  # the minimum fraction of a page's challenges that share its scale
_MAX_ROWS = 12  # more rows than a page holds
_GAP_MM = 4.0  # the gap between columns
_ROW_GAP_MM = 4.0  # the minimum gap between rows
_HEAD_MM = 10.0  # the height of a heading
_BEFORE_HEAD_MM = 4.0  # the gap above a heading within a page
_FREE_MM = 2.0  # the gap between the texts of a challenge and its drawing
_FACTS_MM = 2.6  # the text size of the facts beside a title
_STAR_MM = 1.8  # the radius of a star
#: A title's last words, as "78" or "4 a", stay on the line of the word before them.
_TITLE_END = re.compile(r" (?=\d+\b|\w\b)")
_APART_MM = 3.0  # at full size, the gap between the texts of a challenge and its shape
_BETWEEN_MM = 9.0  # at full size, the gap between challenges


@dataclass(frozen=True)
class _Card:
    """A challenge or solution in a row: texts, and a drawing below them."""

    texts: Sequence[Flowable]
    drawing: DrawingFlowable


#: Lays out a page from the challenge at a place: a note on it, and the cards of more than a page.
_Layout = Callable[[int], tuple[str, Sequence[_Card]]]


@dataclass(frozen=True)
class _Section:
    """Challenges in rows below a heading, which pages repeat with the note on each. `key` is the
    bookmark, and `entries` are the outline entries, of its beginning; each page has one more if it
    `lists_pages`."""

    name: str
    key: str
    entries: Sequence[tuple[int, str]]
    challenges: Sequence[NumberedChallenge]
    layout: _Layout
    columns: int
    stars: int = 0
    lists_pages: bool = False


def play_challenges(spec: BookletSpec) -> tuple[list[Flowable], int, bool]:
    """Return the pages of challenges in levels, each at a scale of its own; their number; and
    whether any challenge is drawn smaller than others of its page."""
    grids = [grid for grid in _GRIDS if math.prod(grid) * _MAX_PAGES >= len(spec.challenges)]
    #: Challenges are laid out again until their page is known; the last time counts.
    smaller = dict[int, bool]()

    def section(level: str, name: str, challenges: list[NumberedChallenge]) -> _Section:
        def largest(grid: tuple[int, int]) -> tuple[float, int]:
            return _PageLayout(spec, challenges, grid).scale, -math.prod(grid)

        grid = min(grids or _GRIDS[-1:], key=largest)

        def layout(first: int) -> tuple[str, list[_Card]]:
            page = _PageLayout(spec, challenges[first : first + math.prod(grid)], grid)
            cards = []
            for challenge in challenges[first : first + _MAX_ROWS * grid[0]]:
                smaller[challenge.number] = not page.fits(challenge)
                cards.append(page.card(challenge))
            return f" · 1 : {format_number(spec.messages, page.scale)}", cards

        heading = [(0, spec.messages["challenges_heading"])] * (challenges[0].number == 1)
        entries = [*heading, (1, name)]
        stars = challenges[0].stars
        return _Section(name, f"level-{level}", entries, challenges, layout, grid[0], stars)

    sections = [section(*level) for level in group_by_level(spec)]
    pages = list(_pages(spec, sections))
    return pages, _count_pages(pages), any(smaller.values())


class _PageLayout:
    """Challenges in a grid of columns and rows, most of them drawn 1 to `scale`."""

    def __init__(
        self, spec: BookletSpec, challenges: Sequence[NumberedChallenge], grid: tuple[int, int]
    ) -> None:
        self._spec = spec
        self._wide, self._high = _cell(spec, grid)
        areas = [(self._area(challenge), spec.size_mm(challenge)) for challenge in challenges]

        def is_shared(scale: float) -> bool:
            fitting = [has_room(area, (wide / scale, high / scale)) for area, (wide, high) in areas]
            return sum(fitting) >= _SHARING * len(challenges)

        self.scale = next(filter(is_shared, _SCALES), _SCALES[-1])

    def fits(self, challenge: NumberedChallenge) -> bool:
        """Return whether a challenge fits its cell at the scale."""
        return has_room(self._area(challenge), self._spec.size_mm(challenge, self.scale))

    def card(self, challenge: NumberedChallenge) -> _Card:
        """Return the card of a challenge, which states its scale if it is smaller."""
        spec, scale, text = self._spec, self.scale, self._text(challenge)
        if not self.fits(challenge):
            scale = preferred_scale(spec.size_mm(challenge), self._area(challenge))
            text = self._text(challenge, f"1 : {format_number(spec.messages, scale)}")
        draw = partial(_draw, spec, challenge, scale, (0.0, 0.0))
        drawing = DrawingFlowable(spec.size_mm(challenge, scale), draw, spec.missing)
        entry = (2, f"{challenge.number} · {challenge.title}")
        return _Card([Bookmark(f"challenge-{challenge.number}", [entry]), text], drawing)

    def _area(self, challenge: NumberedChallenge) -> Size:
        """Return the room for the shape of a challenge."""
        text_mm = stacked_height_mm([self._text(challenge)], self._wide)
        return self._wide, self._high - text_mm - _FREE_MM

    def _text(self, challenge: NumberedChallenge, *remarks: str) -> LinkedFlowable:
        """Return title and facts, in one line if they fit."""
        spec = self._spec
        facts = " · ".join([*_facts(spec, challenge), *remarks])
        title_mm = text_width_mm(f"{challenge.number}   {challenge.title}  ", 3.2, bold=True)
        is_short = title_mm + text_width_mm(facts, _FACTS_MM) < self._wide
        gap = "&nbsp; " if is_short else "<br/>"
        style = f'name="{REGULAR}" size="{_FACTS_MM * MM:.2f}" color="{LIGHT.quiet}"'
        markup = f"{gap}<font {style}>{spec.escape_text(facts)}</font>"
        return _linked(spec, challenge, _title(spec, challenge, "name", markup), "solution")


def solutions(spec: BookletSpec, pages: int = 24) -> Iterator[Flowable]:
    """Yield the solutions in the order of the challenges, as large as `pages` allows."""
    puzzle, unit_mm = spec.puzzle, spec.profile.unit_mm
    name = spec.messages["solutions_heading"]

    def card(challenge: NumberedChallenge, cell: Size) -> _Card:
        entry = challenge.entry
        title = _linked(spec, challenge, _title(spec, challenge, "small"), "challenge")
        texts: list[Flowable] = [Bookmark(f"solution-{challenge.number}"), title]
        if entry.result.count not in (None, 1) or not entry.result.count_complete:
            texts.append(spec.text(format_solution_count(spec, challenge), "quiet"))
        size = spec.size_mm(challenge)
        free_mm = cell[1] - stacked_height_mm(texts, cell[0]) - _FREE_MM
        scale = max(2.0, size[0] / cell[0], size[1] / free_mm)

        def draw(page: PdfPage) -> None:
            board = board_for(page, puzzle, entry, unit_mm / scale, (0.0, 0.0), written=True)
            board.draw_solution(entry)

        return _Card(texts, DrawingFlowable(spec.size_mm(challenge, scale), draw, spec.missing))

    max_pages = (_MAX_LARGE_PAGES, pages, len(spec.challenges))
    for grid, max_count in zip(_SOLUTIONS, max_pages, strict=True):
        cards = [card(challenge, _cell(spec, grid)) for challenge in spec.challenges]
        section = _Section(
            name, "solutions", [(0, name)], spec.challenges, partial(_rest, cards), grid[0],
            lists_pages=True,
        )  # fmt: skip
        flowables = list(_pages(spec, [section]))
        if _count_pages(flowables) <= max_count:
            break
    yield NextPageTemplate("cards")
    yield from flowables


def _rest(cards: Sequence[_Card], first: int) -> tuple[str, Sequence[_Card]]:
    return "", cards[first:]


def _count_pages(flowables: Sequence[Flowable]) -> int:
    return sum(isinstance(flowable, PageBreak) for flowable in flowables)


def _pages(spec: BookletSpec, sections: Sequence[_Section]) -> Iterator[Flowable]:
    """Yield the pages of sections; full pages are spread to the foot.

    A section begins on a new page unless more than a third of the page before would stay blank.
    """
    free_mm = 0.0
    for section in sections:
        columns = section.columns
        first = 0
        while first < len(section.challenges):
            note, cards = section.layout(first)
            starts = range(0, len(cards), columns)
            rows = [_row(spec, cards[start : start + columns], columns) for start in starts]
            heights_mm = [stacked_height_mm([row], spec.width_mm) for row in rows]
            above_mm = _BEFORE_HEAD_MM + _HEAD_MM
            needed_mm = max(MAX_BLANK * _page_height_mm(spec), above_mm + heights_mm[0])
            if not first and free_mm > needed_mm:
                yield Spacer(0, _BEFORE_HEAD_MM * MM)
                free_mm -= above_mm
            else:
                yield PageBreak()
                free_mm = _page_height_mm(spec) - _HEAD_MM
            ends_mm = list(accumulate(height + _ROW_GAP_MM for height in heights_mm))
            count = max(1, sum(end_mm <= free_mm + _ROW_GAP_MM for end_mm in ends_mm))
            free_mm -= ends_mm[count - 1]
            challenges = section.challenges[first : first + count * columns]
            is_full = first + len(challenges) < len(section.challenges)
            gap_mm = _ROW_GAP_MM + is_full * (free_mm + _ROW_GAP_MM) / max(1, count - 1)
            key = f"page-of-{challenges[0].number}-{section.name}" if first else section.key
            entries = [] if first else [*section.entries]
            entries += [(1, _span(challenges))] if section.lists_pages else []
            mark = Bookmark(key, entries, section.name)
            yield _head(spec, section.name, _span(challenges) + note, mark, section.stars)
            for row in rows[:count]:
                row.spaceAfter = gap_mm * MM
                yield row
            first += len(challenges)


def full_size_challenges(
    spec: BookletSpec, book: BookletDocument
) -> tuple[list[Flowable], list[str], list[str]]:
    """Return the pages of all challenges at full size, a new one for every level; the sizes of
    fold-out pages; and the ids of challenges that are drawn smaller."""
    heading = spec.messages["challenges_heading"]
    current = ""
    story = list[Flowable]()
    sizes = list[str]()
    smaller = list[str]()
    for level, name, challenges in group_by_level(spec):
        for challenge in challenges:
            (size, folded), scale = _page_for(spec, challenge)
            smaller += [challenge.entry.challenge.id] if scale != 1 else []
            sizes += [folded] if folded else []
            template = "full" if size == spec.size else f"{size[0]:g} x {size[1]:g}"
            book.add_page_size(template, size, folded)
            first = challenge is challenges[0]
            if template != current or template != "full" or first:
                story += [NextPageTemplate(template), PageBreak()]
                current = template
            story += [Bookmark(f"level-{level}")] if first else []
            entries = [(0, heading)] if challenge.number == 1 else []
            entries += [(1, name)] if first else []
            entries.append((2, f"{challenge.number} · {challenge.title}"))
            mark = Bookmark(f"challenge-{challenge.number}", entries, f"{heading} · {name}")
            shape = _shape(spec, challenge, scale, size)
            story.append(KeepTogether([mark, *_full_head(spec, challenge, scale, size[0]), shape]))
    return story, sizes, smaller


def required_size_mm(spec: BookletSpec, challenge: NumberedChallenge) -> Size:
    """Return the size in mm that a challenge takes at full size, texts included."""
    wide, high = spec.size_mm(challenge)
    text_mm = spec.size[0] - 2 * EDGE_MM
    return wide, high + stacked_height_mm(_full_head(spec, challenge, 1.0), text_mm) + _APART_MM


def format_solution_count(spec: BookletSpec, challenge: NumberedChallenge) -> str:
    """Format the number of known solutions."""
    key = "solutions" if challenge.entry.result.count_complete else "solutions_at_least"
    return format_count(spec.messages, key, challenge.entry.result.count or 0)


def _page_for(spec: BookletSpec, challenge: NumberedChallenge) -> tuple[tuple[Size, str], float]:
    """Return the page of a challenge at full size, and its scale there."""
    needed = required_size_mm(spec, challenge)
    if page := fold_out_page((needed[0], needed[1] + 1), spec.paper, spec.size):
        return page, 1.0
    area = printable_area(spec.size)
    above = stacked_height_mm(_full_head(spec, challenge, 2.5), area[0]) + _APART_MM + 1
    return (spec.size, ""), preferred_scale(spec.size_mm(challenge), (area[0], area[1] - above))


def _full_head(
    spec: BookletSpec, challenge: NumberedChallenge, scale: float, wide_mm: float = 0
) -> list[Flowable]:
    """Return the texts above a challenge at full size, for the default page or a wider one."""
    messages, entry, number = spec.messages, challenge.entry, challenge.number
    indent = (MARGIN_MM - EDGE_MM) * MM
    sides: dict[str, Any] = {"leftIndent": indent, "rightIndent": indent}
    width = (wide_mm or spec.size[0]) - 2 * EDGE_MM
    stars_mm = star_row_width_mm(_STAR_MM) if challenge.stars else 0.0
    left = width - indent / MM - stars_mm
    facts = list(_facts(spec, challenge))
    if entry.result.count is not None:
        facts.append(format_solution_count(spec, challenge))
    where = messages["see_solution"].format(page=spec.places.get(f"solution-{number}", 0))
    title = _title(spec, challenge, "title", **sides | {"rightIndent": indent + stars_mm * MM})
    flowables: list[Flowable] = [
        star_row((width, 0), left, -_STAR_MM - 1.2, _STAR_MM, challenge.stars),
        title,
        spec.text(" · ".join(facts), "small", **sides),
        LinkedFlowable(spec.text(where, "quiet", **sides), f"solution-{number}", where),
    ]
    if scale != 1:
        line = messages["scaled"].format(scale=format_number(messages, scale))
        flowables.append(spec.text(line, "small", **sides))
    return flowables


def _shape(
    spec: BookletSpec, challenge: NumberedChallenge, scale: float, page_size: Size
) -> DrawingFlowable:
    wide, high = spec.size_mm(challenge, scale)
    across = page_size[0] - 2 * EDGE_MM
    draw = partial(_draw, spec, challenge, scale, ((across - wide) / 2, 0.0))
    shape = DrawingFlowable((across, high + _APART_MM), draw, spec.missing)
    shape.spaceAfter = _BETWEEN_MM * MM  # dropped at the foot of a page
    return shape


def _draw(
    spec: BookletSpec, challenge: NumberedChallenge, scale: float, corner: Size, page: PdfPage
) -> None:
    """Draw a challenge with its given pieces from its lower left corner."""
    puzzle, unit_mm = spec.puzzle, spec.profile.unit_mm / scale
    board = board_for(page, puzzle, challenge.entry, unit_mm, corner, PAPER_THEME)
    # Without sockets nobody sees where balls and hexagons go; squares lie on a plain shape.
    sockets = puzzle.made_of_balls or puzzle.lattice.is_hexagonal
    board.draw_challenge(challenge.entry, grid=sockets)


def _facts(spec: BookletSpec, challenge: NumberedChallenge) -> Iterator[str]:
    """Yield the pieces to place, and the size in grid units if it is a multiple of 1/2."""
    messages, puzzle, entry = spec.messages, spec.puzzle, challenge.entry
    count = entry.challenge.pieces_used
    if entry.challenge.given:
        yield messages["pieces_left"].format(left=count - len(entry.challenge.given), count=count)
    elif count == len(puzzle.pieces):
        yield format_count(messages, "all_pieces", count)
    else:
        unused = [piece.label for piece in puzzle.pieces if piece.id not in entry.challenge.pieces]
        summary = format_count(messages, "pieces", count)
        if not unused:  # some of all
            yield summary
        elif len(unused) < 5:  # name the unused ones
            yield messages["pieces_without"].format(pieces=summary, unused=" ".join(unused))
        else:
            used = puzzle.select(entry.challenge.pieces)
            yield f"{summary}: {' '.join(piece.label for piece in used)}"
    if entry.challenge.open_count:
        yield format_count(messages, "open", entry.challenge.open_count)
    if clues := puzzle.clues_besides_board(entry.challenge.clues):
        yield format_count(messages, "clues", len(clues))
    wide, high = (round(side, 3) for side in spec.size_mm(challenge, spec.profile.unit_mm))
    if all(2 * side == round(2 * side) for side in (wide, high)):
        yield f"{format_number(messages, wide)} × {format_number(messages, high)}"
    all_flip = all(numbered.entry.challenge.flips for numbered in spec.challenges)
    if entry.challenge.flips and not all_flip:
        yield messages["flips"]


def _title(
    spec: BookletSpec, challenge: NumberedChallenge, style: str, after: str = "", **changes: Any
) -> Paragraph:
    """Return number and title, with markup after them."""
    title = _TITLE_END.sub("\N{NO-BREAK SPACE}", spec.escape_text(challenge.title, bold=True))
    markup = f'<b><font color="#8a8577">{challenge.number}</font>&nbsp;&nbsp;{title}</b>{after}'
    return spec.markup(markup, style, **changes)


def _linked(
    spec: BookletSpec, challenge: NumberedChallenge, text: Paragraph, target: str
) -> LinkedFlowable:
    """Return a text, linked to the ``challenge`` or the ``solution`` of that number."""
    label = spec.messages[f"to_{target}"].format(title=challenge.title)
    return LinkedFlowable(text, f"{target}-{challenge.number}", label)


def _page_height_mm(spec: BookletSpec) -> float:
    """Return the height of a page between its margins, with a mm to spare."""
    return spec.size[1] - MARGIN_MM - FOOT_MM - 1


def _cell(spec: BookletSpec, grid: tuple[int, int]) -> Size:
    """Return the size in mm of a grid cell."""
    high = _page_height_mm(spec) - _HEAD_MM + _ROW_GAP_MM
    return (spec.width_mm + _GAP_MM) / grid[0] - _GAP_MM, high / grid[1] - _ROW_GAP_MM


def _row(spec: BookletSpec, cards: Sequence[_Card], columns: int) -> Table:
    """Return cards side by side: their texts above, their drawings in the middle below."""
    blanks = [""] * (columns - len(cards))
    cells = [
        [*(card.texts for card in cards), *blanks],
        [*(card.drawing for card in cards), *blanks],
    ]
    wide_mm = (spec.width_mm + _GAP_MM) / columns
    widths = [wide_mm * MM] * (columns - 1) + [(wide_mm - _GAP_MM) * MM]
    style = [
        *BARE_TABLE,
        ("RIGHTPADDING", (0, 0), (-2, -1), _GAP_MM * MM),
        ("TOPPADDING", (0, 1), (-1, 1), _FREE_MM * MM),
        ("ALIGN", (0, 1), (-1, 1), "CENTER"),
        ("VALIGN", (0, 1), (-1, 1), "MIDDLE"),
    ]
    return Table(cells, widths, style=style)


def _head(spec: BookletSpec, name: str, subtitle: str, mark: Bookmark, stars: int = 0) -> Table:
    """Return the head of a page: the chapter, its stars, and the range of numbers."""
    heading = spec.text(name, "heading", size_mm=5.2, spaceAfter=0)
    name_mm, stars_mm = text_width_mm(name, 5.2, bold=True) + 4, star_row_width_mm(_STAR_MM)
    sketch = star_row((stars_mm, 6.0), 0.0, _STAR_MM * 1.9, _STAR_MM, stars)
    row = [[mark, heading], sketch, spec.text(subtitle, "quiet", alignment=2)]
    widths = [name_mm * MM, stars_mm * MM, (spec.width_mm - stars_mm - name_mm) * MM]
    style = [*BARE_TABLE, ("VALIGN", (0, 0), (-1, -1), "BOTTOM")]
    return Table([row], widths, _HEAD_MM * 0.75 * MM, style=style, spaceAfter=_HEAD_MM * 0.25 * MM)


def _span(challenges: Sequence[NumberedChallenge]) -> str:
    first, last = challenges[0].number, challenges[-1].number
    return f"{first}–{last}" if last > first else f"{first}"
