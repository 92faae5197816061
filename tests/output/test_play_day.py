"""A day with the page: solving by touch, hints, links, a file, parked pieces, the wheel."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import browser
from tests.support.playpages import Pages, Player, entries_of, some_of_fridgeiq

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from fabkit.model.puzzle import Entry, PuzzleSet

pytestmark = browser.needed

#: Opens FridgeIQ's handful of challenges with one of them, in a profile of its own.
Opens = Callable[..., AbstractContextManager[Player]]
SIZES = [(390, 844), (844, 390)]
WHERE = (
    "[...fabkitPlay.page.session.game.placements].map(([piece, { orientation, at }]) => [piece, "
    "orientation, at])"
)


@pytest.fixture
def plays(chromium: Browser, pages: Pages) -> Opens:
    puzzle, entries = some_of_fridgeiq()
    url = pages.url(puzzle, entries)

    @contextmanager
    def play(at: int | str = 0, **settings: Any) -> Iterator[Player]:
        link = at if isinstance(at, str) else f"{url}#{entries[at].challenge.id}"
        with browser.opened(chromium, link, **settings) as page:
            yield Player(page, puzzle, entries[at if isinstance(at, int) else 0])

    return play


def choose(player: Player, action: str, text: str = "") -> None:
    """Chooses something in the menu, and an answer in the dialog that follows."""
    player.page.locator(".round[data-do=menu]").click()
    player.page.locator(f"#play-menu [data-do={action}]").click()
    if text:
        asked = player.page.locator("dialog.ask").element_handle()
        player.page.locator("dialog.ask button", has_text=text).click()
        player.until("one => !one.isConnected", asked)  # then what was answered happens


# --- by touch only --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_from_the_first_visit_to_the_next_challenge_by_touch(
    plays: Opens, size: tuple[int, int]
) -> None:
    window = {"width": size[0], "height": size[1]}
    phone = {"viewport": window, "has_touch": True, "is_mobile": True}
    motion = {"reduced_motion": "no-preference"}
    with plays(0, first_visit=True, moment=browser.NOON, **motion, **phone) as player:
        page = player.page
        page.locator("#play-how .main").tap()
        page.locator("#play-how").wait_for(state="hidden")
        for piece in player.free:
            for _ in range(6):
                if (look := player.look(piece)) == player.wanted_look(piece):
                    break
                page.touchscreen.tap(*player.measured(piece)[3:])
                player.other_look(piece, look)
            left, top, scale, x, y = player.measured(piece)
            region = player.box("#play-board .ground")
            unit = region["width"] / 3
            wanted = player.wanted_place(piece)
            end_x = region["x"] + (wanted[0] + (x - left) / scale) * unit
            end_y = region["y"] + (wanted[1] + (y - top) / scale) * unit + 44
            shares = (0.0, 0.3, 0.7, 1.0)
            player.touch(
                *([(x + share * (end_x - x), y + share * (end_y - y))] for share in shares)
            )
        assert player.solved
        assert page.locator(".spark").count() > 10  # joy
        assert not page.locator(".parking").is_visible()  # nothing but the picture
        edge = "all => [...new Set(all.map((one) => getComputedStyle(one).strokeWidth))]"
        assert page.locator("#play-board .piece .body").evaluate_all(edge) == ["3px"]
        assert player.text("done-more") == "3 moves · 0:00 · New personal best!"
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        page.evaluate(LAND)
        player.until("() => !document.querySelector('.spark')")
        page.locator("[data-do=onward]").tap()
        player.until("id => fabkitPlay.page.entry.id !== id", player.entry.challenge.id)
        assert not player.solved


#: What flies arrives.
LAND = """() => document.querySelectorAll(".spark").forEach((spark) =>
  spark.getAnimations().forEach((flight) => flight.finish()))"""


def test_there_is_no_joy_for_those_who_want_no_motion(plays: Opens) -> None:
    with plays(0) as player:
        player.lay_all()
        assert player.page.locator(".spark").count() == 0


# --- hints and the solution -----------------------------------------------------------------------


def test_a_hint_names_a_piece_then_turns_it_then_lays_it(plays: Opens) -> None:
    with plays(0) as player:
        page = player.page
        piece = page.evaluate("FABKIT.pieces[fabkitPlay.page.entry.order[0]].id")
        for _ in range(4):  # the wrong way round
            if player.look(piece) == player.wanted_look(piece):
                player.in_tray(piece).focus()
                player.press("r")
        before = player.look(piece)
        player.do("hint")
        assert player.announced == f"Hint: this can still be solved; {piece} goes next"
        assert page.locator(".hinted:visible").get_attribute("data-piece") == piece
        assert player.look(piece) == before
        player.do("hint")
        assert player.look(piece) == player.wanted_look(piece) != before
        assert player.in_tray(piece).is_visible()
        player.do("hint")
        assert player.on_board(piece).is_visible()
        assert f"{piece} goes to column" in player.announced
        assert page.locator(".hinted").count() == 0
        player.do("undo", "undo")
        assert player.look(piece) == before
        while player.look(piece) != player.wanted_look(piece):
            player.in_tray(piece).focus()
            player.press("r")
        player.do("hint", "hint")  # it is the right way round: nothing is said about that
        assert player.on_board(piece).is_visible()
        player.do("undo")
        # What cannot stay is announced first, and then taken back.
        other = next(one for one in player.free if one != piece)
        x, y = player.wanted_place(other)
        player.drag(other, (x - 1, y))
        player.do("hint")
        assert player.announced.startswith(f"Hint: {other} can’t stay there")
        player.do("hint")
        assert player.in_tray(other).is_visible()
        assert player.announced == f"{other} is back in the tray"


def test_the_solution_asks_and_is_no_merit(plays: Opens) -> None:
    with plays(0) as player:
        page = player.page
        choose(player, "solve", "Cancel")
        assert player.placed_count == 0
        choose(player, "solve")
        assert page.get_by_role("dialog", name="Show the solution?").is_visible()
        player.press("Escape")
        assert player.placed_count == 0
        choose(player, "solve", "Show solution")
        assert player.text("done-text") == "This is the solution."
        assert player.kept["solved"] == []
        page.reload()
        assert player.solved
        player.do("undo") if player.can("undo") else player.do("reset")
        assert player.kept["solved"] == []
        player.do("reset")
        player.lay_all()
        assert player.text("done-text") == "Solved!"
        assert len(player.kept["solved"]) == 1


# --- moves and time -------------------------------------------------------------------------------

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange")); }"""


