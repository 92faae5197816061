"""Random shapes for property tests: sets of cells that hang together by their edges."""

from __future__ import annotations

from functools import cache
from itertools import product

from hypothesis import assume
from hypothesis import strategies as st
from shapely import Polygon

from fabkit.drawing.outline import canonical_outline
from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import Form, Piece
from fabkit.model.polygon import OutlineError, cells_of_rings, rings_of_cells

lattices = st.sampled_from(list(LATTICES.values()))


def neighbours(lattice: Lattice, cell: Cell) -> list[Cell]:
    """The cells that share an edge with a cell, found by looking around (no shared code)."""
    x, y = cell
    return [(x + dx, y + dy) for dx, dy in _neighbours_of_kind(lattice.name, lattice.residue(cell))]


@cache
def _neighbours_of_kind(name: str, kind: Cell) -> list[Cell]:
    lattice, (x, y) = LATTICES[name], kind
    edges = {frozenset(edge) for edge in lattice.cell_edges(kind)}
    return [
        (dx, dy)
        for dx, dy in product(range(-24, 25), range(-36, 37))
        if (dx, dy) != (0, 0)
        and lattice.is_cell((x + dx, y + dy))
        and edges & {frozenset(edge) for edge in lattice.cell_edges((x + dx, y + dy))}
    ]


@st.composite
def cell_sets(
    draw: st.DrawFn, lattice: Lattice | None = None, most: int = 12
) -> tuple[Lattice, frozenset[Cell]]:
    """A lattice and a random polyform on it, grown cell by cell."""
    lattice = lattice or draw(lattices)
    cells = {lattice.first[0]}
    for _ in range(draw(st.integers(0, most - 1))):
        rim = sorted({n for cell in cells for n in neighbours(lattice, cell)} - cells)
        cells.add(draw(st.sampled_from(rim)))
    return lattice, frozenset(cells)


def piece_of(lattice: Lattice, cells: frozenset[Cell]) -> Piece:
    """A piece of that shape."""
    return Piece("X", "X", "#e69f00", (Form("", cells, rings_of_cells(lattice, cells)),))


def outline_of(shape: tuple[Lattice, frozenset[Cell]], unit_mm: float) -> Polygon:
    """A random shape's outline; shapes that hang together by a point are passed over."""
    lattice, cells = shape
    rings = rings_of_cells(lattice, cells)
    try:
        cells_of_rings(lattice, rings)
    except OutlineError:
        assume(False)
    return canonical_outline(lattice, rings, unit_mm)
