"""The solid of a board or lid: prisms and cylinders added and cut in order, then its title."""

from __future__ import annotations

from collections import defaultdict

import cadquery as cq
import shapely
from shapely import Polygon

from fabkit.drawing.boards.csg import BoardDrawing, Cylinder, Prism, Step
from fabkit.drawing.outline import polygons, rings_mm
from fabkit.solid.pieces import letter_cutters

_AXES = {"x": cq.Vector(1, 0, 0), "y": cq.Vector(0, 1, 0), "z": cq.Vector(0, 0, 1)}


def build_board(drawing: BoardDrawing) -> cq.Shape:
    """Build the finished board or lid in the frame of its drawing."""
    first, *steps = drawing.steps
    body, *others = _solids(first)
    body = body.fuse(*others) if others else body
    for step in steps:
        body = (body.cut if step.cuts else body.fuse)(*_solids(step))
    # Merge the coplanar faces of added parts.
    body = body.clean()
    cutters = letter_cutters(drawing)
    return body.cut(*cutters) if cutters else body


def _solids(step: Step) -> list[cq.Shape]:
    """Build a step's shapes as solids; prisms over the same interval are united."""
    together: dict[tuple[str, float, float], list[Polygon]] = defaultdict(list)
    for shape in step.shapes:
        if isinstance(shape, Prism):
            together[shape.axis, shape.low_mm, shape.high_mm].append(shape.area)
    solids: list[cq.Shape] = [
        _prism(area, low, high, axis)
        for (axis, low, high), areas in together.items()
        for area in polygons(shapely.union_all(areas))
    ]
    cylinders = dict.fromkeys(shape for shape in step.shapes if isinstance(shape, Cylinder))
    for cylinder in cylinders:
        foot = cq.Vector(*cylinder.centre_mm, cylinder.low_mm)
        height_mm = cylinder.high_mm - cylinder.low_mm
        solids.append(cq.Solid.makeCylinder(cylinder.diameter_mm / 2, height_mm, foot))
    return solids


def _prism(area: Polygon, low_mm: float, high_mm: float, axis: str) -> cq.Solid:
    position = "xyz".index(axis)
    wires = []
    for ring in rings_mm(shapely.simplify(area, 0)):
        corners = [cq.Vector((*point[:position], low_mm, *point[position:])) for point in ring]
        wires.append(cq.Wire.makePolygon(corners, close=True))
    outer, *holes = wires
    return cq.Solid.extrudeLinear(outer, holes, _AXES[axis] * (high_mm - low_mm))
