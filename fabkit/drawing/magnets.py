"""Magnets: their recesses, their places in a piece, and which pole of each faces outwards.

When poles alternate, a magnet inserted the wrong way round repels neighbours that it should attract. So
every south pole is marked by a round dimple that is visible when inserting the magnet: in the back beside
an open recess, in the floor of a closed cavity.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key

from shapely import Point, Polygon, affinity, get_coordinates, maximum_inscribed_circle, union_all
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.units import format_mm
from fabkit.drawing.outline import DrawingError, PointMm, canonical_outline, chamfer_outline
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.layers import MARK_DIAMETER_MM, mark_span, recess_span, release_step_mm
from fabkit.profiles.profile import Profile

#: Chords per quarter circle of an arc.
ARC_SEGMENTS = 64
#: Precision of a bisection, in mm.
BISECT_STEP_MM = 0.002

#: Directions in which two magnets are placed on trial, over half a circle.
_DIRECTIONS = 180
#: Added to distances: positions are rounded to a micrometre and arcs are chords.
_SAFETY_MM = 0.0015

#: A magnet with more play than this in a printed hole is not held by it.
MAX_PRESS_PLAY_MM = 0.02


def erode(area: Polygon, distance_mm: float) -> BaseGeometry:
    """Return the points of an area at a distance or more from its boundary.

    Example:
        >>> square = Polygon([(0, 0), (9, 0), (9, 9), (0, 9)])
        >>> [round(value, 1) for value in erode(square, 3.0).bounds]
        [3.0, 3.0, 6.0, 6.0]
    """
    safe_mm = distance_mm * (1 + 1e-4) + _SAFETY_MM
    inner = area.buffer(-safe_mm, quad_segs=ARC_SEGMENTS)
    # GEOS leaves a sliver where an area is only just too narrow; no point of it is far enough.
    parts = [
        part
        for part in getattr(inner, "geoms", [inner])
        if area.boundary.distance(part.representative_point()) >= distance_mm
    ]
    return union_all(parts)


def farthest_pair(
    allowed: BaseGeometry, centroid: Point, farthest_mm: float
) -> list[PointMm] | None:
    """Return two points of a region as far apart as possible, up to a limit; None if there are none.

    They are as symmetric about the centroid as possible.

    Example:
        >>> bar = Polygon([(0, 0), (50, 0), (50, 2), (0, 2)])
        >>> farthest_pair(bar, Point(25, 1), 40.0)
        [(5.0, 1.0), (45.0, 1.0)]
    """
    apart_mm, pair = _most_apart(allowed.convex_hull, math.inf)
    if apart_mm <= farthest_mm:
        return pair
    # Exactly the limit apart: for each direction, the midpoints that keep both ends inside.
    best: tuple[float, list[PointMm]] | None = None
    for step in range(_DIRECTIONS):
        angle = math.pi * step / _DIRECTIONS
        dx, dy = farthest_mm / 2 * math.cos(angle), farthest_mm / 2 * math.sin(angle)
        midpoints = affinity.translate(allowed, dx, dy) & affinity.translate(allowed, -dx, -dy)
        if midpoints.is_empty:
            continue
        middle, _ = nearest_points(midpoints, centroid)
        off_mm = round(middle.distance(centroid), 3)
        if best is None or off_mm < best[0]:
            ends = [Point(middle.x - dx, middle.y - dy), Point(middle.x + dx, middle.y + dy)]
            best = off_mm, [round_point(end) for end in ends]
    if best:
        return best[1]
    # Small islands, none of them that far from another: then less than the limit apart.
    return _most_apart(allowed, farthest_mm)[1]


def _most_apart(area: BaseGeometry, limit_mm: float) -> tuple[float, list[PointMm] | None]:
    """Return the two corners farthest apart among those within a limit, and their distance."""
    corners = sorted({round_point(Point(x, y)) for x, y in get_coordinates(area)})
    pairs = itertools.combinations_with_replacement(corners, 2)
    near = ((round(math.dist(a, b), 6), [a, b]) for a, b in pairs)
    return max((pair for pair in near if pair[0] <= limit_mm), default=(0.0, None))


def round_point(point: Point) -> PointMm:
    """Round a point to the micrometre.

    Example:
        >>> round_point(Point(1.23456, 2))
        (1.235, 2.0)
    """
    return round(point.x, 3), round(point.y, 3)


def bisect_largest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Bisect for the largest value between two that still holds, to a micrometre or two.

    Example:
        >>> round(bisect_largest(lambda value: value < 3, 0.0, 10.0), 2)
        3.0
    """
    while high - low > BISECT_STEP_MM:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


