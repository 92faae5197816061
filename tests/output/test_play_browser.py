"""Challenges in a real browser: played by drags, taps and keys, kept, chosen, read and printed."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image

from fabkit.model.puzzle import Entry, Given, PuzzleSet
from fabkit.output.web.document import Download
from tests.conftest import ROOT
from tests.support import browser
from tests.support.booklets import Read
from tests.support.colours import contrast_ratio, linear
from tests.support.entries import altered
from tests.support.playpages import Pages, Player, entries_of, mirrored, some_of_fridgeiq

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = browser.needed

#: Opens a page with challenges of a set, and one of them.
Opens = Callable[..., AbstractContextManager[Player]]
Shapes = Callable[[str], AbstractContextManager[Player]]
TRIANGLE = ("fridgeiq", "triangle_01")
#: Symmetric about the diagonal, of pieces that lie on two lattices and may be turned over.
MIXED = ("fridgeiq", "mixed1-4-eaa5febe52")
FINGERS: dict[str, Any] = {"viewport": browser.PHONE, "has_touch": True, "is_mobile": True}
#: Bars of the same shape, a hook, and a wheel that looks the same when it is turned, but not when
#: it is turned over.
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
def plays(chromium: Browser, pages: Pages) -> Opens:
    @contextmanager
    def play(
        puzzle: PuzzleSet,
        entries: Sequence[Entry],
        at: int = 0,
        language: str = "",
        downloads: Sequence[Download] = (),
        **settings: Any,
    ) -> Iterator[Player]:
        url = pages.url(puzzle, entries, language, downloads)
        url += f"#{quote(entries[at].challenge.id)}"
        with browser.opened(chromium, url, **settings) as page:
            yield Player(page, puzzle, entries[at])

    return play


@pytest.fixture(scope="module")
def shapes_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("shapes") / "shapes.toml"
    file.write_text(SHAPES)
    return str(file)


@pytest.fixture
def shapes(plays: Opens, shapes_file: str) -> Shapes:
    return lambda only: plays(*entries_of(shapes_file, only))


def pixels(shot: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(shot)) as image:
        return np.asarray(image.convert("RGB"), dtype=int)


# --- solved -----------------------------------------------------------------------------------


def test_taps_and_drags_solve_and_mistakes_are_announced(plays: Opens) -> None:
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
        assert player.announced == "Solved!"
        for button in (".challenge button", "#play-done button"):  # there is no other challenge
            assert not page.locator(button).first.is_visible()
        x, y = player.wanted_place(third)
        player.drag(third, (x - 1.2, y - 1.2))  # all pieces lie, the region is not covered
        assert not player.solved
        assert player.text("tally") == "1 of 1 solved"
        player.drag(third, player.wanted_place(second))
        assert f"overlaps {second}" in player.announced
        assert page.locator("#play-board .piece.wrong").count() >= 2
        assert page.locator("#play-board .doubled").get_attribute("d") != ""
        player.drag(third, (-0.5, -0.5))
        assert "partly off the board" in player.announced
        assert not player.solved
        player.drag(third, (-5, -5))
        assert player.in_tray(third).is_visible()
        assert player.announced == f"{third} is in the tray"


@pytest.mark.parametrize(
    ("name", "only", "by_keys"),
    [
        (*TRIANGLE, True),
        ("iqstars", "board", True),
        ("iqfit", "board", False),  # balls, of which some are turned to their other form
        pytest.param("balls12", "board", False, marks=pytest.mark.integration),
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
        drawn = player.in_tray("p1").locator(".body").first.get_attribute("fill")
        assert drawn == player.page.evaluate("FABKIT.pieces.find((one) => one.id === 'p1').colour")
        assert player.announced == "p1 turned over"
    with plays(*entries_of(*TRIANGLE)) as player:  # elsewhere they are two turns
        piece = player.free[1]
        before = player.look(piece)
        right, low = (max(point[axis] for edge in before for point in edge) for axis in (0, 1))
        player.in_tray(piece).dblclick()
        turned = {frozenset((right - x, low - y) for x, y in edge) for edge in before}
        assert player.look(piece) == turned != before
        player.press("f")
        assert player.announced == f"{piece} can’t be turned over here."


def drag_by_finger(player: Player, piece: str) -> None:
    """To the middle of the board."""
    x, y = player.measured(piece)[3:]
    board = player.box("#play-stage")
    to_x, to_y = board["x"] + board["width"] / 2, board["y"] + board["height"] / 2 + 44
    moves = [[(x + part * (to_x - x), y + part * (to_y - y))] for part in (0.0, 0.3, 0.7, 1.0)]
    player.touch(*moves)


def test_a_finger_drags_and_the_page_still_scrolls(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE), **FINGERS) as player:
        page, piece = player.page, player.free[0]
        touch_action = "one => getComputedStyle(one).touchAction"
        assert page.locator(".slot").first.evaluate(touch_action) == "none"
        assert page.locator("body").evaluate(touch_action) == "auto"
        assert page.locator("#play-stage").evaluate(touch_action) == "pan-x pan-y"
        drag_by_finger(player, piece)
        assert player.on_board(piece).is_visible()
        assert "placed at column" in player.announced
        look = player.look(piece)
        player.on_board(piece).tap()
        player.other_look(piece, look)


#: The piece to drag: one that looks different whenever it is turned.
UNEVEN = """() => FABKIT.pieces.toSorted((a, b) => b.plain - a.plain)[0].id"""


@pytest.mark.parametrize("fingers", [False, True])
def test_no_tap_is_lost_after_a_drag(plays: Opens, fingers: bool) -> None:
    """Where the pointer was released, and on the piece."""
    window: dict[str, Any] = FINGERS if fingers else {}
    with plays(*entries_of("fridgeiq", "square_05"), **window) as player:
        page, dice = player.page, random.Random(6)
        session = page.context.new_cdp_session(page)

        def send(kind: str, point: tuple[float, float]) -> None:
            if fingers:
                kinds = {"down": "touchStart", "move": "touchMove", "up": "touchEnd"}
                points = [{"x": point[0], "y": point[1]}] if kind != "up" else []
                session.send(
                    "Input.dispatchTouchEvent", {"type": kinds[kind], "touchPoints": points}
                )
            else:
                kinds = {"down": "mousePressed", "move": "mouseMoved", "up": "mouseReleased"}
                event = {"type": kinds[kind], "x": point[0], "y": point[1], "button": "left"}
                event |= {"buttons": int(kind != "up"), "clickCount": int(kind != "move")}
                session.send("Input.dispatchMouseEvent", event)

        piece = page.evaluate(UNEVEN)
        ground, float_px = player.box("#play-board .ground"), 44 if fingers else 0
        for number in range(100):
            x, y = player.measured(piece)[3:]
            end = [
                ground[low] + dice.uniform(0.3, 0.7) * ground[size]
                for low, size in (("x", "width"), ("y", "height"))
            ]
            released = end[0], end[1] + float_px
            send("down", (x, y))
            send("move", ((x + released[0]) / 2, (y + released[1]) / 2))
            send("move", released)
            send("up", released)
            player.until("() => !document.querySelector('.dragging')")
            assert player.on_board(piece).is_visible()
            unit, *middle = player.measured(piece)[2:]
            assert abs(middle[0] - end[0]) < 3 * unit, number  # it was dragged
            assert abs(middle[1] - end[1]) < 3 * unit, number
            before = player.look(piece)
            point = (middle[0], middle[1]) if number % 2 else released
            send("down", point)
            send("up", point)
            player.other_look(piece, before)


def test_a_finger_drags_what_lies_on_the_board(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE), **FINGERS) as player:
        piece = player.free[0]
        drag_by_finger(player, piece)
        before, (x, y) = player.place(piece), player.measured(piece)[3:]
        unit = player.measured(piece)[2]
        ends = [(x + part * unit, y + part * 44) for part in (0.2, 0.5, 1)]  # a unit to the right
        player.touch([(x, y)], *([end] for end in ends))
        assert player.on_board(piece).is_visible()
        assert player.place(piece) != before


def test_two_fingers_enlarge_the_board_and_pieces_are_dragged_all_the_same(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE), **FINGERS) as player:
        page, (first, second, _) = player.page, player.free
        drag_by_finger(player, first)
        look, stage, wide = player.look(first), player.box("#play-stage"), player.box("#play-board")
        place, (x, y) = player.place(first), player.measured(first)[3:]  # one finger is on a piece
        player.touch([(x, y)], [(x, y), (x + 80, y)], [(x - 80, y), (x + 80, y)])
        board = player.box("#play-board")
        assert board["width"] == pytest.approx(2 * wide["width"], abs=2)
        assert player.box("#play-stage") == stage
        assert (player.look(first), player.place(first)) == (look, place)  # nor was it a tap
        assert not player.holding
        unit = player.measured(first)[2]
        drag_by_finger(player, second)
        assert player.on_board(second).is_visible()
        assert player.measured(second)[2] == pytest.approx(unit)
        player.in_tray(player.free[2]).tap()
        for keys in ("-", "-", "-"):
            player.press(keys)
        assert player.box("#play-board") == wide
        page.locator("[data-do=menu]").tap()
        page.locator("[data-do=larger]").tap()
        player.until("() => document.getElementById('play-zoom').innerText === '133 %'")
        page.locator("[data-do=menu]").tap()
        page.locator("#play-menu").wait_for(state="hidden")


# --- the first visit ----------------------------------------------------------------------------


def test_a_first_visit_is_shown_how_to_play_once(plays: Opens) -> None:
    puzzle, entries = entries_of("iqfit", "board")
    with plays(puzzle, entries, first_visit=True, **FINGERS) as player:
        page, how = player.page, player.page.locator("#play-how")
        assert how.locator("li svg").count() == 3  # balls are turned over
        assert how.locator("li").last.inner_text().endswith("Tap twice to turn it over.")
        page.get_by_role("button", name="Play", exact=True).tap()
        how.wait_for(state="hidden")
        drag_by_finger(player, player.free[0])
        assert player.placed_count == 1
        page.reload()
        assert not how.is_visible()
        page.get_by_role("button", name="How to play").tap()
        how.wait_for()
        page.touchscreen.tap(5, 5)  # beside it
        how.wait_for(state="hidden")
    with plays(*entries_of(*TRIANGLE), first_visit=True) as player:
        assert player.page.locator("#play-how li").count() == 2
        assert not player.page.locator("#play-how tr.over").is_visible()
        player.press("Escape")
        assert not player.page.locator("[data-do=flip]").is_visible()
        player.page.reload()
        assert not player.page.locator("#play-how").is_visible()


def test_there_is_a_challenge_for_every_day(plays: Opens) -> None:
    puzzle, entries = some_of_fridgeiq()
    days, today = {}, "fabkitPlay.page.challenges.today.id"
    with plays(puzzle, entries) as player:
        page = player.page
        url = page.url.split("#")[0]
        for day in ("2026-11-23", "2026-11-25", "2026-11-29", "2026-12-07", "2026-11-23"):
            page.clock.set_fixed_time(f"{day}T12:00:00")
            page.goto(url)
            page.evaluate("localStorage.removeItem('fabkit/fridgeiq')")
            page.reload()
            assert page.evaluate("fabkitPlay.page.entry.id") == "triangle_01"  # the first visit
            shown = page.evaluate(today)
            assert shown == days.setdefault(day, shown)
            assert f"{int(day[-2:])}" in page.locator(".today").inner_text()
        order = page.evaluate("FABKIT.entries.map((one) => one.id)")
        assert "none" not in days.values()  # it has no solution
        places = [order.index(days[f"2026-11-{day}"]) for day in (23, 25, 29)]
        assert places == sorted(set(places))
        page.locator("#play-list .card").nth(3).click()
        page.locator(".today").click()
        assert page.evaluate("fabkitPlay.page.entry.id") == days["2026-11-23"]


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
        assert player.announced.startswith("wheel turned over")
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
        assert player.announced.startswith("A placed at column 1, row 1")
        player.press(UNDO)
        assert player.in_tray("A").is_visible()
        assert not player.can("undo")
        player.in_tray("A").focus()
        for _ in range(4):  # the key is held down
            player.page.keyboard.down("Enter")
            assert player.announced.startswith("A picked up")
        player.page.keyboard.up("Enter")
        player.press("ArrowRight")
        assert player.announced.startswith("A: column")
        tray = player.box("#play-tray-title")
        player.grab("A", (0, 0))
        player.page.mouse.move(tray["x"], tray["y"])
        player.page.mouse.up()
        player.press("ArrowRight")
        assert player.announced == "A is in the tray"
        player.press(UNDO)
        assert player.on_board("A").is_visible()


CANCEL = """() => document.dispatchEvent(
  new PointerEvent("pointercancel", { pointerId: fabkitPlay.page.session.hand.grip.id }))"""


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
        assert "Hint:" in player.announced
        player.hint()
        player.press(UNDO)
        assert player.placed_count == 0
        assert not player.can("undo")
        player.drag("A", (0, 0))
        player.grab("hook", (2, 0))
        player.page.locator("[data-do=reset]").press("Enter")
        assert not player.holding
        player.page.mouse.up()
        assert player.placed_count == 0
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


def hint_by_keys(player: Player, wanted: int) -> None:
    """Asks for hints until so many pieces lie."""
    for _ in range(3 * wanted):
        if player.placed_count < wanted:
            player.press("h")
    assert player.placed_count == wanted


def test_the_keyboard_goes_on_after_a_step_back(shapes: Shapes) -> None:
    with shapes("wall") as player:
        focused = "document.activeElement.dataset.piece ?? document.activeElement.tagName"
        assert player.page.evaluate(focused) == "BODY"
        order = player.page.evaluate("fabkitPlay.page.entry.order")
        first, second = ("A", "B", "hook")[order[0]], ("A", "B", "hook")[order[1]]
        hint_by_keys(player, 1)
        assert player.on_board(first).is_visible()
        player.page.evaluate("document.activeElement.blur()")
        player.press(UNDO)
        assert player.in_tray(first).is_visible()
        player.in_tray(first).focus()
        hint_by_keys(player, 2)
        player.press(UNDO)
        assert player.page.evaluate(focused) == second
        player.press(UNDO, "Control+Shift+z", "h")
        assert player.page.evaluate(focused) == second


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
        player.hint()
        player.do("reset")
        assert player.placed_count == 0
        player.do("undo")
        assert player.placed_count == 1
        player.hint(2)
        assert player.announced == "Solved, with 3 hints."
        assert player.kept["solved"] == [[player.kept_as, 3]]
        player.do("reset")
        player.page.reload()  # what is kept of it is kept
        player.lay_all()
        assert player.announced == "Solved!"
        assert player.kept["solved"] == [[player.kept_as, 0]]


def test_given_pieces_stay_and_what_has_no_solution_has_no_hint(plays: Opens) -> None:
    puzzle, entries = some_of_fridgeiq()
    with plays(puzzle, entries, 1) as player:
        (given,) = player.page.locator("#play-board .given").all()
        assert "fixed at" in (given.get_attribute("aria-label") or "")
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
        assert "so there are no hints" in player.announced
    full = tuple(Given(*one) for one in (entries[0].solution or {}).items())
    with plays(puzzle, [altered(entries[0], given=full)]) as player:
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
        player.hint()

        def stand() -> list[Any]:
            return [(player.look(one), player.on_board(one).is_visible()) for one in player.free]

        before = stand()
        player.until("() => fabkitPlay.page.session.isSaved")
        player.page.goto(player.page.url.split("#")[0])
        assert stand() == before
        for piece in player.free:
            if player.in_tray(piece).is_visible():
                player.lay(piece)
        assert player.announced == "Solved, with 1 hint."
        player.page.reload()
        assert player.solved
        assert player.text("tally") == "1 of 9 solved"
        assert [hints for _, hints in player.kept["solved"]] == [1]


#: No moment is idle, and what is written is counted.
BUSY = """window.requestIdleCallback = () => 0;
window.writes = 0;
const write = Storage.prototype.setItem;
Storage.prototype.setItem = function (...all) { window.writes += 1; write.apply(this, all); };"""


def test_progress_is_written_when_idle_and_when_the_page_goes(plays: Opens) -> None:
    with plays(*entries_of(*TRIANGLE)) as player:
        page, piece = player.page, player.free[0]
        page.add_init_script(BUSY)
        page.reload()
        before = page.evaluate("window.writes")
        player.lay(piece)
        assert page.evaluate("window.writes") == before
        where = player.place(piece)
        page.reload()  # fires pagehide
        assert player.place(piece) == where
        player.on_board(piece).focus()
        player.do("tray")
        page.evaluate("window.dispatchEvent(new Event('pagehide'))")
        assert player.kept["boards"][0][3] == 2  # moves
    with plays(*entries_of(*TRIANGLE)) as player:
        player.lay(player.free[0])
        player.until("() => localStorage.getItem('fabkit/fridgeiq').includes('\"boards\":[[')")


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
            player.until("() => fabkitPlay.page.session.isSaved")
            player.page.evaluate("(text) => localStorage.setItem('fabkit/fridgeiq', text)", text)
            player.page.reload()
            assert player.placed_count == 0
            player.hint()
            assert player.placed_count == 1
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
            if script == FORBIDDEN:  # nor does it know who has seen how to play
                player.press("Escape")
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
        # It hears of the other.
        second.page.locator("#play-tally", has_text="1 of 9 solved").wait_for()
        second.hint()
        page.bring_to_front()
        player.do("undo")
        page.reload()
        assert player.text("tally") == "1 of 9 solved"
        second.page.bring_to_front()
        second.page.reload()
        assert second.placed_count == 1
        assert complaints == []


# --- the list and where one is ------------------------------------------------------------------


def test_challenges_are_chosen_from_list_address_and_arrows(plays: Opens) -> None:
    puzzle, entries = some_of_fridgeiq()
    with plays(puzzle, entries, 4) as player:
        page = player.page

        def is_open(place: int) -> None:
            script = "(id) => fabkitPlay.page.entry.id === id"
            page.wait_for_function(script, arg=entries[place].challenge.id)

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
        listed = page.locator("#play-list li:visible")
        page.get_by_role("button", name="Snowflakes").click()
        assert listed.count() == 7
        page.get_by_role("button", name="All", exact=True).click()
        assert listed.count() == 10


def test_a_chosen_challenge_comes_into_sight_with_the_focus(plays: Opens) -> None:
    with plays(*some_of_fridgeiq(), **FINGERS) as player:
        is_focused = "document.activeElement.id === 'play-title'"
        cards = player.page.locator("#play-list .card")
        cards.nth(3).tap()
        player.until("hash => location.hash === hash", cards.nth(3).get_attribute("href"))
        assert 0 <= player.box("#play-title")["y"] < browser.PHONE["height"] / 3
        assert player.page.evaluate(is_focused)
        cards.first.tap()
        player.until("hash => location.hash === hash", cards.first.get_attribute("href"))
        player.hint(3)
        player.page.locator("#play-done [data-do=onward]").click()
        assert player.page.evaluate(is_focused)


def test_shelves_count_what_is_solved_and_cards_show_what_differs(plays: Opens) -> None:
    puzzle, entries = some_of_fridgeiq()
    with plays(puzzle, entries) as player:
        page = player.page
        shelves = page.locator("#play-list .shelf h3")
        names, counts = ("Starter", "Junior", "Expert", "Master", "Wizard", "Not rated"), []
        parts = (
            shelves.locator(part).all_text_contents() for part in ("span:first-child", ".count")
        )
        for name, count in zip(*parts, strict=True):
            assert count.startswith("0 of ") or not count
            counts.append((name, int(count[5:] or 0)))
        assert [name for name, _ in counts] == [one for one in names if one in dict(counts)]
        assert sum(count for _, count in counts) == len(entries) - 1  # without what has no solution
        player.lay_all()
        card = page.locator("#play-list .card[aria-current]")
        assert card.locator(".mark").text_content() != ""
        assert f"★☆☆☆☆1 of {counts[0][1]}" in (shelves.first.text_content() or "")
        page.locator("#play-unsolved").check()
        assert page.locator("#play-list li:visible").count() == len(entries) - 1
        page.locator("#play-unsolved").uncheck()
        # Pictures come with the cards, at one scale, with what lies there already in its colour.
        page.locator("#play-list .shelf").last.scroll_into_view_if_needed()
        wide: dict[str, float] = {}
        for place, entry in enumerate(entries[:2] + entries[3:5]):
            link = page.locator(f'#play-list .card[href="#{entry.challenge.id}"]')
            link.scroll_into_view_if_needed()
            path = link.locator("svg .silhouette")
            path.wait_for()
            wide[entry.challenge.id] = path.evaluate("e => e.getBBox().width * e.getScreenCTM().a")
            assert link.locator(".given").count() == (place == 1)
            link_text = link.text_content() or ""
            assert not any(part in link_text for part in entry.challenge.id.split("-")[2:])
        script = "(id) => fabkitPlay.sizeOf(FABKIT, FABKIT.entries.find((e) => e.id === id))[0]"
        units = {entry_id: page.evaluate(script, entry_id) for entry_id in wide}
        assert len(set(units.values())) > 1
        scales = [wide[entry_id] / units[entry_id] for entry_id in wide]
        assert scales == pytest.approx([scales[0]] * len(scales), rel=0.02)


def test_language_and_colours_are_chosen_and_kept(plays: Opens) -> None:
    with plays(*some_of_fridgeiq(), locale="it-IT") as player:
        page = player.page
        assert player.text("nav-title") == "Sfide"  # as the browser has it
        player.hint()
        page.locator("[data-do=menu]").click()
        page.locator("#play-language").select_option("de")
        page.locator("#play-theme").select_option("dark")
        for again in (False, True):
            if again:
                page.reload()
            assert page.evaluate("document.documentElement.lang") == "de"
            assert player.text("nav-title") == "Aufgaben"
            assert player.text("title") == "Dreieck 1"
            assert page.locator("#play-list .card-title").first.text_content() == "Dreieck 1"
            hint = page.locator("#play-tools [data-do=hint]")
            assert (hint.inner_text(), hint.get_attribute("title")) == ("Tipp", "Tipp")
            following = page.locator(".round[data-do=next]").get_attribute("aria-label")
            assert following == "Nächste Aufgabe"
            piece = page.locator("#play-board .piece:not(.gone)")
            assert "Teil" in (piece.get_attribute("aria-label") or "")
            assert page.locator("footer p").first.inner_text().startswith("Formen:")
            assert pixels(page.screenshot())[-5, -5].max() < 60
        page.locator("[data-do=menu]").click()
        page.locator("#play-theme").select_option("auto")
        assert pixels(page.screenshot())[-5, -5].min() > 200
    with plays(*some_of_fridgeiq(), language="fr") as player:  # as the page was made
        assert player.text("nav-title") == "Défis"


#: What is seen of the game that is outside the window, or under a finger too small.
OUTSIDE = """() => {
  const game = document.getElementById("play-game"), found = [];
  for (const one of game.querySelectorAll("button, h1, h2, .slot, #play-board, #play-facts")) {
    const box = one.getBoundingClientRect();
    if (!one.checkVisibility() || box.width < 2) continue;
    const seen = box.left >= -1 && box.top >= -1 && box.right <= innerWidth + 1
      && box.bottom <= innerHeight + 1;
    const cut = one.matches("h1, h2, p") && one.scrollWidth > one.clientWidth + 1;
    const small = one.matches("button") && (box.width < 43.5 || box.height < 43.5);
    if (!seen || cut || small) found.push([one.id || one.outerHTML.slice(0, 90), box.toJSON()]);
  }
  const tray = document.getElementById("play-tray");
  if (tray.scrollHeight > tray.clientHeight + 1) found.push("the tray is too small");
  return found;
}"""


#: Pixels of a grid unit in the tray and on the board.
UNITS = """() => [".slot .body", "#play-board .ground"].map((one) =>
  100 * document.querySelector(one).getScreenCTM().a)"""
#: How much of the explanation is beyond its lower edge.
HIDDEN = (
    "(({ scrollHeight, clientHeight }) => scrollHeight - "
    "clientHeight)(document.getElementById('play-how'))"
)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "size", [(390, 844), (844, 390), (1280, 800), (360, 740), (320, 568), (568, 320), (2560, 1440)]
)
def test_the_game_fills_the_window_and_nothing_is_cut_off(
    plays: Opens, size: tuple[int, int]
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    for (puzzle, entries), at in ((some_of_fridgeiq(), 9), (entries_of("iqfit", "board"), 0)):
        for language in ("de", "fr"):
            window = {"viewport": viewport, "has_touch": size[0] < 1000}
            with plays(puzzle, entries, at, language, **window) as player:
                assert player.page.evaluate(OUTSIDE) == []
                assert player.page.evaluate("document.documentElement.scrollWidth") == size[0]
                board = player.box("#play-board")
                assert max(board["width"] / size[0], board["height"] / size[1]) > 0.5
                player.page.locator("[data-do=menu]").click()
                assert player.page.evaluate(OUTSIDE) == []
                player.press("Escape")
                player.page.locator("[data-do=help]").click()
                how = player.box("#play-how")
                assert how["y"] >= 0
                assert how["y"] + how["height"] <= size[1]
                hidden = player.page.evaluate(HIDDEN)
                small = min(size) < 360 or size[0] == 360
                assert hidden <= (0 if not small else 240), (size, language)  # of the keys


def test_a_square_board_is_wide_on_an_upright_phone(plays: Opens) -> None:
    puzzle, (board,) = entries_of("iqblock", "square")
    solution = dict(board.solution or {})
    given = tuple(Given(piece, cells) for piece, cells in sorted(solution.items())[:6])
    start = altered(board, id="start", given=given)
    for at in (0, 1):
        with plays(puzzle, (board, start), at, viewport={"width": 390, "height": 844}) as player:
            assert player.box("#play-board .ground")["width"] > 0.88 * 390
            assert not player.page.locator(".park").count()  # no room for that
            assert player.page.evaluate(OUTSIDE) == []
            units = player.page.evaluate(UNITS)
            assert units[0] == pytest.approx(units[1], abs=1) or not at  # two pieces are as large


USED = {"button", "link", "checkbox", "combobox", "slider", "dialog", "image", "heading"}


def nameless(page: Page) -> list[str]:
    """What a screen reader finds and cannot name."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    seen = [node for node in nodes if not node["ignored"] and node["role"]["value"] in USED]
    assert len(seen) > 20
    return [str(node) for node in seen if not node["name"]["value"].strip()]


