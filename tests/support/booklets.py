"""Booklets read back: their pages as pixels, their texts, fonts, links and outline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageFilter

from fabkit.model.puzzle import Entry
from fabkit.puzzles.entries import Selection, gather
from fabkit.sets.library import load_set

if TYPE_CHECKING:
    from pypdf import PdfReader

MM_PER_POINT = 25.4 / 72
#: The colour of silhouettes.
TINT = "#e4e0d6"
#: Texts stay so far inside their page.
SPARE_MM = 3.0


def some(name: str, *ids: str) -> list[Entry]:
    """Challenges of a shipped set with their solutions."""
    return list(gather(load_set(name), Selection(only=ids)))


@dataclass
class Read:
    """A booklet that was written to a file."""

    path: Path

    @classmethod
    def of(cls, pdf: bytes, folder: Path) -> Read:
        path = folder / "booklet.pdf"
        path.write_bytes(pdf)
        return cls(path)

    @cached_property
    def reader(self) -> PdfReader:
        from pypdf import PdfReader

        return PdfReader(self.path)

    @cached_property
    def texts(self) -> list[str]:
        return [page.extract_text() for page in self.reader.pages]

    def size_mm(self, page: int) -> tuple[float, float]:
        """Width and height of a page, the first of which is 1."""
        box = self.reader.pages[page - 1].mediabox
        return float(box.width) * MM_PER_POINT, float(box.height) * MM_PER_POINT

    def page_with(self, *texts: str) -> int:
        """The first page with all of these texts."""
        pages = [n for n, page in enumerate(self.texts, 1) if all(text in page for text in texts)]
        assert pages, f"no page says {texts}"
        return pages[0]

    def pixels(self, page: int, dpi: int = 300) -> Any:
        """A page as rows of pixels, of red, green and blue."""
        from pypdfium2 import PdfDocument

        with PdfDocument(self.path) as document:
            bitmap = document[page - 1].render(scale=dpi / 72, rev_byteorder=True)
            return bitmap.to_numpy()[:, :, :3].astype(np.int16)

    def _links(self, page: int) -> list[Any]:
        annotations: Any = self.reader.pages[page - 1].get("/Annots") or []
        return [one.get_object() for one in annotations]

    def parts(self, page: int, pixels: Any) -> list[Any]:
        """The parts of a page that belong to one challenge each: below the link to its solution.

        They come in rows, from the upper left. Texts of a row begin at one height.
        """
        width, height = self.size_mm(page)
        boxes = []
        for link in self._links(page):
            left, bottom, _, top = (float(side) * MM_PER_POINT for side in link["/Rect"])
            boxes.append((round(height - top), round(left), height - bottom))
        tops = sorted({top for top, _, _ in boxes})
        scale = pixels.shape[0] / height
        parts = []
        for top, left, text_end in sorted(boxes):
            end = next((other - 2 for other in tops if other > top), height)
            row = sorted(other for other_top, other, _ in boxes if other_top == top)
            right = next((other - 2 for other in row if other > left), width)
            rows = slice(round(text_end * scale), round(end * scale))
            parts.append(pixels[rows, round((left - 2) * scale) : round(right * scale)])
        return parts

    def blank_share(self, page: int) -> float:
        """The share of a page's height that its highest blank band takes, from margin to margin."""
        pixels = self.pixels(page, 72)
        height = len(pixels)
        inked = (pixels < 245).any(axis=(1, 2))
        first, last = (round(height * part / self.size_mm(page)[1]) for part in (12, -12))
        rows = np.flatnonzero(inked[: height + last])
        return float(np.diff([first, *rows[rows > first], height + last]).max() / height)

    def links(self, page: int) -> list[tuple[str, int]]:
        """Where the links of a page lead: what they say, and the page's number."""
        from pypdf.generic import DictionaryObject

        found = []
        for link in self._links(page):
            target = link["/Dest"].get_object()
            if isinstance(target, DictionaryObject):
                target = target["/D"]
            number = self.reader.get_page_number(target[0].get_object())
            found.append((str(link.get("/Contents", "")), (number or 0) + 1))
        return found

    def fonts(self) -> list[tuple[str, bool]]:
        """The fonts by name, and whether each is embedded."""
        fonts = [
            font.get_object()
            for page in self.reader.pages
            for font in page["/Resources"].get("/Font", {}).values()  # type: ignore[union-attr]
        ]
        return sorted(
            {
                (font["/BaseFont"][1:], "/FontFile2" in font.get("/FontDescriptor", ()))
                for font in fonts
            }
        )

    def words(self) -> list[tuple[int, str, tuple[float, ...]]]:
        """Every word with its page and its box from the upper left, in mm."""
        from pypdfium2 import PdfDocument

        with PdfDocument(self.path) as document:
            return [
                (number, word, box)
                for number, page in enumerate(document, 1)
                for word, box in _words_on(page)
            ]

    def faults_of_words(self) -> list[str]:
        """Words that are not wholly on their page, with a little to spare."""
        found = []
        for page, word, (left, top, right, bottom) in self.words():
            width, height = self.size_mm(page)
            if min(left, top, width - right, height - bottom) < SPARE_MM:
                found.append(f"page {page}: {word}")
        return found


