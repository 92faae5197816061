"""Hints go on from what lies on the board, and name the fewest pieces that are in the way."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import placements
from fabkit.model.puzzle import Given
from fabkit.output.web.playdata import PieceOrientations
from fabkit.solve.answer import SOLVED, solve
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget
from tests.support import browser
from tests.support.entries import altered
from tests.support.playpages import entries_of, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = browser.needed

#: The next hint where some pieces lie: the ids of its pieces, and the cells if it places one.
HINT = """([id, lists]) => lists.map((laid) => {
  const entry = FABKIT.entries.find((known) => known.id === id);
  const game = new fabkitPlay.Game(FABKIT, entry);
  for (const [piece, orientation, x, y] of laid) game.place(piece, { orientation, at: [x, y] });
  const hint = fabkitPlay.nextHint(game, 60000); // whatever the machine
  const cells = hint?.placement ? game.cells(hint.pieces[0], hint.placement) : [];
  return { pieces: hint?.pieces.map((piece) => FABKIT.pieces[piece].id) ?? [], cells };
})"""


class Positions:
    """Positions of a challenge, as the page takes them."""

    def __init__(self, name: str, only: str) -> None:
        self.puzzle, (self.entry,) = entries_of(name, only)
        self.solution = dict(self.entry.solution)
        flips = self.puzzle.flips or self.entry.challenge.flips
        self.oriented = {
            piece.id: PieceOrientations(self.puzzle, piece, flips) for piece in self.puzzle.pieces
        }

    def lists(self, layout: dict[str, frozenset[Cell]]) -> list[list[int]]:
        """The placements of a layout."""
        ids = list(self.oriented)
        return [
            [ids.index(piece), *(self.oriented[piece].place(cells) or ())]
            for piece, cells in layout.items()
        ]

    def can_be_finished(self, layout: dict[str, frozenset[Cell]]) -> bool:
        """Whether a solution keeps a layout, as the solver says."""
        given = tuple(Given(piece, cells) for piece, cells in layout.items())
        challenge = altered(self.entry, given=given).challenge
        encoded = to_exact_cover(self.puzzle, challenge)
        return solve(encoded, "first", None, Budget(60.0)).status == SOLVED


def turned_about(
    lattice: Lattice, region: frozenset[Cell], cells: frozenset[Cell]
) -> frozenset[Cell]:
    """Cells of a region after half a turn of it."""
    half = lattice.moves(False)[len(lattice.moves(False)) // 2]
    turned = frozenset(map(half, region))
    (x0, y0), (x1, y1) = min(turned), min(region)
    return frozenset((x + x1 - x0, y + y1 - y0) for x, y in map(half, cells))


def test_a_turned_solution_goes_on_and_a_spoiling_piece_is_named(
    chromium: Browser, tmp_path: Path
) -> None:
    positions = Positions("fridgeiq", "square_05")
    lattice, region = positions.puzzle.lattice, positions.entry.challenge.region
    layout = {
        piece: turned_about(lattice, region, cells) for piece, cells in positions.solution.items()
    }
    lacking, spoiling, *_ = layout
    most = {piece: cells for piece, cells in layout.items() if piece != lacking}
    moved = {piece: cells for piece, cells in most.items() if piece != spoiling}
    step = 2 * lattice.basis[0][0]
    wrong = next(
        candidate
        for shift in (step, -step, step // 2, -step // 2)
        if (candidate := frozenset((x + shift, y) for x, y in most[spoiling])) != most[spoiling]
    )
    with browser.opened(
        chromium, write_page(tmp_path, positions.puzzle, [positions.entry])
    ) as page:
        lists = [positions.lists(most), positions.lists({**moved, spoiling: wrong})]
        kept, spoilt = page.evaluate(HINT, [positions.entry.challenge.id, lists])
    assert kept["pieces"] == [lacking]
    assert frozenset(map(tuple, kept["cells"])) == layout[lacking]
    assert spoilt["pieces"] == [spoiling]


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("fridgeiq", "square_05"), ("iqblock", "square"), ("iqstars", "board"),
        ("cubimagici", "tray"), ("calendar", "start-090"), ("pentominoes", "start-090"),
    ],
)  # fmt: skip
def test_hints_agree_with_the_solver_on_what_can_be_finished(
    chromium: Browser, tmp_path: Path, name: str, only: str
) -> None:
    """Random parts of a solution with a piece in another place where there is room."""
    positions, dice = Positions(name, only), random.Random(name)
    given = {one.piece: one.cells for one in positions.entry.challenge.given}
    challenge = positions.entry.challenge
    lattice = positions.puzzle.lattice
    layouts: list[dict[str, frozenset[Cell]]] = []
    while len(layouts) < 35:
        pieces = dice.sample([*positions.solution], dice.randrange(2, 5))
        layout = {piece: positions.solution[piece] for piece in pieces if piece not in given}
        moved = dice.choice(pieces)
        room = [
            cells
            for placed in placements(
                lattice, positions.puzzle.piece(moved), challenge.region, challenge.flips
            )
            if (cells := placed.cells)
            and all(cells.isdisjoint(other) for one, other in layout.items() if one != moved)
            and all(cells.isdisjoint(other) for other in given.values())
        ]
        if room and moved not in given:
            layouts.append({**layout, moved: dice.choice(room)})
    with browser.opened(
        chromium, write_page(tmp_path, positions.puzzle, [positions.entry])
    ) as page:
        hints: list[dict[str, Any]] = page.evaluate(
            HINT, [positions.entry.challenge.id, [positions.lists(one) for one in layouts]]
        )
    for layout, hint in zip(layouts, hints, strict=True):
        goes_on = bool(hint["cells"])
        assert goes_on == positions.can_be_finished({**given, **layout}), (layout, hint)
        if goes_on:
            cells = frozenset(map(tuple, hint["cells"]))
            assert positions.can_be_finished({**given, **layout, hint["pieces"][0]: cells})
        else:
            rest = {one: cells for one, cells in layout.items() if one not in hint["pieces"]}
            assert positions.can_be_finished({**given, **rest})
