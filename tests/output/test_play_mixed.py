"""Hands that mix keyboard and pointer, break off what they began, or do what changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from fabkit.build.entries import gather
from fabkit.model.setfile import read_set
from tests.support import browser
from tests.support.playpages import Player, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [browser.needed, pytest.mark.integration]

Opens = Callable[[str], Player]

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


@pytest.fixture(scope="module")
def opens_any(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opens]:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "shapes.toml").write_text(SHAPES)
    puzzle = read_set(folder / "shapes.toml")
    entries = {one.id: one for one in gather(puzzle)}
    url = write_page(folder / "page", puzzle, list(entries.values()))
    with browser.opened(chromium, url) as page:

        def opened(name: str) -> Player:
            page.goto("about:blank")
            page.goto(f"{url}#{name}")
            page.evaluate("localStorage.clear()")
            page.reload()
            return Player(page, puzzle, entries[name])

        yield opened


@pytest.fixture
def opens(opens_any: Opens) -> Iterator[Opens]:
    """Opens a challenge as if for the first time, in a page that must have nothing to complain about."""
    page = opens_any("wall").page
    complaints = browser.watched(page)
    yield opens_any
    page.mouse.up()
    page.keyboard.up("Enter")
    page.wait_for_timeout(20)  # for what comes late
    assert complaints == []


def in_hand(player: Player) -> bool:
    return player.page.locator(".dragging").count() > 0


# --- keyboard and pointer ---------------------------------------------------------------------


def test_what_the_keyboard_carries_may_be_dragged_to_the_tray(opens: Opens) -> None:
    player = opens("wall")
    player.pick_up("A")
    tray = player.page.locator("#play-tray-title").bounding_box()
    assert tray
    player.grab("A", (0, 0))
    player.page.mouse.move(tray["x"], tray["y"])
    player.page.mouse.up()
    player.press("ArrowRight")
    assert player.said == "A is in the tray"
    player.press("Control+z")
    assert player.on_board("A").is_visible()
    player.press("Control+z")
    assert player.in_tray("A").is_visible()
    assert not player.can("undo")


def test_two_taps_turn_over_what_the_keyboard_carries(opens: Opens) -> None:
    player = opens("wall")
    before = player.look("hook")
    player.pick_up("hook")
    letter = player.on_board("hook").locator(".letter").bounding_box()
    assert letter
    x, y = letter["x"] + letter["width"] / 2, letter["y"] + letter["height"] / 2
    player.page.mouse.dblclick(x, y)
    assert player.said.startswith("hook turned over")
    assert player.on_board("hook").is_visible()
    assert player.look("hook") == mirrored(before) != before
    where = player.place("hook")
    player.press("ArrowRight")  # it is not carried any more
    assert player.place("hook") == where
    player.press("Control+z")
    assert player.look("hook") == before
    assert player.on_board("hook").is_visible()


def mirrored(look: frozenset[frozenset[tuple[int, int]]]) -> set[frozenset[tuple[int, int]]]:
    right = max(x for edge in look for x, _ in edge)
    return {frozenset((right - x, y) for x, y in edge) for edge in look}


def test_two_taps_take_back_nothing_but_the_turn_of_the_first(opens: Opens) -> None:
    player = opens("round")
    before = player.look("wheel")
    player.pick_up("wheel")
    player.press("Enter")
    player.on_board("wheel").dblclick()
    assert player.look("wheel") == mirrored(before) != before
    assert player.on_board("wheel").is_visible()
    player.press("Control+z", "Control+z")
    assert player.in_tray("wheel").is_visible()
    assert not player.can("undo")


def test_what_the_pointer_holds_is_not_picked_up(opens: Opens) -> None:
    player = opens("wall")
    player.grab("A", (0, 0))
    player.press("Enter", "ArrowRight")
    player.page.mouse.up()
    assert player.said.startswith("A placed at column 1, row 1")
    player.press("Control+z")
    assert player.in_tray("A").is_visible()
    assert not player.can("undo")


def test_enter_held_down_picks_up_once(opens: Opens) -> None:
    player = opens("wall")
    player.in_tray("A").focus()
    for _ in range(4):
        player.page.keyboard.down("Enter")
        assert player.said.startswith("A picked up")
    player.page.keyboard.up("Enter")
    player.press("ArrowRight")
    assert player.said.startswith("A: column")


# --- broken off -------------------------------------------------------------------------------

BREAKS = {
    "Escape": "",
    "pointercancel": """() => {
      const pointerId = fabkitPlay.page.table.hand.held.id;
      document.dispatchEvent(new PointerEvent("pointercancel", { pointerId }));
    }""",
}


@pytest.mark.parametrize("how", BREAKS)
def test_a_drag_that_is_broken_off_leaves_everything_as_it_was(opens: Opens, how: str) -> None:
    player = opens("wall")
    before = player.look("hook")
    player.in_tray("hook").focus()
    player.press("r")
    once = player.look("hook")
    player.press("r")
    twice = player.look("hook")
    player.press("Control+z")
    player.grab("hook", (0, 0))
    player.press("f")  # also in the hand
    if BREAKS[how]:
        player.page.evaluate(BREAKS[how])
    else:
        player.press(how)
    assert not in_hand(player)
    assert player.look("hook") == once
    player.press("Control+y")
    assert player.look("hook") == twice
    assert not player.can("redo")
    player.press("Control+z", "Control+z")
    assert player.look("hook") == before
    assert not player.can("undo")


def test_a_hint_ends_a_drag(opens: Opens) -> None:
    player = opens("wall")
    player.grab("hook", (5, 0))
    player.press("h")
    assert not in_hand(player)
    player.page.mouse.up()
    assert "Hint:" in player.said
    assert player.page.locator("#play-board .piece:not(.gone)").count() == 1
    player.press("Control+z")
    assert player.page.locator("#play-board .piece:not(.gone)").count() == 0
    assert not player.can("undo")


def test_starting_again_ends_a_drag(opens: Opens) -> None:
    player = opens("wall")
    player.drag("A", (0, 0))
    player.grab("hook", (2, 0))
    player.page.locator("[data-do=reset]").press("Enter")
    assert not in_hand(player)
    player.page.mouse.up()
    assert all(player.in_tray(piece).is_visible() for piece in player.free)
    player.press("Control+z")
    assert player.on_board("A").is_visible()
    assert player.in_tray("hook").is_visible()


# --- what changes nothing ---------------------------------------------------------------------


def test_picking_up_and_going_on_is_no_step(opens: Opens) -> None:
    player = opens("wall")
    player.pick_up("A")
    player.press("Enter")
    for keys in (["Tab"], ["Enter"], ["r", "r", "r", "r", "Enter"]):
        player.pick_up("A")
        player.press(*keys)
    player.pick_up("A")
    player.press("Control+z")
    assert player.in_tray("A").is_visible()
    assert not player.can("undo")
    assert player.can("redo")


def test_taking_back_what_came_from_the_tray_is_no_step(opens: Opens) -> None:
    player = opens("wall")
    player.pick_up("A")
    player.press("ArrowLeft", "Escape")
    assert player.in_tray("A").is_visible()
    assert not player.can("undo")


def test_turning_what_turning_leaves_is_no_step(opens: Opens) -> None:
    player = opens("round")
    player.in_tray("wheel").focus()
    player.press("r", "Shift+R")
    assert not player.can("undo")


def test_starting_again_before_anything_was_done_is_no_step(opens: Opens) -> None:
    player = opens("wall")
    player.page.locator("[data-do=reset]").click()
    assert not player.can("undo")
    player.drag("A", (0, 0))
    player.press("Control+z")
    player.page.locator("[data-do=reset]").click()
    assert player.can("redo")


def test_a_piece_put_back_where_it_was_leaves_what_was_undone(opens: Opens) -> None:
    player = opens("wall")
    player.drag("A", (0, 0))
    player.drag("A", (1, 0))
    player.press("Control+z")
    before = player.on_board("A").bounding_box()
    assert before
    player.grab("A", (2, 0))
    player.page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    player.page.mouse.up()
    player.pick_up("A")
    player.press("ArrowRight", "ArrowLeft", "Enter")
    assert player.can("redo")


def test_the_keyboard_goes_on_after_a_step_back(opens: Opens) -> None:
    player = opens("wall")
    focused = "document.activeElement.dataset.piece ?? document.activeElement.tagName"
    player.in_tray("A").focus()
    player.press("h", "h", "Control+z")
    assert player.page.evaluate(focused) == "B"
    player.press("Control+z", "Control+Shift+z", "h")
    assert player.page.evaluate(focused) == "B"


def test_keys_work_before_anything_has_the_focus(opens: Opens) -> None:
    player = opens("wall")
    assert player.page.evaluate("document.activeElement === document.body")
    player.press("h")
    assert player.on_board("A").is_visible()
    player.page.evaluate("document.activeElement.blur()")
    player.press("Control+z")
    assert player.in_tray("A").is_visible()
