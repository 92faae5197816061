"""Rules on a part's outline: its thickness, clearance, scale, tips and chamfers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np
import shapely
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.drawing.cells import celled_outline
from fabkit.drawing.outline import BlueprintError, angle, rings_mm, triples
from fabkit.mesh.features import Features
from fabkit.mesh.finding import Finding, at_least, at_most, between
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.section import DOWN, UP, parts
from fabkit.model.accessory import has_stubs
from fabkit.model.piece import Form
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: A thickness, chamfer, depth or bore may be off by this much.
TOLERANCE_MM = 0.05
#: The grid unit may be off by this part: 0.1 mm on the longest piece of a set.
UNIT_TOLERANCE = 0.002
#: How much of its outline a part must rest on.
_RESTS = 0.5
#: How nearly a part must lie on its back in its file.
_TILT_DEGREES = 0.1
#: Sides shorter than this part of the longest one are roundings and flats of tips.
_SIDE = 0.2
#: Insets of one part that differ by more than this are far apart, in mm.
_INSETS_APART_MM = 0.1
#: How large a place is marked, in mm.
_MARK_MM = 1.0
#: Where along a side its place is measured, as parts of its length.
_SAMPLES = np.linspace(0.2, 0.8, 31)
#: How far behind its end a tip's width is measured.
_BEHIND_MM = 0.3


@dataclass(frozen=True)
class Common:
    """What the parts of a set have in common, measured on them.

    Attributes:
        unit_mm: the grid unit.
        inset_mm: the middle one of the parts' insets.
        thickness_mm: the middle one of their thicknesses.
        corners_mm: by how much corners are usually cut back or filled, by their angle in degrees.
        measured: whether the profile is none that was asked for, but what the parts themselves
            show: then corners and numbers of recesses that are usual are right, and letters are
            however they are.
        recesses: how many most parts have; None when that is not known.
    """

    unit_mm: float
    inset_mm: float
    thickness_mm: float
    corners_mm: Mapping[int, float] = field(default_factory=dict)
    measured: bool = False
    recesses: int | None = None


def outline_findings(
    part: Part, found: Features, common: Common, puzzle: PuzzleSet, profile: Profile
) -> Iterator[Finding]:
    """All findings on a part's outline, its back and its face."""
    yield _flat_back(part, found)
    yield from _even(part, found, common)
    yield _tilt(part)
    size = (profile.thickness_mm - TOLERANCE_MM, profile.thickness_mm + TOLERANCE_MM)
    yield between("thickness", part.thickness_mm, size, "mm", "the thickness")
    yield from _chamfers(part, profile)
    if part.outline is not None:
        yield _unit(part, part.outline, common, profile)
        yield from _gaps(part, part.outline, common, profile)
        yield from _tips(part, profile)
        yield from _form(part, found, common, puzzle, profile)


def _flat_back(part: Part, found: Features) -> Finding:
    rest_mm2 = part.sections.flat(0.0, DOWN).area
    rest_mm2 += sum(hollow.middle.area for hollow in found.hollows if hollow.below)  # told apart
    share = rest_mm2 / part.shadow.area if part.shadow.area else 0.0
    what = "the part of the outline that rests on the bed"
    return at_least("flat-back", share, _RESTS, "", what, None if share >= _RESTS else part.shadow)


def _tilt(part: Part) -> Finding:
    tilt = part.tilt_degrees
    lies = "on its face" if tilt > 90 else "tilted" if tilt < 80 else "on its side"
    ok = tilt <= _TILT_DEGREES
    message = "it lies on its back" if ok else f"it lies {lies} in its file; turn it in the slicer"
    return Finding("lies-on-back", ok, tilt, _TILT_DEGREES, "deg", message)


