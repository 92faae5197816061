"""How shapes are written in set and challenge files: outlines, rows, cells, balls, SVG files.

Every function reads one key of a `Table`, notes what is wrong there, and returns something
usable in any case, so that all faults of a file come out together.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fabkit.core.errors import shown
from fabkit.core.reading import Table
from fabkit.model.balls import Ball, BallBody, BallError
from fabkit.model.lattice import LATTICES, Cell, Lattice, Point, Ring
from fabkit.model.numbering import LARGEST_COORDINATE, WHOLE, Numbering, is_point, read_cells
from fabkit.model.piece import Form, forms_of_balls
from fabkit.model.polygon import (
    MAX_SIZE,
    OutlineError,
    cells_of_rings,
    pieces_apart,
    rings_of_cells,
)
from fabkit.model.rows import read_rows, read_size
from fabkit.model.svg import SvgError, SvgFolder

#: More cells than this in all its drawings is not a file about puzzles any more.
MAX_CELLS_OF_FILE = 200_000
_FEWEST_BALLS, _MOST_BALLS = 2, 100


class Regions:
    """Reads the regions of one file, and counts their cells against what a file may hold.

    Args:
        lattice: the set's.
        drawings: the SVG files beside the set file; None where none are read.
        unit_mm: length of a grid unit in them; None when the set names none.
    """

    def __init__(
        self, lattice: Lattice, drawings: SvgFolder | None = None, unit_mm: float | None = None
    ) -> None:
        self.lattice = lattice
        self._drawings = drawings
        self._unit_mm = unit_mm
        self._cells_left = MAX_CELLS_OF_FILE
        self._told: set[str] = set()

    def read(
        self,
        table: Table,
        key: str,
        numbering: Numbering | None = None,
        may_touch: bool = True,
        lengths: bool = True,
    ) -> frozenset[Cell]:
        """The cells drawn at ``outline``, ``cells``, ``rows``, ``size`` or ``svg``.

        Args:
            table: the piece, board, challenge or given piece.
            key: which of the five is there.
            numbering: see `read_cells`.
            may_touch: see `cells_of_rings`.
            lengths: see `read_rows`.

        Returns:
            The cells; fewer or none after a fault.
        """
        if self._cells_left <= 0:
            return frozenset()
        if key == "outline":
            cells = read_outline(table, self.lattice, may_touch)
        elif key == "cells":
            cells = read_cells(table, self.lattice, numbering)
        elif key == "svg":
            cells = self._read_svg(table, may_touch)
        elif key == "size":
            cells = read_size(table, self.lattice)
        else:
            cells = read_rows(table, self.lattice, lengths)
        self._cells_left -= len(cells)
        if self._cells_left <= 0:
            table.fault(key, f"the file holds more than {MAX_CELLS_OF_FILE} cells in all")
        return cells

    def _read_svg(self, table: Table, may_touch: bool) -> frozenset[Cell]:
        """The cells inside a shape of an SVG file. A fault of a whole file is told once."""
        wanted = table.text("svg")
        if self._drawings is None:
            return frozenset()
        if self.lattice is LATTICES["triangular"]:
            table.fault("svg", _NO_OUTLINES)
        elif self._unit_mm is None:
            need = 'shapes are drawn at 1:1, so the set needs its unit, such as unit = "20 mm"'
            table.fault("svg", f"{need} in [set]")
        if table.failed("svg") or not self._unit_mm:
            return frozenset()
        try:
            return self._drawings.cells(wanted, self.lattice, self._unit_mm, may_touch)
        except SvgError as fault:
            if str(fault) not in self._told:
                table.fault("svg", str(fault))
            self._told.add(str(fault))
            return frozenset()


_NO_OUTLINES = "the triangular lattice has no outlines; draw it with rows or cells"


def read_outline(table: Table, lattice: Lattice, may_touch: bool) -> frozenset[Cell]:
    """The cells inside the key ``outline``: one ring, a list of rings, or a list of those.

    Coordinates are ``[x, y]`` in grid units, whole numbers or halves; holes follow their
    outer ring; no ring repeats its first corner at the end.
    """
    if lattice is LATTICES["triangular"]:
        table.fault("outline", _NO_OUTLINES)
        return frozenset()
    rings = _rings(table, lattice)
    if not rings:
        return frozenset()
    try:
        return cells_of_rings(lattice, rings, may_touch)
    except OutlineError as fault:
        table.fault("outline", str(fault))
        return frozenset()


def flat_form(table: Table, key: str, lattice: Lattice, cells: frozenset[Cell]) -> Form | None:
    """The form of a flat piece drawn at ``key``, if its cells hang together by their edges."""
    if not cells:
        return None
    parts = pieces_apart(lattice, cells)
    if parts > 1:
        table.fault(key, f"falls into {parts} parts; the cells of a piece share edges")
        return None
    rings = rings_of_cells(lattice, cells)
    try:
        cells_of_rings(lattice, rings)
    except OutlineError:  # the cells close around a hole in a single point
        touching = sorted(map(lattice.row_col, _cells_that_touch(lattice, cells)))
        where = " and ".join(str(list(cell)) for cell in touching)
        table.fault(key, f"{where} touch at a corner only; a piece would break there")
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


def read_balls(table: Table) -> tuple[BallBody, tuple[Form, ...]] | None:
    """The ball piece of the keys ``balls`` and ``bonds``, with its computed flat forms.

    Without ``bonds`` all neighbouring balls are joined.
    """
    balls: list[Ball] = []
    for index, item in enumerate(table.array("balls", _MOST_BALLS)):
        if not is_point(item, dimensions=3, whole=True):
            expected = f"expected [x, y, z], {WHOLE}"
            table.fault("balls", f"{expected}, found {shown(item)}", f"[{index}]")
            return None
        balls.append((item[0], item[1], item[2]))
    if table.failed("balls"):
        return None
    if len(set(balls)) < len(balls) or len(balls) < _FEWEST_BALLS:
        table.fault("balls", "expected two or more balls at different places")
        return None
    bonds = _bonds(table, balls)
    if bonds is None:
        return None
    body = BallBody(tuple(balls), bonds)
    try:
        return body, forms_of_balls(body)
    except BallError as fault:
        table.fault("balls", str(fault))
        return None


def _bonds(table: Table, balls: list[Ball]) -> tuple[tuple[int, int], ...] | None:
    """The pairs of joined neighbours, checked to hold all balls together."""
    near = [(i, j) for j in range(len(balls)) for i in range(j) if _are_near(balls[i], balls[j])]
    bonds = near
    if table.has("bonds"):
        bonds = []
        for index, item in enumerate(table.array("bonds", _MOST_BALLS**2)):
            pair = tuple(sorted(item)) if is_point(item, dimensions=2, whole=True) else None
            if pair not in near:
                expected = "expected two indices of neighbouring balls"
                table.fault("bonds", f"{expected}, found {shown(item)}", f"[{index}]")
            elif pair in bonds:
                table.fault("bonds", f"{shown(item)} is listed twice", f"[{index}]")
            else:
                bonds.append(pair)
        if table.failed("bonds"):
            return None
    if loose := _fault_of_loose_ball(balls, bonds):
        table.fault("balls", loose)
        return None
    return tuple(bonds)


def _fault_of_loose_ball(balls: list[Ball], bonds: list[tuple[int, int]]) -> str:
    """What is wrong when the bonds do not hold all balls together; empty when they do."""
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
            return f"ball {list(balls[i])} touches no other; {places}"
    if not loose:
        return ""
    near = next((j for j in sorted(joined) if _are_near(balls[loose[0]], balls[j])), None)
    hint = f"; add the bond {sorted((near, loose[0]))}" if near is not None else ""
    return f"ball {list(balls[loose[0]])} is not joined to the first one{hint}"


def _are_near(a: Ball, b: Ball) -> bool:
    return sum(abs(p - q) for p, q in zip(a, b, strict=True)) == 1


def _rings(table: Table, lattice: Lattice) -> list[Ring]:
    """The rings at ``outline``, however deep they are nested; empty after a fault."""
    outline = table.raw("outline")
    rings: list[Any] = [outline]
    while rings and all(isinstance(r, list) and r and _holds_rings(r) for r in rings):
        rings = [inner for ring in rings for inner in ring]
    if sum(len(ring) for ring in rings if isinstance(ring, list)) > MAX_SIZE:
        table.fault("outline", f"has more than {MAX_SIZE} corners")
        return []
    found = []
    for index, ring in enumerate(rings):
        place = "" if rings[0] is outline else f" ring {index}"
        if not isinstance(ring, list) or not ring:
            table.fault("outline", f"expected a list of [x, y] corners, found {shown(ring)}", place)
            return []
        corners = []
        for i, corner in enumerate(ring):
            point = _frame_point(lattice, corner)
            if point is None:
                table.fault("outline", _corner_fault(corner), f"{place}[{i}]")
                return []
            corners.append(point)
        found.append(tuple(corners))
    return found


def _holds_rings(value: list[Any]) -> bool:
    """Whether a list is one of rings: its first item's first item is a list itself."""
    first = value[0]
    return isinstance(first, list) and bool(first) and isinstance(first[0], list)


def _frame_point(lattice: Lattice, corner: object) -> Point | None:
    if not is_point(corner, dimensions=2, whole=False):
        return None
    doubled = [value * 2 for value in corner]  # type: ignore[attr-defined]
    if any(value != int(value) for value in doubled):
        return None
    x, y = (int(value) * lattice.per_unit // 2 for value in doubled)
    return x, y


def _corner_fault(corner: object) -> str:
    if is_point(corner, dimensions=2, whole=False):
        return f"{shown(corner)} is not on the lattice; coordinates are whole numbers or halves"
    return f"expected [x, y] with finite numbers up to {LARGEST_COORDINATE}, found {shown(corner)}"
