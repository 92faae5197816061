"""How shapes are written in set and challenge files: outlines, rows, cells, balls, SVG files.

Every function takes what stands at one key, notes what is wrong there, and returns something
usable in any case, so that all faults of a file come out together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import shown
from fabkit.model.balls import Ball, BallBody, BallError
from fabkit.model.lattice import LATTICES, Cell, Lattice, Point, Ring
from fabkit.model.piece import Form, forms_of_balls
from fabkit.model.polygon import (
    LARGEST_COORDINATE,
    MAX_SIZE,
    OutlineError,
    cells_of_rings,
    parts_of_cells,
    rings_of_cells,
)
from fabkit.model.svg import SvgError, SvgFolder

if TYPE_CHECKING:
    from fabkit.core.documents import Faults

#: More cells than this in all its drawings is not a file about puzzles any more.
MAX_CELLS_OF_FILE = 200_000
#: A board or a piece is at most so many rows high and cells wide.
LONGEST_SIDE = 100
_FEWEST_BALLS, _MOST_BALLS = 2, 100
_WHOLE = f"whole numbers up to {LARGEST_COORDINATE}"
#: What stands for no cell in rows of text; every letter stands for one.
_NO_CELL = ". "


@dataclass(frozen=True)
class Numbering:
    """The names of cells on a board, or inside a region that was drawn instead of one.

    Without cells there is no board, or it has a fault that is noted elsewhere. ``lack`` says why
    cells have no numbers here, if they have none.
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


class _DrawingError(ValueError):
    """What is wrong with a drawing, and where below its key."""

    def __init__(self, message: str, below: str = "") -> None:
        super().__init__(message)
        self.below = below


class Regions:
    """Reads the regions of one file, and counts their cells against what a file may hold.

    Args:
        lattice: the set's.
        faults: where faults go.
        drawings: the SVG files beside the set file; None where none are read.
        unit_mm: length of a grid unit in them; None when the set names none.
    """

    def __init__(
        self,
        lattice: Lattice,
        faults: Faults,
        drawings: SvgFolder | None = None,
        unit_mm: float | None = None,
    ) -> None:
        self.lattice = lattice
        self.faults = faults
        self._drawings = drawings
        self._unit_mm = unit_mm
        self._cells_left = MAX_CELLS_OF_FILE
        self._noted: set[str] = set()

    def read(
        self,
        kind: str,
        value: Any,
        key: str,
        numbering: Numbering | None = None,
        piece: bool = False,
    ) -> frozenset[Cell]:
        """The cells of a drawing; none after a fault.

        Args:
            kind: ``outline``, ``cells``, ``rows``, ``size`` or ``svg``.
            value: what the file says.
            key: the place in the file.
            numbering: where rows and columns begin, and what plain numbers mean; None when they
                mean nothing, as in a piece.
            piece: whether it is one: its outline meets itself nowhere, its rows are texts.
        """
        if self._cells_left <= 0:
            return frozenset()
        before, lattice, faults = self.faults.count, self.lattice, self.faults
        cells = frozenset[Cell]()
        try:
            if kind == "outline":
                cells = read_outline(value, lattice, key, faults, may_touch=not piece)
            elif kind == "cells":
                cells = _read_cells(value, lattice, key, faults, numbering)
            elif kind == "svg":
                cells = self._read_svg(value, may_touch=not piece)
            else:
                cells = _read_rows(value, lattice, lengths=not piece, is_size=kind == "size")
        except _DrawingError as fault:
            faults.add(key + fault.below, str(fault))
        self._cells_left -= len(cells)
        if self._cells_left <= 0:
            faults.add(key, f"the file holds more than {MAX_CELLS_OF_FILE} cells in all")
        return cells if faults.count == before else frozenset()

    def _read_svg(self, wanted: str, may_touch: bool) -> frozenset[Cell]:
        """The cells inside a shape of an SVG file. A fault of a whole file is noted once."""
        if self._drawings is None:
            return frozenset()
        if self.lattice is LATTICES["triangular"]:
            raise _DrawingError(_NO_OUTLINES)
        if self._unit_mm is None:
            need = 'shapes are drawn at 1:1, so the set needs its unit, such as unit = "20 mm"'
            raise _DrawingError(f"{need} in [set]")
        try:
            return self._drawings.cells(wanted, self.lattice, self._unit_mm, may_touch)
        except SvgError as fault:
            if str(fault) in self._noted:
                return frozenset()
            self._noted.add(str(fault))
            raise _DrawingError(str(fault)) from None