def _chamfers(part: Part, profile: Profile) -> Iterator[Finding]:
    """How wide the chamfers are beside the middle of each side, where they are farthest off.

    Each side is held against its own ring of the flat face: the outer one, or that of its hole.
    """
    ends = (
        (
            "top-chamfer",
            part.thickness_mm,
            UP,
            profile.top_chamfer_mm,
            "the chamfer around the face",
        ),
        ("foot-chamfer", 0.0, DOWN, profile.foot_chamfer_mm, "the chamfer around the back"),
    )
    outline = part.within_rings(part.shadow)
    for rule, height_mm, facing, asked_mm, what in ends:
        flat = part.within_rings(part.sections.flat(height_mm, facing))
        if outline[0].is_empty or flat[0].is_empty:
            yield Finding(rule, False, None, asked_mm, "mm", f"{what}: there is no flat face")
            continue
        rings = list(zip(outline, flat, strict=True))
        if any(ring.is_empty or rim.is_empty for ring, rim in rings):
            message = f"{what}: there is no flat face all around a hole"
            yield Finding(rule, False, None, asked_mm, "mm", message, part.shadow.boundary)
            continue
        widths = [
            (side.distance(rim.boundary), side)
            for ring, rim in rings
            for side in middles_of_sides(ring)
        ]
        width_mm, side = max(widths, key=lambda one: abs(one[0] - asked_mm))
        limit = (max(0.0, asked_mm - TOLERANCE_MM), asked_mm + TOLERANCE_MM)
        yield between(rule, width_mm, limit, "mm", what, side.buffer(_MARK_MM))


def middles_of_sides(within: BaseGeometry) -> list[Point]:
    """The middles of the long sides of a ring; roundings and flats of tips are no sides."""
    rings = [np.asarray(part.exterior.coords)[:, :2] for part in parts(within)]
    sides = [pair for ring in rings for pair in itertools.pairwise(ring)]
    longest = max(float(np.linalg.norm(b - a)) for a, b in sides)
    return [Point((a + b) / 2) for a, b in sides if np.linalg.norm(b - a) > _SIDE * longest]


def _unit(part: Part, outline: Outline, common: Common, profile: Profile) -> Finding:
    """The grid unit, by what the part shows on its own if it is a part of another scale.

    A side that is moved looks like another scale as well, where a shape has few sides. A part of
    another scale is told from that by its thickness, off by the same factor, or by insets that
    are far apart; where the shape does not tell its unit at all, by its thickness alone.
    """
    room_mm = 2 * float(outline.canonical.area / outline.canonical.length)  # the radius, so to say
    own_mm = outline.own_unit_mm or common.unit_mm * (
        1 + (common.inset_mm - outline.inset_mm) / room_mm
    )
    thicker = part.thickness_mm / common.thickness_mm
    as_thick = abs(own_mm / common.unit_mm - thicker) < 1.5 * UNIT_TOLERANCE
    least_mm, most_mm = outline.edge_insets_mm
    apart = outline.own_unit_mm is not None and most_mm - least_mm > _INSETS_APART_MM
    unit_mm = own_mm if as_thick or apart else common.unit_mm
    limit = profile.unit_mm * (1 - UNIT_TOLERANCE), profile.unit_mm * (1 + UNIT_TOLERANCE)
    return between("unit", unit_mm, limit, "mm", "the grid unit", outline.canonical.boundary)


def _gaps(part: Part, outline: Outline, common: Common, profile: Profile) -> Iterator[Finding]:
    """The gaps that the part's edges leave to another one of the set's usual inset."""
    least_mm, most_mm = (inset + common.inset_mm for inset in outline.edge_insets_mm)
    where, neighbour = part.shadow.boundary, "gap to a usual neighbour"
    asked_mm = profile.gap_min_mm
    if common.measured:  # where the set has no clearance at all, that is said once, of the set
        asked_mm = min(asked_mm, 2 * common.inset_mm - TOLERANCE_MM)
    yield at_least("gap-least", least_mm, asked_mm, "mm", f"the least {neighbour}", where)
    yield at_most("gap-most", most_mm, profile.gap_max_mm, "mm", f"the greatest {neighbour}", where)


def _even(part: Part, found: Features, common: Common) -> Iterator[Finding]:
    """How far something stands out of back and face, or how deep they are hollowed."""
    for rule, nub_mm, on_back in zip(
        ("even-back", "even-face"), found.nubs_mm, (True, False), strict=True
    ):
        worst_mm, where, name = nub_mm, part.shadow, "back" if on_back else "face"
        for hollow in found.hollows:
            deep = common.measured and hollow.depth_mm > part.thickness_mm / 4  # made hollow
            if (
                (hollow.below if on_back else hollow.above)
                and not deep
                and hollow.depth_mm > worst_mm
            ):
                worst_mm, where = hollow.depth_mm, hollow.middle
        yield at_most(rule, worst_mm, TOLERANCE_MM, "mm", f"the unevenness of the {name}", where)


