"""The grid unit that bodies share, found from their corners alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np
from shapely import Polygon, affinity

from fabkit.mesh.outlines.cornerfit import corner_kinds, fitted
from fabkit.mesh.outlines.edges import (
    LongEdges,
    direction_step,
    largest,
    long_edges,
    silhouette,
    turn_of,
)
from fabkit.mesh.upright import Upright
from fabkit.model.lattice import Lattice

#: … and in one from which the unit is found: there are many wrong units that are nearly right.
_EDGE_EXACT = 0.02
#: A unit is tried in full when it fits this part of what the best one fits.
_MANY_FIT = 0.5
#: Units are sought on so many of the bodies, in case some are no pieces.
_STRANGE = 0.25
#: A piece is at most so many grid units long.
LONGEST_UNITS = 12
#: Units closer than this part are one (roughly, before they are made exact), and so many are tried
#: in full.
_UNITS_ALIKE, _ROUGHLY, _UNITS_TRIED = 0.01, 0.005, 6
#: A unit that shapes do not tell is taken for the one expected from this nearness on.
_NEAR_UNIT = 0.05


@dataclass(frozen=True, eq=False)
class Seen:
    """One body's outline, straight on the lattice, in each way in which that can be."""

    upright: Upright
    ways: tuple[tuple[float, Polygon, LongEdges], ...]


def see(body: Upright, lattice: Lattice) -> Seen:
    """A body's outline, straightened in each way in which it can lie on a lattice."""
    outline = largest(silhouette(body))
    if outline.is_empty:
        return Seen(body, ())
    turn, step = turn_of(outline, lattice), direction_step(lattice)
    # A turn that the lattice itself does not have gives another way to lie: along the diagonals.
    count = round(2 * math.pi / len(lattice.moves(False)) / step)
    ways = []
    for k in range(count):
        straight = affinity.rotate(outline, -(turn + k * step), origin=(0, 0), use_radians=True)
        ways.append((turn + k * step, straight, long_edges(straight, lattice)))
    return Seen(body, tuple(ways))


def common_units(seen: Sequence[Seen], lattice: Lattice) -> list[float]:
    """The grid units that fit many bodies.

    Args:
        seen: the bodies.
        lattice: the lattice.

    Returns:
        A few units in the file's lengths, those first that fit most bodies, then the larger ones.
    """
    able = [one for one in seen if one.ways]
    tried: list[float] = []
    fits: dict[float, int] = {}
    # Small bodies have few corners, so few units to try; more serve if the first is no piece.
    small = sorted(able, key=lambda one: one.ways[0][1].area)
    for tells in (True, False):
        asked = 0
        for one in small:
            units = _units_of(one, lattice, tells)
            for unit in units:
                if not is_one_of(unit, tried, _UNITS_ALIKE):
                    tried.append(unit)
                    agreed = _agreed(unit, able, lattice)
                    if not is_one_of(agreed, [*fits], _UNITS_ALIKE):
                        fits[agreed] = sum(fits_unit(other, lattice, agreed) for other in able)
            asked += bool(units)
            if asked > _STRANGE * len(able) or max(fits.values(), default=0) == len(able):
                break
        if fits:
            break
    most = max(fits.values(), default=0)
    good = [unit for unit, count in fits.items() if count >= _MANY_FIT * most > 0]
    return sorted(good, key=lambda unit: (-fits[unit], -unit))[:_UNITS_TRIED]


def _units_of(one: Seen, lattice: Lattice, tells: bool) -> list[float]:
    """The units that a body's own corners suggest, the largest first.

    Args:
        one: the body.
        lattice: the lattice.
        tells: takes only those that its shape tells apart from its inset.
    """
    step_x = math.sqrt(lattice.step_squared[0])
    corner_steps = {
        abs(a - b) for (a, _), (b, _) in itertools.permutations(corner_kinds(lattice), 2)
    }
    step = min([step * step_x for step in corner_steps if step] + [1.0])
    least = max(extent(outline) for _, outline, _ in one.ways) / LONGEST_UNITS
    found: list[float] = []
    for _, _, edges in one.ways:
        corners = edges.corners.points
        rough: set[float] = set()
        for axis in (0, 1) if lattice.step_squared[0] == lattice.step_squared[1] else (0,):
            apart = np.abs(corners[:, None, axis] - corners[None, :, axis]).ravel()
            for length in apart[apart > 0.05 * max(apart.max(initial=0), 1e-12)]:
                rough |= {float(length / (k * step)) for k in range(1, LONGEST_UNITS + 1)}
        tried: list[float] = []
        for unit in sorted((unit for unit in rough if unit > 0.9 * least), reverse=True):
            if tried and tried[-1] / unit < 1 + _ROUGHLY:
                continue
            tried.append(unit)
            fits = fitted(edges.corners, lattice, unit, True, _EDGE_EXACT)
            found += [fit.unit for fit in fits[:1] if fit.tells >= tells]
    return sorted((unit for unit in found if unit >= least), reverse=True)


def _agreed(unit: float, seen: Sequence[Seen], lattice: Lattice) -> float:
    """What all bodies make of a unit that one of them suggests."""
    shown = []
    for one in seen:
        fits = [
            fit.unit
            for _, _, edges in one.ways
            for fit in fitted(edges.corners, lattice, unit, True, _EDGE_EXACT)[:1]
            if fit.tells and is_one_of(fit.unit, [unit])
        ]
        shown += [min(fits, key=lambda found: abs(found - unit))] if fits else []
    return median_low(shown) if shown else unit


def fits_unit(one: Seen, lattice: Lattice, unit: float) -> bool:
    """Whether a body's edges lie on a lattice of that unit, in one of the ways it can lie."""
    return any(
        extent(outline) <= LONGEST_UNITS * unit
        and fitted(edges.corners, lattice, unit, False, _EDGE_EXACT)
        for _, outline, edges in one.ways
    )


def is_one_of(unit: float, units: Sequence[float], near: float = _NEAR_UNIT) -> bool:
    """Whether a grid unit is near to one of several."""
    return any(abs(unit / one - 1) < near for one in units)


def extent(outline: Polygon) -> float:
    """The longer side of the box around an outline."""
    left, bottom, right, top = outline.bounds
    return float(max(right - left, top - bottom))
