"""The solid that fills an engraving, to be printed in a second colour."""

from __future__ import annotations

import cadquery as cq

from fabkit.drawing.draft import Blueprint
from fabkit.drawing.drawn import Drawn
from fabkit.solid.body import letter_cutters
from fabkit.solid.lettering import letter_prisms


def inlay(drawing: Drawn) -> cq.Compound:
    """What was cut out of a piece for its letter, on one face or both, or of a board for its title.

    Args:
        drawing: of something that has a letter or title.
    """
    assert drawing.label is not None
    if isinstance(drawing, Blueprint):
        return cq.Compound.makeCompound(letter_cutters(drawing))
    low_mm, label = drawing.label_low_mm, drawing.label
    return cq.Compound.makeCompound(letter_prisms(label.front, low_mm, low_mm + label.depth_mm))