@dataclass(frozen=True)
class Corner:
    """A corner of a drawn outline.

    Attributes:
        place: where it is.
        degrees: the angle of the material.
        off_mm: how far it is from there to the part's own outline, along neither side: what was
            cut off a corner that points outwards, or filled into one that points inwards.
    """

    place: Point
    degrees: int
    off_mm: float

    def near(self, off_mm: float) -> BaseGeometry:
        """Where an arc or a flat that takes or fills so much of the corner changes the outline."""
        half = math.radians(min(self.degrees, 360 - self.degrees) / 2)
        reach_mm = off_mm * math.cos(half) / (1 - math.sin(half))
        return self.place.buffer(reach_mm + TOLERANCE_MM)


def usual_corners_mm(parts: Sequence[Part]) -> dict[int, float]:
    """By how much the corners of parts are cut back or filled, the middle one of each angle."""
    by_angle: dict[int, list[float]] = {}
    for part in parts:
        if part.outline is not None:
            for corner in _corners(_on_own_sides(part), part.shadow):
                by_angle.setdefault(corner.degrees, []).append(corner.off_mm)
    return {degrees: median(off) for degrees, off in by_angle.items()}


def _form(
    part: Part, found: Features, common: Common, puzzle: PuzzleSet, profile: Profile
) -> Iterator[Finding]:
    """What sticks out of the outline, and what is missing from it, as distances.

    They are held against the outline as drawn, laid on the part's own sides: how far these lie
    from where they should is told by the gaps. Nothing more than chamfers is to be missing at
    any height, and nothing at all is to stick out. Tips are cut as the profile says.
    """
    drawn = _drawn(part, puzzle, profile)
    if drawn is None or not drawn.is_valid:
        return  # sides that are nowhere near the lattice's enclose nothing
    celled = has_stubs(puzzle, profile) and profile.cell_shape != "hexagon"
    corners = [] if celled else _corners(drawn, part.shadow)
    right = {one: _right_corner_mm(one, common, profile) for one in corners}
    outside = part.shadow.difference(drawn)
    bump, where = _farthest(outside, drawn, [c for c in corners if c.degrees > 180], right)
    yield at_most("bump", bump, TOLERANCE_MM, "mm", "what sticks out of the outline", where)
    dents: list[tuple[float, BaseGeometry | None]] = [(0.0, None)]
    pointed = [corner for corner in corners if corner.degrees < 180]
    for cut in found.cuts:
        if cut.inside_mm < 2 * TOLERANCE_MM:
            material = part.filled(cut.material)
            dent, where = _farthest(drawn.difference(material), material, pointed, right)
            dents.append((dent - cut.inside_mm, where))
    dent, where = max(dents, key=lambda one: one[0])
    yield at_most("dent", dent, TOLERANCE_MM, "mm", "what is missing from the outline", where)


def _drawn(part: Part, puzzle: PuzzleSet, profile: Profile) -> Polygon | None:
    assert part.outline is not None
    if not has_stubs(puzzle, profile) or profile.cell_shape == "hexagon":
        return _on_own_sides(part)
    form = Form("", part.outline.cells, part.outline.rings)
    try:
        return celled_outline(puzzle.lattice, form, profile)
    except BlueprintError:
        return None


def _right_corner_mm(corner: Corner, common: Common, profile: Profile) -> float:
    usual_mm = common.corners_mm.get(corner.degrees, 0.0) if common.measured else 0.0
    if corner.degrees < 90:
        return max(usual_mm, profile.tip_flat_mm / 2 / math.tan(math.radians(corner.degrees / 2)))
    return usual_mm


def _farthest(
    off: BaseGeometry,
    other: BaseGeometry,
    corners: Sequence[Corner],
    right: Mapping[Corner, float],
) -> tuple[float, BaseGeometry | None]:
    """How far what is off reaches away from the other area, and where; what corners are right to
    have is looked past."""
    if other.is_empty:
        return 0.0, None
    expected = [corner for corner in corners if right[corner] > 0]
    off = off.difference(shapely.union_all([corner.near(right[corner]) for corner in expected]))
    found = [
        (corner.place.distance(other) - right[corner], corner.place)
        for corner in expected
        if corner.degrees < 180
    ]
    found += [
        (corner.off_mm - right[corner], corner.place) for corner in expected if corner.degrees > 180
    ]
    points = shapely.points(shapely.get_coordinates(off))
    found += zip(shapely.distance(points, other).tolist(), points, strict=True)
    far_mm, place = max(found, key=lambda one: one[0], default=(0.0, None))
    return max(0.0, far_mm), place.buffer(_MARK_MM) if place is not None else None


