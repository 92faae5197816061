"""How files name cells: by row and column from a top left, or by their number on a board."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabkit.core.errors import shown
from fabkit.core.reading import Table
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.polygon import MAX_SIZE

LARGEST_COORDINATE = 10_000
WHOLE = f"whole numbers up to {LARGEST_COORDINATE}"


@dataclass(frozen=True)
class Numbering:
    """The names of cells on a board, or inside a region that was drawn instead of one.

    Attributes:
        lattice: the set's.
        cells: the board's; none when there is no board, or it has a fault that is told elsewhere.
        lack: why cells have no numbers here, if they have none.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> stairs = Numbering(LATTICES["square"], frozenset({(1, 3), (3, 1)}))
        >>> stairs.origin, stairs.places
        ((-2, 0), ((-2, 0), (-1, 1)))
    """

    lattice: Lattice
    cells: frozenset[Cell] = frozenset()
    lack: str = ""

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The lattice's row and column of each of the board's cells, in reading order."""
        return tuple(sorted({self.lattice.row_col(cell) for cell in self.cells}))

    @cached_property
    def origin(self) -> tuple[int, int]:
        """The lattice's row and column that are the board's ``[0, 0]``."""
        return (self.places[0][0], min(col for _, col in self.places)) if self.places else (0, 0)


def read_cells(
    table: Table, lattice: Lattice, numbering: Numbering | None = None
) -> frozenset[Cell]:
    """The cells of the key ``cells``: a list of ``[row, column]``, rows counted downwards.

    Args:
        table: the piece, board, challenge or given piece.
        lattice: the set's.
        numbering: where rows and columns begin, and what plain numbers mean; None when they
            mean nothing, as in a piece.

    Returns:
        The cells; fewer or none after a fault.
    """
    items = table.array("cells", MAX_SIZE)
    if not items and not table.failed("cells"):
        table.fault("cells", f"is empty; expected a list of {_expected(numbering)}")
    found: set[Cell] = set()
    for index, item in enumerate(items):
        if numbering and numbering.lack and type(item) is int:
            message = f"{shown(item)} is the number of a cell, but {numbering.lack}"
            table.fault("cells", f"{message}; write [row, column]", f"[{index}]")
            return frozenset()
        place = _place(table, item, index, numbering)
        cells = lattice.cells_at(*place) if place else ()
        if cells and found.issuperset(cells):
            table.fault("cells", f"{shown(item)} is listed twice", f"[{index}]")
        found.update(cells)
    return frozenset(found)


def is_point(value: object, dimensions: int, whole: bool) -> bool:
    """Whether a value is a list of that many numbers of sane size.

    Example:
        >>> is_point([1, 0.5], 2, whole=False), is_point([1, float("nan")], 2, whole=False)
        (True, False)
    """
    return (
        isinstance(value, list)
        and len(value) == dimensions
        and all(
            isinstance(number, int if whole else int | float)
            and not isinstance(number, bool)
            and abs(number) <= LARGEST_COORDINATE  # which nan is not
            for number in value
        )
    )


def _place(
    table: Table, item: Any, index: int, numbering: Numbering | None
) -> tuple[int, int] | None:
    """The lattice's row and column that an item names; None after a fault."""
    if is_point(item, dimensions=2, whole=True):
        row, col = numbering.origin if numbering else (0, 0)
        return item[0] + row, item[1] + col
    where = f"[{index}]"
    if numbering is None or type(item) is not int:
        expected = f"expected {_expected(numbering)}, {WHOLE}"
        table.fault("cells", f"{expected}, found {shown(item)}", where)
    elif numbering.cells and 0 <= item < len(numbering.places):
        return numbering.places[item]
    elif numbering.cells:
        last = len(numbering.places) - 1
        message = f"there is no cell {shown(item)}; the board's cells are numbered 0 to {last}"
        table.fault("cells", message, where)
    return None


def _expected(numbering: Numbering | None) -> str:
    numbers = numbering is not None and numbering.cells and not numbering.lack
    return "[row, column] or a cell's number" if numbers else "[row, column]"
