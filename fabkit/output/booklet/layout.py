"""Layout shared by all pages of a booklet: text styles, page templates, bookmarks, drawings, stars.

ReportLab's Platypus lays out the pages. Lengths are in mm, and in points for Platypus: a mm is `MM`
points.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph

from fabkit.core.colours import rgb
from fabkit.core.errors import truncate
from fabkit.drawing.draft import FlatDrawing
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.board import size_mm
from fabkit.output.booklet.paper import EDGE_MM, FOOT_MM, HEAD_MM, Size
from fabkit.output.canvas import Canvas, draw_scale_bar, draw_stars
from fabkit.output.i18n import format_number
from fabkit.output.numbering import NumberedChallenge
from fabkit.output.pdf import MM, ImposedCanvas, PageCanvas, PdfPage, page_in_mm
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import (
    BOLD,
    REGULAR,
    font_characters,
    register_fonts,
    replace_missing_glyphs,
    single_line,
    truncate_to_width,
    with_no_break_spaces,
)
from fabkit.profiles.profile import Profile

#: The margin of texts.
MARGIN_MM = 12.0
#: The fraction of a page that may stay blank before the next part begins on a new one.
MAX_BLANK = 1 / 3
#: Text styles by name: size in mm, bold, quiet, and space after in mm.
_TEXT_STYLES = {
    "heading": (6.0, True, False, 2.5),
    "title": (4.2, True, False, 0.8),
    "name": (3.2, True, False, 0.0),
    "text": (3.4, False, False, 1.2),
    "small": (2.8, False, False, 0.0),
    "quiet": (2.6, False, True, 0.0),
}
LEADING = 1.35  # leading in text sizes
_RUNNING_MM = 2.6  # the text size of running heads and page numbers
BAR_MM = 50.0  # the length of the bar to check a print's scale by
_WARNING = "#f0c000"  # the colour of the warning sign
#: The style of tables without lines and padding.
BARE_TABLE = [
    ("FONTNAME", (0, 0), (-1, -1), REGULAR),
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    *((f"{side}PADDING", (0, 0), (-1, -1), 0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")),
]
#: The light tint of printed challenges saves ink and leaves room for a pencil; no socket has it.
_TINT = "#e4e0d6"
#: The theme of printed challenges.
PAPER_THEME = replace(LIGHT, silhouette=_TINT, ground=_TINT, socket="#ffffff", faint="#b0aa9a")


@dataclass(frozen=True)
class BookletSpec:
    """The content and format of a booklet.

    Attributes:
        challenges: its challenges, in order.
        size: width and height of the default page in mm, named `paper`.
        full: whether challenges are drawn at full size.
        drafts: the drawings of flat pieces.
        places: page numbers by the keys of bookmarks, as far as known.
        missing: collects characters that the fonts lack.
        measured: caches widths and heights at full size by the numbers of challenges.
    """

    puzzle: PuzzleSet
    profile: Profile
    messages: Mapping[str, str]
    challenges: tuple[NumberedChallenge, ...]
    size: Size
    paper: str
    full: bool
    drafts: Sequence[FlatDrawing] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    measured: dict[int, Size] = field(default_factory=dict)

    @property
    def width_mm(self) -> float:
        """The width of texts on the default page."""
        return self.size[0] - 2 * MARGIN_MM

    def size_mm(self, challenge: NumberedChallenge, scale: float = 1.0) -> Size:
        """Return width and height of a challenge's shape at 1 to `scale`."""
        if challenge.number not in self.measured:
            size = size_mm(self.puzzle, challenge.entry, self.profile.unit_mm)
            self.measured[challenge.number] = size
        wide, high = self.measured[challenge.number]
        return wide / scale, high / scale

    def escape_text(self, text: str, bold: bool = False, max_characters: int = 160) -> str:
        """Escape and truncate any text, as from a user's file, for the markup of a paragraph."""
        line = single_line(text)
        self.missing.update(set(line) - font_characters(bold))
        line = replace_missing_glyphs(truncate(line, max_characters), bold)
        return escape(with_no_break_spaces(line))

    def text(
        self, text: str, style: str = "text", max_characters: int = 4000, **changes: Any
    ) -> Paragraph:
        """Return a paragraph of plain text in a style, with changed attributes."""
        return self.markup(
            self.escape_text(text, _TEXT_STYLES[style][1], max_characters), style, **changes
        )

    def markup(self, markup: str, style: str = "text", **changes: Any) -> Paragraph:
        """Return a paragraph of markup, as from `escape_text`, in a style."""
        size_mm, bold, quiet, below_mm = _TEXT_STYLES[style]
        size_mm = changes.pop("size_mm", size_mm)
        settings = {
            "fontName": BOLD if bold else REGULAR,
            "fontSize": size_mm * MM,
            "leading": size_mm * LEADING * MM,
            "textColor": rgb(LIGHT.quiet if quiet else LIGHT.ink),
            "spaceAfter": below_mm * MM,
        }
        return Paragraph(markup, ParagraphStyle(style, **settings | changes))


