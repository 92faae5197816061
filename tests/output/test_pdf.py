"""PDF pages to draw on: what lands where, in which colours and letters, and nothing that runs."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fabkit.core.errors import OutsideError
from fabkit.output import typeset as module
from fabkit.output.booklet.pdf import PdfBook, PdfPage
from fabkit.output.canvas import Canvas
from fabkit.output.theme import LIGHT, REPLACEMENT, font_file
from fabkit.output.typeset import printed, text_width_mm
from tests.support.booklets import Read

DPI = 127  # five pixels a millimetre
RED, WHITE = (255, 0, 0), (255, 255, 255)


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[..., Read]:
    """Draws one page of 40 x 30 mm."""

    def draw(*drawing: Callable[[PdfPage], None]) -> Read:
        book = PdfBook("A title", "A subject", "de")
        page = book.add_page(40, 30, "one")
        for step in drawing:
            step(page)
        return Read.of(book.finish(), tmp_path)

    return draw


def at(read: Read, x: float, y: float) -> tuple[int, ...]:
    """The colour at a point, y up."""
    pixels = read.pixels(1, DPI)
    return tuple(int(one) for one in pixels[round((30 - y) * 5), round(x * 5)])


def test_a_page_is_a_canvas() -> None:
    canvas: Canvas = PdfBook("", "", "en").add_page(10, 10, "one")
    assert canvas


def test_areas_have_holes_and_lie_where_they_are_drawn(drawn: Callable[..., Read]) -> None:
    outer = [(5, 5), (35, 5), (35, 25), (5, 25)]
    hole = [(15, 10), (25, 10), (25, 20), (15, 20)]
    read = drawn(lambda page: page.polygon([outer, hole], fill="#ff0000"))
    assert read.size_mm(1) == pytest.approx((40, 30), abs=0.001)
    assert [at(read, x, y) for x, y in ((6, 6), (20, 15), (34, 24), (4, 4))] == [
        RED,
        WHITE,
        RED,
        WHITE,
    ]
    mask = (read.pixels(1, DPI) == RED).all(axis=2)
    assert mask.sum() / 25 == pytest.approx(500, rel=0.01)


def test_opacity_and_strokes(drawn: Callable[..., Read]) -> None:
    read = drawn(
        lambda page: page.circle(10, 10, 5, fill="#ff0000", fill_opacity="0.5"),
        lambda page: page.line([(5, 25), (35, 25)], stroke="#0000ff", stroke_width="2"),
        lambda page: page.circle(30, 10, 5, fill="none", stroke="#00ff00", stroke_width="1"),
    )
    assert at(read, 10, 10) == pytest.approx((255, 128, 128), abs=2)
    assert [at(read, 20, y) for y in (25.6, 24.4, 26.4)] == [(0, 0, 255), (0, 0, 255), WHITE]
    assert [at(read, x, 10) for x in (30, 35)] == [WHITE, (0, 255, 0)]


def test_what_is_shrunk_is_smaller_about_its_origin(drawn: Callable[..., Read]) -> None:
    def draw(page: PdfPage) -> None:
        with page.shrunk((10, 10), 2):
            page.polygon([[(0, 0), (20, 0), (20, 20), (0, 20)]], fill="#ff0000")
        page.polygon([[(30, 20), (35, 20), (35, 25), (30, 25)]], fill="#ff0000")

    read = drawn(draw)
    assert [at(read, x, y) for x, y in ((11, 11), (19, 19), (21, 21), (34, 24))] == [
        RED,
        RED,
        WHITE,
        RED,
    ]


@pytest.mark.parametrize(("anchor", "begin"), [("start", 20.0), ("middle", 12.5), ("end", 5.0)])
def test_texts_are_as_wide_as_they_are_measured(
    drawn: Callable[..., Read], anchor: str, begin: float
) -> None:
    size = 3 * 15 / text_width_mm("HHH", 3, bold=True)
    width = text_width_mm("HHH", size, bold=True)
    assert width == pytest.approx(15)
    read = drawn(lambda page: page.text(20, 10, "HHH", size, class_="title", text_anchor=anchor))
    ((_, word, (left, top, right, bottom), _),) = read.words()
    assert word == "HHH"
    assert (left, right) == pytest.approx((begin, begin + 15), abs=0.05)
    assert top < 30 - 10 < bottom
    assert read.fonts() == [("AAAAAA+OpenSans-Bold", True)]


def test_quiet_texts_are_grey(drawn: Callable[..., Read]) -> None:
    read = drawn(lambda page: page.text(2, 5, "I", 30, class_="quiet"))
    darkest = tuple(int(one) for one in read.pixels(1, DPI).min(axis=(0, 1)))
    assert f"#{bytes(darkest).hex()}" == LIGHT.quiet


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", '"quotes" and \'more\'', ") Tj ET /JS (app.alert) (",
        "\\) \\n \\000", "&lt;b&gt;", "%PDF-1.4 endobj", "100 % – Größe “ß” ½ × №",
    ],
)  # fmt: skip
def test_any_text_is_shown_as_it_is(drawn: Callable[..., Read], text: str) -> None:
    read = drawn(lambda page: page.text(1, 20, text, 1.2))
    assert read.texts[0].strip() == text
    catalog: Any = read.reader.trailer["/Root"]
    assert not {"/OpenAction", "/AA", "/Names", "/AcroForm"} & set(catalog)


def test_marks_that_steer_do_nothing(drawn: Callable[..., Read]) -> None:
    text = "a\u202eb\u2066c\u200bd\x00e\x1bf\ng\th\u2028i\ufeff\u00adj\ud800k\u00a0l"
    assert printed(text) == "abcdef g h ijk l"
    assert drawn(lambda page: page.text(1, 20, text, 2)).texts[0].strip() == "abcdef g h ijk l"
    assert printed("e\u0301") == "é"


def test_characters_that_the_font_lacks_are_replaced_and_named() -> None:
    book = PdfBook("", "", "en")
    page = book.add_page(40, 30, "one")
    page.text(1, 20, "a א 中 🧩 b", 2)
    page.text(1, 10, "a", 2, class_="title")
    assert book.missing == set("א中🧩")
    assert text_width_mm("א中🧩", 2) == text_width_mm(REPLACEMENT * 3, 2)


def test_replacements_can_be_seen(drawn: Callable[..., Read]) -> None:
    read = drawn(lambda page: page.text(1, 20, "a א b", 2))
    assert read.texts[0].strip() == f"a {REPLACEMENT} b"


def test_pictures_keep_their_shape(drawn: Callable[..., Read]) -> None:
    file = io.BytesIO()
    Image.new("RGBA", (20, 10), (255, 0, 0, 255)).save(file, "PNG")
    read = drawn(lambda page: page.picture(file.getvalue(), 10, 5, 20, 20))
    assert [at(read, 20, y) for y in (8, 11, 15, 19, 22)] == [WHITE, RED, RED, RED, WHITE]
    with pytest.raises(ValueError, match="expected a PNG picture"):
        drawn(lambda page: page.picture(b"no picture", 0, 0, 10, 10))


def test_pages_links_outline_and_what_the_file_says_of_itself(tmp_path: Path) -> None:
    book = PdfBook("A <title>", "A subject", "de")
    first = book.add_page(40, 30, "one")
    first.link(5, 5, 10, 4, "two", "to the second")
    book.add_outline("The book")
    book.add_outline("Chapter (1)")
    book.add_page(60, 30, "two")
    book.add_outline("Part \\ two", 1)
    read = Read.of(book.finish(), tmp_path)
    assert [round(read.size_mm(page)[0], 3) for page in (1, 2)] == [40, 60]
    assert read.links(1) == [("to the second", 2)]
    outline: Any = read.reader.outline
    assert [one.title for one in outline[:2]] == ["The book", "Chapter (1)"]
    assert outline[2][0].title == "Part \\ two"
    assert read.reader.get_destination_page_number(outline[2][0]) == 1
    told: Any = read.reader.metadata
    assert (told.title, told.subject, told.author, told.producer) == (
        "A <title>", "A subject", "fabkit", "fabkit",
    )  # fmt: skip
    catalog: Any = read.reader.trailer["/Root"]
    assert (catalog["/Lang"], catalog["/ViewerPreferences"]["/PrintScaling"]) == ("de", "/None")


def test_the_same_pages_give_the_same_bytes() -> None:
    def one() -> bytes:
        book = PdfBook("title", "subject", "en")
        book.add_page(40, 30, "one").text(1, 1, "some text", 3)
        return book.finish()

    assert one() == one()


@contextmanager
def fonts_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """Other fonts than the shipped ones."""
    monkeypatch.setattr(module, "font_file", lambda bold=False: folder / font_file(bold).name)
    module.load_fonts.cache_clear()
    yield
    monkeypatch.undo()
    module.load_fonts.cache_clear()


@pytest.mark.parametrize("kept", [0, 7, 300, 5000])
def test_damaged_fonts_are_told(kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However they are damaged: of some the library stumbles over the bytes themselves."""
    for bold in (False, True):
        whole = font_file(bold).read_bytes()
        (tmp_path / font_file(bold).name).write_bytes(whole[:kept] or b"no font")
    with (
        fonts_in(monkeypatch, tmp_path),
        pytest.raises(OutsideError, match=r"OpenSans-Regular\.ttf.*damaged; install fabkit again"),
    ):
        PdfBook("", "", "en")


def test_missing_fonts_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fonts_in(monkeypatch, tmp_path), pytest.raises(OutsideError, match="install fabkit again"):
        text_width_mm("a", 3)
