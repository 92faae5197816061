"""Reading back: from the outlines of bodies to cells of a lattice, with nothing else to go by."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence

import numpy as np
import shapely
from shapely import Polygon, affinity

from fabkit.mesh.body import Points
from fabkit.mesh.outlines.cornerfit import INSETS, Fit, fitted
from fabkit.mesh.outlines.refine import Lie, Reading, refined, unit_of_equal_insets
from fabkit.mesh.outlines.unit import (
    LONGEST_UNITS,
    Seen,
    common_units,
    extent,
    fits_unit,
    is_one_of,
    see,
)
from fabkit.mesh.upright import Upright
from fabkit.model.lattice import Cell, Lattice, Ring
from fabkit.model.piece import at_anchor, orientations
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.puzzle import PuzzleSet

#: How far, in grid units, an edge may lie from where the lattice and the inset have it, in a body
#: that is read: what a wrong scale and an imprecise print come to.
_EDGE_OFF = 0.08
#: A cell of a piece is at least so full, and one beside it at most as full as is left to 1.
_FULL = 0.6
#: Ways to lie are as good when edges are this near (grid units) as far off: what lies along the
#: diagonals of squares may have its corners on whole points as well as on middles of squares.
_AS_GOOD = 0.005


def read_back(
    bodies: Sequence[Upright], puzzle: PuzzleSet, units: Sequence[float] = ()
) -> list[Reading | None]:
    """Recovers the cells that bodies fill.

    The grid unit is found first, from all bodies together: one with which many of them have
    their edges on the lattice. Of several the one is taken with which most bodies are pieces
    of the set, or else have their corners on whole points, or else the expected, or else the
    largest. (What lies on the quarter-square lattice may also lie, turned by 45 degrees, on one
    1.41 times as wide.)
    Then each body is laid on the lattice; its cells are those that it fills, whatever the set's
    pieces are.

    Args:
        bodies: the parts of one set, or some of them.
        puzzle: the set, whose lattice it is.
        units: what the grid unit may be, for shapes that do not tell; only used for those.

    Returns:
        For each body what was read; None for one whose outline does not lie on the lattice.
    """
    lattice = puzzle.lattice
    seen = [see(body, lattice) for body in bodies]
    known = {o.cells for p in puzzle.pieces for o in orientations(lattice, p, flips=True)}
    best: tuple[tuple[int, int, bool, float], list[Reading | None]] | None = None
    candidates = common_units(seen, lattice)
    # Few bodies may not suggest the right unit although they fit it.
    candidates += [
        unit
        for unit in units
        if not is_one_of(unit, candidates) and any(fits_unit(one, lattice, unit) for one in seen)
    ]
    for common in candidates:
        readings = _lay_all(seen, lattice, common, known)
        read = [reading for reading in readings if reading is not None]
        pieces = sum(at_anchor(lattice, reading.cells) in known for reading in read)
        whole = sum(_corners_are_alike(lattice, reading.rings) for reading in read)
        rank = (pieces, whole, is_one_of(common, units), common)
        if best is None or rank > best[0]:
            best = rank, readings
    if best is None:
        return [None for _ in bodies]
    (*_, common), readings = best
    shown = [reading.own_unit for reading in readings if reading and reading.own_unit]
    exact = float(np.median(shown)) if shown else common
    if not shown:
        alike = unit_of_equal_insets([one for one in readings if one], lattice)
        exact = alike or next((unit for unit in units if is_one_of(common, [unit])), common)
    exactly = [refined(one, lattice, exact) if one else None for one in readings]
    return [one if one and INSETS[0] < one.inset / exact < INSETS[1] else None for one in exactly]


def _corners_are_alike(lattice: Lattice, rings: Sequence[Ring]) -> bool:
    """Whether all corners of an outline are of one kind, as whole points of the grid are."""
    return len({lattice.residue(corner) for ring in rings for corner in ring}) == 1


#: A way to lie: how it fits, by how much it is turned, and the outline when it is.
Way = tuple[Fit, float, Polygon]


def _lay_all(
    seen: Sequence[Seen], lattice: Lattice, unit: float, known: Container[frozenset[Cell]]
) -> list[Reading | None]:
    """The cells of all bodies.

    Three edges fit the lattice in any size, with an inset that makes up for it. So of several
    ways to lie the one is taken whose inset is that of the other bodies.
    """
    ways = [_ways_to_lie(one, lattice, unit) for one in seen]
    insets = [
        min((fit.off + abs(fit.inset), fit.inset) for fit, _, _ in some) for some in ways if some
    ]
    usual = float(np.median([inset for _, inset in insets])) if insets else 0.0
    return [_lay(one, some, lattice, usual, known) for one, some in zip(seen, ways, strict=True)]


def _ways_to_lie(one: Seen, lattice: Lattice, unit: float) -> list[Way]:
    """The ways in which a body lies on a lattice of that unit; none if it is far too large."""
    return [
        (fit, turn, outline)
        for turn, outline, edges in one.ways
        if extent(outline) <= LONGEST_UNITS * unit
        for fit in fitted(edges.corners, lattice, unit, False, _EDGE_OFF)
    ]


def _lay(
    one: Seen,
    ways: Sequence[Way],
    lattice: Lattice,
    inset: float,
    known: Container[frozenset[Cell]],
) -> Reading | None:
    """A body's cells, in the way in which it lies best; of two as good the one that is known."""
    best: Reading | None = None
    off = math.inf
    ranked = [(round(fit.off + abs(fit.inset - inset), 3), fit, turn, at) for fit, turn, at in ways]
    for so_far_off, fit, turn, straight in sorted(ranked, key=lambda way: way[0]):
        if so_far_off > off + _AS_GOOD:
            break
        found = _full_cells(straight, lattice, fit.unit, fit.origin)
        if not found or len(parts_of_cells(lattice, found)) > 1:
            continue
        lie = Lie(fit.unit, turn, fit.origin)
        lie, outline, cells = _always_alike(lie, straight, found, lattice)
        is_known = at_anchor(lattice, cells) in known
        if best is None or is_known:
            rings = rings_of_cells(lattice, cells)
            best = Reading(one.upright, lie, cells, rings, None, 0.0, (0.0, 0.0), outline, outline)
            off = min(off, so_far_off)
        if is_known:
            break
    return refined(best, lattice, None) if best else None


