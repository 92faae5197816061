"""Ball pieces put together in their board as a solution says; and what a printer's errors leave of
the room in a board.

A piece is rigid, and its balls (or stubs) are as far apart as the holes. A printer that makes every
ball too thick and every hole too narrow leaves all of them in the middle of theirs; so however long
a row of seats is, the tightest one of it decides. Between a ball and its hole there are four sides,
two of either, and each may be off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from fabkit.mesh.boards.lying import LIFT_MM, balls_lying
from fabkit.mesh.boards.recognise import (
    cells_of,
    hole_at,
    middles_mm,
    round_holes,
    slabs,
)
from fabkit.mesh.boards.rules import channel_widths_mm, clearances_mm
from fabkit.mesh.fitting.assembly import Table
from fabkit.mesh.fitting.rows import Row
from fabkit.mesh.fitting.tolerance import SEED, PrinterError, Stack, stack
from fabkit.mesh.part import Part
from fabkit.model.accessory import HOLES, SEATS, TRAY
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.profile import Profile


def ball_table(parts: Mapping[str, Part], board: Part | None, profile: Profile) -> Table:
    """Where ball pieces, their balls read, are put together: lying flat, in a board if there is one."""
    pitches = [part.balls.pitch_mm for part in parts.values() if part.balls]
    unit_mm = board.unit_mm if board else median(pitches or [profile.unit_mm])
    sides = {key: balls_lying(key, part, unit_mm) for key, part in parts.items()}
    held = board is not None and board.is_solid
    below = board.manifold.translate((0, 0, -board.rest_mm - LIFT_MM)) if board and held else None
    return Table(sides, profile, below)


# --- what a printer's errors leave ---------------------------------------------------------


def clearance_of(region: frozenset[Cell], boards: Sequence[Part], lattice: Lattice) -> float | None:
    """How far the walls of the tray for a region are from it, where they are nearest.

    Returns:
        As measured; None when none of the boards is a tray of just this region.
    """
    for part in boards:
        if part.kind == TRAY and part.board is not None and part.board.cells == region:
            return (clearances_mm(part, lattice) or (None,))[0]
    return None


def board_stacks(
    part: Part,
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
        Each row is one seat, with the ends of the longest row of cells that it stands for.
    """
    if part.board is None or part.kind not in (HOLES, SEATS):
        return []
    middles = middles_mm(lattice, part.board, part.unit_mm)
    cuts = [
        round_holes(part.sections.at(slab.middle_mm))
        for slab in slabs(part.sections)
        if slab.high_mm < part.rest_mm + 1e-3
    ]
    holes = [hole_at(cut, middle, part.unit_mm) for cut in cuts for middle in middles]
    rooms = [hole.inner_mm - error.hole_mm for hole in holes if hole is not None]
    widths = channel_widths_mm(part, lattice) if part.kind == HOLES else []
    what, thick_mm = ("ball", ball_mm) if part.kind == HOLES else ("stub", stub_mm)
    lines = [height for _, height in cells_of(part.board)]
    longest = middles[np.array(lines) == Counter(lines).most_common(1)[0][0]]
    (x0, y0), (x1, y1) = longest[0].tolist(), longest[-1].tolist()
    found = []
    for name, several_mm, plastic_mm in ((what, rooms, thick_mm), ("link", widths, link_mm)):
        if several_mm:
            room_mm = min(several_mm)
            row = Row(
                challenge=part.board.id,
                pieces=(name,),
                within="",
                degrees=math.degrees(math.atan2(y1 - y0, x1 - x0)),
                start_mm=(x0, y0),
                end_mm=(x1, y1),
                nominal_mm=room_mm,
                plastic_mm=plastic_mm,
                slack_mm=room_mm - plastic_mm,
                sides=(1.0, 1.0, 1.0, 1.0),  # two of the ball or link, two of its hole or channel
            )
            found.append(stack(row, error.side_mm, seed))
    return found
