"""Poles: which one of each magnet shows outwards, and the mark that says so on the piece.

When poles alternate, a magnet that is put in the wrong way round repels where it should hold. So
every south pole has a round dimple, where one sees it while putting the magnet in: in the back
beside an open recess, in the floor of a closed cavity.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cmp_to_key

from shapely import Point, Polygon, get_coordinates
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.units import format_mm
from fabkit.drawing.printed import BlueprintError, PointMm, canonical_outline
from fabkit.drawing.recess import Mark, Recess, length_units, magnet_count
from fabkit.drawing.spacing import ARC_SEGMENTS, eroded, rounded
from fabkit.model.layers import MARK_DIAMETER_MM, mark_span
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: Two magnets less than this part of a grid unit apart from left to right lie above each other.
_ABOVE_UNITS = 0.05
#: Places whose distances from a recess differ by less than this (mm) are equally near.
_AS_NEAR_MM = 0.01


def poles(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> tuple[str, ...]:
    """Which pole of each magnet of a piece shows outwards, from left to right.

    In turn means: north, south, north … through all magnets of the set, piece after piece, so
    that in all there is at most one more of the one than of the other. How many magnets the
    pieces before this one have depends on their drawings alone.

    Args:
        puzzle: gives the order of the pieces.
        piece: one of its pieces.
        profile: says whether poles alternate.

    Returns:
        ``N``, ``S``, or nothing for either, once for each magnet.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> puzzle, profile = load_set("fridgeiq"), load_profile((), ["magnet.polarity=alternating"])
        >>> [poles(puzzle, piece, profile) for piece in puzzle.pieces[:5]]
        [('N',), ('S',), ('N',), ('S', 'N'), ('S',)]
    """
    count = _magnets(puzzle, piece)
    if profile.polarity != "alternating":
        return count * ("N" if profile.polarity == "same" else "",)
    earlier = itertools.takewhile(lambda one: one.id != piece.id, puzzle.pieces)
    before = sum(_magnets(puzzle, one) for one in earlier)
    return tuple("NS"[(before + number) % 2] for number in range(count))


def _magnets(puzzle: PuzzleSet, piece: Piece) -> int:
    drawn = canonical_outline(puzzle.lattice, piece.forms[0].rings, 1.0)
    return magnet_count(length_units(drawn, 1.0))


def left_to_right(centres: Sequence[PointMm], unit_mm: float) -> list[int]:
    """The order of magnets from left to right, of those above each other from below.

    Magnets that lie above each other but for a rounding are told from below, so that drawings
    and meshes have them in the same order.

    Args:
        centres: one or two of them, on a piece as it is drawn.
        unit_mm: length of a grid unit.

    Returns:
        Positions in ``centres``.

    Example:
        >>> left_to_right([(30.0, 5.0), (10.0, 9.0)], 20.0)
        [1, 0]
        >>> left_to_right([(10.0, 9.0), (10.001, 5.0)], 20.0)
        [1, 0]
    """

    def compare(one: int, other: int) -> int:
        aside, up = (centres[one][axis] - centres[other][axis] for axis in (0, 1))
        later_by = up if abs(aside) < _ABOVE_UNITS * unit_mm else aside
        return (later_by > 0) - (later_by < 0)

    return sorted(range(len(centres)), key=cmp_to_key(compare))


def with_poles(
    recesses: Sequence[Recess], in_turn: Sequence[str], foot: Polygon, profile: Profile
) -> tuple[Recess, ...]:
    """Recesses with their poles, and marks where poles alternate and the south pole shows.

    Args:
        recesses: of one piece.
        in_turn: their poles from left to right, as `poles` gives them.
        foot: the outline of the back, inside the foot chamfer, in mm.
        profile: gives unit, layers and walls.

    Returns:
        The recesses in their order.

    Raises:
        BlueprintError: when there is no room in the back for a mark beside an open recess.
    """
    found = list(recesses)
    order = left_to_right([recess.centre_mm for recess in recesses], profile.unit_mm)
    for which, pole in zip(order, in_turn, strict=True):
        marked = pole == "S" and profile.polarity == "alternating"
        mark = _mark(which, recesses, foot, profile) if marked else None
        found[which] = replace(recesses[which], pole=pole, mark=mark)
    return tuple(found)


def _mark(which: int, recesses: Sequence[Recess], foot: Polygon, profile: Profile) -> Mark:
    recess, span = recesses[which], mark_span(profile)
    centre = _beside(which, recesses, foot, profile) if recess.is_open else recess.centre_mm
    return Mark(centre, span.low_mm, span.high_mm, MARK_DIAMETER_MM)


def _beside(which: int, recesses: Sequence[Recess], foot: Polygon, profile: Profile) -> PointMm:
    """The place in the back that is nearest to a recess, with a wall all around.

    It is nearer to this recess than to another one. Of places that are equally near, it is the
    one farthest from the other recess, and of these the lowest.
    """
    wall_mm = profile.bed_wall_mm
    others = [Point(one.centre_mm) for one in recesses if one is not recesses[which]]
    room = eroded(foot, MARK_DIAMETER_MM / 2 + wall_mm)
    middle = Point(recesses[which].centre_mm)
    for other in recesses:
        reach_mm = other.bores.widest_mm / 2 + other.mouth_mm + wall_mm + MARK_DIAMETER_MM / 2
        # A polygon's corners lie on the circle and its sides within: grown so that none is nearer.
        disc = Point(other.centre_mm).buffer(reach_mm * (1 + 1e-4) + 0.002, ARC_SEGMENTS)
        room = room.difference(disc)
    near = [] if room.is_empty else [nearest_points(room, middle)[0], *_corners(room)]
    least_mm = min((point.distance(middle) for point in near), default=0.0)
    near = [point for point in near if point.distance(middle) < least_mm + _AS_NEAR_MM]

    def off_others(place: Point) -> float:
        return round(min((place.distance(other) for other in others), default=0.0), 2)

    near.sort(key=lambda point: (-off_others(point), *rounded(point)[::-1]))
    if not near or (others and off_others(near[0]) < least_mm + _AS_NEAR_MM):
        raise BlueprintError(
            f"there is no room in the back for the mark of a south pole, {format_mm(MARK_DIAMETER_MM)} "
            f"across, beside a recess with a mouth of {_mouth(recesses[which])}: recess.bed_wall asks "
            f"for {format_mm(wall_mm)} around it; choose a smaller magnet or bed_wall, a larger unit, "
            "or another magnet.polarity"
        )
    return rounded(near[0])


def _corners(room: BaseGeometry) -> list[Point]:
    return [Point(x, y) for x, y in get_coordinates(room)]


def _mouth(recess: Recess) -> str:
    return format_mm(recess.bores.widest_mm + 2 * recess.mouth_mm)
