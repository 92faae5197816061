"""Ball pieces put together in their board as a solution says; and what a printer's errors leave of
the room in a board.

A piece is rigid, and its balls (or stubs) are as far apart as the holes. A printer that makes every
ball too thick and every hole too narrow leaves all of them in the middle of theirs; so however long
a row of seats is, the tightest one of it decides. Between a ball and its hole there are four sides,
two of either, and each may be off.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import median

from fabkit.core.errors import InputError
from fabkit.mesh.boards.lying import LIFT_MM, Lying, area_of, balls_lying
from fabkit.mesh.boards.recognise import (
    cells_of,
    hole_at,
    middles_mm,
    round_holes,
    slabs,
)
from fabkit.mesh.boards.rules import channel_widths_mm, clearances_mm
from fabkit.mesh.finding import TINY_MM
from fabkit.mesh.fitting.assembly import TINY_MM3, Assembly
from fabkit.mesh.fitting.laying import Pose
from fabkit.mesh.fitting.rows import Row
from fabkit.mesh.fitting.tolerance import SEED, PrinterError, Stack, stack
from fabkit.mesh.part import Part, reach_out_mm
from fabkit.model.accessory import HOLES, SEATS, TRAY
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.profile import Profile

#: One side up, and where.
Way = tuple[Lying, Pose]


class BallTable:
    """Where ball pieces are put together. How two of them lie beside each other is measured once.

    Args:
        parts: by their keys; each with its balls read.
        board: the board that holds them; None for none.
        profile: the least gap.
    """

    def __init__(self, parts: Mapping[str, Part], board: Part | None, profile: Profile) -> None:
        self._least_mm = profile.gap_min_mm
        self._board = board if board and board.board and board.is_solid else None
        pitches = [part.balls.pitch_mm for part in parts.values() if part.balls]
        self._unit_mm = board.unit_mm if board else median(pitches or [profile.unit_mm])
        self._ways = {key: balls_lying(key, part, self._unit_mm) for key, part in parts.items()}
        self._apart: dict[tuple[Way, Way], tuple[float, float]] = {}
        self._in_board: dict[Way, float] = {}

    def assemble(
        self, challenge: str, region: frozenset[Cell], layout: Mapping[str, frozenset[Cell]]
    ) -> Assembly:
        """Puts one solution together.

        The gap of two pieces is that of what is seen of them from above, which is never larger
        than that in space; where it is less than what is asked for, that in space is measured. A
        piece that can cover its cells in several ways, its prongs hanging differently, is put
        there in all of them, and the worst is told. No two edges run along each other, so that
        there is no greatest gap.

        Args:
            challenge: its id.
            region: the cells to cover. Where the board has all of them, the pieces lie in it.
            layout: for each part the cells that it covers.

        Returns:
            What was measured.

        Raises:
            InputError: when a part cannot cover the cells that the layout says.
        """
        ways = {key: self._on(key, cells) for key, cells in sorted(layout.items())}
        closed = [key for key in ways if all(lying.is_solid for lying in self._ways[key])]
        apart = {
            (one, other): min(
                itertools.starmap(self._gap, itertools.product(ways[one], ways[other]))
            )
            for one, other in itertools.combinations(closed, 2)
        }
        area = area_of(LATTICES["square"], region, self._unit_mm).buffer(TINY_MM)
        outside = {
            key: max(reach_out_mm(one.placed(one.shadow(), pose), area) for one, pose in ways[key])
            for key in closed
        }
        held = self._board is not None and self._board.board is not None
        held = held and region <= self._board.board.cells  # type: ignore[union-attr]
        inside = {key: max(map(self._board_mm3, ways[key])) if held else 0.0 for key in closed}
        asked = f"at least {self._least_mm:g} mm is asked for"
        messages = [
            *(
                f"{key} is not closed: overlaps with it cannot be measured"
                for key in ways
                if key not in closed
            ),
            *(
                f"{key} and the board overlap by {overlap_mm3:.3f} mm3"
                for key, overlap_mm3 in inside.items()
                if overlap_mm3 > TINY_MM3
            ),
            *(
                f"{one} and {other} overlap by {-less_mm3:.3f} mm3"
                if less_mm3
                else f"{one} and {other} leave a gap of {gap_mm:.3f} mm; {asked}"
                for (one, other), (gap_mm, less_mm3) in apart.items()
                if less_mm3 or gap_mm < self._least_mm - TINY_MM
            ),
            *(
                f"{key} reaches {reach_mm:.3f} mm out of the region"
                for key, reach_mm in outside.items()
                if reach_mm > TINY_MM
            ),
        ]
        return Assembly(
            challenge=challenge,
            ok=not messages,
            overlap_mm3=sum(inside.values()) - sum(less for _, less in apart.values()),
            min_gap_mm=min((gap_mm for gap_mm, _ in apart.values()), default=None),
            max_gap_mm=None,
            outside_mm=max(outside.values(), default=0.0),
            is_measured=len(closed) == len(ways),
            messages=tuple(messages),
        )

    def _on(self, key: str, cells: frozenset[Cell]) -> list[Way]:
        """All the ways in which a part covers exactly these cells."""
        ways = [(lying, pose) for lying in self._ways[key] for pose in lying.poses(cells)]
        found = [(lying, pose) for lying, pose in ways if lying.covered(pose) == cells]
        if not found:
            raise InputError.of(key, "does not have the shape that the solution asks for")
        return found

    def _gap(self, one: Way, other: Way) -> tuple[float, float]:
        """How far two parts are apart, and less than nothing by what they have in common (mm3)."""
        if (one, other) not in self._apart:
            (first, here), (second, there) = one, other
            shadow = first.placed(first.shadow(), here)
            found = float(shadow.distance(second.placed(second.shadow(), there))), 0.0
            if found[0] < self._least_mm:
                solid, beside = first.at(here, 0.0), second.at(there, 0.0)
                overlap_mm3 = float((solid ^ beside).volume())
                is_overlap = overlap_mm3 > TINY_MM3
                gap_mm = 0.0 if is_overlap else float(solid.min_gap(beside, self._least_mm))
                found = gap_mm, -overlap_mm3 if is_overlap else 0.0
            self._apart[one, other] = found
        return self._apart[one, other]

    def _board_mm3(self, way: Way) -> float:
        """What a part and the board have in common."""
        if way not in self._in_board and self._board:
            there = way[0].at(way[1], self._board.rest_mm + LIFT_MM)
            self._in_board[way] = max(0.0, float((there ^ self._board.manifold).volume()))
        return self._in_board[way]


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
    return [stack(part.board.id, row, error.side_mm, seed) for row in rows]


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
