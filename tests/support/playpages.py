"""Pages to play on, and a player who sees what a person sees: shapes on the screen, and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.entries import Selection, gather
from fabkit.model.catalog import shipped_entries
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Entry, Given, PuzzleSet, to_units
from fabkit.output.web.document import Download, page_files
from tests.support.entries import altered

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Point = tuple[float, float]
#: A shape as it looks on the screen: its edges, in hundredths of a unit from its upper left.
Look = frozenset[frozenset[tuple[int, int]]]
#: Where a drawing is on the screen, how large its unit is there, and a point inside, off its edges.
MEASURE = """e => {
  const b = e.getBBox(), m = e.getScreenCTM(), found = [m.e + b.x * m.a, m.f + b.y * m.d, m.a * 100];
  for (const u of [.5, .17, .83, .33, .67]) for (const v of [.5, .83, .17, .67, .33]) {
    const p = new DOMPoint(b.x + u * b.width, b.y + v * b.height);
    if (e.isPointInFill(p)) { const q = p.matrixTransform(m); return [...found, q.x, q.y]; } } }"""


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
    files = page_files(
        puzzle,
        entries,
        puzzle.profile_values.get("unit_mm", 20.0),
        language,
        downloads,
        viewer=False,
    )
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return (folder / "index.html").as_uri()


class Player:
    """Plays a challenge that is open on a page."""

    def __init__(self, page: Page, puzzle: PuzzleSet, entry: Entry) -> None:
        self.page, self.puzzle, self.entry = page, puzzle, entry
        self.solution = dict(entry.solution or {})
        self.free = [
            one for one in self.solution if one not in {g.piece for g in entry.challenge.given}
        ]

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
        path = self.seen(piece).locator(".body").first.get_attribute("d") or ""
        rings = []
        for ring in filter(None, path.split("Z")):
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", ring)]
            rings.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
        return _look(rings)

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
        """Waits for what comes of a tap, a file or a new size, which the page hears of a moment later."""
        self.page.wait_for_function(script, arg=argument)

    def other_look(self, piece: str, before: Look) -> Look:
        """What a piece looks like once it looks different."""
        for _ in range(200):
            if (now := self.look(piece)) != before:
                return now
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{piece} is not turned")

    def hint(self, pieces: int = 1) -> None:
        """Presses for hints until so many more pieces lie."""
        wanted = self.placed_count + pieces
        for _ in range(3 * pieces):
            if self.placed_count < wanted:
                self.do("hint")
        assert self.placed_count == wanted

    def turn_by_taps(self, piece: str) -> None:
        """Taps until the piece lies the right way, and turns it over in between."""
        for _ in range(4):
            for _ in range(6):
                if self.look(piece) == self.wanted_look(piece):
                    return
                self.page.mouse.click(*self.measured(piece)[3:])
                if self.entry.challenge.flips or self.puzzle.made_of_balls:
                    self.page.wait_for_timeout(300)  # two quick taps would turn it over
            self.do("flip")
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
        body = self.seen(piece).locator(".body").first
        body.scroll_into_view_if_needed()
        found: list[float] = body.evaluate(MEASURE)
        return found

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
        for key in ["r"] * 6 + ["f"] + ["r"] * 6 + ["f"]:
            if self.look(piece) == self.wanted_look(piece):
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