def test_everything_has_a_name_for_screen_readers(plays: Opens) -> None:
    puzzle, (board,) = entries_of("iqfit", "board")
    first = next(iter((board.solution or {}).items()))
    start = altered(board, id="start", given=(Given(*first),))
    with plays(puzzle, (start, board), downloads=FILES) as player:
        assert nameless(player.page) == []
        player.hint()
        player.page.locator("[data-do=menu]").click()
        assert nameless(player.page) == []
        player.press("Escape")
        player.page.locator("[data-do=help]").click()
        player.page.locator("summary").click()
        assert player.page.get_by_role("dialog", name="How to play").is_visible()


# --- how it looks -----------------------------------------------------------------------------

BOARDS = {
    "fridgeiq": "square_10", "iqblock": "square", "iqfit": "board", "iqstars": "board",
    "cubimagici": "tray",
}  # fmt: skip
FILES = (Download("files/A.stl", "A.stl", "12 kB"), Download("files/all.3mf", "all.3mf"))
#: The lines of the pieces in the tray, and their colours.
LINES = """() => [...document.querySelectorAll("#play-tray .piece")].map((piece) => {
  const lines = [...piece.querySelectorAll(".body, .joint")].slice(-2).map((line) => getComputedStyle(line));
  return lines.map(({ stroke, strokeWidth }) => [stroke, parseFloat(strokeWidth)]); })"""


