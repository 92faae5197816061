"""axe-core objects to nothing in any view of the studio; every language has all texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fabkit.output.i18n import LANGUAGES, load_messages
from tests.output.test_play_accessibility import violations
from tests.studio.test_draw import TABLET, drawing
from tests.studio.test_tune import SETTLED
from tests.support import browser
from tests.support.studios import RunningStudio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: The views, and whether nothing more comes in each.
SETTLED_BY_VIEW = {
    "draw": """() => {
      const { verdict } = fabkitStudio.views.get("draw");
      return fabkitStudio.project.isRead && verdict.answer && !verdict.latest.running; }""",
    "tune": SETTLED,
    "challenges": """() => document.querySelector(".chall-wait")?.hidden
      && document.querySelector(".chall-card .picture svg")""",
    "play": """() => document.querySelector(".play-wait")?.hidden
      && document.querySelector(".play-frame").contentWindow.fabkitPlay?.page?.entry""",
}
VIEWS = [*SETTLED_BY_VIEW]


def violations_by_theme(page: Page) -> list[Any]:
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        browser.drawn(page)
        found += violations(page)
    return found


@browser.needed
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_accessible(chromium: Browser, studio: RunningStudio, view: str) -> None:
    with drawing(chromium, studio, viewport=TABLET) as sheet:
        page = sheet.page
        page.locator(f"#tab-{view}").click()
        page.wait_for_function(SETTLED_BY_VIEW[view])
        assert violations_by_theme(page) == []
        if view == "draw":
            page.locator('[data-id="add-board"]').click()
            page.locator('[data-brush="clue"]').click()
            assert violations_by_theme(page) == []
            page.locator("[data-do=new]").click()
            assert violations_by_theme(page) == []
            page.keyboard.press("Escape")
            page.locator("[popovertarget=studio-menu]").click()
            assert violations_by_theme(page) == []
        width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(width)


@browser.needed
def test_every_view_speaks_all_languages(chromium: Browser, studio: RunningStudio) -> None:
    overflowing = """() => [...document.querySelectorAll(".draw > div")].filter(
      (column) => column.scrollWidth > column.clientWidth).map((column) => column.className)"""
    with drawing(chromium, studio, viewport=TABLET) as sheet:
        page = sheet.page
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
        page.locator("#tab-draw").click()
        page.locator('[data-id="add-board"]').click()
        for language in reversed(LANGUAGES):
            messages = load_messages("studio", language)
            page.locator("[popovertarget=studio-menu]").click()
            page.locator("#play-language").select_option(language)
            for view in VIEWS:
                assert page.locator(f"#tab-{view}").inner_text() == messages[f"view_{view}"]
            assert page.locator(".draw-things h2").inner_text() == messages["draw_things"]
            assert page.locator("html").get_attribute("lang") == language
            page.keyboard.press("Escape")
            assert page.evaluate(overflowing) == []


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_texts_are_translated(language: str) -> None:
    """Hardly any text is the same in two languages, such as "{count} solutions"."""
    english, other = load_messages("studio", "en"), load_messages("studio", language)
    assert english.keys() == other.keys()
    same = [key for key, text in english.items() if text == other[key] and len(text) > 12]
    assert len(same) < len(english) / 50, same
