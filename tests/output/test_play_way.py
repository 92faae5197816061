"""The way into the game: the first visit, the path from there, today's challenge, and its days."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from fabkit.sets.library import shipped_names
from tests.support import browser
from tests.support.playpages import Pages, Player, entries_of, some_of_fridgeiq

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = browser.needed

#: Opens FridgeIQ's handful of challenges at a time of Berlin, in a profile of its own.
Opens = Callable[..., AbstractContextManager[Player]]
OPENED = "fabkitPlay.page.entry.id"
TODAY = "fabkitPlay.page.challenges.today.id"
#: Opens a challenge by its id and solves it as a player does, except for the pointer.
SOLVE = """(id) => {
  const { page, findEntry } = fabkitPlay;
  const entry = findEntry(FABKIT, id);
  page.open(entry);
  page.session.reset();
  const { game } = page.session;
  for (const [piece, orientation, ...at] of entry.solution) {
    if (game.fixed.has(piece)) continue;
    page.session.select(piece);
    page.session.drop({ orientation, at });
  } }"""


@pytest.fixture
def plays(chromium: Browser, pages: Pages) -> Opens:
    puzzle, entries = some_of_fridgeiq()
    url = pages.url(puzzle, entries)

    @contextmanager
    def play(moment: str, link: str = "") -> Iterator[Player]:
        context = chromium.new_context(
            viewport=browser.DESKTOP,
            reduced_motion="reduce",
            timezone_id="Europe/Berlin",
            permissions=["clipboard-read", "clipboard-write"],
        )
        page = context.new_page()
        complaints = browser.watched(page)
        page.clock.install(time=moment)
        browser.visit(page, url + link)
        page.evaluate(browser.SEEN)
        yield Player(page, puzzle, entries[0])
        context.close()
        assert complaints == []

    return play


def solve_today(page: Page) -> None:
    page.evaluate(SOLVE, page.evaluate(TODAY))
    assert page.locator("#play-done").is_visible()


def streak(page: Page) -> str:
    return page.locator(".today .mark").inner_text()


def days(player: Player) -> list[str]:
    """The days that are stored as solved."""
    return [day for day, *_ in player.kept["days"]]


# --- the first visit, and the path
# ------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize("name", shipped_names())
def test_a_first_visit_opens_on_few_pieces(chromium: Browser, pages: Pages, name: str) -> None:
    """The easiest challenge with two or three open pieces; today's stands beside it."""
    puzzle, entries = entries_of(name)
    with browser.opened(chromium, pages.url(puzzle, entries)) as page:
        opened, count, order = page.evaluate("""() => {
          const open = ({ count, given }) => count - given.length;
          const { entry } = fabkitPlay.page;
          return [entry.id, open(entry), FABKIT.entries.filter((other) => other.solution)
            .map((other) => [other.id, open(other)])]; }""")
        assert 2 <= count <= 3
        assert opened == next(entry_id for entry_id, open_pieces in order if 2 <= open_pieces <= 3)
        today = page.locator(".today strong + span").inner_text()
        if puzzle.families and name == "calendar":
            assert today == page.evaluate("fabkitPlay.memberOfDay(FABKIT, new Date()).title")
        page.locator(".today").click()
        assert page.evaluate(OPENED) == page.evaluate(TODAY)
        page.reload()  # a later visit goes on where the last one ended
        assert page.evaluate(OPENED) == page.evaluate(TODAY)


@pytest.mark.parametrize(
    ("open_pieces", "first"),
    [([7, 4, 3, 2], 2), ([9, 2, 1], 1), ([6, 4, 5, 4], 1), ([None, 5, 3], 2), ([None, None], 0)],
)
def test_the_first_is_the_easiest_of_few_pieces(
    plays: Opens, open_pieces: list[int | None], first: int
) -> None:
    """Of made-up challenges; those without a number have no solution."""
    script = """(numbers) => {
      const entries = numbers.map((open) => (
        { count: open ?? 2, given: [], solution: open === null ? undefined : [] }));
      return entries.indexOf(fabkitPlay.firstEntry(entries)); }"""
    with plays("2026-11-26T12:00:00+01:00") as player:
        assert player.page.evaluate(script, open_pieces) == first


