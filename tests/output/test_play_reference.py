"""The page and the model agree about random placements, and hints lead to the solution."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from fabkit.model.clues import ClueFilter
from fabkit.model.entry import subdivide
from fabkit.model.orientations import PieceOrientations
from fabkit.model.piece import orientations
from fabkit.model.puzzle import Given
from tests.conftest import ROOT
from tests.support import browser
from tests.support.entries import altered
from tests.support.pagescripts import PageScripts
from tests.support.playpages import Pages, Player, entries_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MIXED = ("fridgeiq", "mixed1-4-eaa5febe52")
PEGS = str(ROOT / "tests" / "sets" / "pegs.toml")
ENTRIES = (
    ("fridgeiq", "square_05"), MIXED, ("iqfit", "board"), ("iqstars", "board"), ("cubimagici", "tray"),
    ("iqstars", "clue-020"), (PEGS, "two-pegs-1"), ("calendar", "start-090"), ("hexiamonds", "start-090"),
)  # fmt: skip
#: The page's own judgement of pieces that are laid somewhere.
JUDGE = """([id, lists]) => lists.map((laid) => {
  const game = new fabkitPlay.Game(FABKIT, FABKIT.entries.find((one) => one.id === id));
  for (const [piece, way, x, y] of laid) game.place(piece, { orientation: way, at: [x, y] });
  const { solved, doublyCovered, outside } = game.evaluate();
  return [laid.map(([piece]) => game.cells(piece)), doublyCovered.length, outside.size, solved];
})"""
LAY = """(laid) => {
  const { session } = fabkitPlay.page;
  for (const [piece, way, x, y] of laid) session.game.place(piece, { orientation: way, at: [x, y] });
  session.update();
}"""


def hinted(player: Player) -> int:
    """How many pieces hints lay until the end."""
    placed = 0
    for _ in range(3 * len(player.entry.challenge.pieces)):
        before = player.placed_count
        player.do("hint")
        placed += player.placed_count > before
        if player.solved:
            return placed
    raise AssertionError("hints never lead to the end")


@browser.needed
@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "only"), ENTRIES)
def test_hints_lead_to_the_solution(chromium: Browser, pages: Pages, name: str, only: str) -> None:
    puzzle, (entry,) = entries_of(name, only)
    with browser.opened(chromium, pages.url(puzzle, [entry])) as page:
        player = Player(page, puzzle, entry)
        left = len(entry.challenge.pieces) - len(entry.challenge.given)
        assert hinted(player) == left
        assert player.announced == f"Solved, with {left} hint{'s' * (left > 1)}."


@pytest.mark.parametrize(("name", "only"), ENTRIES)
def test_page_and_model_agree(name: str, only: str) -> None:
    """The solution with some pieces taken away, moved, turned or exchanged; or all of it."""
    puzzle, (entry,) = entries_of(name, only)
    lattice, dice = puzzle.lattice, random.Random(only)
    (ux, _), (vx, vy) = lattice.basis
    oriented = {
        one.id: PieceOrientations(puzzle.lattice, one, puzzle.flips or entry.challenge.flips)
        for one in puzzle.pieces
    }
    given = {placed.piece for placed in entry.challenge.given}  # which nobody can move
    tries = [dict(entry.solution or {})]
    for _ in range(60):
        layout = {}
        for piece_id, cells in tries[0].items():
            luck = 1.0 if piece_id in given else dice.random()
            if 0.03 < luck < 0.1:
                turned = dice.choice(
                    orientations(lattice, puzzle.piece(piece_id), entry.challenge.flips)
                ).cells
                fine = turned if entry.halves == 1 else subdivide(lattice, turned)
                (x0, y0), (x1, y1) = lattice.anchor(fine), lattice.anchor(cells)
                cells = frozenset((x + x1 - x0, y + y1 - y0) for x, y in fine)  # noqa: PLW2901
            if 0.08 < luck < 0.15:
                a, b = dice.randrange(-2, 3), dice.randrange(-2, 3)
                cells = frozenset((x + a * ux + b * vx, y + b * vy) for x, y in cells)  # noqa: PLW2901
            if luck > 0.03:
                layout[piece_id] = cells
        tries.append(layout)
    places = list(oriented)
    challenge = entry.challenge
    clues = {
        one.id: ClueFilter(lattice, one, challenge.clues, challenge.flips) for one in puzzle.pieces
    }

    def placed(piece_id: str, cells: frozenset[tuple[int, int]]) -> list[int]:
        """Where a piece lies; of several ways that look alike, one with the marks clues demand."""
        piece, marks = oriented[piece_id], clues[piece_id].marks
        found = piece.place(cells, entry.halves, marks) or piece.place(cells, entry.halves)
        return [places.index(piece_id), *(found or ())]

    lists = [[placed(one, cells) for one, cells in layout.items()] for layout in tries]
    answers = PageScripts(puzzle, [entry]).evaluate(JUDGE, [entry.challenge.id, lists])
    for layout, (shown, doubled, outside, solved) in zip(tries, answers, strict=True):
        mine = list(layout.values())
        assert [{tuple(cell) for cell in cells} for cells in shown] == mine
        union = set().union(*mine)
        assert doubled == sum(sum(cell in cells for cells in mine) > 1 for cell in union)
        assert outside == sum(not cells <= entry.challenge.region for cells in mine)
        assert solved == (
            not doubled
            and union == entry.challenge.region
            and {*layout} == {*entry.challenge.pieces}
            and all(clues[one].allows(cells) for one, cells in layout.items())
            and all(layout[given.piece] == given.cells for given in challenge.given)
        )
    assert {solved for *_, solved in answers} == {True, False}


@browser.needed
def test_hints_leave_what_serves_and_take_back_what_is_in_the_way(
    chromium: Browser, pages: Pages
) -> None:
    """E and R are the same shape: where one lies, the other is not asked for."""
    puzzle, (entry,) = entries_of(*MIXED)
    solution = dict(entry.solution or {})
    place_of = {one.id: place for place, one in enumerate(puzzle.pieces)}

    def placed(piece: str, cells: frozenset[tuple[int, int]]) -> list[int]:
        oriented = PieceOrientations(puzzle.lattice, puzzle.piece(piece), flips=True)
        return [place_of[piece], *(oriented.place(cells, entry.halves) or ())]

    swapped = [placed("E", solution["R"]), placed("R", solution["E"])]
    # R lies on E, which is given and of the same shape.
    given = altered(entry, given=(Given("E", solution["E"]),))
    for asked, lies, hints in ((entry, swapped, 2), (given, [placed("R", solution["E"])], 1)):
        with browser.opened(chromium, pages.url(puzzle, [asked])) as page:
            page.evaluate(LAY, lies)
            assert hinted(Player(page, puzzle, asked)) == len(entry.challenge.pieces) - hints


#: What a hint names where some pieces lie, and the given ones that are no longer there once it is
#: applied.
NAMED = """(laid) => {
  const game = new fabkitPlay.Game(FABKIT, FABKIT.entries[0]);
  for (const [piece, orientation, x, y] of laid) game.place(piece, { orientation, at: [x, y] });
  const hint = fabkitPlay.nextHint(game, 60000);
  fabkitPlay.applyHint(game, hint);
  const lost = [...game.fixed].filter((piece) => !game.placements.get(piece).at);
  return [hint.pieces.map((piece) => FABKIT.pieces[piece].id), lost];
}"""


def test_many_spoilers_are_named_but_neither_given_nor_right_pieces() -> None:
    """More pieces lie in the way than are searched for: a wrong one on each right or given one."""
    puzzle, (entry,) = entries_of("iqfit", "start-088")
    ids = [piece.id for piece in puzzle.pieces]
    given = {placed.piece for placed in entry.challenge.given}
    free = [piece for piece in ids if piece not in given]
    right, wrong = free[:4], free[4:8]
    places = {
        piece: PieceOrientations(puzzle.lattice, puzzle.piece(piece), puzzle.flips).place(cells)
        for piece, cells in entry.solution.items()
    }
    laid = [[ids.index(piece), *places[piece]] for piece in right]
    for below, above in zip([*right[:3], min(given)], wrong, strict=True):
        laid.append([ids.index(above), 0, *places[below][1:]])
    named, lost = PageScripts(puzzle, [entry]).evaluate(NAMED, laid)
    assert named
    assert {*named} <= {*wrong}
    assert lost == []
