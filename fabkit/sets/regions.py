"""Read shapes in set and challenge files: outlines, rows, cells, balls, SVG files.

Every function takes the value of one key, records its errors, and returns something usable in any
case, so that all errors in a file are reported together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabkit.core.documents import Table, exactly_one
from fabkit.core.errors import ErrorList, join_or, no_such, quote
from fabkit.model.balls import Ball, BallBody, BallError
from fabkit.model.lattice import Cell, Lattice, Point, Ring
from fabkit.model.piece import Form, forms_of_balls
from fabkit.model.polygon import (
    LARGEST_COORDINATE,
    MAX_SIZE,
    OutlineError,
    cells_of_rings,
    parts_of_cells,
    rings_of_cells,
)
from fabkit.model.puzzle import Label
from fabkit.sets.svg import SvgError, SvgFolder

#: Limit for the cells of all drawings of a file.
MAX_CELLS_OF_FILE = 200_000
#: Limit for the rows and columns of a board or piece.
LONGEST_SIDE = 100
#: Limit for the balls of a piece.
_MAX_BALLS = 100
#: At most this many labels are named in a message.
_MAX_LABELS_NAMED = 12
_WHOLE = f"whole numbers up to {LARGEST_COORDINATE}"
#: Characters without a cell in rows of text; every letter is a cell.
_NO_CELL = ". "


@dataclass(frozen=True)
class CellNumbering:
    """The numbers of cells on a board or in a drawn region.

    Without cells there is no board, or its error is recorded elsewhere. ``lack`` explains why cells
    have no numbers here, if they have none. ``labels`` are names of cells.
    """

    lattice: Lattice
    cells: frozenset[Cell] = frozenset()
    lack: str = ""
    labels: tuple[Label, ...] = ()

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Row and column on the lattice of each cell of the board, in reading order."""
        return tuple(sorted({self.lattice.row_col(cell) for cell in self.cells}))

    @cached_property
    def origin(self) -> tuple[int, int]:
        """Row and column on the lattice of the board's ``[0, 0]``."""
        if not self.places:
            return 0, 0
        return self.lattice.origin(self.places[0][0], min(col for _, col in self.places))

    def place(self, cells: frozenset[Cell]) -> tuple[int, int]:
        """Return the row and column of the first of some cells, counted from ``[0, 0]``."""
        row, col = min(map(self.lattice.row_col, cells))
        return row - self.origin[0], col - self.origin[1]

    def outside(self, cells: frozenset[Cell], region: frozenset[Cell]) -> str:
        """Return the error that the first cell outside a region is there; empty without one."""
        if not region or cells <= region:
            return ""
        return f"{list(self.place(cells - region))} is not among the cells to cover; name others"

    def labelled(self, text: str) -> Label:
        """Return the label with this text, ignoring case.

        Raises:
            ValueError: with a message, when there is none, or several.
        """
        if not self.cells and not self.lack:
            return Label(text, frozenset())
        if not self.labels:
            lack = self.lack or "no cell of this region has one"
            raise ValueError(f"{quote(text)} is not a label: {lack}; write [row, column]")
        named = [label for label in self.labels if label.text.lower() == text.lower()]
        if not named:
            texts = [label.text for label in self.labels]
            raise ValueError(no_such("label", text, texts, _MAX_LABELS_NAMED))
        if len(named) > 1:
            raise ValueError(
                f"{quote(text)} is the label of {len(named)} cells; write [row, column]"
            )
        return named[0]


class _DrawingError(OutlineError):
    """An error in a drawing and its place relative to the key."""

    def __init__(self, message: str, below: str = "") -> None:
        super().__init__(message)
        self.below = below