def test_the_next_challenge_is_the_nearest_harder_one(plays: Opens) -> None:
    """Of any kind; after the last the easiest that is left, and never one without a solution."""
    with plays("2026-11-26T12:00:00+01:00") as player:
        page = player.page
        path = page.evaluate(
            "FABKIT.entries.filter(({ status }) => status !== 'impossible').map(({ id }) => id)"
        )
        assert len(path) == 9
        today = page.evaluate(TODAY)
        page.evaluate(SOLVE, path[4])
        seen = [path[4]]
        while len(seen) < len(path):
            page.locator("#play-done .main").click()
            seen.append(page.evaluate(OPENED))
            page.evaluate(SOLVE, seen[-1])
        expected = path[4:] + path[:4]
        place = expected.index(today)
        # After today's challenge it goes on with the easiest.
        rest = [name for name in path if name not in expected[: place + 1]]
        expected = expected[: place + 1] + rest
        assert seen == expected
        assert player.text("tally") == "9 of 9 solved"


def test_only_challenges_of_the_page_count_as_solved(chromium: Browser, pages: Pages) -> None:
    """No dates, which are 366 more, and each once."""
    puzzle, entries = entries_of("calendar", "start-001")
    with browser.opened(chromium, pages.url(puzzle, entries)) as page:
        player = Player(page, puzzle, entries[0])
        page.evaluate(SOLVE, "jan-25")
        assert len(player.kept["solved"]) == 1
        assert player.text("tally") == "0 of 1 solved"
        for _ in range(2):
            page.evaluate(SOLVE, "start-001")
        assert player.text("tally") == "1 of 1 solved"
        assert player.kept["tally"] == [1, 1]


def test_keys_alone_lead_from_the_first_visit_to_the_next_challenge(
    chromium: Browser, pages: Pages
) -> None:
    puzzle, entries = some_of_fridgeiq()
    with browser.opened(chromium, pages.url(puzzle, entries), first_visit=True) as page:
        first = page.evaluate(OPENED)
        player = Player(page, puzzle, next(e for e in entries if e.challenge.id == first))
        player.press("Enter")  # "Play" has the focus
        page.locator("#play-how").wait_for(state="hidden")
        for piece in player.free:
            player.lay_by_keys(piece)
        assert player.solved
        for _ in range(60):
            if page.evaluate("document.activeElement.dataset.do") == "onward":
                break
            player.press("Tab")
        player.press("Enter")
        assert page.evaluate(OPENED) != first
        assert page.evaluate("document.activeElement.id") == "play-title"


def test_keys_alone_lead_through_the_days(plays: Opens) -> None:
    with plays("2026-03-02T12:00:00+01:00") as player:
        page = player.page
        solve_today(page)
        page.clock.set_system_time("2026-04-02T12:00:00+02:00")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.locator("[data-do=days]").focus()
        player.press("Enter")
        assert page.get_by_role("dialog", name="Today’s challenge").is_visible()
        assert page.evaluate("document.activeElement.dataset.do") == "today"
        assert player.text("month") == "April 2026"
        while page.evaluate("document.activeElement.id") != "play-earlier":
            player.press("Tab")
        player.press("Enter")
        assert player.text("month") == "March 2026"
        assert page.locator("#play-month-grid td:not(:empty)").count() == 31
        assert page.locator(".solved-day").inner_text().replace("\n", "") == "2, solved"
        assert player.page.locator("#play-earlier").get_attribute("aria-disabled") == "true"
        player.press("Enter")  # nothing is earlier
        assert player.text("month") == "March 2026"
        player.press("Tab", "Enter")
        assert player.text("month") == "April 2026"
        assert page.locator("[aria-current=date]").inner_text() == "2"
        player.press("Escape")
        assert not page.locator("#play-days").is_visible()
        assert page.evaluate("document.activeElement.dataset.do") == "days"


# --- the clock
# ----------------------------------------------------------------------------------------


