"""How to use the booklet, and what must be known of magnets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fabkit.core.units import format_mm
from fabkit.output.booklet.items import stars_of
from fabkit.output.booklet.leaf import (
    HEADING_MM,
    LEADING,
    MARGIN_MM,
    TEXT_MM,
    TITLE_MM,
    Edition,
    Places,
    UsualLeaf,
    draw_frame,
)
from fabkit.output.booklet.paper import FOOT_MM, HEAD_MM
from fabkit.output.booklet.pdf import PdfPage
from fabkit.output.booklet.signs import draw_stars, draw_warning, stars_width_mm
from fabkit.output.canvas import Canvas
from fabkit.output.typeset import lines_of

#: Sizes of the text: the largest, with which all of it stands on one page, or the first.
_BODIES_MM = (TEXT_MM + 0.1, TEXT_MM - 0.2, TEXT_MM - 0.5)
#: Under a heading, between two parts, and around what stands in a frame.
_UNDER_MM, _BETWEEN_MM, _PADDING_MM = 6.2, 4.0, 4.5
_STAR_MM, _SIGN_MM = 1.7, 11.0
_FRAME, _TINT = "#d09000", "#fff6d6"


class _Part(Protocol):
    """A part of the guide's text, for some width."""

    @property
    def height_mm(self) -> float:
        """How high it is."""

    def draw(self, page: Canvas, left: float, top: float) -> None:
        """Draws it from its upper left corner."""


@dataclass(frozen=True)
class _Paragraph:
    """A heading and the text below it."""

    heading: str
    lines: tuple[str, ...]
    body_mm: float

    @property
    def height_mm(self) -> float:
        return _UNDER_MM + LEADING * self.body_mm * len(self.lines)

    def draw(self, page: Canvas, left: float, top: float) -> None:
        page.text(left, top - TITLE_MM + 0.6, self.heading, TITLE_MM, class_="title")
        _draw_lines(page, left, top - _UNDER_MM, self.lines, self.body_mm)


@dataclass(frozen=True)
class _Stars:
    """What the stars mean: a text, the levels with their stars, and more text."""

    above: _Paragraph
    levels: tuple[tuple[int, str], ...]
    below: tuple[str, ...]

    @property
    def height_mm(self) -> float:
        lines = len(self.levels) + len(self.below)
        return self.above.height_mm + LEADING * self.above.body_mm * lines + 1

    def draw(self, page: Canvas, left: float, top: float) -> None:
        self.above.draw(page, left, top)
        y, body_mm = top - self.above.height_mm - 0.5, self.above.body_mm
        for row, (count, name) in enumerate(self.levels, start=1):
            base = y - row * LEADING * body_mm + 1.4
            draw_stars(page, left, base + 1.25, _STAR_MM, count)
            page.text(left + stars_width_mm(_STAR_MM) + 3, base, name, body_mm)
        below = y - len(self.levels) * LEADING * body_mm - 0.5
        _draw_lines(page, left, below, self.below, body_mm)


@dataclass(frozen=True)
class _Warning:
    """A text in a frame, with the sign for danger."""

    heading: str
    lines: tuple[str, ...]
    width_mm: float
    body_mm: float

    @property
    def height_mm(self) -> float:
        text_mm = _UNDER_MM + LEADING * self.body_mm * len(self.lines)
        return max(text_mm, _SIGN_MM) + 2 * _PADDING_MM - 1.5

    def draw(self, page: Canvas, left: float, top: float) -> None:
        low, right = top - self.height_mm, left + self.width_mm
        page.polygon(
            [[(left, low), (right, low), (right, top), (left, top)]],
            fill=_TINT,
            stroke=_FRAME,
            stroke_width="0.5",
            stroke_linejoin="round",
        )
        draw_warning(page, left + _PADDING_MM, top - _PADDING_MM - _SIGN_MM + 1, _SIGN_MM)
        begin, y = left + _beside_sign(), top - _PADDING_MM
        page.text(begin, y - TITLE_MM + 1, self.heading, TITLE_MM, class_="title")
        _draw_lines(page, begin, y - _UNDER_MM, self.lines, self.body_mm)