_NO_OUTLINES = "the triangular lattice has no outlines; draw it with rows or cells"


def read_outline(
    outline: Any, lattice: Lattice, key: str, faults: Faults, may_touch: bool
) -> frozenset[Cell]:
    """The cells inside an outline: one ring, a list of rings, or a list of those.

    Coordinates are ``[x, y]`` in grid units, whole numbers or halves; holes follow their
    outer ring; no ring repeats its first corner at the end.
    """
    try:
        if lattice is LATTICES["triangular"]:
            raise OutlineError(_NO_OUTLINES)
        return cells_of_rings(lattice, _rings(outline, lattice), may_touch)
    except OutlineError as fault:
        faults.add(key, str(fault))
    except _DrawingError as fault:
        faults.add(key + fault.below, str(fault))
    return frozenset()


def _rings(outline: Any, lattice: Lattice) -> list[Ring]:
    """The rings of an outline, however deep they are nested."""
    rings: list[Any] = [outline]
    while rings and all(isinstance(ring, list) and ring and _holds_rings(ring) for ring in rings):
        rings = [inner for ring in rings for inner in ring]
    if sum(len(ring) for ring in rings if isinstance(ring, list)) > MAX_SIZE:
        raise OutlineError(f"has more than {MAX_SIZE} corners")
    found = []
    for index, ring in enumerate(rings):
        below = "" if rings[0] is outline else f" ring {index}"
        if not isinstance(ring, list) or not ring:
            raise _DrawingError(f"expected a list of [x, y] corners, found {shown(ring)}", below)
        corners = enumerate(ring)
        found.append(tuple(_frame_point(lattice, one, f"{below}[{i}]") for i, one in corners))
    return found


def _holds_rings(value: list[Any]) -> bool:
    """Whether a list is one of rings: its first item's first item is a list itself."""
    first = value[0]
    return isinstance(first, list) and bool(first) and isinstance(first[0], list)


