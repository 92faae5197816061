"""The page around the game: how it looks, what hostile texts do in it, and printing."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from fabkit.model.catalog import shipped_snowflakes
from fabkit.model.library import load_set
from fabkit.output.web.document import Download
from tests.support import browser
from tests.support.playpages import entries_of, some_of_fridgeiq, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [browser.needed, pytest.mark.integration]

TRIANGLE = ("fridgeiq", "triangle_01")
FILES = (Download("files/A.stl", "A.stl", "12 kB"), Download("files/all.3mf", "all.3mf"))


# --- loading ----------------------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [browser.PHONE, browser.TABLET, browser.DESKTOP])
def test_it_loads_clean_and_fits_the_window(
    chromium: Browser, tmp_path: Path, window: dict[str, int], scheme: str
) -> None:
    url = write_page(tmp_path, *some_of_fridgeiq(), downloads=FILES)
    with browser.opened(chromium, f"{url}#mixed", viewport=window, color_scheme=scheme) as page:
        assert page.locator("#play-list .card").count() == 10
        assert page.locator("#play-tray .slot").count() > 2
        for _ in range(2):
            page.locator("[data-do=hint]").click()
        assert page.evaluate("document.documentElement.scrollWidth") == window["width"]
        browser.pictured(page, f"play-{window['width']}-{scheme}", whole=True)
        assert unreadable(page) == []


def test_it_loads_clean_from_a_server(chromium: Browser, tmp_path: Path) -> None:
    write_page(tmp_path, *some_of_fridgeiq())
    with (
        browser.served(tmp_path) as address,
        browser.opened(chromium, address, address) as page,
    ):
        page.locator("[data-do=hint]").click()
        assert page.locator("#play-board .piece:not(.gone)").count() == 1
        assert page.evaluate("document.fonts.ready.then(() => document.fonts.size)") == 2


@pytest.mark.parametrize("language", ["en", "de", "it", "fr"])
def test_every_language_fits_a_phone(chromium: Browser, tmp_path: Path, language: str) -> None:
    url = write_page(tmp_path, *some_of_fridgeiq(), language, FILES)
    with browser.opened(chromium, url, viewport=browser.PHONE) as page:
        assert page.evaluate("document.documentElement.lang") == language
        assert page.evaluate("document.documentElement.scrollWidth") == browser.PHONE["width"]
        assert "{" not in page.locator("body").inner_text()
        assert "undefined" not in page.locator("body").inner_text()
        assert page.evaluate(ROOM) >= 4


#: The least room, in pixels, between a tool's label and the sides of its button.
ROOM = """() => Math.min(...[...document.querySelectorAll(".tool")].map((tool) => {
  const range = document.createRange();
  range.selectNodeContents(tool.querySelector("span"));
  const [label, button] = [range.getBoundingClientRect(), tool.getBoundingClientRect()];
  return Math.min(label.left - button.left, button.right - label.right);
}))"""


#: Every text that is seen, with its colour and that of what is behind it.
TEXTS = """() => {
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    const box = element.getBoundingClientRect();
    if (!text || box.width < 2 || element.closest("svg, noscript, .unseen, .skip, option")) continue;
    if (getComputedStyle(element).visibility === "hidden") continue;
    let back = element;
    while (/, 0\\)$|transparent/.test(getComputedStyle(back).backgroundColor)) back = back.parentElement;
    const { color } = getComputedStyle(element);
    seen.push([text, color, getComputedStyle(back).backgroundColor]);
  }
  return seen;
}"""


def luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def unreadable(page: Page) -> list[str]:
    """Texts at a contrast of less than 4.5 : 1."""
    texts = page.evaluate(TEXTS)
    assert len(texts) > 30
    found = []
    for text, ink, paper in texts:
        low, high = sorted((luminance(ink), luminance(paper)))
        if (high + 0.05) / (low + 0.05) < 4.5:
            found.append(f"{text}: {ink} on {paper}")
    return found


# --- hostile texts ----------------------------------------------------------------------------

NAMES = (
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    "</script><script>window.ran = 1</script>",
    "${window.ran = 1}{piece}&lt;b&gt;",
    "\u202egnirts desrever\u2067\u200f",
    "\u05e9\u05dc\u05d5\u05dd <b>",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_texts_are_text(chromium: Browser, tmp_path: Path, name: str) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    labelled = tuple(replace(piece, label=name) for piece in puzzle.pieces)
    puzzle = replace(puzzle, title=name, credit=name, licence=name, pieces=labelled)
    file = Download("files/A.stl", name, name)
    entry = replace(entry, id=f"an id {name}", title=name)
    url = write_page(tmp_path, puzzle, [entry], downloads=[file])
    with browser.opened(chromium, url) as page:
        assert page.evaluate("window.ran") is None
        assert page.locator("img, b").count() == 0
        assert page.locator("script").count() == page.locator("script[src]").count()
        seen = "".join(c for c in name if c.isprintable())
        assert seen in page.locator("#play-title").inner_text()
        assert page.locator("#play-list .card-title").inner_text() == seen
        for place in ("h1", "footer", ".downloads"):
            assert seen[:8] in page.locator(place).inner_text()
        head, tally = (page.locator(one).bounding_box() for one in ("h1", "#play-tally"))
        assert head
        assert tally
        assert head["x"] < tally["x"] or head["y"] < tally["y"]
        page.locator("[data-do=hint]").click()
        page.reload()
        assert page.locator("#play-board .piece:not(.gone)").count() == 1
        assert page.evaluate("window.ran") is None


# --- printing ---------------------------------------------------------------------------------


def test_a_printed_silhouette_is_as_large_as_the_pieces(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = entries_of("fridgeiq", "square_05")
    (entry,) = entries
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        page.pdf(path=tmp_path / "sheet.pdf", format="A4", print_background=False)
    dots = 200
    subprocess.run(
        ["pdftoppm", "-r", str(dots), "-png", "sheet.pdf", "sheet"], cwd=tmp_path, check=True
    )
    (picture,) = tmp_path.glob("sheet*.png")
    colours = np.asarray(Image.open(picture).convert("RGB")).astype(int)
    grey = np.abs(colours - [0xB5, 0xB0, 0xA4]).max(axis=2) < 8
    down, across = np.nonzero(grey)
    mm = 25.4 / dots
    side_mm = 20 * (len(entry.region) / 4) ** 0.5
    assert abs((across.max() - across.min() + 1) * mm - side_mm) < 0.3
    assert abs((down.max() - down.min() + 1) * mm - side_mm) < 0.3
    assert abs(grey.sum() * mm * mm / side_mm**2 - 1) < 0.005
    dark = (colours.max(axis=2) < 60).sum(axis=1)
    assert abs(dark.max() * mm - 100) < 0.5  # the bar


def test_what_is_too_large_for_a_sheet_says_so(chromium: Browser, tmp_path: Path) -> None:
    puzzle = load_set("fridgeiq")
    wide = next(
        one
        for one in shipped_snowflakes(puzzle)
        if max(x for x, _ in one.region) - min(x for x, _ in one.region) > 60 * one.halves
    )
    with browser.opened(chromium, write_page(tmp_path, puzzle, [wide])) as page:
        page.emulate_media(media="print")
        assert page.locator("#play-print-scale").inner_text().startswith("Too large for a sheet")
        assert not page.locator("#play-print-bar").is_visible()
