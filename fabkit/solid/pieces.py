"""The solid of a flat piece: a chamfered prism, with its stubs, less its recesses and its letter."""

from __future__ import annotations

import itertools
import math

import cadquery as cq
from shapely import Polygon

from fabkit.drawing.cells import Stub
from fabkit.drawing.draft import Blueprint
from fabkit.drawing.glyphs import Contour, Lettering
from fabkit.drawing.magnets import Mark, Recess, Release
from fabkit.drawing.outline import RingMm, rings_mm
from fabkit.model.profile import RIB_COUNT


def letter_prisms(text: Lettering, low_mm: float, high_mm: float) -> list[cq.Solid]:
    """The letter between two heights, one solid for each separate part; contours never cross."""
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


class Workshop:
    """Builds solids, and keeps the cutters that pieces share."""

    def __init__(self) -> None:
        self._cutters: dict[Recess, cq.Shape] = {}

    def build(self, blueprint: Blueprint) -> cq.Solid:
        """The finished solid: lowest at z = 0, letter on top, x and y as in the outline.

        A closed cavity is an inner shell of it.

        Raises:
            RuntimeError: when the kernel returns something that is not one valid solid.
        """
        body: cq.Shape = chamfered_prism(blueprint)
        if blueprint.stubs:
            body = body.fuse(*map(stub_post, blueprint.stubs))
        cutters = [self._cutter(recess) for recess in blueprint.recesses]
        cutters += [
            cutter.moved(cq.Location(cq.Vector(*recess.centre_mm, 0)))
            for recess in blueprint.recesses
            if recess.release
            for cutter in release_cutters(recess.release)
        ]
        cutters += [mark_cutter(recess.mark) for recess in blueprint.recesses if recess.mark]
        cutters += letter_cutters(blueprint)
        if cutters:
            body = body.cut(*cutters)
        solids = body.Solids()
        if len(solids) != 1 or not solids[0].isValid():
            raise RuntimeError(f"the kernel built no valid solid for piece {blueprint.piece}")
        return solids[0]

    def _cutter(self, recess: Recess) -> cq.Shape:
        """The recess's cutter; one is built for all recesses that differ in place only."""
        shape = recess.at_origin()
        if shape not in self._cutters:
            self._cutters[shape] = recess_cutter(shape)
        return self._cutters[shape].moved(cq.Location(cq.Vector(*recess.centre_mm, 0)))


def chamfered_prism(blueprint: Blueprint) -> cq.Solid:
    """The prism with its chamfers, sewn from plane faces.

    Every corner of the outline has its partner on each level, so each side is a quadrilateral.
    This is exact, and 2.7 times as fast as the kernel's own chamfers.
    """
    back_mm = blueprint.back_mm
    levels: list[tuple[float, Polygon]] = [(back_mm, blueprint.foot)]
    if blueprint.foot_chamfer_mm > 0:
        levels.append((back_mm + blueprint.foot_chamfer_mm, blueprint.outline))
    if blueprint.top_chamfer_mm > 0:
        levels.append((blueprint.thickness_mm - blueprint.top_chamfer_mm, blueprint.outline))
    levels.append((blueprint.thickness_mm, blueprint.face))
    faces = [_flat_face(levels[0][1], levels[0][0]), _flat_face(levels[-1][1], levels[-1][0])]
    for (low, below), (high, above) in itertools.pairwise(levels):
        for lower, upper in zip(rings_mm(below), rings_mm(above), strict=True):
            faces += _sides(_at(lower, low), _at(upper, high))
    return cq.Solid.makeSolid(cq.Shell.makeShell(faces))


def stub_post(stub: Stub) -> cq.Shape:
    """A stub from height 0 up to the back, where it is."""
    radius, lead_in = stub.diameter_mm / 2, stub.lead_in_mm
    cone = [(radius - lead_in, 0.0)] if lead_in else []
    post = _revolved([*cone, (radius, lead_in), (radius, stub.height_mm)])
    return post.moved(cq.Location(cq.Vector(*stub.centre_mm, 0)))


def recess_cutter(recess: Recess) -> cq.Shape:
    """What to cut away for a recess, around the z axis."""
    radius = recess.bores.widest_mm / 2
    low, high, mouth = recess.low_mm, recess.high_mm, recess.mouth_mm
    crest = recess.bores.crest_mm
    if crest is not None:
        lead_in = mouth + radius - crest / 2  # the mouth's cone goes on down to the crests
        cone = _revolved([(radius + mouth, low), (crest / 2, low + lead_in)])
        return cone.fuse(_ribbed_prism(radius, crest / 2, recess.rib_width_mm, low, high)).clean()
    if mouth > 0:
        return _revolved([(radius + mouth, low), (radius, low + mouth), (radius, high)])
    return _revolved([(radius, low), (radius, high)])


def release_cutters(release: Release) -> list[cq.Shape]:
    """What to cut away for the hole that pushes a magnet out, around the z axis: a slot, a square
    and a cylinder, each from a little inside of what is open below it."""
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


def mark_cutter(mark: Mark) -> cq.Shape:
    """What to cut away for the mark of a pole: a cylinder where it lies."""
    radius = mark.diameter_mm / 2
    cylinder = _revolved([(radius, mark.low_mm), (radius, mark.high_mm)])
    return cylinder.moved(cq.Location(cq.Vector(*mark.centre_mm, 0)))


def letter_cutters(blueprint: Blueprint) -> list[cq.Shape]:
    """What to cut away for the letter, on one face or both."""
    label = blueprint.label
    if label is None:
        return []
    top = blueprint.thickness_mm
    cutters: list[cq.Shape] = [*letter_prisms(label.front, top - label.depth_mm, top)]
    if label.back is not None:
        cutters += letter_prisms(label.back, 0.0, label.depth_mm)
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
    """The solid between the z axis and a line of (radius, height) points, from low to high."""
    points = [(0.0, profile[0][1]), *profile, (0.0, profile[-1][1])]
    wire = cq.Wire.makePolygon([cq.Vector(r, 0, z) for r, z in points], close=True)
    return cq.Solid.revolve(wire, [], 360.0, cq.Vector(0, 0, 0), cq.Vector(0, 0, 1))


def _ribbed_prism(root: float, crest: float, rib_width: float, low: float, high: float) -> cq.Solid:
    """The bore between crush ribs: arcs on the root circle and on the crest circle in turn,
    joined by radial flanks, so that the ribs take a constant share of every circle."""

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
