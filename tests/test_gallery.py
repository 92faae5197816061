"""The pictures of README and documentation: one that is out of date is noticed."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fabkit.cli.main import parser
from tests.conftest import ROOT
from tests.support import browser
from tests.support.docpages import EVERYTHING, README

SCRIPTS = ROOT / "scripts" / "pictures"
GALLERY = "output/gallery/"


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script beside the list."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module("gallery")
    del sys.modules["gallery"]


DRAWING = '<svg width="{}mm"><path fill="red" d="M{} 0" />\n<text>{}</text></svg>'
ELSEWHERE = "Plan9 vax"


def picture(path: Path, changed: int = 0, by: int = 40) -> None:
    pixels = np.full((60, 96, 3), 200, dtype=np.uint8)
    pixels.reshape(-1, 3)[:changed] -= by
    Image.fromarray(pixels).save(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two folders of the same pictures, and their list."""
    for name in ("made", "kept"):
        (tmp_path / name).mkdir()
        picture(tmp_path / name / "a.png")
        (tmp_path / name / "b.svg").write_text(DRAWING.format(10, 1, "b"))
        (tmp_path / name / "c.svg").write_text(DRAWING.format(10, 1, "c"))
    (tmp_path / "list.toml").write_text(
        '[pictures]\n"a.png" = { command = "a" }\n"b.svg" = { command = "b" }\n'
        '"c.svg" = { command = "c", varies = true }\n'
    )
    return tmp_path


def compared(gallery: Any, folder: Path, kind: str = "", known: Any = ()) -> tuple[list, list]:
    """Faults and notes of a comparison of ``made`` with ``kept``, which was drawn elsewhere if so
    marked.
    """
    pictures = gallery.wanted(folder / "list.toml")
    gallery.write_kind(pictures, folder / "kept")
    if kind:
        (folder / "kept" / gallery.KIND_FILE).write_text(kind)
    found = gallery.compare(pictures, folder / "made", folder / "kept", known)
    return found.faults, found.notes


def test_a_changed_drawing_is_noticed_everywhere(gallery: Any, folder: Path) -> None:
    for kind in ("", ELSEWHERE):
        assert compared(gallery, folder, kind) == ([], [])
    (folder / "made" / "b.svg").write_text(DRAWING.format(10, 1.001, "b"))
    for kind in ("", ELSEWHERE):
        ((fault,), _) = compared(gallery, folder, kind)
        assert fault.startswith("b.svg: line 1 has ")
        assert re.search("'[^']*M1 0.*should have '[^']*M1.001 0", fault)
    (folder / "kept" / "b.svg").unlink()
    assert compared(gallery, folder)[0] == ["b.svg: is not there"]


def test_one_changed_pixel_is_noticed_on_the_same_machine(gallery: Any, folder: Path) -> None:
    picture(folder / "made" / "a.png", 1, by=1)
    assert compared(gallery, folder)[0] == ["a.png: 1 pixels differ, by at most 1 of 255"]
    with Image.open(folder / "kept" / "a.png") as image:
        image.save(folder / "made" / "a.png", compress_level=0)
    same = "a.png: its pixels are the same, but packed otherwise"
    assert compared(gallery, folder)[0] == [same]
    Image.new("RGB", (96, 61)).save(folder / "made" / "a.png")
    size = "a.png: is 96 x 60 RGB, and should be 96 x 61 RGB"
    assert compared(gallery, folder, ELSEWHERE)[0] == [size]


def test_elsewhere_pictures_need_only_look_alike(gallery: Any, folder: Path) -> None:
    picture(folder / "made" / "a.png", 1, by=20)
    (folder / "made" / "c.svg").write_text(DRAWING.format(10, 77, "c"))
    alike = [f"{name}: looks as it did on {ELSEWHERE}" for name in ("a.png", "c.svg")]
    faults, notes = compared(gallery, folder, ELSEWHERE)
    assert (faults, [note.split(";")[0] for note in notes]) == ([], alike)
    assert len(compared(gallery, folder)[0]) == 2
    picture(folder / "made" / "a.png", 400)
    for drawing in (
        DRAWING.format(10, 1, "d"),
        DRAWING.format(11, 1, "c"),
        '<svg width="10mm"><text>c</text></svg>',
    ):
        (folder / "made" / "c.svg").write_text(drawing)
        faults, notes = compared(gallery, folder, ELSEWHERE)
        assert ([fault.split(":")[0] for fault in faults], notes) == (["a.png", "c.svg"], [])


