"""The page as rough hands have it: two windows, other sets, odd sets, long lists, small screens."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from fabkit.model.entry import Entry, entry_of
from fabkit.model.piece import at_anchor
from fabkit.model.puzzle import PuzzleSet
from fabkit.model.setfile import read_set
from tests.support import browser
from tests.support.playpages import Player, entries_of, kept, some_of_fridgeiq, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [browser.needed, pytest.mark.long]

TRIANGLE = ("fridgeiq", "triangle_01")
#: Bars of five squares and of one: upright they are much longer than their region is high.
BARS = """
[set]
name = "bars"
title = "Bars"
lattice = "square"
moves = "rotations"

[[piece]]
id = "long"
colour = "#e69f00"
outline = [[0, 0], [5, 0], [5, 1], [0, 1]]

[[piece]]
id = "dot"
colour = "#0072b2"
outline = [[0, 0], [1, 0], [1, 1], [0, 1]]

[[challenge]]
id = "line"
outline = [[0, 0], [6, 0], [6, 1], [0, 1]]

[[challenge]]
id = "one"
pieces = ["long"]
outline = [[0, 0], [5, 0], [5, 1], [0, 1]]
"""


def bars(folder: Path) -> tuple[PuzzleSet, list[Entry]]:
    path = folder / "bars.toml"
    path.write_text(BARS)
    puzzle = read_set(path)
    return puzzle, [entry_of(one) for one in puzzle.challenges]


# --- what is kept -----------------------------------------------------------------------------


def test_two_windows_keep_what_both_have_done(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = some_of_fridgeiq()
    url = write_page(tmp_path, puzzle, entries)
    with browser.opened(chromium, f"{url}#given") as first:
        second = first.context.new_page()
        complaints = browser.watched(second)
        second.goto(f"{url}#triangle_01")
        first.bring_to_front()
        player = Player(first, puzzle, entries[1])
        for piece in player.free:
            player.lay(piece)
        assert player.solved
        second.bring_to_front()
        second.wait_for_timeout(100)  # it hears of the other
        assert second.locator("#play-tally").inner_text() == "1 of 10 solved"
        second.locator("[data-do=hint]").click()
        first.bring_to_front()
        first.locator("[data-do=undo]").click()
        first.reload()
        assert first.locator("#play-tally").inner_text() == "1 of 10 solved"
        second.bring_to_front()
        second.reload()
        assert second.locator("#play-board .piece:not(.gone)").count() == 1
        assert complaints == []


def test_a_changed_challenge_is_another_one(chromium: Browser, tmp_path: Path) -> None:
    """So is one of a set with the same name: all pages on a disk may share what is kept."""
    puzzle, (entry,) = entries_of(*TRIANGLE)
    with browser.opened(chromium, write_page(tmp_path / "a", puzzle, [entry])) as page:
        player = Player(page, puzzle, entry)
        for piece in player.free:
            player.lay(piece)
        assert player.solved
        _, (other,) = entries_of("fridgeiq", "square_05")
        page.goto(write_page(tmp_path / "b", puzzle, [replace(other, id=entry.id)]))
        assert page.locator("#play-tally").inner_text() == "0 of 1 solved"
        assert page.locator("#play-board .piece:not(.gone)").count() == 0
        page.locator("[data-do=hint]").click()
        page.goto(write_page(tmp_path / "c", replace(puzzle, title="New"), [entry], "de"))
        assert player.solved


def test_what_a_newer_page_keeps_is_not_lost(chromium: Browser, tmp_path: Path) -> None:
    newer = '{"schema": 2, "solved": "in a way of which nothing is known"}'
    with browser.opened(chromium, write_page(tmp_path, *entries_of(*TRIANGLE))) as page:
        page.evaluate("(text) => localStorage.setItem('fabkit/fridgeiq', text)", newer)
        page.reload()
        page.locator("[data-do=hint]").click()
        assert page.locator("#play-board .piece:not(.gone)").count() == 1
        assert page.locator("#play-unkept").is_visible()
        assert kept(page, "fridgeiq") == json.loads(newer)


# --- odd sets ---------------------------------------------------------------------------------


def test_a_long_piece_stays_in_reach_and_can_be_steered(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = bars(tmp_path)
    line = replace(entries[0], solution=solution_of_line(puzzle))
    with browser.opened(chromium, write_page(tmp_path, puzzle, [line])) as page:
        piece = page.locator('#play-board .piece[data-piece="long"]')
        board = page.locator("#play-board")
        page.locator('#play-tray .slot[data-piece="long"]').focus()
        for key in ("Enter", "r"):
            page.keyboard.press(key)
        for key in ("ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"):
            places = set()
            for _ in range(12):
                page.keyboard.press(key)
                places.add(piece.get_attribute("style"))
            inner, outer = piece.locator(".body").bounding_box(), board.bounding_box()
            assert inner
            assert outer
            assert inner["x"] >= outer["x"] - 2
            assert inner["y"] >= outer["y"] - 2
            assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 2
            assert inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 2
            assert len(places) > 1 or key in ("ArrowUp", "ArrowDown")  # it just fits upright
        browser.pictured(page, "play-long")
        page.keyboard.press("Escape")
        player = Player(page, puzzle, line)
        for one in ("long", "dot"):
            player.lay_by_keys(one)
        assert player.solved


def solution_of_line(puzzle: PuzzleSet) -> dict[str, frozenset[tuple[int, int]]]:
    line = next(one for one in puzzle.challenges if one.id == "line")
    last = max(line.region)
    return {"long": line.region - {last}, "dot": frozenset({last})}


def test_one_piece_and_one_challenge(chromium: Browser, tmp_path: Path) -> None:
    puzzle, (_, one) = bars(tmp_path)
    long = puzzle.piece("long")
    cells = next(
        form.cells for form in long.forms if at_anchor(puzzle.lattice, form.cells) == form.cells
    )
    region = at_anchor(puzzle.lattice, one.region)
    assert cells == region
    alone = replace(puzzle, pieces=(long,))
    entry = replace(one, region=region, solution={"long": cells})
    with browser.opened(chromium, write_page(tmp_path, alone, [entry])) as page:
        player = Player(page, alone, entry)
        assert not page.locator(".challenge button").first.is_visible()
        player.lay("long")
        assert player.solved
        assert not page.locator("#play-done button").is_visible()


def test_five_hundred_challenges(chromium: Browser, tmp_path: Path) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    many = [replace(entry, id=f"c{n}", title=f"Challenge {n} {'🧩' * 3}") for n in range(500)]
    with browser.opened(chromium, write_page(tmp_path, puzzle, many) + "#c499") as page:
        assert page.locator("#play-tally").inner_text() == "0 of 500 solved"
        assert page.locator("#play-title").inner_text().startswith("Challenge 499")
        assert page.locator(".card[aria-current]").is_visible()
        page.locator("[data-do=hint]").click()
        assert page.locator("#play-board .piece:not(.gone)").count() == 1


LONG_WORD = "Donaudampfschifffahrts" * 5


@pytest.mark.parametrize("width", [320, 640])
def test_long_words_fit_a_narrow_window(chromium: Browser, tmp_path: Path, width: int) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    puzzle = replace(puzzle, title=LONG_WORD, credit=LONG_WORD, licence="🧩" * 90)
    url = write_page(tmp_path, puzzle, [replace(entry, title=LONG_WORD)], "de")
    with browser.opened(chromium, url, viewport={"width": width, "height": 500}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        cut = page.locator(".tool span").evaluate_all(
            "all => all.filter(e => e.scrollWidth > e.parentElement.clientWidth).length"
        )
        assert cut == 0


# --- where one is -----------------------------------------------------------------------------


def test_a_chosen_challenge_comes_into_sight(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = some_of_fridgeiq()
    phone: dict[str, Any] = {"viewport": browser.PHONE, "has_touch": True, "is_mobile": True}
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries), **phone) as page:
        page.locator("#play-list .card").nth(3).tap()
        page.wait_for_timeout(100)
        box = page.locator("#play-title").bounding_box()
        assert box
        assert 0 <= box["y"] < browser.PHONE["height"] / 3
        assert page.evaluate("document.activeElement.id") == "play-title"
        assert page.evaluate("location.hash") != ""


def test_the_focus_is_not_lost_with_the_challenge(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = some_of_fridgeiq()
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        for _ in entries[0].pieces:
            page.locator("[data-do=hint]").click()
        page.locator("#play-done [data-do=next]").click()
        assert page.evaluate("document.activeElement.id") == "play-title"
        page.locator(".challenge [data-do=next]").click()
        assert page.evaluate("document.activeElement.dataset.do") == "next"


def test_the_focus_follows_the_shape_of_a_piece(chromium: Browser, tmp_path: Path) -> None:
    """Pixels of the ring lie along the edges, and none in the empty corner of a triangle's box."""
    puzzle, (entry,) = entries_of(*TRIANGLE)
    with browser.opened(chromium, write_page(tmp_path, puzzle, [entry])) as page:
        player = Player(page, puzzle, entry)
        piece = "I"
        player.lay(piece)
        page.keyboard.press("r")  # from now on the keyboard is used
        page.keyboard.press("Shift+R")
        drawn = page.locator("#play-board")
        with_focus = pixels(drawn.screenshot())
        page.evaluate("document.activeElement.blur()")
        without = pixels(drawn.screenshot())
        changed = np.abs(with_focus - without).max(axis=2) > 60
        assert changed.sum() > 800
        box, board = player.on_board(piece).locator(".body").bounding_box(), drawn.bounding_box()
        assert box
        assert board
        left, top = round(box["x"] - board["x"]), round(box["y"] - board["y"])
        wide, high = round(box["width"]), round(box["height"])
        quarters = [
            changed[top + v : top + v + high // 4, left + u : left + u + wide // 4].sum()
            for v in (-8, high - high // 4 + 8)
            for u in (-8, wide - wide // 4 + 8)
        ]
        assert min(quarters) == 0  # the corner that the triangle does not fill
        assert sum(count > 0 for count in quarters) == 3


def pixels(shot: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(shot)) as image:
        return np.asarray(image.convert("RGB"), dtype=int)


def test_a_taken_piece_leaves_its_outline(chromium: Browser, tmp_path: Path) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    with browser.opened(chromium, write_page(tmp_path, puzzle, [entry])) as page:
        player = Player(page, puzzle, entry)
        traces = page.locator("#play-tray .trace")
        assert [one.is_visible() for one in traces.all()] == [False] * 3
        before = [player.in_tray(one).bounding_box() for one in player.free]
        player.lay(player.free[0])
        assert sorted(one.is_visible() for one in traces.all()) == [False, False, True]
        rest = [player.in_tray(one).bounding_box() for one in player.free[1:]]
        assert rest == before[1:]


def test_a_sheet_is_white_though_the_page_is_dark(chromium: Browser, tmp_path: Path) -> None:
    url = write_page(tmp_path, *entries_of(*TRIANGLE))
    with browser.opened(chromium, url, color_scheme="dark") as page:
        assert pixels(page.screenshot())[-5, -5].max() < 60
        page.emulate_media(media="print", color_scheme="dark")
        assert pixels(page.screenshot())[-5, -5].min() == 255
