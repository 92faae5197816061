"""Reading an outline back from the stubs below it, whatever its cells look like from above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from shapely import Polygon

from fabkit.drawing.outline import region_mm
from fabkit.mesh.features import Circle
from fabkit.mesh.part import Outline, Part, inside_mm
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import at_anchor
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.puzzle import in_units

#: A stub is on a lattice point when it is nearer to it than this part of a grid unit.
_NEAR_UNITS = 0.1


def read_by_stubs(
    part: Part, stubs: Sequence[Circle], lattice: Lattice, unit_mm: float
) -> Part | None:
    """Lays a part on the lattice so that its stubs are below the middles of cells.

    Args:
        part: with its vertices in mm, standing on its stubs.
        stubs: their circles, in its frame.
        lattice: the set's.
        unit_mm: the grid unit, for a part of one stub, which does not tell.

    Returns:
        The part with its outline; None when the stubs do not lie on the lattice, or the part reaches
            out of the cells above them.
    """
    found = _cells(stubs, lattice, unit_mm)
    if found is None:
        return None
    cells, unit_mm, scale, shift = found
    if len(parts_of_cells(lattice, cells)) > 1:
        return None
    # The lattice's turns are left to choose: a part lies alike however it lay in its file.
    moves = lattice.moves(False)
    move = min(moves, key=lambda one: sorted(at_anchor(lattice, map(one, cells))))
    turn = np.exp(2j * math.pi * move.turns / len(moves)) / (scale / abs(scale))
    plane = (part.vertices[:, 0] + 1j * part.vertices[:, 1] - shift) * turn
    vertices = np.column_stack([plane.real, plane.imag, part.vertices[:, 2]])
    laid = replace(part, vertices=vertices, outline=None)
    cells = frozenset(map(move, cells))
    canonical = region_mm(lattice, cells, unit_mm)
    assert isinstance(canonical, Polygon)  # its cells hang together
    inset_mm = inside_mm(laid.shadow, canonical)
    if inset_mm < -_NEAR_UNITS * unit_mm:  # whatever this is, it does not stand on its cells
        return None
    outline = Outline(
        cells=cells,
        rings=rings_of_cells(lattice, cells),
        unit_mm=unit_mm,
        own_unit_mm=unit_mm if len(stubs) > 1 else None,
        inset_mm=inset_mm,
        edge_insets_mm=(inset_mm, inset_mm),
        canonical=canonical,
        hausdorff_mm=float(laid.shadow.hausdorff_distance(canonical)),
        area_off=laid.shadow.area / canonical.area - 1,
    )
    return replace(laid, outline=outline, score=1.0, second=None)


def _cells(
    stubs: Sequence[Circle], lattice: Lattice, unit_mm: float
) -> tuple[frozenset[Cell], float, complex, complex] | None:
    """The cells above stubs, the grid unit, and the scale and shift that carry units there."""
    middles = np.array([complex(stub.x_mm, stub.y_mm) for stub in stubs])
    first = middles[0]
    if len(middles) == 1:
        return frozenset({(0, 0)}), unit_mm, complex(unit_mm), first
    away = np.abs(middles - first)
    nearest = int(np.where(away > 0, away, np.inf).argmin())
    scale, shift = complex(middles[nearest] - first), complex(first)
    steps = np.sqrt([float(squared) for squared in lattice.step_squared])
    cells: list[Cell] = []
    for _ in range(2):
        units = (middles - shift) / scale
        frame = np.column_stack([units.real, units.imag]) / steps
        cells = [(round(x), round(y)) for x, y in frame.tolist()]
        if len(set(cells)) < len(cells) or not all(map(lattice.is_cell, cells)):
            return None
        places = np.array([complex(x, y) for x, y in in_units(lattice, cells)])
        if np.abs(places - units).max() > _NEAR_UNITS:
            return None
        columns = np.column_stack([places, np.ones_like(places)])
        scale, shift = map(complex, np.linalg.lstsq(columns, middles, rcond=None)[0])
    return frozenset(cells), abs(scale), scale, shift
