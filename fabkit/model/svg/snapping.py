"""Putting an outline in millimetres onto a lattice."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from fabkit.core.units import format_mm
from fabkit.model.lattice import LATTICES, Cell, Lattice, Point, Ring
from fabkit.model.numbering import LARGEST_COORDINATE
from fabkit.model.polygon import OutlineError, cells_of_rings
from fabkit.model.svg.fault import SvgError

#: So far, in grid units, a corner may lie from its place on the lattice.
TOLERANCE = 0.02

CornerMm = tuple[float, float]


def cells_on_lattice(
    lattice: Lattice, rings_mm: Sequence[Sequence[CornerMm]], unit_mm: float, may_touch: bool
) -> frozenset[Cell]:
    """The cells inside an outline that was drawn somewhere on a page.

    It is moved as little as is needed: not at all when its corners lie on the lattice that
    begins at the page's corner. (An outline of nothing but diagonals can lie on the quarter-square
    lattice in two ways that differ; so that counts.)

    Args:
        lattice: square or quarter-square.
        rings_mm: corners in mm, y up.
        unit_mm: length of a grid unit.
        may_touch: see `cells_of_rings`.

    Raises:
        SvgError: when it cannot be moved onto the lattice; it names a corner or an edge.

    Example:
        >>> ring = [(3, -3), (43, -3), (43, -23), (3, -23.1)]
        >>> sorted(cells_on_lattice(LATTICES["square"], [ring], 20.0, False))
        [(1, -1), (3, -1)]
    """
    steps = 1 if lattice is LATTICES["square"] else 2  # places for a corner in one unit
    step_mm = unit_mm / steps
    corners_mm = [corner for ring in rings_mm for corner in ring]
    places, off = zip(
        *(_places([corner[axis] / step_mm for corner in corners_mm]) for axis in (0, 1)),
        strict=True,
    )
    _refuse_off_lattice(
        corners_mm, [max(pair) / steps for pair in zip(*off, strict=True)], unit_mm, steps
    )
    if max(map(abs, (*places[0], *places[1]))) > LARGEST_COORDINATE:
        raise SvgError(f"reaches farther than {LARGEST_COORDINATE} units of {format_mm(unit_mm)}")
    corners = zip(*places, strict=True)
    rings = [_without_repeats([next(corners) for _ in ring]) for ring in rings_mm]
    faults = []
    for shift in _SHIFTS[: steps**2]:
        moved = [_ring(lattice, ring, steps, shift) for ring in rings]
        try:
            return cells_of_rings(lattice, moved, may_touch)
        except OutlineError as fault:
            faults.append(str(fault))
    raise SvgError(f"{faults[0]} (in units of {format_mm(unit_mm)} from the top left, y up)")


#: Moves by half a unit, of which none is always enough where corners have whole places.
_SHIFTS = ((0, 0), (1, 1), (1, 0), (0, 1))


def _places(values: Sequence[float]) -> tuple[list[int], list[float]]:
    """The whole number near each value once all are moved a little, and how far it is away.

    They are moved by what is best for most of them, so that it is the odd one that is off.

    Example:
        >>> _places([1.25, 2.25, 4.5])
        ([1, 2, 4], [0.0, 0.0, 0.25])
    """
    first = values[0]
    move = first + statistics.median_low([_residue(value - first) for value in values])
    moved = [value - _residue(move) for value in values]
    return [round(value) for value in moved], [abs(_residue(value)) for value in moved]


def _residue(value: float) -> float:
    """What is left beside the nearest whole number."""
    return value - round(value)


def _refuse_off_lattice(
    corners_mm: Sequence[CornerMm], off: Sequence[float], unit_mm: float, steps: int
) -> None:
    worst = max(range(len(off)), key=off.__getitem__)
    if off[worst] <= TOLERANCE:
        return
    (x, y), (xs, ys) = corners_mm[worst], zip(*corners_mm, strict=True)
    raise SvgError(
        f"corner {worst + 1} at ({x:.5g}, {0 - y:.5g}) mm lies {off[worst]:.2g} units off the "
        f"lattice; corners lie whole {'units' if steps == 1 else 'or half units'} apart, a unit is "
        f"{format_mm(unit_mm)}, and the drawing is {max(xs) - min(xs):.4g} x "
        f"{max(ys) - min(ys):.4g} mm large"
    )


def _without_repeats(ring: Sequence[Point]) -> list[Point]:
    """A ring without edges of no length, which nobody can see."""
    return [here for before, here in zip((ring[-1], *ring), ring, strict=False) if here != before]


def _ring(lattice: Lattice, ring: Sequence[Point], steps: int, shift: Point) -> Ring:
    """A ring of places as frame points."""
    frame = lattice.per_unit // steps
    return tuple(((x + shift[0]) * frame, (y + shift[1]) * frame) for x, y in ring)