def group_by_level(spec: BookletSpec) -> Iterator[tuple[str, str, list[NumberedChallenge]]]:
    """Yield every level with its name and challenges."""
    for level, challenges in groupby(spec.challenges, key=lambda challenge: challenge.level):
        yield level, spec.messages[f"level_{level or 'unknown'}"], list(challenges)


def stacked_height_mm(flowables: Sequence[Flowable], width_mm: float) -> float:
    """Return the height of stacked flowables, with the space after each."""
    heights = [
        flowable.wrap(width_mm * MM, 1e6)[1] + flowable.getSpaceAfter() for flowable in flowables
    ]
    return float(sum(heights)) / MM


class DrawingFlowable(Flowable):
    """A drawing in mm that takes `size` on the page, drawn 1 to `scale` from its lower left.

    Characters that the fonts lack are added to `missing`.
    """

    def __init__(
        self, size: Size, draw: Callable[[PdfPage], None], missing: set[str], scale: float = 1.0
    ) -> None:
        super().__init__()
        self.width, self.height = (side * MM for side in size)
        self._draw = draw
        self._missing = missing
        self._scale = scale

    def draw(self) -> None:
        """Draw it; Platypus has moved the origin."""
        if self.canv._doctemplate.is_draft:
            return
        with page_in_mm(self.canv, self._missing, self._scale) as page:
            self._draw(page)


class Bookmark(Flowable):
    """A link target of no size with its entries of the PDF outline (level and title).

    `running_head` becomes that of the page.
    """

    _ZEROSIZE = True

    def __init__(
        self, key: str, entries: Sequence[tuple[int, str]] = (), running_head: str = ""
    ) -> None:
        super().__init__()
        self.width = self.height = 0
        self._key = key
        self._entries = entries
        self._running_head = running_head

    def draw(self) -> None:
        """Record the page, and add the outline entries."""
        book = self.canv._doctemplate
        book.places[self._key] = book.page
        book.running_head = self._running_head or book.running_head
        self.canv.bookmarkPage(self._key)
        for level, title in self._entries:
            key = f"{self._key}-{level}"  # ReportLab identifies entries by their bookmarks
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(single_line(title), key, level, closed=True)


class LinkedFlowable(Flowable):
    """A flowable that links to the `Bookmark` of a key, with a text for screen readers."""

    def __init__(self, inner: Flowable, key: str, text: str) -> None:
        super().__init__()
        self._inner = inner
        self._key = key
        self._text = single_line(text)

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        """Return the size of the inner flowable."""
        self.width, self.height = self._inner.wrap(width, height)
        return self.width, self.height

    def getSpaceAfter(self) -> float:
        """Return the space after the inner flowable."""
        return float(self._inner.getSpaceAfter())

    def draw(self) -> None:
        """Draw the inner flowable and the link."""
        self._inner.drawOn(self.canv, 0, 0)
        self.canv.linkRect(self._text, self._key, (0, 0, self.width, self.height), Border="[0 0 0]")