def test_a_picture_that_nothing_draws_is_noticed(gallery: Any, folder: Path) -> None:
    (folder / "kept" / "old.png").write_bytes(b"")
    known = {"a.png", "b.svg", "c.svg", gallery.KIND_FILE}
    ((fault,), _) = compared(gallery, folder, known=known)
    assert fault.startswith("old.png: no command draws it")
    listed = gallery.wanted(ROOT / "scripts/pictures/list.toml")
    found = gallery.compare(listed, folder / "made", folder / "nowhere", {"a.png"})
    assert found.faults == [f"{one.file}: is not there" for one in listed]


def test_every_picture_of_the_pages_is_drawn_by_a_command(gallery: Any) -> None:
    shown = re.findall(rf"\]\((?:\.\./)*{GALLERY}([^)]+)\)", EVERYTHING)
    listed = [one.file for one in gallery.wanted()]
    assert set(re.findall(rf"\]\({GALLERY}([^)]+)\)", README.text)) <= set(shown)
    assert set(shown) == set(listed)
    assert len(listed) == len(set(listed))
    known = set(parser().commands)
    for one in gallery.wanted():
        words = shlex.split(one.command)
        assert words[0] in known
        is_served = one.shot == gallery.LINK
        assert ("{folder}" in one.command) == bool(one.take or one.shot) - is_served, one.file
        assert ("{file}" in one.command) != bool(one.take or one.shot), one.file
        assert not one.page or one.take.endswith(".pdf")


@pytest.mark.integration
def test_a_picture_is_drawn_and_a_failing_command_is_reported(
    gallery: Any, pair: str, tmp_path: Path
) -> None:
    wanted = gallery.Picture
    place = shlex.quote(str(tmp_path / pair))
    gallery.draw_all([wanted("pair.svg", f"show {place} -o {{file}}")], tmp_path)
    assert "<svg" in (tmp_path / "pair.svg").read_text()
    with pytest.raises(gallery.GalleryError, match=r"^none.svg: .*there is no set"):
        gallery.draw_all([wanted("none.svg", "show nonesuch -o {file}")], tmp_path)
    with pytest.raises(gallery.GalleryError, match="does not draw it"):
        gallery.draw_all([wanted("none.svg", "sets")], tmp_path)


def test_a_page_of_another_pdf_reader_need_only_look_alike(gallery: Any, folder: Path) -> None:
    page = gallery.Picture("a.png", "a", take="a.pdf", page=1, varies=True)
    machine, reader = gallery.drawn_on(page)
    assert reader
    picture(folder / "made" / "a.png", 1, by=20)
    kind = folder / "kept" / gallery.KIND_FILE
    for lines, faults in (([machine, reader], 1), ([machine, "pypdfium2 0"], 0)):
        kind.write_text("\n".join(lines))
        found = gallery.compare([page], folder / "made", folder / "kept")
        assert (len(found.faults), len(found.notes)) == (faults, 1 - faults)


def test_a_page_of_a_pdf_file_is_drawn(gallery: Any, tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    book = Canvas(str(tmp_path / "book.pdf"), pagesize=(200, 100))
    for grey in (1.0, 0.0):
        book.setFillGray(grey)
        book.rect(0, 0, 200, 100, stroke=0, fill=1)
        book.showPage()
    book.save()
    page = gallery.Picture("page.png", "", take="book.pdf", page=2, wide=80)
    gallery.draw_page(page, tmp_path / "book.pdf", tmp_path / "page.png")
    with Image.open(tmp_path / "page.png") as image:
        assert image.size == (80, 40)
        assert image.convert("L").getextrema() == (0, 0)


@browser.needed
def test_a_web_page_is_shown_on_its_day_in_its_window(gallery: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<style>:root { background: light-dark(white, black); color-scheme: light dark }</style><p>"
        "<script>if (location.hash != '#b' || new Date().getUTCFullYear() != 2026)"
        " document.write('elsewhere')</script>"
    )
    for dark, level in ((False, 255), (True, 0)):
        shot = gallery.Picture("a.png", "", shot="a.html#b", size=(80, 40), dark=dark)
        assert gallery.drawn_on(shot)[-1].startswith("Chromium ")
        gallery.draw_shot(shot, f"{(tmp_path / 'a.html').as_uri()}#b", tmp_path / "a.png")
        with Image.open(tmp_path / "a.png") as image:
            assert image.size == (80, 40)
            assert image.convert("L").getextrema() == (level, level)