def test_midnight_passes_in_an_open_page(plays: Opens) -> None:
    with plays("2026-11-26T23:59:50+01:00") as player:
        page = player.page
        thursday = page.evaluate(TODAY)
        assert "26" in page.locator(".today").inner_text()
        page.evaluate("(id) => fabkitPlay.page.go(fabkitPlay.findEntry(FABKIT, id))", thursday)
        page.clock.run_for(11_000)
        assert page.evaluate(TODAY) != thursday
        assert page.evaluate(OPENED) == thursday  # what is played stays
        assert "Friday, November 27" in page.locator(".today").inner_text()
        page.evaluate(SOLVE, thursday)  # too late
        assert days(player) == []
        assert not page.locator("#play-result").is_visible()
        solve_today(page)
        assert days(player) == ["2026-11-27"]
        assert streak(page) == "1 day in a row"
        assert page.locator("#play-result").is_visible()
        page.reload()  # opened again, it is not solved again
        page.clock.run_for(86_400_000 - 10_000)
        page.evaluate("fabkitPlay.page.session.update()")
        assert days(player) == ["2026-11-27"]


def test_a_page_that_slept_wakes_up_on_another_day(plays: Opens) -> None:
    with plays("2026-11-26T12:00:00+01:00") as player:
        page = player.page
        thursday = page.evaluate(TODAY)
        page.clock.set_system_time("2026-11-28T08:00:00+01:00")  # without a timer
        assert page.evaluate(TODAY) == thursday
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        assert page.evaluate(TODAY) != thursday
        page.clock.set_system_time("2026-11-26T08:00:00+01:00")
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        assert page.evaluate(TODAY) == thursday
        # Nor does a challenge count as that of a day which the page has not noticed to be over.
        page.clock.set_system_time("2026-11-28T08:00:00+01:00")
        page.evaluate(SOLVE, thursday)
        assert days(player) == []


@pytest.mark.parametrize(
    ("evening", "hours", "before"),
    [
        ("2026-03-28T23:59:50+01:00", 23, ["2026-03-28", "2026-03-29", "2026-03-30"]),
        ("2026-10-24T23:59:50+02:00", 25, ["2026-10-24", "2026-10-25", "2026-10-26"]),
    ],
)
def test_days_on_which_the_clocks_change_are_days(
    plays: Opens, evening: str, hours: int, before: list[str]
) -> None:
    with plays(evening) as player:
        page = player.page
        solve_today(page)
        seen = [page.evaluate(TODAY)]
        page.clock.run_for(11_000)
        solve_today(page)
        seen.append(page.evaluate(TODAY))
        page.clock.fast_forward(hours * 3_600_000 - 10_000)  # some seconds before the next midnight
        assert page.evaluate(TODAY) == seen[-1]
        page.clock.run_for(11_000)
        seen.append(page.evaluate(TODAY))
        solve_today(page)
        assert len(set(seen)) == 3
        assert days(player) == before
        assert streak(page) == "3 days in a row"


def test_a_week_is_a_streak_until_a_day_is_missed(plays: Opens) -> None:
    with plays("2026-12-28T09:00:00+01:00") as player:  # over the end of the year
        page = player.page
        for count in range(1, 8):
            solve_today(page)
            assert streak(page) == f"{count} day{'s' * (count > 1)} in a row"
            page.clock.fast_forward(86_400_000)
        assert streak(page) == "7 days in a row"  # up to yesterday
        assert page.locator(".today .mark.open").count() == 1
        page.clock.fast_forward(86_400_000)
        assert streak(page) == ""
        solve_today(page)
        assert streak(page) == "1 day in a row"
        page.locator("[data-do=days]").click()
        assert player.text("month-total") == "1 day in a row · 8 solved in all"
        solved = page.locator(".solved-day").all_inner_texts()
        assert [int(text.split(",")[0]) for text in solved] == [1, 2, 3, 5]
        page.locator("#play-earlier").click()
        assert page.locator(".solved-day").count() == 4
        assert all(first < second for first, second in pairwise(map(str, sorted(days(player)))))


