"""Pages to play on, and a player who sees what a person sees: shapes on the screen, and texts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.model.lattice import Cell
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Entry, Given, PuzzleSet, to_units
from fabkit.output.web.document import Download, page_files
from fabkit.puzzles.entries import Selection, gather
from fabkit.sets.catalog import shipped_entries
from fabkit.sets.library import load_set
from tests.support.entries import altered

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Point = tuple[float, float]
#: A shape as it looks on the screen: its edges, in hundredths of a unit from its upper left.
Look = frozenset[frozenset[tuple[int, int]]]
#: The shape of a piece, drawn where it is seen: on the board, or else in the tray.
_BODY = """const body = ((id) => {
  const [placed, slot] = ["#play-board .piece:not(.gone)", "#play-tray .slot"].map((part) =>
    document.querySelector(`${part}[data-piece="${CSS.escape(id)}"]`));
  return (placed ?? slot).querySelector(".body"); })"""
_OUTLINE = f"(id) => {{ {_BODY}(id); return body.getAttribute('d'); }}"
_TURNS = f"([id, outline]) => {{ {_BODY}(id); return body.getAttribute('d') !== outline; }}"
#: Where a piece is on the screen, how large its unit is there, and a point inside, off its edges.
_MEASURE = f"""(id) => {{
  {_BODY}(id);
  const {{ left, top, right, bottom }} = body.getBoundingClientRect();
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) {{
    body.scrollIntoView({{ block: "center", inline: "center", behavior: "instant" }});
  }}
  const b = body.getBBox(), m = body.getScreenCTM(), found = [m.e + b.x * m.a, m.f + b.y * m.d, m.a * 100];
  for (const u of [.5, .17, .83, .33, .67]) for (const v of [.5, .83, .17, .67, .33]) {{
    const p = new DOMPoint(b.x + u * b.width, b.y + v * b.height);
    if (body.isPointInFill(p)) {{ const q = p.matrixTransform(m); return [...found, q.x, q.y]; }} }} }}"""
#: How long a finger has rested at a point, as the browser is told.
_REST_S = 0.1
#: Counts the fingers on the screen; nobody knows how many until one has come or gone.
_COUNT_FINGERS = """() => {
  if (!("fingers" in window)) {
    for (const name of ["touchstart", "touchend", "touchcancel"]) {
      addEventListener(name, ({ touches }) => (window.fingers = touches.length), { passive: true });
    }
  }
  window.fingers = NaN; }"""


@cache
def entries_of(name: str, *only: str) -> tuple[PuzzleSet, tuple[Entry, ...]]:
    """Some challenges of a set, by their ids."""
    puzzle = load_set(name)
    return puzzle, tuple(gather(puzzle, Selection(only=only)))


@cache
def some_of_fridgeiq() -> tuple[PuzzleSet, tuple[Entry, ...]]:
    """A handful of challenges: one that is solved soon, one with a given piece, one without a
    solution, and snowflakes, of which one lies on two lattices."""
    puzzle, (triangle,) = entries_of("fridgeiq", "triangle_01")
    piece, cells = next(iter((triangle.solution or {}).items()))
    given = altered(triangle, id="given", given=(Given(piece, cells),))
    none = altered(triangle, id="none", solution=None, status="impossible", level="")
    flakes = shipped_entries(puzzle, "snowflake")
    mixed = next(one for one in flakes if one.halves == 2)
    return puzzle, (triangle, given, none, *flakes[:6], mixed)


def write_page(
    folder: Path,
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    language: str = "",
    downloads: Sequence[Download] = (),
) -> str:
    """Writes a page without what is seen in 3D; its address."""
    unit_mm = puzzle.profile_values.get("unit_mm", 20.0)
    files = page_files(puzzle, entries, unit_mm, language, downloads, viewer=False)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return (folder / "index.html").as_uri()


class Pages:
    """Pages in a folder, each written once: tests only open them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._urls: dict[tuple[object, ...], str] = {}
        self._sources: list[object] = []  # kept, so that no other object has the identity of one

    def url(
        self,
        puzzle: PuzzleSet,
        entries: Sequence[Entry],
        language: str = "",
        downloads: Sequence[Download] = (),
    ) -> str:
        """The address of the page with some challenges of a set."""
        key = (id(puzzle), *map(id, entries), language, *downloads)
        if key not in self._urls:
            folder = self._folder / str(len(self._urls))
            self._urls[key] = write_page(folder, puzzle, entries, language, downloads)
            self._sources += [puzzle, *entries]
        return self._urls[key]


