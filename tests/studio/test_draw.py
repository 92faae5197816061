"""Drawing in the studio: as a person does it, by pointer and by keyboard."""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.sets.library import shipped_names
from tests.support import browser
from tests.support.studios import RunningStudio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = browser.needed

TABLET = {"width": 1024, "height": 768}
#: The machine may be busy with other things.
TIMEOUT_MS = 120_000
#: A tray of five pieces with three solutions; with one cell of D given to C there is one.
FIVE = ["DDDBB", "ECCCB", "EECAA", "EEEAA"]
CHANGED, CHANGED_TO = (0, 2), "C"
#: The element that shows the number of solutions.
TITLE = ".verdict-title"
#: The middles of elements on the screen.
MIDDLES = """(selector) => [...document.querySelectorAll(selector)].map((element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x + width / 2, y + height / 2]; })"""


class Drawing:
    """The view to draw, as a person sees it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(TIMEOUT_MS)
        page.locator(".sheet-cell").first.wait_for()
        page.wait_for_function("() => window.fabkitStudio?.view === 'draw'")
        self.settle()

    def settle(self) -> None:
        """Wait until everything has been read."""
        self.page.wait_for_function("() => fabkitStudio.project.isRead")

    @property
    def text(self) -> str:
        """The set file, as it stands beside the sheet."""
        self.settle()
        return self.page.locator("#studio-text").input_value()

    @property
    def document(self) -> dict[str, Any]:
        return tomllib.loads(self.text)

    def new(self, lattice: str = "square", example: bool = False) -> None:
        """Begin a new set."""
        self.page.locator("[data-do=new]").click()
        self.page.locator("#studio-lattice").select_option(lattice)
        self.page.locator("#studio-example").set_checked(example)
        with self.replaced():
            self.page.locator("#studio-new .main").click()

    def open(self, name: str) -> None:
        """Open a file."""
        with self.replaced():
            self.page.locator("#studio-open").select_option(name)

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """What is open is replaced inside; changes of it are given up."""
        before = "window.before"
        self.page.evaluate(f"{before} = fabkitStudio.project.past")
        yield
        is_replaced = f"fabkitStudio.project.past !== {before}"
        self.page.wait_for_function(f"() => {is_replaced} || document.querySelector('dialog.ask')")
        if self.page.locator("dialog.ask").is_visible():
            self.page.locator("dialog.ask button").last.click()
        self.page.wait_for_function(f"() => {is_replaced}")
        self.settle()

    def brush(self, letter: str) -> None:
        self.page.locator(f'[data-brush="brush-{letter}"]').click()

    def stroke(self, *places: tuple[int, ...]) -> None:
        """Draw over some cells with the pointer."""
        self.settle()  # brushes and errors may take room above the sheet
        selectors = [f'.sheet-cell[data-cell="{",".join(map(str, place))}"]' for place in places]
        self.page.locator(selectors[0]).wait_for()
        self.draw_over([middle for name in selectors for middle in self.middles(name)])

    def middles(self, selector: str) -> list[tuple[float, float]]:
        """The middles of elements on the screen."""
        middles: list[tuple[float, float]] = self.page.evaluate(MIDDLES, selector)
        return middles

    def draw_over(self, middles: Sequence[tuple[float, float]]) -> None:
        """Move the pressed pointer from point to point."""
        mouse = self.page.mouse
        mouse.move(*middles[0])
        mouse.down()
        for middle in middles[1:]:
            mouse.move(*middle, steps=2)
        mouse.up()

    def on_sheet(self) -> dict[tuple[int, ...], str]:
        """The letters of the cells on the sheet."""
        pairs = self.page.locator(".sheet-cell").evaluate_all(
            "cells => cells.filter((cell) => cell.dataset.letter).map((cell) => "
            "[cell.dataset.cell, cell.dataset.letter])"
        )
        return {tuple(map(int, place.split(","))): letter for place, letter in pairs}

    def says(self, text: str) -> None:
        """Wait for the number of solutions."""
        self.page.locator(TITLE, has_text=text).wait_for()


@contextmanager
def drawing(chromium: Browser, studio: RunningStudio, **settings: Any) -> Iterator[Drawing]:
    """The studio's page; nothing may be written to its console."""
    with browser.opened(
        chromium, studio.url, server=studio.url, first_visit=True, **settings
    ) as page:
        yield Drawing(page)


