"""Pages to play on, and a player who sees what a person sees: shapes on the screen, and texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.entries import Selection, gather
from fabkit.model.catalog import shipped_snowflakes
from fabkit.model.entry import Entry
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import Given, PuzzleSet, in_units
from fabkit.output.web.document import Download, page_files

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Point = tuple[float, float]
#: A shape as it looks on the screen: its edges, in hundredths of a unit from its upper left.
Look = frozenset[frozenset[tuple[int, int]]]


@cache
def entries_of(name: str, *only: str) -> tuple[PuzzleSet, tuple[Entry, ...]]:
    """Some challenges of a shipped set, by their ids."""
    puzzle = load_set(name)
    return puzzle, tuple(gather(puzzle, Selection(only=only)))


@cache
def some_of_fridgeiq() -> tuple[PuzzleSet, tuple[Entry, ...]]:
    """A handful of challenges: one that is solved soon, one with a given piece, one without a
    solution, and snowflakes, of which one lies on two lattices."""
    puzzle, (triangle,) = entries_of("fridgeiq", "triangle_01")
    piece, cells = next(iter((triangle.solution or {}).items()))
    given = replace(triangle, id="given", given=(Given(piece, cells),))
    none = replace(triangle, id="none", solution=None, status="impossible", level="")
    flakes = shipped_snowflakes(puzzle)
    mixed = next(one for one in flakes if one.halves == 2)
    return puzzle, (triangle, given, none, *flakes[:6], mixed)


def write_page(
    folder: Path,
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    language: str = "en",
    downloads: Sequence[Download] = (),
) -> str:
    """Writes a page without what is seen in 3D; its address."""
    files = page_files(puzzle, entries, puzzle.unit_mm or 20.0, language, downloads, viewer=False)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return (folder / "index.html").as_uri()


class Player:
    """Plays a challenge on a page.

    Args:
        page: on which the challenge is open.
        puzzle: its set.
        entry: the challenge.
    """

    def __init__(self, page: Page, puzzle: PuzzleSet, entry: Entry) -> None:
        self.page, self.puzzle, self.entry = page, puzzle, entry
        self.solution = dict(entry.solution or {})
        self.free = [one for one in self.solution if one not in {g.piece for g in entry.given}]

    # --- what is seen -------------------------------------------------------------------------

    @property
    def said(self) -> str:
        return self.page.locator("#play-say").inner_text()

    @property
    def solved(self) -> bool:
        return self.page.locator("#play-done").is_visible()

    def on_board(self, piece: str) -> Locator:
        return self.page.locator(f'#play-board .piece[data-piece="{piece}"]')

    def in_tray(self, piece: str) -> Locator:
        return self.page.locator(f'#play-tray .slot[data-piece="{piece}"]')

    def seen(self, piece: str) -> Locator:
        """The piece, wherever it is."""
        lying = self.on_board(piece)
        return lying if lying.is_visible() else self.in_tray(piece)

    def place(self, piece: str) -> str:
        """Where a piece lies on the board, to be compared."""
        return self.on_board(piece).get_attribute("style") or ""

    def can(self, tool: str) -> bool:
        """Whether a tool is offered."""
        button = self.page.locator(f"#play-tools [data-do={tool}]")
        return button.get_attribute("aria-disabled") != "true"

    def look(self, piece: str) -> Look:
        """The shape of a piece as it is drawn now."""
        path = self.seen(piece).locator(".body").first.get_attribute("d") or ""
        rings = []
        for ring in filter(None, path.split("Z")):
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", ring)]
            rings.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
        return look_of(rings)

    # --- what is wanted -----------------------------------------------------------------------

    def _rings(self, cells: frozenset[Cell]) -> list[list[Point]]:
        """Outlines in grid units, y downwards."""
        lattice, halves = self.puzzle.lattice, self.entry.halves
        rings = rings_of_cells(lattice, cells)
        return [[(x / halves, -y / halves) for x, y in in_units(lattice, ring)] for ring in rings]

    def _corners(self, cells: frozenset[Cell]) -> list[Point]:
        return [point for ring in self._rings(cells) for point in ring]

    def wanted_look(self, piece: str) -> Look:
        rings = self._rings(self.solution[piece])
        return look_of([[(100 * x, 100 * y) for x, y in ring] for ring in rings])

    def wanted_place(self, piece: str) -> Point:
        """The upper left of the piece, from that of the region, in grid units."""
        mine, all_of_it = self._corners(self.solution[piece]), self._corners(self.entry.region)
        return _least(mine)[0] - _least(all_of_it)[0], _least(mine)[1] - _least(all_of_it)[1]

    # --- with a pointer -----------------------------------------------------------------------

    def turn_by_taps(self, piece: str) -> None:
        """Taps until the piece lies the right way, and turns it over in between."""
        for _ in range(4):
            for _ in range(6):
                if self.look(piece) == self.wanted_look(piece):
                    return
                x, y = self._grip(piece)
                self.page.mouse.click(x, y)
                if self.entry.flips or self.puzzle.made_of_balls:
                    self.page.wait_for_timeout(300)  # two quick taps would turn it over
            self.page.locator("[data-do=flip]").click()
        raise AssertionError(f"{piece} never lies right")

    def drag(self, piece: str, to: Point) -> None:
        """Drags a piece until its upper left is at a place of the region, in grid units."""
        self.grab(piece, to)
        self.page.mouse.up()

    def grab(self, piece: str, to: Point) -> None:
        """The same, and keeps it in the hand."""
        region = self.page.locator("#play-board .ground").bounding_box()
        assert region
        unit = region["width"] / _spread(self._corners(self.entry.region))
        start = self._grip(piece)
        left, top, scale = self._drawn(piece)
        grip = (start[0] - left) / scale, (start[1] - top) / scale  # in grid units
        end = region["x"] + (to[0] + grip[0]) * unit, region["y"] + (to[1] + grip[1]) * unit
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*((a + b) / 2 for a, b in zip(start, end, strict=True)))
        self.page.mouse.move(*end)

    def _drawn(self, piece: str) -> tuple[float, float, float]:
        """Left and top of a piece on the screen, and how many pixels a grid unit has there."""
        body = self.seen(piece).locator(".body").first
        box = body.evaluate(
            "e => { const m = e.getScreenCTM(), b = e.getBBox();"
            " return [m.e + b.x * m.a, m.f + b.y * m.d, m.a * 100] }"
        )
        return box[0], box[1], box[2]

    def _grip(self, piece: str) -> Point:
        """A point of the screen on the piece, off its edges."""
        body = self.seen(piece).locator(".body").first
        body.scroll_into_view_if_needed()
        spot = body.evaluate(
            """e => { const b = e.getBBox(), m = e.getScreenCTM();
            for (const u of [.5, .17, .83, .33, .67]) for (const v of [.5, .83, .17, .67, .33]) {
              const p = new DOMPoint(b.x + u * b.width, b.y + v * b.height);
              if (e.isPointInFill(p)) { const q = p.matrixTransform(m); return [q.x, q.y]; } } }"""
        )
        return spot[0], spot[1]

    def lay(self, piece: str, taps: bool = False) -> None:
        """Turns a piece, by taps or by keys, and drags it where it belongs."""
        if taps:
            self.turn_by_taps(piece)
        else:
            self.seen(piece).focus()
            self.turn_by_keys(piece)
        self.drag(piece, self.wanted_place(piece))

    # --- with keys ----------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def pick_up(self, piece: str) -> None:
        self.seen(piece).focus()
        self.press("Enter")
        assert self.said.startswith(f"{piece} picked up")

    def lay_by_keys(self, piece: str) -> None:
        """Goes to a piece with Tab, turns it and carries it where it belongs."""
        self.tab_to(piece)
        self.turn_by_keys(piece)
        self.page.keyboard.press("Enter")
        for _ in range(200):
            right, down = self._way_to_go(piece)
            if not right and not down:
                break
            side = "ArrowRight" if right > 0 else "ArrowLeft"
            self.page.keyboard.press(("ArrowDown" if down > 0 else "ArrowUp") if down else side)
        self.page.keyboard.press("Enter")

    def turn_by_keys(self, piece: str) -> None:
        """Turns the piece that has the focus, and turns it over, until it lies the right way."""
        for press in ["r"] * 6 + ["f"] + ["r"] * 6 + ["f"]:
            if self.look(piece) == self.wanted_look(piece):
                return
            self.page.keyboard.press(press)
        raise AssertionError(f"{piece} never lies right")

    def tab_to(self, piece: str) -> None:
        for _ in range(400):
            if self.page.evaluate("document.activeElement.dataset.piece") == piece:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never leads to {piece}")

    def _way_to_go(self, piece: str) -> Point:
        """How far a piece on the board is from where it belongs, in grid units."""
        region = self.page.locator("#play-board .ground").bounding_box()
        assert region
        left, top, unit = self._drawn(piece)
        x, y = (left - region["x"]) / unit, (top - region["y"]) / unit
        wanted = self.wanted_place(piece)
        return tuple(0.0 if abs(far) < 0.02 else far for far in (wanted[0] - x, wanted[1] - y))  # type: ignore[return-value]


def kept(page: Page, name: str) -> Any:
    """What the browser keeps for a set."""
    return page.evaluate(f"JSON.parse(localStorage.getItem('fabkit/{name}'))")


def kept_as(page: Page, entry: Entry) -> str:
    """What a challenge of a page is called in what the browser keeps."""
    found = page.evaluate("(id) => FABKIT.entries.find((one) => one.id === id).mark", entry.id)
    return f"{entry.id} {found}"


def _least(points: Sequence[Point]) -> Point:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys)


def _spread(points: Sequence[Point]) -> float:
    xs = [x for x, _ in points]
    return max(xs) - min(xs)


def look_of(rings: Sequence[Sequence[Point]]) -> Look:
    """What outlines look like, wherever they are."""
    left, top = _least([point for ring in rings for point in ring])
    moved = [[(round(x - left), round(y - top)) for x, y in ring] for ring in rings]
    return frozenset(
        frozenset(edge) for ring in moved for edge in zip(ring, [*ring[1:], ring[0]], strict=True)
    )