class RegionReader:
    """Reads the regions of one file and limits their total number of cells.

    Args:
        drawings: the SVG files beside the set file; None where none are allowed.
        unit_mm: grid unit of SVG files; None when the set defines none.
        proved: whether the file was checked before, as a shipped catalog was.
    """

    def __init__(
        self,
        lattice: Lattice,
        errors: ErrorList,
        drawings: SvgFolder | None = None,
        unit_mm: float | None = None,
        proved: bool = False,
    ) -> None:
        self.lattice = lattice
        self.errors = errors
        self.proved = proved
        self._drawings = drawings
        self._unit_mm = unit_mm
        self._cells_left = MAX_CELLS_OF_FILE
        self._noted: set[str] = set()

    def drawn(
        self,
        table: Table,
        keys: Sequence[str],
        numbering: CellNumbering | None = None,
        required: bool = True,
        piece: bool = False,
    ) -> tuple[str, frozenset[Cell]]:
        """Return which of several keys a table has, and its cells; see `exactly_one` and `read`."""
        key = exactly_one(self.errors, table, keys, required)
        if not key:
            return key, frozenset()
        return key, self.read(key, getattr(table, key), table.key(key), numbering, piece)

    def read(
        self,
        kind: str,
        value: Any,
        key: str,
        numbering: CellNumbering | None = None,
        piece: bool = False,
    ) -> frozenset[Cell]:
        """Return the cells of a drawing; none after an error.

        Args:
            kind: ``outline``, ``cells``, ``frame``, ``rows``, ``size`` or ``svg``.
            key: the place in the file.
            numbering: the origin of rows and columns and the meaning of plain numbers; None for a
                piece, where plain numbers have none.
            piece: whether it draws a piece: its outline must not touch itself, its rows are
                strings.
        """
        cells = frozenset[Cell]()
        if self._cells_left <= 0:
            return cells
        if kind == "frame" and self.proved:
            return cells.union(map(tuple, value))
        lattice = self.lattice
        errors = self.errors
        errors_before = errors.count
        try:
            if kind in ("outline", "svg") and not lattice.has_outlines:
                has_none = f"the {lattice.name} lattice has no outlines"
                raise OutlineError(f"{has_none}; draw it with rows or cells")
            if kind == "outline":
                cells = cells_of_rings(lattice, _rings(value, lattice), may_touch=not piece)
            elif kind == "cells":
                cells = _read_cells(value, lattice, key, errors, numbering)
            elif kind == "frame":
                cells = _read_frame(value, lattice)
            elif kind == "svg":
                cells = self._read_svg(value, may_touch=not piece)
            else:
                cells = _read_rows(value, lattice, lengths=not piece, is_size=kind == "size")
        except OutlineError as error:
            below = error.below if isinstance(error, _DrawingError) else ""
            errors.add(key + below, str(error))
        self._cells_left -= len(cells)
        if self._cells_left <= 0:
            errors.add(key, f"the file contains more than {MAX_CELLS_OF_FILE} cells in all")
        return cells if errors.count == errors_before else frozenset()

    def letters(self, rows: Sequence[str]) -> dict[Cell, str]:
        """Return the letter of each cell drawn by rows of text that have no error."""
        return {
            cell: letter
            for row, text in enumerate(rows)
            for col, letter in enumerate(text)
            if letter not in _NO_CELL
            for cell in self.lattice.cells_at(row, col)
        }

    def _read_svg(self, wanted: str, may_touch: bool) -> frozenset[Cell]:
        """Return the cells inside a shape of an SVG file; record an error of a whole file once."""
        if self._drawings is None or self._unit_mm is None:
            need = 'shapes are drawn at 1:1, so the set needs its unit, such as unit = "20 mm"'
            raise OutlineError(f"{need} in [set]")
        try:
            return self._drawings.cells(wanted, self.lattice, self._unit_mm, may_touch)
        except SvgError as error:
            if str(error) in self._noted:
                return frozenset()
            self._noted.add(str(error))
            raise OutlineError(str(error)) from None


def _rings(outline: Any, lattice: Lattice) -> list[Ring]:
    """Return the rings of an outline: one ring, a list of rings, or a list of those.

    Coordinates are ``[x, y]`` in grid units, whole numbers or halves; holes follow their outer
    ring; no ring repeats its first corner at the end.
    """
    rings: list[Any] = [outline]
    while rings and all(isinstance(ring, list) and ring and _holds_rings(ring) for ring in rings):
        rings = [inner for ring in rings for inner in ring]
    if sum(len(ring) for ring in rings if isinstance(ring, list)) > MAX_SIZE:
        raise OutlineError(f"has more than {MAX_SIZE} corners")
    frame_rings = []
    for index, ring in enumerate(rings):
        below = "" if rings[0] is outline else f" ring {index}"
        if not isinstance(ring, list) or not ring:
            raise _DrawingError(f"expected a list of [x, y] corners, found {quote(ring)}", below)
        corners = enumerate(ring)
        frame_rings.append(
            tuple(_frame_point(lattice, corner, f"{below}[{i}]") for i, corner in corners)
        )
    return frame_rings


def _holds_rings(value: list[Any]) -> bool:
    """Return whether a list contains rings: its first item's first item is a list."""
    first = value[0]
    return isinstance(first, list) and bool(first) and isinstance(first[0], list)


