"""Booklets are measured on their pages: shapes and pieces at full size, the bar, what is scaled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fabkit.model.entry import Entry
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.output.booklet.book import booklet
from tests.support.booklets import Read, bar_mm, differs, drawn_outlines, made, silhouette, some

DPI = 300
UNIT_MM = 20.0
#: Several on one page, sharp tips, holes, parts of their own, and pieces on two lattices.
BOXES = ("square_02", "square_03", "triangle_04")
FLAKES = ("even4-02febfb20e", "mixed1-3-2910d98921")
#: 11 cells wide: on A4 it needs a larger page.
WIDE = "odd5-1690ad596e"


def shown_on(read: Read, page: int, ids: Sequence[str]) -> list[str]:
    """The ids of the challenges on a page, in its order."""
    words = re.findall(r"[a-z]+[a-z0-9_-]*", read.texts[page - 1])
    return [word for word in words if word in ids]


def faults(read: Read, ids: Sequence[str], unit_mm: float = UNIT_MM, dpi: int = DPI) -> list[str]:
    """What is wrong with the silhouettes of a booklet of FridgeIQ."""
    told, seen = [], set()
    for page, text in enumerate(read.texts, start=1):
        if "Solution: page" not in text:
            continue
        here, parts = shown_on(read, page, ids), read.parts(page, read.pixels(page, dpi))
        assert len(here) == len(parts), f"page {page}"
        for name, part in zip(here, parts, strict=True):
            seen.add(name)
            wrong = differs(silhouette(part, dpi), drawn_outlines(name), unit_mm)
            told += [f"{name}: {one}" for one in wrong]
    return told + [f"{name}: not shown" for name in ids if name not in seen]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return some("fridgeiq", *BOXES, *FLAKES)


@pytest.fixture(scope="module")
def read(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Read:
    pdf = booklet(load_set("fridgeiq"), entries, load_profile()).pdf
    return Read.of(pdf, tmp_path_factory.mktemp("booklet"))


def test_silhouettes_are_as_large_as_what_they_are_drawn_after(read: Read) -> None:
    assert faults(read, (*BOXES, *FLAKES)) == []


def test_small_challenges_share_a_page(read: Read) -> None:
    pages = range(1, len(read.texts) + 1)
    assert {len(shown_on(read, page, BOXES)) for page in pages} == {0, 1, 2}


def test_another_unit_is_noticed(entries: list[Entry], tmp_path: Path) -> None:
    few = [entry for entry in entries if entry.id == "square_02"]
    other = booklet(load_set("fridgeiq"), few, replace(load_profile(), unit_mm=19.9)).pdf
    found = faults(Read.of(other, tmp_path), ["square_02"])
    assert any("width 79.6" in one for one in found)
    assert any("area" in one for one in found)
    assert faults(Read.of(other, tmp_path), ["square_02"], unit_mm=19.9) == []


def test_a_filled_hole_and_a_missing_shape_are_noticed(
    entries: list[Entry], tmp_path: Path
) -> None:
    two = [entry for entry in entries if entry.id in ("square_02", FLAKES[0])]
    filled = [
        replace(entry, region=frozenset().union(*(other.region for other in two)))
        if entry.id == FLAKES[0]
        else entry
        for entry in two
    ]
    found = faults(
        Read.of(booklet(load_set("fridgeiq"), filled, load_profile()).pdf, tmp_path),
        [*(entry.id for entry in two), "square_05"],
    )
    assert any(one.startswith(f"{FLAKES[0]}: area") for one in found)
    assert found[-1] == "square_05: not shown"


def test_the_bar_is_100_mm(read: Read) -> None:
    page = read.page_with("This bar is 100 mm long")
    assert bar_mm(read.pixels(page, DPI), DPI) == pytest.approx(100, abs=0.1)


def test_a_bar_of_another_length_is_noticed(read: Read) -> None:
    pixels = read.pixels(read.page_with("This bar is 100 mm long"), DPI)
    assert abs(bar_mm(pixels, DPI + 2) - 100) > 0.1


def test_pieces_are_as_large_as_they_are_printed(read: Read) -> None:
    """Piece A is an L of 2 x 2 units, 0.1 mm smaller on each side, and its tip a flat of 1 mm."""
    page = read.page_with("This bar is 100 mm long")
    pixels = read.pixels(page, DPI)
    measured = silhouette(pixels, DPI, load_set("fridgeiq").piece("A").colour)
    # Its line is 0.2 mm wide.
    assert measured.outer_mm[1] - 0.2 == pytest.approx(39.8, abs=0.15)
    assert 38.0 < measured.outer_mm[0] - 0.2 < 39.8


def test_a_large_shape_gets_a_page_to_fold_in_at_full_size(tmp_path: Path) -> None:
    one = made("fridgeiq", WIDE)
    read = Read.of(one.pdf, tmp_path)
    assert (one.paper, one.notes) == ("a4", ("1 challenge has a larger page to fold in: A3",))
    page = read.page_with("Solution: page", "Fold-out page, A3: 297 × 420 mm")
    assert read.size_mm(page) == pytest.approx((297, 420), abs=0.01)
    assert faults(read, [WIDE]) == []
    assert {read.size_mm(n) for n in range(1, one.pages + 1) if n != page} == {read.size_mm(1)}
    assert "of A3" in read.texts[1]


@pytest.mark.long
def test_a_shape_beyond_all_pages_is_drawn_smaller_and_says_so(tmp_path: Path) -> None:
    profile = replace(load_profile(), unit_mm=100)
    one = made("fridgeiq", "square_05", "square_01", profile=profile)
    read = Read.of(one.pdf, tmp_path)
    assert one.notes == (
        "1 challenge has a larger page to fold in: A2",
        "11 pieces have larger pages to fold in: A3",
        "square_05 is too large for full size and drawn smaller",
    )
    page = read.page_with("square_05", "Scale 1 : 2.5. Too large for full size")
    shape = drawn_outlines("square_05")
    assert differs(silhouette(read.pixels(page, DPI), DPI), shape, 100 / 2.5) == []
    full = read.page_with("square_01", "Fold-out page, A2")
    assert differs(silhouette(read.pixels(full, DPI), DPI), drawn_outlines("square_01"), 100) == []
    assert "Scale" not in read.texts[full - 1]


@pytest.mark.parametrize(
    "step", [pytest.param(6, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.long)]
)
def test_every_silhouette_of_fridgeiq_is_at_full_size(step: int, tmp_path: Path) -> None:
    every = [one for one in some("fridgeiq") if one.solution]
    assert len(every) == 39 + 146
    every = every[::step]
    one = booklet(load_set("fridgeiq"), every, load_profile())
    assert faults(Read.of(one.pdf, tmp_path), [entry.id for entry in every]) == []
