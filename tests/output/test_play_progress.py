"""What the page keeps, its tools, and its list of challenges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabkit.model.entry import Entry
from fabkit.model.puzzle import Given
from tests.support import browser
from tests.support.playpages import Player, entries_of, kept, kept_as, some_of_fridgeiq, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [browser.needed, pytest.mark.integration]

TRIANGLE = ("fridgeiq", "triangle_01")


# --- what is kept -----------------------------------------------------------------------------


def test_progress_outlives_a_reload(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = some_of_fridgeiq()
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        player = Player(page, puzzle, entries[0])
        first, second, _ = player.free
        player.lay(first)
        player.in_tray(second).focus()
        page.keyboard.press("r")
        page.locator("[data-do=hint]").click()
        before = [player.look(piece) for piece in player.free]
        shown = [player.on_board(piece).is_visible() for piece in player.free]
        page.goto(page.url.split("#")[0])
        assert [player.look(piece) for piece in player.free] == before
        assert [player.on_board(piece).is_visible() for piece in player.free] == shown
        for piece in player.free:
            if player.in_tray(piece).is_visible():
                player.lay(piece)
        assert page.locator("#play-say").inner_text() == "Solved, with 1 hint."
        page.reload()
        assert player.solved
        assert page.locator("#play-tally").inner_text() == "1 of 10 solved"
        assert kept(page, "fridgeiq")["solved"] == [[kept_as(page, entries[0]), 1]]


BROKEN = (
    "nonsense",
    "[]",
    "null",
    '{"schema": 2}',
    '{"schema": 1, "open": 7, "solved": {"a": 1}, "boards": [7, [], ["triangle_01"]]}',
    '{"schema": 1, "boards": [["triangle_01", 0, [["D", 99, 0, 0], ["Y", 0, 1, 1], ["I", -1],'
    ' ["__proto__", 0, 0, 0], ["Y", 0, 9e9, 6], 7, null]]]}',
)


def test_broken_progress_is_left_out(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = entries_of(*TRIANGLE)
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        for broken in BROKEN:
            text = broken.replace('["triangle_01"', f'["{kept_as(page, entries[0])}"')
            page.evaluate("(text) => localStorage.setItem('fabkit/fridgeiq', text)", text)
            page.reload()
            player = Player(page, puzzle, entries[0])
            assert all(player.in_tray(piece).is_visible() for piece in player.free)
        player.lay(player.free[0])
        assert kept(page, "fridgeiq")["open"] == "triangle_01"


def test_starting_again_begins_without_hints(chromium: Browser, tmp_path: Path) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    with browser.opened(chromium, write_page(tmp_path, puzzle, [entry])) as page:
        player = Player(page, puzzle, entry)
        for _ in player.free:
            page.locator("[data-do=hint]").click()
        assert player.said == "Solved, with 3 hints."
        assert kept(page, "fridgeiq")["solved"] == [[kept_as(page, entry), 3]]
        page.locator("[data-do=reset]").click()
        page.reload()  # what is kept of it is kept
        for piece in player.free:
            player.lay(piece)
        assert player.said == "Solved!"
        assert kept(page, "fridgeiq")["solved"] == [[kept_as(page, entry), 0]]


def test_undoing_the_new_start_brings_its_hints_back(chromium: Browser, tmp_path: Path) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    with browser.opened(chromium, write_page(tmp_path, puzzle, [entry])) as page:
        for tool in ("hint", "reset", "undo", "hint", "hint"):
            page.locator(f"#play-tools [data-do={tool}]").click()
        assert Player(page, puzzle, entry).said == "Solved, with 3 hints."


def test_what_is_given_whole_is_not_counted_as_solved(chromium: Browser, tmp_path: Path) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    solution = entry.solution or {}
    full = replace(entry, given=tuple(Given(one, cells) for one, cells in solution.items()))
    with browser.opened(chromium, write_page(tmp_path, puzzle, [full])) as page:
        assert Player(page, puzzle, full).solved  # nothing is left to do
        assert page.locator("#play-tally").inner_text() == "0 of 1 solved"
        assert kept(page, "fridgeiq")["solved"] == []


FORBIDDEN = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }"


@pytest.mark.parametrize("script", [FORBIDDEN, FULL])
def test_without_storage_it_is_played_and_says_so(
    chromium: Browser, tmp_path: Path, script: str
) -> None:
    puzzle, entries = entries_of(*TRIANGLE)
    url = write_page(tmp_path, puzzle, entries)
    with browser.opened(chromium, "about:blank") as page:
        page.add_init_script(script)
        page.goto(url)
        player = Player(page, puzzle, entries[0])
        for piece in player.free:
            player.lay(piece)
        assert player.solved
        assert page.locator("#play-unkept").is_visible()


# --- tools and list ---------------------------------------------------------------------------


def test_steps_are_undone_and_done_again(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = entries_of(*TRIANGLE)
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        player = Player(page, puzzle, entries[0])
        piece, other, _ = player.free
        player.lay(piece)
        look = player.look(piece)
        page.locator("[data-do=tray]").click()
        assert player.in_tray(piece).is_visible()
        player.in_tray(other).focus()
        page.keyboard.press("Control+z")
        assert player.on_board(piece).is_visible()
        assert player.look(piece) == look
        page.locator("[data-do=redo]").click()
        assert player.in_tray(piece).is_visible()
        page.locator("[data-do=undo]").click()
        page.locator("[data-do=reset]").click()
        assert all(player.in_tray(one).is_visible() for one in player.free)
        page.locator("[data-do=undo]").click()
        assert player.on_board(piece).is_visible()


@pytest.mark.long
def test_a_piece_turned_all_around_is_where_it_was(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = entries_of("iqstars", "board")
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        player = Player(page, puzzle, entries[0])
        for piece in player.free:
            player.lay(piece)
            place = player.on_board(piece).get_attribute("style")
            looks = set()
            for _ in range(6):
                page.keyboard.press("r")
                looks.add(player.look(piece))
            assert player.on_board(piece).get_attribute("style") == place
            assert len(looks) > 1 or piece == "indigo"
        assert player.solved


def test_given_pieces_stay(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = some_of_fridgeiq()
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries) + "#given") as page:
        player = Player(page, puzzle, entries[1])
        (given,) = page.locator("#play-board .given").all()
        assert "stays there" in (given.get_attribute("aria-label") or "")
        place = given.get_attribute("style")
        given.click()
        assert page.locator("[data-do=left]").get_attribute("aria-disabled") == "true"
        page.locator("[data-do=reset]").click()
        assert given.get_attribute("style") == place
        for piece in player.free:
            player.lay(piece)
        assert player.solved


def test_a_challenge_without_solution_gives_no_hint(chromium: Browser, tmp_path: Path) -> None:
    url = write_page(tmp_path, *some_of_fridgeiq())
    with browser.opened(chromium, url + "#none") as page:
        assert "proved to have no solution" in page.locator("#play-facts").inner_text()
        assert page.locator("[data-do=hint]").get_attribute("aria-disabled") == "true"
        page.locator("#play-tray .slot").first.focus()
        page.keyboard.press("h")
        assert "there is no hint" in page.locator("#play-say").inner_text()


def test_challenges_are_chosen_from_list_address_and_arrows(
    chromium: Browser, tmp_path: Path
) -> None:
    puzzle, entries = some_of_fridgeiq()
    url = write_page(tmp_path, puzzle, entries)
    with browser.opened(chromium, f"{url}#{entries[4].id}") as page:

        def is_open(entry: Entry) -> None:
            page.wait_for_function("(id) => fabkitPlay.page.entry.id === id", arg=entry.id)

        is_open(entries[4])
        page.evaluate("location.hash = 'there-is-none'")
        page.evaluate("location.hash = '%E0%A4%A'")
        is_open(entries[4])
        page.locator("#play-list .card", has_text="Triangle").first.click()
        is_open(entries[0])
        page.locator(".challenge [data-do=next]").click()
        is_open(entries[1])
        page.locator(".challenge [data-do=previous]").click()
        is_open(entries[0])
        page.go_back()
        is_open(entries[1])
        page.locator("#play-kind").select_option("snowflake")
        assert page.locator("#play-list li:visible").count() == 7
        page.locator("#play-level").select_option("starter")
        assert page.locator("#play-nothing").is_visible()
        page.locator("#play-kind").select_option("")
        assert page.locator("#play-list li:visible").count() == 2


def test_the_view_in_3d_is_told_what_is_wanted(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = some_of_fridgeiq()
    url = write_page(tmp_path, puzzle, entries)
    with browser.opened(chromium, "about:blank") as page:
        page.add_init_script(
            "window.told = []; for (const name of ['entry', 'solution', 'pieces'])"
            " document.addEventListener(`fabkit:${name}`, (e) => told.push([e.type, e.detail.id]))"
        )
        page.goto(f"{url}#given")
        for action in ("solution", "pieces"):
            page.evaluate(f"fabkitPlay.page.actions.{action}()")
        assert page.evaluate("told") == [
            ["fabkit:entry", "given"],
            ["fabkit:solution", "given"],
            ["fabkit:pieces", None],
        ]