@pytest.mark.parametrize("name", [*BOARDS, "pentominoes", "balls12"])
def test_joints_stand_out_from_the_pieces(plays: Opens, name: str) -> None:
    """Each has a dark line and a thinner light one on it, as in drawings: one of the two differs by
    4.5 : 1 from any colour, for every eye (see test_theme)."""
    with plays(*entries_of(name, BOARDS.get(name, "start-090"))) as player:
        lines = player.page.evaluate(LINES)
        assert len(lines) == len(player.free)
        for (dark, wide), (light, narrow) in lines:
            assert (dark, light) == ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
            assert 0 < narrow < wide


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("en", "blue piece D, in the tray"), ("de", "blaues Teil D, in der Ablage"),
        ("fr", "pièce bleue D, dans la réserve"), ("it", "pezzo blu D, nel vassoio"),
    ],
)  # fmt: skip
def test_pieces_are_named_with_their_colours(plays: Opens, language: str, name: str) -> None:
    with plays(*entries_of(*TRIANGLE), language=language) as player:
        assert player.in_tray("D").get_attribute("aria-label") == name
        labels = player.page.locator("#play-tray .slot").evaluate_all(
            "all => all.map((slot) => slot.ariaLabel)"
        )
        assert not [label for label in labels if "undefined" in label or "{" in label]


