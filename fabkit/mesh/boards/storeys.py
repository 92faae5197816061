"""A board in storeys: between the heights at which it changes, it is an upright prism.

What lies in a storey and reaches no part of the board seen from above does not meet it. Where the
walls are upright that is all there is to ask; where they lean, the shadow of a storey is larger
than the board is at most of its heights, and who needs to know better cuts the storeys finer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.boards.lying import LIFT_MM, Lying
from fabkit.mesh.fitting.laying import Pose
from fabkit.mesh.manifold import between, cropped, shadow_of

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
        solid: what of the board lies in it.
        shadow: the same, seen from above.
        leaning_mm3: by how much its walls lean: what an upright prism over the shadow has more.
    """

    low_mm: float
    high_mm: float
    solid: Any
    shadow: BaseGeometry
    leaning_mm3: float

    def depth_mm3(self, area: BaseGeometry) -> float:
        """At most so much of what stands over an area, in this storey, lies in the board."""
        return float(self.shadow.intersection(area).area) * (self.high_mm - self.low_mm)

    def finely(self) -> Iterator[Storey]:
        """This storey, halved until its walls nearly stand upright."""
        height_mm = self.high_mm - self.low_mm
        if height_mm <= _FINEST_MM or self.leaning_mm3 <= _negligible_mm3(self.shadow, height_mm):
            yield self
            return
        middle_mm = (self.low_mm + self.high_mm) / 2
        yield from _storey(self.solid, self.low_mm, middle_mm).finely()
        yield from _storey(self.solid, middle_mm, self.high_mm).finely()

    def finely_over(
        self, box: tuple[float, float, float, float], low_mm: float, high_mm: float
    ) -> Iterator[Storey]:
        """What of this storey lies over a box ``(left, low, right, high)`` between two heights.

        Returns:
            Storeys whose walls nearly stand upright.
        """
        low_mm, high_mm = max(low_mm, self.low_mm), min(high_mm, self.high_mm)
        shadow = self.shadow.intersection(shapely.box(*box))
        if low_mm >= high_mm or shadow.is_empty:
            return
        # Nothing leans more here than in all of it.
        if self.leaning_mm3 <= _negligible_mm3(shadow, high_mm - low_mm):
            shapely.prepare(shadow)
            yield Storey(low_mm, high_mm, self.solid, shadow, self.leaning_mm3)
        else:
            yield from _storey(cropped(self.solid, box), low_mm, high_mm).finely()


class Storeys:
    """A board, or a part of one, cut at the heights at which it changes.

    Args:
        storeys: from low to high.
        rest_mm: the board's.
    """

    def __init__(self, storeys: Sequence[Storey], rest_mm: float) -> None:
        self.rest_mm = rest_mm
        self._storeys = storeys

    @classmethod
    def of(cls, solid: Any, rest_mm: float) -> Storeys:
        """Cuts a board.

        Args:
            solid: the board for boolean operations, in its frame.
            rest_mm: its ``rest_mm``.
        """
        heights = np.unique(np.asarray(solid.to_mesh().vert_properties)[:, 2])
        levels = heights[np.diff(heights, prepend=-np.inf) > _SAME_MM].tolist()
        cuts = sorted(level + side for level in levels for side in (-_SAME_MM, _SAME_MM))
        return cls([_storey(solid, low, high) for low, high in itertools.pairwise(cuts)], rest_mm)

    def finely(self) -> Storeys:
        """The same, storeys whose walls lean cut finer."""
        return Storeys([one for storey in self._storeys for one in storey.finely()], self.rest_mm)

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

    def met(
        self, lying: Lying, pose: Pose, box: tuple[float, float, float, float]
    ) -> list[tuple[Storey, BaseGeometry]]:
        """Each storey that a piece lies in, cut finely, with what of the piece lies there.

        Args:
            lying: the way in which it lies.
            pose: where.
            box: ``(left, low, right, high)``: what of the board matters.
        """
        down_mm = self.rest_mm + LIFT_MM
        bottom_mm, top_mm = lying.heights_mm
        found = []
        for storey in self._storeys:
            for one in storey.finely_over(box, bottom_mm + self.rest_mm, top_mm + down_mm):
                area = lying.shadow(one.low_mm - down_mm, one.high_mm - down_mm)
                if not area.is_empty:
                    found.append((one, lying.placed(area, pose)))
        return found


def _storey(solid: Any, low_mm: float, high_mm: float) -> Storey:
    """What of a solid lies between two heights."""
    layer = between(solid, low_mm, high_mm)
    shadow = shadow_of(layer)
    shapely.prepare(shadow)
    leaning_mm3 = shadow.area * (high_mm - low_mm) - layer.volume()
    return Storey(low_mm, high_mm, layer, shadow, leaning_mm3)


def _negligible_mm3(shadow: BaseGeometry, height_mm: float) -> float:
    """So much may the walls of a storey lean, and still count as upright."""
    return _UPRIGHT_MM * float(shadow.length) * height_mm
