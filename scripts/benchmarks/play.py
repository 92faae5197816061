"""Benchmark the play page in Chromium: an update after a move, moves of a drag, and hints in random
positions.
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solvers import ROOT

from fabkit.model.orientations import PieceOrientations
from fabkit.model.piece import placements
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.puzzles.entries import Selection, gather
from fabkit.sets.library import load_set, shipped_names

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Positions of each challenge, and challenges of each set.
POSITIONS, CHALLENGES = 6, 3
#: Limits in ms: of an update, of a move of a drag, of a hint at the median, and of any hint.
UPDATE_MS, DRAG_MS, MEDIAN_MS, HINT_MS = 4.0, 20.0, 100.0, 1000.0
#: What Chromium counts of the time that it spends on a page.
SPENT = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")

#: The time of hints in ms, where the pieces lie as listed.
HINTS = """([id, lists]) => lists.map((laid) => {
  const game = new fabkitPlay.Game(FABKIT, FABKIT.entries.find((known) => known.id === id));
  for (const [piece, orientation, x, y] of laid) game.place(piece, { orientation, at: [x, y] });
  const start = performance.now();
  fabkitPlay.nextHint(game);
  return performance.now() - start;
})"""
#: The time of updates in ms while a piece is turned, with all pieces on the board.
UPDATES = """(id) => {
  const { session } = fabkitPlay.page;
  const entry = FABKIT.entries.find((known) => known.id === id);
  session.open(entry);
  session.tellDeadEnds(true);
  for (const [piece, orientation, x, y] of entry.solution.slice(1)) session.game.place(piece, { orientation, at: [x, y] });
  return Array.from({ length: 40 }, () => {
    const [piece] = entry.solution[1];
    session.game.place(piece, session.game.turned(piece, "right"));
    const start = performance.now();
    session.update();
    return performance.now() - start;
  });
}"""  # noqa: E501


def positions(puzzle: PuzzleSet, entry: Entry, flips: bool, dice: random.Random) -> list[Any]:
    """Return random positions: parts of a solution, of most a piece in another place, and pieces
    anywhere.
    """
    challenge = entry.challenge
    given = [placed.cells for placed in challenge.given]
    solution = {piece: cells for piece, cells in entry.solution.items() if cells not in given}
    layouts = list[dict[str, frozenset[tuple[int, int]]]]()
    for number in range(POSITIONS):
        pieces = dice.sample([*solution], dice.randint(1, min(4, len(solution))))
        layout = {piece: solution[piece] for piece in pieces} if number % 2 else {}
        for piece in pieces[:1] if number % 2 else pieces:
            others = [cells for other, cells in layout.items() if other != piece] + given
            room = [
                placed.cells
                for placed in placements(
                    puzzle.lattice, puzzle.piece(piece), challenge.region, challenge.flips
                )
                if all(placed.cells.isdisjoint(cells) for cells in others)
            ]
            layout |= {piece: dice.choice(room)} if room else {}
        layouts.append(layout)
    oriented = {
        piece.id: PieceOrientations(puzzle.lattice, piece, flips) for piece in puzzle.pieces
    }
    ids = [*oriented]
    return [
        [
            [ids.index(piece), *(oriented[piece].place(cells) or ())]
            for piece, cells in layout.items()
        ]
        for layout in layouts
    ]


def measure(page: Page, puzzle: PuzzleSet, entries: list[Entry]) -> tuple[float, list[float]]:
    """Return the median time of an update, and the times of hints."""
    dice, hints = random.Random(puzzle.name), list[float]()
    flips = puzzle.flips or any(entry.challenge.flips for entry in entries)
    for entry in entries:
        lists = positions(puzzle, entry, flips, dice)
        hints += page.evaluate(HINTS, [entry.challenge.id, lists])
    largest = max(entries, key=lambda entry: len(entry.solution or ()))
    return statistics.median(page.evaluate(UPDATES, largest.challenge.id)), hints


def measure_drag(page: Page, puzzle: PuzzleSet, entry: Entry) -> float:
    """Return the median time of a move of a dragged piece: script, style and layout."""
    from tests.support.playpages import Player

    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def spent_ms() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * float(sum(one["value"] for one in metrics if one["name"] in SPENT))

    page.evaluate(
        "(id) => fabkitPlay.page.go(fabkitPlay.findEntry(FABKIT, id))", entry.challenge.id
    )
    player = Player(page, puzzle, entry)
    player.do("reset")
    player.grab(player.free[0], (0, 0))
    board, moves = player.box("#play-board"), list[float]()
    for step in range(60):
        before = spent_ms()
        page.mouse.move(board["x"] + 20 + 4 * step, board["y"] + 20 + 2 * step)
        moves.append(spent_ms() - before)
    page.mouse.up()
    return statistics.median(moves)


def time_page(small: bool) -> bool:
    """Print a table; return whether all times are within their limits.

    Args:
        small: measure only one set.
    """
    sys.path.insert(0, str(ROOT))  # for what the tests know of browsers
    from tests.support import browser
    from tests.support.playpages import write_page

    if not any(map(shutil.which, browser.NAMES)):
        print("The play page: skipped, since there is no Chromium")
        return True
    limits = f"update < {UPDATE_MS:g}, drag < {DRAG_MS:g}, median hint < {MEDIAN_MS:g}"
    print(f"The play page, in ms ({limits})")
    all_hints, slowest, slowest_drag = list[float](), 0.0, 0.0
    with browser.started() as chromium, tempfile.TemporaryDirectory() as folder:
        for name in shipped_names()[: 1 if small else None]:
            puzzle, dice = load_set(name), random.Random(name)
            solved = [
                entry
                for entry in gather(puzzle, Selection())
                if entry.solution and entry.halves == 1
            ]
            largest = max(solved, key=lambda entry: len(entry.solution or ()))
            entries = [*dice.sample(solved, min(CHALLENGES, len(solved))), largest]
            entries = list({entry.challenge.id: entry for entry in entries}.values())
            with browser.opened(chromium, write_page(Path(folder), puzzle, entries)) as page:
                drag = measure_drag(page, puzzle, largest)
                update, hints = measure(page, puzzle, entries)
            all_hints += hints
            slowest, slowest_drag = max(slowest, update), max(slowest_drag, drag)
            print(
                f"{name:12} update {update:5.2f}  drag {drag:5.2f}"
                f"  hints {statistics.median(hints):6.1f} {max(hints):6.0f}"
            )
    median, longest = statistics.median(all_hints), max(all_hints)
    print(f"{len(all_hints)} hints: median {median:.1f}, longest {longest:.0f}")
    is_smooth = slowest < UPDATE_MS and slowest_drag < DRAG_MS
    return small or (is_smooth and median < MEDIAN_MS and longest < HINT_MS)
