"""How a ball piece lies while it is printed.

Its spine lies on the bed. Every other ball lies there, too, or stands on a link right above one
that does. That is a way to lie on a board turned over, so there is one if nothing hangs in the air.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.drawing.printed import BlueprintError
from fabkit.model.balls import Ball, BallBody, BallError, Rotation, flat_poses, turned


@dataclass(frozen=True)
class PrintPose:
    """A way to print a ball piece.

    Attributes:
        rotation: of space, which brings the piece there.
        balls: where they are then, in pitches; the least of x, y and z are 0.
    """

    rotation: Rotation
    balls: tuple[Ball, ...]


def print_pose(body: BallBody) -> PrintPose:
    """The pose in which a ball piece is printed.

    Of the possible ones it has most balls on the bed, then its spine along x, and then the least
    places: the same for a piece however its file turns it.

    Args:
        body: balls and bonds.

    Raises:
        BlueprintError: when a part would hang in the air in every pose, or no pose is flat.

    Example:
        >>> from fabkit.model.library import load_set
        >>> print_pose(load_set("iqfit").piece("green").body).balls
        ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 1))
    """
    try:
        rotations = [_turned_over(pose.rotation) for pose in flat_poses(body)]
        spine = body.spine()
    except BallError as fault:
        raise BlueprintError(f"it {fault}") from None
    poses = [PrintPose(rotation, _at_origin(rotation, body.balls)) for rotation in rotations]

    def rank(pose: PrintPose) -> tuple[int, int, list[Ball]]:
        raised = sum(z for _, _, z in pose.balls)
        across = len({pose.balls[i][1] for i in spine})
        return raised, across, sorted(pose.balls)

    poses.sort(key=rank)
    for pose in poses:
        if _hanging(body, pose) is None:
            return pose
    raise BlueprintError(f"{_hanging(body, poses[0])}, and so it is in every way to lay it down")


def _hanging(body: BallBody, pose: PrintPose) -> str | None:
    """What hangs in the air, and what to do; None when nothing does."""
    standing = {ball for i, j in body.bonds for ball in (i, j) if _is_upright(pose.balls, i, j)}
    for i, ball in enumerate(pose.balls):
        if ball[2] and i not in standing:
            return (
                f"ball {list(body.balls[i])} would hang in the air when the longest row lies on the "
                "bed: no link joins it to a ball right below; expected such a link, or the ball in "
                "the plane of the row"
            )
    for i, j in body.bonds:
        if pose.balls[i][2] and pose.balls[j][2]:
            return (
                f"the link between balls {list(body.balls[i])} and {list(body.balls[j])} would hang "
                "in the air when the longest row lies on the bed; leave it out of bonds"
            )
    return None


def _is_upright(balls: Sequence[Ball], i: int, j: int) -> bool:
    return balls[i][2] != balls[j][2]


def _turned_over(rotation: Rotation) -> Rotation:
    """A rotation, and then half a turn around x."""
    first, second, third = rotation
    return first, _negative(second), _negative(third)


def _negative(row: Ball) -> Ball:
    x, y, z = row
    return -x, -y, -z


def _at_origin(rotation: Rotation, balls: Sequence[Ball]) -> tuple[Ball, ...]:
    """Balls after a rotation, moved so that the least of each coordinate is 0."""
    places = [turned(rotation, ball) for ball in balls]
    x0, y0, z0 = (min(values) for values in zip(*places, strict=True))
    return tuple((x - x0, y - y0, z - z0) for x, y, z in places)
