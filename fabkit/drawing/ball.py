"""Drafting a piece that is made of balls: where they are as it is printed, and how large."""

from __future__ import annotations

import math
from dataclasses import dataclass

from shapely import Polygon

from fabkit.core.units import format_degrees, format_mm
from fabkit.drawing.ballpose import print_pose
from fabkit.drawing.ballshape import BallShape
from fabkit.drawing.label import Label
from fabkit.drawing.printed import BlueprintError
from fabkit.drawing.recess import Recess
from fabkit.model.balls import Rotation
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: What lies on the bed below a link is at least so many nozzles wide: two lines, side by side.
LEAST_FOOT_NOZZLES = 2.0
#: A link is at most so much of the ball: beyond, the kernel cannot tell where one leaves the other.
MOST_LINK = 0.99
#: The corner where two links meet on the bed is so far, or farther, from the edge of their ball's
#: flat: nearer than 0.006 mm, the kernel's mesh has been seen to have facets of no extent.
GRAZE_MM = 0.02
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class BallBlueprint(BallShape):
    """One ball piece in mm, as it is printed: its spine on the bed, prongs there or upright.

    Its balls lie on a grid of squares as wide as the pitch, whose corner is the origin: the first
    column of them has its middles half a pitch to the right of it.

    Attributes:
        piece: the piece's id.
        colour: ``#rrggbb``.
        pitch_mm: distance of neighbouring balls.
        pose: the rotation that brings the drawn balls there.
        outline: all of it seen from above.
        foot: what of it lies on the bed.
        thickness_mm: its height.
        solid_mm3: its volume.
        surface_mm2: its surface.
        face: empty, since balls have no flat top.
        recesses: none.
        label: none.
        label_low_mm: 0.
        facing: ``up``.
        pause_height_mm: None.

    `BallShape` says what the other attributes are.
    """

    piece: str
    colour: str
    pitch_mm: float
    pose: Rotation
    outline: Polygon
    foot: Polygon
    thickness_mm: float
    solid_mm3: float
    surface_mm2: float
    face: Polygon = Polygon()  # noqa: RUF009 (it does not change)
    recesses: tuple[Recess, ...] = ()
    label: Label | None = None
    label_low_mm: float = 0.0
    facing: str = "up"
    pause_height_mm: float | None = None


