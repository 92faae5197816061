"""Hints go on from what lies on the board, and name the fewest pieces that are in the way."""

from __future__ import annotations

import random
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.model.lattice import Cell, Lattice
from fabkit.model.orientations import PieceOrientations
from fabkit.model.piece import placements
from fabkit.model.puzzle import Given
from fabkit.solve.answer import SOLVED, solve
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget
from tests.support import browser
from tests.support.entries import altered
from tests.support.playpages import Pages, Player, entries_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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
            piece.id: PieceOrientations(self.puzzle.lattice, piece, flips)
            for piece in self.puzzle.pieces
        }

    def page(self, pages: Pages) -> str:
        """The address of the page with the challenge."""
        return pages.url(self.puzzle, [self.entry])

    def lists(self, layout: dict[str, frozenset[Cell]]) -> list[list[int]]:
        """The placements of a layout."""
        ids = list(self.oriented)
        return [
            [ids.index(piece), *(self.oriented[piece].place(cells) or ())]
            for piece, cells in layout.items()
        ]

    def lay(self, page: Page, layout: dict[str, frozenset[Cell]]) -> None:
        """Places a layout on the page, in place of what lies there."""
        ids = list(self.oriented)
        stored = [[ids[piece], *placement] for piece, *placement in self.lists(layout)]
        page.evaluate("(pieces) => fabkitPlay.page.session.loadPlacements(pieces)", stored)

    def can_be_finished(self, layout: dict[str, frozenset[Cell]]) -> bool:
        """Whether a solution keeps a layout, as the solver says."""
        given = tuple(Given(piece, cells) for piece, cells in layout.items())
        challenge = altered(self.entry, given=given).challenge
        encoded = to_exact_cover(self.puzzle, challenge)
        return solve(encoded, "first", None, Budget(60.0)).status == SOLVED


@cache
def square_05() -> Positions:
    """Positions of a square of FridgeIQ."""
    return Positions("fridgeiq", "square_05")


