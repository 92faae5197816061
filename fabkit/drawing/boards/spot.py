"""Where a frame stands and which way its lid slides: drawn as if at the origin, then put there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shapely import affinity
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.drawing import Bore, Prism, Step
from fabkit.drawing.printed import PointMm


@dataclass(frozen=True)
class Spot:
    """The place of a frame and its lid.

    Both are drawn around the origin with their front towards negative y: *across* is x there and
    *along*, the way of the lid, is y. A board that is wider than deep has its front on its left.

    Attributes:
        middle_mm: the middle of the region's box.
        slides: the axis along which a lid slides out, towards its negative end.

    Example:
        >>> import shapely
        >>> Spot((10.0, 0.0), "x").area(shapely.box(-1, -5, 1, -3)).bounds
        (5.0, -1.0, 7.0, 1.0)
        >>> Spot((10.0, 0.0), "x").from_there(shapely.box(5, -1, 7, 1)).bounds
        (-1.0, -5.0, 1.0, -3.0)
    """

    middle_mm: PointMm
    slides: Literal["x", "y"]

    def area(self, drawn: BaseGeometry) -> BaseGeometry:
        """An area that was drawn at the origin, where it belongs."""
        turn = [0, 1, -1, 0] if self.slides == "x" else [1, 0, 0, 1]
        return affinity.affine_transform(drawn, [*turn, *self.middle_mm])

    def from_there(self, area: BaseGeometry) -> BaseGeometry:
        """An area of the board, as it is drawn at the origin: the way back."""
        x_mm, y_mm = self.middle_mm
        if self.slides == "x":
            return affinity.affine_transform(area, [0, -1, 1, 0, y_mm, -x_mm])
        return affinity.translate(area, -x_mm, -y_mm)

    def steps(self, drawn: Sequence[Step]) -> tuple[Step, ...]:
        """Steps that were drawn at the origin, where they belong."""
        return tuple(Step(one.cuts, tuple(map(self._shape, one.shapes))) for one in drawn)

    def _shape(self, shape: Prism | Bore) -> Prism | Bore:
        x_mm, y_mm = self.middle_mm
        low, high = shape.low_mm, shape.high_mm
        if isinstance(shape, Bore):
            across, along = shape.centre_mm
            turned = (along, -across) if self.slides == "x" else (across, along)
            return Bore((x_mm + turned[0], y_mm + turned[1]), shape.diameter_mm, low, high)
        if shape.axis == "z":
            return Prism(self.area(shape.area), low, high)
        runs_along, turns = shape.axis == "y", self.slides == "x"
        if not turns:
            beside, onwards = (x_mm, y_mm) if runs_along else (y_mm, x_mm)
            area = affinity.translate(shape.area, beside)
            return Prism(area, onwards + low, onwards + high, shape.axis)
        if runs_along:
            mirrored = affinity.affine_transform(shape.area, [-1, 0, 0, 1, y_mm, 0])
            return Prism(mirrored, x_mm + low, x_mm + high, "x")
        return Prism(affinity.translate(shape.area, x_mm), y_mm - high, y_mm - low, "y")
