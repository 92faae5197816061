"""Challenges in a real browser: played by drags, taps and keys, kept, chosen, read and printed."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from fabkit.model.entry import Entry
from fabkit.model.puzzle import Given, PuzzleSet
from fabkit.output.web.document import Download
from tests.support import browser
from tests.support.colours import contrast, linear
from tests.support.playpages import Player, entries_of, mirrored, some_of_fridgeiq, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [browser.needed, pytest.mark.integration]

#: Opens a page with challenges of a set, and one of them.
Opens = Callable[..., AbstractContextManager[Player]]
Shapes = Callable[[str], AbstractContextManager[Player]]
TRIANGLE = ("fridgeiq", "triangle_01")
#: Symmetric about the diagonal, of pieces that lie on two lattices and may be turned over.
MIXED = ("fridgeiq", "mixed1-4-eaa5febe52")
FINGERS: dict[str, Any] = {"viewport": browser.PHONE, "has_touch": True, "is_mobile": True}
#: Bars of the same shape, a hook, and a wheel that looks the same when it is turned, but not when it
#: is turned over.
SHAPES = """
piece = [
  { id = "A", outline = [[0, 0], [2, 0], [2, 1], [0, 1]] },
  { id = "B", outline = [[0, 0], [2, 0], [2, 1], [0, 1]] },
  { id = "hook", outline = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]] },
  { id = "wheel", outline = [[1, 1], [3, 1], [3, 0], [4, 0], [4, 3], [5, 3], [5, 4], [2, 4], [2, 5],
    [1, 5], [1, 2], [0, 2], [0, 1]] },
]
challenge = [
  { id = "wall", pieces = ["A", "B", "hook"], outline = [[0, 0], [4, 0], [4, 2], [0, 2]] },
  { id = "round", pieces = ["A", "wheel"], outline = [[1, 1], [3, 1], [3, 0], [4, 0], [4, 3], [7, 3],
    [7, 4], [2, 4], [2, 5], [1, 5], [1, 2], [0, 2], [0, 1]] },
]
set = { name = "shapes", title = "Shapes", lattice = "square", moves = "rotations and flips" }
"""


@pytest.fixture
def plays(chromium: Browser, tmp_path: Path) -> Opens:
    @contextmanager
    def play(
        puzzle: PuzzleSet,
        entries: Sequence[Entry],
        at: int = 0,
        language: str = "en",
        downloads: Sequence[Download] = (),
        **settings: Any,
    ) -> Iterator[Player]:
        url = write_page(tmp_path, puzzle, entries, language, downloads)
        url += f"#{entries[at].id}" if at else ""
        with browser.opened(chromium, url, **settings) as page:
            yield Player(page, puzzle, entries[at])

    return play


@pytest.fixture
def shapes(plays: Opens, tmp_path: Path) -> Shapes:
    (tmp_path / "shapes.toml").write_text(SHAPES)
    return lambda only: plays(*entries_of(str(tmp_path / "shapes.toml"), only))


def pixels(shot: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(shot)) as image:
        return np.asarray(image.convert("RGB"), dtype=int)


# --- solved -----------------------------------------------------------------------------------


def test_taps_and_drags_solve_and_what_is_wrong_is_told(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE)) as player:
        page, (first, second, third) = player.page, player.free
        traces = page.locator("#play-tray .trace")
        before = [player.in_tray(one).bounding_box() for one in (second, third)]
        player.lay(first, taps=True)
        # A taken piece leaves its outline; the others stay where they are.
        assert sorted(one.is_visible() for one in traces.all()) == [False, False, True]
        assert [player.in_tray(one).bounding_box() for one in (second, third)] == before
        player.lay(second, taps=True)
        assert not player.solved
        player.lay(third, taps=True)
        assert player.solved
        assert player.said == "Solved!"
        for button in (".challenge button", "#play-done button"):  # there is no other challenge
            assert not page.locator(button).first.is_visible()
        x, y = player.wanted_place(third)
        player.drag(third, (x - 1.2, y - 1.2))  # all pieces lie, the region is not covered
        assert not player.solved
        assert player.text("tally") == "1 of 1 solved"
        player.drag(third, player.wanted_place(second))
        assert f"overlaps {second}" in player.said
        assert page.locator("#play-board .piece.wrong").count() >= 2
        assert page.locator("#play-board .doubled").get_attribute("d") != ""
        player.drag(third, (-0.5, -0.5))
        assert "partly outside" in player.said
        assert not player.solved
        player.drag(third, (-5, -5))
        assert player.in_tray(third).is_visible()
        assert player.said == f"{third} is in the tray"


@pytest.mark.parametrize(
    ("name", "only", "by_keys"),
    [
        (*TRIANGLE, True),
        ("iqstars", "board", True),
        ("iqfit", "board", False),  # balls, of which some are turned to their other form
        pytest.param(*MIXED, False, marks=pytest.mark.long),
    ],
)
def test_every_kind_of_set_is_solved(plays: Opens, name: str, only: str, by_keys: bool) -> None:
    with plays(*entries_of(name, only)) as player:
        for piece in player.free:
            (player.lay_by_keys if by_keys else player.lay)(piece)
        assert player.solved
        if name == "iqstars":  # turned all around, a piece is where it was
            where, looks = player.place(piece), set()
            for _ in range(6):
                player.press("r")
                looks.add(player.look(piece))
            assert (player.place(piece), player.solved) == (where, True)
            assert len(looks) > 1


def test_two_taps_turn_over_where_that_is_allowed(plays: Opens) -> None:
    with plays(*entries_of("cubimagici", "tray")) as player:
        before = player.look("p1")
        player.in_tray("p1").dblclick()
        assert player.look("p1") == mirrored(before) != before
        assert player.said == "p1 turned over"
    with plays(*entries_of(*TRIANGLE)) as player:  # elsewhere they are two turns
        piece = player.free[1]
        before = player.look(piece)
        right, low = (max(point[axis] for edge in before for point in edge) for axis in (0, 1))
        player.in_tray(piece).dblclick()
        turned = {frozenset((right - x, low - y) for x, y in edge) for edge in before}
        assert player.look(piece) == turned != before
        player.press("f")
        assert player.said == f"{piece} cannot be turned over here."


def test_a_finger_drags_and_the_page_still_scrolls(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE), **FINGERS) as player:
        page, piece = player.page, player.free[0]
        touch_action = "one => getComputedStyle(one).touchAction"
        assert page.locator(".slot").first.evaluate(touch_action) == "none"
        assert page.locator("body").evaluate(touch_action) == "auto"
        x, y = player.measured(piece)[3:]
        board = player.box("#play-board")
        end_x, end_y = board["x"] + board["width"] / 2, board["y"] + board["height"] / 2 + 44
        touch = page.context.new_cdp_session(page)
        for part in (0.0, 0.3, 0.7, 1.0, None):
            kind = "touchMove" if part else "touchEnd" if part is None else "touchStart"
            at = {"x": x + (part or 0) * (end_x - x), "y": y + (part or 0) * (end_y - y)}
            points = [] if part is None else [at]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(100)
        assert player.on_board(piece).is_visible()
        assert "placed at column" in player.said
        look = player.look(piece)
        player.on_board(piece).tap()
        page.wait_for_timeout(100)
        assert player.look(piece) != look


SWALLOW = """window.addEventListener("pointerup", (event) => event.stopPropagation(),
  { capture: true, once: true })"""


def test_where_a_dragged_piece_will_land_is_shown(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE)) as player:
        page, piece = player.page, player.free[0]
        player.turn_by_taps(piece)
        x, y = player.wanted_place(piece)
        player.grab(piece, (x + 0.2, y - 0.2))
        ghost, region = player.box("#play-board .ghost"), player.box("#play-board .ground")
        unit = region["width"] / 3
        assert abs((ghost["x"] - region["x"]) / unit - x) < 0.05
        page.set_viewport_size(browser.PHONE)
        ground = player.box("#play-board .ground")
        page.mouse.move(ground["x"] + 40, ground["y"] + 20)
        floating, landing = (
            page.locator(one).evaluate("e => e.getBBox().width * e.getScreenCTM().a")
            for one in (".floating .body", "#play-board .ghost")
        )
        assert floating == pytest.approx(landing, abs=1)
        player.press("Escape")
        page.mouse.up()
        assert player.in_tray(piece).is_visible()
        assert page.locator("#play-board .ghost").get_attribute("d") == ""
        player.grab(piece, (0, 0))
        page.evaluate(SWALLOW)  # a release that nobody hears of
        page.mouse.up()
        assert player.holding
        page.mouse.move(300, 300)
        assert not player.holding
        assert player.in_tray(piece).is_visible()


# --- keyboard and pointer mixed, and what is broken off -------------------------------------------

UNDO, REDO = "Control+z", "Control+y"


def test_two_taps_turn_over_what_the_keyboard_carries(shapes: Shapes) -> None:
    with shapes("round") as player:
        before = player.look("wheel")
        player.pick_up("wheel")
        x, y = player.measured("wheel")[3:]
        player.page.mouse.dblclick(x, y)  # of the two turns the first would change nothing
        assert player.said.startswith("wheel turned over")
        assert player.look("wheel") == mirrored(before) != before
        where = player.place("wheel")
        player.press("ArrowRight")  # it is not carried any more
        assert player.place("wheel") == where
        player.press(UNDO)
        assert player.look("wheel") == before
        player.press(UNDO)
        assert player.in_tray("wheel").is_visible()
        player.press("r", "Shift+R")  # nor is a turn that changes nothing a step
        assert not player.can("undo")


def test_keyboard_and_pointer_hold_one_piece_once(shapes: Shapes) -> None:
    with shapes("wall") as player:
        player.grab("A", (0, 0))
        player.press("Enter", "ArrowRight")
        player.page.mouse.up()
        assert player.said.startswith("A placed at column 1, row 1")
        player.press(UNDO)
        assert player.in_tray("A").is_visible()
        assert not player.can("undo")
        player.in_tray("A").focus()
        for _ in range(4):  # the key is held down
            player.page.keyboard.down("Enter")
            assert player.said.startswith("A picked up")
        player.page.keyboard.up("Enter")
        player.press("ArrowRight")
        assert player.said.startswith("A: column")
        tray = player.box("#play-tray-title")
        player.grab("A", (0, 0))
        player.page.mouse.move(tray["x"], tray["y"])
        player.page.mouse.up()
        player.press("ArrowRight")
        assert player.said == "A is in the tray"
        player.press(UNDO)
        assert player.on_board("A").is_visible()


CANCEL = """() => document.dispatchEvent(
  new PointerEvent("pointercancel", { pointerId: fabkitPlay.page.table.hand.held.id }))"""


def test_a_drag_that_is_broken_off_leaves_everything(shapes: Shapes) -> None:
    with shapes("wall") as player:
        looks = [player.look("hook")]
        player.in_tray("hook").focus()
        for _ in range(2):
            player.press("r")
            looks.append(player.look("hook"))
        for script in ("", CANCEL):
            player.press(UNDO)
            player.grab("hook", (0, 0))
            player.press("f")  # also in the hand
            player.page.evaluate(script) if script else player.press("Escape")
            player.page.mouse.up()
            assert not player.holding
            assert player.look("hook") == looks[1]
            player.in_tray("hook").focus()
            player.press(REDO)
            assert player.look("hook") == looks[2]
            assert not player.can("redo")
        player.press(UNDO, UNDO)
        assert player.look("hook") == looks[0]
        assert not player.can("undo")
        player.grab("hook", (5, 0))
        player.press("h")  # a hint ends a drag, too
        assert not player.holding
        player.page.mouse.up()
        assert "Hint:" in player.said
        assert player.lying == 1
        player.press(UNDO)
        assert player.lying == 0
        assert not player.can("undo")
        player.drag("A", (0, 0))
        player.grab("hook", (2, 0))
        player.page.locator("[data-do=reset]").press("Enter")
        assert not player.holding
        player.page.mouse.up()
        assert player.lying == 0
        player.press(UNDO)
        assert player.on_board("A").is_visible()
        assert player.in_tray("hook").is_visible()


def test_what_changes_nothing_is_no_step(shapes: Shapes) -> None:
    with shapes("wall") as player:
        player.do("reset")
        player.pick_up("A")
        player.press("ArrowLeft", "Escape")  # back to the tray, from where it came
        assert player.in_tray("A").is_visible()
        assert not player.can("undo")
        player.pick_up("A")
        player.press("Enter")
        for keys in (["Tab"], ["Enter"], ["r", "r", "r", "r", "Enter"]):
            player.pick_up("A")
            player.press(*keys)
        player.pick_up("A")
        player.press(UNDO)
        assert player.in_tray("A").is_visible()
        assert not player.can("undo")
        player.do("reset")
        assert player.can("redo")  # what was undone is not lost
        player.drag("A", (0, 0))
        player.drag("A", (1, 0))
        player.press(UNDO)
        before = player.measured("A")
        player.grab("A", (2, 0))
        player.page.mouse.move(*before[3:])
        player.page.mouse.up()
        player.pick_up("A")
        player.press("ArrowRight", "ArrowLeft", "Enter")
        assert player.can("redo")


def test_the_keyboard_goes_on_after_a_step_back(shapes: Shapes) -> None:
    with shapes("wall") as player:
        focused = "document.activeElement.dataset.piece ?? document.activeElement.tagName"
        assert player.page.evaluate(focused) == "BODY"
        player.press("h")
        assert player.on_board("A").is_visible()
        player.page.evaluate("document.activeElement.blur()")
        player.press(UNDO)
        assert player.in_tray("A").is_visible()
        player.in_tray("A").focus()
        player.press("h", "h", UNDO)
        assert player.page.evaluate(focused) == "B"
        player.press(UNDO, "Control+Shift+z", "h")
        assert player.page.evaluate(focused) == "B"


# --- tools and hints ----------------------------------------------------------------------------


def test_tools_and_hints_are_counted_until_a_new_start(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE)) as player:
        piece = player.free[0]
        player.lay(piece)
        look = player.look(piece)
        player.do("tray", "undo")
        assert player.on_board(piece).is_visible()
        assert player.look(piece) == look
        player.do("redo")
        assert player.in_tray(piece).is_visible()
        player.do("hint", "reset")
        assert player.lying == 0
        player.do("undo")
        assert player.lying == 1
        player.do("hint", "hint")
        assert player.said == "Solved, with 3 hints."
        assert player.kept["solved"] == [[player.kept_as, 3]]
        player.do("reset")
        player.page.reload()  # what is kept of it is kept
        player.lay_all()
        assert player.said == "Solved!"
        assert player.kept["solved"] == [[player.kept_as, 0]]


def test_given_pieces_stay_and_what_has_no_solution_has_no_hint(plays: Opens) -> None:
    puzzle, entries = some_of_fridgeiq()
    with plays(puzzle, entries, 1) as player:
        (given,) = player.page.locator("#play-board .given").all()
        assert "stays there" in (given.get_attribute("aria-label") or "")
        place = given.get_attribute("style")
        given.click()
        assert not player.can("left")
        player.do("reset")
        assert given.get_attribute("style") == place
        player.lay_all()
    with plays(puzzle, entries, 2) as player:
        assert "proved to have no solution" in player.text("facts")
        assert not player.can("hint")
        player.page.locator("#play-tray .slot").first.focus()
        player.press("h")
        assert "there is no hint" in player.said
    full = tuple(Given(*one) for one in (entries[0].solution or {}).items())
    with plays(puzzle, [replace(entries[0], given=full)]) as player:
        assert player.solved  # nothing is left to do
        assert player.text("tally") == "0 of 1 solved"
        assert player.kept["solved"] == []


# --- what is kept -----------------------------------------------------------------------------


def test_progress_outlives_a_reload(plays: Opens) -> None:
    with plays(*some_of_fridgeiq()) as player:
        first, second, _ = player.free
        player.lay(first)
        player.in_tray(second).focus()
        player.press("r")
        player.do("hint")

        def stand() -> list[Any]:
            return [(player.look(one), player.on_board(one).is_visible()) for one in player.free]

        before = stand()
        player.page.goto(player.page.url.split("#")[0])
        assert stand() == before
        for piece in player.free:
            if player.in_tray(piece).is_visible():
                player.lay(piece)
        assert player.said == "Solved, with 1 hint."
        player.page.reload()
        assert player.solved
        assert player.text("tally") == "1 of 10 solved"
        assert [hints for _, hints in player.kept["solved"]] == [1]


BROKEN = (
    "nonsense",
    "[]",
    "null",
    '{"schema": 1, "open": 7, "solved": {"a": 1}, "boards": [7, [], ["triangle_01"]]}',
    '{"schema": 1, "boards": [["triangle_01", 0, [["D", 99, 0, 0], ["Y", 0, 1, 1], ["I", -1],'
    ' ["__proto__", 0, 0, 0], ["Y", 0, 9e9, 6], 7, null]]]}',
)
NEWER = '{"schema": 2, "solved": "in a way of which nothing is known"}'


def test_broken_progress_is_left_out_and_newer_is_not_lost(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE)) as player:
        for kept in (*BROKEN, NEWER):
            text = kept.replace('["triangle_01"', f'["{player.kept_as}"')
            player.page.evaluate("(text) => localStorage.setItem('fabkit/fridgeiq', text)", text)
            player.page.reload()
            assert player.lying == 0
            player.do("hint")
            assert player.lying == 1
            unkept = player.page.locator("#play-unkept").is_visible()
            assert unkept == (kept == NEWER)
            if not unkept:
                assert player.kept["open"] == "triangle_01"
        assert player.kept == json.loads(NEWER)


FORBIDDEN = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }"


def test_without_storage_it_is_played_and_says_so(plays: Opens) -> None:
    for script in (FORBIDDEN, FULL):
        with plays(*entries_of(*TRIANGLE)) as player:
            player.page.add_init_script(script)
            player.page.reload()
            player.lay_all()
            assert player.page.locator("#play-unkept").is_visible()


@pytest.mark.long
def test_two_windows_keep_what_both_have_done(plays: Opens) -> None:
    puzzle, entries = some_of_fridgeiq()
    with plays(puzzle, entries, 1) as player:
        page = player.page
        second = Player(page.context.new_page(), puzzle, entries[0])
        complaints = browser.watched(second.page)
        second.page.goto(page.url.replace("#given", "#triangle_01"))
        page.bring_to_front()
        player.lay_all()
        second.page.bring_to_front()
        second.page.wait_for_timeout(100)  # it hears of the other
        assert second.text("tally") == "1 of 10 solved"
        second.do("hint")
        page.bring_to_front()
        player.do("undo")
        page.reload()
        assert player.text("tally") == "1 of 10 solved"
        second.page.bring_to_front()
        second.page.reload()
        assert second.lying == 1
        assert complaints == []


# --- the list and where one is ------------------------------------------------------------------


def test_challenges_are_chosen_from_list_address_and_arrows(plays: Opens) -> None:
    puzzle, entries = some_of_fridgeiq()
    with plays(puzzle, entries, 4) as player:
        page = player.page

        def is_open(place: int) -> None:
            told = "(id) => fabkitPlay.page.entry.id === id"
            page.wait_for_function(told, arg=entries[place].id)

        is_open(4)
        page.evaluate("location.hash = 'there-is-none'")
        page.evaluate("location.hash = '%E0%A4%A'")
        is_open(4)
        page.locator("#play-list .card", has_text="Triangle").first.click()
        is_open(0)
        page.locator(".challenge [data-do=next]").click()
        is_open(1)
        assert page.evaluate("document.activeElement.dataset.do") == "next"
        page.locator(".challenge [data-do=previous]").click()
        is_open(0)
        page.go_back()
        is_open(1)
        page.locator("#play-kind").select_option("snowflake")
        assert page.locator("#play-list li:visible").count() == 7
        page.locator("#play-level").select_option("starter")
        assert page.locator("#play-nothing").is_visible()
        page.locator("#play-kind").select_option("")
        assert page.locator("#play-list li:visible").count() == 2


def test_a_chosen_challenge_comes_into_sight_with_the_focus(plays: Opens) -> None:
    with plays(*some_of_fridgeiq(), **FINGERS) as player:
        focused = "document.activeElement.id"
        player.page.locator("#play-list .card").nth(3).tap()
        player.page.wait_for_timeout(100)
        assert 0 <= player.box("#play-title")["y"] < browser.PHONE["height"] / 3
        assert player.page.evaluate(focused) == "play-title"
        assert player.page.evaluate("location.hash") != ""
        player.page.locator("#play-list .card").first.tap()
        player.do("hint", "hint", "hint")
        player.page.locator("#play-done [data-do=next]").click()
        assert player.page.evaluate(focused) == "play-title"


# --- how it looks -----------------------------------------------------------------------------

FILES = (Download("files/A.stl", "A.stl", "12 kB"), Download("files/all.3mf", "all.3mf"))
LONG_WORD = "Donaudampfschifffahrts" * 5
#: The least room, in pixels, between a tool's label and the sides of its button.
ROOM = """() => Math.min(...[...document.querySelectorAll(".tool")].map((tool) => {
  const range = document.createRange();
  range.selectNodeContents(tool.querySelector("span"));
  const [label, button] = [range.getBoundingClientRect(), tool.getBoundingClientRect()];
  return Math.min(label.left - button.left, button.right - label.right);
}))"""
#: Every text that is seen, with its colour and that of what is behind it.
TEXTS = """() => {
  const seen = [], hex = (c) => "#" + c.match(/\\d+/g).slice(0, 3)
    .map((n) => Number(n).toString(16).padStart(2, "0")).join("");
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
    seen.push([text, hex(color), hex(getComputedStyle(back).backgroundColor)]);
  }
  return seen;
}"""


def unreadable(page: Page) -> list[str]:
    """Texts at a contrast of less than 4.5 : 1."""
    texts = page.evaluate(TEXTS)
    assert len(texts) > 30
    return [one for one in texts if contrast(linear(one[1]), linear(one[2])) < 4.5]


@pytest.mark.parametrize(
    ("width", "scheme", "language", "word"),
    [
        (320, "light", "de", LONG_WORD),
        (360, "dark", "fr", ""),
        (360, "light", "en", ""),
        (640, "dark", "de", LONG_WORD),
        (768, "light", "it", ""),
        (1280, "dark", "en", ""),
    ],
)
def test_it_fits_the_window_and_can_be_read(
    plays: Opens, width: int, scheme: str, language: str, word: str
) -> None:
    puzzle, entries = some_of_fridgeiq()
    if word:
        puzzle = replace(puzzle, title=word, credit=word, licence="🧩" * 90)
        entries = tuple(replace(one, title=word) for one in entries)
    window = {"viewport": {"width": width, "height": 740}, "color_scheme": scheme}
    with plays(puzzle, entries, 9, language, FILES, **window) as player:
        page = player.page
        assert page.locator("#play-list .card").count() == 10
        player.do("hint", "hint")
        assert page.evaluate("document.fonts.ready.then(() => document.fonts.size)") == 2
        assert page.evaluate("document.documentElement.lang") == language
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert not {"{", "undefined"} & set(page.locator("body").inner_text().split())
        assert page.evaluate(ROOM) >= (0 if word else 4)
        assert unreadable(page) == []
        assert (pixels(page.screenshot())[-5, -5].max() < 60) == (scheme == "dark")
        page.emulate_media(media="print", color_scheme=scheme)
        assert pixels(page.screenshot())[-5, -5].min() == 255


NAMES = (
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    "${window.ran = 1}{piece}&lt;b&gt;",
    "\u202egnirts desrever\u2067\u200f",
)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_texts_are_text(plays: Opens, name: str) -> None:
    puzzle, (entry,) = entries_of(*TRIANGLE)
    labelled = tuple(replace(piece, label=name) for piece in puzzle.pieces)
    puzzle = replace(puzzle, title=name, credit=name, licence=name, pieces=labelled)
    entry = replace(entry, id=f"an id {name}", title=name)
    with plays(puzzle, [entry], downloads=[Download("files/A.stl", name, name)]) as player:
        page = player.page
        assert page.locator("img, b").count() == 0
        assert page.locator("script").count() == page.locator("script[src]").count()
        seen = "".join(c for c in name if c.isprintable())
        for place in ("#play-title", "#play-list .card-title", "h1", "footer", ".downloads"):
            assert seen[:8] in page.locator(place).inner_text()
        head, tally = player.box("h1"), player.box("#play-tally")
        assert head["x"] < tally["x"] or head["y"] < tally["y"]
        player.do("hint")
        page.reload()
        assert player.lying == 1
        assert page.evaluate("window.ran") is None


@pytest.mark.long
def test_the_focus_is_seen_along_the_shape_of_a_piece(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE)) as player:
        player.lay("I")
        player.press("r", "Shift+R")  # from now on the keyboard is used
        drawn = player.page.locator("#play-board")
        with_focus = pixels(drawn.screenshot())
        player.page.evaluate("document.activeElement.blur()")
        changed = np.abs(with_focus - pixels(drawn.screenshot())).max(axis=2) > 60
        piece, board = player.box('#play-board [data-piece="I"] .body'), player.box("#play-board")
        left, top = (round(piece[key] - board[key]) for key in "xy")
        wide, high = round(piece["width"]), round(piece["height"])
        rows, columns = (
            (slice(at - 8, at + n // 4), slice(at + n * 3 // 4, None))
            for at, n in ((top, high), (left, wide))
        )
        # Not at the corner that the triangle does not fill.
        assert sum(changed[row, column].any() for row in rows for column in columns) == 3


# --- printing ---------------------------------------------------------------------------------


def test_a_printed_silhouette_is_as_large_as_the_pieces(plays: Opens, tmp_path: Path) -> None:
    with plays(*entries_of("fridgeiq", "square_05")) as player:
        player.page.pdf(path=tmp_path / "sheet.pdf", format="A4", print_background=False)
    dots = 200
    subprocess.run(
        ["pdftoppm", "-r", str(dots), "-png", "sheet.pdf", "sheet"], cwd=tmp_path, check=True
    )
    (picture,) = tmp_path.glob("sheet*.png")
    colours = pixels(picture.read_bytes())
    grey = np.abs(colours - [0xB5, 0xB0, 0xA4]).max(axis=2) < 8
    mm = 25.4 / dots
    side_mm = 20 * (len(player.entry.region) / 4) ** 0.5
    for places in np.nonzero(grey):
        assert abs(np.ptp(places) * mm - side_mm) < 0.3
    assert abs(grey.sum() * mm * mm / side_mm**2 - 1) < 0.005
    dark = (colours.max(axis=2) < 60).sum(axis=1)
    assert abs(dark.max() * mm - 100) < 0.5  # the bar
    puzzle, (entry,) = entries_of("fridgeiq", "square_05")
    far = entry.region | {(x + 60, y) for x, y in entry.region}
    with plays(puzzle, [replace(entry, region=far, solution=None)]) as player:
        player.page.emulate_media(media="print")
        assert player.text("print-scale").startswith("Too large for a sheet")
        assert not player.page.locator("#play-print-bar").is_visible()