class BookletDocument(BaseDocTemplate):
    """The document of a booklet; `subject` goes into the file's metadata.

    Attributes:
        places: page numbers by the keys of bookmarks.
        running_head: of the current page.
        is_draft: whether this pass only finds the page numbers, without drawing.
    """

    def __init__(self, spec: BookletSpec, subject: str, language: str) -> None:
        register_fonts()
        self.places: dict[str, int] = {}
        self.running_head = ""
        self.is_draft = not spec.places
        self._spec = spec
        self._file = io.BytesIO()
        metadata = {"title": single_line(spec.puzzle.title), "subject": single_line(subject)}
        super().__init__(
            self._file, **metadata, pagesize=(spec.size[0] * MM, spec.size[1] * MM),
            **dict.fromkeys(("author", "creator", "producer"), "fabkit"),
            invariant=1, pageCompression=1, lang=language, initialFontName=REGULAR,
        )  # fmt: skip
        self._add("cover", spec.size, MARGIN_MM, (MARGIN_MM, MARGIN_MM), lambda canvas, book: None)
        self._add("usual", spec.size, MARGIN_MM, (HEAD_MM, FOOT_MM), self._frame_page)
        self._add("cards", spec.size, MARGIN_MM, (MARGIN_MM, FOOT_MM), self._foot)

    def add_page_size(
        self, name: str, size: Size, folded: str = "", side_mm: float = EDGE_MM
    ) -> None:
        """Add a page template for shapes at full size, with a scale bar; fold-out pages state their size."""

        def page_end(canvas: Any, book: Any) -> None:
            self._frame_page(canvas, book)
            messages = self._spec.messages
            with page_in_mm(canvas, self._spec.missing) as page:
                draw_scale_bar(page, (MARGIN_MM, 5.5), BAR_MM, LIGHT)
                if folded:
                    width, height = (format_number(messages, side) for side in size)
                    line = messages["folded"].format(name=folded, width=width, height=height)
                    end = {"text_anchor": "end", "class_": "quiet"}
                    page.text(size[0] - MARGIN_MM, 5.5, line, _RUNNING_MM, **end)

        if name not in [template.id for template in self.pageTemplates]:
            self._add(name, size, side_mm, (HEAD_MM, FOOT_MM), page_end)

    def make(self, story: list[Flowable], sheet: Size | None = None) -> bytes:
        """Return the PDF file: single pages, or two on each side of a sheet to fold."""
        self.build(story, canvasmaker=partial(ImposedCanvas, sheet) if sheet else PageCanvas)
        return self._file.getvalue()

    def _add(
        self, name: str, size: Size, side_mm: float, ends_mm: Size, end: Callable[[Any, Any], None]
    ) -> None:
        """Add a template with one frame; `ends_mm` are the margins above and below."""
        wide, high = size[0] - 2 * side_mm, size[1] - sum(ends_mm)
        frame = Frame(side_mm * MM, ends_mm[1] * MM, wide * MM, high * MM, 0, 0, 0, 0, id=name)
        points = size[0] * MM, size[1] * MM
        self.addPageTemplates([PageTemplate(name, [frame], onPageEnd=end, pagesize=points)])

    def _foot(self, canvas: Any, book: Any) -> None:
        style = {"class_": "quiet", "text_anchor": "middle"}
        with page_in_mm(canvas, self._spec.missing) as page:
            page.text(canvas._pagesize[0] / MM / 2, 6.0, str(self.page), _RUNNING_MM, **style)

    def _frame_page(self, canvas: Any, book: Any) -> None:
        """Draw the running head and the page number."""
        self._foot(canvas, book)
        width, height = (side / MM for side in canvas._pagesize)
        left = MARGIN_MM
        right = width - MARGIN_MM
        top = height - 8.5
        with page_in_mm(canvas, self._spec.missing) as page:
            for text, x, anchor in (
                (self._spec.puzzle.title, left, "start"),
                (self.running_head, right, "end"),
            ):
                line = truncate_to_width(text, _RUNNING_MM, (right - left) / 2 - 3)
                page.text(x, top, line, _RUNNING_MM, class_="quiet", text_anchor=anchor)
            rule = [(left, top - 1.8), (right, top - 1.8)]
            page.line(rule, stroke=LIGHT.faint, stroke_width="0.15")


def star_row(size: Size, x: float, y: float, radius_mm: float, count: int) -> DrawingFlowable:
    """Return a row of stars from its left end, the first `count` filled; empty if not rated."""

    def draw(page: PdfPage) -> None:
        if count:
            draw_stars(page, (x, y), radius_mm, count)

    return DrawingFlowable(size, draw, set())


def draw_warning_sign(page: Canvas, height_mm: float) -> None:
    """Draw a warning sign: a triangle with an exclamation mark."""
    width = height_mm * 2 / math.sqrt(3)
    edge = {"stroke": LIGHT.edge, "stroke_width": f"{height_mm / 12:.3f}"}
    corners = [(0.0, 0.0), (width, 0.0), (width / 2, height_mm)]
    page.polygon([corners], fill=_WARNING, **edge, stroke_linejoin="round")
    middle, stem = width / 2, height_mm * 0.06
    low, high = height_mm * 0.3, height_mm * 0.68
    mark = [(-stem, high), (-stem / 2, low), (stem / 2, low), (stem, high)]
    page.polygon([[(middle + dx, y) for dx, y in mark]], fill=LIGHT.edge)
    page.circle(middle, height_mm * 0.16, stem, fill=LIGHT.edge)
