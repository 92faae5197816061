"""The README's pictures: one that is out of date is noticed."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fabkit.cli.main import app
from tests.conftest import ROOT

SCRIPTS = ROOT / "scripts" / "pictures"
README = (ROOT / "README.md").read_text()
GALLERY = "output/gallery/"


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script beside the list."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module("gallery")
    del sys.modules["gallery"]


# --- compared -----------------------------------------------------------------------------------


def picture(path: Path, spots: int = 0, by: int = 40) -> None:
    pixels = np.full((60, 96, 3), 200, dtype=np.uint8)
    pixels.reshape(-1, 3)[:spots] -= by
    Image.fromarray(pixels).save(path)


DRAWING = '<svg width="{}mm"><path fill="red" d="M{} 0" />\n<text>{}</text></svg>'


def compared(gallery: Any, folder: Path, kind: str | None = None, known: Any = ()) -> Any:
    """What a comparison says of the pictures in a folder's ``made`` and ``kept``."""
    list_file = folder / "list.toml"
    list_file.write_text(
        '[pictures]\n"a.png" = { command = "a" }\n"b.svg" = { command = "b" }\n'
        '"c.svg" = { command = "c", varies = true }\n'
    )
    pictures = gallery.wanted(list_file)
    gallery.write_kind(pictures, folder / "kept")
    if kind is not None:
        (folder / "kept" / gallery.KIND_FILE).write_text(kind)
    return gallery.compare(pictures, folder / "made", folder / "kept", known)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two folders of the same pictures."""
    for name in ("made", "kept"):
        (tmp_path / name).mkdir()
        picture(tmp_path / name / "a.png")
        (tmp_path / name / "b.svg").write_text(DRAWING.format(10, 1, "b"))
        (tmp_path / name / "c.svg").write_text(DRAWING.format(10, 1, "c"))
    return tmp_path


def test_the_same_pictures_are_up_to_date(gallery: Any, folder: Path) -> None:
    found = compared(gallery, folder)
    assert (found.faults, found.notes) == ([], [])
    assert compared(gallery, folder, "Plan9 vax") == found


@pytest.mark.parametrize("kind", [None, "", "Plan9 vax"])
def test_a_changed_drawing_is_noticed_everywhere(
    gallery: Any, folder: Path, kind: str | None
) -> None:
    (folder / "made" / "b.svg").write_text(DRAWING.format(10, 1.001, "b"))
    (fault,) = compared(gallery, folder, kind).faults
    assert fault.startswith("b.svg: line 1 has ")
    assert re.search("'[^']*M1 0.*should have '[^']*M1.001 0", fault)
    (folder / "kept" / "b.svg").unlink()
    assert compared(gallery, folder, kind).faults == ["b.svg: is not there"]


def test_one_changed_pixel_is_noticed_on_the_same_machine(gallery: Any, folder: Path) -> None:
    picture(folder / "made" / "a.png", 1, by=1)
    assert compared(gallery, folder).faults == ["a.png: 1 pixels differ, by at most 1 of 255"]
    with Image.open(folder / "kept" / "a.png") as image:
        image.save(folder / "made" / "a.png", compress_level=0)
    assert compared(gallery, folder).faults == [
        "a.png: its pixels are the same, but packed otherwise"
    ]


def test_elsewhere_pictures_that_look_alike_will_do(gallery: Any, folder: Path) -> None:
    picture(folder / "made" / "a.png", 1, by=20)
    (folder / "made" / "c.svg").write_text(DRAWING.format(10, 77, "c"))
    found = compared(gallery, folder, "Plan9 vax")
    assert found.faults == []
    assert [note.split(";")[0] for note in found.notes] == [
        f"{name}: looks as it did on Plan9 vax" for name in ("a.png", "c.svg")
    ]
    assert len(compared(gallery, folder).faults) == 2


@pytest.mark.parametrize(
    "drawing",
    [
        DRAWING.format(10, 1, "d"),
        DRAWING.format(11, 1, "c"),
        '<svg width="10mm"><text>c</text></svg>',
    ],
)
def test_elsewhere_pictures_that_show_something_else_will_not_do(
    gallery: Any, folder: Path, drawing: str
) -> None:
    picture(folder / "made" / "a.png", 400)
    (folder / "made" / "c.svg").write_text(drawing)
    found = compared(gallery, folder, "Plan9 vax")
    assert [fault.split(":")[0] for fault in found.faults] == ["a.png", "c.svg"]
    assert found.notes == []


def test_a_picture_of_another_size_is_noticed(gallery: Any, folder: Path) -> None:
    Image.new("RGB", (96, 61)).save(folder / "made" / "a.png")
    (fault,) = compared(gallery, folder, "Plan9 vax").faults
    assert fault == "a.png: is 96 x 60 RGB, and should be 96 x 61 RGB"


def test_a_picture_that_nothing_draws_is_noticed(gallery: Any, folder: Path) -> None:
    (folder / "kept" / "old.png").write_bytes(b"")
    known = {"a.png", "b.svg", "c.svg", gallery.KIND_FILE}
    (fault,) = compared(gallery, folder, known=known).faults
    assert fault.startswith("old.png: no command draws it")


def test_a_folder_that_is_not_there_lacks_every_picture(gallery: Any, folder: Path) -> None:
    listed = gallery.wanted(ROOT / "scripts/pictures/list.toml")
    found = gallery.compare(listed, folder / "made", folder / "nowhere", {"a.png"})
    assert found.faults == [f"{one.file}: is not there" for one in listed]


# --- the list -----------------------------------------------------------------------------------


def test_every_picture_of_the_readme_is_drawn_by_a_command(gallery: Any) -> None:
    shown = re.findall(rf"\]\({GALLERY}([^)]+)\)", README)
    listed = [one.file for one in gallery.wanted()]
    assert shown
    assert set(shown) <= set(listed)
    assert len(listed) == len(set(listed))


def test_the_list_speaks_of_commands_that_exist(gallery: Any) -> None:
    known = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}
    for one in gallery.wanted():
        words = shlex.split(one.command)
        assert words[0] in known
        assert ("{folder}" in one.command) == bool(one.take), one.file
        assert ("{file}" in one.command) != bool(one.take), one.file
        assert not one.page or one.take.endswith(".pdf")


def test_a_picture_is_drawn_and_a_failing_command_is_told(
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
    for lines, faults in (([machine, reader], 1), ([machine, "pdftoppm version 0"], 0)):
        kind.write_text("\n".join(lines))
        found = gallery.compare([page], folder / "made", folder / "kept")
        assert (len(found.faults), len(found.notes)) == (faults, 1 - faults)


def test_a_page_of_a_pdf_file_is_drawn(gallery: Any, tmp_path: Path) -> None:
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not there")
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
