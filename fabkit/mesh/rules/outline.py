"""Rules on a part's outline: its thickness, clearance, scale, tips and chamfers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

import numpy as np
import shapely
from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.drawing.cells import cell_shape_outline
from fabkit.drawing.outline import DrawingError, corner_angles, rings_mm
from fabkit.mesh.features import Features
from fabkit.mesh.finding import RULES, Finding, check_limits
from fabkit.mesh.identity import ScannedPart
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.section import DOWN, UP, polygons_by_size
from fabkit.model.piece import Form
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import cells_leave_gaps
from fabkit.profiles.profile import Profile

#: Tolerance of a thickness, chamfer, depth or diameter.
TOLERANCE_MM = 0.05
#: Relative tolerance of the grid unit: 0.1 mm on the longest piece of a set.
UNIT_TOLERANCE = 0.002


@dataclass(frozen=True)
class CommonSizes:
    """Sizes that the parts of a set share: the medians of what was measured.

    Attributes:
        corners_mm: how much corners are typically cut back or filled, by their angle in degrees.
        measured: whether the profile is measured on the parts themselves: then typical corners and
            numbers of recesses count as correct, and letters are not compared with drawings.
        recesses: the number that most parts have; None if unknown.
    """

    unit_mm: float
    inset_mm: float
    thickness_mm: float
    corners_mm: Mapping[int, float] = field(default_factory=dict)
    measured: bool = False
    recesses: int | None = None


class Subject(NamedTuple):
    """A flat part under inspection, level on its back, with everything that its rules need."""

    part: Part
    features: Features
    identity: ScannedPart
    common: CommonSizes
    puzzle: PuzzleSet
    profile: Profile


def near(mm: float, off_mm: float = TOLERANCE_MM) -> tuple[float, float]:
    """The range of a length with its tolerance."""
    return max(0.0, mm - off_mm), mm + off_mm


def outline_findings(subject: Subject) -> Iterator[Finding]:
    """All findings on a part's outline, its back and its face."""
    part, features, _, common, _, profile = subject
    rest_mm2 = part.sections.flat(0.0, DOWN).area
    # The rule on an even back reports hollows.
    rest_mm2 += sum(hollow.middle.area for hollow in features.hollows if hollow.below)
    share = rest_mm2 / part.silhouette.area if part.silhouette.area else 0.0
    yield from check_limits("bed-contact", [(share, part.silhouette)], 0.5, unit="")
    deep_mm = part.thickness_mm / 4 if common.measured else math.inf  # that is made hollow
    for rule, nub_mm, opening in (
        ("even-back", features.protrusions_mm[0], "below"),
        ("even-face", features.protrusions_mm[1], "above"),
    ):
        hollows = [hollow for hollow in features.hollows if getattr(hollow, opening)]
        off = [(x.depth_mm, x.middle) for x in hollows if x.depth_mm <= deep_mm]
        off.insert(0, (nub_mm, part.silhouette))
        yield from check_limits(rule, off, maximum=TOLERANCE_MM)
    tilt = part.tilt_degrees
    message = "it lies on its back"
    if tilt > 0.1:
        lies = "on its face" if tilt > 90 else "tilted" if tilt < 80 else "on its side"
        message = f"it lies {lies} in its file; rotate it in the slicer"
    yield Finding("orientation", tilt <= 0.1, tilt, 0.1, "deg", message)
    yield from check_limits("thickness", part.thickness_mm, *near(profile.thickness_mm))
    for rule, height_mm, facing, nominal_mm in (
        ("top-chamfer", part.thickness_mm, UP, profile.top_chamfer_mm),
        ("foot-chamfer", 0.0, DOWN, profile.foot_chamfer_mm),
    ):
        yield from _chamfer(part, rule, part.sections.flat(height_mm, facing), nominal_mm)
    if part.outline is not None:
        yield from _unit(part, part.outline, common, profile)
        least_mm, most_mm = (inset + common.inset_mm for inset in part.outline.edge_insets_mm)
        gap_mm, edges = profile.gap_min_mm, part.silhouette.boundary
        if common.measured:  # a set without clearance is reported once
            gap_mm = min(gap_mm, 2 * common.inset_mm - TOLERANCE_MM)
        yield from check_limits("gap-min", [(least_mm, edges)], gap_mm)
        yield from check_limits("gap-max", [(most_mm, edges)], maximum=profile.gap_max_mm)
        tips = [(mm, place.buffer(profile.unit_mm / 8)) for mm, place in tip_flats(part)]
        yield from check_limits("tip", tips, profile.tip_flat_mm - TOLERANCE_MM)
        yield from _form(subject)