def test_only_what_the_player_solves_counts(plays: Opens) -> None:
    with plays("2026-11-26T12:00:00+01:00") as player:
        page = player.page
        page.evaluate("fabkitPlay.page.open(fabkitPlay.page.challenges.today)")
        page.locator(".round[data-do=menu]").click()
        page.locator("#play-menu [data-do=solve]").click()
        page.locator("dialog.ask button", has_text="Show solution").click()
        page.locator("#play-done").wait_for()
        page.evaluate("fabkitPlay.page.session.update()")
        assert player.kept.get("days", []) == []
        assert not page.locator("#play-result").is_visible()
        other = page.evaluate(f"FABKIT.entries.find(({{ id }}) => id !== {TODAY}).id")
        page.evaluate(SOLVE, other)
        assert days(player) == []
        solve_today(page)
        assert days(player) == ["2026-11-26"]
        # What was solved before its day is not solved again by opening it.
        tomorrow = page.evaluate(
            "fabkitPlay.challengeOfDay(FABKIT, FABKIT.entries.filter((entry) => entry.solution),"
            " new Date(2026, 10, 27)).id"
        )
        page.evaluate(SOLVE, tomorrow)
        page.evaluate("fabkitPlay.page.open(FABKIT.entries[0])")
        page.clock.fast_forward(86_400_000)
        assert page.evaluate(TODAY) == tomorrow
        page.locator(".today").click()
        assert player.solved
        assert days(player) == ["2026-11-26"]
        solve_today(page)
        assert days(player) == ["2026-11-26", "2026-11-27"]


def test_another_window_hears_of_it(plays: Opens) -> None:
    with plays("2026-11-26T12:00:00+01:00") as player:
        page = player.page
        second = page.context.new_page()
        second.goto(page.url)
        second.evaluate(browser.SEEN)
        second.evaluate("fabkitPlay.page.open(fabkitPlay.page.challenges.today)")
        second.locator("[data-do=days]").click()
        assert second.locator(".solved-day").count() == 0
        page.bring_to_front()
        solve_today(page)
        second.wait_for_function("() => document.querySelector('.solved-day')")
        assert second.locator("#play-days-result").is_visible()
        assert streak(second) == "1 day in a row"
        second.evaluate("fabkitPlay.page.session.reset()")  # and does not lose it
        assert days(player) == ["2026-11-26"]


# --- the result, and the file
# -------------------------------------------------------------------------


def test_a_result_is_shared_as_text(plays: Opens) -> None:
    with plays("2026-11-26T12:00:00+01:00") as player:
        page = player.page
        solve_today(page)
        title, stars = page.evaluate(
            "[fabkitPlay.page.challenges.today.title, fabkitPlay.page.challenges.today.stars]"
        )
        page.locator("#play-result").click()
        page.wait_for_function("() => document.getElementById('play-say').textContent")
        lines = page.evaluate("navigator.clipboard.readText()").splitlines()
        assert lines[0] == "FridgeIQ · November 26, 2026"
        assert lines[1] == f"{title} {'★' * stars}{'☆' * (5 - stars)}"
        assert " moves · 0:" in lines[2]
        assert lines[2].endswith(" · 0 hints")
        assert lines[3:] == ["1 day in a row"]  # a link to a file on a disk leads nowhere
        # Where copying is refused, it is shown, and that is said.
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()) }")
        page.locator("[data-do=days]").click()
        page.locator("#play-days-result").click()
        field = page.get_by_role("dialog").get_by_role("textbox")
        assert field.input_value().splitlines() == lines
        page.get_by_role("button", name="Close").click()
        page.wait_for_function(
            "() => document.getElementById('play-say').textContent.includes('refused to copy')"
        )


def test_days_are_merged_from_a_file_and_broken_ones_left_out(plays: Opens) -> None:
    with plays("2026-11-26T12:00:00+01:00") as player:
        page = player.page
        solve_today(page)
        mine = player.kept["days"][0]
        fewer = [mine[0], mine[1], 0, mine[3] - 1, 9]
        broken = [["2026-11", "x", 0, 1, 1], ["2026-11-20", "x", -1, 1, 1], ["2026-11-20", 7], 5]
        more = ["2026-11-25", "given", 2, 5, 9000]
        script = """(text) => fabkitPlay.page.importProgress(text)"""
        document = {"schema": 1, "set": "fridgeiq", "days": [more, *broken, fewer]}
        page.evaluate(f"(document) => ({script})(JSON.stringify(document))", document)
        assert sorted(player.kept["days"]) == [more, fewer]
        worse = {**document, "days": [[mine[0], mine[1], 1, 1, 1], mine]}
        page.evaluate(f"(document) => ({script})(JSON.stringify(document))", worse)
        assert sorted(player.kept["days"]) == [more, fewer]
        assert streak(page) == "2 days in a row"