def test_moves_and_time_count_can_be_hidden_and_the_best_is_kept(plays: Opens) -> None:
    with plays(0, moment=browser.NOON) as player:
        page, ms = player.page, "fabkitPlay.page.session.game.counts.ms"
        page.clock.run_for(700)
        assert player.text("counts") == "0 moves · 0:00"
        assert page.evaluate(ms) == 0  # nothing was touched
        first, second, third = player.free
        player.lay(first)
        assert player.text("counts") == "1 move · 0:00"
        assert page.evaluate(ms) == 0  # nor do the milliseconds before count
        page.clock.run_for(1300)
        assert page.evaluate(ms) == 1300
        page.evaluate(HIDE, True)
        page.clock.run_for(1500)
        assert page.evaluate(ms) == 1300
        page.evaluate(HIDE, False)
        page.clock.run_for(1000)
        assert page.evaluate(ms) == 2300  # not the time in which it was hidden
        player.drag(first, (4, 4))
        player.do("undo")
        player.lay(second)
        player.lay(third)
        assert player.text("done-more") == "4 moves · 0:02 · New personal best!"
        ((_, moves, best),) = player.kept["best"]
        assert (moves, best) == (4, 2300)
        page.clock.run_for(60_000)
        assert page.evaluate(ms) == best  # the clock stands
        player.do("reset")
        page.clock.run_for(500)
        player.lay_all()
        assert player.kept["best"][0][1:] == [3, 500]
        meter = page.get_by_role("button", name="Show moves and time")
        assert meter.get_attribute("aria-pressed") == "true"
        meter.click()
        page.reload()
        assert player.text("counts") == ""
        assert meter.get_attribute("aria-pressed") == "false"
        assert page.evaluate(ms) == 500


