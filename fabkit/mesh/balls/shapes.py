"""Shapes of balls and bonds, whichever way they lie: their images, and which of them is the least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabkit.model.balls import ROTATIONS, Ball, BallBody, Rotation, turned


@dataclass(frozen=True)
class Image:
    """One image of a shape, moved so that the least coordinates are 0, in a fixed order.

    Attributes:
        shape: its balls and bonds, both sorted.
        rotation: that made it, before it was moved.
        moved: by how much, then.
        order: for each ball of the image, the ball of the shape that it is.
        bond_order: the same for bonds.
    """

    shape: BallBody
    rotation: Rotation
    moved: Ball
    order: tuple[int, ...]
    bond_order: tuple[int, ...]


def least_image(shape: BallBody) -> Image:
    """The least of the 24 images of a shape: the same for all shapes that can be turned alike.

    Example:
        >>> rod = BallBody(((5, 5, 5), (5, 5, 4)), ((0, 1),))
        >>> least_image(rod).shape
        BallBody(balls=((0, 0, 0), (0, 0, 1)), bonds=((0, 1),))
    """
    images = (_image(shape, rotation) for rotation in ROTATIONS)
    return min(images, key=lambda image: (image.shape.balls, image.shape.bonds))


def _image(shape: BallBody, rotation: Rotation) -> Image:
    balls = [turned(rotation, ball) for ball in shape.balls]
    x, y, z = (-min(ball[axis] for ball in balls) for axis in range(3))
    balls = [(a + x, b + y, c + z) for a, b, c in balls]
    order = sorted(range(len(balls)), key=balls.__getitem__)
    new = {old: i for i, old in enumerate(order)}
    bonds = [tuple(sorted((new[a], new[b]))) for a, b in shape.bonds]
    bond_order = sorted(range(len(bonds)), key=bonds.__getitem__)
    image = BallBody(
        tuple(balls[i] for i in order), tuple((bonds[i][0], bonds[i][1]) for i in bond_order)
    )
    return Image(image, rotation, (x, y, z), tuple(order), tuple(bond_order))


def mirror_image(shape: BallBody) -> BallBody:
    """A shape as a mirror shows it.

    Example:
        >>> mirror_image(BallBody(((0, 0, 0), (1, 0, 0)), ((0, 1),))).balls
        ((0, 0, 0), (-1, 0, 0))
    """
    return BallBody(tuple((-x, y, z) for x, y, z in shape.balls), shape.bonds)


def neighbours(balls: Sequence[Ball]) -> list[tuple[int, int]]:
    """The pairs of balls that lie one pitch apart, whether bonded or not.

    Example:
        >>> neighbours([(0, 0, 0), (1, 0, 0), (1, 1, 0)])
        [(0, 1), (1, 2)]
    """
    return [
        (i, j)
        for j in range(len(balls))
        for i in range(j)
        if sum(abs(a - b) for a, b in zip(balls[i], balls[j], strict=True)) == 1
    ]


@dataclass(frozen=True)
class Difference:
    """How the bonds of a shape differ from those of a drawn one with the same balls.

    Attributes:
        missing: bonds that only the drawn one has, as pairs of balls of the shape.
        extra: bonds that only the shape has, the same.
        drawn: for each ball of the shape, the ball of the drawn one that it is.
    """

    missing: tuple[tuple[int, int], ...]
    extra: tuple[tuple[int, int], ...]
    drawn: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many bonds differ."""
        return len(self.missing) + len(self.extra)


def difference(shape: BallBody, drawn: BallBody) -> Difference | None:
    """The least difference of two shapes' bonds, the drawn one turned so that its balls fit.

    Args:
        shape: a least image; see `least_image`.
        drawn: lying in any way.

    Returns:
        The difference; None when the balls cannot be made to fit.

    Example:
        >>> corner = ((0, 0, 0), (0, 0, 1), (0, 1, 1))
        >>> difference(BallBody(corner, ((0, 1),)), BallBody(corner, ((0, 1), (1, 2)))).missing
        ((1, 2),)
    """
    own, found = set(shape.bonds), []
    for rotation in ROTATIONS:
        image = _image(drawn, rotation)
        if image.shape.balls == shape.balls:
            asked = set(image.shape.bonds)
            missing, extra = tuple(sorted(asked - own)), tuple(sorted(own - asked))
            found.append(Difference(missing, extra, image.order))
    return min(found, key=lambda one: (one.count, one.missing, one.extra), default=None)
