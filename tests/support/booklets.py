"""Booklets read back: their pages as pixels, their texts, fonts, links and outline."""

from __future__ import annotations

import html
import re
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, RectangleObject

from fabkit.build.entries import Selection, gather
from fabkit.core.files import read_json
from fabkit.model.entry import Entry
from fabkit.model.library import load_set, shipped_folder
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.output.booklet.book import Booklet, booklet

MM_PER_INCH = 25.4
#: Texts stay so far inside their page; and so many points around it are searched for others.
SPARE_MM, BEYOND = 3.0, 2000.0
#: How far from its warm grey a pixel of a silhouette may be; edges of dark lines are a plain grey.
NEAR = 6


def some(name: str, *ids: str) -> list[Entry]:
    """Challenges of a shipped set with their solutions."""
    return list(gather(load_set(name), Selection(only=ids)))


def made(name: str, *ids: str, profile: Profile | None = None, **more: Any) -> Booklet:
    """A booklet of a shipped set."""
    return booklet(load_set(name), some(name, *ids), profile or load_profile(), **more)


def drawn_outlines(challenge: str) -> Any:
    """A challenge of FridgeIQ as its files draw it, in grid units: read here a second time."""
    for entry in read_json(shipped_folder() / "catalogs" / "fridgeiq.json")["challenges"]:
        if entry["id"] == challenge:
            return shapely.union_all([shapely.Polygon(o[0], o[1:]) for o in entry["outlines"]])
    text = (shipped_folder() / "fridgeiq.toml").read_text(encoding="utf-8")
    found = {one["id"]: one["outline"] for one in tomllib.loads(text)["challenge"]}
    return shapely.Polygon(found[challenge])


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
        return PdfReader(self.path)

    @cached_property
    def texts(self) -> list[str]:
        return [page.extract_text() for page in self.reader.pages]

    def size_mm(self, page: int) -> tuple[float, float]:
        """Width and height of a page, the first of which is 1."""
        box = self.reader.pages[page - 1].mediabox
        return tuple(float(side) / 72 * MM_PER_INCH for side in (box.width, box.height))

    def page_with(self, *texts: str) -> int:
        """The first page with all of these texts."""
        pages = [n for n, said in enumerate(self.texts, 1) if all(text in said for text in texts)]
        assert pages, f"no page says {texts}"
        return pages[0]

    def pixels(self, page: int, dpi: int = 300) -> Any:
        """A page as rows of pixels, of red, green and blue."""
        target = self.path.with_name(f"page-{page}")
        at = ["-f", str(page), "-l", str(page), "-singlefile"]
        subprocess.run(
            ["pdftoppm", "-r", str(dpi), "-png", *at, str(self.path), str(target)], check=True
        )
        with Image.open(target.with_suffix(".png")) as image:
            return np.asarray(image.convert("RGB")).astype(np.int16)

    def parts(self, page: int, pixels: Any) -> list[Any]:
        """The parts of a page that belong to one challenge each: below the link to its solution."""
        height, boxes = self.size_mm(page)[1], []
        annotations: Any = self.reader.pages[page - 1].get("/Annots") or []
        for one in annotations:
            left, bottom, *_ = (
                float(side) / 72 * MM_PER_INCH for side in one.get_object()["/Rect"]
            )
            boxes.append((round(height - bottom), round(left)))
        tops, columns = sorted({box[0] for box in boxes}), sorted({box[1] for box in boxes})
        scale, wide = pixels.shape[0] / height, pixels.shape[1] / len(columns)
        ends = [*(top - 12 for top in tops[1:]), height]
        return [
            pixels[
                round(top * scale) : round(ends[tops.index(top)] * scale),
                round(columns.index(left) * wide) : round((columns.index(left) + 1) * wide),
            ]
            for top, left in sorted(boxes)
        ]

    def links(self, page: int) -> list[tuple[str, int]]:
        """Where the links of a page lead: what they say, and the page's number."""
        found = []
        annotations: Any = self.reader.pages[page - 1].get("/Annots") or []
        for one in annotations:
            link = one.get_object()
            target = link["/Dest"].get_object()
            if isinstance(target, DictionaryObject):
                target = target["/D"]
            number = self.reader.get_page_number(target[0].get_object())
            found.append((str(link.get("/Contents", "")), (number or 0) + 1))
        return found

    def fonts(self) -> list[tuple[str, bool]]:
        """The fonts by name, and whether each is embedded."""
        told = subprocess.run(
            ["pdffonts", str(self.path)], check=True, capture_output=True, text=True
        ).stdout
        rows = [line.split() for line in told.splitlines()[2:]]
        return [(row[0], row[-5] == "yes") for row in rows]

    def words(self) -> list[tuple[int, str, tuple[float, ...], tuple[float, float]]]:
        """Every word with its page, its box from the upper left and the page's size, in mm."""
        # What lies beyond a page is left out by pdftotext: so the pages are made larger first.
        wider = PdfWriter(clone_from=self.path)
        for page in wider.pages:
            page.mediabox = RectangleObject(
                (-BEYOND, -BEYOND, page.mediabox.right + BEYOND, page.mediabox.top + BEYOND)
            )
        target = self.path.with_name("wider.pdf")
        wider.write(target)
        # It writes titles with emoji in bytes that are not UTF-8.
        told = subprocess.run(
            ["pdftotext", "-bbox", str(target), "-"], check=True, capture_output=True
        ).stdout.decode(errors="replace")
        found, number = [], 0
        for line in told.splitlines():
            number += "<page " in line
            if "<word " in line:
                sides = re.findall(r'[xy]M\w+="([-\d.]+)"', line)
                box = tuple((float(side) - BEYOND) / 72 * MM_PER_INCH for side in sides)
                word = html.unescape(re.sub("<[^>]*>", "", line).strip())
                found.append((number, word, box, self.size_mm(number)))
        return found


