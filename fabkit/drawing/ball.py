"""Drafting ball pieces: their orientation on the bed and their shape.

The base is on the bed. Every other ball is on the bed as well, or on an upright link right above a
ball on the bed. This is an orientation of the piece on a board, turned over, so it exists if nothing
overhangs.

The plane of the bed cuts off balls and links, whose surfaces overhang there by some angle from the
vertical. The underside of each horizontal link goes down to the bed in two planes tangent to the link
with the same overhang, so nothing overhangs more than the balls at the bed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shapely import LineString, Point, Polygon, union_all

from fabkit.core.units import format_degrees, format_mm
from fabkit.drawing.outline import DrawingError
from fabkit.drawing.part import PartDrawing
from fabkit.model.balls import Ball, BallBody, BallError, Rotation, flat_poses, rotate_ball
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile

#: A point in mm: to the right, to the back, up.
Point3Mm = tuple[float, float, float]

#: Chords per quarter circle: they are 0.0005 mm off on a 12 mm ball.
_ARC_SEGMENTS = 32


@dataclass(frozen=True, kw_only=True)
class BallShape:
    """Balls and links in mm, the bed at height 0.

    Attributes:
        balls_mm: the balls' centres; each is `flat_mm` above the bed or right above one that is.
        bonds: pairs of indices into `balls_mm`, joined by a link.
        flat_mm: height above the bed of the centres of the balls on it.
        lean_degrees: overhang of balls and links at the bed, from the vertical.
    """

    balls_mm: tuple[Point3Mm, ...]
    bonds: tuple[tuple[int, int], ...]
    ball_mm: float
    link_mm: float
    flat_mm: float
    lean_degrees: float

    @property
    def top_mm(self) -> float:
        """The height of the highest point."""
        return max(z for _, _, z in self.balls_mm) + self.ball_mm / 2

    @property
    def ridge_mm(self) -> float:
        """How far below the middle of a link the two planes of its underside would meet."""
        return self.link_mm / 2 / math.sin(math.radians(self.lean_degrees))

    def bonds_mm(self) -> Iterator[tuple[Point3Mm, Point3Mm]]:
        """Yield the ends of each link, the lower one first."""
        for bond in self.bonds:
            low, high = sorted((self.balls_mm[i] for i in bond), key=lambda place: place[2])
            yield low, high

    def half_link_mm(self, above_mm: float) -> float:
        """Return half the width of a horizontal link at a height above its axis (below if negative)."""
        lean, radius = math.radians(self.lean_degrees), self.link_mm / 2
        if above_mm > -radius * math.sin(lean):
            return math.sqrt(max(0.0, radius**2 - above_mm**2))
        return max(0.0, (self.ridge_mm + above_mm) * math.tan(lean))

    def section(self, height_mm: float) -> Polygon:
        """Return the section at a height above the bed, from 0 to `top_mm`.

        It is one polygon, or several where prongs are separate. Circles are inscribed polygons.
        """
        areas = self._bars(self.half_link_mm(height_mm - self.flat_mm))
        for x, y, z in self.balls_mm:
            squared = (self.ball_mm / 2) ** 2 - (height_mm - z) ** 2
            if squared > 0:
                areas.append(_disc(x, y, math.sqrt(squared)))
        for (x, y, low), (_, _, high) in self.bonds_mm():
            if low < height_mm < high:
                areas.append(_disc(x, y, self.link_mm / 2))
        return union_all(areas)

    def silhouette(self) -> Polygon:
        """Return the silhouette from above."""
        discs = [_disc(x, y, self.ball_mm / 2) for x, y, _ in self.balls_mm]
        return union_all([*discs, *self._bars(self.link_mm / 2)])

    def _bars(self, half_mm: float) -> list[Polygon]:
        """Return the horizontal links as bars of some width, seen from above."""
        return [
            LineString([low[:2], high[:2]]).buffer(half_mm, cap_style="flat")
            for low, high in self.bonds_mm()
            if low[2] == high[2] and half_mm > 0
        ]


def _disc(x: float, y: float, radius_mm: float) -> Polygon:
    return Point(x, y).buffer(radius_mm, _ARC_SEGMENTS)


def print_pose(body: BallBody) -> tuple[Rotation, tuple[Ball, ...]]:
    """Return the orientation in which a ball piece is printed: the rotation, and the rotated balls.

    Of the possible orientations it is the one with most balls on the bed, then the base long in x,
    and then the smallest coordinates: the same whichever way the file draws the piece.

    Returns:
        Balls in pitches; the minima of x, y and z are 0.

    Raises:
        DrawingError: when a part would hang in the air in every pose, or no pose is flat.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> print_pose(load_set("iqfit").piece("green").body)[1]
        ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 1))
    """
    try:
        candidates = flat_poses(body)
        base = body.base()
    except BallError as fault:
        raise DrawingError(f"it {fault}") from None
    poses = []
    for pose in candidates:
        # Turned over by half a turn around x.
        first, (a, b, c), (d, e, f) = pose.rotation
        rotation = first, (-a, -b, -c), (-d, -e, -f)
        places = [rotate_ball(rotation, ball) for ball in body.balls]
        xs, ys, zs = zip(*places, strict=True)
        shifted = [(x - min(xs), y - min(ys), z - min(zs)) for x, y, z in places]
        poses.append((rotation, tuple(shifted)))

    def rank(pose: tuple[Rotation, tuple[Ball, ...]]) -> tuple[int, int, list[Ball]]:
        _, balls = pose
        return sum(z for _, _, z in balls), len({balls[i][1] for i in base}), sorted(balls)

    poses.sort(key=rank)
    for rotation, balls in poses:
        if _hanging(body, balls) is None:
            return rotation, balls
    hanging = _hanging(body, poses[0][1])
    raise DrawingError(f"{hanging}; the same holds for every other orientation")


def _hanging(body: BallBody, balls: Sequence[Ball]) -> str | None:
    """Describe what overhangs without support, and what to do; None if nothing does."""
    upright = [bond for bond in body.bonds if balls[bond[0]][2] != balls[bond[1]][2]]
    standing = {i for bond in upright for i in bond}
    for i, ball in enumerate(balls):
        if ball[2] and i not in standing:
            return (
                f"ball {list(body.balls[i])} would hang in the air with the longest row on the bed: no "
                "link joins it to a ball directly below; add such a link, or move the ball into the plane "
                "of the row"
            )
    for i, j in body.bonds:
        if balls[i][2] and balls[j][2]:
            return (
                f"the link between balls {list(body.balls[i])} and {list(body.balls[j])} would hang "
                "in the air with the longest row on the bed; omit it from bonds"
            )
    return None


#: Minimum width of a link's flat on the bed, in nozzles: two lines side by side.
MIN_FOOT_NOZZLES = 2.0
#: Maximum diameter of a link relative to the ball's; beyond, the kernel fails to intersect them.
MAX_LINK_RATIO = 0.99
#: Minimum distance on the bed from the corner between two links to the edge of their ball's flat: below
#: 0.006 mm, the kernel's mesh was seen to have degenerate facets.
GRAZE_MM = 0.02
#: Lengths in mm that differ by less are equal.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class BallDrawing(BallShape, PartDrawing):
    """One ball piece in mm, as it is printed: its base on the bed, prongs on the bed or upright.

    Its balls are on a square grid of the pitch with a corner at the origin: the centres of the first
    column are half a pitch to the right of it.

    Attributes:
        pose: the rotation from the drawn balls to these.
    """

    pitch_mm: float
    pose: Rotation


def draft_ball_piece(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> BallDrawing:
    """Draft one ball piece.

    Raises:
        DrawingError: when it cannot be printed without support, or when the profile's lengths
            contradict each other.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> iqfit = load_set("iqfit")
        >>> blue = draft_ball_piece(iqfit, iqfit.piece("blue"), load_profile(set_values=iqfit.profile_values))
        >>> blue.pitch_mm, blue.thickness_mm, len(blue.balls_mm)
        (15.0, 25.2, 7)
    """
    assert piece.body
    rotation, balls = print_pose(piece.body)
    _refuse_balls(profile)
    _refuse_links(profile, stands=any(z for _, _, z in balls))
    pitch_mm, flat_mm = profile.unit_mm, profile.ball_flat_mm
    shape = BallShape(
        balls_mm=tuple(
            ((x + 0.5) * pitch_mm, (y + 0.5) * pitch_mm, z * pitch_mm + flat_mm)
            for x, y, z in balls
        ),
        bonds=piece.body.bonds,
        ball_mm=profile.ball_mm,
        link_mm=profile.link_mm,
        flat_mm=flat_mm,
        lean_degrees=math.degrees(math.asin(2 * flat_mm / profile.ball_mm)),
    )
    return BallDrawing(
        **vars(shape),
        piece=piece.id,
        colour=piece.colour,
        pitch_mm=pitch_mm,
        pose=rotation,
        outline=shape.silhouette(),
        foot=shape.section(0.0),
        thickness_mm=round(shape.top_mm, 6),
    )


def _refuse_balls(profile: Profile) -> None:
    """Refuse balls that touch their neighbours, or overhang too much at the bed."""
    ball_mm, flat_mm = profile.ball_mm, profile.ball_flat_mm
    steepest = profile.overhang_degrees
    if ball_mm >= profile.unit_mm:
        raise DrawingError(
            f"balls of {format_mm(ball_mm)} do not fit a pitch of {format_mm(profile.unit_mm)}; choose "
            "a smaller ball.diameter or a larger unit"
        )
    max_flat_mm = ball_mm / 2 * math.sin(math.radians(steepest))
    if flat_mm <= max_flat_mm + _ROUNDING:
        return
    lean = _degrees(math.asin(2 * flat_mm / ball_mm))
    raise DrawingError(
        f"balls of {format_mm(ball_mm)} with their centres {format_mm(flat_mm)} above the bed would "
        f"overhang by {lean} there, and printer.overhang is {format_degrees(steepest)}; "
        f"choose a ball.flat of {_down(max_flat_mm)} or less, or larger balls"
    )


def _refuse_links(profile: Profile, stands: bool) -> None:
    """Refuse links that are too wide or too narrow for their balls.

    `stands` is true if some ball is on an upright link.
    """
    ball_mm, link_mm, flat_mm = profile.ball_mm, profile.link_mm, profile.ball_flat_mm
    if link_mm > MAX_LINK_RATIO * ball_mm + _ROUNDING:
        raise DrawingError(
            f"a link of {format_mm(link_mm)} is too wide for balls of {format_mm(ball_mm)}: "
            f"the limit is {_down(MAX_LINK_RATIO * ball_mm)}; choose a smaller ball.link"
        )
    sine = 2 * flat_mm / ball_mm
    cosine = math.sqrt(1 - sine**2)
    foot_mm = (link_mm - 2 * flat_mm * sine) / cosine
    min_foot_mm = MIN_FOOT_NOZZLES * profile.nozzle_mm
    if foot_mm < min_foot_mm - _ROUNDING:
        raise DrawingError(
            f"links of {format_mm(link_mm)} with their axes {format_mm(flat_mm)} above the bed "
            f"would touch less than {format_mm(min_foot_mm)} of it; choose a ball.link of "
            f"{_up(min_foot_mm * cosine + 2 * flat_mm * sine)} or more, or a smaller ball.flat"
        )
    if abs(foot_mm / math.sqrt(2) - ball_mm / 2 * cosine) < GRAZE_MM:
        raise DrawingError(
            f"where two links of {format_mm(link_mm)} meet, their corner on the bed would be on the "
            f"edge of the ball's flat, {format_mm(flat_mm)} below its centre, and the solid would "
            "have slivers; choose a ball.link or ball.flat that is 0.1 mm larger or smaller"
        )
    min_link_mm = ball_mm * math.cos(math.radians(profile.overhang_degrees))
    if stands and link_mm < min_link_mm - _ROUNDING:
        raise DrawingError(
            f"a ball of {format_mm(ball_mm)} on an upright link of {format_mm(link_mm)} would overhang "
            f"by {_degrees(math.acos(link_mm / ball_mm))}, and printer.overhang is "
            f"{format_degrees(profile.overhang_degrees)}; choose a ball.link of {_up(min_link_mm)} or more"
        )


def _degrees(radians: float) -> str:
    return format_degrees(round(math.degrees(radians), 1))


def _down(value_mm: float) -> str:
    """Format a length, rounded down."""
    return format_mm(math.floor(value_mm * 1000 + _ROUNDING) / 1000)


def _up(value_mm: float) -> str:
    """Format a length, rounded up."""
    return format_mm(math.ceil(value_mm * 1000 - _ROUNDING) / 1000)