class Player:
    """Plays a challenge that is open on a page."""

    def __init__(self, page: Page, puzzle: PuzzleSet, entry: Entry) -> None:
        self.page, self.puzzle, self.entry = page, puzzle, entry
        self.solution = dict(entry.solution or {})
        given_ids = {given.piece for given in entry.challenge.given}
        self.free = [piece for piece in self.solution if piece not in given_ids]

    # --- what is seen -------------------------------------------------------------------------

    def text(self, part: str) -> str:
        """What a part of the page says, such as ``say``."""
        return self.page.locator(f"#play-{part}").inner_text()

    @property
    def announced(self) -> str:
        return self.text("say")

    @property
    def solved(self) -> bool:
        return self.page.locator("#play-done").is_visible()

    @property
    def placed_count(self) -> int:
        """How many pieces lie on the board."""
        return self.page.locator("#play-board .piece:not(.gone)").count()

    @property
    def holding(self) -> bool:
        return self.page.locator(".dragging").count() > 0

    def on_board(self, piece: str) -> Locator:
        return self.page.locator(f'#play-board .piece[data-piece="{piece}"]')

    def in_tray(self, piece: str) -> Locator:
        return self.page.locator(f'#play-tray .slot[data-piece="{piece}"]')

    def seen(self, piece: str) -> Locator:
        """The piece, wherever it is."""
        placed = self.on_board(piece)
        return placed if placed.is_visible() else self.in_tray(piece)

    def place(self, piece: str) -> str:
        """The place of a piece on the board, for comparison."""
        return self.on_board(piece).get_attribute("style") or ""

    def can(self, tool: str) -> bool:
        button = self.page.locator(f"#play-tools [data-do={tool}]")
        return button.get_attribute("aria-disabled") != "true"

    def look(self, piece: str) -> Look:
        """The shape of a piece as it is drawn now."""
        return _look_of(self.page.evaluate(_OUTLINE, piece))

    def box(self, place: str) -> dict[str, float]:
        """The rectangle of an element on the screen."""
        found = self.page.locator(place).first.bounding_box()
        assert found, place
        return dict(found)

    # --- what is wanted -----------------------------------------------------------------------

    def _rings(self, cells: frozenset[Cell]) -> list[list[Point]]:
        """Outlines in grid units, y downwards."""
        lattice, halves = self.puzzle.lattice, self.entry.halves
        rings = rings_of_cells(lattice, cells)
        return [[(x / halves, -y / halves) for x, y in to_units(lattice, ring)] for ring in rings]

    def wanted_look(self, piece: str) -> Look:
        rings = self._rings(self.solution[piece])
        return _look([[(100 * x, 100 * y) for x, y in ring] for ring in rings])

    def wanted_place(self, piece: str) -> Point:
        """The upper left of the piece, from that of the region, in grid units."""
        (x, y), (left, top) = map(
            _least, map(self._rings, (self.solution[piece], self.entry.challenge.board_cells))
        )
        return x - left, y - top

    # --- with a pointer -----------------------------------------------------------------------

    def do(self, *tools: str) -> None:
        """Clicks tools."""
        for tool in tools:
            self.page.locator(f"#play-tools [data-do={tool}]").click()

    def until(self, script: str, argument: Any = None) -> None:
        """Waits for what comes of a tap, a file or a new size, which the page hears of a moment
        later.
        """
        self.page.wait_for_function(script, arg=argument)

    def other_look(self, piece: str, before: Look) -> Look:
        """What a piece looks like once it looks different."""
        outline = self.page.evaluate(_OUTLINE, piece)
        if _look_of(outline) == before:
            self.until(_TURNS, [piece, outline])
        now = self.look(piece)
        assert now != before, f"{piece} is not turned"
        return now

    def hint(self, pieces: int = 1) -> None:
        """Presses for hints until so many more pieces lie."""
        wanted = self.placed_count + pieces
        for _ in range(3 * pieces):
            if self.placed_count < wanted:
                self.do("hint")
        assert self.placed_count == wanted

    def turn_by_taps(self, piece: str) -> None:
        """Taps until the piece lies the right way, where two quick taps would not turn it over."""
        assert not self.entry.challenge.flips
        assert not self.puzzle.made_of_balls
        wanted = self.wanted_look(piece)
        for _ in range(6):
            if (look := self.look(piece)) == wanted:
                return
            self.page.mouse.click(*self.measured(piece)[3:])
            self.other_look(piece, look)
        raise AssertionError(f"{piece} never lies right")

    def grab(self, piece: str, to: Point) -> None:
        """Drags a piece, and keeps it in the hand, until its upper left is at a place of the
        region, in grid units."""
        region = self.box("#play-board .ground")
        xs = [x for ring in self._rings(self.entry.challenge.board_cells) for x, _ in ring]
        unit = region["width"] / (max(xs) - min(xs))
        left, top, scale, *start = self.measured(piece)
        end = (
            region["x"] + (to[0] + (start[0] - left) / scale) * unit,
            region["y"] + (to[1] + (start[1] - top) / scale) * unit,
        )
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*((a + b) / 2 for a, b in zip(start, end, strict=True)))
        self.page.mouse.move(*end)

    def drag(self, piece: str, to: Point) -> None:
        self.grab(piece, to)
        self.page.mouse.up()

    def measured(self, piece: str) -> list[float]:
        """Left and top of a piece on the screen, pixels in a grid unit, and a point on it."""
        measures: list[float] = self.page.evaluate(_MEASURE, piece)
        return measures

    def lay(self, piece: str, taps: bool = False) -> None:
        """Turns a piece, by taps or by keys, and drags it where it belongs."""
        if taps:
            self.turn_by_taps(piece)
        else:
            self.seen(piece).focus()
            self.turn_by_keys(piece)
        self.drag(piece, self.wanted_place(piece))

    def lay_all(self) -> None:
        for piece in self.free:
            self.lay(piece)
        assert self.solved

    def touch(self, *stages: Sequence[Point]) -> None:
        """Fingers go down at some points, move on to others, and are lifted, as the page has heard
        then.

        They rest at each point: if they were lifted in a swipe, the browser would take the next tap
        for the end of that.
        """
        self.page.evaluate(_COUNT_FINGERS)
        session = self.page.context.new_cdp_session(self.page)
        end = time.time()
        for number, stage in enumerate((*stages, ())):
            kind = "touchStart" if not number else "touchMove" if stage else "touchEnd"
            points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(stage)]
            moment = end - _REST_S * (len(stages) - number)
            event = {"type": kind, "touchPoints": points, "timestamp": moment}
            session.send("Input.dispatchTouchEvent", event)
        self.until("() => window.fingers === 0")

    # --- with keys ----------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def pick_up(self, piece: str) -> None:
        self.seen(piece).focus()
        self.press("Enter")
        assert self.announced.startswith(f"{piece} picked up")

    def lay_by_keys(self, piece: str) -> None:
        """Goes to a piece with Tab, turns it and carries it where it belongs."""
        for _ in range(400):
            if self.page.evaluate("document.activeElement.dataset.piece") == piece:
                break
            self.press("Tab")
        else:
            raise AssertionError(f"Tab never leads to {piece}")
        self.turn_by_keys(piece)
        self.press("Enter")
        wanted = self.wanted_place(piece)
        for _ in range(200):
            region = self.box("#play-board .ground")
            left, top, unit, *_ = self.measured(piece)
            right = wanted[0] - (left - region["x"]) / unit
            down = wanted[1] - (top - region["y"]) / unit
            if abs(down) > 0.02:
                self.press("ArrowDown" if down > 0 else "ArrowUp")
            elif abs(right) > 0.02:
                self.press("ArrowRight" if right > 0 else "ArrowLeft")
            else:
                break
        self.press("Enter")

    def turn_by_keys(self, piece: str) -> None:
        """Turns the piece that has the focus, and turns it over, until it lies the right way."""
        wanted = self.wanted_look(piece)
        for key in ["r"] * 6 + ["f"] + ["r"] * 6 + ["f"]:
            if self.look(piece) == wanted:
                return
            self.press(key)
        raise AssertionError(f"{piece} never lies right")

    # --- what the browser keeps ---------------------------------------------------------------

    @property
    def kept(self) -> Any:
        return self.page.evaluate(f"JSON.parse(localStorage.getItem('fabkit/{self.puzzle.name}'))")

    @property
    def kept_as(self) -> str:
        """What the challenge is called there."""
        script = "(id) => FABKIT.entries.find((one) => one.id === id).mark"
        return f"{self.entry.challenge.id} {self.page.evaluate(script, self.entry.challenge.id)}"


def _least(rings: Iterable[Sequence[Point]]) -> Point:
    xs, ys = zip(*(point for ring in rings for point in ring), strict=True)
    return min(xs), min(ys)


def _look_of(outline: str) -> Look:
    """What the outline of a drawing looks like."""
    rings = []
    for ring in filter(None, outline.split("Z")):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", ring)]
        rings.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return _look(rings)


def _look(rings: Sequence[Sequence[Point]]) -> Look:
    """What outlines look like, wherever they are."""
    left, top = _least(rings)
    moved = [[(round(x - left), round(y - top)) for x, y in ring] for ring in rings]
    return frozenset(
        frozenset(edge) for ring in moved for edge in zip(ring, [*ring[1:], ring[0]], strict=True)
    )


def mirrored(look: Look) -> Look:
    """From left to right."""
    right = max(x for edge in look for x, _ in edge)
    return frozenset(frozenset((right - x, y) for x, y in edge) for edge in look)