# --- links ----------------------------------------------------------------------------------------


def shared(player: Player, what: str) -> str:
    """The link that is shared; the clipboard is read."""
    player.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    choose(player, "share", what)
    player.page.locator("#play-say", has_text="Copied").wait_for(state="attached")
    return str(player.page.evaluate("navigator.clipboard.readText()"))


def test_a_link_shows_the_same_position_in_a_fresh_profile(plays: Opens) -> None:
    with plays(3) as player:
        plain = shared(player, "This challenge")
        assert plain.endswith(f"#{player.entry.challenge.id}")
        player.lay(player.free[0])
        player.drag(player.free[1], (0, 0))
        where = player.page.evaluate(WHERE)
        position = shared(player, "The pieces as they are")
    with plays(position) as other:
        other.page.wait_for_function("() => !location.hash.includes('&')")
        assert other.page.evaluate("fabkitPlay.page.entry.id") == player.entry.challenge.id
        assert other.page.evaluate(WHERE) == where
        other.do("undo")
        assert other.placed_count == 0


def test_a_start_of_ones_own_travels_in_the_link(plays: Opens) -> None:
    with plays(0) as player:
        first, _second, _ = player.free
        player.lay(first)
        own = shared(player, "My own challenge")
    with plays(own) as other:
        page = other.page
        page.wait_for_function("() => fabkitPlay.page.entry.kind === 'own'")
        assert page.locator("#play-board .given").get_attribute("data-piece") == first
        assert "shared start" in other.text("title")
        assert page.evaluate("FABKIT.entries.length") == 10
        other.hint()  # it has the solution of where it comes from
        other.lay(next(one for one in other.free[1:] if other.in_tray(one).is_visible()))
        assert other.solved
        page.reload()
        page.wait_for_function("() => fabkitPlay.page.entry.kind === 'own'")
        page.locator("#play-done").wait_for()
        again = shared(other, "This challenge")
        assert again == own == page.url


@pytest.fixture(scope="module")
def leftover(tmp_path_factory: pytest.TempPathFactory) -> tuple[PuzzleSet, tuple[Entry, ...]]:
    """A challenge that takes two of the four pieces of its set."""
    file = tmp_path_factory.mktemp("some") / "some.toml"
    file.write_text(
        'set = { name = "some", lattice = "square", moves = "rotations" }\n'
        'piece = [{ id = "A", count = 3, rows = ["XX"] }, { id = "S", rows = ["X"] }]\n'
        'challenge = [{ id = "two", pieces_count = 2, outline = [[0, 0], [4, 0], [4, 1], [0, 1]] }]\n'
    )
    return entries_of(str(file), "two")


def test_the_celebration_leaves_out_pieces_in_the_tray(
    chromium: Browser, pages: Pages, leftover: tuple[PuzzleSet, tuple[Entry, ...]]
) -> None:
    puzzle, (entry,) = leftover
    with browser.opened(
        chromium, pages.url(puzzle, [entry]), reduced_motion="no-preference"
    ) as page:
        player = Player(page, puzzle, entry)
        for piece in entry.solution or {}:
            player.lay(piece)
        assert page.locator(".spark").count() > 10
        assert player.solved