def turned_about(
    lattice: Lattice, region: frozenset[Cell], cells: frozenset[Cell]
) -> frozenset[Cell]:
    """Cells of a region after half a turn of it."""
    half = lattice.moves(False)[len(lattice.moves(False)) // 2]
    turned = frozenset(map(half, region))
    (x0, y0), (x1, y1) = min(turned), min(region)
    return frozenset((x + x1 - x0, y + y1 - y0) for x, y in map(half, cells))


#: Windows of a phone, upright and on its side, and of a desktop.
WINDOWS = [(320, 568), (844, 390), (1280, 900)]


def turned_and_spoilt(
    positions: Positions,
) -> tuple[dict[str, frozenset[Cell]], dict[str, frozenset[Cell]], str, str]:
    """Half a turn of the solution without a piece, the same with another piece out of place, and
    the two pieces."""
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
    return most, {**moved, spoiling: wrong}, lacking, spoiling


@pytest.mark.parametrize("fingers", [False, True])
@pytest.mark.parametrize("size", WINDOWS)
def test_a_turned_solution_goes_on_and_a_spoiling_piece_is_named(
    chromium: Browser, pages: Pages, size: tuple[int, int], fingers: bool
) -> None:
    positions = square_05()
    turned, spoilt, lacking, spoiling = turned_and_spoilt(positions)
    window: dict[str, Any] = {"viewport": dict(zip(("width", "height"), size, strict=True))}
    if fingers:
        window |= {"has_touch": True, "is_mobile": True}
    with browser.opened(chromium, positions.page(pages), **window) as page:
        player = Player(page, positions.puzzle, positions.entry)
        button = page.locator("#play-tools [data-do=hint]")

        def hint() -> str:
            before = player.announced
            button.tap() if fingers else button.click()
            player.until("(text) => document.getElementById('play-say').innerText !== text", before)
            return player.announced

        positions.lay(page, turned)
        assert hint() == f"Hint: this can still be solved; {lacking} goes next"
        while not player.solved:
            hint()
        assert player.text("done-text") == "Solved, with 1 hint."
        positions.lay(page, spoilt)
        assert hint() == f"Hint: {spoiling} can’t stay there; ask again to take it away"
        assert player.on_board(spoiling).is_visible()  # it only offers that
        assert hint() == f"{spoiling} is back in the tray"
        assert player.placed_count == len(spoilt) - 1


def test_dead_ends_are_told_when_that_is_switched_on(chromium: Browser, pages: Pages) -> None:
    positions = square_05()
    _, spoilt, _, spoiling = turned_and_spoilt(positions)
    sound = {piece: cells for piece, cells in spoilt.items() if piece != spoiling}
    # A corner is cut off: each piece lies well, but nothing fits between them.
    with browser.opened(chromium, positions.page(pages), moment=browser.NOON) as page:
        player = Player(page, positions.puzzle, positions.entry)
        dead = dead_end(positions)

        def lay(layout: dict[str, frozenset[Cell]]) -> None:
            positions.lay(page, layout)
            page.clock.run_for(5000)  # longer than it searches

        lay(dead)
        assert player.announced == "Pieces placed as in the link"
        for _ in range(2):  # also after the page is loaded again
            page.locator("[data-do=menu]").click()
            page.get_by_label("Tell me at a dead end").set_checked(True)
            player.press("Escape")
            lay(sound)
            assert player.announced == "Pieces placed as in the link"
            assert not page.locator("#play-board.stuck").count()
            lay(dead)
            assert player.announced == "From here it can’t be solved any more."
            assert page.locator("#play-board.stuck").count()
            player.do("undo")
            assert not page.locator("#play-board.stuck").count()
            page.clock.run_for(5000)
            assert not page.locator("#play-board.stuck").count()
            page.reload()
            assert page.locator("#play-dead-end").is_checked()


def dead_end(positions: Positions) -> dict[str, frozenset[Cell]]:
    """A piece in the region with which no solution goes on, as the solver says."""
    challenge = positions.entry.challenge
    for piece in positions.solution:
        for placed in placements(
            positions.puzzle.lattice, positions.puzzle.piece(piece), challenge.region, False
        ):
            layout = {piece: placed.cells}
            if not positions.can_be_finished(layout):
                return layout
    raise AssertionError("every piece fits everywhere")


#: What is left of an entry whose solution nobody knows.
FORGET = """() => {
  const [entry] = FABKIT.entries;
  delete entry.solution;
  delete entry.order;
  fabkitPlay.page.session.open(entry);
}"""


def test_challenges_without_a_known_solution_have_hints_too(
    chromium: Browser, pages: Pages
) -> None:
    positions = square_05()
    turned, *_ = turned_and_spoilt(positions)
    with browser.opened(chromium, positions.page(pages)) as page:
        player = Player(page, positions.puzzle, positions.entry)
        # The search while it opens is not in time.
        page.evaluate("let late = 0; performance.now = () => (late += 1e6)")
        page.evaluate(FORGET)
        assert player.can("hint")
        player.do("hint")
        assert player.announced.startswith("No hint was found in time.")
        assert player.placed_count == 0
        page.reload()
        page.evaluate(browser.SEEN)
        page.evaluate(FORGET)
        positions.lay(page, turned)
        for _ in range(3):
            if not player.solved:
                player.do("hint")
        assert player.solved


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("fridgeiq", "square_05"), ("iqblock", "square"), ("iqstars", "board"), ("iqfit", "board"),
        ("cubimagici", "tray"), ("calendar", "start-090"), ("pentominoes", "start-090"),
        ("dicesquare", "start-090"), ("tangram", "convex-09"), ("hexiamonds", "start-090"),
        ("tetrahexes", "parallelogram"), ("balls12", "start-090"),
    ],
)  # fmt: skip
def test_hints_agree_with_the_solver_on_what_can_be_finished(
    chromium: Browser, pages: Pages, name: str, only: str
) -> None:
    """Random parts of a solution with a piece in another place where there is room."""
    positions, dice = Positions(name, only), random.Random(name)
    given = {one.piece: one.cells for one in positions.entry.challenge.given}
    challenge = positions.entry.challenge
    lattice = positions.puzzle.lattice
    layouts: list[dict[str, frozenset[Cell]]] = []
    while len(layouts) < 18:
        free = [piece for piece in positions.solution if piece not in given]
        pieces = dice.sample(free, min(dice.randrange(2, 5), len(free)))
        layout = {piece: positions.solution[piece] for piece in pieces}
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
        if room:
            layouts.append({**layout, moved: dice.choice(room)})
    with browser.opened(chromium, positions.page(pages)) as page:
        # The page takes the cells from the solution.
        cells = page.evaluate("FABKIT.entries[0].cells")
        assert cells == [*chain(*sorted(challenge.region))]
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