def draft_ball(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> BallBlueprint:
    """Drafts one ball piece.

    Args:
        puzzle: the set that it belongs to.
        piece: made of balls.
        profile: gives pitch (the unit), balls, links and flat, and what the printer can do.

    Returns:
        All measures of the piece, in mm.

    Raises:
        BlueprintError: when it is not made of balls, cannot be printed without support, or when
            the profile's lengths do not go together.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> iqfit = load_set("iqfit")
        >>> blue = draft_ball(iqfit, iqfit.piece("blue"), load_profile(unit_mm=iqfit.unit_mm))
        >>> blue.pitch_mm, blue.thickness_mm, len(blue.balls_mm), round(blue.solid_mm3, -1)
        (15.0, 25.2, 7, 7860.0)
    """
    if piece.body is None:
        raise BlueprintError(
            f"is a flat piece of {puzzle.name}; expected one that is made of balls"
        )
    pose = print_pose(piece.body)
    _refuse_balls(profile)
    _refuse_links(profile, stands=any(z for _, _, z in pose.balls))
    pitch_mm, flat_mm = profile.unit_mm, profile.ball_flat_mm
    shape = BallShape(
        balls_mm=tuple(
            ((x + 0.5) * pitch_mm, (y + 0.5) * pitch_mm, z * pitch_mm + flat_mm)
            for x, y, z in pose.balls
        ),
        bonds=piece.body.bonds,
        ball_mm=profile.ball_mm,
        link_mm=profile.link_mm,
        flat_mm=flat_mm,
        lean_degrees=math.degrees(math.asin(2 * flat_mm / profile.ball_mm)),
    )
    return BallBlueprint(
        **vars(shape),
        piece=piece.id,
        colour=piece.colour,
        pitch_mm=pitch_mm,
        pose=pose.rotation,
        outline=shape.silhouette(),
        foot=shape.section(0.0),
        thickness_mm=round(shape.top_mm, 6),
        solid_mm3=shape.volume_mm3(),
        surface_mm2=shape.area_mm2(),
    )


def _refuse_balls(profile: Profile) -> None:
    """Refuses balls that touch their neighbours, or lean too much where they stand on the bed."""
    ball_mm, flat_mm, steepest = profile.ball_mm, profile.ball_flat_mm, profile.overhang_degrees
    if ball_mm >= profile.unit_mm:
        raise BlueprintError(
            f"balls of {format_mm(ball_mm)} do not fit beside each other, {format_mm(profile.unit_mm)} "
            "apart; choose a smaller ball.diameter or a larger unit"
        )
    most_mm = ball_mm / 2 * math.sin(math.radians(steepest))
    if flat_mm <= most_mm + _ROUNDING:
        return
    lean = _degrees(math.asin(2 * flat_mm / ball_mm))
    raise BlueprintError(
        f"balls of {format_mm(ball_mm)} with their middles {format_mm(flat_mm)} above the bed would "
        f"lean {lean} from the vertical there, and printer.overhang is {format_degrees(steepest)}; "
        f"choose a ball.flat of {_down(most_mm)} or less, or larger balls"
    )


def _refuse_links(profile: Profile, stands: bool) -> None:
    """Refuses links that are too wide or too narrow for their balls.

    Args:
        profile: gives them; its balls are sound.
        stands: whether a ball stands on an upright link.
    """
    ball_mm, link_mm, flat_mm = profile.ball_mm, profile.link_mm, profile.ball_flat_mm
    if link_mm > MOST_LINK * ball_mm + _ROUNDING:
        raise BlueprintError(
            f"a link of {format_mm(link_mm)} is too wide for balls of {format_mm(ball_mm)}: "
            f"{_down(MOST_LINK * ball_mm)} is the most; choose a smaller ball.link"
        )
    sine = 2 * flat_mm / ball_mm
    cosine = math.sqrt(1 - sine**2)
    foot_mm = (link_mm - 2 * flat_mm * sine) / cosine
    least_foot_mm = LEAST_FOOT_NOZZLES * profile.nozzle_mm
    if foot_mm < least_foot_mm - _ROUNDING:
        raise BlueprintError(
            f"links of {format_mm(link_mm)} with their middles {format_mm(flat_mm)} above the bed "
            f"would lie on less than {format_mm(least_foot_mm)} of it; choose a ball.link of "
            f"{_up(least_foot_mm * cosine + 2 * flat_mm * sine)} or more, or a smaller ball.flat"
        )
    if abs(foot_mm / math.sqrt(2) - ball_mm / 2 * cosine) < GRAZE_MM:
        raise BlueprintError(
            f"where two links of {format_mm(link_mm)} meet, their corner on the bed would lie on the "
            f"edge of the ball's flat, {format_mm(flat_mm)} below its middle, and the solid would "
            "have slivers; choose a ball.link or ball.flat that is 0.1 mm larger or smaller"
        )
    least_mm = ball_mm * math.cos(math.radians(profile.overhang_degrees))
    if stands and link_mm < least_mm - _ROUNDING:
        raise BlueprintError(
            f"a ball of {format_mm(ball_mm)} on an upright link of {format_mm(link_mm)} would lean "
            f"{_degrees(math.acos(link_mm / ball_mm))} from the vertical, and printer.overhang is "
            f"{format_degrees(profile.overhang_degrees)}; choose a ball.link of {_up(least_mm)} or more"
        )


def _degrees(radians: float) -> str:
    return format_degrees(round(math.degrees(radians), 1))


def _down(value_mm: float) -> str:
    """A length that is written down not larger than it is."""
    return format_mm(math.floor(value_mm * 1000 + _ROUNDING) / 1000)


def _up(value_mm: float) -> str:
    """A length that is written down not smaller than it is."""
    return format_mm(math.ceil(value_mm * 1000 - _ROUNDING) / 1000)