def test_some_of_the_pieces_solve_also_what_travels_in_a_link(
    chromium: Browser, pages: Pages, leftover: tuple[PuzzleSet, tuple[Entry, ...]]
) -> None:
    """Those left over may stay in the tray or lie beside the shape."""
    puzzle, (entry,) = leftover
    first, second = entry.solution or {}
    with browser.opened(chromium, pages.url(puzzle, [entry])) as page:
        player = Player(page, puzzle, entry)
        assert "2\N{NO-BREAK SPACE}pieces" in page.locator("body").inner_text()
        player.lay(first)
        own = shared(player, "My own challenge")
        for url in (page.url, own):
            page.goto("about:blank")
            page.goto(url)
            page.wait_for_function("() => window.fabkitPlay?.page")
            player.do("reset")
            if url != own:
                player.lay(first)
            assert not player.solved
            player.lay(second)
            assert player.solved
            player.drag("S", (0, -2))
            assert player.solved


def test_a_link_is_shown_where_it_cannot_be_copied(plays: Opens) -> None:
    with plays(0) as player:
        player.page.evaluate(
            "() => { navigator.clipboard.writeText = () => Promise.reject(new Error()) }"
        )
        choose(player, "share", "This challenge")
        field = player.page.get_by_label("Copy this yourself:").get_by_role("textbox")
        assert field.input_value() == player.page.url
        assert player.page.evaluate("getSelection().toString()") == player.page.url


BROKEN = ("#there-is-none", "#%E0%A4%A", "#&", "#&!!!", "#triangle_01&AAAA", "#&" + "A" * 20000)
#: Documents that are packed as the page does it, but should not be opened.
HOSTILE = """async () => {
  const entry = FABKIT.entries[0], ids = entry.pieces.map((piece) => FABKIT.pieces[piece].id);
  const whole = { schema: 1, set: "fridgeiq", of: entry.id, halves: entry.halves, flips: entry.flips,
    pieces: ids, cells: entry.cells, given: [] };
  const text = JSON.stringify({ ...whole, ...CHANGE });
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return "#&" + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}"""
CHANGES = (
    *("{ schema: 2 }", '{ set: "iqfit" }', "{ halves: 7 }", '{ flips: "yes" }', "{ given: 7 }"),
    *("{ cells: null }", "{ cells: [1, 2, 3] }", "{ cells: whole.cells.map((one) => one + 1) }"),
    *("{ cells: whole.cells.slice(2) }", "{ cells: [...whole.cells.slice(2), 6e5, 6e5] }"),
    *("{ cells: Array(400000).fill(7) }", '{ given: "x".repeat(9e6) }'),
    '{ pieces: ["<b>", ...whole.pieces.slice(1)] }',
    "{ pieces: [...whole.pieces.slice(1), whole.pieces[1]] }",
    "{ given: [[whole.pieces[0], 0, 6000, 6000]] }",
    '{ given: [["__proto__", 0, 0, 0]] }',
)


def test_links_with_broken_or_hostile_content_open_the_usual_challenge(plays: Opens) -> None:
    script = "() => document.getElementById('play-say').textContent.startsWith('This link ')"
    with plays(2) as player:
        page = player.page
        assert page.evaluate("location.hash") == "#none"
        fine, *bad = (page.evaluate(HOSTILE.replace("CHANGE", one)) for one in ("{}", *CHANGES))
        for one in (*BROKEN, *bad):
            page.evaluate("location.hash = '#none'")
            page.evaluate("document.getElementById('play-say').textContent = ''")
            page.evaluate("(one) => { location.hash = one }", one)
            page.wait_for_function(script)
            assert page.evaluate("fabkitPlay.page.entry.id") == "none"
        page.evaluate("(one) => { location.hash = one }", fine)
        page.wait_for_function("() => fabkitPlay.page.entry.kind === 'own'")
    with plays(page_with(player, "#&broken")) as fresh:  # and it says so when it is opened with one
        fresh.page.wait_for_function(script)
        assert fresh.page.evaluate("FABKIT.entries.includes(fabkitPlay.page.entry)")


def page_with(player: Player, part: str) -> str:
    return player.page.url.split("#")[0] + part


