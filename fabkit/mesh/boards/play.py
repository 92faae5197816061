"""How far a seated piece can be shifted and turned before it meets its board."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.boards.lying import Lying
from fabkit.mesh.boards.storeys import Storeys
from fabkit.mesh.fitting.assembly import TINY_MM3
from fabkit.mesh.fitting.laying import Pose, step_mm
from fabkit.mesh.manifold import cropped

#: Directions in which a piece is shifted, to both sides of each.
_LINES = 4
#: Nobody asks by how much more than this a piece can be shifted (mm) or turned (degrees) …
_MOST_MM, _MOST_DEGREES = 1.5, 15.0
#: … it is tried in such steps, and then found to so much.
_STEPS, _PRECISION = 30, 1e-3
#: A piece that rests, pushed down by this, enters the board.
PRESS_MM = 0.05
#: Board around a piece that is looked at.
_AROUND_MM = 2.0
#: A piece that finds no rest is let down so far.
_MOST_DROP_MM = 5.0


#: What becomes of what is seen from above when a piece is shifted or turned.
Motion = Callable[[BaseGeometry], BaseGeometry]


@dataclass(frozen=True)
class Play:
    """How a seated piece is held.

    Attributes:
        shift_mm: from one stop to the opposite one, in the direction in which that is most.
        least_mm: the same in the direction in which it is least.
        turn_degrees: from its place to the farther stop, about the worst of its cells' middles.
        sink_mm: how far it is above what it rests on.
    """

    shift_mm: float
    least_mm: float
    turn_degrees: float
    sink_mm: float


def play(lying: Lying, pose: Pose, solid: Any, storeys: Storeys) -> Play:
    """Measures how a seated piece is held.

    Shifts and turns are looked at from above, storey by storey (`fabkit.mesh.boards.storeys`),
    the piece level all the time. The rest is measured by volumes.

    Args:
        lying: the way in which it lies.
        pose: where.
        solid: a board for it, or what of one pieces come near.
        storeys: the same, cut.
    """
    left, low, right, high = lying.placed(lying.shadow(), pose).bounds
    around = left - _AROUND_MM, low - _AROUND_MM, right + _AROUND_MM, high + _AROUND_MM
    here = storeys.met(lying, pose, around)

    def meets(moved: Motion) -> bool:
        depth_mm3 = 0.0
        for storey, area in here:
            there = moved(area)
            if shapely.intersects(storey.shadow, there):
                depth_mm3 += storey.depth_mm3(there)
                if depth_mm3 > TINY_MM3:
                    return True
        return False

    shifts_mm = _shifts_mm(meets)
    return Play(
        shift_mm=max(shifts_mm),
        least_mm=min(shifts_mm),
        turn_degrees=_turn_degrees(meets, _pivots(lying, pose)),
        sink_mm=_sink_mm(
            lying.solid.transform(lying.matrix(pose, storeys.rest_mm)), cropped(solid, around)
        ),
    )


def _shifts_mm(meets: Callable[[Motion], bool]) -> list[float]:
    """From stop to stop, in some directions."""

    def reach_mm(angle: float) -> float:
        x, y = math.cos(angle), math.sin(angle)
        return _reach(
            lambda way: meets(lambda area: affinity.translate(area, way * x, way * y)), _MOST_MM
        )

    angles = [math.pi * line / _LINES for line in range(_LINES)]
    return [reach_mm(angle) + reach_mm(angle + math.pi) for angle in angles]


def _turn_degrees(meets: Callable[[Motion], bool], pivots: Sequence[tuple[float, float]]) -> float:
    """How far it can be turned, whichever way and whatever it turns about."""
    most = 0.0
    for pivot in pivots:
        for way in (1, -1):

            def stops(angle: float, pivot: tuple[float, float] = pivot, way: int = way) -> bool:
                return meets(lambda area: affinity.rotate(area, way * angle, origin=pivot))

            if not stops(most):
                most = max(most, _reach(stops, _MOST_DEGREES, most))
    return most


def _pivots(lying: Lying, pose: Pose) -> list[tuple[float, float]]:
    """The middles of its cells, and the middle of all of them."""
    step = step_mm(lying.lattice, lying.unit_mm)
    middles = np.array(sorted(lying.covered(pose))) * step
    return [(x, y) for x, y in [*middles.tolist(), middles.mean(axis=0).tolist()]]


def _reach(stops: Callable[[float], bool], most: float, free: float = 0.0) -> float:
    """How far something gets from where it is until it stops; `most` when it does not."""
    if free == 0.0 and stops(0.0):
        return 0.0
    step = most / _STEPS
    while not stops(free + step):
        free += step
        if free >= most:
            return most
    barred = free + step
    while barred - free > _PRECISION:
        middle = (free + barred) / 2
        free, barred = (free, middle) if stops(middle) else (middle, barred)
    return free


def _sink_mm(solid: Any, near: Any) -> float:
    """How far down it gets until it enters the board."""

    def enters(down_mm: float) -> bool:
        return float((solid.translate((0.0, 0.0, -down_mm)) ^ near).volume()) > TINY_MM3

    if enters(PRESS_MM):
        return _reach(enters, PRESS_MM)
    return _reach(enters, _MOST_DROP_MM, PRESS_MM)