def _frame_point(lattice: Lattice, corner: Any, below: str) -> Point:
    if not _is_point(corner, dimensions=2, whole=False):
        expected = f"expected [x, y] with finite numbers up to {LARGEST_COORDINATE}"
        raise _DrawingError(f"{expected}, found {quote(corner)}", below)
    if any(value * 2 != int(value * 2) for value in corner):
        not_on = "is not on the lattice; coordinates are whole numbers or halves"
        raise _DrawingError(f"{quote(corner)} {not_on}", below)
    x, y = (int(value * 2) * lattice.per_unit // 2 for value in corner)
    return x, y


def _read_cells(
    items: Any, lattice: Lattice, key: str, errors: ErrorList, numbering: CellNumbering | None
) -> frozenset[Cell]:
    """Read a list of cells, each as `cells_named` reads it; see `RegionReader.read`."""
    expected = _expected_cell(lattice, numbering)
    if not isinstance(items, list):
        raise _DrawingError(f"expected a list, found {quote(items)}")
    if len(items) > MAX_SIZE:
        raise _DrawingError(f"has {len(items)} items; at most {MAX_SIZE} are allowed")
    if not items:
        raise _DrawingError(f"is empty; expected a list of {expected}")
    covered: set[Cell] = set()
    for index, item in enumerate(items):
        try:
            cells = cells_named(item, lattice, numbering)
            if cells and covered.issuperset(cells):
                raise ValueError(f"{quote(item)} is listed twice")
            covered.update(cells)
        except ValueError as error:
            errors.add(f"{key}[{index}]", str(error))
            is_label = isinstance(item, str)
            if numbering and not numbering.labels and (is_label or numbering.lack):  # as all others
                break
    return frozenset(covered)


def _expected_cell(lattice: Lattice, numbering: CellNumbering | None) -> str:
    """Return how a file may name a cell, for messages."""
    ways = ["[row, column]", "[row, column, k]"][: 1 + lattice.is_divided]
    if numbering is not None and numbering.cells and not numbering.lack:
        ways.append("a cell's number")
    if numbering is not None and numbering.labels:
        ways.append("its label")
    return join_or(ways)


def _read_frame(points: Any, lattice: Lattice) -> frozenset[Cell]:
    """Read cells as frame points ``[x, y]`` of the lattice; see `fabkit.model.lattice`."""
    if not isinstance(points, list) or not 0 < len(points) <= MAX_SIZE:
        raise _DrawingError(f"expected a list of 1 to {MAX_SIZE} cells, found {quote(points)}")
    for index, point in enumerate(points):
        if not _is_point(point, dimensions=2, whole=True):
            message = f"expected [x, y], {_WHOLE}, found {quote(point)}"
            raise _DrawingError(message, f"[{index}]")
        if not lattice.is_cell((point[0], point[1])):
            message = f"{quote(point)} is not a cell of the {lattice.name} lattice"
            raise _DrawingError(message, f"[{index}]")
    return frozenset((x, y) for x, y in points)


def cells_named(name: Any, lattice: Lattice, numbering: CellNumbering | None) -> frozenset[Cell]:
    """Return the cells of ``[row, column]``, rows counted downwards, of a cell's number or a label.

    Where a place holds several cells, ``[row, column, k]`` is one of them. None on a faulty board.

    Raises:
        ValueError: with a message, when there is no such cell.
    """
    if numbering is not None and isinstance(name, str):
        return numbering.labelled(name).cells
    dimensions = 3 if lattice.is_divided and isinstance(name, list) and len(name) == 3 else 2
    if _is_point(name, dimensions, whole=True):
        row, col = numbering.origin if numbering else (0, 0)
        cells = lattice.cells_at(name[0] + row, name[1] + col)
        if dimensions == 2:
            return frozenset(cells)
        if not 0 <= name[2] < len(cells):
            parts = f"the {lattice.noun} of a place are numbered 0 to {len(cells) - 1}"
            raise ValueError(f"there is no cell {quote(name)}; {parts}")
        return frozenset({cells[name[2]]})
    if numbering is None or type(name) is not int:
        expected = _expected_cell(lattice, numbering)
        raise ValueError(f"expected {expected}, {_WHOLE}, found {quote(name)}")
    if numbering.lack:
        number = f"{quote(name)} is the number of a cell"
        raise ValueError(f"{number}, but {numbering.lack}; write [row, column]")
    if numbering.cells and not 0 <= name < len(numbering.places):
        numbered = f"the board's cells are numbered 0 to {len(numbering.places) - 1}"
        raise ValueError(f"there is no cell {quote(name)}; {numbered}")
    place = numbering.places[name] if numbering.cells else None
    return frozenset(lattice.cells_at(*place)) if place else frozenset()


def _is_point(value: object, dimensions: int, whole: bool) -> bool:
    """Return whether a value is a list of ``dimensions`` numbers within the limits."""
    return (
        isinstance(value, list)
        and len(value) == dimensions
        and all(
            isinstance(number, int if whole else int | float)
            and not isinstance(number, bool)
            and abs(number) <= LARGEST_COORDINATE  # False for nan
            for number in value
        )
    )


def _read_rows(rows: Any, lattice: Lattice, lengths: bool, is_size: bool) -> frozenset[Cell]:
    """Read the cells of ``rows``, or of ``size = [rows, columns]``.

    Rows are strings, in which a letter is a place, or, for a board, the length of each row: a whole
    square of the quarter-square lattice, a whole hexagon of kites or drafters. See
    `Lattice.cells_at`.
    """
    bounded = isinstance(rows, list) and 0 < len(rows) <= LONGEST_SIDE
    numbers = bounded and all(type(length) is int and 0 < length <= LONGEST_SIDE for length in rows)
    bounds = f"with numbers from 1 to {LONGEST_SIDE}"
    if is_size:
        if not numbers or len(rows) != 2:
            raise _DrawingError(f"expected [rows, columns], {bounds}, found {quote(rows)}")
        return _cells_of(lattice, [range(rows[1])] * rows[0])
    if numbers and lengths:
        return _cells_of(lattice, [range(length) for length in rows])
    if not isinstance(rows, list) or not any(isinstance(row, str) for row in rows):
        per_row = f"the number of cells in each row, {bounds}, or " if lengths else ""
        raise _DrawingError(
            f'expected {per_row}strings such as ["XX.", ".XX"], found {quote(rows)}'
        )
    if not bounded:
        raise _DrawingError(f"has {len(rows)} rows; at most {LONGEST_SIDE} are allowed")
    for index, row in enumerate(rows):
        if error := _row_error(row, rows[0]):
            raise _DrawingError(error, f"[{index}]")
    cols = [[col for col, character in enumerate(row) if character not in _NO_CELL] for row in rows]
    if not any(cols):
        raise _DrawingError(
            "contains no letter; write a letter for each cell, and . or a space elsewhere"
        )
    return _cells_of(lattice, cols)


def _row_error(row: Any, first: Any) -> str:
    """Return the error in a row of text; empty if there is none."""
    if not isinstance(row, str):
        return f'expected a string such as "XX.", found {quote(row)}'
    if len(row) > LONGEST_SIDE:
        return f"is {len(row)} long; at most {LONGEST_SIDE} are allowed"
    for character in row:
        if character not in _NO_CELL and not character.isalpha():
            return (
                f"{quote(character)} in {quote(row)} is neither a letter (a cell) nor . or a space "
                "(no cell)"
            )
    if len(row) != len(first):
        same = "pad all rows to the same length with ."
        return f"{quote(row)} is {len(row)} long, but the first row is {len(first)}; {same}"
    return ""


def _cells_of(lattice: Lattice, rows: Sequence[Sequence[int]]) -> frozenset[Cell]:
    """Return the cells of the given columns in each row."""
    return frozenset(
        cell for row, cols in enumerate(rows) for col in cols for cell in lattice.cells_at(row, col)
    )


def flat_form(lattice: Lattice, cells: frozenset[Cell], key: str, errors: ErrorList) -> Form | None:
    """Return the form of a flat piece, if its cells are connected by edges."""
    if not cells:
        return None
    parts = len(parts_of_cells(lattice, cells))
    if parts > 1:
        errors.add(key, f"consists of {parts} parts; the cells of a piece must share edges")
        return None
    rings = rings_of_cells(lattice, cells)
    try:
        enclosed = cells_of_rings(lattice, rings)
    except OutlineError:  # the cells enclose a hole at a single point
        touching = sorted(map(lattice.address, _cells_that_touch(lattice, cells)))
        where = " and ".join(str(list(cell[: 2 + lattice.is_divided])) for cell in touching)
        errors.add(key, f"{where} touch at a corner only; a piece would break there")
        return None
    assert enclosed == cells  # else the lattice's cells and edges do not agree
    return Form("", cells, rings)


def _cells_that_touch(lattice: Lattice, cells: frozenset[Cell]) -> tuple[Cell, Cell]:
    """Return two cells that touch at a corner which the outline passes twice."""
    visits: dict[Point, list[Cell]] = defaultdict(list)
    edges = {edge: cell for cell in cells for edge in lattice.cell_edges(cell)}
    for (start, end), cell in edges.items():
        if (end, start) not in edges:
            visits[start].append(cell)
    first, second = sorted(min(visits.items(), key=lambda visit: (-len(visit[1]), visit[0]))[1])[:2]
    return first, second


def read_balls(
    items: Any, pairs: Any, place: str, errors: ErrorList, name: str
) -> tuple[BallBody, tuple[Form, ...]] | None:
    """Read a ball piece and compute its flat forms; without bonds, all neighbours are joined.

    Args:
        name: what messages call the piece.
    """
    key = f"{place}.balls"
    errors_before = errors.count
    try:
        balls = _places(items, key, errors)
        if not balls:
            return None
        near = [
            (i, j) for j in range(len(balls)) for i in range(j) if _are_near(balls[i], balls[j])
        ]
        bonds = near if pairs is None else _bonds(pairs, near, f"{place}.bonds", errors)
        if errors.count == errors_before:
            _refuse_loose_ball(balls, bonds)
            body = BallBody(tuple(balls), tuple(bonds))
            try:
                return body, forms_of_balls(body)
            except BallError as error:
                errors.add(key, f"{name} {error}")
    except BallError as error:
        errors.add(key, str(error))
    return None


def _places(items: Any, key: str, errors: ErrorList) -> list[Ball]:
    """Read the coordinates of balls; none after a recorded error."""
    if not isinstance(items, list):
        raise BallError(f"expected a list, found {quote(items)}")
    if len(items) > _MAX_BALLS:
        raise BallError(f"has {len(items)} items; at most {_MAX_BALLS} are allowed")
    wrong = [i for i, item in enumerate(items) if not _is_point(item, dimensions=3, whole=True)]
    for index in wrong:
        expected = f"expected [x, y, z], {_WHOLE}"
        errors.add(f"{key}[{index}]", f"{expected}, found {quote(items[index])}")
    if wrong:
        return []
    balls = [(x, y, z) for x, y, z in items]
    if len(set(balls)) < len(balls) or len(balls) < 2:
        raise BallError("expected two or more balls at different places")
    return balls


def _bonds(
    pairs: Any, near: Sequence[tuple[int, int]], key: str, errors: ErrorList
) -> list[tuple[int, int]]:
    """Read pairs of joined neighbours, without invalid ones."""
    bonds: list[tuple[int, int]] = []
    if not isinstance(pairs, list) or len(pairs) > _MAX_BALLS**2:
        errors.add(key, f"expected a list of two indices of balls each, found {quote(pairs)}")
        return bonds
    for index, item in enumerate(pairs):
        pair = (min(item), max(item)) if _is_point(item, dimensions=2, whole=True) else (-1, -1)
        if pair not in near:
            expected = "expected two indices of neighbouring balls"
            errors.add(f"{key}[{index}]", f"{expected}, found {quote(item)}")
        elif pair in bonds:
            errors.add(f"{key}[{index}]", f"{quote(item)} is listed twice")
        else:
            bonds.append(pair)
    return bonds


def _refuse_loose_ball(balls: list[Ball], bonds: list[tuple[int, int]]) -> None:
    """Raise `BallError` when the bonds do not connect all balls."""
    joined = {0}
    while new := {end for bond in bonds if not joined.isdisjoint(bond) for end in bond} - joined:
        joined |= new
    unbonded = sorted(set(range(len(balls))) - joined)
    for i in unbonded:
        if not any(_are_near(balls[i], other) for other in balls):
            places = "the places of neighbours differ by 1 in one coordinate"
            raise BallError(f"ball {list(balls[i])} touches no other; {places}")
    for i in unbonded[:1]:
        near = [j for j in sorted(joined) if _are_near(balls[i], balls[j])][:1]
        hint = f"; add the bond {sorted((*near, i))}" if near else ""
        raise BallError(f"ball {list(balls[i])} is not joined to the first one{hint}")


def _are_near(a: Ball, b: Ball) -> bool:
    return sum(abs(p - q) for p, q in zip(a, b, strict=True)) == 1
