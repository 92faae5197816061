"""The solids that a flat piece is built from (chamfered prism, pegs, cutters), and the solid of a ball
piece."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import cadquery as cq
from shapely import Polygon

from fabkit.drawing.ball import BallDrawing, Point3Mm
from fabkit.drawing.cells import Peg
from fabkit.drawing.draft import FlatDrawing
from fabkit.drawing.glyphs import Contour, Lettering
from fabkit.drawing.magnets import PoleMark, Recess, ReleaseHole
from fabkit.drawing.marks import CellMark
from fabkit.drawing.outline import RingMm, rings_mm
from fabkit.drawing.part import PartDrawing
from fabkit.model.piece import CROSS
from fabkit.profiles.profile import RIB_COUNT


def _letter_prisms(text: Lettering, low_mm: float, high_mm: float) -> list[cq.Solid]:
    """Extrude a letter between two heights, one solid for each separate part; contours never cross."""
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


def chamfered_prism(drawing: FlatDrawing) -> cq.Solid:
    """Build the prism with its chamfers, sewn from plane faces.

    Every corner of the outline has a counterpart on each level, so each side is a quadrilateral.
    This is exact, and 2.7 times as fast as the kernel's own chamfers.
    """
    back_mm = drawing.back_mm
    levels: list[tuple[float, Polygon]] = [(back_mm, drawing.foot)]
    if drawing.foot_chamfer_mm > 0:
        levels.append((back_mm + drawing.foot_chamfer_mm, drawing.outline))
    if drawing.top_chamfer_mm > 0:
        levels.append((drawing.thickness_mm - drawing.top_chamfer_mm, drawing.outline))
    levels.append((drawing.thickness_mm, drawing.face))
    faces = [_flat_face(levels[0][1], levels[0][0]), _flat_face(levels[-1][1], levels[-1][0])]
    for (low, below), (high, above) in itertools.pairwise(levels):
        for lower, upper in zip(rings_mm(below), rings_mm(above), strict=True):
            faces += _sides(_at(lower, low), _at(upper, high))
    return cq.Solid.makeSolid(cq.Shell.makeShell(faces))


def peg_post(peg: Peg) -> cq.Shape:
    """Build a peg at its place, from height 0 up to the back."""
    radius, lead_in = peg.diameter_mm / 2, peg.lead_in_mm
    cone = [(radius - lead_in, 0.0)] if lead_in else []
    post = _revolved([*cone, (radius, lead_in), (radius, peg.height_mm)])
    return post.moved(cq.Location(cq.Vector(*peg.centre_mm, 0)))


@lru_cache(maxsize=16)
def recess_cutter(recess: Recess) -> cq.Shape:
    """Build the cutter of a recess, around the z axis."""
    radius = recess.diameters.widest_mm / 2
    low, high, lead_in = recess.low_mm, recess.high_mm, recess.lead_in_mm
    crest = recess.diameters.crest_mm
    if crest is not None:
        cone_height = lead_in + radius - crest / 2  # the cone goes on down to the crests
        lower = _revolved([(radius + lead_in, low), (crest / 2, low + cone_height)])
        return lower.fuse(_ribbed_prism(radius, crest / 2, recess.rib_width_mm, low, high)).clean()
    cone = [(radius + lead_in, low)] if lead_in else []
    return _revolved([*cone, (radius, low + lead_in), (radius, high)])


def release_cutters(release: ReleaseHole) -> list[cq.Shape]:
    """Build the cutters of a push-out hole, around the z axis: a slot, a square and a cylinder, each
    overlapping the one below it."""
    radius, step = release.diameter_mm / 2, release.step_mm
    low, inside = release.low_mm, min(step, 0.1) or 0.1
    cutters: list[cq.Shape] = [
        _revolved([(radius, low + 2 * step - inside), (radius, release.high_mm)])
    ]
    if step:
        end = release.slot_mm / 2
        ends = _revolved([(end, low - inside), (end, low + step)])
        cutters.append(_block(end, radius, low - inside, low + step).intersect(ends))
        cutters.append(_block(radius, radius, low + step - inside, low + 2 * step))
    return cutters


def _block(half_x: float, half_y: float, low: float, high: float) -> cq.Solid:
    corner = cq.Vector(-half_x, -half_y, low)
    return cq.Solid.makeBox(2 * half_x, 2 * half_y, high - low, corner)


def mark_cutter(mark: PoleMark) -> cq.Shape:
    """Build the cutter of a pole mark: a cylinder at its place."""
    radius = mark.diameter_mm / 2
    cylinder = _revolved([(radius, mark.low_mm), (radius, mark.high_mm)])
    return cylinder.moved(cq.Location(cq.Vector(*mark.centre_mm, 0)))


def cell_mark_cutters(mark: CellMark) -> list[cq.Shape]:
    """Build the cutters of a mark of a cell at its place: a cylinder, or two bars that cross."""
    low, high = mark.low_mm, mark.high_mm
    half, half_stroke = mark.width_mm / 2, mark.stroke_mm / 2
    cutters: list[cq.Shape] = [_revolved([(half, low), (half, high)])]
    if mark.look == CROSS:
        sides = (half, half_stroke), (half_stroke, half)
        cutters = [_block(half_x, half_y, low, high) for half_x, half_y in sides]
    return [cutter.moved(cq.Location(cq.Vector(*mark.centre_mm, 0))) for cutter in cutters]


def letter_cutters(drawing: PartDrawing) -> list[cq.Shape]:
    """Build the cutters of a piece's letter, on one face or both, or of a board's title."""
    label, low = drawing.label, drawing.label_low_mm
    if label is None:
        return []
    cutters: list[cq.Shape] = [*_letter_prisms(label.front, low, low + label.depth_mm)]
    if label.back is not None:
        cutters += _letter_prisms(label.back, 0.0, label.depth_mm)
    return cutters


def _flat_face(polygon: Polygon, height: float) -> cq.Face:
    outer, *holes = (cq.Wire.makePolygon(_at(r, height), close=True) for r in rings_mm(polygon))
    return cq.Face.makeFromWires(outer, holes)


def _sides(lower: list[cq.Vector], upper: list[cq.Vector]) -> list[cq.Face]:
    corners = zip(lower, (*lower[1:], lower[0]), (*upper[1:], upper[0]), upper, strict=True)
    return [cq.Face.makeFromWires(cq.Wire.makePolygon(list(quad), close=True)) for quad in corners]


def _at(ring: RingMm, height: float) -> list[cq.Vector]:
    return [cq.Vector(x, y, height) for x, y in ring]


def _revolved(profile: list[tuple[float, float]]) -> cq.Solid:
    """Revolve the area between the z axis and a polyline of (radius, height) points, from low to high."""
    points = [(0.0, profile[0][1]), *profile, (0.0, profile[-1][1])]
    wire = cq.Wire.makePolygon([cq.Vector(r, 0, z) for r, z in points], close=True)
    return cq.Solid.revolve(wire, [], 360.0, cq.Vector(0, 0, 0), cq.Vector(0, 0, 1))


def _ribbed_prism(root: float, crest: float, rib_width: float, low: float, high: float) -> cq.Solid:
    """Build the recess between crush ribs: alternating arcs on the root circle and the crest circle, joined
    by radial flanks, so that the ribs take a constant share of every circle."""

    def arc(radius: float, begin: float, end: float) -> cq.Edge:
        angles = (begin, (begin + end) / 2, end)
        return cq.Edge.makeThreePointArc(*(_polar(radius, angle, low) for angle in angles))

    half_rib = math.asin(rib_width / 2 / root)
    edges = []
    for rib in range(RIB_COUNT):
        middle = 2 * math.pi * rib / RIB_COUNT
        following = middle + 2 * math.pi / RIB_COUNT - half_rib
        begin, end = middle - half_rib, middle + half_rib
        edges += [
            arc(crest, begin, end),
            cq.Edge.makeLine(_polar(crest, end, low), _polar(root, end, low)),
            arc(root, end, following),
            cq.Edge.makeLine(_polar(root, following, low), _polar(crest, following, low)),
        ]
    wire = cq.Wire.assembleEdges(edges)
    return cq.Solid.extrudeLinear(wire, [], cq.Vector(0, 0, high - low))


def _polar(radius: float, angle: float, height: float) -> cq.Vector:
    return cq.Vector(radius * math.cos(angle), radius * math.sin(angle), height)


def build_ball_piece(drawing: BallDrawing) -> cq.Shape:
    """The finished piece, as it is printed; all its surfaces are spheres, cylinders and planes."""
    spheres = [
        cq.Solid.makeSphere(drawing.ball_mm / 2, angleDegrees1=-90).moved(cq.Location(place))
        for place in drawing.balls_mm
    ]
    up = cq.Vector(0, 0, 1)
    radius_mm = drawing.link_mm / 2
    links = [
        _bed_link(drawing, low, high)
        if low[2] == high[2]
        else cq.Solid.makeCylinder(radius_mm, high[2] - low[2], cq.Vector(low), up)
        for low, high in drawing.bonds_mm()
    ]
    left, front, right, back = drawing.outline.bounds
    deep = drawing.ball_mm + drawing.ridge_mm
    corner = cq.Vector(left - 1, front - 1, -deep)
    below_bed = cq.Solid.makeBox(right - left + 2, back - front + 2, deep, corner)
    return spheres[0].fuse(*spheres[1:], *links).cut(below_bed).clean()


def _bed_link(drawing: BallDrawing, start: Point3Mm, end: Point3Mm) -> cq.Solid:
    """Extrude a link's circle and the two planes below it, from ball to ball."""
    middle = cq.Vector(start)
    direction = cq.Vector(end) - middle
    up = cq.Vector(0, 0, 1)
    across = up.cross(direction).normalized()
    lean, radius = math.radians(drawing.lean_degrees), drawing.link_mm / 2
    right = middle + across * (radius * math.cos(lean)) - up * (radius * math.sin(lean))
    left = middle - across * (radius * math.cos(lean)) - up * (radius * math.sin(lean))
    ridge = middle - up * drawing.ridge_mm
    edges = [
        cq.Edge.makeThreePointArc(right, middle + up * radius, left),
        cq.Edge.makeLine(left, ridge),
        cq.Edge.makeLine(ridge, right),
    ]
    return cq.Solid.extrudeLinear(cq.Wire.assembleEdges(edges), [], direction)
