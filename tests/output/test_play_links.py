"""Links to challenges, positions and own starts, of all sets; and what failed sharing says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.sets.library import shipped_names
from tests.support import browser
from tests.support.playpages import Pages, entries_of, some_of_fridgeiq

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = browser.needed

#: Challenges that differ in what a link must keep: the first of each sort, and two members of each
#: family.
SORTS = """() => {
  const sorts = new Map();
  for (const entry of FABKIT.entries) {
    const { kind, halves, flips, open, minus, clues, given, count, pieces, blocked } = entry;
    const rules = [open, minus, clues, given.length, count < pieces.length, blocked].map(Boolean);
    const sort = String([kind, halves, flips, ...rules]);
    if (entry.solution && !sorts.has(sort)) sorts.set(sort, entry.id);
  }
  const members = FABKIT.families.flatMap((family) => [0, 1].flatMap((place) =>
    fabkitPlay.memberOf(family, family.groups.map((group, i) => (place * (i + 1)) % group.length))?.id ?? []));
  return [...sorts.values(), ...members];
}"""
#: Opens a challenge and places two pieces of its solution; of two, the second beside the board.
PLAY = """(id) => {
  const { page, findEntry } = fabkitPlay;
  page.go(findEntry(FABKIT, id));
  const { session } = page, { game } = session;
  session.reset();
  const free = game.entry.solution.filter(([piece]) => !game.fixed.has(piece));
  const [[piece, orientation, ...at], other] = free;
  session.select(piece);
  session.drop({ orientation, at });
  if (other) {
    const beside = game.clampToField(other[0], other[1], game.grid.nearestStep(game.box[2], game.box[1]));
    session.select(other[0]);
    session.drop({ orientation: other[1], at: free.length > 2 ? other.slice(2) : beside });
  }
  return session.isSolved;
}"""
#: All that a player sees of a challenge.
STATE = """() => {
  const { session } = fabkitPlay.page, { game } = session, { entry } = game;
  const rules = ["id", "title", "cells", "pieces", "count", "flips", "halves", "minus", "blocked", "blocks",
    "blockers", "clues", "clueCount", "board", "kind"].map((name) => [name, entry[name] ?? null]);
  const lying = [...game.placements].map(([piece, { orientation, at }]) => [piece, orientation, at]);
  return { ...Object.fromEntries(rules), open: entry.open ?? 0, lying, fixed: [...game.fixed].sort(),
    clued: game.clues.size };
}"""


def shared(page: Page, choice: str) -> str:
    """The link of one of the choices; empty where it is not offered."""
    page.evaluate("document.getElementById('play-say').textContent = ''")
    page.evaluate("() => { fabkitPlay.page.actions.share() }")
    button = page.locator(f"dialog.ask button[value={choice}]")
    page.locator("dialog.ask").wait_for()
    if not button.count():
        page.keyboard.press("Escape")
        page.locator("dialog.ask").wait_for(state="detached")
        return ""
    button.click()
    page.wait_for_function("() => document.getElementById('play-say').textContent")
    assert page.locator("#play-say").inner_text() == "Copied"
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.every(3)
@pytest.mark.parametrize("name", shipped_names())
def test_links_of_all_sets_open_in_a_fresh_profile(
    chromium: Browser, pages: Pages, name: str
) -> None:
    url = pages.url(*entries_of(name))
    links: list[tuple[str, dict[str, Any]]] = []
    permissions = ["clipboard-read", "clipboard-write"]
    with browser.opened(chromium, url, permissions=permissions) as page:
        sorts = page.evaluate(SORTS)
        assert len(sorts) >= 2
        for entry_id in sorts:
            assert not page.evaluate(PLAY, entry_id)
            state = page.evaluate(STATE)
            bare = {**state, "lying": None}
            links += [(shared(page, "plain"), bare), (shared(page, "lying"), state)]
            assert all(link for link, _ in links)
            if own := shared(page, "own"):
                placed = {piece for piece, _, at in state["lying"] if at}
                changed = {"id": None, "title": None, "kind": "own", "fixed": sorted(placed)}
                links.append((own, {**state, **changed}))
    kinds = [state["kind"] for _, state in links]
    assert kinds.count("own") >= len(sorts) / 2
    with browser.opened(chromium, url) as page:
        for link, expected in links:
            page.evaluate("localStorage.clear()")
            page.goto("about:blank")
            page.goto(link)
            page.wait_for_function(
                "(own) => (fabkitPlay.page.entry.kind === 'own') === own"
                " && (own || !location.hash.includes('&'))",
                arg=expected["kind"] == "own",
            )
            state = page.evaluate(STATE)
            for key, value in expected.items():
                is_set = key in ("lying", "fixed")
                seen, wanted = (sorted(v) if is_set and v else v for v in (state[key], value))
                assert wanted is None or seen == wanted, (link, key)


# --- what fails says so
# -------------------------------------------------------------------------------

SAID = "(text) => document.getElementById('play-say').textContent.startsWith(text)"
#: The hash of a link to the first challenge, with changes to its document.
PACKED = """async (changes) => {
  const document = { schema: 1, set: FABKIT.name, lying: [], ...changes };
  const packed = new Blob([JSON.stringify(document)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const letters = String.fromCharCode(...new Uint8Array(await new Response(packed).arrayBuffer()));
  const text = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `#${FABKIT.entries[0].id}&${text}`; }"""
FULL = (
    "() => { Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') "
    "} }"
)


@pytest.fixture
def fridgeiq(pages: Pages) -> str:
    return pages.url(*some_of_fridgeiq())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"set": "iqfit"}, "This link belongs to another puzzle."),
        ({"schema": 2}, "This link was made by a newer version."),
        ({"set": "iqfit", "schema": 2}, "This link belongs to another puzzle."),
        ({"schema": "x"}, "This link doesn’t match any challenge on this page."),
    ],
)
def test_a_link_that_cannot_be_opened_says_why(
    chromium: Browser, fridgeiq: str, changes: dict[str, Any], said: str
) -> None:
    with browser.opened(chromium, fridgeiq) as page:
        link = page.evaluate(PACKED, changes)
    with browser.opened(chromium, fridgeiq + link) as page:
        page.wait_for_function(SAID, arg=said)


def test_a_start_keeps_its_rules_or_does_not_open(chromium: Browser, pages: Pages) -> None:
    """Elsewhere the challenge that it was made from may have other clues."""
    puzzle, entries = entries_of("iqstars")
    coloured = next(entry for entry in entries if entry.challenge.clues)
    url = pages.url(puzzle, [coloured])
    permissions = ["clipboard-read", "clipboard-write"]
    with browser.opened(chromium, url, permissions=permissions) as page:
        page.evaluate(PLAY, coloured.challenge.id)
        own = shared(page, "own")
        page.evaluate("FABKIT.entries[0].mark = 'changed'")
        parse = (
            "(hash) => fabkitPlay.parseLink(FABKIT, hash).then(() => '', ({ message }) => message)"
        )
        assert page.evaluate(parse, "#" + own.split("#")[1]) == "say_no_link"
        page.reload()
        assert page.evaluate(parse, "#" + own.split("#")[1]) == ""


Breaks = Callable[["Page"], None]


def load(page: Page, content: bytes) -> None:
    with page.expect_file_chooser() as chooser:
        page.evaluate("() => { fabkitPlay.page.actions.load() }")
    chooser.value.set_files({"name": "x.json", "mimeType": "", "buffer": content})


def share(page: Page, choice: str) -> None:
    page.locator(".round[data-do=menu]").click()
    page.locator("#play-menu [data-do=share]").click()
    page.locator(f"dialog.ask button[value={choice}]").click()


def load_unreadable(page: Page) -> None:
    page.evaluate("() => { File.prototype.text = () => Promise.reject(new DOMException('')) }")
    load(page, b"{}")


def load_into_full_storage(page: Page) -> None:
    page.evaluate(FULL)
    load(page, b'{"schema": 1, "set": "fridgeiq", "solved": []}')


def play_with_full_storage(page: Page) -> None:
    page.evaluate(FULL)
    page.evaluate(PLAY, page.evaluate("FABKIT.entries[0].id"))


def share_without_compression(page: Page) -> None:
    page.evaluate(PLAY, page.evaluate("FABKIT.entries[1].id"))
    page.evaluate("delete window.CompressionStream")
    share(page, "lying")


def copy_where_that_is_refused(page: Page) -> None:
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()) }")
    share(page, "plain")
    page.get_by_label("The browser refused to copy").get_by_role("textbox").wait_for()
    page.get_by_role("button", name="Close").click()


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        (load_unreadable, "This file can’t be read."),
        (load_into_full_storage, "Progress can’t be saved"),
        (play_with_full_storage, "Progress can’t be saved"),
        (share_without_compression, "That did not work in this browser."),
        (copy_where_that_is_refused, "The browser refused to copy."),
    ],
)
def test_what_fails_says_so(chromium: Browser, fridgeiq: str, fail: Breaks, said: str) -> None:
    with browser.opened(chromium, fridgeiq) as page:
        fail(page)
        page.wait_for_function(SAID, arg=said)
