"""What a printer's errors make of trays, holes, channels and seats, as their meshes are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabkit.mesh.boards.boardrows import board_stacks, clearance_of
from fabkit.mesh.boards.reading import read_boards
from fabkit.mesh.fitting.laying import Laid
from fabkit.mesh.fitting.rows import Row, rows
from fabkit.mesh.fitting.stack import stack
from fabkit.mesh.fitting.tolerance import PrinterError, Solution, tolerance
from fabkit.model.library import load_set
from tests.mesh.test_tolerance import polyomino
from tests.support.boardmeshes import (
    CELLS,
    SEATS,
    SQUARE,
    body_of,
    hexagons,
    holes_board,
    seats_board,
    thrown,
    tray_board,
)


def test_a_tray_gives_its_clearance_to_the_rows_of_its_region() -> None:
    puzzle = load_set("iqblock")
    square = puzzle.lattice
    cells = {"A": [(0, 0)], "B": [(1, 0)], "C": [(2, 0)]}
    parts = {name: polyomino(some) for name, some in cells.items()}
    layout = {n: frozenset((2 * x + 1, 2 * y + 1) for x, y in some) for n, some in cells.items()}
    region = frozenset().union(*layout.values())
    plain = Solution("row", region, layout)
    error = PrinterError(0.1)
    without = tolerance(parts, square, [plain], error)
    tray = tolerance(parts, square, [replace(plain, clearance_mm=0.25)], error)
    (before,), (after,) = without.stacks, tray.stacks
    assert after.row.slack_mm == pytest.approx(before.row.slack_mm + 0.5)
    # Six sides of three pieces, and the two walls.
    assert before.worst_slack_mm == pytest.approx(before.row.slack_mm - 6 * 0.1)
    assert after.worst_slack_mm == pytest.approx(after.row.slack_mm - 8 * 0.1)
    assert (before.row.walls, after.row.walls) == ((), (1.0, 1.0))
    assert before.row.give == after.row.give
    assert without.worst is not None
    assert tray.worst is not None
    # An inset d with 6 d + 0.5 = 0.8, not 6 d = 0.6.
    assert (without.worst.inset_mm, tray.worst.inset_mm) == (0.1, 0.05)


def test_rows_between_arms_gain_nothing_from_a_tray() -> None:
    square = load_set("iqblock").lattice
    cells = {"U": [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1)], "I": [(1, 1)]}
    laid = {name: Laid(name, polyomino(some), square) for name, some in cells.items()}
    layout = {n: frozenset((2 * x + 1, 2 * y + 1) for x, y in some) for n, some in cells.items()}
    region = frozenset().union(*layout.values())

    def found(clearance_mm: float | None) -> list[Row]:
        return rows(square, region, layout, laid, clearance_mm)

    for plain, tray in zip(found(None), found(0.3), strict=True):
        assert plain.within == tray.within
        # Straight lines cross square pieces straight.
        more = 0.0 if plain.within else 0.3 * sum(tray.walls)
        assert tray.slack_mm == pytest.approx(plain.slack_mm + more)
        assert bool(tray.walls) == (not plain.within)


def test_the_clearance_of_a_tray_is_measured() -> None:
    puzzle = load_set("iqblock")
    parts = read_boards([thrown(body_of(tray_board(SQUARE, clearance_mm=0.31)[0]), 3)], puzzle, 20)
    region = puzzle.boards[0].cells
    assert clearance_of(region, parts, puzzle.lattice) == pytest.approx(0.31, abs=1e-3)
    assert clearance_of(frozenset([(1, -1)]), parts, puzzle.lattice) is None


def test_room_in_holes_channels_and_seats() -> None:
    puzzle = load_set("iqfit")
    board, _ = holes_board(CELLS, moved={7: (0, 0, -0.1)})
    (part,) = read_boards([body_of(board)], puzzle, 15.0)
    hole, channel = board_stacks(
        part, puzzle.lattice, PrinterError(0.1, 0.05), ball_mm=12.0, link_mm=9.0
    )
    assert hole.row.slack_mm == pytest.approx(12.4 - 0.05 - 12.0, abs=0.01)
    assert hole.worst_slack_mm == pytest.approx(hole.row.slack_mm - 0.4)
    assert channel.row.slack_mm == pytest.approx(0.4, abs=0.001)
    assert not hole.closes
    assert channel.closes
    assert hole.document().keys() == stack("x", hole.row, 0.1).document().keys()
    found = tolerance({}, puzzle.lattice, [], PrinterError(0.1), boards=[hole, channel])
    assert (found.stacks, found.ok) == ((hole, channel), False)
    assert tolerance({}, puzzle.lattice, [], PrinterError(0.1), boards=[channel]).ok
    stars = load_set("iqstars")
    (seats,) = read_boards([body_of(seats_board(SEATS, hexagons())[0])], stars, 20.0)
    (seat,) = board_stacks(seats, stars.lattice, PrinterError(0.05), stub_mm=10.0)
    assert seat.worst_slack_mm == pytest.approx(0.2, abs=0.01)
    assert seat.row.end_mm[0] - seat.row.start_mm[0] == pytest.approx(6 * 20)
