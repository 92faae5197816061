"""Putting the meshes of ball pieces together as a solution says, in their board."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from statistics import median

from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.boards.lying import LIFT_MM, Lying, area_of, balls_lying
from fabkit.mesh.boards.neighbours import Nearest, apart
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.finding import TINY_MM
from fabkit.mesh.fitting.assembly import TINY_MM3, Assembly
from fabkit.mesh.fitting.laying import Pose
from fabkit.mesh.seen import reach_out_mm
from fabkit.model.lattice import LATTICES, Cell
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

    def __init__(
        self, parts: Mapping[str, BallPart], board: BoardPart | None, profile: Profile
    ) -> None:
        self._least_mm = profile.gap_min_mm
        self._board = board if board and board.board and board.is_solid else None
        pitches = [part.pitch_mm for part in parts.values()]
        self._unit_mm = board.unit_mm if board else median(pitches or [profile.unit_mm])
        self._ways = {key: balls_lying(key, part, self._unit_mm) for key, part in parts.items()}
        self._apart: dict[tuple[Way, Way], Nearest] = {}
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
        solid = {key: all(lying.is_solid for lying in self._ways[key]) for key in ways}
        closed = [key for key in ways if solid[key]]
        pairs = {
            pair: self._nearest(*(ways[key] for key in pair))
            for pair in itertools.combinations(closed, 2)
        }
        inside = {key: self._board_mm3(ways[key], region) for key in closed}
        area = area_of(LATTICES["square"], region, self._unit_mm).buffer(TINY_MM)
        outside = {key: max(_outside_mm(*way, area) for way in ways[key]) for key in closed}
        messages = [
            *(
                f"{key} is not closed: overlaps with it cannot be measured"
                for key in ways
                if not solid[key]
            ),
            *(
                f"{key} and the board overlap by {overlap_mm3:.3f} mm3"
                for key, overlap_mm3 in inside.items()
                if overlap_mm3 > TINY_MM3
            ),
            *self._complaints(pairs),
            *(
                f"{key} reaches {reach_mm:.3f} mm out of the region"
                for key, reach_mm in outside.items()
                if reach_mm > TINY_MM
            ),
        ]
        overlaps = [nearest.overlap_mm3 for nearest in pairs.values()]
        return Assembly(
            challenge=challenge,
            ok=not messages,
            overlap_mm3=sum(overlaps) + sum(inside.values()),
            min_gap_mm=min((nearest.gap_mm for nearest in pairs.values()), default=None),
            max_gap_mm=None,
            outside_mm=max(outside.values(), default=0.0),
            is_measured=all(solid.values()),
            messages=tuple(messages),
        )

    def _on(self, key: str, cells: frozenset[Cell]) -> list[Way]:
        """All the ways in which a part covers exactly these cells."""
        found = [(lying, pose) for lying in self._ways[key] for pose in lying.poses_on(cells)]
        if not found:
            raise InputError.of(key, "does not have the shape that the solution asks for")
        return found

    def _nearest(self, ones: list[Way], others: list[Way]) -> Nearest:
        """The worst of all ways in which two parts can lie on their cells."""
        found = []
        for pair in itertools.product(ones, others):
            if pair not in self._apart:
                self._apart[pair] = apart(*pair[0], *pair[1], self._least_mm)
            found.append(self._apart[pair])
        return min(found, key=lambda one: (one.gap_mm, -one.overlap_mm3))

    def _board_mm3(self, ways: list[Way], region: frozenset[Cell]) -> float:
        """The most that a part and the board have in common; 0 when the board has no such region."""
        board = self._board
        if board is None or board.board is None or not region <= board.board.cells:
            return 0.0
        for lying, pose in ways:
            if (lying, pose) not in self._in_board:
                there = lying.solid.transform(lying.matrix(pose, board.rest_mm + LIFT_MM))
                self._in_board[lying, pose] = max(0.0, float((there ^ board.manifold).volume()))
        return max(self._in_board[way] for way in ways)

    def _complaints(self, pairs: Mapping[tuple[str, str], Nearest]) -> list[str]:
        messages = []
        for (one, other), nearest in pairs.items():
            if nearest.overlap_mm3:
                messages.append(f"{one} and {other} overlap by {nearest.overlap_mm3:.3f} mm3")
            elif nearest.gap_mm < self._least_mm - TINY_MM:
                gap = f"leave a gap of {nearest.gap_mm:.3f} mm"
                messages.append(
                    f"{one} and {other} {gap}; at least {self._least_mm:g} mm is asked for"
                )
        return messages


def _outside_mm(lying: Lying, pose: Pose, area: BaseGeometry) -> float:
    return reach_out_mm(lying.placed(lying.shadow(), pose), area)
