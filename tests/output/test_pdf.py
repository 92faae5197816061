"""PDF pages to draw on: what lands where, in which colours and letters, and nothing that runs."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from fabkit.output.pdf import PdfPage, draw_pdf, page_in_mm
from fabkit.output.theme import LIGHT, REPLACEMENT
from fabkit.output.typeset import single_line, text_width_mm
from tests.support.booklets import Read

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[..., Read]:
    """Draws one page of 40 x 30 mm."""

    def draw(drawing: Callable[[PdfPage], None]) -> Read:
        return Read.of(draw_pdf("A title", "A subject", [(40, 30, drawing)]), tmp_path)

    return draw


def test_areas_lines_and_pictures_lie_where_they_are_drawn(drawn: Callable[..., Read]) -> None:
    file = io.BytesIO()
    Image.new("RGBA", (20, 10), (255, 0, 0, 255)).save(file, "PNG")

    def draw(page: PdfPage) -> None:
        outer, hole = [(2, 2), (10, 2), (10, 10), (2, 10)], [(4, 4), (8, 4), (8, 8), (4, 8)]
        page.polygon([outer, hole], fill="#ff0000")
        page.circle(15, 5, 4, fill="#ff0000", fill_opacity="0.5")
        page.circle(25, 5, 4, fill="none", stroke="#00ff00", stroke_width="1")
        page.line([(2, 20), (18, 20)], stroke="#0000ff", stroke_width="2")
        with page.scaled((30, 2), 2):
            page.polygon([[(0, 0), (8, 0), (8, 8), (0, 8)]], fill="#ff0000")
        page.picture(file.getvalue(), 20, 12, 10, 10)
        page.polygon([[(34, 24), (38, 24), (38, 28), (34, 28)]], fill="#0000ff")

    read = drawn(draw)
    assert read.size_mm(1) == pytest.approx((40, 30), abs=0.001)
    pixels = read.pixels(1, 127)  # five a millimetre

    def at(x: float, y: float) -> tuple[int, ...]:
        return tuple(pixels[round((30 - y) * 5), round(x * 5)].tolist())

    for colour, places in {
        RED: [(3, 3), (9, 9), (31, 3), (33, 5), (25, 15), (25, 19)],
        GREEN: [(29, 5), (25, 9)],
        BLUE: [(10, 19.4), (10, 20.6), (36, 26)],
        WHITE: [(1, 1), (6, 6), (25, 5), (10, 21.4), (35, 7), (25, 13), (25, 21)],
    }.items():
        expected = pytest.approx(colour, abs=4)  # of 255: edges are blended
        assert [at(*place) for place in places] == [expected] * len(places), colour
    assert at(15, 5) == pytest.approx((255, 128, 128), abs=2)
    ring = (pixels[100:, :55] == RED).all(axis=2)
    assert ring.sum() / 25 == pytest.approx(48, rel=0.02)


@pytest.mark.parametrize(("units", "both"), [(5.0, False), (8.0, True)])
def test_a_light_line_never_hides_the_dark_one_below(
    units: float, both: bool, drawn: Callable[..., Read]
) -> None:
    """As the joints of a board with this grid unit in mm; viewers widen hairlines to a pixel."""

    def draw(page: PdfPage) -> None:
        ring = [(5.0, 5.0), (35.0, 5.0), (35.0, 25.0), (5.0, 25.0)]
        page.polygon([[(0, 0), (40, 0), (40, 30), (0, 30)]], fill="#ff0000")
        for role, width in (("edge", 0.05), ("joint", 0.014)):
            stroke = {"stroke_width": f"{width * units:.2f}", **LIGHT.lined(role)}
            page.polygon([ring], fill="none", **stroke)

    read = drawn(draw)
    pixels = read.pixels(1, 400)[20:-20, 20:-20]
    assert (pixels[:, :, 2].max() > 200) == both
    low = read.pixels(1, 100)
    middle = low[low.shape[0] // 2]
    for side in (middle[: len(middle) // 2], middle[len(middle) // 2 :]):
        assert side[:, 0].min() < 120 or both  # the dark line shows on the left and on the right


def test_texts_are_as_wide_as_they_are_measured(drawn: Callable[..., Read]) -> None:
    size = 3 * 15 / text_width_mm("HHH", 3, bold=True)
    assert text_width_mm("HHH", size, bold=True) == pytest.approx(15)

    def draw(page: PdfPage) -> None:
        for y, anchor in ((25, "start"), (17, "middle"), (9, "end")):
            page.text(20, y, "HHH", size, class_="title", text_anchor=anchor)
        page.text(2, 1, "I", 6, class_="quiet")

    read = drawn(draw)
    for (_, word, box), begin, y in zip(read.words(), (20, 12.5, 5), (25, 17, 9), strict=False):
        left, top, right, bottom = box
        assert word == "HHH"
        assert (left, right) == pytest.approx((begin, begin + 15), abs=0.05)
        assert top < 30 - y < bottom
    fonts = [("AAAAAA+OpenSans", True), ("AAAAAA+OpenSans-Bold", True)]
    assert sorted(read.fonts()) == fonts
    quiet = read.pixels(1, 508)[-120:, 40:].min(axis=(0, 1))
    assert f"#{bytes(quiet.astype(np.uint8)).hex()}" == LIGHT.quiet


TEXTS = {
    "<script>alert(1)</script>": "",
    ") Tj ET /JS (app.alert) (": "",
    "\\) \\n \\000 &lt;b&gt; %PDF-1.4 endobj": "",
    "100 % – Größe “ß” ½ × №": "",
    "a\u202eb\u2066c\u200bd\x00e\x1bf\ng\th\u2028i\ufeff\u00adj\ud800k\u00a0l": "abcdef g h ijk l",
    "a א b": f"a {REPLACEMENT} b",
}


def test_any_text_is_shown_as_it_is(drawn: Callable[..., Read]) -> None:
    for text, shown in TEXTS.items():
        read = drawn(lambda page, text=text: page.text(1, 20, text, 1.2))
        assert read.texts[0].strip() == (shown or text)
        catalog: Any = read.reader.trailer["/Root"]
        assert not {"/OpenAction", "/AA", "/Names", "/AcroForm"} & set(catalog)


def test_characters_that_the_font_lacks_are_replaced_and_named() -> None:
    missing: set[str] = set()
    with page_in_mm(Canvas(io.BytesIO()), missing) as page:
        page.text(1, 20, "a א 中 🧩 b", 2)
        page.text(1, 10, "a", 2, class_="title")
    assert missing == set("א中🧩")
    assert text_width_mm("א中🧩", 2) == text_width_mm(REPLACEMENT * 3, 2)
    assert single_line("e\u0301") == "é"


def test_pages_and_what_the_file_says_of_itself(tmp_path: Path) -> None:
    def made() -> bytes:
        pages = [
            (40.0, 30.0, lambda page: None),
            (60.0, 30.0, lambda page: page.text(1, 1, "a", 3)),
        ]
        return draw_pdf("A <title>", "A subject", pages)

    read = Read.of(made(), tmp_path)
    assert made() == read.path.read_bytes()
    assert [round(read.size_mm(page)[0], 3) for page in (1, 2)] == [40, 60]
    metadata: Any = read.reader.metadata
    assert (metadata.title, metadata.subject, metadata.author, metadata.producer) == (
        "A <title>", "A subject", "fabkit", "fabkit",
    )  # fmt: skip
    catalog: Any = read.reader.trailer["/Root"]
    assert (catalog["/Lang"], catalog["/ViewerPreferences"]["/PrintScaling"]) == ("en", "/None")