def _chamfer(part: Part, rule: str, flat: BaseGeometry, nominal_mm: float) -> Iterator[Finding]:
    """The finding on the width of a chamfer at the middles of sides, where it deviates most.

    Each side is compared with its own ring of the flat face: the outer one, or that of its hole.
    """
    rims = part.within_rings(flat)
    rings = list(zip(part.within_rings(part.silhouette), rims, strict=True))
    if any(ring.is_empty or rim.is_empty for ring, rim in rings):
        around = "" if rims[0].is_empty else " all around a hole"
        message = f"the {RULES[rule][0]}: there is no flat face{around}"
        yield Finding(rule, False, None, nominal_mm, "mm", message, part.silhouette.boundary)
        return
    widths = [
        (side.distance(rim.boundary), side.buffer(1.0))
        for ring, rim in rings
        for side in edge_midpoints(ring)
    ]
    # Where a flat face ends in a fillet, a little noise in height moves its rim far.
    noise_mm = math.sqrt(2 * nominal_mm * part.sections.noise_mm)
    yield from check_limits(rule, widths, *near(nominal_mm, TOLERANCE_MM + noise_mm))


def edge_midpoints(within: BaseGeometry) -> list[Point]:
    """The middles of sides longer than a fifth of the longest: no fillets or flats of tips."""
    rings = [np.asarray(part.exterior.coords)[:, :2] for part in polygons_by_size(within)]
    sides = [pair for ring in rings for pair in itertools.pairwise(ring)]
    longest = max(math.dist(*side) for side in sides)
    return [Point((a + b) / 2) for a, b in sides if math.dist(a, b) > 0.2 * longest]


def _unit(part: Part, outline: Outline, common: CommonSizes, profile: Profile) -> Iterator[Finding]:
    """The finding on the grid unit: the part's own one if it is a part of another scale.

    If a shape has few sides, a displaced side looks like another scale, too. A part of another
    scale is recognised by its thickness, off by the same factor, or by insets that differ widely;
    if the shape does not determine its unit at all, by its thickness alone.
    """
    room_mm = 2 * float(outline.canonical.area / outline.canonical.length)  # a kind of radius
    larger = 1 + (common.inset_mm - outline.inset_mm) / room_mm
    own_mm = outline.own_unit_mm or common.unit_mm * larger
    scaled_mm = common.thickness_mm * own_mm / common.unit_mm
    limit_mm = 1.5 * UNIT_TOLERANCE * common.thickness_mm
    as_thick = abs(scaled_mm - part.thickness_mm) < limit_mm
    least_mm, most_mm = outline.edge_insets_mm
    apart = outline.own_unit_mm is not None and most_mm - least_mm > 0.1
    unit_mm = own_mm if as_thick or apart else common.unit_mm
    limit = near(profile.unit_mm, profile.unit_mm * UNIT_TOLERANCE)
    yield from check_limits("unit", [(unit_mm, outline.canonical.boundary)], *limit)


class _Corner(NamedTuple):
    """A corner of a drawn outline: its place, the angle of the material in radians, and the
    distance from there to the part's own outline: the amount cut off a convex corner, or filled
    into a concave one."""

    place: Point
    angle: float
    off_mm: float

    @property
    def degrees(self) -> int:
        """The angle of the material."""
        return round(math.degrees(self.angle))


def _corners(canonical: Polygon, area: Polygon) -> list[_Corner]:
    """The corners of an outline as drawn, and how far the measured area is from them."""
    corners = []
    for here, turn in corner_angles(canonical):
        place, outwards = Point(here), turn < math.pi
        off_mm = place.distance(area if outwards else area.boundary)
        corners.append(_Corner(place, turn, off_mm if outwards or area.contains(place) else 0.0))
    return [corner for corner in corners if corner.angle > 0]  # else two of them are one


def typical_corners_mm(parts: Sequence[Part]) -> dict[int, float]:
    """The amounts by which corners of parts are cut back or filled: the median for each angle."""
    by_angle: dict[int, list[float]] = {}
    for part in filter(lambda part: part.outline, parts):
        for corner in _corners(_on_own_sides(part), part.silhouette):
            by_angle.setdefault(corner.degrees, []).append(corner.off_mm)
    return {degrees: median(off) for degrees, off in by_angle.items()}


def tip_flats(part: Part) -> list[tuple[float, Point]]:
    """The widths in mm of the flats at acute tips of a measured part, and where the tips would
    be."""
    corners = _corners(_on_own_sides(part), part.silhouette)
    acute = [corner for corner in corners if corner.degrees < 90]
    return [(2 * tip.off_mm * math.tan(tip.angle / 2), tip.place) for tip in acute]


