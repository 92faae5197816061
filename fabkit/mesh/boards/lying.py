"""Pieces as they lie on a board: over which cells, and how their meshes get there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fabkit.mesh.body import Points
from fabkit.mesh.laying import Lying, flat_lying
from fabkit.mesh.manifold import cropped
from fabkit.mesh.part import Part
from fabkit.mesh.stubs import OnStubs
from fabkit.model.balls import FlatPose, flat_poses, turned
from fabkit.model.lattice import LATTICES, Cell, Lattice, Point
from fabkit.model.piece import at_anchor
from fabkit.model.puzzle import in_units

#: A piece is looked at this much above what it rests on: what readings of heights are good to.
LIFT_MM = 0.005


def balls_lying(key: str, part: Part, unit_mm: float) -> tuple[Lying, ...]:
    """The ways in which a ball piece, its balls read, lies flat, turns on the board divided out.

    Returns:
        One for each side that can be up, in the order of `fabkit.model.balls.flat_poses`; the
        middles of its spine's balls at height 0. Where the flat on which it was printed is down,
        its links rest on that, and all of it lies so much lower.

    Raises:
        BallError: when it cannot lie flat.
    """
    assert part.balls is not None
    poses: dict[Point, FlatPose] = {}
    for pose in flat_poses(part.balls.shape):
        # What turns about the vertical leave as it is: which way the part's own axes look up.
        poses.setdefault(pose.rotation[2], pose)  # type: ignore[arg-type]
    return tuple(_ball_lying(key, part, pose, unit_mm) for pose in poses.values())


def _ball_lying(key: str, part: Part, pose: FlatPose, unit_mm: float) -> Lying:
    assert part.balls is not None
    balls = np.array([turned(pose.rotation, ball) for ball in part.balls.shape.balls])
    height = balls[min(part.balls.shape.spine()), 2]
    motion = np.zeros((3, 4))
    motion[:, :3] = pose.rotation
    seated = balls[:, 2] == height
    middles = part.balls.pitch_mm * balls[seated].mean(axis=0)
    # How much less a link of the seated balls reaches down than up, where it was printed flat.
    one, other = next(pair for pair in part.balls.shape.bonds if seated[[*pair]].all())
    x, y, middle = part.balls.pitch_mm * (balls[one] + balls[other]) / 2
    solid, near = part.manifold.transform(motion), 0.2
    *_, low, _, _, high = cropped(solid, (x - near, y - near, x + near, y + near)).bounding_box()
    middles[2] += max(0.0, float(high - middle) - float(middle - low))
    cells = at_anchor(LATTICES["square"], pose.cells)
    return _over(key, LATTICES["square"], unit_mm, cells, part.manifold, motion, middles)


def stubs_lying(key: str, one: OnStubs, lattice: Lattice, unit_mm: float, over: bool) -> Lying:
    """How a piece with stubs, its outline read, lies on a board of seats, or turned over on it.

    Its plate's back (turned over: its face) is at height 0. See `balls_lying`.
    """
    laid = flat_lying(key, one.whole, lattice)
    move = next(move for move in lattice.symmetries if move.flipped == over)
    cells = frozenset(map(move, laid.cells))
    middle = _middle_mm(lattice, cells, laid.unit_mm)
    reference = np.array([*middle, 0.0 if over else one.height_mm])
    motion, anchored = laid.matrix((move, (0, 0))), at_anchor(lattice, cells)
    return _over(key, lattice, unit_mm, anchored, one.whole.manifold, motion, reference)


def _over(
    key: str,
    lattice: Lattice,
    unit_mm: float,
    cells: frozenset[Cell],
    whole: Any,
    motion: Points,
    reference: Points,
) -> Lying:
    """A part whose place of reference, after a motion, comes over the middle of its cells."""
    motion = motion.copy()
    motion[:, 3] += np.array([*_middle_mm(lattice, cells, unit_mm), 0.0]) - reference
    return Lying(key, lattice, unit_mm, cells, whole.transform(motion))


def _middle_mm(lattice: Lattice, cells: Iterable[Cell], unit_mm: float) -> Points:
    """The mean of the middles of cells."""
    return np.asarray(unit_mm * np.mean(in_units(lattice, sorted(cells)), axis=0))