def faults_of_words(read: Read) -> list[str]:
    """Words that are not wholly on their page, with a little to spare."""
    return [
        f"page {page}: {word}"
        for page, word, (left, top, right, bottom), (width, height) in read.words()
        if min(left, top) < SPARE_MM or right > width - SPARE_MM or bottom > height - SPARE_MM
    ]


@dataclass(frozen=True)
class Measured:
    """A silhouette as it was printed, with the line around it and without, in mm and mm2."""

    outer_mm: tuple[float, float]
    outer_mm2: float
    inner_mm2: float


def silhouette(pixels: Any, dpi: int, colour: str = "#b5b0a4") -> Measured:
    """Measures the one area of a colour on a page, with the line around it."""
    mm = MM_PER_INCH / dpi
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    inner = (abs(pixels - wanted) <= NEAR).all(axis=2)
    # Edges of grey letters have that colour, too, but nowhere for as much as half a millimetre.
    solid = inner
    for axis in (0, 1):
        half = round(0.12 / mm)
        solid = np.logical_and.reduce([np.roll(solid, k * half, axis) for k in range(-2, 3)])
    rows, columns = np.flatnonzero(solid.any(axis=1)), np.flatnonzero(solid.any(axis=0))
    assert len(rows), "there is no silhouette"
    # Around it nothing else is drawn for two millimetres.
    margin = round(2.0 / mm)
    part = tuple(slice(max(one[0] - margin, 0), one[-1] + margin) for one in (rows, columns))
    inner, outer = inner[part], pixels[part].mean(axis=2) < 215
    spans = [np.flatnonzero(outer.any(axis=axis))[[0, -1]] for axis in (0, 1)]
    wide, high = (float(last - first + 1) * mm for first, last in spans)
    return Measured((wide, high), float(outer.sum() * mm**2), float(inner.sum() * mm**2))


def differs(measured: Measured, drawn: Any, unit_mm: float) -> list[str]:
    """What is wrong with a silhouette: more than 0.2 mm of its size, or 0.5 % of its area."""
    left, bottom, right, top = drawn.bounds
    # The line lies half inside and half outside, and is round at corners.
    line_mm = (measured.outer_mm2 - measured.inner_mm2) / (drawn.length * unit_mm)
    told = []
    for name, outer_mm, wanted in zip(
        ("width", "height"), measured.outer_mm, (right - left, top - bottom), strict=True
    ):
        if abs(outer_mm - line_mm - wanted * unit_mm) > 0.2:
            told.append(f"{name} {outer_mm - line_mm:.2f} mm instead of {wanted * unit_mm:.2f}")
    found, area = (measured.outer_mm2 + measured.inner_mm2) / 2, drawn.area * unit_mm**2
    if abs(found / area - 1) > 0.005:
        told.append(f"area {found:.1f} mm2 instead of {area:.1f}")
    return told


def bar_mm(pixels: Any, dpi: int) -> float:
    """The length of the scale bar: between the middles of its ticks, above its longest line."""
    dark = pixels.mean(axis=2) < 120
    longest = [_longest_run(row) for row in dark]
    row = int(np.argmax(longest))
    above = dark[row - round(1.0 / MM_PER_INCH * dpi)]
    begin = _run_at(dark[row], longest[row])
    ends = [begin, begin + longest[row]]
    reach = round(0.6 / MM_PER_INCH * dpi)
    middles = [
        np.flatnonzero(above[end - reach : end + reach]).mean() + end - reach for end in ends
    ]
    return float(middles[1] - middles[0]) / dpi * MM_PER_INCH


def _longest_run(row: Sequence[bool]) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], np.asarray(row, int), [0]))))
    return int(max(edges[1::2] - edges[::2], default=0))


def _run_at(row: Sequence[bool], length: int) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], np.asarray(row, int), [0]))))
    starts, ends = edges[::2], edges[1::2]
    return int(starts[list(ends - starts).index(length)])