def _words_on(page: Any) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The words on a page, also beyond its edges, with their boxes from the upper left in mm."""
    from pypdfium2.raw import FPDFText_GetUnicode

    text = page.get_textpage()
    height = page.get_height()
    letters = "".join(chr(FPDFText_GetUnicode(text, index)) for index in range(text.count_chars()))
    for word in re.finditer(r"\S+", letters):
        characters = [text.get_charbox(index, loose=True) for index in range(*word.span())]
        lefts, bottoms, rights, tops = zip(*characters, strict=True)
        box = (min(lefts), height - max(tops), max(rights), height - min(bottoms))
        yield word[0], tuple(side * MM_PER_POINT for side in box)


@dataclass(frozen=True)
class Measured:
    """A printed silhouette, with and without the line around it, in mm and mm2."""

    outer_mm: tuple[float, float]
    outer_mm2: float
    inner_mm2: float

    def differs(self, drawn: Any, unit_mm: float, most_mm: float = 0.2) -> list[str]:
        """What is wrong with it: more than `most_mm` of its size, or 0.5 % of it and of its area."""
        left, bottom, right, top = (side * unit_mm for side in drawn.bounds)
        # The line lies half inside and half outside, and is round at corners.
        line_mm = (self.outer_mm2 - self.inner_mm2) / (drawn.length * unit_mm)
        wide, high = (side - line_mm for side in self.outer_mm)
        area, wanted = (self.outer_mm2 + self.inner_mm2) / 2, drawn.area * unit_mm**2
        return [
            f"{name} {found:.2f} instead of {should:.2f}"
            for name, found, should, most in (
                ("width", wide, right - left, most_mm),
                ("height", high, top - bottom, most_mm),
                ("area", area, wanted, 0.005 * wanted),
            )
            if abs(found - should) > most
        ]


def silhouette(pixels: Any, dpi: float, colour: str = "#b5b0a4") -> Measured:
    """Measures the one area of a colour on a page, with the line around it."""
    mm = 25.4 / dpi
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    inner = (abs(pixels - wanted) <= 6).all(axis=2)  # the edges of dark lines are a plain grey
    # Edges of grey letters have that colour, too, but nowhere for as much as half a millimetre.
    solid = np.asarray(Image.fromarray(inner).convert("L").filter(ImageFilter.MinFilter(5)))
    rows, columns = np.flatnonzero(solid.any(axis=1)), np.flatnonzero(solid.any(axis=0))
    assert len(rows), "there is no silhouette"
    # Around it nothing else is drawn for two millimetres.
    margin = round(2.0 / mm)
    part = tuple(slice(max(one[0] - margin, 0), one[-1] + margin) for one in (rows, columns))
    inner, outer = inner[part], pixels[part].mean(axis=2) < 230
    spans = [np.flatnonzero(outer.any(axis=axis))[[0, -1]] for axis in (0, 1)]
    wide, high = (float(last - first + 1) * mm for first, last in spans)
    return Measured((wide, high), float(outer.sum() * mm**2), float(inner.sum() * mm**2))


def longest_line_mm(pixels: Any, dpi: int) -> float:
    """The longest level line of dark pixels."""
    dark = pixels.mean(axis=2) < 120
    rows = dark[dark.sum(axis=1) > 0.2 * dark.shape[1]]
    edges = [np.flatnonzero(np.diff(row.astype(int))) for row in rows]
    return max(int(max(one[1::2] - one[::2], default=0)) for one in edges) * 25.4 / dpi
