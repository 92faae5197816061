"""PDF pages in mm with the shipped fonts, by ReportLab: single, or imposed on sheets to fold."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from reportlab import rl_config
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfdoc import PDFResourceDictionary
from reportlab.pdfgen.canvas import Canvas

from fabkit.core.colours import rgb
from fabkit.output.canvas import Points
from fabkit.output.theme import LIGHT
from fabkit.output.typeset import (
    BOLD,
    REGULAR,
    font_characters,
    register_fonts,
    replace_missing_glyphs,
    single_line,
    text_width_mm,
)

#: Points of 1/72 inch in a millimetre.
MM = 72 / 25.4
#: Light lines inside dark ones are omitted if thinner: viewers draw each line at least a pixel
#: wide, so that it would hide most of the dark one.
_HAIRLINE_MM = 0.09
#: The joins of lines: their names in SVG, and their numbers in PDF.
_JOINS = {"miter": 0, "round": 1, "bevel": 2}
#: The same for the ends of lines.
_CAPS = {"butt": 0, "round": 1, "square": 2}


@contextmanager
def page_in_mm(canvas: Any, missing: set[str], scale: float = 1.0) -> Iterator[PdfPage]:
    """Draw on a canvas in mm, 1 to `scale`; add characters that the fonts lack to `missing`."""
    canvas.saveState()
    canvas.scale(MM / scale, MM / scale)
    yield PdfPage(canvas, missing)
    canvas.restoreState()


def draw_pdf(
    title: str, subject: str, pages: Iterable[tuple[float, float, Callable[[PdfPage], None]]]
) -> bytes:
    """Draw a PDF file of single pages in English: width and height in mm, and what draws each.

    Example:
        >>> draw_pdf("A page", "an example", [(148, 210, lambda page: page.circle(74, 105, 20))])[:5]
        b'%PDF-'
    """  # noqa: E501
    register_fonts()
    file = io.BytesIO()
    canvas = PageCanvas(file, pageCompression=1, invariant=1, lang="en", initialFontName=REGULAR)
    canvas.setTitle(single_line(title))
    canvas.setSubject(single_line(subject))
    for name in (canvas.setAuthor, canvas.setCreator, canvas.setProducer):
        name("fabkit")
    for width_mm, height_mm, draw in pages:
        canvas.setPageSize((width_mm * MM, height_mm * MM))
        with page_in_mm(canvas, set()) as page:
            draw(page)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


class PageCanvas(Canvas):
    """A canvas of single pages. Equal pages give equal bytes."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        rl_config.useA85 = 0  # binary streams; ASCII85 is a quarter longer
        super().__init__(*arguments, **settings)
        # So that PDF readers print at 100% by default instead of fitting the page.
        self.setViewerPreference("PrintScaling", "None")


class ImposedCanvas(PageCanvas):
    """A canvas that imposes pages, two on each side of sheets to fold and staple in the middle.

    Every page becomes a form first. In the end all are placed on the sheets, whose size is in mm,
    with blank pages up to a multiple of four. Links and the outline are omitted.
    """

    def __init__(self, size: tuple[float, float], file: Any, **settings: Any) -> None:
        super().__init__(file, **settings)
        self._sheet = (size[0] * MM, size[1] * MM)
        self._made = 0
        self.setViewerPreference("Duplex", "DuplexFlipShortEdge")
        self.beginForm("page-1")

    def showPage(self) -> None:
        """End a page."""
        self._made += 1
        self._end()
        self.beginForm(f"page-{self._made + 1}")

    def save(self) -> None:
        """Place the pages on their sheets and write the file."""
        self._end()  # the page after the last, which is empty
        wide, high = self._pagesize
        for left, right in imposition_order(self._made):
            self.setPageSize(self._sheet)
            for page, x in ((left, self._sheet[0] / 2 - wide), (right, self._sheet[0] / 2)):
                if page <= self._made:
                    self.saveState()
                    self.translate(x, (self._sheet[1] - high) / 2)
                    self.doForm(f"page-{page}")
                    self.restoreState()
            super().showPage()
        super().save()

    def _end(self) -> None:
        """End a form with all its resources: ReportLab omits the transparency states."""
        resources = PDFResourceDictionary()
        resources.basicFonts()
        resources.allProcs()
        resources.XObject = self._doc.xobjDict(self._formsinuse)
        if state := self._extgstate.getState():
            resources.ExtGState = state
        self.endForm(Resources=resources)

    def bookmarkPage(self, *arguments: Any, **settings: Any) -> None:
        """Do nothing: sheets are not read on a screen."""

    addOutlineEntry = linkRect = bookmarkPage


