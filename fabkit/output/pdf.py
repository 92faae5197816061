"""PDF books: pages in millimetres to draw on, with the shipped fonts, an outline, and links."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fabkit.output.canvas import Points
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import (
    BOLD,
    REGULAR,
    characters_of,
    drawable,
    load_fonts,
    printed,
    text_width_mm,
)

#: Points of 1/72 inch in a millimetre.
_POINTS = 72 / 25.4
_JOINS = {"miter": 0, "round": 1, "bevel": 2}
_CAPS = {"butt": 0, "round": 1, "square": 2}
_PRODUCER = "fabkit"


class PdfBook:
    """A PDF file, page by page. The same pages give the same bytes.

    Attributes:
        missing: the characters that were to be shown and are not in the fonts.

    Raises:
        OutsideError: when the fonts are missing.

    Example:
        >>> book = PdfBook("A book", "an example", "en")
        >>> page = book.add_page(148, 210, "first")
        >>> page.circle(74, 105, 20, fill="#0072b2")
        >>> book.add_outline("The first page")
        >>> book.finish()[:5]
        b'%PDF-'
    """

    def __init__(self, title: str, subject: str, language: str) -> None:
        from reportlab import rl_config
        from reportlab.pdfgen.canvas import Canvas

        load_fonts()
        rl_config.useA85 = 0  # compressed bytes as they are, not a quarter longer as letters
        self._file = io.BytesIO()
        self._pdf: Any = Canvas(
            self._file, pageCompression=1, invariant=1, lang=language, initialFontName=REGULAR
        )
        self._pdf.setTitle(printed(title))
        self._pdf.setSubject(printed(subject))
        for set_name in (self._pdf.setAuthor, self._pdf.setCreator, self._pdf.setProducer):
            set_name(_PRODUCER)
        # Readers offer to print at 100 % then, and not to fit the page.
        self._pdf.setViewerPreference("PrintScaling", "None")
        self._pages = self._entries = 0  # the library knows titles by their keys
        self.missing: set[str] = set()

    def add_page(self, width_mm: float, height_mm: float, key: str) -> PdfPage:
        """Begins a page and ends the one before; links find it by its key."""
        if self._pages:
            self._pdf.showPage()
        self._pages += 1
        self._pdf.setPageSize((width_mm * _POINTS, height_mm * _POINTS))
        self._pdf.bookmarkPage(key)
        return PdfPage(self._pdf, self.missing)

    def add_outline(self, title: str, level: int = 0) -> None:
        """An entry of the outline beside the pages, which leads to the page begun last.

        The level is 0 for chapters, which are shown closed, and 1 for what is in them.
        """
        self._entries += 1
        key = f"outline-{self._entries}"
        self._pdf.bookmarkPage(key)
        self._pdf.addOutlineEntry(printed(title), key, level, closed=True)

    def finish(self) -> bytes:
        """Ends the last page; the file."""
        self._pdf.save()
        return self._file.getvalue()


class PdfPage:
    """A page of a book: a `fabkit.output.canvas.Canvas` with links and pictures."""

    def __init__(self, pdf: Any, missing: set[str]) -> None:
        self._pdf = pdf
        self._missing = missing
        pdf.scale(_POINTS, _POINTS)

    @contextmanager
    def shrunk(self, at: tuple[float, float], scale: float) -> Iterator[None]:
        """What is drawn meanwhile has its origin at a point, and is drawn at one to `scale`."""
        self._pdf.saveState()
        self._pdf.translate(*at)
        self._pdf.scale(1 / scale, 1 / scale)
        yield
        self._pdf.restoreState()

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """A filled area; every ring after the first is a hole or a part of its own."""
        path = self._pdf.beginPath()
        for ring in rings:
            self._follow(path, ring)
            path.close()
        self._paint(path, style, style.get("fill", "#000000"))

    def line(self, points: Points, **style: str) -> None:
        """A line from point to point, which is not closed."""
        path = self._pdf.beginPath()
        self._follow(path, points)
        self._paint(path, style, "none")

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """A circle around a point."""
        path = self._pdf.beginPath()
        path.circle(x, y, radius)
        self._paint(path, style, style.get("fill", "#000000"))

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """A line of text, beginning at a point on its base line."""
        classes = style.get("class_", "").split()
        bold = "title" in classes
        words = printed(text)
        self._missing.update(set(words) - characters_of(bold))
        words = drawable(words, bold)
        width = text_width_mm(words, size_mm, bold)
        left = x - width * {"middle": 0.5, "end": 1.0}.get(style.get("text_anchor", ""), 0.0)
        self._pdf.saveState()
        self._fill(style, style.get("fill", LIGHT.quiet if "quiet" in classes else LIGHT.ink))
        self._pdf.setFont(BOLD if bold else REGULAR, size_mm)
        self._pdf.drawString(left, y, words)
        self._pdf.restoreState()

    def link(self, x: float, y: float, width: float, height: float, key: str, says: str) -> None:
        """An area from its lower left corner that leads to a page; screen readers say what it says."""
        self._pdf.linkRect(printed(says), key, (x, y, x + width, y + height), Border="[0 0 0]")

    def picture(self, png: bytes, x: float, y: float, width: float, height: float) -> None:
        """A PNG picture, as large as it can be in a box, in its middle.

        Raises:
            ValueError: when it is no picture.
        """
        from PIL import Image, UnidentifiedImageError
        from reportlab.lib.utils import ImageReader

        try:
            with Image.open(io.BytesIO(png)) as found:
                flat = Image.new("RGB", found.size, LIGHT.paper)
                clear = found.convert("RGBA")
                flat.paste(clear, mask=clear)
        except UnidentifiedImageError:
            raise ValueError("expected a PNG picture") from None
        scale = min(width / flat.width, height / flat.height)
        wide, high = flat.width * scale, flat.height * scale
        left, bottom = x + (width - wide) / 2, y + (height - high) / 2
        self._pdf.drawImage(ImageReader(flat), left, bottom, wide, high)

    def _paint(self, path: Any, style: dict[str, str], fill: str) -> None:
        """Fills and strokes a path as a style says."""
        stroke = style.get("stroke", "none")
        self._pdf.saveState()
        if fill != "none":
            self._fill(style, fill)
        if stroke != "none":
            self._pdf.setStrokeColorRGB(*_rgb(stroke))
            self._pdf.setStrokeAlpha(float(style.get("stroke_opacity", "1")))
            self._pdf.setLineWidth(float(style.get("stroke_width", "1")))
            self._pdf.setLineJoin(_JOINS[style.get("stroke_linejoin", "miter")])
            self._pdf.setLineCap(_CAPS[style.get("stroke_linecap", "butt")])
            dashes = style.get("stroke_dasharray", "").replace(",", " ").split()
            self._pdf.setDash([float(dash) for dash in dashes])
        even_odd = 0
        self._pdf.drawPath(path, int(stroke != "none"), int(fill != "none"), even_odd)
        self._pdf.restoreState()

    def _fill(self, style: dict[str, str], colour: str) -> None:
        self._pdf.setFillColorRGB(*_rgb(colour))
        self._pdf.setFillAlpha(float(style.get("fill_opacity", "1")))

    @staticmethod
    def _follow(path: Any, points: Points) -> None:
        """Leads a path from point to point."""
        for place, (x, y) in enumerate(points):
            (path.lineTo if place else path.moveTo)(x, y)


def _rgb(colour: str) -> tuple[float, ...]:
    """The channels of ``#rrggbb``, from 0 to 1."""
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
