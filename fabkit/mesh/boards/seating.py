"""Does a piece go into its board, wherever it may lie, and does the board hold it there?

Every way to lie (each side up, each turn) is tried at every place of the board. Nearly all are
settled from above, storey by storey (`fabkit.mesh.boards.storeys`), which proves that a piece is
free where it lies and that it gets there straight from above. What that leaves open is measured
on the meshes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabkit.mesh.boards.lying import LIFT_MM, Lying, area_of
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.boards.play import PRESS_MM, Play, play
from fabkit.mesh.boards.storeys import Storeys
from fabkit.mesh.finding import Finding, at_least, at_most, counted
from fabkit.mesh.fitting.assembly import TINY_MM3
from fabkit.mesh.fitting.laying import Pose
from fabkit.mesh.manifold import cropped
from fabkit.model.lattice import Lattice

#: A seated piece may be shifted by this from stop to stop: what is loose enough to go in by hand
#: (the clearances of holes, channels and seats) and still stays in its own cells.
PLAY_MM = 0.6
#: It may be shifted by this at least: holes come out up to so much too narrow (numbers of printing
#: guides), and it must still go in.
LOOSE_MM = 0.3
#: It may be turned by this: at the end of four cells that is half of their clearance.
TURN_DEGREES = 3.0
#: Where a way in is looked for step by step, by this at a time.
_STEP_MM = 0.5
#: Board around a piece that it may meet on its way.
_AROUND_MM = 1.0


@dataclass(frozen=True)
class Placed:
    """A piece at all the places of one way to lie and one turn.

    Attributes:
        places: how many there are.
        overlap_mm3: what it has in common with the board at the worst one that was measured.
        is_barred: whether at one of them it cannot be put in straight from above.
        worst: the pose to tell; None when all is well.
    """

    places: int
    overlap_mm3: float = 0.0
    is_barred: bool = False
    worst: Pose | None = None


class Seating:
    """A board into which pieces are put.

    Args:
        board: a board that was read, and is solid.
        lattice: its lattice.
    """

    def __init__(self, board: BoardPart, lattice: Lattice) -> None:
        assert board.board is not None
        self.board = board
        self.region = board.board.cells
        area = area_of(lattice, self.region, board.unit_mm)
        # What lies farther out, such as a title, no piece comes near.
        around = area.buffer(board.unit_mm, join_style="mitre")
        self._solid = cropped(board.manifold, around.bounds)

    @cached_property
    def _storeys(self) -> Storeys:
        return Storeys.of(self._solid, self.board.rest_mm)

    @cached_property
    def _fine(self) -> Storeys:
        return self._storeys.finely()

    def placed(self, lying: Lying) -> list[Placed]:
        """A piece at every place of the board, one result for each turn that has any."""
        poses = lying.poses(self.region)
        return [
            self._placed(lying, list(some))
            for _, some in itertools.groupby(poses, key=lambda pose: pose[0])
        ]

    def _placed(self, lying: Lying, poses: Sequence[Pose]) -> Placed:
        suspects = _suspects(self._storeys, lying, poses)
        if suspects:
            # Walls that lean are looked at more closely, before volumes are measured.
            suspects = _suspects(self._fine, lying, suspects)
        barred = None
        for pose in suspects:
            solid, near = self._brought_together(lying, pose)
            overlap_mm3 = float((solid ^ near).volume())
            if overlap_mm3 > TINY_MM3:
                return Placed(len(poses), overlap_mm3, True, pose)
            if barred is None and _is_barred(solid, near):
                barred = pose
        return Placed(len(poses), 0.0, barred is not None, barred)

    def _brought_together(self, lying: Lying, pose: Pose) -> tuple[Any, Any]:
        """A seated piece, and the board around it."""
        solid = lying.solid.transform(lying.matrix(pose, self.board.rest_mm + LIFT_MM))
        left, low, _, right, high, _ = solid.bounding_box()
        more = _AROUND_MM
        return solid, cropped(self._solid, (left - more, low - more, right + more, high + more))

    def play(self, ways: Sequence[Lying]) -> Play:
        """How a seated piece is held where it is held worst, of some places.

        Each way to lie is looked at in the middle of the board and at its border.
        """
        found = [
            play(lying, pose, self._solid, self._storeys)
            for lying in ways
            for pose in self._middle_and_border(lying)
        ]
        return Play(
            max(one.shift_mm for one in found),
            min(one.least_mm for one in found),
            max(one.turn_degrees for one in found),
            max(one.sink_mm for one in found),
        )

    def _middle_and_border(self, lying: Lying) -> Iterable[Pose]:
        poses = list(lying.poses(self.region))
        if not poses:
            return []
        middle = np.mean(sorted(self.region), axis=0)
        away = [
            float(np.hypot(*(np.mean(sorted(lying.covered(pose)), axis=0) - middle)))
            for pose in poses
        ]
        return [poses[int(np.argmin(away))], poses[int(np.argmax(away))]]


def seat_findings(seating: Seating, ways: Sequence[Lying]) -> list[Finding]:
    """What the rules of seats say of one piece.

    Args:
        seating: its board.
        ways: the ways in which it can lie, turns divided out; at least one.

    Returns:
        `seat-free`, `seat-insert`, `seat-play`, `seat-loose`, `seat-turn` and `seat-rest`; only the
        first when there is no place for it.
    """
    found = [(lying, placed) for lying in ways for placed in seating.placed(lying)]
    places = sum(placed.places for _, placed in found)
    if not places:
        message = "there is no place for it on the board"
        return [Finding("seat-free", False, None, TINY_MM3, "mm3", message)]
    lying, worst = max(found, key=lambda one: one[1].overlap_mm3)
    held = seating.play(ways)
    return [
        at_most(
            "seat-free",
            worst.overlap_mm3,
            TINY_MM3,
            "mm3",
            f"what it has in common with the board{_at(lying, worst)}, of {places} ways to lie,",
        ),
        counted(
            "seat-insert",
            sum(placed.is_barred for _, placed in found),
            0,
            f"turns, of {len(found)}, in which it cannot be put in straight from above"
            + next((_at(lying, one) for lying, one in found if one.is_barred), ""),
        ),
        at_most("seat-play", held.shift_mm, PLAY_MM, "mm", "its play, side to side,"),
        at_least("seat-loose", held.least_mm, LOOSE_MM, "mm", "its least play, side to side,"),
        at_most(
            "seat-turn", held.turn_degrees, TURN_DEGREES, "deg", "how far its seat lets it turn"
        ),
        at_most("seat-rest", held.sink_mm, PRESS_MM, "mm", "its height above what it rests on"),
    ]


def unseated(why: str) -> list[Finding]:
    """The finding on a piece or board that cannot be looked at.

    Example:
        >>> unseated("the board is not closed")[0].message
        'whether it lies free in its board cannot be measured: the board is not closed'
    """
    message = f"whether it lies free in its board cannot be measured: {why}"
    return [Finding("seat-free", False, None, TINY_MM3, "mm3", message)]


def _at(lying: Lying, placed: Placed) -> str:
    """Where the worst place is, for a message."""
    if placed.worst is None:
        return ""
    cells = sorted(map(lying.lattice.row_col, lying.covered(placed.worst)))
    return f" at {' '.join(f'[{row}, {col}]' for row, col in cells)}"


def _suspects(storeys: Storeys, lying: Lying, poses: Sequence[Pose]) -> list[Pose]:
    """The poses whose way in is not proven to be free, the likeliest to be barred first."""
    barred = storeys.swept_mm3(lying, poses)
    order = sorted(range(len(poses)), key=lambda at: -barred[at])
    return [poses[at] for at in order if barred[at] > TINY_MM3]


def _is_barred(solid: Any, near: Any) -> bool:
    """Whether a piece meets the board somewhere on its way straight up."""
    *_, bottom, _, _, _ = solid.bounding_box()
    *_, top = near.bounding_box()
    for up_mm in np.arange(_STEP_MM, top - bottom, _STEP_MM):
        if float((solid.translate((0.0, 0.0, float(up_mm))) ^ near).volume()) > TINY_MM3:
            return True
    return False
