"""What a printer's errors make of the room in a board: beside balls, links and stubs.

A piece is rigid, and its balls (or stubs) are as far apart as the holes. A printer that makes every
ball too thick and every hole too narrow leaves all of them in the middle of theirs; so however long
a row of seats is, the tightest one of it decides. Between a ball and its hole there are four sides,
two of either, and each may be off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fabkit.mesh.boards.circles import cells_of, hole_at, middles_mm, round_holes, slabs
from fabkit.mesh.boards.frame import clearances_mm
from fabkit.mesh.boards.holes import channel_widths_mm
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.fitting.rows import Row
from fabkit.mesh.fitting.stack import SEED, Stack, stack
from fabkit.mesh.fitting.tolerance import PrinterError
from fabkit.model.accessory import HOLES, SEATS, TRAY
from fabkit.model.lattice import Cell, Lattice

#: Of a ball in its hole, or of a link in its channel: two sides of each.
_SIDES = (1.0, 1.0, 1.0, 1.0)
#: A hole belongs to a cell when its middle is within this part of a grid unit.
_NEAR_UNITS = 0.3


def clearance_of(
    region: frozenset[Cell], boards: Sequence[BoardPart], lattice: Lattice
) -> float | None:
    """How far the walls of the tray for a region are from it, where they are nearest.

    Args:
        region: of a challenge.
        boards: as they were read.
        lattice: the set's.

    Returns:
        As measured; None when none of the boards is a tray of just this region. It is what
        `fabkit.mesh.fitting.tolerance.Solution` takes.
    """
    for part in boards:
        if part.kind == TRAY and part.board is not None and part.board.cells == region:
            found = clearances_mm(part, lattice)
            return found[0] if found else None
    return None


def board_stacks(
    part: BoardPart,
    lattice: Lattice,
    error: PrinterError,
    ball_mm: float = 0.0,
    link_mm: float = 0.0,
    stub_mm: float = 0.0,
    seed: int = SEED,
) -> list[Stack]:
    """What errors make of the tightest hole and channel of a board, or of its tightest seat.

    Args:
        part: a board; of other kinds than ``holes`` and ``seats`` there is nothing to tell.
        lattice: the set's.
        error: the printer's; round holes lose its ``hole_mm``, besides.
        ball_mm: the greatest diameter of the pieces' balls, as measured.
        link_mm: that of their links.
        stub_mm: that of their stubs.
        seed: of the draws.

    Returns:
        For `fabkit.mesh.fitting.tolerance.tolerance`; each row is one seat of the longest row.
    """
    if part.board is None or part.kind not in (HOLES, SEATS):
        return []
    what, thick_mm = ("ball", ball_mm) if part.kind == HOLES else ("stub", stub_mm)
    found = []
    if holes := _holes_mm(part, lattice):
        row = _row(part, lattice, what, min(holes) - error.hole_mm, thick_mm)
        found.append(stack(part.board.id, row, error.side_mm, seed))
    if part.kind == HOLES and (widths := channel_widths_mm(part, lattice)):
        row = _row(part, lattice, "link", min(widths), link_mm)
        found.append(stack(part.board.id, row, error.side_mm, seed))
    return found


def _row(part: BoardPart, lattice: Lattice, what: str, room_mm: float, plastic_mm: float) -> Row:
    """One seat, with the ends of the longest row of cells that it stands for."""
    assert part.board is not None
    cells = cells_of(part.board)
    middles = middles_mm(lattice, part.board, part.unit_mm)
    by_row: dict[int, list[int]] = {}
    for number, cell in enumerate(cells):
        by_row.setdefault(cell[1], []).append(number)
    longest = max(by_row.values(), key=len)
    start, end = (tuple(map(float, middles[one])) for one in (longest[0], longest[-1]))
    return Row(
        pieces=(what,),
        within="",
        degrees=math.degrees(math.atan2(end[1] - start[1], end[0] - start[0])),
        start_mm=(start[0], start[1]),
        end_mm=(end[0], end[1]),
        nominal_mm=room_mm,
        room_mm=room_mm,
        plastic_mm=plastic_mm,
        sides=_SIDES,
    )


def _holes_mm(part: BoardPart, lattice: Lattice) -> list[float]:
    """The diameters of a board's holes or seats, each at its narrowest."""
    assert part.board is not None
    middles = middles_mm(lattice, part.board, part.unit_mm)
    lower = [slab for slab in slabs(part.sections) if slab.high_mm < part.rest_mm + 1e-3]
    cuts = [round_holes(part.sections.at(slab.middle_mm)) for slab in lower]
    within_mm = _NEAR_UNITS * part.unit_mm
    holes = [hole_at(cut, middle, within_mm) for cut in cuts for middle in np.asarray(middles)]
    return [hole.inner_mm for hole in holes if hole is not None]