def _form(subject: Subject) -> Iterator[Finding]:
    """Findings on protrusions from the outline and on dents in it, as distances.

    They are compared with the outline as drawn, fitted to the part's own sides; the position of the
    sides is covered by the gaps. At any height only chamfers may be missing, and nothing may
    protrude.
    """
    part, features, _, common, puzzle, profile = subject
    canonical = _on_own_sides(part)
    usual: list[tuple[_Corner, float]] = []
    if cells_leave_gaps(puzzle, profile):
        assert part.outline is not None
        try:
            form = Form("", part.outline.cells, part.outline.rings)
            canonical = cell_shape_outline(puzzle.lattice, form, profile)
        except DrawingError:
            return
    elif canonical.is_valid:
        # The correct amounts by which corners are cut or filled: tips as in the profile.
        for corner in _corners(canonical, part.silhouette):
            usual_mm = common.corners_mm.get(corner.degrees, 0.0) if common.measured else 0.0
            flat_mm = profile.tip_flat_mm if corner.degrees < 90 else 0.0
            usual.append((corner, max(usual_mm, flat_mm / 2 / math.tan(corner.angle / 2))))
    else:
        return  # sides far from those of the lattice enclose nothing
    inner = [(corner, mm) for corner, mm in usual if mm > 0 and corner.angle > math.pi]
    tips = [(corner, mm) for corner, mm in usual if mm > 0 and corner.angle < math.pi]
    bumps = _off(part.silhouette, canonical, inner)
    bumps += [(corner.off_mm - mm, corner.place) for corner, mm in inner]
    dents: list[tuple[float, BaseGeometry]] = []
    for cut in features.cuts:
        slits = [a for slit in features.slits for other, a in slit.cuts if other is cut]
        material = part.filled(cut.material) - shapely.union_all(slits)
        if cut.inside_mm < 2 * TOLERANCE_MM and not material.is_empty:
            drawn = canonical.buffer(-cut.inside_mm, join_style="mitre", mitre_limit=10)
            dents += _off(drawn, material, tips)
            for corner, mm in tips:
                off_mm = corner.place.distance(material) - mm - cut.inside_mm
                dents.append((off_mm, corner.place))
    for rule, off in (("bump", bumps), ("dent", dents)):
        # Among slices with the same slit, that with the least around it.
        far_mm, place = max(off, key=lambda x: (round(x[0], 2), -x[1].area), default=(0.0, Point()))
        what = f"the {RULES[rule][0]}"
        if far_mm > TOLERANCE_MM:
            what += f" (at {_in_file(part, place)} in the file"
            if place.area:
                long_mm = place.length / 2
                what += f"; {place.area / long_mm:.2f} mm wide, {long_mm:.1f} mm long"
            what += ")"
        where = [(max(0.0, far_mm), place.buffer(1.0))]
        yield from check_limits(rule, where, maximum=TOLERANCE_MM, what=what)


def _in_file(part: Part, place: BaseGeometry) -> str:
    """The coordinates in the file of the vertex that is nearest to a place of a part."""
    vertices = shapely.points(part.vertices[:, :2])
    nearest = part.mesh.vertices[shapely.distance(vertices, place).argmin()]
    return ", ".join(f"{axis} {mm + 0.0:.1f}" for axis, mm in zip("xyz", nearest, strict=True))


def _off(
    area: BaseGeometry, other: BaseGeometry, usual: Sequence[tuple[_Corner, float]]
) -> list[tuple[float, BaseGeometry]]:
    """The polygons of `area` minus `other`, except near corners that are cut or filled by the usual
    amount, and how far their vertices are from `other` and from the border of `area`.

    No point in a slit is far from material, but its end is far from the border.
    """
    past = [other]
    for corner, off_mm in usual:
        half = min(corner.angle, 2 * math.pi - corner.angle) / 2
        reach_mm = off_mm * math.cos(half) / (1 - math.sin(half))
        past.append(corner.place.buffer(reach_mm + TOLERANCE_MM))
    deviations: list[tuple[float, BaseGeometry]] = []
    for rest in polygons_by_size(area.difference(shapely.union_all(past))):
        points = shapely.points(shapely.get_coordinates(rest))
        off = shapely.distance(points, [[other], [area.boundary]])
        deviations.append((float(off.max()), rest))
    return deviations


def _on_own_sides(part: Part) -> Polygon:
    """The outline as drawn, each side moved to its typical position on this part."""
    assert part.outline is not None
    silhouette, share = part.silhouette, np.linspace(0.2, 0.8, 31)
    rings = []
    for ring in rings_mm(orient(part.outline.canonical)):
        starts = np.array(ring)
        along = np.roll(starts, -1, axis=0) - starts
        lengths = np.linalg.norm(along, axis=1, keepdims=True)
        inwards = along[:, ::-1] * (-1, 1) / lengths
        samples = shapely.points(starts[:, None] + share[:, None] * along[:, None])
        away = shapely.distance(samples, silhouette.boundary)
        away = np.where(shapely.contains(silhouette, samples), -away, away)
        # A line through the typical position of each half: rotated slightly, too, like the whole
        # part.
        first, last = (np.median(half, axis=1)[:, None] for half in (away[:, :15], away[:, 16:]))
        lean = (last - first) / (lengths * (share[16:] - share[:15]).mean())
        middles = starts + along / 2 + inwards * (first + last) / 2
        inwards = inwards - lean * along / lengths
        offsets = (inwards * middles).sum(axis=1)
        # Each corner is at the intersection of its two sides.
        lines = np.stack([np.roll(inwards, 1, axis=0), inwards], axis=1)
        places = np.stack([np.roll(offsets, 1), offsets], axis=1)
        rings.append(np.linalg.solve(lines, places[:, :, None])[:, :, 0])
    return Polygon(rings[0], rings[1:])
