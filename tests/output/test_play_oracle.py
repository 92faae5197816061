"""The page and the model agree about random placements: which cells, and whether they solve."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.model.entry import Entry, in_halves
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set
from fabkit.model.piece import orientations
from fabkit.model.puzzle import Given, PuzzleSet
from fabkit.output.web.playdata import Ways
from tests.support import browser
from tests.support.playpages import entries_of, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [browser.needed, pytest.mark.integration]

ENTRIES = (
    ("fridgeiq", "square_05"),
    ("fridgeiq", "mixed1-4-eaa5febe52"),
    ("iqfit", "board"),
    ("iqstars", "board"),
    ("cubimagici", "tray"),
)
#: The page's own judgement of pieces that are laid somewhere.
JUDGE = """([id, lists]) => {
  const entry = FABKIT.entries.find((one) => one.id === id);
  return lists.map((laid) => {
    const game = new fabkitPlay.Game(FABKIT, entry);
    for (const [piece, way, x, y] of laid) game.put(piece, { way, at: [x, y] });
    const verdict = game.judge();
    return {
      cells: laid.map(([piece]) => game.cells(piece)),
      solved: verdict.solved,
      doubled: verdict.doubled.length,
      outside: verdict.outside.size,
    };
  });
}"""


def some_placements(puzzle: PuzzleSet, entry: Entry, dice: random.Random) -> dict[str, set[Cell]]:
    """The solution with some pieces taken away, moved, turned or exchanged; or all of it."""
    (ux, _), (vx, vy) = puzzle.lattice.basis
    found = {}
    for piece_id, solved in (entry.solution or {}).items():
        cells = solved
        luck = dice.random()
        if luck < 0.03:
            continue
        if luck < 0.1:
            piece = puzzle.piece(piece_id)
            way = dice.choice(orientations(puzzle.lattice, piece, entry.flips)).cells
            fine = way if entry.halves == 1 else in_halves(puzzle.lattice, way)
            (x0, y0), (x1, y1) = puzzle.lattice.anchor(fine), puzzle.lattice.anchor(cells)
            cells = frozenset((x + x1 - x0, y + y1 - y0) for x, y in fine)
        if 0.08 < luck < 0.15:
            a, b = dice.randrange(-2, 3), dice.randrange(-2, 3)
            cells = frozenset((x + a * ux + b * vx, y + b * vy) for x, y in cells)
        found[piece_id] = set(cells)
    return found


@cache
def known_ways(name: str, piece: str, flips: bool) -> Ways:
    puzzle = load_set(name)
    return Ways(puzzle.lattice, puzzle.piece(piece), flips)


def laid(puzzle: PuzzleSet, entry: Entry, lying: dict[str, set[Cell]]) -> list[list[int]]:
    flips = puzzle.flips or entry.flips
    found = []
    for place, piece in enumerate(puzzle.pieces):
        if piece.id in lying:
            ways = known_ways(puzzle.name, piece.id, flips)
            where = ways.place(frozenset(lying[piece.id]), entry.halves)
            assert where
            found.append([place, *where])
    return found


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "only"), ENTRIES)
def test_page_and_model_agree(chromium: Browser, tmp_path: Path, name: str, only: str) -> None:
    page_and_model_agree(chromium, tmp_path, name, only)


def page_and_model_agree(
    chromium: Browser, folder: Path, name: str, only: str, patch: str = "() => 0"
) -> None:
    puzzle, entries = entries_of(name, only)
    (entry,) = entries
    dice = random.Random(only)
    tries = [some_placements(puzzle, entry, dice) for _ in range(60)]
    tries.append({piece: set(cells) for piece, cells in (entry.solution or {}).items()})
    lists = [laid(puzzle, entry, lying) for lying in tries]
    with browser.opened(chromium, write_page(folder, puzzle, entries)) as page:
        page.evaluate(patch)
        answers = page.evaluate(JUDGE, [entry.id, lists])
    for lying, answer in zip(tries, answers, strict=True):
        agree(puzzle, entry, lying, answer)
    assert {answer["solved"] for answer in answers} == {True, False}


def agree(
    puzzle: PuzzleSet, entry: Entry, lying: dict[str, set[Cell]], answer: dict[str, Any]
) -> None:
    mine = [lying[piece.id] for piece in puzzle.pieces if piece.id in lying]
    assert [{tuple(cell) for cell in cells} for cells in answer["cells"]] == mine
    union = set().union(*mine)
    twice = {cell for cell in union if sum(cell in cells for cells in mine) > 1}
    assert answer["doubled"] == len(twice)
    assert answer["outside"] == sum(not cells <= entry.region for cells in mine)
    exact = not twice and union == entry.region and set(lying) == set(entry.pieces)
    assert answer["solved"] == exact


def hinted(page: Page) -> int:
    """How many hints it takes to the end."""
    for count in range(1, 40):
        page.locator("[data-do=hint]").click()
        if page.locator("#play-done").is_visible():
            return count
    raise AssertionError("hints never lead to the end")


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "only"), ENTRIES)
def test_hints_lead_to_the_solution(
    chromium: Browser, tmp_path: Path, name: str, only: str
) -> None:
    puzzle, entries = entries_of(name, only)
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        assert hinted(page) == len(entries[0].pieces)
        said = page.locator("#play-say").inner_text()
        assert said == f"Solved, with {len(entries[0].pieces)} hints."


def test_hints_leave_a_twin_where_it_serves(chromium: Browser, tmp_path: Path) -> None:
    """E and R are the same shape: where one lies, the other is not asked for."""
    puzzle, entries = entries_of("fridgeiq", "mixed1-4-eaa5febe52")
    (entry,) = entries
    swapped = dict(entry.solution or {})
    swapped["E"], swapped["R"] = swapped["R"], swapped["E"]
    two = laid(puzzle, entry, {"E": set(swapped["E"]), "R": set(swapped["R"])})
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        page.evaluate(
            """(two) => {
              const { table } = fabkitPlay.page;
              for (const [piece, way, x, y] of two) table.game.put(piece, { way, at: [x, y] });
              table.update();
            }""",
            two,
        )
        assert hinted(page) == len(entry.pieces) - 2
        kept = page.evaluate("[...fabkitPlay.page.table.game.lying].map(([p, l]) => [p, ...l.at])")
        assert len(kept) == len(entry.pieces)


def test_a_hint_never_picks_a_given_piece(chromium: Browser, tmp_path: Path) -> None:
    """R lies on E, which is given and of the same shape."""
    puzzle, (entry,) = entries_of("fridgeiq", "mixed1-4-eaa5febe52")
    place = (entry.solution or {})["E"]
    given = replace(entry, given=(Given("E", place),))
    (upon,) = laid(puzzle, entry, {"R": set(place)})
    with browser.opened(chromium, write_page(tmp_path, puzzle, [given])) as page:
        page.evaluate(
            """([piece, way, x, y]) => {
              const { table } = fabkitPlay.page;
              table.game.put(piece, { way, at: [x, y] });
              table.update();
            }""",
            upon,
        )
        assert hinted(page) == len(entry.pieces) - 1


def test_a_hint_takes_back_what_is_in_its_way(chromium: Browser, tmp_path: Path) -> None:
    puzzle, entries = entries_of("fridgeiq", "triangle_01")
    (entry,) = entries
    with browser.opened(chromium, write_page(tmp_path, puzzle, entries)) as page:
        piece = page.locator("#play-tray .slot").first
        piece.focus()
        for key in ("Enter", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        assert page.locator("#play-board .piece:not(.gone)").count() == 1
        assert hinted(page) <= len(entry.pieces)