def _on_own_sides(part: Part) -> Polygon:
    """The outline as drawn, each side moved to where most of it lies on this part."""
    assert part.outline is not None
    seen = part.shadow
    rings = []
    for ring in rings_mm(orient(part.outline.canonical)):
        starts = np.array(ring)
        along = np.roll(starts, -1, axis=0) - starts
        lengths = np.linalg.norm(along, axis=1)
        inwards = np.column_stack([-along[:, 1], along[:, 0]]) / lengths[:, None]
        samples = shapely.points(starts[:, None] + _SAMPLES[:, None] * along[:, None])
        away = shapely.distance(samples, seen.boundary)
        away = np.where(shapely.contains(seen, samples), -away, away)
        # A line through where most of each half lies: turned a little, too, as is the whole part.
        half = len(_SAMPLES) // 2
        insets = np.median(away[:, :half], axis=1), np.median(away[:, -half:], axis=1)
        apart_mm = lengths * (_SAMPLES[-half:].mean() - _SAMPLES[:half].mean())
        lean = ((insets[1] - insets[0]) / apart_mm)[:, None]
        middles = starts + along / 2 + inwards * ((insets[0] + insets[1]) / 2)[:, None]
        inwards = inwards - lean * along / lengths[:, None]
        offsets = (inwards * middles).sum(axis=1)
        # Each corner is where its two sides meet now.
        lines = np.stack([np.roll(inwards, 1, axis=0), inwards], axis=1)
        places = np.stack([np.roll(offsets, 1), offsets], axis=1)
        rings.append(np.linalg.solve(lines, places[:, :, None])[:, :, 0])
    return Polygon(rings[0], rings[1:])


def _corners(drawn: Polygon, seen: Polygon) -> list[Corner]:
    found = []
    for ring in rings_mm(orient(drawn)):
        for before, here, after in triples(ring):
            place, degrees = Point(here), round(math.degrees(angle(before, here, after)))
            other = seen if degrees < 180 else seen.boundary
            off_mm = place.distance(other) if degrees < 180 or seen.contains(place) else 0.0
            found.append(Corner(place, degrees, float(off_mm)))
    return found


def flats_of_tips(part: Part) -> list[tuple[float, np.ndarray]]:
    """The widths in mm of the flats to which acute tips are cut, and where the tips would be.

    They are measured a little behind their end, less what the sides open up until there: so a
    rounded tip has a width, too.
    """
    return [
        (_width_at_tip(part.shadow, tip, sharp, inwards), tip)
        for tip, sharp, inwards in (_acute_corners(part.outline.canonical) if part.outline else ())
    ]


def _tips(part: Part, profile: Profile) -> Iterator[Finding]:
    """The narrowest flat of a tip."""
    widths = flats_of_tips(part)
    if widths:
        width_mm, tip = min(widths, key=lambda one: one[0])
        asked_mm = profile.tip_flat_mm - TOLERANCE_MM
        place = Point(tip).buffer(profile.unit_mm / 8)
        yield at_least("tip", width_mm, asked_mm, "mm", "the flat of the sharpest tip", place)


def _acute_corners(outline: Polygon) -> Iterator[tuple[np.ndarray, float, np.ndarray]]:
    """The corners of less than a right angle: where, the angle, and the direction inwards."""
    for ring in (orient(outline).exterior, *orient(outline).interiors):
        points = np.asarray(ring.coords)[:-1, :2]
        for before, here, after in zip(
            np.roll(points, 1, axis=0), points, np.roll(points, -1, axis=0), strict=True
        ):
            back = (before - here) / np.linalg.norm(before - here)
            on = (after - here) / np.linalg.norm(after - here)
            if on[0] * back[1] > on[1] * back[0] and on @ back > 1e-6:
                yield here, math.acos(float(on @ back)), (on + back) / np.linalg.norm(on + back)


def _width_at_tip(seen: Polygon, tip: np.ndarray, angle: float, inwards: np.ndarray) -> float:
    across = np.array([-inwards[1], inwards[0]])
    far = 10.0 * _BEHIND_MM + 5.0
    middle = LineString([tip, tip + far * inwards]).intersection(seen)
    if middle.is_empty:
        return 0.0
    end_mm = Point(tip).distance(middle) + _BEHIND_MM
    at = tip + end_mm * inwards
    cut = LineString([at - far * across, at + far * across]).intersection(seen)
    pieces = [one for one in getattr(cut, "geoms", [cut]) if one.distance(Point(at)) < 1e-6]
    return float(sum(one.length for one in pieces)) - 2 * _BEHIND_MM * math.tan(angle / 2)
