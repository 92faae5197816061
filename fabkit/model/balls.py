"""Pieces made of balls, and the flat forms they show on a board.

A piece lies on its *base*. If its balls are in one plane, all of them are the base: it lies flat,
and may be turned over, since that is a rotation in space. The base of any other piece (IQ Fit) is
its *spine*, the longest straight row of bonded balls: every other ball, a prong, is in the board's
plane or hangs one pitch below it, in a hole. The flat forms are computed from the 24 rotations of
the cube, never drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, permutations, product
from math import prod

from fabkit.model.lattice import LATTICES, Cell

Ball = tuple[int, int, int]
Rotation = tuple[Ball, Ball, Ball]


class BallError(ValueError):
    """Balls that do not form a piece; the message says which and why."""


#: The 24 rotations of the cube, as rows of matrices with determinant 1.
ROTATIONS: tuple[Rotation, ...] = tuple(
    tuple(
        tuple(sign * (j == axis) for j in range(3)) for axis, sign in zip(order, signs, strict=True)
    )  # type: ignore[misc]
    for order in permutations(range(3))
    for signs in product((1, -1), repeat=3)
    if prod(signs) == (1 if order in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1)
)


def rotate_ball(rotation: Rotation, ball: Ball) -> Ball:
    """Rotate a ball's centre."""
    x, y, z = (sum(r * b for r, b in zip(row, ball, strict=True)) for row in rotation)
    return x, y, z


@dataclass(frozen=True)
class BallBody:
    """Balls at integer coordinates in a right-handed system, in units of the pitch.

    Bonds are pairs of indices into ``balls``; only bonded neighbours are linked.
    """

    balls: tuple[Ball, ...]
    bonds: tuple[tuple[int, int], ...]

    @property
    def normal(self) -> int | None:
        """The axis across the plane that all balls are in; None if they are in several planes.

        A straight row has the last of two: it does not roll onto its side.
        """
        planes = [len(set(coordinates)) == 1 for coordinates in zip(*self.balls, strict=True)]
        return 2 - planes[::-1].index(True) if any(planes) else None

    def base(self) -> tuple[int, ...]:
        """Return the indices of the balls that are in the board's plane however the piece lies.

        Raises:
            BallError: when balls are in several planes, and no row is the longest.
        """
        if self.normal is not None:
            return tuple(range(len(self.balls)))
        runs = sorted(self._runs(), key=len, reverse=True)
        if not runs or (len(runs) > 1 and len(runs[0]) == len(runs[1])):
            raise BallError(
                "has balls in several planes and no single longest straight row to lie on; put "
                "them in one plane, or make one row of joined balls the longest"
            )
        return runs[0]

    def _runs(self) -> Iterable[tuple[int, ...]]:
        """Yield every maximal straight row of bonded balls."""
        index = {ball: i for i, ball in enumerate(self.balls)}
        bonded = {frozenset(bond) for bond in self.bonds}

        def ahead(i: int, axis: int, step: int) -> int | None:
            x, y, z = (c + step * (k == axis) for k, c in enumerate(self.balls[i]))
            j = index.get((x, y, z))
            return j if frozenset((i, j)) in bonded else None

        for axis, i in product(range(3), range(len(self.balls))):
            if ahead(i, axis, -1) is None:
                run = [i]
                while (j := ahead(run[-1], axis, 1)) is not None:
                    run.append(j)
                if len(run) > 1:
                    yield tuple(run)


@dataclass(frozen=True)
class FlatPose:
    """A way to place a ball piece on a board: cells of the square lattice, seen from above, and
    the rotation from the piece's own coordinates."""

    cells: frozenset[Cell]
    rotation: Rotation


def flat_poses(body: BallBody) -> tuple[FlatPose, ...]:
    """Return the poses with the base flat and every other ball in the plane or one pitch below.

    The base's first ball is at row 0, column 0; each qualifying rotation of the 24 appears once.

    Raises:
        BallError: when there is no single longest row, or no rotation qualifies.
    """
    square = LATTICES["square"]
    base = body.base()
    poses = []
    for rotation in ROTATIONS:
        balls = [rotate_ball(rotation, ball) for ball in body.balls]
        origin = balls[min(base)]
        balls = [(x - origin[0], y - origin[1], z - origin[2]) for x, y, z in balls]
        flat = all(balls[i][2] == 0 for i in base)
        flat &= body.normal is None or rotation[2][body.normal] != 0
        if flat and all(z in (0, -1) for _, _, z in balls):
            cells = (square.cells_at(-y, x) for x, y, z in balls if z == 0)
            poses.append(FlatPose(frozenset(chain.from_iterable(cells)), rotation))
    if not poses:
        raise BallError(
            "cannot lie with its longest row flat: in every rotation some ball sticks up or hangs "
            "too deep; put every other ball in one plane with the row, or one pitch beside that "
            "plane, on one side"
        )
    return tuple(poses)