def _frame_point(lattice: Lattice, corner: Any, below: str) -> Point:
    if not _is_point(corner, dimensions=2, whole=False):
        expected = f"expected [x, y] with finite numbers up to {LARGEST_COORDINATE}"
        raise _DrawingError(f"{expected}, found {shown(corner)}", below)
    if any(value * 2 != int(value * 2) for value in corner):
        not_on = "is not on the lattice; coordinates are whole numbers or halves"
        raise _DrawingError(f"{shown(corner)} {not_on}", below)
    x, y = (int(value * 2) * lattice.per_unit // 2 for value in corner)
    return x, y


def _read_cells(
    items: Any, lattice: Lattice, key: str, faults: Faults, numbering: Numbering | None
) -> frozenset[Cell]:
    """The cells of a list of ``[row, column]``, rows counted downwards; see `Regions.read`."""
    numbers = numbering is not None and numbering.cells and not numbering.lack
    expected = "[row, column] or a cell's number" if numbers else "[row, column]"
    if not isinstance(items, list):
        raise _DrawingError(f"expected a list, found {shown(items)}")
    if len(items) > MAX_SIZE:
        raise _DrawingError(f"has {len(items)} items; at most {MAX_SIZE} are allowed")
    if not items:
        raise _DrawingError(f"is empty; expected a list of {expected}")
    found: set[Cell] = set()
    for index, item in enumerate(items):
        try:
            place = _row_col(item, numbering, expected)
            cells = lattice.cells_at(*place) if place else ()
            if cells and found.issuperset(cells):
                raise ValueError(f"{shown(item)} is listed twice")
            found.update(cells)
        except ValueError as fault:
            faults.add(f"{key}[{index}]", str(fault))
            if numbering and numbering.lack and type(item) is int:
                break
    return frozenset(found)


def _row_col(item: Any, numbering: Numbering | None, expected: str) -> tuple[int, int] | None:
    """The lattice's row and column that an item names; None on a board with a fault.

    Raises:
        ValueError: with a sentence, when it names none.
    """
    if _is_point(item, dimensions=2, whole=True):
        row, col = numbering.origin if numbering else (0, 0)
        return item[0] + row, item[1] + col
    if numbering is None or type(item) is not int:
        raise ValueError(f"expected {expected}, {_WHOLE}, found {shown(item)}")
    if numbering.lack:
        number = f"{shown(item)} is the number of a cell"
        raise ValueError(f"{number}, but {numbering.lack}; write [row, column]")
    if numbering.cells and not 0 <= item < len(numbering.places):
        numbered = f"the board's cells are numbered 0 to {len(numbering.places) - 1}"
        raise ValueError(f"there is no cell {shown(item)}; {numbered}")
    return numbering.places[item] if numbering.cells else None


def _is_point(value: object, dimensions: int, whole: bool) -> bool:
    """Whether a value is a list of that many numbers of sane size."""
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


def _read_rows(rows: Any, lattice: Lattice, lengths: bool, is_size: bool) -> frozenset[Cell]:
    """The cells of ``rows``, or of ``size = [rows, columns]``.

    Rows are texts, in which a letter is a cell, or, for a board, the length of each row. Odd rows
    of the triangular lattice lie half a cell to the right; a letter is a whole square of the
    quarter-square lattice.
    """
    bounded = isinstance(rows, list) and 0 < len(rows) <= LONGEST_SIDE
    numbers = bounded and all(type(one) is int and 0 < one <= LONGEST_SIDE for one in rows)
    sane = f"with numbers from 1 to {LONGEST_SIDE}"
    if is_size:
        if not numbers or len(rows) != 2:
            raise _DrawingError(f"expected [rows, columns], {sane}, found {shown(rows)}")
        return _cells_of(lattice, [range(rows[1])] * rows[0])
    if numbers and lengths:
        return _cells_of(lattice, [range(length) for length in rows])
    if not isinstance(rows, list) or not any(isinstance(row, str) for row in rows):
        per_row = f"the number of cells in each row, {sane}, or " if lengths else ""
        raise _DrawingError(f'expected {per_row}texts such as ["XX.", ".XX"], found {shown(rows)}')
    if not bounded:
        raise _DrawingError(f"has {len(rows)} rows; at most {LONGEST_SIDE} are allowed")
    for index, row in enumerate(rows):
        if fault := _fault_of_row(row, rows[0]):
            raise _DrawingError(fault, f"[{index}]")
    cols = [[col for col, one in enumerate(row) if one not in _NO_CELL] for row in rows]
    if not any(cols):
        raise _DrawingError("holds no letter; a letter is a cell, and . or a blank is none")
    return _cells_of(lattice, cols)


def _fault_of_row(row: Any, first: Any) -> str:
    """What is wrong with a row of text; empty when nothing is."""
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


def _cells_of(lattice: Lattice, rows: Sequence[Sequence[int]]) -> frozenset[Cell]:
    """The cells of some columns in each row."""
    return frozenset(
        cell for row, cols in enumerate(rows) for col in cols for cell in lattice.cells_at(row, col)
    )


def flat_form(lattice: Lattice, cells: frozenset[Cell], key: str, faults: Faults) -> Form | None:
    """The form of a flat piece, if its cells hang together by their edges."""
    if not cells:
        return None
    parts = len(parts_of_cells(lattice, cells))
    if parts > 1:
        faults.add(key, f"falls into {parts} parts; the cells of a piece share edges")
        return None
    rings = rings_of_cells(lattice, cells)
    try:
        cells_of_rings(lattice, rings)
    except OutlineError:  # the cells close around a hole in a single point
        touching = sorted(map(lattice.row_col, _cells_that_touch(lattice, cells)))
        where = " and ".join(str(list(cell)) for cell in touching)
        faults.add(key, f"{where} touch at a corner only; a piece would break there")
        return None
    return Form("", cells, rings)


def _cells_that_touch(lattice: Lattice, cells: frozenset[Cell]) -> tuple[Cell, Cell]:
    """Two cells at a corner where the outline passes twice, from its two sides."""
    visits: dict[Point, list[Cell]] = defaultdict(list)
    edges = {edge: cell for cell in cells for edge in lattice.cell_edges(cell)}
    for (start, end), cell in edges.items():
        if (end, start) not in edges:
            visits[start].append(cell)
    one, other = sorted(min(visits.items(), key=lambda visit: (-len(visit[1]), visit[0]))[1])[:2]
    return one, other


def read_balls(
    items: Any, pairs: Any, place: str, faults: Faults
) -> tuple[BallBody, tuple[Form, ...]] | None:
    """A ball piece with its computed flat forms; without bonds, all neighbours are joined."""
    key, before = f"{place}.balls", faults.count
    try:
        balls = _places(items, key, faults)
        if not balls:
            return None
        near = [
            (i, j) for j in range(len(balls)) for i in range(j) if _are_near(balls[i], balls[j])
        ]
        bonds = near if pairs is None else _bonds(pairs, near, f"{place}.bonds", faults)
        if faults.count == before:
            _refuse_loose_ball(balls, bonds)
            body = BallBody(tuple(balls), tuple(bonds))
            return body, forms_of_balls(body)
    except BallError as fault:
        faults.add(key, str(fault))
    return None


def _places(items: Any, key: str, faults: Faults) -> list[Ball]:
    """The places of balls; none after a fault that is noted."""
    if not isinstance(items, list):
        raise BallError(f"expected a list, found {shown(items)}")
    if len(items) > _MOST_BALLS:
        raise BallError(f"has {len(items)} items; at most {_MOST_BALLS} are allowed")
    wrong = [i for i, item in enumerate(items) if not _is_point(item, dimensions=3, whole=True)]
    for index in wrong:
        expected = f"expected [x, y, z], {_WHOLE}"
        faults.add(f"{key}[{index}]", f"{expected}, found {shown(items[index])}")
    if wrong:
        return []
    balls = [(x, y, z) for x, y, z in items]
    if len(set(balls)) < len(balls) or len(balls) < _FEWEST_BALLS:
        raise BallError("expected two or more balls at different places")
    return balls


def _bonds(
    pairs: Any, near: Sequence[tuple[int, int]], key: str, faults: Faults
) -> list[tuple[int, int]]:
    """Pairs of joined neighbours, as far as they are."""
    bonds: list[tuple[int, int]] = []
    if not isinstance(pairs, list) or len(pairs) > _MOST_BALLS**2:
        faults.add(key, f"expected a list of two indices of balls each, found {shown(pairs)}")
        return bonds
    for index, item in enumerate(pairs):
        pair = (min(item), max(item)) if _is_point(item, dimensions=2, whole=True) else (-1, -1)
        if pair not in near:
            expected = "expected two indices of neighbouring balls"
            faults.add(f"{key}[{index}]", f"{expected}, found {shown(item)}")
        elif pair in bonds:
            faults.add(f"{key}[{index}]", f"{shown(item)} is listed twice")
        else:
            bonds.append(pair)
    return bonds


def _refuse_loose_ball(balls: list[Ball], bonds: list[tuple[int, int]]) -> None:
    """Raises `BallError` when the bonds do not hold all balls together."""
    joined, frontier = {0}, [0]
    while frontier:
        i = frontier.pop()
        for bond in bonds:
            if i in bond and (j := sum(bond) - i) not in joined:
                joined.add(j)
                frontier.append(j)
    loose = sorted(set(range(len(balls))) - joined)
    for i in loose:
        if not any(_are_near(balls[i], other) for other in balls):
            places = "the places of neighbours differ by 1 in one coordinate"
            raise BallError(f"ball {list(balls[i])} touches no other; {places}")
    for i in loose[:1]:
        near = [j for j in sorted(joined) if _are_near(balls[i], balls[j])][:1]
        hint = f"; add the bond {sorted((*near, i))}" if near else ""
        raise BallError(f"ball {list(balls[i])} is not joined to the first one{hint}")


def _are_near(a: Ball, b: Ball) -> bool:
    return sum(abs(p - q) for p, q in zip(a, b, strict=True)) == 1