#: A piece this many units long gets two magnets, else one.
TWO_MAGNETS_FROM_UNITS = 3
#: Two magnets are as far apart as the walls allow, up to this many units.
MAX_SPACING_UNITS = 2

#: Smaller magnets are not proposed.
_SMALLEST_MAGNET_MM = 1.0


@dataclass(frozen=True)
class RecessDiameters:
    """The diameters of a recess, in mm.

    Attributes:
        widest_mm: of the cylinder; between the ribs where there are ribs.
        crest_mm: of the circle that touches the crests of the ribs; None without ribs.
    """

    widest_mm: float
    crest_mm: float | None

    @property
    def narrowest_mm(self) -> float:
        """The diameter of the circle that is free all the way."""
        return self.widest_mm if self.crest_mm is None else self.crest_mm


@dataclass(frozen=True)
class PoleMark:
    """A round dimple that marks a south pole facing outwards.

    Attributes:
        centre_mm: seen from the lettered face, in the frame of the outline.
        low_mm: height of its lower end above the back; 0 where it is open there.
        high_mm: height of its upper end above the back.
    """

    centre_mm: PointMm
    low_mm: float
    high_mm: float
    diameter_mm: float


@dataclass(frozen=True)
class ReleaseHole:
    """A round hole from a recess's end to the face, through which a pin pushes the magnet out.

    Attributes:
        low_mm: height of the recess's end above the back.
        high_mm: height of the face above the back.
        step_mm: height of the slot at its beginning, and of the square after it; 0 without these,
            see `fabkit.profiles.layers.release_step_mm`.
        slot_mm: length of the slot, along x.
    """

    diameter_mm: float
    low_mm: float
    high_mm: float
    step_mm: float
    slot_mm: float


@dataclass(frozen=True)
class Recess:
    """One pocket for one magnet.

    Attributes:
        centre_mm: seen from the lettered face, in the frame of the outline.
        low_mm: height of its lower end above the back; 0 where it is open there.
        high_mm: height of its upper end above the back.
        lead_in_mm: 45-degree chamfer at the open end; 0 for a closed cavity.
        rib_width_mm: of each crush rib at its root.
        release: the hole through which its magnet can be pushed out, if any.
        pole: the one that faces outwards, towards the back: ``N``, ``S``, or empty for either.
        mark: the dimple where the magnet goes in; south poles have one when poles alternate.
    """

    centre_mm: PointMm
    low_mm: float
    high_mm: float
    diameters: RecessDiameters
    lead_in_mm: float
    rib_width_mm: float
    release: ReleaseHole | None = None
    pole: str = ""
    mark: PoleMark | None = None

    @property
    def is_open(self) -> bool:
        """Whether the magnet goes in from the back after printing."""
        return self.low_mm == 0

    @property
    def circles(self) -> tuple[tuple[PointMm, float], ...]:
        """Its circles in a drawing, as centres and diameters in mm: the recess, the push-out hole and
        the mark."""
        holes = [(self.centre_mm, self.release.diameter_mm)] if self.release else []
        marks = [(self.mark.centre_mm, self.mark.diameter_mm)] if self.mark else []
        return ((self.centre_mm, self.diameters.widest_mm), *holes, *marks)

    def at_origin(self) -> Recess:
        """Return the same recess centred on the origin, without pole and mark."""
        return replace(self, centre_mm=(0.0, 0.0), pole="", mark=None)


