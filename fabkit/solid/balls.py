"""The solid of a ball piece: spheres and links, cut by the plane of the bed."""

from __future__ import annotations

import math

import cadquery as cq

from fabkit.drawing.ball import BallBlueprint, Place


def build_balls(blueprint: BallBlueprint) -> cq.Solid:
    """The finished solid, as it is printed: on the bed at z = 0, x and y as in the outline.

    All its surfaces are spheres, cylinders and planes.

    Raises:
        RuntimeError: when the kernel returns something that is not one valid solid.
    """
    spheres = [
        cq.Solid.makeSphere(blueprint.ball_mm / 2, angleDegrees1=-90).moved(cq.Location(place))
        for place in blueprint.balls_mm
    ]
    up, radius_mm = cq.Vector(0, 0, 1), blueprint.link_mm / 2
    links = [
        _lying(blueprint, low, high)
        if low[2] == high[2]
        else cq.Solid.makeCylinder(radius_mm, high[2] - low[2], cq.Vector(low), up)
        for low, high in blueprint.bonds_mm()
    ]
    left, front, right, back = blueprint.outline.bounds
    deep = blueprint.ball_mm + blueprint.ridge_mm
    corner = cq.Vector(left - 1, front - 1, -deep)
    below_bed = cq.Solid.makeBox(right - left + 2, back - front + 2, deep, corner)
    solids = spheres[0].fuse(*spheres[1:], *links).cut(below_bed).clean().Solids()
    if len(solids) != 1 or not solids[0].isValid():
        raise RuntimeError(f"the kernel built no valid solid for piece {blueprint.piece}")
    return solids[0]


def _lying(blueprint: BallBlueprint, start: Place, end: Place) -> cq.Solid:
    """A link's circle and the two planes below it, from ball to ball."""
    middle, way = cq.Vector(start), cq.Vector(end) - cq.Vector(start)
    up = cq.Vector(0, 0, 1)
    across = up.cross(way).normalized()
    lean, radius = math.radians(blueprint.lean_degrees), blueprint.link_mm / 2
    right = middle + across * (radius * math.cos(lean)) - up * (radius * math.sin(lean))
    left = middle - across * (radius * math.cos(lean)) - up * (radius * math.sin(lean))
    ridge = middle - up * blueprint.ridge_mm
    edges = [
        cq.Edge.makeThreePointArc(right, middle + up * radius, left),
        cq.Edge.makeLine(left, ridge),
        cq.Edge.makeLine(ridge, right),
    ]
    return cq.Solid.extrudeLinear(cq.Wire.assembleEdges(edges), [], way)