def _always_alike(
    lie: Lie, outline: Polygon, cells: frozenset[Cell], lattice: Lattice
) -> tuple[Lie, Polygon, frozenset[Cell]]:
    """The same, turned so that a body lies alike however it was turned in its file."""
    moves = lattice.moves(False)
    move = min(moves, key=lambda one: sorted(at_anchor(lattice, map(one, cells))))
    angle = 2 * math.pi * move.turns / len(moves)
    cos, sin = math.cos(angle), math.sin(angle)
    x, y = lie.origin
    return (
        Lie(lie.unit, lie.turn - angle, (cos * x - sin * y, sin * x + cos * y)),
        affinity.rotate(outline, angle, origin=(0, 0), use_radians=True),
        frozenset(map(move, cells)),
    )


def _full_cells(
    outline: Polygon, lattice: Lattice, unit: float, origin: tuple[float, float]
) -> frozenset[Cell]:
    """The cells that an outline fills; none when a cell is neither full nor empty."""
    steps = np.array([math.sqrt(squared) for squared in lattice.step_squared])
    left, bottom, right, top = outline.bounds
    low = (np.array([left, bottom]) - origin) / (unit * steps)
    high = (np.array([right, top]) - origin) / (unit * steps)
    cells = list(_cells_between(lattice, low, high))
    shapes = shapely.polygons(
        [[np.asarray(lattice.ring(cell)) * steps * unit + origin for cell in cells]][0]
    )
    shapely.prepare(outline)
    share = shapely.area(shapely.intersection(shapes, outline)) / shapely.area(shapes)
    if ((share < _FULL) & (share > 1 - _FULL)).any():
        return frozenset()
    return frozenset(cell for cell, part in zip(cells, share, strict=True) if part >= _FULL)


def _cells_between(lattice: Lattice, low: Points, high: Points) -> Iterator[Cell]:
    """The cells whose period meets a box, in frame steps."""
    (ux, _), (vx, vy) = lattice.basis
    for row in range(math.floor(low[1] / vy) - 1, math.ceil(high[1] / vy) + 2):
        shift = row * vx
        for col in range(
            math.floor((low[0] - shift) / ux) - 1, math.ceil((high[0] - shift) / ux) + 2
        ):
            for x, y in sorted(lattice.corners):
                yield x + col * ux + shift, y + row * vy
