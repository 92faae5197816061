"""Pieces on stubs: one that is turned over cannot sink in, and stands proud of the others."""

from __future__ import annotations

import math
from collections.abc import Callable

from fabkit.mesh.boards.lying import Lying, stubs_lying
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.finding import Finding, at_least
from fabkit.mesh.fitting.assembly import TINY_MM3
from fabkit.mesh.fitting.laying import Pose
from fabkit.mesh.stubs import OnStubs
from fabkit.model.lattice import Lattice

#: A piece that lies upside down is at least this much higher: seen at once, and felt.
PROUD_MM = 1.5
#: A piece is let down in such steps, and its rest is then found to so much.
_STEP_MM, _PRECISION_MM = 0.5, 1e-3


def proud_mm(one: OnStubs, lattice: Lattice, board: BoardPart) -> float:
    """How much higher the top of a piece lies when it is turned over.

    The piece is let down onto the board until it meets it: first with its stubs down, in the
    first place; then turned over, in every turn and every place that its cells allow.

    Args:
        one: a piece with its outline read.
        lattice: the set's.
        board: a board of seats that was read, and is solid.

    Returns:
        The least difference over all places; infinite when there is no place for it, or none
        upside down.
    """
    assert board.board is not None
    upright = stubs_lying("", one, lattice, board.unit_mm, over=False)
    over = stubs_lying("", one, lattice, board.unit_mm, over=True)
    first = next(upright.poses(board.board.cells), None)
    if first is None:
        return math.inf
    seated_mm = _lowest_mm(upright, first, board) + _top_mm(upright)
    lowest_mm = math.inf
    for pose in over.poses(board.board.cells):
        meets = _meeting(over, pose, board)
        # Most places are like the ones before: there it stops, too, before it gets any lower.
        if math.isinf(lowest_mm) or not meets(lowest_mm - _PRECISION_MM):
            lowest_mm = min(lowest_mm, _lowest_mm(over, pose, board))
    return lowest_mm + _top_mm(over) - seated_mm


def proud_finding(one: OnStubs, lattice: Lattice, board: BoardPart) -> Finding:
    """What `seat-proud` says of a piece; see `proud_mm`."""
    value = proud_mm(one, lattice, board)
    if math.isinf(value):
        message = "there is no place for it upside down"
        return Finding("seat-proud", True, None, PROUD_MM, "mm", message)
    return at_least("seat-proud", value, PROUD_MM, "mm", "how much higher it lies upside down")


def _top_mm(lying: Lying) -> float:
    return float(lying.solid.bounding_box()[5])


def _lowest_mm(lying: Lying, pose: Pose, board: BoardPart) -> float:
    """How high above the board's ``rest_mm`` a piece stays when it is let down from above.

    One that falls through the board is let down until all of it is below.
    """
    meets = _meeting(lying, pose, board)
    _, _, bottom, _, _, top = lying.solid.bounding_box()
    free = board.sections.high - board.rest_mm - bottom
    while not meets(free - _STEP_MM):
        free -= _STEP_MM
        if free < -board.rest_mm - top:
            return float(free)
    barred = free - _STEP_MM
    while free - barred > _PRECISION_MM:
        middle = (free + barred) / 2
        free, barred = (free, middle) if meets(middle) else (middle, barred)
    return float(free)


def _meeting(lying: Lying, pose: Pose, board: BoardPart) -> Callable[[float], bool]:
    """Whether a piece, so high above the board's ``rest_mm``, has anything in common with it."""

    def meets(height_mm: float) -> bool:
        solid = lying.solid.transform(lying.matrix(pose, board.rest_mm + height_mm))
        return float((solid ^ board.manifold).volume()) > TINY_MM3

    return meets
