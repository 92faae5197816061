"""axe-core finds nothing to object to in any state of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.output.test_play_links import shared
from tests.support import browser
from tests.support.playpages import Pages, Player, entries_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = browser.needed

WINDOWS: list[dict[str, Any]] = [
    {"viewport": {"width": 320, "height": 568}, "color_scheme": "dark", "has_touch": True},
    {"viewport": browser.DESKTOP, "color_scheme": "light"},
]
CHALLENGES = [("fridgeiq", "square_05"), ("iqstars", "clue-020"), ("calendar", "start-001")]


#: All that appears gently has appeared.
GENTLY = "() => document.getAnimations().every(({ playState }) => playState !== 'running')"


def violations(page: Page) -> list[str]:
    """What axe-core objects to, with the first element of each kind."""
    from axe_playwright_python.sync_playwright import Axe

    browser.drawn(page)
    page.wait_for_function(GENTLY)
    # The page lets no script read its style sheet.
    options = {"resultTypes": ["violations"], "preload": False}
    rules = Axe().run(page, options=options).response["violations"]
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:120]}" for rule in rules]


@pytest.mark.parametrize("window", WINDOWS, ids=["phone", "desktop"])
@pytest.mark.parametrize(("name", "only"), CHALLENGES)
def test_every_state_is_accessible(
    chromium: Browser, pages: Pages, name: str, only: str, window: dict[str, Any]
) -> None:
    puzzle, (entry,) = entries_of(name, only)
    url = pages.url(puzzle, [entry])
    with browser.opened(chromium, url, first_visit=True, **window) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        player = Player(page, puzzle, entry)
        assert violations(page) == []  # how to play
        page.evaluate(browser.SEEN)
        page.evaluate("id => fabkitPlay.page.go(fabkitPlay.findEntry(FABKIT, id))", only)
        assert violations(page) == []
        page.locator("[data-do=menu]").first.click()
        assert violations(page) == []
        page.locator("#play-dead-end").check()
        page.keyboard.press("Escape")
        page.locator("[data-do=days]").first.click()
        assert violations(page) == []
        page.keyboard.press("Escape")
        player.do("hint")
        assert violations(page) == []
        player.do("hint")
        player.do("hint")
        own = shared(page, "own")
        assert own
        while not player.solved:
            player.do("hint")
        assert violations(page) == []
        browser.visit(page, own)
        assert violations(page) == []


def test_a_fault_is_found(chromium: Browser, pages: Pages) -> None:
    puzzle, entries = entries_of(*CHALLENGES[0])
    with browser.opened(chromium, pages.url(puzzle, entries)) as page:
        page.evaluate("document.querySelector('[data-do=help]').removeAttribute('aria-label')")
        page.evaluate("document.querySelector('[data-do=help]').removeAttribute('title')")
        assert [fault.partition(":")[0] for fault in violations(page)] == ["button-name"]
