"""Pieces beside each other on a board: do any two of them meet, however they lie?

Seen from above, a piece that keeps inside its own cells by some margin stays away from every other
piece by that margin and the other's own. So two margins settle all poses of a pair at once; only
where they are not enough are poses looked at one by one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabkit.mesh.boards.lying import Lying
from fabkit.mesh.finding import TINY_MM
from fabkit.mesh.fitting.assembly import TINY_MM3
from fabkit.mesh.fitting.laying import Pose
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import in_units


@dataclass(frozen=True)
class Nearest:
    """How near two pieces come to each other.

    Attributes:
        gap_mm: the least gap over all ways to lie beside each other; 0 when they overlap.
        overlap_mm3: what they have in common in the first way found in which they do.
    """

    gap_mm: float
    overlap_mm3: float = 0.0


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two pieces, each lying with one side up, and what their margins say of the gap."""

    keys: tuple[str, str]
    one: Lying
    other: Lying
    margins_mm: float


def nearest_neighbours(
    ways: Mapping[str, Sequence[Lying]], least_mm: float
) -> dict[tuple[str, str], Nearest]:
    """How near every two pieces come to each other, over all ways to lie side by side.

    Args:
        ways: for each piece the ways in which it lies.
        least_mm: pieces that keep this far apart, seen from above, do not meet. Where they come
            nearer, the gap in space is measured.

    Returns:
        For each pair of keys, in the order of ``ways``. Of pairs whose margins say that they are
        farther apart than the nearest pair of all, the gap is what the margins say: the least
        that it can be.
    """
    margins = {lying: lying.margin_mm() for some in ways.values() for lying in some}
    pairs = [
        _Pair((a, b), one, other, margins[one] + margins[other])
        for a, b in itertools.combinations(ways, 2)
        for one, other in itertools.product(ways[a], ways[b])
    ]
    found = {pair.keys: Nearest(math.inf) for pair in pairs}
    nearest_mm = math.inf
    for pair in sorted(pairs, key=lambda pair: pair.margins_mm):
        before = found[pair.keys]
        if before.overlap_mm3:
            continue
        if pair.margins_mm >= max(least_mm, nearest_mm - TINY_MM):
            here = Nearest(pair.margins_mm)
        else:
            here = _nearest(pair, least_mm)
        found[pair.keys] = min(before, here, key=lambda one: one.gap_mm)
        nearest_mm = min(nearest_mm, here.gap_mm)
    return found


def _nearest(pair: _Pair, least_mm: float) -> Nearest:
    """The nearest of all ways in which two pieces lie beside each other, looked at one by one."""
    nearest = Nearest(math.inf)
    here = pair.one.lattice.symmetries[0], (0, 0)
    for pose in _beside(pair):
        found = apart(pair.one, here, pair.other, pose, least_mm)
        if found.overlap_mm3:
            return found
        nearest = min(nearest, found, key=lambda one: one.gap_mm)
    return nearest


def apart(one: Lying, here: Pose, other: Lying, there: Pose, least_mm: float) -> Nearest:
    """How far two pieces are from each other.

    Args:
        one: the way in which the first piece lies.
        here: where.
        other: the way in which the second piece lies.
        there: where.
        least_mm: up to this the gap in space is measured; a larger one is that of what is seen
            from above, which is never larger than that in space.
    """
    shadow = one.placed(one.shadow(), here)
    gap_mm = float(shadow.distance(other.placed(other.shadow(), there)))
    if gap_mm >= least_mm:
        return Nearest(gap_mm)
    solid = one.solid.transform(one.matrix(here))
    beside = other.solid.transform(other.matrix(there))
    overlap_mm3 = float((solid ^ beside).volume())
    if overlap_mm3 > TINY_MM3:
        return Nearest(0.0, overlap_mm3)
    return Nearest(float(solid.min_gap(beside, least_mm)))


def _beside(pair: _Pair) -> Iterator[Pose]:
    """The poses of the second piece in which its cells touch those of the first, or nearly.

    Cells count as touching when they lie within one and a half grid units; farther ones, too, when
    a piece reaches so far out of its own cells.
    """
    lattice, unit_mm = pair.one.lattice, pair.one.unit_mm
    reach = 1.5 + max(0.0, -pair.margins_mm) / unit_mm
    near = set(_within(pair.one, reach))
    for move in lattice.moves(flips=False):
        image = [move(cell) for cell in pair.other.cells]
        shifts = {
            (x - cx, y - cy)
            for (x, y), (cx, cy) in itertools.product(near, image)
            if lattice.residue((x, y)) == lattice.residue((cx, cy))
        }
        for shift in sorted(shifts):
            pose = move, shift
            if not pair.other.covered(pose) & pair.one.cells:
                yield pose


def _within(lying: Lying, reach: float) -> Iterable[Cell]:
    """The cells around a piece whose middles are within some grid units of one of its own."""
    lattice = lying.lattice
    (ux, _), (vx, vy) = lattice.basis
    steps = range(-math.ceil(2 * reach), math.ceil(2 * reach) + 1)
    vectors = [(i * ux + j * vx, j * vy) for i, j in itertools.product(steps, steps)]
    lengths = np.hypot(*np.array(in_units(lattice, vectors)).T)
    for (dx, dy), length in zip(vectors, lengths, strict=True):
        if 0 < length <= reach:
            for x, y in lying.cells:
                if (x + dx, y + dy) not in lying.cells:
                    yield x + dx, y + dy