def imposition_order(pages: int) -> list[tuple[int, int]]:
    """Return the left and right page on each side of the sheets, front and back in turn.

    Numbers beyond the last page are blank pages.

    Example:
        >>> imposition_order(7)
        [(8, 1), (2, 7), (6, 3), (4, 5)]
    """
    last = -(-pages // 4) * 4
    sides = [(last - index, index + 1) for index in range(last // 2)]
    return [side[::-1] if index % 2 else side for index, side in enumerate(sides)]


class PdfPage:
    """A page in mm: a `fabkit.output.canvas.Canvas` that also draws PNG images."""

    def __init__(self, pdf: Any, missing: set[str]) -> None:
        self._pdf = pdf
        self._missing = missing

    @contextmanager
    def scaled(self, origin: tuple[float, float], scale: float) -> Iterator[None]:
        """Draw 1 to `scale` with the origin at a point, inside the context."""
        self._pdf.saveState()
        self._pdf.translate(*origin)
        self._pdf.scale(1 / scale, 1 / scale)
        yield
        self._pdf.restoreState()

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """Draw a filled area with the even-odd rule: holes and further parts are rings, too."""
        self._paint(self._path(rings, closed=True), style)

    def line(self, points: Points, **style: str) -> None:
        """Draw an open polyline."""
        self._paint(self._path([points]), style | {"fill": "none"})

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """Draw a circle around a point."""
        path = self._pdf.beginPath()
        path.circle(x, y, radius)
        self._paint(path, style)

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """Draw a line of text that begins at a point on its baseline."""
        classes = style.get("class_", "").split()
        bold = "title" in classes
        line = single_line(text)
        self._missing.update(set(line) - font_characters(bold))
        before = {"middle": 0.5, "end": 1.0}.get(style.get("text_anchor", ""), 0.0)
        left = x - text_width_mm(line, size_mm, bold) * before
        self._pdf.saveState()
        self._fill(style, style.get("fill", LIGHT.quiet if "quiet" in classes else LIGHT.ink))
        self._pdf.setFont(BOLD if bold else REGULAR, size_mm)
        self._pdf.drawString(left, y, replace_missing_glyphs(line, bold))
        self._pdf.restoreState()

    def picture(self, png: bytes, x: float, y: float, width: float, height: float) -> None:
        """Draw a PNG image as large as fits, centred in a box."""
        from PIL import Image

        with Image.open(io.BytesIO(png)) as image:
            clear = image.convert("RGBA")
        flat = Image.new("RGB", clear.size, LIGHT.paper)
        flat.paste(clear, mask=clear)
        box = {"width": width, "height": height, "preserveAspectRatio": True}
        self._pdf.drawImage(ImageReader(flat), x, y, **box)

    def _paint(self, path: Any, style: dict[str, str]) -> None:
        fill, stroke = style.get("fill", "#000000"), style.get("stroke", "none")
        width_mm = float(style.get("stroke_width", "1"))
        if width_mm < _HAIRLINE_MM and "joint-line" in style.get("class_", "").split():
            return
        self._pdf.saveState()
        if fill != "none":
            self._fill(style, fill)
        if stroke != "none":
            self._pdf.setStrokeColorRGB(*rgb(stroke))
            self._pdf.setStrokeAlpha(float(style.get("stroke_opacity", "1")))
            self._pdf.setLineWidth(width_mm)
            self._pdf.setLineJoin(_JOINS[style.get("stroke_linejoin", "miter")])
            self._pdf.setLineCap(_CAPS[style.get("stroke_linecap", "butt")])
            dashes = style.get("stroke_dasharray", "").replace(",", " ").split()
            self._pdf.setDash([float(dash) for dash in dashes])
        self._pdf.drawPath(path, int(stroke != "none"), int(fill != "none"), fillMode=0)  # even-odd
        self._pdf.restoreState()

    def _fill(self, style: dict[str, str], colour: str) -> None:
        self._pdf.setFillColorRGB(*rgb(colour))
        self._pdf.setFillAlpha(float(style.get("fill_opacity", "1")))

    def _path(self, rings: Sequence[Points], closed: bool = False) -> Any:
        """Return a path of rings or polylines."""
        path = self._pdf.beginPath()
        for ring in rings:
            for index, (x, y) in enumerate(ring):
                (path.lineTo if index else path.moveTo)(x, y)
            if closed:
                path.close()
        return path
