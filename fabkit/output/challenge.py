"""The challenge sheet: what is to be covered, and beside it one way to do so."""

from __future__ import annotations

from collections.abc import Sequence

from fabkit.core.errors import cut, many
from fabkit.model.entry import Entry
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.board import board_at, draw_challenge, draw_solution, easy_scale, size_mm
from fabkit.output.booklet.typeset import lines_of, shortened
from fabkit.output.canvas import unit_bar
from fabkit.output.pdf import text_width_mm
from fabkit.output.svg import Drawing

#: The widest page, margins around it, gaps between panels, and the room that titles take.
PAGE_WIDTH_MM, MARGIN_MM, GAP_MM, HEAD_MM, FOOT_MM = 300.0, 10.0, 16.0, 19.0, 9.0
#: Sizes of text.
TITLE_MM, TEXT_MM, SMALL_MM = 7.0, 3.6, 2.8
#: Between the margins of the widest page.
_WIDEST_MM = PAGE_WIDTH_MM - 2 * MARGIN_MM
_PANEL_HEIGHT_MM = 200.0
#: A region this many times as wide as high is drawn above its solution, not beside it.
_LONG = 3.0
_LINE_MM = 4.0
_MOST_LINES = 3
#: So much is said of a set's title before the challenge's.
_LONGEST_SET = 30


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
    lines = heading(puzzle, entry, known)
    page = _Page(puzzle, entry, unit_mm, lines)
    drawing = Drawing(page.width_mm, page.height_mm, *lines, theme=theme)
    draw_heading(drawing, page.height_mm, *lines)
    at_mm, caption_mm = page.panel(0)
    board = board_at(drawing, puzzle, entry, page.unit_mm, at_mm, drawing.theme)
    draw_challenge(board, puzzle, entry, grid)
    _draw_caption(drawing, caption_mm, ["challenge", *page.names])
    if entry.solution is not None:
        at_mm, caption_mm = page.panel(1)
        board = board_at(drawing, puzzle, entry, page.unit_mm, at_mm, drawing.theme)
        draw_solution(board, puzzle, entry)
        _draw_caption(drawing, caption_mm, ["one solution"])
    unit_bar(drawing, (MARGIN_MM, MARGIN_MM), page.unit_mm, page.scale, drawing.theme)
    return drawing.source()


def heading(puzzle: PuzzleSet, entry: Entry, known: str | None = None) -> tuple[str, str]:
    """The two lines above the drawing of a challenge.

    Args:
        puzzle: the set.
        entry: the challenge.
        known: what is known of the number of solutions; None for what the entry says.

    Example:
        >>> from fabkit.model.library import load_set
        >>> entry = Entry("s1", "Cross", "challenge", frozenset(), ("A", "R"), flips=True, count=2)
        >>> heading(load_set("fridgeiq"), entry)
        ('FridgeIQ · Cross', '2 pieces · flips allowed · 2 solutions or more')
    """
    if known is None and entry.count:
        known = known_solutions(entry)
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


def known_solutions(entry: Entry) -> str:
    """How many solutions of a challenge are known.

    Example:
        >>> known_solutions(Entry("s1", "Cross", "challenge", frozenset(), ("A",), count=1200))
        '1,200 solutions or more'
    """
    known = many(entry.count or 0, "solution")
    return known if entry.count_complete else f"{known} or more"


def draw_heading(drawing: Drawing, height_mm: float, title: str, summary: str) -> None:
    """Title and summary at the top of a page; they take `HEAD_MM`.

    Args:
        drawing: the page.
        height_mm: of the page.
        title: the first line.
        summary: the second one.
    """
    y = height_mm - MARGIN_MM - 6
    fitting = shortened(title, TITLE_MM, _WIDEST_MM, bold=True)
    drawing.text(MARGIN_MM, y, fitting, TITLE_MM, class_="title")
    drawing.text(MARGIN_MM, y - 6, summary, TEXT_MM, class_="quiet")


def heading_width_mm(title: str, summary: str) -> float:
    """How much room `draw_heading` takes: no more than the widest page has.

    Example:
        >>> heading_width_mm("Wall", "") < heading_width_mm("WALL", "")
        True
    """
    wide_mm = max(text_width_mm(title, TITLE_MM, bold=True), text_width_mm(summary, TEXT_MM))
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
        gaps_mm = (columns - 1) * GAP_MM
        widest_mm = (_WIDEST_MM - gaps_mm) / columns
        self.scale = easy_scale((wide_mm, high_mm), (widest_mm, _PANEL_HEIGHT_MM))
        self.unit_mm = unit_mm / self.scale
        panel_mm = wide_mm / self.scale
        self._high_mm = high_mm / self.scale
        column_mm = min(max(panel_mm, (heading_width_mm(*lines) - gaps_mm) / columns), widest_mm)
        self.names = _names(entry, column_mm)
        captions_mm = 1 + _LINE_MM * (1 + len(self.names))
        # The first panel begins where the title does; a second one stands beside it and what is
        # said below it, or below.
        said_mm = max((text_width_mm(name, SMALL_MM) for name in self.names), default=0.0)
        beside_mm = max(panel_mm, said_mm) + GAP_MM
        across_mm = columns * column_mm + gaps_mm
        down_mm = self._high_mm + captions_mm + GAP_MM
        self._step_mm = (beside_mm, 0.0) if rows == 1 else (0.0, down_mm)
        below_mm = (
            down_mm + self._high_mm + 1 + _LINE_MM if rows > 1 else self._high_mm + captions_mm
        )
        self.width_mm = 2 * MARGIN_MM + across_mm
        self.height_mm = 2 * MARGIN_MM + HEAD_MM + below_mm + FOOT_MM

    def panel(self, index: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where the lower left corner of a panel is, and where its caption begins."""
        x = MARGIN_MM + index * self._step_mm[0]
        top = self.height_mm - MARGIN_MM - HEAD_MM - index * self._step_mm[1]
        y = top - self._high_mm
        return (x, y), (x, y - 5.5)


def _draw_caption(drawing: Drawing, at_mm: tuple[float, float], lines: Sequence[str]) -> None:
    x, y = at_mm
    drawing.text(x, y, lines[0], TEXT_MM)
    for number, line in enumerate(lines[1:], start=1):
        drawing.text(x, y - number * _LINE_MM, line, SMALL_MM, class_="quiet")


def _names(entry: Entry, width_mm: float) -> list[str]:
    """The pieces by name, in a few lines; none when they would take more."""
    lines = lines_of(", ".join(entry.pieces), SMALL_MM, width_mm)
    return lines if len(lines) <= _MOST_LINES else []