# --- progress as a file ---------------------------------------------------------------------------


def test_progress_goes_as_a_file_to_another_profile(plays: Opens, tmp_path: Path) -> None:
    with plays(0) as player:
        player.lay_all()
        player.page.evaluate("location.hash = '#given'")
        player.page.wait_for_function("() => fabkitPlay.page.entry.id === 'given'")
        player.hint()
        with player.page.expect_download() as download:
            choose(player, "save")
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        where, kept = player.page.evaluate(WHERE), player.kept
    document = json.loads(file.read_text())
    assert (document["schema"], document["set"]) == (1, "fridgeiq")
    newer, foreign = tmp_path / "newer.json", tmp_path / "strange.json"
    newer.write_text(json.dumps({**document, "schema": 2}))
    foreign.write_text("no progress")
    with plays(1) as other:

        def load(one: Path) -> str:
            other.page.evaluate("document.getElementById('play-say').textContent = ''")
            with other.page.expect_file_chooser() as chooser:
                choose(other, "load")
            chooser.value.set_files(one)
            other.until("() => document.getElementById('play-say').textContent")
            return other.announced

        assert load(newer).startswith("This file was saved by a newer version")
        assert load(foreign).startswith("This file contains no progress")
        assert other.text("tally") == "0 of 9 solved"
        assert load(file) == "Progress added"
        assert other.text("tally") == "1 of 9 solved"
        assert other.page.evaluate(WHERE) == where
        other.page.reload()
        assert other.kept["solved"] == kept["solved"]
        assert other.kept["best"] == kept["best"]
        other.do("reset")
        other.lay_all()  # what is done since is not lost by an older file
        assert load(file) == "Progress added"
        assert other.text("tally") == "2 of 9 solved"


# --- beside the board, wheel and right button -----------------------------------------------------


#: The place to park is below the region.
BELOW = """() => {
  const [park, region] = [".park", ".ground"].map((one) =>
    document.querySelector(`#play-board ${one}`).getBoundingClientRect());
  return park.top >= region.bottom - 2; }"""


def test_pieces_are_parked_beside_the_board(plays: Opens) -> None:
    with plays(0) as player:
        page, piece = player.page, player.free[0]
        assert not page.locator(".park").is_visible()  # but while dragging
        park = player.box("#play-board .park")
        x, y = player.measured(piece)[3:]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 9, y + 9)
        assert page.locator(".park").is_visible()
        page.mouse.move(park["x"] + park["width"] / 2, park["y"] + park["height"] / 2)
        page.mouse.up()
        assert player.announced == f"{piece} is parked beside the board"
        label = player.on_board(piece).get_attribute("aria-label") or ""
        assert "parked beside the board" in label
        box, board = player.box(f'#play-board [data-piece="{piece}"]'), player.box("#play-board")
        region = player.box("#play-board .ground")
        assert box["x"] >= region["x"] + region["width"] - 5  # a window that is wide has room there
        assert box["x"] + box["width"] <= board["x"] + board["width"] + 2
        place = player.place(piece)
        page.reload()
        assert player.place(piece) == place
        player.do("hint")  # what is parked does not lie wrongly
        assert "elsewhere" not in player.announced
        player.on_board(piece).focus()
        page.set_viewport_size(browser.PHONE)
        browser.drawn(page)
        assert player.place(piece) == place  # no window moves what is parked
        page.set_viewport_size(browser.DESKTOP)
        player.press("Escape")
        assert player.in_tray(piece).is_visible()
        player.do("undo")
        assert player.place(piece) == place
        player.lay_all()
        player.do("reset")
        page.set_viewport_size({"width": 900, "height": 1500})
        player.until(BELOW)  # in a window that is high


