"""Chequered pieces: every other cell in a second colour."""

from __future__ import annotations

from fabkit.core.reading import Table
from fabkit.model.lattice import LATTICES, Cell, Lattice

#: Which cells have the second colour: those whose row and column have an even or an odd sum.
PARITIES = ("even", "odd")


def read_chequer(head: Table, lattice: Lattice) -> str:
    """The second colour that a set's pieces have; empty when they have none.

    Args:
        head: the table ``[set]``.
        lattice: the set's.
    """
    if not head.has("chequer"):
        return ""
    colour = head.colour("chequer")
    if lattice is not LATTICES["square"] and not head.failed("chequer"):
        head.fault(
            "chequer", f"squares are chequered, and the lattice is {lattice.name}; leave it out"
        )
    return colour


def toned_cells(lattice: Lattice, cells: frozenset[Cell], parity: str) -> frozenset[Cell]:
    """The cells of the second colour.

    Rows and columns are counted from the top left of the piece's drawing, which is the corner of
    what it covers, however it is drawn.

    Args:
        lattice: square.
        cells: the piece's.
        parity: ``even`` or ``odd``.

    Example:
        >>> row = frozenset({(1, 1), (3, 1), (5, 1)})
        >>> sorted(toned_cells(LATTICES["square"], row, "even"))
        [(1, 1), (5, 1)]
    """
    places = {cell: lattice.row_col(cell) for cell in cells}
    origin = sum(min(values) for values in zip(*places.values(), strict=True))
    return frozenset(
        cell
        for cell, (row, col) in places.items()
        if (row + col - origin) % 2 == PARITIES.index(parity)
    )
