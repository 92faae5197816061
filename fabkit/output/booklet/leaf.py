"""What all pages of a booklet have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.booklet.items import Item
from fabkit.output.booklet.paper import FOOT_MM, Size
from fabkit.output.booklet.pdf import PdfPage
from fabkit.output.i18n import figure
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import shortened, text_width_mm

#: Texts stay this far from the edges of a page.
MARGIN_MM = 12.0
#: Sizes of text.
HEADING_MM, TITLE_MM, TEXT_MM, SMALL_MM = 7.0, 4.6, 3.5, 2.8
#: From line to line, in sizes of the text.
LEADING = 1.4
_RUNNING_MM = 2.6
#: The colour of texts that lead somewhere, at a contrast of 7 : 1 on white.
LINK = "#1f5a99"


@dataclass(frozen=True)
class Edition:
    """What a booklet is made of.

    Attributes:
        puzzle: the set.
        profile: gives the unit, and the sizes of pieces.
        words: texts in the booklet's language.
        items: its challenges, in order.
        size: width and height of its usual page, in mm.
        paper: what that is called.
    """

    puzzle: PuzzleSet
    profile: Profile
    words: Mapping[str, str]
    items: tuple[Item, ...]
    size: Size
    paper: str


@dataclass(frozen=True)
class Places:
    """On which pages challenges and solutions are, by the challenges' numbers."""

    challenges: Mapping[int, int]
    solutions: Mapping[int, int]


class Leaf(Protocol):
    """A page that is planned, and drawn when all pages have their numbers."""

    @property
    def size(self) -> Size:
        """Width and height in mm."""

    @property
    def marks(self) -> Sequence[tuple[int, str]]:
        """Entries of the outline that lead here: level and title."""

    @property
    def challenges(self) -> Sequence[int]:
        """Numbers of the challenges that are shown."""

    @property
    def solutions(self) -> Sequence[int]:
        """Numbers of the challenges whose solutions are shown."""

    def draw(self, page: PdfPage, number: int, places: Places) -> None:
        """Draws it.

        Args:
            page: empty.
            number: of the page, from 1.
            places: where everything else is.
        """


class PlainLeaf:
    """A page that shows no challenge and no solution, unless it says so."""

    @property
    def challenges(self) -> Sequence[int]:
        """None."""
        return ()

    @property
    def solutions(self) -> Sequence[int]:
        """None."""
        return ()


@dataclass(frozen=True)
class UsualLeaf(PlainLeaf):
    """A page of the usual size.

    Attributes:
        edition: the booklet.
    """

    edition: Edition

    @property
    def size(self) -> Size:
        """Width and height in mm."""
        return self.edition.size


def key_of(page: int) -> str:
    """By what links find a page.

    Example:
        >>> key_of(12)
        'page-12'
    """
    return f"page-{page}"


def draw_frame(page: PdfPage, edition: Edition, size: Size, number: int, running: str) -> None:
    """What stands above and below every page but the cover.

    Args:
        page: where to draw.
        edition: the booklet.
        size: of the page.
        number: of the page.
        running: what the page is about; above it at the right.
    """
    width, height = size
    room = (width - 2 * MARGIN_MM) / 2 - 3
    top = height - 8.5
    title = shortened(edition.puzzle.title, _RUNNING_MM, room)
    page.text(MARGIN_MM, top, title, _RUNNING_MM, class_="quiet")
    about = shortened(running, _RUNNING_MM, room)
    page.text(width - MARGIN_MM, top, about, _RUNNING_MM, class_="quiet", text_anchor="end")
    ends = [(MARGIN_MM, top - 1.8), (width - MARGIN_MM, top - 1.8)]
    page.line(ends, stroke=LIGHT.faint, stroke_width="0.15")
    page.text(width / 2, 6.0, str(number), _RUNNING_MM, class_="quiet", text_anchor="middle")


def draw_size(
    page: PdfPage,
    edition: Edition,
    size: Size,
    folded: str = "",
    scale: float = 1.0,
    says: str = "scaled",
) -> None:
    """A line at the foot of a page for what is unusual: a larger page, or a smaller drawing.

    Args:
        page: where to draw.
        edition: the booklet.
        size: of the page.
        folded: the name of the size, when it is larger than the other pages.
        scale: one to what is drawn on it.
        says: the key of what is said of a smaller drawing.
    """
    words, line = edition.words, ""
    if folded:
        width, height = (figure(words, side) for side in size)
        line = words["folded"].format(name=folded, width=width, height=height)
    if scale != 1:
        line = words[says].format(scale=figure(words, scale))
    fitting = shortened(line, SMALL_MM, size[0] - 2 * MARGIN_MM)
    page.text(size[0] / 2, FOOT_MM - 1.5, fitting, SMALL_MM, text_anchor="middle")


def draw_reference(
    page: PdfPage, x: float, y: float, text: str, to: int, end: bool = False
) -> None:
    """A line of text that leads to a page.

    Args:
        page: where to draw.
        x: where it begins, or ends.
        y: of its base line.
        text: what it says.
        to: which page.
        end: whether it ends at the point.
    """
    width = text_width_mm(text, SMALL_MM)
    page.text(x, y, text, SMALL_MM, fill=LINK, text_anchor="end" if end else "start")
    page.link(x - width if end else x, y - 1, width, SMALL_MM + 1, key_of(to), text)
