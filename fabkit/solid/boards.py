"""The solid of a board or lid: prisms and cylinders added and cut in order, then its title."""

from __future__ import annotations

from collections import defaultdict

import cadquery as cq
import shapely
from shapely import Polygon

from fabkit.drawing.boards.csg import BoardDrawing, Cylinder, Prism, Step
from fabkit.drawing.outline import polygons, rings_mm
from fabkit.solid.pieces import letter_prisms

_AXES = {"x": cq.Vector(1, 0, 0), "y": cq.Vector(0, 1, 0), "z": cq.Vector(0, 0, 1)}


def build_board(drawing: BoardDrawing) -> cq.Solid:
    """Build the finished solid in the frame of its drawing.

    Raises:
        RuntimeError: when the kernel returns something that is not one valid solid.
    """
    body: cq.Shape | None = None
    for step in drawing.steps:
        shapes = _solids(step)
        if body is None:
            body = shapes[0].fuse(*shapes[1:]) if len(shapes) > 1 else shapes[0]
        else:
            body = body.cut(*shapes) if step.cuts else body.fuse(*shapes)
    if body is None:
        raise RuntimeError(f"nothing is drawn of {drawing.piece}")
    # Merge the coplanar faces of added parts.
    body = body.clean()
    label = drawing.label
    if label is not None:
        low = drawing.label_low_mm
        body = body.cut(*letter_prisms(label.front, low, low + label.depth_mm))
    solids = body.Solids()
    if len(solids) != 1 or not solids[0].isValid():
        raise RuntimeError(f"the kernel built no valid solid for {drawing.piece}")
    return solids[0]


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
    return solids + [_cylinder(cylinder) for cylinder in cylinders]


def _prism(area: Polygon, low_mm: float, high_mm: float, axis: str) -> cq.Solid:
    def at(point: tuple[float, float]) -> cq.Vector:
        one, other = point
        if axis == "z":
            return cq.Vector(one, other, low_mm)
        return cq.Vector(low_mm, one, other) if axis == "x" else cq.Vector(one, low_mm, other)

    outer, *holes = (
        cq.Wire.makePolygon([at(point) for point in ring], close=True)
        for ring in rings_mm(shapely.simplify(area, 0))
    )
    return cq.Solid.extrudeLinear(outer, holes, _AXES[axis] * (high_mm - low_mm))


def _cylinder(cylinder: Cylinder) -> cq.Solid:
    x_mm, y_mm = cylinder.centre_mm
    foot = cq.Vector(x_mm, y_mm, cylinder.low_mm)
    return cq.Solid.makeCylinder(cylinder.diameter_mm / 2, cylinder.high_mm - cylinder.low_mm, foot)