@pytest.fixture(scope="module")
def sheet(chromium: Browser, studio: RunningStudio) -> Iterator[Drawing]:
    """A page for tests that begin by opening another set."""
    with drawing(chromium, studio) as sheet:
        yield sheet


@contextmanager
def opened(chromium: Browser, studio: RunningStudio, text: str, thing: str) -> Iterator[Drawing]:
    """A set whose piece or board is on the sheet."""
    (studio.folder / "mine.toml").write_text(text)
    with drawing(chromium, studio) as sheet:
        sheet.open("mine.toml")
        sheet.page.locator(f'[data-id="{thing}"]').click()
        yield sheet


def strokes(rows: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """For each piece of a cut board the places to draw over, each beside one before it."""
    places: dict[str, list[tuple[int, int]]] = {}
    for row, line in enumerate(rows):
        for column, letter in enumerate(line):
            places.setdefault(letter, []).append((row, column))
    return dict(sorted(places.items()))


def draw_by_pointer(sheet: Drawing) -> None:
    """Draw the five pieces and change a cell, from a new set on."""
    sheet.new()
    for letter, places in strokes(FIVE).items():
        sheet.brush(letter)
        for place in places:
            sheet.stroke(place)
    sheet.says("3 solutions")
    assert sheet.document["cut"]["rows"] == FIVE
    sheet.brush(CHANGED_TO)
    sheet.stroke(CHANGED)
    sheet.says("Exactly one solution")
    sheet.page.locator("[data-do=undo]").click()
    sheet.says("3 solutions")
    assert sheet.document["cut"]["rows"] == FIVE
    sheet.page.locator("[data-do=redo]").click()
    sheet.says("Exactly one solution")


def draw_by_keyboard(sheet: Drawing) -> None:
    """The same without a pointer."""
    keyboard = sheet.page.keyboard
    reach(sheet, "[data-do=new]")
    keyboard.press("Enter")
    reach(sheet, "#studio-example")
    keyboard.press("Space")
    reach(sheet, "#studio-new .main")
    keyboard.press("Enter")
    sheet.page.wait_for_function("() => fabkitStudio.project.reading.things[0]?.exists === false")
    reach(sheet, ".sheet")
    for number, (_, places) in enumerate(strokes(FIVE).items(), 1):
        keyboard.press(str(number))
        for place in places:
            go(sheet, place)
            keyboard.press("Space")
    sheet.says("3 solutions")
    assert sheet.document["cut"]["rows"] == FIVE
    keyboard.press("3")
    go(sheet, CHANGED)
    keyboard.press("Space")
    sheet.says("Exactly one solution")
    keyboard.press("Control+z")
    sheet.says("3 solutions")
    keyboard.press("Control+y")
    sheet.says("Exactly one solution")


def reach(sheet: Drawing, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(300):
        if sheet.page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        sheet.page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


def go(sheet: Drawing, place: tuple[int, int]) -> None:
    """Move the cursor to a place, as what is announced says where it is."""
    sheet.page.keyboard.press("ArrowLeft")
    said = sheet.page.locator("#studio-say").inner_text()
    row, column = (int(number) - 1 for number in said.split(":")[0].split(","))
    keys = ["ArrowDown" if place[0] > row else "ArrowUp"] * abs(place[0] - row)
    keys += ["ArrowRight" if place[1] > column else "ArrowLeft"] * abs(place[1] - column)
    for key in keys:
        sheet.page.keyboard.press(key)


def test_pieces_are_moved_turned_and_turned_over(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        sheet.new()
        sheet.brush("A")
        sheet.stroke((0, 0), (0, 1), (0, 2), (1, 2))
        sheet.page.locator('[data-brush="move"]').click()
        sheet.stroke((0, 1), (2, 3))
        assert sheet.on_sheet() == dict.fromkeys([(2, 2), (2, 3), (2, 4), (3, 4)], "A")
        sheet.page.keyboard.press("r")
        assert sheet.document["cut"]["rows"] == [".A", ".A", "AA"]
        sheet.page.keyboard.press("f")
        assert sheet.document["cut"]["rows"] == ["A.", "A.", "AA"]
        sheet.page.keyboard.press("Shift+R")
        assert sheet.document["cut"]["rows"] == ["..A", "AAA"]
        for _ in range(3):  # to move a whole drawing does not change it
            sheet.page.keyboard.press("Control+z")
            sheet.settle()
        assert sheet.document["cut"]["rows"] == ["AAA", "..A"]
        assert sheet.on_sheet() == dict.fromkeys([(2, 2), (2, 3), (2, 4), (3, 4)], "A")


@pytest.mark.parametrize("name", LATTICES)
def test_every_lattice_can_be_painted(sheet: Drawing, name: str) -> None:
    lattice = LATTICES[name]
    sheet.new(name, example=True)
    assert drawn_in_file(sheet.document["cut"], lattice) == shape(sheet.on_sheet(), lattice)
    sheet.brush("E")
    sheet.stroke((0, 0, 0) if lattice.is_divided else (0, 0))
    seen = sheet.on_sheet()
    assert "E" in seen.values()
    assert drawn_in_file(sheet.document["cut"], lattice) == shape(seen, lattice)


def cells_at(lattice: Lattice, place: Sequence[int]) -> list[Cell]:
    cells = lattice.cells_at(place[0], place[1])
    return [cells[place[2]]] if len(place) > 2 else [*cells]


def shape(cells: dict[tuple[int, ...], str], lattice: Lattice) -> set[tuple[Cell, str]]:
    """Cells with their letters, wherever they are."""
    by_cell = {cell: letter for place, letter in cells.items() for cell in cells_at(lattice, place)}
    if not by_cell:
        return set()
    x, y = lattice.anchor(by_cell)
    return {((cx - x, cy - y), letter) for (cx, cy), letter in by_cell.items()}


def drawn_in_file(table: dict[str, Any], lattice: Lattice) -> set[tuple[Cell, str]]:
    """What rows, cells or a size in a file draw; letters of pieces and boards do not matter."""
    lists = table.get("cells")
    if lists is None:
        lists = strokes(table.get("rows") or ["X" * table["size"][1]] * table["size"][0])
    elif isinstance(lists, list):
        lists = {"X": lists}
    pairs = ((place, letter) for letter in {*lists} - {*". "} for place in lists[letter])
    return shape({tuple(place): letter for place, letter in pairs}, lattice)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_set_opens(sheet: Drawing, name: str) -> None:
    sheet.open(name)
    assert sheet.page.locator(".thing").count() > 1
    assert sheet.page.locator(".faults:not(.hint) li").count() == 0
    sheet.page.wait_for_function("() => document.querySelector('.verdict progress').hidden")
    assert sheet.page.locator(TITLE).inner_text()


def test_an_outline_becomes_cells_where_it_is_painted(
    chromium: Browser, studio: RunningStudio
) -> None:
    with drawing(chromium, studio) as sheet:
        sheet.open("fridgeiq")
        before = sheet.document
        sheet.page.locator(".thing").nth(2).click()
        sheet.page.locator('[data-brush="erase"]').click()
        cell, *_ = sheet.on_sheet()
        sheet.stroke(cell)
        after = sheet.document
        changed = [i for i, piece in enumerate(after["piece"]) if piece != before["piece"][i]]
        assert changed == [2]
        assert after["piece"][2].keys() == before["piece"][2].keys() - {"outline"} | {"cells"}
        assert sheet.text.count("#") > 10  # its comments
        sheet.page.locator("[data-do=undo]").click()
        assert sheet.document == before


def test_text_and_drawing_are_one(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        sheet.new(example=True)
        area = sheet.page.locator("#studio-text")
        area.fill(sheet.text.replace('"DDDB"', '"DDDD"'))
        sheet.page.locator('.sheet-cell[data-cell="3,3"][data-letter=D]').wait_for()
        area.fill(sheet.text.replace('"DDDD"', '"DD?D"'))
        fault = sheet.page.locator(".text-view .faults .link")
        fault.wait_for()
        assert "is neither a letter" in fault.inner_text()
        fault.click()
        selected = (
            "document.activeElement.value.slice(document.activeElement.selectionStart, "
            "document.activeElement.selectionEnd)"
        )
        assert "DD?D" in sheet.page.evaluate(selected) or "rows" in sheet.page.evaluate(selected)
        area.fill("[set")
        sheet.page.locator(".text-view .faults", has_text="is not TOML").wait_for()
        sheet.page.locator("#studio-name").click()
        sheet.page.locator("[data-do=undo]").click()
        sheet.page.locator("[data-do=undo]").click()
        sheet.settle()
        assert sheet.document["cut"]["rows"][3] == "DDDD"


def test_a_board_has_texts_clues_and_open_cells(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        sheet.new(example=True)
        sheet.page.locator('[data-id="add-board"]').click()
        sheet.page.locator('[data-brush="label"]').click()
        for place in [(0, 0), (0, 1), (1, 3)]:
            sheet.stroke(place)
        sheet.page.locator('[data-brush="clue"]').click()
        sheet.stroke((2, 2))
        sheet.page.locator('[data-brush="field-draw_open"]').fill("1")
        sheet.page.locator('[data-brush="field-draw_open"]').press("Enter")
        sheet.settle()
        (board,) = sheet.document["board"]
        assert board["labels"] == ["1 2 . .", ". . . 3", ". . . .", ". . . ."]
        assert board["clue"] == [{"cells": [[2, 2]], "piece": "A"}]
        assert board["open"] == 1
        texts = sheet.page.locator(".sheet-over .letter").all_text_contents()
        assert sorted(texts) == ["1", "2", "3", "A"]


def test_the_chosen_brush_stays(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        chosen = sheet.page.locator(".brush[aria-checked=true]")
        for _ in range(2):
            sheet.new(example=True)
            assert chosen.get_attribute("data-brush") == "brush-A"
        sheet.page.locator('[data-brush="erase"]').click()
        sheet.stroke((0, 0))
        sheet.page.keyboard.press("Control+z")
        sheet.settle()
        assert chosen.get_attribute("data-brush") == "erase"


def test_what_is_saved_is_a_set_file(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        sheet.new(example=True)
        sheet.page.locator("#studio-name").fill("drawn.toml")
        sheet.page.keyboard.press("Control+s")
        sheet.page.locator("#studio-say", has_text="Saved drawn.toml").wait_for()
        assert (studio.folder / "drawn.toml").read_text() == sheet.text
        sheet.brush("A")
        sheet.stroke((0, 3))
        sheet.page.locator("[data-do=save]").click()
        sheet.page.locator("#studio-say", has_text="Saved drawn.toml").wait_for()
        sheet.page.wait_for_function("() => fabkitStudio.project.isSaved")
        assert (studio.folder / "drawn.toml").read_text() == sheet.text


def test_a_member_of_a_family_is_counted(chromium: Browser, studio: RunningStudio) -> None:
    project = studio.project("calendar")
    (*_, last) = studio.stream("solve", project=project, challenge="feb-29")
    count = last["result"]["answer"]["count"]
    with drawing(chromium, studio) as sheet:
        sheet.open("calendar")
        choices = sheet.page.locator(".verdict select")
        choices.first.select_option("date")
        choices.nth(1).select_option("feb")
        choices.nth(2).select_option("29")
        sheet.says(f"{count} solutions")
        choices.nth(2).select_option("30")
        sheet.page.locator(".verdict .quiet", has_text='"feb-30"').wait_for()


#: How many random actions there are on all lattices together.
ACTIONS = 500


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", LATTICES)
def test_any_actions_end_in_a_text_that_is_what_is_seen(
    chromium: Browser, studio: RunningStudio, name: str, seed: int
) -> None:
    """By pointer and by keyboard."""
    rng, lattice = random.Random(f"{name} {seed}"), LATTICES[name]
    with drawing(chromium, studio) as sheet:
        sheet.new(name, example=True)
        for _ in range(math.ceil(ACTIONS / len(LATTICES))):
            act(sheet, rng)
        sheet.page.keyboard.press("Escape")
        sheet.settle()
        document = sheet.document
        for button in sheet.page.locator(".thing").all():
            kind, index = str(button.get_attribute("data-id")).split("-")
            button.click()
            table = document["cut"] if kind == "cut" else document[kind][int(index)]
            assert drawn_in_file(table, lattice) == shape(sheet.on_sheet(), lattice), button


def act(sheet: Drawing, rng: random.Random) -> None:
    """One random action."""
    page = sheet.page

    def click(selector: str) -> None:
        if middles := sheet.middles(selector):
            page.mouse.click(*rng.choice(middles))

    actions = [
        (30, lambda: sheet.draw_over(rng.sample(sheet.middles(".sheet-cell"), 2))),
        (10, lambda: click(".brush")),
        (20, lambda: page.keyboard.press(rng.choice(["r", "f", "m", "Space", "Enter", "Escape", "Delete", "5"]))),
        (20, lambda: page.keyboard.press(rng.choice(["ArrowUp", "ArrowDown", "ArrowLeft", "Shift+ArrowRight"]))),
        (8, lambda: page.keyboard.press(rng.choice(["Control+z", "Control+z", "Control+y"]))),
        (4, lambda: click(".thing")),
        (2, lambda: click(".things .add button")),
        (1, lambda: click(".things .round")),
        (3, lambda: page.locator(".sheet").focus()),
    ]  # fmt: skip
    weights, calls = zip(*actions, strict=True)
    rng.choices(calls, weights)[0]()


# --- what is not touched stays ----------------------------------------------------------------

BOARD = """\
[set]
name = "mine"
lattice = "square"
moves = "rotations"

# The first.
[[piece]]
id = "A"
rows = ["XX"]

# The second.
[[piece]]
id = "B"
rows = ["X", "X"]

[[board]]
id = "tray"
rows = ["XXX", "XX."]
labels = ["1 2 3", "4 5"]
clue = [{ cells = [[1, 1]], piece = "A" }]
"""


@contextmanager
def board(chromium: Browser, studio: RunningStudio, text: str = BOARD) -> Iterator[Drawing]:
    """A set with texts and a clue on its board, which is on the sheet."""
    with opened(chromium, studio, text, "board-0") as sheet:
        yield sheet


def test_texts_and_clues_move_with_their_board(chromium: Browser, studio: RunningStudio) -> None:
    with board(chromium, studio) as sheet:
        sheet.page.locator('[data-brush="move"]').click()
        sheet.stroke((0, 0), (1, 1))
        (drawn,) = sheet.document["board"]
        assert drawn["labels"] == ["1 2 3", "4 5"]
        sheet.page.keyboard.press("r")
        (drawn,) = sheet.document["board"]
        assert (drawn["rows"], drawn["labels"]) == (["XX", "XX", ".X"], ["4 1", "5 2", "3"])
        assert drawn["clue"] == [{"cells": [[1, 0]], "piece": "A"}]


def test_what_was_undone_does_not_come_back(chromium: Browser, studio: RunningStudio) -> None:
    with board(chromium, studio) as sheet:
        sheet.page.locator('[data-brush="label"]').click()
        sheet.page.locator('[data-brush="field-draw_label_text"]').fill("Z z")
        sheet.page.locator('[data-brush="field-draw_label_text"]').press("Enter")
        sheet.stroke((0, 0))
        assert sheet.document["board"][0]["labels"] == ["Zz 2 3", "4 5"]
        sheet.page.locator("[data-do=undo]").click()
        sheet.settle()
        sheet.page.locator('[data-brush="brush-X"]').click()
        sheet.stroke((1, 2))
        assert sheet.document["board"][0]["labels"] == ["1 2 3", "4 5 ."]


def test_a_click_at_once_after_typing_loses_nothing(
    chromium: Browser, studio: RunningStudio
) -> None:
    with board(chromium, studio) as sheet:
        area = sheet.page.locator("#studio-text")
        area.fill(BOARD.replace('"XXX"', '"XX."').replace("1 2 3", "1 2"))
        sheet.page.locator('[data-id="add-board"]').click()
        sheet.page.wait_for_function(
            "() => fabkitStudio.project.reading.things.filter(({ kind }) => kind === "
            "'board').length === 2"
        )
        assert "# The second." in sheet.text
        assert sheet.document["board"][0]["labels"] == ["1 2", "4 5"]
        area.fill(sheet.text + "# the end\n")
        sheet.page.keyboard.press("Control+s")
        sheet.page.locator("#studio-say", has_text="Saved mine.toml").wait_for()
        assert (studio.folder / "mine.toml").read_text().endswith("# the end\n")


def test_an_undo_at_once_keeps_comments_and_profile(
    chromium: Browser, studio: RunningStudio
) -> None:
    with board(chromium, studio) as sheet:
        sheet.page.evaluate(
            """() => { const remove = document.querySelector('[data-id="remove-piece-0"]');
              remove.click(); fabkitStudio.project.changeProfile({ settings: { thickness: "4 mm" } });
              document.querySelector('[data-do=undo]').click(); }"""
        )
        assert sheet.text == BOARD
        settings = sheet.page.evaluate("fabkitStudio.project.state.settings")
        assert settings == {"thickness": "4 mm"}


def test_a_carried_shape_is_not_erased(chromium: Browser, studio: RunningStudio) -> None:
    with board(chromium, studio) as sheet:
        sheet.page.locator('[data-brush="move"]').click()
        sheet.stroke((0, 0))
        for key in ("m", "Delete", "Escape"):
            sheet.page.keyboard.press(key)
        assert drawn_in_file(sheet.document["board"][0], LATTICES["square"]) == shape(
            sheet.on_sheet(), LATTICES["square"]
        )


def test_a_tab_that_is_clicked_twice_opens_once(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        sheet.page.locator("#tab-tune").dblclick()
        sheet.page.locator(".tune-form").first.wait_for()
        assert sheet.page.locator(".tune-form").count() == 1


def test_every_rule_of_the_style_is_closed(studio: RunningStudio) -> None:
    style = studio.get("fabkit.css")[2].decode()
    assert style.count("{") == style.count("}")


# --- marks, colours, counting, undo -------------------------------------------------------------

MARKED = """\
[set]
name = "mine"
lattice = "quarter-square"
moves = "rotations"
marks = { o = "hole" }

[[piece]]
id = "A"
rows = ["Xo"]
"""


def test_marks_take_whole_places(chromium: Browser, studio: RunningStudio) -> None:
    with opened(chromium, studio, MARKED, "piece-0") as sheet:
        sheet.brush("o")
        sheet.stroke((0, 0, 2))
        assert sheet.document["piece"] == [{"id": "A", "rows": ["oo"]}]
        assert sheet.page.locator(".sheet-over .letter").count() == 2
        sheet.stroke((0, 0, 1))  # takes it away again
        assert sheet.document["piece"] == [{"id": "A", "rows": ["o"]}]
        before = sheet.on_sheet()
        sheet.brush("X")
        sheet.stroke((1, 1, 0))  # a quarter
        assert sheet.document["piece"] == [{"id": "A", "rows": ["o"]}]
        assert sheet.on_sheet() == before
        hint = sheet.page.locator(".draw-middle .faults")
        assert "Marks need whole places" in hint.inner_text()
        sheet.stroke((0, 1, 3))
        assert sheet.document["piece"] == [{"id": "A", "rows": ["X"]}]
        sheet.stroke((1, 1, 0))
        assert sheet.document["piece"][0].keys() == {"id", "cells"}
        assert hint.inner_text() == ""


def test_a_colour_does_not_count_anew(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        asked: list[str] = []
        sheet.page.on(
            "request", lambda request: asked.append(request.url) if "solve" in request.url else None
        )
        sheet.new("triangle", example=True)
        sheet.brush("A")
        sheet.page.wait_for_function(
            "() => document.querySelector('.verdict progress').hidden && "
            "document.querySelector('.solution path')"
        )
        assert len(asked) == 1
        colour = sheet.page.locator('[data-brush="field-draw_colour"]')
        for value in ("#123456", "#654321"):
            colour.fill(value)
            colour.dispatch_event("change")
            sheet.page.locator(f'.solution path[fill="{value}"]').wait_for(state="attached")
            assert sheet.document["cut"]["colours"]["A"] == value
        # Timers go off in their order: that of another question, which is shorter, before this one.
        sheet.page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
        assert len(asked) == 1
        with sheet.page.expect_request("**/api/solve"):
            sheet.stroke((0, 0))
        assert len(asked) == 2


def test_a_stopped_count_can_be_made(chromium: Browser, studio: RunningStudio) -> None:
    with drawing(chromium, studio) as sheet:
        sheet.page.route("**/api/solve", lambda _: None)  # it is never answered
        sheet.new("triangle", example=True)
        stop = sheet.page.get_by_role("button", name="Stop")
        count = sheet.page.get_by_role("button", name="Count", exact=True)
        stop.focus()
        assert not count.is_visible()
        sheet.page.keyboard.press("Enter")
        sheet.says("Not solved")
        sheet.page.unroute("**/api/solve")
        assert sheet.page.evaluate("document.activeElement.textContent") == "Count"
        sheet.page.keyboard.press("Enter")
        sheet.page.wait_for_function("() => document.querySelector('.solution path')")
        assert not count.is_visible()


def test_undo_works_in_fields_without_text(chromium: Browser, studio: RunningStudio) -> None:
    with board(chromium, studio) as sheet:
        sheet.page.locator('[data-id="piece-0"]').click()
        for selector, is_undone in [
            ('[data-brush="field-draw_add_mark"]', True),
            ('[data-brush="field-draw_colour"]', True),
            ("#studio-open", True),
            ('[data-brush="field-draw_id"]', False),
        ]:
            sheet.brush("X")
            sheet.stroke((1, 0))
            changed = sheet.text
            assert changed != BOARD
            sheet.page.locator(selector).focus()
            sheet.page.keyboard.press("Control+z")
            assert sheet.text == (BOARD if is_undone else changed), selector
            if is_undone:
                sheet.page.keyboard.press("Control+y")
                assert sheet.text == changed
                sheet.page.keyboard.press("Control+z")