def test_a_chequer_that_no_clue_asks_for_is_said_not_to_matter(plays: Opens) -> None:
    with plays(*entries_of("cubimagici", "tray")) as player:
        assert "the chequer doesn’t matter" in player.text("facts")
    with plays(*entries_of(*TRIANGLE)) as player:
        assert "chequer" not in player.text("facts")
    with plays(*entries_of(str(ROOT / "tests" / "sets" / "chequer.toml"), "square")) as player:
        assert "chequer" not in player.text("facts")


#: What is wrong with the labels of the tools: none is seen, or one is cut off.
LABELS = """() => [...document.querySelectorAll(".tool:not([hidden])")].filter((tool) => {
  const [text] = [...tool.querySelectorAll("span")].filter((span) => span.offsetWidth > 1);
  if (!text) return true;
  const range = document.createRange();
  range.selectNodeContents(text);
  const [label, button] = [range.getBoundingClientRect(), tool.getBoundingClientRect()];
  return label.left < button.left - 1 || label.right > button.right + 1 || label.bottom > innerHeight;
}).map((tool) => tool.dataset.do)"""


@pytest.mark.parametrize("language", ["en", "de", "fr", "it"])
def test_tools_have_words_in_every_window(plays: Opens, language: str) -> None:
    with plays(*entries_of("iqblock", "square"), language=language) as player:
        phones = (320, 568), (568, 320), (390, 844), (844, 390)
        for width, height in (*phones, (768, 1024), (2560, 1440)):
            player.page.set_viewport_size({"width": width, "height": height})
            browser.drawn(player.page)  # it is fitted then
            assert player.page.evaluate("document.documentElement.scrollWidth") == width
            assert player.page.evaluate(LABELS) == [], (width, height)
            assert player.page.evaluate(OUTSIDE) == [], (width, height)