def recess_diameters(profile: Profile) -> RecessDiameters:
    """Return the diameters of a recess for the profile's fit.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> recess_diameters(load_profile()), recess_diameters(load_profile((), ["recess.fit=ribs"]))
        (RecessDiameters(widest_mm=10.1, crest_mm=None), RecessDiameters(widest_mm=10.5, crest_mm=9.9))
    """
    magnet_mm = profile.magnet_diameter_mm
    added_mm = {
        "press": profile.press_mm,
        "glue": profile.glue_mm,
        "ribs": profile.rib_root_mm,
        "embedded": profile.embedded_mm,
    }[profile.fit]
    crest_mm = round(magnet_mm + profile.rib_crest_mm, 6) if profile.fit == "ribs" else None
    return RecessDiameters(round(magnet_mm + added_mm, 6), crest_mm)


def magnet_count(canonical: Polygon, unit_mm: float) -> int:
    """Return the number of magnets of a piece with a canonical outline.

    Example:
        >>> from shapely import box
        >>> magnet_count(box(0, 0, 40, 20), 20.0), magnet_count(box(0, 0, 20, 60), 20.0)
        (1, 2)
    """
    left, bottom, right, top = canonical.bounds
    long_units = max(right - left, top - bottom) / unit_mm
    return 2 if long_units > TWO_MAGNETS_FROM_UNITS - 1e-6 else 1


def _refuse_loose_press(profile: Profile) -> None:
    """Refuse holes of a calibrated printer, whose width is known, that lose a magnet."""
    play_mm = round(profile.press_mm - profile.hole_loss_mm, 3)
    if profile.fit == "press" and profile.hole_sd_mm and play_mm > MAX_PRESS_PLAY_MM:
        raise DrawingError(
            f"recess.press {format_mm(profile.press_mm)} prints holes {format_mm(play_mm)} wider than "
            "the magnet on this printer, which lose it; calibrate again, or choose "
            f"{format_mm(round(profile.hole_loss_mm, 3))} or less, or recess.fit glue or ribs"
        )


def place_recesses(
    outline: Polygon,
    foot: Polygon,
    count: int,
    profile: Profile,
    blocked: BaseGeometry | None = None,
) -> tuple[Recess, ...]:
    """Place the magnets of a piece, with a wall to areas that are `blocked`.

    One magnet is as near to the piece's centroid as the walls allow; two are as far apart as the
    walls allow, up to `MAX_SPACING_UNITS`, and then as symmetric about the centroid as possible.

    The wall at the bed is measured from `foot`, the outline of the back inside the foot chamfer: in a
    concave corner a chamfer cuts deeper than its width.

    Raises:
        DrawingError: when the magnet does not fit; with the actual and the required wall, and the
            largest magnet that would fit; or when it is pressed in, and would not hold.
    """
    _refuse_loose_press(profile)
    span = recess_span(profile)
    diameters = recess_diameters(profile)
    lead_in_mm = profile.lead_in_mm
    # The narrowest section over the recess's height, if a chamfer reaches that far.
    chamfer_from_mm = profile.thickness_mm - profile.top_chamfer_mm
    into_foot_mm = profile.foot_chamfer_mm - (span.low_mm or lead_in_mm)
    inset_mm = max(0.0, into_foot_mm, span.high_mm - chamfer_from_mm)
    beside_recess = chamfer_outline(outline, inset_mm)
    if blocked is not None:
        beside_recess, foot = beside_recess.difference(blocked), foot.difference(blocked)

    def centres(
        recess_mm: float, wall_mm: float, bed_wall_mm: float | None
    ) -> list[PointMm] | None:
        """Return the best centres for a recess and walls, if any; None ignores the wall at the bed."""
        between_mm = wall_mm
        allowed = erode(beside_recess, recess_mm / 2 + wall_mm)
        if bed_wall_mm is not None and not profile.embedded:
            allowed = allowed.intersection(erode(foot, recess_mm / 2 + lead_in_mm + bed_wall_mm))
            between_mm = max(wall_mm, 2 * lead_in_mm + bed_wall_mm)
        if allowed.is_empty:
            return None
        if count == 1:
            return [round_point(nearest_points(allowed, outline.centroid)[0])]
        pair = farthest_pair(allowed, outline.centroid, MAX_SPACING_UNITS * profile.unit_mm)
        return pair if pair and math.dist(*pair) >= recess_mm + between_mm else None

    centres_mm = centres(diameters.widest_mm, profile.wall_mm, profile.bed_wall_mm)
    if centres_mm is None:
        widest_mm = maximum_inscribed_circle(outline).length
        magnets = "two magnets" if count == 2 else "a magnet"
        raise DrawingError(f"{magnets} of {_fit_error(centres, widest_mm, profile)}")
    release = None
    if profile.release_mm:
        release = ReleaseHole(
            diameter_mm=profile.release_mm,
            low_mm=span.high_mm,
            high_mm=profile.thickness_mm,
            step_mm=release_step_mm(profile),
            slot_mm=diameters.narrowest_mm,
        )
    recess = Recess(
        centre_mm=(0.0, 0.0),
        low_mm=span.low_mm,
        high_mm=span.high_mm,
        diameters=diameters,
        lead_in_mm=0.0 if profile.embedded else lead_in_mm,
        rib_width_mm=profile.rib_width_mm,
        release=release,
    )
    return tuple(replace(recess, centre_mm=centre) for centre in sorted(centres_mm))


