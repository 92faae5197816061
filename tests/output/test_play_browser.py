"""Challenges played in a real browser: by drags and taps, by keys alone, and what is recognised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import browser
from tests.support.playpages import Player, entries_of, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [browser.needed, pytest.mark.integration]

Opens = Callable[..., AbstractContextManager[Player]]

TRIANGLE = ("fridgeiq", "triangle_01")
#: Symmetric about the diagonal, of pieces that lie on two lattices and may be turned over.
MIXED = ("fridgeiq", "mixed1-4-eaa5febe52")


@pytest.fixture
def plays(chromium: Browser, tmp_path: Path) -> Opens:
    """Opens a page with one challenge of a set."""

    @contextmanager
    def play(name: str, only: str, **settings: Any) -> Iterator[Player]:
        puzzle, entries = entries_of(name, only)
        with browser.opened(chromium, write_page(tmp_path, puzzle, entries), **settings) as page:
            yield Player(page, puzzle, entries[0])

    return play


def test_a_challenge_is_solved_by_taps_and_drags(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        for piece in player.free:
            assert not player.solved
            player.lay(piece, taps=True)
        assert player.solved
        assert player.said == "Solved!"
        assert player.page.locator("#play-tally").inner_text() == "1 of 1 solved"
        browser.pictured(player.page, "play-solved")


def test_a_wrong_placement_is_not_a_solution_and_is_told(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        _, second, third = player.free
        for piece in player.free:
            player.lay(piece)
        assert player.solved
        x, y = player.wanted_place(third)
        player.drag(third, (x - 1.2, y - 1.2))  # all pieces lie, the region is not covered
        assert not player.solved
        assert player.page.locator("#play-tally").inner_text() == "1 of 1 solved"
        player.drag(third, player.wanted_place(second))
        assert f"overlaps {second}" in player.said
        assert player.page.locator("#play-board .piece.wrong").count() >= 2
        assert player.page.locator("#play-board .doubled").get_attribute("d") != ""
        browser.pictured(player.page, "play-overlap")
        player.drag(third, (-0.5, -0.5))
        assert "partly outside" in player.said
        assert not player.solved


def test_keys_alone_solve_a_challenge(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        for piece in player.free:
            player.lay_by_keys(piece)
        assert player.solved
        assert player.said == "Solved!"
        browser.pictured(player.page, "play-keys")


def test_keys_alone_solve_a_board_of_hexagons(plays: Opens) -> None:
    with plays("iqstars", "board") as player:
        for piece in player.free:
            player.lay_by_keys(piece)
        assert player.solved
        browser.pictured(player.page, "play-iqstars")


def test_balls_are_turned_to_their_other_form(plays: Opens) -> None:
    with plays("iqfit", "board") as player:
        forms = {len(player.solution[piece]) for piece in player.free}
        assert len(forms) > 1
        for piece in player.free:
            player.lay(piece)
        assert player.solved
        browser.pictured(player.page, "play-iqfit", whole=True)


@pytest.mark.long
def test_a_snowflake_on_two_lattices_is_solved_with_pieces_turned_over(plays: Opens) -> None:
    with plays(*MIXED) as player:
        assert player.entry.halves == 2
        assert player.entry.flips
        for piece in player.free:
            player.lay(piece)
        assert player.solved
        browser.pictured(player.page, "play-mixed", whole=True)


def test_a_second_tap_turns_over_where_that_is_allowed(plays: Opens) -> None:
    with plays("cubimagici", "tray") as player:
        piece = "p1"
        before = player.look(piece)
        right = max(x for edge in before for x, _ in edge)
        player.in_tray(piece).dblclick()
        mirrored = {frozenset((right - x, y) for x, y in edge) for edge in before}
        assert player.look(piece) == mirrored != before
        assert player.said == "p1 turned over"


def test_without_flips_two_taps_are_two_turns(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        piece = player.free[1]
        before = player.look(piece)
        right, low = (max(point[axis] for edge in before for point in edge) for axis in (0, 1))
        player.in_tray(piece).dblclick()
        turned = {frozenset((right - x, low - y) for x, y in edge) for edge in before}
        assert player.look(piece) == turned != before
        player.page.keyboard.press("f")
        assert player.said == f"{piece} cannot be turned over here."


def test_a_finger_drags_and_the_page_still_scrolls(plays: Opens) -> None:
    phone = {"viewport": browser.PHONE, "has_touch": True, "is_mobile": True}
    with plays(*TRIANGLE, **phone) as player:
        page, piece = player.page, player.free[0]
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.slot')).touchAction") == "none"
        )
        assert page.evaluate("getComputedStyle(document.body).touchAction") == "auto"
        box = player.in_tray(piece).bounding_box()
        board = page.locator("#play-board").bounding_box()
        assert box
        assert board
        start = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        end = {"x": board["x"] + board["width"] / 2, "y": board["y"] + board["height"] / 2 + 44}
        touch = page.context.new_cdp_session(page)
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [start]})
        for part in (0.3, 0.7, 1.0):
            point = {axis: start[axis] + part * (end[axis] - start[axis]) for axis in "xy"}
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        browser.pictured(page, "play-finger")
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(100)
        assert player.on_board(piece).is_visible()
        assert "placed at column" in player.said
        look = player.look(piece)
        player.on_board(piece).tap()
        page.wait_for_timeout(100)
        assert player.look(piece) != look


def test_where_a_dragged_piece_will_land_is_shown(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        piece = player.free[0]
        player.turn_by_taps(piece)
        x, y = player.wanted_place(piece)
        player.grab(piece, (x + 0.2, y - 0.2))
        ghost = player.page.locator("#play-board .ghost").bounding_box()
        region = player.page.locator("#play-board .ground").bounding_box()
        assert ghost
        assert region
        unit = region["width"] / 3
        assert abs((ghost["x"] - region["x"]) / unit - x) < 0.05
        browser.pictured(player.page, "play-landing")
        player.page.keyboard.press("Escape")
        player.page.mouse.up()
        assert player.in_tray(piece).is_visible()
        assert player.page.locator("#play-board .ghost").get_attribute("d") == ""


def test_dragging_off_the_board_takes_a_piece_back(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        piece = player.free[0]
        player.lay(piece)
        player.drag(piece, (-5, -5))
        assert player.in_tray(piece).is_visible()
        assert player.said == f"{piece} is in the tray"


def in_hand(player: Player) -> bool:
    return player.page.locator(".dragging").count() > 0


SWALLOW = """window.addEventListener("pointerup", (event) => event.stopPropagation(),
  { capture: true, once: true })"""


def test_a_release_that_nobody_heard_of_ends_a_drag(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        piece = player.free[0]
        player.grab(piece, (0, 0))
        player.page.evaluate(SWALLOW)
        player.page.mouse.up()
        assert in_hand(player)
        player.page.mouse.move(300, 300)
        assert not in_hand(player)
        assert player.in_tray(piece).is_visible()
        player.drag(piece, (0, 0))
        assert player.on_board(piece).is_visible()


def test_a_pointer_belongs_to_the_piece_from_the_first_touch(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        player.in_tray(player.free[0]).hover()
        player.page.mouse.down()
        held = "fabkitPlay.page.table.hand.held"
        assert player.page.evaluate(f"{held}.element.hasPointerCapture({held}.id)")


def test_a_dragged_piece_is_as_large_as_the_board_has_it(plays: Opens) -> None:
    with plays(*TRIANGLE) as player:
        player.grab(player.free[0], (0, 0))
        player.page.set_viewport_size(browser.PHONE)
        ground = player.page.locator("#play-board .ground").bounding_box()
        assert ground
        player.page.mouse.move(ground["x"] + 40, ground["y"] + 20)
        floating, landing = (
            player.page.locator(one).evaluate("e => e.getBBox().width * e.getScreenCTM().a")
            for one in (".floating .body", "#play-board .ghost")
        )
        assert abs(floating - landing) < 1