LONG_WORD = "Donaudampfschifffahrts" * 5
#: The least room, in pixels, between a tool's label and the sides of its button.
ROOM = """() => Math.min(...[...document.querySelectorAll(".tool")].map((tool) => {
  const range = document.createRange(), text = tool.querySelector("span");
  if (text.offsetWidth < 2) return 4;
  range.selectNodeContents(text);
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
    """Texts at a contrast_ratio of less than 4.5 : 1."""
    texts = page.evaluate(TEXTS)
    assert len(texts) > 30
    return [one for one in texts if contrast_ratio(linear(one[1]), linear(one[2])) < 4.5]


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
        entries = tuple(altered(one, title=word) for one in entries)
    window = {"viewport": {"width": width, "height": 740}, "color_scheme": scheme}
    with plays(puzzle, entries, 9, language, FILES, **window) as player:
        page = player.page
        assert page.locator("#play-list .card").count() == 10
        player.hint(2)
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
    entry = altered(entry, id=f"an id {name}", title=name)
    with plays(puzzle, [entry], downloads=[Download("files/A.stl", name, name)]) as player:
        page = player.page
        assert page.locator("img, b").count() == 0
        assert page.locator("script").count() == page.locator("script[src]").count()
        seen = "".join(c for c in name if c.isprintable())
        for place in ("#play-title", "#play-list .card-title", "h1", "footer", ".downloads"):
            assert seen[:8] in page.locator(place).inner_text()
        assert player.box("h1")["x"] < player.box("#play-tally")["x"]
        player.hint()
        page.reload()
        assert player.placed_count == 1
        assert page.evaluate("window.ran") is None


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["fridgeiq", "iqblock", "iqfit", "iqstars", "cubimagici"])
def test_letters_can_be_read_on_given_pieces_and_in_the_tray(plays: Opens, name: str) -> None:
    puzzle, (entry,) = entries_of(name, BOARDS[name])
    solution = dict(entry.solution or {})
    given = tuple(Given(piece, cells) for piece, cells in solution.items())[1:]
    start = altered(entry, id="start", given=given)
    for scheme, solved in (("light", False), ("dark", False), ("dark", True)):
        with plays(puzzle, (start, entry), color_scheme=scheme) as player:
            if solved:
                player.hint()
                assert player.solved
            shown = pixels(player.page.screenshot())
            for letter in player.page.locator("#play-board .given .letter").all():
                box = letter.bounding_box()
                assert box
                colour = letter.evaluate("one => getComputedStyle(one).fill")
                ink = "#" + "".join(f"{int(one):02x}" for one in re.findall(r"\d+", colour)[:3])
                x, y = round(box["x"] - 2), round(box["y"] + 0.4 * box["height"])
                ground = "#" + "".join(f"{one:02x}" for one in shown[y, x])
                assert contrast_ratio(linear(ink), linear(ground)) > 4.4, (scheme, ink, ground)
            faded = "all => all.map((one) => getComputedStyle(one).opacity)"
            bodies = player.page.locator("#play-board .given .body").evaluate_all(faded)
            assert set(bodies) == {"1" if solved else "0.55"}
    with plays(puzzle, (start, entry), 1, viewport={"width": 390, "height": 844}) as player:
        heights = "all => all.map((one) => one.getBoundingClientRect().height / 1.362)"
        sizes = player.page.locator("#play-tray .letter").evaluate_all(heights)
        assert min(sizes) > 10


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
        drawn = player.page.locator("#play-print-pieces svg")
        assert drawn.count() == len(player.free)
        player.page.pdf(path=tmp_path / "sheet.pdf", format="A4", print_background=False)
    dots = 200
    read = Read(tmp_path / "sheet.pdf")
    assert len(read.reader.pages) == 1
    colours = read.pixels(1, dots)
    grey = np.abs(colours - [0xB5, 0xB0, 0xA4]).max(axis=2) < 8
    mm = 25.4 / dots
    side_mm = 20 * (len(player.entry.challenge.region) / 4) ** 0.5
    for places in np.nonzero(grey):
        assert abs(np.ptp(places) * mm - side_mm) < 0.3
    assert abs(grey.sum() * mm * mm / side_mm**2 - 1) < 0.005
    dark = (colours.max(axis=2) < 60).sum(axis=1)
    assert abs(dark.max() * mm - 100) < 0.5  # the bar
    puzzle, (entry,) = entries_of("fridgeiq", "square_05")
    far = entry.challenge.region | {(x + 60, y) for x, y in entry.challenge.region}
    with plays(puzzle, [altered(entry, region=far, solution=None)]) as player:
        player.page.emulate_media(media="print")
        assert player.text("print-scale").startswith("Too large for one sheet")
        assert not player.page.locator("#play-print-bar").is_visible()