def test_wheel_and_right_button_turn_what_is_under_the_pointer(plays: Opens) -> None:
    with plays(0, viewport={"width": 1000, "height": 500}, moment=browser.NOON) as player:
        page, piece = player.page, player.free[1]
        looks = [player.look(piece)]
        page.mouse.move(*player.measured(piece)[3:])
        for step in (100, 100, -100):
            assert browser.turn_wheel(page, step)
            looks.append(player.other_look(piece, looks[-1]))
            page.clock.run_for(400)  # and that was all
            assert player.look(piece) == looks[-1]
        assert looks[1] == looks[3] != looks[2]
        assert page.evaluate("scrollY") == 0
        page.evaluate("addEventListener('contextmenu', (e) => (window.menu = !e.defaultPrevented))")
        page.mouse.click(*player.measured(piece)[3:], button="right")
        assert player.look(piece) == looks[2]
        assert page.evaluate("window.menu") is False
        player.grab(piece, (0, 0))
        assert browser.turn_wheel(page, 100)  # also in the hand
        assert page.evaluate("scrollY") == 0
        page.mouse.up()
        assert player.on_board(piece).is_visible()
        assert player.look(piece) != looks[2]
        title = player.box("#play-title")
        page.mouse.move(title["x"], title["y"])
        page.clock.run_for(400)
        assert not browser.turn_wheel(page, 200)
        player.until("() => scrollY > 0")  # elsewhere the page is scrolled
        page.mouse.click(title["x"], title["y"], button="right")
        assert page.evaluate("window.menu") is True


def test_the_other_form_is_seen_in_the_tray(chromium: Browser, pages: Pages) -> None:
    puzzle, entries = entries_of("iqfit", "board")
    with browser.opened(chromium, pages.url(puzzle, entries)) as page:
        player = Player(page, puzzle, entries[0])
        forms = {}
        for piece in player.free:
            before = player.look(piece)
            player.in_tray(piece).focus()
            player.do("flip")
            assert player.announced == f"{piece} turned over"
            forms[piece] = (before, player.look(piece))
            assert player.in_tray(piece).is_visible()
            slot = player.in_tray(piece).bounding_box()
            box = player.seen(piece).locator(".body").first.bounding_box()
            assert slot
            assert box
            assert box["width"] <= slot["width"] + 1
            assert box["height"] <= slot["height"] + 1
        assert all(one != other for one, other in forms.values())


# --- how much is done -----------------------------------------------------------------------------

#: Notes what changes in the document.
NOTE_CHANGES = """() => {
  window.changes = [];
  const note = (records) => changes.push(...records.map(({ target, type, attributeName }) =>
    [target.classList.value, attributeName ?? type].join(" ")));
  window.observer = new MutationObserver(note);
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  observer.observe(document, all); }"""


def test_a_move_of_a_drag_changes_little(chromium: Browser, pages: Pages) -> None:
    """The dragged piece and the preview of its landing; `scripts/bench play` measures the time."""
    puzzle, entries = entries_of("iqfit", "board")
    with browser.opened(chromium, pages.url(puzzle, entries), moment=browser.NOON) as page:
        player = Player(page, puzzle, entries[0])
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def counts() -> list[float]:
            """How often the page was laid out, and its style computed."""
            metrics = session.send("Performance.getMetrics")["metrics"]
            values = {metric["name"]: metric["value"] for metric in metrics}
            return [values["LayoutCount"], values["RecalcStyleCount"]]

        player.grab(player.free[0], (0, 0))
        board = player.box("#play-board")
        page.evaluate(NOTE_CHANGES)
        before, moves = counts(), 40
        for step in range(moves):
            page.mouse.move(board["x"] + 20 + 6 * step, board["y"] + 20 + 3 * step)
        changes = page.evaluate("changes")
        layouts, styles = (after - first for first, after in zip(before, counts(), strict=True))
        page.mouse.up()
    assert set(changes) == {"floating style", "ghost d", "ghost transform"}
    assert len(changes) <= 3 * moves
    assert layouts <= 2 * moves + 2
    assert styles <= 2 * moves + 2