def _fit_error(
    centres: Callable[[float, float, float | None], list[PointMm] | None],
    widest_mm: float,
    profile: Profile,
) -> str:
    """Return why the profile's magnet does not fit a piece, and the largest one that does."""
    magnet_mm = profile.magnet_diameter_mm
    recess_mm = recess_diameters(profile).widest_mm

    def wall_there(holds: Callable[[float], object]) -> float:
        return bisect_largest(lambda wall: holds(wall) is not None, -recess_mm / 2, widest_mm)

    there_mm = wall_there(lambda wall: centres(recess_mm, wall, None))
    need_mm = profile.wall_mm
    key = "recess.wall"
    if there_mm >= need_mm - BISECT_STEP_MM:
        wall_mm = min(there_mm, need_mm)
        need_mm = profile.bed_wall_mm
        key = "recess.bed_wall"
        there_mm = wall_there(lambda bed_wall: centres(recess_mm, wall_mm, bed_wall))
    problem = f"break through the side by {format_mm(-there_mm, 1)}"
    if there_mm > 0:
        # With as many digits as it takes to see that it is less.
        there = format_mm(there_mm, 2)
        if there == format_mm(need_mm):
            there = format_mm(math.floor(there_mm * 1000) / 1000)
        problem = f"leave a wall of {there}"

    def fits(diameter_mm: float) -> bool:
        recess_mm = recess_diameters(replace(profile, magnet_diameter_mm=diameter_mm)).widest_mm
        return centres(recess_mm, profile.wall_mm, profile.bed_wall_mm) is not None

    largest_mm = math.floor(bisect_largest(fits, 0.0, magnet_mm) * 10 + 1e-6) / 10
    remedy = (
        f"the largest that fits is {format_mm(largest_mm)} across; choose that, a larger unit or "
        "recess.fit none"
    )
    if largest_mm < _SMALLEST_MAGNET_MM:
        remedy = "no magnet fits here, choose a larger unit or recess.fit none"
    return (
        f"{magnet_mm:g} x {format_mm(profile.magnet_height_mm)} (recess {format_mm(recess_mm)}) would "
        f"{problem}, and {key} requires a wall of {format_mm(need_mm)}; {remedy}"
    )


#: Two magnets with a horizontal distance below this, in grid units, are above each other.
_ABOVE_UNITS = 0.05
#: Distances from a recess that differ by less than this (mm) are equal.
_AS_NEAR_MM = 0.01


