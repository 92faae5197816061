"""Shapes as rows: of text, as a person draws them, or of so many cells each."""

from __future__ import annotations

from typing import Any

from fabkit.core.errors import shown
from fabkit.core.reading import Table
from fabkit.model.lattice import Cell, Lattice

#: A board or a piece is at most so many rows high and cells wide.
LONGEST_SIDE = 100
#: What stands for no cell; every letter stands for one.
_NO_CELL = ". "


def read_size(table: Table, lattice: Lattice) -> frozenset[Cell]:
    """A board's cells at ``size = [rows, columns]``."""
    size = table.raw("size")
    if not _are_lengths(size) or len(size) != 2:
        expected = f"expected [rows, columns], with numbers from 1 to {LONGEST_SIDE}"
        table.fault("size", f"{expected}, found {shown(size)}")
        return frozenset()
    return _cells(lattice, [range(size[1])] * size[0])


def read_rows(table: Table, lattice: Lattice, lengths: bool = True) -> frozenset[Cell]:
    """The cells at ``rows``: texts, in which a letter is a cell, or the length of each row.

    Odd rows of the triangular lattice lie half a cell to the right.

    Args:
        table: the piece or board.
        lattice: the set's. A letter is a whole square of the quarter-square lattice.
        lengths: whether numbers may be meant, as for a board.

    Returns:
        The cells; none after a fault.

    Example:
        >>> from fabkit.core.reading import Reader
        >>> from fabkit.model.lattice import LATTICES
        >>> table = Table(Reader("mine.toml"), {"rows": ["X.", "XX"]})
        >>> sorted(read_rows(table, LATTICES["square"]))
        [(1, -3), (1, -1), (3, -3)]
    """
    rows = table.raw("rows")
    if isinstance(rows, list) and any(isinstance(row, str) for row in rows):
        return _drawn(table, lattice, rows)
    if lengths and _are_lengths(rows):
        return _cells(lattice, [range(length) for length in rows])
    if lengths:
        expected = f"the number of cells in each row, with numbers from 1 to {LONGEST_SIDE}, or "
    else:
        expected = ""
    table.fault("rows", f'expected {expected}texts such as ["XX.", ".XX"], found {shown(rows)}')
    return frozenset()


def _are_lengths(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= LONGEST_SIDE
        and all(type(number) is int and 0 < number <= LONGEST_SIDE for number in value)
    )


def _drawn(table: Table, lattice: Lattice, rows: list[Any]) -> frozenset[Cell]:
    """The cells of rows of text."""
    if len(rows) > LONGEST_SIDE:
        table.fault("rows", f"has {len(rows)} rows; at most {LONGEST_SIDE} are allowed")
        return frozenset()
    for index, row in enumerate(rows):
        if fault := _fault_of(row, rows[0]):
            table.fault("rows", fault, f"[{index}]")
            return frozenset()
    cells = _cells(
        lattice, [[col for col, one in enumerate(row) if one not in _NO_CELL] for row in rows]
    )
    if not cells:
        table.fault("rows", "holds no letter; a letter is a cell, and . or a blank is none")
    return cells


def _fault_of(row: Any, first: Any) -> str:
    """What is wrong with a row; empty when nothing is."""
    if not isinstance(row, str):
        return f'expected a text such as "XX.", found {shown(row)}'
    if len(row) > LONGEST_SIDE:
        return f"is {len(row)} long; at most {LONGEST_SIDE} are allowed"
    for one in row:
        if one not in _NO_CELL and not one.isalpha():
            return f"{shown(one)} in {shown(row)} is no letter (a cell), and no . or blank (none)"
    if len(row) != len(first):
        same = "all rows are equally long; fill them up with ."
        return f"{shown(row)} is {len(row)} long, and the first row {len(first)}; {same}"
    return ""


def _cells(lattice: Lattice, rows: list[Any]) -> frozenset[Cell]:
    """The cells of some columns in each row."""
    return frozenset(
        cell for row, cols in enumerate(rows) for col in cols for cell in lattice.cells_at(row, col)
    )
