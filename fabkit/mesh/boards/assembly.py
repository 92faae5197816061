"""Ball pieces put together in their board as a solution says; and what a printer's errors leave of
the room in a board.

A piece is rigid, and its balls (or stubs) are as far apart as the holes. A printer that makes every
ball too thick and every hole too narrow leaves all of them in the middle of theirs; so however long
a row of seats is, the tightest one of it decides. Between a ball and its hole there are four sides,
two of either, and each may be off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

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
    """Where ball pieces are put together, lying flat.

    Args:
        parts: by their keys; each with its balls read.
        board: the board that holds them; None for none.
        profile: the least gap.
    """
    pitches = [part.balls.pitch_mm for part in parts.values() if part.balls]
    unit_mm = board.unit_mm if board else median(pitches or [profile.unit_mm])
    sides = {key: balls_lying(key, part, unit_mm) for key, part in parts.items()}
    held = board is not None and board.is_solid
    below = board.manifold.translate((0, 0, -board.rest_mm - LIFT_MM)) if board and held else None
    return Table(sides, profile, below)


# --- what a printer's errors leave ---------------------------------------------------------


def clearance_of(region: frozenset[Cell], boards: Sequence[Part], lattice: Lattice) -> float | None:
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
        For `fabkit.mesh.fitting.tolerance.tolerance`; each row is one seat of the longest row.
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
    what, thick_mm = ("ball", ball_mm) if part.kind == HOLES else ("stub", stub_mm)
    rows = [_row(part, lattice, what, min(rooms), thick_mm)] if rooms else []
    widths = channel_widths_mm(part, lattice) if part.kind == HOLES else []
    rows += [_row(part, lattice, "link", min(widths), link_mm)] if widths else []
    return [stack(row, error.side_mm, seed) for row in rows]


def _row(part: Part, lattice: Lattice, what: str, room_mm: float, plastic_mm: float) -> Row:
    """One seat, with the ends of the longest row of cells that it stands for."""
    assert part.board is not None
    by_row: dict[int, list[tuple[float, float]]] = {}
    middles = middles_mm(lattice, part.board, part.unit_mm).tolist()
    for cell, (x, y) in zip(cells_of(part.board), middles, strict=True):
        by_row.setdefault(cell[1], []).append((x, y))
    longest = max(by_row.values(), key=len)
    start, end = longest[0], longest[-1]
    return Row(
        challenge=part.board.id,
        pieces=(what,),
        within="",
        degrees=math.degrees(math.atan2(end[1] - start[1], end[0] - start[0])),
        start_mm=start,
        end_mm=end,
        nominal_mm=room_mm,
        plastic_mm=plastic_mm,
        slack_mm=room_mm - plastic_mm,
        sides=(1.0, 1.0, 1.0, 1.0),  # two of the ball or link, two of its hole or channel
    )
