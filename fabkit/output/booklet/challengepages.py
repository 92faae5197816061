"""The pages of challenges, several to a page or at full size, and of solutions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from reportlab.platypus import Flowable, KeepTogether, NextPageTemplate, PageBreak, Paragraph, Table

from fabkit.output.board import board_for, preferred_scale
from fabkit.output.booklet.layout import (
    BARE_TABLE,
    MARGIN_MM,
    PAPER_THEME,
    BookletDocument,
    BookletSpec,
    Bookmark,
    DrawingFlowable,
    LinkedFlowable,
    group_by_level,
    stacked_height_mm,
    star_row,
    star_row_width_mm,
)
from fabkit.output.booklet.paper import (
    EDGE_MM,
    FOOT_MM,
    Size,
    fold_out_page,
    has_room,
    printable_area,
)
from fabkit.output.i18n import format_count, format_number
from fabkit.output.numbering import NumberedChallenge
from fabkit.output.pdf import MM, PdfPage
from fabkit.output.typeset import text_width_mm

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
_SHARING = 0.95  # the minimum fraction of challenges that must share a scale
_GAP_MM = 5.0  # the gap between challenges on a page
_HEAD_MM = 10.0  # the height of a page's head
_FREE_MM = 4.5  # the gap between the texts of a challenge and its drawing
_STAR_MM = 1.8  # the radius of a star
#: A title's last words, as "78" or "4 a", stay on the line of the word before them.
_TITLE_END = re.compile(r" (?=\d+\b|\w\b)")
_APART_MM = 3.0  # at full size, the gap between the texts of a challenge and its shape
_BETWEEN_MM = 9.0  # at full size, the gap between challenges
#: Returns the contents of a challenge's cell, for the size of the cell in mm.
_Card = Callable[[NumberedChallenge, Size], list[Flowable]]


class ChallengeGrid:
    """The challenges of a booklet in a grid, several to a page.

    Attributes:
        scale: challenges are drawn 1 to this where they fit.
        scaled: whether any challenge has a scale of its own.
        pages: number of pages.
    """

    def __init__(self, spec: BookletSpec) -> None:
        self._spec = spec
        #: Widths in one line of number and title, and of the facts, in mm.
        self._wide = {
            challenge.number: (
                text_width_mm(f"{challenge.number}   {challenge.title}", 3.2, bold=True),
                text_width_mm(" · ".join(_facts(spec, challenge)), 2.6),
            )
            for challenge in spec.challenges
        }
        counts = [len(challenges) for _, _, challenges in group_by_level(spec)]
        candidates = []
        for columns, rows in _GRIDS:
            pages = sum(math.ceil(count / (columns * rows)) for count in counts)
            candidates.append((self._scale((columns, rows)), pages, (columns, rows)))
        suitable = [candidate for candidate in candidates if candidate[1] <= _MAX_PAGES]
        self.scale, self.pages, self._grid = min(suitable or candidates[-1:])
        self.scaled = any(
            not self._fits(challenge, self._grid, self.scale) for challenge in spec.challenges
        )

    def story(self) -> Iterator[Flowable]:
        """Yield the pages; every level begins on a new one."""
        spec, messages = self._spec, self._spec.messages
        for level, name, challenges in group_by_level(spec):
            entries = [(0, messages["challenges_heading"])] if challenges[0].number == 1 else []
            entries.append((1, name))
            key = f"level-{level}"
            for part in _chunks(challenges, self._grid):
                subtitle = f"{_span(part)} · 1 : {format_number(messages, self.scale)}"
                yield PageBreak()
                yield _head(spec, name, subtitle, Bookmark(key, entries, name), challenges[0].stars)
                yield _cards(spec, part, self._grid, self._card)
                entries = []
                key = f"page-of-{part[-1].number + 1}-{name}"

    def _scale(self, grid: tuple[int, int]) -> float:
        """Return the common scale for a grid of columns and rows."""
        challenges = self._spec.challenges

        def is_shared(scale: float) -> bool:
            fitting = [challenge for challenge in challenges if self._fits(challenge, grid, scale)]
            return len(fitting) >= _SHARING * len(challenges)

        return next(filter(is_shared, _SCALES), _SCALES[-1])

    def _fits(self, challenge: NumberedChallenge, grid: tuple[int, int], scale: float) -> bool:
        """Whether a challenge fits its cell, with each of its texts in one line or two."""
        wide, high = _cell(self._spec, grid)
        titles, facts = (1 + (line_mm > wide) for line_mm in self._wide[challenge.number])
        texts_mm = 4.4 * titles + 3.6 * facts
        return has_room((wide, high - texts_mm - _FREE_MM), self._spec.size_mm(challenge, scale))

    def _card(self, challenge: NumberedChallenge, cell: Size) -> list[Flowable]:
        """Return the texts of a challenge, and its shape in the rest of the cell."""
        spec, messages = self._spec, self._spec.messages
        summary = " · ".join(_facts(spec, challenge))
        title = _linked_title(spec, challenge, "name", "solution")
        used = stacked_height_mm([title, spec.text(summary, "quiet")], cell[0]) + _FREE_MM
        scale = self.scale
        if not has_room((cell[0], cell[1] - used), spec.size_mm(challenge, scale)):
            scale = preferred_scale(spec.size_mm(challenge), (cell[0], cell[1] - used))
            summary += f" · 1 : {format_number(messages, scale)}"
        facts = spec.text(summary, "quiet")
        room = cell[0], cell[1] - stacked_height_mm([title, facts], cell[0]) - 0.5
        wide, high = spec.size_mm(challenge, scale)
        corner = (room[0] - wide) / 2, max(0.0, room[1] - _FREE_MM - high) / 2
        draw = partial(_draw, spec, challenge, scale, corner)
        entry = (2, f"{challenge.number} · {challenge.title}")
        mark = Bookmark(f"challenge-{challenge.number}", [entry])
        return [mark, title, facts, DrawingFlowable(room, draw, spec.missing)]


def solutions(spec: BookletSpec, pages: int = 24) -> Iterator[Flowable]:
    """Yield the solutions in the order of the challenges, as large as the number of pages allows."""
    puzzle, unit_mm = spec.puzzle, spec.profile.unit_mm

    def card(challenge: NumberedChallenge, cell: Size) -> list[Flowable]:
        entry = challenge.entry
        texts: list[Flowable] = [_linked_title(spec, challenge, "small", "challenge")]
        if entry.result.count not in (None, 1) or not entry.result.count_complete:
            texts.append(spec.text(format_solution_count(spec, challenge), "quiet"))
        room = cell[0], cell[1] - stacked_height_mm(texts, cell[0]) - 0.5
        size = spec.size_mm(challenge)
        scale = max(2.0, size[0] / room[0], size[1] / room[1])

        def draw(page: PdfPage) -> None:
            corner = 0.0, room[1] - 0.5 - size[1] / scale
            board = board_for(page, puzzle, entry, unit_mm / scale, corner, written=True)
            board.draw_solution(entry)

        mark = Bookmark(f"solution-{challenge.number}")
        return [mark, *texts, DrawingFlowable(room, draw, spec.missing)]

    max_pages = (_MAX_LARGE_PAGES, pages, len(spec.challenges))
    for grid, max_count in zip(_SOLUTIONS, max_pages, strict=True):
        if len(spec.challenges) <= math.prod(grid) * max_count:
            break
    name = spec.messages["solutions_heading"]
    key = "solutions"
    entries = [(0, name)]
    for part in _chunks(spec.challenges, grid):
        mark = Bookmark(key, [*entries, (1, _span(part))], name)
        yield from (NextPageTemplate("cards"), PageBreak())
        yield _head(spec, name, _span(part), mark)
        yield _cards(spec, part, grid, card)
        entries = []
        key = f"page-of-{part[-1].number + 1}-{name}"


def full_size_challenges(
    spec: BookletSpec, book: BookletDocument
) -> tuple[list[Flowable], list[str], list[str]]:
    """Return the pages of all challenges at full size; every level begins on a new one.

    Returns:
        The pages, the sizes of fold-out pages, and the ids of challenges that are drawn smaller.
    """
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
    room = printable_area(spec.size)
    above = stacked_height_mm(_full_head(spec, challenge, 2.5), room[0]) + _APART_MM + 1
    return (spec.size, ""), preferred_scale(spec.size_mm(challenge), (room[0], room[1] - above))


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
    if entry.challenge.flips and not all(
        challenge.entry.challenge.flips for challenge in spec.challenges
    ):
        yield messages["flips"]


def _title(
    spec: BookletSpec, challenge: NumberedChallenge, style: str, **changes: Any
) -> Paragraph:
    title = _TITLE_END.sub("\N{NO-BREAK SPACE}", spec.escape_text(challenge.title, bold=True))
    markup = f'<b><font color="#8a8577">{challenge.number}</font>&nbsp;&nbsp;{title}</b>'
    return spec.markup(markup, style, **changes)


def _linked_title(
    spec: BookletSpec, challenge: NumberedChallenge, style: str, target: str
) -> LinkedFlowable:
    """Return number and title, linked to the ``challenge`` or the ``solution`` of that number."""
    label = spec.messages[f"to_{target}"].format(title=challenge.title)
    return LinkedFlowable(_title(spec, challenge, style), f"{target}-{challenge.number}", label)


def _cell(spec: BookletSpec, grid: tuple[int, int]) -> Size:
    """Return the size in mm of a grid cell."""
    wide, high = spec.width_mm, spec.size[1] - MARGIN_MM - FOOT_MM - _HEAD_MM - 1
    return (wide + _GAP_MM) / grid[0] - _GAP_MM, high / grid[1] - _GAP_MM


def _cards(
    spec: BookletSpec, challenges: Sequence[NumberedChallenge], grid: tuple[int, int], card: _Card
) -> Table:
    wide, high = _cell(spec, grid)
    columns = grid[0]
    cards = [card(challenge, (wide, high)) for challenge in challenges] + [[]] * (
        -len(challenges) % columns
    )
    cells = [cards[place : place + columns] for place in range(0, len(cards), columns)]
    widths = [(wide + _GAP_MM) * MM] * (columns - 1) + [wide * MM]
    style = [*BARE_TABLE, ("RIGHTPADDING", (0, 0), (-2, -1), _GAP_MM * MM)]
    return Table(cells, widths, [(high + _GAP_MM) * MM] * len(cells), style=style)


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


def _chunks(
    challenges: Sequence[NumberedChallenge], grid: tuple[int, int]
) -> Iterator[Sequence[NumberedChallenge]]:
    """Split challenges into pages with about equal numbers of rows, the shorter ones last."""
    rows = math.ceil(len(challenges) / grid[0])
    pages = math.ceil(rows / grid[1])
    min_rows, longer_pages = divmod(rows, pages)
    start = 0
    for page in range(pages):
        end = start + (min_rows + (page < longer_pages)) * grid[0]
        yield challenges[start:end]
        start = end
