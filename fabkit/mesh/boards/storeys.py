"""A board in storeys: between the heights at which it changes, it is an upright prism.

What lies in a storey and reaches no part of the board seen from above does not meet it. Where the
walls are upright that is all there is to ask; where they lean, the shadow of a storey is larger
than the board is at most of its heights, and who needs to know better cuts the storeys finer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.boards.lying import LIFT_MM, Lying, between, shadow_of
from fabkit.mesh.fitting.laying import Pose

#: Corners this near to a height are at it: what single precision makes of heights.
_SAME_MM = 1e-4
#: Storeys whose walls lean are halved down to this height …
_FINEST_MM = 0.05
#: … unless the walls are off their upright shadow by less than this, on average.
_UPRIGHT_MM = 0.005


@dataclass(frozen=True, eq=False)
class Storey:
    """A layer of a board.

    Attributes:
        low_mm: where it begins.
        high_mm: where it ends.
        shadow: what of the board lies in it, seen from above.
    """

    low_mm: float
    high_mm: float
    shadow: BaseGeometry

    def depth_mm3(self, area: BaseGeometry) -> float:
        """At most so much of what stands over an area, in this storey, lies in the board."""
        return float(self.shadow.intersection(area).area) * (self.high_mm - self.low_mm)


class Storeys:
    """A board, or a part of one, cut at the heights at which it changes.

    Args:
        solid: the board for boolean operations, in its frame.
        rest_mm: its ``rest_mm``.
        fine: whether storeys whose walls lean are cut finer.
    """

    def __init__(self, solid: Any, rest_mm: float, fine: bool = False) -> None:
        self.rest_mm = rest_mm
        heights = np.unique(np.asarray(solid.to_mesh().vert_properties)[:, 2])
        levels = heights[np.diff(heights, prepend=-np.inf) > _SAME_MM].tolist()
        cuts = sorted(level + side for level in levels for side in (-_SAME_MM, _SAME_MM))
        self._storeys: list[Storey] = []
        for low_mm, high_mm in itertools.pairwise(cuts):
            self._storeys += _storeys(solid, low_mm, high_mm, fine)

    def swept_mm3(self, lying: Lying, poses: Sequence[Pose]) -> list[float]:
        """How much of the way down to each pose is barred, at the most.

        A piece that is put in from above passes each storey with all of it that comes to lie
        there or below. So 0 proves that it gets there, and that it is free where it lies.

        Args:
            lying: the way in which a piece lies.
            poses: where.

        Returns:
            A volume for each pose, never too small.
        """
        found = [0.0] * len(poses)
        for storey in self._storeys:
            below = lying.shadow(high_mm=storey.high_mm - self.rest_mm - LIFT_MM)
            areas = np.array([lying.placed(below, pose) for pose in poses])
            for at in np.flatnonzero(shapely.intersects(storey.shadow, areas)):
                found[at] += storey.depth_mm3(areas[at])
        return found

    def met(self, lying: Lying, pose: Pose) -> list[tuple[Storey, BaseGeometry]]:
        """Each storey that a piece lies in, with what of the piece lies there."""
        down_mm = self.rest_mm + LIFT_MM
        found = []
        for storey in self._storeys:
            area = lying.shadow(storey.low_mm - down_mm, storey.high_mm - down_mm)
            if not area.is_empty:
                found.append((storey, lying.placed(area, pose)))
        return found


def _storeys(solid: Any, low_mm: float, high_mm: float, fine: bool) -> Iterable[Storey]:
    layer = between(solid, low_mm, high_mm)
    shadow = shadow_of(layer)
    shapely.prepare(shadow)
    height_mm = high_mm - low_mm
    off_mm3 = shadow.area * height_mm - layer.volume()
    if fine and height_mm > _FINEST_MM and off_mm3 > _UPRIGHT_MM * shadow.length * height_mm:
        middle_mm = (low_mm + high_mm) / 2
        yield from _storeys(layer, low_mm, middle_mm, fine)
        yield from _storeys(layer, middle_mm, high_mm, fine)
    else:
        yield Storey(low_mm, high_mm, shadow)