@dataclass(frozen=True)
class GuideLeaf(UsualLeaf):
    """A page of the guide.

    Attributes:
        parts: what stands on it.
        marks: see `fabkit.output.booklet.leaf.Leaf`; the first page has some.
    """

    parts: tuple[_Part, ...]
    marks: tuple[tuple[int, str], ...] = ()

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it; see `fabkit.output.booklet.leaf.Leaf`."""
        heading = self.edition.words["how"]
        draw_frame(page, self.edition, self.size, number, heading)
        y = self.size[1] - HEAD_MM
        if self.marks:
            page.text(MARGIN_MM, y - HEADING_MM, heading, HEADING_MM, class_="title")
            y -= _heading_mm()
        for part in self.parts:
            part.draw(page, MARGIN_MM, y)
            y -= part.height_mm + _BETWEEN_MM


def guide_leaves(
    edition: Edition, magnets: bool, folded: Sequence[str], scaled: bool
) -> list[GuideLeaf]:
    """The pages of the guide.

    Args:
        edition: the booklet.
        magnets: whether there are any in the pieces.
        folded: the sizes of its larger pages.
        scaled: whether anything is drawn smaller than it is.
    """
    ways = [
        _pages(edition, _parts(edition, magnets, folded, scaled, body_mm)) for body_mm in _BODIES_MM
    ]
    pages = next((way for way in ways if len(way) == 1), ways[0])
    first = ((0, edition.words["how"]),)
    return [
        GuideLeaf(edition, tuple(parts), () if place else first)
        for place, parts in enumerate(pages)
    ]


def _pages(edition: Edition, parts: Sequence[_Part]) -> list[list[_Part]]:
    """The parts that stand on each page."""
    room = edition.size[1] - HEAD_MM - FOOT_MM
    pages: list[list[_Part]] = [[]]
    used = _heading_mm()
    for part in parts:
        if pages[-1] and used + part.height_mm > room:
            pages.append([])
            used = 0.0
        pages[-1].append(part)
        used += part.height_mm + _BETWEEN_MM
    return pages


def _parts(
    edition: Edition, magnets: bool, folded: Sequence[str], scaled: bool, body_mm: float
) -> list[_Part]:
    """Everything that the guide says, in order."""
    words, width = edition.words, edition.size[0] - 2 * MARGIN_MM

    def paragraph(key: str, *more: str) -> _Paragraph:
        text = " ".join((words[f"{key}_text"], *more))
        return _Paragraph(words[key], tuple(lines_of(text, body_mm, width)), body_mm)

    parts: list[_Part] = []
    if magnets:
        room = width - _beside_sign() - _PADDING_MM
        lines = lines_of(words["warning_text"], body_mm, room)
        parts.append(_Warning(words["warning"], tuple(lines), width, body_mm))
    parts.append(paragraph("how_aim", *_moves(edition)))
    parts.append(paragraph("how_size", *_sizes(edition, folded, scaled)))
    levels = {item.level for item in edition.items}
    known = [
        (count, words[f"level_{name}"]) for name, count in stars_of().items() if name in levels
    ]
    if known:
        below = lines_of(words["how_unrated"], body_mm, width) if "" in levels else []
        parts.append(_Stars(paragraph("how_stars"), tuple(known), tuple(below)))
    parts.append(paragraph("how_solutions", *_others(edition)))
    return parts


def _moves(edition: Edition) -> list[str]:
    """How pieces may be moved, and where they are laid."""
    words = edition.words
    entries = [item.entry for item in edition.items]
    flips = {entry.flips for entry in entries}
    if edition.puzzle.made_of_balls:
        moves = "how_rolled"
    else:
        moves = "how_mixed" if len(flips) > 1 else "how_flipped" if True in flips else "how_turned"
    found = [words[moves]]
    if any(entry.given for entry in entries):
        found.append(words["how_given"])
    if edition.puzzle.made_of_balls:
        found.append(words["how_balls"])
    elif any(board.cells == entry.region for board in edition.puzzle.boards for entry in entries):
        found.append(words["how_seats"])
    return found


def _sizes(edition: Edition, folded: Sequence[str], scaled: bool) -> list[str]:
    """What else must be known of sizes."""
    words, found = edition.words, []
    if edition.profile.inset_mm and not edition.puzzle.made_of_balls:
        inset = format_mm(edition.profile.inset_mm).replace(".", words["decimal"])
        found.append(words["how_gap"].format(inset=inset))
    if folded:
        found.append(words["how_folded"].format(sizes=", ".join(folded)))
    if scaled:
        found.append(words["how_scaled"])
    return found


def _others(edition: Edition) -> list[str]:
    """That there are other solutions than those shown, if some are known."""
    several = any((item.entry.count or 0) > 1 for item in edition.items)
    return [edition.words["how_solutions_more"]] if several else []


def _draw_lines(
    page: Canvas, left: float, top: float, lines: Sequence[str], body_mm: float
) -> None:
    for row, line in enumerate(lines, start=1):
        page.text(left, top - row * LEADING * body_mm + 1.4, line, body_mm)


def _beside_sign() -> float:
    """Where text begins beside the sign for danger, from the left of the frame."""
    return 2 * _PADDING_MM + _SIGN_MM * 1.15


def _heading_mm() -> float:
    """How much the heading of the first page takes."""
    return HEADING_MM + 6.0
