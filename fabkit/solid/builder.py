"""Making the solid of whatever was drawn, and of what fills its engraving."""

from __future__ import annotations

import cadquery as cq

from fabkit.drawing.ball import BallBlueprint
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.drawing.draft import Blueprint
from fabkit.drawing.part import PartDrawing
from fabkit.solid.balls import build_balls
from fabkit.solid.boards import build_board
from fabkit.solid.pieces import Workshop, letter_cutters, letter_prisms


class Maker:
    """Builds solids, and keeps what several of them share."""

    def __init__(self) -> None:
        self._pieces = Workshop()

    def build(self, drawing: PartDrawing) -> cq.Solid:
        """The finished solid, as it lies in its drawing.

        Raises:
            RuntimeError: when the kernel returns something that is not one valid solid.
        """
        if isinstance(drawing, BallBlueprint):
            return build_balls(drawing)
        if isinstance(drawing, BoardBlueprint):
            return build_board(drawing)
        assert isinstance(drawing, Blueprint)
        return self._pieces.build(drawing)


def inlay(drawing: PartDrawing) -> cq.Compound:
    """What was cut out of a piece for its letter, on one face or both, or of a board for its title."""
    assert drawing.label is not None
    if isinstance(drawing, Blueprint):
        return cq.Compound.makeCompound(letter_cutters(drawing))
    low_mm, label = drawing.label_low_mm, drawing.label
    return cq.Compound.makeCompound(letter_prisms(label.front, low_mm, low_mm + label.depth_mm))