def poles(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> tuple[str, ...]:
    """Return which pole of each magnet of a piece faces outwards, from left to right.

    Alternating means: north, south, north … through all magnets of the set, piece after piece, so
    that their numbers differ by one at most. The number of magnets in the preceding pieces depends
    only on their drawings.

    Returns:
        ``N``, ``S``, or empty for either, once for each magnet.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> puzzle, profile = load_set("fridgeiq"), load_profile((), ["magnet.polarity=alternating"])
        >>> [poles(puzzle, piece, profile) for piece in puzzle.pieces[:5]]
        [('N',), ('S',), ('N',), ('S', 'N'), ('S',)]
    """

    def magnets(other_piece: Piece) -> int:
        return magnet_count(canonical_outline(puzzle.lattice, other_piece.forms[0].rings, 1.0), 1.0)

    count = magnets(piece)
    if profile.polarity != "alternating":
        return count * ("N" if profile.polarity == "same" else "",)
    earlier = itertools.takewhile(lambda other: other.id != piece.id, puzzle.pieces)
    before = sum(map(magnets, earlier))
    return tuple("NS"[(before + number) % 2] for number in range(count))


def left_to_right_order(centres: Sequence[PointMm], unit_mm: float) -> list[int]:
    """Return the order of magnets from left to right, and from below if they are above each other.

    A tolerance on "above each other" gives drawings and meshes the same order.

    Example:
        >>> left_to_right_order([(30.0, 5.0), (10.0, 9.0)], 20.0)
        [1, 0]
        >>> left_to_right_order([(10.0, 9.0), (10.001, 5.0)], 20.0)
        [1, 0]
    """

    def compare(first: int, second: int) -> int:
        aside = centres[first][0] - centres[second][0]
        up = centres[first][1] - centres[second][1]
        later_by = up if abs(aside) < _ABOVE_UNITS * unit_mm else aside
        return (later_by > 0) - (later_by < 0)

    return sorted(range(len(centres)), key=cmp_to_key(compare))


def assign_poles(
    recesses: Sequence[Recess], pole_sequence: Sequence[str], foot: Polygon, profile: Profile
) -> tuple[Recess, ...]:
    """Give recesses their poles, from left to right, and marks where poles alternate and the south pole
    faces outwards.

    Raises:
        DrawingError: when there is no room in the back for a mark beside an open recess.
    """
    marked = list(recesses)
    order = left_to_right_order([recess.centre_mm for recess in recesses], profile.unit_mm)
    for index, pole in zip(order, pole_sequence, strict=True):
        recess = recesses[index]
        mark = None
        if pole == "S" and profile.polarity == "alternating":
            centre = recess.centre_mm
            if recess.is_open:
                centre = _mark_centre(recess, recesses, foot, profile)
            span = mark_span(profile)
            mark = PoleMark(centre, span.low_mm, span.high_mm, MARK_DIAMETER_MM)
        marked[index] = replace(recess, pole=pole, mark=mark)
    return tuple(marked)


def _mark_centre(
    recess: Recess, recesses: Sequence[Recess], foot: Polygon, profile: Profile
) -> PointMm:
    """Return the place for a mark in the back nearest to its recess, with a wall all around.

    It is nearer to this recess than to any other. Of equally near places, it is the one farthest from
    the other recess, and of these the lowest.
    """
    wall_mm = profile.bed_wall_mm
    others = [Point(other.centre_mm) for other in recesses if other is not recess]
    room = erode(foot, MARK_DIAMETER_MM / 2 + wall_mm)
    middle = Point(recess.centre_mm)
    for other in recesses:
        reach_mm = other.diameters.widest_mm / 2 + other.lead_in_mm + wall_mm + MARK_DIAMETER_MM / 2
        # A polygon's sides are inside the circle: enlarged so that none is nearer.
        disc = Point(other.centre_mm).buffer(reach_mm * (1 + 1e-4) + 0.002, ARC_SEGMENTS)
        room = room.difference(disc)
    near = [Point(x, y) for x, y in get_coordinates(room)]
    near += [] if room.is_empty else [nearest_points(room, middle)[0]]
    nearest_mm = min((point.distance(middle) for point in near), default=0.0)
    near = [point for point in near if point.distance(middle) < nearest_mm + _AS_NEAR_MM]

    def off_others(place: Point) -> float:
        return round(min((place.distance(other) for other in others), default=0.0), 2)

    near.sort(key=lambda point: (-off_others(point), *round_point(point)[::-1]))
    open_mm = recess.diameters.widest_mm + 2 * recess.lead_in_mm
    if not near or (others and off_others(near[0]) < nearest_mm + _AS_NEAR_MM):
        raise DrawingError(
            f"there is no room in the back for the mark of a south pole, {format_mm(MARK_DIAMETER_MM)} "
            f"across, beside a recess that opens to {format_mm(open_mm)}: recess.bed_wall asks "
            f"for {format_mm(wall_mm)} around it; choose a smaller magnet or bed_wall, a larger unit, "
            "or another magnet.polarity"
        )
    return round_point(near[0])
