"""Letters as solids: the font's own lines and curves, extruded."""

from __future__ import annotations

import cadquery as cq

from fabkit.drawing.glyphs import Contour, Lettering


def letter_prisms(text: Lettering, low_mm: float, high_mm: float) -> list[cq.Solid]:
    """The letter between two heights, one solid for each separate part.

    Args:
        text: contours in mm, never crossing each other.
        low_mm: height of the lower end.
        high_mm: height of the upper end.
    """
    up = cq.Vector(0, 0, high_mm - low_mm)
    return [
        cq.Solid.extrudeLinear(_wire(outer, low_mm), [_wire(c, low_mm) for c in counters], up)
        for outer, counters in text.parts()
    ]


def _wire(contour: Contour, height: float) -> cq.Wire:
    edges = []
    for segment in contour:
        points = [cq.Vector(x, y, height) for x, y in segment]
        straight = len(points) == 2
        edges.append(cq.Edge.makeLine(*points) if straight else cq.Edge.makeBezier(points))
    return cq.Wire.assembleEdges(edges)
